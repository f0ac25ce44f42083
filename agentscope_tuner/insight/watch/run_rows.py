"""Rows of a run in the order of its steps, whichever processes have written them."""

from __future__ import annotations

import heapq
import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.insight.watch.follow import NewLines
from agentscope_tuner.records.reader import Line
from agentscope_tuner.records.scored_rows import ScoredRow, UnjudgedRow, scored_row

_log = logging.getLogger(__name__)

#: Steps of a run whose rows name none.
ROWS_A_STEP = 256
# more than rows of a log wait to be written
_POLL_SECONDS = 1.0
_TOLD_LINES = 3
Read = Callable[[Iterator[Line]], Iterator[Line]]


class RunRows:
    """The rows of a run; a line that cannot be read is counted and passed over, for the sake of the rows behind it.

    Args:
        run: a file or a folder of JSON lines, which need not exist yet.
        read: makes scored rows of a trainer's lines.
        counted: ids of which rows are told apart by `nth`; counting all of them would grow with the run.

    Attributes:
        unread: how many lines could not be read; `rows` how many could.
    """

    def __init__(self, run: Path, read: Read = iter, counted: Container[str] = frozenset()) -> None:
        self._lines, self._read, self._counted = NewLines(run), read, counted
        self._seen: Counter[str] = Counter()
        self.rows = self.unread = 0
        self._first = ""

    def new(self) -> Iterator[ScoredRow]:
        """The rows since the last look, by step and time over all processes.

        Raises:
            ConfigError: a line is a row without a verdict: no scored file, or a trainer's whose format was not named.
        """
        return heapq.merge(*map(self.scored, self._lines.processes()), key=_when)

    def whole(self) -> Iterator[ScoredRow]:
        """The rows of a run that is over.

        Raises:
            ConfigError: as `new`, or there are lines and none of them can be read.
        """
        yield from self.new()
        yield from self.scored(self._lines.rest())
        self.check()

    def scored(self, lines: Iterator[Line]) -> Iterator[ScoredRow]:
        """The rows of lines from anywhere; see `new`."""
        for line in self._read(lines):
            try:
                row = scored_row(line, self._seen, self._counted)
            except UnjudgedRow as exc:
                raise ConfigError(f"{line.where}: {exc}") from exc
            except ValueError as exc:
                self.unread += 1
                self._first = self._first or f"{line.where}: {exc}"
                if self.unread <= _TOLD_LINES:
                    _log.warning("%s is passed over: %s", line.where, exc)
                continue
            self.rows += 1
            yield row

    def check(self) -> None:
        """Refuse a run of which nothing could be read.

        Raises:
            ConfigError: there are lines and none of them can be read.
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
        """The rows as they are written, and None after each look.

        Args:
            idle: seconds without a new row after which the run counts as over.
            clock, wait: for tests.

        Raises:
            ConfigError: as `whole`.
        """
        last, before = clock(), 0
        while clock() - last < idle:
            yield from self.new()
            yield None
            if self.rows + self.unread > before:
                before, last = self.rows + self.unread, clock()
            # wait after new rows, too: by then other processes have written the rows that they held back
            wait(_POLL_SECONDS)
        yield from self.scored(self._lines.rest())
        self.check()


def _when(row: ScoredRow) -> tuple[float, float]:
    at = row.row.get("time")
    return (-math.inf if row.step is None else row.step), (float(at) if isinstance(at, int | float) else 0.0)


def by_step(rows: Iterable[ScoredRow | None]) -> Iterator[tuple[float, list[ScoredRow]]]:
    """The rows of each step; rows that name no step in blocks of 256, in the order in which they come.

    A step is complete when rows of two later ones have come, or when, two looks ago, there were rows of a later one:
    other processes may have written theirs a moment later.

    Args:
        rows: None says that a look at the run has ended.
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
