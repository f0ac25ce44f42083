"""Quantities: numbers with units, ratios and times."""

from __future__ import annotations

from typing import Protocol

from agentscope_tuner.verify.math.node import Node, number
from agentscope_tuner.verify.math.outcome import DIFFERENT, Outcome, all_of
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.reading import Named, Ratio, Reading, Value
from agentscope_tuner.verify.math.unit import UNIT_LETTERS, measure

_MINUTES, _HOURS = 60, 24


class Leaves(Protocol):
    """What decides two expressions without units."""

    question: Question | None

    def leaf(self, ref: Node, ans: Node) -> Outcome: ...


def same_quantity(leaves: Leaves, ref: Node, ans: Node) -> Outcome:
    """Two expressions of which one at least has a unit: the other may leave it out, two units must measure the same."""
    if "deg" in (ref.head, ans.head):
        return _angles(leaves, ref, ans)
    if "percent" in (ref.head, ans.head):
        return DIFFERENT
    ref, ans = _with_letter(ref, ans), _with_letter(ans, ref)
    if ref.head != "unit":
        return leaves.leaf(ref, ans.args[0]) if _may_be_left_out(ans.name, leaves.question) else DIFFERENT
    if ans.head != "unit" or ref.name == ans.name:
        return leaves.leaf(ref.args[0], ans.args[0] if ans.head == "unit" else ans)
    mine, theirs = measure(ref.name), measure(ans.name)
    if mine.dimension != theirs.dimension:
        return DIFFERENT
    if mine.size == theirs.size:
        return leaves.leaf(ref.args[0], ans.args[0])
    return leaves.leaf(ref.args[0], Node("mul", (number(theirs.size / mine.size), ans.args[0])))


def _may_be_left_out(unit: str, question: Question | None) -> bool:
    """Whether a bare reference may have left the unit out: not where it is a number, or another unit is asked."""
    found = measure(unit)
    if not found.dimension:
        return False
    return found != measure("rad^1") or question is None or not question.speaks_of_degrees


def _with_letter(node: Node, other: Node) -> Node:
    """`5 m` as five metres where the other side is a length: there, no symbol was meant."""
    if other.head != "unit" or node.head != "mul" or len(node.args) < 2:
        return node
    last = node.args[-1]
    if last.head != "sym" or last.name not in UNIT_LETTERS:
        return node
    name = f"{last.name}^1"
    if measure(name).dimension != measure(other.name).dimension:
        return node
    return Node("unit", (node.args[0] if len(node.args) == 2 else Node("mul", node.args[:-1]),), name)


def _angles(leaves: Leaves, ref: Node, ans: Node) -> Outcome:
    """A sign on one side and a unit on the other: degrees and radians measure the same, nothing else does."""
    if {ref.head, ans.head} != {"unit", "deg"}:
        return DIFFERENT
    if measure((ref if ref.head == "unit" else ans).name) != measure("rad^1"):
        return DIFFERENT
    # a product is no bare sign: the degrees are worked out, never left out
    bare = [n.args[0] if n.head == "unit" else Node("mul", (n, number(1))) for n in (ref, ans)]
    return leaves.leaf(bare[0], bare[1])


def same_ratio(leaves: Leaves, ref: Reading, ans: Reading) -> Outcome:
    """Ratios by their quotients, times part by part; a ratio of two is also the quotient."""
    if is_time(leaves.question, ref if isinstance(ref, Ratio) else ans):
        same = isinstance(ref, Ratio) and isinstance(ans, Ratio) and len(ref.parts) == len(ans.parts)
        if not same or not isinstance(ref, Ratio) or not isinstance(ans, Ratio):
            return DIFFERENT
        if any(len(r.name) != len(a.name) for r, a in zip(ref.parts[1:], ans.parts[1:], strict=True)):
            return DIFFERENT
        return all_of([leaves.leaf(r, a) for r, a in zip(ref.parts, ans.parts, strict=True)])
    left, right = _quotients(ref), _quotients(ans)
    if left is None or right is None or len(left) != len(right):
        return DIFFERENT
    return all_of([leaves.leaf(r, a) for r, a in zip(left, right, strict=True)])


def ratio_equation(named: Named) -> Node | None:
    """`a:b = 4:5` as the equation of the two quotients."""
    if named.name.head != "ratio" or not isinstance(named.value, Ratio):
        return None
    if len(named.name.args) != 2 or len(named.value.parts) != 2:
        return None
    return Node("rel", (Node("div", named.name.args), Node("div", named.value.parts)), "=")


def is_time(question: Question | None, reading: Reading) -> bool:
    """Whether `8:30` is a time of day: two digits of minutes below sixty, unless the question speaks of ratios."""
    if not isinstance(reading, Ratio) or not 2 <= len(reading.parts) <= 3:
        return False
    hours, *rest = reading.parts
    if not all(p.head == "num" and p.name.isdigit() and len(p.name) == 2 and int(p.name) < _MINUTES for p in rest):
        return False
    if question is not None and question.speaks_of_ratios:
        return False
    return hours.head == "num" and hours.name.isdigit() and int(hours.name) <= _HOURS


def _quotients(reading: Reading) -> list[Node] | None:
    if isinstance(reading, Ratio):
        return [Node("div", (part, reading.parts[-1])) for part in reading.parts[:-1]]
    return [reading.node] if isinstance(reading, Value) else None
