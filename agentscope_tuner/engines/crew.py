"""The interface of crews, which judge many blocks at once, and the loop that feeds a crew and passes its results on."""

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

# No trainer has larger groups. A longer run is a data set with the same task id everywhere: it must not fill the memory
MOST_IN_GROUP = 1024


class BlockAnswer(Protocol):
    """The judging of one block in a worker process: iterating judges it, step by step."""

    def __iter__(self) -> Iterator[bytes]:
        """A note for each step as soon as it is done, from which `Work.recovered` makes results."""

    def packed(self) -> Any:
        """The results of the steps since the last call, as plain data."""


class Work(Protocol[Out_co]):
    """Judges blocks for an engine; every process that judges makes its own object from `recipe`.

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
        """The input as numbered blocks, one group each if the judge ranks. Reads the input only as blocks are taken."""

    def judge(self, block: Any) -> Sequence[Out_co]:
        """The results of a block."""

    async def ajudge(self, block: Any) -> Sequence[Out_co]:
        """`judge` for judges that await."""

    def failed(self, block: Any, error: JudgeError) -> Sequence[Out_co]:
        """Failed results for all rows of the block, with `error`."""

    def answer(self, block: Any) -> BlockAnswer:
        """The judging of a block in a worker process: it begins when the answer is iterated over. An exception from it
        fails the whole block.
        """

    # Plain tuples go between processes: a pickle that names classes takes twenty times as long to read

    def unpack(self, packed: Any) -> Sequence[Out_co]:
        """The results of steps, from what `BlockAnswer.packed` gave."""

    def recovered(self, block: Any, notes: list[bytes]) -> Sequence[Out_co] | str:
        """The results of a block from the notes of a dead worker, or a text that says why there are none."""


class OneStep:
    """A `BlockAnswer` of a single step: the whole block is judged at once, such as a group that is ranked."""

    def __init__(self, judge: Callable[[], Any]) -> None:
        self._judge = judge
        self._results: Any = None

    def __iter__(self) -> Iterator[bytes]:
        self._results = self._judge()
        yield pickle.dumps(self._results, pickle.HIGHEST_PROTOCOL)

    def packed(self) -> Any:
        """See BlockAnswer."""
        return self._results


def groups(items: Iterable[In], key: Callable[[In], str] | None) -> Iterator[tuple[list[In], str | None]]:
    """Split `items` into groups of neighbours with the same key, each with the reason why it cannot be judged, or None.

    An item with an empty key is a group by itself; so is every item if `key` is None. No judge can rank a run of more
    than `MOST_IN_GROUP` neighbours: its items come one by one, each with that reason.
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
    """The results of a run: the crew adds them, the caller takes them, in the order of the input or as they come.

    The caller's thread takes no lock: Ctrl-C may interrupt it anywhere where it is not held, and a held lock would stop
    the crew. A span counts bytes or rows, see `Block.span`.

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
        """Add the results of blocks; any thread may call it."""
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
        """Release all finished blocks now, although blocks before them are unfinished.

        An unfinished block before the last finished one gets the results of `failed`, so that each row keeps its
        position. Those behind it are left out.

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
        """Count blocks that will never be judged, `span` in all."""
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


# A batch that takes longer than planned is handed back in part: other workers may be idle, and rows wait behind it.
SLICE_SECONDS = 0.05

_MOST_STEPS = 1024
# How far the input is read ahead for each job: in steps, and in batches
_AHEAD_STEPS, _AHEAD_BATCHES = 8, 4


class BatchPace:
    """Learns from finished batches how much fits into a slice of time.

    Attributes:
        batch: the span of the next batch.
        step: the span of a row, averaged over recent batches.
    """

    def __init__(self) -> None:
        self.batch = self.step = 1

    def learn(self, span: int, steps: int, seconds: float) -> None:
        """Record a batch: its span that was judged, the number of rows in it, and the seconds that they took."""
        self.step = max(1, span // max(steps, 1))
        fitting = int(SLICE_SECONDS * span / seconds) if seconds > 0 else 4 * span
        # One slow row says little about the next, so shrink slowly: the worker hands back what does not fit.
        self.batch = max(1, self.batch // 2, min(fitting, 4 * max(self.batch, span), _MOST_STEPS * self.step))

    def ahead(self, jobs: int) -> int:
        """How much of the input to read ahead for `jobs` workers, as a span (bytes or rows, see `Block.span`)."""
        return jobs * max(_AHEAD_STEPS * self.step, _AHEAD_BATCHES * self.batch)

    @property
    def is_quick(self) -> bool:
        """Whether several rows fit into a slice. Slow rows are assigned singly, so no row waits behind a slow row."""
        return self.batch > self.step


_log = logging.getLogger(__name__)

_MOST_BYTES = 64 * 2**20


class Crew(ABC, Generic[Out]):
    """Judges blocks outside the caller's thread.

    Args:
        work: judges a block.
        rows: where finished rows go.
        ahead: the largest span of blocks that are begun and not yet passed on; it bounds the memory.
    """

    def __init__(self, work: Work[Out], rows: Rows[Out], ahead: int) -> None:
        self.work = work
        self.rows = rows
        self.ahead = ahead

    @abstractmethod
    def begin(self, block: Block) -> None:
        """Take a block. A block that already has results is not judged: its results are handed on."""

    @abstractmethod
    def drop(self) -> None:
        """Begin no more blocks: those that are waiting are dropped, those being judged are finished."""

    def give_up(self) -> None:
        """Hand on finished blocks although blocks before them are unfinished; see `Rows.give_up`."""

    @abstractmethod
    def close(self) -> None:
        """End every thread and process of the crew, without waiting for verdicts."""


class _Feed(Generic[Out]):
    """Reads the input: takes a block only when the crew has room for it and the caller keeps up with the results.

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
        """Begin as many blocks as there is room for."""
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
        """Whether some block is begun and neither finished nor dropped."""
        return self._begun > self._rows.ended


def run(crew: Crew[Out], blocks: Iterator[Block]) -> Generator[Out, None, None]:
    """The results of every block; `blocks` is read as the crew and the caller can take them.

    Ctrl-C, or an error of the input, stops the reading. Units that are being judged are still finished and handed on,
    because their verdicts may have been paid for. A second Ctrl-C stops these units, too: one before a finished unit
    gets a failed result, the others are left out.
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
                # What is finished behind a row that is not has been paid for
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
