"""Forks wait for what they must not cut in two.

A forked child has only the thread that forked. A lock that another thread held at that moment is held in the child for
ever: of a module that is being imported (libraries import as they go, asyncio and openai in their first calls), of
Python 3.11's `functools.cached_property`, or of SQLite. Our own locks are made anew in the child. Those of others
cannot be, so a fork waits until no other thread imports, or is inside of `unforked`.
"""

from __future__ import annotations

import _imp
import concurrent.futures.thread  # noqa: F401 - before a fork waits, as logging: see below
import logging  # noqa: F401
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import _bootstrap

# A fork that has waited so many seconds happens all the same: forking must not hang either
_PATIENCE = 60.0
_LOOK_SECONDS = 0.001
# The locks of the modules that are being imported, by name, as weak references: CPython's own, and of no other name
_MODULE_LOCKS = getattr(_bootstrap, "_module_locks", {})

# A module that registers what holds its lock over a fork must not do so while a fork waits: its lock would be released
# that was never taken. The two of the standard library that do are imported here
_lock = threading.RLock()
_forking = threading.local()


@contextmanager
def unforked() -> Iterator[None]:
    """No other thread forks this process during the block: for calls of libraries that lock."""
    with _lock:
        yield


def _is_importing_elsewhere() -> bool:
    locks = [lock for found in list(_MODULE_LOCKS.values()) if (lock := found()) is not None]
    return any(lock.owner != threading.get_ident() for lock in locks)


def _hold_imports(until: float) -> bool:
    """Keep other threads from importing; returns whether they are kept."""
    while True:
        # Whoever begins to import a module makes its lock under this one
        _imp.acquire_lock()
        if not _is_importing_elsewhere():
            return True
        _imp.release_lock()
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK_SECONDS)


def _before() -> None:
    until = time.monotonic() + _PATIENCE
    # First this one: whoever holds it may import
    _forking.alone = _lock.acquire(timeout=_PATIENCE)
    _forking.imports = _hold_imports(until)


def _release_imports() -> None:
    if _forking.imports:
        _imp.release_lock()


def _after_in_parent() -> None:
    _release_imports()
    if _forking.alone:
        _lock.release()


def _after_in_child() -> None:
    global _lock
    _release_imports()
    _lock = threading.RLock()


os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
