"""Finds the last `\\boxed{}` of a model's output."""

from __future__ import annotations

import re
from typing import NamedTuple

_MACRO = "\\boxed"
# An escaped character is skipped as a whole: so `\{` opens nothing, and `\\}` (a line break, then a brace) closes.
# The backslash before `boxed` is the exception: `\\boxed` (a line break before it, or doubled as in JSON) opens a box
_EVENT = re.compile(r"\\(?:boxed|fbox)(?![a-zA-Z])\s*\{?|\\(?!\\(?:boxed|fbox)(?![a-zA-Z])).|[{}]", re.DOTALL)
# The usual box, whose inner braces are arguments of commands. The repetitions are possessive, so that no text is read
# twice
_FLAT = re.compile(r"\\boxed\s*+\{[^{}\\]*+(?:(?:\\[a-zA-Z]|\{[^{}\\]*+(?:\\[a-zA-Z][^{}\\]*+)*+\})[^{}\\]*+)*+\}")
_BARE_LOOK = 16
_BARE = re.compile(r"\\boxed(?![a-zA-Z])[ \t]*([^\s${},;.]+)")


# The text between boxes that are read together, because they may be one answer in several boxes,
# `\boxed{2}, \boxed{3}`, or several answers, `$\boxed{2}$ or $\boxed{3}$`
_BESIDE = re.compile(
    r"(?:[\s,;.&$、，；~和或与]|\\[()\[\],;:! \\]|\\q?quad|\\text\{\s*(?:and|or)\s*\}"
    r"|\b(?:and|or|else|either|maybe|perhaps|possibly|alternatively)\b|或者|也许|可能)*",
    re.IGNORECASE,
)
_MOST_BETWEEN = 60


def last_boxed(text: str) -> str | None:
    r"""The content of the last outermost `\boxed{…}` (or `\fbox{…}`) of `text`, stripped, with its nested braces.

    A box inside a box is part of the outer box. A box that is never closed is no answer, for the output was cut off
    there. TeX's form without braces, `\boxed 5`, ends at the next space or delimiter. The time is linear in the length
    of any text.

    Returns:
        The content, possibly empty, or None where there is no box.
    """
    start = text.rfind(_MACRO)
    if "\\fbox" not in text:
        if start < 0:
            return None
        if text.find(_MACRO) == start:
            only = _one_box(text, start)
            return None if only is None else inside(text, only).strip()
    boxes = _scan(text)
    return inside(text, boxes[-1]).strip() if boxes else None


def last_boxes(text: str) -> list[str]:
    r"""The last box and the boxes side by side with it: only spaces, signs, or a word like `or` stand between them.

    Returns:
        The contents in the order of the text, not stripped; empty where there is no box.
    """
    return [inside(text, box) for box in boxes_beside(text)]


def boxes_beside(text: str) -> list[Box]:
    """The boxes of `last_boxes`, with their positions in the text."""
    start = text.rfind(_MACRO)
    if "\\fbox" not in text and (start < 0 or text.find(_MACRO) == start):
        only = _one_box(text, start) if start >= 0 else None
        return [] if only is None else [only]
    boxes = _scan(text)
    beside = boxes[-1:]
    for box in reversed(boxes[:-1]):
        between = text[box.end : beside[-1].start]
        if len(between) > _MOST_BETWEEN or not _BESIDE.fullmatch(between):
            break
        beside.append(box)
    return beside[::-1]


class Box(NamedTuple):
    r"""A box's positions in the text.

    Attributes:
        start: the start of the macro.
        inside: the start of the content; -1 for a box without braces, `\boxed 5`.
        end: the end of the box.
    """

    start: int
    inside: int
    end: int


def inside(text: str, box: Box) -> str:
    """The content of `box`, not stripped."""
    if box.inside < 0:
        bare = _BARE.match(text, box.start)
        assert bare is not None
        return bare.group(1)
    return text[box.inside : box.end - 1]


def _one_box(text: str, start: int) -> Box | None:
    flat = _FLAT.match(text, start)
    if flat is not None:
        return Box(start, text.index("{", start) + 1, flat.end())
    depth = 0
    inside = start
    for event in _EVENT.finditer(text, start):
        found = event.group()
        if found == "}":
            depth -= 1
            if depth <= 0:
                return Box(start, inside, event.end()) if depth == 0 else None
        elif found[-1] == "{" and (found == "{" or event.start() == start):
            depth += 1
            inside = inside if depth > 1 else event.end()
        elif event.start() == start:
            bare = _BARE.match(text, start)
            return Box(start, -1, bare.end()) if bare else None
    return None


def _scan(text: str) -> list[Box]:
    """All outermost boxes of `text`, in order; empty when the last box is never closed.

    One pass with a stack of the open braces: each entry notes whether its brace opened a box.
    """
    stack: list[tuple[int, int]] = []
    boxes: list[Box] = []
    opened_at = closed_at = -1
    for event in _EVENT.finditer(text):
        found = event.group()
        if found == "}":
            if stack:
                start, inside = stack.pop()
                if start >= 0:
                    while boxes and boxes[-1].start > start:
                        boxes.pop()
                    boxes.append(Box(start, inside, event.end()))
                    closed_at = event.start()
        elif found == "{":
            stack.append((-1, event.end()))
        elif len(found) > 2:
            if found.endswith("{"):
                stack.append((event.start(), event.end()))
                opened_at = event.start()
            elif bare := _BARE.match(text, event.start(), event.end() + _BARE_LOOK):
                boxes.append(Box(event.start(), -1, bare.end()))
                closed_at = event.end()
    return [] if opened_at >= closed_at else boxes
