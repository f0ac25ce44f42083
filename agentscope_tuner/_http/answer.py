"""One call of an HTTP service, and its answer, read without trust and without any I/O."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A whole HTTP response: status, content type ("" when absent), body, and the seconds that Retry-After asks for."""

    status: int
    content_type: str
    body: bytes
    retry_after: float = 0.0


@dataclass(frozen=True, slots=True)
class HttpCall(Generic[T]):
    """One request and how to read its answer.

    Attributes:
        path: what follows the service's base URL: `/evaluate`.
        body: the JSON to POST; None for a GET.
        where: the call in words, for messages: `evaluate of instance 'x'`.
        parse: the result in an answer; raises a `BadAnswer`, or an error of its own that ends the call at once.
        seconds: the most that one try may take, from connecting to the last byte of the answer.
        repeatable: whether sending the call twice does no harm.
        patient: whether tries may go on until the client's deadline; otherwise all tries together end within `seconds`.
        apart: whether the call has connections that no other kind of call uses; the service may drop them after its
            answer. Such a call must be repeatable.
        ends_at: the time, by the loop's clock, from which no caller waits for the answer; None: the client's deadline
            decides.
        home: the name of a thing that lives at one of several addresses, such as an episode; the call goes to its
            address.
        home_of: gives the name of a thing that the call has created, from the result; later calls for it go to the same
            address.
        unknown_here: errors of `parse` which say that this address does not know the thing and did nothing.
    """

    path: str
    body: bytes | None
    where: str
    parse: Callable[[HttpAnswer], T]
    seconds: float
    repeatable: bool = True
    patient: bool = True
    apart: bool = False
    ends_at: float | None = None
    home: str = ""
    home_of: Callable[[T], str] | None = None
    unknown_here: tuple[type[Exception], ...] = ()


class BadAnswer(Exception):
    """The service answered with an error, or not in its protocol. An `HttpExchange` turns it into a JudgeError."""

    def __init__(self, status: int, detail: str, where: str) -> None:
        super().__init__(status, detail, where)
        self.status = status
        self.detail = detail
        self.where = where


def json_object(answer: HttpAnswer, where: str) -> dict[str, Any]:
    """The JSON object in the body of `answer`.

    Raises:
        BadAnswer: the content type is not JSON, the body cannot be read, or the JSON is no object.
    """
    if answer.content_type.partition(";")[0].strip().lower() != "application/json":
        raise malformed(answer, where, f"Content-Type must be application/json, got {answer.content_type!r}")
    try:
        value = json.loads(answer.body.decode("utf-8"))
    except (ValueError, RecursionError) as exc:
        raise malformed(answer, where, f"the body is not JSON ({exc})") from exc
    return an_object(answer, where, value)


def an_object(answer: HttpAnswer, where: str, value: object) -> dict[str, Any]:
    """`value`, which must be a JSON object; raises a `BadAnswer`."""
    if not isinstance(value, dict):
        raise malformed(answer, where, f"a JSON object is missing, got {type(value).__name__}")
    return value


def malformed(answer: HttpAnswer, where: str, reason: str) -> BadAnswer:
    """The error of an answer that is not the protocol, with the beginning of its body."""
    return BadAnswer(answer.status, f"{reason}: {shown(text_of(answer.body)[:500])}", where)


def detail_of(answer: HttpAnswer) -> str:
    """The service's own words about its error: the `detail` of a JSON body, else the body; may be empty."""
    detail = text_of(answer.body)
    try:
        body = json.loads(detail)
        return body["detail"] if isinstance(body["detail"], str) else json.dumps(body["detail"])
    except (ValueError, RecursionError, KeyError, TypeError):
        return detail  # proxies and crashed servers answer plain text


def text_of(body: bytes) -> str:
    """`body` as text; bytes that are no UTF-8 are replaced."""
    return body.decode("utf-8", "replace").strip()


def shown(text: str) -> str:
    """`text` made safe to print: half a surrogate pair cannot be printed, and a terminal obeys escape sequences."""
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)


def carries(authorization: bytes, token: bytes) -> bool:
    """Whether an Authorization header carries `token`. The scheme may be in any case (RFC 9110, 11.1).

    The tokens are compared in constant time: how long a refusal takes tells nothing about the token.
    """
    scheme, _, given = authorization.partition(b" ")
    return scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(b" "), token)
