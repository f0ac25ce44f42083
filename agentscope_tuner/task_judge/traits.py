"""How a judge must be called: computed here, once, for the trainers' adapters, the engines and the service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agentscope_tuner.task_judge.base_judge import BaseJudge, Counts


@dataclass(frozen=True, slots=True)
class Traits:
    """How to call a judge, from its class, and for some judges from its settings.

    Attributes:
        name: the class name, for metrics, logs and errors.
        kind: `BaseJudge.judge_kind`: `"cpu"` computes, in processes; `"io"` waits, in the caller's process.
        ranks: `compute_rewards` sees a whole advantage group at once; see `BaseJudge.ranks_groups`.
        awaits: `acompute_reward` is the judge's own, so the event loop that runs it stays free.
        bounded: every verdict ends within a bound of the judge's own; see `BaseJudge.bounds_itself`.
        in_main: the class stands in the main script, where another process does not find it.
    """

    name: str
    kind: Literal["cpu", "io"]
    ranks: bool
    awaits: bool
    bounded: bool
    in_main: bool

    @classmethod
    def of(cls, judge: BaseJudge) -> Traits:
        """The traits of `judge`."""
        if isinstance(judge, AsksJudges):
            return judge.own_traits()
        kind = type(judge)
        return cls(
            name=kind.__name__,
            kind=kind.judge_kind,
            ranks=judge.ranks_groups(),
            awaits=kind.acompute_reward is not BaseJudge.acompute_reward,
            bounded=judge.bounds_itself,
            in_main=kind.__module__ == "__main__",
        )

    @classmethod
    def over(cls, judge: BaseJudge, asked: Sequence[Traits], *, bounded: bool) -> Traits:
        """The traits of `judge`, which asks judges with the traits `asked`."""
        return cls(
            name=type(judge).__name__,
            kind="cpu" if all(traits.kind == "cpu" for traits in asked) else "io",
            ranks=any(traits.ranks for traits in asked),
            awaits=any(traits.awaits for traits in asked),
            bounded=bounded,
            in_main=any(traits.in_main for traits in asked),
        )

    @property
    def shares_loop(self) -> bool:
        """Whether many units may be judged at once on one event loop: ranking is a call that blocks."""
        return self.awaits and not self.ranks


class AsksJudges(BaseJudge):
    """The base of judges that ask other judges; their traits follow from the judges that they ask."""

    def own_traits(self) -> Traits:
        """The traits of this judge."""
        raise NotImplementedError(f"{type(self).__name__} must define own_traits()")

    def asked_judges(self) -> Mapping[str, BaseJudge]:
        """The judges that it asks, by name."""
        raise NotImplementedError(f"{type(self).__name__} must define asked_judges()")

    def run_notes(self) -> list[str]:
        """See BaseJudge: those of each, under its name."""
        return [f"{name}: {note}" for name, judge in self.asked_judges().items() for note in judge.run_notes()]

    def take_counts(self) -> Counts:
        """See BaseJudge: those of each, under its name."""
        taken = ((name, judge.take_counts()) for name, judge in self.asked_judges().items())
        return {f"{name}: {key}": numbers for name, counts in taken for key, numbers in counts.items()}

    def notes_on(self, counts: Counts) -> list[str]:
        """See BaseJudge: those of each, under its name."""
        notes = []
        for name, judge in self.asked_judges().items():
            own = {key.removeprefix(f"{name}: "): n for key, n in counts.items() if key.startswith(f"{name}: ")}
            notes += [f"{name}: {note}" for note in judge.notes_on(own)]
        return notes
