"""Whether an answer only repeats the question, or leaves the work undone that the question asks for.

Such an answer has the right value without any work. A policy finds this trick within its first hundred rollouts.

The answer `14+23` to "What is fourteen plus twenty-three?" only repeats the question. Without a question the task is
unknown, so arithmetic is just evaluated: `2+2` is 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from agentscope_tuner.verify.math.canonical import MINUS, NEG, PRODUCT, SUM, Key, factors, key, residue, terms
from agentscope_tuner.verify.math.compare import CheapComparer
from agentscope_tuner.verify.math.exact import exact_value
from agentscope_tuner.verify.math.node import (
    CONSTANTS,
    EQUAL,
    MARKS,
    RATIONAL_OPERATIONS,
    Collection,
    Degrees,
    Negation,
    Node,
    Number,
    Percent,
    Quantity,
    Quotient,
    Relation,
    Sum,
    Symbol,
    Text,
    UndefinedCall,
    is_collection,
    is_decimal,
    literal,
    number,
    scientific,
    symbols,
    unsigned,
    walk,
    with_args,
)
from agentscope_tuner.verify.math.question import Question, numbers_said
from agentscope_tuner.verify.math.sets import is_range
from agentscope_tuner.verify.math.unfinished import UNREDUCED, is_plain, is_unworked, valued
from agentscope_tuner.verify.math.units import added_up, is_given_in
from agentscope_tuner.verify.math.unwrap import short

# An answer with more nodes is not searched: it is too large for a copy
_MAX_NODES = 300
_LARGEST_POWER = 400


def unearned(question: Question, answer: Node, reference: Node, text: str, truth: str) -> str | None:
    """Why an answer with the right value does not answer the question; None if it does.

    Args:
        text, truth: the texts of the answer and of the reference.
    """
    copied, unworked = (
        f"copied: {short(text)} stands in the question",
        f"unworked: {short(text)} is still to be worked out",
    )
    if (
        all(is_plain(n) and literal(n) is not None for n in (answer, reference))
        and added_up(text) is added_up(truth) is None
    ):
        # Nothing is left to work out in a plain number. It can only stand in the question that asks for another form,
        # or lack a rounding: it is no formula, no equation and no quantity to convert
        handed = _hands_on(question, answer, reference) or (
            literal(reference) != _HALF and question.hands_formula(text, truth)
        )
        if handed or (question.asks_to_rewrite and restates(question, answer, reference)):
            return copied
        return unworked if question.asks_to_round and literal(answer) != literal(reference) else None
    answer = residue(answer) or answer
    if _hands_on(question, answer, reference):
        return copied
    known = settled(answer, reference)
    sides = (answer,) if known is answer else (answer, known)
    if question.hands_formula(text, truth) or hands_back(question, answer, text, truth):
        return copied
    if any(restates(question, n, reference) for n in sides):
        return copied
    values = CheapComparer(f"{text}|{truth}", question)

    def same(mine: Node, theirs: Node) -> bool:
        return values.leaf(mine, theirs) is EQUAL

    return unworked if any(is_unworked(question, n, reference, same) for n in sides) else None


def notation(node: Node) -> str:
    """How a number is written, as a decimal or a fraction in lowest terms; empty for what is no number."""
    node = unsigned(node)
    if (power := scientific(node)) is not None:
        return "scientific" if 1 <= abs(power[0].value) < _TEN else "a power of ten"
    match node:
        case Percent() | Degrees():
            return type(node).__name__
        case Number(value, text) if text:
            return (
                "scientific" if "e" in text.lower() else "decimal" if value.denominator > 1 or "." in text else "whole"
            )
        case Quotient(Number(), Number()):
            return "fraction" if is_plain(node) else UNREDUCED
        case Sum() if is_plain(node):
            return "mixed"
    return ""


_TEN = 10
# Nobody tells a half from its complement, so it may be given and asked for
_HALF = Fraction(1, 2)


def _hands_on(question: Question, answer: Node, reference: Node) -> bool:
    """Whether the question is a single number, which the reference writes in another way, and the answer does not."""
    given = question.single_number
    if given is None or (value := _number(_undegreed(given))) in (None, _HALF):
        return False
    own, wanted, found = notation(given), notation(reference), notation(answer)
    if "Degrees" in (own, wanted):
        return literal(_undegreed(answer)) == value and own == found != wanted
    exact = [_number(side) for side in (reference, answer)]
    if wanted == found == own == "decimal" and exact[1] == value != exact[0]:
        # it is to be rounded
        return True
    if wanted in ("", own) or exact[1] != value or found in ("", wanted):
        return False
    # a third notation is none that is asked for; but a mixed number is a fraction, and a fraction may be only reduced
    close = {wanted, found} == {"fraction", "mixed"} or (own, wanted) == (UNREDUCED, "fraction")
    # of digits that repeat, any fraction is worked out
    close = close or (isinstance(given, Number) and "(" in given.text and found == UNREDUCED)
    third = exact[0] == exact[1] and not (close or (wanted, found) == ("Percent", "decimal"))
    return found == own or third


def _undegreed(node: Node) -> Node:
    return node.inside if isinstance(node, Degrees) else node


def _number(node: Node) -> Fraction | None:
    """The number that is written as a plain value, a percentage, or with a power of ten."""
    if (power := scientific(node)) is not None and power[1].denominator == 1 and abs(power[1]) < _LARGEST_POWER:
        return power[0].value * Fraction(10) ** int(power[1])
    value = literal(node.inside) if isinstance(node, Percent) else literal(node)
    return value / 100 if value is not None and isinstance(node, Percent) else value


def settled(answer: Node, reference: Node) -> Node:
    r"""The answer with numbers in the place of letters that the reference lacks, and what holds them worked out.

    `\\gcd(84,126)\\cdot 1^n` holds the question's own formula, whatever n is. Memberships like `t \\in \\mathbb{R}` are
    dropped.
    """
    if is_collection(answer, "list"):
        parts = [part for part in answer.args if not is_range(part)]
        answer = parts[0] if len(parts) == 1 else answer
    answer = _value(answer)
    if isinstance(answer, Relation):
        return answer
    free = sorted(symbols(answer) - symbols(reference))[: len(_FREE_VALUES)]
    sides = [_worked_out(answer, dict(zip(free, map(number, values), strict=False))) for values in _FREE_VALUES]
    # A value that depends on its letters is no constant
    return sides[0] if free and valued(sides[0]) is not None and valued(sides[0]) == valued(sides[1]) else answer


_FREE_VALUES = ((7, 11, 13), (5, 17, 19))


def _worked_out(node: Node, values: dict[str, Number]) -> Node:
    if isinstance(node, Symbol):
        return values.get(node.name, node)
    if not node.args or values.keys().isdisjoint(symbols(node)):
        return node
    # each part once: twice at each level would take twice the time for each bracket
    parts = tuple(_worked_out(one, values) for one in node.args)
    whole = with_args(node, parts)
    only = all(
        not symbols(a) <= values.keys() or literal(part) is not None for a, part in zip(node.args, parts, strict=True)
    )
    value = exact_value(whole) if only and all(literal(a) is not None for a in whole.args) else None
    return whole if value is None else Number(value, str(value))


def restates(question: Question, answer: Node, reference: Node) -> bool:
    """Whether the answer is a formula of the question, perhaps rearranged, and not the reference itself.

    A plain value (`12`, `\\frac34`) of the question is a fair answer, unless the question asks to write a value in
    another form.
    """
    same = {key(part) for part in (reference, _value(reference))}
    formulas = question.formulas
    if not formulas or key(answer) in same or key(_value(answer)) in same:
        return False
    plain_too = question.asks_to_rewrite
    return any(_is_copy(part, formulas, plain_too) for part in (answer, _value(answer)))


def hands_back(question: Question, answer: Node, answer_text: str, reference_text: str) -> bool:
    """Whether the answer returns a quantity of the question that it should convert: 135 for 135 minutes in hours."""
    said = set(numbers_said(answer_text))
    if added_up(answer_text) is not None and added_up(reference_text) is None and said <= question.numbers:
        return True
    value = literal(answer.inside if isinstance(answer, Quantity) else answer)
    converted = isinstance(answer, Quantity) or added_up(reference_text) is not None
    if value is None or not converted or value not in question.numbers:
        return False
    if isinstance(answer, Quantity) and not is_given_in(answer.unit, question.text):
        # 100 mJ where the question has 100 V
        return False
    return value in said - set(numbers_said(reference_text))


def _value(node: Node) -> Node:
    r"""The end of a calculation, or what a name is given: the formula of `x = \sqrt{49}`; else the node."""
    match node:
        case Relation((Symbol() | UndefinedCall(), value), ("=",)):
            return value
        case Relation(args, operators) if set(operators) == {"="} and not any(map(symbols, args)):
            return args[-1]
    return node


def _is_copy(node: Node, formulas: dict[Key, Node], plain_too: bool) -> bool:
    if isinstance(node, Collection) and node.args:
        # A list of formulas of the question is a copy; plain values in a list may be the answer
        return (key(node) in formulas and plain_too) or all(_is_copy(a, formulas, False) for a in node.args)
    if isinstance(node, Relation) and set(node.operators) <= {"=", "~"} and key(node) not in formulas:
        return all(_is_copy(a, formulas, plain_too) for a in node.args)
    if isinstance(node, Number) and "e" in node.text.lower():
        # Writing a number with a power of ten is work
        return False
    if is_plain(node):
        unknown = isinstance(node, Symbol) and node.name not in CONSTANTS
        whole = isinstance(node, Number) and node.value.denominator == 1 and not is_decimal(node)
        return plain_too and key(node) in formulas and not (isinstance(node, Text) or unknown or whole)
    return key(node) in formulas or _holds_formula(node, formulas)


def _holds_formula(node: Node, formulas: dict[Key, Node]) -> bool:
    r"""Whether a part of the answer is a formula of the question that has the value of the whole answer.

    Only formulas that still need computing count.
    """
    parts = walk(node)
    if len(parts) > _MAX_NODES:
        return False
    unfinished = {k: f for k, f in formulas.items() if not is_plain(f) and not isinstance(f, Collection)}
    inside = {k: part for part in parts if (k := key(part)) in unfinished}
    value = valued(node)
    if value is None:
        return any(isinstance(n, MARKS) and key(n.inside) in unfinished for n in parts)
    if any(valued(part) == value for part in inside.values()):
        return True
    return any(valued(formula) == value for formula in _contained(parts, unfinished))


def _contained(parts: list[Node], formulas: dict[Key, Node]) -> Iterator[Node]:
    """The question's sums and products whose terms or factors all occur in a single sum or product of the answer."""
    for read, own, kind in ((terms, terms, SUM), (factors, _unsigned_factors, PRODUCT)):
        inside = [read(part) for part in parts if isinstance(part, RATIONAL_OPERATIONS)]
        for known, formula in formulas.items():
            if _kind(known) == kind and any(own(formula) <= whole for whole in inside):
                yield formula


def _unsigned_factors(formula: Node) -> Counter[Key]:
    """Its factors without its sign: an answer's may stand before a fraction that holds the factors."""
    found = factors(formula.inside if isinstance(formula, Negation) else formula)
    del found[MINUS]
    return found


def _kind(known: Key) -> object:
    inside = known[1] if known[0] == NEG else known
    return inside[0] if isinstance(inside, tuple) else None
