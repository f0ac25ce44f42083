"""How one judge is asked under its deadline: where it is called, in a thread, on the judges' loop, or in a process."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any

from agentscope_tuner import _loop
from agentscope_tuner.config import Settings
from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.task_judge.judging_process import JudgingProcesses
from agentscope_tuner.task_judge.time_limit import THREADS_AT_ONCE, TimeLimit
from agentscope_tuner.task_judge.traits import Traits
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


class Asking:
    """Asks `judge` about single outputs and whole groups.

    A judge that computes is asked in child processes, which can be killed: in a thread, a computation inside one call
    of compiled code would stop every other thread, those that watch the time too.

    Args:
        judge: the judge.
        traits: its traits.
        deadline: seconds for one verdict, or for the one call that ranks a group; None for a judge that is not watched.
        max_abandoned: see TimeLimit.
        recipe: what makes the same judge in another process; None where only this process has it.
    """

    def __init__(
        self, judge: BaseJudge, traits: Traits, deadline: float | None, max_abandoned: int, recipe: Settings | None
    ) -> None:
        self._judge = judge
        self._traits = traits
        self._limit: TimeLimit | None = None
        self._processes: JudgingProcesses | None = None
        if deadline is None or traits.bounded:
            return
        self._limit = TimeLimit(traits.name, deadline, max_abandoned)
        if traits.kind == "cpu" and recipe is not None and not traits.in_main:
            self._processes = JudgingProcesses(traits.name, deadline, recipe)

    def unwatched(self) -> Asking:
        """The same without a deadline, for a process that is killed when its verdict takes too long."""
        other = copy.copy(self)
        other._limit = other._processes = None
        return other

    def at_once(self, concurrency: int) -> int:
        """How many rows the judge is to be asked about at once, `concurrency` where it awaits: rows that wait for a
        thread or a process lose their time."""
        if self._processes is not None:
            return self._processes.most
        return concurrency if self._traits.awaits else THREADS_AT_ONCE

    @property
    def in_loop(self) -> bool:
        """Whether many rows are asked for on an event loop: a judge that awaits, or one that is watched."""
        return self._traits.awaits or self._limit is not None

    def ask(self, task: WorkflowTask, output: WorkflowOutput) -> object:
        """The judge's own answer, for callers that do not await.

        Raises:
            DeadlineError: its time is over.
        """
        judge, limit = self._judge, self._limit
        if limit is None:
            return judge.compute_reward(task, output)
        if (question := self._question(task, output)) is not None:
            return self._asked(question)
        if self._traits.awaits and type(judge).compute_reward is BaseJudge.compute_reward:
            return _loop.run(limit.awaited(task.task_id, judge.acompute_reward, task, output))
        return limit.call(task.task_id, judge.compute_reward, task, output)

    async def aask(self, task: WorkflowTask, output: WorkflowOutput) -> object:
        """`ask` for callers inside an event loop."""
        judge, limit = self._judge, self._limit
        if limit is None:
            return await judge.acompute_reward(task, output)
        if (question := self._question(task, output)) is not None:
            return await _loop.in_thread(self._asked, question)
        if self._traits.awaits:
            # an environment's connections may belong to the loop that the workflow ran on
            here = task.gym_env is not None
            return await limit.awaited(task.task_id, judge.acompute_reward, task, output, on_this_loop=here)
        return await limit.acall(task.task_id, judge.compute_reward, task, output)

    def rank(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Any]:
        """The judge's answer to a group.

        Raises:
            DeadlineError: its time is over.
        """
        call = partial(ranking, self._judge, task, outputs)
        if self._limit is None or not outputs:
            return call()
        if (question := self._question(task, list(outputs))) is not None:
            return list(self._asked(question))
        return self._limit.call(task.task_id, call)

    async def arank(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Any]:
        """`rank` for callers inside an event loop."""
        if self._limit is None or self._processes is not None:
            return await _loop.in_thread(self.rank, task, outputs)
        return await self._limit.acall(task.task_id, ranking, self._judge, task, outputs)

    def _question(self, task: WorkflowTask, about: object) -> bytes | None:
        """What a judging process is sent; None where the judge is asked in this process."""
        # a live environment is of this process alone
        return None if self._processes is None or task.gym_env is not None else self._processes.question(task, about)

    def _asked(self, question: bytes) -> Any:
        assert self._processes is not None
        return self._processes.ask(question)


def ranking(judge: BaseJudge, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Any]:
    """`compute_rewards`, worked off: a generator would be read outside of the time limit."""
    return list(judge.compute_rewards(task, list(outputs))) if outputs else []
