"""Comparing quantities: numbers with units, ratios and times."""

from __future__ import annotations

from typing import Protocol, TypeGuard

from agentscope_tuner.verify.math.names import is_name
from agentscope_tuner.verify.math.node import (
    Collection,
    Degrees,
    Node,
    Number,
    Percent,
    Product,
    Quantity,
    Quotient,
    Relation,
    Symbol,
    Unit,
)
from agentscope_tuner.verify.math.outcome import DIFFERENT, Outcome, all_of
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.reading import Named, Ratio, Reading, Value
from agentscope_tuner.verify.math.tree import equation, is_collection, number, product_of, symbols
from agentscope_tuner.verify.math.unit import UNIT_LETTERS, PhysicalUnit, is_money, is_physical, measure, names_of

_MINUTES, _HOURS = 60, 24
# The seconds in the time units of a rate: a second, a minute, an hour, a day, a week
_SPANS = frozenset({1, 60, 3_600, 86_400, 604_800})
_YEN, _YUAN = (("yen", 1),), (("yuan", 1),)
_RADIAN = (("rad", 1),)


class Leaves(Protocol):
    """A comparer of two expressions without units."""

    question: Question | None

    def leaf(self, ref: Node, ans: Node) -> Outcome: ...


def same_quantity(leaves: Leaves, ref: Node, ans: Node) -> Outcome:
    """Compare two expressions, at least one with a unit. One side may leave its unit out; two units must convert."""
    if isinstance(ref, Degrees) or isinstance(ans, Degrees):
        return _angles(leaves, ref, ans)
    if isinstance(ref, Percent) or isinstance(ans, Percent):
        return DIFFERENT
    match _with_letter(ref, ans), _with_letter(ans, ref):
        case Quantity(mine, unit), Quantity(theirs, other):
            amount = unit == other or _is_asked_amount(unit, other, leaves.question)
            return leaves.leaf(mine, theirs) if amount else _converted(leaves, mine, unit, theirs, other)
        case Quantity(mine), bare:
            return leaves.leaf(mine, bare)
        case _, Quantity(_, other) if leaves.question and _is_unasked_rate(other, leaves.question):
            return DIFFERENT
        case bare, Quantity(theirs, other) if _may_be_left_out(other, leaves.question):
            return leaves.leaf(bare, theirs) if _is_asked(other, leaves.question) else DIFFERENT
    return DIFFERENT


def _is_asked(unit: Unit, question: Question | None) -> bool:
    """Whether the question asks for this unit or names no unit: a reference without a unit counts in the asked unit.

    Where the question asks for a rate, its amount counts as asked for, too: dollars, for dollars an hour.
    """
    asked = question.asked_units if question is not None else frozenset()
    if not asked or not is_physical(unit):
        return True
    found = measure(_YUAN if unit == _YEN and "元" in question.text else unit)  # type: ignore[union-attr]
    return any(found == one or _is_rate(found, one) or _is_rate(one, found) for one in asked)


def _is_unasked_rate(unit: Unit, question: Question) -> bool:
    """Whether the unit is a rate, like dollars an hour, and the question asks for an amount, like dollars."""
    below = {name for name, power in unit if power < 0}
    asked = question.asked_amount
    if not below or asked.rate or below & asked.ones:
        return False
    return asked.amount or any(power > 0 and (is_money(name) or not is_physical(((name, 1),))) for name, power in unit)


def _is_asked_amount(rate: Unit, unit: Unit, question: Question | None) -> bool:
    """Whether `unit` is the amount of an asked `rate`: kilometres, where `平均每小时行驶多少千米` asks for a speed."""
    asked = question.asked_units if question is not None else frozenset()
    return measure(rate) in asked and is_physical(rate) and _is_rate(measure(unit), measure(rate))


def _is_rate(unit: PhysicalUnit, rate: PhysicalUnit) -> bool:
    above = tuple((name, power) for name, power in rate.dimension if power > 0)
    return above != rate.dimension and unit.dimension == above and unit.size / rate.size in _SPANS


def _converted(leaves: Leaves, ref: Node, ref_unit: Unit, ans: Node, ans_unit: Unit) -> Outcome:
    mine, theirs = measure(ref_unit), measure(ans_unit)
    if mine.dimension != theirs.dimension:
        return DIFFERENT
    if mine.size == theirs.size:
        return leaves.leaf(ref, ans)
    return leaves.leaf(ref, Product((number(theirs.size / mine.size), ans)))


def has_unit(ref: Node, ans: Node) -> bool:
    """Whether a side has a unit, or one side has a percent sign and the other a degree sign."""
    if isinstance(ref, Quantity) or isinstance(ans, Quantity):
        return True
    match ref, ans:
        case (Percent(), Degrees()) | (Degrees(), Percent()):
            return True
    return False


def _may_be_left_out(unit: Unit, question: Question | None) -> bool:
    """Whether a reference without a unit may mean this unit.

    It may not if the unit is only a number, or if the unit is radians and the question is about degrees.
    """
    found = measure(unit)
    if not found.dimension:
        return False
    return found != measure(_RADIAN) or question is None or not question.speaks_of_degrees


def without_letter(ref: Node, ans: Node, question: Question | None) -> Node | None:
    """The 5 of a reference `5 m`, if the question mentions metres and the answer has no symbols; else None."""
    match ref:
        case Product((Number() as amount, Symbol(letter))) if letter in UNIT_LETTERS and question is not None:
            named = not names_of(letter).isdisjoint(question.words - {letter.lower()})
            return amount if named and not symbols(ans) else None
    return None


def asked_amount(ref: Node, ans: Node, question: Question | None) -> Node | None:
    """The 600 of an answer `600m`, if the question asks for metres and the reference is a bare number; else None."""
    match ref, ans:
        case Number(), Product((Number() as amount, Symbol(letter))) if letter in UNIT_LETTERS and question is not None:
            return amount if measure(((letter, 1),)) in question.asked_units else None
    return None


def _with_letter(node: Node, other: Node) -> Node:
    """`5 m` as five metres, if the other side is a length: then m is no symbol. Any other node as it is."""
    match node, other:
        case Product((_, *_, Symbol("\\mu"), Symbol("m" | "g" | "s" as letter))), Quantity(_, unit):
            named = ((f"μ{letter}", 1),)
            if measure(named).dimension == measure(unit).dimension:
                return Quantity(product_of(node.args[:-2]), named)
        case Product((_, *_, Symbol(letter))), Quantity(_, unit) if letter in UNIT_LETTERS:
            named = ((letter, 1),)
            if measure(named).dimension == measure(unit).dimension:
                return Quantity(product_of(node.args[:-1]), named)
        case Quotient(Product((_, *_, Symbol(above))) as top, Symbol(below)), Quantity(_, unit):
            speed: Unit = tuple(sorted(((above, 1), (below, -1))))
            if {above, below} <= UNIT_LETTERS and measure(speed).dimension == measure(unit).dimension:
                return Quantity(product_of(top.args[:-1]), speed)
    return node


def _angles(leaves: Leaves, ref: Node, ans: Node) -> Outcome:
    """Compare a degree sign on one side with a unit on the other: radians, or a scale of temperature."""
    # A factor of 1 hides the sign, so that the degrees are converted to radians, and the sign is not just removed
    match ref, ans:
        case Quantity(inside, unit), Degrees() if measure(unit) == measure(_RADIAN):
            return leaves.leaf(inside, Product((ans, number(1))))
        case Degrees(), Quantity(inside, unit) if measure(unit) == measure(_RADIAN):
            return leaves.leaf(Product((ref, number(1))), inside)
        case Quantity(inside, ((("celsius" | "fahrenheit"), 1),)), Degrees(degrees):
            return leaves.leaf(inside, degrees)
    return DIFFERENT


def same_ratio(leaves: Leaves, ref: Reading, ans: Reading) -> Outcome:
    """Compare ratios by their quotients, and times part by part. A ratio of two parts is equal to its quotient, too."""
    if is_time(leaves.question, ref if isinstance(ref, Ratio) else ans):
        same = isinstance(ref, Ratio) and isinstance(ans, Ratio) and len(ref.parts) == len(ans.parts)
        if not same or not isinstance(ref, Ratio) or not isinstance(ans, Ratio):
            return DIFFERENT
        if any(_width(r) != _width(a) for r, a in zip(ref.parts[1:], ans.parts[1:], strict=True)):
            return DIFFERENT
        return all_of([leaves.leaf(r, a) for r, a in zip(ref.parts, ans.parts, strict=True)])
    if isinstance(ans, Ratio) and isinstance(ref, Value) and leaves.question and not leaves.question.speaks_of_ratios:
        # If the question is not about ratios, `1:6` does not mean 1/6: it may be odds
        return DIFFERENT
    left, right = _quotients(ref), _quotients(ans)
    if left is None or right is None or len(left) != len(right):
        return DIFFERENT
    return all_of([leaves.leaf(r, a) for r, a in zip(left, right, strict=True)])


def ratio_equation(named: Named) -> Node | None:
    """`a:b = 4:5` as an equation of two quotients; None for any other reading."""
    match named:
        case Named(Collection("ratio", (above, below)), Ratio((top, bottom))):
            return equation(Quotient(above, below), Quotient(top, bottom))
    return None


def _width(part: Node) -> int:
    """The number of characters in a part of a time; 0 for a part that is not a number."""
    return len(part.text) if isinstance(part, Number) else 0


def ratio_named(ref: Reading, node: Node) -> Named | None:
    """`x/y = 2/3` as a named value of the ratio `x:y`, if the reference is a ratio; else None."""
    match node:
        case Relation((Quotient(above, below), value), ("=",)) if is_name(above) and is_name(below):
            ratio = isinstance(ref, Ratio) or (isinstance(ref, Named) and is_collection(ref.name, "ratio"))
            if ratio and not symbols(value):
                return Named(Collection("ratio", (above, below)), Value(value), node)
    return None


def is_time(question: Question | None, reading: Reading) -> bool:
    """Whether `8:30` is a time of day: its minutes have two digits, and the question is not about ratios."""
    if not isinstance(reading, Ratio) or not 2 <= len(reading.parts) <= 3:
        return False
    hours, *rest = reading.parts
    if not all(_is_whole(p) and _width(p) == 2 and p.value < _MINUTES for p in rest):
        return False
    if question is not None and question.speaks_of_ratios:
        return False
    return _is_whole(hours) and hours.value <= _HOURS


def _is_whole(node: Node) -> TypeGuard[Number]:
    return isinstance(node, Number) and node.text.isdigit()


def _quotients(reading: Reading) -> list[Node] | None:
    if isinstance(reading, Ratio):
        return [Quotient(part, reading.parts[-1]) for part in reading.parts[:-1]]
    return [reading.node] if isinstance(reading, Value) else None
