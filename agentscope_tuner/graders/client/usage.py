"""What verdicts cost."""

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
        """The price of so many tokens; `cached_tokens` are a part of `prompt_tokens`."""
        cached_price = self.prompt if self.cached_prompt is None else self.cached_prompt
        fresh = prompt_tokens - cached_tokens
        return (fresh * self.prompt + cached_tokens * cached_price + completion_tokens * self.completion) / 1e6


@dataclass(frozen=True, slots=True)
class Usage:
    """Requests and tokens spent; usages add up with `+`.

    Attributes:
        calls: requests answered by the endpoint with a completion, unreadable ones included.
        retries: requests after the first request of a verdict, for any failure of the earlier request.
        prompt_tokens: as the endpoint counts them, `cached_tokens` included.
        completion_tokens: likewise.
        cached_tokens: prompt tokens the provider served from its own prefix cache.
        cache_hits: verdicts that came from the verdict cache, or from an equal call already on its way.
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
        # spelled out: this runs several times a verdict, cached ones included
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
        """As metrics of a Judgement, each under `judge_<name>`."""
        return {f"judge_{item.name}": float(getattr(self, item.name)) for item in fields(self)}


class Meter:
    """Adds up what is spent on one verdict, by whichever graders and tasks reach it."""

    def __init__(self) -> None:
        self.usage = Usage()

    def add(self, usage: Usage) -> None:
        """Count `usage`."""
        self.usage += usage


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered(rows: int = 1) -> Iterator[Meter]:
    """Counts what is spent inside; a JudgeError that leaves carries it in `metrics`, an equal part for each of `rows`.

    A verdict that fails has been paid for, too: its tokens must not be lost from the sums of a run.
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
    """Count `usage` for the verdict under way, if one is."""
    if (meter := _METER.get()) is not None:
        meter.add(usage)
