"""The base of the judges that read a text by fixed rules."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from agentscope_tuner.config import SECTION, StrictSection, task_judge_section, validate_section
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

#: Where these judges' settings stand.
KWARGS = f"{SECTION}.judge_kwargs"

SettingsT = TypeVar("SettingsT", bound=StrictSection)


class TextJudge(BaseJudge, Generic[SettingsT]):
    """A judge that computes, calls no service, and ends within a bound whatever the policy wrote.

    A subclass names the model of its `judge_kwargs` as `settings_class`, which is read into `settings` and checked
    once, and defines `verdict`; both forms of the trainer's call come from it.

    Raises:
        ConfigError: `judge_kwargs` has an unknown key or an impossible value; names the key, the value and what is
            allowed.
    """

    judge_kind = "cpu"
    bounds_itself = True
    settings_class: type[SettingsT]

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.settings = validate_section(self.settings_class, task_judge_section(config).judge_kwargs, KWARGS)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """The verdict on one rollout; raises as `BaseJudge.compute_reward` does."""
        raise NotImplementedError(f"{type(self).__name__} must define verdict(task, output)")

    def reference(self, task: Task) -> object:
        """What `verdict` compares with, where the task has a reference.

        Raises:
            JudgeError: the reference is missing or cannot be read.
        """
        return None

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        return self.verdict(workflow_task, workflow_output)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        # A verdict is bounded, so it needs no thread
        return self.verdict(workflow_task, workflow_output)

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: why `reference` cannot be read."""
        try:
            self.reference(task)
        except JudgeError as error:
            return f"{self.reference_problem(task, error)}: {error.message}"
        return None

    def reference_problem(self, task: Task, error: JudgeError) -> str:
        """The kind of problem with a reference: `missing`, or `unreadable`."""
        return "missing" if task.metadata.get("answer") is None else "unreadable"


def as_list(value: object) -> list[Any] | None:
    """A list of a task's metadata, which data sets read from Parquet give as numpy's array; None for anything else."""
    if isinstance(value, list | tuple):
        return list(value)
    plain = value.tolist() if hasattr(value, "tolist") else None
    return plain if isinstance(plain, list) else None
