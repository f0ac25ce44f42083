"""The local engine: `score` judges many rows on this machine, with bounded memory.

How rows are judged follows from the judge: see `BaseJudge.judge_kind`. The engine promises that every row gets a
judgement, that the input is read only as needed, and that nothing keeps running when the iterator ends, fails or is
closed. The one exception is a verdict in a thread, because a thread cannot be ended: its result is ignored.

For judges in worker processes (`judge_kind = "cpu"` and two jobs or more), also: a worker that dies loses no row. A row
that has a verdict is not judged again, even if the worker dies in the same batch, so its judge's side effects happen
once. The row that a worker was judging when it died is judged once more, by another worker, so side effects of the
first try may happen twice. When the second worker dies of it, too, the row becomes a failed row and the others go on.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import sys
import time
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future
from itertools import chain
from typing import Any, overload

from agentscope_tuner._run import interrupts, loops
from agentscope_tuner.config import Source
from agentscope_tuner.engines.crew import SLICE_SECONDS, Crew, Out, Rows, Work, run
from agentscope_tuner.engines.judging import LineJudge, PlacedJudgement, RolloutJudge, ScoredBlock
from agentscope_tuner.engines.processes import ProcessCrew
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.records.blocks import Block
from agentscope_tuner.workflow import Rollout

# Blocks begun and not yet handed on, for each job: while one block is slow, the other jobs still find work
_AHEAD = 8


class WaitingCrew(Crew[Out]):
    """The crew for judges that wait, such as for judge models: `jobs` blocks at once, in this process.

    The blocks are tasks of the process's background event loop, where clients keep their connections, or, with
    `in_threads`, each has a thread. These are daemon threads: a judge that hangs cannot keep the program from ending.
    """

    def __init__(self, work: Work[Out], rows: Rows[Out], jobs: int, *, in_threads: bool) -> None:
        super().__init__(work, rows, jobs * _AHEAD)
        self._slots = asyncio.Semaphore(jobs)
        self._in_threads = in_threads
        self._futures: dict[Future[None], Block] = {}
        self._dropping = False

    def begin(self, block: Block) -> None:
        """Start a task that judges the block as soon as fewer than `jobs` are being judged; does not wait for it."""
        future = asyncio.run_coroutine_threadsafe(self._judge(block), loops.get_loop())
        self._futures[future] = block
        future.add_done_callback(lambda _: self._futures.pop(future, None))

    async def _judge(self, block: Block) -> None:
        try:
            async with self._slots:
                if self._dropping:
                    self.rows.drop(block.span)
                elif block.results is not None:
                    self.rows.finish([(block, block.results)])
                elif self._in_threads:
                    self.rows.finish([(block, await asyncio.wrap_future(loops.start_thread(self._judged, block)))])
                else:
                    self.rows.finish([(block, await self._ajudged(block))])
        # boundary: a judge's own errors are failed rows by now, so this is a bug of this package: the caller raises it
        except BaseException as exc:  # noqa: BLE001
            self.rows.fail(exc)

    def _judged(self, block: Block) -> Sequence[Out]:
        try:
            return self.work.judge(block)
        except _RAISED as exc:
            # The judge itself raised it: our threads are never interrupted or cancelled from outside
            return self.work.failed(block, _raised(exc))

    async def _ajudged(self, block: Block) -> Sequence[Out]:
        try:
            return await self.work.ajudge(block)
        except _RAISED as exc:
            # The judge itself raised it, or the run was abandoned and its results are not read
            return self.work.failed(block, _raised(exc))

    def drop(self) -> None:
        """After the first Ctrl-C: drop the blocks that still wait for a slot; those being judged go on."""
        self._dropping = True

    def give_up(self) -> None:
        """After the second Ctrl-C: release what is finished; unfinished rows before a finished one are failed rows."""
        error = JudgeError("not judged to the end: the run was interrupted twice", cause=Cause.INTERRUPTED)
        self.rows.give_up(list(self._futures.values()), lambda block: self.work.failed(block, error))

    def close(self) -> None:
        """Cancel all tasks without waiting for them. Verdicts in threads go on, and their results are ignored."""
        self._dropping = True
        for future in list(self._futures):
            future.cancel()


_RAISED = (KeyboardInterrupt, asyncio.CancelledError, GeneratorExit)


def _raised(exc: BaseException) -> JudgeError:
    return JudgeError(f"the judge raised {type(exc).__name__}: {exc}", cause=Cause.BUG)


_log = logging.getLogger(__name__)

# Workers keep their results in a memfd, which outlives them, and end with their parent: both need Linux
_HAS_PROCESSES = sys.platform == "linux"
# A first block up to this size is judged here, for about the time that a worker process takes to start
_SMALL_BYTES, _SMALL_SECONDS = 2**14, 0.3


@overload
def score(
    judge: LineJudge, rows: Iterable[Block], *, jobs: int | None = None, ordered: bool = True
) -> Generator[ScoredBlock, None, None]: ...


@overload
def score(
    judge: Source, rows: Iterable[Rollout], *, jobs: int | None = None, ordered: bool = True
) -> Generator[PlacedJudgement, None, None]: ...


def score(
    judge: Source | LineJudge, rows: Iterable[Any], *, jobs: int | None = None, ordered: bool = True
) -> Generator[Any, None, None]:
    """Judge rollouts, or the lines of rollout files, on this machine.

    Args:
        judge: to judge rollouts, a configuration as `load_judge` takes it, which is not changed. To judge lines, a
            LineJudge.
        rows: rollouts, or blocks of lines; read as needed. For a judge that ranks, neighbours with one task id are an
            advantage group. A line that is no rollout gives a failed row.
        jobs: how many rows or groups are judged at once. With 1, they are judged in the caller's thread, or in a
            process of its own if the judge computes and has a deadline. None means: the number of cores for a judge
            that computes, `astuner.task_judge.concurrency` for one that awaits, else 1.
        ordered: whether results come in the order of the rows; otherwise they come as they are finished.

    Returns:
        For rollouts, pairs `(position of the rollout in the input, judgement)`; a rollout without a verdict has a
        judgement of status `failed`. For lines, blocks of scored rows to be written. If a LineJudge stops at a failure,
        take no result after the block with the failed row: rows after the failed one may have been judged, too, or may
        be left out.

    Raises:
        ConfigError: the judge cannot be loaded.
        JudgeError: while iterating: no worker process could be started.
    """
    if isinstance(judge, LineJudge):
        return _score_blocks(judge, rows, jobs, ordered) if judge.takes_blocks else _score(judge, rows, jobs, ordered)
    return _score(RolloutJudge(judge), rows, jobs, ordered)


def _score_blocks(
    work: LineJudge, blocks: Iterable[Block], jobs: int | None, ordered: bool
) -> Generator[ScoredBlock, None, None]:
    left, at_once = iter(blocks), jobs or automatic_jobs(work)
    if at_once == 1:
        for block in left:
            yield from _judged_here(work, block)
        return
    if jobs is None and work.traits.bounded and (first := next(left, None)) is not None:
        # A few rows are judged before a worker process has started
        small = first.size <= _SMALL_BYTES
        rest = (yield from _judged_here(work, first, _SMALL_SECONDS)) if small else first
        left = left if rest is None else chain([rest], left)
    yield from _score(work, left, at_once, ordered)


def _judged_here(
    work: LineJudge, block: Block, seconds: float = math.inf
) -> Generator[ScoredBlock, None, Block | None]:
    """Judge a block in the caller's thread, for about `seconds` at most; yields its scored rows, a few at a time.

    Returns:
        The part of the block that is not judged yet; None if all of it is judged.
    """
    answer = work.answer(block)
    judged, steps, left, more = iter(answer), 0, False, True
    started = handed_on = time.monotonic()
    try:
        while more and not left:
            with interrupts.patience:
                more = False
                for _ in judged:
                    steps += 1
                    now = time.monotonic()
                    left = now - started > seconds or interrupts.came()
                    if more := left or now - handed_on > SLICE_SECONDS:
                        handed_on = now
                        break
            yield answer.packed()
    except KeyboardInterrupt:
        yield answer.packed()
        raise
    _raise_held()
    return block.cut(steps)[1] if left else None


def _score(work: Work[Out], items: Iterable[Any], jobs: int | None, ordered: bool) -> Generator[Out, None, None]:
    blocks = work.blocks(items)
    jobs = jobs or automatic_jobs(work)
    if jobs > 1:
        yield from run(_crew(work, Rows(ordered=ordered), jobs), blocks)
        return
    for block in blocks:
        if block.results is None:
            with interrupts.patience:
                block.results = work.judge(block)
        yield from block.results
        _raise_held()


def _raise_held() -> None:
    if interrupts.came():
        raise KeyboardInterrupt


def automatic_jobs(work: Work[Any]) -> int:
    """How many rows or groups to judge at once if `jobs` is not given.

    For a judge that computes, the number of cores; for one that awaits, its `concurrency`; else 1.
    """
    if work.traits.kind == "cpu":
        return len(os.sched_getaffinity(0)) if _HAS_PROCESSES else 1
    return work.concurrency if work.traits.shares_loop else 1


def _crew(work: Work[Out], rows: Rows[Out], jobs: int) -> Crew[Out]:
    if work.traits.kind == "cpu":
        if _HAS_PROCESSES and not work.traits.in_main:
            return ProcessCrew(work, rows, jobs)
        why = "the judge's class is in the main script, which worker processes do not run"
        _log.warning("%s: judging in threads", why if _HAS_PROCESSES else "worker processes need Linux")
    in_threads = work.traits.kind == "cpu" or not work.traits.shares_loop
    return WaitingCrew(work, rows, jobs, in_threads=in_threads)
