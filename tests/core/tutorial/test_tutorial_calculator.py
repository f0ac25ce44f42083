"""The tutorial's calculator is asked by the policy: it answers in words, whatever it is given, and at once."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from agentscope_tuner import Task
from tutorial.example_math_agent.calculator import calculator
from tutorial.example_math_agent.record import KINDS, make_tasks


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("17 * 24", "408"),
        ("4 - 12", "-8"),
        ("1.5 + 1.1", "2.6"),
        ("-1 / 8", "-0.125"),
        ("1/3 + 1/3", "2/3"),
        ("2,000 + 4,000", "6000"),
        ("1,000,000 * 2", "2000000"),
        ("25% * 140", "35"),
        (r"12.5\% * 8", "1"),
        ("3 * 4 = 13", "12"),
        (r"6 \times 7", "42"),
        ("0.1 + 0.2", "0.3"),
        ("1 / 10000000", "1/10000000"),
        (f"{10**400} / 2", str(5 * 10**399)),
        (f"{10**400} + 1/2", f"{10**400}.5"),
    ],
)
def test_it_calculates_exactly(expression: str, result: str) -> None:
    assert calculator(expression) == result


HOSTILE = [
    "",
    " ",
    "= 4",
    "1 / 0",
    "1 / (2 - 2)",
    "95**36**32",
    "9 // 2",
    "__import__('os').system('true')",
    "().__class__.__mro__",
    "x := 1",
    "lambda: 1",
    "1e308 * 10",
    "1 if 1 else 2",
    "'a' * 10",
    "[1] * 9",
    "(" * 400,
    "-" * 499 + "1",
    "1" * 501,
    "1" * 10_000_000,
    "1" * 10_000_000 + "%",
    "," * 10_000_000,
    "1\n2",
    "\x00",
    "\ud800",
    "٣ + ٤",
    "²",
    "12 apples",
]


@pytest.mark.parametrize("expression", HOSTILE, ids=lambda text: ascii(text[:20]))
def test_what_it_cannot_calculate_is_an_error_in_words_and_costs_nothing(expression: str) -> None:
    began = time.process_time()
    assert calculator(expression).startswith("error: ")
    assert time.process_time() - began < 1


def test_the_agents_tasks_are_the_first_of_each_kind() -> None:
    lines = (Path(__file__).parents[3] / "tutorial/example_math_agent/tasks.jsonl").read_text(encoding="utf-8")
    tasks = [Task(**json.loads(line)) for line in lines.splitlines()]
    # the agent brings its own worked examples
    assert tasks == [task.model_copy(update={"init_messages": []}) for task in make_tasks()[: len(KINDS)]]
