"""Totals over the verdicts of a run, updated row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from agentscope_tuner.task_judge.contract.judgement import Judgement

_MOST_REASONS = 1000
_REASON_CHARS = 300
_MOST_EXAMPLES = 8
_USAGE = "judge_"
# Metrics of a single verdict, whose sum means nothing
_NOT_SUMS = frozenset({"judge_votes", "judge_disagreement"})
_MOST_USAGES = 50
#: Metrics of rewards of 0.0 whose answer was not found wrong: it was not understood, or could not be decided.
MARKS = ("unread", "undecided")
# Prefixes of the metrics of a combined judge's parts and a routed judge's routes
_MEANS = ("part/", "route/", "elsewhere/")
_MOST_MEANS = 100
_NUMBERS = ("rows", "reward_sum", "successes", "labelled", "agreed")
_COUNTERS = ("statuses", "violations", "causes", "marks")


@dataclass(slots=True)
class Summary:
    """Counts over judgements; its size does not grow with the number of rows.

    `agreed` and `labelled` compare `is_success` with the rows' own `label.is_success`, where they carry one. `usage`
    adds up what judging itself used: metrics named `judge_…` (calls, tokens, cost). `means` has the rows and the sum
    of the rewards of each part of a combined judge and of each route: the metrics `part/<name>` and `route/<name>`.
    `marks` counts the rows of each of `MARKS`.
    `examples` holds the first row of each status, reward and kind of reason (the words before its colon), at most
    `most_examples`. `causes` counts failed rows by what has to be fixed, `failures` counts them by reason.
    """

    rows: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    reward_sum: float = 0.0
    successes: int = 0
    violations: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    labelled: int = 0
    agreed: int = 0
    usage: dict[str, float] = field(default_factory=dict)
    means: dict[str, tuple[float, float]] = field(default_factory=dict)
    marks: Counter[str] = field(default_factory=Counter)
    examples: dict[tuple[str, float | None, str], tuple[str, Judgement]] = field(default_factory=dict)
    most_examples: int = _MOST_EXAMPLES

    def add(self, judgement: Judgement, *, name: str = "", label: bool | None = None, count: int = 1) -> None:
        """Count one verdict, or `count` rows with the same verdict.

        Args:
            name: names the row, or the first of them.
            label: the row's own `label.is_success`, None when it has none.
        """
        self.rows += count
        if len(self.examples) < self.most_examples:
            kind = judgement.reason.partition(":")[0][:_REASON_CHARS]
            self.examples.setdefault((judgement.status, judgement.reward, kind), (name, judgement))
        self.statuses[judgement.status] += count
        for rule in judgement.violations:
            self.violations[rule] += count
        for metric, value in judgement.metrics.items():
            if metric.startswith(_USAGE) and metric not in _NOT_SUMS:
                self._add_usage(metric, count * value)
            elif metric in MARKS:
                self.marks[metric] += count * bool(value)
            elif metric.startswith(_MEANS) and metric.count("/") == 1:
                self._add_mean(metric, count, count * value)
        if judgement.reward is None:
            self._add_failures(judgement.reason[:_REASON_CHARS], count)
            if judgement.cause is not None:
                self.causes[judgement.cause.value] += count
            return
        self.reward_sum += count * judgement.reward
        self.successes += count * bool(judgement.is_success)
        if label is not None:
            self.labelled += count
            self.agreed += count * (judgement.is_success == label)

    def _add_failures(self, reason: str, count: int) -> None:
        # Reasons may quote rows, so their number is bounded: further ones are counted together
        self.failures[reason if reason in self.failures or len(self.failures) < _MOST_REASONS else "(others)"] += count

    def _add_usage(self, metric: str, total: float) -> None:
        if metric in self.usage or len(self.usage) < _MOST_USAGES:
            self.usage[metric] = self.usage.get(metric, 0.0) + total

    def _add_mean(self, metric: str, count: float, total: float) -> None:
        if metric in self.means or len(self.means) < _MOST_MEANS:
            rows, so_far = self.means.get(metric, (0.0, 0.0))
            self.means[metric] = (rows + count, so_far + total)

    def merge(self, other: Summary) -> None:
        """Add the counts of other rows, judged elsewhere."""
        for number in _NUMBERS:
            setattr(self, number, getattr(self, number) + getattr(other, number))
        for counter in _COUNTERS:
            getattr(self, counter).update(getattr(other, counter))
        for reason, count in other.failures.items():
            self._add_failures(reason, count)
        for metric, total in other.usage.items():
            self._add_usage(metric, total)
        for metric, (rows, sum_of_rewards) in other.means.items():
            self._add_mean(metric, rows, sum_of_rewards)
        for kind, example in other.examples.items():
            if len(self.examples) < self.most_examples:
                self.examples.setdefault(kind, example)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        examples = [[name, judgement.to_dict()] for name, judgement in self.examples.values()]
        return {
            **{name: dict(value) if isinstance(value, dict) else value for name, value in plain.items()},
            "examples": examples,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Summary:
        """The summary from `data`, which `to_dict` made."""
        summary = cls()
        for name, judgement in data["examples"]:
            if example := Judgement.from_dict(judgement):
                summary.add(example, name=name)
        # Records of earlier versions hold no causes
        for name in filter(data.__contains__, _PLAIN):
            kind = type(getattr(summary, name))
            setattr(summary, name, kind(data[name]))
        return summary

    @property
    def verdicts(self) -> int:
        """Rows with a reward: judged or filtered."""
        return self.rows - self.statuses["failed"]

    @property
    def mean_reward(self) -> float | None:
        """The mean over rows with a verdict; None without one. Failed rows have no reward and do not count as 0."""
        return self.reward_sum / self.verdicts if self.verdicts else None

    @property
    def success_rate(self) -> float | None:
        """The share of successes among rows with a verdict, 0 to 1; None without one."""
        return self.successes / self.verdicts if self.verdicts else None


_PLAIN = tuple(one.name for one in fields(Summary) if "examples" not in one.name)
