"""Exact values: rational arithmetic at random points, in the caller's process.

Each free symbol, and each function of known arguments, is replaced by a large pseudo-random integer. Then the formula
is evaluated exactly. Two rational functions that agree at such a point are equal, with a probability of error below
2^-50 (Schwartz 1980, Zippel 1979). The integers depend on the two compared texts, so nobody can write an answer that
fits known points. Two formulas that disagree are different, if only symbols and pi were replaced.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from math import comb, factorial, isqrt, prod

from agentscope_tuner.verify.math import angles
from agentscope_tuner.verify.math.node import (
    Apply,
    Degrees,
    Digits,
    Negation,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Quotient,
    Sum,
    Symbol,
    UndefinedCall,
)

MAX_BITS = 20_000
# The budget of one comparison: about 0.1 s of arithmetic with large numbers
MAX_WORK = 400_000
_MAX_FACTORIAL = 1_000
_HALF = Fraction(1, 2)
_SMALL_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
_RATIO = {"tan": ("sin", "cos"), "cot": ("cos", "sin"), "tanh": ("sinh", "cosh"), "coth": ("cosh", "sinh")}
_RECIPROCAL = {"sec": "cos", "csc": "sin", "sech": "cosh", "csch": "sinh"}


class Unknown(Exception):
    """The exact stage cannot find a value."""


class Undefined(Unknown):
    """The expression is undefined, as after a division by zero."""


class ExactBudget:
    """The remaining work with exact numbers for one comparison with all its leaves, counted in steps, not in time."""

    def __init__(self, left: int = MAX_WORK) -> None:
        self.left = left

    def spend(self, found: Fraction) -> Fraction:
        """Count the cost of a computed number, and return it. Reducing a fraction takes time quadratic in its length.

        Raises:
            Unknown: the number is over the bound, or the budget is used up.
        """
        bits = found.numerator.bit_length() + found.denominator.bit_length()
        if bits > MAX_BITS:
            raise Unknown("a number over the bound")
        self.left -= 4 + bits * bits // 2**16
        if self.left < 0:
            raise Unknown("too much work for exact numbers")
        return found


class Exact:
    """One evaluation point.

    Args:
        seed: chooses the point; the same seed gives the same point in every process.
        work: the budget, shared by all evaluations of one comparison.

    Attributes:
        opaque: whether more than symbols and pi was replaced by an integer, such as a function's value or a root. Then
            unequal values do not prove that two formulas differ.
    """

    def __init__(self, seed: str, work: ExactBudget | None = None) -> None:
        self.seed = seed
        self.work = work or ExactBudget()
        self.opaque = False

    def value(self, node: Node) -> Fraction:
        """The node's exact value at this point.

        Raises:
            Unknown: the node has no exact value, or a number is over the bound.
        """
        return self.work.spend(self._calculated(node))

    def _calculated(self, node: Node) -> Fraction:
        match node:
            case Number(value):
                return value
            case Symbol(name):
                return self.symbol(name)
            case Sum(terms):
                return self.sum(terms)
            case Product(factors):
                return self.product(factors)
            case Quotient(above, below):
                return self.quotient(above, below)
            case Power(base, exponent):
                return self.power(base, exponent)
            case Negation(inside):
                return -self.value(inside)
            case Apply("abs"):
                return self.absolute(node)
            case Apply(function, args):
                return self.function(function, args)
            case Percent(inside):
                return self.value(inside) / 100
            case Degrees(inside):
                return self.value(inside) * self.atom("sym \\pi") / 180
            case UndefinedCall(function, args):
                return self.apply("call " + function, *map(self.value, args))
            case Digits():
                return in_base(node)
        raise Unknown(f"a {type(node).__name__} has no exact value")

    def atom(self, name: str, *args: Fraction) -> Fraction:
        """The integer that stands for a symbol, or for a function of known arguments."""
        key = f"{self.seed}|{name}|" + "|".join(f"{a.numerator:x}/{a.denominator:x}" for a in args)
        return Fraction(int.from_bytes(hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=8).digest()) | 1)

    def apply(self, name: str, *args: Fraction) -> Fraction:
        self.opaque = True
        return self.atom(name, *args)

    def symbol(self, name: str) -> Fraction:
        if name == "\\infty" or name.startswith("\\mathbb") or name == "\\ldots":
            raise Unknown(f"{name} is no number")
        if name == "i":
            self.opaque = True
        return self.atom("sym " + name)

    def sum(self, terms: tuple[Node, ...]) -> Fraction:
        found = Fraction(0)
        for term in terms:
            # Count each partial sum: coprime denominators multiply, so a sum may grow quickly
            found = self.work.spend(found + self.value(term))
        return found

    def product(self, factors: tuple[Node, ...]) -> Fraction:
        found = Fraction(1)
        for factor in factors:
            found = self.work.spend(found * self.value(factor))
        return found

    def quotient(self, above: Node, below: Node) -> Fraction:
        divisor = self.value(below)
        if divisor == 0:
            raise Undefined("a division by zero")
        return self.value(above) / divisor

    def power(self, base_node: Node, exponent_node: Node) -> Fraction:
        base, exponent = self.value(base_node), self.value(exponent_node)
        if _has_symbol(exponent_node):
            return self.apply("pow", base, exponent)
        whole = exponent.numerator // exponent.denominator
        rest = exponent - whole
        found = self.whole_power(base, whole)
        if rest == 0:
            return found
        return found * (self.root(base_node, base, rest))

    def whole_power(self, base: Fraction, exponent: int) -> Fraction:
        size = base.numerator.bit_length() + base.denominator.bit_length()
        if exponent and abs(exponent) * size > MAX_BITS and abs(base) != 1 and base != 0:
            raise Unknown("a power over the bound")
        if base == 0 and exponent <= 0:
            raise Undefined("a power of zero")
        return base**exponent

    def root(self, node: Node, base: Fraction, exponent: Fraction) -> Fraction:
        if exponent == _HALF and not _has_symbol(node):
            return self.square_root(base)
        # A symbol may be negative, so the root of `x^2` is not x
        return self.apply("pow", base, exponent)

    def square_root(self, base: Fraction) -> Fraction:
        """The root, as a rational times the root of a number without square factors: sqrt(12) is 2 sqrt(3)."""
        if base < 0:
            self.opaque = True
            return self.atom("sym i") * self.square_root(-base)
        below = base.denominator
        inside = base.numerator * below
        outside = Fraction(1, below)
        for prime in _SMALL_PRIMES:
            while inside and inside % (prime * prime) == 0:
                inside //= prime * prime
                outside *= prime
        root = isqrt(inside)
        if root * root == inside:
            return outside * root
        return outside * self.apply("pow", Fraction(inside), _HALF)

    def absolute(self, node: Apply) -> Fraction:
        before, self.opaque = self.opaque, False
        inside = self.value(node.args[0])
        constant = not self.opaque and not _has_symbol(node)
        self.opaque = before or not constant
        return abs(inside) if constant else self.apply("abs", abs(inside))

    def function(self, name: str, operands: tuple[Node, ...]) -> Fraction:
        if name in angles.FUNCTIONS and (halves := angles.angle(operands[0])) is not None:
            return self.of_angle(name, halves)
        args = tuple(map(self.value, operands))
        if name == "factorial" and args[0].denominator == 1 and 0 <= args[0] <= _MAX_FACTORIAL:
            return Fraction(factorial(int(args[0])))
        if name in _RATIO:
            above, below = (self.apply(n, *args) for n in _RATIO[name])
            return above / below
        if name in _RECIPROCAL:
            return 1 / self.apply(_RECIPROCAL[name], *args)
        if name == "binom":
            return self.binomial(*args)
        if name == "doublefact" and args[0].denominator == 1 and 0 <= args[0] <= _MAX_FACTORIAL:
            return Fraction(prod(range(int(args[0]), 0, -2)))
        if name == "mod":
            return self.remainder(*args)
        if name in ("log", "ln") and len(args) == 1 and args[0] == 1:
            return Fraction(0)
        if name == "log" and len(args) == 2:
            return self.apply("ln", args[0]) / self.apply("ln", args[1])
        return self.apply(name, *args)

    def of_angle(self, name: str, halves: angles.Angle) -> Fraction:
        cosine, sine = angles.on_circle(halves, lambda symbol: int(self.atom("angle " + symbol)))
        self.work.spend(cosine)
        if name == "sin":
            return sine
        if name == "cos":
            return cosine
        above, below = {
            "tan": (sine, cosine),
            "cot": (cosine, sine),
            "sec": (Fraction(1), cosine),
            "csc": (Fraction(1), sine),
        }[name]
        if below == 0:
            raise Undefined("a division by zero")
        return above / below

    def remainder(self, left: Fraction, right: Fraction) -> Fraction:
        if left.denominator != 1 or right.denominator != 1 or right <= 0:
            raise Undefined("a remainder of no whole numbers")
        return left % right

    def binomial(self, n: Fraction, k: Fraction) -> Fraction:
        if n.denominator == k.denominator == 1 and 0 <= k <= n <= _MAX_FACTORIAL:
            return Fraction(comb(int(n), int(k)))
        return self.apply("binom", n, k)


def _has_symbol(node: Node) -> bool:
    return isinstance(node, (Symbol, UndefinedCall)) or any(map(_has_symbol, node.args))


def exact_value(node: Node) -> Fraction | None:
    """The value of a rational constant; None for any other node."""
    if _has_symbol(node):
        return None
    point = Exact("constant")
    try:
        value = point.value(node)
    except Unknown:
        return None
    return None if point.opaque else value


def in_base(node: Digits) -> Fraction:
    """The value of digits written in a base.

    Raises:
        Unknown: the base is not a whole number from 2 to 36, or a digit is too large for it.
    """
    if node.base.denominator != 1 or not 2 <= node.base <= 36 or any(int(d) >= node.base for d in node.text):
        raise Unknown(f"{node.text} is no number in base {node.base}")
    value, base = 0, int(node.base)
    for digit in node.text:
        value = value * base + int(digit)
    return Fraction(value)
