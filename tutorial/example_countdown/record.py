"""Make the countdown tasks from a fixed seed, and record a small model's attempts at them.

Run by `make record`. To look at a few attempts without writing them, in the environment it makes:
`python -m tutorial.example_countdown.record --try 8`.
"""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

from agentscope_tuner.workflow import Task
from tutorial.record_rollouts import Recipe, few_shot, main

SEED = 20261121
TASKS = 60
SIZES = (2, 3, 3, 4)  # how many numbers a task gives, in turn
LARGEST_TARGET = 100

SYSTEM = (
    "Make the target from the numbers with + - * / and parentheses. Use each number exactly once. "
    "End with the equation in \\boxed{}."
)
# worked games by how many numbers they give
SHOTS = {
    2: (
        ("Make 15 from the numbers 9 and 6.", "9 + 6 = 15. \\boxed{9+6}"),
        ("Make 5 from the numbers 8 and 3.", "8 - 3 = 5. \\boxed{8-3}"),
        ("Make 11 from the numbers 10 and 1.", "10 + 1 = 11. \\boxed{10+1}"),
        ("Make 8 from the numbers 12 and 4.", "12 - 4 = 8. \\boxed{12-4}"),
    ),
    3: (
        ("Make 24 from the numbers 25, 1 and 1.", "(25 - 1) * 1 = 24. \\boxed{(25-1)*1}"),
        ("Make 12 from the numbers 3, 5 and 4.", "3 + 5 + 4 = 12. \\boxed{3+5+4}"),
        ("Make 7 from the numbers 9, 6 and 4.", "9 - 6 + 4 = 7. \\boxed{9-6+4}"),
        ("Make 13 from the numbers 1, 10 and 2.", "1 + 10 + 2 = 13. \\boxed{1+10+2}"),
    ),
    4: (
        ("Make 20 from the numbers 8, 2, 6 and 4.", "8 + 2 + 6 + 4 = 20. \\boxed{8+2+6+4}"),
        ("Make 4 from the numbers 9, 1, 6 and 2.", "9 - 1 - 6 + 2 = 4. \\boxed{9-1-6+2}"),
        ("Make 18 from the numbers 3, 3, 10 and 2.", "3 + 3 + 10 + 2 = 18. \\boxed{3+3+10+2}"),
    ),
}


def reached(rng: random.Random, nums: list[int]) -> Fraction | None:
    """What a random equation over all of `nums`, in random order, comes to; None where it divides by zero."""
    values = [Fraction(number) for number in nums]
    while len(values) > 1:
        rng.shuffle(values)
        a, b = values.pop(), values.pop()
        match rng.choice("++++--*/"):
            case "+":
                values.append(a + b)
            case "-":
                values.append(a - b)
            case "*":
                values.append(a * b)
            case _:
                if b == 0:
                    return None
                values.append(a / b)
    return values[0]


def _question(target: int, nums: list[int]) -> str:
    *most, last = map(str, nums)
    return f"Make {target} from the numbers {', '.join(most)} and {last}."


def make_tasks(seed: int = SEED, count: int = TASKS) -> list[Task]:
    """`count` different tasks whose target some equation reaches; the same seed gives the same tasks.

    A task's metadata holds `target`, an integer from 1 to `LARGEST_TARGET`, and `nums`, the numbers to use once each.
    """
    rng = random.Random(seed)
    seen = {question for shots in SHOTS.values() for question, _ in shots}
    tasks: list[Task] = []
    while len(tasks) < count:
        nums = [rng.randint(1, 12) for _ in range(SIZES[len(tasks) % len(SIZES)])]
        value = reached(rng, nums)
        if value is None or value.denominator != 1 or not 1 <= value <= LARGEST_TARGET:
            continue
        target = int(value)
        question = _question(target, nums)
        if question in seen:
            continue
        seen.add(question)
        tasks.append(
            Task(
                task_id=f"countdown-{len(tasks):03d}",
                main_query=question,
                init_messages=few_shot(SYSTEM, SHOTS[len(nums)]),
                metadata={"target": target, "nums": nums},
            )
        )
    return tasks


RECIPE = Recipe(
    directory=Path(__file__).parent,
    tasks=make_tasks(),
    echoed=("target", "nums"),
)

if __name__ == "__main__":
    main(RECIPE)
