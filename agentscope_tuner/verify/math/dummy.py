r"""Names that nobody asked about: the k of `k\pi`, the C of an indefinite integral. Another letter says the same."""

from __future__ import annotations

from agentscope_tuner.verify.math.family import renamed
from agentscope_tuner.verify.math.node import Node, symbols, walk
from agentscope_tuner.verify.math.question import Question

_COUNTING = frozenset({"n", "k", "m", "l", "j"})
_CONSTANTS = frozenset({"C", "c", "K", "C_1", "c_1", "C_{1}", "c_{1}"})


def with_names_of(ref: Node, ans: Node, question: Question | None) -> Node:
    """The answer with the reference's dummy name in the place of its own, where each side has one."""
    mine, theirs = symbols(ref) - symbols(ans), symbols(ans) - symbols(ref)
    if len(mine) != 1 or len(theirs) != 1:
        return ans
    (wanted,), (found,) = mine, theirs
    if question is not None and {wanted, found} & question.letters:
        return ans
    alike = ({wanted, found} <= _COUNTING and _is_periodic(ref, wanted) and _is_periodic(ans, found)) or (
        {wanted, found} <= _CONSTANTS and _is_added(ref, wanted) and _is_added(ans, found)
    )
    return renamed(ans, Node("sym", (), found), Node("sym", (), wanted)) if alike else ans


def _is_periodic(node: Node, name: str) -> bool:
    """Whether the name is a factor beside pi, as in `2k\\pi`."""
    return any(n.head in ("mul", "div") and {name, "\\pi"} <= _names(n) for n in walk(node))


def _names(node: Node) -> frozenset[str]:
    return frozenset(n.name for n in walk(node) if n.head == "sym")


def _is_added(node: Node, name: str) -> bool:
    """Whether the name is a term of its own in a sum of other terms."""
    return node.head == "add" and sum(a == Node("sym", (), name) for a in node.args) == 1
