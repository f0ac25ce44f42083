"""Admission: which requests the service judges now, which wait, and which it refuses.

`Gate` decides it, with a `Lane` for the requests of judges that compute, and one for those of all other judges.

`Probe` asks whether the endpoints that the judges depend on answer.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any

from agentscope_tuner._http import check_number
from agentscope_tuner.errors import ConfigError, DeadlineError
from agentscope_tuner.task_judge.contract.deadline import TimeLimit

if TYPE_CHECKING:
    from agentscope_tuner.task_judge.batch import ConfiguredJudge


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The limits of the service, and the token that requests need.

    Attributes:
        token_file: the file with the bearer token; None requires no token.
        max_body_bytes: the most bytes of one request's body.
        max_rows: the most rows of one batch.
        max_answer_chars: the most characters of one row's final answer.
        concurrency: requests judged at once, in each of two lanes; further requests wait.
        queue: the most requests that wait, in each lane; further requests are refused with 429.
        deadline_seconds: the most seconds from a request's last byte to its answer, even if the client allows more.
        log_answers: write each row's answer and verdict to the log.

    Raises:
        ConfigError: a limit that is not above 0.
    """

    token_file: str | None = None
    max_body_bytes: int = 16 * 2**20
    max_rows: int = 1024
    max_answer_chars: int = 1_000_000
    concurrency: int = 64
    queue: int = 256
    deadline_seconds: float = 300.0
    log_answers: bool = False

    def __post_init__(self) -> None:
        for name in ("max_body_bytes", "max_rows", "max_answer_chars", "concurrency", "deadline_seconds"):
            value = getattr(self, name)
            if not (value > 0 and math.isfinite(value)):
                raise ConfigError(f"{name} must be above 0, got {value!r}")
        check_number("queue", self.queue, or_zero=True)


class Refusal(Exception):
    """A request that is answered with an HTTP error status.

    Args:
        status: the HTTP status code.
        detail: what is wrong and what to do; may quote the request back to its sender.
        retry_after: seconds after which the same request may succeed; None if it never will.

    Attributes:
        close: whether the connection has to be closed after the answer.
    """

    def __init__(self, status: int, detail: str, *, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry_after = retry_after
        # The rest of the request's body is still coming, so the connection cannot be used again
        self.close = False

    def headers(self) -> dict[str, str]:
        """The headers of the response: `{"Retry-After": "1"}` for `retry_after=1`."""
        found = {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}
        if self.retry_after is not None:
            found["Retry-After"] = str(self.retry_after)
        if self.close:
            found["Connection"] = "close"
        return found


# Bytes of bodies held at once, as a multiple of the longest allowed body
_BODIES = 16
# How much the latest request moves the mean time that judging takes
_WEIGHT = 0.1
# Seconds: a client that waits longer may miss the time at which the service has room again
_LONGEST_RETRY = 60


# Seconds after which a request of a cheap judge counts as slow: such a judge waits for nothing but a worker
_CHEAP_SECONDS = 0.05


class _SlotsInTurn:
    """A semaphore with priorities: a free slot goes to the waiting request of the highest priority, oldest first."""

    def __init__(self, free: int) -> None:
        self.free = free
        self._numbers = count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    async def acquire(self, priority: int) -> None:
        if self.free:
            self.free -= 1
            return
        own = (-priority, next(self._numbers), asyncio.get_running_loop().create_future())
        heappush(self._waiting, own)
        try:
            await own[2]
        except asyncio.CancelledError:
            if not own[2].cancelled():
                # it got a slot just before it was cancelled: pass that on
                self.release()
            elif own in self._waiting:
                self._waiting.remove(own)
                heapify(self._waiting)
            raise

    def release(self) -> None:
        # remove requests that were cancelled just now
        while self._waiting and self._waiting[0][2].done():
            heappop(self._waiting)
        if self._waiting:
            heappop(self._waiting)[2].set_result(None)
        else:
            self.free += 1


class Lane:
    """Bounds how many requests are judged at once, and how many wait. All of it runs in one event loop.

    Args:
        slots: the most requests that are judged at once.
        queue: the most requests that wait for a slot.
        aside: the most requests that turned out to be slow and are judged on without a slot, so that cheap requests
            never wait for them; with 0, a request keeps its slot until it ends.
        clock: gives the time in seconds, such as `time.monotonic`.

    Attributes:
        running: how many requests are judged now.
        waiting: how many requests wait for a slot.
        aside: how many of `running` have given their slot back.
    """

    def __init__(self, slots: int, queue: int, aside: int, clock: Callable[[], float]) -> None:
        self._most = slots
        self._slots = _SlotsInTurn(slots)
        self._queue = queue
        self._most_aside = aside
        self._clock = clock
        self._mean_seconds = self._mean_aside = 0.0
        self.running = self.waiting = self.aside = 0

    @property
    def full(self) -> bool:
        """Whether a new request would be refused now: no slot is free, and the queue is full."""
        return not self._slots.free and self.waiting >= self._queue

    @asynccontextmanager
    async def slot(self, priority: int = 0) -> AsyncIterator[None]:
        """A context for judging one request: it waits for a slot, and holds it. Higher priorities come first.

        Raises:
            Refusal: 429, the queue is full; or the request is slow and too many slow ones are judged, then its judging
                is cancelled.
        """
        if self.full:
            raise self.refusal()
        self.waiting += 1
        try:
            await self._slots.acquire(priority)
        finally:
            self.waiting -= 1
        self.running += 1
        held = _Held(self._clock())
        try:
            async with asyncio.timeout(None) as limit:
                timer = None
                if self._most_aside:
                    timer = asyncio.get_running_loop().call_later(_CHEAP_SECONDS, self._step_aside, held, limit)
                try:
                    yield
                finally:
                    if timer is not None:
                        timer.cancel()
        except TimeoutError:
            if held.refused is None:
                raise
            raise held.refused from None
        finally:
            self.running -= 1
            self._leave(held)

    def _step_aside(self, held: _Held, limit: asyncio.Timeout) -> None:
        if self.aside >= self._most_aside:
            # the slow requests that are judged end one by one, and every refused one will ask again for a free place
            words = f"this request takes long, and the service is full of such: {self.aside} judged"
            held.refused = _full(words, self._mean_aside)
            limit.reschedule(asyncio.get_running_loop().time())
            return
        held.aside = True
        self.aside += 1
        self._slots.release()

    def _leave(self, held: _Held) -> None:
        took = self._clock() - held.since
        if held.aside:
            self.aside -= 1
            self._mean_aside = _moved(self._mean_aside, took)
            return
        self._slots.release()
        if held.refused is None:
            self._mean_seconds = _moved(self._mean_seconds, took)

    def refusal(self) -> Refusal:
        """The refusal of a request because the lane is full: status 429, and the seconds after which to ask again.

        By then, the requests that wait now will have been judged, if they take as long as the latest ones did.
        """
        seconds = self._mean_seconds * (self.waiting + 1) / self._most
        held = self.running - self.aside
        return _full(f"the service is full: {held} judged, {self.waiting} wait", seconds)


@dataclass(slots=True, eq=False)
class _Held:
    """A request that is being judged: the time at which it got its slot (`since`), whether it has given the slot back
    before its end (`aside`), and the refusal with which it is cancelled, if any.
    """

    since: float
    aside: bool = False
    refused: Refusal | None = None


def _moved(mean: float, latest: float) -> float:
    return mean + _WEIGHT * (latest - mean) if mean else latest


def _full(words: str, seconds: float) -> Refusal:
    return Refusal(429, words, retry_after=min(max(1, math.ceil(seconds)), _LONGEST_RETRY))


class Gate:
    """Bounds the requests of the whole service: two lanes, the bytes of all bodies, and the drain before its end.

    A request waits in its lane only once its body has come in full, so clients that never finish theirs keep nobody
    out. Judges that compute within a bounded time have a lane of their own, apart from judges that wait for others,
    such as judge models. Requests in it that turn out to be slow give their slots back. All of it runs in one event
    loop.

    Args:
        concurrency: the most requests that are judged at once, in each lane.
        queue: the most requests that wait for a slot, in each lane.
        max_body_bytes: the most bytes of one body; all bodies together may have 16 times as many.
        clock: gives the time in seconds, such as `time.monotonic`.

    Attributes:
        cheap: the lane of judges that compute.
        slow: the lane of all others.
        draining: whether new requests are refused because the service is ending.
        given_up: whether the requests that had not ended by then were cancelled; see `give_up`.
    """

    def __init__(
        self, concurrency: int, queue: int, max_body_bytes: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.cheap = Lane(concurrency, queue, concurrency + queue, clock)
        self.slow = Lane(concurrency, queue, 0, clock)
        self._max_body_bytes = max_body_bytes
        self._inside: set[asyncio.Task[Any]] = set()
        self._bytes = 0
        self.draining = self.given_up = False
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def running(self) -> int:
        """How many requests are being judged, in both lanes."""
        return self.cheap.running + self.slow.running

    @property
    def waiting(self) -> int:
        """How many requests wait for a slot, in both lanes."""
        return self.cheap.waiting + self.slow.waiting

    @property
    def full(self) -> bool:
        """Whether either lane would now refuse a request with the longest body that is allowed."""
        return self.cheap.full or self.slow.full or not self._has_room(self._max_body_bytes)

    def _has_room(self, count: int) -> bool:
        return self._bytes + count <= _BODIES * self._max_body_bytes

    @contextmanager
    def entered(self, lane: Lane) -> Iterator[Callable[[int], None]]:
        """A context for a whole request, from its first byte to its answer; a drain waits for its end.

        It gives a function that is called with the number of bytes of each piece of the body as it comes in.

        Raises:
            Refusal: 503 while draining; 429 when the lane's queue is full, or too many bytes of all bodies are held.
        """
        if self.draining:
            raise refused_at_end()
        if lane.full:
            raise lane.refusal()
        held = 0

        def hold(count: int) -> None:
            nonlocal held
            if not self._has_room(count):
                raise lane.refusal()
            self._bytes += count
            held += count

        task = asyncio.current_task()
        assert task is not None
        self._inside.add(task)
        self._empty.clear()
        try:
            yield hold
        finally:
            self._bytes -= held
            self._inside.discard(task)
            if not self._inside:
                self._empty.set()

    async def drained(self) -> None:
        """Wait until all requests that have entered (`entered`) have ended."""
        await self._empty.wait()

    def give_up(self) -> None:
        """Cancel all requests that have not ended, because the drain took too long. They are answered with 503."""
        self.given_up = True
        for task in self._inside:
            task.cancel()


def refused_at_end() -> Refusal:
    """The refusal of a request because the service is shutting down: status 503."""
    return Refusal(503, "the service is shutting down", retry_after=1)


_log = logging.getLogger(__name__)

_PROBE_SECONDS = 5.0
_FRESH_SECONDS = 2.0
# The most checks that may hang; then a judge is asked no more until one of them ends
_MOST_HANGING = 4


class Probe:
    """Checks for `/readyz` whether the judges could judge now: all judges at once, and once for several callers.

    Args:
        judges: the judges by name.
        seconds: a judge that has not answered after so many seconds is not ready.
    """

    def __init__(self, judges: Mapping[str, ConfiguredJudge], seconds: float = _PROBE_SECONDS) -> None:
        self._judges = judges
        self._seconds = seconds
        self._limits = {name: TimeLimit(judge.name, seconds, _MOST_HANGING) for name, judge in judges.items()}
        self._lock = asyncio.Lock()
        self._found: dict[str, str | None] = {}
        self._fresh_until = 0.0

    async def problems(self) -> dict[str, str | None]:
        """For each judge by name, why it is not ready; None if it is ready: `{"math": None}`. At most 2 s old."""
        async with self._lock:
            if time.monotonic() >= self._fresh_until:
                found = await asyncio.gather(*(self._problem(name, judge) for name, judge in self._judges.items()))
                self._found = dict(zip(self._judges, found, strict=True))
                self._fresh_until = time.monotonic() + _FRESH_SECONDS
        return self._found

    async def _problem(self, name: str, judge: ConfiguredJudge) -> str | None:
        try:
            await judge.aready(self._limits[name])
        except DeadlineError:
            return f"no answer within {self._seconds:g} s"
        except asyncio.CancelledError:
            if (current := asyncio.current_task()) is not None and current.cancelling():
                raise
            return "it cancelled itself"
        # the boundary to a user's judge: whatever it raises, it is not ready
        except BaseException as exc:  # noqa: BLE001
            _log.warning("judge %r is not ready: %s", name, exc)
            return f"{type(exc).__name__}: {exc}"
        return None
