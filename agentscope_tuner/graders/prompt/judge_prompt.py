"""Prompts for judge models: a template filled with data that stays data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from agentscope_tuner.graders.client.chat_model import Prompt
from agentscope_tuner.graders.prompt.fence import fence_all, neutralise, new_delimiter
from agentscope_tuner.graders.prompt.markers import RESPELLED
from agentscope_tuner.graders.prompt.template import ChatMessage, LanguageEnum, PromptTemplate
from agentscope_tuner.graders.prompt.wording import closing, nothing_given

Texts = Mapping[str, str | list[str]]

_RESPELLED = frozenset(RESPELLED)


class Trajectory(tuple[str, ...]):
    """One response in several turns, such as a whole trajectory; each stands between markers of its own."""


def as_texts(
    values: Mapping[str, Any], language: LanguageEnum, max_chars: int, tokens: tuple[str, ...] = ()
) -> dict[str, str | list[str]]:
    """`values` as neutralised texts, at most `max_chars` each: lists of str as lists, other data as JSON, None in
    words; `tokens`, see `neutralise`.
    """

    def text(value: Any) -> str | list[str]:
        if value is None:
            return nothing_given(language)
        if isinstance(value, str):
            return neutralise(value, max_chars, tokens)
        if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            return [neutralise(item, max_chars, tokens) for item in value]
        return neutralise(json.dumps(value, ensure_ascii=False, default=str), max_chars, tokens)

    return {name: text(value) for name, value in values.items()}


def build_prompt(
    template: PromptTemplate,
    language: LanguageEnum,
    own: Mapping[str, str],
    texts: Texts,
    form: str,
    schema: Mapping[str, Any] | None = None,
    top_logprobs: int = 0,
    draw: int = 0,
) -> Prompt:
    """The prompt that `template` makes.

    Args:
        template: the prompt's frame.
        language: which of its languages.
        own: variables whose values are the grader's own words and stand in the prompt as they are.
        texts: variables whose values are data, as `as_texts` makes them; they are fenced.
        form: what to reply, in words; stands at the end, after what the fences mean.
        schema, top_logprobs, draw: see Prompt.
    """

    def write() -> list[ChatMessage]:
        respelled = any(not text.isascii() and not _RESPELLED.isdisjoint(text) for text in echoes(texts))
        delimiter = new_delimiter()
        *before, last = template.render(language, {**own, **fence_all(texts, delimiter)})
        ending = closing(language, delimiter, form, respelled)
        return [*before, ChatMessage(role=last.role, content=f"{last.content.rstrip()}\n\n{ending}")]

    # the same question whatever the delimiter: what stands around the data, and the data
    frame = tuple((message.role, message.content) for message in template.in_language(language))
    identity = f"{_around(language, frame, tuple(own.items()), form)}, {json.dumps(dict(texts))}]"
    return Prompt(write, identity, schema, top_logprobs, draw)


@lru_cache(maxsize=256)
def _around(language: str, frame: tuple[tuple[str, str], ...], own: tuple[tuple[str, str], ...], form: str) -> str:
    """A JSON list of what stands around the data, open at its end: the same for all rows of a run."""
    return json.dumps([language, frame, dict(own), form])[:-1]


def echoes(texts: Texts) -> list[str]:
    """All the data of a prompt: JSON in a reply that stands here word for word was copied from it."""
    return [item for text in texts.values() for item in ([text] if isinstance(text, str) else text)]
