"""The units in which a question asks for its answer: `How many feet`, `in km/h`, `in square metres`."""

from __future__ import annotations

import re

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
_POWERS = frozenset({"square", "cubic", "sq", "cu"})
_LETTERS = frozenset({"C", "F"})
_SCALES = {"C": "celsius", "F": "fahrenheit"}
_MAX_CHARS = 5_000


def asked_units(text: str) -> frozenset[PhysicalUnit]:
    """What is asked for by name, as it measures; ordinary words and counted things are none."""
    found: set[PhysicalUnit] = set()
    if (money := _MONEY.search(text[:_MAX_CHARS])) is not None and "$" in text:
        found |= _measured([("dollar", 1)]) if not _OTHER_MONEY.search(money.string) else set()
    for match in _ASKED.finditer(text[:_MAX_CHARS]):
        if match["chinese"]:
            found |= _measured([(match["chinese"], 1), *((span, -1) for span in [match["span"]] if span)])
            continue
        found |= _measured(_leading_unit(match))
    return frozenset(found)


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
    # a letter alone may be a name: `in m`
    return (len(word) > 1 and known(one) and one not in COUNTED) or word.lower() in COMPOUND


def _measured(parts: list[tuple[str, int]]) -> set[PhysicalUnit]:
    try:
        return {measure(canonical(parts))} if parts else set()
    except Unreadable:
        return set()
