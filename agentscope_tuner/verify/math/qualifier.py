r"""Words that only say where a free name lives: `f(x) = 0 \text{ for all real } x`, `cn \text{ for some constant } c`.

They are dropped where the other side is silent, and compared where both speak.
"""

from __future__ import annotations

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
_SIGNS = frozenset({"\\in", ",", "(", ")", ">=", ">", "!=", "-", "\\ne"})
_MOST = 14

Fields = frozenset[str]


def without_qualifier(tokens: list[Token]) -> tuple[list[Token], Fields | None]:
    """The tokens before the words that say where a free name lives, and what these say; None where there are none."""
    for at in range(1, len(tokens)):
        token = tokens[at]
        opens = token.text.lower() in _OPENERS and token.kind in ("word", "cmd")
        if not opens or len(tokens) - at > _MOST:
            continue
        fields = _fields(tokens[at + 1 :], quantified=token.text == "\\forall")
        if fields is None:
            return tokens, None
        end = at - 1 if tokens[at - 1].text in (",", ";", "(") else at
        return (tokens[:end], fields) if end else (tokens, None)
    return tokens, None


def _fields(tokens: list[Token], *, quantified: bool) -> Fields | None:
    """The fields that the words name; None where a word says anything else."""
    found: set[str] = set()
    names = 0
    for at, token in enumerate(tokens):
        text = token.text.lower() if token.kind == "word" else token.text
        if text in _FIELDS:
            found.add(_FIELDS[text])
            quantified = True
        elif text in _QUANTIFIERS:
            quantified = True
        elif token.kind == "sym":
            names += 1
        elif token.kind == "num":
            if tokens[at - 1].text not in (">=", ">", "!=", "-") or token.text not in ("0", "1", "2"):
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
