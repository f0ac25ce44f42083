"""Queries of the page's table and of its rollout view: a page of rows, one row, one group."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping
from typing import Any

from agentscope_tuner.verify.boxed import last_boxed
from agentscope_tuner.view.fields import as_text, parsed
from agentscope_tuner.view.filters import BadFilter, condition_of
from agentscope_tuner.view.index import RowIndex
from agentscope_tuner.view.labels import LabelsFile
from agentscope_tuner.view.reading import IndexReader
from agentscope_tuner.view.tail import read_line

MOST_ROWS = 500
MOST_OF_A_GROUP = 64
_SORTS = {
    "row": "n",
    "id": "id",
    "task": "task",
    "step": "step",
    "status": "status",
    "reward": "reward",
    "stage": "stage",
    "cause": "cause",
    "seconds": "seconds",
    "cost": "cost",
    "chars": "chars",
    "change": "(SELECT CASE change WHEN 'same' THEN 9 WHEN 'lost' THEN 0 WHEN 'gained' THEN 1 WHEN 'failed' THEN 2 "
    "ELSE 3 END FROM changes WHERE changes.n = rows.n)",
}
_SAFE_INTEGER = 2**53
_GROUP = "FROM rows WHERE grp = (SELECT grp FROM rows WHERE n = :n) OR n = :n"


def rows_page(
    reader: IndexReader, labels: LabelsFile, filters: Mapping[str, str], sort: str, offset: int, limit: int
) -> dict[str, Any]:
    """`limit` rows from `offset` on, and the number of all rows that pass the filters.

    Raises:
        BadFilter: a filter or the sort is unknown.
    """
    column = _SORTS.get(sort.removeprefix("-"))
    if column is None:
        raise BadFilter(f"unknown sort {sort[:80]!r}: one of {', '.join(_SORTS)}, or -reward for the highest first")
    condition = condition_of(filters)
    direction = "DESC" if sort.startswith("-") else "ASC"
    order = f"{column} {direction}, n" if column != "n" else f"n {direction}"
    with reader.ready_for(condition) as database:
        # Sort the narrow table alone, and look up the texts only for the rows of the page
        picked = f"SELECT n FROM rows WHERE {condition.sql} ORDER BY {order} LIMIT ? OFFSET ?"
        wanted = [row[0] for row in database.execute(picked, (*condition.values, min(limit, MOST_ROWS), offset))]
        return {"total": reader.count(condition), "rows": rows_of(database, labels, wanted)}


def rows_of(database: sqlite3.Connection, labels: LabelsFile, wanted: list[int]) -> list[dict[str, Any]]:
    """The fields of the rows `wanted`, in that order."""
    found = database.execute(
        "SELECT rows.*, prompt, answer, reference, reason, problem, violations, parts, change, other_status, "
        "other_reward, other_success FROM json_each(?) AS wanted JOIN rows ON rows.n = wanted.value "
        "JOIN texts ON texts.n = rows.n LEFT JOIN changes ON changes.n = rows.n ORDER BY wanted.key",
        (json.dumps(wanted),),
    )
    said = labels.read()
    return [_row(dict(row), said) for row in found]


def _row(row: dict[str, Any], said: Mapping[tuple[str, int], Any]) -> dict[str, Any]:
    for key in ("file", "place", "length", "grp"):
        del row[key]
    label = said.get((row["id"], row["nth"]))
    success = row["success"]
    violations = row["violations"].split("\n") if row["violations"] else []
    return {
        **row,
        "success": None if success is None else bool(success),
        "violations": violations,
        "parts": json.loads(row["parts"]),
        "label": label and label.label,
        "remark": label.remark if label else "",
    }


def whole_row(index: RowIndex, reader: IndexReader, labels: LabelsFile, n: int) -> dict[str, Any] | None:
    """Row `n`: its fields, and the row as it stands in its file; None if there is no such row."""
    with reader.ready_for(condition_of({})) as database:
        fields = next(iter(rows_of(database, labels, [n])), None)
        if fields is None:
            return None
        row, boxed = row_in_file(index, database, n)
        return {**fields, "row": row, "boxed": boxed}


def group_of(index: RowIndex, reader: IndexReader, labels: LabelsFile, n: int) -> dict[str, Any]:
    """The rows of row `n`'s group in their order, whole, and the group's `size`; a large group's rows around `n`."""
    with reader.ready_for(condition_of({})) as database:
        nearest = f"SELECT n {_GROUP} ORDER BY abs(n - :n) LIMIT {MOST_OF_A_GROUP}"
        wanted = sorted(row[0] for row in database.execute(nearest, {"n": n}))
        size = database.execute(f"SELECT count(*) {_GROUP}", {"n": n}).fetchone()[0]
        members = []
        for fields in rows_of(database, labels, wanted):
            row, boxed = row_in_file(index, database, fields["n"])
            members.append({**fields, "row": row, "boxed": boxed})
        return {"rows": members, "size": size}


def group_in_file(index: RowIndex, reader: IndexReader, n: int) -> list[tuple[int, Any]]:
    """All rows of row `n`'s group with their numbers, as a judge reads them: not changed for a browser.

    Raises:
        BadFilter: a row of the group cannot be read.
    """
    with reader.ready_for(condition_of({})) as database:
        found = database.execute(f"SELECT n, file, place, length {_GROUP} ORDER BY n", {"n": n}).fetchall()
    try:
        return [(at, parsed(read_line(index.files[file], place, length))) for at, file, place, length in found]
    except (OSError, IndexError, ValueError) as exc:
        raise BadFilter(f"a row of this group cannot be read: {exc}") from exc


def row_in_file(index: RowIndex, database: sqlite3.Connection, n: int) -> tuple[Any, str | None]:
    """Row `n` as it stands in its file, made `browsable`, and the content of the last box in its answer."""
    file, place, length = database.execute("SELECT file, place, length FROM rows WHERE n = ?", (n,)).fetchone()
    try:
        return browsable(read_line(index.files[file], place, length))
    except (OSError, IndexError) as exc:
        return f"cannot be read: {exc}", None


def browsable(raw: bytes) -> tuple[Any, str | None]:
    """A line as JSON that every browser reads alike, and the content of the last box in its answer.

    A line that holds no JSON object becomes a text.
    """
    try:
        row = parsed(raw)
    except ValueError:
        return raw.decode("utf-8", "replace"), None
    output = row.get("output")
    metadata = output.get("metadata") if isinstance(output, dict) else None
    answer = as_text(metadata.get("final_answer")) if isinstance(metadata, dict) else ""
    return _plain(row), last_boxed(answer)


def _plain(value: Any) -> Any:
    """`value` with texts for numbers that a browser cannot read exactly: NaN, infinities and large integers."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, int) and abs(value) > _SAFE_INTEGER:
        return str(value)
    return value
