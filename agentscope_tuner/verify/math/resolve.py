"""Nodes to readings: the values that an answer or a reference states, by kind.

A `Value` is a single value. `Solutions` are solved values: named, listed, an interval or a family. A `Statement` is not
solved yet. A `Wording` is not mathematics. A statement must not be taken for its solution by accident. So `compare` has
an explicit rule for each pair of kinds that may be equal.

The last term gives the general term, if two or more first terms agree with it. Sums of plain numbers are arithmetic:
their terms stand at equal distances. If three first terms are written, the sum may be geometric, with equal ratios. Any
other meaning of dots would be a guess, so such dots are left as they are.

Two progressions are equal if their steps are equal up to the sign, and their members at 0 differ by a whole number of
steps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, takewhile
from math import ceil, floor, lcm
from typing import Literal, NamedTuple

from agentscope_tuner.verify.math.canonical import key
from agentscope_tuner.verify.math.exact import Exact, Unknown, exact_value
from agentscope_tuner.verify.math.node import (
    DIFFERENT,
    EQUAL,
    MARKS,
    PI,
    Apply,
    Array,
    BigOperator,
    Collection,
    Connective,
    Interval,
    Negation,
    Node,
    Number,
    Outcome,
    PlusMinus,
    Power,
    Product,
    Quotient,
    Relation,
    SetBuilder,
    SetOperation,
    Sum,
    Symbol,
    Text,
    UndefinedCall,
    difference,
    equation,
    is_collection,
    is_equation,
    is_joined,
    is_matrix,
    is_relation,
    literal,
    number,
    product_of,
    renamed,
    substituted,
    symbols,
    walk,
    with_args,
)
from agentscope_tuner.verify.math.scan import EMPTY_SET, INTEGERS, REALS, WORD_SETS
from agentscope_tuner.verify.math.sets import (
    ParameterRange,
    assignment,
    conditions,
    conditions_of,
    family,
    is_bare,
    is_equal_names,
    is_name,
    is_range,
    is_solved_region,
    label,
    region_name,
)


def is_signed(node: Node) -> bool:
    return any(isinstance(n, PlusMinus) for n in walk(node))


def choose(node: Node, sign: int) -> Node:
    """The node with every plus-minus read as plus (`sign` 1) or minus (-1), every minus-plus as the opposite."""
    args = tuple(choose(a, sign) for a in node.args)
    if isinstance(node, PlusMinus):
        positive = (sign > 0) == node.plus_first
        last = args[-1] if positive else Negation(args[-1])
        return last if len(args) == 1 else Sum((args[0], last))
    return with_args(node, args) if args != node.args else node


def both_signs(node: Node) -> Node:
    """A statement with a plus-minus as the two statements that it stands for."""
    if isinstance(node, Relation) and is_signed(node):
        return Connective("or", (choose(node, 1), choose(node, -1)))
    return node


def negated(node: Node) -> Node:
    """`-(2, 3)` as `(-2, -3)`."""
    if isinstance(node, Negation) and is_collection(node.inside, "tuple"):
        return Collection("tuple", tuple(map(Negation, node.inside.args)))
    return with_args(node, tuple(map(negated, node.args))) if isinstance(node, Collection) else node


def componentwise(node: Node) -> Node:
    """The node with each sum or multiple of tuples computed into one tuple, where a symbol occurs in it.

    A number times a tuple is computed, too. Left as it is: tuples of different lengths, and sums without a symbol.
    """
    args = node.args
    scaled = isinstance(node, Product) and len(args) == 2 and literal(args[0]) is not None
    if isinstance(node, (Sum, Product)) and any(map(_holds_tuple, args)) and (symbols(node) or scaled):
        found = _tuple_of(node)
        return node if found is None else Collection("tuple", found)
    if isinstance(node, (Sum, Product)) or not args or not any(map(_holds_tuple, args)):
        return node
    return with_args(node, tuple(map(componentwise, args)))


def _holds_tuple(node: Node) -> bool:
    return _members(node) is not None or (
        isinstance(node, (Sum, Product, Negation)) and any(map(_holds_tuple, node.args))
    )


def _members(node: Node) -> tuple[Node, ...] | None:
    """The components of a tuple or of a column; None for any other node."""
    if is_collection(node, "tuple") and len(node.args) > 1:
        return node.args
    if isinstance(node, Array) and is_matrix(node) and len(node.rows) > 1 and all(len(row) == 1 for row in node.rows):
        return node.args
    return None


def _tuple_of(node: Node) -> tuple[Node, ...] | None:
    if (members := _members(node)) is not None:
        return members
    match node:
        case Negation(inside):
            found = _tuple_of(inside)
            return None if found is None else tuple(map(Negation, found))
        case Product(args):
            vectors = [a for a in args if _holds_tuple(a)]
            scalars = tuple(a for a in args if not _holds_tuple(a))
            found = _tuple_of(vectors[0]) if len(vectors) == 1 and scalars else None
            return None if found is None else tuple(product_of((*scalars, one)) for one in found)
        case Sum(args):
            parts = [_tuple_of(a) for a in args]
            known = [p for p in parts if p is not None]
            if len(known) < len(parts) or len(set(map(len, known))) != 1:
                return None
            return tuple(Sum(column) for column in zip(*known, strict=True))
    return None


ELLIPSIS = Symbol("\\ldots")
_INDEX = "index of a sum"
_STARTS = (1, 0, 2, 3)
_MOST_TERMS = 10_000


def written_out(node: Node) -> Node:
    """The tree with each sum or product that has dots rewritten without them."""
    if ELLIPSIS not in walk(node):
        return node
    args = tuple(map(written_out, node.args))
    node = with_args(node, args) if args else node
    if isinstance(node, (Sum, Product)) and node.args.count(ELLIPSIS) == 1 and node.args[-2:-1] == (ELLIPSIS,):
        found = _without_dots(node.args[:-2], node.args[-1], isinstance(node, Sum))
        return node if found is None else found
    return node


def _without_dots(first: tuple[Node, ...], last: Node, is_sum: bool) -> Node | None:
    if len(first) < 2:
        return None
    if not symbols(last):
        return _of_numbers(first, last) if is_sum else None
    inside = frozenset().union(*map(symbols, first))
    for name in sorted(symbols(last) - inside):
        for start in _STARTS:
            if all(is_same_formula(substituted(last, name, number(start + at)), term) for at, term in enumerate(first)):
                body = renamed(last, name, _INDEX)
                return BigOperator(
                    "sum" if is_sum else "prod", body, (equation(Symbol(_INDEX), number(start)), Symbol(name))
                )
    return None


def is_same_formula(left: Node, right: Node) -> bool:
    """Whether two formulas agree at two random points, computed exactly."""
    try:
        return all(Exact(seed).value(difference(_plain(left), right)) == 0 for seed in ("term", "another term"))
    except Unknown:
        return False


def _plain(node: Node) -> Node:
    """The node without exponents 1 and 0: `x^1` becomes x, `x^0` becomes 1."""
    args = tuple(map(_plain, node.args))
    node = with_args(node, args) if args else node
    if isinstance(node, Power) and exact_value(node.exponent) in (0, 1):
        return node.base if exact_value(node.exponent) else number(1)
    return node


def _of_numbers(first: tuple[Node, ...], last_node: Node) -> Node | None:
    values = [exact_value(term) for term in (*first, last_node)]
    if None in values:
        return None
    *terms, last = [value for value in values if value is not None]
    steps = {b - a for a, b in pairwise(terms)}
    if len(steps) == 1 and (step := steps.pop()):
        count = (last - terms[0]) / step + 1
        mean = Quotient(Sum((first[0], last_node)), number(2))
        return Product((number(count), mean)) if count.denominator == 1 and count > len(terms) else None
    ratios = {b / a for a, b in pairwise(terms) if a}
    if len(terms) < 3 or len(ratios) != 1:
        return None
    return _geometric(terms, last, ratios.pop())


def _geometric(terms: list[Fraction], last: Fraction, ratio: Fraction) -> Node | None:
    total, term, count = Fraction(0), terms[0], 0
    while (
        count < _MOST_TERMS
        and abs(term) != abs(last)
        and term.numerator.bit_length() < last.numerator.bit_length() + 64
    ):
        total, term, count = total + term, term * ratio, count + 1
    return number(total + term) if term == last and count >= len(terms) else None


_STEP = Symbol("step of a progression")
COUNTING = frozenset({"n", "k", "m", "l", "j", "t", "q"})
_PARAMETERS = frozenset({"s", "r", "u", "\\lambda", "\\mu"})
_CONSTANTS = frozenset({"C", "c", "K"})
_SEEDS = ("progression", "another progression")
_LARGEST_EXPONENT = 10**18


class Progression(NamedTuple):
    """The values of the bodies for all whole numbers in the place of `parameter`.

    Attributes:
        name: the unknown, if the text names it.
        is_said: whether the text states that the parameter is a whole number.
    """

    name: str | None
    bodies: tuple[Node, ...]
    parameter: str
    is_said: bool


def same_progression(ref: Reading, ans: Reading) -> Outcome | None:
    """Whether both are the same numbers, in one progression or in several.

    None if a side is not made of progressions, or if neither side states that its parameter is a whole number.
    """
    turns = _alternates(ref) or _alternates(ans)
    if not (turns or _may_be_said(ref) or _may_be_said(ans)):
        return None
    mine, theirs = progression(ref), progression(ans)
    if mine is None or theirs is None or not (turns or mine.is_said or theirs.is_said):
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


def _may_be_said(reading: Reading) -> bool:
    """Whether a reading may state that a parameter is a whole number: a test before the trees are walked."""
    return isinstance(reading.value if isinstance(reading, Named) else reading, (Family, Statement))


def _alternates(reading: Reading) -> bool:
    """Whether a power of -1 shows that the parameter is a whole number: `(-1)^n a+\\pi n`."""
    value = reading.value if isinstance(reading, Named) else reading
    if not isinstance(value, Value) or not isinstance(value.node, Sum):
        return False
    powers = (n for n in walk(value.node) if isinstance(n, Power))
    return any(literal(p.base) == -1 and frozenset() < symbols(p.exponent) <= COUNTING for p in powers)


def progression(reading: Reading) -> Progression | None:
    """The progressions that the reading may state; None if it has no such form. The distances are not checked."""
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
    if parameter is None and (len(every) != 1 or not every <= COUNTING - {unknown}):
        return None
    return Progression(unknown, bodies, parameter or next(iter(every)), parameter is not None) if bodies else None


def _bodies(reading: Reading) -> tuple[Node, ...]:
    """The expressions that a reading lists; none if it holds anything else."""
    items = reading.items if isinstance(reading, Listing) and reading.kind in ("list", "set") else (reading,)
    found = tuple(i.node for i in items if isinstance(i, Value))
    return found if len(found) == len(items) <= _MOST_LINES else ()


_MOST_LINES = 12
# Members that are computed to see that they stand at equal distances, and the longest period in steps
_MEMBERS, _LONGEST_PERIOD = 6, 60
Line = tuple[Fraction, Fraction]


def _lines(found: Progression, seed: str) -> list[Line] | None:
    """The step and the first member of each progression; None if members are not at equal distances.

    Every second member of a body with a sign, as in `(-1)^k a + k \\pi`, makes a progression of its own.
    """
    lines: list[Line] = []
    for body in found.bodies:
        try:
            values = [Exact(seed).value(substituted(body, found.parameter, number(at))) for at in range(_MEMBERS)]
        except Unknown:
            return None
        parts = [values] if len({b - a for a, b in pairwise(values)}) == 1 else [values[::2], values[1::2]]
        for part in parts:
            steps = {b - a for a, b in pairwise(part)}
            if len(steps) != 1 or not (step := steps.pop()):
                return None
            lines.append((step, part[0]))
    return lines


def _period(steps: Sequence[Fraction]) -> Fraction | None:
    """The least common multiple of the steps; None if they have none that is short."""
    below = lcm(*(step.denominator for step in steps)) if all(s.denominator <= _LONGEST_PERIOD for s in steps) else 0
    if not below or any(abs(step) > _LONGEST_PERIOD for step in steps):
        return None
    period = Fraction(lcm(*(abs(int(step * below)) for step in steps)), below)
    return period if all(period / abs(step) <= _LONGEST_PERIOD for step in steps) else None


def _residues(lines: Sequence[Line], unit: Fraction, period: Fraction) -> set[Fraction]:
    """The members of the progressions within one period, both counted in units."""
    return {
        (first + step * at) / unit % period for step, first in lines for at in range(int(period / abs(step / unit)))
    }


def residue(node: Node) -> Node | None:
    r"""The 2 of `17 \equiv 2 \pmod 5`: of two congruent numbers the one that is the remainder.

    None for any other node, and where both numbers or none is the remainder.
    """
    if not is_relation(node, "=", "pmod") or symbols(node):
        return None
    *members, modulus_node = node.args
    modulus = exact_value(modulus_node)
    if modulus is None or modulus.denominator != 1 or modulus < 2:
        return None
    found = [_remainder(member, int(modulus)) for member in members]
    if found[0] is None or found[0] != found[1]:
        return None
    least = [m for m in members if exact_value(m) == found[0]]
    return least[0] if len(least) == 1 else None


def _remainder(node: Node, modulus: int) -> int | None:
    """The remainder of a whole number, which may be a very large power; None for any other value."""
    match node:
        case Number(value):
            return int(value) % modulus if value.denominator == 1 else None
        case Negation(inside):
            found = _remainder(inside, modulus)
            return None if found is None else -found % modulus
        case Sum(args) | Product(args):
            total = int(isinstance(node, Product))
            for part in (_remainder(a, modulus) for a in args):
                if part is None:
                    return None
                total = total * part if isinstance(node, Product) else total + part
            return total % modulus
        case Power(base, exponent):
            below, times = _remainder(base, modulus), exact_value(exponent)
            if below is None or times is None or times.denominator != 1 or not 0 <= times <= _LARGEST_EXPONENT:
                return None
            return pow(below, int(times), modulus)
    known = exact_value(node)
    return int(known) % modulus if known is not None and known.denominator == 1 else None


def with_dummy_of(ref: Named, ans: Reading, letters: frozenset[str]) -> Reading:
    """The answer's value with its counting letter replaced by the reference's: the m of `n = 2^m` for `n = 2^k`."""
    match ref.value, ans:
        case Value(mine), Value(theirs):
            wanted, found = symbols(mine), symbols(theirs)
            dummies = _CONSTANTS if isinstance(mine, Symbol) and isinstance(theirs, Symbol) else COUNTING
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
    if len(wanted) != 1 or len(found) != 1 or wanted == found or not known <= COUNTING | _PARAMETERS or known & letters:
        return ans
    (old,), (new,) = found, wanted
    return Listing(
        ans.kind, tuple(_with_value(i, renamed(v, old, new)) for i, v in zip(ans.items, theirs, strict=True))
    )


def _names(reading: Reading) -> frozenset[str]:
    """The symbols in the names of a listing's members."""
    items = reading.items if isinstance(reading, Listing) else ()
    return frozenset(n for item in items if isinstance(item, Named) for n in symbols(item.name))


def _with_value(item: Reading, value: Node) -> Reading:
    return Named(item.name, Value(value), item.node) if isinstance(item, Named) else Value(value)


def _values(reading: Reading) -> list[Node] | None:
    """The values of a listing's members, named or not; None for any other reading."""
    if not isinstance(reading, Listing):
        return None
    values = [i.value if isinstance(i, Named) else i for i in reading.items]
    nodes = [value.node for value in values if isinstance(value, Value)]
    return nodes if len(nodes) == len(values) else None


@dataclass(frozen=True, slots=True)
class Value:
    """An expression: a number, a formula, a quantity with its unit."""

    node: Node


@dataclass(frozen=True, slots=True)
class Chain:
    """`84/2 = 42`, `\\sqrt2 \\approx 1.41`: every member must agree with the other side.

    The `exact` members must be equal. The `rough` members, which follow an approximation sign, must be close.
    """

    exact: tuple[Reading, ...]
    rough: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Ratio:
    """`3:4`, or a time of day: the parts between the colons, as written."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix, or a definition by cases."""

    rows: tuple[tuple[Reading, ...], ...]
    node: Array


@dataclass(frozen=True, slots=True)
class Named:
    """`x = …`, `f(x) = …`, `x \\in …`: a name alone on one side, its value on the other; `node` is the relation."""

    name: Node
    value: Reading
    node: Node


@dataclass(frozen=True, slots=True)
class Listing:
    """Several readings. In a `list` and a `set` the order is free; a `named` listing is `x = 1, y = 2`."""

    kind: Literal["list", "set", "tuple", "named"]
    items: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A set of real numbers given by its ends: an interval, a union, `x > 2`; `name` is the unknown, if it is named."""

    node: Node
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """`k\\pi, k \\in \\mathbb{Z}`: the values of a body for each parameter value in a field, or under a condition."""

    body: Reading
    range: ParameterRange


@dataclass(frozen=True, slots=True)
class Statement:
    """One or more equations or inequalities that are not solved."""

    node: Node


@dataclass(frozen=True, slots=True)
class Wording:
    """Words that are not mathematics."""

    text: str


Solutions = Named | Listing | Region | Family
Reading = Value | Chain | Ratio | Grid | Solutions | Statement | Wording


def resolve(node: Node) -> Reading:
    """The reading of the node."""
    match node:
        case Sum((left, Negation(right))) if _is_set(left) and _is_set(right):
            # Between sets a minus sign means the difference
            return resolve(SetOperation("difference", (left, right)))
        case Symbol(name) if name.startswith("\\mathbb"):
            return Region(node)
        case Product(args) if len(args) > 1 and all(is_collection(a, "tuple") and len(a.args) > 1 for a in args):
            # `(2,3)(2,7)`: points without commas between them
            return _list(Collection("list", args))
        case Text(words):
            return _words(words)
        case Collection("tuple"):
            return _tuple(node)
        case Collection("set"):
            return _set(node)
        case Collection("list"):
            return _list(node)
        case Interval():
            return Region(node)
        case SetOperation() | Connective("not"):
            return _region(node)
        case Connective():
            return _joined(node)
        case Relation():
            return _relation(node)
        case Array():
            return _grid(node)
    return _value(node)


def _grid(node: Array) -> Reading:
    rows = node.rows
    if any(row[1:] == (_OTHERWISE,) for row in rows):
        said = Connective("or", tuple(row[-1] for row in rows if row[-1] != _OTHERWISE))
        rest = SetOperation("difference", (Symbol(REALS), said))
        node = Array(node.kind, tuple((row[0], rest if row[-1] == _OTHERWISE else row[-1]) for row in rows))
    return Grid(tuple(tuple(map(resolve, row)) for row in node.rows), node)


# The name of a point
_POINT = re.compile(r"[A-Z](?:_\d)?'*")
_OTHERWISE = Symbol("\\otherwise")


def _through_integers(node: Node) -> Node | None:
    r"""`3 + 7\mathbb{Z}` as `3 + 7k, k \in \mathbb{Z}`; None for any other formula."""
    whole = Symbol(INTEGERS)
    if [n for n in walk(node) if isinstance(n, Symbol) and n != PI] != [whole]:
        return None
    return Collection("list", (renamed(node, INTEGERS, "k"), Relation((Symbol("k"), whole), ("in",))))


def _is_set(node: Node) -> bool:
    field = isinstance(node, Symbol) and node.name.startswith("\\mathbb")
    return field or isinstance(node, (Interval, SetOperation)) or is_collection(node, "set")


def _value(node: Node) -> Reading:
    match node:
        case Product((Symbol(name), Collection("tuple", (_, _, *_)) as point)) if _POINT.fullmatch(name):
            return Named(node.args[0], resolve(point), node)
        case UndefinedCall(name, (_, _, *_) as args) if _POINT.fullmatch(name) and not symbols(node):
            return Named(Symbol(name), resolve(Collection("tuple", args)), node)
        case Power(Array("matrix", rows), Symbol("T" | "\\top")):
            return resolve(Array("matrix", tuple(zip(*rows, strict=True))))
        case Sum() | Product() if (through := _through_integers(node)) is not None:
            return resolve(through)
    if isinstance(node, Negation) and isinstance(node.inside, MARKS):
        # Give the sign to the number inside the quantity
        node = with_args(node.inside, (Negation(node.inside.inside),))
    return _both_values(node) if is_signed(node) else Value(node)


def _both_values(node: Node) -> Reading:
    """The two values of a node with a plus-minus sign, as a list."""
    return Listing("list", (resolve(negated(choose(node, 1))), resolve(negated(choose(node, -1)))))


def _words(words: str) -> Reading:
    name = WORD_SETS.get(words.lower())
    if name is None:
        return Wording(words)
    return Listing("set", ()) if name == EMPTY_SET else resolve(Symbol(name))


def _tuple(node: Collection) -> Reading:
    return _both_values(node) if is_signed(node) else Listing("tuple", tuple(map(resolve, node.args)))


def _set(node: Collection) -> Reading:
    node = Collection("set", _without_ellipsis(node.args))
    match node.args:
        case (SetBuilder() as builder,):
            if (built := _built(builder)) is not None:
                return built
            return _family(node) or (Region(node) if is_solved_region(node) else _condition(builder, node))
    items = _flat(map(resolve, node.args))
    names = {label(i.name) for i in items if isinstance(i, Named)}
    # `{x = 3, y = 4}` is a solution, whose values have names
    return (len(names) == len(items) > 1 and named_together(items)) or Listing("set", items)


def _built(builder: SetBuilder) -> Reading | None:
    r"""The elements or the family of a builder that names them: `\{x : x = 2k, k = 1, 2, 3\}`; None for any other."""
    match builder:
        case SetBuilder(Symbol() as own, Collection("list", (Relation((name, body), ("!=",)), second))) if name == own:
            if not is_range(second):
                return None
            return Listing("tuple", (Wording("all but"), resolve(Collection("list", (body, second)))))
        case SetBuilder(Symbol() as own, Collection("list", (Relation((name, body), ("=",)), *rest))) if name == own:
            if own.name in symbols(body) or not rest:
                return None
            builder = SetBuilder(body, Collection("list", tuple(rest)))
            if len(rest) == 1 and is_range(rest[0]):
                return resolve(Collection("list", (body, rest[0])))
    values = _listed_values(builder)
    return None if values is None else Listing("set", tuple(map(resolve, values)))


def _listed_values(builder: SetBuilder) -> list[Node] | None:
    r"""The elements of a formula in a letter with a few whole values: `2k` for `k \in \mathbb{Z}, 1 \le k \le 4`."""
    body, parts = builder.element, list(_without_ellipsis(conditions_of(builder)))
    if len(names := symbols(body)) != 1 or is_bare(body):
        return None
    (letter,) = names
    match parts[0], *parts[1:]:
        case Relation((Symbol(name), Number() as first), ("=",)), *rest if name == letter:
            values = [one.value for one in (first, *rest) if isinstance(one, Number)]
            return [substituted(body, letter, number(v)) for v in values] if len(values) == len(parts) else None
        case Relation((Symbol(name), Collection("set", args)), ("in",)), *rest if name == letter and not rest:
            return [substituted(body, letter, one) for one in _without_ellipsis(args)]
    bounds = [part for part in parts if not (is_range(part) and part.args[1] in _WHOLE)]
    match bounds:
        case [Relation((Number(low), Symbol(name), Number(high)), (("<" | "<=") as opens, ("<" | "<=") as shuts))]:
            below, above = (
                ceil(low) + (opens == "<" and low == ceil(low)),
                floor(high) - (shuts == "<" and high == floor(high)),
            )
            if name == letter and len(parts) == 2 and above - below < _MOST_LISTED:
                return [substituted(body, letter, number(at)) for at in range(below, above + 1)]
    return None


def _without_ellipsis(args: tuple[Node, ...]) -> tuple[Node, ...]:
    r"""The members with those that dots leave out, at equal distances: `1, 3, \ldots, 9`."""
    if args.count(ELLIPSIS) != 1 or (at := args.index(ELLIPSIS)) in (0, len(args) - 1):
        return args
    values = [literal(a.args[1] if is_equation(a) else a) for a in (*args[:at], args[at + 1])]
    known = [v for v in takewhile(lambda v: v is not None, values[::-1]) if v is not None][::-1]
    steps = {b - a for a, b in pairwise(known[:-1])} or {Fraction(1)}
    if len(known) < len("ab") or len(steps) != 1 or not (step := steps.pop()) or any(v.denominator > 1 for v in known):
        return args
    count = (known[-1] - known[-2]) / step
    if count.denominator != 1 or not 0 < count <= _MOST_LISTED:
        return args
    return (*args[:at], *(number(known[-2] + step * n) for n in range(1, int(count))), *args[at + 1 :])


_WHOLE = (Symbol(INTEGERS), Symbol("\\mathbb{N}"))
_MOST_LISTED = 100


def _condition(builder: SetBuilder, node: Node) -> Reading:
    """A builder as the condition that it states, if that has no letter but those of its elements."""
    own = symbols(builder.element) if not isinstance(builder.element, Relation) else frozenset()
    points = isinstance(builder.element, Symbol) or is_collection(builder.element, "tuple")
    if not points or symbols(builder.condition) != own:
        return Statement(node)
    return Statement(builder.condition)


def _flat(items: Sequence[Reading] | map[Reading]) -> tuple[Reading, ...]:
    found: list[Reading] = []
    for item in items:
        found.extend(item.items if isinstance(item, Listing) and item.kind == "list" else (item,))
    return tuple(found)


def _family(node: Node) -> Reading | None:
    found = family(node)
    return None if found is None else Family(resolve(found.body), found)


def _list(node: Collection) -> Reading:
    node = Collection("list", _without_ellipsis(tuple(one for a in node.args for one in _single(a))))
    found = _family(node)
    if found is not None:
        return found
    if (solutions := _alternatives(node)) is not None:
        return solutions
    if conditions(node):
        return _joined(Connective("and", node.args))
    args = [a for at, a in enumerate(node.args) if at == 0 or not is_range(a)]
    if not args:
        return Statement(node)
    items = _flat(map(resolve, args))
    if len(items) == 1:
        return items[0]
    if all(isinstance(i, Region) and i.name is not None for i in items):
        return _region(node)
    if isinstance(items[0], Named) and not any(isinstance(i, (Named, Statement, Region)) for i in items[1:]):
        # `x = 1, 2`: the name belongs to all values
        return Named(items[0].name, Listing("list", (items[0].value, *items[1:])), node)
    return named_together(items) or Listing("list", items)


def _alternatives(node: Collection) -> Reading | None:
    """The solutions of `a = 2, b = 3 or a = 3, b = 2`: each gives the same unknowns values; None for another list."""
    rows: list[list[Node]] = [[]]
    for member in node.args:
        first, *others = member.args if is_joined(member, "or") else (member,)
        rows[-1].append(first)
        rows += [[other] for other in others]
    found = [tuple(map(resolve, row)) for row in rows]
    labels = {tuple(label(i.name) if isinstance(i, Named) else () for i in row) for row in found}
    if len(rows) < 2 or len(labels) != 1 or len(set(next(iter(labels)))) != len(rows[0]) or len(rows[0]) < 2:
        return None
    if () in next(iter(labels)):
        return None
    return Listing("list", tuple(Listing("named", row) for row in found))


def _single(node: Node) -> tuple[Node, ...]:
    """A list's member as one or more equations: `y = 2 and z = 3` is two, and so is `a = b = 2`."""
    if is_joined(node, "and") and all(isinstance(a, Relation) and "=" in a.operators for a in node.args):
        return tuple(one for a in node.args for one in _single(a))
    if isinstance(node, Relation) and len(node.args) > 2 and set(node.operators) == {"="}:
        *names, value = node.args
        if all(map(is_name, names)) and not symbols(value):
            return tuple(equation(name, value) for name in names)
    return (node,)


def named_together(items: tuple[Reading, ...], node: Node | None = None) -> Reading | None:
    """Named values as the values of one unknown, a solution, or several if the names repeat in order; else None."""
    named = [i for i in items if isinstance(i, Named)]
    if len(named) != len(items) or len(items) < 2:
        return None
    labels = [label(n.name) for n in named]
    if len(set(labels)) == 1:
        values = _flat([n.value for n in named])
        return Named(named[0].name, Listing("list", values), node or Connective("or", tuple(n.node for n in named)))
    period = len(set(labels))
    if len(labels) % period or any(labels[at] != labels[at % period] for at in range(len(labels))):
        return None
    rows = tuple(Listing("named", items[at : at + period]) for at in range(0, len(items), period))
    return rows[0] if len(rows) == 1 else Listing("list", rows)


def _region(node: Node) -> Reading:
    return Region(node, region_name(node)) if is_solved_region(node) else Statement(node)


def _joined(node: Connective) -> Reading:
    """The reading of parts joined by `and` or `or`: a region, a list, or a statement."""
    if is_solved_region(node):
        return _region(node)
    if node.operator == "and" and all(isinstance(a, Symbol) and a.name in "pqrs" for a in node.args):
        # a formula of logic; `p or q` may be two answers
        return Statement(node)
    items = tuple(map(resolve, node.args))
    if not any(isinstance(i, (Statement, Region)) for i in items):
        together = named_together(items, node)
        if isinstance(together, Listing) and together.kind == "named" and node.operator == "or":
            # `a = 0 or b = 0` does not give both unknowns a value
            return Statement(node)
        return together or _united(items)
    if any(isinstance(i, Statement) for i in items) or node.operator == "and":
        return Statement(node)
    return Listing("list", _flat(items))


def _united(items: tuple[Reading, ...]) -> Reading:
    first = items[0]
    if isinstance(first, Named) and not any(isinstance(i, Named) for i in items[1:]):
        return Named(first.name, Listing("list", _flat((first.value, *items[1:]))), first.node)
    return Listing("list", _flat(items))


def _relation(node: Relation) -> Reading:
    if (least := residue(node)) is not None:
        return resolve(least)
    operators = set(node.operators)
    if operators <= {"=", ":"} and ":" in operators:
        return _ratio(node)
    if "=" in operators and (named := _by_name(node)) is not None:
        return named
    if is_signed(node):
        return Statement(node) if assignment(node) is None else resolve(both_signs(node))
    found = assignment(node)
    if found is not None:
        name, value = found
        reading = resolve(value)
        if is_relation(node, "in"):
            reading = _as_set(reading)
        return Statement(node) if isinstance(reading, Statement) else Named(name, reading, node)
    if is_solved_region(node):
        return _region(node)
    return _chain(node)


def _as_set(reading: Reading) -> Reading:
    """The set after `\\in`: a pair in round brackets means an interval there."""
    if isinstance(reading, Listing) and reading.kind == "tuple" and len(reading.items) == 2:
        low, high = reading.items
        if isinstance(low, Value) and isinstance(high, Value):
            return Region(Interval(low.node, high.node, False, False))
    return reading


def _ratio(node: Relation) -> Reading:
    """The reading of `3:4`, `x:y = 3:4` or `AB:CD = 3/4`: a ratio, named by the side before the equals sign."""
    sides: list[list[Node]] = [[node.args[0]]]
    for operator, member in zip(node.operators, node.args[1:], strict=True):
        if operator == "=":
            sides.append([])
        sides[-1].append(member)
    *before, last = sides
    value: Reading = Ratio(tuple(last)) if len(last) > 1 else resolve(last[0])
    if not before:
        return value
    if len(before) > 1:
        return Statement(node)
    return Named(Collection("ratio", tuple(before[0])), value, node)


def _by_name(node: Relation) -> Reading | None:
    """`(x, y) = (1, 2)` as `x = 1, y = 2`, so that values are compared by name; None for any other relation."""
    if not is_equation(node) or not all(is_collection(a, "tuple", "list") for a in node.args) or is_signed(node):
        return None
    found = assignment(node)
    if found is None or len(found[0].args) != len(found[1].args) or len(found[0].args) < 2:
        return None
    pairs = zip(found[0].args, found[1].args, strict=True)
    items = tuple(resolve(equation(*pair)) for pair in pairs)
    return named_together(items) if all(isinstance(i, Named) for i in items) else None


def _chain(node: Relation) -> Reading:
    """`a = b = c` as a chain of equal values; a member after `~` may be rounded. Any other relation is a statement."""
    if set(node.operators) - {"=", "~"} or is_equal_names(node):
        return Statement(node)
    members = list(zip(node.operators, node.args[1:], strict=True))
    exact = [node.args[0], *(member for operator, member in members if operator == "=")]
    rough = [member for operator, member in members if operator == "~"]
    if len(set(map(key, exact))) < len(exact):
        # `1 = 1` states no value
        return Statement(node)
    if len(node.args) == 2 and any(_is_letter(n) for n in walk(node)):
        return Statement(node)
    return Chain(tuple(map(resolve, exact)), tuple(rough))


def _is_letter(node: Node) -> bool:
    return isinstance(node, Symbol) and node.name.isalpha() and node.name not in "ie"
