"""Worker processes for judges that compute: they are sent batches of blocks, as much as fits into a slice of time.

A `ProcessPoolExecutor` would not do: the death of one worker breaks the whole pool, and nothing tells which row this
worker was judging.

`main` is the child's program: it takes batches of blocks, and answers with their results.
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
    """Blocks that were sent in one message."""

    number: int
    blocks: list[Block]


class BatchWorker(Worker[Batch]):
    """A worker process that judges batches.

    Large messages pass through memory that both ends hold. So do results until they are answered, so that they survive
    the worker's death.
    """

    def __init__(self, recipe: tuple[object, ...]) -> None:
        self._sent = 0
        self.has_answered = False
        self._journal = channel.create_journal()
        given, answers = channel.create_slots(), channel.create_slots()
        # two batches at most are under way, so the slots of a batch are free when it is sent and when it is answered
        self._given, self._answers = channel.Slots(given), channel.Slots(answers)
        super().__init__(
            ChildProgram("agentscope_tuner.engines.processes", [self._journal, given, answers]),
            inherited=[self._journal, *given, *answers],
        )
        self.send(pickle.dumps(recipe, pickle.HIGHEST_PROTOCOL))

    def give_batch(self, blocks: list[Block], payloads: list[bytes]) -> None:
        """Send a batch; the worker may have one other batch at most."""
        assert len(self.jobs) < channel.COUNT
        self._sent += 1
        self._given.put(self._sent, b"".join(payloads))
        message = pickle.dumps((self._sent, list(map(len, payloads))), pickle.HIGHEST_PROTOCOL)
        self.give(Batch(self._sent, blocks), message)

    def answer(self, message: bytes) -> tuple[Batch, float, list[Part]]:
        """Read the answer to the oldest batch: this batch, the seconds that were spent on it, and its parts."""
        number, seconds, parts = pickle.loads(self._answers.get(*pickle.loads(message)))
        batch = self.jobs.popleft()
        self.has_answered = True
        assert batch.number == number, "batches are worked off in order"
        return batch, seconds, parts

    def recovered(self) -> tuple[list[tuple[Block, list[bytes]]], list[Block]]:
        """After the worker's death: the blocks that it had begun, each with the notes of its steps, and the others."""
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
    """Judges in up to `jobs` worker processes, which are started when there is work for them.

    Batches are slices of time: as much as recently was judged in about `SLICE_SECONDS`. A worker has two batches at
    most, so that it never waits for the next one, and hands back the rows that do not fit into its slice.

    Attributes:
        pace: how much fits into a slice.
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
        """See Crew."""
        self._inbox.append(block)
        if self._hungry:
            self.soon(self.hand_out)

    def drop(self) -> None:
        """See Crew."""
        self._dropping = True
        self.soon(self.hand_out)

    def close(self, *, wait: bool = True) -> None:
        """See Crew."""
        self._over = True
        super().close(wait=wait)

    # the pool's loop

    def start(self) -> BatchWorker:
        """See Pool."""
        return BatchWorker(self.work.recipe)

    def started(self, worker: BatchWorker, message: bytes) -> None:
        """See Pool."""
        if (problem := pickle.loads(message)) is not None:
            raise ConfigError(f"a worker process could not load the judge: {problem}")

    def hand_out(self) -> None:
        """See Pool."""
        while not self._over:
            self._assign()
            self._hungry = len(self.workers) < self.most or self.with_room() is not None
            # Blocks that arrived before `_hungry` was set did not wake us: look at the inbox again.
            if not (self._hungry and self._inbox):
                return

    def left(self, worker: BatchWorker) -> float:
        """See Pool: without a deadline there is no limit.

        The current step was begun within the batch's slice of time. So after this slice and the deadline it has
        certainly taken too long.
        """
        if self.work.deadline is None or not worker.jobs:
            return math.inf
        left = worker.since + SLICE_SECONDS + self.work.deadline - time.monotonic()
        if left <= 0:
            raise WallTimeUp(begun=True)
        return left

    def answered(self, worker: BatchWorker, message: bytes) -> None:
        """See Pool."""
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
        """See Pool."""
        self._over = True
        self.rows.fail(error)

    def _finish(self, found: list[_Finished[Out]]) -> None:
        """Hand on results; if the worker could not judge a block, a text that says why is given in place of them."""
        if not found:
            return
        finished = [(block, self._failed(block, got) if isinstance(got, str) else got) for block, got in found]
        self._furthest = max(self._furthest, *(block.number for block, _ in finished))
        self.rows.finish(finished)

    def _failed(self, block: Block, why: str) -> Sequence[Out]:
        return self.work.failed(block, JudgeError(why, cause=Cause.WORKER))

    def _assign(self) -> None:
        """Give a batch to every worker that has room. If all results are known, no worker is started."""
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
        """The worker with the least work; None if every worker has enough."""
        return min(filter(self._has_room, self.workers), key=lambda worker: len(worker.jobs), default=None)

    def _has_room(self, worker: BatchWorker) -> bool:
        if not worker.jobs:
            return True
        in_time = time.monotonic() - worker.since < 2 * SLICE_SECONDS
        # Its first batch was made before the pace was known: nothing waits behind that
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
        """The next block, split where it is longer than `span`."""
        block = self._again.popleft() if self._again else self._inbox.popleft()
        if block.span > span:
            block, rest = block.split(span)
            if rest is not None:
                self._again.appendleft(rest)
        return block

    def lost(self, worker: BatchWorker, loss: WorkerLost) -> None:
        """See Pool: keep the results of the worker, and queue its other work again."""
        if isinstance(loss, WorkerClosed):
            return
        _log.warning("a worker process %s; another takes its place", loss.how)
        begun, not_begun = worker.recovered()
        self._again.extendleft(reversed(not_begun))
        # The block that was being judged is the last of these: blocks to judge again go before those not begun
        for block, notes in reversed(begun):
            self._take_up(block, notes, loss)

    def _take_up(self, whole: Block, notes: list[bytes], loss: WorkerLost) -> None:
        """Hand on the noted results of a block whose worker was lost, and queue the rest of it again.

        The step after the last note was being judged. It fails if it was too slow or has cost too many workers.
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


#: How many steps of a block are done, whether these are all, and its results, or a text that says why there are none.
Part = tuple[int, bool, Any]


def main(channel: ParentChannel, journal: int, given: list[int], answers: list[int]) -> None:
    """Judge until the engine closes the channel.

    Args:
        channel: brings a recipe (`Work.recipe`, see `ParentChannel.load`), then the number of each batch and the sizes
            of its blocks; takes the number of each batch and the size of its answer. All of them are pickles: both ends
            are one program under one user.
        journal: the descriptor to note results in.
        given: the descriptors of the slots that bring batches.
        answers: the descriptors of the slots that take the answers.
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
    """The batch's number, the seconds spent, and the outcome of each block that was begun within the slice of time."""
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
