r"""Values that a parameter runs through, as in `k\pi, k \in \mathbb{Z}`, and lists of conditions."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from agentscope_tuner.verify.math.node import Collection, Connective, Node, Relation, SetBuilder, Symbol
from agentscope_tuner.verify.math.number import literal
from agentscope_tuner.verify.math.tree import is_collection, symbols, with_args

FIELDS = frozenset({"\\mathbb{R}", "\\mathbb{Z}", "\\mathbb{N}", "\\mathbb{Q}", "\\mathbb{C}"})

_SWAPPED = {"<": ">", ">": "<"}


def is_range(node: Node) -> bool:
    """Whether the node says which field a symbol is in: `k \\in \\mathbb{Z}`."""
    return _range(node) is not None


def _range(node: Node) -> tuple[str, str] | None:
    """The symbol and the field of `k \\in \\mathbb{Z}`; None for anything else."""
    match node:
        case Relation((Symbol(name), Symbol(field)), ("in",)) if field in FIELDS:
            return name, field
    return None


class ParameterRange(NamedTuple):
    """A body and the values of its parameter.

    Either a parameter runs through a field, or a condition chooses the values: then `parameter` and `field` are None.
    """

    body: Node
    parameter: str | None
    field: str | None
    condition: Node | None = None


def family(node: Node) -> ParameterRange | None:
    r"""The family of values that the node states: `k\pi, k \in \mathbb{Z}` or `\{k^2 : 0 < k < 5\}`.

    None for any other node, such as an ordinary list, or a set builder whose element is the unknown itself.
    """
    match node:
        case Collection("set", (SetBuilder(element, condition),)):
            if is_bare(element):
                return None
            found = _range(condition)
            return ParameterRange(element, None, None, condition) if found is None else ParameterRange(element, *found)
        case Collection("list", args):
            ranges = [one for a in args if (one := _range(a)) is not None]
            rest = tuple(a for a in args if not is_range(a))
            if len(ranges) != 1 or not rest or conditions(node):
                return None
            return ParameterRange(rest[0] if len(rest) == 1 else Collection("list", rest), *ranges[0])
    return None


def is_bare(element: Node) -> bool:
    """Whether the element of a set builder is its variable itself, alone or with its field."""
    return isinstance(element, Symbol) or (isinstance(element, Relation) and isinstance(element.args[0], Symbol))


def conditions(node: Node) -> bool:
    """Whether a list holds conditions on one unknown that are meant to hold together.

    Equations list alternative values instead. No number satisfies both parts of `x < 1, x > 3`, so such a list means
    two parts of the line.
    """
    if not is_collection(node, "list") or not all(isinstance(a, (Relation, Connective)) for a in node.args):
        return False
    if any(isinstance(a, Relation) and "=" in a.operators for a in node.args):
        return False
    if len(symbols(node)) != 1 or all(is_range(a) for a in node.args):
        return False
    bounds = [_bound(a) for a in node.args]
    above = [value for side, value in bounds if side == ">"]
    below = [value for side, value in bounds if side == "<"]
    return not above or not below or max(above) < min(below)


def _bound(node: Node) -> tuple[str, Fraction]:
    """The sign (`<` or `>`) and the number of a bound like `x > 3` or `3 < x`; an empty sign for any other node."""
    match node:
        case Relation((Symbol(), right), ("<" | "<=" | ">" | ">=" as name,)):
            side, value = name[0], literal(right)
        case Relation((left, Symbol()), ("<" | "<=" | ">" | ">=" as name,)):
            side, value = _SWAPPED[name[0]], literal(left)
        case _:
            return "", Fraction(0)
    return ("", Fraction(0)) if value is None else (side, value)


def renamed(node: Node, old: str, new: str) -> Node:
    """The node with the symbol `old` replaced by `new`."""
    if isinstance(node, Symbol):
        return Symbol(new) if node.name == old else node
    args = tuple(renamed(a, old, new) for a in node.args)
    return with_args(node, args) if args != node.args else node
