"""The verdicts of a combined judge's parts on one rollout, so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.task_judge.inner_judges import failure_of, zeroed
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.parts import Part, PartVerdict

_REASON_CHARS = 300
_SPENT = frozenset(Usage.metric_names())


class PartVerdicts:
    """The verdicts of the parts of one combined judge on one rollout.

    Attributes:
        judged: the verdicts, by part; a failed verdict only for a part that may fail.
        skipped: why a part was not asked.
        failed: the errors, by part, of parts that may fail, or whose failures count as 0.0.
        lacking: parts without a verdict because of a failure: their own, or that of a part that their condition reads.
        spent: what judge models were paid so far, by whichever parts, as metrics: also for verdicts that failed.
    """

    __slots__ = ("failed", "judged", "lacking", "skipped", "spent")

    def __init__(self) -> None:
        self.judged: dict[str, Judgement] = {}
        self.skipped: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self.lacking: set[str] = set()
        self.spent: dict[str, float] = {}

    def asked(self, parts: Sequence[Part]) -> list[Part]:
        """The `parts` that are to be asked; for the others the reason is noted."""
        asked = []
        for part in parts:
            if part.when is None or (held := part.when.holds(self._values(part))):
                asked.append(part)
            elif held is None:
                lacking = ", ".join(sorted(name for name in part.needs if not self._has(name)))
                self.skipped[part.name] = f"no verdict of {lacking}"
                if not self.lacking.isdisjoint(part.needs):
                    self.lacking.add(part.name)
            else:
                self.skipped[part.name] = f"not {part.settings.when}"
        return asked

    def _values(self, part: Part) -> dict[str, float | bool]:
        """The values that a part's condition reads, from parts that have a verdict."""
        values: dict[str, float | bool] = {}
        for name in part.needs:
            judgement = self.judged.get(name)
            if judgement is not None and judgement.reward is not None:
                values[f"{name}.reward"] = judgement.reward
                values[f"{name}.is_success"] = bool(judgement.is_success)
        return values

    def add(self, part: Part, outcome: Judgement | JudgeError) -> None:
        """Note a part's verdict.

        Raises:
            JudgeError: the part has no verdict, and must have one.
        """
        self._add(part, self._counted(outcome))

    def add_all(self, parts: Sequence[Part], outcomes: Sequence[Judgement | JudgeError]) -> None:
        """Note the verdicts of parts that were asked at the same time; if one fails, the costs of all are still
        counted.
        """
        for part, judgement in zip(parts, list(map(self._counted, outcomes)), strict=True):
            self._add(part, judgement)

    def _counted(self, outcome: Judgement | JudgeError) -> Judgement:
        judgement = Judgement.failed(outcome) if isinstance(outcome, JudgeError) else outcome
        for name in _SPENT.intersection(judgement.metrics):
            self.spent[name] = self.spent.get(name, 0.0) + judgement.metrics[name]
        return judgement

    def _add(self, part: Part, judgement: Judgement) -> None:
        if judgement.reward is None:
            if not part.may_fail and not part.zero_on_error:
                raise failure_of(f"part {part.name!r}", part.judge, judgement)
            self.failed[part.name] = judgement.reason
            if part.zero_on_error:
                judgement = zeroed(judgement)
            else:
                self.lacking.add(part.name)
        self.judged[part.name] = judgement

    @contextmanager
    def accounted(self) -> Iterator[None]:
        """A context that adds the costs to a JudgeError, so that summaries and `--resume` add them up."""
        try:
            yield
        except JudgeError as error:
            error.metrics = {**error.metrics, **self.spent}
            raise

    def _has(self, name: str) -> bool:
        judgement = self.judged.get(name)
        return judgement is not None and judgement.reward is not None

    def counted(self, parts: Sequence[Part]) -> tuple[list[Part], list[float]]:
        """The `parts` that count for the reward and have a verdict, and their rewards."""
        counted, rewards = [], []
        for part in parts:
            judgement = self.judged.get(part.name)
            if part.counts and judgement is not None and judgement.reward is not None:
                counted.append(part)
                rewards.append(judgement.reward)
        return counted, rewards

    def is_success(self, name: str) -> bool:
        """Whether the part has a verdict, and that is a success."""
        return name in self.judged and bool(self.judged[name].is_success)

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

    def told(self, parts: Sequence[Part]) -> str:
        """The end of the reason: parts that make no term of the combination, then the reasons of those that do."""
        told = ""
        for part in parts:
            name = part.name
            judgement = self.judged.get(name)
            if judgement is None:
                told += f"; {name} skipped: {self.skipped[name]}"
            elif judgement.reward is None:
                told += f"; {name} failed and is {'optional' if part.settings.optional else 'of weight 0'}: "
                told += judgement.reason[:_REASON_CHARS]
            else:
                told += f"; {name}: " if part.counts else f"; {name} {judgement.reward:g}, of weight 0: "
                told += judgement.reason[:_REASON_CHARS]
        return told

    def metrics(self, parts: Sequence[Part]) -> dict[str, float]:
        """`part/<name>` for each that has a verdict, whether others were skipped or failed, and the parts' own.

        What judging used (`judge_…`) is added up under its own name, as summaries and budgets read it.
        """
        metrics: dict[str, float] = {}
        for part in parts:
            key = part.key
            judgement = self.judged.get(part.name)
            if part.when is not None:
                metrics[f"{key}/skipped"] = float(judgement is None)
            if part.may_fail or part.zero_on_error:
                metrics[f"{key}/failed"] = float(part.name in self.failed)
            if judgement is None:
                continue
            if judgement.reward is not None:
                metrics[key] = judgement.reward
            for name, value in judgement.metrics.items():
                if name.startswith("judge_"):
                    metrics[name] = metrics.get(name, 0.0) + value
                else:
                    metrics[f"{key}/{name}"] = value
        return metrics

    def violations(self, parts: Sequence[Part]) -> tuple[str, ...]:
        """The rules of the parts that were broken, each under its part's name."""
        if not any(judgement.violations for judgement in self.judged.values()):
            return ()
        return tuple(
            f"{part.name}/{rule}"
            for part in parts
            if part.name in self.judged
            for rule in self.judged[part.name].violations
        )
