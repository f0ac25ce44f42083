"""The base of the judges that read a text by fixed rules."""

from __future__ import annotations

from typing import Any, TypeVar

from agentscope_tuner.config import SECTION, StrictSection, task_judge_section, validate_section
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

#: Where these judges' settings stand.
KWARGS = f"{SECTION}.judge_kwargs"

SettingsT = TypeVar("SettingsT", bound=StrictSection)


class TextJudge(BaseJudge):
    """A judge that computes, calls no service, and ends within a bound whatever the policy wrote.

    A subclass defines `verdict`; both forms of the trainer's call come from it.
    """

    judge_kind = "cpu"
    bounds_itself = True

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """The verdict on one rollout; raises as `BaseJudge.compute_reward` does."""
        raise NotImplementedError(f"{type(self).__name__} must define verdict(task, output)")

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        return self.verdict(workflow_task, workflow_output)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        # A verdict is bounded, so it needs no thread
        return self.verdict(workflow_task, workflow_output)


def as_list(value: object) -> list[Any] | None:
    """A list of a task's metadata, which data sets read from Parquet give as numpy's array; None for anything else."""
    if isinstance(value, list | tuple):
        return list(value)
    plain = value.tolist() if hasattr(value, "tolist") else None
    return plain if isinstance(plain, list) else None


def read_kwargs(model: type[SettingsT], config: Any) -> SettingsT:
    """`astuner.task_judge.judge_kwargs` as `model`.

    Raises:
        ConfigError: an unknown key or an impossible value; names the key, the value and what is allowed.
    """
    return validate_section(model, task_judge_section(config).judge_kwargs, KWARGS)
