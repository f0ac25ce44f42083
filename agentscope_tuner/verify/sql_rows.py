"""Whether a query's rows are those of another: as a multiset, and in order only where the other query orders."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

_PIECE = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/|[()]|\border\s+by\b|\blimit\b",
    re.IGNORECASE | re.DOTALL,
)
_DIGITS = 12

Row = Sequence[object]


def is_ordered(query: str) -> bool:
    """Whether the whole result of `query` is ordered: `ORDER BY` outside of brackets, text and comments."""
    return any(piece[0][0] in "oO" for piece in _outside(query))


def _outside(query: str) -> Iterator[re.Match[str]]:
    """The pieces of `query` outside of brackets."""
    depth = 0
    for piece in _PIECE.finditer(query):
        if piece[0] in "()":
            depth += 1 if piece[0] == "(" else -1
        elif depth == 0:
            yield piece


def without_ties(query: str, columns: int, way: str) -> str:
    """`query`, which is ordered, with rows that it orders alike in the order of their columns: `ASC` or `DESC`."""
    limits = [piece.start() for piece in _outside(query) if piece[0].lower() == "limit"]
    end = limits[-1] if limits else len(query)
    terms = "".join(f", {number} {way}" for number in range(1, columns + 1))
    # on a line of its own, since a comment may stand before it
    return f"{query[:end]}\n{terms} {query[end:]}"


def same_rows(
    got: Sequence[Row],
    expected: Sequence[Row],
    *,
    ordered: bool,
    both_ways: Callable[[], tuple[Sequence[Row], Sequence[Row]] | None] = lambda: None,
) -> str | None:
    """None where the rows are the same, else the first difference in words, without the expected rows.

    Columns count by their place, not by their names. A number is a number, whether SQLite keeps it as an integer or
    not; floats are the same to twelve digits. NULL is NULL, and no text is a number.

    Args:
        ordered: whether their order counts.
        both_ways: gives the expected rows with ties put in one order, and in the opposite one; None where it cannot.
    """
    if len(got) != len(expected):
        return f"{len(got)} rows, {len(expected)} expected"
    if got and len(got[0]) != len(expected[0]):
        return f"{len(got[0])} columns, {len(expected[0])} expected"
    here, there = [_comparable(row) for row in got], [_comparable(row) for row in expected]
    if ordered:
        at = next((at for at, pair in enumerate(zip(here, there, strict=True), 1) if pair[0] != pair[1]), None)
        if at is not None and Counter(here) == Counter(there):
            if (ways := both_ways()) is not None and _same_but_for_ties(here, *(map(_comparable, way) for way in ways)):
                return None
            return f"the right rows in another order, from row {at}"
        return None if at is None else f"row {at} is another"
    more = Counter(here) - Counter(there)
    return f"{sum(more.values())} of {len(got)} rows are others" if more else None


def _same_but_for_ties(got: Sequence[Row], one_way: Iterable[Row], other_way: Iterable[Row]) -> bool:
    """Whether `got` differs from the expected rows only within pieces that hold the same rows both ways."""
    expected, turned = [*one_way], [*other_way]
    if not Counter(expected) == Counter(turned) == Counter(got):
        return False
    begun, unmatched = 0, Counter[Row]()
    for at, (one, other) in enumerate(zip(expected, turned, strict=True), 1):
        for row, by in ((one, 1), (other, -1)):
            unmatched[row] += by
            if not unmatched[row]:
                del unmatched[row]
        if not unmatched:
            if Counter(got[begun:at]) != Counter(expected[begun:at]):
                return False
            begun = at
    return True


def _comparable(row: Row) -> tuple[object, ...]:
    return tuple(_value(value) for value in row)


def _value(value: object) -> object:
    if isinstance(value, float):
        if not math.isfinite(value):
            return ("number", repr(value))
        short = float(f"{value:.{_DIGITS}g}")
        return ("number", int(short) if short.is_integer() and abs(short) < 2**53 else short)
    return ("number", value) if isinstance(value, int) else (type(value).__name__, value)
