"""Event loops for tests that use asyncio: those in the tests' process, and those of the program in its own process.

In one process, `await solve(2)` in a test would run the program's coroutine in the test's event loop. But tests and
program are in two processes, so each needs an event loop. Behind each loop of the tests there is one of the program. It
takes a step whenever the tests' loop gives it a turn: while a test waits for the program, and while the program has
tasks that go on.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Sent to the other side in place of a result if an awaitable was cancelled.
CANCELLED = "cancelled"
# Seconds between two steps of a program's loop that has work, while no test waits for it
_TURN_SECONDS = 0.002


def _running() -> Any:
    """The event loop that runs in this thread; None if none runs."""
    # slow to import, and few tests await
    asyncio = sys.modules.get("asyncio")
    return None if asyncio is None else asyncio._get_running_loop()


@contextmanager
def _as_running(loop: Any) -> Iterator[None]:
    """While the block runs, asyncio takes `loop` for the running loop of this thread. None means that no loop runs."""
    import asyncio

    outer: Any = asyncio._get_running_loop()
    # since Python 3.14 a thread has one current task, not one for each loop: while it is set, no other loop's task runs
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
    """The event loops in the tests' process: gives each a number, and has the program's loop behind it take steps.

    Args:
        step: lets the program's loop take a step.
        end: ends the program's loop behind the tests' loop of that number.
    """

    __test__ = False

    def __init__(self, step: Callable[[], object], end: Callable[[int], object]) -> None:
        self._step, self._end = step, end
        self._numbers: dict[Any, int] = {}
        self._made = 0
        # by loop: how many of its tasks wait for the program; each of them lets the program take steps
        self._waiting: Counter[Any] = Counter()
        self._has_turn: set[Any] = set()
        # tasks for what the program waits for, by the loop and the number of the waiting
        self._tasks: dict[tuple[Any, int], Any] = {}

    def number(self) -> int | None:
        """The number of the tests' loop that runs in this thread, by which the program's process knows it; None if no
        loop runs.
        """
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
        """Forget a loop of the tests that was closed, and end the program's loop behind it."""
        number = self._numbers.pop(loop)
        # other threads have loops of their own
        for key in [key for key in [*self._tasks] if key[0] is loop]:
            del self._tasks[key]
        self._has_turn.discard(loop)
        self._end(number)

    def go_on(self) -> None:
        """Have the program's loop take steps from now on, at turns of the tests' loop in this thread. Called if the
        program reports that it has tasks that go on.
        """
        if (loop := _running()) is not None and loop not in self._has_turn:
            self._has_turn.add(loop)
            loop.call_later(_TURN_SECONDS, self._turn, loop)

    def _turn(self, loop: Any) -> None:
        """Let the program's loop take a step, unless a task of the tests waits for the program: then its loop takes
        steps anyway.
        """
        self._has_turn.discard(loop)
        if self._waiting[loop]:
            self.go_on()
        else:
            self._step()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While the block runs, count one more task of this thread's loop that waits for the program."""
        loop = _running()
        self._waiting[loop] += 1
        try:
            yield
        finally:
            self._waiting[loop] -= 1
            if not self._waiting[loop]:
                del self._waiting[loop]

    def step(self, awaitable: Any, number: int, steps: bool) -> Any:
        """The state of a tests' awaitable for which the program waits: its result, alone in a list, if it is done;
        `CANCELLED` if it was cancelled; otherwise an empty list. The program asks again until it is done.

        Args:
            awaitable: of the tests.
            number: of the waiting task in the program.
            steps: whether the program's loop takes its steps at turns of this thread's loop. If not, it cannot ask
                again, so the awaitable is run to its end.
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
        """Cancel an awaitable of the tests, because the program's task that waits for it was cancelled."""
        if (task := self._tasks.get((_running(), number))) is not None:
            task.cancel()


def _finished(awaitable: Any) -> Any:
    """The result of an awaitable of the tests, run to its end in a new loop. The tests' own loop cannot run it, since
    it is waiting for the program's answer.
    """
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
    """The event loops in the program's process: one behind each loop of the tests, under the same number."""

    def __init__(self) -> None:
        self._loops: dict[int, Any] = {}
        # by the number of the tests' task that waits for it
        self._tasks: dict[int, Any] = {}

    def _loop(self, number: int) -> Any:
        """The program's loop of that number; a new one if there is none."""
        import asyncio

        if number not in self._loops:
            self._loops[number] = asyncio.new_event_loop()
        return self._loops[number]

    @contextmanager
    def within(self, number: int | None) -> Iterator[None]:
        """While the block runs, the program's code sees the loop of that number as the running one, as if the tests'
        loop had called it directly. None means that no loop runs.
        """
        if number is None:
            yield
            return
        with _as_running(self._loop(number)):
            yield

    def is_stepped(self) -> bool:
        """Whether the loop that runs in this thread is one behind a loop of the tests, which takes its steps at turns
        of that loop.
        """
        return any(loop is _running() for loop in [*self._loops.values()])

    def is_busy(self, number: int) -> bool:
        """Whether the loop of that number has anything to do, now or later."""
        import asyncio

        loop = self._loop(number)
        return bool(loop._ready or loop._scheduled or asyncio.all_tasks(loop))

    def step(self, number: int) -> None:
        """Let the loop of that number take one step, in which it runs what is due."""
        loop = self._loop(number)
        with _as_running(None):
            loop.call_soon(loop.stop)
            loop.run_forever()

    def wait(self, number: int, waiting: int, awaitable: Any) -> tuple[bool | str, object]:
        """Let a loop take one step for an awaitable of the program for which a test waits, as in `await solve(2)`.
        Gives `(True, result)` if it is done, `(CANCELLED, None)` if it was cancelled, otherwise `(False, None)`.

        Args:
            number: of the loop.
            waiting: number of the tests' task that waits.
            awaitable: of the program.
        """
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
        """Cancel the awaitable of the program for which a task of the tests waits.

        Args:
            waiting: number of that task.
        """
        self._tasks[waiting].cancel()

    def end(self, number: int) -> None:
        """End the loop of that number and its tasks, as `asyncio.run` does at its end. Called when the tests have
        closed their loop.
        """
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
    """A coroutine that awaits `awaitable`: a task can be made only of a coroutine."""
    return await awaitable
