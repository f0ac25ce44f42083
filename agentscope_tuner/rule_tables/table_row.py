"""The interface of every kind of table: rows to read, and a writer."""

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
        line: the line on which the row begins, from 1; in Parquet, the number of the row.
        values: the row's cells by column; empty when the row cannot be read.
        raw: the row in the form from which its own kind of table writes it back unchanged.
        problem: the reason why the row cannot be read; None when it can.
    """

    line: int
    values: Mapping[str, Any]
    raw: Any
    problem: str | None = None


class TableWriter(Protocol):
    """Writes the rows of the table that made it."""

    def write(self, row: TableRow, added: Mapping[str, Any]) -> None:
        """Write `row` unchanged, with the cells `added`; a row that could not be read is written, too."""


class Table(Protocol):
    """An open table."""

    @property
    def columns(self) -> Sequence[str] | None:
        """The columns; None where each row has its own columns, as in JSONL."""

    def rows(self) -> Iterator[TableRow]:
        """The rows, in constant memory; they can be read only once."""

    def share_read(self) -> float:
        """The share of the file that has been read, 0 to 1."""

    def writer(self, path: Path, new_columns: Mapping[str, type]) -> AbstractContextManager[TableWriter]:
        """A writer of the same kind of table to `path`.

        Args:
            path: the file to write.
            new_columns: names and types (``int`` or ``str``) of the added columns, which come last and may be empty. A
                column of the same name is left out.
        """
