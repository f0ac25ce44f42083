"""An event loop of tests and the one of their program behind it, here in one process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from agentscope_tuner.verify.code.inside.event_loops import CANCELLED, ProgramLoops, TestLoops


class Sides:
    """Both sides without a line between them."""

    def __init__(self) -> None:
        self.program = ProgramLoops()
        self.tests = TestLoops(self._turn, self.program.end)

    def _number(self) -> int:
        number = self.tests.number()
        assert number is not None
        return number

    def _turn(self) -> None:
        self.program.step(self._number())
        self._go_on()

    def _go_on(self) -> None:
        if self.program.is_busy(self._number()):
            self.tests.go_on()

    def call(self, function: Any, *arguments: Any) -> Any:
        """What a function of the program returns to the tests, which call it in their loop."""
        with self.program.within(self._number()):
            found = function(*arguments)
        self._go_on()
        return found

    async def wait(self, awaitable: Awaitable[Any]) -> Any:
        """What comes of an awaitable of the program."""
        with self.tests.waiting():
            while not (found := self.program.wait(self._number(), id(awaitable), awaitable))[0]:
                await asyncio.sleep(0)
        return found


@pytest.fixture
def sides() -> Sides:
    return Sides()


async def _forever(seen: list[str]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        seen.append("ended")


def test_a_function_called_in_a_loop_finds_one_that_runs(sides: Sides) -> None:
    async def main() -> object:
        done: list[int] = []
        sides.call(lambda: asyncio.get_running_loop().call_later(0.001, done.append, 1))
        assert done == []
        while not done:
            await asyncio.sleep(0.001)
        return done

    assert asyncio.run(asyncio.wait_for(main(), 10)) == [1]


def test_what_is_left_in_a_loop_ends_with_it(sides: Sides) -> None:
    seen: list[str] = []

    async def main() -> None:
        task = sides.call(lambda: asyncio.ensure_future(_forever(seen)))
        await asyncio.sleep(0.01)
        assert not task.done()

    asyncio.run(main())
    assert seen == ["ended"]
    assert sides.program._loops == {}
    assert sides.tests._numbers == {}


def test_an_awaitable_that_was_cancelled_says_so_and_is_forgotten(sides: Sides) -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    async def main() -> Any:
        return await sides.wait(cancelled())

    assert asyncio.run(main()) == (CANCELLED, None)
    assert sides.program._tasks == {}


def test_what_ends_the_program_leaves_no_task_behind(sides: Sides) -> None:
    async def leaves() -> None:
        raise SystemExit(3)

    async def main() -> None:
        with pytest.raises(SystemExit):
            await sides.wait(leaves())

    asyncio.run(main())
    assert sides.program._tasks == {}


def test_the_program_cancels_what_it_waits_for_of_the_tests(sides: Sides) -> None:
    seen: list[str] = []

    async def main() -> object:
        awaitable = _forever(seen)
        assert sides.tests.step(awaitable, 1, steps=True) == []
        await asyncio.sleep(0)
        sides.tests.cancel(awaitable, 1)
        while not (found := sides.tests.step(awaitable, 1, steps=True)):
            await asyncio.sleep(0)
        return found

    assert asyncio.run(main()) == CANCELLED
    assert seen == ["ended"]
    assert sides.tests._tasks == {}
