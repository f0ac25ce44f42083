r"""Whether an answer only says the question again: `\frac12+\frac13` to "Compute $\frac12+\frac13$".

Such an answer has the right value, and no work was done. A policy finds it within its first hundred rollouts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from agentscope_tuner.verify.math.canonical import PRODUCT, SUM, Key, factors, is_plain, key, terms
from agentscope_tuner.verify.math.exact import Exact, Unknown
from agentscope_tuner.verify.math.node import (
    MARKS,
    RATIONAL_OPERATIONS,
    Collection,
    Node,
    Number,
    Relation,
    Symbol,
    Text,
    UndefinedCall,
)
from agentscope_tuner.verify.math.number import is_decimal
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.tree import walk

# a larger answer was not copied, and is not looked through
_MAX_NODES = 300


def restates(question: Question, answer: Node, reference: Node) -> bool:
    """Whether the answer is a formula of the question, arranged otherwise perhaps, that is not the reference's own.

    A plain value (`12`, `\\frac34`) that also stands in the question is an answer, except where the question asks to
    write a value otherwise.
    """
    same = {key(part) for part in (reference, _value(reference))}
    formulas = question.formulas
    if not formulas or key(answer) in same or key(_value(answer)) in same:
        return False
    plain_too = question.asks_to_rewrite
    return any(_is_copy(part, formulas, plain_too) for part in (answer, _value(answer)))


def _value(node: Node) -> Node:
    r"""What stands behind a name: the formula of `x = \sqrt{49}`."""
    match node:
        case Relation((Symbol() | UndefinedCall(), value), ("=",)):
            return value
    return node


def _is_copy(node: Node, formulas: dict[Key, Node], plain_too: bool) -> bool:
    if isinstance(node, Collection) and node.args:
        # a list of the question's formulas is one; values among them are what was asked for
        return (key(node) in formulas and plain_too) or all(_is_copy(a, formulas, False) for a in node.args)
    if isinstance(node, Relation) and set(node.operators) <= {"=", "~"} and len(node.args) > 2:
        return all(_is_copy(a, formulas, plain_too) for a in node.args)
    if is_plain(node):
        return plain_too and key(node) in formulas and not isinstance(node, (Symbol, Text)) and not _is_whole(node)
    return key(node) in formulas or _in_disguise(node, formulas)


def _is_whole(node: Node) -> bool:
    return isinstance(node, Number) and node.value.denominator == 1 and not is_decimal(node)


def _in_disguise(node: Node, formulas: dict[Key, Node]) -> bool:
    r"""Whether a formula of the question, unfinished, is a part of the answer that has the whole answer's value."""
    parts = list(walk(node))
    if len(parts) > _MAX_NODES:
        return False
    value = _exact(node)
    unfinished = {k: f for k, f in formulas.items() if not is_plain(f) and not isinstance(f, Collection)}
    if value is None:
        return any(isinstance(n, MARKS) and key(n.inside) in unfinished for n in parts)
    for part in parts:
        found = unfinished.get(key(part))
        if found is not None and _exact(part) == value:
            return True
    return any(_exact(formula) == value for formula in _contained(parts, unfinished))


def _contained(parts: list[Node], formulas: dict[Key, Node]) -> Iterator[Node]:
    """The sums and products of the question whose terms or factors all stand in one sum or product of the answer."""
    for read, kind in ((terms, SUM), (factors, PRODUCT)):
        inside = [read(part) for part in parts if isinstance(part, RATIONAL_OPERATIONS)]
        for known, formula in formulas.items():
            if known[0] == kind and any(_within(read(formula), whole) for whole in inside):
                yield formula


def _within(part: Counter[Key], whole: Counter[Key]) -> bool:
    return all(whole[one] >= count for one, count in part.items())


def _exact(node: Node) -> Fraction | None:
    try:
        return Exact("copied").value(node)
    except Unknown:
        return None
