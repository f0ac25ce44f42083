"""Tells whether a judge's JSON repeats JSON of the judged text, compared by meaning and not by spelling."""

from __future__ import annotations

import html
import math
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from agentscope_tuner.graders.prompt.visible import lower_letters, plain

# A key, a colon or an equals sign, and a value. Each may stand in up to six quotes and backslashes
_QUOTE = r"[\\\"'“”‘’„«»`´]{0,6}"
_PAIR = re.compile(
    rf"({_QUOTE})([^\W\d][\w \-\\]{{0,30}}?){_QUOTE}\s{{0,8}}(?:[:=∶]|=>)\s{{0,8}}"
    rf"(?:\[([^\[\]{{}}]{{0,200}})\]|({_QUOTE})(.{{0,40}}?)(?=[\"'“”‘’`\\,;{{}}\[\]\n]|$))",
    re.DOTALL,
)
_UNICODE_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})|\\+x([0-9a-fA-F]{2})")
_WORDS = {"true": True, "yes": True, "false": False, "no": False, "null": None, "none": None}

_AROUND_VALUES = " \t\r\n\"'“”‘’`\\*_"
_MOST_PAIRS = 20_000

Pair = tuple[str, object]


class Quotable:
    """The key-value pairs in the judged texts; the texts are searched when the pairs are first needed."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._pairs: set[Pair] | None = None
        self._letters: list[str] = []

    def repeats(self, verdict: dict[str, Any]) -> bool:
        """Whether the judged texts hold every key of `verdict` with its value, in any spelling."""
        leaves = list(_leaves("", verdict))
        if not self._letters:
            self._texts = [_one_spelling(text) for text in self._texts]
            self._letters = [lower_letters(text) for text in self._texts]
        if not leaves or not all(any(key in letters for letters in self._letters) for key, _ in leaves):
            return False  # true of most verdicts, and much cheaper than a search for pairs
        if self._pairs is None:
            self._pairs = {pair for text in self._texts for pair in islice(_pairs_in(text), _MOST_PAIRS)}
        return all(self._holds((key, _leaf_meaning(value))) for key, value in leaves)

    def _holds(self, pair: Pair) -> bool:
        assert self._pairs is not None
        if pair in self._pairs:
            return True
        # The search for pairs ends a value at a quote or a comma, but a text may hold both: look for the whole text
        value = pair[1]
        return isinstance(value, str) and len(value) > 1 and any(value in letters for letters in self._letters)


def _leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(str(name), inner)
    elif isinstance(value, list) and value and not any(isinstance(item, dict | list) for item in value):
        yield lower_letters(key), value
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(key, inner)
    else:
        yield lower_letters(key), value


def _leaf_meaning(value: Any) -> object:
    return tuple(map(_meaning, value)) if isinstance(value, list) else _meaning(value)


def _pairs_in(text: str) -> Iterator[Pair]:
    position = 0
    while match := _PAIR.search(text, position):
        key = lower_letters(match[2])
        if match[3] is not None:
            yield key, tuple(_meaning(item) for item in match[3].split(","))
        else:
            yield key, _meaning(match[5])
        # The value may itself hold a pair, as in {"verdict": {"score": 10}}: go on right behind the key
        position = max(match.end(2), match.start() + 1)


def _one_spelling(text: str) -> str:
    """`text` with entities and escapes resolved, in NFKC form, without invisible characters."""
    unescaped = html.unescape(text) if "&" in text else text
    if "\\" in unescaped:
        unescaped = _UNICODE_ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), unescaped)
    return plain(unescaped.encode("utf-8", "replace").decode("utf-8"))


def _meaning(value: object) -> object:
    """A form in which equal values are equal: numbers as floats, words without case and punctuation."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return float(value) if abs(value) <= sys.float_info.max else str(value)
    text = _one_spelling(str(value)).strip(_AROUND_VALUES)
    try:
        number = float(text)
        return number if math.isfinite(number) else text
    except (ValueError, OverflowError):
        return _WORDS.get(text.casefold(), lower_letters(text))
