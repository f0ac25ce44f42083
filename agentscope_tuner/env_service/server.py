"""The reference server of the env-service protocol (see `wire`), on Starlette; it needs the extra `serve`."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from typing import Any

import uvicorn
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from agentscope_tuner._http import carries
from agentscope_tuner._run import interrupts
from agentscope_tuner.env_service.episodes import EpisodeRefusal, Instances, ServerLimits
from agentscope_tuner.errors import told

_BODY_SECONDS = 30.0
_SHUTDOWN_SECONDS = 10


class ServiceRequest(BaseModel):
    """The JSON body of every POST request; which fields are required depends on the call."""

    env_type: str | None = None
    task_id: str | None = None
    instance_id: str | None = None
    messages: dict[str, Any] = {}
    params: dict[str, Any] = {}

    def need(self, name: str) -> str:
        """The text in the field `name`, which this call requires.

        Raises:
            EpisodeRefusal: 400, the field is missing or empty.
        """
        value = getattr(self, name)
        if not isinstance(value, str) or not value:
            raise EpisodeRefusal(400, f"{name} is required")
        return value


Act = Callable[[Instances, ServiceRequest], Awaitable[dict[str, object]]]


async def _create(instances: Instances, asked: ServiceRequest) -> dict[str, object]:
    made = await instances.create(asked.need("env_type"), asked.need("task_id"), asked.instance_id, asked.params)
    return {"success": True, "data": made}


async def _profile(instances: Instances, asked: ServiceRequest) -> dict[str, object]:
    params = dict(asked.params)
    split = str(params.pop("split", "train"))
    return {"success": True, "data": await instances.profile(asked.need("env_type"), split, params)}


async def _release(instances: Instances, asked: ServiceRequest) -> dict[str, object]:
    return {"success": await instances.release(asked.need("instance_id")), "data": None}


def _call(method: str) -> Act:
    async def act(instances: Instances, asked: ServiceRequest) -> dict[str, object]:
        data = await instances.call(asked.need("instance_id"), method, asked.messages, asked.params)
        return {"success": True, "data": data}

    return act


ACTS: Mapping[str, Act] = {
    "create": _create,
    "step": _call("step"),
    "evaluate": _call("evaluate"),
    "get_info": _call("get_info"),
    "get_env_profile": _profile,
    "release": _release,
}


def build_app(protocols: Mapping[str, str], limits: ServerLimits, token: str | None = None) -> Starlette:
    """The server as an ASGI application, which `serve` runs.

    Args:
        protocols: the environments' classes (`module->Class`) by `env_type`; see `Environment`.
        limits: the server's limits.
        token: the secret that every request except `GET /healthz` must carry, as `Authorization: Bearer …`; None
            requires no token.
    """
    instances = Instances(protocols, limits)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        expiry = asyncio.create_task(instances.expire())
        # uvicorn before 0.42 cancels this context if a signal comes before its server has started
        with suppress(asyncio.CancelledError):
            yield
        expiry.cancel()
        await instances.close()

    def answering(act: Act) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            _check_token(request, token)
            return _json(await act(instances, await _read(request, limits.max_body_bytes)))

        return handle

    routes = [Route(f"/{path}", answering(act), methods=["POST"]) for path, act in ACTS.items()]
    return Starlette(
        routes=[Route("/healthz", _healthz), *routes],
        lifespan=lifespan,
        exception_handlers={EpisodeRefusal: _refuse},
    )


def serve(app: Starlette, listener: socket.socket, *, announce: Callable[[], None]) -> None:
    """Serve `app` until a signal of `interrupts.ENDING`, then end all episodes and return.

    Args:
        app: made by `build_app`.
        listener: a socket that is bound and listening.
        announce: called once signals are handled so, just before the server starts.
    """
    config = uvicorn.Config(
        app,
        # The episodes' sockets are tested on asyncio's loop only, and uvicorn would take uvloop if it is installed
        loop="asyncio",
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    server = uvicorn.Server(config)
    # uvicorn handles SIGINT and SIGTERM only, and an interrupt while it makes its loop leaves half of one
    server.capture_signals = nullcontext  # type: ignore[method-assign,unused-ignore]
    with interrupts.ending(server):
        announce()
        server.run(sockets=[listener])


async def _healthz(_: Request) -> Response:
    return PlainTextResponse("OK")


async def _refuse(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, EpisodeRefusal)
    # The rest of a refused body would be read as the next request: close the connection
    headers = {"Connection": "close"} if refusal.status == 413 else {}
    headers |= {"Retry-After": "1"} if refusal.status == 429 else {}
    return _json({"detail": refusal.detail}, refusal.status, headers)


def _check_token(request: Request, token: str | None) -> None:
    if token is not None and not carries(request.headers.get("Authorization", "").encode(), token.encode()):
        raise EpisodeRefusal(401, "the Authorization header must carry the server's token as 'Bearer …'")


async def _read(request: Request, max_bytes: int) -> ServiceRequest:
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > max_bytes:
                    raise EpisodeRefusal(413, f"the request is longer than {max_bytes} bytes")
    except TimeoutError as exc:
        raise EpisodeRefusal(408, f"the request did not arrive within {_BODY_SECONDS:g} s") from exc
    with told("the request cannot be read", ValueError, RecursionError, to=partial(EpisodeRefusal, 400)):
        # pydantic's parser refuses lone surrogates, which a policy may write: use the standard one
        return ServiceRequest.model_validate(json.loads(body))


def _json(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    # ASCII escapes: an environment may quote lone surrogates, which no UTF-8 can carry
    body = json.dumps(content, allow_nan=False, ensure_ascii=True)
    return Response(body, status_code=status, media_type="application/json", headers=dict(headers or {}))
