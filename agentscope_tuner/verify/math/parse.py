r"""Tokens to nodes: a precedence parser for the answers that models put in boxes.

From loose to tight: lists, or, and, relations, set operations, sums, products (written or implied),
signs, powers, postfixes.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from agentscope_tuner.verify.math.atom import AtomParser
from agentscope_tuner.verify.math.node import (
    Apply,
    Collection,
    Connective,
    Degrees,
    Negation,
    Node,
    Number,
    Percent,
    PlusMinus,
    Power,
    Product,
    Quotient,
    Relation,
    SetOperation,
    Sum,
)
from agentscope_tuner.verify.math.tables import ARGUMENT_STOPS, RELATIONS
from agentscope_tuner.verify.math.text import Token, Unreadable, tokenize
from agentscope_tuner.verify.math.tree import number, product_of, with_args

_SETS: dict[str, Literal["union", "intersection", "difference"]] = {
    "\\cup": "union",
    "\\cap": "intersection",
    "\\setminus": "difference",
}


def parse(text: str) -> Node:
    """The tree of an answer or a reference.

    Raises:
        Unreadable: the text is not mathematics.
        TooComplex: the text is over a bound.
    """
    return parse_tokens(tokenize(text))


def parse_tokens(tokens: list[Token]) -> Node:
    """As `parse`, for a text already scanned."""
    parser = Parser(tokens)
    node = parser.items(top=True)
    if parser.at < len(parser.tokens):
        raise Unreadable(f"{parser.tokens[parser.at].text!r} where an operator was expected")
    return node


class Parser(AtomParser):
    """Recursive descent, one method a level; `AtomParser` reads the operands."""

    def items(self, top: bool = False) -> Node:
        """A list separated by commas or semicolons, or its only item. Trailing punctuation is not an item."""
        with self.deeper():
            found = [self.disjunction()]
            # The reader of brackets needs the comma of `(0,)`: it makes a tuple of one, not a number in brackets
            while (self.peek() in (",", ";") and self.peek(1) != ")") or (self.peek() == "\\\\" and top):
                self.at += 1
                if self.at == len(self.tokens) and top:
                    break
                if self.peek_word() in ("and", "or"):
                    self.at += 1
                found.append(self.disjunction())
            if top and self.peek() == "." and self.at == len(self.tokens) - 1:
                self.at += 1
            return found[0] if len(found) == 1 else Collection("list", tuple(found))

    def disjunction(self) -> Node:
        return self._words("or", "\\cup", self.conjunction)

    def conjunction(self) -> Node:
        return self._words("and", "\\cap", self.relation)

    def _words(self, word: Literal["and", "or"], sign: str, read: Callable[[], Node]) -> Node:
        found = [read()]
        while self.peek_word() == word or self.peek() == sign:
            self.at += 1
            found.append(read())
        return found[0] if len(found) == 1 else Connective(word, tuple(found))

    def relation(self) -> Node:
        """A relation, or a chain of relations: `a < b < c` is one node with three members."""
        if self.peek_word() == "not":
            self.at += 1
            return Connective("not", (self.relation(),))
        members, operators = [self.measured()], []
        while (found := self.peek()) in RELATIONS:
            if found == ":" and self.until_bar:
                break
            operators.append(RELATIONS[found])
            self.at += 1
            self.compared = operators[-1] in ("<", "<=", ">", ">=", "!=")
            members.append(self.measured())
        self.compared = False
        return Relation(tuple(members), tuple(operators)) if operators else members[0]

    def measured(self) -> Node:
        """A sum or a set expression with the words after it: a unit or `percent`."""
        return self.with_unit(self.set_operations())

    def set_operations(self) -> Node:
        left = self.sum()
        # `x < 1 \cup x > 3` joins two inequalities, not two sets
        while not self.compared and (operator := _SETS.get(self.peek())) is not None:
            self.at += 1
            right = self.sum()
            # A long union is one flat node, so that only brackets make the tree deeper
            flat = isinstance(left, SetOperation) and left.operator == operator != "difference"
            left = SetOperation(operator, (*left.args, right) if flat else (left, right))
            self.bound_chain(operator == "difference")
        return left

    def sum(self) -> Node:
        with self.deeper():
            terms = [self.term()]
            while (sign := self.peek()) in ("+", "-", "\\pm", "\\mp"):
                self.at += 1
                right = self.term()
                if sign in ("\\pm", "\\mp"):
                    self.bound_chain(True)
                    terms = [PlusMinus((_sum_of(terms), right), sign == "\\pm")]
                else:
                    terms.append(Negation(right) if sign == "-" else right)
            return _sum_of(terms)

    def term(self) -> Node:
        """A product as one flat node. `/` divides by the next factor only, so `1/2x` is x/2."""
        above = [self.signed()]
        below: list[Node] = []
        while True:
            found = self.peek()
            if found in ("\\bmod", "\\mod") or self.peek_word() == "mod":
                self.at += 1
                left = product_of(tuple(above))
                left = Quotient(left, Product(tuple(below))) if below else left
                above, below = [Apply("mod", (left, self.signed()))], []
            elif found in ("*", "/"):
                self.at += 1
                (above if found == "*" else below).append(self.signed())
            elif self.starts_operand():
                self._beside(above, below)
            else:
                top = product_of(tuple(above))
                return Quotient(top, product_of(tuple(below))) if below else top

    def _beside(self, above: list[Node], below: list[Node]) -> None:
        """Read an operand without an operator before it: it forms a mixed number or a product with the last factor."""
        at, token, left = self.at, self.tokens[self.at], above[-1]
        if token.kind == "num" and isinstance(left.inside if isinstance(left, Negation) else left, Number):
            if below or not token.spaced or not self._plain_fraction(at):
                raise Unreadable("two numbers side by side")
            self.at += 3
            top, bottom = number(Fraction(token.text)), number(Fraction(self.tokens[at + 2].text))
            above[-1:] = _mixed(left, Quotient(top, bottom))
            return
        right = self.power()
        part = right.inside if isinstance(right, (Percent, Degrees)) else right
        after_number = token.text == "\\frac" and self.tokens[at - 1].kind == "num" and not below
        if after_number and isinstance(part, Quotient):
            mixed = _mixed(left, part)
            above[-1:] = mixed if part is right or len(mixed) > 1 else (with_args(right, mixed),)
        else:
            above.append(right)

    def _plain_fraction(self, at: int) -> bool:
        return [t.kind for t in self.tokens[at : at + 3]] == ["num", "op", "num"] and self.tokens[at + 1].text == "/"

    def signed(self) -> Node:
        with self.deeper():
            found = self.peek()
            if found == "-":
                self.at += 1
                return Negation(self.signed())
            if found == "+":
                self.at += 1
                return self.signed()
            if found in ("\\pm", "\\mp"):
                self.at += 1
                return PlusMinus((self.signed(),), found == "\\pm")
            return self.power()

    def power(self) -> Node:
        """An operand with its postfixes and its exponent; powers group from the right: `2^3^4` is `2^{(3^4)}`."""
        base = self.postfixes(self.operand())
        if self.peek() != "^":
            return base
        self.at += 1
        if self.peek() == "\\circ" or self.circle_group():
            return self.postfixes(Degrees(base))
        if self.peek() in ("'", "\\star"):
            raise Unreadable("a decoration as an exponent")
        exponent = self.exponent()
        return self.postfixes(Power(base, exponent))

    def exponent(self) -> Node:
        with self.deeper():
            return self.signed()

    def argument(self) -> Node:
        r"""The argument of a function without brackets: `\sin 2\pi x` takes all factors up to a sign or a function."""
        with self.deeper():
            left = self.signed()
            while self.starts_operand() and self.peek() not in ARGUMENT_STOPS and not self.at_differential():
                if self.tokens[self.at].kind == "num":
                    break
                left = Product((left, self.power()))
            while (
                self.peek() == "/" and self.tokens[self.at + 1 : self.at + 2] and self.tokens[self.at + 1].kind == "num"
            ):
                self.at += 1
                left = Quotient(left, self.power())
            return left


def _sum_of(terms: list[Node]) -> Node:
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def _mixed(left: Node, right: Quotient) -> tuple[Node, ...]:
    """`2\\frac{1}{3}` as a sum if it is a mixed number, else as two factors."""
    whole = left.inside if isinstance(left, Negation) else left
    match whole, right:
        case Number(value), Quotient(Number(top), Number(bottom)) if value.denominator == 1 and 0 < top < bottom:
            mixed = Sum((whole, right))
            return (Negation(mixed) if isinstance(left, Negation) else mixed,)
    return left, right
