"""Requests to an endpoint: one HTTP client per process, retries within a verdict's deadline, the reply format found
out.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agentscope_tuner import _loop
from agentscope_tuner._http.retry import Turns, pace_of, retry_after
from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.client.bounded import bound_body
from agentscope_tuner.graders.client.budget import Breaker, Spending
from agentscope_tuner.graders.client.chat_settings import ChatSettings
from agentscope_tuner.graders.client.endpoint import Endpoint
from agentscope_tuner.graders.client.limits import Limits
from agentscope_tuner.graders.client.reply import Reply, ReplyError
from agentscope_tuner.graders.client.reply_format import ReplyFormat
from agentscope_tuner.graders.client.tries import Tries
from agentscope_tuner.graders.client.usage import Usage, count_spent
from agentscope_tuner.graders.client.verdict_cache import VerdictCache, default_cache_dir

if TYPE_CHECKING:
    import openai

_log = logging.getLogger(__name__)

T = TypeVar("T")

_RETRY = Usage(retries=1)
# Expected tokens of a reply, until replies have been measured
_REPLY_TOKENS = 256


class SharedState:
    """What equal models share within a process. Lives on the background loop."""

    def __init__(self, settings: ChatSettings, endpoint: Endpoint, budget_name: str = "") -> None:
        self._endpoint = endpoint
        self.limits = Limits(settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute)
        self.turns = Turns(settings.concurrency, pace_of(endpoint.base_url))
        self.format = ReplyFormat()
        self.flights: dict[tuple[str, int], Any] = {}
        self.usage = Usage()
        self.spending = _spending_of(settings, budget_name) if budget_name else Spending(settings.budget)
        self.breaker = Breaker(settings.most_failures_in_a_row, settings.deadline_seconds)
        directory = Path(settings.cache_dir) if settings.cache_dir else default_cache_dir()
        self.cache = VerdictCache(directory) if settings.cache else None
        self._told = False

    def spent(self, usage: Usage) -> None:
        """Count the usage, for the process and for the current verdict."""
        self.usage += usage
        count_spent(usage)

    def tell_of(self, tries: Tries) -> None:
        """Log the first failure of the endpoint: its verdicts may be waited for until their deadlines."""
        if not self._told:
            self._told = True
            _log.warning("%s", tries.report("asked again until the deadline of each verdict"))

    @cached_property
    def client(self) -> openai.AsyncOpenAI:
        """The HTTP client, made for the first request that the cache cannot answer: importing openai takes a while."""
        return _client(self._endpoint)


# by process: a forked child must not use its parent's sockets, nor close them by forgetting them
_states: dict[tuple[int, Endpoint, str, str], SharedState] = {}
_shared_spending: dict[tuple[int, str], Spending] = {}
_clients: dict[tuple[int, Endpoint], openai.AsyncOpenAI] = {}
_connections: dict[int, openai.DefaultAioHttpClient] = {}


def shared_state(settings: ChatSettings, endpoint: Endpoint, budget_name: str = "") -> SharedState:
    """The state that models with these settings share in this process, made on first use; models of one `budget_name`
    spend together, whatever their other settings.
    """
    key = (os.getpid(), endpoint, settings.model_dump_json(), budget_name)
    if key not in _states:
        # setdefault: two threads may get here at once, and only one state may win
        return _states.setdefault(key, SharedState(settings, endpoint, budget_name))
    return _states[key]


def _spending_of(settings: ChatSettings, budget_name: str) -> Spending:
    return _shared_spending.setdefault((os.getpid(), budget_name), Spending(settings.budget))


def _client(endpoint: Endpoint) -> openai.AsyncOpenAI:
    import openai

    key = (os.getpid(), endpoint)
    if key not in _clients:
        # The client gets no timeout and no retries: this module bounds both for each verdict
        client = openai.AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key,
            max_retries=0,
            timeout=None,
            http_client=_process_connections(),
        )
        return _clients.setdefault(key, client)
    return _clients[key]


def _process_connections() -> openai.DefaultAioHttpClient:
    """All endpoints share one: each would read the machine's certificates anew, which takes 30 ms."""
    import openai

    pid = os.getpid()
    if pid not in _connections:
        opened = openai.DefaultAioHttpClient(
            timeout=None, headers={"accept-encoding": "identity"}, event_hooks={"response": [bound_body]}
        )
        return _connections.setdefault(pid, opened)
    return _connections[pid]


@atexit.register
def _close_connections() -> None:
    # aiohttp complains on stderr of sockets that are open when a program ends
    mine = _connections.get(os.getpid())
    if mine is not None:
        closing = asyncio.run_coroutine_threadsafe(mine.aclose(), _loop.get_loop())
        with contextlib.suppress(Exception):  # the process is ending: the error has no reader
            closing.result(timeout=1)


async def fetch(
    settings: ChatSettings,
    state: SharedState,
    endpoint: Endpoint,
    body: dict[str, Any],
    schema: Mapping[str, Any] | None,
    parse: Callable[[Reply], T],
) -> tuple[Reply, T, Usage]:
    """Ask until a reply parses.

    The deadline starts with the first request's turn: waiting for one's own limits is not the endpoint's fault.

    Raises:
        GraderError: see ChatModel.ask.
    """
    tries = Tries(settings, endpoint)
    usage = Usage()
    try:
        async with asyncio.timeout(None) as clock, state.limits.slot():
            while True:
                try:
                    reply, used = await _request(settings, state, tries.varied(body), schema, clock)
                    usage += used
                    state.spent(used)
                    return reply, parse(reply), usage
                except ReplyError as exc:
                    tries.unreadable(exc)
                except Exception as exc:  # noqa: BLE001 - openai's tree is imported late; `failed` raises the unknown
                    pause = tries.failed(exc, clock.when())
                    state.tell_of(tries)
                    await asyncio.sleep(pause)
                usage += _RETRY
                state.spent(_RETRY)
    except TimeoutError as exc:
        raise tries.out_of_time(f"no verdict within {settings.deadline_seconds:g} s") from exc


async def _request(
    settings: ChatSettings,
    state: SharedState,
    body: dict[str, Any],
    schema: Mapping[str, Any] | None,
    clock: asyncio.Timeout,
) -> tuple[Reply, Usage]:
    expected = sum(len(message["content"]) for message in body["messages"]) // 3 + _REPLY_TOKENS
    async with state.format.turn(schema) as turn:
        await state.limits.take(expected)
        if clock.when() is None:
            clock.reschedule(asyncio.get_running_loop().time() + settings.deadline_seconds)
        cost = settings.prices.cost(expected - _REPLY_TOKENS, _REPLY_TOKENS) if settings.prices else 0.0
        while True:
            state.breaker.check()
            state.spending.take(expected, cost)
            try:
                data = await _post(settings, state, "/chat/completions", body | turn.fields(), clock)
            # any error may be a refusal of the format, which its status tells; all others are raised
            except Exception as exc:
                if turn.refused(getattr(exc, "status_code", None)):
                    continue  # the next format, in the same turn: no try is lost
                raise
            turn.accepted()
            break
    reply, usage = _read(data, settings)
    state.limits.spent(expected, usage.prompt_tokens + usage.completion_tokens)
    state.spending.spent(expected, cost, usage)
    return reply, usage


async def _post(
    settings: ChatSettings, state: SharedState, path: str, body: dict[str, Any], clock: asyncio.Timeout
) -> object:
    """One try: its answer, or openai's error. What the endpoint says of its load slows the requests that follow."""
    import openai

    # the wait for a turn is the endpoint's doing, so it counts within the deadline, but not within the try's own time
    async with state.turns.turn(clock.when() or 0.0) as turn:
        try:
            async with asyncio.timeout(settings.try_seconds or settings.deadline_seconds / 4):
                data: object = await state.client.post(path, body=body, cast_to=object)
        except openai.APIStatusError as exc:
            asked = retry_after(exc.response.headers)
            if exc.status_code == 429 or (exc.status_code == 503 and asked):
                turn.refused(asked)
            else:
                turn.answered()
            raise
        turn.answered()
        return data


def _read(data: object, settings: ChatSettings) -> tuple[Reply, Usage]:
    """A chat completion's first choice and its usage.

    Raises:
        ReplyError: it is something else, such as a proxy's HTML page.
    """
    try:
        assert isinstance(data, dict)
        choice = data["choices"][0]
        message = choice["message"]
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        logprobs = (choice.get("logprobs") or {}).get("content") or []
        tops = [{top["token"]: float(top["logprob"]) for top in token["top_logprobs"]} for token in logprobs]
        reply = Reply(content or "", choice.get("finish_reason") or "stop", message.get("refusal") or "", tops)
        used = data.get("usage") or {}
        prompt, completion = int(used.get("prompt_tokens") or 0), int(used.get("completion_tokens") or 0)
        cached = int((used.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
    except (AssertionError, KeyError, IndexError, TypeError, ValueError, AttributeError) as exc:
        raise ReplyError(f"not a chat completion: {data!r:.200}") from exc
    cost = settings.prices.cost(prompt, completion, cached) if settings.prices else 0.0
    return reply, Usage(1, 0, prompt, completion, cached, 0, cost)


async def embed(
    settings: ChatSettings, state: SharedState, endpoint: Endpoint, model_name: str, texts: Sequence[str]
) -> list[list[float]]:
    """See ChatModel.embed."""
    tries = Tries(settings, endpoint)
    body = {"model": model_name, "input": list(texts)}
    try:
        async with asyncio.timeout(settings.deadline_seconds) as clock, state.limits.slot():
            while True:
                try:
                    await state.limits.take(sum(map(len, texts)) // 3)
                    data: Any = await _post(settings, state, "/embeddings", body, clock)
                    break
                except Exception as exc:  # noqa: BLE001 - as in fetch
                    await asyncio.sleep(tries.failed(exc, clock.when()))
    except TimeoutError as exc:
        raise tries.out_of_time("no embeddings within the deadline") from exc
    try:
        rows = sorted(data["data"], key=lambda row: row["index"])
        vectors = [[float(number) for number in row["embedding"]] for row in rows]
    except (KeyError, TypeError, ValueError) as exc:
        raise GraderError(f"{model_name} at {endpoint.base_url}: not embeddings: {data!r:.200}") from exc
    if len(vectors) != len(texts) or any(not any(vector) for vector in vectors):
        raise GraderError(
            f"{model_name} at {endpoint.base_url}: {len(vectors)} embeddings for {len(texts)} texts, or zeros"
        )
    return vectors
