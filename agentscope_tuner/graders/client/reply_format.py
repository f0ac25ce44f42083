"""Finds out with the first request how an endpoint can be asked for JSON, and remembers it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

# The strongest format first. `text` adds no field to the request: the prompt alone asks for JSON
_FORMATS = ("json_schema", "json_object", "text")
# HTTP statuses with which servers refuse a response_format that they do not know
_REFUSALS = frozenset({400, 415, 422, 501})


class ReplyFormat:
    """The strongest reply format that the endpoint takes: JSON schema, else JSON object, else text.

    While the format is not known, one request goes first, and the others wait until it has ended in any way. So at
    most two requests are refused, and an endpoint that hangs delays the other requests by no more than one try.
    """

    def __init__(self) -> None:
        self._current = 0
        self._known = False
        self._first: asyncio.Event | None = None

    @property
    def name(self) -> str:
        """The format that requests use now."""
        return _FORMATS[self._current]

    @asynccontextmanager
    async def turn(self, schema: Mapping[str, Any] | None) -> AsyncIterator[FormattedRequest]:
        """One request in the current format; without a schema the reply is free text, which tests no format."""
        if schema is None or self._known:
            yield FormattedRequest(self, schema)
            return
        if self._first is not None:
            await self._first.wait()
            yield FormattedRequest(self, schema)
            return
        self._first = asyncio.Event()
        try:
            yield FormattedRequest(self, schema)
        finally:
            self._first.set()


class FormattedRequest:
    """One request, which may be sent again in a weaker format."""

    def __init__(self, memory: ReplyFormat, schema: Mapping[str, Any] | None) -> None:
        self._memory = memory
        self._schema = schema
        self._used = memory._current

    def fields(self) -> dict[str, Any]:
        """The fields that the format adds to the request's body."""
        self._used = self._memory._current
        if self._schema is None or _FORMATS[self._used] == "text":
            return {}
        if _FORMATS[self._used] == "json_object":
            return {"response_format": {"type": "json_object"}}
        wanted = {"name": "verdict", "strict": True, "schema": dict(self._schema)}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}

    def refused(self, status: int | None) -> bool:
        """Whether, after this HTTP status, the request should be sent again in another format."""
        memory = self._memory
        if self._schema is None or status not in _REFUSALS:
            return False
        if self._used != memory._current:
            return True  # another request found a weaker format meanwhile
        if memory._known:
            return False
        if _FORMATS[self._used] == "text":
            memory._current = 0  # plain text was refused, too, so the format was not the cause
            return False
        memory._current += 1
        return True

    def accepted(self) -> None:
        """The endpoint took the format."""
        if self._schema is not None and self._used == self._memory._current:
            self._memory._known = True
