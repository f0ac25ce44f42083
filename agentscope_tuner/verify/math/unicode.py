"""Characters outside ASCII, replaced by the ASCII and LaTeX spellings that the scanner knows."""

from __future__ import annotations

import re
import unicodedata

from agentscope_tuner.verify.math.tables import UNICODE

_RAISED = re.compile(r"(?:[^\x00-\x7f])+")
# Tags of Unicode decompositions. With these tags a character only looks different from the plain one
_LOOKS = frozenset({"<font>", "<wide>", "<narrow>", "<compat>", "<noBreak>"})
_GROUPS = {"<super>": "^", "<sub>": "_"}
_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo"})
_MARKS = frozenset({"Mn", "Mc"})
_ALPHABETS = 0x370


def fold(text: str) -> str:
    r"""The text with each character replaced by its plain spelling, if it has one.

    Digits of all alphabets become ASCII digits. Raised or lowered characters become one group: `⁻¹⁰` is `^{-10}`. A
    vulgar fraction becomes a `\frac`. Mathematical letters and full-width signs become plain ones. Letters of other
    alphabets stay, though they may look like Latin ones; circled and Roman digits stay too.
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
    """The tag of the character's decomposition (empty if it has none that counts), and its plain spelling."""
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
    """The end of the non-Latin word that begins at `at`; `at` itself where no such word begins.

    A combining mark belongs to the word only after a letter of an alphabet that writes with marks. On Latin letters and
    digits, strokes and circles change the meaning.
    """
    end = at
    while end < len(text) and ord(text[end]) > 127:
        category = unicodedata.category(text[end])
        marked = category in _MARKS and end > at and ord(text[end - 1]) >= _ALPHABETS
        if category not in _LETTERS and not marked:
            break
        end += 1
    return end
