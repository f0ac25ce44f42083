r"""The language of a text by the scripts of its words; code, formulas and links belong to no language.

No model is asked, so languages that share a script are not told apart: English and French are both Latin. Japanese
needs kana besides its Han characters, for Han alone is Chinese.
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
#: The codes of ISO 639-1 that are known, such as `zh`.
LANGUAGES = tuple(sorted(_SCRIPTS))
# of Japanese words at least these are kana: a sentence has particles
_LEAST_KANA = 0.1

# Each opening is read up to the next one of its kind at most, so that a megabyte of unclosed ones is read once
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
# a name in a formula
_LONE_LETTERS = string.ascii_letters
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = regex.compile(rf"[{_UNSPACED}]|[\p{{L}}\p{{M}}--[{_UNSPACED}]]{{1,32}}", regex.VERSION1)


class LanguageShare(NamedTuple):
    """Attributes:
    share: of the words, those in the language's scripts; 0.0 to 1.0.
    ours: how many are.
    total: how many words there are.
    """

    share: float
    ours: int
    total: int


def language_share(text: str, language: str) -> LanguageShare:
    """The share of the words of `text` that are written in the scripts of `language`.

    DeepSeek-R1's language consistency reward (arXiv 2501.12948, section 2.3.2) is the share of words in the target
    language. A word is a run of letters, at most 32, or one character where a script has no blanks; it counts when all
    of its letters are of the language's scripts, so that a Latin word with a Cyrillic letter in it does not. A single
    letter of ASCII is a name in a formula, and no word.

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
        # Chinese
        ours = 0
    return LanguageShare(ours / total if total else 0.0, ours, total)


def _written_in(words: Counter[str], scripts: list[str]) -> int:
    letter = "".join(rf"\p{{{script}}}" for script in scripts)
    # marks and the like belong to every script
    whole = regex.compile(rf"[{letter}\p{{Inherited}}\p{{Common}}]++")
    return sum(count for word, count in words.items() if whole.fullmatch(word))
