r"""Answers of several values with their names: `\text{median } 7, \text{ range } 13`.

Each value is compared with the reference's value of the same name, in any order. If the reference has no names, the
answer's names are those by which the question asks, and the reference has its values in the order of the question. A
text with words that are neither a name nor a value is not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import JOINING_NAMES, asking_clause, same_word
from agentscope_tuner.verify.math.compare_notations import LONGEST_FORM, alike, unset
from agentscope_tuner.verify.math.names import LETTERS, SIGNS
from agentscope_tuner.verify.math.node import EQUAL, UNKNOWN, Outcome
from agentscope_tuner.verify.math.prose import allowed, is_formula, is_nameless, is_value
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.sentences import AT_WORDS
from agentscope_tuner.verify.math.units import is_degree, operates, singular, unit_named
from agentscope_tuner.verify.math.unwrap import FIGURES, Pair, bare, reference
from agentscope_tuner.verify.words import IS_HANGUL, IS_UNSPACED, denies

# A letter with its vowel marks, as in Hindi and Thai: `\w` does not match these marks
_LETTER = (
    r"[^\W\d_][\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0b82-\u0bcd\u0c3e-\u0c4d\u0e31\u0e34-\u0e4e]*"
)
_LETTERS = re.compile(rf"(?:{_LETTER})+")
_MOST_PARTS = 6
# The separators of values: neither a decimal comma nor a letter of the answer
_PARTS = re.compile(
    r"[;；，、。\n]|,(?!\d)|(?<!\d),"
    r"|(?<![^\W_])(?:and|und|et|och|og|ve|dan|và|ja|és|şi|oraz|med|while|whereas|с)(?![^\W_])"
    r"|(?<=\s)(?:y|e|и|i|en|та)\s(?=[-−\d]|[^\W\d_]{2})"
    r"|(?<!\S)و(?=\S{3})|(?<=[\d)\]}\s])(?:[和与與及]|と(?!き)|이고|であり)(?=\S)"
)
_WORD = re.compile(
    r"\s*(?:[^\W\d_]['’](?=[^\W\d_]{2}))?"
    rf"(?:(?:[a-zA-Z]-)?(?:{_LETTER}){{2,}}(?:['’-](?:{_LETTER}){{2,}})*|(?![a-zA-Zµ]){_LETTER})(?![\^_(])\.?"
)
_JOINT = re.compile(r"\s*(?:[=:：≈→]|->|\\(?:approx|to|rightarrow|mapsto)(?![a-z])|[–—-]\s)?\s*")
# A name that is a symbol: `q(x) = `, `\\gcd(4,6) = `
_SIGN = re.compile(
    r"\\?(?P<sign>[A-Za-zμσ]|mu|sigma|bar\s*(?:\{\s*x\s*\}|x)|gcd|lcm|det|rank|dim|tr)\s*"
    r"(?:\([a-zA-Z]\))?\s*=\s*(?=\S)"
)
_SIGNS = {
    "mu": re.compile("mean|average|moyenne|medi[ae]|mittel|均值|平均|средн|промет|gemiddelde|média|ortalama"),
    "sigma": re.compile("deviat|écart|abweich|desv|deviazion|标准差|標準偏差|отклонен|afwijking|sapma"),
}
_SIGNS |= {"μ": _SIGNS["mu"], "σ": _SIGNS["sigma"], "bar": _SIGNS["mu"]}
# A name behind its value: `7 (median)`, `在(0,1)上单调递增`
_BEHIND = re.compile(
    r"(?P<value>.*\S)\s*[(（]\s*(?P<name>[^\W\d_]{2,}(?: [^\W\d_]{2,}){0,3})\s*[)）]"
    r"|(?P<interval>.*[)\]）])\s*(?P<how>[\u4e00-\u9fff]{2,8})"
)
_DECIMAL_COMMA = re.compile(r"(?<=\d)(?:\{,\}|,(?!\d{3}(?!\d)))(?=\d)")
_STANDS_IN = re.compile(r"(?:[a-z]\([a-z]\)\s*)?[在于]\s*(?:区间)?\s*(?=[(\[（])")
_OF = frozenset("of de des du del della di do da von der av af van".split())  # noqa: SIM905
_FILLS = (JOINING_NAMES - _OF) | frozenset(
    """pour avec mit con com
    the a an is are was were equals be its their with at by equal then has have been est sont son ist sind é è är
    er on je jest są to هو هي и это равно равна равен составляет olur yang adalah là""".split()  # noqa: SIM905
)
_FILLS_UNSPACED = re.compile(r"^(?:其|它的|该|この|その|上|内)|(?:分别|等于)?[是为為]$|(?:の値)?[はがを]$|[은는이가]$")
_ELIDED = re.compile(r"^(?:[ldjsnmc]|un|qu|dell|all|nell|sull)['’](?=[^\W\d_]{2})")


class _Part(NamedTuple):
    """A value with the words of its name in lower case: `("median",)` and `7`. A value without a name has no words.

    Attributes:
        is_sign: whether the name is a symbol, `q(x) = 5`, and no word.
        whole: the words behind `of`: `("symmetry",)` for `axis of symmetry`.
        place: the letter and the number at which the value is taken: `("x", "3")` for `12 at x=3`.
    """

    name: tuple[str, ...]
    value: str
    is_sign: bool = False
    whole: tuple[str, ...] = ()
    place: tuple[str, str] = ("", "")


def _names_nothing(answer: str, truth: str) -> bool:
    """Whether neither side can name one of several values: both are formulas without an equals sign, and no `10 by
    8`.
    """
    both = answer + truth
    if is_nameless(both) or (is_value(both) and "\\times" not in both):
        return True
    return "=" not in both and is_formula(answer) and is_formula(truth) and _IS_SIZE.search(both) is None


def by_names(answer: str, truth: str, question: str | None) -> list[tuple[str, str]] | None:
    """The pairs of values that have the same name, the answer's value first.

    `range 13, median 7` for the reference `median 7, range 13` gives `[("7", "7"), ("13", "13")]`. Values without names
    are taken in the order of the reference.

    Args:
        answer: the text of the answer.
        truth: the text of the reference.
        question: the text of the question, whose names count if the reference has none.

    Returns:
        The pairs in the order of the reference. Empty if there are no names to compare by. None if each value of the
        answer has a name, but these are neither the reference's nor the question's.
    """
    if len(answer) + len(truth) > LONGEST_FORM or _names_nothing(answer, truth):
        return []
    pair = Pair.of(bare(answer), reference(truth), question)
    if FIGURES.fullmatch(pair.truth) is not None:
        return _with_restatement(pair)
    if placed := _with_restatement(pair) or _with_places(pair) or _point_of_kind(pair):
        return placed
    are_sizes = _IS_SIZE.search(pair.truth) is not None
    theirs, mine = (_parts(_BY.sub(";", side) if are_sizes else side, pair) for side in (pair.answer, pair.truth))
    mine = _all_counted(mine)
    if theirs and all(one.name and not one.is_sign for one in theirs):
        mine = _of_circle(mine, mine)
    has_names = bool(mine) and all(one.name for one in mine)
    # equations are compared as such
    if len(mine) != len(theirs) or any(
        (one.is_sign and len(one.name[0]) == 1) or bool(one.name) != has_names for one in mine
    ):
        return []
    asked = pair.question.text if pair.question is not None else ""
    theirs = [_named_behind(one, mine) if has_names else _counted(one, theirs, asked) for one in theirs]
    theirs = _of_circle(theirs, mine)
    names = [one.name for one in theirs if one.name]
    are_lengths = not names or (
        len(names) == len("AB") and bool(_LENGTH.match(names[0][0]) and _WIDTH.match(names[1][0]))
    )
    if are_sizes and not has_names and are_lengths:
        order = list(range(len(mine)))
    elif all(one.name for one in theirs):
        order = _by_reference(mine, theirs, asked) if has_names else _by_question(theirs, asked)
        if theirs and not order and all(not one.is_sign and any(map(str.isdigit, one.value)) for one in theirs):
            return None
    else:
        order = list(range(len(mine))) if has_names and not any(one.name for one in theirs) else []
        axes, own_axes = ([_axis_of(one.value) for one in side] for side in (theirs, mine))
        if order and sorted(axes) == sorted({*own_axes} - {-1}):
            # each point lies on one axis, which decides the order
            order = [axes.index(one) for one in own_axes]
    return _values([(theirs[at], own) for at, own in zip(order, mine if order else (), strict=True)], theirs, pair)


def _values(found: list[tuple[_Part, _Part]], theirs: Sequence[_Part], pair: Pair) -> list[tuple[str, str]]:
    """The two values of each pair of parts, and behind these the two points at which the values are taken, if they have
    any.

    The points are left out if the question's function has both values there. Empty if the points have different
    letters.
    """
    placed = [sides for sides in found if not all(_is_taken_there(*one.place, one.value, pair) for one in sides)]
    if any(one.place[0] != own.place[0] for one, own in placed):
        return []
    values = [(_without_asked_noun(one, own.value, theirs, pair.question), own.value) for one, own in found]
    return values + [(one.place[1], own.place[1]) for one, own in placed]


_ALSO = re.compile(
    r"(?:\\[ ,;]|[\s,;，；]){0,4}+(?:\\text\s*\{|(?<=[,;\s，；]))[\s,;，；]{0,4}+(?:i\.\s?e\.|that is(?=[,:\s]*\})"
    r"|d\.\s?h\.|c['’]est-à-dire|cioè|es decir|ou seja|isto é|то есть|т\.\s?е\.|czyli|yani|yaitu|tức là|即|也就是)"
    r"[\s,:]*\}?\s*(?=\S)"
)


def _with_restatement(pair: Pair) -> list[tuple[str, str]]:
    r"""Both forms of an answer that states its value twice, `\frac12, \text{ i.e. } 0.5`, each with the reference.

    Both have to be right. Empty for an answer that states its value once.
    """
    said = _ALSO.split(pair.answer)
    if len(said) != len("AB") or _ALSO.search(pair.truth) or not all(any(map(str.isdigit, one)) for one in said):
        return []
    lacks, over = (one.count("{") - one.count("}") for one in said)
    return [(said[0] + "}" * lacks, pair.truth), (said[1].removesuffix("}" * -over), pair.truth)]


# `n'est point` denies in French
_POINT_ITSELF = re.compile(r"(?i:(?<!est )\bpoint\b)")


def _point_of_kind(pair: Pair) -> list[tuple[str, str]]:
    """The two points if both sides state a kind of point, the same one: `local minimum at (1, 2)`; empty for other
    texts.
    """
    asked = "" if pair.question is None else pair.question.text
    one, own = (_kind_of_point(unset(side).strip(" .")) for side in (pair.answer, pair.truth))
    return [(one.value, own.value)] if one and own and _is_name(one, own, asked) else []


def _kind_of_point(text: str) -> _Part | None:
    """A point with the words of its kind as its name: `("local", "minimum")` for `local minimum at (1, 2)`.

    None for other texts.
    """
    found = _KIND_OF_POINT.fullmatch(text)
    words = "" if found is None else _POINT_ITSELF.sub("", found["led"] or found["followed"])
    return None if found is None else _part_with_name(_LETTERS.findall(words), found["point"])


# A centre by its letter
_CENTRE = re.compile(r"^(?:[A-Z]|\\[A-Z][a-z]+)\s*(?=\()")
_ACROSS = re.compile(r"d[iu]|диам|đường|średn|çap|直")


def _of_circle(theirs: list[_Part], mine: Sequence[_Part]) -> list[_Part]:
    """A point and a radius without their letters, `M(3,-2), r=5`, if the other side names them by words or not at all.

    Other parts, and those whose letters may mean something else, are given back as they are.
    """
    points = [one.value[:1] == "(" for one in mine]
    if sorted(points) != [False, True] or any(_ACROSS.match(word) for one in mine for word in one.name):
        return theirs
    letters = ("r", "R"), tuple("MCOSKPZIA")
    return [
        _Part((), _CENTRE.sub("", one.value) if is_point else one.value)
        if not one.name or (one.is_sign and one.name[0] in letters[is_point])
        else one
        for one, is_point in zip(theirs, points, strict=True)
    ]


def _axis_of(value: str) -> int:
    """The index of the only coordinate of a point that is not zero: 1 for `(0,5)`. It is -1 if there is no such
    coordinate.
    """
    others = [at for at, one in enumerate(re.split("[,;|]", re.sub(r"[()$\s]|\\[a-z]+", "", value))) if one != "0"]
    return others[0] if len(others) == 1 and value.lstrip(" $\\left").startswith("(") else -1


def _named_behind(one: _Part, mine: Sequence[_Part]) -> _Part:
    """A value with the name behind it taken off, if the reference has this name: `5 pears` becomes `5` with `pears`."""
    word = _UNITS.search(one.value) if not one.name else None
    if word is not None and (named := _ends_unspaced(word[1], mine)):
        return _Part((named,), one.value.strip().removesuffix(named))
    if word is None or not any(_is_word(word[1].lower(), name) for own in mine for name in own.name):
        return one
    return _Part((word[1].lower(),), one.value[: word.start()])


def _all_counted(mine: list[_Part]) -> list[_Part]:
    """The values of a reference with the counted nouns as their names: `22 hens, 14 dogs`.

    Unchanged unless each value has a noun, all nouns differ, and none is a unit.
    """
    found = [None if one.name else _COUNTS.fullmatch(one.value) for one in mine]
    names = [_contents(one["name"].split()) for one in found if one is not None]
    if len(names) < len(mine) or len({*names}) < len(names) or not all(names):
        return mine
    words = [word for name in names for word in name]
    if any(unit_named(word) is not None or is_degree(word) or denies(word) or operates(word) for word in words):
        return mine
    return [_Part(name, one["value"]) for name, one in zip(names, found, strict=True) if one is not None]


_COUNTS = re.compile(r"\s*(?P<value>\d[\d.,]*)\s*(?P<name>[^\W\d_]+(?:\s+[^\W\d_]+){0,2})\s*")


def _counted(one: _Part, theirs: Sequence[_Part], asked: str) -> _Part:
    """A value with the counted noun behind it as its name, `20 chickens`, if the question asks for this noun.

    Unchanged unless all values have nouns, different ones: `20 chickens, 10 cows`.
    """
    words = [None if other.name else _UNITS.search(other.value) for other in theirs]
    own = _UNITS.search(one.value)
    if own is None or None in words or len({word[1].lower() for word in words if word is not None}) < len(words):
        return one
    is_asked = _position(own[1].lower(), asking_clause(asked)[0] or _last_sentence(asked)) >= 0
    return _Part((own[1].lower(),), one.value[: own.start()]) if is_asked else one


def _ends_unspaced(word: str, mine: Sequence[_Part]) -> str:
    """The reference's name with which a word without spaces ends: `苹果` for `个苹果`; empty if there is none."""
    names = (name for own in mine for name in own.name if _is_of_east_asia(name) and word.endswith(name))
    return max(names, key=len, default="")


# Lengths of several sides: `10 cm by 8 cm`
_IS_SIZE = re.compile(r"\d[^;,\d]*?\bby\b[^;,\d]*?\d|\d\s*(?:\\text\s*\{)?\s*[a-z]{1,2}\}?\s*(?:×|\\times|x)\s*\d")
_BY = re.compile(r"(?<![^\W_])by(?![^\W_])|\\times(?![a-z])|×|(?<=[\d\s])x(?=[\d\s])")
_LENGTH = re.compile("length|long|länge|longueur|largo|longitud|lunghezza|comprimento|长|длин")
_WIDTH = re.compile("width|wide|breadth|breite|largeur|ancho|anchura|larghezza|largura|宽|ширин")


def _parts(text: str, pair: Pair) -> list[_Part]:
    """The values of a text with their names: two parts for `median 7, range 13`.

    Empty if there are fewer than two values, or if a part cannot be read.
    """
    asked = pair.question.text if pair.question is not None else ""
    plain = _HYPHENED.sub(r"\1-", re.sub(r"\\[()\[\]]", " ", unset(text)))
    plain = _OF_NUMBERS.sub(lambda one: "" if _are_numbers_of(asked, one["of"]) else one[0], plain)
    plain = _INDEX_OF_EXTREME.sub(r"\\\g<is> ", plain)
    said = _EXTREME.sub(lambda one: f"{one['is']} " if _is_over_asked(one["over"], asked) else one[0], plain)
    depth, begin, parts = 0, 0, []
    if not (cuts := {m.start(): m.end() for m in _PARTS.finditer(said)}):
        return []
    for at, char in enumerate(said):
        if at >= begin and depth == 0 and at in cuts:
            parts.append(said[begin:at])
            begin = cuts[at]
        depth += (char in "([{（") - (char in ")]}）")
    parts = [one for one in (*(part.strip(" .:") for part in parts), said[begin:].strip(" .:")) if one]
    if not 1 < len(parts) <= _MOST_PARTS:
        return []
    found = [_part(one, pair) for one in parts]
    return [one for one in found if one is not None] if None not in found else []


# `$x$-intercept`
_HYPHENED = re.compile(r"(?<!\w)([a-z]) -(?=[^\W\d_]{2})")
# `НОД(84, 126) = 42`
_OF_NUMBERS = re.compile(r"(?<=[^\W\d_]{2})\s*(?:\\left)?\((?P<of>\d+(?:\s*[,;]\s*\d+)+)(?:\\right)?\)(?=\s*=)")
# `\\max_{[0,3]}`
_EXTREME = re.compile(r"\\(?P<is>sup|inf|max|min)(?![a-z])\s*(?:_\s*(?P<over>\{[^{}]*\}|\[[^\[\]]*\]))?")


# `f_{\\max}`, and the function of which a value is the greatest: `\\max f = 3`
_INDEX_OF_EXTREME = re.compile(r"(?<![a-zA-Z])[a-zA-Z]\s*_\s*\{?\s*\\?(?P<is>max|min)(?![a-z])\s*\}?")
_OF_FUNCTION = re.compile(r"[a-zA-Z](?:\([a-z]\))?\s*=\s*")


def _is_over_asked(over: str | None, asked: str) -> bool:
    r"""Whether the question has the numbers of the set over which an extreme is taken: `[0,3]` of `\max_{[0,3]}`."""
    return over is None or _are_numbers_of(asked, over)


def _are_numbers_of(asked: str, said: str) -> bool:
    """Whether the question `asked` has all numbers of the text `said`."""
    return {*re.findall(r"\d+", said)} <= {*re.findall(r"\d+", asked)}


_AT = rf"(?i:{AT_WORDS})(?![a-z])|[当當在]|此[时時]|このとき"
_THEN = "で|のとき(?:に)?|时|時|处"
# The argument at which a value is taken: `x=0 で最大値 1`, `12 at x=3`
_PLACE_BEFORE = re.compile(rf"(?:{_AT})?\s*(?P<letter>[a-z])\s*=(?P<at>[^=,，]{{1,30}}?)\s*(?:{_THEN})")
_PLACE_BEHIND = re.compile(
    rf"(?<!\s)\s*(?:[(（]\s*(?:{_AT})?|(?:{_AT}))\s*(?P<letter>[a-z])\s*=(?P<at>[^=()]{{1,30}}?)\s*[)）]?\s*\Z"
)
# `local minimum at (1, 2)`, `(1, 2) is a local minimum`, `x=-1 (local maximum)`
_WORDS_ASIDE = r"[^()=<>\\\d{}^_+*/]{3,60}"
_KIND_OF_POINT = re.compile(
    rf"(?:(?P<led>{_WORDS_ASIDE}?)(?:\s(?:{_AT}|in|a)(?![a-z])\s*|[:,]\s*))?"
    r"(?P<point>\((?:[^()]|\([^()]*\)){1,40},[^()]{1,40}\)|[a-z]\s*=[^=(（,;]{0,29}[\d}])"
    rf"(?(led)\s*|(?:(?<=\))|\s*[(（]|\s+(?:is|gives|ist|est|es|è|é|是|为)\s)(?P<followed>{_WORDS_ASIDE})[)）]?)"
)
_COORDINATE = r"[a-zA-Z](?:\s*=\s*[a-zA-Z])*\s*=\s*[^=,;:()<>\u3000-\uffef]{1,40}?"
_JOINED_PLACE = r"\s*(?:[,;，、；]|(?<![^\W_])(?:and|und|et|y|e|и)(?![^\W_]|\s*=))\s*"
_PLACE = (
    rf"(?P<place>{_COORDINATE}(?:{_JOINED_PLACE}{_COORDINATE})*"
    r"|(?:\([a-z](?:\s*,\s*[a-z])+\)\s*=\s*)?(?:\\left\s*)?\([^=()]{1,60}?(?:\\right)?\s*\))"
)
_REACHED = (
    r"(?:(?:is |wird |est |es )?(?:attained|achieved|reached|taken|obtained|erreicht|angenommen|atteinte?|alcanzad[oa]"
    r"|raggiunt[oa]|atingid[oa]|достигается|(?:with )?equality(?: holds)?)(?![a-z])|取得)"
)
_VALUE_AT = re.compile(
    rf"\A(?P<head>.+?)\s*(?:(?:[,，;；.]\s*)?(?:{_REACHED}\s*)?(?:{_AT})\s*{_PLACE}"
    rf"|[(（]\s*(?:{_REACHED}\s*)?(?:{_AT})?\s*{_PLACE.replace('place', 'inside')}\s*[)）]"
    rf"|[,，;；]\s*(?={_COORDINATE}|\([a-z](?:\s*,\s*[a-z])+\)\s*=)(?![a-zA-Z]\()"
    rf"{_PLACE.replace('place', 'listed')})"
)
_AT_VALUE = re.compile(
    rf"(?:(?:{_AT})\s*{_PLACE}(?:\s*(?:{_THEN})|,?\s)|{_PLACE.replace('place', 'first')}\s*(?:{_THEN}))[,，、]?\s*"
    "(?P<head>.+)"
)


def _with_places(pair: Pair) -> list[tuple[str, str]]:
    """The extreme values of both sides, `12 at x=3`, as one pair, and the points at which they are taken as another.

    Empty unless both sides have a value and a point, and their values have the same name, if they have any.
    """
    if (theirs := _value_at(unset(pair.answer))) is None or (mine := _value_at(unset(pair.truth))) is None:
        return []
    (said, place), (told, wanted) = theirs, mine
    letters = LETTERS.findall(pair.question.text if pair.question is not None else "")
    names = tuple(sorted({*place, *wanted} - {""}))
    if ("" in place) != ("" in wanted):
        # the coordinates of a point without names are in the order of the question's letters
        in_order = [*dict.fromkeys(one for one in letters if one in names)] == [*names]
        if not in_order:
            return []
        place, wanted = (one if "" in one else {"": _point(one, names)} for one in (place, wanted))
    if place.keys() != wanted.keys():
        return []
    one, own = (_part(_EXTREME.sub(r"\g<is> ", head), pair) for head in (said, told))
    if one is None or one.is_sign:
        one = _Part((), said)
    if own is None or own.is_sign or not _is_same_extreme(one, own, pair.question):
        return []
    return [(one.value, own.value), (_point(place, sorted(place)), _point(wanted, sorted(wanted)))]


def _is_same_extreme(one: _Part, own: _Part, question: Question | None) -> bool:
    """Whether an answer's value has the reference's name, `maximum`, or no name, or words of the question as name."""
    asked = "" if question is None else question.text
    if one.name and own.name:
        return _is_name(one, own, asked)
    words = _LETTERS.findall(asked.lower())
    return all(
        _position(word, asked) >= 0 or any(_is_word(word, other) for other in words) for word in one.name + one.whole
    )


def _point(place: Mapping[str, str], names: Sequence[str]) -> str:
    """The coordinates in the order of these names: `(1, 2)` for x and y, or `1` for x alone."""
    return place[names[0]] if len(names) == 1 else f"({', '.join(place[name] for name in names)})"


def _value_at(text: str) -> tuple[str, dict[str, str]] | None:
    """A value, and the point at which it is taken as coordinates by name: `12` and `{"x": "3"}` for `12 at x=3`.

    A point without names has one entry, with an empty name: `{"": "(3, 4)"}`. None for other texts.
    """
    found = _AT_VALUE.fullmatch(text) or _VALUE_AT.fullmatch(text)
    if found is None or _OUTSIDE.search(found["head"]) is not None or not any(map(str.isdigit, found["head"])):
        return None
    said = next(one for name, one in found.groupdict().items() if one and name != "head")
    if said[0] == "(" or said.startswith("\\left"):
        *named, point = said.split("=")
        values = re.sub(r"\\(?:left|right)|[()]", "", point).split(",")
        if not named:
            return found["head"], {"": f"({','.join(values)})"}
        letters = re.sub(r"[()\s]", "", named[0]).split(",")
        place = dict(zip(letters, values, strict=False))
        return (found["head"], place) if len(values) == len(letters) == len(place) else None
    place = {}
    for one in re.split(_JOINED_PLACE, said):
        *letters, value = one.split("=")
        if not letters or any(letter.strip() in place for letter in letters) or _WORDED.search(value) is not None:
            return None
        place |= dict.fromkeys((letter.strip() for letter in letters), value.strip())
    return found["head"], place


_OUTSIDE = re.compile(r"[;；，、]|,\s|のとき|[时時]")
_WORDED = re.compile(r"(?<![\\a-zA-Z])[^\W\d_]{2}")


_FUNCTION = re.compile(
    r"(?<![a-zA-Z])(?:[yzPT]|[a-zA-Z]\s*\(\s*[a-z]\s*\))\s*=(?P<is>[^=$<>]{1,100}?)"
    r"(?=\\ ?\(|\$|\\\)|,|，|\.|\s(?:on|for|in|at|auf|sur|en|при|на)\s|\s*[^\x00-\x7f])"
)


# `[0, 3]`, `0\\le x\\le 3`
_DOMAIN = re.compile(
    r"\[\s*(-?\d+)\s*,\s*(-?\d+)\s*\]|(-?\d+)\s*(?:\\leq?(?:slant)?|≤|<=)\s*[a-z]\s*(?:\\leq?(?:slant)?|≤|<=)\s*(-?\d+)"
)
# `f(1)=6`
_CALLED = re.compile(r"[a-zA-Z]\s*\((?P<at>[^()=]{1,20})\)\s*=(?P<value>[^=]+)")


def _is_taken_there(letter: str, at: str, value: str, pair: Pair) -> bool:
    """Whether the question's function has this value at this argument: 9 at `x=3` for `f(x)=x^2`. True without a
    letter.

    Args:
        letter: the variable, or a pattern of it; empty if the answer gives no argument.
        at: the argument.
        value: the value that the answer gives.
        pair: the two sides with their question.
    """
    if not letter:
        return True
    function = _FUNCTION.search(pair.question.text) if pair.question is not None else None
    if function is None:
        return False
    bounds = _DOMAIN.search(pair.question.text) if pair.question is not None else None
    if bounds is not None and re.fullmatch(r"-?\d+(?:\.\d+)?", at.strip()) is not None:
        low, high = (float(one) for one in (bounds[1] or bounds[3], bounds[2] or bounds[4]))
        if not low <= float(at) <= high:
            return False
    variable = re.compile(rf"(?<![a-zA-Z\\])(?:{letter})(?![a-zA-Z])")
    taken = variable.sub(lambda _: f"({at})", function["is"])
    return taken != function["is"] and alike(pair, [taken], [value]) is EQUAL


def _part(text: str, pair: Pair) -> _Part | None:
    """A value with its name before or behind it, `median 7` or `7 (median)`, or without one; None for other texts."""
    if (kind := _kind_of_point(text)) is not None:
        return kind
    if (place := _PLACE_BEFORE.match(text) or _PLACE_BEHIND.search(text)) is not None:
        rest = text[: place.start()] + text[place.end() :]
        part = _part(rest, pair)
        return None if part is None or part.place[0] else part._replace(place=(place["letter"], place["at"]))
    text = _STANDS_IN.sub("", text)
    text = text if "(" in text or "[" in text else _DECIMAL_COMMA.sub(".", text)
    if (sign := _SIGN.match(text)) is not None:
        return _Part((re.split(r"[\s{]", sign["sign"])[0],), text[sign.end() :], is_sign=True)
    words, at = [], 0
    while (word := _WORD.match(text, at)) is not None:
        words.append(word[0].strip(" ."))
        at = word.end()
    joint = _JOINT.match(text, at)
    value = text[at if joint is None else joint.end() :]
    if words and words[-1].lower() in _EXTREMES:
        value = _OF_FUNCTION.sub("", value, count=1) if _OF_FUNCTION.match(value) else value
    if (
        words
        and (called := _CALLED.fullmatch(value)) is not None
        and _is_taken_there("[a-z]", called["at"], called["value"], pair)
    ):
        value = called["value"]
    if not words and (behind := _BEHIND.fullmatch(value)) is not None:
        words, value = (behind["name"] or behind["how"]).split(), behind["value"] or behind["interval"]
    return _part_with_name(words, value)


def _part_with_name(words: Sequence[str], value: str) -> _Part | None:
    """A value with these words as its name: `median` for `the median`. Without words, it has no name.

    None if all words are articles and the like, or if one of the words denies or changes the value.
    """
    name = _contents(words)
    if (
        not any(map(str.isalnum, value))
        or bool(words) != bool(name)
        or any(denies(one) or operates(one) for one in name)
    ):
        return None
    return _with_whole(name, value)


def _is_of_east_asia(text: str) -> bool:
    """Whether a text has Chinese, Japanese or Korean letters, whose words need no spaces between them."""
    return IS_UNSPACED.search(text) is not None or IS_HANGUL.search(text) is not None


def _contents(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a name in lower case, without articles, verbs and so on: `("median",)` for `the median is`."""
    lower = (word.lower() for word in words)
    bare = (_FILLS_UNSPACED.sub("", one) if _is_of_east_asia(one) else _ELIDED.sub("", one) for one in lower)
    kept = [one for one in bare if one and one not in _FILLS]
    first = next((at for at, one in enumerate(kept) if one not in _OF), len(kept))
    return tuple(kept[first:])


def _with_whole(name: tuple[str, ...], value: str) -> _Part:
    """A part whose name is split at `of`: the name `axis` and the whole `symmetry` for `axis of symmetry`."""
    end = next((at for at, one in enumerate(name) if at and one in _OF), len(name))
    return _Part(name[:end], value, whole=name[end + 1 :])


def _is_name(one: _Part, other: _Part, asked: str) -> bool:
    """Whether the name of an answer's value, `one`, means the same as the name of a reference's value, `other`.

    A further word of the answer's has to be beside the name in the question: `arithmetic mean` for `mean`.
    """
    if one.is_sign or other.is_sign:
        sign, words = (one, other) if one.is_sign else (other, one)
        return _is_sign_of(sign.name[0], words.name)
    more = [word for word in one.name if not any(_is_word(word, own) for own in other.name)]
    left = [word for word in other.name if not any(_is_word(word, own) for own in one.name)]
    more += [word for word in one.whole if not any(_is_word(word, own) for own in other.whole)]
    verb = (
        one.name[-1]
        if len(one.name) > 1 and one.name[-1] not in _OF_ALL and _position(one.name[-1], asked) >= 0
        else ""
    )
    is_known = all(word == verb or _OF_ANY.match(word) or _is_beside_name(word, other.name, asked) for word in more)
    if len(left) == len(other.name) or not is_known:
        return False
    # `mean` is no mean deviation
    return not left or _is_word(one.name[-1], other.name[-1]) or all(map(_OF_ANY.match, left))


# Words that say that a value is of all or of a part, and not of each one
_OF_ALL = frozenset(
    "together both each all total sum half twice zusammen juntos juntas ensemble insieme вместе samen razem".split()  # noqa: SIM905
)


def _is_beside_name(word: str, name: Sequence[str], asked: str) -> bool:
    """Whether a question has this word within two words of a word of the name: `arithmetic` beside `mean`."""
    words = _LETTERS.findall(asked.lower())
    places = [at for at, one in enumerate(words) if one == word]
    return any(_is_word(one, other) for at in places for one in words[max(at - 2, 0) : at + 3] for other in name)


# Words that a name may have in addition
_OF_ANY = re.compile(
    "value|number|wert|zahl|valeur|nombre|valor|número|valore|numero|значени|числ|wartoś|hodnot|värde|값|值|値"
)


def _is_word(one: str, other: str) -> bool:
    """Whether two words are forms or short forms of one: `chickens` and `chicken`, `max` and `maximum`."""
    if any(_EXTREMES.get(a) is not None and _EXTREMES[a].search(b) for a, b in ((one, other), (other, one))):
        return True
    if _is_of_east_asia(one + other):
        short, long = sorted((one, other), key=len)
        rest = long.partition(short)
        return short in long and all(_MORE_UNSPACED.fullmatch(part) for part in (rest[0], rest[2]))
    short, long = sorted((one, other), key=len)
    return same_word(one, other) or (short in _SHORT_NAMES and long.startswith(short))


_EXTREME_NAMES = {"max": ("max", "maks", "máx", "макс"), "min": ("min", "mín", "мин", "мін")}
_EXTREMES = {one: SIGNS[kind][0].asked for kind, names in _EXTREME_NAMES.items() for one in names}
_SHORT_NAMES = frozenset("avg std med vol perim circ diam".split())  # noqa: SIM905
# Text that a name without spaces may have in addition: `增区间` is a `单调递增区间`
_MORE_UNSPACED = re.compile("(?:有|需要|严格|单调|递|区间|的|值|数|函数|关数|関数|极|極|其|最)*|(?:값|수|의|는|은)*")


def _meant_by(sign: str) -> re.Pattern[str] | None:
    """A pattern of the words that a symbol such as `gcd` or `μ` means; None for single Latin letters and unknown
    symbols.
    """
    return _SIGNS.get(sign) or (SIGNS[sign][0].asked if len(sign) > 1 and sign in SIGNS else None)


def _is_sign_of(sign: str, name: Sequence[str]) -> bool:
    """Whether a symbol means what the words name: `gcd` for `greatest common divisor`, or `q` for `quotient`."""
    if (known := _meant_by(sign)) is not None:
        return known.search(" ".join(name)) is not None
    return any(word.startswith(sign.lower()) for word in name)


def _by_reference(mine: Sequence[_Part], theirs: Sequence[_Part], asked: str) -> list[int]:
    """For each value of the reference, the index of the answer's value with the same name; empty if that is not clear.

    `[1, 0]` if the reference has a median and a range, and the answer the range first.
    """
    own_words, said_words = ([frozenset(one.name) for one in side] for side in (mine, theirs))
    # `ragazze` is no `ragazzi`, though either may be a form of the other
    if {*said_words} == {*own_words} and len({*own_words}) == len(own_words):
        return [said_words.index(words) for words in own_words]
    # a word of the question that each name has, which distinguishes none: `Ann gets 5 and Bob gets 3`
    alike_said = [word for word in frozenset.intersection(*said_words).difference(*own_words) if _is_said(word, asked)]
    theirs = [
        one._replace(name=tuple(word for word in one.name if word not in alike_said) or one.name) for one in theirs
    ]
    shared = frozenset.intersection(*own_words)
    if shared and shared.isdisjoint(word for one in theirs for word in one.name):
        # of a vertical and a horizontal asymptote
        mine = [one._replace(name=tuple(word for word in one.name if word not in shared) or one.name) for one in mine]
    order = []
    for own in mine:
        others = [word for other in mine if other is not own for word in other.name if word not in own.name]
        places = [
            at
            for at, one in enumerate(theirs)
            if _is_name(one, own, asked) and not any(_is_word(word, other) for word in one.name for other in others)
        ]
        if len(places) != 1:
            return []
        order += places
    return order if len({*order}) == len(order) else []


def _is_said(word: str, text: str) -> bool:
    """Whether a text has this word, in any of its forms."""
    return max(_position(word, text), _position(singular(word), text)) >= 0


def _position(word: str, text: str) -> int:
    """The index at which a text has a word, in any of its forms; -1 if it does not."""
    if _is_of_east_asia(word):
        return text.lower().find(word)
    for said in _LETTERS.finditer(text):
        one = said[0].lower()
        # `Hoch- und Tiefpunkt`; in Arabic, `and` is written together with its word
        is_begun = text.startswith("- ", said.end()) and word.startswith(one)
        if is_begun or same_word(word, one) or (one[0] == "و" and same_word(word, one[1:])):
            return int(said.start())
    return -1


def _by_question(theirs: Sequence[_Part], asked: str) -> list[int]:
    """The indices of the answer's values in the order in which the question asks for them; empty if it does not name
    them.

    `[1, 0]` for `range 13, median 7` if the question asks for the median and the range.
    """
    # only the clause that asks holds the names of values
    text = asking_clause(asked)[0] or _last_sentence(asked)
    positions = []
    for one in theirs:
        known = _meant_by(one.name[0]) if len(one.name) == 1 else None
        if known is not None and (said := known.search(text)) is not None:
            positions.append(said.start())
            continue
        others = [word for other in theirs if other is not one for word in other.name]
        own = [word for word in one.name if not any(_is_word(word, other) for other in others)]
        is_said = all(_position(word, text) >= 0 for word in (*one.name, *one.whole))
        if one.is_sign or not own or not is_said:
            return []
        positions.append(min(_position(word, text) for word in own))
    return sorted(range(len(theirs)), key=positions.__getitem__) if len({*positions}) == len(positions) else []


def _last_sentence(question: str) -> str:
    """The last sentence of a question: `Find B.` of `A is 5. Find B.`"""
    return ["", *(one for one in re.split(r"[.。]\s+", question) if one.strip())][-1]


_UNITS = re.compile(r"\s*(?<![\\a-zA-Z])([^\W\d_]{2,})\s*\Z")


def _without_asked_noun(one: _Part, truth: str, theirs: Sequence[_Part], question: Question | None) -> str:
    """An answer's value without the noun of the question behind it: `5` for `5 cows`, if the reference has no noun.

    Empty if the noun is the name of a different value, so that the answer names this one twice.
    """
    word = _UNITS.search(one.value)
    if word is None or question is None or _UNITS.search(truth) is not None:
        return one.value
    is_anothers = any(_is_word(word[1].lower(), name) for other in theirs if other is not one for name in other.name)
    if is_anothers:
        # it has two names
        return ""
    is_said = allowed(word[1], question.words, question.text)
    return one.value[: word.start()] if is_said else one.value


_MORE = "more|fewer|less|older|younger|taller|longer|heavier"
_ASKS_DIFFERENCE = re.compile(rf"\bhow (?:many|much) (?:{_MORE})|(?:{_MORE})\b.*\bby how (?:many|much)")
_WHO = re.compile(r"(?P<who>[A-Z][^\W\d_]{1,20})\s*(?:[,;:]|and|by|\s)\s*(?P<how_many>[-\d$\\].{0,40})")
_COUNTED = re.compile(r"(?<![\w.,])\$?\d[\d,.]*(?<![,.])")
_COMPARED = re.compile(r"(?<![^\W_])(?:than|als|que|di|чем)\s+(?P<to>[A-Z][^\W\d_]+)\.?\Z")


def who_and_how_many(pair: Pair) -> Outcome:
    """Compare answers of a person and a number: `Lena sold 7 more candles` is equal to the reference `Lena, 7`.

    The words between have to be the question's. Other answers are `UNKNOWN`, never different.
    """
    truth = _WHO.fullmatch(unset(pair.truth)) if pair.question is not None and len(pair.truth) < LONGEST_FORM else None
    if truth is None or pair.question is None or truth["who"] not in pair.question.text:
        return UNKNOWN
    compared = _COMPARED.search(unset(pair.answer))
    said = unset(pair.answer) if compared is None else compared.string[: compared.start()]
    if compared is not None and (compared["to"] == truth["who"] or compared["to"] not in pair.question.text):
        return UNKNOWN
    numbers = _COUNTED.findall(said)
    if _COUNTED.sub("", re.sub(r"[^\W\d_]+(?:['’]\w+)?|[\s,.;:]", "", said)):
        return UNKNOWN
    words = re.findall(r"[^\W\d_]+(?:['’]\w+)?", said)
    if len(numbers) != 1 or words[:1] != [truth["who"]] or words.count(truth["who"]) > 1:
        return UNKNOWN
    # a noun of the other sentences is not asked for: `7 more boxes`
    asks = _last_sentence(pair.question.text)
    asked = frozenset(re.findall(r"[^\W\d_]+", asks.lower()))
    difference = _ASKS_DIFFERENCE.search(asks)
    if difference is not None and len(words) > 1 and {"by", *_MORE.split("|")}.isdisjoint(words):
        # how many there are, not how many more
        return UNKNOWN
    rest = [word for word in words[1:] if word.lower() not in _FILLS and word != "by"]
    if any(word[0].isupper() or word in ("how", "many", "who") or not allowed(word, asked, asks) for word in rest):
        return UNKNOWN
    return EQUAL if alike(pair, [truth["how_many"]], numbers) is EQUAL else UNKNOWN
