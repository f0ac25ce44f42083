"""Prompts in several languages, with `{variables}` filled in one pass."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

# one identifier in braces; braces of JSON examples hold quotes, spaces or nothing and stay as they are
_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


class LanguageEnum(StrEnum):
    """The languages that prompts come in."""

    EN = "en"
    ZH = "zh"


class ChatMessage(BaseModel):
    """One message of a prompt."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Literal["system", "user", "assistant"] = "user"
    content: str


class PromptTemplate(BaseModel):
    """The same prompt in one or more languages.

    `{name}` in a message is a variable; every other brace is text. Values are inserted as they are: what looks like a
    variable inside a value is not filled in again.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    messages: Mapping[LanguageEnum, list[ChatMessage]]

    @classmethod
    def of(cls, en: str, zh: str) -> PromptTemplate:
        """One user message in English and Chinese, white space at its ends removed."""
        both = {LanguageEnum.EN: en, LanguageEnum.ZH: zh}
        return cls(messages={language: [ChatMessage(content=text.strip())] for language, text in both.items()})

    def in_language(self, language: LanguageEnum | str) -> list[ChatMessage]:
        """The messages in `language`.

        Raises:
            ValueError: the template has no such language; another one is never put in its place.
        """
        chosen = self.messages.get(LanguageEnum(language))
        if not chosen:
            raise ValueError(f"the template has no {str(language)!r} messages, only {sorted(self.messages)!r}")
        return chosen

    def variables(self, language: LanguageEnum | str) -> set[str]:
        """The names of the variables that the messages in `language` use."""
        return {name for message in self.in_language(language) for name in _VARIABLE.findall(message.content)}

    def render(self, language: LanguageEnum | str, values: Mapping[str, str]) -> list[ChatMessage]:
        """The messages with every variable filled in.

        Raises:
            ValueError: a variable has no value.
        """
        return [
            ChatMessage(role=message.role, content=fill(message.content, values))
            for message in self.in_language(language)
        ]


def fill(text: str, values: Mapping[str, str]) -> str:
    """`text` with each `{name}` replaced by `values[name]`, in one pass.

    Raises:
        ValueError: a variable has no value.
    """
    return _VARIABLE.sub(_lookup(values), text)


def _lookup(values: Mapping[str, str]) -> Callable[[re.Match[str]], str]:
    def value_of(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            raise ValueError(f"the prompt uses {{{name}}}, which was not given; given are {sorted(values)!r}")
        return values[name]

    return value_of
