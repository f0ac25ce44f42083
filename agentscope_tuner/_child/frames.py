"""Messages on a stream of bytes: a length, then the message. The two ends agree on a message's content."""

from __future__ import annotations

import struct

_LENGTH = struct.Struct("<Q")


class FrameTooLongError(ValueError):
    """A message announces a length above the reader's limit."""


def encode(message: bytes) -> bytes:
    """The message as it goes over a stream."""
    return _LENGTH.pack(len(message)) + message


class Decoder:
    """Takes a stream in pieces and returns whole messages.

    Args:
        most_bytes: a message announced as longer is refused before it is read; None accepts any length.
    """

    def __init__(self, most_bytes: int | None = None) -> None:
        self._buffer = bytearray()
        self._most_bytes = most_bytes

    def feed(self, piece: bytes) -> list[bytes]:
        """The messages that `piece` completes.

        Raises:
            FrameTooLongError: the stream cannot be read on.
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
        """Where the first message of `data` ends."""
        length: int = _LENGTH.unpack_from(data)[0]
        if self._most_bytes is not None and length > self._most_bytes:
            raise FrameTooLongError(f"a message of {length} bytes is announced, {self._most_bytes} are allowed")
        return _LENGTH.size + length
