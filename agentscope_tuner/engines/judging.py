"""How every engine judges rows: rollouts, and the lines of rollout files. A row that gets no verdict gets a judgement
of status `failed`.

The process that judges a block of lines also parses it, writes its rows and sums them up. Processes exchange whole
blocks, so no other process does work for each row.

A resumed run takes over the verdicts of an earlier run: `resumed` adds them to the rows of the input.
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

# The summary of a whole run shows eight examples; seven of them may already be in the summary of earlier blocks
_EXAMPLES = 16


class ScoredLine(NamedTuple):
    """One row of a rollout file with its verdict.

    Attributes:
        line: the row as it is to be written, with its judgement and its line break.
        judgement: the same verdict.
        name: the rollout's id, for messages; if no id can be read, the row's position, such as `rollouts.jsonl:3`.
        label: the row's own `label.is_success`; None if it has none.
        kept: whether the verdict was taken over from an earlier run.
    """

    line: bytes
    judgement: Judgement
    name: str
    label: bool | None
    kept: bool = False


class JudgedBefore(NamedTuple):
    """A line of the input with the verdict that an earlier run gave it.

    It is not judged again, unless another row of its group is new and the whole group has to be ranked again.
    """

    line: Line
    scored: ScoredLine

    @property
    def raw(self) -> bytes:
        """The bytes of the input's line, without the verdict."""
        return self.line.raw


def judged_before(line: Line, written: bytes, judgement: Judgement, *, kept: bool = True) -> JudgedBefore:
    """`line` with the verdict that it was given before.

    Args:
        line: the line of the input.
        written: the row with its verdict, as it was written to the output.
        judgement: the verdict.
        kept: whether an earlier run judged it; False if it was a worker of this run that has died since.
    """
    return JudgedBefore(line, ScoredLine(written, judgement, *name_and_label(parse_line(line)), kept=kept))


def name_and_label(row: Row) -> tuple[str, bool | None]:
    """The name of a row and its `label.is_success`, as `Summary.add` takes them: `("r1", True)`.

    A row that is no rollout is named by its position in the file: `("rollouts.jsonl:3", None)`.
    """
    if row.rollout is None:
        return row.where, None
    return row.rollout.id, label_of(row.rollout)


def label_of(rollout: Rollout) -> bool | None:
    """The rollout's own `label.is_success`; None if it has no such label."""
    is_success = rollout.label.get("is_success") if rollout.label else None
    return is_success if isinstance(is_success, bool) else None


@dataclass(slots=True)
class ScoredBlock:
    """Several rows with their verdicts, joined so that they are written and counted at once.

    Attributes:
        data: the rows as they are to be written, each with its judgement and its line break.
        summary: the summary of these rows.
        kept: how many of the verdicts were taken over from an earlier run.
        error: the error of the first failed row; None if no row failed.
    """

    data: bytes = b""
    summary: Summary = field(default_factory=lambda: Summary(most_examples=_EXAMPLES))
    kept: int = 0
    error: str | None = None

    @classmethod
    def of(cls, rows: Iterable[ScoredLine]) -> ScoredBlock:
        """Join rows that were scored one by one, and count them."""
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
    """The input of a resumed run: its blocks, in which each line that the earlier run judged has that run's verdict.

    Blocks behind the last row that the earlier run wrote are returned unchanged. `with_earlier` does it line by line.

    Args:
        blocks: the blocks of lines of the input.
        earlier: the rows that the earlier run wrote, from its first row on.
        digest: the fingerprint of this run's configuration.

    Raises:
        ConfigError: as `with_earlier`; the rows before the wrong row are handed on first.
    """
    for block in blocks:
        before = list(islice(earlier, block.steps()))
        yield from gathered(with_earlier(block.items(), iter(before), digest)) if before else (block,)


def with_earlier(lines: Iterator[Line], earlier: Iterator[EarlierRow], digest: str) -> Iterator[Line | JudgedBefore]:
    """The lines, each with its verdict (`JudgedBefore`) if the earlier run over the same input judged it.

    Args:
        lines: the lines of the input, in order.
        earlier: the rows that the earlier run wrote, from the same position on.
        digest: the fingerprint of this run's configuration.

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
    """The judgement that the earlier run wrote for `row`; None if it failed, is missing or is of a changed row.

    Raises:
        ConfigError: the earlier run judged another input, or by another configuration.
    """
    if row.rollout is None or before.judgement is None:
        return None
    # A rollout's id is a string, even if its line has a number
    if str(before.own.get("id", row.rollout.id)) != row.rollout.id:
        ids = f"{row.where} has id {row.rollout.id!r} where the earlier output has {before.own['id']!r}"
        raise ConfigError(f"{ids}: it was made from another input; run without --resume")
    if before.config != digest:
        other = "the earlier output was judged under another configuration or version"
        raise ConfigError(f"{row.where}: {other}: run without --resume, or name another --output")
    return before.judgement if before.judgement.status != "failed" and before.is_of(row.raw) else None


#: The position of a rollout in the input, from 0, and its judgement.
PlacedJudgement = tuple[int, Judgement]


@dataclass(slots=True)
class RolloutGroup(LineBlock):
    """A block of rollouts that are judged together: a whole advantage group if the judge ranks, else a single rollout.

    `lines` holds the `Rollout` objects in place of lines, with every extra field that a trainer added.

    Attributes:
        first: the position of its first rollout in the input, from 0.
    """

    first: int = 0

    def placed(self, judgements: Iterable[Judgement]) -> list[PlacedJudgement]:
        """The judgements of its rollouts, each with the rollout's position in the input: `[(4, …), (5, …)]`."""
        return list(enumerate(judgements, self.first))


class _JudgeCaller:
    """Loads the judge of a configuration and asks it for verdicts: the common base of `RolloutJudge` and `LineJudge`.

    Attributes:
        inner: the judge itself.
        traits: how the judge must be called. If it ranks, neighbours with one task id are judged together.
        concurrency: how many rows are judged at once in a process, if the judge awaits.
        deadline: seconds for the verdict on a row or group; None for no limit.
        recipe: the class and arguments from which another process makes the same object.

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
        """A judgement for each of `rollouts`: a whole group if the judge ranks, else a single rollout."""
        task, outputs = _task_and_outputs(rollouts)
        if refused := self._judge.refused([rollout.task for rollout in rollouts]):
            return refused
        # A judge that ranks is given a group even if it has one member
        return self._judge.judge_group(task, outputs) if self.traits.ranks else [self._judge.judge(task, outputs[0])]

    async def averdicts(self, rollouts: Sequence[Rollout]) -> list[Judgement]:
        """A judgement for each of `rollouts`, as `verdicts`, but without blocking the event loop of the caller."""
        task, outputs = _task_and_outputs(rollouts)
        if refused := self._judge.refused([rollout.task for rollout in rollouts]):
            return refused
        if self.traits.ranks:
            return await self._judge.ajudge_group(task, outputs)
        return [await self._judge.ajudge(task, outputs[0])]


class RolloutJudge(_JudgeCaller):
    """Judges `Rollout` objects for an engine (see `Work`): one by one, or by advantage groups if the judge ranks."""

    def blocks(self, items: Iterable[Rollout]) -> Iterator[RolloutGroup]:
        """A block for each rollout; if the judge ranks, a block for each run of neighbours with one task id."""
        first = 0
        key = (lambda rollout: rollout.task.task_id) if self.traits.ranks else None
        for number, (rollouts, problem) in enumerate(groups(items, key)):
            group = RolloutGroup(tuple(rollouts), held=0, is_group=True, first=first, number=number)
            if problem is not None:
                group.results = self.failed(group, input_error(problem))
            yield group
            first += len(rollouts)

    def judge(self, block: RolloutGroup) -> list[PlacedJudgement]:
        """Judge the rollouts of a block; one that gets no verdict gets a judgement of status `failed`."""
        return block.placed(self.verdicts(block.lines))

    async def ajudge(self, block: RolloutGroup) -> list[PlacedJudgement]:
        """Judge the rollouts of a block, as `judge`, but with a judge that awaits."""
        return block.placed(await self.averdicts(block.lines))

    def failed(self, block: RolloutGroup, error: JudgeError) -> list[PlacedJudgement]:
        """A judgement of status `failed`, with `error`, for every rollout of the block."""
        return block.placed(failed_judgement(rollout, error) for rollout in block.lines)

    def answer(self, block: RolloutGroup) -> OneStep:
        """Prepare to judge the block in a worker process, as a whole; see `Work.answer`."""
        return OneStep(lambda: [(place, _fields(judgement)) for place, judgement in self.judge(block)])

    def unpack(self, packed: Any) -> list[PlacedJudgement]:
        """The judgements that a worker process sent as tuples of their fields."""
        return [(place, Judgement(*fields)) for place, fields in packed]

    def recovered(self, block: RolloutGroup, notes: list[bytes]) -> list[PlacedJudgement] | str:
        """The judgements that a worker process noted before it died, or the text of the error that it noted."""
        results = pickle.loads(notes[0])
        return results if isinstance(results, str) else self.unpack(results)


def _in_worker(kind: Callable[..., Any], *arguments: Any) -> Any:
    return kind(*arguments, in_worker=True)


def _fields(judgement: Judgement) -> tuple[Any, ...]:
    # A judge may give metrics as a mapping of any class, which other processes need not know: make it a dict
    return astuple(replace(judgement, metrics=dict(judgement.metrics)))


def task_of(rollout: Rollout) -> WorkflowTask:
    """The task of a rollout, in the form in which judges take it."""
    task = rollout.task
    # WorkflowTask would copy the id and the environment from its task, but more slowly
    return WorkflowTask(task=task, task_id=task.task_id, env_type=task.env_type)


def _task_and_outputs(rollouts: Sequence[Rollout]) -> tuple[WorkflowTask, list[WorkflowOutput]]:
    return WorkflowTask(task=rollouts[0].task), [rollout.output for rollout in rollouts]


def failed_judgement(rollout: Rollout | None, error: JudgeError) -> Judgement:
    """A judgement of status `failed` with `error`, which names the rollout's task if the rollout could be read."""
    task_id = rollout.task.task_id if rollout else None
    return Judgement.failed(JudgeError(error.message, task_id=task_id, judge=error.judge, cause=error.cause))


# Rows at a time; see JudgedBlock
_ROWS = 32

Parsed = tuple[Rollout, WorkflowTask]


class LineJudge(_JudgeCaller):
    """Judges the lines of rollout files for an engine (see `Work`): parses each line, and adds its verdict to it.

    Args:
        config: as `load_judge` takes it.
        digest: the fingerprint of the configuration, which `scored_line` writes into each row.
        stop_at_failure: whether the first failed row ends the judging of its block.
        in_worker: whether this is a worker process: then its parent keeps the deadline, and a KeyboardInterrupt can
            only come from the judge itself, because Ctrl-C goes to the parent.

    Attributes:
        inner: the judge itself; its counts and notes cover this process alone.
        takes_blocks: whether whole blocks of the input are judged as they are, and not row by row or group by group.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(
        self, config: Source, digest: str = "", stop_at_failure: bool = False, *, in_worker: bool = False
    ) -> None:
        super().__init__(config, digest, stop_at_failure, in_worker=in_worker)
        self.digest, self.stop_at_failure, self.in_worker = digest, stop_at_failure, in_worker
        # A judge that waits, ranks neighbours or is defined in the main script takes rows or groups one by one
        self.takes_blocks = self.traits.kind == "cpu" and not self.traits.ranks and not self.traits.in_main

    def estimate(self, items: Sequence[Line], reckoner: Reckoner) -> tuple[int, Estimate]:
        """Estimate the cost of judging, without judging: how many lines the judge would be asked about, and the use of
        judge models (calls and tokens) for them; see `BaseJudge.estimate`.

        Args:
            items: lines that are judged together: one, or a whole advantage group.
            reckoner: counts what the judge's calls would use.

        Raises:
            JudgeError: there would be no verdict.
        """
        from agentscope_tuner.graders.cost import Estimate
        from agentscope_tuner.task_judge.contract.task_judge import estimate_of

        rollouts = [row.rollout for row in map(parse_line, items) if row.rollout is not None]
        return estimate_of(self._judge, *_task_and_outputs(rollouts), reckoner) if rollouts else (0, Estimate())

    def blocks(self, items: Iterable[Block]) -> Iterator[Block]:
        """The blocks of the input, numbered; the judge's kind decides whether rows are regrouped (see `groups`)."""
        number = 0
        blocks = items if self.takes_blocks else self.groups(item for block in items for item in block.items())
        for block in blocks:
            block.number, number = number, number + block.span
            block.results = self.known(block)
            yield block

    def known(self, block: Block) -> Sequence[ScoredBlock] | None:
        """The results of a block that need not be judged: every row has an earlier verdict, or the block has failed.

        None for a block that has to be judged.
        """
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
            # Ranks hold for a whole group only: if one row of a group is new, rank the whole group again
            known = problem is None and all(isinstance(item, JudgedBefore) for item in found)
            if not known:
                found = [item.line if isinstance(item, JudgedBefore) else item for item in found]
            block = LineBlock(tuple(found), sum(len(item.raw) for item in found), is_group=True)
            if problem is not None:
                block.results = self.failed(block, input_error(problem))
            yield block

    def judge(self, block: Block) -> list[ScoredBlock]:
        """Judge the lines of a block; a line that cannot be read fails, and the others are judged."""
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
        """Judge the lines of a block, as `judge`, but with a judge that awaits."""
        rows = [parse_line(line) for line in block.items()]
        rollouts = [row.rollout for row in rows if row.rollout is not None]
        return [self._all_scored(rows, await self.averdicts(rollouts) if rollouts else ())]

    def _all_scored(self, rows: Sequence[Row], judgements: Sequence[Judgement]) -> ScoredBlock:
        judged = iter(judgements)
        return ScoredBlock.of(self._scored(row, _bad_row(row) if row.rollout is None else next(judged)) for row in rows)

    def failed(self, block: Block, error: JudgeError) -> list[ScoredBlock]:
        """The rows of the block, each with a judgement of status `failed`; earlier verdicts are kept."""
        return [ScoredBlock.of(self._failed(item, error) for item in block.items())]

    def _failed(self, item: Line | JudgedBefore, error: JudgeError) -> ScoredLine:
        if isinstance(item, JudgedBefore):
            return item.scored
        row = parse_line(item)
        return self._scored(row, failed_judgement(row.rollout, error))

    def answer(self, block: Block) -> JudgedBlock | OneStep:
        """Prepare to judge the block in a worker process (see `Work.answer`): row by row, unless the judge ranks.

        The note of each row is the row as it will be written.
        """
        if self.traits.ranks:
            return OneStep(lambda: self._judge_rows(list(block.items())))
        return JudgedBlock(self, block.items())

    def unpack(self, packed: ScoredBlock) -> list[ScoredBlock]:
        """The block of scored rows that a worker process sent; it is pickled as it is."""
        return [packed]

    def recovered(self, block: Block, notes: list[bytes]) -> list[ScoredBlock] | str:
        """The rows that a worker process noted before it died, with their verdicts, or the text of its error."""
        if self.traits.ranks:
            result = pickle.loads(notes[0])
            return result if isinstance(result, str) else [result]
        return [ScoredBlock.of(map(_read_back, block.items(), notes))]

    def judged(self, item: Line | JudgedBefore, parsed: Parsed | None) -> ScoredLine:
        """Judge one row, and return it with its verdict; `parsed` is None for a row that has to be parsed first."""
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
    """A block of lines that is judged row by row while it is iterated over; a `BlockAnswer`.

    Each step yields the row as it will be written, with its verdict. A few rows at a time are parsed, then judged one
    by one; `packed` counts them. Doing each of these for several rows takes half the time of doing all of them row by
    row.
    """

    def __init__(self, judge: LineJudge, items: Iterator[Line | JudgedBefore]) -> None:
        self._judge = judge
        self._items = items
        self._scored: list[ScoredLine] = []

    def packed(self) -> ScoredBlock:
        """The rows that were judged since the last call, with their verdicts."""
        # Take the rows out first: after an interrupt in `of`, no row is counted twice
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
    """The rollout of a line and its task. None for a line that needs more care, which `LineJudge.judged` then parses:
    one that has a problem or an earlier verdict, or that is no rollout.
    """
    if isinstance(item, JudgedBefore) or item.problem is not None or item.spent or b'"judgement"' in item.raw:
        return None
    try:
        rollout = Rollout.model_validate_json(item.raw)
        return rollout, task_of(rollout)
    except ValidationError:
        return None
