"""The countdown game: reach a target with each given number used exactly once.

The answer is hostile text. It is bounded, reduced to digits, operators and parentheses, and parsed to a syntax tree of
which only a whitelist is evaluated, in exact fractions. Nothing is ever handed to `eval`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

MAX_CHARS = 500
MAX_NODES = 200
UNREADABLE, WELL_FORMED, RIGHT = 0.0, 0.1, 1.0


@dataclass(frozen=True, slots=True)
class CountdownScore:
    """`reward` is 0.0 (no answer, or not an equation), 0.1 (an equation, but wrong) or 1.0; `reason` says why."""

    reward: float
    reason: str


class _UnreadableError(Exception):
    pass


def score(equation: str | None, target: Fraction | int, numbers: Sequence[Fraction | int]) -> CountdownScore:
    r"""Score what the agent boxed.

    Read as a model means them: `\times \cdot × · ⋅ ∗` and `\div ÷`, `\frac{a}{b}`, `\left \right`, LaTeX spaces, the
    minus sign U+2212, and `= 24` at the end or `24 =` before. Allowed are numbers, `+ - * /`, parentheses and unary
    minus; everything else, `**` and `//` included, is unreadable.

    Args:
        equation: the text inside the box, None when there was no box.
        target: the value to reach.
        numbers: the given numbers, each of which must be used exactly once.
    """
    if equation is None:
        return CountdownScore(UNREADABLE, "no \\boxed{} in the answer")
    try:
        left, claimed = _split_claim(_plain(equation))
        tree = _parse(left)
        used = sorted(_constant(node, left) for node in ast.walk(tree) if isinstance(node, ast.Constant))
    except _UnreadableError as exc:
        return CountdownScore(UNREADABLE, f"not an equation: {exc}")
    # by absolute value: unary minus is free, so a given -5 and a given 5 allow the same equations
    given = sorted(abs(Fraction(number)) for number in numbers)
    if used != given:
        return CountdownScore(WELL_FORMED, f"wrong numbers: used {_listed(used)}, given {_listed(given)}")
    try:
        value = _evaluate(tree, left)
    except ZeroDivisionError:
        return CountdownScore(WELL_FORMED, "wrong value: it divides by zero")
    if value != target:
        return CountdownScore(WELL_FORMED, f"wrong value: {left} = {value}, not {target}")
    if claimed is not None and claimed != target:
        return CountdownScore(WELL_FORMED, f"wrong value: it says = {claimed}, not {target}")
    return CountdownScore(RIGHT, f"right: {left} = {target}")


def evaluate(expression: str) -> Fraction:
    """The exact value of arithmetic, read and bounded as `score` does it, for a calculator that hostile text may call.

    Raises:
        ValueError: it cannot be read; the message says what is in the way.
        ZeroDivisionError: it divides by zero.
    """
    try:
        plain = _plain(expression)
        return _evaluate(_parse(plain), plain)
    except _UnreadableError as exc:
        raise ValueError(str(exc)) from None


_SPELLINGS = (
    (r"\\(?:times|cdot|ast)(?![a-zA-Z])|[×·⋅∗∙]", "*"),
    (r"\\div(?![a-zA-Z])|÷", "/"),
    (r"\\(?:left|right|quad|qquad)(?![a-zA-Z])|\\[,;:! ()\[\]]|[$\s~]|\{\}", " "),
    ("−", "-"),
)
_FRACTION = re.compile(r"\\[dt]?frac\s*(?:\{([^{}]*)\}|([0-9]))\s*(?:\{([^{}]*)\}|([0-9]))")


def _plain(equation: str) -> str:
    if len(equation) > MAX_CHARS:
        raise _UnreadableError(f"{len(equation)} characters, more than {MAX_CHARS}")
    for pattern, plain in _SPELLINGS:
        equation = re.sub(pattern, plain, equation)
    # innermost first; each pass removes a level of braces, so the bound on length bounds the passes
    replaced = 1
    while replaced:
        equation, replaced = _FRACTION.subn(r"((\1\2)/(\3\4))", equation)
    equation = equation.replace("{", "(").replace("}", ")").strip()
    if not equation:
        raise _UnreadableError("it is empty")
    return equation


def _split_claim(equation: str) -> tuple[str, Fraction | None]:
    left, equals, right = (part.strip() for part in equation.partition("="))
    if not equals:
        return equation, None
    # a model also writes the target first, and ends its sentence inside the box
    for expression, number in ((left, right.removesuffix(".")), (right, left)):
        if re.fullmatch(r"-?[0-9]+(?:\.[0-9]+)?", number):
            return expression, Fraction(number)
    raise _UnreadableError(f"beside '=' only a number is read, got {equation!r}")


def _parse(equation: str) -> ast.expr:
    stray = re.search(r"[^0-9+\-*/(). ]", equation)
    if stray is not None:
        raise _UnreadableError(f"unexpected {stray[0]!r} in {equation!r}")
    try:
        tree = ast.parse(equation, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise _UnreadableError(f"{equation!r} cannot be parsed") from exc
    nodes = 0
    for node in ast.walk(tree):
        nodes += 1
        if not isinstance(node, _ALLOWED):
            raise _UnreadableError(f"{type(node).__name__} is not allowed in {equation!r}")
    if nodes > MAX_NODES:
        raise _UnreadableError(f"more than {MAX_NODES} operations and numbers")
    return tree


_ALLOWED = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.USub)


def _constant(node: ast.Constant, equation: str) -> Fraction:
    # the literal's own text, exactly: the parser's floats would round it
    return Fraction(equation[node.col_offset : node.end_col_offset])


def _evaluate(node: ast.expr, equation: str) -> Fraction:
    match node:
        case ast.Constant():
            return _constant(node, equation)
        case ast.UnaryOp(operand=operand):
            return -_evaluate(operand, equation)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _evaluate(left, equation), _evaluate(right, equation)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
    raise AssertionError(f"{ast.dump(node)} passed the whitelist")


def _listed(numbers: Sequence[Fraction]) -> str:
    return "[" + ", ".join(str(number) for number in numbers) + "]"
