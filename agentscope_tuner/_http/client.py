"""Calls of a service over a network that fails: limits, a deadline, safe retries, other addresses of the same service.

A second request must do no harm. So a call that changes nothing is tried again after every failure that may pass; any
other call only when the first request surely did not arrive. Tries end with the deadline.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import httpx

from agentscope_tuner._http import BadAnswer, HttpAnswer, HttpCall, HttpLimits, Peer
from agentscope_tuner._http.limiter import Limiter, pace_of
from agentscope_tuner._http.retries import PASSING_STATUS, Retries, is_busy, is_refused, may_repeat, retry_after
from agentscope_tuner._run.loops import PerLoop
from agentscope_tuner._version import __version__
from agentscope_tuner.errors import ConfigError, JudgeError, told

T = TypeVar("T")
logger = logging.getLogger(__name__)

_TIMED_OUT = (TimeoutError, httpx.TimeoutException)
# Seconds. If less of the call's time is left after a try, the call's end stopped the try, not the try's own limit
_NOTHING_LEFT = 0.001
# After so many failed tries of a call, log a warning
_TRIES_BEFORE_A_WARNING = 3
_MOST_CHARS = 2000
# The most things whose address is remembered
_MOST_HOMES = 100_000


@dataclass(frozen=True, slots=True)
class _FailedTry:
    """Why a try failed.

    Attributes:
        error: the failure as the peer's kind of error, which names the call.
        cause: the exception that was raised in this process.
        passing: whether another try may succeed, and does no harm.
    """

    error: JudgeError
    cause: BaseException | None
    passing: bool

    @property
    def timed_out(self) -> bool:
        return isinstance(self.cause, _TIMED_OUT)


class HttpExchange:
    """Sends calls to one service. Serves any number of event loops, each with connections of its own.

    If the service has several addresses, a call goes to the address that answered last. After a failure that may pass,
    the call goes to the next address. Calls about a thing that was created at one address go to this address.

    Args:
        peer: the kind of service.
        base_urls: `http://host:port`, with a path when the service lives below one; or several of them.
        limits: the limits of time and size, and the token.
        read_token: called for the token if `limits` has none, and again after a 401: the service's owner may have
            changed the token.
        transport: replaces the network in tests: httpx's own seam.

    Attributes:
        base_url: the address, or all addresses, for messages.

    Raises:
        ConfigError: there is no URL; a URL is not an http URL, or carries a password, a query or a fragment; or the
            certificates of `limits.ca_file` cannot be read.
    """

    def __init__(
        self,
        peer: Peer,
        base_urls: str | Sequence[str],
        limits: HttpLimits,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        read_token: Callable[[], str | None] = lambda: None,
    ) -> None:
        urls = [checked_url(peer.name, url) for url in ([base_urls] if isinstance(base_urls, str) else base_urls)]
        if not urls or len(set(urls)) < len(urls):
            raise ConfigError(f"the {peer.name} needs one URL or several that differ, got {base_urls!r}")
        self.base_url = " or ".join(urls)
        self.limits = limits
        self._peer = peer
        self._urls = urls
        self._transport = transport
        is_https = any(url.startswith("https") for url in urls)
        self._tls = _trusting(limits.ca_file) if limits.ca_file is not None and is_https else None
        self._parsed: dict[str, httpx.URL] = {}
        self._limiters = PerLoop(lambda: [Limiter(limits.max_connections, pace_of(url)) for url in urls])
        self._current = 0
        self._answered = False
        self._homes: OrderedDict[str, int] = OrderedDict()
        self._token = limits.token or read_token()
        self._read_token = read_token
        self._headers = {
            "User-Agent": f"agentscope-tuner/{__version__}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            **limits.headers,
        }

    async def run(self, call: HttpCall[T]) -> T:
        """The result of `call`.

        Raises:
            JudgeError: of the peer's kind; the message names the call and the tries made.
        """
        clock = asyncio.get_running_loop().time
        seconds = self.limits.deadline if call.patient else min(self.limits.deadline, call.seconds)
        end = clock() + seconds if call.ends_at is None else min(clock() + seconds, call.ends_at)
        retries = Retries(self.limits.backoff, self.limits.tries)
        home = self._homes.get(call.home) if call.home else None
        place, waits, tries = self._current if home is None else home, list[float](), 0
        failure: _FailedTry | None = None
        while True:
            tries += 1
            token, asked = self._token, 0.0
            try:
                answer = await self._send(call, end, place)
                asked = answer.retry_after if answer.status in PASSING_STATUS else 0.0
                result = call.parse(answer)
            except BadAnswer as exc:
                failure = self._refusal(exc, call, token)
            except (httpx.TransportError, TimeoutError) as exc:
                where = f"{call.where} at {self._urls[place]}, try {tries}"
                failure = self._broken(exc, call, where, failure, cut=end - clock() < _NOTHING_LEFT)
            except call.unknown_here as exc:
                # This address did nothing; another address may know the thing
                if home is not None or len(waits) + 1 >= len(self._urls):
                    raise
                failure = _FailedTry(cast(JudgeError, exc), None, passing=True)
            else:
                self._remember(call, result, place)
                return result
            waits.append(asked)
            if failure.passing and home is None and len(waits) < len(self._urls) and clock() < end:
                place = (place + 1) % len(self._urls)
                continue
            pause = self._pause(retries, failure, end - clock(), min(waits))
            if pause is None:
                out_of_time = failure.passing and not retries.exhausted
                raise self._final(failure.error, out_of_time, seconds, tries) from failure.cause
            waits = []
            level = logging.WARNING if retries.tried == _TRIES_BEFORE_A_WARNING else logging.INFO
            logger.log(level, "try %d failed, the next in %.2f s: %s", tries, pause, failure.error)
            await asyncio.sleep(pause)

    def _pause(self, retries: Retries, failure: _FailedTry, remaining: float, asked: float) -> float | None:
        """Seconds before the next try; None if the call is not tried again."""
        if not failure.passing:
            return None
        # An endpoint that has answered before may be starting again: then the deadline decides
        return retries.pause(remaining, asked, refused=(not self._answered and is_refused(failure.cause)))

    async def aclose(self) -> None:
        """Closes the connections of the running loop; the next call opens new ones."""
        if self._transport is not None:
            await self._transport.aclose()

    async def _send(self, call: HttpCall[Any], call_end: float, place: int) -> HttpAnswer:
        """One try, from waiting for its turn to the last byte."""
        loop = asyncio.get_running_loop()
        limiter = self._limiters.here()[place]
        async with asyncio.timeout_at(call_end) as limit:
            sent_at = await limiter.turn(call_end)
            try:
                end = min(loop.time() + call.seconds, call_end)
                limit.reschedule(end)
                response = await self._road().handle_async_request(self._request(call, place, end - loop.time()))
                self._answered = True
                try:
                    body = await self._read(response, call.where)
                finally:
                    await response.aclose()
                asked = retry_after(response.headers)
                if is_busy(response.status_code, asked):
                    limiter.refused(sent_at, asked)
                else:
                    limiter.answered()
            finally:
                limiter.end()
        if response.status_code != 200:
            # A service may quote what it was sent
            for secret in (self._token, *self.limits.headers.values()):
                if secret is not None and len(secret) > 3:
                    body = body.replace(secret.encode(), b"***")
        return HttpAnswer(response.status_code, response.headers.get("Content-Type", ""), body, asked)

    def _road(self) -> httpx.AsyncBaseTransport:
        # A transport and not a client: no .netrc of the environment, no redirects and no cookies, since such a service
        # needs none; and a call takes half the time
        if self._transport is None:
            # Importing aiohttp takes longer than a call
            from agentscope_tuner._http.transport import Connections

            self._transport = Connections(most=self.limits.max_connections, most_bytes=None, tls=self._tls)
        return self._transport

    def _request(self, call: HttpCall[Any], place: int, seconds: float) -> httpx.Request:
        headers = dict(self._headers)
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        if self._peer.deadline_header is not None:
            headers[self._peer.deadline_header] = f"{max(seconds, 0.001):.3f}"
        if (url := self._urls[place] + call.path) not in self._parsed:
            # A service has a few paths; to parse a URL takes a tenth of a call
            self._parsed[url] = httpx.URL(url)
        return httpx.Request(
            "GET" if call.body is None else "POST",
            self._parsed[url],
            headers=headers,
            content=call.body,
            # Bound the try as a whole: with a limit for each read, a service that sends slowly could go on for ever
            extensions={"timeout": {"connect": self.limits.connect_timeout}, "apart": call.apart},
        )

    async def _read(self, response: httpx.Response, where: str) -> bytes:
        limit = self.limits.max_response_bytes
        encoding = response.headers.get("Content-Encoding", "").strip()
        if encoding.lower() not in {"", "identity"}:
            # The request did not allow compression, and a few kilobytes may unpack to gigabytes
            raise BadAnswer(response.status_code, f"Content-Encoding {encoding!r} was not asked for", where)
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > limit:
                detail = f"the answer is longer than max_response_bytes={limit}: {bytes(body[:200])!r}"
                raise BadAnswer(response.status_code, detail, where)
        return bytes(body)

    def _remember(self, call: HttpCall[T], result: T, place: int) -> None:
        if len(self._urls) == 1:
            return
        if not call.home:
            self._current = place
        for key in (call.home, call.home_of(result) if call.home_of is not None else ""):
            if key:
                self._homes[key] = place
                self._homes.move_to_end(key)
        while len(self._homes) > _MOST_HOMES:
            self._homes.popitem(last=False)

    def _refusal(self, exc: BadAnswer, call: HttpCall[Any], token: str | None) -> _FailedTry:
        """The failure of a try whose answer was an error status, or malformed."""
        passing = may_repeat(exc.status, repeatable=call.repeatable)
        # 401: refused before anything was done
        passing = passing or (exc.status == 401 and self._has_other_token(token))
        detail = exc.detail if token is None else exc.detail.replace(token, "***")
        return _FailedTry(self._peer.bad_answer(exc.status, detail, exc.where), exc.__cause__, passing)

    def _has_other_token(self, token: str | None) -> bool:
        if self._token == token:
            try:
                self._token = self._read_token() or token
            except ConfigError as exc:
                logger.warning("%s", exc)
        return self._token != token

    def _broken(
        self, exc: Exception, call: HttpCall[Any], where: str, earlier: _FailedTry | None, *, cut: bool
    ) -> _FailedTry:
        """The failure of a try without an answer.

        Args:
            exc: the exception of the try.
            call: the call.
            where: the call, the address and the number of the try, for the message.
            earlier: the failure of the try before; None for the first.
            cut: whether the call's whole time is over.
        """
        passing = may_repeat(exc, repeatable=call.repeatable)
        words = f"{where}: {type(exc).__name__} {exc}".rstrip()
        if not isinstance(exc, _TIMED_OUT):
            return _FailedTry(self._peer.unreachable(words), exc, passing)
        words += f" ({call.seconds:g} s for a try, {self.limits.deadline:g} s in all)"
        if earlier is not None and cut and not earlier.timed_out:
            # The deadline cut this try short, so report the failure of the try before: a refused connection is then not
            # reported as a time-out
            number = where.rpartition(" ")[2]
            words = f"{earlier.error.message}; the {self.limits.deadline:g} s in all ended try {number}"
            return _FailedTry(self._peer.timeout(words[:_MOST_CHARS]), earlier.cause, passing)
        if earlier is not None:
            words = f"{words}; before that {earlier.error.message}"
        return _FailedTry(self._peer.timeout(words[:_MOST_CHARS]), exc, passing)

    def _final(self, error: JudgeError, out_of_time: bool, seconds: float, tries: int) -> JudgeError:
        if not out_of_time or self._peer.out_of_time is None:
            return error
        words = (
            f"no verdict within {seconds:g} s, the deadline for a verdict, by {tries} tries; the last: {error.message}"
        )
        return self._peer.out_of_time(words[:_MOST_CHARS])


def checked_url(name: str, base_url: str) -> str:
    """`base_url` of the service called `name`, without a slash at its end.

    Raises:
        ConfigError: it is not an http URL, or carries a password, a query or a fragment.
    """
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as exc:
        raise ConfigError(f"the {name}'s URL is not one: {base_url!r} ({exc})") from exc
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigError(f"the {name}'s URL must read http://host:port or https://host, got {base_url!r}")
    if url.userinfo:
        # A password in the URL would appear in logs and errors
        raise ConfigError(f"the {name}'s URL must carry no name and password: set a token, for {url.host!r}")
    if url.query or url.fragment or "?" in base_url or "#" in base_url:
        raise ConfigError(f"the {name}'s URL must have no ?query and no #fragment, got {base_url!r}")
    return str(url).rstrip("/")


def _trusting(ca_file: str) -> ssl.SSLContext:
    with told(f"ca_file: cannot read certificates from {ca_file!r}"):
        return ssl.create_default_context(cafile=ca_file)
