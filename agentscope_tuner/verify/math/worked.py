r"""Whether an answer has done the work that the question asks for.

The answer `14+23` to "What is fourteen plus twenty-three?" only repeats the question. Without a question the task is
unknown, so arithmetic is just evaluated: `2+2` is 4.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import islice
from math import gcd, isqrt
from typing import TypeGuard

from agentscope_tuner.verify.math.canonical import SUM, Key, factors, key, terms
from agentscope_tuner.verify.math.node import (
    MARKS,
    RATIONAL_OPERATIONS,
    Apply,
    Collection,
    Negation,
    Node,
    Number,
    PlusMinus,
    Power,
    Product,
    Quotient,
    Relation,
    SetOperation,
    Sum,
    Symbol,
    UndefinedCall,
)
from agentscope_tuner.verify.math.number import is_decimal, literal, scientific
from agentscope_tuner.verify.math.operations import (
    COMPLEX,
    MATRIX,
    UNREDUCED,
    WHOLE_ROOT,
    families,
    is_plain,
    operations,
)
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.tree import is_collection, symbols, walk

Same = Callable[[Node, Node], bool]
_MOST_FORMULAS = 40
_LARGEST_DIVISOR = 1_000
# Functions that often stand in the final form of a count
_COUNTING = frozenset({"factorial", "doublefact", "binom"})
_FREE = frozenset({Fraction(0), Fraction(1)})
_SAID_EXPONENTS = (Fraction(2), Fraction(3))


def is_unworked(question: Question, answer: Node, reference: Node, same: Same) -> bool:
    """Whether the answer leaves work undone that the question asks for.

    Args:
        same: tells whether two formulas have the same value, by the cheap stages.
    """
    if _is_unfinished_equation(answer, reference):
        return True
    if (
        question.solved_for
        and _is_solved(reference, question.solved_for)
        and not _is_solved(answer, question.solved_for)
    ):
        return True
    if question.asks_to_round and literal(reference) is not None and literal(answer) != literal(reference):
        return True
    wanted = _stated(reference, reference)[-1]
    return all(_is_left(question, part, wanted, same) for part in _stated(answer, wanted))


def _is_solved(node: Node, name: str) -> bool:
    """Whether the name or a call stands alone on one side, or the node is no relation."""
    match node:
        case Relation((first, *_, last)):
            return Symbol(name) in (first, last) or isinstance(first, UndefinedCall)
    return True


def _is_unfinished_equation(answer: Node, reference: Node) -> bool:
    r"""Whether only the answer is an equation with a sum of numbers in it, as in `y-2=\frac{8-2}{3-1}(x-1)`."""
    match answer:
        case Relation((first, last), ("=",)) if symbols(first) and symbols(last) and not isinstance(first, Symbol):
            return any(map(_adds_numbers, walk(answer))) and not any(map(_adds_numbers, walk(reference)))
    return False


def _stated(node: Node, reference: Node) -> tuple[Node, ...]:
    """The values of a chain: its members without names. If the reference is exact, roundings are left out, too."""
    match node:
        case Relation((first, *rest), operators) if set(operators) <= {"=", "~"}:
            rough = is_decimal(reference)
            members = [first, *(a for a, sign in zip(rest, operators, strict=True) if rough or sign == "=")]
            valued = tuple(m for m in members if not isinstance(m, (Symbol, UndefinedCall)))
            return valued or tuple(members)
    return (node.inside,) if isinstance(node, MARKS) else (node,)


def _is_left(question: Question, answer: Node, reference: Node, same: Same) -> bool:
    if not operations(reference) and any(map(_joins_numbers, walk(answer))):
        return True
    if isinstance(answer, Collection) and answer.args:
        wanted = reference.args if isinstance(reference, Collection) else (reference,)
        return all(literal(one) is not None for one in wanted) and any(
            _is_only_said(question, a, a) or (not symbols(a) and _is_calculation(a, wanted[0], operations(a)))
            for a in answer.args
        )
    if any(map(_joins_sets, walk(answer))) and not any(map(_joins_sets, walk(reference))):
        return True
    if _is_other_form(question, answer, reference):
        return True
    if question.asks_square and _holds_square(reference) and not _holds_square(answer):
        return True
    if question.asks_primes and operations(reference) and not _is_of_primes(answer):
        return True
    if question.says("partial fraction") and len(list(terms(answer))) < len(list(terms(reference))):
        return True
    if question.says("scientific notation") and _is_unscientific(answer, reference):
        return True
    if question.asks_to_simplify and _is_unreduced_ratio(answer):
        return True
    left = operations(answer)
    if not left or operations(reference):
        return False
    if _is_calculation(answer, reference, left):
        return True
    if literal(reference) is not None and _is_only_said(question, answer, reference):
        return True
    if question.asks_to_simplify:
        return True
    left -= {UNREDUCED}
    formulas = list(islice(question.formulas.values(), _MOST_FORMULAS))
    if not symbols(answer) and families(left) & families(frozenset().union(*map(operations, formulas))):
        # The answer still holds the function that the question asks to compute
        return True
    return any(_is_task(formula, reference, left, same) for formula in formulas)


def _is_calculation(answer: Node, reference: Node, left: frozenset[str]) -> bool:
    r"""Whether the answer is unfinished for every question: `3\cdot 60`, `\sqrt{49}`, a sum over k, a matrix product.

    Powers, factorials and binomials are common final forms of counts, so `2^{10}` is an answer.
    """
    if symbols(reference):
        return bool(left & {"sum", "product"} - operations(reference))
    if any(name.startswith("big ") for name in left) or MATRIX in left:
        return True
    if symbols(answer):
        return bool(left & {"sum", "product", "division"})
    if COMPLEX in left or (WHOLE_ROOT in left and (_is_signed_root(answer) or not _has_two_signs(answer))):
        return True
    if any(isinstance(n, Apply) and n.function not in _COUNTING for n in walk(answer)):
        return True
    if literal(reference) is None:
        return False
    roots = [n for n in walk(answer) if isinstance(n, Power) and (literal(n.exponent) or Fraction(1)).denominator > 1]
    plain = all(isinstance(n, (Number, *RATIONAL_OPERATIONS, *MARKS)) for n in walk(answer))
    return bool(roots) or (plain and bool(left & {"sum", "product", "division"}))


def _adds_numbers(node: Node) -> bool:
    r"""Whether the node is a sum of numbers, like the `8-2` of `\frac{8-2}{3-1}x`, and not a mixed number."""
    return isinstance(node, Sum) and not is_plain(node) and all(literal(a) is not None for a in node.args)


def _joins_numbers(node: Node) -> bool:
    r"""Whether numbers are left to combine: `16-4` or `4\cdot 3` under a root, the `1+2` of `1+2+\sqrt3`.

    A power of ten with its factor counts as one number.
    """
    if isinstance(node, Sum) and not is_plain(node):
        return sum(literal(a.base if _is_whole_power(a) else a) is not None for a in node.args) > 1
    return isinstance(node, Product) and sum(literal(a) is not None for a in node.args) > 1


def _is_whole_power(node: Node) -> TypeGuard[Power]:
    exponent = literal(node.exponent) if isinstance(node, Power) else None
    return exponent is not None and exponent.denominator == 1


def _has_two_signs(node: Node) -> bool:
    return any(isinstance(n, PlusMinus) for n in walk(node))


def _joins_sets(node: Node) -> bool:
    r"""Whether the node is an operation on sets with listed members: `\{1,2,3\}\cap\{2,3,4\}`."""
    return isinstance(node, SetOperation) and all(is_collection(a, "set") for a in node.args)


def _is_signed_root(node: Node) -> bool:
    r"""Whether the node is a root with at most a sign, like `\pm\sqrt{49}`.

    A root inside `\frac{2\pm\sqrt{16}}{2}` comes from the quadratic formula, and does not count.
    """
    while isinstance(node, Negation) or (isinstance(node, PlusMinus) and len(node.args) == 1):
        node = node.args[0]
    return isinstance(node, Power)


def _holds_square(node: Node) -> bool:
    return any(isinstance(n, Power) and isinstance(n.base, Sum) for n in walk(node))


def _is_of_primes(node: Node) -> bool:
    """Whether each factor is a prime or a power of a prime. Divisors over a bound are not tried."""
    for part in node.args if isinstance(node, Product) else (node,):
        base = part.base if isinstance(part, Power) and literal(part.exponent) is not None else part
        if not isinstance(base, Number) or base.value.denominator != 1 or base.value < 2:
            return False
        if any(
            int(base.value) % divisor == 0 for divisor in range(2, min(isqrt(int(base.value)), _LARGEST_DIVISOR) + 1)
        ):
            return False
    return True


def _is_unscientific(node: Node, reference: Node) -> bool:
    r"""Whether only the reference is in scientific notation: `45\cdot 10^{-5}` or 0.00045, for `4.5\cdot 10^{-4}`."""
    wanted, found = (scientific(side) for side in (reference, node))
    if wanted is None or (isinstance(node, Number) and "e" in node.text.lower()):
        return False
    return found is None or not 1 <= abs(found[0].value) < 10


def _is_unreduced_ratio(node: Node) -> bool:
    parts = [literal(a) for a in node.args] if isinstance(node, Relation) and set(node.operators) == {":"} else []
    return bool(parts) and all(p is not None and p.denominator == 1 for p in parts) and gcd(*map(int, parts)) > 1  # type: ignore[arg-type]


def _is_only_said(question: Question, answer: Node, reference: Node) -> bool:
    """Whether the answer only combines numbers of the question: `60 \\cdot 4` for 4 hours at 60 miles an hour."""
    if not (operations(answer) - {UNREDUCED} or _is_division(answer, reference)) or symbols(answer):
        return False
    # The question may not write the exponent of a square or a cube
    exponents = [n.exponent for n in walk(answer) if isinstance(n, Power) and literal(n.exponent) in _SAID_EXPONENTS]
    found = [n for n in walk(answer) if isinstance(n, Number) and n.text and not any(n is e for e in exponents)]
    numbers = {n.value for n in found} - _FREE
    return bool(numbers) and numbers <= question.numbers


def _is_division(answer: Node, reference: Node) -> bool:
    r"""Whether the answer is a fraction that is left to divide: `\frac{12}{4}`, or `\frac{2}{4}` for 0.5.

    `\frac44` does not count: it is the sum of `\frac14` and `\frac34`.
    """
    match answer:
        case Quotient(Number(top), Number(bottom)) if bottom not in (0, top):
            return (top / bottom).denominator == 1 or (is_decimal(reference) and gcd(int(top), int(bottom)) > 1)
    return False


def _is_task(formula: Node, reference: Node, left: frozenset[str], same: Same) -> bool:
    """Whether the task is to compute this formula: it has the reference's value, and operations to do."""
    asked = operations(formula)
    if not asked or not (left or UNREDUCED in asked):
        return False
    return same(reference, formula)


def _is_other_form(question: Question, answer: Node, reference: Node) -> bool:
    """Whether the question asks for a factored or expanded form that the reference has and the answer does not."""
    if question.asks_to_factor:
        wanted = _sums(reference)
        if sum(wanted) and not isinstance(reference, Sum):
            unfinished = bool(operations(answer) - {UNREDUCED}) or (_divides(answer) and not _divides(reference))
            return key(answer)[0] == SUM or sum(_sums(answer)) < sum(wanted) or unfinished
    if question.asks_to_expand and not _holds_product_of_sums(reference):
        return _holds_product_of_sums(answer)
    return False


def _sums(node: Node) -> list[int]:
    """The multiplicities of the factors that have symbols."""
    return [times for one, times in factors(node).items() if _is_symbolic(one)]


def _divides(node: Node) -> bool:
    """Whether a denominator has a symbol."""
    return any(isinstance(part, Quotient) and symbols(part.below) for part in walk(node))


def _is_symbolic(one: Key) -> bool:
    return "'Symbol'" in repr(one)


def _holds_product_of_sums(node: Node) -> bool:
    for part in walk(node):
        parts = part.args if isinstance(part, Product) else (part.base,) if isinstance(part, Power) else ()
        if any(isinstance(p, Sum) and symbols(p) for p in parts):
            return True
    return False
