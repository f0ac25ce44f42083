"""Lists, sets, tuples, named solutions and matrices, element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agentscope_tuner.verify.math.names import label
from agentscope_tuner.verify.math.node import Node
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, UNKNOWN, Outcome, all_of
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.reading import Grid, Listing, Named, Reading, Region, Statement, Value

MAX_ELEMENTS = 100


class Comparing(Protocol):
    """A comparer of two readings and of two expressions."""

    question: Question | None

    def compare(self, ref: Reading, ans: Reading) -> Outcome: ...

    def leaf(self, ref: Node, ans: Node) -> Outcome: ...


def listings(comparer: Comparing, ref: Reading, ans: Reading) -> Outcome:
    if not isinstance(ref, Listing) or not isinstance(ans, Listing):
        return DIFFERENT
    kinds = {ref.kind, ans.kind}
    if kinds == {"tuple", "set"} or max(len(ref.items), len(ans.items)) > MAX_ELEMENTS:
        return DIFFERENT
    if "named" in kinds:
        return _by_names(comparer, ref, ans)
    if kinds == {"set"} or (kinds == {"list"} and len(ans.items) > len(ref.items)):
        # Repeating an element does not change a set
        return _same_set(comparer, ref.items, ans.items)
    if len(ref.items) != len(ans.items):
        return DIFFERENT
    if "tuple" in kinds or any(map(_is_named, ref.items)) != any(map(_is_named, ans.items)):
        return pairwise(comparer, ref.items, ans.items)
    return unordered(comparer, ref.items, ans.items)


def _by_names(comparer: Comparing, ref: Listing, ans: Listing) -> Outcome:
    if ref.kind == "set" and (values := _numbered(ans)) is not None:
        return _same_set(comparer, ref.items, values)
    if len(ref.items) != len(ans.items) or "set" in (ref.kind, ans.kind):
        return DIFFERENT
    if ref.kind == ans.kind:
        return unordered(comparer, ref.items, ans.items)
    if ref.kind == "list" and (values := _numbered(ans)) is not None:
        return unordered(comparer, ref.items, values)
    if "tuple" in (ref.kind, ans.kind):
        ref, ans = (_in_order(comparer, side) if side.kind == "named" else side for side in (ref, ans))
    return pairwise(comparer, ref.items, ans.items)


def _numbered(listing: Listing) -> tuple[Reading, ...] | None:
    """The values of `x_1 = 2, x_2 = 3`, which are values of one unknown, counted from 1; None for any other listing."""
    named = [i for i in listing.items if isinstance(i, Named)]
    labels = [label(i.name) for i in named]
    letters = {name.partition("_")[0] for name, *_ in labels if name}
    counted = [(f"{letter}_{at}",) for letter in letters for at in range(1, len(labels) + 1)]
    return tuple(i.value for i in named) if len(letters) == 1 and labels == counted else None


def _in_order(comparer: Comparing, listing: Listing) -> Listing:
    """The values of `y = 2, x = 1` in the order of the names in the question, else in alphabetical order."""
    named = {label(i.name): i.value for i in listing.items if isinstance(i, Named)}
    known = comparer.question.names if comparer.question is not None else ()
    order = next((n for n in known if {(name,) for name in n} == named.keys()), None)
    return Listing(
        "tuple", tuple(named[one] for one in ([(n,) for n in order] if order else sorted(named, key=_spelled)))
    )


def _spelled(name: tuple[str, ...]) -> tuple[str, ...]:
    r"""The name without backslashes, so that `\theta` sorts after r."""
    return tuple(part.lstrip("\\") for part in name)


def grids(comparer: Comparing, ref: Reading, ans: Reading) -> Outcome:
    if isinstance(ref, Grid) and isinstance(ans, Grid):
        if ref.node.kind != ans.node.kind or list(map(len, ref.rows)) != list(map(len, ans.rows)):
            return DIFFERENT
        if ref.node.kind == "cases":
            # A definition may list its cases in any order
            return unordered(comparer, *([Listing("tuple", row) for row in side.rows] for side in (ref, ans)))
        pairs = [(r, a) for rr, ar in zip(ref.rows, ans.rows, strict=True) for r, a in zip(rr, ar, strict=True)]
        return all_of([comparer.compare(r, a) for r, a in pairs])
    grid, other = (ref, ans) if isinstance(ref, Grid) else (ans, ref)
    assert isinstance(grid, Grid)
    if isinstance(other, Value) and grid.node.kind == "matrix":
        # The other side may be a product or a power of matrices, which has a matrix value
        return comparer.leaf(grid.node, other.node) if grid is ref else comparer.leaf(other.node, grid.node)
    column = _vector(grid)
    if column is None or not isinstance(other, Listing) or other.kind not in ("tuple", "list"):
        return DIFFERENT
    return pairwise(comparer, column, other.items) if grid is ref else pairwise(comparer, other.items, column)


def pairwise(comparer: Comparing, ref: Sequence[Reading], ans: Sequence[Reading]) -> Outcome:
    if len(ref) != len(ans):
        return DIFFERENT
    return all_of([comparer.compare(r, a) for r, a in zip(ref, ans, strict=True)])


def unordered(comparer: Comparing, ref: Sequence[Reading], ans: Sequence[Reading]) -> Outcome:
    """Match each element of the reference with a different element of the answer that is equal to it."""
    left = list(ans)
    unknown = False
    for element in ref:
        outcomes = [comparer.compare(element, other) for other in left]
        if EQUAL in outcomes:
            del left[outcomes.index(EQUAL)]
        elif UNKNOWN in outcomes:
            unknown = True
        else:
            return DIFFERENT
    return UNKNOWN if unknown else EQUAL


def _same_set(comparer: Comparing, ref: Sequence[Reading], ans: Sequence[Reading]) -> Outcome:
    """Whether each element of either side is equal to an element of the other; repetition does not matter in a set."""
    grid = [[comparer.compare(r, a) for a in ans] for r in ref]
    rows = [list(row) for row in grid] + [list(column) for column in zip(*grid, strict=True)]
    if not ref or not ans:
        return EQUAL if not ref and not ans else DIFFERENT
    return all_of([EQUAL if EQUAL in row else UNKNOWN if UNKNOWN in row else DIFFERENT for row in rows])


def _is_named(reading: Reading) -> bool:
    return isinstance(reading, (Named, Statement, Region))


def _vector(grid: Grid) -> tuple[Reading, ...] | None:
    """The entries of a matrix with a single row or column."""
    if len(grid.rows) == 1:
        return grid.rows[0]
    if all(len(row) == 1 for row in grid.rows):
        return tuple(row[0] for row in grid.rows)
    return None
