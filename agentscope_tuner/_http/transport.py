"""A transport of httpx over aiohttp: a call takes half of the CPU time that it takes over httpx's own transport.

httpx stays the seam of tests, and callers see httpx's errors. The module is imported when the first connection is
opened, because importing aiohttp takes longer than a call.
"""

from __future__ import annotations

import ssl
import weakref
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import aiohttp
import httpx

# The most bytes of a status line, and of a header: the limits of httpx's own transport
_MOST_HEADER_BYTES = 100 * 1024


class AiohttpTransport(httpx.AsyncBaseTransport):
    """The connections of one event loop to one service, without proxies, cookies and redirects.

    Made within the loop. The seconds to connect are taken from a request's extensions, as httpx writes them; every
    other bound is the caller's. A request over a connection that an earlier request had used gets `reused_connection`
    among its extensions.

    Args:
        connections: the most connections open at once.
        keepalive: seconds that an unused connection is kept.
        tls: for https; None where the service speaks plain http.
    """

    def __init__(self, *, connections: int, keepalive: float, tls: ssl.SSLContext | None) -> None:
        noted = aiohttp.TraceConfig()
        noted.on_connection_reuseconn.append(_note_reused)
        self._session = quiet_session(
            self,
            connector=QuietConnector(limit=connections, keepalive_timeout=keepalive, ssl=True if tls is None else tls),
            auto_decompress=False,
            trace_configs=[noted],
            max_line_size=_MOST_HEADER_BYTES,
            max_field_size=_MOST_HEADER_BYTES,
        )
        self._timeouts: dict[float | None, aiohttp.ClientTimeout] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx.AsyncBaseTransport."""
        seconds = request.extensions.get("timeout", {}).get("connect")
        if seconds not in self._timeouts:
            self._timeouts[seconds] = aiohttp.ClientTimeout(total=None, connect=seconds)
        with _errors_of_httpx():
            response = await self._session.request(
                request.method,
                str(request.url),
                headers=request.headers.multi_items(),
                data=request.content or None,
                allow_redirects=False,
                timeout=self._timeouts[seconds],
                trace_request_ctx=request.extensions,
            )
        return httpx.Response(response.status, headers=list(response.raw_headers), stream=_Body(response))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.close()


def quiet_session(owner: object, **options: Any) -> aiohttp.ClientSession:
    """A session that closes itself: it releases its connector when `owner` is garbage collected.

    Most judges are never closed, and aiohttp complains on stderr of a session that nobody closed. `owner.__del__` could
    not prevent that: of objects collected together, the session's own `__del__` may run first.

    Args:
        owner: the only object that uses the session. The session must not lead to it.
        options: arguments of aiohttp.ClientSession.
    """
    session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), **options)
    weakref.finalize(owner, session.detach)
    return session


class QuietConnector(aiohttp.TCPConnector):
    """Closes its connections when it is garbage collected, without aiohttp's complaint that no caller closed it."""

    def __del__(self, _warnings: Any = None) -> None:
        self._close()


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors_of_httpx():
            async for chunk in self._response.content.iter_any():
                yield chunk

    async def aclose(self) -> None:
        """Free the connection for the next request, or close it where the body was not read to its end."""
        self._response.close()


async def _note_reused(
    session: aiohttp.ClientSession, context: SimpleNamespace, params: aiohttp.TraceConnectionReuseconnParams
) -> None:
    context.trace_request_ctx["reused_connection"] = True


@contextmanager
def _errors_of_httpx() -> Iterator[None]:
    """Raise what httpx's own transport would raise."""
    try:
        yield
    except aiohttp.ConnectionTimeoutError as exc:
        raise httpx.ConnectTimeout(str(exc)) from exc
    except aiohttp.ClientConnectorError as exc:
        raise httpx.ConnectError(str(exc)) from exc
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, aiohttp.ClientResponseError) as exc:
        raise httpx.RemoteProtocolError(str(exc)) from exc
    except aiohttp.ClientConnectionResetError as exc:
        raise httpx.WriteError(str(exc)) from exc
    except (aiohttp.ClientError, OSError) as exc:
        if isinstance(exc, TimeoutError):
            raise
        raise httpx.ReadError(str(exc)) from exc
