"""Gets one call answered over a network that fails: limits, a deadline, and retries by meaning.

What may be sent again is decided by what a second sending could do. A call that changes nothing is tried again after
every failure that may pass, any other only when the first request surely did not arrive. Tries end with the deadline.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import httpx

from agentscope_tuner._http.answer import BadAnswer, HttpAnswer, HttpCall
from agentscope_tuner._http.limits import HttpLimits, Peer
from agentscope_tuner._http.retry import Retries, Turns, pace_of, retry_after
from agentscope_tuner._version import __version__
from agentscope_tuner.errors import ConfigError, JudgeError

T = TypeVar("T")
logger = logging.getLogger(__name__)

# the service, or the proxy before it, says that a later try may do better
_PASSING_STATUS = frozenset({429, 502, 503, 504})
#: uvicorn drops connections idle for 5 s; a call sent down one that is closing might not be sent again.
KEEPALIVE_SECONDS = 2.0
# no byte of the request was sent
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
# a call that is still tried then is worth a line in the log
_TRIES_BEFORE_A_WARNING = 3
_MOST_CHARS = 2000


@dataclass(frozen=True, slots=True)
class _Connections:
    """One event loop's connections, and the turns to use them: httpx's own queue slows down as it grows."""

    transport: httpx.AsyncBaseTransport
    turns: Turns


class HttpExchange:
    """Sends calls to one service. Serves any number of event loops, each with connections of its own.

    Args:
        peer: the kind of service.
        base_url: `http://host:port`, with a path when the service lives below one.
        limits: patience and sizes, and the token.
        read_token: asked for the token again after a 401: who runs the service may have changed it.
        transport: in place of the network, for tests: httpx's own seam.

    Raises:
        ConfigError: `base_url` is not an http URL, or carries a password, a query or a fragment.
    """

    def __init__(
        self,
        peer: Peer,
        base_url: str,
        limits: HttpLimits,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        read_token: Callable[[], str | None] = lambda: None,
    ) -> None:
        self.base_url = _checked_url(peer.name, base_url)
        self.limits = limits
        self._peer = peer
        self._transport = transport
        self._token = limits.token
        self._read_token = read_token
        self._headers = {
            "User-Agent": f"agentscope-tuner/{__version__}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
        }
        self._urls: dict[str, httpx.URL] = {}
        self._pools: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Connections] = weakref.WeakKeyDictionary()

    async def run(self, call: HttpCall[T]) -> T:
        """The result of `call`.

        Raises:
            JudgeError: of the peer's kind; the message names the call and the tries made.
        """
        clock = asyncio.get_running_loop().time
        end = clock() + (self.limits.deadline if call.patient else min(self.limits.deadline, call.seconds))
        retries = Retries(self.limits.backoff, self.limits.tries)
        earlier = ""
        while True:
            token = self._token
            asked = 0.0
            try:
                answer = await self._send(call, end)
                if answer.status in _PASSING_STATUS:
                    asked = answer.retry_after
                return call.parse(answer)
            except BadAnswer as exc:
                detail = exc.detail if token is None else exc.detail.replace(token, "***")
                error = self._peer.bad_answer(exc.status, detail, exc.where)
                passing = call.repeatable and exc.status in _PASSING_STATUS
                # refused before anything was done
                passing = passing or (exc.status == 401 and self._has_other_token(token))
                cause: Exception | None = exc.__cause__ if isinstance(exc.__cause__, Exception) else None
            except (httpx.TransportError, TimeoutError) as exc:
                error, cause = self._network_error(exc, call, retries.tried + 1, earlier), exc
                passing = call.repeatable or isinstance(exc, _NOT_SENT)
            pause = retries.pause(end - clock(), asked) if passing else None
            if pause is None:
                raise error from cause
            earlier = error.message
            level = logging.WARNING if retries.tried == _TRIES_BEFORE_A_WARNING else logging.INFO
            logger.log(level, "try %d failed, the next in %.2f s: %s", retries.tried, pause, error)
            await asyncio.sleep(pause)

    async def aclose(self) -> None:
        """Closes the connections of the running loop; the next call opens new ones."""
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.transport.aclose()

    async def _send(self, call: HttpCall[T], call_end: float) -> HttpAnswer:
        """One try, from waiting for a connection to the last byte."""
        pool = self._pool()
        async with asyncio.timeout_at(call_end) as limit, pool.turns.turn(call_end) as turn:
            now = asyncio.get_running_loop().time()
            end = min(now + call.seconds, call_end)
            limit.reschedule(end)
            response = await pool.transport.handle_async_request(self._request(call, end - now))
            try:
                body = await self._read(response, call.where)
            finally:
                await response.aclose()
            asked = retry_after(response.headers)
            if response.status_code == 429 or (response.status_code == 503 and asked):
                turn.refused(asked)
            else:
                turn.answered()
        if response.status_code != 200 and self._token is not None:
            # a service that fails may quote the request's headers; here, before a long traceback is cut in its middle
            body = body.replace(self._token.encode(), b"***")
        return HttpAnswer(response.status_code, response.headers.get("Content-Type", ""), body, asked)

    def _has_other_token(self, token: str | None) -> bool:
        if self._token == token and (fresh := self._read_token()) is not None:
            self._token = fresh
        return self._token != token

    def _request(self, call: HttpCall[T], seconds: float) -> httpx.Request:
        headers = dict(self._headers)
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        if call.closing:
            headers["Connection"] = "close"
        if self._peer.deadline_header is not None:
            headers[self._peer.deadline_header] = f"{max(seconds, 0.001):.3f}"
        url = self._urls.get(call.path)
        if url is None:
            url = self._urls[call.path] = httpx.URL(self.base_url + call.path)
        return httpx.Request(
            "GET" if call.body is None else "POST",
            url,
            headers=headers,
            content=call.body,
            # a try is bounded as a whole: a limit for each read would let a slow drip go on for ever
            extensions={"timeout": {"connect": self.limits.connect_timeout}},
        )

    async def _read(self, response: httpx.Response, where: str) -> bytes:
        limit = self.limits.max_response_bytes
        encoding = response.headers.get("Content-Encoding", "").strip()
        if encoding.lower() not in {"", "identity"}:
            # it was not asked for, and a few kilobytes may unpack to gigabytes
            raise BadAnswer(response.status_code, f"Content-Encoding {encoding!r} was not asked for", where)
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > limit:
                detail = f"the answer is longer than max_response_bytes={limit}: {bytes(body[:200])!r}"
                raise BadAnswer(response.status_code, detail, where)
        return bytes(body)

    def _pool(self) -> _Connections:
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None:
            size = self.limits.max_connections
            # the transport and not httpx's client: no proxy or .netrc of the environment, no redirects and no cookies,
            # which such a service has no use for, and half the time of a call
            transport = self._transport or httpx.AsyncHTTPTransport(
                limits=httpx.Limits(
                    max_connections=size, max_keepalive_connections=size, keepalive_expiry=KEEPALIVE_SECONDS
                ),
                # plain http has no use for the certificates, whose loading takes longer than a call
                verify=self.base_url.startswith("https"),
                trust_env=False,
            )
            pool = self._pools[loop] = _Connections(transport, Turns(size, pace_of(self.base_url)))
        return pool

    def _network_error(self, exc: Exception, call: HttpCall[T], tried: int, earlier: str) -> JudgeError:
        told = f"{call.where} at {self.base_url}, try {tried}: {type(exc).__name__} {exc}".rstrip()
        if not isinstance(exc, TimeoutError | httpx.TimeoutException):
            return self._peer.unreachable(told)
        told += f" ({call.seconds:g} s for a try, {self.limits.deadline:g} s in all)"
        # the deadline cuts a try short; what failed before it tells more
        return self._peer.timeout(f"{told}; before that {earlier}"[:_MOST_CHARS] if earlier else told)


def _checked_url(name: str, base_url: str) -> str:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as exc:
        raise ConfigError(f"the {name}'s URL is not one: {base_url!r} ({exc})") from exc
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigError(f"the {name}'s URL must read http://host:port or https://host, got {base_url!r}")
    if url.userinfo:
        # it would end up in logs and errors
        raise ConfigError(f"the {name}'s URL must carry no name and password: set a token, for {url.host!r}")
    if url.query or url.fragment or "?" in base_url or "#" in base_url:
        raise ConfigError(f"the {name}'s URL must have no ?query and no #fragment, got {base_url!r}")
    return str(url).rstrip("/")
