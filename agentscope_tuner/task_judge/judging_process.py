"""Child processes that judge: when a verdict takes too long, its process is killed."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import threading
import time
import weakref
from typing import Any

from agentscope_tuner._child.ask import ChildLost, WallTimeUp, ask
from agentscope_tuner._child.process import ChildProcess, ChildProgram
from agentscope_tuner.config import Settings
from agentscope_tuner.errors import Cause, DeadlineError, JudgeError
from agentscope_tuner.workflow import WorkflowTask

_log = logging.getLogger(__name__)

# The host's other cores belong to the trainer's other processes, each of which has such a pool
_MOST_PROCESSES = 4
# Loading a judge is not the verdict's time, but must end too
_START_SECONDS = 120.0
# Ask twice: the process may have died of an earlier row, by damage that compiled code left behind
_TRIES = 2
# A process that died before it had the question says nothing about the rollout
_MOST_STARTS = 20


class JudgingProcesses:
    """Up to `most` processes, each with the judge that `recipe` describes, started when there is work for them.

    Args:
        judge: its name, for messages.
        seconds: the time limit for one question, including the wait for a free process.
        recipe: the judge's configuration.
    """

    def __init__(self, judge: str, seconds: float, recipe: Settings) -> None:
        self.most = min(_MOST_PROCESSES, os.cpu_count() or 1)
        self._judge = judge
        self._seconds = seconds
        self._recipe = recipe
        self._forget()

    def __reduce__(self) -> tuple[Any, ...]:
        return JudgingProcesses, (self._judge, self._seconds, self._recipe)

    def _forget(self) -> None:
        # A forked child has none of its parent's processes, and a thread of the parent may have held the lock
        self._pid = os.getpid()
        self._free = threading.Semaphore(self.most)
        self._idle: list[ChildProcess] = []
        self._all: set[ChildProcess] = set()
        weakref.finalize(self, _end_all, self._all)

    def question(self, task: WorkflowTask, about: object) -> bytes | None:
        """`task` and an output, or the list of a group's, for a process; None where they cannot leave this one."""
        try:
            return pickle.dumps((task, about), pickle.HIGHEST_PROTOCOL)
        # boundary: a trainer may attach any object to tasks and outputs, and pickling that object may raise anything
        except Exception:  # noqa: BLE001
            return None

    def ask(self, question: bytes) -> Any:
        """The judge's own answer, a list of them for a group.

        Raises:
            DeadlineError: the answer took too long; its process is killed.
            JudgeError: the judge raised it, or its process died twice.
        """
        if self._pid != os.getpid():
            self._forget()
        ends = time.monotonic() + self._seconds
        if not self._free.acquire(timeout=self._seconds):
            raise self._late()
        try:
            return self._ask_until(question, ends)
        finally:
            self._free.release()

    def _ask_until(self, question: bytes, ends: float) -> Any:
        died = not_begun = 0
        while died < _TRIES and not_begun < _MOST_STARTS:
            try:
                return self._ask_one(question, ends)
            except WallTimeUp:
                raise self._late() from None
            except ChildLost as exc:
                died += exc.begun
                not_begun += not exc.begun
        told = "its worker died twice while it was judged" if died == _TRIES else "processes to judge in die at once"
        raise JudgeError(told, cause=Cause.WORKER)

    def _ask_one(self, question: bytes, ends: float) -> Any:
        child: ChildProcess | None = None
        try:
            with contextlib.suppress(IndexError):
                child = self._idle.pop()
            if child is None:
                started = time.monotonic()
                child = self._started()
                ends += time.monotonic() - started
            kind, answer = pickle.loads(ask(child, question, wall_seconds=max(0.0, ends - time.monotonic())))
        except BaseException:
            # End the process: its next message would be the answer to this question
            if child is not None:
                self._end(child)
            raise
        self._idle.append(child)
        if kind == "answered":
            return answer
        error, frames = answer
        if frames:
            _log.info("the judge raised in its process\n%s", frames)
        raise error

    def _started(self) -> ChildProcess:
        try:
            child = ChildProcess(ChildProgram("agentscope_tuner.task_judge.judging_worker"))
        except OSError as exc:
            raise JudgeError(f"no process could be started to judge in: {exc}", cause=Cause.WORKER) from exc
        self._all.add(child)
        try:
            recipe = pickle.dumps(self._recipe, pickle.HIGHEST_PROTOCOL)
            problem = pickle.loads(ask(child, recipe, wall_seconds=_START_SECONDS))
        # Also on Ctrl-C: a process without an owner would never end
        except BaseException as exc:
            self._end(child)
            if isinstance(exc, ChildLost):
                raise JudgeError(f"a process to judge in did not start: {exc!r}", cause=Cause.WORKER) from exc
            raise
        if problem is not None:
            self._end(child)
            raise JudgeError(f"a process could not load the judge: {problem}", cause=Cause.WORKER)
        return child

    def _end(self, child: ChildProcess) -> None:
        self._all.discard(child)
        _end_all({child})

    def _late(self) -> DeadlineError:
        return DeadlineError(f"no verdict within {self._seconds:g} s, the deadline for a verdict")


def _end_all(children: set[ChildProcess]) -> None:
    for child in list(children):
        child.end()
        child.close()
