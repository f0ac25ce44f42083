"""Scored rows, which are rollouts with verdicts: `ScoredRow` reads them from a file, `Summary` counts the verdicts."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeGuard, get_args

import pydantic_core

from agentscope_tuner.bounds import readable
from agentscope_tuner.errors import told
from agentscope_tuner.records.reader import Line
from agentscope_tuner.task_judge.contract.judgement import Judgement, Status

#: The common names of the reference in a task's or an output's metadata; the first that it has counts.
REFERENCE_KEYS = ("answer", "ground_truth", "reference", "target")
_MOST_REASONS = 1000
# `file.jsonl:3` before an error, which names the row
_PLACE = re.compile(r"\S+:\d+(?=: )")
_REASON_CHARS = 300
_MOST_EXAMPLES = 8
_USAGE = "judge_"
# Metrics of a single verdict, whose sum means nothing
_NOT_SUMS = frozenset({"judge_votes", "judge_disagreement"})
_MOST_USAGES = 50
#: Metrics of rewards of 0.0 whose answer was not found wrong: it was not understood, or could not be decided.
MARKS = ("unread", "undecided")
# How the metrics begin that hold the rewards of a combined judge's parts and of a routed judge's routes
_MEANS = ("part/", "route/", "elsewhere/")
_MOST_MEANS = 100
_SUMS = ("rows", "reward_sum", "successes", "labelled", "agreed", "statuses", "violations", "causes", "marks")


@dataclass(slots=True)
class Summary:
    """The counts over the verdicts of a run, which are shown at its end. Its size does not grow with the rows.

    Attributes:
        rows: the number of rows; `statuses` counts them by status.
        reward_sum: the sum of the rewards.
        successes: the number of rows with `is_success`.
        violations: the number of rows that break each rule.
        failures: the number of failed rows for each reason; `causes` counts them by what has to be fixed.
        labelled: the number of rows with a reward and a `label.is_success` of their own; `agreed` counts those whose
            verdict equals it.
        usage: the sums of what judging used (calls, tokens, cost): the metrics named `judge_…`.
        means: for each part of a combined judge and each route, its number of rows and the sum of its rewards: the
            metrics `part/<name>` and `route/<name>`.
        marks: the number of rows with each of `MARKS`.
        first_places: for each reason of `failures` the first row that failed so, such as `rollouts.jsonl:3`.
        examples: the first row of each status, reward and kind of reason (the words before its colon).
        most_examples: how many examples to keep at most.
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
    first_places: dict[str, str] = field(default_factory=dict)
    examples: dict[tuple[str, float | None, str], tuple[str, Judgement]] = field(default_factory=dict)
    most_examples: int = _MOST_EXAMPLES

    def add(self, judgement: Judgement, *, name: str = "", label: bool | None = None, count: int = 1) -> None:
        """Count one verdict, or `count` rows with the same verdict.

        Args:
            judgement: the verdict.
            name: the name of the row, or of the first row, for messages.
            label: the row's own `label.is_success`; None if it has none.
            count: how many rows have this verdict.
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
            place = _PLACE.match(judgement.error or "")
            self._add_failures(judgement.reason[:_REASON_CHARS], count, place.group() if place else name)
            if judgement.cause is not None:
                self.causes[judgement.cause.value] += count
            return
        self.reward_sum += count * judgement.reward
        self.successes += count * bool(judgement.is_success)
        if label is not None:
            self.labelled += count
            self.agreed += count * (judgement.is_success == label)

    def _add_failures(self, reason: str, count: int, place: str) -> None:
        # Reasons may quote rows, so their number is bounded: further ones are counted together
        told = reason if reason in self.failures or len(self.failures) < _MOST_REASONS else "(others)"
        self.failures[told] += count
        self.first_places.setdefault(told, place)

    def _add_usage(self, metric: str, total: float) -> None:
        if metric in self.usage or len(self.usage) < _MOST_USAGES:
            self.usage[metric] = self.usage.get(metric, 0.0) + total

    def _add_mean(self, metric: str, count: float, total: float) -> None:
        if metric in self.means or len(self.means) < _MOST_MEANS:
            rows, so_far = self.means.get(metric, (0.0, 0.0))
            self.means[metric] = (rows + count, so_far + total)

    def merge(self, other: Summary) -> None:
        """Add the counts of `other`, the summary of different rows, such as those of another process."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for reason, count in other.failures.items():
            self._add_failures(reason, count, other.first_places.get(reason, ""))
        for metric, total in other.usage.items():
            self._add_usage(metric, total)
        for metric, (rows, sum_of_rewards) in other.means.items():
            self._add_mean(metric, rows, sum_of_rewards)
        for kind, example in other.examples.items():
            if len(self.examples) < self.most_examples:
                self.examples.setdefault(kind, example)

    def to_dict(self) -> dict[str, Any]:
        """The summary as dicts, lists and numbers that JSON can carry; see `from_dict`."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        examples = [[name, judgement.to_dict()] for name, judgement in self.examples.values()]
        counted = {name: dict(value) if isinstance(value, dict) else value for name, value in plain.items()}
        return {**counted, "examples": examples}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Summary:
        """The summary that `to_dict` turned into `data`."""
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
        """The number of rows with a reward: those with status judged or filtered, not failed."""
        return self.rows - self.statuses["failed"]

    @property
    def mean_reward(self) -> float | None:
        """The mean reward over the rows that have one; None if no row has. Failed rows do not count as 0."""
        return self.reward_sum / self.verdicts if self.verdicts else None

    @property
    def success_rate(self) -> float | None:
        """The share of successes among the rows with a reward, 0 to 1; None if no row has one."""
        return self.successes / self.verdicts if self.verdicts else None


_PLAIN = tuple(one.name for one in fields(Summary) if "examples" not in one.name)


STEP_KEYS = ("step", "global_step", "training_step")
#: The largest number whose squares can be summed over any step
LARGEST = 1e100
_STATUSES = frozenset(get_args(Status))
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_SHAPE_CHARS, _SHAPE_WORDS = 200, 8
# A recursive function takes two frames for each level of a row, and Python allows a thousand


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """One line of a scored file, parsed.

    Attributes:
        where: its file and line number, such as `scored.jsonl:3`.
        id: the row's own id as text, or its `where` if it has none; `nth` is the number of earlier rows of the same id.
        task: the task's id, or empty; rows of one task and step are an advantage group.
        step: the training step; None if the row names none.
        reward: a finite number; None exactly if the status is `failed`.
        success: whether the answer is right; None if a trainer's dump does not say so, or the status is `failed`.
        metrics: the judgement's finite metrics; a combined reward's parts are named `part/…`.
        answer: the final answer; empty if the row has none.
        row: the whole line, parsed, for `value_at`.
    """

    where: str
    id: str
    nth: int
    task: str
    step: float | None
    status: Status
    reward: float | None
    success: bool | None
    reason: str
    cause: str | None
    violations: tuple[str, ...]
    metrics: Mapping[str, float]
    seconds: float
    answer: str
    row: Mapping[str, Any]

    @property
    def group(self) -> tuple[str, float | None]:
        """The advantage group: the samples of one task in one step."""
        return self.task, self.step

    @property
    def parts(self) -> dict[str, float]:
        """The parts of a combined reward, by their metrics' names: `{"part/length": 0.5}`.

        A metric such as `part/length/chars`, which only says more about a part, is left out.
        """
        return {name: paid for name, paid in self.metrics.items() if name.startswith("part/") and name.count("/") == 1}


def scored_rows(lines: Iterable[Line]) -> Iterator[ScoredRow]:
    """The rows of a scored file or of a trainer's dump that a `Conversion` has read.

    Raises:
        ConfigError: a line holds no verdict.
    """
    seen: Counter[str] = Counter()
    for line in lines:
        with told(line.where, ValueError):
            row = scored_row(line, seen)
        yield row


class UnjudgedRow(ValueError):
    """A row has no verdict: the file was not judged, or it is a trainer's and needs `--format`."""


def scored_row(line: Line, seen: Counter[str], counted: Container[str] | None = None) -> ScoredRow:
    """Parse one line of a scored file.

    Args:
        line: the line.
        seen: how often each id has come before, for `nth`; this row is added.
        counted: the only ids to count in `seen`; None for all ids.

    Raises:
        UnjudgedRow: the row has no judgement.
        ValueError: the line is no row, or its reward is no number; the message says why.
    """
    if line.problem is not None:
        raise ValueError(line.problem)
    row = parsed(line.raw)
    verdict = row.get("judgement")
    if not isinstance(verdict, dict) or not is_status(verdict.get("status")):
        raise UnjudgedRow("the row has no judgement: judge the file first, or name its --format")
    task, output = mapping_in(row.get("task")), mapping_in(row.get("output"))
    given, said = mapping_in(task.get("metadata")), mapping_in(output.get("metadata"))
    status: Status = verdict["status"]
    reward = None if status == "failed" else _finite(verdict.get("reward"))
    name = str(row["id"]) if row.get("id") is not None else line.where
    nth = seen[name]
    if counted is None or name in counted:
        seen[name] = nth + 1
    success = verdict.get("is_success")
    answer = said.get("final_answer")
    return ScoredRow(
        where=line.where,
        id=name,
        nth=nth,
        task=str(named) if (named := task.get("task_id")) is not None else "",
        step=step_of(row, said, given),
        status=status,
        reward=reward,
        success=success if isinstance(success, bool) and status != "failed" else None,
        reason=str(verdict.get("reason") or ""),
        cause=cause if isinstance(cause := verdict.get("cause"), str) else None,
        violations=_names(verdict.get("violations")),
        metrics={name: value for name, value in mapping_in(verdict.get("metrics")).items() if is_number(value)},
        seconds=verdict["seconds"] if is_number(verdict.get("seconds")) else 0.0,
        answer=answer if isinstance(answer, str) else "",
        row=row,
    )


def _finite(reward: object) -> float:
    if isinstance(reward, bool) or not isinstance(reward, int | float) or not abs(reward) < math.inf:
        raise ValueError(f"the reward is {reward!r:.60}, which is no finite number")
    if abs(reward) > LARGEST:
        raise ValueError(f"the reward is {reward!r:.60}: means and spreads of such rewards are no numbers")
    return float(reward)


def step_of(*places: Mapping[str, Any]) -> float | None:
    """The training step in the first of `places` that names one: `3.0` for `{"step": 3}`; None if none does.

    Its key is one of `STEP_KEYS`.
    """
    named = (place[key] for place in places for key in STEP_KEYS if key in place)
    return next((float(value) for value in named if is_number(value)), None)


def value_at(row: Mapping[str, Any], path: str) -> str:
    """The value at `path` in a row, as text; empty if there is none.

    Args:
        row: the row, as `ScoredRow.row`.
        path: keys with dots between them, such as `task.env_type` or `judgement.reason`. `metadata.source` looks into
            the task's metadata, then into the output's.
    """
    for start in (("task", "metadata"), ("output", "metadata")) if path.startswith("metadata.") else ((),):
        value: Any = row
        for part in (*start, *path.removeprefix("metadata.").split(".")) if start else path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None:
            return value if isinstance(value, str) else json.dumps(value)
    return ""


def shape_of(reason: str) -> str:
    """A judgement's reason without the parts that differ from row to row, so that equal reasons can be counted.

    Its first words stay, with `…` for numbers, formulas and quotes: `expected '5', got 7` gives `expected … got …`.
    """
    text = reason[:_SHAPE_CHARS]
    if "'" in text or '"' in text or "`" in text:
        text = _QUOTED.sub(" … ", text)
    shape: list[str] = []
    for word in text.split(None, 3 * _SHAPE_WORDS):
        kept = word if len(word) > 1 and word.rstrip(":;,.").isalpha() else "…"
        if kept != "…" or shape[-1:] != ["…"]:
            shape.append(kept)
            if len(shape) == _SHAPE_WORDS:
                break
    return " ".join(shape)


def parsed(raw: bytes) -> dict[str, Any]:
    """The JSON object that a line holds; a value that is nested too deep becomes a text, see `bounds.readable`.

    Raises:
        ValueError: the line holds no object; the message says why.
    """
    try:
        value = pydantic_core.from_json(raw)
    except ValueError:
        # The fast parser refuses half a surrogate pair, which the standard parser reads, and what is deep
        try:
            value = json.loads(readable(raw))
        except RecursionError as exc:
            raise ValueError("it is nested too deep") from exc
    if not isinstance(value, dict):
        raise ValueError(f"a row must be an object, got {type(value).__name__}")
    return value


def _names(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def is_status(value: object) -> TypeGuard[Status]:
    """Whether a JSON value is the status of a verdict: `judged`, `filtered` or `failed`."""
    return isinstance(value, str) and value in _STATUSES


def is_number(value: object) -> TypeGuard[float]:
    """Whether a JSON value is a number that can be summed: not true or false, not NaN, and at most `LARGEST`."""
    # Compared, not converted: JSON has integers beyond the range of floats
    return isinstance(value, int | float) and value is not True and value is not False and abs(value) <= LARGEST


def mapping_in(value: object) -> Mapping[str, Any]:
    """`value`, which was read from JSON, if it is an object; else an empty mapping."""
    # Parsed JSON has plain dictionaries, and comparing the class takes a tenth of an isinstance check on Mapping
    return value if type(value) is dict else {}
