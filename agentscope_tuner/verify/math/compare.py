"""Two readings compared by their kinds, and their leaves by exact arithmetic, in time linear in the text.

Each pair of kinds that may be equal has a rule here. A pair without a rule is different. A statement is compared with a
solution only if the reference is the statement: else an answer could leave the equation unsolved.

No answer may be equal to two different references. So if only one side has a percent sign or a degree sign, the sign
gets a single meaning. The side without the sign, and the question, choose it; the two meanings are never both tried.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import asking_clause
from agentscope_tuner.verify.math.canonical import ELLIPSIS, key
from agentscope_tuner.verify.math.compare_kinds import (
    as_set,
    asked_amount,
    grids,
    has_unit,
    in_asked_order,
    listings,
    points,
    ratio_named,
    regions,
    same_bounds,
    same_family,
    same_quantity,
    same_ratio,
    unordered,
)
from agentscope_tuner.verify.math.exact import ClosedForms, Exact, ExactBudget, Unknown, exact_value, in_base, primes_of
from agentscope_tuner.verify.math.node import (
    CONSTANTS,
    COUNTING,
    DIFFERENT,
    EQUAL,
    MARKS,
    PI,
    RATIONAL_OPERATIONS,
    TURNED,
    UNKNOWN,
    Apply,
    Collection,
    Connective,
    Degrees,
    Digits,
    Negation,
    Node,
    Number,
    Outcome,
    Percent,
    Power,
    Product,
    Quantity,
    Quotient,
    Relation,
    Sum,
    Symbol,
    Text,
    UndefinedCall,
    all_known,
    all_of,
    close,
    difference,
    is_applied,
    is_collection,
    is_decimal,
    is_equation,
    is_joined,
    is_number,
    is_relation,
    literal,
    mapped,
    number,
    renamed,
    symbols,
    types_in,
    walk,
)
from agentscope_tuner.verify.math.parameters import (
    as_integrals,
    same_functions,
    same_lattice,
    same_parameter,
    same_progression,
    with_dummy_of,
    with_letter_of,
    with_names_of,
)
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.readings import (
    Chain,
    Family,
    Grid,
    Listing,
    Named,
    Ratio,
    Reading,
    Region,
    Statement,
    Value,
    Wording,
    is_listing,
    resolve,
)
from agentscope_tuner.verify.math.sets import (
    NotSolved,
    is_equal_names,
    is_name,
    is_segment,
    label,
    named_value,
)
from agentscope_tuner.verify.math.units import measure


def _amount(node: Node) -> Node:
    """The number in a quantity, an angle or a percentage: 5 for `5\\%`; any other node as it is."""
    return node.inside if isinstance(node, Quantity | Percent | Degrees) else node


def _steps(reading: Reading) -> list[Reading]:
    r"""The statements that `\iff` or `\implies` joins: `2x=4` and `x=2` in `2x=4 \iff x=2`; empty without an arrow."""
    if not isinstance(reading, Statement) or not isinstance(node := reading.node, Relation):
        return []
    at = [place for place, sign in enumerate(node.operators) if sign in ("iff", "=>")]
    ends = [0, *(place + 1 for place in at), len(node.args)]
    parts = [(begin, end) for begin, end in itertools.pairwise(ends) if at]
    # each step must be an equation or an inequality, not a single letter
    if not all(end - begin > 1 for begin, end in parts):
        return []
    return [resolve(Relation(node.args[begin:end], node.operators[begin : end - 1])) for begin, end in parts]


def _same_scale(exact: Node, rough: Node) -> Pair:
    r"""The numbers of two sides, ready to be compared: 2000 and 2000 for `2 \text{ km}` and `2000 \text{ m}`.

    Units and degree signs are removed. A percent sign is kept if only one side has it.
    """
    if isinstance(exact, Quantity) and isinstance(rough, Quantity):
        mine, theirs = measure(exact.unit), measure(rough.unit)
        times = number(mine.size / theirs.size if mine.dimension == theirs.dimension else Fraction(1))
        return Product((exact.inside, times)), rough.inside
    apart = isinstance(exact, Percent) != isinstance(rough, Percent)
    return (exact, rough) if apart else (_amount(exact), _amount(rough))


Pair = tuple[Node, Node]
_SURE = (DIFFERENT, UNKNOWN, EQUAL)


def meant(ref: Node, ans: Node, question: Question | None) -> Pair | None:
    """The two sides as they are to be compared: a percent or degree sign goes if the other side may have left it out.

    For the reference `50\\%` the answer 50 gives 50 and 50, but with the answer 0.5, the same share worked out, both
    stay. None if the sign makes the answer wrong: without a question, `0.5\\%` for the reference 0.5.
    """
    match ref, ans:
        case (Percent(), Percent()) | (Degrees(), Degrees()):
            return _unmarked(ref), _unmarked(ans)
        case Percent(), _:
            worked_out = _is_worked_out(ref, ans, question, of_answer=False)
        case _, Percent() if question is not None and question.asks_fraction and not question.asks_percent:
            # The question asks for a fraction or a decimal, not for a percentage
            return None
        case _, Percent():
            worked_out = _is_worked_out(ans, ref, question, of_answer=True)
        case Degrees(), _:
            # A bare number counts degrees, unless it has pi: radians are written with pi
            worked_out = PI in walk(ans)
        case _, Degrees(inside) if PI in walk(inside):
            # degrees are not written in multiples of pi
            return None
        case _, Degrees():
            worked_out = question is not None and (
                question.speaks_of_radians
                or (PI in walk(ref) and question.asks_angle and not question.speaks_of_degrees)
            )
        case _:
            return ref, ans
    if worked_out:
        return ref, ans
    if question is None and isinstance(ans, (Percent, Degrees)) and _is_small(ref) and literal(ref) != 0:
        # The reference 0.5 is a part of one, so `0.5\%` cannot be equal to it. `50\%` already means 50, `30^\circ`
        # already means 30: a second meaning would let one answer fit two references
        return None
    return _unmarked(ref), _unmarked(ans)


def _with_factors(side: Node, other: Node) -> Node:
    """The side with calls of the other side's letters as products: `h(a+b)` as h times a+b beside `(a+b)h`."""
    calls = {n.function for n in walk(side) if type(n) is UndefinedCall and len(n.args) == 1}
    letters = calls and calls & symbols(other)

    def changed(node: Node) -> Node:
        node = mapped(node, changed)
        if isinstance(node, UndefinedCall) and node.function in letters and len(node.args) == 1:
            return Product((Symbol(node.function), *node.args))
        return node

    return changed(side) if letters else side


def _unmarked(node: Node) -> Node:
    """The node without its percent or degree sign: 5 for `5\\%`; any other node as it is."""
    return node.inside if isinstance(node, (Percent, Degrees)) else node


def _is_worked_out(marked: Percent, bare: Node, question: Question | None, of_answer: bool) -> bool:
    """Whether the bare side is the value of the percentage (0.5 for `50\\%`), not the number before the sign (50).

    The answer's percentage means its number if the question asks for a percentage, or if there is no question. The
    reference must not choose here: then `50\\%` would be equal to two references, 0.5 and 50. A reference's percentage
    may be answered either way.
    """
    number = literal(marked.inside)
    if of_answer:
        return question is not None and not question.asks_percent
    if question is not None and question.asks_percent and number is not None and abs(number) < 1:
        return False
    return literal(bare) is None or _is_small(bare)


def _is_small(node: Node) -> bool:
    """Whether the node is a number between -1 and 1, such as 0.5."""
    value = literal(node)
    return value is not None and abs(value) < 1


def is_bare_log(node: Node) -> bool:
    r"""Whether the node is a logarithm without a base: `\log x`, but not `\log_2 x`."""
    return is_applied(node, "log") and len(node.args) == 1


def log_bases(ref: Node, ans: Node, question: Question | None) -> tuple[int | None, ...]:
    r"""The bases in which to read a `\log` without a base, the same base on both sides; None means base e.

    Base 10 is tried after e only if both sides are combinations of logarithms: two such sides that agree in one base
    are the same answer. The result is empty if the answer's `\log` has no meaning: the question names no base, and the
    two sides are not both such combinations with a logarithm in the reference.
    """
    bare_ref, bare_ans = (any(map(is_bare_log, walk(side))) for side in (ref, ans))
    if not bare_ref and not bare_ans:
        return (None,)
    if question is not None and question.log_base is not None:
        return (question.log_base,)
    plain = is_log_sum(ref) and is_log_sum(ans)
    has_log = any(is_applied(n, "ln", "log") for n in walk(ans if bare_ref else ref))
    if bare_ref:
        natural = any(is_applied(n, "ln") for n in walk(ref))
        # An answer without a logarithm cannot share the ambiguity: then the base is e alone
        return (None, 10) if plain and has_log and not natural else (None,)
    return (None,) if has_log and plain else ()


def is_log_sum(node: Node) -> bool:
    r"""Whether the node has only rational operations on logarithms of rational expressions: `\log 2 + 3\log x`."""
    if is_applied(node, "log", "ln"):
        return all(map(_is_rational, node.args))
    if isinstance(node, RATIONAL_OPERATIONS):
        return all(map(is_log_sum, node.args))
    if isinstance(node, Power):
        return is_log_sum(node.base) and isinstance(node.exponent, Number)
    return _is_rational(node)


def _is_rational(node: Node) -> bool:
    r"""Whether the node has only numbers, letters, rational operations, powers, absolute values: `\frac{x^2+1}{y}`."""
    return all(
        isinstance(n, (Number, *RATIONAL_OPERATIONS, Power))
        or is_applied(n, "abs")
        or (isinstance(n, Symbol) and n.name not in CONSTANTS)
        for n in walk(node)
    )


MAX_ELEMENTS = 100
_MOST_REPEATED = 12


class _Facts(NamedTuple):
    """The facts about one expression at the random point, kept for its later comparisons.

    Attributes:
        node: the expression.
        value: its value at the point; None if rational arithmetic cannot give one.
        opaque: a part of it, such as a root, has an arbitrary value there, so unequal values prove nothing.
        rational: it is a number, or made of numbers by rational operations.
        symbolic: it has letters.
    """

    node: Node
    value: Fraction | None
    opaque: bool
    rational: bool
    symbolic: bool


class CheapComparer:
    """Compares a reference with an answer by the kinds of both, and single formulas by rational arithmetic.

    The outcome is UNKNOWN if rational arithmetic cannot decide. The reference is always the first argument, because
    the rules are not symmetric: an answer may leave out a unit or `x =`. A subclass compares formulas, statements and
    regions by more than rational arithmetic.

    Args:
        seed: the two texts; they choose the evaluation points.
        question: chooses between the meanings of a notation, such as the percent sign.
    """

    def __init__(self, seed: str, question: Question | None = None) -> None:
        self.seed = seed
        self.question = question
        self.work = ExactBudget()
        self._closed = ClosedForms()
        # Keyed by identity, because hashing a tree walks all of it. The entry keeps its node alive, so no id is reused
        self._known: dict[int, _Facts] = {}

    def leaf(self, ref: Node, ans: Node) -> Outcome:
        """Compare two single formulas, such as `2x` and `x+x`, or amounts such as `50\\%` and 0.5."""
        if isinstance(ref, Digits) or isinstance(ans, Digits):
            return based(ref, ans)
        pair = meant(ref, ans, self.question)
        return DIFFERENT if pair is None else self._numbers(*pair)

    def _facts(self, node: Node) -> _Facts:
        """The facts about a formula at the random point, computed once."""
        known = self._known.get(id(node))
        if known is None:
            point = Exact(self.seed, self.work)
            try:
                value = point.value(node)
            except Unknown:
                value = None
            alone = is_number(node)
            known = _Facts(node, value, point.opaque, alone or is_rational(node), not alone and bool(symbols(node)))
            self._known[id(node)] = known
        return known

    def _numbers(self, ref_node: Node, ans_node: Node) -> Outcome:
        """Compare two formulas by their values at the random point; UNKNOWN if the values prove nothing."""
        ref, ans = self._facts(ref_node), self._facts(ans_node)
        if ref.value is None or ans.value is None:
            return UNKNOWN
        if ref.value == ans.value:
            return EQUAL
        if ref.opaque or ans.opaque:
            # At a random point a root has an arbitrary value, so unequal values prove nothing
            return UNKNOWN if ref.symbolic or ans.symbolic else self._closed.same(ref_node, ans_node)
        if ref.rational and ans.rational:
            return EQUAL if close(ref_node, ref.value, ans_node, ans.value) else DIFFERENT
        if ref.symbolic or ans.symbolic:
            return DIFFERENT
        return self._closed.same(ref_node, ans_node)

    def roughly(self, exact: Node, rough: Node) -> Outcome:
        r"""Compare a number with its rounded value behind a `\approx`: 1/3 and 0.33; UNKNOWN for roots and the like."""
        known, other = self._facts(exact), self._facts(rough)
        if known.value is None or other.value is None or known.opaque or other.opaque:
            return UNKNOWN
        if not (known.rational and other.rational):
            return UNKNOWN
        return EQUAL if near(known.value, other.value) else DIFFERENT

    def statement(self, ref: Node, ans: Node) -> Outcome:
        """Whether one equation or inequality is a multiple of the other: `2x < 2` of `x < 1`. EQUAL, else UNKNOWN."""
        if is_relation(ref, "propto") and is_relation(ans, "propto"):
            orders = (ans.args, ans.args[::-1])
            return max((all_of([*map(self.multiple, ref.args, order)]) for order in orders), key=_SURE.index)
        ref_pair, ans_pair = oriented(ref), oriented(ans)
        if ref_pair is None or ans_pair is None or ref_pair[0] != ans_pair[0]:
            return UNKNOWN
        ratios = self._ratios(ref_pair[1], ans_pair[1])
        if len(ratios) != 1 or (ref_pair[0] not in ("=", "!=") and min(ratios) < 0):
            return UNKNOWN
        return EQUAL

    def _ratios(self, ref: Node, ans: Node) -> set[Fraction]:
        """The quotients `ans / ref` at two points: {2} for `x+1` and `2x+2`.

        Empty if a formula has no exact value or is zero at one of the points.
        """
        ratios = set()
        try:
            for seed in (self.seed + "+", self.seed + "-"):
                point = Exact(seed, self.work)
                below = point.value(ref)
                above = point.value(ans)
                if not below or not above:
                    return set()
                ratios.add(above / below)
        except Unknown:
            return set()
        return ratios

    def multiple(self, ref: Node, ans: Node) -> Outcome:
        """EQUAL if the answer is the reference times a constant, as `2x+2` is twice `x+1`; else UNKNOWN."""
        return EQUAL if len(self._ratios(ref, ans)) == 1 else UNKNOWN

    def solution(self, ref: Node, ans: Node) -> Outcome:
        """Compare an equation or inequality with a set of solutions; always UNKNOWN here, subclasses solve."""
        return UNKNOWN

    def region(self, ref: Node, ans: Node) -> Outcome:
        """Compare two sets of real numbers whose ends cannot be ordered; always UNKNOWN here, subclasses decide."""
        return UNKNOWN

    def order(self, left: Node, right: Node) -> int:
        """The order of two numbers: -1 if the left is less, 0 if they are equal, 1 if the left is greater.

        Raises:
            NotSolved: rational arithmetic cannot decide.
        """
        mine, theirs = self._facts(left), self._facts(right)
        if mine.value is None or theirs.value is None:
            raise NotSolved
        if mine.value == theirs.value:
            return 0
        if not (mine.rational and theirs.rational) or mine.opaque or theirs.opaque:
            raise NotSolved
        return 1 if mine.value > theirs.value else -1

    def compare(self, ref: Reading, ans: Reading) -> Outcome:
        """Compare two readings by the rule for their kinds: lists element by element, values as formulas, and so on.

        DIFFERENT if there is no rule for the two kinds.
        """
        if ref == ans:
            return EQUAL
        is_of_groups = self.question is not None and self.question.is_of_groups and not self.question.asks_factors
        if type(ref) is Value is type(ans) and not is_of_groups:
            return self._values(ref.node, ans.node)
        ref, ans = self._unnamed_set(ref, ans), self._unnamed_set(ans, ref)
        if (found := same_progression(ref, ans) or same_lattice(ref, ans) or self._several_lines(ref, ans)) is not None:
            return found
        if isinstance(ref, Wording) or isinstance(ans, Wording):
            return EQUAL if _words(ref) == _words(ans) else DIFFERENT
        if isinstance(ref, Chain) or isinstance(ans, Chain):
            return self._chain(ref, ans)
        if (same := same_bounds(self, ref, ans)) is not None:
            return same
        if isinstance(ref, Statement) or isinstance(ans, Statement):
            return self._curves(self._statements(ref, ans), ref, ans)
        if not in_asked_order(ans, ref, self.question):
            return DIFFERENT
        if isinstance(ref, Named) or isinstance(ans, Named):
            return self._curves(self._named(ref, ans), ref, ans)
        if isinstance(ref, Family) or isinstance(ans, Family):
            return same_family(self, ref, ans)
        inner = _only_element(ref, ans)
        if inner is not None:
            return self.compare(*inner)
        if is_of_groups and (same := _same_groups(ref, ans)) is not None:
            return same
        if isinstance(ref, Region) or isinstance(ans, Region):
            return regions(self, ref, ans)
        if isinstance(ref, Ratio) or isinstance(ans, Ratio):
            return same_ratio(self, ref, ans)
        if isinstance(ref, Grid) or isinstance(ans, Grid):
            return grids(self, ref, ans)
        if isinstance(ref, Listing) or isinstance(ans, Listing):
            ans = self._first_terms(ref, ans)
            return listings(self, ref, with_letter_of(ref, ans, self._letters()))
        return self._values(ref.node, ans.node)

    def _several_lines(self, ref: Reading, ans: Reading) -> Outcome | None:
        r"""The outcome if the question asks for lines and the sides list them differently: `x=\pm3`, `x-3=0, x+3=0`.

        None if both sides are of one kind, or if the reference has fewer than two lines or the answer none.
        """
        if type(ref) is type(ans) or not self._asks_line():
            return None
        mine, theirs = _lines_of(ref), _lines_of(ans)
        if len(mine) < 2 or not theirs:
            return None
        return unordered(self.compare, mine, theirs) if len(mine) == len(theirs) else DIFFERENT

    def _unnamed_set(self, side: Reading, other: Reading) -> Reading:
        r"""The value without its name if the name means the set of solutions: `\{1, 2\}` for `S=\{1, 2\}`.

        The side as it is if the question uses the letter for a different set, or if the other side names a set too.
        """
        if not (isinstance(side, Named) and side.name in _SOLUTION_SETS and isinstance(side.value, Listing | Region)):
            return side
        # the name counts if the other side names a set, too
        is_of_set = isinstance(other, Named) and isinstance(other.name, Symbol) and other.name.name.isupper()
        sign = label(side.name)[0]
        asked = self.question.text if self.question is not None and sign in self._letters() else ""
        return side if is_of_set or (asked and _SET_OF_SOLUTIONS.search(asked) is None) else side.value

    def _first_terms(self, ref: Reading, ans: Reading) -> Reading:
        r"""The answer without its final dots if the question asks for first terms: `1, 4, 9` for `1, 4, 9, \ldots`."""
        match ref, ans:
            case Listing("list", mine), Listing("list", (*shown, Value(Symbol("\\ldots")))) if len(mine) == len(shown):
                if self.question is not None and self.question.says("first"):
                    return Listing("list", tuple(shown))
        return ans

    def _letters(self) -> frozenset[str]:
        """The letters of the question; empty without a question."""
        return self.question.letters if self.question is not None else frozenset()

    def _values(self, ref: Node, ans: Node) -> Outcome:
        """Compare two formulas by the first rule that applies: units, order of factors, generators, dots, constants."""
        if is_number(ref) and is_number(ans):
            return self.leaf(ref, ans)
        ref, ans = _with_factors(ref, ans), _with_factors(ans, ref)
        if has_unit(ref, ans):
            return same_quantity(self, ref, ans)
        if (amount := asked_amount(ref, ans, self.question)) is not None:
            return self.leaf(ref, amount)
        if (_is_of_matrices(ref) or _is_word(ref) or (self.question is not None and self.question.keeps_order)) and (
            found := _same_order(ref, ans)
        ) is not None:
            return found
        if (
            self.question is not None
            and self.question.is_of_ordinals
            and (found := _same_ordinal(ref, ans)) is not None
        ):
            return found
        if (generators := _generators(ref, ans)) is not None:
            return unordered(self.leaf, *generators)
        if any(ELLIPSIS.name in symbols(side) and side != ELLIPSIS for side in (ref, ans)):
            # The terms that the dots leave out are not known
            return EQUAL if self._same_beginning(ref, ans) else UNKNOWN
        found = self.leaf(*as_integrals(ref, with_names_of(ref, ans, self.question), self.question))
        return found if found is EQUAL else (same_functions(self.leaf, ref, ans, self.question) or found)

    def _same_beginning(self, ref: Node, ans: Node) -> bool:
        r"""Whether two sums show the same terms before their last dots: `1 - x^2/2! + \\ldots`."""
        sides = [side.args if isinstance(side, Sum) else () for side in (ref, ans)]
        if len(set(map(len, sides))) != 1 or len({side[-1:] for side in sides}) != 1:
            return False
        terms = list(zip(*(side[:-1] for side in sides), strict=True))
        shown = not any(ELLIPSIS in walk(one) for pair in terms for one in pair)
        return len(terms) > 1 and shown and all(self.leaf(*pair) is EQUAL for pair in terms)

    def _chain(self, ref: Reading, ans: Reading) -> Outcome:
        r"""Compare two sides of which one is a chain of equal or rounded members: `2+3 = 5` for 5.

        Each member must be equal to the other side, except for those that introduce or are rounded to the last member.
        """
        chain = ans if isinstance(ans, Chain) else ref
        assert isinstance(chain, Chain)
        mine, theirs = _as_equation(ref), _as_equation(ans)
        is_asked = mine is not None and self.question is not None and key(mine.args[0]) in self.question.formulas
        if mine and theirs and not is_asked and self.statement(mine, theirs) is EQUAL:
            # two linear equations; not if the question asks for the left side: then the right side is the value
            return EQUAL
        members = chain.exact
        if (
            chain is ans
            and isinstance(members[0], Value)
            and len(members) > 1
            and self.question
            and self.question.leaves_open(members[0].node)
        ):
            # The first member only repeats the formula that the question asks about: `\sin 2\theta = \frac{24}{25}`
            members = members[1:]
        elif chain is ans and isinstance(ref, Value) and _puts_numbers_in(members, symbols(ref.node)):
            members = members[1:]
        if chain is ans and self._ends_rounded(chain, ref):
            # the exact members need only be near the rounded one, which the rough comparison below checks
            members = ()
        if chain is ans and isinstance(ref, Value) and isinstance(ref.node, Degrees):
            members = tuple(map(_in_degrees, members))
        members = _in_last_unit(members) if chain is ans else members
        if chain is ans and members[1:] and self.compare(ref, members[-1]) is EQUAL:
            members = _without_unrounded(members, ref)
        outcomes = [self.compare(ref, m) if chain is ans else self.compare(m, ans) for m in members]
        first = chain.exact[0]
        if isinstance(ref, Value) and isinstance(ref.node, Degrees):
            first = _in_degrees(first)
        if chain.rough and not isinstance(first, Value):
            return DIFFERENT
        rough = [self.roughly(*_same_scale(first.node, one)) for one in chain.rough if isinstance(first, Value)]
        return all_of(outcomes + rough)

    def _ends_rounded(self, chain: Chain, ref: Reading) -> bool:
        """Whether an answer like `3\\sqrt2 \\approx 4.2` ends in the reference's number, to which it is rounded."""
        if not (chain.rough and isinstance(ref, Value)):
            return False
        last = chain.rough[-1]
        wanted = literal(_amount(ref.node))
        if (
            wanted is None
            or literal(_amount(last)) != wanted
            or isinstance(last, Percent) != isinstance(ref.node, Percent)
        ):
            return False
        if self.question is not None and self.question.speaks_of_rounding:
            return all(_rounds_to(one.node, last) for one in chain.exact if isinstance(one, Value))
        if _digits(wanted) < _ROUNDED:
            # a number of few digits may be near to a root by chance
            return False
        # a decimal with an end is exact: if it is not the reference, it was not rounded to it
        return not any(isinstance(one, Value) and _is_finite_decimal(literal(_amount(one.node))) for one in chain.exact)

    def _statements(self, ref: Reading, ans: Reading) -> Outcome:
        """Compare two sides of which one or both are statements, such as equations.

        A statement in the reference may be equal to its solution in the answer: `2x=4` and `x=2`. A statement in the
        answer may be equal to a value in the reference only in the cases below.
        """
        if (steps := _steps(ans)) and not _steps(ref):
            # `4x+3y=5 \\iff 4x+3y-5=0`: each step leads to the last
            return all_of([self.compare(ref, steps[-1]), *(self.compare(step, steps[-1]) for step in steps[:-1])])
        if isinstance(ref, Statement) and isinstance(ans, Statement):
            if all(is_relation(n, "=", "pmod") for n in (ref.node, ans.node)):
                return self._congruences(ref.node, ans.node)
            (kind, mine), (other, theirs) = _reorderable_parts(ref.node), _reorderable_parts(ans.node)
            if "letters" in (kind, other) or (kind == other != ""):
                return (
                    unordered(self.compare, mine, theirs) if kind == other and len(mine) == len(theirs) else DIFFERENT
                )
        if isinstance(ref, Statement) and isinstance(ans, (Statement, Named)):
            if isinstance(ans, Named) and len(symbols(ref.node)) > 1 and is_listing(ans.value, "list"):
                # A name with several values is a statement as a whole: `x = \pm y` for `|x| = |y|`
                return self.statement(ref.node, ans.node)
            if isinstance(ans, Named) and not isinstance(ans.value, (Value, Ratio)):
                return self._solved(ref.node, ans.value)
            found = self.statement(ref.node, ans.node)
            if found is not DIFFERENT or not isinstance(ans, Named):
                return found
            return self._solved(ref.node, ans.value) if label(ans.name) == tuple(sorted(symbols(ref.node))) else found
        if isinstance(ref, Statement):
            if (value := named_value(ref.node)) is not None:
                return self.compare(resolve(value), ans)
            return self._solved(ref.node, ans)
        if isinstance(ref, Named) and isinstance(ans, Statement) and (_is_curve(ref) or self._asks_line()):
            return self.statement(ref.node, ans.node)
        if is_listing(ref, "tuple") and isinstance(ans, Statement) and _is_equal_chain(ans):
            listed = resolve(Collection("list", (ans.node,)))
            return self.compare(ref, listed) if isinstance(listed, Listing) else DIFFERENT
        if isinstance(ans, Statement) and (named := ratio_named(ref, ans.node, self.question)) is not None:
            return self.compare(ref, named)
        return self._stated_value(ref, ans.node) if isinstance(ans, Statement) else DIFFERENT

    def _curves(self, found: Outcome, ref: Reading, ans: Reading) -> Outcome:
        """The outcome `found`, or that of the two sides as families of curves with an arbitrary constant: `y = x+C`."""
        if found is EQUAL or not (isinstance(ref, Statement | Named) and isinstance(ans, Statement | Named)):
            return found
        return same_functions(self.leaf, ref.node, ans.node, self.question) or found

    def _asks_line(self) -> bool:
        """Whether the question asks for a line, so that `x - 3 = 0` is as good as `x = 3`."""
        return self.question is not None and _LINE.search(self.question.text) is not None

    def _stated_value(self, ref: Reading, ans: Node) -> Outcome:
        r"""Compare a reference with an equation that gives its value.

        This is an identity, `\sin^2 t+\cos^2 t = 1` for 1, or the question's formula with its value, `x+y = 7` for 7.
        """
        found = DIFFERENT
        if isinstance(ref, Value) and set(_operators(ans)) == {"="} and symbols(ans):
            # `\sin^2 t+\cos^2 t = 1` for 1: each side must be equal to the reference for all values of t
            found = all_of([self._values(ref.node, member) for member in ans.args])
        value = self._value_asked_for(ans)
        return found if found is not DIFFERENT or value is None else self.compare(ref, resolve(value))

    def _value_asked_for(self, node: Node) -> Node | None:
        """The value of an equation whose left side the question asks for: 7 of `x+y = 7` for `x+y`; else None."""
        if self.question is None or not is_equation(node) or symbols(node.args[-1]) - symbols(node.args[0]):
            return None
        return node.args[-1] if self.question.leaves_open(node.args[0]) else None

    def _congruences(self, ref: Node, ans: Node) -> Outcome:
        """Compare two congruences: `x \\equiv 10 \\pmod 7` is equal to `x \\equiv 3 \\pmod 7`."""
        (name, rest, modulus), (other_name, other_rest, other_modulus) = ref.args, ans.args
        whole = Quotient(difference(other_rest, rest), modulus)
        outcomes = [self.leaf(modulus, other_modulus), self.leaf(name, other_name)]
        value = exact_value(whole)
        return all_of([*outcomes, EQUAL if value is not None and value.denominator == 1 else DIFFERENT])

    def _solved(self, ref: Node, ans: Reading) -> Outcome:
        """Compare the reference, an equation or inequality in one unknown, with solutions: `x^2 = 4` with `2, -2`."""
        if len(symbols(ref)) != 1:
            return DIFFERENT
        if isinstance(ans, Region):
            own = {ans.name, None} - symbols(ref)
            return self.solution(ref, ans.node) if own <= {None} else DIFFERENT
        found = as_set(ans)
        if found is None or symbols(found):
            return DIFFERENT
        return self.solution(ref, found) if is_listing(ans, "tuple") != is_equation(ref) else DIFFERENT

    def _named(self, ref: Reading, ans: Reading) -> Outcome:
        """Compare two sides, at least one with a name: 2 for `x = 2`, but not `y = 2` for `x = 2`."""
        if isinstance(ans, Named) and _gives_too_few(ans):
            return DIFFERENT
        if not isinstance(ans, Named):
            assert isinstance(ref, Named)
            if _is_several(ref, ans) or _names_more(ref, ans):
                return DIFFERENT
            return self.compare(points(ref, ans), with_dummy_of(ref, ans, self._letters()))
        if not isinstance(ref, Named):
            if _is_several(ans, ref):
                return DIFFERENT
            return self.compare(ref, _without_definition(ref, points(ans, ref)))
        ans = _counted_as(ref, ans)
        is_y = isinstance(ref.name, UndefinedCall) and ans.name == Symbol("y")
        if is_y or _names_alike(ref, ans, self.question) or label(ref.name) == label(ans.name):
            value = same_parameter(ref, ans)
            if value is ans.value:
                value = with_dummy_of(ref, value, self._letters()) if is_equation(ans.node) else value
            return DIFFERENT if value is None else self.compare(ref.value, value)
        if _is_curve(ref) and _is_curve(ans):
            return self.statement(ref.node, ans.node)
        # `X \\sim N(5, 4)`
        if isinstance(ref.value, Named):
            return self._named(ref.value, ans)
        return self._named(ref, ans.value) if isinstance(ans.value, Named) else DIFFERENT


def _names_more(ref: Named, ans: Reading) -> bool:
    """Whether an answer gives values to the reference's name and to a further name: `x=1, y=2` for `x=1, x=2`."""
    if not isinstance(ans, Listing) or ans.kind != "named":
        return False
    names = {base.partition("_")[0] for one in ans.items if isinstance(one, Named) for base in label(one.name)}
    return len(names) > 1 and not names.isdisjoint(base.partition("_")[0] for base in label(ref.name))


def _gives_too_few(named: Named) -> bool:
    """Whether a tuple of names gets more or fewer values than it has names: `(x,y,z)=(1,2)`."""
    match named.name, named.value:
        case (Collection("tuple", parts), Listing("tuple", items)):
            return len(parts) != len(items)
    return False


_ASKS_INVERSE = re.compile(r"inver[st]|umkehr|réciproque|反函数|逆関数|обратн|역함수", re.IGNORECASE)


_SOLUTION_SETS = (Symbol("S"), Symbol("L"), Symbol("K"))
# Words by which a question names its set of solutions: `solution set S`
_SET_OF_SOLUTIONS = re.compile(
    r"(?:solution|lösung|soluci[oó]n|soluç|soluz|soluți|nghiệm|решени|розв'яз|rozwiąz|řešení|çözüm|oplossing|lösning|løsning"
    r"|megoldás|解|근|해집합)[^\W\d_]*[\s\W]{0,3}(?:set\s?)?[\s$({]{0,3}(?:\\math(?:cal|bb|rm)\s*\{?\s*)?[SL](?![a-zA-Z])",
    re.IGNORECASE,
)


def _names_alike(ref: Named, ans: Named, question: Question | None) -> bool:
    r"""Whether two names may mean the one quantity that is asked for: v and `v_{\text{esc}}`, `MC` and `\frac{dC}{dq}`.

    False if the question itself uses the index, or distinguishes two such quantities: initial and final velocity.
    """
    asked = question.text if question is not None else ""
    if isinstance(ref.name, Text):
        return any(
            sign in signs.split()
            for words, signs in _SIGNS_OF
            for sign in _notations_of(ans.name)
            if words.fullmatch(ref.name.words.removeprefix("the ").removeprefix("its ").strip())
        )
    mine, theirs = (
        one.name.function if isinstance(one.name, UndefinedCall) else next(iter(label(one.name)), "")
        for one in (ref, ans)
    )
    if mine == "y" and theirs.endswith("^{-1}"):
        return _ASKS_INVERSE.search(asking_clause(asked)[0] or asked) is not None
    if isinstance(ref.name, Product) and is_segment(ref.name):
        said = "".join(one.name for one in ref.name.args if isinstance(one, Symbol))
        derived = theirs[0] if theirs.endswith("'") else theirs[2] if _DERIVES.fullmatch(theirs) else ""
        return derived == said[-1:] and said not in asked and _MARGINAL.search(asked) is not None
    (base, _, index), (other, _, other_index) = mine.partition("_"), theirs.partition("_")
    word = (index or other_index).replace(" ", "")
    is_one_bare = (index == "") != (other_index == "")
    if not (
        base == other != "" and is_one_bare and word.isalpha() and word not in COUNTING and f"{base}_" not in asked
    ):
        return False
    if (
        isinstance(ans.name, UndefinedCall)
        and re.search(rf"(?<![a-zA-Z]){word}(?![a-zA-Z])", asking_clause(asked)[0]) is None
    ):
        # `f_X` is not the density of M
        return False
    # `the initial velocity` is not v_f
    told = _TOLD_APART.findall(asked.lower())
    return not told or any(word.lower()[:1] == one[0] for one in told)


def _notations_of(name: Node) -> tuple[str, ...]:
    r"""The notations of a name, as in `_SIGNS_OF`: `q_1` and `q` for `q_1`, `\sigma^2` for itself; empty for a sum."""
    match name:
        case Symbol(letter):
            return (letter, letter.partition("_")[0])
        case Power(Symbol(letter), Number(value)) if value == 2:
            return (f"{letter}^2",)
        case UndefinedCall(function):
            return (function,)
    return ()


# Words for a quantity, and the symbols that usually name it
_SIGNS_OF = tuple(
    (re.compile(rf"(?:standard )?(?:{words})\w*(?: value)?", re.IGNORECASE), signs)
    for words, signs in {
        "mean|average|expect|mittel|erwart|moyenne|espéra|media|期望|均值|平均|средн|ожидан": "\\mu E m",
        "varian|方差|分散|дисперс": "\\sigma^2 s^2 V D Var",
        "deviation|abweichung|écart|标准差|標準偏差|отклон": "\\sigma s SD",
        "eccentric|离心率|離心率|exzentr|excentri|эксцентр": "e",
        "profit|gewinn|利润|прибыл": "\\pi \\Pi P",
        "period|周期|период": "T",
        "wavelength|波长|波長|longueur d'onde|длин[аы] волны": "\\lambda",
        "frequency|频率|振动数|частот": "f \\nu",
        "radius|半径|rayon|radio|raggio|raio|радиус": "r R",
        "cent(?:er|re|ro)|圆心|中心|mittelpunkt|центр": "C O M I",
        "amplitude|振幅|амплитуд": "A",
        "angle|winkel|ángulo|угол|角": "\\theta \\alpha \\varphi \\phi",
        "quantity|output|menge|产量": "q Q",
        "price|preis|prix|价格|цена": "p P",
        "discriminant|判别式|дискриминант": "\\Delta D",
        "correlation|相关系数|korrelation": "r \\rho",
        "slope|steigung|pente|斜率|наклон": "m k",
    }.items()
)
_MARGINAL = re.compile("margin|边际|предельн|grenz", re.IGNORECASE)
_TOLD_APART = re.compile(r"\b(?:initial|final|maxim|minim|average|mean|terminal|relative)")
_DERIVES = re.compile(r"d [a-zA-Z] d [a-zA-Z]")


def _same_ordinal(ref: Node, ans: Node) -> Outcome | None:
    r"""Whether two ordinals are written alike: `\omega+1` is not `1+\omega`. None if neither has a sum or product."""
    operates = any(isinstance(n, Sum | Product) and symbols(n) for side in (ref, ans) for n in walk(side))
    return (EQUAL if ref == ans else DIFFERENT) if operates else None


def _same_groups(ref: Reading, ans: Reading) -> Outcome | None:
    r"""Whether two products of cyclic groups are isomorphic, as `\mathbb{Z}_{36}` and `C_4\times C_9` are.

    None if one side is not such a product.
    """
    if not (isinstance(ref, Value | Region) and isinstance(ans, Value | Region)):
        return None
    mine, theirs = _cyclic_parts(ref.node), _cyclic_parts(ans.node)
    return None if mine is None or theirs is None else EQUAL if mine == theirs else DIFFERENT


def _cyclic_parts(node: Node) -> Counter[int] | None:
    r"""The prime-power orders of the cyclic groups in a product: 4 and 9 for `\mathbb{Z}_{36}`, 0 for `\mathbb{Z}`.

    None if the node is not a product of cyclic groups.
    """
    match node:
        case Symbol(name) if (found := _CYCLIC.fullmatch(name)) is not None:
            order = int(found[1] or found[2] or 0)
            return Counter([prime ** int(power) for prime, power in primes_of(order).items()] if order else [0])
        case Power(base, Number(times)) if times.denominator == 1 and 0 < times <= _MOST_REPEATED:
            inside = _cyclic_parts(base)
            return None if inside is None else Counter({order: count * int(times) for order, count in inside.items()})
        case Product(args):
            parts = all_known(map(_cyclic_parts, args))
            return None if parts is None else sum(parts, Counter[int]())
    return None


_CYCLIC = re.compile(r"\\mathbb\{Z\}(?:_(\d{1,6}))?|C_(\d{1,6})")


def _generators(ref: Node, ans: Node) -> tuple[tuple[Node, ...], tuple[Node, ...]] | None:
    r"""The generators of two extensions of one field: `\sqrt2` and i of `\mathbb{Q}(\sqrt2, i)`.

    None if a side is not such an extension, if the fields differ, or if one side has more generators.
    """
    match ref, ans:
        case Product((Symbol(field), mine)), Product((Symbol(other), theirs)) if field == other:
            if field.startswith("\\mathbb"):
                ours, others = (one.args if is_collection(one, "tuple") else (one,) for one in (mine, theirs))
                return (ours, others) if len(ours) == len(others) else None
    return None


def _puts_numbers_in(members: tuple[Reading, ...], letters: frozenset[str]) -> bool:
    r"""Whether a chain is a formula in letters, then the same with numbers, then its value: `ab = 2\cdot3 = 6`."""
    if len(members) < len("abc") or not all(isinstance(m, Value) for m in members):
        return False
    first, calculation, *rest = (m.node for m in members if isinstance(m, Value))
    unknown = symbols(first) - CONSTANTS
    own = [symbols(one) - CONSTANTS - letters for one in (calculation, *rest)]
    return bool(unknown - letters) and not any(own) and literal(calculation) is None and bool(calculation.args)


def _in_degrees(member: Reading) -> Reading:
    r"""An inverse function's angle in degrees: `\arccos\frac12` times `180/\pi`; any other member as it is."""
    match member:
        case Value(Apply(name) as node) if name.startswith("arc"):
            return Value(Degrees(Quotient(Product((node, Number(Fraction(180), "180"))), PI)))
    return member


def _size(node: Node, scale: int) -> Fraction | None:
    """The number of an amount without its unit, times the scale if it has no percent sign.

    With the scale 100 both `5\\%` and 0.05 give 5. None if the amount has no exact value.
    """
    value = exact_value(_without_units(node))
    return value if value is None or isinstance(node, Percent) else value * scale


def _without_units(node: Node) -> Node:
    r"""A product or quotient of amounts without the units: `2\cdot3` for `2 \text{ kg} \cdot 3 \text{ m}`."""
    match node:
        case Quantity(inside) | Percent(inside) | Degrees(inside):
            return _without_units(inside)
        case Product(args):
            return Product(tuple(map(_without_units, args)))
        case Quotient(above, below):
            return Quotient(_without_units(above), _without_units(below))
    return node


def _without_unrounded(members: tuple[Reading, ...], ref: Reading) -> tuple[Reading, ...]:
    r"""The members of a chain without those that the last member rounds: only 5.84 in `2.5\cdot2.337 = 5.84`.

    Called if the last member is the reference's amount. All members if the last one has fewer than three digits.
    """
    last = members[-1] if members else None
    if not (isinstance(ref, Value) and isinstance(last, Value)):
        return members
    amount = _amount(last.node)
    if not isinstance(amount, Number) or not is_decimal(amount) or _digits(amount.value) < _ROUNDED:
        return members
    half = Fraction(1, 2 * 10 ** len(amount.text.partition(".")[2]))
    scale = 100 if isinstance(last.node, Percent) else 1
    values = [_size(one.node, scale) if isinstance(one, Value) else None for one in members[:-1]]
    kept = (
        one
        for one, value in zip(members, values, strict=False)
        if value is None or value.denominator == 1 or abs(value - amount.value) > half
    )
    return (*kept, last)


def _in_last_unit(members: tuple[Reading, ...]) -> tuple[Reading, ...]:
    r"""The members of a calculation, each with the unit of the last: `2\cdot4 \text{ J}` in `2\cdot4 = 8 \text{ J}`."""
    match members:
        case (*_, Value(Quantity(_, unit))):
            return tuple(
                Value(Quantity(m.node, unit)) if isinstance(m, Value) and not isinstance(m.node, MARKS) else m
                for m in members
            )
    return members


def _without_definition(ref: Reading, value: Reading) -> Reading:
    r"""The chain without its formulas in letters if the reference is a number: `\frac12` of `e = c/a = \frac12`."""
    if not isinstance(value, Chain) or not isinstance(ref, Value) or symbols(ref.node):
        return value
    exact = tuple(m for m in value.exact if not (isinstance(m, Value) and symbols(m.node)))
    return Chain(exact, value.rough) if exact else value


def _counted_as(ref: Named, ans: Named) -> Named:
    """The answer `a_k = 2k` with the reference's counting letter: `a_n = 2n`."""
    match ref.name, ans.name, ans.value:
        case Symbol(mine), Symbol(theirs), Value(node):
            (base, _, wanted), (other, _, found) = mine.partition("_"), theirs.partition("_")
            if base == other and {wanted, found} <= COUNTING and wanted not in symbols(node):
                return Named(ref.name, Value(renamed(node, found, wanted)), ans.node)
    return ans


def _is_word(node: Node) -> bool:
    """Whether a product of letters is meant as a word, because its letters are not in alphabetical order: `bca`."""
    names = [one.name for one in node.args if isinstance(one, Symbol)] if isinstance(node, Product) else []
    word = "".join(names) if len(names) == len(node.args) else ""
    return (len(names) >= _A_WORD and word.islower() and names != sorted(names)) or (
        len(names) > 1 and _ROMAN.fullmatch(word) is not None
    )


_A_WORD = 3
# A Roman number that cannot name a segment
_ROMAN = re.compile(r"(?=[MDCL]*[IVX])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_LINE = re.compile(
    r"\blines?\b|\baxis\b|asymptot|directri|leitlinie|асимптот|директрис|准线|準線|渐近线|"
    r"\bdroite|\bGerade|\brecta\b|\bretta\b|прям|直线|直線",
    re.IGNORECASE,
)


def _is_of_matrices(node: Node) -> bool:
    """Whether the node has a product of capital letters with a transpose or an inverse: `B^TA^T`, but not `AB`."""
    return Power in types_in(node) and any(
        isinstance(n, Product)
        and any(isinstance(a, Power) and is_name(a) for a in n.args)
        and all(map(is_name, n.args))
        for n in walk(node)
    )


def _same_order(ref: Node, ans: Node) -> Outcome | None:
    """EQUAL if two products have the same letters in the same order, else DIFFERENT: `ab` and `ba`.

    None if neither side has a product of two letters.
    """
    if not any(isinstance(n, Product) and len(symbols(n)) > 1 for side in (ref, ans) for n in walk(side)):
        return None
    mine, theirs = _ordered_terms(ref), _ordered_terms(ans)
    return EQUAL if mine is not None and mine == theirs else DIFFERENT


def _ordered_terms(node: Node) -> Counter[tuple[tuple[str, int], ...]] | None:
    """The products of a sum, each as its letters in order, with their counts: `ab` once and `ba` -1 times in `ab-ba`.

    None if the node is not a sum of products of letters.
    """
    found: Counter[tuple[tuple[str, int], ...]] = Counter()
    for term in node.args if isinstance(node, Sum) else (node,):
        sign, inside = (-1, term.inside) if isinstance(term, Negation) else (1, term)
        if isinstance(inside, Product) and isinstance(inside.args[0], Negation):
            sign, inside = -sign, Product((inside.args[0].inside, *inside.args[1:]))
        letters = _letters_of(inside)
        if letters is None:
            return None
        found[letters] += sign
    return found


def _letters_of(node: Node) -> tuple[tuple[str, int], ...] | None:
    """The letters of a product with their powers, equal neighbours joined: (a, 2), (b, -1) for `aab^{-1}`.

    None if the node is not a product of letters.
    """
    match node:
        case Symbol(name):
            return ((name, 1),)
        case Number(value):
            return () if value == 1 else ((str(value), 1),)
        case Power(Symbol(name), Symbol("T")):
            return ((f"{name}^T", 1),)
        case Power(base, exponent):
            times, inside = literal(exponent), _letters_of(base)
            if inside is None or times is None or times.denominator != 1 or abs(times) > _MOST_REPEATED:
                return None
            turned = tuple((name, -power) for name, power in reversed(inside)) if times < 0 else inside
            return _joined_letters(turned * abs(int(times)))
        case Product(args):
            parts = all_known(map(_letters_of, args))
            return None if parts is None else _joined_letters(tuple(itertools.chain(*parts)))
    return None


def _joined_letters(letters: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """Letters and powers with equal neighbours joined: (a, 2) for (a, 1), (a, 1); nothing for (a, 1), (a, -1)."""
    found: list[tuple[str, int]] = []
    for name, power in letters:
        if found and found[-1][0] == name:
            power += found.pop()[1]
        if power:
            found.append((name, power))
    return tuple(found)


def _reorderable_parts(node: Node) -> tuple[str, tuple[Reading, ...]]:
    r"""The parts of a statement that may be in any order, behind the name of their kind.

    The kinds are "chain" for `x = y = z = 1`, "letters" for `p \land q`, and "bounds" for the inequalities of a region
    of the plane, `x > 0, y < x`. For any other statement the name and the parts are empty.
    """
    if _is_equal_chain(Statement(node)):
        return "chain", tuple(map(Value, node.args))
    if is_joined(node, "and") and all(isinstance(a, Symbol) for a in node.args):
        return "letters", tuple(map(Value, node.args))
    listed = (is_joined(node, "and") or is_collection(node, "list")) and len(symbols(node)) > 1
    if listed and all(isinstance(a, Relation) and "=" not in a.operators and oriented(a) for a in node.args):
        return "bounds", tuple(map(resolve, node.args))
    return "", ()


def _is_equal_chain(reading: Reading) -> bool:
    """Whether the reading is a chain that states that several names are equal: `a = b = c`."""
    return isinstance(reading, Statement) and is_equal_names(reading.node) and set(_operators(reading.node)) == {"="}


def _operators(node: Node) -> tuple[str, ...]:
    """The operators of a relation or a chain: `<` of `x < 1`; empty for any other node."""
    return node.operators if isinstance(node, Relation) else ()


def _lines_of(reading: Reading) -> Sequence[Reading]:
    r"""The equations of a reading, one for each line: `x = 3` and `x = -3` for `x = \pm3`; empty if it is no list."""
    match reading:
        case Named(name, Listing("list", values)) if all(isinstance(one, Value) for one in values):
            equations = (Relation((name, one.node), ("=",)) for one in values if isinstance(one, Value))
            return [Named(name, Value(one.args[1]), one) for one in equations]
        case Statement(Connective("and" | "or", parts)) if all(_operators(one) == ("=",) for one in parts):
            return [resolve(one) for one in parts]
        case Listing("list", items) if all(isinstance(one, (Named, Statement)) for one in items):
            return items
    return ()


def _words(reading: Reading) -> str:
    """A reading in words in the form in which it is compared: `nosolution` for `No solution.`

    Any other reading gives a text that equals no words.
    """
    if isinstance(reading, Wording):
        return "".join(reading.text.lower().split()).rstrip(".")
    match reading:
        case Value(Symbol(name)) | Value(Number(_, name)):
            return name.lower()
    return f"<{reading}>"


def _is_several(named: Named, other: Reading) -> bool:
    """Whether the name has several values, `x = 1, 2`, and the other reading is a tuple, `(1, 2)`, a single value."""
    return is_listing(named.value, "list") and is_listing(other, "tuple")


def _is_curve(named: Named) -> bool:
    """Whether the value has symbols, as in `y = 2x`: then other equations may describe the same curve."""
    values = named.value.items if isinstance(named.value, Listing) else (named.value,)
    free = [symbols(v.node) for v in values if isinstance(v, Value)]
    return isinstance(named.name, (Symbol, UndefinedCall)) and len(free) == len(values) and all(free)


def _only_element(ref: Reading, ans: Reading) -> tuple[Reading, Reading] | None:
    r"""The two sides with the element 5 in place of `\{5\}`, if the other side is not a set or a list; else None."""
    if is_listing(ref, "set") and len(ref.items) == 1 and not _is_collection(ans):
        return ref.items[0], ans
    if is_listing(ans, "set") and len(ans.items) == 1 and not _is_collection(ref):
        return ref, ans.items[0]
    return None


def _is_collection(reading: Reading) -> bool:
    """Whether the reading is a set or a list, `1, 2`, but not a tuple."""
    return isinstance(reading, Region) or is_listing(reading, "set", "list")


_ARITHMETIC = (Number, *RATIONAL_OPERATIONS, Power, Percent)
_WHOLE_FUNCTIONS = frozenset({"factorial", "doublefact", "binom", "mod"})


def _as_equation(reading: Reading) -> Relation | None:
    """The linear equation in a chain that was read as a formula with its value: `4x_1-3x_2+5x_3=14`; else None."""
    match reading:
        case Chain((Value(Sum() as left), Value(Number() as right)), ()) if len(symbols(left)) > 1:
            has_powers = any(isinstance(one, Power | Quotient) for one in walk(left))
            return None if has_powers else Relation((left, right), ("=",))
    return None


def oriented(node: Node) -> tuple[str, Node] | None:
    """The relation as an operator (`=`, `!=`, `<` or `<=`) and a difference to compare with zero: `x > 2` is `2-x < 0`.

    None for any other node, also for a chain of relations.
    """
    match node:
        case Relation((left, right), (">" | ">=" as name,)):
            return TURNED[name], difference(right, left)
        case Relation((left, right), ("=" | "!=" | "<" | "<=" as name,)):
            return name, difference(left, right)
    return None


def is_rational(node: Node) -> bool:
    """Whether the expression has only numbers, rational operations, powers and functions like factorials: `5!/3`."""
    others = types_in(node).difference(_ARITHMETIC)
    if others - {Apply}:
        return False
    return not others or all(n.function in _WHOLE_FUNCTIONS for n in walk(node) if isinstance(n, Apply))


def based(ref: Node, ans: Node) -> Outcome:
    """Compare digits in a base: `1010_2` may be answered by `1010`, without its base, but not by `1010_3`."""
    match ref, ans:
        case Digits(), Number(value):
            return EQUAL if value == int(ref.text) else DIFFERENT
        case Number(value), Digits():
            try:
                return EQUAL if value == in_base(ans) else DIFFERENT
            except Unknown:
                return DIFFERENT
    return DIFFERENT


_ROUNDED = 3


def _digits(value: Fraction) -> int:
    """How many significant digits a number has, without the zeros at its end: 2 for 120; three or more count as 3."""
    count, above = 1, abs(value.numerator)
    while value.denominator > 1 and count < _LONGEST:
        value *= 10
        above, count = abs(value.numerator), count + 1
    while above and above % 10 == 0:
        above //= 10
    return sum(1 for at in range(_ROUNDED) if above >= 10**at)


_LONGEST = 30


def _rounds_to(exact: Node, rough: Node) -> bool:
    """Whether `exact` rounds to `rough`, as 3.14159 does to 3.14. Also True if a side is not a plain number."""
    value, amount = literal(_amount(exact)), _amount(rough)
    if value is None or not isinstance(amount, Number):
        return True
    decimals = len(amount.text.partition(".")[2])
    return abs(value - amount.value) * 2 <= Fraction(1, 10**decimals)


def _is_finite_decimal(value: Fraction | None) -> bool:
    """Whether a number is a finite decimal: 1/4 is, 1/3 is not."""
    return value is not None and pow(10, value.denominator.bit_length(), value.denominator) == 0


def near(exact: Fraction, rough: Fraction) -> bool:
    r"""Whether `rough` is within two percent of `exact`, as people round after a `\approx`: 102 for 100."""
    return abs(exact - rough) * 50 <= abs(exact)
