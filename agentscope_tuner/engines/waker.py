"""Wakes a thread that waits in a selector."""

from __future__ import annotations

import contextlib
import os


class Waker:
    """A pipe that a selector waits for, too. `wake` may come from any thread."""

    def __init__(self) -> None:
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)

    def fileno(self) -> int:
        """For the selector."""
        return self._woken

    def wake(self) -> None:
        """Have the selector return."""
        # a full pipe wakes it, too
        with contextlib.suppress(BlockingIOError):
            os.write(self._waker, b".")

    def clear(self) -> None:
        """Drop the wake-ups that have arrived so far."""
        os.read(self._woken, 4096)

    def close(self) -> None:
        """Close both ends."""
        os.close(self._woken)
        os.close(self._waker)
