"""Which formulas go to sympy when the symbolic stage is undecided."""

from __future__ import annotations

from agentscope_tuner.verify.math.node import Node, symbols, walk


def needs_sympy(ref: Node, ans: Node) -> bool:
    """Whether an integral, a limit, a sum, a product or an identity over the whole numbers is there."""
    return any(_is_for_sympy(n) for side in (ref, ans) for n in walk(side))


def _is_for_sympy(node: Node) -> bool:
    if node.head == "index":
        return True
    if node.head == "pow" and node.args[0].head == "neg":
        return bool(symbols(node.args[1]))
    return node.head == "matrix" and bool(symbols(node))
