"""Solved forms: named values, families of values, and sets of real numbers given by their ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cmp_to_key
from itertools import product
from typing import NamedTuple

from agentscope_tuner.verify.math.node import (
    CONSTANTS,
    INFINITY,
    PI,
    RATIONAL_OPERATIONS,
    TURNED,
    Apply,
    BigOperator,
    Collection,
    Connective,
    Degrees,
    E,
    Interval,
    Negation,
    Node,
    Number,
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
    all_known,
    is_applied,
    is_collection,
    is_equation,
    is_joined,
    is_matrix,
    is_relation,
    literal,
    symbols,
    types_in,
    walk,
)
from agentscope_tuner.verify.math.tokens import PROPERTIES

# Functions that may be part of a name, since they are not computed: `\gcd(a, b) = 3`
_NAMING = PROPERTIES | {"gcd", "lcm", "det", "arg", "Re", "Im"}
FIELDS = frozenset({"\\mathbb{N}_0", "\\mathbb{R}", "\\mathbb{Z}", "\\mathbb{N}", "\\mathbb{Q}", "\\mathbb{C}"})


def is_range(node: Node) -> bool:
    r"""Whether the node states in which field a symbol is: `k \in \mathbb{Z}`."""
    return _range(node) is not None


def _range(node: Node) -> tuple[str, str] | None:
    r"""The names of the symbol and the field in `k \in \mathbb{Z}`; None for any other node."""
    match node:
        case Relation((Symbol(name), Symbol(field)), ("in",)) if field in FIELDS:
            return name, field
    return None


class ParameterRange(NamedTuple):
    r"""A formula, the `body`, and the values that its parameter takes, as in `k\pi, k \in \mathbb{Z}`.

    Either the parameter takes all values of a field, or a condition chooses them, as in `\{k^2 : 0 < k < 5\}`. In the
    second case `parameter` and `field` are None.
    """

    body: Node
    parameter: str | None
    field: str | None
    condition: Node | None = None


def family(node: Node) -> ParameterRange | None:
    r"""The family of values that the node states: `k\pi, k \in \mathbb{Z}` or `\{k^2 : 0 < k < 5\}`.

    None for any other node, such as an ordinary list, or a set builder whose element is the unknown itself.
    """
    match node:
        case Collection("set", (SetBuilder(element, condition),)):
            if is_bare(element):
                return None
            found = _range(condition)
            return ParameterRange(element, None, None, condition) if found is None else ParameterRange(element, *found)
        case Collection("list", args):
            ranges = [one for a in args if (one := _range(a)) is not None]
            rest = tuple(a for a in args if not is_range(a))
            if len(ranges) != 1 or not rest or conditions(node):
                return None
            return ParameterRange(rest[0] if len(rest) == 1 else Collection("list", rest), *ranges[0])
    return None


def is_bare(element: Node) -> bool:
    r"""Whether the element of a set builder is a variable itself, or a point of variables, and no formula.

    It is in `\{x \in \mathbb{R} : x > 0\}`, but not in `\{2k : k > 0\}`.
    """
    if is_collection(element, "tuple"):
        return all(isinstance(a, Symbol) for a in element.args)
    return isinstance(element, Symbol) or (isinstance(element, Relation) and isinstance(element.args[0], Symbol))


def conditions(node: Node) -> bool:
    """Whether all conditions of a list on one unknown are meant to hold together, as in `x > 1, x < 3`.

    False for a list with an equation: its values are alternatives. Also false for `x < 1, x > 3`: no number satisfies
    both parts, so such a list means two parts of the line.
    """
    if not is_collection(node, "list") or not all(isinstance(a, (Relation, Connective)) for a in node.args):
        return False
    if any(isinstance(a, Relation) and "=" in a.operators for a in node.args):
        return False
    if len(symbols(node)) != 1 or all(is_range(a) for a in node.args):
        return False
    bounds = [_bound(a) for a in node.args]
    above = [value for side, value in bounds if side == ">"]
    below = [value for side, value in bounds if side == "<"]
    return not above or not below or max(above) < min(below)


def _bound(node: Node) -> tuple[str, Fraction]:
    """The relation sign and the number of a bound: `>` and 3 for `x > 3` and for `3 < x`, also for `x >= 3`.

    The sign is the empty string for any other node.
    """
    match node:
        case Relation((Symbol(), right), ("<" | "<=" | ">" | ">=" as name,)):
            side, value = name[0], literal(right)
        case Relation((left, Symbol()), ("<" | "<=" | ">" | ">=" as name,)):
            side, value = TURNED[name[0]], literal(left)
        case _:
            return "", Fraction(0)
    return ("", Fraction(0)) if value is None else (side, value)


_BOUNDS = frozenset({"<", "<=", ">", ">=", "!="})


def is_name(node: Node) -> bool:
    r"""Whether the node can be the name of a value: the left side of `x = 2`, `f(x) = x + 1` or `AB = 5`, not `2x`.

    Words, tuples of names, `A \cup B`, derivatives, integrals and limits can be names, too.
    """
    if isinstance(node, Symbol):
        return node.name not in CONSTANTS and not node.name.startswith("\\mathbb")
    if isinstance(node, (UndefinedCall, Text)) or is_unevaluated(node) or is_differential(node):
        return True
    if isinstance(node, Apply) and node.function in _NAMING:
        return bool(symbols(node)) or node.function in PROPERTIES
    if isinstance(node, SetOperation) or is_joined(node, "and", "or"):
        return all(isinstance(a, Symbol) and a.name.isupper() for a in node.args)
    if isinstance(node, Collection):
        return bool(node.args) and all(map(is_name, node.args))
    if isinstance(node, Power):
        # The inverse or the transpose of a matrix
        match node.base, node.exponent:
            case Symbol(letter), Negation(Number(value)):
                return value == 1 and letter.isupper()
            case Symbol(letter), Symbol("T"):
                return letter.isupper()
            case Symbol("\\sigma" | "s" | "S"), Number(value):
                # The variance
                return value == 2
    return is_segment(node)


def is_differential(node: Node) -> bool:
    r"""Whether the node is a derivative that is not computed yet, or a gradient: `\frac{d}{dx} x^3`, `\nabla f`."""
    match node:
        case Product((Symbol(sign), _)):
            return sign.startswith(("d d ", "d ^ 2 d ", "\\partial \\partial ", "\\nabla"))
    return False


def is_unevaluated(node: Node) -> bool:
    r"""Whether the node has a limit or an integral: `\int x\,dx`. Sums and products of many terms do not count."""
    return any(isinstance(n, BigOperator) and n.sign in ("lim", "int") for n in walk(node))


def is_work(node: Node) -> bool:
    r"""Whether the node has a limit, an integral or a remainder that is not computed yet, such as `17 \bmod 5`."""
    found = types_in(node)
    if Apply in found and any(is_applied(n, "mod") for n in walk(node)):
        return True
    return BigOperator in found and is_unevaluated(node)


def label(name: Node) -> tuple[str, ...]:
    """A key that two names share if they mean the same: `("g",)` for `g(x)` and `g(t)`, `("y",)` for `y` and `f(x)`."""
    match name:
        case UndefinedCall(function):
            return ("y",) if function in ("f", "y") else (function,)
        case Collection("tuple" | "list" | "ratio", args):
            return tuple(part for one in args for part in label(one))
        case Text(words):
            return (words.lower(),)
        case Power(base, exponent):
            return (*label(base), repr(exponent))
    return tuple(sorted(symbols(name)))


def assignment(node: Node) -> tuple[Node, Node] | None:
    r"""The name and the value of `x = 2`, `2 = x`, `f(x) = x + 1`, `x \in [0, 1)`; None for any other statement.

    The name must not occur in the value. For a longer chain, the value is the chain after the name.
    """
    if is_relation(node, "sim") and isinstance(node.args[0], Symbol):
        # The distribution of a random variable
        return node.args[0], node.args[1]
    if not isinstance(node, Relation) or set(node.operators) - {"=", "in", "~"}:
        return None
    if len(node.args) > 2:
        return _named_chain(node)
    first, last = node.args
    if node.operators == ("in",):
        return (first, last) if is_name(first) else None
    if (
        is_name(first)
        or (first == E and E not in walk(last) and node.operators == ("=",))
        or (first == PI and (is_collection(last, "tuple") or is_matrix(last)))
    ):
        # `e = \\frac12` names an eccentricity, `\\pi = (\\frac12, \\frac12)` a distribution
        name, value = first, last
    elif is_name(last) and node.operators == ("=",):
        name, value = last, first
    else:
        return None
    own = frozenset((name.function,)) if isinstance(name, UndefinedCall) else symbols(name)
    if (
        symbols(value) & own
        and not is_segment(name)
        and not isinstance(name, BigOperator)
        and not is_differential(name)
    ):
        # Only an indefinite integral shares its variable with its value
        return None
    return name, value


def is_equal_names(node: Node) -> bool:
    """Whether a chain states that several names are equal, as `x = y = 1` does, and not `x = 2 + 1 = 3`."""
    return len(node.args) > 2 and any(isinstance(a, Symbol) and is_name(a) for a in node.args[1:])


def is_segment(node: Node) -> bool:
    """Whether the node is a product of capital letters, as in the name of a segment: `AB`."""
    return isinstance(node, Product) and all(isinstance(a, Symbol) and a.name[:1].isupper() for a in node.args)


def _named_chain(node: Relation) -> tuple[Node, Node] | None:
    """The name and the rest of a chain: x and `2 + 1 = 3` of `x = 2 + 1 = 3`. None if it does not name a value."""
    name = node.args[0]
    if not (is_name(name) or name == E) or node.operators[0] != "=" or "in" in node.operators or is_equal_names(node):
        return None
    rest = Relation(node.args[1:], node.operators[1:])
    return None if symbols(rest) & symbols(name) and not is_segment(name) else (name, rest)


def named_value(node: Node) -> Node | None:
    r"""The value in an equation of a geometric name with a constant: 3 for `\frac{AB}{CD} = 3`.

    None for any other node, also for `x = 3`.
    """
    match node:
        case Relation((name, value), ("=",)) if _is_geometric(name) and not symbols(value):
            return value
    return None


def _is_geometric(node: Node) -> bool:
    r"""Whether the node is made of segments, triangles or functions of an angle, such as `AB` and `\sin \alpha`.

    Then its letters are no unknowns to solve for.
    """
    if isinstance(node, Number) or (isinstance(node, Text) and node.words.isupper()):
        return True
    if len(node.args) > 1 and is_segment(node):
        return True
    match node:
        case Apply(function, (Symbol(name),)) if function not in ("abs", "factorial"):
            return name[:1] == "\\" or name.isupper()
    arithmetic = isinstance(node, (*RATIONAL_OPERATIONS, Power, Degrees)) or is_applied(node, "abs")
    return arithmetic and bool(symbols(node)) and all(map(_is_geometric, node.args))


def is_solved_region(node: Node) -> bool:
    """Whether the node gives a set of real numbers by its ends, as `1 < x <= 4` and `(1, 4]` do, but not `x^2 > 4`."""
    match node:
        case Connective("and" | "or", args) | Collection("list", args):
            parts = [is_solved_region(a) for a in args]
            named = {region_name(a) for a in args}
            return any(parts) and len(named) == 1 and None not in named and all(map(_is_solved_part, args))
        case Connective(_, (denied,)):
            return is_solved_region(denied)
        case Relation():
            return _solved_bounds(node) is not None or is_range(node) or _is_membership(node)
        case SetOperation(_, args):
            return all(map(is_solved_region, args))
        case Interval() | Collection("tuple"):
            return len(node.args) == 2 and not any(map(_is_no_end, node.args))
        case Collection("set", (SetBuilder() as builder,)):
            return _is_solved_builder(builder)
        case Collection("set", args):
            return not any(symbols(a) or isinstance(a, (Collection, Relation)) for a in args)
        case Symbol(name):
            return name in FIELDS
    return False


def without_unsolved(node: Connective) -> Node:
    """The statement without its unsolved alternatives that repeat a solved one: `x > 2` for `x > 2 or x - 2 > 0`."""
    said = {limits for one in node.args if is_solved_region(one) and (limits := _limits(one))}
    kept = tuple(one for one in node.args if is_solved_region(one) or _limits(one) not in said)
    if node.operator != "or" or len(kept) == len(node.args):
        return node
    return Connective("or", kept) if len(kept) > 1 else kept[0]


def _limits(node: Node) -> frozenset[tuple[str, str, Fraction]] | None:
    """The bounds of a statement, solved for their unknowns: `("x", ">", -5)` for `x + 5 > 0`.

    All of them must hold. None if a part of the statement is no such bound.
    """
    found = set()
    for one in node.args if is_joined(node, "and") else (node,):
        match one:
            case Relation((Sum((Symbol(name), term)), right), (("<" | "<=" | ">" | ">=") as sign,)):
                added, end = literal(term), literal(right)
            case Relation((Symbol(name), right), (("<" | "<=" | ">" | ">=") as sign,)):
                added, end = Fraction(0), literal(right)
            case _:
                return None
        if added is None or end is None:
            return None
        found.add((name, sign, end - added))
    return frozenset(found)


def _is_no_end(node: Node) -> bool:
    """Whether the node cannot be an end of an interval, because it has a relation, a list or a tuple in it."""
    return any(isinstance(n, Relation) or is_collection(n, "list", "tuple") for n in walk(node))


def _is_solved_part(node: Node) -> bool:
    return is_solved_region(node) or _is_point(node)


def _is_solved_builder(builder: SetBuilder) -> bool:
    r"""Whether the conditions of a set builder give its set by ends, as those of `\{x : x > 1, x < 3\}` do."""
    element = builder.element
    unknown = element.args[0] if isinstance(element, Relation) else element
    if isinstance(element, Relation) and not (is_range(element) or _is_membership(element)):
        return False
    if not isinstance(unknown, Symbol):
        return False
    parts = conditions_of(builder)
    return all((is_range(p) or is_solved_region(p)) and region_name(p) == unknown.name for p in parts)


def conditions_of(builder: SetBuilder) -> tuple[Node, ...]:
    r"""The conditions of a set builder, which must hold together: `x > 1` and `x < 3` of `\{x : x > 1, x < 3\}`."""
    condition = builder.condition
    joined = is_collection(condition, "list") or is_joined(condition, "and")
    return condition.args if joined else (condition,)


def _is_membership(node: Node) -> bool:
    r"""Whether the node states that a symbol is, or is not, in a solved set: `x \in [0, 1]`."""
    match node:
        case Relation((Symbol(), whole), ("in" | "notin",)):
            return is_solved_region(whole)
    return False


def _is_point(node: Node) -> bool:
    """Whether the node gives a name a constant value on its right side: `x = 2`."""
    return is_equation(node) and assignment(node) is not None and not symbols(node.args[1])


def region_name(node: Node) -> str | None:
    """The name of the unknown in a solved set of real numbers: x for `x > 2 and x < 4`.

    None if the set names no unknown, as `[0, 1)`, or several; `(…)` if its unknown is no symbol, as in `f(x) > 2`.
    """
    if isinstance(node, Connective) or is_collection(node, "list"):
        names = {region_name(a) for a in node.args}
        return next(iter(names)) if len(names) == 1 else None
    if not isinstance(node, Relation):
        return None
    unknown = _solved_bounds(node)
    if unknown is None and (is_range(node) or _is_membership(node) or _is_point(node)):
        unknown = node.args[0]
    match unknown:
        case None:
            return None
        case Symbol(name):
            return name
    return "(…)"


def _solved_bounds(node: Relation) -> Node | None:
    """The unknown of a relation whose ends are constants: x for `x > 2`, `3 < x`, `1 < x <= 4` and `-2x > 4`.

    None for any other relation.
    """
    operators = node.operators
    if not set(operators) <= _BOUNDS or len(node.args) > 3:
        return None
    names = [at for at, a in enumerate(node.args) if _unknown(a) is not None]
    ends = [a for at, a in enumerate(node.args) if at not in names]
    if len(names) != 1 or any(map(symbols, ends)):
        return None
    if any(isinstance(n, (Relation, Text)) or is_collection(n, "list") for a in ends for n in walk(a)):
        return None
    if len(node.args) == 3 and (names[0] != 1 or "!=" in operators or operators[0][0] != operators[1][0]):
        return None
    return _unknown(node.args[names[0]])


def is_condition(node: Node) -> bool:
    """Whether the node gives a set by a condition on its elements, as `x > 2` does, and not by ends, as `(2, 3)`."""
    return any(isinstance(n, (SetBuilder, Relation)) for n in walk(node))


def has_factor(node: Node) -> bool:
    """Whether the unknown of a bound has a number or a minus sign before it, as in `-2x > 4`."""
    if isinstance(node, Relation):
        return _solved_bounds(node) not in (None, *node.args)
    if isinstance(node, SetBuilder):
        return has_factor(node.condition)
    return (isinstance(node, Connective) or is_collection(node, "list", "set")) and any(map(has_factor, node.args))


def _unknown(node: Node) -> Node | None:
    """The unknown of a node like `x`, `-x` or `-2x`, which is x. None for any other node."""
    match node:
        case Negation(inside):
            return _unknown(inside)
        case Product((factor, last)) if literal(factor):
            node = last
    return node if isinstance(node, (Symbol, UndefinedCall)) and is_name(node) else None


_MOST_SETS = 5


def same_sets(ref: Node, ans: Node) -> bool:
    r"""Whether two formulas in the names of sets give the same set, as `A \setminus B` and `A \cap B^c` do.

    Every case of an element in some of the sets and not in the others is tried. False for an answer with more letters
    than the reference: it is not simplified far enough.
    """
    if not any(isinstance(n, SetOperation) for side in (ref, ans) for n in walk(side)):
        return False
    letters = [_set_names(side) for side in (ref, ans)]
    names = sorted({*letters[0], *letters[1]})
    if (
        len(letters[1]) > len(letters[0])
        or len(names) > _MOST_SETS
        or not all(len(n) == 1 and n.isupper() for n in names)
    ):
        return False
    for held in product((False, True), repeat=len(names)):
        inside = dict(zip(names, held, strict=True))
        mine, theirs = _is_member(ref, inside), _is_member(ans, inside)
        if mine is None or mine is not theirs:
            return False
    return True


def _set_names(node: Node) -> list[str]:
    r"""The names of all sets in a formula, in order and without marks of complements: A and B of `A \cap B^c`."""
    match node:
        case Symbol(name):
            return [name.rstrip("'")]
        case Power(base, Symbol(sign)) if sign in _COMPLEMENTS:
            return _set_names(base)
    return [name for a in node.args for name in _set_names(a)]


_COMPLEMENTS = frozenset({"c", "C", "\\complement"})
_HOLDS: dict[str, Callable[[list[bool]], bool]] = {
    "union": any,
    "intersection": all,
    "difference": lambda held: held[0] and not held[1],
    "complement": lambda held: not held[0],
}


def _is_member(node: Node, inside: dict[str, bool]) -> bool | None:
    r"""Whether an element is in the set that a formula such as `A \cap B` gives: false if it is in A, but not in B.

    None if the node is no formula in the names of sets.

    Args:
        inside: for the name of each set whether the element is in it.
    """
    args: tuple[Node, ...]
    match node:
        case Symbol(name):
            found = inside.get(name.rstrip("'"))
            return found if found is None else found ^ (name.count("'") % 2 == 1)
        case Power(base, Symbol(sign)) if sign in _COMPLEMENTS:
            operator, args = "complement", (base,)
        case Apply("conj", (base,)) | Connective("not", (base,)):
            operator, args = "complement", (base,)
        case SetOperation(operator, args):
            pass
        case Sum((first, Negation(second))):
            operator, args = "difference", (first, second)
        case _:
            return None
    held = all_known(_is_member(a, inside) for a in args)
    return None if held is None else _HOLDS[operator](held)


_MAX_PIECES = 40
_MINUS_INFINITY = Negation(INFINITY)
# Compares two ends: -1, 0 or 1 if the first end is below, equal to or above the second
Order = Callable[[Node, Node], int]


class NotSolved(Exception):
    """The node does not give a set by its ends, or the ends cannot be compared."""


class Piece(NamedTuple):
    """An interval; `low_in` and `high_in` say whether it contains its ends. It never contains an infinite end."""

    low: Node
    low_in: bool
    high: Node
    high_in: bool


_LINE = Piece(_MINUS_INFINITY, False, INFINITY, False)


class Pieces:
    """Turns sets of real numbers into intervals from left to right, so that two sets can be compared.

    Args:
        order: compares two finite ends.
    """

    def __init__(self, order: Order) -> None:
        self._order_of_finite = order

    def of(self, node: Node) -> list[Piece]:
        """The intervals of a solved set from left to right, no two of which touch: two for `x < 1 or x > 3`.

        Raises:
            NotSolved: the node is not a solved set, or has too many pieces.
        """
        found = self._merged(self._read(node))
        if len(found) > _MAX_PIECES:
            raise NotSolved
        return found

    def order(self, left: Node, right: Node) -> int:
        """-1, 0 or 1 if the first end is below, equal to or above the second; an end may be infinite."""
        sides = [_infinite(left), _infinite(right)]
        if any(sides) or left == right:
            return (sides[0] > sides[1]) - (sides[0] < sides[1])
        return self._order_of_finite(left, right)

    def _read(self, node: Node) -> list[Piece]:
        """The intervals of a solved set in any order; they may overlap."""
        match node:
            case Relation():
                return self._relation(node)
            case Interval():
                return self._interval(node)
            case Collection("tuple", (low, high)):
                return self._interval(Interval(low, high, low_in=False, high_in=False))
            case SetOperation("union", args) | Connective("or", args) | Collection("list", args):
                return [p for a in args for p in self._read(a)]
            case SetOperation("intersection", args) | Connective("and", args):
                return self._common([self._read(a) for a in args])
            case SetOperation("difference", (whole, part)):
                return self._common([self._read(whole), self._outside(self._read(part))])
            case Connective("not", (denied,)):
                return self._outside(self._read(denied))
            case Collection("set", (SetBuilder() as builder,)):
                parts = conditions_of(builder)
                parts = (*parts, builder.element) if isinstance(builder.element, Relation) else parts
                return self._common([self._read(p) for p in parts])
            case Collection("set", args):
                return [Piece(self._end(a), True, a, True) for a in args]
            case Symbol("\\mathbb{R}"):
                return [_LINE]
        raise NotSolved

    def _end(self, node: Node) -> Node:
        if Symbol("i") in walk(node):
            raise NotSolved
        if symbols(node) or isinstance(node, (Collection, Relation, Text)):
            raise NotSolved
        return node

    def _interval(self, node: Interval) -> list[Piece]:
        low, high = self._end(node.low), self._end(node.high)
        piece = Piece(low, node.low_in and not _infinite(low), high, node.high_in and not _infinite(high))
        return [piece] if not self._empty(piece) else []

    def _relation(self, node: Relation) -> list[Piece]:
        if node.operators in (("in",), ("notin",)):
            inside = self._read(node.args[1])
            return inside if node.operators == ("in",) else self._outside(inside)
        found = [[_LINE]]
        for operator, left, right in zip(node.operators, node.args, node.args[1:], strict=False):
            found.append(self._half(operator, left, right))
        return self._common(found)

    def _half(self, name: str, left: Node, right: Node) -> list[Piece]:
        """The intervals in which one relation holds: from 3 to infinity for `3 < x`.

        Args:
            name: the relation sign.
            left: the left side; one side is the unknown, perhaps with a factor, the other is its end.
            right: the right side.
        """
        if _has_unknown(right):
            left, right = right, left
            name = TURNED.get(name, name)
        while isinstance(left, (Negation, Product)):
            left, right, name = self._divided(left, right, name)
        end = self._end(right)
        if name in ("=", "!="):
            point = Piece(end, True, end, True)
            return [point] if name == "=" else self._outside([point])
        if name[0] == "<":
            return (
                []
                if end == _MINUS_INFINITY
                else [Piece(_MINUS_INFINITY, False, end, name == "<=" and not _infinite(end))]
            )
        return [] if end == INFINITY else [Piece(end, name == ">=" and not _infinite(end), INFINITY, False)]

    def _divided(self, left: Negation | Product, right: Node, name: str) -> tuple[Node, Node, str]:
        """A relation divided by the minus sign or number before its unknown: x, `4/-2` and `<` for `-2x > 4`.

        Args:
            left: the side with the unknown.
            right: the other side.
            name: the relation sign.
        """
        if isinstance(left, Negation):
            return left.inside, _negated(right), TURNED.get(name, name)
        times, unknown = left.args
        value = literal(times)
        if not value:
            raise NotSolved
        if value < 0:
            return unknown, _negated(right) if _infinite(right) else Quotient(right, times), TURNED.get(name, name)
        return unknown, right if _infinite(right) else Quotient(right, times), name

    def _outside(self, pieces: Sequence[Piece]) -> list[Piece]:
        """The intervals of all numbers that are in none of these pieces."""
        found = [_LINE]
        for piece in pieces:
            left = Piece(_MINUS_INFINITY, False, piece.low, not piece.low_in and not _infinite(piece.low))
            right = Piece(piece.high, not piece.high_in and not _infinite(piece.high), INFINITY, False)
            found = self._common([found, [p for p in (left, right) if not self._empty(p)]])
        return found

    def _common(self, sets: Sequence[Sequence[Piece]]) -> list[Piece]:
        """The intervals of the numbers that are in all of these sets; raises `NotSolved` if there are too many."""
        found = list(sets[0])
        for other in sets[1:]:
            found = [p for a in found for b in other if not self._empty(p := self._both(a, b))]
            if len(found) > _MAX_PIECES:
                raise NotSolved
        return found

    def _both(self, left: Piece, right: Piece) -> Piece:
        """The intersection of two intervals; its low end is above its high end if they have no common number."""
        low, high = self.order(left.low, right.low), self.order(left.high, right.high)
        return Piece(
            left.low if low >= 0 else right.low,
            (low < 0 or left.low_in) and (low > 0 or right.low_in),
            left.high if high <= 0 else right.high,
            (high > 0 or left.high_in) and (high < 0 or right.high_in),
        )

    def _empty(self, piece: Piece) -> bool:
        found = self.order(piece.low, piece.high)
        return found > 0 or (found == 0 and not (piece.low_in and piece.high_in))

    def _merged(self, pieces: list[Piece]) -> list[Piece]:
        if len(pieces) > _MAX_PIECES:
            raise NotSolved
        found: list[Piece] = []
        for piece in sorted(pieces, key=cmp_to_key(self._by_low)):
            before = found[-1] if found else None
            if before is None or not self._touch(before, piece):
                found.append(piece)
                continue
            high = self.order(before.high, piece.high)
            taken = before.high_in if high > 0 else piece.high_in if high < 0 else before.high_in or piece.high_in
            found[-1] = Piece(before.low, before.low_in, before.high if high > 0 else piece.high, taken)
        return found

    def _by_low(self, left: Piece, right: Piece) -> int:
        return self.order(left.low, right.low) or right.low_in - left.low_in

    def _touch(self, left: Piece, right: Piece) -> bool:
        """Whether two intervals, of which `left` begins first, have no number between them."""
        gap = self.order(left.high, right.low)
        return gap > 0 or (gap == 0 and (left.high_in or right.low_in))


def _infinite(node: Node) -> int:
    """1 for infinity, -1 for minus infinity, 0 for a finite end."""
    return 1 if node == INFINITY else -1 if node == _MINUS_INFINITY else 0


def _negated(node: Node) -> Node:
    return node.inside if isinstance(node, Negation) else Negation(node)


def _has_unknown(node: Node) -> bool:
    return any(isinstance(n, UndefinedCall) or (isinstance(n, Symbol) and n.name not in CONSTANTS) for n in walk(node))
