"""The last stage, sympy (worker side): integrals, limits, endless sums, identities over the whole numbers.

sympy is asked only about pairs that the symbolic stage leaves undecided; every pair with values at points is decided
there. The verdict is equal if sympy proves it, different if a value of the difference is far from zero. Any other pair
stays undecided.
"""

from __future__ import annotations

import sympy

from agentscope_tuner.verify.math.node import BigOperator, Node
from agentscope_tuner.verify.math.numeric import pseudo_random
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, UNKNOWN, Outcome
from agentscope_tuner.verify.math.symbolic import SymbolicComparer
from agentscope_tuner.verify.math.sympy_shapes import needs_sympy
from agentscope_tuner.verify.math.to_sympy import Expression, NotTranslated, Translator, differentials
from agentscope_tuner.verify.math.tree import walk

_DIGITS = 40
_FAR = sympy.Float(10) ** -20
_POINTS = 3


class AlgebraComparer(SymbolicComparer):
    """Compares with sympy the leaves that need it, and all others as the symbolic stage does."""

    def leaf(self, ref: Node, ans: Node) -> Outcome:
        if not needs_sympy(ref, ans):
            return super().leaf(ref, ans)
        try:
            return same(ref, ans, self.seed)
        except (NotTranslated, ArithmeticError, ValueError, TypeError, NotImplementedError, AttributeError):
            # sympy raises these where it has no answer
            return UNKNOWN


def same(ref: Node, ans: Node, seed: str) -> Outcome:
    """EQUAL if sympy proves it, DIFFERENT if many digits show it, else UNKNOWN.

    Raises:
        NotTranslated: a side has no form in sympy.
    """
    translator = Translator()
    left, right = translator.of(ref), translator.of(ans)
    if isinstance(left, sympy.MatrixBase) or isinstance(right, sympy.MatrixBase):
        return UNKNOWN
    variable = _indefinite(ref)
    if variable is None and _indefinite(ans) is not None:
        # The answer is an integral still to be computed, and it is known only up to a constant
        return UNKNOWN
    left, right = _evaluated(left), _evaluated(right)
    difference = left - right
    if variable is not None:
        # indefinite integrals are equal up to a constant
        difference = sympy.diff(difference, translator.symbol(variable))
    if _is_open(left) or _is_open(right) or difference.has(sympy.nan, sympy.zoo):
        return _infinite(left, right)
    if difference == 0 or sympy.simplify(difference) == 0:
        return EQUAL
    return DIFFERENT if _is_far(difference, seed) else UNKNOWN


def _evaluated(expression: Expression) -> Expression:
    found = expression.doit()
    if found.has(sympy.Product):
        found = found.replace(lambda e: isinstance(e, sympy.Product) and len(e.limits) == 1, _product)
    return found


def _product(product: Expression) -> Expression:
    """An endless product as the limit of its finite products: sympy evaluates those by the product's factors."""
    counter, first, last = product.limits[0]
    inside = sympy.factor(product.function)
    if last != sympy.oo:
        return sympy.Product(inside, (counter, first, last)).doit()
    end = sympy.Symbol("end", integer=True, positive=True)
    return sympy.limit(sympy.gammasimp(sympy.Product(inside, (counter, first, end)).doit()), end, sympy.oo)


def _infinite(left: Expression, right: Expression) -> Outcome:
    infinities = (sympy.oo, -sympy.oo)
    if left in infinities or right in infinities:
        return EQUAL if left == right else UNKNOWN
    return UNKNOWN


def _is_open(expression: Expression) -> bool:
    """Whether the expression holds infinity, or an integral, limit, sum or product that sympy did not evaluate."""
    return bool(expression.has(sympy.Integral, sympy.Limit, sympy.Sum, sympy.Product, sympy.oo, -sympy.oo))


def _indefinite(node: Node) -> str | None:
    """The variable of the first integral without bounds; None if there is no such integral.

    Raises:
        NotTranslated: the integral has no differential.
    """
    for n in walk(node):
        if isinstance(n, BigOperator) and n.sign == "int" and not n.bounds:
            # Only the differential names the variable: other letters in the integral may be parameters
            return differentials(n.body, 1)[1][0]
    return None


def _is_far(difference: Expression, seed: str) -> bool:
    """Whether the difference has a value too large for a rounding error at some point, whole for integer symbols."""
    names = sorted(difference.free_symbols, key=str)
    for at in range(_POINTS if names else 1):
        point = {}
        for name in names:
            value = pseudo_random(seed, str(name), str(at))
            point[name] = sympy.Integer(int(value * 7) + 1) if name.is_integer else sympy.Float(str(value), _DIGITS)
        value = sympy.N(difference.subs(point), _DIGITS)
        if value.is_number and sympy.Abs(value) > _FAR:
            return True
    return False


def warm_up() -> None:
    """Run sympy once, so that the first pair does not wait for its caches."""
    x = sympy.Symbol("x", real=True)
    sympy.simplify(sympy.Integral(x, (x, 0, 1)).doit() - sympy.Rational(1, 2))
