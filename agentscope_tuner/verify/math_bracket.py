"""What a pair of brackets makes of what stands inside."""

from __future__ import annotations

from agentscope_tuner.verify.math_node import Node
from agentscope_tuner.verify.math_text import Unreadable


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
