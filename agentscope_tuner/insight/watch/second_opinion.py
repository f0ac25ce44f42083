"""Second opinions: a stricter judge, or people's labels, judge a random sample of a judge's passes again."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence

from pydantic import ValidationError

from agentscope_tuner.insight.labels import Key
from agentscope_tuner.insight.watch.false_passes import FalsePassTest
from agentscope_tuner.insight.watch.step_stats import paid
from agentscope_tuner.records.scored_rows import ScoredRow
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.workflow import Rollout, WorkflowTask

#: Decides whether rows deserve to pass; None for a row that cannot be decided.
Ask = Callable[[Sequence[ScoredRow]], "Sequence[bool | None]"]
_WORRIED = 3.0


class SecondOpinion:
    """Asks for second opinions on a share of the rows, and tests statistically whether passes are false.

    The test's error bound needs a fair sample. So the asked rows are drawn at random, with replacement, from a step's
    passes. Their number depends only on earlier steps and on the numbers of rows and passes, not on answers.

    Args:
        ask: the second judge.
        rate: asked rows as a share of all rows; three times this share while a monitor worries.
        most: the most asked rows, as a share of all rows so far.
        budget: the most asked rows over the whole run; None for no limit.
        tolerance: the share of false passes that is no gaming; see `FalsePassTest`.
        alpha: the chance of a false alarm over the whole run.
        seed: the seed of the random draws.
    """

    def __init__(
        self,
        ask: Ask,
        *,
        rate: float = 0.02,
        most: float = 0.05,
        budget: int | None = None,
        tolerance: float = 0.1,
        alpha: float = 0.05,
        seed: int = 0,
    ) -> None:
        self._ask, self._rate, self._most = ask, rate, max(rate, most)
        self._budget = sys.maxsize if budget is None else budget
        self._random = random.Random(seed)
        self.test = FalsePassTest(tolerance, alpha)
        self.rows = self.asked = self.unanswered = 0
        self._owed = 0.0

    def step(self, rows: Sequence[ScoredRow], *, worried: bool) -> bool:
        """Add the rows of one step, and return whether it raises the alarm; only one step of a run does.

        Args:
            rows: all rows of the step.
            worried: whether a monitor of gaming worries since an earlier step.
        """
        self.rows += len(rows)
        self._owed += len(rows) * self._rate * (_WORRIED if worried else 1.0)
        passes = [row for row in rows if paid(row)]
        budget = min(int(self.rows * self._most), self._budget) - self.asked
        count = max(0, min(int(self._owed), budget, len(passes)))
        # After many steps without passes, the rows not asked about must not all be asked about in one step
        self._owed = min(self._owed - count, 4.0 + len(rows) * self._rate)
        if not count:
            return False
        self.asked += count
        before = self.test.alarmed
        for deserved in self._ask(self._random.choices(passes, k=count)):
            if deserved is None:
                self.unanswered += 1
            else:
                self.test.add(not deserved)
        return self.test.alarmed and not before

    def message(self) -> str:
        """The text of the alarm."""
        test = self.test
        return (
            f"this run is being gamed: the second opinion refuses {test.false} of {test.rows} sampled passes; at some "
            f"step at least {test.lower_bound:.0%} of the passes were false (error at most {test.alpha:.0%} over the "
            "whole run)"
        )


def asks_judge(judge: ConfiguredJudge) -> Ask:
    """Asks a configured judge; a row without a verdict stays unanswered."""

    def ask(rows: Sequence[ScoredRow]) -> list[bool | None]:
        answers: list[bool | None] = [None] * len(rows)
        readable = []
        for place, row in enumerate(rows):
            try:
                rollout = Rollout.model_validate({**row.row, "id": row.id})
            except ValidationError:
                continue
            readable.append((place, (WorkflowTask(task=rollout.task), rollout.output)))
        verdicts = judge.judge_batch([pair for _, pair in readable])
        for (place, _), verdict in zip(readable, verdicts, strict=True):
            answers[place] = None if verdict.reward is None else bool(verdict.is_success)
        return answers

    return ask


def asks_labels(labels: Mapping[Key, float | None]) -> Ask:
    """Looks rows up in labels; a row without a label stays unanswered."""

    def ask(rows: Sequence[ScoredRow]) -> list[bool | None]:
        found = [labels.get((row.id, row.nth)) for row in rows]
        return [None if label is None else label >= 0.5 for label in found]

    return ask
