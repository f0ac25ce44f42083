"""A time limit for the verdicts of judges that set no limit themselves.

An async judge is cancelled. A sync judge works in a thread, which cannot be ended: it is counted, and no longer waited
for. Too many such threads would use up the process, so from some number on the judge is asked no more.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from agentscope_tuner import _loop, _threads
from agentscope_tuner.errors import DeadlineError

T = TypeVar("T")
_log = logging.getLogger(__name__)

# Seconds for a cancelled judge to end, and then for its event loop to show that it is not blocked
_GRACE_SECONDS = 0.25
# Verdicts that began together hang together. When the first one's time ends, those whose time ends within this share of
# the limit count as hanging, too
_NEARLY = 0.1
_THREAD = "its thread cannot be ended, and is left behind"

_Outcome = tuple[Any, BaseException | None]


class TimeLimit:
    """Asks one judge, for `seconds` at most.

    Args:
        judge: its name, for messages.
        seconds: for one verdict, or for the one call that ranks a group.
        max_abandoned: how many abandoned verdicts may hang before the judge is asked no more.
    """

    def __init__(self, judge: str, seconds: float, max_abandoned: int) -> None:
        self._judge = judge
        self._seconds = seconds
        self._max_abandoned = max_abandoned
        self._forget()

    def __reduce__(self) -> tuple[Any, ...]:
        # In another process no verdict hangs yet
        return TimeLimit, (self._judge, self._seconds, self._max_abandoned)

    def _forget(self) -> None:
        self._pid = os.getpid()
        # Verdicts that cannot be ended, and when their time is over, by time.monotonic
        self._left: dict[object, float] = {}
        self._slots: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            weakref.WeakKeyDictionary()
        )

    def call(self, task_id: str, function: Callable[..., T], *args: Any) -> T:
        """`function(*args)` for a caller that does not await.

        Raises:
            DeadlineError: the call took too long, or too many others hang.
        """
        future = self._start(self._seconds, function, *args)
        try:
            return future.result(self._seconds)
        except TimeoutError:
            if future.done():
                return future.result()  # the judge's own error, or it ended in the same moment
            self._tell(task_id, _THREAD)
            raise self._error() from None

    async def acall(self, task_id: str, function: Callable[..., T], *args: Any) -> T:
        """The same for callers inside an event loop, which goes on meanwhile.

        Raises:
            DeadlineError: as for `call`.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + self._seconds
        slot = _Slot(self._slots.setdefault(loop, asyncio.Semaphore(_loop.threads_at_once())))
        try:
            async with asyncio.timeout_at(end):
                await slot.acquire()
        except TimeoutError:
            raise self._error() from None
        try:
            future = self._start(end - loop.time(), function, *args)
        # No thread was started, so no thread will free the slot
        except BaseException:
            slot.release()
            raise
        answer = asyncio.wrap_future(future)
        try:
            await asyncio.wait({answer}, timeout=end - loop.time())
        except asyncio.CancelledError:
            # The thread works on: its slot is free when the thread ends, or counts as hanging
            future.add_done_callback(lambda _: _call_soon(loop, slot.release))
            loop.call_at(end, slot.release)
            answer.cancel()
            raise
        slot.release()
        if answer.done():
            return answer.result()
        answer.cancel()
        self._tell(task_id, _THREAD)
        raise self._error()

    async def awaited(
        self, task_id: str, function: Callable[..., Awaitable[T]], *args: Any, on_this_loop: bool = False
    ) -> T:
        """`await function(*args)`; it is cancelled when its time is over.

        Args:
            on_this_loop: run it on the caller's loop, where its connections live; else on the judges' own loop, where a
                judge that blocks, or ignores its cancellation, delays only other foreign judges.

        Raises:
            DeadlineError: as for `call`.
        """
        self._check(0.0)
        home = asyncio.get_running_loop()
        outcome: asyncio.Future[_Outcome] = home.create_future()
        work = _perform(partial(function, *args), outcome, home)
        away = None if on_this_loop or home is _loop.judges_loop() else _loop.judges_loop()
        running: asyncio.Task[None] | Future[None]
        running = asyncio.run_coroutine_threadsafe(work, away) if away else home.create_task(work)
        try:
            await asyncio.wait({outcome}, timeout=self._seconds)
            if not outcome.done():
                running.cancel()
                await asyncio.wait({outcome}, timeout=_GRACE_SECONDS)
                if not outcome.done():
                    await self._leave_behind(task_id, outcome, away)
                raise self._error()
        except asyncio.CancelledError:
            running.cancel()
            raise
        result, error = outcome.result()
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    async def _leave_behind(
        self, task_id: str, outcome: asyncio.Future[_Outcome], away: asyncio.AbstractEventLoop | None
    ) -> None:
        self._left[outcome] = time.monotonic()
        outcome.add_done_callback(self._end)
        if away is not None and await _is_blocked(away):
            _loop.replace_judges_loop(away)
            self._tell(task_id, "it blocks its event loop, which is left behind: await what takes long")
        else:
            self._tell(task_id, "it did not end when it was cancelled, and is left behind")

    def _start(self, seconds: float, function: Callable[..., T], *args: Any) -> Future[T]:
        self._check(self._seconds * _NEARLY)
        future = _threads.start(function, *args)
        # Count the verdict from its start: its caller may give up before it ends
        self._left[future] = time.monotonic() + seconds
        future.add_done_callback(self._end)
        return future

    def _check(self, soon: float) -> None:
        """Refuses to ask the judge while too many verdicts hang, or do so within `soon` seconds."""
        if self._left and self._hanging(soon) >= self._max_abandoned:
            raise DeadlineError(
                f"{self._max_abandoned} earlier verdicts or more hang beyond the deadline of {self._seconds:g} s, "
                "and max_abandoned allows no more: the judge is not asked until some of them end"
            )

    def _hanging(self, soon: float = 0.0) -> int:
        if self._pid != os.getpid():
            self._forget()
        latest = time.monotonic() + soon
        return sum(end <= latest for end in list(self._left.values()))

    def _end(self, call: object) -> None:
        self._left.pop(call, None)

    def _tell(self, task_id: str, why: str) -> None:
        _log.warning(
            "%s, task %r: no verdict within %g s: %s (%d of at most %d)",
            self._judge,
            task_id,
            self._seconds,
            why,
            self._hanging(),
            self._max_abandoned,
        )

    def _error(self) -> DeadlineError:
        return DeadlineError(f"no verdict within {self._seconds:g} s, the deadline for a verdict")


class _Slot:
    """One slot of a semaphore, which is released only once."""

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots = slots
        self._held = False

    async def acquire(self) -> None:
        await self._slots.acquire()
        self._held = True

    def release(self) -> None:
        if self._held:
            self._held = False
            self._slots.release()


async def _perform(
    function: Callable[[], Awaitable[Any]], outcome: asyncio.Future[_Outcome], home: asyncio.AbstractEventLoop
) -> None:
    """Pass the judge's result, or its exception, to the loop of its caller."""
    try:
        told: _Outcome = (await function(), None)
    # boundary: SystemExit and KeyboardInterrupt would end the loop; the caller decides what each of them means
    except BaseException as exc:  # noqa: BLE001
        told = (None, exc)
    if asyncio.get_running_loop() is home:
        _bring(outcome, told)
    else:
        _call_soon(home, _bring, outcome, told)


def _call_soon(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *args: Any) -> None:
    # The loop was closed, so no caller waits there
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function, *args)


def _bring(outcome: asyncio.Future[_Outcome], told: _Outcome) -> None:
    if not outcome.done():
        outcome.set_result(told)


async def _is_blocked(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether `loop` runs nothing for a while."""
    home = asyncio.get_running_loop()
    answer: asyncio.Future[_Outcome] = home.create_future()
    loop.call_soon_threadsafe(home.call_soon_threadsafe, _bring, answer, (None, None))
    await asyncio.wait({answer}, timeout=_GRACE_SECONDS)
    return not answer.done()
