"""One judging request from its first byte to its answer: admitted, read, judged within its deadline, answered."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
import traceback
from collections.abc import Coroutine
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from agentscope_tuner.service.body import ClientGone, linger, parse, read_body
from agentscope_tuner.service.gate import Gate
from agentscope_tuner.service.refusal import Refusal
from agentscope_tuner.service.wires import Served, Wire

_log = logging.getLogger(__name__)

#: The header in which a client gives a request's time limit in seconds; at most the service's own limit.
DEADLINE_HEADER = "X-Deadline-Seconds"
# Seconds of a request's time, kept for sending an answer with some rows' verdicts: no one reads a late answer
_MOST_SEND_SECONDS = 1.0
# The client has gone and reads no answer; 499 is nginx's status for this case
_CLIENT_GONE = 499
# ASCII escapes: answers come back in reasons, and may hold half surrogate pairs, which no UTF-8 can carry
_encoder = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


class Exchange:
    """Answers the requests of one wire for one judge."""

    def __init__(self, served: Served, name: str, wire: Wire, gate: Gate) -> None:
        self._served = served
        self._name = name
        self._wire = wire
        self._gate = gate

    async def handle(self, request: Request) -> Response:
        """The response; raises only when it is cancelled."""
        started = time.perf_counter()
        try:
            response = _json(200, await self._judged(request))
        except Refusal as exc:
            response = problem(exc)
        except ClientGone:
            response = Response(status_code=_CLIENT_GONE)
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
            with self._gate.admitted() as held:
                body = await read_body(request, settings.max_body_bytes, held)
                whole = True
                ends_at = asyncio.get_running_loop().time() + seconds - min(_MOST_SEND_SECONDS, seconds / 10)
                return await within(request, seconds, self._in_turn(body, ends_at))
        except Refusal as exc:
            if not whole and not await linger(request):
                exc.close = True
            raise

    async def _in_turn(self, body: bytes, ends_at: float) -> bytes:
        async with self._gate.slot():
            reply = await self._wire(self._served, parse(body), ends_at)
        try:
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
