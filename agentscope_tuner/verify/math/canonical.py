"""One key for a formula however it is arranged: what it takes to see a formula of the question in an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import gcd

from agentscope_tuner.verify.math.node import Node

Key = tuple[object, ...]
_ZERO: Key = ("num", 0)
_ONE: Key = ("num", 1)
_TURNED = {">": "<", ">=": "<="}


def key(node: Node) -> Key:
    """The same for two formulas that differ only in the order of terms and factors, in signs written twice, in zeros
    added and ones multiplied. Nothing is calculated.
    """
    if node.head == "num":
        return ("num", node.value)
    if node.head in ("add", "neg", "pos"):
        return _sum(node)
    if node.head in ("mul", "div"):
        return _product(node)
    if node.head == "pow":
        base, exponent = map(key, node.args)
        return base if exponent == _ONE else ("pow", base, exponent)
    if node.head == "rel" and len(node.args) == 2:
        left, right = map(key, node.args)
        if node.name in _TURNED:
            return ("rel", _TURNED[node.name], right, left)
        return ("rel", node.name, *(_ordered([left, right]) if node.name in ("=", "!=") else (left, right)))
    if node.head in ("set", "and", "or", "union", "inter"):
        return (node.head, *_ordered(map(key, node.args)))
    return (node.head, node.name, *map(key, node.args))


def _ordered(keys: Iterator[Key] | list[Key]) -> list[Key]:
    return sorted(keys, key=repr)


def terms(node: Node) -> Counter[Key]:
    """The terms of a sum, or the one term that a formula is."""
    found: Counter[Key] = Counter()
    for term, sign in _terms(node, 1):
        one = key(term) if term.head not in ("add", "neg", "pos") else _ZERO
        if one != _ZERO:
            found[one if sign > 0 else ("neg", one)] += 1
    return found


def _terms(node: Node, sign: int) -> Iterator[tuple[Node, int]]:
    if node.head in ("add", "pos"):
        for arg in node.args:
            yield from _terms(arg, sign)
    elif node.head == "neg":
        yield from _terms(node.args[0], -sign)
    else:
        yield node, sign


def _sum(node: Node) -> Key:
    found = _ordered(list(terms(node).elements()))
    if not found:
        return _ZERO
    return found[0] if len(found) == 1 else ("add", *found)


def factors(node: Node) -> Counter[Key]:
    """The factors of a product; those below the stroke are marked."""
    found: Counter[Key] = Counter()
    negative = False
    for factor, below in _factors(node, False):
        while factor.head in ("neg", "pos"):
            negative ^= factor.head == "neg"
            factor = factor.args[0]
        one = key(factor)
        if one != _ONE:
            found[("inverse", one) if below else one] += 1
    if negative:
        found[("minus",)] += 1
    return found


def _factors(node: Node, below: bool) -> Iterator[tuple[Node, bool]]:
    if node.head == "mul":
        for arg in node.args:
            yield from _factors(arg, below)
    elif node.head == "div":
        yield from _factors(node.args[0], below)
        yield from _factors(node.args[1], not below)
    else:
        yield node, below


def _product(node: Node) -> Key:
    found = factors(node)
    negative = found.pop(("minus",), 0)
    listed = _ordered(list(found.elements()))
    one = _ONE if not listed else listed[0] if len(listed) == 1 and listed[0][0] != "inverse" else ("mul", *listed)
    return ("neg", one) if negative else one


def is_plain(node: Node) -> bool:
    """A value with nothing left to work out: a literal, a symbol, a fraction in lowest terms, a mixed number."""
    if node.head in ("neg", "percent", "deg", "unit"):
        return is_plain(node.args[0])
    if node.head == "num":
        return bool(node.name)
    if node.head == "add" and len(node.args) == 2 and node.args[0].head == "num" and node.args[1].head == "div":
        return all(a.head == "num" for a in node.args[1].args)
    if node.head == "div" and all(a.head == "num" for a in node.args):
        top, bottom = (a.value for a in node.args)
        if top is None or bottom is None or top.denominator != 1 or bottom.denominator != 1:
            return False
        return bottom > 1 and gcd(int(top), int(bottom)) == 1
    return node.head in ("sym", "text")
