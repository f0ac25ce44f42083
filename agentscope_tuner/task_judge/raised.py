"""Exceptions from a judge's own code: their place, their frames for the log, and whether they are the caller's."""

from __future__ import annotations

import asyncio
import os
import sysconfig
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

_OURS = str(Path(__file__).parents[1])
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def place_of(exc: BaseException) -> str:
    """`file:line in function` of the deepest frame that is the judge's own code, else of the deepest one; or nothing.

    A file below the working directory is named from there.
    """
    deepest, here = "", _working_directory()
    for raised in _chain(exc):
        # Not extract_tb, which reads the source files: a judge may raise on every row
        for frame, line in reversed(list(traceback.walk_tb(raised.__traceback__))):
            file, function = frame.f_code.co_filename, frame.f_code.co_name
            place = f"{file.removeprefix(here)}:{line} in {function}"
            if not file.startswith((_OURS, *_LIBRARIES)):
                return place
            deepest = deepest or place
    return deepest


class FramesOf:
    """The frames of an exception and its causes, made into text when a log shows them."""

    def __init__(self, exc: BaseException) -> None:
        self._tracebacks: list[TracebackType | None] = [raised.__traceback__ for raised in _chain(exc)]

    def __str__(self) -> str:
        return "".join(line for frames in self._tracebacks for line in traceback.format_tb(frames))


def is_the_callers(exc: BaseException) -> bool:
    """Whether the exception belongs to the judge's caller; one from the judge would end the caller, or the loop's
    thread.
    """
    if isinstance(exc, KeyboardInterrupt):
        # Ctrl-C is raised in no other thread
        return threading.current_thread() is threading.main_thread()
    if isinstance(exc, asyncio.CancelledError):
        try:
            current = asyncio.current_task()
        except RuntimeError:
            return False
        return current is None or current.cancelling() > 0
    return True


def _chain(exc: BaseException) -> Iterator[BaseException]:
    """The exception and its causes: a thread's boundary wraps some exceptions."""
    seen: set[int] = set()
    found: BaseException | None = exc
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__


def _working_directory() -> str:
    try:
        return os.getcwd() + os.sep
    except OSError:
        # The working directory was removed, which must not hide the error
        return ""
