"""The tutorial's tasks are made from a seed, and the rollouts beside them answer exactly those tasks."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from agentscope_tuner.workflow import Rollout, Task
from tutorial.example_countdown import record as countdown
from tutorial.example_math_agent import record as math_agent
from tutorial.record_rollouts import SAMPLES_PER_TASK, SAMPLING, Recipe

RECIPES = {"math": math_agent.RECIPE, "countdown": countdown.RECIPE}

# one task of each kind that the committed seed makes; the references were worked out by hand
MATH_TASKS = [
    ("sum", "What is 18 + 7?", "25"),
    ("product", "What is 6 * 7?", "42"),
    ("difference", "What is 4 - 12?", "-8"),
    ("decimal", "What is 1.5 + 1.1?", "2.6"),
    ("fraction", "What is 1/4 + 2/4?", "\\frac{3}{4}"),
    ("fraction", "What is 1/3 + 2/3?", "1"),
    ("larger_fraction", "Which is larger, 2/8 or 7/8?", "\\frac{7}{8}"),
    ("percent_of", "What is 25% of 140?", "35"),
    ("what_percent", "What percent of 100 is 25?", "25\\%"),
    ("thousands", "What is 2,000 + 4,000?", "6,000"),
    (
        "more",
        "Goro has 9 apples and gets 3 more. How many apples does Goro have now?",
        "Goro has 9 + 3 = 12 apples.\n#### 12",
    ),
    (
        "cost",
        "Fatima buys 3 pens at $3 each. How many dollars does Fatima pay?",
        "Fatima pays 3 * $3 = $9.\n#### 9",
    ),
]

REFERENCE_FORMS = {
    "integer": r"-?\d+",
    "decimal": r"\d+\.\d+",
    "fraction": r"\\frac\{\d+\}\{\d+\}",
    "percent": r"\d+\\%",
    "thousands": r"\d{1,2},\d{3}",
    "GSM8K": r"[^\n]+\n#### \d+",
}


def values_of(nums: tuple[Fraction, ...]) -> set[Fraction]:
    """Everything an equation that uses each of `nums` exactly once can come to, by trying all of them."""
    if len(nums) == 1:
        return set(nums)
    values: set[Fraction] = set()
    for i, j in combinations(range(len(nums)), 2):
        a, b = nums[i], nums[j]
        rest = tuple(number for k, number in enumerate(nums) if k not in (i, j))
        results = {a + b, a - b, b - a, a * b} | {x / y for x, y in ((a, b), (b, a)) if y}
        for result in results:
            values |= values_of((result, *rest))
    return values


def reachable(target: int, nums: list[int]) -> bool:
    return target in values_of(tuple(map(Fraction, nums)))


def rows_of(recipe: Recipe) -> list[dict[str, Any]]:
    with (recipe.directory / "rollouts.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def about(recipe: Recipe) -> dict[str, Any]:
    meta: dict[str, Any] = json.loads((recipe.directory / "rollouts.meta.json").read_text(encoding="utf-8"))
    return meta


@pytest.mark.parametrize("make_tasks", [math_agent.make_tasks, countdown.make_tasks], ids=list(RECIPES))
def test_a_seed_decides_the_tasks(make_tasks: Callable[[int, int], list[Task]]) -> None:
    assert make_tasks(7, 24) == make_tasks(7, 24)
    assert make_tasks(7, 24) != make_tasks(8, 24)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_no_task_is_asked_twice_or_answered_in_its_prompt(recipe: Recipe) -> None:
    questions = [task.main_query for task in recipe.tasks]
    assert len(set(questions)) == len(questions)
    assert len({task.task_id for task in recipe.tasks}) == len(questions)
    shown = {message["content"] for task in recipe.tasks for message in task.init_messages}
    assert shown.isdisjoint(questions)


def test_every_kind_of_math_task_is_in_the_table() -> None:
    assert {kind for kind, *_ in MATH_TASKS} == set(math_agent.KINDS)


@pytest.mark.parametrize(("kind", "question", "reference"), MATH_TASKS)
def test_math_references_are_right(kind: str, question: str, reference: str) -> None:
    task = next(task for task in math_agent.RECIPE.tasks if task.main_query == question)
    assert task.metadata == {"answer": reference, "kind": kind}


def test_math_references_come_in_every_form() -> None:
    references = [task.metadata["answer"] for task in math_agent.RECIPE.tasks]
    for form, pattern in REFERENCE_FORMS.items():
        assert any(re.fullmatch(pattern, reference) for reference in references), f"no reference is {form}"
    assert all(any(re.fullmatch(form, reference) for form in REFERENCE_FORMS.values()) for reference in references)


def test_the_solver_knows_what_cannot_be_reached() -> None:
    assert reachable(24, [3, 3, 8, 8])  # 8 / (3 - 8/3): only through a fraction
    assert not reachable(24, [1, 1, 1, 1])


@pytest.mark.parametrize("task", countdown.make_tasks(), ids=lambda task: task.task_id)
def test_every_countdown_target_is_reachable(task: Task) -> None:
    target, nums = task.metadata["target"], task.metadata["nums"]
    assert 1 <= target <= countdown.LARGEST_TARGET
    assert reachable(target, nums)


@pytest.mark.parametrize("nums", [[1, 1], [5, 2, 7], [3, 9, 4, 12]], ids=str)
def test_a_random_equation_comes_to_what_some_equation_comes_to(nums: list[int]) -> None:
    rng = random.Random(1)
    drawn = {countdown.reached(rng, list(nums)) for _ in range(300)} - {None}
    assert len(drawn) > 2
    assert drawn <= values_of(tuple(map(Fraction, nums)))


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_recorded_rollouts_answer_the_tasks_the_maker_makes(recipe: Recipe) -> None:
    rows = rows_of(recipe)
    assert len(rows) == len(recipe.tasks) * SAMPLES_PER_TASK >= 200
    for number, row in enumerate(rows):
        task = recipe.tasks[number // SAMPLES_PER_TASK]
        rollout = Rollout.model_validate(row)
        assert rollout.task == task
        assert rollout.id == f"{task.task_id}-{number % SAMPLES_PER_TASK}"
        assert isinstance(rollout.output.metadata["final_answer"], str)
        echoed = {key: task.metadata[key] for key in recipe.echoed}
        assert rollout.output.metadata == {"final_answer": rollout.output.metadata["final_answer"], **echoed}
        assert row["seed"] == number
        assert row["temperature"] == SAMPLING["temperature"]
        assert row["finish_reason"] in {"stop", "length"}
        assert 0 < row["completion_tokens"] <= SAMPLING["max_tokens"]


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_what_is_said_of_the_recording_fits_its_rows(recipe: Recipe) -> None:
    rows, meta = rows_of(recipe), about(recipe)
    assert meta["rows"] == len(rows)
    assert meta["tasks"] == len(recipe.tasks)
    assert meta["completion_tokens"] == sum(row["completion_tokens"] for row in rows)
    assert {row["model"] for row in rows} == {meta["model"]}
    assert meta["sampling"] == SAMPLING
    assert re.fullmatch(r"[0-9a-f]{64}", meta["weights_sha256"])
    assert (recipe.directory / "rollouts.jsonl").stat().st_size < 500_000
