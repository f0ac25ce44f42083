"""The index of a scored file: SQLite beside a file of its texts, built as the file grows."""

from __future__ import annotations

import sqlite3
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from agentscope_tuner.view.fields import RowFields, fields_of
from agentscope_tuner.view.haystack import Haystack
from agentscope_tuner.view.tail import FileReplaced, TailedFile, TailLine, files_of

_FIRST_BATCH, _BATCH = 200, 2000
_SCHEMA = """
CREATE TABLE rows (
    n INTEGER PRIMARY KEY, file INTEGER, place INTEGER, length INTEGER, id TEXT, nth INTEGER, task TEXT, step REAL,
    grp INTEGER, status TEXT, reward REAL, success INTEGER, stage TEXT, cause TEXT, seconds REAL, cost REAL,
    chars INTEGER
);
CREATE TABLE texts (n INTEGER PRIMARY KEY, prompt TEXT, answer TEXT, reference TEXT, reason TEXT, problem TEXT,
                    violations TEXT);
CREATE TABLE violations (rule TEXT, n INTEGER, PRIMARY KEY (rule, n)) WITHOUT ROWID;
CREATE TABLE parts (name TEXT, n INTEGER, value REAL, PRIMARY KEY (n, name)) WITHOUT ROWID;
CREATE TABLE groups (
    grp INTEGER PRIMARY KEY, task TEXT, step REAL, size INTEGER, failed INTEGER, filtered INTEGER, successes INTEGER,
    lowest REAL, highest REAL, total REAL, squares REAL
);
"""
_TABLES = ("rows", "texts", "violations", "parts", "groups")
_ADD_GROUP = """
INSERT INTO groups VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (grp) DO UPDATE SET
    size = size + 1, failed = failed + excluded.failed, filtered = filtered + excluded.filtered,
    successes = successes + excluded.successes,
    lowest = min(coalesce(lowest, excluded.lowest), coalesce(excluded.lowest, lowest)),
    highest = max(coalesce(highest, excluded.highest), coalesce(excluded.highest, highest)),
    total = total + excluded.total, squares = squares + excluded.squares
"""


class RowIndex:
    """The index of one scored file, or of a folder of them; a temporary folder holds it until `close`.

    `update` is for one thread; other threads read through connections of their own (`connect`).

    Attributes:
        version: grows whenever rows were added.
        epoch: grows when the file turned out to be another one, so that all rows are new.
    """

    def __init__(self, source: Path) -> None:
        self.source = source
        self._folder = tempfile.TemporaryDirectory(prefix="astuner-view-")
        self.path = Path(self._folder.name) / "index.db"
        self.haystack = Haystack(Path(self._folder.name) / "texts")
        self._database = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        # Nothing is lost with this file: it is made anew from the rows
        for pragma in ("journal_mode=WAL", "synchronous=OFF", "temp_store=MEMORY", "cache_size=-65536"):
            self._database.execute(f"PRAGMA {pragma}")
        self._database.executescript(_SCHEMA)
        self.version = self.epoch = 0
        self._stop = threading.Event()
        self._forget()

    def _forget(self) -> None:
        self.files: list[Path] = []
        self._tails: dict[Path, TailedFile] = {}
        self._groups: dict[tuple[str, float | None], int] = {}
        self._ids: dict[str, int] = {}
        self.rows = 0
        self.haystack.clear()
        self._database.execute("BEGIN")
        for table in _TABLES:
            self._database.execute(f"DELETE FROM {table}")
        self._database.execute("COMMIT")

    def connect(self) -> sqlite3.Connection:
        """A connection that reads; whoever uses it sees to it that one thread at a time does."""
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute("PRAGMA cache_size=-65536")
        return connection

    def update(self) -> bool:
        """Index what was written since the last call; whether there was anything."""
        before = self.version
        try:
            for path in files_of(self.source):
                if path not in self._tails:
                    self._tails[path] = TailedFile(path, len(self.files))
                    self.files.append(path)
                for lines in _batches(self._tails[path].lines()):
                    self._add(lines)
                    if self._stop.is_set():
                        return True
        except FileReplaced:
            self._forget()
            self.epoch += 1
            self.version += 1
        return self.version != before

    def follow(self, seconds: float) -> None:
        """`update` again and again, `seconds` apart, until `stop` is called from another thread."""
        while not self._stop.is_set():
            self.update()
            self._stop.wait(seconds)

    def stop(self) -> None:
        """End `follow`, and an `update` after its next rows."""
        self._stop.set()

    def _add(self, lines: list[TailLine]) -> None:
        rows = [
            (line, fields_of(line.raw) if line.problem is None else RowFields(problem=line.problem)) for line in lines
        ]
        self.haystack.add(row.text for _, row in rows)
        execute = self._database.executemany
        self._database.execute("BEGIN")
        first = self.rows + 1
        numbered = [(n, line, row) for n, (line, row) in enumerate(rows, first)]
        execute(f"INSERT INTO rows VALUES ({', '.join('?' * 17)})", [self._narrow(*item) for item in numbered])
        execute("INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?)", [_preview(n, row) for n, _, row in numbered])
        execute(
            "INSERT OR IGNORE INTO violations VALUES (?, ?)", [(r, n) for n, _, f in numbered for r in f.violations]
        )
        execute(
            "INSERT OR REPLACE INTO parts VALUES (?, ?, ?)", [(p, n, v) for n, _, f in numbered for p, v in f.parts]
        )
        execute(_ADD_GROUP, [self._group(row) for _, row in rows if row.task])
        self._database.execute("COMMIT")
        self.rows += len(rows)
        self.version += 1

    def _narrow(self, n: int, line: TailLine, row: RowFields) -> tuple[object, ...]:
        nth = self._ids.get(row.id, 0)
        self._ids[row.id] = nth + 1
        group = self._groups.setdefault((row.task, row.step), len(self._groups)) if row.task else None
        place = (n, line.file, line.offset, line.length, row.id, nth, row.task, row.step, group)
        return (*place, row.status, row.reward, row.success, row.stage, row.cause, row.seconds, row.cost, row.chars)

    def _group(self, row: RowFields) -> tuple[object, ...]:
        group = self._groups[row.task, row.step]
        reward = row.reward
        rated = (reward, reward, reward or 0.0, (reward or 0.0) ** 2)
        without = row.status in ("failed", "unreadable")
        return (group, row.task, row.step, without, row.status == "filtered", bool(row.success), *rated)

    def close(self) -> None:
        """Remove the index; `follow` must have ended."""
        self._database.close()
        self._folder.cleanup()


def _batches(lines: Iterable[TailLine]) -> Iterator[list[TailLine]]:
    """The lines in batches, a small one first: the page shows rows while the others are still read."""
    batch: list[TailLine] = []
    most = _FIRST_BATCH
    for line in lines:
        batch.append(line)
        if len(batch) == most:
            yield batch
            batch, most = [], _BATCH
    if batch:
        yield batch


def _preview(n: int, row: RowFields) -> tuple[object, ...]:
    return n, row.prompt, row.answer, row.reference, row.reason, row.problem or "", "\n".join(row.violations)
