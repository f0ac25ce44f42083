"""What stands around a box: it is the answer where it is a whole side of a formula, or fills a gap in one.

The grammar of answers reads the formula, with a symbol in the place of the box.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from agentscope_tuner.verify.find import PlacedAnswer
from agentscope_tuner.verify.math.exact import exact_value
from agentscope_tuner.verify.math.node import (
    MARKS,
    Degrees,
    Negation,
    Node,
    Percent,
    Product,
    Quotient,
    Symbol,
    difference,
    symbols,
    walk,
)
from agentscope_tuner.verify.math.parse import parse_tokens
from agentscope_tuner.verify.math.prose import allowed
from agentscope_tuner.verify.math.question import NO_QUESTION, Question, about
from agentscope_tuner.verify.math.tokens import Token, TooComplex, Unreadable, tokenize
from agentscope_tuner.verify.math.units import IN_LOWER_CASE, TEMPERATURES, UNIT_LETTERS, known, singular, unit_named
from agentscope_tuner.verify.remarks import stands_plainly, turned
from agentscope_tuner.verify.words import Asked

_THE_BOX = Symbol("the box")
_PLACEHOLDER = Token("sym", "the box")
_OPENED = re.compile(r"\$\$?|\\[(\[]|\n\s*\n")
_CLOSED = re.compile(r"\$\$?|\\[)\]]|\n\s*\n")
# A formula in plain text: signs, numbers, commands and single letters
_SIGN = (
    r"(?:[.,](?=\d)|[-+−*/^_=<>≤≥≠()\[\]|!%×·÷→\s]|\d[\d.,]*+|\\(?!q?quad|text|boxed)[a-zA-Z]+|[{}]"
    r"|\\%|(?<![\w'’])[b-hj-zB-HJ-Z](?![\w'’]))"
)
_PLAIN_BEFORE = re.compile(rf"(?:(?<=[\s:：，。,$*(])|^|(?<=[^\x00-\x7f])){_SIGN}*+\Z")
_PLAIN_BEHIND = re.compile(rf"{_SIGN}*+")
# What may stand before a box that is all of its formula: nothing, the end of a sentence's part, or a word
_ALONE_BEFORE = re.compile(
    r"(?:^|\n|\\n|[:：,，;。*_`，、]|(?<!(?<![\d.])0)\.|<\/?[a-zA-Z_]{1,20}>|(?<![\\a-zA-Z])[a-zA-Z]{2,}"
    r"|[^\x00-\x7f−×÷·≤≥≠→√])"
    r"\s*(?:(?:\$\$?|\\[(\[])\s*(?:\\displaystyle\s*)?(?:[a-zA-Z](?:_\{?\w{1,3}\}?)?\s*=\s*)?)?$"
)
_ALONE_BEHIND = re.compile(
    r"\s*[.,;:。，]?\s*(?:(?:\$\$?|\\[)\]])(?:[^\d^_!]|$)"
    r"|[.,;:!。，*_`]*(?:\s+(?:[a-zA-Z(*\n](?!\s*\$))|<|\s*$|[^\x00-\x7f]|\s*\n\s*[^\W\d_π])|\*\*\s*[^\s\d(\\$*])"
)
_OF_COEFFICIENTS = re.compile("coe[fi]|koeff|współcz|коэфф|系数|係数|계수|factor|slope", re.IGNORECASE)
_NEAR_BOX, _NEAR_WORDS = 40, 80
# A command that only sets the box's type
_WRAPPED = re.compile(r"\\(?:text|math)[a-z]*\s*\{\s*$|\\(?:text)?color\s*\{[a-z]+\}\s*\{\s*$|\\ensuremath\s*\{\s*$")
# In plain text a dash between spaces is a mark, as in `Answer - \\boxed{5}`
_DASH = re.compile(r"\s*[\d.]*\s*[-−–]\s+")
_RELATIONS = frozenset({"=", "<", ">", "<=", ">=", "!=", "~", "->", "=>", "\\equiv", "\\approx", "\\sim", "\\in"})
_ORDERS = frozenset({"<", ">", "<=", ">=", "!="})
_SEPARATORS = frozenset({",", ";", "\\\\", "&", ":", "\\therefore", "\\implies", "\\iff", "=>", "\\quad", "\\begin"})
_OPEN, _SHUT = (
    frozenset({"(", "[", "{", "\\{", "\\lfloor", "\\lceil", "\\langle"}),
    frozenset({")", "]", "}", "\\}", "\\rfloor", "\\rceil", "\\rangle"}),
)
_OTHER_BEFORE = re.compile(r"([-−]?\d[\d,]*)[\s$]*(?:\bor|或者?是?)\s*\$?$", re.IGNORECASE)
_OR = ("or", "或", "者", "是")
_OTHER_BEHIND = re.compile(r"\s*\$?\s*(?:\bor\b|或者?)\s*\$?([-−]?\d[\d,]*)(?![\d.]*[\d/%^])", re.IGNORECASE)


def said_by(found: PlacedAnswer, question: str | None) -> tuple[str, str]:
    """The answer that a place states with what stands around it, and the reason why it is none; empty for an answer."""
    text, before, behind = found.text or "", found.before, found.behind
    asked = asked_of(about(question) or NO_QUESTION, _is_counted_beside)
    if (not before and not behind) or (found.boxed and stands_plainly(text, before, behind, asked)):
        return text, ""
    if not found.boxed:
        return text, _beside(text, before, behind, asked)
    while (wrapped := _WRAPPED.search(before)) is not None and behind.lstrip()[:1] == "}":
        before, behind = before[: wrapped.start()], behind.lstrip()[1:]
    if _ALONE_BEFORE.search(before[-_NEAR_BOX:]) and _ALONE_BEHIND.match(behind):
        said, problem = text, ""
    else:
        front, back = _formula(before, behind)
        # a letter before a box in plain text is a name: `for $x$ \boxed{5}`
        plain = not back.strip(" .,;:$") and before.rpartition("\n")[2].count("$") % 2 == 0 and "\\(" not in before
        gaps = plain or _OF_COEFFICIENTS.search(question or "") is not None
        said, problem = _in_formula(text, front, back, about(question) or NO_QUESTION, has_gaps=gaps)
    return said, problem or _equated(before, behind, question) or _beside(text, before, behind, asked)


def _equated(before: str, behind: str, question: str | None) -> str:
    """Why the equation that a box stands in is not about what the question asks for: `2x=\\boxed{42}` for `x`."""
    asked = about(question)
    if asked is None or "=" not in before[-_NEAR_BOX:] + behind[:_NEAR_BOX] or not asked.asked_for:
        return ""
    front, back = _formula(before, behind)
    try:
        sides = [t for t in tokenize(front) if t.text != "&"], [t for t in tokenize(back) if t.text != "&"]
    except (Unreadable, TooComplex):
        return ""
    for side, direction in zip(sides, (-1, 1), strict=True):
        end = next((at for at, t in enumerate(side[::direction]) if t.text in _SEPARATORS), len(side))
        stated = side[len(side) - end :] if direction < 0 else side[:end]
        # the first member of the chain in which the box stands
        equals = [at for at, t in enumerate(stated) if t.text == "="]
        member = stated[: equals[0]] if direction < 0 and equals else stated[equals[-1] + 1 :] if equals else []
        if asked.asks_another([t.text for t in member]):
            return "the box is equated with what the question does not ask for"
    return ""


def _beside(text: str, before: str, behind: str, asked: Asked) -> str:
    """Why the words beside a box make no answer of it, or another one: half of it, a doubt, another candidate."""
    if (word := turned(text, before, behind, asked)) != "":
        return f"unread: {word!r} beside the answer"
    if not any(map(str.isdigit, text)):
        return ""
    before = before[-_NEAR_WORDS:]
    others = (
        _OTHER_BEFORE.search(before) if before.rstrip(" $\n\t")[-2:].lower().endswith(_OR) else None,
        _OTHER_BEHIND.match(behind),
    )
    different = any(other is not None and _digits(other[1]) != _digits(text) for other in others)
    return "another value beside the box" if different else ""


@lru_cache(maxsize=1_024)
def asked_of(question: Question, counts: Callable[[str], bool] | None = None) -> Asked:
    """What the question lets stand beside its answer, and in a sentence that states it.

    Args:
        counts: see `Asked`; by default the case of a unit's symbol counts: `mW` is not `MW`.
    """
    return Asked(
        question.text.lower(), lambda word: allowed(word, question.words, question.text), counts or _is_counted
    )


def _is_counted(word: str) -> bool:
    if word in ("°c", "°f"):
        return True
    word = word.strip("²³°")
    return known(singular(word)) or unit_named(word) is not None or word in (*TEMPERATURES, "sq", "cu")


def _is_counted_beside(word: str) -> bool:
    """Words beside an answer are compared in lower case; their unit is read elsewhere."""
    return _is_counted(word) or word in IN_LOWER_CASE


def _digits(text: str) -> str:
    return re.sub(r"[\s,$]", "", text).replace("−", "-")


def _formula(before: str, behind: str) -> tuple[str, str]:
    """The parts of the formula before and behind the box, up to its delimiters, or in plain text up to its words."""
    opened = next(reversed(list(_OPENED.finditer(before))), None)
    closed = _CLOSED.search(behind)
    inside = opened is not None and opened[0][:1] in "$\\" and closed is not None and closed[0][:1] in "$\\"
    if inside and opened is not None and closed is not None:
        return before[opened.end() :], behind[: closed.start()]
    plain = _PLAIN_BEFORE.search(before.replace("$", " ").replace("&", " "))
    front = plain[0] if plain is not None and not _DASH.fullmatch(plain[0]) else ""
    back = _PLAIN_BEHIND.match(behind.replace("$", " "))
    return front, back[0] if back is not None else ""


def _is_measured(member: Node, question: Question) -> bool:
    """Whether a formula gives its box a unit, `\\boxed{5}m`, or leaves a gap for it between the question's letters.

    A factor of a letter is no value, `\\boxed{5}x`, nor is a term beside a letter that the question lacks.
    """
    letters = {name for name in symbols(member) if not name.startswith(_THE_BOX.name)}
    if isinstance(member, (Product, Quotient)) or (question.text and not letters <= question.letters):
        return letters <= UNIT_LETTERS
    return True


def _in_formula(text: str, front: str, back: str, question: Question, *, has_gaps: bool = False) -> tuple[str, str]:
    if not front.strip(" $\\") and not back.strip(" .,;:$\\"):
        return text, ""
    try:
        left, right = tokenize(front.replace("\\boxed", "")), tokenize(back)
    except (Unreadable, TooComplex):
        return text, ""
    sides = _side(left, -1), _side(right, 1)
    (mine, operator), (theirs, next_operator) = sides
    while mine and mine[0].kind == "word":
        mine = mine[1:]
    member = read_tokens([*mine, _PLACEHOLDER, *theirs])
    if member is None:
        opened = any(t.text in _OPEN or t.kind == "cmd" for t in mine) or any(
            t.text in _SHUT or t.text == "^" for t in theirs
        )
        return (text, "") if not opened else (text, "unread: the formula around the box")
    core, negative, mark = member, False, ""
    while isinstance(core, (Negation, *MARKS)):
        negative ^= isinstance(core, Negation)
        mark += "\\%" if isinstance(core, Percent) else "^\\circ" if isinstance(core, Degrees) else ""
        core = core.inside
    if negative:
        text = f"-{text}" if re.fullmatch(r"\d[\d.,/]*", text) else f"-\\left({text}\\right)"
    text += mark
    if core != _THE_BOX:
        if symbols(member) - {_THE_BOX.name} and not any(n == Symbol("i") for n in walk(member)):
            return text, "" if has_gaps or _is_measured(member, question) else "the box is a part of a formula"
        return text, "" if _fills_gap(member, text, left, right) else "the box is a part of a formula"
    if operator in _ORDERS or next_operator in _ORDERS:
        return f"{front}{text}{back}".strip(" $."), ""
    return text, _contradicted(text, left, operator) or _contradicted(text, right, next_operator, behind=True)


def _side(tokens: list[Token], direction: int) -> tuple[list[Token], str]:
    """The tokens of the box's member on one side of it, and the relation that ends them."""
    depth = 0
    found: list[Token] = []
    for token in tokens[::direction]:
        opens, shuts = (token.text in _OPEN, token.text in _SHUT)[::direction]
        depth += opens - shuts
        if depth <= 0 and token.text in _SEPARATORS:
            return found[::direction], ""
        if depth <= 0 and token.text in _RELATIONS:
            return found[::direction], token.text
        found.append(token)
    return found[::direction], ""


def read_tokens(tokens: list[Token]) -> Node | None:
    try:
        return parse_tokens(tokens)
    except (Unreadable, TooComplex, RecursionError):
        return None


def _value(tokens: list[Token]) -> Fraction | None:
    node = read_tokens(tokens) if tokens else None
    return None if node is None or symbols(node) else exact_value(node)


def _fills_gap(member: Node, text: str, left: list[Token], right: list[Token]) -> bool:
    """Whether the formula is an equation that the box makes true: `3+\\boxed{4}=7`."""
    try:
        inside = tokenize(text)
    except (Unreadable, TooComplex):
        return False
    whole = read_tokens([*left, Token("open", "("), *inside, Token("close", ")"), *right])
    members = whole.args if whole is not None and getattr(whole, "operators", None) == ("=",) else ()
    if len(members) < 2 or symbols(whole or member):
        return False
    return exact_value(difference(*members)) == 0


def _contradicted(text: str, tokens: list[Token], operator: str, *, behind: bool = False) -> str:
    """Why a number beside the box's relation makes the equation false: `43=\\boxed{42}`."""
    if operator not in ("=", "->"):
        return ""
    at = next(i for i in (range(len(tokens)) if behind else reversed(range(len(tokens)))) if tokens[i].text == operator)
    rest = tokens[at + 1 :] if behind else tokens[:at]
    other, _ = _side(rest, 1 if behind else -1)
    while other and other[0].kind == "word":
        other = other[1:]
    try:
        mine, theirs = _value(tokenize(text)), _value(other)
    except (Unreadable, TooComplex):
        return ""
    if (
        mine is None
        or theirs is None
        or (abs(mine - theirs) * 50 <= abs(theirs) and (mine.denominator, theirs.denominator) != (1, 1))
    ):
        return ""
    return "" if mine == theirs else "the box is equated with another value"
