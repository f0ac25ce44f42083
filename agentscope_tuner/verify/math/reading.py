"""Readings: the values that an answer or a reference states, by kind.

A `Value` is a single value. `Solutions` are solved values: named, listed, an interval or a family. A `Statement` is not
solved yet. A `Wording` is not mathematics. A statement must not be taken for its solution by accident. So `compare` has
an explicit rule for each pair of kinds that may be equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentscope_tuner.verify.math.family import ParameterRange
from agentscope_tuner.verify.math.node import Array, Node


@dataclass(frozen=True, slots=True)
class Value:
    """An expression: a number, a formula, a quantity with its unit."""

    node: Node


@dataclass(frozen=True, slots=True)
class Chain:
    """`84/2 = 42`, `\\sqrt2 \\approx 1.41`: every member must agree with the other side.

    The `exact` members must be equal. The `rough` members, which follow an approximation sign, must be close.
    """

    exact: tuple[Reading, ...]
    rough: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Ratio:
    """`3:4`, or a time of day: the parts between the colons, as written."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix, or a definition by cases."""

    rows: tuple[tuple[Reading, ...], ...]
    node: Array


@dataclass(frozen=True, slots=True)
class Named:
    """`x = …`, `f(x) = …`, `x \\in …`: a name alone on one side, its value on the other; `node` is the relation."""

    name: Node
    value: Reading
    node: Node


@dataclass(frozen=True, slots=True)
class Listing:
    """Several readings. In a `list` and a `set` the order is free; a `named` listing is `x = 1, y = 2`."""

    kind: Literal["list", "set", "tuple", "named"]
    items: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A set of real numbers given by its ends: an interval, a union, `x > 2`; `name` is the unknown, if it is named."""

    node: Node
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """`k\\pi, k \\in \\mathbb{Z}`: the values of a body for each parameter value in a field, or under a condition."""

    body: Reading
    range: ParameterRange


@dataclass(frozen=True, slots=True)
class Statement:
    """One or more equations or inequalities that are not solved."""

    node: Node


@dataclass(frozen=True, slots=True)
class Wording:
    """Words that are not mathematics."""

    text: str


Solutions = Named | Listing | Region | Family
Reading = Value | Chain | Ratio | Grid | Solutions | Statement | Wording
