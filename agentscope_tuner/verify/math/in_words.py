r"""Arithmetic that a question states in words: `12 squared`, `30% of $100$`, `the sum of 3 and 5`.

A policy that only writes these words as a formula has done no work, so such formulas count as the question's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

# The lookbehind lets a match begin at a number's first digit only: a match at each digit would take quadratic time
_N = r"(\$[^$]{1,40}\$|\\\([^()]{1,40}\\\)|(?<![\d.,])-?\d[\d,]*(?:\.\d+)?(?:/\d+)?)"
_OF = r"\s+of\s+(?:the\s+)?"
# Each phrase and the formula that it means
_SAID: tuple[tuple[str, str], ...] = (
    (rf"{_N}\s+squared", r"({0})^2"),
    (rf"{_N}\s+cubed", r"({0})^3"),
    (rf"square{_OF}{_N}", r"({0})^2"),
    (rf"cube{_OF}{_N}", r"({0})^3"),
    (rf"square root{_OF}{_N}", r"\sqrt{{{0}}}"),
    (rf"cube root{_OF}{_N}", r"\sqrt[3]{{{0}}}"),
    (rf"{_N}\s+factorial", r"({0})!"),
    (rf"{_N}\s+choose\s+{_N}", r"\binom{{{0}}}{{{1}}}"),
    (rf"{_N}\s+(?:raised\s+)?to the (?:power of )?{_N}", r"({0})^{{{1}}}"),
    (rf"{_N}\s*(?:\\?%|percent){_OF}{_N}", r"({0})\%\cdot ({1})"),
    (rf"(?:\$\s*)?(\d[\d.]*)\s*\\?%\s*\$?{_OF}{_N}", r"({0})\%\cdot ({1})"),
    (rf"{_N}{_OF}{_N}", r"({0})\cdot ({1})"),
    (rf"half{_OF}{_N}", r"\frac{{{0}}}{{2}}"),
    (rf"(?:twice|double)\s+(?:the\s+)?{_N}", r"2\cdot ({0})"),
    (rf"{_N}\s+plus\s+{_N}", r"({0})+({1})"),
    (rf"sum{_OF}{_N}\s+and\s+{_N}", r"({0})+({1})"),
    (rf"{_N}\s+minus\s+{_N}", r"({0})-({1})"),
    (rf"difference (?:of|between)\s+{_N}\s+and\s+{_N}", r"({0})-({1})"),
    (rf"{_N}\s+(?:times|multiplied by)\s+{_N}", r"({0})\cdot ({1})"),
    (rf"product{_OF}{_N}\s+and\s+{_N}", r"({0})\cdot ({1})"),
    (rf"{_N}\s+(?:divided by|over)\s+{_N}", r"\frac{{{0}}}{{{1}}}"),
    (rf"quotient{_OF}{_N}\s+and\s+{_N}", r"\frac{{{0}}}{{{1}}}"),
    (rf"(?:greatest common (?:divisor|factor)|gcd|hcf){_OF}{_N}\s+and\s+{_N}", r"\gcd({0}; {1})"),
    (rf"(?:least common multiple|lcm){_OF}{_N}\s+and\s+{_N}", r"\operatorname{{lcm}}({0}; {1})"),
    (rf"(?:absolute value|modulus|magnitude){_OF}{_N}", r"\left|{0}\right|"),
)
_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), formula) for pattern, formula in _SAID)
_DELIMITERS = re.compile(r"^(?:\$|\\\()|(?:\$|\\\))$")
_MAX_CHARS = 5_000
_MAX_DIGITS = 40


def said_in_words(text: str) -> Iterator[str]:
    """The formulas that the text states in words, as LaTeX."""
    text = text[:_MAX_CHARS]
    for pattern, formula in _PATTERNS:
        for match in pattern.finditer(text):
            yield formula.format(*(_DELIMITERS.sub("", group).strip().rstrip(",") for group in match.groups()))


_SMALL = {
    word: at
    for at, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()  # noqa: SIM905
    )
}
_TENS = {word: 10 * at for at, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}  # noqa: SIM905
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9}
# Words that imply a number: twice as many, a dozen eggs
_MEANT = {
    "half": 2, "halves": 2, "twice": 2, "double": 2, "doubled": 2, "pair": 2, "couple": 2, "both": 2, "squared": 2,
    "square": 2, "triple": 3, "tripled": 3, "thrice": 3, "third": 3, "thirds": 3, "cubed": 3, "cube": 3, "quarter": 4,
    "quarters": 4, "fourth": 4, "fourths": 4, "fifth": 5, "fifths": 5, "sixth": 6, "tenth": 10, "dozen": 12,
    "dozens": 12, "percent": 100,
}  # fmt: skip
_SAID_NUMBER = re.compile(r"(?<![\d.])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|(?<!\d)\.\d+|[a-zA-Z]+", re.ASCII)


def numbers_said(text: str) -> Iterator[Fraction]:
    """The numbers in a text: in digits, in words (`twenty-three`), or implied by a word (`twice`)."""
    run: list[str] = []
    for match in _SAID_NUMBER.finditer(text[:_MAX_CHARS]):
        word = match.group().lower()
        if word in _MEANT:
            yield Fraction(_MEANT[word])
        if not word[0].isalpha():
            yield from _in_digits(word)
        if word == "and" and run and run[-1] in _SCALES:
            continue
        if run and not _continues(run[-1], word):
            yield _value_of_words(run)
            run = []
        if word in _SMALL or word in _TENS or (run and word in _SCALES):
            run.append(word)
    if run:
        yield _value_of_words(run)


def is_number_word(word: str) -> bool:
    """Whether a word, or each part of a word like `forty-two`, is a number word."""
    return all(part in _SMALL or part in _TENS or part in _SCALES for part in word.lower().split("-"))


_HAN_DIGITS = {sign: at for at, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_PLACES = {"十": 10, "百": 100, "千": 1_000}
_HAN_NUMBER = r"[零〇一二两三四五六七八九十百千万]{1,12}"
_HAN_SAID = re.compile(
    rf"负?(?:(?P<below>{_HAN_NUMBER}|百)分之(?P<above>{_HAN_NUMBER})|(?P<whole>{_HAN_NUMBER})(?P<counted>[\u4e00-\u9fff]{{0,4}}))"
)


def in_chinese_figures(text: str) -> str | None:
    """A Chinese number in digits: `四十二人` as `42人`, `百分之八十` as `80\\%`; None for any other text."""
    match = _HAN_SAID.fullmatch(text)
    if match is None:
        return None
    sign = "-" if text[0] == "负" else ""
    if match["whole"]:
        whole = _in_chinese(match["whole"])
        return None if whole is None else f"{sign}{whole}{match['counted']}"
    above, below = _in_chinese(match["above"]), _in_chinese(match["below"].removeprefix("一") or "一")
    if above is None or (below is None and match["below"] != "百"):
        return None
    return f"{sign}{above}\\%" if match["below"] == "百" else f"{sign}\\frac{{{above}}}{{{below}}}"


def _in_chinese(said: str) -> int | None:
    """The value of a number like `一千零五`; None unless its places go from large to small."""
    if "万" in said:
        front, _, behind = said.partition("万")
        thousands, rest = _in_chinese(front), _in_chinese(behind) if behind else 0
        return None if thousands is None or rest is None else thousands * 10_000 + rest
    total, digit, place = 0, None, 10_000
    for sign in said:
        if sign in _HAN_DIGITS:
            if digit:
                return None
            digit = _HAN_DIGITS[sign]
        elif _HAN_PLACES[sign] >= place:
            return None
        else:
            place = _HAN_PLACES[sign]
            total, digit = total + (1 if digit is None else digit) * place, None
    return (total + (digit or 0)) if said else None


def _continues(last: str, word: str) -> bool:
    """Whether a word belongs to the number before it: `three` after `twenty`, `hundred` after `two`."""
    if word in _SCALES or (last in _SCALES and (word in _SMALL or word in _TENS)):
        return True
    return last in _TENS and 0 < _SMALL.get(word, 0) < _TENS["twenty"] // 2


def _value_of_words(run: list[str]) -> Fraction:
    total = part = 0
    for word in run:
        if word == "hundred":
            part *= 100
        elif word in _SCALES:
            total, part = total + part * _SCALES[word], 0
        else:
            part += _SMALL.get(word, _TENS.get(word, 0))
    return Fraction(total + part)


def _in_digits(word: str) -> Iterator[Fraction]:
    written = word.replace(",", "")
    if len(written) <= _MAX_DIGITS:
        yield Fraction(written)
    if written.isdigit() and len(written) == 2:
        # The two digits may be the numbers of `\frac12`
        yield from map(Fraction, written)
