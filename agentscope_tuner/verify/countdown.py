"""The countdown game: an equation must reach a target and use each given number exactly once.

Equations are arithmetic as models write it, in plain text and in LaTeX, also in chains joined by `=`. The text is
hostile, so its length is bounded and it is read once, from left to right. Values are exact fractions, calculated with
an explicit stack, so that deep nesting cannot exhaust Python's call stack. Nothing is handed to `eval`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal, NamedTuple

from agentscope_tuner.verify import re

_SHOWN = 80


class NotArithmeticError(ValueError):
    """The text cannot be read as arithmetic; the message quotes the unexpected part."""


Kind = Literal["number", "operator", "open", "close"]


class ArithmeticToken(NamedTuple):
    r"""A number, an operator or a bracket.

    Attributes:
        kind: the sort of token.
        text: the number, the operator, or the bracket as `(`, `[`, `)` or `]`.
        form: the origin of a bracket. `(`, `[` and `\{` are printed; `{` only groups; `arg` is around each part of a
            fraction, and `frac` around the whole fraction.
    """

    kind: Kind
    text: str
    form: str = ""


_DASHES = "−–—‐‑‒―﹣"
_PLAIN = {
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(map(ord, _DASHES), "-"),
    **dict.fromkeys(map(ord, "×✕✖⨯·⋅∙•∗"), "*"),
    **dict.fromkeys(map(ord, "÷∕⁄➗"), "/"),
    **dict(zip(map(ord, "【】〔〕。"), "[][].", strict=True)),
}
# Models end an equation with a full stop, a tick, or both
_STOP, _TICK, _GAP = r"(?:\.|\\text\{\s*\.\s*\})", r"(?:\\checkmark|[✓✔✅]\ufe0f?)", r"(?:\s|\\q?quad|\\[,;!])*"
_ENDING = re.compile(
    rf"(?<=[0-9)\]}}]){_GAP}(?:{_STOP}{_GAP}{_TICK}?|{_TICK}{_GAP}{_STOP}?)(?P<rest>[\s$}}]*|\s*\\[)\]]\s*)$"
)


def _plain(text: str) -> str:
    """`text` with ASCII in place of other symbols, without a final full stop or tick: `2*3` for `２×３。`"""
    return _ENDING.sub(r"\g<rest>", text.translate(_PLAIN))


_ITEM = re.compile(
    r"""
    (?P<number>[0-9]{1,3}(?:(?:,|\{,\})[0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)
  | \\(?P<name>[a-zA-Z]+)
  | \\(?P<escaped>[{}])
  | (?P<space>[\s~$&]|\\[\\,;:!()\[\] ])
  | (?P<sign>[-+*/=xX()\[\]{}])
    """,
    re.VERBOSE,
)
# commands that only change size or spacing
_SPACES = re.compile(
    r"left|right|[bB]igg?[lrm]?|displaystyle|textstyle|q?quad|(?:thin|med|thick|en)space|(?:no)?limits"
)
_SIGNS = {
    "times": "*",
    "cdot": "*",
    "ast": "*",
    "bullet": "*",
    "div": "/",
    "slash": "/",
    "minus": "-",
    "lbrack": "[",
    "rbrack": "]",
    "lparen": "(",
    "rparen": ")",
}
_BRACES = {"lbrace": r"\{", "rbrace": r"\}"}
# Commands that print their argument, and change only its style
_WRAPPERS = re.compile(
    r"text(?:bf|it|rm|sf|tt|normal)?|math(?:rm|bf|it|sf|tt|normal|op|bin|ord)|[mhf]box|boxed|boldsymbol|bm|operatorname"
)
_FRACTIONS = frozenset(("frac", "dfrac", "tfrac", "cfrac"))
_ENVIRONMENT = re.compile(r"\s*\{(?:align|aligned|split|gather|gathered|equation|array)\*?\}(?:\{[lcr]*\})?")
_BRACKETS = {"(": ("open", "("), "[": ("open", "["), ")": ("close", "("), "]": ("close", "[")}


class _Scanner:
    """Reads a text's tokens in one pass: `run` gives them back.

    `closers` is a stack with an entry for each LaTeX brace that is still open: `group`, or the argument in the braces
    (`numerator`, `denominator` or `wrapped`).
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.tokens: list[ArithmeticToken] = []
        self.closers: list[str] = []
        # the argument that LaTeX expects next: `numerator`, `denominator` or `wrapped`; empty when it expects none
        self.awaits = ""

    def run(self) -> list[ArithmeticToken]:
        """The tokens of the text.

        Raises:
            NotArithmeticError: the text contains anything but arithmetic.
        """
        while self.at < len(self.text):
            if (match := _ITEM.match(self.text, self.at)) is None:
                raise NotArithmeticError(f"unexpected {self.text[self.at]!r} in {short(self.text)}")
            self.at = match.end()
            group = match.lastgroup
            found = match[str(group)]
            if group == "space":
                continue
            if self.awaits and found != "{":
                self._one_digit(match)
            elif group == "number":
                self._number(found)
            elif group == "name":
                self._command(found)
            elif group == "escaped":
                self._bracket("open" if found == "{" else "close", r"\{")
            else:
                self._sign(found)
        if self.closers or self.awaits:
            raise NotArithmeticError(f"{short(self.text)} ends inside a brace")
        return self.tokens

    def _number(self, found: str) -> None:
        """Read a number, which may have commas for thousands but no zero in front."""
        plain = re.sub(r"[,{}]", "", found)
        if plain[0] == "0" and plain[1:2].isdigit():
            raise NotArithmeticError(f"unexpected '0' at the start of {found!r}")
        self.tokens.append(ArithmeticToken("number", plain))

    def _one_digit(self, match: re.Match[str]) -> None:
        r"""Read an argument without braces, which is one digit in LaTeX: `\frac12` is 1/2."""
        if self.awaits == "wrapped" or match.lastgroup != "number" or not match[0][0].isdigit():
            raise NotArithmeticError(f"unexpected {match[0]!r} in {short(self.text)}: an argument in braces is missing")
        self.at = match.start() + 1
        self.tokens.append(ArithmeticToken("open", "(", "arg"))
        self.tokens.append(ArithmeticToken("number", match[0][0]))
        self._argument_ends(self.awaits)

    def _argument_ends(self, which: str) -> None:
        """Close the brackets of a `numerator` or a `denominator`, and expect what follows it."""
        self.tokens.append(ArithmeticToken("close", ")", "arg"))
        if which == "numerator":
            self.tokens.append(ArithmeticToken("operator", "/"))
            self.awaits = "denominator"
        else:
            self.tokens.append(ArithmeticToken("close", ")", "frac"))
            self.awaits = ""

    def _command(self, name: str) -> None:
        """Read a LaTeX command by its name: `frac`, `times`, `left`."""
        if name in _FRACTIONS:
            self.tokens.append(ArithmeticToken("open", "(", "frac"))
            self.awaits = "numerator"
        elif _WRAPPERS.fullmatch(name):
            self.awaits = "wrapped"
        elif name in _SIGNS:
            self._sign(_SIGNS[name])
        elif name in _BRACES:
            self._bracket("open" if name == "lbrace" else "close", r"\{")
        elif name in ("begin", "end") and (environment := _ENVIRONMENT.match(self.text, self.at)):
            self.at = environment.end()
        elif not _SPACES.fullmatch(name):
            shown = "\\" + name
            raise NotArithmeticError(f"unexpected {shown!r} in {short(self.text)}")

    def _sign(self, sign: str) -> None:
        """Read a brace, a bracket or an operator."""
        if sign == "{":
            self.closers.append(self.awaits or "group")
            if self.awaits != "wrapped":
                self.tokens.append(ArithmeticToken("open", "(", "arg" if self.awaits else "{"))
            self.awaits = ""
            return
        if sign == "}":
            self._brace_closes()
        elif sign in _BRACKETS:
            self._bracket(*_BRACKETS[sign])
        else:
            self.tokens.append(ArithmeticToken("operator", "*" if sign in "xX" else sign))

    def _brace_closes(self) -> None:
        """Read the `}` of a group or an argument."""
        if not self.closers:
            raise NotArithmeticError(f"unexpected '}}' in {short(self.text)}")
        if (which := self.closers.pop()) == "group":
            # Empty braces, as in `\times{}`, only end a command
            if self.tokens[-1] == ArithmeticToken("open", "(", "{"):
                self.tokens.pop()
            else:
                self.tokens.append(ArithmeticToken("close", ")", "{"))
        elif which != "wrapped":
            self._argument_ends(which)

    def _bracket(self, kind: str, form: str) -> None:
        """Read a printed bracket."""
        self.tokens.append(
            ArithmeticToken("open", "(", form) if kind == "open" else ArithmeticToken("close", ")", form)
        )


def tokenize(text: str) -> list[ArithmeticToken]:
    """The tokens of `text`: numbers, operators (also `=`) and brackets; a fraction becomes a division in brackets.

    Raises:
        NotArithmeticError: the text contains anything else.
    """
    text = _plain(text)
    # `--` is ambiguous: TeX prints it as one dash, arithmetic reads two signs
    if "--" in text:
        raise NotArithmeticError(f"unexpected '--' in {short(text)}: a minus of a minus needs brackets")
    return _Scanner(text).run()


def short(text: str, *, quoted: bool = True) -> str:
    """A text for messages, cut if it is long, and by default as `repr` shows it."""
    text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 20]}… ({len(text)} characters)"
    return repr(text) if quoted else text


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
        """Whether at least one operator joins two numbers; the minus of a negative number does not count."""
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
    """The expressions of a chain `a = b = c`, at least one: `4*6=24` gives those of `4 * 6` and `24`.

    Raises:
        NotArithmeticError: `text` is no such chain, or exceeds a bound.
    """
    if len(text) > MAX_CHARS:
        raise NotArithmeticError(f"{len(text)} characters, more than {MAX_CHARS}")
    if not (tokens := tokenize(text)):
        raise NotArithmeticError("it is empty")
    if len(tokens) > 1 and sum(token.kind in ("number", "operator") for token in tokens) > MAX_NODES:
        raise NotArithmeticError(f"more than {MAX_NODES} operations and numbers")
    steps: list[list[ArithmeticToken]] = [[]]
    for token in tokens:
        if token.text == "=":
            steps.append([])
        else:
            steps[-1].append(token)
    if not all(steps):
        raise NotArithmeticError(f"beside '=' something is missing in {short(text)}")
    return [_parsed(step) for step in steps]


def evaluate(expression: str) -> Fraction:
    """The exact value of one expression, for a calculator that hostile text may call: 3/2 for `1 + 1/2`.

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
    r"""Whether two neighbours with no operator between them are a product.

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


def _parsed(tokens: Sequence[ArithmeticToken]) -> Expression:
    """The expression of these tokens, by Dijkstra's shunting yard algorithm.

    `waiting` holds the operators and brackets whose right side is incomplete.

    Raises:
        NotArithmeticError: a token is out of place, or the expression is incomplete.
    """
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
        raise NotArithmeticError(f"{_shown_tokens(whole)} is not complete")
    return Expression(_shown_tokens(whole), tuple(output))


def _out_of_place(token: ArithmeticToken, tokens: Sequence[ArithmeticToken]) -> NotArithmeticError:
    """The error for a token at a position at which it cannot be."""
    return NotArithmeticError(f"{token.text!r} is out of place in {_shown_tokens(tokens)}")


def _shown_tokens(tokens: Sequence[ArithmeticToken]) -> str:
    """The tokens as messages show them: `4 * (6 - 2)`."""
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


UNREADABLE, WELL_FORMED, RIGHT = 0.0, 0.1, 1.0
_MOST_DIGITS = 40


@dataclass(frozen=True, slots=True)
class CountdownScore:
    """A reward of 0.0 (no attempt), 0.1 (a wrong attempt) or 1.0 (right), with its reason."""

    reward: float
    reason: str


def score(equation: str | None, target: Fraction | int, numbers: Sequence[Fraction | int]) -> CountdownScore:
    r"""Score the equation in the agent's box. No text raises, and a text over 500 characters is refused unread.

    Models write arithmetic in several notations, and these are read:

    - operators: `* x × · \times \cdot`, `/ ÷ \div`, every dash as a minus, and full-width forms;
    - a product without an operator at a bracket, `6(4)`; like every product it is calculated from left to right;
    - every kind of bracket that LaTeX prints, each closed by its own kind;
    - `\frac{a}{b}`, `\text{…}`, LaTeX spaces, and a final full stop;
    - `24 =` before the expression;
    - a chain of steps behind the expression, `= 4*6 = 24`: each step's value is the target, and the last is the target.

    Everything else, such as powers and factorials, is unreadable.

    Args:
        equation: the text inside the box, None if there was no box.
        target: the value to reach.
        numbers: the given numbers, each of which must be used exactly once.

    Returns:
        1.0: the expression uses the given numbers and its value is the target. 0.1: a wrong attempt, with at least one
        operator between two numbers, and at least one given number. 0.0: anything else, so that a single number earns
        nothing.
    """
    if equation is None:
        return CountdownScore(UNREADABLE, "no \\boxed{} in the answer")
    try:
        steps = read_chain(equation)
    except NotArithmeticError as exc:
        return CountdownScore(UNREADABLE, f"not an equation: {exc}")
    problem = _problem(steps, Fraction(target), [Fraction(number) for number in numbers])
    if problem is None:
        return CountdownScore(RIGHT, f"right: {_expression(steps).text} = {_shown_number(Fraction(target))}")
    given = {abs(Fraction(number)) for number in numbers}
    if any(step.is_calculation and not given.isdisjoint(step.numbers) for step in steps):
        return CountdownScore(WELL_FORMED, problem)
    return CountdownScore(UNREADABLE, f"no attempt, since it calculates nothing with the given numbers; {problem}")


def _expression(steps: Sequence[Expression]) -> Expression:
    """The step that must use the given numbers: the first, or the second if a model writes `24 = 4 * 6`."""
    target_first = len(steps) > 1 and not steps[0].is_calculation
    return steps[1] if target_first else steps[0]


def _problem(steps: Sequence[Expression], target: Fraction, numbers: Sequence[Fraction]) -> str | None:
    """The first error of an equation, its numbers checked before its value; None for a right equation."""
    expression = _expression(steps)
    used = sorted(expression.numbers)
    # A minus before a number is always allowed, so a given -5 and a given 5 allow the same equations: compare sizes
    given = sorted(abs(number) for number in numbers)
    if used != given:
        return f"wrong numbers: used {_listed(used)}, given {_listed(given)}"
    for step in (expression, *steps):
        try:
            value = step.value()
        except ZeroDivisionError:
            return f"wrong value: {step.text} divides by zero"
        if value != target:
            says = f"{step.text} = {_shown_number(value)}" if step is expression else f"it says = {step.text}"
            return f"wrong value: {says}, not {_shown_number(target)}"
    if steps[-1] is not expression and steps[-1].is_calculation:
        return f"wrong value: the chain must end with the target, not with {steps[-1].text}"
    return None


_MOST_TO_TRY = 4
# An absolute value as numerator and denominator in lowest terms. A Fraction would take five times as long
_Size = tuple[int, int]


def is_reachable(target: Fraction | int, numbers: Sequence[Fraction | int]) -> bool | None:
    """Whether any equation with these numbers reaches the target. All are tried, in about a millisecond.

    Returns:
        True or False; None for more than four numbers, because they would take too long.
    """
    if len(numbers) > _MOST_TO_TRY:
        return None
    # A minus before a number or a bracket is always allowed, so only absolute values matter.
    # A subset of the numbers is an int with one bit for each number
    sizes = {1 << place: {_size(number)} for place, number in enumerate(numbers)}
    wanted, whole = _size(target), (1 << len(numbers)) - 1
    for chosen in range(1, whole):
        if chosen not in sizes:
            found = sizes[chosen] = set()
            for part in _smaller_parts(chosen):
                for a in sizes[part]:
                    for b in sizes[chosen ^ part]:
                        found.update(_joined(a, b))
    if whole in sizes:
        return wanted in sizes[whole]
    # The last operator joins the value a of one half to the value b of the other. So b and the target give each a that
    # would reach the target, and only the values of one half need be tried
    return any(
        not sizes[whole ^ part].isdisjoint(_joined(b, wanted) if b[0] else [wanted])
        or (not wanted[0] and (0, 1) in (b, *sizes[whole ^ part]))
        for part in _smaller_parts(whole)
        for b in sizes[part]
    )


def _size(number: Fraction | int) -> _Size:
    """The absolute value of a number as numerator and denominator: `(1, 2)` for -1/2."""
    return abs(Fraction(number)).as_integer_ratio()


def _smaller_parts(chosen: int) -> Iterator[int]:
    """For each split of the chosen numbers into two parts: the part with fewer numbers.

    Args:
        chosen: the numbers as bits: 7 for all of three numbers, whose smaller parts are 1, 2 and 4.
    """
    part = (chosen - 1) & chosen
    while part > chosen ^ part:
        yield min(part, chosen ^ part, key=int.bit_count)
        part = (part - 1) & chosen


def _joined(a: _Size, b: _Size) -> list[_Size]:
    """The absolute values that one operator can make of a and b.

    They are also the numbers that an operator can join with b to make a, because each operator has its inverse.
    """
    (an, ad), (bn, bd) = a, b
    left, right, below = an * bd, bn * ad, ad * bd
    found = [_lowest(left + right, below), _lowest(abs(left - right), below), _lowest(an * bn, below)]
    if bn:
        found.append(_lowest(left, right))
    if an:
        found.append(_lowest(right, left))
    return found


def _lowest(above: int, below: int) -> _Size:
    """A fraction in lowest terms: `(1, 2)` for 2 and 4."""
    common = math.gcd(above, below)
    return above // common, below // common


def _listed(numbers: Sequence[Fraction]) -> str:
    """Numbers for messages: `[1, 2]`, cut after 20."""
    return "[" + ", ".join(map(_shown_number, numbers[:20])) + (", …]" if len(numbers) > 20 else "]")


def _shown_number(number: Fraction) -> str:
    """A number for messages; a very long one is only described."""
    # Python refuses to print a number of more than 4,300 digits, and a log should hold far fewer
    if max(abs(number.numerator), number.denominator) >= 10**_MOST_DIGITS:
        return f"a number of more than {_MOST_DIGITS} digits"
    return str(number)
