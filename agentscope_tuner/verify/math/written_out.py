r"""Sums and products written with dots: `1+2+\cdots+n` is the sum of k from 1 to n.

The last term gives the general term, if two or more first terms agree with it. Sums of plain numbers are arithmetic:
their terms stand at equal distances. If three first terms are written, the sum may be geometric, with equal ratios. Any
other meaning of dots would be a guess, so such dots are left as they are.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from agentscope_tuner.verify.math.exact import Exact, Unknown, exact_value
from agentscope_tuner.verify.math.family import renamed
from agentscope_tuner.verify.math.node import BigOperator, Node, Power, Product, Quotient, Sum, Symbol
from agentscope_tuner.verify.math.tree import difference, equation, number, symbols, walk, with_args

ELLIPSIS = Symbol("\\ldots")
_INDEX = "index of a sum"
_STARTS = (1, 0, 2, 3)
_MOST_TERMS = 10_000


def written_out(node: Node) -> Node:
    """The tree with each sum or product that has dots rewritten without them."""
    if ELLIPSIS not in walk(node):
        return node
    args = tuple(map(written_out, node.args))
    node = with_args(node, args) if args else node
    if isinstance(node, (Sum, Product)) and node.args.count(ELLIPSIS) == 1 and node.args[-2:-1] == (ELLIPSIS,):
        found = _without_dots(node.args[:-2], node.args[-1], isinstance(node, Sum))
        return node if found is None else found
    return node


def _without_dots(first: tuple[Node, ...], last: Node, is_sum: bool) -> Node | None:
    if len(first) < 2:
        return None
    if not symbols(last):
        return _of_numbers(first, last) if is_sum else None
    inside = frozenset().union(*map(symbols, first))
    for name in sorted(symbols(last) - inside):
        for start in _STARTS:
            if all(_same(_at(last, name, start + at), term) for at, term in enumerate(first)):
                body = renamed(last, name, _INDEX)
                return BigOperator(
                    "sum" if is_sum else "prod", body, (equation(Symbol(_INDEX), number(start)), Symbol(name))
                )
    return None


def _at(node: Node, name: str, value: int) -> Node:
    if isinstance(node, Symbol):
        return number(value) if node.name == name else node
    args = tuple(_at(a, name, value) for a in node.args)
    return with_args(node, args) if args else node


def _same(left: Node, right: Node) -> bool:
    try:
        return all(Exact(seed).value(difference(_plain(left), right)) == 0 for seed in ("term", "another term"))
    except Unknown:
        return False


def _plain(node: Node) -> Node:
    """The node without exponents 1 and 0: `x^1` becomes x, `x^0` becomes 1."""
    args = tuple(map(_plain, node.args))
    node = with_args(node, args) if args else node
    if isinstance(node, Power) and exact_value(node.exponent) in (0, 1):
        return node.base if exact_value(node.exponent) else number(1)
    return node


def _of_numbers(first: tuple[Node, ...], last_node: Node) -> Node | None:
    values = [exact_value(term) for term in (*first, last_node)]
    if None in values:
        return None
    *terms, last = [value for value in values if value is not None]
    steps = {b - a for a, b in pairwise(terms)}
    if len(steps) == 1 and (step := steps.pop()):
        count = (last - terms[0]) / step + 1
        mean = Quotient(Sum((first[0], last_node)), number(2))
        return Product((number(count), mean)) if count.denominator == 1 and count > len(terms) else None
    ratios = {b / a for a, b in pairwise(terms) if a}
    if len(terms) < 3 or len(ratios) != 1:
        return None
    return _geometric(terms, last, ratios.pop())


def _geometric(terms: list[Fraction], last: Fraction, ratio: Fraction) -> Node | None:
    total, term, count = Fraction(0), terms[0], 0
    while (
        count < _MOST_TERMS
        and abs(term) != abs(last)
        and term.numerator.bit_length() < last.numerator.bit_length() + 64
    ):
        total, term, count = total + term, term * ratio, count + 1
    return number(total + term) if term == last and count >= len(terms) else None
