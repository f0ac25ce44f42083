r"""Arithmetic as models write it, in plain text and in LaTeX: whole expressions, and chains of them joined by `=`.

The text is hostile, so its length is bounded and it is read once, from left to right. Values are exact fractions,
calculated with an explicit stack, so that deep nesting cannot exhaust Python's call stack. Nothing is handed to `eval`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from agentscope_tuner.verify.arithmetic_tokens import ArithmeticToken, NotArithmeticError, short, tokenize

MAX_CHARS = 500
MAX_NODES = 200


@dataclass(frozen=True, slots=True)
class Expression:
    """One expression, read but not yet calculated.

    Attributes:
        text: the expression as messages show it: `4 * (6 - 2)`.
        postfix: numbers and operators in postfix order; `neg` is the unary minus.
    """

    text: str
    postfix: tuple[Fraction | str, ...]

    @property
    def numbers(self) -> list[Fraction]:
        """Every number that the expression contains, in the order of the text."""
        return [item for item in self.postfix if isinstance(item, Fraction)]

    @property
    def is_calculation(self) -> bool:
        """Whether at least one operator joins two numbers; the sign of a negative number does not count."""
        return any(item in _OPERATIONS for item in self.postfix)

    def value(self) -> Fraction:
        """The exact value.

        Raises:
            ZeroDivisionError: the expression divides by zero.
        """
        stack: list[Fraction] = []
        for item in self.postfix:
            if isinstance(item, Fraction):
                stack.append(item)
            elif item == "neg":
                stack.append(-stack.pop())
            else:
                right = stack.pop()
                stack.append(_OPERATIONS[item](stack.pop(), right))
        return stack[0]


_OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3}


def read_chain(text: str) -> list[Expression]:
    """The expressions of a chain `a = b = c`, at least one.

    Raises:
        NotArithmeticError: `text` is no such chain, or exceeds a bound.
    """
    if len(text) > MAX_CHARS:
        raise NotArithmeticError(f"{len(text)} characters, more than {MAX_CHARS}")
    tokens = tokenize(text)
    if not tokens:
        raise NotArithmeticError("it is empty")
    if len(tokens) > 1 and sum(token.kind in ("number", "operator") for token in tokens) > MAX_NODES:
        raise NotArithmeticError(f"more than {MAX_NODES} operations and numbers")
    steps: list[list[ArithmeticToken]] = [[]]
    for token in tokens:
        if token.text == "=":
            steps.append([])
        else:
            steps[-1].append(token)
    if len(steps) > 1 and not all(steps):
        raise NotArithmeticError(f"beside '=' something is missing in {short(text)}")
    return [_expression(step) for step in steps]


def evaluate(expression: str) -> Fraction:
    """The exact value of one expression, for a calculator that hostile text may call.

    Raises:
        NotArithmeticError: `expression` is not arithmetic; the message quotes the unexpected part.
        ZeroDivisionError: `expression` divides by zero.
    """
    steps = read_chain(expression)
    if len(steps) > 1:
        raise NotArithmeticError(f"unexpected '=' in {short(expression)}")
    return steps[0].value()


_PRINTED_BRACKETS = ("(", "[", r"\{")


def _multiplies(left: ArithmeticToken, right: ArithmeticToken) -> bool:
    r"""Whether two neighbours without a sign between them are a product.

    Only a printed bracket between them makes the product clear: `2(4)`. LaTeX prints `2{4}` and `2\text{4}` as 24,
    `2 4` is two numbers, and `2\frac{1}{2}` may mean two and a half.

    Raises:
        NotArithmeticError: the meaning of the two is unclear.
    """
    if left.kind not in ("number", "close") or right.kind not in ("number", "open"):
        return False
    if left.form in _PRINTED_BRACKETS or right.form in _PRINTED_BRACKETS:
        return True
    if left.form == "frac" and right.form != "{":
        return True
    raise NotArithmeticError(f"no sign between {left.text!r} and {right.text!r}")


def _expression(tokens: Sequence[ArithmeticToken]) -> Expression:
    """Dijkstra's shunting yard algorithm: `waiting` holds operators and brackets whose right side is incomplete."""
    if len(tokens) > 1 and tokens[0].text == "+" and tokens[1].kind != "operator":
        tokens = tokens[1:]
    whole = [tokens[0]]
    for left, right in pairwise(tokens):
        if _multiplies(left, right):
            whole.append(ArithmeticToken("operator", "*"))
        whole.append(right)
    output: list[Fraction | str] = []
    waiting: list[ArithmeticToken] = []
    wants_operand = True
    for token in whole:
        if wants_operand != (token.kind in ("number", "open") or (wants_operand and token.text == "-")):
            raise _out_of_place(token, whole)
        if token.kind == "number":
            output.append(Fraction(token.text))
            wants_operand = False
        elif token.kind == "open":
            waiting.append(token)
        elif token.kind == "close":
            while waiting and waiting[-1].kind == "operator":
                output.append(waiting.pop().text)
            if not waiting or waiting.pop().form != token.form:
                raise _out_of_place(token, whole)
        elif wants_operand:
            waiting.append(ArithmeticToken("operator", "neg"))
        else:
            while waiting and _PRECEDENCE.get(waiting[-1].text, 0) >= _PRECEDENCE[token.text]:
                output.append(waiting.pop().text)
            waiting.append(token)
            wants_operand = True
    while waiting and waiting[-1].kind == "operator":
        output.append(waiting.pop().text)
    if wants_operand or waiting:
        raise NotArithmeticError(f"{_shown(whole)} is not complete")
    return Expression(_shown(whole), tuple(output))


def _out_of_place(token: ArithmeticToken, tokens: Sequence[ArithmeticToken]) -> NotArithmeticError:
    return NotArithmeticError(f"{token.text!r} is out of place in {_shown(tokens)}")


def _shown(tokens: Sequence[ArithmeticToken]) -> str:
    parts: list[str] = []
    before: ArithmeticToken | None = None
    for token in tokens:
        if token.form == "arg" and len(parts) > 1 and token.kind == "close" and parts[-2] == "(":
            # a numerator or denominator that is a single number needs no brackets
            del parts[-2]
            before = token
            continue
        binary = before is not None and before.kind in ("number", "close") and token.kind == "operator"
        parts.append(f" {token.text} " if binary else token.text)
        before = token
    return short("".join(parts), quoted=False)
