"""Calls one judge under its deadline: directly, in a thread, on the judges' loop, or in a process."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from agentscope_tuner import _loop
from agentscope_tuner.config import Settings
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.graders.client.calls import recorded
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.judging_process import JudgingProcesses
from agentscope_tuner.task_judge.time_limit import TimeLimit
from agentscope_tuner.task_judge.traits import Traits
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


@contextmanager
def _kept() -> Iterator[Callable[[Any], Any]]:
    """A context that records model calls. Its function adds them to a result; a JudgeError gets them, too."""
    with recorded() as calls:

        def keep(result: Any) -> Any:
            if isinstance(result, Reward | JudgeError):
                result.calls = tuple(calls)
            return result

        try:
            yield keep
        except JudgeError as exc:
            exc.calls = tuple(calls)
            raise


class Asking:
    """Asks `judge` about single outputs and whole groups.

    A judge that computes is called in child processes, because they can be killed. In a thread, a computation inside
    one call of compiled code would stop all other threads, even those that watch the time.

    Args:
        judge: the judge.
        traits: its traits.
        deadline: seconds for one verdict, or for the one call that ranks a group; None for a judge that is not watched.
        max_abandoned: see TimeLimit.
        recipe: how another process makes the same judge; None where only this process has it.
        keep_calls: whether rewards and errors carry the questions to judge models and their replies.
    """

    def __init__(
        self,
        judge: BaseJudge,
        traits: Traits,
        deadline: float | None,
        max_abandoned: int,
        recipe: Settings | None,
        *,
        keep_calls: bool = False,
    ) -> None:
        self._keep_calls = keep_calls
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
        """A copy without a deadline, for a process that is killed when its verdict takes too long."""
        other = copy.copy(self)
        other._limit = other._processes = None
        return other

    def at_once(self, concurrency: int) -> int:
        """How many rows to ask the judge about at once, `concurrency` where it awaits. More rows would lose time while
        they wait for a thread or a process.
        """
        if self._processes is not None:
            return self._processes.most
        return concurrency if self._traits.awaits else _loop.THREADS_AT_ONCE

    @property
    def in_loop(self) -> bool:
        """Whether many rows are asked for on an event loop: a judge that awaits, or one that is watched."""
        return self._traits.awaits or self._limit is not None

    def ask(self, task: WorkflowTask, output: WorkflowOutput) -> object:
        """The judge's own answer, for callers that do not await.

        Raises:
            DeadlineError: its time is over.
        """
        if not self._keep_calls:
            return self._ask(task, output)
        with _kept() as keep:
            return keep(self._ask(task, output))

    def _ask(self, task: WorkflowTask, output: WorkflowOutput) -> object:
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
        if not self._keep_calls:
            return await self._aask(task, output)
        with _kept() as keep:
            return keep(await self._aask(task, output))

    async def _aask(self, task: WorkflowTask, output: WorkflowOutput) -> object:
        judge, limit = self._judge, self._limit
        if limit is None:
            return await judge.acompute_reward(task, output)
        if (question := self._question(task, output)) is not None:
            return await _loop.in_thread(self._asked, question)
        if self._traits.awaits:
            # An environment's connections may belong to the loop that the workflow ran on
            here = task.gym_env is not None
            return await limit.awaited(task.task_id, judge.acompute_reward, task, output, on_this_loop=here)
        return await limit.acall(task.task_id, judge.compute_reward, task, output)

    def rank(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Any]:
        """The judge's answer to a group.

        Raises:
            DeadlineError: its time is over.
        """
        if not self._keep_calls:
            return self._rank(task, outputs)
        with _kept() as keep:
            return [keep(one) for one in self._rank(task, outputs)]

    def _rank(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Any]:
        call = partial(ranking, self._judge, task, outputs)
        if self._limit is None or not outputs:
            return call()
        if (question := self._question(task, list(outputs))) is not None:
            return list(self._asked(question))
        return self._limit.call(task.task_id, call)

    async def arank(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Any]:
        """`rank` for callers inside an event loop."""
        if self._limit is None or self._processes is not None or self._keep_calls:
            return await _loop.in_thread(self.rank, task, outputs)
        return await self._limit.acall(task.task_id, ranking, self._judge, task, outputs)

    def _question(self, task: WorkflowTask, about: object) -> bytes | None:
        """The message to a judging process; None where the judge is asked in this process."""
        # A live environment works in this process only
        return None if self._processes is None or task.gym_env is not None else self._processes.question(task, about)

    def _asked(self, question: bytes) -> Any:
        assert self._processes is not None
        return self._processes.ask(question)


def ranking(judge: BaseJudge, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Any]:
    """`compute_rewards` as a list: a generator would be read outside of the time limit."""
    return list(judge.compute_rewards(task, list(outputs))) if outputs else []
