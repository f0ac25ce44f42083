"""Reads a request's body within limits, and parses it as JSON that all later code can handle."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic_core import from_json
from starlette.requests import Request

from agentscope_tuner.records.reader import is_deeper
from agentscope_tuner.service.gate import Held
from agentscope_tuner.service.refusal import Refusal

_BODY_SECONDS = 30.0
# Limits on reading the rest of a refused body
_LINGER_BYTES, _LINGER_SECONDS = 64 * 2**20, 5.0
_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
# The depth at which pydantic's parser stops
_DEPTH = 200


class ClientGone(Exception):
    """The client closed the connection, so no one reads an answer."""


async def read_body(request: Request, max_bytes: int, held: Held) -> bytes:
    """The body, counted while it comes in.

    Raises:
        Refusal: 415 a type other than JSON, 413 too long, 408 too slow, 429 too many bytes in all requests together.
        ClientGone: the connection ended before the body was whole.
    """
    _check_type(request.headers)
    # uvicorn's parser has made sure that it is a number
    declared = int(request.headers.get("content-length", "0"))
    if declared > max_bytes:
        raise _too_long(max_bytes)
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            more = True
            while more:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ClientGone
                chunk = message.get("body", b"")
                size += len(chunk)
                if size > max_bytes:
                    raise _too_long(max_bytes)
                held.add(len(chunk))
                chunks.append(chunk)
                more = message.get("more_body", False)
    except TimeoutError as exc:
        raise Refusal(408, f"the request did not arrive within {_BODY_SECONDS:g} s") from exc
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

    Half surrogate pairs are read, since models write them. Where a key stands twice, the last value counts.

    Raises:
        Refusal: 400 no JSON, numbers or nesting beyond bounds; 422 JSON, but no object.
    """
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError as exc:
        value = _with_half_pairs(body, exc)
    if not isinstance(value, dict):
        raise Refusal(422, f"the body must be a JSON object, got {type(value).__name__}")
    return value


def _with_half_pairs(body: bytes, first: ValueError) -> Any:
    # pydantic's parser refuses these; the standard one is slower and does not
    if _HALF_PAIR.search(body) is not None:
        try:
            value = json.loads(body, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            pass
        else:
            if not is_deeper(value, _DEPTH):
                return value
    raise Refusal(400, f"the body is no JSON that can be read: {first}") from first


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
