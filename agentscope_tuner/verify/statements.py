"""Reads one statement out of its sentence: bounded in length, without Markdown, and distinguished from prose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_WINDOW = 400
CONTRADICTION = "two different answers side by side"
DENIAL = "a denial"


class Found(NamedTuple):
    """The content of a place.

    Attributes:
        text: the answer, stripped.
        problem: the reason why there is no answer; empty for an answer.
        raw: the answer as it stands in the output.
    """

    text: str
    problem: str = ""
    raw: str = ""


def sole_answer(answers: Sequence[str]) -> Found:
    """The answer that all of `answers` give, apart from white space and `$`; different answers are a contradiction."""
    if len(answers) > 1 and len({re.sub(r"[\s$]", "", answer) for answer in answers}) > 1:
        return Found("", CONTRADICTION)
    return Found(answers[-1].strip(), "", answers[-1])


_DENIED = re.compile(
    r"\b(?:not|never|neither|nor|cannot|no\s+longer|anything\s+but|other\s+than|different\s+from|far\s+from|unlikely"
    r"|ruled?\s+out|incorrect|wrong|impossible|invalid|absurd|nonsense)\b|n['’]t\b|不是|不为|不等于|不会|不可能|并非|绝非|而非|不对|错误|排除",
    re.IGNORECASE,
)


def is_denied(text: str) -> bool:
    """Whether `text` contains a word of denial."""
    return _DENIED.search(text) is not None


_MATH = r"\$\$.*?\$\$|\$[^$\n]*\$|\\\(.*?\\\)|\\\[.*?\\\]|\\begin\{.*?\\end\{[a-zA-Z]*\*?\}|\\text\{[^{}]*\}"
_FORMULA = re.compile(_MATH, re.DOTALL)
_NAMES = re.compile(r"\\[a-zA-Z]+|\b(?:sin|cos|tan|cot|sec|csc|log|ln|exp|pi|sqrt|mod|and|or)\b")
_WORD = re.compile(r"[^\W\d_]{2,}")


def is_prose(text: str) -> bool:
    """Whether `text` contains words outside of its formulas."""
    return _WORD.search(_NAMES.sub(" ", _FORMULA.sub(" ", text))) is not None


_PIECE = re.compile(
    rf"{_MATH}|(?P<stop>[.?!](?=[*_\"'”’)\]}}]*(?:\s|$)))|(?P<end>\n|[。！？])|.",
    re.DOTALL,
)
_ABBREVIATED = re.compile(r"\b(?:approx|ca|cm|cu|ft|hr|in|lb|min|mi|no|oz|sec|sq|vs|yd|e\.g|i\.e)$", re.IGNORECASE)
# The sentence continues behind the full stop of an abbreviation
_GOES_ON = re.compile(r"[^\S\n]*[a-z0-9(]")
_BEFORE = re.compile(r"[\s*_`}\"“:：]{0,40}")


def statement_at(text: str, at: int, *, whole_line: bool = False) -> tuple[str, int]:
    """The statement that begins at `at`, cleaned, and the position of its end.

    A statement ends with its sentence. Full stops and line breaks within a formula do not end it. White space, line
    breaks and Markdown before it are skipped. The statement is empty when no words follow, when it is a question, and
    when it is too long to be an answer.

    Args:
        whole_line: the statement is the rest of the line at `at`; its full stops do not end it.
    """
    start = at if whole_line else _past_markup(text, at)
    window = text[start : start + _WINDOW]
    for piece in _PIECE.finditer(window):
        if piece.lastgroup is None or (whole_line and piece[0] != "\n"):
            continue
        if piece.lastgroup == "stop":
            behind = window[piece.end() :]
            if piece[0] == "." and _ABBREVIATED.search(window[: piece.start()]) and _GOES_ON.match(behind):
                continue
        if piece[0] in "?？":
            return "", start + piece.end()
        return clean(window[: piece.start()]), start + piece.end()
    return (clean(window) if start + _WINDOW >= len(text) else ""), start + len(window)


def _past_markup(text: str, at: int) -> int:
    match = _BEFORE.match(text, at)
    assert match is not None
    # _BEFORE skips a closing brace, too, as in \textbf{Answer:} 42
    return match.end()


_EMPHASIS = re.compile(r"(?<![\w)\]}*_])(\*\*|__|\*|_|`)(?=\S)([^*`\n]*?\S)\1(?![\w(*_])")
_REMARK = re.compile(
    r"[,;，；(（]?\s*(?:\b(?:because|since|which|so|hence|therefore|thus|giving|as\s+(?:required|desired|expected|needed|wanted"
    r"|shown|computed|calculated|above|before)|rather\s+than|instead\s+of)\b|(?<=[,;(（])\s*(?:and\s+)?not\b|因为|所以|因此|其中|即)"
    r".*",
    re.DOTALL | re.IGNORECASE,
)
# This remark is not removed, because it denies the value: `42, which is wrong`
_TAKEN_BACK = re.compile(
    r"[,;，；(（]?\s*which\s+(?:is|was|were|seems|looks|(?:turns|turned)\s+out\s+to\s+be|would\s+be|can(?:not|['’]t)\s+be)"
    r"(?:n['’]t)?\s+(?:\w+\s+){0,2}?(?:wrong|incorrect|false|impossible|invalid|absurd|nonsense"
    r"|(?<=n['’]t\s)(?:it|right|correct|true|valid|possible)|(?:not|never|be)\s+(?:the\s+)?(?:right|correct|true|valid|possible"
    r"|allowed|answer|it))\b",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"^(?:(?:simply|just|exactly|clearly|then|thus|therefore|indeed|also|option|choice|选项)\s*:?\s*)+", re.IGNORECASE
)
_AROUND = '*_` \t\n"“”✓✔✅☑\ufe0f'
_DELIMITER = re.compile(r"\$\$?|\\[()\[\]]")


def clean(text: str) -> str:
    r"""A statement without emphasis, closing remark, full stop, and inner `$`. One pair `$…$` around it may stay."""
    text = text.strip()
    for _ in range(3):
        text = _EMPHASIS.sub(r"\2", text)
    text = _FILLER.sub("", text.strip(_AROUND))
    remark = _REMARK.search(_FORMULA.sub(lambda math: "0" * len(math[0]), text), 1)
    if remark is not None and not _TAKEN_BACK.match(remark[0]):
        text = text[: remark.start()]
    text = text.strip(_AROUND).rstrip(".,;:，。；").rstrip()
    if text.endswith("$") and text.count("$") % 2:
        # The `$` that opens this formula stands before the label
        text = text[:-1].rstrip()
    if len(_DELIMITER.findall(text)) > 2:
        # The statement holds several formulas with words between them
        text = _DELIMITER.sub(" ", text).strip()
    return text
