"""Killable worker processes for the symbolic stage: what may run away runs here.

Plain subprocesses, since a trainer's daemonic workers may have no multiprocessing children, user scripts lack a main
guard, and forking a process that uses CUDA is unsafe. A pool starts on first use, belongs to the process that started
it (a forked child starts its own), and may be used from any thread. Its deadline counts the worker's CPU time, so that
a loaded machine gives the same verdicts as an idle one.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any, cast

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.verify.math.answer import Verdict

MEMORY_BYTES = 512 * 1024**2
DEADLINE = 0.5
_START_SECONDS = 120.0
# a worker that gets no CPU at all (a stopped container) must not hold a trainer for ever
_WALL_FACTOR, _WALL_FLOOR = 40.0, 20.0
_TRIES = 3
# workers that die while they start or wait say nothing about an answer, but an end there must be
_MOST_STARTS = 20
_SCRIPT = Path(__file__).with_name("sandbox_worker.py")


class _Late(Exception):
    """The worker used its CPU time up."""


class _Died(Exception):
    """The worker ended, or was given no CPU, although its time was not up."""


class _NotBegunError(_Died):
    """The worker ended before it had the question: that says nothing about the question."""


class _Worker:
    """One subprocess; its owner uses it from one thread at a time."""

    def __init__(self) -> None:
        paths = [str(Path(__file__).parents[2]), *(p for p in sys.path if p)]
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SCRIPT), json.dumps({"path": paths, "memory": MEMORY_BYTES})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        self.ready = False
        self.pending = b""

    def cpu_seconds(self) -> float:
        """CPU time the worker has used, by its own clock."""
        # Linux makes a process's CPU clock from its pid: clock_getcpuclockid(3); Python offers no wrapper
        return time.clock_gettime(((~self.process.pid) << 3) | 2)

    def ask(self, request: dict[str, Any], deadline: float) -> dict[str, Any]:
        """One question, one answer.

        Raises:
            _Late: the deadline, in CPU seconds, passed.
            _NotBegunError: the worker was gone before it had the question.
            _Died: it is gone now.
        """
        if not self.ready:
            try:
                started = json.loads(self._line(time.monotonic() + _START_SECONDS, None))
            except _Died as exc:
                raise _NotBegunError from exc
            if "error" in started:
                raise JudgeError(f"the symbolic worker could not start: {started['error']}", cause=Cause.WORKER)
            self.ready = True
        assert self.process.stdin is not None
        try:
            before = self.cpu_seconds()
            line = json.dumps({**request, "seconds": deadline}).encode() + b"\n"
            while line:
                line = line[self.process.stdin.write(line) or 0 :]
        except (OSError, ValueError) as exc:
            # a ValueError: another thread closed the pool, and this pipe with it
            raise _NotBegunError from exc
        wall = time.monotonic() + max(_WALL_FLOOR, deadline * _WALL_FACTOR)
        return cast("dict[str, Any]", json.loads(self._line(wall, before + deadline)))

    def _line(self, wall_end: float, cpu_end: float | None) -> bytes:
        assert self.process.stdout is not None
        poll = select.poll()
        try:
            poll.register(self.process.stdout, select.POLLIN | select.POLLHUP)
        except ValueError as exc:
            raise _Died from exc
        while b"\n" not in self.pending:
            left = wall_end - time.monotonic()
            if cpu_end is not None:
                try:
                    cpu_left = cpu_end - self.cpu_seconds()
                except OSError as exc:
                    raise _Died from exc
                if cpu_left <= 0:
                    raise _Late
                # CPU time never runs faster than the wall's: nothing to look at before
                left = min(left, cpu_left + 0.001)
            if wall_end <= time.monotonic():
                # it got no CPU: that says nothing about the answer
                raise _Died
            if poll.poll(max(1, left * 1000)):
                try:
                    chunk = os.read(self.process.stdout.fileno(), 65536)
                except (OSError, ValueError) as exc:
                    # another thread closed the pool
                    raise _Died from exc
                if not chunk:
                    raise _Died
                self.pending += chunk
        line, _, self.pending = self.pending.partition(b"\n")
        return line

    def close(self) -> None:
        """Kill it and collect what is left."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def forget(self) -> None:
        """In a forked child: let go of a worker that is the parent's."""
        self.process.returncode = 0
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


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
        self._free = threading.Semaphore(self.workers)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()

    def compare(self, answer: str, ground_truth: str) -> tuple[Verdict, str]:
        """The symbolic stage on two bare answers; waits for a free worker.

        Returns:
            The verdict, and its reason where there is more to say than the pair.

        Raises:
            JudgeError: no worker could be started, or workers died under this pair.
        """
        with self._free:
            died = not_begun = 0
            while died < _TRIES and not_begun < _MOST_STARTS:
                worker = self._take()
                try:
                    reply = worker.ask({"answer": answer, "truth": ground_truth}, self.deadline)
                except _Late:
                    self._discard(worker, replace=True)
                    return "undecided", f"undecided: the symbolic stage took more than {self.deadline} s of CPU time"
                except _NotBegunError:
                    self._discard(worker)
                    not_begun += 1
                    continue
                except _Died:
                    # a pool closed by another thread took the worker: that says nothing about the answer
                    if self._discard(worker):
                        died += 1
                    else:
                        not_begun += 1
                    continue
                except BaseException:
                    # interrupted in the middle: what the worker says next would answer the wrong question
                    self._discard(worker)
                    raise
                with self._lock:
                    # unless the pool was closed meanwhile
                    if worker in self._all:
                        self._idle.append(worker)
                return _verdict(reply)
        raise JudgeError(
            f"{died + not_begun} symbolic workers died or starved one after another, {died} of them on the answer "
            f"{answer[:80]!r}",
            cause=Cause.WORKER,
        )

    def _take(self) -> _Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        try:
            worker = _Worker()
        except OSError as exc:
            raise JudgeError(
                f"the symbolic worker could not be started with {sys.executable!r}: {exc}", cause=Cause.WORKER
            ) from exc
        with self._lock:
            self._all.add(worker)
        return worker

    def _discard(self, worker: _Worker, *, replace: bool = False) -> bool:
        """End a worker; whether it still was the pool's."""
        with self._lock:
            owned = worker in self._all
            self._all.discard(worker)
        worker.close()
        if replace:
            # the next answer finds a worker that has started meanwhile
            fresh = self._take()
            with self._lock:
                self._idle.append(fresh)
        return owned

    def pids(self) -> list[int]:
        """The process ids of the workers that run now."""
        with self._lock:
            return [worker.process.pid for worker in self._all]

    def close(self) -> None:
        """End every worker. The pool may be used again."""
        with self._lock:
            workers, self._all, self._idle = self._all, set(), []
        for worker in workers:
            worker.close()

    def _forget(self) -> None:
        workers = self._all
        self._reset()
        for worker in workers:
            worker.forget()


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


def _forget_all() -> None:
    global _shared_lock
    _shared_lock = threading.Lock()
    for sandbox in list(_LIVE):
        sandbox._forget()


atexit.register(close_all)
os.register_at_fork(after_in_child=_forget_all)
