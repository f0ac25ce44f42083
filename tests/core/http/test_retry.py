"""When a request is sent again: pauses, Retry-After, and the bounds on tries."""

from __future__ import annotations

import email.utils
import math
import time

import pytest

from agentscope_tuner._http.limiter import Pace
from agentscope_tuner._http.retries import Retries, backoff, is_busy, retry_after, without_waits

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


def test_calls_that_failed_together_are_not_sent_again_together() -> None:
    pauses = [Retries().pause(math.inf) for _ in range(100)]
    assert len(set(pauses)) > 50
    assert all(pause is not None and 0.1 <= pause <= 0.2 for pause in pauses)


@pytest.mark.parametrize(
    ("status", "asked", "busy"),
    [(429, 0.0, True), (429, 5.0, True), (503, 5.0, True), (503, 0.0, False), (500, 5.0, False), (200, 0.0, False)],
)
def test_an_endpoint_is_too_busy_where_it_says_so(status: int, asked: float, busy: bool) -> None:
    assert is_busy(status, asked) is busy
