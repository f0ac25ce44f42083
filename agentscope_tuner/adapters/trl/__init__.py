"""TRL: reward functions for `GRPOTrainer(reward_funcs=…)` and its kin, TRL 1.16 or newer.

    trainer = GRPOTrainer(model, reward_funcs=reward_func("configs/math.yaml"), train_dataset=dataset, ...)
    trainer = GRPOTrainer(model, reward_funcs=combined(["configs/math.yaml", brevity], weights=[1.0, 0.1]), ...)

GRPO and RLOO read None as "not scored": the completion gets advantage 0 and stays out of its group's baseline. A failed
verdict becomes None. With a second reward function they sum the rewards of both, and a missing part counts as 0. So
`combined` makes one function of several, which answers None where any of them has no verdict.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agentscope_tuner.adapters.rollout import batch_metrics
from agentscope_tuner.adapters.trl.combined import combined
from agentscope_tuner.adapters.trl.functions import (
    AsyncRewardFunc,
    RewardFunc,
    async_reward_func,
    check_reward_funcs,
    reward_func,
)

if TYPE_CHECKING:
    from agentscope_tuner.lab.watch.live import stop_when_gamed

__all__ = [
    "AsyncRewardFunc",
    "RewardFunc",
    "async_reward_func",
    "batch_metrics",
    "check_reward_funcs",
    "combined",
    "reward_func",
    "stop_when_gamed",
]


def __getattr__(name: str) -> Any:
    # The one door to the lab: a training that is not watched never loads it
    if name == "stop_when_gamed":
        return import_module("agentscope_tuner.lab.watch.live").stop_when_gamed
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
