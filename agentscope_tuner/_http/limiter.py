"""When a request may be sent: how many at once and in a minute, and fewer while the endpoint is too busy."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from agentscope_tuner._http.retries import FIRST_PAUSE, TEST_MODE
from agentscope_tuner._run.forks import own_lock

# Seconds: one refusal delays all requests to an endpoint for no longer; then one request tries again
_LONGEST_CLOSING = 60.0
_WINDOW_SECONDS = 60.0


class Pace:
    """Until when an endpoint wants no requests. Shared by all threads and event loops of a process."""

    def __init__(self) -> None:
        self._closed_until = 0.0

    def close(self, seconds: float) -> None:
        """Send no request for so many seconds; a minute at most."""
        self._closed_until = max(self._closed_until, time.monotonic() + min(seconds, _LONGEST_CLOSING))

    def closed_for(self) -> float:
        """Seconds until requests may be sent; 0.0 when they may be sent now."""
        if not self._closed_until or TEST_MODE.most_tries is not None:
            return 0.0
        return max(0.0, self._closed_until - time.monotonic())


_lock = own_lock()
_paces: weakref.WeakValueDictionary[str, Pace] = weakref.WeakValueDictionary()


def pace_of(endpoint: str) -> Pace:
    """The process's one Pace of `endpoint`, a URL: judges that ask the same endpoint slow down together."""
    with _lock:
        if (pace := _paces.get(endpoint)) is None:
            pace = _paces[endpoint] = Pace()
        return pace


class PerMinute:
    """At most `most` units in any 60 seconds.

    Providers count over a sliding window, so this class does, too. A single amount above `most` could never fit: it
    waits for an empty window, and then passes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: deque[tuple[float, int]] = deque()
        self._sum = 0
        self._turn = asyncio.Lock()  # a large amount keeps its turn before later small ones

    async def take(self, amount: int = 1) -> None:
        """Wait until `amount` fits, then take it."""
        loop = asyncio.get_running_loop()
        async with self._turn:
            while True:
                now = loop.time()
                while self._taken and now - self._taken[0][0] >= _WINDOW_SECONDS:
                    self._sum -= self._taken.popleft()[1]
                if not self._taken or self._sum + amount <= self._most:
                    break
                await asyncio.sleep(self._taken[0][0] + _WINDOW_SECONDS - now)
            self.add(amount)

    def add(self, amount: int) -> None:
        """Count `amount` without waiting: the real amount less the expected one, which may be negative."""
        self._taken.append((asyncio.get_running_loop().time(), amount))
        self._sum += amount


@dataclass(slots=True, eq=False)
class Place:
    """A slot at an endpoint for a call of several tries. The call holds it from its first turn until `Limiter.leave`.

    A limiter gives no more slots than it lets requests be under way at once. Otherwise all calls of a large batch would
    begin while an endpoint is down, and their deadlines would pass together.

    Args:
        paused: called when the call is next and only the endpoint's pause keeps it waiting: from then on its time runs.
            Without it each call of a queue could wait for a pause of its own.
    """

    paused: Callable[[], None] | None = None
    is_held: bool = False


class Limiter:
    """How many requests one event loop has under way at an endpoint, fewer while the endpoint says it is too busy.

    A refusal halves the number, an answer adds a fraction of one request: additive increase and multiplicative
    decrease, by which TCP's senders share a line of unknown capacity (Chiu and Jain 1989). When several requests are
    under way and all are refused, only the first refusal halves the number. The call with the nearest deadline gets the
    next turn, and a call that has its place gets it before one that has not.

    Args:
        most: the most requests under way at once.
        pace: the endpoint's Pace.
        requests_per_minute: the most requests in any minute; None for no limit.
        tokens_per_minute: the most tokens of prompts and replies in any minute; None for no limit.

    Attributes:
        tokens: the count of the last minute's tokens, by what each request is expected to use; the caller corrects it
            with `add` after the reply. None for no limit.
    """

    def __init__(
        self, most: int, pace: Pace, requests_per_minute: int | None = None, tokens_per_minute: int | None = None
    ) -> None:
        self._most = most
        self._pace = pace
        self._requests = PerMinute(requests_per_minute) if requests_per_minute else None
        self.tokens = PerMinute(tokens_per_minute) if tokens_per_minute else None
        self._window = float(most)
        self._lowered_at = 0.0
        self._running = self._held = 0
        # Calls that need a place come last: before a call that waits only for a turn, they would keep both waiting
        self._waiting: list[tuple[bool, float, int, Place | None, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None

    async def turn(self, deadline: float = math.inf, place: Place | None = None, tokens: int = 0) -> float:
        """Wait for a request's turn, which the caller must `end`.

        Args:
            deadline: of the call, by the loop's clock. The caller itself must bound the waiting. Without a deadline
                the request comes after all requests that have one.
            place: the place of a call of several tries. Its first turn takes it, and the caller must `leave` it.
            tokens: how many tokens the request is expected to use.

        Returns:
            The time at which the turn began, for `refused`.
        """
        if self._waiting or not self._may_start(place) or self._pace.closed_for():
            await self._wait(deadline, place)
        else:
            self._start(place)
        try:
            # Not before its turn: else a minute's requests could be sent in the next minute
            if self._requests is not None:
                await self._requests.take()
            if self.tokens is not None:
                await self.tokens.take(tokens)
        # Also on cancellation: the turn goes to the next request
        except BaseException:
            self.end()
            raise
        return time.monotonic()

    def refused(self, sent_at: float, asked: float) -> None:
        """The endpoint was too busy for the request of a turn.

        Args:
            sent_at: when its turn began.
            asked: the seconds of its Retry-After; 0.0 without this header.
        """
        self._pace.close(asked or FIRST_PAUSE)
        if sent_at >= self._lowered_at:
            self._window = max(1.0, min(self._window, float(self._running)) / 2)
            self._lowered_at = time.monotonic()

    def answered(self) -> None:
        """The endpoint answered, perhaps with an error other than "too busy"."""
        if self._window < self._most:
            self._window = min(float(self._most), self._window + 1 / self._window)

    def end(self) -> None:
        """A turn's request has ended in any way; the next may be sent."""
        self._running -= 1
        if self._waiting:
            self._start_next()

    def leave(self, place: Place) -> None:
        """The call of `place` has ended in any way."""
        if place.is_held:
            place.is_held = False
            self._held -= 1
            if self._waiting:
                self._start_next()

    async def _wait(self, deadline: float, place: Place | None) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        needs_place = place is not None and not place.is_held
        heapq.heappush(self._waiting, (needs_place, deadline, next(self._order), place, turn))
        self._start_next()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # The call was cancelled when it had just got a turn: give the turn to the next call
                self.end()
            else:
                self._start_next()
            raise

    def _may_start(self, place: Place | None) -> bool:
        if place is not None and not place.is_held and self._held >= self._most:
            return False
        return self._running < max(1, int(self._window))

    def _start(self, place: Place | None) -> None:
        self._running += 1
        if place is not None and not place.is_held:
            place.is_held = True
            self._held += 1

    def _start_next(self) -> None:
        while self._waiting:
            *_, place, turn = self._waiting[0]
            if not turn.done():
                if not self._may_start(place):
                    return
                if seconds := self._pace.closed_for():
                    if self._timer is None:
                        self._timer = asyncio.get_running_loop().call_later(seconds, self._reopen)
                    self._pause_next()
                    return
                self._start(place)
                turn.set_result(None)
            heapq.heappop(self._waiting)

    def _pause_next(self) -> None:
        """Call `paused` of each call that would have a turn now, if the endpoint's pause did not keep it waiting."""
        free = max(1, int(self._window)) - self._running
        for *_, place, turn in heapq.nsmallest(free, self._waiting):
            if place is not None and place.paused is not None and not turn.done():
                place.paused()
                place.paused = None

    def _reopen(self) -> None:
        self._timer = None
        self._start_next()
