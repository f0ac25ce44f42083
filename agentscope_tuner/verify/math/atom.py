"""Operands: numbers, names, functions, brackets, absolute values, words."""

from __future__ import annotations

from fractions import Fraction

from agentscope_tuner.verify.math.bracket import bracketed, infix, is_builder
from agentscope_tuner.verify.math.command import read_command
from agentscope_tuner.verify.math.node import (
    Apply,
    Collection,
    Digits,
    Interval,
    Node,
    Number,
    Quantity,
    SetBuilder,
    Symbol,
    Text,
    UndefinedCall,
)
from agentscope_tuner.verify.math.number import continued, recurring
from agentscope_tuner.verify.math.postfix import PostfixParser
from agentscope_tuner.verify.math.tables import CLOSERS, CURRENCIES
from agentscope_tuner.verify.math.text import Token, TooComplex, Unreadable
from agentscope_tuner.verify.math.tree import is_collection, is_matrix, number

MAX_DIGITS = 1_000
# Letters that name functions if a bracket follows; any other letter before a bracket is a factor
_FUNCTION_LETTERS = frozenset({"f", "g", "h", "F", "G", "H"})


class AtomParser(PostfixParser):
    """Parses operands; `Parser` has the levels above them."""

    def operand(self) -> Node:
        """One operand, without its postfixes."""
        with self.deeper():
            return self._operand()

    def _operand(self) -> Node:
        if self.at >= len(self.tokens):
            raise Unreadable("an operand is missing")
        token = self.tokens[self.at]
        self.at += 1
        if token.kind == "num":
            return self._number(token)
        if token.kind in ("sym", "name"):
            return self.symbol(token.text)
        if token.kind == "word":
            return self._words_as_text(token)
        if token.kind == "open":
            return self._bracket(token.text)
        if token.text in ("|", "\\left"):
            return self._absolute(token.text)
        if token.text == "]":
            return self._outward()
        if token.text in CURRENCIES:
            return Quantity(self.power(), ((CURRENCIES[token.text], 1),))
        return read_command(self, token.text)

    def _number(self, token: Token) -> Node:
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
        if self.peek() == "_":
            self.at += 1
            base = self.exponent()
            if not isinstance(base, Number) or not token.text.isdigit():
                raise Unreadable("a subscript under a number")
            return Digits(token.text, base.value)
        return Number(value, token.text)

    def _repeating(self, text: str) -> Node:
        start = self.at + 1
        end = start + (3 if self.peek(1) == "{" else 1)
        digits = next((t.text for t in self.tokens[start:end] if t.kind == "num"), "")
        if not digits.isdigit():
            raise Unreadable("a bar over something that is no digit")
        dotted = self.peek() == "\\dot"
        self.at = end
        if dotted:
            digits += self._until_dot()
        return number(recurring(text, digits))

    def _until_dot(self) -> str:
        r"""The digits after the first dotted digit of `0.\dot{1}42\dot{7}`; empty if only one digit is dotted."""
        texts = [t.text for t in self.tokens[self.at : self.at + 5] if t.text not in ("{", "}")]
        between, rest = (texts[0], texts[1:]) if texts and texts[0].isdigit() else ("", texts)
        if rest[:1] != ["\\dot"] or len(rest) < 2 or not rest[1].isdigit():
            return ""
        self.at += bool(between) + (4 if self.peek(1 + bool(between)) == "{" else 2)
        return between + rest[1]

    def symbol(self, name: str) -> Node:
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
            return UndefinedCall(name, self.arguments(")"))
        return Symbol(name)

    def _is_defined(self) -> bool:
        """Whether `(x) =` follows: then the letter before it is the name of a function."""
        after = self.tokens[self.at : self.at + 4]
        return [t.text for t in after[:1] + after[2:]] == ["(", ")", "="] and after[1].kind == "sym"

    def arguments(self, closer: str) -> tuple[Node, ...]:
        bars, self.bars = self.bars, 0
        inside = self.items()
        self.expect(closer)
        self.bars = bars
        return inside.args if is_collection(inside, "list") else (inside,)

    def _words_as_text(self, token: Token) -> Node:
        words = [token.text]
        while (
            self.at < len(self.tokens) and self.tokens[self.at].kind == "word" and self.peek_word() not in ("and", "or")
        ):
            words.append(self.tokens[self.at].text)
            self.at += 1
        return Text(" ".join(words))

    def _bracket(self, opener: str) -> Node:
        bars, self.bars, until_bar, self.until_bar = self.bars, 0, self.until_bar, False
        if opener in ("\\{", "{", "(") and self.peek() == CLOSERS[opener][0]:
            self.at += 1
            self.bars, self.until_bar = bars, until_bar
            if opener == "{":
                raise Unreadable("an empty group")
            return Collection("set" if opener == "\\{" else "tuple", ())
        self.until_bar = opener == "\\{" and is_builder(self.tokens[self.at :])
        inside = self.items()
        if opener == "(" and self.peek() == "," and self.peek(1) == ")":
            self.at += 1
            inside = Collection("list", (inside,))
        if opener == "{" and self.peek() in ("\\choose", "\\over"):
            inside = infix(self.expect("\\choose", "\\over"), inside, self.items())
        if self.until_bar and self.peek() in ("|", "\\mid", ":"):
            self.at += 1
            inside = SetBuilder(inside, self.items())
        closer = self.expect(*CLOSERS[opener])
        self.bars, self.until_bar = bars, until_bar
        return bracketed(opener, closer, inside)

    def _absolute(self, opener: str) -> Node:
        if opener == "\\left":
            self.expect("|")
        bars, until_bar = self.bars, self.until_bar
        self.bars, self.until_bar = (0 if opener == "\\left" else bars + 1), False
        inside = self.items()
        if opener == "\\left":
            self.expect("\\right")
        self.expect("|")
        self.bars, self.until_bar = bars, until_bar
        return Apply("det" if is_matrix(inside) else "abs", (inside,))

    def _outward(self) -> Node:
        """The interval of `]a, b[`, which is how some countries write `(a, b)`."""
        self.outward = True
        inside = self.items()
        self.outward = False
        closer = self.expect("[", "]")
        if not is_collection(inside, "list") or len(inside.args) != 2:
            raise Unreadable("a closing bracket where an operand was expected")
        return Interval(*inside.args, low_in=False, high_in=closer == "]")

    def single(self) -> Node:
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
