"""The node that a pair of brackets and its contents form."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_tuner.verify.math.node import Apply, Collection, Interval, Node, Quotient
from agentscope_tuner.verify.math.text import Token, Unreadable
from agentscope_tuner.verify.math.tree import is_collection


def bracketed(opener: str, closer: str, inside: Node) -> Node:
    """A group, tuple, set, interval, floor or ceiling.

    Raises:
        Unreadable: the brackets do not match.
    """
    several = is_collection(inside, "list")
    items = inside.args if several else (inside,)
    if opener == "\\lfloor" or opener == "\\lceil":
        return Apply("floor" if opener == "\\lfloor" else "ceil", (inside,))
    if opener == "\\{" or (opener == "{" and several):
        return Collection("set", items)
    if opener + closer in ("[)", "(]") and len(items) != 2:
        raise Unreadable("brackets that do not match")
    if opener + closer in ("[)", "(]", "[]") and len(items) == 2:
        return Interval(*items, low_in=opener == "[", high_in=closer == "]")
    return Collection("tuple", items) if several or opener == "\\langle" else inside


def infix(name: str, above: Node, below: Node) -> Node:
    r"""The fraction or binomial that TeX's `{a \over b}` and `{a \choose b}` stand for."""
    return Quotient(above, below) if name == "\\over" else Apply("binom", (above, below))


def is_builder(tokens: Sequence[Token]) -> bool:
    """Whether these tokens, which follow an opening brace, hold a condition, as in `x | x > 0`."""
    depth = bars = 0
    for token in tokens:
        depth += (token.kind == "open") - (token.kind == "close")
        if depth < 0:
            break
        if depth == 0 and token.text in ("\\mid", ":"):
            return True
        bars += depth == 0 and token.text == "|"
    return bars % 2 == 1
