"""Nodes to simpler nodes before they are read: signs chosen, tuples computed, dots and congruences written out.

Of a sum with dots the last term gives the general term, if two or more first terms agree with it. Sums of plain
numbers are arithmetic: their terms stand at equal distances. If three first terms are written, the sum may be
geometric, with equal ratios. Any other meaning of dots would be a guess, so such dots are left as they are.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from agentscope_tuner.verify.math.exact import Exact, Unknown, exact_value
from agentscope_tuner.verify.math.node import (
    Array,
    BigOperator,
    Collection,
    Connective,
    Negation,
    Node,
    Number,
    PlusMinus,
    Power,
    Product,
    Quotient,
    Relation,
    Sum,
    Symbol,
    difference,
    equation,
    is_collection,
    is_matrix,
    is_relation,
    literal,
    number,
    product_of,
    renamed,
    substituted,
    symbols,
    walk,
    with_args,
)


def is_signed(node: Node) -> bool:
    return any(isinstance(n, PlusMinus) for n in walk(node))


def choose(node: Node, sign: int) -> Node:
    """The node with every plus-minus read as plus (`sign` 1) or minus (-1), every minus-plus as the opposite."""
    args = tuple(choose(a, sign) for a in node.args)
    if isinstance(node, PlusMinus):
        positive = (sign > 0) == node.plus_first
        last = args[-1] if positive else Negation(args[-1])
        return last if len(args) == 1 else Sum((args[0], last))
    return with_args(node, args) if args != node.args else node


def both_signs(node: Node) -> Node:
    """A statement with a plus-minus as the two statements that it stands for."""
    if isinstance(node, Relation) and is_signed(node):
        return Connective("or", (choose(node, 1), choose(node, -1)))
    return node


def negated(node: Node) -> Node:
    """`-(2, 3)` as `(-2, -3)`."""
    if isinstance(node, Negation) and is_collection(node.inside, "tuple"):
        return Collection("tuple", tuple(map(Negation, node.inside.args)))
    return with_args(node, tuple(map(negated, node.args))) if isinstance(node, Collection) else node


def componentwise(node: Node) -> Node:
    """The node with each sum or multiple of tuples computed into one tuple, where a symbol occurs in it.

    A number times a tuple is computed, too. Left as it is: tuples of different lengths, and sums without a symbol.
    """
    args = node.args
    scaled = isinstance(node, Product) and len(args) == 2 and literal(args[0]) is not None
    if isinstance(node, (Sum, Product)) and any(map(_holds_tuple, args)) and (symbols(node) or scaled):
        found = _tuple_of(node)
        return node if found is None else Collection("tuple", found)
    if isinstance(node, (Sum, Product)) or not args or not any(map(_holds_tuple, args)):
        return node
    return with_args(node, tuple(map(componentwise, args)))


def _holds_tuple(node: Node) -> bool:
    return _members(node) is not None or (
        isinstance(node, (Sum, Product, Negation)) and any(map(_holds_tuple, node.args))
    )


def _members(node: Node) -> tuple[Node, ...] | None:
    """The components of a tuple or of a column; None for any other node."""
    if is_collection(node, "tuple") and len(node.args) > 1:
        return node.args
    if isinstance(node, Array) and is_matrix(node) and len(node.rows) > 1 and all(len(row) == 1 for row in node.rows):
        return node.args
    return None


def _tuple_of(node: Node) -> tuple[Node, ...] | None:
    if (members := _members(node)) is not None:
        return members
    match node:
        case Negation(inside):
            found = _tuple_of(inside)
            return None if found is None else tuple(map(Negation, found))
        case Product(args):
            vectors = [a for a in args if _holds_tuple(a)]
            scalars = tuple(a for a in args if not _holds_tuple(a))
            found = _tuple_of(vectors[0]) if len(vectors) == 1 and scalars else None
            return None if found is None else tuple(product_of((*scalars, one)) for one in found)
        case Sum(args):
            parts = [_tuple_of(a) for a in args]
            known = [p for p in parts if p is not None]
            if len(known) < len(parts) or len(set(map(len, known))) != 1:
                return None
            return tuple(Sum(column) for column in zip(*known, strict=True))
    return None


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
            if all(is_same_formula(substituted(last, name, number(start + at)), term) for at, term in enumerate(first)):
                body = renamed(last, name, _INDEX)
                return BigOperator(
                    "sum" if is_sum else "prod", body, (equation(Symbol(_INDEX), number(start)), Symbol(name))
                )
    return None


def is_same_formula(left: Node, right: Node) -> bool:
    """Whether two formulas agree at two random points, computed exactly."""
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


_LARGEST_EXPONENT = 10**18


def residue(node: Node) -> Node | None:
    r"""The 2 of `17 \equiv 2 \pmod 5`: of two congruent numbers the one that is the remainder.

    None for any other node, and where both numbers or none is the remainder.
    """
    if not is_relation(node, "=", "pmod") or symbols(node):
        return None
    *members, modulus_node = node.args
    modulus = exact_value(modulus_node)
    if modulus is None or modulus.denominator != 1 or modulus < 2:
        return None
    found = [_remainder(member, int(modulus)) for member in members]
    if found[0] is None or found[0] != found[1]:
        return None
    least = [m for m in members if exact_value(m) == found[0]]
    return least[0] if len(least) == 1 else None


def _remainder(node: Node, modulus: int) -> int | None:
    """The remainder of a whole number, which may be a very large power; None for any other value."""
    match node:
        case Number(value):
            return int(value) % modulus if value.denominator == 1 else None
        case Negation(inside):
            found = _remainder(inside, modulus)
            return None if found is None else -found % modulus
        case Sum(args) | Product(args):
            total = int(isinstance(node, Product))
            for part in (_remainder(a, modulus) for a in args):
                if part is None:
                    return None
                total = total * part if isinstance(node, Product) else total + part
            return total % modulus
        case Power(base, exponent):
            below, times = _remainder(base, modulus), exact_value(exponent)
            if below is None or times is None or times.denominator != 1 or not 0 <= times <= _LARGEST_EXPONENT:
                return None
            return pow(below, int(times), modulus)
    known = exact_value(node)
    return int(known) % modulus if known is not None and known.denominator == 1 else None
