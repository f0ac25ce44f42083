"""The service's bearer token: read from a file, which may be rotated, and asked for by every route but one."""

from __future__ import annotations

import logging
import os
import stat
import time
from pathlib import Path

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agentscope_tuner._http import carries
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.service.admission import Refusal
from agentscope_tuner.service.handler import linger, problem

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
            state = self._state()
            if state != self._seen:
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
        try:
            return os.stat(self._path)
        except OSError as exc:
            raise ConfigError(f"cannot read the token file {str(self._path)!r}: {exc}") from exc

    def _read(self) -> bytes:
        try:
            token = self._path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as exc:
            raise ConfigError(f"cannot read the token file {str(self._path)!r}: {exc}") from exc
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
