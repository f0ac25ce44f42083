"""The reward service as an ASGI application: its routes, and their description in `openapi.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

import yaml
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router

from agentscope_tuner._version import __version__
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.service.admission import Gate, Probe, ServiceSettings
from agentscope_tuner.service.bearer_token import OPEN_PATH, BearerGuard, TokenFile
from agentscope_tuner.service.handler import Exchange
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
