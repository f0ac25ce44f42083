"""The budget of a run for judge models, and the circuit breaker of an endpoint that only fails."""

from __future__ import annotations

import time

from pydantic import Field, model_validator

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import Cause, GraderError
from agentscope_tuner.graders.client.usage import Usage


class RunBudget(StrictSection):
    """The most that a run may spend in one process; each limit is off when None."""

    calls: int | None = Field(default=None, ge=1, description="requests, retries included")
    tokens: int | None = Field(default=None, ge=1, description="of prompts and replies")
    cost: float | None = Field(default=None, gt=0, description="in the currency of the prices")

    @model_validator(mode="after")
    def _check_limits(self) -> RunBudget:
        if self.calls is None and self.tokens is None and self.cost is None:
            raise ValueError("give calls, tokens or cost")
        return self


class Spending:
    """The spent part of a budget.

    A request is counted before it is sent, by its expected usage, so that requests at once cannot overspend together.
    """

    def __init__(self, budget: RunBudget | None) -> None:
        self._budget = budget
        self._calls = self._tokens = 0
        self._cost = 0.0

    def take(self, tokens: int, cost: float) -> None:
        """Count one request that is expected to use `tokens` and to cost `cost`.

        Raises:
            GraderError: the request would go beyond the budget.
        """
        if self._budget is None:
            return
        limits = (
            ("calls", self._calls, 1, self._budget.calls),
            ("tokens", self._tokens, tokens, self._budget.tokens),
            ("cost", self._cost, cost, self._budget.cost),
        )
        for name, spent, more, most in limits:
            if most is not None and spent + more > most:
                raise GraderError(
                    f"the budget is spent: {spent:g} of {most:g} {name}, and this call needs {more:g}; "
                    "raise the budget and resume the run",
                    cause=Cause.INTERRUPTED,
                )
        self._calls += 1
        self._tokens += tokens
        self._cost += cost

    def spent(self, expected_tokens: int, expected_cost: float, used: Usage) -> None:
        """Correct the count of a request that was expected to use so many tokens, and used `used`."""
        self._tokens += used.prompt_tokens + used.completion_tokens - expected_tokens
        self._cost += used.cost - expected_cost


class Breaker:
    """Refuses verdicts after `most` failed ones in a row; after each pause one verdict is tried again."""

    def __init__(self, most: int | None, pause_seconds: float) -> None:
        self._most, self._pause = most, pause_seconds
        self._failures = 0
        self._open_until = 0.0
        self._last = ""

    def check(self) -> None:
        """Raises GraderError if no verdict may be asked for now."""
        if self._most is None or self._failures < self._most:
            return
        if time.monotonic() < self._open_until:
            raise GraderError(
                f"not asked: the last {self._failures} verdicts in a row failed, the last one of: {self._last}"
            )
        # This verdict is the one try after the pause: refuse all others for another pause
        self._open_until = time.monotonic() + self._pause

    def succeeded(self) -> None:
        """A verdict was reached."""
        self._failures = 0

    def failed(self, error: GraderError) -> None:
        """A verdict failed. A spent budget does not count, because it says nothing about the endpoint."""
        if error.cause is Cause.INTERRUPTED:
            return
        self._failures += 1
        self._last = error.message[:300]
        self._open_until = time.monotonic() + self._pause
