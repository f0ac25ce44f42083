r"""Powers too large to compute, compared by the exponents of their primes: `2^{100000}` is `4^{50000}`.

A product of powers of rational numbers has only one form as a product of powers of primes. So equal exponents prove
that two products are equal, and different exponents prove that they differ.
"""

from __future__ import annotations

from fractions import Fraction

from agentscope_tuner.verify.math.canonical import key
from agentscope_tuner.verify.math.node import Negation, Node, Number, Power, Product, Quotient, Symbol
from agentscope_tuner.verify.math.number import is_decimal, literal
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, UNKNOWN, Outcome
from agentscope_tuner.verify.math.tree import walk, with_args

_MAX_NODES = 60
_LARGEST_PRIME = 10_000
_MAX_BITS = 400


Exponents = dict[int, Fraction]


class NotFactored(Exception):
    """The expression is not a product of powers of rational numbers, or a number in it is too large to factor."""


def same_powers(ref: Node, ans: Node) -> Outcome:
    """Compare two constants by their primes, or two expressions with the constants in them replaced by their primes."""
    if sum(1 for side in (ref, ans) for _ in walk(side)) > _MAX_NODES:
        return UNKNOWN
    mine, theirs = _powers(ref), _powers(ans)
    if mine is not None and theirs is not None:
        if mine == theirs:
            return EQUAL
        # A decimal may be the other side, rounded
        return UNKNOWN if any(is_decimal(n) for side in (ref, ans) for n in walk(side)) else DIFFERENT
    return EQUAL if key(_named(ref)) == key(_named(ans)) else UNKNOWN


def _named(node: Node) -> Node:
    found = _powers(node) if isinstance(node, (Power, Product, Quotient)) else None
    if found is not None:
        return Symbol(repr(found))
    return with_args(node, tuple(map(_named, node.args)))


def _powers(node: Node) -> tuple[int, tuple[tuple[int, Fraction], ...]] | None:
    """The sign of a constant and the exponents of its primes; None for any other node."""
    try:
        sign, primes = _factored(node)
    except NotFactored:
        return None
    return sign, tuple(sorted((p, e) for p, e in primes.items() if e))


def _factored(node: Node) -> tuple[int, Exponents]:
    match node:
        case Number(value):
            return _rational(value)
        case Negation(inside):
            sign, primes = _factored(inside)
            return -sign, primes
        case Product(args) | Quotient(args=args):
            sign, found = 1, Exponents()
            for at, arg in enumerate(args):
                one, primes = _factored(arg)
                sign *= one
                divides = at > 0 and isinstance(node, Quotient)
                for prime, times in primes.items():
                    found[prime] = found.get(prime, Fraction(0)) + (-times if divides else times)
            return sign, found
        case Power(base, exponent):
            sign, primes = _factored(base)
            times = _exponent(exponent)
            if sign < 0 and times.denominator != 1:
                raise NotFactored
            return (-1 if sign < 0 and times.numerator % 2 else 1), {p: e * times for p, e in primes.items()}
    raise NotFactored


def _exponent(node: Node) -> Fraction:
    found = literal(node)
    if isinstance(node, Power):
        base, times = literal(node.base), literal(node.exponent)
        if base is not None and times is not None and times.denominator == 1 and 0 <= times <= _MAX_BITS:
            found = base ** int(times)
    if isinstance(node, Product):
        found = Fraction(1)
        for arg in node.args:
            found *= _exponent(arg)
    if found is None or found.numerator.bit_length() > 10 * _MAX_BITS:
        raise NotFactored
    return found


def _rational(value: Fraction) -> tuple[int, Exponents]:
    if value == 0:
        raise NotFactored
    found = primes_of(abs(value.numerator))
    for prime, times in primes_of(value.denominator).items():
        found[prime] = found.get(prime, Fraction(0)) - times
    return (1 if value > 0 else -1), found


def primes_of(number: int) -> Exponents:
    """The primes of a positive number and their exponents.

    Raises:
        NotFactored: the number is too large.
    """
    if number.bit_length() > _MAX_BITS:
        raise NotFactored
    found = Exponents()
    divisor = 2
    while divisor * divisor <= number and divisor <= _LARGEST_PRIME:
        while number % divisor == 0:
            found[divisor] = found.get(divisor, Fraction(0)) + 1
            number //= divisor
        divisor += 1 + (divisor > 2)
    if number >= _LARGEST_PRIME**2:
        # The rest may be a product of primes over the bound
        raise NotFactored
    if number > 1:
        found[number] = found.get(number, Fraction(0)) + 1
    return found
