"""Answers in words: the letter of a choice, a time of day, a date, a set phrase, yes and no, a name."""

from __future__ import annotations

import re
from string import ascii_letters

from agentscope_tuner.verify.math.clock import time_of_day
from agentscope_tuner.verify.math.dressing import choice, denies, letter
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, UNKNOWN, Outcome
from agentscope_tuner.verify.math.pair import Pair
from agentscope_tuner.verify.math.phrases import day, is_many, phrase, plain
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.respelled import respelled
from agentscope_tuner.verify.math.stated import is_sentence

_WRITING = re.compile(r"\\(?:text|textbf|mathrm|textrm|mbox)|[{}$]|\\[ ,;:!~]")
_YES_NO = re.compile(r"(yes|no|true|false)\b(?:\s*[,.;:–-]\s*(.*))?", re.IGNORECASE | re.DOTALL)
_CAPITAL = re.compile("[A-J]")
_LONGEST_LETTER = 40
_LONGEST_OPTION = 100
_WORDS_ALONE = re.compile(r"[a-z][a-z' -]*[a-z]|[\u4e00-\u9fff]{2,}")
_OPTION = re.compile(
    r"(?<![a-zA-Z])\(?([A-J])[).:．、]\}*\s*([^\n]{1,100}?)(?=\s*(?:$|[\n;,]|\\\\|\\q?quad|\(?[A-J][).:．、]))",
    re.MULTILINE,
)
_BASED = re.compile(r"(?P<hex>0x)?(?P<digits>[0-9A-Za-z]{1,200})(?:_\{?(?P<base>\d{1,2})\}?)?")
_HALF_DAY = 12 * 60 * 60
_TIME = re.compile(r"\d{1,2}:\d{2}\s*[ap]\.?\s?m\b", re.IGNORECASE)
_HALF = re.compile(r"\b[ap]\.?\s?m\b|\bo'clock\b|\b(?:morning|afternoon|evening|noon)\b", re.IGNORECASE)
_IT_IS = re.compile(
    r"(?:it|this|that|they|he|she|the(?: [a-z]+){1,4})(?: is| was| are| will be|'s) (?:(?:on|a|an|the) )?"
)
_ONE_WORD = re.compile(r"[a-z]{2,20}|[\u4e00-\u9fff]{1,4}")
_KINDS = frozenset({"命题", "函数", "三角形", "四边形", "数列", "事件", "数", "角", "关系"})
_ARTICLE = re.compile(r"(?:an?|the|one) ")
_TAKES_BACK = re.compile(r"\b(?:yes|no|not|true|false|but|however|unless|never|or|wrong|\w+n't)\b", re.IGNORECASE)


def wordings(pair: Pair) -> Outcome:
    """The outcome of the first rule that can decide the pair; UNKNOWN if no rule can."""
    for rule in (_choices, _times, _days, _digits, _phrases, _yes_no, _names, _described, _sentences):
        found = rule(pair)
        if found is not UNKNOWN:
            return found
    return UNKNOWN


def _choices(pair: Pair) -> Outcome:
    truth = letter(pair.ref.text) if _CAPITAL.search(pair.ref.text) else None
    stated = letter(pair.answer) if len(pair.answer) < _LONGEST_LETTER else None
    if truth is None:
        # The reference may give a letter and a value: an answer may be that letter alone
        return EQUAL if stated is not None and stated == pair.ref.letter else UNKNOWN
    if stated is not None:
        return EQUAL if stated == truth else DIFFERENT
    if _is_named_option(pair.question, truth, plain(pair.answer)):
        return EQUAL
    chosen = choice(pair.answer)
    if chosen is None or chosen[0] != truth or not _is_offered(pair.question, *chosen):
        return UNKNOWN
    return EQUAL


def _is_offered(question: Question | None, letter_: str, value: str) -> bool:
    """Whether the question offers this value under this letter."""
    if question is None:
        return False
    plain = "".join(_WRITING.sub("", question.text).split())
    return any(f"{letter_}{mark}{''.join(_WRITING.sub('', value).split())}" in plain for mark in (")", ".", ":"))


def _is_named_option(question: Question | None, letter_: str, said: str) -> bool:
    """Whether an answer in words is the text of this letter's option only: `All of the above`."""
    if question is None or len(said) > _LONGEST_OPTION or not _WORDS_ALONE.fullmatch(said):
        return False
    offered = _OPTION.findall(question.text)
    return [mark for mark, text in offered if plain(text) == said] == [letter_]


def _times(pair: Pair) -> Outcome:
    if ":" not in pair.ref.text or ":" not in pair.answer:
        return UNKNOWN
    truth, stated = time_of_day(pair.ref.text), time_of_day(pair.answer)
    if truth is None or stated is None:
        return UNKNOWN
    if not (truth[1] or stated[1]):
        return EQUAL if truth == stated and pair.ref.text.count(":") == pair.answer.count(":") else UNKNOWN
    if truth[0] % _HALF_DAY == stated[0] % _HALF_DAY and not truth[1] and _says_half(pair.question):
        # A question with a.m. or p.m. counts twelve hours, so its reference may leave the half of the day out
        if pair.question is not None and not _fits(pair.question, stated[0]):
            return DIFFERENT
        return EQUAL if truth[0] <= _HALF_DAY else UNKNOWN
    return EQUAL if truth[0] == stated[0] else DIFFERENT


def _fits(question: Question, stated: int) -> bool:
    """Whether the stated half of the day fits the question's times.

    It fits if the question names a time in that half, or if the stated hour comes after the question's last time.
    """
    times = [found for found in map(time_of_day, _TIME.findall(question.text)) if found is not None and found[1]]
    if not times or any((known >= _HALF_DAY) == (stated >= _HALF_DAY) for known, _ in times):
        return True
    return stated % _HALF_DAY < times[-1][0] % _HALF_DAY


def _says_half(question: Question | None) -> bool:
    return question is not None and _HALF.search(question.text) is not None


def _days(pair: Pair) -> Outcome:
    """Compare dates. If only one side has a year, it must be in the question."""
    truth = day(pair.ref.text) if pair.ref.text[-1:].isalnum() else None
    stated = None if truth is None else day(pair.answer)
    if truth is None or stated is None:
        return UNKNOWN
    if truth[:2] != stated[:2]:
        return DIFFERENT
    years = {truth.year, stated.year} - {None}
    left_out = None in (truth.year, stated.year)
    if len(years) > 1 or (years and left_out and not (pair.question and str(years.pop()) in pair.question.text)):
        return DIFFERENT
    return EQUAL


def _digits(pair: Pair) -> Outcome:
    r"""Compare numbers that have letters as digits: `FF_{16}`, `\text{ff}`, `0xFF`."""
    truth = _BASED.fullmatch(pair.ref.text) if "_" in pair.ref.text else None
    if truth is None or truth["digits"].isdigit():
        return UNKNOWN
    stated = _BASED.fullmatch("".join(_WRITING.sub("", respelled(pair.answer)).split()))
    if stated is None:
        return UNKNOWN
    base = "16" if stated["hex"] else stated["base"]
    return EQUAL if stated["digits"].upper() == truth["digits"] and base in (None, truth["base"]) else DIFFERENT


def _phrases(pair: Pair) -> Outcome:
    truth = phrase(pair.ref.text)
    if is_many(pair.ref.text, pair.answer, pair.question.text if pair.question is not None else ""):
        return EQUAL
    stated = None if truth is None else phrase(pair.answer)
    if truth is None or stated is None:
        return UNKNOWN
    return EQUAL if truth == stated else DIFFERENT


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


def _names(pair: Pair) -> Outcome:
    """Accept `It is Thursday` for `Thursday`."""
    match = (
        (_IT_IS.match(said := plain(pair.answer)) or _ARTICLE.match(said))
        if pair.ref.text[-1:] in "}" + ascii_letters
        else None
    )
    if match is None or any(map(denies, match[0].split())) or any(map(str.isdigit, said)):
        return UNKNOWN
    return EQUAL if said[match.end() :] == plain(pair.ref.text) else UNKNOWN


def _described(pair: Pair) -> Outcome:
    """Accept `odd function` for `odd` if the question is about a function, and `假命题` for `假`."""
    truth = plain(pair.ref.text)
    if pair.question is None or not _ONE_WORD.fullmatch(truth):
        return UNKNOWN
    said = plain(pair.answer)
    said = said[found.end() :] if (found := _IT_IS.match(said) or _ARTICLE.match(said)) else said
    if not said.startswith(truth) or said == truth or any(denies(word) for word in said.split() if word.isascii()):
        return UNKNOWN
    noun = said[len(truth) :].strip()
    if truth.isascii():
        before = rf"\b(?:an?|the|this|that|each|which|what) (?:[a-z]+ )?{re.escape(noun)}\b"
        asked = re.search(before, pair.question.text.lower())
        named = said == f"{truth} {noun}" and _ONE_WORD.fullmatch(noun) and asked is not None
    else:
        named = noun in _KINDS and noun in pair.question.text
    return EQUAL if named and truth in pair.question.text.lower() else UNKNOWN


def _sentences(pair: Pair) -> Outcome:
    """Compare the words of a reference that is a sentence without a value; their typesetting does not count."""
    if pair.ref.reading is not None or not is_sentence(pair.ref.text):
        return UNKNOWN
    return EQUAL if _plain_words(pair.ref.text) == _plain_words(pair.answer) else UNKNOWN


def _plain_words(text: str) -> str:
    return "".join(_WRITING.sub(" ", text).lower().replace("\\(", "").replace("\\)", "").split()).rstrip(".")
