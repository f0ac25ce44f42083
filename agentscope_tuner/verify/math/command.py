r"""Commands that begin an operand: functions, fractions, roots, environments, sums and integrals, decorations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from agentscope_tuner.verify.math.commands import BY_TOKEN, MANY, Command, Role
from agentscope_tuner.verify.math.cursor import Grammar
from agentscope_tuner.verify.math.node import (
    Apply,
    Array,
    BigOperator,
    BigSign,
    Collection,
    Negation,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Symbol,
)
from agentscope_tuner.verify.math.number import literal
from agentscope_tuner.verify.math.tables import INVERSE
from agentscope_tuner.verify.math.text import Token, Unreadable
from agentscope_tuner.verify.math.tree import EMPTY_SET, E, is_collection, is_symbol, number

_SIGNS: dict[str, BigSign] = {"sum": "sum", "prod": "prod", "int": "int", "lim": "lim"}
_MATRICES = frozenset({"pmatrix", "bmatrix", "matrix", "Bmatrix", "vmatrix", "Vmatrix", "array", "smallmatrix"})
_PARTING = frozenset({"&", "\\\\", "\\end"})
_ALIGNED = frozenset({"align", "aligned", "gather", "gathered", "equation", "split", "cases"})
_MINUS_ONE = Negation(Number(Fraction(1), "1"))


def read_command(parser: Grammar, token: str) -> Node:
    """The operand that begins with the command `token`, which the parser has moved past.

    Raises:
        Unreadable: the command is unknown, or does not begin an operand.
    """
    command = BY_TOKEN.get(token)
    reader = _READERS.get(command.role) if command is not None else None
    if command is None or reader is None:
        raise Unreadable(f"the command {token!r}")
    return reader(parser, command)


def _fraction(parser: Grammar, command: Command) -> Node:
    start = parser.at
    top, bottom = parser.single(), parser.single()
    if _is_differential(bottom) and (_is_differential(top) or _operator(top)):
        return Symbol(" ".join(t.text for t in parser.tokens[start : parser.at]))
    return Quotient(top, bottom)


def _binomial(parser: Grammar, command: Command) -> Node:
    return Apply(command.canonical, (parser.single(), parser.single()))


def _bar(parser: Grammar, command: Command) -> Node:
    inside = parser.single()
    if command.name == "bar":
        _refuse_number(inside, command)
    # A product of capital letters under a bar is a segment, any other formula is a conjugate
    letters = [a.name for a in inside.args if isinstance(a, Symbol) and a.name.isupper()]
    segment = isinstance(inside, Product) and len(letters) == len(inside.args)
    return inside if segment else Apply("conj", (inside,))


def _decorated(parser: Grammar, command: Command) -> Node:
    inside = parser.single()
    if command.name == "vec" and literal(inside) != 0:
        # An arrow over 0 marks the zero vector
        _refuse_number(inside, command)
    return inside


def _accented(parser: Grammar, command: Command) -> Node:
    inside = parser.single()
    if isinstance(inside, Symbol):
        return Symbol(f"{command.name} {inside.name}")
    if command.name in ("dot", "ddot"):
        raise Unreadable("a derivative of more than one symbol")
    _refuse_number(inside, command)
    return inside


def _refuse_number(inside: Node, command: Command) -> None:
    r"""Raise if the accent stands over a number: `\hat{42}` is not 42.

    Over several letters an accent marks an angle or an arc. `\overline{42}` is the number with these digits.
    """
    if literal(inside) is not None:
        raise Unreadable(f"a number under \\{command.name}")


def _symbol(parser: Grammar, command: Command) -> Node:
    return EMPTY_SET if command.name == "emptyset" else parser.symbol(f"\\{command.name}")


def _operator(node: Node) -> bool:
    """Whether the node is a differential sign, perhaps with an exponent: the d of `d^2 y`."""
    return _operator(node.base) if isinstance(node, Power) else is_symbol(node, "d", "\\partial")


def _is_differential(node: Node) -> bool:
    return isinstance(node, Product) and _operator(node.args[0])


def _root(parser: Grammar, command: Command) -> Node:
    degree: Node = number(3 if command.name == "cbrt" else 2)
    if parser.peek() == "[":
        parser.at += 1
        degree = parser.sum()
        parser.expect("]")
    inside = parser.single()
    return Power(inside, Quotient(number(1), degree))


def _function(parser: Grammar, command: Command) -> Node:
    name = command.canonical
    base = exponent = None
    for _ in range(2):
        if parser.peek() == "_" and base is None:
            parser.at += 1
            base = parser.single() if parser.peek() == "{" else parser.operand()
        elif parser.peek() == "^" and exponent is None:
            parser.at += 1
            exponent = parser.exponent()
    if exponent == _MINUS_ONE and name in INVERSE:
        name, exponent = INVERSE[name], None
    args = _function_arguments(parser, name, command.arity)
    if command.name == "lg" and base is None:
        # ISO 80000-2 and school texts: lg is the decimal logarithm
        base = number(10)
    if name in ("log", "ln") and base is not None:
        node: Node = Apply("log", (args[0], base))
    elif name == "exp":
        node = Power(E, args[0])
    else:
        node = Apply(name, args)
    return node if exponent is None else Power(node, exponent)


def _function_arguments(parser: Grammar, name: str, arity: int) -> tuple[Node, ...]:
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


def _environment(parser: Grammar, command: Command) -> Node:
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
        return _matrix(rows, name)
    if name in _ALIGNED:
        if any(len(row) > 1 for row in rows):
            return Array("cases", tuple(rows))
        return Collection("list", tuple(row[0] for row in rows if row))
    raise Unreadable(f"the environment {name!r}")


def _bare_cases(tokens: list[Token]) -> Iterator[Token]:
    """The tokens without the `if` of a condition and the comma before it, up to the end of the cases."""
    inside = True
    for at, token in enumerate(tokens):
        inside = inside and token.text != "\\end"
        parts = token.text in (",", ";", ".") and tokens[at + 1 : at + 2] and tokens[at + 1].text in _PARTING
        if not inside or not (parts or token.text in ("if", "for", "when", "where")):
            yield token


def _matrix(rows: list[tuple[Node, ...]], name: str) -> Node:
    if not rows or len(set(map(len, rows))) != 1:
        raise Unreadable("a matrix with rows of different lengths")
    matrix = Array("matrix", tuple(rows))
    return Apply("det", (matrix,)) if name == "vmatrix" else matrix


def _index(parser: Grammar, command: Command) -> Node:
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
    body = parser.sum() if sign == "int" else parser.term()
    parser.integrals -= sign == "int"
    return BigOperator(sign, body, tuple(bounds))


_READERS: dict[Role, Callable[[Grammar, Command], Node]] = {
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
