"""One task's rollouts, and the jobs that play and judge them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentscope_tuner.errors import Cause
from agentscope_tuner.rollouts.attempt import Attempt
from agentscope_tuner.rollouts.rows import Played, RolloutRow
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.task_judge import TaskJudge
from agentscope_tuner.workflow import Task, WorkflowOutput


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
        attempt: the run; None where no rollout has to be played.
        deadline: when the job is overdue, by the monotonic clock.
        played: the workflow's result, when it has one.
        verdicts: verdicts by place in the group, when there are any; empty where the group is ranked later.
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
        """Attempts whose episodes end with this job."""
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
        """Give the outcome to the group; the job that ranks the group, when this was its last missing rollout."""
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
        why = f"{type(exc).__name__}: {exc}"[:2000]
        return [Judgement.failed(why, cause=Cause.BUG) for _ in played]
