"""The last `\\boxed{}` of a model's output."""

from __future__ import annotations

import re

_MACRO = "\\boxed"
# an escaped character is skipped whole, so that `\{` opens nothing and `\\}` (a line break, then a brace) closes
_EVENT = re.compile(r"\\(?:boxed|fbox)(?![a-zA-Z])\s*\{?|\\.|[{}]", re.DOTALL)
_BARE_LOOK = 16
_BARE = re.compile(r"\\boxed(?![a-zA-Z])[ \t]*([^\s${},;.]+)")


def last_boxed(text: str) -> str | None:
    r"""What stands inside the last outermost `\boxed{…}` (or `\fbox{…}`) of `text`, nested braces kept, stripped.

    A box inside a box is part of the outer one, and a box that is never closed (an output cut off) is no answer. TeX's
    form without braces, `\boxed 5`, is read up to the next space or delimiter. Linear in the text, whatever it holds.

    Returns:
        The content, possibly empty, or None where there is no box.
    """
    start = text.rfind(_MACRO)
    if "\\fbox" not in text:
        if start < 0:
            return None
        if text.find(_MACRO) == start:
            return _one_box(text, start)
    return _scan(text)


def _one_box(text: str, start: int) -> str | None:
    depth = 0
    inside = start
    for event in _EVENT.finditer(text, start):
        found = event.group()
        if found == "}":
            depth -= 1
            if depth <= 0:
                return text[inside : event.start()].strip() if depth == 0 else None
        elif found[-1] == "{" and (found == "{" or event.start() == start):
            depth += 1
            inside = inside if depth > 1 else event.end()
        elif event.start() == start:
            bare = _BARE.match(text, start)
            return bare.group(1) if bare else None
    return None


def _scan(text: str) -> str | None:
    """One pass with a stack: an open brace remembers whether it opened a box, so the box that closes last wins."""
    stack: list[tuple[bool, int]] = []
    # where the last box stands: its inside is cut out once, at the end, for there may be thousands
    last: tuple[int, int] | None = None
    bare_at: int | None = None
    opened_at = closed_at = -1
    for event in _EVENT.finditer(text):
        found = event.group()
        if found == "}":
            if stack:
                is_box, inside = stack.pop()
                if is_box:
                    last, bare_at, closed_at = (inside, event.start()), None, event.start()
        elif found == "{":
            stack.append((False, event.end()))
        elif len(found) > 2:
            if found.endswith("{"):
                stack.append((True, event.end()))
                opened_at = event.start()
            elif _BARE.match(text, event.start(), event.end() + _BARE_LOOK):
                bare_at, closed_at = event.start(), event.end()
    if opened_at > closed_at:
        return None
    if bare_at is not None and (bare := _BARE.match(text, bare_at)):
        return bare.group(1)
    return text[last[0] : last[1]].strip() if last else None
