"""Separates the code blocks of a Markdown text from the rest."""

from __future__ import annotations

import re
from typing import NamedTuple

_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}+|~{3,}+)([^\n`]*+)$", re.MULTILINE)


class Fenced(NamedTuple):
    """Attributes:
    blocks: the contents of the code fences, in order.
    outside: the rest of the text, with a line break in place of each block.
    closed: whether the last fence is closed; the text behind an unclosed fence is in neither `blocks` nor `outside`.
    """

    blocks: list[str]
    outside: str
    closed: bool


def fenced(text: str) -> Fenced:
    """`text` split at its code fences, ``` or ~~~; the closing fence has at least as many characters."""
    blocks: list[str] = []
    outside: list[str] = []
    opened: re.Match[str] | None = None
    at = 0
    for fence in _FENCE.finditer(text):
        if opened is None:
            outside.append(text[at : fence.start()])
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            blocks.append(text[opened.end() : fence.start()])
            opened, at = None, fence.end()
    if opened is None:
        outside.append(text[at:])
    return Fenced(blocks, "\n".join(outside), opened is None)
