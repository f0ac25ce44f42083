"""Whether two mathematical answers are the same, decided by stages, the cheapest first.

exact ▸ normalised ▸ numeric ▸ structure ▸ symbolic ▸ sympy. The first four run in the caller's process, in time linear
in the text; of long pairs, for callers on an event loop, in `sandbox`. The last two always run there.
docs/math_equivalence.md has the conventions on rounding, percents, units, order and hedges.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple, Protocol, cast

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import asking_clause, says_another
from agentscope_tuner.verify.math.compare import CheapComparer, is_rational
from agentscope_tuner.verify.math.compare_claims import in_figures_of_oxidation, without_substance
from agentscope_tuner.verify.math.compare_notations import (
    in_notation,
    lines_of_kinds,
    residues_listed,
    unset,
    without_next_day,
)
from agentscope_tuner.verify.math.compare_words import forms, wordings
from agentscope_tuner.verify.math.named_parts import by_names
from agentscope_tuner.verify.math.names import same_value
from agentscope_tuner.verify.math.node import (
    DIFFERENT,
    EQUAL,
    UNKNOWN,
    Negation,
    Node,
    Number,
    Outcome,
    Quantity,
    Quotient,
    Relation,
    close,
    literal,
    plain_key,
    symbols,
    with_args,
)
from agentscope_tuner.verify.math.parameters import same_span
from agentscope_tuner.verify.math.prose import NARROWED, choice, is_of_numbers, is_value, letter, plain, time_of_day
from agentscope_tuner.verify.math.quantities import (
    axis_of_another,
    combines_unknowns,
    measures_another,
    names_another,
    power_asked,
)
from agentscope_tuner.verify.math.question import NO_QUESTION, Question, about, closed, is_english
from agentscope_tuner.verify.math.readings import measured
from agentscope_tuner.verify.math.sentences import by_sides, is_false, lettered, with_declared_constant
from agentscope_tuner.verify.math.sets import is_work, same_sets
from agentscope_tuner.verify.math.tokens import TooComplex, on_own_stack, with_square_brackets
from agentscope_tuner.verify.math.unfinished import unearned
from agentscope_tuner.verify.math.units import (
    COUNTERS,
    IN_LOWER_CASE,
    NUMBER_WORDS,
    exponent_named,
    in_asked_unit,
    is_one_unit,
    is_physical,
    known,
    measure,
    singular,
    unit_named,
    unit_of_markup,
    units_in_line,
    units_named_in,
)
from agentscope_tuner.verify.math.unwrap import (
    FIGURES,
    Pair,
    bare,
    in_asked_form,
    read_reference,
    reference,
    short,
)
from agentscope_tuner.verify.number_words import spelled_number

Verdict = Literal["equal", "different", "undecided"]
Copied = Literal["refuse", "accept"]
# The first word of the reason for an answer that was not understood
UNREAD = "unread"


class MathVerdict(NamedTuple):
    """The verdict, the stage that reached it, and the reason in words."""

    outcome: Verdict
    stage: str
    reason: str

    @property
    def unread(self) -> bool:
        """Whether the answer was refused because it was not understood, not because it has a different value."""
        return self.reason.startswith(UNREAD)


class Symbolic(Protocol):
    """A function that runs one of `WORKER_STAGES` on a pair and returns its outcome and reason: `Sandbox.compare`."""

    def __call__(
        self, answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic"
    ) -> tuple[Verdict, str]: ...


class AwaitedSymbolic(Protocol):
    """As `Symbolic`, but awaited, for callers inside an event loop: `Sandbox.acompare`."""

    def __call__(
        self, answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic"
    ) -> Awaitable[tuple[Verdict, str]]: ...


def check_reference(text: str) -> None:
    """Raise if `compare` could not use this reference.

    Raises:
        JudgeError: the reference is empty, a missing or infinite number, damaged, unreadable, over the bounds, or
            states several values.
    """
    read_reference(reference(text), None)


def compare(
    answer: str,
    ground_truth: str,
    *,
    symbolic: Symbolic | None = None,
    question: str | None = None,
    copied: Copied = "refuse",
) -> MathVerdict:
    r"""Whether `answer` states the same as `ground_truth`: `0.5` and `\frac12` are equal.

    Args:
        answer: the text in the box, without the box. It is hostile; every string gets a verdict within the bounds of
            time and memory.
        ground_truth: bare, in `$…$`, `\(…\)` or a box, or a GSM8K solution that ends in `#### 42`.
        symbolic: runs the worker's stages; without it, a pair that the cheap stages cannot decide is undecided.
        question: the task's text; the meaning of a word or of a notation may depend on it.
        copied: whether a formula copied from `question` may be an answer.

    Raises:
        JudgeError: the reference is unusable (see `check_reference`), or the sandbox failed.
    """
    asking = _stages(answer, ground_truth, question, copied, has_worker=symbolic is not None)
    return answered(asking, partial(_ask, symbolic))


class AwaitedReading(Protocol):
    """A function that runs `read_pair` in another process and is awaited: `Sandbox.aread`."""

    def __call__(
        self, answer: str, ground_truth: str, *, question: str | None, copied: Copied
    ) -> Awaitable[ReadPair]: ...


async def acompare(
    answer: str,
    ground_truth: str,
    *,
    symbolic: AwaitedSymbolic,
    reading: AwaitedReading,
    question: str | None = None,
    copied: Copied = "refuse",
) -> MathVerdict:
    """As `compare`, without blocking an event loop: the worker's stages are awaited.

    Args:
        symbolic: runs the worker's stages.
        reading: runs the cheap stages of a long pair; those of a short pair run here.
    """
    asking = _stages(answer, ground_truth, question, copied, has_worker=True, reads_long=False)

    def reply(request: tuple[Pair, str]) -> Awaitable[Any]:
        pair, stage = request
        if stage == READING:
            return reading(pair.answer, pair.truth, question=question, copied=copied)
        return cast("Awaitable[Any]", _ask(symbolic, request))

    return await awaited(asking, reply)


def _ask(symbolic: Callable[..., Any] | None, request: tuple[Pair, str]) -> Any:
    """Call `symbolic` with the texts of a pair and the stage to run."""
    assert symbolic is not None
    pair, stage = request
    return symbolic(pair.answer, pair.truth, question=pair.question and pair.question.text, stage=stage)


Asking = Generator[Any, Any, MathVerdict]


def answered(asking: Asking, reply: Callable[[Any], Any]) -> MathVerdict:
    """Run the generator `asking` to its end, sending it `reply(request)` for each request that it yields.

    Gives back the verdict that the generator returns.
    """
    try:
        request = next(asking)
        while True:
            request = asking.send(reply(request))
    except StopIteration as done:
        verdict: MathVerdict = done.value
        return verdict


async def awaited(asking: Asking, reply: Callable[[Any], Awaitable[Any]]) -> MathVerdict:
    """As `answered`, with replies that are awaited."""
    try:
        request = next(asking)
        while True:
            request = asking.send(await reply(request))
    except StopIteration as done:
        verdict: MathVerdict = done.value
        return verdict


def compare_exact(
    answer: str, ground_truth: str, *, question: str | None = None, copied: Copied = "refuse"
) -> MathVerdict:
    r"""Whether two texts without their wrapping have the same characters: `$5$` equals `\(5\)`, but not `5.0`.

    `question` and `copied` are there for the same signature as `compare`: they change nothing here.
    """
    text, truth = bare(answer), reference(ground_truth)
    return verdict_of("exact", EQUAL if text == truth else DIFFERENT, text, truth)


_PLAIN_NUMBER = re.compile(
    r"(?P<whole>-?\d{1,18}(?:\.\d{1,18})?)|(?P<sign>-?)(?:\\[dt]?frac\{(?P<a>\d{1,18})\}\{(?P<b>\d{1,18})\}|(?P<c>\d{1,18})/(?P<d>\d{1,18}))"
)


def _plain_number(text: str) -> Node | None:
    """The number of a text that is only digits, a decimal or a fraction of whole numbers; None for any other text."""
    match = _PLAIN_NUMBER.fullmatch(text)
    if match is None:
        return None
    above, below = (match["a"] or match["c"], match["b"] or match["d"])
    if whole := match["whole"]:
        node: Node = Number(Fraction(whole.removeprefix("-")), whole.removeprefix("-"))
    else:
        node = Quotient(Number(Fraction(int(above)), above), Number(Fraction(int(below)), below))
    return Negation(node) if text[0] == "-" else node


def _numbers_first(text: str, truth: str, question: str | None) -> MathVerdict | None:
    """The verdict on two equal texts, or on two plain numbers such as `0.5` and `1/2`; None for all others.

    These come first, so no rule of wording can change them.

    Args:
        question: the task's text. Because of it an equal value may still be a mere copy, or unfinished work.
    """
    if text == truth:
        return written_alike(text)
    if (digits := plain_key(truth)) is not None and digits == plain_key(text):
        # Digits compared as text: fast even for very long numbers
        return verdict_of("normalised", EQUAL, text, truth)
    ref = _plain_number(truth)
    ans = None if ref is None else _plain_number(text)
    if ref is None or ans is None or (mine := literal(ref)) is None or (theirs := literal(ans)) is None:
        return None
    if not close(ref, mine, ans, theirs):
        return verdict_of("numeric", DIFFERENT, text, truth)
    asked = about(question)
    if asked is not None and (problem := on_own_stack(unearned, asked, ans, ref, text, truth)):
        return MathVerdict("different", "numeric", problem)
    return verdict_of("numeric", EQUAL, text, truth)


def _with_values_for_letters(text: str, truth: str, question: str | None) -> tuple[str, str, str | None]:
    """Answer, reference and question; a letter becomes its choice's value if the other side is a value.

    If choice C is 7, the reference `C` and the answer `7` become `7` and `7`, and the question loses its choices. But
    if the answer equals a different choice, too, the reference stays `C`. Of an answer `B. 7` the letter counts.
    """
    asked = about(question)
    if asked is None or not (choices := asked.choices):
        return text, truth, question
    text, truth = asked.in_latin(text), asked.in_latin(truth)
    if asked.has_small_choices:
        if _SMALL_LETTER.fullmatch(truth) is None:
            # letters such as `(a)` are parts of the question, not choices
            return text, truth, question
        truth = truth.strip("()").upper()
        if small := _SMALL_CHOICE.match(text):
            text = f"{small['letter'].upper()}. {closed(small['value'])}"
    value = plain(text.replace("\\%", "%")) if _WORDED.search(text) else ""
    said = [mark for mark, one in choices.items() if value and plain(one.replace("\\%", "%")) == value]
    text = said[0] if len(said) == 1 else text
    own = _LETTER_AND_TEXT.fullmatch(plain(text))
    if own is not None and plain(choices.get(own["letter"].upper(), "")) == own["said"]:
        text = own["letter"].upper()
    text = _letter_with_value(text, choices)
    mine, theirs, chosen = letter(truth), letter(text), choice(text)
    if (mark := text[:1]) in choices and "".join(text.split()) == f"{mark}.{''.join(choices[mark].split())}":
        text, theirs, chosen = mark, mark, None
    if chosen is not None and chosen[0] in choices and mine is None:
        same = [mark for mark, said in choices.items() if not _is_other(bare(chosen[1]), bare(said))]
        return (text if not same or chosen[0] in same else bare(choices[chosen[0]])), truth, question
    if mine in choices and theirs is None and chosen is None:
        others = (bare(said) for mark, said in choices.items() if mark != mine)
        wanted = bare(choices[mine])
        if all(_is_other(text, one) for one in others) and _is_readable(wanted, asked.stem):
            return text, wanted, asked.stem
    if theirs in choices and mine is None and choice(truth) is None:
        return bare(choices[theirs]), truth, asked.stem
    return text, truth, question


# A unit without a name, of length, area or volume: `6\\ \\text{u}^2`, `24\\text{ FE}` (German for square units)
_NAMELESS = re.compile(
    r"(?<=[\d}])(?:\s|~|\\[ ,;])*+(?:\\(?:text|mathrm)\s*\{\s*)?(?P<said>u|[FVLR]E"
    r"|unidades de (?:área|volumen|volume)|unités (?:d'aire|de volume))\s*\}?(?:\s*\^?\s*\{?(?P<power>[23²³])\}?)?$"
)


def _without_nameless(text: str, truth: str, question: str | None) -> tuple[str, str]:
    r"""Answer and reference without a nameless unit: `6` for `6\text{ u}^2`.

    Only if both have the same one, if only the reference has one, or if the answer's is the one that the question asks
    for (of an area, square units).
    """
    mine, theirs = (_nameless(one, question) for one in (truth, text))
    if mine is None:
        is_asked = theirs is not None and question and _power_of(theirs) == power_asked(question)
        return (text[: theirs.start()] if theirs is not None and is_asked else text), truth
    if theirs is None:
        return text, truth[: mine.start()]
    if _power_of(mine) != _power_of(theirs):
        return text, truth
    return text[: theirs.start()], truth[: mine.start()]


def _nameless(text: str, question: str | None) -> re.Match[str] | None:
    r"""The nameless unit at the end of a text, such as `\text{ u}^2`; None if there is none.

    A `u` that is not typeset upright, as in `3u^2`, is a unit only if a question is known and its formulas have no `u`.
    """
    found = _NAMELESS.search(text)
    is_letter = found is not None and found["said"] == "u" and _TYPESET.search(found[0]) is None
    return None if is_letter and (not question or _LONE_U.search(question)) else found


_TYPESET = re.compile(r"\\(?:text|mathrm)")
_LONE_U = re.compile(r"\$[^$]*?(?<![^\W\d_])(?<!\d)(?<!\d )u(?![^\W\d_])[^$]*\$")


def _power_of(unit: re.Match[str]) -> int:
    """2 for a unit of area, 3 for a unit of volume, else 1: 2 for `FE` and `u^2`."""
    said, power = unit["said"], unit["power"] or ""
    if power in ("2", "²") or re.search("^F|área|aire", said):
        return 2
    return 3 if power in ("3", "³") or re.search("^V|^R|volum", said) else 1


_RESIDUE = re.compile(
    r"(?<![\d.])(?<!\d,)(?:\\(?:overline|bar|hat|widehat)\s*\{?\s*(\d+)\s*\}?|\[\s*(\d+)\s*\])(?:_\{?\d+\}?)?"
)
_OF_RESIDUES = re.compile(r"\\mathbb\s*\{?Z\}?\s*(?:_|/)|Z_\{?\d|residue class|剩余类|Restklasse|вычет")


def _residues(text: str, question: str | None) -> str:
    r"""The text with residue classes as numbers: `4` for `\overline{4}` and `[4]`, if the question is about them."""
    if (
        question is None
        or not ("[" in text or "\\overline" in text or "\\bar" in text or "hat" in text)
        or not _OF_RESIDUES.search(question)
    ):
        return text
    return _RESIDUE.sub(lambda m: m[1] or m[2], text)


def _letter_with_value(text: str, choices: dict[str, str]) -> str:
    r"""The letter alone, if the choice's own value is beside it: `C` for `C\ (0.954)`; any other text as it is."""
    found, at = _LETTER_BESIDE.fullmatch(text), text.rfind("(")
    value = found["value"] if found is not None else ""
    if found is None and at > 0 and (found := _LETTER_ALONE.fullmatch(text, at)) is not None:
        value = text[:at].rstrip(" ~").removesuffix("\\text{").rstrip(" ~\\,;")
    if found is None or found["letter"] not in choices:
        return text
    sides = [bare(one.replace("$", "")) for one in (value, choices[found["letter"]])]
    is_own = not _is_other(*sides) or plain(sides[0]) == plain(sides[1]) or same_value(*sides)
    return found["letter"] if is_own else text


_LETTER_ALONE = re.compile(
    r"\$?(?:\\(?:text|math)(?:bf|rm|it)?\s*\{)?\s*[(（]?(?P<letter>[A-J])[)）]?(?:\s*\}){0,2}\$?"
)
_BETWEEN = r"(?:\s|~|\\[ ,;:!]|\\q?quad(?![a-z])|\\left|\\text\s*\{)*+"
_LETTER_BESIDE = re.compile(
    rf"{_LETTER_ALONE.pattern}{_BETWEEN}(?:(?P<open>[(（])|[,，]{_BETWEEN})"
    r"(?P<value>.+?)(?:\\right)?(?(open)[)）])\}?\$?"
)
_WORDED = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{2}|[\u4e00-\u9fff]{2}")
_LETTER_AND_TEXT = re.compile(r"[(（]?(?P<letter>[a-j])\s?[)）.．:：、]+\s?(?P<said>.+)")
_SMALL_CHOICE = re.compile(r"(?:\\text\s*\{\s*)?\(?(?P<letter>[a-j])\)\s*\}?(?:\\[ ,;:!]|~|\s)*(?P<value>\S.*)")
_SMALL_LETTER = re.compile(r"\(?[a-jA-J]\)?")


def _is_other(text: str, other: str) -> bool:
    """Whether two texts are neither the same nor equal numbers: False for `0.5` and `1/2`."""
    known = _numbers_first(text, other, None)
    return known is None or known.outcome != "equal"


def _is_readable(text: str, question: str) -> bool:
    """Whether the text of a choice is a value that may be a reference: `7`, but not `It rains 7 days`."""
    words = [word for word in plain(text).split() if word.isalpha() and len(word) > 1]
    if len(words) > 1 and "\\" not in text and not all(known(singular(word)) or exponent_named(word) for word in words):
        # a statement: its number alone is not what it states
        return False
    with suppress(JudgeError):
        return read_reference(reference(text), about(question)).node is not None
    return False


_EQUALS = re.compile(r"(?<![<>!:\\=])=(?!=)")


def _of_asked(text: str, question: str | None) -> str:
    r"""The value alone, if the question's own formula is before it: `7` for `3\star 2=7`; any other text as it is.

    Steps between the two, `3\star 2=9-2=7`, are dropped, too, if none of them is a plain number or a list.
    """
    led = None if question is None or text.isascii() else _LED_UNSPACED.fullmatch(text)
    if led is not None and question is not None:
        lead = re.sub(r"\\text|[{}$\s]", "", led["lead"]).rstrip("是为為").lstrip("所以故则")
        said = re.findall(r"[\u4e00-\u9fff]+|[^\u4e00-\u9fff]+", lead)
        is_plain = len(lead) > len("的") and re.search("[不非没無无未半倍几超至或和于]", lead) is None
        if is_plain and all(one in re.sub(r"[$\s]", "", question) for one in said):
            return led["value"]
    asked = about(question) if "=" in text else None
    if asked is None:
        return text
    first, *steps = _EQUALS.split(text)
    if not steps:
        return text
    if _ARRANGEMENTS.fullmatch(first.strip(" $")) is not None:
        # `A_6^2` is a number itself, and may differ from the value
        return text
    if not asked.asks_for(first.strip(" $")) and not combines_unknowns(first.strip(" $"), asked.text):
        return text
    value = steps.pop().strip()
    is_whole = value.count("{") == value.count("}") and first.count("{") == first.count("}")
    lists = any(_LISTS_IN.search(re.sub(r"\([^()]*\)", "", one)) for one in steps)
    lists = lists or any(len(one) > _LONGEST_STEP or is_false(f"{one}={value}") for one in steps)
    return value if value and is_whole and not lists and not any(_plain_number(one.strip()) for one in steps) else text


# Chinese words before a value, which may be the question's: `\\text{函数}f(x)\\text{的单调递增区间为}(3,+\\infty)`
_LED_UNSPACED = re.compile(
    r"(?P<lead>(?:\\text\s*\{[^{}]*\}|[\w()'\s$])*?\\text\s*\{[^{}]*[是为為]\s*\}|[\w()'\s$]*[\u4e00-\u9fff][是为為]"
    r"|\\text\s*\{[\u3040-\u30ff\u4e00-\u9fff\s]+\}(?=(?:\s|~|\\[ ,;:!])*[(\[]))(?:\s|~|\\[ ,;:!])*"
    r"(?P<value>[(\[\\\d-][\s\S]*)"
)
_ARRANGEMENTS = re.compile(r"(?:\\(?:mathrm|text)\s*\{[AC]\}|[AC])_\{?\d+\}?\^\{?\d+\}?")
_LONGEST_STEP = 200
# A separator within a step: the step lists several values
_LISTS_IN = re.compile(r"[,;]|\\(?:text|q?quad|lor|land|vee|wedge)(?![a-z])")


# The number of digits of a price behind its comma
_CENTS = 2
_COMMA = re.compile(r"(-?\d+),(\d+)(?=$|[\s€%°]|\\(?!\{))(?!.*(?:(?<!\\),|[(\[]))")
_OF_DECIMALS = re.compile(r"\d\{?,\}?\d|d[eéè][cz]im|десятич|thập phân|小数", re.IGNORECASE)


# Words of a question that asks for several values, which a comma may separate; in `the distance of two points` the
# group `one` matches, since that is one value
_OF_SEVERAL = re.compile(
    r"(?P<one>\b(?:of|between|to|with|in|von|zwischen|der|des|auf|mit|in|à|avec|de|des|entre|con|a|di|dei|delle|tra|fra|com|до"
    r"|с|между|из|na|op|met|van|tussen|till|med|av|mellan|z|w)\s(?:the |den |les |los |las |le |de |i )?)?"
    r"\b(?:both|two|three|beide[ns]?|zwei|drei|deux|trois|dos|tres|ambos|due|tre|entrambi|dois|duas|два|две|оба|обе|twee"
    r"|två|dwie|dwa)\b|[两兩二]个|和|十分位",
    re.IGNORECASE,
)


# `y=1,4x+0,5`: a number with a decimal comma before a letter, and no other comma
_LINE_OF_COMMAS = re.compile(
    r"[a-z](?:\([a-z]\))?\s*=\s*(?:[^,]|(?<=\d),(?=\d))*?\d,\d{1,3}\s?[a-z](?:[^,]|(?<=\d),(?=\d))*"
)
_INNER_COMMA = re.compile(r"(?<=\d),(?=\d)")


def _pointed(truth: str, text: str, question: str | None) -> str:
    r"""The reference with a decimal point for its decimal comma: `3.14` for `3,14`.

    Only if the comma cannot separate two values: the question asks for a rounded or decimal value, a currency or a unit
    is beside it, or the question's language has decimal commas. `1.234,50` is one number unless the answer lists two.

    Args:
        truth: the reference.
        text: the answer.
    """
    if "," not in truth:
        return truth
    if (currency := _CURRENCY.match(truth)) is not None:
        amount = truth[currency.end() :]
        match = _COMMA.fullmatch(amount)
        if match is not None and len(match[2]) == _CENTS:
            return f"{currency[0]}{match[1]}.{match[2]}"
        return currency[0] + _pointed(amount, _without_currency(text), question)
    if _LINE_OF_COMMAS.fullmatch(truth) is not None and _writes_commas((question or "").lower()):
        return _INNER_COMMA.sub(".", truth)
    grouped = _GROUPED.match(truth.lstrip("-"))
    if grouped is not None and grouped["point"] and grouped[0][0] != "0" and (decimals := grouped["decimals"]):
        lists = re.search(rf"(?<!\d){re.escape(grouped['whole'])}\s*,\s*{decimals}(?!\d)", text)
        return truth if lists is not None else _number_of(grouped, truth)
    match = _COMMA.match(truth)
    if match is None or (len(match[2]) == _THOUSANDS and match[1].lstrip("-") != "0"):
        return truth
    asked = about(question) or NO_QUESTION
    clause = asking_clause(asked.text)[0] or asked.text
    if any(found["one"] is None and not _measures_next(clause, found.end()) for found in _OF_SEVERAL.finditer(clause)):
        return truth
    is_amount = _UNIT_BEHIND.match(truth, match.end()) is not None or _is_in_groups(match, text, asked)
    written = re.search(rf"(?<![\d.,]){match[1].lstrip('-')}(?:(\{{,\}})|\.){match[2]}(?!\d)", text)
    # if a question asks for several values, `0,7` may be two
    is_alone = match.end() == len(truth) and not _ASKS_SEVERAL.search(clause)
    is_alone = is_alone and _LISTS.search(text) is None and "," not in text
    is_decimal = (is_alone or (written is not None and written[1] is not None)) and _writes_commas(asked.text.lower())
    if not (is_decimal or is_amount or asked.speaks_of_rounding or _OF_DECIMALS.search(asked.text)):
        return truth
    is_one = written is not None or is_amount or (is_alone and is_decimal)
    return f"{match[1]}.{match[2]}{truth[match.end() :]}" if is_one else truth


_NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")


def _measures_next(clause: str, at: int) -> bool:
    """Whether the word behind position `at` is a unit of measurement: behind `two` in `two years`, a single value."""
    following = _NEXT_WORD.match(clause, at)
    return following is not None and unit_named(following[1]) is not None


def _is_in_groups(written: re.Match[str], text: str, asked: Question) -> bool:
    """Whether a text begins with the number `written`, its thousands grouped: `1.250,50` for `1250,5`."""
    grouped = _GROUPED.match(_without_currency(text)) if _writes_commas(asked.text.lower()) else None
    if grouped is None or not (grouped["point"] and grouped["decimals"]):
        return False
    sides = (_number_of(grouped, grouped[0]), f"{written[1]}.{written[2]}")
    return all(map(_PLAIN.fullmatch, sides)) and len({*map(Fraction, sides)}) == 1


_ASKS_SEVERAL = re.compile(
    r"=|корн|решен|систем|точк|координ|нул[иье]|solu|système|coord|point|nullst|lösung|gleichung|punkt|punt|raí[zc]|racin|soluz|radic"
    r"|zer[io]|sistem|ecuaci|equa|pierwiast|rozwi|all[eo]?\b|tous|todos|tutti|все|числа\b|катет[иы]|valeurs",
    re.IGNORECASE,
)
# What else than a comma separates the values of a list
_LISTS = re.compile(r";|\\pm|\\(?:text|mathrm)|\b(?:or|and)\b|и|\bet\b|\bund\b|\by\b")
_OF_COMMAS = re.compile(
    r"[à-öø-žа-я]|\b(?:der|das|ist|wie|la|les|est|une?|quelle?s?|el|los|qual|che|wat|een|jaki|ile|berapa|quant[oaie]s?"
    r"|combien|hvor|hoeveel)\b"
)
_DECIMAL = re.compile(r"(?<![\d.,])(?:0([.,])\d+|\d+([.,])(?:\d{1,2}|\d{4,}))(?![\d.,]*\d)")


def _writes_commas(asked: str) -> bool:
    """Whether a question, given in lower case, is in a notation with decimal commas, as in `3,5`.

    Its own decimals decide; without any, its language does.
    """
    signs = {first or second for first, second in _DECIMAL.findall(asked)}
    if len(signs) == 1:
        return signs == {","}
    return _OF_COMMAS.search(asked) is not None and not is_english(asked)


# A question about Indian money, in an Indian script, or with a number in Indian groups: `12,50,000`
_OF_INDIA = re.compile(r"rupee|lakh|crore|₹|\brs\b|india|[\u0900-\u0dff]|\d,\d{2},\d{3}(?!\d)")
_GROUPED = re.compile(
    r"(?P<whole>\d{1,2}(?:,\d{2})+,\d{3}|\d{1,3}(?:(?P<point>\.|\\[,;:]|~| )\d{3})+)"
    r"(?:\{?,\}?(?P<decimals>\d+))?(?!\d)"
)


def _number_of(grouped: re.Match[str], text: str) -> str:
    """`text` with its grouped number in plain digits: `1250.50 €` for `1.250,50 €`."""
    decimals = f".{grouped['decimals']}" if grouped["decimals"] else ""
    return text.replace(grouped[0], re.sub(r"\D", "", grouped["whole"]) + decimals, 1)


def _in_notation_of_reference(text: str, truth: str, question: str | None, *, has_comma: bool) -> str:
    r"""The answer with its number in the reference's notation: `12,50` as `12.50`, `12,50,000` as `1250000`.

    Any other answer comes back as it is, also a number that has not the reference's value, unless a unit may make up
    for it: `2,5 heures` for `2 h 30 min`.

    `1.234` may be 1234 or 1 and 234 thousandths: a notation with two meanings is rewritten only if the
    question's language uses it. A decimal comma is rewritten in two more cases: in an amount of money, and if
    `has_comma`.

    Args:
        has_comma: whether the reference had a decimal comma.
    """
    if "," not in text + truth and "." not in text:
        return text
    currency = _CURRENCY.match(text)
    sign, text = ("", text) if currency is None else (currency[0], text[currency.end() :])
    amount = _without_currency(truth)
    if not text[:1].isdigit():
        return sign + text
    return sign + _regrouped(text, amount, question, is_money=bool(sign) or amount is not truth or has_comma)


def _without_currency(text: str) -> str:
    """The text without a currency sign before its amount: `3` for `€3`."""
    sign = _CURRENCY.match(text)
    return text if sign is None else text[sign.end() :]


# A currency sign before its amount: `€`, `R$`, `Rp`
_CURRENCY = re.compile(
    r"(?:\\text\s*\{\s*)?(?:[A-Z]{0,2}\s*\\?\$|[€£¥₹₩₫₽₺₴₦৳฿₪₭]|Rp\.?|Rs\.?)\s*+\}?(?:\\[ ,;:!]|~|\s)*+(?=\d)"
)


_LEADING_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?=\s*(?:[€$£₹₽₺₫₴₦]|\\text|[^\W\d_]{2}))")
# An amount of money with a point before its thousands: `27.000 €`
_BY_POINTS = re.compile(r"\d{1,3}\.000(?!\d)\s*(?:€|euro|kr\b|pesos|lir)|(?:€|r\\?\$)\s?\d{1,3}\.000(?!\d)")


def _regrouped(text: str, truth: str, question: str | None, *, is_money: bool) -> str:
    """As `_in_notation_of_reference`, for an answer and a reference without a currency sign before them."""
    asked = "" if question is None else question.lower()
    number, plain = _LEADING_NUMBER.match(truth), _PLAIN.match(truth)
    # `27.500 €` may be thousands
    is_measured = plain is not None and "." not in plain[0] and _UNIT_BEHIND.match(truth, plain.end()) is not None
    truth = truth if number is None else number[0]
    commas = _COMMA.match(text)
    same = commas is not None and (truth == f"{commas[1]}.{commas[2]}" or (truth, "00") == commas.groups())
    if commas is not None and _PLAIN.fullmatch(truth) is not None and len(truth.partition(".")[2]) in (1, 2):
        # `20,4` for 20.40, too
        same = Fraction(truth) == Fraction(f"{commas[1]}.{commas[2]}")
    if commas is not None and same and (is_money or _writes_commas(asked)):
        return truth + text[commas.end() :]
    if commas is not None and is_measured and _is_amount(text, commas) and _writes_commas(asked):
        # an amount in another unit: `2,5 heures` for `2 h 30 min`
        return f"{commas[1]}.{commas[2]}{text[commas.end() :]}"
    match = _GROUPED.match(text)
    if match is None:
        return text
    is_written = _writes_commas(asked) if match["point"] else _OF_INDIA.search(asked) is not None
    is_written = is_written or (match["point"] == "." and _BY_POINTS.search(asked) is not None)
    is_sure = match["point"] and (match["decimals"] or match["whole"].count(match["point"]) > 1)
    digits = (_number_of(match, match[0]), truth.replace("{,}", "."))
    is_same = all(map(_PLAIN.fullmatch, digits)) and len({*map(Fraction, digits)}) == 1
    if not is_same or not (is_sure or is_written):
        return text
    return truth + text[match.end() :]


def _is_amount(text: str, written: re.Match[str]) -> bool:
    """Whether a number with one or two digits behind its comma, `2,5 heures`, has a unit behind it."""
    return len(written[2]) < _THOUSANDS and _UNIT_BEHIND.match(text, written.end()) is not None


_PLAIN = re.compile(r"-?\d{1,30}(?:\.\d{1,30})?")
_THOUSANDS = 3
_UNIT_BEHIND = re.compile(
    r"(?!\s*(?:or|and|oder|und|ou|et|y|e|o|и|или|i|en|och)\b)"
    r"\s*(?:\\,|\\;|\\ )?\s*(?:\\?%|\\(?:text|mathrm)|[€$£°]|[^\W\d_])"
)


STAGES = ("exact", "normalised", "numeric", "structure", "symbolic", "sympy")
CHEAP_STAGES = STAGES[:4]
WORKER_STAGES = STAGES[4:]


# The cheap stages take about 25 us a character, and whoever runs an event loop must not stop it for milliseconds
_LONG_CHARS = 256
#: In place of a stage: the cheap stages of a long pair.
READING = "reading"
#: The verdict of the cheap stages, or None if they reach none; and whether sympy may decide such an open pair.
ReadPair = tuple[MathVerdict | None, bool]


def _stages(
    answer: str,
    ground_truth: str,
    question: str | None,
    copied: Copied,
    *,
    has_worker: bool,
    reads_long: bool = True,
) -> Asking:
    """The verdict of the first stage that reaches one, as a generator that asks its caller to run a worker's stages.

    Args:
        has_worker: whether there is a worker; without one no stage of a worker is asked for.
        reads_long: whether the cheap stages of a long pair run in this process.

    Yields:
        a pair and the stage that a worker is to run; the caller sends the worker's outcome and reason. Or a pair and
        `READING`; the caller sends its `ReadPair`.
    """
    is_short = len(answer) <= _LONG_CHARS
    kept = _kept_verdict(answer, ground_truth, question, copied, has_worker) if is_short else []
    if kept:
        return kept[0]
    asking = _whole_and_parts(answer, ground_truth, question, copied, has_worker=has_worker, reads_long=reads_long)
    is_of_worker = False
    try:
        request = next(asking)
        while True:
            is_of_worker = True
            request = asking.send((yield request))
    except StopIteration as done:
        verdict: MathVerdict = done.value
    if not is_of_worker and verdict.outcome != "undecided":
        kept.append(verdict)
    return verdict


@lru_cache(maxsize=1024)
def _kept_verdict(
    answer: str, ground_truth: str, question: str | None, copied: Copied, has_worker: bool
) -> list[MathVerdict]:
    """The cached list for the verdict on these arguments: empty at first, then with the verdict as its only member.

    It saves time, since an advantage group states few different answers. A verdict in which a worker had a part is not
    kept, because it may depend on the time that was left. `has_worker` is in the key, because without a worker more
    pairs stay undecided.
    """
    return []


def _whole_and_parts(
    answer: str, ground_truth: str, question: str | None, copied: Copied, *, has_worker: bool, reads_long: bool
) -> Asking:
    """As `_stages`, without the cache: the verdict on the whole answer, then on parts that have names or letters.

    Each part of `mean 4, median 5` or `(a) 5 (b) 2` is compared with the same part of the reference.
    """
    whole: MathVerdict = yield from _stages_of_one(
        answer, ground_truth, question, copied, has_worker=has_worker, reads_long=reads_long
    )
    # if only the notation differs, the parts need not be compared
    is_same = whole.outcome == "equal" and whole.stage in CHEAP_STAGES[: 1 if "\\text" in answer else 2]
    named = [] if is_same else by_names(answer, ground_truth, question)
    if named is None and whole.outcome == "equal":
        return MathVerdict("different", "structure", f"{UNREAD}: the names of the values: {short(answer)}")
    for mine, theirs in named or ():
        part: MathVerdict = yield from _stages_of_one(
            mine, theirs, question, copied, has_worker=has_worker, reads_long=reads_long
        )
        if part.outcome != "equal":
            # the whole was compared without words that the question has, and so perhaps without the names
            is_open = whole.outcome == "different" or (part.outcome != "different" and whole.outcome != "equal")
            return whole if is_open else MathVerdict("different", "structure", part.reason)
    if named:
        return MathVerdict("equal", "structure", f"name by name: {short(answer)} = {short(ground_truth)}")
    if is_same or whole.outcome == "undecided" or ground_truth.count(")") + ground_truth.count("）") < len("ab"):
        return whole
    # without its own part of the question, a part is compared with all of it, unless the whole was equal already
    rest = None if whole.outcome == "equal" else question
    parts = _part_by_part(bare(answer), reference(ground_truth), question or "", rest)
    for mine, theirs, asked in parts:
        found: MathVerdict = yield from _stages_of_one(
            mine, theirs, asked, copied, has_worker=has_worker, reads_long=reads_long
        )
        if found.outcome != "equal":
            return found if whole.outcome == "equal" else whole
    reason = f"part by part: {short(answer)} = {short(ground_truth)}"
    return MathVerdict("equal", found.stage, reason) if parts else whole


def _part_by_part(answer: str, truth: str, question: str, rest: str | None) -> list[tuple[str, str, str | None]]:
    """The lettered parts as rows of answer, reference and question: of `(a) 5 (b) 2` a row for `5` and one for `2`.

    Empty unless answer and reference have the same letters.

    Args:
        rest: the question of every part if the question has no parts with these letters.
    """
    theirs = lettered(truth)
    mine = None if theirs is None else lettered(answer)
    if theirs is None or mine is None or mine.before or theirs.before or mine.labels != theirs.labels:
        return []
    asked = lettered(question, _LONGEST_QUESTION)
    own = [rest] * len(mine.labels)
    if asked is not None and asked.labels == mine.labels:
        own = [f"{asked.before} {part}" for part in asked.parts]
    return list(zip(mine.parts, theirs.parts, own, strict=True))


_LONGEST_QUESTION = 5_000


def _in_words(text: str, truth: str, question: str | None) -> tuple[str, str]:
    r"""Answer and reference with spelled numbers, typeset units and declared constants in one notation.

    `\frac{\text{g}}{\text{cm}^3}` becomes `\text{ g/cm^3}`, and the reference `four` becomes `4` for an answer `4`.
    """
    if any(map(str.isdigit, text)):
        # the reference `four` for the answer `4`
        truth = spelled_number(truth) or truth
    text, truth = _as_rounded(text, truth, question)
    text, truth = (with_square_brackets(side, question) for side in (_with_rounded_name(text, truth), truth))
    text, truth = units_in_line(text), units_in_line(truth)
    if "=" in text and is_one_unit(truth):
        # `1\\ \\mathrm{V}=` before the units in which the volt is to be written
        text = _UNIT_DEFINED.sub(partial(_without_own_unit, question or ""), text, count=1)
    if is_one_unit(text) and is_one_unit(truth):
        # units alone, such as those of a constant, are compared as quantities of one
        text, truth = f"1\\text{{ {unit_of_markup(text)}}}", f"1\\text{{ {unit_of_markup(truth)}}}"
    return with_declared_constant(text), with_declared_constant(truth)


def _without_own_unit(question: str, defined: re.Match[str]) -> str:
    r"""An empty text for the match `1\ \mathrm{V}=` if the question has this unit; else the match as it is.

    Such a question asks for the unit in terms of other units.
    """
    own = unit_named(defined["unit"])
    named = {measure(((one, 1),)) for one in units_named_in(question)}
    return "" if own is not None and measure(((own, 1),)) in named else defined[0]


_UNIT_DEFINED = re.compile(
    r"\A\s*1?(?:\s|~|\\[ ,;])*\\(?:mathrm|text)\s*\{\s*(?P<unit>[a-zA-ZΩ]{1,5})\s*\}\s*="
    r"\s*(?:1(?:\s|~|\\[ ,;])+(?=\\))?"
)
# `P = Q = 40`
_SHARED = re.compile(
    r"(?P<names>(?:(?:[a-zA-Z]|\\(?:alpha|beta|gamma|lambda|mu))(?:_\{?\w\}?)?(?:\^\{?(?:\*|\\ast)\}?)?\s*=\s*){2,6})(?P<value>(?:\\[a-zA-Z]+|[^=,;<>a-zA-Z\\]){1,40})"
)
_HOLDS_SEVERAL = re.compile(r"=[^=]*[,;][^=]*=|\([^()]*[,;][^()]*\)")


def _one_by_one(text: str, other: str) -> str:
    """`P=40, Q=40` for `P=Q=40`, if the other side has several equations or a tuple; any other text as it is."""
    found = _SHARED.fullmatch(text) if text.count("=") > 1 else None
    if found is None or _HOLDS_SEVERAL.search(other) is None:
        return text
    return ", ".join(f"{name.strip()}={found['value']}" for name in found["names"].rstrip(" =").split("="))


_HAS_DECIMALS = re.compile(
    r"-?\d+(?:\.|\{,\}|,)\d+"
    r"(?:(?:\s|\\[ ,;:!]|[~$])*\\(?:text|mathrm)\{[^{}]*\}\$?|\s?[^\W\d_]{1,4}(?:/[^\W\d_]{1,3})?)?"
)
_ROUNDED_NAME = re.compile(
    r"^((?:[a-zA-Z]|\\Delta\s*[A-Z](?:\^\{?\\circ\}?)?|\\(?:text|mathrm|operatorname)\{[^{}]*\})(?:_\{?\w+\}?)?(?:\s?\([^()]*\))?)\s*"
    r"(?:\\approx(?![a-z])|≈)\s*(-?\d+(?:\.|\{,\}|,)\d+(?:[^=\\]|\\(?:text|mathrm)(?=\{)|\\[ ,;:!])*)$"
)


def _with_rounded_name(text: str, truth: str) -> str:
    r"""`P(X>1)=0.135` for `P(X>1) \approx 0.135`, if the reference is a decimal; any other text as it is."""
    return _ROUNDED_NAME.sub(r"\1=\2", text) if _HAS_DECIMALS.fullmatch(truth) is not None else text


_OWN_ROUNDING = re.compile(
    r"(?:(?!\\(?:text|pm|mp|le|ge|lt|gt)|\bor\b)[^=≈,;<>±≤≥]){1,80}?(?:\\approx(?![a-z])|≈)\s*(?P<rough>-?\d+\.\d{2,})"
)
_ROUNDED = re.compile(r"(?:[^=≈,;]{1,24}?(?:=|\\approx(?![a-z])|≈)\s*)?-?\d+\.\d{2,}")
_ROUNDED_FIRST = re.compile(
    r"\A(?P<name>[^=≈,;]{0,24}?)\s*(?:\\approx(?![a-z])|≈)\s*(?P<rough>-?\d+\.\d+)\s*(?P<exact>=\s*(?!-?[\d.]+\Z)[^=≈]+)\Z"
)
_DECIMAL_GIVEN = re.compile(r"\d\.\d")


def _as_rounded(text: str, truth: str, question: str | None) -> tuple[str, str]:
    r"""Answer and reference, of which one may give both an exact and a rounded value: `\frac{17}{3} \approx 5.67`.

    If the answer is a decimal and the question has decimals, the reference becomes its rounded value, `5.67`. An answer
    that gives its rounded value first, gets it last.
    """
    text = _ROUNDED_FIRST.sub(r"\g<name>\g<exact>\\approx \g<rough>", text)
    theirs = _OWN_ROUNDING.fullmatch(truth) if question and _ROUNDED.fullmatch(text) else None
    return text, truth if theirs is None or not _DECIMAL_GIVEN.search(question or "") else theirs["rough"]


def _said_alone(text: str, asked: Question) -> str:
    r"""A value without a substance, a kind of line or a counted noun that the question has.

    Such as `1500` for `\text{shilingi }1500`, of a question about shilingi.
    """
    text = lines_of_kinds(without_substance(in_figures_of_oxidation(text, asked), asked), asked)
    if (dotted := _DOTTED.search(text)) and re.search(rf"{dotted[0].replace('.', '[.]')}(?![A-Z])", asked.text):
        text = text.replace(dotted[0], dotted[0].replace(".", ""))
    counted = _NOUN_FIRST.fullmatch(text)
    if counted is None:
        return text
    noun, asks = counted["noun"].lower(), asking_clause(asked.text)[0] or re.split(r"[.?!,]\s", asked.text)[-1]
    if noun not in asks.lower():
        return text
    # only in a language whose nouns come before their numbers: `shilingi 1500`
    return counted["amount"] if re.search(rf"(?<!\w){noun}\s\$?\d", asked.text.lower()) is not None else text


_NUMBER_ALONE = re.compile(r"\d+(?:[.,]\d+)?|\\[dt]?frac\{\d+\}\{\d+\}|\d+/\d+")
# Words for `times`, as in `3 times as many`: behind `how many` in a question, and behind the number of an answer
_TIMES_WORD = "倍|배|раза?|рази|разів|times|-?fache?[nrs]?|-?mal|fois|veces|vezes|volte|raz[ay]?|kat[ıi]?|lần|kali"
_ASKS_TIMES = re.compile(
    r"(?:何|多少|[几幾]|몇 ?|(?:сколько|скільки|how many|wie ?viel|combien de|cuántas|quantas|quante|ile|kaç"
    rf"|bao nhiêu|mấy|berapa) ?)(?:{_TIMES_WORD})",
    re.IGNORECASE,
)
_TIMES = re.compile(rf"\A(?:[ву] )?(?P<number>.*[\d}}]) ?(?:{_TIMES_WORD})\Z")
# A solid with the names of its vertices: `V_{S.ABCD}`
_DOTTED = re.compile(r"(?<=_\{)[A-Z]\.[A-Z]{2,6}(?=\})")
_NOUN_FIRST = re.compile(r"\\text\s*\{\s*(?P<noun>[^\W\d_]{3,14})\s*\}\s*(?P<amount>\d(?:[\d.,]|\{,\})*)")


_AND_NUMBER = re.compile(r"(?<!\w)و\s?(?=\d)")
_OF_MOMENTS = re.compile(
    r"varian|E\s*[(\[]|Var\s*[(\[]|expect|erwartung|espérance|esperanza|dispers|дисперс|方差|期望|期待値|분산", re.I
)
# `\\mathbb{E}[X]`, `V(X)`
_MOMENT = re.compile(
    r"(?:\\(?:mathbb|mathrm|operatorname|text)\s*\{?\s*)?(?<![a-zA-Z])(?P<sign>E|Var|V|D)\}?\s*(?:\\left)?[\[(]\s*(?P<of>[XYZ])\s*"
    r"(?:\\right)?[\])]"
)


def _in_one_sign(moment: re.Match[str]) -> str:
    r"""An expected value or a variance in one notation: `E(X)` for `\mathbb{E}[X]`, `V(X)` for `Var(X)`."""
    return f"{'E' if moment['sign'] == 'E' else 'V'}({moment['of']})"


def prepared(answer: str, ground_truth: str, question: str | None) -> tuple[str, str, str | None]:
    """Answer, reference and question as they are compared: in one notation, without wrapping and needless words.

    For `$12,50$`, `12.50` and a German question, `12.50` and `12.50`.

    Raises:
        JudgeError: the reference is unusable.
    """
    text, truth = bare(answer), reference(ground_truth)
    if "و" in text + truth:
        # the Arabic `and`, written together with a number
        text, truth = (_AND_NUMBER.sub("and ", one) for one in (text, truth))
    if "X" in text and "X" in truth and question and _OF_MOMENTS.search(question) is not None:
        text, truth = (_MOMENT.sub(_in_one_sign, one) for one in (text, truth))
    if FIGURES.fullmatch(text) is None or FIGURES.fullmatch(truth) is None:
        if is_of_numbers(text) and is_of_numbers(truth) and text[-1] != "-":
            text, truth = _residues(text, question), _residues(truth, question)
        elif not (is_value(text) and is_value(truth)):
            text, truth = in_notation(*_in_words(text, truth, question))
            text, truth = _one_by_one(text, truth), _one_by_one(truth, text)
            text, truth = _residues(text, question), _residues(truth, question)
            text, truth = _without_nameless(text, truth, question)
        if (asked := about(question)) is not None:
            text = residues_listed(text, truth, asked.text)
            sides = [by_sides(one, asked, in_order=False) for one in (text, truth)]
            if sides[0] != text and sides[1] != truth:
                # the sides of a rectangle may come in either order
                text, truth = sides
            if asked.has(_ASKS_TIMES):
                text, truth = (_TIMES.sub(r"\g<number>", unset(one)) for one in (text, truth))
            if _NUMBER_ALONE.fullmatch(truth) is not None:
                text = in_asked_unit(text, asked.asked_units, asked.numbers)
            text, truth = in_asked_form(_said_alone(text, asked), _said_alone(truth, asked), asked)
    text, truth, question = _with_values_for_letters(text, truth, question)
    truth = _pointed(own := truth, text, question)
    if "=" not in truth:
        text = _of_asked(text, question)
    elif "=" not in text:
        truth = _of_asked(truth, question)
    text = _in_notation_of_reference(text, truth, question, has_comma="," in own and "," not in truth)
    return text, truth, question


def _stages_of_one(
    answer: str,
    ground_truth: str,
    question: str | None,
    copied: Copied,
    *,
    has_worker: bool,
    reads_long: bool,
) -> Asking:
    """As `_stages`, but only for the whole texts, without their parts."""
    text, truth, question = prepared(answer, ground_truth, question)
    known = _numbers_first(text, truth, None if copied == "accept" else question)
    if known is not None:
        return known
    pair = Pair.of(text, truth, question)
    if reads_long or len(text) + len(truth) <= _LONG_CHARS:
        known, for_sympy = _cheap_verdict(pair, copied), None
    else:
        known, for_sympy = yield pair, READING
    if known is not None:
        return known
    if not has_worker:
        unknown = f"undecided without a symbolic stage: {_shown(UNKNOWN, text, truth)}"
        return MathVerdict("undecided", "structure", unknown)
    verdict = _of_worker(WORKER_STAGES[0], pair, (yield pair, WORKER_STAGES[0]))
    if verdict.outcome == "undecided" and (pair.is_for_sympy() if for_sympy is None else for_sympy):
        return _of_worker(WORKER_STAGES[1], pair, (yield pair, WORKER_STAGES[1]))
    return verdict


def _cheap_verdict(pair: Pair, copied: Copied) -> MathVerdict | None:
    """The verdict of the cheap stages on two texts that differ; None if they reach none."""
    for stage in CHEAP_STAGES[1:]:
        verdict = run_stage(stage, pair, copied=copied)
        if verdict is not None:
            return verdict
    if copied == "refuse" and (problem := on_own_stack(_unearned, pair)) is not None:
        # A copied or unworked answer is different even if its value is right, so no worker is needed
        return MathVerdict("different", CHEAP_STAGES[-1], problem)
    return None


def read_pair(pair: Pair, copied: Copied) -> ReadPair:
    """The result of the cheap stages on a pair; a worker runs this on long pairs.

    Raises:
        JudgeError: the reference cannot be read.
    """
    verdict = _cheap_verdict(pair, copied)
    return verdict, verdict is None and pair.is_for_sympy()


def _of_worker(stage: str, pair: Pair, found: tuple[Verdict, str]) -> MathVerdict:
    """The verdict from the outcome and the reason that a worker found."""
    outcome, reason = found
    return MathVerdict(outcome, stage, reason or f"{stage}: {_shown(_OUTCOMES[outcome], pair.answer, pair.truth)}")


def run_stage(
    stage: str, pair: Pair, *, symbolic: Symbolic | None = None, copied: Copied = "refuse"
) -> MathVerdict | None:
    """The verdict of one stage; None if the stage leaves the pair to later stages.

    Raises:
        JudgeError: the reference cannot be read, or the sandbox failed.
    """
    if stage in WORKER_STAGES:
        if symbolic is None or (stage == "sympy" and not pair.is_for_sympy()):
            return None
        verdict = _of_worker(stage, pair, _ask(symbolic, (pair, stage)))
    else:
        try:
            outcome, note = on_own_stack(_CHEAP[stage], pair)
        except TooComplex as exc:
            return MathVerdict("undecided", stage, f"undecided: {exc}: {short(pair.answer)}")
        if outcome is UNKNOWN:
            return None
        verdict = verdict_of(stage, outcome, pair.answer, pair.truth, note)
    # The reference's own text is an answer, even if the question has it too
    if verdict.outcome != "equal" or copied == "accept" or stage in ("exact", "normalised"):
        return verdict
    problem = on_own_stack(_unearned, pair)
    return verdict if problem is None else MathVerdict("different", stage, problem)


def _unearned(pair: Pair) -> str | None:
    """The reason why an equal answer does not count: a copy of the question or unfinished work; None if it counts."""
    ref, ans, question = pair.ref.node, pair.ans.node, pair.question
    if ref is None or ans is None or question is None:
        return None
    if ref == ans and symbols(ref):
        # the reference's own form is finished work: `\\cos(2x)` for `\\cos 2x`
        return None
    if isinstance(ans, Relation):
        members = [part.strip() for part in re.split(r"=|\\approx(?![a-z])", pair.answer)]
        if set(ans.operators) <= {"=", "~", ":"} and (ref in ans.args or pair.ref.text in members) and not symbols(ans):
            # a calculation that contains the reference's form
            return None
        ans = with_args(ans, tuple(map(measured, ans.args)))
    return unearned(question, measured(ans), measured(ref), pair.answer, pair.ref.text)


def _exact(pair: Pair) -> tuple[Outcome, str]:
    """The stage `exact`: equal if both texts are the same."""
    return (EQUAL if pair.answer == pair.truth else UNKNOWN), ""


def _normalised(pair: Pair) -> tuple[Outcome, str]:
    """The stage `normalised`: compares words and tokens, and refuses what cannot be read or is about something else."""
    if not pair.answer:
        return DIFFERENT, "the box is empty"
    if (formed := forms(pair)) is not UNKNOWN:
        return formed, ""
    if (other := _other_words(pair)) != "":
        return DIFFERENT, f"{UNREAD}: the word {other!r}"
    if _is_interval_for_pair(pair):
        return DIFFERENT, "an interval for a pair"
    by_words = wordings(pair)
    if by_words is not UNKNOWN:
        return by_words, ""
    ref, ans = pair.ref, pair.ans
    if ans.tokens and ans.tokens == ref.tokens:
        return EQUAL, ""
    # a counting letter such as `k` is a whole number, whether or not a side states it
    if ref.fields and ans.fields and ref.fields ^ ans.fields not in (frozenset(), _WHOLE):
        return DIFFERENT, "said of other numbers"
    if ans.fields and ref.fields is None and ans.node is not None and not symbols(ans.node) and _bounds(ans.fields):
        return DIFFERENT, "said of a part of the arguments"
    if ans.fields and NARROWED in ans.fields and not ref.fields and not _speaks_of_bounds(pair.question):
        return DIFFERENT, "said of a part of the arguments"
    if not ref.fields and ans.fields and _is_on_part_of_reals(pair):
        return DIFFERENT, "said of a part of the arguments"
    if not ref.fields and ans.fields and _confines_constant(pair):
        return DIFFERENT, "said of a part of the constants"
    if ref.reading is None or ans.reading is None:
        same = bool(ans.tokens) and ans.wording() == ref.wording()
        if same:
            return EQUAL, ""
        return DIFFERENT, f"{UNREAD}: {ans.problem}" if ans.problem else "compared word by word"
    return UNKNOWN, ""


_ASKS_PAIR = re.compile(
    r"\(\s*[a-zA-Z]\s*,\s*[a-zA-Z]\s*\)|\bpairs?\b|\bmeets?\b|\bintersect|\bvert(?:ex|ices)\b|\bcent(?:er|re)\b|midpoint"
    r"|coordinat|顶点|頂点|交点|中点|圆心|坐标|座標|Scheitel|Schnittpunkt|sommet|vértice|вершин|координат|\bcouple|paar\b|\bpar(?:es)?\b|\bcoppi|\bпар[уы]\b|数对|vector",
    re.IGNORECASE,
)
_ASKS_INTERVAL = re.compile(r"[<>]|\\[lg]e|interval|domain|range|intervall|区间|промежут", re.IGNORECASE)
_IN_PARENTHESES = re.compile(r"\([^()<>,]*,[^()<>,]*\)")


def _is_interval_for_pair(pair: Pair) -> bool:
    """Whether an answer gives an interval, `1<x<2`, and the question asks for the pair `(1,2)`, such as a point."""
    if _IN_PARENTHESES.fullmatch(pair.truth) is None or not (pair.answer[:1] == "]" or "<" in pair.answer):
        return False
    asked = pair.question.text if pair.question is not None else ""
    return _ASKS_PAIR.search(asked) is not None and _ASKS_INTERVAL.search(_IN_ORDER.sub("", asked)) is None


_IN_ORDER = re.compile(r"\b[a-z]\s*<\s*[a-z]\b")
# A reference without a letter: it does not name its quantity
_BARE_VALUE = re.compile(r"(?:\\[a-zA-Z]+|[\W\d_])+")


_HOUR = re.compile("[:点點時时시]")


def _other_words(pair: Pair) -> str:
    """A word of the answer that makes it an answer to something else; empty if there is none.

    Such as `girls` for `12 girls`, if the question gives the girls and asks for the boys.
    """
    is_time = _HOUR.search(pair.answer) is not None and time_of_day(without_next_day(pair.answer)) is not None
    if pair.question is None or is_time:
        # the words of a time of day are all understood
        return ""
    truth, question = f"{pair.truth} {pair.ref.sentence}", pair.question.text

    def is_understood(word: str) -> bool:
        unit = unit_named(word)
        # a foreign unit is compared later if the reference has letters
        is_one = is_physical(((singular(word), 1),)) or unit in units_named_in(question) or any(map(str.isalpha, truth))
        is_unit = unit is not None or word in IN_LOWER_CASE
        return (is_unit and is_one) or word in NUMBER_WORDS or word in COUNTERS

    ref, ans = pair.ref.node, pair.ans.node
    stated = ans.args[-1] if isinstance(ans, Relation) else ans
    if isinstance(stated, Quantity) and stated.unit == (("unit", 5 - power_asked(question)),):
        return "square units" if power_asked(question) == 3 else "cubic units"
    if found := says_another(pair.answer, truth, question, is_understood):
        return found
    if _BARE_VALUE.fullmatch(truth) is None:
        return "" if "=" in truth or "," in truth else axis_of_another(pair.answer, question)
    if (found := names_another(pair.answer, question)) or ref is None or stated is None:
        return found
    return measures_another(ref, stated, question, pair.question.asked_units)


_SMALLER = frozenset({"positive", "nonnegative", "natural", "integer", "rational"})
_LETTER = re.compile(r"(?<![a-zA-Z\\])[a-zA-Z](?![a-zA-Z])")
_COUNTING, _ARGUMENTS, _CONSTANTS = frozenset("nkmlj"), frozenset("xyzt"), frozenset("cCABDK")
_CONFINES = re.compile(r"\\text\s*\{[\s,]*(?:for|where|with|when|avec|où|mit|wobei|con|com|где)\b|其中|,(?=[^,]*\Z)")


_FUNCTION = re.compile(r"(?<![a-zA-Z])[a-zA-Z]\(([a-z])\)\s*=")
_OF_REALS = re.compile(r"\\mathbb\s*\{?\s*R\s*\}?\s*(?:\\(?:long)?(?:to|rightarrow)(?![a-z])|→)|ℝ\s*(?:→|\\to)")


def _is_on_part_of_reals(pair: Pair) -> bool:
    r"""Whether the answer gives a function for some arguments only, though the question asks for one on all reals.

    Such as `f(x)=x\text{ for all integers }x`, if it asks for `f:\mathbb{R}\to\mathbb{R}`.
    """
    assert pair.ans.fields is not None
    if pair.question is None or _SMALLER.isdisjoint(pair.ans.fields) or not pair.question.has(_OF_REALS):
        return False
    opened, function = _CONFINES.search(pair.answer), _FUNCTION.search(pair.answer)
    if opened is None or function is None:
        return False
    confined = {*_LETTER.findall(pair.answer, opened.end())}
    return function[1] in confined and len([one for one in confined if one.islower()]) == 1


def _confines_constant(pair: Pair) -> bool:
    r"""Whether the answer restricts a constant that the reference leaves free: `y=Ce^x\text{ where }C>0`."""
    assert pair.ans.fields is not None
    fields = pair.ans.fields - {NARROWED}
    if _SMALLER.isdisjoint(fields) and not any(field[0] in "<>" for field in fields):
        return False
    opened = _CONFINES.search(pair.answer)
    letters = {*_LETTER.findall(pair.answer, max(pair.answer.rfind("("), 0) if opened is None else opened.end())}
    asked = pair.question.text if pair.question is not None else ""
    # the bounds of arguments may be those of the domain
    known = {*_LETTER.findall(asked), *_ARGUMENTS}
    free = {*pair.ref.tokens} & _CONSTANTS - known
    # the answer may have a different letter for the constant
    turns = "\\pi" in pair.ref.tokens and "integer" not in fields
    letters -= known if free or turns else known | _COUNTING
    free |= {*pair.ref.tokens} & _COUNTING - known if turns else frozenset()
    return not letters.isdisjoint(pair.ref.tokens) or (
        bool(free) and not free.issubset(pair.ans.tokens) and bool(letters)
    )


def _bounds(fields: frozenset[str]) -> bool:
    """Whether the stated domain of a letter is a bound or an exclusion, such as `>0`."""
    return any(field[0] in "<>!" for field in fields)


_WHOLE = frozenset({"integer"})


def _speaks_of_bounds(question: Question | None) -> bool:
    """Whether a question is known and has bounds or a kind of numbers, such as `x>0` or `positive`."""
    return question is not None and question.bounds_arguments


def _numeric(pair: Pair) -> tuple[Outcome, str]:
    """The stage `numeric`: whether two sides of numbers and arithmetic, such as `5` and `6`, are equal.

    They are compared as in the stage `structure`. It leaves every other pair undecided.
    """
    ref, ans = pair.ref.node, pair.ans.node
    if ref is None or ans is None or not (is_rational(ref) and is_rational(ans)):
        return UNKNOWN, ""
    return _structure(pair)


_REAL = frozenset({"real"})
# Words of a question in which a parameter is a whole number or a time, or two values are the ends of an interval
_NOT_ALL_REAL = re.compile(
    r"integer|natural|rational|whole|positive|time|position|motion|moves|interval|entier|enter[oa]|inter[io]|ganz|natür|цел|натур|整数|自然数|时刻|位置|区间",
    re.IGNORECASE,
)
_OF_SETS = frozenset({"\\cup", "\\cap", "\\setminus"})


def _structure(pair: Pair) -> tuple[Outcome, str]:
    """The stage `structure`: compares the readings part by part, as lists, sets, intervals or equations."""
    ref, ans = pair.ref, pair.ans
    if ref.reading is None or ans.reading is None or ref.node is None or ans.node is None:
        return UNKNOWN, ""
    stated = ans.node.args[-1] if isinstance(ans.node, Relation) else ans.node
    if is_work(stated) and not is_work(ref.node):
        return DIFFERENT, "left unevaluated"
    if not _OF_SETS.isdisjoint(ref.tokens + ans.tokens) and same_sets(ref.node, ans.node):
        return EQUAL, ""
    letters: frozenset[str] = pair.question.letters if pair.question is not None else frozenset()
    whole = pair.question is not None and pair.question.has(_NOT_ALL_REAL)
    span = None if whole else same_span((ref.reading, ref.fields == _REAL), (ans.reading, ans.fields == _REAL), letters)
    return span or CheapComparer(pair.seed, pair.question).compare(ref.reading, ans.reading), ""


_CHEAP: dict[str, Callable[[Pair], tuple[Outcome, str]]] = {
    "exact": _exact,
    "normalised": _normalised,
    "numeric": _numeric,
    "structure": _structure,
}
_OUTCOMES = {"equal": EQUAL, "different": DIFFERENT, "undecided": UNKNOWN}


def written_alike(text: str) -> MathVerdict:
    """The verdict `equal` on an answer whose text is the reference's."""
    shown = short(text)
    return MathVerdict("equal", "exact", f"exact: {shown} = {shown}")


def verdict_of(stage: str, outcome: Outcome, text: str, truth: str, note: str = "") -> MathVerdict:
    """The verdict of a stage, with a reason like `numeric: 5 ≠ 6`; `note` is added to it in brackets."""
    reason = f"{stage}: {_shown(outcome, text, truth)}{note and f' ({note})'}"
    if note.startswith(UNREAD):
        reason = f"{note}: {short(text)}"
    return MathVerdict("equal" if outcome is EQUAL else "different", stage, reason)


def _shown(outcome: Outcome, text: str, truth: str) -> str:
    """Answer and reference with the outcome between them: `5 ≠ 6`."""
    sign = "=" if outcome is EQUAL else "≠" if outcome is DIFFERENT else "?"
    return f"{short(text)} {sign} {short(truth)}"
