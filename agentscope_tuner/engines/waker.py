"""Wakes a thread that waits on a selector."""

from __future__ import annotations

import contextlib
import os


class Waker:
    """A pipe that the selector also watches. Any thread may call `wake`."""

    def __init__(self) -> None:
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)

    def fileno(self) -> int:
        """The pipe's descriptor, for the selector."""
        return self._woken

    def wake(self) -> None:
        """Have the selector return."""
        # A full pipe wakes the selector, too
        with contextlib.suppress(BlockingIOError):
            os.write(self._waker, b".")

    def clear(self) -> None:
        """Drop the wake-ups that have arrived so far."""
        os.read(self._woken, 4096)

    def close(self) -> None:
        """Close both ends."""
        os.close(self._woken)
        os.close(self._waker)
