"""Makes one verdict of several: votes, swapped orders, weighted sums."""

from __future__ import annotations

import asyncio
import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import median, median_low, multimode
from typing import Any, Literal, TypeVar

from pydantic import Field

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import Cause, GraderError
from agentscope_tuner.graders.base_grader import BaseGrader, evaluate
from agentscope_tuner.graders.client.reply import AnswerAtFault
from agentscope_tuner.graders.schema import GraderMode, GraderRank, GraderScore, grader_error

VoteRule = Literal["median", "majority"]
T = TypeVar("T")


class GradingSection(StrictSection):
    """The keys of sections that say how a grader asks its judge model, and what its verdict is worth."""

    language: Literal["en", "zh"] = "en"
    score_from: Literal["text", "logprobs"] = "text"
    #: share of the score range
    success_threshold: float = Field(default=0.7, ge=0, le=1)
    #: rewards in 0 to 1, or the score itself
    reward_scale: Literal["unit", "raw"] = "unit"
    votes: int = Field(default=1, ge=1)
    vote_rule: VoteRule = "median"
    #: listwise: ask in both orders
    swap: bool = False
    #: listwise: longer groups are ranked in chunks
    max_group_chars: int = Field(default=48_000, ge=1_000)


def combined_score(scores: Sequence[float], rule: VoteRule) -> float:
    """One score from several: their median, or the most frequent score.

    If several scores are the most frequent, the result is the lower median of these.
    """
    return float(median(scores)) if rule == "median" else float(median_low(multimode(scores)))


def combined_places(rankings: Sequence[Sequence[float]]) -> list[float]:
    """Each candidate's mean place over `rankings` (Borda's count); equal means are ties.

    A ranking is a permutation of 1..n, or places with ties.
    """
    return [sum(places) / len(rankings) for places in zip(*rankings, strict=True)]


def majority_ranking(rankings: Sequence[Sequence[float]]) -> list[float]:
    """The most frequent of `rankings`; if several are the most frequent, the mean places over these."""
    return combined_places(multimode(tuple(ranking) for ranking in rankings))


def disagreements(one: Sequence[float], other: Sequence[float]) -> int:
    """How many pairs of candidates two rankings put in opposite orders."""
    pairs = combinations(range(len(one)), 2)
    return sum((one[a] - one[b]) * (other[a] - other[b]) < 0 for a, b in pairs)


def ranked(places: Sequence[float]) -> list[int]:
    """`places` as a permutation of 1..n. A permutation has no ties, so tied candidates keep their order."""
    order = sorted(range(len(places)), key=lambda index: (places[index], index))
    rank = [0] * len(places)
    for place, index in enumerate(order, start=1):
        rank[index] = place
    return rank


def unordered(found: Sequence[T], order: Sequence[int]) -> list[T]:
    """The results `found` for items that were shown in `order`, put back in the items' own order.

    `unordered(["b", "a"], [1, 0])` is `["a", "b"]`.
    """
    by_index = dict(zip(order, found, strict=True))
    return [by_index[index] for index in range(len(order))]


def shared_places(positions: Sequence[float]) -> list[float]:
    """Places of `positions`; the smallest position gets place 1, and equal positions share their mean place."""
    ordered = sorted(positions)
    return [(bisect_left(ordered, one) + bisect_right(ordered, one) + 1) / 2 for one in positions]


def with_last(places: Sequence[float], judged: Sequence[int], size: int) -> list[float]:
    """Places of `size` candidates, of which the candidates at the indices `judged` have `places`.

    All other candidates share the places behind the judged ones.
    """
    last = len(judged) + (1 + size - len(judged)) / 2
    position = dict(zip(judged, places, strict=True))
    return [position.get(index, last) for index in range(size)]


def quorum(results: Sequence[Any]) -> tuple[list[Any], int]:
    """The results that are verdicts, and the number of results that are GraderErrors.

    Raises:
        AnswerAtFault: half of the votes or more failed, at least one of these by the answer's own fault.
        GraderError: half of the votes or more failed; the message holds the first vote's error.
        BaseException: the first result that is an exception of another kind.
    """
    failures: list[GraderError] = []
    for result in results:
        if isinstance(result, GraderError):
            failures.append(result)
        elif isinstance(result, BaseException):
            raise result
    if 2 * len(failures) >= len(results):
        for failure in failures:
            if isinstance(failure, AnswerAtFault):
                raise failure
        text = (
            str(failures[0]) if len(results) == 1 else f"{len(failures)} of {len(results)} votes failed: {failures[0]}"
        )
        raise grader_error(text, failures[0].cause) from failures[0]
    return [result for result in results if not isinstance(result, BaseException)], len(failures)


class WeightedSumGrader(BaseGrader):
    """The weighted sum of pointwise graders' scores.

    Args:
        parts: graders and their weights.
        name: names the sum.
        description: the quality that the sum judges, in words.
        failed_parts: with `error` a failed part fails the sum. With `skip` its weight goes to the other parts in
            proportion, and the result's metadata names the part. When all parts fail, the sum fails either way.

    Raises:
        ValueError: no parts, a listwise part, or two parts of one name.
    """

    def __init__(
        self,
        parts: Sequence[tuple[BaseGrader, float]],
        name: str = "weighted_sum",
        description: str = "",
        failed_parts: Literal["error", "skip"] = "error",
    ) -> None:
        super().__init__(name, GraderMode.POINTWISE, description)
        names = [grader.name for grader, _ in parts]
        if not parts or len(set(names)) != len(names):
            raise ValueError(f"a weighted sum needs parts with names of their own, got {names!r}")
        if any(grader.mode is not GraderMode.POINTWISE for grader, _ in parts):
            raise ValueError("a weighted sum adds up scores: all of its parts must be pointwise")
        if failed_parts == "skip" and any(weight <= 0 for _, weight in parts):
            raise ValueError("failed_parts: skip redistributes weights, so all of them must be positive")
        self.parts = tuple(parts)
        self.failed_parts = failed_parts

    async def aevaluate(self, **kwargs: Any) -> GraderScore | GraderRank:
        """See BaseGrader. All parts are evaluated at once, with the same arguments.

        An argument that only some parts name in `own_arguments` goes to these parts alone.
        """
        known = {name for grader, _ in self.parts for name in grader.own_arguments}
        results = await asyncio.gather(
            *(
                evaluate(grader, **{name: kwargs[name] for name in kwargs if name not in known - grader.own_arguments})
                for grader, _ in self.parts
            )
        )
        errors = {result.name: result.error for result in results if result.error is not None}
        if errors and (self.failed_parts == "error" or len(errors) == len(results)):
            cause = next((result.cause for result in results if result.error is not None), None)
            return self.failed("; ".join(f"{name}: {error}" for name, error in errors.items()), cause=cause)
        kept = [
            (_weighed(grader, result, weight), weight)
            for result, (grader, weight) in zip(results, self.parts, strict=True)
            if isinstance(result, GraderScore) and result.error is None
        ]
        total = sum(weight for _, weight in self.parts)
        share = total / sum(weight for _, weight in kept) if errors else 1.0
        metadata: Mapping[str, Any] = {
            "parts": {result.name: result.score for result, _ in kept},
            "failed_parts": errors,
        }
        reason = "; ".join(f"{result.name} {result.score:g} x {weight:g}: {result.reason}" for result, weight in kept)
        score = share * sum(result.score * weight for result, weight in kept)
        if not math.isfinite(score):
            return self.failed(f"the parts make no finite number: {reason}", cause=Cause.CONFIG)
        return GraderScore(self.name, score, reason, metadata)


def _weighed(grader: BaseGrader, result: GraderScore, weight: float) -> GraderScore:
    """The result; of a text that a penalty's judge cannot judge its highest score, for the least would be the best."""
    escapes = weight < 0 and result.metadata.get("filtered_by") == "unjudgeable"
    return replace(result, score=getattr(grader, "max_score", result.score)) if escapes else result
