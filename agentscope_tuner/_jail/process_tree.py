"""The CPU time, memory and wait for a core of a process and all its descendants, as the kernel counts them."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass, field

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MOST_ROUNDS = 200
# A process with less address space has few page tables: they take a 512th of it at most
_MUCH_RESERVED = 8 * 2**30


@dataclass(slots=True)
class TreeUsage:
    """What a process and all its descendants have used.

    Attributes:
        cpu_seconds: CPU time of all processes, with ended ones that were waited for.
        lives: for each thread, how many seconds it has run, or was ready to run and had no core.
        resident: bytes of memory; memory that processes share counts for each of them. Large page tables are included.
        processes: how many processes there are.
    """

    cpu_seconds: float = 0.0
    lives: dict[int, float] = field(default_factory=dict)
    resident: int = 0
    processes: int = 0

    def waited_since(self, base: TreeUsage) -> float:
        """How many seconds the processes waited for a core of the machine, and not for each other, since `base`.

        This is the longest time that a thread was ready to run, less the CPU time of all threads together.
        """
        longest = max((seconds - base.lives.get(one, 0.0) for one, seconds in self.lives.items()), default=0.0)
        return max(0.0, longest - (self.cpu_seconds - base.cpu_seconds))


def descendants(pid: int) -> list[int]:
    """`pid` and all processes below it, parents before their children."""
    found = [pid]
    for one in found:
        # a child belongs to the thread that started it
        for thread in _threads(one):
            found += map(int, _text(f"/proc/{one}/task/{thread}/children").split())
    return found


def end_below(pid: int) -> None:
    """Kill all descendants of `pid`, also those that they fork meanwhile.

    Orphans among them must become children of `pid` again.
    """
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
        # behind the program's name, which may contain spaces and brackets
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
    """The ids of a process's threads; empty if it has ended."""
    try:
        return os.listdir(f"/proc/{pid}/task")
    # the process has ended meanwhile
    except OSError:
        return []


def _page_tables(pid: int) -> int:
    """Bytes of a process's page tables. They grow as it reads empty memory, and its size does not include them."""
    return _counted(f"/proc/{pid}/status", "VmPTE:") * 1024


def shared_once(pid: int) -> int:
    """Bytes of memory of `pid` and its descendants, in which shared memory counts once. Slower than `usage`."""
    return sum(_page_tables(one) + _counted(f"/proc/{one}/smaps_rollup", "Pss:") * 1024 for one in descendants(pid))


def out_of_memory_kills() -> int:
    """How many processes the kernel of this machine has killed since its start because memory ran out."""
    return _counted("/proc/vmstat", "oom_kill ")


def _counted(path: str, name: str) -> int:
    """The number behind a name in a kernel file, such as `oom_kill ` in `/proc/vmstat`; 0 if the name is missing."""
    lines = _text(path).splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), 0)


def _text(path: str) -> str:
    """The content of a kernel file; empty if its process has ended."""
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
