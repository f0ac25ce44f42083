"""The engine's end of one worker process.

A `ProcessPoolExecutor` would not do: the death of one worker breaks the whole pool, and nothing tells which row this
worker was judging.
"""

from __future__ import annotations

import math
import pickle
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agentscope_tuner._child import journal, slots
from agentscope_tuner._child.process import ChildProcess, ChildProgram
from agentscope_tuner.engines.pace import SLICE_SECONDS
from agentscope_tuner.engines.units import Unit


@dataclass(slots=True, eq=False)
class Assignment:
    """A unit on its way through worker processes; `deaths` counts the workers that died while they judged it."""

    unit: Unit[Any, Any]
    deaths: int = 0


@dataclass(slots=True)
class Batch:
    """Assignments that were sent in one message."""

    number: int
    assignments: list[Assignment]


@dataclass(slots=True)
class Recovered:
    """A dead worker's assignments: those begun, with the notes of their finished steps, and those not begun."""

    begun: list[tuple[Assignment, list[bytes]]] = field(default_factory=list)
    not_begun: list[Assignment] = field(default_factory=list)


class BatchProcess:
    """One worker; used by one thread.

    Attributes:
        ready: whether it has loaded its judge.
        batches: batches that were sent and are not answered, the oldest first.
        since: when the worker was given the oldest batch, or began it, by `time.monotonic`.

    Raises:
        OSError: no process could be started.
    """

    def __init__(self, recipe: tuple[object, ...]) -> None:
        self.ready = False
        self.since = 0.0
        self.batches: deque[Batch] = deque()
        self._sent = 0
        self._journal = journal.create()
        given, answers = slots.create(), slots.create()
        # two batches at most are under way, so the slots of a batch are free when it is sent and when it is answered
        self._given, self._answers = slots.Slots(given), slots.Slots(answers)
        self._child = ChildProcess(
            ChildProgram("agentscope_tuner.engines.batch_worker", [self._journal, given, answers]),
            inherited=[self._journal, *given, *answers],
        )
        self._child.send(pickle.dumps(recipe, pickle.HIGHEST_PROTOCOL))

    @property
    def channel(self) -> socket.socket:
        """The socket, for a selector."""
        return self._child.channel

    def send(self, payloads: list[bytes], assignments: list[Assignment]) -> None:
        """Give the worker a batch, which `flush` sends; it may have one other batch at most."""
        assert len(self.batches) < slots.COUNT
        self._sent += 1
        if not self.batches:
            self.since = time.monotonic()
        self.batches.append(Batch(self._sent, assignments))
        self._given.put(self._sent, b"".join(payloads))
        self._child.send(pickle.dumps((self._sent, list(map(len, payloads))), pickle.HIGHEST_PROTOCOL))

    def flush(self) -> bool:
        """Write as much as the socket takes; return whether something is left.

        Raises:
            OSError: the worker is gone.
        """
        return self._child.flush()

    def answered(self, number: int) -> Batch:
        """Remove and return the oldest batch, when its answer has come."""
        batch = self.batches.popleft()
        assert batch.number == number, "batches are worked off in order"
        self.since = time.monotonic()
        return batch

    def receive(self) -> tuple[list[Any], bool]:
        """The messages that have come, and whether the worker has closed its end or died: then no more will come."""
        messages, ended = self._child.receive()
        return [self._read(pickle.loads(message)) for message in messages], ended

    def _read(self, message: Any) -> Any:
        return pickle.loads(self._answers.get(*message)) if isinstance(message, tuple) else message

    def recover(self, steps: Callable[[Assignment], int]) -> Recovered:
        """Sort the assignments of a worker that is dead and not closed yet; `steps` counts an assignment's steps."""
        found = Recovered()
        if not self.batches:
            return found
        # The worker takes batches in order, so only the oldest can have been begun
        oldest = self.batches.popleft()
        waiting = deque(oldest.assignments)
        notes = journal.read(self._journal, oldest.number)
        while waiting and notes is not None:
            assignment = waiting.popleft()
            count = steps(assignment)
            found.begun.append((assignment, notes[:count]))
            # the first row without a step was being judged, so no later row was begun
            notes = notes[count:] if len(notes) >= count else None
        found.not_begun = [*waiting, *(assignment for batch in self.batches for assignment in batch.assignments)]
        self.batches.clear()
        return found

    def seconds_left(self, deadline: float | None) -> float:
        """Seconds until the current step has certainly taken `deadline` seconds: it was begun within the batch's slice
        of time.
        """
        if deadline is None or not self.ready or not self.batches:
            return math.inf
        return self.since + SLICE_SECONDS + deadline - time.monotonic()

    def is_dead(self) -> bool:
        """Whether the process has ended."""
        return self._child.is_dead()

    def ask_to_leave(self) -> None:
        """Tell the worker that no more batches come: it finishes its batch and ends."""
        self._child.channel.close()

    def end(self, patience: float = 0.0) -> str:
        """See `ChildProcess.end`."""
        return self._child.end(patience)

    def close(self) -> None:
        """Close the channel and the journal."""
        self._child.close()
