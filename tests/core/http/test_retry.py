"""How often and how fast an endpoint is asked: pauses, Retry-After, and fewer requests at once after a refusal."""

from __future__ import annotations

import asyncio
import email.utils
import math
import time

import pytest

from agentscope_tuner._http.retry import Pace, Retries, Turns, backoff, pace_of, retry_after, without_waits

DAY = 86_400.0


@pytest.mark.parametrize(
    ("attempt", "seconds"), [(1, 0.2), (2, 0.4), (3, 0.8), (6, 6.4), (7, 10.0), (1_100, 10.0), (10**30, 10.0)]
)
def test_pauses_double_up_to_ten_seconds(attempt: int, seconds: float) -> None:
    assert backoff(attempt) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0 "}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "1"}, 1.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "nan"}, 0.0),
        ({"retry-after": "inf"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": "²"}, 0.0),
        ({"retry-after": "1e999"}, DAY),
        ({"retry-after": "9" * 400}, DAY),
        ({"retry-after": "Sat, 01 Jan 2000 00:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, DAY),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 -2359"}, DAY),
        ({"retry-after": "Fri, 31 Dec 99999 23:59:59 GMT"}, 0.0),
        # an offset of 10^12 hours has a syntax and no meaning: an OverflowError inside the email package
        ({"retry-after": "Sat, 01 Jan 2000 00:00:00 +99999999999999"}, 0.0),
        ({"retry-after": "Mon, 01 Jan 0001 00:00:00 GMT"}, 0.0),
    ],
)
def test_a_retry_after_is_read_within_bounds(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers) == seconds


def test_a_retry_after_may_be_a_date() -> None:
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    assert 95 < retry_after({"retry-after": date}) <= 100


def test_tries_end_with_the_deadline_and_not_with_a_count() -> None:
    retries = Retries()
    assert all(retries.pause(100.0) is not None for _ in range(1_000))
    assert retries.pause(0.1) is None
    assert not retries.exhausted
    assert retries.pause(30.0, asked=30.0) is None
    assert retries.pause(31.0, asked=30.0) == 30.0
    # an endpoint that asks for a millisecond is not asked a thousand times a second
    assert retries.pause(30.0, asked=0.001) == 0.2


def test_a_count_of_tries_is_kept_where_one_is_given() -> None:
    retries = Retries(most=2)
    assert retries.pause(math.inf) is not None
    assert retries.pause(math.inf) is None
    assert retries.exhausted


def test_without_waits_nothing_is_waited_for() -> None:
    pace = Pace()
    pace.close(30)
    with without_waits(tries=3):
        retries = Retries()
        assert [retries.pause(60.0, asked=30.0) for _ in range(3)] == [0.0, 0.0, None]
        assert pace.closed_for() == 0.0
    assert pace.closed_for() > 29


def test_one_refusal_closes_an_endpoint_for_all_and_for_a_minute_at_most() -> None:
    first, second = pace_of("http://a.test"), pace_of("http://a.test")
    first.close(DAY)
    assert first is second
    assert 59 < second.closed_for() <= 60
    assert pace_of("http://b.test").closed_for() == 0.0


def test_a_refusal_halves_the_requests_at_once_and_answers_bring_them_back() -> None:
    async def scene() -> list[int]:
        pace = Pace()
        turns, running, most = Turns(16, pace), 0, 0

        async def ask(refused: bool) -> None:
            nonlocal running, most
            async with turns.turn(0.0) as turn:
                running += 1
                most = max(most, running)
                await asyncio.sleep(0)
                running -= 1
                if refused:
                    turn.refused(1e-9)
                else:
                    turn.answered()

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
        turns, order = Turns(1, Pace()), []

        async def ask(deadline: float) -> None:
            async with turns.turn(deadline):
                order.append(deadline)
                await asyncio.sleep(0)

        await asyncio.gather(*(ask(deadline) for deadline in (5.0, 9.0, 7.0, 8.0, 6.0)))
        return order

    assert asyncio.run(scene()) == [5.0, 6.0, 7.0, 8.0, 9.0]


def test_a_turn_that_was_given_up_goes_to_the_next() -> None:
    async def scene() -> int:
        turns, done = Turns(1, Pace()), 0

        async def ask() -> None:
            nonlocal done
            async with turns.turn(0.0):
                await asyncio.sleep(0)
                done += 1

        tasks = [asyncio.create_task(ask()) for _ in range(6)]
        await asyncio.sleep(0)
        tasks[1].cancel()  # while it waits
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks[2].cancel()  # in the same step of the loop that gave it its turn, or while it has it
        await asyncio.gather(*tasks, return_exceptions=True)
        async with asyncio.timeout(5), turns.turn(0.0):
            return done

    assert asyncio.run(scene()) in (4, 5)


def test_nothing_is_sent_while_an_endpoint_is_closed() -> None:
    async def scene() -> float:
        pace = Pace()
        turns = Turns(4, pace)
        started = time.monotonic()
        pace.close(0.1)
        async with turns.turn(0.0):
            return time.monotonic() - started

    assert asyncio.run(scene()) >= 0.1
