"""Result tables, CSV, TSV, JSONL and Parquet: rows are read in constant memory, and written with added columns.

A malformed row is kept as it is, and so is all text that need not change.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from agentscope_tuner.errors import ConfigError, JudgeError, told
from agentscope_tuner.storage import GZIP, StoredFile, open_parquet, put_in_place, pyarrow_for


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


#: Writes a row unchanged, with added cells; a row that could not be read is written, too.
WriteRow = Callable[[TableRow, Mapping[str, Any]], None]


BATCH_ROWS = 1024


@contextmanager
def _open_parquet_table(path: Path) -> Iterator[Table]:
    with open_parquet(StoredFile(str(path))) as file, told(str(path), OSError, pyarrow_for(path.name).ArrowException):
        yield ParquetTable(file)


class _Cells(Mapping[str, Any]):
    """One row, whose cells become Python values on access, because a few cannot, such as a date before year 1."""

    def __init__(self, columns: Mapping[str, Any], index: int) -> None:
        self._columns = columns
        self._index = index

    def __getitem__(self, name: str) -> Any:
        cell = self._columns[name][self._index]
        try:
            return cell.as_py()
        except (ValueError, OverflowError, KeyError) as exc:
            raise JudgeError(f"{name!r} holds a {cell.type} that cannot be read: {exc}") from exc

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


class ParquetTable:
    """A Parquet file; new columns are nullable."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._read = 0
        self.columns: list[str] = file.schema_arrow.names

    def rows(self) -> Iterator[TableRow]:
        for batch in self._file.iter_batches(batch_size=BATCH_ROWS):
            columns = dict(zip(self.columns, batch.columns, strict=True))
            for index in range(batch.num_rows):
                self._read += 1
                yield TableRow(self._read, _Cells(columns, index), batch)

    def share_read(self) -> float:
        return self._read / max(int(self._file.metadata.num_rows), 1)

    @contextmanager
    def writer(self, path: Path, new_columns: Mapping[str, type]) -> Iterator[WriteRow]:
        import pyarrow
        from pyarrow import parquet

        kinds = {int: pyarrow.int8(), str: pyarrow.string()}
        new = [pyarrow.field(name, kinds[kind]) for name, kind in new_columns.items()]
        # A name may belong to two columns, so columns are chosen by position
        kept = [index for index, name in enumerate(self.columns) if name not in new_columns]
        own = self._file.schema_arrow
        schema = pyarrow.schema([own.field(index) for index in kept] + new, metadata=own.metadata)
        pending: list[Mapping[str, Any]] = []
        with parquet.ParquetWriter(path, schema) as file:

            def write(row: TableRow, added: Mapping[str, Any]) -> None:
                pending.append(added)
                if len(pending) == row.raw.num_rows:
                    columns = [row.raw.column(index) for index in kept]
                    for name, kind in new_columns.items():
                        columns.append(pyarrow.array([cells.get(name) for cells in pending], kinds[kind]))
                    file.write_batch(pyarrow.RecordBatch.from_arrays(columns, schema=schema))
                    pending.clear()

            yield write


MAX_CHARS = 16 * 2**20
"""The longest line and the longest quoted field. Without a limit, an unclosed quote would take in the whole file."""

_BOM = "\ufeff"


class _Lines:
    """The numbered lines of a text; lines can be handed back and read again. Invalid bytes become lone surrogates."""

    def __init__(self, text: io.TextIOWrapper, *, packed: bool) -> None:
        self._text, self._packed = text, packed
        self._size = max(os.fstat(text.fileno()).st_size, 1)
        self.number = 0
        self.taken: list[str] = []
        self._handed_back: deque[str] = deque()
        first = text.readline(MAX_CHARS + 1)
        if "\0" in first:
            raise UnicodeError("its first line holds a NUL, as UTF-16 does")
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
        with _text_file(path, "w", self._text.encoding, packed=self._packed) as stream:
            stream.write(self._bom)
            yield stream


def _text_file(path: Path, mode: str, encoding: str, *, packed: bool) -> io.TextIOWrapper:
    opened = gzip.open if packed else open
    # Both take the same arguments; a packed file needs the "t"
    return cast("io.TextIOWrapper", opened(path, f"{mode}t", encoding=encoding, errors="surrogateescape", newline=""))


@contextmanager
def _lines(path: Path, encoding: str) -> Iterator[_Lines]:
    packed = path.suffix.lower() == GZIP
    try:
        text = _text_file(path, "r", encoding, packed=packed)
    except OSError as exc:
        raise ConfigError(f"cannot read {str(path)!r}: {exc}") from exc
    except LookupError as exc:
        raise ConfigError(f"unknown encoding {encoding!r}") from exc
    with text:
        yield _Lines(text, packed=packed)


# The characters between cells, and their names in messages. Spreadsheets write semicolons if numbers have a decimal
# comma
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
# The line, such as `sep=;`, that names the character between cells for Excel
_SEPARATOR = re.compile(r"sep=([,;\t|])\r?\n?")


def _delimiter(lines: _Lines, path: Path, usual: str) -> str:
    """The character between the cells of the header: `usual`, which is usual for the file's ending, unless only another
    one separates cells.

    Raises:
        ConfigError: more than one character could separate the cells.
    """
    header = next(lines, "")
    if (named := _SEPARATOR.fullmatch(header)) is not None:
        return named[1]
    lines.hand_back([header] * bool(header))
    counts = {each: _cells(header, each) for each in _DELIMITERS}
    others = {each: count for each, count in counts.items() if each != usual and count > 1}
    if not others or counts[usual] > max(others.values()):
        return usual
    if counts[usual] <= 1 and len(others) == 1:
        return next(iter(others))
    between = " or ".join(_DELIMITERS[each] for each, count in counts.items() if count > 1)
    raise ConfigError(f"{str(path)!r}: {between} may part the cells of {header.strip()!r:.80}: quote its names")


def _cells(header: str, delimiter: str) -> int:
    """The number of cells in a line: 3 for `a;b;"c;d"` with `;`. It is 0 if a quote is open, or ends within a cell."""
    try:
        return len(next(csv.reader([header], delimiter=delimiter, strict=True), ()))
    except csv.Error:
        return 0


_OPEN_QUOTE = ", since a quote is left open"


class CsvTable:
    """A table with a header and a delimiter; cells are quoted as spreadsheets do it."""

    def __init__(self, lines: _Lines, path: Path, delimiter: str) -> None:
        # The csv module has a single limit for the whole process, so it is only ever raised
        csv.field_size_limit(max(csv.field_size_limit(), MAX_CHARS))
        self._lines, self.share_read = lines, lines.share_read
        self.delimiter = _delimiter(lines, path, delimiter)
        # Strict, so that an unclosed quote is an error, and not a row with the rest of the file in it
        self._reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
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
                yield TableRow(
                    line,
                    {},
                    _Malformed(lines.taken[0], 0),
                    f"is malformed: {exc}{_OPEN_QUOTE * ('end of data' in str(exc))}",
                )
                continue
            if not cells:
                if width != 1:
                    continue  # a blank line
                # In a table with a single column, spreadsheets write an empty cell as a blank line
                cells = [""]
            if (problem := _text_problem(lines.taken)) is None and len(cells) != width:
                problem = f"has {len(cells)} cells where the header has {width}"
            if problem is not None:
                yield TableRow(line, {}, _Malformed("".join(lines.taken), len(cells)), problem)
            else:
                yield TableRow(line, dict(zip(self.columns, cells, strict=True)), cells)

    @contextmanager
    def writer(self, path: Path, new_columns: Mapping[str, type]) -> Iterator[WriteRow]:
        # A table that was checked before has verdict columns already: the new columns replace them
        kept = [index for index, column in enumerate(self.columns) if column not in new_columns]
        newline, width = self._lines.newline, len(kept) + len(new_columns)
        with self._lines.output(path) as stream:
            rows = csv.writer(stream, delimiter=self.delimiter, lineterminator=newline)

            def write(row: TableRow, added: Mapping[str, Any]) -> None:
                if isinstance(row.raw, _Malformed):
                    stream.write(row.raw.written(width, self.delimiter, newline))
                else:
                    # None is written as an empty cell
                    rows.writerow([row.raw[index] for index in kept] + [added.get(name) for name in new_columns])

            rows.writerow([self.columns[index] for index in kept] + list(new_columns))
            yield write


@dataclass(frozen=True, slots=True)
class _Malformed:
    """A row that cannot be read: its original text, and the number of its cells, 0 when they cannot be counted."""

    text: str
    cells: int

    def written(self, width: int, delimiter: str, newline: str) -> str:
        """The row as it is written to a table of `width` columns. It must stay malformed there, or a later run would
        read it.
        """
        text = self.text.rstrip("\r\n")
        ending = self.text[len(text) :] or newline
        # Too many cells for the old header, but as many as the new one has: one more
        return text + (delimiter if self.cells == width else "") + ending


class JsonlTable:
    """A table with one JSON object on each line."""

    columns: None = None

    def __init__(self, lines: _Lines) -> None:
        self._lines, self.share_read = lines, lines.share_read

    def rows(self) -> Iterator[TableRow]:
        for line in self._lines:
            self._lines.taken.clear()
            text = line.rstrip("\r\n")
            if text.strip():
                yield _jsonl_row(self._lines.number, text)

    @contextmanager
    def writer(self, path: Path, new_columns: Mapping[str, type]) -> Iterator[WriteRow]:
        with self._lines.output(path) as stream:

            def write(row: TableRow, added: Mapping[str, Any]) -> None:
                text = row.raw if row.problem is not None else _with_keys(row.values, row.raw, added)
                stream.write(text + self._lines.newline)

            yield write


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
    if (problem := _text_problem([text])) is None:
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
        if not is_text(line):
            return "holds bytes that are not text in this encoding"
    return None


def is_text(line: str) -> bool:
    """Whether UTF-8 can encode `line`: it holds no half of a surrogate pair."""
    if line.isascii():
        return True
    try:
        line.encode()
    except UnicodeEncodeError:
        return False
    return True


#: An open table. `columns` is None where each row has its own columns, as in JSONL. `rows` can be read only once, in
#: constant memory; `share_read` is the share of the file that has been read, 0 to 1. `writer(path, new_columns)` writes
#: the same kind of table to `path`, with added columns of the named types (``int`` or ``str``), which come last and may
#: be empty; a column of the same name is left out.
Table = ParquetTable | CsvTable | JsonlTable

_OF_TEXT: dict[str, Callable[[_Lines, Path], Table]] = {
    ".csv": lambda lines, path: CsvTable(lines, path, ","),
    ".tsv": lambda lines, path: CsvTable(lines, path, "\t"),
    ".jsonl": lambda lines, path: JsonlTable(lines),
}
_ENDINGS = (*_OF_TEXT, *(kind + GZIP for kind in _OF_TEXT), ".parquet")


@contextmanager
def open_table(path: Path, encoding: str = "utf-8") -> Iterator[Table]:
    """The open table at `path`.

    Args:
        path: the file.
        encoding: the encoding of a text file; a byte order mark is recognised and kept.

    Raises:
        ConfigError: the ending is unknown, the file cannot be read, or the encoding is unknown or wrong.
    """
    try:
        if (kind := ending(path)) == ".parquet":
            with _open_parquet_table(path) as table:
                yield table
        else:
            with _lines(path, encoding) as lines:
                yield _OF_TEXT[kind.removesuffix(GZIP)](lines, path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as exc:
        raise ConfigError(f"{str(path)!r} is no whole gzip file: {exc}") from exc
    except UnicodeError as exc:
        raise ConfigError(f"{path} does not go with encoding {encoding!r}: {exc}; name another by --encoding") from exc


def ending(path: Path) -> str:
    """The file ending of `path` in lower case, which names the kind of table.

    Raises:
        ConfigError: the ending is of no table.
    """
    suffix = "".join(path.suffixes[-2:] if path.suffix.lower() == GZIP else path.suffixes[-1:]).lower()
    if suffix not in _ENDINGS:
        raise ConfigError(f"a table must end in one of {', '.join(_ENDINGS)}, got {str(path)!r}")
    return suffix


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to: it replaces `path` after the block, or is removed on an error.

    Raises:
        ConfigError: the directory cannot be written to.
    """
    # Renaming would replace a link by a file, so the file that the link names is replaced
    path = path.resolve() if path.is_symlink() else path
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with told(f"cannot write {str(path)!r}"):
        open(partial, "xb").close()
    try:
        yield partial
        put_in_place(partial, path)
    except OSError as exc:
        raise ConfigError(f"{str(path)!r} could not be written: {exc}") from exc
    finally:
        partial.unlink(missing_ok=True)
