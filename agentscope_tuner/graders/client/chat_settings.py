"""Which judge model is asked, where, and within which limits."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pydantic import Field, SecretStr, model_validator

from agentscope_tuner.config import StrictSection
from agentscope_tuner.graders.client.budget import RunBudget
from agentscope_tuner.graders.client.usage import Prices
from agentscope_tuner.graders.prompt.markers import special_tokens


class ChatSettings(StrictSection):
    """A judge model, and how it may be used."""

    model_name: str = Field(min_length=1)
    base_url: str | None = Field(
        default=None, description="an OpenAI-compatible endpoint; by the model's name when None"
    )
    api_key: SecretStr | None = Field(
        default=None, exclude=True, repr=False, description="from the environment when None"
    )
    temperature: float | None = Field(
        default=0.0, ge=0, description="not sent when None: some reasoning models refuse it"
    )
    max_tokens: int | None = Field(default=2048, ge=1, description="of one reply; not sent when None")
    extra_body: dict[str, Any] = Field(default_factory=dict, description="sent along, such as {enable_thinking: false}")
    concurrency: int = Field(default=64, ge=1, description="requests at once, in this process")
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    deadline_seconds: float = Field(default=120.0, gt=0, description="for a verdict, retries included")
    try_seconds: float | None = Field(
        default=None, gt=0, description="for one request; a quarter of the deadline when None"
    )
    max_retries: int | None = Field(
        default=None, ge=0, description="of a verdict's requests that failed in transport; until the deadline when None"
    )
    max_reasks: int = Field(default=3, ge=0, description="of a verdict's replies that could not be read")
    cache: bool = Field(default=True, description="keep replies on disk, shared by processes")
    cache_dir: str | None = Field(
        default=None, description="$ASTUNER_CACHE_DIR, else the user's cache folder, when None"
    )
    prices: Prices | None = None
    budget: RunBudget | None = Field(default=None, description="the most that a run may spend; cost needs prices")
    most_failures_in_a_row: int | None = Field(
        default=64, ge=1, description="verdicts, after which nothing is asked for the time of a deadline"
    )
    tokenizer: str | None = Field(
        default=None, description="the model's tokenizer.json, whose special tokens no judged text may hold"
    )

    @model_validator(mode="after")
    def _check_prices(self) -> ChatSettings:
        if self.budget is not None and self.budget.cost is not None and self.prices is None:
            raise ValueError("a budget of cost needs prices, as {prompt: 0.4, completion: 1.2} per million tokens")
        return self

    @cached_property
    def markers(self) -> tuple[str, ...]:
        """The special tokens of `tokenizer`; none when it is None. Other markers are recognised by their shape.

        Raises:
            ConfigError: the file cannot be read.
        """
        return special_tokens(self.tokenizer) if self.tokenizer else ()
