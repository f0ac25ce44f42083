"""Large messages between a parent and its child, in memory that both share.

A socket takes about 200 KiB at a time, and only while its other end reads: a message of a megabyte would wake each end
a dozen times, although one end is busy judging. Here a message is copied once in and once out, and the socket carries
only its size. Linux only.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

# The number of slots, which messages use in turn. Before message n is put, message n - COUNT must have been read
COUNT = 2
# Bytes that a slot keeps; the memory of a larger message is given back to the system
_KEPT_BYTES = 4 * 2**20


def create() -> list[int]:
    """Create the slots of one direction; their descriptors, which the child inherits."""
    return [os.memfd_create("astuner-slot") for _ in range(COUNT)]


class Slots:
    """The slots of one direction, as one end sees them; each end makes its own object.

    Args:
        descriptors: as `create` makes them.
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
        """Message `number`, which is `size` bytes long.

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
