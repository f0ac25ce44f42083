"""The judge guide, three pages: every block is loaded or run, in both languages, and the tables say what is so."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from omegaconf import OmegaConf

from agentscope_tuner import Judgement, Task, TaskJudge, WorkflowOutput, WorkflowTask, load_config, load_judge
from agentscope_tuner.config import StrictSection, TaskJudgeConfig
from agentscope_tuner.graders.rubrics.learn import learn_and_save
from agentscope_tuner.graders.rubrics.settings import auto_grader_config, read_samples
from agentscope_tuner.verify import countdown
from agentscope_tuner.verify.countdown import NotArithmeticError, read_chain
from tests.judge_server import JudgeServer
from tests.rubric_world import world, write_samples
from tests.targets import TARGETS

ROOT = Path(__file__).parents[3]
GUIDES = ["docs/task_judge.md", "docs/task_judge.zh.md"]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GRADER = "astuner.task_judge.rubrics_auto_grader"


def pages(guide: str) -> list[Path]:
    return [ROOT / guide.replace("task_judge", name) for name in ("task_judge", "built_in_judges", "judge_reference")]


def text_of(guide: str) -> str:
    """The guide's three pages in their order; any other file as it is."""
    files = pages(guide) if guide in GUIDES else [ROOT / guide]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def blocks(guide: str, language: str) -> list[str]:
    return [body for found, body in FENCE.findall(text_of(guide)) if found == language]


def output(answer: str, **metadata: Any) -> WorkflowOutput:
    return WorkflowOutput(metadata={"final_answer": answer, **metadata})


def task(env: object = None, **metadata: Any) -> WorkflowTask:
    return WorkflowTask(task=Task(main_query="What about topic1?", task_id="t1", metadata=metadata), gym_env=env)


class Environment:
    def __init__(self, score: float) -> None:
        self._score = score

    def evaluate(self) -> float:
        return self._score


@pytest.mark.parametrize("guide", GUIDES)
def test_every_block_is_of_a_kind_that_is_run_here(guide: str) -> None:
    found = FENCE.findall(text_of(guide))
    assert text_of(guide).count("```") == 2 * len(found)
    assert {language for language, _ in found} == {"yaml", "python", "pycon", "json"}


def test_both_languages_show_the_same() -> None:
    """The same blocks apart from comments, the same headings, tables of the same size, the same commands and names."""
    plain = [[(kind, re.sub(r"# .*", "", body)) for kind, body in FENCE.findall(text_of(guide))] for guide in GUIDES]
    assert plain[0] == plain[1]
    outside = [FENCE.sub("", text_of(guide)) for guide in GUIDES]
    for pattern in (r"^#+ ", r"^\|.*\|$"):
        first, second = (re.findall(pattern, text, re.MULTILINE) for text in outside)
        assert [line.count("|") for line in first] == [line.count("|") for line in second]
        assert [line.split()[0] for line in first] == [line.split()[0] for line in second]
    codes = [sorted(re.findall(r"`[^`\n]+`", text)) for text in outside]
    assert [code.replace(".zh.md", ".md") for code in codes[1]] == codes[0]


@pytest.mark.parametrize("guide", GUIDES)
def test_its_sessions_print_what_they_show(guide: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    total = 0
    for page in pages(guide):
        # one session for each page: a reader who opens one page has typed nothing of another
        shown = [body for kind, body in FENCE.findall(page.read_text(encoding="utf-8")) if kind == "pycon"]
        session = doctest.DocTestParser().get_doctest("\n".join(shown), {}, page.name, page.name, 0)
        report: list[str] = []
        failed, tried = doctest.DocTestRunner().run(session, out=report.append)
        assert failed == 0, "".join(report)
        total += tried
    assert total > 15


#: The judges whose blocks promise rewards; the blocks of others show keys, and their tests have the rewards
PROMISING = (
    "judge: math\n",
    "MyCustomJudge",
    "judge: countdown\n",
    "judge: env\n",
    "judge: workflow_reward\n",
    "rubrics_auto_grader",
)

# in the order of the guide: which judge it is, and rollouts with the reward that the guide promises for them
PROMISED: dict[str, list[tuple[WorkflowTask, WorkflowOutput, tuple[float, bool]]]] = {
    "symbolic": [
        (task(answer="3/2"), output(rf"\boxed{{{box}}}"), (1.0, True))
        for box in ("3/2", "1.5", r"\frac{3}{2}", "x = 3/2")
    ]
    + [(task(answer="3/2"), output(r"\boxed{6/8}"), (0.0, False)), (task(answer="3/2"), output(""), (0.0, False))],
    "mine": [
        (task(answer="The cat sat."), output("the cat sat"), (1.0, True)),
        (task(answer="The cat sat."), output("the dog sat"), (0.5, False)),
    ],
    "rules": [
        (task(answer="3/2"), output(r"\boxed{1.5}"), (1.0, True)),
        (task(answer="3/2"), output(" "), (-0.5, False)),
        (task(answer="3/2"), output("so " * 2001), (-0.5, False)),
        (task(answer="3/2"), output("1.5"), (0.0, False)),
    ],
    "exact": [(task(answer="3/2"), output(r"\boxed{3/2}"), (1.0, True))]
    + [(task(answer="3/2"), output(rf"\boxed{{{box}}}"), (0.0, False)) for box in ("1.5", r"\frac{3}{2}", "3 / 2")],
    "places": [
        (task(answer="42"), output(said), (1.0, True))
        for said in (
            *[r"\boxed{42}", "<answer>42</answer>", r"<answer>\boxed{42}</answer>", "#### 42", "Answer: 42"],
            *[
                "The answer is 42.",
                "**Final Answer**\n42",
                "答案是 42。",
                "The product is **42**.",
                "41</think> #### 42",
            ],
            *["The answer is 41. Let me check. The answer is 42.", "#### Step 2\nAnswer: 42"],
            *[r"It could be \boxed{42}", "Is the answer 41? Answer: 42"],
            r"\boxed{41}. Wait, that was a mistake. \boxed{42}",
        )
    ]
    + [
        (task(answer="42"), output(said), (0.0, False))
        for said in (
            *[r"\boxed{41} #### 42", r"\boxed{41}, \boxed{42}", "Answer: 41. Answer: 42", "The answer is not 42"],
            *[
                "答案不是 42",
                "It could be 42",
                "Is the answer 42?",
                "<think>Answer: 42</think>",
                "<think> #### 42",
                "42",
            ],
            *[
                "<answer>41</answer>, <answer>42</answer>",
                "<answer></answer> #### 42",
                r"\boxed{} #### 42",
                "#### 41\n#### 42",
            ],
            r"\boxed{41}. The next one is wrong. \boxed{42}",
        )
    ]
    + [(task(answer="B"), output("故选 B"), (1.0, True)), (task(answer="B"), output("故选 C"), (0.0, False))],
    "countdown": [
        (task(target=24, nums=[3, 3, 8, 8]), output(r"\boxed{8 / (3 - 8 / 3)}"), (1.0, True)),
        (task(target=24, nums=[3, 3, 8, 8]), output(r"\boxed{8 + 8 + 3 + 3}"), (0.1, False)),
        (task(target=24, nums=[3, 3, 8, 8]), output(r"\boxed{8 * 3}"), (0.1, False)),
        (task(target=24, nums=[3, 3, 8, 8]), output("24"), (0.0, False)),
        (task(target=24, nums=[3, 3, 8, 8]), output(r"\boxed{24}"), (0.0, False)),
        (task(target=24, nums=[3, 3, 8, 8]), output(r"\boxed{12 * 2}"), (0.0, False)),
        (task(target=24, nums=[3, 3, 8, 8]), output(r"\boxed{twenty-four}"), (0.0, False)),
        (task(), output(r"\boxed{8 / (3 - 8 / 3)}", target=24, nums=[3, 3, 8, 8]), (1.0, True)),
        (task(target=24, nums=[3, 3, 8, 8]), output(r"\boxed{8 * 3}", target=24, nums=[3, 8]), (0.1, False)),
        (task(target=24, nums=[3, 3, 8, 8]), output(r"\boxed{95**36**32}"), (0.0, False)),
    ],
    "env": [
        (task(Environment(score)), WorkflowOutput(), pair)
        for score, pair in [(1.0, (1.5, True)), (2.0, (2.0, True)), (0.5, (0.25, False)), (0.0, (0.0, False))]
    ],
    "workflow": [
        (task(), WorkflowOutput(reward=0.25, is_success=False), (0.25, False)),
        (task(), WorkflowOutput(reward=1.0, is_success=True), (1.0, True)),
    ],
    "rubrics": [
        (task(), output("It is so. quality=8"), (0.8, True)),
        (task(answer="It is so."), output("It is so. quality=3"), (0.3, False)),
        (task(), output(""), (0.0, False)),
    ],
}


@pytest.mark.parametrize("guide", GUIDES)
def test_its_yaml_names_judges_that_reward_as_promised(
    guide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tutorial").symlink_to(ROOT / "tutorial")
    (tmp_path / "data").mkdir()
    write_samples(tmp_path / "data" / "rubrics_train.jsonl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DASHSCOPE_API_KEY", "a key of nobody")
    texts = [text for text in blocks(guide, "yaml") if any(name in text for name in PROMISING)]
    assert len(texts) == len(PROMISED)
    with JudgeServer(world) as server:
        for (name, rollouts), text in zip(PROMISED.items(), texts, strict=True):
            path = tmp_path / f"{name}.yaml"
            path.write_text(text, encoding="utf-8")
            judge = (learned if name == "rubrics" else loaded)(path, server)
            for workflow_task, workflow_output, pair in rollouts:
                rewarded = judge.compute_reward(workflow_task, workflow_output)
                assert rewarded[0] == pytest.approx(pair[0]), (name, workflow_output)
                assert rewarded[1] is pair[1], (name, workflow_output)


@pytest.mark.parametrize("guide", GUIDES)
def test_countdown_reads_what_its_table_says_and_nothing_that_it_says_is_not_read(guide: str) -> None:
    found = re.findall(r"^\| [^|]*(?:读|read) \|.*\n\| --- \|.*\n((?:\|.*\|\n)+)", text_of(guide), re.MULTILINE)
    (table,) = [rows for rows in found if r"6 \times 4" in rows]
    for row in table.splitlines():
        _, read, not_read = row.strip("| ").split(" | ")
        for spelling in re.findall(r"`([^`]+)`", read):
            assert {step.value() for step in read_chain(spelling)} <= {24, 48, 8}, spelling
        for spelling in re.findall(r"`([^`]+)`", not_read):
            assert countdown.score(spelling, 24, [3, 5, 8]).reward < 1.0
            try:
                values = {step.value() for step in read_chain(spelling)}
            except NotArithmeticError:
                continue
            assert len(values) > 1, spelling


def loaded(path: Path, server: JudgeServer) -> TaskJudge:
    return load_judge(path)


def learned(path: Path, server: JudgeServer) -> TaskJudge:
    """The guide's configuration as it stands, but for the address of the model."""
    config = load_config(path, [f"{GRADER}.base_url={server.url}", f"{GRADER}.client.cache=false"])
    learn_and_save(*auto_grader_config(config))
    return load_judge(config)


def test_the_first_yaml_is_the_file_it_says() -> None:
    for guide in GUIDES:
        assert yaml.safe_load(blocks(guide, "yaml")[0]) == yaml.safe_load(text_of("configs/math.yaml"))
        for key in re.findall(r"`((?:configs|tutorial)/[\w/]+\.\w+)`", text_of(guide)):
            assert (ROOT / key).is_file(), key


Outputs = list[WorkflowOutput]


def singly(judge: TaskJudge, outputs: Outputs) -> list[Judgement]:
    return [judge.judge(task(answer="yes"), one) for one in outputs]


def together(judge: TaskJudge, outputs: Outputs) -> list[Judgement]:
    return judge.judge_group(task(answer="yes"), outputs)


@pytest.mark.parametrize(
    ("name", "settings", "way", "answers", "pairs"),
    [
        ("SameTextJudge", {}, singly, ["yes", "no"], [(1.0, True), (0.0, False)]),
        ("BrevityJudge", {"most_words": 2}, singly, ["a b", "a b c d"], [(1.0, True), (0.5, False)]),
        ("PatientJudge", {}, singly, ["yes!", "no"], [(1.0, True), (0.0, False)]),
        ("PatientJudge", {}, together, ["yes!", "no"], [(1.0, True), (0.0, False)]),
        ("ShortestWinsJudge", {}, together, ["aaa", "a", "aa"], [(0.0, False), (1.0, True), (0.5, False)]),
        ("MyCustomJudge", {"threshold": 0.5}, singly, ["yes", "yes no"], [(1.0, True), (0.5, True)]),
    ],
)
@pytest.mark.parametrize("guide", GUIDES)
def test_its_judges_judge(
    guide: str,
    name: str,
    settings: dict[str, Any],
    way: Callable[[TaskJudge, Outputs], list[Judgement]],
    answers: list[str],
    pairs: list[tuple[float, bool]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (source,) = (block for block in blocks(guide, "python") if f"class {name}(" in block)
    module = f"guide_{name.lower()}"
    (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, module, raising=False)
    importlib.invalidate_caches()
    section = {"judge_protocol": f"{module}->{name}", "judge_kwargs": settings}
    judge = load_judge({"astuner": {"task_judge": section}})
    judged = way(judge, [output(answer) for answer in answers])
    assert [(one.status, one.reward, one.is_success) for one in judged] == [("judged", *pair) for pair in pairs]
    assert all(one.reason for one in judged) or "Reward(" not in source


@pytest.mark.parametrize("guide", GUIDES)
def test_its_own_judge_is_the_tutorials(guide: str) -> None:
    shown = [block for block in blocks(guide, "python") if "class My" in block]
    for path, block in zip(("my_judge.py", "workflow.py"), shown, strict=True):
        in_file = text_of(f"tutorial/my_task/{path}").split('"""\n\n', 1)[1]
        assert [line.split(" # ")[0] for line in block.splitlines() if "# " not in line.lstrip()[:2]] == [
            line for line in in_file.splitlines() if "# " not in line.lstrip()[:2]
        ]
    of_file = OmegaConf.to_container(load_config(ROOT / "configs/my_task.yaml"))
    (named,) = [block for block in blocks(guide, "yaml") if "my_judge->" in block]
    assert OmegaConf.to_container(load_config(yaml.safe_load(named))) == of_file


@pytest.mark.parametrize("guide", GUIDES)
def test_its_samples_are_read_as_labelled(guide: str, tmp_path: Path) -> None:
    for mode, line in zip(("pointwise", "listwise"), blocks(guide, "json"), strict=True):
        path = tmp_path / f"{mode}.jsonl"
        path.write_text(line * 5, encoding="utf-8")
        section = {"model_name": "m", "grader_mode": mode, "dataset_file": {"training": {"file_path": str(path)}}}
        grader = {"judge_type": "rubrics_auto_grader", "rubrics_auto_grader": section}
        config, _ = auto_grader_config(load_config({"astuner": {"task_judge": grader}}))
        assert [sample.query for sample in read_samples(path, config)] == [json.loads(line)["main_query"]] * 5


def defaults(section: StrictSection, prefix: str = "") -> dict[str, str]:
    """`key` to its default as YAML writes it."""
    found: dict[str, str] = {}
    for name, value in section:
        if isinstance(value, StrictSection):
            found |= defaults(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value if isinstance(value, str) else json.dumps(value)
    return found


@pytest.mark.parametrize("guide", GUIDES)
def test_its_tables_name_every_key_and_field(guide: str) -> None:
    rows = dict(re.findall(r"^\| `([\w.]+)` \| `([^`]*)` \|", text_of(guide), re.MULTILINE))
    assert {key: rows.get(key) for key in defaults(TaskJudgeConfig())} == defaults(TaskJudgeConfig())
    for field in Judgement.__struct_fields__:
        assert re.search(rf"^\| .*`{field}`.* \|", text_of(guide), re.MULTILINE), field


@pytest.mark.parametrize("guide", GUIDES)
def test_what_it_links_to_is_there(guide: str) -> None:
    assert set(re.findall(r"`make ([\w-]+)`", text_of(guide))) <= TARGETS
    for page in pages(guide):
        for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
