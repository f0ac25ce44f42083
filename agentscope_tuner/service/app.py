"""The reward service as an ASGI application: its routes, their description in `openapi.yaml`, and its bearer token."""

from __future__ import annotations

import logging
import os
import re
import stat
import time
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from agentscope_tuner._http import carries
from agentscope_tuner._version import __version__
from agentscope_tuner.errors import ConfigError, told
from agentscope_tuner.service.admission import Gate, Probe, Refusal, ServiceSettings
from agentscope_tuner.service.handler import Exchange, linger, problem
from agentscope_tuner.service.metrics import JudgeMetrics, ServiceMetrics
from agentscope_tuner.service.wire_formats import WIRES, Served
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
    """The service's application; `app.state.gate` is its `Gate`.

    Args:
        judges: by name, which is the prefix of their routes; the one named "" has none.
        settings: limits and the token file.

    Raises:
        ConfigError: there is no judge, a name that cannot be a route, or a token file that cannot be read.
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
    app = Starlette(routes=routes, middleware=guard)
    app.router.redirect_slashes = False
    app.state.gate = gate
    return app


def _check(judges: Mapping[str, ConfiguredJudge]) -> None:
    if not judges:
        raise ConfigError("a reward service needs a judge")
    if {"", DEFAULT_LABEL} <= judges.keys():
        raise ConfigError(
            f"the judge without a name is {DEFAULT_LABEL!r} in the metrics: name the other one differently"
        )
    for name in judges:
        if name and (_NAME.fullmatch(name) is None or name in _RESERVED):
            raise ConfigError(
                f"a judge's name is the prefix of its routes: letters, digits, - and _, and none of {_RESERVED!r}, "
                f"got {name!r}"
            )


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
    """The OpenAPI document of a service with these judges.

    Args:
        document: the description of a service with one judge, which has no name.
        names: the judges' names; each has the judging paths below its own.
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
    """The token in a file. A file that changes is read again within a second, so that a token can be rotated.

    Args:
        path: a file with one line of visible ASCII characters.

    Raises:
        ConfigError: the file cannot be read or holds no token.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._seen = self._state()
        self._token = self._read()
        self._look_at = time.monotonic() + _LOOK_AGAIN_SECONDS
        found = self._stat()
        if is_exposed(found.st_mode, own=found.st_uid == os.geteuid()):
            _log.warning("the token file %s can be read or changed by others: chmod 600 it", self._path)

    def admits(self, authorizations: list[bytes]) -> bool:
        """Whether the request's one Authorization header carries the token."""
        if time.monotonic() >= self._look_at:
            self._look_again()
        return len(authorizations) == 1 and carries(authorizations[0], self._token)

    def _look_again(self) -> None:
        self._look_at = time.monotonic() + _LOOK_AGAIN_SECONDS
        try:
            if (state := self._state()) != self._seen:
                self._token = self._read()
                self._seen = state
                _log.warning("the token file %s was read again", self._path)
        except ConfigError as exc:
            # The file is half written or gone: the old token stays valid until a new token can be read
            _log.warning("the token stays as it was: %s", exc)

    def _state(self) -> tuple[int, int, int, int]:
        found = self._stat()
        return found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode

    def _stat(self) -> os.stat_result:
        with told(f"cannot read the token file {str(self._path)!r}"):
            return os.stat(self._path)

    def _read(self) -> bytes:
        with told(f"cannot read the token file {str(self._path)!r}"):
            token = self._path.read_text(encoding="ascii").strip()
        if not token or not all("!" <= char <= "~" for char in token):
            raise ConfigError(
                f"the token file {str(self._path)!r} must hold one token of visible ASCII characters: "
                "make one with `openssl rand -hex 32`"
            )
        return token.encode()


def is_exposed(mode: int, *, own: bool) -> bool:
    """Whether a file of this mode lets other users read or change its secret.

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
    """The path below where the application is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))
