"""The units in which a question asks for its answer: `How many feet`, `in km/h`, `in square metres`."""

from __future__ import annotations

import re
from typing import NamedTuple

from agentscope_tuner.verify.math.text import Unreadable
from agentscope_tuner.verify.math.unit import PhysicalUnit, canonical, known, measure, singular
from agentscope_tuner.verify.math.unit_words import COMPOUND, COUNTED

_ASKED = re.compile(
    r"\b(?:how many|in|into|to)\s+(?:units of\s+)?(?:the nearest\s+)?(?:°|\\circ|\^\\circ|degrees?\s+)?"
    r"(?P<words>[a-zA-Z°]+(?:(?:\s*/\s*|\s+)[a-zA-Z]+){0,4})"
    r"|(?:每(?P<span>小时|分钟|秒|天)[^，。？每]{0,6})?多少(?:个)?(?P<chinese>[米克元升秒分天周年厘毫千公平方立斤里钟小时]{1,4})",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"\bhow much (?:money |more |change |profit |in total )*(?:does|did|do|will|would|is|was|should|can|has|have)\b"
    r"[^.?]{0,80}\b(?:earn|cost|pay|spend|save|owe|charge|make|price|profit)\b",
    re.IGNORECASE,
)
_OTHER_MONEY = re.compile(r"€|£|¥|\b(?:euros?|pounds?|cents?|yen|yuan|rupees?)\b", re.IGNORECASE)
# A rate that the question gives, not asks for: `$45 per hour`
_GIVEN_RATE = re.compile(
    r"(?:[$€£¥]|\\\$)?\s?\d[\d,.]*\$?\s*(?:[a-z]+\s+){0,2}?(?:(?:per|an?|each|every)\s+[a-z]+|/\s*[a-z]+)"
    r"|每[^，。？0-9]{0,8}\d[\d.]*[^，。？]{0,4}|\d[\d.]*[^，。？\d]{1,3}/[^，。？]{1,3}",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"\b(?:per|each|every|apiece|rates?|unit|speed|velocity|pace|fast(?:er)?|average|mean|density|slope|hourly|daily|weekly|monthly"
    r"|yearly|annual|annually|acceleration|gradient|efficiency|economy|mileage|flow|frequency|concentration|wage|salary|rent"
    r"|pressure|(?:what|which) price)\b|/|[每率]|速度|单价|平均",
    re.IGNORECASE,
)
# `a pencil`: the question may ask for its price
_ONE = re.compile(r"\b(?:an?|one|1)\s+((?:[a-z]+\s*){1,3})", re.IGNORECASE)
_AMOUNT = re.compile(
    r"\bhow (?:many|much|far|long|tall|high|deep|heavy)\b|\b(?:total|altogether|distance)\b|多少|一共|共", re.IGNORECASE
)
_SENTENCE = re.compile(r"[^.?!。？！\n]*(?:[.,]\d[^.?!。？！\n]*)*[?？]")
_POWERS = frozenset({"square", "cubic", "sq", "cu"})
_LETTERS = frozenset({"C", "F"})
_SCALES = {"C": "celsius", "F": "fahrenheit"}
_MAX_CHARS = 5_000


def asked_units(text: str) -> frozenset[PhysicalUnit]:
    """The units that the question asks for by name; ordinary words and counted nouns are not units."""
    found: set[PhysicalUnit] = set()
    if (money := _MONEY.search(text[:_MAX_CHARS])) is not None and "$" in text:
        found |= _measured([("dollar", 1)]) if not _OTHER_MONEY.search(money.string) else set()
    for match in _ASKED.finditer(text[:_MAX_CHARS]):
        if match["chinese"]:
            found |= _measured([(match["chinese"], 1), *((span, -1) for span in [match["span"]] if span)])
            continue
        found |= _measured(_leading_unit(match))
    return frozenset(found)


class AskedAmount(NamedTuple):
    """The kind of amount that a question asks for.

    Attributes:
        rate: whether the question may ask for a rate. Words like `per` say so, unless they belong to a given rate.
        amount: whether the question asks for an amount.
        ones: the words after `a`, `an` and `one`: a rate may be for one such thing.
    """

    rate: bool
    amount: bool
    ones: frozenset[str]


def asked_amount_of(text: str) -> AskedAmount:
    """Whether a question asks for an amount, or for a rate: an amount for each unit of something else."""
    text = text[-_MAX_CHARS:]
    asked = " ".join(_SENTENCE.findall(text)) or text
    asked = _GIVEN_RATE.sub(" ", asked)
    ones = frozenset(singular(word) for words in _ONE.findall(asked) for word in words.split())
    return AskedAmount(_RATE.search(asked) is not None, _AMOUNT.search(asked) is not None, ones)


def _leading_unit(match: re.Match[str]) -> list[tuple[str, int]]:
    """The words that begin a unit: `miles per hour` of `miles per hour does he`."""
    parts: list[tuple[str, int]] = []
    waiting: list[tuple[str, int]] = []
    sign = 1
    for word in match["words"].replace("/", " per ").split():
        if word == "per":
            sign = -1
        elif word in _LETTERS and not parts and match.group().rstrip().endswith(word):
            parts.append((_SCALES[word], 1))
        elif word.lower() in _POWERS:
            waiting.append((word, sign))
        elif _is_unit(word):
            parts += [*waiting, (word, sign)]
            waiting = []
        else:
            break
    return parts


def _is_unit(word: str) -> bool:
    one = singular(word)
    # A single letter may be a name: `in m`
    return (len(word) > 1 and known(one) and one not in COUNTED) or word.lower() in COMPOUND


def _measured(parts: list[tuple[str, int]]) -> set[PhysicalUnit]:
    try:
        return {measure(canonical(parts))} if parts else set()
    except Unreadable:
        return set()
