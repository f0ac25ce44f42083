"""The meaning of a mathematical text: a tree of nodes, of the same kinds for answers and references.

Each kind of node is a class with its own fields. Every node gives its operands as `args`, so that one function can walk
any tree. `with_args` makes the same node with other operands.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import is_not
from typing import TYPE_CHECKING, Literal, TypeGuard, TypeVar

from agentscope_tuner.verify import re
from agentscope_tuner.verify.math.tokens import Unreadable

T = TypeVar("T")


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
    args = ()


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
    """Words that are no formula: `Tuesday`."""

    words: str


@dataclass(frozen=True, slots=True)
class Sum(Node):
    """A sum of terms. A subtracted term is a `Negation`: `a - b` is the sum of a and -b."""

    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Product(Node):
    """A product of factors, with or without an operator between them: `2x`."""

    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Quotient(Node):
    r"""A division or a fraction: `a / b`, `\frac{a}{b}`."""

    above: Node
    below: Node

    @property
    def args(self) -> tuple[Node, ...]:
        return self.above, self.below


@dataclass(frozen=True, slots=True)
class Power(Node):
    r"""A power: `x^2`. A root is one, too: `\sqrt{x}` has the exponent 1/2."""

    base: Node
    exponent: Node

    @property
    def args(self) -> tuple[Node, ...]:
        return self.base, self.exponent


@dataclass(frozen=True, slots=True)
class Signed(Node):
    """The base of nodes that mark one operand: with a minus sign, a percent sign, a degree sign or a unit."""

    inside: Node

    @property
    def args(self) -> tuple[Node, ...]:
        return (self.inside,)


@dataclass(frozen=True, slots=True)
class Negation(Signed):
    """A term with a minus sign before it: `-x`."""


@dataclass(frozen=True, slots=True)
class PlusMinus(Node):
    r"""A plus-minus sign with one operand, `\pm 2`, or two, `1 \pm 2`; `plus_first` is false for `\mp`."""

    args: tuple[Node, ...]
    plus_first: bool


@dataclass(frozen=True, slots=True)
class Apply(Node):
    r"""A known function with its arguments, by its canonical name: `arctan` for `\arctg x`, `abs` for `|x|`."""

    function: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class UndefinedCall(Node):
    """A function that is not known in general, and named only in the text: `f(x)`."""

    function: str
    args: tuple[Node, ...]


BigSign = Literal["sum", "prod", "int", "lim"]


@dataclass(frozen=True, slots=True)
class BigOperator(Node):
    r"""A sum, product, integral or limit that is not evaluated: `\sum_{k=1}^n k`. The bounds have the text's order."""

    sign: BigSign
    body: Node
    bounds: tuple[Node, ...]

    @property
    def args(self) -> tuple[Node, ...]:
        return self.body, *self.bounds


@dataclass(frozen=True, slots=True)
class Relation(Node):
    """One relation or a chain of them. `0 < x <= 1` has the operands 0, x and 1, and the operators `<` and `<=`.

    Operators have canonical names: `=`, `<=`, `in`.
    """

    args: tuple[Node, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Connective(Node):
    """Statements joined by `and` or `or`, as in `x = 1 or x = 2`, or one statement that `not` denies."""

    operator: Literal["and", "or", "not"]
    args: tuple[Node, ...]


CollectionKind = Literal["list", "tuple", "set", "ratio"]


@dataclass(frozen=True, slots=True)
class Collection(Node):
    r"""Several members: `1, 2` is a `list`, `(1, 2)` a `tuple`, `\{1, 2\}` a `set`.

    A `ratio` is only the name of a value: the left side of `x : y = 3 : 4`.
    """

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
    """An interval: its two ends, and whether each end belongs to it, as 0 does to `[0, 1)`."""

    low: Node
    high: Node
    low_in: bool
    high_in: bool

    @property
    def args(self) -> tuple[Node, ...]:
        return self.low, self.high


@dataclass(frozen=True, slots=True)
class SetOperation(Node):
    r"""A union, an intersection or a difference of sets: `A \cup B`. A difference has two operands."""

    operator: Literal["union", "intersection", "difference"]
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Array(Node):
    """A matrix or a definition by cases, by its rows. The rows of a matrix have one length."""

    kind: Literal["matrix", "cases"]
    rows: tuple[tuple[Node, ...], ...]

    @property
    def args(self) -> tuple[Node, ...]:
        return tuple(cell for row in self.rows for cell in row)


@dataclass(frozen=True, slots=True)
class Percent(Signed):
    """An amount with a percent sign: `5%`."""


@dataclass(frozen=True, slots=True)
class Degrees(Signed):
    """An amount with a degree sign: `90°`."""


# The names of units, each with its power, sorted by name
Unit = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Quantity(Signed):
    """An amount with a unit: `5 km`."""

    unit: Unit


# The nodes that give a number a percent sign, a degree sign or a unit
MARKS = (Percent, Degrees, Quantity)
# The nodes of the four operations of rational arithmetic
RATIONAL_OPERATIONS = (Sum, Product, Quotient, Negation)
# The nodes of a polynomial or a rational expression, except powers
RATIONAL = (Number, Symbol, *RATIONAL_OPERATIONS)


PI, INFINITY, E = Symbol("\\pi"), Symbol("\\infty"), Symbol("e")
EMPTY_SET = Collection("set", ())
CONSTANTS = frozenset({"i", "e", "\\pi", "\\infty"})


def number(value: Fraction | int) -> Number:
    """A number node that does not come from a text, so it has no spelling."""
    return Number(Fraction(value))


def product_of(factors: tuple[Node, ...]) -> Node:
    """The product of the factors, or the factor itself if there is only one."""
    return factors[0] if len(factors) == 1 else Product(factors)


def difference(left: Node, right: Node) -> Sum:
    """The node of `left - right`."""
    return Sum((left, Negation(right)))


def equation(left: Node, right: Node) -> Relation:
    """The node of `left = right`."""
    return Relation((left, right), ("=",))


def is_relation(node: Node, *operators: str) -> bool:
    """Whether the node is a relation with exactly these operators, in this order: `<` and `<=` for `0 < x <= 1`."""
    return isinstance(node, Relation) and node.operators == operators


def is_equation(node: Node) -> bool:
    """Whether the node is an equation with two sides, `x = 2`, and no longer chain."""
    return isinstance(node, Relation) and node.operators == ("=",)


def is_collection(node: Node, *kinds: CollectionKind) -> bool:
    """Whether the node is a collection of one of these kinds, such as a `tuple`."""
    return isinstance(node, Collection) and node.kind in kinds


def is_joined(node: Node, *operators: Literal["and", "or", "not"]) -> bool:
    """Whether the node is a statement with one of these words: `x = 1 or x = 2` with `or`."""
    return isinstance(node, Connective) and node.operator in operators


def is_applied(node: Node, *functions: str) -> bool:
    r"""Whether the node applies one of these functions, given by canonical names: `\sin x` applies `sin`."""
    return isinstance(node, Apply) and node.function in functions


def is_symbol(node: Node, *names: str) -> bool:
    """Whether the node is a symbol with one of these names."""
    return isinstance(node, Symbol) and node.name in names


def is_matrix(node: Node) -> bool:
    """Whether the node is a matrix written with its entries, not an expression with a matrix value."""
    return isinstance(node, Array) and node.kind == "matrix"


def value_of(node: Node) -> Fraction | None:
    """The value of a single `Number` node; None for any other node, also for `-2` (see `literal`)."""
    return node.value if isinstance(node, Number) else None


# For each sign of an inequality the one after swapping the sides: `a < b` is `b > a`
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def with_args(node: Node, args: tuple[Node, ...]) -> Node:
    """The node with other operands, and the same kind and other fields; the number of operands must stay the same."""
    match node:
        case Sum() | Product() | PlusMinus() | Apply() | UndefinedCall():
            return replace(node, args=args)
        case Relation() | Connective() | Collection() | SetOperation():
            return replace(node, args=args)
        case Quotient() | Power() | SetBuilder():
            return type(node)(*args)
        case Negation() | Percent() | Degrees() | Quantity():
            return replace(node, inside=args[0])
        case BigOperator():
            return replace(node, body=args[0], bounds=args[1:])
        case Interval():
            return replace(node, low=args[0], high=args[1])
        case Array():
            cells = iter(args)
            return replace(node, rows=tuple(tuple(next(cells) for _ in row) for row in node.rows))
    return node


def mapped(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with each of its operands replaced by what `change` gives for it; deeper nodes are not visited."""
    args = tuple(map(change, node.args))
    return with_args(node, args) if any(map(is_not, args, node.args)) else node


def unsigned(node: Node) -> Node:
    """The node without the minus signs before it: x for `-x`."""
    while isinstance(node, Negation):
        node = node.inside
    return node


def all_known(found: Iterable[T | None]) -> list[T] | None:
    """All values as a list, or None if one of them is None. Values after the first None are not computed."""
    known: list[T] = []
    for one in found:
        if one is None:
            return None
        known.append(one)
    return known


def walk(node: Node) -> list[Node]:
    """Every node of the tree, parents first."""
    found = [node]
    for one in found:
        found += one.args
    return found


def symbols(node: Node) -> frozenset[str]:
    r"""The names of all symbols in the tree: x and k for `x + \sum_{k=1}^3 k`.

    Constants such as `\pi` and fields like `\mathbb{R}` are left out.
    """
    names = {n.name for n in walk(node) if type(n) is Symbol}
    return frozenset(one for one in names - CONSTANTS if one[:7] != "\\mathbb")


def types_in(node: Node) -> set[type[Node]]:
    """The classes of all nodes in the tree, for a fast check whether it has a node of some class."""
    return {*map(type, walk(node))}


def substituted(node: Node, old: Node | str, new: Node) -> Node:
    """The tree with every occurrence of `old`, a node or the name of a symbol, replaced by `new`."""
    old = Symbol(old) if isinstance(old, str) else old
    if node == old:
        return new
    return mapped(node, lambda one: substituted(one, old, new))


def renamed(node: Node, old: str, new: str) -> Node:
    """The tree with every symbol named `old` renamed to `new`."""
    return substituted(node, old, Symbol(new))


class Outcome(enum.Enum):
    """The verdict of one stage of a comparison; UNKNOWN leaves the decision to the next stage."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


EQUAL, DIFFERENT, UNKNOWN = Outcome.EQUAL, Outcome.DIFFERENT, Outcome.UNKNOWN


def all_of(outcomes: Sequence[Outcome]) -> Outcome:
    """EQUAL if all outcomes are equal, DIFFERENT if one of them is different, else UNKNOWN."""
    if DIFFERENT in outcomes:
        return DIFFERENT
    return UNKNOWN if UNKNOWN in outcomes else EQUAL


# An answer with at least this many decimals may be an exact value, rounded or cut
ROUNDED_DECIMALS = 6
# The largest relative difference between a value and its float printed in full
FLOAT_NOISE = Fraction(1, 10**12)
_MOST_NOISE = Fraction(1, 10**6)
# A float prints at most this many digits
_FLOAT_DIGITS = 17
_FLOAT_DECIMALS = 10
_MAX_PERIOD = 100
# A reference with this many significant digits may be the exact value, rounded
_ROUNDED_DIGITS = 3
_PLAIN = re.compile(r"([-+]?)(?:(?<=[-+])\s+)?(\d+(?:,\d{3})*)?(?:\.(\d*))?")
_SIGNS = (Negation, Percent, Quantity)


def plain_key(text: str) -> tuple[str, str, str] | None:
    """A key that equal plain numbers share: `-`, `1000` and `5` for `-1,000.50`. None for any other text.

    It is the minus sign if there is one, the whole digits and the decimals. The digits stay text, because converting a
    very long number to an integer takes long.
    """
    match = _PLAIN.fullmatch(text.strip())
    if match is None or not (match[2] or match[3]):
        return None
    whole = (match[2] or "").replace(",", "").lstrip("0")
    decimals = (match[3] or "").rstrip("0")
    sign = "-" if match[1] == "-" and (whole or decimals) else ""
    return sign, whole, decimals


def decimals(node: Node) -> int | None:
    r"""The number of decimals that the value of a written number has: 2 for `0.25`, and 3 for `12.5\%`, which is 0.125.

    None for a formula, such as `1/4`, and for decimals that repeat for ever.
    """
    if isinstance(node, _SIGNS):
        inside = decimals(node.inside)
        return inside if inside is None or not isinstance(node, Percent) else inside + 2
    if not isinstance(node, Number) or not node.text or node.text[-1] == ")":
        return None
    mantissa, _, exponent = node.text.lower().partition("e")
    return max(0, len(mantissa.partition(".")[2]) - int(exponent or 0))


def _significant(node: Node) -> int:
    """The number of significant digits of a written number: 2 for `0.050`. 0 for a formula, such as `1/4`."""
    while isinstance(node, _SIGNS):
        node = node.inside
    mantissa = node.text.lower().partition("e")[0] if isinstance(node, Number) else ""
    return len(mantissa.replace(".", "").lstrip("0"))


def _is_exact(node: Node) -> bool:
    r"""Whether the formula has no decimal number, so that its value was not rounded: `\sqrt{2}/3`, not `1.41/3`."""
    return not any(is_decimal(n) for n in walk(node))


def is_decimal(node: Node) -> bool:
    """Whether the node is a number written with a decimal point, `0.5`, whose decimals do not repeat for ever."""
    return isinstance(node, Number) and "." in node.text and node.text[-1] != ")"


def is_number(node: Node) -> bool:
    """Whether the node is a written number, `5`, perhaps with one minus sign, `-5`."""
    return type(node) is Number or (type(node) is Negation and type(node.inside) is Number)


def literal(node: Node) -> Fraction | None:
    """The value of written numbers, their fractions and sums: 7/3 for `2 1/3`. None for any other node."""
    match node:
        case Number(value):
            return value
        case Negation(inside):
            found = literal(inside)
            return None if found is None else -found
        case Quotient(above, below):
            top, bottom = literal(above), literal(below)
            return None if top is None or not bottom else top / bottom
        case Sum(terms):
            parts = all_known(map(literal, terms))
            return None if parts is None else sum(parts, Fraction(0))
    return None


def close(ref: Node, ref_value: Fraction, ans: Node, ans_value: Fraction) -> bool:
    """Whether two numbers are equal, perhaps after rounding: an answer `0.333333` is close to a reference `1/3`.

    docs/math_equivalence.md has the conventions on rounding.

    Args:
        ref: the reference as it is written, which shows the number of its decimals.
        ref_value: its exact value.
        ans: the answer as it is written.
        ans_value: its exact value.
    """
    if ref_value == ans_value:
        return True
    if isinstance(ref, Number) and ref.text[-1:] == ")":
        return False
    written, answered = scientific(ref), scientific(ans)
    if written is not None and answered is not None and written[1] == answered[1]:
        (mine, _), (theirs, _) = written, answered
        return close(mine, mine.value, theirs, theirs.value)
    ref_places, ans_places = decimals(ref), decimals(ans)
    if ref_places and _takes_rounded(ref, ref_places, ans, ans_places):
        return half_up(ans_value, ref_places) == ref_value
    return _rounded(ref_value, ans_places, ans_value) or (
        ref_places is not None and _rounded(ans_value, ref_places, ref_value)
    )


def is_root(node: Node) -> TypeGuard[Power]:
    r"""Whether the node is a power whose exponent is a fraction: `\sqrt{x}`, `x^{2/3}`."""
    return isinstance(node, Power) and (literal(node.exponent) or Fraction(1)).denominator > 1


def scientific(node: Node) -> tuple[Number, Fraction] | None:
    r"""The mantissa and the exponent of a number in scientific notation: 6.02 and 23 of `6.02\cdot 10^{23}`.

    None for any other node.
    """
    match node:
        case Product((Number() as mantissa, Power(Number(base), exponent))) if base == 10:
            power = literal(exponent)
            return None if power is None else (mantissa, power)
    return None


def _takes_rounded(ref: Node, ref_places: int, ans: Node, ans_places: int | None) -> bool:
    """Whether the reference may be the answer's value, rounded: the reference `3.14` for the answer `3.14159`.

    Args:
        ref: the reference, a decimal with `ref_places` decimals.
        ref_places: the number of decimals.
        ans: the answer.
        ans_places: the number of its decimals; None for a formula.
    """
    digits = _significant(ref)
    written = ref_places - 2 * any(isinstance(n, Percent) for n in walk(ref))
    if isinstance(ans, Degrees) or (isinstance(ref, Percent) and not isinstance(ans, Percent)):
        # A value converted to another unit must be exact: allowing rounding as well would accept wrong values
        return False
    if ans_places is None or ans_places == 0:
        return digits >= _ROUNDED_DIGITS and _is_exact(ans)
    return ans_places > ref_places and (digits >= _ROUNDED_DIGITS or (digits >= 2 and written >= 2))


def half_up(value: Fraction, places: int) -> Fraction:
    """The value rounded to `places` decimals. Halves are rounded away from zero: 5/2 to 3, and -5/2 to -3."""
    scaled = abs(value) * 10**places + Fraction(1, 2)
    whole = scaled.numerator // scaled.denominator
    return Fraction(whole if value >= 0 else -whole, 10**places)


def _rounded(exact: Fraction, places: int | None, written: Fraction) -> bool:
    """Whether `written` is the exact value rounded or cut: 0.333333 for 1/3. A printed float of it counts, too.

    Args:
        exact: the exact value.
        places: the number of decimals of the written value; too few decimals, or None, never count as rounded.
        written: the value of the written decimal.
    """
    if places is None or places < ROUNDED_DECIMALS:
        return False
    difference = abs(exact - written)
    printed = abs(written) * 10**places < 10**_FLOAT_DIGITS
    if places >= _FLOAT_DECIMALS and printed and difference <= min(FLOAT_NOISE * abs(exact), _MOST_NOISE):
        return True
    last = Fraction(1, 10**places)
    near = half_up(exact, places) == written or (difference < last and abs(written) < abs(exact))
    # With few significant digits the last place is too coarse to show that the value was computed
    return near and abs(written) * 10**places >= 1000


def continued(text: str) -> Fraction:
    """The value of a decimal before three dots: 1/3 for the `0.333` of `0.333…`.

    It must end in one digit written three times, or in a group of digits written twice.

    Raises:
        Unreadable: the decimals do not repeat.
    """
    decimals = text.partition(".")[2]
    if not 2 < len(decimals) <= _MAX_PERIOD:
        raise Unreadable("decimals that dots continue")
    one = len(set(decimals[-3:])) == 1
    sizes = (1,) if one else range(2, len(decimals) // 2 + 1)
    size = next((n for n in sizes if one or decimals[-n:] == decimals[-2 * n : -n]), 0)
    if not size:
        raise Unreadable("decimals that dots continue")
    return recurring(text, decimals[-size:])


def recurring(text: str, digits: str) -> Fraction:
    """The value of a decimal after which `digits` repeat for ever: 1/6 for `0.1` and the digits `6`.

    Raises:
        Unreadable: more repeating digits than the bound.
    """
    if len(digits) > _MAX_PERIOD:
        raise Unreadable(f"{len(digits)} digits that repeat")
    places = len(text.partition(".")[2])
    return Fraction(text) + Fraction(int(digits), (10 ** len(digits) - 1) * 10**places)


# Letters that usually mean whole numbers
COUNTING = frozenset({"n", "k", "m", "j", "l"})
TRIGONOMETRIC = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})


def needs_sympy(ref: Node, ans: Node) -> bool:
    """Whether sympy should compare two sides if nothing simpler decides.

    It should if a side has an integral, limit, sum or product, or if they may be equal for whole numbers only.
    """
    return any(isinstance(n, BigOperator) for side in (ref, ans) for n in walk(side)) or is_over_integers(ref, ans)


def is_over_integers(ref: Node, ans: Node) -> bool:
    r"""Whether two sides may be equal for whole numbers only, as `\cos n\pi` and `(-1)^n` are."""
    names = symbols(ref) | symbols(ans)
    return bool(names) and names <= COUNTING and any(_is_alternating(n) for side in (ref, ans) for n in walk(side))


def _is_alternating(node: Node) -> bool:
    r"""Whether the sign of the node may change from one whole number to the next, as for `(-1)^n` and `\cos n\pi`."""
    match node:
        case Power(Negation(), exponent):
            return bool(symbols(exponent))
        case Apply(function) if function in TRIGONOMETRIC and symbols(node):
            return PI in walk(node)
    return False


def is_endless(node: Node) -> bool:
    r"""Whether the node is a sum or a product of infinitely many terms: `\sum_{n=1}^\infty 1/n^2`."""
    return isinstance(node, BigOperator) and any(INFINITY in walk(bound) for bound in node.bounds)
