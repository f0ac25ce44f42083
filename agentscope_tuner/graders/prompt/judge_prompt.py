"""Builds prompts for judge models: a template filled with fenced data."""

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
    """One response in several turns, such as a whole trajectory. Each turn stands between markers of its own."""


def as_texts(
    values: Mapping[str, Any], language: LanguageEnum, max_chars: int, tokens: tuple[str, ...] = ()
) -> dict[str, str | list[str]]:
    """`values` as neutralised texts of at most `max_chars` each.

    A list of str stays a list. Other data becomes JSON, and None a text which says that none was given. See
    `neutralise` for `tokens`.
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
        own: values that are the grader's own words; they stand in the prompt as they are.
        texts: values that are data, as `as_texts` makes them; they are fenced.
        form: the form of the reply, in words. It stands at the end, behind the explanation of the fences.
        schema, top_logprobs, draw: see Prompt.
    """

    def write() -> list[ChatMessage]:
        respelled = any(not text.isascii() and not _RESPELLED.isdisjoint(text) for text in echoes(texts))
        delimiter = new_delimiter()
        *before, last = template.render(language, {**own, **fence_all(texts, delimiter)})
        ending = closing(language, delimiter, form, respelled)
        return [*before, ChatMessage(role=last.role, content=f"{last.content.rstrip()}\n\n{ending}")]

    # The identity leaves the delimiter out: it holds the text around the data, and the data
    frame = tuple((message.role, message.content) for message in template.in_language(language))
    identity = f"{_frame_json(language, frame, tuple(own.items()), form)}, {json.dumps(dict(texts))}]"
    return Prompt(write, identity, schema, top_logprobs, draw)


@lru_cache(maxsize=256)
def _frame_json(language: str, frame: tuple[tuple[str, str], ...], own: tuple[tuple[str, str], ...], form: str) -> str:
    """The text around the data as a JSON list without its closing bracket: all rows of a run share it."""
    return json.dumps([language, frame, dict(own), form])[:-1]


def echoes(texts: Texts) -> list[str]:
    """All the data of a prompt. JSON in a reply that repeats JSON of these texts was copied from them."""
    return [item for text in texts.values() for item in ([text] if isinstance(text, str) else text)]
