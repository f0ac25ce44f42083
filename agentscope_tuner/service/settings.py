"""The reward service's limits and token."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentscope_tuner.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The limits of the service, and the token that requests need.

    Attributes:
        token_file: the file with the bearer token; None requires no token.
        max_body_bytes: the most bytes of one request's body.
        max_rows: the most rows of one batch.
        max_answer_chars: the most characters of one row's final answer.
        concurrency: requests judged at once; further requests wait.
        queue: the most requests that wait; further requests are refused with 429.
        deadline_seconds: the most seconds from a request's last byte to its answer, even if the client allows more.
        log_answers: write each row's answer and verdict to the log.

    Raises:
        ConfigError: a limit that is not above 0.
    """

    token_file: str | None = None
    max_body_bytes: int = 16 * 2**20
    max_rows: int = 1024
    max_answer_chars: int = 1_000_000
    concurrency: int = 64
    queue: int = 256
    deadline_seconds: float = 300.0
    log_answers: bool = False

    def __post_init__(self) -> None:
        for name in ("max_body_bytes", "max_rows", "max_answer_chars", "concurrency", "deadline_seconds"):
            value = getattr(self, name)
            if not (value > 0 and math.isfinite(value)):
                raise ConfigError(f"{name} must be above 0, got {value!r}")
        if self.queue < 0:
            raise ConfigError(f"queue must be at least 0, got {self.queue!r}")
