"""Where two formulas are compared (worker side).

Small points are enough for analytic functions; what is made of pieces (absolute values, roots, floors, the larger of
two) agrees on one piece and differs on the next. So points of both signs and all sizes are looked at too, and points
between and beyond the places where the pieces meet.
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
# orders of magnitude, from a thousandth to ten thousand
_LOWEST, _SIZES, _GAMMA_SIZES = -3, 7, 4
_MAX_PIECES, _MAX_UNKNOWNS, _MAX_BETWEEN = 16, 4, 80
_MAX_COMPARED, _ROUGH_DIGITS = 5, 25
_INVERSES = frozenset({"arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc", "arg"})
# a bounded symbol's points by how deep sums are nested: the work grows with its power
_WHOLE = {1: (8, 60, 900), 2: (6, 12, 40), 3: (4, 6, 10)}


_ANALYTIC = frozenset({"sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "exp"})


def is_analytic(node: Node) -> bool:
    """Whether the formula is one piece: two such that agree around a point agree everywhere (identity theorem)."""
    return all(_is_one_piece(n) for n in walk(node))


def _is_one_piece(node: Node) -> bool:
    if isinstance(node, Power):
        return _is_whole(node.exponent) or not symbols(node.base)
    return isinstance(node, RATIONAL) or is_applied(node, *_ANALYTIC)


def _unit(*key: str) -> Value:
    """Between 0 and 1, as the key chooses."""
    return (pseudo_random(*key) - mp.mpf("0.3")) / mp.mpf("2.7")


def point_in(
    domain: Domain, names: frozenset[str], whole: frozenset[str], bounds: tuple[int, int], seed: str, at: int
) -> Point:
    """The `at`-th point for the symbols `names`; those in `whole` bound a sum or a product (see `whole_number`).

    `real` is of both signs, `beside` a little off the positive reals.
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
    """Points of both signs at every order of magnitude; each symbol goes through them in its own order.

    Factorials between whole numbers are dear: formulas with them are looked at up to ten only.
    """
    sizes = _GAMMA_SIZES if has_gamma(nodes) else _SIZES
    for at in range(2 * sizes):
        point: Point = {}
        for place, name in enumerate(names):
            shift = int(_unit(seed, name, "shift") * sizes) if place else 0
            size = mp.mpf(10) ** (_LOWEST + (at // 2 + shift) % sizes + _unit(seed, name, str(at), "size"))
            negative = at % 2 if place == 0 else _unit(seed, name, str(at), "side") > 0.5
            point[name] = -size if negative else size
        yield point


def has_gamma(nodes: tuple[Node, Node]) -> bool:
    """Whether a factorial or a binomial stands in one of the formulas."""
    return any(is_applied(n, "factorial", "binom") for node in nodes for n in walk(node))


def between_pieces(nodes: tuple[Node, Node], others: Point, budget: Budget) -> Iterator[Point]:
    """Points on both sides of, and between, the places where the formulas' pieces meet.

    Args:
        nodes: the two formulas.
        others: the values of the symbols that are not looked for.
        budget: shared by the whole comparison.
    """
    pieces = list(dict.fromkeys(p for node in nodes for p in _pieces(node)))
    if len(pieces) > _MAX_PIECES:
        raise TooComplex("more pieces than are looked at")
    # a product vanishes where a factor does, and a factor by itself is often a polynomial, whose roots need no search
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
            step = (abs(x) + 1) * (mp.mpf("0.1") + _unit(name, mp.nstr(x, 12)))
            near += [x - step, x + step]
        if len(near) > _MAX_BETWEEN:
            raise TooComplex("more pieces than are looked at")
        yield from ({**others, name: x} for x in near)


def _meets(line: RealLine, piece: Node) -> set[Value]:
    try:
        return {mp.mpf(x) for x in line.roots(piece) if mp.isfinite(x)}
    except (NotANumber, TooComplex):
        # a budget that is spent says so again at the next step
        return set()


def _vanishing(node: Node) -> Iterator[Node]:
    """The factors of an expression, above and below a stroke, that may be zero somewhere."""
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
            # of other bases each zero costs a search: `\cos(\pi x)` has many, where its square changes no sign
            yield from _vanishing(base)
        case Power(base) if base == E or (isinstance(base, Number) and base.value > 0):
            return
        case Apply("exp"):
            return
        case _ if symbols(node):
            yield node


def _pieces(node: Node) -> Iterator[Node]:
    """Expressions whose zeros part the pieces of a formula."""
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
        # the absolute value is a piece of its own
        return
    elif function in ("abs", "floor", "ceil", "sgn", "ln", "log", "Re", "Im"):
        yield first
        if function in ("floor", "ceil"):
            yield from (difference(first, number(at)) for at in (1, -1))
    elif function in _INVERSES and isinstance(first, Apply):
        # an inverse function undoes its function on one branch only
        half = Quotient(PI, number(2))
        for inner in first.args:
            yield from (inner, difference(inner, half), Sum((inner, half)))


def _is_whole(node: Node) -> bool:
    value = value_of(node.inside if isinstance(node, Negation) else node)
    return value is not None and value.denominator == 1


def whole_number(name: str, seed: str, at: int, bounds: tuple[int, int]) -> Value:
    """A value for a symbol that bounds a sum or a product.

    Args:
        bounds: how deep sums are nested, and the largest number that bounds one.

    The first is small, where exceptions for small numbers show; one is beyond every written bound, where products such
    as (n-1)(n-2)… that vanish on all small numbers do not.
    """
    depth, written = bounds
    small, middle, large = _WHOLE[min(3, max(1, depth))]
    low, high = ((2, small), (small, middle), (middle, large), (max(written, middle), max(written, middle) + middle))[
        at % 4
    ]
    return mp.floor(low + 1 + (high - low) * _unit(seed, name, str(at), "whole"))


def bounding(node: Node) -> frozenset[str]:
    """The symbols that bound a sum or a product."""
    return frozenset().union(*(symbols(b) for n in walk(node) if isinstance(n, BigOperator) for b in n.bounds))


def bounds(ref: Node, ans: Node) -> tuple[int, int]:
    """How deep sums are nested in the two, and the largest number that bounds one."""
    return max(map(_nesting, (ref, ans))), max(map(_written_bound, (ref, ans)))


def _nesting(node: Node) -> int:
    """How many sums and products stand inside one another."""
    return max(map(_nesting, node.args), default=0) + isinstance(node, BigOperator)


def _written_bound(node: Node) -> int:
    """The largest number written as a bound of a sum or a product."""
    found = [value_of(n.args[-1]) for n in walk(node) if isinstance(n, BigOperator)]
    return max((int(v) for v in found if v is not None and v.denominator == 1), default=0)
