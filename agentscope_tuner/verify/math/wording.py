"""Answers that are words: the letter of a choice, a time of day, yes and no."""

from __future__ import annotations

import re

from agentscope_tuner.verify.math.clock import time_of_day
from agentscope_tuner.verify.math.dressing import choice, letter
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, UNKNOWN, Outcome
from agentscope_tuner.verify.math.pair import Pair
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.stated import is_sentence

_WRITING = re.compile(r"\\(?:text|textbf|mathrm|textrm|mbox)|[{}$]|\\[ ,;:!~]")
_YES_NO = re.compile(r"(yes|no|true|false)\b(?:\s*[,.;:–-]\s*(.*))?", re.IGNORECASE | re.DOTALL)
_CAPITAL = re.compile("[A-J]")
_LONGEST_LETTER = 40
_HALF_DAY = 12 * 60 * 60
_TIME = re.compile(r"\d{1,2}:\d{2}\s*[ap]\.?\s?m\b", re.IGNORECASE)
_HALF = re.compile(r"\b[ap]\.?\s?m\b|\bo'clock\b|\b(?:morning|afternoon|evening|noon)\b", re.IGNORECASE)
_TAKES_BACK = re.compile(r"\b(?:yes|no|not|true|false|but|however|unless|never|or|wrong|\w+n't)\b", re.IGNORECASE)


def wordings(pair: Pair) -> Outcome:
    """Whether both sides are the same choice, time, or yes; UNKNOWN where the reference is none of these."""
    for rule in (_choices, _times, _yes_no, _sentences):
        found = rule(pair)
        if found is not UNKNOWN:
            return found
    return UNKNOWN


def _choices(pair: Pair) -> Outcome:
    truth = letter(pair.ref.text) if _CAPITAL.search(pair.ref.text) else None
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
    if ":" not in pair.ref.text or ":" not in pair.answer:
        return UNKNOWN
    truth, stated = time_of_day(pair.ref.text), time_of_day(pair.answer)
    if truth is None or stated is None:
        return UNKNOWN
    if not (truth[1] or stated[1]):
        return EQUAL if truth == stated and pair.ref.text.count(":") == pair.answer.count(":") else UNKNOWN
    if truth[0] % _HALF_DAY == stated[0] % _HALF_DAY and not truth[1] and _says_half(pair.question):
        # a question that speaks of a.m. or p.m. counts twelve hours; its reference may leave the half out
        if pair.question is not None and not _fits(pair.question, stated[0]):
            return DIFFERENT
        return EQUAL if truth[0] <= _HALF_DAY else UNKNOWN
    return EQUAL if truth[0] == stated[0] else DIFFERENT


def _fits(question: Question, stated: int) -> bool:
    """Whether the half of the day is one that the question names, or the next one, past its last time."""
    times = [found for found in map(time_of_day, _TIME.findall(question.text)) if found is not None and found[1]]
    if not times or any((known >= _HALF_DAY) == (stated >= _HALF_DAY) for known, _ in times):
        return True
    return stated % _HALF_DAY < times[-1][0] % _HALF_DAY


def _says_half(question: Question | None) -> bool:
    return question is not None and _HALF.search(question.text) is not None


def _yes_no(pair: Pair) -> Outcome:
    truth = _said(pair.ref.text) if _YES_NO.search(pair.ref.text) else None
    stated = None if truth is None else _said(pair.answer)
    if truth is None or stated is None:
        return UNKNOWN
    return EQUAL if truth == stated else DIFFERENT


def _said(text: str) -> str | None:
    match = _YES_NO.fullmatch(_WRITING.sub(" ", text).strip())
    if match is None or _TAKES_BACK.search(match[2] or ""):
        return None
    return match[1].lower()


def _sentences(pair: Pair) -> Outcome:
    """A reference that is a sentence without a value is met by the same words, however they are typeset."""
    if pair.ref.reading is not None or not is_sentence(pair.ref.text):
        return UNKNOWN
    return EQUAL if _plain_words(pair.ref.text) == _plain_words(pair.answer) else UNKNOWN


def _plain_words(text: str) -> str:
    return "".join(_WRITING.sub(" ", text).lower().replace("\\(", "").replace("\\)", "").split()).rstrip(".")
