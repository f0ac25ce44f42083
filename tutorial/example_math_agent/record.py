"""Make the math tasks from a fixed seed, and record a small model's attempts at them.

Run by `make record`. To look at a few attempts without writing them, in the environment it makes:
`python -m tutorial.example_math_agent.record --try 8`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from agentscope_tuner.workflow import Task
from tutorial.record_rollouts import Recipe, few_shot, main

SEED = 20261121
TASKS = 66  # six of each kind
NAMES = ("Anna", "Ben", "Carla", "Dev", "Emil", "Fatima", "Goro", "Hana")
THINGS = ("apples", "pens", "books", "coins", "stickers", "shells")

# a question and its reference answer, in the form a data set of that kind would write it
Problem = tuple[str, str]


def _sum(rng: random.Random) -> Problem:
    a, b = rng.randint(2, 30), rng.randint(2, 30)
    return f"What is {a} + {b}?", str(a + b)


def _product(rng: random.Random) -> Problem:
    a, b = rng.randint(2, 9), rng.randint(2, 10)
    return f"What is {a} * {b}?", str(a * b)


def _difference(rng: random.Random) -> Problem:
    a, b = rng.randint(2, 20), rng.randint(2, 20)
    return f"What is {a} - {b}?", str(a - b)


def _decimal_sum(rng: random.Random) -> Problem:
    a, b = rng.randint(11, 49), rng.randint(11, 49)
    return f"What is {a / 10} + {b / 10}?", f"{(a + b) / 10}"


def _fraction_sum(rng: random.Random) -> Problem:
    denominator = rng.choice((3, 4, 5, 7, 8, 9))
    a = rng.randint(1, denominator - 1)
    b = rng.randint(1, denominator - 1)
    total = Fraction(a + b, denominator)
    reference = f"\\frac{{{total.numerator}}}{{{total.denominator}}}" if total.denominator > 1 else str(total)
    return f"What is {a}/{denominator} + {b}/{denominator}?", reference


def _larger_fraction(rng: random.Random) -> Problem:
    denominator = rng.choice((5, 7, 8, 9, 11, 12))
    a, b = rng.sample(range(1, denominator), 2)
    larger = Fraction(max(a, b), denominator)
    reference = f"\\frac{{{larger.numerator}}}{{{larger.denominator}}}"
    return f"Which is larger, {a}/{denominator} or {b}/{denominator}?", reference


def _percent_of(rng: random.Random) -> Problem:
    percent, whole = rng.choice((10, 20, 25, 50)), rng.randrange(20, 201, 20)
    return f"What is {percent}% of {whole}?", str(Fraction(percent * whole, 100))


def _what_percent(rng: random.Random) -> Problem:
    percent, whole = rng.choice((10, 20, 25, 50)), rng.choice((20, 40, 100, 200))
    return f"What percent of {whole} is {percent * whole // 100}?", f"{percent}\\%"


def _thousands(rng: random.Random) -> Problem:
    a, b = rng.randint(1, 9) * 1000, rng.randint(1, 9) * 1000
    return f"What is {a:,} + {b:,}?", f"{a + b:,}"


def _more(rng: random.Random) -> Problem:
    name, things = rng.choice(NAMES), rng.choice(THINGS)
    a, b = rng.randint(2, 15), rng.randint(2, 15)
    question = f"{name} has {a} {things} and gets {b} more. How many {things} does {name} have now?"
    return question, f"{name} has {a} + {b} = {a + b} {things}.\n#### {a + b}"


def _cost(rng: random.Random) -> Problem:
    name, things = rng.choice(NAMES), rng.choice(THINGS)
    price, count = rng.randint(2, 9), rng.randint(2, 6)
    question = f"{name} buys {count} {things} at ${price} each. How many dollars does {name} pay?"
    return question, f"{name} pays {count} * ${price} = ${count * price}.\n#### {count * price}"


SYSTEM = "Solve the problem. End with the answer in \\boxed{}."


@dataclass(frozen=True)
class Kind:
    """One kind of problem: how to make one, and the worked ones the model is shown first."""

    make: Callable[[random.Random], Problem]
    shots: Sequence[tuple[str, str]]


KINDS = {
    "sum": Kind(
        _sum,
        (
            ("What is 6 + 11?", "6 + 11 = 17. \\boxed{17}"),
            ("What is 20 + 4?", "20 + 4 = 24. \\boxed{24}"),
        ),
    ),
    "product": Kind(
        _product,
        (
            ("What is 5 * 7?", "5 * 7 = 35. \\boxed{35}"),
            ("What is 3 * 4?", "3 * 4 = 12. \\boxed{12}"),
        ),
    ),
    "difference": Kind(
        _difference,
        (
            ("What is 4 - 9?", "4 - 9 = -5. \\boxed{-5}"),
            ("What is 17 - 6?", "17 - 6 = 11. \\boxed{11}"),
            ("What is 3 - 10?", "3 - 10 = -7. \\boxed{-7}"),
        ),
    ),
    "decimal": Kind(
        _decimal_sum,
        (
            ("What is 1.4 + 2.3?", "1.4 + 2.3 = 3.7. \\boxed{3.7}"),
            ("What is 2.6 + 1.8?", "2.6 + 1.8 = 4.4. \\boxed{4.4}"),
        ),
    ),
    "fraction": Kind(
        _fraction_sum,
        (
            ("What is 1/6 + 4/6?", "1 + 4 = 5, so 5/6. \\boxed{\\frac{5}{6}}"),
            ("What is 1/3 + 1/3?", "1 + 1 = 2, so 2/3. \\boxed{\\frac{2}{3}}"),
            ("What is 3/10 + 6/10?", "3 + 6 = 9, so 9/10. \\boxed{\\frac{9}{10}}"),
        ),
    ),
    "larger_fraction": Kind(
        _larger_fraction,
        (
            ("Which is larger, 3/4 or 1/4?", "3/4 is larger. \\boxed{\\frac{3}{4}}"),
            ("Which is larger, 2/6 or 5/6?", "5/6 is larger. \\boxed{\\frac{5}{6}}"),
        ),
    ),
    "percent_of": Kind(
        _percent_of,
        (
            ("What is 50% of 60?", "60 / 2 = 30. \\boxed{30}"),
            ("What is 10% of 240?", "240 / 10 = 24. \\boxed{24}"),
            ("What is 25% of 400?", "400 / 4 = 100. \\boxed{100}"),
            ("What is 20% of 250?", "250 / 5 = 50. \\boxed{50}"),
        ),
    ),
    "what_percent": Kind(
        _what_percent,
        (
            ("What percent of 50 is 5?", "5 is 10% of 50. \\boxed{10\\%}"),
            ("What percent of 60 is 30?", "30 is 50% of 60. \\boxed{50\\%}"),
            ("What percent of 80 is 20?", "20 is 25% of 80. \\boxed{25\\%}"),
        ),
    ),
    "thousands": Kind(
        _thousands,
        (
            ("What is 3,000 + 8,000?", "3,000 + 8,000 = 11,000. \\boxed{11,000}"),
            ("What is 15,000 + 2,000?", "15,000 + 2,000 = 17,000. \\boxed{17,000}"),
        ),
    ),
    "more": Kind(
        _more,
        (
            ("Tom has 4 eggs and gets 5 more. How many eggs does Tom have now?", "4 + 5 = 9. \\boxed{9}"),
            ("Mia has 12 keys and gets 3 more. How many keys does Mia have now?", "12 + 3 = 15. \\boxed{15}"),
        ),
    ),
    "cost": Kind(
        _cost,
        (
            ("Tom buys 3 cups at $4 each. How many dollars does Tom pay?", "3 * 4 = 12. \\boxed{12}"),
            ("Mia buys 2 keys at $5 each. How many dollars does Mia pay?", "2 * 5 = 10. \\boxed{10}"),
        ),
    ),
}


def make_tasks(seed: int = SEED, count: int = TASKS) -> list[Task]:
    """`count` different tasks, the kinds in turn; the same seed gives the same tasks.

    A task's metadata holds `answer`, the reference, and `kind`, one of `KINDS`.
    """
    rng = random.Random(seed)
    names = list(KINDS)
    seen: set[str] = {question for kind in KINDS.values() for question, _ in kind.shots}
    tasks: list[Task] = []
    while len(tasks) < count:
        name = names[len(tasks) % len(names)]
        question, answer = KINDS[name].make(rng)
        if question in seen:
            continue
        seen.add(question)
        tasks.append(
            Task(
                task_id=f"math-{len(tasks):03d}",
                main_query=question,
                init_messages=few_shot(SYSTEM, KINDS[name].shots),
                metadata={"answer": answer, "kind": name},
            )
        )
    return tasks


RECIPE = Recipe(directory=Path(__file__).parent, tasks=make_tasks())

if __name__ == "__main__":
    main(RECIPE)
