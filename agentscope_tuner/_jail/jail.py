"""A jail and the runs in it, under limits that are watched from outside the jail."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import functools
import json
import os
import select
import signal
import socket
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from typing import Literal

from agentscope_tuner._jail import bubblewrap, process_tree
from agentscope_tuner._jail.bubblewrap import FIRST_USER, USERS, JailProgram, NoIsolationError
from agentscope_tuner._jail.inside import FILES, write_all
from agentscope_tuner._run.channel import FrameTooLongError
from agentscope_tuner._run.child import ChildProcess
from agentscope_tuner.errors import told

_SEALED = 0x1 | 0x2 | 0x4 | 0x8  # F_SEAL_SEAL, SHRINK, GROW, WRITE
_ADD_SEALS = 1033
# Seconds within which a new jail must be ready; a busy machine takes long
_START_SECONDS = 30.0
# Seconds between measurements of what a run uses: short at first, but most programs end before the first one. One takes
# as long as the start of a program
_FIRST_LOOK, _LAST_LOOK = 0.02, 0.05
# Processes that are not the program's: the jail's first one, and without a jail one between it and the program
_OWN_PROCESSES = 2
# How many times its wall time a run may take if it waits for a core
_MOST_PATIENCE = 10
_INODES = 4096
# A program's own source must fit into its folder, however little it may print
_LEAST_FILE = 2**20
_MIB = 2**20


Kind = Literal["exit", "cpu", "wall", "memory", "processes", "starved", "killed"]


class JailBroken(Exception):
    """The jail itself failed, so nothing is known about the program; the message says how it failed."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What one run may use.

    Attributes:
        seconds: CPU seconds of all its processes.
        wall_seconds: seconds by the clock, for programs that sleep. Those in which a program could have run, and had no
            core, do not count.
        memory_mb: memory of all its processes and its files together, in MiB.
        processes: processes and threads at once.
        output_kb: KiB of stdout, and as many of stderr, of the result and of each file.
        open_files: descriptors of each process.
        address_space: whether each process's address space is limited, too; some reserve far more than they use.
    """

    seconds: float = 4.0
    wall_seconds: float = 8.0
    memory_mb: int = 1024
    processes: int = 64
    output_kb: int = 4096
    open_files: int = 128
    address_space: bool = True

    @property
    def scratch(self) -> int:
        """The size of `/tmp` in bytes, which is part of the memory."""
        return self.memory_mb * _MIB // 16

    def inside(self) -> dict[str, int]:
        """The limits that the kernel enforces inside the jail, by the names that `inside` reads; -1 is no limit."""
        return {
            "cpu": int(self.seconds) + 2,
            # the sum of all processes is watched: this stops one allocation that would be over it at once
            "address_space": 2 * self.memory_mb * _MIB if self.address_space else -1,
            "processes": self.processes,
            "open_files": self.open_files,
            "output": max(self.output_kb * 1024, _LEAST_FILE),
            "stack": 64 * _MIB,
            "scratch": self.scratch,
            "inodes": _INODES,
        }


@dataclass(frozen=True, slots=True)
class JailWork:
    """One program to run.

    Attributes:
        entry: `module:function` of a module that the jail's programs may import. The function gets `payload`, and
            returns the exit code.
        argv: a command to run instead of `entry`.
        payload: the bytes for `entry`.
        stdin: the standard input, a file that cannot be changed.
        files: what to write into the working directory first: contents by name.
        line: a descriptor that the program gets as its descriptor `LINE`.
    """

    entry: str = ""
    argv: Sequence[str] = ()
    payload: bytes = b""
    stdin: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)
    line: int | None = None

    def request(self, limits: RunLimits, user: int) -> bytes:
        """The message about this program to the jail's first process.

        Args:
            limits: what the run may use.
            user: the user id that the program gets.
        """
        header: dict[str, object] = {"limits": limits.inside(), "uid": user, "line": self.line is not None}
        header |= {"argv": list(self.argv)} if self.argv else {"entry": self.entry}
        return json.dumps(header).encode()

    def open_files(self) -> list[int]:
        """New files in memory, one for each name in `inside.FILES`; those that are read can no longer be changed.

        Raises:
            OSError: there is no memory, or no descriptor.
        """
        files: list[int] = []
        try:
            # one by one, so that after an error the files that were made are closed
            for name in FILES:
                files += [os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)]
            folder = {name: base64.b64encode(content).decode() for name, content in self.files.items()}
            held = json.dumps(folder).encode() if folder else b""
            for file, content in zip(files, (self.payload, held, self.stdin), strict=False):
                write_all(file, content)
                os.lseek(file, 0, os.SEEK_SET)
                fcntl.fcntl(file, _ADD_SEALS, _SEALED)
        except OSError:
            _close(files)
            raise
        return files


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended, and what it left: bytes that a hostile program wrote.

    Attributes:
        kind: `exit`: by itself or by a signal; `cpu`, `wall`, `memory`, `processes`: over that limit; `starved`: the
            machine gave it too little CPU within its time; `killed`: by SIGKILL, while the kernel was out of memory.
        status: the exit code, or minus the signal.
        waited_seconds: how long it could have run and had no core.
        peak_memory: the most bytes of memory that were seen.
        cut: whether stdout or stderr is as long as it may be, and so may have been cut.
    """

    kind: Kind
    status: int = 0
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    waited_seconds: float = 0.0
    peak_memory: int = 0
    stdout: bytes = b""
    stderr: bytes = b""
    result: bytes = b""
    cut: bool = False

    def over(self, limits: RunLimits) -> str | None:
        """The limit that the run exceeded, in words: `over 4 s of CPU`; None if it exceeded none."""
        return {
            "cpu": f"over {limits.seconds:g} s of CPU",
            "wall": f"over {limits.wall_seconds:.3g} s, though it hardly computed",
            "memory": f"over {limits.memory_mb} MB of memory",
            "processes": f"over {limits.processes} processes",
        }.get(self.kind)


class _Starter:
    """A thread that starts all jails and never ends: the kernel kills a jail when the thread that started it ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: SimpleQueue[tuple[Future[ChildProcess], Callable[[], ChildProcess]]] | None = None

    def run(self, make: Callable[[], ChildProcess]) -> ChildProcess:
        """Call `make` in the thread, and return the process that it started."""
        with self._lock:
            if (asked := self._asked) is None:
                asked = SimpleQueue()
                threading.Thread(target=_work, args=(asked,), name="astuner-jails", daemon=True).start()
                # Set after the start: without a thread, later callers would wait for ever
                self._asked = asked
        future: Future[ChildProcess] = Future()
        asked.put((future, make))
        return future.result()


def _work(asked: SimpleQueue[tuple[Future[ChildProcess], Callable[[], ChildProcess]]]) -> None:
    """The loop of the thread: start the processes that are asked for."""
    while True:
        future, make = asked.get()
        try:
            future.set_result(make())
        except BaseException as exc:  # noqa: BLE001 - raised in the caller, as in every pool
            future.set_exception(exc)
        del future, make


_starter = _Starter()


class Jail:
    """A jail in which programs run, one after another, each as if alone. After a run over its limits the jail is dead.

    One thread at a time may use it.

    Attributes:
        first: the id of its first process, once it is ready; programs are descendants of it.
        kills: how many processes the kernel had killed for lack of memory when the jail was made.

    Args:
        folders, visible, preload, search: see JailProgram.
        bare: whether to run programs without isolation.

    Raises:
        NoIsolationError: jails cannot be made here.
        JailBroken: this jail could not be started.
    """

    def __init__(
        self,
        *,
        folders: Sequence[str] = (),
        visible: Sequence[str] = (),
        preload: Sequence[str] = (),
        search: Sequence[str] = (),
        bare: bool = False,
    ) -> None:
        namespace = None
        self._folder = tempfile.TemporaryDirectory(prefix="astuner-bare-", ignore_cleanup_errors=True) if bare else None
        if self._folder is None:
            bubblewrap.bwrap_path()
            namespace = bubblewrap.user_namespace()
        else:
            os.chmod(self._folder.name, 0o711)
        own = "" if self._folder is None else self._folder.name
        program = JailProgram("", folders=folders, visible=visible, preload=preload, search=search, path=(), bare=own)
        self._lines, theirs = socket.socketpair()
        inherited = [theirs.detach(), *([] if namespace is None else [os.dup(namespace)])]
        self._said = os.memfd_create("jail-stderr")
        number = int.from_bytes(os.urandom(4)) % USERS
        self._user = bubblewrap.outside_user(number) if bare else FIRST_USER + number
        environment = bubblewrap.ENVIRONMENT if bare else {}
        try:
            self._child = _starter.run(
                lambda: ChildProcess(
                    program, inherited=inherited, environment=environment, stdout=self._said, stderr=self._said
                )
            )
        except OSError as exc:
            os.close(self._said)
            self._lines.close()
            raise JailBroken(f"bubblewrap could not be started: {exc}") from exc
        self.alive = True
        self.first = self._child.pid
        self._is_ready = False
        self.kills = process_tree.out_of_memory_kills()
        self._started = time.monotonic()

    def until_ready(self) -> None:
        """Wait until programs can be run. Several jails can start at once, so their makers do not wait.

        Raises:
            JailBroken: the jail could not be made.
        """
        if self._is_ready:
            return
        until = self._started + _START_SECONDS
        while (left := until - time.monotonic()) > 0:
            _wait_for([self._child], left)
            messages, ended = self._child.receive()
            if messages == [b"ready"]:
                self._is_ready = True
                self.first = process_tree.descendants(self._child.pid)[-1]
                return
            if messages or ended:
                words = self._words()
                self.kill()
                raise JailBroken(f"the jail could not be made: {words}")
        raise self.broken(f"the jail was not ready within {_START_SECONDS:g} s")

    def _words(self) -> str:
        """The end of what the jail wrote to stderr, for messages; else how bubblewrap ended."""
        if said := os.pread(self._said, 100_000, 0).decode(errors="replace").strip():
            return said[-200:]
        # a closed channel comes before the process's end, and its own end says more than our kill
        until = time.monotonic() + 1.0
        while not self._child.is_dead() and time.monotonic() < until:
            time.sleep(0.005)
        return f"bubblewrap {self._child.end()}"

    def begin(self, work: JailWork, limits: RunLimits) -> Run:
        """Start a run without waiting for it; see `Run`. Afterwards the caller may close the line of `work`.

        Raises:
            JailBroken: the jail failed.
        """
        self.until_ready()
        files: list[int] = []
        try:
            files = work.open_files()
            socket.send_fds(self._lines, [b"."], [*files, *([] if work.line is None else [work.line])])
        except OSError as exc:
            _close(files)
            raise self.broken(f"the jail's channel failed: {exc}") from exc
        _close([files.pop(0), files.pop(0), files.pop(0)])
        return Run(self, self._child, work.request(limits, self._user), limits, files)

    def run(self, work: JailWork, limits: RunLimits) -> Ending:
        """Run a program, and wait for its end.

        Raises:
            JailBroken: the jail failed.
        """
        run = self.begin(work, limits)
        wait([run])
        assert run.ending is not None
        return run.ending

    def broken(self, how: str) -> JailBroken:
        """Kill the jail, and return the error for callers to raise.

        Args:
            how: how it failed, in words.
        """
        self.kill()
        return JailBroken(f"{how}: {self._words()}" if os.pread(self._said, 1, 0) else how)

    def kill(self) -> None:
        """End everything in the jail."""
        self.alive = False
        if self._child.is_dead():
            pass
        elif self._folder is not None:
            process_tree.end_below(self._child.pid)
        else:
            # the first process of the jail's tree; when it ends, the kernel ends all others
            for pid in process_tree.descendants(self._child.pid)[1:2]:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        self._child.kill()

    def close(self) -> None:
        """End the jail, and free its files, descriptors and folder."""
        self.kill()
        self._child.end()
        self._child.close()
        self._lines.close()
        if self._folder is not None:
            self._folder.cleanup()
        if self._said >= 0:
            os.close(self._said)
            self._said = -1

    def __enter__(self) -> Jail:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Run:
    """A program under way in a jail. `step` moves it on without waiting; `ending` is set when it has ended.

    Attributes:
        ending: how it ended; None until then.
        waits_for: a run that this one may wait for, whose busy time does not count as wall time of this one.
        busy_seconds: how long it has computed, or could have and had no core, when it was last looked at.
    """

    def __init__(self, jail: Jail, child: ChildProcess, request: bytes, limits: RunLimits, left: list[int]) -> None:
        self.child = child
        self._left = left
        self.ending: Ending | None = None
        self._jail, self._limits = jail, limits
        self._base = process_tree.usage(jail.first)
        self._begun = time.monotonic()
        self._look_after, self._looked = _FIRST_LOOK, self._begun
        self._peak, self._waited = 0, 0.0
        self.waits_for: Run | None = None
        self.busy_seconds = 0.0
        child.send(request)

    def __del__(self) -> None:
        _close(self._left)

    def step(self) -> float:
        """Move on without waiting; return the most seconds that may pass before the next step.

        Raises:
            JailBroken: the jail failed.
        """
        with told("the jail's channel failed", OSError, FrameTooLongError, to=self._jail.broken):
            self.child.flush()
            messages, ended = self.child.receive()
        if messages:
            self._end(messages[0])
            return 0.0
        if ended or self.child.is_dead():
            raise self._jail.broken("the jail was killed from outside")
        now = time.monotonic()
        if now - self._looked >= self._look_after:
            self._look(now)
            self._looked, self._look_after = now, min(2 * self._look_after, _LAST_LOOK)
        return self._look_after

    def end_within(self, seconds: float) -> None:
        """Let the run go on for at most `seconds` by the clock, because the run that it waits for is gone."""
        wall_seconds = time.monotonic() - self._begun - self._waited + seconds
        self._limits = replace(self._limits, wall_seconds=min(self._limits.wall_seconds, wall_seconds))

    def stop(self) -> None:
        """End a run whose outcome nobody needs any more, and its jail."""
        if self.ending is None:
            self._over("exit", process_tree.TreeUsage())

    def _look(self, now: float) -> None:
        """Measure what the run uses, and end it if that is over a limit."""
        used, limits = process_tree.usage(self._jail.first), self._limits
        own, wall = max(0, used.resident - self._base.resident), now - self._begun
        self._peak = max(self._peak, own)
        self._waited = max(self._waited, used.waited_since(self._base))
        cpu = used.cpu_seconds - self._base.cpu_seconds
        self.busy_seconds = cpu + self._waited
        room = limits.memory_mb * _MIB - limits.scratch
        if own > room and process_tree.shared_once(self._jail.first) - self._base.resident > room:
            self._over("memory", used)
        elif used.processes > limits.processes + _OWN_PROCESSES:
            self._over("processes", used)
        elif cpu > limits.seconds:
            self._over("cpu", used)
        elif wall - self._waited - (self.waits_for.busy_seconds if self.waits_for else 0) > limits.wall_seconds:
            self._over("wall", used)
        elif wall > _MOST_PATIENCE * limits.wall_seconds:
            self._over("starved", used)

    def _over(self, kind: Kind, used: process_tree.TreeUsage) -> None:
        """Kill the jail, and set `ending` to this kind."""
        self._jail.kill()
        cpu = max(0.0, used.cpu_seconds - self._base.cpu_seconds)
        self.ending = Ending(kind, -9, cpu, time.monotonic() - self._begun, self._waited, self._peak)

    def _end(self, message: bytes) -> None:
        """Set `ending` by the message of the jail's first process.

        Raises:
            JailBroken: the program could not be started.
        """
        outcome = json.loads(message)
        if "broken" in outcome:
            raise self._jail.broken(f"the program could not be started: {outcome['broken']}")
        most = self._limits.output_kb * 1024
        stdout, stderr, result = (os.pread(file, most, 0) for file in self._left)
        kind: Kind = "exit"
        if outcome["cpu"] > self._limits.seconds:
            kind = "cpu"
        elif outcome["status"] == -signal.SIGKILL and process_tree.out_of_memory_kills() > self._jail.kills:
            kind = "killed"
        self.ending = Ending(
            kind,
            outcome["status"],
            outcome["cpu"],
            time.monotonic() - self._begun,
            self._waited,
            self._peak,
            stdout,
            stderr,
            result,
            cut=most in {len(stdout), len(stderr)},
        )


def wait(runs: Sequence[Run], *, any_of: bool = False, at_most: float = float("inf")) -> None:
    """Move runs on until all have ended, or `at_most` seconds have passed.

    Args:
        runs: the runs.
        any_of: whether to return as soon as one run has ended.
        at_most: the most seconds to wait.

    Raises:
        JailBroken: a jail failed.
    """
    until = time.monotonic() + at_most
    while True:
        seconds = min((run.step() for run in runs if run.ending is None), default=0.0)
        under_way = [run.child for run in runs if run.ending is None]
        left = until - time.monotonic()
        if not under_way or left <= 0 or (any_of and len(under_way) < len(runs)):
            return
        _wait_for(under_way, min(seconds, left))


def _wait_for(children: Sequence[ChildProcess], seconds: float) -> None:
    """Wait until a process has sent something or can be sent the rest of its message, or `seconds` have passed."""
    poll = select.poll()
    for child in children:
        poll.register(child.channel, select.POLLIN | (select.POLLOUT if child.has_unsent else 0))
    poll.poll(max(1.0, seconds * 1000))


def _close(files: list[int]) -> None:
    """Close all of these descriptors, and empty the list."""
    while files:
        os.close(files.pop())


class _Slots:
    """As many slots as this process may use cores; the thread that has waited longest gets the next one.

    A semaphore may give it to a thread that has just come, and others then wait for minutes.
    """

    def __init__(self) -> None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self._free = cores or 1
        self._lock = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()

    def __enter__(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        try:
            turn.acquire()
        except BaseException:  # an interrupted wait must not keep the place that it may have been given
            with self._lock:
                is_waiting = turn in self._waiting
                if is_waiting:
                    self._waiting.remove(turn)
            if not is_waiting:
                self.__exit__()
            raise

    def __exit__(self, *exc: object) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1


_slots = _Slots()


def slot() -> _Slots:
    """The slots of this process: hold one, as a `with` block, while programs run.

    Otherwise they take each other's CPU time.
    """
    return _slots


def _start_anew() -> None:
    """Replace the slots and the starting thread after a fork."""
    # a fork has no thread that starts jails, and none that releases its slot
    global _slots, _starter
    _slots = _Slots()
    _starter = _Starter()


os.register_at_fork(after_in_child=_start_anew)


def try_out(bare: bool) -> str:
    """The reason why no program can be run on this machine; empty if one can.

    Args:
        bare: whether to run it without a jail.
    """
    try:
        with Jail(bare=bare) as jail:
            ending = jail.run(JailWork(argv=("/usr/bin/env",)), RunLimits())
        return "" if ending.status == 0 and ending.stdout else f"a first program ended with {ending}"
    except (JailBroken, NoIsolationError, ValueError, OSError) as exc:
        return str(exc)


_tried = functools.cache(try_out)


def check_isolation(*, bare: bool = False) -> None:
    """Return if programs can be run on this machine: in jails that hold, or without jails if `bare` is set.

    Raises:
        NoIsolationError: they cannot; the message says what to do.
    """
    if why := _tried(bare):
        # The reason may be gone when this process asks again
        _tried.cache_clear()
        raise NoIsolationError(
            f"no program can be run here, even without isolation: {why}; use a remote sandbox"
            if bare
            else f"no jail can be made here: {why}. If bubblewrap is there (your own, or the extra `code`), allow "
            "user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns="
            "0; in a container, a seccomp profile that allows them); or use a remote sandbox"
        )
