"""Logs a warning when the process runs out of file descriptors: uvloop then drops new connections silently."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import resource

_log = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0
# Seconds between two log lines about the same shortage
_QUIET_SECONDS = 60.0
_NEARLY = 0.95


def shortage(folder: str = "/proc/self/fd") -> str | None:
    """A warning for the operator when all file descriptors, or nearly all, are in use; else None."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        used = len(os.listdir(folder))
    except OSError as exc:
        # The check itself needs a descriptor, too
        if exc.errno not in (errno.EMFILE, errno.ENFILE):
            return None
        used = allowed
    if used < _NEARLY * allowed:
        return None
    return (
        f"{used} of {allowed} file descriptors are in use: new connections are dropped. "
        "Raise the limit (ulimit -n), or lower the number of connections"
    )


async def watch() -> None:
    """Log a shortage, at most once a minute, in an endless loop; the server runs it as a task."""
    while True:
        trouble = shortage()
        if trouble is not None:
            _log.error(trouble)
        await asyncio.sleep(_LOOK_SECONDS if trouble is None else _QUIET_SECONDS)
