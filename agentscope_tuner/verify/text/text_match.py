"""Short answers compared as SQuAD compares them: normalised exact match, and F1 over words."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from agentscope_tuner.verify.text.words import UNSPACED, visible

_POINT, _MINUS = "\ue000", "\ue001"
_NUMBER_POINT = re.compile(r"(?<=[0-9])\.(?=[0-9])|(?<![\w.])\.(?=[0-9])")
_NUMBER_SIGN = re.compile(r"(?<![\w.\)\]])[-−](?=[$€£]?\.?[0-9])")
# not the comma of thousands, nor the point
_BETWEEN_DIGITS = re.compile(rf"(?<=[0-9])[^\w\s,.{_POINT}{_MINUS}](?=[0-9])")
_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = {"a", "an", "the"}
_WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")


class TextMatch(NamedTuple):
    """Attributes:
    exact: SQuAD's exact match: the normalised texts are the same.
    f1: SQuAD's F1, 0.0 to 1.0.
    """

    exact: bool
    f1: float


def best_match(answer: str, references: Iterable[str]) -> TextMatch:
    """The larger of each of SQuAD's metrics over the references.

    F1 is the harmonic mean of precision and recall over the words, each counted as often as it stands; their order
    counts for nothing. An answer of n words that holds all r words of a reference gets 2r / (n + r), whatever else it
    says.
    """
    ours = normalised(answer)
    counted = Counter(ours)
    exact, best = False, 0.0
    for reference in references:
        theirs = normalised(reference)
        common = (counted & Counter(theirs)).total()
        # as 2pr / (p + r) with p = common / ours and r = common / theirs
        best = max(best, 2 * common / (len(ours) + len(theirs)) if common else 0.0)
        exact = exact or ours == theirs
    return TextMatch(exact, best)


def normalised(text: str) -> list[str]:
    """The words that SQuAD's evaluation compares (arXiv 1606.05250, section 6.1): in lower case, without punctuation,
    without the articles a, an and the.

    Beyond it: punctuation of every script counts; each character of a script without blanks, such as Han, is a word; a
    number keeps its sign and its decimal point, and signs between digits part them, where SQuAD takes 1.5 and 1/5 for
    15; and a text that consists of articles or
    punctuation alone keeps them.
    """
    text = unicodedata.normalize("NFC", visible(text)).lower()
    parted = _BETWEEN_DIGITS.sub(" ", _NUMBER_SIGN.sub(_MINUS, _NUMBER_POINT.sub(_POINT, text)))
    bare = _without_punctuation(parted)
    words = _WORD.findall(bare)
    return [word for word in words if word not in _ARTICLES] or words or text.split()


def _without_punctuation(text: str) -> str:
    text = text.translate(_ASCII_PUNCTUATION)
    if text.isascii():
        return text
    dropped = {character for character in set(text) if unicodedata.category(character).startswith("P")}
    return text.translate(dict.fromkeys(map(ord, dropped)))
