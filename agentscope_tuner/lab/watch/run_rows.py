"""Reads the rows that several processes write in one run, while they write them, in the order of its steps."""

from __future__ import annotations

import heapq
import logging
import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import chain
from pathlib import Path

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.tail import FileReplaced, TailedFile, files_of
from agentscope_tuner.records.files import is_cut_short, is_row_file
from agentscope_tuner.records.reader import Line
from agentscope_tuner.records.scored_rows import ScoredRow, UnjudgedRow, scored_row
from agentscope_tuner.storage import natural

_log = logging.getLogger(__name__)

_PROCESS = re.compile(r"(judged-.+)-\d+\.jsonl")
# Lines read at a time
_BATCH = 2000


class NewLines:
    """The whole lines that a run has written since the last call, in a file or in a folder's `.jsonl` files.

    A line without its end is held back until its end is written. A line of more than `MAX_LINE_BYTES` is skipped with a
    warning, so that the rows behind it are still read. A file that was replaced is read from its start.

    Args:
        run: the file or folder, which need not exist yet.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._tails: dict[Path, TailedFile] = {}

    def read(self) -> Iterator[Line]:
        """The new lines of all processes, one process after the other."""
        return chain.from_iterable(self.processes())

    def processes(self) -> list[Iterator[Line]]:
        """The new lines of each process, from its files in their order.

        `log_dir` names files after their process; all files with other names count as files of one process.
        """
        written = defaultdict(list)
        for path in sorted(files_of(self._run), key=lambda path: natural(path.name)):
            found = _PROCESS.fullmatch(path.name)
            written[found[1] if found else ""].append(path)
        return [chain.from_iterable(map(self._of_file, paths)) for paths in written.values()]

    def _of_file(self, path: Path) -> Iterator[Line]:
        tail = self._tails.setdefault(path, TailedFile(path))
        try:
            for line in chain.from_iterable(tail.batches(_BATCH, _BATCH)):
                if line.problem is None:
                    yield Line(f"{path.name}:{line.number}", line.raw)
                else:
                    _log.warning("%s:%d is passed over: %s", path, line.number, line.problem)
        except FileReplaced:
            del self._tails[path]
            yield from self._of_file(path)

    def rest(self) -> Iterator[Line]:
        """The last lines of a finished run that only lack their line break; call it after `read`.

        A last line that a crash has cut short is skipped with a warning.
        """
        for path, tail in self._tails.items():
            if (line := tail.rest()) is None:
                continue
            where = f"{path.name}:{line.number}"
            if is_cut_short(line.raw):
                _log.warning("%s is passed over: it was cut short", where)
            else:
                yield Line(where, line.raw)


def is_json_lines(run: Path) -> bool:
    """Whether a run has files with rows, and all of them are JSON lines."""
    if not run.is_dir():
        return run.suffix == ".jsonl" and run.exists()
    names = [path.name for path in run.iterdir() if is_row_file(path.name)]
    return bool(names) and all(name.endswith(".jsonl") for name in names)


def refuse_unfollowable(run: Path) -> None:
    """Refuse a run with files other than JSON lines.

    Raises:
        ConfigError: the run has Parquet files, torch's files or packed files, which can be read only when complete.
    """
    files = [path.name for path in run.iterdir()] if run.is_dir() else [run.name]
    other = next((name for name in files if is_row_file(name) and not name.endswith(".jsonl")), None)
    if other is not None:
        raise ConfigError(f"--follow reads only JSON lines, not {other!r}: omit --follow once the run has ended")


#: The size of a step, in rows, in a run whose rows name no step.
ROWS_A_STEP = 256
# Longer than the time that a log holds rows back before it writes them
_POLL_SECONDS = 1.0
_MOST_WARNINGS = 3
Read = Callable[[Iterator[Line]], Iterator[Line]]


class RunRows:
    """The rows of a run. A line that cannot be read is counted and skipped, because the rows behind it may be good.

    Args:
        run: a file or a folder of JSON lines, which need not exist yet.
        read: turns a trainer's own lines into lines of scored rows.
        counted: the ids whose rows are numbered by `nth`; numbering all ids would need memory that grows with the run.

    Attributes:
        rows: number of lines that could be read.
        unread: number of lines that could not be read.
    """

    def __init__(self, run: Path, read: Read = iter, counted: Container[str] = frozenset()) -> None:
        self._lines, self._read, self._counted = NewLines(run), read, counted
        self._seen: Counter[str] = Counter()
        self.rows = self.unread = 0
        self._first = ""

    def new(self) -> Iterator[ScoredRow]:
        """The rows since the last call, sorted by step and time over all processes.

        Raises:
            ConfigError: a row has no verdict: the file is not scored, or its trainer's format was not named.
        """
        return heapq.merge(*map(self.scored, self._lines.processes()), key=_step_and_time)

    def whole(self) -> Iterator[ScoredRow]:
        """The rows of a finished run.

        Raises:
            ConfigError: as for `new` and `check`.
        """
        yield from self.new()
        yield from self.scored(self._lines.rest())
        self.check()

    def scored(self, lines: Iterator[Line]) -> Iterator[ScoredRow]:
        """The rows of the given lines; raises ConfigError as `new` does."""
        for line in self._read(lines):
            try:
                row = scored_row(line, self._seen, self._counted)
            except UnjudgedRow as exc:
                raise ConfigError(f"{line.where}: {exc}") from exc
            except ValueError as exc:
                self.unread += 1
                self._first = self._first or f"{line.where}: {exc}"
                if self.unread <= _MOST_WARNINGS:
                    _log.warning("%s is passed over: %s", line.where, exc)
                continue
            self.rows += 1
            yield row

    def check(self) -> None:
        """Refuse a run without a readable line.

        Raises:
            ConfigError: the run has lines, and none of them can be read.
        """
        if self.unread and not self.rows:
            raise ConfigError(f"none of {self.unread} lines can be read: {self._first}")

    def followed(
        self,
        idle: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> Iterator[ScoredRow | None]:
        """The rows as they are written, and None after each look at the files.

        Args:
            idle: the run counts as finished after this many seconds without a new line.
            clock: the clock, which tests replace.
            wait: sleeps between two looks; tests replace it.

        Raises:
            ConfigError: as for `whole`.
        """
        last, before = clock(), 0
        while clock() - last < idle:
            yield from self.new()
            yield None
            if self.rows + self.unread > before:
                before, last = self.rows + self.unread, clock()
            # Wait even after new rows, so that other processes can write the rows that they hold back
            wait(_POLL_SECONDS)
        yield from self.scored(self._lines.rest())
        self.check()


def _step_and_time(row: ScoredRow) -> tuple[float, float]:
    at = row.row.get("time")
    return (-math.inf if row.step is None else row.step), (float(at) if isinstance(at, int | float) else 0.0)


def by_step(rows: Iterable[ScoredRow | None]) -> Iterator[tuple[float, list[ScoredRow]]]:
    """The rows of each step. Rows that name no step form steps of 256 rows, in the order of their arrival.

    Other processes may write their rows of a step a moment later. So a step is complete only when rows of two later
    steps have arrived, or one look after rows of one later step were there.

    Args:
        rows: the rows, with None at the end of each look at the run.
    """
    held: dict[float, list[ScoredRow]] = {}
    nameless: list[ScoredRow] = []
    older: set[float] = set()
    blocks = 0
    for row in rows:
        if row is None:
            for step in sorted(older & held.keys()):
                yield step, held.pop(step)
            older = set(sorted(held)[:-1])
        elif row.step is None:
            nameless.append(row)
            if len(nameless) == ROWS_A_STEP:
                blocks += 1
                yield float(blocks), nameless
                nameless = []
        else:
            held.setdefault(row.step, []).append(row)
            if len(held) > 2:
                step = min(held)
                yield step, held.pop(step)
    for step in sorted(held):
        yield step, held[step]
    if nameless:
        yield float(blocks + 1), nameless
