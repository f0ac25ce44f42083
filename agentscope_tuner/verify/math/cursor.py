"""The parser's position in the tokens, and the names of the grammar's levels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from agentscope_tuner.verify.math.node import Node
from agentscope_tuner.verify.math.tables import OPERANDS
from agentscope_tuner.verify.math.text import Token, TooComplex, Unreadable

MAX_DEPTH = 120
MAX_CHAIN = 12


class Grammar(ABC):
    """The parser's position and state, and the methods by which the levels of the grammar call each other.

    The subclasses in `postfix`, `atom` and `parse` define these methods.
    """

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        # the position of the next token
        self.at = 0
        # levels of nesting that are open now
        self.depth = 0
        # operations that nested to the left so far
        self.chain = 0
        # absolute values that are open: their bar closes before another opens
        self.bars = 0
        # whether a set builder is being read, whose element ends at a bar or a colon
        self.until_bar = False
        # whether an interval like `]a, b[` is being read, which ends at `[`
        self.outward = False
        # integrals whose differential was not read yet
        self.integrals = 0
        # whether the sides of an inequality are being read: they are not sets
        self.compared = False

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Count one level of nesting.

        Raises:
            TooComplex: deeper nesting could overflow the interpreter's stack.
        """
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooComplex(f"nested more than {MAX_DEPTH // 3} levels deep")
        yield
        self.depth -= 1

    def bound_chain(self, deepens: bool) -> None:
        """Count an operation that makes the tree deeper without a bracket, as in `a \\pm b \\pm c`.

        Raises:
            TooComplex: more such operations than the bound.
        """
        self.chain += deepens
        if self.chain > MAX_CHAIN:
            raise TooComplex(f"more than {MAX_CHAIN} postfixes or signs in a row")

    def peek(self, ahead: int = 0) -> str:
        """The text of a token that is not a word or a symbol, else the empty string."""
        at = self.at + ahead
        if at >= len(self.tokens) or self.tokens[at].kind in ("word", "sym", "num", "name"):
            return ""
        return self.tokens[at].text

    def peek_word(self) -> str:
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        return token.text.lower() if token is not None and token.kind == "word" else ""

    def starts_operand(self) -> bool:
        if self.at >= len(self.tokens):
            return False
        token = self.tokens[self.at]
        if (token.text == "[" and self.outward) or self._is_minutes(token):
            return False
        if token.kind in ("sym", "num", "open"):
            return not (token.upright and self._unit_ahead())
        if token.text == "|":
            return self.bars == 0 and not self.until_bar
        if token.kind == "cmd":
            return token.text in OPERANDS
        return token.kind == "name"

    def _is_minutes(self, token: Token) -> bool:
        return token.text == "\\min" and self.peek(1) not in ("(", "{", "_")

    def _unit_ahead(self) -> bool:
        """Whether the next letter is a unit, if it is upright: it follows a number or a bracket (`5\\,\\mathrm{m}`)."""
        token, before = self.tokens[self.at], self.tokens[max(0, self.at - 1)]
        return token.text in "mgshLlJNWVAKC" and self.at > 0 and before.kind in ("num", "close")

    def at_differential(self) -> bool:
        """Whether the `dx` of an integral follows."""
        texts = self.tokens[self.at : self.at + 2]
        return self.integrals > 0 and len(texts) == 2 and texts[0].text == "d" and texts[1].kind == "sym"

    def expect(self, *texts: str) -> str:
        found = self.peek()
        if found not in texts:
            raise Unreadable(f"{texts[0]!r} is missing")
        self.at += 1
        return found

    def circle_group(self) -> bool:
        r"""Move past `{\circ}` if it follows, and return whether it did."""
        if [t.text for t in self.tokens[self.at : self.at + 3]] in (["{", "\\circ", "}"], ["{", "*", "}"]):
            self.at += 3
            return True
        return False

    @abstractmethod
    def items(self, top: bool = False) -> Node:
        """A list separated by commas or semicolons, or its only item."""

    @abstractmethod
    def sum(self) -> Node:
        """Terms with signs between them."""

    @abstractmethod
    def term(self) -> Node:
        """A product."""

    @abstractmethod
    def power(self) -> Node:
        """An operand with its postfixes and its exponent."""

    @abstractmethod
    def exponent(self) -> Node:
        """The exponent after a `^`."""

    @abstractmethod
    def argument(self) -> Node:
        """The argument of a function without brackets."""

    @abstractmethod
    def operand(self) -> Node:
        """One operand, without its postfixes."""

    @abstractmethod
    def single(self) -> Node:
        """One TeX argument."""

    @abstractmethod
    def symbol(self, name: str) -> Node:
        """A name with its marks, its index and, if it is a function's, its arguments."""

    @abstractmethod
    def arguments(self, closer: str) -> tuple[Node, ...]:
        """The arguments of a function up to the closing bracket, which is read too."""
