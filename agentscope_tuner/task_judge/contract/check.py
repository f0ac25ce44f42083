"""Checks that a judge's answer is a reward, because every answer may come from foreign code."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.task_judge.base_judge import Reward
from agentscope_tuner.task_judge.contract.judgement import Judgement, Status

# Reasons may quote an answer of any length, but logs and rollout files need one line
_MOST_CHARS = 2000

#: The result of the rules: their verdict, if there is one, and the ids of the broken rules.
Check = tuple[Judgement | None, tuple[str, ...]]


def no_reward(message: str) -> JudgeError:
    """The error of a judge whose answer is no reward."""
    return JudgeError(message, cause=Cause.BUG)


def checked(result: Any, violations: tuple[str, ...]) -> Judgement:
    """The judgement from `result`, with the `violations` of the rules that ran before the judge.

    Raises:
        JudgeError: `result` is no `(raw_reward, is_success)` with a finite reward.
    """
    if type(result) is Reward and (plain := _plain_reward(result, violations)) is not None:
        return plain
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise no_reward(f"a judge must return (raw_reward, is_success), got {result!r:.200}")
    raw_reward, is_success = result
    if not _is_finite(raw_reward):
        raise no_reward(f"raw_reward must be a finite float, got {raw_reward!r:.200}")
    if not isinstance(is_success, bool) and not _is_numpy_bool(is_success):
        raise no_reward(f"is_success must be a bool, got {is_success!r:.200}")
    if not isinstance(result, Reward):
        return Judgement("judged", float(raw_reward), bool(is_success), "", violations)
    if not isinstance(result.reason, str):
        raise no_reward(f"a reward's reason must be a str, got {result.reason!r:.200}")
    reason, metrics = result.reason[:_MOST_CHARS], _checked_metrics(result.metrics)
    broken = (*violations, *_checked_violations(result))
    if result.filtered_by:
        broken = broken if result.filtered_by in result.violations else (*broken, result.filtered_by)
        status: Status = "filtered"
    else:
        status = "judged"
    found = Judgement(status, float(raw_reward), bool(is_success), reason, broken, None, metrics)
    if result.turns:
        found = replace(found, turns=_checked_turns(result.turns, found.reward))
    return replace(found, calls=tuple(result.calls)) if result.calls else found


def _plain_reward(result: Reward, violations: tuple[str, ...]) -> Judgement | None:
    """`checked` for a reward with only a reason, as most rewards are, in half of the time."""
    raw_reward, is_success = result
    if (
        type(raw_reward) is not float
        or not math.isfinite(raw_reward)
        or type(is_success) is not bool
        or type(result.reason) is not str
        or type(result.filtered_by) is not str
        or result.filtered_by
        or result.metrics
        or result.violations
        or result.calls
        or result.turns
    ):
        return None
    return Judgement("judged", raw_reward, is_success, result.reason[:_MOST_CHARS], violations)


def _checked_violations(result: Any) -> tuple[str, ...]:
    if not result.violations and isinstance(result.filtered_by, str):
        return ()
    names = (*result.violations, result.filtered_by)
    if isinstance(result.violations, str) or not all(isinstance(name, str) for name in names):
        raise no_reward(f"a reward's violations and filtered_by must be ids of rules, got {names!r:.200}")
    return tuple(str(name) for name in result.violations)


def _checked_turns(turns: Any, reward: float | None) -> tuple[float | None, ...]:
    """The rewards of the turns, whose sum is the rollout's: a trainer that takes one float would pay something else."""
    if not isinstance(turns, Sequence) or not all(turn is None or _is_finite(turn) for turn in turns):
        raise no_reward(f"a reward's turns must be finite numbers or None, got {turns!r:.200}")
    known = [float(turn) for turn in turns if turn is not None]
    try:
        added = math.fsum(known)
    except OverflowError:
        added = math.inf
    if not known or not math.isclose(added, reward or 0.0, rel_tol=1e-6, abs_tol=1e-6):
        raise no_reward(f"a reward's turns must add up to it, {reward!r}, got {list(turns)!r:.200}")
    return tuple(None if turn is None else float(turn) for turn in turns)


def _checked_metrics(metrics: Any) -> dict[str, float]:
    if not metrics:
        return {}
    if type(metrics) is dict and _are_plain(metrics):
        return metrics.copy()
    if not isinstance(metrics, Mapping) or not all(isinstance(n, str) and _is_finite(v) for n, v in metrics.items()):
        raise no_reward(f"a reward's metrics must map names to finite numbers, got {metrics!r:.200}")
    # str(): another process may not know the judge's own subclass of str
    return {str(name): float(value) for name, value in metrics.items()}


def _are_plain(metrics: dict[Any, Any]) -> bool:
    """Whether the metrics have the usual types; a plain loop, because it runs for every verdict."""
    for name, value in metrics.items():
        if type(name) is not str or type(value) is not float or not math.isfinite(value):
            return False
    return True


def _is_finite(value: object) -> bool:
    if type(value) is float:
        return math.isfinite(value)
    # Real, not float: judges compute with numpy, whose scalars are numbers, too
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    # an integer beyond every float
    except OverflowError:
        return False


def _is_numpy_bool(value: object) -> bool:
    return type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")


def placed(checks: Sequence[Check], results: Sequence[Any]) -> list[Judgement | JudgeError]:
    """A judgement for each output of a group: the rules' verdict, or the next of the judge's `results`.

    A result may be a JudgeError: that output has no verdict, the others have theirs.

    Raises:
        JudgeError: there are more or fewer results than outputs that the rules left open, or one is no reward.
    """
    kept = sum(filtered is None for filtered, _ in checks)
    if len(results) != kept:
        raise no_reward(f"compute_rewards answered {len(results)} rewards for {kept} outputs")
    remaining = iter(results)
    return [filtered or _checked_or_error(next(remaining), violations) for filtered, violations in checks]


def _checked_or_error(result: Any, violations: tuple[str, ...]) -> Judgement | JudgeError:
    return result if isinstance(result, JudgeError) else checked(result, violations)
