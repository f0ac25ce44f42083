"""Usage: the requests, tokens and cost of verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields

from pydantic import Field

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import JudgeError


class Prices(StrictSection):
    """Prices of a model, in one currency per million tokens."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)
    cached_prompt: float | None = Field(
        default=None, ge=0, description="tokens the provider had cached; None: as prompt"
    )

    def cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """The price of these tokens; `cached_tokens` are a part of `prompt_tokens`."""
        cached_price = self.prompt if self.cached_prompt is None else self.cached_prompt
        fresh = prompt_tokens - cached_tokens
        return (fresh * self.prompt + cached_tokens * cached_price + completion_tokens * self.completion) / 1e6


@dataclass(frozen=True, slots=True)
class Usage:
    """Requests and tokens spent; usages add up with `+`.

    Attributes:
        calls: requests answered by the endpoint with a completion, unreadable ones included.
        retries: requests after the first request of a verdict, for any failure of the earlier request.
        prompt_tokens: as the endpoint counts them, including `cached_tokens`.
        completion_tokens: as the endpoint counts them.
        cached_tokens: prompt tokens the provider served from its own prefix cache.
        cache_hits: verdicts from the verdict cache, or from an equal question that was being asked.
        cost: in the currency of the configured prices; 0 without prices.
    """

    calls: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cache_hits: int = 0
    cost: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        # Written out because it runs several times for each verdict, cached or not, and a loop is slower
        return Usage(
            self.calls + other.calls,
            self.retries + other.retries,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_hits + other.cache_hits,
            self.cost + other.cost,
        )

    @classmethod
    def metric_names(cls) -> tuple[str, ...]:
        """The names in `metrics()`."""
        return tuple(f"judge_{item.name}" for item in fields(cls))

    def metrics(self) -> dict[str, float]:
        """The usage as metrics of a Judgement, each named `judge_<name>`."""
        return {f"judge_{item.name}": float(getattr(self, item.name)) for item in fields(self)}


class Meter:
    """Adds up the usage of one verdict over all graders and tasks that work on it."""

    def __init__(self) -> None:
        self.usage = Usage()

    def add(self, usage: Usage) -> None:
        """Count `usage`."""
        self.usage += usage


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered(rows: int = 1) -> Iterator[Meter]:
    """Adds up the usage inside the `with` block.

    A failed verdict has cost tokens, too, and a run's sums must hold them. So a JudgeError that leaves the block gets
    the usage in its `metrics`, divided by `rows`.
    """
    meter = Meter()
    token = _METER.set(meter)
    try:
        yield meter
    except JudgeError as exc:
        spent = {name: value / rows for name, value in meter.usage.metrics().items()}
        exc.metrics = {**exc.metrics, **spent}
        raise
    finally:
        _METER.reset(token)


def count_spent(usage: Usage) -> None:
    """Count `usage` for the current verdict, if there is one."""
    if (meter := _METER.get()) is not None:
        meter.add(usage)
