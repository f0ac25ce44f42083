r"""Mathematical text to tokens: one scanner for LaTeX, plain ASCII mathematics and Unicode.

Two texts with the same tokens are one answer, typeset twice: `\dfrac{1}{2}`, `\frac {1}{2}`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agentscope_tuner.verify.math.tables import CLOSERS, CLOSING, FUNCTIONS, LOOKS, SAME, SPELLED, UNITS, WORDS
from agentscope_tuner.verify.math.unicode import fold, word_end

MAX_CHARS = 12_000
MAX_TOKENS = 3_000


class Unreadable(Exception):
    """The text is not mathematics that this grammar can read."""


class TooComplex(Exception):
    """The text is over a bound (length, tokens, nesting, size of numbers): it is too large to check."""


class Token(NamedTuple):
    """One token of the text.

    Attributes:
        kind: num, sym, name, word, cmd, op, open or close.
        spaced: whether white space stood before the token.
        upright: whether the letter was set upright, as in `\\mathrm{m}`, and may be a unit.
    """

    kind: str
    text: str
    spaced: bool = False
    upright: bool = False


_SPACE = (
    r"\\[ ,;:!>\n\t/]|\\(?:q?quad|space|medspace|thickspace|negthinspace)(?![a-zA-Z])"
    r"|\\[hv]space\*?\{[^{}]*\}|[\s~\u200b\ufeff]"
)
_GROUP = r"(?:\{,\}|,(?:\\!|\{\})[ ]?|\\[,;: ]|,)"
# Colours in which a text is invisible. A command with such a colour is kept as a token, which the parser refuses
_INVISIBLE = r"\s*(?i:white|transparent|none|\#?f{3}(?:f{3})?)\s*\}"
_TOKEN = re.compile(
    rf"""(?P<space>(?:{_SPACE})+)
    |(?P<skip>\$|\\[()\[\]]|\\(?:label|[hv]?phantom)\s*\{{[^{{}}]*\}}|\\(?:text)?color\s*\{{(?!{_INVISIBLE})[^{{}}]*\}}
        |\\tag\*?\{{[^{{}}]*\}})
    |(?P<text>\\(?:text|textbf|textit|textrm|textsf|texttt|textup|textnormal|textsc|mbox)\s*\{{(?P<inner>[^{{}}]*)\}})
    |(?P<roman>\\(?:mathrm|operatorname\*?|mathsf)\s*\{{(?P<mixed>[^{{}}a-zA-Z]*[a-zA-Z]+[^{{}}a-zA-Z][^{{}}]*)\}})
    |(?P<rm>\\(?:mathrm|operatorname\*?|mathop|mathsf|mathbf|mathit|rm)\s*\{{(?:{_SPACE})*(?P<upright>[a-zA-Z.]+)(?:{_SPACE})*\}})
    |(?P<thousands>[1-9]\d{{0,2}}(?:{_GROUP}\d{{3}})+(?!\d)(?:\.\d+)?)
    |(?P<blocks>[1-9]\d{{0,2}}(?:[ ]\d{{3}})+(?![\d])(?:\.\d+)?)
    |(?P<dots>\.\.\.+)
    |(?P<num>(?:\d+(?:\.\d+|\.(?![\w.]))?|\.\d+)(?:[eE][+-]?\d+(?![\d.a-zA-Z]))?)
    |(?P<env>\\(?P<side>begin|end)\s*\{{(?P<name>[a-zA-Z]+\*?)\}}(?:(?<=array\}})\s*\{{[^{{}}]*\}})?)
    |(?P<bb>\\mathbb\s*(?:\{{\s*)?(?P<field>[A-Z])\s*\}}?)
    |(?P<cmd>\\[a-zA-Z]+\*?)
    |(?P<newline>\\\\(?:\[[^\[\]]*\])?)
    |(?P<escaped>\\[{{}}%$\#&_|])
    |(?P<letters>[a-zA-Z]+)
    |(?P<op><=|>=|!=|==|<>|->|=>|\*\*|[-+*/^_=<>!:;,.&%'|()\[\]{{}}?"])
    """,
    re.VERBOSE,
)
_PLAIN = {"==": "=", "<>": "!=", "**": "^", "\\|": "|", "\\%": "%", "\\_": "_", "\\&": "and", "\\#": "#"}
_DOUBLED = re.compile(r"\\\\(?=[a-zA-Z]{2})")
_SEPARATOR = re.compile(r"\{,\}|\\!|\{\}|\\[,;: ]|[, ]")


def tokenize(text: str) -> list[Token]:
    """The tokens of `text`, without formatting. Linear in the text.

    Raises:
        TooComplex: the text is longer than the bounds.
        Unreadable: the text holds an ASCII character that mathematics does not use, or half a surrogate pair.
    """
    if len(text) > MAX_CHARS:
        raise TooComplex(f"{len(text)} characters, more than {MAX_CHARS}")
    if not text.isascii():
        text = fold(text)
    if "\\\\" in text and "\\begin" not in text:
        # The text was escaped once too often: `\\frac` was `\frac`
        text = _DOUBLED.sub("\\\\", text)
    out: list[Token] = []
    _scan(text, False, out)
    if len(out) > MAX_TOKENS:
        raise TooComplex(f"{len(out)} symbols, more than {MAX_TOKENS}")
    return out


def _scan(text: str, in_text: bool, out: list[Token]) -> None:
    at, spaced, depth = 0, False, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            at = _foreign(text, at, spaced, out)
            spaced = False
            continue
        kind = match.lastgroup or ""
        if kind == "thousands" and depth and "," in match.group() and not re.search(r"\{,\}|\\", match.group()):
            # Inside brackets a bare comma separates elements, not thousands
            match = re.compile(r"\d+").match(text, at) or match
            kind = "num"
        found = match.group()
        at = match.end()
        if kind == "space":
            spaced = True
            continue
        if kind == "skip":
            continue
        if kind in ("escaped", "op", "cmd"):
            depth += _bracket(found)
        _EMIT.get(kind, _emit_op)(match, found, spaced, in_text, out)
        spaced = kind == "text" and found[:-1].endswith(" ")


def _bracket(found: str) -> int:
    return (found in ("(", "[", "\\{")) - (found in (")", "]", "\\}"))


def _foreign(text: str, at: int, spaced: bool, out: list[Token]) -> int:
    """Emit a character that no pattern matches, and return the place after it.

    A run of another alphabet's letters (Chinese, Cyrillic) is a word, which equals only itself, even if its letters
    look Latin. Any other character may change the meaning of the text around it, so the text must not be read without
    it: the character becomes an operator that the parser does not know.
    """
    end = word_end(text, at)
    if end > at:
        out.append(Token("word", text[at:end], spaced))
        return end
    if ord(text[at]) < 128 or 0xD800 <= ord(text[at]) < 0xE000:
        raise Unreadable(f"the character {text[at]!r}")
    out.append(Token("op", text[at], spaced))
    return at + 1


def _emit_number(match: re.Match[str], found: str, spaced: bool, in_text: bool, out: list[Token]) -> None:
    # Keep the point of `0.` if repeating digits follow: `0.\overline{3}`
    repeats = match.string.startswith(("\\overline", "\\dot", "\\bar"), match.end())
    out.append(Token("num", _SEPARATOR.sub("", found if repeats else found.rstrip(".")), spaced))


def _emit_text(match: re.Match[str], found: str, spaced: bool, in_text: bool, out: list[Token]) -> None:
    inside = match.group("inner")
    before = len(out)
    _scan(inside, True, out)
    if len(out) > before and (spaced or inside[:1].isspace()):
        out[before] = out[before]._replace(spaced=True)


def _emit_roman(match: re.Match[str], found: str, spaced: bool, in_text: bool, out: list[Token]) -> None:
    _scan(match.group("mixed"), True, out)


def _emit_upright(match: re.Match[str], found: str, spaced: bool, in_text: bool, out: list[Token]) -> None:
    name = match.group("upright")
    if len(name) == 1:
        out.append(Token("sym", name, spaced, upright="rm" in found))
    elif "operatorname" in found and name not in FUNCTIONS:
        out.append(Token("name", name, spaced))
    else:
        _emit_letters(match, name, spaced, "rm" in found, out)


def _emit_letters(match: re.Match[str] | None, found: str, spaced: bool, in_text: bool, out: list[Token]) -> None:
    if found == "sec" and in_text and out and out[-1].kind == "num":
        out.append(Token("word", found, spaced))
    elif found in FUNCTIONS:
        out.append(Token("cmd", "\\" + found, spaced))
    elif found in SPELLED:
        out.append(Token("cmd", SPELLED[found], spaced))
    elif len(found) == 1:
        out.append(Token("sym", found, spaced, in_text))
    elif in_text or _is_word(found):
        out.append(Token("word", found, spaced))
    else:
        tail = next(
            (name for name in (found[1:], found[2:]) if len(name) > 1 and name in FUNCTIONS | SPELLED.keys()), ""
        )
        for letter in found[: len(found) - len(tail)]:
            out.append(Token("sym", letter, spaced))
            spaced = False
        if tail:
            _emit_letters(None, tail, False, False, out)


def _is_word(found: str) -> bool:
    return (
        (len(found) > 3 and not _glued(found))
        or found.lower() in WORDS
        or found in UNITS
        or (len(found) == 3 and found.isupper())
    )


def _glued(found: str) -> bool:
    return any(found[cut:] in FUNCTIONS and len(found) - cut > 2 for cut in (1, 2))


def _emit_env(match: re.Match[str], found: str, spaced: bool, in_text: bool, out: list[Token]) -> None:
    out.append(Token("cmd", f"\\{match.group('side')}", spaced))
    out.append(Token("name", match.group("name").rstrip("*")))


def _emit_field(match: re.Match[str], found: str, spaced: bool, in_text: bool, out: list[Token]) -> None:
    out.append(Token("cmd", "\\mathbb{" + match.group("field") + "}", spaced))


def _emit_command(match: re.Match[str], found: str, spaced: bool, in_text: bool, out: list[Token]) -> None:
    name = found[1:].rstrip("*")
    if name in ("left", "right") and match.string[match.end() : match.end() + 1] == "|":
        out.append(Token("cmd", "\\" + name, spaced))
        return
    if name in LOOKS or name in ("left.", "right."):
        return
    same = SAME.get(name, "\\" + name)
    if same in ("and", "or", "not"):
        out.append(Token("word", same, spaced))
    elif same.startswith("\\") or same in ("->", "=>"):
        kind = "open" if same in CLOSERS else "close" if same in CLOSING else "cmd" if same.startswith("\\") else "op"
        out.append(Token(kind, same, spaced))
    else:
        out.append(Token("open" if same in CLOSERS else "close" if same in CLOSING else "op", same, spaced))


def _emit_op(match: re.Match[str], found: str, spaced: bool, in_text: bool, out: list[Token]) -> None:
    found = _PLAIN.get(found, found)
    if found == "!=" and not spaced and out and out[-1].kind == "num" and [t.text for t in out[-2:-1]] != ["_"]:
        # `5!=120` is a factorial and an equals sign: nobody states that two numbers differ
        out += [Token("op", "!"), Token("op", "=")]
        return
    if found == "and":
        out.append(Token("word", found, spaced))
        return
    if found == "." and match.string[: match.start()].endswith(("\\left", "\\right")):
        return
    kind = "open" if found in CLOSERS else "close" if found in CLOSING else "op"
    if found.startswith("\\\\"):
        found = "\\\\"
    out.append(Token(kind, found, spaced))


def _emit_dots(match: re.Match[str], found: str, spaced: bool, in_text: bool, out: list[Token]) -> None:
    out.append(Token("cmd", "\\ldots", spaced))


_EMIT = {
    "dots": _emit_dots,
    "text": _emit_text,
    "roman": _emit_roman,
    "rm": _emit_upright,
    "thousands": _emit_number,
    "blocks": _emit_number,
    "num": _emit_number,
    "env": _emit_env,
    "bb": _emit_field,
    "cmd": _emit_command,
    "letters": _emit_letters,
}
