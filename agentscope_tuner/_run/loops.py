"""The background event loops of a process, where sync callers, async judges and child processes meet.

Trainers call rewards from the main thread, from worker threads, from inside running loops and from Ray actors.
All of them may call `run`: the coroutine runs on a daemon thread's loop, so clients with connection pools live on one
loop for good.

Judges that this package did not write run on a second loop. Such a judge may block its loop, for example by a sleep or
a download that is not awaited. Deadlines still pass then, because they run on the first loop, and a new loop replaces
the blocked loop. A third loop feeds the child processes of every pool: what blocks the other two does not delay them.

Foreign code that may never return runs in threads of its own, by `start_thread`. A thread cannot be ended from
outside. The interpreter waits at its end for every thread of `asyncio.to_thread` and of a ThreadPoolExecutor, and a
few hanging threads use up such a pool. The threads here are daemons, so the program can end without them, and each
call has a thread, so hanging threads use up no pool.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import itertools
import logging
import os
import threading
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from agentscope_tuner._run.forks import own_lock

T = TypeVar("T")
_log = logging.getLogger(__name__)

#: The most calls of one kind that a loop runs in threads at once, unless `limit_threads` sets another number.
THREADS_AT_ONCE = 32


class _Background:
    """A loop in a daemon thread, started on first use. A forked child starts its own: threads end in a fork."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = own_lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pid = 0

    def get(self) -> asyncio.AbstractEventLoop:
        """The running event loop of the background thread, which is started if there is none in this process."""
        with self._lock:
            if self._loop is None or self._pid != os.getpid() or self._thread is None or not self._thread.is_alive():
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name=self._name, daemon=True)
                self._thread.start()
                self._pid = os.getpid()
            return self._loop

    def is_here(self) -> bool:
        """Whether the caller is in the loop's own thread."""
        return threading.current_thread() is self._thread

    def replace(self, blocked: asyncio.AbstractEventLoop) -> None:
        """Give up the loop `blocked`: the next `get` starts a new one. The old loop ends after its last task."""
        with self._lock:
            if self._loop is not blocked:
                return  # another caller has already replaced the loop
            self._loop = self._thread = None
        asyncio.run_coroutine_threadsafe(_end_when_done(blocked), blocked)


_ours = _Background("astuner-loop")
_judges = _Background("astuner-judges")
_workers = _Background("astuner-workers")


#: The process's background loop.
get_loop = _ours.get
#: The loop of judges that may block it; a loop that one blocks is replaced.
judges_loop, replace_judges_loop = _judges.get, _judges.replace
#: The loop that child processes are fed from, and whether the caller's thread is its own.
workers_loop, on_workers_loop = _workers.get, _workers.is_here


def run(coroutine: Awaitable[T]) -> T:
    """Run `coroutine` on the background loop and wait for its result, from any other thread.

    A caller inside a running loop blocks that loop while it waits: async callers should await the async method instead.

    Raises:
        RuntimeError: when called on the background loop's own thread, where waiting could never end.
    """
    loop = get_loop()
    if _ours.is_here():
        if isinstance(coroutine, Coroutine):
            coroutine.close()
        raise RuntimeError("loops.run was called on astuner's own loop and would wait for ever: await it")
    future = asyncio.run_coroutine_threadsafe(_without_exit(coroutine), loop)
    try:
        return future.result()
    except BaseException:
        # Ctrl-C while waiting: do not leave the work running behind the caller's back
        future.cancel()
        raise


class PerLoop(Generic[T]):
    """An object for each event loop, made when the loop first asks for it.

    The object may hold on to its loop, as asyncio's locks and futures do. So it is forgotten when another loop asks and
    its own is closed: a trainer may have a loop for each step.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, T] = weakref.WeakKeyDictionary()

    def here(self) -> T:
        """The object that belongs to the running loop; it is made if there is none."""
        loop = asyncio.get_running_loop()
        if (found := self._made.get(loop)) is None:
            for known in self._made.keyrefs():
                if (earlier := known()) is not None and earlier.is_closed():
                    self._made.pop(earlier, None)
            found = self._made[loop] = self._make()
        return found


async def in_thread(function: Callable[..., T], *args: Any) -> T:
    """Run `function(*args)`, such as a user's judge, in a thread, and return its result without blocking the loop.

    No exception of it can stop or hang the waiting loop, and a thread that hangs does not keep the program from ending.
    At most `threads_at_once` such calls run at once; further ones wait.

    Raises:
        RuntimeError: in place of a StopIteration, which no future takes, so that the caller would wait for ever; of a
            KeyboardInterrupt, which would end the loop; and of a CancelledError, which would look like the caller's own
            cancellation.
    """
    loop = asyncio.get_running_loop()
    slots = _slots.here()
    await slots.acquire()
    try:
        future = start_thread(function, *args)
    # No thread was started, so no thread will free the slot
    except BaseException:
        slots.release()
        raise
    # Free the slot when the thread ends, not when the caller gives up: the number of hanging threads stays bounded
    future.add_done_callback(lambda _: call_soon(loop, slots.release))
    return await asyncio.wrap_future(future)


def limit_threads(most: int) -> None:
    """Set how many calls of one kind the running loop may have in threads at once; call this before the first call."""
    _most_threads[asyncio.get_running_loop()] = most


def threads_at_once() -> int:
    """How many calls of one kind the running loop may have in threads at once."""
    return _most_threads.get(asyncio.get_running_loop(), THREADS_AT_ONCE)


_most_threads: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, int] = weakref.WeakKeyDictionary()
_slots = PerLoop(lambda: asyncio.Semaphore(threads_at_once()))


def turn() -> asyncio.Future[None]:
    """A future to await before work that keeps the running loop busy for milliseconds: `await loops.turn()`.

    Such pieces of work are begun one by one, each in its own round of the loop, so that quick work waits for at most
    one of them.
    """
    loop = asyncio.get_running_loop()
    if not (waiting := _turns.here()):
        loop.call_soon(_next_turn, waiting)
    waiting.append(loop.create_future())
    return waiting[-1]


def _next_turn(waiting: deque[asyncio.Future[None]]) -> None:
    # Callers that were cancelled need no turn
    while waiting and waiting[0].done():
        waiting.popleft()
    if waiting:
        first = waiting.popleft()
        first.set_result(None)
        if waiting:
            first.get_loop().call_soon(_next_turn, waiting)


# For each loop, the futures of those that wait for a turn, in order
_turns: PerLoop[deque[asyncio.Future[None]]] = PerLoop(deque)


def call_soon(loop: asyncio.AbstractEventLoop, function: Callable[..., object], *args: Any) -> None:
    """Call `function` in `loop`, from any thread; not at all if the loop is closed, since no caller waits there."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function, *args)


async def _without_exit(coroutine: Awaitable[T]) -> T:
    try:
        return await coroutine
    except (SystemExit, KeyboardInterrupt) as exc:
        # Either exception would end the loop's thread, and every waiting caller would wait for ever
        raise RuntimeError(f"{type(exc).__name__} inside astuner's loop: {exc}") from exc


def _run(loop: asyncio.AbstractEventLoop) -> None:
    while True:
        try:
            loop.run_forever()
            loop.close()
            return
        # asyncio raises these here if a task raised them, as a user's code may. The caller that waits for the task gets
        # them; without this clause all others would wait for ever
        except (SystemExit, KeyboardInterrupt) as exc:
            _log.warning("%s inside a task of %s: it goes on", type(exc).__name__, threading.current_thread().name)


async def _end_when_done(loop: asyncio.AbstractEventLoop) -> None:
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)
    loop.stop()


# Seconds that an idle thread waits for its next call: starting a thread takes longer than most cheap verdicts
_IDLE_SECONDS = 10.0

_Inbox = SimpleQueue[tuple[Future[Any], Callable[[], Any]]]
_lock = own_lock()
_idle: list[_Inbox] = []
# A forked child has none of its parent's threads
os.register_at_fork(after_in_child=_idle.clear)
_number = itertools.count(1)


def start_thread(function: Callable[..., T], *args: Any) -> Future[T]:
    """Run `function(*args)` in a daemon thread of its own, with the caller's context variables; returns its future.

    StopIteration, KeyboardInterrupt, GeneratorExit and CancelledError would hang the waiting caller, or look like its
    own interruption. The future raises a RuntimeError in place of each.

    Raises:
        RuntimeError: the system starts no more threads.
    """
    future: Future[T] = Future()
    with _lock:
        inbox = _idle.pop() if _idle else None
    if inbox is None:
        inbox = SimpleQueue()
        threading.Thread(target=_work, args=(inbox,), name=f"astuner-call-{next(_number)}", daemon=True).start()
    inbox.put((future, partial(contextvars.copy_context().run, _contained, function, *args)))
    return future


def _work(inbox: _Inbox) -> None:
    while True:
        try:
            future, work = inbox.get(timeout=_IDLE_SECONDS)
        except Empty:
            with _lock:
                if inbox in _idle:
                    _idle.remove(inbox)
                    return
            continue  # `start_thread` has just taken this thread from the idle threads: its call is coming
        outcome = _outcome(work) if future.set_running_or_notify_cancel() else None
        # Count as idle before the caller learns the result: its next call may come at once
        with _lock:
            _idle.append(inbox)
        if outcome is not None:
            result, error = outcome
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)
        # An idle thread must not keep a rollout or a traceback's frames in memory
        del future, work, outcome
        result = error = None


def _outcome(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return work(), None
    except BaseException as exc:  # noqa: BLE001 - the exception is raised in the waiting caller, as in every pool
        return None, exc


def _contained(function: Callable[..., T], *args: Any) -> T:
    try:
        return function(*args)
    except (StopIteration, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError) as exc:
        raise RuntimeError(f"{type(exc).__name__} inside a thread: {exc}") from exc
