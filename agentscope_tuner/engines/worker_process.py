"""The engine's end of one worker process.

A plain subprocess, for the sandbox's reasons (`verify.sandbox`): a trainer's daemonic workers may have no
multiprocessing children, user scripts lack a main guard, and forking a process with threads is unsafe. Not a
`ProcessPoolExecutor` either: one death breaks all of it, and does not tell whose row was in hand. The sandbox's own
workers answer one question under a CPU deadline and know nothing of judges; these load foreign code and take batches.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from agentscope_tuner.engines import frames, journal
from agentscope_tuner.engines.units import Unit

_START = (
    "import json, sys; settings = json.loads(sys.argv[1]); sys.path[:] = settings['path'];"
    "from agentscope_tuner.engines.worker import main; main(*settings['descriptors'])"
)
_PIECE = 2**20


@dataclass(slots=True, eq=False)
class Task:
    """A unit on its way through worker processes; `deaths` counts those that died with it in hand."""

    unit: Unit[Any, Any]
    deaths: int = 0


@dataclass(slots=True)
class Batch:
    """What was sent at once."""

    number: int
    tasks: list[Task]


@dataclass(slots=True)
class Salvage:
    """What a dead worker leaves: tasks with their results, the task it had in hand, and tasks it never began."""

    finished: list[tuple[Task, bytes]] = field(default_factory=list)
    in_hand: Task | None = None
    untouched: list[Task] = field(default_factory=list)


class WorkerProcess:
    """One worker; used by one thread. It has a process group of its own: Ctrl-C is the engine's to handle.

    Attributes:
        ready: whether it has loaded its judge.
        batches: what was sent and is not answered, the oldest first.
        since: when it was given or began the oldest of them, by `time.monotonic`.
        channel: the socket, for a selector.
    """

    def __init__(self, recipe: tuple[object, ...]) -> None:
        self.ready = False
        self.since = 0.0
        self.batches: deque[Batch] = deque()
        self._sent = 0
        self._outgoing = bytearray()
        self._decoder = frames.Decoder()
        self.channel, theirs = socket.socketpair()
        self._journal = journal.create()
        their_lifeline, self._lifeline = os.pipe()
        descriptors = (theirs.fileno(), self._journal, their_lifeline)
        settings = {"path": [entry for entry in sys.path if isinstance(entry, str)], "descriptors": descriptors}
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _START, json.dumps(settings)],
                stdin=subprocess.DEVNULL,
                pass_fds=descriptors,
                start_new_session=True,
            )
        except OSError:
            self.forget()
            raise
        finally:
            theirs.close()
            os.close(their_lifeline)
        self.channel.setblocking(False)
        self._outgoing += frames.encode(recipe)

    def send(self, payloads: list[bytes], tasks: list[Task]) -> None:
        """Give it a batch, which `flush` sends on."""
        self._sent += 1
        if not self.batches:
            self.since = time.monotonic()
        self.batches.append(Batch(self._sent, tasks))
        self._outgoing += frames.encode((self._sent, payloads))

    def flush(self) -> bool:
        """Write what the socket takes; whether there is more.

        Raises:
            OSError: the worker is gone.
        """
        while self._outgoing:
            try:
                written = self.channel.send(self._outgoing)
            except BlockingIOError:
                return True
            del self._outgoing[:written]
        return False

    def answered(self, number: int) -> Batch:
        """The oldest batch, to which an answer has come."""
        batch = self.batches.popleft()
        assert batch.number == number, "batches are worked off in order"
        self.since = time.monotonic()
        return batch

    def receive(self) -> tuple[list[Any], bool]:
        """The messages that have come, and whether no more will: it has closed its end, or has died."""
        messages: list[Any] = []
        while True:
            try:
                piece = self.channel.recv(_PIECE)
            except BlockingIOError:
                return messages, False
            except OSError:
                return messages, True
            if not piece:
                return messages, True
            messages += self._decoder.feed(piece)

    def salvage(self) -> Salvage:
        """Sort out what a dead worker had been given."""
        found = Salvage()
        if self.batches:
            # batches are worked off in order: only the oldest can have been begun
            oldest = self.batches.popleft()
            noted = journal.read(self._journal, oldest.number)
            found.finished = list(zip(oldest.tasks, noted or (), strict=False))
            rest = oldest.tasks[len(found.finished) :]
            if rest and noted is not None:
                found.in_hand = rest.pop(0)
            found.untouched = rest + [task for batch in self.batches for task in batch.tasks]
            self.batches.clear()
        return found

    def is_dead(self) -> bool:
        """Whether the process has ended. It is not collected: its number, and its group's, stay its own."""
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            # the program collects all children itself
            return True

    def leave(self) -> None:
        """Ask it to end: it finishes the batch in hand first."""
        self.channel.close()

    def end(self, patience: float = 0.0) -> str:
        """Kill what has not ended by itself in `patience` seconds, and all that it started; how it ended."""
        until = time.monotonic() + patience
        while not self.is_dead() and time.monotonic() < until:
            time.sleep(0.005)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        code = self.process.wait()
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def forget(self) -> None:
        """Let go of its descriptors: in a forked child all there is to do, as the worker is the parent's."""
        self.channel.close()
        for descriptor in (self._journal, self._lifeline):
            if descriptor >= 0:
                os.close(descriptor)
        self._journal = self._lifeline = -1
