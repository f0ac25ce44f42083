"""A made workload: solutions of 300 to 2,000 tokens whose answers are exact, in another form, or wrong.

Fixed seed, no model and no data set: every machine judges the same 2,000 texts.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

_WORDS = """first we note that the given expression can be written as a sum of two terms so by the distributive law
each factor contributes exactly once and therefore it suffices to consider the remaining case where both sides are
positive next substitute the value found above into the second equation and simplify which yields after collecting
like terms the following relation between the unknowns hence the claim holds""".split()  # noqa: SIM905
_FORMULAS = ["$x^2 + 3x - 4 = 0$", "\\[ \\frac{a}{b} = \\frac{c}{d} \\]", "$\\sqrt{2} \\approx 1.414$", "$n = 2k + 1$"]


class Solution(NamedTuple):
    """One output, its reference, and whether it is right."""

    output: str
    reference: str
    right: bool
    kind: str


class _Answer(NamedTuple):
    """A reference, other ways to write it, and something wrong."""

    reference: str
    others: tuple[str, ...]
    wrong: str


def _integer(draw: random.Random) -> _Answer:
    n = draw.randint(1_000, 999_999)
    return _Answer(str(n), (f"{n:,}", f"{n}.0", f"x = {n}", f"{n} \\text{{ cm}}"), str(n + draw.choice((-1, 1, 10))))


def _fraction(draw: random.Random) -> _Answer:
    q = Fraction(draw.randint(1, 97), draw.choice((2, 4, 5, 8, 20, 25)))
    p, r = q.numerator, q.denominator
    k = draw.randint(2, 9)
    others = (f"\\dfrac{{{p}}}{{{r}}}", f"{p}/{r}", f"\\frac{{{p * k}}}{{{r * k}}}", str(float(q)))
    return _Answer(f"\\frac{{{p}}}{{{r}}}", others, f"\\frac{{{p + 1}}}{{{r}}}")


def _surd(draw: random.Random) -> _Answer:
    k, n = draw.randint(2, 12), draw.choice((2, 3, 5, 6, 7, 11))
    others = (f"\\sqrt{{{k * k * n}}}", f"\\frac{{{k * n}}}{{\\sqrt{{{n}}}}}", f"\\sqrt{{{n}}} \\cdot {k}")
    return _Answer(f"{k}\\sqrt{{{n}}}", others, f"{k + 1}\\sqrt{{{n}}}")


def _polynomial(draw: random.Random) -> _Answer:
    a, b = draw.randint(1, 9), draw.randint(10, 19)
    reference = f"x^2+{a + b}x+{a * b}"
    return _Answer(reference, (f"(x+{a})(x+{b})", f"{a * b}+{a + b}x+x^2"), f"x^2+{a + b}x-{a * b}")


def _pair(draw: random.Random) -> _Answer:
    a, b = draw.randint(-9, 9), draw.randint(10, 30)
    return _Answer(f"({a}, {b})", (f"\\left({a},{b}\\right)", f"({a}.0, \\frac{{{2 * b}}}{{2}})"), f"({b}, {a})")


def _roots(draw: random.Random) -> _Answer:
    a, b = draw.randint(-20, -1), draw.randint(1, 20)
    others = (f"{b}, {a}", f"\\{{{a}, {b}\\}}", f"x = {a} \\text{{ or }} x = {b}")
    return _Answer(f"{a}, {b}", others, f"{a}, {b + 1}")


def _interval(draw: random.Random) -> _Answer:
    a, b = draw.randint(-9, 0), draw.randint(1, 9)
    return _Answer(f"[{a}, {b})", (f"{a} \\le x < {b}", f"\\left[{a},{b}\\right)"), f"[{a}, {b}]")


def _pi(draw: random.Random) -> _Answer:
    k = draw.choice((2, 3, 4, 6))
    return _Answer(f"\\frac{{\\pi}}{{{k}}}", (f"\\pi/{k}", f"\\frac{{1}}{{{k}}}\\pi"), f"\\frac{{\\pi}}{{{k + 1}}}")


def _trigonometry(draw: random.Random) -> _Answer:
    k = draw.randint(2, 9)
    others = (f"{2 * k}\\sin x\\cos x", f"{2 * k}\\cos(x)\\sin(x)")
    return _Answer(f"{k}\\sin(2x)", others, f"{k}\\cos(2x)")


def _logarithm(draw: random.Random) -> _Answer:
    n = draw.choice((2, 3, 5, 7))
    return _Answer(f"2\\ln {n}", (f"\\ln {n * n}", f"\\ln({n}^2)"), f"\\ln {2 * n + 1}")


_KINDS: tuple[Callable[[random.Random], _Answer], ...] = (
    _integer, _integer, _integer, _fraction, _fraction, _surd, _polynomial, _pair, _roots, _interval, _pi,
    _trigonometry, _logarithm,
)  # fmt: skip


def _prose(draw: random.Random, tokens: int) -> str:
    parts: list[str] = []
    while len(parts) < tokens:
        parts += draw.choices(_WORDS, k=draw.randint(8, 20))
        parts.append(draw.choice(_FORMULAS))
    return " ".join(parts)


def solutions(count: int = 2_000, seed: int = 20261121) -> list[Solution]:
    """`count` solutions: 60 % exact, 25 % right in another form, 15 % wrong."""
    draw = random.Random(seed)
    found = []
    for at in range(count):
        answer = draw.choice(_KINDS)(draw)
        share = at % 20
        if share < 12:
            written, kind = answer.reference, "exact"
        elif share < 17:
            written, kind = draw.choice(answer.others), "equivalent"
        else:
            written, kind = answer.wrong, "wrong"
        text = f"{_prose(draw, draw.randint(300, 2_000))} so the answer is $\\boxed{{{written}}}$."
        found.append(Solution(text, answer.reference, kind != "wrong", kind))
    draw.shuffle(found)
    return found
