"""Solved forms: a name alone on one side, and sets of real numbers given by their ends."""

from __future__ import annotations

from agentscope_tuner.verify.math.family import FIELDS, is_range
from agentscope_tuner.verify.math.node import (
    RATIONAL_OPERATIONS,
    Apply,
    BigOperator,
    Collection,
    Connective,
    Degrees,
    Interval,
    Negation,
    Node,
    Number,
    Power,
    Product,
    Relation,
    SetBuilder,
    SetOperation,
    Symbol,
    Text,
    UndefinedCall,
)
from agentscope_tuner.verify.math.number import literal
from agentscope_tuner.verify.math.tree import (
    CONSTANTS,
    is_applied,
    is_collection,
    is_equation,
    is_joined,
    symbols,
    walk,
)

_BOUNDS = frozenset({"<", "<=", ">", ">=", "!="})


def is_name(node: Node) -> bool:
    """Whether the node can be a name: a symbol, call, word, tuple of names, segment like `AB`, integral or limit."""
    if isinstance(node, Symbol):
        return node.name not in CONSTANTS and not node.name.startswith("\\mathbb")
    if isinstance(node, (UndefinedCall, Text)) or is_unevaluated(node):
        return True
    if isinstance(node, Collection):
        return bool(node.args) and all(map(is_name, node.args))
    if isinstance(node, Power):
        # The inverse or the transpose of a matrix
        match node.base, node.exponent:
            case Symbol(letter), Negation(Number(value)):
                return value == 1 and letter.isupper()
            case Symbol(letter), Symbol("T"):
                return letter.isupper()
    return is_segment(node)


def is_unevaluated(node: Node) -> bool:
    """Whether the node has a limit or an integral; sums and products are arithmetic, and do not count."""
    return any(isinstance(n, BigOperator) and n.sign in ("lim", "int") for n in walk(node))


def is_work(node: Node) -> bool:
    """Whether the node has a limit, an integral or a remainder that is not computed yet."""
    return is_unevaluated(node) or any(is_applied(n, "mod") for n in walk(node))


def label(name: Node) -> tuple[str, ...]:
    """The key that equal names share. A function's parameter does not count, and `y` is the same as `f(x)`."""
    match name:
        case UndefinedCall(function):
            return ("y",) if function in ("f", "y") else (function,)
        case Collection("tuple" | "list" | "ratio", args):
            return tuple(part for one in args for part in label(one))
        case Text(words):
            return (words.lower(),)
    return tuple(sorted(symbols(name)))


def assignment(node: Node) -> tuple[Node, Node] | None:
    r"""The name and the value of `x = 2`, `2 = x`, `f(x) = x + 1`, `x \in [0, 1)`; None for any other statement.

    The name must not occur in the value. For a longer chain, the value is the chain after the name.
    """
    if not isinstance(node, Relation) or set(node.operators) - {"=", "in", "~"}:
        return None
    if len(node.args) > 2:
        return _named_chain(node)
    first, last = node.args
    if node.operators == ("in",):
        return (first, last) if is_name(first) else None
    if is_name(first):
        name, value = first, last
    elif is_name(last) and node.operators == ("=",):
        name, value = last, first
    else:
        return None
    own = frozenset((name.function,)) if isinstance(name, UndefinedCall) else symbols(name)
    if symbols(value) & own and not is_segment(name) and not isinstance(name, BigOperator):
        # Only an indefinite integral shares its variable with its value
        return None
    return name, value


def is_equal_names(node: Node) -> bool:
    """Whether a chain states that several names are equal: `x = y = 1`. A shorter statement would lose a name."""
    return len(node.args) > 2 and any(isinstance(a, Symbol) and is_name(a) for a in node.args[1:])


def is_segment(node: Node) -> bool:
    """Whether the node is a product of capital letters, which names a segment: `AB`."""
    return isinstance(node, Product) and all(isinstance(a, Symbol) and a.name[:1].isupper() for a in node.args)


def _named_chain(node: Relation) -> tuple[Node, Node] | None:
    name = node.args[0]
    if not is_name(name) or node.operators[0] != "=" or "in" in node.operators or is_equal_names(node):
        return None
    rest = Relation(node.args[1:], node.operators[1:])
    return None if symbols(rest) & symbols(name) and not is_segment(name) else (name, rest)


def named_value(node: Node) -> Node | None:
    r"""The constant value of a geometric name: the 3 of `\frac{AB}{CD} = 3`; None for any other node."""
    match node:
        case Relation((name, value), ("=",)) if _is_geometric(name) and not symbols(value):
            return value
    return None


def _is_geometric(node: Node) -> bool:
    """Whether the node is made of segments, triangles or functions of an angle, not of unknowns to solve for."""
    if isinstance(node, Number) or (isinstance(node, Text) and node.words.isupper()):
        return True
    if len(node.args) > 1 and is_segment(node):
        return True
    match node:
        case Apply(function, (Symbol(name),)) if function not in ("abs", "factorial"):
            return name[:1] == "\\" or name.isupper()
    arithmetic = isinstance(node, (*RATIONAL_OPERATIONS, Power, Degrees)) or is_applied(node, "abs")
    return arithmetic and bool(symbols(node)) and all(map(_is_geometric, node.args))


def is_solved_region(node: Node) -> bool:
    """Whether a set of real numbers is given by its ends, so that nothing is left to solve."""
    match node:
        case Connective("and" | "or", args) | Collection("list", args):
            parts = [is_solved_region(a) for a in args]
            named = {region_name(a) for a in args}
            return any(parts) and len(named) == 1 and None not in named and all(map(_is_solved_part, args))
        case Connective(_, (denied,)):
            return is_solved_region(denied)
        case Relation():
            return _solved_bounds(node) is not None or is_range(node) or _is_membership(node)
        case SetOperation(_, args):
            return all(map(is_solved_region, args))
        case Interval() | Collection("tuple"):
            return len(node.args) == 2 and not any(map(_is_no_end, node.args))
        case Collection("set", (SetBuilder() as builder,)):
            return _is_solved_builder(builder)
        case Collection("set", args):
            return not any(symbols(a) or isinstance(a, (Collection, Relation)) for a in args)
        case Symbol(name):
            return name in FIELDS
    return False


def _is_no_end(node: Node) -> bool:
    return any(isinstance(n, Relation) or is_collection(n, "list", "tuple") for n in walk(node))


def _is_solved_part(node: Node) -> bool:
    return is_solved_region(node) or _is_point(node)


def _is_solved_builder(builder: SetBuilder) -> bool:
    element = builder.element
    unknown = element.args[0] if isinstance(element, Relation) else element
    if isinstance(element, Relation) and not (is_range(element) or _is_membership(element)):
        return False
    if not isinstance(unknown, Symbol):
        return False
    parts = conditions_of(builder)
    return all((is_range(p) or is_solved_region(p)) and region_name(p) == unknown.name for p in parts)


def conditions_of(builder: SetBuilder) -> tuple[Node, ...]:
    """The conditions of a set builder, all of which must hold."""
    condition = builder.condition
    joined = is_collection(condition, "list") or is_joined(condition, "and")
    return condition.args if joined else (condition,)


def _is_membership(node: Node) -> bool:
    match node:
        case Relation((Symbol(), whole), ("in" | "notin",)):
            return is_solved_region(whole)
    return False


def _is_point(node: Node) -> bool:
    return is_equation(node) and assignment(node) is not None and not symbols(node.args[1])


def region_name(node: Node) -> str | None:
    """The unknown of a solved set of real numbers; None if it names no unknown, or several."""
    if isinstance(node, Connective) or is_collection(node, "list"):
        names = {region_name(a) for a in node.args}
        return next(iter(names)) if len(names) == 1 else None
    if not isinstance(node, Relation):
        return None
    unknown = _solved_bounds(node)
    if unknown is None and (is_range(node) or _is_membership(node) or _is_point(node)):
        unknown = node.args[0]
    match unknown:
        case None:
            return None
        case Symbol(name):
            return name
        case UndefinedCall(name) | Apply(name) | Text(name) | BigOperator(name):
            return f"{name}(…)"
    return "(…)"


def _solved_bounds(node: Relation) -> Node | None:
    """The unknown of `x > 2`, `3 < x` or `1 < x \\le 4`, whose ends are constants; None for any other relation."""
    operators = node.operators
    if not set(operators) <= _BOUNDS or len(node.args) > 3:
        return None
    names = [at for at, a in enumerate(node.args) if _unknown(a) is not None]
    ends = [a for at, a in enumerate(node.args) if at not in names]
    if len(names) != 1 or any(map(symbols, ends)):
        return None
    if any(isinstance(n, (Relation, Text)) or is_collection(n, "list") for a in ends for n in walk(a)):
        return None
    if len(node.args) == 3 and (names[0] != 1 or "!=" in operators or operators[0][0] != operators[1][0]):
        return None
    return _unknown(node.args[names[0]])


def is_condition(node: Node) -> bool:
    """Whether the set is given by a condition on its elements."""
    return any(isinstance(n, (SetBuilder, Relation)) for n in walk(node))


def has_factor(node: Node) -> bool:
    """Whether a number or a sign stands before the unknown of a bound, as in `-2x > 4`."""
    if isinstance(node, Relation):
        return _solved_bounds(node) not in (None, *node.args)
    return (isinstance(node, Connective) or is_collection(node, "list")) and any(map(has_factor, node.args))


def _unknown(node: Node) -> Node | None:
    """The unknown of a node that is an unknown, perhaps after a sign or a number: the x of `-2x`; else None."""
    match node:
        case Negation(inside):
            return _unknown(inside)
        case Product((factor, last)) if literal(factor):
            node = last
    return node if isinstance(node, (Symbol, UndefinedCall)) and is_name(node) else None
