"""Pairs for sympy (worker side): integrals, limits, endless sums, identities over the whole numbers.

sympy is asked only about pairs that the symbolic stage leaves undecided; every pair with values at points is decided
there. The verdict is equal if sympy proves it, different if a value of the difference is far from zero. Any other pair
stays undecided.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add, mul
from typing import Any

import sympy

from agentscope_tuner.verify.math.node import (
    COUNTING,
    DIFFERENT,
    EQUAL,
    UNKNOWN,
    Apply,
    Array,
    BigOperator,
    Degrees,
    Negation,
    Node,
    Number,
    Outcome,
    Percent,
    Power,
    Product,
    Quotient,
    Relation,
    Sum,
    Symbol,
    UndefinedCall,
    needs_sympy,
    number,
    walk,
)
from agentscope_tuner.verify.math.numeric import pseudo_random
from agentscope_tuner.verify.math.symbolic import SymbolicComparer

# sympy is untyped: an Expression is a sympy.Expr or a sympy.Matrix
Expression = Any
_MAX_EXPONENT = 1_000


class NotTranslated(Exception):
    """sympy has no expression for the node, or the expression would be too large."""


class Translator:
    r"""Translates nodes to sympy's expressions: `\int_0^1 x\,dx` to `Integral(x, (x, 0, 1))`.

    Args:
        whole: the names of the symbols for whole numbers; all other symbols are real.
    """

    def __init__(self, whole: frozenset[str] = COUNTING) -> None:
        self._whole = whole

    def symbol(self, name: str) -> Expression:
        return sympy.Symbol(name, integer=True) if name in self._whole else sympy.Symbol(name, real=True)

    def of(self, node: Node) -> Expression:
        """The node as an expression of sympy, not evaluated.

        Raises:
            NotTranslated: sympy has no expression for it, or only one that is too large.
        """
        match node:
            case Number(value):
                return sympy.Rational(value.numerator, value.denominator)
            case Symbol(name):
                return self.named(name)
            case Sum(terms):
                return reduce(add, map(self.of, terms))
            case Product(factors):
                return reduce(mul, map(self.of, factors))
            case Quotient(above, below):
                return self.of(above) / self.of(below)
            case Negation(inside):
                return -self.of(inside)
            case Power(base, exponent):
                return self.power(self.of(base), self.of(exponent))
            case Percent(inside):
                return self.of(inside) / 100
            case Degrees(inside):
                return self.of(inside) * sympy.pi / 180
            case Apply(function, args) if function in _FUNCTIONS:
                return _FUNCTIONS[function](*map(self.of, args))
            case UndefinedCall(function, args):
                return sympy.Function(function)(*map(self.of, args))
            case BigOperator():
                return self.repeated(node)
            case Array("matrix", rows):
                return sympy.Matrix([[self.of(cell) for cell in row] for row in rows])
        raise NotTranslated(f"a {type(node).__name__} in sympy")

    def named(self, name: str) -> Expression:
        if name.startswith("\\mathbb") or name == "\\ldots":
            raise NotTranslated(name)
        # Look up the index of a sum first: an index named i is not the imaginary unit
        return self.symbol(name) if name in self._whole else _CONSTANTS.get(name) or self.symbol(name)

    def power(self, base: Expression, exponent: Expression) -> Expression:
        if base.is_number and exponent.is_number and abs(exponent) > _MAX_EXPONENT:
            raise NotTranslated("a large power")
        return base**exponent

    def repeated(self, node: BigOperator) -> Expression:
        if node.sign == "int":
            return self.integral(node)
        if node.sign == "lim":
            return self.limit(node)
        match node.bounds:
            case (Relation((Symbol(name), first), ("=",)), last):
                counter = sympy.Symbol(name, integer=True)
                inside = Translator(self._whole | {name})
                bounds = (counter, self.of(first), self.of(last))
                return (sympy.Sum if node.sign == "sum" else sympy.Product)(inside.of(node.body), bounds)
        raise NotTranslated(f"a {node.sign} without bounds, or whose index is no symbol")

    def limit(self, node: BigOperator) -> Expression:
        match node.bounds:
            case (Relation((Symbol(name), target), ("->",)),):
                inside = Translator(self._whole - {name})
                return sympy.Limit(inside.of(node.body), inside.symbol(name), self.of(target), "+-")
        raise NotTranslated("a limit without its arrow, or of no symbol")

    def integral(self, node: BigOperator) -> Expression:
        signs = [node]
        while isinstance(within := signs[-1].body, BigOperator) and within.sign == "int":
            signs.append(within)
        body, names = differentials(signs[-1].body, len(signs))
        inside = Translator(self._whole - frozenset(names))
        found = inside.of(body)
        for sign, name in zip(reversed(signs), names, strict=True):
            variable = inside.symbol(name)
            bounds = [self.of(b) for b in sign.bounds]
            if len(bounds) not in (0, 2):
                raise NotTranslated("an integral with one bound")
            found = sympy.Integral(found, (variable, *bounds) if bounds else variable)
        return found


def differentials(node: Node, count: int) -> tuple[Node, list[str]]:
    r"""The integrand and the variables of what follows integral signs: `x y` with x and y for `x y\,dx\,dy`.

    Args:
        node: the formula after the integral signs.
        count: the number of integral signs. So many variables are returned, the innermost first.

    Raises:
        NotTranslated: a differential is missing.
    """
    match node:
        case Sum((*terms, last)):
            inside, names = differentials(last, count)
            return Sum((*terms, inside)), names
        case Negation(inside):
            inside, names = differentials(inside, count)
            return Negation(inside), names
        case Quotient(above, below):
            inside, names = differentials(above, count)
            return Quotient(inside, below), names
    factors = node.args if isinstance(node, Product) else (node,)
    names = []
    for _ in range(count):
        match factors:
            case (*before, Symbol("d"), Symbol(name)):
                names.append(name)
                factors = tuple(before)
            case _:
                raise NotTranslated("an integral without its differential")
    return Product((number(1), *factors)), names[::-1]


_CONSTANTS = {"\\pi": sympy.pi, "e": sympy.E, "i": sympy.I, "\\infty": sympy.oo}
_FUNCTIONS: dict[str, Callable[..., Expression]] = {
    **{
        name: getattr(sympy, name)
        for name in (
            "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech", "csch",
            "floor", "gcd", "lcm", "erf", "re", "im", "arg",
        )
    },
    **{"arc" + name: getattr(sympy, "a" + name) for name in ("sin", "cos", "tan", "cot", "sec", "csc")},
    **{"arc" + name: getattr(sympy, "a" + name) for name in ("sinh", "cosh", "tanh")},
    "ln": sympy.log, "ceil": sympy.ceiling, "sgn": sympy.sign, "conj": sympy.conjugate, "binom": sympy.binomial,
    "max": sympy.Max, "min": sympy.Min, "det": lambda m: m.det(), "transpose": lambda m: m.T, "Re": sympy.re,
    "Im": sympy.im,
    "doublefact": sympy.factorial2, "factorial": sympy.factorial, "abs": sympy.Abs, "log": sympy.log,
}  # fmt: skip


_DIGITS = 40
_FAR = sympy.Float(10) ** -20
_POINTS = 3


class AlgebraComparer(SymbolicComparer):
    """Compares two formulas with sympy if they need it, such as integrals, and others as the symbolic stage does."""

    def leaf(self, ref: Node, ans: Node) -> Outcome:
        if not needs_sympy(ref, ans):
            return super().leaf(ref, ans)
        try:
            return same(ref, ans, self.seed)
        except (NotTranslated, ArithmeticError, ValueError, TypeError, NotImplementedError, AttributeError):
            # sympy raises these if it has no answer
            return UNKNOWN


def same(ref: Node, ans: Node, seed: str) -> Outcome:
    r"""EQUAL if sympy proves that two formulas are equal, as `\int_0^1 x\,dx` and `1/2`.

    DIFFERENT if their values at some point are far apart, else UNKNOWN.

    Args:
        ref: the reference.
        ans: the answer.
        seed: chooses the points.

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
    """The expression after sympy evaluated its integrals, limits, sums and products as far as it can."""
    found = expression.doit()
    if found.has(sympy.Product):
        found = found.replace(lambda e: isinstance(e, sympy.Product) and len(e.limits) == 1, _product)
    return found


def _product(product: Expression) -> Expression:
    """An endless product evaluated as the limit of finite products, whose factors sympy can multiply in general.

    A product with a last factor is evaluated as it is.
    """
    counter, first, last = product.limits[0]
    inside = sympy.factor(product.function)
    if last != sympy.oo:
        return sympy.Product(inside, (counter, first, last)).doit()
    end = sympy.Symbol("end", integer=True, positive=True)
    return sympy.limit(sympy.gammasimp(sympy.Product(inside, (counter, first, end)).doit()), end, sympy.oo)


def _infinite(left: Expression, right: Expression) -> Outcome:
    """EQUAL if both expressions are the same infinity, else UNKNOWN."""
    infinities = (sympy.oo, -sympy.oo)
    if left in infinities or right in infinities:
        return EQUAL if left == right else UNKNOWN
    return UNKNOWN


def _is_open(expression: Expression) -> bool:
    """Whether the expression has infinity in it, or an integral, limit, sum or product that sympy did not evaluate."""
    return bool(expression.has(sympy.Integral, sympy.Limit, sympy.Sum, sympy.Product, sympy.oo, -sympy.oo))


def _indefinite(node: Node) -> str | None:
    r"""The variable of the first integral without bounds: x for `\int x^2\,dx`. None if there is no such integral.

    Raises:
        NotTranslated: the integral has no differential.
    """
    for n in walk(node):
        if isinstance(n, BigOperator) and n.sign == "int" and not n.bounds:
            # Only the differential names the variable: other letters in the integral may be parameters
            return differentials(n.body, 1)[1][0]
    return None


def _is_far(difference: Expression, seed: str) -> bool:
    """Whether a difference is clearly not zero: at some point its value is too large for a rounding error.

    Symbols for whole numbers have whole values at the points, which `seed` chooses.
    """
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
    """Run sympy once, to fill its caches, so that the first pair is not slow."""
    x = sympy.Symbol("x", real=True)
    sympy.simplify(sympy.Integral(x, (x, 0, 1)).doit() - sympy.Rational(1, 2))
