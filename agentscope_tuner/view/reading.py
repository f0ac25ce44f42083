"""Reads the index, with search hits, labels and changes as tables beside the rows."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from agentscope_tuner.view.filters import RowCondition
from agentscope_tuner.view.index import RowIndex
from agentscope_tuner.view.labels import LabelsFile

_TABLES = """
CREATE TEMP TABLE hits (n INTEGER PRIMARY KEY);
CREATE TEMP TABLE labels (id TEXT, nth INTEGER, label TEXT, PRIMARY KEY (id, nth)) WITHOUT ROWID;
CREATE TEMP TABLE changes (n INTEGER PRIMARY KEY, change TEXT, other INTEGER, other_status TEXT, other_reward REAL,
                           other_success INTEGER);
"""
_CHANGE = """CASE
    WHEN o.n IS NULL THEN 'new'
    WHEN r.status NOT IN ('judged', 'filtered') AND o.status IN ('judged', 'filtered') THEN 'failed'
    WHEN r.status IN ('judged', 'filtered') AND o.status NOT IN ('judged', 'filtered') THEN 'mended'
    WHEN r.success > o.success THEN 'gained'
    WHEN r.success < o.success THEN 'lost'
    WHEN abs(coalesce(r.reward, 0) - coalesce(o.reward, 0)) > 1e-9 THEN 'reward'
    WHEN r.status != o.status THEN 'status'
    ELSE 'same' END"""


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
                self._fill("hits", (*here, condition.words), self._hits(condition.words))
            labels = self._labels.read()
            earlier = (self._earlier.epoch, self._earlier.version) if self._earlier is not None else ()
            if (seen := (*here, *earlier, self._labels.version)) != self._seen:
                self._seen, self._counts = seen, {}
            said = ((id_, nth, label.label) for (id_, nth), label in labels.items())
            self._fill("labels", (self._labels.version,), said)
            if earlier:
                self._compare((*here, *earlier))
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

    def _hits(self, words: str) -> Iterator[tuple[int]]:
        for n in self._index.haystack.find(words):
            yield (n,)

    def _fill(self, table: str, state: tuple[object, ...], rows: Iterator[tuple[object, ...]]) -> None:
        """Fill `table` with `rows`, unless it was filled for the same `state`."""
        if self._filled_for.get(table) == state:
            return
        self._database.execute("BEGIN")
        self._database.execute(f"DELETE FROM {table}")
        first = next(rows, None)
        if first is not None:
            marks = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(first))})"
            self._database.execute(marks, first)
            self._database.executemany(marks, rows)
        self._database.execute("COMMIT")
        self._filled_for[table] = state

    def _compare(self, state: tuple[int, ...]) -> None:
        if self._filled_for.get("changes") == state:
            return
        self._database.execute("DELETE FROM changes")
        self._database.execute(
            f"INSERT INTO changes SELECT r.n, {_CHANGE}, o.n, o.status, o.reward, o.success FROM main.rows r "
            "LEFT JOIN earlier.rows o ON o.id = r.id AND o.nth = r.nth"
        )
        self._filled_for["changes"] = state

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._database.close()
