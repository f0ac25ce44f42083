"""Results that survive the child's death: the child notes them in memory that the parent holds too.

The child adds a record after each row of a batch, which costs a copy and wakes nobody. The parent reads the records
only when the child has died; otherwise it gets the same results by message.
"""

from __future__ import annotations

import mmap
import os
import struct

# Two numbers: the batch's, and how many bytes of records are whole. Records follow, each behind its length. A native
# number is written by one instruction, so that a child which is killed leaves the old one or the new one.
_NUMBER = struct.Struct("@Q")
_HEAD_BYTES = 2 * _NUMBER.size
_LEAST_BYTES = 2**20


def create() -> int:
    """Create an empty journal; the descriptor of it, which the child inherits."""
    return os.memfd_create("astuner-journal")


class ResultJournal:
    """The child's end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._end = _HEAD_BYTES
        self._map = self._mapped(_LEAST_BYTES)

    def begin(self, batch: int) -> None:
        """Note that work on `batch` begins. The batch before is forgotten: the parent has its results."""
        if len(self._map) > _LEAST_BYTES:
            self._map.close()
            self._map = self._mapped(_LEAST_BYTES)
        self._end = _HEAD_BYTES
        _NUMBER.pack_into(self._map, _NUMBER.size, 0)
        _NUMBER.pack_into(self._map, 0, batch)

    def add(self, result: bytes) -> None:
        """Note the batch's next result."""
        start = self._end + _NUMBER.size
        end = start + len(result)
        if end > len(self._map):
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


def read(descriptor: int, batch: int) -> list[bytes] | None:
    """The results noted for `batch`, in order; None when it was never begun."""
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
