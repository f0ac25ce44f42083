"""Made problems with their references, worded as textbooks word them: seeded, no data set.

`python -m benchmarks.math.problems > problems.jsonl` writes them as rows with a `task`.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from benchmarks.math.equations import (
    Draw,
    absolute,
    fraction,
    linear,
    linear_inequality,
    nonzero,
    polynomial,
    quadratic,
    quadratic_inequality,
    square,
)


class Problem(NamedTuple):
    """A question and its reference; no formula of the question is the reference's own text."""

    kind: str
    question: str
    reference: str


def _arithmetic(draw: Draw) -> tuple[str, str]:
    a, b, c, d = (draw.randint(2, 19) for _ in range(4))
    text, value = draw.choice(
        [
            (f"{a} \\cdot {b} + {c} \\cdot {d}", a * b + c * d),
            (f"{a}^2 - {b}^2", a * a - b * b),
            (f"{a}({b} + {c}) - {d}", a * (b + c) - d),
            (f"\\sqrt{{{a * a}}} + {b}", a + b),
            (f"|{a} - {b * 3}| + {c}", abs(a - b * 3) + c),
        ]
    )
    ask = draw.choice(["Compute ${}$.", "Evaluate ${}$.", "What is the value of ${}$?", "Calculate \\[{}\\]"])
    return ask.replace("{}", text), str(value)


def _fractions(draw: Draw) -> tuple[str, str]:
    a, b = (Fraction(draw.randint(1, 9), draw.randint(2, 12)) for _ in range(2))
    sign = draw.choice("+-")
    value = a + b if sign == "+" else a - b
    return f"Compute ${fraction(a)} {sign} {fraction(b)}$. Express your answer as a common fraction.", fraction(value)


def _simplify(draw: Draw) -> tuple[str, str]:
    a, b = draw.sample(range(1, 10), 2)
    top = polynomial((1, a + b, a * b))
    return f"Simplify $\\frac{{{top}}}{{x + {a}}}$.", f"x + {b}"


def _surd(draw: Draw) -> tuple[str, str]:
    k, n = draw.randint(2, 9), draw.choice((2, 3, 5, 6, 7))
    return f"Simplify $\\sqrt{{{k * k * n}}}$.", f"{k}\\sqrt{{{n}}}"


def _factor(draw: Draw) -> tuple[str, str]:
    a, b = draw.sample([n for n in range(-9, 10) if n], 2)
    factors = f"({polynomial((1, a))})({polynomial((1, b))})"
    return f"Factor ${polynomial((1, a + b, a * b))}$.", factors


def _expand(draw: Draw) -> tuple[str, str]:
    a, b, c = draw.randint(2, 6), nonzero(draw, 9), nonzero(draw, 9)
    return f"Expand the product $({polynomial((a, b))})({polynomial((1, c))})$.", polynomial((a, a * c + b, b * c))


def _system(draw: Draw) -> tuple[str, str]:
    x, y, a = nonzero(draw, 8), nonzero(draw, 8), draw.randint(2, 5)
    first, second = f"x + y = {x + y}", f"{a}x - y = {a * x - y}"
    asked = draw.choice(
        [
            f"\\begin{{cases}} {first} \\\\ {second} \\end{{cases}}",
            f"\\begin{{aligned}} {first}, \\\\ {second}. \\end{{aligned}}",
        ]
    )
    question = draw.choice(
        [f"Solve the system \\[{asked}\\]", f"Find the ordered pair $(x, y)$ with ${first}$ and ${second}$."]
    )
    return question, draw.choice([f"({x}, {y})", f"x = {x}, y = {y}"])


def _evaluated(draw: Draw) -> tuple[str, str]:
    a, b, c, at = draw.randint(1, 5), nonzero(draw, 9), nonzero(draw, 9), nonzero(draw, 6)
    return f"Let $f(x) = {polynomial((a, b, c))}$. What is $f({at})$?", str(a * at * at + b * at + c)


def _inverse(draw: Draw) -> tuple[str, str]:
    a, b = draw.randint(2, 9), nonzero(draw, 9)
    return f"Find the inverse of the function $f(x) = {polynomial((a, b))}$.", f"\\frac{{{polynomial((1, -b))}}}{{{a}}}"


def _logarithm(draw: Draw) -> tuple[str, str]:
    base, power = draw.randint(2, 5), draw.randint(2, 5)
    if draw.random() < 0.5:
        return f"Evaluate $\\log_{{{base}}} {base**power}$.", str(power)
    return f"Solve ${base}^x = {base**power}$.", draw.choice([str(power), f"x = {power}"])


def _calculus(draw: Draw) -> tuple[str, str]:
    a, n, top = draw.randint(2, 6), draw.randint(2, 5), draw.randint(1, 4)
    kind = draw.randrange(3)
    if kind == 0:
        return f"Differentiate ${a}x^{n}$ with respect to $x$.", f"{a * n}x^{n - 1}" if n > 2 else f"{a * n}x"
    if kind == 1:
        return f"Evaluate $\\int_0^{top} {a * n}x^{{{n - 1}}}\\,dx$.", str(a * top**n)
    return f"Compute $\\lim_{{x \\to {top}}} \\frac{{x^2 - {top * top}}}{{x - {top}}}$.", str(2 * top)


def _series(draw: Draw) -> tuple[str, str]:
    n = draw.randint(9, 40)
    if draw.random() < 0.5:
        return f"Find $\\sum_{{k=1}}^{{{n}}} k$.", str(n * (n + 1) // 2)
    return f"What is the sum $1 + 3 + 5 + \\cdots + {2 * n - 1}$?", str(n * n)


def _counting(draw: Draw) -> tuple[str, str]:
    n, k = draw.randint(5, 12), draw.randint(2, 4)
    if draw.random() < 0.5:
        return f"What is $\\binom{{{n}}}{{{k}}}$?", str(math.comb(n, k))
    return f"In how many ways can {k} of {n} children be chosen for a team?", str(math.comb(n, k))


def _percent(draw: Draw) -> tuple[str, str]:
    whole, percent = draw.choice((40, 60, 80, 120, 200)), draw.choice((5, 15, 25, 35, 45))
    value = Fraction(whole * percent, 100)
    if draw.random() < 0.5:
        return f"What is ${percent}\\%$ of ${whole}$?", fraction(value)
    return f"Write $\\frac{{{percent}}}{{100}}$ as a percent.", f"{percent}\\%"


def _geometry(draw: Draw) -> tuple[str, str]:
    r, h = draw.randint(2, 9), draw.randint(2, 9)
    a, b, c, d = (draw.randrange(-8, 9, 2) for _ in range(4))
    return draw.choice(
        [
            (f"A cylinder has radius $r = {r}$ and height $h = {h}$. Its volume is $V = \\pi r^2 h$. Find $V$.",
             f"{r * r * h}\\pi"),
            (f"Find the midpoint of the segment from $({a}, {b})$ to $({a + c + 2}, {b + d + 2})$.",
             f"({a + (c + 2) // 2}, {b + (d + 2) // 2})"),
            (f"A circle has the equation $x^2 + y^2 = {r * r}$. What is its area?", f"{r * r}\\pi"),
            (f"What is the slope of the line ${r}x + y = {h}$?", str(-r)),
            (f"Write ${2 * r}x - 2y = {2 * h}$ in slope-intercept form.", f"y = {r}x - {h}"),
            (f"Convert ${15 * r}^\\circ$ to radians.", f"{fraction(Fraction(r, 12))}\\pi"),
        ]
    )  # fmt: skip


def _remainder(draw: Draw) -> tuple[str, str]:
    base, power, modulus = draw.randint(2, 9), draw.randint(10, 99), draw.choice((5, 7, 11, 13))
    return (
        f"Find the remainder when ${base}^{{{power}}}$ is divided by ${modulus}$.",
        str(pow(base, power, modulus)),
    )


def _words(draw: Draw) -> tuple[str, str]:
    a, b, c = draw.randint(3, 12), draw.randint(2, 9), draw.randint(13, 40)
    return draw.choice(
        [
            (f"Tickets cost ${a}$ dollars each, and there is a fee of ${b}$ dollars. The total for $n$ tickets is "
             f"${a}n + {b}$. How many dollars do ${c}$ tickets cost?", str(a * c + b)),
            (f"A tank holds ${c * 10}$ liters and loses ${a}$ liters an hour, so that after $t$ hours it holds "
             f"${c * 10} - {a}t$ liters. How many liters are left after ${b}$ hours?", str(c * 10 - a * b)),
            (f"The sum of three consecutive integers is ${3 * c}$, so $n + (n+1) + (n+2) = {3 * c}$. "
             "What is the largest of them?", str(c + 1)),
            (f"Sam is ${b}$ years older than Mia, and together they are ${2 * c + b}$ years old: "
             f"$m + (m + {b}) = {2 * c + b}$. How old is Mia?", str(c)),
        ]
    )  # fmt: skip


def _trigonometry(draw: Draw) -> tuple[str, str]:
    asked, value = draw.choice(
        [
            ("\\sin 30^\\circ", "\\frac{1}{2}"),
            ("\\cos \\frac{\\pi}{6}", "\\frac{\\sqrt{3}}{2}"),
            ("\\tan 60^\\circ", "\\sqrt{3}"),
            ("\\cos 120^\\circ", "-\\frac{1}{2}"),
            ("\\arctan 1", "\\frac{\\pi}{4}"),
        ]
    )
    return f"What is the exact value of ${asked}$?", value


def _powers(draw: Draw) -> tuple[str, str]:
    a, b, base = draw.randint(2, 9), draw.randint(2, 9), draw.choice("xyab")
    return f"Simplify ${base}^{a} \\cdot {base}^{b}$.", f"{base}^{{{a + b}}}"


KINDS: dict[str, Callable[[Draw], tuple[str, str]]] = {
    "linear equation": linear,
    "quadratic equation": quadratic,
    "square": square,
    "linear inequality": linear_inequality,
    "quadratic inequality": quadratic_inequality,
    "absolute value": absolute,
    "evaluate": _arithmetic,
    "fractions": _fractions,
    "simplify": _simplify,
    "surd": _surd,
    "factor": _factor,
    "expand": _expand,
    "system": _system,
    "function": _evaluated,
    "inverse": _inverse,
    "logarithm": _logarithm,
    "calculus": _calculus,
    "series": _series,
    "counting": _counting,
    "percent": _percent,
    "geometry": _geometry,
    "remainder": _remainder,
    "word problem": _words,
    "trigonometry": _trigonometry,
    "powers": _powers,
}


def problems(count: int = 300, seed: int = 20261122) -> list[Problem]:
    """`count` different problems, every kind as often as the next."""
    draw = random.Random(seed)
    found: dict[str, Problem] = {}
    kinds = list(KINDS)
    tries = 0
    while len(found) < count:
        kind = kinds[tries % len(kinds)]
        tries += 1
        question, reference = KINDS[kind](draw)
        if not _stands_in(reference, question):
            found.setdefault(question, Problem(kind, question, reference))
    return list(found.values())


def _stands_in(reference: str, question: str) -> bool:
    # `x = 5` would be right for a question that shows 5 alone
    value = reference.split("=")[-1].strip()
    return any(f"{left}{text}{right}" in question for text in (reference, value) for left, right in ("$$", "[]"))


def main() -> None:
    """One row a problem."""
    for at, problem in enumerate(problems()):
        task = {"task_id": f"made-{at}", "main_query": problem.question, "metadata": {"answer": problem.reference}}
        sys.stdout.write(json.dumps({"kind": problem.kind, "task": task}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
