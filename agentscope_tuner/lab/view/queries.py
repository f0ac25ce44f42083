"""The page's questions to the index: a page of rows that pass the filters, one row, one group.

The filters in the page's address become SQL; `web/src/filters.ts` applies the same filters in a report.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from agentscope_tuner.errors import told
from agentscope_tuner.lab.growing_files import read_line
from agentscope_tuner.lab.labels import LabelsFile
from agentscope_tuner.lab.view.index import RowIndex, as_text
from agentscope_tuner.records.scored_rows import mapping_in, parsed
from agentscope_tuner.verify.find import last_boxed

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})?\.\.({_NUMBER})?(\)?)")
_MOST_CHARS = 2000

#: The kind of a group: `mixed` if its rewards differ, else the reason why they are the same.
GROUP_KIND = """CASE
    WHEN size = 1 THEN 'single' WHEN failed = size THEN 'all failed' WHEN highest - lowest > 1e-9 THEN 'mixed'
    WHEN filtered = size - failed THEN 'all filtered' WHEN successes = size - failed THEN 'all right'
    WHEN wrong = size - failed THEN 'all wrong' ELSE 'same reward' END"""
#: The kind of a prompt over all its groups.
PROMPT_KIND = """CASE
    WHEN sum(size) - sum(failed) < 2 THEN 'single' WHEN max(highest) - min(lowest) > 1e-9 THEN 'varies'
    WHEN sum(successes) = sum(size) - sum(failed) THEN 'always right'
    WHEN sum(wrong) = sum(size) - sum(failed) THEN 'never right' ELSE 'same reward' END"""
GROUP_SPREAD = """sqrt(max(0.0, squares / nullif(size - failed, 0)
    - (total / nullif(size - failed, 0)) * (total / nullif(size - failed, 0))))"""


class BadFilter(ValueError):
    """A filter that is unknown or malformed; the message names it and the allowed values."""


@dataclass(frozen=True, slots=True)
class RowCondition:
    """A condition over the table `rows`.

    Attributes:
        sql: the condition, with question marks for values.
        values: the values of the question marks.
        words: the words to search for in the texts; the condition looks for the rows found in the table `hits`.
    """

    sql: str
    values: tuple[object, ...]
    words: str


Condition = tuple[str, tuple[object, ...]]


def between(column: str, key: str, value: str) -> Condition:
    """The condition of a range such as `0.5..1`, `..3` or `10..`; the range `0..5)` excludes its upper end.

    Raises:
        BadFilter: `value` is no range.
    """
    if (match := _RANGE.fullmatch(value)) is None or not (match[1] or match[2]):
        raise BadFilter(f"{key} must be a range such as '0.5..1' or '10..', got {value[:80]!r}")
    conditions, values = [], []
    if match[1]:
        conditions.append(f"{column} >= ?")
        values.append(float(match[1]))
    if match[2]:
        conditions.append(f"{column} {'<' if match[3] else '<='} ?")
        values.append(float(match[2]))
    return " AND ".join(conditions), tuple(values)


def _part(key: str, value: str) -> Condition:
    """The condition of `style`, a row with that part, or of `style:0..0.5`, a row whose part lies in the range."""
    name, colon, bounds = value.rpartition(":")
    if not (colon and _RANGE.fullmatch(bounds)):
        return "n IN (SELECT n FROM parts WHERE name = ?)", (value,)
    condition, values = between("value", key, bounds)
    return f"n IN (SELECT n FROM parts WHERE name = ? AND {condition})", (name, *values)


def _spread(key: str, value: str) -> Condition:
    condition, values = between(GROUP_SPREAD, key, value)
    return f"grp IN (SELECT grp FROM groups WHERE {condition})", values


def _success(key: str, value: str) -> Condition:
    if value not in ("yes", "no"):
        raise BadFilter(f"success must be 'yes' or 'no', got {value[:80]!r}")
    return "success = ?", (value == "yes",)


# Filters of one value, as SQL
_EQUAL: Mapping[str, str] = {
    **{column: f"{column} = ?" for column in ("status", "stage", "shape", "cause", "task", "id")},
    "rule": "n IN (SELECT n FROM violations WHERE rule = ?)",
    "group": f"grp IN (SELECT grp FROM groups WHERE {GROUP_KIND} = ?)",
    "prompts": f"task IN (SELECT task FROM groups GROUP BY task HAVING {PROMPT_KIND} = ?)",
    "label": "(id, nth) IN (SELECT id, nth FROM labels WHERE label = ?)",
    "change": "n IN (SELECT n FROM changes WHERE change = ?)",
}
# Filters by a word that is no value of the column: `label=none`, `change=any`
_NAMED: Mapping[tuple[str, str], str] = {
    ("label", "none"): "(id, nth) NOT IN (SELECT id, nth FROM labels)",
    ("change", "any"): "n IN (SELECT n FROM changes WHERE change != 'same')",
}
# Filters of a range, by column
_RANGES: Mapping[str, str] = {
    "row": "n",
    **{column: column for column in ("reward", "step", "chars", "seconds", "cost")},
}
_OTHERS: Mapping[str, Callable[[str, str], Condition]] = {"success": _success, "part": _part, "spread": _spread}


def _condition(key: str, value: str) -> Condition:
    if (key, value) in _NAMED:
        return _NAMED[key, value], ()
    if key in _EQUAL:
        return _EQUAL[key], (value,)
    if key in _RANGES:
        return between(_RANGES[key], key, value)
    if key in _OTHERS:
        return _OTHERS[key](key, value)
    raise BadFilter(f"unknown filter {key[:80]!r}: one of q, {', '.join((*_EQUAL, *_RANGES, *_OTHERS))}")


def condition_of(filters: Mapping[str, str]) -> RowCondition:
    """The condition of the filters in an address; a row must pass all of them.

    Raises:
        BadFilter: a filter is unknown or its value cannot be read.
    """
    conditions = ["1"]
    values: list[object] = []
    words = ""
    for key, value in filters.items():
        if len(value) > _MOST_CHARS:
            raise BadFilter(f"{key} has {len(value)} characters, and may have {_MOST_CHARS}")
        if key == "q":
            words = value
            continue
        sql, own = _condition(key, value)
        conditions.append(sql)
        values.extend(own)
    if words:
        conditions.append("n IN (SELECT n FROM hits)")
    return RowCondition(" AND ".join(conditions), tuple(values), words)


_TABLES = """
CREATE TEMP TABLE hits (n INTEGER PRIMARY KEY);
CREATE TEMP TABLE labels (id TEXT, nth INTEGER, label TEXT, PRIMARY KEY (id, nth)) WITHOUT ROWID;
CREATE TEMP TABLE changes (n INTEGER PRIMARY KEY, change TEXT, other INTEGER, other_status TEXT, other_reward REAL,
                           other_success INTEGER);
"""
_CHANGES = """SELECT r.n, CASE
    WHEN o.n IS NULL THEN 'new'
    WHEN r.status NOT IN ('judged', 'filtered') AND o.status IN ('judged', 'filtered') THEN 'failed'
    WHEN r.status IN ('judged', 'filtered') AND o.status NOT IN ('judged', 'filtered') THEN 'mended'
    WHEN r.success > o.success THEN 'gained'
    WHEN r.success < o.success THEN 'lost'
    WHEN abs(coalesce(r.reward, 0) - coalesce(o.reward, 0)) > 1e-9 THEN 'reward'
    WHEN r.status != o.status THEN 'status'
    ELSE 'same' END, o.n, o.status, o.reward, o.success
    FROM main.rows r LEFT JOIN earlier.rows o ON o.id = r.id AND o.nth = r.nth"""


MOST_ROWS = 500
MOST_OF_A_GROUP = 64
_SORTS = {
    "row": "n",
    **{name: name for name in ("id", "task", "step", "status", "reward", "stage", "cause", "seconds", "cost", "chars")},
    "change": "(SELECT CASE change WHEN 'same' THEN 9 WHEN 'lost' THEN 0 WHEN 'gained' THEN 1 WHEN 'failed' THEN 2 "
    "ELSE 3 END FROM changes WHERE changes.n = rows.n)",
}
_SAFE_INTEGER = 2**53
_GROUP = "FROM rows WHERE grp = (SELECT grp FROM rows WHERE n = :n) OR n = :n"


class IndexReader:
    """One connection to the index, which a lock keeps to one thread at a time.

    Args:
        index: the index of the file that is shown.
        labels: people's labels of its rows.
        earlier: the index of a file with earlier verdicts on the same rows, to compare with.
    """

    def __init__(self, index: RowIndex, labels: LabelsFile, earlier: RowIndex | None = None) -> None:
        self._index, self._labels, self._earlier = index, labels, earlier
        self._lock = threading.Lock()
        self._database = index.connect()
        self._database.row_factory = sqlite3.Row
        self._database.executescript(_TABLES)
        if earlier is not None:
            self._database.execute("ATTACH ? AS earlier", (str(earlier.path),))
        self._filled_for: dict[str, tuple[object, ...]] = {}
        self._counts: dict[RowCondition, int] = {}
        self._seen: tuple[int, ...] = ()

    @contextmanager
    def ready_for(self, condition: RowCondition) -> Iterator[sqlite3.Connection]:
        """The connection, after filling the tables that the condition's filters read."""
        with self._lock:
            here = (self._index.epoch, self._index.version)
            if condition.words:
                said = condition.words.lower().encode("utf-8", "replace").decode()
                self._fill("hits", (*here, said), "SELECT n FROM main.words WHERE instr(text, ?)", [(said,)])
            labels = self._labels.read()
            earlier = (self._earlier.epoch, self._earlier.version) if self._earlier is not None else ()
            if (seen := (*here, *earlier, self._labels.version)) != self._seen:
                self._seen, self._counts = seen, {}
            rows = ((id_, nth, label.label) for (id_, nth), label in labels.items())
            self._fill("labels", (self._labels.version,), "VALUES (?, ?, ?)", rows)
            if earlier:
                self._fill("changes", (*here, *earlier), _CHANGES)
            self._database.execute("BEGIN")
            try:
                yield self._database
            finally:
                self._database.execute("COMMIT")

    def count(self, condition: RowCondition) -> int:
        """The number of rows that meet `condition`; call it inside `ready_for(condition)`. Kept until rows change."""
        if condition not in self._counts:
            asked = f"SELECT count(*) FROM rows WHERE {condition.sql}"
            self._counts[condition] = self._database.execute(asked, condition.values).fetchone()[0]
        return self._counts[condition]

    def _fill(
        self, table: str, state: tuple[object, ...], insert: str, rows: Iterable[tuple[object, ...]] = ((),)
    ) -> None:
        """Fill `table` by `insert`, once with each of `rows`, unless it was filled for the same `state`."""
        if self._filled_for.get(table) == state:
            return
        self._database.execute("BEGIN")
        self._database.execute(f"DELETE FROM {table}")
        self._database.executemany(f"INSERT OR IGNORE INTO {table} {insert}", rows)
        self._database.execute("COMMIT")
        self._filled_for[table] = state

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._database.close()

    def exported(self, filters: Mapping[str, str], most: int) -> Iterator[bytes]:
        """The lines of the rows that pass the filters, as they stand in their files, up to `most` rows.

        Raises:
            BadFilter: a filter is unknown.
        """
        condition = condition_of(filters)
        with self.ready_for(condition) as database:
            asked = f"SELECT file, place, length FROM rows WHERE {condition.sql} ORDER BY n LIMIT ?"
            places = database.execute(asked, (*condition.values, most)).fetchall()
        for file, place, length in places:
            with suppress(OSError, IndexError):
                yield read_line(self._index.files[file], place, length) + b"\n"

    def page(self, filters: Mapping[str, str], sort: str, offset: int, limit: int) -> dict[str, Any]:
        """`limit` rows from `offset` on, and the number of all rows that pass the filters.

        Raises:
            BadFilter: a filter or the sort is unknown.
        """
        if (column := _SORTS.get(sort.removeprefix("-"))) is None:
            raise BadFilter(f"unknown sort {sort[:80]!r}: one of {', '.join(_SORTS)}, or -reward for the highest first")
        condition = condition_of(filters)
        direction = "DESC" if sort.startswith("-") else "ASC"
        order = f"{column} {direction}, n" if column != "n" else f"n {direction}"
        with self.ready_for(condition) as database:
            # Sort the narrow table alone, and look up the texts only for the rows of the page
            picked = f"SELECT n FROM rows WHERE {condition.sql} ORDER BY {order} LIMIT ? OFFSET ?"
            wanted = [row[0] for row in database.execute(picked, (*condition.values, min(limit, MOST_ROWS), offset))]
            return {"total": self.count(condition), "rows": self._fields(wanted)}

    def _fields(self, wanted: list[int]) -> list[dict[str, Any]]:
        """The fields of the rows `wanted`, in that order."""
        found = self._database.execute(
            "SELECT rows.*, prompt, answer, reference, reason, problem, violations, parts, change, other_status, "
            "other_reward, other_success FROM json_each(?) AS wanted JOIN rows ON rows.n = wanted.value "
            "JOIN texts ON texts.n = rows.n LEFT JOIN changes ON changes.n = rows.n ORDER BY wanted.key",
            (json.dumps(wanted),),
        )
        said = self._labels.read()
        return [_row(dict(row), said) for row in found]

    def whole_row(self, n: int) -> dict[str, Any] | None:
        """Row `n`: its fields, and the row as it stands in its file; None if there is no such row."""
        with self.ready_for(condition_of({})):
            return next(self.whole_rows([n]), None)

    def group(self, n: int) -> dict[str, Any]:
        """The rows of row `n`'s group in their order, whole, and its `size`; a large group's rows around `n`."""
        with self.ready_for(condition_of({})) as database:
            nearest = f"SELECT n {_GROUP} ORDER BY abs(n - :n) LIMIT {MOST_OF_A_GROUP}"
            wanted = sorted(row[0] for row in database.execute(nearest, {"n": n}))
            size = database.execute(f"SELECT count(*) {_GROUP}", {"n": n}).fetchone()[0]
            return {"rows": list(self.whole_rows(wanted)), "size": size}

    def group_in_file(self, n: int) -> list[tuple[int, Any]]:
        """All rows of row `n`'s group with their numbers, as a judge reads them: not changed for a browser.

        Raises:
            BadFilter: a row of the group cannot be read.
        """
        with self.ready_for(condition_of({})) as database:
            found = database.execute(f"SELECT n, file, place, length {_GROUP} ORDER BY n", {"n": n}).fetchall()
        with told("a row of this group cannot be read", OSError, IndexError, ValueError, to=BadFilter):
            return [(at, parsed(read_line(self._index.files[file], *place))) for at, file, *place in found]

    def whole_rows(self, wanted: list[int]) -> Iterator[dict[str, Any]]:
        """The rows `wanted`: their fields, the row as it stands in its file, and the content of its last box, `boxed`.
        Call it inside `ready_for`.
        """
        for fields in self._fields(wanted):
            asked = "SELECT file, place, length FROM rows WHERE n = ?"
            file, place, length = self._database.execute(asked, (fields["n"],)).fetchone()
            try:
                row, boxed = browsable(read_line(self._index.files[file], place, length))
            except (OSError, IndexError) as exc:
                row, boxed = f"cannot be read: {exc}", None
            yield {**fields, "row": row, "boxed": boxed}


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


def browsable(raw: bytes) -> tuple[Any, str | None]:
    """A line as JSON that every browser reads alike, and the content of the last box in its answer.

    A line that holds no JSON object becomes a text.
    """
    try:
        row = parsed(raw)
    except ValueError:
        return raw.decode("utf-8", "replace"), None
    metadata = mapping_in(mapping_in(row.get("output")).get("metadata"))
    return _plain(row), last_boxed(as_text(metadata.get("final_answer")))


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
