"""The reward service as an ASGI application: its routes, their description in `openapi.yaml`, and its bearer token.

`Exchange` answers the requests for verdicts: it reads them within limits, admits them, and judges them in time.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import re
import stat
import time
import traceback
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import yaml
from pydantic_core import from_json
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from agentscope_tuner._http import carries
from agentscope_tuner._run import loops
from agentscope_tuner._version import __version__
from agentscope_tuner.bounds import readable
from agentscope_tuner.errors import ConfigError, told
from agentscope_tuner.records.reader import HALF_PAIR
from agentscope_tuner.service.admission import Gate, Probe, Refusal, ServiceSettings, refused_at_end
from agentscope_tuner.service.metrics import JudgeMetrics, ServiceMetrics
from agentscope_tuner.service.wire_formats import WIRES, Served, Wire
from agentscope_tuner.task_judge.batch import ConfiguredJudge

_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: The judge without a name, in the metrics: Prometheus takes an empty label for an absent one.
DEFAULT_LABEL = "default"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
#: The wire of each path under a judge's prefix.
PATHS: Mapping[str, str] = {
    "/reward": "native",
    "/get_reward": "openrlhf",
    "/openrlhf": "openrlhf",
    "/": "openrlhf",
    "/verify": "nemo_gym",
    "/slime": "slime",
}
_RESERVED = sorted({"docs", "openapi.json", "healthz", "readyz", "metrics", *(path[1:] for path in PATHS)} - {""})


def create_app(judges: Mapping[str, ConfiguredJudge], settings: ServiceSettings | None = None) -> Starlette:
    """Make the reward service as an ASGI application, which `serve` or any ASGI server runs.

    `app.state.gate` is its `Gate`.

    Args:
        judges: the judges by name: `math` is asked at `/math/reward`, and the judge with the empty name at `/reward`.
        settings: the limits and the token file.

    Raises:
        ConfigError: there is no judge, a name cannot be a route, or the token file cannot be read.
    """
    settings = settings or ServiceSettings()
    _check(judges)
    gate = Gate(settings.concurrency, settings.queue, settings.max_body_bytes)
    metrics = ServiceMetrics(gate)
    guard = []
    if settings.token_file is not None:
        guard = [Middleware(BearerGuard, token=TokenFile(settings.token_file))]
    routes: list[BaseRoute] = []
    # Starlette tries the routes in order, and a judge without a name may be asked thousands of times a second
    for name in sorted(judges):
        counted = JudgeMetrics(metrics, name or DEFAULT_LABEL)
        routes += _judging_routes(Served(name, judges[name], settings, counted), gate)
    routes += _operator_routes(Probe(judges), gate, metrics) + _description(judges, guarded=bool(guard))
    app = Starlette(routes=routes, middleware=guard, exception_handlers={404: _no_route, 405: _no_route})
    app.router.redirect_slashes = False
    app.state.gate = gate
    return app


async def _no_route(request: Request, exc: Exception) -> Response:
    """The response to a path or a method that is not served (status 404 or 405); it names those that are."""
    assert isinstance(exc, HTTPException)
    said = f"{request.method} {request.url.path} is not served"
    served = f"{said}: rows are sent by POST to /reward, or to /NAME/reward where judges have names; see GET /docs"
    return JSONResponse({"detail": served}, status_code=exc.status_code, headers=exc.headers)


def _check(judges: Mapping[str, ConfiguredJudge]) -> None:
    if not judges:
        raise ConfigError("a reward service needs a judge")
    if {"", DEFAULT_LABEL} <= judges.keys():
        raise ConfigError(f"the judge without a name is {DEFAULT_LABEL!r} in the metrics: rename the other one")
    for name in judges:
        if name and (_NAME.fullmatch(name) is None or name in _RESERVED):
            said = f"letters, digits, - and _, and none of {_RESERVED!r}, got {name!r}"
            raise ConfigError(f"a judge's name is the prefix of its routes: {said}")


def _judging_routes(served: Served, gate: Gate) -> list[BaseRoute]:
    exchanges = {wire: Exchange(served, wire, WIRES[wire], gate) for wire in WIRES}
    routes: list[BaseRoute] = [Route(path, exchanges[wire], methods=["POST"]) for path, wire in PATHS.items()]
    if not served.name:
        return routes
    prefix = f"/{served.name}"
    # A client with the address http://host:port/name sends its requests there, without a slash
    return [
        Route(prefix, exchanges[PATHS["/"]], methods=["POST"]),
        Mount(prefix, Router(routes, redirect_slashes=False)),
    ]


def _operator_routes(probe: Probe, gate: Gate, metrics: ServiceMetrics) -> list[BaseRoute]:
    async def healthz(_: Request) -> Response:
        return PlainTextResponse("OK")

    async def readyz(_: Request) -> Response:
        problems: Mapping[str, str | None] = {}
        if gate.draining:
            status = "draining"
        elif gate.full:
            status = "full"
        else:
            problems = await probe.problems()
            status = "not ready" if any(problems.values()) else "ready"
        return JSONResponse({"status": status, "judges": problems}, status_code=200 if status == "ready" else 503)

    async def prometheus(_: Request) -> Response:
        return Response(metrics.text(), media_type=_METRICS_TYPE)

    return [Route(OPEN_PATH, healthz), Route("/readyz", readyz), Route("/metrics", prometheus)]


def _description(names: Iterable[str], *, guarded: bool) -> list[BaseRoute]:
    folder = files("agentscope_tuner.service")
    document = described(yaml.safe_load(folder.joinpath("openapi.yaml").read_text("utf-8")), names, guarded=guarded)
    page = folder.joinpath("docs.html").read_text("utf-8")

    async def openapi(_: Request) -> Response:
        return JSONResponse(document)

    async def docs(_: Request) -> Response:
        return HTMLResponse(page)

    return [Route("/openapi.json", openapi), Route("/docs", docs)]


def described(document: dict[str, Any], names: Iterable[str], *, guarded: bool) -> dict[str, Any]:
    """The OpenAPI document for a service with these judges, made from that of a service with one judge.

    Args:
        document: the description of a service with one judge, which has no name.
        names: the judges' names; each judge has its paths below its name, such as `/math/reward`.
        guarded: whether requests need a token.
    """
    paths = {path: operations for path, operations in document["paths"].items() if path not in PATHS}
    for name in names:
        for path in PATHS:
            operation = document["paths"][path]["post"]
            if name:
                operation = {**operation, "operationId": f"{name}_{operation['operationId']}", "tags": [name]}
            paths[f"/{name}{path}" if name else path] = {"post": operation}
    found = {**document, "info": {**document["info"], "version": __version__}, "paths": paths}
    if not guarded:
        del found["security"]
    return found


_log = logging.getLogger(__name__)

#: The route that needs no token.
OPEN_PATH = "/healthz"
_LOOK_AGAIN_SECONDS = 1.0


class TokenFile:
    """The service's secret token in a file. Requests have it read again, at most once a second: it may be changed.

    Args:
        path: a file with one line of visible ASCII characters.

    Raises:
        ConfigError: the file cannot be read or holds no token.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._token = self._read()
        self._look_at = time.monotonic() + _LOOK_AGAIN_SECONDS
        found = self._path.stat()
        if is_exposed(found.st_mode, own=found.st_uid == os.geteuid()):
            _log.warning("the token file %s can be read or changed by others: chmod 600 it", self._path)

    def admits(self, authorizations: list[bytes]) -> bool:
        """Whether a request may pass: its `authorizations` are exactly one header, `Bearer …` with the token."""
        if time.monotonic() >= self._look_at:
            self._look_again()
        return len(authorizations) == 1 and carries(authorizations[0], self._token)

    def _look_again(self) -> None:
        self._look_at = time.monotonic() + _LOOK_AGAIN_SECONDS
        try:
            token = self._read()
        except ConfigError as exc:
            # The file is half written or gone: the old token stays valid until a new token can be read
            _log.warning("the token stays as it was: %s", exc)
            return
        if token != self._token:
            self._token = token
            _log.warning("the token file %s was read again", self._path)

    def _read(self) -> bytes:
        with told(f"cannot read the token file {str(self._path)!r}"):
            token = self._path.read_text(encoding="ascii").strip()
        if not token or not all("!" <= char <= "~" for char in token):
            said = "must hold one token of visible ASCII characters: make one with `openssl rand -hex 32`"
            raise ConfigError(f"the token file {str(self._path)!r} {said}")
        return token.encode()


def is_exposed(mode: int, *, own: bool) -> bool:
    """Whether the mode of a file lets other users read or change the secret in it: True for 0o644, False for 0o600.

    Args:
        mode: the mode, as `os.stat` gives it.
        own: whether the process's user owns the file. A secret that Kubernetes mounts belongs to root, and the process
            reads it as a member of the file's group, so the group may read it there.
    """
    group = stat.S_IRWXG if own else stat.S_IWGRP
    return bool(mode & (group | stat.S_IRWXO))


class BearerGuard:
    """ASGI middleware that lets only requests with the token pass, except `/healthz`."""

    def __init__(self, app: ASGIApp, token: TokenFile) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        if scope["type"] == "lifespan" or own_path(scope) == OPEN_PATH or self._token.admits(given):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            refusal = Refusal(401, "the Authorization header must carry the service's token as 'Bearer …'")
            refusal.close = not await linger(Request(scope, receive))
            await problem(refusal)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})


def own_path(scope: Scope) -> str:
    """The request's path without the prefix at which the application is mounted: `/healthz` for `/astuner/healthz`."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


#: The header in which a client gives a request's time limit in seconds; at most the service's own limit.
DEADLINE_HEADER = "X-Deadline-Seconds"
#: The header in which a client gives a request's priority: a whole number, by default 0; higher ones are judged first.
PRIORITY_HEADER = "X-Priority"
_PRIORITIES = range(-10, 11)
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
# ASCII escapes: answers come back in reasons, and may hold half surrogate pairs, which no UTF-8 can carry
_verdicts = msgspec.json.Encoder()
_encoder = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


class ClientGone(Exception):
    """The client has closed the connection, so that nobody would read an answer."""


async def read_body(request: Request, max_bytes: int, hold: Callable[[int], None]) -> bytes:
    """Read the body of a request.

    Args:
        request: the request.
        max_bytes: the most bytes of the body.
        hold: called with the number of bytes of each piece; it refuses too many in all requests together.

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
        said = f"a body may take {_BODY_SECONDS:g} s, and 1 s more for each 512 KiB"
        raise Refusal(408, f"only {size} bytes came in time: {said}") from exc
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


async def linger(request: Request) -> bool:
    """Read and drop the rest of a refused request's body, within limits; return whether it was read to the end.

    If the connection were closed while the client still writes, the client could not read why it was refused.
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
    """The JSON object in the body of a request.

    Half surrogate pairs are accepted, since models write them. A value that is nested too deeply, or a number of too
    many digits, becomes a text: one such row must not cost the other rows their verdicts. If a key occurs twice, the
    last value counts.

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
    # pydantic's parser refuses half surrogate pairs; the standard parser is slower and accepts them
    kept = readable(body) if len(body) <= _MENDED_BYTES else body
    if kept is not body or HALF_PAIR.search(body) is not None:
        with suppress(ValueError, RecursionError):
            return json.loads(kept)
    raise Refusal(422, f"the body is no JSON that can be read: {first}") from first


class Exchange:
    """The ASGI application that answers the requests of one wire format for one judge.

    Args:
        served: the judge.
        name: the name of the wire format, for the metrics.
        wire: the function for this format.
        gate: admits requests.
    """

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
        # the boundary to the network: any other exception is a bug of this package, and must not become a verdict
        except Exception as exc:  # noqa: BLE001
            response = _fault(exc, self._served)
        self._served.metrics.request(self._name, response.status_code, time.perf_counter() - started)
        return response

    async def _judged(self, request: Request) -> bytes:
        settings = self._served.settings
        whole = False
        try:
            seconds = _seconds(request.headers.get(DEADLINE_HEADER), settings.deadline_seconds)
            priority = _priority(request.headers.get(PRIORITY_HEADER, "0"))
            with self._gate.entered(self._lane) as hold:
                body = await read_body(request, settings.max_body_bytes, hold)
                whole = True
                ends_at = asyncio.get_running_loop().time() + seconds - min(_MOST_SEND_SECONDS, seconds / 10)
                return await within(request, seconds, self._in_turn(body, ends_at, priority))
        except Refusal as exc:
            if not whole and not await linger(request):
                exc.close = True
            raise

    async def _in_turn(self, body: bytes, ends_at: float, priority: int) -> bytes:
        async with self._lane.slot(priority):
            if len(body) > _LARGE_BYTES:
                await loops.turn()
            reply = await self._wire(self._served, parse(body), ends_at)
        try:
            if self._name == "native":
                # the fast encoder: verdicts alone have finite numbers. It fails for half a surrogate pair
                with suppress(UnicodeEncodeError, OverflowError, TypeError):
                    return _verdicts.encode(reply)
            return _encoder.encode(reply).encode()
        except ValueError as exc:
            # NeMo-Gym's wire sends the request back
            raise Refusal(422, f"the request holds a number that JSON cannot: {exc}") from exc


async def within(request: Request, seconds: float, work: Coroutine[Any, Any, bytes]) -> bytes:
    """Await `work` and return its result. It is cancelled after `seconds`, or when the client closes the connection.

    The thread of a judge that does not await cannot be cancelled: it is no longer waited for, and the number of such
    threads is bounded.

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
    """The HTTP response to a refused request: its status, its headers, and `{"detail": …}`."""
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


def _priority(asked: str) -> int:
    with suppress(ValueError):
        if (priority := int(asked)) in _PRIORITIES:
            return priority
    least, most = _PRIORITIES[0], _PRIORITIES[-1]
    raise Refusal(422, f"{PRIORITY_HEADER} must be a whole number from {least} to {most}, got {asked!r}")
