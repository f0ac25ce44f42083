"""One judging request from its first byte to its answer: read within limits, admitted, judged in time, answered."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import time
import traceback
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

import msgspec
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from agentscope_tuner._run import loops
from agentscope_tuner.bounds import readable
from agentscope_tuner.service.admission import Gate, Refusal, refused_at_end
from agentscope_tuner.service.wire_formats import Served, Wire

_log = logging.getLogger(__name__)

#: The header in which a client gives a request's time limit in seconds; at most the service's own limit.
DEADLINE_HEADER = "X-Deadline-Seconds"
# Seconds of a request's time, kept for sending an answer with some rows' verdicts: no one reads a late answer
_MOST_SEND_SECONDS = 1.0
# The client has gone and reads no answer; 499 is nginx's status for this case
_CLIENT_GONE = 499
# How slowly a body may come: this many seconds, and one more for each so many bytes that have come
_BODY_SECONDS, _BODY_BYTES_A_SECOND = 10.0, 512 * 2**10
# Reading a longer body, and the answers in it, takes milliseconds
_LARGE_BYTES = 32 * 2**10
# Limits on reading the rest of a refused body
_LINGER_BYTES, _LINGER_SECONDS = 64 * 2**20, 5.0
# Longer bodies that parsers refuse are not mended: the event loop would wait for it
_MENDED_BYTES = 2**20
_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
# ASCII escapes: answers come back in reasons, and may hold half surrogate pairs, which no UTF-8 can carry
_verdicts = msgspec.json.Encoder()
_encoder = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


class ClientGone(Exception):
    """The client closed the connection, so no one reads an answer."""


async def read_body(request: Request, max_bytes: int, hold: Callable[[int], None]) -> bytes:
    """The body, counted by `hold` while it comes in.

    Raises:
        Refusal: 415 a type other than JSON, 413 too long, 408 too slow, 429 too many bytes in all requests together.
        ClientGone: the connection ended before the body was whole.
    """
    _check_type(request.headers)
    # uvicorn's parser has made sure that it is a number
    if int(request.headers.get("content-length", "0")) > max_bytes:
        raise _too_long(max_bytes)
    chunks: list[bytes] = []
    size = 0
    started = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout(_BODY_SECONDS) as clock:
            more = True
            while more:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ClientGone
                chunk = message.get("body", b"")
                size += len(chunk)
                if size > max_bytes:
                    raise _too_long(max_bytes)
                hold(len(chunk))
                chunks.append(chunk)
                clock.reschedule(started + _BODY_SECONDS + size / _BODY_BYTES_A_SECOND)
                more = message.get("more_body", False)
    except TimeoutError as exc:
        raise Refusal(
            408, f"only {size} bytes came in time: a body may take {_BODY_SECONDS:g} s, and 1 s more for each 512 KiB"
        ) from exc
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


async def linger(request: Request) -> bool:
    """Read and drop the rest of a body, within bounds; return whether the body is then at its end.

    If a connection is closed while the client still writes, it is reset, and the client never reads the reason.
    """
    left = _LINGER_BYTES
    try:
        async with asyncio.timeout(_LINGER_SECONDS):
            while left > 0:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    return False
                if not message.get("more_body", False):
                    return True
                left -= len(message.get("body", b""))
    except TimeoutError:
        pass
    return False


def _too_long(max_bytes: int) -> Refusal:
    return Refusal(413, f"the request is longer than {max_bytes} bytes")


def _check_type(headers: Mapping[str, str]) -> None:
    kind = headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise Refusal(415, f"the body must be application/json, got {kind!r}")
    coding = headers.get("content-encoding", "identity")
    if coding.lower() != "identity":
        raise Refusal(415, f"the body must be sent as it is, got Content-Encoding {coding!r}")


def parse(body: bytes) -> dict[str, Any]:
    """The JSON object in `body`.

    Half surrogate pairs are read, since models write them, and what one row nests too deeply, or counts with too many
    digits, becomes text: it must not take the other rows' verdicts away. Where a key stands twice, the last value
    counts.

    Raises:
        Refusal: 422, no JSON object.
    """
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError as exc:
        value = _mended(body, exc)
    if not isinstance(value, dict):
        raise Refusal(422, f"the body must be a JSON object, got {type(value).__name__}")
    return value


def _mended(body: bytes, first: ValueError) -> Any:
    # pydantic's parser refuses these; the standard one is slower and does not
    kept = readable(body) if len(body) <= _MENDED_BYTES else body
    if kept is not body or _HALF_PAIR.search(body) is not None:
        with suppress(ValueError, RecursionError):
            return json.loads(kept)
    raise Refusal(422, f"the body is no JSON that can be read: {first}") from first


class Exchange:
    """The ASGI application that answers the requests of one wire for one judge."""

    def __init__(self, served: Served, name: str, wire: Wire, gate: Gate) -> None:
        self._served = served
        self._name = name
        self._wire = wire
        self._gate = gate
        self._lane = gate.cheap if served.judge.is_cheap else gate.slow

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self._answer(Request(scope, receive)))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        started = time.perf_counter()
        try:
            response = _json(200, await self._judged(request))
        except Refusal as exc:
            response = problem(exc)
        except ClientGone:
            response = Response(status_code=_CLIENT_GONE)
        except asyncio.CancelledError:
            if not self._gate.given_up:
                raise
            response = problem(refused_at_end())
        # the boundary to the network: any other exception is our own bug, and must not become a verdict
        except Exception as exc:  # noqa: BLE001
            response = _fault(exc, self._served)
        self._served.metrics.request(self._name, response.status_code, time.perf_counter() - started)
        return response

    async def _judged(self, request: Request) -> bytes:
        settings = self._served.settings
        whole = False
        try:
            seconds = _seconds(request.headers.get(DEADLINE_HEADER), settings.deadline_seconds)
            with self._gate.entered(self._lane) as hold:
                body = await read_body(request, settings.max_body_bytes, hold)
                whole = True
                ends_at = asyncio.get_running_loop().time() + seconds - min(_MOST_SEND_SECONDS, seconds / 10)
                return await within(request, seconds, self._in_turn(body, ends_at))
        except Refusal as exc:
            if not whole and not await linger(request):
                exc.close = True
            raise

    async def _in_turn(self, body: bytes, ends_at: float) -> bytes:
        async with self._lane.slot():
            if len(body) > _LARGE_BYTES:
                await loops.turn()
            reply = await self._wire(self._served, parse(body), ends_at)
        try:
            if self._name == "native":
                # verdicts alone, whose numbers are finite; not a pair of surrogates that an answer cut in half
                with suppress(UnicodeEncodeError, OverflowError, TypeError):
                    return _verdicts.encode(reply)
            return _encoder.encode(reply).encode()
        except ValueError as exc:
            # NeMo-Gym's wire sends the request back
            raise Refusal(422, f"the request holds a number that JSON cannot: {exc}") from exc


async def within(request: Request, seconds: float, work: Coroutine[Any, Any, bytes]) -> bytes:
    """The result of `work`, which is cancelled when `seconds` have passed or the client closes the connection.

    A sync judge's thread cannot be cancelled. The handler no longer waits for it, and the pool bounds the number of
    such threads.

    Raises:
        Refusal: 504, the deadline passed.
        ClientGone: the client hung up.
    """
    loop = asyncio.get_running_loop()
    watcher: asyncio.Task[None] | None = None
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await request.receive())["type"] != "http.disconnect":
            pass
        gone = True
        clock.reschedule(loop.time())

    def start_watching() -> None:
        nonlocal watcher
        watcher = loop.create_task(watch())

    # Start the watch only when the work waits: cheap verdicts are done before
    handle = loop.call_soon(start_watching)
    try:
        async with asyncio.timeout(seconds) as clock:
            return await work
    except TimeoutError as exc:
        if gone:
            raise ClientGone from exc
        if clock.expired():
            raise Refusal(504, f"not judged within {seconds:g} s", retry_after=1) from exc
        raise
    finally:
        handle.cancel()
        if watcher is not None:
            watcher.cancel()


def problem(refusal: Refusal) -> Response:
    """The response to a refused request."""
    return _json(refusal.status, _encoder.encode({"detail": refusal.detail}).encode(), refusal.headers())


def _fault(exc: Exception, served: Served) -> Response:
    # Log the frames only: the message may quote an answer
    where = "".join(traceback.format_tb(exc.__traceback__))
    said = f": {exc}" if served.settings.log_answers else ""
    _log.error("a request to judge %r failed with %s%s\n%s", served.name, type(exc).__name__, said, where)
    return problem(Refusal(500, f"the service failed with {type(exc).__name__}; its log says where"))


def _json(status: int, body: bytes, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status_code=status, media_type="application/json", headers=headers)


def _seconds(asked: str | None, most: float) -> float:
    if asked is None:
        return most
    try:
        seconds = float(asked)
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        raise Refusal(422, f"{DEADLINE_HEADER} must be a number of seconds above 0, got {asked!r}")
    return min(seconds, most)
