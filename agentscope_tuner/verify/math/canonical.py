"""One form for formulas that are written in several ways: keys that are equal for all arrangements, and simpler trees.

In a simpler tree plus-minus signs are chosen, fractions cleared, tuples computed, dots and congruences written out. Of
a sum with dots the last term gives the general term, if two or more first terms agree with it. A sum of plain numbers
is arithmetic: its terms have equal distances. Any other meaning of dots would be a guess, so such dots are left as they
are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import gcd

from agentscope_tuner.verify import re
from agentscope_tuner.verify.math.exact import exact_value, value_at
from agentscope_tuner.verify.math.node import (
    TURNED,
    Apply,
    Array,
    BigOperator,
    Collection,
    Connective,
    Digits,
    Interval,
    Negation,
    Node,
    Number,
    Percent,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Quotient,
    Relation,
    SetOperation,
    Sum,
    Symbol,
    Text,
    UndefinedCall,
    all_known,
    difference,
    equation,
    is_applied,
    is_collection,
    is_equation,
    is_matrix,
    literal,
    mapped,
    number,
    product_of,
    renamed,
    substituted,
    symbols,
    types_in,
    walk,
)
from agentscope_tuner.verify.math.tokens import TooComplex

Key = tuple[object, ...]
_ZERO: Key = ("number", 0)
_ONE: Key = ("number", 1)
SUM, PRODUCT, NEG = "sum", "product", "neg"
#: The factor that marks a negative product
MINUS: Key = ("minus",)
# Functions whose arguments may be in any order
_UNORDERED = frozenset({"gcd", "lcm", "max", "min"})
_MOST_REPEATS = 12


def key(node: Node) -> Key:
    """A key that two formulas share if they differ only in their arrangement, as `a + b` and `b + a`.

    Arrangement means the order of terms and factors, double minus signs, added zeros and factors of one. Nothing else
    is computed: `0.5` and `1/2` have different keys.
    """
    match node:
        case Number(value):
            return ("number", value)
        case Sum() | Negation():
            return _sum(node)
        case Product() | Quotient():
            return _product(node)
        case Power():
            return _product(node) if _divisor(node) or _repeats(node) else _power(node)
        case Apply(function, args) if function in _UNORDERED:
            members = args[0].args if len(args) == 1 and isinstance(args[0], Collection) else args
            return ("Apply", function, *_ordered(_members(function, members)))
        case Apply("abs", (inside,)):
            return ("Apply", "abs", _without_sign(_inside(inside)))
        case Apply():
            return (*_without_operands(node), *map(_inside, node.args))
        case BigOperator():
            return _big(node)
        case Relation((first, last), (operator,)):
            left, right = key(first), key(last)
            if operator in (">", ">="):
                return ("relation", TURNED[operator], right, left)
            return ("relation", operator, *(_ordered([left, right]) if operator in ("=", "!=") else (left, right)))
        case Collection("set") | Connective("and" | "or") | SetOperation("union" | "intersection"):
            return (*_without_operands(node), *_ordered(map(key, node.args)))
    return (*_without_operands(node), *map(key, node.args))


def _members(function: str, members: Sequence[Node]) -> set[Key]:
    """The keys of the different arguments of a function like `gcd`.

    Minus signs and zeros are left out if they do not change its value: `gcd(-4, 4, 0)` has the one argument 4.
    """
    keys = set(map(key, members))
    if function in ("gcd", "lcm"):
        keys = set(map(_without_sign, keys))
    return keys - {_ZERO} if function == "gcd" else keys


def _power(node: Power) -> Key:
    below, above = _inside(node.base), _inside(node.exponent)
    value = literal(node.exponent)
    if value is not None and value % 2 == 0:
        below = _without_sign(below)
    return below if above == _ONE else ("power", below, above)


def _inside(node: Node) -> Key:
    """The key of an operand of a function or a power. There `0.5` and `1/2` have the same key, unlike elsewhere."""
    value = literal(node)
    return key(node) if value is None or isinstance(node, Sum) else ("number", value)


def _divisor(node: Power) -> Node | None:
    """The divisor that a power with a negative exponent means: `x^2` for `x^{-2}`. None for any other power."""
    value = literal(node.exponent)
    if value is None or value >= 0:
        return None
    return node.base if value == -1 else Power(node.base, number(-value))


def _big(node: BigOperator) -> Key:
    r"""The key of a sum, product, limit or integral.

    The name of its running letter does not matter: `\sum_{i=1}^n i^2` and `\sum_{k=1}^n k^2` have the same key.
    """
    first = node.bounds[0].args[:1] if node.bounds and isinstance(node.bounds[0], Relation) else ()
    name = _differential(node.body) if node.sign == "int" else next(iter(first), None)
    if not isinstance(name, Symbol):
        return (*_without_operands(node), *map(key, node.args))
    depth = sum(isinstance(n, BigOperator) for n in walk(node))
    running = Symbol(f"running {depth}")
    return (*_without_operands(node), *(key(substituted(a, name, running)) for a in node.args))


def _differential(body: Node) -> Symbol | None:
    r"""The variable of an integral, given by its body: x for the `x^2 dx` of `\int x^2 dx`. None if no `dx` ends it."""
    while isinstance(body, (Sum, Quotient, Negation)):
        body = body.args[0] if isinstance(body, Quotient) else body.args[-1]
    match body:
        case Product((*_, Symbol("d"), Symbol() as name)):
            return name
    return None


def _without_operands(node: Node) -> Key:
    r"""The part of a key that does not depend on the operands: `("Apply", "sin")` for `\sin x`."""
    shape = map(len, node.rows) if isinstance(node, Array) else ()
    return (type(node).__name__, *(getattr(node, name) for name in _FIELDS.get(type(node), ())), *shape)


_FIELDS: dict[type[Node], tuple[str, ...]] = {
    Symbol: ("name",), Text: ("words",), Digits: ("text", "base"), Apply: ("function",), UndefinedCall: ("function",),
    PlusMinus: ("plus_first",), BigOperator: ("sign",), Relation: ("operators",), Connective: ("operator",),
    SetOperation: ("operator",), Collection: ("kind",), Interval: ("low_in", "high_in"), Quantity: ("unit",),
    Array: ("kind",),
}  # fmt: skip


def _ordered(keys: Iterable[Key]) -> list[Key]:
    return sorted(keys, key=repr)


def terms(node: Node) -> Counter[Key]:
    """The keys of a sum's terms with their counts: a twice and -b once for `a + a - b`.

    A formula that is no sum is its own only term.
    """
    found: Counter[Key] = Counter()
    for term, sign in _terms(node, 1):
        one = key(term)
        if one != _ZERO:
            found[one if sign > 0 else (NEG, one)] += 1
    return found


def _terms(node: Node, sign: int) -> Iterator[tuple[Node, int]]:
    """Each term of nested sums, with 1 or -1 for its sign; `sign` is that of `node` itself."""
    match node:
        case Sum(terms):
            for term in terms:
                yield from _terms(term, sign)
        case Negation(inside):
            yield from _terms(inside, -sign)
        case _:
            yield node, sign


def _sum(node: Node) -> Key:
    found = _ordered(list(terms(node).elements()))
    if not found:
        return _ZERO
    if len(found) == 1:
        return found[0]
    # Write `b-a` as the negative of `a-b`, so that a fraction with both signs changed has the same key
    plain = min(found, key=lambda term: repr(_without_sign(term)))
    if plain[0] != NEG:
        return (SUM, *found)
    return (NEG, (SUM, *_ordered([_negated(term) for term in found])))


def _without_sign(one: Key) -> Key:
    return one[1] if one[0] == NEG else one  # type: ignore[return-value]


def _negated(one: Key) -> Key:
    return _without_sign(one) if one[0] == NEG else (NEG, one)


def factors(node: Node) -> Counter[Key]:
    """The keys of a product's factors with their counts: x three times and the inverse of y once for `x^3/y`.

    A divisor is marked `inverse`. A negative product has `MINUS` as one more factor.
    """
    found: Counter[Key] = Counter()
    signs = 0
    for factor, below in _factors(node, False):
        times = _repeats(factor) or 1
        factor = factor.base if times > 1 and isinstance(factor, Power) else factor
        while isinstance(factor, Negation):
            signs += times
            factor = factor.inside
        one = _power(factor) if isinstance(factor, Power) and not _repeats(factor) else key(factor)
        if one[0] == NEG:
            signs, one = signs + times, _without_sign(one)
        if one != _ONE:
            found[("inverse", one) if below else one] += times
    if signs % 2:
        found[MINUS] += 1
    return found


def _repeats(node: Node) -> int | None:
    """The exponent of a power like `x^3`, if it is a whole number from 2 to `_MOST_REPEATS`; else None."""
    if not isinstance(node, Power):
        return None
    exponent = literal(node.exponent)
    whole = exponent is not None and exponent.denominator == 1 and 1 < exponent <= _MOST_REPEATS
    return int(exponent) if exponent is not None and whole else None


def _factors(node: Node, below: bool) -> Iterator[tuple[Node, bool]]:
    """Each factor of nested products and quotients, and whether it is a divisor; `below` says so for `node` itself."""
    match node:
        case Product(args):
            for arg in args:
                if isinstance(arg, Percent):
                    yield from _factors(Quotient(arg.inside, number(100)), below)
                else:
                    yield from _factors(arg, below)
        case Quotient(above, under):
            yield from _factors(above, below)
            yield from _factors(under, not below)
        case Power() if (divisor := _divisor(node)) is not None:
            yield from _factors(divisor, not below)
        case _:
            yield node, below


def _product(node: Node) -> Key:
    found = factors(node)
    negative = found.pop(MINUS, 0)
    # List each factor with its count: nested powers written out would be as long as the product of their exponents
    listed = _ordered(found.items())
    alone = found.total() == 1 and listed[0][0][0] != "inverse"  # type: ignore[index]
    one: Key = _ONE if not listed else next(iter(found)) if alone else (PRODUCT, *listed)
    return (NEG, one) if negative else one


Denominators = Counter[Key]
_MAX_POWER, _MAX_ABS = 12, 3
_HALF = Fraction(1, 2)


def cleared(node: Node) -> Node:
    """The expression times the least common multiple of its denominators: `y - 1/x` becomes `xy - 1`."""
    known: dict[Key, Node] = {}
    return _fraction_cleared(node, known)[0]


def _fraction_cleared(node: Node, known: dict[Key, Node]) -> tuple[Node, Denominators]:
    match node:
        case Negation(inside):
            above, below = _fraction_cleared(inside, known)
            return Negation(above), below
        case Sum(terms):
            return _sum_cleared([_fraction_cleared(a, known) for a in terms], known)
        case Product(factors):
            parts = [_fraction_cleared(a, known) for a in factors]
            return Product(tuple(a for a, _ in parts)), sum((b for _, b in parts), Counter())
        case Quotient(upper, lower) if symbols(lower):
            above, below = _fraction_cleared(upper, known)
            turned_above, turned_below = _fraction_cleared(lower, known)
            one = key(turned_above)
            known[one] = turned_above
            factor = _product_cleared(turned_below, known)
            return Product((above, factor)), below + Counter({one: 1})
    return node, Counter()


def _sum_cleared(parts: list[tuple[Node, Denominators]], known: dict[Key, Node]) -> tuple[Node, Denominators]:
    common: Denominators = Counter()
    for _, below in parts:
        common |= below
    if sum(common.values()) > _MAX_POWER:
        return Sum(tuple(Quotient(a, _product_cleared(b, known)) for a, b in parts)), Counter()
    terms = tuple(Product((above, _product_cleared(common - below, known))) for above, below in parts)
    return Sum(terms), common


def _product_cleared(below: Denominators, known: dict[Key, Node]) -> Node:
    factors = tuple(known[one] for one in below.elements())
    return product_of(factors) if factors else number(1)


def equations_as_product(node: Node) -> Node:
    r"""A statement as a single equation without `or`, absolute values and roots; any other node as it is.

    `x = y or x = -y` and `|x| = |y|` become `(x-y)(x+y) = 0`. A square root equal to a positive number is squared:
    `\sqrt{x} = 3` becomes `x = 3 \cdot 3`.
    """
    match node:
        case Connective("or", parts) if parts and all(map(is_equation, parts)):
            return equation(Product(tuple(difference(*a.args) for a in parts)), number(0))
        case Relation((Apply("abs", (left,)), Apply("abs", (right,))), ("=",)):
            return equation(Product((difference(left, right), Sum((left, right)))), number(0))
        case Relation((first, last), ("=",)):
            for root, value in ((first, last), (last, first)):
                if isinstance(root, Power) and literal(root.exponent) == _HALF and (literal(value) or 0) > 0:
                    return equation(root.base, Product((value, value)))
    return node


def without_absolutes(node: Node, name: str) -> Iterator[Node]:
    """The expression with its absolute values opened, for every choice of signs; then the inside of each of them.

    `|x| + 1` gives `1x + 1`, `-1x + 1` and `x`. An absolute value without the symbol `name` stays as it is.

    Raises:
        TooComplex: more absolute values than the bound.
    """
    inside = [n for n in walk(node) if is_applied(n, "abs") and name in symbols(n)]
    if len(inside) > _MAX_ABS:
        raise TooComplex("too many absolute values")
    for signs in product((1, -1), repeat=len(inside)):
        yield _opened(node, dict(zip(inside, signs, strict=True)))
    for absolute in inside:
        yield absolute.args[0]


def _opened(node: Node, signs: dict[Node, int]) -> Node:
    """The tree with each absolute value in `signs` replaced by its inside times 1 or -1."""
    if node in signs:
        return Product((number(signs[node]), _opened(node.args[0], signs)))
    return mapped(node, lambda one: _opened(one, signs))


def is_signed(node: Node) -> bool:
    r"""Whether the tree has a plus-minus sign: `1 \pm x`."""
    return PlusMinus in types_in(node)


def choose(node: Node, sign: int) -> Node:
    r"""The tree with every `\pm` read as plus if `sign` is 1, as minus if it is -1, and every `\mp` as the opposite."""
    if isinstance(node, PlusMinus):
        args = tuple(choose(a, sign) for a in node.args)
        positive = (sign > 0) == node.plus_first
        last = args[-1] if positive else Negation(args[-1])
        return last if len(args) == 1 else Sum((args[0], last))
    return mapped(node, lambda one: choose(one, sign))


def both_signs(node: Node) -> Node:
    r"""`x = 2 or x = -2` for `x = \pm 2`; any other node, also one with a plus-minus that is no relation, unchanged."""
    if isinstance(node, Relation) and is_signed(node):
        return Connective("or", (choose(node, 1), choose(node, -1)))
    return node


def negated(node: Node) -> Node:
    """`(-2, -3)` for `-(2, 3)`, also inside a collection; any other node as it is."""
    if isinstance(node, Negation) and is_collection(node.inside, "tuple"):
        return Collection("tuple", tuple(map(Negation, node.inside.args)))
    return mapped(node, negated) if isinstance(node, Collection) else node


def componentwise(node: Node) -> Node:
    """The node with sums and multiples of tuples as one tuple: `(1 + 3t, 2 + 4t)` for `(1, 2) + t(3, 4)`.

    A number times a tuple is computed, too. Left as they are: other sums and products without a symbol, tuples of
    different lengths, and a point with its name, `V(3, -4)`.
    """
    args = node.args
    if is_named_tuple(node):
        return node
    scaled = isinstance(node, Product) and len(args) == 2 and literal(args[0]) is not None
    if isinstance(node, (Sum, Product)) and any(map(_holds_tuple, args)) and (symbols(node) or scaled):
        found = _tuple_of(node)
        return node if found is None else Collection("tuple", found)
    if isinstance(node, (Sum, Product)) or not args or not any(map(_holds_tuple, args)):
        return node
    return mapped(node, componentwise)


# The name of a point
POINT = re.compile(r"[A-Z](?:_\d)?'*")


def is_named_tuple(node: Node) -> bool:
    """Whether a product is in truth a point with its name, `V(3, -4)`, or the span of vectors."""
    match node:
        case Product((Symbol("span" | "Span"), _)):
            return True
        case Product((Symbol(name), Collection("tuple", (_, _, *_)) as point)):
            return POINT.fullmatch(name) is not None and not symbols(point)
    return False


def _holds_tuple(node: Node) -> bool:
    """Whether the node is a tuple or a column, or a sum or product that has one."""
    return components(node) is not None or (
        isinstance(node, (Sum, Product, Negation)) and any(map(_holds_tuple, node.args))
    )


def components(node: Node) -> tuple[Node, ...] | None:
    """The components of a tuple with two or more of them, `(1, 2)`, or of a column. None for any other node."""
    if is_collection(node, "tuple") and len(node.args) > 1:
        return node.args
    if isinstance(node, Array) and is_matrix(node) and len(node.rows) > 1 and all(len(row) == 1 for row in node.rows):
        return node.args
    return None


def _tuple_of(node: Node) -> tuple[Node, ...] | None:
    """The components of a sum or multiple of tuples, `(2, 4)` for `2(1, 2)`, unsimplified; None if they do not fit."""
    if (members := components(node)) is not None:
        return members
    match node:
        case Negation(inside):
            found = _tuple_of(inside)
            return None if found is None else tuple(map(Negation, found))
        case Product(args):
            vectors = [a for a in args if _holds_tuple(a)]
            scalars = tuple(a for a in args if not _holds_tuple(a))
            found = _tuple_of(vectors[0]) if len(vectors) == 1 and scalars else None
            return None if found is None else tuple(product_of((*scalars, one)) for one in found)
        case Sum(args):
            parts = all_known(map(_tuple_of, args))
            if parts is None or len(set(map(len, parts))) != 1:
                return None
            return tuple(Sum(column) for column in zip(*parts, strict=True))
    return None


ELLIPSIS = Symbol("\\ldots")
_INDEX = "index of a sum"
_STARTS = (1, 0, 2, 3)


def written_out(node: Node) -> Node:
    r"""The tree with each sum or product that has dots rewritten: `\sum_{k=1}^n k^2` for `1^2 + 2^2 + \ldots + n^2`.

    Dots whose meaning is not clear are left as they are.
    """
    if ELLIPSIS not in walk(node):
        return node
    node = mapped(node, written_out)
    if isinstance(node, (Sum, Product)) and node.args.count(ELLIPSIS) == 1 and node.args[-2:-1] == (ELLIPSIS,):
        found = _without_dots(node.args[:-2], node.args[-1], isinstance(node, Sum))
        return node if found is None else found
    return node


def _without_dots(first: tuple[Node, ...], last: Node, is_sum: bool) -> Node | None:
    r"""A sum or product with dots as one node without them; None if it is not clear what the dots mean.

    `1 + 2 + \ldots + n` becomes the sum of k for k from 1 to n, and `1 + 2 + \ldots + 10` becomes 10·(1 + 10)/2.

    Args:
        first: the terms before the dots.
        last: the term behind them.
        is_sum: whether it is a sum.
    """
    if len(first) < 2:
        return None
    if not symbols(last):
        return _of_numbers(first, last) if is_sum else None
    inside = frozenset().union(*map(symbols, first))
    for name in sorted(symbols(last) - inside):
        for start in _STARTS:
            if all(is_same_formula(substituted(last, name, number(start + at)), term) for at, term in enumerate(first)):
                body = renamed(last, name, _INDEX)
                return BigOperator(
                    "sum" if is_sum else "prod", body, (equation(Symbol(_INDEX), number(start)), Symbol(name))
                )
    return None


def is_same_formula(left: Node, right: Node) -> bool:
    """Whether two formulas have equal exact values at two random points, as `(x+1)^2` and `x^2+2x+1` have."""
    apart = difference(left, right)
    return all(value_at(seed, apart) == 0 for seed in ("term", "another term"))


def _of_numbers(first: tuple[Node, ...], last_node: Node) -> Node | None:
    r"""An arithmetic sum of numbers as count times mean: `1 + 2 + \ldots + 10` as 10·(1 + 10)/2. None for another."""
    values = all_known(map(exact_value, (*first, last_node)))
    if values is None:
        return None
    *terms, last = values
    steps = {b - a for a, b in pairwise(terms)}
    if len(steps) == 1 and (step := steps.pop()):
        count = (last - terms[0]) / step + 1
        mean = Quotient(Sum((first[0], last_node)), number(2))
        return Product((number(count), mean)) if count.denominator == 1 and count > len(terms) else None
    return None


def residue(node: Node) -> Node | None:
    r"""The remainder in a congruence of numbers: the 2 of `17 \equiv 2 \pmod 5`.

    None for any other node, and if it is not clear which of the numbers is the remainder.
    """
    if not isinstance(node, Relation) or node.operators[-1:] != ("pmod",) or symbols(node):
        return None
    if set(node.operators[:-1]) != {"="}:
        return None
    *members, modulus_node = node.args
    modulus = exact_value(modulus_node)
    if modulus is None or modulus.denominator != 1 or modulus < 2:
        return None
    values = all_known(map(exact_value, members))
    if values is None or any(gcd(value.denominator, modulus.numerator) > 1 for value in values):
        return None
    found = {value.numerator * pow(value.denominator, -1, modulus.numerator) % modulus for value in values}
    if len(found) > 1:
        return None
    least = [m for m, value in zip(members, values, strict=True) if value in found]
    # `2^{2024} \\equiv 2^4 \\equiv 16`: written as a number at last
    numbers = [member for member in least if isinstance(member, Number)]
    return (numbers or least)[-1] if len(least) == 1 or len(numbers) == 1 else None
