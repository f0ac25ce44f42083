"""Gets one call answered over a network that fails: limits, a deadline, and retries by meaning.

What may be sent again is decided by what a second sending could do. Evaluate, get_info, profile and healthz change
nothing, so they are tried again after every failure that may pass. Create, step and release are tried again only when
the first request surely did not arrive.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import TypeVar

import httpx

from agentscope_tuner._version import __version__
from agentscope_tuner.env_service.wire import Answer, Call, Verb
from agentscope_tuner.errors import ConfigError, EnvServerError, EnvServiceError, EnvTimeout, EnvUnreachable

T = TypeVar("T")
logger = logging.getLogger(__name__)

#: Seconds one try of a verb may take, from connecting to the last byte of the answer.
TIMEOUTS: Mapping[str, float] = MappingProxyType(
    {
        "healthz": 5.0,
        "get_env_profile": 30.0,
        "create": 60.0,
        "step": 60.0,
        "evaluate": 120.0,
        "get_info": 30.0,
        "release": 10.0,
    }
)

# the service, or the proxy before it, says that a later try may do better
_PASSING_STATUS = frozenset({429, 502, 503, 504})
#: uvicorn drops connections idle for 5 s; a step sent down one that is closing could not be sent again.
KEEPALIVE_SECONDS = 2.0
# no byte of the request was sent
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_MAX_BACKOFF = 10.0


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """How patient a client is, and how much it takes.

    Attributes:
        token: sent as `Authorization: Bearer …` when set.
        timeouts: seconds one try may take, by verb, in place of those in `TIMEOUTS`.
        connect_timeout: seconds to connect, within the verb's own.
        deadline: seconds a call may take in all: tries, the waits between them, the wait for a connection.
        tries: how often a call that may be repeated is sent at most.
        backoff: seconds before the second try; doubled each time, with jitter. A longer Retry-After is honoured.
        max_response_bytes: a longer answer is refused while it streams in.
        max_connections: calls under way at once; more wait their turn.
    """

    token: str | None = field(default=None, repr=False)
    timeouts: Mapping[str, float] = field(default_factory=dict)
    connect_timeout: float = 5.0
    deadline: float = 300.0
    tries: int = 3
    backoff: float = 0.2
    max_response_bytes: int = 8 * 1024 * 1024
    max_connections: int = 64

    def __post_init__(self) -> None:
        unknown = sorted(set(self.timeouts) - set(TIMEOUTS))
        if unknown:
            raise ConfigError(f"timeouts names no verb of the env service: {unknown!r}; there are {sorted(TIMEOUTS)!r}")
        for name in ("tries", "max_response_bytes", "max_connections"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise ConfigError(f"{name} must be a whole number, got {value!r}")
            _check_number(name, value)
        _check_number("connect_timeout", self.connect_timeout)
        _check_number("deadline", self.deadline)
        _check_number("backoff", self.backoff, or_zero=True)
        for verb, seconds in self.timeouts.items():
            _check_number(f"timeouts[{verb!r}]", seconds)
        # "!" to "~": whatever else a header cannot carry, and the network's error would show it
        if self.token is not None and not (self.token and all("!" <= char <= "~" for char in self.token)):
            raise ConfigError("token must be visible ASCII characters without white space; is a line break in it?")

    def timeout(self, verb: Verb) -> float:
        """Seconds one try of `verb` may take."""
        return self.timeouts.get(verb.value, TIMEOUTS[verb.value])


def _check_number(name: str, value: object, *, or_zero: bool = False) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{name} must be a number, got {value!r}")
    if not (value > 0 or (or_zero and value == 0)):
        raise ConfigError(f"{name} must be {'at least' if or_zero else 'above'} 0, got {value!r}")


@dataclass(frozen=True, slots=True)
class _Pool:
    """One event loop's connections, and the turns to use them: httpx's own queue slows down as it grows."""

    transport: httpx.AsyncBaseTransport
    turns: asyncio.Semaphore


class Exchange:
    """Sends calls to one service. Serves any number of event loops, each with connections of its own.

    Args:
        base_url: `http://host:port`, with a path when the service lives below one.
        options: limits.
        transport: in place of the network, for tests: httpx's own seam.
    """

    def __init__(
        self, base_url: str, options: ClientOptions, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        try:
            url = httpx.URL(base_url)
        except httpx.InvalidURL as exc:
            raise ConfigError(f"the env service's URL is not one: {base_url!r} ({exc})") from exc
        if url.scheme not in {"http", "https"} or not url.host:
            raise ConfigError(f"the env service's URL must read http://host:port or https://host, got {base_url!r}")
        if url.userinfo:
            # it would end up in logs and errors
            raise ConfigError(f"the env service's URL must carry no name and password: set a token, for {url.host!r}")
        if url.query or url.fragment or "?" in base_url or "#" in base_url:
            raise ConfigError(f"the env service's URL must have no ?query and no #fragment, got {base_url!r}")
        self.base_url = str(url).rstrip("/")
        self._urls = {verb: httpx.URL(f"{self.base_url}/{verb.value}") for verb in Verb}
        self.options = options
        self._transport = transport
        self._headers = {
            "User-Agent": f"agentscope-tuner/{__version__}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
        }
        if options.token is not None:
            self._headers["Authorization"] = f"Bearer {options.token}"
        self._pools: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Pool] = weakref.WeakKeyDictionary()

    async def run(self, call: Call[T]) -> T:
        """The result of `call`.

        Raises:
            EnvServiceError: a subclass that says what went wrong; the message names the call and the tries made.
        """
        clock = asyncio.get_running_loop().time
        end = clock() + self.options.deadline
        tries = 0
        while True:
            tries += 1
            retry_after = 0.0
            try:
                answer = await self._send(call, end - clock())
                if answer.status in _PASSING_STATUS:
                    retry_after = _retry_after_seconds(answer.retry_after)
                return call.parse(answer)
            except EnvServerError as exc:
                error: EnvServiceError = self._without_token(exc)
                passing = call.verb.repeatable and exc.status in _PASSING_STATUS
                cause: Exception | None = exc.__cause__ if isinstance(exc.__cause__, Exception) else None
            except (httpx.TransportError, TimeoutError) as exc:
                error, cause = self._network_error(exc, call, tries), exc
                passing = call.verb.repeatable or isinstance(exc, _NOT_SENT)
            pause = max(self._backoff(tries), retry_after)
            if not passing or tries >= self.options.tries or clock() + pause >= end:
                raise error from cause
            logger.info("try %d failed, the next in %.2f s: %s", tries, pause, error)
            await asyncio.sleep(pause)

    async def aclose(self) -> None:
        """Closes the connections of the running loop; the next call opens new ones."""
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.transport.aclose()

    async def _send(self, call: Call[T], remaining: float) -> Answer:
        """One try, from waiting for a connection to the last byte."""
        pool = self._pool()
        async with asyncio.timeout(remaining) as limit, pool.turns:
            end = asyncio.get_running_loop().time() + self.options.timeout(call.verb)
            limit.reschedule(min(end, limit.when() or end))
            response = await pool.transport.handle_async_request(self._request(call))
            try:
                body = await self._read(response, call.where)
            finally:
                await response.aclose()
        if response.status_code != 200 and self.options.token is not None:
            # before a long traceback is cut, perhaps in the middle of it
            body = body.replace(self.options.token.encode(), b"***")
        return Answer(
            status=response.status_code,
            content_type=response.headers.get("Content-Type", ""),
            body=body,
            retry_after=response.headers.get("Retry-After", ""),
        )

    def _without_token(self, error: EnvServerError) -> EnvServerError:
        # a service that fails may quote the request's headers in its traceback
        token = self.options.token
        if token is None or token not in error.detail:
            return error
        return EnvServerError(error.status, error.detail.replace(token, "***"), error.where)

    def _request(self, call: Call[T]) -> httpx.Request:
        headers = dict(self._headers)
        if call.verb is Verb.EVALUATE:
            # it may be the last thing a service answers before it drops the connection: no one may inherit it
            headers["Connection"] = "close"
        return httpx.Request(
            "GET" if call.body is None else "POST",
            self._urls[call.verb],
            headers=headers,
            content=call.body,
            # a try is bounded as a whole: a limit for each read would let a slow drip go on for ever
            extensions={"timeout": {"connect": self.options.connect_timeout}},
        )

    async def _read(self, response: httpx.Response, where: str) -> bytes:
        limit = self.options.max_response_bytes
        encoding = response.headers.get("Content-Encoding", "").strip()
        if encoding.lower() not in {"", "identity"}:
            # it was not asked for, and a few kilobytes may unpack to gigabytes
            raise EnvServerError(response.status_code, f"Content-Encoding {encoding!r} was not asked for", where)
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > limit:
                detail = f"the answer is longer than max_response_bytes={limit}: {bytes(body[:200])!r}"
                raise EnvServerError(response.status_code, detail, where)
        return bytes(body)

    def _pool(self) -> _Pool:
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None:
            size = self.options.max_connections
            # the transport and not httpx's client: no proxy or .netrc of the environment, no redirects and no cookies,
            # which an env service has no use for, and half the time of a call
            transport = self._transport or httpx.AsyncHTTPTransport(
                limits=httpx.Limits(
                    max_connections=size, max_keepalive_connections=size, keepalive_expiry=KEEPALIVE_SECONDS
                ),
                # plain http has no use for the certificates, whose loading takes longer than a call
                verify=self.base_url.startswith("https"),
                trust_env=False,
            )
            pool = self._pools[loop] = _Pool(transport, asyncio.Semaphore(size))
        return pool

    def _backoff(self, tries: int) -> float:
        # jitter: a thousand episodes that failed together must not come back together
        # the exponent is bounded too: 2.0**1024 is an OverflowError
        return min(_MAX_BACKOFF, self.options.backoff * 2.0 ** min(tries - 1, 64)) * random.uniform(0.5, 1.5)

    def _network_error(self, exc: Exception, call: Call[T], tries: int) -> EnvServiceError:
        told = f"{call.where} at {self.base_url}, try {tries}: {type(exc).__name__} {exc}".rstrip()
        if isinstance(exc, TimeoutError | httpx.TimeoutException):
            limits = f"{self.options.timeout(call.verb):g} s for a try, {self.options.deadline:g} s in all"
            return EnvTimeout(f"{told} ({limits})")
        return EnvUnreachable(told)


def _retry_after_seconds(header: str) -> float:
    """The wait that a Retry-After header asks for, in seconds or as a date; 0.0 when it asks for none."""
    if not header:
        return 0.0
    if header.strip().isdecimal():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, OverflowError):
        # a date with an offset of 10^12 hours has a syntax and no meaning
        return 0.0
