r"""Damaged texts: missing cells that became words like `NaN`, backslashes that became control characters."""

from __future__ import annotations

import re

# The texts that pandas, JSON and float() write for a missing or overflowed number
_NOT_A_NUMBER = re.compile(r"[-+]?(?:(?i:nan|inf|<na>|nat)|Infinity|INFINITY)")
# The texts that str() and JSON write for a missing value. The case must match: an answer's word "none" is
# `\text{None}` or `none`
_NO_VALUE = frozenset({"None", "null", "NULL"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LAYOUT = "\n\r\t "
# Each control character and the letter of its escape: `\f` is a form feed
_ESCAPES = {"\x07": "a", "\x08": "b", "\t": "t", "\n": "n", "\x0b": "v", "\x0c": "f", "\r": "r"}
# A control character and the rest of a command: the character replaced the backslash and the command's first letter
_LOST = re.compile(
    r"\x0c(?=rac|orall|loor|box)|\x08(?=eta|inom|ar\b|oxed|egin|mod|oldsymbol|f\b|ig|ullet|ot\b)"
    r"|\t(?=imes|heta|an\b|ext|frac|au\b|o\b|riangle|ilde|binom|op\b)|\r(?=ight|ho\b|angle|floor|ceil|m\b|vert)"
    r"|\n(?=eq|e\b|abla|otin|ewline|mid)|\x07(?=lpha|ngle|pprox|rc|st\b|leph)|\x0b(?=ec\b|ee\b|arphi|ert|dots)"
)


def is_missing(text: str) -> bool:
    """Whether the text stands for a missing value or an overflowed number: `NaN`, `-inf`, `<NA>`, `None`."""
    # A template may have written `$`, `%` or a backslash around the missing cell
    text = text.strip().strip("$%\\ ")
    return text in _NO_VALUE or _NOT_A_NUMBER.fullmatch(text) is not None


def lost_backslash(text: str) -> str | None:
    r"""A description of the command whose backslash became a control character; None if there is no such command.

    In a string that is not raw, `\frac` begins with a form feed. Tabs and line breaks are layout, except where the rest
    of a command follows: a tab before `imes` was `\times`. Every other control character is damage.
    """
    if text.isprintable():
        return None
    match = _LOST.search(text) or next((m for m in _CONTROL.finditer(text) if m.group() not in _LAYOUT), None)
    if match is None:
        return None
    letter = _ESCAPES.get(match.group())
    if letter is None:
        return f"the control character {match.group()!r}"
    rest = re.match(r"[a-zA-Z]*", text[match.end() :])
    command = f"\\{letter}{rest.group() if rest else ''}"
    return (
        f"the control character {match.group()!r} where {command!r} lost its backslash: write the text as a raw string"
    )
