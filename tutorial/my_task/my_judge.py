"""A judge of your own: the share of words that the answer has in common with the reference."""

from typing import Any

from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


class MyCustomJudge(BaseJudge):
    """Success when at least `judge_kwargs.threshold` of the words are shared, 0.8 unless the YAML says otherwise."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.threshold = float(config.astuner.task_judge.judge_kwargs.get("threshold", 0.8))

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        answer = set(workflow_output.metadata["final_answer"].lower().split())
        reference = set(workflow_task.task.metadata["answer"].lower().split())
        similarity = len(answer & reference) / max(len(answer | reference), 1)
        return similarity, similarity >= self.threshold
