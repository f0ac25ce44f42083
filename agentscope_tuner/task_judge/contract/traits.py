"""How a judge must be called: computed here, once, for the trainers' adapters, the engines and the service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentscope_tuner.task_judge.base_judge import BaseJudge


@dataclass(frozen=True, slots=True)
class Traits:
    """How to call a judge, from its class, from its settings, and from the judges that it asks.

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
        """The traits of `judge`. A judge that asks others computes, awaits and stands where they do."""
        own = type(judge)
        kind, awaits = own.judge_kind, own.acompute_reward is not BaseJudge.acompute_reward
        in_main = own.__module__ == "__main__"
        if judge.asks:
            asked = [each.traits for each in judge.asks.values()]
            kind = "cpu" if all(traits.kind == "cpu" for traits in asked) else "io"
            awaits = any(traits.awaits for traits in asked)
            in_main = any(traits.in_main for traits in asked)
        return cls(own.__name__, kind, judge.ranks_groups(), awaits, judge.bounds_itself, in_main)

    @property
    def shares_loop(self) -> bool:
        """Whether many units may be judged at once on one event loop: ranking is a call that blocks."""
        return self.awaits and not self.ranks
