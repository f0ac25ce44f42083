"""Functions over trees of nodes: walk a tree, test a node's kind, build a node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from agentscope_tuner.verify.math.node import (
    Apply,
    Array,
    BigOperator,
    Collection,
    CollectionKind,
    Connective,
    Degrees,
    Interval,
    Negation,
    Node,
    Number,
    Percent,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Quotient,
    Relation,
    SetBuilder,
    SetOperation,
    Sum,
    Symbol,
    UndefinedCall,
)

PI, INFINITY, E = Symbol("\\pi"), Symbol("\\infty"), Symbol("e")
EMPTY_SET = Collection("set", ())
CONSTANTS = frozenset({"i", "e", "\\pi", "\\infty"})


def number(value: Fraction | int) -> Number:
    """A number node that does not come from a text, so it has no spelling."""
    return Number(Fraction(value))


def product_of(factors: tuple[Node, ...]) -> Node:
    """The product of the factors, or the factor itself if there is only one."""
    return factors[0] if len(factors) == 1 else Product(factors)


def difference(left: Node, right: Node) -> Sum:
    """`left - right`."""
    return Sum((left, Negation(right)))


def equation(left: Node, right: Node) -> Relation:
    """`left = right`."""
    return Relation((left, right), ("=",))


def is_relation(node: Node, *operators: str) -> bool:
    """Whether the node is a relation with exactly these operators, in this order."""
    return isinstance(node, Relation) and node.operators == operators


def is_equation(node: Node) -> bool:
    """Whether the node is a single equation with two sides."""
    return isinstance(node, Relation) and node.operators == ("=",)


def is_collection(node: Node, *kinds: CollectionKind) -> bool:
    """Whether the node is a collection of one of these kinds."""
    return isinstance(node, Collection) and node.kind in kinds


def is_joined(node: Node, *operators: Literal["and", "or", "not"]) -> bool:
    """Whether the node joins statements by one of these words."""
    return isinstance(node, Connective) and node.operator in operators


def is_applied(node: Node, *functions: str) -> bool:
    """Whether the node applies one of these functions."""
    return isinstance(node, Apply) and node.function in functions


def is_symbol(node: Node, *names: str) -> bool:
    """Whether the node is one of these symbols."""
    return isinstance(node, Symbol) and node.name in names


def is_matrix(node: Node) -> bool:
    """Whether the node is a matrix written with its entries, not an expression with a matrix value."""
    return isinstance(node, Array) and node.kind == "matrix"


def value_of(node: Node) -> Fraction | None:
    """The value of a number node; None for any other node."""
    return node.value if isinstance(node, Number) else None


def with_args(node: Node, args: tuple[Node, ...]) -> Node:
    """The same operation on other operands; their number must be the same as before."""
    match node:
        case Sum() | Product() | PlusMinus() | Apply() | UndefinedCall():
            return replace(node, args=args)
        case Relation() | Connective() | Collection() | SetOperation():
            return replace(node, args=args)
        case Quotient():
            return Quotient(*args)
        case Power():
            return Power(*args)
        case SetBuilder():
            return SetBuilder(*args)
        case Negation() | Percent() | Degrees() | Quantity():
            return replace(node, inside=args[0])
        case BigOperator():
            return replace(node, body=args[0], bounds=args[1:])
        case Interval():
            return replace(node, low=args[0], high=args[1])
        case Array():
            cells = iter(args)
            return replace(node, rows=tuple(tuple(next(cells) for _ in row) for row in node.rows))
    return node


def walk(node: Node) -> Iterator[Node]:
    """Every node of the tree, parents first."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.args)


def symbols(node: Node) -> frozenset[str]:
    r"""The names of all symbols in the tree, bound ones too, except constants and fields like `\mathbb{R}`."""
    return frozenset(
        n.name
        for n in walk(node)
        if isinstance(n, Symbol) and n.name not in CONSTANTS and not n.name.startswith("\\mathbb")
    )
