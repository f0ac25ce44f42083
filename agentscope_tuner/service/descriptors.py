"""Says so when the process runs out of file descriptors: uvloop then drops new connections without a word."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import resource

_log = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0
# how often the same trouble is worth a line
_QUIET_SECONDS = 60.0
_NEARLY = 0.95


def shortage(folder: str = "/proc/self/fd") -> str | None:
    """What to tell the operator when all file descriptors are in use, or nearly all; else None."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        used = len(os.listdir(folder))
    except OSError as exc:
        # to look takes a descriptor, too
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
    """Log a shortage, at most once a minute, for ever: a task of the server's."""
    while True:
        trouble = shortage()
        if trouble is not None:
            _log.error(trouble)
        await asyncio.sleep(_LOOK_SECONDS if trouble is None else _QUIET_SECONDS)
