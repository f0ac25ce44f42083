"""Calculator calls that stand in the text: `<<12 + 9>>`, for models whose chat template knows no tools."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from typing import Any

from agentscope.agent import Agent
from agentscope.message import TextBlock, ToolCallBlock
from agentscope.middleware import MiddlewareBase
from agentscope.model import ChatResponse

_NOTE = re.compile(r"<<([^<>]{1,500})>>")


class CalculatorNotes(MiddlewareBase):
    """Makes a call of the tool `calculator` of the first note in a response that calls no tool.

    The model behind it is recorded with what it wrote: to a trainer the note is the policy's own text.
    """

    async def on_model_call(
        self,
        agent: Agent,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., Awaitable[ChatResponse | AsyncGenerator[ChatResponse, None]]],
    ) -> ChatResponse | AsyncGenerator[ChatResponse, None]:
        answer = await next_handler()
        choice = input_kwargs["tool_choice"]
        if choice is not None and choice.mode == "none":
            # the agent is out of rounds and wants a text
            return answer
        return with_call(answer) if isinstance(answer, ChatResponse) else _relay(answer)


async def _relay(stream: AsyncGenerator[ChatResponse, None]) -> AsyncGenerator[ChatResponse, None]:
    async for chunk in stream:
        yield with_call(chunk) if chunk.is_last else chunk


def with_call(response: ChatResponse) -> ChatResponse:
    """The whole response, with a calculator call where its text holds a note."""
    note = _NOTE.search("".join(block.text for block in response.content if isinstance(block, TextBlock)))
    if note is None or any(isinstance(block, ToolCallBlock) for block in response.content):
        return response
    call = ToolCallBlock(id=f"note-{response.id}", name="calculator", input=json.dumps({"expression": note[1]}))
    return replace(response, content=[*response.content, call])
