"""From texts to sides: the wrapping and the words around a value are dropped, then come tokens, nodes, readings.

A `Side` is an answer or a reference that has been read. Words around a number may change it. So a word is removed only
if the question has it too, or if it is in a list of harmless words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache, partial
from itertools import islice, takewhile

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import JOINING_NAMES, same_word
from agentscope_tuner.verify.find import last_boxes
from agentscope_tuner.verify.math.canonical import componentwise, written_out
from agentscope_tuner.verify.math.names import LETTERS, LISTS, bare_formula, bare_formulas, same_value, value_named
from agentscope_tuner.verify.math.node import (
    MARKS,
    Apply,
    Collection,
    Connective,
    Negation,
    Node,
    Product,
    Quantity,
    Relation,
    SetBuilder,
    Symbol,
    Text,
    UndefinedCall,
    is_decimal,
    literal,
    needs_sympy,
    symbols,
    walk,
)
from agentscope_tuner.verify.math.parse import parse_tokens
from agentscope_tuner.verify.math.prose import (
    FIELD_NAMES,
    NEUTRAL,
    Allows,
    StatesSeveral,
    allowed,
    candidates,
    choice,
    cycles,
    is_formula,
    is_of_numbers,
    is_sentence,
    is_value,
    is_wordless,
    signs,
    time_of_day,
    undressed,
    without_qualifier,
)
from agentscope_tuner.verify.math.question import (
    NO_QUESTION,
    Question,
    about,
)
from agentscope_tuner.verify.math.readings import Family, Side, resolve
from agentscope_tuner.verify.math.sentences import (
    by_letters,
    components,
    with_names,
    without_introduction,
    without_rejected,
)
from agentscope_tuner.verify.math.tokens import (
    REALS,
    SPAN,
    UNITS,
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
    measure,
    operates,
    singular,
    unknown_words,
    with_unit_set,
)
from agentscope_tuner.verify.words import (
    COMPARED,
    denies,
)

# An object as JSON or as Python writes it, or a list of texts, that a data set holds as a text
_RECORD = re.compile(r"""\{\s*(["'])[^"']*\1\s*:|\[\s*(["'])""")
_NUMBERED = re.compile(r"\s*(?:\(1\)(?=.*\(2\))|\(a\)(?=[\s$].*[\s;,$]\(b\)[\s$]))")


_SHOWN = 80
_DELIMITED = re.compile(
    r"\$\$(.*)\$\$|\$([^$]*)\$|\\\((.*)\\\)|\\\[(.*)\\\]|\*\*([^*]+)\*\*|\*([^*]+)\*|__([^_]+)__|`+([^`]+)`+|\\[,;:!](.*)"
    r"|\{(?!\s*[\"']|.*\\(?:over|atop|choose|brace)(?![a-z]))(?=(?:[^,;\\]|\\.)*\Z|.*\\in(?![a-z]))"
    r"((?:[^{}\\]|\\[a-zA-Z]|\\[ ,;:!]|\{[^{}]*\})*)\}",
    re.DOTALL,
)
_OPENING = ("$", "\\", "*", "_", "`", "{")
# A number with points between its thousands: `1.234.567`, and with decimals `1.234.567,89`
_POINTS = re.compile(r"(-?[1-9]\d{0,2}(?:\.\d{3}){2,})(?:,(\d+))?(?![\d.,])")
_GSM8K = re.compile(r"####\s*(.*?)\s*$", re.DOTALL)
_ROUGH = re.compile(r"\s*(?:~+(?=\s*\\?[-+$\d])|\\(?:approx|sim|simeq)(?![a-zA-Z])|≈|∼)")
_FOOTNOTE = re.compile(r"[\d)}\]]\s*\^\s*\{?\s*(?:\*|\\(?:ast|star|dagger|ddagger)\b|[†‡])\s*\}?\s*$|[†‡*]\s*$")
_WORD = re.compile(r"[^\W\d_]+")
# A fraction of one thing: `5/12 of an hour`
_PART_OF_ONE = re.compile(r"^(\d+/\d+) of (?:an?|the|one) [a-z]+$")
# A mixed number as it is spoken: `3 \text{ and } \frac{2}{5}`
_MIXED = re.compile(
    r"^(?P<whole>-?\d{1,9})\s*(?:\\text\s*\{\s*and\s*\}|\band\b)\s*"
    r"(?:\\[dt]?frac\s*\{?(?P<a>\d{1,4})\}?\s*\{?(?P<b>\d{1,4})\}?|(?P<c>\d{1,4})/(?P<d>\d{1,4}))"
)
# An index that is a word, as in `x_{false}`
_INDEX_WORD = re.compile(r"(?<![\\\w])[^\W\d_]{2,}|[^\x00-\u036f]+")
_SHORTEST_INDEX = 2
_POINT_NAMES = frozenset("ABCDEFGHPQRS")
# A name for the extreme value of a function: `f(x)_{\min}=`
_EXTREME = re.compile(
    r"(?P<name>[a-zA-Z])(?P<of>\([a-zA-Z]\))?\s*_\s*+(?:\{\s*+)?\\?(?:(?:text|mathrm|rm)\s*\{)?(?P<is>min|max)\s*\}{0,2}"
    r"(?P<behind>\([a-zA-Z]\))?(?=\s*=)"
)


def short(text: str) -> str:
    """The text for a message; of a long text its beginning and its length."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 20]}… ({len(text)} characters)"


def bare(text: str) -> str:
    r"""The text without its wrapping: `5` for `$5$.`, `\(5\)`, `**5**` and `{5}`.

    White space around it, `\displaystyle` and a final full stop are dropped, too. A box stays: see `find.last_boxes`.
    """
    if text.isalnum():
        return text
    for _ in range(4):
        before = text
        text = text.strip()
        if text[:1] in _OPENING and (match := _DELIMITED.fullmatch(text)):
            text = next(g for g in match.groups() if g is not None).strip()
        text = text.removeprefix("\\displaystyle ").removeprefix("\\textstyle ")
        if text[-2:] in ("\\,", "\\;", "\\:", "\\!") and text[-3:-2] != "\\":
            text = text[:-2]
        if text.endswith(".") and not text.endswith(".."):
            text = text[:-1].rstrip()
        if text == before:
            break
    return text


@lru_cache(maxsize=1024)
def reference(text: str) -> str:
    r"""The answer in a data set's reference: the text after `####`, the content of the last box, or the whole text.

    It comes without its wrapping: `42` for `6*7 is $42$. #### 42` and for `so \boxed{42}`.

    Cached between verdicts, as readings are (see `read_reference`): without the cache an exact match takes a fifth more
    CPU time.

    Raises:
        JudgeError: the reference is empty, damaged, a record, or a missing or infinite number.
    """
    if "####" in text and (match := _GSM8K.search(text)):
        text = match[1]
    elif "\\boxed" in text or "\\fbox" in text:
        # Do not strip: a leading tab or line break may be the rest of a damaged backslash
        text = next(reversed(last_boxes(text)), text)
    if (lost := lost_backslash(text)) is not None:
        shown = repr(short(text)).replace(r"\x0c", r"\f").replace(r"\x08", r"\b")
        raise JudgeError(f"the reference answer {shown} is damaged: it holds {lost}", cause=Cause.REFERENCE)
    text = bare(text)
    if not text:
        raise JudgeError("the row's reference answer is empty: fill its cell, or drop the row", cause=Cause.REFERENCE)
    # spreadsheets write `N/A` for an empty cell; `is_missing` does not count it, since a judge of words may ask for it
    if is_missing(text) or text.upper() in ("N/A", "#N/A") or _PLACEHOLDER.fullmatch(text) is not None:
        raise JudgeError(
            f"the reference answer {text!r} stands for a missing or infinite value: fill its cell, or drop the row",
            cause=Cause.REFERENCE,
        )
    if _RECORD.match(text):
        raise JudgeError(
            f"the reference answer {short(text)!r} is a record or a list of texts, no answer: name what of it is one, "
            "such as `reads: {answer: COLUMN.FIELD}` or `COLUMN.0` under astuner.task_judge",
            cause=Cause.REFERENCE,
        )
    if "（" in text:
        text = _FULL_LABEL.sub(r" (\1) ", text).strip()
    text = _PERCENT_FIRST.sub(r"\1\\%", text)
    if (points := _POINTS.match(text)) is not None:
        text = points[1].replace(".", "") + (f".{points[2]}" if points[2] else "") + text[points.end() :]
    return text


# A label in wide brackets: `（1）6（2）4`
_FULL_LABEL = re.compile(r"\s*（\s*(\d|[a-h]|[ivx]{1,4})\s*）\s*")
# A percent sign before its number, `%60`: in an answer it would begin a comment of LaTeX
_PERCENT_FIRST = re.compile(r"\A%\s?(\d+(?:[.,]\d+)?)\Z")


def _allows_all(word: str) -> bool:
    """Whether a word around the value of a reference may be dropped: any, as it is trusted, that changes no number."""
    return not operates(word) or word.lower() in NEUTRAL


def _read(text: str, allows: Allows = _allows_all) -> Side:
    """The side of a text with its tokens and its node, but without its reading, which `_resolved` adds.

    If it cannot be read, the node is None and `problem` says why.

    Args:
        allows: whether a word may be dropped.
    """
    chosen = choice(text)
    letter, rest = chosen if chosen is not None else (None, text)
    try:
        rest = by_letters(rest) if _NUMBERED.match(rest) else rest
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
    """The side with its reading; with a `problem` and without a node if the node has no reading."""
    if side.node is None:
        return side
    node = written_out(side.node) if "\\ldots" in side.tokens else side.node
    try:
        reading = resolve(componentwise(node))
    except Unreadable as exc:
        return side._replace(node=None, problem=str(exc))
    fields = side.fields
    if isinstance(reading, Family) and reading.range.field in FIELD_NAMES:
        fields = frozenset({FIELD_NAMES[reading.range.field]})
    return side._replace(reading=reading, fields=fields)


def _key(tokens: list[Token]) -> tuple[str, ...]:
    """The texts of the tokens, by which two sides are compared: words of over three letters in lower case."""
    # The case of a short word may matter: `Mg` is not `mg`
    return tuple(t.text.lower() if t.kind == "word" and len(t.text) > 3 else t.text for t in tokens)


def _function_of(question: Question, found: re.Match[str]) -> str:
    r"""The function for the name of its extreme value: `f(x)` for `f(x)_{\min}`, if the question asks for that extreme.

    Any other matched name comes back as it is.
    """
    called = re.search(rf"(?<![a-zA-Z]){found['name']}\([a-zA-Z]\)", question.text)
    same = called is not None and (found["of"] or found["behind"] or called[0][1:]) == called[0][1:]
    return called[0] if called is not None and same and question.asks_extreme(found["is"]) else found[0]


def read_answer(text: str, ref: Side, question: Question | None) -> Side:
    """Read an answer; the reference and the question decide which words around its value may be dropped.

    If it cannot be understood, the side has no node, and its `problem` says why.

    Args:
        ref: the reference, as `read_reference` gives it.

    Raises:
        TooComplex: the answer is over a bound.
    """
    asked = question or NO_QUESTION
    told = text if (is_bare := is_value(text)) else _unwrapped(text, ref, asked)
    if isinstance(told, Side):
        return told
    # in `4 times more` the word `more` means a ratio, not a difference
    is_ratio = "times" in told and "times" not in asked.text

    said: list[frozenset[str]] = []

    def allows(word: str) -> bool:
        if not said:
            words = {word.lower() for word in _WORD.findall(f"{ref.text} {ref.sentence}")}
            said.append(frozenset(asked.words.union(words, map(singular, words))))
        return allowed(word, said[0], asked.text) and not (is_ratio and word.lower() in COMPARED)

    side = _read(without_introduction(told, ref, asked), allows)
    is_bare = is_bare or is_of_numbers(told)
    strange = None if is_bare or side.node is None else next(_strange_words(side.node, allows, asked, ref), None)
    if strange is not None:
        return side._replace(node=None, problem=f"the word {strange!r}")
    # `|x| < 2` may be only a step if the question has an inequality, or is not known
    is_step = not asked.text or (asked.has_inequality and not _bounds_asked(side.node, asked))
    node = side.node if is_step else _around_zero(side.node)
    return _resolved(_without_asked_span(side._replace(node=_in_asked_unit(node, asked)), ref, asked))


def _unwrapped(text: str, ref: Side, asked: Question) -> str | Side:
    """The answer without needless words: first `_in_plain_form`, then without the question's label and subject.

    If it states something else than the question asks for, as `f(3)=5` instead of `f(2)`, a `Side` with a `problem` and
    without a node: it is not read any further.
    """
    said = text if is_of_numbers(text) else _in_plain_form(text, ref, asked)
    if isinstance(said, Side):
        return said
    if (labelled := said if FIGURES.fullmatch(said) else _without_label(said, ref, asked)) is None:
        return Side(said, (), None, None, "another name than the question asks for")
    if other := _mismatch_of_kind(labelled, ref.text, asked):
        return Side(labelled, (), None, None, other)
    return _without_subject(labelled, ref.text, asked)


def _in_plain_form(text: str, ref: Side, asked: Question) -> str | Side:
    r"""The answer without marks that change nothing: `5.1` for `~5.1` if the question asks for a rounded value.

    Steps before the value are dropped, too: `x=5` for `2^x=2^5 \implies x=5`. If a mark weakens the answer, such as
    `5?`, or `~5` if no rounding is asked for, a `Side` with a `problem` and without a node.
    """
    lost = lost_backslash(text)
    if lost is not None:
        return Side(text, (), None, None, f"the answer holds {lost}")
    rounded = ref.node.inside if isinstance(ref.node, MARKS) else ref.node
    if asked.speaks_of_rounding and rounded is not None and is_decimal(rounded):
        # the mark says that the value is rounded, which the question asks for
        text = _ROUGH.sub("", text, count=1) if _ROUGH.match(text) else text.removeprefix("約").removeprefix("约")
    text = _ARTICLE.sub(r"\\text{", text) if " o " in asked.text else text
    text = _EXTREME.sub(partial(_function_of, asked), _without_place_of_extreme(_concluded(text), asked), count=1)
    if "and" in text and not LISTS.search(ref.text):
        text = _MIXED.sub(lambda m: f"{m['whole']}\\frac{{{m['a'] or m['c']}}}{{{m['b'] or m['d']}}}", text, count=1)
    doubtful = _doubt(respelled(text) if "mathbb" in text else text)
    return text if doubtful is None else Side(text, (), None, None, doubtful)


_LOCAL_EXTREMES = (("max", re.compile("[極极]大")), ("min", re.compile("[極极]小")))
# The point at which an extreme value is taken: `y_{\\max}=y(2)=5`, `P(50)=2500`, `x=-1\\text{のとき極大値}10`
_TAKEN_AT = re.compile(
    r"(?P<name>[a-zA-Z])(?P<is>(?:\([a-z]\))?_\{?\s*\\?(?:text\s*\{)?(?:max|min)\}{0,2})\s*=\s*(?P=name)"
    r"(?:\([^()=]{1,20}\)|\|_\{[^{}]{1,20}\})\s*=\s*(?=\S)"
)
# A call between a name and its value: `m=f(1)=-2`
_CALL_BETWEEN = re.compile(r"=\s*(?P<name>[a-zA-Z])\(-?\d+(?:\.\d+)?\)\s*=")
_FUNCTIONS_NAMED = re.compile(r"(?<![a-zA-Z\\])([a-zA-Z])\([a-z]\)")
_ASKS_PLACE = re.compile(
    r"\b(?:at|for) (?:which|what)|attained at|何处|取得.{0,6}时的|时,?[a-z]的值|最大.{0,4}[点點]|[極极].{0,2}点"
)
_OWN_VALUE = re.compile(r"(?P<name>[a-zA-Z])\(-?\d+(?:\.\d+)?\)\s*=\s*(?P<value>[^=]+)")
_AT = r"[a-z]\s*=\s*[-\d./\\{}a-z]{1,20}?\s*"
_WHEN_UNSPACED = re.compile(
    rf"(?:\\text\s*\{{\s*当\s*\}}\s*)?{_AT}\\text\s*\{{\s*(?:のとき|时|時)[，,、]?\s*(?:取得?|有|得)?"
    r"(?:[极極最](?P<end>[大小])[値值])?\s*(?:[は为是為])?\s*\}\s*(?:\\[ ,;]\s*)?(?P<value>[^=]+)"
    rf"|(?P<first>[^=(（]+?)\s*(?:\\[ ,;]\s*)?[(（]\s*{_AT}\\text\s*\{{\s*(?:のとき|时|時)\s*\}}\s*[)）]"
)


def _without_place_of_extreme(text: str, asked: Question) -> str:
    r"""An extreme value without the point at which it is taken: `y_{\max}=5` for `y_{\max}=y(2)=5`.

    Only if the question asks for one extreme value and not for that point; any other text comes back as it is.
    """
    text = _CALL_BETWEEN.sub(lambda call: "=" if f"{call['name']}(" in asked.text else call[0], text)
    kinds = [one for one, local in _LOCAL_EXTREMES if asked.asks_extreme(one) or asked.has(local)]
    if len(kinds) != 1 or "=" not in text or asked.has(_ASKS_PLACE):
        return text
    if (own := _OWN_VALUE.fullmatch(text)) is not None and {*_FUNCTIONS_NAMED.findall(asked.text)} == {own["name"]}:
        return own["value"]
    when = _WHEN_UNSPACED.fullmatch(text) if not text.isascii() else None
    if when is not None and (when["end"] is None or ("max" if when["end"] == "大" else "min") in kinds):
        return when["value"] or when["first"]
    return _TAKEN_AT.sub(r"\g<name>\g<is>=", text, count=1)


_EQUATION = (
    r"[^\W\d_]*(?:[eé]qua[tcçz]|ecuaci|gleichung|уравнени|рівнянн|równani|rovnic|vergelijking|denklem|ekvation|ligning)"
    r"[^\W\d_]*"
)
# The thing that an equation describes, before it: `\\text{The line is } y=2x`
_SUBJECT = re.compile(
    r"\\text\s*\{\s*(?P<said>[^{}\d=$\\:]{1,80}?)\s*"
    rf"(?::|(?<=\s)(?:is|are|ist|lautet|est|es|é|è|är|er|jest|je|имеет вид|{_EQUATION}))\s*\}}"
    r"(?=(?:\s|\\[ ,;:!])*[a-zA-Z(\\][^=]*=)",
    re.IGNORECASE,
)
_OF_SUBJECT = JOINING_NAMES | frozenset(
    "of a an l pour has hat have ha tem tiene имеет имеют ma má har heeft line solution".split()  # noqa: SIM905
)


def _without_subject(text: str, ref: str, asked: Question) -> str:
    r"""An equation without the words for what it describes: `y=2x` for `\text{The line is } y=2x`.

    The words must be the question's; any other text comes back as it is.
    """
    found = _SUBJECT.match(text) if "=" in ref and "\\text" not in ref and "text" in text else None
    if found is None:
        return text
    words = _WORD.findall(found["said"].lower())
    is_known = all(
        word in _OF_SUBJECT or re.fullmatch(_EQUATION, word) or any(same_word(word, one) for one in asked.words)
        for word in words
    )
    is_plain = not any(denies(one) or operates(one) for one in words if one not in _OF_SUBJECT)
    return text[found.end() :] if is_known and is_plain else text


_CONFIDENCE = re.compile(
    "confidence|konfidenz|vertrauensinter|confian[czç]|confidenza|доверительн|довірч|ufno|betrouwbaar"
    "|置信|信頼区間|신뢰 ?구간|güven aral|khoảng tin cậy",
    re.IGNORECASE,
)
_BRACKETED = re.compile(
    r"\s*(?:\\left)?\s*(?P<opens>[(\[])(?P<ends>[^()\[\]]{3,60}?)(?:\\right)?\s*(?P<shuts>[)\]])\s*"
)
_BETWEEN = re.compile(
    r"\s*(?P<low>-?\d[\d.]*)(?P<of>\s*(?:\\leq?(?:slant)?|<|≤|<=)\s*(?:[a-zA-Z]|\\mu)\s*(?:\\leq?(?:slant)?|<|≤|<=)\s*)"
    r"(?P<high>-?\d[\d.]*)\s*"
)
_MEMBER = re.compile(r"\s*(?:[a-zA-Z]|\\mu)\s*(?:=|\\in(?![a-z]))")
_AROUND = re.compile(r"\s*(?P<middle>-?\d+(?:(?:\.|\{,\})\d+)?)\s*\\pm\s*(?P<half>\d+(?:(?:\.|\{,\})\d+)?)\s*")


_UNIT_ENDS = re.compile(r"\\(?:text|mathrm)\s*\{\s*(?P<unit>[^\W\d_]+)\s*\}\s*\Z")


def _as_confidence(text: str, ref: str, asked: Question) -> str:
    r"""A confidence interval in the notation of the reference: `50\pm 1.96` as `(48.04, 51.96)`.

    Any other text comes back as it is.

    Args:
        ref: the text of the reference, an interval in brackets or `48 < m < 52`.
    """
    wanted = _BRACKETED.fullmatch(ref) if ref[:1] in ("(", "[", "\\") else None
    if wanted is None and (between := _BETWEEN.fullmatch(ref)) is not None and _CONFIDENCE.search(asked.text):
        # `48.04 \\le m \\le 51.96`
        bracketed = _as_confidence(text, "[0, 1]", asked)
        bounds = _BRACKETED.fullmatch(bracketed)
        return text if bounds is None else between["of"].join(bounds["ends"].split(","))
    if wanted is None or _CONFIDENCE.search(asked.text) is None:
        return text
    measured = _UNIT_ENDS.search(text) if ref.rstrip()[-1:] in (")", "]") else None
    if measured is not None and asked.says(measured["unit"]):
        text = text[: measured.start()]
    said = [_ends(one) for one in _MEMBER.sub("", text).split("=")]
    if len(said) > 2 or None in said or len({tuple(map(Decimal, _DECIMALS.findall(one or ""))) for one in said}) > 1:
        # `52.3\\pm 1.96` may stand before the interval that it is
        return text
    return f"{wanted['opens']}{said[-1]}{wanted['shuts']}"


_DECIMALS = re.compile(r"-?\d+(?:\.\d+)?")


def _ends(text: str) -> str | None:
    r"""The two ends of an interval: `48.04, 51.96` for `50\pm 1.96`, `48, 52` for `[48, 52]`; None for another text."""
    if (around := _AROUND.fullmatch(text)) is not None:
        middle, half = (Decimal(one.replace("{,}", ".")) for one in (around["middle"], around["half"]))
        return f"{middle - half}, {middle + half}"
    between, own = _BETWEEN.fullmatch(text), _BRACKETED.fullmatch(text)
    return f"{between['low']}, {between['high']}" if between is not None else own and own["ends"]


# Letters of Czech and Slovak, in which `a` means `and`; in other languages it may mean `to`, as in `2 a 5`
_CZECH = re.compile("[ěřůľĺŕ]")


def _without_label(text: str, ref: Side, asked: Question) -> str | None:
    """The answer without a label or a range that only repeats the question.

    None if its label is not the one that the question asks for: `BC=7`, if it asks for `AB`. A confidence interval gets
    the notation of the reference.
    """
    if " a }" in text and _CZECH.search(asked.text):
        text = text.replace(" a }", "}\\text{ and }").replace("\\text{}", "")
    told = _as_confidence(text, ref.text, asked)
    value = told if is_of_numbers(told) else value_named(told, ref, asked)
    return None if value is None else _without_given_range(value, ref.text, asked.text)


def _without_given_range(text: str, ref: str, asked: str) -> str:
    r"""The answer without a range that the question gives: `\frac{1}{1-x}` for `\frac{1}{1-x},\ x\in(-1,1)`.

    Any other text comes back as it is, and so does every text if the reference has a range, too.
    """
    found = _RANGE_BEHIND.search(text) if asked and ("in" in text or "<" in text) else None
    if found is None or _RANGE_BEHIND.search(ref) is not None:
        return text
    ends = found["ends"] or f"({found['low']},{found['high']})"
    is_given = "".join(ends.split()) in re.sub(r"\\left|\\right|\s", "", asked)
    return text[: found.start()] if is_given else text


_END = r"\s*-?(?:\d+(?:\.\d+)?|\\infty)\s*"
_RANGE_BEHIND = re.compile(
    r"(?<!\\)[,，](?:\\[ ,;:!]|\\q?quad|~|\s)*+"
    rf"(?:[a-z]\s*\\in\s*(?P<ends>\({_END},{_END}\))|(?P<low>{_END})<\s*[a-z]\s*<(?P<high>{_END}))\s*\Z"
)


# A plain number, `-1.5` or `3/4`: it has no words around it
FIGURES = re.compile(r"[-\d./]*")


def _bounds_asked(node: Node | None, asked: Question) -> bool:
    """Whether a condition like `|a| < 2` is about the letter that is asked for, and the question has no `|`."""
    letters = set() if node is None else symbols(node)
    return len(letters) == 1 and {(one,) for one in letters} <= asked.asked_for and "|" not in asked.text


def _around_zero(node: Node | None) -> Node | None:
    """`|k| > 6` as `k < -6 or k > 6`, and `|k| < 6` as `-6 < k < 6`, also within a set; any other node as it is."""
    match node:
        case Collection("set", (SetBuilder(element, condition),)):
            of_reals = Relation((element, Symbol(REALS)), ("in",)) if isinstance(element, Symbol) else element
            own = isinstance(of_reals, Relation) and of_reals.args[1] == Symbol(REALS)
            opened = _around_zero(condition) if own and symbols(condition) == symbols(of_reals.args[0]) else condition
            return node if opened is condition else opened
        case Relation((Apply("abs", (Symbol() as name,)), end), (("<" | "<=" | ">" | ">=") as sign,)):
            if symbols(end) or (literal(end) or 1) <= 0:
                return node
            low = Negation(end)
            if sign[0] == "<":
                return Relation((low, name, end), (sign, sign))
            return Connective("or", (Relation((name, low), (sign.replace(">", "<"),)), Relation((name, end), (sign,))))
    return node


def _in_asked_unit(node: Node | None, question: Question) -> Node | None:
    """One member of a chain of equal quantities, in the unit that is asked for: `60 min` of `1 h = 60 min`.

    The last one if no member has that unit. Any other node comes back as it is.
    """
    if not isinstance(node, Relation) or set(node.operators) != {"="}:
        return node
    found = [(literal(one.inside), measure(one.unit), one) for one in node.args if isinstance(one, Quantity)]
    sizes = {(value and value * unit.size, unit.dimension) for value, unit, _ in found}
    if len(found) < len(node.args) or len(sizes) > 1 or None in (value for value, *_ in found):
        return node
    return next((one for _, unit, one in found if unit in question.asked_units), node.args[-1])


def _without_asked_span(side: Side, ref: Side, question: Question) -> Side:
    """A rate without the span of time that the question names: `$400` for `$400 a week`, if it asks `how much a week`.

    Any other side comes back as it is, and so does a rate in a unit that the question or the reference has.
    """
    if not isinstance(side.node, Quantity):
        return side
    if isinstance(ref.node, Quantity):
        # a reference of `90 km`, of how many are covered per hour
        amount = tuple(one for one in side.node.unit if one[1] > 0)
        is_asked = measure(amount) == measure(ref.node.unit) and measure(side.node.unit) in question.asked_units
        return side._replace(node=replace(side.node, unit=amount)) if is_asked else side
    if measure(side.node.unit) in question.asked_units:
        return side
    unit = tuple((name, power) for name, power in side.node.unit if power > 0 or name not in question.asked_amount.ones)
    is_rate = any(power > 0 for _, power in unit)
    return side._replace(node=replace(side.node, unit=unit)) if is_rate and unit != side.node.unit else side


_PAIR = re.compile(r"\(\s*[^(),;<>=]+,\s*[^(),;<>=]+\)")
_OF_POINTS = re.compile(
    r"\b(?:points?|coordinates|midpoint|punkt\w*|koordinaten|coordonnées|coordenadas|coordinate|punto|ponto)\b"
    r"|坐标|座標|координат|좌표",
    re.IGNORECASE,
)
_BOUNDS = re.compile(r"[<>≤≥]|\\(?:le|ge|lt|gt|in)q?(?![a-zA-Z])|^\s*(?:\\left)?\]")
_VALUES = re.compile(r"=|\band\b")
_NAMED_INTERVAL = re.compile(r"^\s*[ID]\s*=\s*(?=[(\[])")


def _mismatch_of_kind(text: str, ref: str, question: Question) -> str:
    """The reason why an answer is of a different kind than the reference `(1, 2)`; empty if it is not.

    Either `an interval for a point`, as `1<x<2` if the question asks for a point, or `values for an interval`, as
    `x=1, x=2` if it has an inequality.
    """
    if _PAIR.fullmatch(ref) is None:
        return ""
    if question.has_inequality or "interval" in question.words:
        text = _NAMED_INTERVAL.sub("", text)
        return "values for an interval" if _VALUES.search(text) and not _BOUNDS.search(text) else ""
    return "an interval for a point" if _OF_POINTS.search(question.text) and _BOUNDS.search(text) else ""


def _concluded(text: str) -> str:
    r"""The last step of a derivation: `x=5` for `2^x=2^5 \implies x=5`.

    The text as it is if an earlier step gives a name its value, too.
    """
    *steps, last = _IMPLIES.split(text)
    named = _ASSIGNED.match(last) if steps else None
    if named is None or any(_ASSIGNED.fullmatch(step) or named[1] not in LETTERS.findall(step) for step in steps):
        return text
    return last.strip()


_IMPLIES = re.compile(
    r"\\(?:implies|iff|[Rr]ightarrow|[Ll]ongrightarrow|Longrightarrow|(?:Long)?[Ll]eftrightarrow)(?![a-zA-Z])|[⇒⟹⇔⟺]"
)
# The Portuguese article in `O algarismo é`, which is not a variable
_ARTICLE = re.compile(r"\A\\text\s*\{\s*[oO]\s+(?=[^\W\d_]{3})")
_ASSIGNED = re.compile(r"\s*([a-zA-Z])\s*(?:=[^=]+|\\in\s*\\\{[^=]+)")


_ASKS = re.compile(r"\S\s*[?？؟]\W*\Z")


def _doubt(text: str) -> str | None:
    r"""A description of the mark that weakens an answer: `a question mark after the value` for `42?`.

    Also for `~42` and `42^{*}`; None if there is no such mark.
    """
    if _ROUGH.match(text):
        return "a sign before the value that says about"
    if _ASKS.search(text[-_SHOWN:]):
        return "a question mark after the value"
    return "a footnote's mark after the value" if _FOOTNOTE.search(text[-_SHOWN:]) else None


def _strange_words(node: Node, allows: Allows, question: Question, ref: Side) -> Iterator[str]:
    r"""The words in an answer that are not understood: behind a number, as a name, or in an index.

    Such as `wolf` of `\text{wolf}=5`, or `false` of `x_{false}=5`, if neither the question nor the reference has it.
    """
    if isinstance(node, Text):
        return
    # a side of a relation, or a factor of it, may be a name
    sides = [side for n in walk(node) if isinstance(n, Relation) for side in n.args]
    sides += [name for side in sides if isinstance(side, Product) for name in side.args if len(symbols(side)) > 1]
    known = {*ref.tokens, SPAN, SPAN.title()}
    for n in walk(node):
        if isinstance(n, Quantity):
            unknown = (w for w in unknown_words(n.unit) if w.lower() not in question.counted)
            yield from (w for w in unknown if w in NEUTRAL or not allows(w))
        elif isinstance(n, Text) and n.words.lower() not in WORD_SETS:
            yield from (w for w in n.words.split() if not allows(w) and not w.isupper())
        elif (
            isinstance(n, Relation) and any(isinstance(a, Text) for a in n.args[1:]) and not isinstance(ref.node, Text)
        ):
            # the names of a ratio come before its equals sign: `A:B=2:3`
            names = len(list(takewhile(":".__eq__, n.operators))) if "=" in n.operators else 0
            yield from (
                a.words for a in n.args[names + 1 :] if isinstance(a, Text) and a.words.lower() not in WORD_SETS
            )
        elif isinstance(n, (Symbol, UndefinedCall)):
            name, _, below = (n.name if isinstance(n, Symbol) else n.function).partition("_")
            if len(name) > 1 and name.isalpha() and name not in known and n not in sides and not allows(name):
                # the value of an unknown operator is unknown, too
                yield name
            elif isinstance(n, UndefinedCall) and _is_of_other_numbers(n, question):
                yield name
            index = _INDEX_WORD.findall(below)
            yield from (w for w in index if w not in ref.text and not _may_be_index(w, allows, question))


def _is_of_other_numbers(call: UndefinedCall, question: Question) -> bool:
    """Whether a named operator has arguments that are not the question's: `kgV(8,20)`, if it has 4 and 10."""
    values = {literal(one) for one in call.args}
    name = call.function.partition("_")[0]
    return (
        len(name) > 1
        and name.isalpha()
        and bool(question.text)
        and None not in values
        and not values <= question.numbers
    )


def _may_be_index(word: str, allows: Allows, question: Question) -> bool:
    """Whether a word may be the index of a name: `AB` (points), or `max` if the question has `maximum`."""
    if word.isupper() and word.isascii():
        return set(word) <= _POINT_NAMES or (bool(question.text) and set(word).issubset(question.text))
    begins = len(word) >= _SHORTEST_INDEX and re.search(rf"(?<!\w){re.escape(word.lower())}", question.text.lower())
    return allows(word) or (bool(begins) and not operates(word) and not denies(word.lower()))


@lru_cache(maxsize=1024)
def read_reference(text: str, question: Question | None) -> Side:
    """Read a reference, which is trusted: unlike an answer it may contain any words.

    Cached between verdicts, because an advantage group has eight or more answers to the same reference: reading it for
    each of them takes 1.7 times the CPU time. Within a verdict the `Pair` keeps it.

    Raises:
        JudgeError: the reference cannot be read, is over the bounds, or states several values.
    """
    try:
        asked = question or NO_QUESTION
        text = without_rejected(text, asked) if text[-1:] in ")）" else text
        stated = with_unit_set(with_names(_PART_OF_ONE.sub(r"\1", text), asked), asked.text, asked.slanted)
        side = on_own_stack(_read_stated, stated)
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


# A space between words, or a character of a script without spaces: `Fe+2HCl=FeCl₂+H₂↑` has none, so it is no sentence
_IN_WORDS = re.compile(r"\s|[\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7af]")


#: A reaction in plain text: `C3H8 + 5O2 -> 3CO2 + 4H2O`, `Ag+ + Cl- -> AgCl`.
PLAIN_REACTION = re.compile(
    r"[A-Z][a-z]?[\d₀-₉][^=>→⇌]*(?:->|→|⇌|=)|(?:->|→|⇌|=)[^=>→⇌]*[A-Z][a-z]?[\d₀-₉]|[A-Z][a-z]?[+-](?:\s|\((?:aq|s|l|g)\))[^=>→⇌]*(?:->|→|⇌)"
)


def _read_stated(text: str) -> Side:
    """The side of a reference; of a sentence, such as `The answer is 5.`, the side of its value.

    A sentence that states no value gives a side without a node: it is compared word by word.
    """
    side = _resolved(_read(text))
    if (
        _IN_WORDS.search(text) is None
        or is_of_numbers(text)
        or PLAIN_REACTION.search(text) is not None
        or not is_sentence(respelled(text))
        or (side.fields is not None and not _has_words(side))
    ):
        return side
    for stated in candidates(text):
        found = _resolved(_read(bare(stated)))
        if not _has_words(found) or time_of_day(found.text) is not None:
            return found._replace(sentence=text)
    return side._replace(node=None, reading=None, problem=side.problem or "a sentence that states no value")


def _has_words(side: Side) -> bool:
    """Whether a side is not purely mathematics: it could not be read as mathematics, or has words in it."""
    return side.node is None or any(isinstance(n, Text) for n in walk(side.node))


def _is_wording(side: Side) -> bool:
    """Whether a reference that is no mathematics can be compared word by word, like a date or a name."""
    brackets = [side.tokens.count(opener) - side.tokens.count(closer) for opener, closer in ("()", "[]", "{}")]
    named = any(t[:1].isalpha() or t[:1] >= "\u2460" for t in side.tokens)
    return (named and not any(brackets)) or cycles(side.text) is not None or signs(side.text) is not None


# A number whose digits are letters: `\\overline{ab}`; repeating decimals, `0.\\overline{3}`, are not meant
_TOLD = re.compile(
    r"(?<![.,])(?<!\.\d)\\(?:overline|bar)\s*\{\s*([a-z](?:\s*[a-z\d]){1,5}|\d(?:\s*\d){0,4}\s*[a-z])\s*\}"
)


def _told_by_digits(answer: str, truth: str) -> tuple[str, str]:
    r"""Answer and reference with numbers of unknown digits, such as `\overline{ab}`, in a form that can be compared.

    `\overline{ab}` alone becomes one name, `\operatorname{digitsab}`, and within a formula the sum `(10*a+1*b)`. If
    only the reference has such numbers, each becomes a sum, since the answer may be `10a+b`.
    """
    if _TOLD.search(answer) is None:
        return answer, _TOLD.sub(_sum_of_digits, truth)
    told, equals, value = answer.partition("=")
    if equals and _TOLD.fullmatch(told.strip()) and _TOLD.search(truth) is None:
        return (value if same_value(_TOLD.sub(_sum_of_digits, told), value) else answer), truth
    return _named_by_digits(answer), _named_by_digits(truth)


def _named_by_digits(text: str) -> str:
    r"""The text with `\overline{ab}` as one name if it is a whole part, and as a sum within a formula."""
    parts = re.split(r"([=,;，、])", text)
    return "".join(
        _TOLD.sub(_name_of_digits if _TOLD.fullmatch(part.strip()) else _sum_of_digits, part) for part in parts
    )


def _sum_of_digits(found: re.Match[str]) -> str:
    r"""A number of unknown digits as a sum: `(10*a+1*b)` for `\overline{ab}`."""
    digits = "".join(found[1].split())
    return f"({'+'.join(f'{10 ** (len(digits) - 1 - at)}*{digit}' for at, digit in enumerate(digits))})"


def _name_of_digits(found: re.Match[str]) -> str:
    r"""A number of unknown digits as one name: `\operatorname{digitsab}` for `\overline{ab}`."""
    said = (chr(ord("A") + int(one)) if one.isdigit() else one for one in "".join(found[1].split()))
    return f"\\operatorname{{digits{''.join(said)}}}"


# Words of a question for which `[2, 4]` is a list of values, not an interval
_LISTS_VALUES = re.compile(
    r"\beigen(?:values?|werte)|\bvaleurs? propres?|\bautoval|\bvalor(?:es)? própri|\bсобственн\w+ (?:числ|значен)"
    r"|特征值|固有値|고윳값|\bas a list\b|\blist of\b",
    re.IGNORECASE,
)
_INEQUALITY = re.compile(r"inequal|ungleich|inéq|inecua|inequa|disequa|неравенств|不等式|부등식|nierówn", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"(?:\\left)?\s*\[([^\[\]()]{1,200})(?:\\right)?\s*\]")


def _values_of(text: str, question: Question) -> str:
    """`2, 4` for `[2, 4]` if the question asks for a list of values, such as eigenvalues; any other text as it is."""
    match = _IN_BRACKETS.fullmatch(text) if text[-1:] == "]" else None
    if (
        match is None
        or question.has_inequality
        or _INEQUALITY.search(question.text)
        or _LISTS_VALUES.search(question.text) is None
    ):
        return text
    return text if "interval" in question.words and "list" not in question.words else match[1].strip()


_RISES = re.compile(r"<|\\lt(?![a-z])")
_FALLS = re.compile(r">|\\gt(?![a-z])")
_RELATES = re.compile(r"=|\\(?:[gl]eq?|neq?|approx|in)(?![a-z])|[≤≥]")


def _in_row(text: str, question: Question) -> str | None:
    """The members of `a < b < c` as `(a ; b ; c)`, or reversed if the question asks for a falling order.

    None for any other text, and for a range of an unknown, as `1 < x < 2`.
    """
    rising, falling = _RISES.split(text), _FALLS.split(text)
    members = rising if len(rising) > len(falling) else falling
    if min(len(rising), len(falling)) > 1 or len(members) <= _PAIRED or _RELATES.search(text) is not None:
        return None
    letters = sum(LETTERS.fullmatch(one.strip()) is not None for one in members)
    if letters not in (0, len(members)):
        # a range of an unknown
        return None
    turned = question.rises is not None and question.rises is not (members is rising)
    return f"({' ; '.join(reversed(members) if turned else members)})"


_OF_Y = re.compile(r"y\s*=")
_NAMED_LINE = re.compile(
    r"(?P<name>[a-zA-Z])(?:_\{?\w\}?)?\s*(?:\(\s*x\s*\)\s*=|(?::|\\colon(?![a-z]))(?:\\[ ,;:!]|\s)*y\s*=)"
)
# `(\\varepsilon): y-1=2x`, a line with its name
_NAME_OF_LINE = re.compile(r"\(?\\?[a-zA-Z]+\)?\s*(?::|\\colon(?![a-z]))(?:\\[ ,;:!]|\s)*(?=[^:=]*[a-z][^:=]*=)")
_PAIRED = 2
_FINITE = frozenset({"list", "eigenvalues", "eigenwerte"})
# A wide comma separates values, not thousands: `3，145`
_WIDE_COMMA = re.compile(r"(?<=\d)，(?=\d)")


# A statement about a formula, `\\sqrt2 \\text{ is irrational}`, and below it an option with its value, `③ 1`
_SUBJECT_IS = re.compile(
    r"(?P<what>[^=]{1,80}?)\s*\\text\s*\{\s*(?:is|ist|est|es|é|è|jest|är|—|является|是|は)\s*(?P<said>[^{}]+)\}"
)
_CIRCLED = re.compile(r"(?:\\text\s*\{)?\s*(?P<mark>[①-⑳])[\s}.:]*(?P<value>[^①-⑳]+)")
# The integral of a flux or of work before its value: of a field, over a surface or a curve
_INTEGRAL_IS = re.compile(
    r"\s*\\(?:oi{0,2}nt|iint|int)(?:_(?:[A-Z]|\{\s*(?:[A-Z]|\\partial [A-Z])\s*\}))?\s*\\?[,;]?\s*"
    r"(?:\\(?:mathbf|vec|boldsymbol)\s*)?\{?(?P<field>[A-Z])\}?\s*(?:\\cdot\s*)"
    r"(?:d\s*(?:\\(?:mathbf|vec|boldsymbol)\s*)?\{?[SrA]\}?|(?:\\(?:mathbf|vec|hat)\s*)?\{?n\}?\s*(?:\\,)?\s*dS)\s*="
)
_ASKS_INTEGRAL = re.compile(
    r"\b(?:flux|circulation|work done|line integral|surface integral|fluss|zirkulation|flujo|trabajo|travail)\b"
    "|поток|通量|环量|做的功|曲线积分|曲面积分|流束|線積分",
    re.IGNORECASE,
)
_IS_WORD = re.compile(r"(?<!\\)\b[^\W\d_]{4,}|[\u4e00-\u9fff]{2}")
_EXPANDS = re.compile(
    r"taylor|maclaurin|power series|expan[ds]|développement|entwicklung|desarroll|sviluppo|разлож|展开|展開|전개",
    re.IGNORECASE,
)


def _as_asked(text: str, truth: str, question: Question) -> str:
    r"""The answer without the question's own formula, option or integral before its value; any other text as it is.

    `\text{irrational}` for `\sqrt2 \text{ is irrational}`, `1+x` for `e^x=1+x`, `③` for the option `③ 1`.

    Args:
        truth: the reference, which must not have such a formula itself.
    """
    if (about_it := _SUBJECT_IS.fullmatch(text)) is not None and _IS_WORD.search(truth) is not None:
        what = bare_formula(about_it["what"])
        numbers = re.findall(r"(?<![\w\\.,{^])\d+(?![\w.,]*\d)", question.text)
        is_asked = what in (*bare_formulas(question.text), *numbers) and what not in bare_formula(truth)
        return f"\\text{{{about_it['said']}}}" if is_asked else text
    if (chosen := _CIRCLED.fullmatch(text)) is not None and _CIRCLED.fullmatch(truth) is None:
        offered = re.search(f"{chosen['mark']}([^①-⑳]+)", question.text)
        bare_, value = (re.sub(r"[\s$.,;]", "", one) for one in (offered[1] if offered else "", chosen["value"]))
        return chosen["mark"] if value and bare_ == value else text
    if "=" not in truth and (integral := _INTEGRAL_IS.match(text)) is not None:
        is_asked = _ASKS_INTEGRAL.search(question.text) is not None and integral["field"] in question.letters
        return text[integral.end() :] if is_asked else text
    formula, _, series = respelled(text).partition("=")
    if series and "=" not in f"{series}{truth}" and _EXPANDS.search(question.text) is not None:
        # the function that is expanded comes before its series: `e^x=1+x`
        said = [one.rpartition("\\mapsto")[2] for one in bare_formulas(question.text)]
        return series if len(formula.strip()) > 1 and bare_formula(formula) in said else text
    return text


_BOOLEAN = re.compile("boole|logic (?:circuit|gate)|булев|布尔|ブール|부울|불 ?대수", re.IGNORECASE)
_OF_LOGIC = re.compile(r"\\(?:lor|vee|land|wedge|neg|lnot)(?![a-z])|[∨∧¬]")
_NEGATED = re.compile(r"(?:\\(?:neg|lnot)(?![a-z])|¬)\s*([A-Za-z])")


def _in_signs_of_algebra(text: str) -> str:
    r"""A formula of logic in the notation of Boolean algebra: `A \lor \neg B` as `A + \overline{B}`."""
    text = _NEGATED.sub(r"\\overline{\1}", text)
    text = re.sub(r"\\(?:lor|vee)(?![a-z])|∨", "+", text)
    return re.sub(r"\\(?:land|wedge)(?![a-z])|∧", " ", text)


def in_asked_form(text: str, truth: str, question: Question) -> tuple[str, str]:
    """Answer and reference in the form that the question asks for, with one notation for both.

    Of eigenvalues `[2, 4]` becomes `2, 4`; if an order is asked for and one side is a list, `a < b < c` becomes
    `(a ; b ; c)`; and `f(x)=2x+1` becomes `y=2x+1` if the reference has `y=`.
    """
    text, truth = (_WIDE_COMMA.sub("；", one) for one in (text, truth))
    if "=" in truth and _OF_Y.match(truth) and (called := _NAMED_LINE.match(text)) is not None:
        # the answer's own letter for the line that is asked for
        text = text if f"{called['name']}(" in question.text else f"y={text[called.end() :]}"
    elif "=" in truth and (line := _NAME_OF_LINE.match(text)) is not None and _NAME_OF_LINE.match(truth) is None:
        text = text[line.end() :]
    text = _as_asked(text, truth, question)
    if question.has(_BOOLEAN) and _OF_LOGIC.search(truth) is None:
        text = _in_signs_of_algebra(text)
    own = _values_of(truth, question)
    if own is not truth or not _FINITE.isdisjoint(question.words):
        # an answer's own brackets may be meant as an interval
        text, truth = _values_of(text, question), own
    if not question.asks_order:
        return text, truth
    mine, theirs = _in_row(truth, question), _in_row(text, question)
    if (mine is None) == (theirs is None):
        return text, truth
    row = text if theirs is None else truth
    # a list of as many values, which is no relation itself
    if re.search("[<>]", row) or _RELATES.search(row) is not None or not re.search("[,;，；、]", row):
        return text, truth
    row = row if row[:1] == "(" and row[-1:] == ")" else f"({row})"
    return (row, mine) if mine is not None else (theirs or text, row)


# The text of a cell without a value: `-`, `???`
_PLACEHOLDER = re.compile(r"[-–—?_.…]+")
_PLACED = re.compile(r"(?:^|[,;，；、]\s*|\s)(?P<place>\d{1,2})[.)](?:\s*|\\ )(?P<said>[^\W\d_][^\d,;，；、.]*)")


def _without_places(text: str) -> str:
    """A numbered list of names without its numbers: `Ben, Dee` for `1. Ben, 2. Dee`; any other text as it is."""
    if "1" not in text:
        return text
    said = text.strip()
    said = said[len("\\text{") : -1] if said.startswith("\\text{") and said.endswith("}") else said
    found = list(_PLACED.finditer(said))
    if len(found) < 2 or "".join(one[0] for one in found) != said:
        return text
    counts = [int(one["place"]) for one in found] == list(range(1, len(found) + 1))
    return ", ".join(one["said"].strip() for one in found) if counts else text


# A short unit that is not typeset upright, such as `mg`: it may be a product of variables
_SHORT_UNITS = re.compile(
    r"\\(?:text|math|mbox)[a-z]*\s*\{[^{}\\]*\}"
    rf"|(?<![^\W\d_])(?<!\\)(?P<unit>{'|'.join(unit for unit in UNITS if len(unit) < 4)})(?![^\W\d_])"
)
# A letter alone, unless it is behind a number or in a rate, where it may be a unit
_FREE_LETTER = re.compile(r"(?<![^\W_])(?<![\\_'/.])(?<!\d[ ~])[a-zA-Z](?![^\W\d_]|['/])")
_PLAIN_INDEX = re.compile(r"(?<![a-zA-Z\\_])([a-zA-Z])(\d)(?!\d)")
_INDEX = re.compile(r"([a-zA-Z])_\{?(\d)\}?(?!\d)")


def _in_letters_of(text: str, other: str, question: Question | None) -> str:
    """A side with its letters as the question or the other side has them: `2m g` for `2mg`, `m_1` for `m1`.

    `mg` becomes a product only if `m` and `g` are letters there; `m1` gets an index only if the other side has `m_1`.
    """
    if "_" in other and len(text) > len("B2") and (indexed := {*_INDEX.findall(other)}):
        text = _PLAIN_INDEX.sub(lambda m: f"{m[1]}_{m[2]}" if m.groups() in indexed else m[0], text)
    if is_of_numbers(text) or not any(found["unit"] for found in _SHORT_UNITS.finditer(text)):
        return text
    said = question.text if question is not None else ""
    letters = {*_FREE_LETTER.findall(said), *_FREE_LETTER.findall(other)}

    def spaced(found: re.Match[str]) -> str:
        unit = found["unit"] or ""
        is_product = letters.issuperset(unit) and re.search(rf"(?<![a-zA-Z]){unit}(?![a-zA-Z])", said) is None
        return " ".join(unit) if unit and is_product else found[0]

    return _SHORT_UNITS.sub(spaced, text)


_DASHED = re.compile(r"(?<=[^\W\d_])–(?=[^\W\d_])")
# The estimate of a regression line, with a hat: `\\hat{y}`; some write `y`
_ESTIMATED = re.compile(r"\\hat\s*\{?\s*([a-z])\s*\}?")
_REGRESSION = re.compile(r"regress|least.squares|回归|回帰|회귀|регресс", re.IGNORECASE)


# An operator that one side sets upright, and the other may not: `\\mathrm{Var}(X)` and `Var(X)`
_MOST_OPERATORS = 8
_OPERATOR = re.compile(r"\\(?:mathrm|text|operatorname)\{(?P<name>[A-Za-z]{2,4})\}(?=\()")


def _with_operators(text: str, other: str) -> str:
    r"""A side with operators typeset as in the other side: `\mathrm{Var}(X)` for `Var(X)`, if that has `\mathrm`."""
    for found in islice(_OPERATOR.finditer(other), _MOST_OPERATORS):
        plain = re.compile(rf"(?<![a-zA-Z\\{{]){found['name']}(?=\()")
        text = plain.sub(found[0].replace("\\", "\\\\"), text)
    return text


# The reduced Planck constant, which is `h/(2\\pi)`
_REDUCED = re.compile(r"\\hbar(?![a-zA-Z])")


@dataclass(frozen=True)
class Pair:
    """One comparison, the input of every stage: an answer, its reference and the question.

    Each side is read once, when a stage first asks for it.
    """

    answer: str
    truth: str
    question: Question | None

    @classmethod
    def of(cls, answer: str, truth: str, question: str | None) -> Pair:
        r"""The pair of two bare texts (see `bare`), in one notation: `\hbar` as `\frac{h}{2\pi}` if only one has it.

        Args:
            truth: the reference's text.
            question: the task's text; None if it is not known.
        """
        asked = about(question)
        if asked is not None and asked.is_of_digits and _TOLD.search(answer + truth):
            answer, truth = _told_by_digits(answer, truth)
        if "–" in answer + truth:
            # a dash between two names
            answer, truth = (_DASHED.sub("-", one) for one in (answer, truth))
        if "\\hat" in truth and asked is not None and _REGRESSION.search(asked.text):
            answer, truth = (_ESTIMATED.sub(r"\1", one) for one in (answer, truth))
        if ("\\hbar" in answer) != ("\\hbar" in truth):
            answer, truth = (_REDUCED.sub(r"\\frac{h}{2\\pi}", one) for one in (answer, truth))
        if "}(" in answer + truth:
            answer, truth = _with_operators(answer, truth), _with_operators(truth, answer)
        if answer != truth:
            answer, truth = _in_letters_of(answer, truth, asked), _in_letters_of(truth, answer, asked)
        return cls(_without_places(answer), _without_places(truth), asked)

    @property
    def seed(self) -> str:
        """The seed of the random points at which formulas are compared.

        It contains the answer, so nobody can write an answer that fits points known beforehand.
        """
        return f"{self.answer}|{self.truth}"

    @Kept
    def ref(self) -> Side:
        """The reference, read.

        Raises:
            JudgeError: the reference cannot be read.
        """
        return read_reference(self.truth, self.question)

    @Kept
    def ans(self) -> Side:
        """The answer, read.

        Raises:
            TooComplex: the answer is over a bound.
        """
        return read_answer(self.answer, self.ref, self.question)

    @Kept
    def is_wordless(self) -> bool:
        """Whether answer and reference have only numbers, operators and single letters."""
        return is_wordless(self.answer) and is_wordless(self.truth)

    @Kept
    def is_formula(self) -> bool:
        """Whether answer and reference are formulas, or lists of formulas, without a word."""
        return is_formula(self.answer) and is_formula(self.truth)

    def is_for_sympy(self) -> bool:
        """Whether a side has a part that sympy may evaluate and the symbolic stage cannot."""
        ref, ans = self.ref.node, self.ans.node
        return ref is not None and ans is not None and needs_sympy(ref, ans)
