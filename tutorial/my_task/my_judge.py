"""A judge of your own: the share of words that the answer has in common with the reference."""

import re
from typing import Any

from agentscope_tuner import Reward
from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


class MyCustomJudge(BaseJudge):
    """Success when at least `judge_kwargs.threshold` of the words are shared, 0.8 unless the YAML says otherwise."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.threshold = float(config.astuner.task_judge.judge_kwargs.get("threshold", 0.8))

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        answer = words(workflow_output.metadata["final_answer"])
        reference = words(workflow_task.task.metadata["answer"])
        shared, either = len(answer & reference), len(answer | reference)
        similarity = shared / max(either, 1)
        return Reward(similarity, similarity >= self.threshold, reason=f"{shared} of {either} words shared")


def words(text: str) -> set[str]:
    """The words of `text`, in lower case and without punctuation."""
    return set(re.findall(r"\w+", text.lower()))
