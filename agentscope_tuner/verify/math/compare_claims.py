"""Comparisons of pairs with a notation of their own, which the general rules for formulas do not cover.

These are matchings, roles, distributions, orders of growth, formulas of logic, decisions about hypotheses, tables of
chances and, in chemistry, formulas, reactions and electron configurations. Each comparison gives UNKNOWN for pairs that
are not of its kind.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import asking_clause
from agentscope_tuner.verify.math.compare import CheapComparer
from agentscope_tuner.verify.math.compare_notations import LONGEST_FORM, LONGEST_OPTION, SET_TYPE, alike, unset
from agentscope_tuner.verify.math.names import substances
from agentscope_tuner.verify.math.node import (
    DIFFERENT,
    EQUAL,
    UNKNOWN,
    Outcome,
    Product,
    literal,
    number,
    product_of,
    symbols,
    walk,
)
from agentscope_tuner.verify.math.parse import parse
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.tokens import TooComplex, Unreadable, fold
from agentscope_tuner.verify.math.units import unit_named
from agentscope_tuner.verify.math.unwrap import PLAIN_REACTION, Pair

_MATCHES = re.compile(
    r"\bmatch|\blist[- ]?II?\b|\bcolumns? (?:I|II|A|B|[12])\b|\bpair(?:ing|s? (?:each|up))|配对|匹配|搭配|连线"
    r"|对应|\bzuordn|\bordne\b[^.]{0,60}?\bzu\b|\bassoci|\brelie[rz]?\b|\bemparej|\brelacion|\babbina|соответств"
    r"|\beşle|\bnối\b|対応|짝|\bjodoh|\bpasang",
    re.IGNORECASE,
)
_MATCHED = re.compile(
    r"(?P<one>[A-Z]+|[a-z]+|\d+|[①-⑳])|\\(?:(?:long)?(?:left)?rightarrow|to|mapsto)(?![a-z])"
    r"|[-–—−:：=→↔⇒,，;；、.()（）\[\]\s]"
)
_ROMAN_NUMERAL = re.compile("(?:X?(?:IX|IV|V?I{1,3})|X|V)|(?:x?(?:ix|iv|v?i{1,3})|x|v)")
_NOT_MATCHED = re.compile(r"(?<!\\)\b(?:and|und|et|и|matches|with|is|goes|to)\b|[和与と]")


# Punctuation that joins the two marks of a pair, and never one pair to the next
_TIES = re.compile(r"[-–—−:：=→↔\\]")


def matchings(pair: Pair) -> Outcome:
    """Compare two matchings of two columns, in any order of the pairs: `B \\to 1, A \\to 3` for `A-3, B-1`."""
    if pair.question is None or not pair.question.has(_MATCHES):
        return UNKNOWN
    mine = _matching(pair.truth)
    theirs = None if mine is None else _matching(pair.answer)
    if mine is None or theirs is None:
        return UNKNOWN
    if mine[0] != theirs[0] or {key for key, _ in mine[1]} == {value for _, value in theirs[1]}:
        # the answer may write the second column first: `3-A` for `A-3`
        theirs = theirs[0][::-1], frozenset((value, key) for key, value in theirs[1])
    return EQUAL if mine == theirs else DIFFERENT


def _matching_alike(
    said: str, found: Sequence[re.Match[str]], kind: str
) -> tuple[tuple[str, str], frozenset[tuple[str, str]]] | None:
    """The kind, twice, and the pairs of marks if both columns have marks of one kind: `A-Q, B-P`; else None."""
    named = [match for match in found if match["one"]]
    keys, values = ([_as_digits(match["one"]) for match in named[at::2]] for at in (0, 1))
    between = [said[one.end() : other.start()] for one, other in pairwise(named)]
    tied = [_TIES.search(sign) is not None for sign in between]
    is_one = len(keys) == len(values) == len({*keys}) and {*keys}.isdisjoint(values)
    if not is_one or not all(tied[0::2]) or any(tied[1::2]):
        return None
    return (kind, kind), frozenset(zip(keys, values, strict=True))


def _matching(text: str) -> tuple[tuple[str, str], frozenset[tuple[str, str]]] | None:
    """The kinds of the marks in both columns, and the pairs: capital, number, (A, 3) and (B, 1) for `A-3, B-1`.

    None if the text is not a matching.
    """
    said = _NOT_MATCHED.sub(" ", unset(text)) if len(text) <= LONGEST_FORM else "?"
    found = list(_MATCHED.finditer(said))
    marks = [match["one"] for match in found if match["one"]]
    if sum(len(match[0]) for match in found) != len(said) or len(marks) <= len("AB"):
        return None
    romans = {one.isupper() for one in marks if len(one) > 1 and _ROMAN_NUMERAL.fullmatch(one) is not None}
    kinds = [_kind_of_mark(one, romans) for one in marks]
    first, second = kinds[0], kinds[1]
    if {*kinds} == {first} != {""}:
        return _matching_alike(said, found, first)
    if first == second or not {*kinds} <= {first, second} or "" in kinds or kinds[-1] == first:
        return None
    named = [match for match in found if match["one"]]
    between = ["", *(said[one.end() : other.start()] for one, other in pairwise(named))]
    if any(kind == first and _TIES.search(sign) is not None for kind, sign in zip(kinds, between, strict=True)):
        return None
    pairs: list[tuple[str, str]] = []
    key = ""
    for at, (one, kind) in enumerate(zip(marks, kinds, strict=True)):
        if kind == first:
            if key and kinds[at - 1] == first:
                return None
            key = one
        else:
            pairs.append((key, _as_digits(one)))
    pairs = [(_as_digits(key), value) for key, value in pairs]
    return ((first, second), frozenset(pairs)) if len({*pairs}) == len(pairs) and kinds.count(first) > 1 else None


def _kind_of_mark(mark: str, romans: set[bool]) -> str:
    """The kind of a mark: "number", "roman", "capital" or "small"; empty for a word.

    Args:
        mark: a letter, a number or a word.
        romans: holds True if capital letters are Roman numbers in this text, and False if small ones are.
    """
    if not mark.isascii() or mark.isdigit():
        return "number"
    if mark.isupper() in romans and _ROMAN_NUMERAL.fullmatch(mark) is not None:
        return "roman"
    return "" if len(mark) > 1 else "capital" if mark.isupper() else "small"


def _as_digits(mark: str) -> str:
    """A number in a circle as digits, 3 for `③`; any other mark as it is."""
    return mark if mark.isascii() or len(mark) > 1 else str(int(unicodedata.numeric(mark, 0)))


_BETWEEN_ROLES = re.compile(
    r"\s*(?:[,;，；、。]|\.(?=\s|\Z))\s*(?:(?:and|while|und|et|y|e|и|а|ed)\s+)?|\s+(?:and|while|whereas"
    r"|und|während|et|y|e|и|а|ed|och|en)\s+|[而且](?=\w)"
)
_ARTICLES = r"(?:(?:an?|the|eine?|der|die|das|une?|l[ae]|el|un[oa]?|los|uma?|o|il|lo|en|ett)\s+)?"
_IS_ROLE = (
    r"(?:\s*(?:[:：=–—→]|-(?=\s)|\\(?:long)?(?:rightarrow|to|mapsto)(?![a-z]))\s*"
    r"|\s*(?:[是为為]|—\s*это)\s*|\s+(?:is|was|ist|est|es|est[áà]|è|é|är|jest|wears|has|gets|plays|owns|trägt)\s+)"
)
_ROLE = re.compile(
    rf"(?P<name>[A-Z][^\W\d_]{{0,20}}|[А-ЯЁ][^\W\d_]{{0,20}}|[\u4e00-\u9fff]{{1,3}}?)(?:{_IS_ROLE}){_ARTICLES}"
    r"(?P<role>[^\W\d_]{2,20}(?:[ -][^\W\d_]{2,20})?)"
)


def roles(pair: Pair) -> Outcome:
    """Compare who has which role, in any order: `A: knight, B: knave` for `A is a knight and B is a knave`."""
    parts = _BETWEEN_ROLES.split(unset(pair.truth).rstrip(" .。"))
    found = [_ROLE.fullmatch(part) for part in parts] if len(parts) > 1 else []
    mine = {m["name"]: m["role"].lower() for m in found if m is not None}
    if len(mine) != len(parts) or len(mine) < len("AB"):
        return UNKNOWN
    theirs: dict[str, str] = {}
    parts = _BETWEEN_ROLES.split(unset(pair.answer).rstrip(" .。"))
    for part in parts:
        name = next((one for one in mine if re.match(rf"{re.escape(one)}(?![a-zA-Zа-яё])", part)), "")
        behind = part[len(name) :]
        role = re.fullmatch(rf"(?:{_IS_ROLE}|\s+){_ARTICLES}(?P<role>.+)", behind, re.IGNORECASE) if name else None
        if role is None or name in theirs:
            return UNKNOWN
        theirs[name] = role["role"].strip().lower()
    if mine == theirs:
        return EQUAL
    return DIFFERENT if set(theirs.values()) <= set(mine.values()) else UNKNOWN


# Each family of distributions: how it is written, and the names of its parameters in their order
_LAWS = (
    ("poisson poi pois po p", "lambda mu rate mean parameter"),
    ("normal n gaussian gauss", "mu mean m|sigma^2 var variance"),
    ("binomial binom bin b", "n|p"),
    ("exponential exp expo e", "lambda rate parameter"),
    ("uniform unif u", "a|b"),
    ("gamma ga", "alpha k shape|beta rate lambda"),
    ("beta", "alpha a|beta b"),
    ("geometric geom geo g", "p"),
    ("bernoulli bern ber", "p"),
    ("chi", "df"),
    ("t", "df"),
    ("f", "m|n"),
)
_LAW = re.compile(
    r"(?:(?P<of>[^=]{1,60}?)\s*(?:\\sim(?![a-z])|[∼~]|\\(?:long)?(?:right)?(?:to|arrow)(?![a-z]))\s*)?"
    r"\\?(?P<name>[a-zA-Z]+)\s*[(\[](?P<given>.{1,80})[)\]]"
)
# `\\chi^2_3`, `\\chi^2(3)` and `t_5`
_INDEXED_LAW = re.compile(
    r"(?P<name>\\chi|(?<![a-zA-Z\\])[tF])\s*(?:\^\s*\{?2\}?)?\s*(?:_\s*(?:\{\s*\(?(?P<index>[^{}()]+)\)?\s*\}|(?P<given>\w)(?!\w)))"
    r"(?:\^\s*\{?2\}?)?\Z|(?<=\\chi)\s*\^\s*\{?2\}?(?=\s*\()"
)
_OF_LAWS = re.compile(
    r"distribu|verteil|\bloi\b|\\sim(?![a-z])|random variable|分布|распредел|phân phối|분포|rozkład"
    r"|verdeling|fördelning",
    re.IGNORECASE,
)


def laws(pair: Pair) -> Outcome:
    """Compare distributions, if the question is about them: `\\text{Poi}(5)` for `\\text{Poisson}(5)`.

    DIFFERENT if the answer names a different variable. If the reference names none, the question's may be named.
    """
    if pair.question is None or not pair.question.has(_OF_LAWS):
        return UNKNOWN
    mine, theirs = _law(pair.truth), _law(pair.answer)
    if mine is None or theirs is None:
        return UNKNOWN
    (own, law, given), (of, other, said) = mine, theirs
    if of != own and of and not (not own and _is_asked_variable(of, pair.question)):
        return DIFFERENT
    if law != other or len(given) != len(said):
        return DIFFERENT
    return alike(pair, given, said)


# A distribution in words: `Poisson distribution with mean 5`
_TOLD_LAW = re.compile(
    r"(?:an? |the )?(?P<name>[a-z]+)(?: (?:random variable|distribution))? with "
    r"(?P<first>mean|parameter|rate|n)\s*(?:\\lambda\s*)?=?\s*"
    r"(?P<one>[^\sa-z]{1,40})(?:\s*(?:,|and|, and)\s*(?P<second>variance|p)\s*=?\s*(?P<two>[^\sa-z]{1,40}))?",
    re.IGNORECASE,
)


def _as_formula(told: re.Match[str]) -> str:
    """A distribution in words as a formula: `Poisson(mean=5)` for `Poisson distribution with mean 5`."""
    more = f", {told['second']}={told['two']}" if told["two"] else ""
    return f"{told['name']}({told['first']}={told['one']}{more})"


def _law(text: str) -> tuple[str, int, list[str]] | None:
    """The variable of a distribution, the position of its family in `_LAWS`, and its parameters in order.

    ("X", 0, ["5"]) for `X \\sim \\text{Poi}(5)`. The variable is empty if there is none. None if the text is no
    distribution.
    """
    match = _LAW.fullmatch(
        _INDEXED_LAW.sub(
            lambda m: (m["name"] and f"{m['name']}({m['index'] or m['given']})") or "",
            _TOLD_LAW.sub(_as_formula, unset(text)),
        )
    )
    if match is None:
        return None
    law = next((at for at, (names, _) in enumerate(_LAWS) if match["name"].lower() in names.split()), None)
    if law is None:
        return None
    places = [names.split() for names in _LAWS[law][1].split("|")]
    given: dict[int, str] = {}
    inside = match["given"]
    for at, part in enumerate(_parted(inside[1:-1] if inside[0] == "[" and inside[-1] == "]" else inside)):
        name, is_named, value = part.rpartition("=")
        said = "".join(name.replace("\\", "").split()).lower()
        place = next((place for place, names in enumerate(places) if said in names), -1) if is_named else at
        if said == "sigma" and law == 1:
            place, value = 1, f"({value})^2"
        if place in given or not 0 <= place < len(places):
            return None
        given[place] = value
    return "".join((match["of"] or "").split()), law, [given[at] for at in sorted(given)]


def _parted(text: str) -> list[str]:
    """The parts of a text between commas or semicolons outside brackets: `a`, `(b, c)` and `d` in `a, (b, c); d`."""
    depths = list(accumulate((one in "([{") - (one in ")]}") for one in text))
    ends = [at for at, (one, depth) in enumerate(zip(text, depths, strict=True)) if one in ",;" and not depth]
    return [text[begin:end].strip() for begin, end in zip([0, *(e + 1 for e in ends)], [*ends, len(text)], strict=True)]


def _is_asked_variable(of: str, question: Question) -> bool:
    """Whether an answer may name this variable of a distribution.

    The question asks for the distribution of the variable, or for a minimum or maximum; or it uses none of its letters,
    so that the answer had to choose a name.
    """
    formulas = re.findall(r"\$+([^$]+)\$+|\\\((.+?)\\\)", asking_clause(question.text)[0] or question.text)
    if any("".join(unset(one or other).split()) == of for one, other in formulas):
        return True
    if (extreme := re.search(r"\\(min|max)", of)) is not None:
        return extreme[1] in question.text.lower()
    letters = set(re.findall("[a-zA-Z]", re.sub(r"\\[a-zA-Z]+", "", of)))
    return letters.isdisjoint(re.findall(r"(?<![a-zA-Z\\])[a-zA-Z](?![a-zA-Z])", question.text))


_GROWTH = re.compile(
    r"(?:(?:T|f)\s*\(\s*n\s*\)\s*(?:=|\\in(?![a-z])|∈)\s*)?(?P<sign>\\Theta|Θ|\\Omega|Ω|\\omega|ω|O"
    r"|o)\s*\((?P<of>.{1,80})\)"
)
_BASE_OF_LOG = re.compile(r"\\log\s*_\s*(?:\{\s*\d+\s*\}|\d)|\\l[gn](?![a-z])|(?<![a-z\\])l[gn](?![a-z])")
_EXPONENT = re.compile(r"\^\s*(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\\l[gn]\s|\\log_)")


def growths(pair: Pair) -> Outcome:
    """Compare orders of growth without constant factors and bases of logarithms.

    `\\Theta(n\\log n)` may be answered by `\\Theta(2n\\log_2 n)`, but not by `O(n\\log n)`.
    """
    if pair.question is None or not pair.question.has(_ASKS_GROWTH):
        return UNKNOWN
    mine, theirs = (_GROWTH.fullmatch(unset(one)) for one in (pair.truth, pair.answer))
    if mine is None or theirs is None:
        return UNKNOWN
    if _SIGNS_OF_GROWTH.get(mine["sign"], mine["sign"]) != _SIGNS_OF_GROWTH.get(theirs["sign"], theirs["sign"]):
        return DIFFERENT
    sides = []
    for one in (mine["of"], theirs["of"]):
        # in an exponent a factor counts, so there the base of a logarithm is kept
        body = one.replace("\\lg", "\\log_2") if _EXPONENT.search(one) else _BASE_OF_LOG.sub(r"\\log ", one)
        try:
            node = parse(body)
        except (Unreadable, TooComplex):
            return UNKNOWN
        if not symbols(node):
            return UNKNOWN
        if any((literal(one) or 1) <= 0 for one in walk(node)):
            return UNKNOWN
        parts = node.args if isinstance(node, Product) else (node,)
        sides.append(product_of(tuple(part for part in parts if symbols(part)) or (number(1),)))
    return CheapComparer(pair.seed, pair.question).leaf(*sides)


_ASKS_GROWTH = re.compile(
    r"asympto|complexit|running|\btime\b|big[- ]?(?:o|theta|omega|Θ)|Theta|Θ|Omega|[TO]\s*\(|recurren|growth|bound\b"
    r"|复杂度|渐近|递归|递推|laufzeit|wachs|rekur|complejidad|compless|сложност|рекурр|асимпт|計算量|漸化|복잡도|점화",
    re.IGNORECASE,
)
_SIGNS_OF_GROWTH = {"Θ": "\\Theta", "Ω": "\\Omega", "ω": "\\omega"}

_QUANTIFIER = re.compile(
    r"[\s(]*(?P<sign>\\forall|\\exists\s*!?|\\nexists)\s*(?P<names>[a-zA-Z](?:_\{?\w\}?)?(?:\s*,\s*[a-zA-Z](?:_\{?\w\}?)?(?=\s*\\in))*|\\[a-z]+)\s*"
    r"(?P<bound>(?:\\in(?![a-z])|\\notin|\\[gl](?:eq?|t)(?![a-z])|[<>])\s*[^\s:,.;()\\[\]]+)?[\s):,.;]*"
    r"(?:(?:such that|s\.t\.|there exists|we have|使得?|有)[\s:,]*)?"
)
_SPELLED_SIGNS = {
    "∀": "\\forall ",
    "∃": "\\exists ",
    "∈": "\\in ",
    "ℝ": "R",
    "ℤ": "Z",
    "ℕ": "N",
    "ℚ": "Q",
    "ℂ": "C",
    "≤": "\\le ",
    "≥": "\\ge ",
}
_SPELLED_SO = str.maketrans(_SPELLED_SIGNS)
_JOINED_CLAIMS = re.compile(r"(\\(?:land|wedge|lor|vee|implies|Rightarrow|to|iff)(?![a-zA-Z])|\band\b|\bor\b)")
_SAME_JOINT = {"\\wedge": "\\land", "and": "\\land", "\\vee": "\\lor", "or": "\\lor", "\\Rightarrow": "\\implies"}


def quantified(pair: Pair) -> Outcome:
    r"""Compare statements behind quantifiers: `\forall y \in A, y > 0` for `\forall x \in A, x > 0`.

    The order of the quantifiers and their sets count. The names of the bound letters do not.
    """
    if "exists" not in pair.truth and "forall" not in pair.truth and re.search("[∀∃]", pair.truth) is None:
        return UNKNOWN
    mine = _claim(pair.truth, ())
    theirs = None if mine is None else _claim(pair.answer, mine[1])
    if mine is None or theirs is None:
        return UNKNOWN
    if mine[0] != theirs[0]:
        return DIFFERENT
    sides = [_JOINED_CLAIMS.split(one) for one in (mine[2], theirs[2])]
    joints = [[_SAME_JOINT.get(one, one) for one in side[1::2]] for side in sides]
    if joints[0] != joints[1]:
        return DIFFERENT
    return alike(pair, *(side[::2] for side in sides))


def _claim(text: str, letters: tuple[str, ...]) -> tuple[list[tuple[str, str]], tuple[str, ...], str] | None:
    r"""The quantifiers of a text with their sets, the letters that they bind, and the statement about these.

    (`\forall`, `\inA`), `x` and `x > 0` for `\forall x \in A, x > 0`. None if the text begins with no quantifier.

    Args:
        text: the formula.
        letters: replace the bound letters in the sets and in the statement, if they are equally many.
    """
    rest = unset(text.translate(_SPELLED_SO))
    found: list[tuple[str, str]] = []
    bound: list[str] = []
    while (match := _QUANTIFIER.match(rest)) is not None:
        for name in re.split(r"\s*,\s*", match["names"]):
            found.append(("".join(match["sign"].split()), "".join((match["bound"] or "").split())))
            bound.append(name)
        rest = rest[match.end() :]
    rest = rest.strip()
    if not found or len(set(bound)) != len(bound) or not rest:
        return None
    if (rest[0], rest[-1]) in (("(", ")"), ("[", "]")) and 0 not in list(_depths([*rest]))[:-1]:
        rest = rest[1:-1]
    if letters and len(letters) == len(bound):
        names = dict(zip(bound, letters, strict=True))
        spelled = re.compile(
            "|".join(
                rf"{'(?<![a-zA-Z' + chr(92) * 2 + '])' if one[0] != chr(92) else ''}{re.escape(one)}(?![a-zA-Z_])"
                for one in sorted(names, key=len, reverse=True)
            )
        )
        rest = spelled.sub(lambda found: f" {names[found[0]]} ", rest)
        found = [(sign, spelled.sub(lambda found: names[found[0]], limit)) for sign, limit in found]
    return found, tuple(bound), rest


_NULL = re.compile(
    r"(?:\bthe |\bl['’]|\bdie |\bla |\ba )?(?:null[- ]?hypothes[ie]s?e?|hypothèse nulle"
    r"|hipótesis nula|hipótese nula|ipotesi nulla"
    r"|нулев\w+ гипотез\w+|原假设|零假设|虚无假设|帰無仮説|귀무가설)|\bh\s?_?\s?0(?!\d)"
)
_SAID_TWICE = re.compile(r"h_0(?:\s*[,(]?\s*h_0\s*\)?)+")
_ALTERNATIVE = re.compile(
    r"(?:the )?(?:alternative hypothesis|备择假设)(?:\s*\(?\s*h\s?_?\s?[1a]\)?)?|\bh\s?_?\s?[1a]\b"
)
_DECIDED = re.compile(r"\b(?:we|should|will|therefore|so)\b,?|[.]")
_PASSIVE = re.compile(r"(h_[01]) (?:is|was|should be|must be) (?P<not>not )?rejected")
_NOT_REJECTED = re.compile(r"\b(?:do|does|can|could)(?: not|n['’]t|not) reject\b|\bnot reject\b")
_AT_LEVEL = re.compile(
    r",? at (?:the |a )?(?P<level>\d+(?:\.\d+)?\s?\\?%)(?: significance)?(?: level)?(?: of significance)?"
)
_TESTS = re.compile(
    r"\btest|hypoth|hipót|ipotes|гипотез|критери|假设|假設|仮説|가설|检验|検定|검정|reject|拒绝", re.IGNORECASE
)
# A hypothesis itself
_STATES = re.compile(r"[=<>:(^/]|\\(?:[lg]eq?|neq?|mu|sigma|frac|cong)(?![a-z])")
_REJECTED = re.compile(
    r"\b(?:rechaz\w+|verwerfen|verwirft|verworfen|abgelehnt|ablehnen|rejet\w+|rejeit\w+|rifiut\w+|отверг\w+|отклон\w+)\b|拒绝|棄却(?:する)?|기각(?:한다)?"
)
_FILLERS = re.compile(r"\b(?:se|on|wir|wird|man|si|мы|следует|ist|zu|debe|deve|doit|ho|la|el)\b|[をはを을를]")
_DENYING = frozenset("no nicht ne pas не não non 不".split())  # noqa: SIM905
_DECISIONS = ("reject", "fail to reject")


def hypotheses(pair: Pair) -> Outcome:
    """Compare decisions about a hypothesis: `Reject the null hypothesis` and `H_0 is rejected`."""
    if pair.question is None or not pair.question.has(_TESTS) or _STATES.search(pair.truth) is not None:
        return UNKNOWN
    if _NULL.search(pair.truth.lower().replace("{", "").replace("}", "")) is None:
        return UNKNOWN
    mine, theirs = (
        _decision(side, pair.question.text if pair.question is not None else "") for side in (pair.truth, pair.answer)
    )
    if mine == theirs:
        return EQUAL
    known = {f"{one} h_{which}" for one in _DECISIONS for which in "01"}
    return DIFFERENT if {mine, theirs} <= known else UNKNOWN


def _decision(text: str, asked: str) -> str:
    """The decision in a text, in one wording: `fail to reject h_0` for `We do not reject the null hypothesis.`

    A text without a decision gives its own words in lower case.

    Args:
        text: the answer or the reference.
        asked: the question; a level of significance that it also has is removed.
    """
    said = " ".join(unset(text).replace("{", "").replace("}", "").lower().split())
    said = _AT_LEVEL.sub(lambda m: "" if m["level"].replace("\\", "") in asked.replace("\\", "") else m[0], said)
    said = _SAID_TWICE.sub("h_0", _NULL.sub(" h_0 ", _ALTERNATIVE.sub(" h_1 ", said)))
    said = " ".join(_DECIDED.sub(" ", said).split())
    said = _PASSIVE.sub(lambda m: f"{'fail to ' if m['not'] else ''}reject {m[1]}", said)
    said = _NOT_REJECTED.sub("fail to reject", _REJECTED.sub(" reject ", said))
    words = {*_FILLERS.sub(" ", said).split()}
    if "h_0" in words and "reject" in words and words <= {"h_0", "reject", *_DENYING}:
        # the verb may be the last word, and in a different language
        said = f"{'fail to ' if len(words) > len(('reject', 'h_0')) else ''}reject h_0"
    return f"{said} h_0" if said in _DECISIONS else said


_COUNTABLY = re.compile(
    r"(?<![a-z])(?:countably infinite|denumerable|abzählbar unendlich|infini dénombrable"
    r"|infinito numerable|可数无[穷限]|счётное|(?P<less>countable))"
)
_UNCOUNTABLY = re.compile(r"(?<![a-z])(?:uncountabl[ey](?: infinite)?|überabzählbar(?: unendlich)?|不可数|несчётное)")
_AROUND_CARDINAL = re.compile(r"[\s,;:().]|i\.e\.|\bthat is\b")


def cardinals(pair: Pair) -> Outcome:
    """Accept a cardinal number that is given in words: `\\text{countably infinite}` for `\\aleph_0`; else UNKNOWN."""
    truth = "".join(pair.truth.replace("{", "").replace("}", "").split())
    if "aleph" not in truth and truth != "\\mathfrakc":
        return UNKNOWN
    is_countable = truth == "\\aleph_0"
    said = unset(pair.answer).lower().replace("{", "").replace("}", "")
    match = (_COUNTABLY if is_countable else _UNCOUNTABLY).search(said)
    if match is None:
        return UNKNOWN
    rest = _AROUND_CARDINAL.sub("", said[: match.start()] + said[match.end() :])
    return EQUAL if rest == truth or (not rest and is_countable and not match["less"]) else UNKNOWN


_CHANCE_OF = re.compile(r"(?:\A|[,;，；、。]|\s)\s*P\s*\(\s*(?P<of>[^()=]{1,12}=[^()=]{1,12})\)\s*=")


def tables(pair: Pair) -> Outcome:
    """Compare the chances of a random variable's values one by one: `P(X=0)=0.1, P(X=1)=0.9`."""
    mine, theirs = (_table(one) for one in (pair.truth, pair.answer))
    if mine is None or theirs is None:
        return UNKNOWN
    if {*mine} != {*theirs}:
        return DIFFERENT
    # each member of a chain `P(X=0) = 1/4 = 0.25` must be equal to the value
    said = [(mine[one][-1], member) for one in sorted(mine) for member in theirs[one]]
    return alike(pair, *zip(*said, strict=True))


def _table(text: str) -> dict[str, list[str]] | None:
    r"""The chances in a text, by event: `X=0` with 0.1, `X=1` with `\frac{9}{10}` and 0.9.

    This is the table of `P(X=0)=0.1, P(X=1)=\frac{9}{10}=0.9`. None if the text has fewer than two events, something
    else before the first, or the same event twice.
    """
    said = unset(text)
    found = list(_CHANCE_OF.finditer(said))
    if len(found) <= 1 or found[0].start() > 0:
        return None
    ends = [*(one.start() for one in found[1:]), len(said)]
    table = {
        "".join(one["of"].split()): [member.strip(" ,;，；、。.") for member in said[one.end() : end].split("=")]
        for one, end in zip(found, ends, strict=True)
    }
    return table if len(table) == len(found) and all(map(all, table.values())) else None


_ASKS_LINE = re.compile(
    r"tangent|\bnormale?n?\b|asympto|sekant|secant|sécante|касательн|нормал|切线|法线|接線|法線|접선", re.IGNORECASE
)
_OF_FUNCTION = re.compile(r"(?P<name>[a-zA-Z])\s*\(\s*x\s*\)\s*=")


def lines(pair: Pair) -> Outcome:
    """Refuse an answer that gives a tangent the name of the question's function: `f(x)=2x-1` for `y=2x-1`.

    DIFFERENT if the question asks for a tangent, normal or asymptote and has a function of that name; else UNKNOWN.
    """
    called = _OF_FUNCTION.match(pair.answer) if pair.truth[:1] == "y" and "(" in pair.answer else None
    if called is None or pair.question is None or _ASKS_LINE.search(pair.question.text) is None:
        return UNKNOWN
    defined = re.search(rf"(?<![a-zA-Z]){called['name']}\s*\(\s*x\s*\)", pair.question.text)
    return UNKNOWN if defined is None else DIFFERENT


_STRUCTURE = (
    r"(?:\\mathbb\s*\{?[A-Z]\}?|(?<![a-zA-Z\\])[A-Z])(?:[_^](?:\w|\{[\w+-]{1,8}\})|/\w?\s*\\mathbb\s*\{?Z\}?)*+\s*"
)
_FREE = re.compile(rf"{_STRUCTURE}(?:\\(?:ast|star)(?![a-z])|[*∗])")
_DIRECT = re.compile(rf"{_STRUCTURE}(?:\\(?:times|oplus)(?![a-z])|[×⊕])")
_NATURAL = re.compile(r"(?:\\mathbb\s*\{?N\}?|ℕ)(?P<marked>[\^_].{1,9})?")


def is_other_structure(pair: Pair) -> bool:
    r"""Whether an answer has `\mathbb{N}` for `\mathbb{N}^*`, or a wrong kind of product: `A \times B` for `A * B`."""
    natural, other = _NATURAL.fullmatch(pair.truth), _NATURAL.fullmatch(pair.answer)
    if natural is not None and other is not None:
        return bool(natural["marked"] and not other["marked"])
    if "mathbb" not in pair.truth and not (pair.question is not None and pair.question.is_of_groups):
        return False
    stated = re.split(r"\\(?:cong|simeq)(?![a-z])|[≅=]", pair.answer)[-1]
    mine, theirs = ((bool(_FREE.search(one)), bool(_DIRECT.search(one))) for one in (pair.truth, stated))
    return mine == theirs[::-1] != theirs


_OPERAND = r"(?:\\(?:vec|mathbf|boldsymbol|overrightarrow|bm)(?![a-z])\s*(?:\{\s*\w+\s*\}|\\?\w+)|\\nabla)"
_BETWEEN_VECTORS = re.compile(rf"(?:{_OPERAND}|\))\s*(\\times(?![a-z])|×|\\cdot(?![a-z])|·|⋅|\*)\s*(?={_OPERAND}|\()")
_BETWEEN_LETTERS = re.compile(r"(?<=[a-zA-Z])\s*(\\times(?![a-z])|×|\\cdot(?![a-z])|·|⋅|\*)\s*(?=[a-zA-Z])")
_CROSS = ("\\times", "×")
_SET_VECTOR = re.compile(r"\\(?:vec|mathbf|boldsymbol|overrightarrow|bm)(?![a-z])|[{}\s]")
_CROSSED = re.compile(r"([a-zA-Z])(?:\\times|×)([a-zA-Z])")


def _crossed(text: str) -> tuple[str, ...]:
    r"""The names in a text's only cross product, in order: a, b for `\vec{a}\times\vec{b}`; empty for none or more."""
    found = _CROSSED.findall(_SET_VECTOR.sub("", text))
    return tuple(found[0]) if len(found) == 1 else ()


def products_of_vectors(pair: Pair) -> Outcome:
    r"""Refuse an answer with a dot product for the reference's cross product, or the other way round.

    Also `\vec{b}\times\vec{a}` for `\vec{a}\times\vec{b}`. UNKNOWN for any other pair. The parser reads both products
    as the same token, so the texts are compared.
    """
    if "\\" not in pair.truth:
        return UNKNOWN
    mine = [sign in _CROSS for sign in _BETWEEN_VECTORS.findall(pair.truth)]
    if not mine:
        return UNKNOWN
    theirs = _BETWEEN_VECTORS.findall(pair.answer) or _BETWEEN_LETTERS.findall(pair.answer)
    if mine == [True] and "-" not in pair.answer and _crossed(pair.truth) == _crossed(pair.answer)[::-1] != ():
        # b × a is -(a × b)
        return DIFFERENT
    return UNKNOWN if sorted(sign in _CROSS for sign in theirs) == sorted(mine) else DIFFERENT


# Operators whose two sides may be exchanged (but for the arrow), the loosest first
_ORDERED = ("iff", "->", "\\oplus", "or", "and", "\\parallel", "\\perp", "\\cong", "\\sim")
_ALIKE = {
    "=>": "->",
    "\\Leftrightarrow": "iff",
    "\\leftrightarrow": "iff",
    "xor": "\\oplus",
    "XOR": "\\oplus",
    "\\neg": "not",
}
_OF_LOGIC = frozenset({*_ORDERED[:5], "not", "(", ")", "\\forall", "\\exists"})
_REORDERED = frozenset({*_ORDERED, *_ALIKE, *_OF_LOGIC}) - {"(", ")"}
_DENIED_LETTER = re.compile(r"\\(?:overline|bar) (?:\{ )?([a-zA-Z])(?: \})?|([a-zA-Z]) '")
_SUCH_THAT = re.compile(r" (?:such that|: ?|, ?|\\mid|\||\\text ?)(?= )")


def turned_round(pair: Pair) -> Outcome:
    r"""Accept a formula of logic or geometry with exchanged sides: `q \land p` for `p \land q`, `CD\parallel AB`."""
    if _REORDERED.isdisjoint(pair.ref.tokens):
        return UNKNOWN
    mine, theirs = (" ".join(_ALIKE.get(t, t) for t in side.tokens) for side in (pair.ref, pair.ans))
    if "\\forall" in mine or "\\exists" in mine:
        mine, theirs = (" ".join(_SUCH_THAT.sub("", f" {side} ").split()) for side in (mine, theirs))
        return EQUAL if mine == theirs else UNKNOWN
    mine, theirs = (_DENIED_LETTER.sub(r"not \1\2", side) for side in (mine, theirs))
    is_logic = all(t in _OF_LOGIC or t in "pqrsABC" for t in mine.split())
    signs = _ORDERED if is_logic else _ORDERED[5:]
    if len(mine) + len(theirs) > LONGEST_OPTION * 4 or not any(sign in mine.split() for sign in signs):
        return UNKNOWN
    return EQUAL if _in_order(mine.split(), signs) == _in_order(theirs.split(), signs) else UNKNOWN


def _in_order(tokens: list[str], signs: tuple[str, ...]) -> str:
    """The tokens as a text with the parts around each operator sorted: `(p and q)` for `q and p`; not around arrows.

    Args:
        tokens: the formula.
        signs: the operators, the loosest first.
    """
    while (
        tokens[:1] == ["("] and tokens[-1:] == [")"] and _depths(tokens[:-1])[-1] > 0 and min(_depths(tokens)[:-1]) > 0
    ):
        tokens = tokens[1:-1]
    depths = _depths(tokens)
    for sign in signs:
        cuts = [at for at, token in enumerate(tokens) if token == sign and depths[at] == 0]
        if cuts:
            parts = [
                _in_order(tokens[low + 1 : high], signs)
                for low, high in zip([-1, *cuts], [*cuts, len(tokens)], strict=True)
            ]
            return f"({f' {sign} '.join(parts if sign == '->' else sorted(parts))})"
    return " ".join(tokens)


def _depths(tokens: list[str]) -> list[int]:
    """How many brackets are open after each token: 1, 1, 0 for `( p )`."""
    return list(accumulate((t == "(") - (t == ")") for t in tokens)) or [0]


ELEMENTS = frozenset(
    """H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb
    Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Nd Sm Eu Gd W Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U
    Np Pu Am""".split()  # noqa: SIM905
)
_ARROW = re.compile(
    # with the condition of the reaction, which its equation may leave out
    r"\\x(?:right)?(?:arrow|longequal|longrightarrow)\s*(?:\[[^\[\]]*\])?\s*\{(?:[^{}]|\{[^{}]*\})*\}"
    r"|\\(?:overset|stackrel|underset)\s*\{(?:[^{}]|\{[^{}]*\})*\}\s*\{(?:(?:=|\\!|\s)++"
    r"|\s*\\(?:(?:long)?rightarrow|to)\s*)\}"
    r"|->(?:\[[^\[\]]*\])?|\\(?:long)?rightarrow|\\to(?![a-z])|⟶|\\rightleftharpoons|⇌|<=>|="
)
_STATE = re.compile(r"_?\((?:s|l|g|aq)\)|\\(?:up|down)arrow|[↑↓]")
_SCRIPT = re.compile(r"([_^])(?:\{([^{}]*)\}|((?<=\^)\d?[+-]|\w))")
_SPECIES = re.compile(
    r"\d*(?:_\w+;)?(?:\^[\d+-]+;)?(?:(?:[A-Z][a-z]?|[()\[\]]|e(?=\^))(?:_?\d*;?)(?:\^[\d+-]+;)?|\*\d*)+"
)


def chemistry(pair: Pair) -> Outcome:
    r"""Compare chemical formulas and reactions: `\ce{O2 + 2H2 -> 2H2O}` for `2H_2 + O_2 \to 2H_2O`.

    States such as (aq) count if the reference has them. A condition over the arrow counts if the question asks for it.
    """
    # a formula may be set in each of its parts: `2H$_2$O`
    truth = pair.ref.text.replace("$", "")
    plain = re.sub(r"_\{(\d+)\}", r"\1", fold(truth))
    is_plain = (PLAIN_REACTION.search(plain) or _PLAIN_FORMULA.fullmatch(plain)) is not None
    is_plain = is_plain or (pair.question is not None and pair.question.has(_OF_CHEMISTRY))
    if not (is_plain or _CHEMICAL.search(truth)) or len(pair.answer) > LONGEST_OPTION * 4:
        return UNKNOWN
    mine = _species(pair.ref.text, keep=True)
    if mine is None:
        return UNKNOWN
    if pair.question is not None and _OF_CONDITIONS.search(pair.question.text) is not None:
        wanted, found = _condition(pair.ref.text), _condition(pair.answer)
        if wanted and wanted != found:
            return DIFFERENT
    theirs = _species(pair.answer, keep=bool(_STATE.search(SET_TYPE.sub("", pair.ref.text))))
    if theirs == mine:
        return EQUAL
    # two single formulas: the order of the elements shows how they are joined
    return DIFFERENT if theirs is not None and mine[1:] == theirs[1:] == [] and _is_of_atoms(pair) else UNKNOWN


# An amount of a substance: `36\\text{ g of }H_2O`, `2\\ \\mathrm{mol\\ CO_2}`
_OF_SUBSTANCE = re.compile(
    r"(?P<amount>\D{0,40}\d.*?)\s*(?<![a-zA-Z\\])(?P<unit>[a-zA-Zµμ]{1,9})\s+(?:(?:of|de|di|von|av) )?\(?"
    r"(?P<formula>(?:[A-Z][a-z]?\s*(?:_?\s*\{?\d+\}?\s*)?){2,6}|[A-Z][a-z]?\s*_?\s*\{?\d\}?)\)?"
)


def without_substance(text: str, asked: Question) -> str:
    r"""An amount without the substance behind its unit, if the question asks for it: `36\text{ g}` for `36 g of H_2O`.

    Any other text as it is.
    """
    said = unset(re.sub(r"\\ce(?=\{)", r"\\text", text)) if len(text) <= LONGEST_OPTION else ""
    found = _OF_SUBSTANCE.fullmatch(said)
    if found is None or unit_named(found["unit"]) is None:
        return text
    # the question's only substance, or the one whose amount it asks for: `How many grams of CO2 are produced from CH4`
    formula, asked_for = re.sub(r"[\s_{}]", "", found["formula"]), substances(asked.text)
    asks = re.sub(r"[_{}$^\\]|mathrm|text", "", asking_clause(asked.text)[0])
    is_first = (
        re.search(rf"\b(?:grams?|mass|moles?|lit(?:er|re)s?|volume) (?:of )?{formula}(?![a-zA-Z0-9])", asks) is not None
    )
    is_asked = asked_for == {formula} or (formula in asked_for and is_first)
    return f"{found['amount']}\\text{{ {found['unit']}}}" if is_asked else text


# Elements with a fixed oxidation state: a question about a compound asks about its other elements
_FIXED = frozenset("O H F Li Na K Rb Cs Mg Ca Sr Ba Al Zn Ag".split())  # noqa: SIM905
_OF_OXIDATION = re.compile(
    r"oxida[tc]i(?:on|e|ón|ão)|ossidazione|oxydation|степен\w* окисл|ступ\w* окисн|氧化数|化合价|酸化数|산화수"
    r"|utlenieni|yükseltgenme|oxi hóa|oxidatie|oxidační",
    re.IGNORECASE,
)
_STATE_OF = re.compile(
    r"(?:(?P<of>[A-Z][a-z]?)|(?P<name>[^\W\d_]{3,}))?(?<![A-Z](?=[IV]))[\s:=(^]*(?P<sign>[+-]?)(?:(?P<number>\d)|(?P<roman>V?I{1,3}|I?V|VIII))(?P<behind>[+-]?)\)?"
)
_ROMAN = {said: at for at, said in enumerate("I II III IV V VI VII VIII".split(), 1)}  # noqa: SIM905


def in_figures_of_oxidation(text: str, asked: Question) -> str:
    """An oxidation state in figures, if the question asks for one: `+6` for `Cr(VI)` and `+VI`.

    Any other text as it is, also if it names an element that the question does not ask about.
    """
    if len(text) > LONGEST_OPTION or not asked.has(_OF_OXIDATION):
        return text
    found = _STATE_OF.fullmatch(unset(re.sub(r"[{}$]|\\(?:ce|mathrm|text)(?![a-z])", "", text)).replace("−", "-"))
    if found is None or (found["sign"] and found["behind"]):
        return text
    name, of = found["name"], found["of"]
    given = {*re.findall(r"[A-Z][a-z]?(?![a-z])", " ".join(re.findall(r"[A-Z][A-Za-z0-9_{}()]*", asked.text)))}
    if (name and not asked.says(name.lower())) or (of and (given - _FIXED or given & {of}) != {of}):
        return text
    number = found["number"] or _ROMAN[found["roman"]]
    is_told = of or name or found["roman"] or found["behind"]
    return f"{found['sign'] or found['behind'] or '+'}{number}" if is_told else text


_SHELL = re.compile(r"([1-7](?:s(?=[12])|p(?=[1-6])|d(?=\d)|f(?=\d)))((?<=f)1[0-4]|(?<=d)10|[1-9])")
_CONFIGURATION = re.compile(rf"(?:\[(?P<core>He|Ne|Ar|Kr|Xe|Rn)\])?(?:(?:{_SHELL.pattern})+)")
_CORES = {"He": 2, "Ne": 10, "Ar": 18, "Kr": 36, "Xe": 54, "Rn": 86}
_FILLED = "1s2 2s2 2p6 3s2 3p6 4s2 3d10 4p6 5s2 4d10 5p6 6s2 4f14 5d10 6p6".split()  # noqa: SIM905


def _electrons(text: str) -> Counter[str] | None:
    """The number of electrons in each subshell: 2 in 1s and 2 in 2s for `1s^2 2s^2`.

    A noble gas is written out, as in `[Ar]3d^5`. None if the text is not an electron configuration.
    """
    written = SET_TYPE.sub("", fold(SET_TYPE.sub("", text))).replace("^", "").replace("_", "")
    found = _CONFIGURATION.fullmatch(written)
    if found is None or (found["core"] is None and len(_SHELL.findall(written)) < 2):  # a lone `2p^2` may be a power
        return None
    held: Counter[str] = Counter()
    for filled in _FILLED:
        if found["core"] is None or held.total() >= _CORES[found["core"]]:
            break
        held[filled[:2]] += int(filled[2:])
    shells = _SHELL.findall(written, written.find("]") + 1)
    for shell, count in shells:
        held[shell] += int(count)
    return held if len(dict(shells)) == len(shells) else None


_OF_ELECTRONS = re.compile(
    r"electron|configurat|elektron|électron|электрон|电子|電子|전자|orbital|atom|\bion\b", re.IGNORECASE
)


def configurations(pair: Pair) -> Outcome:
    r"""Compare electron configurations, with their subshells in any order: `1s^22s^2` and `[\mathrm{He}]\,2s^2`."""
    is_of_atoms = "[" in pair.ref.text or pair.question is None or pair.question.has(_OF_ELECTRONS)
    truth = _electrons(pair.ref.text) if is_of_atoms and re.search("[spdf]", pair.ref.text) else None
    stated = None if truth is None else _electrons(pair.answer)
    if truth is None or stated is None:
        return UNKNOWN
    return EQUAL if truth == stated else DIFFERENT


_OF_CHEMISTRY = re.compile(
    r"chem|chim[iy]|quím|quim|хими|molec|molek|moléc|молек|\bcompounds?\b(?! (?:interest|event|prob))|isom[eè]r|изомер"
    r"|\bacids?\b|\bsalts?\b|\bion(?:s|ic)?\b|oxid"
    r"|(?:summen|struktur)formel|化学|分子[式结構]|结构简式|構造式|化合|示性|화학|분자|kimya|hóa học|phân tử",
    re.IGNORECASE,
)
_OF_FORMULAS = re.compile(r"form[ue]l|fórmul|формул|công thức|wzór|化学式", re.IGNORECASE)


def _is_of_atoms(pair: Pair) -> bool:
    """Whether the reference is a chemical formula, and not a product of letters like AB.

    Its `\\ce` or its question says so, or it has three or more elements and a number.
    """
    asked = pair.question.text if pair.question is not None else ""
    said = SET_TYPE.sub("", pair.ref.text)
    several, counted = len(set(re.findall(r"[A-Z][a-z]?", said))) > len("AB"), re.search("_?[2-9]", said) is not None
    if not (several or counted or any(map(str.islower, said))):
        return False
    is_told = "\\ce" in pair.ref.text or _OF_CHEMISTRY.search(asked) or _OF_FORMULAS.search(asked)
    return bool(is_told) or (several and counted)


# A question about the conditions that are written over the arrow
_OF_CONDITIONS = re.compile(
    r"条件|over the arrow|\bconditions?\b|catalys|über dem Pfeil|Bedingung|Katalys|sur la flèche|услови|катализ",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\\x(?:right)?(?:arrow|longequal|longrightarrow)\s*(?:\[[^\[\]]*\])?\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
    r"|\\(?:overset|stackrel|underset)\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*\{\s*(?:=|\\(?:long)?rightarrow|\\to)\s*\}"
    r"|->\[([^\[\]]*)\]"
)
_HEAT = re.compile(r"\\?delta|\\triangle|[△Δ∆]|加热|heat(?:ing)?|hitze|erhitzen", re.IGNORECASE)


def _condition(text: str) -> str:
    r"""The condition over the arrow of a reaction, in one spelling: `△` for `A \xrightarrow{\Delta} B`; else empty."""
    said = "".join(next(filter(None, found), "") for found in _CONDITION.findall(text))
    return "".join(_HEAT.sub("△", SET_TYPE.sub("", said)).replace("_", "").split()).lower()


_CHEMICAL = re.compile(r"[A-Z][a-z]?\}?\s*(?:_|\^)|\\(?:mathrm|text|ce)\{[\d\s]*[A-Z]|^\{?\}?[_^]")


# `C3H8`
_PLAIN_FORMULA = re.compile(r"(?=.*\d)(?:[A-Z][a-z]?\d{0,2}|[·⋅]\d?|\((?:[A-Z][a-z]?\d{0,2})+\)\d{0,2}){2,12}")
# A charge in plain text: `Ca2+`, `SO42-`, `NH4+`
_PLAIN_ION = re.compile(
    r"(?:(?<![A-Za-z\d)])(?P<one>\d*[A-Z][a-z]?)(?P<charge>\d?[+-])|(?P<most>[A-Za-z)]\d?)(?P<sign>\d?[+-]))"
    r"(?=\s|->|→|\Z|\((?:aq|s|l|g)\))"
)


def _with_charges(text: str) -> str:
    """A plain reaction with its charges as exponents: `Ca^{2+}` for `Ca2+`; not a plus with spaces around it."""
    return _PLAIN_ION.sub(lambda m: f"{m['one'] or m['most']}^{{{m['charge'] or m['sign']}}}", text)


def _species(text: str, *, keep: bool) -> list[list[str]] | None:
    """The sorted substances on each side of the arrow: [2H2, O2] and [2H2O] for `2H2 + O2 -> 2H2O`.

    None if the text is not a chemical formula.

    Args:
        text: the formula or the reaction.
        keep: keeps states such as (aq), and arrows for gas and solid.
    """
    text = _with_charges(fold(text)) if "^" not in text else fold(text)
    text = re.sub(r"\\uparrow|\s\^(?=[\s}]|\Z)", "↑", text)
    text = re.sub(r"\\downarrow|(?<=[\w)])\sv(?=[\s}]|\Z)", "↓", text)
    text = text.replace("\\cdot", "*").replace("·", "*").replace("{}", "")
    text = re.sub(
        r"\\(?:ce|mathrm|text|mathsf|operatorname|textrm)(?![a-zA-Z])|[$~\s]|\\[ ,;:!]", "", _ARROW.sub("→", text)
    )
    text = text if keep else _STATE.sub("", text)
    text = (
        _SCRIPT.sub(lambda m: f"{m[1]}{m[2] or m[3] or ''};", text.replace("{+}", "+"))
        .replace("{", "")
        .replace("}", "")
    )
    text = re.sub(r"(?<![A-Za-z)\]\d])(\^\w+;)(_\w+;)", r"\2\1", text)
    # an index is a number behind its element
    text = re.sub(r"(?<=[A-Za-z)\]])(\^[\d+-]+;)(_\w+;)", r"\2\1", text)
    text = re.sub(r"(?<=[A-Za-z)\]])_(\w+);", r"\1", text)
    sides = [sorted(re.split(r"\+(?!;)", side)) for side in text.split("→")]
    names = re.findall(r"[A-Z][a-z]?", text)
    known = names and all(name in ELEMENTS for name in names)
    return sides if known and all(_SPECIES.fullmatch(_STATE.sub("", one)) for side in sides for one in side) else None
