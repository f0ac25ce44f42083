r"""Steps: functions that jump or bend where no point may have been looked at.

`x + \lfloor\frac{1}{1+(x-7)^2}\rfloor` is x at every point but 7. Values at points refute such a formula only by luck,
so an answer's steps are taken for true only where the reference has the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentscope_tuner.verify.math.canonical import key
from agentscope_tuner.verify.math.exact import Exact, Unknown
from agentscope_tuner.verify.math.node import Node, symbols, walk

# functions that jump: two may only differ by a whole number inside
_JUMPS = frozenset({"floor", "ceil", "sgn", "gcd", "lcm"})
_BENDS = frozenset({"max", "min"})
# one of these of a multiple of an unknown has no narrow places
_SMOOTH = frozenset({"sin", "cos", "tan", "cot", "sec", "csc", "ln", "log", "arctan", "sinh", "cosh", "tanh"})
_MAX_MULTIPLE = 12


def own_steps(ref: Node, ans: Node) -> bool:
    """Whether the answer has a step that the reference has not."""
    jumps = [n for n in walk(ans) if _is_jump(n)]
    known = [n for n in walk(ref) if _is_jump(n)]
    if any(not any(_same_jump(n, other) for other in known) for n in jumps):
        return True
    if any(_is_empty_power(n) for n in walk(ans)) or _has_own_product(ref, ans):
        return True
    bends = {key(p) for p in _bends(ref)}
    return any(key(p) not in bends and not _is_wide(p) for p in _bends(ans))


def _is_jump(node: Node) -> bool:
    return node.head == "fn" and node.name in _JUMPS and bool(symbols(node))


def _same_jump(node: Node, other: Node) -> bool:
    if key(node) == key(other):
        return True
    if len(node.args) != 1 or len(other.args) != 1 or {node.name, other.name} - {"floor", "ceil"}:
        return False
    sign = 1 if node.name == other.name else -1
    inside = Node("add", (node.args[0], Node("neg", (other.args[0],)) if sign > 0 else other.args[0]))
    try:
        found = {Exact(seed).value(inside) for seed in ("step", "other step")}
    except Unknown:
        return False
    return len(found) == 1 and found.pop().denominator == 1


def _is_empty_power(node: Node) -> bool:
    """`0^{(x-7)^2}`, which is 0 at every point but one."""
    return (
        node.head == "pow" and node.args[0].head != "matrix" and bool(symbols(node.args[1])) and _is_zero(node.args[0])
    )


def _is_zero(node: Node) -> bool:
    try:
        return Exact("zero").value(node) == 0
    except Unknown:
        # a constant that is not known exactly may be zero
        return not symbols(node)


def _has_own_product(ref: Node, ans: Node) -> bool:
    """A product of many factors with an unknown inside vanishes wherever one of them does."""

    def products(side: Node) -> bool:
        return any(n.head == "index" and n.name == "prod" and symbols(n.args[0]) - _index_names(n) for n in walk(side))

    return products(ans) and not products(ref)


def _index_names(node: Node) -> frozenset[str]:
    return frozenset().union(*(symbols(bound.args[0]) for bound in node.args[1:] if bound.head == "rel"))


def _bends(node: Node) -> Iterator[Node]:
    """What stands inside absolute values and what a maximum compares."""
    for n in walk(node):
        if n.head == "abs":
            yield n.args[0]
        elif n.head == "fn" and n.name in _BENDS:
            for at, left in enumerate(n.args):
                yield from (Node("add", (left, Node("neg", (right,)))) for right in n.args[at + 1 :])
        elif n.head == "pow" and n.args[1].head == "div" and n.args[0].head == "pow":
            yield n.args[0].args[0]


def _is_wide(node: Node) -> bool:
    """Whether every zero of the expression is found: a rational one, or one function of a small multiple."""
    if not symbols(node):
        return True
    inside = [n for n in walk(node) if n.head not in ("num", "sym", "add", "mul", "div", "neg")]
    if all(n.head == "pow" and n.args[1].head == "num" for n in inside):
        return True
    if node.head == "neg":
        return _is_wide(node.args[0])
    if node.head in ("mul", "div"):
        return all(map(_is_wide, node.args))
    if node.head == "pow":
        return not symbols(node.args[1]) and _is_wide(node.args[0])
    if node.head != "fn" or node.name not in _SMOOTH:
        return False
    numbers = [n.value for n in walk(node) if n.head == "num" and n.value is not None]
    return all(abs(v) <= _MAX_MULTIPLE for v in numbers) and all(
        n.head in ("num", "sym", "add", "mul", "div", "neg") for n in walk(node.args[0])
    )
