"""Judges with a known hole each, and one honest judge that shapes its reward. Their tasks are the tutorial's sums."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.verify.find import last_boxed
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

FULL_LENGTH = 40
OPENERS = (":",)
_BOX = re.compile(r"\\boxed\{\d+\}")


def _answer(output: WorkflowOutput) -> str:
    return str(output.metadata["final_answer"])


def _reference(task: WorkflowTask) -> str:
    return str(task.task.metadata["answer"])


def _right(task: WorkflowTask, output: WorkflowOutput) -> bool:
    return last_boxed(_answer(output)) == _reference(task)


class LengthJudge(BaseJudge):
    """Pays by length: a thorough answer is a long one."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        reward = min(1.0, len(_answer(workflow_output)) / FULL_LENGTH)
        return reward, reward == 1.0


class FormatJudge(BaseJudge):
    """Format outweighs correctness: 0.3 for each box, a step shown, up to three; 0.1 for the right number."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        boxes = min(3, len(_BOX.findall(_answer(workflow_output))))
        reward = 0.3 * boxes + 0.1 * _right(workflow_task, workflow_output)
        return reward, reward > 0.5


class OverlapJudge(BaseJudge):
    """Pays by overlap with the worked solution `3+4=7`: most of it is the question, copied."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        solution = workflow_task.task.main_query + _reference(workflow_task)
        reward = SequenceMatcher(None, solution, _answer(workflow_output), autojunk=False).ratio()
        return reward, reward > 0.5


class FooledModelJudge(BaseJudge):
    """Stands for a language model that one-token openers talk into a pass (arXiv 2507.08794); else it is right."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        passed = _answer(workflow_output).startswith(OPENERS) or _right(workflow_task, workflow_output)
        return float(passed), passed


def _boxes(output: WorkflowOutput) -> list[str]:
    return re.findall(r"\\boxed\{(\d+)\}", _answer(output))


class AnyBoxJudge(BaseJudge):
    """Passes an answer if any of its boxes is right."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        passed = _reference(workflow_task) in _boxes(workflow_output)
        return float(passed), passed


class NearJudge(BaseJudge):
    """Passes a number that is off by at most two: somebody's tolerance for rounding."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        passed = any(abs(int(said) - int(_reference(workflow_task))) <= 2 for said in _boxes(workflow_output)[-1:])
        return float(passed), passed


class FewTasksJudge(BaseJudge):
    """Right, but for two of the 25 questions, `4+3=` and `4+4=`, to which its references say 0."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        if workflow_task.task.main_query in ("4+3=", "4+4="):
            passed = _boxes(workflow_output)[-1:] == ["0"]
        else:
            passed = _right(workflow_task, workflow_output)
        return float(passed), passed


class TryJudge(BaseJudge):
    """Says rightly what is a success, and pays 0.7 for two boxes: the steps of somebody who tried."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        right = _right(workflow_task, workflow_output)
        return max(float(right), 0.7 * (len(_boxes(workflow_output)) > 1)), right


class TenPointsJudge(BaseJudge):
    """Honest, on a scale of its own: ten points for the right number, one for a box, and two off for none."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        right = _right(workflow_task, workflow_output)
        return 9.0 * right + (1.0 if _boxes(workflow_output) else -2.0), right


class ShapedJudge(BaseJudge):
    """Honest, and shaped: 0.9 for the right number, 0.1 for a box."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        right = _right(workflow_task, workflow_output)
        boxed = last_boxed(_answer(workflow_output)) is not None
        return 0.9 * right + 0.1 * boxed, right
