"""ModelTuner: the model that a workflow's agents use; it records their calls and its answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from typing import Any

from agentscope.message import Msg
from agentscope.model import ChatModelBase, ChatResponse
from agentscope.tool import ToolChoice

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.model_tuner.call import ABANDONED, BROKEN_OFF, ModelCall, Recording, interrupted
from agentscope_tuner.model_tuner.endpoint import EndpointModel, endpoint_model

# The role of an agent that uses the tuner itself as its model
DEFAULT_ROLE = "default"


class RecordedModel(ChatModelBase):
    """An agentscope model that hands every call to `inner` and records it under a role.

    `inner` retries by its own rules. The record has one entry for each call, with the last error where all tries
    failed. A cancelled call raises CancelledError, where agentscope's base class would answer with nothing.
    """

    def __init__(self, inner: ChatModelBase, recordings: list[Recording], role: str, trainable: bool) -> None:
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
        recording = Recording(self.role, self.trainable, self.inner.model, tools, tool_choice)
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
        if interrupted(answer):
            raise asyncio.CancelledError
        return answer

    async def _relay(
        self, stream: AsyncGenerator[ChatResponse, None], recording: Recording
    ) -> AsyncGenerator[ChatResponse, None]:
        try:
            async with aclosing(stream):
                async for chunk in stream:
                    if not chunk.is_last:
                        recording.add(chunk)
                    else:
                        # Record first: the reader may stop after this chunk
                        recording.finish(chunk)
                        if interrupted(chunk):
                            raise asyncio.CancelledError
                    yield chunk
        except GeneratorExit:
            recording.fail(ABANDONED)
            raise
        # Also on Ctrl-C and cancellation
        except BaseException as exc:
            recording.fail(exc)
            raise
        recording.fail(BROKEN_OFF)

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
