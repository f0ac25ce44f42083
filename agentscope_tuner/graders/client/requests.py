"""Requests to a judge model's endpoint: sent again until a reply parses, within a verdict's deadline.

One openai client for each endpoint and process uses the package's own connections. The state that models with equal
settings share is here, too: the limits, the reply format that the endpoint takes, the budget, and the usage.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import math
import os
import platform
import socket
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agentscope_tuner._http.limiter import Limiter, Place, pace_of
from agentscope_tuner._http.retries import REFUSED_SECONDS, Retries, is_busy, is_refused, retry_after
from agentscope_tuner._run.forks import unforked
from agentscope_tuner.bounds import json_or
from agentscope_tuner.errors import GraderError, GraderTimeout
from agentscope_tuner.graders.client.reply import (
    BusyReplies,
    LateReplies,
    Reply,
    ReplyError,
    UnreadableReplies,
    is_about_prompt,
)
from agentscope_tuner.graders.client.settings import MOST_BYTES, ChatSettings, Endpoint
from agentscope_tuner.graders.client.usage import IMAGE_TOKENS, METER, Breaker, Spending, Usage
from agentscope_tuner.graders.client.verdict_cache import VerdictCache, default_cache_dir

if TYPE_CHECKING:
    import openai

T = TypeVar("T")
#: Gets the seconds that each question takes, from its first turn on.
TAKEN: ContextVar[list[float] | None] = ContextVar("taken", default=None)
_log = logging.getLogger(__name__)

_RETRY = Usage(retries=1)
# Expected tokens of a reply, until replies have been measured
_REPLY_TOKENS = 256
# The lowest temperature after an unreadable reply: at temperature 0 the model would repeat it
_REASK_TEMPERATURE = 0.3
# The strongest format first. `text` adds no field to the request: the prompt alone asks for JSON
_FORMATS = ("json_schema", "json_object", "text")
# HTTP statuses with which servers refuse a response_format that they do not know
_FORMAT_REFUSED = frozenset({400, 415, 422, 501})
_CRASHED, _CRASHES = 500, 2
_RETRIED = frozenset({408, 409, 429})
# Parts of a message that are its text; others hold what the model thought, or refuses
_SPOKEN = ("text", "output_text")
# Statuses that may be about the key: a prompt is to blame only for what every key was refused for
_KEY_REFUSED = frozenset({400, 401, 403})
_OVERLOADED = frozenset({503, 529})
_UNREACHED = ("connection failed: connection refused", "connection failed: the host's name is unknown")
_WHAT_TO_MEND = {
    400: "check the model's parameters (temperature, max_tokens, extra_body) and the prompt's length",
    401: "the key was refused: set api_key or the provider's environment variable",
    403: "the key may not use this model",
}


class SharedState:
    """The state that models with equal settings share in a process; only the background loop uses it."""

    def __init__(self, settings: ChatSettings, endpoint: Endpoint, budget_name: str = "") -> None:
        self.settings = settings
        self.endpoint = endpoint
        self.limiter = Limiter(
            settings.concurrency, pace_of(endpoint.base_url), settings.requests_per_minute, settings.tokens_per_minute
        )
        self.format = ReplyFormat()
        self.flights: dict[tuple[str, int], Any] = {}
        self.usage = Usage()
        spending = Spending(settings.budget) if settings.budget else None
        if spending and budget_name:
            # Models of one budget name spend one budget
            spending = _spending.setdefault((os.getpid(), budget_name), spending)
        self.spending = spending
        self.breaker = Breaker(settings.most_failures_in_a_row, settings.deadline_seconds)
        directory = Path(settings.cache_dir) if settings.cache_dir else default_cache_dir()
        self.cache = VerdictCache(directory) if settings.cache else None
        self.failure_logged = False
        #: whose turn it is among the endpoint's keys
        self.turns = itertools.count()
        #: whether the endpoint ever answered, in whatever way
        self.answered = False
        #: whether it ever gave a verdict
        self.judged = False

    def spent(self, usage: Usage) -> None:
        """Count the usage, for the process and for the current verdict, if there is one."""
        self.usage += usage
        if (meter := METER.get()) is not None:
            meter.usage += usage

    @property
    def client(self) -> openai.AsyncOpenAI:
        """The client. Importing openai takes a while, so it waits for a request that the cache cannot answer."""
        key = (os.getpid(), self.endpoint)
        if key not in _clients:
            # openai makes its parts in cached properties when they are first used, and so is the platform's name
            with unforked():
                client = _new_client(self.endpoint)
                platform.platform()
                _ = client.embeddings.create
            return _clients.setdefault(key, client)
        return _clients[key]


# Each key holds the process id: a forked child must neither use its parent's sockets nor close them by dropping them
_states: dict[tuple[int, Endpoint, str, str], SharedState] = {}
_spending: dict[tuple[int, str], Spending] = {}
_clients: dict[tuple[int, Endpoint], openai.AsyncOpenAI] = {}


def shared_state(settings: ChatSettings, endpoint: Endpoint, budget_name: str = "") -> SharedState:
    """The state that models with these settings share in this process; the first call makes it.

    Models of one `budget_name` share its budget, even if their other settings differ.
    """
    key = (os.getpid(), endpoint, settings.model_dump_json(), budget_name)
    if key not in _states:
        # Two threads may get here at once: `setdefault` gives both the same state
        return _states.setdefault(key, SharedState(settings, endpoint, budget_name))
    return _states[key]


def _new_client(endpoint: Endpoint) -> openai.AsyncOpenAI:
    import openai

    from agentscope_tuner._http.transport import Client, Connections, is_proxied

    # No timeout and no retries: this module bounds both for each verdict
    # openai takes clients of httpx and of httpx2, and declares those of the one it depends on itself
    http: Any = Client(Connections(most=0, most_bytes=MOST_BYTES, proxied=is_proxied()))
    return openai.AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.api_key,
        max_retries=0,
        timeout=None,
        http_client=http,
        default_headers=dict(endpoint.headers),
        default_query=dict(endpoint.query),
    )


async def fetch(
    state: SharedState,
    body: Mapping[str, Any],
    schema: Mapping[str, Any] | None,
    parse: Callable[[Reply], T],
    limits: ChatSettings | None = None,
    again: Callable[[str], str] = "".format,
) -> tuple[Reply, T, Usage]:
    """Ask until a reply parses; gives the reply, the parsed value, and the usage of all requests.

    The deadline starts with the first request's turn, or when only a pause that the endpoint asks for delays that turn:
    the wait before is not the endpoint's fault.

    Args:
        state: the model's shared state.
        body: the fields of the request, without a reply format.
        schema: the JSON schema of the reply; None for free text.
        parse: reads a reply; raises ReplyError for one without a verdict.
        limits: the deadline and the bounds on tries; None for those of the state.
        again: makes the text that is added to the messages after an unreadable reply; see Prompt.

    Raises:
        GraderError: see ChatModel.ask.
    """
    limits = limits or state.settings
    tries, usage, first = Tries(limits, state.endpoint, next(state.turns)), Usage(), body
    place = Place(lambda: _begin(clock, limits))
    reply: Reply | None = None
    try:
        async with asyncio.timeout(None) as clock:
            while True:
                try:
                    reply, used = await _one_reply(state, body, schema, tries.keys[0], place, clock, limits)
                    usage += used
                    state.spent(used)
                    return reply, parse(reply), usage
                except ReplyError as exc:
                    tries.unreadable(exc, reply)
                    body = tries.varied(_with(first, again(tries.said)) if tries.said else body)
                except Exception as exc:  # noqa: BLE001 - openai's tree is imported late; `failed` raises the unknown
                    pause = tries.failed(exc, clock.when(), answered=state.answered, judged=state.judged)
                    _warn_once(state, tries, exc)
                    await asyncio.sleep(pause)
                usage += _RETRY
                state.spent(_RETRY)
    except TimeoutError as exc:
        tries.unanswered(sent=place.is_held)
        paused = "" if place.is_held else ", while the endpoint asks all requests to wait"
        raise tries.out_of_time(f"no verdict within {limits.deadline_seconds:g} s{paused}") from exc
    finally:
        state.limiter.leave(place)
        if (taken := TAKEN.get()) is not None and (ends := clock.when()) is not None:
            taken.append(asyncio.get_running_loop().time() - ends + limits.deadline_seconds)


def _warn_once(state: SharedState, tries: Tries, exc: Exception) -> None:
    """Log, at the first failure only, that verdicts may now take until their deadlines."""
    if state.failure_logged:
        return
    state.failure_logged = True
    nobody = is_refused(exc) and not state.answered
    until = f"for {REFUSED_SECONDS:g} s" if nobody else "until the deadline of each verdict"
    _log.warning("%s", tries.report(f"asked again {until}"))


def _with(body: Mapping[str, Any], added: str) -> Mapping[str, Any]:
    """`body` with `added` at the end of its last message."""
    *before, last = body["messages"]
    content = last["content"]
    if isinstance(content, str):
        content += added
    else:
        content = [*content[:-1], {**content[-1], "text": content[-1]["text"] + added}]
    return {**body, "messages": [*before, {**last, "content": content}]}


async def _one_reply(
    state: SharedState,
    body: Mapping[str, Any],
    schema: Mapping[str, Any] | None,
    key: str,
    place: Place,
    clock: asyncio.Timeout,
    limits: ChatSettings,
) -> tuple[Reply, Usage]:
    """One try with `key`, in the strongest format that the endpoint takes."""
    import httpx

    prices = state.settings.prices
    prompt = 0
    for message in body["messages"]:
        content = message["content"]
        prompt += len(content) // 3 if isinstance(content, str) else _tokens_of_parts(content)
    expected, cost = prompt + _REPLY_TOKENS, prices.cost(prompt, _REPLY_TOKENS) if prices else 0.0

    def send(fields: Mapping[str, Any]) -> Awaitable[Any]:
        state.breaker.check(place)
        if state.spending is not None:
            state.spending.take(expected, cost)
        # Not `chat.completions.create`: its walk over the types of a request takes a tenth of a call
        headers = {"Authorization": f"Bearer {key}"} if state.endpoint.more_keys else {}
        return state.client.post(
            "/chat/completions", cast_to=httpx.Response, body={**body, **fields}, options={"headers": headers}
        )

    in_turn = partial(_in_turn, state, send, expected, place, clock, limits)
    reply, usage = _read((await state.format.find(schema, in_turn)).content, state.settings)
    if state.limiter.tokens is not None:
        state.limiter.tokens.add(usage.prompt_tokens + usage.completion_tokens - expected)
    if state.spending is not None:
        state.spending.spent(expected, cost, usage)
    return reply, usage


def _tokens_of_parts(parts: Sequence[Mapping[str, Any]]) -> int:
    return sum(len(part["text"]) // 3 if "text" in part else IMAGE_TOKENS for part in parts)


async def _in_turn(
    state: SharedState,
    send: Callable[[Mapping[str, Any]], Awaitable[Any]],
    tokens: int,
    place: Place,
    clock: asyncio.Timeout,
    limits: ChatSettings,
    fields: Mapping[str, Any],
) -> Any:
    """Send one request of about `tokens`, made of `fields`, when its turn comes; gives the answer of `send`.

    If the endpoint answers that it is overloaded, later requests are slowed down.
    """
    import openai

    limiter = state.limiter
    # The endpoint's load causes the wait for a turn. So the wait counts within the deadline, but not within the try
    sent_at = await limiter.turn(clock.when() or math.inf, place, tokens)
    try:
        _begin(clock, limits)
        async with asyncio.timeout(limits.seconds_of_a_try):
            answer = await send(fields)
        state.answered = True
        limiter.answered()
        return answer
    except openai.APIStatusError as exc:
        state.answered = True
        asked = retry_after(exc.response.headers)
        if is_busy(exc.status_code, asked):
            limiter.refused(sent_at, asked)
        else:
            limiter.answered()
        raise
    finally:
        limiter.end()


def _begin(clock: asyncio.Timeout, settings: ChatSettings) -> None:
    """Start a verdict's deadline on `clock`, unless it has started already."""
    if clock.when() is None:
        clock.reschedule(asyncio.get_running_loop().time() + settings.deadline_seconds)


def _in_its_place(body: bytes) -> str:
    """The words of an error about a `body` that is no chat completion: what it is instead, and what to do about it.

    For a web page: `, a page and no model's reply: check base_url`.
    """
    if body.lstrip()[:1] == b"<":
        return ", a page and no model's reply: check base_url"
    data = json_or(body, None)
    if isinstance(data, dict) and data.get("error"):
        return ", but an error that the endpoint reports: mend there what it says"
    told = ", so nothing at base_url speaks OpenAI's chat API, whose replies have `choices`"
    return f"{told}: check base_url, which ends in /v1"


def _read(body: bytes, settings: ChatSettings) -> tuple[Reply, Usage]:
    """The first choice of a chat completion, and its usage.

    Raises:
        ReplyError: `body` is no chat completion, such as a proxy's HTML page.
    """
    try:
        data = json.loads(body)
        choice = data["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
        if isinstance(content, list):
            refusal = refusal or "".join(part.get("refusal") or "" for part in content)
            content = "".join(part["text"] or "" for part in content if (part.get("type") or "text") in _SPOKEN)
        if not isinstance(content, str | None):
            raise TypeError("the content is no text")
        logprobs = (choice.get("logprobs") or {}).get("content") or ()
        tops = (
            [{str(top["token"]): float(top["logprob"]) for top in one["top_logprobs"] or ()} for one in logprobs]
            if logprobs
            else ()
        )
        # What a model thinks is no verdict, even if nothing else came
        thought = len(str(message.get("reasoning_content") or message.get("reasoning") or ""))
        finish = str(choice.get("finish_reason") or "stop")
        reply = Reply(content or "", finish, str(refusal or ""), tops, thought)
        used = data.get("usage") or {}
        # Through a float, beyond which no count can be added up
        prompt, output = int(float(used.get("prompt_tokens") or 0)), int(float(used.get("completion_tokens") or 0))
        cached = int(float((used.get("prompt_tokens_details") or {}).get("cached_tokens") or 0))
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError, RecursionError) as exc:
        raise ReplyError(
            f"not a chat completion{_in_its_place(body)}: {body.decode('utf-8', 'replace')!r:.200}"
        ) from exc
    cost = settings.prices.cost(prompt, output, cached) if settings.prices else 0.0
    return reply, Usage(1, 0, prompt, output, cached, 0, cost)


async def embed(state: SharedState, model_name: str, texts: Sequence[str]) -> list[list[float]]:
    """See ChatModel.embed."""
    tries = Tries(state.settings.model_copy(update={"model_name": model_name}), state.endpoint)
    place = Place()

    def send(_: Mapping[str, Any]) -> Awaitable[Any]:
        return state.client.embeddings.create(model=model_name, input=list(texts), encoding_format="float")

    try:
        async with asyncio.timeout(state.settings.deadline_seconds) as clock:
            while True:
                try:
                    found = await _in_turn(state, send, sum(map(len, texts)) // 3, place, clock, state.settings, {})
                    break
                except Exception as exc:  # noqa: BLE001 - as in fetch
                    await asyncio.sleep(tries.failed(exc, clock.when(), answered=state.answered))
    except TimeoutError as exc:
        raise tries.out_of_time("no embeddings within the deadline") from exc
    finally:
        state.limiter.leave(place)
    where = f"{model_name} at {state.endpoint.base_url}"
    try:
        rows = sorted(found.data, key=lambda row: row.index)
        vectors = [[float(number) for number in row.embedding] for row in rows]
    except (AttributeError, TypeError, ValueError) as exc:
        raise GraderError(f"{where}: not embeddings: {found!r:.200}") from exc
    if len(vectors) != len(texts) or not all(any(vector) and all(map(math.isfinite, vector)) for vector in vectors):
        raise GraderError(f"{where}: {len(vectors)} embeddings for {len(texts)} texts, or some of zeros or NaN")
    return vectors


class ReplyFormat:
    """The strongest reply format that the endpoint takes: JSON schema, else JSON object, else text.

    While the format is not known, one request goes first, and the others wait until it has ended in any way. So at
    most two requests are refused, and an endpoint that hangs delays the other requests by no more than one try.
    """

    def __init__(self) -> None:
        self._current = 0
        self._known = False
        self._crashes = 0
        self._first: asyncio.Event | None = None

    def find(self, schema: Mapping[str, Any] | None, send: Callable[[Mapping[str, Any]], Awaitable[T]]) -> Awaitable[T]:
        """Send a request in the strongest format that the endpoint does not refuse; gives the answer of `send`.

        Args:
            schema: of the reply; None for free text, which tests no format.
            send: sends one request with these further fields.
        """
        if schema is None:
            return send({})
        if self._known:
            return send(_format_fields(_FORMATS[self._current], schema))
        return self._find(schema, send)

    async def _find(self, schema: Mapping[str, Any], send: Callable[[Mapping[str, Any]], Awaitable[T]]) -> T:
        first = None
        if not self._known and self._first is not None:
            await self._first.wait()
        elif not self._known:
            first = self._first = asyncio.Event()
        try:
            while True:
                used = self._current
                try:
                    answer = await send(_format_fields(_FORMATS[used], schema))
                # An error of any type may refuse the format: its status decides; raise all others
                except Exception as exc:
                    if not self._was_refused(used, getattr(exc, "status_code", None)):
                        raise
                else:
                    self._known = self._known or used == self._current
                    return answer
        finally:
            if first is not None:
                first.set()

    def _was_refused(self, used: int, status: int | None) -> bool:
        """Whether the request should be sent again, in another format."""
        if status == _CRASHED and not self._known:
            # Some servers crash over a format. Any server may answer one request so, hardly two in a row
            self._crashes = (self._crashes + 1) % _CRASHES
            if self._crashes == 0 and used == self._current:
                self._current = (used + 1) % len(_FORMATS)
            return False  # the next try, if there is one, is in the weaker format
        if status not in _FORMAT_REFUSED:
            return False
        if used != self._current:
            return True  # another request found a weaker format meanwhile
        if self._known:
            return False
        # Where plain text is refused, too, the format was not the cause: begin again with the strongest
        self._current = (used + 1) % len(_FORMATS)
        return self._current > 0


def _format_fields(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if name == "text":
        return {}
    if name == "json_object":
        return {"response_format": {"type": "json_object"}}
    wanted = {"name": "verdict", "strict": True, "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": wanted}}


@dataclass(frozen=True, slots=True)
class _FailedRequest:
    """Why a request failed.

    Attributes:
        words: the reason.
        to_mend: what a person has to change before a request can succeed; empty if another try may succeed.
        asked: seconds that the endpoint's Retry-After asks for.
        is_key_spent: whether the account has no quota left.
    """

    words: str
    to_mend: str = ""
    asked: float = 0.0
    is_key_spent: bool = False


def _failure(exc: Exception, try_seconds: float) -> _FailedRequest:
    """`exc` as the failure of a request; raises `exc` itself if it is no error of a request, but of this program."""
    import openai

    if isinstance(exc, openai.APIStatusError):
        status = exc.status_code
        words, asked = f"HTTP {status}: {exc.message}", retry_after(exc.response.headers)
        if exc.code == "insufficient_quota":
            return _FailedRequest(words, "the account has no quota left", is_key_spent=True)
        if status in _RETRIED or status >= 500:
            return _FailedRequest(words, asked=asked)
        if status == 404:
            return _FailedRequest(words, _not_found(exc))
        return _FailedRequest(words, _WHAT_TO_MEND.get(status, "the endpoint refuses such requests"))
    if isinstance(exc, TimeoutError):
        return _FailedRequest(f"no answer within {try_seconds:g} s")
    if isinstance(exc, openai.APIConnectionError):
        return _FailedRequest(_connection_failure(exc))
    if isinstance(exc, openai.APIError | ValueError):
        return _FailedRequest(f"the endpoint's answer could not be read: {exc}")
    raise exc


def _not_found(exc: openai.APIStatusError) -> str:
    base = str(exc.request.url.copy_with(query=None)).removesuffix("/chat/completions").removesuffix("/embeddings")
    if "model" in exc.message.lower():
        return f"check model_name: {base}/models lists the models that are served"
    if base.endswith("/v1"):
        return "check model_name and base_url"
    return f"most servers want base_url to end in /v1: write base_url: {base}/v1"


def _connection_failure(exc: Exception) -> str:
    found: BaseException | None = exc
    while found is not None:
        if isinstance(found, ConnectionRefusedError):
            return _UNREACHED[0]
        if isinstance(found, socket.gaierror):
            return _UNREACHED[1]
        found = found.__cause__
    return f"connection failed: {exc.__cause__ or exc}"


class Tries:
    """The failures of one verdict so far, and the decision whether to ask again.

    Attributes:
        keys: the endpoint's keys without those that it refused; the first one's turn is next.
        failures: what failed, in words.
        said: the last unreadable reply that said something.
    """

    def __init__(self, settings: ChatSettings, endpoint: Endpoint, turn: int = 0) -> None:
        self._settings, self._endpoint = settings, endpoint
        self._unreadable = self._broken = self._busy = 0
        self.said = ""
        most = settings.max_retries
        self._retries = Retries(most=None if most is None else most + 1)
        self.keys = deque(endpoint.keys)
        self.keys.rotate(-turn)
        self.failures: list[str] = []

    def unreadable(self, exc: ReplyError, reply: Reply | None) -> None:
        """Record an unreadable reply, the last one; raises GraderError when there were more than `max_reasks`."""
        self._unreadable += 1
        if reply is not None and (said := (reply.refusal or reply.text).strip()):
            self.said = said
        self.failures.append(str(exc))
        self.keys.rotate(-1)
        if self._unreadable > self._settings.max_reasks:
            raise self._unreadable_error("no readable verdict") from exc

    def _unreadable_error(self, headline: str, kind: type[UnreadableReplies] = UnreadableReplies) -> UnreadableReplies:
        error = kind(self.report(headline))
        error.tries, error.said = self._unreadable + self._broken or 1, self.said
        return error

    def varied(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """`body` at a higher temperature, for a request after an unreadable reply."""
        if body.get("temperature") is None:
            return body
        return {**body, "temperature": max(body["temperature"], _REASK_TEMPERATURE)}

    def failed(self, exc: Exception, deadline: float | None, *, answered: bool, judged: bool = False) -> float:
        """Record a failed request.

        Args:
            exc: what it raised.
            deadline: of the verdict, by the loop's clock; None while it has not begun.
            answered: whether the endpoint has ever answered; then it is waited for, even if nobody listens now.
            judged: whether it has ever given a verdict.

        Returns:
            Seconds before the next request.

        Raises:
            GraderError: there is no next request within the deadline and the bound on retries.
        """
        failure = _failure(exc, self._settings.seconds_of_a_try)
        self.failures.append(failure.words)
        # An endpoint that nobody reached says nothing about the prompt, nor does one that asks for time
        status = getattr(exc, "status_code", 500)
        busy = status in _RETRIED or status in _OVERLOADED
        self._busy += busy and not failure.asked
        self._broken += status >= 500 and not busy and failure.words not in _UNREACHED
        if len(self.keys) > 1 and (status in _KEY_REFUSED or failure.is_key_spent):
            self.keys.popleft()
            return 0.0
        self.keys.rotate(-1)
        if failure.to_mend:
            # A firewall refuses a text with any status; but before the first verdict the endpoint is to be mended
            if judged or is_about_prompt(status):
                self._unreadable += 1
                raise self._unreadable_error(failure.to_mend) from exc
            raise GraderError(self.report(failure.to_mend)) from exc
        remaining = math.inf if deadline is None else deadline - asyncio.get_running_loop().time()
        refused = not answered and is_refused(exc)
        pause = self._retries.pause(remaining, failure.asked, refused=refused)
        if pause is not None:
            return pause
        if refused:
            raise GraderError(self.report("nobody listens there: check base_url, and whether it was started")) from exc
        if self._retries.exhausted and self._broken:
            raise self._unreadable_error("the endpoint failed too often") from exc
        if self._retries.exhausted:
            raise self._busy_or(GraderError, "the endpoint failed too often") from exc
        headline = f"no verdict within {self._settings.deadline_seconds:g} s"
        if failure.asked:
            headline += f", the endpoint asks to wait {failure.asked:.0f} s, beyond the deadline"
        raise self.out_of_time(headline) from exc

    def unanswered(self, *, sent: bool) -> None:
        """Record that the deadline ended the verdict's first request; this counts only if the request was `sent`."""
        self._broken += sent and not self.failures

    def out_of_time(self, headline: str) -> GraderError:
        """The error of a verdict past its deadline: a GraderTimeout, or a GraderError if nobody ever answered."""
        if self._unreadable + self._broken:
            return self._unreadable_error(headline, LateReplies)
        unreachable = self.failures and all(failure in _UNREACHED for failure in self.failures)
        return self._busy_or(GraderError if unreachable else GraderTimeout, headline)

    def _busy_or(self, kind: type[GraderError], headline: str) -> GraderError:
        """A BusyReplies if all requests failed because the endpoint was busy, without a Retry-After; else a `kind`."""
        if self.failures and self._busy == len(self.failures):
            return self._unreadable_error(headline, BusyReplies)
        return kind(self.report(headline))

    def report(self, headline: str) -> str:
        """`headline` with each kind of failure and its count, without the key."""
        counted = Counter(self.failures)
        causes = "; ".join(f"{failure} ({times}x)" if times > 1 else failure for failure, times in counted.items())
        model = f"{self._settings.model_name} at {self._endpoint.base_url}"
        return self._endpoint.masked(f"{model}: {headline}: {causes or 'no answer'}")
