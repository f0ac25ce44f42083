"""A verdict as a reward service sends it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from agentscope_tuner.errors import DeadlineError


class WireVerdict(BaseModel):
    """A `Judgement` as it comes over the wire; nothing is filled in that the service did not say."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)

    status: Literal["judged", "filtered", "failed"]
    reward: float | None
    is_success: bool | None
    reason: str
    violations: list[str]
    error: str | None
    metrics: dict[str, float]
    cause: str | None = None
    id: str | None = None
    late: bool = False


class LateError(DeadlineError):
    """The request's time was over before this row's verdict; others have theirs."""
