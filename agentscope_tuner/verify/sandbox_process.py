"""The parent's end of one symbolic worker: comparisons go to it ahead of time, and are answered in order."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any, cast

from agentscope_tuner._child.ask import ChildLost, Dialogue
from agentscope_tuner._child.process import ChildProcess, ChildProgram
from agentscope_tuner.errors import Cause, JudgeError

MEMORY_BYTES = 512 * 1024**2
_START_SECONDS = 120.0
# A worker that gets no CPU, as in a stopped container, must not hold up a trainer for ever: bound the wall time, too
_WALL_FACTOR, _WALL_FLOOR = 40.0, 20.0
_PACKAGE_PARENT = str(Path(__file__).parents[2])


class SandboxProcess:
    """One process of `sandbox_worker`; its owner uses it from one thread at a time.

    Raises:
        OSError: no process could be started.
    """

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
        self._dialogue = Dialogue(self.child)
        # for each answer to come: whether it is one to a comparison, or says that the worker is ready
        self._awaited: deque[bool] = deque()
        self._started = self._has_sympy = False
        # the worker's CPU clock when it had answered the last time
        self._cpu = 0.0

    def put(self, question: bytes, *, needs_sympy: bool) -> None:
        """Send a comparison, behind those that wait for their answers.

        Raises:
            ChildLost: the worker is gone.
        """
        if not self._started:
            self._put(None, is_comparison=False)
            self._started = True
        if needs_sympy and not self._has_sympy:
            # importing it takes longer than an answer may
            self._put(json.dumps({"prepare": "sympy"}).encode(), is_comparison=False)
            self._has_sympy = True
        self._put(question, is_comparison=True)

    def _put(self, question: bytes | None, *, is_comparison: bool) -> None:
        self._dialogue.put(question)
        self._awaited.append(is_comparison)

    def answer(self, deadline: float) -> tuple[dict[str, Any], float]:
        """The answer to the oldest comparison, and the CPU seconds that it took.

        Raises:
            CpuTimeUp: the deadline, in CPU seconds of this one comparison, passed.
            ChildLost: the worker is gone, or was given no CPU.
            JudgeError: it could not start.
        """
        while not self._awaited[0]:
            try:
                started, _ = self._next(_START_SECONDS, None)
            except ChildLost as exc:
                raise ChildLost(begun=False) from exc
            if "error" in started:
                raise JudgeError(f"the symbolic worker could not start: {started['error']}", cause=Cause.WORKER)
        return self._next(max(_WALL_FLOOR, deadline * _WALL_FACTOR), deadline)

    def _next(self, wall_seconds: float, cpu_seconds: float | None) -> tuple[dict[str, Any], float]:
        # By the worker's own clock: it begins the next comparison before this process has read the last one's answer
        until = None if cpu_seconds is None else self._cpu + cpu_seconds
        reply = json.loads(self._dialogue.answer(wall_seconds=wall_seconds, cpu_until=until))
        self._awaited.popleft()
        before, self._cpu = self._cpu, reply["cpu"]
        return cast("dict[str, Any]", reply), self._cpu - before

    def end(self) -> None:
        """Kill it."""
        self.child.end()
        self.child.close()
