"""Requests to an endpoint, with retries within a verdict's deadline, over one HTTP client for each process."""

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
    """The state that models with equal settings share in a process; only the background loop uses it."""

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
        self._failure_logged = False

    def spent(self, usage: Usage) -> None:
        """Count the usage, for the process and for the current verdict."""
        self.usage += usage
        count_spent(usage)

    def log_first_failure(self, tries: Tries) -> None:
        """Log the endpoint's first failure, because its verdicts may now take until their deadlines."""
        if not self._failure_logged:
            self._failure_logged = True
            _log.warning("%s", tries.report("asked again until the deadline of each verdict"))

    @cached_property
    def client(self) -> openai.AsyncOpenAI:
        """The HTTP client. Importing openai takes a while, so it waits for a request that the cache cannot answer."""
        return _client(self._endpoint)


# Each key holds the process id: a forked child must neither use its parent's sockets nor close them by dropping them
_states: dict[tuple[int, Endpoint, str, str], SharedState] = {}
_shared_spending: dict[tuple[int, str], Spending] = {}
_clients: dict[tuple[int, Endpoint], openai.AsyncOpenAI] = {}
_connections: dict[int, openai.DefaultAioHttpClient] = {}


def shared_state(settings: ChatSettings, endpoint: Endpoint, budget_name: str = "") -> SharedState:
    """The state that models with these settings share in this process; the first call makes it.

    Models of one `budget_name` share its budget, even if their other settings differ.
    """
    key = (os.getpid(), endpoint, settings.model_dump_json(), budget_name)
    if key not in _states:
        # Two threads may get here at once: `setdefault` gives both the same state
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
    """This process's connections, for all endpoints: another set would read the machine's certificates for 30 ms."""
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
    # aiohttp writes a warning to stderr about sockets that are still open at the end of a program
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

    The deadline starts when the limits admit the first request: the wait before is not the endpoint's fault.

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
                    state.log_first_failure(tries)
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
            # An error of any type may be a refusal of the format, which its status tells; raise all others
            except Exception as exc:
                if turn.refused(getattr(exc, "status_code", None)):
                    continue  # send the next format within the same try
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
    """One try: returns its answer, or raises openai's error. An overloaded endpoint's answer slows later requests."""
    import openai

    # The endpoint's load causes the wait for a turn. So the wait counts within the deadline, but not within the try
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
        ReplyError: `data` is no chat completion, such as a proxy's HTML page.
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
