"""The stages that run in the caller's process: exact numbers and exact identities, in time linear in the text."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from agentscope_tuner.verify.math.closed_form import ClosedForms
from agentscope_tuner.verify.math.compare import Comparer
from agentscope_tuner.verify.math.exact import Exact, ExactBudget, Unknown, in_base
from agentscope_tuner.verify.math.marks import meant
from agentscope_tuner.verify.math.node import RATIONAL_OPERATIONS, Apply, Digits, Node, Number, Percent, Power, Relation
from agentscope_tuner.verify.math.number import close
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, UNKNOWN, Outcome
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.region import NotSolved
from agentscope_tuner.verify.math.tree import difference, symbols, walk

_ARITHMETIC = (Number, *RATIONAL_OPERATIONS, Power, Percent)
_WHOLE_FUNCTIONS = frozenset({"factorial", "doublefact", "binom", "mod"})
_SWAPPED = {">": "<", ">=": "<="}


class _Facts(NamedTuple):
    """The facts about one expression at the random point.

    They are kept for reuse: each element of a list is compared with all elements of the other list.
    """

    node: Node
    value: Fraction | None
    opaque: bool
    rational: bool
    symbolic: bool


class CheapComparer(Comparer):
    """Decides the pairs that rational arithmetic can decide; the outcome of all others is UNKNOWN.

    Args:
        seed: the two texts; they choose the evaluation points.
        question: chooses between the meanings of a sign, such as percent.
    """

    def __init__(self, seed: str, question: Question | None = None) -> None:
        self.seed = seed
        self.question = question
        self.work = ExactBudget()
        self._closed = ClosedForms()
        # Keyed by identity, because hashing a tree walks all of it. The entry keeps its node alive, so no id is reused
        self._known: dict[int, _Facts] = {}

    def leaf(self, ref: Node, ans: Node) -> Outcome:
        if isinstance(ref, Digits) or isinstance(ans, Digits):
            return based(ref, ans)
        pair = meant(ref, ans, self.question)
        return DIFFERENT if pair is None else self._numbers(*pair)

    def _facts(self, node: Node) -> _Facts:
        known = self._known.get(id(node))
        if known is None:
            point = Exact(self.seed, self.work)
            try:
                value = point.value(node)
            except Unknown:
                value = None
            known = _Facts(node, value, point.opaque, is_rational(node), bool(symbols(node)))
            self._known[id(node)] = known
        return known

    def _numbers(self, ref_node: Node, ans_node: Node) -> Outcome:
        ref, ans = self._facts(ref_node), self._facts(ans_node)
        if ref.value is None or ans.value is None:
            return UNKNOWN
        if ref.value == ans.value:
            return EQUAL
        if ref.opaque or ans.opaque:
            # At a random point a root has an arbitrary value, so unequal values prove nothing
            return UNKNOWN if ref.symbolic or ans.symbolic else self._closed.same(ref_node, ans_node)
        if ref.rational and ans.rational:
            return EQUAL if close(ref_node, ref.value, ans_node, ans.value) else DIFFERENT
        if ref.symbolic or ans.symbolic:
            return DIFFERENT
        return self._closed.same(ref_node, ans_node)

    def roughly(self, exact: Node, rough: Node) -> Outcome:
        known, other = self._facts(exact), self._facts(rough)
        if known.value is None or other.value is None or known.opaque or other.opaque:
            return UNKNOWN
        if not (known.rational and other.rational):
            return UNKNOWN
        return EQUAL if near(known.value, other.value) else DIFFERENT

    def statement(self, ref: Node, ans: Node) -> Outcome:
        ref_pair, ans_pair = oriented(ref), oriented(ans)
        if ref_pair is None or ans_pair is None or ref_pair[0] != ans_pair[0]:
            return UNKNOWN
        ratios = set()
        try:
            for seed in (self.seed + "+", self.seed + "-"):
                point = Exact(seed, self.work)
                below = point.value(ref_pair[1])
                above = point.value(ans_pair[1])
                if not below or not above:
                    return UNKNOWN
                ratios.add(above / below)
        except Unknown:
            return UNKNOWN
        if len(ratios) > 1 or (ref_pair[0] not in ("=", "!=") and min(ratios) < 0):
            return UNKNOWN
        return EQUAL

    def solution(self, ref: Node, ans: Node) -> Outcome:
        return UNKNOWN

    def region(self, ref: Node, ans: Node) -> Outcome:
        return UNKNOWN

    def order(self, left: Node, right: Node) -> int:
        mine, theirs = self._facts(left), self._facts(right)
        if mine.value is None or theirs.value is None:
            raise NotSolved
        if mine.value == theirs.value:
            return 0
        if not (mine.rational and theirs.rational) or mine.opaque or theirs.opaque:
            raise NotSolved
        return 1 if mine.value > theirs.value else -1


def oriented(node: Node) -> tuple[str, Node] | None:
    """The relation as an operator (`=`, `!=`, `<` or `<=`) and a difference to compare with zero.

    None for any other node, also for a chain of relations.
    """
    match node:
        case Relation((left, right), (">" | ">=" as name,)):
            return _SWAPPED[name], difference(right, left)
        case Relation((left, right), ("=" | "!=" | "<" | "<=" as name,)):
            return name, difference(left, right)
    return None


def is_rational(node: Node) -> bool:
    """Whether the expression is made of numbers, rational operations and functions of whole numbers like factorials."""
    return all(
        isinstance(n, _ARITHMETIC) or (isinstance(n, Apply) and n.function in _WHOLE_FUNCTIONS) for n in walk(node)
    )


def based(ref: Node, ans: Node) -> Outcome:
    """Compare digits in a base: an answer may leave out the reference's base, but not name another base."""
    match ref, ans:
        case Digits(), Digits():
            return EQUAL if ref.base == ans.base and int(ref.text) == int(ans.text) else DIFFERENT
        case Digits(), Number(value):
            return EQUAL if value == int(ref.text) else DIFFERENT
        case Number(value), Digits():
            try:
                return EQUAL if value == in_base(ans) else DIFFERENT
            except Unknown:
                return DIFFERENT
    return DIFFERENT


def near(exact: Fraction, rough: Fraction) -> bool:
    r"""Whether `rough` is within two percent of `exact`, as people round after a `\approx`."""
    return abs(exact - rough) * 50 <= abs(exact)
