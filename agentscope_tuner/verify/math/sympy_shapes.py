"""Which formulas go to sympy when the symbolic stage is undecided."""

from __future__ import annotations

from agentscope_tuner.verify.math.node import Node, symbols, walk

# letters that count, where nothing else is said
COUNTING = frozenset({"n", "k", "m", "j", "l"})
_PERIODIC = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})
_INFINITY = "\\infty"


def needs_sympy(ref: Node, ans: Node) -> bool:
    """Whether an integral, a limit, a sum, a product or an identity over the whole numbers is there."""
    return any(n.head == "index" for side in (ref, ans) for n in walk(side)) or is_over_integers(ref, ans)


def is_over_integers(ref: Node, ans: Node) -> bool:
    r"""Whether the two may agree for whole numbers alone, as `\cos n\pi` and `(-1)^n` do."""
    names = symbols(ref) | symbols(ans)
    return bool(names) and names <= COUNTING and any(_is_alternating(n) for side in (ref, ans) for n in walk(side))


def _is_alternating(node: Node) -> bool:
    if node.head == "pow":
        return node.args[0].head in ("neg", "num") and node.args[0].head == "neg" and bool(symbols(node.args[1]))
    if node.head != "fn" or node.name not in _PERIODIC or not symbols(node):
        return False
    return any(n.head == "sym" and n.name == "\\pi" for n in walk(node))


def is_endless(node: Node) -> bool:
    """A sum or a product without a last term."""
    return node.head == "index" and any(n.head == "sym" and n.name == _INFINITY for b in node.args[1:] for n in walk(b))
