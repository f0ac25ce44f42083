"""Our nodes as sympy's expressions (worker side). No text reaches sympy's parser."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add, mul
from typing import Any

import sympy

from agentscope_tuner.verify.math.node import (
    Apply,
    Array,
    BigOperator,
    Degrees,
    Negation,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Quotient,
    Relation,
    Sum,
    Symbol,
    UndefinedCall,
)
from agentscope_tuner.verify.math.sympy_shapes import COUNTING
from agentscope_tuner.verify.math.tree import number

# sympy is untyped: an Expression is a sympy.Expr or a sympy.Matrix
Expression = Any
_MAX_EXPONENT = 1_000


class NotTranslated(Exception):
    """sympy has no expression for the node, or the expression would be too large."""


class Translator:
    """Translates nodes to sympy's expressions.

    Args:
        whole: the names of the symbols that stand for whole numbers; all other symbols are real.
    """

    def __init__(self, whole: frozenset[str] = COUNTING) -> None:
        self._whole = whole

    def symbol(self, name: str) -> Expression:
        return sympy.Symbol(name, integer=True) if name in self._whole else sympy.Symbol(name, real=True)

    def of(self, node: Node) -> Expression:
        """The node as sympy's expression.

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
    """The integrand and the variables of a node like `x\\,dx`, the innermost variable first.

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
