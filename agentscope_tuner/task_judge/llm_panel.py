"""A jury's verdict on one answer, or on several: each juror's verdict, and the common verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.base_grader import BaseGrader, evaluate
from agentscope_tuner.graders.combine import combined_places, combined_score, disagreements, majority_ranking
from agentscope_tuner.graders.listwise import Ranking, rank_all, shared_places
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.schema import GraderScore, grader_error
from agentscope_tuner.task_judge.jury import poll, spread
from agentscope_tuner.task_judge.llm_settings import LLMJudgeConfig


@dataclass(frozen=True, slots=True)
class PanelScore:
    """A panel's verdict on one answer.

    Attributes:
        score: in the graders' range.
        share: the same from 0 to 1.
        disagreement: how far the jurors' scores lie apart, or a single juror's votes; a share of the range.
        reason: each juror's vote, and the reason of the juror whose score is nearest to the panel's.
        metrics: of the votes.
        by_name: each juror's score.
        filtered_by: see `Reward`.
    """

    score: float
    share: float
    disagreement: float
    reason: str
    metrics: Mapping[str, float]
    by_name: Mapping[str, float]
    filtered_by: str = ""


@dataclass(frozen=True, slots=True)
class PanelRanking:
    """A panel's places for several answers; see `Ranking` and `PanelScore`."""

    places: Sequence[float]
    disagreement: float
    reason: str
    metrics: Mapping[str, float]


class LLMPanel:
    """One grader a juror, all with the same prompt and range.

    Args:
        graders: by the jurors' names.
        settings: how the jurors' verdicts are combined.
        span: the range of scores.
    """

    def __init__(self, graders: Mapping[str, BaseGrader], settings: LLMJudgeConfig, span: tuple[float, float]) -> None:
        self.graders, self._settings = graders, settings
        self._low, self._width = span[0], span[1] - span[0]

    async def score(self, values: Mapping[str, Any]) -> PanelScore:
        """The panel's score.

        Raises:
            JudgeError: see `poll`.
        """
        asked = {name: self._one(grader, values) for name, grader in self.graders.items()}
        ballot = await poll(asked, self._settings.failed_jurors)
        results, rule = ballot.votes, self._settings.jury_rule
        scores = {name: result.score for name, result in results.items()}
        score = combined_score(list(scores.values()), rule)
        nearest = min(results.values(), key=lambda result: abs(result.score - score))
        votes = nearest.metadata.get("votes") or (nearest.score,)
        apart = spread(list(scores.values()) if ballot.size > 1 else votes) / self._width
        told = ballot.told({name: f"{value:g}" for name, value in scores.items()}, rule)
        metrics = ballot.metrics(apart)
        if len(votes) > 1:
            metrics |= {"judge_votes": float(len(votes)), "judge_disagreement": spread(votes)}
        filtered = str(nearest.metadata.get("filtered_by", ""))
        reason = nearest.reason if filtered else told + nearest.reason
        return PanelScore(score, (score - self._low) / self._width, apart, reason, metrics, scores, filtered)

    async def _one(self, grader: BaseGrader, values: Mapping[str, Any]) -> GraderScore:
        result = await evaluate(grader, **values)
        if result.error is not None or not isinstance(result, GraderScore):
            raise grader_error(f"{result.error}", result.cause)
        if not 0.0 <= (result.score - self._low) / self._width <= 1.0:
            high = self._low + self._width
            raise GraderError(f"{grader.name} scored {result.score:g}, beyond its range {self._low:g} to {high:g}")
        return result

    async def rank(self, texts: Sequence[str], inputs: Mapping[str, Any]) -> PanelRanking:
        """The panel's places for `texts`.

        Raises:
            JudgeError: see `poll`.
        """
        asked = {
            name: rank_all(grader, texts, self._settings.max_group_chars, inputs)
            for name, grader in self.graders.items()
            if isinstance(grader, LLMGrader)
        }
        ballot = await poll(asked, self._settings.failed_jurors)
        rankings = [ranking.places for ranking in ballot.votes.values()]
        merge = combined_places if self._settings.jury_rule == "median" else majority_ranking
        apart = _apart(rankings)
        told = ballot.told({name: _shown(ranking) for name, ranking in ballot.votes.items()}, "mean place")
        reason = told + next(iter(ballot.votes.values())).reason
        return PanelRanking(shared_places(merge(rankings)), apart, reason, ballot.metrics(apart))


def _apart(rankings: Sequence[Sequence[float]]) -> float:
    """The largest share of pairs of answers that two jurors put in opposite orders."""
    pairs = len(rankings[0]) * (len(rankings[0]) - 1) / 2
    return max((disagreements(one, other) / pairs for one, other in combinations(rankings, 2)), default=0.0)


def _shown(ranking: Ranking) -> str:
    return " > ".join(str(index + 1) for index in sorted(range(len(ranking.places)), key=ranking.places.__getitem__))
