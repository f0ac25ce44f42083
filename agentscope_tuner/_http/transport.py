"""Connections over aiohttp, as a transport of httpx: the only way by which this package reaches a service.

A call takes half of the CPU time that it takes over httpx's own transport. httpx stays the seam of tests, and callers
see httpx's errors. The module is imported when the first connection is opened, because importing aiohttp takes longer
than a call.
"""

from __future__ import annotations

import asyncio
import math
import os
import ssl
import sys
import weakref
from collections.abc import AsyncGenerator, AsyncIterator
from functools import cache
from types import SimpleNamespace
from typing import Any
from urllib.request import getproxies

import aiohttp
import httpx

#: Seconds. uvicorn drops connections that are idle for 5 s, and a call over a closing connection may not be repeatable.
KEEPALIVE_SECONDS = 2.0
# The most bytes of a status line, and of a header: the limits of httpx's own transport
_MOST_HEADER_BYTES = 100 * 1024
# The bound of a compressed body is lower, because unpacking may make it a thousand times as long
_MOST_COMPRESSED = 2**16
_UNPACKED = frozenset({"", "identity"})


class AnswerTooLong(httpx.ReadError):
    """The body of an answer is longer than its bound."""


class Connections(httpx.AsyncBaseTransport):
    """Connections without cookies and redirects. Each event loop has its own, and a forked child opens new ones.

    The limits of time are taken from a request's extensions, as httpx writes them: `connect` bounds the time to
    connect, `read` the time between two parts of an answer. The extension `apart` sends a request over connections that
    no other kind of request uses, because the service may drop them after its answer.

    Args:
        most: the most connections at once, in each event loop; 0 for no limit.
        most_bytes: the most bytes of an answer's body; reading more raises AnswerTooLong. A stream of events has no
            bound, because its parts are passed on as they come. None if the caller itself bounds what it reads.
        tls: for https; None for the usual certificates.
        proxied: whether the proxies of the environment are used.
    """

    def __init__(
        self, *, most: int, most_bytes: int | None, tls: ssl.SSLContext | None = None, proxied: bool = False
    ) -> None:
        self._most, self._most_bytes, self._tls, self._proxied = most, most_bytes, tls, proxied
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Sessions] = weakref.WeakKeyDictionary()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx.AsyncBaseTransport."""
        mine = self._by_loop.get(asyncio.get_running_loop()) or await self._open()
        apart = bool(request.extensions.get("apart"))
        limits = request.extensions.get("timeout", {})
        for last in (not apart, True):
            try:
                response = await (mine.apart if apart else mine.usual).request(
                    request.method,
                    str(request.url),
                    headers=[(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw],
                    data=request.content or None,
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(None, limits.get("connect"), limits.get("read")),
                    # plain http has no use for certificates, whose loading takes longer than a call
                    ssl=(self._tls or usual_certificates()) if request.url.scheme == "https" else True,
                    trace_request_ctx=request.extensions,
                )
                break
            except _OF_CONNECTIONS as exc:
                error = _as_httpx(exc)
                # The service had dropped the idle connection before the request, so the failure says nothing about it
                dropped = isinstance(error, _DROPPED) and request.extensions.get("reused_connection")
                if last or not dropped:
                    raise error from exc
        body = _Body(response, self._most_bytes)
        return httpx.Response(response.status, headers=list(response.raw_headers), stream=body, request=request)

    async def aclose(self) -> None:
        """Close the connections of the running event loop; the next request opens new ones."""
        if (mine := self._by_loop.pop(asyncio.get_running_loop(), None)) is not None:
            await mine.until_the_end.aclose()

    async def _open(self) -> _Sessions:
        # A trainer with an event loop for each step would otherwise keep the connections of all its steps
        for known in self._by_loop.keyrefs():
            if (earlier := known()) is not None and earlier.is_closed():
                self._by_loop.pop(earlier, None)
        mine = self._by_loop[asyncio.get_running_loop()] = _Sessions(self._most, self._proxied)
        # asyncio.run closes the asynchronous generators that have begun, and only then its loop
        await anext(mine.until_the_end)
        return mine


class Client(httpx.AsyncClient):
    """The HTTP client that openai's client is given: it sends over its transport, and does nothing else.

    To look for redirects, cookies and credentials, of which such endpoints have none, takes a fifth of a call's time.

    Args:
        connections: the transport.
    """

    def __init__(self, connections: httpx.AsyncBaseTransport) -> None:
        super().__init__(transport=connections, timeout=None, headers={"Accept-Encoding": "identity"})
        self._connections = connections

    async def send(self, request: httpx.Request, *, stream: bool = False, **_: Any) -> httpx.Response:
        """See httpx.AsyncClient."""
        response = await self._connections.handle_async_request(request)
        response.request = request
        if not stream:
            try:
                await response.aread()
            finally:
                await response.aclose()
        return response


def usual_certificates() -> ssl.SSLContext:
    """The usual certificates, or those of SSL_CERT_FILE and SSL_CERT_DIR; loaded once in a process."""
    return _certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _certificates(file: str | None, folder: str | None) -> ssl.SSLContext:
    return httpx.create_ssl_context()


def is_proxied() -> bool:
    """Whether the environment or the system sets a proxy. To ask once spares each request a search for proxies."""
    # Other systems have settings beside the environment. On Linux the variables' names suffice, and reading the values
    # would take most of the time
    return bool(getproxies()) if sys.platform != "linux" else any(name[-6:].lower() == "_proxy" for name in os.environ)


class _Sessions:
    """One event loop's sessions, which close with it.

    Attributes:
        usual: for all requests but those `apart`; see Connections.
        until_the_end: closes the sessions with the event loop. The reference must be kept: without one it closes at
            once.
    """

    def __init__(self, most: int, proxied: bool) -> None:
        noted = aiohttp.TraceConfig()
        noted.on_connection_reuseconn.append(_note_reused)
        self.usual, self.apart = self._session(most, proxied), self._session(most, proxied, noted)
        self.until_the_end = _closing(self.usual, self.apart)

    def _session(self, most: int, proxied: bool, *traces: aiohttp.TraceConfig) -> aiohttp.ClientSession:
        """A session that releases its connector when this object is garbage collected.

        Most judges are never closed, and aiohttp complains on stderr of a session that nobody closed. `__del__` could
        not prevent that: of objects collected together, the session's own `__del__` may run first.
        """
        session = aiohttp.ClientSession(
            connector=_QuietConnector(limit=most, keepalive_timeout=KEEPALIVE_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=proxied,
            trace_configs=list(traces),
            max_line_size=_MOST_HEADER_BYTES,
            max_field_size=_MOST_HEADER_BYTES,
        )
        weakref.finalize(self, session.detach)
        return session


class _QuietConnector(aiohttp.TCPConnector):
    """Closes its connections when it is garbage collected, without aiohttp's complaint that no caller closed it."""

    def __del__(self, _warnings: Any = None) -> None:
        self._close()


async def _closing(*sessions: aiohttp.ClientSession) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        for session in sessions:
            await session.close()


async def _note_reused(
    session: aiohttp.ClientSession, context: SimpleNamespace, params: aiohttp.TraceConnectionReuseconnParams
) -> None:
    context.trace_request_ctx["reused_connection"] = True


class _Body(httpx.AsyncByteStream):
    """A response's body, up to a number of bytes."""

    def __init__(self, response: aiohttp.ClientResponse, most: int | None) -> None:
        self._response = response
        packed = response.headers.get("Content-Encoding", "").strip().lower() not in _UNPACKED
        if most is None or response.content_type == "text/event-stream":
            self._most: float = math.inf
        else:
            self._most = min(most, _MOST_COMPRESSED) if packed else most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, first = 0, b""
        announced = self._response.content_length or 0
        try:
            async for chunk in self._response.content.iter_any():
                first, size = first or chunk, size + len(chunk)
                if max(size, announced) > self._most:
                    raise AnswerTooLong(f"the answer is longer than {self._most} bytes: {first[:200]!r}")
                yield chunk
        except _OF_CONNECTIONS as exc:
            raise _as_httpx(exc) from exc

    async def aclose(self) -> None:
        """Free the connection for the next request, or close it if the body was not read to its end."""
        self._response.close()


# For an error of aiohttp (the first class that fits) the error that httpx's own transport would raise
_AS_HTTPX: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
    (aiohttp.ConnectionTimeoutError, httpx.ConnectTimeout),
    (aiohttp.SocketTimeoutError, httpx.ReadTimeout),
    (aiohttp.ClientConnectorError, httpx.ConnectError),
    (aiohttp.ServerDisconnectedError, httpx.RemoteProtocolError),
    (aiohttp.ClientPayloadError, httpx.RemoteProtocolError),
    (aiohttp.ClientResponseError, httpx.RemoteProtocolError),
    (aiohttp.ClientConnectionResetError, httpx.WriteError),
    (Exception, httpx.ReadError),
)
# A TimeoutError of the caller's own limit is among these, and passes
_OF_CONNECTIONS = (aiohttp.ClientError, OSError)
_DROPPED = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)


def _as_httpx(exc: Exception) -> httpx.TransportError:
    """The error that httpx's own transport would raise for `exc`, an error of aiohttp or of the system.

    Raises `exc` itself if it is the TimeoutError of the caller's own limit.
    """
    kind = next(ours for theirs, ours in _AS_HTTPX if isinstance(exc, theirs))
    if kind is httpx.ReadError and isinstance(exc, TimeoutError):
        raise exc
    # some versions of aiohttp have no `os_error` in their errors about certificates
    refused = isinstance(exc, aiohttp.ClientConnectorError) and isinstance(exc.__cause__, ConnectionRefusedError)
    return kind("nobody listens there" if refused else str(exc))
