"""The points at which two formulas are compared (worker side).

Small points are enough for analytic functions. A function made of pieces (absolute values, roots, floors, maxima) may
agree on one piece and differ on the next. So points of both signs and all sizes are tried too, and points between and
beyond the places where pieces meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Literal

from mpmath import mp

from agentscope_tuner.verify.math.node import (
    RATIONAL,
    Apply,
    BigOperator,
    Negation,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
)
from agentscope_tuner.verify.math.numeric import Budget, pseudo_random
from agentscope_tuner.verify.math.numeric_matrix import NotANumber, Value
from agentscope_tuner.verify.math.real_line import RealLine
from agentscope_tuner.verify.math.text import TooComplex
from agentscope_tuner.verify.math.tree import PI, E, difference, is_applied, number, symbols, value_of, walk

Point = dict[str, Value]
Domain = Literal["positive", "real", "complex", "beside"]
# Orders of magnitude: the lowest exponent of ten, and the number of orders without and with factorials
_LOWEST, _SIZES, _GAMMA_SIZES = -3, 7, 4
_MAX_PIECES, _MAX_UNKNOWNS, _MAX_BETWEEN = 16, 4, 80
_MAX_COMPARED, _ROUGH_DIGITS = 5, 25
_INVERSES = frozenset({"arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc", "arg"})
# Limits of the values for a symbol that bounds a sum, by the depth of nested sums: the work is the value to that power
_WHOLE = {1: (8, 60, 900), 2: (6, 12, 40), 3: (4, 6, 10)}


_ANALYTIC = frozenset({"sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "exp"})


def is_analytic(node: Node) -> bool:
    """Whether the formula is a single analytic piece.

    Two such formulas that agree around one point agree everywhere (identity theorem).
    """
    return all(_is_one_piece(n) for n in walk(node))


def _is_one_piece(node: Node) -> bool:
    if isinstance(node, Power):
        return _is_whole(node.exponent) or not symbols(node.base)
    return isinstance(node, RATIONAL) or is_applied(node, *_ANALYTIC)


def _between_0_and_1(*key: str) -> Value:
    """A number between 0 and 1 that the key determines."""
    return (pseudo_random(*key) - mp.mpf("0.3")) / mp.mpf("2.7")


def point_in(
    domain: Domain, names: frozenset[str], whole: frozenset[str], bounds: tuple[int, int], seed: str, at: int
) -> Point:
    """The `at`-th point for the symbols `names`; symbols in `whole` bound a sum or a product (see `whole_number`).

    In the domain `real` values have both signs. In `beside` they lie a little off the positive real axis.
    """
    point: Point = {}
    for name in sorted(names):
        value = pseudo_random(seed, name, str(at))
        if name in whole:
            point[name] = whole_number(name, seed, at if domain == "positive" else 0, bounds)
            continue
        if domain == "real" and at != 1 and (at == 0 or pseudo_random(seed, name, str(at), "sign") > 1.6):
            value = -value
        if domain == "complex":
            value = mp.mpc(value, pseudo_random(seed, name, str(at), "imaginary"))
        if domain == "beside":
            value *= mp.mpc(1, "0.1")
        point[name] = value
    return point


def wide(names: list[str], seed: str, nodes: tuple[Node, Node]) -> Iterator[Point]:
    """Points of both signs at every order of magnitude; each symbol goes through the orders in its own sequence.

    Factorials of numbers that are not whole take long, so formulas with factorials are tried only up to ten.
    """
    sizes = _GAMMA_SIZES if has_gamma(nodes) else _SIZES
    for at in range(2 * sizes):
        point: Point = {}
        for place, name in enumerate(names):
            shift = int(_between_0_and_1(seed, name, "shift") * sizes) if place else 0
            size = mp.mpf(10) ** (_LOWEST + (at // 2 + shift) % sizes + _between_0_and_1(seed, name, str(at), "size"))
            negative = at % 2 if place == 0 else _between_0_and_1(seed, name, str(at), "side") > 0.5
            point[name] = -size if negative else size
        yield point


def has_gamma(nodes: tuple[Node, Node]) -> bool:
    """Whether one of the formulas has a factorial or a binomial."""
    return any(is_applied(n, "factorial", "binom") for node in nodes for n in walk(node))


def between_pieces(nodes: tuple[Node, Node], others: Point, budget: Budget) -> Iterator[Point]:
    """Points on both sides of, and between, the places where the formulas' pieces meet.

    Args:
        nodes: the two formulas.
        others: a value for each symbol; each point changes one of them.
        budget: shared by the whole comparison.

    Raises:
        TooComplex: more pieces, unknowns or points than the bounds.
    """
    pieces = list(dict.fromkeys(p for node in nodes for p in _pieces(node)))
    if len(pieces) > _MAX_PIECES:
        raise TooComplex("more pieces than are looked at")
    # A product is zero where a factor is. A single factor is often a polynomial, and finding its roots needs no search
    pieces = list(dict.fromkeys(factor for piece in pieces for factor in _vanishing(piece)))
    unknowns = sorted(frozenset().union(*map(symbols, pieces)) & others.keys())
    if len(unknowns) > _MAX_UNKNOWNS:
        raise TooComplex("more pieces than are looked at")
    for name in unknowns:
        line = RealLine(name, {n: v for n, v in others.items() if n != name}, budget, rough=True)
        meets: set[Value] = set()
        with mp.workdps(_ROUGH_DIGITS):
            for piece in pieces:
                if name in symbols(piece):
                    meets |= _meets(line, piece)
        ends = sorted(meets)
        near = [(a + b) / 2 for a, b in pairwise(ends) if b - a > mp.mpf(10) ** -12]
        for x in ends[:1] + ends[-1:]:
            step = (abs(x) + 1) * (mp.mpf("0.1") + _between_0_and_1(name, mp.nstr(x, 12)))
            near += [x - step, x + step]
        if len(near) > _MAX_BETWEEN:
            raise TooComplex("more pieces than are looked at")
        yield from ({**others, name: x} for x in near)


def _meets(line: RealLine, piece: Node) -> set[Value]:
    try:
        return {mp.mpf(x) for x in line.roots(piece) if mp.isfinite(x)}
    except (NotANumber, TooComplex):
        # If the budget is spent, the next step raises the same error
        return set()


def _vanishing(node: Node) -> Iterator[Node]:
    """The factors of an expression that may be zero, also those in a denominator."""
    match node:
        case Product(args):
            for arg in args:
                yield from _vanishing(arg)
        case Quotient(above, below):
            yield from _vanishing(above)
            yield from _vanishing(below)
        case Negation(inside):
            yield from _vanishing(inside)
        case Power(base, exponent) if _is_whole(exponent) and all(isinstance(n, RATIONAL) for n in walk(base)):
            # Only rational bases: the zeros of others need a search. `\cos(\pi x)` has many, its square changes no sign
            yield from _vanishing(base)
        case Power(base) if base == E or (isinstance(base, Number) and base.value > 0):
            return
        case Apply("exp"):
            return
        case _ if symbols(node):
            yield node


def _pieces(node: Node) -> Iterator[Node]:
    """Expressions whose zeros separate the pieces of a formula."""
    for n in walk(node):
        match n:
            case Power(base, exponent) if not _is_whole(exponent):
                yield base
            case Apply(function, args):
                yield from _parts(function, args)


def _parts(function: str, args: tuple[Node, ...]) -> Iterator[Node]:
    first = args[0]
    if function in ("max", "min"):
        if len(args) > _MAX_COMPARED:
            raise TooComplex("more pieces than are looked at")
        yield from (difference(a, b) for a, b in combinations(args, 2))
    elif function in ("ln", "log") and is_applied(first, "abs"):
        # The walk yields the parts of the absolute value itself
        return
    elif function in ("abs", "floor", "ceil", "sgn", "ln", "log", "Re", "Im"):
        yield first
        if function in ("floor", "ceil"):
            yield from (difference(first, number(at)) for at in (1, -1))
    elif function in _INVERSES and isinstance(first, Apply):
        # An inverse function undoes its function on one branch only, so the pieces meet where branches do
        half = Quotient(PI, number(2))
        for inner in first.args:
            yield from (inner, difference(inner, half), Sum((inner, half)))


def _is_whole(node: Node) -> bool:
    value = value_of(node.inside if isinstance(node, Negation) else node)
    return value is not None and value.denominator == 1


def whole_number(name: str, seed: str, at: int, bounds: tuple[int, int]) -> Value:
    """The `at`-th value for a symbol that bounds a sum or a product.

    The first value is small, to show exceptions for small numbers. Every fourth value is beyond every written bound:
    products like (n-1)(n-2)… are zero for all small numbers, and not there.

    Args:
        bounds: the depth of nested sums, and the largest number that bounds a sum.
    """
    depth, written = bounds
    small, middle, large = _WHOLE[min(3, max(1, depth))]
    low, high = ((2, small), (small, middle), (middle, large), (max(written, middle), max(written, middle) + middle))[
        at % 4
    ]
    return mp.floor(low + 1 + (high - low) * _between_0_and_1(seed, name, str(at), "whole"))


def bounding(node: Node) -> frozenset[str]:
    """The symbols that bound a sum or a product."""
    return frozenset().union(*(symbols(b) for n in walk(node) if isinstance(n, BigOperator) for b in n.bounds))


def bounds(ref: Node, ans: Node) -> tuple[int, int]:
    """The depth of nested sums in the two formulas, and the largest number that bounds a sum."""
    return max(map(_nesting, (ref, ans))), max(map(_written_bound, (ref, ans)))


def _nesting(node: Node) -> int:
    """The largest depth of sums and products inside each other."""
    return max(map(_nesting, node.args), default=0) + isinstance(node, BigOperator)


def _written_bound(node: Node) -> int:
    """The largest number written as a bound of a sum or a product."""
    found = [value_of(n.args[-1]) for n in walk(node) if isinstance(n, BigOperator)]
    return max((int(v) for v in found if v is not None and v.denominator == 1), default=0)
