"""What all that judge many units at once have in common, and the loop that feeds them and hands on what they finish."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from typing import Generic

from agentscope_tuner.engines.units import In, Out, Rows, Unit, Work

_log = logging.getLogger(__name__)

_MOST_BYTES = 64 * 2**20


class Crew(ABC, Generic[In, Out]):
    """Judges units elsewhere than in the caller's thread.

    Args:
        work: what is done with a unit.
        rows: where finished rows go.
        ahead: units begun and not handed on, at most: more would only fill the memory.
    """

    def __init__(self, work: Work[In, Out], rows: Rows[Out], ahead: int) -> None:
        self.work = work
        self.rows = rows
        self.ahead = ahead

    @abstractmethod
    def begin(self, unit: Unit[In, Out]) -> None:
        """Take a unit; one that comes with results is finished with them."""

    @abstractmethod
    def drop(self) -> None:
        """Begin no more: what is not begun by now is dropped, what is under way is finished."""

    @abstractmethod
    def close(self) -> None:
        """End all that was started: nobody waits for a verdict any more."""


class _Feed(Generic[In, Out]):
    """The input's end of a run: takes units from it as the crew, and who takes the rows, can have them.

    Attributes:
        open: whether there may be more.
        error: what the input raised.
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
            # boundary: the input's own error is raised once what was read before it is handed on
            except Exception as exc:  # noqa: BLE001
                unit, self.error = None, exc
            if unit is None:
                self.open = False
                return
            crew.begin(unit)
            # counted last: Ctrl-C in between must not leave a unit that the run waits for in vain
            self._begun += 1
            self._begun_bytes += unit.size

    @property
    def under_way(self) -> bool:
        """Whether begun units are neither finished nor dropped."""
        return self._begun > self._rows.settled


def run(crew: Crew[In, Out], units: Iterator[Unit[In, Out]]) -> Generator[tuple[int, Out], None, None]:
    """`(place in the input, result)` for every row; `units` is read as the crew and the caller can take them.

    Ctrl-C ends the reading, and so does an error of the input; what is under way is finished and handed on, for it may
    have been paid for. A second Ctrl-C ends that too.
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
        # before looking: what is finished while we look rings again
        rows.news.clear()
        while ready:
            # no call from here to the yield: Ctrl-C strikes after calls, and a row that was taken out is handed on
            row = ready[0]
            del ready[0]
            yield row
        feed.fill()
        if rows.error is not None:
            raise rows.error
        if feed.under_way and not ready:
            rows.news.wait()
