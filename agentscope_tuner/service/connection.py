"""Bounds on a request's head, against clients that never finish it: uvicorn limits neither its size nor its time."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD_BYTES = 64 * 2**10
_TOO_LARGE = "The request's head is longer than 64 KiB."


class BoundedConnection(HttpToolsProtocol):  # type: ignore[misc]
    """uvicorn's connection, closed when a request's head takes too long or grows too large.

    These limits apply before the token is checked. Bodies have limits of their own (`read_body`), and so has uvicorn's
    wait for the next request.

    Attributes:
        head_seconds: seconds from the connection, or from the first byte after an answer, to the end of a request's
            head.
    """

    head_seconds: ClassVar[float] = 20.0

    def connection_made(self, transport: asyncio.Transport) -> None:
        """See asyncio.Protocol."""
        super().connection_made(transport)
        self._asking = True
        self._begins = False
        self._unfinished_bytes = self._head_bytes = 0
        self._late: asyncio.TimerHandle | None = self.loop.call_later(self.head_seconds, self.shutdown)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._asked()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self._begins = False
        super().data_received(data)
        # Line breaks between requests end uvicorn's wait for the next request, but begin no request
        if not self._asking and not (self.cycle is not None and self.cycle.response_complete):
            return
        if self._late is None and not self.transport.is_closing():
            # An answer that is not yet sent goes out first
            self._late = self.loop.call_later(self.head_seconds, self.shutdown)
        # A line without end is never handed to the callbacks below: count its bytes as they come in.
        if self._asking and not self._begins:
            self._unfinished_bytes += len(data)
            if self._unfinished_bytes > _HEAD_BYTES:
                self.transport.close()

    def on_message_begin(self) -> None:
        """See httptools."""
        super().on_message_begin()
        self._asking = self._begins = True
        self._unfinished_bytes = self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        """See httptools."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """See httptools."""
        self._count(len(name) + len(value) + len(b": \r\n"))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """See httptools."""
        self._asked()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Replaces uvicorn's method, which would call a head of too many bytes invalid."""
        super().send_400_response(msg if self._head_bytes <= _HEAD_BYTES else _TOO_LARGE)

    def _count(self, size: int) -> None:
        # A whole head may come in the first piece that is read, which holds up to 256 KiB: count what is parsed.
        self._head_bytes += size
        if self._head_bytes > _HEAD_BYTES:
            # The parser stops at this error, and uvicorn closes the connection
            raise ValueError(_TOO_LARGE)

    def _asked(self) -> None:
        self._asking = False
        if self._late is not None:
            self._late.cancel()
            self._late = None
