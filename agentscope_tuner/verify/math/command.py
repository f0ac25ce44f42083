r"""Commands that begin an operand: functions, fractions, roots, environments, sums and integrals, decorations."""

from __future__ import annotations

from agentscope_tuner.verify.math.cursor import Grammar
from agentscope_tuner.verify.math.node import Node, number
from agentscope_tuner.verify.math.tables import ALIASES, BIG, DECORATIONS, INVERSE, NAMING, PREFIX, SYMBOLS
from agentscope_tuner.verify.math.text import Unreadable

_MATRICES = frozenset({"pmatrix", "bmatrix", "matrix", "Bmatrix", "vmatrix", "Vmatrix", "array", "smallmatrix"})
_ALIGNED = frozenset({"align", "aligned", "gather", "gathered", "equation", "split", "cases"})
_SEVERAL = frozenset({"max", "min", "gcd", "lcm"})


def read_command(parser: Grammar, name: str) -> Node:
    """The operand that the command `name`, already taken, begins."""
    if name in ("\\frac", "\\binom"):
        start = parser.at
        top, bottom = parser.single(), parser.single()
        if name == "\\binom":
            return Node("fn", (top, bottom), "binom")
        if _is_differential(bottom) and (_is_differential(top) or _operator(top)):
            return Node("sym", (), " ".join(t.text for t in parser.tokens[start : parser.at]))
        return Node("div", (top, bottom))
    if name in ("\\sqrt", "\\cbrt", "\\root"):
        return _root(parser, name)
    if name in PREFIX:
        return _function(parser, name[1:])
    if name == "\\begin":
        return _environment(parser)
    if name in BIG:
        return _index(parser, name[1:])
    if name in ("\\overline", "\\bar"):
        inside = parser.single()
        # two capitals under a bar are a segment, anything else is a conjugate
        segment = inside.head == "mul" and all(a.head == "sym" and a.name.isupper() for a in inside.args)
        return inside if segment else Node("fn", (inside,), "conj")
    if name in DECORATIONS:
        inside = parser.single()
        if inside.head == "sym" and name in NAMING:
            return inside._replace(name=f"{name[1:]} {inside.name}")
        if name in ("\\dot", "\\ddot"):
            raise Unreadable("a derivative of more than one symbol")
        return inside
    if name in SYMBOLS:
        if name == "\\emptyset":
            return Node("set")
        return parser.symbol(name)
    raise Unreadable(f"the command {name!r}")


def _operator(node: Node) -> bool:
    """A differential sign, perhaps raised: the d in `d^2 y`."""
    if node.head == "pow":
        return _operator(node.args[0])
    return node.head == "sym" and node.name in ("d", "\\partial")


def _is_differential(node: Node) -> bool:
    return node.head == "mul" and _operator(node.args[0])


def _root(parser: Grammar, name: str) -> Node:
    degree = number(3 if name == "\\cbrt" else 2)
    if parser.peek() == "[":
        parser.at += 1
        degree = parser.sum()
        parser.expect("]")
    inside = parser.single()
    return Node("pow", (inside, Node("div", (number(1), degree))))


def _function(parser: Grammar, name: str) -> Node:
    name = ALIASES.get(name, name)
    base = exponent = None
    for _ in range(2):
        if parser.peek() == "_" and base is None:
            parser.at += 1
            base = parser.single() if parser.peek() == "{" else parser.operand()
        elif parser.peek() == "^" and exponent is None:
            parser.at += 1
            exponent = parser.exponent()
    if exponent is not None and exponent == Node("neg", (Node("num", (), "1", number(1).value),)) and name in INVERSE:
        name, exponent = INVERSE[name], None
    args = _function_arguments(parser, name)
    if name in ("log", "ln", "lg") and base is not None:
        node = Node("fn", (args[0], base), "log")
    elif name == "exp":
        node = Node("pow", (Node("sym", (), "e"), args[0]))
    elif name == "abs":
        node = Node("abs", args)
    else:
        node = Node("fn", args, name)
    return node if exponent is None else Node("pow", (node, exponent))


def _function_arguments(parser: Grammar, name: str) -> tuple[Node, ...]:
    if parser.peek() == "(":
        parser.at += 1
        args = parser.arguments(")")
    elif parser.peek() == "{":
        args = (parser.operand(),)
        args = args[0].args if args[0].head == "set" else args
    elif name == "det":
        args = (parser.operand(),)
    else:
        args = (parser.argument(),)
    if len(args) != 1 and name not in _SEVERAL:
        raise Unreadable(f"{name} of {len(args)} arguments")
    return args


def _environment(parser: Grammar) -> Node:
    name = parser.tokens[parser.at].text if parser.at < len(parser.tokens) else ""
    parser.at += 1
    bars, parser.bars = parser.bars, 0
    rows: list[Node] = []
    cells: list[Node] = []
    while parser.peek() != "\\end":
        if parser.at >= len(parser.tokens):
            raise Unreadable(f"\\end{{{name}}} is missing")
        if parser.peek() not in ("&", "\\\\"):
            cells.append(parser.items())
        if parser.peek() == "\\\\":
            parser.at += 1
            rows.append(Node("row", tuple(cells)))
            cells = []
        elif parser.peek() == "&":
            parser.at += 1
        elif parser.peek() != "\\end":
            raise Unreadable(f"{parser.tokens[parser.at : parser.at + 1]!r} in a matrix")
    parser.at += 2
    parser.bars = bars
    if cells:
        rows.append(Node("row", tuple(cells)))
    if name in _MATRICES:
        return _matrix(rows, name)
    if name in _ALIGNED:
        return (
            Node("cases", tuple(rows))
            if any(len(r.args) > 1 for r in rows)
            else Node("list", tuple(r.args[0] for r in rows if r.args))
        )
    raise Unreadable(f"the environment {name!r}")


def _matrix(rows: list[Node], name: str) -> Node:
    if not rows or len({len(row.args) for row in rows}) != 1:
        raise Unreadable("a matrix with rows of different lengths")
    matrix = Node("matrix", tuple(rows))
    return Node("fn", (matrix,), "det") if name == "vmatrix" else matrix


def _index(parser: Grammar, name: str) -> Node:
    """A sum, product, limit or integral; kept as it stands, since an answer left unevaluated is no answer."""
    bounds: list[Node] = []
    while parser.peek() in ("_", "^"):
        parser.at += 1
        if parser.peek() == "{":
            parser.at += 1
            bounds.append(parser.items())
            parser.expect("}")
        else:
            bounds.append(parser.operand())
    parser.integrals += name == "int"
    body = parser.sum() if name == "int" else parser.term()
    parser.integrals -= name == "int"
    return Node("index", (body, *bounds), name)
