"""Counts tokens for `max_tokens`: estimated, or exactly with tiktoken for rules that name a `tokenizer`.

The estimate takes linear time, has no dependencies, and is equal on every machine. Each character belongs to one of
three classes, and the estimate is ``cjk + words + others // 4``:

- a CJK character is one token: Han, kana, bopomofo, Hangul, CJK punctuation and full-width forms (U+3000-9FFF,
  AC00-D7FF, F900-FAFF, FF00-FFFF, 20000-3FFFF);
- a word is one token. It is a run of at most `LONGEST_WORD` word characters: letters, digits and underscores of ASCII
  and Latin-1, and all characters of the other blocks with letters (U+0100-1FFF, 2C00-2FFF, A000-ABFF, FB00-FDFF). A
  longer run is several words, so that a megabyte without a blank is not "one word". A single space before a word
  belongs to the word, as in the byte-pair vocabularies of language models;
- four other characters (punctuation, line breaks, further blanks, symbols, emoji) are one token. They are counted over
  the whole text, and an incomplete four is no token.

Beyond Latin-1 a block of 256 characters has one class, so that fast byte tables can classify the text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from agentscope_tuner.errors import install

if TYPE_CHECKING:
    import tiktoken


LONGEST_WORD = 32

# The class of a character is one byte, chosen so that one operation counts over the whole text. Read the classes as one
# large integer, and AND it with itself shifted by half a byte. Then the one bits are: 4 for each word character, 4 more
# for each word character behind a word character, and 1 for each word character behind a space.
_WORD, _SPACE, _OTHER = 0xFF, 0x10, 0x00
_LATIN_CLASSES = bytes(
    _WORD if chr(code).isalnum() or chr(code) == "_" else _SPACE if code == 0x20 else _OTHER for code in range(256)
)
_LONG_WORD = bytes([_WORD]) * (LONGEST_WORD + 1)
_LONG_WORDS = re.compile(rb"\xff{%d,}" % (LONGEST_WORD + 1))


def _blocks(*ranges: tuple[int, int]) -> bytes:
    return bytes(block for first, last in ranges for block in range(first, last + 1))


_CJK_BLOCKS = _blocks((0x30, 0x9F), (0xAC, 0xD7), (0xF9, 0xFA), (0xFF, 0xFF))
_WORD_BLOCKS = _blocks((0x01, 0x1F), (0x2C, 0x2F), (0xA0, 0xAB), (0xFB, 0xFD))
_NOT_WORD_BLOCKS = bytes(set(range(256)) - set(_WORD_BLOCKS))
_BLOCK_CLASSES = bytes(_WORD if block in _WORD_BLOCKS else _OTHER for block in range(256))
_RARE_HAN = re.compile("[\U00020000-\U0003ffff]")
_BEYOND_THE_FIRST_PLANE = re.compile("[\U00010000-\U0010ffff]")


def estimate_tokens(text: str) -> int:
    """The estimated number of tokens in `text`, at least 0; time and memory are linear in its length."""
    blocks = _blocks_of(text)
    classes = _classes(text, blocks)
    return _count(classes, classes.count(_WORD), _count_cjk(blocks)) + _further_words(classes)


def exceeds_tokens(text: str, limit: int) -> bool:
    """Whether ``estimate_tokens(text) > limit``; a partial count mostly decides it."""
    if len(text) <= limit:
        return False  # A character is at most one token
    blocks = _blocks_of(text)
    if (cjk := _count_cjk(blocks)) > limit:
        return True
    classes = _classes(text, blocks)
    letters = classes.count(_WORD)
    # Each further word of a long run needs `LONGEST_WORD` letters, so there are at most this many
    most_further = letters // LONGEST_WORD
    others = len(text) - cjk - letters
    if cjk + (others + cjk + 1) + most_further + others // 4 <= limit:
        return False
    estimate = _count(classes, letters, cjk)
    if estimate > limit or estimate + most_further <= limit:
        return estimate > limit
    return estimate + _further_words(classes) > limit


def _blocks_of(text: str) -> bytes:
    """The block (code point // 256) of each character; empty for an ASCII text, which has only block 0."""
    if text.isascii():
        return b""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) != 2 * len(text):
        text = _BEYOND_THE_FIRST_PLANE.sub("☺", _RARE_HAN.sub("一", text))
        units = text.encode("utf-16-le", "surrogatepass")
    return units[1::2]


def _count_cjk(blocks: bytes) -> int:
    return len(blocks) - len(blocks.translate(None, _CJK_BLOCKS))


def _classes(text: str, blocks: bytes) -> bytes:
    # Characters beyond Latin-1 become "?", which is of class OTHER. That fits CJK characters, too, because they are
    # counted separately
    classes = text.encode("latin-1", "replace").translate(_LATIN_CLASSES)
    if not blocks or not blocks.translate(None, _NOT_WORD_BLOCKS):
        return classes
    merged = int.from_bytes(classes, "little") | int.from_bytes(blocks.translate(_BLOCK_CLASSES), "little")
    return merged.to_bytes(len(classes), "little")


def _count(classes: bytes, letters: int, cjk: int) -> int:
    bits = int.from_bytes(classes, "little")
    # 4 x (letters + letters behind a letter) + spaces before a word: see the classes above
    score = (bits & (bits << 4)).bit_count()
    # 4 x words + others, where words = letters - letters behind a letter, and others exclude the spaces before a word
    return cjk + (4 * letters - (score - 4 * letters) + len(classes) - cjk - letters) // 4


def _further_words(classes: bytes) -> int:
    if _LONG_WORD not in classes:
        return 0
    return sum((len(run) - 1) // LONGEST_WORD for run in _LONG_WORDS.findall(classes))


@lru_cache(maxsize=8)
def load_encoding(name: str) -> tuple[tiktoken.Encoding, int]:
    """The tiktoken encoding called `name`, and the length in bytes of its longest token.

    Raises:
        ValueError: tiktoken is not installed, has no such encoding, or could not download the encoding's vocabulary,
            which happens on first use; the message names the way out.
    """
    try:
        import tiktoken
    except ImportError:
        raise ValueError(
            f"tokenizer {name!r} needs tiktoken: {install('tokenizer')}, or leave `tokenizer` out to use the estimate"
        ) from None
    known = tiktoken.list_encoding_names()
    if name not in known:
        raise ValueError(f"tokenizer must be one of tiktoken's encodings ({', '.join(known)}), got {name!r}")
    try:
        encoding = tiktoken.get_encoding(name)
    # boundary: tiktoken downloads the vocabulary, and its HTTP client and its file cache may raise anything
    except Exception as exc:
        raise ValueError(
            f"tokenizer {name!r}: tiktoken could not load its vocabulary ({type(exc).__name__}: {exc}); fetch it once "
            "where there is a network and set TIKTOKEN_CACHE_DIR to the directory that holds it"
        ) from exc
    return encoding, max(map(len, encoding.token_byte_values()))


def exceeds_exactly(text: str, limit: int, name: str) -> bool:
    """Whether `text` has more than `limit` tokens in the encoding called `name`; special tokens are read as text.

    Byte-pair merging of a hostile megabyte takes far longer than linear time. So a text that is longer than `limit`
    times the vocabulary's longest token is not tokenized at all: it must have more tokens.
    """
    encoding, longest_token = load_encoding(name)
    if (size := len(text.encode("utf-8", "replace"))) <= limit:
        return False
    if size > limit * longest_token:
        return True
    return len(encoding.encode(text, disallowed_special=())) > limit
