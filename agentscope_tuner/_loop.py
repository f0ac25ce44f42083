"""One background event loop per process, where sync callers and async judges meet.

Trainers call rewards from the main thread, from worker threads, from inside running loops and from Ray actors.
All of them may call `run`: the coroutine runs on a daemon thread's loop, so clients with connection pools live on one
loop for good.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None
_pid = 0


def get_loop() -> asyncio.AbstractEventLoop:
    """The process's background loop, started on first use and again in a forked child: threads end there."""
    global _loop, _thread, _pid
    with _lock:
        if _loop is None or _pid != os.getpid() or _thread is None or not _thread.is_alive():
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(target=_loop.run_forever, name="astuner-loop", daemon=True)
            _thread.start()
            _pid = os.getpid()
        return _loop


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run `coroutine` on the background loop and wait for its result, from any thread, inside a running loop or not.

    Inside a running loop this blocks that loop while it waits: async callers should await the async method instead.

    Raises:
        RuntimeError: when called on the background loop's own thread, where waiting could never end.
    """
    loop = get_loop()
    if threading.current_thread() is _thread:
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
    """`function(*args)` in a thread, for foreign code: what it raises cannot stop or hang the loop that waits for it.

    Raises:
        RuntimeError: in place of a StopIteration, which no future takes, so that its waiter would wait for ever; of a
            KeyboardInterrupt, which would end the loop; and of a CancelledError, which would pass for the caller's own.
    """

    def contained() -> T:
        try:
            return function(*args)
        except (StopIteration, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError) as exc:
            raise RuntimeError(f"{type(exc).__name__} inside a thread: {exc}") from exc

    return await asyncio.to_thread(contained)


async def _without_exit(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        return await coroutine
    except (SystemExit, KeyboardInterrupt) as exc:
        # these two would end the loop's thread, and with it every caller that waits
        raise RuntimeError(f"{type(exc).__name__} inside astuner's loop: {exc}") from exc


def _forget_lock_after_fork() -> None:
    # the lock may have been held by another thread at the moment of the fork; the child has only one thread
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_lock_after_fork)
