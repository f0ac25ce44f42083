"""Formulas without fractions or absolute values, so that equations can be compared by the ratio of their sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from agentscope_tuner.verify.math.canonical import Key, key
from agentscope_tuner.verify.math.node import Apply, Connective, Negation, Node, Power, Product, Quotient, Relation, Sum
from agentscope_tuner.verify.math.number import literal
from agentscope_tuner.verify.math.text import TooComplex
from agentscope_tuner.verify.math.tree import (
    difference,
    equation,
    is_applied,
    is_equation,
    number,
    product_of,
    symbols,
    walk,
    with_args,
)

Denominators = Counter[Key]
_MAX_POWER, _MAX_ABS = 12, 3
_HALF = Fraction(1, 2)


def cleared(node: Node) -> Node:
    """The expression times the least common multiple of its denominators: `y - 1/x` becomes `xy - 1`."""
    known: dict[Key, Node] = {}
    return _fraction(node, known)[0]


def _fraction(node: Node, known: dict[Key, Node]) -> tuple[Node, Denominators]:
    match node:
        case Negation(inside):
            above, below = _fraction(inside, known)
            return Negation(above), below
        case Sum(terms):
            return _sum([_fraction(a, known) for a in terms], known)
        case Product(factors):
            parts = [_fraction(a, known) for a in factors]
            return Product(tuple(a for a, _ in parts)), sum((b for _, b in parts), Counter())
        case Quotient(upper, lower) if symbols(lower):
            above, below = _fraction(upper, known)
            turned_above, turned_below = _fraction(lower, known)
            one = key(turned_above)
            known[one] = turned_above
            factor = _product(turned_below, known)
            return Product((above, factor)), below + Counter({one: 1})
    return node, Counter()


def _sum(parts: list[tuple[Node, Denominators]], known: dict[Key, Node]) -> tuple[Node, Denominators]:
    common: Denominators = Counter()
    for _, below in parts:
        common |= below
    if sum(common.values()) > _MAX_POWER:
        return Sum(tuple(Quotient(a, _product(b, known)) for a, b in parts)), Counter()
    terms = tuple(Product((above, _product(common - below, known))) for above, below in parts)
    return Sum(terms), common


def _product(below: Denominators, known: dict[Key, Node]) -> Node:
    factors = tuple(known[one] for one in below.elements())
    return product_of(factors) if factors else number(1)


def equations_as_product(node: Node) -> Node:
    r"""Two forms of statements as single equations without roots or absolute values; any other node as it is.

    `x = y or x = -y` and `|x| = |y|` become `(x-y)(x+y) = 0`. A square root equal to a positive number is squared:
    `\sqrt{x} = 3` becomes `x = 3 \cdot 3`.
    """
    match node:
        case Connective("or", parts) if parts and all(map(is_equation, parts)):
            return equation(Product(tuple(difference(*a.args) for a in parts)), number(0))
        case Relation((Apply("abs", (left,)), Apply("abs", (right,))), ("=",)):
            return equation(Product((difference(left, right), Sum((left, right)))), number(0))
        case Relation((first, last), ("=",)):
            for root, value in ((first, last), (last, first)):
                if isinstance(root, Power) and literal(root.exponent) == _HALF and (literal(value) or 0) > 0:
                    return equation(root.base, Product((value, value)))
    return node


def without_absolutes(node: Node, name: str) -> Iterator[Node]:
    """The expression with every choice of sign for its absolute values, then the contents of each absolute value.

    Raises:
        TooComplex: more absolute values than the bound.
    """
    inside = [n for n in walk(node) if is_applied(n, "abs") and name in symbols(n)]
    if len(inside) > _MAX_ABS:
        raise TooComplex("too many absolute values")
    for signs in product((1, -1), repeat=len(inside)):
        yield _opened(node, dict(zip(inside, signs, strict=True)))
    for absolute in inside:
        yield absolute.args[0]


def _opened(node: Node, signs: dict[Node, int]) -> Node:
    args = tuple(_opened(a, signs) for a in node.args)
    if node in signs:
        return Product((number(signs[node]), args[0]))
    return with_args(node, args)
