"""Connections that nobody closes: collected without a complaint, and not kept after their event loop."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
import weakref
from collections.abc import Awaitable, Callable

import aiohttp
import httpx
import pytest

from agentscope_tuner._http.transport import AnswerTooLong, Connections, _as_httpx


def open_connections() -> Connections:
    return Connections(most=1, most_bytes=None)


class Witness:
    """Notes when it is collected whether the session of `connections` was closed by then."""

    def __init__(self, noted: list[bool]) -> None:
        self.noted = noted
        self.connections: Connections | None = None
        self.session: object = None
        self.itself = self

    def __del__(self) -> None:
        self.noted.append(bool(getattr(self.session, "closed", False)))


def test_a_session_is_closed_before_the_first_finalizer_of_what_is_collected_with_it() -> None:
    noted: list[bool] = []

    async def forget() -> None:
        older = Witness(noted)
        older.connections = open_connections()
        older.session = (await older.connections._open()).usual
        younger = Witness(noted)
        younger.connections, younger.session = older.connections, older.session

    gc.disable()  # a collection while they are in use would change their order
    try:
        asyncio.run(forget())
    finally:
        gc.enable()
    gc.collect()
    # one of the two is collected before the transport
    assert noted == [True, True]


def test_an_event_loop_that_is_closed_is_not_kept_with_its_connections() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = f"http://127.0.0.1:{server.getsockname()[1]}"
    connections = open_connections()
    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []

    async def step() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        with pytest.raises(httpx.ConnectError):
            await connections.handle_async_request(httpx.Request("GET", free))

    for _ in range(3):
        asyncio.run(step())
    gc.collect()
    assert [loop() is None for loop in loops] == [True, True, False]


def test_connections_are_closed_with_the_event_loop_that_asyncio_run_makes() -> None:
    ends: list[bytes] = []

    def serve(server: socket.socket) -> None:
        taken, _ = server.accept()
        with taken:
            taken.settimeout(5.0)
            taken.recv(4096)
            taken.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            ends.append(taken.recv(1))

    with socket.create_server(("127.0.0.1", 0)) as server:
        connections = open_connections()
        serving = threading.Thread(target=serve, args=(server,), daemon=True)
        serving.start()

        async def step() -> None:
            request = httpx.Request("GET", f"http://127.0.0.1:{server.getsockname()[1]}")
            response = await connections.handle_async_request(request)
            assert await response.aread() == b"{}"

        asyncio.run(step())
        serving.join(5.0)
    # the service sees the end of the connection, and needs no time limit of its own
    assert ends == [b""]


async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.close()


async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
    writer.close()


async def speak_otherwise(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"220 mail.example ESMTP\r\n")
    writer.close()


Served = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.mark.parametrize(
    ("served", "raised"),
    [
        (hang, httpx.ReadTimeout),
        (hang_up, httpx.RemoteProtocolError),
        (break_off, httpx.RemoteProtocolError),
        (speak_otherwise, httpx.RemoteProtocolError),
    ],
)
def test_a_connection_fails_as_it_would_over_httpx_own_transport(served: Served, raised: type[Exception]) -> None:
    async def asked() -> None:
        server = await asyncio.start_server(served, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        # a generous limit but where its end is asked for
        limits = httpx.Timeout(None, read=0.05 if served is hang else 60)
        async with httpx.AsyncClient(transport=open_connections(), timeout=limits) as client:
            with pytest.raises(raised) as caught:
                await client.get(url)
        server.close()
        assert type(caught.value) is raised

    asyncio.run(asked())


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (aiohttp.ConnectionTimeoutError("slow"), httpx.ConnectTimeout),
        (aiohttp.ClientConnectionResetError("gone"), httpx.WriteError),
        (aiohttp.ClientConnectionError("odd"), httpx.ReadError),
        (OSError("network is down"), httpx.ReadError),
        # the caller's own limit around the request
        (TimeoutError(), TimeoutError),
    ],
)
def test_an_error_of_a_connection_has_its_name_in_httpx(theirs: Exception, ours: type[Exception]) -> None:
    with pytest.raises(ours) as caught:
        raise _as_httpx(theirs) from theirs
    assert type(caught.value) is ours
    # a chain that leads back to its own beginning would never end
    assert caught.value.__cause__ is (None if caught.value is theirs else theirs)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("most", [1, 2])
def test_no_more_connections_are_open_than_it_may_have(most: int, apart: bool) -> None:
    now = peak = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal now, peak
        now += 1
        peak = max(peak, now)
        await reader.readuntil(b"\r\n\r\n")
        # so that requests that may be under way at once are
        for _ in range(50):
            await asyncio.sleep(0)
        now -= 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    async def asked() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with httpx.AsyncClient(transport=Connections(most=most, most_bytes=None), timeout=60) as client:
            await asyncio.gather(*(client.get(url, extensions={"apart": apart}) for _ in range(6)))
        server.close()

    asyncio.run(asked())
    assert peak <= most


@pytest.mark.parametrize(
    ("encoding", "is_read"), [("", True), ("Content-Encoding: identity\r\n", True), ("Content-Encoding: br\r\n", False)]
)
def test_only_a_packed_answer_is_bounded_by_less_than_was_asked_for(encoding: str, is_read: bool) -> None:
    body = b"x" * 2**17

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\n{encoding}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode())
        writer.write(body)
        writer.close()

    async def asked() -> bytes:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with (
            server,
            httpx.AsyncClient(transport=Connections(most=1, most_bytes=len(body)), timeout=60) as client,
            client.stream("GET", url) as response,
        ):
            return b"".join([part async for part in response.aiter_raw()])

    if is_read:
        assert asyncio.run(asked()) == body
    else:
        with pytest.raises(AnswerTooLong):
            asyncio.run(asked())
