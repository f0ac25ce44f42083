"""Reads and writes CSV, TSV and JSONL tables in any encoding, in constant memory; malformed rows are kept."""

from __future__ import annotations

import csv
import io
import json
import os
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.rule_tables.table_row import Table, TableRow

MAX_CHARS = 16 * 2**20
"""The longest line and the longest quoted field. Without a limit, an unclosed quote would take in the whole file."""

_BOM = "\ufeff"


class _Lines:
    """The numbered lines of a text; lines can be handed back and read again. Invalid bytes become lone surrogates."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._size = max(os.fstat(text.fileno()).st_size, 1)
        self.number = 0
        self.taken: list[str] = []
        self._handed_back: deque[str] = deque()
        first = text.readline(MAX_CHARS + 1)
        self._bom = _BOM if first.startswith(_BOM) else ""
        self.newline = "\r\n" if first.endswith("\r\n") else "\n"
        if first:
            self._handed_back.append(first.removeprefix(_BOM))

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._handed_back.popleft() if self._handed_back else self._text.readline(MAX_CHARS + 1)
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) > MAX_CHARS:
            raise ConfigError(f"line {self.number} is longer than {MAX_CHARS} characters: this is no table")
        self.taken.append(line)
        return line

    def hand_back(self, lines: Sequence[str]) -> None:
        self._handed_back.extendleft(reversed(lines))
        self.number -= len(lines)

    def share_read(self) -> float:
        return os.lseek(self._text.fileno(), 0, os.SEEK_CUR) / self._size

    @contextmanager
    def output(self, path: Path) -> Iterator[io.TextIOWrapper]:
        with open(path, "w", encoding=self._text.encoding, errors="surrogateescape", newline="") as stream:
            stream.write(self._bom)
            yield stream


@contextmanager
def _lines(path: Path, encoding: str) -> Iterator[_Lines]:
    try:
        text = open(path, encoding=encoding, errors="surrogateescape", newline="")  # noqa: SIM115 - closed below
    except OSError as exc:
        raise ConfigError(f"cannot read {str(path)!r}: {exc}") from exc
    except LookupError as exc:
        raise ConfigError(f"unknown encoding {encoding!r}") from exc
    with text:
        yield _Lines(text)


@contextmanager
def open_csv(path: Path, encoding: str) -> Iterator[Table]:
    with _lines(path, encoding) as lines:
        yield CsvTable(lines, path, ",")


@contextmanager
def open_tsv(path: Path, encoding: str) -> Iterator[Table]:
    with _lines(path, encoding) as lines:
        yield CsvTable(lines, path, "\t")


@contextmanager
def open_jsonl(path: Path, encoding: str) -> Iterator[Table]:
    with _lines(path, encoding) as lines:
        yield JsonlTable(lines)


class CsvTable:
    """A table with a header and a delimiter; cells are quoted as spreadsheets do it."""

    def __init__(self, lines: _Lines, path: Path, delimiter: str) -> None:
        # The csv module has a single limit for the whole process, so it is only ever raised
        csv.field_size_limit(max(csv.field_size_limit(), MAX_CHARS))
        self._lines = lines
        self._delimiter = delimiter
        # Strict, so that an unclosed quote is an error, and not a row with the rest of the file in it
        self._reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            self.columns: list[str] = next(self._reader)
        except StopIteration:
            raise ConfigError(f"{path} is empty: a table needs a header") from None
        except csv.Error as exc:
            raise ConfigError(f"{path}: the header cannot be read: {exc}") from exc

    def rows(self) -> Iterator[TableRow]:
        lines, width = self._lines, len(self.columns)
        while True:
            lines.taken.clear()
            line = lines.number + 1
            try:
                cells = next(self._reader)
            except StopIteration:
                return
            except csv.Error as exc:
                # Only the first line is malformed. The lines behind its open quote are rows, so read them again
                lines.hand_back(lines.taken[1:])
                yield TableRow(line, {}, _Malformed(lines.taken[0], 0), f"is malformed: {exc}")
                continue
            if not cells:
                if width != 1:
                    continue  # a blank line
                # In a table with a single column, spreadsheets write an empty cell as a blank line
                cells = [""]
            problem = _text_problem(lines.taken)
            if problem is None and len(cells) != width:
                problem = f"has {len(cells)} cells where the header has {width}"
            if problem is not None:
                yield TableRow(line, {}, _Malformed("".join(lines.taken), len(cells)), problem)
            else:
                yield TableRow(line, dict(zip(self.columns, cells, strict=True)), cells)

    def share_read(self) -> float:
        return self._lines.share_read()

    @contextmanager
    def writer(self, path: Path, new_columns: Mapping[str, type]) -> Iterator[_CsvWriter]:
        with self._lines.output(path) as stream:
            yield _CsvWriter(stream, self._delimiter, self._lines.newline, self.columns, list(new_columns))


@dataclass(frozen=True, slots=True)
class _Malformed:
    """A row that cannot be read: its original text, and the number of its cells, 0 when they cannot be counted."""

    text: str
    cells: int


class _CsvWriter:
    def __init__(
        self, stream: io.TextIOWrapper, delimiter: str, newline: str, columns: list[str], new_columns: list[str]
    ) -> None:
        self._stream = stream
        self._delimiter = delimiter
        self._newline = newline
        self._rows = rows = csv.writer(stream, delimiter=delimiter, lineterminator=newline)
        self._new = new_columns
        # A table that was checked before has verdict columns already: the new columns replace them
        self._kept = [index for index, column in enumerate(columns) if column not in new_columns]
        rows.writerow([columns[index] for index in self._kept] + new_columns)

    def write(self, row: TableRow, added: Mapping[str, Any]) -> None:
        if isinstance(row.raw, _Malformed):
            self._write_malformed(row.raw)
            return
        cells: list[str] = row.raw
        # None is written as an empty cell
        self._rows.writerow([cells[index] for index in self._kept] + [added.get(name) for name in self._new])

    def _write_malformed(self, row: _Malformed) -> None:
        # Written unchanged: if the row were padded to the new width, a later run would take it for well formed
        text = row.text.rstrip("\r\n")
        newline = row.text[len(text) :] or self._newline
        if row.cells == len(self._kept) + len(self._new):
            # The row had too many cells, but the new header has as many: add a cell, so that the row stays malformed
            text += self._delimiter
        self._stream.write(text + newline)


class JsonlTable:
    """A table with one JSON object on each line."""

    columns: None = None

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines

    def rows(self) -> Iterator[TableRow]:
        for line in self._lines:
            self._lines.taken.clear()
            text = line.rstrip("\r\n")
            if text.strip():
                yield _jsonl_row(self._lines.number, text)

    def share_read(self) -> float:
        return self._lines.share_read()

    @contextmanager
    def writer(self, path: Path, new_columns: Mapping[str, type]) -> Iterator[_JsonlWriter]:
        with self._lines.output(path) as stream:
            yield _JsonlWriter(stream, self._lines.newline)


class _JsonlWriter:
    def __init__(self, stream: io.TextIOWrapper, newline: str) -> None:
        self._stream = stream
        self._newline = newline

    def write(self, row: TableRow, added: Mapping[str, Any]) -> None:
        text: str = row.raw
        if row.problem is None:
            text = _with_keys(row.values, text, added)
        self._stream.write(text + self._newline)


def _with_keys(values: Mapping[str, Any], text: str, added: Mapping[str, Any]) -> str:
    # Printing the parsed row would change its numbers, escapes and repeated keys, so insert text into its text
    own = text.strip()[1:-1] if not added.keys() & values.keys() else ", ".join(_members(text.strip(), added))
    new = json.dumps(added)[1:-1]
    return f"{{{own}, {new}}}" if own.strip() else f"{{{new}}}"


def _members(text: str, without: Collection[str]) -> Iterator[str]:
    """The members of a JSON object as text, except the members with a key in `without`."""
    decode = json.JSONDecoder().raw_decode
    at = 1
    while text[at] != "}":
        start = _space_end(text, at)
        key, at = decode(text, start)
        _, end = decode(text, _space_end(text, _space_end(text, at) + 1))
        if key not in without:
            yield text[start:end]
        at = _space_end(text, end)
        at += text[at] == ","


def _space_end(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def _jsonl_row(number: int, text: str) -> TableRow:
    problem = _text_problem([text])
    if problem is None:
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as exc:
            problem = f"is not JSON: {exc}"
        else:
            if isinstance(values, dict):
                return TableRow(number, values, text)
            problem = f"must be a JSON object, got {text[:80]!r}"
    return TableRow(number, {}, text, problem)


def _text_problem(lines: Sequence[str]) -> str | None:
    for line in lines:
        if "\0" in line:
            return "holds a NUL"
        if not _is_text(line):
            return "holds bytes that are not text in this encoding"
    return None


def _is_text(line: str) -> bool:
    if line.isascii():
        return True
    try:
        line.encode()
    except UnicodeEncodeError:
        return False
    return True
