"""Scored rows as the commands that analyse verdicts read them: every field, and what a row that lacks it gets."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.reader import Line
from agentscope_tuner.records.scored_rows import ScoredRow, UnjudgedRow, scored_row, scored_rows, step_of, value_at

VERDICT = {"status": "judged", "reward": 1, "is_success": True}


def line(row: object, where: str = "f:1") -> Line:
    return Line(where, json.dumps(row).encode())


def test_a_whole_row_is_read_field_by_field() -> None:
    row = {
        "id": 7,
        "task": {"task_id": "t", "metadata": {"step": 3}},
        "output": {"metadata": {"final_answer": "42", "global_step": 5}},
        "judgement": {
            "status": "filtered",
            "reward": 0,
            "is_success": False,
            "reason": "short: 3",
            "cause": None,
            "violations": ["short", 2],
            "metrics": {"part/a": 0.5, "n": 1e100, "over": 1e101, "yes": True, "no": False, "text": "1", "none": None},
            "seconds": 0.25,
        },
    }
    assert scored_row(line(row), Counter({"7": 2})) == ScoredRow(
        where="f:1",
        id="7",
        nth=2,
        task="t",
        step=5.0,
        status="filtered",
        reward=0.0,
        success=False,
        reason="short: 3",
        cause=None,
        violations=("short", "2"),
        metrics={"part/a": 0.5, "n": 1e100},
        seconds=0.25,
        answer="42",
        row=row,
    )


def test_a_row_that_lacks_all_else_has_its_verdict() -> None:
    row = {"judgement": {"status": "judged", "reward": 1}}
    read = scored_row(line(row, "f:9"), Counter())
    assert (read.id, read.nth, read.task, read.step, read.success, read.cause) == ("f:9", 0, "", None, None, None)
    assert (read.reason, read.violations, read.metrics, read.seconds, read.answer) == ("", (), {}, 0.0, "")
    assert (read.group, type(read.reward)) == (("", None), float)


@pytest.mark.parametrize(
    "odd",
    [
        {"task": [1], "output": "text"},
        {"task": {"task_id": None, "metadata": 3}, "output": {"metadata": {"final_answer": ["4"]}}},
        {
            "judgement": {
                **VERDICT,
                "is_success": 1,
                "reason": None,
                "violations": "abc",
                "metrics": [1],
                "seconds": "1",
            }
        },
    ],
    ids=["no objects", "odd fields", "odd verdict"],
)
def test_what_has_another_type_counts_as_missing(odd: dict[str, Any]) -> None:
    read = scored_row(line({"judgement": {**VERDICT, "is_success": None}, **odd}), Counter())
    assert (read.task, read.step, read.success, read.answer) == ("", None, None, "")
    assert (read.reason, read.violations, read.metrics, read.seconds) == ("", (), {}, 0.0)


def test_a_failed_row_has_no_reward_whatever_it_says() -> None:
    row = {"judgement": {"status": "failed", "reward": 1.0, "cause": "input", "reason": "no answer"}}
    read = scored_row(line(row), Counter())
    assert (read.status, read.reward, read.cause, read.reason) == ("failed", None, "input", "no answer")


def test_rows_of_one_id_are_numbered_and_only_counted_ids_are_kept() -> None:
    rows = [line({"id": name, "judgement": VERDICT}) for name in ("a", "b", "a", "a")]
    assert [row.nth for row in scored_rows(rows)] == [0, 0, 1, 2]
    seen: Counter[str] = Counter()
    assert [scored_row(row, seen, {"b"}).nth for row in rows] == [0, 0, 0, 0]
    assert dict(seen) == {"b": 1}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (Line("f:3", b"", "it is longer than 10 bytes"), "it is longer than 10 bytes"),
        (Line("f:3", b"[1]"), "a row must be an object, got list"),
        (Line("f:3", b'{"a": '), ""),
        (Line("f:3", b"[" * 100_000 + b"]" * 100_000), ""),
        (Line("f:3", b'{"id": 1}'), "the row has no judgement: judge the file first, or name its --format"),
    ],
)
def test_a_line_without_a_verdict_is_named_with_its_place(bad: Line, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        list(scored_rows([bad]))
    assert str(caught.value).startswith(f"f:3: {words}")


def test_a_row_that_was_never_judged_is_told_from_a_broken_one() -> None:
    with pytest.raises(UnjudgedRow):
        scored_row(line({"id": 1}), Counter())
    with pytest.raises(ValueError, match="object") as caught:
        scored_row(line(3), Counter())
    assert not isinstance(caught.value, UnjudgedRow)


def test_half_a_surrogate_pair_is_read() -> None:
    raw = b'{"id": "\\ud800", "judgement": {"status": "judged", "reward": 1}}'
    assert scored_row(Line("f:1", raw), Counter()).id == "\ud800"


@pytest.mark.parametrize("reward", [1e100, -1e100])
def test_the_largest_reward_is_read(reward: float) -> None:
    assert scored_row(line({"judgement": {**VERDICT, "reward": reward}}), Counter()).reward == reward


@pytest.mark.parametrize(
    ("places", "step"),
    [
        ([{"step": 1, "global_step": 2}], 1.0),
        ([{"global_step": 2, "training_step": 3}], 2.0),
        ([{"training_step": 3}, {"step": 4}], 3.0),
        ([{"step": "1", "global_step": 2}], 2.0),
        ([{"step": True}, {"step": 4}], 4.0),
        ([{}, {"other": 1}], None),
    ],
)
def test_the_first_place_and_key_with_a_number_is_the_step(places: list[dict[str, Any]], step: float | None) -> None:
    assert step_of(*places) == step


ROW = {
    "task": {"env_type": "math", "metadata": {"source": "gsm", "only": {"deep": [1]}, "none": None}},
    "output": {"metadata": {"source": "other", "none": "said", "length": 3}},
    "judgement": {"reason": "", "reward": 0.5},
}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("metadata.source", "gsm"),
        ("metadata.none", "said"),
        ("metadata.length", "3"),
        ("metadata.only.deep", "[1]"),
        ("metadata.source.deeper", ""),
        ("task.env_type", "math"),
        ("task.metadata.source", "gsm"),
        ("judgement.reason", ""),
        ("judgement.reward", "0.5"),
        ("judgement.none", ""),
        ("metadata", ""),
    ],
)
def test_a_path_reads_a_value_as_text(path: str, text: str) -> None:
    assert value_at(ROW, path) == text


def test_a_task_may_be_number_0_and_a_failed_row_has_no_success() -> None:
    line = '{"id": 0, "task": {"task_id": 0}, "judgement": {"status": "failed", "is_success": false}}'
    row = scored_row(Line("f:1", line.encode()), Counter())
    assert (row.id, row.task, row.reward, row.success) == ("0", "0", None, None)
