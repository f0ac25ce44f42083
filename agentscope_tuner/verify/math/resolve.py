"""Nodes to readings: the values that an answer or a reference states, decided by the shape of its own node."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_tuner.verify.math.canonical import key
from agentscope_tuner.verify.math.family import conditions, family, is_range
from agentscope_tuner.verify.math.names import assignment, is_equal_names, is_name, is_solved_region, label, region_name
from agentscope_tuner.verify.math.node import (
    MARKS,
    Array,
    Collection,
    Connective,
    Interval,
    Negation,
    Node,
    Relation,
    SetBuilder,
    SetOperation,
    Sum,
    Symbol,
    Text,
)
from agentscope_tuner.verify.math.progression import residue
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
from agentscope_tuner.verify.math.signs import both_signs, choose, is_signed, negated
from agentscope_tuner.verify.math.tables import EMPTY_SET, WORD_SETS
from agentscope_tuner.verify.math.tree import (
    equation,
    is_collection,
    is_equation,
    is_joined,
    is_relation,
    symbols,
    walk,
    with_args,
)


def resolve(node: Node) -> Reading:
    """The reading of the node."""
    match node:
        case Sum((left, Negation(right))) if _is_set(left) and _is_set(right):
            # Between sets a minus sign means the difference
            return resolve(SetOperation("difference", (left, right)))
        case Symbol(name) if name.startswith("\\mathbb"):
            return Region(node)
        case Text(words):
            return _words(words)
        case Collection("tuple"):
            return _tuple(node)
        case Collection("set"):
            return _set(node)
        case Collection("list"):
            return _list(node)
        case Interval():
            return Region(node)
        case SetOperation() | Connective("not"):
            return _region(node)
        case Connective():
            return _joined(node)
        case Relation():
            return _relation(node)
        case Array():
            return Grid(tuple(tuple(map(resolve, row)) for row in node.rows), node)
    return _value(node)


def _is_set(node: Node) -> bool:
    field = isinstance(node, Symbol) and node.name.startswith("\\mathbb")
    return field or isinstance(node, (Interval, SetOperation)) or is_collection(node, "set")


def _value(node: Node) -> Reading:
    if isinstance(node, Negation) and isinstance(node.inside, MARKS):
        # Give the sign to the number inside the quantity
        node = with_args(node.inside, (Negation(node.inside.inside),))
    return _both_values(node) if is_signed(node) else Value(node)


def _both_values(node: Node) -> Reading:
    """The two values of a node with a plus-minus sign, as a list."""
    return Listing("list", (resolve(negated(choose(node, 1))), resolve(negated(choose(node, -1)))))


def _words(words: str) -> Reading:
    name = WORD_SETS.get(words.lower())
    if name is None:
        return Wording(words)
    return Listing("set", ()) if name == EMPTY_SET else resolve(Symbol(name))


def _tuple(node: Collection) -> Reading:
    return _both_values(node) if is_signed(node) else Listing("tuple", tuple(map(resolve, node.args)))


def _set(node: Collection) -> Reading:
    match node.args:
        case (SetBuilder(),):
            return _family(node) or (Region(node) if is_solved_region(node) else Statement(node))
    return Listing("set", _flat(map(resolve, node.args)))


def _flat(items: Sequence[Reading] | map[Reading]) -> tuple[Reading, ...]:
    found: list[Reading] = []
    for item in items:
        found.extend(item.items if isinstance(item, Listing) and item.kind == "list" else (item,))
    return tuple(found)


def _family(node: Node) -> Reading | None:
    found = family(node)
    return None if found is None else Family(resolve(found.body), found)


def _list(node: Collection) -> Reading:
    node = Collection("list", tuple(one for a in node.args for one in _single(a)))
    found = _family(node)
    if found is not None:
        return found
    if (solutions := _alternatives(node)) is not None:
        return solutions
    if conditions(node):
        return _joined(Connective("and", node.args))
    args = [a for at, a in enumerate(node.args) if at == 0 or not is_range(a)]
    if not args:
        return Statement(node)
    items = _flat(map(resolve, args))
    if len(items) == 1:
        return items[0]
    if all(isinstance(i, Region) and i.name is not None for i in items):
        return _region(node)
    if isinstance(items[0], Named) and not any(isinstance(i, (Named, Statement, Region)) for i in items[1:]):
        # `x = 1, 2`: the name belongs to all values
        return Named(items[0].name, Listing("list", (items[0].value, *items[1:])), node)
    return named_together(items) or Listing("list", items)


def _alternatives(node: Collection) -> Reading | None:
    """The solutions of `a = 2, b = 3 or a = 3, b = 2`: each gives the same unknowns values; None for another list."""
    rows: list[list[Node]] = [[]]
    for member in node.args:
        first, *others = member.args if is_joined(member, "or") else (member,)
        rows[-1].append(first)
        rows += [[other] for other in others]
    found = [tuple(map(resolve, row)) for row in rows]
    labels = {tuple(label(i.name) if isinstance(i, Named) else () for i in row) for row in found}
    if len(rows) < 2 or len(labels) != 1 or len(set(next(iter(labels)))) != len(rows[0]) or len(rows[0]) < 2:
        return None
    if () in next(iter(labels)):
        return None
    return Listing("list", tuple(Listing("named", row) for row in found))


def _single(node: Node) -> tuple[Node, ...]:
    """A list's member as one or more equations: `y = 2 and z = 3` is two, and so is `a = b = 2`."""
    if is_joined(node, "and") and all(isinstance(a, Relation) and "=" in a.operators for a in node.args):
        return tuple(one for a in node.args for one in _single(a))
    if isinstance(node, Relation) and len(node.args) > 2 and set(node.operators) == {"="}:
        *names, value = node.args
        if all(map(is_name, names)) and not symbols(value):
            return tuple(equation(name, value) for name in names)
    return (node,)


def named_together(items: tuple[Reading, ...], node: Node | None = None) -> Reading | None:
    """Named values as the values of one unknown, a solution, or several if the names repeat in order; else None."""
    named = [i for i in items if isinstance(i, Named)]
    if len(named) != len(items) or len(items) < 2:
        return None
    labels = [label(n.name) for n in named]
    if len(set(labels)) == 1:
        values = _flat([n.value for n in named])
        return Named(named[0].name, Listing("list", values), node or Connective("or", tuple(n.node for n in named)))
    period = len(set(labels))
    if len(labels) % period or any(labels[at] != labels[at % period] for at in range(len(labels))):
        return None
    rows = tuple(Listing("named", items[at : at + period]) for at in range(0, len(items), period))
    return rows[0] if len(rows) == 1 else Listing("list", rows)


def _region(node: Node) -> Reading:
    return Region(node, region_name(node)) if is_solved_region(node) else Statement(node)


def _joined(node: Connective) -> Reading:
    """The reading of parts joined by `and` or `or`: a region, a list, or a statement."""
    if is_solved_region(node):
        return _region(node)
    items = tuple(map(resolve, node.args))
    if not any(isinstance(i, (Statement, Region)) for i in items):
        together = named_together(items, node)
        if isinstance(together, Listing) and together.kind == "named" and node.operator == "or":
            # `a = 0 or b = 0` does not give both unknowns a value
            return Statement(node)
        return together or _united(items)
    if any(isinstance(i, Statement) for i in items) or node.operator == "and":
        return Statement(node)
    return Listing("list", _flat(items))


def _united(items: tuple[Reading, ...]) -> Reading:
    first = items[0]
    if isinstance(first, Named) and not any(isinstance(i, Named) for i in items[1:]):
        return Named(first.name, Listing("list", _flat((first.value, *items[1:]))), first.node)
    return Listing("list", _flat(items))


def _relation(node: Relation) -> Reading:
    if (least := residue(node)) is not None:
        return resolve(least)
    operators = set(node.operators)
    if operators <= {"=", ":"} and ":" in operators:
        return _ratio(node)
    if "=" in operators and (named := _by_name(node)) is not None:
        return named
    if is_signed(node):
        return Statement(node) if assignment(node) is None else resolve(both_signs(node))
    found = assignment(node)
    if found is not None:
        name, value = found
        reading = resolve(value)
        if is_relation(node, "in"):
            reading = _as_set(reading)
        return Statement(node) if isinstance(reading, Statement) else Named(name, reading, node)
    if is_solved_region(node):
        return _region(node)
    return _chain(node)


def _as_set(reading: Reading) -> Reading:
    """The set after `\\in`: a pair in round brackets means an interval there."""
    if isinstance(reading, Listing) and reading.kind == "tuple" and len(reading.items) == 2:
        low, high = reading.items
        if isinstance(low, Value) and isinstance(high, Value):
            return Region(Interval(low.node, high.node, False, False))
    return reading


def _ratio(node: Relation) -> Reading:
    """The reading of `3:4`, `x:y = 3:4` or `AB:CD = 3/4`: a ratio, named by the side before the equals sign."""
    sides: list[list[Node]] = [[node.args[0]]]
    for operator, member in zip(node.operators, node.args[1:], strict=True):
        if operator == "=":
            sides.append([])
        sides[-1].append(member)
    *before, last = sides
    value: Reading = Ratio(tuple(last)) if len(last) > 1 else resolve(last[0])
    if not before:
        return value
    if len(before) > 1:
        return Statement(node)
    return Named(Collection("ratio", tuple(before[0])), value, node)


def _by_name(node: Relation) -> Reading | None:
    """`(x, y) = (1, 2)` as `x = 1, y = 2`, so that values are compared by name; None for any other relation."""
    if not is_equation(node) or not all(is_collection(a, "tuple", "list") for a in node.args) or is_signed(node):
        return None
    found = assignment(node)
    if found is None or len(found[0].args) != len(found[1].args) or len(found[0].args) < 2:
        return None
    pairs = zip(found[0].args, found[1].args, strict=True)
    items = tuple(resolve(equation(*pair)) for pair in pairs)
    return named_together(items) if all(isinstance(i, Named) for i in items) else None


def _chain(node: Relation) -> Reading:
    """`a = b = c` as a chain of equal values; a member after `~` may be rounded. Any other relation is a statement."""
    if set(node.operators) - {"=", "~"} or is_equal_names(node):
        return Statement(node)
    members = list(zip(node.operators, node.args[1:], strict=True))
    exact = [node.args[0], *(member for operator, member in members if operator == "=")]
    rough = [member for operator, member in members if operator == "~"]
    if len(set(map(key, exact))) < len(exact):
        # `1 = 1` states no value
        return Statement(node)
    if len(node.args) == 2 and any(_is_letter(n) for n in walk(node)):
        return Statement(node)
    return Chain(tuple(map(resolve, exact)), tuple(rough))


def _is_letter(node: Node) -> bool:
    return isinstance(node, Symbol) and node.name.isalpha() and node.name not in "ie"
