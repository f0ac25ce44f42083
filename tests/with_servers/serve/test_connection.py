"""Connections that hold a place or memory without a request: closed, before any token is asked for."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from agentscope_tuner.service.server import BoundedConnection, DrainingServer
from tests.with_servers.serve.running_service import RunningService, config_file

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def until_closed(connection: socket.socket) -> bytes:
    """All that comes; fails when the other side leaves the connection open."""
    found = b""
    try:
        while piece := connection.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return found


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    token: Path = tmp_path_factory.mktemp("token") / "token"
    token.write_text("secret", encoding="ascii")
    token.chmod(0o600)
    conf = config_file(tmp_path_factory.mktemp("conf"))
    with RunningService("--conf", conf, "--token-file", str(token), token="secret") as running:
        yield running


@pytest.mark.parametrize(
    ("start", "more"),
    [(b"GET /healthz HTTP/1.1\r\nX: ", b"a"), (b"GET /", b"a"), (b"GET / HTTP/1.1\r\n", b"a: b\r\n"), (b"", b"\r\n")],
    ids=["one header", "the path", "many headers", "nothing"],
)
def test_a_head_without_end_is_not_read_for_ever(service: RunningService, start: bytes, more: bytes) -> None:
    with connected(service.port) as connection, pytest.raises(ConnectionError):
        connection.sendall(start + more * (64 * 2**20))
    assert service.client.get("/healthz").text == "OK"


def head(size: int, *, headers: int = 1, path: int = 0) -> bytes:
    """A request whose head has about `size` bytes, sent at once."""
    lines = b"".join(b"x-%d: %s\r\n" % (at, b"a" * ((size - path) // headers)) for at in range(headers))
    return b"GET /healthz?%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n" % (b"a" * path, lines)


@pytest.mark.parametrize("size", [66_000, 100_000, 200_000])
@pytest.mark.parametrize("shape", [{"headers": 1}, {"headers": 500}, {"path": 65_900}])
def test_a_whole_head_over_64_kib_is_refused(service: RunningService, size: int, shape: dict[str, int]) -> None:
    """Heads of up to 320 KB were answered: only bytes behind the first piece were counted."""
    with connected(service.port) as connection:
        connection.sendall(head(size, **shape))
        assert b"200 OK" not in until_closed(connection)


@pytest.mark.parametrize("shape", [{"headers": 1}, {"headers": 100}, {"path": 30_000}])
def test_a_large_head_within_the_limit_is_answered(service: RunningService, shape: dict[str, int]) -> None:
    with connected(service.port) as connection:
        connection.sendall(head(60_000, **shape))
        assert b"200 OK" in until_closed(connection)


def test_requests_may_still_follow_each_other_closely(service: RunningService) -> None:
    with connected(service.port) as connection:
        connection.sendall(HEALTH * 3000 + HEALTH.replace(b"Host", b"Connection: close\r\nHost"))
        assert until_closed(connection).count(b"200 OK") == 3001


#: What `BoundedConnection` and `DrainingServer` override or read of uvicorn, and what ends where one of them is gone.
RELIED_ON = {
    (HttpToolsProtocol, "connection_made"): "the limit on a head's time never starts",
    (HttpToolsProtocol, "connection_lost"): "timers outlive their connections",
    (HttpToolsProtocol, "data_received"): "a line without end is read for ever",
    (HttpToolsProtocol, "shutdown"): "a late head's connection stays open",
    (HttpToolsProtocol, "on_message_begin"): "the bytes of all heads of a connection count as one",
    (HttpToolsProtocol, "on_url"): "a path of any length is read",
    (HttpToolsProtocol, "on_header"): "headers of any length are read",
    (HttpToolsProtocol, "on_headers_complete"): "a request that is judged for long is taken for a late head",
    (HttpToolsProtocol, "send_400_response"): "a head that is too large is called invalid",
    (RequestResponseCycle, "response_complete"): "a head behind an unanswered request is not limited",
    (
        uvicorn.Server,
        "capture_signals",
    ): "SIGTERM ends the service without a drain, by the signal and not with exit code 0",
}


@pytest.mark.parametrize(("owner", "name"), RELIED_ON)
def test_uvicorn_has_what_the_service_relies_on(owner: type, name: str) -> None:
    assert name in (*vars(owner), *vars(owner)["__init__"].__code__.co_names), RELIED_ON[owner, name]


def test_every_method_of_uvicorn_that_is_overridden_is_listed() -> None:
    for ours in (BoundedConnection, DrainingServer):
        theirs = {name for base in ours.__mro__[1:-1] for name in vars(base) if not name.startswith("_")}
        owner = ours.__mro__[1]
        assert {(owner, name) for name in vars(ours) if name in theirs} <= set(RELIED_ON)


class Impatient(BoundedConnection):
    head_seconds = 0.2


async def slow(scope: Any, receive: Any, send: Any) -> None:
    """Answers after longer than a head may take."""
    await asyncio.sleep(3 * Impatient.head_seconds)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"OK"})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(slow, http=Impatient, lifespan="off", log_level="error", loop="asyncio"))
    thread = threading.Thread(target=asyncio.run, args=(server.serve([listener]),))
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"GET /hea", HEALTH[:-2]], ids=["nothing", "a line", "path", "headers"])
def test_a_connection_that_does_not_ask_is_closed(port: int, sent: bytes) -> None:
    with connected(port) as connection:
        connection.sendall(sent)
        assert until_closed(connection) == b""


@pytest.mark.parametrize("after", [b"\r\n", b"GET /hea"])
def test_one_that_asked_gets_its_answer_and_is_closed_when_it_does_not_go_on(port: int, after: bytes) -> None:
    with connected(port) as connection:
        connection.sendall(HEALTH + after)
        answer = until_closed(connection)
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"OK")
