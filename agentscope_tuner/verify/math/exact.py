"""Exact values: rational arithmetic at random points, in the caller's process.

A formula is evaluated exactly with each free symbol, and each function of exactly known arguments, replaced by a large
pseudo-random integer that depends on the two texts compared. Rational functions that agree there are equal, save with a
probability below 2^-50 (Schwartz 1980, Zippel 1979), and nobody can write an answer that agrees by design, because the
points depend on the answer itself. Where only symbols and pi were replaced, disagreement proves that the two differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial, isqrt, prod

from agentscope_tuner.verify.math.node import Node

MAX_BITS = 20_000
# what one comparison may spend in all: about 0.1 s of big-number arithmetic
MAX_WORK = 400_000
_MAX_FACTORIAL = 1_000
_HALF = Fraction(1, 2)
_SMALL_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
_RATIO = {"tan": ("sin", "cos"), "cot": ("cos", "sin"), "tanh": ("sinh", "cosh"), "coth": ("cosh", "sinh")}
_RECIPROCAL = {"sec": "cos", "csc": "sin", "sech": "cosh", "csch": "sinh"}


class Unknown(Exception):
    """The exact stage cannot tell."""


class Undefined(Unknown):
    """A division by zero or the like."""


class ExactBudget:
    """What one comparison still may spend on exact numbers, over all its leaves: steps decide, never a clock."""

    def __init__(self, left: int = MAX_WORK) -> None:
        self.left = left

    def spend(self, found: Fraction) -> Fraction:
        """Pay for a number that was calculated; a greatest common divisor takes the square of its length.

        Raises:
            Unknown: it is over the bound, or nothing is left.
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
        work: shared by all the evaluations of one comparison.
    """

    def __init__(self, seed: str, work: ExactBudget | None = None) -> None:
        self.seed = seed
        self.work = work or ExactBudget()
        self.opaque = False

    def value(self, node: Node) -> Fraction:
        """The node's exact value at this point.

        Raises:
            Unknown: it is no number, or a number over the bound.
        """
        handler = _HANDLERS.get(node.head)
        if handler is None:
            raise Unknown(f"{node.head} has no exact value")
        return self.work.spend(handler(self, node))

    def atom(self, name: str, *args: Fraction) -> Fraction:
        """The integer that stands for a symbol, or for a function of known arguments."""
        key = f"{self.seed}|{name}|" + "|".join(f"{a.numerator:x}/{a.denominator:x}" for a in args)
        return Fraction(int.from_bytes(hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=8).digest()) | 1)

    def apply(self, name: str, *args: Fraction) -> Fraction:
        self.opaque = True
        return self.atom(name, *args)

    def symbol(self, node: Node) -> Fraction:
        if node.name == "\\infty" or node.name.startswith("\\mathbb") or node.name == "\\ldots":
            raise Unknown(f"{node.name} is no number")
        if node.name == "i":
            self.opaque = True
        return self.atom("sym " + node.name)

    def sum(self, node: Node) -> Fraction:
        found = Fraction(0)
        for term in node.args:
            # coprime denominators multiply: each partial sum counts
            found = self.work.spend(found + self.value(term))
        return found

    def product(self, node: Node) -> Fraction:
        found = Fraction(1)
        for factor in node.args:
            found = self.work.spend(found * self.value(factor))
        return found

    def quotient(self, node: Node) -> Fraction:
        below = self.value(node.args[1])
        if below == 0:
            raise Undefined("a division by zero")
        return self.value(node.args[0]) / below

    def power(self, node: Node) -> Fraction:
        base, exponent = (self.value(a) for a in node.args)
        if _has_symbol(node.args[1]):
            return self.apply("pow", base, exponent)
        whole = exponent.numerator // exponent.denominator
        rest = exponent - whole
        found = self.whole_power(base, whole)
        if rest == 0:
            return found
        return found * (self.root(node.args[0], base, rest))

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
        # a symbol may be negative: the root of x squared is not x
        return self.apply("pow", base, exponent)

    def square_root(self, base: Fraction) -> Fraction:
        """A rational times the root of a number without square factors, so that the root of 12 is twice that of 3."""
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

    def factorial(self, node: Node) -> Fraction:
        inside = self.value(node.args[0])
        if inside.denominator == 1 and 0 <= inside <= _MAX_FACTORIAL:
            return Fraction(factorial(int(inside)))
        return self.apply("fact", inside)

    def absolute(self, node: Node) -> Fraction:
        before, self.opaque = self.opaque, False
        inside = self.value(node.args[0])
        constant = not self.opaque and not _has_symbol(node)
        self.opaque = before or not constant
        return abs(inside) if constant else self.apply("abs", abs(inside))

    def function(self, node: Node) -> Fraction:
        args = tuple(self.value(a) for a in node.args)
        name = node.name
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

    def remainder(self, left: Fraction, right: Fraction) -> Fraction:
        if left.denominator != 1 or right.denominator != 1 or right <= 0:
            raise Undefined("a remainder of no whole numbers")
        return left % right

    def binomial(self, n: Fraction, k: Fraction) -> Fraction:
        if n.denominator == k.denominator == 1 and 0 <= k <= n <= _MAX_FACTORIAL:
            return Fraction(comb(int(n), int(k)))
        return self.apply("binom", n, k)


def _has_symbol(node: Node) -> bool:
    return node.head in ("sym", "call") or any(_has_symbol(a) for a in node.args)


def _literal(_exact: Exact, node: Node) -> Fraction:
    assert node.value is not None
    return node.value


_HANDLERS: dict[str, Callable[[Exact, Node], Fraction]] = {
    "num": _literal,
    "sym": Exact.symbol,
    "add": Exact.sum,
    "mul": Exact.product,
    "div": Exact.quotient,
    "pow": Exact.power,
    "neg": lambda exact, node: -exact.value(node.args[0]),
    "percent": lambda exact, node: exact.value(node.args[0]) / 100,
    "deg": lambda exact, node: exact.value(node.args[0]) * exact.atom("sym \\pi") / 180,
    "fact": Exact.factorial,
    "abs": Exact.absolute,
    "fn": Exact.function,
    "call": lambda exact, node: exact.apply("call " + node.name, *(exact.value(a) for a in node.args)),
    "base": lambda exact, node: in_base(node),
}


def exact_value(node: Node) -> Fraction | None:
    """The value of a rational constant; None for anything else."""
    if _has_symbol(node):
        return None
    point = Exact("constant")
    try:
        value = point.value(node)
    except Unknown:
        return None
    return None if point.opaque else value


def in_base(node: Node) -> Fraction:
    """The value of digits written in a base."""
    base = int(node.name) if node.name.isdigit() else 0
    digits = node.args[0].name
    if not 2 <= base <= 36 or any(int(d) >= base for d in digits):
        raise Unknown(f"{digits} is no number in base {node.name}")
    value = 0
    for digit in digits:
        value = value * base + int(digit)
    return Fraction(value)
