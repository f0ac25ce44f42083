"""Units by themselves: what each measures, in base units, and the singular of its words."""

from __future__ import annotations

from fractions import Fraction

import pytest

from agentscope_tuner.verify.math.units import measure, singular

LENGTH, TIME = "length", "time"


@pytest.mark.parametrize(
    ("unit", "dimension", "size"),
    [
        ((), (), Fraction(1)),
        ((("km", 1),), ((LENGTH, 1),), Fraction(1000)),
        ((("hour", 1),), ((TIME, 1),), Fraction(3600)),
        ((("km", 1), ("h", -1)), ((LENGTH, 1), (TIME, -1)), Fraction(5, 18)),
        ((("cm", 2),), ((LENGTH, 2),), Fraction(1, 10_000)),
        ((("cm", -2),), ((LENGTH, -2),), Fraction(10_000)),
        ((("m", 1), ("cm", 1)), ((LENGTH, 2),), Fraction(1, 100)),
        # a unit above and below the line is none, but its size stays
        ((("m", 1), ("m", -1)), (), Fraction(1)),
        ((("km", 1), ("m", -1)), (), Fraction(1000)),
        # a word that no table knows is a dimension of its own
        ((("blorp", 1),), (("blorp", 1),), Fraction(1)),
        ((("blorp", 2), ("s", -1)), (("blorp", 2), (TIME, -1)), Fraction(1)),
        # powers that no formula has are not computed
        ((("km", 9),), ((LENGTH, 9),), Fraction(1000) ** 9),
        ((("km", 10),), ((LENGTH, 10),), Fraction(1)),
    ],
)
def test_a_unit_measures_a_dimension_in_base_units(
    unit: tuple[tuple[str, int], ...], dimension: tuple[tuple[str, int], ...], size: Fraction
) -> None:
    assert measure(unit) == (dimension, size)


@pytest.mark.parametrize(
    ("word", "one"),
    [
        ("Metres", "metre"), ("metre", "metre"), ("inches", "inch"), ("foxes", "fox"), ("boxes", "box"),
        ("dishes", "dish"), ("glass", "glass"), ("days", "day"), ("cm.", "cm"), ("houses", "house"), ("as", "as"),
        ("widgets", "widget"), ("apes", "ape"), ("bus", "bus"),
    ],
)  # fmt: skip
def test_the_singular_of_a_word(word: str, one: str) -> None:
    assert singular(word) == one
