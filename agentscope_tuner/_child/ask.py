"""A question to a child process, and its answer in time: for threads (`ask`) and for event loops (`aask`)."""

from __future__ import annotations

import asyncio
import select
import time
from collections.abc import Generator

from agentscope_tuner._child.frames import FrameTooLongError
from agentscope_tuner._child.process import ChildProcess

# a dead child is seen at once by its closed channel, unless something it started holds the channel open
_LOOK_SECONDS = 1.0


class ChildLost(Exception):
    """The child gives no answer any more: it ended, or what it sends cannot be read.

    Attributes:
        begun: whether it had the whole question. Otherwise its end says nothing about the question.
    """

    def __init__(self, *, begun: bool) -> None:
        super().__init__(begun)
        self.begun = begun


class WallTimeUp(ChildLost):
    """The child did not answer in time. It may have been given no CPU."""


class CpuTimeUp(Exception):
    """The child used up the CPU time that the question may cost."""


def ask(child: ChildProcess, question: bytes | None, *, wall_seconds: float, cpu_seconds: float | None = None) -> bytes:
    """The child's next message, after sending it `question`.

    Args:
        child: answers each question by one message. After an exception from here it must be ended: its next message
            could belong to this question.
        question: None waits for a message that comes unasked.
        wall_seconds: how long to wait at most.
        cpu_seconds: CPU time of the child that the answer may cost; a busy machine uses up none of it.

    Raises:
        ChildLost: the child has ended.
        WallTimeUp: `wall_seconds` are over.
        CpuTimeUp: `cpu_seconds` are used up.
    """
    steps = _exchange(child, question, wall_seconds, cpu_seconds)
    try:
        while True:
            _wait(child, next(steps))
    except StopIteration as stop:
        answer: bytes = stop.value
        return answer


async def aask(child: ChildProcess, question: bytes | None, *, wall_seconds: float) -> bytes:
    """`ask` for callers inside an event loop, without a limit on CPU time. Meanwhile nobody may close the child."""
    steps = _exchange(child, question, wall_seconds, None)
    try:
        while True:
            await _await(child, next(steps))
    except StopIteration as stop:
        answer: bytes = stop.value
        return answer


def _exchange(
    child: ChildProcess, question: bytes | None, wall_seconds: float, cpu_seconds: float | None
) -> Generator[float, None, bytes]:
    """The steps of an exchange; each tells how many seconds to wait for the channel, at most, before the next."""
    wall_end = time.monotonic() + wall_seconds
    begun = question is None
    try:
        cpu_end = None if cpu_seconds is None else child.cpu_seconds() + cpu_seconds
        if question is not None:
            # A message that nobody asked for would be read as the answer to this question
            if child.receive() != ([], False):
                raise ChildLost(begun=False)
            child.send(question)
        while child.flush():
            yield _wall_left(wall_end, begun=False)
        begun = True
        while True:
            left = _wall_left(wall_end, begun=True)
            if cpu_end is not None:
                cpu_left = cpu_end - child.cpu_seconds()
                if cpu_left <= 0:
                    raise CpuTimeUp
                # CPU time runs no faster than the wall's: there is nothing to look at before
                left = min(left, cpu_left + 0.001)
            yield left
            messages, ended = child.receive()
            if not (messages or ended) and child.is_dead():
                # what it sent before it died is an answer, too
                messages, ended = child.receive()[0], True
            if len(messages) == 1:
                return messages[0]
            if messages or ended:
                raise ChildLost(begun=True)
    except (OSError, FrameTooLongError) as exc:
        raise ChildLost(begun=begun) from exc


def _wall_left(wall_end: float, *, begun: bool) -> float:
    left = wall_end - time.monotonic()
    if left <= 0:
        raise WallTimeUp(begun=begun)
    return min(left, _LOOK_SECONDS)


def _wait(child: ChildProcess, seconds: float) -> None:
    """Wait until the channel can be read, or written where a message is left to be sent."""
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
