"""The statistics of one training step, and the monitors that compare them with bounds or with the run's first steps."""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import StatisticsError, correlation, fmean, pstdev
from typing import Literal

from agentscope_tuner.records.scored_rows import ScoredRow

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class StepStats:
    """The rows of one step.

    Attributes:
        step: the step.
        rows: number of rows.
        failed: the share of rows whose judging failed.
        filtered: the share of rows that a rule filtered.
        undecided: the share of rows with an undecided verdict.
        reward: the mean reward of the rows with a verdict; None without a verdict.
        spread: the standard deviation of these rewards; 0 without a verdict.
        success: the share of successes among the rows where success is known; None without such rows.
        groups: number of advantage groups of two or more rows.
        flat: number of groups without a signal, by reason: all right, all wrong, all filtered, all failed, or equal.
        length: the mean number of characters of an answer.
        length_pays: the mean correlation of length and reward within groups; None without a group that has one.
        shared: the share of paid answers that are also paid, word for word, under another task.
        repeated: the share of rows whose answer repeats an earlier answer of their group.
        parts: the share of each part of a combined reward in the sum of the parts' absolute means.
        seconds: the mean time of a verdict.
        cost: the sum of judging costs.
    """

    step: float
    rows: int
    failed: float
    filtered: float
    undecided: float
    reward: float | None
    spread: float
    success: float | None
    groups: int
    flat: dict[str, int]
    length: float
    length_pays: float | None
    shared: float
    repeated: float
    parts: dict[str, float]
    seconds: float
    cost: float


def step_stats(step: float, rows: Sequence[ScoredRow]) -> StepStats:
    """The statistics of one step, which has at least one row."""
    rewards = [row.reward for row in rows if row.reward is not None]
    groups: dict[str, list[ScoredRow]] = defaultdict(list)
    for row in rows:
        groups[row.task or row.where].append(row)
    real = [group for group in groups.values() if len(group) > 1]
    pays = [value for group in real if (value := _length_pays(group)) is not None]
    known = [row.success for row in rows if row.success is not None]
    count = len(rows)
    return StepStats(
        step=step,
        rows=count,
        failed=sum(row.status == "failed" for row in rows) / count,
        filtered=sum(row.status == "filtered" for row in rows) / count,
        undecided=sum(row.reason.startswith("undecided") for row in rows) / count,
        reward=fmean(rewards) if rewards else None,
        spread=pstdev(rewards) if rewards else 0.0,
        success=fmean(known) if known else None,
        groups=len(real),
        flat=dict(Counter(why for group in real if (why := _why_flat(group)) is not None)),
        length=fmean(len(row.answer) for row in rows),
        length_pays=fmean(pays) if pays else None,
        shared=_shared(rows),
        repeated=sum(len(group) - len({row.answer for row in group}) for group in real) / count,
        parts=_parts(rows),
        seconds=fmean(row.seconds for row in rows),
        cost=sum(row.metrics.get("judge_cost", 0.0) for row in rows),
    )


def _why_flat(group: Sequence[ScoredRow]) -> str | None:
    """The reason why a group has no signal; None for a group with a signal."""
    statuses = {row.status for row in group}
    if statuses == {"failed"}:
        return "all failed"
    if statuses == {"filtered"}:
        return "all filtered"
    rewards = [row.reward for row in group if row.reward is not None]
    if max(rewards) - min(rewards) > _SAME:
        return None
    passed = {paid(row) for row in group if row.reward is not None}
    return "all right" if passed == {True} else "all wrong" if passed == {False} else "equal"


def paid(row: ScoredRow) -> bool | None:
    """Whether the judge passes the row: its success. If that is not known, a reward of 1.0 passes, and a reward of 0.0
    or less fails, as does a row without a reward.

    None for any other reward: one between may be partial credit, and one beyond 1 is on another scale.
    """
    if row.success is not None or row.reward is None:
        return bool(row.success)
    return True if abs(row.reward - 1) <= _SAME else False if row.reward <= _SAME else None


def _length_pays(group: Sequence[ScoredRow]) -> float | None:
    """Pearson's correlation of length and reward; None when either is constant, or with fewer than three rewards."""
    pairs = [(float(len(row.answer)), row.reward) for row in group if row.reward is not None]
    if len(pairs) < 3:
        return None
    try:
        return correlation(*zip(*pairs, strict=True))
    except StatisticsError:
        return None


def _shared(rows: Sequence[ScoredRow]) -> float:
    tasks: dict[str, set[str]] = defaultdict(set)
    rewarded = [row for row in rows if paid(row)]
    for row in rewarded:
        tasks[row.answer].add(row.task)
    return sum(len(tasks[row.answer]) > 1 for row in rewarded) / len(rewarded) if rewarded else 0.0


def _parts(rows: Sequence[ScoredRow]) -> dict[str, float]:
    sums: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        for name, value in row.parts.items():
            sums[name.removeprefix("part/")].append(value)
    means = {name: abs(fmean(values)) for name, values in sums.items()}
    total = sum(means.values())
    return {name: mean / total for name, mean in means.items()} if total else {}


Kind = Literal["gamed", "signal", "judge"]
_BASELINE = 10
_WINDOW = 5
_BACKED = 0.2
Reading = Callable[[StepStats], "float | None"]


@dataclass(slots=True)
class Monitor:
    """Watches one number of each step, and worries while its recent mean exceeds a bound.

    Attributes:
        name: the name in alarms.
        kind: the subject: gaming, a lost signal, or the judge itself.
        read: returns the number of a step; None when the step has no such number.
        over: the bound: the monitor worries while the mean of the latest five steps exceeds it.
        message: the text of the alarm, with `{now}` and `{start}`.
        above_start: whether the bound is `over` more than the mean of the first ten steps.
        times_start: whether the bound is `over` times the mean of the first ten steps.
        backed: the correlation that has to agree: the monitor then also worries under 1/`over` times the start, but
            only while the mean of the latest five correlations is at least 0.2 in the direction of the change.
        start: the numbers of the first ten steps.
        window: the numbers of the latest five steps.
        worried: whether the mean exceeds the bound now.
    """

    name: str
    kind: Kind
    read: Reading
    over: float
    message: str
    above_start: bool = False
    times_start: bool = False
    backed: Reading | None = None
    start: list[float] = field(default_factory=list)
    window: deque[float] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    backing: deque[float] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    worried: bool = False

    def update(self, stats: StepStats) -> str | None:
        """Add one step; return the message if the monitor begins to worry, or None."""
        value = self.read(stats)
        if value is None:
            return None
        needs_start = self.above_start or self.times_start
        self.window.append(value)
        if self.backed is not None and (agrees := self.backed(stats)) is not None:
            self.backing.append(agrees)
        if needs_start and len(self.start) < _BASELINE:
            self.start.append(value)
            return None
        if len(self.window) < _WINDOW:
            return None
        now, start = fmean(self.window), fmean(self.start) if self.start else 0.0
        bound = start * self.over if self.times_start else start + self.over if self.above_start else self.over
        before, self.worried = self.worried, now > bound
        if self.backed is not None:
            pays = fmean(self.backing) if self.backing else 0.0
            self.worried = (now > bound and pays >= _BACKED) or (now < start / self.over and pays <= -_BACKED)
        return self.message.format(now=now, start=start) if self.worried and not before else None


def monitors() -> list[Monitor]:
    """A new set of monitors for one run."""
    return [
        Monitor("failed", "judge", lambda s: s.failed, 0.05, "{now:.0%} of the rows have no verdict"),
        Monitor("filtered", "judge", lambda s: s.filtered, 0.5, "rules filter {now:.0%} of the rows"),
        Monitor("undecided", "judge", lambda s: s.undecided, 0.1, "{now:.0%} of the verdicts are undecided"),
        Monitor(
            "latency", "judge", lambda s: s.seconds, 3.0, "a verdict takes {now:.3g} s, {start:.3g} s at the start",
            times_start=True,
        ),
        Monitor("flat groups", "signal", _flat_share, 0.8, "{now:.0%} of the groups have no signal"),
        Monitor(
            "length pays", "gamed", lambda s: s.length_pays, 0.5,
            "longer answers earn more: a correlation of {now:.2f} inside groups",
        ),
        Monitor(
            "length", "gamed", lambda s: s.length, 1.5,
            "answers have {now:.0f} characters, {start:.0f} at the start, and that length earns more",
            times_start=True, backed=lambda s: s.length_pays,
        ),
        Monitor(
            "shared answers", "gamed", lambda s: s.shared, 0.3,
            "{now:.0%} of the paid answers are paid under other tasks too, {start:.0%} at the start", above_start=True,
        ),
        Monitor("one part", "gamed", _largest_part, 0.9, "one part makes up {now:.0%} of the combined reward"),
    ]  # fmt: skip


def _flat_share(stats: StepStats) -> float | None:
    # Training aims at groups with right answers alone, so these are no cause for worry
    poor = sum(count for why, count in stats.flat.items() if why != "all right")
    return poor / stats.groups if stats.groups else None


def _largest_part(stats: StepStats) -> float | None:
    return max(stats.parts.values()) if len(stats.parts) > 1 else None


_JUMP_RECENT = 10
_JUMP_LEAST = 5
# CUSUM (Page 1954) of the fall below the recent mean, in standard deviations: what is allowed in a step, and the bound
_ALLOWED = 1.0
_BOUND = 8.0
_FAR = 4.0


class RewardJumps:
    """Compares each step's mean reward with the ten before it, which follow a run that learns.

    A fall is summed up over steps (CUSUM). If every row of a step suddenly earns the same, the judge, or what it asks,
    is likely out; if the reward is back at the run's start, the run was likely restarted.
    """

    name = "reward jump"

    def __init__(self) -> None:
        self._recent: deque[float] = deque(maxlen=_JUMP_RECENT)
        self._start: list[float] = []
        self._spread = self._fall = 0.0

    def update(self, stats: StepStats) -> tuple[Kind, str] | None:
        """Add one step; return the kind and the message of an alarm, or None."""
        reward = stats.reward
        if reward is None:
            return None
        if len(self._start) < _JUMP_LEAST:
            self._start.append(reward)
        found = self._found(stats, reward) if len(self._recent) >= _JUMP_LEAST else None
        if found is not None:
            # What comes now is compared with what comes after it
            self._recent.clear()
            self._fall = 0.0
        self._recent.append(reward)
        self._spread = stats.spread
        return found

    def _found(self, stats: StepStats, reward: float) -> tuple[Kind, str] | None:
        mean, noise = fmean(self._recent), self._noise(stats)
        if stats.spread < _SAME < self._spread and stats.rows > 1 and abs(reward - mean) > _FAR * noise:
            out = "is the judge, or what it asks, out?"
            return "judge", f"every row earns {reward:.3g} at once, {mean:.3g} on average before: {out}"
        self._fall = max(0.0, self._fall + (mean - reward) / noise - _ALLOWED)
        if self._fall <= _BOUND:
            return None
        start = fmean(self._start)
        fell = f"the reward fell from {mean:.3g} to {reward:.3g}"
        if abs(reward - start) <= 3 * noise:
            return "signal", f"{fell}, where the run began: was it restarted?"
        return "signal", f"{fell}: did the policy, the tasks or the judge change?"

    def _noise(self, stats: StepStats) -> float:
        """The standard deviation that is expected of a step's mean reward: by chance among its rows, or as between
        recent steps, whichever is larger.
        """
        changes = [after - before for before, after in zip(self._recent, list(self._recent)[1:], strict=False)]
        chance = max(stats.spread, self._spread) / math.sqrt(stats.rows)
        return max(chance, pstdev(changes) / math.sqrt(2), _SAME)
