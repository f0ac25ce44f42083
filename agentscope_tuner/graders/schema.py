"""The answer of a grader: a score for one response, or the places of several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from numbers import Real
from typing import Any, TypeGuard

from agentscope_tuner.errors import Cause, GraderError, GraderTimeout, JudgeError

_FAILED = "Evaluation failed:"


class GraderMode(StrEnum):
    """Whether a grader scores one response or ranks several against each other."""

    POINTWISE = "pointwise"
    LISTWISE = "listwise"


@dataclass(frozen=True, slots=True)
class GraderScore:
    """A grader's score for one response, or the error that prevented it.

    Attributes:
        name: the grader's name.
        score: a finite number in the grader's own range. Meaningless when `error` is set: read `error` first.
        reason: why, in words.
        metadata: further facts about the verdict: usage, votes, ties.
        error: what went wrong; None for a verdict. Graders by convention report an exception as 0.0 with the reason
            "Evaluation failed: …". Such a reason becomes the error, so that nobody reads the 0.0 as a score.
        cause: the kind of fault to mend, if there is an error and the grader knows it.

    Raises:
        ValueError: `score` is not a finite number; bools are not numbers here.
    """

    name: str
    score: float
    reason: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    cause: Cause | None = None

    def __post_init__(self) -> None:
        if not is_finite_number(self.score):
            raise ValueError(f"score must be a finite number, got {self.score!r}")
        if self.error is None and self.score == 0 and self.reason.startswith(_FAILED):
            object.__setattr__(self, "error", self.reason.removeprefix(_FAILED).strip() or self.reason)

    @classmethod
    def failed(
        cls, name: str, error: str, metadata: Mapping[str, Any] | None = None, cause: Cause | None = None
    ) -> GraderScore:
        """No verdict: score 0.0 by convention; `error` is set, so the score must not be used."""
        return cls(name, 0.0, f"{_FAILED} {error}", metadata or {}, error or "unknown error", cause)


@dataclass(frozen=True, slots=True)
class GraderRank:
    """A grader's ranking of several responses, or the error that prevented it.

    Attributes:
        name: the grader's name.
        rank: `rank[i]` is response i's place, 1 is best: a permutation of 1..n. Empty when `error` is set.
        reason: why, in words.
        metadata: further facts about the verdict. `metadata["places"]`, if present, has the places with ties: tied
            responses share their mean place.
        error: what went wrong; None for a verdict.
        cause: the kind of fault to mend, if there is an error and the grader knows it.

    Raises:
        ValueError: `rank` is not a permutation of 1..n, or is empty without an error.
    """

    name: str
    rank: Sequence[int]
    reason: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    cause: Cause | None = None

    def __post_init__(self) -> None:
        if self.error is None and not self.rank and self.reason.startswith(_FAILED):
            object.__setattr__(self, "error", self.reason.removeprefix(_FAILED).strip() or self.reason)
        if self.error is None:
            check_permutation(self.rank)

    @classmethod
    def failed(
        cls, name: str, error: str, metadata: Mapping[str, Any] | None = None, cause: Cause | None = None
    ) -> GraderRank:
        """No verdict: no rank at all."""
        return cls(name, (), f"{_FAILED} {error}", metadata or {}, error or "unknown error", cause)


def own_words(reason: str) -> str:
    """A judge model's reason; in quotes if it starts like the reason of a failure, so that it is not taken for one."""
    return f"“{reason}”" if reason.startswith(_FAILED) else reason


def named_cause(exc: BaseException) -> Cause | None:
    """The cause that an exception names, if any."""
    return exc.cause if isinstance(exc, JudgeError) else None


def grader_error(message: str, cause: Cause | None) -> GraderError:
    """The exception for a failed result: a GraderTimeout if `cause` is that the time was over, else a GraderError."""
    return GraderTimeout(message) if cause is Cause.DEADLINE else GraderError(message, cause=cause)


def is_finite_number(value: object) -> TypeGuard[float]:
    """Whether `value` can be a score or a reward: a finite number, also of numpy's types, but no bool."""
    if type(value) is float:
        return math.isfinite(value)
    try:
        return type(value) is not bool and isinstance(value, Real) and math.isfinite(value)
    # An integer beyond every float
    except OverflowError:
        return False


def check_permutation(rank: object, size: int | None = None) -> list[int]:
    """`rank` as a list, checked to be a permutation of 1..n, where n is `size` if given.

    Raises:
        ValueError: `rank` is anything else, such as places with ties or gaps, floats or bools.
    """
    if not isinstance(rank, Sequence) or isinstance(rank, str) or not all(type(place) is int for place in rank):
        raise ValueError(f"rank must be a list of whole numbers, got {rank!r:.200}")
    size = len(rank) if size is None else size
    if size == 0 or sorted(rank) != list(range(1, size + 1)):
        raise ValueError(f"rank must be a permutation of 1..{size}, got {list(rank)!r:.200}")
    return list(rank)
