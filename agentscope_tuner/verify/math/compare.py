"""Compare two readings by their kinds; each stage compares the leaves in its own way.

Each pair of kinds that may be equal has a rule here. A pair without a rule is different. A statement is compared with a
solution only if the reference is the statement: else an answer could leave the equation unsolved.
"""

from __future__ import annotations

from agentscope_tuner.verify.math.dummy import with_names_of
from agentscope_tuner.verify.math.exact import exact_value
from agentscope_tuner.verify.math.names import is_equal_names, label, named_value
from agentscope_tuner.verify.math.node import Collection, Node, Number, Quotient, Relation, Symbol, UndefinedCall
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, UNKNOWN, Outcome, all_of
from agentscope_tuner.verify.math.progression import same_progression, with_dummy_of, with_letter_of
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.reading import (
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
)
from agentscope_tuner.verify.math.resolve import resolve
from agentscope_tuner.verify.math.same_family import same_family, same_parameter
from agentscope_tuner.verify.math.same_listing import grids, listings, unordered
from agentscope_tuner.verify.math.same_quantity import (
    asked_amount,
    has_unit,
    ratio_equation,
    ratio_named,
    same_quantity,
    same_ratio,
    without_letter,
)
from agentscope_tuner.verify.math.same_set import as_set, points, regions
from agentscope_tuner.verify.math.tree import difference, is_equation, is_joined, is_relation, symbols, walk

MAX_ELEMENTS = 100
ELLIPSIS = Symbol("\\ldots")


class Comparer:
    """The rules by kinds. Subclasses compare leaves and statements, and order ends.

    The reference is always the first argument, because the rules are not symmetric: an answer may leave out a unit or
    `x =`.
    """

    question: Question | None = None

    def leaf(self, ref: Node, ans: Node) -> Outcome:
        """Compare two expressions without units."""
        raise NotImplementedError

    def statement(self, ref: Node, ans: Node) -> Outcome:
        """Compare two statements, at least one of which is not solved."""
        raise NotImplementedError

    def solution(self, ref: Node, ans: Node) -> Outcome:
        """Compare the reference, an equation or inequality, with the set of real numbers that the answer gives."""
        raise NotImplementedError

    def region(self, ref: Node, ans: Node) -> Outcome:
        """Compare two solved sets of real numbers whose ends could not be ordered."""
        raise NotImplementedError

    def order(self, left: Node, right: Node) -> int:
        """-1, 0 or 1 if the first number is below, equal to or above the second.

        Raises:
            NotSolved: this stage cannot tell.
        """
        raise NotImplementedError

    def roughly(self, exact: Node, rough: Node) -> Outcome:
        """Whether `rough` may be a rounding of `exact`."""
        raise NotImplementedError

    def compare(self, ref: Reading, ans: Reading) -> Outcome:
        """Compare two readings by the rule for their kinds."""
        if ref == ans:
            return EQUAL
        if (found := same_progression(ref, ans)) is not None:
            return found
        if isinstance(ref, Wording) or isinstance(ans, Wording):
            return EQUAL if _words(ref) == _words(ans) else DIFFERENT
        if isinstance(ref, Chain) or isinstance(ans, Chain):
            return self._chain(ref, ans)
        if isinstance(ref, Statement) or isinstance(ans, Statement):
            return self._statements(ref, ans)
        if isinstance(ref, Named) or isinstance(ans, Named):
            return self._named(ref, ans)
        if isinstance(ref, Family) or isinstance(ans, Family):
            return same_family(self, ref, ans)
        inner = _only_element(ref, ans)
        if inner is not None:
            return self.compare(*inner)
        if isinstance(ref, Region) or isinstance(ans, Region):
            return regions(self, ref, ans)
        if isinstance(ref, Ratio) or isinstance(ans, Ratio):
            return same_ratio(self, ref, ans)
        if isinstance(ref, Grid) or isinstance(ans, Grid):
            return grids(self, ref, ans)
        if isinstance(ref, Listing) or isinstance(ans, Listing):
            return listings(self, ref, with_letter_of(ref, ans, self._letters()))
        return self._values(ref.node, ans.node)

    def _letters(self) -> frozenset[str]:
        return self.question.letters if self.question is not None else frozenset()

    def _values(self, ref: Node, ans: Node) -> Outcome:
        if has_unit(ref, ans):
            return same_quantity(self, ref, ans)
        if (amount := without_letter(ref, ans, self.question)) is not None:
            return self.leaf(amount, ans)
        if (amount := asked_amount(ref, ans, self.question)) is not None:
            return self.leaf(ref, amount)
        if any(ELLIPSIS in n.args for side in (ref, ans) for n in walk(side)):
            # The terms that the dots leave out are not known
            return UNKNOWN
        return self.leaf(ref, with_names_of(ref, ans, self.question))

    def _chain(self, ref: Reading, ans: Reading) -> Outcome:
        chain = ans if isinstance(ans, Chain) else ref
        assert isinstance(chain, Chain)
        members = chain.exact
        if chain is ans and isinstance(members[0], Value) and len(members) > 1 and self._is_asked_for(members[0].node):
            # The first member only repeats the formula that the question asks about: `\sin 2\theta = \frac{24}{25}`
            members = members[1:]
        outcomes = [self.compare(ref, m) if chain is ans else self.compare(m, ans) for m in members]
        first = chain.exact[0]
        if chain.rough and not isinstance(first, Value):
            return DIFFERENT
        rough = [self.roughly(first.node, member) for member in chain.rough if isinstance(first, Value)]
        return all_of(outcomes + rough)

    def _statements(self, ref: Reading, ans: Reading) -> Outcome:
        """Compare with a statement: a reference's may be equal to its solution, an answer's only in the cases below."""
        if isinstance(ref, Statement) and isinstance(ans, Statement) and is_congruence(ref.node, ans.node):
            return self._congruences(ref.node, ans.node)
        if _is_equal_chain(ref) and _is_equal_chain(ans):
            # Members may stand in any order: `z = y = x = 1` for `x = y = z = 1`
            members = [tuple(map(Value, side.node.args)) for side in (ref, ans)]  # type: ignore[union-attr]
            return unordered(self, *members) if len(members[0]) == len(members[1]) else DIFFERENT
        if isinstance(ref, Statement) and isinstance(ans, (Statement, Named)):
            if isinstance(ans, Named) and len(symbols(ref.node)) > 1 and _is_listed(ans):
                # The name has several values, so the whole answer is a statement: `x = \pm y` for `|x| = |y|`
                return self.statement(ref.node, ans.node)
            if isinstance(ans, Named) and not isinstance(ans.value, (Value, Ratio)):
                return self._solved(ref.node, ans.value)
            found = self.statement(ref.node, ans.node)
            if found is not DIFFERENT or not isinstance(ans, Named):
                return found
            return self._solved(ref.node, ans.value) if label(ans.name) == tuple(sorted(symbols(ref.node))) else found
        if isinstance(ref, Statement):
            value = named_value(ref.node)
            if value is not None:
                return self.compare(resolve(value), ans)
            if isinstance(ans, Listing) and is_joined(ref.node, "or", "and") and len(ans.items) == len(ref.node.args):
                return unordered(self, tuple(map(resolve, ref.node.args)), ans.items)
            return self._solved(ref.node, ans)
        if isinstance(ref, Named) and isinstance(ans, Statement) and _is_curve(ref):
            return self.statement(ref.node, ans.node)
        if isinstance(ref, Named) and isinstance(ans, Statement) and (equation := ratio_equation(ref)) is not None:
            return self.statement(equation, ans.node)
        if isinstance(ref, Listing) and isinstance(ans, Statement) and is_joined(ans.node, "or", "and"):
            parts = tuple(map(resolve, ans.node.args))
            several = len({label(p.name) for p in parts if isinstance(p, Named)}) > 1
            same = len(parts) == len(ref.items) and ref.kind != "tuple" and not several
            return unordered(self, ref.items, parts) if same else DIFFERENT
        if isinstance(ref, Listing) and ref.kind == "tuple" and isinstance(ans, Statement) and _is_equal_chain(ans):
            listed = resolve(Collection("list", (ans.node,)))
            return self.compare(ref, listed) if isinstance(listed, Listing) else DIFFERENT
        if isinstance(ans, Statement) and (named := ratio_named(ref, ans.node)) is not None:
            return self.compare(ref, named)
        return self._stated_value(ref, ans.node) if isinstance(ans, Statement) else DIFFERENT

    def _stated_value(self, ref: Reading, ans: Node) -> Outcome:
        """Compare a reference with a statement that gives a value: an identity, or the question's formula equated."""
        found = self._identity(ref, ans) if isinstance(ref, Value) and _is_identity(ans) else DIFFERENT
        value = self._asked(ans)
        return found if found is not DIFFERENT or value is None else self.compare(ref, resolve(value))

    def _identity(self, ref: Value, ans: Node) -> Outcome:
        r"""Accept `\sin^2 t+\cos^2 t = 1` for 1: each side must be equal to the reference for all values of t."""
        return all_of([self._values(ref.node, member) for member in ans.args])

    def _asked(self, node: Node) -> Node | None:
        """The value 7 of `x+y = 7`, if the question asks for `x+y`; else None."""
        if self.question is None or not is_equation(node) or symbols(node.args[-1]) - symbols(node.args[0]):
            return None
        return node.args[-1] if self._is_asked_for(node.args[0]) else None

    def _is_asked_for(self, node: Node) -> bool:
        return self.question is not None and self.question.leaves_open(node)

    def _congruences(self, ref: Node, ans: Node) -> Outcome:
        """Compare two congruences: `x \\equiv 10 \\pmod 7` is equal to `x \\equiv 3 \\pmod 7`."""
        (name, rest, modulus), (other_name, other_rest, other_modulus) = ref.args, ans.args
        whole = Quotient(difference(other_rest, rest), modulus)
        outcomes = [self.leaf(modulus, other_modulus), self.leaf(name, other_name)]
        value = exact_value(whole)
        return all_of([*outcomes, EQUAL if value is not None and value.denominator == 1 else DIFFERENT])

    def _solved(self, ref: Node, ans: Reading) -> Outcome:
        """Compare the reference, an equation or an inequality in one unknown, with solutions in the answer."""
        if len(symbols(ref)) != 1:
            return DIFFERENT
        if isinstance(ans, Region):
            own = {ans.name, None} - symbols(ref)
            return self.solution(ref, ans.node) if own <= {None} else DIFFERENT
        found = as_set(ans)
        if found is None or symbols(found):
            return DIFFERENT
        is_pair = isinstance(ans, Listing) and ans.kind == "tuple"
        return self.solution(ref, found) if is_pair != is_equation(ref) else DIFFERENT

    def _named(self, ref: Reading, ans: Reading) -> Outcome:
        if not isinstance(ans, Named):
            assert isinstance(ref, Named)
            if _is_several(ref, ans):
                return DIFFERENT
            return self.compare(points(ref, ans), with_dummy_of(ref, ans, self._letters()))
        if not isinstance(ref, Named):
            if _is_several(ans, ref):
                return DIFFERENT
            return self.compare(ref, points(ans, ref))
        if label(ref.name) == label(ans.name):
            value = same_parameter(ref, ans)
            if value is ans.value:
                value = with_dummy_of(ref, value, self._letters()) if is_equation(ans.node) else value
            return DIFFERENT if value is None else self.compare(ref.value, value)
        if _is_curve(ref) and _is_curve(ans):
            return self.statement(ref.node, ans.node)
        return DIFFERENT


def _is_equal_chain(reading: Reading) -> bool:
    """Whether the reading is a chain that states that several names are equal."""
    return isinstance(reading, Statement) and is_equal_names(reading.node) and set(_operators(reading.node)) == {"="}


def _is_identity(node: Node) -> bool:
    """Whether the node is an equation with symbols, which may hold for all their values."""
    return set(_operators(node)) == {"="} and bool(symbols(node))


def _operators(node: Node) -> tuple[str, ...]:
    return node.operators if isinstance(node, Relation) else ()


def _is_listed(named: Named) -> bool:
    return isinstance(named.value, Listing) and named.value.kind == "list"


def is_congruence(*nodes: Node) -> bool:
    return all(is_relation(n, "=", "pmod") for n in nodes)


def _words(reading: Reading) -> str:
    """A reading in words in the form in which it is compared: lower case, no spaces, no final full stop."""
    if isinstance(reading, Wording):
        return "".join(reading.text.lower().split()).rstrip(".")
    match reading:
        case Value(Symbol(name)) | Value(Number(_, name)):
            return name.lower()
    return f"<{reading}>"


def _is_several(named: Named, other: Reading) -> bool:
    """Whether the name has several values and the other reading is a tuple: a tuple is a single value."""
    several = isinstance(named.value, Listing) and named.value.kind == "list"
    return several and isinstance(other, Listing) and other.kind == "tuple"


def _is_curve(named: Named) -> bool:
    """Whether the value has symbols, as in `y = 2x`: then other equations may describe the same curve."""
    values = named.value.items if isinstance(named.value, Listing) else (named.value,)
    free = [symbols(v.node) for v in values if isinstance(v, Value)]
    return isinstance(named.name, (Symbol, UndefinedCall)) and len(free) == len(values) and all(free)


def _only_element(ref: Reading, ans: Reading) -> tuple[Reading, Reading] | None:
    """The two sides with a set of one element replaced by the element, if the other side is not a set; else None."""
    if isinstance(ref, Listing) and ref.kind == "set" and len(ref.items) == 1 and not _is_collection(ans):
        return ref.items[0], ans
    if isinstance(ans, Listing) and ans.kind == "set" and len(ans.items) == 1 and not _is_collection(ref):
        return ref, ans.items[0]
    return None


def _is_collection(reading: Reading) -> bool:
    return isinstance(reading, Region) or (isinstance(reading, Listing) and reading.kind in ("set", "list"))
