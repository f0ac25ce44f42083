r"""Measures the language of a text by the scripts of its words; code, formulas and links belong to no language.

No model is asked, so languages that share a script look the same: English and French are both Latin. Han characters
alone are Chinese, so a Japanese text must contain kana, too.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from typing import NamedTuple

import regex

from agentscope_tuner.verify.text.fences import fenced
from agentscope_tuner.verify.text.words import visible

_WRITTEN_IN = {
    "Latin": "cs da de en es fi fr hu id it ms nl no pl pt ro sv sw tr vi",
    "Cyrillic": "be bg kk ru uk",
    "Arabic": "ar fa ur",
    "Devanagari": "hi mr ne",
    "Armenian": "hy",
    "Bengali": "bn",
    "Georgian": "ka",
    "Greek": "el",
    "Gujarati": "gu",
    "Gurmukhi": "pa",
    "Han Bopomofo": "zh",
    "Han Hiragana Katakana": "ja",
    "Hangul": "ko",
    "Hebrew": "he",
    "Kannada": "kn",
    "Khmer": "km",
    "Lao": "lo",
    "Malayalam": "ml",
    "Myanmar": "my",
    "Sinhala": "si",
    "Tamil": "ta",
    "Telugu": "te",
    "Thai": "th",
}
_SCRIPTS = {code: scripts.split() for scripts, codes in _WRITTEN_IN.items() for code in codes.split()}
#: The supported codes of ISO 639-1, such as `zh`.
LANGUAGES = tuple(sorted(_SCRIPTS))
# The least share of kana in Japanese words: every sentence has particles, which are kana
_LEAST_KANA = 0.1

# The text is hostile, so a search from one opening sign stops at the next opening sign of its kind, or after a bounded
# number of characters: a megabyte of unclosed signs is then read once
_NO_LANGUAGE = [
    re.compile(pattern)
    for pattern in (
        r"`[^`\n]{1,500}+`",
        r"\$\$[^$]{1,2000}+\$\$",
        r"\$[^$\n]{1,500}+\$",
        r"\\\((?:[^\\]|\\[^()]){1,2000}?\\\)",
        r"\\\[(?:[^\\]|\\[^\[\]]){1,2000}?\\\]",
        r"\\begin\{(equation|align|gather)(?:[^\\]|\\(?!begin\{\1)){0,4000}?\\end\{\1\*?\}",
        r"\\[a-zA-Z]++",
        r"https?://\S++",
        r"www\.\S++",
        r"</?[A-Za-z][\w-]{0,40}>",
    )
]
# A single ASCII letter is a name in a formula, and no word
_LONE_LETTERS = string.ascii_letters
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = regex.compile(rf"[{_UNSPACED}]|[\p{{L}}\p{{M}}--[{_UNSPACED}]]{{1,32}}", regex.VERSION1)


class LanguageShare(NamedTuple):
    """Attributes:
    share: the share of the words that are in the language's scripts, 0.0 to 1.0.
    ours: the number of these words.
    total: the number of all words.
    """

    share: float
    ours: int
    total: int


def language_share(text: str, language: str) -> LanguageShare:
    """The share of the words of `text` that are written in the scripts of `language`.

    DeepSeek-R1's language consistency reward (arXiv 2501.12948, section 2.3.2) is the share of words in the target
    language. A word is a run of at most 32 letters, or one character in a script without blanks. It counts when all its
    letters are in the language's scripts, so a Latin word with a Cyrillic letter does not count. A single ASCII letter
    is a name in a formula, and no word.

    Args:
        language: one of `LANGUAGES`.
    """
    spoken = fenced(visible(text)).outside
    for left_out in _NO_LANGUAGE:
        spoken = left_out.sub(" ", spoken)
    words = Counter(_WORD.findall(spoken))
    for letter in _LONE_LETTERS:
        del words[letter]
    ours, total = _written_in(words, _SCRIPTS[language]), words.total()
    if language == "ja" and _written_in(words, ["Hiragana", "Katakana"]) < _LEAST_KANA * ours:
        # Han characters with so few kana are Chinese
        ours = 0
    return LanguageShare(ours / total if total else 0.0, ours, total)


def _written_in(words: Counter[str], scripts: list[str]) -> int:
    letter = "".join(rf"\p{{{script}}}" for script in scripts)
    # Combining marks and common characters belong to every script
    whole = regex.compile(rf"[{letter}\p{{Inherited}}\p{{Common}}]++")
    return sum(count for word, count in words.items() if whole.fullmatch(word))
