"""The background event loops of a process, where sync callers, async judges and child processes meet.

Trainers call rewards from the main thread, from worker threads, from inside running loops and from Ray actors.
All of them may call `run`: the coroutine runs on a daemon thread's loop, so clients with connection pools live on one
loop for good.

Judges that this package did not write run on a second loop. Such a judge may block its loop, for example by a sleep or
a download that is not awaited. Deadlines still pass then, because they run on the first loop, and a new loop replaces
the blocked loop. A third loop feeds the child processes of every pool: what blocks the other two does not delay them.
A fourth has the verdicts that compute for long.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from agentscope_tuner._run import threads

T = TypeVar("T")

#: The most calls of one kind that a loop runs in threads at once, unless `limit_threads` sets another number.
THREADS_AT_ONCE = 32


class _Background:
    """A loop in a daemon thread, started on first use. A forked child starts its own: threads end in a fork."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pid = 0

    def get(self) -> asyncio.AbstractEventLoop:
        """The loop."""
        with self._lock:
            if self._loop is None or self._pid != os.getpid() or self._thread is None or not self._thread.is_alive():
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name=self._name, daemon=True)
                self._thread.start()
                self._pid = os.getpid()
            return self._loop

    def is_here(self) -> bool:
        """Whether the caller's thread is the loop's."""
        return threading.current_thread() is self._thread

    def replace(self, blocked: asyncio.AbstractEventLoop) -> None:
        """Have the next caller start a new loop. The old loop ends with its last task, if that task ever ends."""
        with self._lock:
            if self._loop is not blocked:
                return  # another caller has already replaced the loop
            self._loop = self._thread = None
        asyncio.run_coroutine_threadsafe(_end_when_done(blocked), blocked)

    def forget_lock(self) -> None:
        """Replace the lock in a forked child: a thread of the parent may have held it at the fork."""
        self._lock = threading.Lock()


_ours = _Background("astuner-loop")
_judges = _Background("astuner-judges")
_workers = _Background("astuner-workers")
_long = _Background("astuner-long")


def get_loop() -> asyncio.AbstractEventLoop:
    """The process's background loop."""
    return _ours.get()


def judges_loop() -> asyncio.AbstractEventLoop:
    """The loop of judges that may block it."""
    return _judges.get()


def workers_loop() -> asyncio.AbstractEventLoop:
    """The loop that child processes are fed from."""
    return _workers.get()


def on_workers_loop() -> bool:
    """Whether the caller's thread is that loop's."""
    return _workers.is_here()


def replace_judges_loop(blocked: asyncio.AbstractEventLoop) -> None:
    """Replace a loop that a judge blocks by a new loop."""
    _judges.replace(blocked)


async def apart(coroutine: Coroutine[Any, Any, T]) -> T:
    """Await `coroutine` on a loop that only such work blocks: what computes for long must not delay the caller's loop.

    Another thread has the processor after five milliseconds at the latest (`sys.getswitchinterval`).
    """
    if _long.is_here():
        return await coroutine
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, _long.get()))


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run `coroutine` on the background loop and wait for its result. For any thread, inside a running loop or not.

    Inside a running loop this blocks that loop while it waits: async callers should await the async method instead.

    Raises:
        RuntimeError: when called on the background loop's own thread, where waiting could never end.
    """
    loop = get_loop()
    if _ours.is_here():
        coroutine.close()
        raise RuntimeError("_loop.run was called on astuner's own loop and would wait for ever: await it")
    future = asyncio.run_coroutine_threadsafe(_without_exit(coroutine), loop)
    try:
        return future.result()
    except BaseException:
        # Ctrl-C while waiting: do not leave the work running behind the caller's back
        future.cancel()
        raise


async def in_thread(function: Callable[..., T], *args: Any) -> T:
    """Run foreign code in a thread: `function(*args)`. No exception of it can stop or hang the waiting loop, and a
    thread that hangs does not keep the program from ending.

    Raises:
        RuntimeError: in place of a StopIteration, which no future takes, so that its waiter would wait for ever; of a
            KeyboardInterrupt, which would end the loop; and of a CancelledError, which would pass for the caller's own.
    """
    loop = asyncio.get_running_loop()
    slots = _slots.setdefault(loop, asyncio.Semaphore(threads_at_once()))
    await slots.acquire()
    try:
        future = threads.start(function, *args)
    # No thread was started, so no thread will free the slot
    except BaseException:
        slots.release()
        raise
    # Free the slot when the thread ends, not when the caller gives up: the number of hanging threads stays bounded
    future.add_done_callback(lambda _: _call_soon(loop, slots.release))
    return await asyncio.wrap_future(future)


def limit_threads(most: int) -> None:
    """Let the running loop have at most `most` calls of one kind in threads at once; call it before the first."""
    _most_threads[asyncio.get_running_loop()] = most


def threads_at_once() -> int:
    """How many calls of one kind the running loop may have in threads at once."""
    return _most_threads.get(asyncio.get_running_loop(), THREADS_AT_ONCE)


_most_threads: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, int] = weakref.WeakKeyDictionary()
_slots: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = weakref.WeakKeyDictionary()


def _call_soon(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    # the loop was closed: no caller waits there
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function)


async def _without_exit(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        return await coroutine
    except (SystemExit, KeyboardInterrupt) as exc:
        # Either exception would end the loop's thread, and every waiting caller would wait for ever
        raise RuntimeError(f"{type(exc).__name__} inside astuner's loop: {exc}") from exc


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


async def _end_when_done(loop: asyncio.AbstractEventLoop) -> None:
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)
    loop.stop()


def _forget_locks_after_fork() -> None:
    for background in (_ours, _judges, _workers, _long):
        background.forget_lock()


os.register_at_fork(after_in_child=_forget_locks_after_fork)
