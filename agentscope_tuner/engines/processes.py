"""The crew for judges that compute: worker processes, fed by one thread, each replaced when it dies."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import selectors
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any

from agentscope_tuner.engines.crew import Crew
from agentscope_tuner.engines.units import In, Out, Rows, Unit, Work
from agentscope_tuner.engines.worker import SLICE_SECONDS
from agentscope_tuner.engines.worker_process import Task, WorkerProcess
from agentscope_tuner.errors import Cause, ConfigError, JudgeError

_log = logging.getLogger(__name__)

_MOST_IN_BATCH = 1024
_MOST_BATCH_BYTES = 2**20
# how far the input is read ahead: rows for each job, and batches for each job
_AHEAD_ROWS, _AHEAD_BATCHES = 8, 4
_MOST_DEATHS = 2
_MOST_FAILED_STARTS = 3
_LEAVE_SECONDS = 5.0
# a dead worker is seen at once by its closed channel, unless something it started holds that open
_LOOK_SECONDS = 1.0


class ProcessCrew(Crew[In, Out]):
    """`jobs` processes, started as there is work for them.

    Batches are slices of time: as many units as were judged in about `SLICE_SECONDS` of late. A worker has two at most,
    so that it never waits for the next, and hands back what does not fit into its slice.
    """

    def __init__(self, work: Work[In, Out], rows: Rows[Out], jobs: int) -> None:
        super().__init__(work, rows, jobs * _AHEAD_ROWS)
        self._jobs = jobs
        self._size = 1
        self._inbox: deque[Unit[In, Out]] = deque()
        self._again: deque[Task] = deque()
        self._workers: list[WorkerProcess] = []
        self._selector = selectors.DefaultSelector()
        self._bell, self._clapper = os.pipe()
        os.set_blocking(self._clapper, False)
        self._selector.register(self._bell, selectors.EVENT_READ)
        self._hungry = self._dropping = self._closing = False
        self._furthest = -1
        self._failed_starts = 0
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._work, name="astuner-engine", daemon=True)
        _LIVE.add(self)

    # the caller's thread

    def begin(self, unit: Unit[In, Out]) -> None:
        """See Crew."""
        self._inbox.append(unit)
        if self._thread.ident is None:
            self._thread.start()
        if self._hungry:
            self._ring()

    def drop(self) -> None:
        """See Crew."""
        self._dropping = True
        self._ring()

    def close(self) -> None:
        """See Crew."""
        if self._closing or os.getpid() != self._pid:
            return
        self._closing = True
        if self._thread.ident is not None:
            self._ring()
            # the run may be collected as garbage, by whichever thread that happens to
            if threading.current_thread() is not self._thread:
                self._thread.join()
        for descriptor in (self._bell, self._clapper):
            os.close(descriptor)

    def _ring(self) -> None:
        # a full pipe is ringing already
        with contextlib.suppress(BlockingIOError):
            os.write(self._clapper, b".")

    # the crew's own thread

    def _work(self) -> None:
        try:
            while not self._closing:
                self._deal()
                self._hungry = len(self._workers) < self._jobs or self._with_room() is not None
                # what came before the flag was up has rung no bell
                if self._hungry and self._inbox:
                    continue
                self._wait()
        # boundary: whatever ends this thread is raised by the caller's
        except BaseException as exc:  # noqa: BLE001
            self.rows.fail(exc)
        finally:
            self._end_all()

    def _wait(self) -> None:
        events = self._selector.select(_LOOK_SECONDS)
        for key, _ in events:
            if key.data is None:
                os.read(self._bell, 4096)
            else:
                self._serve(key.data)
        if not events:
            for worker in [worker for worker in self._workers if worker.is_dead()]:
                self._bury(worker)

    def _serve(self, worker: WorkerProcess) -> None:
        messages, gone = worker.receive()
        for message in messages:
            self._hear(worker, message)
        if gone:
            self._bury(worker)
        else:
            self._flush(worker)

    def _hear(self, worker: WorkerProcess, message: Any) -> None:
        if worker.ready:
            self._answered(worker, *message)
        elif message is not None:
            raise ConfigError(f"a worker process could not load the judge: {message}")
        else:
            worker.ready = True
            self._failed_starts = 0

    def _answered(self, worker: WorkerProcess, number: int, seconds: float, results: list[bytes]) -> None:
        batch = worker.answered(number)
        self._finish(zip(batch.tasks, results, strict=False))
        self._again.extendleft(reversed(batch.tasks[len(results) :]))
        fitting = int(SLICE_SECONDS * len(results) / seconds) if seconds > 0 else _MOST_IN_BATCH
        # one slow row says little about the next: what is too much is handed back
        self._size = max(1, self._size // 2, min(fitting, 4 * self._size, _MOST_IN_BATCH))
        self.ahead = self._jobs * max(_AHEAD_ROWS, _AHEAD_BATCHES * self._size)

    def _finish(self, answered: Any) -> None:
        finished: list[tuple[Unit[In, Out], Sequence[Out]]] = []
        for task, answer in answered:
            results = pickle.loads(answer)
            # words instead of results: why there are none
            finished.append(
                (task.unit, self._failed(task, results) if isinstance(results, str) else self.work.unpack(results))
            )
            self._furthest = max(self._furthest, task.unit.number)
        if finished:
            self.rows.finish(finished)

    def _failed(self, task: Task, why: str) -> Sequence[Out]:
        return self.work.failed(task.unit.items, JudgeError(why, cause=Cause.WORKER))

    def _deal(self) -> None:
        """Give every worker that has room a batch."""
        if self._dropping:
            self._drop_untouched()
        while self._again or self._inbox:
            worker = self._free_worker()
            if worker is None:
                return
            tasks, payloads = self._next_batch()
            if tasks:
                worker.send(payloads, tasks)
                self._flush(worker)

    def _free_worker(self) -> WorkerProcess | None:
        worker = self._with_room()
        if len(self._workers) < self._jobs and (worker is None or worker.batches):
            return self._hire()
        return worker

    def _with_room(self) -> WorkerProcess | None:
        """The worker that has the least to do, unless all have enough."""
        worker = min(self._workers, key=lambda worker: len(worker.batches), default=None)
        if worker is None or not worker.batches:
            return worker
        # slow rows are dealt one by one, and nothing queues behind one that turns out to be slow
        quick = self._size > 1 and time.monotonic() - worker.since < 2 * SLICE_SECONDS
        return worker if quick and len(worker.batches) < 2 else None

    def _hire(self) -> WorkerProcess:
        try:
            worker = WorkerProcess(self.work.recipe)
        except OSError as exc:
            raise JudgeError(f"no worker process could be started: {exc}", cause=Cause.WORKER) from exc
        self._workers.append(worker)
        self._selector.register(worker.channel, selectors.EVENT_READ, worker)
        return worker

    def _next_batch(self) -> tuple[list[Task], list[bytes]]:
        tasks: list[Task] = []
        payloads: list[bytes] = []
        size = 0
        while (self._again or self._inbox) and len(tasks) < self._size and size < _MOST_BATCH_BYTES:
            task = self._again.popleft() if self._again else Task(self._inbox.popleft())
            if task.unit.results is not None:
                self.rows.finish([(task.unit, task.unit.results)])
                continue
            try:
                payload = pickle.dumps(self.work.pack(task.unit.items), pickle.HIGHEST_PROTOCOL)
            # boundary: rollouts may hold anything; what cannot leave this process fails by itself
            except Exception as exc:  # noqa: BLE001
                why = f"the row cannot be sent to a worker process: {type(exc).__name__}: {exc}"
                self.rows.finish([(task.unit, self._failed(task, why))])
                continue
            tasks.append(task)
            payloads.append(payload)
            size += len(payload)
        return tasks, payloads

    def _flush(self, worker: WorkerProcess) -> None:
        try:
            more = worker.flush()
        except OSError:
            # it is gone: its closed channel, or `_LOOK_SECONDS`, will tell
            more = False
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if more else 0)
        self._selector.modify(worker.channel, events, worker)

    def _bury(self, worker: WorkerProcess) -> None:
        """Keep what a dead worker has done, and give the rest to others."""
        self._selector.unregister(worker.channel)
        self._workers.remove(worker)
        how = worker.end(patience=0.5)
        left = worker.salvage()
        worker.forget()
        _log.warning("a worker process %s; another takes its place", how)
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts >= _MOST_FAILED_STARTS:
                raise JudgeError(
                    f"{self._failed_starts} worker processes ended while they loaded the judge: one {how}",
                    cause=Cause.WORKER,
                )
        self._finish(left.finished)
        self._again.extendleft(reversed(left.untouched))
        if left.in_hand is None:
            return
        left.in_hand.deaths += 1
        if left.in_hand.deaths < _MOST_DEATHS:
            self._again.appendleft(left.in_hand)
        else:
            why = f"{_MOST_DEATHS} worker processes died of judging it, the last one {how}"
            self.rows.finish([(left.in_hand.unit, self._failed(left.in_hand, why))])

    def _drop_untouched(self) -> None:
        """Keep only what has to be judged for what is finished, or in hand, to have no gap before it."""
        in_hand = [worker.batches[0].tasks[0].unit.number for worker in self._workers if worker.batches]
        furthest = max([self._furthest, *in_hand])
        kept = [task for task in self._again if task.unit.number < furthest]
        dropped = len(self._again) - len(kept) + len(self._inbox)
        self._again = deque(kept)
        self._inbox.clear()
        if dropped:
            self.rows.drop(dropped)

    def _end_all(self) -> None:
        for worker in self._workers:
            worker.leave()
        for worker in self._workers:
            # one that has something in hand would be asked in vain
            worker.end(0.0 if worker.batches else _LEAVE_SECONDS)
            worker.forget()
        self._workers.clear()
        self._selector.close()

    def _forget(self) -> None:
        for worker in self._workers:
            worker.forget()


_LIVE: weakref.WeakSet[ProcessCrew[Any, Any]] = weakref.WeakSet()


def _forget_all() -> None:
    # a forked child holds the parent's end of the workers' lifelines, which must end with the parent
    for crew in list(_LIVE):
        crew._forget()


os.register_at_fork(after_in_child=_forget_all)
