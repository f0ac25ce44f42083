"""Answers made to pass without being right, and right ones that were refused: text and structure, one table a theme."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.sandbox import shared

# each row: the reference, then the answer
CHARACTERS_DIFFERENT = r"""
5 ## 5⁻²
5 ## 5⁻³
5 ## 5ⁿ
5 ## 5⅖
5 ## 5！
5 ## 5𝑥
5 ## 5х
5 ## 5ⅈ
5 ## 5‰
5 ## 5①
5 ## 5⃠
5 ## 5̸
2 ## 2⅚
x ## х
\$5 ## €5
8 ## \phantom{4}2
5 ## \phantom{5}
9 ## 9...
"""
CHARACTERS_EQUAL = r"""
1024 ## 2¹⁰
x^{10} ## x¹⁰
x^{-2} ## x⁻²
-7 ## －7
\frac56 ## ⅚
\frac{11}{4} ## 2¾
12 ## \color{red}{12}
12 ## \textcolor{blue}{12}
12 ## １２
x+1 ## 𝑥+1
€5 ## 5
5 ## €5
5 ## 5。
"""
WORDS_DIFFERENT = r"""
5 ## 5\text{ halves}
5 ## 5\text{ tenths}
12 ## 12\text{ hundredths}
5 ## 5\text{ thousandths}
5 ## 5\text{ squared}
5 ## 5\text{ cubed}
5 ## 5\text{ factorial}
5 ## 5\text{ possibly six}
5 ## 5\text{ alternatively six}
5 ## 5\text{ versus six}
5 ## 5\text{ six}
5 ## 5\text{ minutes past six}
5 ## 5\text{ twenty-firsts}
5 ## 5\text{ lakh}
5 ## 5\text{ below zero}
5 ## 5\text{ square}
5 ## 5或六
0.3 ## 0.3\text{ repeating}
"""
WORDS_EQUAL = r"""
144 ## 12\text{ squared}
12 ## 12\text{ apples}
12 ## 12\text{ red apples}
12 ## 12\text{ months}
12 ## 12\text{ pieces of candy}
5 ## 5\text{ cm}
64 ## 64\text{ cm}^2
72 ## 72\text{ mph}
25 ## 25\text{ square feet}
60 ## 60\text{ kilometers per hour}
8 ## 8\text{ years old}
5 ## 5厘米
5 ## 5个
5\text{ hours} ## 5\text{ hrs}
12 ## 12\mathrm{~m}/\mathrm{s}
12\mathrm{~m}/\mathrm{s} ## 12
12\text{ m/s} ## 12\mathrm{~m}/\mathrm{s}
"""
NAMES_DIFFERENT = r"""
3x+4y=12 ## 12
x^2+y^2=25 ## 25
x+y+z=0 ## 0
\frac x3+\frac y4=1 ## 1
(x,y)=(1,2) ## (y,x)=(1,2)
(x,y)=(1,2) ## y=1,x=2
(a,b,c)=(1,2,3) ## (c,b,a)=(1,2,3)
\dot x ## x
\dot x ## \ddot x
m\ddot x ## m\dot x
\frac{dy}{dx} ## \frac yx
\frac{\partial f}{\partial x} ## \frac fx
\frac{d^2y}{dx^2} ## \frac{dy}{x^2}
"""
NAMES_EQUAL = r"""
(x,y)=(1,2) ## (1,2)
(x,y)=(1,2) ## y=2,x=1
(x,y)=(1,2) ## (y,x)=(2,1)
(x,y)=(1,2) ## x=1,y=2
(1,2) ## (x,y)=(1,2)
\frac{AB}{CD}=3 ## 3
\sin A=\frac12 ## \frac12
\frac{dy}{dx}=2x ## 2x
"""
MARKS_DIFFERENT = r"""
30^\circ ## 30\text{ radians}
30\text{ radians} ## 30^\circ
50\text{ cm} ## 50^\circ
\$5 ## 5\%
50\% ## 50\text{ cm}
50\% ## \$50
"""
MARKS_EQUAL = r"""
180^\circ ## \pi\text{ radians}
\pi\text{ radians} ## 180^\circ
-30^\circ ## -30
-50\% ## -50
-\$5 ## -5
"""
CONDITIONS_DIFFERENT = r"""
(2,\infty) ## \{x:x>2, x>5\}
\mathbb{R} ## x>2, x<5
\{x:x\in\mathbb{R},x\ne0\} ## \mathbb{R}
\{x\in\mathbb{Z}:x>5\} ## x>5
x>5, x\in\mathbb{Z} ## x>5
\{2k:k\in\mathbb{Z}\} ## \{3k:k\in\mathbb{Z}\}
\mathbb{R} ## \{x^2:x\in\mathbb{R}\}
k\pi,k\in\mathbb{Z} ## k\pi,k\in\mathbb{R}
k\pi,k\in\mathbb{Z} ## k\pi,k\in\mathbb{N}
k\pi,k\in\mathbb{Z} ## 2k\pi,k\in\mathbb{Z}
"""
CONDITIONS_EQUAL = r"""
(2,5) ## x>2, x<5
(2,5) ## \{x:x>2, x<5\}
\{2k:k\in\mathbb{Z}\} ## \{2n:n\in\mathbb{Z}\}
k\pi,k\in\mathbb{Z} ## k\pi
(-\infty,1)\cup(3,\infty) ## x<1, x>3
k\pi,k\in\mathbb{Z} ## x=n\pi,n\in\mathbb{Z}
\frac\pi4+k\pi,k\in\mathbb{Z} ## \frac\pi4+n\pi,n\in\mathbb{Z}
\{x\in\mathbb{R}:x\ne0\} ## x\ne0
"""
DOTS_DIFFERENT = r"""
1+2+\cdots+10 ## 3+\cdots+10
1/3 ## 0.333334
\frac13 ## 0.33...
\pi ## 3.14159...
"""
DOTS_EQUAL = r"""
\frac17 ## {1 \over 7}
\frac13 ## 0.3333...
\frac13 ## 0.333\ldots
\frac16 ## 0.1666...
\frac17 ## 0.142857142857...
1/3 ## 0.333333
2/3 ## 0.666667
2/3 ## 0.666666
1+2+\cdots+10 ## 1+2+\ldots+10
"""


def rows(table: str) -> list[tuple[str, str]]:
    return [(ref, ans) for ref, _, ans in (line.partition(" ## ") for line in table.strip().splitlines())]


def outcome(reference: str, answer: str) -> str:
    return compare(answer, reference, symbolic=shared().compare).outcome


DIFFERENT = [
    CHARACTERS_DIFFERENT,
    WORDS_DIFFERENT,
    NAMES_DIFFERENT,
    MARKS_DIFFERENT,
    CONDITIONS_DIFFERENT,
    DOTS_DIFFERENT,
]
EQUAL = [CHARACTERS_EQUAL, WORDS_EQUAL, NAMES_EQUAL, MARKS_EQUAL, CONDITIONS_EQUAL, DOTS_EQUAL]


@pytest.mark.parametrize(("reference", "answer"), [row for table in DIFFERENT for row in rows(table)])
def test_a_wrong_answer_never_passes(reference: str, answer: str) -> None:
    assert outcome(reference, answer) != "equal"


@pytest.mark.parametrize(("reference", "answer"), [row for table in EQUAL for row in rows(table)])
def test_a_right_answer_passes(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "equal"


@pytest.mark.parametrize("reference", ["5", r"\sqrt2", r"y=\sin x", "f(x)", r"\sum_{k=1}^n k"])
def test_a_lone_surrogate_is_unreadable(reference: str) -> None:
    assert outcome(reference, "5\ud800") == "different"
