"""Killable worker processes for the symbolic stage, with one queue: a comparison that may never end runs here.

A pool starts on first use, and may be used from any thread and any event loop. It belongs to the process that started
it; a forked child starts a pool of its own. A loaded machine must give the same verdicts as an idle machine, so the
deadline counts the worker's CPU time. The time that a comparison waits in the queue does not count.
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
from agentscope_tuner.verify.queued_pair import QueuedPair, ReasonedVerdict, fail, first_guess, given_up, verdict_of
from agentscope_tuner.verify.sandbox_process import SandboxProcess
from agentscope_tuner.verify.turns import FairQueue, current_request

DEADLINE = 0.5
_TRIES = 3
# A worker that dies before it begins the comparison proves nothing about the answer: try again, but not for ever
_MOST_STARTS = 20
# A worker must never wait for this process, so comparisons are sent to it ahead of time. But a comparison that arrives
# later waits for all of them, so their expected seconds and their number are bounded
_AHEAD_SECONDS, _MOST_AHEAD = 0.01, 16
# A thread ends after this many seconds without work
_IDLE_SECONDS = 5.0


class Sandbox:
    """A pool of workers.

    Args:
        workers: the most worker processes at once, 1 or more.
        deadline: CPU seconds that one comparison may take.
    """

    def __init__(self, workers: int = 1, deadline: float = DEADLINE) -> None:
        self.workers = workers
        self.deadline = deadline
        self._reset()
        _LIVE.add(self)

    def _reset(self) -> None:
        """Start anew, without workers or queued comparisons, and with new locks.

        A forked child needs this: the workers belong to its parent, and a lock may have been held when it was forked.
        """
        self._changed = threading.Condition()
        self._queue: FairQueue[QueuedPair] = FairQueue()
        self._threads = self._idle_threads = 0
        self._idle: list[SandboxProcess] = []
        self._all: set[SandboxProcess] = set()
        self._usual: dict[tuple[str, int], float] = {}

    def compare(
        self, answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic"
    ) -> ReasonedVerdict:
        """Compare two answers, without their boxes, in a worker; wait for its verdict.

        Args:
            answer: the model's answer.
            ground_truth: the reference answer.
            question: the question that both answer, where it is known.
            stage: `symbolic` or `sympy`.

        Returns:
            The verdict, and its reason; the reason is empty where the pair explains itself.

        Raises:
            JudgeError: no worker could be started, or too many workers died on this pair.
        """
        verdict = self._ask(answer, ground_truth, question, stage)
        try:
            return verdict.result()
        except BaseException:
            # The caller was interrupted, so nobody needs the verdict
            verdict.cancel()
            raise

    async def acompare(
        self, answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic"
    ) -> ReasonedVerdict:
        """`compare` for callers inside an event loop; it blocks no thread."""
        return await asyncio.wrap_future(self._ask(answer, ground_truth, question, stage))

    def _ask(self, answer: str, truth: str, question: str | None, stage: str) -> Future[ReasonedVerdict]:
        message = {"answer": answer, "truth": truth, "question": question, "stage": stage, "seconds": self.deadline}
        kind = (stage, (len(answer) + len(truth)).bit_length())
        comparison = QueuedPair(
            json.dumps(message).encode(), answer[:80], stage, kind, 0.0, current_request(), Future()
        )
        with self._changed:
            comparison.seconds = self._usual.get(kind) or first_guess(*kind)
            self._queue.add(comparison, comparison.request, comparison.seconds)
            # A thread that was just woken still counts as idle, and its comparison still counts as queued. So compare
            # the two numbers: more queued comparisons than idle threads need another thread
            if len(self._queue) > self._idle_threads and self._threads < self.workers:
                self._start_thread(comparison)
            self._changed.notify()
        return comparison.verdict

    def _start_thread(self, comparison: QueuedPair) -> None:
        try:
            threading.Thread(target=self._run, name="astuner-sandbox", daemon=True).start()
        except RuntimeError as exc:
            if not self._threads:
                comparison.verdict.cancel()
                raise JudgeError(f"no thread could be started: {exc}", cause=Cause.WORKER) from exc
        else:
            self._threads += 1

    def _run(self) -> None:
        """Have workers compute the queued comparisons; end when no comparison arrives for `_IDLE_SECONDS`."""
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
            # boundary: no error of any kind may leave a caller waiting for ever
            except BaseException as exc:  # noqa: BLE001
                fail(under_way.popleft() if under_way else first, exc)
            with changed:
                for comparison in under_way:
                    self._queue.charge(comparison.request, -comparison.seconds)
                    self._queue.add(comparison, comparison.request, comparison.seconds)

    def _next(self) -> QueuedPair | None:
        """The next comparison whose caller still waits. The caller of this method holds the lock."""
        while (found := self._queue.take()) is not None:
            if found.verdict.running() or found.verdict.set_running_or_notify_cancel():
                return found
            self._queue.charge(found.request, -found.seconds)
        return None

    def _serve(self, under_way: deque[QueuedPair]) -> None:
        """Have one worker compute `under_way` and queued pairs; the pairs left in `under_way` have no verdict."""
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
            # When another thread closed the pool, the worker's end proves nothing about the answer
            begun = self._discard(worker) and exc.begun
            under_way[0].died += begun
            under_way[0].not_begun += not begun
            if under_way[0].died >= _TRIES or under_way[0].not_begun >= _MOST_STARTS:
                raise given_up(under_way[0]) from exc
        except BaseException:
            # The worker's replies no longer match the questions, so it cannot be used again
            self._discard(worker)
            raise
        else:
            with self._changed:
                # A closed pool has forgotten the worker: it must not come back as idle
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
        """Hand the worker's reply to the caller of `comparison`; `reply` is None when its CPU time was used up."""
        with self._changed:
            self._queue.charge(comparison.request, seconds - comparison.seconds)
            usual = self._usual.get(comparison.kind, seconds)
            self._usual[comparison.kind] = max(1e-6, usual + 0.1 * (seconds - usual))
        if reply is None:
            late = f"undecided: the {comparison.stage} stage took more than {self.deadline} s of CPU time"
            comparison.verdict.set_result(("undecided", late))
            return
        try:
            comparison.verdict.set_result(verdict_of(reply))
        except JudgeError as exc:
            comparison.verdict.set_exception(exc)

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
        """End a worker.

        Args:
            worker: the worker to end.
            replace: start another worker now, so that the next comparison does not wait for its start.

        Returns:
            Whether the worker still belonged to the pool.
        """
        with self._changed:
            owned = worker in self._all
            self._all.discard(worker)
        worker.end()
        if replace:
            # Without this worker the next comparison starts its own, so an error here may pass
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
    """The process's pool with these settings; all judges with the same settings share it."""
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
    # Set the flag first: otherwise a thread would replace the worker that it loses
    _ended = True
    close_all()


def _reset_all() -> None:
    global _shared_lock
    _shared_lock = threading.Lock()
    for sandbox in list(_LIVE):
        sandbox._reset()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_reset_all)
