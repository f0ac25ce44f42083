r"""Exact sines and cosines of multiples of symbols: $\sin 2x$ and $2\sin x\cos x$ have the same value at a point.

The functions $x$ and $e^{ix}$ are algebraically independent. So a symbol's angle may have a value that does not depend
on the symbol's own value: a rational point of the unit circle. Two expressions that differ at these points are
different. Two that agree there are equal, apart from the small chance of error of every random point.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod

from agentscope_tuner.verify.math.node import Negation, Node, Product, Quotient, Sum, Symbol
from agentscope_tuner.verify.math.number import literal
from agentscope_tuner.verify.math.tree import CONSTANTS

Angle = dict[str, int]
_PI = "\\pi"
_MOST_HALVES, _MOST_SYMBOLS = 24, 4
FUNCTIONS = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})


def angle(node: Node) -> Angle | None:
    """The argument in halves: for each symbol and pi, how many halves of it. None for a constant or another form."""
    found: dict[str, Fraction] = {}
    if not _collect(node, Fraction(2), found):
        return None
    halves = {name: times for name, times in found.items() if times}
    if any(times.denominator != 1 or abs(times) > _MOST_HALVES for times in halves.values()):
        return None
    is_constant = not halves.keys() - {_PI}
    if is_constant or len(halves) > _MOST_SYMBOLS:
        return None
    return {name: int(times) for name, times in halves.items()}


def _collect(node: Node, times: Fraction, found: dict[str, Fraction]) -> bool:
    match node:
        case Symbol(name) if name == _PI or (name not in CONSTANTS and name != "\\ldots" and "\\mathbb" not in name):
            found[name] = found.get(name, Fraction(0)) + times
            return True
        case Negation(inside):
            return _collect(inside, -times, found)
        case Sum(terms):
            return all(_collect(term, times, found) for term in terms)
        case Quotient(above, below):
            divisor = literal(below)
            return divisor is not None and divisor != 0 and _collect(above, times / divisor, found)
        case Product(factors):
            known = [(factor, literal(factor)) for factor in factors]
            rest = [factor for factor, value in known if value is None]
            times *= prod(value for _, value in known if value is not None)
            return len(rest) == 1 and _collect(rest[0], times, found)
    return False


def on_circle(halves: Angle, tangent: Callable[[str], int]) -> tuple[Fraction, Fraction]:
    """The cosine and the sine of an angle.

    Args:
        tangent: gives for a symbol's name the tangent of a quarter of its angle.
    """
    real, imaginary, size = 1, 0, 1
    for name, times in halves.items():
        if name == _PI:
            for _ in range(times % 4):
                real, imaginary = -imaginary, real
            continue
        t = tangent(name)
        # (1 + ti)^2, divided by its absolute value, is the point at half of the symbol's angle
        a, b = 1 - t * t, 2 * t if times > 0 else -2 * t
        for _ in range(abs(times)):
            real, imaginary = real * a - imaginary * b, real * b + imaginary * a
        size *= (1 + t * t) ** abs(times)
    return Fraction(real, size), Fraction(imaginary, size)
