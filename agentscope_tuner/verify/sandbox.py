"""Killable worker processes for the symbolic stage: what may run away runs here.

A pool starts on first use, belongs to the process that started it (a forked child starts its own), and may be used from
any thread. Its deadline counts the worker's CPU time, so that a loaded machine gives the same verdicts as an idle one.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any, cast

from agentscope_tuner._child.ask import ChildLost, CpuTimeUp, ask
from agentscope_tuner._child.process import ChildProcess, ChildProgram
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.verify.math.answer import Verdict

MEMORY_BYTES = 512 * 1024**2
DEADLINE = 0.5
_START_SECONDS = 120.0
# A worker that gets no CPU, as in a stopped container, must not hold up a trainer for ever: bound the wall time, too
_WALL_FACTOR, _WALL_FLOOR = 40.0, 20.0
_TRIES = 3
# A worker that dies before it has the question says nothing about the answer: try again, but not without end
_MOST_STARTS = 20
_PACKAGE_PARENT = str(Path(__file__).parents[2])


class _SymbolicWorker:
    """One process of `sandbox_worker`; its owner uses it from one thread at a time."""

    def __init__(self) -> None:
        self.child = ChildProcess(
            ChildProgram(
                "agentscope_tuner.verify.sandbox_worker",
                [MEMORY_BYTES],
                path=[_PACKAGE_PARENT, *(entry for entry in sys.path if entry)],
                isolated=True,
            ),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._ready = False
        self._has_sympy = False

    def ask(self, question: dict[str, Any], deadline: float) -> dict[str, Any]:
        """One question, one answer.

        Raises:
            CpuTimeUp: the deadline, in CPU seconds, passed.
            ChildLost: the worker is gone, or was given no CPU.
            JudgeError: it could not start.
        """
        if not self._ready:
            self._wait(None)
            self._ready = True
        if question["stage"] == "sympy" and not self._has_sympy:
            # importing it takes longer than an answer may
            self._wait(json.dumps({"prepare": "sympy"}).encode())
            self._has_sympy = True
        request = json.dumps({**question, "seconds": deadline}).encode()
        wall = max(_WALL_FLOOR, deadline * _WALL_FACTOR)
        reply = ask(self.child, request, wall_seconds=wall, cpu_seconds=deadline)
        return cast("dict[str, Any]", json.loads(reply.decode()))

    def _wait(self, request: bytes | None) -> None:
        try:
            started = json.loads(ask(self.child, request, wall_seconds=_START_SECONDS))
        except ChildLost as exc:
            raise ChildLost(begun=False) from exc
        if "error" in started:
            raise JudgeError(f"the symbolic worker could not start: {started['error']}", cause=Cause.WORKER)

    def end(self) -> None:
        """Kill it."""
        self.child.end()
        self.child.close()


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
        self._free = threading.Semaphore(self.workers)
        self._lock = threading.Lock()
        self._idle: list[_SymbolicWorker] = []
        self._all: set[_SymbolicWorker] = set()

    def compare(
        self, answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic"
    ) -> tuple[Verdict, str]:
        """A stage of the worker's on two bare answers; waits for a free worker.

        Returns:
            The verdict, and its reason where there is more to say than the pair.

        Raises:
            JudgeError: no worker could be started, or workers died under this pair.
        """
        request = {"answer": answer, "truth": ground_truth, "question": question, "stage": stage}
        died = not_begun = 0
        with self._free:
            while died < _TRIES and not_begun < _MOST_STARTS:
                try:
                    return _verdict(self._ask_one(request))
                except CpuTimeUp:
                    return "undecided", f"undecided: the {stage} stage took more than {self.deadline} s of CPU time"
                except ChildLost as exc:
                    died += exc.begun
                    not_begun += not exc.begun
        raise JudgeError(
            f"{died + not_begun} symbolic workers died or starved one after another, {died} of them on the answer "
            f"{answer[:80]!r}",
            cause=Cause.WORKER,
        )

    def _ask_one(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply of one worker; a worker that gives none is ended."""
        worker = self._take()
        try:
            reply = worker.ask(request, self.deadline)
        except CpuTimeUp:
            self._discard(worker, replace=True)
            raise
        except ChildLost as exc:
            # a worker that another thread took by closing the pool says nothing about the answer
            raise ChildLost(begun=self._discard(worker) and exc.begun) from exc
        except BaseException:
            # interrupted in the middle: the worker's next reply would answer the wrong question
            self._discard(worker)
            raise
        with self._lock:
            # unless the pool was closed meanwhile
            if worker in self._all:
                self._idle.append(worker)
        return reply

    def _take(self) -> _SymbolicWorker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        try:
            worker = _SymbolicWorker()
        except OSError as exc:
            raise JudgeError(
                f"the symbolic worker could not be started with {sys.executable!r}: {exc}", cause=Cause.WORKER
            ) from exc
        with self._lock:
            self._all.add(worker)
        return worker

    def _discard(self, worker: _SymbolicWorker, *, replace: bool = False) -> bool:
        """End a worker; whether it still was the pool's."""
        with self._lock:
            owned = worker in self._all
            self._all.discard(worker)
        worker.end()
        if replace:
            # the next answer finds a worker that has started meanwhile
            fresh = self._take()
            with self._lock:
                self._idle.append(fresh)
        return owned

    def pids(self) -> list[int]:
        """The process ids of the workers that run now."""
        with self._lock:
            return [worker.child.pid for worker in self._all]

    def close(self) -> None:
        """End every worker. The pool may be used again."""
        with self._lock:
            workers, self._all, self._idle = self._all, set(), []
        for worker in workers:
            worker.end()


def _verdict(reply: dict[str, Any]) -> tuple[Verdict, str]:
    if "judge_error" in reply:
        raise JudgeError(str(reply["judge_error"]), cause=Cause(reply.get("cause", Cause.BUG)))
    outcome = reply.get("outcome")
    if outcome not in ("equal", "different", "undecided"):
        raise JudgeError(f"the symbolic worker answered {reply!r}", cause=Cause.BUG)
    return cast("Verdict", outcome), str(reply.get("reason", ""))


_LIVE: weakref.WeakSet[Sandbox] = weakref.WeakSet()
_shared: dict[tuple[int, float], Sandbox] = {}
_shared_lock = threading.Lock()


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


def _reset_all() -> None:
    global _shared_lock
    _shared_lock = threading.Lock()
    for sandbox in list(_LIVE):
        sandbox._reset()


atexit.register(close_all)
os.register_at_fork(after_in_child=_reset_all)
