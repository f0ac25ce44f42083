"""Threads for foreign code that may never return.

A thread cannot be ended from outside. The interpreter waits at its end for every thread of `asyncio.to_thread` and of
a ThreadPoolExecutor, and a few hanging threads use up such a pool. The threads here are daemons, so the program can end
without them, and each call has a thread, so hanging threads use up no pool.
"""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

# Seconds that an idle thread waits for its next call: starting a thread takes longer than most cheap verdicts
_IDLE_SECONDS = 10.0

_Inbox = SimpleQueue[tuple[Future[Any], Callable[[], Any]]]
_lock = threading.Lock()
_idle: list[_Inbox] = []
_number = itertools.count(1)


def start(function: Callable[..., T], *args: Any) -> Future[T]:
    """Run `function(*args)` in a thread of its own, with the caller's context variables.

    StopIteration, KeyboardInterrupt, GeneratorExit and CancelledError would hang the waiting caller, or look like its
    own end. Each of them arrives as a RuntimeError.

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
            continue  # `start` has just taken this thread from the idle threads: its call is coming
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


def _forget_after_fork() -> None:
    # A forked child has none of its parent's threads, and a thread of the parent may have held the lock at the fork
    global _lock
    _lock = threading.Lock()
    _idle.clear()


os.register_at_fork(after_in_child=_forget_after_fork)
