"""The symbolic stage (worker side): decide formulas, equations and regions by their values to many digits.

Formulas are evaluated to 50 digits. The two texts determine the points, so nobody can write a formula that agrees only
there. Constants that agree are evaluated again to 1,000 digits. Formulas must agree at positive points, and at points
of any sign where both sides are real. A formula that cannot be evaluated never passes.

A product of powers of rational numbers has only one form as a product of powers of primes. So equal exponents prove
that two products are equal, and different exponents prove that they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

from mpmath import mp

from agentscope_tuner.verify.math.canonical import both_signs, cleared, equations_as_product, key
from agentscope_tuner.verify.math.compare import CheapComparer, log_bases, meant, near, oriented
from agentscope_tuner.verify.math.compare_at_points import (
    Domain,
    Point,
    RealLine,
    between_pieces,
    bounding,
    bounds,
    is_analytic,
    own_steps,
    plain_unknown,
    point_in,
    relations,
    same_region,
    wide,
)
from agentscope_tuner.verify.math.compare_kinds import unordered
from agentscope_tuner.verify.math.exact import Exponents, NotFactored, primes_of
from agentscope_tuner.verify.math.node import (
    COUNTING,
    DIFFERENT,
    EQUAL,
    UNKNOWN,
    Negation,
    Node,
    Number,
    Outcome,
    Power,
    Product,
    Quotient,
    Relation,
    Sum,
    Symbol,
    UndefinedCall,
    close,
    is_applied,
    is_decimal,
    is_over_integers,
    literal,
    mapped,
    number,
    symbols,
    walk,
    with_args,
)
from agentscope_tuner.verify.math.numeric import Budget, NotANumber, Numeric, NumericPair, OutOfRange, Value
from agentscope_tuner.verify.math.parameters import same_at_whole_numbers
from agentscope_tuner.verify.math.quantities import never_negative
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.sets import NotSolved
from agentscope_tuner.verify.math.tokens import TooComplex
from agentscope_tuner.verify.math.unwrap import Pair
from agentscope_tuner.verify.math.verdict import Verdict

DIGITS, MANY_DIGITS = 50, 1_000
_POINTS, _FEWEST_POINTS = 4, 3
# The nodes of a pair, and the bits of an exponent, up to which products are compared by their primes
_MOST_NODES, _MOST_BITS = 60, 400
_COMPLEX_PARTS = frozenset({"Re", "Im", "conj", "arg"})


class SymbolicComparer(CheapComparer):
    """Compares two readings part by part as the cheap stages do, but formulas, statements and sets by their values.

    Args:
        seed: chooses the points at which formulas are evaluated.
        question: the question of the pair, if there is one.
        log_base: the base of a `log` that is written without a base, if it is known.
    """

    def __init__(self, seed: str, question: Question | None = None, log_base: int | None = None) -> None:
        super().__init__(seed, question)
        self.budget = Budget()
        self._log_base = log_base
        # a second possible base of `log`, in which the whole answer may be compared again
        self.other_log_base: int | None = None
        # the symbols in the bounds of a sum or a product, which have whole values
        self._whole: frozenset[str] = frozenset()
        self._bounds = (0, 0)
        # whether exactly one side was real at some real point
        self._one_real = False
        self._positive = never_negative(question.text) if question is not None else frozenset[str]()

    def leaf(self, ref: Node, ans: Node) -> Outcome:
        """Whether two formulas are equal; UNKNOWN if their values do not decide it."""
        self._whole = bounding(ref) | bounding(ans)
        self._bounds = bounds(ref, ans)
        pair = meant(ref, ans, self.question)
        if pair is None:
            return DIFFERENT
        ref, ans = pair
        if self._numbers(ref, ans) is EQUAL:
            return EQUAL
        if (powers := same_powers(ref, ans)) is not UNKNOWN:
            return powers
        if (steps := same_at_whole_numbers(ref, ans)) is not UNKNOWN:
            return steps
        bases = log_bases(ref, ans, self.question)
        if not bases:
            return DIFFERENT
        base = self._log_base if self._log_base in bases else bases[0]
        if len(bases) > 1 and self._log_base is None:
            self.other_log_base = bases[1]
        if not self._formulas(ref, ans, base):
            return UNKNOWN if is_over_integers(ref, ans) else DIFFERENT
        # The values agree at every tried point, but a jump that only the answer has may be at another point
        return UNKNOWN if own_steps(ref, ans) else EQUAL

    def order(self, left: Node, right: Node) -> int:
        r"""-1, 0 or 1 if the first constant is below, equal to or above the second: -1 for `\sqrt 2` and 3/2.

        Raises:
            NotSolved: a side has no real value, or the values are too near to each other.
        """
        if self.leaf(left, right) is EQUAL:
            return 0
        try:
            found = self._evaluate(left, right, self._log_base, dict, DIGITS)
        except NotANumber as exc:
            raise NotSolved from exc
        if found.fractions is None or found.fractions[0] == found.fractions[1]:
            raise NotSolved
        return 1 if found.fractions[0] > found.fractions[1] else -1

    def _formulas(self, ref: Node, ans: Node, log_base: int | None) -> bool:
        """Whether two formulas agree at all tried points, in each domain in which they must agree."""
        if not (symbols(ref) or symbols(ans) or any(isinstance(n, UndefinedCall) for n in walk(ref))):
            return self._constants(ref, ans, log_base)
        agreed = 0
        for at in range(_POINTS):
            same = self._at_point(ref, ans, log_base, "positive", at)
            if same is False:
                return False
            agreed += same is True
        if agreed < 2:
            return False
        complex_parts = is_complex(ref, ans)
        self._one_real = False
        if any(self._at_point(ref, ans, log_base, "real", at) is False for at in range(_POINTS)):
            return False
        if any(self._at(ref, ans, log_base, "real", p) is False for p in self._far_points(ref, ans)):
            return False
        # `ln x` and `ln |x|` are real at different points. They agree at positive points, not off the real axis
        domains: list[Domain] = ["complex"] if complex_parts else []
        domains += ["beside"] if self._one_real else []
        return all(self._at_point(ref, ans, log_base, d, at) is not False for d in domains for at in range(_POINTS))

    def _at_point(self, ref: Node, ans: Node, log_base: int | None, domain: Domain, at: int) -> bool | None:
        """Whether both sides agree at the point number `at` of a domain.

        None if nothing follows from this point: a side has no value there, or a value that is not real in the domain of
        real points.
        """
        names = symbols(ref) | symbols(ans)
        try:
            return self._agree(ref, ans, log_base, domain, lambda: self._point(names, domain, at))
        except OutOfRange:
            if at and names & self._whole:
                # A sum may become too large for the larger bounds: skip this point
                return None
            raise

    def _at(self, ref: Node, ans: Node, log_base: int | None, domain: Domain, point: Point) -> bool | None:
        """Whether both sides agree at `point`; None as for `_at_point`, and if a value is too large or too small."""
        try:
            return self._agree(ref, ans, log_base, domain, lambda: point, far=True)
        except OutOfRange:
            return None

    def _agree(
        self, ref: Node, ans: Node, log_base: int | None, domain: Domain, place: Callable[[], Point], far: bool = False
    ) -> bool | None:
        for digits in (DIGITS, MANY_DIGITS):
            try:
                found = self._evaluate(ref, ans, log_base, place, digits)
            except NotANumber:
                return None
            if found.refuted and domain == "real" and not found.real:
                self._one_real |= found.one_real
                return None
            if found.refuted:
                return False
            if (found.sure and not found.hidden) or far:
                return True
        return found.agrees() and self._visible(ref, ans, log_base, place, found)

    def _visible(
        self, ref: Node, ans: Node, log_base: int | None, place: Callable[[], Point], found: NumericPair
    ) -> bool:
        """Whether both sides still agree with more digits, which show terms that were too small before.

        Rounding errors become smaller with more digits, but the terms of a formula do not.

        Raises:
            OutOfRange: a term does not become smaller, and is too small to be compared.
        """
        if not found.hidden:
            return True
        again = self._evaluate(ref, ans, log_base, place, MANY_DIGITS + 300)
        if not again.refuted and any(size >= min(found.hidden) for size in again.hidden):
            raise OutOfRange("a term too small to be seen with 1,000 digits")
        return not again.refuted

    def _far_points(self, ref: Node, ans: Node) -> Iterator[Point]:
        """Further points: far from zero, and on both sides of the bends of formulas such as `|x - 1|`.

        There are none if both formulas are analytic: the usual points decide about those.
        """
        names = symbols(ref) | symbols(ans)
        free = sorted(names - self._whole)
        if not free or (is_analytic(ref) and is_analytic(ans)):
            return
        with mp.workdps(DIGITS):
            beside = self._point(names, "real", 0)
            far = [{**beside, **point} for point in wide(free, self.seed, (ref, ans))]
            starts = [self._point(names, "real", at) for at in ((0,) if len(free) == 1 else (0, 1))]
            near = [point for start in starts for point in between_pieces((ref, ans), start, self.budget)]
        for point in (*near, *far):
            yield {name: abs(value) if name in self._positive else value for name, value in point.items()}

    def _constants(self, ref: Node, ans: Node, log_base: int | None) -> bool:
        """Whether two constants agree to 1,000 digits, or one is the other, rounded as the conventions allow."""
        try:
            found = self._evaluate(ref, ans, log_base, dict, DIGITS)
            if not found.refuted:
                found = self._evaluate(ref, ans, log_base, dict, MANY_DIGITS)
                return not found.refuted and found.agrees() and self._visible(ref, ans, log_base, dict, found)
        except NotANumber:
            return False
        if found.fractions is None:
            return False
        values = [literal(n) or f for n, f in zip((ref, ans), found.fractions, strict=True)]
        return close(ref, values[0], ans, values[1])

    def _evaluate(
        self, ref: Node, ans: Node, log_base: int | None, place: Callable[[], Point], digits: int
    ) -> NumericPair:
        with mp.workdps(digits):
            point = place()
            sides = [Numeric(point, self.budget, log_base) for _ in range(2)]
            values = [side.value(node) for side, node in zip(sides, (ref, ans), strict=True)]
            return NumericPair(values, sides)

    def _point(self, names: frozenset[str], domain: Domain, at: int) -> Point:
        point = point_in(domain, names, self._whole, self._bounds, self.seed, at)
        if domain == "real":
            return {name: abs(value) if name in self._positive else value for name, value in point.items()}
        return point

    def roughly(self, exact: Node, rough: Node) -> Outcome:
        r"""EQUAL if two constants are near enough for an approximation sign: `\sqrt 2 \approx 1.41`; else DIFFERENT."""
        try:
            pair = self._evaluate(exact, rough, None, dict, DIGITS)
        except NotANumber:
            return DIFFERENT
        if pair.fractions is None:
            return DIFFERENT
        left, right = pair.fractions
        return EQUAL if near(left, right) else DIFFERENT

    def _in_plane(self, ref: Node, ans: Node) -> Outcome:
        """Whether two statements on a complex unknown have the same relations, such as `|z| = 2` and `|z|^2 = 4`.

        If no side of a relation is negative, the squares of its sides are compared, too.
        """
        mine, theirs = relations(ref), relations(ans)
        if not mine or len(mine) != len(theirs):
            return DIFFERENT

        def same(one: Relation, other: Relation) -> Outcome:
            pairs = product((one, _squared(one)), (other, _squared(other)))
            return EQUAL if any(self._relations(*pair) is EQUAL for pair in pairs) else DIFFERENT

        return unordered(same, mine, theirs)

    def statement(self, ref: Node, ans: Node) -> Outcome:
        """Whether two unsolved statements say the same, as `2x + 2y = 4` and `x + y = 2` do."""
        if is_complex(ref, ans):
            return self._in_plane(ref, ans)
        ref, ans = equations_as_product(both_signs(ref)), equations_as_product(both_signs(ans))
        if super().statement(ref, ans) is EQUAL:
            return EQUAL
        ref_parts, ans_parts = relations(ref), relations(ans)
        if ref_parts and len(ref_parts) == len(ans_parts) and unordered(self._relations, ref_parts, ans_parts) is EQUAL:
            return UNKNOWN if own_steps(ref, ans) else EQUAL
        names = symbols(ref)
        if len(names) != 1 or names != symbols(ans):
            return DIFFERENT
        line = RealLine(next(iter(names)), {}, self.budget)
        if not line.is_rational(ans):
            # A search may miss roots that only the answer has, so agreement proves nothing
            return DIFFERENT if self._line_agrees(ref, ans, line, line) is False else UNKNOWN
        return EQUAL if self._line_agrees(ref, ans, line, line) else DIFFERENT

    def _relations(self, ref: Relation, ans: Relation) -> Outcome:
        """EQUAL if one relation is a constant multiple of the other: `2x + 2y = 4` and `x + y = 2`. Else DIFFERENT.

        The constant must be positive for an inequality.
        """
        ref_side, ans_side = oriented(ref), oriented(ans)
        if ref_side is None or ans_side is None or ref_side[0] != ans_side[0]:
            return DIFFERENT
        if ref_side[0] in ("=", "!="):
            ref_side, ans_side = (("=", cleared(side[1])) for side in (ref_side, ans_side))
        first = self._constant_ratio(ref_side[1], ans_side[1])
        if first is None:
            return DIFFERENT
        positive = abs(mp.im(first)) < abs(first) * mp.mpf(10) ** -20 and mp.re(first) > 0
        return EQUAL if positive or ref_side[0] in ("=", "!=") else DIFFERENT

    def multiple(self, ref: Node, ans: Node) -> Outcome:
        """EQUAL if one formula is a constant multiple of the other, as `2x` of `x`; else DIFFERENT."""
        return EQUAL if self._constant_ratio(ref, ans) is not None else DIFFERENT

    def _constant_ratio(self, ref: Node, ans: Node) -> Value:
        """The constant by which `ref` is multiplied to give `ans`: 2 for `x` and `2x`. None if there is none."""
        first: Value = None
        found = 0
        for at in range(_POINTS + 2):
            try:
                ratio = self._ratio(ref, ans, at)
            except NotANumber:
                continue
            if ratio == 0 or (first is not None and abs(ratio - first) > abs(first) * mp.mpf(10) ** -20):
                return None
            first, found = ratio, found + 1
        return first if found >= _FEWEST_POINTS else None

    def _ratio(self, ref: Node, ans: Node, at: int) -> Value:
        """The value of `ans` divided by that of `ref`, at the point number `at`; raises `NotANumber` if one is zero."""
        with mp.workdps(DIGITS):
            names = symbols(ref) | symbols(ans)
            on_line: Domain = "positive" if at % 2 else "real"
            point = self._point(names, "complex" if is_complex(ref, ans) else on_line, at)
            sides = [Numeric(point, self.budget) for _ in range(2)]
            below, above = (side.value(node) for side, node in zip(sides, (ref, ans), strict=True))
            if isinstance(below, mp.matrix) or isinstance(above, mp.matrix):
                raise NotANumber("matrices have no ratio")
            if abs(below) <= sides[0].scale * mp.mpf(10) ** -30 or abs(above) <= sides[1].scale * mp.mpf(10) ** -30:
                raise NotANumber("zero here")
            return above / below

    def solution(self, ref: Node, ans: Node) -> Outcome:
        return self.region(both_signs(ref), ans)

    def region(self, ref: Node, ans: Node) -> Outcome:
        """EQUAL if two sets of real numbers are the same, as `x > 2` and `(2, \\infty)` are; else DIFFERENT."""
        ref, ans = plain_unknown(ref), plain_unknown(ans)
        lines = []
        for side in (ref, ans):
            names = symbols(side)
            if len(names) > 1:
                return DIFFERENT
            lines.append(RealLine(next(iter(names), "x"), {}, self.budget))
        return EQUAL if self._line_agrees(ref, ans, *lines) else DIFFERENT

    def _line_agrees(self, ref: Node, ans: Node, ref_line: RealLine, ans_line: RealLine) -> bool | None:
        with mp.workdps(DIGITS):
            return same_region(ref, ans, ref_line, ans_line)


# Letters that mean real numbers, even in a formula with i
_REAL = frozenset({*"xytabr", "\\theta", "\\phi", "\\varphi", "\\alpha"}) | COUNTING


def is_complex(ref: Node, ans: Node) -> bool:
    r"""Whether an unknown of the two texts is a complex number.

    It is if a text has a conjugate or a real part of it, if it is called z or w and a text has i, or if i is added to
    it, as in `|u - 2i|`, and its letter does not usually mean a real number.
    """
    parts = [n for side in (ref, ans) for n in walk(side)]
    if any(is_applied(n, *_COMPLEX_PARTS) for n in parts):
        return True
    if Symbol("i") not in parts:
        return False
    names = symbols(ref) | symbols(ans)
    return any(name[0] in "zw" for name in names) or (
        len(names) == 1 and not names <= _REAL and any(map(_adds_imaginary, parts))
    )


def _adds_imaginary(node: Node) -> bool:
    """Whether the node adds an imaginary constant to an unknown: `u - 2i`."""
    return (
        isinstance(node, Sum)
        and any(map(symbols, node.args))
        and any(Symbol("i") in walk(a) and not symbols(a) for a in node.args)
    )


def _squared(node: Relation) -> Relation:
    """`|z|^2 = 2^2` for `|z| = 2`; a relation unchanged if a side is no absolute value and no positive number."""
    sizes = [is_applied(a, "abs") or (literal(a) or -1) > 0 for a in node.args]
    return with_args(node, tuple(Power(a, number(2)) for a in node.args)) if all(sizes) else node  # type: ignore[return-value]


def same_powers(ref: Node, ans: Node) -> Outcome:
    r"""Compare constants such as `\sqrt{12}` and `2\sqrt{3}` by the exponents of their primes, however large they are.

    In two formulas with symbols the constants are compared so, and the rest must have the same key. UNKNOWN if that
    decides nothing.
    """
    if sum(1 for side in (ref, ans) for _ in walk(side)) > _MOST_NODES:
        return UNKNOWN
    mine, theirs = _powers(ref), _powers(ans)
    if mine is not None and theirs is not None:
        if mine == theirs:
            return EQUAL
        # A decimal may be the rounded value of the other side
        return UNKNOWN if any(is_decimal(n) for side in (ref, ans) for n in walk(side)) else DIFFERENT
    return EQUAL if key(_with_primes_as_symbols(ref)) == key(_with_primes_as_symbols(ans)) else UNKNOWN


def _with_primes_as_symbols(node: Node) -> Node:
    """The tree with each constant power, product or quotient replaced by a symbol that is named after its primes."""
    found = _powers(node) if isinstance(node, (Power, Product, Quotient)) else None
    return mapped(node, _with_primes_as_symbols) if found is None else Symbol(repr(found))


def _powers(node: Node) -> tuple[int, tuple[tuple[int, Fraction], ...]] | None:
    r"""The sign of a constant and its primes with their exponents: 1, and 2 to the 1 and 3 to the 1/2 for `\sqrt{12}`.

    None for any other node, such as a sum.
    """
    try:
        sign, primes = _factored(node)
    except NotFactored:
        return None
    return sign, tuple(sorted((p, e) for p, e in primes.items() if e))


def _factored(node: Node) -> tuple[int, Exponents]:
    """The sign of a constant and the exponents of its primes, not sorted; raises `NotFactored` if it has none."""
    match node:
        case Number(value):
            return _rational(value)
        case Negation(inside):
            sign, primes = _factored(inside)
            return -sign, primes
        case Product(args) | Quotient(args=args):
            sign, found = 1, Exponents()
            for at, arg in enumerate(args):
                one, primes = _factored(arg)
                sign *= one
                divides = at > 0 and isinstance(node, Quotient)
                for prime, times in primes.items():
                    found[prime] = found.get(prime, Fraction(0)) + (-times if divides else times)
            return sign, found
        case Power(base, exponent):
            sign, primes = _factored(base)
            times = _exponent(exponent)
            if sign < 0 and times.denominator != 1:
                raise NotFactored
            return (-1 if sign < 0 and times.numerator % 2 else 1), {p: e * times for p, e in primes.items()}
    raise NotFactored


def _exponent(node: Node) -> Fraction:
    """The value of an exponent, which may itself be a power or a product; raises `NotFactored` if it is unknown."""
    found = literal(node)
    if isinstance(node, Power):
        base, times = literal(node.base), literal(node.exponent)
        if base is not None and times is not None and times.denominator == 1 and 0 <= times <= _MOST_BITS:
            found = base ** int(times)
    if isinstance(node, Product):
        found = Fraction(1)
        for arg in node.args:
            found *= _exponent(arg)
    if found is None or found.numerator.bit_length() > 10 * _MOST_BITS:
        raise NotFactored
    return found


def _rational(value: Fraction) -> tuple[int, Exponents]:
    if value == 0:
        raise NotFactored
    found = primes_of(abs(value.numerator))
    for prime, times in primes_of(value.denominator).items():
        found[prime] = found.get(prime, Fraction(0)) - times
    return (1 if value > 0 else -1), found


_VERDICTS: dict[Outcome, Verdict] = {EQUAL: "equal", DIFFERENT: "different", UNKNOWN: "undecided"}


def decide(pair: Pair, comparing: type[SymbolicComparer] | None = None) -> tuple[Verdict, str]:
    """The final verdict on a pair that the cheap stages left undecided, and a reason if the verdict is "undecided".

    Args:
        pair: the answer and the reference with their question.
        comparing: the class that compares two readings; a subclass adds a later stage.

    Raises:
        JudgeError: the reference cannot be read.
    """
    ref = pair.ref
    try:
        ans = pair.ans
        if ref.reading is None or ans.reading is None:
            return "different", ""
        kind = comparing or SymbolicComparer
        comparer = kind(pair.seed, pair.question)
        outcome = comparer.compare(ref.reading, ans.reading)
        if outcome is not EQUAL and comparer.other_log_base is not None:
            # The two answers may mean another base of `log`: compare all of it again in that base
            again = kind(pair.seed, pair.question, comparer.other_log_base)
            outcome = EQUAL if again.compare(ref.reading, ans.reading) is EQUAL else outcome
    except TooComplex as exc:
        return "undecided", f"undecided: {exc}"
    return _VERDICTS[outcome], ""


def warm_up() -> None:
    """Compare one pair, to fill the caches and import all modules, so that the first real pair is not slow."""
    decide(Pair.of("2\\sqrt{3}", "\\sqrt{12}", None))
