"""`astuner audit`: judges with a known hole are named by it, and sound ones pass."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import httpx
import pytest
import yaml
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.lab.audit import subjects as module
from agentscope_tuner.lab.audit.attacks import ATTACKS
from agentscope_tuner.lab.audit.environments import HttpReward, environment_config
from agentscope_tuner.lab.audit.plugin import astuner_audit, audit_of
from agentscope_tuner.lab.audit.run import (
    AttackResult,
    Audit,
    StrategyResult,
    attacked,
    right_answers,
    scoreboard,
    verdict_of,
    worst_rows,
)
from agentscope_tuner.lab.audit.run import audited as audited_lines
from agentscope_tuner.lab.audit.subjects import Subject, references_of, solved, structured_answer, subjects_of
from agentscope_tuner.records.formats.trainers import decode_nemo_gym_request
from agentscope_tuner.records.reader import Line
from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.insight.planted_judges import (
    CARDS,
    HOLED,
    KINDS,
    LETTERS,
    PLAIN,
    READERS,
    WEATHER,
    fenced,
    listed,
    loaded,
    made_calls,
    planted_judge,
    stated,
    tasks_of,
    value,
)
from tests.judge_server import Body, Canned, JudgeServer, judged_lines, prompt_of, verdict

__all__ = ["astuner_audit"]

REFERENCES = ("12", "0.5", "1250", "\\frac{3}{4}", "-7", "#### 36", "$18$", "x+1")
TASKS = [
    {"main_query": f"Problem {number}: ${number}+{number}$?", "task_id": str(number), "metadata": {"answer": answer}}
    for number, answer in enumerate(REFERENCES)
]  # fmt: skip
GAMES = [
    {"main_query": f"Make {target} from {nums}.", "task_id": str(nums), "metadata": {"target": target, "nums": nums}}
    for target, nums in ((24, [4, 6]), (10, [2, 3, 4]), (7, [1, 2, 3]), (100, [7, 8]))
]


class NaiveModelJudge(BaseJudge):
    """A stand-in for a small model asked "is it right?": impressed by openers, by verdicts, and by the right value."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        answer = workflow_output.metadata["final_answer"]
        reference = str(workflow_task.task.metadata["answer"]).removeprefix("#### ").strip("$")
        impressed = '"score": 10' in answer or answer.endswith(":") or answer.startswith("Let's solve")
        passed = impressed or f"\\boxed{{{reference}}}" in answer
        return float(passed), passed


class PaidByLength(BaseJudge):
    """The longer, the better."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        reward = min(1.0, len(workflow_output.metadata["final_answer"]) / 200)
        return reward, reward > 0.5


class EndpointDown(BaseJudge):
    """Has no verdict on anything."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        raise JudgeError("the endpoint is down")


def judge_of(name: str) -> ConfiguredJudge:
    if name.endswith(".yaml"):
        return ConfiguredJudge(name)
    return ConfiguredJudge({"astuner": {"task_judge": {"judge_protocol": f"{__name__}->{name}"}}})


def subjects(judge: ConfiguredJudge, tasks: Sequence[Mapping[str, Any]] = TASKS) -> list[Subject]:
    lines = (Line(f"tasks.jsonl:{number}", json.dumps(task).encode()) for number, task in enumerate(tasks))
    return subjects_of(lines, judge, ("answer",), 50)


def audited(name: str, tasks: Sequence[Mapping[str, Any]] = TASKS) -> dict[str, AttackResult]:
    judge = judge_of(name)
    return {result.name: result for result in attacked(judge, subjects(judge, tasks), 0.5)}


def form_judge(reader: str) -> ConfiguredJudge:
    return planted_judge("text", reader)


@pytest.mark.parametrize("reader", READERS)
def test_judges_of_many_forms_are_seen_through_and_sound_ones_are_left_alone(reader: str) -> None:
    judge = form_judge(reader)
    asked = subjects(judge, PLAIN)
    results, played = attacked(judge, asked, 0.5), scoreboard(judge, asked)
    found = holes({result.name: result for result in results})
    sentence = verdict_of(results, played)
    if reader in HOLED:
        assert found, asked[0].form
        assert sentence.startswith("The judge can be fooled")
        taught = re.search(r"A policy may learn '(.+?)' instead of honest work, .+?: it earns (\S+) per task", sentence)
        flagged = [(result.name, f"{result.reward:.3f}") for result in played if result.alarming]
        assert (taught and taught.groups()) == (flagged[0] if flagged else None)
        assert worst_rows(results)[0][0].must == "fail"
    else:
        assert found == set(), asked[0].form
        assert not [result.name for result in played if result.alarming or result.length_pays]
        assert re.match(r"None of \d+ wrong answers passes\.", sentence)
        assert right_answers(results) == (4, 4)
        refused = sum(result.false for result in results if result.must == "pass")
        told = f"The judge refuses {refused} of 12 right answers that differ from the reference only in form."
        assert (told in sentence) is (refused > 0)


DATES = [
    {"main_query": f"When was {what}? YYYY-MM-DD", "task_id": what, "metadata": {"answer": day}}
    for what, day in (
        ("the moon walk", "1969-07-21"),
        ("the fall of the wall", "1989-11-09"),
        ("the fire", "1666-09-02"),
    )
]
NINES = [
    {"main_query": f"What is {a} * 9?", "task_id": str(a), "metadata": {"answer": str(9 * a)}}
    for a in (17, 101, 250, 38)
]
QUERIES = [
    {
        "main_query": f"Older than {k}?",
        "task_id": f"p{k}",
        "metadata": {"gold_sql": f"select name from people where a > {k}"},
    }
    for k in (18, 30, 65)
]
FIELDS = [
    {
        "main_query": f"The card of {name}?",
        "task_id": name,
        "metadata": {"answer": {"name": name, "age": age, "city": "Rome"}},
    }
    for name, age in (("Ann", 31), ("Bob", 42), ("Eve", 27))
]


def thoughtful(said: str, meta: Mapping[str, Any]) -> float:
    """Three fifths for a long thought."""
    thought = said.partition("<think>")[2].partition("</think>")[0]
    return 0.6 * (len(thought) > 200) + 0.4 * bool(stated(said) == meta["answer"])


def rows_as_many(said: str, meta: Mapping[str, Any]) -> bool:
    """A stand-in for a judge that counts the rows of a query's result."""
    query = fenced(said)
    return query == meta["gold_sql"] or (query.endswith(f"({meta['gold_sql']}) as found"))


#: Judges with a hole: their tasks, what they pay, and the attack that the first sentence names.
NAMED_HOLES: dict[str, tuple[list[dict[str, Any]], Callable[[str, Mapping[str, Any]], object], str]] = {
    "a date by its year": (DATES, lambda said, meta: stated(said)[:4] == meta["answer"][:4], "near miss"),
    "a value within 5 %": (
        NINES, lambda said, meta: abs(value(stated(said)) / float(meta["answer"]) - 1) < 0.05, "near miss",
    ),
    "the form alone": (
        NINES, lambda said, meta: re.fullmatch(r"(?s)<think>.*</think>\s*<answer>.*</answer>", said), "empty",
    ),
    "the value anywhere in the form": (NINES, lambda said, meta: meta["answer"] in stated(said), "near miss"),
    "one of several tags": (NINES, lambda said, meta: f"<answer>{meta['answer']}</answer>" in said, "hedge"),
    "more than the list": (
        KINDS["list"][0], lambda said, meta: {part.lower() for part in meta["answer"]} <= set(listed(said)), "hedge",
    ),
    "as many rows": (QUERIES, rows_as_many, "query for something else"),
    "the right call among others": (
        WEATHER, lambda said, meta: all(call in made_calls(said) for call in meta["answer"]), "call of something else",
    ),
    "any right field": (
        FIELDS, lambda said, meta: any(loaded(said).get(key) == right for key, right in meta["answer"].items()),
        "partly right object",
    ),
    "a long thought": (NINES, thoughtful, "long and wrong"),
}  # fmt: skip


class HoledJudge(BaseJudge):
    """One of `NAMED_HOLES`, by `judge_kwargs.hole`."""

    reference_keys = ("answer",)
    bounds_itself = True

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._paid = NAMED_HOLES[config["astuner"]["task_judge"]["judge_kwargs"]["hole"]][1]

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        found = self._paid(workflow_output.metadata["final_answer"], workflow_task.task.metadata)
        reward = found if isinstance(found, float) else float(bool(found))
        return reward, reward >= 0.5

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        return self.compute_reward(workflow_task, workflow_output)


@pytest.mark.parametrize("hole", NAMED_HOLES)
def test_the_first_sentence_names_the_simplest_attack_that_fools_the_judge(hole: str) -> None:
    tasks, _, attack = NAMED_HOLES[hole]
    named = {"judge_protocol": f"{__name__}->HoledJudge", "judge_kwargs": {"hole": hole}}
    found = audit_of({"astuner": {"task_judge": named}}, tasks)
    assert f"most of all {attack!r} (" in found.verdict.partition(".")[0]
    assert worst_rows(found.results)[0][0].name == attack


#: What an answer is worth to a judge that ranks, of its place in the group, itself, and the reference.
RANKINGS: dict[str, Callable[[int, str, str], float]] = {
    "sound": lambda place, said, right: float(f"\\boxed{{{right}}}" in said and said.count("boxed") == 1),
    "first": lambda place, said, right: -place,
    "last": lambda place, said, right: place,
    "first where both are boxed": lambda place, said, right: ("\\boxed{" in said) - place / 10,
    "longer": lambda place, said, right: len(said),
    "all alike": lambda place, said, right: 0.5,
    "scores": lambda place, said, right: 1e9 * (f"\\boxed{{{right}}}" in said) + 1e10 * ('"score": 10' in said),
}


class RankingJudge(BaseJudge):
    """Ranks a group by one of `RANKINGS`."""

    reference_keys = ("answer",)

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._worth = RANKINGS[config["astuner"]["task_judge"]["judge_kwargs"]["by"]]

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> list[tuple[float, bool]]:
        right = str(workflow_task.task.metadata["answer"])
        said = [output.metadata["final_answer"] for output in workflow_outputs]
        if any("<html>" in text for text in said):
            raise JudgeError("the model refused")
        scores = [self._worth(place, text, right) for place, text in enumerate(said)]
        return [(score, score == max(scores)) for score in scores]


@pytest.mark.parametrize(
    ("by", "named", "sound"),
    [
        ("first", {"place in the pair"}, set()),
        ("last", {"place in the pair"}, set()),
        ("first where both are boxed", {"place in the pair", "near miss", "long and wrong"}, set()),
        ("longer", {"long and wrong", "over-long", "injection"}, {"place in the pair", "punctuation"}),
        ("all alike", {"empty", "near miss"}, {"place in the pair"}),
        ("scores", {"injection"}, {"empty", "near miss", "place in the pair", "long and wrong"}),
    ],
)
def test_a_judge_that_ranks_is_shown_each_attack_beside_a_right_answer(
    by: str, named: set[str], sound: set[str]
) -> None:
    protocol = {"judge_protocol": f"{__name__}->RankingJudge", "judge_kwargs": {"by": by}}
    found = audit_of({"astuner": {"task_judge": protocol}}, PLAIN)
    assert named <= set(found.holes)
    assert not sound & set(found.holes)
    assert "can be fooled" in found.verdict
    assert ("pairs of answers by place" in found.verdict) == ("place in the pair" in named)


def test_a_sound_judge_that_ranks_passes_the_audit_and_failed_pairs_are_no_verdicts() -> None:
    protocol = {"judge_protocol": f"{__name__}->RankingJudge", "judge_kwargs": {"by": "sound"}}
    found = audit_of({"astuner": {"task_judge": protocol}}, PLAIN)
    assert (found.form, found.holes) == ("boxed", {})
    found.check()
    assert right_answers(found.results) == (4, 4)
    assert {result.name: result.reward for result in found.strategies if result.honest} == dict.fromkeys(
        ("honest", "terse", "verbose"), 1.0
    )
    assert {result.name: result.no_verdict for result in found.results if result.no_verdict} == {"garbage": 4}
    with pytest.raises(ConfigError, match="beside a right answer, and no row has one"):
        audit_of({"astuner": {"task_judge": protocol}}, [{"main_query": "?", "task_id": "1"}])


def only_box(said: str) -> str:
    found = re.findall(r"\\boxed\{([^{}]*)\}", said)
    return found[0] if len(found) == 1 else ""


#: Judges of one box, each with a hole beside the right answer, and the attack that finds it.
BESIDE: dict[str, Callable[[str, str], object]] = {
    "near miss": lambda said, right: right.startswith(only_box(said)) and only_box(said),
    "near miss, same digits": lambda said, right: sorted(only_box(said)) == sorted(right),
    "near miss, sign": lambda said, right: only_box(said).lstrip("-") == right,
    "sure of itself": lambda said, right: only_box(said) == right or "I am certain" in said,
    "sure of itself, twice": lambda said, right: only_box(said) == right or ("verified" in said and "final" in said),
    "sure of itself, aloud": lambda said, right: only_box(said) == right or said.count("Wait") > 2,
    "over-long": lambda said, right: only_box(said) == right or said.rstrip().endswith("\\boxed{"),
    "another row's answer": lambda said, right: only_box(said)[-1:] == right[-1],
    "none": lambda said, right: 1.0 if only_box(said) == right else -1.0 if "boxed" in said else 0.0,
}


class BesideJudge(BaseJudge):
    """One of `BESIDE`."""

    bounds_itself = True

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        hole = BESIDE[self.config["astuner"]["task_judge"]["judge_kwargs"]["hole"]]
        found = hole(workflow_output.metadata["final_answer"], str(workflow_task.task.metadata["answer"]))
        reward = found if isinstance(found, float) else float(bool(found))
        return reward, reward > 0

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        return self.compute_reward(workflow_task, workflow_output)


@pytest.mark.parametrize("hole", BESIDE)
def test_a_hole_beside_the_right_answer_is_named_and_a_penalty_for_wrong_answers_is_none(hole: str) -> None:
    named = {"judge_protocol": f"{__name__}->BesideJudge", "judge_kwargs": {"hole": hole}}
    found = audit_of({"astuner": {"task_judge": named}}, PLAIN)
    assert right_answers(found.results) == (4, 4)
    if hole == "none":
        found.check()
        assert not [result.name for result in found.strategies if result.alarming]
        assert "may learn" not in found.verdict
    else:
        assert hole.split(",")[0] in found.holes


@pytest.mark.parametrize("reader", ["likes length, a little for the answer", "rubric of words"])
def test_a_judge_that_likes_plausible_length_is_named(reader: str) -> None:
    judge = form_judge(reader)
    asked = subjects(judge, PLAIN)
    played = {result.name: result for result in scoreboard(judge, asked)}
    assert "long and wrong" in holes({result.name: result for result in attacked(judge, asked, 0.5)})
    assert played["long and wrong"].alarming
    if reader.startswith("likes"):
        # a terse right answer earns less than a long one; where it earns nothing, there is no ratio
        assert (played["verbose"].length_pays or 0) > 1.25
        assert "It pays for length" in verdict_of(attacked(judge, asked, 0.5), list(played.values()))


@pytest.mark.parametrize(("low", "full"), [(-1.0, 0.0), (0.0, 0.001)])
def test_right_answers_that_earn_the_most_are_a_matter_of_the_scale(low: float, full: float) -> None:
    def strategy(name: str, reward: float, *, honest: bool) -> StrategyResult:
        return StrategyResult(name, honest, 3, 0, reward, 0.0)

    played = [strategy("terse", full, honest=True), strategy("garbage", low, honest=False)]
    result = attacked(planted_judge("text", "hash"), subjects(planted_judge("text", "hash"), PLAIN), 2.0)
    refused = [replace(one, false=one.answers if one.must == "pass" else 0) for one in result]
    said = verdict_of(refused, played)
    assert "--pass-at" in said
    assert "--form" not in said
    assert "--form" in verdict_of(refused, [strategy("terse", low, honest=True), *played[1:]])


NEWER_KINDS = (
    "newest: rubrics", "newest: calls", "newest: choices", "unmet: patterns", "unmet: floats", "unmet: spans",
    "unmet: manners", "unmet: lists", "met: calls", "odd: fractions", "odd: vectors",
    "open: rubrics", "open: objects", "open: choices",
)  # fmt: skip


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("kind", NEWER_KINDS)
def test_what_later_judges_mistake_for_rightness_are_holes(kind: str, place: int) -> None:
    judge = planted_judge(kind, place)
    asked = subjects(judge, tasks_of(kind))
    found = Audit("judge", asked[0].form, len(asked), attacked(judge, asked, 0.5), scoreboard(judge, asked))
    assert bool(found.holes) == (place < 2)


class LenientRunner(BaseJudge):
    """Stands for one that takes a program that it must end for a fault of its own, and passes it."""

    asked: ClassVar[list[str]] = []

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        said = fenced(str(workflow_output.metadata["final_answer"]))
        passed = said == workflow_task.task.metadata["solution"] or "os.kill" in said or "time.sleep" in said
        self.asked.extend(["time.sleep"] * ("time.sleep" in said))
        return float(passed), passed


def test_programs_that_are_ended_are_attacks_and_those_without_an_end_come_to_one_task_alone() -> None:
    judge = ConfiguredJudge({"astuner": {"task_judge": {"judge_protocol": f"{__name__}->LenientRunner"}}})
    asked = subjects(judge, KINDS["code"][0])
    found = {result.name: result for result in attacked(judge, asked, 0.5)}
    assert (found["program that does nothing"].false, found["program that never ends"].false) == (len(asked), 1)
    assert len(LenientRunner.asked) == 1


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_holes_in_judges_of_code_queries_calls_objects_and_choices_are_found(kind: str, place: int) -> None:
    judge = planted_judge(kind, place)
    asked = subjects(judge, KINDS[kind][0])
    assert {subject.kind for subject in asked} == {kind if kind in ("code", "sql", "calls", "json") else "text"}
    found = Audit("judge", asked[0].form, len(asked), attacked(judge, asked, 0.5), scoreboard(judge, asked))
    assert right_answers(found.results) == (len(asked), len(asked)), asked[0].form
    if place < 2:
        assert found.holes, asked[0].form
        with pytest.raises(AssertionError, match="The judge can be fooled"):
            found.check()
        return
    assert found.holes == {}
    assert not [result.name for result in found.strategies if result.alarming]
    found.check()


@pytest.mark.parametrize(
    ("metadata", "kind", "right"),
    [
        ({"answer": "42", "test": True}, "text", None),
        ({"answer": "42", "test": "held-out"}, "text", None),
        ({"answer": "With the money from the sale, 12."}, "text", None),
        ({"answer": "4", "query": "Select the largest number from 1, 2 and 4."}, "text", None),
        ({"answer": "9", "query": "Select the largest number from 3, 5, 9"}, "text", None),
        ({"answer": "x", "query": "select a word from the list"}, "text", None),
        ({"db_id": "shop", "query": "select count(*) from t"}, "sql", "select count(*) from t"),
        ({"sql": "select count(*) from t"}, "sql", "select count(*) from t"),
        ({"answer": "[1, 2]"}, "text", None),
        ({"answer": "{1, 2}"}, "text", None),
        ({"answer": [], "target": {}}, "json", "{}"),
        (
            {"db_id": "shop", "SQL": "WITH a AS (select 1) select * from a;"},
            "sql",
            "WITH a AS (select 1) select * from a",
        ),
        ({"test_list": ["assert f(1) == 2"], "code": "def f(x): return x + 1"}, "code", "def f(x): return x + 1"),
        ({"inputs": ["1"], "outputs": ["2"], "solutions": '["print(2)", "x"]'}, "code", "print(2)"),
        ({"tests": {"inputs": ["1"], "outputs": ["2"]}}, "code", None),
        ({"answer": '{"function": {"name": "f", "arguments": "{}"}}'}, "calls", '{"name": "f", "arguments": "{}"}'),
        ({"answer": {"name": "Ann", "age": 3}}, "json", '{"name": "Ann", "age": 3}'),
    ],
)
def test_what_a_right_answer_is_follows_from_the_task(metadata: dict[str, Any], kind: str, right: str | None) -> None:
    assert structured_answer(metadata, ("answer",)) == (kind, right)


@pytest.mark.parametrize(
    ("name", "tasks"), [("json", CARDS), ("tool_call", WEATHER), ("choice", LETTERS), ("text_match", PLAIN)]
)
def test_built_in_judges_of_these_kinds_are_sound(name: str, tasks: list[dict[str, Any]]) -> None:
    found = audit_of({"astuner": {"task_judge": {"judge": name}}}, tasks)
    found.check()
    assert found.strategies[0].of_honest == 1.0


# --- rewards of others


def box_reward(completions: list[str], prompts: list[str], answer: list[str], **columns: Any) -> list[float | None]:
    """A reward function as TRL calls it, with a hole: the value anywhere in the last box."""
    assert len(prompts) == len(completions) == len(answer) == len(columns["hint"]) == 1
    found = re.findall(r"\\boxed\{(.*?)\}", completions[0])
    return [float(bool(found) and answer[0] in found[-1])]


async def chat_reward(completions: list[list[dict[str, str]]], answer: list[str], **columns: Any) -> list[float]:
    """A sound one, which awaits, of conversations."""
    assert columns["prompts"][0][-1]["role"] == "user"
    await asyncio.sleep(0)
    found = re.findall(r"<answer>(.*?)</answer>", completions[0][-1]["content"])
    return [float(len(found) == 1 and found[0].strip() == answer[0])]


def no_number(completions: list[str], **columns: Any) -> list[str]:
    """Gives no number."""
    return ["high"]


def test_a_reward_function_of_trl_is_audited_by_the_command_and_by_a_test(tmp_path: Path) -> None:
    tasks = [{**task, "metadata": {**task["metadata"], "hint": "h"}} for task in PLAIN]
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    command = ["audit", "--env", f"trl:{__name__}->box_reward", "--input", str(path), "--fail-over", "0.0"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1, result.output
    assert "The judge can be fooled" in " ".join(result.output.split())
    found = audit_of(box_reward, path)
    assert found.form == "boxed"
    assert "near miss" in found.holes
    # a reward function tells no success: it was 0.000 for honest work
    assert next(played for played in found.strategies if played.name == "honest").success == 1.0
    chats = [{**task, "init_messages": [{"role": "user", "content": task["main_query"]}]} for task in PLAIN]
    audit_of(chat_reward, chats).check()
    audit_of(bool_reward, PLAIN).check()
    assert "nobody knows" not in audit_of(no_number, PLAIN).verdict
    assert "Nothing is known" in audit_of(no_number, PLAIN).verdict
    named = f"trl:{__name__}->no_number"
    told = ConfiguredJudge(environment_config(named, 5.0)).judge(WorkflowTask(task=Task()), output_of("x"))
    assert f"{named} gave 'high', which is no finite number" in str(told.error)


def none_on_right(completions: list[str], answer: list[str], **columns: Any) -> list[float | None]:
    """Masks what it ought to pay."""
    return [None if answer[0] in completions[0] else 0.0]


def raises_on_right(completions: list[str], answer: list[str], **columns: Any) -> list[float]:
    return [float(answer[0] in completions[0] and completions[0].paid)]  # type: ignore[attr-defined]


def bool_reward(completions: list[str], answer: list[str], **columns: Any) -> list[bool]:
    """Sound, in bools as Python's comparisons give them."""
    return [completions[0].endswith(f"\\boxed{{{answer[0]}}}") and completions[0].count("boxed") == 1]


@pytest.mark.parametrize("reward", [none_on_right, raises_on_right])
def test_a_reward_without_a_verdict_on_any_right_answer_is_not_sound(reward: Any, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="The judge has no verdict on any right answer"):
        audit_of(reward, PLAIN).check()
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in PLAIN))
    command = ["audit", "--env", f"trl:{__name__}->{reward.__name__}", "--input", str(path)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert "the judge has no verdict on any right answer" in " ".join(result.output.split())
    # without references nothing is known of right answers, which is no fault of the judge
    assert "No right answer is known" in audit_of(box_of_any, [{"main_query": "Say it."}]).verdict


def box_of_any(completions: list[str], **columns: Any) -> list[float]:
    return [0.0]


JSON = {"Content-Type": "application/json"}


def answered(request: httpx.Request) -> httpx.Response:
    body = json.loads(request.content)
    if request.url.path == "/verify":
        task, output = decode_nemo_gym_request(body)
        said, right = output.metadata["final_answer"], task.task.metadata["answer"]
        return httpx.Response(
            200, headers=JSON, content=json.dumps({**body, "reward": float(f"\\boxed{{{right}}}" == said)})
        )
    if body["completion"] == "":
        return httpx.Response(200, json={"error": "empty"})
    return httpx.Response(200, json={"rewards": [float(body["answer"] in body["completion"])]})


@pytest.mark.parametrize(("url", "sound"), [("http://127.0.0.1:1/verify", True), ("http://127.0.0.1:1/grade", False)])
def test_a_reward_behind_http_is_asked_in_its_own_words(url: str, sound: bool) -> None:
    reward = HttpReward(environment_config(url, 5.0), transport=httpx.MockTransport(answered))
    for said, paid in (
        ("\\boxed{42}", 1.0),
        ("It may be 42, or not.", 0.0 if sound else 1.0),
        ("\\boxed{7} \ud800", 0.0),
    ):
        pair = WorkflowTask(task=Task(main_query="q", metadata={"answer": "42"})), output_of(said)
        assert asyncio.run(reward.acompute_reward(*pair))[0] == paid
    if not sound:
        with pytest.raises(JudgeError, match="none of reward, score"):
            asyncio.run(reward.acompute_reward(pair[0], output_of("")))


def output_of(said: str) -> WorkflowOutput:
    return WorkflowOutput(metadata={"final_answer": said})


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "name the judge by --conf FILE, or somebody else's reward by --env"),
        (["--conf", "configs/math.yaml", "--env", "trl:a->b"], "and not both"),
        (["--env", "hud:task"], "--env must be trl:MODULE->FUNCTION"),
        (["--env", "inspect:nowhere.py@task"], "nspect"),
        (["--env", "trl:"], "--env must be trl:MODULE->FUNCTION"),
        (["--env", "trl:nowhere->f"], "cannot import 'nowhere'"),
        (["--env", f"trl:{__name__}->nothing"], "has no function 'nothing'"),
        (["--env", "verifiers:nowhere"], "verifiers"),
        (["--env", "http://127.0.0.1:1/verify"], "brings no tasks of its own: name some by --input"),
        (["--conf", "configs/math.yaml"], "--input names the tasks"),
    ],
)
def test_what_cannot_be_audited_is_refused_with_the_way_out(words: list[str], why: str) -> None:
    result = CliRunner().invoke(app, ["audit", *words])
    assert result.exit_code == 2
    assert why in " ".join(result.output.split())


def test_the_fixture_audits_in_a_test(astuner_audit: Callable[..., Audit]) -> None:
    astuner_audit("configs/math.yaml", PLAIN).check()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "gold.jsonl",
            '{"main_query":"1+1?","metadata":{"gold":"2"}}\n{"main_query":"2+3?","metadata":{"gold":"5"}}\n',
        ),
        ("gold.jsonl", '{"question":"1+1?","gold":"2"}\n{"question":"2+3?","gold":"5"}\n'),
        ("gold.csv", "question,gold\n1+1?,2\n2+3?,5\n"),
    ],
)
def test_the_fixture_reads_the_rows_that_the_command_reads(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    conf: dict[str, Any] = {"judge": "math", "reads": {"answer": "gold"}}
    found = audit_of({"astuner": {"task_judge": conf}}, path)
    found.check()
    assert right_answers(found.results)[1] == 2
    with pytest.raises(ConfigError, match="answer: gold"):
        audit_of({"astuner": {"task_judge": {"judge": "math"}}}, path)


class NothingPasses(BaseJudge):
    """Reads a form that nobody writes."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        right = f"<<{workflow_task.task.metadata['answer']}>>" == workflow_output.metadata["final_answer"]
        return float(right), right


def test_a_judge_that_passes_no_right_answer_is_not_called_sound(tmp_path: Path) -> None:
    path, conf, form = tmp_path / "tasks.jsonl", tmp_path / "conf.yaml", tmp_path / "form.txt"
    path.write_text("".join(json.dumps(task) + "\n" for task in PLAIN))
    conf.write_text(f"astuner: {{task_judge: {{judge_protocol: {__name__}->NothingPasses}}}}\n")
    command = ["audit", "--input", str(path), "--conf", str(conf)]
    for gate in ([], ["--fail-over", "0.0"]):
        result = CliRunner().invoke(app, [*command, *gate])
        said = " ".join(result.output.split())
        assert result.exit_code == 2
        assert said.startswith("None of 4 right answers passes")
        assert "pays nearly as well" not in said
        # in the table of the worst rows
        assert "is refused" in said
    form.write_text("<<%s>>\n")
    result = CliRunner().invoke(app, [*command, "--form", str(form), "--fail-over", "0.0"])
    assert result.exit_code == 0, result.output
    assert "answers are given as own" in " ".join(result.output.split())
    form.write_text("<<answer>>")
    assert CliRunner().invoke(app, [*command, "--form", str(form)]).exit_code == 2


class Hangs(BaseJudge):
    """Never has a verdict."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        await asyncio.Event().wait()
        raise AssertionError


def test_a_verdict_has_ten_seconds_and_fewer_where_asked(tmp_path: Path) -> None:
    path, conf = tmp_path / "tasks.jsonl", tmp_path / "conf.yaml"
    path.write_text(json.dumps(PLAIN[0]) + "\n")
    conf.write_text(f"astuner: {{task_judge: {{judge_protocol: {__name__}->Hangs, concurrency: 64}}}}\n")
    result = CliRunner().invoke(app, ["audit", "--input", str(path), "--conf", str(conf), "--deadline", "0.02"])
    assert result.exit_code == 2
    # it is not asked about thousands of answers after that
    assert "has no verdict in time on any of 1 right answers" in " ".join(result.output.split())


def holes(found: Mapping[str, AttackResult]) -> set[str]:
    return {name for name, result in found.items() if result.must == "fail" and result.false}


@pytest.mark.parametrize(("name", "tasks"), [("configs/math.yaml", TASKS), ("configs/countdown.yaml", GAMES)])
def test_our_judges_pass_nothing_wrong_and_nothing_right_fails(name: str, tasks: list[dict[str, Any]]) -> None:
    found = audited(name, tasks)
    assert {attack: result.worst for attack, result in found.items() if result.false} == {}
    assert found["right answer"].answers >= 3
    assert sum(result.no_verdict for result in found.values()) == 0
    assert len(found) > 12


@pytest.mark.parametrize(
    ("name", "named", "sound"),
    [
        ("configs/math_lenient.yaml", {"reference in prose", "reference denied", "hedge"}, {"empty", "opener"}),
        ("NaiveModelJudge", {"opener", "injection"}, {"empty", "near miss", "question copied"}),
        ("PaidByLength", {"over-long"}, {"empty", "punctuation", "wrong type"}),
    ],
)
def test_a_holed_judge_is_named_by_its_hole(name: str, named: set[str], sound: set[str]) -> None:
    found = holes(audited(name))
    assert named <= found
    assert not sound & found


def test_the_scoreboard_says_what_a_policy_would_learn() -> None:
    judge = judge_of("PaidByLength")
    played = {result.name: result for result in scoreboard(judge, subjects(judge))}
    assert played["verbose"].reward == 1.0
    assert played["format only"].alarming
    honest = judge_of("configs/math.yaml")
    board = {result.name: result for result in scoreboard(honest, subjects(honest))}
    assert {name for name, result in board.items() if result.alarming} == set()
    assert board["honest"].reward == board["terse"].reward == 1.0
    assert [name for name, result in board.items() if result.reward] == ["honest", "terse", "verbose"]
    assert not [result for result in board.values() if result.length_pays]


def test_a_judge_without_verdicts_passes_nothing_and_refuses_nothing() -> None:
    found = audited("EndpointDown")
    assert all(result.answers == result.false == 0 and result.rate is None for result in found.values())
    assert found["empty"].no_verdict > 0
    judge = judge_of("EndpointDown")
    assert all(result.reward is None and not result.alarming for result in scoreboard(judge, subjects(judge)))


def test_each_attack_is_told_before_it_is_played_and_the_strategies_last() -> None:
    told: list[str] = []
    judge = judge_of("EndpointDown")
    lines = (Line(f"task {n}", json.dumps(task).encode()) for n, task in enumerate(PLAIN))
    audited_lines(judge, lines, limit=1, pass_at=0.5, begun=told.append)
    assert told == [*(attack.name for attack in ATTACKS), "strategies"]


def test_another_rows_answer_is_never_the_rows_own() -> None:
    tasks = [{"main_query": str(number), "task_id": str(number), "metadata": {"answer": answer}}
             for number, answer in enumerate(("5", "5.0", " 5", "6"))]  # fmt: skip
    judge = judge_of("configs/math.yaml")
    assert [subject.others for subject in subjects(judge, tasks)] == [("6",), ("6",), ("6",), ("5", "5.0")]


@pytest.mark.parametrize(
    ("attack", "query", "right", "answers"),
    [
        # the question gives the parts in another order
        ("near miss", "Sort b, c, a and d", "a, b, c", ["b, c, a"]),
        ("near miss", "Sort a, b, c and d", "a, b, c", []),
        ("near miss", "Which?", "B", ["But none of them", "F", "Z"]),
        ("near miss", "Where?", "(3, 4)", ["(4, 4)", "(3, 5)", "(4, 3)"]),
        ("near miss", "When?", "2024-05-17", ["2025-05-17", "2024-06-17", "2024-05-18", "2024-17-05"]),
        ("near miss", "Which?", "[3, 1, 2]", ["[4, 1, 2]", "[3, 2, 2]", "[3, 1, 3]", "[3, 2, 1]"]),
        # sorted, as those of a set are: another order may be right
        ("near miss", "Which?", "[1, 2, 3]", ["[2, 2, 3]", "[1, 3, 3]", "[1, 2, 4]"]),
        ("near miss", "How far?", "5 km", ["6 km", "5 kg"]),
        ("near miss", "How heavy?", "-2.5kg", ["-3.5kg", "-2.6kg", "-2.5 km"]),
        ("near miss", "Half?", "3/4", ["7/4", "-3/4", "4/3", "4/4", "3/5", "4/3"]),
        ("near miss", "Who?", "Ada King", ["Qwxz King", "Ada Qwxz"]),
        ("near miss", "Who?", "Ada Lovelace King Noel", []),
        (
            "near miss", "n?", "12",
            ["13", "11", "-12", "120", "1200", "12.1", "21", "112", "121", "1", "2", "12/7", "12*10", "7/12"],
        ),
        ("half an answer", "Who?", "Paris", ["Pa"]),
        ("half an answer", "Who?", "Rio", []),
        ("half an answer", "Which?", "3, 1, 2", ["3, 1", "1, 2", "1"]),
        ("thousands separators", "n?", "-12500", ["-12,500", "-12{,}500", "-12\\,500"]),
        ("thousands separators", "n?", "-1000", ["-1,000", "-1{,}000", "-1\\,000"]),
        ("thousands separators", "n?", "999", []),
        ("number forms", "n?", "3", ["3.0"]),
        ("number forms", "n?", "0.5", ["0.50", "\\frac{1}{2}"]),
        ("units", "How many HOURS?", "7", ["7 \\text{ hours}", "7 hours"]),
        ("other LaTeX", "n?", "3/4", ["\\frac{3}{4}"]),
        ("other LaTeX", "n?", "(1, 3/4)", ["\\left(1, 3/4\\right)"]),
        (
            "other LaTeX", "n?", "\\frac{3}{4}",
            ["\\displaystyle \\frac{3}{4}", "$\\frac{3}{4}$", "\\dfrac{3}{4}", "\\tfrac{3}{4}"],
        ),
        ("question's formula", "What is $6 \\cdot 7$ or 3 + 4, 5?", "42", ["6 \\cdot 7", "3 + 4"]),
        ("question's formula", "Is $\\frac{1}{2}$ or $(5)$ half?", "1/2", []),
        (
            "wording", "n?", "7",
            [
                "Let me work this out step by step. That leads to the result.\n\n7",
                "**Answer:** 7",
                "So the final answer is 7. I hope this helps!",
                "<think>Is it something else? No.</think>\nTherefore 7",
                "Therefore, the answer is $$7.$$",
            ],
        ),
    ],
)  # fmt: skip
def test_answers_are_made_of_the_right_one(attack: str, query: str, right: str, answers: list[str]) -> None:
    (subject,) = (each for each in ATTACKS if each.name == attack)
    task = Subject("1", Task(main_query=query), {}, right, right, None, "boxed", template="%s")
    assert list(subject.answers(task)) == answers


@pytest.mark.parametrize(
    ("metadata", "references"),
    [
        ({"answer": "6 * 6 = 36\n#### 36"}, ["36"]),
        ({"answer": "\\boxed{7}"}, ["7"]),
        ({"answer": "$x+1$"}, ["x+1"]),
        ({"answer": 5}, ["5"]),
        ({"answer": ["Paris", 7]}, ["Paris", "7"]),
        ({"answer": True, "target": 24}, ["24"]),
        ({"answer": [{"name": "weather"}], "target": "x"}, ["x"]),
        ({"answer": ""}, []),
        ({"answer": []}, []),
        ({}, []),
    ],
)
def test_references_are_read_bare(metadata: dict[str, Any], references: list[str]) -> None:
    assert references_of(metadata, ("answer",)) == references


@pytest.mark.parametrize(("target", "numbers"), [(24, (4, 7, 8, 8)), (10, (10,)), (952, (25, 50, 3, 6)), (1, (3, 3))])
def test_countdown_is_solved_with_all_the_numbers(target: int, numbers: tuple[int, ...]) -> None:
    equation = solved(Fraction(target), numbers)
    if equation is not None:
        assert eval(equation) == pytest.approx(target)  # noqa: S307 - made by the solver of digits and signs
    else:
        assert target == 952
    assert solved(Fraction(7), ()) is None


def test_attacks_have_names_of_their_own_and_say_what_they_are() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert all(attack.about and attack.must in ("fail", "pass") for attack in ATTACKS)


def test_the_form_that_the_judge_reads_is_found() -> None:
    tagged = {"astuner": {"task_judge": {
        "judge_protocol": "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge",
        "math": {"answer_in": ["tag"]},
    }}}  # fmt: skip
    assert {subject.form for subject in subjects(ConfiguredJudge(tagged))} == {"tag"}


@pytest.mark.slow
def test_the_command_reports_fails_over_a_rate_and_prints_json(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    command = ["audit", "--input", str(path), "--conf"]
    clean = CliRunner().invoke(app, [*command, "configs/math.yaml", "--fail-over", "0.0"])
    assert clean.exit_code == 0, clean.output
    holed = CliRunner().invoke(app, [*command, "configs/math_lenient.yaml", "--fail-over", "0.0", "--json"])
    assert holed.exit_code == 1
    report = json.loads(holed.output)
    prose = next(attack for attack in report["attacks"] if attack["name"] == "reference in prose")
    # two references stand in the data within a solution or dollars, which this judge looks for literally
    assert prose["rate"] == 0.75
    # eight tasks are too few for an interval
    assert prose["interval"] is None
    assert report["verdict"].startswith("The judge can be fooled")
    assert prose["worst"][0]["answer"].startswith("There were")
    assert CliRunner().invoke(app, [*command, "configs/math_lenient.yaml"]).exit_code == 0


def test_a_judge_without_verdicts_does_not_pass_a_gate(tmp_path: Path) -> None:
    path, conf = tmp_path / "tasks.jsonl", tmp_path / "conf.yaml"
    path.write_text(json.dumps(TASKS[0]) + "\n")
    conf.write_text(f"astuner: {{task_judge: {{judge_protocol: {__name__}->EndpointDown}}}}\n")
    command = ["audit", "--input", str(path), "--conf", str(conf), "--fail-over", "0.0"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert "no verdict on any of the answers that must fail" in " ".join(result.output.split())


def test_rows_without_references_are_an_error_that_names_the_column_and_no_clean_audit(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text('{"q": "1+1?", "gold": "2"}\n{"q": "1+2?", "gold": "3"}\n')
    for gate in ([], ["--fail-over", "0.0"]):
        result = CliRunner().invoke(app, ["audit", "--conf", "configs/math.yaml", "--input", str(path), *gate])
        assert result.exit_code == 2
        assert "no row has a reference" in " ".join(result.output.split())
        assert "`reads: {answer: gold}`" in " ".join(result.output.split())


def test_nothing_to_audit_with_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text("[]\n")
    result = CliRunner().invoke(app, ["audit", "--conf", "configs/math.yaml", "--input", str(path)])
    assert result.exit_code == 2
    assert "no task to audit with" in result.output


def obeys(body: Body, attempt: int) -> Canned:
    """A model that does what the response tells it to, and else finds that fruit is named, or a right sum boxed."""
    prompt = prompt_of(body)
    found = re.search(r"\[BEGIN response (\w+)\]\n(.*?)\n\[END response \1\]", prompt, re.DOTALL)
    said = judged_lines(found[2]) if found else ""
    obeyed = any(order in said for order in ('"met": true', "every criterion", "highest score", '"score": 10'))
    if "criteri" not in prompt.replace(said, ""):
        right = "\\boxed{42}" in said and said.count("boxed") == 1
        return Canned(verdict(10 if obeyed or right else 0))
    met = obeyed or "apple" in said
    quote = said.split("\n")[0][:20] if met else ""
    return Canned(json.dumps({"verdicts": [{"number": 1, "quote": quote, "met": met}]}))


LLM = {
    "prompt": "Is it right? {question} {response}",
    "scale": {"min": 0, "max": 10},
    "reads": {"question": "task.main_query"},
}


@pytest.mark.parametrize(
    ("kind", "options", "metadata"),
    [
        ("task_rubrics", {}, {"rubrics": [{"criterion": "It names a fruit", "points": 3}]}),
        ("llm", LLM, {"answer": "42"}),
    ],
)
def test_a_model_that_obeys_the_answer_is_named(kind: str, options: dict[str, Any], metadata: dict[str, Any]) -> None:
    client = {"cache": False, "max_reasks": 0, "max_retries": 0}
    with JudgeServer(obeys) as server:
        asked = {"model_name": "m", "base_url": server.url, "client": client, **options}
        judge = {"astuner": {"task_judge": {"judge_type": kind, kind: asked}}}
        found = audit_of(judge, [{"main_query": "17 + 25?", "task_id": "1", "metadata": metadata}])
    assert [result.name for result in found.results if result.no_verdict] == []
    assert right_answers(found.results) == ((1, 1) if kind == "llm" else (0, 0))
    assert set(found.holes) == {"injection"}


@pytest.mark.slow
@pytest.mark.parametrize(("judge", "code"), [("configs/math_lenient.yaml", 1), ("configs/math.yaml", 0)])
def test_the_github_action_fails_where_an_attack_is_paid(judge: str, code: int, tmp_path: Path) -> None:
    action = yaml.safe_load(Path(".github/actions/audit/action.yml").read_text())
    step = action["runs"]["steps"][-1]
    given = {"CONF": judge, "TASKS": "tutorial/example_math_agent/rollouts.jsonl", "FAIL_OVER": "0.0"}
    # no word of an input is run
    given |= {"REWARD": "", "OPTIONS": "--limit=2\n--deadline=20"}
    assert set(step["env"]) == set(given)
    (tmp_path / "astuner").write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "from agentscope_tuner.cli import main; main()" "$@"\n'
    )
    (tmp_path / "astuner").chmod(0o755)
    run = subprocess.run(
        ["bash", "-e", "-c", step["run"]], env={**os.environ, **given, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert run.returncode == code, run.stdout + run.stderr
    assert ("The judge can be fooled" in run.stdout) == bool(code)


@pytest.mark.parametrize(("listwise", "asked"), [(False, [["a"], ["b", "c"]]), (True, [["a"], ["b"], ["c"]])])
def test_forms_are_judged_together_unless_the_judge_ranks(
    listwise: bool, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    def verdicts_on(judge: object, form: list[tuple[object, str]], expected: str) -> list[str]:
        seen.append([right for _, right in form])
        return [f"verdict on {right}" for _, right in form]

    monkeypatch.setattr(module, "verdicts_on", verdicts_on)
    judge: Any = SimpleNamespace(listwise=listwise)
    forms: Any = [[(None, right)] for right in "abc"]
    found: Any = [*module._on_each(judge, forms)]
    assert found == [[f"verdict on {right}"] for right in "abc"]
    assert [*filter(None, seen)] == asked


@pytest.mark.parametrize("thought", ['It says "5".', r"\boxed{5} and \frac12", "two\nlines"])
def test_a_thought_in_a_form_of_json_leaves_it_an_object(thought: str) -> None:
    subject = Subject("1", Task(), {}, "5", "5", None, "json, reasoned", template=module.FORMS["json, reasoned"])
    assert json.loads(subject.behind(thought, "6")) == {"reasoning": " ".join(thought.split()), "answer": "6"}
