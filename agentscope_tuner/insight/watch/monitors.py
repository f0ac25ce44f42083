"""Monitors of a run: each compares one number of every step with a bound, or with the run's first steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from agentscope_tuner.insight.watch.step_stats import StepStats

Kind = Literal["gamed", "signal", "judge"]
_BASELINE = 10
_WINDOW = 5
Reading = Callable[[StepStats], "float | None"]


@dataclass(slots=True)
class Monitor:
    """One monitor.

    Attributes:
        name: the name in alarms.
        kind: the subject: gaming, a lost signal, or the judge itself.
        read: returns the number of a step; None when the step has no such number.
        over: the bound: the monitor worries while the mean of the latest five steps exceeds it.
        message: the text of the alarm, with `{now}` and `{start}`.
        above_start: whether the bound is `over` more than the mean of the first ten steps.
        times_start: whether the bound is `over` times the mean of the first ten steps.
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
    start: list[float] = field(default_factory=list)
    window: deque[float] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    worried: bool = False

    def update(self, stats: StepStats) -> str | None:
        """Add one step; return the message if the monitor begins to worry, or None."""
        value = self.read(stats)
        if value is None:
            return None
        needs_start = self.above_start or self.times_start
        self.window.append(value)
        if needs_start and len(self.start) < _BASELINE:
            self.start.append(value)
            return None
        if len(self.window) < _WINDOW:
            return None
        now, start = fmean(self.window), fmean(self.start) if self.start else 0.0
        bound = start * self.over if self.times_start else start + self.over if self.above_start else self.over
        before, self.worried = self.worried, now > bound
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
        Monitor("flat groups", "signal", _flat, 0.8, "{now:.0%} of the groups have no signal"),
        Monitor(
            "length pays", "gamed", lambda s: s.length_pays, 0.5,
            "longer answers earn more: a correlation of {now:.2f} inside groups",
        ),
        Monitor(
            "length", "gamed", lambda s: s.length, 1.5, "answers have {now:.0f} characters, {start:.0f} at the start",
            times_start=True,
        ),
        Monitor(
            "shared answers", "gamed", lambda s: s.shared, 0.3,
            "{now:.0%} of the paid answers are paid under other tasks too, {start:.0%} at the start", above_start=True,
        ),
        Monitor("one part", "gamed", _largest_part, 0.9, "one part makes up {now:.0%} of the combined reward"),
    ]  # fmt: skip


def _flat(stats: StepStats) -> float | None:
    # Training aims at groups with right answers alone, so these are no cause for worry
    poor = sum(count for why, count in stats.flat.items() if why != "all right")
    return poor / stats.groups if stats.groups else None


def _largest_part(stats: StepStats) -> float | None:
    return max(stats.parts.values()) if len(stats.parts) > 1 else None
