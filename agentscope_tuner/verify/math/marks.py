"""The meaning of percent signs, degree signs and logarithms without a base: one meaning for each pair.

No answer may be equal to two different references. So where one side has a sign and the other has not, the sign gets a
single meaning. The side without the sign, and the question, choose it; the two meanings are never both tried.
"""

from __future__ import annotations

from agentscope_tuner.verify.math.node import RATIONAL_OPERATIONS, Degrees, Node, Number, Percent, Power, Symbol
from agentscope_tuner.verify.math.number import literal
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.tree import CONSTANTS, PI, is_applied, walk

Pair = tuple[Node, Node]


def meant(ref: Node, ans: Node, question: Question | None) -> Pair | None:
    """The two sides, with a percent or degree sign removed if the other side left it out; None if it cannot fit."""
    match ref, ans:
        case (Percent(), Percent()) | (Degrees(), Degrees()):
            return _unmarked(ref), _unmarked(ans)
        case Percent(), _:
            worked_out = _is_worked_out(ref, ans, question, of_answer=False)
        case _, Percent() if question is not None and question.asks_fraction and not question.asks_percent:
            # The question asks for a fraction or a decimal, not for a percentage
            return None
        case _, Percent():
            worked_out = _is_worked_out(ans, ref, question, of_answer=True)
        case Degrees(), _:
            # A bare number counts degrees, unless it has pi: radians are written with pi
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
        # The reference 0.5 is a part of one, so `0.5\%` cannot be equal to it. `50\%` already means 50, `30^\circ`
        # already means 30: a second meaning would let one answer fit two references
        return None
    return _unmarked(ref), _unmarked(ans)


def _unmarked(node: Node) -> Node:
    return node.inside if isinstance(node, (Percent, Degrees)) else node


def _is_worked_out(marked: Percent, bare: Node, question: Question | None, of_answer: bool) -> bool:
    """Whether the bare side is the value of the percentage (0.5 for `50\\%`), not the number before the sign (50).

    The answer's percentage means its number if the question asks for a percentage, or if there is no question. The
    reference must not choose here: then `50\\%` would be equal to two references, 0.5 and 50. A reference's percentage
    may be answered either way.
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
    r"""The bases in which to read a `\log` without a base, the same base on both sides; None stands for e.

    Base 10 is tried after e only if both sides are combinations of logarithms: two such sides that agree in one base
    are the same answer. The result is empty if the answer's `\log` has no meaning: the question names no base, and the
    two sides are not both such combinations with a logarithm in the reference.
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
        # An answer without a logarithm cannot share the ambiguity: then the base is e alone
        return (None, 10) if plain and has_log and not natural else (None,)
    return (None,) if has_log and plain else ()


def is_log_sum(node: Node) -> bool:
    """Whether the node is made of rational operations on logarithms of rational expressions, and of nothing else."""
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
