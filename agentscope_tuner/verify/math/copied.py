r"""Whether an answer only repeats the question: `\frac12+\frac13` to "Compute $\frac12+\frac13$".

Such an answer has the right value without any work. A policy finds this trick within its first hundred rollouts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from agentscope_tuner.verify.math.canonical import NEG, PRODUCT, SUM, Key, factors, key, terms
from agentscope_tuner.verify.math.compound import added_up
from agentscope_tuner.verify.math.exact import Exact, Unknown
from agentscope_tuner.verify.math.in_words import numbers_said
from agentscope_tuner.verify.math.node import (
    MARKS,
    RATIONAL_OPERATIONS,
    Apply,
    Collection,
    Node,
    Number,
    Power,
    Quantity,
    Relation,
    Symbol,
    Text,
    UndefinedCall,
)
from agentscope_tuner.verify.math.number import is_decimal, literal
from agentscope_tuner.verify.math.operations import is_plain
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.tree import CONSTANTS, walk, with_args

# An answer with more nodes is not searched: it is too large for a copy
_MAX_NODES = 300
_MAX_INSIDE = 5
_FORMULA = Symbol("formula of the question")
_WRAPPERS = frozenset({"abs", "norm", "floor", "ceil", "Re", "conj", "max", "min", "gcd", "lcm"})


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
    return value in said - set(numbers_said(reference_text))


def _value(node: Node) -> Node:
    r"""The right side of an equation with a name on its left: the formula of `x = \sqrt{49}`; else the node."""
    match node:
        case Relation((Symbol() | UndefinedCall(), value), ("=",)):
            return value
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
        return (
            plain_too
            and key(node) in formulas
            and not isinstance(node, Text)
            and not _is_unknown(node)
            and not _is_whole(node)
        )
    return key(node) in formulas or _holds_formula(node, formulas)


def _is_unknown(node: Node) -> bool:
    return isinstance(node, Symbol) and node.name not in CONSTANTS


def _is_whole(node: Node) -> bool:
    return isinstance(node, Number) and node.value.denominator == 1 and not is_decimal(node)


def _holds_formula(node: Node, formulas: dict[Key, Node]) -> bool:
    r"""Whether a part of the answer is a formula of the question that has the value of the whole answer.

    Only formulas that still need computing count.
    """
    parts = list(walk(node))
    if len(parts) > _MAX_NODES:
        return False
    unfinished = {k: f for k, f in formulas.items() if not is_plain(f) and not isinstance(f, Collection)}
    inside = {k: part for part in parts if (k := key(part)) in unfinished}
    if any(_is_wrapped(node, k) for k in list(inside)[:_MAX_INSIDE]):
        return True
    value = _exact(node)
    if value is None:
        return any(isinstance(n, MARKS) and key(n.inside) in unfinished for n in parts)
    if any(_exact(part) == value for part in inside.values()):
        return True
    return any(_exact(formula) == value for formula in _contained(parts, unfinished))


def _is_wrapped(node: Node, formula: Key) -> bool:
    r"""Whether the answer has the same value as the formula inside it: `|\sqrt{12}|`, `1\cdot\sqrt{12}+0`."""
    bare = _unwrapped(_in_place(node, formula))
    for seed in ("wrapped", "wrapped again"):
        point = Exact(seed)
        try:
            if point.value(bare) != point.value(_FORMULA):
                return False
        except Unknown:
            return False
    return True


def _in_place(node: Node, formula: Key) -> Node:
    """The answer with the formula replaced by a symbol."""
    if not node.args or key(node) == formula:
        return _FORMULA if key(node) == formula else node
    return with_args(node, tuple(_in_place(a, formula) for a in node.args))


def _unwrapped(node: Node) -> Node:
    """The node without operations that do not change a positive whole value.

    These are functions like an absolute value or a floor, a maximum of equal values, and the root of a power.
    """
    args = tuple(map(_unwrapped, node.args))
    node = with_args(node, args) if args else node
    match node:
        case Apply(function, (inside,)) if function in _WRAPPERS and _FORMULA in walk(inside):
            return inside
        case Apply("max" | "min", (first, *others)) if all(other == first for other in others):
            return first
        case Power(Power(base, inner), outer):
            exponents = literal(inner), literal(outer)
            if None not in exponents and exponents[0] * exponents[1] == 1:  # type: ignore[operator]
                return base
    return node


def _contained(parts: list[Node], formulas: dict[Key, Node]) -> Iterator[Node]:
    """The question's sums and products whose terms or factors all occur in a single sum or product of the answer."""
    for read, kind in ((terms, SUM), (factors, PRODUCT)):
        inside = [read(part) for part in parts if isinstance(part, RATIONAL_OPERATIONS)]
        for known, formula in formulas.items():
            if _kind(known) == kind and any(_within(read(formula), whole) for whole in inside):
                yield formula


def _kind(known: Key) -> object:
    inside = known[1] if known[0] == NEG else known
    return inside[0] if isinstance(inside, tuple) else None


def _within(part: Counter[Key], whole: Counter[Key]) -> bool:
    return all(whole[one] >= count for one, count in part.items())


def _exact(node: Node) -> Fraction | None:
    try:
        return Exact("copied").value(node)
    except Unknown:
        return None
