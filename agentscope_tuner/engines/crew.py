"""Crews: the threads, tasks or worker processes that judge many rows at once for an engine.

The rows travel in blocks (`records.blocks.Block`: neighbouring rows of the input). Here are the interface `Crew`, and
`run`, the loop that gives a crew its blocks and hands its results to the caller.
"""

from __future__ import annotations

import logging
import pickle
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import Any, Generic, Protocol, TypeVar

from agentscope_tuner._run.interrupts import News
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.records.blocks import Block
from agentscope_tuner.task_judge.contract.deadline import Traits

In = TypeVar("In")
Out = TypeVar("Out")
Out_co = TypeVar("Out_co", covariant=True)

# No trainer has larger advantage groups. A longer run of one task id is a data set that gives all its rows the same id:
# it must not fill the memory
MOST_IN_GROUP = 1024


class BlockAnswer(Protocol):
    """A block that a worker process is about to judge. Iterating over it judges the block, one step (row or group) at a
    time; `packed` then gives the results.
    """

    def __iter__(self) -> Iterator[bytes]:
        """Judge step by step. Each step yields a note: its result as bytes, which outlives the process if it dies.

        `Work.recovered` makes results of the notes.
        """

    def packed(self) -> Any:
        """The results of the steps since the last call, as plain data that pickles fast; see `Work.unpack`."""


class Work(Protocol[Out_co]):
    """A kind of rows and how to judge them, for an engine: `RolloutJudge` and `LineJudge` are the two kinds.

    Every process that judges makes its own object from `recipe`.

    Attributes:
        traits: how the judge must be called.
        concurrency: `astuner.task_judge.concurrency`.
        deadline: seconds for the verdict on a row or group, in a process that can be killed; None for no limit.
        recipe: the work's class and arguments, from which another process makes the same object.
    """

    traits: Traits
    concurrency: int
    deadline: float | None
    recipe: tuple[object, ...]

    def blocks(self, items: Iterable[Any]) -> Iterator[Block]:
        """The input as numbered blocks; if the judge ranks, each block is one advantage group.

        The input is read only as far as blocks are taken.
        """

    def judge(self, block: Any) -> Sequence[Out_co]:
        """Judge a block and return its results."""

    async def ajudge(self, block: Any) -> Sequence[Out_co]:
        """Judge a block and return its results, as `judge`, but with a judge that awaits."""

    def failed(self, block: Any, error: JudgeError) -> Sequence[Out_co]:
        """Results that say, for every row of the block, that there is no verdict because of `error`."""

    def answer(self, block: Any) -> BlockAnswer:
        """Prepare to judge a block in a worker process. Nothing is judged until the returned object is iterated over.

        An exception while it is iterated over fails the whole block.
        """

    # Plain tuples go between processes: a pickle that names classes takes twenty times as long to read

    def unpack(self, packed: Any) -> Sequence[Out_co]:
        """In the parent: the results that a worker sent as `BlockAnswer.packed`."""

    def recovered(self, block: Any, notes: list[bytes]) -> Sequence[Out_co] | str:
        """The results of a block whose worker process died, made from the notes of its steps (see `BlockAnswer`).

        If the worker noted an error in place of a result, that error's text.
        """


class OneStep:
    """A `BlockAnswer` for a block that is judged as a whole, such as a group that is ranked; `judge` does so."""

    def __init__(self, judge: Callable[[], Any]) -> None:
        self._judge = judge
        self._results: Any = None

    def __iter__(self) -> Iterator[bytes]:
        self._results = self._judge()
        yield pickle.dumps(self._results, pickle.HIGHEST_PROTOCOL)

    def packed(self) -> Any:
        """The results of the block, as plain data; None before it is judged."""
        return self._results


def groups(items: Iterable[In], key: Callable[[In], str] | None) -> Iterator[tuple[list[In], str | None]]:
    """Split `items` into groups of neighbours with the same key, such as the rollouts of one task id.

    With the items' own letters as keys, `"aab"` gives `(["a", "a"], None)` and `(["b"], None)`. The second value is a
    text if the group cannot be judged: a run of more than `MOST_IN_GROUP` neighbours is too long to rank, so its items
    come one by one, each with that reason. An item with an empty key is a group by itself; so is every item if `key` is
    None.
    """
    for name, run in groupby(items, key or (lambda item: "")):
        group = list(islice(run, MOST_IN_GROUP + 1)) if name else []
        if group and len(group) <= MOST_IN_GROUP:
            yield group, None
            continue
        too_many = f"more than {MOST_IN_GROUP} neighbours have task id {name!r:.200}"
        why = f"{too_many}: an advantage group cannot be that large" if name else None
        for item in chain(group, run):
            yield [item], why


class Rows(Generic[Out]):
    """Passes the results of a run from the crew, which adds them, to the caller, who takes them.

    They come in the order of the input if `ordered`, else as they are finished. The caller's thread takes no lock:
    Ctrl-C may interrupt it at any point, and a lock that it then held would stop the crew. A span is a block's length,
    in bytes or rows; see `Block.span`.

    Attributes:
        ready: results that can be handed on.
        news: wakes the caller after every change.
        ended: the total span of the blocks that are finished or dropped.
        released: the total span of the blocks whose results have come to `ready`; `released_bytes` is their size.
        error: the exception that ended the whole run; None as long as it goes on.
    """

    def __init__(self, *, ordered: bool) -> None:
        self.ready: deque[Out] = deque()
        self.news = News()
        self.ended = 0
        self.released = 0
        self.released_bytes = 0
        self.error: BaseException | None = None
        self._ordered = ordered
        self._lock = threading.Lock()
        self._held: dict[int, tuple[Block, Sequence[Out]]] = {}
        self._next = 0

    def finish(self, blocks: Iterable[tuple[Block, Sequence[Out]]]) -> None:
        """Add blocks that are judged, with their results, and wake the caller; any thread may call it."""
        with self._lock:
            span = 0
            for block, results in blocks:
                if self._ordered:
                    self._held[block.number] = (block, results)
                else:
                    self._release(block, results)
                span += block.span
            self._release_in_order()
            # Increment last: the lock-free reader stops when all that was begun has ended and `ready` is empty
            self.ended += span
        self.news.tell()

    def give_up(self, begun: Iterable[Block], failed: Callable[[Block], Sequence[Out]]) -> None:
        """Release all finished blocks now, although blocks before them are unfinished: the run was interrupted twice.

        An unfinished block before the last finished one gets the results of `failed`, so that each row keeps its
        position. Unfinished blocks after it are left out.

        Args:
            begun: the blocks that were begun.
            failed: makes failed results for a block.
        """
        with self._lock:
            last = max(self._held, default=-1)
            for block in begun:
                if self._next <= block.number < last:
                    self._held.setdefault(block.number, (block, failed(block)))
            self._release_in_order()

    def drop(self, span: int) -> None:
        """Count begun blocks, of `span` in all, that will not be judged after all, so that nobody waits for them."""
        with self._lock:
            self.ended += span
        self.news.tell()

    def fail(self, error: BaseException) -> None:
        """End the run with `error`: no more results will come."""
        self.error = error
        self.news.tell()

    def _release_in_order(self) -> None:
        while self._next in self._held:
            block, results = self._held.pop(self._next)
            self._release(block, results)
            self._next = block.end

    def _release(self, block: Block, results: Sequence[Out]) -> None:
        self.ready.extend(results)
        self.released += block.span
        self.released_bytes += block.size


# For how long a worker judges before it answers. What is left of its batch then goes back to be shared out again: other
# workers may be idle, and rows wait behind it.
SLICE_SECONDS = 0.05

_MOST_STEPS = 1024
# How far the input is read ahead for each job: in steps, and in batches
_AHEAD_STEPS, _AHEAD_BATCHES = 8, 4


class BatchPace:
    """Learns from finished batches how many rows to send to a worker at once, to keep it busy for `SLICE_SECONDS`.

    Attributes:
        batch: how long the next batch should be, as a span (bytes or rows, see `Block.span`).
        step: the average span of a row in the last batch.
    """

    def __init__(self) -> None:
        self.batch = self.step = 1

    def learn(self, span: int, steps: int, seconds: float) -> None:
        """Learn from a finished batch.

        Args:
            span: the total span of the rows that were judged (bytes or rows, see `Block.span`).
            steps: how many rows these were.
            seconds: how long they took.
        """
        self.step = max(1, span // max(steps, 1))
        fitting = int(SLICE_SECONDS * span / seconds) if seconds > 0 else 4 * span
        # One slow row says little about the next, so shrink slowly: the worker hands back what does not fit.
        self.batch = max(1, self.batch // 2, min(fitting, 4 * max(self.batch, span), _MOST_STEPS * self.step))

    def ahead(self, jobs: int) -> int:
        """How much of the input to read ahead for `jobs` workers, as a span (bytes or rows, see `Block.span`)."""
        return jobs * max(_AHEAD_STEPS * self.step, _AHEAD_BATCHES * self.batch)

    @property
    def is_quick(self) -> bool:
        """Whether a worker judges several rows within `SLICE_SECONDS`.

        If not, each worker gets one row at a time, so that no row waits behind a slow row.
        """
        return self.batch > self.step


_log = logging.getLogger(__name__)

_MOST_BYTES = 64 * 2**20


class Crew(ABC, Generic[Out]):
    """The threads, tasks or worker processes that judge blocks for an engine, beside the caller's thread.

    Args:
        work: judges a block.
        rows: takes the results.
        ahead: the largest total span (see `Block.span`) of blocks that are begun and whose results are not yet passed
            on; it bounds the memory.
    """

    def __init__(self, work: Work[Out], rows: Rows[Out], ahead: int) -> None:
        self.work = work
        self.rows = rows
        self.ahead = ahead

    @abstractmethod
    def begin(self, block: Block) -> None:
        """Take a block to judge, without waiting for it. A block that has results already is only handed on."""

    @abstractmethod
    def drop(self) -> None:
        """After the first Ctrl-C: drop the blocks that are waiting, and finish those that are being judged."""

    def give_up(self) -> None:
        """After the second Ctrl-C: hand on finished blocks although earlier ones are unfinished; see `Rows.give_up`."""

    @abstractmethod
    def close(self) -> None:
        """End every thread and process of the crew, without waiting for verdicts."""


class _Feed(Generic[Out]):
    """Reads the input for a crew, block by block, only as fast as the crew judges and the caller takes the results.

    Attributes:
        open: whether the input may hold more blocks.
        error: the exception that reading the input raised.
    """

    def __init__(self, crew: Crew[Out], blocks: Iterator[Block]) -> None:
        self.open = True
        self.error: Exception | None = None
        self._crew, self._blocks, self._rows = crew, blocks, crew.rows
        self._begun = self._begun_bytes = 0

    def fill(self) -> None:
        """Give the crew as many blocks as it has room for, without waiting."""
        rows, crew = self._rows, self._crew
        while (
            self.open
            and self._begun - rows.released < crew.ahead
            and self._begun_bytes - rows.released_bytes < _MOST_BYTES
        ):
            try:
                block = next(self._blocks, None)
            # boundary: an error of the input is raised after the rows that were read before it are handed on
            except Exception as exc:  # noqa: BLE001
                block, self.error = None, exc
            if block is None:
                self.open = False
                return
            crew.begin(block)
            # Count last: a block that an interrupt stopped before `begin` must not be waited for
            self._begun += block.span
            self._begun_bytes += block.size

    @property
    def under_way(self) -> bool:
        """Whether a block that was begun is neither finished nor dropped, so that its results are still to come."""
        return self._begun > self._rows.ended


def run(crew: Crew[Out], blocks: Iterator[Block]) -> Generator[Out, None, None]:
    """Judge all blocks with the crew and yield their results; `blocks` is read only as fast as results are taken.

    Ctrl-C, or an error of the input, stops the reading. Blocks that are being judged are still finished and handed on,
    because their verdicts may have been paid for. A second Ctrl-C stops these blocks, too: one that comes before a
    finished block gets failed results, the others are left out.
    """
    feed = _Feed(crew, blocks)
    try:
        try:
            yield from _hand_on(feed, crew.rows)
        except KeyboardInterrupt:
            feed.open = False
            crew.drop()
            if feed.under_way:
                _log.warning("interrupted: what is under way is finished; a second interrupt ends it")
            try:
                yield from _hand_on(feed, crew.rows)
            except KeyboardInterrupt:
                # Finished rows behind an unfinished one have been paid for: hand them on, too
                crew.give_up()
                while crew.rows.ready:
                    yield crew.rows.ready.popleft()
                raise
            raise
        if feed.error is not None:
            raise feed.error
    finally:
        crew.close()


def _hand_on(feed: _Feed[Out], rows: Rows[Out]) -> Iterator[Out]:
    ready = rows.ready
    while feed.open or feed.under_way or ready:
        # Before looking: a block that finishes while we look makes news again
        rows.news.forget()
        while ready:
            # Ctrl-C is raised after calls, so there is none between taking a row out and yielding it: no row is lost
            row = ready[0]
            del ready[0]
            yield row
        feed.fill()
        if rows.error is not None:
            raise rows.error
        if feed.under_way and not ready:
            rows.news.wait()
