"""Nodes to readings: the values that an answer or a reference states, by kind.

A `Value` is a single value. `Solutions` are solved values: named, listed, an interval or a family. A `Statement` is not
solved yet. A `Wording` is not mathematics. A statement must not be taken for its solution by accident. So `compare` has
an explicit rule for each pair of kinds that may be equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, takewhile
from math import ceil, floor
from typing import Literal, NamedTuple, TypeGuard

from agentscope_tuner.verify.math.canonical import ELLIPSIS, POINT, both_signs, choose, is_signed, key, negated, residue
from agentscope_tuner.verify.math.node import (
    COUNTING,
    MARKS,
    PI,
    Array,
    Collection,
    Connective,
    Degrees,
    Interval,
    Negation,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Quantity,
    Quotient,
    Relation,
    SetBuilder,
    SetOperation,
    Sum,
    Symbol,
    Text,
    UndefinedCall,
    equation,
    is_collection,
    is_equation,
    is_joined,
    is_number,
    is_relation,
    is_symbol,
    literal,
    number,
    product_of,
    renamed,
    substituted,
    symbols,
    walk,
    with_args,
)
from agentscope_tuner.verify.math.prose import Fields
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
    without_unsolved,
)
from agentscope_tuner.verify.math.tokens import EMPTY_SET, INTEGERS, REALS, WORD_SETS


@dataclass(frozen=True, slots=True)
class Value:
    """A single value: a number, a formula or a quantity with its unit, such as `5 km`."""

    node: Node


@dataclass(frozen=True, slots=True)
class Chain:
    r"""Several forms of one value: `84/2 = 42`, `\sqrt2 \approx 1.41`. Each must agree with the text compared to it.

    The `exact` members must be equal to it. The `rough` members, which follow an approximation sign, must be close.
    """

    exact: tuple[Reading, ...]
    rough: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio, `3:4`, or a time of day, `12:30`: the parts between the colons, as written."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix or a definition by cases: the readings of its cells, row by row, and its `node`."""

    rows: tuple[tuple[Reading, ...], ...]
    node: Array


@dataclass(frozen=True, slots=True)
class Named:
    r"""A value with its name: `x = 2`, `f(x) = x + 1`, `x \in [0, 1]`. `node` is the whole relation."""

    name: Node
    value: Reading
    node: Node


@dataclass(frozen=True, slots=True)
class Listing:
    """Several readings: `1, 2` is a `list`, `(1, 2)` a `tuple`. In a `list` and a `set` the order is free.

    A `named` listing gives several unknowns their values: `x = 1, y = 2`.
    """

    kind: Literal["list", "set", "tuple", "named"]
    items: tuple[Reading, ...]


def is_listing(reading: Reading | None, *kinds: Literal["list", "set", "tuple", "named"]) -> TypeGuard[Listing]:
    """Whether the reading is a listing of one of these kinds."""
    return isinstance(reading, Listing) and reading.kind in kinds


@dataclass(frozen=True, slots=True)
class Region:
    """A set of real numbers given by its ends: an interval, a union, `x > 2`; `name` is the unknown, if it is named."""

    node: Node
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Family:
    r"""The values of a formula for all values of its parameter: `k\pi, k \in \mathbb{Z}`.

    `range` says which values the parameter takes: all of a field, or those that meet a condition.
    """

    body: Reading
    range: ParameterRange


@dataclass(frozen=True, slots=True)
class Statement:
    """One or more equations or inequalities that are not solved: `x + y = 2`."""

    node: Node


@dataclass(frozen=True, slots=True)
class Wording:
    """Words that are not mathematics: `Tuesday`."""

    text: str


Solutions = Named | Listing | Region | Family
Reading = Value | Chain | Ratio | Grid | Solutions | Statement | Wording


def resolve(node: Node) -> Reading:
    """The reading of a node, which says what kind of answer it is.

    `x = 2` is `Named`, `1, 2` a `Listing`, `x > 2` a `Region`, `x + y = 2` a `Statement`, most formulas a `Value`.
    """
    if is_number(node):
        return Value(node)
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
            return _both_values(node) if is_signed(node) else Listing("tuple", tuple(map(resolve, node.args)))
        case Collection("set"):
            return _set(node)
        case Collection("list", (Relation((Symbol(name), body), ("!=",)), second)) if is_range(
            second
        ) and name not in symbols(second):
            # `x \\ne k\\pi, k \\in \\mathbb{Z}`
            return Named(Symbol(name), _all_but(body, second), node)
        case Collection("list"):
            return _list(node)
        case Interval(low, high) if _are_turned(literal(low), literal(high)):
            # `[\\frac56, \\frac16]` is a list
            return Listing("tuple", (resolve(low), resolve(high)))
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


def _are_turned(low: Fraction | None, high: Fraction | None) -> bool:
    return low is not None and high is not None and low > high


def _grid(node: Array) -> Reading:
    if node.kind == "cases":
        node = Array("cases", tuple((*row[:-1], _without_whole(row[-1])) for row in node.rows))
    rows = node.rows
    if any(row[1:] == (_OTHERWISE,) for row in rows):
        said = Connective("or", tuple(row[-1] for row in rows if row[-1] != _OTHERWISE))
        rest = SetOperation("difference", (Symbol(REALS), said))
        node = Array(node.kind, tuple((row[0], rest if row[-1] == _OTHERWISE else row[-1]) for row in rows))
    return Grid(tuple(tuple(map(resolve, row)) for row in node.rows), node)


def _without_whole(condition: Node) -> Node:
    r"""A condition without the part that its counting letter is whole: `n \ge 2` for `n \ge 2, n \in \mathbb{N}`."""
    if not (is_collection(condition, "list") or is_joined(condition, "and")):
        return condition
    kept = [
        one
        for one in condition.args
        if not (is_range(one) and one.args[1] in _WHOLE and is_symbol(one.args[0], *COUNTING))
    ]
    return kept[0] if len(kept) == 1 else condition


_OTHERWISE = Symbol("\\otherwise")


def _through_integers(node: Node) -> Node | None:
    r"""`3 + 7k, k \in \mathbb{Z}` for `3 + 7\mathbb{Z}`, which means the same; None for any other formula."""
    whole = Symbol(INTEGERS)
    if [n for n in walk(node) if isinstance(n, Symbol) and n != PI] != [whole]:
        return None
    return Collection("list", (renamed(node, INTEGERS, "k"), Relation((Symbol("k"), whole), ("in",))))


def _is_set(node: Node) -> bool:
    r"""Whether the node is a field like `\mathbb{R}`, an interval, a set in braces or an operation on sets."""
    field = isinstance(node, Symbol) and node.name.startswith("\\mathbb")
    return field or isinstance(node, (Interval, SetOperation)) or is_collection(node, "set")


def measured(node: Node) -> Node:
    r"""The node with the units of its parts combined: `\frac{8\text{ g}}{4\text{ g/mol}}` is the amount 8/4 mol.

    Degree and percent signs are combined, too. A node is returned as it is if its parts have no common unit.
    """
    match node:
        case Negation(inside) if isinstance(found := measured(inside), Degrees | Percent | Quantity):
            return with_args(found, (Negation(found.inside),))
        case Sum(args):
            # call it once for each part: twice would take time exponential in the depth of nested sums
            first, *others = parts = list(map(measured, args))
            alike = (isinstance(p, Degrees | Quantity) and with_args(p, first.args) == first for p in others)
            if isinstance(first, Degrees | Quantity) and all(alike):
                return with_args(first, (Sum(tuple(p.args[0] for p in parts)),))
        case Product((*rest, Symbol("\\Omega" as ohm))) if rest and not any(map(symbols, rest)):
            return measured(Quantity(product_of(tuple(rest)), ((ohm, 1),)))
        case Product(args):
            return _of_unit(node, *[1] * len(args))
        case Quotient():
            return _of_unit(node, 1, -1)
    return node


def _of_unit(node: Product | Quotient, *signs: int) -> Node:
    r"""A product or a quotient of amounts as one amount: `2\text{ cm} \cdot 3\text{ cm}` is 2·3 cm².

    Degrees and percents are combined only if a single part has the mark, and that part is not a divisor. The node is
    returned as it is if its parts do not combine.

    Args:
        signs: for each operand 1 if it is a factor, -1 if it is a divisor.
    """
    parts = list(map(measured, node.args))
    inside = with_args(node, tuple(one.inside if isinstance(one, MARKS) else one for one in parts))
    kinds = [type(one) for one in parts if isinstance(one, MARKS)]
    if kinds in ([Degrees], [Percent]):
        above = signs[next(at for at, one in enumerate(parts) if isinstance(one, MARKS))] == 1
        # only `\\times 100\\%` makes a percentage of a product
        mark = Degrees if kinds == [Degrees] else Percent
        whole = mark is Degrees or any(isinstance(p, Percent) and literal(p.inside) == _HUNDRED for p in parts)
        return mark(inside) if above and whole and (mark is Degrees or not symbols(inside)) else node
    if set(kinds) != {Quantity}:
        return node
    powers = Counter[str]()
    for one, sign in zip(parts, signs, strict=True):
        for name, power in one.unit if isinstance(one, Quantity) else ():
            powers[name] += sign * power
    unit = tuple(sorted((name, power) for name, power in powers.items() if power))
    return Quantity(inside, unit) if unit else inside


_HUNDRED = 100


def _value(node: Node) -> Reading:
    match node:
        case Product((Symbol(name), Collection("tuple", (_, _, *_)) as point)) if POINT.fullmatch(name):
            return Named(node.args[0], resolve(point), node)
        case UndefinedCall(name, (_, _, *_) as args) if POINT.fullmatch(name) and not symbols(node):
            return Named(Symbol(name), resolve(Collection("tuple", args)), node)
        case Power(Array("matrix", rows), Symbol("T" | "\\top")):
            return resolve(Array("matrix", tuple(zip(*rows, strict=True))))
        case Sum() | Product() if (through := _through_integers(node)) is not None:
            return resolve(through)
    if isinstance(node, Negation) and isinstance(node.inside, MARKS):
        # Give the sign to the number inside the quantity
        node = with_args(node.inside, (Negation(node.inside.inside),))
    node = measured(node)
    return _both_values(node) if is_signed(node) else Value(node)


def _both_values(node: Node) -> Reading:
    r"""The two values of a node with a plus-minus sign, as a list: 1 + 2 and 1 - 2 for `1 \pm 2`."""
    return Listing("list", (resolve(negated(choose(node, 1))), resolve(negated(choose(node, -1)))))


def _words(words: str) -> Reading:
    """The reading of words: an empty set for `no solution`, the set itself for `all real numbers`, else a wording."""
    name = WORD_SETS.get(words.lower())
    if name is None:
        return Wording(words)
    return Listing("set", ()) if name == EMPTY_SET else resolve(Symbol(name))


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


def _all_but(body: Node, whole: Node) -> Reading:
    r"""The reading of all numbers except a family: `x \ne k\pi, k \in \mathbb{Z}`, where `k\pi` is the `body`."""
    return Listing("tuple", (Wording("all but"), resolve(Collection("list", (body, whole)))))


def _built(builder: SetBuilder) -> Reading | None:
    r"""The elements or the family of a set builder whose condition gives them: `\{x : x = 2k, k = 1, 2, 3\}`.

    None for any other set builder, such as `\{x : x > 2\}`.
    """
    match builder:
        case SetBuilder(Symbol() as own, Collection("list", (Relation((name, body), ("!=",)), second))) if name == own:
            return _all_but(body, second) if is_range(second) else None
        case SetBuilder(Symbol() as own, Collection("list", (Relation((name, body), ("=",)), *rest))) if name == own:
            if own.name in symbols(body) or not rest:
                return None
            builder = SetBuilder(body, Collection("list", tuple(rest)))
            if len(rest) == 1 and is_range(rest[0]):
                return resolve(Collection("list", (body, rest[0])))
    values = _listed_values(builder)
    return None if values is None else Listing("set", tuple(map(resolve, values)))


def _listed_values(builder: SetBuilder) -> list[Node] | None:
    r"""The elements of a set builder whose letter takes few whole values; None for any other set builder.

    `\{2k : k \in \mathbb{Z}, 1 \le k \le 4\}` has the elements 2·1, 2·2, 2·3 and 2·4.
    """
    body, parts = builder.element, list(_without_ellipsis(conditions_of(builder)))
    if len(names := symbols(body)) != 1 or is_bare(body):
        return None
    (letter,) = names
    match parts[0], *parts[1:]:
        case Relation((Symbol(name), Number() as first), ("=",)), *rest if name == letter:
            values = [one.value for one in (first, *rest) if isinstance(one, Number)]
            return [substituted(body, letter, number(v)) for v in values] if len(values) == len(parts) else None
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
    r"""The members with those filled in that dots leave out: `1, 3, 5, 7, 9` for `1, 3, \ldots, 9`.

    The members are returned as they are unless they are whole numbers at equal distances.
    """
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
    r"""The statement of a set builder: the condition alone, `x^2 > y` for `\{(x, y) : x^2 > y\}`.

    The whole `node` if the condition has letters that the elements do not have, or lacks some.
    """
    element = builder.element
    if is_range(element) and element.args[1] == Symbol(REALS):
        element = element.args[0]
    own = symbols(element) if not isinstance(element, Relation) else frozenset()
    points = isinstance(element, Symbol) or is_collection(element, "tuple")
    if not points or symbols(builder.condition) != own:
        return Statement(node)
    return Statement(builder.condition)


def _flat(items: Sequence[Reading] | map[Reading]) -> tuple[Reading, ...]:
    """The readings in their order, with each plain list among them replaced by its items."""
    found: list[Reading] = []
    for item in items:
        found.extend(item.items if is_listing(item, "list") else (item,))
    return tuple(found)


def _family(node: Node) -> Reading | None:
    found = family(node)
    return None if found is None else Family(resolve(found.body), found)


def _list(node: Collection) -> Reading:
    if all(map(is_number, node.args)):
        return Listing("list", tuple(map(Value, node.args)))
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
    # `(x, y) = (1, 2), x = 1, y = 2` states each value twice
    items = next(((i,) for i in items if is_listing(i, "named") and all(j is i or j in i.items for j in items)), items)
    if len(items) == 1:
        return items[0]
    if all(isinstance(i, Region) and i.name is not None for i in items):
        return _region(node)
    if isinstance(items[0], Named) and not any(isinstance(i, (Named, Statement, Region)) for i in items[1:]):
        # `x = 1, 2`: the name belongs to all values
        return Named(items[0].name, Listing("list", _flat([items[0].value, *items[1:]])), node)
    return named_together(items) or Listing("list", items)


def _alternatives(node: Collection) -> Reading | None:
    """The solutions in `a = 2, b = 3 or a = 3, b = 2`, a list of two named listings.

    None for a list without `or`, or whose alternatives do not give values to the same two or more unknowns.
    """
    if not any(is_joined(member, "or") for member in node.args):
        return None
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
    """A member of a list as one or more equations: `y = 2 and z = 3` becomes two, and so does `a = b = 2`."""
    if is_joined(node, "and") and all(isinstance(a, Relation) and "=" in a.operators for a in node.args):
        return tuple(one for a in node.args for one in _single(a))
    if isinstance(node, Relation) and len(node.args) > 2 and set(node.operators) == {"="}:
        *names, value = node.args
        if all(map(is_name, names)) and not symbols(value):
            return tuple(equation(name, value) for name in names)
    return (node,)


def named_together(items: tuple[Reading, ...], node: Node | None = None) -> Reading | None:
    """Named values as one reading; None if an item has no name, or if the names repeat in no order.

    `x = 1, x = 2` gives one name two values. `x = 1, y = 2` is a `named` listing. `x = 1, y = 2, x = 3, y = 4` is a
    list of two named listings.

    Args:
        items: the readings.
        node: the statement from which they come, if it is known; it is kept with a name that has several values.
    """
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
    """The reading of parts joined by `and` or `or`.

    `x > 1 and x < 3` is a region, `x = 1 or x = 2` a named list, `x + y = 3 and x y = 2` a statement.
    """
    if (solved := without_unsolved(node)) != node:
        return resolve(solved)
    if is_solved_region(node):
        return _region(node)
    if node.operator == "and" and all(isinstance(a, Symbol) and a.name in "pqrs" for a in node.args):
        # a formula of logic; `p or q` may be two answers
        return Statement(node)
    items = tuple(map(resolve, node.args))
    if not any(isinstance(i, Statement) or (isinstance(i, Region) and not _is_group(i.node)) for i in items):
        together = named_together(items, node)
        if is_listing(together, "named") and node.operator == "or":
            # `a = 0 or b = 0` does not give both unknowns a value
            return Statement(node)
        return together or _united(items)
    if any(isinstance(i, Statement) for i in items) or node.operator == "and":
        return Statement(node)
    return Listing("list", _flat(items))


def _is_group(node: Node) -> bool:
    r"""Whether a node is a group of remainders: `\mathbb{Z}_4`."""
    return isinstance(node, Symbol) and node.name.startswith(f"{INTEGERS}_")


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
        if isinstance(reading, Statement) and isinstance(value, Relation):
            reading = _chain(value, is_named=True)
        if is_relation(node, "in"):
            reading = _as_set(reading)
        return Statement(node) if isinstance(reading, Statement) else Named(name, reading, node)
    if is_solved_region(node):
        return _region(node)
    formula, *worked = node.args
    if len(worked) > 1 and operators == {"="} and _is_law(formula) and not any(map(symbols, worked)):
        # `2pq = 2(0.7)(0.3) = 0.42`: the formula into which the numbers were put
        return _chain(Relation(tuple(worked), node.operators[1:]), is_named=True)
    return _chain(node)


def _is_law(node: Node) -> bool:
    """Whether the node is a product or a quotient of several letters, as in the formula of a law: `2pq`."""
    parts = node.args if isinstance(node, Product | Quotient) else ()
    bases = [part.args[0] if isinstance(part, Power) else part for part in parts]
    known = (isinstance(base, Number | Symbol | Product) or not symbols(base) for base in bases)
    return len(symbols(node)) > 1 and all(known)


def _as_set(reading: Reading) -> Reading:
    r"""An open interval for the pair after `\in`, as in `x \in (1, 2)`; any other reading is returned as it is."""
    if is_listing(reading, "tuple") and len(reading.items) == 2:
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


def _chain(node: Relation, *, is_named: bool = False) -> Reading:
    """`a = b = c` as a chain of equal values; a member after `~` may be rounded. Any other relation is a statement.

    Args:
        is_named: whether a name was before it, as in `y = 2(x+1) = 2x+2`. Then it is no equation to solve for x.
    """
    if set(node.operators) - {"=", "~"} or is_equal_names(node):
        return Statement(node)
    members = list(zip(node.operators, node.args[1:], strict=True))
    exact = [node.args[0], *(member for operator, member in members if operator == "=")]
    rough = [member for operator, member in members if operator == "~"]
    told = {one: one for one in exact} if not any(map(symbols, exact)) else {key(one): one for one in exact}
    if len(told) < len(exact) and not is_named:
        # `1 = 1` states no value
        return Statement(node)
    # `y = 1(x-1) = x-1`
    exact = [*told.values()]
    if (
        not is_named
        and len(node.args) == 2
        and any(isinstance(n, Symbol) and n.name.rstrip("'").isalpha() and n.name not in "ie" for n in walk(node))
    ):
        return Statement(node)
    return Chain(tuple(map(resolve, exact)), tuple(rough))


class Side(NamedTuple):
    """An answer or a reference as it is compared: its text, tokens, tree and reading.

    A text that is not mathematics has no node and no reading, and equals only itself. `problem` says why it cannot be
    read, and is empty otherwise.
    """

    text: str
    tokens: tuple[str, ...]
    node: Node | None
    reading: Reading | None
    problem: str = ""
    # the fields in the domain of a free name, if the text states a domain
    fields: Fields | None = None
    # the letter of a choice before the value
    letter: str | None = None
    # the sentence that states the value, if the reference was a sentence
    sentence: str = ""

    def wording(self) -> str:
        """The tokens joined into one text in lower case, without commas and full stops: the form that is compared."""
        said = [t for t in self.tokens if t not in (".", ",")]
        # Spaces keep two neighbouring numbers from becoming one longer number
        return "".join(f" {t} " if t[:1].isdigit() else t for t in said).lower()
