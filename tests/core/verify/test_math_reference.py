"""References that are no answers: missing cells, lost backslashes."""

from __future__ import annotations

import pytest

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.verify.math.verdict import check_reference, compare, compare_exact

MISSING = [
    "NaN",
    "nan",
    "-nan",
    "inf",
    "-inf",
    "+Inf",
    "Infinity",
    "-Infinity",
    "<NA>",
    "NaT",
    " nan ",
    "$nan$",
    r"\boxed{nan}",
]
DAMAGED = [
    "\frac{1}{2}",
    "3\times 4",
    "a\neq b",
    "2\beta",
    "5\theta",
    "\begin{pmatrix}1\\end{pmatrix}",
    "\right)",
    "\rho",
    "\alpha",
    "\vec{v}",
    "x\to 2",
    "\tan x",
    "\text{Yes}",
    "\binom{5}{2}",
    "7\x00",
    "7\x1b",
    "\forall x",
]
SOUND = [
    r"\frac{1}{2}",
    "x=1,\ny=2",
    "The answer is\n42",
    "\t42",
    r"\infty",
    "infinity",
    r"\text{nan bread}",
    r"\text{None}",
    "evelyn\n",
]


@pytest.mark.parametrize("reference", MISSING)
def test_a_missing_number_is_no_reference(reference: str) -> None:
    for judge in (compare, compare_exact):
        with pytest.raises(JudgeError, match="missing or infinite"):
            judge("5", reference)
    with pytest.raises(JudgeError, match="missing or infinite"):
        check_reference(reference)


@pytest.mark.parametrize("reference", DAMAGED)
def test_a_lost_backslash_is_named(reference: str) -> None:
    with pytest.raises(JudgeError, match=r"lost its backslash|control character"):
        check_reference(reference)


@pytest.mark.parametrize("reference", SOUND)
def test_layout_and_words_are_no_damage(reference: str) -> None:
    check_reference(reference)
