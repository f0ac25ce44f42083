"""Readings: the values that an answer or a reference states, by kind.

A `Value` is one value; `Solutions` are values that were found (named, listed, an interval, a family); a `Statement` is
still to be solved; a `Wording` is no mathematics. `compare` has a rule for each pair of kinds that may meet, so that a
statement never meets a solution by accident.
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
    """`84/2 = 42`, `\\sqrt2 \\approx 1.41`: members of which each must agree, the rough ones within a rounding."""

    exact: tuple[Reading, ...]
    rough: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Ratio:
    """`3:4`, or a time of day: the parts between the colons as they are written."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix, or the cases of a definition by pieces."""

    rows: tuple[tuple[Reading, ...], ...]
    node: Array


@dataclass(frozen=True, slots=True)
class Named:
    """`x = …`, `f(x) = …`, `x \\in …` with the name alone on one side."""

    name: Node
    value: Reading
    node: Node


@dataclass(frozen=True, slots=True)
class Listing:
    """Several readings. In a `list` and a `set` their order is free; `named` ones are `x = 1, y = 2`."""

    kind: Literal["list", "set", "tuple", "named"]
    items: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A set of real numbers given by its ends: an interval, a union, `x > 2`; `name` is the unknown, if it is said."""

    node: Node
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """`k\\pi, k \\in \\mathbb{Z}`: a body for every value of a parameter in a field, or under a condition."""

    body: Reading
    range: ParameterRange


@dataclass(frozen=True, slots=True)
class Statement:
    """An equation, an inequality or several of them, not solved."""

    node: Node


@dataclass(frozen=True, slots=True)
class Wording:
    """Words."""

    text: str


Solutions = Named | Listing | Region | Family
Reading = Value | Chain | Ratio | Grid | Solutions | Statement | Wording
