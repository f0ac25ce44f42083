"""Judges for the tests of the service: they wait, break, cost something, and tell what became of them in files."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentscope_tuner import BaseJudge, JudgeError, Reward, WorkflowOutput, WorkflowTask


class _Telling(BaseJudge):
    def tell(self, what: str, task: WorkflowTask) -> None:
        folder = Path(self.config.astuner.task_judge.judge_kwargs.folder)
        (folder / f"{what}-{task.task_id}").touch()

    def goes_on(self) -> bool:
        return (Path(self.config.astuner.task_judge.judge_kwargs.folder) / "go").exists()


class Waits(_Telling):
    """Awaits until the file `go` is there; tells of a cancellation."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        self.tell("begun", workflow_task)
        try:
            while not self.goes_on():
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            self.tell("cancelled", workflow_task)
            raise
        self.tell("ended", workflow_task)
        return 1.0, True


class HangsOnOne(BaseJudge):
    """Never answers about the answer "hang", and pays any other at once."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        if workflow_output.metadata["final_answer"] == "hang":
            await asyncio.Event().wait()
        return 1.0, True


class RanksOrHangs(HangsOnOne):
    """The same of advantage groups, which it ranks in a thread."""

    def compute_rewards(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> Any:
        while any(output.metadata["final_answer"] == "hang" for output in workflow_outputs):
            time.sleep(0.01)
        return [(1.0, True) for _ in workflow_outputs]


class Blocks(_Telling):
    """The same in a thread, which nothing can cancel."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        self.tell("begun", workflow_task)
        while not self.goes_on():
            time.sleep(0.01)
        return 1.0, True


class Breaks(BaseJudge):
    """Fails in the way that the answer asks for."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        answer = workflow_output.metadata["final_answer"]
        if answer == "cancels itself":
            raise asyncio.CancelledError
        if answer == "interrupts":
            raise KeyboardInterrupt
        ways: dict[str, Any] = {"nan": (float("nan"), True), "none": None, "text": ("1.0", True)}
        if answer in ways:
            return ways[answer]
        raise {"exit": SystemExit, "judge": JudgeError, "memory": MemoryError}.get(answer, ValueError)(f"on {answer}")


class BreaksInAThread(BaseJudge):
    """Fails in ways that a thread does not hand on to an event loop, or that end the loop."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        if workflow_output.metadata["final_answer"] == "interrupts":
            raise KeyboardInterrupt
        return next(iter(()))


class Costs(BaseJudge):
    """Reports what a judge model's verdict costs."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        metrics = {"judge_calls": 2.0, "judge_prompt_tokens": 30.0, "judge_completion_tokens": 4.0, "judge_cost": 0.5}
        return Reward(1.0, True, metrics=metrics)


class Shortest(BaseJudge):
    """Ranks an advantage group: the shortest answer wins."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        raise JudgeError("an answer alone has no rank")

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> list[tuple[float, bool]]:
        lengths = [len(output.metadata["final_answer"]) for output in workflow_outputs]
        return [(float(length == min(lengths)), length == min(lengths)) for length in lengths]


class NotReady(BaseJudge):
    """Depends on something that is down."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        return 1.0, True

    async def aready(self) -> None:
        raise JudgeError("what it depends on is down")
