"""Judges blocks of a rollout file: the process that judges a block also parses it, writes its rows and sums them up.

Processes exchange whole blocks, so no other process does work for each row.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from pydantic import ValidationError

from agentscope_tuner.engines.judging import LineJudge, task_of
from agentscope_tuner.engines.scored_block import AlikeRows, JudgedRow, ScoredBlock
from agentscope_tuner.engines.scored_line import JudgedBefore, ScoredLine, name_and_label
from agentscope_tuner.engines.units import Unit
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.records import Line, judged_end, parse_line, read_end
from agentscope_tuner.records.blocks import Block, LineBlock
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.workflow import Rollout, WorkflowTask

# Rows at a time; see JudgedBlock
_ROWS = 32
# The first byte of a pickled note: no end of a scored line begins with it
_PICKLED = b"P"

BlockUnit = Unit[Any, ScoredBlock]
Parsed = tuple[Rollout, WorkflowTask]


class BlockJudge:
    """A LineJudge whose units are blocks.

    Args:
        lines: judges single rows; its judge does not rank.
        stop_at_failure: whether the first failed row ends the judging of its block.
        in_worker: whether this is a worker process, where an interrupt comes from the judge itself: Ctrl-C goes to
            another process.
    """

    def __init__(self, lines: LineJudge, *, stop_at_failure: bool = False, in_worker: bool = False) -> None:
        self.lines = lines
        self.stop_at_failure = stop_at_failure
        self.in_worker = in_worker
        self.recipe: tuple[object, ...] = (_in_worker, stop_at_failure, *lines.recipe[1:])
        self.outcome = lines.outcome
        self.traits = lines.traits
        self.concurrency = lines.concurrency
        self.deadline = lines.deadline

    def units(self, items: Iterable[Block]) -> Iterator[BlockUnit]:
        """A unit for each block."""
        number = 0
        for block in items:
            yield _unit(number, block)
            number += block.span

    def judge(self, items: Any) -> list[ScoredBlock]:
        """See Work."""
        answer = self.answer(items)
        for _ in answer:
            pass
        return [answer.taken()]

    async def ajudge(self, items: Any) -> list[ScoredBlock]:
        """See Work; async judges are never given blocks."""
        return self.judge(items)

    def failed(self, items: Any, error: JudgeError) -> list[ScoredBlock]:
        """See Work."""
        return [ScoredBlock.of(row for item in items.items() for row in self._failed(item, error))]

    def _failed(self, item: Line | JudgedBefore, error: JudgeError) -> list[ScoredLine]:
        return [item.scored] if isinstance(item, JudgedBefore) else self.lines.failed([item], error)

    def pack(self, items: Any) -> Any:
        """See Work: the block."""
        return items

    def answer(self, packed: Any) -> JudgedBlock:
        """See Work: each step is a row, and the step's note is the row as it will be written."""
        return JudgedBlock(self, packed)

    def unpack(self, packed: Any) -> Sequence[ScoredBlock]:
        """See Work."""
        return [packed]

    def recovered(self, items: Any, notes: list[bytes]) -> Sequence[ScoredBlock]:
        """See Work."""
        return [ScoredBlock.of(map(self._read_back, items.items(), notes))]

    def _read_back(self, item: Line | JudgedBefore, note: bytes) -> ScoredLine:
        if note.startswith(_PICKLED):
            scored: ScoredLine = pickle.loads(note[1:])
            return scored
        assert isinstance(item, Line), "an earlier run's rows are noted as they are"
        return ScoredLine(item.raw[:-1] + note, read_end(note), *name_and_label(parse_line(item)))

    def judged(self, item: Line | JudgedBefore, parsed: Parsed | None) -> JudgedRow | ScoredLine:
        """The verdict on one row; most rows are `parsed` already."""
        if isinstance(item, JudgedBefore):
            return item.scored
        try:
            if parsed is None:
                return self.lines.judge([item])[0]
            rollout, task = parsed
            started = time.perf_counter()
            outcome = self.outcome(task, rollout.output)
            seconds = time.perf_counter() - started
            if isinstance(outcome, Judgement):
                end = judged_end(outcome, seconds, self.lines.digest) if self.in_worker else b""
                return JudgedRow(item.raw, rollout, outcome, seconds, end)
            return self.lines.scored(item, rollout, Judgement.failed(outcome, seconds=seconds))
        # boundary: an error while a row is judged in a worker fails that row, and the worker goes on
        except BaseException as exc:
            if not self.in_worker:
                raise
            error = JudgeError(f"{type(exc).__name__} in a worker process: {exc}", cause=Cause.WORKER)
            return self.lines.failed([item], error)[0]

    def steps(self, items: Any) -> int:
        """See Work."""
        return sum(1 for _ in items.items())

    def cut(self, unit: BlockUnit, steps: int) -> tuple[BlockUnit, BlockUnit | None]:
        """See Work."""
        return _parts(unit, *self._block(unit).cut(steps))

    def split(self, unit: BlockUnit, span: int) -> tuple[BlockUnit, BlockUnit | None]:
        """See Work."""
        return _parts(unit, *self._block(unit).split(span))

    @staticmethod
    def _block(unit: BlockUnit) -> Block:
        block: Any = unit.items
        return block  # type: ignore[no-any-return]


def _in_worker(stop_at_failure: bool, *arguments: Any) -> BlockJudge:
    judge = LineJudge(*arguments)
    judge.unwatch()
    return BlockJudge(judge, stop_at_failure=stop_at_failure, in_worker=True)


def _unit(number: int, block: Block) -> BlockUnit:
    items: Any = block
    return Unit(number, number, items, block.size, _known(block), block.span)


def _known(block: Block) -> list[ScoredBlock] | None:
    """The results of a block in which every row has an earlier run's verdict: it needs no worker."""
    if not isinstance(block, LineBlock) or not isinstance(block.lines[0], JudgedBefore):
        return None
    kept = [item.scored for item in block.lines if isinstance(item, JudgedBefore)]
    return [ScoredBlock.of(kept)] if len(kept) == len(block.lines) else None


def _parts(unit: BlockUnit, head: Block, tail: Block | None) -> tuple[BlockUnit, BlockUnit | None]:
    if tail is None:
        return unit, None
    first = _unit(unit.number, head)
    return first, _unit(first.end, tail)


class JudgedBlock:
    """The judging of one block, a few rows at a time: parsed, then judged, then written and counted.

    Running each of these stages over several rows takes half the time of running all stages row by row. In a worker the
    end of a row's line is made at once, because it is the note of the row's verdict.
    """

    def __init__(self, judge: BlockJudge, block: Block) -> None:
        self._judge = judge
        self._items = block.items()
        self._judged: list[JudgedRow | ScoredLine] = []
        self._written: list[bytes] = []
        self._found = ScoredBlock()
        self._alike = AlikeRows()

    def packed(self) -> ScoredBlock:
        """See UnitAnswer."""
        return self.taken()

    def taken(self) -> ScoredBlock:
        """The rows that were judged since the last call."""
        self._write()
        found, self._found = self._found, ScoredBlock()
        found.data = b"".join(self._written)
        self._written.clear()
        return found

    def __iter__(self) -> Iterator[bytes]:
        judge, judged, noted = self._judge, self._judged, self._judge.in_worker
        while items := list(islice(self._items, _ROWS)):
            for item, parsed in zip(items, [_parsed(item) for item in items], strict=True):
                row = judge.judged(item, parsed)
                judged.append(row)
                yield _note(row) if noted else b""
                if judge.stop_at_failure and _failed(row):
                    return
            self._write()

    def _write(self) -> None:
        digest, written, alike = self._judge.lines.digest, self._written, self._alike
        for row in self._judged:
            if isinstance(row, ScoredLine):
                alike.flush(self._found.summary)
                self._found.count(row)
                written.append(row.line)
            else:
                alike.add(row, self._found.summary)
                written += (row.raw[:-1], row.end or judged_end(row.judgement, row.seconds, digest))
        self._judged.clear()
        alike.flush(self._found.summary)


def _parsed(item: Line | JudgedBefore) -> Parsed | None:
    """An ordinary row, parsed for its judge; None for all others, which `LineJudge` judges."""
    if isinstance(item, JudgedBefore) or item.problem is not None or item.spent or b'"judgement"' in item.raw:
        return None
    try:
        rollout = Rollout.model_validate_json(item.raw)
        return rollout, task_of(rollout)
    except ValidationError:
        return None


def _failed(row: JudgedRow | ScoredLine) -> bool:
    return isinstance(row, ScoredLine) and row.judgement.status == "failed"


def _note(row: JudgedRow | ScoredLine) -> bytes:
    """The note from which the engine writes the row if this process dies first."""
    return row.end if isinstance(row, JudgedRow) else _PICKLED + pickle.dumps(row)
