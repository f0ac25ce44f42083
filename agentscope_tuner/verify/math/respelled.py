r"""Numbers, units and bases in the spelling that the scanner reads: `0.(3)`, `68''`, `(101)_2`."""

from __future__ import annotations

import re
from collections.abc import Callable

_TEXT = r"\\(?:text|mathrm|textrm|textbf|mbox|operatorname)"
_GAP = r"(?:\\[ ,;:!~]|~|\s)*"
_BASES = {
    name: at
    for at, name in enumerate(
        """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen""".split(),  # noqa: SIM905
        start=2,
    )
} | {"binary": 2, "octal": 8, "decimal": 10, "hex": 16, "hexadecimal": 16, "bin": 2, "oct": 8, "dec": 10}
_BASE_WORD = "|".join(sorted(_BASES, key=len, reverse=True))

_Rule = tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]]
# A text that every match contains (a cheap test before the pattern), the pattern, and the new spelling of the match
_RULES: tuple[_Rule, ...] = (
    # `0.(3)`: the digits in the brackets repeat
    ("(", re.compile(r"(?<![\w.)])(\d+\.)\((\d{1,30})\)(?![\w(^])"), r"\1\\overline{\2}"),
    ("_", re.compile(r"^\(([0-9A-Z]+)\)\s*(?=_)"), r"\1"),
    (
        "_",
        re.compile(rf"(?<=[0-9A-Z])_\s*(?:\{{\s*)?(?:{_TEXT}\s*\{{\s*)?({_BASE_WORD})\s*\}}*$", re.IGNORECASE),
        lambda m: f"_{{{_BASES[m[1].lower()]}}}",
    ),
    (
        "frac",
        re.compile(
            rf"(?<=[\d}}]){_GAP}\\[dt]?frac\s*\{{\s*{_TEXT}\s*\{{\s*([a-zA-Z. ]+?)\s*\}}\s*\}}"
            rf"\s*\{{\s*{_TEXT}\s*\{{\s*([a-zA-Z. ]+?)\s*\}}\s*\}}$"
        ),
        r"\\text{ \1 per \2}",
    ),
    ("cent", re.compile(r"(?<=[\d}{ ])per cent\b", re.IGNORECASE), "percent"),
    # `(1,2)^T`: a column, written as a transposed row
    ("^", re.compile(r"^\(([^()]*,[^()]*)\)\^\{?(?:T|\\top|\\intercal|\\(?:mathsf|mathrm|text)\{T\})\}?$"), r"(\1)"),
    # feet and inches
    ("'", re.compile(rf"^(\d+)\s*'{_GAP}(\d+(?:\.\d+)?)\s*(?:''|\"|$)$"), r"\1\\text{ ft }\2\\text{ in}"),
    ("'", re.compile(r"^(\d+(?:\.\d+)?)\s*''$"), r"\1\\text{ inches}"),
    ('"', re.compile(r"^(\d+(?:\.\d+)?)\s*\"$"), r"\1\\text{ inches}"),
)
_PLAIN = str.maketrans({"″": "''", "”": '"', "’": "'", "′": "'"})
# The rules respell single values, which are short
_LONGEST = 400


def respelled(text: str) -> str:
    """The text with the spellings of `_RULES` replaced; a text over `_LONGEST` characters is left as it is."""
    if len(text) > _LONGEST:
        return text
    if not text.isascii():
        text = text.translate(_PLAIN)
    for needed, pattern, spelling in _RULES:
        if needed in text:
            text = pattern.sub(spelling, text)
    return text
