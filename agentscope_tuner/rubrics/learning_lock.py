"""A lock: one process at a time learns a grader, and the others can name that process."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from agentscope_tuner.errors import ConfigError

_POLL_SECONDS = 0.2


@contextmanager
def locked(path: Path, patience: float = 0.0, progress: Path | None = None) -> Iterator[None]:
    """Hold the lock of the grader at `path`. The system releases it when the process ends in any way.

    Args:
        path: the grader's file.
        patience: how many seconds to wait while the holder makes no progress.
        progress: a file that grows while the holder of the lock works.

    Raises:
        ConfigError: another process holds the lock; the message names it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name("auto_grader.lock").open("a+") as lock:
        waited_since, seen = time.monotonic(), _size(progress)
        while not _taken(lock):
            if _size(progress) != seen:
                waited_since, seen = time.monotonic(), _size(progress)
            if time.monotonic() - waited_since >= patience:
                lock.seek(0)
                holder = lock.read(200).strip() or "a process that left no name"
                raise ConfigError(
                    f"{str(path)!r} is being learned by {holder}: wait for it, or end it (a stopped one holds the "
                    f"lock, too)"
                )
            time.sleep(_POLL_SECONDS)
        lock.seek(0)
        lock.truncate()
        lock.write(f"process {os.getpid()} on {socket.gethostname()} since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC\n")
        lock.flush()
        yield


def _taken(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _size(path: Path | None) -> int:
    try:
        return path.stat().st_size if path is not None else 0
    except OSError:
        return 0
