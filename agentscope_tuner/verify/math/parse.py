"""Tokens to nodes: a precedence parser by recursive descent, with a reader for each command, such as `\\frac`.

From loose to tight: lists, or, and, relations, set operations, sums, products (written or implied),
plus and minus signs, powers, postfixes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Literal

from agentscope_tuner.verify.math.node import (
    EMPTY_SET,
    INFINITY,
    Apply,
    Array,
    BigOperator,
    BigSign,
    Collection,
    Connective,
    Degrees,
    Digits,
    E,
    Interval,
    Negation,
    Node,
    Number,
    Percent,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Quotient,
    Relation,
    SetBuilder,
    SetOperation,
    Sum,
    Symbol,
    Text,
    UndefinedCall,
    continued,
    difference,
    equation,
    is_collection,
    is_matrix,
    is_symbol,
    literal,
    number,
    product_of,
    recurring,
    symbols,
    with_args,
)
from agentscope_tuner.verify.math.tokens import (
    ARGUMENT_STOPS,
    BY_TOKEN,
    CLOSERS,
    CURRENCIES,
    INVERSE,
    MANY,
    OPERANDS,
    PROPERTIES,
    RELATIONS,
    SPAN,
    Command,
    Role,
    Token,
    TooComplex,
    Unreadable,
    tokenize,
)
from agentscope_tuner.verify.math.units import RATES, SINGLE_LETTERS, TEMPERATURES, is_per, measured, unit_named

MAX_DEPTH = 120
MAX_CHAIN = 12
MAX_DIGITS = 1_000
# The most arguments of a function that an equation defines: `u(x, y, t) =`
_MOST_ARGUMENTS = 3
# Letters that name functions if a bracket follows; any other letter before a bracket is a factor
_FUNCTION_LETTERS = frozenset({"f", "g", "h", "F", "G", "H"})
# The cent sign is written only after its amount
_CURRENCIES = {**CURRENCIES, "\\cents": "cent"}
_SETS: dict[str, Literal["union", "intersection", "difference"]] = {
    "\\cup": "union",
    "\\cap": "intersection",
    "\\setminus": "difference",
}


def parse(text: str) -> Node:
    """Read an answer or a reference into a tree of nodes: `-x` becomes a `Negation` of a `Symbol`.

    Raises:
        Unreadable: the text is not mathematics.
        TooComplex: the text is over a bound.
    """
    return parse_tokens(tokenize(text))


def parse_tokens(tokens: list[Token]) -> Node:
    """Read the tokens that `tokenize` gives into a tree of nodes; raises the same errors as `parse`."""
    parser = Parser(tokens)
    node = parser.items(top=True)
    if parser.at < len(parser.tokens):
        raise Unreadable(f"{parser.tokens[parser.at].text!r} where an operator was expected")
    return node


_UNMARKED = frozenset({"word", "sym", "num", "name"})
_PREFIXES = frozenset({"+", "-", "\\pm", "\\mp"})
# Tokens that end any operand
_ENDS = frozenset({*",;)]}", "\\}"})
# Tokens after a number with which no unit begins
_NO_UNITS = frozenset({*"+-=<>,;)]}", "<=", ">=", "\\}"})


class Parser:
    """Reads tokens by recursive descent, with one method for each level of precedence: `items` is the loosest.

    Each method reads from the position `at` on, leaves `at` behind what it read, and returns the node.
    """

    def __init__(self, tokens: list[Token]) -> None:
        self.take(tokens)
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

    def take(self, tokens: list[Token]) -> None:
        """Set the tokens to read; the position `at` stays the same."""
        self.tokens = tokens
        # the text of each token that is not a word, a symbol, a number or a name, else the empty string
        self._marks = ["" if token.kind in _UNMARKED else token.text for token in tokens]

    def deepen(self) -> None:
        """Count one more open level of nesting. The caller counts it down again, except after an error.

        Raises:
            TooComplex: deeper nesting could overflow the interpreter's stack.
        """
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooComplex(f"nested too deeply: about {MAX_DEPTH // 6} brackets in each other are read")

    def bound_chain(self, deepens: bool) -> None:
        r"""Count an operation that makes the tree deeper without a bracket, such as each `\pm` of `a \pm b \pm c`.

        Args:
            deepens: whether this operation makes the tree deeper; if not, it is not counted.

        Raises:
            TooComplex: more such operations than the bound.
        """
        self.chain += deepens
        if self.chain > MAX_CHAIN:
            raise TooComplex(f"more than {MAX_CHAIN} postfixes or signs in a row")

    def peek(self, ahead: int = 0) -> str:
        """The text of the token `ahead` positions after the next one, if it is an operator, a bracket or a command.

        Empty for a number, letter, name or word, and after the last token.
        """
        try:
            return self._marks[self.at + ahead]
        except IndexError:
            return ""

    def peek_word(self) -> str:
        """The next token in lower case, if it is a word, else the empty string."""
        if self.at >= len(self.tokens) or (token := self.tokens[self.at]).kind != "word":
            return ""
        return token.text.lower()

    def starts_operand(self) -> bool:
        """Whether the next token begins an operand, as the x of `2x` does: it needs no operator to be a factor."""
        if self.at >= len(self.tokens):
            return False
        token = self.tokens[self.at]
        kind, text = token.kind, token.text
        if kind in ("sym", "num", "open"):
            return not (token.upright and self._unit_ahead()) and not (text == "[" and self.outward)
        if text == "|":
            return self.bars == 0 and not self.until_bar
        if kind == "cmd":
            return text in OPERANDS and not self._is_minutes(token)
        return kind == "name"

    def _is_minutes(self, token: Token) -> bool:
        r"""Whether the next token, given as `token`, is the unit of `5 min` and not the function of `\min(a, b)`."""
        return token.text == "\\min" and self.peek(1) not in ("(", "{", "_")

    def _unit_ahead(self) -> bool:
        r"""Whether the next letter is a unit, provided that it is upright: the m of `5\,\mathrm{m}`.

        A number or a closing bracket is before it, or it is the `a` of `5\text{ a week}`.
        """
        token, before = self.tokens[self.at], self.tokens[max(0, self.at - 1)]
        if token.text == "a":
            # `$400 a week`
            return self._span_of_rate(token) is not None
        behind_value = before.kind in ("num", "close") or before.text == "\\pi"
        # with an index, `C` is the number of combinations and no unit
        return token.text in SINGLE_LETTERS and behind_value and self.peek(1) != "_"

    def at_differential(self) -> bool:
        """Whether an integral is being read, and the `dx` that ends it is next."""
        texts = self.tokens[self.at : self.at + 2]
        return self.integrals > 0 and len(texts) == 2 and texts[0].text == "d" and texts[1].kind == "sym"

    def expect(self, *texts: str) -> str:
        """Move past the next token, which must be one of `texts`, and return its text.

        Raises:
            Unreadable: another token is next.
        """
        found = self.peek()
        if found not in texts:
            raise Unreadable(f"{texts[0]!r} is missing")
        self.at += 1
        return found

    def circle_group(self) -> bool:
        r"""Move past the `{\circ}` of `90^{\circ}` if it is next, and return whether it was."""
        if [t.text for t in self.tokens[self.at : self.at + 3]] in (["{", "\\circ", "}"], ["{", "*", "}"]):
            self.at += 3
            return True
        return False

    def items(self, top: bool = False) -> Node:
        r"""Read a list separated by commas or semicolons, `1, 2`; a single item is returned without a list.

        Args:
            top: whether the list is the whole text. Then `\\` separates items, too, and a comma may end the text.
        """
        self.deepen()
        found = [self.disjunction()]
        # The reader of brackets needs the comma of `(0,)`: it makes a tuple of one, not a number in brackets
        while (self.peek() in (",", ";") and self.peek(1) != ")") or (self.peek() == "\\\\" and top):
            self.at += 1
            if self.at == len(self.tokens) and top:
                break
            if self.peek_word() in ("and", "or"):
                self.at += 1
            found.append(self.disjunction())
        self.depth -= 1
        return found[0] if len(found) == 1 else Collection("list", tuple(found))

    def _lone(self) -> Node | None:
        """Read a single number or letter, perhaps negative, such as the `-2` of `(-2, x)`; None if more belongs to it.

        The methods of the tighter levels would give the same node. This is a short cut for the commonest kind of item.
        """
        at, is_negative = self.at, self.peek() == "-"
        begin = at + is_negative
        if begin >= len(self.tokens) or (token := self.tokens[begin]).kind not in ("num", "sym"):
            return None
        if begin + 1 < len(self.tokens) and self._marks[begin + 1] not in _ENDS:
            return None
        self.at, self.compared = begin + 1, False
        node = self._number(token) if token.kind == "num" else self.symbol(token.text)
        return Negation(node) if is_negative else node

    def disjunction(self) -> Node:
        """Read statements joined by `or`, as in `x = 1 or x = 2`, or a single one."""
        if (lone := self._lone()) is not None:
            return lone
        found = [self.conjunction()]
        while self.peek() == "\\cup" or self.peek_word() == "or":
            self.at += 1
            found.append(self.conjunction())
        return found[0] if len(found) == 1 else Connective("or", tuple(found))

    def conjunction(self) -> Node:
        """Read statements joined by `and`, as in `x > 1 and x < 2`, or a single one."""
        found = [self.relation()]
        while self.peek() == "\\cap" or self.peek_word() == "and":
            self.at += 1
            found.append(self.relation())
        return found[0] if len(found) == 1 else Connective("and", tuple(found))

    def relation(self) -> Node:
        """Read a relation or a chain of relations, or a single side: `a < b < c` is one node with three operands."""
        if self.peek_word() == "not":
            self.at += 1
            return Connective("not", (self.relation(),))
        members, operators = [self.measured()], []
        if self.peek() not in RELATIONS and self.peek() != "\\mid":
            self.compared = False
            return members[0]
        if self.peek() == "\\mid" and not self.until_bar:
            # `3 \mid n`: divided by 3, n has the remainder 0
            self.at += 1
            return Relation((self.measured(), number(0), members[0]), ("=", "pmod"))
        while (found := self.peek()) in RELATIONS:
            if found == ":" and self.until_bar:
                break
            operators.append(RELATIONS[found])
            self.at += 1
            self.compared = operators[-1] in ("<", "<=", ">", ">=", "!=")
            members.append(self.measured())
        self.compared = False
        if operators and "mapsto" in (operators[-1], operators[0]):
            return _mapping(members, operators)
        if operators[:1] == [":"] and "=" in operators[1:] and _is_title(*members[:2]):
            # The name of a curve before its equation: `\ell: y = 2x`
            members, operators = members[1:], operators[1:]
        if set(operators) == {"supset"}:
            members, operators = members[::-1], ["subset"] * len(operators)
        return Relation(tuple(members), tuple(operators)) if operators else members[0]

    def measured(self) -> Node:
        r"""Read a sum or a set expression with the unit after it, `2 km` or `2 percent`.

        After a unit, further amounts may be added, subtracted or multiplied: `2 km + 3 cm`.
        """
        terms = [self.with_unit(self.set_operations())]
        has_unit = isinstance(terms[0], Quantity)
        while has_unit and (sign := self.peek()) in ("+", "-", "*"):
            self.at += 1
            right = self.with_unit(self.signed() if sign == "*" else self.term())
            if sign == "*":
                last = terms[-1]
                terms[-1] = Product((*last.args, right) if isinstance(last, Product) else (last, right))
            else:
                terms.append(Negation(right) if sign == "-" else right)
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def set_operations(self) -> Node:
        r"""Read sets joined by `\cup`, `\cap` or `\setminus`, or a single sum."""
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
        r"""Read terms joined by `+`, `-`, `\pm` or `\mp`, or a single term."""
        self.deepen()
        terms = [self.term()]
        while (sign := self.peek()) in ("+", "-", "\\pm", "\\mp"):
            self.at += 1
            right = self.term()
            if sign in ("\\pm", "\\mp"):
                self.bound_chain(True)
                terms = [PlusMinus((_sum_of(terms), right), sign == "\\pm")]
            else:
                terms.append(Negation(right) if sign == "-" else right)
        self.depth -= 1
        return _sum_of(terms)

    def term(self) -> Node:
        """Read a product into one flat node, or a single factor.

        `/` divides by the next factor only, so `1/2x` is x/2; but letters that touch stay together: `1/ab` is 1/(ab).
        """
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
                letters = found == "/" and self._is_letter(touches=False)
                (above if found == "*" else below).append(self.signed())
                while letters and self._is_letter():
                    below.append(self.power())
            elif self.starts_operand():
                self._beside(above, below)
            else:
                top = product_of(tuple(above))
                return Quotient(top, product_of(tuple(below))) if below else top

    def _is_letter(self, *, touches: bool = True) -> bool:
        """Whether an italic letter is next: the b of `ab`.

        Args:
            touches: whether no space may be before it.
        """
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        return token is not None and token.kind == "sym" and not (touches and token.spaced) and not token.upright

    def _beside(self, above: list[Node], below: list[Node]) -> None:
        """Read an operand that has no operator before it into `above`: the x of `2x`, or the 1/3 of `2 1/3`.

        Args:
            above: the factors of the product so far; the last one becomes a sum if it is part of a mixed number.
            below: the divisors of the product so far, only read.
        """
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
        """Whether a fraction of two numbers, `1/3`, is written from the position `at` on."""
        return [t.kind for t in self.tokens[at : at + 3]] == ["num", "op", "num"] and self.tokens[at + 1].text == "/"

    def signed(self) -> Node:
        r"""Read a power with the plus, minus, `\pm` or `\mp` signs before it: `-x^2`."""
        self.deepen()
        found = self.peek()
        if found not in _PREFIXES:
            node = self.power()
        else:
            self.at += 1
            node = self.signed()
            if found == "-":
                node = Negation(node)
            elif found != "+":
                node = PlusMinus((node,), found == "\\pm")
        self.depth -= 1
        return node

    def power(self) -> Node:
        """Read an operand with its postfixes and its exponent. Powers group from the right: `2^3^4` is `2^{(3^4)}`."""
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
        """Read what follows a `^`: the `-1` of `x^-1`."""
        self.deepen()
        node = self.signed()
        self.depth -= 1
        return node

    def argument(self) -> Node:
        r"""Read the argument of a function without brackets: all factors up to an operator or the next function.

        The argument of `\sin 2\pi x + 1` is `2\pi x`.
        """
        self.deepen()
        left = self.signed()
        while self.starts_operand() and self.peek() not in ARGUMENT_STOPS and not self.at_differential():
            token = self.tokens[self.at]
            if token.kind == "num" or (token.text == "e" and self.peek(1) == "^"):
                break
            if token.text == "(" and isinstance(left, (Symbol, Power)):
                # `\\ln x (x+1)` is a product
                break
            left = Product((left, self.power()))
        while self.peek() == "/" and self.tokens[self.at + 1 : self.at + 2] and self.tokens[self.at + 1].kind == "num":
            self.at += 1
            left = Quotient(left, self.power())
        self.depth -= 1
        return left

    def operand(self) -> Node:
        """Read one operand without its postfixes: a number, a letter, a bracket, or a command with its arguments."""
        self.deepen()
        node = self._operand()
        self.depth -= 1
        return node

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
        if token.text in _OPENS_STATE and (state := self._state(token.text)) is not None:
            return state
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
        value = Fraction(int(token.text) if token.text.isdigit() else token.text)
        if self.peek() in ("\\overline", "\\dot", "\\bar") and "." in token.text:
            return self._repeating(token.text)
        if self.peek() == "\\ldots" and "." in token.text and self.peek(1) not in (",", "+", "*", "-", "\\ldots"):
            self.at += 1
            return Number(continued(token.text), f"{token.text}(…)")
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
        # the brackets in its text say that its digits go on, so that no cut decimal is equal to it
        return Number(recurring(text, digits), f"{text}({digits})")

    def _until_dot(self) -> str:
        r"""Read on to the second dotted digit of `0.\dot{1}42\dot{7}`, and return the digits after the first: `427`.

        Empty if only one digit has a dot.
        """
        texts = [t.text for t in self.tokens[self.at : self.at + 5] if t.text not in ("{", "}")]
        between, rest = (texts[0], texts[1:]) if texts and texts[0].isdigit() else ("", texts)
        if rest[:1] != ["\\dot"] or len(rest) < 2 or not rest[1].isdigit():
            return ""
        self.at += bool(between) + (4 if self.peek(1 + bool(between)) == "{" else 2)
        return between + rest[1]

    def symbol(self, name: str) -> Node:
        """Read the primes and the index of a letter, `x_1`, and the arguments if it names a function, `f(x)`."""
        while self.peek() == "'":
            self.at += 1
            name += "'"
        if self.peek() == "_":
            self.at += 1
            start = self.at
            if self.tokens[self.at : self.at + 1] and self.tokens[self.at].kind == "sym":
                # a letter alone, which is no function of what follows
                self.at += 1
            else:
                self.single()
            name += "_" + " ".join(t.text for t in self.tokens[start : self.at] if t.text not in ("{", "}"))
        if name in _FUNCTION_LETTERS and [t.text for t in self.tokens[self.at : self.at + 6]] == list("^{-1}("):
            self.at += 5
            name += "^{-1}"
        if name == "\\Gamma" and self.peek() == "(":
            self.at += 1
            return Apply("factorial", (difference(self.arguments(")")[0], number(1)),))
        is_function = (
            name[0] in _FUNCTION_LETTERS
            or name[-1] == "'"
            or (len(name) > 1 and name.isalpha() and name.lower() != SPAN)
        )
        if self.peek() == "(" and (is_function or self._is_defined()):
            self.at += 1
            return UndefinedCall(name, self.arguments(")"))
        return Symbol(name)

    def _is_defined(self) -> bool:
        """Whether `(x) =` or `(x, t) =` follows: then the letter before it is the name of a function."""
        after = self.tokens[self.at : self.at + 2 * _MOST_ARGUMENTS + 2]
        end = next((at for at, token in enumerate(after) if token.text == ")"), 0)
        inside, between = after[1:end:2], after[2:end:2]
        of_letters = [t.text for t in inside if t.kind in ("sym", "cmd")]
        return (
            0 < len(set(of_letters)) == len(inside) == len(between) + 1
            and all(t.text == "," for t in between)
            and [t.text for t in after[end + 1 : end + 2]] == ["="]
        )

    def arguments(self, closer: str) -> tuple[Node, ...]:
        """Read the arguments of a function up to the bracket `closer`, and move past it: `x, y)`."""
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
        nested = opener == self.peek() == "["
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
        if nested and opener + closer == "[]" and is_collection(inside, "list"):
            return matrix([row.args for row in inside.args], "matrix")
        return bracketed(opener, closer, inside)

    def _state(self, opener: str) -> Node | None:
        r"""Read a state of quantum physics, `|00\rangle` or `\langle 0|`, as one symbol; None for others, as for `|x|`.

        Two states in a row, `|0\rangle|1\rangle`, are one symbol, since their order counts.

        Args:
            opener: the token before the position `at`, which may begin a state.
        """
        said, end = ["\\langle" if opener == "\\langle" else "|"], self.at + (opener == "\\left")
        ends = "|" if opener == "\\langle" else "\\rangle"
        for token in self.tokens[end : end + _LONGEST_STATE]:
            end += 1
            said.append(token.text)
            if token.text == ends:
                self.at = end
                if said[0] == "|" == self.peek() and (more := self._beside_state()) is not None:
                    said[-1:] = more.name.split()[1:]
                return Symbol(f"{said[0]} {''.join(said[1:-1])} {said[-1]}")
            if token.kind not in ("num", "sym") and token.text not in _STATE_SIGNS:
                return None
        return None

    def _beside_state(self) -> Symbol | None:
        r"""Read a state that follows another state: the second of `|0\rangle|1\rangle`. None if no state follows."""
        before, self.at = self.at, self.at + 1
        self.deepen()
        found = self._state("|")
        self.depth -= 1
        if not isinstance(found, Symbol):
            self.at = before
            return None
        return found

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
        """Read an interval whose first bracket looks away from it: `]a, b[`, as some countries write `(a, b)`."""
        self.outward = True
        inside = self.items()
        self.outward = False
        closer = self.expect("[", "]")
        if not is_collection(inside, "list") or len(inside.args) != 2:
            raise Unreadable("a closing bracket where an operand was expected")
        return Interval(*inside.args, low_in=False, high_in=closer == "]")

    def single(self) -> Node:
        r"""Read one argument of a command: a group in braces, or a single digit, letter or command.

        The two arguments of `\frac12` are 1 and 2.
        """
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if token is not None and token.kind == "num" and len(token.text) > 1 and token.text.isdigit():
            first, rest = token._replace(text=token.text[0]), Token("num", token.text[1:])
            self.take([*self.tokens[: self.at], first, rest, *self.tokens[self.at + 1 :]])
        self.deepen()
        node = self.operand()
        self.depth -= 1
        return node

    def postfixes(self, node: Node) -> Node:
        r"""Read the marks after `node`, such as `!`, `\%`, a degree sign or a currency, and return it with them."""
        while True:
            found = self.peek()
            if found == "!":
                node = self._factorial(node)
            elif found == "%":
                node = Percent(node)
            elif found == "'" and (is_matrix(node) or isinstance(node, SetOperation)):
                node = Apply("transpose" if is_matrix(node) else "conj", (node,))
            elif found == "\\circ":
                node = node if isinstance(node, Degrees) else Degrees(node)
            elif isinstance(node, Degrees) and (scale := self._scale()) is not None:
                node = Quantity(node.inside, ((scale, 1),))
            elif found in _CURRENCIES:
                node = Quantity(node, ((_CURRENCIES[found], 1),))
            else:
                return node
            self.bound_chain(isinstance(node.args[0], (Apply, Percent, Degrees)))
            self.at += 1

    def _scale(self) -> str | None:
        r"""The unit of temperature that the next token names: celsius for the C of `20^\circ C`. None for any other."""
        text = self.tokens[self.at].text if self.at < len(self.tokens) else ""
        return TEMPERATURES.get(text)

    def _factorial(self, node: Node) -> Node:
        """The factorial of `node`, or its double factorial if `!!` is next. The caller moves past the last `!`."""
        if self.peek(1) != "!":
            return Apply("factorial", (node,))
        if self.peek(2) == "!":
            raise Unreadable("three factorial signs in a row")
        self.at += 1
        return Apply("doublefact", (node,))

    def with_unit(self, node: Node) -> Node:
        """Read the unit after a number, such as `km per hour`, and return the number with it.

        `node` is returned as it is if no unit follows.

        Raises:
            Unreadable: the words after the number do not name a unit.
        """
        if self.at >= len(self.tokens) or self.peek() in _NO_UNITS:
            return node
        parts: list[tuple[str, int]] = []
        sign = 1
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.text == "." and parts and self.at + 1 < len(self.tokens):
                # The full stop of an abbreviation
                self.at += 1
                continue
            if token.text in ("(", ")") and sign < 0:
                # `J/(g K)`
                self.at += 1
                continue
            if token.text in ("/", "per") and (parts or (token.text == "per" and self.at + 1 < len(self.tokens))):
                sign = -1
            elif (parts or token.text in RATES) and (span := self._span_of_rate(token)) is not None:
                sign = -1
                parts.append((span, sign))
                self.at += 1
            elif self._is_minutes(token):
                parts.append(("min", sign))
            elif (token.text != "*" and token.kind not in ("word", "sym")) or token.text.lower() in ("and", "or"):
                break
            elif (
                token.text == "*" and self.tokens[self.at + 1 : self.at + 2] and self.tokens[self.at + 1].kind == "num"
            ):
                # `3\\text{ cm} \\cdot 4\\text{ cm}`
                break
            elif token.text not in ("of", "Of", "a", "*"):
                # Keep the case: `A` is an ampere
                parts.append((token.text, sign))
            elif not parts or self.at + 1 == len(self.tokens):
                break
            self.at += 1
            if self.peek() == "^" and parts:
                parts[-1] = (parts[-1][0], sign * self._unit_exponent())
        return measured(node, parts)

    def _span_of_rate(self, token: Token) -> str | None:
        """The unit after a word for `per` in any language: week for the `a` of `5 km a week`, hour for `км в час`.

        None if `token` is no such word, or if no unit follows it.
        """
        following = self.tokens[self.at + 1 : self.at + 2]
        return unit_named(following[0].text) if following and is_per(token.text) else None

    def _unit_exponent(self) -> int:
        """Read the exponent of a unit, the `^{-2}` of `s^{-2}`, and return its value."""
        braced, at = self.peek(1) == "{", self.at + 1
        at += braced
        sign = -1 if self.tokens[at : at + 1] and self.tokens[at].text == "-" else 1
        at += sign < 0
        digits = self.tokens[at].text if at < len(self.tokens) else ""
        if not digits.isdigit() or len(digits) > 1 or (sign > 0 and digits not in "23"):
            raise Unreadable("a unit's exponent")
        self.at = at + 1 + braced
        return sign * int(digits)


_LONGEST_STATE, _OPENS_STATE = 16, frozenset({"|", "\\langle", "\\left"})
_STATE_SIGNS = frozenset({"+", "-", ",", "\\psi", "\\phi", "\\uparrow", "\\downarrow", "\\Psi", "\\Phi"})


def _mapping(members: list[Node], operators: list[str]) -> Node:
    r"""The equation `f(x) = x^2` for `f: x \mapsto x^2`; a function without a name is called f."""
    name = members[0] if operators == [":", "mapsto"] else Symbol("f")
    if len(members) - len(operators) != 1 or len(members) > 3 or not isinstance(name, Symbol):
        raise Unreadable("a mapping of several parts")
    given = members[-2].args if is_collection(members[-2], "tuple") else (members[-2],)
    return equation(UndefinedCall(name.name, given), members[-1])


_TITLES = frozenset({*"lCEGLPSdgmrst", "\\ell", "\\pi", "\\alpha", "\\beta", "\\Gamma", "\\lambda", "\\omega"})


def _is_title(name: Node, side: Node) -> bool:
    r"""Whether `name` is the name of a curve whose equation has the left side `side`: the `\ell` of `\ell: y = 2x`."""
    return isinstance(name, Symbol) and name.name in _TITLES and not symbols(side).isdisjoint("xyzr")


def bracketed(opener: str, closer: str, inside: Node) -> Node:
    r"""The node of a pair of brackets: a tuple for `(1, 2)`, a set for `\{1\}`, an interval for `[1, 2)`.

    `inside` itself for brackets that only group, as in `(a + b)`.

    Raises:
        Unreadable: the brackets do not match.
    """
    several = is_collection(inside, "list")
    items = inside.args if several else (inside,)
    if opener == "\\lfloor" or opener == "\\lceil":
        return Apply("floor" if opener == "\\lfloor" else "ceil", (inside,))
    if opener == "\\{" or (opener == "{" and several):
        return Collection("set", items)
    if opener + closer in ("[)", "(]") and len(items) != 2:
        raise Unreadable("brackets that do not match")
    if opener + closer in ("[)", "(]", "[]") and len(items) == 2:
        return Interval(*items, low_in=opener == "[", high_in=closer == "]")
    return Collection("tuple", items) if several or opener == "\\langle" else inside


def infix(name: str, above: Node, below: Node) -> Node:
    r"""The fraction for TeX's `{a \over b}`, or the binomial for `{a \choose b}`; `name` is the command."""
    return Quotient(above, below) if name == "\\over" else Apply("binom", (above, below))


def is_builder(tokens: Sequence[Token]) -> bool:
    """Whether these tokens, which follow an opening brace, are an element and a condition: `x | x > 0`, `x : x > 0`."""
    depth = bars = 0
    for token in tokens:
        depth += (token.kind == "open") - (token.kind == "close")
        if depth < 0:
            break
        if depth == 0 and token.text in ("\\mid", ":"):
            return True
        bars += depth == 0 and token.text == "|"
    return bars % 2 == 1


def _sum_of(terms: list[Node]) -> Node:
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def _mixed(left: Node, right: Quotient) -> tuple[Node, ...]:
    r"""A number and a fraction side by side: one sum for the mixed number `2\frac{1}{3}`, else both as two factors."""
    whole = left.inside if isinstance(left, Negation) else left
    match whole, right:
        case Number(value), Quotient(Number(top), Number(bottom)) if value.denominator == 1 and 0 < top < bottom:
            mixed = Sum((whole, right))
            return (Negation(mixed) if isinstance(left, Negation) else mixed,)
    return left, right


def matrix(rows: list[tuple[Node, ...]], name: str) -> Node:
    r"""The matrix with these rows; its determinant if the environment `name` is `vmatrix`.

    Raises:
        Unreadable: the rows differ in length, or the environment is `Vmatrix`, which means a norm.
    """
    if not rows or len(set(map(len, rows))) != 1:
        raise Unreadable("a matrix with rows of different lengths")
    if name == "Vmatrix":
        raise Unreadable("the norm of a matrix")
    matrix = Array("matrix", tuple(rows))
    return Apply("det", (matrix,)) if name == "vmatrix" else matrix


_SIGNS: dict[str, BigSign] = {"sum": "sum", "prod": "prod", "int": "int", "lim": "lim"}
_MATRICES = frozenset({"pmatrix", "bmatrix", "matrix", "Bmatrix", "vmatrix", "Vmatrix", "array", "smallmatrix"})
_PARTING = frozenset({"&", "\\\\", "\\end"})
_ALIGNED = frozenset({"align", "aligned", "gather", "gathered", "equation", "split", "cases"})
_MINUS_ONE = Negation(Number(Fraction(1), "1"))


def read_command(parser: Parser, token: str) -> Node:
    r"""Read the operand that begins with the command `token`, such as the `\frac` of `\frac{1}{2}`.

    The parser has already moved past the command, and is before its arguments.

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
    if _is_differential(bottom) and (_is_differential(top) or _is_differential_sign(top)):
        return Symbol(" ".join(t.text for t in parser.tokens[start : parser.at] if t.text not in ("{", "}")))
    return Quotient(top, bottom)


def _binomial(parser: Parser, command: Command) -> Node:
    return Apply(command.canonical, (parser.single(), parser.single()))


def _bar(parser: Parser, command: Command) -> Node:
    is_of_set = parser.peek(1) == "\\{"
    inside = parser.single()
    if command.name == "bar":
        _refuse_number(inside, command)
    if is_collection(inside, "set") and not is_of_set:
        # the period of a continued fraction: `[2; \\overline{1,1,1,4}]`
        return Apply("period", (Collection("tuple", inside.args),))
    # A product of capital letters under a bar is a segment, any other formula is a conjugate
    letters = [a.name for a in inside.args if isinstance(a, Symbol) and a.name.isupper()]
    segment = isinstance(inside, Product) and len(letters) == len(inside.args)
    return inside if segment else Apply("conj", (inside,))


def _decorated(parser: Parser, command: Command) -> Node:
    if command.name == "triangle" and parser.peek() == "}":
        return Symbol("\\triangle")
    inside = parser.single()
    if command.name == "angle" and isinstance(inside, Text) and len(inside.words) == len("ABC"):
        # ABC and CBA are the same angle
        return Text(min(inside.words, inside.words[::-1]))
    names = [a.name for a in inside.args if isinstance(a, Symbol)] if isinstance(inside, Product) else []
    if command.name == "vec" and names and len(names) == len(inside.args):
        # The vector BA is the negative of AB
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
    r"""Raise `Unreadable` if an accent is over a number: `\hat{42}` is not 42."""
    if literal(inside) is not None:
        raise Unreadable(f"a number under \\{command.name}")


def _symbol(parser: Parser, command: Command) -> Node:
    return EMPTY_SET if command.name == "emptyset" else parser.symbol(f"\\{command.name}")


def _is_differential_sign(node: Node) -> bool:
    r"""Whether the node is the `d` or `\partial` of a derivative, perhaps with an exponent: the `d^2` of `d^2 y`."""
    return _is_differential_sign(node.base) if isinstance(node, Power) else is_symbol(node, "d", "\\partial")


def _is_differential(node: Node) -> bool:
    return isinstance(node, Product) and _is_differential_sign(node.args[0])


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
        parser.take([*parser.tokens[: parser.at], *_bare_cases(parser.tokens[parser.at :])])
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

_OTHERWISE = frozenset("otherwise else elsewhere sonst sinon altrimenti иначе 其他 其它".split())  # noqa: SIM905


def _bare_cases(tokens: list[Token]) -> Iterator[Token]:
    r"""The tokens of a definition by cases without words such as `if`, and without punctuation at the end of a part.

    `x, & \text{if } x > 0` becomes `x & x > 0`. A word for `otherwise`, in any language, becomes a command. Tokens
    after the end of the cases are left as they are.
    """
    inside = True
    for at, token in enumerate(tokens):
        inside = inside and token.text != "\\end"
        if inside and token.text in _OTHERWISE:
            token = Token("cmd", "\\otherwise")
        parts = token.text in (",", ";", ".") and tokens[at + 1 : at + 2] and tokens[at + 1].text in _PARTING
        if not inside or not (parts or token.text.rstrip() in _CONDITIONS):
            yield token


def _big_operator(parser: Parser, command: Command) -> Node:
    r"""Read a sum, product, limit or integral with its bounds, `\sum_{k=1}^n k`, without evaluating it."""
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
    "big": _big_operator,
    "environment": _environment,
}
