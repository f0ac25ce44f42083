"""Answers that are words: the letter of a choice, a time of day, yes and no."""

from __future__ import annotations

import re

from agentscope_tuner.verify.math.clock import time_of_day
from agentscope_tuner.verify.math.dressing import choice, letter
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, UNKNOWN, Outcome
from agentscope_tuner.verify.math.pair import Pair
from agentscope_tuner.verify.math.question import Question

_WRITING = re.compile(r"\\(?:text|textbf|mathrm|textrm|mbox)|[{}$]|\\[ ,;:!~]")
_YES_NO = re.compile(r"(yes|no|true|false)\b(?:\s*[,.;:–-]\s*(.*))?", re.IGNORECASE | re.DOTALL)
_CAPITAL = re.compile("[A-J]")
_LONGEST_LETTER = 40
_TAKES_BACK = re.compile(r"\b(?:yes|no|not|true|false|but|however|unless|never|or|wrong|\w+n't)\b", re.IGNORECASE)


def wordings(pair: Pair) -> Outcome:
    """Whether both sides are the same choice, time, or yes; UNKNOWN where the reference is none of these."""
    for rule in (_choices, _times, _yes_no):
        found = rule(pair)
        if found is not UNKNOWN:
            return found
    return UNKNOWN


def _choices(pair: Pair) -> Outcome:
    truth = letter(pair.truth) if _CAPITAL.search(pair.truth) else None
    stated = letter(pair.answer) if len(pair.answer) < _LONGEST_LETTER else None
    if truth is None:
        # the reference gives the letter and the value
        return EQUAL if stated is not None and stated == pair.ref.letter else UNKNOWN
    if stated is not None:
        return EQUAL if stated == truth else DIFFERENT
    chosen = choice(pair.answer)
    if chosen is None or chosen[0] != truth or not _is_offered(pair.question, *chosen):
        return UNKNOWN
    return EQUAL


def _is_offered(question: Question | None, letter_: str, value: str) -> bool:
    """Whether the question gives this value this letter."""
    if question is None:
        return False
    plain = "".join(_WRITING.sub("", question.text).split())
    return any(f"{letter_}{mark}{''.join(_WRITING.sub('', value).split())}" in plain for mark in (")", ".", ":"))


def _times(pair: Pair) -> Outcome:
    if ":" not in pair.truth or ":" not in pair.answer:
        return UNKNOWN
    truth, stated = time_of_day(pair.truth), time_of_day(pair.answer)
    if truth is None or stated is None or not (truth[1] or stated[1]):
        return UNKNOWN
    return EQUAL if truth[0] == stated[0] else DIFFERENT


def _yes_no(pair: Pair) -> Outcome:
    truth = _said(pair.truth) if _YES_NO.search(pair.truth) else None
    stated = None if truth is None else _said(pair.answer)
    if truth is None or stated is None:
        return UNKNOWN
    return EQUAL if truth == stated else DIFFERENT


def _said(text: str) -> str | None:
    match = _YES_NO.fullmatch(_WRITING.sub(" ", text).strip())
    if match is None or _TAKES_BACK.search(match[2] or ""):
        return None
    return match[1].lower()
