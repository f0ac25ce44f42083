"""Questions to a child process and their answers, within time limits: for threads (`ask`) and event loops (`aask`)."""

from __future__ import annotations

import asyncio
import select
import time
from collections import deque
from collections.abc import Generator

from agentscope_tuner._child.frames import FrameTooLongError
from agentscope_tuner._child.process import ChildProcess

# A dead child is noticed at once by its closed channel, unless a process that it started holds the channel open
_LOOK_SECONDS = 1.0


class ChildLost(Exception):
    """The child can give no more answers: it ended, or its messages cannot be read.

    Attributes:
        begun: whether the child had the whole question. Otherwise the child's end says nothing about the question.
    """

    def __init__(self, *, begun: bool) -> None:
        super().__init__(begun)
        self.begun = begun


class WallTimeUp(ChildLost):
    """The child did not answer in time. It may have been given no CPU."""


class CpuTimeUp(Exception):
    """The child used up the CPU time that the question may cost."""


class Dialogue:
    """Questions to one child. Several may be under way: the child answers each by one message, in order.

    After an exception from here the child must be ended: its next message could belong to any question.
    """

    def __init__(self, child: ChildProcess) -> None:
        self._child = child
        self._unread: deque[bytes] = deque()
        self._open = 0

    def put(self, question: bytes | None) -> None:
        """Send a question after those under way; None sends nothing and expects a message all the same.

        Raises:
            ChildLost: the child has ended, or has sent a message that answers no question.
        """
        try:
            # An unread message from before would be taken for the answer to this question
            if question is not None and not self._open and (self._unread or self._child.receive() != ([], False)):
                raise ChildLost(begun=False)
        except FrameTooLongError as exc:
            raise ChildLost(begun=False) from exc
        if question is not None:
            self._child.send(question)
        self._open += 1

    def answer(self, *, wall_seconds: float, cpu_until: float | None = None) -> bytes:
        """The answer to the oldest question under way.

        Args:
            wall_seconds: how long to wait at most.
            cpu_until: the time of the child's CPU clock at which to give up; waiting on a busy machine does not count.

        Raises:
            ChildLost: the child has ended.
            WallTimeUp: `wall_seconds` are over.
            CpuTimeUp: the child's clock has passed `cpu_until`.
        """
        steps = self.steps(wall_seconds, cpu_until)
        try:
            while True:
                _wait(self._child, next(steps))
        except StopIteration as stop:
            answer: bytes = stop.value
            return answer

    def steps(self, wall_seconds: float, cpu_until: float | None) -> Generator[float, None, bytes]:
        """The steps of `answer`. Each yields the most seconds to wait for the channel before the next step."""
        child, wall_end, begun = self._child, time.monotonic() + wall_seconds, not self._child.has_unsent
        try:
            while not self._unread:
                messages, ended = child.receive()
                if not (messages or ended) and child.is_dead():
                    # an answer that the child sent before it died still counts
                    messages, ended = child.receive()[0], True
                self._unread.extend(messages)
                if len(self._unread) > self._open or (ended and not self._unread):
                    raise ChildLost(begun=begun)
                if self._unread:
                    break
                begun = not child.flush() or begun
                yield _left(child, wall_end, cpu_until, begun=begun)
        except (OSError, FrameTooLongError) as exc:
            raise ChildLost(begun=begun) from exc
        self._open -= 1
        return self._unread.popleft()


def ask(child: ChildProcess, question: bytes | None, *, wall_seconds: float, cpu_seconds: float | None = None) -> bytes:
    """The child's next message, after sending it `question`.

    Args:
        child: the child, as for Dialogue.
        question: None waits for a message that comes unasked.
        wall_seconds: how long to wait at most.
        cpu_seconds: the child's CPU time that the answer may cost; waiting on a busy machine uses up none of it.

    Raises:
        ChildLost: the child has ended.
        WallTimeUp: `wall_seconds` are over.
        CpuTimeUp: `cpu_seconds` are used up.
    """
    dialogue = Dialogue(child)
    try:
        cpu_until = None if cpu_seconds is None else child.cpu_seconds() + cpu_seconds
    except OSError as exc:
        raise ChildLost(begun=False) from exc
    dialogue.put(question)
    return dialogue.answer(wall_seconds=wall_seconds, cpu_until=cpu_until)


async def aask(child: ChildProcess, question: bytes | None, *, wall_seconds: float) -> bytes:
    """`ask` for callers inside an event loop, without a limit on CPU time. Do not close the child meanwhile."""
    dialogue = Dialogue(child)
    dialogue.put(question)
    steps = dialogue.steps(wall_seconds, None)
    try:
        while True:
            await _await(child, next(steps))
    except StopIteration as stop:
        answer: bytes = stop.value
        return answer


def _left(child: ChildProcess, wall_end: float, cpu_until: float | None, *, begun: bool) -> float:
    """Seconds after which to look again."""
    left = wall_end - time.monotonic()
    if left <= 0:
        raise WallTimeUp(begun=begun)
    if cpu_until is not None and begun:
        cpu_left = cpu_until - child.cpu_seconds()
        if cpu_left <= 0:
            raise CpuTimeUp
        # CPU time passes no faster than wall time, so the limit cannot be reached earlier
        left = min(left, cpu_left + 0.001)
    return min(left, _LOOK_SECONDS)


def _wait(child: ChildProcess, seconds: float) -> None:
    """Wait until the channel can be read, or can be written if a message is still to be sent."""
    poll = select.poll()
    try:
        poll.register(child.channel, select.POLLIN | (select.POLLOUT if child.has_unsent else 0))
    except ValueError:
        # a closed channel has a negative number: the next step finds it closed
        return
    poll.poll(max(1, seconds * 1000))


async def _await(child: ChildProcess, seconds: float) -> None:
    """`_wait` inside an event loop."""
    loop, descriptor = asyncio.get_running_loop(), child.channel.fileno()
    ready = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(descriptor, wake)
    if child.has_unsent:
        loop.add_writer(descriptor, wake)
    try:
        await asyncio.wait((ready,), timeout=seconds)
    finally:
        loop.remove_reader(descriptor)
        loop.remove_writer(descriptor)
