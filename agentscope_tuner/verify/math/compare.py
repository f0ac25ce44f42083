"""Compare two readings by their structure; what a leaf is worth is the stage's business."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from agentscope_tuner.verify.math import unit as math_unit
from agentscope_tuner.verify.math.family import renamed
from agentscope_tuner.verify.math.node import Node, number, symbols, walk
from agentscope_tuner.verify.math.shape import (
    MARKS,
    assigned,
    elements,
    is_region,
    is_statement,
    labels,
    named_value,
    settle,
    vector,
    words,
)
from agentscope_tuner.verify.math.tables import INTEGERS

MAX_ELEMENTS = 100
ELLIPSIS = Node("sym", (), "\\ldots")


class Outcome(enum.Enum):
    """What a stage can say."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


EQUAL, DIFFERENT, UNKNOWN = Outcome.EQUAL, Outcome.DIFFERENT, Outcome.UNKNOWN
_COLLECTIONS = frozenset({"list", "set", "tuple", "interval"})


def all_of(outcomes: Sequence[Outcome]) -> Outcome:
    """Equal when all are; different as soon as one is."""
    if DIFFERENT in outcomes:
        return DIFFERENT
    return UNKNOWN if UNKNOWN in outcomes else EQUAL


class Comparer:
    """The structure of answers. Subclasses decide leaves, statements and regions of the number line.

    The reference always comes first: what may be left out (a unit, `x =`) is what the reference leaves out or the
    answer need not repeat.
    """

    def leaf(self, ref: Node, ans: Node) -> Outcome:
        """Two expressions, equations between which are already resolved."""
        raise NotImplementedError

    def statement(self, ref: Node, ans: Node) -> Outcome:
        """Two relations or combinations of relations by `and` and `or`."""
        raise NotImplementedError

    def region(self, ref: Node, ans: Node) -> Outcome:
        """Two sets of real numbers, of which one is an interval, a union, a set builder or a statement."""
        raise NotImplementedError

    def compare(self, ref: Node, ans: Node) -> Outcome:
        """The whole comparison, readings as the parser gives them."""
        return self._settled(settle(ref), settle(ans))

    def _settled(self, ref: Node, ans: Node) -> Outcome:
        if ref == ans:
            return EQUAL
        if ref.head == "text" or ans.head == "text":
            return EQUAL if words(ref) == words(ans) else DIFFERENT
        if ref.head == "unit" or ans.head == "unit":
            return self._units(ref, ans)
        if ref.head != ans.head and ref.head in MARKS and ans.head in MARKS:
            return DIFFERENT
        if ref.head == "family" or ans.head == "family":
            return self._families(ref, ans)
        if {ref.head, ans.head} in ({"list", "or"}, {"list", "and"}) and len(ref.args) == len(ans.args):
            return self._unordered(ref.args, ans.args)
        if is_statement(ref) or is_statement(ans):
            return self._statements(ref, ans)
        # a set of one element is that element, be it a number or a tuple
        if ref.head == "set" and len(ref.args) == 1 and not is_region(ref) and ans.head not in ("set", "list"):
            ref = ref.args[0]
        elif ans.head == "set" and len(ans.args) == 1 and not is_region(ans) and ref.head not in ("set", "list"):
            ans = ans.args[0]
        if is_region(ref) or is_region(ans):
            return self._regions(ref, ans)
        if ref.head in _COLLECTIONS or ans.head in _COLLECTIONS:
            return self._collections(ref, ans)
        if ref.head == ans.head == "matrix":
            return self._matrices(ref, ans)
        if ref.head == ans.head == "cases":
            return self._matrices(ref, ans)
        if any(n.args and ELLIPSIS in n.args for side in (ref, ans) for n in walk(side)):
            # what the dots stand for is a guess
            return UNKNOWN
        return self.leaf(ref, ans)

    def _families(self, ref: Node, ans: Node) -> Outcome:
        """The same values for the same parameter; an answer and a reference may leave out that it is an integer."""
        if ref.head != ans.head:
            found, other = (ref, ans) if ref.head == "family" else (ans, ref)
            if found.name == "where" or is_region(other) or other.head in ("interval", "set", "family"):
                return UNKNOWN
            if found.name != INTEGERS:
                return DIFFERENT
            return self._settled(*(settle(n.args[0]) if n.head == "family" else n for n in (ref, ans)))
        if "where" in (ref.name, ans.name):
            return UNKNOWN
        if ref.name != ans.name:
            return DIFFERENT
        body, parameter = ans.args
        if parameter != ref.args[1]:
            if ref.args[1].name in symbols(body):
                return UNKNOWN
            body = renamed(body, parameter, ref.args[1])
        return self._settled(settle(ref.args[0]), settle(body))

    def _units(self, ref: Node, ans: Node) -> Outcome:
        if ref.head != ans.head and ref.head in MARKS and ans.head in MARKS:
            return self._angles(ref, ans)
        if ref.head != "unit":
            return self._settled(ref, ans.args[0])
        if ans.head != "unit":
            return self._settled(ref.args[0], ans)
        if ref.name == ans.name:
            return self._settled(ref.args[0], ans.args[0])
        ref_dimension, ref_size = math_unit.factor(ref.name)
        ans_dimension, ans_size = math_unit.factor(ans.name)
        if ref_dimension != ans_dimension:
            return DIFFERENT
        return self._settled(ref.args[0], Node("mul", (number(ans_size / ref_size), ans.args[0])))

    def _angles(self, ref: Node, ans: Node) -> Outcome:
        """A sign on one side and a unit on the other: degrees and radians measure the same, nothing else does."""
        if {ref.head, ans.head} != {"unit", "deg"}:
            return DIFFERENT
        if math_unit.factor((ref if ref.head == "unit" else ans).name) != math_unit.factor("rad^1"):
            return DIFFERENT
        # a product is no bare sign: the degrees are worked out, never left out
        bare = [n.args[0] if n.head == "unit" else Node("mul", (n, number(1))) for n in (ref, ans)]
        return self._settled(bare[0], bare[1])

    def _statements(self, ref: Node, ans: Node) -> Outcome:
        if is_statement(ref) and is_statement(ans):
            ref_value, ans_value = assigned(ref), assigned(ans)
            if ref_value is None or ans_value is None:
                return self.statement(ref, ans)
            if labels(ref) == labels(ans):
                return self._settled(settle(ref_value), settle(ans_value))
            return self.statement(ref, ans)
        stated, other = (ref, ans) if is_statement(ref) else (ans, ref)
        value = assigned(stated)
        if value is None and stated is ref:
            value = named_value(ref)
        if value is None:
            pair = other.head == "tuple" and len(other.args) == 2
            if is_region(other) or other.head in ("set", "interval") or (pair and stated.name != "="):
                return self.region(ref, ans)
            if stated is ref and ref.name == "=" and len(symbols(ref)) == 1 and not symbols(ans):
                # the reference is an equation, the answer its solutions
                return self.region(ref, ans if ans.head == "set" else Node("set", elements(ans)))
            return self._chain(ref, ans) if stated.head == "rel" else DIFFERENT
        value = settle(value)
        return self._settled(value, ans) if stated is ref else self._settled(ref, value)

    def _chain(self, ref: Node, ans: Node) -> Outcome:
        """`a = b = c` between constants stands for a value only where it is true; one side may be rounded after `~`."""
        stated, other = (ref, ans) if ref.head == "rel" else (ans, ref)
        names = stated.name.split()
        if set(names) - {"=", "~"}:
            return DIFFERENT
        exact = [stated.args[0], *(member for name, member in zip(names, stated.args[1:], strict=True) if name == "=")]
        outcomes = [
            self._settled(other, settle(m)) if stated is ans else self._settled(settle(m), other) for m in exact
        ]
        rough = [member for name, member in zip(names, stated.args[1:], strict=True) if name == "~"]
        return all_of(outcomes + [self.roughly(exact[0], member) for member in rough])

    def roughly(self, exact: Node, rough: Node) -> Outcome:
        """Whether `rough` can be meant as a rounding of `exact`."""
        raise NotImplementedError

    def _regions(self, ref: Node, ans: Node) -> Outcome:
        if ref.head == ans.head and ref.head in ("union", "inter") and len(ref.args) == len(ans.args):
            if self._unordered(ref.args, ans.args) is EQUAL:
                return EQUAL
        elif (
            ref.head == ans.head == "minus"
            and all_of([self._settled(r, a) for r, a in zip(ref.args, ans.args, strict=True)]) is EQUAL
        ):
            return EQUAL
        return self.region(ref, ans)

    def _collections(self, ref: Node, ans: Node) -> Outcome:
        heads = {ref.head, ans.head}
        if "matrix" in heads:
            column = vector(ref if ref.head == "matrix" else ans)
            plain = ans if ref.head == "matrix" else ref
            if column is None or plain.head not in ("tuple", "list") or len(column) != len(plain.args):
                return DIFFERENT
            pairs = (
                zip(column, plain.args, strict=True) if ref.head == "matrix" else zip(plain.args, column, strict=True)
            )
            return all_of([self._settled(settle(r), settle(a)) for r, a in pairs])
        if not heads <= _COLLECTIONS:
            return DIFFERENT
        if "interval" in heads:
            return self._intervals(ref, ans)
        if heads == {"tuple", "set"} or max(len(ref.args), len(ans.args)) > MAX_ELEMENTS:
            return DIFFERENT
        if heads == {"set"}:
            return self._same_set(ref.args, ans.args)
        if heads == {"list"} and len(ans.args) > len(ref.args):
            # an element said twice is said once
            return self._same_set(ref.args, ans.args)
        if len(ref.args) != len(ans.args):
            return DIFFERENT
        if "tuple" in heads or is_labelled(ref) != is_labelled(ans):
            return self._pairwise(ref.args, ans.args)
        return self._unordered(ref.args, ans.args)

    def _intervals(self, ref: Node, ans: Node) -> Outcome:
        """`(a, b)` is the open interval where the other side is an interval; `[a, b]` may be a list in brackets."""
        names = ["()" if n.head in ("tuple", "list") else n.name for n in (ref, ans)]
        plain = ref if ref.head != "interval" else ans
        if plain.head == "set" or len(plain.args) != 2 or plain.head == "list":
            return DIFFERENT
        if names[0] != names[1]:
            return DIFFERENT
        return self._pairwise(ref.args, ans.args)

    def _pairwise(self, ref: Sequence[Node], ans: Sequence[Node]) -> Outcome:
        return all_of([self._settled(settle(r), settle(a)) for r, a in zip(ref, ans, strict=True)])

    def _unordered(self, ref: Sequence[Node], ans: Sequence[Node]) -> Outcome:
        """Each element of the reference takes one element of the answer."""
        left = list(ans)
        unknown = False
        for element in ref:
            outcomes = [self._settled(settle(element), settle(other)) for other in left]
            if EQUAL in outcomes:
                del left[outcomes.index(EQUAL)]
            elif UNKNOWN in outcomes:
                unknown = True
            else:
                return DIFFERENT
        return UNKNOWN if unknown else EQUAL

    def _same_set(self, ref: Sequence[Node], ans: Sequence[Node]) -> Outcome:
        """Every element of either side stands on the other: repetition does not matter in a set."""
        grid = [[self._settled(settle(r), settle(a)) for a in ans] for r in ref]
        rows = [list(row) for row in grid] + [list(column) for column in zip(*grid, strict=True)]
        if not ref or not ans:
            return EQUAL if not ref and not ans else DIFFERENT
        return all_of([EQUAL if EQUAL in row else UNKNOWN if UNKNOWN in row else DIFFERENT for row in rows])

    def _matrices(self, ref: Node, ans: Node) -> Outcome:
        if len(ref.args) != len(ans.args):
            return DIFFERENT
        outcomes = []
        for ref_row, ans_row in zip(ref.args, ans.args, strict=True):
            if len(ref_row.args) != len(ans_row.args):
                return DIFFERENT
            outcomes += [self._settled(settle(r), settle(a)) for r, a in zip(ref_row.args, ans_row.args, strict=True)]
        return all_of(outcomes)


def is_labelled(node: Node) -> bool:
    """Whether a list names its elements, as `AB = 4, CD = 5` does."""
    return any(is_statement(a) for a in node.args)
