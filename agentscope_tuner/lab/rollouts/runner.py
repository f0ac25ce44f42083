"""Runs a workflow over tasks, many rollouts at once, judges them, and yields whole groups as they finish."""

from __future__ import annotations

import gc
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from queue import Empty, SimpleQueue

from agentscope_tuner.errors import Cause
from agentscope_tuner.lab.rollouts.attempt import START_SECONDS, Attempt, Lender, Script
from agentscope_tuner.lab.rollouts.rows import Played, RolloutRow, task_digest
from agentscope_tuner.lab.rollouts.settings import EnvPlace, RolloutSettings
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.workflow import Task, WorkflowOutput

#: A function that makes the lender of a run, in each process.
Lend = Callable[[RolloutSettings], Callable[[], Lender]]


def model_tuners(settings: RolloutSettings) -> Callable[[], Lender]:
    """A function that makes a ModelTuner for a rollout, for the endpoint that `astuner.rollout.model` names.

    Raises:
        ConfigError: the extra `agentscope` is not installed.
    """
    # Imported before the first rollout: else all first rollouts would wait for it
    from agentscope_tuner.model_tuner import ModelTuner

    model, targets = settings.rollout.model, settings.rollout.trainable_targets

    options = model.model_dump(exclude={"base_url", "name"})
    return partial(ModelTuner.for_endpoint, model.base_url, model.name, trainable_targets=targets, **options)


@dataclass(slots=True)
class Group:
    """One task's rollouts by their place in the group, from 0 to `size - 1`.

    Attributes:
        ranks: whether the judge wants the outputs together.
        rows: the finished rows.
        played: outputs that wait to be ranked with the rest of the group.
        to_judge: outputs of an earlier run that got no verdict there.
        attempts: attempts whose episodes are held until the group is ranked.
    """

    task: Task
    size: int
    ranks: bool
    digest: str
    rows: dict[int, RolloutRow] = field(default_factory=dict)
    played: dict[int, Played] = field(default_factory=dict)
    to_judge: dict[int, Played] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)

    def take_over(self, earlier: Mapping[int, RolloutRow], *, rejudge: bool) -> None:
        """Keep the outputs of an earlier run, with their verdicts unless the judge ranks.

        `rejudge` says whether an output without a verdict can still be judged: an environment's episode is over.
        """
        for index, row in earlier.items():
            if index >= self.size or row.played.output is None:
                continue
            if self.ranks:
                self.played[index] = row.played
            elif not row.failed:
                self.rows[index] = row
            elif rejudge:
                self.to_judge[index] = row.played

    @property
    def is_whole(self) -> bool:
        """Whether every row is done."""
        return len(self.rows) == self.size

    @property
    def is_played(self) -> bool:
        """Whether every rollout has been played."""
        return len(self.rows) + len(self.played) == self.size

    def finish(self, index: int, played: Played, judgement: Judgement) -> None:
        """Add the finished row at `index`."""
        self.rows[index] = RolloutRow(f"{self.task.task_id}-{index}", played, judgement, self.digest)

    def in_order(self) -> list[RolloutRow]:
        """The finished rows, by place."""
        return [self.rows[index] for index in sorted(self.rows)]

    def what_there_is(self) -> list[RolloutRow]:
        """The rows of an interrupted group. An output that still waits for its verdict becomes a failed row."""
        why = "interrupted before there was a verdict"
        for index, played in (self.played | self.to_judge).items():
            if index not in self.rows:
                self.finish(index, played, Judgement.failed(why, cause=Cause.INTERRUPTED))
        return self.in_order()


@dataclass(eq=False, slots=True)
class Job:
    """The work of one thread: play and judge a rollout, judge an earlier rollout, or rank a group (no `index`).

    The thread calls `work`; the runner calls all other methods.

    Attributes:
        attempt: the run; None if no rollout has to be played.
        deadline: when the job is overdue, by the monotonic clock.
        played: the workflow's result, when it has one.
        verdicts: verdicts by place in the group, when there are any; empty if the group is ranked later.
        cancelled: whether to drop the result, because `stop` cancelled the workflow.
    """

    group: Group
    index: int | None
    attempt: Attempt | None
    played: Played | None = None
    deadline: float = 0.0
    verdicts: dict[int, Judgement] | None = None
    cancelled: bool = False

    @property
    def is_done(self) -> bool:
        """Whether the verdicts are known; the thread may still be releasing its episode."""
        return self.verdicts is not None

    def holds(self) -> Sequence[Attempt]:
        """The attempts whose episodes are released once this job has its verdicts, or is given up.

        Its own if it plays a rollout, all of its group if it ranks, none if it judges an earlier rollout.
        """
        if self.index is None:
            return self.group.attempts
        return () if self.attempt is None else (self.attempt,)

    def work(self, judge: TaskJudge, judge_seconds: float) -> None:
        """Do the job; never raises."""
        if self.index is None:
            self._rank(judge)
        else:
            self._play_and_judge(judge, self.index, judge_seconds)
        # The judge may ask the episode while it ranks: release it only after the ranking
        if self.verdicts:
            for attempt in self.holds():
                attempt.release()

    def _play_and_judge(self, judge: TaskJudge, index: int, judge_seconds: float) -> None:
        if self.attempt is not None:
            played = self.attempt.play()
            # Set the deadline first: the runner must never see `played` beside the deadline of the workflow
            self.deadline = time.monotonic() + judge_seconds
            self.played = played
        assert self.played is not None
        if self.played.output is None:
            self.verdicts = {index: self.played.no_judgement()}
        elif self.group.ranks:
            self.verdicts = {}
        else:
            (verdict,) = _verdicts(judge, [self.played])
            self.verdicts = {index: verdict}

    def _rank(self, judge: TaskJudge) -> None:
        places = sorted(self.group.played)
        verdicts = _verdicts(judge, [self.group.played[place] for place in places])
        self.verdicts = dict(zip(places, verdicts, strict=True))

    def overdue(self, timeout: float, grace: float) -> None:
        """Set a failed verdict for the thread, which did not return in time."""
        if self.index is not None and self.played is None:
            assert self.attempt is not None
            self.played = self.attempt.overdue(grace)
            self.verdicts = {self.index: self.played.no_judgement()}
            return
        why = f"the judge gave no verdict within {timeout + grace:g} s"
        places = sorted(self.group.played) if self.index is None else [self.index]
        self.verdicts = {place: Judgement.failed(why, cause=Cause.DEADLINE) for place in places}

    def cancel(self) -> None:
        """Cancel the workflow if it is running. A judge that is running goes on to its verdict."""
        if self.attempt is not None and self.played is None:
            self.cancelled = True
            self.attempt.cancel()

    def keep_unjudged(self) -> None:
        """Keep the output, if there is one, for a later run to judge: the judge was interrupted."""
        if self.index is not None and not self.cancelled and self.played is not None and self.played.output is not None:
            self.group.to_judge[self.index] = self.played

    def hand_over(self) -> Job | None:
        """Give the outcome to the group. If this was its last missing rollout, return the job that ranks the group,
        else None.
        """
        assert self.verdicts is not None
        group = self.group
        if self.index is None:
            for place, judgement in self.verdicts.items():
                group.finish(place, group.played.pop(place), judgement)
            return None
        assert self.played is not None
        if self.verdicts:
            group.finish(self.index, self.played, self.verdicts[self.index])
            group.to_judge.pop(self.index, None)
        else:
            group.played[self.index] = self.played
            if self.attempt is not None:
                group.attempts.append(self.attempt)
        return Job(group, None, None) if group.played and group.is_played else None


def _verdicts(judge: TaskJudge, played: Sequence[Played]) -> list[Judgement]:
    outputs: list[WorkflowOutput] = [one.output for one in played if one.output is not None]
    try:
        if judge.traits.ranks:
            return judge.judge_group(played[0].task, outputs)
        return [judge.judge(played[0].task, outputs[0])]
    # The thread's boundary: TaskJudge already turns a judge's failures into judgements; anything else fails the row
    except BaseException as exc:  # noqa: BLE001
        return [Judgement.failed(f"{type(exc).__name__}: {exc}"[:2000], cause=Cause.BUG) for _ in played]


#: Seconds that a workflow has to end after it was cancelled, before it is left behind.
GRACE_SECONDS = 5.0
# The env service's client gives up releasing an episode after ten seconds
_RELEASE_SECONDS = 12.0

# Seconds after which the runner looks again, even without an event
_LONGEST_WAIT = 1.0
_NO_MORE = object()

EarlierRows = Callable[[str], Mapping[int, RolloutRow]]


@dataclass(eq=False)
class RolloutRunner:
    """Runs every task `num_repeat` times, `max_env_worker` rollouts at once, and judges each rollout by `judge`.

    A judge that ranks gets a task's outputs together. Memory holds the groups that are under way and no others.

    Attributes:
        script: the workflow, the model, the limits.
        judge: called for each rollout, or for each group when it ranks. It has the script's timeout, too.
        num_repeat: rollouts for each task.
        max_env_worker: rollouts at once, their judging included.
        grace: seconds after the timeout in which a rollout or its judge must end, before it is left behind.
        earlier: gives, for a task id, an earlier run's rows by their place in the group; finished rows are not run
            again.
        left_behind: workflows that did not end when they were cancelled, and judges that gave no verdict in time.
    """

    script: Script
    judge: TaskJudge
    _: KW_ONLY
    num_repeat: int = 1
    max_env_worker: int = 64
    grace: float = GRACE_SECONDS
    earlier: EarlierRows = lambda task_id: {}
    left_behind: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._groups: dict[str, Group] = {}
        self._whole: deque[Group] = deque()
        self._jobs: set[Job] = set()
        self._ended: SimpleQueue[Job | None] = SimpleQueue()
        self._releases: list[threading.Thread] = []
        self._stopping = False

    @classmethod
    def of(
        cls, settings: RolloutSettings, judge: TaskJudge, lend: Callable[[], Lender], place: EnvPlace | None,
        earlier: EarlierRows, *, at_once: int | None = None,
    ) -> RolloutRunner:  # fmt: skip
        """The runner that the settings describe; `at_once` takes the place of `max_env_worker`."""
        # Loaded objects live until the exit: collecting garbage among them would hold up all rollouts at once
        gc.freeze()
        wanted = settings.rollout
        script, most = Script(settings.workflow, lend, wanted.timeout, place), at_once or wanted.max_env_worker
        return cls(script, judge, num_repeat=wanted.num_repeat, max_env_worker=most, earlier=earlier)

    @property
    def running(self) -> int:
        """How many rollouts and rankings are running."""
        return len(self._jobs)

    def stop(self) -> None:
        """Begin no more rollouts and cancel those under way; `run` then yields the finished rows, and ends.

        May be called from any thread and from a signal's handler.
        """
        self._stopping = True
        self._ended.put(None)

    def look_again(self) -> None:
        """Report that tasks are ready again, after `run` read a None from its tasks. May be called from any thread."""
        self._ended.put(None)

    def run(self, tasks: Iterable[Task | None]) -> Iterator[list[RolloutRow]]:
        """The rows of each task, in the order in which tasks are done; after `stop`, the finished rows of each begun
        task.

        To be iterated once.

        Args:
            tasks: a None among them means that no task is ready now; call `look_again` when one may be ready.
        """
        jobs = self._in_turn(tasks)
        more = True
        try:
            while not self._stopping:
                while more and len(self._jobs) < self.max_env_worker:
                    job = next(jobs, _NO_MORE)
                    more = job is not _NO_MORE
                    if not isinstance(job, Job):
                        break
                    self._begin(job)
                    yield from self._whole_groups()
                yield from self._whole_groups()
                if not (self._jobs or more):
                    return
                self._wait(self._next_deadline())
                yield from self._whole_groups()
            self._wind_up()
            yield from self._whole_groups()
            yield from (rows for group in self._groups.values() if (rows := group.what_there_is()))
        finally:
            self._let_go()

    def _in_turn(self, tasks: Iterable[Task | None]) -> Iterator[Job | None]:
        """The jobs of each task, one task after the other, without those that an earlier run has done; a None among the
        tasks is passed on.
        """
        for task in tasks:
            if task is None:
                yield None
                continue
            group = Group(task, self.num_repeat, self.judge.traits.ranks, task_digest(task))
            group.take_over(self.earlier(task.task_id), rejudge=self.script.place is None)
            self._groups[task.task_id] = group
            if group.is_whole:
                self._whole.append(group)
            for index in range(self.num_repeat):
                if index in group.to_judge:
                    yield Job(group, index, None, played=group.to_judge[index])
                elif index not in group.rows and index not in group.played:
                    yield Job(group, index, Attempt(self.script, task))
            if group.is_played and group.played:
                # An earlier run played all rollouts of this group: only the ranking is missing
                yield Job(group, None, None)

    def _begin(self, job: Job) -> None:
        # An attempt has its own timeout. This deadline is for an attempt that ignores it, and for the judge
        job.deadline = time.monotonic() + self.script.timeout + self.grace
        if job.attempt is not None:
            # Its time begins when its thread runs, which may be late on a busy machine
            job.deadline += START_SECONDS
            job.attempt.on_part = partial(self._watch, job)
        self._jobs.add(job)
        threading.Thread(target=self._work, args=(job,), daemon=True).start()

    def _watch(self, job: Job, seconds: float) -> None:
        job.deadline = time.monotonic() + seconds + self.grace
        # The runner may be waiting for a later deadline
        self._ended.put(None)

    def _work(self, job: Job) -> None:
        job.work(self.judge, self.script.timeout + self.grace)
        self._ended.put(job)
        if job.attempt is not None:
            job.attempt.close()

    def _next_deadline(self) -> float:
        return min((job.deadline for job in self._jobs), default=time.monotonic() + _LONGEST_WAIT)

    def _wait(self, until: float) -> None:
        """Wait until a job ends, a job is overdue, or `stop` is called, but not for long."""
        with suppress(Empty):
            # a signal that comes just before the thread sleeps is heard when it looks again
            job = self._ended.get(timeout=min(max(0.0, until - time.monotonic()), _LONGEST_WAIT))
            # A job that was left behind may still end: its result is no longer wanted
            if job is not None and job in self._jobs:
                self._finish(job)
        now = time.monotonic()
        for late in [job for job in self._jobs if job.deadline <= now]:
            self._leave_behind(late)

    def _leave_behind(self, job: Job) -> None:
        if not job.is_done:
            self.left_behind += 1
            job.overdue(self.script.timeout, self.grace)
        for attempt in job.holds():
            self._release(attempt)
        self._finish(job)

    def _finish(self, job: Job) -> None:
        self._jobs.discard(job)
        if job.cancelled:
            return
        ranking = job.hand_over()
        if job.group.is_whole:
            self._whole.append(job.group)
        if ranking is not None and not self._stopping:
            self._begin(ranking)

    def _whole_groups(self) -> Iterator[list[RolloutRow]]:
        while self._whole:
            group = self._whole.popleft()
            # A later task of the same id replaces the group
            if self._groups.get(group.task.task_id) is group:
                yield self._groups.pop(group.task.task_id).in_order()

    def _wind_up(self) -> None:
        """Cancel the running workflows, and give them and the running judges the grace time to end."""
        for job in self._jobs:
            job.cancel()
        until = time.monotonic() + self.grace
        while self._jobs and time.monotonic() < until:
            self._wait(until)
        for job in self._jobs:
            job.keep_unjudged()

    def _let_go(self) -> None:
        """Release every episode that is still held, best effort."""
        for job in self._jobs:
            job.cancel()
            for attempt in job.holds():
                self._release(attempt)
        for group in self._groups.values():
            for attempt in group.attempts:
                self._release(attempt)
        until = time.monotonic() + _RELEASE_SECONDS
        for thread in self._releases:
            thread.join(max(0.0, until - time.monotonic()))

    def _release(self, attempt: Attempt) -> None:
        # In a thread, because the environment service itself may hang
        thread = threading.Thread(target=attempt.release, daemon=True)
        self._releases = [*(one for one in self._releases if one.is_alive()), thread]
        thread.start()
