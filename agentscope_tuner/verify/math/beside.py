"""Units beside a box: a unit that stands behind it or is named before it, and a quantity said again in another unit.

A number with the unit that the text gives it is compared as a quantity. So `\boxed{25}` metres are no answer where
centimetres are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache

from agentscope_tuner.verify.find import PlacedAnswer
from agentscope_tuner.verify.math.node import Number, Quantity
from agentscope_tuner.verify.math.quantities import measures_another
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.tokens import Unreadable
from agentscope_tuner.verify.math.units import PhysicalUnit, canonical, measure, unit_named
from agentscope_tuner.verify.remarks import COPULA
from agentscope_tuner.verify.words import CALLS_WRONG, DENIES, OPENS, SO, SUPPOSES, VERBS, WORDS

# A number that may have its unit outside of the box
_NUMERIC = re.compile(r"(?:[-+\d.,{}/\s]|\\(?:[dt]?frac|sqrt|pi)(?![a-zA-Z])|π)+")
_POWER = r"(?:(?P<power>square|cubic|квадрат\w*|кубич\w*)\s)?"
_UNIT_BEHIND = re.compile(
    rf"\$?(?:[\s~$*]|\\[ ,;:)\]])*(?:\\(?:text|mathrm)\s*\{{\s*)?{_POWER}(?P<unit>[^\W\d_]{{1,20}})"
    r"(?P<raised>[²³]|\s?\^\s?\{?[23]\}?)?(?P<rest>[^.!?。\n]{0,40})"
)
# `in metres`, `(单位:米)`
_UNIT_BEFORE = re.compile(
    rf"(?:[(（]\s*|\b(?:in|en|em|w|в)\s+|单位[:：是为]\s*|[以用](?=\w{{1,4}}(?:为单位|表示)))+{_POWER}"
    r"(?P<unit>[^\W\d_a-zA-Z]|[^\W\d_]{2,20}?)(?P<raised>[²³])?(?=[\s)）:：,，$]|为单位|表示)"
)
# What makes another unit of a unit before it, or a quantity in several units
_GOES_ON = re.compile(r"\s*(?:[/·⋅*^\d-]|\}?\s*[\^/]|(?:per|pro|par|por|each|an?|and|und|et|y|e|и|в)\s)|[^.!?。]*\d")
_CLAUSE = re.compile(r"[.!?。？！\n,，;；]")
_SAID_AGAIN = re.compile(
    r"(?P<front>[^.!?。\n]{0,60}?)(?:[,;，]|\s?[(（=≈])\s?(?P<words>[^\d.!?。\n]{0,30}?)(?P<number>\d[\d.,{}]{0,20})"
    rf"\$?(?:[\s~]|\\[ ,;:])*{_POWER}(?P<unit>[^\W\d_]{{1,20}})(?P<raised>[²³])?\s?[)）]?"
)
_QUANTITY = re.compile(
    r"(?P<number>\d[\d.,{}]{0,20})(?:\s|~|\\[ ,;:])*\\(?:text|mathrm)\s*\{\s*(?P<unit>[^{}]{1,30})\}"
)
_NEAR = 80


def with_unit(text: str, found: PlacedAnswer, question: Question | None, reference: str) -> str:
    """The answer with the unit that the words around it give its number, where that is not the unit that is asked for.

    Args:
        reference: where it has words, they may be a unit, too.
    """
    if (question is None and "\\" not in reference) or not (unit := _unit_beside(text, found.before, found.behind)):
        return text
    asked = question.asked_units if question is not None else frozenset()
    if question is not None and not asked and "\\" not in reference and not _is_of_another(unit, question.text):
        return text
    with suppress(Unreadable):
        if _measured(unit) not in asked:
            return f"{text}\\text{{ {unit}}}"
    return text


@lru_cache(maxsize=512)
def _is_of_another(unit: str, question: str) -> bool:
    """Whether a unit is none of the quantity that a question asks for."""
    one = Number(Fraction(1))
    with suppress(Unreadable):
        return measures_another(one, Quantity(one, canonical(_named(unit))), question, frozenset()) != ""
    return True


@lru_cache(maxsize=512)
def _measured(unit: str) -> PhysicalUnit:
    return measure(canonical(_named(unit)))


def _named(unit: str) -> list[tuple[str, int]]:
    return [(unit_named(word) or word, 1) for word in unit.split()]


def _unit_beside(text: str, before: str, behind: str) -> str:
    """The unit that the words around a number say that it has; empty where they say none, or several."""
    if _NUMERIC.fullmatch(text) is None:
        return ""
    found = _UNIT_BEHIND.match(behind)
    if found is not None and (unit := _unit_of(found)) is not None:
        return "" if _GOES_ON.match(found["rest"]) else unit
    units = [_unit_of(one) for one in _UNIT_BEFORE.finditer(_CLAUSE.split(before[-_NEAR:])[-1])]
    named = [unit for unit in units if unit is not None]
    return named[0] if len(named) == 1 else ""


@lru_cache(maxsize=8_192)
def _named_by(word: str) -> str | None:
    word = COPULA.sub("", word)
    return None if word.lower() in OPENS | SO | VERBS else unit_named(word)


def _unit_of(found: re.Match[str]) -> str | None:
    if (name := _named_by(found["unit"])) is None:
        return None
    raised, power = (found["raised"] or "").strip("^ {}"), (found["power"] or "").lower()
    is_square, is_cubic = raised in ("²", "2") or power[:2] in ("sq", "кв"), raised in ("³", "3") or power[:1] in "cк"
    return f"{'square ' if is_square else 'cubic ' if is_cubic and (raised or power) else ''}{name}"


def without_said_again(found: PlacedAnswer) -> PlacedAnswer:
    """The answer without what the text behind it says again in another unit: `0.25 m, that is, 25 cm`."""
    behind = found.behind
    again = _SAID_AGAIN.match(behind) if any(map(str.isdigit, behind)) else None
    if again is None or (unit := _unit_of(again)) is None:
        return found
    words = [word.lower() for word in WORDS.findall(again["words"])]
    if not DENIES.isdisjoint(words) or not SUPPOSES.isdisjoint(words) or CALLS_WRONG.search(again["words"]):
        return found
    text = found.text or ""
    mine = _QUANTITY.fullmatch(f"{text}\\text{{ {_unit_beside(text, found.before, again['front'])}}}")
    mine = _QUANTITY.fullmatch(text) or mine
    if mine is None or _sizes(mine["number"], mine["unit"]).isdisjoint(_sizes(again["number"], unit)):
        return found
    kept = tuple(spellings for spellings in found.again if spellings[-1] not in again["number"])
    return found._replace(behind=again["front"] + behind[again.end() :], again=kept)


def _sizes(number: str, unit: str) -> frozenset[tuple[tuple[tuple[str, int], ...], Fraction]]:
    """How large a quantity may be, with its dimension: a comma may be a decimal one."""
    with suppress(Unreadable):
        named = _measured(unit)
        return frozenset((named.dimension, value * named.size) for value in _values(number))
    return frozenset()


def _values(number: str) -> Iterator[Fraction]:
    plain = number.replace("{", "").replace("}", "").rstrip(".,")
    for written in {plain.replace(",", "."), plain.replace(",", ""), plain.replace(".", "")}:
        with suppress(ValueError):
            yield Fraction(written)
