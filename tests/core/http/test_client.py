"""An exchange with a service: the bounds of a request, and how an answer changes the next requests."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from agentscope_tuner._http import BadAnswer, HttpAnswer, HttpCall, HttpLimits, Peer
from agentscope_tuner._http.client import HttpExchange
from agentscope_tuner._http.retries import without_waits
from agentscope_tuner.errors import JudgeError

PEER = Peer("service", JudgeError, JudgeError, lambda status, detail, where: JudgeError(f"{where}: {status}"))


def whole(answer: HttpAnswer) -> HttpAnswer:
    return answer


def exchange(transport: httpx.AsyncBaseTransport, limits: HttpLimits | None = None) -> HttpExchange:
    return HttpExchange(PEER, "http://service.test", limits or HttpLimits(), transport)


class Recorded(httpx.AsyncBaseTransport):
    """Answers each request with the next of `statuses`, and counts the requests under way."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.requests: list[httpx.Request] = []
        self.inflight = 0
        self.seen: list[int] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.inflight += 1
        self.seen.append(self.inflight)
        status = self.statuses.pop(0) if self.statuses else 200
        for _ in range(20):
            await asyncio.sleep(0)
        self.inflight -= 1
        return httpx.Response(status, json={})


def test_a_connection_is_given_up_after_five_seconds() -> None:
    recorded = Recorded()
    asyncio.run(exchange(recorded).run(HttpCall("/x", None, "x", whole, 60.0)))
    assert recorded.requests[0].extensions["timeout"] == {"connect": 5.0}


def test_a_busy_service_gets_half_as_many_requests_and_every_call_its_answer() -> None:
    def checked(answer: HttpAnswer) -> int:
        if answer.status != 200:
            raise BadAnswer(answer.status, "", "x")
        return answer.status

    async def many(recorded: Recorded) -> list[int]:
        with without_waits(tries=3):
            asked = exchange(recorded, HttpLimits(max_connections=16))
            return await asyncio.gather(*(asked.run(HttpCall("/x", b"{}", "x", checked, 60.0)) for _ in range(16)))

    recorded = Recorded(*[429] * 16)
    assert asyncio.run(many(recorded)) == [200] * 16
    assert max(recorded.seen[:16]) == 16
    # eight answers give one request back
    assert 8 <= max(recorded.seen[16:]) <= 9


def test_without_waits_an_exchange_tries_as_often_as_the_test_says() -> None:
    recorded = Recorded(503, 503, 503, 503)
    with without_waits(tries=2), pytest.raises(JudgeError, match="x: 503"):
        asyncio.run(exchange(recorded).run(HttpCall("/x", None, "x", _refuse, 60.0)))
    assert len(recorded.requests) == 2


def _refuse(answer: HttpAnswer) -> None:
    raise BadAnswer(answer.status, "", "x")
