"""The meaning of a mathematical text: a tree of nodes, of the same kinds for answers and references.

Each kind of node is a class with its own fields. Every node gives its operands as `args`, so that one function can walk
any tree. `tree.with_args` makes the same node with other operands.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal


class Node:
    """One operation with its operands, or a leaf: a number, a symbol, words."""

    __slots__ = ()

    if TYPE_CHECKING:
        # For type checkers only: `args` is a field of most kinds, and a real property would become its default
        @property
        def args(self) -> tuple[Node, ...]:
            """The operands in the order of the text."""


class Leaf(Node):
    """A node without operands."""

    __slots__ = ()

    @property
    def args(self) -> tuple[Node, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Number(Leaf):
    """A literal number; `text` is its spelling, which is empty for a number that does not come from a text."""

    value: Fraction
    text: str = ""


@dataclass(frozen=True, slots=True)
class Digits(Leaf):
    """A whole number written in a base: `1011_2`."""

    text: str
    base: Fraction


@dataclass(frozen=True, slots=True)
class Symbol(Leaf):
    r"""A letter, perhaps with an index, or a constant by its command: `x`, `a_1`, `\pi`, `\mathbb{R}`."""

    name: str


@dataclass(frozen=True, slots=True)
class Text(Leaf):
    """Words."""

    words: str


@dataclass(frozen=True, slots=True)
class Sum(Node):
    """A sum of terms; a subtracted term is a `Negation`."""

    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Product(Node):
    """A product of factors."""

    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Quotient(Node):
    """A division, or a fraction."""

    above: Node
    below: Node

    @property
    def args(self) -> tuple[Node, ...]:
        return self.above, self.below


@dataclass(frozen=True, slots=True)
class Power(Node):
    """A power; a root is a power with a fraction as its exponent."""

    base: Node
    exponent: Node

    @property
    def args(self) -> tuple[Node, ...]:
        return self.base, self.exponent


@dataclass(frozen=True, slots=True)
class Signed(Node):
    """An operand with a sign or a unit."""

    inside: Node

    @property
    def args(self) -> tuple[Node, ...]:
        return (self.inside,)


@dataclass(frozen=True, slots=True)
class Negation(Signed):
    """The minus sign before a term."""


@dataclass(frozen=True, slots=True)
class PlusMinus(Node):
    r"""`\pm` with one operand after it, or with one before and one after; `plus_first` is false for `\mp`."""

    args: tuple[Node, ...]
    plus_first: bool


@dataclass(frozen=True, slots=True)
class Apply(Node):
    """A known function, by its canonical name: `sin`, `log`, `abs`, `factorial`, `det`."""

    function: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class UndefinedCall(Node):
    """A function that only the text defines: `f(x)`."""

    function: str
    args: tuple[Node, ...]


BigSign = Literal["sum", "prod", "int", "lim"]


@dataclass(frozen=True, slots=True)
class BigOperator(Node):
    """A sum, product, integral or limit, not evaluated, with its bounds in the order of the text."""

    sign: BigSign
    body: Node
    bounds: tuple[Node, ...]

    @property
    def args(self) -> tuple[Node, ...]:
        return self.body, *self.bounds


@dataclass(frozen=True, slots=True)
class Relation(Node):
    """A chain of relations. Operators have canonical names (`=`, `<=`, `in`), and stand between the operands."""

    args: tuple[Node, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Connective(Node):
    """Statements joined by `and` or `or`, or one statement under `not`."""

    operator: Literal["and", "or", "not"]
    args: tuple[Node, ...]


CollectionKind = Literal["list", "tuple", "set", "ratio"]


@dataclass(frozen=True, slots=True)
class Collection(Node):
    """Several members. A `list` has no brackets; the members of a `ratio` have colons between them."""

    kind: CollectionKind
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class SetBuilder(Node):
    r"""The element and the condition of a set like `\{x \mid x > 0\}`."""

    element: Node
    condition: Node

    @property
    def args(self) -> tuple[Node, ...]:
        return self.element, self.condition


@dataclass(frozen=True, slots=True)
class Interval(Node):
    """An interval: its two ends, and whether each of them belongs to it."""

    low: Node
    high: Node
    low_in: bool
    high_in: bool

    @property
    def args(self) -> tuple[Node, ...]:
        return self.low, self.high


@dataclass(frozen=True, slots=True)
class SetOperation(Node):
    """A union, intersection or difference of sets; a difference has two operands."""

    operator: Literal["union", "intersection", "difference"]
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Array(Node):
    """The rows of a matrix, all of one length, or of a definition by cases."""

    kind: Literal["matrix", "cases"]
    rows: tuple[tuple[Node, ...], ...]

    @property
    def args(self) -> tuple[Node, ...]:
        return tuple(cell for row in self.rows for cell in row)


@dataclass(frozen=True, slots=True)
class Percent(Signed):
    """An amount with a percent sign."""


@dataclass(frozen=True, slots=True)
class Degrees(Signed):
    """An amount with a degree sign."""


# The names of units, each with its power, sorted by name
Unit = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Quantity(Signed):
    """An amount with a unit."""

    unit: Unit


# The nodes that mark how a number is measured: percent, degree, unit
MARKS = (Percent, Degrees, Quantity)
# The nodes of the four operations of rational arithmetic
RATIONAL_OPERATIONS = (Sum, Product, Quotient, Negation)
# The nodes of a polynomial or a rational expression, except powers
RATIONAL = (Number, Symbol, *RATIONAL_OPERATIONS)
