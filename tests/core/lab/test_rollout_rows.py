"""A rollout's row: what it holds, how it is counted, and what JSON cannot hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from agentscope_tuner.lab.rollouts.rows import Played, RolloutRow, RolloutTally, bounded, ending
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

TASK = WorkflowTask(task=Task(task_id="t", main_query="?"))


def row(reward: float | None, status: str = "finished", seconds: float = 0.0, *calls: dict[str, Any]) -> RolloutRow:
    output = WorkflowOutput(metadata={"final_answer": "7"})
    found = Judgement(status="judged", reward=reward, is_success=True) if reward is not None else Judgement.failed("no")
    return RolloutRow("t-0", Played(status, TASK, output, calls, seconds=seconds), found, "d")


def test_nothing_is_told_of_no_rollouts() -> None:
    assert RolloutTally().lines() == []
    assert RolloutTally(groups=1).lines() == []


def test_groups_calls_tokens_and_seconds_are_counted() -> None:
    tally = RolloutTally(unheard={"solver", "critic", "author"})
    call = {"role": "solver", "prompt_tokens": 1000, "completion_tokens": 20}
    tally.add([row(1.0, "finished", 2.0, call, call), row(0.0, "max_iters", 1.0, {"role": None, "prompt_tokens": "9"})])
    tally.add([row(1.0), row(None, "failed")])
    assert tally.lines() == [
        ("rollouts finished", "2"),
        ("rollouts max_iters", "1"),
        ("rollouts failed", "1"),
        ("groups", "2"),
        ("groups with a spread of rewards", "1 (50.0%)"),
        ("seconds a rollout", "0.75"),
        ("model calls", "3 (0.8 a rollout)"),
        ("tokens", "2,000 in, 40 out"),
        ("trainable_targets without a call", "author, critic"),
    ]
    assert RolloutTally(rows=1, groups=1).lines()[-1] == ("tokens", "0 in, 0 out")


@pytest.mark.parametrize(
    ("rewards", "spread"),
    [([0.0, 1.0], 1), ([1.0, 1.0], 0), ([1.0, 1.0 + 1e-10], 0), ([0.0, 1e-8], 1), ([1.0, None], 0), ([None], 0)],
)
def test_a_group_teaches_something_only_where_its_rewards_differ(rewards: list[float | None], spread: int) -> None:
    tally = RolloutTally()
    tally.add([row(reward) for reward in rewards])
    assert (tally.spread, tally.groups, tally.rows) == (spread, 1, len(rewards))


def test_a_workflow_that_ends_in_ever_new_ways_does_not_fill_the_memory() -> None:
    tally = RolloutTally()
    for number in range(60):
        tally.add([row(1.0, f"status {number}")])
    tally.add([row(1.0, "status 0")])
    assert len(tally.statuses) == 51
    assert (tally.statuses["(others)"], tally.statuses["status 0"], tally.statuses["status 49"]) == (10, 2, 1)


@pytest.mark.parametrize(
    ("reason", "status", "has_why"),
    [
        (None, "finished", False),
        ("completed", "finished", False),
        ("exceed_max_iters", "exceed_max_iters", False),
        ("x" * 64, "x" * 64, False),
        ("x" * 65, "x" * 64, False),
        (7, "7", False),
        ("interrupted", "interrupted", True),
    ],
)
def test_a_rollouts_status_is_how_its_workflow_says_that_it_ended(reason: Any, status: str, has_why: bool) -> None:
    found, why = ending(WorkflowOutput(metadata={} if reason is None else {"finished_reason": reason}))
    assert (found, why is not None) == (status, has_why)


def test_a_long_traceback_keeps_both_ends() -> None:
    assert bounded("a" * 8000) == "a" * 8000
    text = "a" * 4000 + "bc" + "d" * 4000
    assert bounded(text[1:]) == text[1:4001] + "\n… 1 characters …\n" + "d" * 4000
    assert bounded(text) == "a" * 4000 + "\n… 2 characters …\n" + "d" * 4000


@dataclass
class Point:
    x: int


class Odd:
    def __repr__(self) -> str:
        return "o" * 2000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Point(1), {"x": 1}),
        ({2, 1}, [1, 2]),
        (frozenset("a"), ["a"]),
        (Odd(), "o" * 1000),
        (Judgement(status="judged", reward=1.0, is_success=True), {"status": "judged", "reward": 1.0}),
        (WorkflowOutput(reward=0.5), {"reward": 0.5}),
        ({"süß": 1, (1, 2): 3}, {"süß": 1}),
        ("\ud800", "\ud800"),
    ],
)
def test_what_json_cannot_hold_has_a_plain_form(value: Any, expected: Any) -> None:
    played = Played("finished", TASK, WorkflowOutput(metadata={"value": value}), seconds=1.23456)
    made = RolloutRow("t-0", played, Judgement(status="judged", reward=1.0, is_success=True), "d").to_line("c")
    assert made.endswith(b"}\n")
    found = json.loads(made)
    shown = found["output"]["metadata"]["value"]
    assert {key: shown[key] for key in expected} == expected if isinstance(expected, dict) else shown == expected
    assert (found["id"], found["config"], found["seconds"], found["status"]) == ("t-0", "c-d", 1.235, "finished")
    assert found["task"] == {"task_id": "t", "main_query": "?"}
    # text stays readable where UTF-8 can hold it
    assert ("süß".encode() in made) is (isinstance(value, dict))
