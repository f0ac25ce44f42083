"""What every kind of table gives and takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table.

    Args:
        line: where it begins in the file, from 1; in Parquet, the number of the row.
        values: the row by column; empty when it cannot be read.
        raw: what the row's own table needs to write it back as it stood.
        problem: why the row cannot be read; None when it can.
    """

    line: int
    values: Mapping[str, Any]
    raw: Any
    problem: str | None = None


class TableWriter(Protocol):
    """Writes rows of the table it was made by."""

    def write(self, row: TableRow, added: Mapping[str, Any]) -> None:
        """Write `row` as it stood and `added` beside it; a row that could not be read is written nevertheless."""


class Table(Protocol):
    """An open table."""

    @property
    def columns(self) -> Sequence[str] | None:
        """The columns; None where every row has its own, as in JSONL."""

    def rows(self) -> Iterator[TableRow]:
        """The rows, once, in constant memory."""

    def share_read(self) -> float:
        """How much of the file has been read, 0 to 1."""

    def writer(self, path: Path, new_columns: Mapping[str, type]) -> AbstractContextManager[TableWriter]:
        """A writer of the same kind of table to `path`.

        `new_columns` (each ``int`` or ``str``, and nullable) come last; a column of the same name gives way.
        """
