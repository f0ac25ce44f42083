"""A verdict in the form in which a reward service sends it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from agentscope_tuner.errors import DeadlineError


class WireVerdict(BaseModel):
    """A `Judgement` as it comes over the wire, without defaults for fields that the service did not send."""

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
    """The request's time was over before this row's verdict; other rows have theirs."""
