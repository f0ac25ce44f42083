"""Points with a parameter, `(1,2)+t(3,-1)`, component by component: `(1+3t, 2-t)`."""

from __future__ import annotations

from agentscope_tuner.verify.math.node import Array, Collection, Negation, Node, Product, Sum
from agentscope_tuner.verify.math.tree import is_collection, is_matrix, product_of, symbols, with_args


def componentwise(node: Node) -> Node:
    """The node with each sum or multiple of tuples computed into one tuple, where a symbol occurs in it.

    Left as it is: tuples of different lengths, and sums without a symbol.
    """
    args = node.args
    if isinstance(node, (Sum, Product)) and any(map(_holds_tuple, args)) and symbols(node):
        found = _tuple(node)
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


def _tuple(node: Node) -> tuple[Node, ...] | None:
    if (members := _members(node)) is not None:
        return members
    match node:
        case Negation(inside):
            found = _tuple(inside)
            return None if found is None else tuple(map(Negation, found))
        case Product(args):
            vectors = [a for a in args if _holds_tuple(a)]
            scalars = tuple(a for a in args if not _holds_tuple(a))
            found = _tuple(vectors[0]) if len(vectors) == 1 and scalars else None
            return None if found is None else tuple(product_of((*scalars, one)) for one in found)
        case Sum(args):
            parts = [_tuple(a) for a in args]
            known = [p for p in parts if p is not None]
            if len(known) < len(parts) or len(set(map(len, known))) != 1:
                return None
            return tuple(Sum(column) for column in zip(*known, strict=True))
    return None
