"""Solved sets of real numbers, compared by their ends."""

from __future__ import annotations

from typing import Protocol

from agentscope_tuner.verify.math.names import has_factor, is_condition, label
from agentscope_tuner.verify.math.node import Collection, Interval, Node, SetOperation
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, Outcome, all_of
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.reading import Listing, Named, Reading, Region, Value
from agentscope_tuner.verify.math.region import NotSolved, Pieces
from agentscope_tuner.verify.math.resolve import resolve
from agentscope_tuner.verify.math.tree import symbols


class Ordering(Protocol):
    """A comparer that compares two readings and puts two ends in order."""

    question: Question | None

    def compare(self, ref: Reading, ans: Reading) -> Outcome: ...

    def order(self, left: Node, right: Node) -> int: ...

    def region(self, ref: Node, ans: Node) -> Outcome: ...


def regions(comparer: Ordering, ref: Reading, ans: Reading) -> Outcome:
    if (
        isinstance(ans, Region)
        and has_factor(ans.node)
        and comparer.question is not None
        and comparer.question.has_inequality
    ):
        # The answer `2x > 4` for `x > 2` is a step from the question's inequality, not its solution
        return DIFFERENT
    if isinstance(ref, Listing) and ref.kind == "set" and isinstance(ans, Region) and is_condition(ans.node):
        # A condition does not answer a question whose reference lists the elements
        return DIFFERENT
    left, right = _as_region(ref), _as_region(ans)
    if left is None or right is None or (left.name != right.name and None not in (left.name, right.name)):
        return DIFFERENT
    if _is_same_shape(left.node, right.node):
        parts = zip(left.node.args, right.node.args, strict=True)
        if all_of([comparer.compare(resolve(a), resolve(b)) for a, b in parts]) is EQUAL:
            return EQUAL
    pieces = Pieces(comparer.order)
    try:
        mine, theirs = pieces.of(left.node), pieces.of(right.node)
        if any(_is_pair(side) and not found for side, found in ((ref, mine), (ans, theirs))):
            # `(4, -2)` is a pair, not an empty interval
            return DIFFERENT
        same = len(mine) == len(theirs) and all(
            pieces.order(a.low, b.low) == 0 == pieces.order(a.high, b.high) and a[1::2] == b[1::2]
            for a, b in zip(mine, theirs, strict=True)
        )
        return EQUAL if same else DIFFERENT
    except NotSolved:
        return comparer.region(left.node, right.node)


def _is_same_shape(left: Node, right: Node) -> bool:
    """Whether both are intervals of the same kind (open, closed, half-open), or both are differences of two sets."""
    match left, right:
        case Interval(), Interval():
            return (left.low_in, left.high_in) == (right.low_in, right.high_in)
        case SetOperation("difference"), SetOperation("difference"):
            return True
    return False


def _is_pair(reading: Reading) -> bool:
    return isinstance(reading, Listing) and reading.kind == "tuple"


def as_set(reading: Reading) -> Node | None:
    """A value or a listing as a set, and a pair as an open interval; None for any other reading."""
    if isinstance(reading, Value):
        return Collection("set", (reading.node,))
    if not isinstance(reading, Listing) or not all(isinstance(i, Value) for i in reading.items):
        return None
    nodes = tuple(i.node for i in reading.items if isinstance(i, Value))
    if reading.kind == "tuple":
        return Interval(*nodes, low_in=False, high_in=False) if len(nodes) == 2 else None
    return Collection("set", nodes)


def _as_region(reading: Reading) -> Region | None:
    if isinstance(reading, Region):
        return reading
    found = as_set(reading) if isinstance(reading, Listing) and reading.kind in ("tuple", "set") else None
    return None if found is None else Region(found)


def points(named: Named, other: Reading) -> Reading:
    """The value of a name; as a set of points where the other side is a region of the same unknown."""
    found = as_set(named.value) if isinstance(other, Region) and label(named.name) == (other.name,) else None
    return (
        named.value
        if found is None or symbols(found)
        else Region(found, other.name if isinstance(other, Region) else None)
    )
