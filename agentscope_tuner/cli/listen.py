"""Sockets that servers listen on."""

from __future__ import annotations

import ipaddress
import socket

from agentscope_tuner.cli.console import fail


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        # A name such as 127.evil.example begins like an address of this machine
        return host == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; if it cannot be opened, the command ends with exit code 2."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # the protocol by name: asyncio sends small packets at once (TCP_NODELAY) only on such sockets, and without that a
    # keep-alive connection waits 40 ms for an acknowledgement at every answer
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as exc:
        listener.close()
        raise fail(f"cannot listen on {host}:{port}: {exc}") from exc
    return listener


def address(host: str, listener: socket.socket) -> str:
    """`http://host:port`, with the real port of a listener on port 0."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listener.getsockname()[1]}"
