"""Every name of a unit in the file of other languages' words is that unit in a box and behind it, and no other."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify.find import find_answer
from agentscope_tuner.verify.math.place import judge_place
from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.words import abroad

QUESTION = "Find the quantity."
# Each with its sign
UNITS = {
    "meter": r"\text{ m}",
    "centimeter": r"\text{ cm}",
    "kilometer": r"\text{ km}",
    "square meter": r"\text{ m}^2",
    "square centimeter": r"\text{ cm}^2",
    "cubic meter": r"\text{ m}^3",
    "gram": r"\text{ g}",
    "kilogram": r"\text{ kg}",
    "hour": r"\text{ h}",
    "second": r"\text{ s}",
    "kilometer per hour": r"\text{ km/h}",
    "meter per second": r"\text{ m/s}",
    "percent": r"\%",
}
# Every name in turn would take a minute
EVERY = 9


def names_of(unit: str) -> list[str]:
    return [form.replace("_", " ") for form, name in abroad().items() if name == unit][::EVERY]


def paid(output: str, reference: str) -> bool:
    found = find_answer(output, ["boxed"], by_value=True)
    verdict = judge_place(found, reference, QUESTION, lambda text: compare(text, reference, question=QUESTION))
    return verdict.outcome == "equal"


@pytest.mark.parametrize("unit", UNITS)
def test_a_name_is_its_own_unit_and_no_other(unit: str) -> None:
    others = [sign for name, sign in UNITS.items() if name != unit]
    names = names_of(unit)
    outputs = [text for name in names for text in (rf"$\boxed{{5\text{{ {name}}}}}$", rf"It is $\boxed{{5}}$ {name}.")]
    assert names
    assert [text for text in outputs if not paid(text, f"5{UNITS[unit]}")] == []
    assert [(text, one) for at, text in enumerate(outputs) if paid(text, f"5{(one := others[at % len(others)])}")] == []


@pytest.mark.parametrize(
    ("output", "reference", "expected"),
    [
        (r"$\boxed{5\text{ m²}}$", r"5\text{ cm}", False),
        (r"$\boxed{5\text{ m²}}$", r"5\text{ m}^2", True),
        (r"$\boxed{5}$ m².", r"5\text{ m}", False),
        (r"$\boxed{5}$ m².", r"5\text{ m}^2", True),
        (r"$\boxed{5}$ m/s².", r"5\text{ m/s}", False),
        (r"$\boxed{5\text{ kg·m}}$", r"5\text{ m}", False),
        (r"$\boxed{5}$ м².", r"5\text{ м}", False),
        (r"$\boxed{5}$ %.", r"5\text{ cm}", False),
        (r"$\boxed{5\text{ m/MS}}$", r"5\text{ m/ms}", False),
        (r"$\boxed{5\text{ MG}}$", r"5\text{ mg}", False),
        (r"$\boxed{5}$ %.", r"5\%", True),
    ],
)
def test_a_raised_unit_is_another_one(output: str, reference: str, expected: bool) -> None:
    assert paid(output, reference) is expected
