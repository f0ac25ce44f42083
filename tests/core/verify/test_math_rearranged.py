r"""The question's own formulas however they are dressed up, and right answers in other forms: each with its twins."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify.math.question import said_in_words
from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.sandbox import shared
from tests.tables import first, together

# question | reference | right answers, parted by ; | copies of the question
COPIES = r"""
Simplify $\sqrt{45}$. | 3\sqrt{5} | 3\sqrt5; \sqrt{45}=3\sqrt5 | |\sqrt{45}|; 1\cdot\sqrt{45}; \sqrt{45}+0
Simplify $\sqrt{45}$. | 3\sqrt{5} | \sqrt5\cdot 3 | \frac{2\sqrt{45}}{2}; \sqrt{(\sqrt{45})^2}; \sqrt{45}=\sqrt{45}
Find $\gcd(18,24)$. | 6 | 6; \gcd(18,24)=6 | \gcd(24,18); \gcd\{18,24\}; |\gcd(18,24)|; \lfloor\gcd(24,18)\rfloor
Compute $\max(3,8,5)$. | 8 | 8 | \max(8,5,3); \max\{5,3,8\}
Simplify $\frac{x^2-4}{x-2}$. | x+2 | 2+x; \frac{x^2-4}{x-2}=x+2 | \frac{4-x^2}{2-x}; (x^2-4)(x-2)^{-1}
What is $30\%$ of $100$? | 30 | 30 | 30\%\cdot 100; \frac{30}{100}\cdot 100; 100\cdot 30\%
Find the exact value of $\sin 60^\circ$. | \frac{\sqrt3}{2} | \sqrt{\frac34} | \sin\frac{\pi}{3}; \sin(\pi/3)
What is 12 squared? | 144 | 144 | 12^2; 12\text{ squared}
What is 15 plus 27? | 42 | 42 | 27+15
Compute $\sum_{k=1}^{10} k^2$. | 385 | 385 | \sum_{i=1}^{10} i^2; \sum_{n=1}^{10} n^2
Compute $\frac12+\frac13$. | \frac56 | \frac56 | \frac13+\frac12=\frac12+\frac13
Let $f:[0,1]\to[0,1]$, $f(x)=x^2$. What is its range? | 0\le y\le 1 | [0,1] | x^2
For $x>0$ solve $\ln x<\ln(x+1)$. | (0,\infty) | x>0 | \ln x<\ln(x+1)
Simplify $y^3\cdot y^2$. | y^5 | y^5 | y^2\cdot y^3; y^3y^2
"""
# reference | right | wrong
FORMS = r"""
4 | 19\equiv 4\pmod 5; 19 \equiv 4 \pmod{5}; 4\equiv 19\pmod{5} | 19\equiv 4\pmod 6; 20\equiv 4\pmod 5; 4\equiv 4\pmod 5
1 | 7^{100}\equiv 1\pmod 5 | 7^{101}\equiv 1\pmod 5
x\equiv 2\pmod 7 | x=7k+2; x=7k+2, k\in\mathbb{Z}; x\equiv 9\pmod{7} | x\equiv 2\pmod{14}; x=14k+2; 2; x=2
x\equiv 2\pmod 7 | x\equiv 2\ (\mathrm{mod}\ 7); x \equiv 2 \mod 7; x=7k-5; x \bmod 7 = 2 | y=7k+2; x=7k+3; x=7k^2+2
x=2k+1, k\in\mathbb{Z} | x=2k-1, k\in\mathbb{Z}; x = 2n+1\text{ for some integer }n | x=4k+1, k\in\mathbb{Z}
x=\frac{\pi}{2}+k\pi, k\in\mathbb{Z} | x=k\pi-\frac{\pi}{2}, k\in\mathbb{Z} | x=k\pi, k\in\mathbb{Z}
(2,3),(-2,-3) | \pm(2,3); (\pm2,\pm3) | (2,\pm3); (2,3)
(0,1),(0,-1) | (x,y)=(0,\pm1) | (0,1)
(1,2,3) | x=1,\ y=2 \text{ and } z=3 | x=1,\ y=3 \text{ and } z=2
(2,2,5) | a=b=2, c=5 | a=b=5, c=2; a=b=c=2
x=y=z=1 | z=y=x=1 | x=y=1; 1; x=y=z=2
(-\infty,1)\cup(1,\infty) | \mathbb{R}-\{1\}; \mathbb{R}\setminus\{1\} | \mathbb{R}-\{1,2\}; \mathbb{R}-1
\frac{n(n+1)}{2} | 1+2+\cdots+n; 1+2+3+\dots+n | 1+2+\cdots+2n; 1+3+\cdots+n; 1+2+\cdots+(n-1)
n^2 | 1+3+5+\cdots+(2n-1) | 1+3+5+\cdots+(2n+1)
2^n-1 | 1+2+4+\cdots+2^{n-1} | 1+2+4+\cdots+2^n
5050 | 1+2+3+\cdots+100=5050; 1+2+\cdots+100 | 1+2+4+\cdots+100; 1+3+\cdots+100
\log 100+\ln 3 | \ln 3+\log 100 | \frac{\ln 100}{\ln 10}+\ln 3
\log_2 5 | \frac{\log 5}{\log 2}; \log5/\log2 | \frac{\log 2}{\log 5}; \log\frac52
n=2^k, k\ge 0 | n=2^m, m\ge 0; n=2^k \text{ with } k\ge 0; 2^k, k\ge 0 | n=2^k, k\ge 1; n=3^k, k\ge 0
\min(a,b) | \min\{a,b\}; \min(b,a) | \max\{a,b\}
f(x)=x\text{ and }f(x)=2-x | f(t)=t\text{ and }f(t)=2-t | f(x)=x
|x|=|y| | x=\pm y; x=y\text{ or }x=-y | x=y
x=y\text{ or }x=2y | x=2y\text{ or }x=y | x\le y\text{ or }x\ge 2y
2:3 | x/y=2/3; x:y=2:3 | x/y=3/2
\frac{1}{\sqrt2} | 50\%\cdot\sqrt2 | 51\%\cdot\sqrt2
1.5\% | 0.015; 1.5\% | 0.0151; 0.0154; 0.02
\mathbb{R} | (-\infty,\infty) | \mathbb{R}\cup\{i\}
x | x | x+\frac{3-\sqrt{x^2-14x+49}+\sqrt{3^2-6\sqrt{x^2-14x+49}+x^2-14x+49}}{2}; x+(x-x)^{x^2}
"""


def rows(table: str, columns: int) -> list[tuple[str, str, str, bool]]:
    """The question (perhaps empty), the reference, an answer, and whether it is right."""
    found = []
    for line in table.strip().splitlines():
        *before, right, wrong = line.split(" | ", columns - 1)
        question, reference = before if len(before) == 2 else ("", *before)
        for cell, equal in ((right, True), (wrong, False)):
            found += [(question, reference, answer.strip(), equal) for answer in cell.split(";")]
    return found


@pytest.mark.parametrize("rows", together(rows(COPIES, 4) + rows(FORMS, 3)), ids=first)
def test_another_form_is_right_and_the_question_again_is_not(rows: list[tuple[str, str, str, bool]]) -> None:
    wrong = []
    for question, reference, answer, equal in rows:
        verdict = compare(answer, reference, symbolic=shared().compare, question=question or None)
        if (verdict.outcome == "equal") is not equal:
            wrong.append((answer, reference, question, verdict.reason))
    assert not wrong


@pytest.mark.parametrize(
    ("question", "formula"),
    [
        ("What is the square root of 49?", r"\sqrt{49}"),
        ("Find the product of 6 and 7.", r"(6)\cdot (7)"),
        ("What is half of $x+1$?", r"\frac{x+1}{2}"),
        ("Find 25% of 80.", r"(25)\%\cdot (80)"),
        ("What is the greatest common divisor of 12 and 18?", r"\gcd(12; 18)"),
        ("What is 5 factorial?", "(5)!"),
    ],
)
def test_arithmetic_in_words_is_a_formula_of_the_question(question: str, formula: str) -> None:
    assert formula in set(said_in_words(question))
