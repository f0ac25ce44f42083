"""The crew for judges that compute: worker processes that one thread feeds, and replaces when they die."""

from __future__ import annotations

import logging
import os
import pickle
import selectors
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from agentscope_tuner.engines.batch_process import Assignment, BatchProcess
from agentscope_tuner.engines.batch_worker import Part
from agentscope_tuner.engines.crew import Crew
from agentscope_tuner.engines.pace import SLICE_SECONDS, BatchPace
from agentscope_tuner.engines.units import In, Out, Rows, Unit, Work
from agentscope_tuner.engines.waker import Waker
from agentscope_tuner.errors import Cause, ConfigError, DeadlineError, JudgeError

_log = logging.getLogger(__name__)

_MOST_BATCH_BYTES = 2**20
_MOST_DEATHS = 2
_MOST_FAILED_STARTS = 3
_LEAVE_SECONDS = 5.0
# A dead worker is seen at once by its closed channel, unless a process that it started holds the channel open.
_LOOK_SECONDS = 1.0
# The judged unit with its results, or a text that says why there are none
_Finished = tuple[Unit[In, Out], Sequence[Out] | str]


class ProcessCrew(Crew[In, Out]):
    """Judges in up to `jobs` worker processes, which are started when there is work for them.

    Batches are slices of time: as much as recently was judged in about `SLICE_SECONDS`. A worker has two batches at
    most, so that it never waits for the next one, and hands back the rows that do not fit into its slice.
    """

    def __init__(self, work: Work[In, Out], rows: Rows[Out], jobs: int) -> None:
        super().__init__(work, rows, BatchPace().ahead(jobs))
        self._jobs = jobs
        self._pace = BatchPace()
        self._inbox: deque[Unit[In, Out]] = deque()
        self._again: deque[Assignment] = deque()
        self._workers: list[BatchProcess] = []
        self._selector = selectors.DefaultSelector()
        self._waker = Waker()
        self._selector.register(self._waker, selectors.EVENT_READ)
        self._hungry = self._dropping = self._closing = False
        self._furthest = -1
        self._failed_starts = 0
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._work, name="astuner-engine", daemon=True)

    # the caller's thread

    def begin(self, unit: Unit[In, Out]) -> None:
        """See Crew."""
        self._inbox.append(unit)
        if self._thread.ident is None:
            self._thread.start()
        if self._hungry:
            self._waker.wake()

    def drop(self) -> None:
        """See Crew."""
        self._dropping = True
        self._waker.wake()

    def close(self) -> None:
        """See Crew."""
        if self._closing or os.getpid() != self._pid:
            return
        self._closing = True
        if self._thread.ident is not None:
            self._waker.wake()
            # The garbage collector may close the run in any thread, even in the crew's own, which cannot join itself.
            if threading.current_thread() is not self._thread:
                self._thread.join()
        self._waker.close()

    # the crew's own thread

    def _work(self) -> None:
        try:
            while not self._closing:
                self._assign()
                self._hungry = len(self._workers) < self._jobs or self._with_room() is not None
                # Units that arrived before `_hungry` was set did not wake us: look at the inbox again.
                if self._hungry and self._inbox:
                    continue
                self._wait()
        # boundary: the caller's thread raises any error that ends this thread
        except BaseException as exc:  # noqa: BLE001
            self.rows.fail(exc)
        finally:
            self._end_all()

    def _wait(self) -> None:
        left = [_LOOK_SECONDS, *(worker.seconds_left(self.work.deadline) for worker in self._workers)]
        events = self._selector.select(max(0.0, min(left)))
        for key, _ in events:
            if key.data is None:
                self._waker.clear()
            else:
                self._take_messages(key.data)
        for worker in [worker for worker in self._workers if worker.seconds_left(self.work.deadline) <= 0]:
            self._reap(worker, overdue=True)
        if not events:
            for worker in [worker for worker in self._workers if worker.is_dead()]:
                self._reap(worker)

    def _take_messages(self, worker: BatchProcess) -> None:
        messages, gone = worker.receive()
        for message in messages:
            self._take_message(worker, message)
        if gone:
            self._reap(worker)
        else:
            self._flush(worker)

    def _take_message(self, worker: BatchProcess, message: Any) -> None:
        if worker.ready:
            self._answered(worker, *message)
        elif message is not None:
            raise ConfigError(f"a worker process could not load the judge: {message}")
        else:
            # The time to load the judge does not count as the first unit's time
            worker.ready, worker.since = True, time.monotonic()
            self._failed_starts = 0

    def _answered(self, worker: BatchProcess, number: int, seconds: float, parts: list[Part]) -> None:
        batch = worker.answered(number)
        begun = list(zip(batch.assignments, parts, strict=False))
        rest = batch.assignments[len(parts) :]
        finished: list[_Finished[In, Out]] = []
        for assignment, (steps, whole, packed) in begun:
            unit, left = (assignment.unit, None) if whole else self.work.cut(assignment.unit, steps)
            if left is not None:
                rest.insert(0, Assignment(left))
            finished.append((unit, packed if isinstance(packed, str) else self.work.unpack(packed)))
        self._finish(finished)
        self._again.extendleft(reversed(rest))
        self._pace.learn(sum(unit.span for unit, _ in finished), sum(steps for steps, _, _ in parts), seconds)
        self.ahead = self._pace.ahead(self._jobs)

    def _finish(self, found: list[_Finished[In, Out]]) -> None:
        """Hand on results; a text stands in place of them where the worker could not judge the unit."""
        if not found:
            return
        finished = [(unit, self._failed(unit, got) if isinstance(got, str) else got) for unit, got in found]
        self._furthest = max(self._furthest, *(unit.number for unit, _ in finished))
        self.rows.finish(finished)

    def _failed(self, unit: Unit[In, Out], why: str) -> Sequence[Out]:
        return self.work.failed(unit.items, JudgeError(why, cause=Cause.WORKER))

    def _assign(self) -> None:
        """Give a batch to every worker that has room. Where all results are known, no worker is started."""
        if self._dropping:
            self._drop_untouched()
        while self._again or self._inbox:
            if not self._again and (results := self._inbox[0].results) is not None:
                self.rows.finish([(self._inbox.popleft(), results)])
                continue
            worker = self._free_worker()
            if worker is None:
                return
            assignments, payloads = self._next_batch()
            if assignments:
                worker.send(payloads, assignments)
                self._flush(worker)

    def _free_worker(self) -> BatchProcess | None:
        worker = self._with_room()
        if len(self._workers) < self._jobs and (worker is None or worker.batches):
            return self._start_worker()
        return worker

    def _with_room(self) -> BatchProcess | None:
        """The worker with the least work; None when all have enough."""
        worker = min(self._workers, key=lambda worker: len(worker.batches), default=None)
        if worker is None or not worker.batches:
            return worker
        in_time = time.monotonic() - worker.since < 2 * SLICE_SECONDS
        return worker if self._pace.is_quick and in_time and len(worker.batches) < 2 else None

    def _start_worker(self) -> BatchProcess:
        try:
            worker = BatchProcess(self.work.recipe)
        except OSError as exc:
            raise JudgeError(f"no worker process could be started: {exc}", cause=Cause.WORKER) from exc
        self._workers.append(worker)
        self._selector.register(worker.channel, selectors.EVENT_READ, worker)
        return worker

    def _next_batch(self) -> tuple[list[Assignment], list[bytes]]:
        assignments, payloads, size, span = list[Assignment](), list[bytes](), 0, 0
        while span < self._pace.batch and size < _MOST_BATCH_BYTES and self._is_next_unjudged():
            unit = (assignment := self._taken(self._pace.batch - span)).unit
            try:
                payload = pickle.dumps(self.work.pack(unit.items), pickle.HIGHEST_PROTOCOL)
            # boundary: rollouts may hold anything; a row that cannot be pickled fails alone
            except Exception as exc:  # noqa: BLE001
                why = f"the row cannot be sent to a worker process: {type(exc).__name__}: {exc}"
                self.rows.finish([(unit, self._failed(unit, why))])
                continue
            assignments.append(assignment)
            payloads.append(payload)
            size += len(payload)
            span += unit.span
        return assignments, payloads

    def _is_next_unjudged(self) -> bool:
        return bool(self._again or (self._inbox and self._inbox[0].results is None))

    def _taken(self, span: int) -> Assignment:
        """The next assignment, split where it is longer than `span`."""
        assignment = self._again.popleft() if self._again else Assignment(self._inbox.popleft())
        if assignment.unit.span > span:
            assignment.unit, rest = self.work.split(assignment.unit, span)
            if rest is not None:
                self._again.appendleft(Assignment(rest))
        return assignment

    def _flush(self, worker: BatchProcess) -> None:
        try:
            more = worker.flush()
        except OSError:
            # The worker is gone. Its closed channel wakes `_wait`, at the latest after `_LOOK_SECONDS`.
            more = False
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if more else 0)
        self._selector.modify(worker.channel, events, worker)

    def _reap(self, worker: BatchProcess, *, overdue: bool = False) -> None:
        """Keep the results of a worker that is dead, or whose verdict is `overdue`, and give its other work away."""
        self._selector.unregister(worker.channel)
        self._workers.remove(worker)
        how = worker.end(patience=0.0 if overdue else 0.5)
        left = worker.recover(lambda assignment: self.work.steps(assignment.unit.items))
        worker.close()
        _log.warning("a worker process %s; another takes its place", how)
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts >= _MOST_FAILED_STARTS:
                raise JudgeError(
                    f"{self._failed_starts} worker processes ended while they loaded the judge: one {how}",
                    cause=Cause.WORKER,
                )
        self._again.extendleft(reversed(left.not_begun))
        # The unit that was being judged is the last of these: units to judge again go before units that were not begun
        for assignment, notes in reversed(left.begun):
            self._take_up(assignment, notes, how, overdue=overdue)

    def _take_up(self, assignment: Assignment, notes: list[bytes], how: str, *, overdue: bool) -> None:
        """Hand on the noted results of a dead worker's assignment; it died in the step after the last note."""
        unit: Unit[In, Out] | None = assignment.unit
        if notes:
            done, unit = self.work.cut(assignment.unit, len(notes))
            self._finish([(done, self.work.recovered(done.items, notes))])
        if unit is None:
            return
        unit, rest = self.work.cut(unit, 1)
        if rest is not None:
            self._again.appendleft(Assignment(rest))
        deaths = 1 if notes else assignment.deaths + 1
        if not overdue and deaths < _MOST_DEATHS:
            self._again.appendleft(Assignment(unit, deaths))
            return
        if overdue:
            why = f"no verdict within {self.work.deadline:g} s, the deadline for a verdict: its process was killed"
            error: JudgeError = DeadlineError(why, judge=self.work.traits.name)
        else:
            why = f"{_MOST_DEATHS} worker processes died of judging it, the last one {how}"
            error = JudgeError(why, cause=Cause.WORKER)
        self.rows.finish([(unit, self.work.failed(unit.items, error))])

    def _drop_untouched(self) -> None:
        """Drop the waiting units, except those before a finished or begun unit: the output must have no gap."""
        in_hand = [worker.batches[0].assignments[0].unit.number for worker in self._workers if worker.batches]
        furthest = max([self._furthest, *in_hand])
        dropped = [*self._inbox, *(again.unit for again in self._again if again.unit.number >= furthest)]
        self._again = deque(again for again in self._again if again.unit.number < furthest)
        self._inbox.clear()
        if dropped:
            self.rows.drop(sum(unit.span for unit in dropped))

    def _end_all(self) -> None:
        for worker in self._workers:
            worker.ask_to_leave()
        for worker in self._workers:
            # A busy worker cannot react: kill it now.
            worker.end(0.0 if worker.batches else _LEAVE_SECONDS)
            worker.close()
        self._workers.clear()
        self._selector.close()
