"""What a reading stands for: values behind `x =`, both signs of a plus-minus, words, regions of the number line."""

from __future__ import annotations

from agentscope_tuner.verify.math.family import FIELDS, conditions, family, is_range
from agentscope_tuner.verify.math.node import Node, symbols, walk
from agentscope_tuner.verify.math.tables import EMPTY_SET, WORD_SETS

_SIGNED = frozenset({"pm", "mp"})
# what a number may carry that says what it measures
MARKS = frozenset({"unit", "percent", "deg"})
_COMPOUND = frozenset({"list", "set", "tuple", "interval", "rel", "and", "or", "union", "family"})


def settle(node: Node) -> Node:
    """The reading with its top level resolved.

    Both signs of a plus-minus become two elements, `1 or 2` and `1 and 2` a list, nested lists one list, `x = 1, 2` and
    `x = 1 or x = 2` the list of the values; a chain of one variable keeps its last member.
    """
    if node.head in ("and", "or") and not all(is_statement(a) for a in node.args):
        node = Node("list", node.args)
    if node.head == "or" and (same := _same_variable(node.args)) is not None:
        node = same
    if node.head == "rel" and node.name == ":" and len(node.args) == 2:
        return Node("div", node.args)
    if node.head == "rel" and (named := _by_name(node)) is not None:
        return named
    if node.head == "neg" and node.args[0].head in MARKS:
        # the sign belongs to the number, not to its unit
        return node.args[0]._replace(args=(Node("neg", node.args[0].args),))
    if (found := family(node)) is not None:
        return found._replace(args=(settle(found.args[0]), found.args[1]))
    if conditions(node):
        return Node("and", node.args)
    if node.head in ("list", "set"):
        return _elements(node)
    if node.head == "text" and node.name.lower() in WORD_SETS:
        name = WORD_SETS[node.name.lower()]
        return Node("sym", (), name) if name != EMPTY_SET else Node("set")
    if node.head not in _COMPOUND and any(n.head in _SIGNED for n in walk(node)):
        return Node("list", (choose(node, 1), choose(node, -1)))
    return node


def _elements(node: Node) -> Node:
    found: list[Node] = []
    for element in node.args:
        if is_range(element) and found:
            # `2k, k \\in \\mathbb{Z}`: what a parameter runs over
            continue
        element = settle(element) if element.head != "rel" else element
        found.extend(element.args if element.head == "list" else (element,))
    if (
        node.head == "list"
        and is_statement(found[0])
        and not all(is_statement(a) for a in found[1:])
        and not any(is_statement(a) for a in found[1:])
    ):
        # `x = 1, 2` names its variable once
        value = assigned(found[0])
        found[0] = value if value is not None else found[0]
    elif node.head == "list" and (same := _same_variable(tuple(found))) is not None:
        return same
    if node.head == "list" and len(found) == 1:
        return found[0]
    return Node(node.head, tuple(found))


def _by_name(node: Node) -> Node | None:
    """`(x, y) = (1, 2)` as `x = 1, y = 2`, so that values are compared by their names."""
    if node.name != "=" or not {a.head for a in node.args} <= {"tuple", "list"}:
        return None
    names, values = (a.args for a in _sides(node))
    if len(names) != len(values) or len(names) < 2 or not all(n.head == "sym" and _is_name(n) for n in names):
        return None
    return Node("list", tuple(Node("rel", pair, "=") for pair in zip(names, values, strict=True)))


def _same_variable(statements: tuple[Node, ...]) -> Node | None:
    """`x = 1, x = 2` is the list `1, 2`; different names keep theirs."""
    if not statements or not all(is_statement(s) for s in statements):
        return None
    values = [assigned(s) for s in statements]
    if None in values or len({labels(s) for s in statements}) != 1:
        return None
    return settle(Node("list", tuple(v for v in values if v is not None)))


def elements(node: Node) -> tuple[Node, ...]:
    """The members of a list; anything else is its own only member."""
    return node.args if node.head == "list" else (node,)


def both_signs(node: Node) -> Node:
    """A statement with a plus-minus as the two statements that it stands for."""
    if node.head == "rel" and any(n.head in _SIGNED for n in walk(node)):
        return Node("or", (choose(node, 1), choose(node, -1)))
    return node


def choose(node: Node, sign: int) -> Node:
    """The reading with every plus-minus read as plus (`sign` 1) or minus (-1), every minus-plus as the opposite."""
    args = tuple(choose(a, sign) for a in node.args)
    if node.head in _SIGNED:
        positive = (sign > 0) == (node.head == "pm")
        last = args[-1] if positive else Node("neg", (args[-1],))
        return last if len(args) == 1 else Node("add", (args[0], last))
    return node._replace(args=args) if args != node.args else node


def is_statement(node: Node) -> bool:
    """A relation, or several joined by `and`, `or`, `not`."""
    return node.head in ("rel", "and", "or", "not") and (node.head == "rel" or all(is_statement(a) for a in node.args))


def is_region(node: Node) -> bool:
    """A set of real numbers that is not listed: a union, a set builder, a field, or brackets of two kinds."""
    if node.head == "set":
        return len(node.args) == 1 and node.args[0].head == "where"
    return node.head in ("union", "inter", "minus") or (node.head == "sym" and node.name in FIELDS)


def labels(node: Node) -> tuple[str, ...]:
    """The names on the left of an assignment; a function's is its own, and `y` may stand for any."""
    if node.head != "rel":
        return ()
    name = _sides(node)[0]
    if name.head == "call":
        return ("y",) if name.name in ("f", "y") else (name.name,)
    if name.head in ("tuple", "list"):
        return tuple(n.name for n in name.args)
    return tuple(sorted(symbols(name)))


def _sides(node: Node) -> tuple[Node, Node]:
    """An assignment's name and value, whichever way round it is written."""
    first, last = node.args[0], node.args[-1]
    return (last, first) if len(node.args) == 2 and not _is_name(first) and _is_name(last) else (first, last)


def _is_name(node: Node) -> bool:
    """A symbol, a function of symbols, a tuple of symbols, or two letters side by side (a segment)."""
    if node.head == "sym":
        return node.name != "i" and node.name not in ("e", "\\pi", "\\infty") and not node.name.startswith("\\mathbb")
    if node.head in ("call", "text") or is_unevaluated(node):
        return True
    if node.head in ("tuple", "list", "set"):
        return bool(node.args) and all(_is_name(a) for a in node.args)
    return node.head == "mul" and all(_is_name(a) for a in node.args)


def assigned(node: Node) -> Node | None:
    r"""The value of `x = 2`, `2 = x`, `f(x) = x + 1`, `x \in [0, 1)`; None for any other statement.

    The left side is a name that the value does not use.
    """
    if node.head != "rel" or set(node.name.split()) - {"=", "in", "~"}:
        return None
    name, value = _sides(node)
    if node.name == "~" and not _is_name(node.args[0]):
        return None
    operations = node.name.split()
    if len(node.args) > 2:
        if operations[-1] != "=" or not _is_name(name) or set(operations) != {"="}:
            return _rounded_value(node) if operations[-1] == "~" else None
        # `x = 6/3 = 2`: the members after the name must agree, which the chain says
        return Node("rel", node.args[1:], " ".join(operations[1:]))
    if operations == ["in"]:
        return value if _is_name(name) and name is node.args[0] else None
    if not _is_name(name):
        return None
    inner = symbols(name) if name.head != "call" else frozenset((name.name,))
    if symbols(value) & inner and not (name.head == "mul" and name.args[0].head == "sym"):
        return None
    return value


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
    if node.head == "mul" and len(node.args) > 1 and all(a.head == "sym" and a.name.isupper() for a in node.args):
        return True
    if node.head == "fn" and len(node.args) == 1 and node.args[0].head == "sym":
        return node.args[0].name[:1] == "\\" or node.args[0].name.isupper()
    arithmetic = node.head in ("add", "mul", "div", "neg", "pow", "deg", "abs")
    return arithmetic and bool(symbols(node)) and all(map(_is_geometric, node.args))


def _rounded_value(node: Node) -> Node | None:
    if len(node.args) == 3 and _is_name(node.args[0]):
        return Node("rel", node.args[1:], "~")
    return None


def is_unevaluated(node: Node) -> bool:
    """A limit or an integral that still stands there; sums and products are arithmetic."""
    return any(n.head == "index" and n.name in ("lim", "int") for n in walk(node))


def vector(node: Node) -> tuple[Node, ...] | None:
    """The entries of a matrix with a single row or column."""
    if len(node.args) == 1:
        return node.args[0].args
    if all(len(row.args) == 1 for row in node.args):
        return tuple(row.args[0] for row in node.args)
    return None


def words(node: Node) -> str:
    """A text answer as it is compared: lower case, without spaces and full stops."""
    if node.head == "text":
        return "".join(node.name.lower().split()).rstrip(".")
    if node.head in ("sym", "num"):
        return node.name.lower()
    return f"<{node.head}>"
