"""Rollouts in several processes: the agents' computations use a core for each process, where threads share one core."""

from __future__ import annotations

import pickle
import selectors
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any

from agentscope_tuner._child.frames import FrameTooLongError
from agentscope_tuner._child.process import ChildProcess, ChildProgram
from agentscope_tuner.config import Settings
from agentscope_tuner.errors import Cause, ConfigError
from agentscope_tuner.rollouts.lending import Lend
from agentscope_tuner.rollouts.rows import Played, RolloutRow, task_digest
from agentscope_tuner.rollouts.runner import GRACE_SECONDS, EarlierRows
from agentscope_tuner.rollouts.settings import RolloutConfig
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.workflow import Task, WorkflowTask

# A task is not run again after so many processes died while they ran it, the last process with no other task
_MOST_DEATHS = 2
_MOST_FAILED_STARTS = 5
# Seconds between two looks whether `stop` was called
_LOOK_SECONDS = 0.1
# Seconds beyond its grace for a process to release its episodes
_END_SECONDS = 15.0


@dataclass(slots=True)
class _Task:
    task: Task
    earlier: Mapping[int, RolloutRow]
    deaths: int = 0


@dataclass(eq=False, slots=True)
class _Worker:
    """One process and the tasks that it has, by their ids."""

    child: ChildProcess
    tasks: dict[str, _Task] = field(default_factory=dict)
    ready: bool = False
    ended: bool = False


class RolloutProcesses:
    """As RolloutRunner, in `processes` processes. Each loads the configuration, and gets a few groups in advance.

    A process that dies loses no row: its tasks are run again, one at a time, and a task under which two processes died
    has failed rows.

    Args:
        config: the whole configuration.
        make_lender: makes the lender of models, in each process; a function at a module's top level.
        rollout: its section.
        processes: how many; no more than rollouts at once.
        earlier: see RolloutRunner.

    Attributes:
        left_behind: see RolloutRunner.

    Raises:
        ConfigError: of `run`: a process could not load the configuration.
    """

    def __init__(
        self,
        config: Settings,
        make_lender: Lend,
        rollout: RolloutConfig,
        processes: int,
        *,
        earlier: EarlierRows = lambda task_id: {},
    ) -> None:
        self._rollout = rollout
        self._earlier = earlier
        count = min(processes, rollout.max_env_worker)
        shares = [rollout.max_env_worker // count + (n < rollout.max_env_worker % count) for n in range(count)]
        self._recipes = [pickle.dumps((config, make_lender, places), pickle.HIGHEST_PROTOCOL) for places in shares]
        # whole groups: enough for every place, and one to begin with as soon as a place is free
        self._most_tasks = -(-shares[0] // rollout.num_repeat) + 1
        self._workers: list[_Worker | None] = [None] * count
        self._again: deque[_Task] = deque()
        self._fresh: deque[_Task] = deque()
        self._failed_starts = 0
        self._stopping = False
        self.left_behind = 0

    @property
    def running(self) -> int:
        """How many rollouts are under way, at most."""
        begun = sum(len(worker.tasks) for worker in self._workers if worker is not None)
        return min(self._rollout.max_env_worker, begun * self._rollout.num_repeat)

    def stop(self) -> None:
        """See RolloutRunner."""
        self._stopping = True

    def run(self, tasks: Iterable[Task]) -> Iterator[list[RolloutRow]]:
        """See RolloutRunner."""
        todo = iter(tasks)
        try:
            with closing(selectors.DefaultSelector()) as selector:
                while not self._stopping and (self._hand_out(todo, selector) or not self._is_idle()):
                    yield from self._received(selector)
                yield from self._wind_up(selector)
        finally:
            for worker in self._workers:
                if worker is not None:
                    self._end(worker)
            self._workers = [None] * len(self._workers)

    def _is_idle(self) -> bool:
        return not (self._again or self._fresh) and not any(
            worker is not None and worker.tasks for worker in self._workers
        )

    def _hand_out(self, todo: Iterator[Task], selector: selectors.BaseSelector) -> bool:
        """Give each process as many tasks as it may have; return whether any was given."""
        given = False
        while True:
            # one task at a time, to the process with the fewest
            places = sorted(range(len(self._workers)), key=lambda place: len(self._held(place)))
            found = ((place, self._next_for(place, todo)) for place in places)
            place, task = next(((place, task) for place, task in found if task is not None), (0, None))
            if task is None:
                return given
            worker = self._workers[place] or self._start(place, selector)
            worker.tasks[task.task.task_id] = task
            worker.child.send(pickle.dumps((task.task, task.earlier), pickle.HIGHEST_PROTOCOL))
            given = True

    def _held(self, place: int) -> dict[str, _Task]:
        worker = self._workers[place]
        return {} if worker is None else worker.tasks

    def _next_for(self, place: int, todo: Iterator[Task]) -> _Task | None:
        """The next task for a process; a task that may have killed a process runs alone."""
        held = self._held(place)
        if len(held) >= self._most_tasks or any(task.deaths for task in held.values()):
            return None
        if self._again:
            return None if held else self._again.popleft()
        if self._fresh:
            return self._fresh.popleft()
        task = next(todo, None)
        return None if task is None else _Task(task, dict(self._earlier(task.task_id)))

    def _start(self, place: int, selector: selectors.BaseSelector) -> _Worker:
        worker = _Worker(ChildProcess(ChildProgram("agentscope_tuner.rollouts.rollout_worker")))
        worker.child.send(self._recipes[place])
        selector.register(worker.child.channel, selectors.EVENT_READ, worker)
        self._workers[place] = worker
        return worker

    def _received(self, selector: selectors.BaseSelector) -> Iterator[list[RolloutRow]]:
        """The groups that processes have sent; waits a moment for the first."""
        for worker in self._workers:
            if worker is not None:
                with suppress(OSError):  # the process is dead, which is noticed below
                    events = selectors.EVENT_READ | (selectors.EVENT_WRITE if worker.child.flush() else 0)
                    selector.modify(worker.child.channel, events, worker)
        for key, _ in selector.select(_LOOK_SECONDS):
            worker = key.data
            try:
                messages, ended = worker.child.receive()
            except FrameTooLongError:
                messages, ended = [], True
            for message in messages:
                yield from self._read(worker, *pickle.loads(message))
            if ended:
                selector.unregister(worker.child.channel)
                yield from self._after_death(worker)

    def _read(self, worker: _Worker, what: str, told: Any) -> Iterator[list[RolloutRow]]:
        if what == "broken":
            raise ConfigError(told)
        if what == "ended":
            worker.ended = True
            self.left_behind += told
        elif what == "ready":
            worker.ready = True
        else:
            worker.tasks.pop(told[0].played.task.task.task_id, None)
            yield told

    def _after_death(self, worker: _Worker) -> Iterator[list[RolloutRow]]:
        """Let the tasks of an ended process run again; returns the failed rows of a task that may not run again."""
        self._workers[self._workers.index(worker)] = None
        self._end(worker)
        if worker.ended:
            return
        if not worker.ready:
            # The process had begun none of its tasks
            self._failed_starts += 1
            self._fresh.extend(worker.tasks.values())
            if self._failed_starts >= _MOST_FAILED_STARTS:
                raise ConfigError(
                    f"{self._failed_starts} processes for rollouts died while they loaded the configuration"
                )
            return
        alone = len(worker.tasks) == 1
        for task in worker.tasks.values():
            task.deaths += 1
            if alone and task.deaths >= _MOST_DEATHS:
                yield self._failed(task)
            else:
                self._again.append(task)

    def _failed(self, task: _Task) -> list[RolloutRow]:
        told = f"the process that ran it died, {task.deaths} times"
        played = Played("failed", WorkflowTask(task=task.task), None, error=told, reason=told)
        judgement = Judgement.failed(told, cause=Cause.WORKER, reason=f"rollout failed: {told}")
        digest = task_digest(task.task)
        return [
            task.earlier.get(index) or RolloutRow(f"{task.task.task_id}-{index}", played, judgement, digest)
            for index in range(self._rollout.num_repeat)
        ]

    def _wind_up(self, selector: selectors.BaseSelector) -> Iterator[list[RolloutRow]]:
        """End the processes; after `stop`, pass on the finished rows, and those of an earlier run."""
        live = [worker for worker in self._workers if worker is not None]
        for worker in live:
            worker.child.send(pickle.dumps(None))
        until = time.monotonic() + GRACE_SECONDS + _END_SECONDS
        while any(not worker.ended and worker in self._workers for worker in live) and time.monotonic() < until:
            yield from self._received(selector)
        left = [task for worker in live for task in worker.tasks.values() if worker in self._workers]
        for task in (*left, *self._again, *self._fresh):
            if task.earlier:
                yield [task.earlier[index] for index in sorted(task.earlier)]

    def _end(self, worker: _Worker) -> None:
        worker.child.end()
        worker.child.close()
