"""Chat completions sent as they are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openai import AsyncStream
from openai.resources.chat.completions import AsyncCompletions
from openai.types.chat import ChatCompletion, ChatCompletionChunk


class DirectCompletions(AsyncCompletions):
    """The client's `chat.completions`, without its walk over the request's types.

    That walk looks for values which are no JSON yet, and takes as long as the rest of a call; what a formatter makes is
    JSON. Errors, retries and results are the client's.
    """

    async def create(self, *, extra_body: Mapping[str, Any] | None = None, **body: Any) -> Any:  # type: ignore[override]
        """A completion, or a stream of its chunks where `body` has `stream`.

        Args:
            extra_body: fields of the request that win over those of `body`.
            body: the request's fields, each of them JSON.
        """
        return await self._client.post(
            "/chat/completions",
            body={**body, **(extra_body or {})},
            cast_to=ChatCompletion,
            stream=bool(body.get("stream")),
            stream_cls=AsyncStream[ChatCompletionChunk],
        )
