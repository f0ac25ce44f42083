r"""Words that only give the domain of a name: `f(x) = 0 \text{ for all real } x`, `cn \text{ for some constant } c`.

If only one side has such words, they are ignored. If both sides have them, the domains are compared.
"""

from __future__ import annotations

import itertools

from agentscope_tuner.verify.math.text import Token

_OPENERS = frozenset({"for", "where", "with", "when", "\\forall"})
_QUANTIFIERS = frozenset(
    {"all", "every", "any", "each", "some", "a", "an", "arbitrary", "fixed", "constant", "constants", "is", "are"}
)
_FIELDS = {
    "real": "real", "reals": "real", "\\mathbb{R}": "real",
    "integer": "integer", "integers": "integer", "whole": "integer", "\\mathbb{Z}": "integer",
    "rational": "rational", "rationals": "rational", "\\mathbb{Q}": "rational",
    "complex": "complex", "\\mathbb{C}": "complex",
    "natural": "natural", "naturals": "natural", "\\mathbb{N}": "natural",
    "positive": "positive", "nonnegative": "nonnegative", "non-negative": "nonnegative",
    "nonzero": "nonzero", "non-zero": "nonzero", "non": "", "zero": "", "negative": "",
}  # fmt: skip
FIELD_NAMES = {name: field for name, field in _FIELDS.items() if name.startswith("\\")}
_NOUNS = frozenset(
    {"number", "numbers", "value", "values", "parameter", "parameters", "the", "domain", "of", "and", "in"}
)
_SIGNS = frozenset({"\\in", "\\forall", ",", "(", ")", ">=", ">", "!=", "-", "\\ne"})
_MOST = 14
_COUNTING = frozenset({"n", "k", "m", "l", "j"})
_BOUNDS = frozenset({">=", ">", "<", "<="})
# A marker among the fields: the function is given for only some of its arguments
NARROWED = "a part of the arguments"

Fields = frozenset[str]


def without_qualifier(tokens: list[Token]) -> tuple[list[Token], Fields | None]:
    """The tokens before the words that give a domain, and the fields of that domain; None where no words give one."""
    for at in range(1, len(tokens)):
        token = tokens[at]
        if len(tokens) - at > _MOST:
            continue
        said = tokens[at + 1 :]
        if token.text == "(" and _ends_in_bracket(said):
            said = said[:-1]
            if any(t.text in ("(", ")") for t in said) or not _says_membership(said):
                continue
        elif token.text == ",":
            if not (_names_several(said) or _bounds_parameter(tokens[:at], said)):
                continue
        elif token.text.lower() not in _OPENERS or token.kind not in ("word", "cmd"):
            continue
        fields = _fields(said, quantified=token.text in ("\\forall", ",", "("))
        own = _is_own_argument(tokens[:at], said)
        if fields is None or (own and "some" in {t.text.lower() for t in said}):
            # `P(x) = x for some x` is an equation to solve, not a function's definition
            return tokens, None
        if own and any(t.text in _BOUNDS for t in said):
            fields |= {NARROWED}
        end = at - 1 if tokens[at - 1].text in (",", ";", "(") else at
        return (tokens[:end], fields) if end else (tokens, None)
    return tokens, None


def _ends_in_bracket(tokens: list[Token]) -> bool:
    return bool(tokens) and tokens[-1].text == ")"


def _says_membership(tokens: list[Token]) -> bool:
    r"""Whether bracketed tokens give a domain, like `k \in \mathbb{Z}` and `C constant`: then they are not a factor."""
    said = ("\\in", "\\forall", "constant", "constants", "integer", "real")
    return any(t.text in said or t.text.lower() in said for t in tokens)


def _names_several(tokens: list[Token]) -> bool:
    r"""Whether the tokens after a comma are like `a, b \in \mathbb{R}`; a single name is the parameter of a family."""
    names = [t for t in tokens[:-2] if t.kind == "sym"]
    parted = all(t.kind == "sym" or t.text == "," for t in tokens[:-2])
    ends = len(tokens) >= 5 and tokens[-2].text == "\\in" and tokens[-1].text in _FIELDS
    return ends and parted and len(names) > 1


def _bounds_parameter(before: list[Token], said: list[Token]) -> bool:
    """Whether the tokens after a comma bound a letter of the value: the `k >= 0` of `n = 2^k, k >= 0`."""
    texts = [t.text for t in before]
    if len(said) != 3 or said[0].text not in _COUNTING or said[1].text not in (">=", ">"):
        return False
    value = texts.index("=") + 1 if "=" in texts else 0
    # `k, k >= 1` bounds the unknown itself: there the bound is a part of the answer
    return len(texts) > 1 and said[0].text in texts[value:] and said[0].text not in texts[:value]


def _is_own_argument(before: list[Token], said: list[Token]) -> bool:
    """Whether the words name only arguments of the function on the left side: the x of `P(x) = x`."""
    if len(before) < 4 or before[0].kind != "sym" or before[1].text != "(":
        return False
    arguments = set(itertools.takewhile(lambda text: text != ")", (t.text for t in before[2:])))
    return {t.text for t in said if t.kind == "sym"} <= arguments


def _fields(tokens: list[Token], *, quantified: bool) -> Fields | None:
    """The fields that the words name; None if another word stands among them."""
    found: set[str] = set()
    names = 0
    for at, token in enumerate(tokens):
        text = token.text.lower() if token.kind == "word" else token.text
        if text in _FIELDS:
            found.add(_FIELDS[text])
            quantified = True
        elif text in _QUANTIFIERS and not (text == "a" and token.kind == "sym" and at == len(tokens) - 1):
            quantified = True
        elif token.kind == "sym":
            names += 1
        elif token.kind == "num":
            if tokens[at - 1].text not in (">=", ">", "!=", "-") or token.text not in ("0", "1", "2"):
                return None
            if tokens[at - 1].text == "!=" and token.text != "0":
                # `x != 3` leaves one point out: that is a part of the answer
                return None
            quantified = True
            found.add(f"{tokens[at - 1].text} {token.text}")
        elif text not in _NOUNS and text not in _SIGNS:
            return None
    if not quantified or not (names or found):
        return None
    if {"non"} & {t.text.lower() for t in tokens}:
        found.add("nonzero" if "zero" in {t.text.lower() for t in tokens} else "nonnegative")
    elif {"zero", "negative"} & {t.text.lower() for t in tokens}:
        return None
    return frozenset(found - {""})
