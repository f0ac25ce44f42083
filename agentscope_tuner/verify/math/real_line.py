"""Sets of real numbers (worker side): intervals, unions, inequalities and equations in one unknown.

This module tells which numbers belong to a set, and at which points of the real line membership can change. Those
points are ends of intervals, and roots and poles of differences.
"""

from __future__ import annotations

from collections.abc import Iterator

from mpmath import mp

from agentscope_tuner.verify.math.clearing import without_absolutes
from agentscope_tuner.verify.math.family import conditions, family
from agentscope_tuner.verify.math.node import (
    RATIONAL_OPERATIONS,
    Collection,
    Connective,
    Interval,
    Negation,
    Node,
    Power,
    Product,
    Quotient,
    Relation,
    SetBuilder,
    SetOperation,
    Sum,
    Symbol,
    UndefinedCall,
)
from agentscope_tuner.verify.math.numeric import Budget, Numeric
from agentscope_tuner.verify.math.numeric_matrix import NotANumber, OutOfRange, Value
from agentscope_tuner.verify.math.polynomial import MAX_DEGREE, NotRational, plus, real_roots, times
from agentscope_tuner.verify.math.text import TooComplex
from agentscope_tuner.verify.math.tree import (
    INFINITY,
    difference,
    is_joined,
    symbols,
    with_args,
)

_OPERATORS = {
    "=": lambda d, tol: abs(d) <= tol,
    "!=": lambda d, tol: abs(d) > tol,
    "<": lambda d, tol: d < -tol,
    "<=": lambda d, tol: d <= tol,
    ">": lambda d, tol: d > tol,
    ">=": lambda d, tol: d >= -tol,
}


class RealLine:
    """The real line of one unknown; all other symbols have fixed values."""

    def __init__(self, name: str, point: dict[str, Value], budget: Budget, *, rough: bool = False) -> None:
        # whether about fifteen digits of a root are enough
        self._rough = rough
        self.name = name
        self.point = point
        self.budget = budget

    def value(self, node: Node, x: Value) -> tuple[Value, Value]:
        """A real value and the tolerance of its comparison with zero.

        Raises:
            NotANumber: the node has no value, or no real value.
        """
        numeric = Numeric({**self.point, self.name: x}, self.budget)
        found = numeric.value(node)
        tolerance = max(numeric.scale, mp.mpf(1)) * mp.mpf(10) ** (-mp.dps // 2)
        if isinstance(found, list) or abs(mp.im(found)) > tolerance:
            raise NotANumber("not real")
        return mp.re(found), tolerance

    def end(self, node: Node) -> Value:
        """The value of an interval's end, which may be infinite."""
        if node == INFINITY:
            return mp.inf
        if node == Negation(INFINITY):
            return -mp.inf
        return self.value(node, mp.mpf(0))[0]

    def holds(self, node: Node, x: Value) -> bool:
        """Whether `x` belongs to the set or satisfies the statement. False where a side has no real value."""
        try:
            return self._holds(node, x)
        except NotANumber:
            return False

    def _holds(self, node: Node, x: Value) -> bool:
        match node:
            case Relation():
                return all(self._related(r.operators[0], r.args[0], r.args[1], x) for r in relations(node))
            case Connective("and", args) | SetOperation("intersection", args):
                return all(self.holds(a, x) for a in args)
            case Collection("list", args) if conditions(node):
                return all(self.holds(a, x) for a in args)
            case Connective("or", args) | SetOperation("union", args) | Collection("list", args):
                return any(self.holds(a, x) for a in args)
            case Connective("not", (denied,)):
                return not self.holds(denied, x)
            case SetOperation("difference", (whole, part)):
                return self.holds(whole, x) and not self.holds(part, x)
            case Collection("set", args):
                if family(node) is not None:
                    raise TooComplex("a set of computed values")
                return any(self._is_element(a, x) for a in args)
            case Interval():
                return self._inside(node, x)
            case Collection("tuple", (low, high)):
                return self._inside(Interval(low, high, low_in=False, high_in=False), x)
            case Symbol("\\mathbb{R}"):
                return True
            case Symbol("\\mathbb{Z}"):
                return bool(abs(x - mp.nint(x)) < mp.mpf(10) ** (-mp.dps // 2))
        raise TooComplex(f"a set given as a {type(node).__name__.lower()}")

    def _related(self, name: str, left: Node, right: Node, x: Value) -> bool:
        if name in ("in", "notin"):
            return (name == "in") == self.holds(right, self.value(left, x)[0])
        if name not in _OPERATORS:
            raise TooComplex(f"the relation {name}")
        found, tolerance = self.value(difference(left, right), x)
        return bool(_OPERATORS[name](found, tolerance))

    def _is_element(self, node: Node, x: Value) -> bool:
        if isinstance(node, SetBuilder):
            satisfied = isinstance(node.condition, Symbol) or self.holds(node.condition, x)
            return satisfied and (not isinstance(node.element, Relation) or self.holds(node.element, x))
        found, tolerance = self.value(node, x)
        return bool(abs(found - x) <= tolerance)

    def _inside(self, node: Interval, x: Value) -> bool:
        low, high = self.end(node.low), self.end(node.high)
        tolerance = mp.mpf(10) ** (-mp.dps // 2) * max(1, abs(x))
        above = x >= low - tolerance if node.low_in else x > low + tolerance
        below = x <= high + tolerance if node.high_in else x < high - tolerance
        return bool(above and below)

    def changes(self, node: Node) -> Iterator[Value]:
        """Every point where the truth may change, and perhaps other points."""
        match node:
            case Relation():
                for relation in relations(node):
                    left, right = relation.args
                    if relation.operators[0] in ("in", "notin"):
                        yield from self.changes(right)
                    else:
                        yield from self.roots(difference(left, right))
            case Interval() | Collection("tuple"):
                yield from (end for end in map(self.end, node.args) if mp.isfinite(end))
            case Symbol():
                yield from (mp.mpf(at) for at in range(-3, 4))
            case Collection("set", elements):
                for element in elements:
                    yield from self.changes(element) if isinstance(element, SetBuilder) else (self.end(element),)
            case _:
                for part in node.args:
                    if not isinstance(part, Symbol) or part.name.startswith("\\mathbb"):
                        yield from self.changes(part)

    def roots(self, node: Node) -> Iterator[Value]:
        """The real roots and poles of an expression, and perhaps other points."""
        found = False
        for branch in without_absolutes(node, self.name):
            try:
                above, below = self.rational(branch)
            except NotRational:
                continue
            found = True
            for polynomial in (above, below):
                yield from real_roots(polynomial)
        if not found:
            yield from self._scanned(node)

    def is_rational(self, statement: Node) -> bool:
        """Whether every side of every relation is a quotient of polynomials: then all roots are found."""
        if not isinstance(statement, Relation):
            return isinstance(statement, Connective) and all(map(self.is_rational, statement.args))
        try:
            for relation in relations(statement):
                for branch in without_absolutes(difference(*relation.args), self.name):
                    self.rational(branch)
        except (NotRational, NotANumber):
            return False
        return True

    def rational(self, node: Node) -> tuple[list[Value], list[Value]]:
        """The numerator and the denominator as polynomials in the unknown, each with its constant term first.

        Raises:
            NotRational: the node is not a quotient of polynomials, or a degree is over the bound.
        """
        if self.name not in symbols(node):
            value, _ = self.value(node, mp.mpf(0))
            return [value], [mp.mpf(1)]
        if isinstance(node, Symbol):
            return [mp.mpf(0), mp.mpf(1)], [mp.mpf(1)]
        if isinstance(node, Power):
            return self._rational_power(node)
        if not isinstance(node, RATIONAL_OPERATIONS):
            raise NotRational
        parts = [self.rational(a) for a in node.args]
        above, below = parts[0]
        if isinstance(node, Negation):
            return [-c for c in above], below
        for top, bottom in parts[1:]:
            match node:
                case Product():
                    above, below = times(above, top), times(below, bottom)
                case Quotient():
                    above, below = times(above, bottom), times(below, top)
                case Sum():
                    above, below = plus(times(above, bottom), times(top, below)), times(below, bottom)
        return above, below

    def _rational_power(self, node: Power) -> tuple[list[Value], list[Value]]:
        if symbols(node.exponent):
            raise NotRational
        exponent, _ = self.value(node.exponent, mp.mpf(0))
        if not mp.isint(exponent) or abs(exponent) > MAX_DEGREE:
            raise NotRational
        above, below = self.rational(node.base)
        top, bottom = [mp.mpf(1)], [mp.mpf(1)]
        for _ in range(int(abs(exponent))):
            top, bottom = times(top, above), times(bottom, below)
        return (top, bottom) if exponent >= 0 else (bottom, top)

    def _scanned(self, node: Node) -> Iterator[Value]:
        """Points between grid points where the expression changes its sign, or begins or ceases to be real."""
        # Steps are equal near zero, and grow up to a hundred thousand. No grid point is a simple fraction: a root often
        # is, and it must lie between grid points
        far = [mp.mpf("1.7") ** at for at in range(-9, 23)]
        near = (mp.mpf(at) / 3 + mp.mpf("0.0137") for at in range(-60, 61))
        grid = sorted({*near, *far, *(-x for x in far)})
        before: tuple[Value, int | None] | None = None
        for x in grid:
            try:
                sign = self._sign(node, x)
            except OutOfRange:
                continue
            if before is not None and sign != before[1]:
                yield self._bisected(node, before[0], x, before[1])
            before = (x, sign)

    def _sign(self, node: Node, x: Value) -> int | None:
        try:
            return int(mp.sign(self.value(node, x)[0]))
        except NotANumber:
            return None

    def _bisected(self, node: Node, low: Value, high: Value, sign: int | None) -> Value:
        for _ in range(50):
            middle = (low + high) / 2
            if self._sign(node, middle) == sign:
                low = middle
            else:
                high = middle
        # Roots of answers are often simple fractions
        simple = mp.nint(high * 360) / 360
        if abs(simple - high) < mp.mpf(10) ** -12:
            return simple
        if self._rough:
            return high
        try:
            return mp.findroot(lambda x: self.value(node, x)[0], (low, high), solver="anderson")
        except (ValueError, ZeroDivisionError, NotANumber):
            return high


def relations(node: Node) -> list[Relation]:
    """The relations that must all hold: those of a chain, or the parts of an `and`; empty for any other node."""
    if isinstance(node, Relation):
        pairs = zip(node.operators, node.args, node.args[1:], strict=False)
        return [Relation((left, right), (operator,)) for operator, left, right in pairs]
    if is_joined(node, "and"):
        parts = [relations(a) for a in node.args]
        return [r for part in parts for r in part] if all(parts) else []
    return []


def plain_unknown(node: Node) -> Node:
    """The node with each call replaced by a symbol: `0 < f(x) < 1` as a statement about the quantity f(x)."""
    if isinstance(node, UndefinedCall):
        return Symbol(f"{node.function}(…)")
    args = tuple(map(plain_unknown, node.args))
    return with_args(node, args) if args != node.args else node
