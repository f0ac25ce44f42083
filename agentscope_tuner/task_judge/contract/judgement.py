"""The full account of one verdict, as `TaskJudge.judge` returns it and as rollout files store it.

Also what it says of exceptions from a judge's own code: their place, their frames, and whether they are the caller's.
"""

from __future__ import annotations

import asyncio
import os
import sysconfig
import threading
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, get_args

from agentscope_tuner.errors import Cause, JudgeError

Status = Literal["judged", "filtered", "failed"]

#: The metric of a failed judgement with the cause `alone`: what a trainer that leaves no sample out pays, the reward
#: that rules gave the others of its group, wherever those rules are: the judge's, a part's, or a service's.
RULES_REWARD = "rules_reward"


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
        turns: what each turn of the policy earned, in order, None for a turn that was not judged; they add up to
            `reward`. Empty where the judge gives the whole rollout one reward.
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
    turns: tuple[float | None, ...] = ()

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
        """The judgement that `to_dict` turned into `data`, or None when `data` is no judgement."""
        if not isinstance(data, dict) or data.get("status") not in get_args(Status):
            return None
        try:
            calls = tuple(call for call in data.get("calls") or () if isinstance(call, dict))
            turns = tuple(data.get("turns") or ())
            judgement = cls(**{**data, "violations": tuple(data["violations"]), "calls": calls, "turns": turns})
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


_OURS = str(Path(__file__).parents[2])
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def place_of(exc: BaseException) -> str:
    """`file:line in function` of the deepest frame that is the judge's own code, else of the deepest one; or nothing.

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
    """Whether the exception belongs to the judge's caller; one from the judge would end the caller, or the loop's
    thread.
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
