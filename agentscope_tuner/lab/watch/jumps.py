"""Sudden falls of a run's reward, and steps in which every row earns the same: told apart from learning."""

from __future__ import annotations

import math
from collections import deque
from statistics import fmean, pstdev

from agentscope_tuner.lab.watch.step_stats import Kind, StepStats

_RECENT = 10
_LEAST = 5
# CUSUM (Page 1954) of the fall below the recent mean, in standard deviations: what is allowed in a step, and the bound
_ALLOWED = 1.0
_BOUND = 8.0
_SAME = 1e-9
_FAR = 4.0


class RewardJumps:
    """Compares each step's mean reward with the ten before it, which follow a run that learns.

    A fall is summed up over steps (CUSUM). If every row of a step suddenly earns the same, the judge, or what it asks,
    is likely out; if the reward is back at the run's start, the run was likely restarted.
    """

    name = "reward jump"

    def __init__(self) -> None:
        self._recent: deque[float] = deque(maxlen=_RECENT)
        self._start: list[float] = []
        self._spread = self._fall = 0.0

    def update(self, stats: StepStats) -> tuple[Kind, str] | None:
        """Add one step; return the kind and the message of an alarm, or None."""
        reward = stats.reward
        if reward is None:
            return None
        if len(self._start) < _LEAST:
            self._start.append(reward)
        found = self._found(stats, reward) if len(self._recent) >= _LEAST else None
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
        """The standard deviation of a step's mean reward: of chance among its rows, or between recent steps."""
        changes = [after - before for before, after in zip(self._recent, list(self._recent)[1:], strict=False)]
        chance = max(stats.spread, self._spread) / math.sqrt(stats.rows)
        return max(chance, pstdev(changes) / math.sqrt(2), _SAME)
