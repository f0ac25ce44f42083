r"""Steps: places where a function jumps or bends, which random points may miss.

`x + \lfloor\frac{1}{1+(x-7)^2}\rfloor` is x at every point but 7. Values at random points refute such a formula only by
luck. So agreement at points proves nothing for an answer with a step, unless the reference has the same step.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from agentscope_tuner.verify.math.canonical import key
from agentscope_tuner.verify.math.exact import Exact, Unknown
from agentscope_tuner.verify.math.node import (
    RATIONAL,
    Apply,
    BigOperator,
    Negation,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Relation,
    Sum,
)
from agentscope_tuner.verify.math.tree import difference, is_applied, is_matrix, symbols, walk

# Functions that jump. Two floors have the same jumps if their arguments differ by a whole number
_JUMPS = frozenset({"floor", "ceil", "sgn", "gcd", "lcm"})
_BENDS = frozenset({"max", "min"})
# Functions without narrow features, if their argument is a small multiple of an unknown
_SMOOTH = frozenset({"sin", "cos", "tan", "cot", "sec", "csc", "ln", "log", "arctan", "sinh", "cosh", "tanh"})
_MAX_MULTIPLE = 12


def own_steps(ref: Node, ans: Node) -> bool:
    """Whether the answer has a step that the reference does not have."""
    jumps = list(_jumps(ans))
    known = list(_jumps(ref))
    if any(not any(_same_jump(n, other) for other in known) for n in jumps):
        return True
    if any(_is_empty_power(n) for n in walk(ans)) or _has_own_product(ref, ans):
        return True
    bends = {key(p) for p in _bends(ref)}
    return any(key(p) not in bends and not _is_wide(p) for p in _bends(ans))


def _jumps(node: Node) -> Iterator[Apply]:
    yield from (n for n in walk(node) if isinstance(n, Apply) and n.function in _JUMPS and symbols(n))


def _same_jump(node: Apply, other: Apply) -> bool:
    if key(node) == key(other):
        return True
    if len(node.args) != 1 or len(other.args) != 1 or {node.function, other.function} - {"floor", "ceil"}:
        return False
    (mine,), (theirs,) = node.args, other.args
    inside = difference(mine, theirs) if node.function == other.function else Sum((mine, theirs))
    try:
        found = {Exact(seed).value(inside) for seed in ("step", "other step")}
    except Unknown:
        return False
    return len(found) == 1 and found.pop().denominator == 1


def _is_empty_power(node: Node) -> bool:
    """Whether the node is like `0^{(x-7)^2}`, which is 0 at every point but one."""
    match node:
        case Power(base, exponent) if not is_matrix(base) and symbols(exponent):
            return _is_zero(base)
    return False


def _is_zero(node: Node) -> bool:
    try:
        return Exact("zero").value(node) == 0
    except Unknown:
        # A constant without an exact value may be zero
        return not symbols(node)


def _has_own_product(ref: Node, ans: Node) -> bool:
    """Whether only the answer has a product sign over an unknown: such a product is zero wherever one factor is."""

    def products(side: Node) -> bool:
        signs = (n for n in walk(side) if isinstance(n, BigOperator) and n.sign == "prod")
        return any(symbols(n.body) - _index_names(n) for n in signs)

    return products(ans) and not products(ref)


def _index_names(node: BigOperator) -> frozenset[str]:
    return frozenset().union(*(symbols(bound.args[0]) for bound in node.bounds if isinstance(bound, Relation)))


def _bends(node: Node) -> Iterator[Node]:
    """Expressions at whose zeros the node may bend.

    These are the arguments of absolute values, and the differences of the values in a maximum or minimum. The bases of
    some roots belong to them, too: `\\sqrt{u^2}` is `|u|`.
    """
    for n in walk(node):
        match n:
            case Apply("abs", (inside,)):
                yield inside
            case Apply(function, args) if function in _BENDS:
                yield from (difference(left, right) for left, right in combinations(args, 2))
            case Power(Power(base), Quotient()):
                yield base
            case Power(base, Quotient()) if any(
                isinstance(m, Power) and isinstance(m.exponent, Quotient) for m in walk(base)
            ):
                # In nested roots the inner root may be an absolute value: `\sqrt{x^2-14x+49}`
                yield base


def _is_wide(node: Node) -> bool:
    """Whether the search for zeros finds every zero of the expression, so that points beside each bend are tried.

    True for rational expressions, their powers with constant exponents, and one smooth function of a small multiple.
    """
    if not symbols(node):
        return True
    inside = [n for n in walk(node) if not isinstance(n, RATIONAL)]
    if all(isinstance(n, Power) and isinstance(n.exponent, Number) for n in inside):
        return True
    if isinstance(node, (Negation, Product, Quotient)):
        return all(map(_is_wide, node.args))
    if isinstance(node, Power):
        return not symbols(node.exponent) and _is_wide(node.base)
    if not is_applied(node, *_SMOOTH):
        return False
    numbers = [n.value for n in walk(node) if isinstance(n, Number)]
    return all(abs(v) <= _MAX_MULTIPLE for v in numbers) and all(isinstance(n, RATIONAL) for n in walk(node.args[0]))
