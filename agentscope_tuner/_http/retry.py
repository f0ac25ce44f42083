"""When a request is sent again, and how fast requests follow one another: the same for every client of the package.

Retries end with the call's deadline. A count of tries would give a busy endpoint up long before the time that the
caller has: an endpoint that answers 429 with Retry-After is asked until it answers, or until the deadline.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
import threading
import time
import weakref
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from email.utils import parsedate_to_datetime

FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0
# nobody is asked to wait longer: also what a header may name at most
_LONGEST_RETRY_AFTER = 86_400.0
# one refusal holds all requests to an endpoint up for no longer than this: then one of them asks again
_LONGEST_CLOSING = 60.0

_most_tries_in_tests: int | None = None


def backoff(attempt: int, first: float = FIRST_PAUSE) -> float:
    """Seconds between try `attempt` (from 1) and the next: `first`, doubled with each try, 10 at most."""
    # the exponent is bounded too: 2.0**1024 is an OverflowError
    return min(_LONGEST_PAUSE, first * 2.0 ** min(attempt - 1, 64))


def retry_after(headers: Mapping[str, str]) -> float:
    """The seconds, 0 to a day, that `retry-after-ms` or `retry-after` (RFC 9110, 10.2.3) ask for; 0.0 without them.

    Args:
        headers: of the answer; looked up in lower case.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit if value[:1].isdigit() else _seconds_until(value)
        except (ValueError, OverflowError, OSError):
            # no number and no date; a date with an offset of 10^12 hours has a syntax and no meaning
            continue
        return min(max(0.0, seconds), _LONGEST_RETRY_AFTER)
    return 0.0


def _seconds_until(date: str) -> float:
    return parsedate_to_datetime(date).timestamp() - time.time()


class Retries:
    """The tries of one call.

    Args:
        first: seconds before the second try; see `backoff`.
        most: tries in all; None for as many as the deadline has time for.

    Attributes:
        tried: how many tries failed so far.
        exhausted: whether there is none left, however much time there is.
    """

    def __init__(self, first: float = FIRST_PAUSE, most: int | None = None) -> None:
        self._first = first
        self._most = most
        self.tried = 0
        self.exhausted = False

    def pause(self, remaining: float, asked: float = 0.0) -> float | None:
        """Counts a try that failed.

        Args:
            remaining: seconds until the call's deadline.
            asked: seconds that the endpoint's Retry-After asks for.

        Returns:
            Seconds to wait before the next try; None when there is none, for want of tries or of time.
        """
        self.tried += 1
        bounds = [most for most in (self._most, _most_tries_in_tests) if most is not None]
        self.exhausted = bool(bounds) and self.tried >= min(bounds)
        if self.exhausted:
            return None
        # jitter: a thousand calls that failed together must not come back together
        seconds = backoff(self.tried, self._first) * random.uniform(0.5, 1.0)
        if asked:
            # the endpoint knows better than the backoff, but 1 ms would be asked a thousand times a second
            seconds = max(asked, self._first)
        if seconds >= remaining:
            return None
        return seconds if _most_tries_in_tests is None else 0.0


class Pace:
    """Until when an endpoint asked not to be asked: shared by all of a process's threads and event loops."""

    def __init__(self) -> None:
        self._closed_until = 0.0

    def close(self, seconds: float) -> None:
        """Nobody asks for so many seconds; a minute at most."""
        self._closed_until = max(self._closed_until, time.monotonic() + min(seconds, _LONGEST_CLOSING))

    def closed_for(self) -> float:
        """Seconds until requests may be sent; 0.0 when they may now."""
        if _most_tries_in_tests is not None:
            return 0.0
        return max(0.0, self._closed_until - time.monotonic())


_lock = threading.Lock()
_paces: weakref.WeakValueDictionary[str, Pace] = weakref.WeakValueDictionary()


def pace_of(endpoint: str) -> Pace:
    """The process's one Pace of `endpoint`, a URL: judges that ask the same endpoint slow down together."""
    with _lock:
        pace = _paces.get(endpoint)
        if pace is None:
            pace = _paces[endpoint] = Pace()
        return pace


class Turns:
    """How many requests one event loop has under way at an endpoint, fewer while the endpoint says it is too busy.

    A refusal halves the number, an answer adds a fraction of one request: additive increase and multiplicative
    decrease, by which TCP's senders share a line they know nothing about (Chiu and Jain 1989). A second refusal of
    requests that were sent before the first one came back halves nothing. The next turn is that of the call whose
    deadline is nearest.

    Args:
        most: requests under way at once.
        pace: of the endpoint.
    """

    def __init__(self, most: int, pace: Pace) -> None:
        self._most = most
        self._pace = pace
        self._window = float(most)
        self._lowered_at = 0.0
        self._running = 0
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def turn(self, deadline: float) -> AsyncIterator[Turn]:
        """Around one request, from before it is sent until its answer is read.

        Args:
            deadline: of the call, in the loop's time; the waiting itself is the caller's to bound.
        """
        if self._waiting or not self._has_room() or self._pace.closed_for():
            await self._wait(deadline)
        else:
            self._running += 1
        try:
            yield Turn(self)
        finally:
            self._running -= 1
            self._start_next()

    def refused(self, sent_at: float, seconds: float) -> None:
        """See Turn.refused."""
        self._pace.close(seconds)
        if sent_at >= self._lowered_at:
            self._window = max(1.0, min(self._window, float(self._running)) / 2)
            self._lowered_at = time.monotonic()

    def answered(self) -> None:
        """See Turn.answered."""
        if self._window < self._most:
            self._window = min(float(self._most), self._window + 1 / self._window)

    async def _wait(self, deadline: float) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (deadline, next(self._order), turn))
        self._start_next()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # its turn had come when it was cancelled: the next call takes it
                self._running -= 1
                self._start_next()
            raise

    def _start_next(self) -> None:
        while self._waiting and self._has_room():
            if seconds := self._pace.closed_for():
                if self._timer is None:
                    self._timer = asyncio.get_running_loop().call_later(seconds, self._reopen)
                return
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                self._running += 1
                turn.set_result(None)

    def _has_room(self) -> bool:
        return self._running < max(1, int(self._window))

    def _reopen(self) -> None:
        self._timer = None
        self._start_next()


class Turn:
    """One request's turn; the caller reports to it how the request ended."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._sent_at = time.monotonic()

    def refused(self, asked: float) -> None:
        """The endpoint was too busy, and its Retry-After asks for `asked` seconds; 0.0 where it names none."""
        self._turns.refused(self._sent_at, asked or FIRST_PAUSE)

    def answered(self) -> None:
        """The endpoint answered, be it with an error of another kind."""
        self._turns.answered()


@contextmanager
def without_waits(tries: int) -> Iterator[None]:
    """For tests: within it every pause of this process is zero, and a call is tried `tries` times at most."""
    global _most_tries_in_tests
    before, _most_tries_in_tests = _most_tries_in_tests, tries
    try:
        yield
    finally:
        _most_tries_in_tests = before
