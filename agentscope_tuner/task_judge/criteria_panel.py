"""A jury's verdict on each of several criteria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from agentscope_tuner.graders.combine import VoteRule
from agentscope_tuner.graders.criteria_grader import CriteriaGrader, Met
from agentscope_tuner.task_judge.jury import poll, spread


@dataclass(frozen=True, slots=True)
class PanelCriteria:
    """A panel's verdict on the criteria of an answer.

    Attributes:
        met: for each criterion; of a jury's quotes the first one by a juror who agrees with it.
        disagreement: how far the jurors lie apart on a criterion, the mean over all criteria, 0 to 1.
        told: which jurors failed, as the beginning of a reason; empty for a jury of one.
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

    async def decide(self, query: str, response: Any, criteria: Sequence[str]) -> PanelCriteria:
        """The panel's verdict on each of `criteria`.

        Raises:
            JudgeError: see `poll`. A juror that could not decide one of the criteria has failed.
        """
        asked = {name: grader.decide(query, response, criteria) for name, grader in self.graders.items()}
        ballot = await poll(asked, self._failed)
        by_criterion = list(zip(*(met for met, _ in ballot.votes.values()), strict=True))
        apart = sum(spread([vote.value for vote in votes]) for votes in by_criterion) / len(by_criterion)
        told = ballot.told(dict.fromkeys(ballot.votes, "voted"), self._rule)
        return PanelCriteria([self._one(votes) for votes in by_criterion], apart, told, ballot.metrics(apart))

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
