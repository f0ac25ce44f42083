"""Runs the application under uvicorn until a signal, and then lets the admitted requests finish."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import uvicorn
from fastapi import FastAPI

from agentscope_tuner import _loop
from agentscope_tuner.service import descriptors
from agentscope_tuner.service.connection import BoundedConnection
from agentscope_tuner.service.gate import Gate
from agentscope_tuner.verify.sandbox import close_all

_log = logging.getLogger(__name__)

# Seconds after the drain: for answers still being sent, and then for the end of the process
_SEND_SECONDS, _EXIT_SECONDS = 2, 3.0


class DrainingServer(uvicorn.Server):  # type: ignore[misc]
    """uvicorn's server, which on SIGTERM or SIGINT lets the running requests end first; a second signal ends them at
    once.

    While it drains it still listens: `/readyz` answers 503, so that clients send no more, and new requests are answered
    503, too.
    """

    def __init__(self, config: uvicorn.Config, gate: Gate, drain_seconds: float) -> None:
        super().__init__(config)
        self._gate = gate
        self._drain_seconds = drain_seconds
        self._draining: asyncio.Task[None] | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Replaces uvicorn's method, which ends the process by the caught signal, not with exit code 0."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._told_to_end)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    def _told_to_end(self) -> None:
        if self._draining is not None:
            self.should_exit = self.force_exit = True
            return
        self._gate.draining = True
        _end_anyway(self._drain_seconds + _SEND_SECONDS + _EXIT_SECONDS)
        self._draining = asyncio.get_running_loop().create_task(self._drain())

    async def _drain(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._gate.drained(), self._drain_seconds)
        self.should_exit = True


def serve(app: FastAPI, listener: socket.socket, *, drain_seconds: float, threads: int) -> None:
    """Serves `app` until SIGTERM or SIGINT, then drains it; returns within `drain_seconds` and a few more.

    Args:
        app: made by `create_app`.
        listener: a socket that is bound and listening.
        drain_seconds: how long requests under way may go on; then they are cancelled.
        threads: how many threads run judges without an async form.
    """
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=BoundedConnection,
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SEND_SECONDS,
    )
    server = DrainingServer(config, app.state.gate, drain_seconds)

    async def main() -> None:
        # asyncio's own pool has few threads, and judges that wait would soon hold them all
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(threads, "astuner-judge"))
        _loop.limit_threads(threads)
        watching = asyncio.create_task(descriptors.watch())
        await server.serve(sockets=[listener])
        watching.cancel()

    # The loaded judges live as long as the process: without them, garbage collection takes half the time
    gc.collect()
    gc.freeze()
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(main())


def _end_anyway(seconds: float) -> None:
    """End the process after some seconds, even if a judge's thread never returns."""

    def end() -> None:
        _log.warning("a judge's threads did not return: ending without them")
        close_all()
        logging.shutdown()
        os._exit(0)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
