"""Characters outside ASCII: what mathematics writes with them, in the words of the scanner."""

from __future__ import annotations

import re
import unicodedata

from agentscope_tuner.verify.math.tables import UNICODE

_RAISED = re.compile(r"(?:[^\x00-\x7f])+")
# how a compatibility character stands to the plain one: these only look different
_LOOKS = frozenset({"<font>", "<wide>", "<narrow>", "<compat>", "<noBreak>"})
_GROUPS = {"<super>": "^", "<sub>": "_"}
_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo"})
_MARKS = frozenset({"Mn", "Mc"})
_ALPHABETS = 0x370


def fold(text: str) -> str:
    r"""The text with every character that has a plain spelling spelled so.

    Digits of all alphabets are digits, raised and lowered characters one group (`⁻¹⁰` is `^{-10}`), a vulgar fraction a
    `\frac`, mathematical letters and full-width signs their plain ones. Letters of other alphabets stay what they are,
    though they may look like Latin ones; circled and Roman digits stay too.
    """
    return _RAISED.sub(_folded, unicodedata.normalize("NFC", text))


def _folded(match: re.Match[str]) -> str:
    out: list[str] = []
    group = ""
    for char in match.group():
        kind, plain = _plain(char)
        found = _GROUPS.get(kind, "")
        if group and found != group:
            out.append("}")
        if found and found != group:
            out.append(found + "{")
        group = found
        out.append(plain)
    return "".join(out) + ("}" if group else "")


def _plain(char: str) -> tuple[str, str]:
    """How the character stands to its plain spelling, and that."""
    translated = UNICODE.get(ord(char))
    if translated is not None:
        return "", translated
    if char.isdecimal():
        return "", str(unicodedata.decimal(char))
    kind = unicodedata.decomposition(char).partition(" ")[0]
    plain = unicodedata.normalize("NFKC", char)
    if kind == "<fraction>" and len(parts := plain.split("\u2044")) == 2 and all(parts):
        return kind, f"\\frac{{{parts[0]}}}{{{parts[1]}}}"
    if kind in _GROUPS or (kind in _LOOKS and unicodedata.category(char) not in ("Nl", "No")):
        return kind, plain.translate(UNICODE)
    return "", char


def word_end(text: str, at: int) -> int:
    """Where the word of another alphabet that begins at `at` ends; `at` itself where none does.

    A mark belongs to a word only on a letter of an alphabet that writes with marks: strokes and circles over Latin
    letters and digits change what they say.
    """
    end = at
    while end < len(text) and ord(text[end]) > 127:
        category = unicodedata.category(text[end])
        marked = category in _MARKS and end > at and ord(text[end - 1]) >= _ALPHABETS
        if category not in _LETTERS and not marked:
            break
        end += 1
    return end
