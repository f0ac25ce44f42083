"""Whether an answer only repeats the question, or leaves work undone that the question asks for.

Such an answer has the right value without any work. A policy finds this trick within its first hundred rollouts.

The answer `14+23` to "What is fourteen plus twenty-three?" only repeats the question. Without a question the task is
unknown, so arithmetic is just evaluated: `2+2` is 4. The work left to do is the set of operations in a formula that
the question asks for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice
from math import gcd, isqrt, prod
from typing import TypeGuard

from agentscope_tuner.verify import re
from agentscope_tuner.verify.math.canonical import MINUS, NEG, PRODUCT, SUM, Key, factors, key, residue, terms
from agentscope_tuner.verify.math.compare import CheapComparer
from agentscope_tuner.verify.math.exact import exact_value, value_at
from agentscope_tuner.verify.math.node import (
    CONSTANTS,
    EQUAL,
    MARKS,
    PI,
    RATIONAL_OPERATIONS,
    Apply,
    Array,
    BigOperator,
    Collection,
    Degrees,
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
    is_applied,
    is_collection,
    is_decimal,
    is_root,
    literal,
    number,
    scientific,
    substituted,
    symbols,
    unsigned,
    walk,
    with_args,
)
from agentscope_tuner.verify.math.question import Question, numbers_said
from agentscope_tuner.verify.math.sets import is_range
from agentscope_tuner.verify.math.units import added_up, is_given_in
from agentscope_tuner.verify.math.unwrap import short


def valued(node: Node) -> Fraction | None:
    """The value of a formula, with fixed pseudo-random numbers for its letters; None if it has no value.

    Formulas that are equal have the same value.
    """
    return value_at("copied", node)


# A fraction that is not in lowest terms has the right value, so reducing it counts only if the question asks for it
UNREDUCED = "unreduced"
# A calculation with matrices
MATRIX = "matrix"
# The root of a whole power, like 49
WHOLE_ROOT = "whole-root"
# A product, quotient or power of complex numbers
COMPLEX = "complex"
# The imaginary unit below a fraction bar, without a product of complex numbers
I_BELOW = "i-below"
_BOUNDS = frozenset({"<", "<=", ">", ">="})
_I = Symbol("i")
_LARGEST_ROOT = 10**12
_LONGEST_SQUARE = 400
_MOST_ROOTS = 6


def is_plain(node: Node) -> bool:
    r"""Whether nothing is left to compute: a number, a letter, `\frac34`, a mixed number, a solved inequality.

    False for `2+3`, and for `\frac24`, which is not in lowest terms.
    """
    if isinstance(node, (Negation, *MARKS)):
        return is_plain(node.inside) and not isinstance(node.inside, Negation)
    match node:
        case Number(_, text):
            return bool(text)
        case Sum((Number(), Quotient(Number(top), Number(bottom)))):
            # a mixed number
            return 0 < top < bottom and top.denominator == bottom.denominator == gcd(int(top), int(bottom)) == 1
        case Quotient(Number(top), Number(bottom)):
            whole = top.denominator == bottom.denominator == 1
            return whole and bottom > 1 and gcd(int(top), int(bottom)) == 1
        case Interval(low, high):
            return is_plain(low) and is_plain(high)
        case Relation(args, operators) if set(operators) <= _BOUNDS and len(args) <= 3:
            # a solved inequality
            return all(map(is_plain, args)) and sum(isinstance(a, Symbol) for a in args) == 1
    return isinstance(node, (Symbol, Text))


def operations(node: Node) -> frozenset[str]:
    r"""The names of the operations that are left to do: `product` for `2\cdot 3`, `gcd` for `\gcd(4,6)`.

    Empty for a finished value or formula.
    """
    return frozenset(name for part in walk(node) for name in _of(part))


def _of(node: Node) -> Iterator[str]:
    """The operations that are left to do at the top of a formula, not inside of its parts."""
    match node:
        case Apply(function):
            yield function
        case Negation(Negation(inside)) if literal(inside) is not None:
            yield "sum"
        case BigOperator(sign):
            # The name `sum` alone means an addition
            yield f"big {sign}"
        case Sum(terms) if any(isinstance(a, Array) for a in terms):
            yield MATRIX
        case Sum(terms):
            if not is_plain(node) and _is_repeated(map(_unit_of_term, terms)):
                yield "sum"
        case Product() if sum(isinstance(a, Array) for a in node.args) > 1:
            yield MATRIX
        case Product() if sum(_I in walk(a) for a in node.args) > 1:
            yield COMPLEX
        case Product():
            if scientific(node) is None and _is_repeated(map(_kind_of_factor, node.args)):
                yield "product"
        case Quotient():
            yield from _of_quotient(node)
        case Power(base, exponent):
            yield from _of_power(base, exponent)


_FAMILIES = (
    "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc",
    "sinh cosh tanh coth sech csch",
    "ln log exp",
    "factorial doublefact binom",
    "gcd lcm",
    "floor ceil",
    "min max",
    "root whole-root",
    f"{COMPLEX} {I_BELOW}",
)
_FAMILY = {name: row for row in _FAMILIES for name in row.split()}
# Plain arithmetic may be a step to any value, so it does not show which operation a question asks for
_ARITHMETIC = frozenset({"sum", "product", "division", "power", UNREDUCED})


def families(left: frozenset[str]) -> frozenset[str]:
    """The operations without plain arithmetic, each as the family of operations that define each other.

    Sine and cosine are one family, gcd and lcm another.
    """
    return frozenset(_FAMILY.get(name, name) for name in left - _ARITHMETIC)


def _is_repeated(kinds: Iterator[Key | None]) -> bool:
    """Whether two of the keys are equal, so that their terms or factors can be combined; None equals nothing."""
    counted = Counter(kind for kind in kinds if kind is not None)
    return any(count > 1 for count in counted.values())


def _unit_of_term(term: Node) -> Key:
    """A key that is equal for terms that can be added: it holds `x` for `3x` and for `-x`, and is empty for a
    number.
    """
    counted = factors(unsigned(term))
    counted.pop(("minus",), 0)
    return tuple(sorted((repr(one), times) for one, times in counted.items() if not _is_number_key(one)))


def _is_number_key(one: Key) -> bool:
    """Whether a factor's key is the key of a number, or of a number in a denominator."""
    inside = one[1] if one[0] == "inverse" else one
    return isinstance(inside, tuple) and inside[0] == "number"


def _kind_of_factor(factor: Node) -> Key | None:
    """A key that is equal for factors that can be combined: numbers, roots of numbers, powers of one base.

    None for a sum, because a factored formula may repeat it: `(x+1)(x+1)`.
    """
    factor = unsigned(factor)
    if isinstance(factor, Percent) or literal(factor) is not None:
        return ("number",)
    match factor:
        case Power(base, exponent) if literal(base) is not None and literal(exponent) is not None:
            return ("power of a number",)
        case Power() if is_root(factor):
            # `x\\sqrt x` is a finished form
            return ("root", key(factor))
        case Power(base):
            return key(base)
        case Sum():
            # A factored formula may repeat a factor: `(x+1)(x+1)`
            return None
    return key(factor)


def _of_quotient(node: Quotient) -> Iterator[str]:
    r"""The operations that a quotient leaves to do: `unreduced` for `\frac64`, `division` for `\frac{6x}{x}`."""
    above, below = unsigned(node.above), node.below
    if _I in walk(below):
        # a lone i below, as in `\\frac{1}{2i}`, leaves no product to do, as little as a lone root does
        if isinstance(below, (Sum, Power)) or _I in walk(above) or any(_I in a.args for a in walk(below)[1:]):
            yield COMPLEX
        else:
            yield I_BELOW
        return
    match above, below:
        case Number(top), Number(bottom):
            if not bottom or not top.denominator == bottom.denominator == 1:
                yield "division"
            elif bottom == 1 or gcd(int(top), int(bottom)) > 1:
                yield UNREDUCED
            return
    if literal(above) is not None and literal(below) is not None:
        yield "division"
    elif any(one[0] != "number" for one in factors(above) & factors(below)):
        # A factor can be cancelled
        yield "division"
    elif gcd(_whole_factor(above), _whole_factor(below)) > 1:
        yield UNREDUCED


def _whole_factor(node: Node) -> int:
    r"""The whole number among the factors: 6 for `6\sqrt3`; 1 if there is none."""
    parts = node.args if isinstance(node, Product) else (node,)
    return next((int(p.value) for p in parts if isinstance(p, Number) and p.value.denominator == 1), 1)


def _of_power(base: Node, exponent: Node) -> Iterator[str]:
    """The operations that a power leaves to do: `power` for `3^2`; nothing for `10^2`, which is part of a notation."""
    power, base = literal(exponent), unsigned(base)
    if isinstance(base, Array):
        # the transpose of a row is a column
        if power is not None or len(base.rows) > 1:
            yield MATRIX
    elif power is None:
        return
    elif base == _I and power.denominator == 1:
        yield COMPLEX
    elif power.denominator == 1:
        if (
            (isinstance(base, Number) and base.value != 10)
            or (isinstance(base, Quotient) and not symbols(base))
            or (isinstance(base, Power) and (not symbols(base) or literal(base.exponent) is not None))
        ):
            yield "power"
    elif isinstance(base, Number) and base.value.denominator == 1:
        yield from _of_root(int(base.value), power.denominator)


def _of_root(inside: int, degree: int) -> Iterator[str]:
    r"""The operation that a root leaves to do: `whole-root` for `\sqrt{49}`, `root` for `\sqrt{12}`; nothing for
    `\sqrt3`.
    """
    if inside < 2 or _is_power(inside, degree):
        yield WHOLE_ROOT
    elif _holds_power(inside, degree):
        yield "root"


def _is_power(inside: int, degree: int) -> bool:
    """Whether a whole number is a power of this degree: 49 for the degree 2. False for numbers that are too large to
    try.
    """
    if degree == 2:
        return inside.bit_length() <= _LONGEST_SQUARE and isqrt(inside) ** 2 == inside
    return inside <= _LARGEST_ROOT and degree <= _MOST_ROOTS and round(inside ** (1 / degree)) ** degree == inside


def _holds_power(inside: int, degree: int) -> bool:
    """Whether a number has a factor that is a power of this degree, so that its root can be simplified: 12 for 2."""
    if inside > _LARGEST_ROOT or degree > _MOST_ROOTS:
        return False
    root = 2
    while root**degree <= inside and root < 1_000:
        if inside % root**degree == 0:
            return True
        root += 1
    return False


Same = Callable[[Node, Node], bool]
_MOST_FORMULAS = 40
_LARGEST_DIVISOR = 1_000
# Functions that are often in the final form of a count
_COUNTING = frozenset({"factorial", "doublefact", "binom"})
_FREE = frozenset({Fraction(0), Fraction(1)})
_SAID_EXPONENTS = (Fraction(2), Fraction(3))


_ASKS_POLAR = re.compile(
    r"\bpol[aä]r|trigonometri(?:c|schen?) form|forma trigonom|forme trigonom|тригонометрическ\w+ форм"
    r"|三角形式|[极極]形式|극형식",
    re.IGNORECASE,
)


def is_unworked(question: Question, answer: Node, reference: Node, same: Same) -> bool:
    """Whether the answer leaves work undone that the question asks for: `14+23` for the reference `37`.

    Args:
        question: the facts about the question.
        answer: the answer.
        reference: the reference, which shows what a finished answer looks like.
        same: whether two formulas have the same value, by the cheap stages.
    """
    match answer:
        case Relation((*sides, modulus), (*_, "pmod")) if (
            not symbols(modulus) and (size := valued(modulus)) is not None
        ):
            # a modulus need not be worked out
            answer = with_args(answer, (*sides, Number(size, str(size))))
    if isinstance(reference, Quantity | Degrees):
        reference = reference.inside
        answer = answer.inside if isinstance(answer, Quantity | Degrees) else answer
    if _is_unfinished_equation(answer, reference):
        return True
    if (
        question.solved_for
        and _is_solved(reference, question.solved_for)
        and not _is_solved(answer, question.solved_for)
    ):
        return True
    if _leaves_equation_unsolved(question, answer, reference, same):
        return True
    if question.asks_to_round and literal(reference) is not None:
        rounded = answer.args[-1] if isinstance(answer, Relation) and set(answer.operators) <= {"=", "~"} else answer
        amount = rounded.inside if isinstance(rounded, Quantity | Percent) else rounded
        value, scale = literal(amount), 100 if isinstance(rounded, Percent) and question.single_number is None else 1
        if literal(reference) not in (value, value and value / scale) and scientific(amount) is None:
            return True
    if _is_unreduced(question, answer, reference):
        return True
    last = answer.args[-1] if isinstance(answer, Relation) and set(answer.operators) <= {"=", "~"} else answer
    if isinstance(reference, Percent) and not isinstance(last, Percent) and operations(answer):
        return True
    if any(map(is_decimal, walk(answer))) and _is_irrational(reference) and not _is_irrational(answer):
        # digits of a root or of pi are no exact value
        return True
    if question.has(_ASKS_POLAR) and any(is_applied(n, "cos") for n in walk(answer)) and _I in walk(answer):
        # `2(\\cos t + i \\sin t)` is the polar form, not a sum to be worked out
        return False
    wanted = _stated(reference, reference)[-1]
    return all(_is_left(question, part, wanted, same) for part in _stated(answer, wanted))


def _is_irrational(node: Node) -> bool:
    """Whether a formula has the root of a number, pi, e, a trigonometric function or a logarithm."""
    return any(
        n in _IRRATIONAL
        or (isinstance(n, Apply) and _FAMILY.get(n.function) in _FAMILIES[:3])
        or (is_root(n) and not symbols(n))
        for n in walk(node)
    )


_IRRATIONAL = (PI, Symbol("e"))


def _leaves_equation_unsolved(question: Question, answer: Node, reference: Node, same: Same) -> bool:
    """Whether the reference solves an equation of the question for a letter, and the answer is an unsolved equation.

    `y+x=1` for `Solve $x+y=1$ for $y$.`
    """
    match reference:
        case Relation((Symbol(name) as unknown, value), ("=",)) if symbols(value) and name not in symbols(value):
            if _is_solved(answer, name):
                return False
            for formula in islice(question.formulas.values(), _MOST_FORMULAS):
                match formula:
                    case Relation((left, right), ("=",)) if symbols(formula) == symbols(reference):
                        if same(substituted(left, unknown, value), substituted(right, unknown, value)):
                            return True
    return False


def _is_solved(node: Node, name: str) -> bool:
    """Whether an equation is solved for this letter: `y=1-x` for `y`. True also if the node is no relation.

    One side has to be the letter, a tuple of letters with it, or a function's value such as `f(x)`.
    """
    match node:
        case Relation((Collection("tuple", names), *_, last)) if not symbols(last):
            return Symbol(name) in names
        case Relation((low, middle, high)) if middle == Symbol(name):
            return name not in symbols(low) | symbols(high)
        case Relation((first, *_, last)):
            return Symbol(name) in (first, last) or isinstance(first, UndefinedCall)
    return True


def _is_unfinished_equation(answer: Node, reference: Node) -> bool:
    r"""Whether only the answer is an equation with a sum of numbers in it, as in `y-2=\frac{8-2}{3-1}(x-1)`."""
    match answer:
        case Relation((first, last), ("=",)) if symbols(first) and symbols(last) and not isinstance(first, Symbol):
            return _only(answer, reference, _adds_numbers)
    return False


def _stated(node: Node, reference: Node) -> tuple[Node, ...]:
    r"""The values of a chain of equations, without its names: `2\cdot 10` and `20` for `P=mg=2\cdot 10=20`.

    If the reference is exact, rounded values are left out, too. Any other formula is its own only value.
    """
    match node:
        case Relation((first, *rest), operators) if set(operators) <= {"=", "~"}:
            rough = is_decimal(reference)
            members = [first, *(a for a, sign in zip(rest, operators, strict=True) if rough or sign == "=")]
            valued = tuple(
                m for m in members if not (isinstance(m, UndefinedCall) or (isinstance(m, Symbol) and symbols(m)))
            )
            if len(valued) < len(members) and not symbols(reference):
                # `mg` of `P = mg = 2 \\cdot 10`
                valued = tuple(m for m in valued if not symbols(m)) or valued
            return tuple(m.inside if isinstance(m, MARKS) else m for m in valued or members)
    return (node.inside,) if isinstance(node, MARKS) else (node,)


def _is_left(question: Question, answer: Node, reference: Node, same: Same) -> bool:
    r"""Whether one value of the answer leaves work to do that the reference does not: `\frac{48}{3}` for `16`."""
    if not operations(reference) and any(map(_joins_numbers, walk(answer))):
        return True
    if _only(answer, reference, _is_open) or _is_whole_quotient(question, answer, reference):
        return True
    if isinstance(answer, (Collection, Array)) and answer.args:
        wanted = reference.args if isinstance(reference, (Collection, Array)) else (reference,)
        pairs = zip(answer.args, wanted, strict=True) if len(wanted) == len(answer.args) else ()
        if any(_is_whole_quotient(question, *pair) for pair in pairs):
            return True
        return all(literal(one) is not None for one in wanted) and any(
            _is_only_said(question, a, a) or (not symbols(a) and operations(a) - {UNREDUCED}) for a in answer.args
        )
    if not any(isinstance(n, SetOperation) for n in walk(reference)) and any(
        _joins_sets(n, reference) for n in walk(answer)
    ):
        return True
    if _is_other_form(question, answer, reference, same):
        return True
    if question.says("scientific notation") and _is_unscientific(answer, reference):
        return True
    left = operations(answer)
    if not left or operations(reference):
        return False
    if question.asks_to_simplify or _is_calculation(answer, reference, left):
        return True
    if literal(reference) is not None and _is_only_said(question, answer, reference):
        return True
    if not symbols(answer) and _is_irrational(reference) and any(_is_given_power(question, n) for n in walk(answer)):
        return True
    left -= {UNREDUCED}
    formulas = list(islice(question.formulas.values(), _MOST_FORMULAS))
    if not symbols(answer) and families(left) & families(frozenset().union(*map(operations, formulas))):
        # The answer still holds the function that the question asks to compute
        return True
    return any(_is_task(formula, reference, left, same) for formula in formulas)


def _is_given_power(question: Question, node: Node) -> bool:
    r"""Whether a number of the question, or a fraction, is still to be raised to a power: `3^2` in `\pi\cdot 3^2`."""
    if not _is_whole_power(node):
        return False
    return isinstance(node.base, Quotient) or literal(node.base) in question.numbers - _FREE


def _only(answer: Node, reference: Node, is_left: Callable[[Node], bool]) -> bool:
    """Whether a part of the answer passes the test, and no part of the reference does."""
    return any(map(is_left, walk(answer))) and not any(map(is_left, walk(reference)))


def _is_open(node: Node) -> bool:
    r"""Whether a formula is a sum over an index, a maximum or minimum, `\max(16,17)`, or a root of a complex number."""
    return isinstance(node, BigOperator) or is_applied(node, "max", "min") or (is_root(node) and _I in walk(node.base))


def _is_whole_quotient(question: Question, answer: Node, reference: Node) -> bool:
    r"""Whether the answer leaves a division that the reference gives as a whole number: `\frac{48}{3}` for a mean of
    16.

    A solution of an equation may be left so, `\frac{8}{2}`, and so may a fraction whose denominator is in the question.
    """
    match answer, reference:
        case Quotient(Number(top), Number(bottom)), Number(whole, text) if text.isdigit() and bottom > 1:
            solves = any(
                isinstance(f, Relation) and symbols(f) and not _is_datum(f) for f in question.formulas.values()
            )
            known = solves or bottom in question.numbers
            return not known and top == whole * bottom and top.denominator == bottom.denominator == 1
    return False


def _is_datum(relation: Relation) -> bool:
    """Whether a relation gives a letter its value: `U = 12`."""
    return isinstance(relation.args[0], Symbol) and not any(map(symbols, relation.args[1:]))


def _is_calculation(answer: Node, reference: Node, left: frozenset[str]) -> bool:
    r"""Whether the answer is unfinished for every question: `3\cdot 60`, `\sqrt{49}`, a sum over k, a matrix product.

    Powers, factorials and binomials are common final forms of counts, so `2^{10}` is an answer.

    Args:
        answer: the answer.
        reference: the reference.
        left: the operations that the answer leaves to do.
    """
    if symbols(reference):
        return bool(left & {"sum", "product"} - operations(reference))
    if any(name.startswith("big ") for name in left) or MATRIX in left:
        return True
    if symbols(answer):
        return bool(left & {"sum", "product", "division"})
    if COMPLEX in left or (
        WHOLE_ROOT in left and (_is_signed_root(answer) or not any(isinstance(n, PlusMinus) for n in walk(answer)))
    ):
        return True
    if any(isinstance(n, Apply) and n.function not in _COUNTING for n in walk(answer)):
        return True
    if literal(reference) is None:
        return False
    # `26^4\cdot 10^2` is a count, `2^2\cdot 3^2` a divisor or a multiple that is not multiplied out
    powers = isinstance(answer, Product) and sum(map(_is_whole_power, answer.args)) > 1
    plain = all(isinstance(n, (Number, *RATIONAL_OPERATIONS, *MARKS)) for n in walk(answer))
    plain |= powers and _is_of_primes(answer)
    return any(map(is_root, walk(answer))) or (plain and bool(left & {"sum", "product", "division"}))


def _adds_numbers(node: Node) -> bool:
    r"""Whether the node is a sum of numbers, like the `8-2` of `\frac{8-2}{3-1}x`, and not a mixed number."""
    return isinstance(node, Sum) and not is_plain(node) and all(literal(a) is not None for a in node.args)


def _joins_numbers(node: Node) -> bool:
    r"""Whether numbers are left to combine: `16-4` or `4\cdot 3` under a root, `1+2` in `1+2+\sqrt3`.

    A power of ten with its factor counts as one number.
    """
    if isinstance(node, Sum) and not is_plain(node):
        numbers = (Number, *RATIONAL_OPERATIONS, *MARKS)
        return sum(all(isinstance(n, numbers) or _is_whole_power(n) for n in walk(a)) for a in node.args) > 1
    if not isinstance(node, Product):
        return False
    # `\frac43\cdot 3^3` and `1000(1.05)^2` are data put into a formula; `3\cdot 2^{10}` is the form of a count
    data = any(literal(a) is not None and literal(a).denominator > 1 for a in node.args)  # type: ignore[union-attr]
    bases = [literal(a.base) for a in node.args if _is_whole_power(a)]
    powers = any(base is not None and base != 10 and (data or base.denominator > 1) for base in bases)
    return powers or sum(literal(a) is not None for a in node.args) > 1


def _is_whole_power(node: Node) -> TypeGuard[Power]:
    r"""Whether a formula is a power with a whole exponent: `3^2`, and not `\sqrt3`."""
    exponent = literal(node.exponent) if isinstance(node, Power) else None
    return exponent is not None and exponent.denominator == 1


def _joins_sets(node: Node, reference: Node) -> bool:
    r"""Whether the node is an operation on listed sets or intervals: `\{1,2,3\}\cap\{2,3,4\}`, `[1,3]\cap[2,5]`.

    A union of intervals may be an answer, unless the reference is one interval.
    """
    if not isinstance(node, SetOperation):
        return False
    if all(is_collection(a, "set") for a in node.args):
        return True
    of_intervals = all(isinstance(a, Interval) or is_collection(a, "tuple") for a in node.args)
    return of_intervals and (node.operator == "intersection" or isinstance(reference, Interval))


def _is_signed_root(node: Node) -> bool:
    r"""Whether a formula is a root with at most a plus or minus sign before it, like `\pm\sqrt{49}`.

    A root inside `\frac{2\pm\sqrt{16}}{2}` comes from the quadratic formula, and does not count.
    """
    while isinstance(node, Negation) or (isinstance(node, PlusMinus) and len(node.args) == 1):
        node = node.args[0]
    return isinstance(node, Power)


def _holds_square(node: Node) -> bool:
    """Whether a formula has a power of a sum: `(x+1)^2+3`."""
    return any(isinstance(n, Power) and isinstance(n.base, Sum) for n in walk(node))


def _is_of_primes(node: Node) -> bool:
    r"""Whether each factor is a prime or a power of a prime: `2^2\cdot 3`. Divisors above a bound are not tried."""
    for part in node.args if isinstance(node, Product) else (node,):
        base = part.base if isinstance(part, Power) and literal(part.exponent) is not None else part
        if not isinstance(base, Number) or base.value.denominator != 1 or base.value < 2:
            return False
        if any(
            int(base.value) % divisor == 0 for divisor in range(2, min(isqrt(int(base.value)), _LARGEST_DIVISOR) + 1)
        ):
            return False
    return True


def _is_unscientific(node: Node, reference: Node) -> bool:
    r"""Whether only the reference is in scientific notation: `45\cdot 10^{-5}` or 0.00045, for `4.5\cdot 10^{-4}`."""
    wanted, found = (scientific(side) for side in (reference, node))
    if wanted is None or (isinstance(node, Number) and "e" in node.text.lower()):
        return False
    return found is None or not 1 <= abs(found[0].value) < 10


def _is_unreduced(question: Question, answer: Node, reference: Node) -> bool:
    """Whether the answer is a ratio or an equation that can be reduced, and the reference is reduced: `4:6` for `2:3`.

    It can be if it has a common factor; a ratio also if it has fractions. A ratio of whole numbers may keep its factor,
    unless the question asks to simplify, or gives two other numbers in this ratio, such as 12 and 18.
    """
    found = _content(answer)
    if found in (None, 1) or _content(reference) != 1:
        return False
    if found == 0 or "=" in reference.operators or question.asks_to_simplify:  # type: ignore[attr-defined]
        return found != 0 or "=" not in reference.operators  # type: ignore[attr-defined]
    first, second, *_ = (valued(part) for part in reference.args)
    given = question.numbers - {first, second}
    return any(one * second == other * first for one in given for other in given if one != other)  # type: ignore[operator]


def _content(node: Node) -> Fraction | None:
    """The common factor of a ratio's parts, or of the terms of an equation in one letter: 2 for `4:6` and for `2x+4=6`.

    It is 0 if they are not whole numbers, and None for any other formula.
    """
    match node:
        case Relation(parts, operators) if set(operators) == {":"} and not symbols(node):
            found = [valued(part) for part in parts]
        case Relation((Sum() as left, right), ("=",)) if len(symbols(left)) == 1 and not symbols(right):
            found = [_coefficient(term) for term in (*left.args, right)]
        case _:
            return None
    if None in found:
        return None
    whole = [int(one) for one in found if one is not None and one.denominator == 1]
    return Fraction(gcd(*whole)) if len(whole) == len(found) else Fraction(0)


def _coefficient(term: Node) -> Fraction | None:
    """The number before the letters of a term, 3 for `3x`, or the value of a term without letters."""
    if not symbols(term):
        return valued(term)
    if isinstance(term, Negation):
        return _coefficient(term.inside)
    number_ = next(iter(term.args), term) if isinstance(term, Product) else term
    return literal(number_) if literal(number_) is not None else Fraction(1)


def _is_only_said(question: Question, answer: Node, reference: Node) -> bool:
    r"""Whether the answer only combines numbers of the question: `60\cdot 4` for 4 hours at 60 miles an hour."""
    if not (operations(answer) - {UNREDUCED} or _is_division(answer, reference)) or symbols(answer):
        return False
    # The question may not write the exponent of a square or a cube
    exponents = [n.exponent for n in walk(answer) if isinstance(n, Power) and literal(n.exponent) in _SAID_EXPONENTS]
    found = [n for n in walk(answer) if isinstance(n, Number) and n.text and not any(n is e for e in exponents)]
    numbers = {n.value for n in found} - _FREE
    return bool(numbers) and numbers <= question.numbers


def _is_division(answer: Node, reference: Node) -> bool:
    r"""Whether the answer is a fraction that is left to divide: `\frac{12}{4}`, or `\frac{2}{4}` for 0.5.

    `\frac44` does not count: it is the sum of `\frac14` and `\frac34`.
    """
    match answer:
        case Quotient(Number(top), Number(bottom)) if bottom not in (0, top):
            return (top / bottom).denominator == 1 or (is_decimal(reference) and gcd(int(top), int(bottom)) > 1)
    return False


def _is_task(formula: Node, reference: Node, left: frozenset[str], same: Same) -> bool:
    """Whether the question asks to compute this formula: it has the reference's value, and operations to do.

    Args:
        formula: a formula of the question.
        reference: the reference.
        left: the operations that the answer leaves to do.
        same: whether two formulas have the same value.
    """
    asked = operations(formula)
    if not asked or not (left or UNREDUCED in asked):
        return False
    return same(reference, formula)


def _is_other_form(question: Question, answer: Node, reference: Node, same: Same) -> bool:
    """Whether the question has this value in a different form, and the answer does not have the form of the reference.

    `x^2-1` for `Factor $x^2-1$.` The reference shows the form in any language: factored, expanded, a completed square,
    partial fractions or a product of primes.
    """

    def gives(is_other: Callable[[Node], bool]) -> bool:
        """Whether a formula of the question has the reference's value, and passes this test of its form."""
        formulas = islice(question.formulas.values(), _MOST_FORMULAS)
        return any(symbols(f) == symbols(reference) and is_other(f) and same(reference, f) for f in formulas)

    if literal(answer) is None and UNREDUCED in operations(answer) - operations(reference) and gives(lambda _: True):
        return True
    if question.asks_to_rewrite and _holds_series(reference) and not _holds_series(answer):
        return True
    if question.has(_ALGEBRAIC) and _is_polar(answer) and not _is_polar(reference):
        return True
    if not symbols(reference):
        return _is_other_number(question, answer, reference, gives)
    if any(has(answer) and not has(reference) and gives(has) for has in (_divides, _has_negative_power)):
        return True
    if _IN_TERMS_OF.search(question.text) and not _applied(answer) <= _applied(reference):
        return True
    wanted, is_sum = _sums(reference), isinstance(reference, Sum)
    if is_sum and _divides(reference) and len(terms(answer)) < len(terms(reference)):
        return gives(lambda f: isinstance(f, Quotient))
    if is_sum and _holds_square(reference):
        return not _holds_square(answer) and gives(lambda f: not _holds_square(f))
    if not _holds_product_of_sums(reference) and _holds_product_of_sums(answer):
        return gives(lambda f: _holds_product_of_sums(f) and not _divides(f))
    if is_sum or not sum(wanted):
        return False
    unfinished = bool(operations(answer) - {UNREDUCED}) or (_divides(answer) and not _divides(reference))
    apart = key(answer)[0] != SUM and sum(_sums(answer)) >= sum(wanted) and not unfinished
    if apart and _whole_factor(reference) in (1, abs(_whole_factor(answer))):
        return False
    # fractions over one denominator are no sum to be factored
    return gives(lambda f: isinstance(f, Sum) and (isinstance(answer, Sum) or not _divides(f)))


def _is_other_number(
    question: Question, answer: Node, reference: Node, gives: Callable[[Callable[[Node], bool]], bool]
) -> bool:
    r"""As `_is_other_form`, for a reference without letters: `4\cdot 3` for the reference `2^2\cdot 3`.

    Args:
        question: the facts about the question.
        answer: the answer.
        reference: the reference.
        gives: whether a formula of the question has this value and passes a test.
    """
    made = operations(reference) - {UNREDUCED}
    match reference, answer:
        case Quotient(Number(), Number(below)), Quotient(Number(), Number(other)):
            # `14/35`, where the denominator is given
            if UNREDUCED in operations(reference) and other != below in question.numbers:
                return True
        case Power(Number(base), Number()), Power(Number(other), Number()):
            if other != base in question.numbers:
                return True
    given = valued(reference)
    if (
        made
        and made <= _ARITHMETIC
        and (
            given in question.numbers
            or any(literal(f) == given for f in islice(question.formulas.values(), _MOST_FORMULAS))
        )
    ):
        # the question's number is to be written as this sum, product or power
        return _members(answer) != _members(reference) or _is_of_primes(reference) > _is_of_primes(answer)
    if _is_number_power(reference) and not operations(answer) and gives(lambda f: bool(operations(f))):
        return True
    if _has_open_root(answer) and not _has_open_root(reference):
        return gives(lambda f: any(map(is_root, walk(f))))
    if isinstance(answer, Sum) and _calls(answer) > _calls(reference) > 0:
        return any(isinstance(f, Sum) and _calls(f) for f in question.formulas.values())
    if not operations(reference) or not _is_of_primes(reference) or _is_of_primes(answer):
        return False
    return bool(operations(answer)) and gives(lambda _: True)


def _holds_series(node: Node) -> bool:
    """Whether a formula has a sum or a product over an index."""
    return any(isinstance(n, BigOperator) and n.sign in ("sum", "prod") for n in walk(node))


# If a question names a function in this way, the answer may have only functions that the reference has
_IN_TERMS_OF = re.compile(
    r"(?:\b(?:in terms of|using|with|durch|en función del?|en fonction de|en termes de|in funzione di"
    r"|em função de|через)|用|以)\s*(?:only\s|just\s|solo\s|nur\s|仅|只)?\s*(?:\$|\\\()?\s*"
    r"\\?(?:sin|cos|tan|cot|sec|csc|log|ln|exp)"
    r"|(?:sin|cos|tan|cot|sec|csc|log|ln|exp)[^$。]{0,12}\$?\s*(?:だけ|のみ|を用いて|で表)",
    re.IGNORECASE,
)
# `a+bi`
_ALGEBRAIC = re.compile(
    r"[ax]\s*\+\s*(?:[by]\s*i|i\s*[by])(?![a-z])|\bstandard form|\brectangular|\bcartesian", re.IGNORECASE
)


def _applied(node: Node) -> frozenset[Key]:
    r"""The functions in a formula with their arguments, as canonical keys: `\sin x` in `\sin x+1`."""
    return frozenset(key(n) for n in walk(node) if isinstance(n, Apply))


def _is_polar(node: Node) -> bool:
    r"""Whether a complex number is not in the form `a+bi`: it has a power, `2e^{i\pi}`, or a sine or cosine."""
    held = [
        n
        for n in walk(node)
        if _I in walk(n) and (isinstance(n, Power) or any(is_applied(a, "sin", "cos") for a in n.args))
    ]
    return bool(held)


def _is_number_power(node: Node) -> bool:
    """Whether a formula is a number with an exponent above 1: `2^3`."""
    return isinstance(node, Power) and literal(node.base) is not None and (literal(node.exponent) or 0) > 1


def _members(node: Node) -> Counter[object]:
    """The values of a sum's terms, 1 and 2 for `1+2`, or the factors of any other number."""
    return Counter(map(valued, node.args)) if isinstance(node, Sum) else Counter(factors(node))


def _has_negative_power(node: Node) -> bool:
    """Whether a formula has a negative exponent: `x^{-1}`."""
    return any(isinstance(n, Power) and (literal(n.exponent) or 0) < 0 for n in walk(node))


def _calls(node: Node) -> int:
    r"""How many functions a formula applies: 2 for `\ln 2+\ln 3`."""
    return sum(isinstance(n, Apply) for n in walk(node))


def _has_open_root(node: Node) -> bool:
    """Whether a root is not in its simplest form: in a denominator, of a fraction, or with a power, `2^{3/2}`."""
    below = {id(n) for part in walk(node) if isinstance(part, Quotient) for n in walk(part.below)}
    return any(
        id(n) in below or isinstance(n.base, Quotient) or (literal(n.exponent) or 0) > 1
        for n in filter(is_root, walk(node))
    )


def _sums(node: Node) -> list[int]:
    """How often each factor with letters occurs: `[2, 1]` for `(x+1)^2(x-1)`."""
    return [times for one, times in factors(node).items() if "'Symbol'" in repr(one)]


def _divides(node: Node) -> bool:
    r"""Whether a denominator has a letter: `\frac1x`."""
    return any(isinstance(part, Quotient) and symbols(part.below) for part in walk(node))


def _holds_product_of_sums(node: Node) -> bool:
    """Whether a formula has a sum with letters as a factor: `2(x+1)`."""
    for part in walk(node):
        parts = part.args if isinstance(part, Product) else (part.base,) if isinstance(part, Power) else ()
        if any(isinstance(p, Sum) and symbols(p) for p in parts):
            return True
    return False


# An answer with more nodes is not searched: it is too large for a copy
_MAX_NODES = 300
_LARGEST_POWER = 400


def unearned(question: Question, answer: Node, reference: Node, text: str, truth: str) -> str | None:
    """The reason why an answer with the right value does not answer the question; None if it does.

    `copied: 14+23 stands in the question` for the answer `14+23` to `What is $14+23$?`

    Args:
        question: the facts about the question.
        answer, reference: the two formulas.
        text, truth: their texts.
    """
    copied, unworked = (
        f"copied: {short(text)} stands in the question",
        f"unworked: {short(text)} is still to be worked out",
    )
    if (
        all(is_plain(n) and literal(n) is not None for n in (answer, reference))
        and added_up(text) is added_up(truth) is None
    ):
        # Nothing is left to work out in a plain number. It can only be in the question that asks for another form,
        # or lack a rounding: it is no formula, no equation and no quantity to convert
        handed = _hands_on(question, answer, reference) or (
            literal(reference) != _HALF and question.hands_formula(text, truth)
        )
        if handed or (question.asks_to_rewrite and restates(question, answer, reference)):
            return copied
        return unworked if question.asks_to_round and literal(answer) != literal(reference) else None
    answer = residue(answer) or answer
    if _hands_on(question, answer, reference):
        return copied
    if (known := settled(answer, reference)) is None:
        return unworked
    sides = (answer,) if known is answer else (answer, known)
    if question.hands_formula(text, truth) or hands_back(question, answer, text, truth):
        return copied
    if any(restates(question, n, reference) for n in sides):
        return copied
    values = CheapComparer(f"{text}|{truth}", question)

    def same(mine: Node, theirs: Node) -> bool:
        return values.leaf(mine, theirs) is EQUAL

    return unworked if any(is_unworked(question, n, reference, same) for n in sides) else None


def notation(node: Node) -> str:
    """The notation of a number, such as `decimal`, `fraction`, `mixed` or `scientific`; empty if it is no number."""
    node = unsigned(node)
    if (power := scientific(node)) is not None:
        return "scientific" if 1 <= abs(power[0].value) < _TEN else "a power of ten"
    match node:
        case Percent() | Degrees():
            return type(node).__name__
        case Number(value, text) if text:
            return (
                "scientific" if "e" in text.lower() else "decimal" if value.denominator > 1 or "." in text else "whole"
            )
        case Quotient(Number(), Number()):
            return "fraction" if is_plain(node) else UNREDUCED
        case Sum() if is_plain(node):
            return "mixed"
    return ""


_TEN = 10
# A half and its complement look the same, so the question may give the value that it asks for
_HALF = Fraction(1, 2)


def _hands_on(question: Question, answer: Node, reference: Node) -> bool:
    """Whether the answer is the question's only number, which it should rewrite as the reference does.

    `0.75` for `Write 0.75 as a fraction.` and the reference `3/4`; `75%`, too, since nobody asked for that notation.
    """
    given = question.single_number
    if given is None or (value := _number(_undegreed(given))) in (None, _HALF):
        return False
    own, wanted, found = notation(given), notation(reference), notation(answer)
    if "Degrees" in (own, wanted):
        return literal(_undegreed(answer)) == value and own == found != wanted
    exact = [_number(side) for side in (reference, answer)]
    if wanted == found == own == "decimal" and exact[1] == value != exact[0]:
        # it is to be rounded
        return True
    if wanted in ("", own) or exact[1] != value or found in ("", wanted):
        return False
    # a third notation is not the one asked for; but a mixed number is a fraction, and a fraction may be only reduced
    close = {wanted, found} == {"fraction", "mixed"} or (own, wanted) == (UNREDUCED, "fraction")
    # for a repeating decimal, any fraction is worked out
    close = close or (isinstance(given, Number) and "(" in given.text and found == UNREDUCED)
    third = exact[0] == exact[1] and not (close or (wanted, found) == ("Percent", "decimal"))
    return found == own or third


def _undegreed(node: Node) -> Node:
    """A number without its degree mark."""
    return node.inside if isinstance(node, Degrees) else node


def _number(node: Node) -> Fraction | None:
    r"""The value of a plain number, a percentage, `50\%`, or a number with a power of ten; None for any other
    formula.
    """
    if (power := scientific(node)) is not None and power[1].denominator == 1 and abs(power[1]) < _LARGEST_POWER:
        return power[0].value * Fraction(10) ** int(power[1])
    value = literal(node.inside) if isinstance(node, Percent) else literal(node)
    return value / 100 if value is not None and isinstance(node, Percent) else value


def settled(answer: Node, reference: Node) -> Node | None:
    r"""The answer without the letters that the reference lacks, if its value does not depend on them.

    `\gcd(84,126)\cdot 1^n` gives `\gcd(84,126)`. Memberships like `t \in \mathbb{R}` are dropped. An answer that does
    depend on such letters is given back with them. None if an identity in them is left to work out:
    `\sin^2 t+\cos^2 t`.
    """
    if is_collection(answer, "list"):
        parts = [part for part in answer.args if not is_range(part)]
        answer = parts[0] if len(parts) == 1 else answer
    answer = _value(answer)
    if isinstance(answer, Relation):
        sides = [settled(side, reference) for side in answer.args] if set(answer.operators) == {":"} else []
        return with_args(answer, tuple(side for side in sides if side is not None)) if sides else answer
    free = sorted(symbols(answer) - symbols(reference))[: len(_FREE_VALUES)]
    if not free:
        return answer
    first, second = (
        _worked_out(answer, dict(zip(free, map(number, values), strict=False)))[0] for values in _FREE_VALUES
    )
    # A value that depends on its letters is no constant
    if valued(first) is not None and valued(first) == valued(second):
        return first
    return answer if any(_depends(answer, name) for name in free) else None


_FREE_VALUES = ((7, 11, 13), (5, 17, 19))


def _depends(node: Node, name: str) -> bool:
    """Whether a formula's value depends on this letter: `3n` on `n`. True also if the formula has no value."""
    letter = Symbol(name)
    for values in (map(number, _FREE_VALUES[0]), (letter, Symbol(f"{name}'"))):
        first, second, *_ = (valued(substituted(node, letter, value)) for value in values)
        if first is not None and first == second:
            return False
    return True


def _worked_out(node: Node, values: dict[str, Number]) -> tuple[Node, bool]:
    r"""A formula with these values for its letters, and whether it is now a single number made of them.

    `3+n` with 7 for `n` gives 10 and True. A part that does nothing is dropped, `1^n` in `3\cdot 1^n`, and the rest
    stays as it is written, with False.
    """
    if isinstance(node, Symbol):
        return values.get(node.name, node), node.name in values
    if not node.args or values.keys().isdisjoint(symbols(node)):
        return node, False
    # each part once: twice at each level would take twice the time for each bracket
    worked = [_worked_out(one, values) for one in node.args]
    whole = with_args(node, tuple(part for part, _ in worked))
    made = [part.value for part, is_made in worked if is_made and isinstance(part, Number)]
    rest = tuple(part for part, is_made in worked if not is_made)
    drops = isinstance(node, Sum | Product) or (isinstance(node, Quotient | Power) and not worked[0][1])
    if made and rest and drops and (sum(made) == 0 if isinstance(node, Sum) else prod(made) == 1):
        return (rest[0] if len(rest) == 1 else with_args(node, rest)), False
    known = bool(made) and all(literal(part) is not None for part in whole.args)
    value = exact_value(whole) if known else None
    return (whole, False) if value is None else (Number(value, str(value)), True)


def restates(question: Question, answer: Node, reference: Node) -> bool:
    r"""Whether the answer is a formula of the question, perhaps rearranged, and not the reference itself.

    `23+14` for `What is $14+23$?` A plain value (`12`, `\frac34`) of the question is a fair answer, unless the question
    asks to write a value in a different form.
    """
    same = {key(part) for part in (reference, _value(reference))}
    formulas = question.formulas
    if not formulas or key(answer) in same or key(_value(answer)) in same:
        return False
    plain_too = question.asks_to_rewrite
    return any(_is_copy(part, formulas, plain_too) for part in (answer, _value(answer)))


def hands_back(question: Question, answer: Node, answer_text: str, reference_text: str) -> bool:
    """Whether the answer is a quantity of the question that it should convert: `135 minutes` if hours are asked for."""
    said = set(numbers_said(answer_text))
    if added_up(answer_text) is not None and added_up(reference_text) is None and said <= question.numbers:
        return True
    value = literal(answer.inside if isinstance(answer, Quantity) else answer)
    converted = isinstance(answer, Quantity) or added_up(reference_text) is not None
    if value is None or not converted or value not in question.numbers:
        return False
    if isinstance(answer, Quantity) and not is_given_in(answer.unit, question.text):
        # 100 mJ where the question has 100 V
        return False
    return value in said - set(numbers_said(reference_text))


def _value(node: Node) -> Node:
    r"""The last member of a calculation, or the value that a name is given: `\sqrt{49}` for `x = \sqrt{49}`; else the
    formula.
    """
    match node:
        case Relation((Symbol() | UndefinedCall(), value), ("=",)):
            return value
        case Relation((Symbol() | UndefinedCall(), *parts), ("=", *signs)) if set(signs) == {":"}:
            return Relation(tuple(parts), tuple(signs))
        case Relation(args, operators) if set(operators) == {"="} and not any(map(symbols, args)):
            return args[-1]
    return node


def _is_copy(node: Node, formulas: dict[Key, Node], plain_too: bool) -> bool:
    """Whether an answer is a formula of the question, or a list or equation of its formulas.

    Args:
        node: the answer.
        formulas: the formulas of the question.
        plain_too: whether a plain value of the question is a copy, too.
    """
    if isinstance(node, Collection) and node.args:
        # A list of formulas of the question is a copy; plain values in a list may be the answer
        return (key(node) in formulas and plain_too) or all(_is_copy(a, formulas, False) for a in node.args)
    if isinstance(node, Relation) and set(node.operators) <= {"=", "~"} and key(node) not in formulas:
        return all(_is_copy(a, formulas, plain_too) for a in node.args)
    if isinstance(node, Number) and "e" in node.text.lower():
        # Writing a number with a power of ten is work
        return False
    if is_plain(node):
        unknown = isinstance(node, Symbol) and node.name not in CONSTANTS
        whole = isinstance(node, Number) and node.value.denominator == 1 and not is_decimal(node)
        return plain_too and key(node) in formulas and not (isinstance(node, Text) or unknown or whole)
    return key(node) in formulas or _holds_formula(node, formulas)


def _holds_formula(node: Node, formulas: dict[Key, Node]) -> bool:
    r"""Whether a part of the answer is a formula of the question that has the value of the whole answer.

    Only formulas that still need computing count.
    """
    parts = walk(node)
    if len(parts) > _MAX_NODES:
        return False
    unfinished = {k: f for k, f in formulas.items() if not is_plain(f) and not isinstance(f, Collection)}
    inside = {k: part for part in parts if (k := key(part)) in unfinished}
    value = valued(node)
    if value is None:
        return any(isinstance(n, MARKS) and key(n.inside) in unfinished for n in parts)
    if any(valued(part) == value for part in inside.values()):
        return True
    return any(valued(formula) == value for formula in _contained(parts, unfinished))


def _contained(parts: list[Node], formulas: dict[Key, Node]) -> Iterator[Node]:
    """The sums and products of the question whose terms or factors all occur in one sum or product of the answer.

    Args:
        parts: all parts of the answer.
        formulas: the formulas of the question.
    """
    for read, own, kind in ((terms, terms, SUM), (factors, _unsigned_factors, PRODUCT)):
        inside = [read(part) for part in parts if isinstance(part, RATIONAL_OPERATIONS)]
        for known, formula in formulas.items():
            if _kind(known) == kind and any(own(formula) <= whole for whole in inside):
                yield formula


def _unsigned_factors(formula: Node) -> Counter[Key]:
    """The factors of a formula without its minus sign, which in an answer may be before the fraction that has the
    factors.
    """
    found = factors(formula.inside if isinstance(formula, Negation) else formula)
    del found[MINUS]
    return found


def _kind(known: Key) -> object:
    """The kind of the formula that has this key, without its minus sign: `product` for the key of `-2x`."""
    inside = known[1] if known[0] == NEG else known
    return inside[0] if isinstance(inside, tuple) else None
