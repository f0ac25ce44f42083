"""Text as a reader sees it: without invisible characters, and in one spelling in which markers are found."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Unicode's property Default_Ignorable_Code_Point and the control characters, but not tab, newline, return and joiners
_HIDDEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Persian, Indic scripts and emoji need joiners and U+FE0F. So up to two stay behind a character beyond ASCII, and a
# joiner only if another such character follows
_JOINERS = "\u200c\u200d\ufe0f"
_INVISIBLE = re.compile(
    rf"[{_HIDDEN}]+|(?<![^\x00-\x7f])[{_JOINERS}]+|[{_JOINERS}]{{3,}}|[\u200c\u200d](?![^\x00-\x7f])"
    r"|\ufe0f{2}|[\u200c\u200d][\u200c\u200d\ufe0f]"
)
_ALL_INVISIBLE = re.compile(f"[{_HIDDEN}{_JOINERS}]+")
# For ASCII texts one pass of `translate` is many times as fast as a search for the characters to remove
_NO_CONTROLS = {code: None for code in range(128) if _ALL_INVISIBLE.match(chr(code))}
_LETTERS = {code: chr(code) if chr(code).isalnum() else None for code in range(128)}
_LOWER_LETTERS = {code: char and char.lower() for code, char in _LETTERS.items()}
_WITHIN_WORDS = re.compile(rf"\w[{_HIDDEN}{_JOINERS}]+\w")
# Characters that look like those of a marker, though NFKC does not replace them
_LOOKS_LIKE = {"\u2044": "/", "\u2215": "/", "\u29f8": "/", "\u2223": "|", "\u01c0": "|", "\u2758": "|", "\u2502": "|"}


def without_invisible(text: str) -> str:
    """`text` without invisible characters; joiners stay where a script or an emoji needs them."""
    if text.isascii() and text.isprintable():
        return text
    return _INVISIBLE.sub("", _INVISIBLE.sub("", text))


def hides(text: str) -> bool:
    """Whether an invisible character stands within a word of `text`."""
    return not text.isascii() and _WITHIN_WORDS.search(text) is not None


def plain(text: str) -> str:
    """`text` in one spelling: without invisible characters, and each other character in its NFKC form."""
    if not text.isascii():
        return "".join(map(_folded, text))
    return text if text.isprintable() else text.translate(_NO_CONTROLS)


def letters(text: str) -> str:
    """The letters and digits of `text`, without the characters between them."""
    return text.translate(_LETTERS) if text.isascii() else "".join(filter(str.isalnum, text))


def lower_letters(text: str) -> str:
    """The letters and digits of `text` in lower case."""
    return text.translate(_LOWER_LETTERS) if text.isascii() else "".join(filter(str.isalnum, text.casefold()))


def plain_with_positions(text: str) -> tuple[str, list[int]]:
    """`plain(text)`, and for each of its characters the position in `text` of the character that it came from."""
    pieces = [_folded(char) for char in text]
    return "".join(pieces), [position for position, piece in enumerate(pieces) for _ in piece]


@lru_cache(maxsize=4096)
def _folded(char: str) -> str:
    if _ALL_INVISIBLE.match(char):
        return ""
    return _LOOKS_LIKE.get(char) or unicodedata.normalize("NFKC", char)
