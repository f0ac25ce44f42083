"""What a worker has done of its batch, kept where its death does not reach: in memory that the parent holds too.

The worker adds a record after each unit, which costs one write and wakes nobody. The parent reads them only when the
worker has died; otherwise the same results come by message.
"""

from __future__ import annotations

import os
import struct

_LENGTH = struct.Struct("<Q")


def create() -> int:
    """A descriptor of an empty journal, for the worker to inherit."""
    return os.memfd_create("astuner-journal")


class Journal:
    """The worker's end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def begin(self, batch: int) -> None:
        """Forget the batch before, whose results the parent has, and note that this one is in hand."""
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
