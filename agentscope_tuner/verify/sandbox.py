"""Killable worker processes for the symbolic stage, and the one queue before them: what may run away runs here.

A pool starts on first use, belongs to the process that started it (a forked child starts its own), and may be used from
any thread and any event loop. Its deadline counts the worker's CPU time, so that a loaded machine gives the same
verdicts as an idle one. The time that a comparison waits for its turn does not count.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import sys
import threading
import weakref
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from agentscope_tuner._child.ask import ChildLost, CpuTimeUp
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.verify.queued_pair import QueuedPair, Told, fail, first_guess, given_up, verdict_of
from agentscope_tuner.verify.sandbox_process import SandboxProcess
from agentscope_tuner.verify.turns import FairQueue, current_request

DEADLINE = 0.5
_TRIES = 3
# A worker that dies before it has the question says nothing about the answer: try again, but not without end
_MOST_STARTS = 20
# Comparisons that a worker has at hand beyond the one it computes, so that it never waits for this process: their
# expected seconds, and their number. The more it has, the longer one that comes later waits
_AHEAD_SECONDS, _MOST_AHEAD = 0.01, 16
# a thread without work ends after so many seconds
_IDLE_SECONDS = 5.0


class Sandbox:
    """A pool of workers.

    Args:
        workers: how many run at once at most, at least 1.
        deadline: CPU seconds that one comparison may take.
    """

    def __init__(self, workers: int = 1, deadline: float = DEADLINE) -> None:
        self.workers = workers
        self.deadline = deadline
        self._reset()
        _LIVE.add(self)

    def _reset(self) -> None:
        """Start without workers. In a forked child: the workers are the parent's, and locks may have been held."""
        self._changed = threading.Condition()
        self._queue: FairQueue[QueuedPair] = FairQueue()
        self._threads = self._idle_threads = 0
        self._idle: list[SandboxProcess] = []
        self._all: set[SandboxProcess] = set()
        self._usual: dict[tuple[str, int], float] = {}

    def compare(self, answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic") -> Told:
        """A stage of the worker's on two bare answers; waits for its turn, and for its answer.

        Returns:
            The verdict, and its reason where there is more to say than the pair.

        Raises:
            JudgeError: no worker could be started, or workers died under this pair.
        """
        told = self._ask(answer, ground_truth, question, stage)
        try:
            return told.result()
        except BaseException:
            # interrupted: the answer is no longer needed
            told.cancel()
            raise

    async def acompare(
        self, answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic"
    ) -> Told:
        """`compare` for callers inside an event loop; no thread waits meanwhile."""
        return await asyncio.wrap_future(self._ask(answer, ground_truth, question, stage))

    def _ask(self, answer: str, truth: str, question: str | None, stage: str) -> Future[Told]:
        message = {"answer": answer, "truth": truth, "question": question, "stage": stage, "seconds": self.deadline}
        kind = (stage, (len(answer) + len(truth)).bit_length())
        comparison = QueuedPair(
            json.dumps(message).encode(), answer[:80], stage, kind, 0.0, current_request(), Future()
        )
        with self._changed:
            comparison.seconds = self._usual.get(kind) or first_guess(*kind)
            self._queue.add(comparison, comparison.request, comparison.seconds)
            # threads that were woken a moment ago still count as idle, and so do their comparisons as waiting
            if len(self._queue) > self._idle_threads and self._threads < self.workers:
                self._start_thread(comparison)
            self._changed.notify()
        return comparison.told

    def _start_thread(self, comparison: QueuedPair) -> None:
        try:
            threading.Thread(target=self._run, name="astuner-sandbox", daemon=True).start()
        except RuntimeError as exc:
            if not self._threads:
                comparison.told.cancel()
                raise JudgeError(f"no thread could be started: {exc}", cause=Cause.WORKER) from exc
        else:
            self._threads += 1

    def _run(self) -> None:
        """Hand comparisons to one worker after another, until none has come for a while."""
        changed = self._changed
        while True:
            with changed:
                while (first := self._next()) is None:
                    self._idle_threads += 1
                    woken = changed.wait(_IDLE_SECONDS)
                    self._idle_threads -= 1
                    if not woken and not self._queue:
                        self._threads -= 1
                        return
            under_way = deque([first])
            try:
                self._serve(under_way)
            # boundary: whatever ends this worker's work must not leave a caller waiting
            except BaseException as exc:  # noqa: BLE001
                fail(under_way.popleft() if under_way else first, exc)
            with changed:
                for comparison in under_way:
                    self._queue.charge(comparison.request, -comparison.seconds)
                    self._queue.add(comparison, comparison.request, comparison.seconds)

    def _next(self) -> QueuedPair | None:
        """The next comparison whose caller still waits. The caller of this method holds the lock."""
        while (found := self._queue.take()) is not None:
            if found.told.running() or found.told.set_running_or_notify_cancel():
                return found
            self._queue.charge(found.request, -found.seconds)
        return None

    def _serve(self, under_way: deque[QueuedPair]) -> None:
        """Have one worker compare `under_way` and the pairs still queued; pairs left in `under_way` were not begun."""
        worker = self._take()
        try:
            worker.put(under_way[0].question, needs_sympy=under_way[0].stage == "sympy")
            while under_way:
                self._send_ahead(worker, under_way)
                reply, seconds = worker.answer(self.deadline)
                self._report(under_way.popleft(), reply, seconds)
        except CpuTimeUp:
            self._discard(worker, replace=True)
            self._report(under_way.popleft(), None, self.deadline)
        except ChildLost as exc:
            # a worker that another thread took by closing the pool says nothing about the answer
            begun = self._discard(worker) and exc.begun
            under_way[0].died += begun
            under_way[0].not_begun += not begun
            if under_way[0].died >= _TRIES or under_way[0].not_begun >= _MOST_STARTS:
                raise given_up(under_way[0]) from exc
        except BaseException:
            # the worker's next reply would answer the wrong question
            self._discard(worker)
            raise
        else:
            with self._changed:
                # unless the pool was closed meanwhile
                if worker in self._all:
                    self._idle.append(worker)

    def _send_ahead(self, worker: SandboxProcess, under_way: deque[QueuedPair]) -> None:
        while len(under_way) < 2 or (
            len(under_way) < _MOST_AHEAD and sum(ahead.seconds for ahead in under_way) < _AHEAD_SECONDS
        ):
            with self._changed:
                more = self._next()
            if more is None:
                return
            under_way.append(more)
            worker.put(more.question, needs_sympy=more.stage == "sympy")

    def _report(self, comparison: QueuedPair, reply: dict[str, Any] | None, seconds: float) -> None:
        """Hand the result of `comparison` to its caller: the reply of the worker, or None when its CPU time was up."""
        with self._changed:
            self._queue.charge(comparison.request, seconds - comparison.seconds)
            usual = self._usual.get(comparison.kind, seconds)
            self._usual[comparison.kind] = max(1e-6, usual + 0.1 * (seconds - usual))
        if reply is None:
            late = f"undecided: the {comparison.stage} stage took more than {self.deadline} s of CPU time"
            comparison.told.set_result(("undecided", late))
            return
        try:
            comparison.told.set_result(verdict_of(reply))
        except JudgeError as exc:
            comparison.told.set_exception(exc)

    def _take(self) -> SandboxProcess:
        if _ended:
            raise JudgeError("no symbolic worker is started any more: this process ends", cause=Cause.INTERRUPTED)
        with self._changed:
            if self._idle:
                return self._idle.pop()
        try:
            worker = SandboxProcess()
        except OSError as exc:
            raise JudgeError(
                f"the symbolic worker could not be started with {sys.executable!r}: {exc}", cause=Cause.WORKER
            ) from exc
        with self._changed:
            self._all.add(worker)
        return worker

    def _discard(self, worker: SandboxProcess, *, replace: bool = False) -> bool:
        """End a worker; whether it still was the pool's."""
        with self._changed:
            owned = worker in self._all
            self._all.discard(worker)
        worker.end()
        if replace:
            # the next answer finds a worker that has started meanwhile
            with suppress(JudgeError):
                fresh = self._take()
                with self._changed:
                    self._idle.append(fresh)
        return owned

    def pids(self) -> list[int]:
        """The process ids of the workers that run now."""
        with self._changed:
            return [worker.child.pid for worker in self._all]

    def close(self) -> None:
        """End every worker. The pool may be used again."""
        with self._changed:
            workers, self._all, self._idle = self._all, set(), []
        for worker in workers:
            worker.end()


_LIVE: weakref.WeakSet[Sandbox] = weakref.WeakSet()
_shared: dict[tuple[int, float], Sandbox] = {}
_shared_lock = threading.Lock()
_ended = False


def shared(workers: int = 1, deadline: float = DEADLINE) -> Sandbox:
    """The process's pool with these settings: judges with the same settings share one."""
    with _shared_lock:
        if (workers, deadline) not in _shared:
            _shared[workers, deadline] = Sandbox(workers, deadline)
        return _shared[workers, deadline]


def close_all() -> None:
    """End every worker of every pool of this process."""
    for sandbox in list(_LIVE):
        sandbox.close()


def _end_all() -> None:
    global _ended
    # a thread whose worker is ended would start another
    _ended = True
    close_all()


def _reset_all() -> None:
    global _shared_lock
    _shared_lock = threading.Lock()
    for sandbox in list(_LIVE):
        sandbox._reset()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_reset_all)
