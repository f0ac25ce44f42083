"""What the reward service allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentscope_tuner.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """Limits, and who may ask.

    Attributes:
        token_file: holds the bearer token; None asks for none.
        max_body_bytes: of one request.
        max_rows: of one batch.
        max_answer_chars: of one row's final answer.
        concurrency: requests judged at once; more wait their turn.
        queue: requests that wait; more are told to come again later.
        deadline_seconds: a request takes no longer from its last byte on, whatever it asks for itself.
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
