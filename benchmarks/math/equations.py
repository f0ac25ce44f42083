"""Equations and inequalities with their solutions, for `problems`; and how polynomials are written."""

from __future__ import annotations

import random
from fractions import Fraction

Draw = random.Random


def fraction(value: Fraction) -> str:
    r"""As textbooks print it: `3`, `-\\frac{1}{2}`."""
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def term(coefficient: int, symbol: str) -> str:
    """`+ 3x`, `- x`, nothing for 0."""
    if coefficient == 0:
        return ""
    size = "" if abs(coefficient) == 1 and symbol else str(abs(coefficient))
    return f" {'+' if coefficient > 0 else '-'} {size}{symbol}"


def polynomial(coefficients: tuple[int, ...], name: str = "x") -> str:
    """Coefficients from the highest power down."""
    degree = len(coefficients) - 1
    powers = [name if at == 1 else f"{name}^{at}" if at else "" for at in range(degree, -1, -1)]
    text = "".join(term(c, p) for c, p in zip(coefficients, powers, strict=True)).strip()
    return text.removeprefix("+ ").replace("- ", "-", 1) if text.startswith("-") else text.removeprefix("+ ")


def nonzero(draw: Draw, size: int) -> int:
    return draw.choice([n for n in range(-size, size + 1) if n])


def linear(draw: Draw) -> tuple[str, str]:
    a, b, x = draw.randint(2, 9), nonzero(draw, 20), nonzero(draw, 12)
    name = draw.choice("xyntm")
    equation = f"{polynomial((a, b), name)} = {a * x + b}"
    ask = draw.choice(
        [
            "Solve ${}$ for ${n}$.",
            "Find ${n}$ if ${}$.",
            "If ${}$, what is the value of ${n}$?",
            "Solve the equation ${}$.",
        ]
    )
    return ask.replace("{n}", name).replace("{}", equation), draw.choice([str(x), f"{name} = {x}", f"{name}={x}"])


def quadratic(draw: Draw) -> tuple[str, str]:
    p, q = sorted(draw.sample([n for n in range(-9, 10) if n], 2))
    equation = f"{polynomial((1, -p - q, p * q))} = 0"
    ask = draw.choice(
        [
            "Find all solutions to ${}$.",
            "Solve ${}$.",
            "What are the roots of the equation ${}$? List them, separated by commas.",
        ]
    )
    forms = [f"{p}, {q}", f"\\{{{p}, {q}\\}}", f"x = {p} \\text{{ or }} x = {q}"]
    return ask.replace("{}", equation), draw.choice(forms)


def square(draw: Draw) -> tuple[str, str]:
    n = draw.randint(2, 14)
    return f"Solve for $x$: $x^2 = {n * n}$.", draw.choice([f"\\pm {n}", f"x = \\pm {n}", f"{-n}, {n}"])


def linear_inequality(draw: Draw) -> tuple[str, str]:
    a, b, x = draw.randint(2, 7), nonzero(draw, 15), nonzero(draw, 9)
    sign, brackets = draw.choice([(">", "({}, \\infty)"), ("\\ge", "[{}, \\infty)"), ("<", "(-\\infty, {})")])
    asked = f"{polynomial((a, b))} {sign} {a * x + b}"
    return f"Solve the inequality ${asked}$.", draw.choice([f"x {sign} {x}", brackets.replace("{}", str(x))])


def quadratic_inequality(draw: Draw) -> tuple[str, str]:
    p, q = sorted(draw.sample(range(-8, 9), 2))
    left = polynomial((1, -p - q, p * q))
    if draw.random() < 0.5:
        return f"For which real $x$ does ${left} < 0$ hold? Answer in interval notation.", f"({p}, {q})"
    return f"Solve ${left} \\ge 0$.", f"(-\\infty, {p}] \\cup [{q}, \\infty)"


def absolute(draw: Draw) -> tuple[str, str]:
    centre, radius = draw.randint(-9, 9), draw.randint(1, 9)
    left = f"|{polynomial((1, -centre))}|"
    if draw.random() < 0.5:
        return f"Find all $x$ such that ${left} \\le {radius}$.", f"[{centre - radius}, {centre + radius}]"
    return f"Solve ${left} = {radius}$.", f"{centre - radius}, {centre + radius}"
