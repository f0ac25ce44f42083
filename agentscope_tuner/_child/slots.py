"""Large messages between a parent and its child, in memory that both hold.

A socket takes about 200 KiB at a time, and only while its other end reads: a message of a megabyte would wake either
end a dozen times, of which one is busy judging. Here it is copied once in and once out, and the socket carries no more
than its size. Linux only.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

# Messages take turns. Whoever puts one must know by then that the message which is as many before it has been read
COUNT = 2
# larger messages give their memory back
_KEPT_BYTES = 4 * 2**20


def create() -> list[int]:
    """Descriptors for one direction, for the child to inherit."""
    return [os.memfd_create("astuner-slot") for _ in range(COUNT)]


class Slots:
    """One direction; either end has its own.

    Args:
        descriptors: as `create` makes them.
    """

    def __init__(self, descriptors: Sequence[int]) -> None:
        self._descriptors = descriptors

    def put(self, number: int, data: bytes) -> None:
        """Leave message `number`, counted one by one, for the other end.

        Raises:
            OSError: there is no memory left.
        """
        left, at = memoryview(data), 0
        while at < len(data):
            at += os.pwrite(self._descriptors[number % COUNT], left[at:], at)

    def get(self, number: int, size: int) -> bytes:
        """Message `number`, which is `size` bytes long.

        Raises:
            OSError: there is none of that size.
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
