r"""Exact values in the caller's process: rational arithmetic at random points, and constants in closed form.

Each free symbol, and each function of known arguments, is replaced by a large pseudo-random integer. Then the formula
is evaluated exactly. Two rational functions that agree at such a point are equal, with a probability of error below
2^-50 (Schwartz 1980, Zippel 1979). The integers depend on the two compared texts, so nobody can write an answer that
fits known points. Two formulas that disagree are different, if only symbols and pi were replaced.

The functions $x$ and $e^{ix}$ are algebraically independent. So a symbol's angle may have a value that does not depend
on the symbol's own value: a rational point of the unit circle. Two expressions that differ at these points are
different. Two that agree there are equal, apart from the small chance of error of every random point.

A constant in closed form is a sum of rational multiples of $\sqrt d\,\pi^k$ and $\sqrt d\,\ln p$ (d without square
factors, p prime). The roots are linearly independent over the rationals (Besicovitch 1940). Over the algebraic numbers,
the powers of pi are independent (Lindemann 1882), and so are 1, pi and the logarithms of primes (Baker 1966). So two
sums are equal exactly if their terms are equal. A sum of logarithms and other powers of pi is not covered, and stays
undecided.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial, gcd, isqrt, prod
from typing import NamedTuple

from agentscope_tuner.verify.math.node import (
    CONSTANTS,
    DIFFERENT,
    EQUAL,
    TRIGONOMETRIC,
    UNKNOWN,
    Apply,
    Degrees,
    Digits,
    Negation,
    Node,
    Number,
    Outcome,
    Percent,
    Power,
    Product,
    Quotient,
    Sum,
    Symbol,
    UndefinedCall,
    decimals,
    literal,
)

Angle = dict[str, int]
_PI = "\\pi"
_MOST_HALVES, _MOST_SYMBOLS = 24, 4


def angle(node: Node) -> Angle | None:
    r"""An angle in halves of its symbols and of pi: one half of x and two halves of pi for `x/2 + \pi`.

    None for a constant, and for an angle that is no sum of whole halves, such as `x^2` or `x/3`.
    """
    found: dict[str, Fraction] = {}
    if not _collect(node, Fraction(2), found):
        return None
    halves = {name: times for name, times in found.items() if times}
    if any(times.denominator != 1 or abs(times) > _MOST_HALVES for times in halves.values()):
        return None
    is_constant = not halves.keys() - {_PI}
    if is_constant or len(halves) > _MOST_SYMBOLS:
        return None
    return {name: int(times) for name, times in halves.items()}


def _collect(node: Node, times: Fraction, found: dict[str, Fraction]) -> bool:
    """Add the coefficient of each symbol in the node, multiplied by `times`, to `found`.

    Returns:
        False if the node is not a sum of multiples of symbols, such as `x^2`.
    """
    match node:
        case Symbol(name) if name == _PI or (name not in CONSTANTS and name != "\\ldots" and "\\mathbb" not in name):
            found[name] = found.get(name, Fraction(0)) + times
            return True
        case Negation(inside):
            return _collect(inside, -times, found)
        case Sum(terms):
            return all(_collect(term, times, found) for term in terms)
        case Quotient(above, below):
            divisor = literal(below)
            return divisor is not None and divisor != 0 and _collect(above, times / divisor, found)
        case Product(factors):
            known = [(factor, literal(factor)) for factor in factors]
            rest = [factor for factor, value in known if value is None]
            times *= prod(value for _, value in known if value is not None)
            return len(rest) == 1 and _collect(rest[0], times, found)
    return False


def on_circle(halves: Angle, tangent: Callable[[str], int]) -> tuple[Fraction, Fraction]:
    """The cosine and the sine of an angle, as exact fractions.

    Args:
        halves: the angle, as `angle` gives it.
        tangent: gives for a symbol's name a whole number, the tangent of a quarter of the symbol's value.
    """
    real, imaginary, size = 1, 0, 1
    for name, times in halves.items():
        if name == _PI:
            for _ in range(times % 4):
                real, imaginary = -imaginary, real
            continue
        t = tangent(name)
        # (1 + ti)^2, divided by its absolute value, is the point at half of the symbol's angle
        a, b = 1 - t * t, 2 * t if times > 0 else -2 * t
        for _ in range(abs(times)):
            real, imaginary = real * a - imaginary * b, real * b + imaginary * a
        size *= (1 + t * t) ** abs(times)
    return Fraction(real, size), Fraction(imaginary, size)


MAX_BITS = 20_000
# The budget of one comparison: about 0.1 s of arithmetic with large numbers
MAX_WORK = 400_000
_MAX_FACTORIAL = 1_000
_HALF = Fraction(1, 2)
_SMALL_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
_RATIO = {"tan": ("sin", "cos"), "cot": ("cos", "sin"), "tanh": ("sinh", "cosh"), "coth": ("cosh", "sinh")}
_RECIPROCAL = {"sec": "cos", "csc": "sin", "sech": "cosh", "csch": "sinh"}


class Unknown(Exception):
    """The formula has no exact value that this module can find."""


class Undefined(Unknown):
    """The expression is undefined, as after a division by zero."""


class ExactBudget:
    """The work with exact numbers that one comparison may still do, counted in steps, not in time.

    All formulas of the comparison share it.
    """

    def __init__(self, left: int = MAX_WORK) -> None:
        self.left = left

    def spend(self, found: Fraction) -> Fraction:
        """Count the cost of a computed number, and return it. Reducing a fraction takes time quadratic in its length.

        Raises:
            Unknown: the number is over the bound, or the budget is used up.
        """
        bits = found.numerator.bit_length() + found.denominator.bit_length()
        if bits > MAX_BITS:
            raise Unknown("a number over the bound")
        self.left -= 4 + bits * bits // 2**16
        if self.left < 0:
            raise Unknown("too much work for exact numbers")
        return found


class Exact:
    """Exact values of formulas at one point, at which each symbol has a large pseudo-random integer as its value.

    Args:
        seed: chooses the point; the same seed gives the same point in every process.
        work: the budget, shared by all evaluations of one comparison.

    Attributes:
        opaque: whether more than symbols and pi was replaced by an integer, such as a function's value or a root. Then
            unequal values do not prove that two formulas differ.
    """

    def __init__(self, seed: str, work: ExactBudget | None = None) -> None:
        self.seed = seed
        self.work = work or ExactBudget()
        self.opaque = False

    def value(self, node: Node) -> Fraction:
        """The node's exact value at this point: for `2x` twice the integer that x has here.

        Raises:
            Unknown: the node has no exact value, or a number is over the bound.
        """
        return self.work.spend(self._calculated(node))

    def _calculated(self, node: Node) -> Fraction:
        match node:
            case Number(value):
                return value
            case Symbol(name):
                return self.symbol(name)
            case Sum(terms):
                return self.sum(terms)
            case Product(factors):
                return self.product(factors)
            case Quotient(above, below):
                return self.quotient(above, below)
            case Power(base, exponent):
                return self.power(base, exponent)
            case Negation(inside):
                return -self.value(inside)
            case Apply("abs"):
                return self.absolute(node)
            case Apply(function, args):
                return self.function(function, args)
            case Percent(inside):
                return self.value(inside) / 100
            case Degrees(inside):
                return self.value(inside) * self.atom("sym \\pi") / 180
            case UndefinedCall(function, args):
                return self.apply("call " + function, *map(self.value, args))
            case Digits():
                return in_base(node)
        raise Unknown(f"a {type(node).__name__} has no exact value")

    def atom(self, name: str, *args: Fraction) -> Fraction:
        """The pseudo-random integer used as the value of a symbol, or of a function of known arguments."""
        key = f"{self.seed}|{name}|" + "|".join(f"{a.numerator:x}/{a.denominator:x}" for a in args)
        return Fraction(int.from_bytes(hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=8).digest()) | 1)

    def apply(self, name: str, *args: Fraction) -> Fraction:
        """The integer used as the value of a function that has no exact value; sets `opaque`."""
        self.opaque = True
        return self.atom(name, *args)

    def symbol(self, name: str) -> Fraction:
        if name == "\\infty" or name.startswith("\\mathbb") or name == "\\ldots":
            raise Unknown(f"{name} is no number")
        if name == "i":
            self.opaque = True
        return self.atom("sym " + name)

    def sum(self, terms: tuple[Node, ...]) -> Fraction:
        found = self.value(terms[0]) if terms else Fraction(0)
        for term in terms[1:]:
            # Count each partial sum: coprime denominators multiply, so a sum may grow quickly
            found = self.work.spend(found + self.value(term))
        return found

    def product(self, factors: tuple[Node, ...]) -> Fraction:
        found = self.value(factors[0]) if factors else Fraction(1)
        for factor in factors[1:]:
            found = self.work.spend(found * self.value(factor))
        return found

    def quotient(self, above: Node, below: Node) -> Fraction:
        divisor = self.value(below)
        if divisor == 0:
            raise Undefined("a division by zero")
        return self.value(above) / divisor

    def power(self, base_node: Node, exponent_node: Node) -> Fraction:
        base, exponent = self.value(base_node), self.value(exponent_node)
        if _has_symbol(exponent_node):
            return self.apply("pow", base, exponent)
        whole = exponent.numerator // exponent.denominator
        rest = exponent - whole
        found = self.whole_power(base, whole)
        if rest == 0:
            return found
        return found * (self.root(base_node, base, rest))

    def whole_power(self, base: Fraction, exponent: int) -> Fraction:
        size = base.numerator.bit_length() + base.denominator.bit_length()
        if exponent and abs(exponent) * size > MAX_BITS and abs(base) != 1 and base != 0:
            raise Unknown("a power over the bound")
        if base == 0 and exponent <= 0:
            raise Undefined("a power of zero")
        return base**exponent

    def root(self, node: Node, base: Fraction, exponent: Fraction) -> Fraction:
        if exponent == _HALF and not _has_symbol(node):
            return self.square_root(base)
        # A symbol may be negative, so the root of `x^2` is not x
        return self.apply("pow", base, exponent)

    def square_root(self, base: Fraction) -> Fraction:
        r"""The square root of a number: a rational times the value used for the root of the rest.

        `\sqrt{12}` is `2\sqrt{3}`, so both have the same value at every point.
        """
        if base < 0:
            self.opaque = True
            return self.atom("sym i") * self.square_root(-base)
        below = base.denominator
        inside = base.numerator * below
        outside = Fraction(1, below)
        for prime in _SMALL_PRIMES:
            while inside and inside % (prime * prime) == 0:
                inside //= prime * prime
                outside *= prime
        root = isqrt(inside)
        if root * root == inside:
            return outside * root
        return outside * self.apply("pow", Fraction(inside), _HALF)

    def absolute(self, node: Apply) -> Fraction:
        """The value of an absolute value: exact for a constant such as `|-3|`, else a pseudo-random integer."""
        before, self.opaque = self.opaque, False
        inside = self.value(node.args[0])
        constant = not self.opaque and not _has_symbol(node)
        self.opaque = before or not constant
        return abs(inside) if constant else self.apply("abs", abs(inside))

    def function(self, name: str, operands: tuple[Node, ...]) -> Fraction:
        if name in TRIGONOMETRIC and (halves := angle(operands[0])) is not None:
            return self.of_angle(name, halves)
        args = tuple(map(self.value, operands))
        if name == "factorial" and args[0].denominator == 1 and 0 <= args[0] <= _MAX_FACTORIAL:
            return Fraction(factorial(int(args[0])))
        if name in _RATIO:
            above, below = (self.apply(n, *args) for n in _RATIO[name])
            return above / below
        if name in _RECIPROCAL:
            return 1 / self.apply(_RECIPROCAL[name], *args)
        if name == "binom":
            return self.binomial(*args)
        if name == "doublefact" and args[0].denominator == 1 and 0 <= args[0] <= _MAX_FACTORIAL:
            return Fraction(prod(range(int(args[0]), 0, -2)))
        if name == "mod":
            return self.remainder(*args)
        if name in ("log", "ln") and len(args) == 1 and args[0] == 1:
            return Fraction(0)
        if name == "log" and len(args) == 2:
            return self.apply("ln", args[0]) / self.apply("ln", args[1])
        return self.apply(name, *args)

    def of_angle(self, name: str, halves: Angle) -> Fraction:
        """The value of a trigonometric function, `sin` to `csc`, of an angle with symbols."""
        cosine, sine = on_circle(halves, lambda symbol: int(self.atom("angle " + symbol)))
        self.work.spend(cosine)
        known = {"sin": sine, "cos": cosine}
        if name in known:
            return known[name]
        above, below = _RATIO[name] if name in _RATIO else ("", _RECIPROCAL[name])
        if known[below] == 0:
            raise Undefined("a division by zero")
        return known.get(above, Fraction(1)) / known[below]

    def remainder(self, left: Fraction, right: Fraction) -> Fraction:
        if left.denominator != 1 or right.denominator != 1 or right <= 0:
            raise Undefined("a remainder of no whole numbers")
        return left % right

    def binomial(self, n: Fraction, k: Fraction) -> Fraction:
        if n.denominator == k.denominator == 1 and 0 <= k <= n <= _MAX_FACTORIAL:
            return Fraction(comb(int(n), int(k)))
        return self.apply("binom", n, k)


def _has_symbol(node: Node) -> bool:
    return isinstance(node, (Symbol, UndefinedCall)) or any(map(_has_symbol, node.args))


def value_at(seed: str, node: Node) -> Fraction | None:
    """The node's exact value at the point that `seed` chooses; None if it has none there, as `1/0` has none."""
    try:
        return Exact(seed).value(node)
    except Unknown:
        return None


def exact_value(node: Node) -> Fraction | None:
    r"""The value of a rational constant: 4/3 for `1/3 + 1`, 2 for `\sqrt 4`. None for `x` or `\sqrt 2`."""
    if _has_symbol(node):
        return None
    point = Exact("constant")
    try:
        value = point.value(node)
    except Unknown:
        return None
    return None if point.opaque else value


def in_base(node: Digits) -> Fraction:
    """The value of digits written in a base: 11 for `1011_2`.

    Raises:
        Unknown: the base is not a whole number from 2 to 36, or a digit is too large for it.
    """
    if node.base.denominator != 1 or not 2 <= node.base <= 36 or any(int(d) >= node.base for d in node.text):
        raise Unknown(f"{node.text} is no number in base {node.base}")
    value, base = 0, int(node.base)
    for digit in node.text:
        value = value * base + int(digit)
    return Fraction(value)


_LARGEST_PRIME = 10_000
_MOST_PRIME_BITS = 400


Exponents = dict[int, Fraction]


class NotFactored(Exception):
    r"""The expression is not a product of powers of rational numbers (`1 + \sqrt 2`), or has too large a number."""


def primes_of(number: int) -> Exponents:
    """The primes of a positive number with their exponents: 2 twice and 3 once for 12.

    Raises:
        NotFactored: the number is too large.
    """
    if number.bit_length() > _MOST_PRIME_BITS:
        raise NotFactored
    found = Exponents()
    divisor = 2
    while divisor * divisor <= number and divisor <= _LARGEST_PRIME:
        while number % divisor == 0:
            found[divisor] = found.get(divisor, Fraction(0)) + 1
            number //= divisor
        divisor += 1 + (divisor > 2)
    if number >= _LARGEST_PRIME**2:
        # The rest may be a product of primes over the bound
        raise NotFactored
    if number > 1:
        found[number] = found.get(number, Fraction(0)) + 1
    return found


_MOST_TERMS, _MOST_BITS, _MOST_POWER, _MOST_ROOTS = 32, 400, 12, 4
# These bounds allow about a tenth of a second for one comparison
_MOST_STEPS, _MOST_FACTORING, _LARGE = 20_000, 500, 10_000


class Term(NamedTuple):
    r"""The irrational factor of one term of a sum: `\sqrt{3}\,\pi^2` in `5\sqrt{3}\,\pi^2`.

    Attributes:
        root: the number under the square root; 1 for no root.
        pi: the exponent of pi.
        log: the prime inside `ln`; 0 for no logarithm.
    """

    root: int = 1
    pi: int = 0
    log: int = 0


# A constant in closed form: for each irrational factor of its terms the rational number before it
Form = dict[Term, Fraction]
_UNIT = Term()


class _NotClosed(Exception):
    """The constant has no closed form of this kind, or too large a one."""


class ClosedForms:
    r"""Decides whether constants such as `\frac{1}{\sqrt 2}` and `\frac{\sqrt 2}{2}` are equal, by their closed forms.

    One object serves one comparison: each constant's form is computed once, and one budget of steps covers all of them.
    """

    def __init__(self) -> None:
        self._left = _MOST_STEPS
        # Keyed by identity, because hashing a tree walks all of it. The entry keeps its node alive, so no id is reused
        self._known: dict[int, tuple[Node, Form | None]] = {}

    def same(self, ref: Node, ans: Node) -> Outcome:
        """Whether two constants are the same number: EQUAL or DIFFERENT.

        UNKNOWN if a side has no closed form, if a decimal may be rounded, or if no theorem covers the terms.
        """
        mine, theirs = self._of(ref), self._of(ans)
        if mine is None or theirs is None:
            return UNKNOWN
        if mine == theirs:
            return EQUAL
        if decimals(ref) or decimals(ans):
            return UNKNOWN
        terms = mine.keys() | theirs.keys()
        if any(t.log for t in terms) and any(t.pi not in (0, 1) or (t.pi and t.log) for t in terms):
            return UNKNOWN
        return DIFFERENT

    def _of(self, node: Node) -> Form | None:
        """The closed form of a constant, from memory if it was computed before; None if it has none."""
        if id(node) not in self._known:
            try:
                found: Form | None = self._form(node)
            except (_NotClosed, NotFactored):
                found = None
            self._known[id(node)] = node, found
        return self._known[id(node)][1]

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise _NotClosed

    def _form(self, node: Node) -> Form:
        self._spend(1)
        match node:
            case Number(value):
                return _bounded({_UNIT: value})
            case Symbol("\\pi"):
                return {Term(pi=1): Fraction(1)}
            case Negation(inside):
                return _scaled(self._form(inside), Fraction(-1))
            case Percent(inside):
                return _scaled(self._form(inside), Fraction(1, 100))
            case Sum(terms):
                return self._sum(terms)
            case Product(factors):
                found = {_UNIT: Fraction(1)}
                for factor in factors:
                    found = self._product(found, self._form(factor))
                return found
            case Quotient(above, below):
                return self._product(self._form(above), self._inverse(self._form(below)))
            case Power(base, exponent):
                return self._power(self._form(base), literal(exponent))
            case Apply("ln", (inside,)):
                return self._logarithm(self._form(inside))
        raise _NotClosed

    def _sum(self, terms: tuple[Node, ...]) -> Form:
        found: Form = {}
        for node in terms:
            for term, value in self._form(node).items():
                found[term] = found.get(term, Fraction(0)) + value
            self._spend(len(found))
        return _bounded(found)

    def _product(self, left: Form, right: Form) -> Form:
        self._spend(len(left) * len(right))
        found: Form = {}
        for mine, a in left.items():
            for theirs, b in right.items():
                if mine.log and theirs.log:
                    raise _NotClosed
                common = gcd(mine.root, theirs.root)
                term = Term(mine.root * theirs.root // common**2, mine.pi + theirs.pi, mine.log or theirs.log)
                found[term] = found.get(term, Fraction(0)) + a * b * common
        return _bounded(found)

    def _inverse(self, form: Form, roots: int = 0) -> Form:
        r"""The form of the reciprocal: `-1 + \sqrt 2` for `1 + \sqrt 2`.

        Multiplying a sum of roots by its conjugate removes one prime from under the roots. Repeating this for each
        prime makes the denominator rational.

        Args:
            form: the number in the denominator.
            roots: how many primes were removed so far.
        """
        if not form or roots > _MOST_ROOTS or any(term.log for term in form):
            raise _NotClosed
        if len(form) == 1:
            ((term, value),) = form.items()
            return {Term(term.root, -term.pi): 1 / (value * term.root)}
        prime = next((p for term in form for p in self._primes(term.root)), None)
        if prime is None:
            # A sum of several powers of pi has no reciprocal of this form
            raise _NotClosed
        conjugate = {term: -value if term.root % prime == 0 else value for term, value in form.items()}
        return self._product(conjugate, self._inverse(self._product(form, conjugate), roots + 1))

    def _power(self, base: Form, exponent: Fraction | None) -> Form:
        if exponent is None or abs(exponent) > _MOST_POWER or exponent.denominator > 2:
            raise _NotClosed
        if exponent.denominator == 2:
            base, exponent = self._root(base), exponent * 2
        if exponent < 0 or not base:
            base = self._inverse(base)
        found = {_UNIT: Fraction(1)}
        for _ in range(abs(int(exponent))):
            found = self._product(found, base)
        return found

    def _root(self, form: Form) -> Form:
        value = form.get(_UNIT)
        if value is None or len(form) != 1 or value < 0:
            raise _NotClosed
        # sqrt(a/b) = sqrt(ab)/b
        primes = self._primes(value.numerator * value.denominator)
        outside = prod(prime ** int(times // 2) for prime, times in primes.items())
        inside = prod(prime for prime, times in primes.items() if times % 2)
        return {Term(inside): Fraction(outside, value.denominator)}

    def _logarithm(self, form: Form) -> Form:
        if len(form) != 1:
            raise _NotClosed
        ((term, value),) = form.items()
        if value <= 0 or term.pi or term.log:
            raise _NotClosed
        found: Form = {}
        for number, sign in ((value.numerator, Fraction(1)), (value.denominator, Fraction(-1)), (term.root, _HALF)):
            for prime, times in self._primes(number).items():
                key = Term(log=prime)
                found[key] = found.get(key, Fraction(0)) + sign * times
        return _bounded(found)

    def _primes(self, number: int) -> Exponents:
        # The cost of the trial divisions: a small number needs few, and a large one as many as the bound allows
        self._spend(_MOST_FACTORING if number > _LARGE else 1 + number.bit_length())
        return primes_of(number)


def _bounded(form: Form) -> Form:
    """The form without terms that are zero.

    Raises:
        _NotClosed: it has too many terms, or too large numbers.
    """
    found = {term: value for term, value in form.items() if value}
    if len(found) > _MOST_TERMS or any(_bits(v) > _MOST_BITS for v in found.values()):
        raise _NotClosed
    return found


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _scaled(form: Form, times: Fraction) -> Form:
    return {term: value * times for term, value in form.items()}
