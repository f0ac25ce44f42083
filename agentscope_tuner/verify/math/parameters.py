"""Letters that stand for any number: progressions, counting letters, constants of integration.

Two progressions are equal if their steps are equal up to the sign, and their members at 0 differ by a whole number of
steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, permutations
from math import ceil, floor, lcm, prod
from typing import NamedTuple

from agentscope_tuner.verify import re
from agentscope_tuner.verify.math.canonical import components, componentwise, is_same_formula, key
from agentscope_tuner.verify.math.exact import exact_value, value_at
from agentscope_tuner.verify.math.node import (
    COUNTING,
    DIFFERENT,
    EQUAL,
    PI,
    UNKNOWN,
    Apply,
    Collection,
    Negation,
    Node,
    Number,
    Outcome,
    Power,
    Product,
    Quotient,
    Relation,
    Sum,
    Symbol,
    Text,
    UndefinedCall,
    all_known,
    is_applied,
    is_collection,
    is_symbol,
    literal,
    mapped,
    number,
    renamed,
    substituted,
    symbols,
    unsigned,
    walk,
    with_args,
)
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.readings import Family, Listing, Named, Reading, Statement, Value, is_listing, resolve
from agentscope_tuner.verify.math.sets import ParameterRange
from agentscope_tuner.verify.math.tokens import INTEGERS, REALS

_STEP = Symbol("step of a progression")
LETTERS = frozenset({"n", "k", "m", "l", "j", "t", "q"})
_PARAMETERS = frozenset({"s", "r", "u", "\\lambda", "\\mu"})
_CONSTANTS = frozenset({"C", "c", "K"})
_SEEDS = ("progression", "another progression")


class Progression(NamedTuple):
    """The values of the bodies for all whole numbers in the place of `parameter`.

    Attributes:
        name: the unknown, if the text names it.
        is_said: whether the text states that the parameter is a whole number.
    """

    name: str | None
    bodies: tuple[Node, ...]
    parameter: str
    is_said: bool


def same_progression(ref: Reading, ans: Reading) -> Outcome | None:
    """Whether both are the same numbers, in one progression or in several.

    None if a side is not made of progressions, or if neither side states that its parameter is a whole number.
    """
    if not (_may_be_said(ref) or _may_be_said(ans)):
        return None
    mine, theirs = progression(ref), progression(ans)
    if mine is None or theirs is None or not (mine.is_said or theirs.is_said):
        return None
    if mine.name != theirs.name and None not in (mine.name, theirs.name):
        return DIFFERENT
    for seed in _SEEDS:
        left, right = _lines(mine, seed), _lines(theirs, seed)
        if left is None or right is None:
            return None
        unit = left[0][0]
        period = _period([step / unit for step, _ in (*left, *right)])
        if period is None or _residues(left, unit, period) != _residues(right, unit, period):
            return DIFFERENT
    return EQUAL


_MOST_PARAMETERS, _FURTHER = 3, 5


def same_span(ref: tuple[Reading, bool], ans: tuple[Reading, bool], constants: frozenset[str]) -> Outcome | None:
    """Whether two points with parameters run along the same line or plane: `(1,2)+t(1,3)` and `(0,-1)+s(2,6)`.

    Args:
        ref, ans: each with whether it says that its letters are real numbers.
        constants: the question's letters, which are no parameters unless a side says so.

    Returns:
        None where a side is no such point.
    """
    mine = _span(*ref, constants)
    theirs = None if mine is None else _span(*ans, constants)
    if mine is None or theirs is None or len(mine[0]) != len(theirs[0]):
        return None
    between = [b - a for a, b in zip(mine[0], theirs[0], strict=True)]
    size = _rank(mine[1])
    same = size == _rank(theirs[1]) == _rank([*mine[1], *theirs[1], between])
    return EQUAL if same else DIFFERENT


def _span(
    reading: Reading, is_real: bool, constants: frozenset[str]
) -> tuple[list[Fraction], list[list[Fraction]]] | None:
    """A point and its directions; None where the reading is none, or not all real numbers are put in."""
    match reading:
        case Value(Product((Symbol(name) | Text(name), vectors))) if name.lower() == "span":
            return _spanned(vectors.args if is_collection(vectors, "set") else (vectors,))
    declared: set[str] = set()
    if isinstance(reading, Family) and (declared := _real_parameters(reading.range)):
        body = reading.body
        reading = resolve(componentwise(_as_row(body.node))) if isinstance(body, Value) else body
    if isinstance(reading, Named):
        reading = reading.value
    if isinstance(reading, Listing) and reading.kind == "list" and declared:
        point, *others = reading.items
        for other in others:
            if not (isinstance(other, Value) and isinstance(other.node, Symbol)):
                return None
            declared.add(other.node.name)
        reading = point
    if not (isinstance(reading, Listing) and reading.kind == "tuple"):
        return None
    parts = [part.node for part in reading.items if isinstance(part, Value)]
    letters = sorted({letter for part in parts for letter in symbols(part)})
    free = declared | (frozenset(letters) if is_real else (_PARAMETERS | {"t"}) - constants)
    if len(parts) != len(reading.items) or not 0 < len(letters) <= _MOST_PARAMETERS or not free.issuperset(letters):
        return None

    def at(values: dict[str, int]) -> list[Fraction] | None:
        return all_known(exact_value(_put_in(part, values)) for part in parts)

    start = at(dict.fromkeys(letters, 0))
    ends = [at({**dict.fromkeys(letters, 0), one: 1}) for one in letters]
    further = at({one: _FURTHER + place for place, one in enumerate(letters)})
    if start is None or further is None or None in ends:
        return None
    ways = [[b - a for a, b in zip(start, end, strict=True)] for end in ends if end is not None]
    straight = [a + sum(way[i] * (_FURTHER + place) for place, way in enumerate(ways)) for i, a in enumerate(start)]
    return (start, ways) if straight == further else None


def _real_parameters(values: ParameterRange) -> set[str]:
    r"""The parameters that run through all real numbers, `s, t \in \mathbb{R}`; none where they do not."""
    match values:
        case ParameterRange(_, None, None, Collection("list", (*more, Relation((last, field), ("in",))))) if (
            field == Symbol(REALS)
        ):
            found = {one.name for one in (*more, last) if isinstance(one, Symbol)}
            return found if len(found) > len(more) else set()
        case ParameterRange(_, str(parameter), "\\mathbb{R}", None):
            return {parameter}
    return set()


def _as_row(node: Node) -> Node:
    """The node with tuples for transposed ones."""
    if isinstance(node, Power) and is_collection(node.base, "tuple") and is_symbol(node.exponent, "T", "\\top"):
        return node.base
    return mapped(node, _as_row)


def _spanned(vectors: tuple[Node, ...]) -> tuple[list[Fraction], list[list[Fraction]]] | None:
    r"""The origin and the directions of `\operatorname{span}\{(1, 2), (1, 0)\}`."""
    rows: list[list[Fraction]] = []
    for vector in map(_as_row, vectors):
        values = all_known(map(exact_value, components(vector) or ()))
        if not values or (rows and len(values) != len(rows[0])):
            return None
        rows.append(values)
    return ([Fraction(0)] * len(rows[0]), rows) if rows else None


def _put_in(node: Node, values: dict[str, int]) -> Node:
    for name, value in values.items():
        node = substituted(node, name, number(value))
    return node


def _rank(rows: Sequence[Sequence[Fraction]]) -> int:
    left, found = [list(row) for row in rows], 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((row for row in left if row[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        found += 1
        left = [[a - b * row[column] / pivot[column] for a, b in zip(row, pivot, strict=True)] for row in left]
    return found


def _may_be_said(reading: Reading) -> bool:
    """Whether a reading may state that a parameter is a whole number: a test before the trees are walked."""
    return isinstance(reading.value if isinstance(reading, Named) else reading, (Family, Statement))


def progression(reading: Reading) -> Progression | None:
    """The progressions that the reading may state; None if it has no such form. The distances are not checked."""
    match reading:
        case Statement(Relation((Symbol(name), rest, modulus), ("=", "pmod"))):
            return Progression(name, (Sum((rest, Product((modulus, _STEP)))),), _STEP.name, True)
        case Statement(Relation((Apply("mod", (Symbol(name), modulus)), rest), ("=",))):
            return Progression(name, (Sum((rest, Product((modulus, _STEP)))),), _STEP.name, True)
    unknown: str | None = None
    parameter: str | None = None
    while True:
        match reading:
            case Named(Symbol(found), inside) if unknown is None:
                unknown, reading = found, inside
            case Family(inside, values) if values.field == INTEGERS and parameter is None:
                parameter, reading = values.parameter, inside
            case _:
                break
    bodies = _bodies(reading)
    every = frozenset().union(*map(symbols, bodies))
    if parameter is None and (len(every) != 1 or not every <= LETTERS - {unknown}):
        return None
    return Progression(unknown, bodies, parameter or next(iter(every)), parameter is not None) if bodies else None


def _bodies(reading: Reading) -> tuple[Node, ...]:
    """The expressions that a reading lists; none if it holds anything else."""
    items = reading.items if is_listing(reading, "list", "set") else (reading,)
    found = tuple(i.node for i in items if isinstance(i, Value))
    return found if len(found) == len(items) <= _MOST_LINES else ()


_MOST_LINES = 12
# Members that are computed to see that they stand at equal distances, and the longest period in steps
_MEMBERS, _LONGEST_PERIOD = 6, 60
Line = tuple[Fraction, Fraction]


def _lines(found: Progression, seed: str) -> list[Line] | None:
    """The step and the first member of each progression; None if members are not at equal distances.

    Every second member of a body with a sign, as in `(-1)^k a + k \\pi`, makes a progression of its own.
    """
    lines: list[Line] = []
    for body in found.bodies:
        values = all_known(value_at(seed, substituted(body, found.parameter, number(at))) for at in range(_MEMBERS))
        if values is None:
            return None
        parts = [values] if len({b - a for a, b in pairwise(values)}) == 1 else [values[::2], values[1::2]]
        for part in parts:
            steps = {b - a for a, b in pairwise(part)}
            if len(steps) != 1 or not (step := steps.pop()):
                return None
            lines.append((step, part[0]))
    return lines


def _period(steps: Sequence[Fraction]) -> Fraction | None:
    """The least common multiple of the steps; None if they have none that is short."""
    below = lcm(*(step.denominator for step in steps)) if all(s.denominator <= _LONGEST_PERIOD for s in steps) else 0
    if not below or any(abs(step) > _LONGEST_PERIOD for step in steps):
        return None
    period = Fraction(lcm(*(abs(int(step * below)) for step in steps)), below)
    return period if all(period / abs(step) <= _LONGEST_PERIOD for step in steps) else None


def _residues(lines: Sequence[Line], unit: Fraction, period: Fraction) -> set[Fraction]:
    """The members of the progressions within one period, both counted in units."""
    return {
        (first + step * at) / unit % period for step, first in lines for at in range(int(period / abs(step / unit)))
    }


def with_dummy_of(ref: Named, ans: Reading, letters: frozenset[str]) -> Reading:
    """The answer's value with its counting letter replaced by the reference's: the m of `n = 2^m` for `n = 2^k`."""
    match ref.value, ans:
        case Value(mine), Value(theirs):
            wanted, found = symbols(mine), symbols(theirs)
            dummies = _CONSTANTS if isinstance(mine, Symbol) and isinstance(theirs, Symbol) else LETTERS
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
    if len(wanted) != 1 or len(found) != 1 or wanted == found or not known <= LETTERS | _PARAMETERS or known & letters:
        return ans
    (old,), (new,) = found, wanted
    values = [Value(renamed(value, old, new)) for value in theirs]
    return Listing(
        ans.kind,
        tuple(Named(i.name, v, i.node) if isinstance(i, Named) else v for i, v in zip(ans.items, values, strict=True)),
    )


def _names(reading: Reading) -> frozenset[str]:
    """The symbols in the names of a listing's members."""
    items = reading.items if isinstance(reading, Listing) else ()
    return frozenset(n for item in items if isinstance(item, Named) for n in symbols(item.name))


def _values(reading: Reading) -> list[Node] | None:
    """The values of a listing's members, named or not; None for any other reading."""
    if not isinstance(reading, Listing):
        return None
    values = (i.value if isinstance(i, Named) else i for i in reading.items)
    return all_known(value.node if isinstance(value, Value) else None for value in values)


_OF_INTEGRATION = frozenset({"A", "C", "c", "K", "k", "C_1", "c_1", "C_{1}", "c_{1}", "\\lambda"})
# The constants of a solution that has two
_SEVERAL = frozenset({"A", "B", "C", "D", "C_1", "C_2", "c_1", "c_2", "a", "b", "c", "d", "K_1", "K_2", "k_1", "k_2"})


def with_names_of(ref: Node, ans: Node, question: Question | None) -> Node:
    """The answer with its dummy name replaced by the reference's, or with its two constants of integration."""
    mine, theirs = symbols(ref) - symbols(ans), symbols(ans) - symbols(ref)
    if not (mine or theirs) and question is not None and _FAMILY.search(question.text) is not None:
        return _with_sign_of(ref, ans, (symbols(ref) & _OF_INTEGRATION) - question.letters)
    if len(mine) != len(theirs) or not 1 <= len(mine) <= 2 or (question and (mine | theirs) & question.letters):
        return ans
    if len(mine) == 2:
        if not mine | theirs <= _SEVERAL or not _occur_once(ref, mine) or not _occur_once(ans, theirs):
            return ans
        both = [renamed_to(ans, tuple(sorted(mine)), names) for names in permutations(sorted(theirs))]
        return next((one for one in both if key(one) == key(ref) or is_same_formula(one, ref)), ans)
    (wanted,), (found,) = mine, theirs
    if {wanted, found} == {"x", "t"} and question is not None and _OF_DERIVATIVES.search(question.text) is not None:
        # an equation in y'' and y says of what y is a function no more than its solution does
        return renamed(ans, found, wanted)
    if wanted.lower() == found.lower() and {wanted, found} <= _OF_INTEGRATION:
        return renamed(ans, found, wanted)
    periodic = {wanted, found} <= COUNTING and _is_periodic(ref, wanted) and _is_periodic(ans, found)
    if periodic:
        return renamed(ans, found, wanted)
    allowed = _OF_INTEGRATION | (
        _OF_FAMILIES if question is not None and _FAMILY.search(question.text) else frozenset()
    )
    if not (mine <= _OF_INTEGRATION and theirs <= allowed):
        return ans
    other = renamed(ans, found, wanted)
    return other if (_are_free(ref, mine) and _are_free(ans, theirs)) or is_same_formula(other, ref) else ans


def _with_sign_of(ref: Node, ans: Node, constants: frozenset[str]) -> Node:
    """The answer with the sign of its one constant that makes it the reference: `1/(C-x^2)` for `-1/(x^2+C)`."""
    if len(constants) != 1 or not _occur_once(ref, constants) or not _occur_once(ans, constants):
        return ans
    (name,) = constants
    other = substituted(ans, name, Negation(Symbol(name)))
    return other if is_same_formula(other, ref) else ans


_OF_DERIVATIVES = re.compile(r"(?<![a-zA-Z])y\s*(?:'|\^\{?\\prime)")


# What a question asks for whose solutions have a constant, which an answer may call as it likes
_FAMILY = re.compile(
    r"\b(?:all|every|general|alle|toutes|todas|tutte)\b.{0,60}\b(?:functions?|solution|funktion|fonction|funci|funzion|funç)"
    r"|\bвсе\b.{0,40}функци|所有.{0,20}函数|通解|一般解|すべて.{0,20}関数|모든 .{0,20}함수",
    re.IGNORECASE | re.DOTALL,
)
_OF_FAMILIES = frozenset({"a", "b", "d", "m", "p", "q", "t", "\\alpha", "\\beta"})


# Where both sides of an antiderivative are put to zero
_SOMEWHERE = Symbol("where an integral begins")


def same_at_whole_numbers(ref: Node, ans: Node) -> Outcome:
    r"""Compare two formulas with steps, such as floors, in one letter for whole numbers; UNKNOWN for others.

    A floor of a polynomial whose coefficients have the common denominator q is one polynomial for each remainder of the
    letter by q. So two such formulas are equal where they agree at more numbers of each remainder than their degree.
    """
    names = symbols(ref) | symbols(ans)
    if len(names) != 1 or not names <= COUNTING or not (_has_steps(ref) and _has_steps(ans)):
        return UNKNOWN
    mine, theirs = _steps(ref), _steps(ans)
    if mine is None or theirs is None:
        return UNKNOWN
    count = mine[1] * theirs[1] * (max(mine[0], theirs[0]) + 1)
    if count > _MOST_TRIED:
        return UNKNOWN
    name = next(iter(names))
    try:
        same = all(_at_whole(ref, name, at) == _at_whole(ans, name, at) for at in range(1, count + 1))
    except ZeroDivisionError:
        return UNKNOWN
    return EQUAL if same else DIFFERENT


_MOST_TRIED, _MOST_DEGREE = 1_000, 12


def _has_steps(node: Node) -> bool:
    return any(is_applied(n, "floor", "ceil", "mod") or _alternates(n) for n in walk(node))


def _alternates(node: Node) -> bool:
    return isinstance(node, Power) and literal(node.base) == -1


def _steps(node: Node) -> tuple[int, int] | None:
    """The degree, or more, and the product of the denominators of a polynomial with steps; None for another formula."""
    found = _degree(node)
    return found if found is not None and found[0] <= _MOST_DEGREE and found[1] <= _MOST_TRIED else None


def _degree(node: Node) -> tuple[int, int] | None:
    match node:
        case Number(value):
            # counted as a letter is, so that no power of numbers grows beyond the bound
            return int(value > 1), value.denominator
        case Symbol():
            return 1, 1
        case Power() if _alternates(node):
            return (0, 2) if (_steps(node.exponent) or (0, 0))[1] == 1 else None
        case Power(base, Number(times)) if times.denominator == 1 and 0 <= times <= _MOST_DEGREE:
            found = _steps(base)
            return found and (found[0] * int(times), found[1] ** int(times))
        case Quotient(above, below) | Apply("mod", (above, below)):
            found, divisor = _steps(above), literal(below)
            return None if found is None or not divisor else (found[0], found[1] * abs(divisor.numerator))
        case Sum() | Product() | Negation() | Apply("floor" | "ceil"):
            parts = all_known(map(_steps, node.args))
            if parts is None:
                return None
            degrees = [degree for degree, _ in parts]
            return sum(degrees) if isinstance(node, Product) else max(degrees), prod(below for _, below in parts)
    return None


def _at_whole(node: Node, name: str, at: int) -> Fraction:
    """The value of a formula that `_steps` knows."""
    values = [_at_whole(one, name, at) for one in node.args]
    match node:
        case Number(value):
            return value
        case Negation():
            return -values[0]
        case Sum():
            return sum(values, Fraction(0))
        case Product():
            return prod(values, start=Fraction(1))
        case Quotient():
            return values[0] / values[1]
        case Power():
            return values[0] ** int(values[1])
        case Apply("mod"):
            return values[0] % values[1]
        case Apply(function):
            return Fraction(floor(values[0]) if function == "floor" else ceil(values[0]))
    return Fraction(at)


def as_integrals(ref: Node, ans: Node, question: Question | None) -> tuple[Node, Node]:
    r"""Two antiderivatives as integrals from one point on, since they may differ by a constant: `\ln|2x|+C`.

    In place of its constant each side gets minus its value at that point. Any other two formulas are left as they are.
    """
    names = symbols(ref)
    if question is None or names != symbols(ans):
        return ref, ans
    integrates = "\\int" in question.text
    constants = [n for n in names & _OF_INTEGRATION if integrates or n not in question.letters]
    variables = set(names.difference(constants))
    if len(variables) > 1:
        variables = {n for n in variables if re.search(rf"(?<![a-z])d{re.escape(n)}(?![a-z])", question.text)}
    if len(constants) != 1 or len(variables) != 1:
        return ref, ans
    sides = _without_constant(ref, Symbol(constants[0])), _without_constant(ans, Symbol(constants[0]))
    if sides[0] is None or sides[1] is None:
        return ref, ans
    # a positive point, or a logarithm could not be told from that of an absolute value
    logs = [n for n in walk(ref) if is_applied(n, "ln", "log")]
    start = Power(_SOMEWHERE, number(2)) if logs else _SOMEWHERE
    if logs and not any(is_applied(n.args[0], "abs") for n in logs):
        # a reference that leaves them out is for positive arguments
        sides = sides[0], _without_bars(sides[1])
    first, second = (Sum((one, Negation(substituted(one, next(iter(variables)), start)))) for one in sides if one)
    return first, second


def _without_bars(node: Node) -> Node:
    r"""A formula with the `\ln x` of each `\ln|x|`."""
    if is_applied(node, "ln", "log") and is_applied(node.args[0], "abs"):
        return with_args(node, (node.args[0].args[0],))
    return with_args(node, tuple(map(_without_bars, node.args))) if node.args else node


def _without_constant(node: Node, constant: Symbol) -> Node | None:
    """A sum without the constant that is one of its terms; None where the constant is anything else."""
    if not isinstance(node, Sum) or walk(node).count(constant) != 1:
        return None
    terms = tuple(one for one in node.args if unsigned(one) != constant)
    return Sum(terms) if len(terms) < len(node.args) else None


def _is_periodic(node: Node, name: str) -> bool:
    """Whether the name is a factor of a term beside pi, as in `2k\\pi`, and no other letter is."""
    terms = [term for n in walk(node) if isinstance(n, Sum) for term in n.args] or [node]
    return any(
        PI in walk(term)
        and symbols(term) == {name}
        and not any(isinstance(n, Power | Apply) and name in symbols(n) for n in walk(term))
        for term in terms
    )


def _occur_once(node: Node, names: frozenset[str]) -> bool:
    """Whether each name occurs once, as a factor of a term that holds another letter."""
    every = walk(node)
    factors = [one for n in every if isinstance(n, (Sum, Product)) for one in n.args]
    return all(every.count(Symbol(n)) == factors.count(Symbol(n)) == 1 for n in names) and bool(symbols(node) - names)


def _are_free(node: Node, names: frozenset[str]) -> bool:
    """Whether each name occurs once, as a whole term or a factor of one, in a sum or product that holds more."""
    terms = node.args if isinstance(node, Sum) else (node,)
    alone = [one for term in terms for one in (term.args if isinstance(term, Product) else (term,))]
    every = walk(node)
    return (
        len(every) > len(names) + 1
        and all(alone.count(Symbol(n)) == every.count(Symbol(n)) == 1 for n in names)
        and (len(names) == 1 or bool(symbols(node) - names))
    )


def renamed_to(node: Node, names: tuple[str, ...], others: tuple[str, ...]) -> Node:
    """The node with `others[i]` replaced by `names[i]` for every i, all at once: `x, y` may become `y, x`."""
    between = tuple(f"parameter {at}" for at in range(len(names)))
    for old, new in (*zip(others, between, strict=True), *zip(between, names, strict=True)):
        node = renamed(node, old, new)
    return node


def same_parameter(ref: Named, ans: Named) -> Reading | None:
    """The answer's value with the reference's parameter names: for a reference `f(n) = n`, `f(x) = x` gives `n`.

    None where a renamed parameter would meet a symbol of the same name.
    """
    mine, theirs = ref.name, ans.name
    if not isinstance(mine, UndefinedCall) or not isinstance(theirs, UndefinedCall) or mine.args == theirs.args:
        return ans.value
    ours, others = _parameters(mine), _parameters(theirs)
    values = ans.value.items if isinstance(ans.value, Listing) else (ans.value,)
    nodes = all_known(value.node if isinstance(value, Value) else None for value in values)
    if ours is None or others is None or len(ours) != len(others) or nodes is None:
        return ans.value
    if any(name in symbols(node) for name in ours if name not in others for node in nodes):
        return None
    renamed = tuple(resolve(renamed_to(node, ours, others)) for node in nodes)
    return Listing(ans.value.kind, renamed) if isinstance(ans.value, Listing) else renamed[0]


def _parameters(call: UndefinedCall) -> tuple[str, ...] | None:
    """The names of a function's parameters; None if an argument is not a name: `f(2)`."""
    names = all_known(a.name if isinstance(a, Symbol) else None for a in call.args)
    return None if names is None else tuple(names)


class Rests(NamedTuple):
    """The whole numbers that leave one rest: the odd ones, those from 3 on, the multiples of 4."""

    modulus: int
    rest: int
    #: the letter that stands for them; empty where none does
    letter: str
    #: the least of them; None where they have none
    first: int | None

    def positive(self) -> Rests:
        """Those above 0."""
        return self.from_on(1) if self.first is None or self.first < 1 else self

    def from_on(self, least: int) -> Rests:
        return self._replace(first=least + (self.rest - least) % self.modulus)


# What says nothing of which numbers they are
_FILLING = re.compile(
    r"(?:all|every|any|exactly|the|for|of|when|if|iff|is|are|must|be|values?|only|an?|integers?|numbers?|whole"
    r"|alle|jede[sr]?|für|wenn|ist|ganzen?|zahl(?:en)?|tous?|toutes?|les?|pour|est|entiers?|nombres?"
    r"|todos?|todas?|l[oa]s|para|es|enteros?|números?|tutti|gli|per|numeri|interi|inteiros?|os|é"
    r"|все|всех|всяко[ем]|люб\w+|при|для|цел\w+|числ\w+|чисел|—|-"
    r"|所有的?|全体|全部|任意的?|一切|的|是|为|整数|数|すべての|모든|정수|은|는|が|は)(?![a-zа-яß-ÿ])"
)
_EVEN = r"even|gerade[ns]?|pairs?|pares|par|pari|ч[её]тн\w+|偶|짝수"
_ODD = r"odd|ungerade[ns]?|impairs?|ímpar(?:es)?|impar(?:es)?|dispari|неч[её]тн\w+|奇|홀수"
_PARITY = re.compile(rf"(?:(?P<odd>{_ODD})|(?P<even>{_EVEN}))(?![a-zа-яß-ÿ])")
_MULTIPLES = re.compile(
    r"(?:multiples? of|divisible by|vielfachen? von|multiples? de|múltiplos? de|multipli di|кратн\w+)"
    r"\s*\$?(?P<of>\d{1,4})(?!\d)"
    r"|(?P<times>\d{1,4})\s*(?:\$\s*)?的倍数"
)
_POSITIVE = re.compile(
    r"(?:positiven?|positifs?|positivos?|positivi|natural(?:es)?|natürlichen?|naturels?|naturali|naturais|натуральн\w+|положительн\w+|正|自然)"
    r"(?![a-zа-яß-ÿ])"
)
_FROM_ON = re.compile(r",?\s*(?P<letter>[a-z]?)\s*(?P<sign>>|\\geq?(?:slant)?|≥|⩾)\s*(?P<least>-?\d{1,4})(?![\d.])")
_LETTER_ALONE = re.compile(r"[nkmxab](?![a-z])")
_MULTIPLE_OF_LETTER = re.compile(
    r"(?:(?P<own>[a-z])\s*=\s*)?(?P<times>\d{1,3})\s*(?P<of>[a-z])(?:\s*(?P<sign>[+-])\s*(?P<more>\d{1,3}))?"
    r"\s*(?:,|[(]|其中|where|with|for|mit|où)\s*(?P=of)\s*"
    r"(?:(?:\\in|∈)\s*(?P<field>\\mathbb\s*[zn](?:\s*\^?_?\s*(?P<above>\+|\*|>\s*0|\\geq?\s*1))?|ℤ|z)"
    r"|(?P<bound>>|\\geq?(?:slant)?|≥)\s*(?P<least>-?\d{1,3})|=\s*(?P<count>[01])\s*,.*(?:dots|…))\s*[)]?"
)
_CONGRUENT = re.compile(
    r"(?P<own>[a-z])\s*(?:\\equiv|≡)\s*(?P<rest>-?\d{1,4})\s*"
    r"(?:\\pmod|\\[bp]?mod|[(]\s*(?:\\bmod|\\operatorname mod|mod))\s*"
    r"(?P<modulus>\d{1,4})\s*[)]?"
    r"|(?P<divides>\d{1,4})\s*\\mid\s*(?P<divided>[a-z])"
)
_LONGEST_CLASS = 90


def rests(said: str) -> Rests | None:
    r"""The whole numbers of one rest that a text names: `all odd n \ge 3`, `n=2k+1, k \in \mathbb{Z}`, `所有正偶数`.

    Args:
        said: in lower case, without commands that only set type.

    Returns:
        None for a text that says anything else.
    """
    if len(said) > _LONGEST_CLASS:
        return None
    said = re.sub(r"\$|\\[,;:! ]|~", " ", said).strip()
    if (found := _CONGRUENT.fullmatch(said)) is not None:
        modulus = int(found["modulus"] or found["divides"])
        letter = found["own"] or found["divided"]
        return Rests(modulus, int(found["rest"] or 0) % modulus, letter, None) if modulus else None
    if (found := _MULTIPLE_OF_LETTER.fullmatch(said)) is not None:
        return _multiples_of_letter(found)
    whole, least, at = None, None, 0
    letters: set[str] = set()
    while at < len(said):
        if (found := _PARITY.match(said, at)) is not None and whole is None:
            whole = Rests(2, int(found["odd"] is not None), "", None)
        elif (found := _MULTIPLES.match(said, at)) is not None and whole is None:
            modulus = int(found["of"] or found["times"])
            if not modulus:
                return None
            whole = Rests(modulus, 0, "", None)
        elif (found := _FROM_ON.match(said, at)) is not None and least is None:
            least = int(found["least"]) + (found["sign"] == ">")
            letters.update(found["letter"])
        elif (found := _POSITIVE.match(said, at)) is not None:
            least = max(least or 1, 1)
        else:
            found = _FILLING.match(said, at) or _LETTER_ALONE.match(said, at)
            letters.update(found[0] if found is not None and found.re.pattern == _LETTER_ALONE.pattern else "")
        if found is None or len(letters) > 1:
            return None
        at = found.end()
        at += len(said[at:]) - len(said[at:].lstrip())
    return whole if whole is None or least is None else whole.from_on(least)


def _multiples_of_letter(found: re.Match[str]) -> Rests | None:
    times, more = int(found["times"]), int(found["more"] or 0) * (-1 if found["sign"] == "-" else 1)
    if not times:
        return None
    whole = Rests(times, more % times, found["own"] or "", None)
    field = "".join((found["field"] or "").split())
    if found["least"] is not None:
        least = int(found["least"]) + (found["bound"] == ">")
    elif found["count"] is not None:
        least = int(found["count"])
    elif field.endswith(("z", "ℤ")):
        return whole
    elif found["above"] is not None:
        least = 1
    else:
        # whether 0 is a natural number is not said
        return None
    return whole.from_on(times * least + more)
