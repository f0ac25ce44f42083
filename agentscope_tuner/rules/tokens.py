"""The token estimate behind `max_tokens`: linear, dependency-free, and the same on every machine.

A text falls into three classes of character, and its estimate is ``cjk + words + others // 4``:

- a CJK character (Han, kana, bopomofo, Hangul, CJK punctuation, full-width forms: `CJK_RANGES`) is one token;
- a word, a run of at most `LONGEST_WORD` other letters, digits and underscores, is one token; a longer run is several
  words, so that a megabyte without a blank is not "one word". The one space before a word belongs to it, as it does in
  the byte-pair vocabularies of language models;
- everything else (punctuation, line breaks, further blanks, emoji) is one token for each complete four characters,
  counted over the whole text.
"""

from __future__ import annotations

import re

# Whole 256-blocks of the Basic Multilingual Plane, so that one byte of UTF-16 tells them apart, and planes 2 and 3.
CJK_RANGES = ((0x3000, 0x9FFF), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF00, 0xFFFF), (0x20000, 0x3FFFF))
LONGEST_WORD = 32

_CJK = "".join(f"{chr(first)}-{chr(last)}" for first, last in CJK_RANGES)
_WORDS = re.compile(f" ?[^\\W{_CJK}]{{1,{LONGEST_WORD}}}")
_NOT_CJK = re.compile(f"[^{_CJK}]+")
_CJK_HIGH_BYTES = bytes(block for block in range(256) if any(first <= block << 8 <= last for first, last in CJK_RANGES))

# One byte a character, bits apart enough that shifts compare neighbours: a word character is 0b1001, a space 0b0010.
_ASCII_CLASSES = bytes(
    0b1001 if chr(code).isalnum() or chr(code) == "_" else 0b0010 if chr(code) == " " else 0 for code in range(128)
) + bytes(128)
_LONG_RUN = bytes([0b1001]) * (LONGEST_WORD + 1)


def estimate_tokens(text: str) -> int:
    """The estimated number of tokens in `text`, at least 0; time and memory are linear in its length."""
    if text.isascii():
        classes = text.encode("ascii").translate(_ASCII_CLASSES)
        if _LONG_RUN not in classes:
            return _estimate_ascii(classes)
    cjk = _count_cjk(text)
    words = _WORDS.findall(text)
    return cjk + len(words) + (len(text) - cjk - len("".join(words))) // 4


def exceeds_tokens(text: str, limit: int) -> bool:
    """Whether ``estimate_tokens(text) > limit``; mostly decided without counting, for no character is two tokens."""
    if len(text) <= limit:
        return False
    if not text.isascii() and _count_cjk(text) > limit:
        return True
    return estimate_tokens(text) > limit


def _estimate_ascii(classes: bytes) -> int:
    # The text as one big integer: each step below looks at every character at once.
    bits = int.from_bytes(classes, "little")
    letters = (bits & (bits >> 3)).bit_count()
    inside_words = (bits & (bits << 5)).bit_count()  # a word character after a word character
    spaces_before_words = (bits & (bits << 7)).bit_count()
    return letters - inside_words + (len(classes) - letters - spaces_before_words) // 4


def _count_cjk(text: str) -> int:
    high_bytes = text.encode("utf-16-le", "surrogatepass")[1::2]
    if len(high_bytes) != len(text):
        # beyond the Basic Multilingual Plane one byte does not tell a rare Han character from an emoji
        return len(_NOT_CJK.sub("", text))
    return len(text) - len(high_bytes.translate(None, _CJK_HIGH_BYTES))
