"""Rows checked without being judged: by a judge that finds what the test says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import pytest

from agentscope_tuner.cli.check import Finding, TaskReport, check_tasks
from agentscope_tuner.records.reader import Line
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.workflow import Task, WorkflowOutput


@dataclass
class Checker:
    """Finds the problem that a task's metadata state; references that differ by case are the same."""

    reference_keys: tuple[str, ...] = ("answer",)

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        if task.metadata.get("raises"):
            raise KeyError(task.metadata["raises"])
        problem = task.metadata.get("problem")
        return problem if output is None else f"output: {output.metadata}"

    def row_notes(self, task: Task, output: WorkflowOutput | None = None) -> list[str]:
        return [] if output is None else output.metadata.get("notes", [])

    def same_reference(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
        return bool(str(first).lower() == str(second).lower())


def row(task_id: str = "", output: object = None, **metadata: Any) -> Line:
    task = {"task_id": task_id, "main_query": "?", "metadata": metadata}
    return Line("f:0", json.dumps(task if output is None else {"task": task, "output": output}).encode())


def checked(*lines: Line, judge: Checker | None = None) -> TaskReport:
    numbered = (line._replace(where=f"f:{number}") for number, line in enumerate(lines, 1))
    return check_tasks(numbered, cast("TaskJudge", judge or Checker()))


def found(*lines: Line, judge: Checker | None = None) -> list[Finding]:
    return [finding for findings in checked(*lines, judge=judge).first.values() for finding in findings]


def test_rows_without_a_problem_are_counted_with_their_ids() -> None:
    report = checked(row("a", answer="1"), row("a", answer="1"), row("b"), row())
    assert (report.rows, report.task_ids, report.counts) == (4, 2, {})
    assert [where for where, _, _ in report.shown] == ["f:1", "f:2", "f:3"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (Line("f:1", b"", "it is too long"), "unreadable row: it is too long"),
        (Line("f:1", b"3"), "unreadable row: a row must be an object, got int"),
        (Line("f:1", b'{"main_query": 3}'), "unreadable row: main_query: Input should be a valid string"),
        (
            Line("f:1", b'{"task": {"main_query": "?"}, "output": {"metadata": 3}}'),
            "unreadable row: metadata: Input should be a valid dictionary",
        ),
    ],
)
def test_a_row_that_cannot_be_read_is_listed_with_the_reason(line: Line, problem: str) -> None:
    ((where, task_id, said),) = found(line)
    assert (where, task_id) == ("f:1", "")
    assert said.startswith(problem)
    assert checked(line).rows == 1


def test_a_row_whose_task_is_no_object_is_a_task_itself() -> None:
    own = Line("f:1", b'{"task": "math", "main_query": "?", "task_id": "a", "metadata": {"problem": "it: x"}}')
    assert found(own) == [("f:1", "a", "it: x")]


def test_a_check_that_raises_is_that_rows_problem() -> None:
    assert found(row("a", raises="k"), row("b", problem="mine: x")) == [
        ("f:1", "a", "check_task raised: KeyError: 'k'"),
        ("f:2", "b", "mine: x"),
    ]


def test_the_output_reaches_the_check() -> None:
    assert found(row("a", {"metadata": {"n": 1}})) == [("f:1", "a", "output: {'n': 1}")]


def test_the_first_reference_of_an_id_is_the_one_that_others_contradict() -> None:
    lines = [
        row("a", answer="x"),
        row("a", answer="X"),
        row("a", answer="y"),
        row("a", answer="x"),
        row("b", answer="y"),
    ]
    assert found(*lines) == [("f:3", "a", 'contradiction: {"answer": "y"} here, {"answer": "x"} in line 1')]


def test_a_row_with_a_problem_states_no_reference_and_contradicts_none() -> None:
    lines = [
        row("a", answer="x", problem="bad: 1"),
        row("a", answer="y"),
        row("a", answer="z"),
        row("a", problem="bad: 2"),
    ]
    assert found(*lines) == [
        ("f:1", "a", "bad: 1"),
        ("f:4", "a", "bad: 2"),
        ("f:3", "a", 'contradiction: {"answer": "z"} here, {"answer": "y"} in line 2'),
    ]
    assert checked(*lines).task_ids == 1


class OfOutputs(Checker):
    """Takes every output."""

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        return None


def test_a_reference_in_the_output_counts_unless_the_task_has_one() -> None:
    said = {"metadata": {"answer": "x"}}
    lines = [row("a", said), row("a", said, answer="x"), row("a", said, answer="y")]
    assert found(*lines, judge=OfOutputs()) == [
        ("f:3", "a", 'contradiction: {"answer": "y"} here, {"answer": "x"} in line 1')
    ]


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (86, f'{{"answer": "{"y" * 86}"}} here, {{"answer": "{"x" * 86}"}} in line 1'),
        (87, f'{{"answer": "{"y" * 68}… (101 characters) here, {{"answer": "{"x" * 68}… (101 characters) in line 1'),
        (186, f'{{"answer": "{"y" * 68}… (200 characters) here, {{"answer": "{"x" * 68}… (200 characters) in line 1'),
        (187, f'{{"answer": "{"y" * 68}… (201 characters) here, another in line 1'),
    ],
)
def test_long_references_are_told_apart_and_shown_short(length: int, words: str) -> None:
    lines = [row("a", answer="x" * length), row("a", answer="x" * length), row("a", answer="y" * length)]
    assert found(*lines) == [("f:3", "a", f"contradiction: {words}")]


def test_a_kind_is_the_words_before_the_colon_and_keeps_its_first_rows() -> None:
    report = TaskReport()
    for number in range(7):
        report.add(Finding(f"f:{number}", "t", f" kind : {'x' * 2_000}"))
    report.add(Finding("f:8", "t", "k" * 60))
    report.add(Finding("f:9", "t", ": nothing before it"))
    assert report.counts == {"kind": 7, "k" * 40: 1, "problem": 1}
    assert [finding.where for finding in report.first["kind"]] == [f"f:{number}" for number in range(5)]
    assert {len(finding.problem) for finding in report.first["kind"]} == {1_000}


def test_kinds_beyond_the_fiftieth_are_counted_together() -> None:
    report = TaskReport()
    for number in [*range(60), 3, 59]:
        report.add(Finding("f:1", "t", f"{number}: x"))
    assert len(report.counts) == 51
    assert (report.counts["3"], report.counts["other"]) == (2, 11)


def test_a_report_is_plain_data() -> None:
    report = checked(row("a", problem="bad: 1"))
    assert json.loads(json.dumps(report.to_dict())) == {
        "rows": 1,
        "task_ids": 1,
        "problems": [
            {"kind": "bad", "rows": 1, "first": [{"where": "f:1", "task_id": "a", "problem": "bad: 1"}]},
        ],
        "notes": {},
    }
