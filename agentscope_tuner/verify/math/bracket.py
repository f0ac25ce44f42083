"""What a pair of brackets makes of what stands inside."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_tuner.verify.math.node import Node
from agentscope_tuner.verify.math.text import Token, Unreadable


def bracketed(opener: str, closer: str, inside: Node) -> Node:
    """A group, tuple, set, interval, floor or ceiling.

    Raises:
        Unreadable: the brackets do not match.
    """
    items = inside.args if inside.head == "list" else (inside,)
    if opener == "\\lfloor" or opener == "\\lceil":
        return Node("fn", (inside,), "floor" if opener == "\\lfloor" else "ceil")
    if opener == "\\{" or (opener == "{" and inside.head == "list"):
        return Node("set", items)
    if opener + closer in ("[)", "(]"):
        if len(items) != 2:
            raise Unreadable("brackets that do not match")
        return Node("interval", items, opener + closer)
    if opener == "[" and len(items) == 2:
        return Node("interval", items, "[]")
    if inside.head == "list" or opener == "\\langle":
        return Node("tuple", items)
    return inside


def infix(name: str, above: Node, below: Node) -> Node:
    r"""What TeX's `{a \over b}` and `{a \choose b}` stand for."""
    return Node("div", (above, below)) if name == "\\over" else Node("fn", (above, below), "binom")


def is_builder(tokens: Sequence[Token]) -> bool:
    """Whether the braces that these tokens follow hold a condition, as in `x | x > 0`."""
    depth = bars = 0
    for token in tokens:
        depth += (token.kind == "open") - (token.kind == "close")
        if depth < 0:
            break
        if depth == 0 and token.text in ("\\mid", ":"):
            return True
        bars += depth == 0 and token.text == "|"
    return bars % 2 == 1
