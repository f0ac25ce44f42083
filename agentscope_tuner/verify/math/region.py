"""Solved sets of real numbers as intervals that do not touch: two such sets are equal if all their ends are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from typing import NamedTuple

from agentscope_tuner.verify.math.names import conditions_of
from agentscope_tuner.verify.math.node import (
    Collection,
    Connective,
    Interval,
    Negation,
    Node,
    Product,
    Quotient,
    Relation,
    SetBuilder,
    SetOperation,
    Symbol,
    Text,
    UndefinedCall,
)
from agentscope_tuner.verify.math.number import literal
from agentscope_tuner.verify.math.tree import CONSTANTS, INFINITY, symbols, walk

_MAX_PIECES = 40
_MINUS_INFINITY = Negation(INFINITY)
# Compares two ends: -1, 0 or 1 if the first end is below, equal to or above the second
Order = Callable[[Node, Node], int]


class NotSolved(Exception):
    """The set is not given by its ends, or the comparer cannot order them."""


class Piece(NamedTuple):
    """An interval; `low_in` and `high_in` say whether it contains its ends. It never contains an infinite end."""

    low: Node
    low_in: bool
    high: Node
    high_in: bool


_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_LINE = Piece(_MINUS_INFINITY, False, INFINITY, False)


class Pieces:
    """Reads sets of real numbers as pieces; the caller gives the function that orders two finite ends."""

    def __init__(self, order: Order) -> None:
        self._order_of_finite = order

    def of(self, node: Node) -> list[Piece]:
        """The pieces of a solved set from left to right; no two of them touch.

        Raises:
            NotSolved: the node is not a solved set, or has too many pieces.
        """
        found = self._merged(self._read(node))
        if len(found) > _MAX_PIECES:
            raise NotSolved
        return found

    def order(self, left: Node, right: Node) -> int:
        sides = [_infinite(left), _infinite(right)]
        if any(sides) or left == right:
            return (sides[0] > sides[1]) - (sides[0] < sides[1])
        return self._order_of_finite(left, right)

    def _read(self, node: Node) -> list[Piece]:
        match node:
            case Relation():
                return self._relation(node)
            case Interval():
                return self._interval(node)
            case Collection("tuple", (low, high)):
                return self._interval(Interval(low, high, low_in=False, high_in=False))
            case SetOperation("union", args) | Connective("or", args) | Collection("list", args):
                return [p for a in args for p in self._read(a)]
            case SetOperation("intersection", args) | Connective("and", args):
                return self._common([self._read(a) for a in args])
            case SetOperation("difference", (whole, part)):
                return self._common([self._read(whole), self._outside(self._read(part))])
            case Connective("not", (denied,)):
                return self._outside(self._read(denied))
            case Collection("set", (SetBuilder() as builder,)):
                parts = conditions_of(builder)
                parts = (*parts, builder.element) if isinstance(builder.element, Relation) else parts
                return self._common([self._read(p) for p in parts])
            case Collection("set", args):
                return [Piece(self._end(a), True, a, True) for a in args]
            case Symbol("\\mathbb{R}"):
                return [_LINE]
        raise NotSolved

    def _end(self, node: Node) -> Node:
        if Symbol("i") in walk(node):
            raise NotSolved
        if symbols(node) or isinstance(node, (Collection, Relation, Text)):
            raise NotSolved
        return node

    def _interval(self, node: Interval) -> list[Piece]:
        low, high = self._end(node.low), self._end(node.high)
        piece = Piece(low, node.low_in and not _infinite(low), high, node.high_in and not _infinite(high))
        return [piece] if not self._empty(piece) else []

    def _relation(self, node: Relation) -> list[Piece]:
        if node.operators in (("in",), ("notin",)):
            inside = self._read(node.args[1])
            return inside if node.operators == ("in",) else self._outside(inside)
        found = [[_LINE]]
        for operator, left, right in zip(node.operators, node.args, node.args[1:], strict=False):
            found.append(self._half(operator, left, right))
        return self._common(found)

    def _half(self, name: str, left: Node, right: Node) -> list[Piece]:
        """The part of the line on which one relation between the unknown and an end holds."""
        if _has_unknown(right):
            left, right = right, left
            name = _SWAPPED.get(name, name)
        while isinstance(left, (Negation, Product)):
            left, right, name = self._divided(left, right, name)
        end = self._end(right)
        if name in ("=", "!="):
            point = Piece(end, True, end, True)
            return [point] if name == "=" else self._outside([point])
        if name[0] == "<":
            return (
                []
                if end == _MINUS_INFINITY
                else [Piece(_MINUS_INFINITY, False, end, name == "<=" and not _infinite(end))]
            )
        return [] if end == INFINITY else [Piece(end, name == ">=" and not _infinite(end), INFINITY, False)]

    def _divided(self, left: Negation | Product, right: Node, name: str) -> tuple[Node, Node, str]:
        """The sides and the sign of `-2x > 4`, divided by the sign or number before the unknown: `x < 4/-2`."""
        if isinstance(left, Negation):
            return left.inside, _negated(right), _SWAPPED.get(name, name)
        times, unknown = left.args
        value = literal(times)
        if not value:
            raise NotSolved
        if value < 0:
            return unknown, _negated(right) if _infinite(right) else Quotient(right, times), _SWAPPED.get(name, name)
        return unknown, right if _infinite(right) else Quotient(right, times), name

    def _outside(self, pieces: Sequence[Piece]) -> list[Piece]:
        found = [_LINE]
        for piece in pieces:
            left = Piece(_MINUS_INFINITY, False, piece.low, not piece.low_in and not _infinite(piece.low))
            right = Piece(piece.high, not piece.high_in and not _infinite(piece.high), INFINITY, False)
            found = self._common([found, [p for p in (left, right) if not self._empty(p)]])
        return found

    def _common(self, sets: Sequence[Sequence[Piece]]) -> list[Piece]:
        found = list(sets[0])
        for other in sets[1:]:
            found = [p for a in found for b in other if not self._empty(p := self._both(a, b))]
            if len(found) > _MAX_PIECES:
                raise NotSolved
        return found

    def _both(self, left: Piece, right: Piece) -> Piece:
        low, high = self.order(left.low, right.low), self.order(left.high, right.high)
        return Piece(
            left.low if low >= 0 else right.low,
            (low < 0 or left.low_in) and (low > 0 or right.low_in),
            left.high if high <= 0 else right.high,
            (high > 0 or left.high_in) and (high < 0 or right.high_in),
        )

    def _empty(self, piece: Piece) -> bool:
        found = self.order(piece.low, piece.high)
        return found > 0 or (found == 0 and not (piece.low_in and piece.high_in))

    def _merged(self, pieces: list[Piece]) -> list[Piece]:
        if len(pieces) > _MAX_PIECES:
            raise NotSolved
        found: list[Piece] = []
        for piece in sorted(pieces, key=cmp_to_key(self._by_low)):
            before = found[-1] if found else None
            if before is None or not self._touch(before, piece):
                found.append(piece)
                continue
            high = self.order(before.high, piece.high)
            taken = before.high_in if high > 0 else piece.high_in if high < 0 else before.high_in or piece.high_in
            found[-1] = Piece(before.low, before.low_in, before.high if high > 0 else piece.high, taken)
        return found

    def _by_low(self, left: Piece, right: Piece) -> int:
        return self.order(left.low, right.low) or right.low_in - left.low_in

    def _touch(self, left: Piece, right: Piece) -> bool:
        gap = self.order(left.high, right.low)
        return gap > 0 or (gap == 0 and (left.high_in or right.low_in))


def _infinite(node: Node) -> int:
    """1 for infinity, -1 for minus infinity, 0 for a finite end."""
    return 1 if node == INFINITY else -1 if node == _MINUS_INFINITY else 0


def _negated(node: Node) -> Node:
    return node.inside if isinstance(node, Negation) else Negation(node)


def _has_unknown(node: Node) -> bool:
    return any(isinstance(n, UndefinedCall) or (isinstance(n, Symbol) and n.name not in CONSTANTS) for n in walk(node))
