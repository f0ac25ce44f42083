"""Event loops of tests, and the program's loop that stands behind each.

A test and its program would share one event loop. Here each has its own, so the program's takes a step whenever that
of the tests has a turn: while the tests wait for something of the program's, and while the program has work under way.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: What stands for an awaitable's end by cancellation.
CANCELLED = "cancelled"
# Seconds until the program's loop has a turn again that nobody waits for
_TURN_SECONDS = 0.002


def _running() -> Any:
    """The loop that runs in this thread, if any."""
    # slow to import, and few tests await
    asyncio = sys.modules.get("asyncio")
    return None if asyncio is None else asyncio._get_running_loop()


@contextmanager
def _as_running(loop: Any) -> Iterator[None]:
    import asyncio

    outer: Any = asyncio._get_running_loop()
    # from Python 3.14 on a thread has one current task, not one for each loop: no other loop's task would run
    task = None if outer is None else asyncio.current_task(outer)
    if task is not None:
        asyncio.tasks._leave_task(outer, task)
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(outer)
        if task is not None:
            asyncio.tasks._enter_task(outer, task)


class TestLoops:
    """The tests' side.

    Args:
        step: lets the program's loop take a step.
        end: ends the program's loop of that number.
    """

    __test__ = False

    def __init__(self, step: Callable[[], object], end: Callable[[int], object]) -> None:
        self._step, self._end = step, end
        self._numbers: dict[Any, int] = {}
        self._made = 0
        # by loop: how many of its tasks wait for the program, each of which lets it take steps
        self._waiting: Counter[Any] = Counter()
        self._has_turn: set[Any] = set()
        # what the program waits for, by the loop and its number
        self._tasks: dict[tuple[Any, int], Any] = {}

    def number(self) -> int | None:
        """The number of the loop that runs in this thread, if any."""
        if (loop := _running()) is None or loop in self._numbers:
            return self._numbers.get(loop)
        self._made += 1
        self._numbers[loop] = self._made
        close = loop.close

        def end() -> None:
            loop.close = close
            close()
            self._forget(loop)

        loop.close = end
        return self._made

    def _forget(self, loop: Any) -> None:
        number = self._numbers.pop(loop)
        # other threads have loops of their own
        for key in [key for key in [*self._tasks] if key[0] is loop]:
            del self._tasks[key]
        self._has_turn.discard(loop)
        self._end(number)

    def go_on(self) -> None:
        """Have the program's loop take steps beside this thread's, since it has work under way."""
        if (loop := _running()) is not None and loop not in self._has_turn:
            self._has_turn.add(loop)
            loop.call_later(_TURN_SECONDS, self._turn, loop)

    def _turn(self, loop: Any) -> None:
        self._has_turn.discard(loop)
        if self._waiting[loop]:
            self.go_on()
        else:
            self._step()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """A task of this thread's loop waits for the program."""
        loop = _running()
        self._waiting[loop] += 1
        try:
            yield
        finally:
            self._waiting[loop] -= 1
            if not self._waiting[loop]:
                del self._waiting[loop]

    def step(self, awaitable: Any, number: int, steps: bool) -> Any:
        """What comes of an awaitable of the tests, alone in a list, or `CANCELLED`; an empty list until it is done.

        Args:
            awaitable: what the program waits for.
            number: of its waiting.
            steps: whether the program's loop stands behind this thread's; if not, that waits until all is done.
        """
        import asyncio

        if (outer := _running()) is None or not steps:
            return [_finished(awaitable)]
        if (outer, number) not in self._tasks:
            self._tasks[outer, number] = asyncio.ensure_future(awaitable, loop=outer)
        task = self._tasks[outer, number]
        if not task.done():
            return []
        del self._tasks[outer, number]
        return CANCELLED if task.cancelled() else [task.result()]

    def cancel(self, awaitable: Any, number: int) -> None:
        """Cancel what the program waits for, since it was cancelled itself."""
        if (task := self._tasks.get((_running(), number))) is not None:
            task.cancel()


def _finished(awaitable: Any) -> Any:
    """What comes of a coroutine of the tests', whose own event loop waits for the program meanwhile."""
    import asyncio

    async def wait() -> Any:
        return await awaitable

    with _as_running(None):
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(wait())
        finally:
            loop.close()


class ProgramLoops:
    """The program's side: a loop behind each of the tests', by its number."""

    def __init__(self) -> None:
        self._loops: dict[int, Any] = {}
        # by the number of what waits for it
        self._tasks: dict[int, Any] = {}

    def _loop(self, number: int) -> Any:
        import asyncio

        if number not in self._loops:
            self._loops[number] = asyncio.new_event_loop()
        return self._loops[number]

    @contextmanager
    def within(self, number: int | None) -> Iterator[None]:
        """Have the program see that a loop runs, as it does where the tests call it."""
        if number is None:
            yield
            return
        with _as_running(self._loop(number)):
            yield

    def is_stepped(self) -> bool:
        """Whether the loop that runs in this thread takes its steps beside one of the tests'."""
        return any(loop is _running() for loop in [*self._loops.values()])

    def is_busy(self, number: int) -> bool:
        """Whether a loop has anything to do, now or later."""
        import asyncio

        loop = self._loop(number)
        return bool(loop._ready or loop._scheduled or asyncio.all_tasks(loop))

    def step(self, number: int) -> None:
        """Let a loop take a step."""
        loop = self._loop(number)
        with _as_running(None):
            loop.call_soon(loop.stop)
            loop.run_forever()

    def wait(self, number: int, waiting: int, awaitable: Any) -> tuple[bool | str, object]:
        """Let a loop take a step: whether the awaitable is done, and what came of it."""
        if waiting not in self._tasks:
            self._tasks[waiting] = self._loop(number).create_task(whole(awaitable))
        task = self._tasks[waiting]
        try:
            self.step(number)
        except BaseException:  # what ends a program ends its loop's step: nobody waits for the task any more
            del self._tasks[waiting]
            if task.done() and not task.cancelled():
                # otherwise the task, whose exception is under way, would later say that nobody asked for it
                task.exception()
            raise
        if not task.done():
            return False, None
        del self._tasks[waiting]
        return (CANCELLED, None) if task.cancelled() else (True, task.result())

    def cancel(self, waiting: int) -> None:
        """Cancel what the tests wait for."""
        self._tasks[waiting].cancel()

    def end(self, number: int) -> None:
        """End what is left in a loop, as `asyncio.run` does."""
        import asyncio

        if (loop := self._loops.pop(number, None)) is None:
            return
        with _as_running(None):
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            if tasks:
                loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()
        for waiting in [waiting for waiting, task in [*self._tasks.items()] if task.get_loop() is loop]:
            del self._tasks[waiting]


async def whole(awaitable: Any) -> Any:
    """A coroutine of any awaitable."""
    return await awaitable
