"""Numeric values of expressions at any precision (worker side; the only module that imports mpmath).

Real where the textbook is: odd roots of negative numbers are real, every other power takes the principal branch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from fractions import Fraction

from mpmath import mp

from agentscope_tuner.verify.math.exact import Unknown, in_base
from agentscope_tuner.verify.math.node import Node
from agentscope_tuner.verify.math.numeric_functions import CONSTANTS, FUNCTIONS, MAX_GAMMA, SEVERAL, check_range
from agentscope_tuner.verify.math.numeric_matrix import NotANumber, OutOfRange, Value, matrix_sum, product
from agentscope_tuner.verify.math.sympy_shapes import is_endless
from agentscope_tuner.verify.math.text import TooComplex

MAX_STEPS = 150_000
# beyond these a value drowns whatever stands beside it
_MAX_EXPONENT = 20_000
_MAX_TERMS = 1_000
# decimal digits, of those in force, within which a term counts as hidden
_HIDDEN = 16


class Budget:
    """The work one comparison may take, counted in steps, so that the same text always ends the same way."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooComplex("too much work for the symbolic stage")


class Numeric:
    """Evaluation at one point.

    Args:
        point: the values of the free symbols.
        budget: shared by all evaluations of one comparison.
        log_base: what a bare `log` means, 10 or None for the natural logarithm.
    """

    def __init__(self, point: dict[str, Value], budget: Budget, log_base: int | None = None) -> None:
        self.point = point
        self.budget = budget
        self.log_base = log_base
        # the largest term ever added or given to a function: rounding errors are relative to it
        self.scale: Value = mp.mpf(0)
        # the sizes (binary) of terms too small to count at this precision: rounding residue, or a term to be seen with
        # more digits
        self.drowned: list[int] = []

    def value(self, node: Node) -> Value:
        """The node's value at the precision of `mp`.

        Raises:
            NotANumber: it has no value here.
            TooComplex: over the budget or out of range.
        """
        self.budget.spend(1 + mp.dps // 50)
        handler = _HANDLERS.get(node.head)
        if handler is None:
            raise NotANumber(f"{node.head} has no value")
        try:
            found = handler(self, node)
        except (ZeroDivisionError, ValueError, OverflowError, TypeError, mp.NoConvergence) as exc:
            raise NotANumber(str(exc)) from exc
        return found if isinstance(found, list) else self.checked(found)

    def checked(self, found: Value) -> Value:
        if not mp.isfinite(found):
            raise NotANumber("not finite")
        if mp.mag(found) > _MAX_EXPONENT * 4 or (found != 0 and mp.mag(found) < -_MAX_EXPONENT * 4):
            raise OutOfRange("a number out of range")
        return found

    def sum(self, node: Node) -> Value:
        terms = [self.value(a) for a in node.args]
        if any(isinstance(t, list) for t in terms):
            return matrix_sum(terms)
        sizes = [abs(t) for t in terms]
        largest = max(sizes)
        self.scale = max(self.scale, largest)
        # no narrower than what `Pair` takes for equal, and measured by the same scale
        self._drown(*(size for size in sizes if 0 < size < self.scale * mp.mpf(10) ** (_HIDDEN - mp.dps)))
        return mp.fsum(terms)

    def _drown(self, *sizes: Value) -> None:
        self.drowned += [int(mp.mag(size)) for size in sizes]

    def product(self, node: Node) -> Value:
        found = self.value(node.args[0])
        for factor in node.args[1:]:
            found = product(found, self.value(factor))
        return found

    def quotient(self, node: Node) -> Value:
        above, below = (self.value(a) for a in node.args)
        if isinstance(below, list):
            raise NotANumber("a division by a matrix")
        return [[cell / below for cell in row] for row in above] if isinstance(above, list) else above / below

    def power(self, node: Node) -> Value:
        base = self.value(node.args[0])
        if isinstance(base, list):
            return self.matrix_power(base, node.args[1])
        exponent = self.value(node.args[1])
        if base == 0:
            if mp.re(exponent) <= 0:
                raise NotANumber("a power of zero")
            return mp.mpf(0)
        if mp.im(base) == 0 and mp.re(base) < 0 and (odd := _odd_fraction(node.args[1])) is not None:
            root = mp.power(-mp.re(base), exponent)
            return -root if odd.numerator % 2 else root
        weight = abs(exponent * mp.log(base))
        if weight > _MAX_EXPONENT * 2:
            raise OutOfRange("a power out of range")
        if 0 < weight < mp.mpf(10) ** (_HIDDEN - mp.dps):
            self._drown(weight)
        return mp.power(base, exponent)

    def matrix_power(self, base: list[list[Value]], exponent: Node) -> Value:
        if exponent.head == "sym" and exponent.name in ("T", "\\top"):
            return [list(column) for column in zip(*base, strict=True)]
        times = self.value(exponent)
        if len(base) != len(base[0]) or not mp.isint(times) or abs(times) > 50:
            raise NotANumber("a power of a matrix")
        return (mp.matrix(base) ** int(times)).tolist()

    def symbol(self, node: Node) -> Value:
        # a summation's index may be called i
        if node.name in self.point:
            return self.point[node.name]
        if node.name in CONSTANTS:
            return CONSTANTS[node.name]()
        raise NotANumber(f"{node.name} has no value")

    def function(self, node: Node) -> Value:
        if node.name == "det":
            return mp.det(mp.matrix(self.value(node.args[0])))
        if node.name == "transpose":
            return [list(column) for column in zip(*self.value(node.args[0]), strict=True)]
        args = [self.value(a) for a in node.args]
        if any(isinstance(a, list) for a in args):
            raise NotANumber("a function of a matrix")
        if node.name == "log":
            return self.logarithm(args)
        check_range(node.name, args)
        sizes = [abs(a) for a in args]
        self.scale = max(self.scale, *sizes)
        # cosh(10^-20) is 1 but for the square of its argument
        self._drown(*(size for size in sizes if 0 < size < mp.mpf(10) ** (-mp.dps / 3)))
        if node.name in SEVERAL:
            return SEVERAL[node.name](args)
        found = FUNCTIONS.get(node.name)
        if found is None or len(args) != 1:
            raise NotANumber(f"{node.name} of {len(args)} arguments")
        return found(args[0])

    def logarithm(self, args: Sequence[Value]) -> Value:
        if len(args) == 2:
            return mp.log(args[0]) / mp.log(args[1])
        return mp.log(args[0]) / mp.log(self.log_base) if self.log_base else mp.log(args[0])

    def unknown_function(self, node: Node) -> Value:
        """An undefined function stands for some smooth function that its name chooses."""
        args = [self.value(a) for a in node.args]
        found, angle = pseudo_random(node.name, "constant"), mp.mpf(0)
        for at, arg in enumerate(args):
            found += (
                pseudo_random(node.name, f"linear {at}") * arg + pseudo_random(node.name, f"square {at}") * arg * arg
            )
            angle += pseudo_random(node.name, f"angle {at}") * arg
        return found + mp.cos(angle)

    def repeated(self, node: Node) -> Value:
        """A finite sum or product, term by term."""
        if node.name in ("int", "lim") or is_endless(node):
            raise TooComplex("an integral, a limit or an endless sum, which has no value at points")
        if node.name not in ("sum", "prod") or len(node.args) != 3 or node.args[1].name != "=":
            raise NotANumber(f"{node.name} left unevaluated")
        body, (index, first), last = node.args[0], node.args[1].args, node.args[2]
        ends = [self.value(first), self.value(last)]
        if index.head != "sym" or not all(mp.isint(end) for end in ends):
            raise NotANumber("bounds that are no whole numbers")
        if ends[1] - ends[0] > _MAX_TERMS:
            raise TooComplex(f"more than {_MAX_TERMS} terms")
        inside = Numeric(dict(self.point), self.budget, self.log_base)
        found = mp.mpf(node.name == "prod")
        for at in range(int(mp.re(ends[0])), int(mp.re(ends[1])) + 1):
            inside.point[index.name] = mp.mpf(at)
            term = inside.value(body)
            if isinstance(term, list):
                raise NotANumber("a sum of matrices")
            found = found * term if node.name == "prod" else found + term
        self.scale = max(self.scale, inside.scale, abs(found))
        self.drowned += inside.drowned
        return found

    def factorial(self, node: Node) -> Value:
        inside = self.value(node.args[0])
        if abs(inside) > MAX_GAMMA:
            raise OutOfRange("a factorial out of range")
        return mp.factorial(inside)


def pseudo_random(*key: str) -> Value:
    """A number between 0.3 and 3 that the key chooses, at the precision of `mp`."""
    digest = hashlib.blake2b("|".join(key).encode(), digest_size=64).digest()
    return mp.mpf("0.3") + mp.mpf(int.from_bytes(digest)) / mp.mpf(2**512) * mp.mpf("2.7")


def _odd_fraction(node: Node) -> Fraction | None:
    """An exponent p/q with q odd and above 1, as a cube root has."""
    sign = -1 if node.head == "neg" else 1
    node = node.args[0] if node.head == "neg" else node
    if node.head != "div" or any(a.value is None for a in node.args):
        return None
    top, bottom = node.args[0].value, node.args[1].value
    if top is None or not bottom:
        return None
    found = sign * top / bottom
    return found if found.denominator % 2 and found.denominator > 1 else None


def _literal(_numeric: Numeric, node: Node) -> Value:
    assert node.value is not None
    return mp.mpf(node.value.numerator) / node.value.denominator


def _digits(_numeric: Numeric, node: Node) -> Value:
    try:
        return mp.mpf(in_base(node).numerator)
    except Unknown as exc:
        raise NotANumber(str(exc)) from exc


def _matrix(numeric: Numeric, node: Node) -> Value:
    return [[numeric.value(cell) for cell in row.args] for row in node.args]


def _negative(numeric: Numeric, node: Node) -> Value:
    found = numeric.value(node.args[0])
    return [[-cell for cell in row] for row in found] if isinstance(found, list) else -found


_HANDLERS: dict[str, Callable[[Numeric, Node], Value]] = {
    "num": _literal,
    "sym": Numeric.symbol,
    "add": Numeric.sum,
    "mul": Numeric.product,
    "div": Numeric.quotient,
    "pow": Numeric.power,
    "neg": _negative,
    "percent": lambda numeric, node: numeric.value(node.args[0]) / 100,
    "deg": lambda numeric, node: numeric.value(node.args[0]) * mp.pi / 180,
    "fact": Numeric.factorial,
    "index": Numeric.repeated,
    "abs": lambda numeric, node: abs(numeric.value(node.args[0])),
    "fn": Numeric.function,
    "call": Numeric.unknown_function,
    "base": _digits,
    "matrix": _matrix,
}
