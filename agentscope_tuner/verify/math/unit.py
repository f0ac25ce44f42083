"""Units of measurement: the meaning of the words after a number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from agentscope_tuner.verify.math.node import Degrees, Node, Percent, Power, Product, Quantity, Unit
from agentscope_tuner.verify.math.text import Unreadable
from agentscope_tuner.verify.math.tree import number
from agentscope_tuner.verify.math.unit_words import (
    COMPOUND,
    COUNTED,
    COUNTERS,
    DESCRIBING,
    DIMENSIONS,
    NEVER,
    NOUNS_IN_LY,
    NUMBER_WORDS,
)

Dimension = dict[str, int]


class PhysicalUnit(NamedTuple):
    """The dimension of a unit, and its size: how many base units it is."""

    dimension: tuple[tuple[str, int], ...]
    size: Fraction


def _table() -> Iterator[tuple[str, PhysicalUnit]]:
    for dimension, line in DIMENSIONS.items():
        powers = tuple((base.partition("^")[0], int(base.partition("^")[2] or 1)) for base in _bases(dimension))
        for entry in line.split("|"):
            *names, size = entry.split()
            if size[0].isdigit():
                measured_by = PhysicalUnit(powers, Fraction(size))
            else:
                # without a size the unit is a dimension of its own, under each of its names
                names.append(size)
                measured_by = PhysicalUnit(((names[0], 1),), Fraction(1))
            yield from ((name, measured_by) for name in names)


def _bases(dimension: str) -> list[str]:
    return [dimension.replace(" ", "_")] if dimension.startswith("money") else dimension.split()


_UNITS = dict(_table())
SCALES = {
    "dozen": 12,
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "万": 10**4,
    "亿": 10**8,
}
PERCENT = frozenset({"percent", "pct", "percentage", "percents"})
DEGREES = frozenset({"degree", "degrees", "deg"})
TEMPERATURES = {"C": "celsius", "F": "fahrenheit"}
_EXPONENTS = {"square": 2, "squared": 2, "sq": 2, "cubic": 3, "cubed": 3, "cu": 3}
_CHINESE_POWERS = {"平方": 2, "立方": 3}
_MAX_WORDS = 6
_MAX_NOUNS = 3
_ABBREVIATION = 3
_ORDINAL = re.compile(
    r"(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|[a-z]*teen|[a-z]*tie|hundred|thousand|[a-z]*illion|n)ths?"
)
# Letters that are a unit if the other side has a unit of the same dimension: `5 m` for `500 \text{ cm}`
UNIT_LETTERS = frozenset("mgslLhNJWVA") | {"\\Omega"}


def _exact_name(word: str) -> str:
    """The spelling of a word in the table; another word in lower case, unless it is an abbreviation with capitals."""
    word = word.rstrip(".")
    if word in _UNITS or word in COMPOUND:
        return word
    lower = singular(word)
    if len(word) <= _ABBREVIATION and lower in _UNITS and (word[0] == "M" or len(word) == 1):
        # Case counts here: `Mg` is not `mg`, and `G` is not a gram
        return word
    is_word = lower in _UNITS or lower in COMPOUND or lower in COUNTED or lower in DESCRIBING
    # In an unknown abbreviation case may count, too: `Mb` is not `MB`
    return word if len(word) <= _ABBREVIATION and not is_word and word[1:] != word[1:].lower() else lower


def canonical(parts: list[tuple[str, int]]) -> Unit:
    """One spelling for all spellings of a unit: `[("cubic", 1), ("centimeters", 1)]` is `(("centimeter", 3),)`.

    Args:
        parts: each word with its exponent, which is negative in a denominator.

    Raises:
        Unreadable: there are too many words, or too many words that are not units.
    """
    if len(parts) > _MAX_WORDS:
        raise Unreadable("a sentence after a number")
    if [word.lower() for word, _ in parts[-2:]] == ["in", "all"]:
        parts = parts[:-2]
    powers: dict[str, int] = {}
    times = 1
    for word, exponent in parts:
        if word.lower() in ("squared", "cubed") and powers:
            powers[next(reversed(powers))] *= _EXPONENTS[word.lower()]
        elif word.lower() in _EXPONENTS:
            times = _EXPONENTS[word.lower()]
        else:
            name = _exact_name(word)
            if name[:2] in _CHINESE_POWERS and name[2:] in _UNITS:
                times, name = _CHINESE_POWERS[name[:2]], name[2:]
            if name in DESCRIBING:
                continue
            for base, power in COMPOUND.get(name, ((name, 1),)):
                powers[base] = powers.get(base, 0) + exponent * times * power
            times = 1
    if times != 1 or sum(not known(name) for name in powers) > _MAX_NOUNS:
        raise Unreadable("words after a number that are no unit")
    return tuple((name, power) for name, power in sorted(powers.items()) if power)


def known(word: str) -> bool:
    """Whether the word is a unit of measurement, a counted noun or a Chinese measure word."""
    return word in _UNITS or word in COUNTERS or word in COUNTED or (word[:2] in _CHINESE_POWERS and word[2:] in _UNITS)


def is_physical(unit: Unit) -> bool:
    """Whether the unit has only units of measurement, no counted nouns."""
    return all(name in _UNITS for name, _ in unit)


def is_money(name: str) -> bool:
    """Whether the canonical name is a currency."""
    return name in _UNITS and _UNITS[name].dimension[0][0].startswith("money")


def names_of(unit: str) -> frozenset[str]:
    """Every name of the unit: for `m` these are `meter`, `metre`, `m` and `米`."""
    one = _UNITS.get(unit)
    return frozenset(name for name, other in _UNITS.items() if other == one)


def unknown_words(unit: Unit) -> list[str]:
    """The words of a canonical unit that are neither units nor counted nouns."""
    return [name for name, _ in unit if not known(name)]


def changes_number(word: str) -> bool:
    """Whether a word after a number changes or denies the number: halves, tens, doubled, not."""
    word = word.lower()
    return (
        word in _CHANGING
        or singular(word) in _CHANGING
        or not word.isascii()
        or word.endswith("ed")
        or (word.endswith("ly") and word not in NOUNS_IN_LY)
        or _ORDINAL.fullmatch(word) is not None
    )


def singular(word: str) -> str:
    """The word without a plural ending, in lower case."""
    word = word.lower().rstrip(".")
    if word in _UNITS or word in COUNTED or word.endswith("ss"):
        return word
    for plural, ending in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(plural) and ((one := word.removesuffix(plural) + ending) in _UNITS or one in COUNTED):
            return one
    if len(word) < 4:
        return word
    if word.endswith("es") and word[-3] in "xhs":
        return word[:-2]
    return word.removesuffix("s")


# With and without a plural ending, because the words of a canonical unit have lost theirs: `minu` was `minus`
_CHANGING = NEVER | NUMBER_WORDS | {singular(word) for word in NEVER | NUMBER_WORDS if len(word) > 3}


def measure(unit: Unit) -> PhysicalUnit:
    """The dimension and the size of a canonical unit; a word outside the table is a dimension of its own."""
    dimensions: Dimension = {}
    size = Fraction(1)
    for name, power in unit:
        one = _UNITS.get(name, PhysicalUnit(((name, 1),), Fraction(1)))
        for base, base_power in one.dimension:
            dimensions[base] = dimensions.get(base, 0) + power * base_power
        size *= one.size**power if abs(power) < 10 else 1
    return PhysicalUnit(tuple(sorted((d, p) for d, p in dimensions.items() if p)), size)


def measured(node: Node, parts: list[tuple[str, int]]) -> Node:
    """The number with the unit that the words name; `million` multiplies, `percent` and `degrees` are signs.

    Raises:
        Unreadable: the words do not name a unit.
    """
    if [word.lower() for word, _ in parts] in (["squared"], ["cubed"]):
        return Power(node, number(_EXPONENTS[parts[0][0].lower()]))
    while parts and parts[0][0].lower() in SCALES:
        node = Product((node, number(SCALES[parts.pop(0)[0].lower()])))
    if not parts:
        return node
    if len(parts) == 1 and parts[0][0].lower() in PERCENT:
        return node if isinstance(node, Percent) else Percent(node)
    if len(parts) == 2 and parts[0][0].lower() in DEGREES and parts[1][0].lower() in TEMPERATURES.values():
        del parts[0]
    if len(parts) == 1 and parts[0][0].lower() in DEGREES:
        return node if isinstance(node, Degrees) else Degrees(node)
    if isinstance(node, Quantity):
        # The number has a unit already, as in `\$5 per hour`
        parts, node = [*node.unit, *parts], node.inside
    unit = canonical(parts)
    # Adjectives alone are not a unit
    return Quantity(node, unit) if unit else node
