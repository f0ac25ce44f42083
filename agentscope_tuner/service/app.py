"""The reward service as an ASGI application."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fastapi import APIRouter, FastAPI, Response, Security
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agentscope_tuner._version import __version__
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.service.gate import Gate
from agentscope_tuner.service.handler import Exchange
from agentscope_tuner.service.metrics import JudgeMetrics, ServiceMetrics
from agentscope_tuner.service.openapi import PROBLEMS, SHAPES, Documented, Readiness
from agentscope_tuner.service.readiness import Probe
from agentscope_tuner.service.settings import ServiceSettings
from agentscope_tuner.service.token_file import BearerGuard, TokenFile, own_path
from agentscope_tuner.service.wires import WIRES, Served
from agentscope_tuner.task_judge.batch import ConfiguredJudge

_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: The judge without a name, in the metrics: Prometheus takes an empty label for an absent one.
DEFAULT_LABEL = "default"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
#: Under a judge's prefix: the paths of each wire.
PATHS: Mapping[str, tuple[str, ...]] = {
    "native": ("/reward",),
    "openrlhf": ("/get_reward", "/openrlhf", "/"),
    "nemo_gym": ("/verify",),
    "slime": ("/slime",),
}
_RESERVED = {"docs", "openapi.json", "healthz", "readyz", "metrics"} | {
    path[1:] for paths in PATHS.values() for path in paths
}


def create_app(judges: Mapping[str, ConfiguredJudge], settings: ServiceSettings | None = None) -> FastAPI:
    """The service's application; `app.state.gate` is its `Gate`.

    Args:
        judges: by name, which is the prefix of their routes; the one named "" has none.
        settings: limits and the token file.

    Raises:
        ConfigError: there is no judge, a name that cannot be a route, or a token file that cannot be read.
    """
    settings = settings or ServiceSettings()
    if not judges:
        raise ConfigError("a reward service needs a judge")
    gate = Gate(settings.concurrency, settings.queue, settings.max_body_bytes)
    metrics = ServiceMetrics(gate)
    app = FastAPI(title="astuner reward service", version=__version__, redoc_url=None, redirect_slashes=False)
    app.state.gate = gate
    app.add_api_route("/healthz", _healthz, methods=["GET"], summary="The process is alive", response_class=Response)
    # Only for the description: the guard below does the check
    bearer = [Security(HTTPBearer(auto_error=False))] if settings.token_file is not None else []
    router = APIRouter(redirect_slashes=False, dependencies=bearer)
    _add_operator_routes(router, Probe(judges), gate, metrics)
    handlers: dict[str, Exchange] = {}
    if {"", DEFAULT_LABEL} <= judges.keys():
        raise ConfigError(
            f"the judge without a name is {DEFAULT_LABEL!r} in the metrics: name the other one differently"
        )
    for name, judge in judges.items():
        counted = JudgeMetrics(metrics, name or DEFAULT_LABEL)
        _add_judge(router, handlers, Served(_checked(name), judge, settings, counted), gate)
    app.add_middleware(Direct, handlers=handlers)
    if settings.token_file is not None:
        # Added last, so that it runs before everything else
        app.add_middleware(BearerGuard, token=TokenFile(settings.token_file))
    app.include_router(router)
    return app


def _checked(name: str) -> str:
    if name and (_NAME.fullmatch(name) is None or name in _RESERVED):
        raise ConfigError(
            f"a judge's name is the prefix of its routes: letters, digits, - and _, and none of "
            f"{sorted(_RESERVED - {''})!r}, got {name!r}"
        )
    return name


def _add_judge(router: APIRouter, handlers: dict[str, Exchange], served: Served, gate: Gate) -> None:
    prefix = f"/{served.name}" if served.name else ""
    for wire, paths in PATHS.items():
        exchange = Exchange(served, wire, WIRES[wire], gate)
        for path in paths:
            handlers[prefix + path] = exchange
            _describe(router, served.name, wire, prefix + path)
    # A client with the address http://host:port/name sends its requests there, without a slash
    handlers.setdefault(prefix, handlers[f"{prefix}/"])


async def _healthz() -> Response:
    return Response("OK", media_type="text/plain")


def _add_operator_routes(router: APIRouter, probe: Probe, gate: Gate, metrics: ServiceMetrics) -> None:
    async def readyz() -> JSONResponse:
        if gate.draining:
            return JSONResponse({"status": "draining", "judges": {}}, status_code=503)
        problems = await probe.problems()
        ready = not any(problems.values())
        return JSONResponse(
            {"status": "ready" if ready else "not ready", "judges": problems}, status_code=200 if ready else 503
        )

    async def prometheus() -> Response:
        return Response(metrics.text(), media_type=_METRICS_TYPE)

    router.add_api_route(
        "/readyz",
        readyz,
        methods=["GET"],
        response_model=Readiness,
        responses={503: {"model": Readiness, "description": "draining, or a judge's endpoint does not answer"}},
        summary="The judges are loaded, and what they depend on answers",
    )
    router.add_api_route(
        "/metrics", prometheus, methods=["GET"], response_class=Response, summary="Counts for Prometheus"
    )


def _describe(router: APIRouter, name: str, wire: str, path: str) -> None:
    shape = SHAPES[wire]
    router.add_api_route(
        path,
        Documented(shape),
        methods=["POST"],
        response_model=shape.reply,
        summary=shape.summary,
        responses=PROBLEMS,
        operation_id="_".join(filter(None, (*path.split("/"), wire))),
        tags=[name] if name else None,
    )


class Direct:
    """ASGI middleware that finds the handler of a judging request by its path: the router takes longer than a cheap
    verdict.

    Args:
        app: answers all other requests.
        handlers: the handlers by path.
    """

    def __init__(self, app: ASGIApp, handlers: Mapping[str, Exchange]) -> None:
        self._app = app
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = None
        if scope["type"] == "http" and scope["method"] == "POST":
            exchange = self._handlers.get(own_path(scope))
        if exchange is None:
            await self._app(scope, receive, send)
        else:
            response = await exchange.handle(Request(scope, receive))
            await response(scope, receive, send)
