"""The place in the tokens that a parser has reached, and the levels of the grammar by name."""

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
    """Where a parser stands, and what its levels call each other by: `parse` and `atom` define them."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0
        self.chain = 0
        self.bars = 0
        self.until_bar = False
        self.outward = False
        # integrals whose differential is still to come
        self.integrals = 0
        # whether an inequality is being read, whose sides are no sets
        self.compared = False

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Count one level of nesting; the bound keeps the interpreter's stack safe."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooComplex(f"nested more than {MAX_DEPTH // 3} levels deep")
        yield
        self.depth -= 1

    def bound_chain(self, deepens: bool) -> None:
        """Count an operation that nests to the left, where no bracket shows it."""
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
        """An upright letter after a number, as in `5\\,\\mathrm{m}`, is a unit."""
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
        r"""Whether `{\circ}` follows; it is taken."""
        if [t.text for t in self.tokens[self.at : self.at + 3]] in (["{", "\\circ", "}"], ["{", "*", "}"]):
            self.at += 3
            return True
        return False

    @abstractmethod
    def items(self, top: bool = False) -> Node:
        """A list parted by commas or semicolons; a single item is itself."""

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
        """What stands behind a circumflex."""

    @abstractmethod
    def argument(self) -> Node:
        """What a function without brackets takes."""

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
        """What stands inside the brackets of a function."""
