"""How every engine judges rows: rollouts, and the lines of rollout files. A row without a verdict gets a failed one.

The process that judges a block of lines also parses it, writes its rows and sums them up. Processes exchange whole
blocks, so no other process does work for each row.

Rows come back with their verdicts, of this run or an earlier one: `resumed` gives the rows of the input, each with the
earlier run's verdict where that run judged it.
"""

from __future__ import annotations

import pickle
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import astuple, replace
from pydantic import ValidationError

from agentscope_tuner.config import Source, resolve
from agentscope_tuner.engines.crew import OneStep, groups
from agentscope_tuner.errors import Cause, ConfigError, JudgeError, input_error
from agentscope_tuner.records.blocks import Block, LineBlock, gathered
from agentscope_tuner.records.output import EarlierRow, earlier_row, judged_end, scored_line
from agentscope_tuner.records.reader import Line, Row, parse_line
from agentscope_tuner.records.scored_rows import Summary
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.workflow import Rollout, WorkflowOutput, WorkflowTask

if TYPE_CHECKING:
    from agentscope_tuner.graders.cost import Estimate, Reckoner

# The summary of a whole run shows eight examples, of which seven may be known before a block
_EXAMPLES = 16


class ScoredLine(NamedTuple):
    """One row of a rollout file with its verdict.

    Attributes:
        line: the row to be written, with its judgement and its end.
        judgement: the same verdict.
        name: the rollout's id; the row's place where no id can be read.
        label: the row's own `label.is_success`, where it has one.
        kept: whether the verdict is an earlier run's.
    """

    line: bytes
    judgement: Judgement
    name: str
    label: bool | None
    kept: bool = False


class JudgedBefore(NamedTuple):
    """A line that an earlier run judged. It is passed on unchanged, unless its group has to be ranked again."""

    line: Line
    scored: ScoredLine

    @property
    def raw(self) -> bytes:
        """The line of the input."""
        return self.line.raw


def judged_before(line: Line, written: bytes, judgement: Judgement, *, kept: bool = True) -> JudgedBefore:
    """`line` with its verdict, and with the row as a run has `written` it; `kept` is False if that was this run."""
    return JudgedBefore(line, ScoredLine(written, judgement, *name_and_label(parse_line(line)), kept=kept))


def name_and_label(row: Row) -> tuple[str, bool | None]:
    """The name of a row (its id, else its place in the file) and its `label.is_success`, for `Summary.add`."""
    if row.rollout is None:
        return row.where, None
    return row.rollout.id, label_of(row.rollout)


def label_of(rollout: Rollout) -> bool | None:
    """The rollout's own `label.is_success`; None if it has no such label."""
    is_success = rollout.label.get("is_success") if rollout.label else None
    return is_success if isinstance(is_success, bool) else None


@dataclass(slots=True)
class ScoredBlock:
    """Rows with their verdicts.

    Attributes:
        data: the rows to be written, each with its judgement and its end.
        summary: the summary of these rows.
        kept: how many of the verdicts are an earlier run's.
        error: the error of the first failed row; None where no row failed.
    """

    data: bytes = b""
    summary: Summary = field(default_factory=lambda: Summary(most_examples=_EXAMPLES))
    kept: int = 0
    error: str | None = None

    @classmethod
    def of(cls, rows: Iterable[ScoredLine]) -> ScoredBlock:
        """Make a block of rows that were scored one by one."""
        found, written = cls(), []
        for row in rows:
            written.append(row.line)
            found.summary.add(row.judgement, name=row.name, label=row.label)
            found.kept += row.kept
            if found.error is None and row.judgement.status == "failed":
                found.error = row.judgement.error
        found.data = b"".join(written)
        return found


def resumed(blocks: Iterable[Block], earlier: Iterator[EarlierRow], digest: str) -> Iterator[Block]:
    """The blocks, their lines joined with an earlier run as by `with_earlier`; blocks after its last row pass
    unchanged.

    Args:
        blocks: of lines.
        earlier: the rows that the earlier run wrote, from its first row on.
        digest: names the configuration of this run.

    Raises:
        ConfigError: as `with_earlier`; the rows before the wrong row are handed on first.
    """
    for block in blocks:
        before = list(islice(earlier, block.steps()))
        yield from gathered(with_earlier(block.items(), iter(before), digest)) if before else (block,)


def with_earlier(lines: Iterator[Line], earlier: Iterator[EarlierRow], digest: str) -> Iterator[Line | JudgedBefore]:
    """The lines; where an earlier run over the same input judged a line, with its verdict.

    Raises:
        ConfigError: the earlier run judged another input, or by another configuration.
    """
    for line in lines:
        before = next(earlier, None)
        row = parse_line(line)
        judgement = _verdict_of(row, before, digest) if before else None
        if before and before.is_of(row.raw):
            line = line._replace(spent=before.spent)
        if before and judgement:
            yield JudgedBefore(line, ScoredLine(before.line, judgement, *name_and_label(row), kept=True))
        else:
            yield line


def _verdict_of(row: Row, before: EarlierRow, digest: str) -> Judgement | None:
    """The judgement that the earlier run wrote, where the row is the same and has one.

    Raises:
        ConfigError: the earlier run judged another input, or by another configuration.
    """
    if row.rollout is None or before.judgement is None:
        return None
    # A rollout's id is a string, even where its line has a number
    if str(before.own.get("id", row.rollout.id)) != row.rollout.id:
        ids = f"{row.where} has id {row.rollout.id!r} where the earlier output has {before.own['id']!r}"
        raise ConfigError(f"{ids}: it was made from another input; run without --resume")
    if before.config != digest:
        other = "the earlier output was judged under another configuration or version"
        raise ConfigError(f"{row.where}: {other}: run without --resume, or name another --output")
    return before.judgement if before.judgement.status != "failed" and before.is_of(row.raw) else None


#: The place of a rollout in the input, and its judgement.
PlacedJudgement = tuple[int, Judgement]


@dataclass(slots=True)
class RolloutGroup(LineBlock):
    """Rollouts in place of lines, with every extra field that a trainer added. They are judged together: one alone, or
    a whole advantage group where the judge ranks.

    Attributes:
        first: the place of its first rollout in the input, from 0.
    """

    first: int = 0

    def placed(self, judgements: Iterable[Judgement]) -> list[PlacedJudgement]:
        """The judgements of its rollouts, each with the rollout's place."""
        return list(enumerate(judgements, self.first))


class _AsksAJudge:
    """A judge, and its verdicts on rollouts that are judged together.

    Attributes:
        inner: the judge itself.
        traits: how the judge must be called. Where it ranks, neighbours with one task id are a unit.
        concurrency: rows judged at once in a process, where the judge awaits.
        deadline: of a unit, in seconds.
        recipe: how another process makes the same object.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(self, config: Source, *given: object, in_worker: bool = False) -> None:
        settings = resolve(config)
        judge = load_judge(settings)
        self._judge = judge.without_deadline() if in_worker else judge
        self.inner = judge.inner
        self.recipe: tuple[object, ...] = (_in_worker, type(self), settings, *given)
        self.traits = self._judge.traits
        self.concurrency = settings.task_judge.concurrency
        self.deadline = settings.task_judge.deadline

    def verdicts(self, rollouts: Sequence[Rollout]) -> list[Judgement]:
        """A judgement for each rollout of a group."""
        task, outputs = _task_and_outputs(rollouts)
        if refused := self._judge.refused([rollout.task for rollout in rollouts]):
            return refused
        # A judge that ranks is given a group even where it has one member
        return self._judge.judge_group(task, outputs) if self.traits.ranks else [self._judge.judge(task, outputs[0])]

    async def averdicts(self, rollouts: Sequence[Rollout]) -> list[Judgement]:
        """`verdicts` for callers inside an event loop."""
        task, outputs = _task_and_outputs(rollouts)
        if refused := self._judge.refused([rollout.task for rollout in rollouts]):
            return refused
        if self.traits.ranks:
            return await self._judge.ajudge_group(task, outputs)
        return [await self._judge.ajudge(task, outputs[0])]


class RolloutJudge(_AsksAJudge):
    """The `Work` of judging rollouts: one by one, or by advantage groups if the judge ranks."""

    def blocks(self, items: Iterable[Rollout]) -> Iterator[RolloutGroup]:
        """See Work: a block for each rollout, or each run of neighbours with one task id where the judge ranks."""
        first = 0
        key = (lambda rollout: rollout.task.task_id) if self.traits.ranks else None
        for number, (rollouts, problem) in enumerate(groups(items, key)):
            group = RolloutGroup(tuple(rollouts), held=0, is_group=True, first=first, number=number)
            if problem is not None:
                group.results = self.failed(group, input_error(problem))
            yield group
            first += len(rollouts)

    def judge(self, block: RolloutGroup) -> list[PlacedJudgement]:
        """See Work; a failed judgement where there is no verdict."""
        return block.placed(self.verdicts(block.lines))

    async def ajudge(self, block: RolloutGroup) -> list[PlacedJudgement]:
        """See Work."""
        return block.placed(await self.averdicts(block.lines))

    def failed(self, block: RolloutGroup, error: JudgeError) -> list[PlacedJudgement]:
        """See Work."""
        return block.placed(failed_judgement(rollout, error) for rollout in block.lines)

    def answer(self, block: RolloutGroup) -> OneStep:
        """See Work."""
        return OneStep(lambda: [(place, _fields(judgement)) for place, judgement in self.judge(block)])

    def unpack(self, packed: Any) -> list[PlacedJudgement]:
        """See Work."""
        return [(place, Judgement(*fields)) for place, fields in packed]

    def recovered(self, block: RolloutGroup, notes: list[bytes]) -> list[PlacedJudgement] | str:
        """See Work."""
        results = pickle.loads(notes[0])
        return results if isinstance(results, str) else self.unpack(results)


def _in_worker(kind: Callable[..., Any], *arguments: Any) -> Any:
    return kind(*arguments, in_worker=True)


def _fields(judgement: Judgement) -> tuple[Any, ...]:
    # Its metrics may be a mapping of any kind
    return astuple(replace(judgement, metrics=dict(judgement.metrics)))


def task_of(rollout: Rollout) -> WorkflowTask:
    """The task of a rollout, as judges are given it."""
    task = rollout.task
    # Its own defaults, which WorkflowTask would fill in more slowly
    return WorkflowTask(task=task, task_id=task.task_id, env_type=task.env_type)


def _task_and_outputs(rollouts: Sequence[Rollout]) -> tuple[WorkflowTask, list[WorkflowOutput]]:
    return WorkflowTask(task=rollouts[0].task), [rollout.output for rollout in rollouts]


def failed_judgement(rollout: Rollout | None, error: JudgeError) -> Judgement:
    """The judgement that says why there is no verdict."""
    task_id = rollout.task.task_id if rollout else None
    return Judgement.failed(JudgeError(error.message, task_id=task_id, judge=error.judge, cause=error.cause))


# Rows at a time; see JudgedBlock
_ROWS = 32

Parsed = tuple[Rollout, WorkflowTask]


class LineJudge(_AsksAJudge):
    """Judges lines of rollout files, in blocks: parses each line, and writes and counts it with its verdict.

    Args:
        config: as `load_judge` takes it.
        digest: names the configuration, for `scored_line`.
        stop_at_failure: whether the first failed row ends the judging of its block.
        in_worker: whether this is a worker process: its parent keeps the deadline, and an interrupt comes from the
            judge itself, because Ctrl-C goes to another process.

    Attributes:
        inner: the judge itself; its counts and notes are of this process alone.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(
        self, config: Source, digest: str = "", stop_at_failure: bool = False, *, in_worker: bool = False
    ) -> None:
        super().__init__(config, digest, stop_at_failure, in_worker=in_worker)
        self.digest, self.stop_at_failure, self.in_worker = digest, stop_at_failure, in_worker
        # A judge that waits, ranks neighbours or lives in this process takes rows one by one
        self.takes_blocks = self.traits.kind == "cpu" and not self.traits.ranks and not self.traits.in_main

    def estimate(self, items: Sequence[Line], reckoner: Reckoner) -> tuple[int, Estimate]:
        """How many lines of a unit the judge would be asked about, and what that would use: see BaseJudge.

        Raises:
            JudgeError: there would be no verdict.
        """
        from agentscope_tuner.graders.cost import Estimate
        from agentscope_tuner.task_judge.contract.task_judge import estimate_of

        rollouts = [row.rollout for row in map(parse_line, items) if row.rollout is not None]
        return estimate_of(self._judge, *_task_and_outputs(rollouts), reckoner) if rollouts else (0, Estimate())

    def blocks(self, items: Iterable[Block]) -> Iterator[Block]:
        """See Work."""
        number = 0
        blocks = items if self.takes_blocks else self.groups(item for block in items for item in block.items())
        for block in blocks:
            block.number, number = number, number + block.span
            block.results = self.known(block)
            yield block

    def known(self, block: Block) -> Sequence[ScoredBlock] | None:
        """The results of a block if every row has a verdict already; None for all other blocks."""
        if block.results is not None or not isinstance(block, LineBlock):
            return block.results
        kept = [item.scored for item in block.lines if isinstance(item, JudgedBefore)]
        return [ScoredBlock.of(kept)] if len(kept) == len(block.lines) else None

    def groups(self, items: Iterable[Line | JudgedBefore]) -> Iterator[LineBlock]:
        """A block for each line; for a judge that ranks, a block for each run of neighbours with one task id."""
        group = ""

        def group_of(item: Line | JudgedBefore) -> str:
            # An unreadable line joins the group around it: it must not split the group into two that are ranked apart
            nonlocal group
            rollout = parse_line(item.line if isinstance(item, JudgedBefore) else item).rollout
            group = rollout.task.task_id if rollout else group
            return group

        for found, problem in groups(items, group_of if self.traits.ranks else None):
            # Ranks hold for a whole group only: where one row of a group is new, rank the whole group again
            known = problem is None and all(isinstance(item, JudgedBefore) for item in found)
            if not known:
                found = [item.line if isinstance(item, JudgedBefore) else item for item in found]
            block = LineBlock(tuple(found), sum(len(item.raw) for item in found), is_group=True)
            if problem is not None:
                block.results = self.failed(block, input_error(problem))
            yield block

    def judge(self, block: Block) -> list[ScoredBlock]:
        """See Work; lines that cannot be read fail alone."""
        if self.takes_blocks:
            answer = self.answer(block)
            for _ in answer:
                pass
            return self.unpack(answer.packed())
        return [self._judge_rows(list(block.items()))]

    def _judge_rows(self, lines: Sequence[Line]) -> ScoredBlock:
        rows = [parse_line(line) for line in lines]
        rollouts = [row.rollout for row in rows if row.rollout is not None]
        return self._all_scored(rows, self.verdicts(rollouts) if rollouts else ())

    async def ajudge(self, block: Block) -> list[ScoredBlock]:
        """See Work."""
        rows = [parse_line(line) for line in block.items()]
        rollouts = [row.rollout for row in rows if row.rollout is not None]
        return [self._all_scored(rows, await self.averdicts(rollouts) if rollouts else ())]

    def _all_scored(self, rows: Sequence[Row], judgements: Sequence[Judgement]) -> ScoredBlock:
        judged = iter(judgements)
        return ScoredBlock.of(self._scored(row, _bad_row(row) if row.rollout is None else next(judged)) for row in rows)

    def failed(self, block: Block, error: JudgeError) -> list[ScoredBlock]:
        """See Work."""
        return [ScoredBlock.of(self._failed(item, error) for item in block.items())]

    def _failed(self, item: Line | JudgedBefore, error: JudgeError) -> ScoredLine:
        if isinstance(item, JudgedBefore):
            return item.scored
        row = parse_line(item)
        return self._scored(row, failed_judgement(row.rollout, error))

    def answer(self, block: Block) -> JudgedBlock | OneStep:
        """See Work: each step is a row, and the step's note is the row as it will be written."""
        if self.traits.ranks:
            return OneStep(lambda: self._judge_rows(list(block.items())))
        return JudgedBlock(self, block.items())

    def unpack(self, packed: ScoredBlock) -> list[ScoredBlock]:
        """See Work."""
        return [packed]

    def recovered(self, block: Block, notes: list[bytes]) -> list[ScoredBlock] | str:
        """See Work."""
        if self.traits.ranks:
            result = pickle.loads(notes[0])
            return result if isinstance(result, str) else [result]
        return [ScoredBlock.of(map(_read_back, block.items(), notes))]

    def judged(self, item: Line | JudgedBefore, parsed: Parsed | None) -> ScoredLine:
        """The verdict on one row; most rows are `parsed` already."""
        if isinstance(item, JudgedBefore):
            return item.scored
        try:
            if parsed is None:
                row = parse_line(item)
                verdict = _bad_row(row) if row.rollout is None else self.verdicts([row.rollout])[0]
                return self._scored(row, verdict)
            rollout, task = parsed
            started = time.perf_counter()
            outcome = self._judge.outcome(task, rollout.output)
            seconds = time.perf_counter() - started
            if isinstance(outcome, Judgement):
                line = item.raw[:-1] + judged_end(outcome, seconds, self.digest)
                return ScoredLine(line, outcome, rollout.id, label_of(rollout))
            return self._scored(Row(*item[:2], rollout, None, item.spent), Judgement.failed(outcome, seconds=seconds))
        # boundary: an error while a row is judged in a worker fails that row, and the worker goes on
        except BaseException as exc:
            if not self.in_worker:
                raise
            error = JudgeError(f"{type(exc).__name__} in a worker process: {exc}", cause=Cause.WORKER)
            return self._failed(item, error)

    def _scored(self, row: Row, judgement: Judgement) -> ScoredLine:
        if judgement.status == "failed":
            judgement = replace(judgement, error=f"{row.where}: {judgement.error}")
        if row.spent:
            judgement = replace(judgement, metrics=_added(judgement.metrics, row.spent))
        name, label = name_and_label(row)
        return ScoredLine(scored_line(row, judgement, self.digest), judgement, name, label)


def _read_back(item: Line | JudgedBefore, note: bytes) -> ScoredLine:
    if isinstance(item, JudgedBefore):
        return item.scored
    written = earlier_row(note)
    assert written is not None
    assert written.judgement is not None
    return ScoredLine(note, written.judgement, *name_and_label(parse_line(item)))


def _added(metrics: Mapping[str, float], more: Mapping[str, float]) -> dict[str, float]:
    return {**metrics, **{name: metrics.get(name, 0.0) + value for name, value in more.items()}}


def _bad_row(row: Row) -> Judgement:
    assert row.problem is not None
    # Summaries count failures by reason: drop the column, so that the same mistake always has the same reason
    kind = re.sub(r" at column \d+", "", row.problem)
    return Judgement.failed(row.problem, cause=Cause.INPUT, reason=f"bad row: {kind}")


class JudgedBlock:
    """The judging of one block: iterating gives each row's scored line, as the note of a `BlockAnswer`.

    A few rows at a time are parsed, then judged one by one, and counted at the end. To do each of these for several
    rows takes half the time of doing all of them row by row.
    """

    def __init__(self, judge: LineJudge, items: Iterator[Line | JudgedBefore]) -> None:
        self._judge = judge
        self._items = items
        self._scored: list[ScoredLine] = []

    def packed(self) -> ScoredBlock:
        """See BlockAnswer: the rows that were judged since the last call."""
        # Taken first: what an interrupt leaves uncounted is not counted again
        scored, self._scored = self._scored, []
        return ScoredBlock.of(scored)

    def __iter__(self) -> Iterator[bytes]:
        judge = self._judge
        while items := list(islice(self._items, _ROWS)):
            for item, parsed in zip(items, [_parsed(item) for item in items], strict=True):
                row = judge.judged(item, parsed)
                self._scored.append(row)
                yield row.line
                if judge.stop_at_failure and row.judgement.status == "failed":
                    return


def _parsed(item: Line | JudgedBefore) -> Parsed | None:
    """An ordinary row, parsed for its judge; None for all others, which `LineJudge` judges."""
    if isinstance(item, JudgedBefore) or item.problem is not None or item.spent or b'"judgement"' in item.raw:
        return None
    try:
        rollout = Rollout.model_validate_json(item.raw)
        return rollout, task_of(rollout)
    except ValidationError:
        return None
