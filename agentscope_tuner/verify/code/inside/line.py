"""Messages between the jail of the tests and that of the program: JSON, of bounded length."""

from __future__ import annotations

import json
import os
import struct
from typing import Any

_LENGTH = struct.Struct("<I")
MOST_BYTES = 16 * 2**20


class LineEndedError(BaseException):
    """The other side is gone, or sends what is no message. No test's `except Exception` takes it for an answer."""


class JailLine:
    """One end of the line.

    Args:
        descriptor: the line's socket.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, message: dict[str, Any]) -> None:
        """Send one message.

        Raises:
            LineEndedError: nobody reads any more, or the message is too long.
        """
        data = json.dumps(message).encode()
        if len(data) > MOST_BYTES:
            raise LineEndedError(f"a message of {len(data):,} bytes")
        view = memoryview(_LENGTH.pack(len(data)) + data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as exc:
            raise LineEndedError("the other side has ended") from exc

    def receive(self) -> dict[str, Any]:
        """The next message.

        Raises:
            LineEndedError: there is none.
        """
        (size,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if size > MOST_BYTES:
            raise LineEndedError(f"a message of {size:,} bytes")
        try:
            message = json.loads(self._exactly(size))
        except (ValueError, RecursionError) as exc:
            raise LineEndedError("no message") from exc
        if not isinstance(message, dict):
            raise LineEndedError("no message")
        return message

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            try:
                piece = os.read(self._descriptor, size - len(data))
            except OSError as exc:
                raise LineEndedError("the other side has ended") from exc
            if not piece:
                raise LineEndedError("the program ended before its tests did")
            data += piece
        return bytes(data)
