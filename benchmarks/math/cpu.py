"""CPU time of processes: what a busy machine does not change."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterable

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """The CPU time that a process has used; 0 once it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def with_children(pids: Iterable[int]) -> float:
    """The CPU time of this process, of the children that have ended, and of those that still run."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime + sum(map(cpu_seconds, pids))
