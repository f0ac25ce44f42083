"""Pools of child processes (workers): one way to start, feed, limit, replace and end them, whatever they run.

A program subclasses `Pool` and says what its workers are given: the sandbox's comparisons, an engine's batches of rows,
rollouts. `QuestionPool` is for programs that answer questions one by one.

A worker that dies is replaced, in any case. A busy or paused machine must not cost a verdict, so there is one `Policy`
for every program: work during which a worker died is tried once more, by a different worker. If a worker is lost for a
reason outside of the work, it is tried more often.

All pools of a process live on one event loop, on a daemon thread. Nothing here holds a lock, so a fork copies none.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import errno
import logging
import math
import socket
import time
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from agentscope_tuner._run import forks, loops
from agentscope_tuner._run.channel import FrameTooLongError
from agentscope_tuner._run.child import ChildProcess, ChildProgram
from agentscope_tuner._run.fair_queue import FairQueue, Request, current_request
from agentscope_tuner.errors import Cause, JudgeError

T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Policy:
    """The limits at which a piece of work is given up, the same for every program.

    Attributes:
        deaths: how many workers may die of one piece of work, until it is given up. The first may have died of damage
            that an earlier piece left behind.
        losses: how many workers may be lost for a reason outside of the work, until it is given up: they end while they
            start, or get no CPU time.
        start_seconds: a worker that has not started after so many seconds counts as lost.
    """

    deaths: int = 2
    losses: int = 3
    start_seconds: float = 120.0


POLICY = Policy()


class WorkerLost(Exception):
    """A worker can give no more answers: it ended, its messages cannot be read, or it was killed.

    Attributes:
        begun: whether its oldest work had been sent in full, so that this work may be the reason.
        how: how it ended, in words, such as `was killed by SIGKILL`.
    """

    def __init__(self, *, begun: bool = False) -> None:
        super().__init__(begun)
        self.begun = begun
        self.how = ""


class WallTimeUp(WorkerLost):
    """The worker took more seconds for its oldest work than allowed, and was killed."""


class CpuTimeUp(WorkerLost):
    """The worker used more CPU time for its oldest work than allowed, and was killed."""


class WorkerClosed(WorkerLost):
    """The pool was closed, and the worker ended with it."""


@dataclass(slots=True)
class Toll:
    """Counts the workers that were lost while they had one piece of work, to know when it is given up; see `Policy`.

    Attributes:
        deaths: how many of them died of this work.
        losses: how many were lost for a reason outside of it.
    """

    deaths: int = 0
    losses: int = 0

    def add(self, *, guilty: bool) -> bool:
        """Count a lost worker; `guilty` is whether the work killed it. Returns whether the work is given up now."""
        if guilty:
            self.deaths += 1
        else:
            self.losses += 1
        return self.deaths >= POLICY.deaths or self.losses >= POLICY.losses

    def gives_up(self, loss: WorkerLost) -> bool:
        """Count the loss of a worker that had this work.

        Returns:
            Whether the work is given up now; else a different worker gets it.
        """
        if isinstance(loss, WorkerClosed):
            return False
        # A different worker would take as long
        return (isinstance(loss, WallTimeUp) and loss.begun) or self.add(guilty=loss.begun)


# A dead child is noticed at once by its closed channel, unless a process that it started holds the channel open
_LOOK_SECONDS = 1.0
# Seconds for a worker that has closed its channel to end, and for the kernel to end one that was killed
_END_SECONDS = 1.0
_END_LOOK_SECONDS = 0.005
# Seconds until a pool tries again to start workers that it could not start
_SCARCE_SECONDS = 10.0
# A worker that sends without being asked is not read beyond this many messages
_MOST_UNREAD = 64


class Worker(Generic[T]):
    """A child process of a pool, with its unanswered jobs. Its methods are called in the pool's event loop.

    Args:
        program: the program that it runs.
        options: as `ChildProcess` takes them.

    Attributes:
        jobs: the jobs that it was given and has not answered, the oldest first.
        ready: whether it has started.
        since: the earliest time at which it can have begun its oldest job, by `time.monotonic`.

    Raises:
        OSError: no process could be started.
    """

    def __init__(self, program: ChildProgram, **options: Any) -> None:
        self.child = ChildProcess(program, **options)
        self.jobs: deque[T] = deque()
        self.ready = False
        self.since = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._unread: deque[bytes] = deque()
        self._lost: WorkerLost | None = None
        self._news: asyncio.Future[None] | None = None
        self._reading = False
        self._read_on()

    def give(self, job: T, message: bytes) -> None:
        """Send the worker one more job, to be done after those that it has; `message` is the job as bytes."""
        if not self.jobs:
            self.since = time.monotonic()
        self.jobs.append(job)
        self.send(message)

    def send(self, message: bytes) -> None:
        """Send a message to the worker, without waiting. If the worker has ended, `Worker.message` raises it."""
        self.child.send(message)
        self._flush()
        # The limits of a worker that had nothing to do begin now
        self._wake()

    def is_trusted(self) -> bool:
        """Whether the worker may be given work. Before, check that it has not ended or sent a message without a job.

        Such a message would pass for the next answer, so this worker is lost, and replaced.
        """
        if not self.jobs:
            if self._reading:
                self._read()
            if self._unread or self.child.is_dead():
                self._lose(WorkerLost)
        return self._lost is None

    async def message(self, left: Callable[[], float]) -> bytes:
        """Wait for the worker's next message.

        Args:
            left: gives the seconds that the worker may still take; raises a WorkerLost if a limit is passed.

        Raises:
            WorkerLost: the worker ended, or passed a limit, before it sent one.
        """
        while not self._unread:
            if self._lost is not None:
                raise self._lost
            if (seconds := self._seconds(left)) is None:
                break
            self._news = self._loop.create_future()
            timer = self._loop.call_later(min(seconds, _LOOK_SECONDS), self._wake)
            try:
                await self._news
            finally:
                timer.cancel()
            if not self._unread and self._lost is None and self.child.is_dead():
                # An answer that the child sent before it died still counts
                self._read()
                if not self._unread:
                    self._lose(WorkerLost)
        found = self._unread.popleft()
        self.since = time.monotonic()
        self._read_on()
        return found

    def _seconds(self, left: Callable[[], float]) -> float | None:
        """The seconds that `left` gives; None if a limit is passed, but the worker's message has come.

        Otherwise every worker would seem to be late after a delay of the event loop.
        """
        try:
            return left()
        except WorkerLost:
            self._read()
            if not self._unread:
                raise
            return None

    def leave(self) -> None:
        """Give the worker up because its pool is closed: close its channel, by which it notices that it has to end."""
        with contextlib.suppress(OSError):
            self.child.channel.shutdown(socket.SHUT_WR)
        self._unread.clear()
        self._lose(WorkerClosed)

    async def end(self, patience: float) -> str:
        """Kill the process if it has not ended after `patience` seconds; return how it ended, in words."""
        self._stop_reading()
        self._loop.remove_writer(self.child.channel)
        by_itself = await self._dies_within(patience)
        self.child.kill()
        if not await self._dies_within(_END_SECONDS):
            return "cannot be killed"
        how = self.child.end()
        return how if by_itself or not patience else "answered what could not be read, and was killed"

    async def _dies_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not self.child.is_dead():
            if time.monotonic() >= until:
                return False
            await asyncio.sleep(_END_LOOK_SECONDS)
        return True

    def _read_on(self) -> None:
        if not self._reading and self._lost is None and len(self._unread) < _MOST_UNREAD:
            self._loop.add_reader(self.child.channel, self._read)
            self._reading = True

    def _stop_reading(self) -> None:
        self._loop.remove_reader(self.child.channel)
        self._reading = False

    def _read(self) -> None:
        try:
            messages, ended = self.child.receive()
        except FrameTooLongError:
            messages, ended = [], True
        self._unread.extend(messages)
        if ended:
            self._lose(WorkerLost)
        if ended or len(self._unread) >= _MOST_UNREAD:
            self._stop_reading()
        self._wake()

    def _flush(self) -> None:
        try:
            unsent = self.child.flush()
        except OSError:
            unsent = False
        if unsent:
            self._loop.add_writer(self.child.channel, self._flush)
        else:
            self._loop.remove_writer(self.child.channel)

    def _lose(self, kind: type[WorkerLost]) -> None:
        if self._lost is None:
            self._lost = kind(begun=bool(self.jobs) and not self.child.has_unsent)
            self._wake()

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)


# What to do if the system gives no process, thread or file
_WAYS_OUT = {
    errno.EMFILE: "raise this process's limit of open files (ulimit -n)",
    errno.EFBIG: "raise this process's limit of a file's size (ulimit -f), at least to 1 MB",
    errno.ENFILE: "raise the system's limit of open files (fs.file-max)",
    errno.EAGAIN: "raise the limit of processes and threads (ulimit -u, or pids.max of the container)",
    errno.ENOMEM: "free memory, or have fewer workers",
}


def way_out(number: int | None) -> str:
    """What to do about the system error with this `errno`, as the end of a message; empty if nothing is known.

    For `errno.ENOMEM`: `: free memory, or have fewer workers`.
    """
    return f": {_WAYS_OUT[number]}" if number in _WAYS_OUT else ""


W = TypeVar("W", bound=Worker[Any])


class Pool(ABC, Generic[W]):
    """Up to `most` worker processes of one program; one that dies is replaced. A subclass says what they are given.

    All methods run on `loops.workers_loop()`, except `soon`, `close` and `aclose`. A forked child has none of the
    workers, and may use the pool as if it were new.

    Attributes:
        workers: the workers that run now.
        loads: what a worker loads when it starts, for messages.
        start_seconds: a worker that has not started after so many seconds is killed.
        leave_seconds: how many seconds a worker without work may take to end by itself when the pool is closed.
    """

    loads = "their program"
    start_seconds = POLICY.start_seconds
    leave_seconds = 0.0

    def __init__(self, most: int) -> None:
        self.most = most
        self.forget()
        _LIVE.add(self)

    def forget(self) -> None:
        """Become an empty pool: called in a forked child, because the workers belong to the parent."""
        for attending in getattr(self, "_attending", ()):
            # This task waits for the parent's worker, and never ends here: asyncio need not warn of it
            attending._log_destroy_pending = False
        self.workers: list[W] = []
        self._attending: set[asyncio.Task[None]] = set()
        self._failed_starts = 0
        self._is_used = False

    # The methods that a program's subclass implements

    @abstractmethod
    def start(self) -> W:
        """Start a worker and return it at once. Its first message says whether it could load its program."""

    @abstractmethod
    def started(self, worker: W, message: bytes) -> None:
        """Read a worker's first message, which says whether it has started.

        Raises:
            AstunerError: no worker can ever start. `fail` is then called with this error.
        """

    @abstractmethod
    def hand_out(self) -> None:
        """Give work to the workers that have room, and start workers if needed; called after every change."""

    @abstractmethod
    def left(self, worker: W) -> float:
        """The seconds that the worker may still take for its oldest job; infinite if there is no limit.

        Raises:
            WorkerLost: it takes too long, and has to be killed.
        """

    @abstractmethod
    def answered(self, worker: W, message: bytes) -> None:
        """Read a worker's answer: pass the results on, and remove the jobs that are done from `worker.jobs`."""

    @abstractmethod
    def lost(self, worker: W, loss: WorkerLost) -> None:
        """Decide about the jobs of a worker that has ended: queue them again, or give them up."""

    @abstractmethod
    def fail(self, error: Exception) -> None:
        """Hand `error` to all callers that wait: no worker can be started, or the pool itself has a bug."""

    def cannot_start(self, times: int, loss: WorkerLost) -> Exception | None:
        """The error for all callers that wait, after `times` workers in a row were lost while they started.

        None to start another worker. `loss` is how the last one ended.
        """
        if times < POLICY.losses:
            return None
        why = f"{times} worker processes ended while they loaded {self.loads}: one {loss.how}"
        return JudgeError(why, cause=Cause.WORKER)

    # For programs and their callers

    def soon(self, function: Callable[..., None], *args: Any) -> None:
        """Have `function(*args)` run on the pool's event loop, without waiting for it; any thread may call this.

        Raises:
            JudgeError: there is no loop: the system starts no more threads.
        """
        try:
            loop = loops.workers_loop()
        except RuntimeError as exc:
            raise JudgeError(f"no thread could be started: {exc}{way_out(errno.EAGAIN)}", cause=Cause.WORKER) from exc
        self._is_used = True
        loop.call_soon_threadsafe(self._guarded, function, *args)

    def start_worker(self) -> bool:
        """Start a worker unless there are `most` already; return whether one was started."""
        if len(self.workers) >= self.most:
            return False
        if _exiting:
            self.fail(JudgeError("no worker is started any more: this process ends", cause=Cause.INTERRUPTED))
            return False
        try:
            worker = self.start()
        except OSError as exc:
            why = f"no worker process could be started: {exc}{way_out(exc.errno)}"
            self._do_without(JudgeError(why, cause=Cause.WORKER), has_others=bool(self.workers))
            return False
        self.workers.append(worker)
        attending = asyncio.get_running_loop().create_task(self._attend(worker))
        self._attending.add(attending)
        attending.add_done_callback(self._attending.discard)
        return True

    def _do_without(self, error: Exception, *, has_others: bool) -> None:
        """Go on without a worker that could not be started: with the other workers, and try again after a while.

        If there are no other workers (`has_others` is False), all callers that wait get `error`.
        """
        if not has_others:
            self.fail(error)
            return
        _log.warning("%d of %d workers go on without another: %s", len(self.workers), self.most, error)
        asyncio.get_running_loop().call_later(_SCARCE_SECONDS, self._guarded, self._want, self.most)
        self.most = len(self.workers)

    def _want(self, most: int) -> None:
        self.most = max(self.most, most)
        self.hand_out()

    def close(self, *, wait: bool = True) -> None:
        """End every worker; with `wait`, return when all have ended. The pool may be used again after it.

        Any thread may call this.
        """
        # `workers` may be empty although the loop is just starting the first one
        if not self._is_used:
            return
        closed = self._closing()
        # The garbage collector may close a pool in any thread, even in the loop's own, which cannot wait for itself
        if wait and not loops.on_workers_loop():
            closed.result()

    async def aclose(self) -> None:
        """End every worker and wait for their ends, without blocking the event loop of the caller."""
        if self._is_used:
            await asyncio.wrap_future(self._closing())

    def _closing(self) -> Future[None]:
        return asyncio.run_coroutine_threadsafe(self._close(), loops.workers_loop())

    async def _close(self) -> None:
        for worker in self.workers:
            worker.leave()
        if self._attending:
            await asyncio.wait(self._attending)

    async def _attend(self, worker: W) -> None:
        until = time.monotonic() + self.start_seconds
        try:
            self.started(worker, await worker.message(lambda: _seconds_to(until)))
            worker.ready, self._failed_starts = True, 0
            self.hand_out()
            while True:
                self.answered(worker, await worker.message(partial(self.left, worker)))
                self.hand_out()
        except WorkerLost as loss:
            await self._replace(worker, loss)
        # boundary: all callers that wait get the error of a worker that cannot load its program, or of a bug here
        except Exception as exc:  # noqa: BLE001
            await self._replace(worker, WorkerClosed(), exc)

    async def _replace(self, worker: W, loss: WorkerLost, error: Exception | None = None) -> None:
        self.workers.remove(worker)
        closed, late = isinstance(loss, WorkerClosed), isinstance(loss, WallTimeUp | CpuTimeUp)
        loss.how = await worker.end(self.leave_seconds * (not worker.jobs) if closed else 0.0 if late else _END_SECONDS)
        is_unstarted = not (worker.ready or closed)
        if is_unstarted:
            self._failed_starts += 1
            error = self.cannot_start(self._failed_starts, loss)
        self._guarded(self.lost, worker, loss)
        worker.child.close()
        if error is not None:
            self._failed_starts = 0
            self._do_without(error, has_others=is_unstarted and any(other.ready for other in self.workers))
        self._guarded(self.hand_out)

    def _guarded(self, function: Callable[..., None], *args: Any) -> None:
        try:
            function(*args)
        # boundary: all callers that wait get the error of a bug here; they would wait for ever otherwise
        except Exception as exc:  # noqa: BLE001
            self.fail(exc)


def _seconds_to(until: float) -> float:
    if (left := until - time.monotonic()) <= 0:
        raise WallTimeUp(begun=False)
    return left


@dataclass(eq=False, slots=True)
class PoolQuestion:
    """A message to a worker that answers it by one message, and the future that its caller waits for.

    Attributes:
        message: the message; None only waits until a worker has started.
        answer: the future that gets the answer, or the error.
        seconds: the seconds that the answer is expected to take.
        request: the request that the question is part of, for its turn in the queue; see `FairQueue`.
        toll: the workers that were lost while they had the question.
        limit: the most seconds to the answer, without the start of the pool's first worker; None for no limit. A worker
            that takes longer is killed.
        ends: the time at which the limit is over, by `time.monotonic`.
        timer: gives the question up at `ends`, if it still waits in the queue.
    """

    message: bytes | None
    answer: Future[Any] = field(default_factory=Future)
    seconds: float = 1.0
    request: Request = field(default_factory=current_request)
    toll: Toll = field(default_factory=Toll)
    limit: float | None = None
    ends: float = math.inf
    timer: asyncio.TimerHandle | None = None


Q = TypeVar("Q", bound=PoolQuestion)


class QuestionPool(Pool[W], Generic[W, Q]):
    """A pool whose workers answer one question at a time; the questions that wait take turns by `FairQueue`.

    Args:
        most: the most workers.
        repeats: whether a question is given to a different worker if its worker dies.
    """

    def __init__(self, most: int, *, repeats: bool = True) -> None:
        self._repeats = repeats
        super().__init__(most)

    def forget(self) -> None:
        """Become an empty pool with no questions: called in a forked child, because these belong to the parent."""
        super().forget()
        self.queue: FairQueue[Q] = FairQueue()
        self._untimed: list[Q] = []

    def ask(self, question: Q) -> Future[Any]:
        """Put a question into the queue, and return the future of its answer; any thread may call this.

        Raises:
            JudgeError: the system starts no more threads.
        """
        self.soon(self._add, question)
        return question.answer

    def has_room(self, worker: W) -> bool:
        """Whether the worker may be sent one more question."""
        return not worker.jobs

    def result(self, worker: W, question: Q, message: bytes) -> Any:
        """The result that the worker's answer to `question` holds; by default the message itself."""
        return message

    @abstractmethod
    def given_up(self, question: Q, loss: WorkerLost) -> Exception:
        """The error for a question that gets no answer, because its worker was lost or its limit is over (`loss`)."""

    def hand_out(self) -> None:
        """Send questions to the workers that have room, and start workers while more questions wait than start now."""
        if self._untimed and any(worker.ready for worker in self.workers):
            for question in self._untimed:
                assert question.limit is not None
                question.ends = time.monotonic() + question.limit
                question.timer = asyncio.get_running_loop().call_later(question.limit, self._expire, question)
            self._untimed.clear()
        for worker in self.workers:
            if not (worker.ready and self.queue and self.has_room(worker) and worker.is_trusted()):
                continue
            while self.has_room(worker) and (following := self._next()) is not None:
                if following.message is None:
                    following.answer.set_result(None)
                else:
                    worker.give(following, following.message)
        starting = sum(not worker.ready for worker in self.workers)
        while len(self.queue) > starting and self.start_worker():
            starting += 1

    def left(self, worker: W) -> float:
        """The seconds until the limit of the worker's question is over; infinite without a question.

        Raises:
            WallTimeUp: it is over.
        """
        if not worker.jobs:
            return math.inf
        left: float = worker.jobs[0].ends - time.monotonic()
        if left <= 0:
            raise WallTimeUp(begun=True)
        return left

    def answered(self, worker: W, message: bytes) -> None:
        """Give the worker's answer to the caller of its oldest question."""
        if not worker.jobs:
            raise WorkerLost
        question: Q = worker.jobs.popleft()
        try:
            question.answer.set_result(self.result(worker, question, message))
        # the question is no longer among the worker's jobs, so nothing else would give its caller the error
        except Exception as exc:  # noqa: BLE001
            question.answer.set_exception(exc)

    def lost(self, worker: W, loss: WorkerLost) -> None:
        """Queue the questions of a lost worker again; those that are given up get the error of `given_up`."""
        for question in worker.jobs:
            # A question behind the oldest was not begun
            oldest = question is worker.jobs[0]
            if not self._repeats or (oldest and question.toll.gives_up(loss)):
                question.answer.set_exception(self.given_up(question, loss))
            else:
                self.charge(question, -question.seconds)
                self.queue.add(question, question.request, question.seconds)

    def charge(self, question: Q, seconds: float) -> None:
        """Add `seconds` (negative to refund) to those that the question's request has used; see `FairQueue`."""
        self.queue.charge(question.request, seconds)

    def fail(self, error: Exception) -> None:
        """Give `error` to the callers of all questions in the queue."""
        self._untimed.clear()
        while (question := self._next()) is not None:
            # Each caller gets its own JudgeError, because it writes the id of its task into it
            own = JudgeError(error.message, cause=error.cause) if type(error) is JudgeError else error
            question.answer.set_exception(own)

    def _add(self, question: Q) -> None:
        if question.limit is not None:
            self._untimed.append(question)
        self.queue.add(question, question.request, question.seconds)
        self.hand_out()

    def _expire(self, question: Q) -> None:
        """Give up a question that still waits at the end of its limit. If a worker has it, `left` handles the limit."""
        answer = question.answer
        if not (answer.done() or answer.running()) and answer.set_running_or_notify_cancel():
            answer.set_exception(self.given_up(question, WallTimeUp()))

    def _next(self) -> Q | None:
        """Take the next question from the queue whose caller still waits; None if there is none."""
        while (found := self.queue.take()) is not None:
            answer = found.answer
            if found.timer is not None:
                # The timer would keep the question in memory for its whole limit
                found.timer.cancel()
            if answer.running() or (not answer.done() and answer.set_running_or_notify_cancel()):
                if found.ends > time.monotonic():
                    return found
                answer.set_exception(self.given_up(found, WallTimeUp()))
            self.charge(found, -found.seconds)
        return None


_LIVE: weakref.WeakSet[Pool[Any]] = weakref.WeakSet()
_exiting = False


def close_all() -> None:
    """End every worker of every pool of this process."""
    for pool in list(_LIVE):
        pool.close()


def _end_all() -> None:
    global _exiting
    # Set the flag first: otherwise a pool would replace the worker that it loses
    _exiting = True
    close_all()


atexit.register(_end_all)
forks.forgets(_LIVE)
