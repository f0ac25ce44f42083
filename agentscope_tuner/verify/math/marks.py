"""What percent and degree signs and bare logarithms mean, with one reading for each pair.

No answer may be equal to two references that differ. So a sign that one side leaves out has one meaning, which the bare
side and the question choose; the marked side never tries both.
"""

from __future__ import annotations

from agentscope_tuner.verify.math.node import CONSTANTS, Node, walk
from agentscope_tuner.verify.math.number import literal
from agentscope_tuner.verify.math.question import Question

Pair = tuple[Node, Node]


def meant(ref: Node, ans: Node, question: Question | None) -> Pair | None:
    """The two sides with a percent or degree sign taken off where the other side left it out; None if nothing fits."""
    if ref.head == ans.head:
        return (ref.args[0], ans.args[0]) if ref.head in ("percent", "deg") else (ref, ans)
    if "percent" in (ref.head, ans.head):
        marked, bare = (ref, ans) if ref.head == "percent" else (ans, ref)
        worked_out = _is_worked_out(marked, bare, question, of_answer=marked is ans)
    elif ref.head == "deg":
        # radians are written with pi; any other bare number counts degrees
        worked_out = any(n.head == "sym" and n.name == "\\pi" for n in walk(ans))
    elif ans.head == "deg":
        worked_out = question.speaks_of_radians if question is not None else _is_small(ref)
    else:
        return ref, ans
    if worked_out:
        return ref, ans
    if question is None and ans.head in ("percent", "deg") and _is_small(ref):
        # 0.5 is a part of one: `0.5\\%` is not meant, and `50\\%` is already 50
        return None
    return tuple(n.args[0] if n.head in ("percent", "deg") else n for n in (ref, ans))  # type: ignore[return-value]


def _is_worked_out(marked: Node, bare: Node, question: Question | None, of_answer: bool) -> bool:
    """Whether the bare side is the value of the percentage (0.5 of `50\\%`), and not its number (50).

    An answer's percentage means its number where the question asks for one, or where there is no question; the
    reference is then no help, since two references would be met. A reference's percentage is met by both.
    """
    number = literal(marked.args[0])
    if of_answer:
        return question is not None and not question.asks_percent
    if question is not None and question.asks_percent and number is not None and abs(number) < 1:
        return False
    return literal(bare) is None or _is_small(bare)


def _is_small(node: Node) -> bool:
    value = literal(node)
    return value is not None and abs(value) < 1


def is_bare_log(node: Node) -> bool:
    return node.head == "fn" and node.name == "log" and len(node.args) == 1


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
    if bare_ref:
        natural = any(n.head == "fn" and n.name == "ln" for n in walk(ref))
        return (None, 10) if plain and not natural else (None,)
    has_ln = any(n.head == "fn" and n.name == "ln" for n in walk(ref))
    return (None,) if has_ln and plain else ()


def is_log_sum(node: Node) -> bool:
    """Rational operations on logarithms of rational expressions: no constants, no other functions."""
    if node.head == "fn":
        return node.name in ("log", "ln") and all(_is_rational(a) for a in node.args)
    if node.head in ("add", "mul", "div", "neg"):
        return all(map(is_log_sum, node.args))
    if node.head == "pow":
        return is_log_sum(node.args[0]) and node.args[1].head == "num"
    return _is_rational(node)


def _is_rational(node: Node) -> bool:
    return all(
        n.head in ("num", "add", "mul", "div", "neg", "pow", "abs") or (n.head == "sym" and n.name not in CONSTANTS)
        for n in walk(node)
    )
