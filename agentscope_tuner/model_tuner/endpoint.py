"""An OpenAI-compatible endpoint as an agentscope model that loses nothing a trainer needs."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import datetime
from functools import cache
from types import TracebackType
from typing import Any

import httpx
from agentscope.credential import OpenAICredential
from agentscope.model import ChatResponse, OpenAIChatModel
from pydantic import SecretStr


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
    import openai

    from agentscope_tuner.model_tuner.direct import is_proxied

    if logprobs:
        body["logprobs"] = True
    # the faster of the client's two transports when many rollouts wait at once. Without a proxy it need not search the
    # environment, which takes half as long as the rest of making a model
    transport = openai.DefaultAioHttpClient(verify=_tls(), trust_env=is_proxied())
    return EndpointModel(
        OpenAICredential(api_key=SecretStr(api_key), base_url=base_url),
        model,
        stream=stream,
        max_retries=0,
        client_kwargs={"http_client": transport, "max_retries": max_retries},
        extra_body=body,
    )


@cache
def _tls() -> ssl.SSLContext:
    """Loaded once: to load the certificates takes longer than the rest of making a model, which rollouts do in turn."""
    return httpx.create_ssl_context()


class EndpointModel(OpenAIChatModel):
    """agentscope's OpenAI model, which also keeps `logprobs` and `finish_reason` in the last response's `metadata`.

    A response without a `finish_reason` is no response: the model had not ended. It raises a ConnectionError, where
    agentscope would hand on a shorter answer.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        from agentscope_tuner.model_tuner.direct import DirectCompletions

        self._completions = DirectCompletions(self.client, kwargs["client_kwargs"]["http_client"], _tls())
        # The client makes its own `chat` on first use
        vars(self.client.chat)["completions"] = self._completions

    async def aclose(self) -> None:
        """Close the connections."""
        await self._completions.aclose()
        await self.client.close()

    async def _call_api(self, *args: Any, **kwargs: Any) -> ChatResponse | AsyncGenerator[ChatResponse, None]:
        import openai

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

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._wire.__aexit__(kind, exc, trace)

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for chunk in self._wire:
            for choice in chunk.choices[:1]:
                self.listen(choice)
            yield chunk
