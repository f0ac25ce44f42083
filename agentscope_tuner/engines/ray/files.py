"""Judges rollout files on a Ray cluster: `score_files` cuts them into partitions, and judge actors judge these.

A partition is a stretch of one input file (see `partitions`). `PartitionWorker` judges one in one process: it reads the
rows, writes a file and its record, and continues at the row at which a dead worker stopped.

Ray Data moves only the partitions' names, not their rows: an actor reads its partition, judges it and writes it. So the
rows are never copied into Ray's object store and back (`make bench-ray` shows the cost of such copies). When a worker
or node is lost, Ray repeats its task, which is again one partition, as for `--resume`. Ray's own readers would cut
files by the size of the cluster, and `read_json` refuses a file for one bad line.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import time
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from agentscope_tuner._run import loops
from agentscope_tuner._run.pool import POLICY
from agentscope_tuner.config import Source, resolve
from agentscope_tuner.engines.crew import SLICE_SECONDS
from agentscope_tuner.engines.judging import (
    JudgedBefore,
    JudgedBlock,
    LineJudge,
    RolloutJudge,
    ScoredBlock,
    judged_before,
)
from agentscope_tuner.engines.ray import enter, own_error, portable, ray_module, session
from agentscope_tuner.engines.ray.partitions import (
    Partition,
    PartitionedOutput,
    PartitionRecord,
    checksummed,
    has_source,
    partition_bytes,
    partition_lines,
    plan,
)
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.records.blocks import LineBlock
from agentscope_tuner.records.output import EarlierRow, earlier_rows
from agentscope_tuner.records.reader import Line
from agentscope_tuner.records.scored_rows import Summary
from agentscope_tuner.task_judge.base_judge import Counts
from agentscope_tuner.task_judge.contract.judgement import Judgement

# A worker that dies loses less than this much work. After a death every unit is written at once, so that the file
# ends before the row that kills the next worker
_FLUSH_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class FileJob:
    """The settings of a run of `score_files`, which every worker gets.

    Attributes:
        config: the configuration, its `astuner` section resolved.
        digest: the fingerprint of the configuration, which `scored_line` writes into each row.
        folder: the folder of the output.
        run: a unique name for this run. A partition that one of this run's workers left unfinished is continued, and
            keeps its failed rows.
        resume: take verdicts over from earlier runs; rows that failed there are judged again.
    """

    config: dict[str, Any]
    digest: str
    folder: str
    run: str
    resume: bool


class PartitionWorker:
    """Judges partitions of rollout files one after another, in an actor's process.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(self, job: FileJob) -> None:
        self._job = job
        self._judge = LineJudge(job.config, job.digest)
        # an async judge that computes blocks the loop: it gains nothing from several rows at once
        traits = self._judge.traits
        self._at_once = self._judge.concurrency if traits.shares_loop and traits.kind == "io" else 1
        self._takes_rows = traits.kind == "cpu" and not traits.ranks
        self._output = PartitionedOutput(Path(job.folder), job.digest)

    def judge(self, partition: Partition) -> PartitionRecord:
        """Judge `partition` and publish its output file and its record, which is returned.

        With `resume`, a partition that an earlier run finished without failed rows is not judged again.
        """
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
            for rows in self._in_turn(items) if self._takes_rows and not lost else self._scored(items, deaths):
                stream.write(tally.add(rows))
                if lost or time.monotonic() - flushed > _FLUSH_SECONDS:
                    stream.flush()
                    flushed = time.monotonic()
        record = tally.record(partition, source.hexdigest(), self._job.digest, self._judge.inner.take_counts())
        self._output.finish(partial, record)
        return record

    def _in_turn(self, items: Iterator[Line | JudgedBefore]) -> Iterator[ScoredBlock]:
        """Judge rows one after another; yields scored rows about every `SLICE_SECONDS`. For judges that compute."""
        answer = JudgedBlock(self._judge, items)
        handed_on = time.monotonic()
        for _ in answer:
            if (now := time.monotonic()) - handed_on > SLICE_SECONDS:
                handed_on = now
                yield answer.packed()
        yield answer.packed()

    def _scored(self, items: Iterator[Line | JudgedBefore], deaths: _Deaths) -> Iterator[ScoredBlock]:
        """Judge rows or groups, several at once if the judge awaits; yields scored rows in the input's order.

        A row that may have killed the last worker is judged alone.
        """
        pending: deque[Future[Sequence[ScoredBlock]]] = deque()
        first = 0
        for block in self._judge.groups(items):
            alone = self._at_once == 1 or deaths.suspect(first)
            while pending and (alone or len(pending) >= self._at_once):
                yield from pending.popleft().result()
            if alone:
                yield from self._verdict(block, first, deaths)
            else:
                pending.append(asyncio.run_coroutine_threadsafe(self._averdict(block), loops.get_loop()))
            first += len(block.lines)
        while pending:
            yield from pending.popleft().result()

    def _verdict(self, block: LineBlock, first: int, deaths: _Deaths) -> Sequence[ScoredBlock]:
        if (known := self._judge.known(block)) is not None:
            return known
        if deaths.killed_by(first):
            error = JudgeError("its worker died twice while it was judged", cause=Cause.WORKER)
            return self._judge.failed(block, error)
        return self._judge.judge(block)

    async def _averdict(self, block: LineBlock) -> Sequence[ScoredBlock]:
        known = self._judge.known(block)
        return await self._judge.ajudge(block) if known is None else known


class _Tally:
    """Adds up the counts and checksums of a partition's scored rows, for its record."""

    def __init__(self) -> None:
        self._summary = Summary()
        self._checksum = hashlib.sha256()
        self._bytes = self._kept = 0

    def add(self, rows: ScoredBlock) -> bytes:
        """Count these rows, and return their lines as they are to be written."""
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
    """Finds the rows that kill workers, so that they are judged alone or fail, and the partition can be finished.

    The file that a dead worker wrote ends before the row that killed it.

    Args:
        ends: how many rows each dead worker of this run wrote.
        where: the partition, for messages.
        at_once: the most rows that a worker was judging at once.

    Raises:
        JudgeError: workers keep dying at the same position, whichever row they judge.
    """

    def __init__(self, ends: list[int], where: str, at_once: int) -> None:
        # After as many deaths as one row may cause, the row is written as failed. It does not cause later deaths
        most = POLICY.deaths + POLICY.losses
        if len(ends) >= most and len(set(ends[-most:])) == 1:
            raise JudgeError(f"{where}: {most} workers died one after another after row {ends[-1]}", cause=Cause.WORKER)
        self._ends = ends
        self._at_once = at_once

    def suspect(self, row: int) -> bool:
        """Whether the last worker may have died of the row at position `row`, which then has to be judged alone."""
        return bool(self._ends) and self._ends[-1] <= row < self._ends[-1] + self._at_once

    def killed_by(self, row: int) -> bool:
        """Whether the row at position `row` has killed as many workers as one row may, so that it has to fail."""
        return self._ends[-POLICY.deaths :] == [row] * POLICY.deaths


class _Earlier:
    """Takes over verdicts that were written before, for rows that are unchanged.

    Args:
        digest: the fingerprint of the configuration; verdicts under a different configuration are not taken.
        lost: the file that a lost worker of this run wrote, if any; its failed rows are final, too.
        leftover: the file that an earlier run wrote, if any; its failed rows are judged again.
    """

    def __init__(self, digest: str, lost: Path | None, leftover: Path | None) -> None:
        self._digest = digest
        self._lost = earlier_rows(lost)
        self._leftover = earlier_rows(leftover)

    def with_verdict(self, line: Line) -> Line | JudgedBefore:
        """`line` with the verdict that it was given before; without one, the line itself. Call it for every line, in
        order: the files are read along.
        """
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


class _FileActor:
    """The class of Ray Data's judge actors: it is called with partitions, judges them, and returns their records.

    Both are texts of JSON. `directory` is the working directory of the process that started the run.
    """

    def __init__(self, job: FileJob, directory: str) -> None:
        enter(directory)
        self._worker = PartitionWorker(job)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        partitions = [Partition(**json.loads(text)) for text in batch["partition"]]
        return {"record": [json.dumps(asdict(self._worker.judge(partition))) for partition in partitions]}


def score_files(
    config: Source,
    files: Sequence[Path | str],
    folder: Path,
    *,
    digest: str,
    jobs: int | None = None,
    address: str | None = None,
    resume: bool = False,
    size: int | None = None,
) -> Iterator[PartitionRecord]:
    """Judge rollout files on Ray, and write the scored rows into `folder`, a file for each partition of the input.

    Args:
        config: as `load_judge` takes it.
        files: absolute paths or URLs of JSONL, Parquet or Arrow files that every node sees; as `input_files` finds
            them.
        folder: the folder to write to, which every node sees. Its manifest is written when all partitions are finished.
        digest: the fingerprint of the configuration and version.
        jobs: the most judge actors. None means one for each CPU of the cluster if the judge computes, else one.
        address: the address of the Ray cluster; None uses the session of this process, or starts one on this machine.
        resume: keep the finished partitions of an earlier run, and the rows that an interrupted run scored.
        size: bytes of input for each partition; None chooses them by the size of the input.

    Yields:
        The record of each partition, as they finish.

    Raises:
        ConfigError: the judge, the input or the output is wrong, or there is no Ray.
        JudgeError: the run cannot go on. Finished partitions are kept for a later run with `resume`.
    """
    settings = resolve(config)
    judge = RolloutJudge(settings)
    output = PartitionedOutput(folder.resolve(), digest)
    # The rows of an advantage group must share a partition, or each part would be ranked by itself: keep files whole
    wanted = None if judge.traits.ranks else size or partition_bytes(files)
    job = FileJob(portable(settings), digest, str(output.folder), uuid.uuid4().hex[:12], resume)
    with session(address, workers=jobs) as ray:
        partitions = plan(files, output.begin(wanted, resume=resume))
        workers = jobs or (int(ray.cluster_resources().get("CPU", 1)) if judge.traits.kind == "cpu" else 1)
        records: list[PartitionRecord] = []
        for record in _run(job, partitions, max(1, min(workers, len(partitions)))):
            records.append(record)
            yield record
    section = settings.task_judge
    output.complete(records, judge=section.judge_protocol or section.judge_type)


def _run(job: FileJob, partitions: Sequence[Partition], workers: int) -> Iterator[PartitionRecord]:
    if not partitions:
        return
    ray, data = ray_module(), ray_module("ray.data")
    with _quiet(data):
        rows = [{"partition": json.dumps(asdict(partition))} for partition in partitions]
        # Ray repeats whole blocks when a worker or its node is lost: give each partition a block of its own
        judged = data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            _FileActor,
            fn_constructor_args=(job, os.getcwd()),
            batch_size=None,
            compute=data.ActorPoolStrategy(
                min_size=1, max_size=workers, initial_size=workers, max_tasks_in_flight_per_actor=2
            ),
            num_cpus=1,
            # Ray Data restarts actors and repeats their tasks without limit by default, as is wanted here
        )
        try:
            for row in judged.iter_rows():
                yield PartitionRecord(**json.loads(row["record"]))
        except ray.exceptions.RayError as exc:
            if error := own_error(exc):
                raise error from exc
            raise JudgeError(f"Ray ended the run: {exc}", cause=Cause.WORKER) from exc


@contextmanager
def _quiet(data: Any) -> Iterator[None]:
    """Silence Ray Data's progress bars: the command line shows its own, in rows."""
    context = data.DataContext.get_current().copy()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logger = logging.getLogger("ray.data")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with data.DataContext.current(context):
            yield
    finally:
        logger.setLevel(level)
