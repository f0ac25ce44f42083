r"""What a question says of its answer: what it asks for and by which names, in which units, form and order.

A row of cases/questions.txt is `question ⇒ fact ⇒ fact`: a fact is a name, where it holds, or `name=values`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.units import PhysicalUnit

CASES = Path(__file__).parents[2] / "cases" / "questions.txt"
HOLDING = (
    *("asks_percent", "asks_fraction", "bounds_arguments", "has_free_letters", "asks_to_rewrite", "asks_to_simplify"),
    *("asks_to_round", "speaks_of_rounding", "keeps_order", "is_of_ordinals", "is_of_groups", "asks_factors"),
    *("is_of_digits", "is_foreign", "asks_angle", "speaks_of_ratios", "has_inequality", "asks_order"),
)
# What these decide needs an answer, too
WITHIN = ("_is_of_functions", "_names_integers", "_says_order", "_decorates", "_says_limit", "_asks_conjugate")
LISTED = ("letters", "slanted", "counted", "options", "names", "choices")


def unit(one: PhysicalUnit) -> str:
    return f"{one.size} " + " ".join(f"{name}^{power}" for name, power in one.dimension)


def facts(question: Question) -> Iterator[str]:
    yield from (name for name in HOLDING if getattr(question, name))
    yield from (name[1:] for name in WITHIN if getattr(question, name))
    yield from (f"asks_{name}" for name in ("min", "max") if question.asks_extreme(name))
    for name in LISTED:
        if found := getattr(question, name):
            yield f"{name}={','.join(sorted(one if isinstance(one, str) else ' '.join(one) for one in found))}"
    if question.asked_for:
        yield f"asked_for={','.join(sorted(map(' '.join, question.asked_for)))}"
    if question.numbers:
        yield f"numbers={','.join(map(str, sorted(question.numbers)))}"
    if question.single_number is not None:
        yield f"single_number={type(question.single_number).__name__}"
    if question.asked_units:
        yield f"asked_units={','.join(sorted(map(unit, question.asked_units)))}"
    asked = question.asked_amount
    if amount := ["rate"] * asked.rate + ["amount"] * asked.amount + sorted(asked.ones):
        yield f"asked_amount={','.join(amount)}"
    if question.log_base is not None:
        yield f"log_base={question.log_base}"
    if question.solved_for:
        yield f"solved_for={question.solved_for}"
    if question._powers:
        yield f"powers={','.join(sorted(question._powers))}"
    if question.formulas:
        yield f"formulas={len(question.formulas)}"


def test_a_question_says_what_the_table_says() -> None:
    rows = [line.split(" ⇒ ") for line in CASES.read_text(encoding="utf-8").splitlines()]
    wrong = [(row, found) for row in rows if (found := [row[0], *facts(Question(row[0]))]) != row]
    assert wrong == []
    assert {fact.partition("=")[0] for row in rows for fact in row[1:]} >= {
        *HOLDING,
        *LISTED,
        "asked_for",
        "asked_units",
    }
