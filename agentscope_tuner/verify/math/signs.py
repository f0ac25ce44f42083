"""Plus-minus signs, and signs before tuples."""

from __future__ import annotations

from agentscope_tuner.verify.math.node import Collection, Connective, Negation, Node, PlusMinus, Relation, Sum
from agentscope_tuner.verify.math.tree import is_collection, walk, with_args


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
