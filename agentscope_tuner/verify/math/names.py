"""The sign that an answer gives its value: dropped where the question asks for that, refused where for another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate, takewhile

from agentscope_tuner.verify.asked_clause import asking_clause
from agentscope_tuner.verify.math.exact import value_at
from agentscope_tuner.verify.math.parse import parse_tokens
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.readings import Side
from agentscope_tuner.verify.math.tokens import TooComplex, Unreadable, respelled, tokenize

LISTS = re.compile("[=,;<>]")
LETTERS = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z](?![a-zA-Z])")


def _left_side(tokens: Sequence[str]) -> list[str]:
    """What stands before the first sign of equality outside of brackets."""
    depths = accumulate((t in ("(", "[")) - (t in (")", "]")) for t in tokens)
    return [t for t, _ in takewhile(lambda one: one != ("=", 0), zip(tokens, depths, strict=True))]


def _is_another_name(text: str, ref: Side, asked: Question) -> bool:
    """Whether an answer begins with a name that is not asked for, which is no other form of its value: `n!=`."""
    with suppress(Unreadable):
        name = _left_side([t.text for t in tokenize(text)])
        if LISTS.search(ref.text) or not asked.asks_another(name):
            return asked.tells_apart(name) and not asked.tells_apart(_left_side(ref.tokens))
        said, _, value = respelled(text).partition("=")
        return not (LETTERS.search(value) and same_value(said, value))
    return False


# What an object of the question has: `\\pi_1(S^1)\\cong`, `|\\mathbb{R}|=`, `\\operatorname{Var}(X)=`
_LABEL = re.compile(
    r"\s*(?P<label>(?P<name>\\(?:mathcal|mathscr)\s*\{?(?P<of>[A-Z])\}?|\\(?:operatorname|mathrm|text)\s*\{(?P<said>[A-Za-z]{2,12})\}"
    r"|(?P<group>\\pi|H)[_^]\{?\w\}?|(?=\||\\left\||\\lvert))\s*(?:\\left)?\s*(?:\(|\[|\\\{|\||\\lvert)"
    r"(?P<thing>[^=|]{1,60}?)(?:\\right)?\s*(?:\)|\]|\\\}|\||\\rvert)(?:\([a-z]\))?)\s*"
    r"(?:=|\\(?:cong|simeq)(?![a-z])|[≅≃])(?P<value>[^=]+)",
    re.DOTALL,
)
_OF_GROUPS = {
    "\\pi": re.compile("fundamental|homotop|基本群|同伦|同倫|фундаментал|гомотоп", re.IGNORECASE),
    "H": re.compile("homolog|同调|同調|гомолог", re.IGNORECASE),
}


_SET_NAME = re.compile(r"\\(?:operatorname|mathrm|mathbb|mathbf|text|left|right)(?![a-z])\*?|[{}\s]")
_STATISTIC = re.compile(r"(?P<name>E|[VD](?:ar)?|SD)[(\[][A-Z][)\]]=")
_LONGEST_STATISTIC = 40
# The signs of what a random variable has, and how a question asks for it
_STATISTICS = {
    ("E",): re.compile(
        r"expect|\bmean\b|erwartung|espérance|esperanza|valor esperado|valore atteso|期望|均值|期待値|ожидани",
        re.IGNORECASE,
    ),
    ("V", "D", "Var"): re.compile(r"\bvarian|varianz|varianza|variância|方差|分散|дисперси|분산", re.IGNORECASE),
    ("SD",): re.compile(r"standard deviation|标准差|標準偏差", re.IGNORECASE),
}


# An expected value, of a letter or of an extreme
_EXPECTATION = re.compile(
    r"\s*(?:E|\\(?:mathbb|mathrm|operatorname|text)\s*\{\s*E\s*\})\s*(?:\\left)?\s*[(\[]"
    r"(?P<of>\\m(?:ax|in)(?![a-z])[^=\]]{0,40}?)(?:\\right)?\s*[)\]]\s*="
)
_EXTREMES = {
    "ax": "max|larg|great|high|big|größ|grand|mayor|maior|наибольш|больш|最大|较大",
    "in": "min|small|least|low|klein|petit|menor|наименьш|меньш|最小|较小",
}


def _is_asked_expectation(what: str, asked: Question) -> bool:
    """Whether the expected value of the extreme that an answer names is asked for."""
    asks = asking_clause(asked.text)[0] or asked.text
    is_one = _STATISTICS[("E",)].search(asks) is not None
    return is_one and re.search(_EXTREMES[what[2:4]], asked.text, re.IGNORECASE) is not None


_ISOMORPHIC = re.compile(
    r"(?P<what>[^=≅≃]{1,120}?)(?<!\\not)(?<!\\not )(?:\\(?:cong|simeq)(?![a-z])|[≅≃])(?P<value>[^=≅≃]+)", re.DOTALL
)
_FORMULA = re.compile(r"\$([^$]+)\$|\\\((.+?)\\\)", re.DOTALL)


def _is_asked_first(what: str, asked: Question) -> bool:
    """Whether what an answer gives another form of is the first formula of what is asked, or that without its ring."""
    # a sign in a formula may end the clause
    formula = _FORMULA.search(asked.text, max(asked.text.find(asking_clause(asked.text)[0]), 0))
    if formula is None:
        return False
    own, wanted = (_SET_NAME.sub("", one) for one in (what, formula[1] or formula[2]))
    return own == wanted or (own[-1:] == ")" and wanted.startswith(f"{own[:-1]};"))


# Signs that say by themselves what their value is: `P(D\\mid +)=`, `\\det(A)=`, `\\max_{[1;3]} y=`
_TELLING = re.compile(
    r"\s*(?:(?P<chance>P|\\Pr|\\mathbb\{P\})\s*(?:\\left)?\((?:[^=(){}\d]|\\mid){1,20}?(?:\\right)?\)"
    r"|(?P<det>\\det)\s*(?:\\left)?\(?\s*[A-Z]\s*(?:\\right)?\)?"
    r"|\\(?P<is>max|min)(?![a-z])\s*_(?:\{[^{}=]{1,40}\}|[a-z])\s*(?:[a-z](?:\([a-z]\))?)?)\s*=\s*(?P<value>[^=]+)"
)
_CHANCE = re.compile(
    r"probab|chance|wahrscheinlich|概率|確率|확률|вероятн|ймовірн|olasılı|xác suất|peluang|prawdopodob|احتمال|प्रायिकता",
    re.IGNORECASE,
)


_DETERMINANT = re.compile(
    "d[eé]termin|行列式|행렬식|определител|визначник|wyznacznik|định thức|محدد|सारणिक", re.IGNORECASE
)


def _tells_what_is_asked(told: re.Match[str], asked: Question) -> bool:
    if told["chance"]:
        # of two events that the question has signs for, the sign tells which
        return _CHANCE.search(asked.text) is not None and "P(" not in asked.text.replace(" ", "")
    if told["det"]:
        return _DETERMINANT.search(asked.text) is not None and "\\det" not in asked.text
    return asked.asks_extreme(told["is"])


def _label(text: str, asked: Question) -> tuple[str, bool]:
    """The value behind a label that the question has, else the text; and whether it is another thing's."""
    statistic = _STATISTIC.match(_SET_NAME.sub("", text[:_LONGEST_STATISTIC])) if "=" in text else None
    if statistic is not None and (asks := asking_clause(asked.text)[0]):
        wanted = [name for name, pattern in _STATISTICS.items() if pattern.search(asks)]
        if len(wanted) == 1 and statistic["name"] not in wanted[0]:
            return text, True
    if (expected := _EXPECTATION.match(text)) is not None and _is_asked_expectation(expected["of"], asked):
        return text[expected.end() :], False
    if (same := _ISOMORPHIC.fullmatch(text)) is not None and _is_asked_first(same["what"], asked):
        return same["value"], False
    if (told := _TELLING.fullmatch(text)) is not None and _tells_what_is_asked(told, asked):
        return told["value"], False
    found = _LABEL.fullmatch(text)
    if found is None:
        return text, False
    said, name, thing = ("".join(one.split()) for one in (asked.text, found["name"], found["thing"]))
    has_thing, group = thing in said, found["group"]
    if (name and name in said) or (group and f"{group}_" in said):
        # its sign is the question's, which tells of which thing it is asked
        is_own = asked.asks_for(found["label"])
    elif group:
        is_own = _OF_GROUPS[group].search(asked.text) is not None
    elif letter := found["of"]:
        named = rf"(?<=[a-z] ){letter}[a-z]{{3}}|\b(?:{letter}[a-z]*|{letter.lower()})[- ]?transf"
        is_own = has_thing and (asked.is_foreign or re.search(named, asked.text) is not None)
    elif word := found["said"]:
        is_own = has_thing and any(one.startswith(word.lower()) for one in asked.words)
    else:
        is_own = has_thing and thing.startswith("\\math")
    is_other = group == "\\pi" or (found["of"] and "transf" in asked.text.lower())
    return (found["value"] if is_own else text), not is_own and bool(is_other)


def same_value(text: str, other: str) -> bool:
    with suppress(Unreadable, TooComplex):
        mine, theirs = (value_at(other, parse_tokens(tokenize(side))) for side in (text, other))
        return mine is not None and mine == theirs
    return False


# What a function maps from or to, and a part of a complex number
_PART_OF = re.compile(
    r"\s*\\(?:(?:mathrm|text|operatorname|mbox)\s*\{\s*)?"
    r"(?P<name>[Dd]om(?:[aä]in|inio|aine)?|[Rr]an(?:ge)?|[Ii]m(?:age)?|[Rr]e)(?![a-zA-Z])\s*\}?"
    r"\s*(?:\\left)?\(?\s*\{?\s*[a-zA-Z]\s*\}?\s*(?:\\right)?\)?\s*=\s*"
)
_PARTS_ASKED = {
    "do": re.compile(
        "domain|dominio|domaine|domínio|d[eé]finition|definición|определени|定义域|定義域|정의역", re.IGNORECASE
    ),
    "ra": re.compile("range|image|imagen|recorrido|rango|wertebereich|множество значений|值域|치역", re.IGNORECASE),
    "re": re.compile("real part|realteil|partie réelle|parte reale?|действительн|实部|実部|실수부", re.IGNORECASE),
}
_PARTS_ASKED["im"] = re.compile(f"{_PARTS_ASKED['ra'].pattern}|imagin|虚部|허수부|мним", re.IGNORECASE)


def _without_place(text: str, ref: str, asked: Question) -> str:
    """The value without the point at which it is taken, or the formula of a sequence without its first index."""
    at_point = _AT_POINT.fullmatch(text) if "|_" in text and "=" not in ref else None
    if at_point is not None and _is_asked_there(at_point["what"], at_point["at"], asked.text):
        return at_point["value"]
    whole = None if _ORDERS.search(ref) else _FROM_THE_FIRST.fullmatch(text)
    return text if whole is None else whole["said"]


def _is_asked_there(what: str, at: str, asked: str) -> bool:
    """Whether a question asks for a derivative of this order at this point."""
    plain = "".join(re.sub(r"\\[ ,;:!]|[${}]", "", asked).split())
    second = _SECOND_ORDER.search(what) is not None
    place = "".join(re.sub(r"[{}]", "", at).split())
    named = re.sub(
        r"\\left\.|\\[dt](?=frac)", lambda m: "\\" if "frac" in m.string[m.end() : m.end() + 4] else "", what
    )
    derives = "".join(re.sub(r"[{}]|\\left\.", "", named).split())
    if re.search(r"frac(?:d|\\partial)", plain) is not None and "frac" in derives and derives not in plain:
        # with respect to another letter
        return False
    return (
        # by its first coordinate, where a point is named
        (place in plain or f"({place.partition('=')[2]}," in plain)
        and (_DERIVES.search(what) is not None or any(map(str.isdigit, what)))
        and second == (_SECOND_ORDER.search(plain) is not None or _SAID_SECOND.search(asked) is not None)
    )


_DERIVES = re.compile(r"'|\\prime|\\frac\{?\s*d|\\[dt]frac\{?\s*d|\\partial|\\nabla|grad|\\dot")
_SECOND_ORDER = re.compile(r"''|\\prime\\prime|d\^\{?2|\\ddot|\\partial\^\{?2|\^\{?\(2\)")
_SAID_SECOND = re.compile("second derivative|zweite|seconde|segunda|seconda|втор|二阶|二階", re.IGNORECASE)
# `a_n = 2n-1, n \\ge 1`, which says of a sequence what it is
_FROM_THE_FIRST = re.compile(
    r"(?P<said>\s*[a-zA-Z]_\{?(?P<index>[a-z])\}?\s*=[^=]+?)(?:[,，;；]|\\q?quad(?![a-z])|(?=[(（]))"
    r"(?:\s|\\[ ,;:!])*[(（]?\s*(?P=index)\s*(?:\\g[et]q?(?![a-z])|\\geqslant|>=|≥)\s*[01]\s*[)）]?"
)
_ORDERS = re.compile(r"[<>≤≥]|\\[lg][et]")
# The value of a derivative at a point: `\\left.\\frac{dy}{dx}\\right|_{x=1}=3`
_AT_POINT = re.compile(
    r"(?P<what>[^=|]{1,80}?)(?:\\right|\\[bB]igg?r?)?\s*\|_\{(?P<at>[^{}]{1,60})\}\s*=(?P<value>.+)", re.DOTALL
)


def value_named(text: str, ref: Side, asked: Question) -> str | None:
    """An answer without the sign that it gives its value; None for the sign of something else than what is asked."""
    text, is_of_another = (text, False) if LISTS.search(ref.text) else _label(text, asked)
    if is_of_another or ("=" in text and _is_another_name(text, ref, asked)):
        return None
    text = _without_place(text, ref.text, asked) if "_" in text else text
    if "=" not in ref.text and (part := _PART_OF.match(text)) is not None:
        name = part["name"].lower()
        is_said = re.search(rf"(?<![a-z]){name}(?![a-z])", asked.text.lower()) is not None
        if asked.text and not is_said and _PARTS_ASKED[name[:2]].search(asked.text) is None:
            return None
        text = text[part.end() :]
    return text
