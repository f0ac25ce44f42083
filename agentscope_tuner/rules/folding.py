"""Case folding for `ignore_case`, for any script; the rule's text and the output are folded in the same way."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """`text` without case: Unicode full folding (``ß`` is ``ss``, ``ς`` is ``σ``), with the four letters i made equal.

    Full folding turns ``İ`` into ``i`` and a combining dot, and leaves ``ı`` unchanged. So a search for ``istanbul``
    would miss the Turkish ``İstanbul``, and a search for ``ısparta`` would miss ``ISPARTA``. Here I, i, İ and ı all
    fold to ``i``.
    """
    folded = text.casefold()
    if folded.isascii():
        return folded
    return folded.replace("i\u0307", "i").replace("ı", "i")


def has_no_case(text: str) -> bool:
    """Whether folding makes no difference for `text`: it folds to itself, and no other text folds to it.

    True for Han, kana, Hangul and similar scripts, for digits and for ASCII punctuation; False in case of doubt.
    """
    return all(
        (char.isascii() and not char.isalpha()) or (unicodedata.category(char) == "Lo" and char == char.upper())
        for char in text
    )
