"""Solved forms: a name alone on one side, and sets of real numbers given by their ends."""

from __future__ import annotations

from agentscope_tuner.verify.math.family import FIELDS, is_range
from agentscope_tuner.verify.math.node import CONSTANTS, Node, symbols, walk
from agentscope_tuner.verify.math.number import literal

_BOUNDS = frozenset({"<", "<=", ">", ">=", "!="})


def is_name(node: Node) -> bool:
    """A symbol, a function of symbols, a tuple of names, letters side by side (a segment), an integral or a limit."""
    if node.head == "sym":
        return node.name not in CONSTANTS and not node.name.startswith("\\mathbb")
    if node.head in ("call", "text") or is_unevaluated(node):
        return True
    if node.head in ("tuple", "list", "set"):
        return bool(node.args) and all(map(is_name, node.args))
    return is_segment(node)


def is_unevaluated(node: Node) -> bool:
    """A limit or an integral that still stands there; sums and products are arithmetic."""
    return any(n.head == "index" and n.name in ("lim", "int") for n in walk(node))


def is_work(node: Node) -> bool:
    """Whether a limit, an integral or a remainder is still to be found."""
    return is_unevaluated(node) or any(n.head == "fn" and n.name == "mod" for n in walk(node))


def label(name: Node) -> tuple[str, ...]:
    """What a name is compared by; a function's parameter does not count, and `y` may stand for `f(x)`."""
    if name.head == "call":
        return ("y",) if name.name in ("f", "y") else (name.name,)
    if name.head in ("tuple", "list", "ratio"):
        return tuple(part for one in name.args for part in label(one))
    return tuple(sorted(symbols(name))) if name.head != "text" else (name.name.lower(),)


def assignment(node: Node) -> tuple[Node, Node] | None:
    r"""The name and the value of `x = 2`, `2 = x`, `f(x) = x + 1`, `x \in [0, 1)`; None for any other statement.

    The value does not use the name. Of a longer chain the value is the chain after the name.
    """
    operations = node.name.split()
    if node.head != "rel" or set(operations) - {"=", "in", "~"}:
        return None
    if len(node.args) > 2:
        return _named_chain(node, operations)
    first, last = node.args
    if operations == ["in"]:
        return (first, last) if is_name(first) else None
    if is_name(first):
        name, value = first, last
    elif is_name(last) and operations == ["="]:
        name, value = last, first
    else:
        return None
    own = frozenset((name.name,)) if name.head == "call" else symbols(name)
    if symbols(value) & own and not is_segment(name):
        return None
    return name, value


def is_equal_names(node: Node) -> bool:
    """Whether several names are said to be equal: `x = y = 1`, which no shorter statement says."""
    return len(node.args) > 2 and any(a.head == "sym" and is_name(a) for a in node.args[1:])


def is_segment(node: Node) -> bool:
    """Capitals side by side: the segment `AB`; `dy` over `dx` and the like are names as well."""
    return node.head == "mul" and all(a.head == "sym" and a.name[:1].isupper() for a in node.args)


def _named_chain(node: Node, operations: list[str]) -> tuple[Node, Node] | None:
    name = node.args[0]
    if not is_name(name) or operations[0] != "=" or "in" in operations or is_equal_names(node):
        return None
    rest = Node("rel", node.args[1:], " ".join(operations[1:]))
    return None if symbols(rest) & symbols(name) and not is_segment(name) else (name, rest)


def named_value(node: Node) -> Node | None:
    r"""The constant that a reference such as `\frac{AB}{CD} = 3` gives a name to."""
    if node.head != "rel" or node.name != "=":
        return None
    name, value = node.args
    return value if _is_geometric(name) and not symbols(value) else None


def _is_geometric(node: Node) -> bool:
    """Segments, triangles, functions of an angle, and arithmetic on them; an unknown is to be solved for."""
    if node.head == "num" or (node.head == "text" and node.name.isupper()):
        return True
    if len(node.args) > 1 and is_segment(node):
        return True
    if node.head == "fn" and len(node.args) == 1 and node.args[0].head == "sym":
        return node.args[0].name[:1] == "\\" or node.args[0].name.isupper()
    arithmetic = node.head in ("add", "mul", "div", "neg", "pow", "deg", "abs")
    return arithmetic and bool(symbols(node)) and all(map(_is_geometric, node.args))


def is_solved_region(node: Node) -> bool:
    """Whether a set of real numbers is given by its ends: nothing in it is left to solve."""
    if node.head in ("and", "or", "list"):
        parts = [is_solved_region(a) for a in node.args]
        named = {region_name(a) for a in node.args}
        return any(parts) and len(named) == 1 and None not in named and all(map(_is_solved_part, node.args))
    if node.head == "not":
        return is_solved_region(node.args[0])
    if node.head == "rel":
        return _solved_bounds(node) is not None or is_range(node) or _is_membership(node)
    if node.head in ("union", "inter", "minus"):
        return all(map(is_solved_region, node.args))
    if node.head in ("interval", "tuple"):
        return len(node.args) == 2 and not any(n.head in ("rel", "list", "tuple") for a in node.args for n in walk(a))
    if node.head == "set":
        if len(node.args) == 1 and node.args[0].head == "where":
            return _is_solved_builder(node.args[0])
        return not any(symbols(a) or a.head in ("tuple", "list", "rel", "set") for a in node.args)
    return node.head == "sym" and node.name in FIELDS


def _is_solved_part(node: Node) -> bool:
    return is_solved_region(node) or _is_point(node)


def _is_solved_builder(where: Node) -> bool:
    element, condition = where.args
    unknown = element.args[0] if element.head == "rel" else element
    if unknown.head != "sym" or (element.head == "rel" and not (is_range(element) or _is_membership(element))):
        return False
    parts = condition.args if condition.head in ("list", "and") else (condition,)
    return all((is_range(p) or is_solved_region(p)) and region_name(p) == unknown.name for p in parts)


def _is_membership(node: Node) -> bool:
    return node.name in ("in", "notin") and node.args[0].head == "sym" and is_solved_region(node.args[1])


def _is_point(node: Node) -> bool:
    return node.head == "rel" and node.name == "=" and assignment(node) is not None and not symbols(node.args[1])


def region_name(node: Node) -> str | None:
    """The unknown of a solved set of reals; None where none is named, or several are."""
    if node.head in ("and", "or", "list", "not"):
        names = {region_name(a) for a in node.args}
        return next(iter(names)) if len(names) == 1 else None
    if node.head != "rel":
        return None
    unknown = _solved_bounds(node)
    if unknown is None and (is_range(node) or _is_membership(node)):
        unknown = node.args[0]
    if unknown is None and _is_point(node):
        unknown = node.args[0]
    if unknown is None:
        return None
    return unknown.name if unknown.head == "sym" else f"{unknown.name}(…)"


def _solved_bounds(node: Node) -> Node | None:
    """The unknown of `x > 2`, `3 < x`, `1 < x \\le 4`: alone between ends that are constants."""
    operations = node.name.split()
    if not set(operations) <= _BOUNDS or len(node.args) > 3:
        return None
    names = [at for at, a in enumerate(node.args) if _unknown(a) is not None]
    if len(names) != 1 or any(symbols(a) for at, a in enumerate(node.args) if at != names[0]):
        return None
    if any(n.head in ("list", "rel", "text") for at, a in enumerate(node.args) if at != names[0] for n in walk(a)):
        return None
    if len(node.args) == 3 and (names[0] != 1 or "!=" in operations or operations[0][0] != operations[1][0]):
        return None
    return _unknown(node.args[names[0]])


def is_condition(node: Node) -> bool:
    """Whether the set is given by what its elements satisfy."""
    return any(n.head in ("where", "rel") for n in walk(node))


def has_factor(node: Node) -> bool:
    """Whether a number or a sign stands before an unknown between its ends, as in `-2x > 4`."""
    if node.head == "rel":
        return _solved_bounds(node) not in (None, *node.args)
    return node.head in ("and", "or", "list", "not") and any(map(has_factor, node.args))


def _unknown(node: Node) -> Node | None:
    """The unknown that stands alone, perhaps with a sign or a number before it: the x of `-2x > 4`."""
    if node.head == "neg":
        return _unknown(node.args[0])
    if node.head == "mul" and len(node.args) == 2 and literal(node.args[0]):
        node = node.args[1]
    return node if node.head in ("sym", "call") and is_name(node) else None
