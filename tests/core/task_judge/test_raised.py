"""For whom an exception out of a judge was meant: for the caller, who is interrupted, or for nobody but the judge."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from agentscope_tuner.task_judge.contract.judgement import is_the_callers, place_of


def test_ctrl_c_strikes_the_main_thread_alone() -> None:
    assert is_the_callers(KeyboardInterrupt())
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(is_the_callers, KeyboardInterrupt()).result() is False
        assert pool.submit(is_the_callers, SystemExit()).result() is True


def test_a_cancellation_is_the_callers_only_where_the_caller_is_cancelled() -> None:
    assert is_the_callers(asyncio.CancelledError()) is False, "no loop runs here: the judge's own"

    async def own() -> bool:
        return is_the_callers(asyncio.CancelledError())

    async def cancelled() -> bool:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as exc:
            return is_the_callers(exc)
        return False

    async def both() -> tuple[bool, bool]:
        task = asyncio.create_task(cancelled())
        await asyncio.sleep(0)
        task.cancel()
        return await own(), await task

    async def outside_of_tasks() -> bool:
        found: asyncio.Future[bool] = asyncio.Future()
        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: found.set_result(is_the_callers(asyncio.CancelledError())))
        return await found

    assert asyncio.run(both()) == (False, True)
    assert asyncio.run(outside_of_tasks()) is True


def test_the_place_of_an_error_is_the_deepest_frame_of_the_judges_own_code() -> None:
    def inner() -> None:
        raise ValueError("x")

    def outer() -> None:
        try:
            inner()
        except ValueError as exc:
            raise RuntimeError("y") from exc

    with pytest.raises(RuntimeError) as caught:
        outer()
    line = outer.__code__.co_firstlineno + 4
    assert place_of(caught.value).endswith(f"test_raised.py:{line} in outer")
    assert caught.value.__cause__ is not None
    assert place_of(caught.value.__cause__).endswith(f"test_raised.py:{inner.__code__.co_firstlineno + 1} in inner")
    assert place_of(ValueError("never raised")) == ""
