"""Worker processes for judges that compute. Each is sent blocks of rows in batches, as much as it judges in a short
slice of time.

A `ProcessPoolExecutor` would not do: the death of one worker breaks the whole pool, and does not show which row this
worker was judging. Here each worker notes its results in a journal, which is memory that outlives it.

`main` is the worker's program: it takes batches of blocks, and answers with their results.
"""

from __future__ import annotations

import logging
import math
import pickle
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from agentscope_tuner._run import channel
from agentscope_tuner._run.channel import ParentChannel, ResultJournal, Slots
from agentscope_tuner._run.child import ChildProgram
from agentscope_tuner._run.pool import POLICY, Pool, WallTimeUp, Worker, WorkerClosed, WorkerLost
from agentscope_tuner.engines.crew import SLICE_SECONDS, BatchPace, Crew, Out, Rows, Work
from agentscope_tuner.errors import Cause, ConfigError, DeadlineError, JudgeError
from agentscope_tuner.records.blocks import Block

_log = logging.getLogger(__name__)

_MOST_BATCH_BYTES = 2**20
# The judged block with its results, or a text that says why there are none
_Finished = tuple[Block, Sequence[Out] | str]


@dataclass(slots=True)
class Batch:
    """Blocks that were sent to a worker in one message; batches are numbered from 1 for each worker."""

    number: int
    blocks: list[Block]


class BatchWorker(Worker[Batch]):
    """The parent's end of a worker process that judges batches.

    Large messages pass through memory that both processes hold. The worker also notes each result in such memory, the
    journal, until it answers: so the results survive its death.
    """

    def __init__(self, recipe: tuple[object, ...]) -> None:
        self._sent = 0
        self.has_answered = False
        self._journal = channel.create_journal()
        given, answers = channel.create_slots(), channel.create_slots()
        # two batches at most are unanswered, so the slots of a batch are free when it is sent and when it is answered
        self._given, self._answers = channel.Slots(given), channel.Slots(answers)
        super().__init__(
            ChildProgram("agentscope_tuner.engines.processes", [self._journal, given, answers]),
            inherited=[self._journal, *given, *answers],
        )
        self.send(pickle.dumps(recipe, pickle.HIGHEST_PROTOCOL))

    def give_batch(self, blocks: list[Block], payloads: list[bytes]) -> None:
        """Send a batch to the worker, which may have one unanswered batch at most.

        Args:
            blocks: the blocks of the batch.
            payloads: the same blocks, pickled.
        """
        assert len(self.jobs) < channel.COUNT
        self._sent += 1
        self._given.put(self._sent, b"".join(payloads))
        message = pickle.dumps((self._sent, list(map(len, payloads))), pickle.HIGHEST_PROTOCOL)
        self.give(Batch(self._sent, blocks), message)

    def answer(self, message: bytes) -> tuple[Batch, float, list[Part]]:
        """Read the worker's answer to its oldest batch: this batch, the seconds spent on it, and its results.

        The results are a `Part` for each block that was begun within the slice of time; the batch's other blocks have
        to be sent again.
        """
        number, seconds, parts = pickle.loads(self._answers.get(*pickle.loads(message)))
        batch = self.jobs.popleft()
        self.has_answered = True
        assert batch.number == number, "batches are worked off in order"
        return batch, seconds, parts

    def recovered(self) -> tuple[list[tuple[Block, list[bytes]]], list[Block]]:
        """After the worker's death, what is known of its work.

        Returns:
            The blocks that it had begun, each with the results that it noted before it died; and the blocks that it had
            not begun.
        """
        if not self.jobs:
            return [], []
        # The worker takes batches in order, so only the oldest can have been begun
        waiting = deque(block for batch in self.jobs for block in batch.blocks)
        notes = channel.read_journal(self._journal, self.jobs[0].number)
        begun: list[tuple[Block, list[bytes]]] = []
        while notes is not None and len(begun) < len(self.jobs[0].blocks):
            block = waiting.popleft()
            count = block.steps()
            begun.append((block, notes[:count]))
            # the first row without a step was being judged, so no later row was begun
            notes = notes[count:] if len(notes) >= count else None
        return begun, list(waiting)


class ProcessCrew(Pool[BatchWorker], Crew[Out]):
    """The crew for judges that compute: up to `jobs` worker processes, which are started when there is work for them.

    A batch is as much as was recently judged in about `SLICE_SECONDS`. A worker has two batches at most, so that it
    never waits for the next one, and hands back the rows that it has not begun when this time is over.

    Attributes:
        pace: learns how much fits into a batch.
    """

    loads = "the judge"
    leave_seconds = 5.0

    def __init__(self, work: Work[Out], rows: Rows[Out], jobs: int) -> None:
        Pool.__init__(self, jobs)
        Crew.__init__(self, work, rows, BatchPace().ahead(jobs))
        self.pace = BatchPace()
        self._inbox: deque[Block] = deque()
        self._again: deque[Block] = deque()
        self._hungry, self._dropping, self._over = True, False, False
        self._furthest = -1

    # the caller's thread

    def begin(self, block: Block) -> None:
        """Queue a block for the next worker with room; does not wait for it."""
        self._inbox.append(block)
        if self._hungry:
            self.soon(self.hand_out)

    def drop(self) -> None:
        """After the first Ctrl-C: drop the waiting blocks, except those that come before a begun or finished block."""
        self._dropping = True
        self.soon(self.hand_out)

    def close(self, *, wait: bool = True) -> None:
        """End all worker processes; with `wait`, return only when they have ended."""
        self._over = True
        super().close(wait=wait)

    # the pool's loop

    def start(self) -> BatchWorker:
        """Start a worker process, which loads the judge from `Work.recipe`."""
        return BatchWorker(self.work.recipe)

    def started(self, worker: BatchWorker, message: bytes) -> None:
        """Read a new worker's first message.

        Raises:
            ConfigError: the message says why the worker could not load the judge.
        """
        if (problem := pickle.loads(message)) is not None:
            raise ConfigError(f"a worker process could not load the judge: {problem}")

    def hand_out(self) -> None:
        """Give batches to all workers that have room, as long as there are blocks to judge."""
        while not self._over:
            self._assign()
            self._hungry = len(self.workers) < self.most or self.with_room() is not None
            # Blocks that arrived before `_hungry` was set did not wake us: look at the inbox again.
            if not (self._hungry and self._inbox):
                return

    def left(self, worker: BatchWorker) -> float:
        """The seconds that the worker may still take before it is killed; infinite without a deadline or work.

        The row being judged was begun within the batch's slice of time. So once this slice and the deadline have
        passed, the row has certainly taken too long.

        Raises:
            WallTimeUp: no time is left.
        """
        if self.work.deadline is None or not worker.jobs:
            return math.inf
        left = worker.since + SLICE_SECONDS + self.work.deadline - time.monotonic()
        if left <= 0:
            raise WallTimeUp(begun=True)
        return left

    def answered(self, worker: BatchWorker, message: bytes) -> None:
        """Read a worker's answer: hand on the results, and queue the rows again that it did not come to."""
        batch, seconds, parts = worker.answer(message)
        rest = batch.blocks[len(parts) :]
        finished: list[_Finished[Out]] = []
        for given, (steps, whole, packed) in zip(batch.blocks, parts, strict=False):
            block, left = (given, None) if whole else given.cut(steps)
            if left is not None:
                rest.insert(0, left)
            finished.append((block, packed if isinstance(packed, str) else self.work.unpack(packed)))
        self._finish(finished)
        self._again.extendleft(reversed(rest))
        self.pace.learn(sum(block.span for block, _ in finished), sum(steps for steps, _, _ in parts), seconds)
        self.ahead = self.pace.ahead(self.most)

    def fail(self, error: Exception) -> None:
        """End the run with `error`: no worker can be had, or the pool itself is broken."""
        self._over = True
        self.rows.fail(error)

    def _finish(self, found: list[_Finished[Out]]) -> None:
        """Hand on blocks with their results. A text in place of results says why there are none: the block fails."""
        if not found:
            return
        finished = [(block, self._failed(block, got) if isinstance(got, str) else got) for block, got in found]
        self._furthest = max(self._furthest, *(block.number for block, _ in finished))
        self.rows.finish(finished)

    def _failed(self, block: Block, why: str) -> Sequence[Out]:
        return self.work.failed(block, JudgeError(why, cause=Cause.WORKER))

    def _assign(self) -> None:
        """Give a batch to every worker that has room, and start workers as needed.

        A block whose results are known already is handed on; for such blocks no worker is started.
        """
        if self._dropping:
            self._drop_untouched()
        while self._again or self._inbox:
            if not self._again and (results := self._inbox[0].results) is not None:
                self.rows.finish([(self._inbox.popleft(), results)])
                continue
            worker = self.with_room()
            if (worker is None or worker.jobs) and self.start_worker():
                worker = self.workers[-1]
            if worker is None or self._over:
                return
            blocks, payloads = self._next_batch()
            if blocks:
                worker.give_batch(blocks, payloads)

    def with_room(self) -> BatchWorker | None:
        """The worker with the least work among those that may get another batch; None if no worker may."""
        return min(filter(self._has_room, self.workers), key=lambda worker: len(worker.jobs), default=None)

    def _has_room(self, worker: BatchWorker) -> bool:
        if not worker.jobs:
            return True
        in_time = time.monotonic() - worker.since < 2 * SLICE_SECONDS
        # The first batch was sized before the pace was known and may take long: let no other batch wait behind it
        return worker.has_answered and self.pace.is_quick and in_time and len(worker.jobs) < 2

    def _next_batch(self) -> tuple[list[Block], list[bytes]]:
        blocks, payloads, size, span = list[Block](), list[bytes](), 0, 0
        while span < self.pace.batch and size < _MOST_BATCH_BYTES and self._is_next_unjudged():
            block = self._taken(self.pace.batch - span)
            try:
                payload = pickle.dumps(block, pickle.HIGHEST_PROTOCOL)
            # boundary: rollouts may hold anything; a row that cannot be pickled fails alone
            except Exception as exc:  # noqa: BLE001
                why = f"the row cannot be sent to a worker process: {type(exc).__name__}: {exc}"
                self.rows.finish([(block, self._failed(block, why))])
                continue
            blocks.append(block)
            payloads.append(payload)
            size += len(payload)
            span += block.span
        return blocks, payloads

    def _is_next_unjudged(self) -> bool:
        return bool(self._again or (self._inbox and self._inbox[0].results is None))

    def _taken(self, span: int) -> Block:
        """Take the next block out of the queue, shortened to about `span`; the rest of it stays in the queue."""
        block = self._again.popleft() if self._again else self._inbox.popleft()
        if block.span > span:
            block, rest = block.split(span)
            if rest is not None:
                self._again.appendleft(rest)
        return block

    def lost(self, worker: BatchWorker, loss: WorkerLost) -> None:
        """After a worker's death: hand on the results that it noted, and queue the rest of its work again."""
        if isinstance(loss, WorkerClosed):
            return
        _log.warning("a worker process %s; another takes its place", loss.how)
        begun, not_begun = worker.recovered()
        self._again.extendleft(reversed(not_begun))
        # The block that was being judged is the last of these: blocks to judge again go before those not begun
        for block, notes in reversed(begun):
            self._take_up(block, notes, loss)

    def _take_up(self, whole: Block, notes: list[bytes], loss: WorkerLost) -> None:
        """Hand on the noted results of a block whose worker was lost, and queue the rest of the block again.

        The row (or group) after the last note was being judged. It fails if it was too slow, or if as many workers have
        died of it as `POLICY.deaths` allows.

        Args:
            whole: the block.
            notes: a note for each row of it that was judged; see `Work.recovered`.
            loss: how the worker ended.
        """
        left: Block | None = whole
        if notes:
            done, left = whole.cut(len(notes))
            self._finish([(done, self.work.recovered(done, notes))])
        if left is None:
            return
        block, rest = left.cut(1)
        if rest is not None:
            self._again.appendleft(rest)
        block.deaths = 1 if notes else whole.deaths + 1
        if isinstance(loss, WallTimeUp):
            why = f"no verdict within {self.work.deadline:g} s, the deadline for a verdict: its process was killed"
            error: JudgeError = DeadlineError(why, judge=self.work.traits.name)
        elif block.deaths < POLICY.deaths:
            self._again.appendleft(block)
            return
        else:
            why = f"{block.deaths} worker processes died of judging it, the last one {loss.how}"
            error = JudgeError(why, cause=Cause.WORKER)
        self.rows.finish([(block, self.work.failed(block, error))])

    def _drop_untouched(self) -> None:
        """Drop the waiting blocks, except those before a finished or begun block: the output must have no gap."""
        in_hand = [worker.jobs[0].blocks[0].number for worker in self.workers if worker.jobs]
        furthest = max([self._furthest, *in_hand])
        dropped = [*self._inbox, *(block for block in self._again if block.number >= furthest)]
        self._again = deque(block for block in self._again if block.number < furthest)
        self._inbox.clear()
        if dropped:
            self.rows.drop(sum(block.span for block in dropped))


#: A worker's answer about one block: how many of its steps (rows or groups) were judged, whether these are all, and
#: their results as `BlockAnswer.packed` gives them, or a text that says why there are none.
Part = tuple[int, bool, Any]


def main(channel: ParentChannel, journal: int, given: list[int], answers: list[int]) -> None:
    """The program of a worker process: load the judge, then judge batch after batch until the parent closes `channel`.

    Args:
        channel: brings a recipe (`Work.recipe`, see `ParentChannel.load`), then for each batch its number and the sizes
            of its blocks; takes the number of each batch and the size of its answer. All of them are pickles: both ends
            are one program under one user.
        journal: the descriptor of the memory to note results in; see `ResultJournal`.
        given: the descriptors of the shared memory that brings batches; see `Slots`.
        answers: the descriptors of the shared memory that takes the answers.
    """
    if (work := channel.load(lambda kind, *arguments: kind(*arguments))) is None:
        return
    notes, batches, answered = ResultJournal(journal), Slots(given), Slots(answers)
    for message in channel:
        batch, sizes = pickle.loads(message)
        answer = _pickled(_judge(work, notes, batch, _blocks(batches.get(batch, sum(sizes)), sizes)))
        answered.put(batch, answer)
        channel.send(_pickled((batch, len(answer))))


def _blocks(data: bytes, sizes: list[int]) -> list[memoryview]:
    whole, ends = memoryview(data), list(accumulate(sizes))
    return [whole[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def _pickled(message: object) -> bytes:
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def _judge(work: Any, notes: ResultJournal, batch: int, blocks: list[memoryview]) -> tuple[int, float, list[Part]]:
    """Judge a batch for about `SLICE_SECONDS`, and note each result in `notes` at once.

    Returns:
        The batch's number, the seconds spent, and a `Part` for each block that was begun in this time.
    """
    notes.begin(batch)
    parts: list[Part] = []
    started = now = time.monotonic()
    for block in blocks:
        steps, whole = 0, True
        try:
            answer = work.answer(pickle.loads(block))
            for note in answer:
                notes.add(note)
                steps += 1
                now = time.monotonic()
                if now - started > SLICE_SECONDS:
                    whole = False
                    break
            parts.append((steps, whole, answer.packed()))
        # boundary: an error while a block is judged fails that block, and the worker goes on
        except BaseException as exc:  # noqa: BLE001
            parts.append((steps, True, f"{type(exc).__name__} in a worker process: {exc}"))
            notes.add(_pickled(parts[-1][2]))
        now = time.monotonic()
        if now - started > SLICE_SECONDS:
            break
    return batch, now - started, parts
