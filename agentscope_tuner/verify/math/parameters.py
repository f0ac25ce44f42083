"""Letters that may be any number: parameters of progressions and lines, counting letters, constants of integration.

Two progressions are equal if their steps are equal up to the sign, and their members at 0 differ by a whole number of
steps: `2k+1` and `2k-1`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, permutations
from math import ceil, floor, isqrt, lcm, prod
from typing import NamedTuple

from agentscope_tuner.verify import re
from agentscope_tuner.verify.math.canonical import components, componentwise, is_same_formula, key
from agentscope_tuner.verify.math.exact import exact_value, value_at
from agentscope_tuner.verify.math.node import (
    COUNTING,
    DIFFERENT,
    EQUAL,
    PI,
    UNKNOWN,
    Apply,
    Collection,
    Negation,
    Node,
    Number,
    Outcome,
    PlusMinus,
    Power,
    Product,
    Quotient,
    Relation,
    Sum,
    Symbol,
    Text,
    UndefinedCall,
    all_known,
    all_of,
    difference,
    is_applied,
    is_collection,
    is_equation,
    is_symbol,
    literal,
    mapped,
    number,
    product_of,
    renamed,
    substituted,
    symbols,
    unsigned,
    walk,
    with_args,
)
from agentscope_tuner.verify.math.parse import parse
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.readings import (
    Chain,
    Family,
    Listing,
    Named,
    Reading,
    Statement,
    Value,
    is_listing,
    resolve,
)
from agentscope_tuner.verify.math.sets import ParameterRange
from agentscope_tuner.verify.math.tokens import INTEGERS, REALS, TooComplex, Unreadable

_STEP = Symbol("step of a progression")
LETTERS = frozenset({"n", "k", "m", "l", "j", "t", "q"})
_PARAMETERS = frozenset({"s", "r", "u", "\\lambda", "\\mu"})
_CONSTANTS = frozenset({"C", "c", "K"})
_SEEDS = ("progression", "another progression")


class Progression(NamedTuple):
    r"""The values of some formulas for every whole number as their parameter: `x = 2k+1, k \in \mathbb{Z}`.

    Attributes:
        name: the unknown, x, if the text names it.
        bodies: the formulas, here `2k+1`.
        parameter: the letter k.
        is_said: whether the text states that the parameter is a whole number.
    """

    name: str | None
    bodies: tuple[Node, ...]
    parameter: str
    is_said: bool


def same_progression(ref: Reading, ans: Reading) -> Outcome | None:
    r"""Whether both are the same numbers, in one progression or in several: `2k+1, k \in \mathbb{Z}` and `2k-1`.

    None if a side is not made of progressions, or if neither side states that its parameter is a whole number.
    """
    if not (_may_be_said(ref) or _may_be_said(ans)):
        return None
    mine, theirs = progression(ref), progression(ans)
    if mine is None or theirs is None or not (mine.is_said or theirs.is_said):
        return None
    if mine.name != theirs.name and None not in (mine.name, theirs.name):
        return DIFFERENT
    for seed in _SEEDS:
        left, right = _lines(mine, seed), _lines(theirs, seed)
        if left is None or right is None:
            return None
        unit = left[0][0]
        period = _period([step / unit for step, _ in (*left, *right)])
        if period is None or _residues(left, unit, period) != _residues(right, unit, period):
            return DIFFERENT
    return EQUAL


_MOST_PARAMETERS, _FURTHER = 3, 5


def same_span(ref: tuple[Reading, bool], ans: tuple[Reading, bool], constants: frozenset[str]) -> Outcome | None:
    """Whether two points with parameters run along the same line or plane: `(1+t, 2+3t)` and `(2s, -1+6s)`.

    Args:
        ref: the reference, and whether it states that its letters are real numbers.
        ans: the answer, and whether it states that its letters are real numbers.
        constants: the question's letters, which are not parameters unless a side says so.

    Returns:
        None if a side is not such a point.
    """
    if (own := _line(ref[0])) is not None and (other := _line(ans[0])) is not None and own.keys() == other.keys():
        rows = [(at, to, other[name][0] - at, other[name][1]) for name, (at, to) in own.items()]
        return EQUAL if _rank([list(one) for one in zip(*rows, strict=True)][1:]) == 1 else DIFFERENT
    mine = _span(*ref, constants)
    theirs = None if mine is None else _span(*ans, constants)
    if mine is None or theirs is None or len(mine[0]) != len(theirs[0]):
        return None
    between = [b - a for a, b in zip(mine[0], theirs[0], strict=True)]
    size = _rank(mine[1])
    same = size == _rank(theirs[1]) == _rank([*mine[1], *theirs[1], between])
    return EQUAL if same else DIFFERENT


def same_lattice(ref: Reading, ans: Reading) -> Outcome | None:
    r"""Whether two points with one whole number in them are the same points: `(7k+3, 5k+2)` and `(7n-4, 5n-3)`.

    None if a side is not such a point, or if the reference does not state that its letter is a whole number.
    """
    if not _may_be_said(ref):
        return None
    mine, theirs = _lattice(ref), _lattice(ans)
    if mine is None or theirs is None or len(mine.start) != len(theirs.start) or not mine.is_said:
        return None
    if mine.names != theirs.names:
        # if only one side names its coordinates, their order on the other side is not known
        return DIFFERENT if mine.names and theirs.names else None
    between = [b - a for a, b in zip(mine.start, theirs.start, strict=True)]
    times = next((one / step for one, step in zip(between, mine.step, strict=True) if step), Fraction(0))
    is_reached = times.denominator == 1 and between == [times * step for step in mine.step]
    return EQUAL if is_reached and theirs.step in (mine.step, [-step for step in mine.step]) else DIFFERENT


class _Lattice(NamedTuple):
    r"""Points at equal distances on a line, one for each whole number: `(7k+3, 5k+2), k \in \mathbb{Z}`.

    Attributes:
        start: the point for 0, (3, 2).
        step: the difference of two neighbouring points, (7, 5).
        is_said: whether the text states that its letter is a whole number.
        names: the names of the coordinates; empty if there are none.
    """

    start: list[Fraction]
    step: list[Fraction]
    is_said: bool
    names: tuple[Node, ...]


def _lattice(reading: Reading) -> _Lattice | None:
    """The points of a reading such as `(7k+3, 5k+2)`; None for a reading of any other form."""
    is_said, names = False, tuple[Node, ...]()
    while isinstance(reading, Named | Family):
        if isinstance(reading, Named):
            names, reading = components(reading.name) or (), reading.value
        elif is_said or reading.range.field != INTEGERS or reading.range.condition is not None:
            return None
        else:
            is_said, reading = True, reading.body
    named = [one for one in reading.items if isinstance(one, Named)] if isinstance(reading, Listing) else []
    if named and is_listing(reading, "named"):
        named.sort(key=lambda one: key(one.name))
        names, reading = tuple(one.name for one in named), Listing("named", (*named,))
    found = _span(reading, True, frozenset())
    return _Lattice(found[0], found[1][0], is_said, names) if found is not None and len(found[1]) == 1 else None


def _line(reading: Reading) -> dict[str, tuple[Fraction, Fraction]] | None:
    r"""For each letter of a line by equal members, the coordinates of a point on the line and of its direction.

    x: (1, 2), y: (0, 3), z: (0, 4) for `\frac{x-1}{2}=\frac{y}{3}=\frac{z}{4}`. None for any other reading.
    """
    found: dict[str, tuple[Fraction, Fraction]] = {}
    first: tuple[Reading, ...] = ()
    if isinstance(reading, Named) and isinstance(reading.value, Chain):
        first, reading = (Value(reading.name),), reading.value
    for member in (*first, *reading.exact) if isinstance(reading, Chain) and not reading.rough else ():
        names = symbols(member.node) if isinstance(member, Value) else frozenset()
        if not isinstance(member, Value) or len(names) != 1 or not names.isdisjoint(found):
            return None
        (name,) = names
        zero, one, two = (exact_value(substituted(member.node, name, number(value))) for value in range(3))
        if zero is None or one is None or two is None or two - one != one - zero or one == zero:
            return None
        found[name] = zero / (zero - one), 1 / (one - zero)
    return found if len(found) > len("xy") else None


def _span(
    reading: Reading, is_real: bool, constants: frozenset[str]
) -> tuple[list[Fraction], list[list[Fraction]]] | None:
    """A point of a line or plane, and its directions: (1, 2) and (1, 3) for `(1+t, 2+3t)`.

    None if the reading is no point with parameters, or if a parameter need not be a real number.

    Args:
        reading: the point.
        is_real: whether a text states that its letters are real numbers.
        constants: letters that are not parameters, unless declared.
    """
    match reading:
        case Value(Product((Symbol(name) | Text(name), vectors))) if name.lower() == "span":
            return _spanned(vectors.args if is_collection(vectors, "set") else (vectors,))
    declared: set[str] = set()
    if isinstance(reading, Family) and (declared := _real_parameters(reading.range)):
        body = reading.body
        reading = resolve(componentwise(_as_row(body.node))) if isinstance(body, Value) else body
    if isinstance(reading, Named):
        reading = reading.value
    reading = _as_point(reading)
    if not (isinstance(reading, Listing) and reading.kind == "tuple"):
        return None
    parts = [part.node for part in reading.items if isinstance(part, Value)]
    letters = sorted({letter for part in parts for letter in symbols(part)})
    free = declared | (frozenset(letters) if is_real else (_PARAMETERS | {"t"}) - constants)
    if len(parts) != len(reading.items) or not 0 < len(letters) <= _MOST_PARAMETERS or not free.issuperset(letters):
        return None

    def at(values: dict[str, int]) -> list[Fraction] | None:
        return all_known(exact_value(_put_in(part, values)) for part in parts)

    start = at(dict.fromkeys(letters, 0))
    ends = [at({**dict.fromkeys(letters, 0), one: 1}) for one in letters]
    further = at({one: _FURTHER + place for place, one in enumerate(letters)})
    if start is None or further is None or None in ends:
        return None
    ways = [[b - a for a, b in zip(start, end, strict=True)] for end in ends if end is not None]
    straight = [a + sum(way[i] * (_FURTHER + place) for place, way in enumerate(ways)) for i, a in enumerate(start)]
    return (start, ways) if straight == further else None


def _as_point(reading: Reading) -> Reading:
    """A point from named coordinates in alphabetical order: `(1, 2)` for `x=1, y=2`; any other reading as it is."""
    named = [one for one in reading.items if isinstance(one, Named)] if isinstance(reading, Listing) else []
    names = [one.name.name for one in named if isinstance(one.name, Symbol)]
    if not isinstance(reading, Listing) or len(names) < len(reading.items) or names != sorted(names):
        return reading
    return Listing("tuple", tuple(one.value for one in named))


def _real_parameters(values: ParameterRange) -> set[str]:
    r"""The parameters that are stated to be real numbers: s and t for `s, t \in \mathbb{R}`; otherwise empty."""
    match values:
        case ParameterRange(_, None, None, Collection("list", (*more, Relation((last, field), ("in",))))) if (
            field == Symbol(REALS)
        ):
            found = {one.name for one in (*more, last) if isinstance(one, Symbol)}
            return found if len(found) > len(more) else set()
        case ParameterRange(_, str(parameter), "\\mathbb{R}", None):
            return {parameter}
    return set()


def _as_row(node: Node) -> Node:
    """The node with transposed tuples as plain ones: `(1,2)` for `(1,2)^T`."""
    if isinstance(node, Power) and is_collection(node.base, "tuple") and is_symbol(node.exponent, "T", "\\top"):
        return node.base
    return mapped(node, _as_row)


def _spanned(vectors: tuple[Node, ...]) -> tuple[list[Fraction], list[list[Fraction]]] | None:
    r"""The origin and the directions of a span: (0, 0), (1, 2), (1, 0) for `\operatorname{span}\{(1, 2), (1, 0)\}`.

    None if a vector has an entry that is not a number, or if the vectors differ in length.
    """
    rows: list[list[Fraction]] = []
    for vector in map(_as_row, vectors):
        values = all_known(map(exact_value, components(vector) or ()))
        if not values or (rows and len(values) != len(rows[0])):
            return None
        rows.append(values)
    return ([Fraction(0)] * len(rows[0]), rows) if rows else None


def _put_in(node: Node, values: dict[str, int]) -> Node:
    """The formula with numbers in place of letters: 1+2 for `x+y`, x = 1 and y = 2."""
    for name, value in values.items():
        node = substituted(node, name, number(value))
    return node


def _rank(rows: Sequence[Sequence[Fraction]]) -> int:
    """The rank of a matrix, by elimination: 1 for the rows (1, 2) and (2, 4)."""
    left, found = [list(row) for row in rows], 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((row for row in left if row[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        found += 1
        left = [[a - b * row[column] / pivot[column] for a, b in zip(row, pivot, strict=True)] for row in left]
    return found


def _may_be_said(reading: Reading) -> bool:
    """Whether a reading may state that a parameter is a whole number: a cheap test before trees are walked."""
    return isinstance(reading.value if isinstance(reading, Named) else reading, (Family, Statement))


def progression(reading: Reading) -> Progression | None:
    r"""The progressions that the reading may state: `2k+1`, or `1+2k` for `x \equiv 1 \pmod 2`.

    None if it has no such form. Whether members are at equal distances is not checked here.
    """
    match reading:
        case Statement(Relation((Symbol(name), rest, modulus), ("=", "pmod"))):
            return Progression(name, (Sum((rest, Product((modulus, _STEP)))),), _STEP.name, True)
        case Statement(Relation((Apply("mod", (Symbol(name), modulus)), rest), ("=",))):
            return Progression(name, (Sum((rest, Product((modulus, _STEP)))),), _STEP.name, True)
    unknown: str | None = None
    parameter: str | None = None
    while True:
        match reading:
            case Named(Symbol(found), inside) if unknown is None:
                unknown, reading = found, inside
            case Family(inside, values) if values.field == INTEGERS and parameter is None:
                parameter, reading = values.parameter, inside
            case _:
                break
    bodies = _bodies(reading)
    every = frozenset().union(*map(symbols, bodies))
    if parameter is None and (len(every) != 1 or not every <= LETTERS - {unknown}):
        return None
    return Progression(unknown, bodies, parameter or next(iter(every)), parameter is not None) if bodies else None


def _bodies(reading: Reading) -> tuple[Node, ...]:
    """The expressions that a reading lists: 1 and 2 for `1, 2`; empty if it holds anything else."""
    items = reading.items if is_listing(reading, "list", "set") else (reading,)
    found = tuple(i.node for i in items if isinstance(i, Value))
    return found if len(found) == len(items) <= _MOST_LINES else ()


_MOST_LINES = 12
# How many members are computed to see that they are at equal distances, and the longest period in steps
_MEMBERS, _LONGEST_PERIOD = 6, 60
Line = tuple[Fraction, Fraction]


def _lines(found: Progression, seed: str) -> list[Line] | None:
    """The step and the first member of each progression: (2, 1) for `2k+1`; None if distances are not equal.

    In a formula with an alternating sign, as in `(-1)^k a + k \\pi`, every second member makes a separate progression.

    Args:
        found: the formulas.
        seed: determines the values of further letters.
    """
    lines: list[Line] = []
    for body in found.bodies:
        values = all_known(value_at(seed, substituted(body, found.parameter, number(at))) for at in range(_MEMBERS))
        if values is None:
            return None
        parts = [values] if len({b - a for a, b in pairwise(values)}) == 1 else [values[::2], values[1::2]]
        for part in parts:
            steps = {b - a for a, b in pairwise(part)}
            if len(steps) != 1 or not (step := steps.pop()):
                return None
            lines.append((step, part[0]))
    return lines


def _period(steps: Sequence[Fraction]) -> Fraction | None:
    """The least common multiple of the steps, 6 for 2 and 3; None if it is more than `_LONGEST_PERIOD` steps."""
    below = lcm(*(step.denominator for step in steps)) if all(s.denominator <= _LONGEST_PERIOD for s in steps) else 0
    if not below or any(abs(step) > _LONGEST_PERIOD for step in steps):
        return None
    period = Fraction(lcm(*(abs(int(step * below)) for step in steps)), below)
    return period if all(period / abs(step) <= _LONGEST_PERIOD for step in steps) else None


def _residues(lines: Sequence[Line], unit: Fraction, period: Fraction) -> set[Fraction]:
    """The members of the progressions within one period, in units: 1, 3 and 5 for `2k+1` and a period of 6."""
    return {
        (first + step * at) / unit % period for step, first in lines for at in range(int(period / abs(step / unit)))
    }


def with_dummy_of(ref: Named, ans: Reading, letters: frozenset[str]) -> Reading:
    """The answer's value with its counting letter replaced by the reference's: the m of `n = 2^m` for `n = 2^k`."""
    match ref.value, ans:
        case Value(mine), Value(theirs):
            wanted, found = symbols(mine), symbols(theirs)
            dummies = _CONSTANTS if isinstance(mine, Symbol) and isinstance(theirs, Symbol) else LETTERS
            counts = len(wanted) == len(found) == 1 and wanted | found <= dummies and wanted != found
            if counts and not (wanted | found) & (letters | symbols(ref.name)):
                return Value(renamed(theirs, next(iter(found)), next(iter(wanted))))
    return ans


def with_letter_of(ref: Reading, ans: Reading, letters: frozenset[str]) -> Reading:
    """A listing with its counting letter replaced by the reference's: `(k, k+1)` for `(n, n+1)`."""
    mine, theirs = _values(ref), _values(ans)
    if mine is None or theirs is None or not isinstance(ans, Listing):
        return ans
    wanted, found = (frozenset().union(*map(symbols, side)) for side in (mine, theirs))
    # `(a, 2a)` for `(a, b) = (t, 2t)` uses a name of the tuple itself
    own = _names(ref)
    known = wanted | (found - own)
    if len(wanted) != 1 or len(found) != 1 or wanted == found or not known <= LETTERS | _PARAMETERS or known & letters:
        return ans
    (old,), (new,) = found, wanted
    values = [Value(renamed(value, old, new)) for value in theirs]
    return Listing(
        ans.kind,
        tuple(Named(i.name, v, i.node) if isinstance(i, Named) else v for i, v in zip(ans.items, values, strict=True)),
    )


def _names(reading: Reading) -> frozenset[str]:
    """The symbols in the names of a listing's members: x and y for `x=1, y=2`."""
    items = reading.items if isinstance(reading, Listing) else ()
    return frozenset(n for item in items if isinstance(item, Named) for n in symbols(item.name))


def _values(reading: Reading) -> list[Node] | None:
    """The values of a listing's members, named or not: 1 and 2 for `x=1, y=2`; None for any other reading."""
    if not isinstance(reading, Listing):
        return None
    values = (i.value if isinstance(i, Named) else i for i in reading.items)
    return all_known(value.node if isinstance(value, Value) else None for value in values)


_OF_INTEGRATION = frozenset({"A", "C", "c", "K", "k", "C_1", "c_1", "C_{1}", "c_{1}", "\\lambda"})
# The constants of a solution that has two
_SEVERAL = frozenset({"A", "B", "C", "D", "C_1", "C_2", "c_1", "c_2", "a", "b", "c", "d", "K_1", "K_2", "k_1", "k_2"})


def with_names_of(ref: Node, ans: Node, question: Question | None) -> Node:
    """The answer with the reference's names for arbitrary constants: `x^2+C` for `x^2+K` if the reference has C.

    Also two constants of integration (`A`, `B` for `C_1`, `C_2`), and the letter of a period (`2k\\pi` for `2n\\pi`).
    The answer as it is if the letters are not arbitrary, for example if the question has them.
    """
    mine, theirs = symbols(ref) - symbols(ans), symbols(ans) - symbols(ref)
    if not (mine or theirs) and question is not None and question.has_free_letters:
        return _with_sign_of(ref, ans, (symbols(ref) & _OF_INTEGRATION) - question.letters)
    if len(mine) != len(theirs) or not 1 <= len(mine) <= 2 or (question and (mine | theirs) & question.letters):
        return ans
    if len(mine) == 2:
        if not mine | theirs <= _SEVERAL or not _occur_once(ref, mine) or not _occur_once(ans, theirs):
            return ans
        both = [renamed_to(ans, tuple(sorted(mine)), names) for names in permutations(sorted(theirs))]
        return next((one for one in both if key(one) == key(ref) or is_same_formula(one, ref)), ans)
    (wanted,), (found,) = mine, theirs
    if {wanted, found} == {"x", "t"} and question is not None and _OF_DERIVATIVES.search(question.text) is not None:
        # an equation in y'' and y does not name the variable, so the solution may be in x or in t
        return renamed(ans, found, wanted)
    if wanted.lower() == found.lower() and {wanted, found} <= _OF_INTEGRATION:
        return renamed(ans, found, wanted)
    periodic = {wanted, found} <= COUNTING and _is_periodic(ref, wanted) and _is_periodic(ans, found)
    if periodic:
        return renamed(ans, found, wanted)
    allowed = _OF_INTEGRATION | (_OF_FAMILIES if question is not None and question.has_free_letters else frozenset())
    if not (mine <= _OF_INTEGRATION and theirs <= allowed):
        return ans
    other = renamed(ans, found, wanted)
    return other if (_are_free(ref, mine) and _are_free(ans, theirs)) or is_same_formula(other, ref) else ans


def _with_sign_of(ref: Node, ans: Node, constants: frozenset[str]) -> Node:
    """The answer with -C for its only constant C if that makes it the reference: `-1/(x^2-C)` for `-1/(x^2+C)`.

    This is the reference `1/(C-x^2)`. Any other answer as it is.
    """
    if len(constants) != 1 or not _occur_once(ref, constants) or not _occur_once(ans, constants):
        return ans
    (name,) = constants
    other = substituted(ans, name, Negation(Symbol(name)))
    return other if is_same_formula(other, ref) else ans


_OF_DERIVATIVES = re.compile(r"(?<![a-zA-Z])y\s*(?:'|\^\{?\\prime)")


_OF_FAMILIES = frozenset({"a", "b", "d", "m", "p", "q", "t", "\\alpha", "\\beta"})


Leaf = Callable[[Node, Node], Outcome]


class _Functions(NamedTuple):
    """All functions `start + sum of constant * way`, for any constants: start x, ways `e^x` and 1 for `Ae^x+B+x`."""

    start: Node
    ways: tuple[Node, ...]
    variables: frozenset[str]


_ARBITRARY = re.compile(
    r"[A-DF-HK-NP-Z]|[a-dkmpq]|[ABCDKabcdk]_\{?\d\}?|\\(?:alpha|beta|gamma|delta|lambda|mu|phi|varphi|theta|omega)|[a-z]\(-?\d+\)"
)
_MOST_CONSTANTS, _MOST_VARIABLES = 3, 3


def same_functions(leaf: Leaf, ref: Node, ans: Node, question: Question | None) -> Outcome | None:
    r"""Compare two formulas with arbitrary constants as sets of functions: `A\cosh x+B\sinh x` and `C_1e^x+C_2e^{-x}`.

    If the constants are factors of terms, the terms of one side must be sums of multiples of the other side's terms. A
    determinant of their values at arbitrary points decides that. Any other formula with one constant is solved for it.

    Args:
        leaf: compares two formulas.
        ref: the reference, a formula or the equation of a curve.
        ans: the answer, the same.
        question: says whether its answer has arbitrary constants.

    Returns:
        None if the question does not ask for such formulas, or if a side is not such a formula.
    """
    if question is None or not question.has_constants:
        return None
    sides = [_with_two_constants(_with_named_values(side), question.letters) for side in (ref, ans)]
    constants = [_arbitrary(side, question.letters) for side in sides]
    if not all(constants) or max(map(len, constants)) > _MOST_CONSTANTS:
        return None
    if not any(isinstance(side, Relation) for side in sides):
        mine, theirs = (_functions(*one) for one in zip(sides, constants, strict=True))
        if mine is not None and theirs is not None:
            if mine.variables != theirs.variables or len(mine.ways) != len(theirs.ways):
                return DIFFERENT
            between = difference(theirs.start, mine.start)
            outcomes = [_is_sum_of(leaf, mine, way) for way in (*theirs.ways, between)]
            return all_of([*outcomes, _are_independent(leaf, theirs)])
    return _same_curves(leaf, sides, constants)


def _arbitrary(node: Node, letters: frozenset[str]) -> list[str]:
    """The names of arbitrary constants in a formula: A and B in `Ae^x+B`; not the question's `letters`."""
    # a letter beside pi counts periods
    known = letters | COUNTING if PI in walk(node) else letters
    return sorted(name for name in symbols(node) - known if _ARBITRARY.fullmatch(name))


def _with_named_values(node: Node) -> Node:
    """The node with a constant in place of each unknown value of a function: the symbol `f(1)` in `f(1) x`."""
    if isinstance(node, UndefinedCall) and len(node.args) == 1 and (value := exact_value(node.args[0])) is not None:
        return Symbol(f"{node.function}({value})")
    return mapped(node, _with_named_values)


def _with_two_constants(node: Node, letters: frozenset[str]) -> Node:
    r"""The node with `A \sin u + B \cos u` for `A \sin(u + B)`, which are the same functions."""
    constants, every = _arbitrary(node, letters), walk(node)

    def once(one: Node) -> bool:
        return isinstance(one, Symbol) and one.name in constants and every.count(one) == 1

    def changed(one: Node) -> Node:
        if isinstance(one, Product) and any(map(once, one.args)):
            for at, wave in enumerate(one.args):
                if is_applied(wave, "sin", "cos") and isinstance(wave.args[0], Sum):
                    terms = wave.args[0].args
                    shift = next((unsigned(term) for term in terms if once(unsigned(term))), None)
                    if shift is None:
                        continue
                    angle = Sum(tuple(term for term in terms if unsigned(term) != shift))
                    size = next(filter(once, one.args))
                    both = (Product((size, Apply("sin", (angle,)))), Product((shift, Apply("cos", (angle,)))))
                    others = tuple(f for i, f in enumerate(one.args) if i != at and f != size)
                    return Product((*others, Sum(both)))
        return mapped(one, changed)

    return changed(node) if len(constants) > 1 else node


def _functions(node: Node, constants: list[str]) -> _Functions | None:
    """The functions of a formula whose constants are factors of its terms, as in `Ae^x+B+x`; None for any other."""
    variables = symbols(node).difference(constants)
    if _degree_in(node, frozenset(constants)) != 1 or not 1 <= len(variables) <= _MOST_VARIABLES:
        return None
    start = node
    for name in constants:
        start = substituted(start, name, number(0))
    ways = []
    for name in constants:
        way = substituted(node, name, number(1))
        for other in constants:
            way = substituted(way, other, number(0))
        ways.append(difference(way, start))
    return _Functions(start, tuple(ways), variables)


def _degree_in(node: Node, names: frozenset[str]) -> int:
    """The degree of a formula in some letters, as it is written: 1 for `Ax+B` in A and B, and 2 for `AB`.

    Also 2 for a formula that is not a polynomial in them: `e^A`.
    """
    match node:
        case Symbol(name):
            return int(name in names)
        case Sum(args):
            return max(_degree_in(one, names) for one in args)
        case Product(args):
            return sum(_degree_in(one, names) for one in args)
        case Quotient(above, below):
            return _degree_in(above, names) + 2 * _degree_in(below, names)
        case Negation(inside):
            return _degree_in(inside, names)
    return 2 if symbols(node) & names else 0


def _is_sum_of(leaf: Leaf, functions: _Functions, one: Node) -> Outcome:
    """Whether a function is a sum of multiples of the ways: `3x` for the way x."""
    return leaf(*_determinant((*functions.ways, one), functions.variables))


def _are_independent(leaf: Leaf, functions: _Functions) -> Outcome:
    """Whether no way of `functions` is a sum of multiples of the others: EQUAL for `e^x` and x, DIFFERENT for x and 2x.

    UNKNOWN if `leaf` cannot compare the two sums of the determinant.
    """
    found = leaf(*_determinant(functions.ways, functions.variables))
    return {EQUAL: DIFFERENT, DIFFERENT: EQUAL}.get(found, UNKNOWN)


def _determinant(functions: Sequence[Node], variables: frozenset[str]) -> tuple[Node, Node]:
    """The determinant of the values of n functions at n points, as two sums of which it is the difference.

    The sums are equal if the functions are linearly dependent.
    """
    grid = [[_at_place(one, variables, place) for place in range(len(functions))] for one in functions]
    if functions[0] == number(1):
        # the same determinant with fewer products
        grid = [[difference(value, row[0]) for value in row[1:]] for row in grid[1:]]
    sides: tuple[list[Node], list[Node]] = ([], [])
    for places in permutations(range(len(grid))):
        swaps = sum(a > b for i, b in enumerate(places) for a in places[:i])
        sides[swaps % 2].append(product_of(tuple(row[place] for row, place in zip(grid, places, strict=True))))
    added, taken = (Sum((number(0), *terms)) for terms in sides)
    return added, taken


def _at_place(node: Node, variables: frozenset[str], place: int) -> Node:
    """The value of a function at one of several arbitrary points: `p^2` for x, with a new symbol p for each `place`."""
    # squared, so that logarithms have values
    for name in variables:
        node = substituted(node, name, Power(Symbol(f"{name} at place {place}"), number(2)))
    return node


_VALUE = Symbol("value of a function")


def _same_curves(leaf: Leaf, sides: Sequence[Node], constants: Sequence[list[str]]) -> Outcome | None:
    """Compare two formulas or equations, each solved for its only constant: `y = Cx` and `y = 2Kx`.

    Solved, they are `C = y/x` and `K = y/(2x)`, of which one is a multiple of the other. None if a side has several
    constants or cannot be solved.
    """
    if any(len(names) != 1 for names in constants):
        return None
    curves = [side if isinstance(side, Relation) else Relation((_VALUE, side), ("=",)) for side in sides]
    mine = _solved_for(_without_bars(curves[0]), Symbol(constants[0][0]), is_whole=True)
    theirs = _solved_for(_without_bars(curves[1]), Symbol(constants[1][0]), is_whole=False)
    if mine is None or theirs is None or symbols(mine) != symbols(theirs):
        return None
    if not 2 <= len(symbols(mine)) <= _MOST_VARIABLES:
        return None
    functions = _Functions(number(0), (number(1), mine), symbols(mine))
    # the logarithm of a constant is a constant, and so are its exponential and its inverse
    forms = (theirs, Apply("ln", (theirs,)), _exponential(theirs), Power(theirs, number(-1)))
    outcomes: list[Outcome] = []
    # one after the other, because each takes a tenth of a second
    while EQUAL not in outcomes and len(outcomes) < len(forms):
        outcomes.append(_is_sum_of(leaf, functions, forms[len(outcomes)]))
    varies = _are_independent(leaf, _Functions(number(0), (number(1), theirs), symbols(theirs)))
    return all_of([varies, EQUAL if EQUAL in outcomes else UNKNOWN if UNKNOWN in outcomes else DIFFERENT])


def _exponential(node: Node) -> Node:
    r"""`e` to the power of the node, with logarithms among its terms undone: `2e^x` for `x+\ln 2`."""
    match node:
        case Sum(terms):
            return product_of(tuple(map(_exponential, terms)))
        case Negation(inside):
            return Power(_exponential(inside), number(-1))
        case Apply("ln", (inside,)):
            return inside
    return Power(Symbol("e"), node)


def _solved_for(node: Node, constant: Symbol, *, is_whole: bool) -> Node | None:
    """The value of the constant by an equation: `y/x` for `y = Cx`; None if it occurs twice or cannot be isolated.

    Args:
        node: the equation.
        constant: the arbitrary constant.
        is_whole: whether a root or a power of e may be undone, because the equation has all curves, those below the
            axis, too, as behind a plus-minus sign.
    """
    if not is_equation(node) or walk(node).count(constant) != 1:
        return None
    side, other = node.args if constant in walk(node.args[0]) else node.args[::-1]
    while side != constant:
        inside = next((one for one in side.args if constant in walk(one)), constant)
        rest = tuple(one for one in side.args if one is not inside)
        match side:
            case Sum():
                other = difference(other, Sum(rest))
            case Negation():
                other = Negation(other)
            case Product():
                other = Quotient(other, product_of(rest))
            case Quotient(above, below):
                other = Product((other, below)) if inside is above else Quotient(above, other)
            case Apply("ln", (_,)):
                other = _exponential(other)
            case PlusMinus((_,)):
                is_whole = True
            case Power(Symbol("e"), exponent) if inside is exponent and is_whole:
                other = Apply("ln", (other,))
            case Power(base, root) if inside is base and is_whole and exact_value(root) == Fraction(1, 2):
                other = Power(other, number(2))
            case _:
                return None
        side = inside
    return other


# The point at which both antiderivatives are made zero
_SOMEWHERE = Symbol("where an integral begins")


def same_at_whole_numbers(ref: Node, ans: Node) -> Outcome:
    r"""Compare two formulas with steps, such as floors, in a whole number n; UNKNOWN for others.

    `\lfloor\frac{n+1}{2}\rfloor` and `\lceil\frac{n}{2}\rceil` are equal. A floor of a polynomial whose coefficients
    have the common denominator q is one polynomial for each remainder of n by q. So two such formulas are equal if for
    each remainder they agree at more numbers than their degree.
    """
    names = symbols(ref) | symbols(ans)
    if len(names) != 1 or not names <= COUNTING or not (_has_steps(ref) and _has_steps(ans)):
        return UNKNOWN
    mine, theirs = _steps(ref), _steps(ans)
    if mine is None or theirs is None:
        return UNKNOWN
    count = mine[1] * theirs[1] * (max(mine[0], theirs[0]) + 1)
    if count > _MOST_TRIED:
        return UNKNOWN
    name = next(iter(names))
    try:
        same = all(_at_whole(ref, name, at) == _at_whole(ans, name, at) for at in range(1, count + 1))
    except ZeroDivisionError:
        return UNKNOWN
    return EQUAL if same else DIFFERENT


_MOST_TRIED, _MOST_DEGREE = 1_000, 12


def _has_steps(node: Node) -> bool:
    r"""Whether the formula has a floor, a ceiling, a remainder, or an alternating sign: `(-1)^n`."""
    return any(is_applied(n, "floor", "ceil", "mod") or _alternates(n) for n in walk(node))


def _alternates(node: Node) -> bool:
    """Whether the node is a power of -1: `(-1)^n`."""
    return isinstance(node, Power) and literal(node.base) == -1


def _steps(node: Node) -> tuple[int, int] | None:
    r"""A bound of the degree, and the product of the denominators, of a polynomial with steps.

    (1, 2) for `\lfloor\frac{n+1}{2}\rfloor`. None for any other formula, or above the limits.
    """
    found = _degree(node)
    return found if found is not None and found[0] <= _MOST_DEGREE and found[1] <= _MOST_TRIED else None


def _degree(node: Node) -> tuple[int, int] | None:
    """As `_steps`, before its limits are checked."""
    match node:
        case Number(value):
            # a number counts as a letter, so that no power of numbers grows beyond the limit
            return int(value > 1), value.denominator
        case Symbol():
            return 1, 1
        case Power() if _alternates(node):
            return (0, 2) if (_steps(node.exponent) or (0, 0))[1] == 1 else None
        case Power(base, Number(times)) if times.denominator == 1 and 0 <= times <= _MOST_DEGREE:
            found = _steps(base)
            return found and (found[0] * int(times), found[1] ** int(times))
        case Quotient(above, below) | Apply("mod", (above, below)):
            found, divisor = _steps(above), literal(below)
            return None if found is None or not divisor else (found[0], found[1] * abs(divisor.numerator))
        case Sum() | Product() | Negation() | Apply("floor" | "ceil"):
            parts = all_known(map(_steps, node.args))
            if parts is None:
                return None
            degrees = [degree for degree, _ in parts]
            return sum(degrees) if isinstance(node, Product) else max(degrees), prod(below for _, below in parts)
    return None


def _at_whole(node: Node, name: str, at: int) -> Fraction:
    r"""The value of a formula that `_steps` accepts, at a whole number: 2 for `\lfloor\frac{n+1}{2}\rfloor` at 4."""
    values = [_at_whole(one, name, at) for one in node.args]
    match node:
        case Number(value):
            return value
        case Negation():
            return -values[0]
        case Sum():
            return sum(values, Fraction(0))
        case Product():
            return prod(values, start=Fraction(1))
        case Quotient():
            return values[0] / values[1]
        case Power():
            return values[0] ** int(values[1])
        case Apply("mod"):
            return values[0] % values[1]
        case Apply(function):
            return Fraction(floor(values[0]) if function == "floor" else ceil(values[0]))
    return Fraction(at)


def as_integrals(ref: Node, ans: Node, question: Question | None) -> tuple[Node, Node]:
    r"""Two antiderivatives as integrals from one point, so that constants do not count: `\ln|x|+C` and `\ln|2x|+C`.

    In place of its constant each side gets minus its value at that point. Any other two formulas are left as they are.
    """
    names = symbols(ref)
    if question is None or names != symbols(ans):
        return ref, ans
    integrates = "\\int" in question.text
    constants = [n for n in names & _OF_INTEGRATION if integrates or n not in question.letters]
    variables = set(names.difference(constants))
    if len(variables) > 1:
        variables = {n for n in variables if re.search(rf"(?<![a-z])d{re.escape(n)}(?![a-z])", question.text)}
    if len(constants) != 1 or len(variables) != 1:
        return ref, ans
    sides = _without_constant(ref, Symbol(constants[0])), _without_constant(ans, Symbol(constants[0]))
    if sides[0] is None or sides[1] is None:
        return ref, ans
    # a positive point, or a logarithm could not be distinguished from that of an absolute value
    logs = [n for n in walk(ref) if is_applied(n, "ln", "log")]
    start = Power(_SOMEWHERE, number(2)) if logs else _SOMEWHERE
    if logs and not any(is_applied(n.args[0], "abs") for n in logs):
        # a reference without absolute values is meant for positive arguments
        sides = sides[0], _without_bars(sides[1])
    first, second = (Sum((one, Negation(substituted(one, next(iter(variables)), start)))) for one in sides if one)
    return first, second


def _without_bars(node: Node) -> Node:
    r"""The formula without absolute values in logarithms: `\ln x` for `\ln|x|`."""
    if is_applied(node, "ln", "log") and is_applied(node.args[0], "abs"):
        return with_args(node, (node.args[0].args[0],))
    return with_args(node, tuple(map(_without_bars, node.args))) if node.args else node


def _without_constant(node: Node, constant: Symbol) -> Node | None:
    """A sum without the constant among its terms: `x^2` for `x^2+C`; None if the constant is not one term: `Cx`."""
    if not isinstance(node, Sum) or walk(node).count(constant) != 1:
        return None
    terms = tuple(one for one in node.args if unsigned(one) != constant)
    return Sum(terms) if len(terms) < len(node.args) else None


def _is_periodic(node: Node, name: str) -> bool:
    """Whether the formula has a term with the letter and pi, and no other letter: `2k\\pi`."""
    terms = [term for n in walk(node) if isinstance(n, Sum) for term in n.args] or [node]
    return any(
        PI in walk(term)
        and symbols(term) == {name}
        and not any(isinstance(n, Power | Apply) and name in symbols(n) for n in walk(term))
        for term in terms
    )


def _occur_once(node: Node, names: frozenset[str]) -> bool:
    """Whether each name occurs once, as a term or factor, and the formula has a further letter: A, B in `Ae^x+Bx`."""
    every = walk(node)
    factors = [one for n in every if isinstance(n, (Sum, Product)) for one in n.args]
    return all(every.count(Symbol(n)) == factors.count(Symbol(n)) == 1 for n in names) and bool(symbols(node) - names)


def _are_free(node: Node, names: frozenset[str]) -> bool:
    """Whether each name occurs once, as a whole term or a factor of one, beside something else: C in `x^2+C`."""
    terms = node.args if isinstance(node, Sum) else (node,)
    alone = [one for term in terms for one in (term.args if isinstance(term, Product) else (term,))]
    every = walk(node)
    return (
        len(every) > len(names) + 1
        and all(alone.count(Symbol(n)) == every.count(Symbol(n)) == 1 for n in names)
        and (len(names) == 1 or bool(symbols(node) - names))
    )


def renamed_to(node: Node, names: tuple[str, ...], others: tuple[str, ...]) -> Node:
    """The node with `others[i]` replaced by `names[i]` for every i, all at once: `x, y` may become `y, x`."""
    between = tuple(f"parameter {at}" for at in range(len(names)))
    for old, new in (*zip(others, between, strict=True), *zip(between, names, strict=True)):
        node = renamed(node, old, new)
    return node


def same_parameter(ref: Named, ans: Named) -> Reading | None:
    """The answer's value with the reference's parameter names: for a reference `f(n) = n`, `f(x) = x` gives `n`.

    None if the answer's value already has a symbol with the new name.
    """
    mine, theirs = ref.name, ans.name
    if not isinstance(mine, UndefinedCall) or not isinstance(theirs, UndefinedCall) or mine.args == theirs.args:
        return ans.value
    ours, others = _parameters(mine), _parameters(theirs)
    values = ans.value.items if isinstance(ans.value, Listing) else (ans.value,)
    nodes = all_known(value.node if isinstance(value, Value) else None for value in values)
    if ours is None or others is None or len(ours) != len(others) or nodes is None:
        return ans.value
    if any(name in symbols(node) for name in ours if name not in others for node in nodes):
        return None
    renamed = tuple(resolve(renamed_to(node, ours, others)) for node in nodes)
    return Listing(ans.value.kind, renamed) if isinstance(ans.value, Listing) else renamed[0]


def _parameters(call: UndefinedCall) -> tuple[str, ...] | None:
    """The names of a function's parameters: x and y of `f(x, y)`; None if an argument is not a name: `f(2)`."""
    names = all_known(a.name if isinstance(a, Symbol) else None for a in call.args)
    return None if names is None else tuple(names)


class WholeNumbers(NamedTuple):
    """A set of whole numbers that a text describes: the odd numbers, `n > 3`, the powers of 2, all but 2 and 3."""

    #: the numbers of the set within `_SPAN`
    members: frozenset[int]
    #: the letter for the numbers, n in `n>3`; empty if there is none
    letter: str
    #: the numbers that belong to the set only if 0 is a natural number
    doubtful: frozenset[int]
    #: `whole` if the text itself says that the numbers are whole; `bounds` if it does not, as in `n>3`; `values` for a
    #: plain list
    told: str

    def positive(self) -> WholeNumbers:
        """The same set without 0 and the negative numbers."""
        return self._replace(members=frozenset(one for one in self.members if one > 0))


# Two different sets that are described with numbers of at most two digits differ within this range
_SPAN = range(-120, 241)
_MOST_TOLD = 99
# Words and commands that do not change which numbers are meant
_FILLING = re.compile(
    r"(?:all|every|any|exactly|precisely|the|those|for|of|when|if|iff|is|are|must|be|values?|only|an?|such that|that"
    r"|which|where|with"
    r"|alle|jede[sr]?|für|wenn|ist|tous?|toutes?|les?|pour|est"
    r"|todos?|todas?|l[oa]s|para|es|tutti|gli|per|os|é|все|всех|всяко[ем]|люб\w+|при|для|—|-(?=\s[а-яё])"
    r"|所有的?|全体|全部|任意的?|一切|的|是|为|すべての|모든|은|는|が|は)(?![a-zа-яß-ÿ])"
    r"|[:|](?=\s*[a-z\\])|\\mid(?=\s*[a-z\\])|\\(?:left|right)|\\[{} ]"
)
_WHOLE = re.compile(
    r"(?:integers?|numbers?|whole|ganzen?|zahl(?:en)?|entiers?|nombres?|enteros?|números?|numeri|interi|inteiros?"
    r"|цел\w+|числ\w+|чисел|整数|数|정수)(?![a-zа-яß-ÿ])"
    r"|,?\s*(?:(?:[a-z]\s*)?(?:\\in|∈)\s*)?(?:\\mathbb\s*(?:z|(?P<natural>n))|ℤ)"
    r"(?:(?P<above>\s*[\^_]?\s*(?:\+|\*|>\s*0|\\geq?\s*1)\s*)|(?!\s*[_^]))"
)
_BASES = {"two": "2", "three": "3", "five": "5", "ten": "10"}
_EVEN = r"even|gerade[ns]?|pairs?|pares|par|pari|ч[её]тн\w+|偶|짝수"
_ODD = r"odd|ungerade[ns]?|impairs?|ímpar(?:es)?|impar(?:es)?|dispari|неч[её]тн\w+|奇|홀수"
_LISTED = (
    r"-?\d{1,4}(?:\s*(?:,?\s*(?:and|or|und|oder|y|o|et|ou|e|и|или|和|或)(?![a-zа-я])|[,、])\s*-?\d{1,4})*"
    r"(?!\d|\s*(?:<|\\l|≤))"
)
_SIGN = r">|<|\\[gl](?:eq?(?:slant)?|t)(?![a-z])|[≥⩾≤⩽]"
_LESS = r"<|\\l(?:eq?(?:slant)?|t)(?![a-z])|[≤⩽]"
_MOD = r"(?:\(?\s*\\[pb]?mod|\(?\s*\\operatorname\s*mod|\(?mod(?:ulo)?)\s*(?P<modulus>\d{1,2})(?!\d)\s*\)?"
# Conditions on a number, which a denial may precede, and their tests
_KEPT: tuple[tuple[str, Callable[[int, re.Match[str]], bool]], ...] = (
    (rf"(?:(?P<odd>{_ODD})|(?:{_EVEN}))(?![a-zа-яß-ÿ])", lambda n, m: n % 2 == (m["odd"] is not None)),
    (
        r"(?:(?:a )?multiples? of|divisible by|vielfachen? von|teilbar durch|multiples? de|divisibles? (?:par|por|per)"
        rf"|múltiplos? de|multipli di|кратн\w+|дел[ия]тся на)\s*(?P<of>{_LISTED})|(?P<times>\d{{1,2}})\s*的倍数",
        lambda n, m: _joined(m)(int(d) > 0 and n % int(d) == 0 for d in re.findall(r"\d+", m["of"] or m["times"])),
    ),
    (
        rf"(?P<letter>[a-z])?\s*(?:\\equiv|≡|congruent to)\s*(?P<rests>\\pm\s*\d{{1,3}}|{_LISTED})\s*{_MOD}",
        lambda n, m: any(
            (n - sign * int(rest)) % int(m["modulus"]) == 0
            for rest in re.findall(r"-?\d+", m["rests"])
            for sign in ((1, -1) if "\\pm" in m["rests"] else (1,))
        ),
    ),
    (
        r"(?P<by>[1-9]\d?)\s*(?:\\mid|∣|\|)\s*\(?(?P<letter>[a-z])(?![a-z])(?:\s*(?P<more>[+-]\s*\d{1,2})\)?)?",
        lambda n, m: (n + int("".join((m["more"] or "0").split()))) % int(m["by"]) == 0,
    ),
    (
        r"(?:perfect )?squares?(?! free)|quadratzahl(?:en)?|carrés? parfaits?|cuadrados? perfectos?|完全平方数",
        lambda n, m: n >= 0 == isqrt(n) ** 2 - n,
    ),
    (
        r"powers? of\s*(?P<base>[2-9](?!\d)|10(?!\d)|two|three|five|ten)",
        lambda n, m: n in [int(_BASES.get(m["base"], m["base"])) ** k for k in range(10)],
    ),
    (
        r"primes?|primzahl(?:en)?|premiers?|primos?|прост\w+|素数|质数",
        lambda n, _: _is_prime(n),
    ),
)
_WITHIN: tuple[tuple[str, Callable[[int, re.Match[str]], bool]], ...] = (
    (
        r"(?:positiven?|positifs?|positivos?|positivi|natural(?:es)?|natürlichen?|naturels?|naturali|naturais"
        r"|натуральн\w+|положительн\w+|正|自然)(?![a-zа-яß-ÿ])",
        lambda n, m: n > 0,
    ),
    (r"non-?negative|nichtnegativen?|неотрицательн\w+|非负", lambda n, m: n >= 0),
    (
        rf"(?P<least>-?\d{{1,2}})\s*(?P<low>{_LESS})\s*(?P<letter>[a-z])\s*(?P<high>{_LESS})\s*(?P<most>-?\d{{1,2}})(?![\d.])",
        lambda n, m: _keeps(int(m["least"]), m["low"], n) and _keeps(n, m["high"], int(m["most"])),
    ),
    (
        rf",?\s*(?P<letter>[a-z])?\s*(?P<sign>{_SIGN}|at least|greater than|more than|at most|less than)"
        r"\s*(?P<end>-?\d{1,2})(?![\d.])",
        lambda n, m: _keeps(n, m["sign"], int(m["end"])),
    ),
    (
        r",?\s*(?:except(?: for)?|other than|excluding|apart from|but(?: not)?|besides|\\setminus"
        r"|\\backslash|not equal to|außer|sauf|excepto|salvo|кроме|tranne|eccetto|除了?"
        r"|(?P<letter>[a-z])?\s*(?:\\neq?(?![a-z])|≠|\\not\s*(?:=|\\in)|\\notin|∉))"
        rf"\s*(?:when )?(?:[a-z]\s*=\s*)?(?:\\\s*)?(?P<but>{_LISTED})(?:\s*\\)?\s*(?:以外|之外)?",
        lambda n, m: str(n) not in re.findall(r"-?\d+", m["but"]),
    ),
)
_NOT = (
    r"(?P<not>(?:is |are )?(?:except (?:for )?|other than |excluding |not (?:an? )?|non-?|nicht |не )"
    r"|\\not\s*|不[是能]?)?"
)
_CONDITIONS = tuple(
    (re.compile(f"{_NOT}(?:{said})"), keeps, kind)
    for kind, table in (("kept", _KEPT), ("within", _WITHIN))
    for said, keeps in table
)
_VALUES = re.compile(
    rf"(?:(?P<letter>[a-z])\s*(?:=|\\in(?![a-z])|∈)\s*)?(?:\\\s+)?(?P<values>{_LISTED})"
    r"(?:\s*\\(?=\s|\Z))?(?![\d.^/a-z+*])"
)
_LETTER_ALONE = re.compile(r"(?P<letter>[nkmxabpt])(?![a-z])")
_JOIN = re.compile(
    r"[,;、，；]?\s*(?:(?P<or>or|oder|ou|o|или|或|\\cup|∪|\\lor)|and|und|et|y|e|и|和|且)(?![a-zа-яß-ÿ])|[,;、，；]"
)
_ANEW = re.compile(
    r"\s*(?:all|every|any|the|alle|tous|todos|tutti|все|所有)(?![a-zа-я])|\s*(?:[a-z]\s*=\s*)?-?\d+\s*(?:\Z|[,;]|and|or)"
)
_RUN = re.compile(r"[:,(]\s*(?:i\.e\.,?\s*|namely\s*)?\d{1,3}(?:\s*,\s*\d{1,3})+\s*,?\s*(?:\\[lc]?dots|\.{3}|…)\s*\)?")
# A condition that the number is prime, too, behind a formula for it: `n=2k+1, where n is prime`
_PRIME_TOO = re.compile(r"\s*[,(]?\s*(?:where |with )?(?P<letter>[a-z]) (?:is (?:a )?)?prime\s*,?\s*")
_LONGEST_CLASS = 120


def _joined(said: re.Match[str]) -> Callable[[Iterable[bool]], bool]:
    """The function `all` for a list of divisors joined by "and", else `any`: `divisible by 2 and 3`, `by 2 or 3`."""
    return all if re.search(r"\b(?:and|und|et|y|e|и)\b|[和且]", said[0]) is not None else any


def _is_prime(number: int) -> bool:
    """Whether the number is prime: 7, but not 1 or 9."""
    return number > 1 and all(number % divisor for divisor in range(2, isqrt(number) + 1))


_STRICT = ("<", ">", "\\lt", "\\gt", "less than", "greater than", "more than")


def _keeps(one: int, sign: str, other: int) -> bool:
    """Whether the relation between two numbers holds: 3 `at least` 3; the relation is a symbol or words."""
    is_below = sign.startswith(("<", "≤", "⩽", "\\l", "less", "at most"))
    return one == other if sign not in _STRICT and one == other else one < other if is_below else one > other


@lru_cache(maxsize=1024)
def whole_numbers_of(text: str) -> WholeNumbers | None:
    r"""The set of whole numbers that a text describes: `all odd n \ge 3`, `n=2k+1, k \in \mathbb{Z}`.

    None if the text says anything else, or is long.
    """
    return _described_numbers(_without_markup(text)) if len(text) <= _LONGEST_CLASS else None


def _without_markup(text: str) -> str:
    r"""A text in lower case without commands for type, braces and a full stop: `all odd n` for `\text{All odd } n.`"""
    for pattern, spelling in _MARKUP:
        text = pattern.sub(spelling, text)
    return " ".join(text.lower().split()).rstrip(" .!。")


_MARKUP = (
    (re.compile(r"\\(?:text|textbf|mathrm|textrm|mbox|operatorname)\s*\{([^{}]*)\}"), r" \1 "),
    (re.compile(r"(\\mathbb|mod|_)\s*\{([^{}]*)\}"), r"\1 \2"),
    (re.compile(r"\$|\\(?:left|right)(?![a-z])|\\[,;:! {}]|\\q?quad(?![a-z])|~"), " "),
)


def _described_numbers(said: str) -> WholeNumbers | None:
    """The set of whole numbers that a text without markup describes; None if the text says anything else."""
    if "=" in said and (prime := _PRIME_TOO.search(said)) is not None:
        rest = _described_numbers(f"{said[: prime.start()]}, {said[prime.end() :].rstrip(')')}")
        if rest is None or rest.letter != prime["letter"]:
            return None
        return rest._replace(members=frozenset(one for one in rest.members if _is_prime(one)), told="whole")
    if (found := _FORM.fullmatch(said)) is not None and (of_form := _of_form(found)) is not None:
        return of_form
    reader = _WholeNumberReader(said)
    return reader.result() if reader.read() else None


class _WholeNumberReader:
    """Reads a text of conditions on whole numbers, such as `1 and all even n > 2`.

    A clause is a run of conditions that a number must all meet. The set has the numbers of every clause, and the
    numbers that the text lists.
    """

    def __init__(self, said: str) -> None:
        self.said, self.at = said, 0
        self.values: set[int] = set()
        self.members: set[int] = set()
        self.clause: set[int] | None = None
        self.letters: set[str] = set()
        self.told = "values"
        self.doubtful = frozenset[int]()
        self.first: set[int] = set()
        #: the conditions repeat after at most so many numbers
        self.period = 1

    def read(self) -> bool:
        """Whether the whole text is understood; then `result` has the set."""
        while self.at < len(self.said):
            if not (self._run() or self._condition() or self._values() or self._join() or self._filling()):
                return False
            self.at += len(self.said[self.at :]) - len(self.said[self.at :].lstrip())
        self._end_clause()
        # a number that is listed and meets a condition, too, means that the text says something else
        is_read = self.values.isdisjoint(self.members) and self._begins()
        return is_read and len(self.letters) <= 1 and self.period < _SPAN.stop // _FEWEST

    def _begins(self) -> bool:
        """Whether the numbers that the text gives as the first ones are the first of the set."""
        least = min(self.first, default=0)
        ordered = sorted(one for one in self.members if one > 0 or one >= least)
        return ordered[: len(self.first)] == sorted(self.first)

    def result(self) -> WholeNumbers | None:
        """The set that the text describes, after `read`; None if it is empty."""
        members = frozenset(self.members | self.values)
        return WholeNumbers(members, "".join(self.letters), self.doubtful, self.told) if members else None

    def _end_clause(self) -> None:
        """Add the numbers of the clause to the set."""
        self.members |= self.clause or set()
        self.clause = None

    def _take(self, found: re.Match[str]) -> bool:
        """Move behind the match and note its letter; always True."""
        self.at = found.end()
        self.letters.update(filter(None, [found.groupdict().get("letter")]))
        return True

    def _condition(self) -> bool:
        """Read a condition, `odd` or `n > 3`, and keep the clause's numbers that meet it; False if there is none."""
        for pattern, keeps, kind in _CONDITIONS:
            found = pattern.match(self.said, self.at)
            told = [] if found is None else list(map(int, re.findall(r"\d+", found[0])))
            if found is not None and max(told, default=0) <= _MOST_TOLD:
                self.period *= max(told, default=1) if kind == "kept" else 1
                denied = found["not"] is not None
                numbers = _SPAN if self.clause is None else self.clause
                self.clause = {one for one in numbers if keeps(one, found) != denied}
                self.told = "whole" if kind == "kept" or self.told == "whole" else "bounds"
                return self._take(found)
        return False

    def _run(self) -> bool:
        r"""Read the first numbers behind a condition, as in `powers of 2: 1, 2, 4, \ldots`; False if there are none."""
        found = _RUN.fullmatch(self.said, self.at)
        if found is None or self.clause is None:
            return False
        self.first = set(map(int, re.findall(r"\d+", found[0])))
        return self._take(found)

    def _values(self) -> bool:
        """Read listed numbers, `2, 3` or `n = 2`; False if there are none."""
        found = _VALUES.match(self.said, self.at)
        if found is None:
            return False
        if self.clause is not None and len(self.clause) == len(_SPAN):
            # `the integers are 2 and 3` means these two only
            self.clause, self.told = None, "values" if not self.members else self.told
        self._end_clause()
        self.values.update(map(int, re.findall(r"-?\d+", found["values"])))
        return self._take(found)

    def _join(self) -> bool:
        """Read an `and`, an `or` or a comma, which may end the clause; False if there is none."""
        found = _JOIN.match(self.said, self.at)
        if found is None:
            return False
        if found["or"] or self.clause is None or _ANEW.match(self.said, found.end()):
            self._end_clause()
        return self._take(found)

    def _filling(self) -> bool:
        """Read a word for whole numbers, a letter alone, or a word without a meaning here; False if there is none."""
        found = _WHOLE.match(self.said, self.at)
        if found is not None:
            self.told = "whole"
            self.clause = set(_SPAN) if self.clause is None else self.clause
            if found["natural"] is not None and found["above"] is None:
                self.doubtful = frozenset({0})
            if found["natural"] is not None or found["above"] is not None:
                least = 0 if found["above"] is None else 1
                self.clause = {one for one in self.clause if one >= least}
        found = found or _FILLING.match(self.said, self.at) or _LETTER_ALONE.match(self.said, self.at)
        return found is not None and self._take(found)


# `2k+1, k \in \mathbb{Z}`: a formula in a letter, and the whole numbers that the letter may be
_FORM = re.compile(
    r"\A(?:(?P<own>[a-z])\s*=\s*)?(?P<form>[^=<>≤≥,;:(]*?(?:\([^()=<>,]*\)[^=<>≤≥,;:(]*)*?)\s*(?:[,;:|(]|\\mid(?![a-z]))?\s*"
    r"(?:(?:其中|where|with|for|mit|où|für|dove|con|где)\s*)?(?:(?:some|any|all|every|an?)\s)?"
    r"(?P<said>(?:positive|non-?negative)?\s*(?:integers?|(?:whole )?numbers?)\s*)?(?P<of>[a-z])(?![a-z])\s*"
    r"(?:(?P<is>(?:is|being|ist|est|es)\s(?:an?\s|any\s)?(?:positive|non-?negative)?\s*(?:integer|whole number))"
    r"|(?P<field>\\in|∈)\s*(?:\\mathbb\s*(?:z|(?P<natural>n))|ℤ)(?:\s*_?\s*\^?\s*(?P<above>\+|\*|>\s*0|\\geq?\s*[01]|0))?"
    r"|(?P<bound>>|\\geq?(?:slant)?(?![a-z])|≥)\s*(?P<least>-?\d{1,2})(?:\s*,?\s*(?P=of)\s*\\in\s*\\mathbb\s*[zn])?"
    r"|=\s*(?P<count>[01])\s*,.*(?:dots|…))?\s*\)?"
)


def _of_form(found: re.Match[str]) -> WholeNumbers | None:
    r"""The values of a formula in a letter for whole numbers: 1, 2, 4, ... for `n=2^k, k \ge 0`.

    None if the formula cannot be read, has other letters, a value that is not whole, or fewer than three values.
    """
    words, least = f"{found['said'] or ''}{found['is'] or ''}", None
    if found["least"] is not None:
        least = int(found["least"]) + (found["bound"] == ">")
    elif found["count"] is not None:
        least = int(found["count"])
    elif "positive" in words or (found["above"] is not None and _FROM_ZERO.fullmatch(found["above"]) is None):
        least = 1
    elif "negative" in words or found["natural"] or found["above"] is not None:
        least = 0
    try:
        form = parse(found["form"])
    except (Unreadable, TooComplex):
        return None
    is_whole = words or any(found[one] for one in ("field", "bound", "count"))
    if not is_whole or symbols(form) != {found["of"]} or found["of"] == found["own"]:
        return None
    members: list[int] = []
    start = least or 0
    for steps in (range(start, start + _SPAN.stop), range(-1, 4 * _SPAN.start, -1) if least is None else ()):
        beyond = 0
        for step in steps:
            value = exact_value(substituted(form, found["of"], number(step)))
            if value is None or value.denominator != 1:
                return None
            members.append(int(value))
            beyond = 0 if int(value) in _SPAN else beyond + 1
            if beyond > _PAST:
                break
    doubtful = members[:1] if found["natural"] and found["above"] is None else []
    within = frozenset(members) & {*_SPAN}
    # too few values do not show which numbers belong to the set
    if len(within) < _FEWEST:
        return None
    return WholeNumbers(within, found["own"] or "", frozenset(doubtful), "whole")


_PAST, _FEWEST = 3, 3
_FROM_ZERO = re.compile(r"[^>]*0")
