"""Compares short answers as SQuAD does: normalised exact match, and F1 over words."""

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
# Signs between digits, except the comma of thousands and the decimal point
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
    """SQuAD's two metrics, each the best over all references.

    F1 is the harmonic mean of precision and recall over the words. A repeated word counts each time, and the order of
    words does not matter. So an answer of n words that contains all r words of a reference gets 2r / (n + r).
    """
    ours = normalised(answer)
    counted = Counter(ours)
    exact, best = False, 0.0
    for reference in references:
        theirs = normalised(reference)
        common = (counted & Counter(theirs)).total()
        # This equals 2pr / (p + r) with p = common / ours and r = common / theirs
        best = max(best, 2 * common / (len(ours) + len(theirs)) if common else 0.0)
        exact = exact or ours == theirs
    return TextMatch(exact, best)


def normalised(text: str) -> list[str]:
    """The words of `text` in the form that SQuAD's evaluation compares (arXiv 1606.05250, section 6.1).

    They are in lower case, without punctuation, and without the articles a, an and the. SQuAD's form is extended:

    - punctuation of every script is removed, not only of ASCII;
    - each character of a script without blanks, such as Han, is a word;
    - a number keeps its sign and its decimal point, and other signs between digits separate them, because SQuAD reads
      both 1.5 and 1/5 as 15;
    - a text of nothing but articles or punctuation keeps them.
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
