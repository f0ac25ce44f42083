"""Reads texts of any script: their words, what two have in common, code blocks, options' letters, and their language.

No model is asked, so languages that share a script look the same: English and French are both Latin. Han characters
alone are Chinese, so a Japanese text must contain kana, too.
"""

from __future__ import annotations

import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import regex

from agentscope_tuner.verify import re

# Scripts that are written without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
#: A run without a blank counts as several words, so that a megabyte of one letter is not one word.
LONGEST = 32
_WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]{{1,{LONGEST}}}")
# Zero-width and direction marks: a word that contains such a mark looks the same
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """`text` without invisible characters, such as zero-width spaces."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def words_of(text: str) -> list[str]:
    """The words of `text`, in lower case and in order, with the punctuation that touches them: `a`, `b.` for `A b.`"""
    return _WORD.findall(visible(text).lower())


_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}+|~{3,}+)([^\n`]*+)$", re.MULTILINE)


class Fenced(NamedTuple):
    """A text split at its code fences.

    Attributes:
        blocks: the contents of the code fences, in order.
        outside: the rest of the text, with a line break in place of each block.
        closed: whether the last fence is closed; the text behind an unclosed fence is in neither `blocks` nor
            `outside`.
    """

    blocks: list[str]
    outside: str
    closed: bool


def fenced(text: str) -> Fenced:
    """`text` split at its code fences, ``` or ~~~. A closing fence is at least as long as the opening one."""
    blocks: list[str] = []
    outside: list[str] = []
    opened: re.Match[str] | None = None
    at = 0
    for fence in _FENCE.finditer(text):
        if opened is None:
            outside.append(text[at : fence.start()])
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            blocks.append(text[opened.end() : fence.start()])
            opened, at = None, fence.end()
    if opened is None:
        outside.append(text[at:])
    return Fenced(blocks, "\n".join(outside), opened is None)


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
#: The value of `Letters.letters` if an `or` leaves the choice open.
OPEN = "?"
# A word behind a lone `A` or `I`, which is then an article or a pronoun. The listed words may follow an option's letter
_WORD_BEHIND = re.compile(
    r"[^\S\n](?!(?:because|since|as|which|and|or|but|is|was|for|due|given|so|based|by|from|not|with|option|choice|according|if|that"
    r"|where|are|would|should|must)\b)[^\W\d_]",
    re.IGNORECASE,
)


class Letters(NamedTuple):
    """The letters of options at one position of a text, such as `A and C`.

    Attributes:
        letters: the letters in upper case, in alphabetical order, each once; or `OPEN`.
        start: the position in the text at which they begin.
        end: the position at which they and their brackets end.
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
        """The letters that begin at `at`: `B`, `(b)`, `A and C`, `AC`; None if other text begins there."""
        if (first := self._one(text, at)) is None:
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

        If an `or` joins them, they are `OPEN` instead.
        """
        for match in self._lone.finditer(text):
            closing = _CLOSE.match(text, match.end())
            assert closing is not None
            letters, start = match[0], match.start()
            for _ in self._letters:
                window = max(start - _LOOK_BACK, 0)
                if (joined := self._before.search(text[window:start])) is None:
                    break
                letters, start = OPEN if joined["or"] else letters + joined[1], window + joined.start()
            yield Letters(OPEN if OPEN in letters else "".join(sorted(set(letters))), start, closing.end())

    def alternative(self, text: str, at: int) -> bool:
        """Whether the text at `at` offers another letter: `or C`, `/C`, `, maybe C`, `. Actually C`, or just `C`."""
        offers = (_OR.match(text, at), _BESIDE.match(text, at))
        return any(offered is not None and self._one(text, offered.end()) is not None for offered in offers)

    def mentions(self, text: str) -> bool:
        """Whether `text` contains a lone letter; an `A` or `I` beside words does not count, as in `Vitamin A`."""
        return any(
            found[0] not in "AI"
            or not (re.search(r"[^\W_]", text[: found.start()]) or _WORD_BEHIND.match(text, found.end()))
            for found in self._lone.finditer(text)
        )

    def _one(self, text: str, at: int) -> tuple[str, int] | None:
        """The letters that begin at `at` without a word between them, and the position at which they end: `(b)`, `AC`.

        None if there are none.
        """
        opening = _OPEN.match(text, at)
        assert opening is not None
        if (token := _TOKEN.match(text, opening.end())) is None:
            return None
        closing = _CLOSE.match(text, token.end())
        assert closing is not None
        if len(token[0]) > 1:
            # Several letters may be written as `AC`, in alphabetical order; a word such as `BAD` is not
            ordered = all(first < second for first, second in zip(token[0], token[0][1:], strict=False))
            return (token[0], closing.end()) if ordered and set(token[0]) <= set(self._letters) else None
        if (letter := token[0].upper()) not in self._letters:
            return None
        article = letter in "AI" or token[0].islower()
        if article and not opening["bracket"] and _WORD_BEHIND.match(text, token.end()):
            return None
        return letter, closing.end()


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

# The text is hostile, so a search from one opening mark stops at the next opening mark of its kind, or after a bounded
# number of characters: a megabyte of unclosed marks is then read once
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
_LANGUAGE_WORD = regex.compile(rf"[{_UNSPACED}]|[\p{{L}}\p{{M}}--[{_UNSPACED}]]{{1,32}}", regex.VERSION1)


class LanguageShare(NamedTuple):
    """How many words of a text are in the scripts of a language.

    Attributes:
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
    words = Counter(_LANGUAGE_WORD.findall(spoken))
    for letter in _LONE_LETTERS:
        del words[letter]
    ours, total = _written_in(words, _SCRIPTS[language]), words.total()
    if language == "ja" and _written_in(words, ["Hiragana", "Katakana"]) < _LEAST_KANA * ours:
        # Han characters with so few kana are Chinese
        ours = 0
    return LanguageShare(ours / total if total else 0.0, ours, total)


def _written_in(words: Counter[str], scripts: list[str]) -> int:
    """The number of words that are written in `scripts` alone, with repetitions."""
    letter = "".join(rf"\p{{{script}}}" for script in scripts)
    # Combining marks and common characters belong to every script
    whole = regex.compile(rf"[{letter}\p{{Inherited}}\p{{Common}}]++")
    return sum(count for word, count in words.items() if whole.fullmatch(word))


_POINT, _MINUS = "\ue000", "\ue001"
_NUMBER_POINT = re.compile(r"(?<=[0-9])\.(?=[0-9])|(?<![\w.])\.(?=[0-9])")
_NUMBER_SIGN = re.compile(r"(?<![\w.\)\]])[-−](?=[$€£]?\.?[0-9])")
# Marks between digits, except the comma of thousands and the decimal point
_BETWEEN_DIGITS = re.compile(rf"(?<=[0-9])[^\w\s,.{_POINT}{_MINUS}](?=[0-9])")
_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = {"a", "an", "the"}
_WHOLE_WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")


class TextMatch(NamedTuple):
    """How well an answer matches its references.

    Attributes:
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
    - a number keeps its minus sign and its decimal point, and other marks between digits separate them, because SQuAD
      reads both 1.5 and 1/5 as 15;
    - a text of nothing but articles or punctuation keeps them.
    """
    text = unicodedata.normalize("NFC", visible(text)).lower()
    parted = _BETWEEN_DIGITS.sub(" ", _NUMBER_SIGN.sub(_MINUS, _NUMBER_POINT.sub(_POINT, text)))
    words = _WHOLE_WORD.findall(_without_punctuation(parted))
    return [word for word in words if word not in _ARTICLES] or words or text.split()


def _without_punctuation(text: str) -> str:
    """`text` without the punctuation of any script, and without ASCII symbols such as `+`."""
    text = text.translate(_ASCII_PUNCTUATION)
    if text.isascii():
        return text
    dropped = {character for character in set(text) if unicodedata.category(character).startswith("P")}
    return text.translate(dict.fromkeys(map(ord, dropped)))
