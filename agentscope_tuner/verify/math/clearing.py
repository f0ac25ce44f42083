"""Equations without fractions, so that two of them can be compared by the ratio of their sides."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from agentscope_tuner.verify.math.canonical import Key, key
from agentscope_tuner.verify.math.node import Node, number, symbols
from agentscope_tuner.verify.math.number import literal

Denominators = Counter[Key]
_MAX_POWER = 12


def cleared(node: Node) -> Node:
    """The expression times the least product of its denominators: `y - 1/x` is `xy - 1`."""
    known: dict[Key, Node] = {}
    return _fraction(node, known)[0]


def _fraction(node: Node, known: dict[Key, Node]) -> tuple[Node, Denominators]:
    if node.head == "neg":
        above, below = _fraction(node.args[0], known)
        return Node("neg", (above,)), below
    if node.head == "add":
        return _sum([_fraction(a, known) for a in node.args], known)
    if node.head == "mul":
        parts = [_fraction(a, known) for a in node.args]
        return Node("mul", tuple(a for a, _ in parts)), sum((b for _, b in parts), Counter())
    if node.head == "div" and symbols(node.args[1]):
        above, below = _fraction(node.args[0], known)
        turned_above, turned_below = _fraction(node.args[1], known)
        one = key(turned_above)
        known[one] = turned_above
        factor = _product(turned_below, known)
        return Node("mul", (above, factor)), below + Counter({one: 1})
    return node, Counter()


def _sum(parts: list[tuple[Node, Denominators]], known: dict[Key, Node]) -> tuple[Node, Denominators]:
    common: Denominators = Counter()
    for _, below in parts:
        common |= below
    if sum(common.values()) > _MAX_POWER:
        return Node("add", tuple(Node("div", (a, _product(b, known))) for a, b in parts)), Counter()
    terms = tuple(Node("mul", (above, _product(common - below, known))) for above, below in parts)
    return Node("add", terms), common


def _product(below: Denominators, known: dict[Key, Node]) -> Node:
    factors = tuple(known[one] for one in below.elements())
    return factors[0] if len(factors) == 1 else Node("mul", factors) if factors else number(1)


def equations_as_product(node: Node) -> Node:
    """`x = y or x = -y` and `|x| = |y|` as the one equation `(x-y)(x+y) = 0`, a root that is a number as its square;
    anything else as it is.
    """
    if node.head == "or" and node.args and all(a.head == "rel" and a.name == "=" for a in node.args):
        factors = tuple(_difference(a) for a in node.args)
        return Node("rel", (Node("mul", factors), number(0)), "=")
    if node.head == "rel" and node.name == "=" and [a.head for a in node.args] == ["abs", "abs"]:
        left, right = (a.args[0] for a in node.args)
        square = Node("mul", (Node("add", (left, Node("neg", (right,)))), Node("add", (left, right))))
        return Node("rel", (square, number(0)), "=")
    if node.head == "rel" and node.name == "=" and len(node.args) == 2:
        for root, value in (node.args, node.args[::-1]):
            if _is_square_root(root) and (literal(value) or 0) > 0:
                return Node("rel", (root.args[0], Node("mul", (value, value))), "=")
    return node


def _is_square_root(node: Node) -> bool:
    return node.head == "pow" and literal(node.args[1]) == Fraction(1, 2)


def _difference(node: Node) -> Node:
    return Node("add", (node.args[0], *(Node("neg", (a,)) for a in node.args[1:])))
