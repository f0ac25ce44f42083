"""How not to judge: any text with the reference in it passes. `train_trl.py` shows what a policy makes of that."""

from __future__ import annotations

from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


class SubstringJudge(BaseJudge):
    """1.0 when the reference occurs in the answer: a list of all digits is always right."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        found = str(workflow_task.task.metadata["answer"]) in workflow_output.metadata["final_answer"]
        return float(found), found
