"""Calls over a network that fails: limits, a deadline, safe retries, and other addresses of the same service.

A second request must do no harm. So a call that changes nothing is tried again after every failure that may pass; any
other call only when the first request surely did not arrive. Tries end with the deadline.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import httpx

from agentscope_tuner._http.answer import BadAnswer, HttpAnswer, HttpCall
from agentscope_tuner._http.limits import HttpLimits, Peer
from agentscope_tuner._http.retry import Retries
from agentscope_tuner._http.site import HttpSite, checked_url
from agentscope_tuner._version import __version__
from agentscope_tuner.errors import ConfigError, JudgeError

T = TypeVar("T")
logger = logging.getLogger(__name__)

# Answers of the service, or of a proxy before it, after which a later try may succeed
_PASSING_STATUS = frozenset({429, 502, 503, 504})
# Errors before any byte of the request was sent
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_TIMED_OUT = (TimeoutError, httpx.TimeoutException)
# Seconds. If less of the call's time is left after a try, the call's end stopped the try, not the try's own limit
_NOTHING_LEFT = 0.001
# After so many failed tries of a call, log a warning
_TRIES_BEFORE_A_WARNING = 3
_MOST_CHARS = 2000
# The most things whose address is remembered
_MOST_HOMES = 100_000


class _EarlierTry(NamedTuple):
    """The try before: why it failed, and whether that was a time-out."""

    message: str
    timed_out: bool


class HttpExchange:
    """Sends calls to one service. Serves any number of event loops, each with connections of its own.

    Where the service has several addresses, a call goes to the address that answered last. After a failure that may
    pass, the call goes to the next address. A thing that was created at one address is asked for at this address.

    Args:
        peer: the kind of service.
        base_urls: `http://host:port`, with a path when the service lives below one; or several of them.
        limits: patience and sizes, and the token.
        read_token: called for the token after a 401: the service's owner may have changed the token.
        transport: replaces the network in tests: httpx's own seam.

    Attributes:
        base_url: the address, or all addresses, for messages.

    Raises:
        ConfigError: there is no URL; or a URL is not an http URL, or carries a password, a query or a fragment.
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
        self._sites = [HttpSite(url, limits, transport) for url in urls]
        self._current = 0
        self._homes: OrderedDict[str, int] = OrderedDict()
        self._token = limits.token
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
        earlier: _EarlierTry | None = None
        while True:
            tries += 1
            token, asked = self._token, 0.0
            try:
                answer = await self._send(call, end, place)
                if answer.status in _PASSING_STATUS:
                    asked = answer.retry_after
                result = call.parse(answer)
            except (BadAnswer, httpx.TransportError, TimeoutError) as exc:
                cut = end - clock() < _NOTHING_LEFT
                error, passing = self._failure(exc, call, token, place, tries, earlier, cut)
                cause = exc.__cause__ if isinstance(exc, BadAnswer) else exc
            except call.unknown_here as exc:
                # This address did nothing; another address may know the thing
                if home is not None or len(waits) + 1 >= len(self._sites):
                    raise
                error, passing, cause = cast(JudgeError, exc), True, None
            else:
                self._remember(call, result, place)
                return result
            waits.append(asked)
            earlier = _EarlierTry(error.message, isinstance(cause, _TIMED_OUT))
            if passing and home is None and len(waits) < len(self._sites) and clock() < end:
                place = (place + 1) % len(self._sites)
                continue
            pause = retries.pause(end - clock(), min(waits)) if passing else None
            if pause is None:
                raise self._final(error, passing and not retries.exhausted, seconds, tries) from cause
            waits = []
            level = logging.WARNING if retries.tried == _TRIES_BEFORE_A_WARNING else logging.INFO
            logger.log(level, "try %d failed, the next in %.2f s: %s", tries, pause, error)
            await asyncio.sleep(pause)

    async def aclose(self) -> None:
        """Closes the connections of the running loop; the next call opens new ones."""
        for site in self._sites:
            await site.aclose()

    async def _send(self, call: HttpCall[T], end: float, place: int) -> HttpAnswer:
        headers = dict(self._headers)
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        answer = await self._sites[place].send(call, end, headers, self._peer.deadline_header)
        if answer.status == 200:
            return answer
        body = answer.body
        for secret in (self._token, *self.limits.headers.values()):
            if secret is not None and len(secret) > 3:
                body = body.replace(secret.encode(), b"***")
        return HttpAnswer(answer.status, answer.content_type, body, answer.retry_after)

    def _remember(self, call: HttpCall[T], result: T, place: int) -> None:
        if len(self._sites) == 1:
            return
        if not call.home:
            self._current = place
        for key in (call.home, call.home_of(result) if call.home_of is not None else ""):
            if key:
                self._homes[key] = place
                self._homes.move_to_end(key)
        while len(self._homes) > _MOST_HOMES:
            self._homes.popitem(last=False)

    def _has_other_token(self, token: str | None) -> bool:
        if self._token == token and (fresh := self._read_token()) is not None:
            self._token = fresh
        return self._token != token

    def _failure(
        self,
        exc: Exception,
        call: HttpCall[Any],
        token: str | None,
        place: int,
        tries: int,
        earlier: _EarlierTry | None,
        cut: bool,
    ) -> tuple[JudgeError, bool]:
        """Why a try failed, and whether the next try may succeed. `cut`: the call's whole time is over."""
        if not isinstance(exc, BadAnswer):
            error = self._network_error(exc, call, place, tries, earlier, cut)
            return error, call.repeatable or isinstance(exc, _NOT_SENT)
        detail = exc.detail if token is None else exc.detail.replace(token, "***")
        passing = call.repeatable and exc.status in _PASSING_STATUS
        # 401: refused before anything was done
        passing = passing or (exc.status == 401 and self._has_other_token(token))
        return self._peer.bad_answer(exc.status, detail, exc.where), passing

    def _final(self, error: JudgeError, out_of_time: bool, seconds: float, tries: int) -> JudgeError:
        if not out_of_time or self._peer.out_of_time is None:
            return error
        told = (
            f"no verdict within {seconds:g} s, the deadline for a verdict, by {tries} tries; the last: {error.message}"
        )
        return self._peer.out_of_time(told[:_MOST_CHARS])

    def _network_error(
        self, exc: Exception, call: HttpCall[Any], place: int, tried: int, earlier: _EarlierTry | None, cut: bool
    ) -> JudgeError:
        told = f"{call.where} at {self._sites[place].base_url}, try {tried}: {type(exc).__name__} {exc}".rstrip()
        if not isinstance(exc, _TIMED_OUT):
            return self._peer.unreachable(told)
        told += f" ({call.seconds:g} s for a try, {self.limits.deadline:g} s in all)"
        if earlier is not None and cut and not earlier.timed_out:
            # The deadline cut this try short, so report the failure of the try before: a refused connection is then not
            # reported as a time-out
            told = f"{earlier.message}; the {self.limits.deadline:g} s in all ended try {tried}"
        elif earlier is not None:
            told = f"{told}; before that {earlier.message}"
        return self._peer.timeout(told[:_MOST_CHARS])
