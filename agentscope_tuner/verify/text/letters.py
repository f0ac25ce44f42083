"""Reads the letters of options, and distinguishes them from articles, pronouns and words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_OPEN = re.compile(r"[*_`\"'“‘$]{0,4}\s?(?P<bracket>[(\[{【]?)[\s*_`]{0,3}")
_CLOSE = re.compile(r"[\s*_`]{0,2}[)\]}】]?[*_`\"'”’$]{0,4}")
_TOKEN = re.compile(r"[A-Za-z]{1,16}(?![A-Za-z0-9]|['’][A-Za-z])")
_AND = re.compile(
    r"\s{0,3}(?:(?:,|、|，|;)\s{0,3}(?:and\b)?|&|\+|\band\b|和|与|以及)\s{0,3}(?:option\s|选项)?", re.IGNORECASE
)
_OR = re.compile(
    r"[\s,，;.。…(（]{0,6}(?:/|\||\b(?:and/or|or|alternatively|actually|unless|maybe|perhaps|possibly"
    r"|(?:but|and|it)\s(?:could|might|may)(?:\salso)?\sbe)\b|还是|或者?|也可能(?:是)?|也许是?)[\s,，]{0,3}"
    r"(?:(?:maybe|perhaps|possibly|even|also|the|option|choice|it\sis|is\sit)\s|选项?|是){0,3}",
    re.IGNORECASE,
)
# Two letters with nothing but spaces and dashes between them
_BESIDE = re.compile(r"[\s~–—-]{0,4}")
# `_AND` and `_OR`, matched in the text before a letter
_JOINED_BEFORE = (
    r"[)\]）】*_\s,、，]{0,4}(?:(?P<or>/|\||\bor\b|或者?|还是)|and\b|&|\+|,|、|，|和|与)"
    r"\s{0,3}(?:option\s)?[(\[（*_]{0,3}\Z"
)
_LOOK_BACK = 24
#: The value of `Letters.letters` where an `or` leaves the choice open.
OPEN = "?"
# A word behind a lone `A` or `I`, which is then an article or a pronoun. The listed words may follow an option's letter
_WORD_BEHIND = re.compile(
    r"[^\S\n](?!(?:because|since|as|which|and|or|but|is|was|for|due|given|so|based|by|from|not|with|option|choice|according|if|that"
    r"|where|are|would|should|must)\b)[^\W\d_]",
    re.IGNORECASE,
)


class Letters(NamedTuple):
    """Attributes:
    letters: the letters in upper case, in alphabetical order, each once.
    start: the position in the text where they begin.
    end: the position where they and their brackets end.
    """

    letters: str
    start: int
    end: int


class LetterReader:
    """Finds options' letters in texts.

    Args:
        letters: the letters of the options, in upper case.
    """

    def __init__(self, letters: str) -> None:
        self._letters = letters
        self._before = re.compile(rf"(?<![A-Za-z0-9])([{letters}]){_JOINED_BEFORE}")
        self._lone = re.compile(rf"(?<![A-Za-z0-9\\])[{letters}](?![A-Za-z0-9]|['’][A-Za-z])")

    def read(self, text: str, at: int) -> Letters | None:
        """The letters that begin at `at`: `B`, `(b)`, `A and C`, `AC`; None when other text begins there."""
        first = self._one(text, at)
        if first is None:
            return None
        letters, end = first
        for _ in self._letters:
            joint = _AND.match(text, end)
            following = self._one(text, joint.end()) if joint else None
            if following is None:
                break
            letters, end = letters + following[0], following[1]
        return Letters("".join(sorted(set(letters))), at, end)

    def all(self, text: str) -> Iterator[Letters]:
        """Every lone letter in upper case, together with the letters that an `and` before it joins to it.

        The letters are `OPEN` where an `or` joins them.
        """
        for match in self._lone.finditer(text):
            closing = _CLOSE.match(text, match.end())
            assert closing is not None
            letters, start = match[0], match.start()
            for _ in self._letters:
                window = max(start - _LOOK_BACK, 0)
                joined = self._before.search(text[window:start])
                if joined is None:
                    break
                letters, start = OPEN if joined["or"] else letters + joined[1], window + joined.start()
            yield Letters(OPEN if OPEN in letters else "".join(sorted(set(letters))), start, closing.end())

    def alternative(self, text: str, at: int) -> bool:
        """Whether the text at `at` offers another letter: `or C`, `/C`, `, maybe C`, `. Actually C`, or just `C`."""
        offers = (_OR.match(text, at), _BESIDE.match(text, at))
        return any(offered is not None and self._one(text, offered.end()) is not None for offered in offers)

    def mentions(self, text: str) -> bool:
        """Whether a lone letter stands in `text`; an `A` or `I` beside words does not count, as in `Vitamin A`."""
        return any(
            found[0] not in "AI"
            or not (re.search(r"[^\W_]", text[: found.start()]) or _WORD_BEHIND.match(text, found.end()))
            for found in self._lone.finditer(text)
        )

    def _one(self, text: str, at: int) -> tuple[str, int] | None:
        opening = _OPEN.match(text, at)
        assert opening is not None
        token = _TOKEN.match(text, opening.end())
        if token is None:
            return None
        closing = _CLOSE.match(text, token.end())
        assert closing is not None
        if len(token[0]) > 1:
            # Several letters may be written as `AC`, in alphabetical order; a word such as `BAD` is not
            ordered = all(first < second for first, second in zip(token[0], token[0][1:], strict=False))
            return (token[0], closing.end()) if ordered and set(token[0]) <= set(self._letters) else None
        letter = token[0].upper()
        if letter not in self._letters:
            return None
        article = letter in "AI" or token[0].islower()
        if article and not opening["bracket"] and _WORD_BEHIND.match(text, token.end()):
            return None
        return letter, closing.end()
