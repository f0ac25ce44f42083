"""Stops asking for jails where one after another fails: the machine is broken, and each try costs seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from agentscope_tuner._jail.bubblewrap import NoIsolationError
from agentscope_tuner._jail.jail import JailBroken, check_isolation
from agentscope_tuner.errors import Cause, ConfigError, JudgeError


class SandboxBreaker:
    """Opens after `most` failures in a row; then one try in every `rest_seconds` is let through, until one succeeds."""

    def __init__(self, most: int = 10, rest_seconds: float = 30.0) -> None:
        self._most, self._rest_seconds = most, rest_seconds
        self._failures = 0
        self._next_try = 0.0
        self._last = ""

    @contextmanager
    def trying(self) -> Iterator[None]:
        """What is run in it needs jails.

        Raises:
            JudgeError: a jail failed, or may not be tried now.
        """
        left = self._next_try - time.monotonic()
        if self._failures >= self._most and left > 0:
            raise JudgeError(
                f"{self._failures} sandboxes failed in a row, the last: {self._last}; the next try is in {left:.0f} s",
                cause=Cause.BREAKER,
            )
        self._next_try = time.monotonic() + self._rest_seconds
        try:
            yield
        except JailBroken as exc:
            self._failures += 1
            self._last = str(exc)
            self._next_try = time.monotonic() + self._rest_seconds
            raise JudgeError(f"the sandbox failed: {exc}", cause=Cause.SANDBOX) from exc
        self._failures = 0


def require_isolation(where: str, *, bare: bool = False) -> None:
    """Return if jails can be made on this machine.

    Args:
        where: the key of the settings that need them.
        bare: whether programs may run without jails.

    Raises:
        ConfigError: they cannot.
    """
    try:
        check_isolation(bare=bare)
    except NoIsolationError as exc:
        raise ConfigError(f"{where}: {exc}") from exc
