"""How every engine judges a row: alone or with its group; a row that cannot be judged gets a failed verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentscope_tuner.config import Source, resolve
from agentscope_tuner.engines.scored_line import JudgedBefore, ScoredLine, name_and_label
from agentscope_tuner.engines.units import Undivided, Unit, groups
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.records import Line, Row, parse_line, scored_line
from agentscope_tuner.task_judge.base_judge import Counts
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.protocol import load_judge
from agentscope_tuner.workflow import Rollout, WorkflowOutput, WorkflowTask

if TYPE_CHECKING:
    from agentscope_tuner.graders.reckoning import Estimate, Reckoner


class RolloutJudge(Undivided[Rollout, Judgement]):
    """Judges rollouts, by units.

    Attributes:
        traits: how the judge must be called. Where it ranks, neighbours with one task id are a unit.
        concurrency: rows judged at once in a process, where the judge awaits.
        deadline: of a unit, in seconds.
        recipe: how another process makes the same object.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(self, config: Source) -> None:
        settings = resolve(config)
        self._judge = load_judge(settings)
        self.recipe: tuple[object, ...] = (RolloutJudge, settings)
        self.traits = self._judge.traits
        self.concurrency = settings.task_judge.concurrency
        self.deadline = settings.task_judge.deadline

    def run_notes(self) -> list[str]:
        """The judge's notes on the run; see `BaseJudge.run_notes`."""
        return self._judge.inner.run_notes()

    def take_counts(self) -> Counts:
        """The judge's counts; see `BaseJudge.take_counts`."""
        return self._judge.inner.take_counts()

    def units(self, items: Iterable[Rollout]) -> Iterator[Unit[Rollout, Judgement]]:
        """A unit for each rollout; for a judge that ranks, a unit for each run of neighbours with one task id."""
        first = 0
        for number, (rollouts, problem) in enumerate(groups(items, self.group_of if self.traits.ranks else None)):
            results = None if problem is None else self.failed(rollouts, JudgeError(problem, cause=Cause.INPUT))
            yield Unit(number, first, rollouts, results=results)
            first += len(rollouts)

    def group_of(self, rollout: Rollout) -> str:
        """The task id, which names the advantage group; empty for a rollout that is judged by itself."""
        return rollout.task.task_id

    @property
    def outcome(self) -> Callable[[WorkflowTask, WorkflowOutput], Judgement | JudgeError]:
        """A function that gives the verdict of a judge that does not rank, without its seconds, or a failed verdict."""
        return self._judge.outcome

    def judge(self, items: Sequence[Rollout]) -> list[Judgement]:
        """A judgement for each rollout of a unit; a failed judgement where there is no verdict."""
        task, outputs = _task_and_outputs(items)
        if (refused := self._refused(items)) is not None:
            return refused
        # A judge that ranks is given a group even where it has one member
        return self._judge.judge_group(task, outputs) if self.traits.ranks else [self._judge.judge(task, outputs[0])]

    async def ajudge(self, items: Sequence[Rollout]) -> list[Judgement]:
        """The same on an event loop."""
        task, outputs = _task_and_outputs(items)
        if (refused := self._refused(items)) is not None:
            return refused
        if self.traits.ranks:
            return await self._judge.ajudge_group(task, outputs)
        return [await self._judge.ajudge(task, outputs[0])]

    def _refused(self, items: Sequence[Rollout]) -> list[Judgement] | None:
        """Failed judgements where the unit's rows must not be judged as one group; else None."""
        if not self.traits.ranks or len(items) < 2:
            return None
        problem = self._judge.inner.check_group([rollout.task for rollout in items])
        return None if problem is None else self.failed(items, JudgeError(problem, cause=Cause.INPUT))

    def estimate(self, items: Sequence[Rollout], reckoner: Reckoner) -> tuple[int, Estimate]:
        """How many rollouts of a unit the judge would be asked about, and what that would use: see BaseJudge.

        Raises:
            JudgeError: there would be no verdict.
        """
        from agentscope_tuner.task_judge.estimates import estimate_of

        task, outputs = _task_and_outputs(items)
        return estimate_of(self._judge, task, outputs, reckoner)

    def failed(self, items: Sequence[Rollout], error: JudgeError) -> list[Judgement]:
        """Judgements that say why there is no verdict."""
        return [_failed(rollout, error) for rollout in items]

    def pack(self, items: Sequence[Rollout]) -> Any:
        """The rollouts of a unit, to be sent to another process with every extra field that a trainer added."""
        return list(items)

    def judge_packed(self, packed: Any) -> Any:
        """`judge` in that process."""
        self.unwatch()
        return [_fields(judgement) for judgement in self.judge(packed)]

    def unwatch(self) -> None:
        """Set no deadline here: another process kills this one when a verdict takes too long."""
        self._judge = self._judge.without_deadline()

    def unpack(self, packed: Any) -> list[Judgement]:
        """What `judge_packed` answered."""
        return [Judgement(*fields) for fields in packed]


def _fields(judgement: Judgement) -> tuple[Any, ...]:
    return (
        judgement.status,
        judgement.reward,
        judgement.is_success,
        judgement.reason,
        judgement.violations,
        judgement.error,
        dict(judgement.metrics),
        judgement.seconds,
        judgement.cause,
        judgement.calls,
    )


def task_of(rollout: Rollout) -> WorkflowTask:
    """The task of a rollout, as judges are given it."""
    task = rollout.task
    # Its own defaults, which WorkflowTask would fill in more slowly
    return WorkflowTask(task=task, task_id=task.task_id, env_type=task.env_type)


def _task_and_outputs(rollouts: Sequence[Rollout]) -> tuple[WorkflowTask, list[WorkflowOutput]]:
    return WorkflowTask(task=rollouts[0].task), [rollout.output for rollout in rollouts]


def _failed(rollout: Rollout | None, error: JudgeError) -> Judgement:
    task_id = rollout.task.task_id if rollout else None
    return Judgement.failed(JudgeError(error.message, task_id=task_id, judge=error.judge, cause=error.cause))


class LineJudge(Undivided[Line, ScoredLine]):
    """Judges lines of rollout files, by units: parses each line and returns it with its verdict, ready to be written.

    Args:
        digest: names the configuration, for `scored_line`.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(self, config: Source, digest: str = "") -> None:
        settings = resolve(config)
        self._rollouts = RolloutJudge(settings)
        self.digest = digest
        self.recipe: tuple[object, ...] = (LineJudge, settings, digest)
        self.traits = self._rollouts.traits
        self.concurrency = self._rollouts.concurrency
        self.deadline = self._rollouts.deadline

    def run_notes(self) -> list[str]:
        """The judge's notes on the run: see `BaseJudge.run_notes`. Notes of judges in other processes are not among
        them.
        """
        return self._rollouts.run_notes()

    def take_counts(self) -> Counts:
        """The judge's counts in this process; see `BaseJudge.take_counts`."""
        return self._rollouts.take_counts()

    def estimate(self, items: Sequence[Line], reckoner: Reckoner) -> tuple[int, Estimate]:
        """See RolloutJudge; lines that cannot be read are left out, since the judge is not asked about them.

        Raises:
            JudgeError: there would be no verdict.
        """
        from agentscope_tuner.graders.reckoning import Estimate

        rollouts = [row.rollout for row in map(parse_line, items) if row.rollout is not None]
        return self._rollouts.estimate(rollouts, reckoner) if rollouts else (0, Estimate())

    def units(self, items: Iterable[Line | JudgedBefore]) -> Iterator[Unit[Line, ScoredLine]]:
        """A unit for each line; for a judge that ranks, a unit for each run of neighbours with one task id."""
        first, group = 0, ""

        def group_of(item: Line | JudgedBefore) -> str:
            # An unreadable line joins the group around it: it must not split the group into two that are ranked apart
            nonlocal group
            rollout = parse_line(item.line if isinstance(item, JudgedBefore) else item).rollout
            group = rollout.task.task_id if rollout else group
            return group

        for number, (found, problem) in enumerate(groups(items, group_of if self.traits.ranks else None)):
            lines = [item.line if isinstance(item, JudgedBefore) else item for item in found]
            results: Sequence[ScoredLine] | None = None
            if problem is not None:
                results = self.failed(lines, JudgeError(problem, cause=Cause.INPUT))
            # Ranks hold for a whole group only: where one row of a group is new, rank the whole group again
            elif all(isinstance(item, JudgedBefore) for item in found):
                results = [item.scored for item in found if isinstance(item, JudgedBefore)]
            yield Unit(number, first, lines, sum(len(line.raw) for line in lines), results)
            first += len(lines)

    def judge(self, items: Sequence[Line]) -> list[ScoredLine]:
        """A scored line for each line of a unit; those that cannot be read fail alone."""
        rows = [parse_line(line) for line in items]
        rollouts = [row.rollout for row in rows if row.rollout is not None]
        return self._all_scored(rows, self._rollouts.judge(rollouts) if rollouts else ())

    async def ajudge(self, items: Sequence[Line]) -> list[ScoredLine]:
        """The same on an event loop."""
        rows = [parse_line(line) for line in items]
        rollouts = [row.rollout for row in rows if row.rollout is not None]
        return self._all_scored(rows, await self._rollouts.ajudge(rollouts) if rollouts else ())

    def _all_scored(self, rows: Sequence[Row], judgements: Sequence[Judgement]) -> list[ScoredLine]:
        judged = iter(judgements)
        return [self._scored(row, _bad_row(row) if row.rollout is None else next(judged)) for row in rows]

    def failed(self, items: Sequence[Line], error: JudgeError) -> list[ScoredLine]:
        """Scored lines that say why there is no verdict."""
        rows = [parse_line(line) for line in items]
        return [self._scored(row, _failed(row.rollout, error)) for row in rows]

    def pack(self, items: Sequence[Line]) -> Any:
        """A unit's lines, for another process."""
        return [tuple(line) for line in items]

    def unwatch(self) -> None:
        """See RolloutJudge."""
        self._rollouts.unwatch()

    @property
    def outcome(self) -> Callable[[WorkflowTask, WorkflowOutput], Judgement | JudgeError]:
        """See RolloutJudge."""
        return self._rollouts.outcome

    def judge_packed(self, packed: Any) -> Any:
        """`judge` in that process."""
        self.unwatch()
        scored = self.judge([Line(*line) for line in packed])
        return [(line, _fields(judgement), name, label) for line, judgement, name, label, _ in scored]

    def unpack(self, packed: Any) -> list[ScoredLine]:
        """What `judge_packed` answered."""
        return [ScoredLine(line, Judgement(*fields), name, label) for line, fields, name, label in packed]

    def scored(self, line: Line, rollout: Rollout, judgement: Judgement) -> ScoredLine:
        """A line, of which `rollout` was read, with its verdict."""
        return self._scored(Row(line.where, line.raw, rollout, None, line.spent), judgement)

    def _scored(self, row: Row, judgement: Judgement) -> ScoredLine:
        if judgement.status == "failed":
            judgement = replace(judgement, error=f"{row.where}: {judgement.error}")
        if row.spent:
            judgement = replace(judgement, metrics=_added(judgement.metrics, row.spent))
        name, label = name_and_label(row)
        return ScoredLine(scored_line(row, judgement, self.digest), judgement, name, label)


def _added(metrics: Mapping[str, float], more: Mapping[str, float]) -> dict[str, float]:
    return {**metrics, **{name: metrics.get(name, 0.0) + value for name, value in more.items()}}


def _bad_row(row: Row) -> Judgement:
    assert row.problem is not None
    problem = row.problem
    # Summaries count failures by reason: drop the column, so that the same mistake always has the same reason
    kind = re.sub(r" at column \d+", "", problem)
    return Judgement.failed(problem, cause=Cause.INPUT, reason=f"bad row: {kind}")
