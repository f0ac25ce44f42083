"""Counts sentences and words without a model."""

from __future__ import annotations

import re

from agentscope_tuner.verify.text.words import UNSPACED

_END = re.compile(r"[。！？]++|(?P<dots>[.!?…]++)[\"'”’)\]*_]{0,4}(?=\s|\Z)")
_ABBREVIATED = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|No|Fig|Inc|Ltd|Co|approx|e\.g|i\.e|[ap]\.m|cf|al)|\b[A-Z](?:\.[A-Z])*"
    r"|(?:^|\n)\s{0,8}\d{1,3})$"
)
_GOES_ON = re.compile(r"\s+[a-z]")
_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_LOOK = 16


def count_words(text: str) -> int:
    """The number of words as IFEval counts them: runs of word characters, and single characters of Han and the like."""
    return sum(1 for _ in _WORD.finditer(text))


def count_sentences(text: str) -> int:
    """The number of sentences that contain a word.

    A sentence ends with `.`, `!` or `?` before a blank, or with `。`, `！` or `？`. Some full stops do not end a
    sentence: those of abbreviations, of initials, and of a number that opens a line. Nor do several dots before a small
    letter. IFEval asks nltk's trained model instead, which agrees on plain prose.
    """
    count = at = 0
    for end in _END.finditer(text):
        dots = end["dots"]
        if dots == "." and _ABBREVIATED.search(text[max(end.start() - _LOOK, at) : end.start()]):
            continue
        if dots and (dots == "…" or set(dots) == {"."}) and len(dots) != 1 and _GOES_ON.match(text, end.end()):
            continue
        count += _WORD.search(text, at, end.start()) is not None
        at = end.end()
    return count + (_WORD.search(text, at) is not None)
