r"""Points at which formulas, and sets of real numbers, are compared (worker side).

This module decides which numbers belong to a set, and finds the points of the real line at which membership can
change. Those points are ends of intervals, and roots and poles of differences.

Each side's truth can change only at a few points. So the sets are equal if both sides agree at each of those points,
between neighbouring points, and beyond the outermost.

Small points are enough for analytic functions. A function made of pieces (absolute values, roots, floors, maxima) may
agree on one piece and differ on the next. So points of both signs and all sizes are tried too, and points between and
beyond the points where pieces meet.

`x + \lfloor\frac{1}{1+(x-7)^2}\rfloor` is x at every point but 7. Values at random points refute such a formula only by
luck. So agreement at points proves nothing for an answer with a step, unless the reference has the same step.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Literal

from mpmath import mp

from agentscope_tuner.verify.math.canonical import key, without_absolutes
from agentscope_tuner.verify.math.exact import value_at
from agentscope_tuner.verify.math.node import (
    EMPTY_SET,
    INFINITY,
    PI,
    RATIONAL,
    RATIONAL_OPERATIONS,
    Apply,
    BigOperator,
    Collection,
    Connective,
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
    UndefinedCall,
    difference,
    is_applied,
    is_joined,
    is_matrix,
    mapped,
    number,
    symbols,
    value_of,
    walk,
)
from agentscope_tuner.verify.math.numeric import Budget, NotANumber, Numeric, OutOfRange, Value, pseudo_random
from agentscope_tuner.verify.math.sets import conditions, family
from agentscope_tuner.verify.math.tokens import TooComplex

MAX_DEGREE = 24


class NotRational(Exception):
    """The expression is not a quotient of polynomials in the unknown, or its degree is over the bound."""


def plus(left: list[Value], right: list[Value]) -> list[Value]:
    """The sum of two polynomials, each a list of coefficients with the constant term first."""
    size = max(len(left), len(right))
    return [(left[k] if k < len(left) else 0) + (right[k] if k < len(right) else 0) for k in range(size)]


def times(left: list[Value], right: list[Value]) -> list[Value]:
    """The product of two polynomials, each a list of coefficients with the constant term first.

    Raises:
        NotRational: the product's degree is over the bound.
    """
    if len(left) + len(right) > MAX_DEGREE + 2:
        raise NotRational
    found = [mp.mpf(0)] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            found[i + j] += a * b
    return found


def real_roots(coefficients: list[Value]) -> Iterator[Value]:
    """Real roots of a polynomial and of its derivatives: `-√2`, `√2` and 0 for `x^2-2`, given as [-2, 0, 1].

    The root finder is weak at multiple roots. A multiple root is a simple root of one of the derivatives.
    """
    size = max((abs(c) for c in coefficients), default=0)
    while coefficients and abs(coefficients[-1]) <= size * mp.mpf(10) ** (-mp.dps // 2):
        coefficients = coefficients[:-1]
    while len(coefficients) > 1:
        try:
            found = mp.polyroots(coefficients[::-1], maxsteps=60, extraprec=60)
        except mp.NoConvergence:
            found = []
        yield from (mp.re(root) for root in found if abs(mp.im(root)) <= (1 + abs(root)) * mp.mpf(10) ** (-mp.dps // 4))
        coefficients = [k * c for k, c in enumerate(coefficients)][1:]


_OPERATORS = {
    "=": lambda d, tol: abs(d) <= tol,
    "!=": lambda d, tol: abs(d) > tol,
    "<": lambda d, tol: d < -tol,
    "<=": lambda d, tol: d <= tol,
    ">": lambda d, tol: d > tol,
    ">=": lambda d, tol: d >= -tol,
}


class RealLine:
    """The real line of one unknown, on which formulas are evaluated and sets tested; other symbols have fixed values.

    Args:
        name: the unknown.
        point: the values of the other symbols.
        budget: limits the work of all evaluations.
        rough: about fifteen digits of a root are enough.
    """

    def __init__(self, name: str, point: dict[str, Value], budget: Budget, *, rough: bool = False) -> None:
        self._rough = rough
        self.name = name
        self.point = point
        self.budget = budget

    def value(self, node: Node, x: Value) -> tuple[Value, Value]:
        """The real value of a formula at x, and the tolerance with which to compare it with zero.

        Raises:
            NotANumber: the node has no value, or no real value.
        """
        numeric = Numeric({**self.point, self.name: x}, self.budget)
        found = numeric.value(node)
        tolerance = max(numeric.scale, mp.mpf(1)) * mp.mpf(10) ** (-mp.dps // 2)
        if isinstance(found, mp.matrix) or abs(mp.im(found)) > tolerance:
            raise NotANumber("not real")
        return mp.re(found), tolerance

    def end(self, node: Node) -> Value:
        r"""The value of an interval's end: minus infinity for `-\infty`."""
        if node == INFINITY:
            return mp.inf
        if node == Negation(INFINITY):
            return -mp.inf
        return self.value(node, mp.mpf(0))[0]

    def holds(self, node: Node, x: Value) -> bool:
        """Whether `x` belongs to the set or satisfies the statement: 3 satisfies `x > 2`.

        False if a formula has no real value at x.

        Raises:
            TooComplex: the node is not a set of reals that this module can test.
        """
        try:
            return self._holds(node, x)
        except NotANumber:
            return False

    def _holds(self, node: Node, x: Value) -> bool:
        """As `holds`, but raises NotANumber if a formula has no real value at x."""
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
        """Whether a relation between two formulas holds at x; its name is an operator, such as `<=` or `in`."""
        if name in ("in", "notin"):
            return (name == "in") == self.holds(right, self.value(left, x)[0])
        if name not in _OPERATORS:
            raise TooComplex(f"the relation {name}")
        found, tolerance = self.value(difference(left, right), x)
        return bool(_OPERATORS[name](found, tolerance))

    def _is_element(self, node: Node, x: Value) -> bool:
        r"""Whether x is the number, or in the set `\{x \mid x > 2\}`, that is written as an element of a set."""
        if isinstance(node, SetBuilder):
            satisfied = isinstance(node.condition, Symbol) or self.holds(node.condition, x)
            return satisfied and (not isinstance(node.element, Relation) or self.holds(node.element, x))
        found, tolerance = self.value(node, x)
        return bool(abs(found - x) <= tolerance)

    def _inside(self, node: Interval, x: Value) -> bool:
        """Whether x is in the interval; an open end excludes numbers that are almost equal to it."""
        low, high = self.end(node.low), self.end(node.high)
        tolerance = mp.mpf(10) ** (-mp.dps // 2) * max(1, abs(x))
        above = x >= low - tolerance if node.low_in else x > low + tolerance
        below = x <= high + tolerance if node.high_in else x < high - tolerance
        return bool(above and below)

    def changes(self, node: Node) -> Iterator[Value]:
        """Every point where membership or truth may change, and perhaps other points: -2 and 2 for `x^2 < 4`."""
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
        r"""The real roots and poles of an expression, and perhaps other points: 1 and 3 for `\frac{x-1}{x-3}`.

        If the expression is not rational, only sign changes on a grid are found.
        """
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
        r"""The numerator and the denominator as lists of coefficients: [0, 0, 1] and [1, 1] for `\frac{x^2}{x+1}`.

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
        """As `rational`, for a power with a whole-number exponent: [1] and [1, 2, 1] for `(x+1)^{-2}`."""
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
        """Points at which the expression changes its sign, or begins or ceases to be real: 0.693... for `e^x-2`.

        Only changes between neighbouring points of a grid are found.
        """
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
        """The sign of the expression at x: -1, 0 or 1; None if it has no real value there."""
        try:
            return int(mp.sign(self.value(node, x)[0]))
        except NotANumber:
            return None

    def _bisected(self, node: Node, low: Value, high: Value, sign: int | None) -> Value:
        """The point between `low` and `high` at which the expression no longer has the sign that it has at `low`."""
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
    """The relations that must all hold: `0 < x` and `x < 1` for the chain `0 < x < 1`, or the parts of an `and`.

    Empty for any other node.
    """
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
    return mapped(node, plain_unknown)


_MAX_POINTS = 200
_BETWEEN = (0.137, 0.5, 0.871)
_OUTSIDE = (1, "0.37", 1000)
# Points beyond the grid on which changes are searched. The tolerance of a comparison grows with its values, so the
# farthest point needs more digits than the others
_FAR, _FAR_DIGITS = ("1e6", "1e9", "1e30", "1e90"), 240


def same_region(ref: Node, ans: Node, ref_line: RealLine, ans_line: RealLine) -> bool | None:
    """Whether both describe the same set of real numbers, as `x^2 < 4` and `(-2, 2)` do.

    None if both seem empty, as for `x^2 < -4` and `x^2 < -5`: that proves nothing.

    Args:
        ref: the reference, a set or a statement about the unknown of `ref_line`.
        ans: the answer, the same for `ans_line`.
        ref_line: the real line on which the reference is tested.
        ans_line: the real line on which the answer is tested.

    Raises:
        TooComplex: more points than the bound, or a node that is not a set of reals.
    """
    try:
        points = sorted({mp.mpf(p) for line, node in ((ref_line, ref), (ans_line, ans)) for p in line.changes(node)})
    except NotANumber:
        return False
    if len(points) > _MAX_POINTS:
        raise TooComplex("too many points where the truth may change")
    holds = [(ref_line.holds(ref, x), ans_line.holds(ans, x)) for x in _places(points)]
    if any(r != a for r, a in holds) or not _same_far_away(ref, ans, ref_line, ans_line):
        return False
    # two statements that hold at no point may have failed for different reasons
    return True if any(r for r, _ in holds) or ref == ans == EMPTY_SET else None


def _places(points: list[Value]) -> list[Value]:
    """Points to test: the given points without near duplicates, and points between and around them.

    For 0 and 1 these are also 0.137, 0.5, 0.871, -1 and 2.
    """
    near = mp.mpf(10) ** (-mp.dps // 3)
    apart = [p for at, p in enumerate(points) if at == 0 or p - points[at - 1] > near]
    if not apart:
        return [mp.mpf("-1.7"), mp.mpf("0.3")]
    between = [a + (b - a) * at for a, b in pairwise(apart) for at in _BETWEEN]
    return [*apart, *between, *(end for step in map(mp.mpf, _OUTSIDE) for end in (apart[0] - step, apart[-1] + step))]


def _same_far_away(ref: Node, ans: Node, ref_line: RealLine, ans_line: RealLine) -> bool:
    """Whether both sets agree at points like 1e9 and -1e90, far outside the searched grid.

    A point at which a value is out of range is skipped.
    """
    with mp.workdps(_FAR_DIGITS):
        for x in (sign * mp.mpf(size) for size in _FAR for sign in (1, -1)):
            try:
                if ref_line.holds(ref, x) != ans_line.holds(ans, x):
                    return False
            except OutOfRange:
                continue
    return True


Point = dict[str, Value]
Domain = Literal["positive", "real", "complex", "beside"]
# Orders of magnitude: the lowest exponent of ten, and the number of orders without and with factorials
_LOWEST, _SIZES, _GAMMA_SIZES = -3, 7, 4
_MAX_PIECES, _MAX_UNKNOWNS, _MAX_BETWEEN = 16, 4, 80
_MAX_COMPARED, _ROUGH_DIGITS = 5, 25
_INVERSES = frozenset({"arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc", "arg"})
# Limits of the values for a symbol that bounds a sum, by the depth of nested sums: the work is the value to that power
_WHOLE = {1: (8, 60, 900), 2: (6, 12, 40), 3: (4, 6, 10)}


_ANALYTIC = frozenset({"sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "exp"})


def is_analytic(node: Node) -> bool:
    r"""Whether the formula is a single analytic piece: `x^2+\sin x`, but not `|x|` or `\sqrt{x}`.

    Two such formulas that agree around one point agree everywhere (identity theorem).
    """
    return all(_is_one_piece(n) for n in walk(node))


def _is_one_piece(node: Node) -> bool:
    """As `is_analytic`, for the outermost operation of the node alone."""
    if isinstance(node, Power):
        return _is_whole(node.exponent) or not symbols(node.base)
    return isinstance(node, RATIONAL) or is_applied(node, *_ANALYTIC)


def _between_0_and_1(*key: str) -> Value:
    """A pseudo-random number between 0 and 1, the same each time for the same key."""
    return (pseudo_random(*key) - mp.mpf("0.3")) / mp.mpf("2.7")


def point_in(
    domain: Domain, names: frozenset[str], whole: frozenset[str], bounds: tuple[int, int], seed: str, at: int
) -> Point:
    """The `at`-th pseudo-random point at which two formulas are compared: a value for each symbol.

    Args:
        domain: `real` values have both signs; `beside` are complex, a little off the positive real axis.
        names: the symbols.
        whole: those of the symbols that bound a sum or a product; they get whole numbers (see `whole_number`).
        bounds: the depth of nested sums, and the largest number that bounds a sum.
        seed: determines the points.
        at: the number of the point.
    """
    point: Point = {}
    for name in sorted(names):
        value = pseudo_random(seed, name, str(at))
        if name in whole:
            point[name] = whole_number(name, seed, at if domain == "positive" else 0, bounds)
            continue
        if domain == "real" and at != 1 and (at == 0 or pseudo_random(seed, name, str(at), "sign") > 1.6):
            value = -value
        if domain == "complex":
            value = mp.mpc(value, pseudo_random(seed, name, str(at), "imaginary"))
        if domain == "beside":
            value *= mp.mpc(1, "0.1")
        point[name] = value
    return point


def wide(names: list[str], seed: str, nodes: tuple[Node, Node]) -> Iterator[Point]:
    """Points of both signs at every order of magnitude from 0.001; each symbol takes the orders in its own sequence.

    Factorials of numbers that are not whole take long, so formulas with factorials are tried only up to ten.
    """
    sizes = _GAMMA_SIZES if has_gamma(nodes) else _SIZES
    for at in range(2 * sizes):
        point: Point = {}
        for place, name in enumerate(names):
            shift = int(_between_0_and_1(seed, name, "shift") * sizes) if place else 0
            size = mp.mpf(10) ** (_LOWEST + (at // 2 + shift) % sizes + _between_0_and_1(seed, name, str(at), "size"))
            negative = at % 2 if place == 0 else _between_0_and_1(seed, name, str(at), "side") > 0.5
            point[name] = -size if negative else size
        yield point


def has_gamma(nodes: tuple[Node, Node]) -> bool:
    """Whether one of the formulas has a factorial or a binomial: `n!`."""
    return any(is_applied(n, "factorial", "binom") for node in nodes for n in walk(node))


def between_pieces(nodes: tuple[Node, Node], others: Point, budget: Budget) -> Iterator[Point]:
    """Points between, and on both sides of, the points at which a formula passes from one piece to the next.

    The pieces of `|x-2|` meet at 2 and those of `|x-5|` at 5: here the points are 3.5, and others around 2 and 5.

    Args:
        nodes: the two formulas.
        others: a value for each symbol; each point changes one of them.
        budget: shared by the whole comparison.

    Raises:
        TooComplex: more pieces, unknowns or points than the bounds.
    """
    pieces = list(dict.fromkeys(p for node in nodes for p in _pieces(node)))
    if len(pieces) > _MAX_PIECES:
        raise TooComplex("more pieces than are looked at")
    # A product is zero where a factor is. A single factor is often a polynomial, and finding its roots needs no search
    pieces = list(dict.fromkeys(factor for piece in pieces for factor in _vanishing(piece)))
    unknowns = sorted(frozenset().union(*map(symbols, pieces)) & others.keys())
    if len(unknowns) > _MAX_UNKNOWNS:
        raise TooComplex("more pieces than are looked at")
    for name in unknowns:
        line = RealLine(name, {n: v for n, v in others.items() if n != name}, budget, rough=True)
        meets: set[Value] = set()
        with mp.workdps(_ROUGH_DIGITS):
            for piece in pieces:
                if name in symbols(piece):
                    meets |= _meets(line, piece)
        ends = sorted(meets)
        near = [(a + b) / 2 for a, b in pairwise(ends) if b - a > mp.mpf(10) ** -12]
        for x in ends[:1] + ends[-1:]:
            step = (abs(x) + 1) * (mp.mpf("0.1") + _between_0_and_1(name, mp.nstr(x, 12)))
            near += [x - step, x + step]
        if len(near) > _MAX_BETWEEN:
            raise TooComplex("more pieces than are looked at")
        yield from ({**others, name: x} for x in near)


def _meets(line: RealLine, piece: Node) -> set[Value]:
    """The finite points at which the expression may be zero; empty if they cannot be found."""
    try:
        return {mp.mpf(x) for x in line.roots(piece) if mp.isfinite(x)}
    except (NotANumber, TooComplex):
        # If the budget is spent, the next step raises the same error
        return set()


def _vanishing(node: Node) -> Iterator[Node]:
    r"""The factors of an expression that may be zero, in a denominator, too: x, x-1, x+3 for `\frac{x(x-1)}{x+3}`."""
    match node:
        case Product(args):
            for arg in args:
                yield from _vanishing(arg)
        case Quotient(above, below):
            yield from _vanishing(above)
            yield from _vanishing(below)
        case Negation(inside):
            yield from _vanishing(inside)
        case Power(base, exponent) if _is_whole(exponent) and all(isinstance(n, RATIONAL) for n in walk(base)):
            # Only rational bases: the zeros of others need a search. `\cos(\pi x)` has many, its square changes no sign
            yield from _vanishing(base)
        case Power(base) if base == E or (isinstance(base, Number) and base.value > 0):
            return
        case Apply("exp"):
            return
        case _ if symbols(node):
            yield node


def _pieces(node: Node) -> Iterator[Node]:
    r"""Expressions whose zeros separate the pieces of a formula: x-2 and x for `|x-2|+\sqrt{x}`."""
    for n in walk(node):
        match n:
            case Power(base, exponent) if not _is_whole(exponent):
                yield base
            case Apply(function, args):
                yield from _parts(function, args)


def _parts(function: str, args: tuple[Node, ...]) -> Iterator[Node]:
    r"""Expressions whose zeros separate the pieces of one function call: x-y for `\max(x,y)`."""
    first = args[0]
    if function in ("max", "min"):
        if len(args) > _MAX_COMPARED:
            raise TooComplex("more pieces than are looked at")
        yield from (difference(a, b) for a, b in combinations(args, 2))
    elif function in ("ln", "log") and is_applied(first, "abs"):
        # The walk yields the parts of the absolute value itself
        return
    elif function in ("abs", "floor", "ceil", "sgn", "ln", "log", "Re", "Im"):
        yield first
        if function in ("floor", "ceil"):
            yield from (difference(first, number(at)) for at in (1, -1))
    elif function in _INVERSES and isinstance(first, Apply):
        # An inverse function undoes its function on one branch only, so the pieces meet where branches do
        half = Quotient(PI, number(2))
        for inner in first.args:
            yield from (inner, difference(inner, half), Sum((inner, half)))


def _is_whole(node: Node) -> bool:
    """Whether the node is a whole number, also a negative one: `-3`."""
    value = value_of(node.inside if isinstance(node, Negation) else node)
    return value is not None and value.denominator == 1


def whole_number(name: str, seed: str, at: int, bounds: tuple[int, int]) -> Value:
    """The `at`-th value for a symbol that bounds a sum or a product, like n in `\\sum_{k=1}^n k`: a whole number.

    The first value is small, to show exceptions for small numbers. Every fourth value is beyond every written bound:
    products like (n-1)(n-2)… are zero for all small numbers, but not for such a large one.

    Args:
        bounds: the depth of nested sums, and the largest number that bounds a sum.
    """
    depth, written = bounds
    small, middle, large = _WHOLE[min(3, max(1, depth))]
    low, high = ((2, small), (small, middle), (middle, large), (max(written, middle), max(written, middle) + middle))[
        at % 4
    ]
    return mp.floor(low + 1 + (high - low) * _between_0_and_1(seed, name, str(at), "whole"))


def bounding(node: Node) -> frozenset[str]:
    r"""The symbols in the bounds of a sum or a product, with its index: k and n for `\sum_{k=1}^n k`."""
    return frozenset().union(*(symbols(b) for n in walk(node) if isinstance(n, BigOperator) for b in n.bounds))


def bounds(ref: Node, ans: Node) -> tuple[int, int]:
    r"""The depth of nested sums in the two formulas, and the largest number that bounds one.

    (1, 10) if one formula is `\sum_{k=1}^{10} k` and the other has no sum.
    """
    return max(map(_nesting, (ref, ans))), max(map(_written_bound, (ref, ans)))


def _nesting(node: Node) -> int:
    """The largest depth of sums and products inside each other: 2 for a sum of sums."""
    return max(map(_nesting, node.args), default=0) + isinstance(node, BigOperator)


def _written_bound(node: Node) -> int:
    r"""The largest upper bound of a sum or product that is a plain number: 10 for `\sum_{k=1}^{10} k`; else 0."""
    found = [value_of(n.args[-1]) for n in walk(node) if isinstance(n, BigOperator)]
    return max((int(v) for v in found if v is not None and v.denominator == 1), default=0)


# Functions that jump. Two floors have the same jumps if their arguments differ by a whole number
_JUMPS = frozenset({"floor", "ceil", "sgn", "gcd", "lcm"})
_BENDS = frozenset({"max", "min"})
# Functions without narrow features, if their argument is a small multiple of an unknown
_SMOOTH = frozenset({"sin", "cos", "tan", "cot", "sec", "csc", "ln", "log", "arctan", "sinh", "cosh", "tanh"})
_MAX_MULTIPLE = 12


def own_steps(ref: Node, ans: Node) -> bool:
    r"""Whether the answer has a step that the reference does not have: `x+\lfloor x\rfloor` beside `x`.

    Then agreement at points proves nothing. Counted as steps are jumps, powers of zero, products over an unknown, and
    bends (of absolute values, maxima and roots) that the search for zeros might miss.
    """
    jumps = list(_jumps(ans))
    known = list(_jumps(ref))
    if any(not any(_same_jump(n, other) for other in known) for n in jumps):
        return True
    if any(_is_empty_power(n) for n in walk(ans)) or _has_own_product(ref, ans):
        return True
    bends = {key(p) for p in _bends(ref)}
    return any(key(p) not in bends and not _is_wide(p) for p in _bends(ans))


def _jumps(node: Node) -> Iterator[Apply]:
    r"""The calls of functions that jump, such as `\lfloor x\rfloor`, on arguments with symbols."""
    yield from (n for n in walk(node) if isinstance(n, Apply) and n.function in _JUMPS and symbols(n))


def _same_jump(node: Apply, other: Apply) -> bool:
    r"""Whether two calls jump at the same points, as `\lfloor x\rfloor` and `\lfloor x+3\rfloor` do."""
    if key(node) == key(other):
        return True
    if len(node.args) != 1 or len(other.args) != 1 or {node.function, other.function} - {"floor", "ceil"}:
        return False
    (mine,), (theirs,) = node.args, other.args
    inside = difference(mine, theirs) if node.function == other.function else Sum((mine, theirs))
    found, again = (value_at(seed, inside) for seed in ("step", "other step"))
    return found is not None and found == again and found.denominator == 1


def _is_empty_power(node: Node) -> bool:
    """Whether the node is like `0^{(x-7)^2}`, which is 0 at every point but one."""
    match node:
        case Power(base, exponent) if not is_matrix(base) and symbols(exponent):
            return _is_zero(base)
    return False


def _is_zero(node: Node) -> bool:
    """Whether the expression is zero, or a constant without an exact value, which may be zero."""
    found = value_at("zero", node)
    return found == 0 if found is not None else not symbols(node)


def _has_own_product(ref: Node, ans: Node) -> bool:
    r"""Whether only the answer has a `\prod` over an unknown, as `\prod_{k=1}^n (x-k)`: zero wherever a factor is."""

    def products(side: Node) -> bool:
        signs = (n for n in walk(side) if isinstance(n, BigOperator) and n.sign == "prod")
        return any(symbols(n.body) - _index_names(n) for n in signs)

    return products(ans) and not products(ref)


def _index_names(node: BigOperator) -> frozenset[str]:
    r"""The index of a sum or product: k for `\prod_{k=1}^n (x-k)`."""
    return frozenset().union(*(symbols(bound.args[0]) for bound in node.bounds if isinstance(bound, Relation)))


def _bends(node: Node) -> Iterator[Node]:
    """Expressions at whose zeros the node may bend: x-7 for `|x-7|`.

    These are the arguments of absolute values, and the differences of the values in a maximum or minimum. The bases of
    some roots belong to them, too: `\\sqrt{u^2}` is `|u|`.
    """
    for n in walk(node):
        match n:
            case Apply("abs", (inside,)):
                yield inside
            case Apply(function, args) if function in _BENDS:
                yield from (difference(left, right) for left, right in combinations(args, 2))
            case Power(Power(base), Quotient()):
                yield base
            case Power(base, Quotient()) if any(
                isinstance(m, Power) and isinstance(m.exponent, Quotient) for m in walk(base)
            ):
                # In nested roots the inner root may be an absolute value: `\sqrt{x^2-14x+49}`
                yield base


def _is_wide(node: Node) -> bool:
    r"""Whether the search for zeros finds every zero of the expression, so that points beside each bend are tried.

    True for rational expressions, their powers with constant exponents, and one smooth function of a small multiple:
    `\sin(2x)`, but not `\sin(30x)`.
    """
    if not symbols(node):
        return True
    inside = [n for n in walk(node) if not isinstance(n, RATIONAL)]
    if all(isinstance(n, Power) and isinstance(n.exponent, Number) for n in inside):
        return True
    if isinstance(node, (Negation, Product, Quotient)):
        return all(map(_is_wide, node.args))
    if isinstance(node, Power):
        return not symbols(node.exponent) and _is_wide(node.base)
    if not is_applied(node, *_SMOOTH):
        return False
    numbers = [n.value for n in walk(node) if isinstance(n, Number)]
    return all(abs(v) <= _MAX_MULTIPLE for v in numbers) and all(isinstance(n, RATIONAL) for n in walk(node.args[0]))
