"""Case folding for `ignore_case`: any script, both sides folded the same way."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """`text` without case: Unicode full folding (``ß`` is ``ss``, ``ς`` is ``σ``), and the four letters i as one.

    Full folding leaves ``İ`` as ``i`` and a combining dot, and ``ı`` as itself, so that a Turkish writer's ``İstanbul``
    would not be found as ``istanbul``, nor ``ISPARTA`` as ``ısparta``. Here I, i, İ and ı fold to ``i``.
    """
    folded = text.casefold()
    if folded.isascii():
        return folded
    return folded.replace("i\u0307", "i").replace("ı", "i")


def has_no_case(text: str) -> bool:
    """Whether folding is beside the point for `text`: it folds to itself, and no other text folds into it.

    True for Han, kana, Hangul and the like, for digits and for ASCII punctuation; False wherever in doubt.
    """
    return all(
        (char.isascii() and not char.isalpha()) or (unicodedata.category(char) == "Lo" and char == char.upper())
        for char in text
    )
