"""Splits arithmetic in plain text, full-width characters or LaTeX into tokens, in one pass."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

_SHOWN = 80


class NotArithmeticError(ValueError):
    """The text cannot be read as arithmetic; the message quotes the unexpected part."""


Kind = Literal["number", "operator", "open", "close"]


class ArithmeticToken(NamedTuple):
    r"""A number, an operator or a bracket.

    Attributes:
        kind: the sort of token.
        text: the number, the operator, or the bracket as `(`, `[`, `)` or `]`.
        form: the origin of a bracket. `(`, `[` and `\{` are printed; `{` only groups; `arg` stands around each part
            of a fraction, and `frac` around the whole fraction.
    """

    kind: Kind
    text: str
    form: str = ""


_DASHES = "−–—‐‑‒―﹣"
_PLAIN = {
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(map(ord, _DASHES), "-"),
    **dict.fromkeys(map(ord, "×✕✖⨯·⋅∙•∗"), "*"),
    **dict.fromkeys(map(ord, "÷∕⁄➗"), "/"),
    **dict(zip(map(ord, "【】〔〕。"), "[][].", strict=True)),
}
# Models end an equation with a full stop, a tick, or both
_STOP, _TICK, _GAP = r"(?:\.|\\text\{\s*\.\s*\})", r"(?:\\checkmark|[✓✔✅]\ufe0f?)", r"(?:\s|\\q?quad|\\[,;!])*"
_ENDING = re.compile(
    rf"(?<=[0-9)\]}}]){_GAP}(?:{_STOP}{_GAP}{_TICK}?|{_TICK}{_GAP}{_STOP}?)(?P<rest>[\s$}}]*|\s*\\[)\]]\s*)$"
)


def _plain(text: str) -> str:
    """`text` with ASCII in place of full-width characters and other signs, without its final full stop or tick."""
    return _ENDING.sub(r"\g<rest>", text.translate(_PLAIN))


_ITEM = re.compile(
    r"""
    (?P<number>[0-9]{1,3}(?:(?:,|\{,\})[0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)
  | \\(?P<name>[a-zA-Z]+)
  | \\(?P<escaped>[{}])
  | (?P<space>[\s~$&]|\\[\\,;:!()\[\] ])
  | (?P<sign>[-+*/=xX()\[\]{}])
    """,
    re.VERBOSE,
)
# commands that only change size or spacing
_SPACES = re.compile(
    r"left|right|[bB]igg?[lrm]?|displaystyle|textstyle|q?quad|(?:thin|med|thick|en)space|(?:no)?limits"
)
_SIGNS = {
    "times": "*",
    "cdot": "*",
    "ast": "*",
    "bullet": "*",
    "div": "/",
    "slash": "/",
    "minus": "-",
    "lbrack": "[",
    "rbrack": "]",
    "lparen": "(",
    "rparen": ")",
}
_BRACES = {"lbrace": r"\{", "rbrace": r"\}"}
# Commands that print their argument, and change only its style
_WRAPPERS = re.compile(
    r"text(?:bf|it|rm|sf|tt|normal)?|math(?:rm|bf|it|sf|tt|normal|op|bin|ord)|[mhf]box|boxed|boldsymbol|bm|operatorname"
)
_FRACTIONS = frozenset(("frac", "dfrac", "tfrac", "cfrac"))
_ENVIRONMENT = re.compile(r"\s*\{(?:align|aligned|split|gather|gathered|equation|array)\*?\}(?:\{[lcr]*\})?")
_BRACKETS = {"(": ("open", "("), "[": ("open", "["), ")": ("close", "("), "]": ("close", "[")}


class _Scanner:
    """One pass over the text.

    `closers` is a stack with an entry for each LaTeX brace that is still open: `group`, or the argument in the braces
    (`numerator`, `denominator` or `wrapped`).
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.tokens: list[ArithmeticToken] = []
        self.closers: list[str] = []
        # the argument that LaTeX expects next: `numerator`, `denominator` or `wrapped`; empty when it expects none
        self.awaits = ""

    def run(self) -> list[ArithmeticToken]:
        while self.at < len(self.text):
            match = _ITEM.match(self.text, self.at)
            if match is None:
                raise NotArithmeticError(f"unexpected {self.text[self.at]!r} in {short(self.text)}")
            self.at = match.end()
            group = match.lastgroup
            found = match[str(group)]
            if group == "space":
                continue
            if self.awaits and found != "{":
                self._one_digit(match)
            elif group == "number":
                self._number(found)
            elif group == "name":
                self._command(found)
            elif group == "escaped":
                self._bracket("open" if found == "{" else "close", r"\{")
            else:
                self._sign(found)
        if self.closers or self.awaits:
            raise NotArithmeticError(f"{short(self.text)} ends inside a brace")
        return self.tokens

    def _number(self, found: str) -> None:
        plain = re.sub(r"[,{}]", "", found)
        if plain[0] == "0" and plain[1:2].isdigit():
            raise NotArithmeticError(f"unexpected '0' at the start of {found!r}")
        self.tokens.append(ArithmeticToken("number", plain))

    def _one_digit(self, match: re.Match[str]) -> None:
        r"""Read an argument without braces, which is one digit in LaTeX: `\frac12` is 1/2."""
        if self.awaits == "wrapped" or match.lastgroup != "number" or not match[0][0].isdigit():
            raise NotArithmeticError(f"unexpected {match[0]!r} in {short(self.text)}: an argument in braces is missing")
        self.at = match.start() + 1
        self.tokens.append(ArithmeticToken("open", "(", "arg"))
        self.tokens.append(ArithmeticToken("number", match[0][0]))
        self._argument_ends(self.awaits)

    def _argument_ends(self, which: str) -> None:
        self.tokens.append(ArithmeticToken("close", ")", "arg"))
        if which == "numerator":
            self.tokens.append(ArithmeticToken("operator", "/"))
            self.awaits = "denominator"
        else:
            self.tokens.append(ArithmeticToken("close", ")", "frac"))
            self.awaits = ""

    def _command(self, name: str) -> None:
        if name in _FRACTIONS:
            self.tokens.append(ArithmeticToken("open", "(", "frac"))
            self.awaits = "numerator"
        elif _WRAPPERS.fullmatch(name):
            self.awaits = "wrapped"
        elif name in _SIGNS:
            self._sign(_SIGNS[name])
        elif name in _BRACES:
            self._bracket("open" if name == "lbrace" else "close", r"\{")
        elif name in ("begin", "end") and (environment := _ENVIRONMENT.match(self.text, self.at)):
            self.at = environment.end()
        elif not _SPACES.fullmatch(name):
            shown = "\\" + name
            raise NotArithmeticError(f"unexpected {shown!r} in {short(self.text)}")

    def _sign(self, sign: str) -> None:
        if sign == "{":
            self.closers.append(self.awaits or "group")
            if self.awaits != "wrapped":
                self.tokens.append(ArithmeticToken("open", "(", "arg" if self.awaits else "{"))
            self.awaits = ""
            return
        if sign == "}":
            self._brace_closes()
        elif sign in _BRACKETS:
            self._bracket(*_BRACKETS[sign])
        else:
            self.tokens.append(ArithmeticToken("operator", "*" if sign in "xX" else sign))

    def _brace_closes(self) -> None:
        if not self.closers:
            raise NotArithmeticError(f"unexpected '}}' in {short(self.text)}")
        which = self.closers.pop()
        if which == "group":
            # Empty braces, as in `\times{}`, only end a command
            if self.tokens[-1] == ArithmeticToken("open", "(", "{"):
                self.tokens.pop()
            else:
                self.tokens.append(ArithmeticToken("close", ")", "{"))
        elif which != "wrapped":
            self._argument_ends(which)

    def _bracket(self, kind: str, form: str) -> None:
        self.tokens.append(
            ArithmeticToken("open", "(", form) if kind == "open" else ArithmeticToken("close", ")", form)
        )


def tokenize(text: str) -> list[ArithmeticToken]:
    """The tokens of `text`: numbers, operators (also `=`) and brackets; a fraction becomes a division in brackets.

    Raises:
        NotArithmeticError: the text holds anything else.
    """
    text = _plain(text)
    # `--` is ambiguous: TeX prints it as one dash, arithmetic reads two signs
    if "--" in text:
        raise NotArithmeticError(f"unexpected '--' in {short(text)}: a minus of a minus needs brackets")
    return _Scanner(text).run()


def short(text: str, *, quoted: bool = True) -> str:
    text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 20]}… ({len(text)} characters)"
    return repr(text) if quoted else text
