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


async def serve_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            body = await reader.readexactly(length)
            if b"hang" in body:
                await reader.read()  # until the client has gone
                return
            await asyncio.sleep(LATENCY)
            writer.write(ANSWER)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # the client has gone
    finally:
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve_connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
