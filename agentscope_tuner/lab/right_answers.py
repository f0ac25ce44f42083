"""A row's answer beside the references of its task: one of them, written otherwise, in another place, or cut off."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.lab.audit.subjects import as_object, countdown_of, references_of, structured_answer
from agentscope_tuner.records.scored_rows import REFERENCE_KEYS, ScoredRow, mapping_in
from agentscope_tuner.verify.find import Place, find_answer
from agentscope_tuner.verify.math.verdict import compare

_SAME = 1e-9
PLACES: Mapping[Place, str] = {
    "hash": "end in ####",
    "tag": "have <answer> tags",
    "boxed": "have a \\boxed{}",
    "label": "say 'the answer is'",
}
_FINISH = ("finish_reason", "finished_reason", "stop_reason")
_MARKER = re.compile(r"<[|｜][^<>\n]{1,40}[|｜]>|</s>")
_AROUND = " \t\r\n.!?。！？'\"`*_[](){}$€£¥%"
# A number, and a unit behind it
_MEASURED = re.compile(r"(-?\d+(?:,\d{3})*(?:\.\d+)?)(?: ?[^\W\d_]+[²³]?)?")
_DECIMAL = re.compile(r"(-?\d+(?:\.(\d+))?) ?(?:\\?(%))?")
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y", "%Y年%m月%d日")


def question_of(row: ScoredRow) -> str:
    """The question of the row's task; empty where it has none."""
    return str(mapping_in(row.row.get("task")).get("main_query") or "").strip()


def left_open(text: str) -> str:
    """The tag or the box that the text begins and does not end; empty where there is none."""
    for tag in ("<think>", "<answer>"):
        if text.rfind(tag) > text.rfind(tag.replace("<", "</")):
            return tag
    _, box, inside = text.rpartition("\\boxed{")
    return box if box and inside.count("{") + 1 > inside.count("}") else ""


def finish_of(row: ScoredRow) -> str:
    """How the generation ended, as the row says, such as `length`; empty where it does not."""
    places = row.row, mapping_in(mapping_in(row.row.get("output")).get("metadata"))
    return next((found for place in places for key in _FINISH if isinstance(found := place.get(key), str)), "")


def stands_in(row: ScoredRow, place: Place, *, sure: bool) -> bool:
    """Whether an answer stands in `place`; with `sure`, the right one."""
    found = find_answer(row.answer, [place]).text
    return found is not None and (not sure or (found.strip() in (rights_of(row) or [""]) and not is_wrapped(row)))


def rights_of(row: ScoredRow) -> list[str]:
    """The references of the row's task: several where it is a list."""
    return references_of(known_of(row), ())


def known_of(row: ScoredRow) -> dict[str, Any]:
    """The metadata of the row's output and task."""
    output, task = (mapping_in(mapping_in(row.row.get(name)).get("metadata")) for name in ("output", "task"))
    return {**output, **task}


def is_told(known: Mapping[str, Any]) -> bool:
    """Whether a task tells what is right otherwise than by a reference: by tests, a query or a game's target."""
    return countdown_of(known) is not None or structured_answer(known, ())[0] != "text"


def folded(text: str) -> str:
    """The text without markers of a chat template, capitals, and the spaces and signs around it; a number alone.

    HTML's escapes become what they stand for, and UTF-8 that was read as Windows' or ISO's Latin is read anew.
    """
    text = html.unescape(text)
    for latin in ("cp1252", "latin-1"):
        with suppress(UnicodeError):
            text = text.encode(latin).decode("utf-8")
    text = " ".join(_MARKER.sub(" ", text).casefold().split()).strip(_AROUND)
    number = _MEASURED.fullmatch(text)
    return number[1].replace(",", "") if number else text


def is_right(row: ScoredRow) -> bool:
    """Whether the answer is a reference in other words, or the math judge says so; or it ends in one, in no form."""
    given, rights = given_answer(row), rights_of(row)
    if isinstance(fields := as_object(row.answer), dict):
        inside = {folded(str(value)) for value in fields.values() if isinstance(value, str | int | float)}
        return any(folded(right) in inside for right in rights)
    if given in rights and not is_wrapped(row):
        # It was likely read, and earns nothing for another reason
        return folded(row.answer) in map(folded, rights)
    said = [given, *given.split()[-1:]] if given == row.answer else [given]
    # An option with its letter, where the letter is asked for
    said += given.split()[:1] if all(len(right) == 1 for right in rights) else []
    return any(folded(text) == folded(right) != "" or _alike(text, right) for text in said for right in rights)


def _date(text: str) -> datetime | None:
    for form in _DATES:
        with suppress(ValueError):
            return datetime.strptime(text.strip(" ."), form)
    return None


def _alike(text: str, right: str) -> bool:
    if (day := _date(right)) is not None:
        return _date(text) == day
    try:
        if compare(text, right).outcome == "equal":
            return True
    except JudgeError:
        # It is no reference of mathematics
        return False
    number, exact = map(_DECIMAL.fullmatch, (text.strip(), right.strip()))
    if not number or not exact:
        return False
    # Per cent of it, or a rounded value of two digits or more
    per_cent = 2 if number[3] else 0
    value, places = float(number[1]) / 10**per_cent, len(number[2] or "") + per_cent
    far = abs(value - float(exact[1]))
    return far < _SAME or (len(number[1].strip("-0.")) > 1 and far <= 0.5 * 10**-places)


def is_wrapped(row: ScoredRow) -> bool:
    """Whether the reference is written with something around it, which a plain judge compares as well."""
    written = written_reference(row)
    return isinstance(written, str) and bool(rights_of(row)) and written.strip() not in rights_of(row)


def written_reference(row: ScoredRow) -> object:
    """The reference as the row has it."""
    return next((known_of(row)[key] for key in REFERENCE_KEYS if key in known_of(row)), "")


def given_answer(row: ScoredRow) -> str:
    """The answer where it stands in a usual place, else the whole text."""
    return find_answer(row.answer, list(PLACES)).text or row.answer
