"""Our nodes as sympy's expressions (worker side). No text reaches sympy's parser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from agentscope_tuner.verify.math.node import Node, number
from agentscope_tuner.verify.math.sympy_shapes import COUNTING

# sympy is untyped: an Expression is a sympy.Expr or a sympy.Matrix
Expression = Any
_MAX_EXPONENT = 1_000


class NotTranslated(Exception):
    """The node means nothing to sympy, or something too large."""


class Translator:
    """Nodes to expressions; a symbol that counts is an integer, any other is real.

    Args:
        whole: the symbols that stand for whole numbers.
    """

    def __init__(self, whole: frozenset[str] = COUNTING) -> None:
        self._whole = whole

    def symbol(self, name: str) -> Expression:
        return sympy.Symbol(name, integer=True) if name in self._whole else sympy.Symbol(name, real=True)

    def of(self, node: Node) -> Expression:
        """The expression.

        Raises:
            NotTranslated: sympy has none.
        """
        handler = _HANDLERS.get(node.head)
        if handler is None:
            raise NotTranslated(f"{node.head} in sympy")
        return handler(self, node)

    def all(self, node: Node) -> list[Expression]:
        return [self.of(a) for a in node.args]

    def named(self, node: Node) -> Expression:
        if node.name.startswith("\\mathbb") or node.name == "\\ldots":
            raise NotTranslated(node.name)
        return _CONSTANTS.get(node.name) or self.symbol(node.name)

    def power(self, node: Node) -> Expression:
        base, exponent = self.all(node)
        if base.is_number and exponent.is_number and abs(exponent) > _MAX_EXPONENT:
            raise NotTranslated("a large power")
        return base**exponent

    def function(self, node: Node) -> Expression:
        args = self.all(node)
        if node.name == "log":
            return sympy.log(*args)
        if node.name not in _FUNCTIONS:
            raise NotTranslated(f"the function {node.name}")
        return _FUNCTIONS[node.name](*args)

    def call(self, node: Node) -> Expression:
        return sympy.Function(node.name)(*self.all(node))

    def matrix(self, node: Node) -> Expression:
        return sympy.Matrix([[self.of(cell) for cell in row.args] for row in node.args])

    def repeated(self, node: Node) -> Expression:
        if node.name == "int":
            return self.integral(node)
        if node.name == "lim":
            return self.limit(node)
        if len(node.args) != 3 or node.args[1].head != "rel" or node.args[1].name != "=":
            raise NotTranslated(f"a {node.name} without bounds")
        index, first = node.args[1].args
        if index.head != "sym":
            raise NotTranslated("an index that is no symbol")
        counter = sympy.Symbol(index.name, integer=True)
        inside = Translator(self._whole | {index.name})
        bounds = (counter, self.of(first), self.of(node.args[2]))
        return (sympy.Sum if node.name == "sum" else sympy.Product)(inside.of(node.args[0]), bounds)

    def limit(self, node: Node) -> Expression:
        if len(node.args) != 2 or node.args[1].head != "rel" or node.args[1].name != "->":
            raise NotTranslated("a limit without its arrow")
        name, target = node.args[1].args
        side = "+-"
        if target.head == "pow" and target.args[1].head == "sign":
            target, side = target.args[0], target.args[1].name
        if name.head != "sym":
            raise NotTranslated("a limit of no symbol")
        inside = Translator(self._whole - {name.name})
        return sympy.Limit(inside.of(node.args[0]), inside.symbol(name.name), self.of(target), side)

    def integral(self, node: Node) -> Expression:
        signs = [node]
        while signs[-1].args[0].head == "index" and signs[-1].args[0].name == "int":
            signs.append(signs[-1].args[0])
        body, names = differentials(signs[-1].args[0], len(signs))
        inside = Translator(self._whole - frozenset(names))
        found = inside.of(body)
        for sign, name in zip(reversed(signs), names, strict=True):
            variable = inside.symbol(name)
            bounds = [self.of(b) for b in sign.args[1:]]
            if len(bounds) not in (0, 2):
                raise NotTranslated("an integral with one bound")
            found = sympy.Integral(found, (variable, *bounds) if bounds else variable)
        return found


def differentials(node: Node, count: int) -> tuple[Node, list[str]]:
    """The integrand and the variables of `x\\,dx`, the innermost first.

    Raises:
        NotTranslated: a differential is missing.
    """
    if node.head == "add":
        last, names = differentials(node.args[-1], count)
        return node._replace(args=(*node.args[:-1], last)), names
    if node.head == "neg":
        inside, names = differentials(node.args[0], count)
        return Node("neg", (inside,)), names
    if node.head == "div":
        above, names = differentials(node.args[0], count)
        return Node("div", (above, node.args[1])), names
    factors = list(node.args) if node.head == "mul" else [node]
    names = []
    for _ in range(count):
        if len(factors) < 2 or factors[-2] != Node("sym", (), "d") or factors[-1].head != "sym":
            raise NotTranslated("an integral without its differential")
        names.append(factors.pop().name)
        factors.pop()
    return Node("mul", (number(1), *factors)), names[::-1]


def _number(_translator: Translator, node: Node) -> Expression:
    assert node.value is not None
    return sympy.Rational(node.value.numerator, node.value.denominator)


def _negative(translator: Translator, node: Node) -> Expression:
    return -translator.of(node.args[0])


def _quotient(translator: Translator, node: Node) -> Expression:
    above, below = translator.all(node)
    return above / below


def _product(translator: Translator, node: Node) -> Expression:
    found = translator.of(node.args[0])
    for factor in node.args[1:]:
        found = found * translator.of(factor)
    return found


def _sum(translator: Translator, node: Node) -> Expression:
    found = translator.of(node.args[0])
    for term in node.args[1:]:
        found = found + translator.of(term)
    return found


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
    "doublefact": sympy.factorial2,
}  # fmt: skip
_HANDLERS: dict[str, Callable[[Translator, Node], Expression]] = {
    "num": _number,
    "sym": Translator.named,
    "add": _sum,
    "mul": _product,
    "div": _quotient,
    "neg": _negative,
    "pow": Translator.power,
    "percent": lambda translator, node: translator.of(node.args[0]) / 100,
    "deg": lambda translator, node: translator.of(node.args[0]) * sympy.pi / 180,
    "fact": lambda translator, node: sympy.factorial(translator.of(node.args[0])),
    "abs": lambda translator, node: sympy.Abs(translator.of(node.args[0])),
    "fn": Translator.function,
    "call": Translator.call,
    "index": Translator.repeated,
    "matrix": Translator.matrix,
}
