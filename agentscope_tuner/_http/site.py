"""One address of a service: its connections, and one try of a call."""

from __future__ import annotations

import asyncio
import ssl
import weakref
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from agentscope_tuner._http.answer import BadAnswer, HttpAnswer, HttpCall
from agentscope_tuner._http.limits import HttpLimits
from agentscope_tuner._http.retry import Turns, pace_of, retry_after
from agentscope_tuner.errors import ConfigError

#: Seconds. uvicorn drops connections that are idle for 5 s, and a call over a closing connection may not be repeatable.
KEEPALIVE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class _Connections:
    """One event loop's connections, and a queue for them, because httpx's own queue slows down as it grows.

    Attributes:
        apart: see HttpCall.
        until_the_end: closes the connections with the event loop. The reference must be kept: without one it closes at
            once.
    """

    transport: httpx.AsyncBaseTransport
    apart: httpx.AsyncBaseTransport
    turns: Turns
    until_the_end: AsyncGenerator[None, None] | None


class HttpSite:
    """Serves any number of event loops, each with connections of its own.

    Args:
        base_url: `http://host:port`, with a path when the service lives below one.
        limits: sizes and certificates.
        transport: in place of the network, for tests.

    Raises:
        ConfigError: the certificates of `limits.ca_file` cannot be read.
    """

    def __init__(self, base_url: str, limits: HttpLimits, transport: httpx.AsyncBaseTransport | None) -> None:
        self.base_url = base_url
        self._limits = limits
        self._transport = transport
        self._tls = _trusting(limits.ca_file) if limits.ca_file is not None and self._is_https() else None
        self._urls: dict[str, httpx.URL] = {}
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Connections] = weakref.WeakKeyDictionary()

    async def send(
        self, call: HttpCall[Any], call_end: float, headers: Mapping[str, str], told: str | None
    ) -> HttpAnswer:
        """One try, from waiting for a connection to the last byte.

        Args:
            call: what is asked.
            call_end: when the call's whole time is over, by the loop's clock.
            headers: of the request.
            told: the header that tells the service how many seconds the try may take; None for none.
        """
        connections = await self._connections()
        async with asyncio.timeout_at(call_end) as limit, connections.turns.turn(call_end) as turn:
            now = asyncio.get_running_loop().time()
            end = min(now + call.seconds, call_end)
            limit.reschedule(end)
            if told is not None:
                headers = {**headers, told: f"{max(end - now, 0.001):.3f}"}
            response = await self._answered(connections, call, headers)
            try:
                body = await self._read(response, call.where)
            finally:
                await response.aclose()
            asked = retry_after(response.headers)
            if response.status_code == 429 or (response.status_code == 503 and asked):
                turn.refused(asked)
            else:
                turn.answered()
        return HttpAnswer(response.status_code, response.headers.get("Content-Type", ""), body, asked)

    async def _answered(
        self, connections: _Connections, call: HttpCall[Any], headers: Mapping[str, str]
    ) -> httpx.Response:
        request = self._request(call, headers)
        if not call.apart:
            return await connections.transport.handle_async_request(request)
        try:
            return await connections.apart.handle_async_request(request)
        except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError):
            if not request.extensions.get("reused_connection"):
                raise
        # The service had dropped the idle connection before the call, so the failure says nothing about this call
        return await connections.apart.handle_async_request(self._request(call, headers))

    async def aclose(self) -> None:
        """Closes the connections of the running loop; the next call opens new ones."""
        connections = self._by_loop.pop(asyncio.get_running_loop(), None)
        if connections is not None:
            await connections.transport.aclose()
            await connections.apart.aclose()

    def _request(self, call: HttpCall[Any], headers: Mapping[str, str]) -> httpx.Request:
        url = self._urls.get(call.path)
        if url is None:
            url = self._urls[call.path] = httpx.URL(self.base_url + call.path)
        return httpx.Request(
            "GET" if call.body is None else "POST",
            url,
            headers=headers,
            content=call.body,
            # Bound the try as a whole: with a limit for each read, a service that sends slowly could go on for ever
            extensions={"timeout": {"connect": self._limits.connect_timeout}},
        )

    async def _read(self, response: httpx.Response, where: str) -> bytes:
        limit = self._limits.max_response_bytes
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

    async def _connections(self) -> _Connections:
        loop = asyncio.get_running_loop()
        connections = self._by_loop.get(loop)
        if connections is None:
            size = self._limits.max_connections
            # A trainer with an event loop for each step would otherwise keep the connections of all its steps
            for known in self._by_loop.keyrefs():
                earlier = known()
                if earlier is not None and earlier.is_closed():
                    self._by_loop.pop(earlier, None)
            opened = (self._opened(size), self._opened(size))
            until_the_end = None
            if self._transport is None:
                until_the_end = _closing(*opened)
                # asyncio.run closes the asynchronous generators that have begun, and only then its loop
                await anext(until_the_end)
            turns = Turns(size, pace_of(self.base_url))
            connections = self._by_loop[loop] = _Connections(*opened, turns, until_the_end)
        return connections

    def _opened(self, size: int) -> httpx.AsyncBaseTransport:
        # A transport and not a client: no proxy or .netrc of the environment, no redirects and no cookies, since such a
        # service needs none; and a call takes half the time
        if self._transport is not None:
            return self._transport
        # Importing aiohttp takes longer than a call
        from agentscope_tuner._http.transport import AiohttpTransport

        # plain http has no use for certificates, whose loading takes longer than a call
        if self._tls is None and self._is_https():
            # The usual certificates, or those of SSL_CERT_FILE and SSL_CERT_DIR
            self._tls = httpx.create_ssl_context()
        return AiohttpTransport(connections=size, keepalive=KEEPALIVE_SECONDS, tls=self._tls)

    def _is_https(self) -> bool:
        return self.base_url.startswith("https")


async def _closing(*transports: httpx.AsyncBaseTransport) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        for transport in transports:
            await transport.aclose()


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
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as exc:
        raise ConfigError(f"ca_file: cannot read certificates from {ca_file!r}: {exc}") from exc
