"""The forms in which a rollout goes to a reward service, and a verdict comes back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from agentscope_tuner.errors import Cause, DeadlineError, JudgeError
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


def wire_row(task: WorkflowTask, output: WorkflowOutput) -> bytes:
    """The rollout as JSON; numpy's arrays and numbers as lists and numbers, NaN as null: an empty cell of a data frame.

    Raises:
        JudgeError: the rollout holds another value that JSON cannot hold.
    """
    # A rollout's own fields win over its task's fields, as they do for a local judge
    known = {"task_id": task.task_id, "env_type": task.env_type}
    row: dict[str, Any] = {"task": task.task.model_dump() | known, "output": output.model_dump()}
    if task.task_env_uuid:
        row["task_env_uuid"] = task.task_env_uuid
    try:
        try:
            return _encoded(row)
        except ValueError:
            return _encoded(_without_nan(row))
    except (TypeError, ValueError, RecursionError) as exc:
        raise JudgeError(f"the rollout is not JSON, nothing was sent: {exc}", cause=Cause.INPUT) from exc


def _encoded(value: object) -> bytes:
    # ASCII escapes: a policy may write lone surrogates, which no UTF-8 can carry
    return json.dumps(value, allow_nan=False, ensure_ascii=True, default=of_numpy).encode("ascii")


def of_numpy(value: object) -> Any:
    """A list of numpy's array, a number of its scalar.

    Raises:
        TypeError: the value is not numpy's.
    """
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"JSON has no form for a {type(value).__name__}")


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(inner) for inner in value]
    if type(value).__module__ == "numpy":
        return _without_nan(of_numpy(value))
    return None if isinstance(value, float) and value != value else value


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
    turns: list[float | None] = []
    cause: str | None = None
    id: str | None = None
    late: bool = False


class LateError(DeadlineError):
    """The request's time was over before this row's verdict; other rows have theirs."""
