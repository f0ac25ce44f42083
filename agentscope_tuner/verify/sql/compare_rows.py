"""Whether a query's rows are those of another: as a multiset, and in order only where the other query orders."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_PIECE = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/|[()]|\border\s+by\b",
    re.IGNORECASE | re.DOTALL,
)
_DIGITS = 12

Row = Sequence[object]


def is_ordered(query: str) -> bool:
    """Whether the whole result of `query` is ordered: `ORDER BY` outside of brackets, text and comments."""
    depth = 0
    for piece in _PIECE.finditer(query):
        if piece[0] in "()":
            depth += 1 if piece[0] == "(" else -1
        elif depth == 0 and piece[0][0] in "oO":
            return True
    return False


def same_rows(got: Sequence[Row], expected: Sequence[Row], *, ordered: bool) -> str | None:
    """None where the rows are the same, else the first difference in words, without the expected rows.

    Columns count by their place, not by their names. A number is a number, whether SQLite keeps it as an integer or
    not; floats are the same to twelve digits. NULL is NULL, and no text is a number.
    """
    if len(got) != len(expected):
        return f"{len(got)} rows, {len(expected)} expected"
    if got and len(got[0]) != len(expected[0]):
        return f"{len(got[0])} columns, {len(expected[0])} expected"
    here, there = [_comparable(row) for row in got], [_comparable(row) for row in expected]
    if ordered:
        at = next((at for at, pair in enumerate(zip(here, there, strict=True), 1) if pair[0] != pair[1]), None)
        if at is not None and Counter(here) == Counter(there):
            return f"the right rows in another order, from row {at}"
        return None if at is None else f"row {at} is another"
    more = Counter(here) - Counter(there)
    return f"{sum(more.values())} of {len(got)} rows are others" if more else None


def _comparable(row: Row) -> tuple[object, ...]:
    return tuple(_value(value) for value in row)


def _value(value: object) -> object:
    if isinstance(value, float):
        if not math.isfinite(value):
            return ("number", repr(value))
        short = float(f"{value:.{_DIGITS}g}")
        return ("number", int(short) if short.is_integer() and abs(short) < 2**53 else short)
    return ("number", value) if isinstance(value, int) else (type(value).__name__, value)
