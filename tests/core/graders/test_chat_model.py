"""The client of judge models: bounded, honest, frugal. Every test talks to a real server on 127.0.0.1."""

from __future__ import annotations

import asyncio
import email.utils
import json
import math
import os
import pickle
import selectors
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner._http.limiter import Limiter, Pace, PerMinute
from agentscope_tuner._http.retries import REFUSED_SECONDS
from agentscope_tuner._run import loops
from agentscope_tuner.errors import Cause, ConfigError, GraderError, GraderTimeout
from agentscope_tuner.graders import ChatMessage, ChatModel, ChatSettings, LLMGrader, PromptTemplate
from agentscope_tuner.graders.client.chat_model import Prompt
from agentscope_tuner.graders.client.reply import Reply, ReplyError, UnreadableReplies, final_json, score_of
from agentscope_tuner.graders.client.settings import resolve
from agentscope_tuner.graders.client.usage import Prices, Usage
from agentscope_tuner.graders.client.verdict_cache import VerdictCache, open_cache
from tests.judge_server import Answer, Body, Canned, JudgeServer, always, verdict

DASHSCOPE = "https://dashscope.aliyuncs.com"
SCHEMA = {"type": "object", "properties": {"score": {"type": "number"}}}


def model(server: JudgeServer, **settings: Any) -> ChatModel:
    return ChatModel(ChatSettings(model_name="m", base_url=server.url, **{"cache": False, **settings}))


def prompt(text: str = "how good?") -> Prompt:
    return Prompt(lambda: [ChatMessage(content=text)], schema=SCHEMA)


def score(reply: Reply) -> float:
    return score_of(final_json(reply), 0, 10)


def ask(asked: ChatModel, text: str = "how good?") -> float:
    return loops.run(asked.ask(prompt(text), score)).value


def at_first(*canned: Canned) -> Answer:
    """The server's first answers; after them an honest 7."""
    return lambda body, attempt: canned[attempt] if attempt < len(canned) else Canned(verdict(7))


@pytest.mark.waits
@pytest.mark.parametrize(
    "canned",
    [
        Canned(status=429, headers={"retry-after-ms": "1"}),
        Canned(status=408),
        Canned(status=409),
        Canned(status=500),
        Canned(status=503),
        Canned(drop=True),
        Canned("no JSON here"),
        Canned(""),
        Canned(refusal="I can't help with that."),
        Canned(verdict(7)[:-4]),
        Canned(verdict(7), finish="length"),
        Canned('{"score": 9999}'),
        Canned('{"score": true}'),
        Canned(raw="<html>gateway</html>"),
        Canned(raw='{"choices": []}'),
        Canned(raw="[1, 2]"),
    ],
    ids=lambda canned: repr(canned.raw or canned.refusal or canned.text or canned.status),
)
def test_what_may_pass_is_asked_again(canned: Canned) -> None:
    with JudgeServer(at_first(canned)) as server:
        asked = model(server)
        assert ask(asked) == 7
        assert len(server.bodies) == 2
        assert asked.usage.retries == 1


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("<html>Sign in</html>", "a page and no model's reply: check base_url"),
        ("{}", "nothing at base_url speaks OpenAI's chat API"),
        ('{"error": {"message": "model overloaded"}}', "an error that the endpoint reports: .*model overloaded"),
        ('{"error": "quota"}', "an error that the endpoint reports: .*quota"),
        ('{"error": null, "choices": []}', "nothing at base_url speaks OpenAI's chat API"),
    ],
)
def test_what_comes_in_place_of_a_reply_says_what_to_do(raw: str, told: str) -> None:
    endpoint = JudgeServer(lambda *_: Canned(raw=raw))
    with endpoint as server, pytest.raises(GraderError, match=told):
        ask(model(server))


def said(content: Any, finish: Any = "stop", choice: Any = None, usage: Any = None, **message: Any) -> Canned:
    """A chat completion with these fields."""
    one = {"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish, **(choice or {})}
    return Canned(raw=json.dumps({"choices": [one], "usage": usage}))


@pytest.mark.parametrize(
    "canned",
    [
        said([{"type": "text", "text": verdict(7)}, {"type": "reasoning", "text": verdict(2)}]),
        said([{"type": "thinking", "thinking": [{"type": "text", "text": verdict(2)}]}, {"text": verdict(7)}]),
        said([{"type": None, "text": verdict(7)}]),
        said(verdict(7), reasoning_content=verdict(2)),
        said(verdict(7), finish=None, refusal=""),
        said(verdict(7), choice={"logprobs": {"content": [{"token": "a", "top_logprobs": None}]}}),
        said(verdict(7), choice={"logprobs": {"content": [{"top_logprobs": [{"token": None, "logprob": -1}]}]}}),
    ],
    ids=lambda canned: canned.raw,
)
def test_what_a_model_says_is_read_beside_what_it_thinks(canned: Canned) -> None:
    with JudgeServer(lambda body, attempt: canned) as server:
        assert ask(model(server, max_reasks=0)) == 7


@pytest.mark.parametrize(
    "canned",
    [
        said([{"type": "reasoning", "text": verdict(7)}]),
        said([{"type": "thinking", "text": verdict(7)}]),
        said([{"type": "refusal", "refusal": "no"}, {"type": "text", "text": verdict(7)}]),
        said(verdict(7), refusal=True),
        said(verdict(7), refusal=["no"]),
        said(verdict(7), finish={"type": "length"}),
        said(verdict(7), finish="tool_calls", tool_calls=[]),
        said(None, finish="tool_calls", tool_calls=[{"function": {"name": "f", "arguments": verdict(7)}}]),
        said(None, reasoning_content=verdict(7)),
        said({"score": 7}),
        said(verdict(7), usage={"prompt_tokens": math.inf}),
        said(verdict(7), usage={"completion_tokens": 10**400}),
        Canned(raw='{"error": {"message": "overloaded"}}'),
        Canned(raw='{"choices": [{"message": null}]}'),
    ],
    ids=lambda canned: canned.raw,
)
def test_what_a_model_does_not_say_to_its_end_is_an_unreadable_reply(canned: Canned) -> None:
    """Not an error of another kind, over which an answer that causes it would have no verdict."""
    with JudgeServer(lambda body, attempt: canned) as server, pytest.raises(UnreadableReplies):
        ask(model(server, max_reasks=0))


def test_a_hanging_try_does_not_use_up_the_verdicts_deadline() -> None:
    with JudgeServer(at_first(Canned(hang=True))) as server:
        assert ask(model(server, deadline_seconds=20, try_seconds=0.1)) == 7


@pytest.mark.waits
@pytest.mark.parametrize("always_this", [Canned(hang=True), Canned(status=500), Canned(drop=True)])
def test_the_deadline_bounds_the_whole_verdict(always_this: Canned) -> None:
    with JudgeServer(lambda body, attempt: always_this) as server:
        started = time.perf_counter()
        with pytest.raises(GraderError, match=r"no verdict within 0\.5 s"):
            ask(model(server, deadline_seconds=0.5, try_seconds=0.2, max_retries=100))
        assert time.perf_counter() - started < 60


@pytest.mark.parametrize(
    ("status", "hint"),
    [(400, "parameters"), (401, "key was refused"), (403, "may not use"), (404, "model_name and base_url")],
)
def test_what_cannot_pass_is_not_asked_again_and_says_what_to_mend(status: int, hint: str) -> None:
    with JudgeServer(lambda body, attempt: Canned(status=status, text="no such luck")) as server:
        with pytest.raises(GraderError, match=hint) as caught:
            ask(model(server))
        assert "no such luck" in str(caught.value)
        # 400 may be about the reply format, of which there are three
        assert len(server.bodies) == (3 if status == 400 else 1)


def test_an_empty_account_is_not_asked_again() -> None:
    with JudgeServer(lambda body, attempt: Canned(status=429, error_code="insufficient_quota")) as server:
        with pytest.raises(GraderError, match="no quota left"):
            ask(model(server))
        assert len(server.bodies) == 1


def test_retries_and_reasks_are_bounded() -> None:
    with JudgeServer(lambda body, attempt: Canned("prose")) as server:
        with pytest.raises(GraderError, match=r"no readable verdict: .*prose.* \(3x\)"):
            ask(model(server, max_reasks=2))
        assert len(server.bodies) == 3
    with JudgeServer(lambda body, attempt: Canned(status=500)) as server:
        with pytest.raises(GraderError, match="failed too often"):
            ask(model(server, max_retries=1))
        assert len(server.bodies) == 2


def test_an_unreadable_reply_is_asked_for_again_a_little_warmer() -> None:
    with JudgeServer(at_first(Canned("prose"))) as server:
        assert ask(model(server)) == 7
        assert [body["temperature"] for body in server.bodies] == [0.0, 0.3]
    with JudgeServer(at_first(Canned(status=500))) as server:
        assert ask(model(server)) == 7
        assert [body["temperature"] for body in server.bodies] == [0.0, 0.0]
    with JudgeServer(at_first(Canned("prose"))) as server:
        assert ask(model(server, temperature=None)) == 7
        assert not [body for body in server.bodies if "temperature" in body]


def test_retry_after_is_honoured_and_never_waited_for_past_the_deadline() -> None:
    with JudgeServer(at_first(Canned(status=429, headers={"retry-after": "1"}))) as server:
        started = time.perf_counter()
        assert ask(model(server)) == 7
        assert time.perf_counter() - started >= 1
    date = email.utils.formatdate(time.time() + 3600, usegmt=True)
    for headers in ({"retry-after": "3600"}, {"retry-after": date}):
        with (
            JudgeServer(at_first(Canned(status=503, headers=headers))) as server,
            pytest.raises(GraderError, match=r"asks to wait 3[56]\d\d s, beyond the deadline"),
        ):
            ask(model(server))


def test_a_date_too_far_away_for_a_clock_is_no_crash() -> None:
    # the transport's own reader raised OverflowError here, which no retry caught
    far = {"retry-after": "Sat, 01 Jan 2000 00:00:00 +99999999999999"}
    with JudgeServer(at_first(Canned(status=429, headers=far))) as server:
        assert ask(model(server)) == 7


@pytest.mark.slow
def test_an_endpoint_with_a_limit_a_minute_judges_every_row() -> None:
    """The limit and its window are scaled down: 20 requests in each half second, and 429 with the time to the next."""
    window, limit = 0.5, 20
    served: Counter[int] = Counter()
    refused = 0

    def answer(body: dict[str, Any], attempt: int) -> Canned:
        nonlocal refused
        number, passed = divmod(time.monotonic(), window)
        served[int(number)] += 1
        if served[int(number)] <= limit:
            return Canned(verdict(7))
        refused += 1
        return Canned(status=429, headers={"retry-after-ms": str(math.ceil(1000 * (window - passed)))})

    async def many(asked: ChatModel) -> list[float]:
        answers = await asyncio.gather(*(asked.ask(prompt(str(n)), score) for n in range(100)))
        return [answer.value for answer in answers]

    with JudgeServer(answer) as server:
        assert loops.run(many(model(server, concurrency=32, deadline_seconds=30))) == [7] * 100
    # a refusal slows the requests that follow: without that each would be refused in every window before its own
    assert refused < 75


def test_a_closed_port_is_an_error() -> None:
    with JudgeServer(always(1)) as server:
        asked = model(server, max_retries=1)
    with pytest.raises(GraderError, match="connection failed: connection refused"):
        ask(asked)


def test_a_refused_connection_is_no_time_out_and_is_logged_at_once(caplog: pytest.LogCaptureFixture) -> None:
    with JudgeServer(always(1)) as server:
        asked = model(server, deadline_seconds=1, try_seconds=0.9)
    with pytest.raises(GraderError, match="connection refused") as caught:
        ask(asked)
    assert caught.value.cause is Cause.ENDPOINT
    assert "asked again for 5 s: connection failed: connection refused" in caplog.text


def test_where_nobody_listens_a_verdict_fails_in_seconds_and_the_next_at_once() -> None:
    with JudgeServer(always(1)) as server:
        asked = model(server, deadline_seconds=120)
    started = time.monotonic()
    with pytest.raises(GraderError, match="nobody listens there: check base_url") as caught:
        ask(asked)
    assert time.monotonic() - started < REFUSED_SECONDS + 60
    assert caught.value.cause is Cause.ENDPOINT
    before = time.monotonic()
    with pytest.raises(
        GraderError, match=r"not asked: one verdict failed, the last one of: .*connection refused"
    ) as caught:
        ask(asked, "another question")
    assert time.monotonic() - before < REFUSED_SECONDS
    assert caught.value.cause is Cause.BREAKER


def test_an_endpoint_that_answered_before_is_waited_for_until_the_deadline() -> None:
    with JudgeServer(always(1)) as server:
        asked = model(server, deadline_seconds=0.5, try_seconds=0.4)
        assert ask(asked, "one") == 1
    with pytest.raises(GraderError, match=r"no verdict within 0\.5 s: .*connection refused"):
        ask(asked, "two")
    with pytest.raises(GraderError, match=r"no verdict within 0\.5 s: .*connection refused"):
        ask(asked, "three")


@pytest.mark.parametrize(
    ("accepted", "formats"),
    [
        ({"json_schema", "json_object", None}, ["json_schema", "json_schema"]),
        ({"json_object", None}, ["json_schema", "json_object", "json_object"]),
        ({None}, ["json_schema", "json_object", None, None]),
    ],
)
def test_the_strongest_reply_format_is_found_once(accepted: set[str | None], formats: list[str | None]) -> None:
    def answer(body: dict[str, Any], attempt: int) -> Canned:
        kind = body.get("response_format", {}).get("type")
        return Canned(verdict(4)) if kind in accepted else Canned(status=400, text="response_format?")

    with JudgeServer(answer) as server:
        asked = model(server)
        assert [ask(asked, "one"), ask(asked, "two")] == [4, 4]
        assert [body.get("response_format", {}).get("type") for body in server.bodies] == formats


def test_many_first_questions_find_the_format_together() -> None:
    def answer(body: dict[str, Any], attempt: int) -> Canned:
        return Canned(verdict(4)) if "response_format" not in body else Canned(status=422)

    async def many(asked: ChatModel) -> list[float]:
        answers = await asyncio.gather(*(asked.ask(prompt(str(n)), score) for n in range(30)))
        return [answer.value for answer in answers]

    with JudgeServer(answer) as server:
        assert loops.run(many(model(server))) == [4] * 30
        assert len(server.bodies) == 32


def test_equal_questions_on_their_way_share_one_call() -> None:
    async def same(asked: ChatModel) -> list[float]:
        answers = await asyncio.gather(*(asked.ask(prompt(), score) for _ in range(20)))
        return [answer.value for answer in answers]

    with JudgeServer(lambda body, attempt: Canned(verdict(7), delay=0.05)) as server:
        asked = model(server)
        assert loops.run(same(asked)) == [7] * 20
        assert len(server.bodies) == 1
        assert (asked.usage.calls, asked.usage.cache_hits) == (1, 19)


def test_each_caller_of_a_shared_call_reads_its_own_verdict_in_the_reply() -> None:
    """Two parts of a judge with one prompt and a `score_pattern` each were paid the score of the first."""

    def taste(reply: Reply) -> float:
        return float(final_json(reply, key="taste")["taste"])

    def told(reply: Reply) -> float:
        if "again" not in reply.text:
            raise ReplyError("it does not say again")
        return 1.0

    async def both(asked: ChatModel) -> list[float]:
        answers = await asyncio.gather(*(asked.ask(prompt(), parse) for parse in (score, taste, told)))
        return [answer.value for answer in answers]

    def answer(body: Body, attempt: int) -> Canned:
        return Canned(json.dumps({"taste": 2, "score": 7, "reason": "again" if attempt else ""}), delay=0.05)

    with JudgeServer(answer) as server:
        assert loops.run(both(model(server))) == [7, 2, 1]
        assert len(server.bodies) == 2


def test_a_caller_that_gives_up_does_not_take_the_others_with_it() -> None:
    async def scene(asked: ChatModel) -> float:
        first = asyncio.create_task(asked.ask(prompt(), score))
        second = asyncio.create_task(asked.ask(prompt(), score))
        await asyncio.sleep(0.05)
        first.cancel()
        return (await second).value

    with JudgeServer(lambda body, attempt: Canned(verdict(7), delay=0.2)) as server:
        assert loops.run(scene(model(server))) == 7
        assert len(server.bodies) == 1


def test_draws_are_asked_separately() -> None:
    with JudgeServer(lambda body, attempt: Canned(verdict(attempt))) as server:
        asked = model(server)
        scores = [loops.run(asked.ask(replace(prompt(), draw=draw), score)).value for draw in range(3)]
        assert scores == [0, 1, 2]


def test_verdicts_are_kept_and_shared_through_the_cache(tmp_path: Path) -> None:
    with JudgeServer(always(7)) as server:
        asked = model(server, cache=True, cache_dir=str(tmp_path))
        assert ask(asked) == 7
        # a second process, as far as the cache can tell: other settings that do not change what is asked
        again = model(server, cache=True, cache_dir=str(tmp_path), concurrency=3)
        assert ask(again) == 7
        assert len(server.bodies) == 1
        assert again.usage == Usage(cache_hits=1)
        ask(model(server, cache=True, cache_dir=str(tmp_path), temperature=0.5))
        assert len(server.bodies) == 2


def test_half_a_surrogate_pair_in_one_reply_does_not_end_the_cache(tmp_path: Path) -> None:
    odd = json.dumps({"choices": [{"message": {"content": '{"score": 7, "reason": "\ud83d"}'}}]})
    with JudgeServer(lambda body, attempt: Canned(raw=odd)) as server:
        asked = model(server, cache=True, cache_dir=str(tmp_path))
        for text in ("one", "two", "one", "two"):
            assert ask(asked, text) == 7
        assert len(server.bodies) == 2


def test_what_did_not_parse_is_not_kept(tmp_path: Path) -> None:
    with JudgeServer(lambda body, attempt: Canned("prose")) as server:
        asked = model(server, cache=True, cache_dir=str(tmp_path), max_reasks=0)
        for _ in range(2):
            with pytest.raises(GraderError):
                ask(asked)
        assert len(server.bodies) == 2


def test_a_broken_cache_costs_calls_and_no_verdicts(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "cache.db").write_text("this is no database, and never was one " * 50)
    with JudgeServer(always(7)) as server:
        asked = model(server, cache=True, cache_dir=str(tmp_path))
        assert [ask(asked), ask(asked)] == [7, 7]
        assert len(server.bodies) == 2
    assert caplog.text.count("is not used") == 1


def test_the_cache_never_unpickles(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import diskcache

    with diskcache.Cache(str(tmp_path)) as plain:
        plain.set("key", {"a": "pickle"})
    assert VerdictCache(tmp_path).get("key") is None
    assert "holds a pickle" in caplog.text
    open_cache(tmp_path).close()


def test_usage_and_cost_are_counted() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 600}}
    with JudgeServer(lambda body, attempt: Canned(verdict(7), usage=usage)) as server:
        asked = model(server, prices=Prices(prompt=2.0, completion=10.0, cached_prompt=0.5))
        answer = loops.run(asked.ask(prompt(), score))
    assert answer.usage == Usage(1, 0, 1000, 100, 600, 0, (400 * 2.0 + 600 * 0.5 + 100 * 10.0) / 1e6)
    assert asked.usage == answer.usage
    assert answer.usage.metrics()["judge_prompt_tokens"] == 1000.0


def test_concurrency_is_limited() -> None:
    async def many(asked: ChatModel) -> None:
        await asyncio.gather(*(asked.ask(prompt(str(n)), score) for n in range(20)))

    with JudgeServer(lambda body, attempt: Canned(verdict(7), delay=0.01)) as server:
        loops.run(many(model(server, concurrency=3)))
        assert server.most_inflight == 3


def test_a_verdict_that_passes_its_deadline_frees_its_place() -> None:
    async def many(asked: ChatModel) -> list[Any]:
        short = asked.settings.model_copy(update={"deadline_seconds": 0.3, "try_seconds": 0.1})
        asks = [asked.ask(prompt(str(n)), score, limits=short if n < 3 else None) for n in range(4)]
        return await asyncio.gather(*asks, return_exceptions=True)

    with JudgeServer(lambda body, attempt: Canned(hang=True) if "3" not in str(body) else Canned(verdict(7))) as server:
        *hung, last = loops.run(many(model(server, concurrency=1)))
    assert all(isinstance(one, GraderTimeout) for one in hung)
    assert last.value == 7


@pytest.mark.waits
@pytest.mark.parametrize(
    ("status", "headers", "halved"), [(429, {}, True), (503, {"retry-after-ms": "1"}, True), (503, {}, False)]
)
def test_an_endpoint_that_says_it_is_too_busy_gets_half_as_many_requests(
    status: int, headers: dict[str, str], halved: bool
) -> None:
    """The first sixteen requests come together and are refused."""
    inflight: list[int] = []

    def answer(body: dict[str, Any], attempt: int) -> Canned:
        inflight.append(server.inflight)
        return Canned(verdict(7), delay=0.5) if attempt else Canned(status=status, headers=headers, delay=0.3)

    async def many(asked: ChatModel) -> list[float]:
        answers = await asyncio.gather(*(asked.ask(replace(prompt(str(n)), schema=None), score) for n in range(16)))
        return [answer.value for answer in answers]

    with JudgeServer(answer) as server:
        assert loops.run(many(model(server, concurrency=16))) == [7] * 16
    # eight answers give one request back
    assert (max(inflight[16:]) <= 9) is halved


class _Skipping(selectors.DefaultSelector):
    """Instead of waiting, moves a clock forward."""

    skipped = 0.0

    def select(self, timeout: float | None = None) -> Any:
        self.skipped += timeout or 0.0
        return super().select(0)


def test_no_sixty_seconds_hold_more_than_the_limit() -> None:
    selector = _Skipping()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.skipped  # type: ignore[method-assign]

    async def take(amounts: list[int]) -> list[float]:
        limit, times = PerMinute(10), []
        for amount in amounts:
            await limit.take(amount)
            times.append(loop.time())
        return times

    async def turns(limiter: Limiter, tokens: list[tuple[int, int]]) -> list[float]:
        start, times = loop.time(), []
        for expected, used in tokens:
            await limiter.turn(tokens=expected)
            limiter.end()
            times.append(loop.time() - start)
            if limiter.tokens is not None:
                limiter.tokens.add(used - expected)
        return times

    try:
        assert loop.run_until_complete(take([4, 4, 4, 6, 25, 1])) == pytest.approx([0, 0, 60, 60, 120, 180])
        by_requests = turns(Limiter(8, Pace(), requests_per_minute=3), [(1, 1)] * 7)
        assert loop.run_until_complete(by_requests) == pytest.approx([0, 0, 0, 60, 60, 60, 120])
        by_tokens = turns(Limiter(8, Pace(), tokens_per_minute=100), [(90, 10), (90, 20), (70, 70), (1, 1)])
        assert loop.run_until_complete(by_tokens) == pytest.approx([0, 0, 0, 60])
    finally:
        loop.close()


def test_it_is_used_from_loops_threads_forks_and_pickles() -> None:
    with JudgeServer(always(7)) as server:
        asked = model(server)

        async def elsewhere() -> float:
            return (await asked.ask(prompt("loop"), score)).value

        assert asyncio.run(elsewhere()) == 7
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(lambda n: ask(asked, str(n)), range(8))) == [7] * 8
        assert ask(pickle.loads(pickle.dumps(asked)), "pickle") == 7


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_opens_connections_of_its_own() -> None:
    with JudgeServer(always(7)) as server:
        asked = model(server)
        assert ask(asked, "parent") == 7
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(write, str(ask(asked, "child")).encode())
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            assert pipe.read() == "7.0"
        os.waitpid(child, 0)
        assert ask(asked, "parent again") == 7


def test_keys_stay_out_of_everything_that_is_shown() -> None:
    secret = "sk-very-secret-key"
    with JudgeServer(lambda body, attempt: Canned(status=401, text=f"Incorrect API key provided: {secret}")) as server:
        asked = model(server, api_key=secret)
        with pytest.raises(GraderError) as caught:
            ask(asked)
        assert server.headers[0]["authorization"] == f"Bearer {secret}"
    settings = asked.settings
    shown = [str(caught.value), repr(asked), repr(asked.endpoint), settings.model_dump_json(), str(settings)]
    assert not any(secret in text for text in shown)


KEYS = ["sk-first-secret", "sk-second-secret", "sk-third-secret"]


def used_keys(server: JudgeServer) -> list[str]:
    return [headers["authorization"].removeprefix("Bearer ") for headers in server.headers]


def test_several_keys_take_turns_and_stay_out_of_everything_that_is_shown() -> None:
    with JudgeServer(always(7)) as server:
        asked = model(server, api_key=KEYS)
        assert [ask(asked, f"question {n}") for n in range(6)] == [7] * 6
        assert used_keys(server) == KEYS * 2
        assert ask(model(server, api_key=KEYS[:1]), "another") == 7
        assert used_keys(server)[-1] == KEYS[0]
    text = "told " + " ".join(KEYS)
    shown = [repr(asked), repr(asked.endpoint), asked.settings.model_dump_json(), asked.endpoint.masked(text)]
    assert not any(key in one for key in KEYS for one in shown)
    with pytest.raises(ValueError, match="at least 1 item"):
        model(server, api_key=[])


@pytest.mark.parametrize(
    "spent", [*(Canned(status=n) for n in (401, 403)), Canned(status=429, error_code="insufficient_quota")]
)
def test_a_key_that_is_refused_or_spent_is_passed_over_once(spent: Canned) -> None:
    """One key of three stops no verdict, and three of three do, after a request for each."""

    def answer(body: Body, attempt: int) -> Canned:
        refused = server.headers[-1]["authorization"].endswith(dead)
        return spent if refused else Canned(verdict(7))

    dead: tuple[str, ...] = (KEYS[0],)
    with JudgeServer(answer) as server:
        assert [ask(model(server, api_key=KEYS), f"question {n}") for n in range(3)] == [7] * 3
        assert len(server.bodies) == 4
        dead = tuple(KEYS)
        with pytest.raises(GraderError, match=r"set api_key|no quota left|the key may not|check the model"):
            ask(model(server, api_key=KEYS), "the last")
        assert len(server.bodies) == 4 + 3


def test_a_key_that_was_refused_is_not_asked_again_after_another_failure() -> None:
    """After a 401 and a 500 it was the refused key's turn again, and its refusal ended the verdict."""

    def answer(body: Body, attempt: int) -> Canned:
        if server.headers[-1]["authorization"].endswith(KEYS[0]):
            return Canned(status=401)
        return Canned(status=500) if len(server.bodies) == 2 else Canned(verdict(7))

    with JudgeServer(answer) as server:
        assert ask(model(server, api_key=KEYS[:2])) == 7
        assert used_keys(server) == [KEYS[0], KEYS[1], KEYS[1]]


@pytest.mark.parametrize("status", [429, 500])
def test_another_try_takes_the_next_key(status: int) -> None:
    with JudgeServer(at_first(Canned(status=status))) as server:
        assert ask(model(server, api_key=KEYS[:2])) == 7
        assert used_keys(server) == KEYS[:2]


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy"])
def test_a_proxy_of_the_environment_is_used(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No name ends with .invalid, so only a proxy can reach the judge."""
    with JudgeServer(always(7)) as server:
        monkeypatch.setenv(variable, server.url.removesuffix("/v1"))
        asked = ChatModel(ChatSettings(model_name="m", base_url=f"http://{variable.lower()}.invalid/v1", cache=False))
        assert ask(asked) == 7
        assert server.headers[0]["host"] == f"{variable.lower()}.invalid"


@pytest.mark.parametrize(
    ("name", "base_url", "api_key", "environ", "expected"),
    [
        ("qwen-plus", None, None, {"DASHSCOPE_API_KEY": "d"}, (f"{DASHSCOPE}/compatible-mode/v1", "d")),
        ("gpt-4", None, None, {"OPENAI_API_KEY": "o"}, ("https://api.openai.com/v1", "o")),
        ("gpt-4", None, None, {"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://h/v1"}, ("http://h/v1", "o")),
        ("claude-3-sonnet", None, None, {"ANTHROPIC_API_KEY": "a"}, ("https://api.anthropic.com/v1/", "a")),
        ("qwen3", None, None, {"OPENAI_BASE_URL": "http://h/v1"}, ("http://h/v1", "none")),
        ("qwen3", None, None, {"OPENAI_BASE_URL": "http://h/v1", "OPENAI_API_KEY": "o"}, ("http://h/v1", "o")),
        ("qwen-plus", None, "k", {}, (f"{DASHSCOPE}/compatible-mode/v1", "k")),
        ("any", "http://127.0.0.1:8000/v1", None, {}, ("http://127.0.0.1:8000/v1", "none")),
        ("any", "http://h/v1", "k", {"OPENAI_API_KEY": "o"}, ("http://h/v1", "k")),
        ("m", f"{DASHSCOPE}/x", None, {"DASHSCOPE_API_KEY": "d"}, (f"{DASHSCOPE}/x", "d")),
    ],
)
def test_endpoints_follow_configuration_name_and_environment(
    name: str, base_url: str | None, api_key: str | None, environ: dict[str, str], expected: tuple[str, str]
) -> None:
    endpoint = resolve(name, base_url, api_key, environ)
    assert (endpoint.base_url, endpoint.api_key) == expected


def test_a_missing_key_names_the_variable() -> None:
    with pytest.raises(ConfigError, match="DASHSCOPE_API_KEY"):
        resolve("qwen-plus", None, None, {})
    with pytest.raises(ConfigError, match="base_url must read"):
        resolve("m", "localhost:8000", None, {})


def test_nothing_is_left_running() -> None:
    with JudgeServer(always(7)) as server:
        ask(model(server))
    assert sum(thread.name == "astuner-loop" for thread in threading.enumerate()) == 1


def test_a_server_that_crashes_over_a_format_is_asked_in_a_weaker_one() -> None:
    def answer(body: Body, attempt: int) -> Canned:
        form = body.get("response_format", {}).get("type")
        return Canned(status=500, text="xgrammar failed") if form == "json_schema" else Canned(verdict(3))

    with JudgeServer(answer) as server:
        subject = LLMGrader(
            {"model_name": "m", "base_url": server.url, "cache": False, "deadline_seconds": 20},
            template=PromptTemplate(messages={"en": [ChatMessage(content="{response}")]}),  # type: ignore[dict-item]
            max_score=10,
        )
        results = [asyncio.run(subject.aevaluate(response=text)) for text in ("one", "two")]
        forms = [body.get("response_format", {}).get("type") for body in server.bodies]
    assert [getattr(result, "score", None) for result in results] == [3, 3]
    assert forms == ["json_schema", "json_schema", "json_object", "json_object"]


def test_azures_classic_address_takes_its_version_and_its_key_from_the_settings() -> None:
    with JudgeServer(always(3)) as server:
        model = {
            "model_name": "gpt", "base_url": server.url, "cache": False, "headers": {"api-key": "azure-secret"},
            "query": {"api-version": "2024-10-21"},
        }  # fmt: skip
        template = PromptTemplate(messages={"en": [ChatMessage(content="{response}")]})  # type: ignore[dict-item]
        subject = LLMGrader(model, template=template, max_score=10)
        assert getattr(asyncio.run(subject.aevaluate(response="x")), "score", None) == 3
        assert server.headers[0]["api-key"] == "azure-secret"
    assert "azure-secret" not in repr(subject.model) + repr(subject.model.endpoint) + json.dumps(subject.to_dict())
    assert subject.model.endpoint.masked("refused azure-secret") == "refused ***"


class Embedder(JudgeServer):
    """Answers requests, for embeddings too, with these, one after another."""

    def __init__(self, *canned: Canned) -> None:
        self._given = iter(canned)
        super().__init__(lambda body, attempt: next(self._given))

    def _embeddings(self, body: Body) -> Canned:
        return next(self._given)


def embeddings(*rows: Any) -> Canned:
    """Those of places from 0 on, the last one first."""
    data = [{"index": index, "embedding": row} for index, row in enumerate(rows)]
    return Canned(raw=json.dumps({"object": "list", "data": data[::-1]}))


def test_embeddings_come_in_the_order_of_their_texts() -> None:
    with Embedder(Canned(status=429, headers={"retry-after-ms": "1"}), embeddings([1, 2], [0.5, 0])) as server:
        assert loops.run(model(server).embed("e", ["a", "b"])) == [[1.0, 2.0], [0.5, 0.0]]
        assert server.bodies == [{"model": "e", "input": ["a", "b"], "encoding_format": "float"}] * 2


@pytest.mark.parametrize(
    ("canned", "told"),
    [
        (embeddings([1.0]), "1 embeddings for 2 texts, or some of zeros or NaN"),
        (embeddings([1.0], [0.0, 0.0]), "2 embeddings for 2 texts, or some of zeros or NaN"),
        (embeddings([1.0], [1.0, math.inf]), "2 embeddings for 2 texts, or some of zeros or NaN"),
        (
            embeddings(["x"], [1.0]),
            "not embeddings: CreateEmbeddingResponse(data=[Embedding(embedding=[1.0], index=1, object=None), "
            "Embedding(embedding=['x'], index=0, object=None)], model=None, object='list', usage=None)",
        ),
        # it named the judge's model, and said to write base_url: …/v1/embeddings/v1
        (
            Canned(status=404, text="Not Found"),
            "check model_name and base_url: HTTP 404: Error code: 404",
        ),
        (
            Canned(status=404, text="no model e"),
            "check model_name: URL/models lists the models that are served: HTTP 404: Error code: 404",
        ),
        (
            Canned(status=503),
            "the endpoint failed too often: HTTP 503: Error code: 503",
        ),
    ],
)
def test_what_is_no_embedding_of_each_text_is_told(canned: Canned, told: str) -> None:
    with Embedder(canned) as server, pytest.raises(GraderError) as caught:
        loops.run(model(server, max_retries=0).embed("e", ["a", "b"]))
    # what stands behind is openai's, each version in its own words
    assert str(caught.value).replace(server.url, "URL").partition(" - ")[0] == f"e at URL: {told}"


@pytest.mark.parametrize("call", ["ask", "embed"])
def test_an_endpoint_without_v1_is_told_where_most_have_it(call: str) -> None:
    with Embedder(Canned(status=404, text="Not Found")) as server:
        base = server.url.removesuffix("/v1")
        asked = ChatModel(ChatSettings(model_name="m", base_url=base, cache=False))
        with pytest.raises(GraderError) as caught:
            loops.run(asked.embed("m", ["a"])) if call == "embed" else ask(asked)
    told = f"most servers want base_url to end in /v1: write base_url: {server.url}: HTTP 404: Error code: 404"
    assert str(caught.value).partition(" - ")[0] == f"m at {base}: {told}"
