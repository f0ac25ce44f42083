"""An env service over a real socket that breaks in the ways a test asks for, and remembers what it was asked."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

#: Breaks, or answers, one request on its connection; returns whether the connection lives on.
Behaviour = Callable[["FaultyEnvServer", socket.socket], bool]


class FaultyEnvServer:
    """Serves on 127.0.0.1, one thread a connection; the n-th request gets the n-th behaviour, the last one repeats.

    Attributes:
        requests: `(path, body, headers)` of each request, once it was read whole.
        connections: how many were accepted.
    """

    def __init__(self, behaviours: Sequence[Behaviour], port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.tls = tls
        self.behaviours = behaviours
        self.requests: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.connections = 0
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [path for path, _, _ in self.requests]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.closing.set()
        # a thread blocked in accept or recv wakes up only when its socket is shut down
        for connection in [self._listener, *self._open]:
            _shut_down(connection)
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        with self._listener:
            while not self.closing.is_set():
                try:
                    connection, _ = self._listener.accept()
                except OSError:
                    return
                self.connections += 1
                with self._lock:
                    self._open.add(connection)
                thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        if self.tls is not None:
            try:
                connection = self.tls.wrap_socket(connection, server_side=True)
            except OSError:
                connection.close()  # the client does not trust us
                return
        with connection:
            try:
                while self._read_request(connection) and self._next_behaviour()(self, connection):
                    pass
            except OSError:
                pass  # the client hung up first, as clients of broken servers do
            with self._lock:
                self._open.discard(connection)

    def _next_behaviour(self) -> Behaviour:
        return self.behaviours[min(len(self.requests), len(self.behaviours)) - 1]

    def _read_request(self, connection: socket.socket) -> bool:
        received = b""
        while b"\r\n\r\n" not in received:
            chunk = connection.recv(65536)
            if not chunk:
                return False
            received += chunk
        head, _, body = received.partition(b"\r\n\r\n")
        request_line, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        while len(body) < int(headers.get("content-length", "0")):
            body += connection.recv(65536)
        with self._lock:
            self.requests.append((request_line.split()[1], json.loads(body or b"{}"), headers))
        return True


def answer(
    body: str | bytes,
    status: str = "200 OK",
    content_type: str = "application/json",
    extra: Sequence[str] = (),
) -> Behaviour:
    """A whole, well-formed HTTP response, whatever its body is."""
    payload = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", f"Content-Length: {len(payload)}", *extra]

    def behave(server: FaultyEnvServer, connection: socket.socket) -> bool:
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + payload)
        return True

    return behave


def data(value: str) -> Behaviour:
    """A success whose data is `value`, written as JSON by the caller."""
    return answer(f'{{"success": true, "data": {value}}}')


def reset_after(sent: bytes) -> Behaviour:
    """Sends `sent`, then resets the connection."""

    def behave(server: FaultyEnvServer, connection: socket.socket) -> bool:
        connection.sendall(sent)
        # lingering for 0 s makes close() send RST in place of FIN
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    return behave


def close_after(sent: bytes) -> Behaviour:
    """Sends `sent`, then closes the connection in the orderly way."""

    def behave(server: FaultyEnvServer, connection: socket.socket) -> bool:
        connection.sendall(sent)
        return False

    return behave


def hang_after(sent: bytes) -> Behaviour:
    """Sends `sent`, then nothing until the server is closed."""

    def behave(server: FaultyEnvServer, connection: socket.socket) -> bool:
        connection.sendall(sent)
        server.closing.wait(60)
        return False

    return behave


def drip(sent: bytes) -> Behaviour:
    """Sends `sent` one byte each hundredth of a second: every single read is quick."""

    def behave(server: FaultyEnvServer, connection: socket.socket) -> bool:
        for byte in sent:
            connection.sendall(bytes([byte]))
            if server.closing.wait(0.01):
                return False
        return True

    return behave


def _shut_down(connection: socket.socket) -> None:
    # it may be closed already
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
