"""The agentscope chat model that a trainer lends to a workflow, and the record of its calls.

    tuner = ModelTuner.for_endpoint("http://127.0.0.1:8000/v1", "policy", logprobs=True)
    await MyWorkflow().execute(task, tuner)
    tuner.trajectory        # the calls that a trainer learns from, as OpenAI chat messages

Needs the `agentscope` extra, and agentscope 2.0: without it this module raises a ConfigError that says so.
"""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from agentscope_tuner.errors import ConfigError, importing

with importing("agentscope_tuner.model_tuner needs agentscope 2.0", "agentscope"):
    import agentscope.credential  # noqa: F401 - 1.x has none

import openai
from agentscope.credential import OpenAICredential
from agentscope.message import Msg, TextBlock, ThinkingBlock, ToolCallBlock
from agentscope.model import ChatModelBase, ChatResponse, FinishedReason, OpenAIChatModel
from agentscope.tool import ToolChoice
from openai.resources.chat.completions import AsyncCompletions
from pydantic import SecretStr

from agentscope_tuner._http.transport import Client, Connections, is_proxied

__all__ = ["EndpointModel", "ModelCall", "ModelTuner", "RecordedModel", "endpoint_model"]

# The role of an agent that uses the tuner itself as its model
DEFAULT_ROLE = "default"
# The most bytes of a whole answer; a long completion with the log-probabilities of 20 tokens at each place has about 50
# MiB
_MOST_BYTES = 64 * 2**20
_ERROR_CHARS = 2_000
# Why a call has no whole response
_NO_RESPONSE_YET = "no response yet"
_INTERRUPTED = "interrupted: the call was cancelled"
_ABANDONED = "abandoned: the stream's reader stopped before its end"
_BROKEN_OFF = "broken off: the stream ended without its last chunk"


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


class RecordedModel(ChatModelBase):
    """An agentscope model that hands every call to `inner` and records it under a role.

    `inner` retries by its own rules. The record has one entry for each call, with the last error where all tries
    failed. A cancelled call raises CancelledError, where agentscope's base class would answer with nothing.
    """

    def __init__(self, inner: ChatModelBase, recordings: list[_Recording], role: str, trainable: bool) -> None:
        super().__init__(
            credential=inner.credential,
            model=inner.model,
            parameters=inner.parameters,
            stream=inner.stream,
            max_retries=0,
            retry_delay=inner.retry_delay,
            context_size=inner.context_size,
        )
        # Every model has a formatter, though the base class does not declare it
        declared: Any = inner
        self.formatter = declared.formatter
        self.inner, self.role, self.trainable = inner, role, trainable
        self._recordings = recordings

    async def __call__(
        self,
        messages: list[Msg],
        tools: list[dict[str, Any]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: Any,
    ) -> ChatResponse | AsyncGenerator[ChatResponse, None]:
        """Ask the model; see ChatModelBase. A stream's last chunk holds the whole response."""
        # Bypass the base class's retries and stream handling: `inner` has done both
        return await self._call_api(self.model, messages, tools, tool_choice, **kwargs)

    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, Any]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: Any,
    ) -> ChatResponse | AsyncGenerator[ChatResponse, None]:
        recording = _Recording(self.role, self.trainable, self.inner.model, tools, tool_choice)
        self._recordings.append(recording)
        try:
            recording.messages = await self.formatter.format(messages)
            answer = await self.inner(messages=messages, tools=tools, tool_choice=tool_choice, **kwargs)
        # Also on Ctrl-C and cancellation: the recording says how each call ended
        except BaseException as exc:
            recording.fail(exc)
            raise
        if not isinstance(answer, ChatResponse):
            return self._relay(answer, recording)
        recording.finish(answer)
        if _is_interrupted(answer):
            raise asyncio.CancelledError
        return answer

    async def _relay(
        self, stream: AsyncGenerator[ChatResponse, None], recording: _Recording
    ) -> AsyncGenerator[ChatResponse, None]:
        try:
            async with aclosing(stream):
                async for chunk in stream:
                    if not chunk.is_last:
                        recording.add(chunk)
                    else:
                        # Record first: the reader may stop after this chunk
                        recording.finish(chunk)
                        if _is_interrupted(chunk):
                            raise asyncio.CancelledError
                    yield chunk
        except GeneratorExit:
            recording.fail(_ABANDONED)
            raise
        # Also on Ctrl-C and cancellation
        except BaseException as exc:
            recording.fail(exc)
            raise
        recording.fail(_BROKEN_OFF)

    async def count_tokens(self, messages: list[Msg], tools: list[dict[str, Any]] | None) -> int:
        """The number of tokens, as `inner` counts them."""
        count: int = await self.inner.count_tokens(messages, tools)
        return count

    # Capabilities that agentscope's structured output queries
    def _get_disable_thinking_kwargs(self) -> dict[str, Any]:
        kwargs: dict[str, Any] = self.inner._get_disable_thinking_kwargs()
        return kwargs

    # The base class has a class method. Here the exceptions depend on the wrapped model
    def _get_structured_output_fallback_exceptions(  # type: ignore[override]
        self,
    ) -> tuple[type[Exception], ...]:
        kinds: tuple[type[Exception], ...] = self.inner._get_structured_output_fallback_exceptions()
        return kinds


class ModelTuner(RecordedModel):
    """The model that a trainer lends to one rollout. It is cheap: make one for each rollout, over a shared model.

    An agent takes it as its model. Where a workflow has several agents, each takes the result of `register_model`.

    Args:
        model: any agentscope chat model, such as `endpoint_model` makes.
        trainable_targets: the roles a trainer learns from; None means all.

    Raises:
        ConfigError: `trainable_targets` is a str: a list of roles was meant.
    """

    def __init__(self, model: ChatModelBase, *, trainable_targets: Collection[str] | None = None) -> None:
        if isinstance(trainable_targets, str):
            raise ConfigError(f"trainable_targets must be a list of roles, got {trainable_targets!r}")
        self._targets = None if trainable_targets is None else frozenset(trainable_targets)
        self._opened: EndpointModel | None = None
        super().__init__(model, [], DEFAULT_ROLE, self._is_trainable(DEFAULT_ROLE))

    @classmethod
    def for_endpoint(
        cls,
        base_url: str,
        model: str,
        *,
        api_key: str = "EMPTY",
        stream: bool = False,
        logprobs: bool = False,
        trainable_targets: Collection[str] | None = None,
        **body: Any,
    ) -> ModelTuner:
        """A tuner with an endpoint of its own; the arguments are those of `endpoint_model`. `aclose` it in the end."""
        opened = endpoint_model(base_url, model, api_key=api_key, stream=stream, logprobs=logprobs, **body)
        tuner = cls(opened, trainable_targets=trainable_targets)
        tuner._opened = opened
        return tuner

    async def aclose(self) -> None:
        """Close the model that `for_endpoint` opened; a model that was passed in stays open for its owner."""
        if self._opened is not None:
            await self._opened.aclose()

    def register_model(self, role: str, default_model: ChatModelBase | None = None) -> RecordedModel:
        """The model that the agent in this role must use.

        Args:
            role: names the agent in the record; several agents may share one.
            default_model: used instead of the trainer's model when the role is not trainable; its calls are recorded,
                too.
        """
        trainable = self._is_trainable(role)
        model = self.inner if trainable or default_model is None else default_model
        if isinstance(model, RecordedModel) and model._recordings is self._recordings:
            # A tuner in a tuner (`default_model=tuner`) would record the call twice, once as trainable
            model = model.inner
        return RecordedModel(model, self._recordings, role, trainable)

    def _is_trainable(self, role: str) -> bool:
        return self._targets is None or role in self._targets

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """Every call of every role, in the order they began; unfinished calls have an `error` that says so."""
        return tuple(recording.call() for recording in self._recordings)

    @property
    def trajectory(self) -> tuple[ModelCall, ...]:
        """The calls of the trainable roles."""
        return tuple(call for call in self.calls if call.trainable)


def endpoint_model(
    base_url: str,
    model: str,
    *,
    api_key: str = "EMPTY",
    stream: bool = False,
    logprobs: bool = False,
    max_retries: int = 3,
    **body: Any,
) -> EndpointModel:
    """A model behind an OpenAI-compatible endpoint. Many rollouts of one event loop may share it; `aclose` it in the
    end.

    Only the HTTP client retries, `max_retries` times: failed connections and the statuses 408, 409, 429 and 5xx, at
    growing intervals or after the endpoint's Retry-After. agentscope's own retries are off. A stream that breaks off is
    not requested again, because the agent has seen a part of it.

    Args:
        base_url: up to and including `/v1`.
        model: the model's name at the endpoint.
        api_key: `EMPTY` for servers without one.
        stream: let agents see the response while it is written; the record is the same.
        logprobs: ask for the logarithm of each token's probability.
        max_retries: retries after the first request.
        body: more fields of the request, as the endpoint's API names them: `temperature`, `max_tokens`, `seed` …
    """
    if logprobs:
        body["logprobs"] = True
    http = Client(Connections(most=0, most_bytes=_MOST_BYTES, proxied=is_proxied()))
    return EndpointModel(
        OpenAICredential(api_key=SecretStr(api_key), base_url=base_url),
        model,
        stream=stream,
        max_retries=0,
        client_kwargs={"http_client": http, "max_retries": max_retries, "timeout": openai.DEFAULT_TIMEOUT},
        extra_body=body,
    )


class EndpointModel(OpenAIChatModel):
    """agentscope's OpenAI model, which also keeps `logprobs` and `finish_reason` in the last response's `metadata`.

    A response without a `finish_reason` is no response: the model had not ended. It raises a ConnectionError, where
    agentscope would hand on a shorter answer.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The client makes its own `completions` on first use
        vars(self.client.chat)["completions"] = _UntypedCompletions(self.client)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def _call_api(self, *args: Any, **kwargs: Any) -> ChatResponse | AsyncGenerator[ChatResponse, None]:
        try:
            answer: ChatResponse | AsyncGenerator[ChatResponse, None] = await super()._call_api(*args, **kwargs)
        except openai.APIError as exc:
            # The client says no more than "Connection error." or "Error code: 404": add the URL and the cause
            exc.add_note(f"asked {exc.request.url}" + (f": {exc.__cause__}" if exc.__cause__ else ""))
            if isinstance(exc, openai.NotFoundError) and "/v1" not in exc.request.url.path:
                exc.add_note("is base_url without its /v1?")
            raise
        return answer

    def _parse_completion_response(
        self, start_datetime: datetime, response: Any, audio_format: str = "wav"
    ) -> ChatResponse:
        heard = _Heard(response)
        # the client hands a body that is not JSON on as a str
        for choice in (getattr(response, "choices", None) or [])[:1]:
            heard.listen(choice)
        metadata = heard.metadata()
        parsed = super()._parse_completion_response(start_datetime, response, audio_format)
        parsed.metadata.update(metadata)
        return parsed

    async def _parse_stream_response(
        self, start_datetime: datetime, response: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        heard: Any = _Heard(response)
        # agentscope joins the chunks without their metadata: join them here, and add it
        whole = ChatResponse(content=[], is_last=True)
        async with aclosing(super()._parse_stream_response(start_datetime, heard)) as chunks:
            async for chunk in chunks:
                whole.append_chat_response(chunk)
                whole.id = chunk.id
                yield chunk
        whole.metadata.update(heard.metadata())
        yield whole


class _UntypedCompletions(AsyncCompletions):
    """The client's `chat.completions`, which sends a request's fields as they are.

    agentscope has written them by then. To walk over their types takes longer than the rest of a call, and hundreds of
    rollouts make their calls in one event loop.
    """

    async def create(  # type: ignore[override]
        self, *, model: str, stream: bool = False, extra_body: Mapping[str, Any] | None = None, **body: Any
    ) -> Any:
        """A completion, or a stream of its chunks; the fields of `extra_body` win over those of `body`."""
        return await super().create(model=model, messages=(), stream=stream, extra_body={**body, **(extra_body or {})})


class _Heard:
    """Passes the endpoint's answer on to agentscope, and keeps the fields that agentscope drops."""

    def __init__(self, wire: Any) -> None:
        self._wire = wire
        self._logprobs: list[dict[str, Any]] | None = None
        self._finish_reason: str | None = None

    def listen(self, choice: Any) -> None:
        if choice.finish_reason:
            self._finish_reason = choice.finish_reason
        tokens = choice.logprobs.content if choice.logprobs else None
        if tokens is not None:
            self._logprobs = (self._logprobs or []) + [token.model_dump(exclude_none=True) for token in tokens]

    def metadata(self) -> dict[str, Any]:
        if self._finish_reason is None:
            raise ConnectionError(f"the endpoint's response broke off: it has no finish_reason: {self._wire!r:.200}")
        return {"finish_reason": self._finish_reason, "logprobs": self._logprobs}

    async def __aenter__(self) -> _Heard:
        await self._wire.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._wire.__aexit__(*error)

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for chunk in self._wire:
            for choice in chunk.choices[:1]:
                self.listen(choice)
            yield chunk


class _Recording:
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
        self._error: str | None = _NO_RESPONSE_YET
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
        self._end(_INTERRUPTED if _is_interrupted(response) else None)

    def fail(self, error: BaseException | str) -> None:
        """Record that there will be no whole response; without effect after `finish`."""
        self._end((error if isinstance(error, str) else f"{type(error).__name__}: {error}")[:_ERROR_CHARS])

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
            response=_assistant_message(arrived.content if arrived else ()) if self._answered() else None,
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


def _is_interrupted(response: ChatResponse) -> bool:
    """Whether agentscope made this response out of a cancellation, instead of raising it."""
    return bool(response.finished_reason == FinishedReason.INTERRUPTED)


def _assistant_message(blocks: Sequence[Any]) -> dict[str, Any]:
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
