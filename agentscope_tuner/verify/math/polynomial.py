"""Polynomials in one unknown (worker side): lists of coefficients, the constant term first, at mpmath's precision."""

from __future__ import annotations

from collections.abc import Iterator

from mpmath import mp

from agentscope_tuner.verify.math.numeric_matrix import Value

MAX_DEGREE = 24


class NotRational(Exception):
    """The expression is not a quotient of polynomials in the unknown, or its degree is over the bound."""


def plus(left: list[Value], right: list[Value]) -> list[Value]:
    """The sum of two polynomials."""
    size = max(len(left), len(right))
    return [(left[k] if k < len(left) else 0) + (right[k] if k < len(right) else 0) for k in range(size)]


def times(left: list[Value], right: list[Value]) -> list[Value]:
    """The product of two polynomials.

    Raises:
        NotRational: the product's degree is over the bound.
    """
    if len(left) + len(right) > MAX_DEGREE + 2:
        raise NotRational
    found = [mp.mpf(0)] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            found[i + j] += a * b
    return found


def real_roots(coefficients: list[Value]) -> Iterator[Value]:
    """Real roots of a polynomial and of its derivatives.

    The root finder is weak at multiple roots. A multiple root is a simple root of one of the derivatives.
    """
    size = max((abs(c) for c in coefficients), default=0)
    while coefficients and abs(coefficients[-1]) <= size * mp.mpf(10) ** (-mp.dps // 2):
        coefficients = coefficients[:-1]
    while len(coefficients) > 1:
        try:
            found = mp.polyroots(coefficients[::-1], maxsteps=60, extraprec=60)
        except mp.NoConvergence:
            found = []
        yield from (mp.re(root) for root in found if abs(mp.im(root)) <= (1 + abs(root)) * mp.mpf(10) ** (-mp.dps // 4))
        coefficients = [k * c for k, c in enumerate(coefficients)][1:]
