"""The child's end: it opens the channel to the parent, runs the given module, and ends when the parent ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from types import FrameType
from typing import Any

from agentscope_tuner._run import channel as frames

# larger buffers cost more to allocate than most messages cost to read
_PIECE = 2**16


class ParentChannel:
    """Whole messages to and from the parent."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._decoder = frames.Decoder()

    def __iter__(self) -> Iterator[bytes]:
        """The parent's messages, until it closes the channel."""
        while piece := self._stream.recv(_PIECE):
            yield from self._decoder.feed(piece)

    def send(self, message: bytes) -> None:
        """Hand a message to the parent.

        Raises:
            ConnectionError: the parent has closed the channel.
        """
        self._stream.sendall(frames.encode(message))


def main(settings: dict[str, Any]) -> None:
    """Run `settings["module"].main(channel, *settings["arguments"])`; `child` makes the settings."""
    channel, lifeline, *_ = settings["descriptors"]
    for descriptor in settings["descriptors"]:
        os.set_inheritable(descriptor, False)
    end_with_parent(lifeline)
    # The parent may have been started with Ctrl-C blocked, and a child inherits the blocking
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # A batch system signals every process of a job: what a child has begun is its parent's to end, or to wait for. A
    # handler and not SIG_IGN, which the programs that a judge starts would inherit
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave_it_to_the_parent)
    module = import_module(settings["module"])
    # the parent may close the channel at any time
    with socket.socket(fileno=channel) as stream, contextlib.suppress(ConnectionError):
        module.main(ParentChannel(stream), *settings["arguments"])


def _leave_it_to_the_parent(number: int, frame: FrameType | None) -> None:
    pass


def end_with_parent(lifeline: int) -> None:
    """Have the kernel kill this process group when the parent ends.

    `lifeline` is the reading end of a pipe whose writing end the parent alone holds. A thread that reads it, or a
    signal handler, would not suffice: a computation can hold the interpreter for hours.
    """
    if sys.platform != "linux":
        # Systems other than Linux offer no better way
        threading.Thread(target=_exit_at_end, args=(lifeline,), daemon=True).start()
        return
    fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
    # a parent that ended before the line above sends no signal
    with contextlib.suppress(BlockingIOError):
        if os.read(lifeline, 1) == b"":
            os._exit(0)


def _exit_at_end(lifeline: int) -> None:
    os.read(lifeline, 1)
    os._exit(0)
