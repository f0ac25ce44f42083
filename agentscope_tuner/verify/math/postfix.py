"""Signs and words after an operand: factorials, percent and degree signs, currencies, units."""

from __future__ import annotations

from agentscope_tuner.verify.math.cursor import Grammar
from agentscope_tuner.verify.math.node import Apply, Degrees, Node, Percent, Quantity
from agentscope_tuner.verify.math.tables import CURRENCIES
from agentscope_tuner.verify.math.text import Unreadable
from agentscope_tuner.verify.math.tree import is_matrix
from agentscope_tuner.verify.math.unit import TEMPERATURES, measured

# A cent sign stands only after its amount
_CURRENCIES = {**CURRENCIES, "\\cents": "cent"}


class PostfixParser(Grammar):
    """Parses the signs and words after an operand."""

    def postfixes(self, node: Node) -> Node:
        while True:
            found = self.peek()
            if found == "!":
                node = self._factorial(node)
            elif found == "%":
                node = Percent(node)
            elif found == "'" and is_matrix(node):
                node = Apply("transpose", (node,))
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
        """The scale of a temperature, named after a degree sign: the C of `20^\\circ C`."""
        text = self.tokens[self.at].text if self.at < len(self.tokens) else ""
        return TEMPERATURES.get(text)

    def _factorial(self, node: Node) -> Node:
        """`n!`, or the double factorial `n!!`. The caller moves past the last sign."""
        if self.peek(1) != "!":
            return Apply("factorial", (node,))
        if self.peek(2) == "!":
            raise Unreadable("three factorial signs in a row")
        self.at += 1
        return Apply("doublefact", (node,))

    def with_unit(self, node: Node) -> Node:
        """The number with the unit that the words after it name."""
        parts: list[tuple[str, int]] = []
        sign = 1
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.text == "." and parts and self.at + 1 < len(self.tokens):
                # The full stop of an abbreviation
                self.at += 1
                continue
            if token.text in ("/", "per") and (parts or (token.text == "per" and self.at + 1 < len(self.tokens))):
                sign = -1
            elif self._is_minutes(token):
                parts.append(("min", sign))
            elif (token.text != "*" and token.kind not in ("word", "sym")) or token.text.lower() in ("and", "or"):
                break
            elif token.text not in ("of", "Of", "a", "*"):
                # Keep the case: `A` is an ampere
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
