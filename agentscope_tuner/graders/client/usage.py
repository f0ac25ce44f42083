"""The use of judge models: tokens, requests and cost, counted for each verdict and bounded for a run.

- `text_tokens` estimates a prompt's tokens, from which the cost of judging is estimated. The `max_tokens` rule counts
  by a definition of its own (`rules.tokens`), which must never change. This estimate is fitted to the tokenizers of
  Qwen and DeepSeek; `make bench-tokens` prints its error for English, Chinese, code and mathematics.
- `metered` adds up a verdict's usage.
- `Spending` is the budget of a run, and `Breaker` leaves an endpoint alone that only fails.
- `recorded` keeps the prompts and replies of a verdict, for a person to read.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from operator import add
from typing import Any, NamedTuple

from pydantic import Field, model_validator

from agentscope_tuner._http.retries import REFUSED_SECONDS
from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import Cause, GraderError, JudgeError
from agentscope_tuner.graders.template import ChatMessage

# Tokens that a chat template adds around a message
_PER_MESSAGE = 5
_LONG_WORD = 6
_TOKEN = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<digit>\d)|(?P<symbols>[!-/:-@\[-`{-~]+)|(?P<lines>\n+)"
    "|(?P<han>[\u3400-\u9fff\uf900-\ufaff])|(?P<kana>[\u3040-\u30ff])|(?P<hangul>[\uac00-\ud7af])"
    "|(?P<wide>[\u3000-\u303f\uff00-\uffef\u2018-\u201f\u2026])|(?P<letter>[^\\W\\d_])|(?P<other>\\S)"
)
# Tokens for each match, by its kind
_WORTH = {
    "word": 0.95, "digit": 1.0, "symbols": 0.93, "lines": 0.66, "han": 0.62, "kana": 0.6, "hangul": 0.9, "wide": 0.9,
    "letter": 0.35, "other": 1.4,
}  # fmt: skip
# Further tokens for each character of a word beyond `_LONG_WORD`, and for each symbol of a run beyond the first
_FURTHER = {"word": 0.24, "symbols": 0.18}


#: The estimated number of tokens of an image: what OpenAI and Qwen count for about 1000 by 1000 pixels.
IMAGE_TOKENS = 1_300


def text_tokens(text: str) -> int:
    """The estimated number of tokens in `text`; time is linear in its length."""
    found: Counter[str] = Counter()
    further: Counter[str] = Counter()
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        found[kind] += 1
        if kind == "word":
            further[kind] += max(0, match.end() - match.start() - _LONG_WORD)
        elif kind == "symbols":
            further[kind] += match.end() - match.start() - 1
    total = sum(_WORTH[kind] * count for kind, count in found.items())
    return round(total + sum(_FURTHER[kind] * count for kind, count in further.items()))


def message_tokens(texts: list[str]) -> int:
    """The estimated number of tokens of a prompt of so many messages."""
    return sum(text_tokens(text) + _PER_MESSAGE for text in texts)


class Prices(StrictSection):
    """Prices of a model, in one currency per million tokens."""

    prompt: float = Field(ge=0, description="the price of a million tokens that are sent")
    completion: float = Field(ge=0, description="the price of a million tokens that the model writes")
    #: tokens the provider had cached; None: as prompt
    cached_prompt: float | None = Field(default=None, ge=0)

    def cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """The price of these tokens; `cached_tokens` are a part of `prompt_tokens`."""
        cached_price = self.prompt if self.cached_prompt is None else self.cached_prompt
        fresh = prompt_tokens - cached_tokens
        return (fresh * self.prompt + cached_tokens * cached_price + completion_tokens * self.completion) / 1e6


class Usage(NamedTuple):
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

    def __add__(self, other: Usage) -> Usage:  # type: ignore[override]
        return Usage(*map(add, self, other))

    @classmethod
    def metric_names(cls) -> tuple[str, ...]:
        """The names in `metrics()`."""
        return _METRICS

    def metrics(self) -> dict[str, float]:
        """The usage as metrics of a Judgement, each named `judge_<name>`."""
        return dict(zip(_METRICS, map(float, self), strict=True))


_METRICS = tuple(f"judge_{name}" for name in Usage._fields)


class Meter:
    """Adds up the usage of one verdict over all graders and tasks that work on it."""

    usage = Usage()


#: The meter of the current verdict; None outside of `metered`.
METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered(rows: int = 1) -> Iterator[Meter]:
    """Adds up the usage inside the `with` block.

    A failed verdict has cost tokens, too, and a run's sums must hold them. So a JudgeError that leaves the block gets
    the usage in its `metrics`, divided by `rows`.
    """
    meter = Meter()
    token = METER.set(meter)
    try:
        yield meter
    except JudgeError as exc:
        spent = {name: value / rows for name, value in meter.usage.metrics().items()}
        exc.metrics = {**exc.metrics, **spent}
        raise
    finally:
        METER.reset(token)


class RunBudget(StrictSection):
    """The most that a run may spend in one process; each limit is off when None."""

    #: requests, retries included
    calls: int | None = Field(default=None, ge=1)
    #: of prompts and replies
    tokens: int | None = Field(default=None, ge=1)
    #: in the currency of the prices
    cost: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _check_limits(self) -> RunBudget:
        if self.calls is None and self.tokens is None and self.cost is None:
            raise ValueError("give calls, tokens or cost")
        return self


class Spending:
    """The spent part of a budget.

    A request is counted before it is sent, by its expected usage, so that requests at once cannot overspend together.
    """

    def __init__(self, budget: RunBudget) -> None:
        self._budget = budget
        self._calls = self._tokens = 0
        self._cost = 0.0

    def take(self, tokens: int, cost: float) -> None:
        """Count one request that is expected to use `tokens` and to cost `cost`.

        Raises:
            GraderError: the request would go beyond the budget.
        """
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
        self._refused = False
        self._open_until = 0.0
        self._last = ""
        self._tried: object = None

    def check(self, verdict: object) -> None:
        """Raises GraderError if no request may be sent for `verdict` now."""
        if self._most is None or (self._failures < self._most and not self._refused) or verdict is self._tried:
            return
        if time.monotonic() < self._open_until:
            counted = "one verdict" if self._failures == 1 else f"the last {self._failures} verdicts in a row"
            raise GraderError(f"not asked: {counted} failed, the last one of: {self._last}", cause=Cause.BREAKER)
        # This verdict, which may take several requests, is the one try after the pause: refuse all others for another
        self._tried = verdict
        self._open_until = time.monotonic() + self._rest()

    def succeeded(self) -> None:
        """A verdict was reached."""
        self._failures, self._refused, self._tried = 0, False, None

    def failed(self, error: GraderError, *, refused: bool = False) -> None:
        """A verdict failed. A spent budget and the breaker's own refusals do not count: the endpoint did not fail.

        Args:
            error: why it failed.
            refused: whether nobody listens at an endpoint that has never answered: then one failed verdict is enough.
        """
        if error.cause in {Cause.INTERRUPTED, Cause.BREAKER}:
            return
        self._failures += 1
        self._refused, self._tried = refused, None
        self._last = error.message[:300]
        self._open_until = time.monotonic() + self._rest()

    def _rest(self) -> float:
        # An endpoint that is only being started is found soon
        return min(self._pause, REFUSED_SECONDS) if self._refused else self._pause


#: Bounds on the calls kept for one verdict, and on the characters of one message or reply: a row must stay small.
MOST_CALLS = 16
MOST_CHARS = 20_000

#: `model`, `messages` (each a `role` and its `content`), and either the `reply` or the `error`.
JudgeCall = Mapping[str, Any]

_CALLS: ContextVar[list[JudgeCall] | None] = ContextVar("calls", default=None)


@contextmanager
def recorded() -> Iterator[list[JudgeCall]]:
    """The first `MOST_CALLS` calls that graders and their tasks make inside the `with` block."""
    calls: list[JudgeCall] = []
    token = _CALLS.set(calls)
    try:
        yield calls
    finally:
        _CALLS.reset(token)


def record_call(model: str, messages: Callable[[], Sequence[ChatMessage]], *, reply: str = "", error: str = "") -> None:
    """Keep a call of the current verdict, if calls are kept; otherwise `messages` is not called."""
    if (calls := _CALLS.get()) is None or len(calls) >= MOST_CALLS:
        return
    asked = [{"role": message.role, "content": _shortened(message.content)} for message in messages()]
    told = {"error": _shortened(error)} if error else {"reply": _shortened(reply)}
    calls.append({"model": model, "messages": asked, **told})


def _shortened(text: str) -> str:
    """`text`, or the beginning and the end of one that is longer than `MOST_CHARS`."""
    if len(text) <= MOST_CHARS:
        return text
    half = MOST_CHARS // 2
    return f"{text[:half]} […{len(text) - 2 * half} characters…] {text[-half:]}"
