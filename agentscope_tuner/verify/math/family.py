r"""Values that a parameter runs through, as in `k\pi, k \in \mathbb{Z}`, and lists of conditions."""

from __future__ import annotations

from fractions import Fraction

from agentscope_tuner.verify.math.node import Node, symbols

FIELDS = frozenset({"\\mathbb{R}", "\\mathbb{Z}", "\\mathbb{N}", "\\mathbb{Q}", "\\mathbb{C}"})

_TURNED = {"<": ">", ">": "<"}


def is_range(node: Node) -> bool:
    """Whether the node says which field one symbol runs through."""
    return (
        node.head == "rel"
        and node.name == "in"
        and node.args[0].head == "sym"
        and node.args[1].head == "sym"
        and node.args[1].name in FIELDS
    )


def family(node: Node) -> Node | None:
    """The node as a `family`: its body, its parameter, and in `name` the field that it runs through.

    A set builder whose element is computed and whose condition is no field is a family named `where`.
    None where the node is neither: an ordinary list, or the set of the unknowns that satisfy something.
    """
    if node.head == "set" and len(node.args) == 1 and node.args[0].head == "where":
        element, condition = node.args[0].args
        if is_bare(element):
            return None
        if is_range(condition):
            return Node("family", (element, condition.args[0]), condition.args[1].name)
        return Node("family", (element, condition), "where")
    if node.head != "list":
        return None
    ranges = [a for a in node.args if is_range(a)]
    rest = tuple(a for a in node.args if not is_range(a))
    if len(ranges) != 1 or not rest or conditions(node):
        return None
    body = rest[0] if len(rest) == 1 else Node("list", rest)
    return Node("family", (body, ranges[0].args[0]), ranges[0].args[1].name)


def is_bare(element: Node) -> bool:
    """Whether a set builder's element is its variable, alone or with its field."""
    return element.head == "sym" or (element.head == "rel" and element.args[0].head == "sym")


def conditions(node: Node) -> bool:
    """Whether a list holds several conditions on one unknown, which all hold.

    Equations list values instead, and `x < 1, x > 3`, which nothing satisfies, lists two parts of the line.
    """
    if node.head != "list" or not all(a.head in ("rel", "and", "or", "not") for a in node.args):
        return False
    if any(a.head == "rel" and "=" in a.name.split() for a in node.args):
        return False
    if len(symbols(node)) != 1 or all(is_range(a) for a in node.args):
        return False
    bounds = [_bound(a) for a in node.args]
    above = [value for side, value in bounds if side == ">"]
    below = [value for side, value in bounds if side == "<"]
    return not above or not below or max(above) < min(below)


def _bound(node: Node) -> tuple[str, Fraction]:
    """The side and the number of `x > 3` or `3 < x`; an empty side for anything else."""
    side = node.name[:1] if node.name in ("<", "<=", ">", ">=") else ""
    left, right = node.args if side else (node, node)
    if left.head != "sym":
        left, right, side = right, left, _TURNED.get(side, "")
    value = _literal(right)
    return ("", Fraction(0)) if left.head != "sym" or value is None else (side, value)


def _literal(node: Node) -> Fraction | None:
    if node.head == "neg":
        inside = _literal(node.args[0])
        return None if inside is None else -inside
    if node.head == "div":
        above, below = map(_literal, node.args)
        return above / below if above is not None and below else None
    return node.value


def renamed(node: Node, old: Node, new: Node) -> Node:
    """The node with one symbol in another's place."""
    if node == old:
        return new
    args = tuple(renamed(a, old, new) for a in node.args)
    return node._replace(args=args) if args != node.args else node
