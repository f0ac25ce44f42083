"""What a mathematical text means: a tree of nodes, the same for answers and references."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple


class Node(NamedTuple):
    r"""One operation, its operands, and what names it.

    Heads and what `name` holds:
        num (the literal, `value` its exact value), sym (the symbol; `i`, `e`, `\pi`, `\infty` are the constants)
        text (the words)
        add, mul, div, pow, neg, pos, pm and mp (one or two operands), fact, abs, norm, percent, deg
        fn (name: a known function), call (name: an unknown one), index (a summation and the like; name: the operator)
        rel (n operands, n-1 relations joined by spaces in name), and, or, not
        list (top level, commas), tuple, set, interval (name: its two brackets), union, inter, minus
        where (a set builder)
        matrix (operands are rows; name: the environment), row, cases, unit (name: the unit), base (name: the base)
    """

    head: str
    args: tuple[Node, ...] = ()
    name: str = ""
    value: Fraction | None = None


def number(value: Fraction | int) -> Node:
    """A literal that no text wrote."""
    return Node("num", (), "", Fraction(value))


def walk(node: Node) -> Iterator[Node]:
    """Every node of the tree, parents first."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.args)


CONSTANTS = frozenset({"i", "e", "\\pi", "\\infty"})


def symbols(node: Node) -> frozenset[str]:
    """The free symbols: constants and the names of bound variables left out."""
    return frozenset(
        n.name for n in walk(node) if n.head == "sym" and n.name not in CONSTANTS and not n.name.startswith("\\mathbb")
    )
