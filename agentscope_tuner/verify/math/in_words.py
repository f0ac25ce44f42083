r"""Arithmetic that a question says in words: `12 squared`, `30% of $100$`, `the sum of 3 and 5`.

A policy that only writes it down as a formula has done no work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_N = r"(\$[^$]{1,40}\$|\\\([^()]{1,40}\\\)|-?\d[\d,]*(?:\.\d+)?(?:/\d+)?)"
_OF = r"\s+of\s+(?:the\s+)?"
# what is said, and the formula that it says
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


def said_in_words(text: str) -> Iterator[str]:
    """The formulas, as LaTeX."""
    text = text[:_MAX_CHARS]
    for pattern, formula in _PATTERNS:
        for match in pattern.finditer(text):
            yield formula.format(*(_DELIMITERS.sub("", group).strip().rstrip(",") for group in match.groups()))
