"""Makes `os.fork` safe: a fork waits until no other thread holds a lock that would stay locked in the child.

A forked child has only the thread that forked. A lock that another thread held at that moment is held in the child for
ever: the lock of a module that is being imported (libraries import as they go, asyncio and openai in their first
calls), of Python 3.11's `functools.cached_property`, or of SQLite. This package's own locks are made anew in the child
(`own_lock`). For the locks of libraries, a fork waits until no other thread imports, or is inside of `unforked`.
"""

from __future__ import annotations

import _imp
import concurrent.futures.thread  # noqa: F401 - before a fork waits, as logging: see below
import logging  # noqa: F401
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import _bootstrap
from typing import Any, Generic, TypeVar

# A fork that has waited so many seconds happens all the same: forking must not hang either
_PATIENCE = 60.0
_LOOK_SECONDS = 0.001
# The locks of the modules that are being imported, by name, as weak references: private to CPython, empty if missing
_MODULE_LOCKS = getattr(_bootstrap, "_module_locks", {})
# By a thread's identifier the lock, or from Python 3.12 the locks, of the modules that it waits for
_BLOCKING_ON = getattr(_bootstrap, "_blocking_on", {})
_MOST_WAITING = 100

# Some modules register functions that take their lock before a fork and release it after. If one did so while a fork
# waits, only the release would run. The two of the standard library that do are imported here, before any fork
_lock = threading.RLock()


def own_lock() -> AbstractContextManager[bool]:
    """A new lock that is free in a forked child, even if a thread of the parent held it at the fork.

    The thread that holds it may take it again: code under the lock may import a user's module, which calls back.
    """
    lock = threading.RLock()
    # As the standard library's own modules do
    os.register_at_fork(after_in_child=lock._at_fork_reinit)  # type: ignore[attr-defined]
    return lock


def forgets(live: weakref.WeakSet[Any]) -> None:
    """Register objects that own processes or files of this process: a forked child calls `forget` of each in `live`."""
    os.register_at_fork(after_in_child=lambda: [one.forget() for one in list(live)])


class _Forks(threading.local):
    """The forks that this thread is about to make: `held` has for each, the outer one first, whether it has the locks.

    While it has them, no other thread imports, or is inside of `unforked`. A fork is inside another if a signal's
    handler forks.
    """

    def __init__(self) -> None:
        self.held: list[bool] = []


_forks = _Forks()


@contextmanager
def unforked() -> Iterator[None]:
    """A context in which no other thread forks this process: for calls of libraries that take locks."""
    with _lock:
        yield


def _is_importing_elsewhere() -> bool:
    locks = [lock for found in list(_MODULE_LOCKS.values()) if (lock := found()) is not None]
    return any(not _waits_for(threading.get_ident(), lock.owner) for lock in locks)


def _waits_for(own: int, thread: int | None) -> bool:
    """Whether `thread` is the thread `own`, or waits for a module that `own` imports; then a fork must not wait for it.

    Both are identifiers of threads.
    """
    for _ in range(_MOST_WAITING):
        if thread == own:
            return True
        blocked = _BLOCKING_ON.get(thread)
        lock = blocked[-1] if isinstance(blocked, list) and blocked else blocked
        if not lock:
            return False
        thread = lock.owner
    return False


def _hold(until: float) -> bool:
    """Keep other threads from importing and from entering `unforked`, until `_release`.

    Returns:
        False if a thread is doing so now; then nothing is kept.
    """
    if not _lock.acquire(timeout=max(0.0, until - time.monotonic())):
        return False
    # A thread that begins to import a module makes the module's lock under this one
    _imp.acquire_lock()
    _forks.held[-1] = True
    if not _is_importing_elsewhere():
        return True
    # The import that is under way may need either lock: wait without them
    _release()
    return False


def _release() -> None:
    _forks.held[-1] = False
    _imp.release_lock()
    _lock.release()


def _before() -> None:
    _forks.held.append(False)
    until = time.monotonic() + _PATIENCE
    while not _hold(until) and time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)


def _after_in_parent() -> None:
    if _forks.held[-1]:
        _release()
    _forks.held.pop()


def _after_in_child() -> None:
    global _lock
    if _forks.held.pop():
        _imp.release_lock()
    _lock = threading.RLock()


os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)


Owner = TypeVar("Owner")
T = TypeVar("T")


class Kept(Generic[Owner, T]):
    """A decorator for a property that is computed at its first use, and then kept in the instance's `__dict__`.

    Python 3.11's `functools.cached_property` holds a lock: a process that is forked while another thread computes the
    property would wait for that lock for ever.
    """

    def __init__(self, compute: Callable[[Owner], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    def __get__(self, owner: Owner, kind: type[Owner] | None = None) -> T:
        value = self._compute(owner)
        owner.__dict__[self._name] = value
        return value
