r"""Dummy names: the k of `k\pi`, the C of an indefinite integral. Another letter in its place means the same."""

from __future__ import annotations

from agentscope_tuner.verify.math.family import renamed
from agentscope_tuner.verify.math.node import Node, Product, Quotient, Sum, Symbol
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.tree import PI, symbols, walk

_COUNTING = frozenset({"n", "k", "m", "l", "j"})
_CONSTANTS = frozenset({"C", "c", "K", "C_1", "c_1", "C_{1}", "c_{1}"})


def with_names_of(ref: Node, ans: Node, question: Question | None) -> Node:
    """The answer with its dummy name replaced by the reference's, where each side has exactly one such name."""
    mine, theirs = symbols(ref) - symbols(ans), symbols(ans) - symbols(ref)
    if len(mine) != 1 or len(theirs) != 1:
        return ans
    (wanted,), (found,) = mine, theirs
    if question is not None and {wanted, found} & question.letters:
        return ans
    alike = ({wanted, found} <= _COUNTING and _is_periodic(ref, wanted) and _is_periodic(ans, found)) or (
        {wanted, found} <= _CONSTANTS and _is_free(ref, wanted) and _is_free(ans, found)
    )
    return renamed(ans, found, wanted) if alike else ans


def _is_periodic(node: Node, name: str) -> bool:
    """Whether the name is a factor beside pi, as in `2k\\pi`."""
    return any(isinstance(n, (Product, Quotient)) and PI in walk(n) and Symbol(name) in walk(n) for n in walk(node))


def _is_free(node: Node, name: str) -> bool:
    """Whether the name occurs once, as a whole term or factor: then it is a constant of integration."""
    constant = Symbol(name)
    return isinstance(node, (Sum, Product)) and constant in node.args and list(walk(node)).count(constant) == 1
