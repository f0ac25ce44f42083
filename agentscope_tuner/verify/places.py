r"""Finds the answer in an output: in a box, between tags, behind `####`, behind a label, or at the end.

Several places must not give a policy several tries. So only one place is read: the first configured place that holds an
answer. Models correct themselves, so the last of several answers in that place counts. But two different answers side
by side, as in `Answer: 41. Answer: 42`, are no answer.

The output is hostile text, so each reader passes over it once, and examines a bounded number of candidates of bounded
length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from agentscope_tuner.verify.boxed import boxes_beside, inside
from agentscope_tuner.verify.labels import labelled
from agentscope_tuner.verify.statements import DENIAL, Found, is_denied, is_prose, sole_answer, statement_at
from agentscope_tuner.verify.taken_back import is_taken_back, negated

Place = Literal["boxed", "tag", "hash", "label", "last_value"]


class PlacedAnswer(NamedTuple):
    """Attributes:
    text: the answer, without its box, tags or label; None when no answer was found.
    where: the place of the answer, in words; without an answer, the reason.
    raw: the answer with the white space around it, because a damaged LaTeX command may look like white space.
    """

    text: str | None
    where: str
    raw: str = ""


def find_answer(output: str, places: Sequence[Place]) -> PlacedAnswer:
    """The answer that `output` states in the first of `places` that holds an answer.

    Reasoning behind a `<think>` tag never counts, whether the tag is closed or not.
    """
    said = after_thinking(output)
    for place in places:
        found = _READERS[place](said)
        if found is None:
            continue
        # An empty box is handed on as an answer, because the verifier's reason names it
        problem = found.problem or ("" if found.text or place == "boxed" else "nothing")
        if problem:
            return PlacedAnswer(None, f"{problem} in {_NAMES[place]}")
        return PlacedAnswer(found.text, _NAMES[place], found.raw or found.text)
    sought = ", ".join(f"no {_SHORT_NAMES[place]}" for place in places)
    return PlacedAnswer(None, f"{sought} in the answer" + ("" if said is output else " after the thinking"))


_THINKING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)\b[^<>]{0,100}>", re.IGNORECASE)


def after_thinking(text: str) -> str:
    """`text` without its reasoning; the same string object when it has no reasoning tags.

    Tags may be nested. An output may be cut off while it reasons, so everything behind a tag that is never closed is
    reasoning. Chat templates may open the tag in the prompt, so everything before a closing tag that was never opened
    is reasoning, too.
    """
    tags = list(_THINKING.finditer(text)) if "<" in text else []
    if not tags:
        return text
    kept: list[str] = []
    depth = at = 0
    for tag in tags:
        if not tag[1]:
            if depth == 0:
                kept.append(text[at : tag.start()])
            depth += 1
        elif depth == 0:
            kept.clear()
        else:
            depth -= 1
        at = tag.end()
    if depth == 0:
        kept.append(text[at:])
    return "\n".join(kept)


def _in_box(text: str) -> Found | None:
    boxes = boxes_beside(text)
    if not boxes:
        return None
    last = boxes[-1]
    if is_taken_back(text, last.start, last.end, inside(text, last)):
        value = negated(text, last.start, last.end, inside(text, last))
        return Found("", DENIAL) if value is None else Found(value, "", value)
    return sole_answer([inside(text, box) for box in boxes])


_TAG = re.compile(r"<(/?)answer\b[^<>]{0,100}>", re.IGNORECASE)
_MOST_CANDIDATES = 64


def _in_tag(text: str) -> Found | None:
    answers: list[str] = []
    opened = closed = -1
    for tag in _TAG.finditer(text):
        if not tag[1]:
            if closed >= 0 and text[closed : tag.start()].strip():
                answers.clear()
            opened = tag.end()
        elif opened >= 0:
            answers.append(text[opened : tag.start()])
            opened, closed = -1, tag.end()
    if not answers:
        return None
    found = sole_answer(answers[-_MOST_CANDIDATES:])
    return _stated_inside(found)


def _stated_inside(found: Found) -> Found:
    """`found`, or the answer in a box or behind a label inside it: models often mark an answer twice."""
    return found if found.problem else (_in_box(found.raw) or labelled(found.text) or found)


_HASH = re.compile(r"(?<![#\S])####(?!#)[ \t]*")


def _behind_hash(text: str) -> Found | None:
    """The answer behind `####`, as in GSM8K's last line.

    `#### Step 2` is a Markdown heading and no answer, unless it ends the text.
    """
    answers: list[str] = []
    before = -1
    for mark in list(_HASH.finditer(text))[-_MOST_CANDIDATES:]:
        line, end = statement_at(text, mark.end(), whole_line=True)
        if not line or (is_prose(line) and text[end : end + 1_000].strip()):
            continue
        if before >= 0 and text[before : mark.start()].strip():
            answers.clear()
        answers.append(line)
        before = end
    if not answers:
        return None
    found = sole_answer(answers)
    return _stated_inside(found)


_VALUE = re.compile(
    r"\$\$[^$]{1,300}\$\$|\$[^$\n]{1,300}\$|\\\((?:(?!\\\)).){1,300}\\\)|\\\[(?:(?!\\\]).){1,300}\\\]"
    r"|(?<![\w.])[-−+]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?(?:/[0-9]+)?(?:\\?%)?",
    re.DOTALL,
)
_TAIL = 4_000
_LISTED = re.compile(
    r"[\s,;、，；(（]*(?:\b(?:and|or|to|maybe|perhaps|possibly)\b|[和或与到]|[,;、，；–-])[\s,;]*(?:\b(?:maybe|perhaps|possibly)\b\s*)?"
)


def _last_value(text: str) -> Found | None:
    tail = text.rstrip()[-_TAIL:]
    values = list(_VALUE.finditer(tail))
    if not values:
        return None
    last = values[-1]
    beside = [last]
    for value in reversed(values[:-1]):
        if not _LISTED.fullmatch(tail[value.end() : beside[-1].start()][:40]):
            break
        beside.append(value)
    if is_denied(re.split(r"[.!?。！？\n]", tail[: last.start()])[-1]):
        return Found("", DENIAL)
    return sole_answer([value[0] for value in beside])


_READERS: dict[Place, Callable[[str], Found | None]] = {
    "boxed": _in_box,
    "tag": _in_tag,
    "hash": _behind_hash,
    "label": labelled,
    "last_value": _last_value,
}
_NAMES: dict[Place, str] = {
    "boxed": r"the last \boxed{}",
    "tag": "<answer>",
    "hash": "####",
    "label": "a label",
    "last_value": "the last value",
}
_SHORT_NAMES: dict[Place, str] = {**_NAMES, "boxed": r"\boxed{}", "label": "label", "last_value": "value"}
