"""Families of values: `k\\pi, k \\in \\mathbb{Z}`."""

from __future__ import annotations

from agentscope_tuner.verify.math.family import renamed
from agentscope_tuner.verify.math.node import Node, symbols
from agentscope_tuner.verify.math.outcome import DIFFERENT, UNKNOWN, Outcome
from agentscope_tuner.verify.math.reading import Family, Listing, Reading, Region
from agentscope_tuner.verify.math.resolve import resolve
from agentscope_tuner.verify.math.same_listing import Comparing
from agentscope_tuner.verify.math.tables import INTEGERS


def same_family(comparer: Comparing, ref: Reading, ans: Reading) -> Outcome:
    """The same values for the same parameter; an answer and a reference may leave out that it is an integer."""
    if not isinstance(ref, Family) or not isinstance(ans, Family):
        found, other = (ref, ans) if isinstance(ref, Family) else (ans, ref)
        assert isinstance(found, Family)
        if found.field == "where" or isinstance(other, Region) or (isinstance(other, Listing) and other.kind == "set"):
            return UNKNOWN
        if found.field != INTEGERS and found.parameter.name not in symbols(found.node.args[0]):
            return DIFFERENT
        return comparer.compare(*(side.body if isinstance(side, Family) else side for side in (ref, ans)))
    if "where" in (ref.field, ans.field):
        return UNKNOWN
    if ref.field != ans.field:
        return DIFFERENT
    body = ans.node.args[0]
    if ans.parameter != ref.parameter:
        if ref.parameter.name in symbols(body):
            return UNKNOWN
        body = renamed(body, ans.parameter, ref.parameter)
    return comparer.compare(ref.body, resolve(body))


def renamed_to(node: Node, names: tuple[Node, ...], others: tuple[Node, ...]) -> Node:
    """The node with each of `names` in the place of the one of `others` that it stands beside, all at once."""
    between = tuple(Node("sym", (), f"parameter {at}") for at in range(len(names)))
    for old, new in (*zip(others, between, strict=True), *zip(between, names, strict=True)):
        node = renamed(node, old, new)
    return node
