"""The full account of one verdict, as `TaskJudge.judge` returns it and as rollout files store it.

Also what it says of exceptions from a judge's own code: their place, their frames, and whether they are the caller's.

`checked` makes one of a judge's answer, which is looked at first: every answer may come from foreign code.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import os
import sysconfig
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NoReturn, TypeGuard, get_args

import msgspec
from msgspec.structs import replace

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.graders.schema import is_finite_number
from agentscope_tuner.task_judge.base_judge import Reward

Status = Literal["judged", "filtered", "failed"]

#: The metric of a failed judgement with the cause `alone`: the reward that rules gave the others of its group, be
#: they the judge's rules, a part's, or a service's. A trainer that can leave no sample out pays this reward.
RULES_REWARD = "rules_reward"


# One is made, sent and written for every row: a frozen dataclass of as many fields takes ten times as long to make
class Judgement(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One rollout's verdict, or the reason why there is none.

    Attributes:
        status: `judged` by the judge; `filtered` by a rule before it was asked, or because a judge model cannot judge
            the answer; or `failed`: no verdict.
        reward: the raw reward; None exactly when failed.
        is_success: whether the task was solved; None exactly when failed.
        reason: why, in one line of words.
        violations: ids of the rules broken, in the order of the rules; then `no_content` or `unjudgeable`, where a
            judge model cannot judge the answer.
        error: what went wrong, naming the task and the judge; None unless failed.
        metrics: numbers about how the verdict was reached.
        seconds: wall-clock time the verdict took.
        cause: what has to be fixed, as a word that machines can count; None unless failed.
        calls: the questions to judge models and their replies, where `keep_calls` is on (graders.client.calls).
        turns: what each turn of the policy earned, in order, None for a turn that was not judged; they add up to
            `reward`. Empty where the judge gives the whole rollout one reward.
    """

    status: Status
    reward: float | None
    is_success: bool | None
    reason: str = ""
    violations: tuple[str, ...] = ()
    error: str | None = None
    metrics: Mapping[str, float] = msgspec.field(default_factory=dict)
    seconds: float = 0.0
    cause: Cause | None = None
    calls: tuple[Mapping[str, Any], ...] = ()
    turns: tuple[float | None, ...] = ()

    def __getattr__(self, name: str) -> NoReturn:
        # Asked only about names that a judgement lacks
        raise AttributeError(f"a Judgement has no {name!r}: it has .{', .'.join(self.__struct_fields__)}")

    def __getitem__(self, key: object) -> NoReturn:
        raise TypeError(f"a Judgement is no mapping and no pair: it has .{', .'.join(self.__struct_fields__)}")

    @classmethod
    def failed(
        cls, error: JudgeError | str, *, cause: Cause | None = None, reason: str = "", seconds: float = 0.0
    ) -> Judgement:
        """A judgement of status `failed`: there is no verdict.

        Args:
            error: what went wrong. A JudgeError also says which task, which judge and, unless `cause` is given, why.
            cause: what has to be fixed.
            reason: the error without values that differ from row to row, because summaries count reasons. By default
                the message.
            seconds: see the class.
        """
        metrics: Mapping[str, float] = {}
        calls: tuple[Mapping[str, Any], ...] = ()
        if isinstance(error, JudgeError):
            # The place is the same for every row that fails there
            at = f" ({error.place})" if error.place else ""
            reason, cause, metrics = reason or f"{error.message}{at}", cause or error.cause, dict(error.metrics)
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
        """Plain data for JSON, seconds to the microsecond; `calls` and `turns` only where there are some."""
        kept: dict[str, Any] = {"calls": [dict(call) for call in self.calls]} if self.calls else {}
        if self.turns:
            kept["turns"] = list(self.turns)
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
        """The judgement that `to_dict` turned into `data`, or None when `data` is no judgement, or a damaged one."""
        if not isinstance(data, dict) or not _is_whole(data):
            return None
        try:
            calls = tuple(call for call in data.get("calls") or () if isinstance(call, dict))
            rules, turns = tuple(data.get("violations") or ()), tuple(data.get("turns") or ())
            judgement = cls(**{**data, "violations": rules, "calls": calls, "turns": turns})
        except (TypeError, KeyError):
            return None
        # Files of earlier versions hold no cause
        return replace(judgement, cause=cause_of(judgement.cause) if judgement.cause else None)


def _is_whole(data: Mapping[str, Any]) -> bool:
    """Whether a written verdict has parts of the right kinds: whoever takes it over pays its reward."""
    reward, success = data.get("reward"), data.get("is_success")
    if data.get("status") not in get_args(Status):
        return False
    if data["status"] == "failed":
        given = reward is None and success is None
    else:
        given = is_finite_number(reward) and isinstance(success, bool)
    # what a log leaves out, because it is empty
    violations, metrics = data.get("violations", ()), data.get("metrics", {})
    return (
        given
        and isinstance(data.get("reason", ""), str)
        and isinstance(data.get("error"), str | None)
        and is_finite_number(data.get("seconds", 0.0))
        and isinstance(violations, list | tuple)
        and all(isinstance(rule, str) for rule in violations)
        and isinstance(metrics, Mapping)
        and all(map(is_finite_number, metrics.values()))
        and all(turn is None or is_finite_number(turn) for turn in data.get("turns") or ())
    )


def cause_of(value: object) -> Cause:
    """`value` as a Cause; `Cause.JUDGE` for any other value: a judge's own error class may keep anything there."""
    try:
        return Cause(value)  # type: ignore[arg-type]
    except ValueError:
        return Cause.JUDGE


_OURS = str(Path(__file__).parents[2])
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def place_of(exc: BaseException) -> str:
    """`file:line in function` of the deepest frame that is the judge's own code, else of the deepest.

    Empty without a traceback.

    A file below the working directory is named from there.
    """
    deepest, here = "", _working_directory()
    for raised in _chain(exc):
        # Not extract_tb, which reads the source files: a judge may raise on every row
        for frame, line in reversed(list(traceback.walk_tb(raised.__traceback__))):
            file, function = frame.f_code.co_filename, frame.f_code.co_name
            place = f"{file.removeprefix(here)}:{line} in {function}"
            if not file.startswith((_OURS, *_LIBRARIES)):
                return place
            deepest = deepest or place
    return deepest


class FramesOf:
    """The frames of an exception and its causes, made into text when a log shows them."""

    def __init__(self, exc: BaseException) -> None:
        self._tracebacks: list[TracebackType | None] = [raised.__traceback__ for raised in _chain(exc)]

    def __str__(self) -> str:
        return "".join(line for frames in self._tracebacks for line in traceback.format_tb(frames))


def is_the_callers(exc: BaseException) -> bool:
    """Whether an exception is meant for the judge's caller, such as its own Ctrl-C or cancellation.

    Then it must be raised on. One that the judge itself raised must not end the caller, or the loop's thread.
    """
    if isinstance(exc, KeyboardInterrupt):
        # Ctrl-C is raised in no other thread
        return threading.current_thread() is threading.main_thread()
    if isinstance(exc, asyncio.CancelledError):
        try:
            current = asyncio.current_task()
        except RuntimeError:
            return False
        return current is None or current.cancelling() > 0
    return True


def _chain(exc: BaseException) -> Iterator[BaseException]:
    """The exception and its causes: a thread's boundary wraps some exceptions."""
    seen: set[int] = set()
    found: BaseException | None = exc
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__


def _working_directory() -> str:
    try:
        return os.getcwd() + os.sep
    except OSError:
        # The working directory was removed, which must not hide the error
        return ""


# Reasons may quote an answer of any length, but logs and rollout files need one line
_MOST_CHARS = 2000

#: The result of the rules: their verdict, if there is one, and the ids of the broken rules.
Check = tuple[Judgement | None, tuple[str, ...]]


def no_reward(message: str) -> JudgeError:
    """The error of a judge whose answer is no reward."""
    return JudgeError(message, cause=Cause.BUG)


def _left_out(result: object) -> str:
    """The likely slip of a judge whose answer is no pair, as the end of a message; empty if none is likely.

    On some path it has no `return`, or it gives a reason without the class Reward.
    """
    if result is None:
        return ": on some path it ends without a `return`"
    if isinstance(result, tuple) and len(result) == 3 and isinstance(result[2], str):
        return ": for a reason write `from agentscope_tuner import Reward` and `return Reward(1.0, True, reason='…')`"
    return ""


def checked(result: Any, violations: tuple[str, ...]) -> Judgement:
    """The judgement from `result`, with the `violations` of the rules that ran before the judge.

    Raises:
        JudgeError: `result` is no `(raw_reward, is_success)` with a finite reward.
    """
    if is_plain(result):
        metrics = _checked_metrics(result.metrics) if result.metrics else {}
        return Judgement("judged", result[0], result[1], result.reason, violations, None, metrics)
    if not isinstance(result, tuple | list) or len(result) != 2:
        told = "a judge must return (raw_reward, is_success), such as `return 1.0, True`"
        raise no_reward(f"{told}, got {result!r:.200}{_left_out(result)}")
    raw_reward, is_success = result
    if not is_finite_number(raw_reward):
        if inspect.iscoroutine(raw_reward):
            raw_reward.close()
            raise no_reward(f"raw_reward must be a finite float, got a coroutine: await {raw_reward.__qualname__}(…)")
        turned = isinstance(raw_reward, bool) and is_finite_number(is_success)
        way_out = f": the reward stands first, `return {is_success!r}, {raw_reward!r}`" if turned else ""
        raise no_reward(f"raw_reward must be a finite float, got {raw_reward!r:.200}{way_out}")
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


def is_plain(result: object) -> TypeGuard[Reward]:
    """Whether a judge's answer is a valid reward with a short reason and at most metrics, as most are."""
    if type(result) is not Reward:
        return False
    raw_reward, is_success = result
    return (
        type(raw_reward) is float
        and type(is_success) is bool
        and math.isfinite(raw_reward)
        and type(result.reason) is str
        and len(result.reason) <= _MOST_CHARS
        and type(result.filtered_by) is str
        and not (result.filtered_by or result.violations or result.calls or result.turns)
    )


def _checked_violations(result: Any) -> tuple[str, ...]:
    if not result.violations and isinstance(result.filtered_by, str):
        return ()
    names = (*result.violations, result.filtered_by)
    if isinstance(result.violations, str) or not all(isinstance(name, str) for name in names):
        raise no_reward(f"a reward's violations and filtered_by must be ids of rules, got {names!r:.200}")
    return tuple(str(name) for name in result.violations)


def _checked_turns(turns: Any, reward: float | None) -> tuple[float | None, ...]:
    """The rewards of the turns, whose sum is the rollout's: a trainer that takes one float would pay something else."""
    if not isinstance(turns, Sequence) or not all(turn is None or is_finite_number(turn) for turn in turns):
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
    if type(metrics) is dict:
        # A plain loop over the usual types, because it runs for every verdict
        for name, value in metrics.items():
            if type(name) is not str or type(value) is not float or not math.isfinite(value):
                break
        else:
            return metrics.copy()
    named = isinstance(metrics, Mapping) and all(isinstance(name, str) for name in metrics)
    if not named or not all(map(is_finite_number, metrics.values())):
        raise no_reward(f"a reward's metrics must map names to finite numbers, got {metrics!r:.200}")
    # str(): another process may not know the judge's own subclass of str
    return {str(name): float(value) for name, value in metrics.items()}


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
