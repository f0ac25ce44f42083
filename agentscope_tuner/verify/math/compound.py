r"""Quantities in several units: `3 \text{ hours and } 20 \text{ minutes}` is 200 minutes."""

from __future__ import annotations

import re
from fractions import Fraction

from agentscope_tuner.verify.math.unit import PhysicalUnit, measure, singular

_WRITING = re.compile(r"\\(?:text|mathrm|textrm|mbox|rm|operatorname)\b|\\[ ,;:!>]|\\q?quad\b|[{}~$]")
_PART = r"(\d+(?:\.\d+)?)\s*([a-zA-Z]+\.?)"
_WHOLE = re.compile(rf"{_PART}(?:\s*(?:,|;|,?\s*\band\b)?\s*{_PART}){{1,3}}")
_PARTS = re.compile(_PART)
_HAS_TWO = re.compile(r"\d\D*[a-zA-Z]\D*\d[\d.]*\D*[a-zA-Z]")
_LONGEST = 120
_MINUTE = "min"


def added_up(text: str) -> str | None:
    """The sum in the smallest unit; None unless the text lists quantities of one dimension, the largest unit first."""
    if len(text) > _LONGEST or not _HAS_TWO.search(text):
        return None
    plain = " ".join(_WRITING.sub(" ", text).split())
    if not _WHOLE.fullmatch(plain):
        return None
    units = [_name(name) for _, name in _PARTS.findall(plain)]
    times = {measure(((name, 1),)).dimension for name in units} & {measure((("second", 1),)).dimension}
    # the m of `2h 30m` is a minute: a metre cannot follow an hour
    units = [_MINUTE if times and name == "m" else name for name in units]
    found: list[PhysicalUnit] = [measure(((name, 1),)) for name in units]
    sizes = [unit.size for unit in found]
    if len({unit.dimension for unit in found}) != 1 or sizes != sorted(set(sizes), reverse=True):
        return None
    numbers = [Fraction(number) for number, _ in _PARTS.findall(plain)]
    total = sum((n * size for n, size in zip(numbers, sizes, strict=True)), Fraction(0)) / sizes[-1]
    written = str(total) if total.denominator == 1 else f"\\frac{{{total.numerator}}}{{{total.denominator}}}"
    return f"{written}\\text{{ {units[-1]}}}"


def _name(word: str) -> str:
    word = word.rstrip(".")
    return word if len(word) <= 2 else singular(word)
