"""The judge of workflows that compute their reward themselves: it checks the reward and passes it on."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any

from omegaconf import DictConfig

from agentscope_tuner.config import StrictSection, task_judge_section, validate_section
from agentscope_tuner.errors import input_error
from agentscope_tuner.task_judge.base_judge import KWARGS, BaseJudge, Reward
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

_log = logging.getLogger(__name__)


class WorkflowRewardConfig(StrictSection):
    """WorkflowRewardJudge's `astuner.task_judge.judge_kwargs`."""

    #: whether `workflow_output.metadata["turn_rewards"]` holds what each turn earned: numbers or None, whose sum is the
    #: reward
    turns: bool = False


class WorkflowRewardJudge(BaseJudge):
    """`workflow_output.reward` and `workflow_output.is_success`, as the workflow set them.

    Rules run before it, as before any judge. The workflow is trusted: its reward is not checked against the policy's
    text.

    Raises:
        JudgeError: the workflow set no reward, one that is not finite, or no `is_success`; or, with `turns: true`, no
            `turn_rewards` that add up to it.
    """

    judge_kind = "cpu"
    bounds_itself = True
    reads_own_reward = True

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        own = type(self) is WorkflowRewardJudge and isinstance(config, Mapping | DictConfig)
        given = task_judge_section(config).judge_kwargs if own else {}
        self.gives_turns = validate_section(WorkflowRewardConfig, given, KWARGS).turns

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        reward, is_success = workflow_output.reward, workflow_output.is_success
        if reward is None:
            raise input_error(
                "workflow_output.reward is None: this judge passes on the reward that the workflow sets; name another "
                "judge where the workflow sets none"
            )
        if not math.isfinite(reward):
            raise input_error(f"workflow_output.reward must be a finite number, got {reward!r}")
        if not isinstance(is_success, bool):
            raise input_error(
                f"workflow_output.is_success must be True or False beside the reward {reward!r}, got {is_success!r}"
            )
        turns: Any = workflow_output.metadata.get("turn_rewards") if self.gives_turns else ()
        turns = turns.tolist() if hasattr(turns, "tolist") else turns
        if self.gives_turns and not turns:
            raise input_error(
                f"turns: true reads workflow_output.metadata['turn_rewards'], a number or None for each turn, "
                f"got {turns!r}"
            )
        return Reward(reward, is_success, reason="the workflow's own reward", turns=turns or ())


def warn_passed_over(reward: float | None, judge: str) -> bool:
    """Warn that the workflow's own `reward` is ignored; returns True, for the caller's note that it has warned."""
    _log.warning(
        "the workflow set a reward of its own, %r, which is passed over: %s judges. To keep the workflow's, set "
        "judge_protocol: %s->%s",
        reward,
        judge,
        __name__,
        WorkflowRewardJudge.__name__,
    )
    return True
