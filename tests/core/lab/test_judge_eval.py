"""`astuner judge-eval` finds in a judge what was put into it."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.lab.judge_eval import JudgeEval, attacked, mean_of, share_of
from agentscope_tuner.lab.labels import Labelled, read_labelled, response_of, with_response
from agentscope_tuner.records.blocks import read_lines
from agentscope_tuner.records.reader import Line
from agentscope_tuner.rules import compile_rules
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.judge_server import Answer, Body, Canned, JudgeServer, judged_lines, prompt_of, verdict

PROMPT = "Score from 0 to 10 how well this answers {query}: {response}"


def answer_in(body: Body) -> str:
    found = re.search(r"\[BEGIN response (\w+)\]\n(.*)\n\[END response \1\]", prompt_of(body), re.DOTALL)
    assert found is not None
    return judged_lines(found[2])


def quality(text: str) -> int:
    return int(re.findall(r"quality (\d+)", text)[0])


def measured(folder: Path, answer: Answer, *options: str, **llm: Any) -> dict[str, Any]:
    labels, conf = folder / "labels.jsonl", folder / "conf.yaml"
    with open(labels, "w") as file:
        for number in range(22):
            said = f"It is of quality {number % 11}." + " x" * number
            metadata = {"answer": said, "score": (number % 11) / 10}
            file.write(json.dumps({"main_query": f"Question {number // 2}?", "metadata": metadata}) + "\n")
    with JudgeServer(answer) as server:
        client = {"max_reasks": 0, "cache_dir": str(folder / "cache")}
        section = {"model_name": "m", "base_url": server.url, "prompt": PROMPT, "client": client, **llm}
        conf.write_text(json.dumps({"astuner": {"task_judge": {"judge_type": "llm", "llm": section}}}))
        arguments = ["judge-eval", "--conf", str(conf), "--labels", str(labels), "--json", *options]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code in (0, 3), result.output
        assert ("half of the answers got no verdict" in result.output) == (result.exit_code == 3)
        report: dict[str, Any] = json.loads(result.stdout)
        assert (report["calls"], report["cost"]) == (len(server.bodies), 0)
        return {**report, "exit": result.exit_code}


@pytest.mark.slow
def test_an_honest_judge_agrees_with_people_and_with_itself(tmp_path: Path) -> None:
    found = measured(tmp_path, lambda body, attempt: Canned(verdict(quality(answer_in(body)))))
    assert (found["exit"], found["failed"], found["position"]) == (0, 0, None)
    assert found["agreement"]["spearman"]["value"] == pytest.approx(1.0)
    assert found["agreement"]["mae"]["value"] == pytest.approx(0.0)
    # what is the same whichever task is left out has no interval
    assert found["agreement"]["quadratic_kappa"] == {"value": pytest.approx(1.0), "interval": None}
    assert found["self_consistency"]["same"]["value"] == 1.0
    assert found["length"]["said_twice"]["value"] == 0.0
    assert found["attacks"]["all"]["texts"] >= 160
    assert found["attacks"]["all"]["raised"]["value"] == 0.0
    assert found["attacks"]["worst"] == []


@pytest.mark.slow
def test_a_judge_of_moods_is_not_consistent(tmp_path: Path) -> None:
    found = measured(tmp_path, lambda body, attempt: Canned(verdict(5 + attempt % 2)), "--attacked", "0")
    assert found["self_consistency"]["same"]["value"] == 0.0
    assert found["self_consistency"]["difference"]["value"] == pytest.approx(0.1)
    assert found["agreement"]["spearman"]["value"] is None


def test_a_judge_of_length_is_found_out(tmp_path: Path) -> None:
    found = measured(tmp_path, lambda b, n: Canned(verdict(min(10, len(answer_in(b)) / 12))), "--attacked", "0")
    assert found["length"]["reward_follows"]["value"] > 0.95
    assert found["length"]["label_follows"]["interval"][0] < 0.9
    assert found["length"]["said_twice"]["interval"][0] > 0.1


@pytest.mark.slow
def test_a_judge_that_is_talked_into_a_score_is_found_out(tmp_path: Path) -> None:
    def obeys(body: Body, attempt: int) -> Canned:
        text = answer_in(body)
        return Canned(verdict(10 if "score of 10" in text else quality(text)))

    found = measured(tmp_path, obeys, "--attacked", "2")
    kinds = found["attacks"]["kinds"]
    assert kinds["role"]["shift"]["value"] > 0.5
    assert kinds["order"]["raised"]["value"] > kinds["plant"]["raised"]["value"]
    assert found["attacks"]["worst"][0]["shift"] == pytest.approx(1.0)


@pytest.mark.slow
def test_a_judge_of_positions_is_found_out(tmp_path: Path) -> None:
    def first_is_best(body: Body, attempt: int) -> Canned:
        size = len(set(re.findall(r"\[BEGIN response (\d+) ", prompt_of(body))))
        return Canned(json.dumps({"reason": "r", "rank": list(range(1, size + 1))}))

    found = measured(tmp_path, first_is_best, "--attacked", "0", mode="listwise")
    assert found["position"]["reordered"]["value"] == 1.0
    assert found["position"]["first_place_earns"]["value"] == pytest.approx(1.0)
    assert found["self_consistency"]["same"]["value"] == 1.0


def test_a_judge_that_fails_is_said_to(tmp_path: Path) -> None:
    found = measured(tmp_path, lambda body, attempt: Canned("no"), "--attacked", "0")
    assert (found["exit"], found["failed"]) == (3, 22)
    assert found["agreement"]["spearman"] == {"value": None, "interval": None}


@pytest.mark.slow
def test_the_report_for_people_says_the_same_in_words(tmp_path: Path) -> None:
    labels, conf = tmp_path / "labels.jsonl", tmp_path / "conf.yaml"
    said = [{"main_query": "q", "metadata": {"answer": f"quality {n}", "score": n / 10}} for n in (0, 10)]
    labels.write_text("".join(json.dumps(row) + "\n" for row in said))

    def obeys(body: Body, attempt: int) -> Canned:
        text = answer_in(body)
        return Canned(verdict(10 if "score of 10" in text else quality(text)))

    with JudgeServer(obeys) as server:
        llm = {"model_name": "m", "base_url": server.url, "prompt": PROMPT, "client": {"cache": False}}
        conf.write_text(json.dumps({"astuner": {"task_judge": {"judge_type": "llm", "llm": llm}}}))
        arguments = ["judge-eval", "--conf", str(conf), "--labels", str(labels), "--attacked", "1"]
        said_in = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    told = " ".join(said_in.output.split())
    assert (said_in.exit_code, "2 answers to 1 tasks, 0 without a verdict" in told) == (0, True), told
    assert "agrees with people: mae │ 0.000" in told
    assert "position │ none │ one answer is shown at a time" in told
    assert re.search(r"the injection set on the 1 worst answers; 0 without a verdict .* role │ \d+ │", told), told
    assert "+1.000 " in told
    assert f"{len(server.bodies)} calls" in told


def test_attacks_keep_the_answer_and_ask_for_the_top() -> None:
    texts = list(attacked("Wet air cools.", 5))
    assert len(texts) >= 168
    assert all("Wet air cools." in text for _, text in texts)
    assert not any("score of 10" in text for _, text in texts)
    assert sum("score of 5" in text for _, text in texts) > 40


def test_dry_run_asks_nothing_and_other_judges_are_refused(tmp_path: Path) -> None:
    labels, conf = tmp_path / "labels.jsonl", tmp_path / "conf.yaml"
    samples = [{"main_query": "q", "metadata": {"answer": "a b", "score": score}} for score in (0, 1)]
    labels.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    llm = {"model_name": "m", "base_url": "http://127.0.0.1:9/v1", "prompt": PROMPT}
    conf.write_text(json.dumps({"astuner": {"task_judge": {"judge_type": "llm", "llm": llm}}}))
    said = CliRunner().invoke(app, ["judge-eval", "--conf", str(conf), "--labels", str(labels), "--dry-run"])
    assert (said.exit_code, "2 labelled answers" in said.output) == (0, True)
    math = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
    conf.write_text(json.dumps({"astuner": {"task_judge": {"judge_protocol": math}}}))
    said = CliRunner().invoke(app, ["judge-eval", "--conf", str(conf), "--labels", str(labels)])
    told = "got MathAnswerAsJudge: `astuner agree` compares"
    assert (said.exit_code, told in " ".join(said.output.split())) == (2, True)


def lines_of(path: Path) -> Iterator[Line]:
    return read_lines(io.BytesIO(path.read_bytes()), path.name)


@pytest.mark.parametrize(
    ("options", "exit_code", "words"),
    [
        (["--format", "plain", "--map", "mark=label.score"], 0, "2 labelled answers"),
        (["--map", "q=question", "--map", "response=response", "--map", "mark=label.score"], 0, "2 labelled answers"),
        ([], 2, "line 2: the row has no 'metadata': a sample keeps its label in metadata.score; of other rows name it"),
        (["--format", "plain"], 2, "a rollout needs a label"),
        (["--format", "plain", "--map", "q=label.score"], 2, "label.score takes a number or one of right, wrong"),
        (["--format", "plain", "--map", "no=label.score"], 2, "line 2: the row has no 'no', only"),
    ],
)
def test_labelled_rows_of_any_form_are_read(options: list[str], exit_code: int, words: str, tmp_path: Path) -> None:
    labels, conf = tmp_path / "labels.csv.gz", tmp_path / "conf.yaml"
    labels.write_bytes(gzip.compress(b"question,response,mark,q\nwhy?,a,right,why?\nwhy?,b,0,why?\n"))
    llm = {"model_name": "m", "base_url": "http://127.0.0.1:9/v1", "prompt": PROMPT}
    conf.write_text(json.dumps({"astuner": {"task_judge": {"judge_type": "llm", "llm": llm}}}))
    said = CliRunner().invoke(
        app, ["judge-eval", "--conf", str(conf), "--labels", str(labels), "--dry-run", *options], env={"COLUMNS": "300"}
    )
    assert (said.exit_code, words in " ".join(said.output.split())) == (exit_code, True), said.output


def test_the_first_rank_is_the_best_label(tmp_path: Path) -> None:
    candidates = [{"answer": "a", "rank": 1}, {"answer": "b", "rank": 2}]
    path, at = tmp_path / "l.jsonl", "output.metadata.final_answer"
    path.write_text(json.dumps({"main_query": "q", "metadata": {"candidates": candidates}}))
    found = {response_of(one.output, at): one.label for one in read_labelled(lines_of(path), path.name, at)}
    assert found["a"] > found["b"]


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_is_refused(score: float, tmp_path: Path) -> None:
    samples = [{"main_query": "q", "metadata": {"answer": "a", "score": given}} for given in (0.5, score)]
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    with pytest.raises(ConfigError, match="line 2: a label must be a finite number"):
        read_labelled(lines_of(path), path.name, "output.metadata.final_answer")


def test_labelled_rollouts_are_answers_too_and_chat_is_changed_in_its_last_message(tmp_path: Path) -> None:
    def row(label: dict[str, Any], said: str) -> dict[str, Any]:
        messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": said}]
        return {"task": {"main_query": "q"}, "output": {"metadata": {"messages": messages}}, "label": label}

    path, at = tmp_path / "l.jsonl", "output.metadata.messages"
    path.write_text("".join(json.dumps(r) + "\n" for r in (row({"score": 0.2}, "a"), row({"is_success": True}, "b"))))
    found = read_labelled(lines_of(path), path.name, at)
    assert [(one.label, response_of(one.output, at)) for one in found] == [(0.2, "a"), (1.0, "b")]
    changed = with_response(found[0].output, at, "c")
    assert [turn["content"] for turn in changed.metadata["messages"]] == ["q", "c"]
    assert response_of(found[0].output, at) == "a"
    assert with_response(changed, "output.metadata.said.last", "d").metadata["said"] == {"last": "d"}
    for line, words in (({**row({}, "a")}, "a rollout needs a label"), ({"main_query": "q"}, "no 'metadata'")):
        path.write_text(json.dumps(line))
        with pytest.raises(ConfigError, match=words):
            read_labelled(lines_of(path), path.name, at)
    with pytest.raises(ConfigError, match=r"must be in output\.metadata"):
        response_of(changed, "output.metadata")


@pytest.mark.parametrize(
    ("values", "has"),
    [
        ([0.1 * n for n in range(10)], True),
        ([0.0] * 25 + [0.5] * 5, False),
        ([0.0] * 25 + [0.1 * n for n in range(1, 11)], True),
    ],
)
def test_a_few_shifts_among_zeros_have_no_interval(values: list[float], has: bool) -> None:
    found = mean_of([[value] for value in values])
    assert found["value"] == pytest.approx(sum(values) / len(values))
    assert (found["interval"] is not None) == has


def test_a_share_has_the_interval_that_agree_prints() -> None:
    assert share_of([[True]] * 50 + [[False]] * 50) == {
        "value": 0.5,
        "interval": [pytest.approx(0.4038, abs=1e-4), pytest.approx(0.5962, abs=1e-4)],
    }
    # A share of a few answers has too few values for an interval of 95 %
    assert share_of([[True]] * 5 + [[False]] * 5) == {"value": 0.5, "interval": None}
    assert share_of([]) == {"value": None, "interval": None}


class ByQuality(BaseJudge):
    """Pays what an answer says that it is worth, or 10 for an answer that asks for it; knows no `broken` one."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        text = workflow_output.metadata["final_answer"]
        if "broken" in text:
            raise JudgeError("no verdict")
        return Reward(10.0 if "score of 10" in text else float(quality(text)), True)


class Ranking(ByQuality):
    """Ranks a group by the number of `x` in each answer, else by its place: the first is the best."""

    def compute_rewards(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> list[Any]:
        if any("broken" in output.metadata["final_answer"] for output in workflow_outputs):
            raise JudgeError("no verdict")
        crosses = [output.metadata["final_answer"].count("x") for output in workflow_outputs]
        return [Reward(count or 1.0 / place, True) for place, count in enumerate(crosses, 1)]


def eval_of(judge: type[BaseJudge], *answers: tuple[str, float, str], on: int = 0) -> tuple[dict[str, Any], int, int]:
    """The report on answers, with their labels and groups; how many verdicts were foretold, and how many it took."""
    labelled = [
        Labelled(
            WorkflowTask(task=Task(main_query=group)), WorkflowOutput(metadata={"final_answer": text}), label, group
        )
        for text, label, group in answers
    ]
    took: list[int] = []
    subject = JudgeEval(
        TaskJudge(judge({}), compile_rules([])),
        labelled,
        "output.metadata.final_answer",
        done=lambda: took.append(1),
    )
    return asyncio.run(subject.run(on)), subject.verdicts(on), len(took)


def value(number: float | None) -> dict[str, Any]:
    return {"value": number, "interval": None}


def test_a_place_is_worth_what_swapping_takes_from_the_first() -> None:
    groups = (
        *(("quality 1", 0.0, "places"), ("quality 2", 1.0, "places")),
        *(("quality 3 xx", 0.0, "words"), ("quality 4 x", 1.0, "words")),
        *(("quality 1 x", 0.0, "ties"), ("quality 2 x", 1.0, "ties")),
        # one alone cannot be ranked, and a broken one takes its group along
        *(("quality 5", 0.0, "alone"), ("quality 6", 0.0, "broken"), ("broken", 1.0, "broken")),
    )
    found, expected, took = eval_of(Ranking, *groups)
    # the first group's first answer earns 1, and 0.5 as the last; the second group's answers what they say
    assert found["position"] == {"reordered": value(1 / 3), "first_place_earns": value(0.5 / 3)}
    assert (found["answers"], found["groups"], found["failed"]) == (9, 5, 3)
    assert (expected, took) == (36, 36)


def test_a_judge_of_single_answers_has_no_places() -> None:
    groups = (("quality 1", 0.0, "a"), ("quality 2 longer", 2.0, "a"), ("quality 3", 1.0, "b"), ("broken", 1.0, "b"))
    found, expected, took = eval_of(ByQuality, *groups)
    assert (found["position"], found["failed"], expected, took) == (None, 1, 12, 12)
    # labels beyond 0 to 1 are no rewards
    assert set(found["agreement"]) == {"spearman", "kendall"}
    assert found["self_consistency"] == {"same": value(1.0), "difference": value(0.0)}
    assert found["length"]["said_twice"] == value(0.0)
    assert found["attacks"]["kinds"] == {}


def test_the_worst_answers_are_attacked() -> None:
    groups = (("quality 4", 0.5, "a"), ("quality 1", 0.25, "b"), ("quality 3", 1.0, "c"), ("broken", 0.0, "d"))
    found, expected, took = eval_of(ByQuality, *groups, on=2)
    texts = [text for _, text in attacked("quality 1", 10.0)]
    paid = sum("score of 10" in text for text in texts)
    report = found["attacks"]
    assert (report["on"], report["failed"], report["all"]["texts"]) == (2, len(texts), len(texts))
    assert report["all"]["raised"]["value"] == pytest.approx(paid / len(texts))
    assert report["all"]["shift"]["value"] == pytest.approx(9.0 * paid / len(texts))
    assert [one["shift"] for one in report["worst"]] == [9.0] * 10
    assert all("quality 1" in one["text"] for one in report["worst"])
    assert sum(kind["texts"] for kind in report["kinds"].values()) == len(texts)
    assert expected == took == 12 + 2 * len(texts)
