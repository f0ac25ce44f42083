"""`loops.run` waits for a coroutine from wherever a trainer happens to call a reward."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agentscope_tuner._http.limiter import Limiter, Pace
from agentscope_tuner._run import interrupts, loops
from agentscope_tuner.task_judge.http_rows import Gathered


async def double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


async def thread_name() -> str:
    return threading.current_thread().name


def test_run_returns_the_result_on_the_background_thread() -> None:
    assert loops.run(double(21)) == 42
    assert loops.run(thread_name()) == "astuner-loop"


def test_run_works_inside_a_running_loop() -> None:
    async def caller() -> int:
        return loops.run(double(4))

    assert asyncio.run(caller()) == 8


def test_run_serves_many_threads_from_one_loop() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda n: loops.run(double(n)), range(100))) == [2 * n for n in range(100)]


def test_run_hands_on_the_coroutines_error() -> None:
    async def fail() -> None:
        raise ValueError("from the coroutine")

    with pytest.raises(ValueError, match="from the coroutine"):
        loops.run(fail())


def test_run_refuses_to_wait_on_its_own_loop() -> None:
    async def nested() -> int:
        return loops.run(double(1))

    with pytest.raises(RuntimeError, match="await it"):
        loops.run(nested())


@pytest.mark.parametrize("ending", [SystemExit, KeyboardInterrupt])
def test_a_coroutine_that_ends_the_program_ends_only_itself(ending: type[BaseException]) -> None:
    async def end() -> None:
        raise ending("from the coroutine")

    with pytest.raises(RuntimeError, match=ending.__name__):
        loops.run(end())
    assert loops.run(double(3)) == 6


@pytest.mark.parametrize("ending", [SystemExit, KeyboardInterrupt])
def test_a_task_that_ends_the_program_ends_no_loop_on_which_others_wait(ending: type[BaseException]) -> None:
    """asyncio raises it out of the loop, so that the loop's thread ended, and every caller waited for ever."""
    told: list[str] = []

    async def end() -> None:
        raise ending("from a task")

    async def waits_for_it(released: asyncio.Event) -> int:
        beside = asyncio.create_task(released.wait())
        with pytest.raises(ending):
            await asyncio.create_task(end())
        released.set()
        return await double(int(await beside) + 20)

    async def scene() -> int:
        return await waits_for_it(asyncio.Event())

    caller = threading.Thread(target=lambda: told.append(str(loops.run(scene()))), daemon=True)
    caller.start()
    caller.join(30)
    assert told == ["42"]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_run_works_in_a_forked_child() -> None:
    assert loops.run(double(1)) == 2
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, str(loops.run(double(5))).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        assert pipe.read() == "10"
    os.waitpid(child, 0)


@pytest.mark.parametrize("ending", [StopIteration, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError])
def test_code_in_a_thread_cannot_hang_or_end_the_loop_that_waits_for_it(ending: type[BaseException]) -> None:
    """asyncio of Python 3.11 never answers for a thread's StopIteration, such as that of `next(iter([]))`."""

    def ends() -> None:
        raise ending("of a judge")

    with pytest.raises(RuntimeError, match=f"{ending.__name__} inside a thread: of a judge"):
        loops.run(asyncio.wait_for(loops.in_thread(ends), 20))


def test_a_thread_has_its_place_until_it_ends_and_then_another_call_has_it() -> None:
    async def scene(gate: threading.Event) -> list[int]:
        loops.limit_threads(1)
        begun = threading.Event()
        hangs = asyncio.create_task(loops.in_thread(lambda: begun.set() or gate.wait()))  # type: ignore[func-returns-value]
        # one that has not begun gives its place back at once
        while not begun.is_set():
            await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(hangs, 0.01)
        later = [asyncio.create_task(loops.in_thread(int, number)) for number in "123"]
        # nobody waits for the first any more, but its thread is still there
        assert not (await asyncio.wait(later, timeout=0.01))[0]
        gate.set()
        async with asyncio.timeout(30):
            return await asyncio.gather(*later)

    assert asyncio.run(scene(threading.Event())) == [1, 2, 3]


async def more_calls_than_threads() -> None:
    loops.limit_threads(1)
    await asyncio.gather(*(loops.in_thread(int, "1") for _ in range(3)))


async def _never(rows: object, until: float) -> list[None]:
    await asyncio.Event().wait()
    return []


_gathered: Gathered[None] = Gathered(_never, most_rows=1, most_bytes=1, senders=1, patience=60.0)


async def rows_that_are_never_sent() -> None:
    asked = [asyncio.create_task(_gathered.ask(b"row")) for _ in range(3)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in asked)


_limited = loops.PerLoop(lambda: Limiter(1, Pace()))


async def requests_that_wait_for_a_turn() -> None:
    limiter = _limited.here()
    await limiter.turn()
    limiter.refused(0.0, 60.0)
    limiter.end()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(limiter.turn(), 0.001)


@pytest.mark.parametrize("scene", [more_calls_than_threads, rows_that_are_never_sent, requests_that_wait_for_a_turn])
def test_what_waited_on_a_loop_does_not_keep_it_once_another_works(
    scene: Callable[[], Coroutine[Any, Any, None]],
) -> None:
    """asyncio's locks and futures hold on to their loops: a trainer with a loop for each step kept all of them."""
    found: list[weakref.ref[asyncio.AbstractEventLoop]] = []

    async def seen() -> None:
        found.append(weakref.ref(asyncio.get_running_loop()))
        await scene()

    for _ in range(4):
        asyncio.run(seen())
    gc.collect()
    assert [loop() for loop in found[:-1]] == [None] * 3


def test_who_waits_for_news_looks_again_until_there_is_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "_LOOK_SECONDS", 0.001)
    news = interrupts.News()
    waits = threading.Thread(target=news.wait, daemon=True)
    waits.start()
    waits.join(0.05)
    assert waits.is_alive()
    news.tell()
    waits.join(30)
    assert not waits.is_alive()
