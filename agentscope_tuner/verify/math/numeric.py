"""Numeric values of expressions at any precision, with mpmath (worker side).

As in textbooks, odd roots of negative numbers are real. Every other power takes the principal branch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from operator import add, mul
from typing import Any

from mpmath import mp

from agentscope_tuner.verify.math.exact import Unknown, in_base
from agentscope_tuner.verify.math.node import (
    TRIGONOMETRIC,
    Apply,
    Array,
    BigOperator,
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
    is_endless,
    is_equation,
    is_symbol,
    literal,
)
from agentscope_tuner.verify.math.tokens import TooComplex

# mpmath's numbers are untyped: a Value is an mpf, an mpc, or a matrix of them
Value = Any


class OutOfRange(TooComplex):
    """A value so large or so small that adding another term to it changes no digit."""


class NotANumber(Exception):
    """The expression has no value at this point: it is undefined or infinite, or its kind of node has no value."""


MAX_GAMMA = 5_000
MAX_ANGLE = 10**9
SATURATED = 400


def check_range(name: str, args: Sequence[Value]) -> None:
    """Raise if a function takes long at its arguments, or no longer changes measurably there: `sinh` of 500.

    Args:
        name: the canonical name of the function.
        args: the values of its arguments.

    Raises:
        TooComplex: an argument is out of range.
    """
    size = max((abs(a) for a in args), default=0)
    if name in TRIGONOMETRIC and size > MAX_ANGLE:
        raise OutOfRange(f"{name} out of range")
    if name in ("sinh", "cosh", "tanh", "coth", "sech", "csch", "erf") and size > SATURATED:
        raise OutOfRange(f"{name} out of range")
    if name in ("binom", "doublefact") and size > MAX_GAMMA:
        raise OutOfRange("a binomial or a factorial out of range")


def _whole(args: Sequence[Value]) -> list[int]:
    """The arguments as integers; raises `NotANumber` if one of them is not whole."""
    if not all(mp.isint(a) for a in args):
        raise NotANumber("whole numbers are needed")
    return [int(mp.re(a)) for a in args]


def _real(args: Sequence[Value]) -> list[Value]:
    """The arguments as real numbers; raises `NotANumber` if one of them is not real."""
    if any(mp.im(a) != 0 for a in args):
        raise NotANumber("real numbers are needed")
    return [mp.re(a) for a in args]


SEVERAL: dict[str, Callable[[Sequence[Value]], Value]] = {
    "max": lambda args: max(_real(args)),
    "min": lambda args: min(_real(args)),
    "gcd": lambda args: mp.mpf(gcd(*_whole(args))),
    "lcm": lambda args: mp.mpf(lcm(*_whole(args))),
    "binom": lambda args: mp.binomial(*args),
    "floor": lambda args: mp.floor(*_real(args)),
    "ceil": lambda args: mp.ceil(*_real(args)),
    "sgn": lambda args: mp.sign(*_real(args)),
}
FUNCTIONS: dict[str, Callable[[Value], Value]] = {
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "cot": mp.cot, "sec": mp.sec, "csc": mp.csc,
    "arcsin": mp.asin, "arccos": mp.acos, "arctan": mp.atan, "arccot": mp.acot, "arcsec": mp.asec, "arccsc": mp.acsc,
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "coth": mp.coth, "sech": mp.sech, "csch": mp.csch,
    "arcsinh": mp.asinh, "arccosh": mp.acosh, "arctanh": lambda x: mp.log((1 + x) / (1 - x)) / 2,
    "doublefact": mp.fac2, "ln": mp.log, "erf": mp.erf, "Re": mp.re, "Im": mp.im, "conj": mp.conj, "arg": mp.arg,
}  # fmt: skip
CONSTANTS: dict[str, Callable[[], Value]] = {"\\pi": lambda: +mp.pi, "e": lambda: +mp.e, "i": lambda: mp.mpc(0, 1)}


MAX_STEPS = 150_000
# Beyond these bounds a value hides every term that is added to it
_MAX_EXPONENT = 20_000
_MAX_TERMS = 1_000
# A term of a sum counts as hidden if at most this many of its decimal digits are seen in the sum
_HIDDEN = 16


class Budget:
    """The work that one comparison may still do, counted in steps, not in time, so that verdicts are repeatable."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooComplex("too much work for the symbolic stage")


class Numeric:
    """Values of formulas at one point, to the digits that `mp` is set to: 5 for `x^2 + 1` at x = 2.

    Args:
        point: the values of the free symbols.
        budget: shared by all evaluations of one comparison.
        log_base: the base of a `log` that is written without a base; None for the natural logarithm.
    """

    def __init__(self, point: dict[str, Value], budget: Budget, log_base: int | None = None) -> None:
        self.point = point
        self.budget = budget
        self.log_base = log_base
        # the largest term so far in a sum or a function: rounding errors are relative to it
        self.scale: Value = mp.mpf(0)
        # the binary magnitudes of terms too small for this precision: each is a rounding error, or a real term that
        # more digits would show
        self.hidden: list[int] = []
        # whether no root, logarithm or inverse function of a real number was imaginary. Two imaginary values may have a
        # real product, but the formula is not meant for such a point
        self.is_real = True

    def value(self, node: Node) -> Value:
        """The node's value at this point: a real or complex number or a matrix, to the digits that `mp` is set to.

        Raises:
            NotANumber: the node has no value at this point.
            TooComplex: the budget is used up, or a value is out of range.
        """
        self.budget.spend(1 + mp.dps // 50)
        try:
            found = self._calculated(node)
        except (ZeroDivisionError, ValueError, OverflowError, TypeError, mp.NoConvergence) as exc:
            raise NotANumber(str(exc)) from exc
        return found if isinstance(found, mp.matrix) else self.checked(found)

    def _calculated(self, node: Node) -> Value:
        match node:
            case Number(value):
                return mp.mpf(value.numerator) / value.denominator
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
            case Apply(function, args):
                return self.function(function, args)
            case Percent(inside):
                return self.value(inside) / 100
            case Degrees(inside):
                return self.value(inside) * mp.pi / 180
            case UndefinedCall(function, args):
                return self.unknown_function(function, args)
            case BigOperator():
                return self.repeated(node)
            case Digits():
                return _digits(node)
            case Array("matrix", rows):
                return mp.matrix([[self.value(cell) for cell in row] for row in rows])
        raise NotANumber(f"a {type(node).__name__} has no value")

    def _noted(self, found: Value, *args: Value) -> Value:
        """Clear `is_real` if `found`, a function's value at `args`, is imaginary though these are real; return it."""
        self.is_real = self.is_real and (mp.im(found) == 0 or any(mp.im(one) != 0 for one in args))
        return found

    def checked(self, found: Value) -> Value:
        """The number itself.

        Raises:
            NotANumber: it is infinite or undefined.
            OutOfRange: it is too large or too small.
        """
        if not mp.isfinite(found):
            raise NotANumber("not finite")
        if mp.mag(found) > _MAX_EXPONENT * 4 or (found != 0 and mp.mag(found) < -_MAX_EXPONENT * 4):
            raise OutOfRange("a number out of range")
        return found

    def sum(self, nodes: tuple[Node, ...]) -> Value:
        terms = [self.value(a) for a in nodes]
        if any(isinstance(t, mp.matrix) for t in terms):
            if not all(isinstance(t, mp.matrix) for t in terms):
                raise NotANumber("a sum of a matrix and a number")
            return reduce(add, terms)
        sizes = [abs(t) for t in terms]
        largest = max(sizes)
        self.scale = max(self.scale, largest)
        # The bound must not be below the tolerance of `NumericPair`, which uses the same scale
        self._note_hidden(*(size for size in sizes if 0 < size < self.scale * mp.mpf(10) ** (_HIDDEN - mp.dps)))
        return mp.fsum(terms)

    def _note_hidden(self, *sizes: Value) -> None:
        self.hidden += [int(mp.mag(size)) for size in sizes]

    def product(self, factors: tuple[Node, ...]) -> Value:
        return reduce(mul, map(self.value, factors))

    def quotient(self, top: Node, bottom: Node) -> Value:
        above, below = self.value(top), self.value(bottom)
        if isinstance(below, mp.matrix):
            raise NotANumber("a division by a matrix")
        return above / below

    def power(self, base_node: Node, exponent_node: Node) -> Value:
        base = self.value(base_node)
        if isinstance(base, mp.matrix):
            return self.matrix_power(base, exponent_node)
        exponent = self.value(exponent_node)
        if base == 0:
            if mp.re(exponent) <= 0:
                raise NotANumber("a power of zero")
            return mp.mpf(0)
        if mp.im(base) == 0 and mp.re(base) < 0 and (odd := _odd_fraction(exponent_node)) is not None:
            root = mp.power(-mp.re(base), exponent)
            return -root if odd.numerator % 2 else root
        weight = abs(exponent * mp.log(base))
        if weight > _MAX_EXPONENT * 2:
            raise OutOfRange("a power out of range")
        if 0 < weight < mp.mpf(10) ** (_HIDDEN - mp.dps):
            self._note_hidden(weight)
        return self._noted(mp.power(base, exponent), base, exponent)

    def matrix_power(self, base: Value, exponent: Node) -> Value:
        if is_symbol(exponent, "T", "\\top"):
            return base.T
        times = self.value(exponent)
        if base.rows != base.cols or not mp.isint(times) or abs(times) > 50:
            raise NotANumber("a power of a matrix")
        return base ** int(times)

    def symbol(self, name: str) -> Value:
        # Look here first: an index of a sum may be called i, which is also a constant
        if name in self.point:
            return self.point[name]
        if name in CONSTANTS:
            return CONSTANTS[name]()
        raise NotANumber(f"{name} has no value")

    def function(self, name: str, nodes: tuple[Node, ...]) -> Value:
        args = [self.value(a) for a in nodes]
        if name == "det":
            return mp.det(args[0])
        if name == "transpose":
            return args[0].T
        if any(isinstance(a, mp.matrix) for a in args):
            raise NotANumber("a function of a matrix")
        if name == "abs":
            return abs(args[0])
        if name == "factorial":
            return self.factorial(args[0])
        if name == "log":
            return self._noted(self.logarithm(args), *args)
        check_range(name, args)
        sizes = [abs(a) for a in args]
        self.scale = max(self.scale, *sizes)
        # A small argument may change a value only by its square: cosh(10^-20) is 1 + 10^-40/2
        self._note_hidden(*(size for size in sizes if 0 < size < mp.mpf(10) ** (-mp.dps / 3)))
        if name in SEVERAL:
            return SEVERAL[name](args)
        found = FUNCTIONS.get(name)
        if found is None or len(args) != 1:
            raise NotANumber(f"{name} of {len(args)} arguments")
        return self._noted(found(args[0]), args[0])

    def logarithm(self, args: Sequence[Value]) -> Value:
        if len(args) == 2:
            return mp.log(args[0]) / mp.log(args[1])
        return mp.log(args[0]) / mp.log(self.log_base) if self.log_base else mp.log(args[0])

    def unknown_function(self, name: str, nodes: tuple[Node, ...]) -> Value:
        """The value of an undefined function such as `f(x)`: that of some smooth function which its name determines.

        So `f(x)` has the same value in both texts, and `g(x)` has a different one.
        """
        args = [self.value(a) for a in nodes]
        if any(isinstance(a, mp.matrix) for a in args):
            raise NotANumber("a function of a matrix")
        found, angle = pseudo_random(name, "constant"), mp.mpf(0)
        for at, arg in enumerate(args):
            found += pseudo_random(name, f"linear {at}") * arg + pseudo_random(name, f"square {at}") * arg * arg
            angle += pseudo_random(name, f"angle {at}") * arg
        return found + mp.cos(angle)

    def repeated(self, node: BigOperator) -> Value:
        r"""The value of a finite sum or product, added or multiplied term by term: 6 for `\sum_{k=1}^3 k`."""
        if node.sign in ("int", "lim") or is_endless(node):
            raise TooComplex("an integral, a limit or an endless sum, which has no value at points")
        if len(node.bounds) != 2 or not is_equation(node.bounds[0]):
            raise NotANumber(f"{node.sign} left unevaluated")
        (index, first), last = node.bounds[0].args, node.bounds[1]
        ends = [self.value(first), self.value(last)]
        if not isinstance(index, Symbol) or not all(mp.isint(end) for end in ends):
            raise NotANumber("bounds that are no whole numbers")
        if ends[1] - ends[0] > _MAX_TERMS:
            raise TooComplex(f"more than {_MAX_TERMS} terms")
        inside = Numeric(dict(self.point), self.budget, self.log_base)
        found = mp.mpf(node.sign == "prod")
        for at in range(int(mp.re(ends[0])), int(mp.re(ends[1])) + 1):
            inside.point[index.name] = mp.mpf(at)
            term = inside.value(node.body)
            if isinstance(term, mp.matrix):
                raise NotANumber("a sum of matrices")
            found = found * term if node.sign == "prod" else found + term
        self.scale = max(self.scale, inside.scale, abs(found))
        self.hidden += inside.hidden
        return found

    def factorial(self, inside: Value) -> Value:
        if abs(inside) > MAX_GAMMA:
            raise OutOfRange("a factorial out of range")
        return mp.factorial(inside)


def pseudo_random(*key: str) -> Value:
    """A number between 0.3 and 3 that seems random, but is always the same for the same words of the key."""
    digest = hashlib.blake2b("|".join(key).encode(errors="surrogatepass"), digest_size=64).digest()
    return mp.mpf("0.3") + mp.mpf(int.from_bytes(digest)) / mp.mpf(2**512) * mp.mpf("2.7")


def _odd_fraction(node: Node) -> Fraction | None:
    r"""The exponent of an odd root as a fraction, such as -2/3 for `-\frac{2}{3}`; None for any other exponent."""
    inside = node.inside if isinstance(node, Negation) else node
    found = literal(node) if isinstance(inside, Quotient) else None
    return found if found is not None and found.denominator % 2 and found.denominator > 1 else None


def _digits(node: Digits) -> Value:
    try:
        return mp.mpf(in_base(node).numerator)
    except Unknown as exc:
        raise NotANumber(str(exc)) from exc


class NumericPair:
    """The values of two formulas at one point, compared at mpmath's current precision.

    Attributes:
        hidden: the binary magnitudes of terms too small for this precision (see `Numeric`).
        real: whether both values are real, and no imaginary number came up on the way to them.
        one_real: whether that is true of exactly one of the values.
        fractions: both values as exact fractions, if both are single real numbers; else None.
        refuted: whether the values differ by more than the tolerance, or have different shapes (matrices).
        sure: whether the tolerance is small beside the values, so that agreement proves something.
        vanished: whether the tolerance is very small in itself, so that values below it are taken as zero.
    """

    def __init__(self, values: list[Value], sides: Sequence[Numeric]) -> None:
        self.hidden = [size for side in sides for size in side.hidden]
        self.real, self.one_real = True, False
        self.fractions: tuple[Fraction, Fraction] | None = None
        self.refuted, self.sure, self.vanished = True, True, False
        sizes = [(v.rows, v.cols) if isinstance(v, mp.matrix) else () for v in values]
        if sizes[0] != sizes[1]:
            return
        left, right = ([*v] if sizes[0] else [v] for v in values)
        size = max(abs(v) for v in (*left, *right))
        tolerance = max(size, *(side.scale for side in sides)) * mp.mpf(10) ** (15 - mp.dps)
        are_real = [all(abs(mp.im(v)) <= tolerance for v in side) for side in (left, right)]
        reals = [is_real and side.is_real for is_real, side in zip(are_real, sides, strict=True)]
        self.real, self.one_real = all(reals), reals[0] != reals[1]
        self.refuted = any(abs(a - b) > tolerance for a, b in zip(left, right, strict=True))
        # after cancellation only more digits separate zero from a small difference
        self.sure = tolerance <= size * mp.mpf(10) ** -20
        self.vanished = tolerance <= mp.mpf(10) ** (-mp.dps // 2)
        if all(are_real) and len(left) == 1:
            self.fractions = (_fraction(left[0]), _fraction(right[0]))

    def agrees(self) -> bool:
        """True for two values that were not refuted, if this proves that they are equal.

        It does if the values have the same digits, or if all digits cancelled on both sides.

        Raises:
            OutOfRange: it proves nothing, because the terms are too large to compare at this precision.
        """
        if not self.sure and not self.vanished:
            raise OutOfRange("terms too large to tell with 1,000 digits")
        return True


def _fraction(value: Value) -> Fraction:
    """The real part of an mpmath number as an exact fraction."""
    sign, mantissa, exponent, _ = mp.mpf(mp.re(value))._mpf_
    two = Fraction(2) ** int(exponent)
    return Fraction(-mantissa if sign else mantissa) * two
