"""The rollout tutorials' files fit what they were made from."""

from __future__ import annotations

from pathlib import Path

from agentscope_tuner.workflow import Task
from tutorial.example_countdown.record import make_tasks

TASKS = Path(__file__).parents[3] / "tutorial" / "example_countdown" / "tasks.jsonl"


def test_countdowns_tasks_are_the_first_that_the_maker_makes() -> None:
    tasks = [Task.model_validate_json(line) for line in TASKS.read_text(encoding="utf-8").splitlines()]
    assert tasks == make_tasks()[: len(tasks)]
    assert len(tasks) == 6
