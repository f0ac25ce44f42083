"""CountdownAnswerAsJudge: the countdown game, with partial credit for a well-formed equation."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, TypeVar

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward, final_answer
from agentscope_tuner.verify import countdown
from agentscope_tuner.verify.boxed import last_boxed
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

_log = logging.getLogger(__name__)

T = TypeVar("T")


class CountdownAnswerAsJudge(BaseJudge):
    r"""0.0 for no answer or an unreadable one, 0.1 for a well-formed equation that is wrong, 1.0 for a right one.

    The equation is the last `\boxed{}` of `metadata["final_answer"]`. `target` and `nums` come from the task's
    metadata, else from the output's; where both have them and they differ the task's count, with a logged warning,
    because an agent must not choose its own target.
    """

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        target = _given("target", _number, workflow_task, workflow_output)
        numbers = _given("nums", _numbers, workflow_task, workflow_output)
        verdict = countdown.score(last_boxed(final_answer(workflow_output)), target, numbers)
        return Reward(verdict.reward, verdict.reward == countdown.RIGHT, reason=verdict.reason)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        # bounded to microseconds: not worth a thread
        return self.compute_reward(workflow_task, workflow_output)


def _given(key: str, read: Callable[[Any, str], T], workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> T:
    of_task, of_output = workflow_task.task.metadata, workflow_output.metadata
    if key not in of_task:
        if key not in of_output:
            raise JudgeError(f"neither the task's nor the output's metadata has {key!r}")
        return read(of_output[key], key)
    value = read(of_task[key], key)
    if key in of_output and not _reads_as(value, read, of_output[key], key):
        message = "task %r: the output's %s %.100r differs from the task's %.100r, which counts"
        _log.warning(message, workflow_task.task_id, key, of_output[key], of_task[key])
    return value


def _reads_as(value: T, read: Callable[[Any, str], T], other: Any, key: str) -> bool:
    try:
        return read(other, key) == value
    except JudgeError:
        return False


def _numbers(value: Any, key: str) -> list[Fraction]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise JudgeError(f"{key} must be a list of numbers, got {value!r:.200}")
    found = [_number(number, key) for number in value]
    if not found:
        raise JudgeError(f"{key} is empty: there is no game without numbers")
    return found


def _number(value: Any, key: str) -> Fraction:
    # numpy's scalars are numbers.Real too: data sets read from Parquet hold those
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise JudgeError(f"{key} must be numeric, got {value!r:.200}")
    return Fraction(int(value)) if isinstance(value, Integral) else Fraction(float(value))
