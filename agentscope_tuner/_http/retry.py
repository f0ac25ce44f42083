"""When a request is sent again, and how fast requests follow one another. Every client of the package shares this.

Retries end with the call's deadline. A fixed number of tries would give up a busy endpoint long before the caller's
time is over. So an endpoint that answers 429 with Retry-After is asked until it answers, or until the deadline.
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
# Seconds: the longest pause that a header may ask for
_LONGEST_RETRY_AFTER = 86_400.0
# Seconds: one refusal delays all requests to an endpoint for no longer; then one request tries again
_LONGEST_CLOSING = 60.0

_most_tries_in_tests: int | None = None


def backoff(attempt: int, first: float = FIRST_PAUSE) -> float:
    """Seconds between try `attempt` (from 1) and the next: `first`, doubled with each try, 10 at most."""
    # the exponent is bounded too: 2.0**1024 is an OverflowError
    return min(_LONGEST_PAUSE, first * 2.0 ** min(attempt - 1, 64))


def retry_after(headers: Mapping[str, str]) -> float:
    """The seconds, 0 to a day, that `retry-after-ms` or `retry-after` (RFC 9110, 10.2.3) asks for; 0.0 without them.

    Args:
        headers: the answer's headers; looked up in lower case.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit if value[:1].isdigit() else _seconds_until(value)
        except (ValueError, OverflowError, OSError):
            # Neither a number nor a date. A date with an offset of 10^12 hours parses, but has no value
            continue
        return min(max(0.0, seconds), _LONGEST_RETRY_AFTER)
    return 0.0


def _seconds_until(date: str) -> float:
    return parsedate_to_datetime(date).timestamp() - time.time()


class Retries:
    """The tries of one call.

    Args:
        first: seconds before the second try; see `backoff`.
        most: tries in all; None for as many as fit before the deadline.

    Attributes:
        tried: how many tries have failed so far.
        exhausted: whether no try is left, however much time is left.
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
            Seconds to wait before the next try; None when no try or no time is left.
        """
        self.tried += 1
        bounds = [most for most in (self._most, _most_tries_in_tests) if most is not None]
        self.exhausted = bool(bounds) and self.tried >= min(bounds)
        if self.exhausted:
            return None
        # Jitter: a thousand calls that failed together must not be sent again together
        seconds = backoff(self.tried, self._first) * random.uniform(0.5, 1.0)
        if asked:
            # The endpoint knows the best pause. But a pause of 1 ms would mean a thousand requests a second
            seconds = max(asked, self._first)
        if seconds >= remaining:
            return None
        return seconds if _most_tries_in_tests is None else 0.0


class Pace:
    """How long an endpoint wants no requests: shared by all threads and event loops of a process."""

    def __init__(self) -> None:
        self._closed_until = 0.0

    def close(self, seconds: float) -> None:
        """Send no request for so many seconds; a minute at most."""
        self._closed_until = max(self._closed_until, time.monotonic() + min(seconds, _LONGEST_CLOSING))

    def closed_for(self) -> float:
        """Seconds until requests may be sent; 0.0 when they may be sent now."""
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
    decrease, by which TCP's senders share a line of unknown capacity (Chiu and Jain 1989). When several requests are
    under way and all are refused, only the first refusal halves the number. The call with the nearest deadline gets the
    next turn.

    Args:
        most: the most requests under way at once.
        pace: the endpoint's Pace.
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
        """A context for one request, entered before it is sent and left when its answer is read.

        Args:
            deadline: the call's deadline, by the loop's clock. The caller itself must bound the waiting.
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
                # The call was cancelled when it had just got a turn: give the turn to the next call
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
        """The endpoint was too busy. `asked` are the seconds of its Retry-After; 0.0 without this header."""
        self._turns.refused(self._sent_at, asked or FIRST_PAUSE)

    def answered(self) -> None:
        """The endpoint answered, perhaps with an error other than "too busy"."""
        self._turns.answered()


@contextmanager
def without_waits(tries: int) -> Iterator[None]:
    """For tests: inside this context every pause of this process is zero, and a call is tried `tries` times at most."""
    global _most_tries_in_tests
    before, _most_tries_in_tests = _most_tries_in_tests, tries
    try:
        yield
    finally:
        _most_tries_in_tests = before
