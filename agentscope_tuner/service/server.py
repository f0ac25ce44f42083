"""Runs the service under uvicorn until a signal, and then lets the admitted requests finish.

uvicorn does not limit the size and the time of a request's head: `BoundedConnection` does. It drops connections
silently when file descriptors run out: `warn_of_shortages` logs this. tests/with_servers/serve/test_connection.py lists
the methods of uvicorn that are overridden here.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import resource
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import ClassVar

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from agentscope_tuner._run import interrupts, loops
from agentscope_tuner.service.admission import Gate
from agentscope_tuner.verify.sandbox import close_all

_log = logging.getLogger(__name__)

_HEAD_BYTES = 64 * 2**10
_TOO_LARGE = "The request's head is longer than 64 KiB."
_LOOK_SECONDS = 1.0
# Seconds between two log lines about the same shortage
_QUIET_SECONDS = 60.0
# The share of the allowed file descriptors that counts as nearly all
_NEARLY = 0.95
# A judge in a thread gives way to the loop after so many seconds; Python's own are ten times as many
_SWITCH_SECONDS = 0.0005
# Seconds after the drain: for answers still being sent, and then for the end of the process
_SEND_SECONDS, _EXIT_SECONDS = 2, 3.0


class BoundedConnection(HttpToolsProtocol):  # type: ignore[misc]
    """uvicorn's connection, which is closed if a request's head (its line and headers) takes too long or is too large.

    These limits apply before the token is checked. Bodies have other limits (`read_body`), and so has uvicorn's wait
    for the next request.

    Attributes:
        head_seconds: the most seconds from the connection, or from the first byte after an answer, to the end of a
            request's head.
    """

    head_seconds: ClassVar[float] = 20.0

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin the time limit of the first request's head; asyncio calls this for a new connection."""
        super().connection_made(transport)
        self._asking = True
        self._begins = False
        self._unfinished_bytes = self._head_bytes = 0
        self._late: asyncio.TimerHandle | None = self.loop.call_later(self.head_seconds, self.shutdown)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the time limit; asyncio calls this when the connection has ended."""
        self._end_of_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, begin the time limit of a new head, and close the connection if a line is too long."""
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
        """Count a new head from 0; the parser calls this at the first byte of a request."""
        super().on_message_begin()
        self._asking = self._begins = True
        self._unfinished_bytes = self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        """Count the bytes of the request's URL towards the limit of the head; the parser calls this for each piece."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count the bytes of a header towards the limit of the head; the parser calls this for each header."""
        self._count(len(name) + len(value) + len(b": \r\n"))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Cancel the time limit of the head, which is complete."""
        self._end_of_head()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer status 400; for a head of too many bytes with a message that says so, which uvicorn's does not."""
        super().send_400_response(msg if self._head_bytes <= _HEAD_BYTES else _TOO_LARGE)

    def _count(self, size: int) -> None:
        # A whole head may come in the first piece that is read, which holds up to 256 KiB: count what is parsed.
        self._head_bytes += size
        if self._head_bytes > _HEAD_BYTES:
            # The parser stops at this error, and uvicorn closes the connection
            raise ValueError(_TOO_LARGE)

    def _end_of_head(self) -> None:
        self._asking = False
        if self._late is not None:
            self._late.cancel()
            self._late = None


def shortage() -> str | None:
    """A warning for the log if nearly all file descriptors that this process may open are in use; else None."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        used = len(os.listdir("/proc/self/fd"))
    except OSError as exc:
        # The check itself needs a descriptor, too
        if exc.errno not in (errno.EMFILE, errno.ENFILE):
            return None
        used = allowed
    if used < _NEARLY * allowed:
        return None
    told = "new connections are dropped. Raise the limit (ulimit -n), or lower the number of connections"
    return f"{used} of {allowed} file descriptors are in use: {told}"


async def warn_of_shortages() -> None:
    """Look for a `shortage` every second, and log it at most once a minute; an endless task of the server."""
    while True:
        if (trouble := shortage()) is not None:
            _log.error(trouble)
        await asyncio.sleep(_LOOK_SECONDS if trouble is None else _QUIET_SECONDS)


class DrainingServer(uvicorn.Server):  # type: ignore[misc]
    """uvicorn's server, which drains when a signal ends it: begun requests are finished first.

    Requests that take more than `drain_seconds` are answered 503; a second signal ends them at once. While it drains it
    still listens: `/readyz` answers 503, so that clients send no more, and new requests are answered 503, too.

    Args:
        config: uvicorn's settings.
        gate: knows the begun requests.
        drain_seconds: how many seconds they may go on.
        announce: called once signals are handled so.
    """

    def __init__(self, config: uvicorn.Config, gate: Gate, drain_seconds: float, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._gate = gate
        self._drain_seconds = drain_seconds
        self._announce = announce
        self._draining: asyncio.Task[None] | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A context in which signals drain this server. uvicorn's own would end the process by the signal, and not with
        exit code 0.
        """
        loop = asyncio.get_running_loop()
        heard = interrupts.ending_signals()
        for number in heard:
            loop.add_signal_handler(number, self._on_signal)
        try:
            self._announce()
            yield
        finally:
            for number in heard:
                loop.remove_signal_handler(number)

    def _on_signal(self) -> None:
        if self._draining is not None:
            self.should_exit = self.force_exit = True
            return
        self._gate.draining = True
        _end_anyway(self._drain_seconds + _SEND_SECONDS + _EXIT_SECONDS)
        self._draining = asyncio.get_running_loop().create_task(self._drain())

    async def _drain(self) -> None:
        try:
            await asyncio.wait_for(self._gate.drained(), self._drain_seconds)
        except TimeoutError:
            self._gate.give_up()
        self.should_exit = True


def serve(
    app: Starlette, listener: socket.socket, *, drain_seconds: float, threads: int, announce: Callable[[], None]
) -> None:
    """Serve `app` until a signal such as SIGTERM or Ctrl-C (see `interrupts.ENDING`), then drain it and return.

    Args:
        app: made by `create_app`.
        listener: a socket that is bound and listening.
        drain_seconds: how many seconds begun requests may go on after the signal; then they are cancelled, and answered
            503.
        threads: how many threads run judges without an async form.
        announce: called once signals are handled so: the service is ready.
    """
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=BoundedConnection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SEND_SECONDS,
    )
    server = DrainingServer(config, app.state.gate, drain_seconds, announce)

    async def main() -> None:
        # asyncio's own pool has few threads, and judges that wait would soon hold them all
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(threads, "astuner-judge"))
        loops.limit_threads(threads)
        watching = asyncio.create_task(warn_of_shortages())
        await server.serve(sockets=[listener])
        watching.cancel()

    # The loaded judges live as long as the process: without them, garbage collection takes half the time
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(_SWITCH_SECONDS)
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(main())


def _end_anyway(seconds: float) -> None:
    """End the process with exit code 0 after some seconds, even if a judge's thread never returns; does not wait."""

    def end() -> None:
        _log.warning("a judge's threads did not return: ending without them")
        close_all()
        logging.shutdown()
        os._exit(0)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
