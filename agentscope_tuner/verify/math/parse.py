"""Tokens to nodes: the grammar with a reader for each command, such as fractions, roots and matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from agentscope_tuner.verify.math.grammar import MAX_CHAIN, Parser, matrix
from agentscope_tuner.verify.math.node import (
    EMPTY_SET,
    INFINITY,
    Apply,
    Array,
    BigOperator,
    BigSign,
    Collection,
    E,
    Negation,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Relation,
    Symbol,
    Text,
    equation,
    is_collection,
    is_symbol,
    literal,
    number,
)
from agentscope_tuner.verify.math.scan import (
    BY_TOKEN,
    INVERSE,
    MANY,
    PROPERTIES,
    Command,
    Role,
    Token,
    Unreadable,
    tokenize,
)


def parse(text: str) -> Node:
    """The tree of an answer or a reference.

    Raises:
        Unreadable: the text is not mathematics.
        TooComplex: the text is over a bound.
    """
    return parse_tokens(tokenize(text))


def parse_tokens(tokens: list[Token]) -> Node:
    """As `parse`, for a text already scanned."""
    parser = Parser(tokens, read_command)
    node = parser.items(top=True)
    if parser.at < len(parser.tokens):
        raise Unreadable(f"{parser.tokens[parser.at].text!r} where an operator was expected")
    return node


_SIGNS: dict[str, BigSign] = {"sum": "sum", "prod": "prod", "int": "int", "lim": "lim"}
_MATRICES = frozenset({"pmatrix", "bmatrix", "matrix", "Bmatrix", "vmatrix", "Vmatrix", "array", "smallmatrix"})
_PARTING = frozenset({"&", "\\\\", "\\end"})
_ALIGNED = frozenset({"align", "aligned", "gather", "gathered", "equation", "split", "cases"})
_MINUS_ONE = Negation(Number(Fraction(1), "1"))


def read_command(parser: Parser, token: str) -> Node:
    """The operand that begins with the command `token`, which the parser has moved past.

    Raises:
        Unreadable: the command is unknown, or does not begin an operand.
    """
    command = BY_TOKEN.get(token)
    reader = _READERS.get(command.role) if command is not None else None
    if command is None or reader is None:
        raise Unreadable(f"the command {token!r}")
    return reader(parser, command)


def _fraction(parser: Parser, command: Command) -> Node:
    start = parser.at
    top, bottom = parser.single(), parser.single()
    if _is_differential(bottom) and (_is_differential(top) or _operator(top)):
        return Symbol(" ".join(t.text for t in parser.tokens[start : parser.at] if t.text not in ("{", "}")))
    return Quotient(top, bottom)


def _binomial(parser: Parser, command: Command) -> Node:
    return Apply(command.canonical, (parser.single(), parser.single()))


def _bar(parser: Parser, command: Command) -> Node:
    inside = parser.single()
    if command.name == "bar":
        _refuse_number(inside, command)
    # A product of capital letters under a bar is a segment, any other formula is a conjugate
    letters = [a.name for a in inside.args if isinstance(a, Symbol) and a.name.isupper()]
    segment = isinstance(inside, Product) and len(letters) == len(inside.args)
    return inside if segment else Apply("conj", (inside,))


def _decorated(parser: Parser, command: Command) -> Node:
    if command.name == "triangle" and parser.peek() == "}":
        return Symbol("\\triangle")
    inside = parser.single()
    if command.name == "angle" and isinstance(inside, Text) and len(inside.words) == len("ABC"):
        # The angle ABC is that of CBA
        return Text(min(inside.words, inside.words[::-1]))
    names = [a.name for a in inside.args if isinstance(a, Symbol)] if isinstance(inside, Product) else []
    if command.name == "vec" and names and len(names) == len(inside.args):
        # The order of its letters is the direction of a vector: that of BA is the opposite of AB's
        turned = len(names) == len("AB") and names != sorted(names)
        vector = Symbol("vec " + "".join(sorted(names) if turned else names))
        return Negation(vector) if turned else vector
    if command.name == "vec" and literal(inside) != 0:
        # An arrow over 0 marks the zero vector
        _refuse_number(inside, command)
    return inside


def _accented(parser: Parser, command: Command) -> Node:
    inside = parser.single()
    if isinstance(inside, Symbol):
        return Symbol(f"{command.name} {inside.name}")
    if command.name in ("dot", "ddot"):
        raise Unreadable("a derivative of more than one symbol")
    _refuse_number(inside, command)
    if command.name == "widehat" and isinstance(inside, Product) and len(inside.args) == len("AB"):
        return Symbol("arc " + "".join(sorted(a.name for a in inside.args if isinstance(a, Symbol))))
    return inside


def _refuse_number(inside: Node, command: Command) -> None:
    r"""Raise if the accent stands over a number: `\hat{42}` is not 42.

    Over several letters an accent marks an angle or an arc. `\overline{42}` is the number with these digits.
    """
    if literal(inside) is not None:
        raise Unreadable(f"a number under \\{command.name}")


def _symbol(parser: Parser, command: Command) -> Node:
    return EMPTY_SET if command.name == "emptyset" else parser.symbol(f"\\{command.name}")


def _operator(node: Node) -> bool:
    """Whether the node is a differential sign, perhaps with an exponent: the d of `d^2 y`."""
    return _operator(node.base) if isinstance(node, Power) else is_symbol(node, "d", "\\partial")


def _is_differential(node: Node) -> bool:
    return isinstance(node, Product) and _operator(node.args[0])


def _root(parser: Parser, command: Command) -> Node:
    degree: Node = number(3 if command.name == "cbrt" else 2)
    if parser.peek() == "[":
        parser.at += 1
        degree = parser.sum()
        parser.expect("]")
    inside = parser.single()
    return Power(inside, Quotient(number(1), degree))


def _function(parser: Parser, command: Command) -> Node:
    name = command.canonical
    if name in PROPERTIES and parser.peek() == "=":
        return Symbol(name)
    base = exponent = None
    for _ in range(2):
        if parser.peek() == "_" and base is None:
            parser.at += 1
            base = parser.single() if parser.peek() == "{" else parser.operand()
        elif parser.peek() == "^" and exponent is None:
            parser.at += 1
            exponent = parser.exponent()
    if base is not None and name not in ("log", "ln", *PROPERTIES) and command.arity != MANY:
        raise Unreadable(f"an index on {name}")
    if exponent == _MINUS_ONE and name in INVERSE:
        name, exponent = INVERSE[name], None
    args = _function_arguments(parser, name, command.arity)
    if command.name in _BASES and base is None:
        base = number(_BASES[command.name])
    if name in ("log", "ln") and base is not None:
        node: Node = Apply("log", (args[0], base))
    elif name == "diag" and len(args) <= MAX_CHAIN:
        node = Array(
            "matrix", tuple(tuple(a if i == j else number(0) for j in range(len(args))) for i, a in enumerate(args))
        )
    elif name in ("exp", "cis"):
        node = Power(E, args[0] if name == "exp" else Product((Symbol("i"), args[0])))
    else:
        node = Apply(name, args)
    return node if exponent is None else Power(node, exponent)


# ISO 80000-2 and school texts: lg is the decimal logarithm, ld the binary one
_BASES = {"lg": 10, "ld": 2}


def _function_arguments(parser: Parser, name: str, arity: int) -> tuple[Node, ...]:
    if parser.peek() == "(":
        parser.at += 1
        args = parser.arguments(")")
    elif parser.peek() == "{":
        args = (parser.operand(),)
        args = args[0].args if is_collection(args[0], "set") else args
    elif name == "det":
        args = (parser.operand(),)
    else:
        args = (parser.argument(),)
    if len(args) == 1 and arity == MANY and is_collection(args[0], "set"):
        # The set of `\min\{a, b\}` holds the arguments
        args = args[0].args
    if arity not in (MANY, len(args)):
        raise Unreadable(f"{name} of {len(args)} arguments")
    return args


def _environment(parser: Parser, command: Command) -> Node:
    name = parser.tokens[parser.at].text if parser.at < len(parser.tokens) else ""
    parser.at += 1
    if name == "cases":
        parser.tokens = [*parser.tokens[: parser.at], *_bare_cases(parser.tokens[parser.at :])]
    bars, parser.bars = parser.bars, 0
    rows: list[tuple[Node, ...]] = []
    cells: list[Node] = []
    while parser.peek() != "\\end":
        if parser.at >= len(parser.tokens):
            raise Unreadable(f"\\end{{{name}}} is missing")
        if parser.peek() not in ("&", "\\\\"):
            cells.append(parser.items())
        if parser.peek() == "\\\\":
            parser.at += 1
            rows.append(tuple(cells))
            cells = []
        elif parser.peek() == "&":
            parser.at += 1
        elif parser.peek() != "\\end":
            raise Unreadable(f"{parser.tokens[parser.at : parser.at + 1]!r} in a matrix")
    parser.at += 2
    parser.bars = bars
    if cells:
        rows.append(tuple(cells))
    if name in _MATRICES:
        return matrix(rows, name)
    if name in _ALIGNED:
        if any(len(row) > 1 for row in rows):
            return Array("cases", tuple(rows))
        return Collection("list", tuple(row[0] for row in rows if row))
    raise Unreadable(f"the environment {name!r}")


_CONDITIONS = frozenset("if for when where si pour se per para wenn falls für если при cuando 当 若".split())  # noqa: SIM905

_OTHERWISE = frozenset("otherwise else sonst sinon altrimenti иначе 其他 其它".split())  # noqa: SIM905


def _bare_cases(tokens: list[Token]) -> Iterator[Token]:
    """The tokens without the `if` of a condition and the comma before it, up to the end of the cases."""
    inside = True
    for at, token in enumerate(tokens):
        inside = inside and token.text != "\\end"
        if inside and token.text in _OTHERWISE:
            token = Token("cmd", "\\otherwise")
        parts = token.text in (",", ";", ".") and tokens[at + 1 : at + 2] and tokens[at + 1].text in _PARTING
        if not inside or not (parts or token.text.rstrip() in _CONDITIONS):
            yield token


def _index(parser: Parser, command: Command) -> Node:
    """A sum, product, limit or integral, not evaluated: only later stages know whether it may stand in an answer."""
    sign = _SIGNS[command.canonical]
    bounds: list[Node] = []
    while parser.peek() in ("_", "^"):
        parser.at += 1
        if parser.peek() == "{":
            parser.at += 1
            bounds.append(parser.items())
            parser.expect("}")
        else:
            bounds.append(parser.operand())
    parser.integrals += sign == "int"
    match bounds:
        case [Relation((index, first), (">=",))]:
            bounds = [equation(index, first), INFINITY]
    body = parser.sum() if sign == "int" else parser.term()
    parser.integrals -= sign == "int"
    return BigOperator(sign, body, tuple(bounds))


_READERS: dict[Role, Callable[[Parser, Command], Node]] = {
    "function": _function,
    "fraction": _fraction,
    "binomial": _binomial,
    "root": _root,
    "symbol": _symbol,
    "constant": _symbol,
    "bar": _bar,
    "decoration": _decorated,
    "accent": _accented,
    "big": _index,
    "environment": _environment,
}
