"""Long tables of cases: some rows make one test, which shows all of them that are wrong.

A test by itself costs two milliseconds in all of the processes that collect, run and report it; most rows cost less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Row = TypeVar("Row")
ROWS = 25


def together(rows: Sequence[Row]) -> list[Sequence[Row]]:
    """The rows in their order, `ROWS` of them at a time."""
    return [rows[at : at + ROWS] for at in range(0, len(rows), ROWS)]


def first(rows: Sequence[object]) -> str:
    """The name of a test of several rows: the first of them, which a number would not lead to."""
    return str(rows[0])[:60]
