r"""Judge a mathematical answer: the last `\boxed{}` of the output against the task's reference."""

from __future__ import annotations

from typing import Any

from agentscope_tuner.config import task_judge_section
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward, final_answer
from agentscope_tuner.verify.boxed import last_boxed
from agentscope_tuner.verify.math.answer import MathVerdict, acompare, compare, compare_exact
from agentscope_tuner.verify.sandbox import Sandbox, shared
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

_NO_BOX = "no \\boxed{} in the answer"


class MathAnswerAsJudge(BaseJudge):
    r"""1.0 and success for an answer that equals the reference mathematically, else 0.0.

    The answer is the last `\boxed{}` of `workflow_output.metadata["final_answer"]`, the reference
    `workflow_task.task.metadata["answer"]`. Settings: `astuner.task_judge.math`.
    """

    judge_kind = "cpu"
    bounds_itself = True

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._settings = task_judge_section(config).math

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        truth = _reference_answer(workflow_task)
        answer = last_boxed(final_answer(workflow_output))
        if answer is None:
            return Reward(0.0, False, reason=_NO_BOX)
        if self._settings.equivalence == "exact":
            return self._reward(compare_exact(answer, truth))
        return self._reward(compare(answer, truth, symbolic=self._sandbox().compare))

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        truth = _reference_answer(workflow_task)
        answer = last_boxed(final_answer(workflow_output))
        if answer is None:
            return Reward(0.0, False, reason=_NO_BOX)
        if self._settings.equivalence == "exact":
            return self._reward(compare_exact(answer, truth))
        return self._reward(await acompare(answer, truth, symbolic=self._sandbox().compare))

    def _sandbox(self) -> Sandbox:
        # looked up each time: the judge may have been pickled or forked into another process since
        return shared(self._settings.workers, self._settings.deadline)

    def _reward(self, verdict: MathVerdict) -> Reward:
        if verdict.outcome == "undecided" and self._settings.on_undecided == "error":
            raise JudgeError(verdict.reason, cause=Cause.UNDECIDED)
        equal = verdict.outcome == "equal"
        return Reward(1.0 if equal else 0.0, equal, reason=verdict.reason)


def _reference_answer(workflow_task: WorkflowTask) -> str:
    metadata = workflow_task.task.metadata
    if "answer" not in metadata:
        raise JudgeError(
            f"the task's metadata has no 'answer', only {sorted(metadata)!r}: name the reference there",
            cause=Cause.REFERENCE,
        )
    truth = metadata["answer"]
    if isinstance(truth, (int, float)) and not isinstance(truth, bool):
        return str(truth)
    if not isinstance(truth, str):
        raise JudgeError(f"the reference answer must be a str or a number, got {truth!r}", cause=Cause.REFERENCE)
    return truth
