"""Bodies of replies, bounded: an endpoint that sends without end must not fill the memory."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

# a verdict is a few hundred characters; embeddings of a batch of rubrics are a few megabytes
MOST_BYTES = 16 * 2**20
# of a compressed body, which may grow a thousand times
_MOST_COMPRESSED = 2**16


class BodyTooLong(ValueError):
    """A reply's body is beyond the bound."""


async def bound_body(response: httpx.Response) -> None:
    """An httpx event hook: the body of `response` may not be longer than the bound."""
    # openai may bring a generation of httpx of its own: the stream must be of the response's
    library: Any = sys.modules[type(response).__module__.partition(".")[0]]
    encoded = response.headers.get("content-encoding", "identity").strip().lower() not in ("identity", "")
    most = _MOST_COMPRESSED if encoded else MOST_BYTES
    announced = response.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > most:
        await response.aclose()
        raise BodyTooLong(f"the reply's body has {announced} bytes, more than {most}")
    stream: Any = response.stream

    class Bounded(library.AsyncByteStream):  # type: ignore[misc]
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in stream:
                size += len(chunk)
                if size > most:
                    raise BodyTooLong(f"the reply's body is longer than {most} bytes")
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    response.stream = Bounded()
