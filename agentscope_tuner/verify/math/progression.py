r"""Endless progressions: `x \equiv 2 \pmod 7`, `x = 7k+2, k \in \mathbb{Z}` and `x \bmod 7 = 2`.

Two progressions are equal if their steps are equal up to the sign, and their members at 0 differ by a whole number of
steps.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from agentscope_tuner.verify.math.exact import Exact, Unknown, exact_value
from agentscope_tuner.verify.math.family import renamed
from agentscope_tuner.verify.math.node import (
    Apply,
    Negation,
    Node,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    Symbol,
)
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, Outcome
from agentscope_tuner.verify.math.reading import Family, Listing, Named, Reading, Statement, Value
from agentscope_tuner.verify.math.tables import INTEGERS
from agentscope_tuner.verify.math.tree import is_relation, number, symbols, with_args

_STEP = Symbol("step of a progression")
_COUNTING = frozenset({"n", "k", "m", "l", "j", "t", "q"})
_PARAMETERS = frozenset({"s", "r", "u", "\\lambda", "\\mu"})
_CONSTANTS = frozenset({"C", "c", "K"})
_SEEDS = ("progression", "another progression")
_LARGEST_EXPONENT = 10**18


class Progression(NamedTuple):
    """The values of `body` for all whole numbers in the place of `parameter`.

    Attributes:
        name: the unknown, if the text names it.
        is_said: whether the text states that the parameter is a whole number.
    """

    name: str | None
    body: Node
    parameter: str
    is_said: bool


def same_progression(ref: Reading, ans: Reading) -> Outcome | None:
    """Whether both are the same progression.

    None if a side is not a progression, or if neither side states that its parameter is a whole number.
    """
    mine, theirs = progression(ref), progression(ans)
    if mine is None or theirs is None or not (mine.is_said or theirs.is_said):
        return None
    if mine.name != theirs.name and None not in (mine.name, theirs.name):
        return DIFFERENT
    shifts: set[Fraction] = set()
    for seed in _SEEDS:
        left, right = _line(mine, seed), _line(theirs, seed)
        if left is None or right is None:
            return None
        if abs(left[0]) != abs(right[0]):
            return DIFFERENT
        shifts.add((left[1] - right[1]) / abs(left[0]))
    return EQUAL if len(shifts) == 1 and shifts.pop().denominator == 1 else DIFFERENT


def progression(reading: Reading) -> Progression | None:
    """The progression that the reading may state; None if it has no such form. The distances are not checked."""
    match reading:
        case Statement(Relation((Symbol(name), rest, modulus), ("=", "pmod"))):
            return Progression(name, Sum((rest, Product((modulus, _STEP)))), _STEP.name, True)
        case Statement(Relation((Apply("mod", (Symbol(name), modulus)), rest), ("=",))):
            return Progression(name, Sum((rest, Product((modulus, _STEP)))), _STEP.name, True)
        case Family(_, values) if values.field == INTEGERS and values.parameter is not None:
            unknown, body = _named(values.body)
            return Progression(unknown, body, values.parameter, True)
        case Named(Symbol(name), Value(body)):
            free = symbols(body)
            if len(free) == 1 and free <= _COUNTING and name not in free:
                return Progression(name, body, next(iter(free)), False)
    return None


def _named(body: Node) -> tuple[str | None, Node]:
    match body:
        case Relation((Symbol(name), value), ("=",)):
            return name, value
    return None, body


def _line(found: Progression, seed: str) -> tuple[Fraction, Fraction] | None:
    """The step and the member at 0; None if the first members are not at equal distances."""
    try:
        values = [Exact(seed).value(_at(found.body, found.parameter, at)) for at in (0, 1, 2)]
    except Unknown:
        return None
    step = values[1] - values[0]
    return (step, values[0]) if step and values[2] - values[1] == step else None


def _at(body: Node, parameter: str, at: int) -> Node:
    if isinstance(body, Symbol):
        return number(at) if body.name == parameter else body
    args = tuple(_at(a, parameter, at) for a in body.args)
    return with_args(body, args) if args else body


def residue(node: Node) -> Node | None:
    r"""The 2 of `17 \equiv 2 \pmod 5`: of two congruent numbers the one that is the remainder.

    None for any other node, and where both numbers or none is the remainder.
    """
    if not is_relation(node, "=", "pmod") or symbols(node):
        return None
    *members, modulus_node = node.args
    modulus = exact_value(modulus_node)
    if modulus is None or modulus.denominator != 1 or modulus < 2:
        return None
    found = [_remainder(member, int(modulus)) for member in members]
    if found[0] is None or found[0] != found[1]:
        return None
    least = [m for m in members if exact_value(m) == found[0]]
    return least[0] if len(least) == 1 else None


def _remainder(node: Node, modulus: int) -> int | None:
    """The remainder of a whole number, which may be a very large power; None for any other value."""
    match node:
        case Number(value):
            return int(value) % modulus if value.denominator == 1 else None
        case Negation(inside):
            found = _remainder(inside, modulus)
            return None if found is None else -found % modulus
        case Sum(args) | Product(args):
            total = int(isinstance(node, Product))
            for part in (_remainder(a, modulus) for a in args):
                if part is None:
                    return None
                total = total * part if isinstance(node, Product) else total + part
            return total % modulus
        case Power(base, exponent):
            below, times = _remainder(base, modulus), exact_value(exponent)
            if below is None or times is None or times.denominator != 1 or not 0 <= times <= _LARGEST_EXPONENT:
                return None
            return pow(below, int(times), modulus)
    known = exact_value(node)
    return int(known) % modulus if known is not None and known.denominator == 1 else None


def with_dummy_of(ref: Named, ans: Reading, letters: frozenset[str]) -> Reading:
    """The answer's value with its counting letter replaced by the reference's: the m of `n = 2^m` for `n = 2^k`."""
    match ref.value, ans:
        case Value(mine), Value(theirs):
            wanted, found = symbols(mine), symbols(theirs)
            dummies = _CONSTANTS if isinstance(mine, Symbol) and isinstance(theirs, Symbol) else _COUNTING
            counts = len(wanted) == len(found) == 1 and wanted | found <= dummies and wanted != found
            if counts and not (wanted | found) & (letters | symbols(ref.name)):
                return Value(renamed(theirs, next(iter(found)), next(iter(wanted))))
    return ans


def with_letter_of(ref: Reading, ans: Reading, letters: frozenset[str]) -> Reading:
    """A listing with its counting letter replaced by the reference's: `(k, k+1)` for `(n, n+1)`."""
    mine, theirs = _values(ref), _values(ans)
    if mine is None or theirs is None or not isinstance(ans, Listing):
        return ans
    wanted, found = (frozenset().union(*map(symbols, side)) for side in (mine, theirs))
    # `(a, 2a)` for `(a, b) = (t, 2t)` uses a name of the tuple itself
    own = _names(ref)
    known = wanted | (found - own)
    if (
        len(wanted) != 1
        or len(found) != 1
        or wanted == found
        or not known <= _COUNTING | _PARAMETERS
        or known & letters
    ):
        return ans
    (old,), (new,) = found, wanted
    return Listing(
        ans.kind, tuple(_with_value(i, renamed(v, old, new)) for i, v in zip(ans.items, theirs, strict=True))
    )


def _names(reading: Reading) -> frozenset[str]:
    """The symbols in the names of a listing's members."""
    items = reading.items if isinstance(reading, Listing) else ()
    return frozenset(n for item in items if isinstance(item, Named) for n in symbols(item.name))


def _with_value(item: Reading, value: Node) -> Reading:
    return Named(item.name, Value(value), item.node) if isinstance(item, Named) else Value(value)


def _values(reading: Reading) -> list[Node] | None:
    """The values of a listing's members, named or not; None for any other reading."""
    if not isinstance(reading, Listing):
        return None
    values = [i.value if isinstance(i, Named) else i for i in reading.items]
    nodes = [value.node for value in values if isinstance(value, Value)]
    return nodes if len(nodes) == len(values) else None
