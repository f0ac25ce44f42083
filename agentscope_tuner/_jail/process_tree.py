"""What a process and all its descendants use, as the kernel counts it: CPU, memory, and the wait for a core."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass, field

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MOST_ROUNDS = 200
# Less address space than this has few page tables: they take a 512th of it at most
_MUCH_RESERVED = 8 * 2**30


@dataclass(slots=True)
class TreeUsage:
    """Attributes:
    cpu_seconds: of all processes, the ended ones that were waited for included.
    lives: by thread, how many seconds it has run, or was ready to and had no core.
    resident: bytes of memory, where memory that processes share counts for each of them; and large page tables.
    processes: how many there are.
    """

    cpu_seconds: float = 0.0
    lives: dict[int, float] = field(default_factory=dict)
    resident: int = 0
    processes: int = 0

    def waited_since(self, base: TreeUsage) -> float:
        """How long a thread was ready to run and had no core, beyond the time that the others ran: what the tree waited
        for the machine, and not for itself.
        """
        longest = max((seconds - base.lives.get(one, 0.0) for one, seconds in self.lives.items()), default=0.0)
        return max(0.0, longest - (self.cpu_seconds - base.cpu_seconds))


def descendants(pid: int) -> list[int]:
    """`pid` and the processes below it, parents first."""
    found = [pid]
    for one in found:
        # a child belongs to the thread that started it
        for thread in _threads(one):
            found += map(int, _text(f"/proc/{one}/task/{thread}/children").split())
    return found


def end_below(pid: int) -> None:
    """Kill all descendants of `pid`, to which orphans among them come back; what forks meanwhile is killed, too."""
    for _ in range(_MOST_ROUNDS):
        states = {one: _text(f"/proc/{one}/stat").rpartition(")")[2].split() for one in descendants(pid)[1:]}
        living = [one for one, fields in states.items() if fields and fields[0] != "Z"]
        if not living:
            return
        for one in living:
            with contextlib.suppress(OSError):
                os.kill(one, signal.SIGKILL)


def usage(pid: int) -> TreeUsage:
    """What `pid` and its descendants use now."""
    total, found = TreeUsage(), [pid]
    for one in found:
        # behind the program's name, which may hold spaces and brackets
        fields = _text(f"/proc/{one}/stat").rpartition(")")[2].split()
        for thread in [str(one)] if fields and fields[17] == "1" else _threads(one):
            found += map(int, _text(f"/proc/{one}/task/{thread}/children").split())
            ran, waited = (*map(int, _text(f"/proc/{one}/task/{thread}/schedstat").split()[:2]), 0, 0)[:2]
            total.lives[int(thread)] = (ran + waited) / 1e9
        if fields:
            total.processes += 1
            total.cpu_seconds += sum(map(int, fields[11:15])) / _TICKS
            total.resident += int(fields[21]) * _PAGE
            if int(fields[20]) > _MUCH_RESERVED:
                total.resident += _page_tables(one)
    return total


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    # the process has ended meanwhile
    except OSError:
        return []


def _page_tables(pid: int) -> int:
    """Bytes of a process's page tables, which grow with what it reads of empty memory, and are no part of its size."""
    return _counted(f"/proc/{pid}/status", "VmPTE:") * 1024


def shared_once(pid: int) -> int:
    """Bytes of memory of `pid` and its descendants, where shared memory counts once. Dearer than `usage`."""
    return sum(_page_tables(one) + _counted(f"/proc/{one}/smaps_rollup", "Pss:") * 1024 for one in descendants(pid))


def out_of_memory_kills() -> int:
    """How many processes the kernel has killed for want of memory, on this machine since its start."""
    return _counted("/proc/vmstat", "oom_kill ")


def _counted(path: str, name: str) -> int:
    """The number behind a name in one of the kernel's lists; 0 where it has none."""
    lines = _text(path).splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), 0)


def _text(path: str) -> str:
    data = b""
    try:
        # a file object asks the kernel for twice as much
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            while piece := os.read(file, 2**16):
                data += piece
        finally:
            os.close(file)
    # the process has ended meanwhile
    except OSError:
        return ""
    return data.decode(errors="replace")
