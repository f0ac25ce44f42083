"""Estimates the use of judge models by a judge behind its rules, without asking any model."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_tuner.graders.reckoning import Estimate, Reckoner
from agentscope_tuner.task_judge.task_judge import TaskJudge
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


def estimate_of(
    judge: TaskJudge, task: WorkflowTask, outputs: Sequence[WorkflowOutput], reckoner: Reckoner
) -> tuple[int, Estimate]:
    """How many outputs of one task the rules leave to the judge, and what it would use on them.

    Raises:
        JudgeError: there would be no verdict.
    """
    left = [output for output in outputs if judge.prefilter.check(task, output)[0] is None]
    return len(left), judge.inner.estimate(task, left, reckoner) if left else Estimate()
