"""Jails that wait a moment for their next program, since a new one costs more than most programs do.

A program leaves nothing in its jail: its process tree, its files and its memory end with it, and what it was given and
what it left never enter the jail's first process.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from agentscope_tuner._jail.jail import Jail

# Seconds until an idle jail is ended, and how many may be idle of a kind
IDLE_SECONDS = 0.5
_MOST_IDLE = 4


class WarmJails:
    """Idle jails, by what they can run. Any number of threads may share them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[str, list[tuple[float, Jail]]] = {}
        self._is_watched = False

    def take(self, kind: str, make: Callable[[], Jail]) -> Jail:
        """An idle jail of this kind, else a new one."""
        with self._lock:
            idle = self._idle.get(kind)
            while idle:
                _, jail = idle.pop()
                if jail.alive:
                    return jail
        return make()

    def give(self, kind: str, jail: Jail) -> None:
        """Take a jail back, which no run is under way in."""
        with self._lock:
            idle = self._idle.setdefault(kind, [])
            if jail.alive and len(idle) < _MOST_IDLE:
                idle.append((time.monotonic() + IDLE_SECONDS, jail))
                if not self._is_watched:
                    self._is_watched = True
                    threading.Thread(target=self._watch, name="astuner-idle-jails", daemon=True).start()
                return
        jail.close()

    def _watch(self) -> None:
        """End jails that nobody needs; ends itself with the last of them."""
        while True:
            time.sleep(IDLE_SECONDS / 2)
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


def _start_anew() -> None:
    # a fork has no jails: those are the original process's
    warm_jails.__init__()  # type: ignore[misc]


os.register_at_fork(after_in_child=_start_anew)
