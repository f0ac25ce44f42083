"""Rows that are asked for one by one and sent together."""

from __future__ import annotations

import asyncio
import copy
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from agentscope_tuner.errors import DeadlineError

T = TypeVar("T")

_GRACE_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class _Row(Generic[T]):
    body: bytes
    asked_at: float
    result: asyncio.Future[T]


@dataclass(slots=True)
class _Line(Generic[T]):
    """What one event loop waits for."""

    rows: deque[_Row[T]] = field(default_factory=deque)
    senders: set[asyncio.Task[None]] = field(default_factory=set)


class Gathered(Generic[T]):
    """Sends what was asked for in the same turn of the loop together, and what comes while all senders are busy.

    A row never waits for others to come. Serves any number of event loops.

    Args:
        send: the results of some rows, one each, in order, given when the last of them is waited for no more, by the
            loop's clock; what it raises is raised to each of them.
        most_rows: of one sending.
        most_bytes: of one sending of more rows than one.
        senders: sendings under way at once, for each loop.
        patience: seconds from a row's asking to its result.
    """

    def __init__(
        self,
        send: Callable[[Sequence[bytes], float], Awaitable[Sequence[T]]],
        *,
        most_rows: int,
        most_bytes: int,
        senders: int,
        patience: float,
    ) -> None:
        self._send = send
        self._most_rows = most_rows
        self._most_bytes = most_bytes
        self._senders = senders
        self._patience = patience
        self._lines: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Line[T]] = weakref.WeakKeyDictionary()

    async def ask(self, row: bytes) -> T:
        """The result of `row`.

        Raises:
            DeadlineError: its time was over, before it was sent or after.
            Exception: that of its sending.
        """
        loop = asyncio.get_running_loop()
        line = self._lines.setdefault(loop, _Line())
        result: asyncio.Future[T] = loop.create_future()
        line.rows.append(_Row(row, loop.time(), result))
        if len(line.senders) < min(self._senders, len(line.rows)):
            sender = loop.create_task(self._empty(line))
            line.senders.add(sender)
        # the sending ends by then, too, and has more to say about why
        timer = loop.call_later(self._patience + _GRACE_SECONDS, self._expire, result, "no verdict")
        try:
            return await result
        finally:
            timer.cancel()

    def _expire(self, result: asyncio.Future[T], told: str) -> None:
        if not result.done():
            result.set_exception(
                DeadlineError(f"{told} within {self._patience:g} s: the requests before it took too long")
            )

    async def _empty(self, line: _Line[T]) -> None:
        # a task starts in the loop's next turn: by then all that this turn asks for is in the line
        try:
            while rows := self._next(line):
                await self._send_all(rows)
        finally:
            # here and not in a callback: until that ran, a row might count on a sender that is no more
            task = asyncio.current_task()
            assert task is not None
            line.senders.discard(task)

    async def _send_all(self, rows: Sequence[_Row[T]]) -> None:
        try:
            ends_at = max(row.asked_at for row in rows) + self._patience
            results = await self._send([row.body for row in rows], ends_at)
            for row, result in zip(rows, results, strict=True):
                if not row.result.done():
                    row.result.set_result(result)
        # the boundary between those who ask and what was sent for them: each gets the error, whatever it is
        except Exception as exc:  # noqa: BLE001
            for row in rows:
                if not row.result.done():
                    row.result.set_exception(copy.copy(exc))
        finally:
            # the loop is ending: nobody may wait for ever
            for row in rows:
                row.result.cancel()

    def _next(self, line: _Line[T]) -> list[_Row[T]]:
        now = asyncio.get_running_loop().time()
        rows: list[_Row[T]] = []
        size = 0
        while line.rows and len(rows) < self._most_rows:
            row = line.rows[0]
            if row.result.done():
                line.rows.popleft()  # nobody waits for it any more
                continue
            if now - row.asked_at > self._patience:
                self._expire(line.rows.popleft().result, "not sent")
                continue
            size += len(row.body)
            if rows and size > self._most_bytes:
                break
            rows.append(line.rows.popleft())
        return rows
