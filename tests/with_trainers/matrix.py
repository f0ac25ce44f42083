"""What reaches each trainer, by its real package: `make trainers-matrix` writes docs/trainers_matrix.md.

    python -m tests.with_trainers.matrix [NAME …]

asks the trainers of the environment that it runs in, or those whose names begin so, and writes their rows.
tests/with_trainers/test_matrix.py holds each cell against the page, and tests/core/adapters/test_trainers_matrix.py the
page against the tables here.
"""

from __future__ import annotations

import re
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from agentscope_tuner.task_judge import batch
from tests import hanging_judges
from tests.with_trainers.judges import config, hanging
from tests.with_trainers.runners import RUNNERS, Answer, Row, Runner

ROOT = Path(__file__).parents[2]
PAGES = {"en": ROOT / "docs" / "trainers_matrix.md", "zh": ROOT / "docs" / "trainers_matrix.zh.md"}
RIGHT, WRONG, NONE = r"\boxed{42}", r"\boxed{41}", "no box"

#: What may stand in a cell where there is no verdict: none of them is a number.
WITHOUT_A_VERDICT = frozenset({"left out", "raises", "stops the run"})


def math() -> dict[str, Any]:
    protocol = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
    return {"astuner": {"task_judge": {"judge_protocol": protocol}}}


def nobody() -> dict[str, Any]:
    """A judge model at a port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    llm = {"grader": "relevance", "model_name": "m", "base_url": url, "api_key": "k", "client": {"cache": False}}
    return {"astuner": {"task_judge": {"judge_type": "llm", "llm": llm}}}


def parts() -> dict[str, Any]:
    right = math()["astuner"]["task_judge"]
    boxed = {"judge_protocol": "tests.with_trainers.judges->AnyBox", "weight": 0.5}
    return {"astuner": {"task_judge": {"judge_type": "combined", "parts": {"right": right, "boxed": boxed}}}}


def rows(*said: str, **same: Any) -> list[Row]:
    return [Row(text, **same) for text in said]


def rewards(answer: Answer) -> list[object]:
    return [got.reward for got in answer]


def first(answer: Answer) -> str:
    return f"{answer[0].reward}"


def failed(answer: Answer) -> str:
    """What became of the rows without a verdict, which are the second, or all."""
    found = rewards(answer)
    without = [reward for place, reward in enumerate(found) if place == 1 or len(set(map(str, found))) == 1]
    return "left out" if without and all(reward is None for reward in without) else f"{without[0]}"


def ranked(answer: Answer) -> str:
    found = [got.reward for got in answer if isinstance(got.reward, float)]
    in_order = len(found) == len(answer) and all(left > right for left, right in pairwise(found))
    return "ranked" if in_order else failed(answer)


def by_turn(answer: Answer) -> str:
    return "a turn each" if all(got.turns for got in answer) else failed(answer)


def question(answer: Answer) -> str:
    return "as asked" if rewards(answer) == [1.0, 0.0] else f"{rewards(answer)}"


def task_ids(answer: Answer) -> str:
    found = rewards(answer)
    apart = {*found[:4]}.isdisjoint(found[4:])
    return "one a prompt" if apart and len({*found[:4]}) == len({*found[4:]}) == 1 else f"{found}"


def components(answer: Answer) -> str:
    if isinstance(answer[0].reward, Mapping):
        return "by name"
    return "logged" if any("part/right" in name for name in answer[0].beside) else "the sum"


@dataclass(frozen=True)
class Case:
    """A column of the matrix.

    Attributes:
        meaning: of the column, in English and Chinese.
        settings: the judge's configuration.
        rows: what the policy wrote.
        reads: what a cell says of what reached the trainer.
        may: the words that a cell may hold.
        because: what an error says, so that no other error passes for it.
        beside: whether another reward function stands beside the judge.
    """

    meaning: tuple[str, str]
    settings: Callable[[], dict[str, Any]]
    rows: Sequence[Row]
    reads: Callable[[Answer], str]
    may: frozenset[str]
    because: str
    beside: bool = False


_FOUR = [Row(r"\boxed{42}", question=f"{number}*7?") for number in (6, 5, 4, 3)]
_EIGHT = [Row(letter, asked) for asked in ("6*7?", "5*7?") for letter in "abcd"]
CASES = {
    "question": Case(
        ("the question as the user asked it, without a chat template's marks; the reference; the answer alone",
         "用户提出的问题，不带聊天模板的标记；参考答案；只有回答本身"),
        lambda: config("RepeatsTheQuestion"), rows("6*7?", "another"), question, frozenset({"as asked"}), "^$",
    ),
    "task id": Case(
        ("four samples each of two prompts: one task id for each prompt", "两个问题各四条样本：每个问题一个任务 id"),
        lambda: config("NamesTheTask"), _EIGHT, task_ids, frozenset({"one a prompt"}), "^$",
    ),
    "right": Case(("a right answer", "正确的答案"), math, rows(RIGHT), first, frozenset({"1.0"}), "^$"),
    "wrong": Case(("a wrong answer", "错误的答案"), math, rows(WRONG), first, frozenset({"0.0"}), "^$"),
    "failed row": Case(
        ("one of four rows has no verdict", "四行中有一行没有评测结果"),
        lambda: config("FailsSome"), rows(RIGHT, NONE, RIGHT, WRONG), failed, WITHOUT_A_VERDICT,
        "the judge model did not answer",
    ),
    "failed batch": Case(
        ("no row of the batch has a verdict", "整个批次都没有评测结果"),
        lambda: config("FailsSome"), rows(NONE, NONE, NONE, NONE), failed, WITHOUT_A_VERDICT,
        "the judge model did not answer",
    ),
    "ranking judge": Case(
        ("a judge that ranks the group of four", "对四条一组排名的评测器"),
        lambda: config("Shortest"), rows("a", "ab", "abc", "abcd"), ranked,
        frozenset({"ranked", "refused", "left out"}), "ranks",
    ),
    "tool text": Case(
        ("a tool gives the right answer, the policy says that it does not know it", "工具说出正确答案，策略说不知道"),
        math, rows("I do not know.", tool=RIGHT), first, frozenset({"0.0"}), "^$",
    ),
    "no reference": Case(
        ("the rows' references are missing", "各行都缺少参考答案"),
        math, [Row(row.said, row.question, truth=None) for row in _FOUR], failed, WITHOUT_A_VERDICT,
        "reference",
    ),
    "dead endpoint": Case(
        ("nobody listens at the judge model's URL", "评测模型的地址无人监听"),
        # one row: beside it, whether another is asked or refused by the breaker is a matter of time
        nobody, rows(RIGHT), failed, WITHOUT_A_VERDICT, "connection refused",
    ),
    "hanging judge": Case(
        ("the judge never answers; its deadline is 0.3 s", "评测器永不回答，期限为 0.3 秒"),
        lambda: hanging("Awaits"), rows(RIGHT), failed, WITHOUT_A_VERDICT, r"no verdict within 0\.3 s",
    ),
    "two rewards": Case(
        ("a second reward function, and a row without a verdict", "旁边有另一个奖励，且有一行没有评测结果"),
        lambda: config("FailsSome"), rows(RIGHT, NONE, RIGHT, WRONG), failed, WITHOUT_A_VERDICT | {"takes one"},
        "the judge model did not answer", beside=True,
    ),
    "turns": Case(
        ("a judge that gives each turn a reward", "逐轮给出奖励的评测器"),
        lambda: config("ByTurns"), rows("I do not know.", tool=RIGHT), by_turn,
        frozenset({"a turn each", "refused", "left out"}), "a reward for each turn",
    ),
    "components": Case(
        ("a combined judge's parts", "组合评测器的各部分"),
        parts, rows(RIGHT), components, frozenset({"by name", "logged", "the sum"}), "^$",
    ),
}  # fmt: skip


def cell(runner: Runner, case: Case) -> str:
    """What became of the case's rows under the trainer, in the words of the page.

    A judge that hangs goes on to hang until the trainer was answered, so that an answer at all is one in time.
    """
    if case.beside and not runner.several:
        return "takes one"
    path = Path(tempfile.mkdtemp()) / "judge.yaml"
    OmegaConf.save(OmegaConf.create(case.settings()), path)
    try:
        with hanging_judges.release():
            found = case.reads(runner.ask(str(path), case.rows, case.beside))
    except Exception as exc:  # whatever a trainer sees instead of rewards
        told = "; ".join(_chain(exc))
        if not re.search(f"{case.because}|{re.escape(runner.swallows)}", told):
            raise
        found = "stops the run" if "so it is stopped" in told else "refused" if "refused" in case.may else "raises"
    finally:
        batch._loaded.pop(str(path), None)
    return found


def _chain(exc: BaseException | None) -> list[str]:
    told = []
    while exc is not None:
        told.append(str(exc))
        exc = exc.__cause__ or exc.__context__
    return told


def here() -> dict[str, Runner]:
    """The trainers of this environment, which has the name of its folder."""
    return {name: runner for name, runner in RUNNERS.items() if runner.environment == Path(sys.prefix).name}


def version_of(runner: Runner) -> str:
    return version(runner.package) if runner.package else "documented types"


HEADS = {
    "en": (
        "# What reaches the trainer",
        "[中文](trainers_matrix.zh.md)",
        """Each cell is a test: the rows of its case go through code of the trainer, in the version beside it,
and the cell says what reached it. [What runs](#what-runs) names that code: of some trainers it is all that handles
rewards, of others only the classes at their border. `make trainers-matrix` runs all of the tests and writes this page.
[trainers.md](trainers.md) says how to connect each trainer.""",
        "trainer | version",
        """`as asked`, `one a prompt`: the judge saw what the case says. `left out`: the trainer's own mark for a
sample without a reward, which its advantages leave out. `raises`: an error that the trainer sees.
`stops the run`: `stop_when_failing` ended it. `refused`: an error that says which setting to change. `takes one`: the
trainer takes only one reward function. No case without a verdict gives a number. NeMo RL, rLLM and
open-instruct are not on PyPI: they run on the types that they document.""",
        "column",
        "case",
        "## What runs",
        "trainer | what of it runs in its row",
    ),
    "zh": (
        "# 训练器得到什么",
        "[English](trainers_matrix.md)",
        """每一格都是一个测试：这种情况的各行经过训练器的代码（版本写在旁边），格中写的是它得到了什么。[运行什么](#运行什么)
列出这些代码：有的是训练器处理奖励的全部代码，有的只是其接口处的类。
`make trainers-matrix` 运行全部测试并生成本页。
如何接入各训练器，见 [trainers.zh.md](trainers.zh.md)。""",
        "训练器 | 版本",
        """`as asked`、`one a prompt`：评测器看到的正是该情况所说的。
`left out`：训练器自己对没有奖励的样本的标记，其优势计算不包含它。`raises`：训练器看到一个错误。
`stops the run`：`stop_when_failing` 结束了训练。`refused`：错误说明要改哪个设置。`takes one`：只接受一个奖励函数。
没有评测结果的情况都不会给出数字。NeMo RL、rLLM 和 open-instruct 不在 PyPI 上：用它们文档中的类型运行。""",
        "列",
        "情况",
        "## 运行什么",
        "训练器 | 该行运行它的什么",
    ),
}


def read_page() -> dict[str, list[str]]:
    """The rows of the page by trainer: the version, then the cells in the order of CASES."""
    found = {}
    for line in PAGES["en"].read_text(encoding="utf-8").splitlines() if PAGES["en"].exists() else ():
        name, *cells = (one.strip() for one in line.strip("| ").split(" | "))
        if name in RUNNERS and len(cells) == len(CASES) + 1:
            found[name] = cells
    return found


def pages(table: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Both languages of the page."""
    made = {}
    for place, (language, head) in enumerate(HEADS.items()):
        title, other, intro, corner, words, column, case, ran, runs = head
        lines = [
            title,
            "",
            other,
            "",
            intro,
            "",
            f"| {corner} | {' | '.join(CASES)} |",
            f"|{' --- |' * (len(CASES) + 1)}",
        ]
        lines += [f"| {name} | {' | '.join(found)} |" for name, found in table.items()]
        lines += ["", words, "", f"| {column} | {case} |", "| --- | --- |"]
        lines += [f"| {name} | {found.meaning[place]} |" for name, found in CASES.items()]
        lines += [
            "",
            ran,
            "",
            f"| {runs} |",
            "| --- | --- |",
        ]
        lines += [f"| {name} | {RUNNERS[name].runs[place]} |" for name in table]
        made[language] = "\n".join(lines) + "\n"
    return made


def main() -> None:
    """Ask the trainers of this environment, print what they got, and write their rows into the pages."""
    known = read_page()
    for name, runner in here().items():
        if sys.argv[1:] and not name.startswith(tuple(sys.argv[1:])):
            continue
        known[name] = [version_of(runner), *(cell(runner, case) for case in CASES.values())]
        print(name, *known[name], sep=" | ", flush=True)
        for language, text in pages({name: known[name] for name in RUNNERS if name in known}).items():
            PAGES[language].write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
