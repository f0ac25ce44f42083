"""Families of values: `k\\pi, k \\in \\mathbb{Z}`."""

from __future__ import annotations

from agentscope_tuner.verify.math.family import renamed
from agentscope_tuner.verify.math.node import Node, Symbol, UndefinedCall
from agentscope_tuner.verify.math.outcome import DIFFERENT, UNKNOWN, Outcome
from agentscope_tuner.verify.math.reading import Family, Listing, Named, Reading, Region, Value
from agentscope_tuner.verify.math.resolve import resolve
from agentscope_tuner.verify.math.same_listing import Comparing
from agentscope_tuner.verify.math.tables import INTEGERS
from agentscope_tuner.verify.math.tree import symbols


def same_family(comparer: Comparing, ref: Reading, ans: Reading) -> Outcome:
    """Compare the values of two families at the same parameter; either side may leave out `k \\in \\mathbb{Z}`."""
    if not isinstance(ref, Family) or not isinstance(ans, Family):
        found, other = (ref, ans) if isinstance(ref, Family) else (ans, ref)
        assert isinstance(found, Family)
        values = found.range
        if values.parameter is None or isinstance(other, Region):
            return UNKNOWN
        if isinstance(other, Listing) and other.kind == "set":
            return UNKNOWN
        if values.field != INTEGERS and values.parameter not in symbols(values.body):
            return DIFFERENT
        return comparer.compare(*(side.body if isinstance(side, Family) else side for side in (ref, ans)))
    mine, theirs = ref.range, ans.range
    if mine.parameter is None or theirs.parameter is None:
        return UNKNOWN
    if mine.field != theirs.field:
        return DIFFERENT
    body = theirs.body
    if theirs.parameter != mine.parameter:
        if mine.parameter in symbols(body):
            return UNKNOWN
        body = renamed(body, theirs.parameter, mine.parameter)
    return comparer.compare(ref.body, resolve(body))


def renamed_to(node: Node, names: tuple[str, ...], others: tuple[str, ...]) -> Node:
    """The node with `others[i]` replaced by `names[i]` for every i, all at once: `x, y` may become `y, x`."""
    between = tuple(f"parameter {at}" for at in range(len(names)))
    for old, new in (*zip(others, between, strict=True), *zip(between, names, strict=True)):
        node = renamed(node, old, new)
    return node


def same_parameter(ref: Named, ans: Named) -> Reading | None:
    """The answer's value with the reference's parameter names: for a reference `f(n) = n`, `f(x) = x` gives `n`.

    None where a renamed parameter would meet a symbol of the same name.
    """
    mine, theirs = ref.name, ans.name
    if not isinstance(mine, UndefinedCall) or not isinstance(theirs, UndefinedCall) or mine.args == theirs.args:
        return ans.value
    ours, others = _parameters(mine), _parameters(theirs)
    values = ans.value.items if isinstance(ans.value, Listing) else (ans.value,)
    nodes = [value.node for value in values if isinstance(value, Value)]
    if ours is None or others is None or len(ours) != len(others) or len(nodes) != len(values):
        return ans.value
    if any(name in symbols(node) for name in ours if name not in others for node in nodes):
        return None
    renamed = tuple(resolve(renamed_to(node, ours, others)) for node in nodes)
    return Listing(ans.value.kind, renamed) if isinstance(ans.value, Listing) else renamed[0]


def _parameters(call: UndefinedCall) -> tuple[str, ...] | None:
    """The names of a function's parameters; None if an argument is not a name: `f(2)`."""
    names = [a.name for a in call.args if isinstance(a, Symbol)]
    return tuple(names) if len(names) == len(call.args) else None
