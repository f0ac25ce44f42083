"""The index of a scored file: a SQLite database and a file of the rows' texts, extended as the scored file grows."""

from __future__ import annotations

import functools
import json
import sqlite3
import tempfile
import threading
from pathlib import Path

from agentscope_tuner.view.fields import RowFields, fields_of
from agentscope_tuner.view.haystack import Haystack
from agentscope_tuner.view.tail import FileReplaced, TailedFile, TailLine, chosen, files_of

# The first batch is small, so that the page can show rows while the others are still read
_FIRST_BATCH, _BATCH = 200, 2000
_SCHEMA = """
CREATE TABLE rows (
    n INTEGER PRIMARY KEY, file INTEGER, place INTEGER, length INTEGER, id TEXT, nth INTEGER, task TEXT, step REAL,
    grp INTEGER, status TEXT, reward REAL, success INTEGER, stage TEXT, cause TEXT, seconds REAL, cost REAL,
    chars INTEGER
);
CREATE TABLE texts (n INTEGER PRIMARY KEY, prompt TEXT, answer TEXT, reference TEXT, reason TEXT, problem TEXT,
                    violations TEXT, parts TEXT);
CREATE TABLE violations (rule TEXT, n INTEGER, PRIMARY KEY (rule, n)) WITHOUT ROWID;
CREATE TABLE parts (name TEXT, n INTEGER, value REAL, PRIMARY KEY (name, n)) WITHOUT ROWID;
CREATE TABLE groups (
    grp INTEGER PRIMARY KEY, task TEXT, step REAL, size INTEGER, failed INTEGER, filtered INTEGER, successes INTEGER,
    lowest REAL, highest REAL, total REAL, squares REAL
);
"""
_TABLES = ("rows", "texts", "violations", "parts", "groups")
_ADD_GROUP = """
INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (grp) DO UPDATE SET
    size = size + excluded.size, failed = failed + excluded.failed, filtered = filtered + excluded.filtered,
    successes = successes + excluded.successes,
    lowest = min(coalesce(lowest, excluded.lowest), coalesce(excluded.lowest, lowest)),
    highest = max(coalesce(highest, excluded.highest), coalesce(excluded.highest, highest)),
    total = total + excluded.total, squares = squares + excluded.squares
"""


class RowIndex:
    """The index of one scored file, or of a folder of scored files, in a temporary folder until `close`.

    `update` is for one thread; other threads read through connections of their own (`connect`).

    Attributes:
        version: grows whenever rows are added.
        epoch: grows when a file was replaced, so that all rows are new.
        share_read: the share of the bytes that `update` has read; None once it has read all of them.
    """

    def __init__(self, source: Path) -> None:
        self.source = source
        self._folder = tempfile.TemporaryDirectory(prefix="astuner-view-")
        self.path = Path(self._folder.name) / "index.db"
        self.haystack = Haystack(Path(self._folder.name) / "texts")
        self._database = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        # Speed instead of safety: the index can always be rebuilt from the rows
        for pragma in ("journal_mode=WAL", "synchronous=OFF", "temp_store=MEMORY", "cache_size=-65536"):
            self._database.execute(f"PRAGMA {pragma}")
        self._database.executescript(_SCHEMA)
        self.version = self.epoch = 0
        self.share_read: float | None = None
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
        """Another connection for reading; the caller ensures that one thread at a time uses it."""
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute("PRAGMA cache_size=-65536")
        return connection

    def update(self) -> bool:
        """Index the rows written since the last call, and return whether there were any."""
        before = self.version
        try:
            for path in files_of(self.source):
                if path not in self._tails:
                    self._tails[path] = TailedFile(path, len(self.files))
                    self.files.append(path)
                for lines in self._tails[path].batches(_BATCH if self.rows else _FIRST_BATCH, _BATCH):
                    self._add(lines)
                    self.share_read = self._share()
                    if self._stop.is_set():
                        return True
        except FileReplaced:
            self._forget()
            self.epoch += 1
            self.version += 1
        finally:
            self.share_read = None
        return self.version != before

    def _share(self) -> float:
        sizes = sum(path.stat().st_size for path in map(chosen, files_of(self.source)) if path is not None)
        return min(1.0, sum(tail.offset for tail in self._tails.values()) / max(1, sizes))

    def follow(self, seconds: float) -> None:
        """Call `update` every `seconds`, until another thread calls `stop`."""
        while not self._stop.is_set():
            self.update()
            self._stop.wait(seconds)

    def stop(self) -> None:
        """End `follow`; an `update` under way ends after its next batch of rows."""
        self._stop.set()

    def _add(self, lines: list[TailLine]) -> None:
        rows = [fields_of(line.raw) if line.problem is None else RowFields(problem=line.problem) for line in lines]
        self.haystack.add(row.text for row in rows)
        numbered = list(enumerate(rows, self.rows + 1))
        narrow = [self._narrow(n, line, row) for (n, row), line in zip(numbered, lines, strict=True)]
        insert = self._database.executemany
        self._database.execute("BEGIN")
        insert(f"INSERT INTO rows VALUES ({', '.join('?' * 17)})", narrow)
        insert("INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [_preview(n, row) for n, row in numbered])
        insert(
            "INSERT OR IGNORE INTO violations VALUES (?, ?)", [(v, n) for n, row in numbered for v in row.violations]
        )
        # In the order of the table, by name: inserts beside each other are faster
        insert(
            "INSERT INTO parts VALUES (?, ?, ?)", sorted((p, n, v) for n, row in numbered for p, v in row.parts.items())
        )
        insert(_ADD_GROUP, self._group_sums(rows))
        self._database.execute("COMMIT")
        self.rows += len(rows)
        self.version += 1

    def _narrow(self, n: int, line: TailLine, row: RowFields) -> tuple[object, ...]:
        nth = self._ids.get(row.id, 0)
        self._ids[row.id] = nth + 1
        group = self._groups.setdefault((row.task, row.step), len(self._groups)) if row.task else None
        place = (n, line.file, line.offset, line.length, row.id, nth, row.task, row.step, group)
        return (*place, row.status, row.reward, row.success, row.stage, row.cause, row.seconds, row.cost, row.chars)

    def _group_sums(self, rows: list[RowFields]) -> list[tuple[object, ...]]:
        """The sums that `rows` add to their groups: one row of the table `groups` for each group."""
        members: dict[tuple[str, float | None], list[RowFields]] = {}
        for row in rows:
            if row.task:
                members.setdefault((row.task, row.step), []).append(row)
        return [(self._groups[key], *key, *_sums(found)) for key, found in members.items()]

    def close(self) -> None:
        """Remove the index; `follow` must have ended."""
        self._database.close()
        self._folder.cleanup()


def _sums(rows: list[RowFields]) -> tuple[object, ...]:
    """The sums in the table `groups` over `rows`, which are of one group."""
    statuses = [row.status for row in rows]
    rewards = [row.reward for row in rows if row.reward is not None]
    return (
        len(rows),
        statuses.count("failed") + statuses.count("unreadable"),
        statuses.count("filtered"),
        sum(row.success is True for row in rows),
        min(rewards, default=None),
        max(rewards, default=None),
        sum(rewards),
        sum(reward * reward for reward in rewards),
    )


# Cached, because the parts of a run have only a few names
_quoted = functools.lru_cache(maxsize=256)(json.dumps)


def _preview(n: int, row: RowFields) -> tuple[object, ...]:
    # As JSON: Python writes finite numbers as JSON has them
    parts = ",".join([f"{_quoted(name)}:{value!r}" for name, value in row.parts.items()])
    texts = (row.prompt, row.answer, row.reference, row.reason, row.problem or "")
    return n, *texts, "\n".join(row.violations), f"{{{parts}}}"
