"""The interface of crews, which judge many blocks at once, and the loop that feeds a crew and passes its results on."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from typing import Generic

from agentscope_tuner.engines.work import Out, Rows, Work
from agentscope_tuner.records.blocks import Block

# A batch that takes longer than planned is handed back in part: other workers may be idle, and rows wait behind it.
SLICE_SECONDS = 0.05

_MOST_STEPS = 1024
# How far the input is read ahead for each job: in steps, and in batches
_AHEAD_STEPS, _AHEAD_BATCHES = 8, 4


class BatchPace:
    """Learns from finished batches how much fits into a slice of time.

    Attributes:
        batch: the span of the next batch.
        step: the span of a row, averaged over recent batches.
    """

    def __init__(self) -> None:
        self.batch = self.step = 1

    def learn(self, span: int, steps: int, seconds: float) -> None:
        """Record a batch: how many of its rows were judged, and in how many seconds."""
        self.step = max(1, span // max(steps, 1))
        fitting = int(SLICE_SECONDS * span / seconds) if seconds > 0 else 4 * span
        # One slow row says little about the next, so shrink slowly: the worker hands back what does not fit.
        self.batch = max(1, self.batch // 2, min(fitting, 4 * max(self.batch, span), _MOST_STEPS * self.step))

    def ahead(self, jobs: int) -> int:
        """The span of the input to read ahead for `jobs` workers."""
        return jobs * max(_AHEAD_STEPS * self.step, _AHEAD_BATCHES * self.batch)

    @property
    def is_quick(self) -> bool:
        """Whether several rows fit into a slice. Slow rows are assigned singly, so no row waits behind a slow row."""
        return self.batch > self.step


_log = logging.getLogger(__name__)

_MOST_BYTES = 64 * 2**20


class Crew(ABC, Generic[Out]):
    """Judges blocks outside the caller's thread.

    Args:
        work: judges a block.
        rows: where finished rows go.
        ahead: the largest span of blocks that are begun and not yet passed on; it bounds the memory.
    """

    def __init__(self, work: Work[Out], rows: Rows[Out], ahead: int) -> None:
        self.work = work
        self.rows = rows
        self.ahead = ahead

    @abstractmethod
    def begin(self, block: Block) -> None:
        """Take a block. A block that already has results is not judged: its results are handed on."""

    @abstractmethod
    def drop(self) -> None:
        """Begin no more blocks: those that are waiting are dropped, those being judged are finished."""

    def give_up(self) -> None:
        """Release what is finished behind blocks that are not; see `Rows.give_up`."""

    @abstractmethod
    def close(self) -> None:
        """End every thread and process of the crew, without waiting for verdicts."""


class _Feed(Generic[Out]):
    """Reads the input: takes a block only when the crew has room for it and the caller keeps up with the results.

    Attributes:
        open: whether the input may hold more blocks.
        error: the exception that reading the input raised.
    """

    def __init__(self, crew: Crew[Out], blocks: Iterator[Block]) -> None:
        self.open = True
        self.error: Exception | None = None
        self._crew, self._blocks, self._rows = crew, blocks, crew.rows
        self._begun = self._begun_bytes = 0

    def fill(self) -> None:
        """Begin as many blocks as there is room for."""
        rows, crew = self._rows, self._crew
        while (
            self.open
            and self._begun - rows.released < crew.ahead
            and self._begun_bytes - rows.released_bytes < _MOST_BYTES
        ):
            try:
                block = next(self._blocks, None)
            # boundary: an error of the input is raised after the rows that were read before it are handed on
            except Exception as exc:  # noqa: BLE001
                block, self.error = None, exc
            if block is None:
                self.open = False
                return
            crew.begin(block)
            # Count last: a block that Ctrl-C stopped before `begin` must not be waited for
            self._begun += block.span
            self._begun_bytes += block.size

    @property
    def under_way(self) -> bool:
        """Whether some block is begun and neither finished nor dropped."""
        return self._begun > self._rows.ended


def run(crew: Crew[Out], blocks: Iterator[Block]) -> Generator[Out, None, None]:
    """The results of every block; `blocks` is read as the crew and the caller can take them.

    Ctrl-C, or an error of the input, stops the reading. Units that are being judged are still finished and handed on,
    because their verdicts may have been paid for. A second Ctrl-C stops those, too: they fail, as far as there are
    finished ones behind them.
    """
    feed = _Feed(crew, blocks)
    try:
        try:
            yield from _hand_on(feed, crew.rows)
        except KeyboardInterrupt:
            feed.open = False
            crew.drop()
            if feed.under_way:
                _log.warning("interrupted: what is under way is finished; a second interrupt ends it")
            try:
                yield from _hand_on(feed, crew.rows)
            except KeyboardInterrupt:
                # What is finished behind a row that is not has been paid for
                crew.give_up()
                yield from crew.rows.ready
                raise
            raise
        if feed.error is not None:
            raise feed.error
    finally:
        crew.close()


def _hand_on(feed: _Feed[Out], rows: Rows[Out]) -> Iterator[Out]:
    ready = rows.ready
    while feed.open or feed.under_way or ready:
        # Clear before looking: a block that finishes while we look sets the event again
        rows.news.clear()
        while ready:
            # Ctrl-C is raised after calls, so there is none between taking a row out and yielding it: no row is lost
            row = ready[0]
            del ready[0]
            yield row
        feed.fill()
        if rows.error is not None:
            raise rows.error
        if feed.under_way and not ready:
            rows.news.wait()
