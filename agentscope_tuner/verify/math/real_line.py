"""Sets of real numbers (worker side): intervals, unions, inequalities and equations in one unknown.

What belongs to one, and where along the real line that can change: ends of intervals, roots and poles of differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from mpmath import mp

from agentscope_tuner.verify.math.family import conditions, family
from agentscope_tuner.verify.math.node import Node, number, symbols, walk
from agentscope_tuner.verify.math.numeric import Budget, Numeric
from agentscope_tuner.verify.math.numeric_matrix import NotANumber, OutOfRange, Value
from agentscope_tuner.verify.math.polynomial import MAX_DEGREE, NotRational, plus, real_roots, times
from agentscope_tuner.verify.math.text import TooComplex

_MAX_ABS = 3
_OPERATORS = {
    "=": lambda d, tol: abs(d) <= tol,
    "!=": lambda d, tol: abs(d) > tol,
    "<": lambda d, tol: d < -tol,
    "<=": lambda d, tol: d <= tol,
    ">": lambda d, tol: d > tol,
    ">=": lambda d, tol: d >= -tol,
}


class RealLine:
    """The real line of one unknown, the other symbols fixed."""

    def __init__(self, name: str, point: dict[str, Value], budget: Budget, *, rough: bool = False) -> None:
        # whether roots are wanted to about fifteen digits alone
        self._rough = rough
        self.name = name
        self.point = point
        self.budget = budget

    def value(self, node: Node, x: Value) -> tuple[Value, Value]:
        """A real value and the tolerance of its comparison with zero.

        Raises:
            NotANumber: none, or not a real one.
        """
        numeric = Numeric({**self.point, self.name: x}, self.budget)
        found = numeric.value(node)
        tolerance = max(numeric.scale, mp.mpf(1)) * mp.mpf(10) ** (-mp.dps // 2)
        if isinstance(found, list) or abs(mp.im(found)) > tolerance:
            raise NotANumber("not real")
        return mp.re(found), tolerance

    def end(self, node: Node) -> Value:
        """An interval's end, infinite ones too."""
        if node == Node("sym", (), "\\infty"):
            return mp.inf
        if node == Node("neg", (Node("sym", (), "\\infty"),)):
            return -mp.inf
        return self.value(node, mp.mpf(0))[0]

    def holds(self, node: Node, x: Value) -> bool:
        """Whether `x` belongs to the set, or satisfies the statement; never where a side has no real value."""
        try:
            return self._holds(node, x)
        except NotANumber:
            return False

    def _holds(self, node: Node, x: Value) -> bool:
        if node.head == "rel":
            return all(self._related(r.name, r.args[0], r.args[1], x) for r in relations(node))
        if node.head in ("and", "inter") or conditions(node):
            return all(self.holds(a, x) for a in node.args)
        if node.head in ("or", "union", "list"):
            return any(self.holds(a, x) for a in node.args)
        if node.head == "not":
            return not self.holds(node.args[0], x)
        if node.head == "minus":
            return self.holds(node.args[0], x) and not self.holds(node.args[1], x)
        if node.head == "set":
            if family(node) is not None:
                raise TooComplex("a set of computed values")
            return any(self._is_element(a, x) for a in node.args)
        if node.head in ("interval", "tuple") and len(node.args) == 2:
            return self._inside(node, x)
        if node.head == "sym" and node.name in ("\\mathbb{R}", "\\mathbb{Z}"):
            return node.name == "\\mathbb{R}" or abs(x - mp.nint(x)) < mp.mpf(10) ** (-mp.dps // 2)
        raise TooComplex(f"a set given as {node.head}")

    def _related(self, name: str, left: Node, right: Node, x: Value) -> bool:
        if name in ("in", "notin"):
            return (name == "in") == self.holds(right, self.value(left, x)[0])
        if name not in _OPERATORS:
            raise TooComplex(f"the relation {name}")
        difference, tolerance = self.value(_difference(left, right), x)
        return bool(_OPERATORS[name](difference, tolerance))

    def _is_element(self, node: Node, x: Value) -> bool:
        if node.head == "where":
            return all(self.holds(a, x) for a in node.args[1:] if a.head != "sym") and (
                node.args[0].head != "rel" or self.holds(node.args[0], x)
            )
        found, tolerance = self.value(node, x)
        return bool(abs(found - x) <= tolerance)

    def _inside(self, node: Node, x: Value) -> bool:
        low, high = self.end(node.args[0]), self.end(node.args[1])
        brackets = node.name or "()"
        tolerance = mp.mpf(10) ** (-mp.dps // 2) * max(1, abs(x))
        above = x >= low - tolerance if brackets[0] == "[" else x > low + tolerance
        below = x <= high + tolerance if brackets[1] == "]" else x < high - tolerance
        return bool(above and below)

    def changes(self, node: Node) -> Iterator[Value]:
        """Every point where the truth may change, and perhaps more."""
        if node.head == "rel":
            for relation in relations(node):
                left, right = relation.args
                if relation.name in ("in", "notin"):
                    yield from self.changes(right)
                else:
                    yield from self.roots(_difference(left, right))
        elif node.head in ("interval", "tuple"):
            yield from (end for end in map(self.end, node.args) if mp.isfinite(end))
        elif node.head == "sym":
            yield from (mp.mpf(at) for at in range(-3, 4))
        elif node.head == "set":
            for element in node.args:
                yield from self.changes(element) if element.head == "where" else (self.end(element),)
        else:
            for part in node.args:
                if part.head != "sym" or part.name.startswith("\\mathbb"):
                    yield from self.changes(part)

    def roots(self, node: Node) -> Iterator[Value]:
        """The real roots and poles of an expression, and perhaps more points."""
        found = False
        for branch in _without_absolutes(node, self.name):
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
        """Whether every side of every relation is a quotient of polynomials, whose roots are all found."""
        if statement.head != "rel":
            return all(map(self.is_rational, statement.args)) if statement.head in ("and", "or", "not") else False
        try:
            for relation in relations(statement):
                for branch in _without_absolutes(_difference(*relation.args), self.name):
                    self.rational(branch)
        except (NotRational, NotANumber):
            return False
        return True

    def rational(self, node: Node) -> tuple[list[Value], list[Value]]:
        """Numerator and denominator in the unknown, lowest coefficient first."""
        if self.name not in symbols(node):
            value, _ = self.value(node, mp.mpf(0))
            return [value], [mp.mpf(1)]
        if node.head == "sym":
            return [mp.mpf(0), mp.mpf(1)], [mp.mpf(1)]
        if node.head == "pow":
            return self._rational_power(node)
        if node.head not in ("add", "mul", "div", "neg"):
            raise NotRational
        parts = [self.rational(a) for a in node.args]
        if node.head == "neg":
            return [-c for c in parts[0][0]], parts[0][1]
        above, below = parts[0]
        for top, bottom in parts[1:]:
            if node.head == "mul":
                above, below = times(above, top), times(below, bottom)
            elif node.head == "div":
                above, below = times(above, bottom), times(below, top)
            else:
                above, below = plus(times(above, bottom), times(top, below)), times(below, bottom)
        return above, below

    def _rational_power(self, node: Node) -> tuple[list[Value], list[Value]]:
        if symbols(node.args[1]):
            raise NotRational
        exponent, _ = self.value(node.args[1], mp.mpf(0))
        if not mp.isint(exponent) or abs(exponent) > MAX_DEGREE:
            raise NotRational
        above, below = self.rational(node.args[0])
        top, bottom = [mp.mpf(1)], [mp.mpf(1)]
        for _ in range(int(abs(exponent))):
            top, bottom = times(top, above), times(bottom, below)
        return (top, bottom) if exponent >= 0 else (bottom, top)

    def _scanned(self, node: Node) -> Iterator[Value]:
        """Sign changes, and the ends of where the expression is real, on a grid."""
        # even steps near zero, growing ones to a hundred thousand: none a simple fraction, where roots like to be
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
        # simple fractions are what answers are made of
        simple = mp.nint(high * 360) / 360
        if abs(simple - high) < mp.mpf(10) ** -12:
            return simple
        if self._rough:
            return high
        try:
            return mp.findroot(lambda x: self.value(node, x)[0], (low, high), solver="anderson")
        except (ValueError, ZeroDivisionError, NotANumber):
            return high


def relations(node: Node) -> list[Node]:
    """The relations that all hold: the members of a chain or of an `and`; empty for anything else."""
    if node.head == "rel":
        return [
            Node("rel", (a, b), name) for name, a, b in zip(node.name.split(), node.args, node.args[1:], strict=False)
        ]
    if node.head == "and":
        parts = [relations(a) for a in node.args]
        return [r for part in parts for r in part] if all(parts) else []
    return []


def plain_unknown(node: Node) -> Node:
    """`0 < f(x) < 1` as a statement about the one quantity f(x)."""
    if node.head == "call":
        return Node("sym", (), f"{node.name}(…)")
    args = tuple(map(plain_unknown, node.args))
    return node._replace(args=args) if args != node.args else node


def _difference(left: Node, right: Node) -> Node:
    return Node("add", (left, Node("neg", (right,))))


def _without_absolutes(node: Node, name: str) -> Iterator[Node]:
    """The expression with each absolute value opened either way."""
    inside = [n for n in walk(node) if n.head == "abs" and name in symbols(n)]
    if len(inside) > _MAX_ABS:
        raise TooComplex("too many absolute values")
    for signs in product((1, -1), repeat=len(inside)):
        yield _opened(node, dict(zip(inside, signs, strict=True)))
    for absolute in inside:
        yield absolute.args[0]


def _opened(node: Node, signs: dict[Node, int]) -> Node:
    args = tuple(_opened(a, signs) for a in node.args)
    if node in signs:
        return Node("mul", (number(signs[node]), args[0]))
    return node._replace(args=args)
