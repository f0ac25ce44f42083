"""CountdownAnswerAsJudge: the countdown game, with partial credit for a well-formed equation."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import islice
from numbers import Rational, Real
from typing import Any, TypeVar

from agentscope_tuner.bounds import json_or
from agentscope_tuner.errors import JudgeError, reference_error
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward, final_answer, shown
from agentscope_tuner.verify import countdown
from agentscope_tuner.verify.find import find_answer, stated_elsewhere
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

_log = logging.getLogger(__name__)

T = TypeVar("T")
_MOST_NUMBERS = 100


class CountdownAnswerAsJudge(BaseJudge):
    r"""Gives 1.0 for a right equation, 0.1 for an attempt that is wrong, 0.0 for anything else.

    An attempt calculates: an operator stands between two numbers, and at least one of the given numbers is used. The
    bare target, or any other single number, is no attempt.

    The equation is the last `\boxed{}` of `metadata["final_answer"]`. `target` and `nums` come from the task's
    metadata, else from the output's; where both have them and they differ the task's count, with a logged warning,
    because an agent must not choose its own target.
    """

    judge_kind = "cpu"
    reference_keys = ("target", "nums")
    bounds_itself = True
    takes_kwargs = False

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        target = _given("target", _number, workflow_task, workflow_output)
        numbers = _given("nums", _numbers, workflow_task, workflow_output)
        found = find_answer(final_answer(workflow_output), ["boxed"])
        if found.text is None:
            return Reward(countdown.UNREADABLE, False, reason=f"{found.where}{_beside(workflow_output)}")
        verdict = countdown.score(found.text, target, numbers)
        return Reward(verdict.reward, verdict.reward == countdown.RIGHT, reason=verdict.reason)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        # A verdict takes microseconds, so it needs no thread
        return self.compute_reward(workflow_task, workflow_output)

    def row_notes(self, task: Task, output: WorkflowOutput | None = None) -> list[str]:
        """See BaseJudge: an answer where it is not read, such as in the tags that TinyZero's prompts ask for."""
        if output is None or "final_answer" not in output.metadata:
            return []
        found = find_answer(final_answer(output), ["boxed"])
        return [] if found.text is not None else [f"{found.where}{_beside(output)}"]

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: `missing`, `wrong type`, `NaN or infinite`, `over the bounds`, or `unreachable`, which is
        decided for few numbers only."""
        given = task.metadata if output is None else {**output.metadata, **task.metadata}
        for key in self.reference_keys:
            if given.get(key) is None:
                keys = sorted(task.metadata)
                return (
                    f"missing: the task's metadata has no {key!r}, only {keys!r}; countdown reads the number `target` "
                    f"and the list `nums`: give the rows both columns, or name yours, `reads: {{{key}: COLUMN}}`"
                )
        try:
            target, numbers = _number(given["target"], "target"), _numbers(given["nums"], "nums")
        except JudgeError as error:
            return f"{_kind(given['target'], given['nums'])}: {error.message}"
        if countdown.is_reachable(target, numbers) is False:
            return f"unreachable: no equation with {shown(given['nums'])}, each used once, is worth {target}"
        return None

    def same_reference(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
        """See BaseJudge. By value; the order of the numbers does not matter."""
        try:
            return _puzzle(first) == _puzzle(second)
        except (JudgeError, KeyError):
            return first == second


def _beside(output: WorkflowOutput) -> str:
    """What is said of an answer that stands in no box."""
    place = stated_elsewhere(final_answer(output), ["boxed"])
    return f"; what stands in another place ({place}) is not read: ask for the box in the prompt" if place else ""


def _puzzle(given: Mapping[str, Any]) -> tuple[Fraction, list[Fraction]]:
    return _number(given["target"], "target"), sorted(_numbers(given["nums"], "nums"))


def _kind(target: Any, nums: Any) -> str:
    numbers = (
        [] if isinstance(nums, str | bytes | Mapping) or not isinstance(nums, Iterable) else list(islice(nums, 200))
    )
    for value in (target, *numbers):
        if isinstance(value, Real) and not isinstance(value, bool | Rational) and not math.isfinite(value):
            return "NaN or infinite"
    return "over the bounds" if len(numbers) > _MOST_NUMBERS else "wrong type"


def _given(key: str, read: Callable[[Any, str], T], workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> T:
    of_task, of_output = workflow_task.task.metadata, workflow_output.metadata
    if key not in of_task:
        if key not in of_output:
            raise reference_error(
                f"neither the task's nor the output's metadata has {key!r}, only {sorted(of_task)!r}: a countdown row "
                "has `target`, a number, and `nums`, a list of numbers"
            )
        return read(of_output[key], key)
    value = read(of_task[key], key)
    if key in of_output and not _reads_as(value, read, of_output[key], key):
        message = "task %r: the output's %s %s differs from the task's %s, which counts"
        _log.warning(message, workflow_task.task_id, key, shown(of_output[key]), shown(of_task[key]))
    return value


def _reads_as(value: T, read: Callable[[Any, str], T], other: Any, key: str) -> bool:
    try:
        return read(other, key) == value
    except JudgeError:
        return False


# As a table's cell holds it: CSV has no numbers and no lists
_WRITTEN = re.compile(r"\s*-?\d{1,40}(?:\.\d{1,40})?\s*")


def _numbers(value: Any, key: str) -> list[Fraction]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = json_or(value, value)
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise reference_error(f"{key} must be a list of numbers, got {shown(value)}")
    found = [_number(number, key) for number in islice(value, _MOST_NUMBERS + 1)]
    if not 1 <= len(found) <= _MOST_NUMBERS:
        raise reference_error(f"{key} must hold 1 to {_MOST_NUMBERS} numbers, got {shown(value)}")
    return found


def _number(value: Any, key: str) -> Fraction:
    # numpy's scalars are numbers, too: data sets from Parquet hold them
    if not isinstance(value, bool) and isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, str) and _WRITTEN.fullmatch(value):
        return Fraction(value.strip())
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise reference_error(f"{key} must be numeric, got {shown(value)}")
    # Read as it is written: 0.1 is a tenth in this game, not the nearest binary fraction
    return Fraction(str(float(value)))
