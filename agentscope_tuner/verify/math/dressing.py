r"""What stands around a value without being part of it: `Answer:`, the letter of a choice, a remark in brackets.

Each is taken off only where the rest is still an answer and the words say nothing about its size: `5 \text{ (exact)}`
is 5, `5 \text{ (or 6)}` is nothing.
"""

from __future__ import annotations

import re

from agentscope_tuner.verify.math.text import MAX_CHARS
from agentscope_tuner.verify.math.unit import changes_number, known, singular

_TEXT = r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox)"
# without one of these there is nothing to take off
_SPACES = re.compile(r"\s+")
_PLAIN_WORD = re.compile(r"\\text|\\math(?:rm|bf)|\\mbox|(?<![\\a-zA-Z])[a-zA-Z]{2}|[答)]")
_LABEL = re.compile(
    rf"(?:{_TEXT}\s*\{{\s*)?(?:(?:the\s+)?(?:final\s+)?(?:answer|ans|result|ratio)(?:\s+is)?|答案(?:是|为)?)\s*"
    r"(?P<close>\}?)\s*(?:[:：=]|(?<=is)|(?<=是)|(?<=ratio))\s*\}?(?:\\[ ,;:!~]|~|\s)*",
    re.IGNORECASE,
)
_RATIO = re.compile(rf"{_TEXT}\s*\{{\s*(?:the\s+)?ratio\s*(?:of|is)?\s*\}}\s*", re.IGNORECASE)
_CHOICE = re.compile(
    rf"(?:(?:{_TEXT}\s*\{{)+\s*\(?(?P<inside>[A-J])\s*[).:]\s*\}}*|\(?(?P<bare>[A-J])\)|(?P<dot>[A-J])[.:](?=\s))"
    r"(?:\\[ ,;:!~]|\\quad|\\qquad|~|\s)*(?=\S)"
)
_LETTER = re.compile(
    rf"(?:{_TEXT}\s*\{{)*\s*(?:(?:option|choice|answer)\s*)?\(?\s*([A-Ja-j])\s*\)?\.?\s*\}}*", re.IGNORECASE
)
_REMARK = re.compile(
    rf"(?:{_TEXT}\s*\{{\s*\(([a-zA-Z' -]+)\)\s*\}}|"
    rf"\(\s*{_TEXT}\s*\{{([a-zA-Z' -]+)\}}\s*\)|\s\(([a-zA-Z' -]{{3,}})\))\s*$"
)
_ONLY = re.compile(rf"(?:{_TEXT}\s*\{{\s*only\s*\.?\s*\}}|(?<=\s)only)\s*$", re.IGNORECASE)
_ORDINAL = re.compile(rf"(\d+)\s*(?:\^\s*)?(?:\{{\s*)?(?:{_TEXT}\s*\{{\s*)?(st|nd|rd|th)\s*\}}?\s*\}}?")
_TO = re.compile(rf"(\d+(?:\.\d+)?)\s*(?:{_TEXT}\s*\{{\s*to\s*\}}|\bto\b)\s*(\d+(?:\.\d+)?)", re.IGNORECASE)
_ROOTS = frozenset({"double root", "triple root", "repeated root", "multiplicity two"})
_MOST_WORDS = 6
# where the letter of a choice stands
_HEAD = 200


def undressed(text: str) -> str:
    """The value without what stands around it."""
    if len(text) > MAX_CHARS or not _PLAIN_WORD.search(text):
        return text
    # a run of spaces could be parted in many ways
    text = _without_label(_SPACES.sub(" ", text))
    if match := _ORDINAL.fullmatch(text):
        return match[1]
    if match := _TO.fullmatch(text):
        return f"{match[1]}:{match[2]}"
    text = _ONLY.sub("", text) or text
    match = _REMARK.search(text)
    if match is not None and match.start() > 0:
        words = next(g for g in match.groups() if g is not None)
        unit = _unit_of(words)
        if unit is not None:
            return f"{text[: match.start()]}\\text{{ {unit}}}"
        if _says_nothing(words):
            return text[: match.start()]
    return text


def _without_label(text: str) -> str:
    for pattern in (_LABEL, _RATIO):
        match = pattern.match(text)
        if match is not None and text[match.end() :].strip(" }$"):
            opened = "{" in match.group() and not match.groupdict().get("close", "}")
            rest = text[match.end() :].strip()
            text = rest[:-1] if opened and rest.endswith("}") else rest
    return text


def choice(text: str) -> tuple[str, str] | None:
    r"""The letter and the value of `\textbf{(A) }5`; None where no letter of a choice stands before a value."""
    match = _CHOICE.match(text[:_HEAD]) if text[:1] in "\\(ABCDEFGHIJ" else None
    if match is None:
        return None
    rest = text[match.end() :].strip()
    if not rest or rest[0] in "=+*/^_,)}<>-" or rest.startswith(("\\cup", "\\cap", "\\le", "\\ge", "\\in")):
        return None
    return next(g for g in match.groups() if g is not None), rest


def letter(text: str) -> str | None:
    r"""The letter of a multiple choice that is all of the text: `C`, `(c)`, `\text{Option C}`."""
    match = _LETTER.fullmatch(text.strip())
    return match[1].upper() if match else None


def _unit_of(words: str) -> str | None:
    parts = words.split()
    return words.strip() if parts and all(known(singular(p)) or p in ("square", "cubic") for p in parts) else None


def _says_nothing(words: str) -> bool:
    parts = words.lower().split()
    if not parts or len(parts) > _MOST_WORDS:
        return False
    return " ".join(parts) in _ROOTS or not any(map(_is_telling, parts))


def _is_telling(word: str) -> bool:
    return changes_number(word) and word not in (
        "rounded",
        "simplified",
        "the",
        "for",
        "with",
        "exactly",
        "approximately",
    )
