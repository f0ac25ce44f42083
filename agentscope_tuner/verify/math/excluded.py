r"""`x+3, x \neq 3`: an answer that repeats where a fraction of the question has no value."""

from __future__ import annotations

import re
from itertools import islice

from agentscope_tuner.verify.math.exact import exact_value
from agentscope_tuner.verify.math.node import Node, Quotient, Symbol
from agentscope_tuner.verify.math.parse import parse
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.text import TooComplex, Unreadable
from agentscope_tuner.verify.math.tree import symbols, walk, with_args

_VALUE = r"-?\d+(?:\.\d+)?(?:/\d+)?|-?\\[dt]?frac\{?\d+\}?\{?\d+\}?"
_EXCLUSION = re.compile(
    rf"(?:\\[ ,;:!]|\\q?quad|[\s,;({{~]|\\text\s*\{{[\s,(]*(?:for|where|if|when|with|provided|,)?\s*\}})+"
    rf"(?P<name>[a-zA-Z])\s*(?:\\neq?(?![a-zA-Z])|≠|!=|\\not\s*=)\s*(?P<values>(?:{_VALUE})(?:\s*,\s*(?:{_VALUE}))*)\s*[)}}]*$"
)
_LONGEST = 200
_MOST_FORMULAS = 40


def without_exclusion(text: str, question: Question | None) -> str:
    """The text without its exclusion, if each excluded value is a zero of a denominator in the question's formulas.

    Any other text as it is.
    """
    if question is None or len(text) > _LONGEST or not any(sign in text for sign in ("\\ne", "≠", "!=", "\\not")):
        return text
    match = _EXCLUSION.search(text)
    if match is None or not text[: match.start()].strip():
        return text
    below = [
        part.below
        for formula in islice(question.formulas.values(), _MOST_FORMULAS)
        for part in walk(formula)
        if isinstance(part, Quotient) and symbols(part.below) == {match["name"]}
    ]
    values = [_read(value) for value in match["values"].split(",")]
    held = all(v is not None and any(_is_zero(one, match["name"], v) for one in below) for v in values)
    return text[: match.start()] if held else text


def _read(text: str) -> Node | None:
    try:
        return parse(text)
    except (Unreadable, TooComplex):
        return None


def _is_zero(node: Node, name: str, value: Node) -> bool:
    return exact_value(_at(node, name, value)) == 0


def _at(node: Node, name: str, value: Node) -> Node:
    if isinstance(node, Symbol):
        return value if node.name == name else node
    args = tuple(_at(a, name, value) for a in node.args)
    return with_args(node, args) if args else node
