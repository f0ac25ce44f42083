"""The local engine: many rows on this machine, in order or as they come, with bounded memory.

How rows are judged follows from the judge: see `BaseJudge.judge_kind`. The engine promises that every row gets a
judgement, that the input is read only as needed, and that nothing keeps running when the iterator ends, fails or is
closed. The one exception is a verdict in a thread, because a thread cannot be ended: its result is ignored.

For judges in worker processes (`judge_kind = "cpu"` and two jobs or more), also: a worker that dies loses no row. A row
that has a verdict is not judged again, even if the worker dies in the same batch, so its judge's side effects happen
once. The row that a worker was judging when it died is judged once more, by another worker, so side effects of the
first try may happen twice. When the second worker dies of it, too, the row becomes a failed row and the others go on.
"""

from __future__ import annotations

import logging
import math
import os
import sys
import time
from collections.abc import Generator, Iterable
from contextlib import closing
from itertools import chain
from typing import Any

from agentscope_tuner.config import Source
from agentscope_tuner.engines.blocks import BlockJudge
from agentscope_tuner.engines.crew import Crew, run
from agentscope_tuner.engines.judging import LineJudge, RolloutJudge
from agentscope_tuner.engines.pace import SLICE_SECONDS
from agentscope_tuner.engines.processes import ProcessCrew
from agentscope_tuner.engines.scored_block import ScoredBlock
from agentscope_tuner.engines.scored_line import JudgedBefore, ScoredLine
from agentscope_tuner.engines.units import In, Out, Rows, Work
from agentscope_tuner.engines.waiting import LoopCrew, ThreadCrew
from agentscope_tuner.records import Line
from agentscope_tuner.records.blocks import Block
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.workflow import Rollout

_log = logging.getLogger(__name__)

# Workers keep their results in a memfd, which outlives them, and end with their parent: both need Linux
_HAS_PROCESSES = sys.platform == "linux"
# A first block up to this size is judged here, for about the time that a worker process takes to start
_SMALL_BYTES, _SMALL_SECONDS = 2**14, 0.3


def score(
    config: Source, rollouts: Iterable[Rollout], *, jobs: int | None = None, ordered: bool = True
) -> Generator[tuple[int, Judgement], None, None]:
    """Judge rollouts.

    Args:
        config: as `load_judge` takes it; not changed.
        rollouts: read as needed. For a listwise judge, neighbours with one task id are an advantage group.
        jobs: how many are judged at once. One judges in the caller's thread, or in a process of its own where the judge
            computes and has a deadline. None: as many as there are cores for a
            judge that computes, `astuner.task_judge.concurrency` for one that awaits, else one.
        ordered: whether judgements come in the order of the rollouts; otherwise they come as they are reached.

    Returns:
        `(place of the rollout in the input, judgement)`; a judgement of status `failed` where there is no verdict.

    Raises:
        ConfigError: the judge cannot be loaded.
        JudgeError: while iterating: no worker process could be started.
    """
    return _score(RolloutJudge(config), rollouts, jobs, ordered)


def score_lines(
    judge: LineJudge, lines: Iterable[Line | JudgedBefore], *, jobs: int | None = None, ordered: bool = True
) -> Generator[ScoredLine, None, None]:
    """`score` for the lines of a rollout file.

    The process that judges a line also parses it; a line that is no rollout is a failed row.
    """
    with closing(_score(judge, lines, jobs, ordered)) as results:
        for _, scored in results:
            yield scored


def score_blocks(
    judge: LineJudge, blocks: Iterable[Block], *, jobs: int | None = None, stop_at_failure: bool = False
) -> Generator[ScoredBlock, None, None]:
    """`score_lines` for blocks of a rollout file, in order: nothing is done here for each row of a judge that computes.

    Args:
        stop_at_failure: stop judging after a failed row. Rows behind it may have been judged by then; a block that
            holds a failed row may also be the last before rows that are left out, so it has to be the last taken.
    """
    if judge.traits.kind != "cpu" or judge.traits.ranks or judge.traits.in_main:
        # An async judge, or a judge that ranks neighbours, takes rows one by one
        with closing(score_lines(judge, (item for block in blocks for item in block.items()), jobs=jobs)) as rows:
            for row in rows:
                yield ScoredBlock.of([row])
        return
    work, left = BlockJudge(judge, stop_at_failure=stop_at_failure), iter(blocks)
    at_once = jobs or automatic_jobs(work)
    if at_once == 1:
        for block in left:
            yield from _judged_here(work, block)
        return
    if jobs is None and work.traits.bounded and (first := next(left, None)) is not None:
        # A few rows are judged before a worker process has started
        small = first.size <= _SMALL_BYTES
        rest = (yield from _judged_here(work, first, _SMALL_SECONDS)) if small else first
        left = left if rest is None else chain([rest], left)
    with closing(_score(work, left, at_once, True)) as results:
        for _, scored in results:
            yield scored


def _judged_here(
    work: BlockJudge, block: Block, seconds: float = math.inf
) -> Generator[ScoredBlock, None, Block | None]:
    """Judge a block in the caller's thread, for about `seconds` at most; what is left of it."""
    answer, steps, left = work.answer(block), 0, False
    started = handed_on = time.monotonic()
    try:
        for _ in answer:
            steps += 1
            now = time.monotonic()
            if left := now - started > seconds:
                break
            if now - handed_on > SLICE_SECONDS:
                handed_on = now
                yield answer.taken()
    except KeyboardInterrupt:
        yield answer.taken()
        raise
    yield answer.taken()
    return block.cut(steps)[1] if left else None


def _score(
    work: Work[In, Out], items: Iterable[Any], jobs: int | None, ordered: bool
) -> Generator[tuple[int, Out], None, None]:
    units = work.units(items)
    jobs = jobs or automatic_jobs(work)
    if jobs > 1:
        yield from run(_crew(work, Rows(ordered=ordered), jobs), units)
        return
    for unit in units:
        yield from enumerate(work.judge(unit.items) if unit.results is None else unit.results, unit.first)


def automatic_jobs(work: Work[In, Out]) -> int:
    """How many rows are judged at once where `jobs` is not given."""
    if work.traits.kind == "cpu":
        return len(os.sched_getaffinity(0)) if _HAS_PROCESSES else 1
    return work.concurrency if work.traits.shares_loop else 1


def _crew(work: Work[In, Out], rows: Rows[Out], jobs: int) -> Crew[In, Out]:
    if work.traits.kind == "io":
        return LoopCrew(work, rows, jobs) if work.traits.shares_loop else ThreadCrew(work, rows, jobs)
    if not _HAS_PROCESSES:
        _log.warning("worker processes need Linux: judging in threads")
    elif work.traits.in_main:
        _log.warning("the judge's class is in the main script, which worker processes do not run: judging in threads")
    else:
        return ProcessCrew(work, rows, jobs)
    return ThreadCrew(work, rows, jobs)
