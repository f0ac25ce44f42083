r"""Answers of several labelled parts: `\text{Mean: }6,\ \text{Median: }7`, `\text{(a) }5\quad\text{(b) }2`."""

from __future__ import annotations

import re

from agentscope_tuner.verify.math.dressing import denies
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.unit import known, singular

_LONGEST = 300
_TEXT = r"\\(?:text|textbf|mathrm|textrm|mbox)"
_GAP = r"(?:\\[ ,;:!~]|\\q?quad|~|\s)*"
_NAME = re.compile(
    rf"{_GAP}(?:{_TEXT}\s*\{{\s*(?:the\s+)?(?P<inside>[a-zA-Z][a-zA-Z ]{{0,30}}?)\s*[:=]?\s*(?:\bis\s*)?\}}{_GAP}[:=]?"
    rf"|(?P<bare>[a-zA-Z]{{2,20}}(?: [a-zA-Z]{{2,20}})?)\s*[:=])"
    rf"{_GAP}(?P<value>\S(?:.*\S)?){_GAP}"
)
_PARTED = re.compile(rf"[,;](?!\d{{3}}(?!\d))|\\q?quad|{_TEXT}\s*\{{\s*(?:,\s*)?and\s+\}}|\\\\|\band\b(?![^{{}}]*\}})")
_LETTERED = re.compile(
    rf"(?:^|(?<=[\s,;~}}])|(?<=quad))(?:{_TEXT}\s*\{{\s*)?\(\s*(?:{_TEXT}\s*\{{\s*)?([a-h])\s*\}}?\s*\)\s*\}}?[:.]?{_GAP}"
)
_BETWEEN = re.compile(rf"(?:{_GAP}[,;.]?)*{_GAP}$")
_DIMENSIONS = frozenset({"dimension", "dimensions", "length", "width", "size", "rectangle", "sides"})
_BY = re.compile(rf"(\d[\d.]*){_GAP}(?:{_TEXT}\s*\{{\s*by\s*\}}|by){_GAP}(\d[\d.]*)")
_FEWEST = 2
_LABELS = re.compile(rf"{_TEXT}\s*\{{|[a-z]\s*[:=]")


def with_names(text: str, question: Question | None) -> str:
    """Each labelled value as an equation `name=value`; any other text as it is. The question must hold every name."""
    if question is None or len(text) > _LONGEST or not _LABELS.search(text):
        return text
    found = [_NAME.fullmatch(part) for part in _PARTED.split(text) if part.strip(" ~\\,;:!")]
    if len(found) < _FEWEST or None in found:
        return text
    named = [(" ".join((m["inside"] or m["bare"]).lower().split()), m["value"]) for m in found if m is not None]
    if any(not _is_in_question(name, question) for name, _ in named) or len({name for name, _ in named}) < len(named):
        return text
    return ",\\ ".join(f"\\text{{{name}}}={value}" for name, value in named)


def _is_in_question(name: str, question: Question) -> bool:
    return all(
        word in question.words and not denies(word) and not known(singular(word)) and word not in ("or", "not")
        for word in name.split()
    )


def by_letters(text: str, reference: str) -> str:
    r"""The lettered parts in order: `(a) 5, (b) 2` as `(5, 2)`. Where the reference has letters too, they are kept."""
    if len(text) > _LONGEST or not text.rstrip().startswith(("(", "\\", "a")):
        return text
    marks = list(_LETTERED.finditer(text))
    if (
        len(marks) < _FEWEST
        or text[: marks[0].start()].strip()
        or "".join(m[1] for m in marks) != "abcdefgh"[: len(marks)]
    ):
        return text
    ends = [*(m.start() for m in marks[1:]), len(text)]
    values = [_BETWEEN.sub("", text[m.end() : end]).strip() for m, end in zip(marks, ends, strict=True)]
    if not all(values):
        return text
    if "(a)" in reference:
        return ", ".join(f"({m[1]}) {value}" for m, value in zip(marks, values, strict=True))
    return text if any("," in value for value in values) else f"({', '.join(values)})"


def by_sides(text: str, question: Question | None) -> str:
    r"""`8 \text{ by } 5` as `8, 5`, where the question asks for dimensions; any other text as it is."""
    match = _BY.fullmatch(text.strip()) if question is not None and _DIMENSIONS & question.words else None
    return text if match is None else f"{match[1]}, {match[2]}"
