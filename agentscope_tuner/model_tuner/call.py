"""One call of a model, as the rollout's trajectory keeps it."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from agentscope.message import TextBlock, ThinkingBlock, ToolCallBlock
from agentscope.model import ChatResponse, FinishedReason
from agentscope.tool import ToolChoice

NO_RESPONSE_YET = "no response yet"
INTERRUPTED = "interrupted: the call was cancelled"
ABANDONED = "abandoned: the stream's reader stopped before its end"
BROKEN_OFF = "broken off: the stream ended without its last chunk"
_ERROR_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call with all its retries; the record is the same whether the model streams or not.

    Attributes:
        role: the calling agent's role, as given to `register_model`; `default` for the tuner itself.
        trainable: whether a trainer may learn from it.
        model: the name of the model that answered.
        messages: the messages sent, as the model's own formatter writes them: OpenAI chat messages wherever the model
            speaks that protocol.
        tools: the functions the model was offered, as JSON schemas; None when it was offered none.
        tool_choice: `auto`, `none`, `required` or the function that the model had to call; None when the agent set
            none.
        response: an OpenAI assistant message: `role`, `content` (a str, or None beside tool calls), `tool_calls`, and
            `reasoning_content` for the model's thoughts. After a failed call: the part that had arrived, or None.
        finish_reason: `stop`, `tool_calls`, `length` (cut off at max_tokens) …; None where the model does not tell.
        prompt_tokens: the prompt's tokens as the endpoint counts them; None when it did not report them.
        completion_tokens: the response's tokens, likewise.
        logprobs: for each token of the response, `token`, `logprob` and the other fields of OpenAI's
            `logprobs.content`; None unless asked for and given.
        error: why there is no whole response; None when there is one.
        seconds: from the call to the end of the response, retries included.
    """

    role: str
    trainable: bool
    model: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None
    tool_choice: str | None
    response: dict[str, Any] | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    logprobs: list[dict[str, Any]] | None
    error: str | None
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The call as a rollout file keeps it: every field, under its name."""
        # Not `asdict`, which takes five times as long
        return {name: _plain(getattr(self, name)) for name in _FIELDS}


_FIELDS = tuple(field.name for field in fields(ModelCall))


def _plain(value: Any) -> Any:
    """A copy of parsed JSON."""
    if type(value) is dict:
        return {name: _plain(inner) for name, inner in value.items()}
    if type(value) is list:
        return [_plain(inner) for inner in value]
    return value


class Recording:
    """A call under way; `call()` gives its record so far."""

    def __init__(
        self,
        role: str,
        trainable: bool,
        model: str,
        tools: Sequence[Mapping[str, Any]] | None,
        tool_choice: ToolChoice | None,
    ) -> None:
        self._role, self._trainable, self._model = role, trainable, model
        # The agent changes its own objects later: keep copies
        self._tools = [copy.deepcopy(dict(tool)) for tool in tools] if tools else None
        self._tool_choice = None if tool_choice is None else str(tool_choice.mode)
        self.messages: list[dict[str, Any]] = []
        self._arrived: ChatResponse | None = None
        self._error: str | None = NO_RESPONSE_YET
        self._began = time.monotonic()
        self._ended: float | None = None

    def add(self, chunk: ChatResponse) -> None:
        """Keep a part of a stream."""
        if self._arrived is None:
            self._arrived = ChatResponse(content=[], is_last=False)
        self._arrived.append_chat_response(chunk)

    def finish(self, response: ChatResponse) -> None:
        """Record the whole response, or as much of it as a cancelled call got."""
        # The agent takes the blocks over and changes them: keep copies
        blocks = [block.model_copy() for block in response.content]
        # Keep the id, too: a new id needs random bytes from the system, for which hundreds of rollouts would wait
        self._arrived = replace(response, content=blocks, metadata=dict(response.metadata))
        self._end(INTERRUPTED if interrupted(response) else None)

    def fail(self, error: BaseException | str) -> None:
        """Record that there will be no whole response; without effect after `finish`."""
        words = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        self._end(words[:_ERROR_CHARS])

    def _end(self, error: str | None) -> None:
        if self._ended is None:
            self._ended, self._error = time.monotonic(), error

    def call(self) -> ModelCall:
        """The record of the call so far."""
        arrived = self._arrived
        usage = arrived.usage if arrived else None
        extra: dict[str, Any] = arrived.metadata if arrived else {}
        return ModelCall(
            role=self._role,
            trainable=self._trainable,
            model=self._model,
            messages=self.messages,
            tools=self._tools,
            tool_choice=self._tool_choice,
            response=assistant_message(arrived.content if arrived else ()) if self._answered() else None,
            finish_reason=extra.get("finish_reason"),
            prompt_tokens=usage.input_tokens if usage else None,
            completion_tokens=usage.output_tokens if usage else None,
            logprobs=extra.get("logprobs"),
            error=self._error,
            seconds=(time.monotonic() if self._ended is None else self._ended) - self._began,
        )

    def _answered(self) -> bool:
        # a whole response may be an empty one
        return self._error is None or bool(self._arrived and self._arrived.content)


def interrupted(response: ChatResponse) -> bool:
    """Whether agentscope made this response out of a cancellation, instead of raising it."""
    return bool(response.finished_reason == FinishedReason.INTERRUPTED)


def assistant_message(blocks: Sequence[Any]) -> dict[str, Any]:
    """A response's content blocks as an OpenAI assistant message."""
    text = "".join(block.text for block in blocks if isinstance(block, TextBlock))
    thoughts = "".join(block.thinking for block in blocks if isinstance(block, ThinkingBlock))
    calls = [
        {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": block.input}}
        for block in blocks
        if isinstance(block, ToolCallBlock)
    ]
    others = [
        block.model_dump(mode="json")
        for block in blocks
        if not isinstance(block, TextBlock | ThinkingBlock | ToolCallBlock)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": text if text or not calls else None}
    if thoughts:
        message["reasoning_content"] = thoughts
    if calls:
        message["tool_calls"] = calls
    if others:
        # A chat completion has no standard place for sounds and pictures: keep them under a key of ours
        message["data"] = others
    return message
