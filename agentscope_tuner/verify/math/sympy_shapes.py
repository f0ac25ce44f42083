"""Which formulas go to sympy when the symbolic stage is undecided."""

from __future__ import annotations

from agentscope_tuner.verify.math.node import Apply, BigOperator, Negation, Node, Power
from agentscope_tuner.verify.math.tree import INFINITY, PI, symbols, walk

# Letters that conventionally stand for whole numbers
COUNTING = frozenset({"n", "k", "m", "j", "l"})
_PERIODIC = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})


def needs_sympy(ref: Node, ans: Node) -> bool:
    """Whether a side has an integral, limit, sum or product, or the two may be equal for whole numbers only."""
    return any(isinstance(n, BigOperator) for side in (ref, ans) for n in walk(side)) or is_over_integers(ref, ans)


def is_over_integers(ref: Node, ans: Node) -> bool:
    r"""Whether the two sides may agree for whole numbers only, as `\cos n\pi` and `(-1)^n` do."""
    names = symbols(ref) | symbols(ans)
    return bool(names) and names <= COUNTING and any(_is_alternating(n) for side in (ref, ans) for n in walk(side))


def _is_alternating(node: Node) -> bool:
    match node:
        case Power(Negation(), exponent):
            return bool(symbols(exponent))
        case Apply(function) if function in _PERIODIC and symbols(node):
            return PI in walk(node)
    return False


def is_endless(node: Node) -> bool:
    """Whether the node is a sum or a product without a last term."""
    return isinstance(node, BigOperator) and any(INFINITY in walk(bound) for bound in node.bounds)
