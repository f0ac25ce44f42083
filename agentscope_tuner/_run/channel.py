"""The three ways in which this process and a child process, such as a worker that judges, exchange bytes.

- Messages on a socket (`Decoder`): a length, then the message.
- Large messages in memory that both share (`Slots`; Linux only). A socket takes about 200 KiB at a time, and only while
  its other end reads, so a message of a megabyte would wake each end a dozen times, although one end is busy judging.
  Here it is copied once in and once out, and the socket carries only its size.
- Results that survive the child's death (`ResultJournal`): the child adds a record after each row of a batch, which
  costs a copy and wakes nobody. The parent reads the records only when the child has died; otherwise it gets the same
  results by message.

Then the child's end: `ParentChannel`, and `main`, which runs the given module and ends when the parent ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import mmap
import os
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from types import FrameType
from typing import Any, TypeVar

from agentscope_tuner._run.interrupts import ENDING

T = TypeVar("T")

_LENGTH = struct.Struct("<Q")


class FrameTooLongError(ValueError):
    """The other end of a stream announces a message that is longer than this end accepts (`Decoder.most_bytes`)."""


def encode(message: bytes) -> bytes:
    """The message as it is sent over a stream: its length in eight bytes, then the message. `Decoder` reads it."""
    return _LENGTH.pack(len(message)) + message


class Decoder:
    """Takes the pieces of a stream as they arrive, and returns the whole messages that `encode` wrote into it.

    Args:
        most_bytes: a message announced as longer is refused before it is read; None accepts any length.
    """

    def __init__(self, most_bytes: int | None = None) -> None:
        self._buffer = bytearray()
        self._most_bytes = most_bytes

    def feed(self, piece: bytes) -> list[bytes]:
        """Add the stream's next piece; returns the messages that are complete now, often none or one.

        Raises:
            FrameTooLongError: a message is announced as too long; the rest of the stream cannot be read.
        """
        # most pieces are one whole message
        if not self._buffer and len(piece) >= _LENGTH.size and len(piece) == self._end(piece):
            return [piece[_LENGTH.size :]]
        self._buffer += piece
        messages = []
        while len(self._buffer) >= _LENGTH.size and len(self._buffer) >= (end := self._end(self._buffer)):
            messages.append(bytes(self._buffer[_LENGTH.size : end]))
            del self._buffer[:end]
        return messages

    def _end(self, data: bytes | bytearray) -> int:
        """The position at which the first message of `data` ends, by the length that is written before it.

        Raises:
            FrameTooLongError: the length is above the limit.
        """
        length: int = _LENGTH.unpack_from(data)[0]
        if self._most_bytes is not None and length > self._most_bytes:
            raise FrameTooLongError(f"a message of {length} bytes is announced, {self._most_bytes} are allowed")
        return _LENGTH.size + length


# The number of slots (shared files in memory) of one direction, which messages use in turn. Before message n is put,
# message n - COUNT must have been read
COUNT = 2
# Bytes that a slot keeps; the memory of a larger message is given back to the system
_KEPT_BYTES = 4 * 2**20


def create_slots() -> list[int]:
    """Create the memory for large messages in one direction; returns its descriptors, which the child inherits."""
    return [os.memfd_create("astuner-slot") for _ in range(COUNT)]


class Slots:
    """Passes large messages between parent and child in memory that both share, in one direction.

    One end calls `put`, the other `get`; each makes its own object from the same descriptors. The number and the size
    of a message are sent over the socket.

    Args:
        descriptors: as `create_slots` makes them.
    """

    def __init__(self, descriptors: Sequence[int]) -> None:
        self._descriptors = descriptors

    def put(self, number: int, data: bytes) -> None:
        """Store message `number` for the other end; messages are numbered one by one.

        Raises:
            OSError: there is no memory left.
        """
        left, at = memoryview(data), 0
        while at < len(data):
            at += os.pwrite(self._descriptors[number % COUNT], left[at:], at)

    def get(self, number: int, size: int) -> bytes:
        """Read message `number`, which the other end has put, and which is `size` bytes long.

        Raises:
            OSError: there is no message of this size.
        """
        descriptor = self._descriptors[number % COUNT]
        data = b""
        while len(data) < size:
            if not (piece := os.pread(descriptor, size - len(data), len(data))):
                raise OSError(f"message {number} has {len(data)} bytes, where {size} were told")
            data += piece
        if size > _KEPT_BYTES:
            os.ftruncate(descriptor, 0)
        return data


# A journal begins with two numbers: the number of the batch, and how many bytes of records are whole. The records
# follow, each behind its length. A native number is written by one instruction, so that a child which is killed leaves
# the old number or the new one
_NUMBER = struct.Struct("@Q")
_HEAD_BYTES = 2 * _NUMBER.size
_LEAST_BYTES = 2**20


def create_journal() -> int:
    """Create an empty journal: memory in which a child notes results so that they survive its death.

    Returns its descriptor, for the child to inherit; see `ResultJournal` and `read_journal`.

    Raises:
        OSError: a limit of this process, such as that of `ulimit -f`, leaves no room for a journal; a child, which has
            the same limits, could not write into one.
    """
    descriptor = os.memfd_create("astuner-journal")
    try:
        # tried here: a child that cannot would die of each row that it is given
        os.ftruncate(descriptor, _LEAST_BYTES)
        os.ftruncate(descriptor, 0)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


class ResultJournal:
    """The child's end of a journal: it notes each result here, so that the parent can read it if the child dies.

    `read_journal` is the parent's end.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._end = _HEAD_BYTES
        self._map = self._mapped(_LEAST_BYTES)

    def begin(self, batch: int) -> None:
        """Note that work on the batch of this number begins, and drop the notes of the batch before: it is answered."""
        if len(self._map) > _LEAST_BYTES:
            self._map.close()
            self._map = self._mapped(_LEAST_BYTES)
        self._end = _HEAD_BYTES
        _NUMBER.pack_into(self._map, _NUMBER.size, 0)
        _NUMBER.pack_into(self._map, 0, batch)

    def add(self, result: bytes) -> None:
        """Append a result of the batch to the journal."""
        start = self._end + _NUMBER.size
        if (end := start + len(result)) > len(self._map):
            self._map.close()
            self._map = self._mapped(2 * end)
        _NUMBER.pack_into(self._map, self._end, len(result))
        self._map[start:end] = result
        # Write the count last: if the child is killed before this line, the reader leaves the record out
        _NUMBER.pack_into(self._map, _NUMBER.size, end - _HEAD_BYTES)
        self._end = end

    def _mapped(self, size: int) -> mmap.mmap:
        os.ftruncate(self._descriptor, size)
        return mmap.mmap(self._descriptor, size)


def read_journal(descriptor: int, batch: int) -> list[bytes] | None:
    """In the parent, after the child's death: the results that it noted for the batch of this number, in order.

    None if the child has not begun this batch.
    """
    head = os.pread(descriptor, _HEAD_BYTES, 0)
    if len(head) < _HEAD_BYTES or _NUMBER.unpack_from(head)[0] != batch:
        return None
    data = os.pread(descriptor, _NUMBER.unpack_from(head, _NUMBER.size)[0], _HEAD_BYTES)
    results, at = [], 0
    while at < len(data):
        start = at + _NUMBER.size
        at = start + _NUMBER.unpack_from(data, at)[0]
        results.append(data[start:at])
    return results


#: Bytes to read from a socket at once. Larger buffers cost more to allocate than most messages cost to read.
PIECE = 2**16


class ParentChannel:
    """The child's end of the socket to its parent: iterate over it for the parent's messages, answer by `send`."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._messages = self._received()

    def _received(self) -> Iterator[bytes]:
        decoder = Decoder()
        while piece := self._stream.recv(PIECE):
            yield from decoder.feed(piece)

    def __iter__(self) -> Iterator[bytes]:
        """The parent's further messages, until it closes the channel."""
        return self._messages

    def load(self, make: Callable[..., T]) -> T | None:
        """Call `make` with the arguments in the parent's first message (a pickle), and return what it makes.

        It loads what the child needs for all its work, such as a judge. If it fails, the result is None. The parent is
        sent a pickled None if it worked, else a pickled text that says why not. The loaded objects are exempt from
        garbage collection, which would stop all work to scan them.
        """
        # The sandbox's workers load nothing in this way, and start faster without these
        import pickle

        from agentscope_tuner.errors import ConfigError

        if (recipe := next(self._messages, None)) is None:
            return None
        gc.disable()
        try:
            made = make(*pickle.loads(recipe))
        # boundary: any error that keeps the program from starting goes to the parent, which raises it
        except BaseException as exc:  # noqa: BLE001
            self.send(pickle.dumps(str(exc) if isinstance(exc, ConfigError) else f"{type(exc).__name__}: {exc}"))
            return None
        gc.freeze()
        gc.enable()
        self.send(pickle.dumps(None))
        return made

    def send(self, message: bytes) -> None:
        """Send a message to the parent.

        Raises:
            ConnectionError: the parent has closed the channel.
        """
        self._stream.sendall(encode(message))


def main(settings: dict[str, Any]) -> None:
    """The start of every child process: run `settings["module"].main(channel, *settings["arguments"])`.

    `ChildProgram.command` makes the settings.
    """
    channel, lifeline, *_ = settings["descriptors"]
    for descriptor in settings["descriptors"]:
        os.set_inheritable(descriptor, False)
    end_with_parent(lifeline)
    # The parent may have been started with Ctrl-C blocked, and a child inherits the blocking
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # A batch system signals every process of a job, but only the parent decides whether to end a child's work or to
    # wait for it. A handler and not SIG_IGN, which the programs that a judge starts would inherit
    for number in set(ENDING) - {signal.SIGINT, signal.SIGXCPU}:
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
