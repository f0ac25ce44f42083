"""Totals over the rollouts of a run, in addition to the totals over their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentscope_tuner.rollouts.rows import RolloutRow

# Rewards of a group that differ by less than this count as equal
_SPREAD = 1e-9
_MOST_STATUSES = 50


@dataclass(slots=True)
class RolloutTally:
    """Counts over groups; the object does not grow with their number."""

    groups: int = 0
    spread: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    rows: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    # Trainable roles that have made no call so far
    unheard: set[str] = field(default_factory=set)

    def add(self, group: Sequence[RolloutRow]) -> None:
        """Count one group."""
        self.groups += 1
        rewards = [row.judgement.reward for row in group if row.judgement.reward is not None]
        self.spread += bool(rewards) and max(rewards) - min(rewards) > _SPREAD
        for row in group:
            self.rows += 1
            status = row.played.status
            self.statuses[status if status in self.statuses or len(self.statuses) < _MOST_STATUSES else "(others)"] += 1
            self.seconds += row.played.seconds
            for call in row.played.trajectory:
                self.calls += 1
                self.unheard.discard(str(call.get("role")))
                self.prompt_tokens += _count(call.get("prompt_tokens"))
                self.completion_tokens += _count(call.get("completion_tokens"))

    def lines(self) -> list[tuple[str, str]]:
        """The heading and the value of each line of the summary."""
        if not self.rows:
            return []
        told = [(f"rollouts {status}", str(count)) for status, count in self.statuses.most_common()]
        told.append(("groups", str(self.groups)))
        # If all rewards of a group are the same, its advantages are 0, and GRPO learns nothing from it
        told.append(("groups with a spread of rewards", f"{self.spread} ({self.spread / self.groups:.1%})"))
        told.append(("seconds a rollout", f"{self.seconds / self.rows:.2f}"))
        told.append(("model calls", f"{self.calls:,} ({self.calls / self.rows:.1f} a rollout)"))
        told.append(("tokens", f"{self.prompt_tokens:,} in, {self.completion_tokens:,} out"))
        if self.unheard:
            # A role without any call is probably misspelt
            told.append(("trainable_targets without a call", ", ".join(sorted(self.unheard))))
        return told


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
