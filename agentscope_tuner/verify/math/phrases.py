"""Answers that are set phrases (no solution, infinitely many, does not exist) or days of the calendar."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_WRITING = re.compile(r"\\(?:text|textbf|mathrm|textrm|mbox|operatorname)(?![a-zA-Z])|[{}$]|\\[ ,;:!~()]|~")
_SUBJECT = (
    r"(?:(?:(?:the|this|that) )?(?:(?:given|two-sided|infinite|improper) )?(?:limit|series|sequence|integral|sum|"
    r"product|derivative|equation|equations|system(?: of equations)?|inequality|inverse|value|expression|function|"
    r"slope|it) )?"
)
_COUNTED = (
    r"(?: (?:real |complex |integer |possible |such )?(?:solutions?|values?|roots?|ways|points?|pairs?|triples?))?"
)
# Each meaning, and the pattern of the phrases that express it
_PHRASES = {
    "no solution": rf"{_SUBJECT}(?:there (?:is|are|exists?) |(?:has|have) )?no (?:real )?solutions?"
    r"(?: exists?)?|(?:方程|方程组|此题)?无(?:实数?)?解|没有解|(?:the )?(?:empty|null) set|空集|"
    r"\\(?:emptyset|varnothing)|∅",
    "does not exist": rf"dne|{_SUBJECT}(?:dne|(?:does not|doesn't|do not|don't|fails to) exist)|(?:极限)?不存在",
    "infinitely many": rf"(?:there (?:are|is|exist) |{_SUBJECT}(?:has|have) )?"
    rf"(?:an )?(?:infinitely many|infinite(?: number of| many)?){_COUNTED}(?: exist)?|"
    r"无穷多个?解?|无数个?解?|无限多个?解?",
    "diverges": rf"{_SUBJECT}(?:is )?(?:diverges?|divergent)|(?:级数|该级数)?发散",
    "converges": rf"{_SUBJECT}(?:is )?(?:converges?|convergent)|(?:级数|该级数)?收敛",
    "undefined": rf"{_SUBJECT}(?:is )?(?:undefined|not defined)|无定义|未定义",
    "impossible": r"(?:(?:this|it) is )?(?:impossible|not possible)|不可能",
}
_PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in _PHRASES.items())
_EMPTY_BRACES = re.compile(r"\\(?:l?brace)?\{?\s*\\\}|\\\{\s*\\\}")
_HOW_MANY = re.compile(r"\bhow many\b|\bnumber of\b|多少|几个", re.IGNORECASE)
_LONGEST = 80
_INFINITELY_MANY = "infinitely many"

_MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
_MONTH = "|".join(f"{m}|{m[:3]}" for m in _MONTHS) + "|sept"
_DAY = r"(?P<day>\d{1,2})(?:\^?\s*(?:st|nd|rd|th))?"
_YEAR = r"(?:,? ?(?P<year>\d{4}))?"
_DATES = (
    re.compile(rf"(?:the )?(?P<month>{_MONTH})\.? (?:the )?{_DAY}{_YEAR}"),
    re.compile(rf"(?:the )?{_DAY} (?:of )?(?P<month>{_MONTH})\.?{_YEAR}"),
    re.compile(r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]"),
)


class Day(NamedTuple):
    """A day of the calendar; the year may be left out."""

    month: int
    day: int
    year: int | None


def plain(text: str) -> str:
    """The words in lower case, without commands and signs that only set type."""
    if len(text) > 3 * _LONGEST:
        return text
    return " ".join(_WRITING.sub(" ", text.replace("’", "'")).lower().split()).rstrip(" .!。")


@lru_cache(maxsize=1024)
def phrase(text: str) -> str | None:
    """The meaning that the text's phrase expresses, a key of `_PHRASES`; None for any other text."""
    if _EMPTY_BRACES.fullmatch(text.replace(" ", "")):
        return "no solution"
    said = plain(text)
    if len(said) > _LONGEST:
        return None
    return next((name for name, pattern in _PATTERNS if pattern.fullmatch(said)), None)


def is_many(text: str, other: str, question: str) -> bool:
    """Whether one text is `\\infty`, the other says infinitely many, and the question asks how many."""
    pair = {plain(text), plain(other)}
    if "\\infty" not in pair or not _HOW_MANY.search(question):
        return False
    return _INFINITELY_MANY in (phrase(text), phrase(other))


@lru_cache(maxsize=1024)
def day(text: str) -> Day | None:
    """The day that the text names; None where the text is not a date."""
    said = plain(text)
    if len(said) > _LONGEST:
        return None
    for pattern in _DATES:
        match = pattern.fullmatch(said.replace("^ ", ""))
        if match is not None:
            month = match["month"]
            at = int(month) if month.isdigit() else [m[:3] for m in _MONTHS].index(month[:3]) + 1
            return Day(at, int(match["day"]), int(match["year"]) if match["year"] else None)
    return None
