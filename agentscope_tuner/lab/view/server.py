"""Serves the page and answers its questions over HTTP, for one person on this machine."""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from agentscope_tuner.lab.view.queries import BadFilter
from agentscope_tuner.lab.view.report import STATIC
from agentscope_tuner.lab.view.session import ViewSession

TOKEN_HEADER = "x-astuner-token"
_MOST_BODY = 64 * 1024
# A rollout's content must always stay text, so the page loads nothing from a network and allows no inline script, no
# frame and no form
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src data:; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}

Answer = Callable[[Request], Awaitable[Response]]


class OneHost:
    """ASGI middleware that answers only requests for the server's own address.

    Otherwise another site could let its own name resolve to 127.0.0.1, and its page could read the answers (DNS
    rebinding).
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            host = next((value for key, value in scope["headers"] if key == b"host"), b"").decode("latin-1")
            if host not in self._hosts:
                response = Response(f"this address is not served: {host[:200]!r}\n", 421, _HEADERS)
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


def create_view_app(session: ViewSession, token: str, hosts: frozenset[str]) -> ASGIApp:
    """The application.

    Args:
        session: answers the page's questions.
        token: the secret that every question must send; the page takes it from its own address.
        hosts: the values of the header `Host` that are answered, each with its port.
    """

    def guarded(answer: Answer) -> Answer:
        async def checked(request: Request) -> Response:
            given = request.headers.get(TOKEN_HEADER, "")
            if not hmac.compare_digest(given.encode(), token.encode()):
                return _json(
                    {"error": "the token is missing or wrong: open the address that astuner view printed"}, 403
                )
            try:
                return await answer(request)
            except BadFilter as exc:
                return _json({"error": str(exc)}, 400)

        return checked

    questions: dict[str, Callable[[Mapping[str, str]], Any]] = {
        "state": session.state,
        "rows": session.rows,
        "row": session.row,
        "group": session.group,
        "overview": session.overview,
    }

    async def export(request: Request) -> Response:
        found = await run_in_threadpool(lambda: b"".join(session.export(dict(request.query_params))))
        return Response(found, 200, {**_HEADERS, "content-type": "application/jsonl"})

    commands: dict[str, Callable[[dict[str, Any]], Any]] = {"label": session.label, "explain": session.explain}
    routes = [Route(f"/{name}", _file(name)) for name in ("app.js", "app.css")]
    routes += [Route("/", _file("index.html"))]
    routes += [Route(f"/api/{name}", guarded(_query(ask)), methods=["GET"]) for name, ask in questions.items()]
    routes += [Route("/api/export", guarded(export), methods=["GET"])]
    routes += [Route(f"/api/{name}", guarded(_command(run)), methods=["POST"]) for name, run in commands.items()]
    return OneHost(Starlette(routes=routes), hosts)


def _file(name: str) -> Answer:
    path = STATIC / name

    async def answer(request: Request) -> Response:
        body = await run_in_threadpool(path.read_bytes)
        return Response(body, headers={**_HEADERS, "content-type": f"{_TYPES[path.suffix]}; charset=utf-8"})

    return answer


def _query(ask: Callable[[Mapping[str, str]], Any]) -> Answer:
    async def answer(request: Request) -> Response:
        found = await run_in_threadpool(ask, dict(request.query_params))
        return _json({"error": "there is no such row"}, 404) if found is None else _json(found)

    return answer


def _command(run: Callable[[dict[str, Any]], Any]) -> Answer:
    async def answer(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _MOST_BODY:
                return _json({"error": f"a request may have {_MOST_BODY} bytes"}, 413)
        try:
            given = json.loads(body)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            return _json({"error": "the request must be a JSON object"}, 400)
        found = await run_in_threadpool(run, given)
        return _json({"error": "there is no such row"}, 404) if found is None else _json(found)

    return answer


def _json(value: Any, status: int = 200) -> Response:
    # json.dumps writes ASCII: UTF-8 cannot hold half a surrogate pair, but an escape can
    return Response(json.dumps(value).encode(), status, {**_HEADERS, "content-type": "application/json"})


def serve_view(session: ViewSession, listener: socket.socket, *, announce: Callable[[str], None]) -> None:
    """Serve `session` on `listener`, which listens on 127.0.0.1, until SIGINT or SIGTERM.

    Args:
        session: a session that is not started yet.
        listener: a socket that is bound and listening.
        announce: called with the address and its token, once the server accepts connections.
    """
    import uvicorn  # the server alone needs it; the application is tested without

    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(18)
    hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))
    config = uvicorn.Config(
        create_view_app(session, token, hosts),
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    # A thread beside the server reads large files. With Python's default of 5 ms the server would wait for it too long
    sys.setswitchinterval(0.0005)
    session.start()
    announce(f"http://127.0.0.1:{port}/?token={token}")
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        session.close()
