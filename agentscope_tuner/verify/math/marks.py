"""What percent and degree signs and bare logarithms mean, with one reading for each pair.

No answer may be equal to two references that differ. So a sign that one side leaves out has one meaning, which the bare
side and the question choose; the marked side never tries both.
"""

from __future__ import annotations

from agentscope_tuner.verify.math.node import RATIONAL_OPERATIONS, Degrees, Node, Number, Percent, Power, Symbol
from agentscope_tuner.verify.math.number import literal
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.tree import CONSTANTS, PI, is_applied, walk

Pair = tuple[Node, Node]


def meant(ref: Node, ans: Node, question: Question | None) -> Pair | None:
    """The two sides with a percent or degree sign taken off where the other side left it out; None if nothing fits."""
    match ref, ans:
        case (Percent(), Percent()) | (Degrees(), Degrees()):
            return _unmarked(ref), _unmarked(ans)
        case Percent(), _:
            worked_out = _is_worked_out(ref, ans, question, of_answer=False)
        case _, Percent() if question is not None and question.asks_fraction and not question.asks_percent:
            # a fraction or a decimal was to be given
            return None
        case _, Percent():
            worked_out = _is_worked_out(ans, ref, question, of_answer=True)
        case Degrees(), _:
            # radians are written with pi; any other bare number counts degrees
            worked_out = PI in walk(ans)
        case _, Degrees(inside) if PI in walk(inside):
            # degrees are not written in multiples of pi
            return None
        case _, Degrees():
            worked_out = question is not None and question.speaks_of_radians
        case _:
            return ref, ans
    if worked_out:
        return ref, ans
    if question is None and isinstance(ans, (Percent, Degrees)) and _is_small(ref) and literal(ref) != 0:
        # 0.5 is a part of one: `0.5\\%` is not meant, and `50\\%` is already 50; so is `30^\\circ` already 30
        return None
    return _unmarked(ref), _unmarked(ans)


def _unmarked(node: Node) -> Node:
    return node.inside if isinstance(node, (Percent, Degrees)) else node


def _is_worked_out(marked: Percent, bare: Node, question: Question | None, of_answer: bool) -> bool:
    """Whether the bare side is the value of the percentage (0.5 of `50\\%`), and not its number (50).

    An answer's percentage means its number where the question asks for one, or where there is no question; the
    reference is then no help, since two references would be met. A reference's percentage is met by both.
    """
    number = literal(marked.inside)
    if of_answer:
        return question is not None and not question.asks_percent
    if question is not None and question.asks_percent and number is not None and abs(number) < 1:
        return False
    return literal(bare) is None or _is_small(bare)


def _is_small(node: Node) -> bool:
    value = literal(node)
    return value is not None and abs(value) < 1


def is_bare_log(node: Node) -> bool:
    return is_applied(node, "log") and len(node.args) == 1


def log_bases(ref: Node, ans: Node, question: Question | None) -> tuple[int | None, ...]:
    r"""The bases (None: e) in which a bare `\log` may be read, the same on both sides; empty where it means nothing.

    Both are tried only where both sides are combinations of logarithms, which agree in one base alone only if they are
    the same answer; an answer's bare logarithm is read only where the reference has a logarithm or the question a base.
    """
    bare_ref, bare_ans = (any(map(is_bare_log, walk(side))) for side in (ref, ans))
    if not bare_ref and not bare_ans:
        return (None,)
    if question is not None and question.log_base is not None:
        return (question.log_base,)
    plain = is_log_sum(ref) and is_log_sum(ans)
    has_log = any(is_applied(n, "ln", "log") for n in walk(ans if bare_ref else ref))
    if bare_ref:
        natural = any(is_applied(n, "ln") for n in walk(ref))
        # where the answer has no logarithm, nothing is ambiguous on both sides
        return (None, 10) if plain and has_log and not natural else (None,)
    return (None,) if has_log and plain else ()


def is_log_sum(node: Node) -> bool:
    """Rational operations on logarithms of rational expressions: no constants, no other functions."""
    if is_applied(node, "log", "ln"):
        return all(map(_is_rational, node.args))
    if isinstance(node, RATIONAL_OPERATIONS):
        return all(map(is_log_sum, node.args))
    if isinstance(node, Power):
        return is_log_sum(node.base) and isinstance(node.exponent, Number)
    return _is_rational(node)


def _is_rational(node: Node) -> bool:
    return all(
        isinstance(n, (Number, *RATIONAL_OPERATIONS, Power))
        or is_applied(n, "abs")
        or (isinstance(n, Symbol) and n.name not in CONSTANTS)
        for n in walk(node)
    )
