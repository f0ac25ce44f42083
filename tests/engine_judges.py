"""Judges for the engines' tests, in a module of their own: worker processes import it.

What a judge is to do with a row stands in the row: `metadata["do"]`. `judge_kwargs.notes` is a folder for what it did.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from agentscope_tuner import BaseJudge, Reward, WorkflowOutput, WorkflowTask


class Obedient(BaseJudge):
    """Computes in worker processes. Notes each row before it judges, does what the row says, and notes it after."""

    judge_kind = "cpu"

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.notes = Path(config.astuner.task_judge.judge_kwargs.notes)
        self.note("pids", str(os.getpid()))

    def note(self, name: str, text: str) -> None:
        """One line, in one write: processes share the file."""
        descriptor = os.open(self.notes / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{text}\n".encode())
        os.close(descriptor)

    def first_time(self, name: str) -> bool:
        """Whether no process has asked this before."""
        try:
            os.close(os.open(self.notes / f"once-{name}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        name, do = workflow_task.task_id, workflow_task.task.metadata.get("do")
        self.note("begun", name)
        if do == "die" or (do == "die once" and self.first_time(name)):
            os.kill(os.getpid(), signal.SIGKILL)
        if do == "exit":
            os._exit(7)
        if do == "interrupt":
            raise KeyboardInterrupt
        if do == "hang":
            self.tell(name)
            # never returns to the interpreter
            pow(7, 10**9)
        if do == "tell":
            self.tell(name)
        if do == "wait":
            (self.notes / f"gate-{name}").read_bytes()
        self.note("judged", name)
        return float(len(name)), True

    def tell(self, name: str) -> None:
        """Wake a test that reads from the named pipe."""
        with (self.notes / "news").open("w") as pipe:
            pipe.write(f"{os.getpid()} {name}\n")


class InThisProcess(Obedient):
    """The same; says nothing of its kind."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        return super().compute_reward(workflow_task, workflow_output)


class Meeting(BaseJudge):
    """Awaits until `judge_kwargs.at_once` rows are being judged."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._barrier = asyncio.Barrier(config.astuner.task_judge.judge_kwargs.at_once)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        if workflow_task.task.metadata.get("do") == "cancel":
            raise asyncio.CancelledError
        await self._barrier.wait()
        return 1.0, True


class MeetingInThreads(BaseJudge):
    """Blocks its thread until `judge_kwargs.at_once` rows are being judged."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._barrier = threading.Barrier(config.astuner.task_judge.judge_kwargs.at_once)

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        self._barrier.wait(5)
        return 1.0, threading.current_thread() is not threading.main_thread()


class Paid(BaseJudge):
    """Awaits, and notes in this process each verdict, as if it was paid for."""

    paid: ClassVar[list[str]] = []

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        await asyncio.sleep(0)
        self.paid.append(workflow_task.task_id)
        return 1.0, True


class Crowded(BaseJudge):
    """Earns how many rows were being judged at the same time, at most, until then."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._now = self._most = 0

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        self._now += 1
        self._most = max(self._most, self._now)
        for _ in range(1000):
            await asyncio.sleep(0)
        self._now -= 1
        return float(self._most), True


class Ranking(Obedient):
    """Ranks a group by the length of its answers."""

    judge_kind = "cpu"

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> Sequence[tuple[float, bool]]:
        self.compute_reward(workflow_task, workflow_outputs[0])
        answers = [output.metadata["final_answer"] for output in workflow_outputs]
        places = sorted(answers, key=len, reverse=True)
        return [
            Reward(float(places.index(answer)), True, reason=f"place {places.index(answer)} of {len(answers)}")
            for answer in answers
        ]


class Fragile(BaseJudge):
    """Can be built in this process alone."""

    judge_kind = "cpu"

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        kwargs = config.astuner.task_judge.judge_kwargs
        if os.getpid() != kwargs.pid:
            if kwargs.how == "dies":
                os._exit(9)
            raise ValueError("not here")

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        return 1.0, True


class Interrupted(BaseJudge):
    """Is interrupted by the user at a row that says so."""

    judge_kind = "cpu"
    bounds_itself = True

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        if workflow_task.task.metadata.get("do") == "ctrl-c":
            signal.raise_signal(signal.SIGINT)
        return 1.0, True
