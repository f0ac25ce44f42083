"""Rollouts in several processes: the agents' computations use a core for each process, where threads share one core."""

from __future__ import annotations

import dataclasses
import math
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from agentscope_tuner._run.channel import ParentChannel
from agentscope_tuner._run.child import ChildProgram
from agentscope_tuner._run.pool import Pool, Toll, Worker, WorkerLost
from agentscope_tuner.config import Settings
from agentscope_tuner.errors import Cause, ConfigError
from agentscope_tuner.lab.rollouts.attempt import Lender
from agentscope_tuner.lab.rollouts.rows import Played, RolloutRow, read_row, task_digest
from agentscope_tuner.lab.rollouts.runner import GRACE_SECONDS, EarlierRows, Lend, RolloutRunner
from agentscope_tuner.lab.rollouts.settings import RolloutConfig, RolloutSettings, load_settings, open_place
from agentscope_tuner.records.output import earlier_row
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.workflow import Task, WorkflowTask

# Seconds between two looks whether `stop` was called
_LOOK_SECONDS = 0.1
# Seconds beyond its grace for a process to release its episodes
_END_SECONDS = 15.0


@dataclass(eq=False, slots=True)
class _Task:
    task: Task
    earlier: Mapping[int, RolloutRow]
    toll: Toll = field(default_factory=Toll)


class _RolloutWorker(Worker[_Task]):
    """One process. It answers its tasks in any order.

    Attributes:
        place: the number of its share of the rollouts that run at once.
    """

    def __init__(self, place: int) -> None:
        super().__init__(ChildProgram(__name__))
        self.place = place


class RolloutProcesses(Pool[_RolloutWorker]):
    """As RolloutRunner, in `processes` processes. Each loads the configuration, and gets a few groups in advance.

    A process that dies loses no row: its tasks are run again, each in a process without others, and a task under which
    two processes died has failed rows.

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

    loads = "the configuration"

    def __init__(
        self,
        config: Settings,
        make_lender: Lend,
        rollout: RolloutConfig,
        processes: int,
        *,
        earlier: EarlierRows = lambda task_id: {},
    ) -> None:
        count = min(processes, rollout.max_env_worker)
        super().__init__(count)
        self._rollout = rollout
        self._earlier = earlier
        shares = [rollout.max_env_worker // count + (n < rollout.max_env_worker % count) for n in range(count)]
        self._recipes = [pickle.dumps((config, make_lender, places), pickle.HIGHEST_PROTOCOL) for places in shares]
        # whole groups: enough for every place, and one to begin with as soon as a place is free
        self._most_tasks = -(-shares[0] // rollout.num_repeat) + 1
        self._again: deque[_Task] = deque()
        self._fresh: deque[_Task] = deque()
        self._groups: SimpleQueue[list[RolloutRow] | Exception] = SimpleQueue()
        self._stopping = self._over = False
        self.left_behind = 0

    # the caller's thread

    @property
    def running(self) -> int:
        """How many rollouts are under way, at most."""
        begun = sum(len(worker.jobs) for worker in list(self.workers))
        return min(self._rollout.max_env_worker, begun * self._rollout.num_repeat)

    def stop(self) -> None:
        """See RolloutRunner."""
        self._stopping = True

    def run(self, tasks: Iterable[Task]) -> Iterator[list[RolloutRow]]:
        """See RolloutRunner."""
        todo, under_way, ended = iter(tasks), 0, False
        try:
            while not self._stopping:
                while not ended and under_way < self.most * self._most_tasks:
                    if ended := (task := next(todo, None)) is None:
                        break
                    self._fresh.append(_Task(task, dict(self._earlier(task.task_id))))
                    under_way += 1
                self.soon(self.hand_out)
                if not under_way:
                    break
                for group in self._received():
                    under_way -= 1
                    yield group
            yield from self._wind_up()
        finally:
            self._over = True
            self.close()

    def _received(self) -> Iterator[list[RolloutRow]]:
        """The groups that processes have sent; waits a moment for the first."""
        try:
            found = self._groups.get(timeout=_LOOK_SECONDS)
            while True:
                if isinstance(found, Exception):
                    raise found
                yield found
                found = self._groups.get_nowait()
        except Empty:
            return

    def _wind_up(self) -> Iterator[list[RolloutRow]]:
        """End the processes; after `stop`, pass on the finished rows, and those of an earlier run."""
        self._over = True
        self.soon(self._dismiss)
        until = time.monotonic() + GRACE_SECONDS + _END_SECONDS
        while self.workers and time.monotonic() < until:
            yield from self._received()
        self.close()
        yield from self._received()
        for task in (*self._again, *self._fresh):
            if task.earlier:
                yield [task.earlier[index] for index in sorted(task.earlier)]

    # the pool's loop

    def start(self) -> _RolloutWorker:
        """See Pool."""
        place = next(place for place in range(self.most) if all(worker.place != place for worker in self.workers))
        worker = _RolloutWorker(place)
        worker.send(self._recipes[place])
        return worker

    def started(self, worker: _RolloutWorker, message: bytes) -> None:
        """See Pool."""
        if (problem := pickle.loads(message)) is not None:
            raise ConfigError(problem)

    def hand_out(self) -> None:
        """See Pool. A task that may have killed a process runs alone."""
        while not self._over and (self._again or self._fresh):
            free = [worker for worker in self.workers if self._has_room(worker)]
            worker = min(free, key=lambda worker: len(worker.jobs), default=None)
            if (worker is None or worker.jobs) and self.start_worker():
                worker = self.workers[-1]
            if worker is None or (self._again and worker.jobs):
                return
            task = (self._again or self._fresh).popleft()
            worker.give(task, pickle.dumps((task.task, task.earlier), pickle.HIGHEST_PROTOCOL))

    def _has_room(self, worker: _RolloutWorker) -> bool:
        return len(worker.jobs) < self._most_tasks and not any(task.toll.deaths for task in worker.jobs)

    def left(self, worker: _RolloutWorker) -> float:
        """See Pool: the processes limit their rollouts themselves."""
        return math.inf

    def answered(self, worker: _RolloutWorker, message: bytes) -> None:
        """See Pool."""
        what, told = pickle.loads(message)
        if what == "ended":
            self.left_behind += told
            return
        read = ((read_row(row), kept) for line, kept in told if (row := earlier_row(line)) is not None)
        group = [dataclasses.replace(row, kept=kept) for row, kept in read if row is not None]
        task_id = group[0].played.task.task.task_id
        worker.jobs = deque(task for task in worker.jobs if task.task.task_id != task_id)
        self._groups.put(group)

    def lost(self, worker: _RolloutWorker, loss: WorkerLost) -> None:
        """See Pool."""
        if not worker.ready:
            # It had begun none of its tasks
            self._fresh.extend(worker.jobs)
            return
        for task in worker.jobs:
            given_up = not self._over and task.toll.add(guilty=True)
            if given_up and len(worker.jobs) == 1:
                self._groups.put(self._failed(task))
            else:
                self._again.append(task)

    def fail(self, error: Exception) -> None:
        """See Pool."""
        self._over = True
        self._groups.put(error)

    def _dismiss(self) -> None:
        for worker in self.workers:
            worker.send(pickle.dumps(None))

    def _failed(self, task: _Task) -> list[RolloutRow]:
        told = f"the process that ran it died, {task.toll.deaths} times"
        played = Played("failed", WorkflowTask(task=task.task), None, error=told, reason=told)
        judgement = Judgement.failed(told, cause=Cause.WORKER, reason=f"rollout failed: {told}")
        digest = task_digest(task.task)
        return [
            task.earlier.get(index) or RolloutRow(f"{task.task.task_id}-{index}", played, judgement, digest)
            for index in range(self._rollout.num_repeat)
        ]


def main(channel: ParentChannel) -> None:
    """Run rollouts until the parent closes the channel, or says to stop.

    Args:
        channel: brings the recipe (the arguments of `_made`, see `ParentChannel.load`), then `(task, rows of an earlier
            run by their place)`, and None to stop. Takes `("rows", [(the row's line, whether it was kept)])`
            for each group, and last `("ended", workflows left behind)`. All of them are pickles: both ends are one
            program under one user.
    """
    if (made := channel.load(_made)) is None:
        return
    settings, judge, lend, places = made
    handed = _Handed(iter(channel))
    with open_place(settings) as place:
        runner = RolloutRunner.of(settings, judge, lend, place, handed.earlier_of, at_once=places)
        threading.Thread(target=handed.read, args=(runner,), daemon=True).start()
        for group in runner.run(handed.tasks()):
            # As lines: a workflow may leave any object in its output, and a live environment works in this process only
            channel.send(pickle.dumps(("rows", [(row.to_line(settings.digest), row.kept) for row in group])))
        channel.send(pickle.dumps(("ended", runner.left_behind)))


def _made(
    config: Settings, make_lender: Lend, places: int
) -> tuple[RolloutSettings, TaskJudge, Callable[[], Lender], int]:
    """The settings, the judge and the lender of models, and how many rollouts may run at once."""
    settings = load_settings(config)
    return settings, load_judge(config), make_lender(settings), places


class _Handed:
    """The tasks that the parent has sent."""

    def __init__(self, messages: Iterator[bytes]) -> None:
        self._messages = messages
        self._waiting: SimpleQueue[Task] = SimpleQueue()
        self._earlier: dict[str, Mapping[int, RolloutRow]] = {}

    def read(self, runner: RolloutRunner) -> None:
        """Receive tasks until the parent says to stop."""
        for message in self._messages:
            if (handed := pickle.loads(message)) is None:
                runner.stop()
                return
            task, earlier = handed
            self._earlier[task.task_id] = earlier
            self._waiting.put(task)
            runner.look_again()

    def earlier_of(self, task_id: str) -> Mapping[int, RolloutRow]:
        """See RolloutRunner; called once for each task."""
        return self._earlier.pop(task_id, {})

    def tasks(self) -> Iterator[Task | None]:
        """The waiting tasks; None when no task waits now."""
        while True:
            try:
                yield self._waiting.get_nowait()
            except Empty:
                yield None
