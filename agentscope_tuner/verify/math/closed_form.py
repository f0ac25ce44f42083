r"""Constants made of rational numbers, square roots, pi and natural logarithms, decided exactly, without a worker.

Such a constant is a sum of rational multiples of $\sqrt d\,\pi^k$ and $\sqrt d\,\ln p$ (d without square factors, p
prime). The roots are linearly independent over the rationals (Besicovitch 1940). Over the algebraic numbers, the powers
of pi are independent (Lindemann 1882), and so are 1, pi and the logarithms of primes (Baker 1966). So two sums are
equal exactly if their terms are equal. A sum of logarithms and other powers of pi is not covered, and stays undecided.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, prod
from typing import NamedTuple

from agentscope_tuner.verify.math.node import (
    Apply,
    Negation,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Quotient,
    Sum,
    Symbol,
)
from agentscope_tuner.verify.math.number import decimals, literal
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, UNKNOWN, Outcome
from agentscope_tuner.verify.math.powers import Exponents, NotFactored, primes_of

_MOST_TERMS, _MOST_BITS, _MOST_POWER, _MOST_ROOTS = 32, 400, 12, 4
# These bounds allow about a tenth of a second for one comparison
_MOST_STEPS, _MOST_FACTORING, _LARGE = 20_000, 500, 10_000
_HALF = Fraction(1, 2)


class Term(NamedTuple):
    r"""The irrational factor of one term of a sum.

    Attributes:
        root: the number under the square root; 1 for no root.
        pi: the exponent of pi.
        log: the prime inside `ln`; 0 for no logarithm.
    """

    root: int = 1
    pi: int = 0
    log: int = 0


Form = dict[Term, Fraction]
_UNIT = Term()


class _NotClosed(Exception):
    """The constant has another form, or is too large."""


class ClosedForms:
    """The closed forms of one comparison's constants. Each is computed once; a budget of steps covers all of them."""

    def __init__(self) -> None:
        self._left = _MOST_STEPS
        # Keyed by identity, because hashing a tree walks all of it. The entry keeps its node alive, so no id is reused
        self._known: dict[int, tuple[Node, Form | None]] = {}

    def same(self, ref: Node, ans: Node) -> Outcome:
        """Whether two constants are the same number; UNKNOWN if a side has no closed form or may be rounded."""
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
        """The form's reciprocal.

        Multiplying a sum of roots by its conjugate removes one prime from under the roots. Repeating this for each
        prime makes the denominator rational.
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
    found = {term: value for term, value in form.items() if value}
    if len(found) > _MOST_TERMS or any(_bits(v) > _MOST_BITS for v in found.values()):
        raise _NotClosed
    return found


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _scaled(form: Form, times: Fraction) -> Form:
    return {term: value * times for term, value in form.items()}
