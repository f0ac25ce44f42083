"""Pairs that are decided by their words: choices, dates, permutations, chemistry, logic, yes and no."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise

from agentscope_tuner.verify.asked_clause import JOINING_NAMES, asking_clause, same_word
from agentscope_tuner.verify.math.compare import CheapComparer
from agentscope_tuner.verify.math.exact import exact_value
from agentscope_tuner.verify.math.node import (
    DIFFERENT,
    EQUAL,
    UNKNOWN,
    Outcome,
    Product,
    all_of,
    difference,
    is_equation,
    literal,
    number,
    product_of,
    symbols,
    walk,
)
from agentscope_tuner.verify.math.parameters import rests
from agentscope_tuner.verify.math.parse import parse
from agentscope_tuner.verify.math.prose import (
    NEUTRAL,
    allowed,
    choice,
    cycles,
    day,
    is_many,
    is_sentence,
    is_wordless,
    letter,
    phrase,
    plain,
    signs,
    speaks_of_another,
    time_of_day,
)
from agentscope_tuner.verify.math.question import Question, is_english
from agentscope_tuner.verify.math.readings import resolve
from agentscope_tuner.verify.math.tokens import TooComplex, Unreadable, fold, respelled
from agentscope_tuner.verify.math.unwrap import PLAIN_REACTION, Pair
from agentscope_tuner.verify.words import DENIES, word_set

_WRITING = re.compile(r"\\(?:text|textbf|mathrm|textrm|mbox)|[{}$]|\\[ ,;:!~]")
_YES_NO = re.compile(
    r"(yes|no|true|false|ja|nein|oui|non|sí|sim|não|sì|да|нет|はい|いいえ|네|예|아니[오요])\b(?:\s*[,.;:、，。–-]\s*(.*))?",
    re.IGNORECASE | re.DOTALL,
)
# A reason for a yes or a no, which must not say the contrary
_REASON = re.compile(
    r"\b(?:since|because|as|denn|weil|da|car|puisque|porque|pues|perché|poiché|pois|так как|потому что|поскольку)\b",
    re.IGNORECASE,
)
_TURNS_ROUND = re.compile(r"\b(?:false|wrong|incorrect)\b", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|isn['’]t|aren['’]t)\s+(?:an?\s+|the\s+)?(\w+)", re.IGNORECASE)
# How a sentence of a no ends: `素数ではない`
_DENIED_BEHIND = re.compile(
    r"(?:では(?:ない|ありません)|じゃない|[이가] 아니(?:다|에요))(?:です)?[。.]?\Z|[이가] 아닙니다[。.]?\Z"
)
_COPULA_BEHIND = re.compile("(?:です|である|だ|입니다|이다)[。.]?\\Z")
_CAPITAL = re.compile("[A-J]")
_LONGEST_LETTER = 40
_LONGEST_OPTION = 100
_BASED = re.compile(r"(?P<hex>0x)?(?P<digits>[0-9A-Za-z]{1,200})(?:_\{?\(?(?P<base>\d{1,2})\)?\}?)?")
_CAPITALS = re.compile("(?<![a-z])[A-Z](?![a-z])")
# How a question names a base whose digits may be letters
_IN_BASE = re.compile(
    r"hexa?d[eé][cz]i|heksade|hex\b|sedezimal|esadecimal|szesnastk|šestnáctk|tizenhatos|on ?alt[ıi]l[ıi]|ш[еі]стнадц"
    r"|십육진|base sixteen|十六|thập lục|السداسي"
    r"|(?:\bbas[eis]{1,2}n?|podstaw\w*|baz\w+|основ\w+|grundtal|základ\w*)\W{0,3}(?P<base>1[1-9]|[23]\d)(?!\d)"
    r"|16\s?[进進진]",
    re.IGNORECASE,
)
_HALF_DAY = 12 * 60 * 60
# How long, not when
_SPAN = re.compile("時間|小时|小時")
_CLOCK = re.compile(r"[:点點時时시]|\dh\d")
_CJK_HALF = "上午|早上|早晨|下午|晚上|傍晚|午前|午後|오전|오후"
_TIME = re.compile(
    rf"\d{{1,2}}:\d{{2}}\s*[ap]\.?\s?m\b|(?:{_CJK_HALF})\s*\d{{1,2}}\s*[:点點时時시](?:\s*\d{{1,2}}\s*[分분]?)?",
    re.IGNORECASE,
)
_HALF = re.compile(rf"\b[ap]\.?\s?m\b|\bo'clock\b|\b(?:morning|afternoon|evening|noon)\b|{_CJK_HALF}", re.IGNORECASE)
_EARLIER = re.compile(r"\b(?:before|earlier|ago|start|begin|began|leave|left|depart|set (?:off|out))|前|出发")
_ASKS_SPAN = re.compile(
    r"how (?:long|many|much)|duration|length|wie ?(?:lange|viele)|durée|combien|cuánt|сколько|quanto"
    r"|多长|多久|用了|多少|몇 시간|얼마",
    re.IGNORECASE,
)
_SHORT_NAME = 3
_NAME_ALONE = re.compile(r"(?![a-z]$)[^\W\d_]+(?:['’ -]+[^\W\d_]+)*")
_NO_WORDS = frozenset({"not", "no", "does", "do", "exist", "exists", "cannot", "never", "such"})


# What sets type: the words inside are kept
_SET_WORD = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathbb|mathcal|mathsf|operatorname\*?|mbox)\s*\{([^{}]*)\}"
)
_SET_LETTER = re.compile(r"\\(?:mathcal|mathrm|mathbf|mathbb|mathsf|rm|bf|cal)(?![a-z])\s*")
_SET_SPACE = re.compile(r"\\(?:left|right|q?quad)(?![a-z])|\\[ ,;:!]|[~$]")
_LONGEST_FORM = 300


def forms(pair: Pair) -> Outcome:
    """The outcome of the first rule for an answer whose form has a meaning of its own; UNKNOWN if there is none."""
    if len(pair.truth) + len(pair.answer) > _LONGEST_FORM:
        return UNKNOWN
    for rule in (
        _matchings,
        _roles,
        _laws,
        _growths,
        _quantified,
        _hypotheses,
        _possible,
        _cardinals,
        _directed,
        _money,
        _lines,
        _tables,
    ):
        found = rule(pair)
        if found is not UNKNOWN:
            return found
    return UNKNOWN


def _unset(text: str) -> str:
    """A text without the commands that only set it."""
    return " ".join(_SET_SPACE.sub(" ", _SET_LETTER.sub("", _SET_WORD.sub(r" \1 ", text))).split())


_WORD_ALONE = re.compile(r"(?<![\\a-zA-Z])[^\W\d_]{2,}")


def _alike(pair: Pair, mine: Sequence[str], theirs: Sequence[str]) -> Outcome:
    """Compare the parts of two texts one by one."""
    comparer = CheapComparer(pair.seed, pair.question)
    found = []
    for one, other in zip(mine, theirs, strict=True):
        if "".join(one.split()) == "".join(other.split()):
            continue
        if not {*_WORD_ALONE.findall(other)} <= {*_WORD_ALONE.findall(one)}:
            # the parser may leave out a word that takes the part back
            return UNKNOWN
        try:
            found.append(comparer.compare(resolve(parse(one)), resolve(parse(other))))
        except (Unreadable, TooComplex):
            found.append(UNKNOWN)
    return all_of(found)


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


# What ties a mark to its own one, and no pair to the next
_TIES = re.compile(r"[-–—−:：=→↔\\]")


def _matchings(pair: Pair) -> Outcome:
    """Compare what is matched with what: `A \\to 3, B \\to 1` for `A-3, B-1`, in any order of the pairs."""
    if pair.question is None or _MATCHES.search(pair.question.text) is None:
        return UNKNOWN
    mine = _matching(pair.truth)
    theirs = None if mine is None else _matching(pair.answer)
    if mine is None or theirs is None:
        return UNKNOWN
    if mine[0] != theirs[0] or {key for key, _ in mine[1]} == {value for _, value in theirs[1]}:
        # those of the other column may stand first
        theirs = theirs[0][::-1], frozenset((value, key) for key, value in theirs[1])
    return EQUAL if mine == theirs else DIFFERENT


def _matching_alike(
    said: str, found: Sequence[re.Match[str]], kind: str
) -> tuple[tuple[str, str], frozenset[tuple[str, str]]] | None:
    """The pairs of marks that are all of one kind: `A-Q, B-P`."""
    named = [match for match in found if match["one"]]
    keys, values = ([_figure(match["one"]) for match in named[at::2]] for at in (0, 1))
    between = [said[one.end() : other.start()] for one, other in pairwise(named)]
    tied = [_TIES.search(sign) is not None for sign in between]
    is_one = len(keys) == len(values) == len({*keys}) and {*keys}.isdisjoint(values)
    if not is_one or not all(tied[0::2]) or any(tied[1::2]):
        return None
    return (kind, kind), frozenset(zip(keys, values, strict=True))


def _matching(text: str) -> tuple[tuple[str, str], frozenset[tuple[str, str]]] | None:
    """The kinds of the marks of both columns, and the pairs of marks; None for another text."""
    said = _NOT_MATCHED.sub(" ", _unset(text)) if len(text) <= _LONGEST_FORM else "?"
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
            pairs.append((key, _figure(one)))
    pairs = [(_figure(key), value) for key, value in pairs]
    return ((first, second), frozenset(pairs)) if len({*pairs}) == len(pairs) and kinds.count(first) > 1 else None


def _kind_of_mark(mark: str, romans: set[bool]) -> str:
    if not mark.isascii() or mark.isdigit():
        return "number"
    if mark.isupper() in romans and _ROMAN_NUMERAL.fullmatch(mark) is not None:
        return "roman"
    return "" if len(mark) > 1 else "capital" if mark.isupper() else "small"


def _figure(mark: str) -> str:
    """The number in a circle as digits; any other mark as it is."""
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


def _roles(pair: Pair) -> Outcome:
    """Compare who is what: `A: knight, B: knave` for `A is a knight and B is a knave`, in any order."""
    parts = _BETWEEN_ROLES.split(_unset(pair.truth).rstrip(" .。"))
    found = [_ROLE.fullmatch(part) for part in parts] if len(parts) > 1 else []
    mine = {m["name"]: m["role"].lower() for m in found if m is not None}
    if len(mine) != len(parts) or len(mine) < len("AB"):
        return UNKNOWN
    theirs: dict[str, str] = {}
    parts = _BETWEEN_ROLES.split(_unset(pair.answer).rstrip(" .。"))
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


def _laws(pair: Pair) -> Outcome:
    """Compare distributions, whose names are written in several ways: `\\text{Poi}(5)` for `\\text{Poisson}(5)`."""
    if pair.question is None or _OF_LAWS.search(pair.question.text) is None:
        return UNKNOWN
    mine, theirs = _law(pair.truth), _law(pair.answer)
    if mine is None or theirs is None:
        return UNKNOWN
    (own, law, given), (of, other, said) = mine, theirs
    if of != own and of and not (not own and _is_asked_variable(of, pair.question)):
        return DIFFERENT
    if law != other or len(given) != len(said):
        return DIFFERENT
    return _alike(pair, given, said)


# A distribution in words: `Poisson distribution with mean 5`
_TOLD_LAW = re.compile(
    r"(?:an? |the )?(?P<name>[a-z]+)(?: (?:random variable|distribution))? with "
    r"(?P<first>mean|parameter|rate|n)\s*(?:\\lambda\s*)?=?\s*"
    r"(?P<one>[^\sa-z]{1,40})(?:\s*(?:,|and|, and)\s*(?P<second>variance|p)\s*=?\s*(?P<two>[^\sa-z]{1,40}))?",
    re.IGNORECASE,
)


def _in_signs(told: re.Match[str]) -> str:
    more = f", {told['second']}={told['two']}" if told["two"] else ""
    return f"{told['name']}({told['first']}={told['one']}{more})"


def _law(text: str) -> tuple[str, int, list[str]] | None:
    """What a distribution is said of, the place of its family, and its parameters in order; None for another text."""
    match = _LAW.fullmatch(
        _INDEXED_LAW.sub(
            lambda m: (m["name"] and f"{m['name']}({m['index'] or m['given']})") or "",
            _TOLD_LAW.sub(_in_signs, _unset(text)),
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
    """The parts of a text between commas that stand in no brackets."""
    depths = list(accumulate((one in "([{") - (one in ")]}") for one in text))
    ends = [at for at, (one, depth) in enumerate(zip(text, depths, strict=True)) if one in ",;" and not depth]
    return [text[begin:end].strip() for begin, end in zip([0, *(e + 1 for e in ends)], [*ends, len(text)], strict=True)]


def _is_asked_variable(of: str, question: Question) -> bool:
    """Whether a distribution is asked for of this variable, or of one that the answer names itself."""
    formulas = re.findall(r"\$+([^$]+)\$+|\\\((.+?)\\\)", asking_clause(question.text)[0] or question.text)
    if any("".join(_unset(one or other).split()) == of for one, other in formulas):
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


def _growths(pair: Pair) -> Outcome:
    """Compare orders of growth, in which factors and the base of a logarithm do not count: `\\Theta(2n\\log_2 n)`."""
    if pair.question is None or _ASKS_GROWTH.search(pair.question.text) is None:
        return UNKNOWN
    mine, theirs = (_GROWTH.fullmatch(_unset(one)) for one in (pair.truth, pair.answer))
    if mine is None or theirs is None:
        return UNKNOWN
    if _SIGNS_OF_GROWTH.get(mine["sign"], mine["sign"]) != _SIGNS_OF_GROWTH.get(theirs["sign"], theirs["sign"]):
        return DIFFERENT
    sides = []
    for one in (mine["of"], theirs["of"]):
        # a factor in an exponent counts
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


def _quantified(pair: Pair) -> Outcome:
    """Compare statements behind quantifiers, whose order and sets count; the letters that they bind do not."""
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
    return _alike(pair, *(side[::2] for side in sides))


def _claim(text: str, letters: tuple[str, ...]) -> tuple[list[tuple[str, str]], tuple[str, ...], str] | None:
    """The quantifiers of a text with their sets, the letters that they bind, and what is claimed of these.

    Args:
        letters: stand for the text's own bound letters, where they are as many.
    """
    rest = _unset(text.translate(_SPELLED_SO))
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


def _hypotheses(pair: Pair) -> Outcome:
    """Compare what is done with a hypothesis, which has a name and a letter: `Reject the null hypothesis`."""
    if pair.question is None or _TESTS.search(pair.question.text) is None or _STATES.search(pair.truth) is not None:
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
    """What a text does with which hypothesis, in one wording."""
    said = " ".join(_unset(text).replace("{", "").replace("}", "").lower().split())
    said = _AT_LEVEL.sub(lambda m: "" if m["level"].replace("\\", "") in asked.replace("\\", "") else m[0], said)
    said = _SAID_TWICE.sub("h_0", _NULL.sub(" h_0 ", _ALTERNATIVE.sub(" h_1 ", said)))
    said = " ".join(_DECIDED.sub(" ", said).split())
    said = _PASSIVE.sub(lambda m: f"{'fail to ' if m['not'] else ''}reject {m[1]}", said)
    said = _NOT_REJECTED.sub("fail to reject", _REJECTED.sub(" reject ", said))
    words = {*_FILLERS.sub(" ", said).split()}
    if "h_0" in words and "reject" in words and words <= {"h_0", "reject", *_DENYING}:
        # the verb may stand behind, and in another language
        said = f"{'fail to ' if len(words) > len(('reject', 'h_0')) else ''}reject h_0"
    return f"{said} h_0" if said in _DECISIONS else said


_YES_OR_NO = re.compile(
    r"(?:(?P<yes>yes|ja|oui|sí|sì|sim|да|так|tak|evet|是|はい|네)|(?P<no>no|nein|non|não|нет|ні|nie|hayır|nee|否|不|いいえ|아니요))"
    r"(?:\s*[,.;:，。、–—-]\s*(?P<rest>.+))?|(?P<alone>.+)"
)
_IT = r"(?:it|this|that|we|you|one|they|he|she)"
_CAN_BE = re.compile(
    rf"(?:{_IT}(?: is|['’]s) )?possible|{_IT} can(?: be done)?|(?:это )?(?:можно|возможно)|(?:das "
    rf"|es )?(?:ist möglich|geht)"
    r"|kann man|man kann(?: es| das)?|(?:c['’]est|il est) possible|on peut|(?:es|è|é) (?:posible"
    r"|possibile|possível)|se puede"
    r"|si può|可以|能够?|可能|有可能|存在"
)
_CANNOT_BE = re.compile(
    rf"(?:{_IT}(?: is|['’]s) )?(?:impossible|not possible)|{_IT} isn['’]t possible|{_IT} (?:cannot"
    rf"|can not|can['’]t)(?: be done)?"
    r"|(?:это )?(?:нельзя|невозможно|не возможно)|(?:das |es )?(?:ist (?:nicht möglich|unmöglich)"
    r"|geht nicht)|kann man nicht"
    r"|man kann(?: es| das)? nicht|(?:c['’]est|il est) impossible|(?:ce|il) n['’]est pas possible|on ne peut pas"
    r"|(?:es|è|é) (?:imposible|impossibile|impossível)|(?:no es|non è|não é) (?:posible|possibile|possível)|no se puede"
    r"|non si può|不可以|不能|不可能|不存在"
)
_ASKS_CAN = re.compile(
    r"\bcan\b|possib|можно|возможно|\bkann\b|möglich|\bpeut|\bpuede|posible|\bpuò|possív|能|可以|是否|存在",
    re.IGNORECASE,
)
_ASKS_CANNOT = re.compile(
    r"\b(?:no|not|never|nobody|none)\b|n['’]t\b|\bне\b|\bni(?:cht|e)\b|不"
    r"|impossib|\bcannot\b|can['’]t|нельзя|невозмож|unmöglich|imposib|impossív|不能|不可能|not possible",
    re.IGNORECASE,
)


def _possible(pair: Pair) -> Outcome:
    """Compare a yes or a no that says again what it means: `No, it is impossible`, and `It is impossible` alone."""
    if pair.question is None or _ASKS_CANNOT.search(pair.question.text) is not None:
        return UNKNOWN
    mine, theirs = (_said_possible(one, pair.question) for one in (pair.truth, pair.answer))
    if len(mine) != 1 or not theirs:
        return UNKNOWN
    return EQUAL if mine == theirs else DIFFERENT


def _said_possible(text: str, question: Question) -> frozenset[bool]:
    """What a text says to the question, both where it contradicts itself; empty where it says more."""
    match = _YES_OR_NO.fullmatch(_unset(text).lower().rstrip(" .。!"))
    if match is None:
        return frozenset()
    rest = match["rest"] or match["alone"]
    found = set() if match["alone"] else {match["yes"] is not None}
    if rest is None:
        return frozenset(found)
    can = _CAN_BE.fullmatch(rest) is not None
    if not can and _CANNOT_BE.fullmatch(rest) is None:
        return frozenset()
    return frozenset((*found, can)) if found or _ASKS_CAN.search(question.text) is not None else frozenset()


_COUNTABLY = re.compile(
    r"(?<![a-z])(?:countably infinite|denumerable|abzählbar unendlich|infini dénombrable"
    r"|infinito numerable|可数无[穷限]|счётное|(?P<less>countable))"
)
_UNCOUNTABLY = re.compile(r"(?<![a-z])(?:uncountabl[ey](?: infinite)?|überabzählbar(?: unendlich)?|不可数|несчётное)")
_AROUND_CARDINAL = re.compile(r"[\s,;:().]|i\.e\.|\bthat is\b")


def _cardinals(pair: Pair) -> Outcome:
    """Compare a cardinal number that is also said in words: `\\text{countably infinite, } \\aleph_0`."""
    truth = "".join(pair.truth.replace("{", "").replace("}", "").split())
    if "aleph" not in truth and truth != "\\mathfrakc":
        return UNKNOWN
    is_countable = truth == "\\aleph_0"
    said = _unset(pair.answer).lower().replace("{", "").replace("}", "")
    match = (_COUNTABLY if is_countable else _UNCOUNTABLY).search(said)
    if match is None:
        return UNKNOWN
    rest = _AROUND_CARDINAL.sub("", said[: match.start()] + said[match.end() :])
    return EQUAL if rest == truth or (not rest and is_countable and not match["less"]) else UNKNOWN


_WIND = r"(?:north|south|east|west|(?<![a-zA-Z])[NSEW](?![a-zA-Z]))"
_DIRECTED = re.compile(
    r"(?P<number>-?\d[\d.]*)\s*(?P<unit>[a-zA-Z][a-zA-Z/^\d{}* -]{0,12}?)[\s,]*"
    r"(?:\b(?:(?:acting|directed|pointing)(?: to)?|at(?: an angle of)?|in the direction(?: of)?"
    r"|to the|in the)\b[\s,]*)?"
    rf"(?:(?P<angle>\d[\d.]*)\s*(?:\^\s*\{{?\s*\\circ\s*\}}?|°|\\degree)\s*(?P<from>{_WIND})\s+of\s+(?P<to>{_WIND})"
    rf"|(?P<side>left|right|up|down|{_WIND})(?:wards?)?(?: direction)?)"
)


def _directed(pair: Pair) -> Outcome:
    """Compare a size with a direction: `5\\text{ N at }53.1^\\circ\\text{ N of E}`."""
    mine, theirs = (_DIRECTED.fullmatch(_unset(one)) for one in (pair.truth, pair.answer))
    if mine is None or theirs is None or (mine["angle"] is None) != (theirs["angle"] is None):
        return UNKNOWN
    if any((mine[one] or "")[:1].lower() != (theirs[one] or "")[:1].lower() for one in ("from", "to", "side")):
        return DIFFERENT
    sides = [[f"{m['number']}\\text{{ {m['unit'].strip()}}}", m["angle"] or "0"] for m in (mine, theirs)]
    return _alike(pair, *sides)


_CHANCE_OF = re.compile(r"(?:\A|[,;，；、。]|\s)\s*P\s*\(\s*(?P<of>[^()=]{1,12}=[^()=]{1,12})\)\s*=")


def _tables(pair: Pair) -> Outcome:
    """Compare the chances of a random variable's values one by one: `P(X=0)=0.1, P(X=1)=0.9`."""
    mine, theirs = (_table(one) for one in (pair.truth, pair.answer))
    if mine is None or theirs is None:
        return UNKNOWN
    if {*mine} != {*theirs}:
        return DIFFERENT
    # each member of a chain is the value
    said = [(mine[one][-1], member) for one in sorted(mine) for member in theirs[one]]
    return _alike(pair, *zip(*said, strict=True))


def _table(text: str) -> dict[str, list[str]] | None:
    """The members of the chain that gives each value of a random variable its chance; None for another text, and for
    one that gives a value two.
    """
    said = _unset(text)
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


def _lines(pair: Pair) -> Outcome:
    """Refuse the question's own function for a line at its graph: `f(x)=2x-1` for `y=2x-1`."""
    called = _OF_FUNCTION.match(pair.answer) if pair.truth[:1] == "y" and "(" in pair.answer else None
    if called is None or pair.question is None or _ASKS_LINE.search(pair.question.text) is None:
        return UNKNOWN
    defined = re.search(rf"(?<![a-zA-Z]){called['name']}\s*\(\s*x\s*\)", pair.question.text)
    return UNKNOWN if defined is None else DIFFERENT


# Money whose thousands points set off: each currency and how it is written
_CURRENCIES = {
    written: row.split()[0]
    for row in (
        "rp rp. idr rupiah",
        "₫ đ đồng dong vnd vnđ",
        "€ euro euros eur",
        "r$ reais real brl",
        "₺ tl lira",
        "clp",
        "cop",
        "kr kr. kronen kroner kronor",
        "ft huf forint",
    )
    for written in row.split()
}
_CURRENCY = "|".join(sorted(map(re.escape, _CURRENCIES), key=len, reverse=True))
_AMOUNT = re.compile(
    rf"(?P<before>{_CURRENCY})?\s*(?P<amount>\d{{1,3}}(?:(?:\{{?\.\}}?|\s)\d{{3}})+"
    rf"|\d{{1,15}})(?:\{{?,\}}?(?P<cents>\d{{2}}|-+))?\s*(?P<behind>{_CURRENCY})?"
)


_POINTED_AMOUNT = re.compile(r"(?<![\d.])[1-9]\d{0,2}\.\d{3}(?![\d.])")
_SPACED_THOUSANDS = re.compile(r"\d \d{3}(?!\d)")


def _money(pair: Pair) -> Outcome:
    """Compare whole amounts whose thousands are set off by points or spaces: `100.000 rupiah` and `Rp100.000,00`."""
    if "." not in pair.truth and _SPACED_THOUSANDS.search(pair.truth) is None:
        return UNKNOWN
    mine, theirs = (_amount_of(one) for one in (pair.truth, pair.answer))
    if mine is None or theirs is None or not (mine[1] or theirs[1]):
        return UNKNOWN
    if not mine[1] and (pair.question is None or _POINTED_AMOUNT.search(pair.question.text) is None):
        # `1.259` may be a decimal
        return UNKNOWN
    if pair.question is not None and is_english(pair.question.text.lower()):
        return UNKNOWN
    if not mine[1]:
        asked = pair.question.text.lower() if pair.question is not None else ""
        is_asked = any(written in asked for written, currency in _CURRENCIES.items() if currency == theirs[1])
        return EQUAL if is_asked and mine[0] == theirs[0] else UNKNOWN
    return EQUAL if mine == theirs or (mine[0], "") == theirs else DIFFERENT


def _amount_of(text: str) -> tuple[str, str] | None:
    """The digits of an amount of money, with its cents, and its currency; None for another text."""
    match = _AMOUNT.fullmatch(
        _unset(text.replace("\\$", "＄")).replace("＄", "$").lower().replace("{.}", ".").replace("r\\$", "r$")
    )
    if match is None or (match["before"] and match["behind"]):
        return None
    cents = (match["cents"] or "").strip("-0")
    digits = re.sub(r"\D", "", match["amount"]) + (f".{match['cents']}" if cents else "")
    return digits, _CURRENCIES.get(match["before"] or match["behind"] or "", "")


def wordings(pair: Pair) -> Outcome:
    """The outcome of the first rule that can decide the pair; UNKNOWN if no rule can."""
    rules: tuple[Callable[[Pair], Outcome], ...] = (
        _products_of_vectors,
        _choices,
        _true_or_false,
        _lone_signs,
        _bearings,
        _times,
        _days,
        _remainders,
        _whole_numbers,
        _records,
        _digits,
        _manners,
        _in_any_case,
        _permutations,
        _configurations,
        _chemistry,
        _turned_round,
        _typeset,
        _phrases,
        _yes_no,
        _initials,
        _same_words,
        _amounts,
        _sentences,
    )
    if _is_other_structure(pair):
        return DIFFERENT
    if is_wordless(pair.answer) and is_wordless(pair.truth):
        rules = (_configurations, _whole_numbers, _records)
    for rule in rules:
        found = rule(pair)
        if found is not UNKNOWN:
            return found
    return UNKNOWN


_STRUCTURE = (
    r"(?:\\mathbb\s*\{?[A-Z]\}?|(?<![a-zA-Z\\])[A-Z])(?:[_^](?:\w|\{[\w+-]{1,8}\})|/\w?\s*\\mathbb\s*\{?Z\}?)*+\s*"
)
_FREE = re.compile(rf"{_STRUCTURE}(?:\\(?:ast|star)(?![a-z])|[*∗])")
_DIRECT = re.compile(rf"{_STRUCTURE}(?:\\(?:times|oplus)(?![a-z])|[×⊕])")
_NATURAL = re.compile(r"(?:\\mathbb\s*\{?N\}?|ℕ)(?P<marked>[\^_].{1,9})?")


def _is_other_structure(pair: Pair) -> bool:
    r"""Whether an answer has a direct product for a free one, or `\mathbb{N}` for `\mathbb{N}^*`."""
    natural, other = _NATURAL.fullmatch(pair.truth), _NATURAL.fullmatch(pair.answer)
    if natural is not None and other is not None:
        return bool(natural["marked"] and not other["marked"])
    if "mathbb" not in pair.truth and not (pair.question is not None and pair.question.is_of_groups):
        return False
    stated = re.split(r"\\(?:cong|simeq)(?![a-z])|[≅=]", pair.answer)[-1]
    mine, theirs = ((bool(_FREE.search(one)), bool(_DIRECT.search(one))) for one in (pair.truth, stated))
    return mine == theirs[::-1] != theirs


# What may stand between the letters of several choices, and such letters: `A,B,D`, `(B) and (A)`
_SEVERAL_LETTERS = re.compile(r"[A-H]{2,8}")
_AND_LETTERS = word_set("and und et y e и ve dan và och en og i options option choices")
_OFFERS_ONE = re.compile(r"\b(?:or|oder|ou|o|или|veya|hoặc|atau|lub)\b|[或또]")
_PIECES = re.compile(r"[^\W\d_]+|\S")
_MARKS_OF_LETTERS = frozenset("(),;.、，；&和")


def _several(text: str) -> str:
    """The letters of several choices that a text names, in their order; empty for another text."""
    if len(text) > _LONGEST_LETTER:
        return ""
    pieces = [one for one in _PIECES.findall(_WRITING.sub(" ", text)) if one not in _MARKS_OF_LETTERS]
    pieces = [one for one in pieces if one not in _AND_LETTERS]
    if len(pieces) > 1 and any(map(_SEVERAL_LETTERS.fullmatch, pieces)):
        return ""
    joined = "".join(pieces)
    return joined if _SEVERAL_LETTERS.fullmatch(joined) and len(set(joined)) == len(joined) else ""


def _choices(pair: Pair) -> Outcome:
    mine = _several(pair.truth) if _CAPITAL.search(pair.truth) else ""
    if mine and _OFFERS_ONE.search(pair.answer) is not None:
        return DIFFERENT
    if mine and sorted(mine) == list(mine) and (theirs := _several(pair.answer)):
        ordered = pair.question is not None and pair.question.orders(len(mine))
        # letters in a row may be a thing's name: `ABC` is not `BAC`
        is_list = theirs not in pair.answer and not ordered
        if theirs == mine or (is_list and sorted(theirs) == list(mine)):
            return EQUAL
    truth = letter(pair.ref.text) if _CAPITAL.search(pair.ref.text) else None
    stated = letter(pair.answer) if len(pair.answer) < _LONGEST_LETTER else None
    if truth is None:
        # The reference may give a letter and a value: an answer may be that letter alone
        return EQUAL if stated is not None and stated == pair.ref.letter else UNKNOWN
    if stated is not None:
        return EQUAL if stated == truth else DIFFERENT
    chosen = choice(pair.answer)
    if chosen is None or chosen[0] != truth or not _is_offered(pair.question, *chosen):
        return UNKNOWN
    return EQUAL


_OPERAND = r"(?:\\(?:vec|mathbf|boldsymbol|overrightarrow|bm)(?![a-z])\s*(?:\{\s*\w+\s*\}|\\?\w+)|\\nabla)"
_BETWEEN_VECTORS = re.compile(rf"(?:{_OPERAND}|\))\s*(\\times(?![a-z])|×|\\cdot(?![a-z])|·|⋅|\*)\s*(?={_OPERAND}|\()")
_BETWEEN_LETTERS = re.compile(r"(?<=[a-zA-Z])\s*(\\times(?![a-z])|×|\\cdot(?![a-z])|·|⋅|\*)\s*(?=[a-zA-Z])")
_CROSS = ("\\times", "×")
_SET_VECTOR = re.compile(r"\\(?:vec|mathbf|boldsymbol|overrightarrow|bm)(?![a-z])|[{}\s]")
_CROSSED = re.compile(r"([a-zA-Z])(?:\\times|×)([a-zA-Z])")


def _crossed(text: str) -> tuple[str, ...]:
    """The names of the one cross product of a text, in order; empty for none."""
    found = _CROSSED.findall(_SET_VECTOR.sub("", text))
    return tuple(found[0]) if len(found) == 1 else ()


def _products_of_vectors(pair: Pair) -> Outcome:
    """Refuse another product than the reference's, whose signs are one token: a dot for a cross."""
    if "\\" not in pair.truth:
        return UNKNOWN
    mine = [sign in _CROSS for sign in _BETWEEN_VECTORS.findall(pair.truth)]
    if not mine:
        return UNKNOWN
    theirs = _BETWEEN_VECTORS.findall(pair.answer) or _BETWEEN_LETTERS.findall(pair.answer)
    if mine == [True] and "-" not in pair.answer and _crossed(pair.truth) == _crossed(pair.answer)[::-1] != ():
        # the other order has the other sign
        return DIFFERENT
    return UNKNOWN if sorted(sign in _CROSS for sign in theirs) == sorted(mine) else DIFFERENT


_TRUTHS = dict.fromkeys("正确 对 √ ✓ ✔ \\surd \\checkmark 是 맞다 참 正しい ○".split(), True)  # noqa: SIM905
_TRUTHS |= {"true": True, "True": True, "false": False, "False": False}
_TRUTHS |= dict.fromkeys("错误 错 不正确 不对 × ✗ ✘ \\times 否 틀리다 거짓 誤り".split(), False)  # noqa: SIM905


_IS_CALLED_TRUE = re.compile("true|correct|right|valid|wahr|richtig|vrai|verdad|ver[ao]|верн|истин|прав", re.IGNORECASE)
_CALLED = re.compile(
    r"(?:(?:the|this|that|given|above|die|diese|la|cette|l['’]|esta|a|questa|данное|это)\s+)*"
    r"(?:statement|claim|assertion|proposition|aussage|behauptung|affirmation|afirmación|proposición|afirmação"
    r"|affermazione|утверждение|высказывание)\s+(?:(?:is|ist|est|es|é|è)\s+)?(?P<not>(?:not|nicht|no|não|non|не)\s+)?"
    r"(?P<said>true|false|correct|incorrect|wrong|valid|invalid|wahr|falsch|richtig|vraie?|fausse|verdader[oa]|fals[oa]"
    r"|verdadeir[oa]|ver[oa]|верно|неверно|истинно|ложно)[.]?"
    r"|(?:该|此|这个?|这一|本|上述|この|その)?(?:命题|说法|结论|判断|陈述|命題)[是はが]?(?P<told>正确|错误|不正确|不对|错|对|正しい|誤り)"
    r"(?:的|です|である)?[。.]?",
    re.IGNORECASE,
)


def _true_or_false(pair: Pair) -> Outcome:
    """Compare marks and words that call a statement true or false: `√` and `正确`."""
    truth, stated = map(_truth_of, (pair.ref.text, pair.answer))
    if truth is None or stated is None:
        return UNKNOWN
    return EQUAL if truth is stated else DIFFERENT


def _truth_of(text: str) -> bool | None:
    """What a text calls a statement, `The claim is not true` or a mark alone; None where it says anything else."""
    said = _WRITING.sub(" ", text).strip() if len(text) <= _LONGEST_OPTION else ""
    found = _CALLED.fullmatch(said)
    if found is None:
        return _TRUTHS.get(_WRITING.sub("", text).strip())
    word = found["said"] or found["told"]
    return (_TRUTHS[word] if word in _TRUTHS else _IS_CALLED_TRUE.match(word) is not None) is (found["not"] is None)


def _lone_signs(pair: Pair) -> Outcome:
    """Compare signs that fill gaps or mark statements: `>,<,=`."""
    mine = signs(pair.ref.text)
    if mine is None:
        return UNKNOWN
    return EQUAL if signs(_sign_in_gap(pair)) == mine else DIFFERENT


_COMPARED = re.compile(r"(?P<left>[^<>=]+?)(?P<sign>\\[lg]t(?![a-z])|[<>=＞＜＝])(?P<right>[^<>=]+)")


def _sign_in_gap(pair: Pair) -> str:
    """The sign of a comparison whose sides stand around a gap of the question: `-3>-5` for `-3____-5`."""
    said = "".join(pair.answer.replace("$", "").split())
    found = _COMPARED.fullmatch(said) if len(said) <= _LONGEST_OPTION else None
    if found is None or pair.question is None:
        return pair.answer
    gap = rf"(?<![\w.]){re.escape(found['left'])}[_○〇□()（）\\{{}}]+{re.escape(found['right'])}(?![\w.])"
    asked = "".join(pair.question.text.replace("$", "").replace("\\underline", "").split())
    return found["sign"] if re.search(gap, asked) is not None else pair.answer


_BEARING = re.compile(r"([NSEW])(\d+(?:\.\d+)?)([NSEW])")


def _bearings(pair: Pair) -> Outcome:
    r"""Compare bearings, whose letters have a place: `E30^\circ N` is not `N30^\circ E`."""
    mine, theirs = (
        _BEARING.fullmatch(re.sub(r"\^?\\circ|\\degree|[°^]", "", _SET_TYPE.sub("", side)))
        for side in (pair.ref.text, pair.answer)
    )
    if mine is None or theirs is None:
        return UNKNOWN
    return EQUAL if mine.groups() == theirs.groups() else DIFFERENT


def _is_offered(question: Question | None, letter_: str, value: str) -> bool:
    """Whether the question offers this value under this letter."""
    if question is None:
        return False
    offered = question.choices.get(letter_, "")
    offered, value = offered.replace("\\$", "$"), value.replace("\\$", "$")
    with suppress(Unreadable, TooComplex):
        if offered and exact_value(parse(offered)) == exact_value(parse(value)) is not None:
            return True
    plain = "".join(_WRITING.sub("", question.text).split())
    return any(f"{letter_}{mark}{''.join(_WRITING.sub('', value).split())}" in plain for mark in (")", ".", ":"))


def _times(pair: Pair) -> Outcome:
    if not all(_CLOCK.search(_SET_TYPE.sub("", side)) for side in (pair.ref.text, pair.answer)):
        return UNKNOWN
    truth, stated = time_of_day(pair.ref.text), time_of_day(pair.answer)
    if truth is not None and _SPAN.search(pair.answer) and not _SPAN.search(pair.ref.text):
        return DIFFERENT
    if truth is None or stated is None:
        return UNKNOWN
    if stated[1] > truth[1] and pair.question is not None and _ASKS_SPAN.search(_asking(pair.question)):
        return DIFFERENT
    if not (truth[1] or stated[1]):
        worded = any(":" not in side for side in (pair.ref.text, pair.answer))
        return EQUAL if truth == stated and (worded or pair.ref.text.count(":") == pair.answer.count(":")) else UNKNOWN
    if truth[0] % _HALF_DAY == stated[0] % _HALF_DAY and not truth[1] and _says_half(pair.question):
        # A question with a.m. or p.m. counts twelve hours, so its reference may leave the half of the day out
        if pair.question is not None and not _fits(pair.question, stated[0]):
            return DIFFERENT
        return EQUAL if truth[0] <= _HALF_DAY else UNKNOWN
    return EQUAL if truth[0] == stated[0] else DIFFERENT


def _fits(question: Question, stated: int) -> bool:
    """Whether the stated half of the day fits the question's times.

    It fits if it is within twelve hours behind a time of the question, which may ask for an earlier one.
    """
    times = [found for found in map(time_of_day, _TIME.findall(question.text)) if found is not None and found[1]]
    if not times:
        return True
    sign = -1 if _EARLIER.search(_asking(question)) else 1
    return any(sign * (stated - known) % (2 * _HALF_DAY) <= _HALF_DAY for known, _ in times)


def _asking(question: Question) -> str:
    return asking_clause(question.text)[0] or re.split(r"[.!。！]\s*(?=\S)", question.text)[-1]


def _says_half(question: Question | None) -> bool:
    return question is not None and _HALF.search(question.text) is not None


def _days(pair: Pair) -> Outcome:
    """Compare dates. If only one side has a year, it must be in the question."""
    truth = day(pair.ref.text) if pair.ref.text[-1:].isalnum() else None
    stated = None if truth is None else day(pair.answer)
    if truth is None or stated is None:
        return UNKNOWN
    if truth[:2] != stated[:2]:
        return DIFFERENT
    years = {truth.year, stated.year} - {None}
    left_out = None in (truth.year, stated.year)
    if len(years) > 1 or (years and left_out and not (pair.question and str(years.pop()) in pair.question.text)):
        return DIFFERENT
    return EQUAL


_CONVERGES = re.compile(
    r"(?:(?:the )?(?P<what>series|sequence|integral|it) )?(?:is )?"
    r"(?:(\w+?)(?:al)?(?:ly)? )?(con|di)verg(?:es?|ent|ence)"
    r"(?: (\w+?)(?:al)?(?:ly)?)?"
)
_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")


def _in_any_case(pair: Pair) -> Outcome:
    r"""Accept the words beside a sign in another case: `\text{Reject } H_0` for `\text{reject } H_0`."""
    if "\\text" not in pair.truth or "\\text" not in pair.answer:
        return UNKNOWN
    mine, theirs = ("".join(_TEXT.sub(lambda m: m[1].lower(), side).split()) for side in (pair.truth, pair.answer))
    words = _TEXT.match(pair.truth)
    # `\\text{CO}` alone is a formula of chemistry
    has_sign = words is not None and words.end() < len(pair.truth.rstrip()) and len(words[1].strip()) > len("CO2")
    return EQUAL if mine == theirs and has_sign else UNKNOWN


def _manners(pair: Pair) -> Outcome:
    """Accept how a series converges in another form: `conditionally convergent` for `converges conditionally`."""
    if "verg" not in pair.truth or len(pair.answer) > _LONGEST_OPTION:
        return UNKNOWN
    mine, theirs = (
        _CONVERGES.fullmatch(" ".join(_WRITING.sub(" ", side).lower().split()).rstrip(". "))
        for side in (pair.ref.text, pair.answer)
    )
    if mine is None or theirs is None:
        return UNKNOWN
    asked = "" if pair.question is None else pair.question.text.lower()
    if (theirs["what"] or "") not in f"{asked} it":
        return UNKNOWN
    return EQUAL if {*mine.groups()[1:], None} == {*theirs.groups()[1:], None} else UNKNOWN


def _digits(pair: Pair) -> Outcome:
    r"""Compare numbers that have letters as digits: `FF_{16}`, `\text{ff}`, `0xFF`."""
    truth = _BASED.fullmatch(pair.ref.text)
    if truth is None or truth["digits"].isdigit():
        return UNKNOWN
    said = "".join(_WRITING.sub("", respelled(pair.answer)).split())
    stated = _BASED.fullmatch(re.sub(r"\A\(([0-9A-Fa-f]+)\)(?=_)", r"\1", said))
    if stated is None:
        return UNKNOWN
    base, own = "16" if stated["hex"] else stated["base"], "16" if truth["hex"] else truth["base"]
    asked = "" if pair.question is None else pair.question.text
    # letters alone may name a side of a figure whose base has a length
    letters = truth["digits"].isalpha() and set(truth["digits"]) <= set(_CAPITALS.findall(asked))
    if own is None:
        # a reference alone is in the base that the question names
        named = {found["base"] or "16" for found in _IN_BASE.finditer(asked) if not (found["base"] and letters)}
        if not named and (base is None or base not in asked):
            return UNKNOWN
        own = base if base in named or not named else named.pop()
        if any(int(digit, 36) >= int(own or "16") for digit in truth["digits"]):
            # a word
            return UNKNOWN
    # a name with an index, `x_{12}`, has a small letter
    digits = truth["digits"] if truth["base"] else truth["digits"].upper()
    same = stated["digits"].upper() == digits
    return EQUAL if same and base in (None, own) else DIFFERENT


# Numbers and names that signs of arithmetic only join: a score, a range, a date, a scale, a route
_RECORD = re.compile(r"\d{1,6}(?:[-–]\d{1,6}){1,4}|[1-9]\d*(?::[1-9]\d*){1,3}|[A-Z](?:-[A-Z]){2,}")
_JOINED = re.compile(r"\\to(?![a-z])|\\rightarrow|->|→|[-–—−:：,]")
_OF_RATIOS = re.compile(
    r"ratio|proportion|verhältnis|rapport|raz[óã]|rapporto|отношен|tỉ số|tỷ số|tỉ lệ|oran|stosunek|比|비율|비는|비를",
    re.IGNORECASE,
)


# A quotient and its remainder: `17 R 3`, `商17余3`, `17……3`
_REMAINDER = re.compile(
    r"(?:商=?|몫[:=]?|(?:quotient|q)[:=]?)?(\d+)[,，;]?"
    r"(?:(?:R|r|rem\.?|(?:and)?remainder:?|Rest|rest[eo]|остаток|ост\.|余数?|あまり|余り|나머지:?)=?"
    r"|\.{3,}|…{1,2}|(?:\\[cl]?dots){1,2})(\d+)"
)


def _remainders(pair: Pair) -> Outcome:
    """Compare quotients that leave a remainder: each of the two numbers keeps its place."""
    mine, theirs = (
        _REMAINDER.fullmatch("".join(_WRITING.sub("", side).split())) for side in (pair.ref.text, pair.answer)
    )
    if mine is None or theirs is None:
        return UNKNOWN
    return EQUAL if mine.groups() == theirs.groups() else DIFFERENT


_OF_POSITIVE = re.compile(
    r"(?:positive|natural|nonzero natural)\s+(?:\w+\s+)?(?:integer|number|whole|\$?[a-z]\b)"
    r"|natürlich|positive[nr]? ganze|entiers? (?:naturel|positif|strictement)"
    r"|enteros? positiv|números? natural|inteiros? positiv|натуральн|положительн\w+ цел"
    r"|целы\w+ положит|正整数|自然数|\\mathbb\s*\{?N|Z\}?\s*\^\s*\{?\+|양의|tự nhiên",
    re.IGNORECASE,
)


def _whole_numbers(pair: Pair) -> Outcome:
    """Compare the odd, the even and the multiples of a number, however they are told."""
    truth = rests(plain(pair.ref.text))
    stated = None if truth is None else rests(plain(pair.answer))
    if truth is None or stated is None:
        return UNKNOWN
    if pair.question is not None and _OF_POSITIVE.search(pair.question.text):
        truth, stated = truth.positive(), stated.positive()
    if truth.letter and stated.letter and truth.letter != stated.letter:
        return DIFFERENT
    return EQUAL if truth[:2] == stated[:2] and truth.first == stated.first else DIFFERENT


def _records(pair: Pair) -> Outcome:
    """Compare what looks like arithmetic that is not worked out: `4:2` is a score, `10-15` a range, `A-B-C` a route.

    Results are worked out and in lowest terms, so these are names, of which each part keeps its place.
    """
    truth = "".join(_WRITING.sub("", pair.ref.text).split())
    if _RECORD.fullmatch(truth) is None:
        return UNKNOWN
    mine = re.split("[-–:]", truth)
    if ":" in truth and (
        math.gcd(*map(int, mine)) == 1 or pair.question is None or _OF_RATIOS.search(pair.question.text) is not None
    ):
        return UNKNOWN
    said = "".join(_WRITING.sub("", pair.answer).split())
    return EQUAL if _JOINED.sub("-", said).split("-") == mine else DIFFERENT


_CIRCLED = re.compile(r"[\u2460-\u2473](?:[,，、和\s]*[\u2460-\u2473])*")
_SET_TYPE = re.compile(r"\\(?:text|mathrm|textrm|mbox|ce|operatorname)(?![a-zA-Z])|[{}$~\s]|\\[ ,;:!]")
_OF_CYCLES = re.compile("cycle|permutation|zykl|cicl|цикл|подстанов|перестанов|轮换|置换|循環|순환", re.IGNORECASE)


def _permutations(pair: Pair) -> Outcome:
    """Compare permutations in cycle notation, and choices in circles: `②③`."""
    speaks = pair.question is not None and _OF_CYCLES.search(pair.question.text) is not None
    mine = cycles(pair.ref.text, in_short=speaks)
    theirs = None if mine is None else cycles(pair.answer, in_short=speaks)
    if mine is not None:
        return EQUAL if mine == theirs else DIFFERENT
    if _CIRCLED.fullmatch(pair.ref.text) and (said := "".join(_WRITING.sub(" ", pair.answer).split())):
        numbers, found = (re.findall(r"[\u2460-\u2473]", side) for side in (pair.ref.text, said))
        said = re.sub(r"(?:<|\\lt|→|\\to|->)(?![a-z])", ",", said)
        # a choice of several is written from the first to the last
        in_order = numbers != sorted(numbers) or (pair.question is not None and pair.question.asks_order)
        same = found == numbers if in_order else set(found) == set(numbers)
        return EQUAL if same and _CIRCLED.fullmatch(said) else DIFFERENT
    return UNKNOWN


_ELEMENTS = frozenset(
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


def _chemistry(pair: Pair) -> Outcome:
    r"""Compare formulas of chemistry: `\ce{2H2 + O2 -> 2H2O}`. States count where the reference has them."""
    plain = re.sub(r"_\{(\d+)\}", r"\1", fold(pair.ref.text))
    is_plain = (PLAIN_REACTION.search(plain) or _PLAIN_FORMULA.fullmatch(plain)) is not None
    is_plain = is_plain or (pair.question is not None and _OF_CHEMISTRY.search(pair.question.text) is not None)
    if not (is_plain or _CHEMICAL.search(pair.ref.text)) or len(pair.answer) > _LONGEST_OPTION * 4:
        return UNKNOWN
    mine = _species(pair.ref.text, keep=True)
    if mine is None:
        return UNKNOWN
    if pair.question is not None and _OF_CONDITIONS.search(pair.question.text) is not None:
        wanted, found = _condition(pair.ref.text), _condition(pair.answer)
        if wanted and wanted != found:
            return DIFFERENT
    theirs = _species(pair.answer, keep=bool(_STATE.search(_SET_TYPE.sub("", pair.ref.text))))
    if theirs == mine:
        return EQUAL
    # the order of the elements tells how they are joined
    return DIFFERENT if theirs is not None and mine[1:] == theirs[1:] == [] and _is_of_atoms(pair) else UNKNOWN


_SHELL = re.compile(r"([1-7](?:s(?=[12])|p(?=[1-6])|d(?=\d)|f(?=\d)))((?<=f)1[0-4]|(?<=d)10|[1-9])")
_CONFIGURATION = re.compile(rf"(?:\[(?P<core>He|Ne|Ar|Kr|Xe|Rn)\])?(?:(?:{_SHELL.pattern})+)")
_CORES = {"He": 2, "Ne": 10, "Ar": 18, "Kr": 36, "Xe": 54, "Rn": 86}
_FILLED = "1s2 2s2 2p6 3s2 3p6 4s2 3d10 4p6 5s2 4d10 5p6 6s2 4f14 5d10 6p6".split()  # noqa: SIM905


def _electrons(text: str) -> Counter[str] | None:
    """The electrons of each subshell, a noble gas written out: those of `[Ar]3d^5`; None for another text."""
    written = _SET_TYPE.sub("", fold(_SET_TYPE.sub("", text))).replace("^", "").replace("_", "")
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


def _configurations(pair: Pair) -> Outcome:
    r"""Compare how electrons fill subshells, in any order: `1s^22s^2` and `[\mathrm{He}]\,2s^2`."""
    is_of_atoms = "[" in pair.ref.text or pair.question is None or _OF_ELECTRONS.search(pair.question.text)
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
    """Whether a formula is one of chemistry by its question or its command; two letters alone may be a product."""
    asked = pair.question.text if pair.question is not None else ""
    said = _SET_TYPE.sub("", pair.ref.text)
    several, counted = len(set(re.findall(r"[A-Z][a-z]?", said))) > len("AB"), re.search("_?[2-9]", said) is not None
    if not (several or counted or any(map(str.islower, said))):
        return False
    is_told = "\\ce" in pair.ref.text or _OF_CHEMISTRY.search(asked) or _OF_FORMULAS.search(asked)
    return bool(is_told) or (several and counted)


# A question that asks for what stands over the arrow
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
    """What stands over the arrow of a reaction, in one spelling; empty for nothing."""
    said = "".join(next(filter(None, found), "") for found in _CONDITION.findall(text))
    return "".join(_HEAT.sub("△", _SET_TYPE.sub("", said)).replace("_", "").split()).lower()


_CHEMICAL = re.compile(r"[A-Z][a-z]?\}?\s*(?:_|\^)|\\(?:mathrm|text|ce)\{[\d\s]*[A-Z]|^\{?\}?[_^]")


# `C3H8`
_PLAIN_FORMULA = re.compile(r"(?=.*\d)(?:[A-Z][a-z]?\d{0,2}|[·⋅]\d?|\((?:[A-Z][a-z]?\d{0,2})+\)\d{0,2}){2,12}")
# A charge in plain text: `Ca2+`, `SO42-`, `NH4+`
_PLAIN_ION = re.compile(
    r"(?:(?<![A-Za-z\d)])(?P<one>\d*[A-Z][a-z]?)(?P<charge>\d?[+-])|(?P<most>[A-Za-z)]\d?)(?P<sign>\d?[+-]))"
    r"(?=\s|->|→|\Z|\((?:aq|s|l|g)\))"
)


def _with_charges(text: str) -> str:
    """A plain reaction with its charges raised; a sign of plus between substances has spaces around it."""
    return _PLAIN_ION.sub(lambda m: f"{m['one'] or m['most']}^{{{m['charge'] or m['sign']}}}", text)


def _species(text: str, *, keep: bool) -> list[list[str]] | None:
    """The sorted substances on each side of the arrow; None for a text that is no formula of chemistry."""
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
    known = names and all(name in _ELEMENTS for name in names)
    return sides if known and all(_SPECIES.fullmatch(_STATE.sub("", one)) for side in sides for one in side) else None


# Signs between what may stand in any order, the loosest first, and the others of logic
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


def _turned_round(pair: Pair) -> Outcome:
    r"""Accept a formula of logic, or a relation of named objects, in another order: `CD\parallel AB`, `q \land p`."""
    if _REORDERED.isdisjoint(pair.ref.tokens):
        return UNKNOWN
    mine, theirs = (" ".join(_ALIKE.get(t, t) for t in side.tokens) for side in (pair.ref, pair.ans))
    if "\\forall" in mine or "\\exists" in mine:
        mine, theirs = (" ".join(_SUCH_THAT.sub("", f" {side} ").split()) for side in (mine, theirs))
        return EQUAL if mine == theirs else UNKNOWN
    mine, theirs = (_DENIED_LETTER.sub(r"not \1\2", side) for side in (mine, theirs))
    is_logic = all(t in _OF_LOGIC or t in "pqrsABC" for t in mine.split())
    signs = _ORDERED if is_logic else _ORDERED[5:]
    if len(mine) + len(theirs) > _LONGEST_OPTION * 4 or not any(sign in mine.split() for sign in signs):
        return UNKNOWN
    return EQUAL if _in_order(mine.split(), signs) == _in_order(theirs.split(), signs) else UNKNOWN


def _in_order(tokens: list[str], signs: tuple[str, ...]) -> str:
    """The tokens as a text, the parts around each sign sorted."""
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
    """How many brackets are open behind each token."""
    return list(accumulate((t == "(") - (t == ")") for t in tokens)) or [0]


_NAME_SET = re.compile(r"\\(?:text|mathrm)\s*\{\s*[a-z]{1,3}\s*\}\s*\^\s*(?:\d|\{\d\})")


_GROUPED = re.compile(r"([_^])\{(\w*[^\w{}][^{}]*)\}")


def _typeset(pair: Pair) -> Outcome:
    r"""Accept the same words or names set otherwise, `\mathrm{SO}_4^{2-}`, and a comma in braces: `3{,}5`."""
    if pair.answer.replace("{,}", ",") == pair.truth:
        return EQUAL
    # more than one sign above or below a name belongs together: `F_{n+2}`
    mine, theirs = (_SET_TYPE.sub("", _GROUPED.sub(r"\1(\2)", side)) for side in (pair.truth, pair.answer))
    is_worded = not pair.truth.isascii() and "\\text" in pair.answer + pair.truth
    # the letters of `\text{sp}^2` are a name, as they are in a reference without a question's formula in them
    is_name = _NAME_SET.fullmatch(pair.truth) is not None or _NAME_SET.fullmatch(pair.answer) is not None
    return EQUAL if mine == theirs and (is_worded or is_name or mine[:1].isupper()) else UNKNOWN


def _phrases(pair: Pair) -> Outcome:
    truth = phrase(pair.ref.text)
    if is_many(pair.ref.text, pair.answer, pair.question.text if pair.question is not None else ""):
        return EQUAL
    stated = None if truth is None else phrase(pair.answer)
    if truth is None or stated is None:
        return UNKNOWN
    asked = f"{pair.question.text} {pair.ref.text}" if pair.question is not None else ""
    if truth == stated and asked and speaks_of_another(pair.answer, asked):
        return DIFFERENT
    return EQUAL if truth == stated else DIFFERENT


def _yes_no(pair: Pair) -> Outcome:
    truth = _said(pair.ref.text, pair.question) if _YES_NO.search(pair.ref.text) else None
    stated = None if truth is None else _said(pair.answer, pair.question)
    if truth is None or stated is None:
        return UNKNOWN
    same = _AS_YES.get(truth, truth) == _AS_YES.get(stated, stated)
    return EQUAL if same else DIFFERENT


_AS_YES = {"true": "yes", "false": "no"}


def _said(text: str, question: Question | None) -> str | None:
    match = _YES_NO.fullmatch(_WRITING.sub(" ", text).strip())
    if match is None:
        return None
    rest, *reasons = _REASON.split(match[2] or "", maxsplit=1)
    if match[1].lower() in ("yes", "true") and any(_is_contrary(reason, question) for reason in reasons):
        return None
    if any(_holds(reason) is False for reason in reasons):
        return None
    if match[1][0] in "いは아네예" and rest and question is not None:
        # of a sentence without spaces, a no denies what the question has, and a yes says it again
        denied = _DENIED_BEHIND.search(rest)
        left = _COPULA_BEHIND.sub("", rest[: denied.start()] if denied is not None else rest)
        return match[1] if left in question.text and (denied is not None) == (match[1][0] in "い아") else None
    words, denying = rest.lower().split(), match[1].lower() in ("no", "false")
    if denying and question is not None and _affirms(match[2] or "", question.text) and not _is_true(text):
        return None
    asked = question.words if question is not None else frozenset()
    if all(allowed(w, asked, "") or (denying and w.strip(".") in _NO_WORDS) for w in words) or _is_true(text):
        return match[1].lower()
    words = [word.strip(".,!") for word in words]
    # a yes says it again, and a no denies it again
    own = match[1].lower() in _AFFIRMS or not {*_NO_WORDS}.isdisjoint(words)
    again = all((denying and word in _NO_WORDS) or _repeats_asked(word, question) for word in words)
    return match[1].lower() if own and again else None


_AFFIRMS = frozenset({"yes", "true", "ja", "oui", "sí", "sim", "sì", "да"})
_IS_TRUE = frozenset("true correct right stimmt richtig wahr vrai correcto cierto verdad verdade vero верно".split())  # noqa: SIM905


def _repeats_asked(word: str, question: Question | None) -> bool:
    """Whether a word behind a yes only says it again: `Yes, 7 is prime`."""
    if word in _IS_TRUE or word in NEUTRAL:
        return True
    if question is None or word in DENIES:
        return False
    asked = question.text.lower()
    # `x=0`, as the question has it
    is_formula = (
        "=" in word and re.search(rf"(?<!\w){re.escape(word)}(?![\w.])", re.sub(r"\s*=\s*", "=", asked)) is not None
    )
    return is_formula or word in re.findall(r"\w+", asked)


def _is_contrary(reason: str, question: Question | None) -> bool:
    """Whether the reason of a yes denies what is asked: `yes, because 7 is not prime`."""
    asked = question.words if question is not None else frozenset()
    return _TURNS_ROUND.search(reason) is not None or any(word.lower() in asked for word in _DENIED.findall(reason))


def _affirms(reason: str, asked: str) -> bool:
    """Whether the reason of a no states what is asked, and denies nothing: `no, because 9 is prime`."""
    said = re.findall(r"[^\W\d_]+(?:['’]t)?", reason.lower())
    if any(word in DENIES or word in _NO_WORDS or word.endswith(("'t", "’t")) for word in said):
        return False
    contents = [
        word for word in said if len(word) > 2 and word not in NEUTRAL and word not in ("because", "since", "has")
    ]
    return bool(contents) and any(same_word(contents[-1], one) for one in re.findall(r"[^\W\d_]+", asked.lower()))


def _is_true(text: str) -> bool:
    """Whether all that follows the first word is an equation of numbers that holds: `No, 91=7\\cdot 13`."""
    return _holds(_WRITING.sub(" ", re.split(r"[,.;:]", text, maxsplit=1)[-1])) is True


def _holds(reason: str) -> bool | None:
    """Whether an equation of numbers holds; None for any other text."""
    try:
        node = parse(_REASON.sub("", reason, count=1))
    except (Unreadable, TooComplex):
        return None
    return exact_value(difference(*node.args)) == 0 if is_equation(node) and not symbols(node) else None


def _initials(pair: Pair) -> Outcome:
    """Accept an option for its first letter, and the letter for the option: `T, F` for `True, False`."""
    options = pair.question.options if pair.question is not None else frozenset()
    first = {word[0]: word for word in options}
    if len(first) != len(options) or len(pair.answer) > _LONGEST_OPTION:
        return UNKNOWN
    sides = [[first.get(w, w) for w in plain(t).replace(",", " ").split()] for t in (pair.ref.text, pair.answer)]
    return EQUAL if sides[0] == sides[1] and sides[0] and set(sides[0]) <= options else UNKNOWN


def _same_words(pair: Pair) -> Outcome:
    """Compare words: an answer may have neutral words, and words of the question that are none of its options.

    `It is Thursday` is Thursday, `odd function` is odd where the question is about a function.
    """
    truth = plain(pair.ref.text).split()
    if not truth or not _NAME_ALONE.fullmatch(" ".join(truth)) or len(pair.answer) > _LONGEST_OPTION:
        return UNKNOWN
    said = plain(pair.answer).replace(",", " ").split()
    if said == truth:
        return EQUAL if _same_case(pair) else DIFFERENT
    question = pair.question
    asked, options = (question.text, question.options) if question is not None else ("", frozenset())
    if said[:-1] == truth and any(f"{one} {said[-1]}" in asked.lower() for one in options):
        # `sometimes true`, where the question has `always, sometimes or never true`
        return EQUAL
    if len(truth) == len(said) == 1 and not truth[0].isascii():
        return _same_unspaced(truth[0], said[0], asked)
    if _is_object(truth, plain(pair.answer).split(), asked):
        return DIFFERENT
    words = question.words if question is not None else frozenset()
    if any(_is_member(part, truth) for part in _PARTED.split(plain(pair.answer))):
        return UNKNOWN
    said = said[said[:1] == ["one"] :]
    said = [word for at, word in enumerate(said) if not _is_named(said[max(at - 1, 0) : at + 1], asked)]
    if truth[-1] in options and _STRICTLY.isdisjoint((*words, *truth)):
        said = [word for word in said if word not in _STRICTLY]
    left = [
        w
        for w in said
        if w in truth or w in options or w.isdigit() or not (w in JOINING_NAMES or allowed(w, words, asked))
    ]
    own = [w for w in truth if w in options or w not in words]
    # the kind of thing that the question speaks of may be left out: `odd` for `odd function`
    short_of = [own] if own == truth[: len(own)] and not NEUTRAL.issuperset(own) else []
    return EQUAL if left in (truth, [w for w in truth if w not in NEUTRAL], *short_of) else UNKNOWN


def _same_unspaced(truth: str, said: str, asked: str) -> Outcome:
    """As `_same_words`, of one run without spaces."""
    before, _, behind = said.partition(truth)
    kind = truth.removeprefix(said)
    if kind != truth and len(said) > 1 and re.search(f"(?:什么|何种|哪种|哪类){re.escape(kind)}", asked):
        return EQUAL
    subject = _SUBJECT.sub("", before)
    around = {_COPULA.sub("", behind), subject} if subject[1:] or not subject else {"?"}
    if before.endswith(("比", "于", "於")):
        # what something else is compared with
        return DIFFERENT
    if behind.startswith("的"):
        # of it, something else
        return DIFFERENT
    framed = truth in said and all(rest in asked for rest in around)
    return EQUAL if framed and not _TURNED.search(before + behind) else UNKNOWN


_BEFORE_OBJECTS = word_set(
    """of before after than de del di da do von vor nach avant après antes después prima dopo после до перед przed po"""
)


def _is_object(truth: Sequence[str], said: Sequence[str], asked: str) -> bool:
    """Whether a name is only what another is told by: `the sister of Joe`, but `the city of Paris` for a city."""
    at = next((at for at in range(1, len(said)) if list(said[at : at + len(truth)]) == list(truth)), 0)
    if not at or said[at - 1] not in _BEFORE_OBJECTS:
        return False
    kind = next((word for word in reversed(said[: at - 1]) if word not in NEUTRAL), "")
    clause = re.findall(r"[^\W\d_]+", (asking_clause(asked)[0] or re.split(r"[.。]\s*(?=\S)", asked)[-1]).lower())
    asks_kind = bool(kind) and any(same_word(kind, word) for word in clause)
    only_of = said[at - 1] in ("of", "de", "di", "von") and said[at - 2] not in _BEFORE_OBJECTS
    return not (only_of and asks_kind)


# What may be said more of a function's growth
_STRICTLY = frozenset("strictly streng strictement estrictamente strettamente strikt строго ściśle".split())  # noqa: SIM905


def _is_named(words: Sequence[str], asked: str) -> bool:
    """Whether a number is the question's own, with the word before it: `the number 8`."""
    return len(words) == 2 and words[1].isdigit() and f" {' '.join(words)} " in f" {asked.lower()} "


# What parts the members of a list; an article or a verb makes an apposition of a part: `Clara, the tallest`
_PARTED = re.compile(r",|;|/|&|\b(?:and|or|und|oder|et|ou|y|e|ed|o|и|или|en|of|i|og|och|ve)\b")


def _is_member(part: str, truth: Sequence[str]) -> bool:
    """Whether a part of an answer is one more thing than the reference names: `Anna` in `Anna, Clara`."""
    words = part.split()
    return bool(words) and set(words).isdisjoint(truth) and (NEUTRAL | JOINING_NAMES | _IS_TRUE).isdisjoint(words)


_TURNED = re.compile("[不非未无没]")
_SUBJECT = re.compile("^(?:该|这个|此|它|其|この|その|これ|それ)|(?:是|为|は|が|은|는|이|가)$")
_COPULA = re.compile("^(?:である|です|だ|이다|입니다)[。.]?$|^。$")


def _same_case(pair: Pair) -> bool:
    """Whether short names agree in their capitals: `Co` is not `CO`."""
    mine, theirs = ("".join(_WRITING.sub("", side).split()) for side in (pair.ref.text, pair.answer))
    return mine not in _ELEMENTS and (
        len(mine) > _SHORT_NAME or mine[1:] == theirs[1:] or mine.lower() != theirs.lower() or mine.isupper() is False
    )


_FILLING = frozenset("a all an in is it its of the unit units".split())  # noqa: SIM905
_ORDERING = frozenset("after before but by from less minus more no not or over than then to".split())  # noqa: SIM905


def _amounts(pair: Pair) -> Outcome:
    """Compare a number with the words that belong to it, wherever it stands: `a profit of 20`, `20 profit`."""
    sides = pair.ref.text, pair.answer
    if len(pair.answer) > _LONGEST_OPTION or not all(map(_WORDED.search, sides)):
        return UNKNOWN
    if any(sign in pair.ref.text + pair.answer for sign in "=<>^_+*/"):
        return UNKNOWN
    mine, theirs = (_WORD_OR_NUMBER.findall(plain(side).replace("to the ", "")) for side in sides)
    mine, theirs = ([w for w in side if w not in _FILLING] for side in (mine, theirs))
    words = [[w for w in side if w[0].isalpha()] for side in (mine, theirs)]
    # the number may stand before or behind its words, and a letter before or behind its one word
    letter_first = len(mine) == 2 and min(map(len, mine)) == 1 and mine == theirs[::-1]
    if (
        sorted(mine) != sorted(theirs)
        or sum(w[0].isdigit() for w in mine) > 1
        or not (letter_first or words[0] == words[1])
    ):
        return UNKNOWN
    return EQUAL if _ORDERING.isdisjoint(mine) else UNKNOWN


_WORDED = re.compile(r"\\text\s*\{[^{}]*[a-z]{3}")
_WORD_OR_NUMBER = re.compile(r"\\?[^\W\d_]+|\d+(?:\.\d+)?|[^\s\w]")


def _sentences(pair: Pair) -> Outcome:
    """Compare the words of a reference that is a sentence without a value; their typesetting does not count."""
    if pair.ref.reading is not None or not is_sentence(pair.ref.text):
        return UNKNOWN
    return EQUAL if _plain_words(pair.ref.text) == _plain_words(pair.answer) else UNKNOWN


def _plain_words(text: str) -> str:
    return "".join(_WRITING.sub(" ", text).lower().replace("\\(", "").replace("\\)", "").split()).rstrip(".")
