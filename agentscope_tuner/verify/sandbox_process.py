"""The parent's end of one symbolic worker. Several comparisons may be sent ahead; the replies come in their order."""

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
# A worker that gets no CPU, as in a stopped container, must not block a trainer for ever: so wall time is bounded, too
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
        # For each expected reply: True for a comparison's reply, False for a message that the worker is ready
        self._awaited: deque[bool] = deque()
        self._started = self._has_sympy = False
        # The worker's CPU clock at its last reply
        self._cpu = 0.0

    def put(self, question: bytes, *, needs_sympy: bool) -> None:
        """Send a comparison, after the comparisons that still wait for their replies.

        Raises:
            ChildLost: the worker is gone.
        """
        if not self._started:
            self._put(None, is_comparison=False)
            self._started = True
        if needs_sympy and not self._has_sympy:
            # Importing sympy takes longer than a comparison's deadline, so import it first
            self._put(json.dumps({"prepare": "sympy"}).encode(), is_comparison=False)
            self._has_sympy = True
        self._put(question, is_comparison=True)

    def _put(self, question: bytes | None, *, is_comparison: bool) -> None:
        self._dialogue.put(question)
        self._awaited.append(is_comparison)

    def answer(self, deadline: float) -> tuple[dict[str, Any], float]:
        """The reply to the oldest comparison, and the CPU seconds that the comparison took.

        Args:
            deadline: the most CPU seconds for this comparison.

        Raises:
            CpuTimeUp: the comparison took longer than the deadline.
            ChildLost: the worker is gone, or got no CPU.
            JudgeError: the worker could not start.
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
        # The worker begins the next comparison before this process has read the last reply, so only the worker's own
        # clock can tell when a comparison began
        until = None if cpu_seconds is None else self._cpu + cpu_seconds
        reply = json.loads(self._dialogue.answer(wall_seconds=wall_seconds, cpu_until=until))
        self._awaited.popleft()
        before, self._cpu = self._cpu, reply["cpu"]
        return cast("dict[str, Any]", reply), self._cpu - before

    def end(self) -> None:
        """Kill the worker."""
        self.child.end()
        self.child.close()
