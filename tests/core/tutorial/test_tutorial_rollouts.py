"""The rollout tutorials' files fit what they were made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tuner import WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.workflow import Task
from tests.needs_jail import NEEDS_JAIL
from tutorial.example_countdown.record import make_tasks

TUTORIAL = Path(__file__).parents[3] / "tutorial"
# a program that is right, and what one mistake in it is
PROGRAMS = [
    ("print(2 * int(input()))", "2 *", "2 +"),
    ("print(sum(map(int, input().split())))", "sum", "max"),
    ("print(len(input()))", "input()", "input().split()"),
    ("def multiply(a, b):\n    return a * b", "a * b", "a + b"),
    ("def last(items):\n    return items[-1]", "-1", "0"),
    ("def largest(items):\n    return max(items)", "max", "min"),
    ("def is_even(n):\n    return n % 2 == 0", "== 0", "!= 0"),
    ("def backwards(text):\n    return text[::-1]", "::-1", "::1"),
]


def tasks_of(example: str) -> list[Task]:
    lines = (TUTORIAL / example / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    return [Task.model_validate_json(line) for line in lines]


def test_countdowns_tasks_are_the_first_that_the_maker_makes() -> None:
    tasks = tasks_of("example_countdown")
    assert tasks == make_tasks()[: len(tasks)]
    assert len(tasks) == 6


@NEEDS_JAIL
@pytest.mark.parametrize(("task", "program"), list(zip(tasks_of("example_code"), PROGRAMS, strict=True)))
def test_codes_tests_pay_a_right_program_and_no_wrong_one(task: Task, program: tuple[str, str, str]) -> None:
    judge = load_judge(TUTORIAL / "example_code" / "code.yaml")
    right, part, mistake = program
    for text, reward in ((right, 1.0), (right.replace(part, mistake), 0.0)):
        output = WorkflowOutput(metadata={"final_answer": f"```python\n{text}\n```"})
        assert judge.judge(WorkflowTask(task=task), output).reward == reward
    assert all(right not in message["content"] for message in task.init_messages)


def test_codes_tests_come_in_three_forms() -> None:
    forms = [task.metadata["tests"] for task in tasks_of("example_code")]
    assert {(type(form).__name__, "fn_name" in form) for form in forms} == {
        ("dict", False),
        ("dict", True),
        ("list", False),
    }
