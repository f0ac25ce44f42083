"""Messages between an engine and its workers: a length, then a pickle. Both ends are one program under one user."""

from __future__ import annotations

import pickle
import struct
from typing import Any

_LENGTH = struct.Struct("<Q")


def encode(message: Any) -> bytes:
    """The message as it goes over a stream."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(data)) + data


class Decoder:
    """Takes a stream in pieces, gives whole messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, piece: bytes) -> list[Any]:
        """The messages that `piece` completes."""
        self._buffer += piece
        messages = []
        while len(self._buffer) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(self._buffer)[0]
            if len(self._buffer) < end:
                break
            messages.append(pickle.loads(self._buffer[_LENGTH.size : end]))
            del self._buffer[:end]
        return messages
