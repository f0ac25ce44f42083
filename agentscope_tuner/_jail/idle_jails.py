"""Jails that are kept for a moment for their next program, since a new one takes longer than most programs run.

A program leaves nothing in its jail: its process tree, its files and its memory end with it, and its input and its
results never enter the jail's first process. If one jail after another fails, the machine is broken, and each attempt
takes seconds: then `SandboxBreaker` stops the attempts.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from agentscope_tuner._jail.bubblewrap import NoIsolationError
from agentscope_tuner._jail.jail import Ending, Jail, JailBroken, JailWork, RunLimits, check_isolation, try_out
from agentscope_tuner.errors import Cause, JudgeError, told

# Seconds until an idle jail is ended, and how many jails of one kind may be idle
IDLE_SECONDS = 0.5
_MOST_IDLE = max(4, os.cpu_count() or 1)


class WarmJails:
    """Keeps idle jails for their next program, sorted by what they can run. Any number of threads may share them.

    Make one for the life of the process.

    Args:
        idle_seconds: how long a jail may be idle before it is ended.
    """

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._seconds = idle_seconds
        self._start_anew()
        # a fork has no jails: those are the original process's
        os.register_at_fork(after_in_child=self._start_anew)

    def _start_anew(self) -> None:
        """Forget all jails, as a fork must: they are the original process's."""
        self._lock = threading.Lock()
        self._idle: dict[str, list[tuple[float, Jail]]] = {}
        self._is_watched = False

    def take(self, kind: str, make: Callable[[], Jail]) -> Jail:
        """An idle jail of this kind, else a new one.

        Args:
            kind: a name for what the jail can run.
            make: makes a new one.
        """
        with self._lock:
            idle = self._idle.get(kind)
            while idle:
                _, jail = idle.pop()
                if jail.alive:
                    return jail
        return make()

    def give(self, kind: str, jail: Jail) -> None:
        """Keep a jail, in which no program runs, for the next `take`; or close it, if enough are idle."""
        with self._lock:
            idle = self._idle.setdefault(kind, [])
            # If the system starts no more threads, nobody would end an idle jail: then none is kept
            if jail.alive and len(idle) < _MOST_IDLE and self._watched():
                idle.append((time.monotonic() + self._seconds, jail))
                return
        jail.close()

    def _watched(self) -> bool:
        """Start the thread that ends idle jails, if it does not run; return whether it runs now."""
        if not self._is_watched:
            with suppress(RuntimeError):
                threading.Thread(target=self._watch, name="astuner-idle-jails", daemon=True).start()
                self._is_watched = True
        return self._is_watched

    def run(self, kind: str, make: Callable[[], Jail], work: JailWork, limits: RunLimits) -> Ending:
        """Run a program; once more, in a new jail, if the jail failed or the program may have been ended from outside.

        Args:
            kind, make: see `take`.
            work: the program.
            limits: what it may use.

        Raises:
            JailBroken: the jail failed twice, or the machine gave the program too little CPU time or memory.
        """
        for last in (False, True):
            try:
                jail = self.take(kind, make)
                try:
                    ending = jail.run(work, limits)
                except BaseException:  # a run may be under way in it, so nobody may have it again
                    jail.close()
                    raise
            except JailBroken:
                if last:
                    raise
                continue
            self.give(kind, jail)
            if ending.kind not in ("starved", "killed") and (last or ending.kind != "exit" or ending.status != -9):
                return ending
        raise JailBroken("the machine gave a program too little CPU time or memory, twice")

    def _watch(self) -> None:
        """End jails that have been idle too long; return when none is left."""
        while True:
            time.sleep(self._seconds / 2)
            now = time.monotonic()
            with self._lock:
                old = [jail for idle in self._idle.values() for until, jail in idle if until <= now]
                self._idle = {
                    kind: kept for kind, idle in self._idle.items() if (kept := [one for one in idle if one[0] > now])
                }
                self._is_watched = bool(self._idle)
                is_last = not self._idle
            for jail in old:
                jail.close()
            if is_last:
                return


#: Of this process.
warm_jails = WarmJails()


class SandboxBreaker:
    """A circuit breaker: after `most` sandbox failures in a row it opens, and refuses runs at once.

    While it is open, one attempt per `rest_seconds` is let through; a success closes it.

    Args:
        most: how many failures in a row open it.
        rest_seconds: the seconds between two attempts while it is open.
        why_broken: tries a harmless program of our own, and returns why it fails; empty if it runs. If it runs, the
            judged programs may have caused the failures, and the breaker stays closed.
    """

    def __init__(
        self, most: int = 10, rest_seconds: float = 30.0, why_broken: Callable[[], str] = lambda: try_out(bare=False)
    ) -> None:
        self._most, self._rest_seconds, self._why_broken = most, rest_seconds, why_broken
        self._failures = 0
        self._next_try = 0.0
        self._last = ""

    @contextmanager
    def trying(self) -> Iterator[None]:
        """A context for code that runs programs in jails, which counts its failures.

        Raises:
            JudgeError: a jail failed, or none may be tried now.
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
            if self._failures >= self._most and not self._why_broken():
                self._failures = 0
            self._next_try = time.monotonic() + self._rest_seconds
            raise JudgeError(f"the sandbox failed: {exc}", cause=Cause.SANDBOX) from exc
        self._failures = 0


def require_isolation(where: str, *, bare: bool = False) -> None:
    """Return if programs can be run on this machine.

    Args:
        where: the key of the settings that need jails, for the message.
        bare: whether programs may run without jails.

    Raises:
        ConfigError: they cannot be run.
    """
    with told(where, NoIsolationError):
        check_isolation(bare=bare)
