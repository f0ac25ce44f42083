"""`ChildProcess`: the parent's end of a child process that may be killed at any moment.

Code that may never end, and code that this package did not write, runs in such a child. It is a plain subprocess and
not a multiprocessing one: a trainer's daemonic workers may not start those, user scripts lack a main guard, and forking
a process that has threads or uses CUDA is unsafe. All children are workers of a `pool`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentscope_tuner._run import channel, forks

_START = (
    "import json, sys; settings = json.loads(sys.argv[1]); sys.path[:] = settings['path'];"
    "from agentscope_tuner._run.channel import main; main(settings)"
)


@dataclass(frozen=True, slots=True)
class ChildProgram:
    """The program of a child: `module.main(channel, *arguments)`.

    Attributes:
        module: the full name of a module whose `main` takes a `ParentChannel` and `arguments`.
        arguments: values that JSON can carry.
        path: the child's `sys.path`; `agentscope_tuner` must be importable from it. Entries that are not strings are
            left out.
        isolated: for this package's own code only. The child starts faster, without `site` and without Python's
            environment variables, and stays in this session, whose processes the scheduler counts together.
    """

    module: str
    arguments: Sequence[object] = ()
    path: Sequence[str] = field(default_factory=lambda: sys.path)
    isolated: bool = False

    def command(self, descriptors: Sequence[int]) -> list[str]:
        """The command line that starts the child, which inherits `descriptors`.

        The first is the socket for messages, the second the pipe by whose end the child notices that the parent has
        ended (`channel.end_with_parent`).
        """
        path = [entry for entry in self.path if isinstance(entry, str)]
        settings = {"module": self.module, "arguments": self.arguments, "path": path, "descriptors": descriptors}
        flags = ["-I", "-S"] if self.isolated else []
        return [sys.executable, *flags, "-c", _START, json.dumps(settings)]


class ChildProcess:
    """A Python process that runs `program`, exchanges messages with this process, and ends with it.

    The child leads a process group of its own: every process that it starts is killed with it, and Ctrl-C reaches only
    the parent. No method waits, except `end`, for the kernel. One thread at a time uses a child; any other thread may
    call `kill`, `end` and `close`.

    Args:
        program: what it runs.
        inherited: file descriptors that the child inherits under the same numbers. `close` closes them.
        environment: the child's environment variables; None for this process's.
        stdout, stderr: as `subprocess.Popen` takes them. There is no standard input.
        most_bytes: the longest message to accept from the child; None accepts any length.

    Attributes:
        channel: the socket, for a selector or an event loop.
        pid: the child's process id, and its group's.

    Raises:
        OSError: no process could be started.
    """

    def __init__(
        self,
        program: ChildProgram,
        *,
        inherited: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        most_bytes: int | None = None,
    ) -> None:
        self._ending = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._outgoing = bytearray()
        self._decoder = channel.Decoder(most_bytes)
        self._held = contextlib.ExitStack()
        for descriptor in inherited:
            self._held.callback(os.close, descriptor)
        # Before the child starts: if this process forks meanwhile, the fork must not keep the lifeline open
        _LIVE.add(self)
        with contextlib.ExitStack() as undo:
            undo.callback(self.close)
            self._process = self._started(program, inherited, environment, stdout, stderr)
            undo.pop_all()
        self.pid = self._process.pid

    # A fork by another thread meanwhile would keep open what is not `_held` yet. It would also keep open, for as long
    # as it lives, the pipe by whose end Popen notices that the program runs, and Popen would wait
    @forks.unforked()
    def _started(
        self,
        program: ChildProgram,
        inherited: Sequence[int],
        environment: Mapping[str, str] | None,
        stdout: int | None,
        stderr: int | None,
    ) -> subprocess.Popen[bytes]:
        self.channel, theirs = socket.socketpair()
        self._held.callback(self.channel.close)
        self.channel.setblocking(False)
        their_lifeline, lifeline = os.pipe()
        self._held.callback(os.close, lifeline)
        with theirs, open(their_lifeline, "rb"):
            handed = (theirs.fileno(), their_lifeline, *inherited)
            return subprocess.Popen(
                program.command(handed),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=environment,
                pass_fds=handed,
                start_new_session=not program.isolated,
                process_group=0 if program.isolated else None,
            )

    @property
    def has_unsent(self) -> bool:
        """Whether a message, or a part of one, still waits for `flush`."""
        return bool(self._outgoing)

    def send(self, message: bytes) -> None:
        """Queue a message for the child; `flush` writes it."""
        self._outgoing += channel.encode(message)

    def flush(self) -> bool:
        """Write queued messages, as much as the socket takes without waiting; return whether something is left.

        Raises:
            OSError: the child has closed its end, or is dead.
        """
        while self._outgoing:
            try:
                written = self.channel.send(self._outgoing)
            except BlockingIOError:
                return True
            del self._outgoing[:written]
        return False

    def receive(self) -> tuple[list[bytes], bool]:
        """Read from the child without waiting.

        One call reads one piece, so that a child which writes without end delays no other child.

        Returns:
            The messages that are complete now, and whether the child has closed the channel, so that no more will come.

        Raises:
            FrameTooLongError: the child announces a message over `most_bytes`.
        """
        try:
            piece = self.channel.recv(channel.PIECE)
        except BlockingIOError:
            return [], False
        except OSError:
            return [], True
        return self._decoder.feed(piece), not piece

    def cpu_seconds(self) -> float:
        """The seconds of CPU time that the child process has used. Linux only.

        Raises:
            OSError: there is no such process any more.
        """
        # Linux makes a process's CPU clock from its pid: clock_getcpuclockid(3); Python offers no wrapper
        return time.clock_gettime(((~self.pid) << 3) | 2)

    def is_dead(self) -> bool:
        """Whether the child has ended. It is not reaped here, so no other process gets its process id."""
        if not hasattr(os, "waitid"):
            assert self._process is not None
            return self._process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            # `end` has reaped it, or the program reaps all its children itself
            return True

    def kill(self) -> None:
        """Kill the child and all processes of its group. Messages that it has sent can still be read.

        A caller that waits for its next message is woken.
        """
        assert self._process is not None
        with self._ending:
            # Once it is reaped, its process id may belong to another process
            if self._process.returncode is None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, signal.SIGKILL)
            # a process that left the group may hold the other end open
            with contextlib.suppress(OSError):
                self.channel.shutdown(socket.SHUT_RDWR)

    def end(self) -> str:
        """Kill the child if it still runs, and wait for its end; return how it ended: `was killed by SIGKILL`."""
        assert self._process is not None
        self.kill()
        code = self._process.wait()
        if code >= 0:
            return f"ended with exit code {code}"
        # most real-time signals have no name
        names = {number.value: number.name for number in signal.Signals}
        return f"was killed by {names.get(-code, f'signal {-code}')}"

    def close(self) -> None:
        """Close this end of the channel and everything else that is held open for the child.

        The kernel then kills a child that still runs, as if the parent had ended.
        """
        with self._ending:
            self._held.close()
            # last: so a fork that comes meanwhile also closes its copies
            _LIVE.discard(self)

    def forget(self) -> None:
        """In a forked copy of this process: close this end, and leave the child to the original process."""
        self._ending = threading.Lock()
        if self._process is not None:
            self._process.returncode = 0
        self.close()


_LIVE: weakref.WeakSet[ChildProcess] = weakref.WeakSet()


# A fork that held the lifelines open would keep the children alive after the parent's end
forks.forgets(_LIVE)
