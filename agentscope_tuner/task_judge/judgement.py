"""The full account of one verdict, as `TaskJudge.judge` returns it and as rollout files store it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from agentscope_tuner.errors import Cause, JudgeError

Status = Literal["judged", "filtered", "failed"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """One rollout's verdict, or the reason why there is none.

    Attributes:
        status: `judged` by the judge, `filtered` by a rule before it was asked, or `failed`: no verdict.
        reward: the raw reward; None exactly when failed.
        is_success: whether the task was solved; None exactly when failed.
        reason: why, in one line of words.
        violations: ids of the rules broken, in the order of the rules.
        error: what went wrong, naming the task and the judge; None unless failed.
        metrics: numbers about how the verdict was reached.
        seconds: wall-clock time the verdict took.
        cause: what has to be mended, as a word that machines can count; None unless failed.
        calls: the questions to judge models and their replies, where `keep_calls` is on (graders.client.calls).
    """

    status: Status
    reward: float | None
    is_success: bool | None
    reason: str = ""
    violations: tuple[str, ...] = ()
    error: str | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    cause: Cause | None = None
    calls: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def failed(
        cls, error: JudgeError | str, *, cause: Cause | None = None, reason: str = "", seconds: float = 0.0
    ) -> Judgement:
        """No verdict.

        Args:
            error: what went wrong. A JudgeError also says which task, which judge and, unless `cause` is given, why.
            cause: what has to be mended.
            reason: the error without values that differ from row to row, because summaries count reasons. By default
                the message.
            seconds: see the class.
        """
        metrics: Mapping[str, float] = {}
        calls: tuple[Mapping[str, Any], ...] = ()
        if isinstance(error, JudgeError):
            reason, cause, metrics = reason or error.message, cause or error.cause, dict(error.metrics)
            calls = tuple(error.calls)
        return cls(
            "failed",
            None,
            None,
            reason or str(error),
            error=str(error),
            metrics=metrics,
            seconds=seconds,
            cause=cause_of(cause),
            calls=calls,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, seconds to the microsecond; `calls` only where some were kept."""
        kept = {"calls": [dict(call) for call in self.calls]} if self.calls else {}
        return {
            "status": self.status,
            "reward": self.reward,
            "is_success": self.is_success,
            "reason": self.reason,
            "violations": list(self.violations),
            "error": self.error,
            "cause": self.cause,
            "metrics": dict(self.metrics),
            "seconds": round(self.seconds, 6),
            **kept,
        }

    @classmethod
    def from_dict(cls, data: object) -> Judgement | None:
        """The judgement that `to_dict` turned into `data`, or None when `data` is no judgement."""
        if not isinstance(data, dict) or data.get("status") not in get_args(Status):
            return None
        try:
            calls = tuple(call for call in data.get("calls") or () if isinstance(call, dict))
            judgement = cls(**{**data, "violations": tuple(data["violations"]), "calls": calls})
        except (TypeError, KeyError):
            return None
        # Files of earlier versions hold no cause
        return replace(judgement, cause=cause_of(judgement.cause) if judgement.cause else None)


def cause_of(value: object) -> Cause:
    """`value` as a Cause; `Cause.JUDGE` for any other value: a judge's own error class may keep anything there."""
    try:
        return Cause(value)  # type: ignore[arg-type]
    except ValueError:
        return Cause.JUDGE
