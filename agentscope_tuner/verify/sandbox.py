"""The sandbox: killable worker processes for formulas, with one queue before them. A comparison may never end.

A pool starts on first use, and may be used from any thread and any event loop. A loaded machine must give the same
verdicts as an idle machine, so the deadline counts the worker's CPU time. The time that a comparison waits in the queue
does not count.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import subprocess
import sys
import time
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from agentscope_tuner._run.child import ChildProgram
from agentscope_tuner._run.pool import (
    POLICY,
    CpuTimeUp,
    PoolQuestion,
    QuestionPool,
    WallTimeUp,
    Worker,
    WorkerClosed,
    WorkerLost,
    close_all,
)
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.verify.math.verdict import CHEAP_STAGES, READING, Copied, MathVerdict, ReadPair, Verdict

__all__ = ["DEADLINE", "Sandbox", "close_all", "shared"]

ReasonedVerdict = tuple[Verdict, str]

#: CPU seconds that one comparison may take.
DEADLINE = 0.5
MEMORY_BYTES = 512 * 1024**2
# A worker that gets no CPU, as in a stopped container, must not block a trainer for ever: so wall time is bounded, too
_WALL_FACTOR = 40.0
# A worker must never wait for this process, so comparisons are sent to it ahead of time. But a comparison that arrives
# later waits for all of them, so their expected seconds and their number are bounded
_AHEAD_SECONDS, _MOST_AHEAD = 0.01, 16
# A group's rollouts often give the same answer, and each comparison that stays undecided takes the whole deadline.
# So many pairs are remembered, for so many seconds only: an idle machine may decide what a busy one did not
_UNDECIDED_SECONDS, _MOST_UNDECIDED = 600.0, 4096
_PACKAGE_PARENT = str(Path(__file__).parents[2])


@dataclass(eq=False, slots=True)
class QueuedPair(PoolQuestion):
    """A question to a worker: whether an answer equals the reference.

    Attributes:
        shown: the start of the answer, for error messages.
        kind: the stage (`reading`, `symbolic` or `sympy`) and the rough size of the texts. Comparisons of one kind are
            expected to take equally long.
    """

    shown: str = ""
    kind: tuple[str, int] = ("", 0)


class SandboxProcess(Worker[QueuedPair]):
    """One process of `sandbox_worker`.

    Attributes:
        cpu: the CPU time that the process had used at its last message. It begins the next comparison before this
            process has read the last reply, so only its own clock shows when a comparison began.
        loading: whether it imports sympy, which takes longer than a comparison's deadline.
    """

    cpu = 0.0
    loading = False


class Sandbox(QuestionPool[SandboxProcess, QueuedPair]):
    """A pool of worker processes that compare pairs of answers, and are killed at their deadline.

    Args:
        workers: the most worker processes at once, 1 or more.
        deadline: CPU seconds that one comparison may take.

    Attributes:
        least_wall_seconds: the seconds by the clock that every comparison may take, however short its deadline is.
    """

    loads = "the symbolic stage"
    least_wall_seconds = 20.0

    def __init__(self, workers: int = 1, deadline: float = DEADLINE) -> None:
        super().__init__(workers)
        self.deadline = deadline
        self._usual: dict[tuple[str, int], float] = {}
        # By the digest of a question: until when it is remembered, and its reason. Only the pools' loop changes it
        self._undecided: dict[bytes, tuple[float, str]] = {}

    def compare(
        self, answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic"
    ) -> ReasonedVerdict:
        """Compare two answers, without their boxes, in a worker; wait for its verdict.

        Args:
            answer: the model's answer.
            ground_truth: the reference answer.
            question: the question that both answer, if it is known.
            stage: `symbolic` or `sympy`.

        Returns:
            The verdict, and its reason; the reason is empty if the pair explains itself.

        Raises:
            JudgeError: no worker could be started, or too many workers died on this pair.
        """
        verdict: Future[ReasonedVerdict] = self._begun(answer, ground_truth, question, stage)
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
        return await asyncio.wrap_future(self._begun(answer, ground_truth, question, stage))

    async def aread(self, answer: str, ground_truth: str, *, question: str | None, copied: Copied) -> ReadPair:
        """Run the cheap stages of a comparison in a worker, because its texts are so long.

        They would block the caller's event loop.

        Args:
            answer: the model's answer.
            ground_truth: the reference answer.
            question: the question that both answer, if it is known.
            copied: whether a formula of the question may be an answer.

        Raises:
            JudgeError: as `compare`; or the reference cannot be read.
        """
        return await asyncio.wrap_future(self._begun(answer, ground_truth, question, READING, copied=copied))

    def _begun(self, answer: str, truth: str, question: str | None, stage: str, **more: str) -> Future[Any]:
        """Send a pair to a worker, and return the future of its result.

        A pair that was undecided lately is not sent: it is undecided at once.
        """
        message = {"answer": answer, "truth": truth, "question": question, "stage": stage, "seconds": self.deadline}
        asked = json.dumps({**message, **more}).encode()
        until, reason = self._undecided.get(_digest(asked), (0.0, "")) if self._undecided else (0.0, "")
        if until > time.monotonic():
            known: Future[Any] = Future()
            known.set_result(_result_of({"outcome": "undecided", "reason": reason}, stage))
            return known
        kind = (stage, (len(answer) + len(truth)).bit_length())
        seconds = self._usual.get(kind) or _first_guess(*kind)
        return self.ask(QueuedPair(asked, seconds=seconds, shown=answer[:80], kind=kind))

    def pids(self) -> list[int]:
        """The process ids of the workers that run now."""
        return [worker.child.pid for worker in self.workers]

    # See Pool

    def start(self) -> SandboxProcess:
        """Start a worker process; see Pool."""
        return SandboxProcess(
            ChildProgram(
                "agentscope_tuner.verify.sandbox_worker",
                [MEMORY_BYTES],
                path=[_PACKAGE_PARENT, *(entry for entry in sys.path if entry)],
                isolated=True,
            ),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def started(self, worker: SandboxProcess, message: bytes) -> None:
        """Read the first message of a worker; see Pool."""
        reply = json.loads(message)
        if "error" in reply:
            raise JudgeError(f"the symbolic worker could not start: {reply['error']}", cause=Cause.WORKER)
        worker.cpu = reply["cpu"]

    def has_room(self, worker: SandboxProcess) -> bool:
        """Whether a worker may be sent one more comparison; a few short ones are sent ahead."""
        return len(worker.jobs) < 2 or (
            len(worker.jobs) < _MOST_AHEAD and sum(ahead.seconds for ahead in worker.jobs) < _AHEAD_SECONDS
        )

    def cpu_seconds(self) -> float:
        """CPU seconds that a worker may use for one comparison."""
        return self.deadline

    def left(self, worker: SandboxProcess) -> float:
        """Seconds until a worker is looked at again; see Pool.

        Raises:
            WorkerLost: its comparison has used up its CPU time or its wall time, or the worker has ended.
        """
        if not worker.jobs:
            return math.inf
        allowed = self.cpu_seconds()
        wall = POLICY.start_seconds if worker.loading else max(self.least_wall_seconds, allowed * _WALL_FACTOR)
        if (left := worker.since + wall - time.monotonic()) <= 0:
            # It was given no CPU, which says nothing about the comparison
            raise WallTimeUp(begun=False)
        if worker.loading:
            return left
        try:
            cpu_left = worker.cpu + allowed - worker.child.cpu_seconds()
        except OSError as exc:
            raise WorkerLost(begun=True) from exc
        if cpu_left <= 0:
            raise CpuTimeUp(begun=True)
        # CPU time passes no faster than wall time, so the limit cannot be reached earlier
        return min(left, cpu_left + 0.001)

    def answered(self, worker: SandboxProcess, message: bytes) -> None:
        """Take a worker's message: its reply, or that it begins or ends to load sympy."""
        reply = json.loads(message)
        before, worker.cpu = worker.cpu, reply["cpu"]
        worker.loading = "loading" in reply
        if not ("loading" in reply or "loaded" in reply):
            self._settle(worker.jobs.popleft(), reply, worker.cpu - before)

    def lost(self, worker: SandboxProcess, loss: WorkerLost) -> None:
        """Take back the comparisons of a worker that has ended; one whose CPU time is up is undecided."""
        if isinstance(loss, CpuTimeUp):
            late = worker.jobs.popleft()
            reason = f"undecided: the {late.kind[0]} stage took more than {self.deadline} s of CPU time"
            self._settle(late, {"outcome": "undecided", "reason": reason}, self.deadline)
            # The next comparison should not wait for a worker's start
            self.start_worker()
            loss = WorkerClosed()
        super().lost(worker, loss)

    def given_up(self, question: QueuedPair, loss: WorkerLost) -> JudgeError:
        """The error for a comparison that gets no verdict."""
        toll = question.toll
        return JudgeError(
            f"{toll.deaths + toll.losses} symbolic workers died or starved one after another, "
            f"{toll.deaths} of them on the answer {question.shown!r}",
            cause=Cause.WORKER,
        )

    def _settle(self, comparison: QueuedPair, reply: dict[str, Any], seconds: float) -> None:
        """Hand a worker's reply to the caller, and learn how long such a comparison takes."""
        self.charge(comparison, seconds - comparison.seconds)
        usual = self._usual.get(comparison.kind, seconds)
        self._usual[comparison.kind] = max(1e-6, usual + 0.1 * (seconds - usual))
        if reply.get("outcome") == "undecided":
            self._remember(comparison, str(reply.get("reason", "")))
        try:
            comparison.answer.set_result(_result_of(reply, comparison.kind[0]))
        # no worker has the pair any more, so nobody else would give its caller a result
        except Exception as exc:  # noqa: BLE001
            comparison.answer.set_exception(exc)

    def _remember(self, comparison: QueuedPair, reason: str) -> None:
        """Note that a pair is undecided, for `_UNDECIDED_SECONDS`; the oldest note makes room for it."""
        assert comparison.message is not None
        if len(self._undecided) >= _MOST_UNDECIDED:
            del self._undecided[next(iter(self._undecided))]
        self._undecided[_digest(comparison.message)] = (time.monotonic() + _UNDECIDED_SECONDS, reason)


def _digest(question: bytes) -> bytes:
    """A short key for a question."""
    return hashlib.blake2b(question, digest_size=16).digest()


def _first_guess(stage: str, size: int) -> float:
    """Expected seconds of the first comparison of a kind: longer texts take longer, and sympy ten times as long."""
    return 2.0**size * (1e-3 if stage == "sympy" else 1e-4)


def _result_of(reply: dict[str, Any], stage: str) -> ReasonedVerdict | ReadPair:
    """The verdict and its reason from a worker's reply; for the stage `reading`, the `ReadPair`.

    Raises:
        JudgeError: the reply holds an error, or no known verdict.
    """
    if "judge_error" in reply:
        raise JudgeError(str(reply["judge_error"]), cause=Cause(reply.get("cause", Cause.BUG)))
    if stage == READING and "for_sympy" in reply:
        return None, bool(reply["for_sympy"])
    if (outcome := reply.get("outcome")) not in ("equal", "different", "undecided"):
        raise JudgeError(f"the symbolic worker answered {reply!r}", cause=Cause.BUG)
    known, reason = cast("Verdict", outcome), str(reply.get("reason", ""))
    if stage == READING:
        return MathVerdict(known, reply.get("stage", CHEAP_STAGES[-1]), reason), False
    return known, reason


_shared: dict[tuple[int, float], Sandbox] = {}


def shared(workers: int = 1, deadline: float = DEADLINE) -> Sandbox:
    """This process's pool with these settings: all judges with the same settings share one."""
    # One step of the dictionary, so that two threads get one pool without a lock, which a fork could copy while held
    return _shared.get((workers, deadline)) or _shared.setdefault((workers, deadline), Sandbox(workers, deadline))
