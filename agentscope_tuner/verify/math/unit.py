"""Units of measurement: what the words after a number mean."""

from __future__ import annotations

import re
from fractions import Fraction

from agentscope_tuner.verify.math.node import Node, number
from agentscope_tuner.verify.math.tables import COUNTERS, DIMENSIONS, NO_UNIT, NOUNS_IN_LY, NUMBER_WORDS
from agentscope_tuner.verify.math.text import Unreadable

# name: (dimension, how many of the dimension's base unit)
_TABLE: dict[str, tuple[str, Fraction]] = {}
for _dimension, _line in DIMENSIONS.items():
    for _entry in _line.split("|"):
        *_names, _factor = _entry.split()
        for _name in _names:
            _TABLE[_name] = (_dimension, Fraction(_factor))

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
_EXPONENTS = {"square": 2, "squared": 2, "sq": 2, "cubic": 3, "cubed": 3, "cu": 3}
MAX_WORDS = 5
_MAX_NOUNS = 2
_ORDINAL = re.compile(
    r"(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|[a-z]*teen|[a-z]*tie|hundred|thousand|[a-z]*illion|n)ths?"
)


def canonical(parts: list[tuple[str, int]]) -> str:
    """One name for a unit however it is spelled: `[("cubic", 1), ("centimeters", 1)]` is `cm^3`.

    Args:
        parts: each word with its exponent, negative below the stroke of a fraction.

    Raises:
        Unreadable: the words are not a unit's.
    """
    if len(parts) > MAX_WORDS:
        raise Unreadable("a sentence after a number")
    powers: dict[str, int] = {}
    times = 1
    for word, exponent in parts:
        word = word if word in ("L", "mL") else word.lower()
        if not (known(word) or _is_noun(word)):
            raise Unreadable(f"the word {word!r} after a number")
        if word in ("squared", "cubed") and powers:
            last = next(reversed(powers))
            powers[last] *= _EXPONENTS[word]
        elif word in _EXPONENTS:
            times = _EXPONENTS[word]
        else:
            name = singular(word)
            powers[name] = powers.get(name, 0) + exponent * times
            times = 1
    if times != 1 or sum(not known(name) for name in powers) > _MAX_NOUNS:
        raise Unreadable("words after a number that are no unit")
    return " ".join(f"{name}^{power}" for name, power in sorted(powers.items()) if power)


def known(word: str) -> bool:
    """Whether the word is a unit of measurement, or says how a unit is raised."""
    return word in _EXPONENTS or singular(word) in _TABLE or word in COUNTERS


def _is_noun(word: str) -> bool:
    """Whether a word may name what is counted: plain Latin letters, no number, adverb or connective."""
    return (
        word.isascii()
        and word not in NO_UNIT
        and word not in NUMBER_WORDS
        and (not word.endswith("ly") or word in NOUNS_IN_LY)
        and _ORDINAL.fullmatch(word) is None
    )


def singular(word: str) -> str:
    """The word without a plural ending, in lower case."""
    word = word.lower().rstrip(".")
    if word in _TABLE or len(word) < 4 or word.endswith("ss"):
        return word
    if word.endswith("s") and word[:-1] in _TABLE:
        return word[:-1]
    if word.endswith("es") and word[-3] in "xhs":
        return word[:-2]
    return word.removesuffix("s")


def factor(unit: str) -> tuple[str, Fraction]:
    """The dimension of a canonical unit and its size in base units; an unknown word is a dimension of its own."""
    dimensions: dict[str, int] = {}
    size = Fraction(1)
    for part in unit.split():
        name, _, power = part.rpartition("^")
        dimension, one = _TABLE.get(name, (name, Fraction(1)))
        dimensions[dimension] = dimensions.get(dimension, 0) + int(power)
        size *= one ** int(power) if abs(int(power)) < 10 else 1
    return " ".join(f"{d}^{p}" for d, p in sorted(dimensions.items()) if p), size


def measured(node: Node, parts: list[tuple[str, int]]) -> Node:
    """The number with the unit that the words name; `million` multiplies, `percent` and `degrees` are signs.

    Raises:
        Unreadable: the words are not a unit's.
    """
    if [word.lower() for word, _ in parts] in (["squared"], ["cubed"]):
        return Node("pow", (node, number(_EXPONENTS[parts[0][0].lower()])))
    while parts and parts[0][0].lower() in SCALES:
        node = Node("mul", (node, number(SCALES[parts.pop(0)[0].lower()])))
    if not parts:
        return node
    if len(parts) == 1 and parts[0][0].lower() in PERCENT:
        return Node("percent", (node,)) if node.head != "percent" else node
    if len(parts) == 1 and parts[0][0].lower() in DEGREES:
        return Node("deg", (node,)) if node.head != "deg" else node
    return Node("unit", (node,), canonical(parts))
