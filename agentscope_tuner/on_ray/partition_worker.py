"""Judges one partition in one process: it reads rows, writes a file and its record, and goes on where a dead worker
stopped.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentscope_tuner import _loop
from agentscope_tuner.engines.blocks import BlockJudge
from agentscope_tuner.engines.judging import LineJudge
from agentscope_tuner.engines.pace import SLICE_SECONDS
from agentscope_tuner.engines.scored_block import ScoredBlock
from agentscope_tuner.engines.scored_line import JudgedBefore, ScoredLine, judged_before
from agentscope_tuner.engines.units import Unit
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.on_ray.partition_source import Partition, partition_lines
from agentscope_tuner.on_ray.partitions import PartitionedOutput, PartitionRecord, checksummed, has_source
from agentscope_tuner.records import EarlierRow, Line, Summary, earlier_rows
from agentscope_tuner.task_judge.base_judge import Counts
from agentscope_tuner.task_judge.judgement import Judgement

# A worker that dies loses less than this much work. After a death every unit is written at once, so that the file
# ends before the row that kills the next worker
_FLUSH_SECONDS = 0.1
# A worker that always dies before its first row would be restarted for ever
_MOST_DEATHS = 5

LineUnit = Unit[Line, ScoredLine]


@dataclass(frozen=True, slots=True)
class FileJob:
    """The job of a run, the same for every worker.

    Attributes:
        config: the configuration, its `astuner` section resolved.
        digest: names it, for `scored_line`.
        folder: the output's.
        run: names this run: a partition that one of its workers left unfinished is continued, and keeps its failed
            rows.
        resume: take verdicts over from earlier runs; their failed rows are judged again.
    """

    config: dict[str, Any]
    digest: str
    folder: str
    run: str
    resume: bool


class PartitionWorker:
    """Judges partitions one after another; each process has one worker.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(self, job: FileJob) -> None:
        self._job = job
        self._judge = LineJudge(job.config, job.digest)
        # an async judge that computes blocks the loop: it gains nothing from several rows at once
        traits = self._judge.traits
        self._at_once = self._judge.concurrency if traits.shares_loop and traits.kind == "io" else 1
        self._blocks = None if traits.ranks or traits.kind == "io" else BlockJudge(self._judge)
        self._output = PartitionedOutput(Path(job.folder), job.digest)

    def judge(self, partition: Partition) -> PartitionRecord:
        """Judge `partition`, unless an earlier run did, and publish its file and its record."""
        done = self._output.record(partition) if self._job.resume else None
        if done and not done.statuses.get("failed") and self._output.is_whole(done) and has_source(partition, done):
            return replace(done, kept=done.rows)
        lost = self._output.partials(partition, self._job.run)
        where = f"{partition.source}@{partition.start}"
        deaths = _Deaths([_count_lines(path) for path in lost], where, self._at_once)
        leftovers = self._output.leftovers(partition) if self._job.resume else []
        earlier = _Earlier(self._job.digest, lost[-1] if lost else None, leftovers[-1] if leftovers else None)
        partial = self._output.new_partial(partition, self._job.run, len(lost))
        source, tally = hashlib.sha256(), _Tally()
        flushed = time.monotonic()
        with open(partial, "wb") as stream:
            lines = checksummed(partition_lines(partition), source)
            items: Iterator[Line | JudgedBefore] = map(earlier.with_verdict, lines) if lost or leftovers else lines
            for rows in self._in_turn(items) if self._blocks and not lost else self._scored(items, deaths):
                stream.write(tally.add(rows))
                if lost or time.monotonic() - flushed > _FLUSH_SECONDS:
                    stream.flush()
                    flushed = time.monotonic()
        record = tally.record(partition, source.hexdigest(), self._job.digest, self._judge.take_counts())
        self._output.finish(partial, record)
        return record

    def _in_turn(self, items: Iterator[Line | JudgedBefore]) -> Iterator[ScoredBlock]:
        """The results of rows that are judged in order, some rows at a time: parsed, judged and written."""
        assert self._blocks is not None
        answer = self._blocks.answer(_Unread(items))
        handed_on = time.monotonic()
        for _ in answer:
            if (now := time.monotonic()) - handed_on > SLICE_SECONDS:
                handed_on = now
                yield answer.taken()
        yield answer.taken()

    def _scored(self, items: Iterator[Line | JudgedBefore], deaths: _Deaths) -> Iterator[ScoredBlock]:
        """The results of each unit, in order."""
        pending: deque[Future[Sequence[ScoredLine]]] = deque()
        for unit in self._judge.units(items):
            alone = self._at_once == 1 or deaths.suspect(unit.first)
            while pending and (alone or len(pending) >= self._at_once):
                yield ScoredBlock.of(pending.popleft().result())
            if alone:
                yield ScoredBlock.of(self._verdict(unit, deaths))
            else:
                pending.append(self._begun(unit))
        while pending:
            yield ScoredBlock.of(pending.popleft().result())

    def _verdict(self, unit: LineUnit, deaths: _Deaths) -> Sequence[ScoredLine]:
        if unit.results is not None:
            return unit.results
        if deaths.killed_by(unit.first):
            error = JudgeError("its worker died twice while it was judged", cause=Cause.WORKER)
            return self._judge.failed(unit.items, error)
        return self._judge.judge(unit.items)

    def _begun(self, unit: LineUnit) -> Future[Sequence[ScoredLine]]:
        if unit.results is None:
            return asyncio.run_coroutine_threadsafe(self._judge.ajudge(unit.items), _loop.get_loop())
        done: Future[Sequence[ScoredLine]] = Future()
        done.set_result(unit.results)
        return done


class _Unread:
    """The rows of a partition, as a BlockJudge takes them; they are read while they are judged."""

    def __init__(self, items: Iterator[Line | JudgedBefore]) -> None:
        self._items = items

    def items(self) -> Iterator[Line | JudgedBefore]:
        """See Block."""
        return self._items


class _Tally:
    """Counts and checksums of a partition's rows."""

    def __init__(self) -> None:
        self._summary = Summary()
        self._checksum = hashlib.sha256()
        self._bytes = self._kept = 0

    def add(self, rows: ScoredBlock) -> bytes:
        """The lines, each of which is counted as it passes."""
        self._summary.merge(rows.summary)
        self._kept += rows.kept
        self._checksum.update(rows.data)
        self._bytes += len(rows.data)
        return rows.data

    def record(self, partition: Partition, source_sha256: str, digest: str, counts: Counts) -> PartitionRecord:
        return PartitionRecord(
            name=partition.name,
            source=partition.source,
            start=partition.start,
            end=partition.end,
            source_sha256=source_sha256,
            config=digest,
            rows=self._summary.rows,
            statuses=dict(self._summary.statuses),
            bytes=self._bytes,
            sha256=self._checksum.hexdigest(),
            summary=self._summary.to_dict(),
            counts=dict(counts),
            kept=self._kept,
        )


class _Deaths:
    """The evidence of earlier attempts: each attempt's file ends before the row that killed its worker.

    Args:
        ends: how many rows each attempt of this run wrote.
        where: the partition, for messages.
        at_once: how many rows a worker had in hand at most.

    Raises:
        JudgeError: workers keep dying at the same place, whichever row they judge.
    """

    def __init__(self, ends: list[int], where: str, at_once: int) -> None:
        if len(ends) >= _MOST_DEATHS and len(set(ends[-_MOST_DEATHS:])) == 1:
            raise JudgeError(
                f"{where}: {_MOST_DEATHS} workers died one after another after row {ends[-1]}", cause=Cause.WORKER
            )
        self._ends = ends
        self._at_once = at_once

    def suspect(self, row: int) -> bool:
        """Whether the last worker may have died of this row, which is then judged alone."""
        return bool(self._ends) and self._ends[-1] <= row < self._ends[-1] + self._at_once

    def killed_by(self, row: int) -> bool:
        """Whether two workers died of this row."""
        return self._ends[-2:] == [row, row]


class _Earlier:
    """Takes over the verdicts of this run's lost workers and of earlier runs, where the row is the same.

    Args:
        lost: rows that a lost worker of this run wrote; its failed rows are final, too.
        leftover: rows that an earlier run wrote; its failed rows are judged again.
    """

    def __init__(self, digest: str, lost: Path | None, leftover: Path | None) -> None:
        self._digest = digest
        self._lost = earlier_rows(lost)
        self._leftover = earlier_rows(leftover)

    def with_verdict(self, line: Line) -> Line | JudgedBefore:
        """`line` with its verdict, where there is one; to be called for every line of the partition, in order."""
        lost, leftover = next(self._lost, None), next(self._leftover, None)
        if lost and (judgement := self._verdict(line, lost)):
            return judged_before(line, lost.line, judgement, kept=False)
        if leftover and (judgement := self._verdict(line, leftover)):
            line = line._replace(spent=leftover.spent)
            if judgement.status != "failed":
                return judged_before(line, leftover.line, judgement)
        return line

    def _verdict(self, line: Line, before: EarlierRow) -> Judgement | None:
        return before.judgement if before.config == self._digest and before.is_of(line.raw) else None


def _count_lines(path: Path) -> int:
    with open(path, "rb") as stream:
        return sum(line.endswith(b"\n") for line in stream)
