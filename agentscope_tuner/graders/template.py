"""Prompts in several languages, with `{variables}` filled in one pass."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

# One identifier in braces. Braces of JSON examples hold quotes, spaces or nothing, so they stay as they are
_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_FORMAT_STYLE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")
# Ranges such as "from 1 to 5", "1-5", "0 到 10", and lines of a scale such as "5: all of it", "1：无关"
_SPAN = re.compile(
    r"(?<![A-Za-z\d_.])(-?\d+(?:\.\d+)?)\s*分?\s*(?:to|through|-|–|—|~|～|〜|到|至|から)\s*(-?\d+(?:\.\d+)?)(?![A-Za-z\d_%]|\.\d)"
    r"(?!\s*(?:(?:short|brief|full) )?(?:sentences|words|lines|paragraphs|bullet|句|个?字|行|段))",
    re.IGNORECASE,
)
# "满分10分", "out of 10": from 0
_FULL_MARKS = re.compile(r"(?:满分(?:为|是|：|:)?|out of)\s*(\d+)(?![\d%]|\.\d)", re.IGNORECASE)
_ABOUT_SCORES = re.compile(r"scor|rat(?:e|ing)|scale|grade|mark|points|分|[评評]", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+(-?[\d.]+)\s+and\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.。;；!?！？]\s|\n")
_SCALE_LINE = re.compile(r"^[ \t*-]*(-?\d+(?:\.\d+)?)[ \t*]*(?::|：|=| - | – )", re.MULTILINE)


# The variable that a block shows, and its Chinese tag, by its English tag
_BLOCKS = {
    "query": ("query", "问题"),
    "reference": ("ground_truth", "参考答案"),
    "context": ("context", "上下文"),
    "tools": ("tool_definitions", "工具定义"),
    "response": ("response", "回答"),
    "responses": ("response", "回答列表"),
    "material": ("response", "材料"),
    "rubrics": ("rubrics", "评分标准"),
    "criteria": ("criteria", "标准"),
    "grader_reason": ("reason", "评分员理由"),
}


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

    `{name}` in a message is a variable; every other brace is text. In a message that holds `{{`, braces are written as
    in Python's format strings: `{{` and `}}` stand for one brace, and `{{name}}` is no variable. Values are inserted as
    they are: a variable's name inside a value is not filled in again.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    messages: Mapping[LanguageEnum, list[ChatMessage]]

    @classmethod
    def of(cls, en: str, zh: str, *blocks: str) -> PromptTemplate:
        """A template of one user message in English and in Chinese.

        Args:
            en: the beginning of the message in English.
            zh: the same in Chinese.
            blocks: the data that follow it, by their English tags; see `_BLOCKS`.
        """
        return cls(
            messages={
                language: [ChatMessage(content="\n\n".join([text, *(_block(tag, language) for tag in blocks)]))]
                for language, text in ((LanguageEnum.EN, en), (LanguageEnum.ZH, zh))
            }
        )

    def in_language(self, language: LanguageEnum | str) -> list[ChatMessage]:
        """The messages in `language`.

        Raises:
            ValueError: the template has no messages in `language`; another language never replaces it.
        """
        if not (chosen := self.messages.get(LanguageEnum(language))):
            raise ValueError(f"the template has no {str(language)!r} messages, only {sorted(self.messages)!r}")
        return chosen

    def variables(self, language: LanguageEnum | str) -> set[str]:
        """The names of the variables that the messages in `language` use."""
        return {name for message in self.in_language(language) for _, name in _pieces(message.content)[0]}

    def stated_range(self, language: LanguageEnum | str) -> tuple[float, float] | None:
        """The range of scores that the prompt's words state; None if they state none, or several ranges that differ.

        The words are the lines of a scale, "5: …" down to "1: …", or a span such as "from 1 to 5".
        """
        text = "\n".join(message.content for message in self.in_language(language)).replace("−", "-")
        text = _BETWEEN.sub(r"\1 to", text)
        lines = [float(number) for number in _SCALE_LINE.findall(text)]
        about = [sentence for sentence in _SENTENCE_END.split(text) if _ABOUT_SCORES.search(sentence)]
        found = [(float(low), float(high)) for sentence in about for low, high in _SPAN.findall(sentence)]
        spans = {(low, high) for low, high in found if low < high}
        marks = {float(most) for sentence in about for most in _FULL_MARKS.findall(sentence)}
        spans |= {(0.0, most) for most in marks.difference(high for _, high in spans)}
        if len(set(lines)) > 1:
            spans.add((min(lines), max(lines)))
        return spans.pop() if len(spans) == 1 else None


def read_words(file: Path) -> Mapping[str, Any]:
    """The words of prompts in a TOML file of this package, which is beside the code that uses them."""
    return tomllib.loads(file.read_text(encoding="utf-8"))


def template_of(told: Mapping[str, Any]) -> PromptTemplate:
    """The template in a table of a file that `read_words` reads: a text as `en` and as `zh`, and the `blocks`."""
    return PromptTemplate.of(told["en"], told["zh"], *told["blocks"])


def _block(tag: str, language: LanguageEnum) -> str:
    variable, chinese = _BLOCKS[tag]
    shown = tag if language is LanguageEnum.EN else chinese
    return f"<{shown}>\n{{{variable}}}\n</{shown}>"


def fill(text: str, values: Mapping[str, str]) -> str:
    """`text` with each `{name}` replaced by `values[name]`; a `{name}` inside a value is not replaced.

    Raises:
        ValueError: a variable has no value.
    """

    pieces, rest = _pieces(text)
    filled = ""
    for before, name in pieces:
        if name not in values:
            raise ValueError(f"the prompt uses {{{name}}}, which was not given; given are {sorted(values)!r}")
        filled += before + values[name]
    return filled + rest


def headings(text: str) -> tuple[str, ...]:
    """The fixed pieces of a prompt's lines, such as headings and tags, which no text that is filled in may contain.

    `<answer>\\n{response}` has the piece `<answer>`.
    """
    pieces = (piece.strip() for line in text.splitlines() for piece in _VARIABLE.split(line)[::2])
    return tuple(dict.fromkeys(piece for piece in pieces if len(piece) > 1 and re.search(r"\w", piece)))


@lru_cache(maxsize=512)
def _pieces(text: str) -> tuple[list[tuple[str, str]], str]:
    """Each variable with the text before it, and the text behind the last: `([("a ", "x")], " b")` for `a {x} b`."""
    pieces: list[tuple[str, str]] = []
    before, end = "", 0
    for match in (_FORMAT_STYLE if "{{" in text else _VARIABLE).finditer(text):
        before, end = before + text[end : match.start()], match.end()
        if match[1] is None:
            before += match[0][0]
        else:
            pieces.append((before, match[1]))
            before = ""
    return pieces, before + text[end:]
