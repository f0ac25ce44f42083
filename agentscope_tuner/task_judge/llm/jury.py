"""A jury: several judge models asked about one answer, about several, or about criteria, and their common verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from typing import Any, Generic, Literal, TypeVar

from agentscope_tuner.errors import Cause, GraderError, JudgeError
from agentscope_tuner.graders.base_grader import BaseGrader, evaluate
from agentscope_tuner.graders.client.reply import AnswerAtFault
from agentscope_tuner.graders.combine import (
    VoteRule,
    combined_places,
    combined_score,
    disagreements,
    majority_ranking,
    shared_places,
    unordered,
)
from agentscope_tuner.graders.criteria_grader import CriteriaGrader, Met
from agentscope_tuner.graders.listwise import Ranking, rank_all, shown_order, tournament
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.rubrics.criteria import Criterion
from agentscope_tuner.graders.schema import GraderRank, GraderScore, grader_error
from agentscope_tuner.task_judge.llm.settings import LLMJudgeConfig

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ballot(Generic[T]):
    """The jurors' answers.

    Attributes:
        votes: by the jurors' names, in their order; never empty.
        failures: why the other jurors gave no vote. A failure is no vote.
        size: how many jurors were asked.
    """

    votes: Mapping[str, T]
    failures: Mapping[str, JudgeError]
    size: int

    def metrics(self, disagreement: float) -> dict[str, float]:
        """How many jurors were asked and failed, and how far their votes lie apart, 0 to 1; empty for a jury of one."""
        if self.size == 1:
            return {}
        failed = float(len(self.failures))
        return {"jury_size": float(self.size), "jury_failed": failed, "jury_disagreement": disagreement}

    def told(self, votes: Mapping[str, str], rule: str) -> str:
        """Each juror's vote, as the beginning of a reason; empty for a jury of one."""
        if self.size == 1:
            return ""
        failed = "".join(f", {name} failed ({error.message:.120})" for name, error in self.failures.items())
        return f"{rule} of {', '.join(f'{name} {vote}' for name, vote in votes.items())}{failed}: "


async def poll(asked: Mapping[str, Awaitable[T]], failed_jurors: Literal["skip", "error"]) -> Ballot[T]:
    """Ask all jurors at once.

    Raises:
        AnswerAtFault: there is no verdict, and a juror blames the answer's own text.
        JudgeError: the only juror failed; one of several failed and `failed_jurors` is `error`; half of the jurors or
            more failed; or the run's budget is spent, which is no juror's failure.
    """
    if len(asked) == 1:
        [(name, only)] = asked.items()
        return Ballot({name: await only}, {}, 1)
    results = await asyncio.gather(*asked.values(), return_exceptions=True)
    votes: dict[str, T] = {}
    failures: dict[str, JudgeError] = {}
    for name, result in zip(asked, results, strict=True):
        if isinstance(result, JudgeError):
            failures[name] = result
        elif isinstance(result, BaseException):
            raise result
        else:
            votes[name] = result
    spent = [error for error in failures.values() if error.cause is Cause.INTERRUPTED]
    if spent:
        raise spent[0]
    if failures and (failed_jurors == "error" or 2 * len(failures) >= len(results)):
        for error in failures.values():
            if isinstance(error, AnswerAtFault):
                raise error
        name, error = next(iter(failures.items()))
        raise grader_error(f"{len(failures)} of {len(results)} jurors failed; {name}: {error.message}", error.cause)
    return Ballot(votes, failures, len(results))


def spread(shares: Sequence[float]) -> float:
    """How far votes lie apart, 0 to 1: the largest share of the range less the smallest."""
    return max(shares) - min(shares)


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
    """A panel's places for several answers; see `PanelScore`, and `Ranking` for the sum of its `disagreements`."""

    places: Sequence[float]
    disagreement: float
    reason: str
    metrics: Mapping[str, float]
    disagreements: int = 0


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
        told, apart, metrics = "", 0.0, dict[str, float]()
        if len(self.graders) == 1:
            [(name, grader)] = self.graders.items()
            nearest = self._checked(grader, await evaluate(grader, **values))
            score = float(nearest.score)
            scores = {name: score}
        else:
            asked = {name: self._one(grader, values) for name, grader in self.graders.items()}
            ballot = await poll(asked, self._settings.failed_jurors)
            results, rule = ballot.votes, self._settings.jury_rule
            scores = {name: float(result.score) for name, result in results.items()}
            score = combined_score(list(scores.values()), rule)
            nearest = min(results.values(), key=lambda result: abs(result.score - score))
            told = ballot.told({name: f"{value:g}" for name, value in scores.items()}, rule)
            apart = spread(list(scores.values())) / self._width
            metrics = ballot.metrics(apart)
        if len(votes := nearest.metadata.get("votes", ())) > 1:
            metrics |= {"judge_votes": float(len(votes)), "judge_disagreement": spread(votes)}
            if len(self.graders) == 1:
                apart = spread(votes) / self._width
        filtered = str(nearest.metadata.get("filtered_by", "")) if score == self._low else ""
        reason = nearest.reason if filtered else told + nearest.reason
        return PanelScore(score, (score - self._low) / self._width, apart, reason, metrics, scores, filtered)

    async def _one(self, grader: BaseGrader, values: Mapping[str, Any]) -> GraderScore:
        return self._checked(grader, await evaluate(grader, **values))

    def _checked(self, grader: BaseGrader, result: GraderScore | GraderRank) -> GraderScore:
        """The grader's score.

        Raises:
            GraderError: it has none, or one beyond its range.
        """
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
        order = shown_order(texts, self._settings.shuffle_seed)
        asked = {
            name: self._ranking(grader, [texts[index] for index in order], inputs)
            for name, grader in self.graders.items()
            if isinstance(grader, LLMGrader)
        }
        ballot = await poll(asked, self._settings.failed_jurors)
        rankings = [unordered(ranking.places, order) for ranking in ballot.votes.values()]
        merge = combined_places if self._settings.jury_rule == "median" else majority_ranking
        pairs = len(order) * (len(order) - 1) / 2
        # The largest share of pairs of answers that two jurors put in opposite orders
        apart = max((disagreements(one, other) / pairs for one, other in combinations(rankings, 2)), default=0.0)
        told = ballot.told({name: _shown(ranking) for name, ranking in ballot.votes.items()}, "mean place")
        reason = told + next(iter(ballot.votes.values())).reason
        conflicts = sum(ranking.disagreements for ranking in ballot.votes.values())
        return PanelRanking(shared_places(merge(rankings)), apart, reason, ballot.metrics(apart), conflicts)

    def _ranking(
        self, grader: LLMGrader, texts: Sequence[str], inputs: Mapping[str, Any]
    ) -> Coroutine[Any, Any, Ranking]:
        if self._settings.compare == "pairs":
            return tournament(grader, texts, self._settings.most_pairs, inputs)
        return rank_all(grader, texts, self._settings.max_group_chars, inputs)


def _shown(ranking: Ranking) -> str:
    return " > ".join(str(index + 1) for index in sorted(range(len(ranking.places)), key=ranking.places.__getitem__))


@dataclass(frozen=True, slots=True)
class PanelCriteria:
    """A panel's verdict on the criteria of an answer.

    Attributes:
        met: one for each criterion. Its quote is that of the first juror who gave one and agrees with the verdict.
        disagreement: how far the jurors' votes on a criterion lie apart, 0 to 1; the mean over all criteria.
        told: the beginning of a reason: which jurors voted, and which failed; empty for a jury of one.
        metrics: metrics of the votes.
    """

    met: Sequence[Met]
    disagreement: float
    told: str
    metrics: Mapping[str, float]


class CriteriaPanel:
    """One grader a juror, all with the same prompt.

    Args:
        graders: by the jurors' names.
        rule: `majority`, a criterion is met where more than half of the jurors say so, and 0.5 where half of them do;
            `median`, the median of their values.
        failed_jurors: see `poll`.
    """

    def __init__(
        self, graders: Mapping[str, CriteriaGrader], rule: VoteRule, failed_jurors: Literal["skip", "error"]
    ) -> None:
        self.graders, self._rule, self._failed = graders, rule, failed_jurors

    async def decide(self, query: Any, response: Any, criteria: Sequence[Criterion]) -> PanelCriteria:
        """The panel's verdict on each of `criteria`.

        A yes without a quote earns nothing: it does not count for the answer, but it does count if the criterion speaks
        against the answer. A juror that the answer's own text keeps from a verdict has not failed: it votes against the
        answer on every criterion.

        Raises:
            AnswerAtFault: the answer's own text keeps all jurors from a verdict.
            JudgeError: see `poll`. A juror that could not decide one of the criteria has failed.
        """
        faults: list[AnswerAtFault] = []
        asked = {name: self._votes(grader, query, response, criteria, faults) for name, grader in self.graders.items()}
        ballot = await poll(asked, self._failed)
        if len(faults) == len(ballot.votes):
            raise faults[0]
        by_criterion = list(zip(*ballot.votes.values(), strict=True))
        apart = sum(spread([vote.value for vote in votes]) for votes in by_criterion) / len(by_criterion)
        told = ballot.told(dict.fromkeys(ballot.votes, "voted"), self._rule)
        return PanelCriteria([self._one(votes) for votes in by_criterion], apart, told, ballot.metrics(apart))

    async def _votes(
        self,
        grader: CriteriaGrader,
        query: Any,
        response: Any,
        criteria: Sequence[Criterion],
        faults: list[AnswerAtFault],
    ) -> Sequence[Met]:
        shown, spans = [one.text for one in criteria], [one.span for one in criteria]
        try:
            met, _ = await grader.decide(query, response, shown, spans)
        except AnswerAtFault as exc:
            faults.append(exc)
            met = [Met(0.0, unproven=True)] * len(criteria)
        return [
            replace(one, value=1.0) if one.unproven and criterion.weight < 0 else one
            for one, criterion in zip(met, criteria, strict=True)
        ]

    def _one(self, votes: Sequence[Met]) -> Met:
        if len(votes) == 1:
            return votes[0]
        values = [vote.value for vote in votes]
        value = median(values)
        if self._rule == "majority":
            more = sum(one >= 0.5 for one in values) * 2 - len(values)
            value = 0.5 if more == 0 else float(more > 0)
        quote = next((vote.quote for vote in votes if vote.quote and (vote.value >= 0.5) is (value >= 0.5)), "")
        return Met(value, quote)
