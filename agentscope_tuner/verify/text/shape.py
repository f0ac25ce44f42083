r"""Checks the shape of an output: each tag once and in order, and exactly one `\boxed{}`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from agentscope_tuner.verify.boxed import last_boxed
from agentscope_tuner.verify.text.fences import fenced
from agentscope_tuner.verify.text.words import visible


class Shaped(NamedTuple):
    """Attributes:
    part: the text inside the last tag; None where the shape is broken.
    problem: the fault of the shape, in words; empty for a correct shape.
    """

    part: str | None
    problem: str = ""


def read_tags(
    text: str, tags: Sequence[str], *, opened: bool = False, around: bool = False, empty: bool = False
) -> Shaped:
    """Check that `text` is `<first>…</first><second>…</second>…`: each tag once, in this order, none inside another.

    DeepSeek-R1's format reward (arXiv 2501.12948, section 2.2.2) asks for the reasoning and the answer between their
    tags. A later reader of the answer must find exactly one, so each tag must occur once in all of the text. Tags in
    the reasoning, in a code block, or in another spelling (`<Answer >`) count, too.

    Args:
        tags: names without their brackets.
        opened: the prompt ends with the first opening tag, so that the output begins inside it.
        around: whether words may stand outside of the tags; white space is always allowed.
        empty: whether a tag may be empty.
    """
    names = "|".join(re.escape(tag) for tag in tags)
    any_tag = re.compile(rf"<\s?(/?)\s?({names})(?![\w-])[^<>]{{0,100}}>", re.IGNORECASE)
    expected = [f"<{slash}{tag}>" for tag in tags for slash in ("", "/")][1 if opened else 0 :]
    inside, at, outside, part = opened, 0, "", ""
    found = 0
    for tag in any_tag.finditer(text):
        if found == len(expected):
            return Shaped(None, f"{tag[0]!r:.60} after the last of the tags")
        if tag[0] != expected[found]:
            return Shaped(None, f"{tag[0]!r:.60} where {expected[found]} is due")
        between, at = text[at : tag.start()], tag.end()
        if inside:
            part = between
            if not (empty or visible(part).strip()):
                return Shaped(None, f"nothing before {expected[found]}")
        else:
            outside += between
            if not fenced(outside).closed:
                return Shaped(None, f"{expected[found]} stands in a code block")
        inside, found = not inside, found + 1
    if found < len(expected):
        return Shaped(None, f"no {expected[found]}")
    outside += text[at:]
    if not around and outside.strip():
        return Shaped(None, f"{outside.strip()!r:.40} stands outside of the tags")
    return Shaped(part)


# An escaped character is skipped as a whole, because `\\boxed` is a line break and a word
_BOX = re.compile(r"\\(?:(boxed|fbox)(?![a-zA-Z])|.)", re.DOTALL)


def box_problem(text: str) -> str:
    r"""The reason why `text` does not hold exactly one filled `\boxed{}`; empty when it does."""
    count = sum(box[1] is not None for box in _BOX.finditer(text))
    if count != 1:
        return f"{count} boxes, where one is asked for" if count else r"no \boxed{}"
    inside = last_boxed(text)
    if inside is None:
        return r"a \boxed{} that is never closed"
    return "" if visible(inside).strip() else r"an empty \boxed{}"
