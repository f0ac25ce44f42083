"""Writes scored lines as Parquet or Arrow: the verdict becomes a struct, texts and numbers stay, the rest is JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentscope_tuner.records.columnar import JSON_COLUMNS
from agentscope_tuner.storage.columns import PARQUET, pyarrow_for

#: The columns that are always JSON in text, because their fields differ from row to row.
_ALWAYS_JSON = ("task", "output", "label")
_GROUP_ROWS, _GROUP_BYTES = 16_384, 64 * 2**20
_MOST_METRICS = 256
_INT64, _EXACT_IN_FLOAT = 2**63, 2**53


def write_columnar(lines: Path, target: Path) -> None:
    """Write the scored rows of `lines` to `target`, whose suffix names the format.

    Columns are the rows' keys, in the order in which they first appear. `id` is text. `judgement` is a struct, with
    `reward` null where there is no verdict. A column is bool, int64, double or string where all its rows are. It is
    JSON in text where the rows differ or hold objects, and always for `task`, `output` and `label`. The file's metadata
    names these JSON columns, so that a reader gets the same rows.

    Raises:
        ConfigError: the extra `parquet` is missing.
    """
    pyarrow = pyarrow_for(target.name)
    kinds, metrics = _kinds(lines)
    named = json.dumps([name for name, kind in kinds.items() if kind == "json"]).encode()
    fields = [pyarrow.field(name, _type_of(kind, metrics)) for name, kind in kinds.items()]
    schema = pyarrow.schema(fields, metadata={JSON_COLUMNS: named})
    with _writer(target, schema) as write:
        for rows in _groups(lines):
            arrays = [
                pyarrow.array([_cell(kinds[field.name], row.get(field.name), metrics) for row in rows], field.type)
                for field in schema
            ]
            write(pyarrow.RecordBatch.from_arrays(arrays, schema=schema))


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


def _groups(lines: Path) -> Iterator[list[dict[str, Any]]]:
    """The rows of each row group, which is bounded in rows and in bytes."""
    rows: list[dict[str, Any]] = []
    size = 0
    for length, row in _rows(lines):
        rows.append(row)
        size += length
        if len(rows) >= _GROUP_ROWS or size >= _GROUP_BYTES:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _kinds(lines: Path) -> tuple[dict[str, str], list[str]]:
    """The type of each column (bool, int, float, text, json, or judgement), and the names of the verdicts' metrics.

    There are no names where there are too many metrics to be columns.
    """
    kinds: dict[str, str] = {"id": "none"}
    metrics: dict[str, None] = {}
    for _, row in _rows(lines):
        if len(metrics) <= _MOST_METRICS:
            metrics |= dict.fromkeys(map(_text, row["judgement"].get("metrics") or ()))
        for name, value in row.items():
            kind = kinds.get(name, "none")
            if kind not in ("json", "judgement"):
                kinds[name] = "json" if name in _ALWAYS_JSON else _with(kind, _kind(name, value))
    found = {name: "text" if kind == "none" else kind for name, kind in kinds.items()}
    return found, list(metrics) if len(metrics) <= _MOST_METRICS else []


def _kind(name: str, value: Any) -> str:
    if name == "judgement":
        return "judgement"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "bool"
    if name == "id" and isinstance(value, int):
        return "text"
    if isinstance(value, int):
        return "json" if abs(value) >= _INT64 else "int" if abs(value) > _EXACT_IN_FLOAT else "small"
    if isinstance(value, float):
        return "float"
    # Arrow refuses half a surrogate pair in a text; JSON escapes it
    return "text" if isinstance(value, str) and _is_text(value) else "json"


def _with(kind: str, other: str) -> str:
    """The type of a column with both types: integers become floats only where a float holds each of them exactly."""
    if "none" in (kind, other) or kind == other:
        return other if kind == "none" else kind
    both = {kind, other}
    if both == {"small", "float"}:
        return "float"
    return "int" if both == {"small", "int"} else "json"


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


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
            # Not a map type, which Hugging Face's data sets lack
            ("metrics", pyarrow.struct([(name, pyarrow.float64()) for name in metrics]) if metrics else text),
            ("seconds", pyarrow.float64()),
            ("calls", text),
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
    numbers = {_text(name): float(number) for name, number in (value.get("metrics") or {}).items()}
    texts = {name: _text(inner) if isinstance(inner, str) else inner for name, inner in value.items()}
    return {
        **texts,
        "violations": [_text(rule) for rule in value.get("violations") or ()],
        "metrics": (numbers if metrics else json.dumps(numbers)) if numbers else None,
        "calls": json.dumps(calls) if (calls := value.get("calls")) else None,
    }


def _text(value: str) -> str:
    return value.encode("utf-8", "replace").decode()
