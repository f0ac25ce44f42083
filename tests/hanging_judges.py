"""Judges that never reach a verdict, each in another way; `release` lets those go that block a thread."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from agentscope_tuner import BaseJudge, WorkflowOutput, WorkflowTask

_released = threading.Event()
Pair = tuple[float, bool]


@contextlib.contextmanager
def release() -> Iterator[None]:
    """Let all that hang in a thread come back in the end, so that a test leaves no thread behind."""
    _released.clear()
    try:
        yield
    finally:
        _released.set()


class Blocks(BaseJudge):
    """Waits in its thread, as `urlopen` without a time limit does."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Pair:
        _released.wait(3600)
        return 1.0, True


class Awaits(BaseJudge):
    """Awaits for an hour."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Pair:
        await asyncio.sleep(3600)
        return 1.0, True


class Swallows(BaseJudge):
    """Awaits, and does not end when it is cancelled."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Pair:
        while not _released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.05)
        return 1.0, True


class BlocksItsLoop(BaseJudge):
    """Calls what blocks from an async method."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Pair:
        _released.wait(3600)
        return 1.0, True


class RanksForEver(Blocks):
    """Ranks groups, and hangs at it."""

    def compute_rewards(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> list[Pair]:
        return [self.compute_reward(workflow_task, output) for output in workflow_outputs]


class RanksLazily(Blocks):
    """Hangs only once its answer is read."""

    def compute_rewards(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> Any:
        return (self.compute_reward(workflow_task, output) for output in workflow_outputs)


class Computes(BaseJudge):
    """Never returns to the interpreter on `hang`: no other thread of its process runs again."""

    judge_kind = "cpu"

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Pair:
        if workflow_output.metadata["final_answer"] == "hang":
            pow(7, 10**9)
        return 1.0, True


class RanksByComputing(Computes):
    """Ranks groups, and never returns to the interpreter."""

    judge_kind = "cpu"

    def compute_rewards(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> list[Pair]:
        return [self.compute_reward(workflow_task, output) for output in workflow_outputs]


class SomeHang(BaseJudge):
    """Blocks on `hang`, and judges everything else."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Pair:
        if workflow_output.metadata["final_answer"] == "hang":
            _released.wait(3600)
        return 1.0, True
