r"""The text around a boxed answer: whether it leaves the answer as it is, changes it, or denies it.

A box is the answer if it is a whole side of a formula, or fills a gap in one: `3+\boxed{4}=7`. To find that out, the
formula is parsed with a placeholder symbol in the place of the box. A number keeps the unit that the text gives it:
`\boxed{25}` metres is wrong if centimetres are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import is_only_given
from agentscope_tuner.verify.find import PlacedAnswer
from agentscope_tuner.verify.math.exact import exact_value
from agentscope_tuner.verify.math.names import asked_by_sign
from agentscope_tuner.verify.math.node import (
    MARKS,
    Degrees,
    Negation,
    Node,
    Number,
    Percent,
    Product,
    Quantity,
    Quotient,
    Symbol,
    difference,
    symbols,
    walk,
)
from agentscope_tuner.verify.math.parse import parse_tokens
from agentscope_tuner.verify.math.prose import allowed
from agentscope_tuner.verify.math.quantities import counts_degrees, measures_another
from agentscope_tuner.verify.math.question import NO_QUESTION, Question, about
from agentscope_tuner.verify.math.tokens import Token, TooComplex, Unreadable, tokenize
from agentscope_tuner.verify.math.units import (
    COMPOUND,
    IN_LOWER_CASE,
    MARKED,
    TEMPERATURES,
    UNIT_LETTERS,
    PhysicalUnit,
    canonical,
    in_english,
    in_factors,
    known,
    measure,
    singular,
    unit_named,
    unit_of_markup,
)
from agentscope_tuner.verify.number_words import spelled_number
from agentscope_tuner.verify.remarks import (
    COPULA,
    is_adverse,
    is_of_mathematics,
    plain_sentence,
    stands_plainly,
    turned,
)
from agentscope_tuner.verify.words import (
    OPENS,
    OPERATES_SOON,
    SO,
    VERBS,
    WORDS,
    Asked,
    Known,
)

_THE_BOX = Symbol("the box")
_PLACEHOLDER = Token("sym", "the box")
_OPENED = re.compile(r"\$\$?|\\[(\[]|\n\s*\n")
_CLOSED = re.compile(r"\$\$?|\\[)\]]|\n\s*\n")
# A formula in plain text: operators, numbers, commands and single letters
_SIGN = (
    r"(?:[.,](?=\d)|[-+−*/^_=<>≤≥≠()\[\]|!%×·÷→\s]|\d[\d.,]*+|\\(?!q?quad|text|boxed)[a-zA-Z]+|[{}]"
    r"|\\%|(?<![\w'’])[b-hj-zB-HJ-Z](?![\w'’]))"
)
_PLAIN_BEFORE = re.compile(rf"(?:(?<=[\s:：，。,$*(])|^|(?<=[^\x00-\x7f])){_SIGN}*+\Z")
_PLAIN_BEHIND = re.compile(rf"{_SIGN}*+")
# The text before a box that is its whole formula ends so: nothing, the end of a clause, or a word
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
# A command that only changes the typeface of the box
_WRAPPED = re.compile(r"\\(?:text|math)[a-z]*\s*\{\s*$|\\(?:text)?color\s*\{[a-z]+\}\s*\{\s*$|\\ensuremath\s*\{\s*$")
# In plain text a dash between spaces is a punctuation mark and no minus sign: `Answer - \\boxed{5}`
_DASH = re.compile(r"\s*+(?:[\d.]++\s*+)?[-−–]\s+")
_RELATIONS = frozenset({"=", "<", ">", "<=", ">=", "!=", "~", "->", "=>", "\\equiv", "\\approx", "\\sim", "\\in"})
_ORDERS = frozenset({"<", ">", "<=", ">=", "!="})
_SEPARATORS = frozenset({",", ";", "\\\\", "&", ":", "\\therefore", "\\implies", "\\iff", "=>", "\\quad", "\\begin"})
_OPEN, _SHUT = (
    frozenset({"(", "[", "{", "\\{", "\\lfloor", "\\lceil", "\\langle"}),
    frozenset({")", "]", "}", "\\}", "\\rfloor", "\\rceil", "\\rangle"}),
)
_OTHER_BEFORE = re.compile(r"([-−]?\d[\d,]*)[\s$]*(?:\bor|或者?是?)\s*\$?$", re.IGNORECASE)
_OR = ("or", "或", "者", "是")
_OTHER_BEHIND = re.compile(r"\s*+(?:\$\s*+)?(?:\bor\b|或者?)\s*\$?([-−]?\d[\d,]*)(?![\d.]*[\d/%^])", re.IGNORECASE)


# A noun, but not a currency symbol: `zł`
_NOUN_BEHIND = re.compile(r"[\s$~]*+(?:\\[)\]]\s*+)?([\u4e00-\u9fff]|[^\W\d_]{3,20})")


def given_noun(text: str, behind: str, question: str) -> str:
    """The noun right behind a boxed number, if the question only gives a number of it and asks for other things.

    `24 pairs` gives `pairs` if the question has `12 pairs of socks` and asks how many coins there are. Empty if the
    noun is the one that is asked for, or is not in the question.

    Args:
        text: the answer in the box.
        behind: the text behind the box.
    """
    noun = _NOUN_BEHIND.match(behind) if text.isdigit() and question else None
    if noun is None or noun[1][:3].lower() not in question.lower():
        return ""
    following = WORDS.match(behind[noun.end() :].lstrip())
    is_other = is_only_given(noun[1].lower(), "" if following is None else following[0].lower(), question)
    return noun[1] if is_other else ""


def is_alone(found: PlacedAnswer, question: Question | None, reference: str) -> bool:
    r"""Whether the text around a boxed number leaves it as it is: a plain statement that gives it no other unit.

    `She has \boxed{5} apples.` does so; `It is not \boxed{5}.` does not.
    """
    if not found.before and not found.behind:
        return True
    asked = asked_of(question or NO_QUESTION, _is_counted_beside)
    stated = plain_sentence(found.before, found.behind, asked)
    if stated is None:
        return False
    text, end = found.text or "", stated.end
    nouns = _plain_nouns(question) if question is not None and _BARE.fullmatch(reference) is not None else None
    if (not end.words or (nouns is not None and nouns.has_all((end.first,)))) and not _unit_before(found.before):
        return True
    return with_unit(text, found, question, reference) is text


@lru_cache(maxsize=1_024)
def _plain_nouns(question: Question) -> Known:
    """A cached test of the nouns behind a number: whether they leave it as it is, given this question."""
    return Known(lambda noun: _is_plain_noun(noun, question), most=_MOST_NOUNS)


def _is_plain_noun(noun: str, question: Question) -> bool:
    """Whether a noun behind a number leaves it as it is: it is no unit that differs from the one asked for.

    `apples` if apples are asked for; not `metres` if centimetres are, nor a noun that the question only gives a number
    of.
    """
    unit = _named_by(noun)
    if noun.lower() in ("square", "cubic") or len(noun) > _LONGEST_UNIT:
        return False
    is_other = unit is not None and _in_unit("", unit, question, is_bare=True) != ""
    return not is_other and given_noun("1", noun, question.text) == ""


def said_by(found: PlacedAnswer, question: str | None) -> tuple[str, str]:
    r"""The answer as the text around it makes it, and the reason if that text makes it no answer, else `""`.

    The minus sign before `-\boxed{5}` gives `("-5", "")`. `The answer is not \boxed{5}` gives
    `("5", "unread: 'not' beside the answer")`.
    """
    text, before, behind = found.text or "", found.before, found.behind
    asked = asked_of(about(question) or NO_QUESTION, _is_counted_beside)
    if found.boxed and "_" in behind[:_NEAR_BASE] and (base := _BASE.match(behind)) and _DIGITS.fullmatch(text):
        text, behind = f"{text}_{{{base[1]}}}", behind[base.end() :]
    if "\\pi" in text and (unit := _DEGREES_BEHIND.match(behind)) is not None:
        return text, f"unread: {unit[1]!r} beside the answer"
    if (not before and not behind) or (found.boxed and stands_plainly(text, before, behind, asked)):
        return text, ""
    if not found.boxed:
        return text, _beside(text, before, behind, asked)
    text, behind = _with_domain(text, behind)
    behind, problem = _definition(text, behind, about(question) or NO_QUESTION)
    if problem:
        return text, problem
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


# The base of a number, behind its box: `\\boxed{202}$_7$`
_BASE = re.compile(r"\s*+(?:\$\s*+)?(?:(?:\$|\\\()\s*+)?_\s*+(?:\{\s*+)?\(?(\d{1,2})\)?\s*\}?")
_DIGITS = re.compile("[0-9A-F]{1,64}")
_NEAR_BASE = 8


# The words behind an answer that introduce the meaning of its letters, or the point of an extreme value
WHERE = (
    r"(?:where|with|wobei|mit|où|avec|donde|con|siendo|dove|onde|com|где|для|де|där|med|hvor|der|missä|waar(?:bij)?|met"
    r"|gdzie|kde|ahol|unde|cu|burada|gdje(?: je)?|όπου|με|dengan|với|其中|这里|ここで|ただし|단|여기서|trong đó)"
)
_FIXES = re.compile(rf"[\s$)\]*\\]*+[,;，；(（]?\s*+{WHERE}[\s$(\\]*+(?P<letter>[a-zA-Z](?:_\{{?\w\}}?)?)\s*=")
_DEFINES = re.compile(
    rf"(?P<close>[\s$)\]*\\]*+)[,;，；(（]?\s*+{WHERE}\s*+"
    r"(?P<letters>(?:(?:[$\s,，、]|\\[()]|\b(?:and|und|et|y|e|и)\b|和)*(?<![a-zA-Z])[a-zA-Z](?:_\{?\w\}?)?(?![a-zA-Z'’]))+)"
    r"[$\s]*(?:\\\))?(?P<said>[^\d=<>$\\.。\n]{2,80})[)）]?\s*[.。]?\s*\Z"
)
_TELLS_LETTER = re.compile(
    rf"[\s$)\]*\\]*+[,;，；(（]?\s*+{WHERE}[\s$(\\]*+(?P<letter>[a-zA-Z])\$?(?:\\\))?(?:\s+[^\W\d_]|[为是表])"
)
# Letters that usually count, so that `wobei $n$ eine ganze Zahl ist` states nothing new
_COUNTING = frozenset("jklmn")
_NARROWS = re.compile(
    r"\b(?:even|odd|prime|negative|(?:un)?gerade|(?:im)?paire?s?|im?par(?:es)?|(?:dis)?pari|(?:не)?ч[её]тн\w+|nie?parzyst\w+|parzyst\w+"
    r"|udda|jämnt?|(?:on)?even)\b|[偶奇]",
    re.IGNORECASE,
)
IS_INTEGER = re.compile(
    r"[\s,]*(?:(?:is|are|ist|sind|est|sont|es|son|è|sono|é|são|är|er|jest|je|là|adalah|είναι|[—–-])\s+)?"
    r"(?:(?:an?|any|eine?|un|uno|um|et[t]?|een|arbitrary|beliebige|любое|любые|будь-яке|dowolną|numero|número|nombre)\s+){0,3}"
    r"(?:integers?|ganze zahl(?:en)?|ganzzahlig|entiers?(?: relatifs?)?|enteros?|inteiros?|inter[oi]|heltal"
    r"|geheel getal|gehele getallen|целое(?: число)?|целые(?: числа)?|ціле(?: число)?"
    r"|liczb[aąy] całkowit[aąey]|celé číslo|egész szám|număr întreg|kokonaisluku|cijeli broj|ακέραιος"
    r"|tam sayı|số nguyên|bilangan bulat|[为是は]?(?:任意の?)?整数|[는은]?\s*(?:임의의 )?정수)"
    r"(?:\s+(?:ist|is|sind|zijn|zahl))?\s*",
    re.IGNORECASE,
)
_CONSTANT = re.compile(r"const|konst|costant|постоян|常数|常量|定数|상수|sabit|hằng|stał", re.IGNORECASE)
_PARTLY = re.compile(
    r"positive|negative|integer|non-?zero|natural|正|负|整数|非零|положит|целы|ganz|entier|enter", re.IGNORECASE
)
_ATTAINED = re.compile(
    r"(?P<close>[\s$)\]*\\]*+)[,;，；(（]\s*+(?P<said>[^\d$=.;。\n]{0,40}?)(?:\$|\\\()?\s*(?<![a-zA-Z])(?P<name>[a-z])\s*=\s*"
    r"(?P<value>[^=$,.;。\n]{1,40}?)(?:\$|\\\))?\s*+(?P<more>[^\d$=.;。\n]{0,12})[)）]?\s*+(?:[.。]\s*+)?\Z"
)


_NEAR_DEFINED = 240


def _with_domain(text: str, behind: str) -> tuple[str, str]:
    r"""The answer with the domain of its counting letter, if the clause behind states one, and the rest of that clause.

    `2\pi k` before `, where $k$ is an integer` gives `2\pi k,\ k\in\mathbb{Z}`. Any other pair comes back unchanged.
    """
    defines = _DEFINES.match(behind) if len(behind) <= _NEAR_DEFINED else None
    letters = set() if defines is None else _letters_in(defines["letters"])
    if defines is None or not letters <= _COUNTING or IS_INTEGER.fullmatch(defines["said"]) is None or "\\in" in text:
        return text, behind
    said = [one for one in sorted(letters) if re.search(rf"(?<![a-zA-Z\\]){one}(?![a-zA-Z])", text) is not None]
    domains = "".join(f",\\ {one}\\in\\mathbb{{Z}}" for one in said)
    return (f"{text}{domains}", defines["close"]) if len(said) == len(letters) else (text, behind)


def _definition(text: str, behind: str, question: Question) -> tuple[str, str]:
    """The text behind an answer without a clause that only explains it, and the reason if a clause changes the answer.

    `where $C$ is a constant` behind `x^2+C` is dropped; `where $C=5$` is a reason, because it gives `C` a value. A
    clause with the letter's value at an extreme is dropped, too.

    Args:
        text: the answer.
        behind: the text behind it.
        question: the facts about the question.
    """
    if len(behind) > _NEAR_DEFINED:
        # such a clause is short, and nothing follows it
        return behind, ""
    if (fixed := _FIXES.match(behind)) is not None and _fixes(fixed["letter"], text, question):
        return behind, f"unread: a value for {fixed['letter']} beside the answer"
    defines = _DEFINES.match(behind)
    said = "" if defines is None else defines["said"]
    if defines is not None and _CONSTANT.search(said) is not None:
        if (part := _PARTLY.search(said)) is not None and part[0].lower() not in question.text.lower():
            return behind, f"unread: {part[0]!r} beside the answer"
        if all(letter in text for letter in _letters_in(defines["letters"])) and not _doubts(said):
            return defines["close"], ""
    narrow = _NARROWS.search(said) if defines is not None and _letters_in(defines["letters"]) <= _COUNTING else None
    if narrow is not None and narrow[0].lower() not in question.text.lower():
        return behind, f"unread: {narrow[0]!r} beside the answer"
    if defines is not None and _defines_as_asked(defines["letters"], said, question):
        return defines["close"], ""
    told = _TELLS_LETTER.match(behind)
    if told is not None and told["letter"] in question.letters and _describes_otherwise(behind, question):
        return behind, f"unread: what {told['letter']} is beside the answer"
    attained = _ATTAINED.match(behind) if question.asks_extreme("min") or question.asks_extreme("max") else None
    if attained is None or attained["name"] not in question.letters:
        return behind, ""
    return (behind if _doubts(f"{attained['said']} {attained['more']}") else attained["close"]), ""


def _defines_as_asked(letters: str, said: str, question: Question) -> bool:
    """Whether a clause defines letters of the question in its own words: `where $c$ denotes the circumference`.

    Args:
        letters: the letters, as they are written in the clause.
        said: the words behind them.
    """
    verb, *words = WORDS.findall(said.lower()) or [""]
    own = _letters_in(letters) <= question.letters and any(word in question.words for word in words)
    return own and not is_adverse(verb) and all(allowed(word, question.words, question.text) for word in words)


def _fixes(letter: str, text: str, question: Question) -> bool:
    """Whether `letter` is in the answer `text` and not in the question, so that `C=5` changes the answer `x^2+C`."""
    return letter in re.sub(r"\\[a-zA-Z]+", " ", text.rpartition("=")[2]) and letter not in question.letters


_JOINED = re.compile(r"\b(?:and|und|et)\b")


def _describes_otherwise(behind: str, question: Question) -> bool:
    """Whether a clause on a letter has an operation, as in `twice the`, or a term of mathematics that the question
    lacks.
    """
    clause = behind.partition(".")[0].lower()
    words = WORDS.findall(clause)
    return OPERATES_SOON.search(clause) is not None or any(
        is_of_mathematics(word) and word not in question.words for word in words
    )


def _letters_in(letters: str) -> set[str]:
    """The letters, with their indices, of a list: `a` and `b_1` for `$a$ and $b_1$`."""
    return set(re.findall(r"[a-zA-Z](?:_\{?\w\}?)?", _JOINED.sub(" ", letters)))


def _doubts(words: str) -> bool:
    """Whether words deny a value, doubt it or change it: `is not`, `is probably`."""
    return any(map(is_adverse, WORDS.findall(words.lower())))


def _equated(before: str, behind: str, question: str | None) -> str:
    r"""The reason if a box is equated with something else than the question asks for: `2x=\boxed{42}` for `x`. Else
    empty.

    Args:
        before: the text before the box.
        behind: the text behind it.
        question: the text of the question.
    """
    asked = about(question)
    if asked is None or "=" not in before[-_NEAR_BOX:] + behind[:_NEAR_BOX] or not asked.names_things:
        return ""
    front, back = _formula(before, behind)
    try:
        sides = [t for t in tokenize(front) if t.text != "&"], [t for t in tokenize(back) if t.text != "&"]
    except (Unreadable, TooComplex):
        return ""
    for side, direction in zip(sides, (-1, 1), strict=True):
        end = next((at for at, t in enumerate(side[::direction]) if t.text in _SEPARATORS), len(side))
        stated = side[len(side) - end :] if direction < 0 else side[:end]
        # the first or last member of the chain of equations that has the box
        equals = [at for at, t in enumerate(stated) if t.text == "="]
        member = stated[: equals[0]] if direction < 0 and equals else stated[equals[-1] + 1 :] if equals else []
        brackets = [t.text for t in member if t.text in ("(", ")")]
        if brackets.count("(") != brackets.count(")"):
            continue
        own = asked_by_sign("".join(t.text for t in member), asked) if brackets else None
        if own is False or (own is None and asked.asks_another([t.text for t in member])):
            return "the box is equated with what the question does not ask for"
    return ""


_DEGREES_BEHIND = re.compile(
    r"[\s$)\]\\]*((?:degrees?|grad|grados|graus|degrés|gradi|градус\w*)(?!\w)|度)", re.IGNORECASE
)


def _beside(text: str, before: str, behind: str, asked: Asked) -> str:
    r"""The reason if words beside a box doubt, deny or change it, or offer a different number: `3 or \boxed{5}`."""
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
    """The words that may be beside an answer to this question, and in the sentence that states it, without changing it.

    Args:
        counts: whether a word is a unit or a counted noun. By default the case of a unit's symbol counts: `mw` is none.
    """

    def allows(word: str) -> bool:
        """Whether a word is the question's, a neutral one, or a unit of angles if the question asks for an angle."""
        return allowed(word, question.words, question.text) or counts_degrees(word, question.text)

    return Asked(question.text.lower(), allows, counts or _is_counted)


def _is_counted(word: str) -> bool:
    """Whether a word is a unit, in any of its forms: `kg`, `°c`, `m·s`, `apple`."""
    if word in ("°c", "°f"):
        return True
    word = word.strip("²³°")
    if "·" in word or "⋅" in word:
        # a product of units
        return all(_is_counted(one) or one in IN_LOWER_CASE for one in re.split("[·⋅]", word))
    return known(singular(word)) or unit_named(word) is not None or word in (*TEMPERATURES, "sq", "cu")


def _is_counted_beside(word: str) -> bool:
    """As `_is_counted`, for words that were put into lower case: `mw` is a unit. The unit itself is read elsewhere."""
    return _is_counted(word) or word in IN_LOWER_CASE or word in COMPOUND


def _digits(text: str) -> str:
    """A number without spaces, commas and dollar signs, for a comparison as text: `1000` for `$1,000`."""
    return re.sub(r"[\s,$]", "", text).replace("−", "-")


def _formula(before: str, behind: str) -> tuple[str, str]:
    r"""The parts of the formula before and behind the box: `x=` and `+1` for `so $x=\boxed{5}+1$ holds`.

    Without delimiters of a formula, the nearest words end it.
    """
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
    r"""Whether a formula gives its box a unit, `\boxed{5}m`, or is a sum with letters of the question: `3x+\boxed{5}`.

    A factor beside a letter is no answer, `\boxed{5}x`, nor is a term beside a letter that the question lacks.
    """
    letters = {name for name in symbols(member) if not name.startswith(_THE_BOX.name)}
    if isinstance(member, (Product, Quotient)) or (question.text and not letters <= question.letters):
        return letters <= UNIT_LETTERS
    return True


_SAID_OF_LETTERS = re.compile(
    r"(?:\s|\\[ ,;:!]|\\q?quad(?![a-z]))*[(（]"
    r"(?P<of>[^()（）=]{1,20}?(?:\\(?:in|g[et]q?|l[et]q?|neq?)(?![a-z])|[<>≥≤∈≠])[^()（）=]{1,20})[)）]"
)


def _in_formula(text: str, front: str, back: str, question: Question, *, has_gaps: bool = False) -> tuple[str, str]:
    """The answer as the formula around its box makes it, and the reason if that formula makes it no answer.

    `-` before the box `5` gives `-5`, and `x>` gives `x>5`.

    Args:
        text: the content of the box.
        front: the part of the formula before the box.
        back: the part behind it.
        has_gaps: whether the box may be a part of a formula in letters.
    """
    if not (front.strip(" $\\") or back.strip(" .,;:$\\")) or _is_form_of_questions(front, back, question):
        return text, ""
    if (said := _SAID_OF_LETTERS.match(back)) is not None:
        # the letters of the box, as if it held them: `\\boxed{a_n=2n}\\ (n\\in\\mathbb{N}^*)`
        text, back = f"{text},\\ {said['of']}", back[said.end() :]
    modulus = _MODULUS_BEHIND.match(back) if "mod" in back and _CONGRUENT.search(front) else None
    if modulus is not None and _is_asked_modulo(front, text, modulus[1], question):
        # the remainder that is asked for, as a congruence says it
        return _in_formula(text, "", back[modulus.end() :], question)
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


_MODULUS_BEHIND = re.compile(
    r"(?:\s|\\[ ,;:!]|\\q?quad(?![a-z])|[(])*\\(?:[pb]?mod|(?:operatorname|text|mathrm)\s*\{\s*mod\s*\})"
    r"\s*+(?:\{\s*+)?(\d{1,9})\s*+(?:\}\s*+)?[)]?"
)


def _is_form_of_questions(front: str, back: str, question: Question) -> bool:
    r"""Whether a formula equates the box with a formula of the question: `(\mathbb{Z}/12)^\times\cong\boxed{…}`."""
    same = _ISOMORPHIC.fullmatch(" ".join(front.split())) if "\\cong" in front or "\\simeq" in front else None
    if same is None or back.strip(" .,;:$\\)]"):
        return False
    return "".join(same["of"].split()) in "".join(question.text.split())


_ISOMORPHIC = re.compile(r"(?:[\s\\(\[]*+\$)*+(?P<of>[^$]+?)\s*\\(?:cong|simeq)\s*")
_FIRST_MEMBER = re.compile(r"\\equiv|≡|=|\\in(?![a-z])")


def _is_asked_modulo(front: str, text: str, modulus: str, question: Question) -> bool:
    r"""Whether a congruence has the question's modulus, and the question's number or the right remainder.

    `7^2\equiv\boxed{2}\pmod{47}` if the remainder of `7^2` divided by 47 is asked for.

    Args:
        front: the formula before the box.
        text: the content of the box.
        modulus: the digits of the modulus behind the box.
        question: the facts about the question.
    """
    behind = rf"(?:divided by|modulo|mod|除以|durch|par|entre|por|per|на|door|med|przez)\W{{0,12}}{modulus}(?!\d)"
    by_number = re.search(rf"{behind}|(?<!\d){modulus}\W{{0,6}}(?:で割|로 나)", question.text)
    if by_number is None and int(modulus) != 10 ** _last_digits_asked(question.text):
        return False
    members = [re.sub(r"[{}\s$]", "", one) for one in _FIRST_MEMBER.split(front)]
    first, last = members[0], next((one for one in reversed(members) if one), "")
    if not _WHOLE.fullmatch(first) and first and first in re.sub(r"[{}\s$]", "", question.text):
        return True
    power = _WHOLE_POWER.fullmatch(last)
    if power is None or _WHOLE.fullmatch(text.strip()) is None or int(modulus) == 0:
        return False
    return (pow(int(power["base"]), int(power["to"] or 1), int(modulus)) - int(text)) % int(modulus) == 0


# `the last two digits`, `las dos últimas cifras`, `末两位`
_LAST_DIGITS = re.compile(
    r"(?:(?P<before>[^\W_]{1,8})\s)?(?<![^\W_])(?:last|final|letzten?|derniers?|últim[oa]s?|ultim[ea]|laatste|sista|ostatni\w*"
    r"|posledn\w+|последн\w+|(?P<one>units?|ones))\s(?:(?P<n>[^\W_]{1,8})\s)?(?:digits?|ziffern?|chiffres?|cifr\w+"
    r"|dígitos?|algarismos?|cijfers?|siffr\w+|cyfr\w+|цифр\w*)(?![^\W_])|[末下后後](?P<many>[\d一二两兩三四五])[位桁]",
    re.IGNORECASE,
)


def _last_digits_asked(question: str) -> int:
    """How many last digits a question asks for: 2 for `the last two digits`, 0 if it does not ask for last digits."""
    found = _LAST_DIGITS.search(question)
    if found is None:
        return 1 if re.search("个位数|個位數|一の位|末位|일의 자리", question) is not None else 0
    said = (found["n"], found["many"], None if found["one"] else found["before"])
    words = ["zwei" if one.lower() in ("beiden", "due") else one for one in said if one]
    counts = [int(figures) for one in words if (figures := one if one.isdigit() else spelled_number(one))]
    return counts[0] if counts and counts[0] < _MOST_DIGITS else 0 if found["n"] else 1


_MOST_DIGITS = 10
_WHOLE = re.compile("[0-9]{1,400}")
_WHOLE_POWER = re.compile(r"(?P<base>[0-9]{1,400})(?:\^(?P<to>[0-9]{1,40}))?")
_CONGRUENT = re.compile(r"(?<!\\not)(?<!\\not )(?:\\equiv|≡|\\in(?![a-z]))[\s{]{0,9}(?:\\boxed)?[\s{]{0,9}\Z")


def _side(tokens: list[Token], direction: int) -> tuple[list[Token], str]:
    """The tokens between the box and the next relation sign or separator, and that relation sign, or an empty string.

    Args:
        tokens: the formula before the box, or behind it.
        direction: 1 to read on from the box, -1 to read back from it: `b+c` and `=` for `a=b+c`.
    """
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
    """The formula that these tokens make; None if they make none."""
    try:
        return parse_tokens(tokens)
    except (Unreadable, TooComplex, RecursionError):
        return None


def _value(tokens: list[Token]) -> Fraction | None:
    """The exact value of a formula: 7 for `3+4`. None if it has letters or cannot be read."""
    node = read_tokens(tokens) if tokens else None
    return None if node is None or symbols(node) else exact_value(node)


def _fills_gap(member: Node, text: str, left: list[Token], right: list[Token]) -> bool:
    r"""Whether the box makes the equation around it true: `3+\boxed{4}=7`."""
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
    r"""The reason if the number on the other side of the equals sign has another value: `43=\boxed{42}`. Else empty.

    A number that is off by less than a fiftieth may be rounded, unless both are whole.

    Args:
        text: the content of the box.
        tokens: the formula before the box, or behind it (`behind`).
        operator: the relation sign next to the box.
    """
    if operator not in ("=", "->"):
        return ""
    at = next(i for i in (range(len(tokens)) if behind else reversed(range(len(tokens)))) if tokens[i].text == operator)
    rest = tokens[at + 1 :] if behind else tokens[:at]
    other, _ = _side(rest, 1 if behind else -1)
    while other and other[0].kind == "word":
        other = other[1:]
    divided = [Token("op", "/") if token.text == ":" else token for token in rest]
    try:
        # a colon divides in many languages
        quotient = _value(_side(divided, 1 if behind else -1)[0]) if divided != rest else None
        mine, theirs = _value(tokenize(text)), _value(other) if quotient is None else quotient
    except (Unreadable, TooComplex):
        return ""
    if (
        mine is None
        or theirs is None
        or (abs(mine - theirs) * 50 <= abs(theirs) and (mine.denominator, theirs.denominator) != (1, 1))
    ):
        return ""
    return "" if mine == theirs or _in_degrees(text, other) else "the box is equated with another value"


_OF_DEGREES = re.compile(r"\^\s*\{?\s*\\circ\s*\}?|°")


def _in_degrees(text: str, other: list[Token]) -> bool:
    r"""Whether two sides are the same number if each is in degrees: `240^\circ-110^\circ=\boxed{130}`."""
    marks = [token.text in ("^", "\\circ", "°") for token in other]
    plain = [token for token, is_mark in zip(other, marks, strict=True) if not is_mark]
    if plain == other and _OF_DEGREES.search(text) is None:
        return False
    powers = [at for at, token in enumerate(other) if token.text == "^" and not any(marks[at + 1 : at + 3])]
    mine = None if powers else _value(tokenize(_OF_DEGREES.sub("", text)))
    return mine is not None and mine == _value(plain)


# --- units beside a box: behind it, or in the words before it, and the same quantity again in another unit

# A number that may have its unit outside of the box
_NUMERIC = re.compile(r"(?:[-+\d.,{}/^\s]|\\(?:[dt]?frac|sqrt|pi|times|cdot)(?![a-zA-Z])|\\[,;! ]|[π×])+")
_POWER = r"(?:(?P<power>square|cubic|квадрат\w*|кубич\w*|वर्ग|घन)\s)?"
_UNIT_BEHIND = re.compile(
    rf"\$?(?:[\s~$*]|\\[ ,;:)\]])*(?:\\(?:text|mathrm)\s*\{{\s*)?{_POWER}(?P<unit>(?>[^\W\d_²³]|{MARKED}){{1,20}})"
    r"(?P<raised>[²³]|\s?\^\s?\{?[23]\}?)?(?P<rest>[^.!?。\n]{0,40})"
)
# `in metres`, `(单位:米)`
_UNIT_BEFORE = re.compile(
    rf"(?:[(（]\s*|\b(?:in|en|em|w|в)\s+|单位[:：是为]\s*|[以用](?=\w{{1,4}}(?:为单位|表示)))+{_POWER}"
    r"(?P<unit>[^\W\d_a-zA-Z²³]|[^\W\d_²³]{2,20}?)(?P<raised>[²³])?(?=[\s)）:：,，$]|为单位|表示)"
)
# How such a text begins: a faster search, done first
_MAY_NAME = re.compile(r"\b(?:[ie][nm]|[wв])\s|[(（]\s*[^\W\d_]|[单以用]")
# The text behind a unit that makes it a part of a longer unit, or of a quantity in several units
_GOES_ON = re.compile(
    r"\s*+(?:[/·⋅*^\d-]|(?:\}\s*+)?[\^/]|(?:per|pro|par|por|each|an?|and|und|et|y|e|и|в)\s)|[^.!?。]*\d"
)
# The text behind a unit that makes a rate of it: `metres per second`, `kilometrów na godzinę`
_RATE = re.compile(
    r"\s+(?:per|pro|par|por(?: cada)?|an?|na|i|в|во|на|за|ανά|w|à|en)\s(?:l['’]|une?\s|la\s|die\s|der\s)?"
    r"(?P<below>(?:(?:square|cubic)\s)?[^\W\d_]{1,20})"
    r"|\s+(?:all|à l|nell)['’](?P<at>[^\W\d_]{1,20})",
    re.IGNORECASE,
)
# A reference without a unit
_BARE = re.compile(r"[^a-zA-Z\\\u00b2-\uffff]*")
_CLAUSE = re.compile(r"[.!?。？！\n,，;；]")
_NEAR = 80
_LONGEST_UNIT, _MOST_NOUNS = 20, 256


def with_unit(text: str, found: PlacedAnswer, question: Question | None, reference: str) -> str:
    r"""The answer with the unit that the words around it give its number, unless that is a unit that is asked for.

    `\boxed{25}` metres gives `25\text{ metre}` if centimetres are asked for, and stays `25` if metres are.

    Args:
        reference: the reference answer. Without a question, a unit is added only if it has words; they may be a unit.
    """
    has_degrees = _OF_DEGREES.search(reference) is not None
    if _SCALE_BEHIND.search(reference) is not None and (scale := _SCALE_BEHIND.match(found.behind)) is not None:
        number = _OF_DEGREES.sub("", text)
        return f"{number}^\\circ\\text{{{scale[1]}}}" if _NUMERIC.fullmatch(number) is not None else text
    is_bare = _BARE.fullmatch(reference) is not None and not has_degrees
    unit = "" if question is None and is_bare else _unit_beside(text, found.before, found.behind)
    return _in_unit(text, unit, question, is_bare=is_bare) if unit else text


def _in_unit(text: str, unit: str, question: Question | None, *, is_bare: bool) -> str:
    r"""The number with its unit, `25\text{ metre}`, or alone if the question asks for this unit."""
    asked = question.asked_units if question is not None else frozenset()
    if question is not None and not asked and is_bare and not _measures_other_quantity(unit, question.text):
        return text
    if question is not None and is_bare and " per " in unit and _names_both_units(unit, question.text):
        # `Quantos quilômetros faz por litro?`
        return text
    with suppress(Unreadable):
        if _measured(unit) not in asked:
            return f"{text}\\text{{ {unit}}}"
    return text


def is_in_another_dimension(
    found: PlacedAnswer, own: tuple[Fraction, PhysicalUnit] | None, at: int, question: str
) -> bool:
    """Whether a number behind an answer is a quantity of another kind: `5 seconds` behind `30 metres`.

    Args:
        own: the amount and unit of the answer, if it is a quantity.
        at: the position in the text behind the answer at which the number ends.
    """
    behind = found.behind[at : at + _NEAR]
    if _PERCENT_BEHIND.match(behind) is not None or _PERCENT_BEFORE.search(found.behind, 0, at) is not None:
        one = Number(Fraction(1))
        is_whole = _DIGITS.fullmatch(found.text or "") is not None
        return is_whole and measures_another(one, Percent(one), question, frozenset()) != ""
    theirs = _unit_beside("1", "", _CLAUSE.split(behind)[0]).replace("percent", "")
    with suppress(Unreadable):
        units = {own[1]} if own is not None else units_of(found, question)
        if theirs and units:
            return _measured(theirs).dimension not in {one.dimension for one in units}
        return theirs != "" and _measures_other_quantity(theirs, question)
    return False


def units_of(found: PlacedAnswer, question: str) -> frozenset[PhysicalUnit]:
    """The unit that the words around an answer give it, or else those that the question asks for."""
    with suppress(Unreadable):
        if unit := _unit_beside(found.text or "", found.before, _CLAUSE.split(found.behind)[0]):
            return frozenset({_measured(unit)})
    asked = about(question)
    return asked.asked_units if asked is not None else frozenset()


_PERCENT_BEFORE = re.compile(r"%\s?\d[\d.,]{0,9}\Z")
_PERCENT_BEHIND = re.compile(r"\s?\$?\s?\\?[%％]")


@lru_cache(maxsize=512)
def _names_both_units(unit: str, question: str) -> bool:
    """Whether a question names both units of a rate, in any language: `kilometer per liter` as `quilômetros` and
    `litro`.
    """
    return {*unit.split(" per ")} <= {unit_named(word) for word in WORDS.findall(question)}


@lru_cache(maxsize=512)
def _measures_other_quantity(unit: str, question: str) -> bool:
    """Whether a unit does not measure what the question asks for: `meter` for `How many hours?`."""
    one = Number(Fraction(1))
    with suppress(Unreadable):
        return measures_another(one, Quantity(one, canonical(_unit_factors(unit))), question, frozenset()) != ""
    return True


@lru_cache(maxsize=512)
def _measured(unit: str) -> PhysicalUnit:
    """The dimension and size of a unit that is written in words: `meter per second`."""
    return measure(canonical(_unit_factors(unit)))


def _unit_factors(unit: str) -> list[tuple[str, int]]:
    """The factors of a unit with their powers: `meter` with 1 and `second` with -1 for `meter per second`."""
    return [(unit_named(word) or word, sign) for word, sign in in_factors(unit)]


_PART_OF_UNIT = r"[a-zA-Zμ]{1,5}(?:\^?\{?[23]\}?|[²³])?"
_COMPOUND_BEHIND = re.compile(
    r"(?:[\s~$*(]|\\[ ,;:)\]])*+(?:\\(?:text|mathrm)\s*+\{\s*+)?"
    rf"(?P<unit>{_PART_OF_UNIT}\s?(?:[/·⋅]|\}}?\s*\\cdot\s*(?:\\(?:text|mathrm)\s*\{{\s*)?)\s?{_PART_OF_UNIT})(?![\w/^])"
)


_SHORT_RATE = re.compile(r"(?:[\s~$*(]|\\[ ,;:)\]])*+(?P<unit>mph|kmp?h|kph)\b", re.IGNORECASE)


_NO_BRACES = str.maketrans("", "", "{}")


def _in_words(unit: str) -> str:
    """A unit of several symbols in words: `m per s squared` for `m/s^2`, `N m` for `N·m`. Empty if a symbol is no unit,
    as in `foo/s`.
    """
    between = " per " if "/" in unit else " "
    plain = re.sub(r"\\(?:cdot|text|mathrm)", " ", unit).translate(_NO_BRACES)
    parts = [re.fullmatch(r"([a-zA-Zμ]+)(.*)", part.strip()) for part in re.split(r"/|[·⋅]|\s+", plain) if part.strip()]
    if not all(part is not None and unit_named(part[1]) is not None for part in parts):
        return ""
    powers = {"2": " squared", "²": " squared", "3": " cubed", "³": " cubed"}
    return between.join(f"{part[1]}{powers.get(part[2].strip('^{}'), '')}" for part in parts if part is not None)


def _unit_beside(text: str, before: str, behind: str) -> str:
    """The unit that the words around a number give it: `km per h` for `25 km/h`; empty if they give none, or several.

    Args:
        text: the number.
        before: the text before it.
        behind: the text behind it.
    """
    if _NUMERIC.fullmatch(text) is None:
        return ""
    if "\\" in behind[:_NEAR] and (typeset := unit_of_markup(behind[:_NEAR])):
        return typeset
    if (short := _SHORT_RATE.match(behind)) is not None:
        return " per ".join(name for name, _ in COMPOUND[short["unit"].lower()])
    if (compound := _COMPOUND_BEHIND.match(behind)) is not None and (rate := _in_words(compound["unit"])):
        return rate
    unit = _unit_behind(behind)
    return _unit_before(before) if unit is None else unit


def _unit_behind(behind: str) -> str | None:
    """The unit right behind a number: `metre` for `$ metres`. None if there is none.

    Empty if the text goes on to a further unit or number, as in `metres and 5 cm`.
    """
    found = _UNIT_BEHIND.match(behind)
    if found is None or (unit := _unit_of(found)) is None:
        return None
    if (rate := _RATE.match(found["rest"])) is not None:
        raising, _, word = (rate["below"] or rate["at"]).rpartition(" ")
        if (below := _named_by(word)) is not None:
            return f"{unit} per {raising} {below}".replace("  ", " ")
    return "" if _GOES_ON.match(found["rest"]) else unit


def _unit_before(before: str) -> str:
    """The unit that the clause before a number states: `metre` for `The length in metres is`; empty if none, or
    several.
    """
    # a line's end is a clause's
    begins = _MAY_NAME.search(before, max(len(before) - _NEAR, before.rfind("\n") + 1, 0))
    if begins is None or _UNIT_BEFORE.search(before, begins.start()) is None:
        # then the last clause has none either
        return ""
    units = [_unit_of(one) for one in _UNIT_BEFORE.finditer(_CLAUSE.split(before[-_NEAR:])[-1])]
    named = [unit for unit in units if unit is not None]
    return named[0] if len(named) == 1 else ""


@lru_cache(maxsize=8_192)
def _named_by(word: str) -> str | None:
    """The unit that a word names, in the singular: `metre` for `metres`; None for any other word."""
    word = COPULA.sub("", word)
    return None if word.lower() in OPENS | SO | VERBS else unit_named(word)


def _unit_of(found: re.Match[str]) -> str | None:
    """The unit that a match has found, with its power: `square metre`; None if the word is no unit."""
    if (name := _named_by(found["unit"])) is None:
        return None
    raised, power = (found["raised"] or "").strip("^ {}"), (found["power"] or "").lower()
    is_square = raised in ("²", "2") or power[:2] in ("sq", "кв", "वर")
    is_cubic = raised in ("³", "3") or power[:1] in "cкघ"
    return f"{'square ' if is_square else 'cubic ' if is_cubic and (raised or power) else ''}{name}"


def with_unit_in_english(found: PlacedAnswer, reference: str) -> PlacedAnswer:
    r"""The answer with the unit behind it in English, which the other rules read.

    `Meter pro Sekunde` gives `meter per second`, and `Prozent` gives `\%`. An answer without such a unit is unchanged.
    """
    if (apart := _PERCENT_APART.match(found.behind)) is not None:
        return found._replace(behind=f"\\%{apart[1]}{found.behind[apart.end() :]}")
    leads = _BEFORE_UNIT.match(found.behind) if any(map(str.isalpha, found.behind[:_NEAR])) else None
    said, end = in_english(found.behind[leads.end() :]) if leads is not None else ("", 0)
    if leads is None or not said:
        return found
    rest = found.behind[leads.end() + end :]
    sign = "\\%" if said == "percent" else "^\\circ" if said == "degrees" and _OF_DEGREES.search(reference) else ""
    if sign and said == "degrees" and (scale := _SCALE.match(rest)) is not None:
        sign, rest = f"^\\circ\\text{{{scale[1].upper()}}}", rest[scale.end() :]
    if sign or said == "degrees":
        return found if not sign or "{" in leads[0] else found._replace(behind=f"{sign}{leads[0]}{rest}")
    return found._replace(behind=f"{leads[0]}{said}{rest}")


# Behind a space or the end of the formula; a percent sign before English words begins a comment
_PERCENT_APART = re.compile(r"((?=[\s$])\$?\s?|(?=٪))(?:\\?%|٪)(?!\s[a-zA-Z])")
# `\\boxed{20}^\\circ\\text{F}`
_SCALE_BEHIND = re.compile(
    r"[\s$~]*+(?:\\[ ,;:])*+\^?\s*+(?:\{\s*+)?(?:\\circ(?![a-z])|°)\s*+(?:\}\s*+)?(?:\$\s*+)?"
    r"(?:\\(?:text|mathrm)\s*+\{\s*+)?([CF])(?![a-zA-Z])"
)
# The scale behind a word for degrees, by its initial
_SCALE = re.compile(r"\s?(?=celsius|fahrenheit)([cf])[a-z]+", re.IGNORECASE)
_BEFORE_UNIT = re.compile(r"\$?(?:[\s~$*]|\\[ ,;:)\]])*(?:\\(?:text|mathrm)\s*\{\s*)?")
