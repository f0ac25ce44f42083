"""Stops asking for jails where one after another fails: the machine is broken, and each try costs seconds."""

from __future__ import annotations

import time

from agentscope_tuner.errors import Cause, JudgeError


class SandboxBreaker:
    """Opens after `most` failures in a row; then one try in every `rest_seconds` is let through, until one succeeds."""

    def __init__(self, most: int = 10, rest_seconds: float = 30.0) -> None:
        self._most, self._rest_seconds = most, rest_seconds
        self._failures = 0
        self._next_try = 0.0
        self._last = ""

    def check(self) -> None:
        """Return if a jail may be tried.

        Raises:
            JudgeError: not now.
        """
        if self._failures < self._most:
            return
        left = self._next_try - time.monotonic()
        if left > 0:
            raise JudgeError(
                f"{self._failures} sandboxes failed in a row, the last: {self._last}; the next try is in {left:.0f} s",
                cause=Cause.BREAKER,
            )
        self._next_try = time.monotonic() + self._rest_seconds

    def failed(self, error: Exception) -> JudgeError:
        """Note that a jail failed; returns the error of the verdict that was not reached."""
        self._failures += 1
        self._last = str(error)
        self._next_try = time.monotonic() + self._rest_seconds
        return JudgeError(f"the sandbox failed: {error}", cause=Cause.SANDBOX)

    def worked(self) -> None:
        """Note that a jail worked."""
        self._failures = 0
