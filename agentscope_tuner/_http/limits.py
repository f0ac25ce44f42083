"""A client's limits of time and size, and the errors that its failures become."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agentscope_tuner.errors import ConfigError, JudgeError

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


def _check_header(name: str, value: object) -> None:
    """Raises a ConfigError, which does not show the value, unless a request may carry the header beside our own."""
    if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or name.lower() in _OWN_HEADERS:
        raise ConfigError(
            f"headers: {name!r} is no header's name, or one that the client sets itself: {sorted(_OWN_HEADERS)}"
        )
    if not isinstance(value, str) or not all(char == "\t" or " " <= char <= "~" for char in value):
        raise ConfigError(f"headers: the value of {name!r} must be visible ASCII characters")


def check_number(name: str, value: object, *, or_zero: bool = False) -> None:
    """Raises a ConfigError unless `value` is a number above 0, or 0 where that is allowed."""
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
