"""The one client of judge models: OpenAI-compatible, limited, retried, cached, counted.

    model = ChatModel(ChatSettings(model_name="qwen-plus"))
    answer = await model.ask(prompt, parse)

The model is asked until a reply parses, within the verdict's deadline. A failure never becomes a value. Equal questions
asked at the same time share one request, and each caller reads its reply: two may read other verdicts in it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Generic, TypeVar

from agentscope_tuner._http.retries import is_refused
from agentscope_tuner._run import loops
from agentscope_tuner._run.forks import Kept
from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.client import requests
from agentscope_tuner.graders.client.reply import AnswerAtFault, Reply, ReplyError, UnreadableReplies
from agentscope_tuner.graders.client.settings import ChatSettings, Endpoint, resolve
from agentscope_tuner.graders.client.usage import Usage, record_call
from agentscope_tuner.graders.client.verdict_cache import ReplyStore, VerdictCache
from agentscope_tuner.graders.template import ChatMessage

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Flight(Generic[T]):
    """A question that is being asked, shared by its callers. When the last caller stops waiting, it is cancelled.

    Attributes:
        task: the task that asks the question.
        flights: all questions that are being asked.
        place: the key of this question in `flights`.
        waiting: how many callers wait.
    """

    task: asyncio.Task[T]
    flights: dict[tuple[str, int], Any]
    place: tuple[str, int]
    waiting: int = 0

    async def join(self) -> T:
        """Wait for the answer as one more caller; raises the question's error."""
        self.waiting += 1
        try:
            return await asyncio.shield(self.task)
        finally:
            self.waiting -= 1
            if not self.waiting:
                if self.flights.get(self.place) is self:
                    del self.flights[self.place]  # a later caller must not join a question that is being cancelled
                self.task.cancel()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question to a judge model.

    Attributes:
        messages: makes the messages. A question that the cache answers needs none.
        identity: a text that is equal for equal questions. The messages may differ between these, by a delimiter drawn
            for each call. When empty, the messages' own text is compared.
        schema: the JSON schema of the reply; None when the reply is free text.
        top_logprobs: how many log probabilities to ask for per token; 0 for none.
        draw: the number of the vote. Prompts with different draws are different questions.
        images: the URLs of images, by the names that the messages use for them; shown before the last message.
        again: makes, from a reply that could not be read, the text that is added to the last message of the next
            request. It asks for the verdict of that reply: a text that makes only low verdicts unreadable would else be
            judged anew until a high verdict comes.
        said: an unreadable reply to an earlier question about the same answer; empty if there is none.
    """

    messages: Callable[[], Sequence[ChatMessage]]
    identity: str = ""
    schema: Mapping[str, Any] | None = None
    top_logprobs: int = 0
    draw: int = 0
    images: Mapping[str, str] = field(default_factory=dict)
    again: Callable[[str], str] = "".format
    said: str = ""


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A `reply` that parsed, its `value`, and the `usage` that it took."""

    value: T
    usage: Usage
    reply: Reply


class ChatModel:
    """A judge model. Models with equal settings share one HTTP client, one set of limits and one count of usage in a
    process.

    Safe to use from any thread, event loop, forked child or Ray actor; picklable. Nothing is opened before the first
    `ask`.

    Args:
        settings: which model, where, and within which limits.
        store: where replies that parsed are kept. When None, the verdict cache on disk if `settings.cache` is on.
        budget_name: models with the same name spend one budget, which their settings must state alike. A model with an
            empty name has a budget of its own.
    """

    def __init__(self, settings: ChatSettings, store: ReplyStore | None = None, budget_name: str = "") -> None:
        self.settings = settings
        self._store = store
        self.budget_name = budget_name
        self._state_of: tuple[int, requests.SharedState | None] = (0, None)

    def __repr__(self) -> str:
        return f"ChatModel({self.settings!r})"

    def __getstate__(self) -> dict[str, Any]:
        kept = {"settings": self.settings, "_store": self._store, "budget_name": self.budget_name}
        return {**kept, "_state_of": (0, None)}

    @Kept
    def endpoint(self) -> Endpoint:
        """Where requests go.

        Raises:
            ConfigError: there is no key for this model.
        """
        first, *more = self.settings.keys or (None,)
        found = resolve(self.settings.model_name, self.settings.base_url, first)
        headers = tuple((name, value.get_secret_value()) for name, value in self.settings.headers.items())
        more_keys = tuple(key for key in more if key is not None)
        return replace(found, headers=headers, query=tuple(self.settings.query.items()), more_keys=more_keys)

    @property
    def usage(self) -> Usage:
        """The usage of this model in this process so far."""
        return self._state.usage

    async def ask(
        self,
        prompt: Prompt,
        parse: Callable[[Reply], T],
        *,
        counts: bool = True,
        limits: ChatSettings | None = None,
    ) -> Answer[T]:
        """Ask until a reply parses.

        An equal question that is being asked is waited for. The store answers a question that was answered before.

        Args:
            prompt: the question.
            parse: turns a reply into a value; raises ReplyError for a reply without one.
            counts: whether an UnreadableReplies counts as a failure of the endpoint; if not, the caller may decide so
                later, with `count_failure`.
            limits: the settings whose deadline and bounds on tries hold for this question, in place of the model's.

        Raises:
            GraderError: no readable reply within the deadline and the bounds on retries; names each try's failure.
            ConfigError: there is no key for this model.
        """
        loop, asked = loops.get_loop(), self._ask(prompt, parse, counts, limits)
        if asyncio.get_running_loop() is loop:
            return await asked
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asked, loop))

    async def _ask(
        self, prompt: Prompt, parse: Callable[[Reply], T], counts: bool, limits: ChatSettings | None
    ) -> Answer[T]:
        state = self._state
        store = self._store or state.cache
        key = self.key(prompt)
        # Models with different stores do not share a question: a journal must get every reply of its learning
        place = (key, id(self._store))
        try:
            answer = None if store is None else _read_anew(store.get(key), parse)
            flight = state.flights.get(place)
            if answer is None and flight is not None:
                answer = _read_anew((await flight.join()).reply, parse)
            if answer is not None:
                state.spent(answer.usage)
            else:
                work = self._fetch_and_keep(state, store, key, prompt, parse, counts, limits)
                state.flights[place] = flight = Flight(asyncio.create_task(work), state.flights, place)
                answer = await flight.join()
        except GraderError as exc:
            record_call(self.settings.model_name, prompt.messages, error=str(exc))
            raise
        record_call(self.settings.model_name, prompt.messages, reply=answer.reply.text)
        return answer

    async def embed(self, model_name: str, texts: Sequence[str]) -> list[list[float]]:
        """Embeddings of `texts` by the same endpoint's `model_name`.

        Raises:
            GraderError: the endpoint did not give one embedding for each text.
        """
        asked = requests.embed(self._state, model_name, texts)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asked, loops.get_loop()))

    @property
    def _state(self) -> requests.SharedState:
        # A forked child must not use its parent's connections, so each process has a state of its own
        if self._state_of[0] != os.getpid():
            self._state_of = (os.getpid(), requests.shared_state(self.settings, self.endpoint, self.budget_name))
        state = self._state_of[1]
        assert state is not None
        return state

    async def _fetch_and_keep(
        self,
        state: requests.SharedState,
        store: ReplyStore | None,
        key: str,
        prompt: Prompt,
        parse: Callable[[Reply], T],
        counts: bool,
        limits: ChatSettings | None,
    ) -> Answer[T]:
        try:
            reply, value, usage = await requests.fetch(
                state, self._body(prompt), prompt.schema, parse, limits, prompt.again
            )
        except AnswerAtFault:
            state.breaker.succeeded()  # the endpoint answered, and the reply was read
            raise
        except GraderError as exc:
            if counts or not isinstance(exc, UnreadableReplies):
                state.breaker.failed(exc, refused=not state.answered and is_refused(exc))
            raise
        state.breaker.succeeded()
        state.judged = True
        if store is not None:
            store.put(key, reply, usage)
        return Answer(value, usage, reply)

    def count_failure(self, failure: UnreadableReplies) -> None:
        """Count `failure` as a failure of the endpoint; after many in a row nothing is asked for a while.

        Not for a failure that the judged text caused, or a policy whose texts break the judge could stop it.
        """
        self._state.breaker.failed(failure)

    def is_kept(self, prompt: Prompt) -> bool:
        """Whether the store has a reply to `prompt`. Sends nothing, and creates no file."""
        store = self._store or self._state.cache
        if store is None or (isinstance(store, VerdictCache) and not store.exists):
            return False
        return store.get(self.key(prompt)) is not None

    def key(self, prompt: Prompt) -> str:
        """The digest under which a reply to `prompt` is kept: endpoint, model, messages, sampling, schema, draw."""
        digest = hashlib.sha256(self._sampling)
        if prompt.identity:
            digest.update(prompt.identity.encode())
        else:
            digest.update(json.dumps([[message.role, message.content] for message in prompt.messages()]).encode())
        digest.update(f"[{json.dumps(prompt.schema)}, {prompt.top_logprobs}, {prompt.draw}]".encode())
        return digest.hexdigest()

    @Kept
    def _sampling(self) -> bytes:
        settings = self.settings
        parts = [settings.model_name, settings.temperature, settings.max_tokens, settings.extra_body]
        return json.dumps([self.endpoint.base_url, *parts], sort_keys=True).encode()

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        settings = self.settings
        messages: list[dict[str, Any]] = list(map(ChatMessage.model_dump, prompt.messages()))
        if prompt.said:
            messages[-1]["content"] += prompt.again(prompt.said)
        if prompt.images:
            parts = [_part(name, url) for name, url in prompt.images.items()]
            messages[-1]["content"] = [*chain(*parts), {"type": "text", "text": messages[-1]["content"]}]
        body: dict[str, Any] = {"model": settings.model_name, "messages": messages}
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if prompt.top_logprobs:
            # The first token that is not white space decides, and a model may begin with some white space
            body |= {"logprobs": True, "top_logprobs": prompt.top_logprobs, "max_tokens": 4}
        elif settings.max_tokens is not None:
            body["max_tokens"] = settings.max_tokens
        return body | settings.extra_body


def _read_anew(reply: Reply | None, parse: Callable[[Reply], T]) -> Answer[T] | None:
    """The answer in a reply to another caller, now or earlier; None if there is no reply, or one that `parse` refuses.

    An earlier version with laxer rules may have kept such a reply, or the other caller reads another verdict in it.
    """
    try:
        return None if reply is None else Answer(parse(reply), Usage(cache_hits=1), reply)
    except ReplyError:
        return None


def _part(name: str, url: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": f"image {name}:"}, {"type": "image_url", "image_url": {"url": url}}]
