"""Lists, families, sets of real numbers and quantities: the comparisons of each kind of reading."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Protocol, TypeGuard

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import asking_clause, asks_count, same_word
from agentscope_tuner.verify.math.canonical import key
from agentscope_tuner.verify.math.exact import exact_value
from agentscope_tuner.verify.math.node import (
    DIFFERENT,
    EQUAL,
    INFINITY,
    UNKNOWN,
    Apply,
    Array,
    Collection,
    Connective,
    Degrees,
    Interval,
    Negation,
    Node,
    Number,
    Outcome,
    Percent,
    Power,
    Product,
    Quantity,
    Quotient,
    Relation,
    SetBuilder,
    SetOperation,
    Symbol,
    T,
    Text,
    UndefinedCall,
    Unit,
    all_known,
    all_of,
    is_collection,
    is_symbol,
    literal,
    number,
    product_of,
    renamed,
    substituted,
    symbols,
    walk,
)
from agentscope_tuner.verify.math.parameters import LETTERS
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.readings import (
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
    is_listing,
    resolve,
)
from agentscope_tuner.verify.math.sets import (
    NotSolved,
    Pieces,
    has_factor,
    is_condition,
    is_name,
    label,
)
from agentscope_tuner.verify.math.tokens import INTEGERS
from agentscope_tuner.verify.math.units import UNIT_LETTERS, PhysicalUnit, is_money, is_physical, known, measure

MAX_ELEMENTS = 100


class Leaves(Protocol):
    """The interface of an object that compares two expressions without units, such as `CheapComparer`."""

    question: Question | None

    def leaf(self, ref: Node, ans: Node) -> Outcome: ...


class Comparing(Leaves, Protocol):
    """The interface of an object that also compares two readings and two regions, and orders two numbers."""

    def compare(self, ref: Reading, ans: Reading) -> Outcome: ...

    def order(self, left: Node, right: Node) -> int: ...

    def region(self, ref: Node, ans: Node) -> Outcome: ...


def listings(comparer: Comparing, ref: Reading, ans: Reading) -> Outcome:
    """Compare two listings, element by element: `2, 1` for `1, 2`, but not `(2, 1)` for `(1, 2)`.

    The order counts in a tuple, and in a list if the question asks for an order. Repetition does not count in a set.
    """
    if not isinstance(ref, Listing) or not isinstance(ans, Listing):
        return DIFFERENT
    kinds = {ref.kind, ans.kind}
    if kinds == {"tuple", "set"} or max(len(ref.items), len(ans.items)) > MAX_ELEMENTS:
        return DIFFERENT
    if "named" in kinds:
        return _by_names(comparer, ref, ans)
    ordered = (comparer.question is not None and comparer.question.orders(len(ref.items))) or _repeats_letter(ref)
    repeats = kinds == {"list"} and len(ans.items) > len(ref.items)
    if kinds == {"set"} or (repeats and not ordered and not _repeats(comparer, ref)):
        # Repeating an element does not change a set
        return _same_set(comparer, ref.items, ans.items)
    if len(ref.items) != len(ans.items):
        return DIFFERENT
    if "tuple" in kinds:
        return pairwise(comparer, ref.items, ans.items)
    if ordered:
        return pairwise(comparer, ref.items, _as_asked(comparer, ans))
    return unordered(comparer.compare, ref.items, ans.items)


def _repeats(comparer: Comparing, listing: Listing) -> bool:
    """Whether the listing has two equal elements, as in `2, 2, 3`, which lists a double root twice."""
    return any(comparer.compare(*two) is EQUAL for two in itertools.combinations(listing.items, 2))


def _repeats_letter(listing: Listing) -> bool:
    """Whether all elements are letters or words and one occurs twice: `T, F, F` answers several questions in order."""
    found = [
        i
        for i in listing.items
        if isinstance(i, Wording) or (isinstance(i, Value) and isinstance(i.node, Symbol | Text))
    ]
    return len(found) == len(listing.items) > len(set(found))


def _by_names(comparer: Comparing, ref: Listing, ans: Listing) -> Outcome:
    """Compare two listings, at least one with names for its elements: `y=2, x=1` for `(1, 2)`."""
    if ref.kind == "set" and (values := _roots(ans, comparer.question)) is not None:
        return _same_set(comparer, ref.items, values)
    if (
        ans.kind in ("set", "list")
        and (roots := _numbered(ref)) is not None
        and _is_one_unknown(ref, comparer.question)
    ):
        return unordered(comparer.compare, roots, ans.items) if len(roots) == len(ans.items) else DIFFERENT
    if len(ref.items) != len(ans.items) or "set" in (ref.kind, ans.kind):
        return DIFFERENT
    if ref.kind == ans.kind:
        ours, others = _numbered(ref), _numbered(ans)
        if ours is not None and others is not None and not _are_unknowns(ref, comparer.question):
            return unordered(comparer.compare, ours, others)
        return unordered(comparer.compare, ref.items, ans.items)
    if ref.kind == "list" and (values := _roots(ans, comparer.question)) is not None:
        in_order = comparer.question is not None and comparer.question.rises is not None
        if in_order or _are_unknowns(ans, comparer.question):
            return pairwise(comparer, ref.items, values)
        return unordered(comparer.compare, ref.items, values)
    mine: Sequence[Reading] = ref.items
    theirs: Sequence[Reading] = ans.items
    if "tuple" in (ref.kind, ans.kind):
        # The values of a reference `(n, k) = (5, 2)` are in its own order
        mine = tuple(i.value if isinstance(i, Named) else i for i in mine) if ref.kind == "named" else mine
        theirs = _in_order(comparer, ans) if ans.kind == "named" else theirs
    elif ans.kind == "named" and not all(isinstance(one, Named) for one in mine):
        theirs = _as_asked(comparer, ans)
    return pairwise(comparer, mine, theirs)


def _as_asked(comparer: Comparing, listing: Listing) -> Sequence[Reading]:
    """The elements of a listing in the order in which the question asks for them.

    For `the quotient and the remainder`, `remainder = 5, quotient = 7` becomes 7, 5. An element is recognised by its
    name, by the first letter of a word (`q = 7`), or by its unit. If two or more are not recognised, the elements keep
    their own order.
    """
    parts = comparer.question.parts(len(listing.items)) if comparer.question is not None else ()
    found: dict[int, Reading] = {}
    rest: list[Reading] = []
    for item in listing.items if parts else ():
        match item:
            case Named(name, value):
                said, inside = next(iter(label(name)), "").lower(), value
            case Value(Quantity(_, ((unit, _), *_))):
                said, inside = unit.lower(), item
            case _:
                said, inside = "", item
        at = [place for place, part in enumerate(parts) if _names_part(said, part)]
        if len(at) == 1:
            found[at[0]] = inside
        else:
            rest.append(inside)
    if not found or len(rest) > 1 or len(found) + len(rest) < len(parts):
        return listing.items
    return [found[place] if place in found else rest[0] for place in range(len(parts))]


def _names_part(name: str, part: str) -> bool:
    """Whether a name is one of the question's words for a part, or its first letter: `q` for `the quotient`."""
    words = re.findall(r"[^\W\d_]+", part)
    return name in words or (any(word[0] == name for word in words) if len(name) == 1 else name != "" and name in part)


def _numbered(listing: Listing) -> tuple[Reading, ...] | None:
    """The values of `x_1 = 2, x_2 = 3` in the order of their numbers, which begin at 1; None for any other listing."""
    named = {label(i.name): i.value for i in listing.items if isinstance(i, Named)}
    letters = {names[0].partition("_")[0] for names in named if names}
    counted = [(f"{letter}_{at}",) for letter in letters for at in range(1, len(listing.items) + 1)]
    return tuple(named[one] for one in counted) if len(letters) == 1 and named.keys() == set(counted) else None


def _roots(listing: Listing, question: Question | None) -> tuple[Reading, ...] | None:
    r"""The values of numbered names, `x_1=2, x_2=3`, or of `\alpha=2, \beta=3` as names of roots.

    Greek letters name roots if the question asks for roots and does not have these letters. None for other listings.
    """
    if (values := _numbered(listing)) is not None or question is None:
        return values
    named = {label(i.name): i.value for i in listing.items if isinstance(i, Named)}
    letters = _GREEK_ROOTS[: len(listing.items)]
    if named.keys() != {(one,) for one in letters} or not _ASKS_ROOTS.search(question.text):
        return None
    if any(one in question.text or sign in question.text for one, sign in zip(letters, "αβγ", strict=False)):
        return None
    return tuple(named[(one,)] for one in letters)


_ASKS_ROOTS = re.compile(
    r"root|solution|solve|zeros?\b|eigenv|nullst|lösung|racine|raíc|raíz|radic|soluz|корн|решен|根|解|근", re.IGNORECASE
)
_GREEK_ROOTS = ("\\alpha", "\\beta", "\\gamma")


def _are_unknowns(listing: Listing, question: Question | None) -> bool:
    """Whether numbered names are separate unknowns: the question has their letter, and always with a number.

    In a question about `x^2-5x+6=0` the names of `x_1=2, x_2=3` are roots of the one unknown x, in any order.
    """
    found = _index_marks(listing, question)
    return bool(found) and all(found)


def _is_one_unknown(listing: Listing, question: Question | None) -> bool:
    """Whether numbered names are roots of one unknown, which the question has without a number or not at all."""
    return not _are_unknowns(listing, question)


def _index_marks(listing: Listing, question: Question | None) -> list[str]:
    """For each occurrence of the numbered names' letter in the question: `_` if an index follows, else an empty text.

    "_" and "" for the names `x_1=2, x_2=3` and the question `x_1>x`.
    """
    letter = re.escape(next(iter(label(i.name) for i in listing.items if isinstance(i, Named)))[0].partition("_")[0])
    return re.findall(rf"(?<![a-zA-Z\\]){letter}(?![a-zA-Z])\s*(_?)", question.text) if question is not None else []


def _in_order(comparer: Comparing, listing: Listing) -> list[Reading]:
    """The values of `y = 2, x = 1` in the order of the names in the question, else in alphabetical order."""
    named = {label(i.name): i.value for i in listing.items if isinstance(i, Named)}
    asked = [
        [(name,) for name in names] for names in (comparer.question.names if comparer.question is not None else ())
    ]
    # `\theta` is sorted behind r
    spelled = sorted(named, key=lambda name: [part.lstrip("\\") for part in name])
    return [named[one] for one in next((order for order in asked if set(order) == named.keys()), spelled)]


def grids(comparer: Comparing, ref: Reading, ans: Reading) -> Outcome:
    """Compare two readings, at least one of which is a matrix, a table or a definition by cases.

    Matrices are compared entry by entry, and cases in any order. A matrix with one row or column may be answered by a
    tuple or a list, and an identity matrix by I.
    """
    if isinstance(ref, Grid) and isinstance(ans, Grid):
        if ref.node.kind == ans.node.kind == "cases" and _same_function(comparer, ref, ans):
            return EQUAL
        if ref.node.kind != ans.node.kind or list(map(len, ref.rows)) != list(map(len, ans.rows)):
            return DIFFERENT
        if ref.node.kind == "cases":
            # A definition may list its cases in any order
            return unordered(comparer.compare, *([Listing("tuple", row) for row in side.rows] for side in (ref, ans)))
        pairs = [(r, a) for rr, ar in zip(ref.rows, ans.rows, strict=True) for r, a in zip(rr, ar, strict=True)]
        return all_of([comparer.compare(r, a) for r, a in pairs])
    grid, other = (ref, ans) if isinstance(ref, Grid) else (ans, ref)
    assert isinstance(grid, Grid)
    if isinstance(other, Value) and isinstance(other.node, Symbol) and grid.node.kind == "matrix":
        return EQUAL if _is_unit_matrix(grid.node, other.node.name) else DIFFERENT
    if isinstance(other, Value) and grid.node.kind == "matrix":
        # The other side may be a product or a power of matrices, which has a matrix value
        return comparer.leaf(grid.node, other.node) if grid is ref else comparer.leaf(other.node, grid.node)
    # the entries of a matrix with a single row or column
    column = grid.rows[0] if len(grid.rows) == 1 else tuple(itertools.chain(*grid.rows))
    if not {1} & {len(grid.rows), *map(len, grid.rows)} or not is_listing(other, "tuple", "list"):
        return DIFFERENT
    return pairwise(comparer, column, other.items) if grid is ref else pairwise(comparer, other.items, column)


_Piece = tuple[Node, Node]
_HOLDS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "!=": operator.ne
}  # fmt: skip


def _same_function(comparer: Comparing, ref: Grid, ans: Grid) -> bool:
    """Whether two definitions by cases give the same function, although `x > 0` in one may be `x >= 0` in the other.

    They are compared at each end of a case, where pieces must meet in one value, and between the ends.
    """
    names = {cell.name for grid in (ref, ans) for row in grid.rows for cell in row if isinstance(cell, Region)}
    letters = names - {None}
    mine, theirs = _pieces(ref), _pieces(ans)
    if len(letters) != 1 or mine is None or theirs is None:
        return False
    name = letters.pop() or ""
    ends = sorted(
        {end for _, condition in (*mine, *theirs) for end in map(literal, walk(condition)) if end is not None}
    )
    if not ends:
        return False
    between = [ends[0] - 1, *((a + b) / 2 for a, b in itertools.pairwise(ends)), ends[-1] + 1]
    try:
        return all(_same_at(comparer, (mine, theirs), name, at, is_end=at in ends) for at in (*between, *ends))
    except NotSolved:
        return False


def _same_at(
    comparer: Comparing, sides: tuple[list[_Piece], list[_Piece]], name: str, at: Fraction, *, is_end: bool
) -> bool:
    """Whether two definitions by cases agree at a number.

    Args:
        comparer: compares the formulas that hold there.
        sides: the cases of both definitions.
        name: the unknown.
        at: its value.
        is_end: the number is an end of a case; then the values must be equal, else the formulas.
    """
    held = [[value for value, condition in side if _holds_at(condition, name, at)] for side in sides]
    if not held[0] or not held[1]:
        return held[0] == held[1]
    if not is_end:
        return all(comparer.leaf(mine, theirs) is EQUAL for mine in held[0] for theirs in held[1])
    values = {exact_value(substituted(value, name, number(at))) for side in held for value in side}
    return len(values) == 1 and None not in values


def _pieces(grid: Grid) -> list[_Piece] | None:
    """The value and the condition of each case in a definition by cases: x and `x > 0`.

    None if a case has a different form, such as no condition.
    """
    found: list[_Piece] = []
    for row in grid.rows:
        match row:
            case (Value(value), Region(condition) | Named(Symbol(), Value(), condition)):
                found.append((value, condition))
            case _:
                return None
    return found


def _holds_at(condition: Node, name: str, at: Fraction) -> bool:
    """Whether the number `at` meets a condition for the unknown `name`: 2 meets `1 < x < 3`.

    Raises:
        NotSolved: the condition does not only compare the unknown with numbers.
    """
    match condition:
        case Relation(args, signs):
            values = [at if is_symbol(one, name) else literal(one) for one in args]
            known = all_known(values)
            if known is None or not set(signs) <= _HOLDS.keys():
                raise NotSolved
            return all(_HOLDS[sign](a, b) for sign, (a, b) in zip(signs, itertools.pairwise(known), strict=True))
        case Connective("or" | "and" as joins, args):
            return (any if joins == "or" else all)(_holds_at(one, name, at) for one in args)
        case SetOperation("difference", (Symbol("\\mathbb{R}"), inside)):
            return not _holds_at(inside, name, at)
    raise NotSolved


def _is_unit_matrix(matrix: Array, name: str) -> bool:
    """Whether the matrix is the identity matrix of this name: `I`, `E`, or with its size `I_2`."""
    letter, _, size = name.partition("_")
    cells = [(at == across, cell) for at, row in enumerate(matrix.rows) for across, cell in enumerate(row)]
    is_unit = len(cells) == len(matrix.rows) ** 2 and all(literal(cell) == int(one) for one, cell in cells)
    return letter in ("I", "E") and is_unit and size in ("", str(len(matrix.rows)))


def pairwise(comparer: Comparing, ref: Sequence[Reading], ans: Sequence[Reading]) -> Outcome:
    """Compare two sequences in order, the first element with the first; DIFFERENT if one is longer."""
    if len(ref) != len(ans):
        return DIFFERENT
    return all_of([comparer.compare(r, a) for r, a in zip(ref, ans, strict=True)])


def unordered(compare: Callable[[T, T], Outcome], ref: Sequence[T], ans: Sequence[T]) -> Outcome:
    """Whether each element of the reference is equal to a different element of the answer: `2, 1` for `1, 2`.

    Elements of the answer that are left over do not count.
    """
    left = list(ans)
    unknown = False
    for element in ref:
        outcomes = [compare(element, other) for other in left]
        if EQUAL in outcomes:
            del left[outcomes.index(EQUAL)]
        elif UNKNOWN in outcomes:
            unknown = True
        else:
            return DIFFERENT
    return UNKNOWN if unknown else EQUAL


def _same_set(comparer: Comparing, ref: Sequence[Reading], ans: Sequence[Reading]) -> Outcome:
    """Whether each element of either side is equal to an element of the other: `1, 1, 2` and `1, 2`."""
    # a set is not equal to a number in a set: `\\{1\\}` may be 1 only as a whole answer
    if not ref or not ans:
        return EQUAL if not ref and not ans else DIFFERENT
    return _matched(
        [
            [comparer.compare(r, a) if is_listing(r, "set") == is_listing(a, "set") else DIFFERENT for a in ans]
            for r in ref
        ]
    )


def _rationals_in(node: Node) -> Interval | None:
    r"""The interval whose rational numbers a set holds: `(0,1)` for `\mathbb{Q}\cap(0,1)`; None for any other set."""
    match node:
        case SetOperation("intersection", (Symbol("\\mathbb{Q}"), Interval() as inside)):
            return inside
        case SetOperation("intersection", (Symbol("\\mathbb{Q}"), Collection("tuple", (low, high)))):
            return Interval(low, high, low_in=False, high_in=False)
    return None


def _matched(grid: Sequence[Sequence[Outcome]]) -> Outcome:
    """EQUAL if every row and every column of outcomes holds an EQUAL.

    A row is an element of one set compared with all elements of the other set, so EQUAL means that the sets are equal.
    """
    rows = [*grid, *zip(*grid, strict=True)]
    return all_of([EQUAL if EQUAL in row else UNKNOWN if UNKNOWN in row else DIFFERENT for row in rows])


def same_family(comparer: Comparing, ref: Reading, ans: Reading) -> Outcome:
    r"""Compare two families of values: `n\pi, n \in \mathbb{Z}` for `k\pi, k \in \mathbb{Z}`.

    The answer's parameter is renamed to the reference's. One side may leave out `k \in \mathbb{Z}`.
    """
    if not isinstance(ref, Family) or not isinstance(ans, Family):
        found, other = (ref, ans) if isinstance(ref, Family) else (ans, ref)
        assert isinstance(found, Family)
        values = found.range
        apart = isinstance(other, Region) and values.parameter not in symbols(other.node)
        if values.parameter is None or apart or is_listing(other, "set"):
            return UNKNOWN
        if values.field != INTEGERS and values.parameter not in symbols(values.body):
            return DIFFERENT
        return comparer.compare(*(side.body if isinstance(side, Family) else side for side in (ref, ans)))
    mine, theirs = ref.range, ans.range
    if mine.parameter is None or theirs.parameter is None:
        return UNKNOWN
    if mine.field != theirs.field:
        return DIFFERENT
    if theirs.parameter != mine.parameter and mine.parameter in symbols(theirs.body):
        return UNKNOWN
    body = renamed(theirs.body, theirs.parameter, mine.parameter)
    if (symbols(body) - symbols(mine.body)) & LETTERS:
        return DIFFERENT
    return comparer.compare(ref.body, resolve(body))


def regions(comparer: Comparing, ref: Reading, ans: Reading) -> Outcome:
    """Compare two sets of real numbers, such as intervals and solved inequalities: `1 < x < 2` for `(1, 2)`."""
    if isinstance(ans, Region) and comparer.question is not None and has_factor(ans.node):
        # The answer `2x > 4` for `x > 2` is a step of work, not the solution
        return DIFFERENT
    if is_listing(ref, "set") and isinstance(ans, Region) and is_condition(ans.node):
        # A condition does not answer a question whose reference lists the elements
        return DIFFERENT
    left, right = _as_region(ref), _as_region(ans)
    if left is None or right is None or (left.name != right.name and None not in (left.name, right.name)):
        return DIFFERENT
    if _is_same_shape(left.node, right.node):
        parts = zip(left.node.args, right.node.args, strict=True)
        found = all_of([comparer.compare(resolve(a), resolve(b)) for a, b in parts])
        if found is EQUAL:
            return EQUAL
    mine_of, theirs_of = _rationals_in(left.node), _rationals_in(right.node)
    if mine_of is not None and theirs_of is not None:
        return regions(comparer, resolve(mine_of), resolve(theirs_of))
    if (mine_of is None) != (theirs_of is None) and isinstance(left.node if mine_of is None else right.node, Interval):
        # an interval has irrational numbers, too
        return DIFFERENT
    if _letters(left) or _letters(right):
        # Only their ends can be compared: a letter in an end is not the unknown of the set
        return _same_ends(comparer, _interval(left.node), _interval(right.node))
    pieces = Pieces(comparer.order)
    try:
        mine, theirs = pieces.of(left.node), pieces.of(right.node)
        if any(is_listing(side, "tuple") and not found for side, found in ((ref, mine), (ans, theirs))):
            # `(4, -2)` is a pair, not an empty interval
            return DIFFERENT
        same = len(mine) == len(theirs) and all(
            pieces.order(a.low, b.low) == 0 == pieces.order(a.high, b.high) and a[1::2] == b[1::2]
            for a, b in zip(mine, theirs, strict=True)
        )
        return EQUAL if same else DIFFERENT
    except NotSolved:
        return comparer.region(left.node, right.node)


def _letters(region: Region) -> frozenset[str]:
    """The letters of a set other than its unknown: a in `x \\in (a, 2a)`; empty if the unknown is not known."""
    builders = [n for n in walk(region.node) if isinstance(n, SetBuilder)]
    unknowns = frozenset({region.name} if region.name else ()).union(*(symbols(b.element) for b in builders))
    if any(isinstance(n, UndefinedCall) for n in walk(region.node)):
        return frozenset()
    related = any(isinstance(n, Relation) for n in walk(region.node))
    if related and region.name is None and not builders:
        return frozenset()
    return symbols(region.node) - unknowns


def _interval(node: Node) -> Node:
    """A solved inequality as an interval: `[1, 2)` for `1 <= x < 2`. Any other set as it is; `x > 2` as `2 < x`."""
    match node:
        case Relation(args, (">" | ">=", *_) as signs):
            turned = Relation(args[::-1], tuple(sign.replace(">", "<") for sign in reversed(signs)))
            return _interval(turned) if {sign[0] for sign in signs} == {">"} else node
        case Relation((low, Symbol(), high), (("<" | "<=") as first, ("<" | "<=") as second)):
            return Interval(low, high, first == "<=", second == "<=")
        case Relation((Symbol(), high), ("<" | "<=" as sign,)):
            return Interval(Negation(INFINITY), high, False, "=" in sign)
        case Collection("tuple", (low, high)):
            return Interval(low, high, False, False)
    return node


def _same_ends(comparer: Comparing, left: Node, right: Node) -> Outcome:
    """Compare two intervals, or unions of intervals, end by end; DIFFERENT for any other nodes."""
    match left, right:
        case Interval(), Interval():
            if (left.low_in, left.high_in) != (right.low_in, right.high_in):
                return DIFFERENT
        case SetOperation(), SetOperation():
            if left.operator != right.operator or len(left.args) != len(right.args):
                return DIFFERENT
            return _matched([[_same_ends(comparer, _interval(a), _interval(b)) for b in right.args] for a in left.args])
        case _:
            return DIFFERENT
    return all_of([comparer.compare(resolve(a), resolve(b)) for a, b in zip(left.args, right.args, strict=True)])


def same_bounds(comparer: Comparing, ref: Reading, ans: Reading) -> Outcome | None:
    r"""Compare an inequality whose ends have letters with a set or an inequality; None for any other pair.

    `a<x<2a`, `\{x \mid a<x<2a\}`, `x\in(a,2a)` and `(a,2a)` are the same set. The unknown is the one that a side
    names, else the only letter that just one side has.
    """
    sides = [_bounds_of(side) for side in (ref, ans)]
    if None in sides or not any(isinstance(side, Statement) for side in (ref, ans)):
        return None
    (mine, own), (theirs, other) = (side for side in sides if side is not None)
    found = frozenset(one for one in (own, other) if one)
    if not found and isinstance(ref, Statement) != isinstance(ans, Statement):
        found = symbols(mine) ^ symbols(theirs)
    if len(found) != 1:
        return None
    unknown = next(iter(found))
    letters = comparer.question.letters if comparer.question is not None and len(unknown) == 1 else frozenset()
    if not (own or other) and unknown not in letters and letters - symbols(mine) - _WORDS:
        # the question has a different unknown
        return None
    solved = [_solved_for(node, unknown) for node in (mine, theirs)]
    return None if solved[0] is None or solved[1] is None else _same_ends(comparer, solved[0], solved[1])


# Letters that are words of English
_WORDS = frozenset({"a", "I", "A"})


def _bounds_of(side: Reading) -> tuple[Node, str] | None:
    r"""The inequality or the set of one side, and its unknown if it is named.

    `(a,2a)` and x for `x\in(a,2a)`; the inequality and an empty text for `a<x<2a`. None for any other reading.
    """
    match side:
        case Statement(Collection("set", (SetBuilder(Symbol(unknown), condition),))):
            return condition, unknown
        case Statement(
            Collection("set", (SetBuilder(Relation((Symbol(unknown), Symbol("\\mathbb{R}")), ("in",)), condition),))
        ):
            return condition, unknown
        case Statement(Relation() | Connective("or")):
            return side.node, ""
        case Named(Symbol(unknown), Region(node)):
            return node, unknown
    whole = _as_region(side)
    return None if whole is None or whole.name else (whole.node, "")


def _solved_for(node: Node, unknown: str) -> Node | None:
    """The intervals of a statement that is solved for an unknown: `(a, 2a)` for `a < x < 2a`.

    A set without the unknown is returned as an interval, too. None for any other node, such as `2x > a`.
    """
    match node:
        case Connective("or", args):
            parts = all_known(_solved_for(arg, unknown) for arg in args)
            return None if parts is None else SetOperation("union", tuple(parts))
        case Relation((Symbol(name), whole), ("in",)) if name == unknown:
            return _solved_for(whole, unknown)
        case Relation(args, signs) if {sign[0] for sign in signs} == {">"}:
            return _solved_for(Relation(args[::-1], tuple(sign.replace(">", "<") for sign in signs[::-1])), unknown)
        case Relation(args, signs) if set(signs) <= {"<", "<="} and args.count(Symbol(unknown)) == 1:
            at = args.index(Symbol(unknown))
            low, high = args[:at], args[at + 1 :]
            if len(low) > 1 or len(high) > 1 or any(unknown in symbols(end) for end in (*low, *high)):
                return None
            ends = (low or (Negation(INFINITY),))[0], (high or (INFINITY,))[0]
            return Interval(*ends, bool(low) and signs[0] == "<=", bool(high) and signs[-1] == "<=")
        case Relation():
            return None
    return None if unknown in symbols(node) else _interval(node)


def _is_same_shape(left: Node, right: Node) -> bool:
    """Whether both are intervals of the same kind (open, closed, half-open), or both are differences of two sets."""
    match left, right:
        case Interval(), Interval():
            return (left.low_in, left.high_in) == (right.low_in, right.high_in)
        case SetOperation("difference"), SetOperation("difference"):
            return True
    return False


def as_set(reading: Reading) -> Node | None:
    r"""A value or a listing as a set, `\{1, 2\}` for `1, 2`, and a pair as an open interval; else None."""
    if isinstance(reading, Value):
        return Collection("set", (reading.node,))
    if not isinstance(reading, Listing) or not all(isinstance(i, Value) for i in reading.items):
        return None
    nodes = tuple(i.node for i in reading.items if isinstance(i, Value))
    if reading.kind == "tuple":
        return Interval(*nodes, low_in=False, high_in=False) if len(nodes) == 2 else None
    return Collection("set", nodes)


def _as_region(reading: Reading) -> Region | None:
    """A set, or a tuple of two values as an open interval; None for any other reading, also for a plain list."""
    if isinstance(reading, Region):
        return reading
    found = as_set(reading) if is_listing(reading, "tuple", "set") else None
    return None if found is None else Region(found)


def points(named: Named, other: Reading) -> Reading:
    r"""The value of a name: 2 for `x = 2`. It is a set, `\{2\}`, if the other side is a region of the same unknown."""
    if not isinstance(other, Region) or label(named.name) != (other.name,):
        return named.value
    found = as_set(named.value)
    return named.value if found is None or symbols(found) else Region(found, other.name)


_MINUTES, _HOURS = 60, 24
# The seconds in the time units of a rate: a second, a minute, an hour, a day, a week
_SPANS = frozenset({1, 60, 3_600, 86_400, 604_800})
_YEN, _YUAN = (("yen", 1),), (("yuan", 1),)
_RADIAN = (("rad", 1),)


def same_quantity(leaves: Leaves, ref: Node, ans: Node) -> Outcome:
    r"""Compare two expressions, at least one with a unit: `2000 \text{ m}` for `2 \text{ km}`.

    One side may leave its unit out; two units must convert into each other.
    """
    if isinstance(ref, Degrees) or isinstance(ans, Degrees):
        return _angles(leaves, ref, ans)
    if isinstance(ref, Percent) or isinstance(ans, Percent):
        return DIFFERENT
    match _with_letter(ref, ans), _with_letter(ans, ref):
        case Quantity(mine, unit), Quantity(theirs, other):
            if unit != other:
                unit, other = (_without_substance(one, leaves.question) for one in (unit, other))
            amount = unit == other or _is_asked_amount(unit, other, leaves.question)
            return leaves.leaf(mine, theirs) if amount else _converted(leaves, mine, unit, theirs, other)
        case Quantity(mine), bare:
            return leaves.leaf(mine, bare)
        case _, Quantity(_, other) if leaves.question and _is_unasked_rate(other, leaves.question):
            return DIFFERENT
        case bare, Quantity(theirs, other) if _may_be_left_out(other, leaves.question):
            return leaves.leaf(bare, theirs) if _is_asked(other, leaves.question) else DIFFERENT
    return DIFFERENT


def _without_substance(unit: Unit, question: Question | None) -> Unit:
    """A unit without the substance or thing that is measured, if the question has it: `g` for `g NaOH`."""
    physical = tuple((name, power) for name, power in unit if is_physical(((name, power),)))
    others = [name for name, power in unit if power == 1 and (name, power) not in physical]
    told = (
        question is not None
        and len(others) == 1
        and any(same_word(others[0].lower(), one.lower()) for one in question.words)
    )
    return physical if physical and told and len(physical) + 1 == len(unit) else unit


def _is_asked(unit: Unit, question: Question | None) -> bool:
    """Whether the question asks for this unit, or names no unit: metres for `How many metres?`, but not centimetres.

    If the question asks for a rate, such as dollars an hour, an amount of money counts, too; other amounts count if the
    question asks how many.
    """
    asked = question.asked_units if question is not None else frozenset()
    if not asked or not is_physical(unit):
        return True
    found = measure(_YUAN if unit == _YEN and "元" in question.text else unit)  # type: ignore[union-attr]
    may_be_rate = any(is_money(name) for name, _ in unit) or asks_count(question.text)  # type: ignore[union-attr]
    return any(found == one or (may_be_rate and _is_rate(found, one)) for one in asked)


def _is_unasked_rate(unit: Unit, question: Question) -> bool:
    """Whether the unit is a rate, like dollars an hour, and the question asks for an amount, like dollars."""
    below = {name for name, power in unit if power < 0}
    asked = question.asked_amount
    if not below or below & asked.ones:
        return False
    if asked.rate:
        # dollars a day, although the question asks for dollars per week
        mine, theirs = _physical_units(below), _physical_units(asked.ones)
        return mine.isdisjoint(theirs) and any(a.dimension == b.dimension for a in mine for b in theirs)
    return asked.amount or any(power > 0 and (is_money(name) or not is_physical(((name, 1),))) for name, power in unit)


def _physical_units(names: Iterable[str]) -> set[PhysicalUnit]:
    """The physical units among names: an hour, of 3600 seconds, for `h`."""
    return {measure(((one, 1),)) for one in names if is_physical(((one, 1),))}


def _is_asked_amount(rate: Unit, unit: Unit, question: Question | None) -> bool:
    """Whether `unit` is the amount of an asked `rate`: kilometres, if `平均每小时行驶多少千米` asks for a speed."""
    asked = question.asked_units if question is not None else frozenset()
    return measure(rate) in asked and is_physical(rate) and _is_rate(measure(unit), measure(rate))


def _is_rate(unit: PhysicalUnit, rate: PhysicalUnit) -> bool:
    """Whether `rate` is `unit` per time: kilometres an hour for kilometres."""
    above = tuple((name, power) for name, power in rate.dimension if power > 0)
    return above != rate.dimension and unit.dimension == above and unit.size / rate.size in _SPANS


def _converted(leaves: Leaves, ref: Node, ref_unit: Unit, ans: Node, ans_unit: Unit) -> Outcome:
    """Compare two amounts after conversion to one unit; DIFFERENT if the units measure different things."""
    mine, theirs = measure(ref_unit), measure(ans_unit)
    if _is_radians_per_second(ref_unit) and ans_unit == _EACH_SECOND:
        mine = theirs
    if mine.dimension != theirs.dimension:
        return DIFFERENT
    if mine.size == theirs.size:
        return leaves.leaf(ref, ans)
    return leaves.leaf(ref, Product((number(theirs.size / mine.size), ans)))


_EACH_SECOND = (("s", -1),)


def _is_radians_per_second(unit: Unit) -> bool:
    """Whether a unit is `rad/s`, which equals `1/s`, because a radian is a plain number; a hertz counts full turns."""
    return measure(unit) == measure((("rad", 1), ("s", -1)))


def has_unit(ref: Node, ans: Node) -> bool:
    """Whether a side has a unit, or one side has a percent sign and the other a degree sign."""
    return Quantity in (kinds := {type(ref), type(ans)}) or kinds == {Percent, Degrees}


def _may_be_left_out(unit: Unit, question: Question | None) -> bool:
    """Whether a reference without a unit may mean this unit, so that `5` may be answered by `5 m`.

    It may not if the unit is only a number, or if the unit is radians and the question is about degrees.
    """
    found = measure(unit)
    if not found.dimension:
        return False
    return found != measure(_RADIAN) or question is None or not question.speaks_of_degrees


def asked_amount(ref: Node, ans: Node, question: Question | None) -> Node | None:
    """The 600 of an answer `600m`, if the question asks for metres and the reference is a bare number; else None."""
    found = _in_letters(ans) if isinstance(ref, Number) and question is not None else None
    if found is None or question is None or not isinstance(found.inside, Number):
        return None
    return found.inside if measure(found.unit) in question.asked_units else None


def _in_letters(node: Node) -> Quantity | None:
    r"""A product whose last letters may be units, as a quantity: `5 m` or `2 m/s`; None for any other node."""
    below: tuple[Node, ...] = ()
    match node:
        case Product((*rest, Symbol("\\mu"), Symbol(letter))) if rest and known(f"μ{letter}"):
            return Quantity(product_of(tuple(rest)), ((f"μ{letter}", 1),))
        case Product((_, *_)):
            above = node.args
        case Quotient(Product(args), other):
            above, below = args, (other,)
        case _:
            return None
    powers = [_letter_power(one) for one in above]
    behind = next((at for at, one in enumerate(powers) if one is not None), 0)
    found = all_known((*powers[behind:], *map(_letter_power, below)))
    if not behind or found is None:
        return None
    signs = [1] * (len(above) - behind) + [-1] * len(below)
    unit = tuple(sorted((letter, sign * power) for (letter, power), sign in zip(found, signs, strict=True)))
    return Quantity(product_of(above[:behind]), unit) if len({letter for letter, _ in unit}) == len(unit) else None


def _letter_power(node: Node) -> tuple[str, int] | None:
    """The letter of a unit with the power 1: ("m", 1) for `m`; None for any other node."""
    match node:
        case Symbol(letter) if letter in UNIT_LETTERS:
            return letter, 1
    return None


def _with_letter(node: Node, other: Node) -> Node:
    """The node as a quantity if its letter is a unit that fits the other side: `5 m` as five metres beside `5 cm`.

    Any other node as it is.
    """
    found = _in_letters(node) if isinstance(other, Quantity) else None
    if found is None or not isinstance(other, Quantity):
        return node
    return found if measure(found.unit).dimension == measure(other.unit).dimension else node


def _angles(leaves: Leaves, ref: Node, ans: Node) -> Outcome:
    r"""Compare a degree sign on one side with a unit on the other: `180^\circ` and `\pi \text{ rad}`."""
    # A factor of 1 hides the degree sign from `meant`, which would just remove it: so the degrees become radians
    match ref, ans:
        case Quantity(inside, unit), Degrees() if measure(unit) == measure(_RADIAN):
            return leaves.leaf(inside, Product((ans, number(1))))
        case Degrees(), Quantity(inside, unit) if measure(unit) == measure(_RADIAN):
            return leaves.leaf(Product((ref, number(1))), inside)
        case Quantity(inside, ((("celsius" | "fahrenheit"), 1),)), Degrees(degrees):
            return leaves.leaf(inside, degrees)
    return DIFFERENT


def same_ratio(leaves: Leaves, ref: Reading, ans: Reading) -> Outcome:
    """Compare ratios by their quotients, `2:4` for `1:2`, and times part by part: `8:30` is not `4:15`.

    A ratio of two parts is equal to its quotient, too, unless the question rules ratios out.
    """
    if is_time(leaves.question, ref if isinstance(ref, Ratio) else ans):
        if not isinstance(ref, Ratio) or not isinstance(ans, Ratio):
            return DIFFERENT
        if list(map(_width, ref.parts[1:])) != list(map(_width, ans.parts[1:])):
            return DIFFERENT
        return all_of([leaves.leaf(r, a) for r, a in zip(ref.parts, ans.parts, strict=True)])
    if isinstance(ans, Ratio) and isinstance(ref, Value) and leaves.question and not leaves.question.speaks_of_ratios:
        # If the question is not about ratios, `1:6` does not mean 1/6: it may be odds
        return DIFFERENT
    left, right = _quotients(ref), _quotients(ans)
    if left is None or right is None or len(left) != len(right):
        return DIFFERENT
    return all_of([leaves.leaf(r, a) for r, a in zip(left, right, strict=True)])


def _width(part: Node) -> int:
    """The number of characters in a part of a time: 2 for `05`; 0 for a part that is not a number."""
    return len(part.text) if isinstance(part, Number) else 0


def ratio_named(ref: Reading, node: Node, question: Question | None) -> Named | None:
    """The answer `x/y = 2/3` read as a value for the ratio `x:y`: the name is `x:y`, the value 2/3.

    None for another form, if the reference cannot be a ratio, or if the question asks for another one, such as `y:x`.
    """
    match node:
        case Relation((Quotient(above, below), value), ("=",)) if is_name(above) and is_name(below):
            ratio = isinstance(ref, Ratio) or (isinstance(ref, Named) and is_collection(ref.name, "ratio"))
            if not symbols(value) and (ratio or (isinstance(ref, Value) and not symbols(ref.node))):
                named = Named(Collection("ratio", (above, below)), Value(value), node)
                return named if in_asked_order(named, ref, question) else None
    return None


def in_asked_order(ans: Reading, ref: Reading, question: Question | None) -> bool:
    """Whether the name that the answer gives its value is what the question asks for; True if it gives no such name.

    Checked are ratios (`y:x` is wrong for `Find the ratio x:y`), operations on sets, and names with one meaning, such
    as `s^2` for a variance. The reference's own names are compared elsewhere.
    """
    match ans:
        case Named(SetOperation() | Connective() as name) if question is not None and question.formulas:
            return key(name) in question.formulas
        case Named(Power(Symbol("s" | "S"))) if (question is None or not question.text) and not isinstance(ref, Named):
            return False
        case Named(Apply(name) | Power(Symbol(name))) if question is not None and question.text and name in _NAMED_BY:
            return (
                re.search(_NAMED_BY[name], asking_clause(question.text)[0] or question.text, re.IGNORECASE) is not None
            )
        case Named(Collection("ratio", names)) if question is not None and not isinstance(ref, Named):
            said = [n.words if isinstance(n, Text) else n.name if isinstance(n, Symbol) else "" for n in names]
            if question.letters.isdisjoint(said) and said == [*"abcdefgh"[: len(said)]]:
                # names of the answer's own
                return True
            return question.says_in_order(said) if all(said) else True
    return True


_VARIANCE = "varian|дисперс|方差|分散|분산|phương sai"
# The words by which a question asks for a value with such a name
_NAMED_BY = {
    "\\sigma": rf"{_VARIANCE}|\\sigma",
    "s": _VARIANCE,
    "S": _VARIANCE,
    "gcd": "greatest|highest|largest|divisor|factor|gcd|ggT|teiler|diviseur|divisor|pgcd|делител|公约|公因",
    "lcm": "least|lowest|smallest|multiple|lcm|kgV|vielfach|ppcm|múltiplo|кратн|公倍",
} | {
    "deg": r"\bdeg|\bgra[du]|степен|次|차수|bậc",
    "dim": r"\bdim|размерн|[维維]|次元|차원|chiều",
    "rank": r"\bran[gk]|\brg\b|ранг|秩|階数|랭크|계수|hạng",
    "ord": r"\bord|порядок|порядк|[阶階]|位数|위수|cấp",
    "tr": r"\btr[ar]|\bspur|след|[迹跡]|対角和|대각합|vết",
    "arg": r"\barg|аргумент|[辐輻]角|偏角|편각",
    "card": "card|element|élément|элемент|мощност|元素|要素|원소|\\|",
    "det": r"\bd[eé]t|行列式|определит|행렬식|định thức",
}


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
    """Whether the node is written as digits alone: `5`, but not `0.5`."""
    return isinstance(node, Number) and node.text.isdigit()


def _quotients(reading: Reading) -> list[Node] | None:
    """The parts of a ratio divided by its last: 1/4 and 2/4 for `1:2:4`. A value alone as it is; else None."""
    if isinstance(reading, Ratio):
        return [Quotient(part, reading.parts[-1]) for part in reading.parts[:-1]]
    return [reading.node] if isinstance(reading, Value) else None
