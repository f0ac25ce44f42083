"""Which formulas go to sympy when the symbolic stage is undecided."""

from __future__ import annotations

from agentscope_tuner.verify.math.node import Apply, BigOperator, Negation, Node, Power
from agentscope_tuner.verify.math.tree import INFINITY, PI, symbols, walk

# letters that count, where nothing else is said
COUNTING = frozenset({"n", "k", "m", "j", "l"})
_PERIODIC = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})


def needs_sympy(ref: Node, ans: Node) -> bool:
    """Whether an integral, a limit, a sum, a product or an identity over the whole numbers is there."""
    return any(isinstance(n, BigOperator) for side in (ref, ans) for n in walk(side)) or is_over_integers(ref, ans)


def is_over_integers(ref: Node, ans: Node) -> bool:
    r"""Whether the two may agree for whole numbers alone, as `\cos n\pi` and `(-1)^n` do."""
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
    """A sum or a product without a last term."""
    return isinstance(node, BigOperator) and any(INFINITY in walk(bound) for bound in node.bounds)
