"""An actor of RayJudge's pool."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from agentscope_tuner.config import resolve
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.on_ray.session import enter
from agentscope_tuner.task_judge.base_judge import Reward
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.protocol import load_judge
from agentscope_tuner.task_judge.run_log import RunLog
from agentscope_tuner.task_judge.task_judge import judgement_of
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

Out = TypeVar("Out")


class JudgeActor:
    """Judges until `drain` tells it to refuse calls.

    Args:
        config: as `load_judge` takes it.
        directory: the working directory of the process that made the pool.
        digest: names the configuration and the pool's size.
        workers: how many actors the pool has.
    """

    def __init__(self, config: dict[str, Any], directory: str, digest: str, workers: int) -> None:
        enter(directory)
        settings = resolve(config)
        self._judge = load_judge(settings)
        self._about = {"digest": digest, "workers": workers}
        # A judge that computes gains nothing from several calls at once
        at_once = 1 if self._judge.traits.kind == "cpu" else settings.task_judge.concurrency
        self._slots = asyncio.Semaphore(at_once)
        self._begun = 0
        self._closed = False
        self._idle = asyncio.Event()
        section = settings.task_judge
        self._log = RunLog(Path(section.log_dir), share=section.log_share) if section.log_dir else None

    async def about(self) -> dict[str, Any]:
        return self._about

    async def compute_reward(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        return await self._entered(self._rewarded, task, output)

    async def compute_rewards(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Reward]:
        return await self._entered(asyncio.to_thread, self._group_rewarded, task, outputs)

    async def judge(self, task: WorkflowTask, output: WorkflowOutput) -> Judgement:
        return await self._entered(self._judged, task, output)

    async def _judged(self, task: WorkflowTask, output: WorkflowOutput) -> Judgement:
        return self._logged(task, [output], [await self._judge.ajudge(task, output)])[0]

    async def _rewarded(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        started = time.perf_counter()
        outcome = await self._judge.aoutcome(task, output)
        self._logged(task, [output], [judgement_of(outcome, started)])
        return self._judge.reward_of(outcome)

    def _group_rewarded(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Reward]:
        started = time.perf_counter()
        outcomes = self._judge.group_outcomes(task, outputs)
        self._logged(task, outputs, [judgement_of(outcome, started) for outcome in outcomes])
        return [self._judge.reward_of(outcome) for outcome in outcomes]

    def _logged(
        self, task: WorkflowTask, outputs: Sequence[WorkflowOutput], judgements: list[Judgement]
    ) -> list[Judgement]:
        if self._log is not None:
            self._log.add([(task, output) for output in outputs], judgements, None)
        return judgements

    async def _entered(self, call: Callable[..., Awaitable[Out]], *args: Any) -> Out:
        if self._closed:
            raise JudgeError("the pool of judge actors is shutting down", cause=Cause.WORKER)
        self._begun += 1
        try:
            async with self._slots:
                return await call(*args)
        finally:
            self._begun -= 1
            if not self._begun:
                self._idle.set()

    async def drain(self, timeout: float) -> bool:
        """Refuse calls from now on, and wait for the begun calls; return whether all of them ended in time."""
        self._closed = True
        if self._begun:
            self._idle.clear()
            with suppress(TimeoutError):  # the method then returns False
                await asyncio.wait_for(self._idle.wait(), timeout)
        if self._log is not None:
            # The actor is killed next, and would lose the rows that still wait to be written
            self._log.close()
        return not self._begun
