"""Runs the page's server until it is interrupted."""

from __future__ import annotations

import secrets
import socket
import sys
from collections.abc import Callable

import uvicorn

from agentscope_tuner.view.app import create_view_app
from agentscope_tuner.view.session import ViewSession


def serve_view(session: ViewSession, listener: socket.socket, *, announce: Callable[[str], None]) -> None:
    """Serve `session` on `listener`, which listens on 127.0.0.1, until SIGINT or SIGTERM.

    Args:
        session: a session that is not started yet.
        listener: a socket that is bound and listening.
        announce: called with the address and its token, once the server accepts connections.
    """
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(18)
    hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))
    config = uvicorn.Config(
        create_view_app(session, token, hosts),
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    # A thread beside the server reads large files. With Python's default of 5 ms the server would wait for it too long
    sys.setswitchinterval(0.0005)
    session.start()
    announce(f"http://127.0.0.1:{port}/?token={token}")
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        session.close()
