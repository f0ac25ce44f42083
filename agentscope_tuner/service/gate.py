"""How many requests are admitted at once: slots for judging, a bounded queue before them, and the drain at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from agentscope_tuner.service.refusal import Refusal

_RETRY_SECONDS = 1
# Bytes of bodies held at once, as a multiple of the longest allowed body
_BODIES = 16


class Gate:
    """Admits requests. All of it runs in one event loop.

    Args:
        concurrency: requests judged at once.
        queue: requests that wait for a slot.
        max_body_bytes: the most bytes of one body; all bodies together may have a few times as many.

    Attributes:
        running: requests that hold a slot.
        waiting: requests that wait for a slot.
        draining: whether new requests are refused.
    """

    def __init__(self, concurrency: int, queue: int, max_body_bytes: int) -> None:
        self._slots = asyncio.Semaphore(concurrency)
        self._queue = queue
        self._most = concurrency + queue
        self._most_bytes = _BODIES * max_body_bytes
        self._inside = 0
        self._bytes = 0
        self.running = 0
        self.waiting = 0
        self.draining = False
        self._empty = asyncio.Event()
        self._empty.set()

    @contextmanager
    def admitted(self) -> Iterator[Held]:
        """A context around a whole request, entered before its body is read.

        Raises:
            Refusal: 503 while draining, 429 when the queue is full.
        """
        if self.draining:
            raise Refusal(503, "the service is shutting down", retry_after=_RETRY_SECONDS)
        if self._inside >= self._most or (self._slots.locked() and self.waiting >= self._queue):
            raise self._full()
        self._inside += 1
        self._empty.clear()
        held = Held(self)
        try:
            yield held
        finally:
            self._bytes -= held.count
            self._inside -= 1
            if not self._inside:
                self._empty.set()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """A context around the judging; waits for a slot.

        Raises:
            Refusal: 429, the queue is full.
        """
        if self._slots.locked():
            if self.waiting >= self._queue:
                raise self._full()
            self.waiting += 1
            try:
                await self._slots.acquire()
            finally:
                self.waiting -= 1
        else:
            await self._slots.acquire()
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._slots.release()

    def hold(self, count: int) -> None:
        """Count bytes of a body that is being read.

        Raises:
            Refusal: 429, too many bytes of other requests are held.
        """
        if self._bytes + count > self._most_bytes:
            raise self._full()
        self._bytes += count

    async def drained(self) -> None:
        """Waits until all admitted requests have ended."""
        await self._empty.wait()

    def _full(self) -> Refusal:
        return Refusal(
            429, f"the service is full: {self.running} judged, {self.waiting} wait", retry_after=_RETRY_SECONDS
        )


class Held:
    """The bytes that one request's body takes."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.count = 0

    def add(self, count: int) -> None:
        """Count `count` more bytes. Raises Refusal (429) when all requests together hold too many."""
        self._gate.hold(count)
        self.count += count
