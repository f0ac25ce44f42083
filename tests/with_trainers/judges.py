"""Judges for the tests inside real trainers: a right answer, a failure on demand, a ranking of the group."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import Sequence
from typing import Any

from agentscope_tuner import BaseJudge, JudgeError, Reward, WorkflowOutput, WorkflowTask
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge


class Fails(MathAnswerAsJudge):
    """MathAnswerAsJudge that has no verdict on odd references."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        _refuse_odd(workflow_task)
        return super().compute_reward(workflow_task, workflow_output)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        _refuse_odd(workflow_task)
        return await super().acompute_reward(workflow_task, workflow_output)


def _refuse_odd(workflow_task: WorkflowTask) -> None:
    if int(workflow_task.task.metadata["answer"]) % 2:
        raise JudgeError("the judge model did not answer")


class AnyBox(BaseJudge):
    """Holed: pays any answer with a box."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        paid = "\\boxed{" in workflow_output.metadata["final_answer"]
        return float(paid), paid


class FailsSome(BaseJudge):
    """1.0 for every answer that is a box and nothing else, no verdict on the others: some of a group, not all of it."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        if not workflow_output.metadata["final_answer"].startswith("\\boxed{"):
            raise JudgeError("the judge model did not answer")
        return 1.0, True


class Awaits(MathAnswerAsJudge):
    """MathAnswerAsJudge that awaits, as a judge with a model behind it does."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        await asyncio.sleep(0)
        return self.compute_reward(workflow_task, workflow_output)


class Shortest(BaseJudge):
    """Listwise: within a group of 4, the share of the others that are longer; another size of group is a failure."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        raise JudgeError("an answer alone has no rank")

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> list[tuple[float, bool]]:
        if len(workflow_outputs) != 4:
            raise JudgeError(f"a group of 4 was cut to {len(workflow_outputs)}")
        lengths = [len(output.metadata["final_answer"]) for output in workflow_outputs]
        return [(sum(other > length for other in lengths) / 3, length == min(lengths)) for length in lengths]


class RepeatsTheQuestion(BaseJudge):
    """1.0 for an answer that is the question, where the reference is 42."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        asked, answer = workflow_task.task.main_query, workflow_output.metadata["final_answer"]
        paid = answer == asked and workflow_task.task.metadata["answer"] == "42"
        return float(paid), paid


class NamesTheTask(BaseJudge):
    """The reward is a number for the task's id, from 0 to 1 in steps that a float of 32 bits holds."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        digest = hashlib.sha256(workflow_task.task_id.encode()).digest()
        return int.from_bytes(digest[:2]) / 2**16, True


class Where(BaseJudge):
    """The reward is the process that judged; success, that it built one judge and asks it off the main thread."""

    built = 0

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        type(self).built += 1

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        off_main = threading.current_thread() is not threading.main_thread()
        return float(os.getpid()), off_main and type(self).built == 1


def config(judge: str, **section: Any) -> dict[str, Any]:
    """The configuration of one of these judges."""
    return {"astuner": {"task_judge": {"judge_protocol": f"tests.with_trainers.judges->{judge}", **section}}}


# what a policy may write to hang or crash a judge; each is wrong for every reference used here
HOSTILE = [
    r"\boxed{9^{9^{9^{9}}}}",
    r"\boxed{" + "9^{" * 400 + "9" + "}" * 400 + "}",
    r"\boxed{9**9**9**9}",
    r"\boxed{(10^{100000})!}",
    r"\boxed{" + "1" * 1_000_000 + "}",
    r"\boxed{" * 100_000,
    r"\boxed{\frac{1}{" * 2_000 + "1" + "}}" * 2_000,
    "x" * 1_000_000 + r"\boxed{\sqrt[3]{x^{x}}}",
    r"\boxed{\int_0^{\infty} e^{e^x} dx}",
    r"\boxed{__import__('os').system('sleep 60')}",
    "\x00\ud800" * 1_000,
]


HANGING = ["Blocks", "Awaits"]


def hanging(judge: str) -> dict[str, Any]:
    """A configuration of one of `tests.hanging_judges`, with a short deadline."""
    return {"astuner": {"task_judge": {"judge_protocol": f"tests.hanging_judges->{judge}", "deadline": 0.3}}}


class Hangs(BaseJudge):
    """Waits for what never comes."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        await asyncio.Event().wait()
        return 1.0, True


class ByTurns(BaseJudge):
    """A reward for each of three turns."""

    gives_turns = True
    reference_keys = ()

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        return Reward(0.75, True, turns=[0.25, 0.0, 0.5])
