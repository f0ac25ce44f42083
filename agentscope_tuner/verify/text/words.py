"""Splits a text in any script into words: at blanks, or into single characters where the script has no blanks."""

from __future__ import annotations

import re

# Scripts that are written without blanks: Thai, Lao, Myanmar, Khmer, kana, Han
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
#: A run without a blank counts as several words, so that a megabyte of one letter is not one word.
LONGEST = 32
_WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]{{1,{LONGEST}}}")
# Zero-width and direction marks: a word that contains such a mark looks the same
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """`text` without invisible characters."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def words_of(text: str) -> list[str]:
    """The words of `text` in lower case and in order, each with the punctuation that touches it."""
    return _WORD.findall(visible(text).lower())
