"""Chat completions that are sent unchanged, with little work for the processor."""

from __future__ import annotations

import json
import os
import ssl
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.request import getproxies

import aiohttp
import openai
from openai import AsyncStream
from openai.resources.chat.completions import AsyncCompletions
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import ValidationError

from agentscope_tuner._http.site import KEEPALIVE_SECONDS
from agentscope_tuner._http.transport import QuietConnector, quiet_session

# The most bytes of a whole answer; a long completion with the log-probabilities of 20 tokens at each place has about 50
# MiB
MOST_BYTES = 64 * 2**20
# the client's own defaults
_TIMEOUT = aiohttp.ClientTimeout(total=None, connect=5.0, sock_read=600.0)

# The HTTP library under the installed openai, httpx or httpx2: the base class of its client tells
_httpx: Any = sys.modules[openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0]]


@dataclass(frozen=True, slots=True)
class _Answer:
    """A response that is no completion."""

    status: int
    headers: list[tuple[bytes, bytes]]
    content: bytes


class DirectCompletions(AsyncCompletions):
    """Replaces the client's `chat.completions`, at a third of its CPU time.

    The client walks over the request's types, builds a request, and builds the answer field by field; with hundreds of
    rollouts that takes longer than the rest of a call. So the first try goes straight to the connection. Where it
    brings no completion, its response or error is given to the client, as if the client itself had sent the request:
    the client handles errors, retries and odd answers. Streams, and endpoints behind a proxy, go through the client
    from the beginning.

    An answer is read up to `most_bytes`, here and by the client; a longer answer is a failed try, like a broken
    connection. A stream has no such bound, because its parts are passed on as they come.

    Args:
        client: the OpenAI client.
        http: its HTTP client.
        tls: for https.
        most_bytes: the most bytes of a whole answer.
    """

    def __init__(
        self, client: openai.AsyncOpenAI, http: Any, tls: ssl.SSLContext, *, most_bytes: int = MOST_BYTES
    ) -> None:
        super().__init__(client)
        self._http = http
        self._tls = tls
        self._most_bytes = most_bytes
        # Look for proxies once, as the client does: to search the environment at each call took a quarter of the call's
        # CPU time
        self._proxied = is_proxied()
        http.event_hooks = {**http.event_hooks, "response": [*http.event_hooks["response"], self._bound]}
        self._url = f"{str(client.base_url).rstrip('/')}/chat/completions"
        self._session: aiohttp.ClientSession | None = None

    async def create(self, *, extra_body: Mapping[str, Any] | None = None, **body: Any) -> Any:  # type: ignore[override]
        """A completion, or a stream of its chunks where `body` has `stream`.

        Args:
            extra_body: fields of the request that win over those of `body`.
            body: the request's fields, each of them JSON.
        """
        whole, client = {**body, **(extra_body or {})}, self._client
        if not whole.get("stream") and not self._proxied:
            first = await self._first_try(whole)
            if isinstance(first, ChatCompletion):
                return first
            if first is not None:
                client = client.with_options(http_client=_httpx.AsyncClient(transport=_from_here_on(first, self._http)))
        return await client.post(
            "/chat/completions",
            body=whole,
            cast_to=ChatCompletion,
            stream=bool(whole.get("stream")),
            stream_cls=AsyncStream[ChatCompletionChunk],
        )

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _first_try(self, body: Mapping[str, Any]) -> ChatCompletion | _Answer | Exception | None:
        """A completion, or the response or error that came instead; None where `body` is no JSON."""
        try:
            data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError):
            return None
        try:
            async with self._opened().post(self._url, data=data, allow_redirects=False) as response:
                content = await self._read(response)
        except (aiohttp.ClientError, OSError) as exc:
            return exc
        if response.status == 200:
            try:
                return ChatCompletion.model_validate_json(content)
            except ValidationError:
                pass  # the client also reads replies that break the types of the API
        # Leave out the headers of the transfer: the body is decoded by now
        headers = [(name, value) for name, value in response.raw_headers if name.lower() not in _OF_TRANSFER]
        return _Answer(response.status, headers, content)

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        """The whole answer, decompressed.

        Raises:
            aiohttp.ClientPayloadError: the answer is too long.
        """
        pieces, left = [], self._most_bytes
        async for piece in response.content.iter_any():
            pieces.append(piece)
            left -= len(piece)
            if left < 0:
                raise aiohttp.ClientPayloadError(_too_long(self._most_bytes, pieces[0]))
        return b"".join(pieces)

    async def _bound(self, response: Any) -> None:
        """A hook of the HTTP client that bounds an answer before it is read."""
        if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
            response.stream = _Bounded(response.stream, self._most_bytes)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            client = self._client
            headers = {name: value for name, value in client.default_headers.items() if isinstance(value, str)}
            self._session = quiet_session(
                self,
                connector=QuietConnector(limit=0, keepalive_timeout=KEEPALIVE_SECONDS, ssl=self._tls),
                headers={**headers, **_UNPACKED, "Authorization": f"Bearer {client.api_key}"},
                timeout=_TIMEOUT,
            )
        return self._session


# Count the decompressed bytes: a few kilobytes may unpack to gigabytes
_UNPACKED = {"Accept-Encoding": "identity"}
_OF_TRANSFER = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


def is_proxied() -> bool:
    """Whether the environment or the system sets a proxy."""
    # Other systems have settings beside the environment. On Linux the variables' names suffice, and reading the values
    # would take most of the time
    return bool(getproxies()) if sys.platform != "linux" else any(map(_names_proxy, os.environ))


def _names_proxy(name: str) -> bool:
    return name[-6:].lower() == "_proxy"


class _Bounded(_httpx.AsyncByteStream):  # type: ignore[misc]
    """A response's body, up to a number of bytes."""

    def __init__(self, body: Any, most_bytes: int) -> None:
        self._body, self._most_bytes = body, most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left, first = self._most_bytes, b""
        async for piece in self._body:
            first = first or piece
            left -= len(piece)
            if left < 0:
                raise _httpx.ReadError(_too_long(self._most_bytes, first))
            yield piece

    async def aclose(self) -> None:
        """Close the connection."""
        await self._body.aclose()


def _too_long(most_bytes: int, begins: bytes) -> str:
    return f"the answer is longer than {most_bytes} bytes: {begins[:200]!r}"


def _from_here_on(first: _Answer | Exception, http: Any) -> Any:
    """A transport that answers with `first`, and then asks `http`."""
    left: list[_Answer | Exception] = [first]

    class Transport(_httpx.AsyncBaseTransport):  # type: ignore[misc]
        async def handle_async_request(self, request: Any) -> Any:
            if not left:
                return await http.send(request, stream=True)
            came = left.pop()
            if isinstance(came, _Answer):
                return _httpx.Response(came.status, headers=came.headers, content=came.content)
            kind = _httpx.ReadTimeout if isinstance(came, TimeoutError) else _httpx.ConnectError
            raise kind(str(came), request=request) from came

    return Transport()
