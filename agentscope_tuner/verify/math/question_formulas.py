"""The formulas of a question, from its mathematics and from its plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentscope_tuner.verify.math.canonical import Key, key
from agentscope_tuner.verify.math.in_words import said_in_words
from agentscope_tuner.verify.math.node import MARKS, Array, Collection, Node, Relation
from agentscope_tuner.verify.math.parse import parse_tokens
from agentscope_tuner.verify.math.text import Token, TooComplex, Unreadable, tokenize
from agentscope_tuner.verify.math.tree import is_joined

_MAX_CHARS = 20_000
_MAX_FORMULAS = 200
_DELIMITED = re.compile(
    r"\$\$(.+?)\$\$|\$([^$]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]"
    r"|\\begin\{((?:align|equation|gather|cases|eqnarray|multline)\w*\*?)\}(.+?)\\end\{\5\}",
    re.DOTALL,
)
# A formula in plain text: digits, single letters, names of functions, operators
_PLAIN = re.compile(
    r"(?:\\[a-zA-Z]+|\b(?:sin|cos|tan|cot|sec|csc|log|ln|sqrt|exp|gcd|lcm|mod|pi|abs|max|min)\b|\b[a-zA-Z]\b|(?<![a-zA-Z])[a-zA-Z](?=\^)"
    r"|\d[a-zA-Z](?![a-zA-Z])|[\d.,]*\d|[-+*/^=<>()\[\]{}|!%_×÷·−≤≥≠√²³⁴π°∞∪∩±]|[ ])+"
)
_OPERATION = re.compile(r"[-+*/^=<>|!%×÷·−≤≥≠√²³⁴∪∩±(\\]|sin|cos|tan|log|ln|sqrt|gcd|lcm|mod")
# A decimal, percentage or number in another base (`1101_2`): a question may ask for its other form
_WRITTEN = re.compile(r"(?<![\w.])\d*\.\d+|(?<![\w.])\d+\s?\\?%|(?<![\w.])\d[\dA-F]*_(?:\d+|\{\d+\})")


def formulas_of(text: str) -> dict[Key, Node]:
    """The formulas of a text, the sides of its relations and the members of its lists, by their canonical keys."""
    found: dict[Key, Node] = {}
    for segment in _segments(text[:_MAX_CHARS]):
        for node in _read(segment):
            for part in _parts(node):
                found.setdefault(key(part), part)
        if len(found) > _MAX_FORMULAS:
            break
    return found


def _segments(text: str) -> Iterator[str]:
    rest: list[str] = []
    at = 0
    for match in _DELIMITED.finditer(text):
        rest.append(text[at : match.start()])
        at = match.end()
        yield next(g for g in (*match.groups()[:4], match.group(6)) if g is not None)
    rest.append(text[at:])
    for part in rest:
        for run in _PLAIN.finditer(part):
            if _OPERATION.search(run.group()):
                yield run.group()
        yield from (number.group() for number in _WRITTEN.finditer(part))
    yield from said_in_words(text)


def _read(text: str) -> Iterator[Node]:
    """The formula of one segment; where that is unreadable, the readable pieces between its words and commas."""
    try:
        tokens = tokenize(text.strip().rstrip(".?,:;"))
        yield parse_tokens(tokens)
        return
    except (Unreadable, TooComplex):
        pass
    try:
        tokens = tokenize(text)
    except (Unreadable, TooComplex):
        return
    for piece in _pieces(tokens):
        try:
            yield parse_tokens(piece)
        except (Unreadable, TooComplex):
            continue


def _pieces(tokens: list[Token]) -> Iterator[list[Token]]:
    piece: list[Token] = []
    for token in [*tokens, Token("word", "")]:
        if token.kind == "word" or token.text in (",", ";", "&", "\\\\", ".", "?", ":", "\\begin", "\\end"):
            if piece:
                yield piece
                # The first letter may be an article: `a` before a formula in plain text
                if piece[0].kind == "sym" and len(piece) > 1:
                    yield piece[1:]
            piece = []
        else:
            piece.append(token)


def _parts(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, (Collection, Relation, *MARKS)) or is_joined(node, "and", "or") or _is_cases(node):
        for arg in node.args:
            yield from _parts(arg)


def _is_cases(node: Node) -> bool:
    return isinstance(node, Array) and node.kind == "cases"
