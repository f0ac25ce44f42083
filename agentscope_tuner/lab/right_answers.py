"""Compares a row's answer with the references of its task: is it right but written differently,
misplaced, or cut off?
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.lab.audit.subjects import CALLED_WITH, as_object, countdown_of, references_of, structured_answer
from agentscope_tuner.records.scored_rows import REFERENCE_KEYS, ScoredRow, mapping_in
from agentscope_tuner.task_judge.choice_judge import options_of
from agentscope_tuner.verify.find import Place, find_answer
from agentscope_tuner.verify.math.verdict import compare

_SAME = 1e-9
PLACES: Mapping[Place, str] = {
    "hash": "end in ####",
    "tag": "have <answer> tags",
    "boxed": "have a \\boxed{}",
    "label": "say 'the answer is'",
}
# A text whose words have at most this many characters on average is spelt out, one letter after the other
_SPELT = 1.5
_CUT = re.compile(r"length|max|limit|exceed|truncat", re.IGNORECASE)
#: The answer of `cut_off` for a text that repeats itself to its end.
LOOPS = "it repeats itself to its end"
# In characters: the end of a text that is searched for repetitions, and the last part of it by which one is found. Then
# the least number of repetitions, and the least number of characters of all of them
_TAIL, _ALIKE_AT, _TIMES, _LEAST_REPEATED = 2_000, 20, 4, 80
_DIGIT_RUN, _WORD = re.compile(r"\d+"), re.compile(r"[^\W\d_]{2}")
_TAG_LINE = re.compile(r"^(<[a-z_]{4,40}>)$", re.MULTILINE)
_FENCE = re.compile(r"^```\w+ *$", re.MULTILINE)
_FENCE_END = re.compile(r"^ *```", re.MULTILINE)
_FINISH = ("finish_reason", "finished_reason", "stop_reason")
_MARKER = re.compile(r"<[|｜][^<>\n]{1,40}[|｜]>|</s>")
_AROUND = " \t\r\n.!?。！？'\"`*_[](){}$€£¥%"
# A number, and a unit behind it or a currency before it
_MEASURED = re.compile(r"(?:(?!not?\b)[a-z]{2,3}[$€£¥]? ?)?(-?\d+(?:,\d{3})*(?:\.\d+)?)(?: ?[^\W\d_]+[²³]?)?")
_DECIMAL = re.compile(r"(-?\d+(?:\.(\d+))?) ?(?:\\?(%))?")
_DATES = (
    "%Y-%m-%d", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y",
    "%Y年%m月%d日",
)  # fmt: skip
_YEAR = re.compile(r"\d{4}")
# Spaces and line breaks as tokenizers write them, in a text of tokens that was not decoded
_IN_TOKENS = str.maketrans({"Ġ": " ", "▁": " ", "Ċ": "\n"})
# The first characters of \boxed and \frac in a string whose backslash was not doubled: backspace and form feed
_UNESCAPED = str.maketrans({"\b": "\\b", "\f": "\\f"})
_LINE_END = re.compile(r"\\n(?![a-z])")
# A number with a decimal comma: 1.234,5
_COMMA = re.compile(r"-?\d{1,3}(?:\.\d{3})*,\d+")
# The values in Python's way of writing a list or a dict
_QUOTED = re.compile(r"'([^'\\]*)'|\"([^\"\\]*)\"|(?<=: )(-?\d+(?:\.\d+)?)(?=[,}])")
# An option in a question: its letter and its text
_OPTION = re.compile(r"(?:(?<=\s)|^)\(?([A-J])[).:] *(\S.*?)(?=\s+\(?[A-J][).:] |\s*$|\n)", re.MULTILINE)
_CALL = re.compile(r"\s*(?:<tool_call>\s*)?(\{.*\})\s*(?:</tool_call>\s*)?", re.DOTALL)


def question_of(row: ScoredRow) -> str:
    """The question of the row's task; an empty text if it has none."""
    return str(mapping_in(row.row.get("task")).get("main_query") or "").strip()


def left_open(text: str) -> str:
    r"""The opening of what the text begins and does not end: `<think>`, `\boxed{`, a fence, or the `{` of a JSON
    object. Empty if everything is closed.
    """
    on_lines = dict.fromkeys(found[1] for found in _TAG_LINE.finditer(text))
    for tag in ("<think>", "<answer>", "<tool_call>", *on_lines):
        if text.rfind(tag) > text.rfind(tag.replace("<", "</")):
            return tag
    _, box, inside = text.rpartition("\\boxed{")
    if box and inside.count("{") + 1 > inside.count("}"):
        return box
    # Where the prompt opens the fence, the text has its end alone: only one with a language is sure to begin it
    *_, fence = [None, *_FENCE.finditer(text)]
    if fence is not None and not _FENCE_END.search(text, fence.end()):
        return fence[0]
    return text.lstrip()[0] if _breaks_off(text) else ""


def _breaks_off(text: str) -> bool:
    """Whether the text is the beginning of a JSON object or list, without its end: `{"a": [1`."""
    text = text.strip()
    if not text.startswith(('{"', '[{"', '["')):
        return False
    try:
        json.loads(text)
    except json.JSONDecodeError as exc:
        return exc.pos >= len(text) or exc.msg.startswith("Unterminated string")
    except RecursionError:
        return True
    except ValueError:
        # a number with too many digits: how the text ends is not known
        return False
    return False


def repeats(text: str) -> bool:
    """Whether the text ends in the same words again and again, perhaps with a counter, as a policy writes that finds no
    end.
    """
    tail = _DIGIT_RUN.sub("0", text[-_TAIL:].rstrip())
    last = tail[-_ALIKE_AT:]
    period = len(tail) - len(last) - tail.rfind(last, 0, len(tail) - 1)
    span = period * max(_TIMES, -(-_LEAST_REPEATED // max(1, period)))
    same = len(last) == _ALIKE_AT and span <= len(tail) and tail[-span:-period] == tail[period - span :]
    # A repetition without words is a table of figures
    return same and _WORD.search(tail[-period:]) is not None


def finish_of(row: ScoredRow) -> str:
    """The reason why the generation ended, as the row states it, such as `length`; empty if the row states none."""
    places = row.row, mapping_in(mapping_in(row.row.get("output")).get("metadata"))
    return next((found for place in places for key in _FINISH if isinstance(found := place.get(key), str)), "")


def cut_off(row: ScoredRow) -> str:
    """The evidence that a row ended before its answer, such as `length`, `<think> is open` or `LOOPS`; empty if there
    is none.
    """
    if repeats(row.answer):
        return LOOPS
    if _CUT.search(finish := finish_of(row)):
        return finish
    if opened := left_open(row.answer):
        return f"{opened} is open"
    # If the task asks for calls, a call is its answer
    unanswered = is_call(row.answer) and bool(rights_of(row)) and not is_told(known_of(row))
    return "it ends in a call of a tool" if unanswered else ""


def is_call(text: str) -> bool:
    """Whether the text is a call of a tool and nothing else: `{"name": "f", "arguments": {}}`."""
    found = _CALL.fullmatch(text)
    call = as_object(found[1]) if found else None
    return isinstance(call, dict) and isinstance(call.get("name"), str) and bool({*CALLED_WITH} & {*call})


def stands_in(row: ScoredRow, place: Place, *, sure: bool) -> bool:
    """Whether the row has an answer in `place`, such as a box; with `sure`, whether that answer equals a reference."""
    found = find_answer(row.answer, [place]).text
    return found is not None and (not sure or (found.strip() in (rights_of(row) or [""]) and not is_wrapped(row)))


def rights_of(row: ScoredRow) -> list[str]:
    """The references of the row's task: one text, or several if the reference is a list; empty without one."""
    return references_of(known_of(row), ())


def known_of(row: ScoredRow) -> dict[str, Any]:
    """The metadata of the row's output and task in one dictionary; the task's values win."""
    output, task = (mapping_in(mapping_in(row.row.get(name)).get("metadata")) for name in ("output", "task"))
    return {**output, **task}


def is_told(known: Mapping[str, Any]) -> bool:
    """Whether the task has something other than a reference text to judge by: tests, a query, calls, an object of JSON,
    or a game's target.
    """
    return countdown_of(known) is not None or structured_answer(known, ())[0] != "text"


def folded(text: str) -> str:
    """The text in a form in which different ways of writing it compare equal: `cafe` for `Café!`, `1234` for `$1,234`.

    Markers of a chat template, capitals, accents, spaces and punctuation around the text are removed, and of a number
    with a unit or a currency the number remains. HTML escapes, and UTF-8 that was read as Windows' or ISO's Latin, are
    decoded.
    """
    text = html.unescape(text)
    for latin in ("cp1252", "latin-1"):
        with suppress(UnicodeError):
            text = text.encode(latin).decode("utf-8")
    text = "".join(map(_plain_sign, unicodedata.normalize("NFKD", text.casefold())))
    text = " ".join(_MARKER.sub(" ", text).split()).strip(_AROUND)
    number = _MEASURED.fullmatch(text)
    return number[1].replace(",", "") if number else text.replace(" ", "")


def _plain_sign(sign: str) -> str:
    """The character as a keyboard has it: `-` for a dash, `'` for a quotation mark such as `“`, nothing
    for an accent.
    """
    kind = unicodedata.category(sign)
    return "-" if kind == "Pd" else "'" if kind in ("Pi", "Pf") else "" if kind in ("Mn", "Cf") else sign


def is_right(row: ScoredRow) -> bool:
    """Whether the answer is right although the judge may not see it: it equals a reference after `folded`, names the
    same day or number, or is equal for the math judge; or, outside any usual place, its last word does.
    """
    given, written = given_answer(row), rights_of(row)
    listed = [found for right in written if right[:1] in ("[", "{") for found in _QUOTED.findall(right)]
    rights = [*written, *map("".join, listed)]
    if isinstance(fields := as_object(row.answer), dict):
        inside = {folded(str(value)) for value in fields.values() if isinstance(value, str | int | float)}
        return any(folded(right) in inside for right in rights)
    if given in written and not is_wrapped(row) and given == find_answer(row.answer, list(PLACES)).text:
        # The judge has likely read it, and pays nothing for another reason
        return folded(row.answer) in map(folded, rights)
    said = [given, *given.split()[-1:]] if given == row.answer else [given]
    # An option with its letter, if the references are letters
    said += given.split()[:1] if all(len(right) == 1 for right in rights) else []
    # The name of a person in the other order: `Curie, Marie`
    said += [f"{first} {last}" for last, comma, first in [given.partition(", ")] if comma]
    return any(folded(text) == folded(right) != "" or _alike(text, right) for text in said for right in rights)


def _days(text: str) -> set[datetime]:
    """The days that a text may mean as a date: two for `03/04/2020`; empty if it is no date."""
    found = set[datetime]()
    # each form has a year, and most answers have none
    for form in _DATES if _YEAR.search(text) else ():
        with suppress(ValueError):
            found.add(datetime.strptime(text.strip(" ."), form))
    return found


def _alike(text: str, right: str) -> bool:
    if days := _days(right):
        return not days.isdisjoint(_days(text))
    if _COMMA.fullmatch(text.strip()):
        text = text.replace(".", "").replace(",", ".")
    try:
        if compare(text, right).outcome == "equal":
            return True
    except JudgeError:
        # The reference is not mathematical
        return False
    number, exact = map(_DECIMAL.fullmatch, (text.strip(), right.strip()))
    if not number or not exact:
        return False
    # `50 %` for `0.5`, or a rounded value of two digits or more
    per_cent = 2 if number[3] else 0
    value, places = float(number[1]) / 10**per_cent, len(number[2] or "") + per_cent
    far = abs(value - float(exact[1]))
    return far < _SAME or (len(number[1].strip("-0.")) > 1 and far <= 0.5 * 10**-places)


def is_wrapped(row: ScoredRow) -> bool:
    """Whether the reference is written with something around it, such as a box, which a judge of plain texts compares
    as well.
    """
    written = written_reference(row)
    return isinstance(written, str) and bool(rights_of(row)) and written.strip() not in rights_of(row)


def written_reference(row: ScoredRow) -> object:
    """The reference as it is written in the row; an empty text if there is none."""
    return next((known_of(row)[key] for key in REFERENCE_KEYS if key in known_of(row)), "")


def given_answer(row: ScoredRow) -> str:
    """The answer in one of the usual places of the text, such as a box; else the whole text. Tokens that were not
    decoded, and text that was encoded twice, are decoded first.
    """
    text = row.answer
    if "\n" not in text:
        with suppress(ValueError):
            text = json.loads(text) if text[:1] == text[-1:] == '"' else text
        text = _LINE_END.sub("\n", text)
    text = text.translate(_IN_TOKENS) if "Ġ" in text or "▁" in text else text
    text = text.translate(_UNESCAPED)
    words = text.split()
    if sum(map(len, words)) <= _SPELT * len(words):
        text = "".join(words).replace("####", "\n####")
    return find_answer(text, list(PLACES)).text or text


def option_of(row: ScoredRow) -> str | None:
    """The letter of the option whose text is the answer; None if no option has this text, or the task
    has no options.
    """
    options, known = dict[str, str](), known_of(row)
    with suppress(JudgeError):
        options = options_of(known.get("options", known.get("choices")), "")
    if not options:
        options = {found[1]: found[2] for found in _OPTION.finditer(question_of(row))}
    given = folded(given_answer(row))
    return next((letter for letter, text in options.items() if folded(text) == given != ""), None)


_KINDS: Mapping[str, re.Pattern[str]] = {
    "a letter": re.compile(r"[A-Za-z]"),
    "a number": re.compile(r"-?[\d,]*\.?\d+"),
    "a text": re.compile(r".+", re.DOTALL),
}


def kind_of(texts: Iterable[str]) -> str | None:
    """The kind of nearly all texts: `a letter`, `a number` or `a text`; None if they are mixed."""
    count = Counter(next((name for name, form in _KINDS.items() if form.fullmatch(text)), "") for text in texts)
    (name, most), *_ = count.most_common(1) or [("", 0)]
    return name if most >= 0.95 * count.total() else None


def named_otherwise(rows: Sequence[ScoredRow]) -> tuple[str, str] | None:
    """The message and the remedy if answers use other names than the few references, such as `yes` for `True`; else
    None.
    """
    given: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        given[folded(rights_of(row)[0])][folded(given_answer(row))] += 1
    names = {right: count.most_common(1)[0] for right, count in given.items()}
    said = {text for count in given.values() for text in count}
    few = len(given) > 1 and len(given) * 3 <= len({row.task for row in rows}) and len(said) <= 2 * len(given)
    # If the names are references themselves, such as 1 for 0 because choices are counted from 1, nearly all must agree
    sure = 2 / 3 if said.isdisjoint(given) else 0.95
    own = len({name for name, _ in names.values()}) == len(names) and all(names[right][0] != right for right in names)
    if not few or not own or any(times < sure * given[right].total() for right, (_, times) in names.items()):
        return None
    told = ", ".join(f"{name!r:.40} for {right!r:.40}" for right, (name, _) in list(names.items())[:3])
    return f"the answers name the references otherwise: {told}", "ask the policy for the names that the references have"
