"""The pool of child processes: one way to start, feed, limit, replace and end them, whatever they run.

A program subclasses `Pool` and says what its workers are given: the sandbox's comparisons, an engine's batches of rows,
rollouts. `QuestionPool` is for programs that answer questions one by one.

A worker that dies is replaced, in any case. A loaded or stopped machine must not cost a verdict, so there is one
`Policy` for every program: work that was begun is tried once more, by another worker; what says nothing about the work
is borne more often.

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
    """When work is given up, the same for every program.

    Attributes:
        deaths: workers that die of one piece of work, before it gets no verdict. The first may have died of damage that
            an earlier piece left behind.
        losses: workers that are lost in a row for a reason that says nothing about the work: they end while they
            start, or are given no CPU.
        start_seconds: a worker that has not started by then counts as lost.
    """

    deaths: int = 2
    losses: int = 3
    start_seconds: float = 120.0


POLICY = Policy()


class WorkerLost(Exception):
    """A worker can give no more answers: it ended, its messages cannot be read, or it was killed.

    Attributes:
        begun: whether it had the whole of its oldest work. Otherwise its end says nothing about that work.
        how: how it ended, in words.
    """

    def __init__(self, *, begun: bool = False) -> None:
        super().__init__(begun)
        self.begun = begun
        self.how = ""


class WallTimeUp(WorkerLost):
    """The worker took longer over its oldest work than it may, and was killed."""


class CpuTimeUp(WorkerLost):
    """The worker used up the CPU time that its oldest work may cost, and was killed."""


class WorkerClosed(WorkerLost):
    """The pool was closed, and the worker ended with it."""


@dataclass(slots=True)
class Toll:
    """The workers that one piece of work has cost."""

    deaths: int = 0
    losses: int = 0

    def add(self, *, guilty: bool) -> bool:
        """Count a worker, which died of this work or was lost beside it; return whether the work is given up now."""
        if guilty:
            self.deaths += 1
        else:
            self.losses += 1
        return self.deaths >= POLICY.deaths or self.losses >= POLICY.losses

    def gives_up(self, loss: WorkerLost) -> bool:
        """Count `loss`; return whether it ends the work that the worker was at. Otherwise another worker gets it."""
        if isinstance(loss, WorkerClosed):
            return False
        # Another worker would take as long
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
    """A child process of a pool, for its event loop alone.

    Args:
        program: what it runs.
        options: as `ChildProcess` takes them.

    Attributes:
        jobs: what it was given and has not answered, the oldest first.
        ready: whether it has started.
        since: when it began the oldest of its jobs, at the earliest, by `time.monotonic`.

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
        """Send the worker more work, behind what it has."""
        if not self.jobs:
            self.since = time.monotonic()
        self.jobs.append(job)
        self.send(message)

    def send(self, message: bytes) -> None:
        """Send a message. A worker that is gone is found by `message`."""
        self.child.send(message)
        self._flush()
        # The limits of a worker that had nothing to do begin now
        self._wake()

    def is_trusted(self) -> bool:
        """Whether the worker's next message will answer what it is given next.

        False for one without work that has ended, or has sent a message unasked: it is replaced.
        """
        if not self.jobs:
            if self._reading:
                self._read()
            if self._unread or self.child.is_dead():
                self._lose(WorkerLost)
        return self._lost is None

    async def message(self, left: Callable[[], float]) -> bytes:
        """The worker's next message.

        Args:
            left: the most seconds to wait before the next look; raises a WorkerLost when a limit is passed.

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
        """The seconds that `left` gives; None if a limit is passed, but the message has come meanwhile.

        After a delay of the event loop every worker would otherwise seem to be late.
        """
        try:
            return left()
        except WorkerLost:
            self._read()
            if not self._unread:
                raise
            return None

    def leave(self) -> None:
        """End the worker: at once if it has work, else as soon as it notices that its channel is closed."""
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


# What to do where the system gives no process, thread or file
_WAYS_OUT = {
    errno.EMFILE: "raise this process's limit of open files (ulimit -n)",
    errno.EFBIG: "raise this process's limit of a file's size (ulimit -f), at least to 1 MB",
    errno.ENFILE: "raise the system's limit of open files (fs.file-max)",
    errno.EAGAIN: "raise the limit of processes and threads (ulimit -u, or pids.max of the container)",
    errno.ENOMEM: "free memory, or have fewer workers",
}


def way_out(number: int | None) -> str:
    """What to do about a system error, as the end of a message; empty if nothing is known about this `errno`."""
    return f": {_WAYS_OUT[number]}" if number in _WAYS_OUT else ""


W = TypeVar("W", bound=Worker[Any])


class Pool(ABC, Generic[W]):
    """Up to `most` workers of one program, each replaced when it is lost.

    All methods run on `loops.workers_loop()`, except `soon` and `close`. A forked child has none of the workers, and
    may use the pool as if it were new.

    Attributes:
        workers: those that run now.
        loads: what a worker loads when it starts, for messages.
        start_seconds: a worker that has not started by then is killed.
        leave_seconds: how long a worker without work may take to end by itself when the pool is closed.
    """

    loads = "their program"
    start_seconds = POLICY.start_seconds
    leave_seconds = 0.0

    def __init__(self, most: int) -> None:
        self.most = most
        self.forget()
        _LIVE.add(self)

    def forget(self) -> None:
        """Start anew, in a forked child: the workers are the parent's."""
        for attending in getattr(self, "_attending", ()):
            # It waits for the parent's worker, and never ends here: nothing to be warned of
            attending._log_destroy_pending = False
        self.workers: list[W] = []
        self._attending: set[asyncio.Task[None]] = set()
        self._failed_starts = 0
        self._is_used = False

    # What a program says

    @abstractmethod
    def start(self) -> W:
        """Start a worker, whose first message says whether it could."""

    @abstractmethod
    def started(self, worker: W, message: bytes) -> None:
        """Read a worker's first message.

        Raises:
            AstunerError: no worker will ever start; it is what `fail` is given.
        """

    @abstractmethod
    def hand_out(self) -> None:
        """Give work to the workers that have room, and start workers where they are needed: something has changed."""

    @abstractmethod
    def left(self, worker: W) -> float:
        """Seconds until the worker has to be looked at.

        Raises:
            WorkerLost: it takes too long, and is to be killed.
        """

    @abstractmethod
    def answered(self, worker: W, message: bytes) -> None:
        """Take a worker's message; remove the jobs that are done."""

    @abstractmethod
    def lost(self, worker: W, loss: WorkerLost) -> None:
        """Take back the jobs of a worker that has ended."""

    @abstractmethod
    def fail(self, error: Exception) -> None:
        """Hand `error` to everybody who waits: no worker can be had, or the pool itself is broken."""

    def cannot_start(self, times: int, loss: WorkerLost) -> Exception | None:
        """The error for all who wait, once `times` workers in a row were lost at their start; None to try another."""
        if times < POLICY.losses:
            return None
        why = f"{times} worker processes ended while they loaded {self.loads}: one {loss.how}"
        return JudgeError(why, cause=Cause.WORKER)

    # For programs and their callers

    def soon(self, function: Callable[..., None], *args: Any) -> None:
        """Run `function(*args)` on the pool's loop, soon. For any thread.

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
        """Start a worker where there is room for one more; return whether it was started."""
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
        """Go on without a worker that cannot be had: the others work alone for a while, then it is tried again.

        Without others, everybody who waits gets `error`.
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
        """End every worker. The pool may be used again. For any thread; `wait` until all have ended."""
        # Not whether it has workers: the loop may be starting the first
        if not self._is_used:
            return
        closed = self._closing()
        # The garbage collector may close a pool in any thread, even in the loop's own, which cannot wait for itself
        if wait and not loops.on_workers_loop():
            closed.result()

    async def aclose(self) -> None:
        """`close` for callers inside another event loop."""
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
        # boundary: a worker that cannot load its program, or a fault of ours, is told to everybody who waits
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
        # boundary: a fault of ours on the loop is told to everybody who waits, who would else wait for ever
        except Exception as exc:  # noqa: BLE001
            self.fail(exc)


def _seconds_to(until: float) -> float:
    if (left := until - time.monotonic()) <= 0:
        raise WallTimeUp(begun=False)
    return left


@dataclass(eq=False, slots=True)
class PoolQuestion:
    """A message that a worker answers by one message, and the future that its caller waits for.

    Attributes:
        message: what the worker is sent; None asks for a worker that has started, and nothing else.
        answer: receives the answer, or the error.
        seconds: the seconds that the answer is expected to take.
        request: the request that the question is part of.
        limit: the most seconds to the answer, without the start of the pool's first worker; None for no limit. A worker
            that takes longer is killed.
        ends: when the limit is over, by `time.monotonic`.
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
    """A pool whose workers answer questions, one by one; those that wait take turns by `FairQueue`.

    Args:
        most: how many workers.
        repeats: whether a question may be asked again, of another worker, when its worker dies.
    """

    def __init__(self, most: int, *, repeats: bool = True) -> None:
        self._repeats = repeats
        super().__init__(most)

    def forget(self) -> None:
        """See Pool."""
        super().forget()
        self.queue: FairQueue[Q] = FairQueue()
        self._untimed: list[Q] = []

    def ask(self, question: Q) -> Future[Any]:
        """Put a question into the queue; return its future. For any thread.

        Raises:
            JudgeError: see `soon`.
        """
        self.soon(self._add, question)
        return question.answer

    def has_room(self, worker: W) -> bool:
        """Whether the worker may be sent one more question."""
        return not worker.jobs

    def result(self, worker: W, question: Q, message: bytes) -> Any:
        """The result in a worker's message."""
        return message

    @abstractmethod
    def given_up(self, question: Q, loss: WorkerLost) -> Exception:
        """The error for a question that gets no answer."""

    def hand_out(self) -> None:
        """See Pool."""
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
        """See Pool."""
        if not worker.jobs:
            return math.inf
        left: float = worker.jobs[0].ends - time.monotonic()
        if left <= 0:
            raise WallTimeUp(begun=True)
        return left

    def answered(self, worker: W, message: bytes) -> None:
        """See Pool."""
        if not worker.jobs:
            raise WorkerLost
        question: Q = worker.jobs.popleft()
        try:
            question.answer.set_result(self.result(worker, question, message))
        # it has left the worker's jobs, so nobody else would tell its caller
        except Exception as exc:  # noqa: BLE001
            question.answer.set_exception(exc)

    def lost(self, worker: W, loss: WorkerLost) -> None:
        """See Pool."""
        for question in worker.jobs:
            # A question behind the oldest was not begun
            oldest = question is worker.jobs[0]
            if not self._repeats or (oldest and question.toll.gives_up(loss)):
                question.answer.set_exception(self.given_up(question, loss))
            else:
                self.charge(question, -question.seconds)
                self.queue.add(question, question.request, question.seconds)

    def charge(self, question: Q, seconds: float) -> None:
        """Add `seconds` to those that the question's request has used."""
        self.queue.charge(question.request, seconds)

    def fail(self, error: Exception) -> None:
        """See Pool."""
        self._untimed.clear()
        while (question := self._next()) is not None:
            # One JudgeError each: whoever waits names its own task in it
            own = JudgeError(error.message, cause=error.cause) if type(error) is JudgeError else error
            question.answer.set_exception(own)

    def _add(self, question: Q) -> None:
        if question.limit is not None:
            self._untimed.append(question)
        self.queue.add(question, question.request, question.seconds)
        self.hand_out()

    def _expire(self, question: Q) -> None:
        """Give up a question that still waits. One that a worker has is looked after by `left`."""
        answer = question.answer
        if not (answer.done() or answer.running()) and answer.set_running_or_notify_cancel():
            answer.set_exception(self.given_up(question, WallTimeUp()))

    def _next(self) -> Q | None:
        """The next question that somebody still waits for."""
        while (found := self.queue.take()) is not None:
            answer = found.answer
            if found.timer is not None:
                # It would keep the question for its whole limit
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
