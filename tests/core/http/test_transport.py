"""Connections that nobody closes: collected without a complaint, and not kept after their event loop."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
import weakref

import httpx
import pytest

from agentscope_tuner._http.answer import HttpCall
from agentscope_tuner._http.limits import HttpLimits
from agentscope_tuner._http.site import HttpSite
from agentscope_tuner._http.transport import AiohttpTransport


class Witness:
    """Notes when it is collected whether the session of `transport` was closed by then."""

    def __init__(self, noted: list[bool]) -> None:
        self.noted = noted
        self.transport: AiohttpTransport | None = None
        self.itself = self

    def __del__(self) -> None:
        assert self.transport is not None
        self.noted.append(self.transport._session.closed)


def test_a_session_is_closed_before_the_first_finalizer_of_what_is_collected_with_it() -> None:
    noted: list[bool] = []

    async def forget() -> None:
        older = Witness(noted)
        older.transport = AiohttpTransport(connections=1, keepalive=1.0, tls=None)
        younger = Witness(noted)
        younger.transport = older.transport

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
    site = HttpSite(free, HttpLimits(), None)
    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []
    call = HttpCall(path="/", body=None, where="the test", parse=lambda answer: answer, seconds=5.0)

    async def step() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        with pytest.raises(httpx.ConnectError):
            await site.send(call, asyncio.get_running_loop().time() + 5.0, {}, None)

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
        site = HttpSite(f"http://127.0.0.1:{server.getsockname()[1]}", HttpLimits(), None)
        serving = threading.Thread(target=serve, args=(server,), daemon=True)
        serving.start()

        async def step() -> None:
            call = HttpCall(path="/", body=None, where="the test", parse=lambda answer: answer, seconds=5.0)
            answer = await site.send(call, asyncio.get_running_loop().time() + 5.0, {}, None)
            assert answer.body == b"{}"

        asyncio.run(step())
        serving.join(5.0)
    # the service sees the end of the connection, and needs no time limit of its own
    assert ends == [b""]
