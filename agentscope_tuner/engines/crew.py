"""The interface of crews, which judge many units at once, and the loop that feeds a crew and passes its results on."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from typing import Generic

from agentscope_tuner.engines.units import In, Out, Rows, Unit, Work

_log = logging.getLogger(__name__)

_MOST_BYTES = 64 * 2**20


class Crew(ABC, Generic[In, Out]):
    """Judges units outside the caller's thread.

    Args:
        work: judges a unit.
        rows: where finished rows go.
        ahead: the largest span of units that are begun and not yet passed on; it bounds the memory.
    """

    def __init__(self, work: Work[In, Out], rows: Rows[Out], ahead: int) -> None:
        self.work = work
        self.rows = rows
        self.ahead = ahead

    @abstractmethod
    def begin(self, unit: Unit[In, Out]) -> None:
        """Take a unit. A unit that already has results is not judged: its results are handed on."""

    @abstractmethod
    def drop(self) -> None:
        """Begin no more units: those that are waiting are dropped, those being judged are finished."""

    @abstractmethod
    def close(self) -> None:
        """End every thread and process of the crew, without waiting for verdicts."""


class _Feed(Generic[In, Out]):
    """Reads the input: takes a unit only when the crew has room for it and the caller keeps up with the results.

    Attributes:
        open: whether the input may hold more units.
        error: the exception that reading the input raised.
    """

    def __init__(self, crew: Crew[In, Out], units: Iterator[Unit[In, Out]]) -> None:
        self.open = True
        self.error: Exception | None = None
        self._crew, self._units, self._rows = crew, units, crew.rows
        self._begun = self._begun_bytes = 0

    def fill(self) -> None:
        """Begin as many units as there is room for."""
        rows, crew = self._rows, self._crew
        while (
            self.open
            and self._begun - rows.released < crew.ahead
            and self._begun_bytes - rows.released_bytes < _MOST_BYTES
        ):
            try:
                unit = next(self._units, None)
            # boundary: an error of the input is raised after the rows that were read before it are handed on
            except Exception as exc:  # noqa: BLE001
                unit, self.error = None, exc
            if unit is None:
                self.open = False
                return
            crew.begin(unit)
            # Count last: a unit that Ctrl-C stopped before `begin` must not be waited for
            self._begun += unit.span
            self._begun_bytes += unit.size

    @property
    def under_way(self) -> bool:
        """Whether some unit is begun and neither finished nor dropped."""
        return self._begun > self._rows.ended


def run(crew: Crew[In, Out], units: Iterator[Unit[In, Out]]) -> Generator[tuple[int, Out], None, None]:
    """`(place in the input, result)` for every row; `units` is read as the crew and the caller can take them.

    Ctrl-C, or an error of the input, stops the reading. Units that are being judged are still finished and handed on,
    because their verdicts may have been paid for. A second Ctrl-C stops those, too.
    """
    feed = _Feed(crew, units)
    try:
        try:
            yield from _hand_on(feed, crew.rows)
        except KeyboardInterrupt:
            feed.open = False
            crew.drop()
            if feed.under_way:
                _log.warning("interrupted: what is under way is finished; a second interrupt ends it")
            yield from _hand_on(feed, crew.rows)
            raise
        if feed.error is not None:
            raise feed.error
    finally:
        crew.close()


def _hand_on(feed: _Feed[In, Out], rows: Rows[Out]) -> Iterator[tuple[int, Out]]:
    ready = rows.ready
    while feed.open or feed.under_way or ready:
        # Clear before looking: a unit that finishes while we look sets the event again
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
