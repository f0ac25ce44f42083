"""Judging files on Ray: partitions through Ray Data's pool of judge actors.

Ray Data moves only the partitions' names, not their rows: an actor reads its partition, judges it and writes it. So the
rows are never copied into Ray's object store and back (`make bench-ray` shows the cost of such copies). When a worker
or node is lost, Ray repeats its task: the same partition that `--resume` knows. Ray's own readers would cut files by
the size of the cluster, and `read_json` refuses a file for one bad line.
"""

from __future__ import annotations

import json
import logging
import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agentscope_tuner.config import Source, resolve
from agentscope_tuner.engines.judging import RolloutJudge
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.on_ray.partition_source import Partition, partition_bytes, plan
from agentscope_tuner.on_ray.partition_worker import FileJob, PartitionWorker
from agentscope_tuner.on_ray.partitions import PartitionedOutput, PartitionRecord
from agentscope_tuner.on_ray.session import enter, own_error, portable, ray_module, session


class _FileActor:
    """A `PartitionWorker` in the form that Ray Data calls."""

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
    """Judge rollout files into `folder`, by partitions; the manifest is written when all partitions are whole.

    Args:
        config: as `load_judge` takes it.
        files: absolute paths, or URLs, that every node sees, JSONL, Parquet or Arrow; as `input_files` finds them.
        folder: where the partitions go; every node sees it.
        digest: names the configuration and version.
        jobs: judge actors at most. None: one for each CPU of the cluster if the judge computes, else one.
        address: the Ray cluster's; None uses the session of this process, or starts one on this machine.
        resume: keep the partitions of an earlier run that are whole, and rows that an interrupted one scored.
        size: bytes of input for each partition; None: as the input's size suggests.

    Yields:
        The record of each partition, as they finish.

    Raises:
        ConfigError: the judge, the input or the output is wrong, or there is no Ray.
        JudgeError: the run cannot go on. Finished partitions stay, and `resume` goes on from them.
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
