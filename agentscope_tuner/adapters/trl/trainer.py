"""Which trainer calls a reward function, and how this trainer treats a missing reward.

Read in TRL 1.16.0. GRPO, RLOO and AsyncGRPO leave a completion out when no reward function scored it, and count a
missing reward as 0 when another function did. OnlineDPO and SDPO count every missing reward as 0. A2PO takes no missing
reward: its tensor of rewards refuses None.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agentscope_tuner.errors import JudgeError

LogMetric = Callable[[str, float], None]
LogExtra = Callable[[str, list[Any]], None]

# The first TRL release whose GRPO and RLOO leave out a completion without a score
_LEAVES_OUT_SINCE = (1, 10)


class NamedFunction(Protocol):
    """A reward function of this package: TRL logs it under its `__name__`."""

    __name__: str


@dataclass(frozen=True, slots=True)
class Caller:
    """The trainer behind one call of a reward function.

    Attributes:
        group_size: completions of one prompt, side by side in the batch; None where the call does not tell.
        beside: names of the trainer's other reward functions, where the called one counts.
        leaves_none_out: whether a completion without any score is left out of the advantages.
    """

    group_size: int | None
    beside: tuple[str, ...]
    leaves_none_out: bool

    def rewards_or_raise(self, name: str, rewards: Sequence[float | None], errors: Sequence[str]) -> list[float | None]:
        """The rewards; raises where the trainer would count a missing reward as 0.

        Args:
            name: the reward function's name.
            rewards: one for each completion, None without a verdict.
            errors: why there is no verdict, at least for the first such completion.

        Raises:
            JudgeError: a verdict failed, and the trainer would count it as 0.
        """
        failed = sum(reward is None for reward in rewards)
        if not failed or (self.leaves_none_out and not self.beside):
            return list(rewards)
        why = next((error for error in errors if error), "no reason given")
        if self.beside:
            raise JudgeError(
                f"{name} has no verdict on {failed} of {len(rewards)} completions, and beside {', '.join(self.beside)} "
                f"TRL would count that as 0: give the trainer one adapters.trl.combined([...], weights=[...]). {why}"
            )
        raise JudgeError(
            f"{name} has no verdict on {failed} of {len(rewards)} completions, and this trainer counts a missing "
            f"reward as 0 (OnlineDPO and SDPO do, and GRPO before TRL 1.10). {why}"
        )


def caller_of(function: NamedFunction, trainer_state: object, log_metric: LogMetric | None) -> Caller:
    """The calling trainer, known by the arguments that it gives its reward functions.

    GRPO and RLOO lend their own method as `log_metric`, which leads to the trainer. OnlineDPO and SDPO give their state
    and no `log_metric`; AsyncGRPO gives neither, and so does a call of the user's own.
    """
    trainer = getattr(log_metric, "__self__", None)
    if not isinstance(getattr(trainer, "reward_funcs", None), list):
        counts_as_zero = log_metric is None and type(trainer_state).__name__ == "TrainerState"
        return Caller(None, (), not counts_as_zero)
    return Caller(_group_size(trainer), _beside(function, trainer), _release() >= _LEAVES_OUT_SINCE)


def check_reward_funcs(trainer: object) -> None:
    """Warn where a judge's bare reward function stands beside others in `trainer`; call it when the trainer is built.

    Under GRPO and RLOO the first batch warns as well. AsyncGRPO does not tell a reward function about the others, so
    there only this check can warn.
    """
    # AsyncGRPO keeps the reward functions in its rollout worker
    holder = trainer if hasattr(trainer, "reward_funcs") else getattr(trainer, "rollout_worker", None)
    for function in getattr(holder, "reward_funcs", ()):
        if getattr(function, "may_fail", False):
            warn_beside(function.__name__, _beside(function, holder))


def warn_beside(name: str, beside: Sequence[str]) -> None:
    """Warn that beside other reward functions a failed verdict of `name` counts as 0."""
    if beside:
        warnings.warn(
            f"the reward function {name} stands beside {', '.join(beside)}: TRL sums what they answer and counts a "
            "missing part as 0, so a failed verdict will end training. "
            "Give the trainer one adapters.trl.combined([...], weights=[...]) instead",
            stacklevel=2,
        )


def _beside(function: NamedFunction, trainer: Any) -> tuple[str, ...]:
    functions = list(getattr(trainer, "reward_funcs", ()))
    places = [place for place, other in enumerate(functions) if other is function]
    weights = getattr(trainer, "reward_weights", None)
    # a function of weight 0 only observes: without a verdict it adds 0 either way
    if not places or (weights is not None and float(weights[places[0]]) == 0.0):
        return ()
    # The names include environments that give rewards
    named = list(getattr(trainer, "reward_func_names", ())) or [_name(other) for other in functions]
    return tuple(name for place, name in enumerate(named) if place != places[0])


def _name(function: object) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _group_size(trainer: Any) -> int | None:
    training = getattr(getattr(trainer, "model", None), "training", True)
    size = getattr(trainer, "num_generations" if training else "num_generations_eval", None)
    return size if isinstance(size, int) and size > 0 else None


def _release() -> tuple[int, ...]:
    """The numbers of the installed TRL's version. TRL is loaded already, since one of its trainers calls."""
    version = getattr(sys.modules.get("trl"), "__version__", "")
    numbers = [part for part in version.split(".")[:2] if part.isdigit()]
    # A build without a version is the user's own
    return tuple(int(part) for part in numbers) or _LEAVES_OUT_SINCE
