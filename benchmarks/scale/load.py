"""A load client for the reward service: raw sockets, requests written beforehand, every verdict compared.

It must not be what is measured, so it does as little as it can: `against_nothing` says how many requests it makes of a
server that does no work.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import multiprocessing
import statistics
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection as Pipe

_HEAD_END = b"\r\n\r\n"
_LENGTH = b"content-length:"
#: Seconds after which a request without an answer is an error.
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Row:
    """One rollout as JSON, and the verdict it must get."""

    body: bytes
    is_success: bool


@dataclass(frozen=True, slots=True)
class Shot:
    """One request, ready to be sent, and the rows in it."""

    request: bytes
    rows: tuple[Row, ...]
    single: bool


def shots(rows: Sequence[Row], batch: int, path: str = "/reward", token: str | None = None) -> list[Shot]:
    """Requests of `batch` rows each; 1 is the single-row form."""
    made = []
    for start in range(0, len(rows) - batch + 1, batch):
        part = tuple(rows[start : start + batch])
        body = part[0].body if batch == 1 else b'{"rollouts":[' + b",".join(row.body for row in part) + b"]}"
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        if token is not None:
            head += f"Authorization: Bearer {token}\r\n"
        made.append(Shot(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body, part, batch == 1))
    return made


class _Line(asyncio.Protocol):
    """One kept-alive connection with one request under way."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[tuple[int, bytes]] | None = None
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(exc or ConnectionResetError("closed by the service"))

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """The status and the body of the answer."""
        assert self.transport is not None
        self._received.clear()
        self._waiting = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await self._waiting

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(_HEAD_END)
        if end < 0 or self._waiting is None or self._waiting.done():
            return
        head = bytes(self._received[:end]).lower()
        at = head.find(_LENGTH)
        if at < 0:
            self._waiting.set_exception(ValueError("an answer without Content-Length"))
            return
        length = int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0])
        if len(self._received) >= end + len(_HEAD_END) + length:
            body = bytes(self._received[end + len(_HEAD_END) : end + len(_HEAD_END) + length])
            self._waiting.set_result((int(head[9:12]), body))

    def hang_up(self) -> None:
        if self.transport is not None:
            self.transport.close()
            self.transport = None


def _percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    if len(seconds) < 2:
        return float("nan"), float("nan")
    cuts = statistics.quantiles(seconds, n=100)
    return cuts[49], cuts[98]


@dataclass
class Tally:
    """What came of a load.

    Attributes:
        seconds: how long the load lasted, until the last answer.
        sending: seconds until the last request was sent.
        latencies: seconds of each request, from the moment it was due.
        clocked: what the load's own clock, where it has one, showed between each request and its answer.
        rows: rows that got the verdict they must get.
        lost: rows without a verdict, by what happened to them.
        wrong: rows with another verdict than they must get.
        examples: a few of what was lost or wrong, in words.
    """

    seconds: float = 0.0
    sending: float = 0.0
    latencies: array[float] = field(default_factory=lambda: array("d"))
    clocked: array[float] = field(default_factory=lambda: array("d"))
    rows: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    wrong: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def requests_per_second(self) -> float:
        return len(self.latencies) / self.seconds

    @property
    def sent_per_second(self) -> float:
        return len(self.latencies) / self.sending

    @property
    def rows_per_second(self) -> float:
        return self.rows / self.seconds

    @property
    def errors(self) -> int:
        return self.wrong + self.lost.total()

    def percentiles(self) -> tuple[float, float]:
        """p50 and p99, in seconds."""
        return _percentiles(self.latencies)

    def clocked_percentiles(self) -> tuple[float, float]:
        """p50 and p99 by the load's own clock."""
        return _percentiles(self.clocked)

    def lose(self, rows: int, what: str) -> None:
        self.lost[what[:60]] += rows
        self._note(what)

    def settle(self, shot: Shot, status: int, body: bytes) -> None:
        """Compare an answer, row by row."""
        if status != 200:
            self.lose(len(shot.rows), f"status {status}: {body[:200].decode('utf-8', 'replace')}")
            return
        answer = json.loads(body)
        judgements = [answer] if shot.single else answer["judgements"]
        if len(judgements) != len(shot.rows):
            self.lose(len(shot.rows), f"{len(judgements)} judgements for {len(shot.rows)} rows")
            return
        for row, judgement in zip(shot.rows, judgements, strict=True):
            if judgement["status"] == "failed" or judgement["reward"] is None:
                self.lose(1, f"failed: {judgement['error']}")
            elif judgement["is_success"] is not row.is_success or judgement["reward"] != float(row.is_success):
                self.wrong += 1
                self._note(f"wrong: {judgement} for {row.body[:300]!r}")
            else:
                self.rows += 1

    def _note(self, what: str) -> None:
        if len(self.examples) < 5:
            self.examples.append(what[:500])


class Load:
    """Requests of one kind to one service, over a fixed number of connections.

    Args:
        port: on 127.0.0.1.
        requests: sent one after another, again from the first when all were.
        connections: as many requests are under way at once at most.
        clock: a further clock, such as the service's CPU time, which no other program on the machine moves.
    """

    def __init__(
        self, port: int, requests: Sequence[Shot], connections: int, clock: Callable[[], float] = lambda: 0.0
    ) -> None:
        self.port = port
        self._clock = clock
        self.connections = connections
        self._requests: Iterator[Shot] = itertools.cycle(requests)
        self._last_sent = 0.0

    async def flat_out(self, seconds: float) -> Tally:
        """Each connection sends its next request when it has the answer to the last."""
        tally = Tally()
        start = time.perf_counter()
        await asyncio.gather(*(self._keep_asking(tally, start + seconds) for _ in range(self.connections)))
        tally.seconds = time.perf_counter() - start
        return tally

    async def at_rate(self, rate: float, seconds: float) -> Tally:
        """Requests are due at even intervals, `rate` a second.

        One that has to wait for a connection is late, and its latency counts the waiting.
        """
        tally = Tally()
        start = time.perf_counter()
        due = (start + number / rate for number in range(int(rate * seconds)))
        await asyncio.gather(*(self._keep_to(tally, due) for _ in range(self.connections)))
        tally.seconds, tally.sending = time.perf_counter() - start, self._last_sent - start
        return tally

    async def _keep_asking(self, tally: Tally, end: float) -> None:
        line: _Line | None = None
        while (now := time.perf_counter()) < end:
            line = await self._send(line, next(self._requests), tally, now)
        if line is not None:
            line.hang_up()

    async def _keep_to(self, tally: Tally, due: Iterator[float]) -> None:
        line: _Line | None = None
        for moment in due:
            if (pause := moment - time.perf_counter()) > 0:
                await asyncio.sleep(pause)
            self._last_sent = time.perf_counter()
            line = await self._send(line, next(self._requests), tally, moment)
        if line is not None:
            line.hang_up()

    async def _send(self, line: _Line | None, shot: Shot, tally: Tally, since: float) -> _Line | None:
        """One request; the connection as it is afterwards, None when it broke."""
        clocked = self._clock()
        try:
            if line is None or line.transport is None:
                _, line = await asyncio.get_running_loop().create_connection(_Line, "127.0.0.1", self.port)
            status, body = await asyncio.wait_for(line.ask(shot.request), PATIENCE)
        except (OSError, TimeoutError, ValueError) as exc:
            tally.lose(len(shot.rows), f"{type(exc).__name__}: {exc}")
            if line is not None:
                line.hang_up()
            return None
        tally.latencies.append(time.perf_counter() - since)
        tally.clocked.append(self._clock() - clocked)
        tally.settle(shot, status, body)
        return line


class _Nothing(asyncio.Protocol):
    """Answers each request with the same bytes as soon as it was read whole."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(_HEAD_END)
        if end < 0:
            return
        head = bytes(self._received[:end]).lower()
        length = int(head[head.find(_LENGTH) + len(_LENGTH) :].split(b"\r\n", 1)[0])
        if len(self._received) >= end + len(_HEAD_END) + length:
            self._received.clear()
            self._transport.write(self._answer)


def _serve_nothing(answer: bytes, pipe: Pipe) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(lambda: _Nothing(answer), "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        # the other side closes its end when it is done
        await asyncio.to_thread(pipe.poll, None)

    asyncio.run(serve())


def against_nothing(requests: Sequence[Shot], connections: int, seconds: float) -> Tally:
    """The load on a server that answers a right verdict without having looked, in a process of its own."""
    right = {"status": "judged", "reward": 1.0, "is_success": True, "reason": "", "error": None}
    answer = right if requests[0].single else {"judgements": [right] * len(requests[0].rows)}
    body = json.dumps(answer).encode()
    whole = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve_nothing, args=(whole, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        return asyncio.run(Load(ours.recv(), requests, connections).flat_out(seconds))
    finally:
        ours.close()
        process.join(10)
