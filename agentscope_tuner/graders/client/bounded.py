"""A bound on the bodies of replies: an endpoint that sends without end must not fill the memory."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

# A verdict has a few hundred characters; the embeddings of a batch of rubrics have a few megabytes
MOST_BYTES = 16 * 2**20
# The bound of a compressed body is lower, because unpacking may make it a thousand times as long
_MOST_COMPRESSED = 2**16


class BodyTooLong(ValueError):
    """The body of a reply is longer than the bound."""


async def bound_body(response: httpx.Response) -> None:
    """An httpx event hook: reading the body of `response` raises BodyTooLong beyond the bound."""
    # openai may use another major version of httpx: the new stream must be of the same library as the response
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
