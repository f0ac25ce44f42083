"""An exchange with a service: the bounds of a request, and how an answer changes the next requests."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import replace

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


class Held(httpx.AsyncBaseTransport):
    """Keeps the first request for ever, and notes the path of each."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.released = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.paths.append(request.url.path)
        if len(self.paths) == 1:
            await self.released.wait()
        return httpx.Response(200, json={})


def test_calls_that_wait_are_sent_by_their_deadlines_and_one_whose_time_is_over_waits_no_longer() -> None:
    async def scene(held: Held) -> list[str]:
        asked = exchange(held, HttpLimits(max_connections=1))
        now = asyncio.get_running_loop().time()

        def call(path: str, ends_in: float) -> asyncio.Task[HttpAnswer]:
            return asyncio.create_task(asked.run(HttpCall(path, b"{}", path, whole, 60.0, ends_at=now + ends_in)))

        first, late = call("/first", 50.0), call("/late", 50.0)
        await asyncio.sleep(0)
        soon, over = call("/soon", 40.0), call("/over", 0.01)
        async with asyncio.timeout(30):
            with pytest.raises(JudgeError):
                await over
            held.released.set()
            await asyncio.gather(first, late, soon)
        return held.paths

    assert asyncio.run(scene(Held())) == ["/first", "/soon", "/late"]


def test_without_waits_an_exchange_tries_as_often_as_the_test_says() -> None:
    recorded = Recorded(503, 503, 503, 503)
    with without_waits(tries=2), pytest.raises(JudgeError, match="x: 503"):
        asyncio.run(exchange(recorded).run(HttpCall("/x", None, "x", _refuse, 60.0)))
    assert len(recorded.requests) == 2


def test_a_call_without_an_answer_in_its_time_says_how_often_it_was_tried() -> None:
    # no pause before a second try is shorter than the deadline
    limits, peer = HttpLimits(deadline=1.0, backoff=4.0), replace(PEER, out_of_time=JudgeError)
    asked = HttpExchange(peer, "http://service.test", limits, Recorded(503))
    with pytest.raises(JudgeError, match=r"no verdict within 1 s, the deadline for a verdict, by 1 tries; .*x: 503"):
        asyncio.run(asked.run(HttpCall("/x", None, "x", _refuse, 60.0)))


@pytest.mark.parametrize(
    ("status", "tokens", "sent"),
    [
        (401, ["old", "new"], ["old", "new"]),
        # the same token would be refused again
        (401, ["old", "old"], ["old"]),
        (403, ["old", "new"], ["old"]),
        (402, ["old", "new"], ["old"]),
    ],
)
def test_a_token_that_the_owner_has_changed_is_tried_where_the_earlier_one_was_refused(
    status: int, tokens: list[str], sent: list[str]
) -> None:
    def checked(answer: HttpAnswer) -> None:
        if answer.status != 200:
            _refuse(answer)

    recorded, left = Recorded(status), list(tokens)
    asked = HttpExchange(PEER, "http://service.test", HttpLimits(), recorded, read_token=lambda: left.pop(0))
    # a call that must not be sent twice: a refusal for its token has done nothing
    call = HttpCall("/x", b"{}", "x", checked, 60.0, repeatable=False)
    with without_waits(tries=3), nullcontext() if sent[1:] else pytest.raises(JudgeError, match=f"x: {status}"):
        asyncio.run(asked.run(call))
    assert [request.headers["Authorization"] for request in recorded.requests] == [f"Bearer {token}" for token in sent]


def _refuse(answer: HttpAnswer) -> None:
    raise BadAnswer(answer.status, "", "x")


@pytest.mark.parametrize(("encoding", "is_read"), [("", True), ("Identity", True), ("gzip", False)])
def test_an_answer_in_an_encoding_that_was_not_asked_for_is_not_read(encoding: str, is_read: bool) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, headers={"Content-Encoding": encoding}))
    with nullcontext() if is_read else pytest.raises(JudgeError):
        asyncio.run(exchange(transport).run(HttpCall("/x", None, "x", whole, 60.0)))
