r"""Operations still to do in a formula: the sum in `12+9`, the root of 49, a fraction that can be reduced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import gcd, isqrt

from agentscope_tuner.verify.math.canonical import Key, factors, key
from agentscope_tuner.verify.math.node import (
    MARKS,
    Apply,
    Array,
    BigOperator,
    Interval,
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
    Text,
)
from agentscope_tuner.verify.math.number import literal
from agentscope_tuner.verify.math.tree import symbols, walk

# A fraction that is not in lowest terms has the right value, so reducing it counts only if the question asks for it
UNREDUCED = "unreduced"
# A calculation with matrices
MATRIX = "matrix"
# The root of a whole power, like 49
WHOLE_ROOT = "whole-root"
# A product, quotient or power of complex numbers
COMPLEX = "complex"
_BOUNDS = frozenset({"<", "<=", ">", ">="})
_I = Symbol("i")
_LARGEST_ROOT = 10**12
_LONGEST_SQUARE = 400
_MOST_ROOTS = 6


def is_plain(node: Node) -> bool:
    """Whether nothing is left to compute: a literal, a symbol, a fraction in lowest terms, a mixed number."""
    if isinstance(node, (Negation, *MARKS)):
        return is_plain(node.inside)
    match node:
        case Number(_, text):
            return bool(text)
        case Sum((Number(), Quotient(Number(top), Number(bottom)))):
            # a mixed number
            return 0 < top < bottom and top.denominator == bottom.denominator == gcd(int(top), int(bottom)) == 1
        case Quotient(Number(top), Number(bottom)):
            whole = top.denominator == bottom.denominator == 1
            return whole and bottom > 1 and gcd(int(top), int(bottom)) == 1
        case Interval(low, high):
            return is_plain(low) and is_plain(high)
        case Relation(args, operators) if set(operators) <= _BOUNDS and len(args) <= 3:
            # a solved inequality
            return all(map(is_plain, args)) and sum(isinstance(a, Symbol) for a in args) == 1
    return isinstance(node, (Symbol, Text))


def operations(node: Node) -> frozenset[str]:
    """The names of the operations that are still to do; empty for a finished value or formula."""
    return frozenset(name for part in walk(node) for name in _of(part))


def _of(node: Node) -> Iterator[str]:
    match node:
        case Apply(function):
            yield function
        case BigOperator(sign):
            # The name `sum` alone means an addition
            yield f"big {sign}"
        case Sum(terms) if any(isinstance(a, Array) for a in terms):
            yield MATRIX
        case Sum(terms):
            if not is_plain(node) and _is_repeated(map(_unit_of_term, terms)):
                yield "sum"
        case Product() if sum(isinstance(a, Array) for a in node.args) > 1:
            yield MATRIX
        case Product() if sum(_I in walk(a) for a in node.args) > 1:
            yield COMPLEX
        case Product():
            if not _is_scientific(node) and _is_repeated(map(_kind_of_factor, node.args)):
                yield "product"
        case Quotient():
            yield from _of_quotient(node)
        case Power(base, exponent):
            yield from _of_power(base, exponent)


_FAMILIES = (
    "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc",
    "sinh cosh tanh coth sech csch",
    "ln log exp",
    "factorial doublefact binom",
    "gcd lcm",
    "floor ceil",
    "min max",
    "root whole-root",
)
_FAMILY = {name: row for row in _FAMILIES for name in row.split()}
# Plain arithmetic may be a step to any value, so it does not show which operation a question asks for
_ARITHMETIC = frozenset({"sum", "product", "division", "power", UNREDUCED})


def families(left: frozenset[str]) -> frozenset[str]:
    """The operations without arithmetic. Operations defined by each other, like sine and cosine, are one family."""
    return frozenset(_FAMILY.get(name, name) for name in left - _ARITHMETIC)


def _is_repeated(kinds: Iterator[Key | None]) -> bool:
    counted = Counter(kind for kind in kinds if kind is not None)
    return any(count > 1 for count in counted.values())


def _unit_of_term(term: Node) -> Key:
    """A key that is equal for terms that can be added: the key of `3x` and `-x` holds x, that of a number is empty."""
    while isinstance(term, Negation):
        term = term.inside
    counted = factors(term)
    counted.pop(("minus",), 0)
    return tuple(sorted((repr(one), times) for one, times in counted.items() if not _is_number_key(one)))


def _is_number_key(one: Key) -> bool:
    inside = one[1] if one[0] == "inverse" else one
    return isinstance(inside, tuple) and inside[0] == "number"


def _kind_of_factor(factor: Node) -> Key | None:
    """A key that is equal for factors that can be combined: numbers, roots of numbers, powers of one base."""
    while isinstance(factor, Negation):
        factor = factor.inside
    if isinstance(factor, Percent) or literal(factor) is not None:
        return ("number",)
    match factor:
        case Power(base, exponent) if literal(base) is not None and literal(exponent) is not None:
            return ("power of a number",)
        case Power(base):
            return key(base)
        case Sum():
            # A factored formula may repeat a factor: `(x+1)(x+1)`
            return None
    return key(factor)


def _is_scientific(node: Product) -> bool:
    match node.args:
        case (Number(), Power(Number(base), exponent)):
            return base == 10 and literal(exponent) is not None
    return False


def _of_quotient(node: Quotient) -> Iterator[str]:
    above, below = node.above, node.below
    if _I in walk(below):
        yield COMPLEX
        return
    while isinstance(above, Negation):
        above = above.inside
    match above, below:
        case Number(top), Number(bottom):
            if not bottom or not top.denominator == bottom.denominator == 1:
                yield "division"
            elif bottom == 1 or gcd(int(top), int(bottom)) > 1:
                yield UNREDUCED
            return
    if literal(above) is not None and literal(below) is not None:
        yield "division"
    elif any(one[0] != "number" for one in factors(above) & factors(below)):
        # A factor can be cancelled
        yield "division"
    elif gcd(_whole_factor(above), _whole_factor(below)) > 1:
        yield UNREDUCED


def _whole_factor(node: Node) -> int:
    r"""The 6 of `6\sqrt3`; 1 if no factor is a whole number."""
    parts = node.args if isinstance(node, Product) else (node,)
    return next((int(p.value) for p in parts if isinstance(p, Number) and p.value.denominator == 1), 1)


def _of_power(base: Node, exponent: Node) -> Iterator[str]:
    power = literal(exponent)
    if power is None:
        return
    while isinstance(base, Negation):
        base = base.inside
    if isinstance(base, Array):
        yield MATRIX
    elif base == _I and power.denominator == 1:
        yield COMPLEX
    elif power.denominator == 1:
        if (
            (isinstance(base, Number) and base.value != 10)
            or (isinstance(base, Quotient) and not symbols(base))
            or (isinstance(base, Power) and (not symbols(base) or literal(base.exponent) is not None))
        ):
            yield "power"
    elif isinstance(base, Number) and base.value.denominator == 1:
        yield from _of_root(int(base.value), power.denominator)


def _of_root(inside: int, degree: int) -> Iterator[str]:
    if inside < 2 or _is_power(inside, degree):
        yield WHOLE_ROOT
    elif _holds_power(inside, degree):
        yield "root"


def _is_power(inside: int, degree: int) -> bool:
    if degree == 2:
        return inside.bit_length() <= _LONGEST_SQUARE and isqrt(inside) ** 2 == inside
    return inside <= _LARGEST_ROOT and degree <= _MOST_ROOTS and round(inside ** (1 / degree)) ** degree == inside


def _holds_power(inside: int, degree: int) -> bool:
    """Whether the number has a factor that is a power of this degree, so that its root can be simplified."""
    if inside > _LARGEST_ROOT or degree > _MOST_ROOTS:
        return False
    root = 2
    while root**degree <= inside and root < 1_000:
        if inside % root**degree == 0:
            return True
        root += 1
    return False
