"""Which requests are judged: the service's limits, its slots and queue, and the refusal of what is beyond them."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from agentscope_tuner.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The limits of the service, and the token that requests need.

    Attributes:
        token_file: the file with the bearer token; None requires no token.
        max_body_bytes: the most bytes of one request's body.
        max_rows: the most rows of one batch.
        max_answer_chars: the most characters of one row's final answer.
        concurrency: requests judged at once; further requests wait.
        queue: the most requests that wait; further requests are refused with 429.
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
        if self.queue < 0:
            raise ConfigError(f"queue must be at least 0, got {self.queue!r}")


class Refusal(Exception):
    """A request that is answered with an HTTP error status.

    Args:
        status: the HTTP status code.
        detail: what is wrong and the way out; may quote the request back to its sender.
        retry_after: seconds after which the same request may do better; None where it never will.
    """

    def __init__(self, status: int, detail: str, *, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry_after = retry_after
        # The rest of the request's body is still coming, so the connection cannot be used again
        self.close = False

    def headers(self) -> dict[str, str]:
        """The headers of the response."""
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
# Seconds: a client that waits longer misses the service's better times
_LONGEST_RETRY = 60


class Gate:
    """Slots for judging, a bounded queue before them, and the drain at the end. All of it runs in one event loop.

    A request takes a place only once its body is whole, so clients that never finish theirs lock nobody out.

    Args:
        concurrency: requests judged at once.
        queue: requests that wait for a slot.
        max_body_bytes: the most bytes of one body; all bodies together may have 16 times as many.
        clock: seconds that only grow.

    Attributes:
        running: requests that hold a slot.
        waiting: requests that wait for a slot.
        draining: whether new requests are refused.
    """

    def __init__(
        self, concurrency: int, queue: int, max_body_bytes: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._concurrency = concurrency
        self._slots = asyncio.Semaphore(concurrency)
        self._queue = queue
        self._max_body_bytes = max_body_bytes
        self._clock = clock
        self._mean_seconds: float | None = None
        self._inside = 0
        self._bytes = 0
        self.running = 0
        self.waiting = 0
        self.draining = False
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def full(self) -> bool:
        """Whether a request would be refused now, if it were as long as is allowed."""
        return self._no_place or not self._has_room(self._max_body_bytes)

    @property
    def _no_place(self) -> bool:
        return self._slots.locked() and self.waiting >= self._queue

    def _has_room(self, count: int) -> bool:
        return self._bytes + count <= _BODIES * self._max_body_bytes

    @contextmanager
    def entered(self) -> Iterator[Callable[[int], None]]:
        """A context around a whole request: a drain waits for its end. It gives a function to count its bytes with.

        Raises:
            Refusal: 503 while draining; 429 when the queue is full, or too many bytes of all bodies are held.
        """
        if self.draining:
            raise Refusal(503, "the service is shutting down", retry_after=1)
        if self._no_place:
            raise self._refusal()
        held = 0

        def hold(count: int) -> None:
            nonlocal held
            if not self._has_room(count):
                raise self._refusal()
            self._bytes += count
            held += count

        self._inside += 1
        self._empty.clear()
        try:
            yield hold
        finally:
            self._bytes -= held
            self._inside -= 1
            if not self._inside:
                self._empty.set()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """A context around the judging; waits for a slot.

        Raises:
            Refusal: 429, the queue is full.
        """
        if self._no_place:
            raise self._refusal()
        self.waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self.waiting -= 1
        self.running += 1
        started = self._clock()
        try:
            yield
        finally:
            took = self._clock() - started
            mean = took if self._mean_seconds is None else self._mean_seconds
            self._mean_seconds = mean + _WEIGHT * (took - mean)
            self.running -= 1
            self._slots.release()

    async def drained(self) -> None:
        """Waits until all requests that entered have ended."""
        await self._empty.wait()

    def _refusal(self) -> Refusal:
        # When the requests that wait now will have been judged, if they take as long as the latest did
        seconds = (self._mean_seconds or 0.0) * (self.waiting + 1) / self._concurrency
        return Refusal(
            429,
            f"the service is full: {self.running} judged, {self.waiting} wait",
            retry_after=min(max(1, math.ceil(seconds)), _LONGEST_RETRY),
        )
