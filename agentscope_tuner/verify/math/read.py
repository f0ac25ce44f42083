"""Texts to sides: what stands around a box, the wrapping and the words around a value, then tokens, nodes, readings.

A box is the answer where it is a whole side of a formula, or fills a gap in one. The grammar of answers reads the
formula, with a symbol in the place of the box.

Words around a number may change it. So a word is removed only if the question has it too, or if it is in a list of
harmless words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice, takewhile

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.verify.asked_clause import JOINING, without_own_words
from agentscope_tuner.verify.find import PlacedAnswer, last_boxes
from agentscope_tuner.verify.math.canonical import key
from agentscope_tuner.verify.math.exact import exact_value
from agentscope_tuner.verify.math.node import (
    MARKS,
    Array,
    Collection,
    Negation,
    Node,
    Product,
    Quantity,
    Quotient,
    Relation,
    Symbol,
    Text,
    UndefinedCall,
    difference,
    is_decimal,
    needs_sympy,
    substituted,
    symbols,
    walk,
)
from agentscope_tuner.verify.math.parse import parse_tokens
from agentscope_tuner.verify.math.prose import (
    FIELD_NAMES,
    NEUTRAL,
    Allows,
    Fields,
    StatesSeveral,
    allowed,
    candidates,
    choice,
    cycles,
    is_sentence,
    signs,
    time_of_day,
    undressed,
    without_qualifier,
)
from agentscope_tuner.verify.math.question import (
    LABEL_ROWS,
    NO_QUESTION,
    Question,
    about,
)
from agentscope_tuner.verify.math.resolve import Family, Reading, componentwise, resolve, written_out
from agentscope_tuner.verify.math.scan import (
    WORD_SETS,
    Kept,
    Token,
    TooComplex,
    Unreadable,
    is_missing,
    lost_backslash,
    on_own_stack,
    respelled,
    tokenize,
    with_modulus,
)
from agentscope_tuner.verify.math.units import (
    COUNTERS,
    EXPONENTS,
    TEMPERATURES,
    is_physical,
    known,
    operates,
    singular,
    unit_named,
    unknown_words,
)
from agentscope_tuner.verify.number_words import in_chinese_figures, is_number_word, number_in_words, numbers_said
from agentscope_tuner.verify.remarks import turned
from agentscope_tuner.verify.words import (
    DENIES,
    IS_HANGUL,
    IS_UNSPACED,
    REASONS,
    SUPPOSES,
    VERBS,
    WORDS,
    Asked,
    denies,
    operated,
    shifts,
)

_THE_BOX = Symbol("the box")
_PLACEHOLDER = Token("sym", "the box")
_OPENED = re.compile(r"\$\$?|\\[(\[]|\n\s*\n")
_CLOSED = re.compile(r"\$\$?|\\[)\]]|\n\s*\n")
# A formula in plain text: signs, numbers, commands and single letters
_SIGN = (
    r"(?:[.,](?=\d)|[-+−*/^_=<>≤≥≠()\[\]|!%×·÷→\s]|\d[\d.,]*+|\\(?!q?quad|text|boxed)[a-zA-Z]+|[{}]"
    r"|(?<![\w'’])[b-hj-zB-HJ-Z](?![\w'’]))"
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
_OTHER_BEHIND = re.compile(r"\s*\$?\s*(?:\bor\b|或者?)\s*\$?([-−]?\d[\d,]*)(?![\d.]*[\d/%^])", re.IGNORECASE)


def said_by(found: PlacedAnswer, question: str | None) -> tuple[str, str]:
    """The answer that a place states with what stands around it, and the reason why it is none; empty for an answer."""
    text, before, behind = found.text or "", found.before, found.behind
    if not before and not behind:
        return text, ""
    if not found.boxed:
        return text, _beside(text, before, behind, question)
    while (wrapped := _WRAPPED.search(before)) is not None and behind.lstrip()[:1] == "}":
        before, behind = before[: wrapped.start()], behind.lstrip()[1:]
    if _ALONE_BEFORE.search(before[-_NEAR_BOX:]) and _ALONE_BEHIND.match(behind):
        said, problem = text, ""
    else:
        front, back = _formula(before, behind)
        # a letter before a box in plain text is a name: `for $x$ \boxed{5}`
        plain = not back.strip(" .,;:$") and before.rpartition("\n")[2].count("$") % 2 == 0 and "\\(" not in before
        gaps = plain or _OF_COEFFICIENTS.search(question or "") is not None
        said, problem = _in_formula(text, front, back, has_gaps=gaps)
    return said, problem or _equated(before, behind, question) or _beside(text, before, behind, question)


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


def _beside(text: str, before: str, behind: str, question: str | None) -> str:
    """Why the words beside a box make no answer of it, or another one: half of it, a doubt, another candidate."""
    if (word := turned(text, before, behind, _asked(about(question) or NO_QUESTION))) != "":
        return f"unread: {word!r} beside the answer"
    if not any(map(str.isdigit, text)):
        return ""
    before = before[-_NEAR_WORDS:]
    others = (
        _OTHER_BEFORE.search(before) if "or" in before.lower() or "或" in before else None,
        _OTHER_BEHIND.match(behind),
    )
    different = any(other is not None and _digits(other[1]) != _digits(text) for other in others)
    return "another value beside the box" if different else ""


def _asked(question: Question) -> Asked:
    """What the question lets stand beside its answer, and in a sentence that states it."""
    return Asked(
        question.text.lower(),
        lambda word: allowed(word, question.words, question.text),
        lambda word: (
            known(singular(word := word.strip("²³°")))
            or unit_named(word) is not None
            or word in (*TEMPERATURES, "sq", "cu")
        ),
    )


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


def _multiplies(member: Node) -> bool:
    """Whether a box is the factor of an unknown: `\\boxed{5}x`, and no amount such as `\\boxed{5}m`."""
    return isinstance(member, Product) and not symbols(member).isdisjoint("xyz") and _THE_BOX in member.args


def _in_formula(text: str, front: str, back: str, *, has_gaps: bool = False) -> tuple[str, str]:
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
    member = _read_tokens([*mine, _PLACEHOLDER, *theirs])
    if member is None:
        opened = any(t.text in _OPEN or t.kind == "cmd" for t in mine) or any(
            t.text in _SHUT or t.text == "^" for t in theirs
        )
        return (text, "") if not opened else (text, "unread: the formula around the box")
    core, negative = member, False
    while isinstance(core, (Negation, *MARKS)):
        negative ^= isinstance(core, Negation)
        core = core.inside
    if negative:
        text = f"-{text}" if re.fullmatch(r"\d[\d.,/]*", text) else f"-\\left({text}\\right)"
    if core != _THE_BOX:
        if symbols(member) - {_THE_BOX.name} and not any(n == Symbol("i") for n in walk(member)):
            return text, "" if has_gaps or not _multiplies(member) else "the box is a part of a formula"
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


def _read_tokens(tokens: list[Token]) -> Node | None:
    try:
        return parse_tokens(tokens)
    except (Unreadable, TooComplex, RecursionError):
        return None


def _value(tokens: list[Token]) -> Fraction | None:
    node = _read_tokens(tokens) if tokens else None
    return None if node is None or symbols(node) else exact_value(node)


def _fills_gap(member: Node, text: str, left: list[Token], right: list[Token]) -> bool:
    """Whether the formula is an equation that the box makes true: `3+\\boxed{4}=7`."""
    try:
        inside = tokenize(text)
    except (Unreadable, TooComplex):
        return False
    whole = _read_tokens([*left, Token("open", "("), *inside, Token("close", ")"), *right])
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


_LONGEST = 300
_WRITING = re.compile(r"\\(?:text|textbf|mathrm|textrm|mbox)(?![a-zA-Z])|[{}]|\\[ ,;:!]|~")
_NUMBER = r"[-+]?(?:\\?\$|[￥¥])?\d[\d,]*(?:\.\d+)?(?:/\d+)?(?:\\?%)?"
_HAN = re.compile(r"[\u4e00-\u9fff]")
_IN_CHINESE = re.compile(rf"(?P<before>[^\\$^_=<>]*?)(?P<value>{_NUMBER})\s*[（(]?(?P<after>[\u4e00-\u9fff/]*)[）)]?")
_HARMLESS = tuple(
    sorted(
        """答案 答 一共 总共 总计 合计 共有 共计 共 有 是 为 需要 需 要 可以 能 可 还剩 剩下 剩 还 得到 得 等于 应该
        应 用 花费 花了 花 卖了 卖 买了 买 付 现价 所以 因此 故 则 即 他们 她们 它们 她 他 它 每天 的 了 最后 最终
        结果 现在 ， , ： : 。""".split(),  # noqa: SIM905
        key=len,
        reverse=True,
    )
)
# Words that change the number before them: 五个半 is five and a half, 四十多 more than forty
_CHANGES = re.compile("[半多余倍成折几约分左右]")
# Words that deny or change the number after them (is not 8, half is 8), even if the question has them too
_TAKES_BACK = re.compile(
    r"(?:不是|不为|不等于|并非|不到|不足|不止|不超过|没有|未到|多于|少于|大于|小于|超过|低于|高于|不|没|未|非"
    r"|半数?[是为有]?|倍[是为于]?|除了|除去|减去|加上|乘以|负|大?约|接近|将近|几乎|错[的误]?[是为]?|的)$"
)
_FEWEST_SHARED = 2
_CALLED = re.compile(
    r"(?:(?:\\mathbb\s*\{?[EP]\}?|\\Pr|\\(?:text|mathrm|operatorname)\{(?:Var|Pr|P|E)\}|[PECA]|Var|Pr|\\(?:var)?phi"
    r")\s*(?:\\left)?[(\[]"
    r"(?P<said>[^()\[\]]{2,60}?|[A-Z\d])(?:\\right)?[)\]]|(?:\\left)?\[[^=\[\]]{1,60}\]_\S{1,12}?\^\S{1,12}?"
    r"|(?:\\left)?\|(?:\\overline\{?)?[A-Z]{1,3}\}?(?:\\right)?\||\\(?:bar|overline|hat|tilde)\s*\{?[a-zA-Z]\}?"
    r"|\(?[a-zA-Z]\s*\\circ\s*[a-zA-Z]\)?\s*\([a-z\d]+\)|\\#\s*[A-Z]|A_\{?\d+\}?\^\{?\d+\}?|\\\|[^|=]{1,30}\\\|"
    r"|\|\s*\\(?:vec|mathbf|boldsymbol|overrightarrow)\s*\{?[a-zA-Z]{1,2}\}?\s*\|)\s*=\s*(?=\S)"
)
# A name with what it is applied to: `\operatorname{kgV}(6,8) =`
_NAMED_CALL = re.compile(
    r"\\(?:operatorname|text|mathrm)\s*\{(?P<name>[^\W\d_]{2,20})\}\s*(?P<of>\([^()=]{1,40}\)|[A-Z])?\s*=\s*(?=\S)"
)
_MOST_COUNTED = 3
_POINT = re.compile(r"[A-Z](?:'|_\d)?\s*(?:\\left)?(?=\([^()]*[,;|][^()]*\)$)")
_POINT_LISTED = re.compile(r"(?<![\w\\])[A-Z](?:'|_\d)?\s*(?:\\left)?(?=\([^()]*[,;|][^()]*\))")
_SCALED = re.compile(rf"({_NUMBER})\s+(dozens?|hundreds?|thousands?|millions?|billions?)", re.IGNORECASE)
_OUT_OF = re.compile(r"(\d{1,30}) (?:out of|in) (\d{1,30})")
_LEADING = re.compile(r"\\text\s*\{\s*([a-zA-Z ]{2,60}?)\s*\}(?:\\[ ,;:!]|~|\s)*(?=\\left|[(\[\\])")
_PART = re.compile(r"\\text\s*\{\s*of (?:the |a |an |all |his |her |their )?([a-z ]{2,40}?)\s*\}$")
# An extreme value by its name, and the place where it is attained
_EXTREME = re.compile(
    r"(?:\\text\s*\{\s*)?(?:the\s+)?(?:[a-zA-Z]\s*_\s*\{?\s*)?(?:\\(?:text|mathrm)\s*\{\s*)?\\?(?P<name>max"
    r"|min)(?:imum|imal)?"
    r"(?:\s+value)?(?:\s+(?:is|of))?\s*:?\s*\}*(?:\s*[a-zA-Z](?:\([a-z]\))?)?\s*(?:=|(?<=[\s}]))\s*(?=[-\d\\(.])"
)
_ATTAINED = re.compile(
    r"(?:,|\\[ ,;:]|~|\s)*(?:\\text\s*\{[\s,(]*(?:(?:attained|reached|achieved|occurring|obtained"
    r"|which is attained)\s+)?"
    r"(?:at|when|for|if|where|bei|für|wenn|pour|lorsque|en|cuando|per|quando|при|когда|当|时|で)\s*\$?\}(?:\\[ ,;:]|~"
    r"|\s)*|\((?=[a-z]\s*=))"
    r"(?P<place>[a-zA-Z]\s*=\s*[^=,;]{1,60}|\([^()]{1,40}\)(?:\s*=\s*\([^()]{1,40}\))?)\s*\)?$"
)
_BOUND_IN_WORDS = re.compile(
    r"(?:all )?(?:the )?(?:real )?(?:numbers?|values|reals|x) (?:that are )?(?P<more>greater|larger|more"
    r"|bigger|less|smaller|fewer)"
    r" than (?P<equal>or equal to )?(?P<end>-?\d+(?:\.\d+)?(?:/\d+)?)"
)
_PLACES = frozenset({"on", "over", "in", "at", "for", "when", "from", "interval", "point"})
_CHANCES = frozenset({"probability", "chance", "chances", "likelihood", "likely", "fraction", "proportion"})
_TOLD_WORD = re.compile(r"[a-zA-Z]{2,}")
_MODULO = re.compile(
    r"(\d{1,30})\s*(?:\\pmod|\\bmod|\\mod|\(?\s*(?:\\text\{\s*)?mod\s*\}?)\s*\{?\s*(\d{1,30})\s*\}?\)?"
)
_ASKED_MODULUS = re.compile(r"(?:modulo|mod|divided by)\W{0,8}(\d+)", re.IGNORECASE)
_REMAINDERS = frozenset({"mod", "modulo", "remainder", "remainders", "congruent", "residue"})
_UNIT_VECTOR = re.compile(
    r"(?:\\(?:mathbf|hat|vec|boldsymbol|overrightarrow)\s*\{?\s*(?:\\(?:mathbf|hat|vec|boldsymbol)\s*\{?\s*)?"
    r"\\?([ijk])(?:math)?\s*\}?\s*\}?)"
)
_VECTOR_NAME = re.compile(r"\\(?:vec|mathbf|boldsymbol|overrightarrow)\s*(?:[a-zA-Z]|\{\s*[a-zA-Z]{1,2}\s*\})")


def uncalled(text: str, question: Question) -> str:
    r"""The value after a call with an equals sign, as after `P(\text{sum}=7) =`, `C(9,4) =` or `[-\cos x]_0^\pi =`."""
    match = _CALLED.match(text) if "=" in text else None
    if match is None:
        named = _NAMED_CALL.match(text) if "=" in text else None
        if named is None or named["name"].lower() not in question.words:
            return text
        given = re.findall(r"\d+|[a-zA-Z]", named["of"] or "")
        return text[named.end() :] if all(one in question.text for one in given) else text
    words = _TOLD_WORD.findall(_WRITING.sub(" ", match["said"] or ""))
    known_ = all(word.isupper() or allowed(word, question.words, "") for word in words)
    return text[match.end() :] if known_ else text


def in_figures(text: str, asked: str = "") -> str:
    r"""A number in words as digits: 42 for `\text{forty-two}`, with the words after it; any other text as it is.

    Args:
        asked: the question's text, whose Roman numbers are not read.
    """
    if _HAN.search(text):
        return in_chinese_figures("".join(_WRITING.sub(" ", text).split())) or text
    roman = _ROMAN.fullmatch("".join(_WRITING.sub(" ", text).split()))
    if roman is not None and "{" in text and roman[2] not in asked:
        digits = [_ROMAN_DIGITS[one] for one in roman[2]]
        signed = (-one if one < after else one for one, after in zip(digits, [*digits[1:], 0], strict=True))
        return f"{roman[1]}{sum(signed)}"
    words = _WRITING.sub(" ", text).split()
    words = [{"halves": "half", "fourth": "quarter", "fourths": "quarter"}.get(word, word) for word in words]
    size = sum(1 for _ in takewhile(lambda word: is_number_word(word) or word.lower() == "and", words))
    found = list(numbers_said(" ".join(words[:size])))
    if len(found) == 1 and [word.rstrip("s") for word in words[size:]] in _PARTS_OF_ONE:
        return f"\\frac{{{found[0]}}}{{{_PARTS_OF_ONE.index([words[size].rstrip('s')]) + 2}}}"
    if not found and (foreign := number_in_words(words)) is not None:
        size = foreign[1]
        found = [Fraction(foreign[0])]
    if len(found) != 1 or len(words) - size > _MOST_COUNTED or not all(w.isalpha() for w in words[size:]):
        return text
    return f"{found[0]}\\text{{ {' '.join(words[size:])}}}" if words[size:] else str(found[0])


# A Roman number, as of an oxidation state: `+\mathrm{VII}`
_ROMAN = re.compile(r"([-+]?)(?=[IVX])(X{0,3}(?:IX|IV|V?I{0,3}))")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10}
_PARTS_OF_ONE = [[word] for word in "half third quarter fifth sixth seventh eighth ninth tenth".split()]  # noqa: SIM905


def counted(text: str, question: Question) -> str:
    """The 3 of `3 dozen`, if the question asks how many dozen; any other text as it is."""
    match = _SCALED.fullmatch(_WRITING.sub(" ", text).strip()) if question.counted else None
    return match[1] if match is not None and {match[2].lower(), singular(match[2])} & question.counted else text


def chance(text: str, question: Question) -> str:
    r"""`3 \text{ out of } 8` as a fraction, if the question is about a probability or a fraction; else the text."""
    match = _OUT_OF.fullmatch(" ".join(_WRITING.sub(" ", text).split())) if _CHANCES & question.words else None
    return text if match is None else f"\\frac{{{match[1]}}}{{{match[2]}}}"


def extreme(text: str, question: Question) -> str:
    r"""The 3 of `y_{\min}=3` or of `3\text{ at }x=2`, if the question asks for that extreme value; else the text."""
    if not any(sign in text for sign in ("min", "max", "=")):
        return text
    match = _EXTREME.match(text)
    if match is not None and question.asks_extreme(match["name"]):
        text = text[match.end() :].strip()
        text = text[:-1] if text.endswith("}") and text.count("}") > text.count("{") else text
    if question.asks_extreme("min") or question.asks_extreme("max"):
        attained = _ATTAINED.search(text)
        text = text[: attained.start()] if attained is not None and attained.start() > 0 else text
    return text


def least(text: str, question: Question) -> str:
    r"""The 9 of `9 \pmod{10}`, if the question is about remainders; any other text as it is."""
    match = _MODULO.fullmatch(text) if "mod" in text else None
    if match is None or not (_REMAINDERS & question.words or "\\pmod" in question.text):
        return text
    moduli = _ASKED_MODULUS.findall(question.text)
    asked = not moduli or match[2] in moduli
    return match[1] if asked and int(match[1]) < int(match[2]) else text


def unlabelled(text: str, ref: Node) -> str:
    """`V(1, 4)` as `(1, 4)`, without the point's name, also in a list of which a point is one; else the text."""
    if isinstance(ref, Collection) and any(isinstance(one, Collection) for one in ref.args):
        return _POINT_LISTED.sub("", text)
    match = _POINT.match(text)
    return text[match.end() :] if match is not None else text


def components(text: str) -> str:
    r"""`5\mathbf{i}+2\mathbf{j}-\mathbf{k}` as the tuple `(5, 2, -1)`; any other text as it is."""
    name, equals, vector = text.rpartition("=")
    if equals and len(text) <= _LONGEST and _VECTOR_NAME.fullmatch(name.strip()):
        return vector.strip() if (found := components(vector)) == vector else found
    parts = _UNIT_VECTOR.split(text) if len(text) <= _LONGEST else []
    # The coefficient before each unit vector, the vector's letter, and the text after the last vector
    before, letters, rest = parts[:-1:2], parts[1::2], parts[-1] if parts else ""
    known = {letter: _coefficient(one) for letter, one in zip(letters, before, strict=True)}
    if letters == ["k"] and known == {"k": "1"} and not rest.strip():
        return "(0, 0, 1)"
    if rest.strip() or len(letters) < 2 or letters != sorted(set(letters)) or None in known.values():
        return text
    size = "ijk" if "k" in letters else "ij"
    return f"({', '.join(known.get(letter) or '0' for letter in size)})"


def _coefficient(text: str) -> str | None:
    text = re.sub(r"\\[,;:! ]", "", text).strip().removeprefix("+").strip()
    return None if "(" in text or "," in text else {"": "1", "-": "-1"}.get(text, text)


# A value among words: a formula with a digit
_IN_WORDS = re.compile(
    r"(?:\\[a-zA-Z]+|\\[%$]|[\d+\-−*/^_=<>()\[\]|$%!°{}]|[.,:](?=\d)"
    r"|(?<![^\W\d_'’])[a-zA-Z](?=\s?[=^_(]|\d)| (?=[-+*/=<>\d]))+"
)
_WORDED = re.compile(r"(?<![\\a-zA-Z])[^\W\d_]{2}")
_AT = frozenset("at on in by from for with to".split())  # noqa: SIM905
_SUPERLATIVES = frozenset("only smallest largest greatest".split())  # noqa: SIM905
_NOT_BEHIND = (VERBS - JOINING) | {"and"}
_NO_FORMULA = frozenset("=<>:{}^_\\()/")
_NAMED_SO = re.compile(r"^\s*[a-zA-Z]\s?=(?!=)")
_RELATED = re.compile(r"[=<>:]|\\(?:[gl]eq?|neq?|[gl]t|in|equiv|approx|sim)(?![a-z])")
_SET_WORDS = re.compile(r"\\(?:text[a-z]*|mathrm|mathbf|mbox)\s*\{([^{}]*)\}|(?:\\[ ,;:!]|\\q?quad(?![a-z])|~)+")


def told(text: str, question: Question) -> str:
    r"""The value of a sentence whose words are understood, with its unit: 8 for `\text{Es gibt 8 Teiler}`."""
    if not any(map(str.isdigit, text)):
        return text
    if _HAN.search(text):
        return _in_chinese(" ".join(_WRITING.sub(" ", text).split()).rstrip(" .。"), question) or text
    found = _sentence(text, question) if _WORDED.search(text) is not None else None
    if found is None:
        return _without_lead(text, question)
    _, value, behind = found
    words = behind.split()
    units = list(takewhile(lambda word: word != "in" and (known(singular(word)) or word in EXPONENTS), words))
    if any(is_physical(((singular(word), 1),)) and word != "in" for word in words[len(units) :]):
        return text
    return f"{value}\\text{{ {' '.join(units)}}}" if units else value


def _sentence(text: str, question: Question) -> tuple[str, str, str] | None:
    """The value of a sentence, and the words before and behind it; None where one of them is not understood.

    Its other numbers are the question's. A value that stands where the question has another one is not the answer.
    """
    plain = _without_condition(
        " ".join(_SET_WORDS.sub(lambda said: f" {said[1] or ''} ", text).split()).rstrip(" ."), question.text
    )
    asked = _asked(question)
    values = [one for one in _IN_WORDS.finditer(plain) if any(map(str.isdigit, one[0]))]
    own = [one for one in values if not asked.has(one[0].strip())] if len(values) > 1 else values
    if len(own) != 1 or _RELATED.search(_NAMED_SO.sub("", own[0][0])) is not None:
        return None
    before, value, behind = plain[: own[0].start()], own[0][0].strip(), plain[own[0].end() :].rstrip(" .。")
    led, followed = ([word.lower() for word in WORDS.findall(said)] for said in (before, behind))
    if (
        not (led or followed)
        or not _NO_FORMULA.isdisjoint(before.rstrip(" :") + behind)
        or (len(values) > 1 and {"and", "or"}.issuperset(WORDS.findall(plain[values[0].end() : values[-1].start()])))
        or not all(_may_be_said(word, question, asked) for word in (*_without_deed(led, asked), *followed))
        or any(asked.counts(word) and not asked.says(word) and word not in JOINING for word in led)
        or _is_changed(before, behind, followed, asked)
    ):
        return None
    return before, value, behind


def _without_deed(led: list[str], asked: Asked) -> list[str]:
    """The words before a value without what somebody does to it: `she takes`."""
    who = len(led) == 2 and (led[0] in ("he", "she", "it") or asked.has(led[0]))
    deed = who and led[1].endswith("s") and not operates(led[1])
    return led[:1] if deed else led


def _is_changed(before: str, behind: str, followed: list[str], asked: Asked) -> bool:
    """Whether understood words stand so that they change a value, or where the words of a language are not parted."""
    if IS_HANGUL.search(before + behind) is not None or IS_UNSPACED.search(before + behind) is not None:
        return True
    if behind[:1] not in ("", " ", ",") or any(len(word) == 1 and word.isascii() for word in followed):
        return True
    if not _NOT_BEHIND.isdisjoint(followed) or _stands_for_another(before, behind, asked.text):
        return True
    alone = not before.strip() and len(followed) == 1 and (operates(followed[0]) or followed[0] in _AT)
    return alone or operated(before.lower(), asked) != "" or shifts(before.lower()) != ""


def _stands_for_another(before: str, behind: str, asked: str) -> bool:
    """Whether a value stands where another one stands: `eats 5` where she `eats 3`, `at 5`, `5 of the girls`."""
    led = WORDS.findall(before.lower())
    if _first(behind) == "of" or (led and led != ["in"] and (led[-1] in _AT or led[-1].endswith("'s"))):
        return True
    given = re.search(rf"(?<!\w){re.escape(' '.join(led[-2:]))} \W{{0,2}}[\d.,]+\W*(\w*)", asked) if led else None
    names = JOINING.isdisjoint(led) and VERBS.isdisjoint(led)
    return given is not None and (names or given[1] == _first(behind))


def _first(text: str) -> str:
    return next(iter(WORDS.findall(text.lower())), "")


def _without_condition(plain: str, asked: str) -> str:
    """The text without the question's last words: `8 primes less than 20` becomes `8 primes`."""
    asked = " ".join(asked.replace("$", "").split()).rstrip(" ?.").lower()
    words = plain.split()
    for at in range(2, len(words) - 1):
        if words[at - 1].isalpha() and asked.endswith(" " + " ".join(words[at:]).lower()):
            return " ".join(words[:at])
    return plain


def _may_be_said(word: str, question: Question, asked: Asked) -> bool:
    """Whether a word of a sentence in a box changes nothing: it only joins others, or the question has it."""
    if word in SUPPOSES or word in DENIES or word in REASONS:
        return False
    if word in JOINING or word in NEUTRAL or word in VERBS or {word, singular(word)} & question.counted:
        return True
    if not question.text and word in _SUPERLATIVES:
        return True
    return not (operates(word) or operates(singular(word))) and (asked.says(word) or asked.counts(word))


def _without_lead(text: str, question: Question) -> str:
    r"""The value without a lead or a noun.

    `\text{increasing on }(2,\infty)` becomes `(2, \infty)`, and `\frac58\text{ of the pizza}` becomes `\frac58`.
    """
    match = _LEADING.match(text)
    if match is not None and question.text and all(_may_lead(word, question) for word in match[1].split()):
        text = text[match.end() :]
    match = _PART.search(text)
    if match is not None and _CHANCES & question.words and all(w.lower() in question.words for w in match[1].split()):
        text = text[: match.start()]
    return text


def _may_lead(word: str, question: Question) -> bool:
    """Whether a word may stand before an interval or a point: a preposition, or a word of the question."""
    word = word.lower()
    return word in _PLACES or (word in question.words and word not in ("not", "no", "never", "except", "or"))


def _in_chinese(plain: str, question: Question) -> str | None:
    match = _IN_CHINESE.fullmatch(plain.replace(" ", ""))
    asked = question.text.replace(" ", "")
    if match is None:
        return None
    before, after = match["before"], match["after"]
    if _TAKES_BACK.search(before) or not _is_harmless(before, asked) or _is_given(before, asked):
        return None
    if not after or known(after) or all(map(known, after.split("/"))):
        return f"{match['value']}\\text{{{after}}}" if after else match["value"]
    counted = after[1:] if after[0] in COUNTERS else after
    if _CHANGES.search(after) or not counted or counted not in asked:
        return None
    return match["value"]


def _is_given(before: str, asked: str) -> bool:
    """Whether the question gives the number of one thing and asks for another's: `甲每分钟走80米，乙每分钟走多少`."""
    behind = [asked[at.end() : at.end() + 1] for at in re.finditer(re.escape(before), asked)] if before else []
    if not behind or not all(map(str.isdigit, behind)):
        return False
    said = (before[at:] for at in range(1, len(before) - 1))
    return any(f"{words}多少" in asked or f"{words}几" in asked for words in said)


def _is_harmless(before: str, asked: str) -> bool:
    """Whether the text can be cut into harmless words and pieces of the question."""
    at = 0
    while at < len(before):
        size = next((len(word) for word in _HARMLESS if before.startswith(word, at)), 0)
        end = at + max(size, 1)
        while end < len(before) and before[at : end + 1] in asked:
            end += 1
        if not size and (end - at < _FEWEST_SHARED or before[at:end] not in asked):
            return False
        at = end if before[at:end] in asked else at + size
    return True


_TEXT = r"\\(?:text|textbf|mathrm|textrm|mbox)"
_GAP = r"(?:\\[ ,;:!~]|\\q?quad|~|\s)*"
_NAME = re.compile(
    rf"{_GAP}(?:{_TEXT}\s*\{{\s*(?:the\s+)?(?P<inside>[a-zA-Z][a-zA-Z ]{{0,30}}?"
    rf"|[\u4e00-\u9fff]{{1,8}}?)\s*[:=：是为]?\s*"
    rf"(?:\bis\s*)?\}}{_GAP}[:=：]?"
    rf"|(?P<bare>[a-zA-Z]{{2,20}}(?: [a-zA-Z]{{2,20}})?)\s*[:=])"
    rf"{_GAP}(?P<value>\S(?:.*\S)?){_GAP}"
)
_PARTED = re.compile(
    rf"[,;，；](?!\d{{3}}(?!\d))|\\q?quad|{_TEXT}\s*\{{\s*(?:,\s*)?and\s+\}}|\\\\|\band\b(?![^{{}}]*\}})"
)
_LETTERED = re.compile(
    rf"(?:^|(?<=[\s,;~}}])"
    rf"|(?<=quad))(?:{_TEXT}\s*\{{\s*)?\(\s*(?:{_TEXT}\s*\{{\s*)?([a-h1-8]|[iv]{{1,4}})\s*\}}?\s*\)\s*\}}?[:.]?{_GAP}"
)
# An object as JSON or as Python writes it, or a list of texts, that a data set holds as a text
_RECORD = re.compile(r"""\{\s*(["'])[^"']*\1\s*:|\[\s*(["'])""")
_NUMBERED = re.compile(r"\s*\(1\)(?=.*\(2\))")
_BETWEEN = re.compile(r"(?:\\[ ,;:!~]|\\q?quad|[~\s,;.])*+\Z")
_DIMENSIONS = frozenset({"dimension", "dimensions", "length", "width", "size", "rectangle", "sides"})
_BY = re.compile(rf"(\d[\d.]*){_GAP}(?:{_TEXT}\s*\{{\s*by\s*\}}|by){_GAP}(\d[\d.]*)")
_FEWEST = 2
_LABELS = re.compile(rf"{_TEXT}\s*\{{|[a-z]\s*[:=]")


def with_names(text: str, question: Question) -> str:
    """Each labelled value as an equation `name=value`; any other text as it is. The question must hold every name."""
    if not question.text or len(text) > _LONGEST or not _LABELS.search(text):
        return text
    found = [_NAME.fullmatch(part) for part in _PARTED.split(text) if part.strip(" ~\\,;:!")]
    if len(found) < _FEWEST or None in found:
        return text
    named = [(" ".join((m["inside"] or m["bare"]).lower().split()), m["value"]) for m in found if m is not None]
    if any(not _is_in_question(name, question) for name, _ in named) or len({name for name, _ in named}) < len(named):
        return text
    return ",\\ ".join(f"\\text{{{name}}}={value}" for name, value in named)


def _is_in_question(name: str, question: Question) -> bool:
    if not name.isascii():
        return name in question.text
    return all(
        word in question.words and allowed(word, question.words, "") and not known(singular(word)) and word != "or"
        for word in name.split()
    )


def by_letters(text: str, reference: str) -> str:
    r"""The lettered parts in order: `(a) 5, (b) 2` as `(5, 2)`. Where the reference has letters too, they are kept."""
    marks = list(_LETTERED.finditer(text)) if len(text) <= _LONGEST else []
    said = [m[1] for m in marks]
    if len(marks) < _FEWEST or text[: marks[0].start()].strip() or said not in [row[: len(said)] for row in LABEL_ROWS]:
        return text
    ends = [*(m.start() for m in marks[1:]), len(text)]
    values = [_BETWEEN.sub("", text[m.end() : end]).strip() for m, end in zip(marks, ends, strict=True)]
    if not all(values):
        return text
    if "(a)" in reference:
        return ", ".join(f"({m[1]}) {value}" for m, value in zip(marks, values, strict=True))
    return text if any("," in value for value in values) else f"({', '.join(values)})"


_TWO_COMPARED = re.compile(r"(?P<first>[^<>]+?)\s*(?:(?P<more>>|\\gt(?![a-z]))|<|\\lt(?![a-z]))\s*(?P<second>[^<>]+)")
_WHICH_OF_TWO = re.compile(
    r"\b(?:which|welche\w*|quel\w*|cuál|quale|как\w+)\b[^?]{0,60}?\b(?:(?P<more>greater|larger|bigger|größer"
    r"|plus grande?|mayor"
    r"|maggiore|maior|больше)|less|smaller|kleiner|plus petite?|menor|minore|меньше)\b",
    re.IGNORECASE,
)


def chosen_of(text: str, question: Question) -> str:
    """The greater one of `3^{20}>2^{30}` where the question offers both and asks for the greater; else the text."""
    asked = _WHICH_OF_TWO.search(question.text)
    match = _TWO_COMPARED.fullmatch(text) if asked is not None else None
    if match is None or asked is None:
        return text
    try:
        offered = all(key(parse_tokens(tokenize(match[name]))) in question.formulas for name in ("first", "second"))
    except (Unreadable, TooComplex):
        return text
    if not offered:
        return text
    return match["first" if (match["more"] is None) == (asked["more"] is None) else "second"]


_IN_BASE = re.compile(r"\(?(?P<digits>\d{1,60})\)?_\{?(?P<base>\d{1,2})\}?")


def without_asked_base(text: str, question: Question) -> str:
    """The digits of `110_2` where the question asks for base 2; any other text as it is."""
    match = _IN_BASE.fullmatch(text)
    asked = match is not None and re.search(rf"\b(?:in|to) base \$?{match['base']}(?!\d)", question.text, re.IGNORECASE)
    return match["digits"] if match is not None and asked else text


def by_sides(text: str, question: Question) -> str:
    r"""`8 \text{ by } 5` as `8, 5`, where the question asks for dimensions; any other text as it is."""
    match = _BY.fullmatch(text.strip()) if _DIMENSIONS & question.words else None
    return text if match is None else f"{match[1]}, {match[2]}"


_VALUE = r"-?\d+(?:\.\d+)?(?:/\d+)?|-?\\[dt]?frac\{?\d+\}?\{?\d+\}?"
_EXCLUSION = re.compile(
    rf"(?:\\[ ,;:!]|\\q?quad|[\s,;({{~]|\\text\s*\{{[\s,(]*(?:for|where|if|when|with|provided|,)?\s*\}})+"
    rf"(?P<name>[a-zA-Z])\s*(?:\\neq?(?![a-zA-Z])|≠|!="
    rf"|\\not\s*=)\s*(?P<values>(?:{_VALUE})(?:\s*,\s*(?:{_VALUE}))*)\s*[)}}]*$"
)
_MOST_FORMULAS = 40
# The signs of a chain that puts its members in order
_SORTED = re.compile(r"\\[lg]t(?![a-zA-Z])|[<>]")


def without_exclusion(text: str, question: Question) -> str:
    """The text without its exclusion, if each excluded value is a zero of a denominator in the question's formulas.

    Any other text as it is.
    """
    match = _EXCLUSION.search(text) if any(sign in text for sign in ("\\ne", "≠", "!=", "\\not")) else None
    if match is None or not text[: match.start()].strip():
        return text
    below = [
        part.below
        for formula in islice(question.formulas.values(), _MOST_FORMULAS)
        for part in walk(formula)
        if isinstance(part, Quotient) and symbols(part.below) == {match["name"]}
    ]
    values = [_read_tokens(tokenize(value)) for value in match["values"].split(",")]
    held = all(v is not None and any(exact_value(substituted(b, match["name"], v)) == 0 for b in below) for v in values)
    return text[: match.start()] if held else text


_SHOWN = 80
_DELIMITED = re.compile(
    r"\$\$(.*)\$\$|\$([^$]*)\$|\\\((.*)\\\)|\\\[(.*)\\\]|\*\*([^*]+)\*\*|\*([^*]+)\*|__([^_]+)__|`+([^`]+)`+", re.DOTALL
)
_OPENING = ("$", "\\", "*", "_", "`")
_GSM8K = re.compile(r"####\s*(.*?)\s*$", re.DOTALL)
_ROUGH = re.compile(r"\s*(?:~+(?=\s*\\?[-+$\d])|\\(?:approx|sim|simeq)(?![a-zA-Z])|≈|∼)")
_FOOTNOTE = re.compile(r"[\d)}\]]\s*\^\s*\{?\s*(?:\*|\\(?:ast|star|dagger|ddagger)\b|[†‡])\s*\}?\s*$|[†‡*]\s*$")
_WORD = re.compile(r"[^\W\d_]+")
# An index that is a word, as in `x_{false}`
_INDEX_WORD = re.compile(r"(?<![\\\w])[^\W\d_]{2,}|[^\x00-\u036f]+")
_SHORTEST_INDEX = 3
_POINT_NAMES = frozenset("ABCDEFGHPQRS")
_LISTS = re.compile("[=,;<>]")


@dataclass(frozen=True)
class Side:
    """A text with its tokens and its meaning. A text that is not mathematics has no reading, and equals only itself."""

    text: str
    tokens: tuple[str, ...]
    node: Node | None
    reading: Reading | None
    problem: str = ""
    # the domain of a free name, if the text states it
    fields: Fields | None = None
    # the letter of a choice before the value
    letter: str | None = None
    # the sentence that states the value, if the reference was a sentence
    sentence: str = ""

    def wording(self) -> str:
        """The text in the form in which words are compared."""
        said = [t for t in self.tokens if t not in (".", ",")]
        # Spaces keep two neighbouring numbers from becoming one longer number
        return "".join(f" {t} " if t[:1].isdigit() else t for t in said).lower()


def short(text: str) -> str:
    """The text for a message; of a long text its beginning and its length."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 20]}… ({len(text)} characters)"


def bare(text: str) -> str:
    r"""The answer without its wrapping: a box, `$…$`, `\(…\)`, white space, a final full stop."""
    for _ in range(4):
        before = text
        text = text.strip()
        if text[:1] in _OPENING and (match := _DELIMITED.fullmatch(text)):
            text = next(g for g in match.groups() if g is not None).strip()
        if text.endswith(".") and not text.endswith(".."):
            text = text[:-1].rstrip()
        if text == before:
            break
    return text


@lru_cache(maxsize=1024)
def reference(text: str) -> str:
    """The answer in a data set's reference: the text after `####`, the content of the last box, or the whole text.

    Cached between verdicts, as readings are (see `read_reference`): without the cache an exact match takes a fifth more
    CPU time.

    Raises:
        JudgeError: the reference is empty, damaged, or a missing or infinite number.
    """
    if "####" in text and (match := _GSM8K.search(text)):
        text = match[1]
    elif "\\boxed" in text or "\\fbox" in text:
        # Do not strip: a leading tab or line break may be the rest of a damaged backslash
        text = next(reversed(last_boxes(text)), text)
    if (lost := lost_backslash(text)) is not None:
        raise JudgeError(f"the reference answer {short(text)!r} is damaged: it holds {lost}", cause=Cause.REFERENCE)
    text = bare(text)
    if not text:
        raise JudgeError("the row's reference answer is empty: fill its cell, or drop the row", cause=Cause.REFERENCE)
    # spreadsheets write these; where answers are words, `N/A` may be one
    if is_missing(text) or text.upper() in ("N/A", "#N/A"):
        raise JudgeError(
            f"the reference answer {text!r} is a missing or infinite number, no answer: fill its cell, or drop the row",
            cause=Cause.REFERENCE,
        )
    if _RECORD.match(text):
        raise JudgeError(
            f"the reference answer {short(text)!r} is a record or a list of texts, no answer: name what of it is one, "
            "such as `reads: {answer: COLUMN.FIELD}` or `COLUMN.0` under astuner.task_judge",
            cause=Cause.REFERENCE,
        )
    return text


def _allows_all(word: str) -> bool:
    """What a reference may have around its value: it is trusted."""
    return not operates(word) or word.lower() in NEUTRAL


def _read(text: str, allows: Allows = _allows_all) -> Side:
    """The side with its tokens and its node; `_resolved` adds the reading."""
    chosen = choice(text)
    letter, rest = chosen if chosen is not None else (None, text)
    try:
        rest = by_letters(rest, "") if _NUMBERED.match(rest) else rest
        rest = components(rest) if any(sign in rest for sign in ("\\mathbf", "\\hat", "\\vec")) else rest
        tokens = tokenize(undressed(respelled(rest), allows))
    except Unreadable as exc:
        return Side(text, (), None, None, str(exc))
    while tokens and tokens[-1].text in (".", ","):
        tokens.pop()
    keys = _key(tokens)
    tokens, fields = without_qualifier(with_modulus(tokens))
    try:
        return Side(text, keys, parse_tokens(tokens), None, "", fields, letter)
    except Unreadable as exc:
        return Side(text, keys, None, None, str(exc), fields, letter)


def _resolved(side: Side) -> Side:
    """The side with its reading; without a node if the node cannot be resolved."""
    if side.node is None:
        return side
    try:
        reading = resolve(componentwise(written_out(side.node)))
    except Unreadable as exc:
        return replace(side, node=None, problem=str(exc))
    fields = side.fields
    if isinstance(reading, Family) and reading.range.field in FIELD_NAMES:
        fields = frozenset({FIELD_NAMES[reading.range.field]})
    return replace(side, reading=reading, fields=fields)


def _key(tokens: list[Token]) -> tuple[str, ...]:
    # The case of a short word may matter: `Mg` is not `mg`
    return tuple(t.text.lower() if t.kind == "word" and len(t.text) > 3 else t.text for t in tokens)


def read_answer(text: str, ref: Side, question: Question | None) -> Side:
    """Read an answer; its reference and the question decide which words may be removed.

    Raises:
        TooComplex: the answer is over a bound.
    """
    lost = lost_backslash(text)
    if lost is not None:
        return Side(text, (), None, None, f"the answer holds {lost}")
    asked = question or NO_QUESTION
    if asked.speaks_of_rounding and ref.node is not None and is_decimal(ref.node):
        # it says that it is rounded, as it is to be
        text = _ROUGH.sub("", text, count=1) if _ROUGH.match(text) else text.removeprefix("約").removeprefix("约")
    text = _concluded(text)
    doubtful = _doubt(respelled(text) if "mathbb" in text else text)
    if doubtful is not None:
        return Side(text, (), None, None, doubtful)
    if "=" in text and not _LISTS.search(ref.text) and asked.asked_for:
        with suppress(Unreadable):
            if asked.asks_another(list(takewhile("=".__ne__, (t.text for t in tokenize(text))))):
                return Side(text, (), None, None, "another name than the question asks for")
    if other := _other_kind(text, ref.text, asked):
        return Side(text, (), None, None, other)
    words = {word.lower() for word in _WORD.findall(f"{ref.text} {ref.sentence}")}
    said = asked.words.union(words, map(singular, words))

    def allows(word: str) -> bool:
        return allowed(word, said, asked.text)

    side = _read(_without_introduction(text, ref, asked), allows)
    strange = None if side.node is None else next(_strange_words(side.node, allows, asked, ref), None)
    if strange is not None:
        return replace(side, node=None, problem=f"the word {strange!r}")
    return _resolved(side)


_PAIR = re.compile(r"\(\s*[^(),;<>=]+,\s*[^(),;<>=]+\)")
_OF_POINTS = re.compile(
    r"\b(?:points?|coordinates|midpoint|punkt\w*|koordinaten|coordonnées|coordenadas|coordinate|punto|ponto)\b"
    r"|坐标|座標|координат|좌표",
    re.IGNORECASE,
)
_BOUNDS = re.compile(r"[<>≤≥]|\\(?:le|ge|lt|gt|in)q?(?![a-zA-Z])|^\s*(?:\\left)?\]")
_VALUES = re.compile(r"=|\band\b")


def _other_kind(text: str, ref: str, question: Question) -> str:
    """Why an answer is no such thing as `(1, 2)` is in the question: an interval where it is a point, or values."""
    if _PAIR.fullmatch(ref) is None:
        return ""
    if question.has_inequality or "interval" in question.words:
        return "values for an interval" if _VALUES.search(text) and not _BOUNDS.search(text) else ""
    return "an interval for a point" if _OF_POINTS.search(question.text) and _BOUNDS.search(text) else ""


def _without_introduction(text: str, ref: Side, question: Question) -> str:
    """The answer without the words and labels around its value; a text over `_LONGEST` as it is."""
    if len(text) > _LONGEST:
        return text
    if (dollar := _DOLLAR.match(text)) is not None and dollar["country"] in question.text:
        text = text[dollar.end("country") :]
    if "=" not in ref.text:
        text = uncalled(text, question)
    if question.text and any(map(str.isdigit, ref.text)) and "=" not in ref.text:
        text = chosen_of(without_own_words(text, question.text, _measures), question)
        text = without_asked_base(text, question) if ref.text.isdigit() else text
    if isinstance(ref.node, Collection) and question.asks_order and _SORTED.search(text):
        text = _SORTED.sub(", ", text)
    if isinstance(ref.node, (Array, Collection)):
        text = by_sides(with_names(by_letters(text, ref.text), question), question)
        text = unlabelled(components(text), ref.node)
    if text[-1:].isalpha() or text.endswith("}"):
        text = in_figures(text, question.text) if any(map(str.isdigit, ref.text)) else text
    if isinstance(ref.node, Relation) and (
        match := _BOUND_IN_WORDS.fullmatch(" ".join(_WRITING.sub(" ", text).split()))
    ):
        sign = ">" if match["more"] in ("greater", "larger", "more", "bigger") else "<"
        return f"{next(iter(sorted(symbols(ref.node))), 'x')}{sign}{'=' if match['equal'] else ''}{match['end']}"
    text = chance(counted(text if "=" in ref.text else extreme(text, question), question), question)
    return told(least(without_exclusion(text, question), question), question)


# The dollar of a country: `R\$ 68`
_DOLLAR = re.compile(r"(?P<country>[A-Z]{1,2})\\?\$")


def _measures(word: str) -> bool:
    return operates(word) or is_physical(((singular(word), 1),))


def _concluded(text: str) -> str:
    r"""The `x=5` of `2^x=2^5 \\implies x=5`: what the steps before it lead to, none of which gives its name a value."""
    *steps, last = _IMPLIES.split(text)
    named = _ASSIGNED.match(last) if steps else None
    if named is None or any(_ASSIGNED.fullmatch(step) or named[1] not in _LETTERS.findall(step) for step in steps):
        return text
    return last.strip()


_IMPLIES = re.compile(r"\\(?:implies|[Rr]ightarrow|[Ll]ongrightarrow|Longrightarrow)(?![a-zA-Z])|[⇒⟹]")
_ASSIGNED = re.compile(r"\s*([a-zA-Z])\s*=[^=]+")
_LETTERS = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z](?![a-zA-Z])")


def _doubt(text: str) -> str | None:
    r"""The mark that weakens an answer's value: `~42`, `42^{*}`; None without one. It is named for the reason."""
    if _ROUGH.match(text):
        return "a sign before the value that says about"
    return "a footnote's mark behind the value" if _FOOTNOTE.search(text[-_SHOWN:]) else None


def _strange_words(node: Node, allows: Allows, question: Question, ref: Side) -> Iterator[str]:
    """The words in an answer that are not understood: behind a number, as a name, in an index."""
    if isinstance(node, Text):
        return
    for n in walk(node):
        if isinstance(n, Quantity):
            unknown = (w for w in unknown_words(n.unit) if w.lower() not in question.counted)
            yield from (w for w in unknown if w in NEUTRAL or not allows(w))
        elif isinstance(n, Text) and n.words.lower() not in WORD_SETS:
            yield from (w for w in n.words.split() if not allows(w) and not w.isupper())
        elif (
            isinstance(n, Relation) and any(isinstance(a, Text) for a in n.args[1:]) and not isinstance(ref.node, Text)
        ):
            # the names of a ratio stand before its equals sign
            names = len(list(takewhile(":".__eq__, n.operators))) if "=" in n.operators else 0
            yield from (
                a.words for a in n.args[names + 1 :] if isinstance(a, Text) and a.words.lower() not in WORD_SETS
            )
        elif isinstance(n, (Symbol, UndefinedCall)) and "_" in (
            name := n.name if isinstance(n, Symbol) else n.function
        ):
            index = _INDEX_WORD.findall(name.partition("_")[2])
            yield from (w for w in index if w not in ref.text and not _may_be_index(w, allows, question))


def _may_be_index(word: str, allows: Allows, question: Question) -> bool:
    """Whether a word may be a name's index: it names points, is allowed, or begins a word of the question."""
    if word.isupper() and word.isascii():
        return set(word) <= _POINT_NAMES or (bool(question.text) and set(word).issubset(question.text))
    begins = len(word) >= _SHORTEST_INDEX and re.search(rf"(?<!\w){re.escape(word.lower())}", question.text.lower())
    return allows(word) or (bool(begins) and not operates(word) and not denies(word.lower()))


@lru_cache(maxsize=1024)
def read_reference(text: str, question: Question | None) -> Side:
    """Read a reference, which is trusted.

    Cached between verdicts, because an advantage group has eight or more answers to the same reference: reading it for
    each of them takes 1.7 times the CPU time. Within a verdict the `Pair` keeps it.

    Raises:
        JudgeError: the reference cannot be read, is over the bounds, or states several values.
    """
    try:
        side = on_own_stack(_read_stated, with_names(text, question or NO_QUESTION) if _HAN.search(text) else text)
    except TooComplex as exc:
        raise JudgeError(
            f"the reference answer {short(text)!r} is over the bounds: {exc}", cause=Cause.REFERENCE
        ) from exc
    except StatesSeveral as exc:
        raise JudgeError(
            f"the reference answer {short(text)!r} states several things: give the one that was asked for",
            cause=Cause.REFERENCE,
        ) from exc
    if side.node is None and not _is_wording(side):
        raise JudgeError(f"the reference answer {short(text)!r} cannot be read: {side.problem}", cause=Cause.REFERENCE)
    return side


def _read_stated(text: str) -> Side:
    """A reference, or the value that it states if it is a sentence; without a value it is compared word by word."""
    side = _resolved(_read(text))
    if not is_sentence(text) or (side.fields is not None and not _has_words(side)):
        return side
    for stated in candidates(text):
        found = _resolved(_read(bare(stated)))
        if not _has_words(found) or time_of_day(found.text) is not None:
            return replace(found, sentence=text)
    return replace(side, node=None, reading=None, problem=side.problem or "a sentence that states no value")


def _has_words(side: Side) -> bool:
    return side.node is None or any(isinstance(n, Text) for n in walk(side.node))


def _is_wording(side: Side) -> bool:
    """Whether a reference that is not mathematics can be compared word by word, like a date or a name."""
    brackets = [side.tokens.count(opener) - side.tokens.count(closer) for opener, closer in ("()", "[]", "{}")]
    named = any(t[:1].isalpha() or t[:1] >= "\u2460" for t in side.tokens)
    return (named and not any(brackets)) or cycles(side.text) is not None or signs(side.text) is not None


@dataclass(frozen=True)
class Pair:
    """The input of every stage of one comparison."""

    answer: str
    truth: str
    question: Question | None

    @classmethod
    def of(cls, answer: str, truth: str, question: str | None) -> Pair:
        """The comparison of two bare texts."""
        return cls(answer, truth, about(question))

    @property
    def seed(self) -> str:
        """The seed of the random points. It holds the answer, so nobody can write an answer that fits known points."""
        return f"{self.answer}|{self.truth}"

    @Kept
    def ref(self) -> Side:
        """The reference.

        Raises:
            JudgeError: the reference cannot be read.
        """
        return read_reference(self.truth, self.question)

    @Kept
    def ans(self) -> Side:
        """The answer.

        Raises:
            TooComplex: the answer is over a bound.
        """
        return read_answer(self.answer, self.ref, self.question)

    def is_for_sympy(self) -> bool:
        """Whether a side has a part that sympy may evaluate and the symbolic stage cannot."""
        ref, ans = self.ref.node, self.ans.node
        return ref is not None and ans is not None and needs_sympy(ref, ans)
