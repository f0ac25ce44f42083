"""Operands: numbers, names, functions, brackets, fractions, roots, matrices, words and units."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING

from agentscope_tuner.verify.math.bracket import bracketed, infix, is_builder
from agentscope_tuner.verify.math.node import Node, number
from agentscope_tuner.verify.math.number import continued, recurring
from agentscope_tuner.verify.math.tables import CLOSERS, CURRENCIES, OPERANDS
from agentscope_tuner.verify.math.text import Token, TooComplex, Unreadable
from agentscope_tuner.verify.math.unit import measured

if TYPE_CHECKING:
    from agentscope_tuner.verify.math.parse import Parser

MAX_DEPTH = 120
MAX_CHAIN = 12
MAX_DIGITS = 1_000
# letters that name functions where a bracket follows; any other letter before a bracket is a factor
_FUNCTION_LETTERS = frozenset({"f", "g", "h", "F", "G", "H"})


class AtomParser:
    """The lower half of the parser."""

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

    def operand(self: Parser) -> Node:  # type: ignore[misc]
        """One operand, without its postfixes."""
        with self.deeper():
            return self._operand()

    def _operand(self: Parser) -> Node:  # type: ignore[misc]
        if self.at >= len(self.tokens):
            raise Unreadable("an operand is missing")
        token = self.tokens[self.at]
        self.at += 1
        if token.kind == "num":
            return self._number(token)
        if token.kind in ("sym", "name"):
            return self._symbol(token.text)
        if token.kind == "word":
            return self._words_as_text(token)
        if token.kind == "open":
            return self._bracket(token.text)
        if token.text in ("|", "\\left"):
            return self._absolute(token.text)
        if token.text == "]":
            return self._outward()
        if token.text in CURRENCIES:
            return Node("unit", (self.power(),), CURRENCIES[token.text])
        return self._command(token.text)

    def _number(self: Parser, token: Token) -> Node:  # type: ignore[misc]
        if len(token.text) > MAX_DIGITS:
            raise TooComplex(f"a number of {len(token.text)} characters")
        exponent = token.text.lower().partition("e")[2]
        if exponent and abs(int(exponent)) > MAX_DIGITS:
            raise TooComplex(f"an exponent of {exponent}")
        value = Fraction(token.text)
        if self.peek() in ("\\overline", "\\dot", "\\bar") and "." in token.text:
            return self._repeating(token.text)
        if self.peek() == "\\ldots" and "." in token.text and self.peek(1) not in (",", "+", "*", "-", "\\ldots"):
            self.at += 1
            return number(continued(token.text))
        node = Node("num", (), token.text, value)
        if self.peek() == "_":
            self.at += 1
            base = self.exponent()
            if base.head != "num" or base.value is None or not token.text.isdigit():
                raise Unreadable("a subscript under a number")
            return Node("base", (node,), str(base.value))
        return node

    def _repeating(self, text: str) -> Node:
        start = self.at + 1
        end = start + (3 if self.peek(1) == "{" else 1)
        digits = next((t.text for t in self.tokens[start:end] if t.kind == "num"), "")
        if not digits.isdigit():
            raise Unreadable("a bar over something that is no digit")
        self.at = end
        return number(recurring(text, digits))

    def _symbol(self: Parser, name: str) -> Node:  # type: ignore[misc]
        while self.peek() == "'":
            self.at += 1
            name += "'"
        if self.peek() == "_":
            self.at += 1
            start = self.at
            self.single()
            name += "_" + " ".join(t.text for t in self.tokens[start : self.at] if t.text not in ("{", "}"))
        if name in _FUNCTION_LETTERS and [t.text for t in self.tokens[self.at : self.at + 6]] == list("^{-1}("):
            self.at += 5
            name += "^{-1}"
        if self.peek() == "(" and (name[0] in _FUNCTION_LETTERS or name[-1] == "'" or self._is_defined()):
            self.at += 1
            return Node("call", self._arguments(")"), name)
        return Node("sym", (), name)

    def _is_defined(self) -> bool:
        """Whether `(x) =` follows: the letter before it is a function's name."""
        after = self.tokens[self.at : self.at + 4]
        return [t.text for t in after[:1] + after[2:]] == ["(", ")", "="] and after[1].kind == "sym"

    def _arguments(self: Parser, closer: str) -> tuple[Node, ...]:  # type: ignore[misc]
        bars, self.bars = self.bars, 0
        inside = self.items()
        self.expect(closer)
        self.bars = bars
        return inside.args if inside.head == "list" else (inside,)

    def _words_as_text(self, token: Token) -> Node:
        words = [token.text]
        while (
            self.at < len(self.tokens) and self.tokens[self.at].kind == "word" and self.peek_word() not in ("and", "or")
        ):
            words.append(self.tokens[self.at].text)
            self.at += 1
        return Node("text", (), " ".join(words))

    def _bracket(self: Parser, opener: str) -> Node:  # type: ignore[misc]
        bars, self.bars, until_bar, self.until_bar = self.bars, 0, self.until_bar, False
        if opener in ("\\{", "{", "(") and self.peek() == CLOSERS[opener][0]:
            self.at += 1
            self.bars, self.until_bar = bars, until_bar
            if opener == "{":
                raise Unreadable("an empty group")
            return Node("set" if opener == "\\{" else "tuple")
        self.until_bar = opener == "\\{" and is_builder(self.tokens[self.at :])
        inside = self.items()
        if opener == "(" and self.peek() == "," and self.peek(1) == ")":
            self.at += 1
            inside = Node("list", (inside,))
        if opener == "{" and self.peek() in ("\\choose", "\\over"):
            inside = infix(self.expect("\\choose", "\\over"), inside, self.items())
        if self.until_bar and self.peek() in ("|", "\\mid", ":"):
            self.at += 1
            inside = Node("where", (inside, self.items()))
        closer = self.expect(*CLOSERS[opener])
        self.bars, self.until_bar = bars, until_bar
        return bracketed(opener, closer, inside)

    def _absolute(self: Parser, opener: str) -> Node:  # type: ignore[misc]
        if opener == "\\left":
            self.expect("|")
        bars, until_bar = self.bars, self.until_bar
        self.bars, self.until_bar = (0 if opener == "\\left" else bars + 1), False
        inside = self.items()
        if opener == "\\left":
            self.expect("\\right")
        self.expect("|")
        self.bars, self.until_bar = bars, until_bar
        return Node("abs", (inside,)) if inside.head != "matrix" else Node("fn", (inside,), "det")

    def _outward(self: Parser) -> Node:  # type: ignore[misc]
        """`]a, b[`, an open interval as some countries write it."""
        self.outward = True
        inside = self.items()
        self.outward = False
        closer = self.expect("[", "]")
        if inside.head != "list" or len(inside.args) != 2:
            raise Unreadable("a closing bracket where an operand was expected")
        return Node("interval", inside.args, "(" + ("]" if closer == "]" else ")"))

    def single(self: Parser) -> Node:  # type: ignore[misc]
        r"""One TeX argument: a group, or a single digit, letter or command."""
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if token is not None and token.kind == "num" and len(token.text) > 1 and token.text.isdigit():
            self.tokens = [
                *self.tokens[: self.at],
                token._replace(text=token.text[0]),
                Token("num", token.text[1:]),
                *self.tokens[self.at + 1 :],
            ]
        with self.deeper():
            return self.operand()

    def circle_group(self) -> bool:
        r"""Whether `{\circ}` follows; it is taken."""
        if [t.text for t in self.tokens[self.at : self.at + 3]] in (["{", "\\circ", "}"], ["{", "*", "}"]):
            self.at += 3
            return True
        return False

    def postfixes(self, node: Node) -> Node:
        while True:
            found = self.peek()
            if found == "!":
                node = self._factorial(node)
            elif found == "%":
                node = Node("percent", (node,))
            elif found == "'" and node.head == "matrix":
                node = Node("fn", (node,), "transpose")
            elif found == "\\circ":
                node = node if node.head == "deg" else Node("deg", (node,))
            elif found in CURRENCIES or found == "\\cents":
                node = Node("unit", (node,), CURRENCIES.get(found, "cent^1"))
            else:
                return node
            self.bound_chain(node.args[0].head in ("fact", "percent", "deg", "fn"))
            self.at += 1

    def _factorial(self, node: Node) -> Node:
        """`n!`, or the double factorial `n!!`; the last sign is left to be taken."""
        if self.peek(1) != "!":
            return Node("fact", (node,))
        if self.peek(2) == "!":
            raise Unreadable("three factorial signs in a row")
        self.at += 1
        return Node("fn", (node,), "doublefact")

    def with_unit(self, node: Node) -> Node:
        """The number with the unit that the words after it name."""
        parts: list[tuple[str, int]] = []
        sign = 1
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.text == "." and parts and self.at + 1 < len(self.tokens):
                # an abbreviation's full stop
                self.at += 1
                continue
            if token.text in ("/", "per") and parts:
                sign = -1
            elif self._is_minutes(token):
                parts.append(("min", sign))
            elif (token.text != "*" and token.kind not in ("word", "sym")) or token.text.lower() in ("and", "or"):
                break
            elif token.text.lower() not in ("of", "a", "*"):
                parts.append((token.text, sign))
            elif not parts:
                break
            self.at += 1
            if self.peek() == "^" and parts:
                parts[-1] = (parts[-1][0], sign * self._unit_exponent())
        return measured(node, parts)

    def _unit_exponent(self) -> int:
        inside = [t for t in self.tokens[self.at + 1 : self.at + 4] if t.text not in ("{", "}")]
        braced = self.peek(1) == "{"
        if not inside or inside[0].text not in ("2", "3"):
            raise Unreadable("a unit's exponent")
        self.at += 4 if braced else 2
        return int(inside[0].text)

    def _command(self: Parser, name: str) -> Node:  # type: ignore[misc]
        from agentscope_tuner.verify.math.command import read_command

        return read_command(self, name)
