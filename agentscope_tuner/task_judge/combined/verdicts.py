"""The verdicts of a combined judge's parts on one rollout, so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.task_judge.combined.settings import Part, PartVerdict
from agentscope_tuner.task_judge.contract.judgement import Judgement

_REASON_CHARS = 300
_SPENT = frozenset(Usage.metric_names())


class Account(NamedTuple):
    """What the parts' verdicts come to.

    Attributes:
        counted: the parts that count for the reward and have a verdict.
        rewards: the rewards of these parts.
        told: the end of the reason: each part's own.
        metrics: `part/<name>` for each that has a verdict, whether others were skipped or failed, and the parts' own.
            What judging used (`judge_…`) is added up under its own name, as summaries and budgets read it.
        violations: the rules of the parts that were broken, each under its part's name.
    """

    counted: list[Part]
    rewards: list[float]
    told: str
    metrics: dict[str, float]
    violations: tuple[str, ...]


class PartVerdicts:
    """The verdicts of the parts of one combined judge on one rollout.

    Args:
        paid: `AsksJudges.paid` of that judge.

    Attributes:
        judged: the verdicts, by part; a failed verdict only for a part that may fail.
        values: what conditions read: `<part>.reward` and `<part>.is_success` of parts that have a verdict.
        skipped: why a part was not asked.
        failed: the errors, by part, of parts that may fail, or whose failures count as 0.0.
        alone: the parts that must have a verdict and have none to rank the rollout with, and what they say.
        lacking: parts without a verdict because of a failure: their own, or that of a part that their condition reads.
        spent: what judge models were paid so far, by whichever parts, as metrics: also for verdicts that failed.
    """

    __slots__ = ("_paid", "alone", "failed", "judged", "lacking", "skipped", "spent", "values")

    def __init__(self, paid: Callable[[str, Judgement], Judgement]) -> None:
        self._paid = paid
        self.judged: dict[str, Judgement] = {}
        self.values: dict[str, float | bool] = {}
        self.skipped: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self.alone: dict[str, str] = {}
        self.lacking: set[str] = set()
        self.spent: dict[str, float] = {}

    def asked(self, parts: Sequence[Part]) -> list[Part]:
        """The `parts` that are to be asked; for the others the reason is noted."""
        asked = []
        for part in parts:
            held = part.when is None or part.when.holds(self.values)
            if held:
                asked.append(part)
            elif held is None:
                lacking = sorted(name for name in part.needs if f"{name}.reward" not in self.values)
                self.skipped[part.name] = f"no verdict of {', '.join(lacking)}"
                if not self.lacking.isdisjoint(part.needs):
                    self.lacking.add(part.name)
            else:
                self.skipped[part.name] = f"not {part.settings.when}"
        return asked

    def add(self, part: Part, outcome: Judgement | JudgeError) -> None:
        """Note a part's verdict.

        Raises:
            JudgeError: the part has no verdict, and must have one.
        """
        self._note(part, self._counted(outcome))

    def add_all(self, parts: Sequence[Part], outcomes: Sequence[Judgement | JudgeError]) -> None:
        """Note verdicts of parts that were asked at the same time. The costs of all are counted, also if one fails."""
        for part, judgement in zip(parts, list(map(self._counted, outcomes)), strict=True):
            self._note(part, judgement)

    def _counted(self, outcome: Judgement | JudgeError) -> Judgement:
        judgement = Judgement.failed(outcome) if isinstance(outcome, JudgeError) else outcome
        for name in _SPENT.intersection(judgement.metrics):
            self.spent[name] = self.spent.get(name, 0.0) + judgement.metrics[name]
        return judgement

    def _note(self, part: Part, judgement: Judgement) -> None:
        name = part.name
        if judgement.reward is None:
            reason = judgement.reason
            if part.zero_on_error or not part.may_fail:
                if judgement.cause is Cause.ALONE and not part.zero_on_error:
                    self.alone[name] = reason
                judgement = self._paid(name, judgement)
            else:
                self.lacking.add(name)
            self.failed[name] = reason
        self.judged[name] = judgement
        if part.is_read and judgement.reward is not None:
            self.values[part.reward_name] = judgement.reward
            self.values[part.success_name] = bool(judgement.is_success)

    @contextmanager
    def accounted(self) -> Iterator[None]:
        """A context that adds the costs to a JudgeError, so that summaries and `--resume` add them up."""
        try:
            yield
        except JudgeError as error:
            error.metrics = {**error.metrics, **self.spent}
            raise

    def is_success(self, name: str) -> bool:
        """Whether the part has a verdict, and that is a success."""
        judgement = self.judged.get(name)
        return judgement is not None and bool(judgement.is_success)

    def verdict(self, part: Part) -> PartVerdict:
        """The part's verdict, as a user's function of the parts gets it."""
        judgement = self.judged.get(part.name)
        if judgement is None:
            return PartVerdict(part.name, part.weight, "skipped", None, None)
        return PartVerdict(part.name, part.weight, judgement.status, judgement.reward, judgement.is_success)

    def said(self) -> str:
        """The parts that failed or were not asked, in words."""
        told = [f"{name} failed: {why}" for name, why in self.failed.items()]
        told += [f"{name} skipped: {why}" for name, why in self.skipped.items()]
        return "; ".join(told) or f"{', '.join(self.judged) or 'none'} answered"

    def account(self, parts: Sequence[Part]) -> Account:
        """What the verdicts of `parts` come to."""
        counted: list[Part] = []
        rewards: list[float] = []
        metrics: dict[str, float] = {}
        violations: list[str] = []
        told = ""
        for part in parts:
            name, key, judgement = part.name, part.key, self.judged.get(part.name)
            if part.when is not None:
                metrics[f"{key}/skipped"] = float(judgement is None)
            if part.may_fail or part.zero_on_error:
                metrics[f"{key}/failed"] = float(name in self.failed)
            if judgement is None:
                told += f"; {name} skipped: {self.skipped[name]}"
                continue
            reward = judgement.reward
            if reward is None:
                told += f"; {name} failed and is {'optional' if part.settings.optional else 'of weight 0'}: "
            elif part.counts:
                counted.append(part)
                rewards.append(reward)
                told += f"; {name}: "
            else:
                told += f"; {name} {reward:g}, of weight 0: "
            told += judgement.reason[:_REASON_CHARS]
            if reward is not None:
                metrics[key] = reward
            for metric, value in judgement.metrics.items():
                if metric.startswith("judge_"):
                    metrics[metric] = metrics.get(metric, 0.0) + value
                else:
                    metrics[f"{key}/{metric}"] = value
            if judgement.violations:
                violations += [f"{name}/{rule}" for rule in judgement.violations]
        return Account(counted, rewards, told, metrics, tuple(violations))
