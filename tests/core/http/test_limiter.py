"""How fast an endpoint is asked: requests at once and in a minute, fewer after a refusal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from agentscope_tuner._http.limiter import Limiter, Pace, Place, pace_of

DAY = 86_400.0


@asynccontextmanager
async def turn_of(limiter: Limiter, deadline: float = 0.0, place: Place | None = None) -> AsyncIterator[float]:
    sent_at = await limiter.turn(deadline, place)
    try:
        yield sent_at
    finally:
        limiter.end()


def test_one_refusal_closes_an_endpoint_for_all_and_for_a_minute_at_most() -> None:
    first, second = pace_of("http://a.test"), pace_of("http://a.test")
    first.close(DAY)
    assert first is second
    assert 59 < second.closed_for() <= 60
    assert pace_of("http://b.test").closed_for() == 0.0


def test_a_refusal_halves_the_requests_at_once_and_answers_bring_them_back() -> None:
    async def scene() -> list[int]:
        pace = Pace()
        limiter, running, most = Limiter(16, pace), 0, 0

        async def ask(refused: bool) -> None:
            nonlocal running, most
            async with turn_of(limiter) as sent_at:
                running += 1
                most = max(most, running)
                await asyncio.sleep(0)
                running -= 1
                if refused:
                    limiter.refused(sent_at, 1e-9)
                else:
                    limiter.answered()

        seen = []
        for count, refused in [(40, False), (16, True), (40, False), (400, False), (400, False)]:
            most = 0
            await asyncio.gather(*(ask(refused) for _ in range(count)))
            seen.append(most)
        return seen

    before, refused, after, later, last = asyncio.run(scene())
    # sixteen refusals of requests that were sent together count as one
    assert (before, refused) == (16, 16)
    assert 8 <= after < 16
    assert after <= later <= last == 16


def test_the_next_turn_is_that_of_the_nearest_deadline() -> None:
    async def scene() -> list[float]:
        limiter, order = Limiter(1, Pace()), []

        async def ask(deadline: float) -> None:
            async with turn_of(limiter, deadline):
                order.append(deadline)
                await asyncio.sleep(0)

        await asyncio.gather(*(ask(deadline) for deadline in (5.0, 9.0, 7.0, 8.0, 6.0)))
        return order

    assert asyncio.run(scene()) == [5.0, 6.0, 7.0, 8.0, 9.0]


def test_a_turn_that_was_given_up_goes_to_the_next() -> None:
    async def scene() -> int:
        limiter, done = Limiter(1, Pace()), 0

        async def ask() -> None:
            nonlocal done
            async with turn_of(limiter):
                await asyncio.sleep(0)
                done += 1

        tasks = [asyncio.create_task(ask()) for _ in range(6)]
        await asyncio.sleep(0)
        tasks[1].cancel()  # while it waits
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks[2].cancel()  # in the same step of the loop that gave it its turn, or while it has it
        await asyncio.gather(*tasks, return_exceptions=True)
        async with asyncio.timeout(5), turn_of(limiter):
            return done

    assert asyncio.run(scene()) in (4, 5)


def test_nothing_is_sent_while_an_endpoint_is_closed() -> None:
    async def scene() -> float:
        pace = Pace()
        limiter = Limiter(4, pace)
        started = time.monotonic()
        pace.close(0.1)
        async with turn_of(limiter):
            return time.monotonic() - started

    assert asyncio.run(scene()) >= 0.1


def test_a_pause_counts_for_the_calls_whose_turn_it_is_and_for_no_others() -> None:
    async def scene() -> tuple[list[str], list[str]]:
        pace, told = Pace(), list[str]()
        limiter = Limiter(2, pace)
        pace.close(30)
        calls = {name: asyncio.ensure_future(limiter.turn(place=Place(partial(told.append, name)))) for name in "abcd"}
        await asyncio.sleep(0)
        first = list(told)
        for name in "ab":  # their time is over: the next have their turn
            calls[name].cancel()
        await asyncio.wait([calls["a"], calls["b"]])
        for name in "cd":
            calls[name].cancel()
        await asyncio.wait(calls.values())
        return first, told

    assert asyncio.run(scene()) == (["a", "b"], ["a", "b", "c", "d"])


@pytest.mark.parametrize(("at_once", "after"), [(16, 8), (8, 4), (2, 1), (1, 1)])
def test_a_refusal_leaves_half_of_the_requests_that_were_under_way(at_once: int, after: int) -> None:
    async def scene() -> int:
        limiter = Limiter(16, Pace())
        for sent_at in [await limiter.turn() for _ in range(at_once)]:
            limiter.refused(sent_at, 1e-9)
            limiter.end()
        await asyncio.sleep(0.001)
        held = 0
        while held < 20:
            try:
                async with asyncio.timeout(0.02):
                    await limiter.turn()
            except TimeoutError:
                break
            held += 1
        return held

    assert asyncio.run(scene()) == after


def test_no_more_calls_are_begun_than_requests_may_be_under_way_and_a_begun_one_comes_first() -> None:
    async def scene() -> list[str]:
        limiter, order = Limiter(2, Pace()), []

        async def ask(name: str) -> None:
            place, deadline = Place(), float("inf")
            for number in (1, 2):
                async with turn_of(limiter, deadline, place):
                    order.append(f"{name}{number}")
                    await asyncio.sleep(0)
                # The time between two tries: its place stays its own
                await asyncio.sleep(0)
                deadline = 1.0
            limiter.leave(place)

        await asyncio.gather(*map(ask, "abc"))
        return order

    assert asyncio.run(scene()) == ["a1", "b1", "a2", "b2", "c1", "c2"]


def test_a_call_that_needs_a_place_keeps_none_waiting_that_has_one() -> None:
    """Its deadline was the nearest, and the place that it waited for was that of the call behind it."""

    async def scene() -> list[str]:
        limiter, seen, has = Limiter(1, Pace()), list[str](), Place()
        async with turn_of(limiter, place=has):
            pass

        async def call(name: str, deadline: float, place: Place) -> None:
            async with turn_of(limiter, deadline, place):
                seen.append(name)
            limiter.leave(place)

        async with turn_of(limiter):
            calls = [
                asyncio.create_task(call("needs one", 1.0, Place())),
                asyncio.create_task(call("has one", 9.0, has)),
            ]
            await asyncio.sleep(0)
        async with asyncio.timeout(30):
            await asyncio.gather(*calls)
        return seen

    assert asyncio.run(scene()) == ["has one", "needs one"]


def test_a_call_that_never_began_frees_no_place() -> None:
    async def scene() -> bool:
        limiter = Limiter(1, Pace())
        begun, never = Place(), Place()
        await limiter.turn(place=begun)
        limiter.end()
        limiter.leave(never)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await limiter.turn(place=Place())
        limiter.leave(begun)
        limiter.leave(begun)  # a second time changes nothing
        async with asyncio.timeout(5):
            await limiter.turn(place=Place())
            limiter.end()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await limiter.turn(place=Place())
        return True

    assert asyncio.run(scene())
