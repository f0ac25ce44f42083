"""One key for a formula however it is arranged: what it takes to see a formula of the question in an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import gcd

from agentscope_tuner.verify.math.node import (
    MARKS,
    Apply,
    Array,
    BigOperator,
    Collection,
    Connective,
    Digits,
    Interval,
    Negation,
    Node,
    Number,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Quotient,
    Relation,
    SetOperation,
    Sum,
    Symbol,
    Text,
    UndefinedCall,
)

Key = tuple[object, ...]
_ZERO: Key = ("number", 0)
_ONE: Key = ("number", 1)
SUM, PRODUCT = "sum", "product"
_TURNED = {">": "<", ">=": "<="}


def key(node: Node) -> Key:
    """The same for two formulas that differ only in the order of terms and factors, in signs written twice, in zeros
    added and ones multiplied. Nothing is calculated.
    """
    match node:
        case Number(value):
            return ("number", value)
        case Sum() | Negation():
            return _sum(node)
        case Product() | Quotient():
            return _product(node)
        case Power(base, exponent):
            below, above = key(base), key(exponent)
            return below if above == _ONE else ("power", below, above)
        case Relation((first, last), (operator,)):
            left, right = key(first), key(last)
            if operator in _TURNED:
                return ("relation", _TURNED[operator], right, left)
            return ("relation", operator, *(_ordered([left, right]) if operator in ("=", "!=") else (left, right)))
        case Collection("set") | Connective("and" | "or") | SetOperation("union" | "intersection"):
            return (*_own(node), *_ordered(map(key, node.args)))
    return (*_own(node), *map(key, node.args))


def _own(node: Node) -> Key:
    """The kind of a node and what it says beside its operands."""
    said: Key = ()
    match node:
        case Symbol(name) | Text(name):
            said = (name,)
        case Digits(text, base):
            said = (text, base)
        case Apply(function) | UndefinedCall(function):
            said = (function,)
        case PlusMinus():
            said = (node.plus_first,)
        case BigOperator(sign):
            said = (sign,)
        case Relation():
            said = node.operators
        case Connective(operator) | SetOperation(operator):
            said = (operator,)
        case Collection(kind):
            said = (kind,)
        case Interval():
            said = (node.low_in, node.high_in)
        case Quantity():
            said = (node.unit,)
        case Array(kind, rows):
            said = (kind, *map(len, rows))
    return (type(node).__name__, *said)


def _ordered(keys: Iterator[Key] | list[Key]) -> list[Key]:
    return sorted(keys, key=repr)


def terms(node: Node) -> Counter[Key]:
    """The terms of a sum, or the one term that a formula is."""
    found: Counter[Key] = Counter()
    for term, sign in _terms(node, 1):
        one = key(term)
        if one != _ZERO:
            found[one if sign > 0 else ("neg", one)] += 1
    return found


def _terms(node: Node, sign: int) -> Iterator[tuple[Node, int]]:
    match node:
        case Sum(terms):
            for term in terms:
                yield from _terms(term, sign)
        case Negation(inside):
            yield from _terms(inside, -sign)
        case _:
            yield node, sign


def _sum(node: Node) -> Key:
    found = _ordered(list(terms(node).elements()))
    if not found:
        return _ZERO
    return found[0] if len(found) == 1 else (SUM, *found)


def factors(node: Node) -> Counter[Key]:
    """The factors of a product; those below the stroke are marked."""
    found: Counter[Key] = Counter()
    negative = False
    for factor, below in _factors(node, False):
        while isinstance(factor, Negation):
            negative = not negative
            factor = factor.inside
        one = key(factor)
        if one != _ONE:
            found[("inverse", one) if below else one] += 1
    if negative:
        found[("minus",)] += 1
    return found


def _factors(node: Node, below: bool) -> Iterator[tuple[Node, bool]]:
    match node:
        case Product(args):
            for arg in args:
                yield from _factors(arg, below)
        case Quotient(above, under):
            yield from _factors(above, below)
            yield from _factors(under, not below)
        case _:
            yield node, below


def _product(node: Node) -> Key:
    found = factors(node)
    negative = found.pop(("minus",), 0)
    listed = _ordered(list(found.elements()))
    one = _ONE if not listed else listed[0] if len(listed) == 1 and listed[0][0] != "inverse" else (PRODUCT, *listed)
    return ("neg", one) if negative else one


def is_plain(node: Node) -> bool:
    """A value with nothing left to work out: a literal, a symbol, a fraction in lowest terms, a mixed number."""
    if isinstance(node, (Negation, *MARKS)):
        return is_plain(node.inside)
    match node:
        case Number(_, text):
            return bool(text)
        case Sum((Number(), Quotient(Number(), Number()))):
            return True
        case Quotient(Number(top), Number(bottom)):
            whole = top.denominator == bottom.denominator == 1
            return whole and bottom > 1 and gcd(int(top), int(bottom)) == 1
    return isinstance(node, (Symbol, Text))
