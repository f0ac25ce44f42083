"""Results that survive the child which noted them: they stand in memory that the parent holds too.

The child adds a record after each unit of a batch, which costs one write and wakes nobody. The parent reads the
records only when the child has died; otherwise it gets the same results by message.
"""

from __future__ import annotations

import os
import struct

_LENGTH = struct.Struct("<Q")


def create() -> int:
    """A descriptor of an empty journal, for the child to inherit."""
    return os.memfd_create("astuner-journal")


class ResultJournal:
    """The child's end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def begin(self, batch: int) -> None:
        """Note that work on `batch` begins. The batch before is forgotten: the parent has its results."""
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        self._write(_LENGTH.pack(batch))

    def add(self, result: bytes) -> None:
        """Note the result of the batch's next unit."""
        self._write(_LENGTH.pack(len(result)) + result)

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]


def read(descriptor: int, batch: int) -> list[bytes] | None:
    """The results noted for `batch`, in order; None when it was never begun. A record cut short is left out."""
    data = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    if len(data) < _LENGTH.size or _LENGTH.unpack_from(data)[0] != batch:
        return None
    results, at = [], _LENGTH.size
    while at + _LENGTH.size <= len(data):
        start = at + _LENGTH.size
        at = start + _LENGTH.unpack_from(data, at)[0]
        if at > len(data):
            break
        results.append(data[start:at])
    return results
