"""The limits of an endpoint: requests at once, and requests and tokens per minute."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_WINDOW_SECONDS = 60.0


class RateLimit:
    """At most `per_minute` units in any 60 seconds.

    Providers count over a sliding window, so this class does, too. A single amount above `per_minute` could never fit:
    it waits for an empty window, and then passes.
    """

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
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
                if not self._taken or self._sum + amount <= self._per_minute:
                    break
                await asyncio.sleep(self._taken[0][0] + _WINDOW_SECONDS - now)
            self.add(amount)

    def add(self, amount: int) -> None:
        """Count `amount` without waiting: the real amount less the expected one, which may be negative."""
        self._taken.append((asyncio.get_running_loop().time(), amount))
        self._sum += amount


class Limits:
    """The concurrency, requests-per-minute and tokens-per-minute limits of one endpoint and model, together."""

    def __init__(self, concurrency: int, requests_per_minute: int | None, tokens_per_minute: int | None) -> None:
        self._slots = asyncio.Semaphore(concurrency)
        self._requests = RateLimit(requests_per_minute) if requests_per_minute else None
        self._tokens = RateLimit(tokens_per_minute) if tokens_per_minute else None

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Holds a slot for a whole verdict, so that its later tries do not wait behind verdicts not yet begun."""
        async with self._slots:
            yield

    async def take(self, tokens: int) -> None:
        """Wait until one more request may be sent, which is expected to use `tokens` tokens."""
        if self._requests is not None:
            await self._requests.take()
        if self._tokens is not None:
            await self._tokens.take(tokens)

    def spent(self, expected: int, actual: int) -> None:
        """Correct the count of a request that was expected to use `expected` tokens, and used `actual`."""
        if self._tokens is not None:
            self._tokens.add(actual - expected)
