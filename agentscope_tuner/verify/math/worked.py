r"""Whether the work is done that a question asks for: `14+23` only says "What is fourteen plus twenty-three?" again.

Without a question nothing is known of the work, and arithmetic is evaluated: `2+2` is 4.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import islice

from agentscope_tuner.verify.math.canonical import SUM, Key, factors, key
from agentscope_tuner.verify.math.node import (
    MARKS,
    Collection,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Relation,
    Sum,
    Symbol,
    UndefinedCall,
)
from agentscope_tuner.verify.math.number import is_decimal, literal
from agentscope_tuner.verify.math.operations import UNREDUCED, families, operations
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.tree import symbols, walk

Same = Callable[[Node, Node], bool]
_MOST_FORMULAS = 40
_FREE = frozenset({Fraction(0), Fraction(1)})
_SAID_EXPONENTS = (Fraction(2), Fraction(3))


def is_unworked(question: Question, answer: Node, reference: Node, same: Same) -> bool:
    """Whether the answer still says how its value is found, where finding it is what the question asks for.

    Args:
        same: whether two formulas have one value, by the cheap stages.
    """
    wanted = _stated(reference, reference)[-1]
    return all(_is_left(question, part, wanted, same) for part in _stated(answer, wanted))


def _stated(node: Node, reference: Node) -> tuple[Node, ...]:
    """What a chain says of the value: its members without names, and without roundings of an exact reference."""
    match node:
        case Relation((first, *rest), operators) if set(operators) <= {"=", "~"}:
            rough = is_decimal(reference)
            members = [first, *(a for a, sign in zip(rest, operators, strict=True) if rough or sign == "=")]
            valued = tuple(m for m in members if not isinstance(m, (Symbol, UndefinedCall)))
            return valued or tuple(members)
    return (node.inside,) if isinstance(node, MARKS) else (node,)


def _is_left(question: Question, answer: Node, reference: Node, same: Same) -> bool:
    if isinstance(answer, Collection) and answer.args:
        wanted = reference.args if isinstance(reference, Collection) else (reference,)
        return all(literal(one) is not None for one in wanted) and any(_is_only_said(question, a) for a in answer.args)
    if _is_other_form(question, answer, reference):
        return True
    left = operations(answer)
    if not left or operations(reference):
        return False
    if literal(reference) is not None and _is_only_said(question, answer):
        return True
    if question.asks_to_simplify:
        return True
    left -= {UNREDUCED}
    formulas = list(islice(question.formulas.values(), _MOST_FORMULAS))
    if not symbols(answer) and families(left) & families(frozenset().union(*map(operations, formulas))):
        # the function that the question asks for still stands there
        return True
    return any(_is_task(formula, reference, left, same) for formula in formulas)


def _is_only_said(question: Question, answer: Node) -> bool:
    """Whether the answer is an operation on numbers of the question: `60 \\cdot 4` after 60 miles an hour."""
    if not (operations(answer) - {UNREDUCED} or _is_division(answer)) or symbols(answer):
        return False
    # a square is said without its 2
    exponents = [n.exponent for n in walk(answer) if isinstance(n, Power) and literal(n.exponent) in _SAID_EXPONENTS]
    found = [n for n in walk(answer) if isinstance(n, Number) and n.text and not any(n is e for e in exponents)]
    numbers = {n.value for n in found} - _FREE
    return bool(numbers) and numbers <= question.numbers


def _is_division(answer: Node) -> bool:
    r"""Whether it is a whole number as a fraction of two others; `\frac44` is the sum of `\frac14` and `\frac34`."""
    match answer:
        case Quotient(Number(top), Number(bottom)):
            return bottom not in (0, top) and (top / bottom).denominator == 1
    return False


def _is_task(formula: Node, reference: Node, left: frozenset[str], same: Same) -> bool:
    """Whether working out this formula is the task: it has the reference's value, and something to be worked out."""
    asked = operations(formula)
    if not asked or not (left or UNREDUCED in asked):
        return False
    return same(reference, formula)


def _is_other_form(question: Question, answer: Node, reference: Node) -> bool:
    """Whether a formula was to be factored or expanded, as the reference is, and the answer is not."""
    if question.asks_to_factor:
        wanted = _sums(reference)
        if sum(wanted) and not isinstance(reference, Sum):
            unfinished = bool(operations(answer) - {UNREDUCED}) or (_divides(answer) and not _divides(reference))
            return key(answer)[0] == SUM or sum(_sums(answer)) < sum(wanted) or unfinished
    if question.asks_to_expand and not _holds_product_of_sums(reference):
        return _holds_product_of_sums(answer)
    return False


def _sums(node: Node) -> list[int]:
    """How often each factor stands there that is a sum with symbols or a symbol."""
    return [times for one, times in factors(node).items() if _is_symbolic(one)]


def _divides(node: Node) -> bool:
    """Whether something is divided by a symbol."""
    return any(isinstance(part, Quotient) and symbols(part.below) for part in walk(node))


def _is_symbolic(one: Key) -> bool:
    return "'Symbol'" in repr(one)


def _holds_product_of_sums(node: Node) -> bool:
    for part in walk(node):
        parts = part.args if isinstance(part, Product) else (part.base,) if isinstance(part, Power) else ()
        if any(isinstance(p, Sum) and symbols(p) for p in parts):
            return True
    return False
