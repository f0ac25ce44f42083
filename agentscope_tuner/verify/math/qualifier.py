r"""Words that only say where a free name lives: `f(x) = 0 \text{ for all real } x`, `cn \text{ for some constant } c`.

They are dropped where the other side is silent, and compared where both speak.
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
# among the fields: the function is given for a part of its arguments only
NARROWED = "a part of the arguments"

Fields = frozenset[str]


def without_qualifier(tokens: list[Token]) -> tuple[list[Token], Fields | None]:
    """The tokens before the words that say where a free name lives, and what these say; None where there are none."""
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
            # `P(x) = x for some x`
            return tokens, None
        if own and any(t.text in _BOUNDS for t in said):
            fields |= {NARROWED}
        end = at - 1 if tokens[at - 1].text in (",", ";", "(") else at
        return (tokens[:end], fields) if end else (tokens, None)
    return tokens, None


def _ends_in_bracket(tokens: list[Token]) -> bool:
    return bool(tokens) and tokens[-1].text == ")"


def _says_membership(tokens: list[Token]) -> bool:
    r"""`k \in \mathbb{Z}`, `C constant`: a bracket that says where names live, and is no factor."""
    said = ("\\in", "\\forall", "constant", "constants", "integer", "real")
    return any(t.text in said or t.text.lower() in said for t in tokens)


def _names_several(tokens: list[Token]) -> bool:
    r"""`a, b \in \mathbb{R}` behind a comma; one name alone is a family's parameter."""
    names = [t for t in tokens[:-2] if t.kind == "sym"]
    parted = all(t.kind == "sym" or t.text == "," for t in tokens[:-2])
    ends = len(tokens) >= 5 and tokens[-2].text == "\\in" and tokens[-1].text in _FIELDS
    return ends and parted and len(names) > 1


def _bounds_parameter(before: list[Token], said: list[Token]) -> bool:
    """The `k >= 0` of `n = 2^k, k >= 0`: a counting letter of the value, not the unknown itself."""
    texts = [t.text for t in before]
    if len(said) != 3 or said[0].text not in _COUNTING or said[1].text not in (">=", ">"):
        return False
    value = texts.index("=") + 1 if "=" in texts else 0
    # `k, k >= 1` is about the unknown itself
    return len(texts) > 1 and said[0].text in texts[value:] and said[0].text not in texts[:value]


def _is_own_argument(before: list[Token], said: list[Token]) -> bool:
    """Whether the words are about the argument of the function that is given: the x of `P(x) = x`."""
    if len(before) < 4 or before[0].kind != "sym" or before[1].text != "(":
        return False
    arguments = set(itertools.takewhile(lambda text: text != ")", (t.text for t in before[2:])))
    return {t.text for t in said if t.kind == "sym"} <= arguments


def _fields(tokens: list[Token], *, quantified: bool) -> Fields | None:
    """The fields that the words name; None where a word says anything else."""
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
                # one point left out
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
