"""All calls of services over HTTP. This module has one call and its answer, read without trust and without any I/O.

Also a client's limits of time and size, and the errors that its failures become.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from agentscope_tuner.errors import ConfigError, JudgeError, told

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
        parse: reads the result from an answer; raises a `BadAnswer`, or another error, which ends the call at once.
        seconds: the most that one try may take, from connecting to the last byte of the answer.
        repeatable: whether sending the call twice does no harm.
        patient: whether tries may go on until the client's deadline; otherwise all tries together end within `seconds`.
        apart: whether the call uses connections that no other kind of call uses, because the service may drop them
            after its answer. Such a call must be repeatable.
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
    """The error for an answer that breaks the protocol: the `reason`, and the beginning of the answer's body."""
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

    The tokens are compared in constant time, so that how long a refusal takes reveals nothing about the token.
    """
    scheme, _, given = authorization.partition(b" ")
    return scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(b" "), token)


# The client or the connection sets these headers
_OWN_HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "host", "te"}
    | {"trailer", "transfer-encoding", "upgrade"}
)


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """A client's limits of time and size, its token and its headers.

    Attributes:
        token: sent as `Authorization: Bearer …` when set.
        headers: sent with each request, beside the client's own.
        ca_file: a PEM file with the only certificates to trust; None: the certificates that SSL_CERT_FILE names, or the
            usual ones.
        connect_timeout: seconds to connect; they count towards a try's own limit.
        deadline: seconds a call may take in all: tries, the waits between them, the wait for a connection.
        tries: how often a call that may be repeated is sent at most; None: as often as the deadline has time for.
        backoff: seconds before the second try; doubled each time, with jitter. Retry-After is honoured instead.
        max_response_bytes: a longer answer is refused while it streams in.
        max_connections: calls under way at once; further calls wait. There are fewer while the service is too busy.
    """

    token: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    ca_file: str | None = None
    connect_timeout: float = 5.0
    deadline: float = 300.0
    tries: int | None = None
    backoff: float = 0.2
    max_response_bytes: int = 8 * 1024 * 1024
    max_connections: int = 64

    def __post_init__(self) -> None:
        for name in ("tries", "max_response_bytes", "max_connections"):
            value = getattr(self, name)
            if name == "tries" and value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool):
                raise ConfigError(f"{name} must be a whole number, got {value!r}")
            check_number(name, value)
        check_number("connect_timeout", self.connect_timeout)
        check_number("deadline", self.deadline)
        check_number("backoff", self.backoff, or_zero=True)
        if self.token is not None:
            checked_token(self.token)
        for name, header in self.headers.items():
            _check_header(name, header)


def checked_token(token: str) -> str:
    """`token`. Raises a ConfigError, which does not show the token, when a header cannot carry it."""
    # Only "!" to "~". On other characters the network library raises an error that quotes the token
    if not (token and all("!" <= char <= "~" for char in token)):
        raise ConfigError("token must be visible ASCII characters without white space; is a line break in it?")
    return token


def token_in(file: str | None, where: str) -> str | None:
    """The token in a file; None if `file` is None.

    Raises:
        ConfigError: the file cannot be read; the message names the configuration's key `where`.
    """
    with told(f"{where}: cannot read {file!r}"):
        return None if file is None else checked_token(Path(file).read_text(encoding="utf-8").strip())


def _check_header(name: str, value: object) -> None:
    """Raises a ConfigError if no request can have this header, or if the client sets it. It does not show `value`."""
    if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or name.lower() in _OWN_HEADERS:
        raise ConfigError(
            f"headers: {name!r} is no header's name, or one that the client sets itself: {sorted(_OWN_HEADERS)}"
        )
    if not isinstance(value, str) or not all(char == "\t" or " " <= char <= "~" for char in value):
        raise ConfigError(f"headers: the value of {name!r} must be visible ASCII characters")


def check_number(name: str, value: object, *, or_zero: bool = False) -> None:
    """Raises a ConfigError unless `value` is a number above 0, or 0 if `or_zero`; the message names the key `name`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{name} must be a number, got {value!r}")
    if not (value > 0 or (or_zero and value == 0)):
        raise ConfigError(f"{name} must be {'at least' if or_zero else 'above'} 0, got {value!r}")


@dataclass(frozen=True, slots=True)
class Peer:
    """A kind of service: its name in messages, and the errors that its failures become.

    Attributes:
        name: for messages: `env service`.
        unreachable: makes the error of a connection that failed or broke, from its message.
        timeout: makes the error of an answer that did not come in time.
        bad_answer: makes the error of an error status or a malformed answer, from the status, the detail and the call's
            `where`.
        out_of_time: makes the error of a call whose whole time is over; None: the error of its last try is raised.
        deadline_header: the header that tells the service how many seconds a try may take; None for services that do
            not read one.
    """

    name: str
    unreachable: Callable[[str], JudgeError]
    timeout: Callable[[str], JudgeError]
    bad_answer: Callable[[int, str, str], JudgeError]
    out_of_time: Callable[[str], JudgeError] | None = None
    deadline_header: str | None = None
