"""Parquet, Arrow and CSV: rows read as the lines of JSON that a JSONL file would hold, and scored lines written.

Parquet and Arrow are read a batch at a time. Where they are written, the verdict becomes a struct, texts and numbers
stay, the rest is JSON. A table of scored rows has a column for each part of the verdict.
"""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from agentscope_tuner.bounds import json_or
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.blocks import batches
from agentscope_tuner.records.reader import Line, encoded
from agentscope_tuner.records.scored_rows import STEP_KEYS
from agentscope_tuner.rules.tables import is_text
from agentscope_tuner.storage import GZIP, PARQUET, StoredFile, is_gzip, open_arrow, open_parquet, pyarrow_for
from agentscope_tuner.workflow import Task

BATCH_ROWS = 1024
#: In a file's metadata: the columns that hold JSON in text, as `columnar_output` writes them.
JSON_COLUMNS = b"astuner.json"
_OF_A_ROLLOUT = ("task", "output", "label", "judgement")
_VERDICT = ("reward", "is_success", "error", "cause")
_OF_A_TASK = frozenset(Task.model_fields)


def columnar_lines(file: StoredFile, name: str, start: int = 0, end: int | None = None) -> Iterator[Line]:
    """The rows `start` to `end` (from 0, without `end`) of a Parquet or Arrow file, as lines of JSON.

    The first row's `where` is `name:1`, as in a file of lines. An empty cell (null, or the NaN of data frames) is null;
    inside a struct its key is left out. Times are texts, and so are decimals with a fraction; whole decimals are
    integers; bytes are text if they are UTF-8, else base64. A cell that cannot be read makes its row alone fail; a
    damaged stretch of the file makes the rows in it fail.

    Raises:
        ConfigError: the file cannot be opened, or the extra `parquet` is missing; raised when the first row is read.
    """
    read = _parquet_batches if file.name.lower().endswith(PARQUET) else _arrow_batches
    position = 0
    for rows, batch in read(file, start, end):
        first, last = max(start - position, 0), rows if end is None else min(rows, end - position)
        found: Iterable[tuple[bytes, str | None]] = ()
        if isinstance(batch, str):
            found = ((b"", batch) for _ in range(first, last))
        elif batch is not None and first < last:
            found = _Rows(batch.slice(first, last - first))
        for number, (raw, problem) in enumerate(found, position + first + 1):
            yield Line(f"{name}:{number}", raw, problem)
        position += rows


def columnar_extent(file: StoredFile) -> tuple[int, int]:
    """The number of rows of a Parquet or Arrow file, and about how many bytes they take.

    Raises:
        ConfigError: the file cannot be opened, or the extra `parquet` is missing.
    """
    if file.name.lower().endswith(PARQUET):
        with open_parquet(file) as parquet:
            groups = map(parquet.metadata.row_group, range(parquet.metadata.num_row_groups))
            return int(parquet.metadata.num_rows), sum(group.total_byte_size for group in groups)
    # An Arrow file has no total of its rows
    return sum(rows for rows, _ in _arrow_batches(file, 0, None)), file.size()


# A number of rows, and the batch that holds them. In place of the batch, a text says why the rows cannot be read, and
# None says that they are not wanted
_Found = tuple[int, Any]


def _parquet_batches(file: StoredFile, start: int, end: int | None) -> Iterator[_Found]:
    """The batches of a Parquet file; of a damaged row group the rows from the damage on are lost, and reported so.

    Row groups outside of the rows `start` to `end` are not read.
    """
    position = 0
    with open_parquet(file) as parquet:
        for group in range(parquet.metadata.num_row_groups):
            rows = parquet.metadata.row_group(group).num_rows
            position += rows
            if position <= start or (end is not None and position - rows >= end):
                yield rows, None
                continue
            try:
                # threads (one for each column) read no faster here, and keep the memory of each group for the next
                for batch in parquet.iter_batches(batch_size=BATCH_ROWS, row_groups=[group], use_threads=False):
                    rows -= batch.num_rows
                    yield batch.num_rows, batch
            # pyarrow's errors, and those of the file system that it reads from
            except Exception as exc:  # noqa: BLE001
                yield rows, f"row group {group} of {file.name} cannot be read: {_first_line(exc)}"


def _arrow_batches(file: StoredFile, start: int, end: int | None) -> Iterator[_Found]:
    """The batches of an Arrow file, all of them. If it breaks off, the number of lost rows is unknown: one row is
    reported as lost.
    """
    with open_arrow(file) as arrow:
        numbered = hasattr(arrow, "num_record_batches")
        number = 0
        while not numbered or number < arrow.num_record_batches:
            try:
                batch = arrow.get_batch(number) if numbered else arrow.read_next_batch()
            except StopIteration:
                return
            # pyarrow's errors, and those of the file system that it reads from
            except Exception as exc:  # noqa: BLE001
                yield 1, f"{file.name} cannot be read from its batch {number} on: {_first_line(exc)}"
                return
            number += 1
            for first in range(0, batch.num_rows, BATCH_ROWS):
                piece = batch.slice(first, BATCH_ROWS)
                yield piece.num_rows, piece


class _Rows:
    """Iterates over the rows of a pyarrow batch: for each its JSON, and its problem in words or None.

    Raises:
        ConfigError: two columns have the same name, so it is unclear which one is meant.
    """

    def __init__(self, batch: Any) -> None:
        twice = sorted(name for name, count in Counter(batch.schema.names).items() if count > 1)
        if twice:
            raise ConfigError(f"column {twice[0]!r} stands more than once: a row has one value for a key")
        self._batch = batch
        self._columns = {name: _readable(batch.column(name)) for name in batch.schema.names}
        named = (batch.schema.metadata or {}).get(JSON_COLUMNS)
        self._json: list[str] | None = json.loads(named) if named else None
        self._may_be_rollouts = not named and {"task", "output"} <= self._columns.keys()

    def __iter__(self) -> Iterator[tuple[bytes, str | None]]:
        try:
            columns = [column.to_pylist(maps_as_pydicts="strict") for column in self._columns.values()]
        # A cell cannot become a Python value: convert cell by cell to find it
        except Exception:  # noqa: BLE001
            yield from map(self._cell_by_cell, range(self._batch.num_rows))
            return
        for cells in zip(*columns, strict=True):
            yield self._line(dict(zip(self._columns, cells, strict=True)), None)

    def _cell_by_cell(self, index: int) -> tuple[bytes, str | None]:
        row: dict[str, Any] = {}
        problem = None
        for name, column in self._columns.items():
            try:
                row[name] = column[index].as_py(maps_as_pydicts="strict")
            # pyarrow's errors, and Python's errors about a date or a number that it cannot represent
            except Exception as exc:  # noqa: BLE001
                problem = f"{name!r} holds a {column.type} that cannot be read: {_first_line(exc)}"
        return self._line(row, problem)

    def _line(self, row: dict[str, Any], problem: str | None) -> tuple[bytes, str | None]:
        try:
            row = {name: _plain(value) for name, value in row.items()}
            if self._json is not None:
                _restore_scored_row(row, self._json)
            if self._may_be_rollouts:
                _parse_rollout_cells(row)
            return encoded(row), problem
        except (TypeError, ValueError, OverflowError, RecursionError) as exc:
            return b"", f"a cell has no form in JSON: {_first_line(exc)}"


def _restore_scored_row(row: dict[str, Any], in_json: Sequence[str]) -> None:
    """Restore, in place, a row that `write_columnar` wrote, so that it equals the scored line.

    Texts of JSON are parsed, columns that only other rows have are dropped, and the verdict gets its empty fields back.

    Args:
        row: the row.
        in_json: the columns that hold JSON in text.
    """
    for name in in_json:
        row[name] = _parsed(row[name])
    for name in [name for name, value in row.items() if value is None]:
        del row[name]
    if isinstance(verdict := row.get("judgement"), dict):
        in_text = {name: _parsed(verdict[name]) for name in ("metrics", "calls") if name in verdict}
        row["judgement"] = {**dict.fromkeys(_VERDICT), "metrics": {}, **verdict, **in_text}


def _parse_rollout_cells(row: dict[str, Any]) -> None:
    """If the row is a rollout whose `task` and `output` are JSON in text, parse them, in place.

    A row is a rollout if its task is an object with a task's keys. Other rows may have text columns with the same
    names: their output is the policy's text, and stays a text.
    """
    task = _parsed(row["task"])
    if not isinstance(task, dict) or not task.keys() & _OF_A_TASK:
        return
    for name in _OF_A_ROLLOUT:
        if isinstance(value := _parsed(row.get(name)), dict):
            row[name] = value
    # A data frame turns the integers of a column into floats if a cell is missing
    if isinstance(row.get("id"), float) and row["id"].is_integer():
        row["id"] = int(row["id"])


def _parsed(value: Any) -> Any:
    """The value that a text of JSON holds: `[1]` for `"[1]"`. Any other text or value is returned unchanged."""
    return json_or(value, value) if isinstance(value, str) else value


def _readable(column: Any) -> Any:
    """The pyarrow column, with times as texts: Python's times have neither nanoseconds nor years before 1."""
    import pyarrow

    try:
        wanted = _readable_type(column.type)
        return column if wanted.equals(column.type) else column.cast(wanted, safe=False)
    except pyarrow.ArrowException:
        return column


def _readable_type(kind: Any) -> Any:
    import pyarrow
    from pyarrow import types

    if types.is_timestamp(kind) or types.is_date(kind) or types.is_time(kind):
        return pyarrow.string()
    if types.is_duration(kind):
        return pyarrow.duration("us")
    if types.is_struct(kind):
        return pyarrow.struct([field.with_type(_readable_type(field.type)) for field in kind])
    if types.is_map(kind):
        return pyarrow.map_(kind.key_type, _readable_type(kind.item_type))
    if types.is_large_list(kind):
        return pyarrow.large_list(_readable_type(kind.value_type))
    if types.is_list(kind) or types.is_fixed_size_list(kind):
        return pyarrow.list_(_readable_type(kind.value_type))
    return kind


def _plain(value: Any) -> Any:
    """A cell as a value that JSON can carry: NaN becomes None, `Decimal("1.50")` becomes `"1.50"`, bytes a text."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return None if value != value else value
    if isinstance(value, Mapping):
        # A struct column lists the fields of all rows, with null for a field that this row lacks
        found = ((str(key), _plain(inner)) for key, inner in value.items())
        return {key: inner for key, inner in found if inner is not None}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, Decimal):
        return int(value) if value.as_tuple().exponent == 0 else str(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return _decoded_text(value)
    return str(value)


def _decoded_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode()


def _first_line(exc: BaseException) -> str:
    return (str(exc) or type(exc).__name__).splitlines()[0]


#: The columns that are always JSON in text, because their fields differ from row to row.
_ALWAYS_JSON = ("task", "output", "label")
_GROUP_ROWS, _GROUP_BYTES = 16_384, 64 * 2**20
_MOST_METRICS = 256
_INT64, _EXACT_IN_FLOAT = 2**63, 2**53


def write_columnar(lines: Path, target: Path) -> None:
    """Write the scored rows in the file of lines `lines` to the Parquet or Arrow file `target`, by its suffix.

    Columns are the rows' keys, in the order in which they first appear. `id` is text. `judgement` is a struct, whose
    `reward` is null if there is no verdict. A column is bool, int64, double or string if all its rows are. It is JSON
    in text if the rows differ or hold objects, and always for `task`, `output` and `label`. The file's metadata names
    these JSON columns, so that a reader gets the same rows.

    Raises:
        ConfigError: the extra `parquet` is missing.
    """
    pyarrow = pyarrow_for(target.name)
    kinds, metrics = _kinds(lines)
    named = json.dumps([name for name, kind in kinds.items() if kind == "json"]).encode()
    fields = [pyarrow.field(name, _type_of(kind, metrics)) for name, kind in kinds.items()]
    schema = pyarrow.schema(fields, metadata={JSON_COLUMNS: named})
    with _writer(target, schema) as write:
        for group, _ in batches(_rows(lines), lambda found: found[0], _GROUP_ROWS, _GROUP_BYTES):
            arrays = [
                pyarrow.array([_cell(kinds[field.name], row.get(field.name), metrics) for _, row in group], field.type)
                for field in schema
            ]
            write(pyarrow.RecordBatch.from_arrays(arrays, schema=schema))


_VERDICT_COLUMN = "judgement."
_VERDICT_TEXTS = ("status", "reason", "error", "cause", "config")
# What a spreadsheet takes for a formula
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


def write_table(lines: Path, target: Path) -> None:
    """Write the scored rows in the file of lines `lines` to `target`, a .csv or .tsv file, or one packed as .gz.

    The columns are the rows' keys, and one for each part of the verdict, such as `judgement.reward`. A nested value is
    JSON in its cell; a missing value is an empty cell. A text that a spreadsheet would take for a formula gets an
    apostrophe before it, as `'=1+1`, since policies write texts. `table_row` undoes all of this.
    """
    columns = list(dict.fromkeys(column for _, row in _rows(lines) for column in _in_columns(row)))
    name = target.name.lower()
    delimiter = "\t" if name.removesuffix(GZIP).endswith(".tsv") else ","
    with (
        open(target, "wb") as file,
        # without the time, so that the same rows are the same file
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) if is_gzip(name) else file as out,
        # a policy may write half a surrogate pair, which UTF-8 cannot encode
        io.TextIOWrapper(out, "utf-8", "backslashreplace", newline="") as stream,
    ):
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(columns)
        for _, row in _rows(lines):
            cells = _in_columns(row)
            writer.writerow([_table_cell(cells.get(column)) for column in columns])


def _in_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in row.items() if key != "judgement"}
    return own | {f"{_VERDICT_COLUMN}{key}": value for key, value in row["judgement"].items()}


def _table_cell(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    if value is None:
        return ""
    text = json.dumps(value, ensure_ascii=False)
    # an escape, which JSON reads back, in place of half a surrogate pair
    return text if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text) else json.dumps(value)


def table_row(cells: Mapping[str, str]) -> dict[str, Any]:
    """The row that `write_table` wrote as `cells`; the row of any other table is returned as it is.

    `{"id": "1", "judgement.status": "judged", "judgement.reward": "1.0"}` gives
    `{"id": "1", "judgement": {"status": "judged", "reward": 1.0}}`.
    """
    if f"{_VERDICT_COLUMN}status" not in cells:
        return dict(cells)
    row: dict[str, Any] = {"judgement": {}}
    for column, cell in cells.items():
        text = cell.removeprefix("'")
        if column.startswith(_VERDICT_COLUMN):
            name = column.removeprefix(_VERDICT_COLUMN)
            # spreadsheets write TRUE, and data frames True
            in_json = cell.lower() if cell.lower() in ("true", "false") else cell
            plain = text if name in _VERDICT_TEXTS else json.loads(in_json) if cell else None
            row["judgement"][name] = None if plain == "" and name != "reason" else plain
        elif cell and column in STEP_KEYS:
            row[column] = _parsed(text)
        elif cell:
            row[column] = json.loads(cell) if column in _OF_A_ROLLOUT else text
    return row


@contextmanager
def _writer(target: Path, schema: Any) -> Iterator[Any]:
    if target.name.lower().endswith(PARQUET):
        from pyarrow import parquet

        with parquet.ParquetWriter(target, schema, compression="zstd", write_page_checksum=True) as file:
            yield file.write_batch
        return
    from pyarrow import ipc

    with ipc.new_file(str(target), schema) as arrow:
        yield arrow.write_batch


def _rows(lines: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with open(lines, "rb") as stream:
        for line in stream:
            yield len(line), json.loads(line)


def _kinds(lines: Path) -> tuple[dict[str, str], list[str]]:
    """The type of each column, and the names of the verdicts' metrics, by one pass over the file of lines.

    A type is `bool`, `small` or `int` (integers), `float`, `text`, `json` or `judgement`. If there are too many metrics
    to be columns, the list of names is empty.
    """
    kinds: dict[str, set[str]] = {"id": set()}
    metrics: dict[str, None] = {}
    for _, row in _rows(lines):
        if len(metrics) <= _MOST_METRICS:
            metrics |= dict.fromkeys(map(_storable_text, row["judgement"].get("metrics") or ()))
        for name, value in row.items():
            held = kinds.setdefault(name, set())
            if value is not None:
                held.add(_kind(name, value))
    found = {name: _kind_of_all(held) for name, held in kinds.items()}
    return found, list(metrics) if len(metrics) <= _MOST_METRICS else []


def _kind(name: str, value: Any) -> str:
    if name == "judgement" or name in _ALWAYS_JSON:
        return "judgement" if name == "judgement" else "json"
    if isinstance(value, bool):
        return "bool"
    if name == "id" and isinstance(value, int):
        return "text"
    if isinstance(value, int):
        return "json" if abs(value) >= _INT64 else "int" if abs(value) > _EXACT_IN_FLOAT else "small"
    if isinstance(value, float):
        return "float"
    # Arrow refuses half a surrogate pair in a text; JSON escapes it
    return "text" if isinstance(value, str) and is_text(value) else "json"


def _kind_of_all(kinds: set[str]) -> str:
    """The type of a column, by the types of its values: `json` if they differ.

    But integers and floats together are `float` if a float holds each integer exactly (`small`).
    """
    if len(kinds) < 2:
        return next(iter(kinds), "text")
    return "float" if kinds == {"small", "float"} else "int" if kinds == {"small", "int"} else "json"


def _type_of(kind: str, metrics: Sequence[str]) -> Any:
    import pyarrow

    text = pyarrow.string()
    plain = {"bool": pyarrow.bool_(), "small": pyarrow.int64(), "int": pyarrow.int64(), "float": pyarrow.float64()}
    if kind != "judgement":
        return plain.get(kind, text)
    return pyarrow.struct(
        [
            ("status", text),
            ("reward", pyarrow.float64()),
            ("is_success", pyarrow.bool_()),
            ("reason", text),
            ("violations", pyarrow.list_(text)),
            ("error", text),
            ("cause", text),
            # A struct and not a map, a type that Hugging Face's data sets lack
            ("metrics", pyarrow.struct([(name, pyarrow.float64()) for name in metrics]) if metrics else text),
            ("seconds", pyarrow.float64()),
            ("calls", text),
            ("turns", pyarrow.list_(pyarrow.float64())),
            ("config", text),
        ]
    )


def _cell(kind: str, value: Any, metrics: Sequence[str]) -> Any:
    if kind == "json":
        return None if value is None else json.dumps(value)
    if kind == "text" and isinstance(value, int):
        # An id is a name: a number becomes its digits
        return str(value)
    if kind != "judgement" or not isinstance(value, Mapping):
        return value
    numbers = {_storable_text(name): float(number) for name, number in (value.get("metrics") or {}).items()}
    texts = {name: _storable_text(inner) if isinstance(inner, str) else inner for name, inner in value.items()}
    return {
        **texts,
        "violations": [_storable_text(rule) for rule in value.get("violations") or ()],
        "metrics": (numbers if metrics else json.dumps(numbers)) if numbers else None,
        "calls": json.dumps(calls) if (calls := value.get("calls")) else None,
    }


def _storable_text(value: str) -> str:
    return value.encode("utf-8", "replace").decode()
