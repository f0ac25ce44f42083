"""Compare two readings by their kinds; what a leaf is worth is the stage's business.

Each pair of kinds that may meet has its rule here. A pair without a rule is different: a statement meets a solution
only where the reference is the statement.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_tuner.verify.math.dummy import with_names_of
from agentscope_tuner.verify.math.exact import exact_value
from agentscope_tuner.verify.math.names import has_factor, is_condition, label, named_value
from agentscope_tuner.verify.math.node import Node, symbols, walk
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, UNKNOWN, Outcome, all_of
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.reading import (
    Chain,
    Family,
    Grid,
    Listing,
    Named,
    Ratio,
    Reading,
    Region,
    Statement,
    Value,
    Wording,
)
from agentscope_tuner.verify.math.region import NotSolved, Pieces
from agentscope_tuner.verify.math.resolve import resolve
from agentscope_tuner.verify.math.same_family import renamed_to, same_family
from agentscope_tuner.verify.math.same_quantity import ratio_equation, same_quantity, same_ratio

MAX_ELEMENTS = 100
ELLIPSIS = Node("sym", (), "\\ldots")


class Comparer:
    """The rules by kinds. Subclasses decide leaves, statements and the order of ends.

    The reference always comes first: what may be left out (a unit, `x =`) is what the reference leaves out or the
    answer need not repeat.
    """

    question: Question | None = None

    def leaf(self, ref: Node, ans: Node) -> Outcome:
        """Two expressions without units."""
        raise NotImplementedError

    def statement(self, ref: Node, ans: Node) -> Outcome:
        """Two statements, at least one of them not solved."""
        raise NotImplementedError

    def solution(self, ref: Node, ans: Node) -> Outcome:
        """An equation or inequality of the reference and the set of reals that answers it."""
        raise NotImplementedError

    def region(self, ref: Node, ans: Node) -> Outcome:
        """Two solved sets of reals whose ends could not be put in order."""
        raise NotImplementedError

    def order(self, left: Node, right: Node) -> int:
        """-1, 0 or 1 as the first number is below, at or above the second.

        Raises:
            NotSolved: that is not known here.
        """
        raise NotImplementedError

    def roughly(self, exact: Node, rough: Node) -> Outcome:
        """Whether `rough` can be meant as a rounding of `exact`."""
        raise NotImplementedError

    def compare(self, ref: Reading, ans: Reading) -> Outcome:
        """The whole comparison."""
        if ref == ans:
            return EQUAL
        if isinstance(ref, Wording) or isinstance(ans, Wording):
            return EQUAL if _words(ref) == _words(ans) else DIFFERENT
        if isinstance(ref, Chain) or isinstance(ans, Chain):
            return self._chain(ref, ans)
        if isinstance(ref, Statement) or isinstance(ans, Statement):
            return self._statements(ref, ans)
        if isinstance(ref, Named) or isinstance(ans, Named):
            return self._named(ref, ans)
        if isinstance(ref, Family) or isinstance(ans, Family):
            return same_family(self, ref, ans)
        inner = _only_element(ref, ans)
        if inner is not None:
            return self.compare(*inner)
        if isinstance(ref, Region) or isinstance(ans, Region):
            return self._regions(ref, ans)
        if isinstance(ref, Ratio) or isinstance(ans, Ratio):
            return same_ratio(self, ref, ans)
        if isinstance(ref, Grid) or isinstance(ans, Grid):
            return self._grids(ref, ans)
        if isinstance(ref, Listing) or isinstance(ans, Listing):
            return self._listings(ref, ans)
        return self._values(ref.node, ans.node)

    def _values(self, ref: Node, ans: Node) -> Outcome:
        if "unit" in (ref.head, ans.head) or (ref.head != ans.head and {ref.head, ans.head} == {"percent", "deg"}):
            return same_quantity(self, ref, ans)
        if any(n.args and ELLIPSIS in n.args for side in (ref, ans) for n in walk(side)):
            # what the dots stand for is a guess
            return UNKNOWN
        return self.leaf(ref, with_names_of(ref, ans, self.question))

    def _chain(self, ref: Reading, ans: Reading) -> Outcome:
        chain = ans if isinstance(ans, Chain) else ref
        assert isinstance(chain, Chain)
        outcomes = [self.compare(ref, m) if chain is ans else self.compare(m, ans) for m in chain.exact]
        first = chain.exact[0]
        if chain.rough and not isinstance(first, Value):
            return DIFFERENT
        rough = [self.roughly(first.node, member) for member in chain.rough if isinstance(first, Value)]
        return all_of(outcomes + rough)

    def _statements(self, ref: Reading, ans: Reading) -> Outcome:
        """A statement of the answer meets a statement alone; one of the reference meets what solves it too."""
        if isinstance(ref, Statement) and isinstance(ans, Statement) and is_congruence(ref.node, ans.node):
            return self._congruences(ref.node, ans.node)
        if isinstance(ref, Statement) and isinstance(ans, (Statement, Named)):
            if isinstance(ans, Named) and not isinstance(ans.value, (Value, Ratio)):
                return self._solved(ref.node, ans.value)
            found = self.statement(ref.node, ans.node)
            if found is not DIFFERENT or not isinstance(ans, Named):
                return found
            return self._solved(ref.node, ans.value) if label(ans.name) == tuple(sorted(symbols(ref.node))) else found
        if isinstance(ref, Statement):
            value = named_value(ref.node)
            if value is not None:
                return self.compare(resolve(value), ans)
            if isinstance(ans, Listing) and ref.node.head in ("or", "and") and len(ans.items) == len(ref.node.args):
                return self.unordered(tuple(map(resolve, ref.node.args)), ans.items)
            return self._solved(ref.node, ans)
        if isinstance(ref, Named) and isinstance(ans, Statement) and _is_curve(ref):
            return self.statement(ref.node, ans.node)
        if isinstance(ref, Named) and isinstance(ans, Statement) and (equation := ratio_equation(ref)) is not None:
            return self.statement(equation, ans.node)
        if isinstance(ref, Listing) and isinstance(ans, Statement) and ans.node.head in ("or", "and"):
            parts = tuple(map(resolve, ans.node.args))
            return self.unordered(ref.items, parts) if len(parts) == len(ref.items) else DIFFERENT
        return DIFFERENT

    def _congruences(self, ref: Node, ans: Node) -> Outcome:
        """`x \\equiv 10 \\pmod 7` for `x \\equiv 3 \\pmod 7`."""
        (name, rest, modulus), (other_name, other_rest, other_modulus) = ref.args, ans.args
        whole = Node("div", (Node("add", (other_rest, Node("neg", (rest,)))), modulus))
        outcomes = [self.leaf(modulus, other_modulus), self.leaf(name, other_name)]
        value = exact_value(whole)
        return all_of([*outcomes, EQUAL if value is not None and value.denominator == 1 else DIFFERENT])

    def _solved(self, ref: Node, ans: Reading) -> Outcome:
        """The reference is an equation or an inequality in one unknown, the answer its solutions."""
        if len(symbols(ref)) != 1:
            return DIFFERENT
        if isinstance(ans, Region):
            own = {ans.name, None} - symbols(ref)
            return self.solution(ref, ans.node) if own <= {None} else DIFFERENT
        found = as_set(ans)
        if found is None or symbols(found):
            return DIFFERENT
        is_pair = isinstance(ans, Listing) and ans.kind == "tuple"
        return self.solution(ref, found) if is_pair != (ref.head == "rel" and ref.name == "=") else DIFFERENT

    def _named(self, ref: Reading, ans: Reading) -> Outcome:
        if not isinstance(ans, Named):
            assert isinstance(ref, Named)
            return self.compare(_points(ref, ans), ans)
        if not isinstance(ref, Named):
            return self.compare(ref, _points(ans, ref))
        if label(ref.name) == label(ans.name):
            value = _same_parameter(ref, ans)
            return DIFFERENT if value is None else self.compare(ref.value, value)
        if _is_curve(ref) and _is_curve(ans):
            return self.statement(ref.node, ans.node)
        return DIFFERENT

    def _regions(self, ref: Reading, ans: Reading) -> Outcome:
        if (
            isinstance(ans, Region)
            and has_factor(ans.node)
            and self.question is not None
            and self.question.has_inequality
        ):
            # `2x > 4` for `x > 2`: the question's own inequality, a step further
            return DIFFERENT
        if isinstance(ref, Listing) and ref.kind == "set" and isinstance(ans, Region) and is_condition(ans.node):
            # a set by its condition, for a set by its elements
            return DIFFERENT
        left, right = _as_region(ref), _as_region(ans)
        if left is None or right is None or (left.name != right.name and None not in (left.name, right.name)):
            return DIFFERENT
        if left.node.head == right.node.head and left.node.name == right.node.name:
            parts = zip(left.node.args, right.node.args, strict=False)
            same = len(left.node.args) == len(right.node.args) and left.node.head in ("interval", "minus")
            if same and all_of([self.compare(resolve(a), resolve(b)) for a, b in parts]) is EQUAL:
                return EQUAL
        pieces = Pieces(self.order)
        try:
            mine, theirs = pieces.of(left.node), pieces.of(right.node)
            same = len(mine) == len(theirs) and all(
                pieces.order(a.low, b.low) == 0 == pieces.order(a.high, b.high) and a[1::2] == b[1::2]
                for a, b in zip(mine, theirs, strict=True)
            )
            return EQUAL if same else DIFFERENT
        except NotSolved:
            return self.region(left.node, right.node)

    def _grids(self, ref: Reading, ans: Reading) -> Outcome:
        if isinstance(ref, Grid) and isinstance(ans, Grid):
            if ref.kind != ans.kind or list(map(len, ref.rows)) != list(map(len, ans.rows)):
                return DIFFERENT
            pairs = [(r, a) for rr, ar in zip(ref.rows, ans.rows, strict=True) for r, a in zip(rr, ar, strict=True)]
            return all_of([self.compare(r, a) for r, a in pairs])
        grid, other = (ref, ans) if isinstance(ref, Grid) else (ans, ref)
        assert isinstance(grid, Grid)
        if isinstance(other, Value) and grid.kind == "matrix":
            # a product of matrices, or a power of one
            return self.leaf(grid.node, other.node) if grid is ref else self.leaf(other.node, grid.node)
        column = _vector(grid)
        if column is None or not isinstance(other, Listing) or other.kind not in ("tuple", "list"):
            return DIFFERENT
        return self.pairwise(column, other.items) if grid is ref else self.pairwise(other.items, column)

    def _listings(self, ref: Reading, ans: Reading) -> Outcome:
        if not isinstance(ref, Listing) or not isinstance(ans, Listing):
            return DIFFERENT
        kinds = {ref.kind, ans.kind}
        if kinds == {"tuple", "set"} or max(len(ref.items), len(ans.items)) > MAX_ELEMENTS:
            return DIFFERENT
        if "named" in kinds:
            return self._by_names(ref, ans)
        if kinds == {"set"} or (kinds == {"list"} and len(ans.items) > len(ref.items)):
            # an element said twice is said once
            return self._same_set(ref.items, ans.items)
        if len(ref.items) != len(ans.items):
            return DIFFERENT
        if "tuple" in kinds or any(map(_is_named, ref.items)) != any(map(_is_named, ans.items)):
            return self.pairwise(ref.items, ans.items)
        return self.unordered(ref.items, ans.items)

    def _by_names(self, ref: Listing, ans: Listing) -> Outcome:
        if len(ref.items) != len(ans.items) or "set" in (ref.kind, ans.kind):
            return DIFFERENT
        if ref.kind == ans.kind:
            return self.unordered(ref.items, ans.items)
        if "tuple" in (ref.kind, ans.kind):
            ref, ans = (self._in_order(side) if side.kind == "named" else side for side in (ref, ans))
        return self.pairwise(ref.items, ans.items)

    def _in_order(self, listing: Listing) -> Listing:
        """The values of `y = 2, x = 1` in the order that the question gives its names, else in the alphabet's."""
        named = {label(i.name): i.value for i in listing.items if isinstance(i, Named)}
        known = self.question.names if self.question is not None else ()
        order = next((n for n in known if {(name,) for name in n} == named.keys()), None)
        return Listing("tuple", tuple(named[one] for one in ([(n,) for n in order] if order else sorted(named))))

    def pairwise(self, ref: Sequence[Reading], ans: Sequence[Reading]) -> Outcome:
        if len(ref) != len(ans):
            return DIFFERENT
        return all_of([self.compare(r, a) for r, a in zip(ref, ans, strict=True)])

    def unordered(self, ref: Sequence[Reading], ans: Sequence[Reading]) -> Outcome:
        """Each element of the reference takes one element of the answer."""
        left = list(ans)
        unknown = False
        for element in ref:
            outcomes = [self.compare(element, other) for other in left]
            if EQUAL in outcomes:
                del left[outcomes.index(EQUAL)]
            elif UNKNOWN in outcomes:
                unknown = True
            else:
                return DIFFERENT
        return UNKNOWN if unknown else EQUAL

    def _same_set(self, ref: Sequence[Reading], ans: Sequence[Reading]) -> Outcome:
        """Every element of either side stands on the other: repetition does not matter in a set."""
        grid = [[self.compare(r, a) for a in ans] for r in ref]
        rows = [list(row) for row in grid] + [list(column) for column in zip(*grid, strict=True)]
        if not ref or not ans:
            return EQUAL if not ref and not ans else DIFFERENT
        return all_of([EQUAL if EQUAL in row else UNKNOWN if UNKNOWN in row else DIFFERENT for row in rows])


def is_congruence(*nodes: Node) -> bool:
    return all(n.head == "rel" and n.name == "= pmod" for n in nodes)


def _words(reading: Reading) -> str:
    """A text answer as it is compared: lower case, without spaces and full stops."""
    if isinstance(reading, Wording):
        return "".join(reading.text.lower().split()).rstrip(".")
    if isinstance(reading, Value) and reading.node.head in ("sym", "num"):
        return reading.node.name.lower()
    return f"<{reading}>"


def _is_named(reading: Reading) -> bool:
    return isinstance(reading, (Named, Statement, Region))


def _is_curve(named: Named) -> bool:
    """Whether `y = 2x` relates its name to other symbols, so that other equations may say the same."""
    values = named.value.items if isinstance(named.value, Listing) else (named.value,)
    free = [symbols(v.node) for v in values if isinstance(v, Value)]
    return named.name.head in ("sym", "call") and len(free) == len(values) and all(free)


def _points(named: Named, other: Reading) -> Reading:
    """The values behind a name: as points of the line, where the other side is a region of the same unknown."""
    found = as_set(named.value) if isinstance(other, Region) and label(named.name) == (other.name,) else None
    return (
        named.value
        if found is None or symbols(found)
        else Region(found, other.name if isinstance(other, Region) else None)
    )


def _same_parameter(ref: Named, ans: Named) -> Reading | None:
    """The answer's value with the reference's names for a function's arguments: `f(x) = x` for `f(n) = n`."""
    mine, theirs = ref.name, ans.name
    if mine.head != "call" or theirs.head != "call" or mine.args == theirs.args or not isinstance(ans.value, Value):
        return ans.value
    names = {*mine.args, *theirs.args}
    if len(mine.args) != len(theirs.args) or any(n.head != "sym" for n in names):
        return ans.value
    if any(n.name in symbols(ans.value.node) for n in mine.args if n not in theirs.args):
        return None
    return resolve(renamed_to(ans.value.node, mine.args, theirs.args))


def _only_element(ref: Reading, ans: Reading) -> tuple[Reading, Reading] | None:
    """A set of one element is that element where the other side is no set."""
    if isinstance(ref, Listing) and ref.kind == "set" and len(ref.items) == 1 and not _is_collection(ans):
        return ref.items[0], ans
    if isinstance(ans, Listing) and ans.kind == "set" and len(ans.items) == 1 and not _is_collection(ref):
        return ref, ans.items[0]
    return None


def _is_collection(reading: Reading) -> bool:
    return isinstance(reading, Region) or (isinstance(reading, Listing) and reading.kind in ("set", "list"))


def as_set(reading: Reading) -> Node | None:
    """Values as the set that they are, a pair as an interval."""
    if isinstance(reading, Value):
        return Node("set", (reading.node,))
    if not isinstance(reading, Listing) or not all(isinstance(i, Value) for i in reading.items):
        return None
    nodes = tuple(i.node for i in reading.items if isinstance(i, Value))
    if reading.kind == "tuple":
        return Node("interval", nodes, "()") if len(nodes) == 2 else None
    return Node("set", nodes)


def _as_region(reading: Reading) -> Region | None:
    if isinstance(reading, Region):
        return reading
    found = as_set(reading) if isinstance(reading, Listing) and reading.kind in ("tuple", "set") else None
    return None if found is None else Region(found)


def _vector(grid: Grid) -> tuple[Reading, ...] | None:
    """The entries of a matrix with a single row or column."""
    if len(grid.rows) == 1:
        return grid.rows[0]
    if all(len(row) == 1 for row in grid.rows):
        return tuple(row[0] for row in grid.rows)
    return None
