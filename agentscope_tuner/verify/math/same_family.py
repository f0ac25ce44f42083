"""Families of values: `k\\pi, k \\in \\mathbb{Z}`."""

from __future__ import annotations

from agentscope_tuner.verify.math.family import renamed
from agentscope_tuner.verify.math.node import Node
from agentscope_tuner.verify.math.outcome import DIFFERENT, UNKNOWN, Outcome
from agentscope_tuner.verify.math.reading import Family, Listing, Reading, Region
from agentscope_tuner.verify.math.resolve import resolve
from agentscope_tuner.verify.math.same_listing import Comparing
from agentscope_tuner.verify.math.tables import INTEGERS
from agentscope_tuner.verify.math.tree import symbols


def same_family(comparer: Comparing, ref: Reading, ans: Reading) -> Outcome:
    """The same values for the same parameter; an answer and a reference may leave out that it is an integer."""
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
    """The node with each of `names` in the place of the one of `others` that it stands beside, all at once."""
    between = tuple(f"parameter {at}" for at in range(len(names)))
    for old, new in (*zip(others, between, strict=True), *zip(between, names, strict=True)):
        node = renamed(node, old, new)
    return node
