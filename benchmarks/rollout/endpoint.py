"""An OpenAI-compatible endpoint that does nothing but wait: each answer comes `LATENCY` seconds after its request.

Run as a process of its own by the benchmark, so that its work is not counted. A prompt with the word `hang` is never
answered. Prints its port.
"""

from __future__ import annotations

import asyncio
import json

LATENCY = 0.2
_REPLY = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "right"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 1, "total_tokens": 12},
    }
).encode()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(_REPLY) + _REPLY


class Connection(asyncio.Protocol):
    """One kept connection. A protocol and not streams, which take four times the processor time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._received += data
        head = self._received.find(b"\r\n\r\n")
        if head < 0:
            return
        words = bytes(self._received[:head]).lower()
        end = head + 4 + int(words.partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(self._received) < end:
            return
        hangs = b"hang" in self._received[head:end]
        del self._received[:end]
        if not hangs:
            asyncio.get_running_loop().call_later(LATENCY, self._answer)

    def _answer(self) -> None:
        if self._transport is not None:
            self._transport.write(ANSWER)


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
