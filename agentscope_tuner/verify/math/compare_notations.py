"""Comparisons of answers in special notations: times, dates, scores, digits of a base, permutations, bearings, money.

Each comparison gives UNKNOWN for pairs that are not in its notation. Other functions rewrite both sides of a pair into
one notation, so that the general rules can compare them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import asking_clause
from agentscope_tuner.verify.math.around import IS_INTEGER, WHERE
from agentscope_tuner.verify.math.compare import CheapComparer
from agentscope_tuner.verify.math.node import (
    DIFFERENT,
    EQUAL,
    UNKNOWN,
    Outcome,
    Quantity,
    Relation,
    all_of,
)
from agentscope_tuner.verify.math.parameters import whole_numbers_of
from agentscope_tuner.verify.math.parse import parse
from agentscope_tuner.verify.math.prose import (
    cycles,
    day,
    plain,
    time_of_day,
    undressed,
)
from agentscope_tuner.verify.math.question import Question, is_english
from agentscope_tuner.verify.math.readings import resolve
from agentscope_tuner.verify.math.tokens import TooComplex, Unreadable, respelled
from agentscope_tuner.verify.math.units import is_degree, unit_named
from agentscope_tuner.verify.math.unwrap import Pair
from agentscope_tuner.verify.words import word_set

WRITING = re.compile(r"\\(?:text|textbf|mathrm|textrm|mbox)|[{}$]|\\[ ,;:!~]")
LONGEST_OPTION = 100
# Longer texts are not tested for a special notation
LONGEST_FORM = 300
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
# Words for a length of time, not for a time of day
_SPAN = re.compile("時間|小时|小時")
_CLOCK = re.compile(
    r"[:点點時时시]|\dh\d|\d\.\d\d(?!\d)"
    r"|\d(?:[ap]\.?m\b|o['’]clock|uhr|uur|(?:in|at)the)|[午晚早晨]",
    re.IGNORECASE,
)
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


# Commands that only set type: the words inside are kept
_SET_WORD = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathbb|mathcal|mathsf|operatorname\*?|mbox)\s*\{([^{}]*)\}"
)
_SET_LETTER = re.compile(r"\\(?:mathcal|mathrm|mathbf|mathbb|mathsf|rm|bf|cal)(?![a-z])\s*")
_SET_SPACE = re.compile(r"\\(?:left|right|q?quad)(?![a-z])|\\[ ,;:!]|[~$]")


# Many rules call it with the same two texts
@lru_cache(maxsize=128)
def unset(text: str) -> str:
    r"""A text without commands for type, spaces and bracket sizes, and without dollar signs: `5 N` for `5\text{ N}`."""
    if "\\" in text:
        text = _SET_LETTER.sub("", _SET_WORD.sub(r" \1 ", text))
    return " ".join(_SET_SPACE.sub(" ", text).split())


_WORD_ALONE = re.compile(r"(?<![\\a-zA-Z])[^\W\d_]{2,}")


def alike(pair: Pair, mine: Sequence[str], theirs: Sequence[str]) -> Outcome:
    """Compare the parts of two texts one by one, as formulas: `0.5`, `x` for `1/2`, `x`.

    UNKNOWN if a part cannot be read, or if the answer's part has a word that the reference's part does not have.

    Args:
        pair: the whole texts, and the question.
        mine: the parts of the reference.
        theirs: the parts of the answer, equally many.
    """
    comparer = CheapComparer(pair.seed, pair.question)
    found = []
    for one, other in zip(mine, theirs, strict=True):
        if "".join(one.split()) == "".join(other.split()):
            continue
        if not {*_WORD_ALONE.findall(other)} <= {*_WORD_ALONE.findall(one)}:
            # the parser may ignore a word that denies or withdraws the part
            return UNKNOWN
        try:
            found.append(comparer.compare(resolve(parse(one)), resolve(parse(other))))
        except (Unreadable, TooComplex):
            found.append(UNKNOWN)
    return all_of(found)


_WEEKDAY = re.compile("(?:周|礼拜|禮拜|星期)([一二三四五六日天])")
# From Monday to Sunday, in 40 languages: the names without their endings
_WEEKDAYS = tuple(
    re.compile(f"(?:{'|'.join(names.split())})[^\\W\\d_]{{0,3}}".replace("_", " "))
    for names in (
        """monday montag lundi lunes luned[iì] segunda[-_]feira dilluns luni maandag måndag mandag понедельник понеділ
        понеделник poniedział pond[ěe]l p[ao]nedjelja poned[eě]lj pazartesi maanantai hétf esmaspäev δευτέρα
        ال[اإ]ثنين ב?יום_שני دوشنبه सोमवार সোমবার จันทร์ 월요일 月曜日? 星期一 senin isnin thứ_hai pirmdien pirmadien""",
        """tuesday dienstag mardi martes marted[iì] terça[-_]feira dimarts mar[țt]i dinsdag tisdag tirsdag вторник
        вівтор wtor úter utor torek salı tiistai kedd teisipäev τρίτη الثلاثاء ב?יום_שלישי سهشنبه मंगलवार মঙ্গলবার
        อังคาร 화요일 火曜日? 星期二 selasa thứ_ba otrdien antradien""",
        """wednesday mittwoch mercredi miércoles mercoled[iì] quarta[-_]feira dimecres miercuri woensdag onsdag
        сред[аеуы] серед[аиуі] środ[aęąy] st[řr]ed[auyěe] sri?jed[aeu] sred[aeu] çarşamba
        keskiviik szerd kolmapäev τετάρτη ال[اأ]ربعاء ב?יום_רביעי
        چهارشنبه बुधवार বুধবার พุธ 수요일 水曜日? 星期三 rabu thứ_tư trešdien trečiadien""",
        """thursday donnerstag jeudi jueves gioved[iì] quinta[-_]feira dijous joi donderdag torsdag четверг четвер
        четвъртък czwart[eo]k čtvrt[e]?k štvrt[o]?k četvrt[ao]?k četrt[e]?k perşembe torstai csütörtök neljapäev πέμπτη
        الخميس ב?יום_חמישי پنجشنبه गुरुवार बृहस्पतिवार বৃহস্পতিবার พฤหัส(?:บดี)? 목요일 木曜日? 星期四 kamis khamis
        thứ_năm ceturtdien ketvirtadien""",
        """friday freitag vendredi viernes venerd[iì] sexta[-_]feira divendres vineri vrijdag fredag пятниц п['’]ятниц
        петък piąt[e]?k pát[e]?k piat[o]?k pet[ae]k cuma perjantai péntek reede παρασκευή الجمعة ב?יום_שישי جمعه
        शुक्रवार শুক্রবার ศุกร์ 금요일 金曜日? 星期五 jumat jumaat thứ_sáu piektdien penktadien""",
        """saturday samstag sonnabend samedi sábado sabato dissabte sâmbăt zaterdag lördag lørdag суббот субот събот
        sobot sobota subot cumartesi lauantai szombat laupäev σάββατο السبت ב?יום_שבת שבת شنبه शनिवार শনিবার เสาร์
        토요일 土曜日? 星期六 sabtu thứ_bảy sestdien šeštadien""",
        """sunday sonntag dimanche domingo domenica diumenge duminic zondag söndag søndag воскресень неділ niedziel
        neděl nedeľ nedjelj nedelj pazar sunnunta vasárnap pühapäev κυριακή ال[اأ]حد ב?יום_ראשון یکشنبه रविवार
        রবিবার อาทิตย์ 일요일 日曜日? 星期[日天] minggu ahad chủ_nhật svētdien sekmadien""",
    )
)
# Words that may be beside a weekday without a change of meaning: `it is Monday`, `on Monday`
_BESIDE_WEEKDAY = word_set(
    """on a an the it is it's be will day am ein einem einen der den dem ist es tag le un ce c'est sera jour el en
    será día il di un è giorno na num numa em um uma é dia într-o în w we v ve vo u jest dzień je den день ден у в
    во на это op een de het dag på det är er om gün günü bir on se päivä nap päev την το ημέρα μέρα يوم في هو روز در को
    है दिन দিন là vào ngày hari pada ini วัน 입니다"""
)
_NO_CENTS = re.compile(r"(?<=\d)(?:\{,\}|,)\s*[-–—]{1,2}(?=\s*(?:\\[ ,]\s*)?(?:€|\\text|\\euro|euro|kr|\Z))")
_JOINED_SETS = re.compile(r"\\\}\s*(?:\\cup|∪)\s*\\\{")
_FINITE = re.compile(
    r"(?P<of>[^,;|]*?(?<![a-zA-Z\\])(?P<letter>[jkmn])(?![a-zA-Z])[^,;|]*),(?:\s|\\[ ,;:!]|\\q?quad)*"
    r"(?P=letter)\s*(?:=|\\in\s*\\\{)\s*(?P<values>\d{1,2}(?:\s*,\s*\d{1,2}){1,11})\s*(?:\\\})?\s*"
)
# `x_1 = 2 \\vee x_2 = 3`
_EITHER = re.compile(r"(?<=[\d\s}])(?:\\vee(?![a-z])|∨)(?=(?:\s|\\ )*[a-zA-Z](?P<index>_\{?\d\}?)?\s*=)")
_CYCLES = re.compile(r"(?:\s*\(\s*\d+(?:(?:\s|,|\\[ ,;:!])+\d+)+\s*\)){2,}\s*")
_MAPS = re.compile(
    r"\s*(?:(?P<name>[a-zA-Z])(?:\^\{?-1\}?)?\s*:\s*)?(?P<letter>[a-z])\s*\\mapsto\s*(?P<value>.+)", re.DOTALL
)
_CYCLIC_GROUPS = re.compile(r"[\\a-zA-Z{}\d_/\s^()]*\\mathbb\s*\{?Z\}?[\\a-zA-Z{}\d_/\s^()]*")


# Longer answers are not rewritten
_LONGEST_NOTED = 2_000


_SAME_NAMES: tuple[tuple[str, re.Pattern[str], str], ...] = (
    # an equation with its reason over the equals sign
    (
        "{=}",
        re.compile(
            r"\\(?:overset|stackrel)\s*\{\s*(?:\\(?:text|mathrm)\s*\{)?\s*"
            r"(?:!|def\.?|\(?[\d*]\)?|\[?(?:L[.']?)?'?H(?:[oô]p(?:ital)?)?\]?)\s*\}?\s*\}\s*\{=\}"
        ),
        "=",
    ),
    # a line below the whole text, and a `\\therefore` before it
    (
        "\\",
        re.compile(
            r"^\s*\\(?:therefore|underline\s*\{\s*(?=.*=.*\}\s*$))\s*(?:\\underline\s*\{\s*)?(?P<of>[^\\]+?)\}*\s*$"
        ),
        r"\g<of>",
    ),
    # an angle by its vertex, and the sets that belong to a function
    ("hat", re.compile(r"^\s*\\widehat\s*(?:\{\s*([A-Z])\s*\}|([A-Z]))(?=\s*=)"), r"\\angle \1\2"),
    ("math", re.compile(r"^\s*\\math(?:bb|cal|scr)\s*\{?D\}?(?:_\{?[a-z]\}?)?(?=\s*=)"), r"\\operatorname{dom}f"),
    ("math", re.compile(r"^\s*\\math(?:bb|cal|scr)\s*\{?W\}?(?:_\{?[a-z]\}?)?(?=\s*=)"), r"\\operatorname{range}f"),
    # a norm
    ("ert", re.compile(r"(?:\\(?:left|right)\s*)?\\[lr]?Vert(?![a-zA-Z])\s*(?:_\{?2\}?(?=\s*=))?"), "|"),
    ("\\|", re.compile(r"\\(?:left|right)\s*\\\|"), r"\\|"),
    # a quantity in its standard state
    (
        "^",
        re.compile(
            r"^(\s*(?:\\Delta\s*(?:_\{?[a-z]\}?)?\s*)?[EGHS](?:_\{?(?:\\(?:text|mathrm)\{)?[a-z]+\}{0,2})?)"
            r"\s*\^\s*\{?\s*\\(?:circ|ominus|theta)\s*\}?(?=[_\s=])"
        ),
        r"\1",
    ),
    # the range of a line's parameter, behind its points: `t \\in \\mathbb{R}`
    (
        "\\end",
        re.compile(
            r"(\\end\{(?:cases|array|aligned)\}(?:\s*\\right\s*\.?)?)(?:[,\s(~]|\\[ ,;:!]|\\q?quad)+(?:[a-z]|\\[a-z]+)"
            r"\s*\\in\s*\\math(?:bb|bf)\s*\{?R\}?\s*\)?$"
        ),
        r"\1",
    ),
)


# The column of the unknowns before that of their values
_OF_UNKNOWNS = re.compile(
    r"^\\begin\{([pb]?matrix)\}\s*x\s*\\\\\s*y\s*(?:\\\\\s*z\s*)?\\end\{\1\}\s*=\s*(?=\\begin\{\1)"
)


def _with_usual_names(text: str) -> str:
    r"""An answer with some names in the usual spelling, `\angle A` for `\widehat{A}`, and an amount only once.

    `0.9\text{ m}` for `0.9\text{ m}(90\text{ cm})`.
    """
    for needed, pattern, spelling in _SAME_NAMES:
        text = pattern.sub(spelling, text) if needed in text else text
    return _without_converted(text) if "(" in text else text


_IF = (
    r"(?:if|when|for|where|wenn|falls|für|bei|si|pour|lorsque|quand|cuando|para|se|quando|per|если|при|als|voor|jeśli"
    r"|dla|gdy|ha|eğer|jika|untuk|khi|nếu|när|hvis|当|當)"
)
_THEN = (
    r"(?:[:：]|,?\s*(?:then|dann|gilt|alors|entonces|allora|então|то|wtedy)\b:?|\\(?:Rightarrow|implies|to)(?![a-z])|⇒"
    r"|[时時][,，:：]?|のとき[、,]?|일 ?때,?|ise\b,?)"
)
_END_OF_CASE = r"-?(?:\d+(?:\.\d+)?(?:/\d+)?|\\[dt]?frac\{\w+\}\{\w+\}|\\pi|[a-z])(?![\w^(])"
_ORDERS = r"\s*(?:[<>]=?|[=≤≥≠]|\\(?:[lg](?:eq?(?:slant)?|t)|neq?)(?![a-z]))\s*"
_CASE = rf"(?:{_END_OF_CASE}{_ORDERS})?[a-z]{_ORDERS}{_END_OF_CASE}"
_ELSE = r"otherwise|else|sonst|sinon|en otro caso|altrimenti|caso contrário|иначе|否则|それ以外"
_NEXT_CASE = r"\s*(?:[,;，；、]\s*(?:and\s|und\s|et\s|y\s|e\s|и\s)?|\s(?:and|und|et|y|e|и)\s|\Z)\s*"
# A value before its condition, `x=1 if a>0`, or behind it, `if a>0: x=1`
_CASES = (
    re.compile(
        rf"(?P<value>[^;；]+?)[\s,，]*(?:{_IF}\s*(?P<if>{_CASE})|\(\s*(?:{_IF}\s*)?(?P<of>{_CASE})\s*\)|(?P<else>{_ELSE}))"
        rf"{_NEXT_CASE}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:{_IF}\s*(?P<if>{_CASE})\s*(?:{_THEN}|[,，])|(?P<of>{_CASE})\s*{_THEN})\s*(?P<value>.+?)"
        rf"(?:\Z|{_NEXT_CASE}(?=(?:{_IF}\s*)?{_CASE}\s*(?:{_THEN}|[,，])|(?P<else>(?!))))",
        re.IGNORECASE,
    ),
)


def _cases(text: str) -> str:
    r"""A value by cases in words as a `cases` environment: for `a>0: x=1; a<0: x=2`, or `x=1 if a>0; x=2 if a<0`.

    A text that already has such an environment as it is; empty for any other text.
    """
    if "\\begin{cases}" in text:
        return text
    said = unset(text) if len(text) <= LONGEST_FORM and re.search(r"[<>=≤≥]|\\[lg]", text) else ""
    for pattern in _CASES:
        found: list[re.Match[str]] = []
        while (one := pattern.match(said, found[-1].end() if found else 0)) is not None and one[0]:
            found.append(one)
        if len(found) > 1 and found[-1].end() == len(said):
            rows = (f"{one['value']},&{one['if'] or one['of'] or chr(92) + 'text{otherwise}'}" for one in found)
            return f"\\begin{{cases}}{chr(92) * 2}\\end{{cases}}".replace(chr(92) * 2, (chr(92) * 2).join(rows), 1)
    return ""


_SAID_AGAIN = re.compile(r"(?P<value>[^()]*)\(\s*+=?(?P<again>[^()]*+)\)\s*+(?P<close>\}?)")


def _without_converted(text: str) -> str:
    r"""An amount without its repetition in a different unit: `0.9\text{ m}` for `0.9\text{ m}(90\text{ cm})`.

    Any other text as it is, also if the two amounts are not equal.
    """
    found = _SAID_AGAIN.fullmatch(text)
    if found is None:
        return text
    value, again = re.sub(rf"{_SPACE}$", "", found["value"]) + found["close"], found["again"]
    again = f"\\text{{{again}}}" if found["close"] else again
    try:
        nodes = [parse(undressed(respelled(one), lambda _: False)) for one in (value, again)]
        amounts = [one.args[-1] if isinstance(one, Relation) else one for one in nodes]
        is_same = CheapComparer(text).compare(*map(resolve, amounts)) is EQUAL
    except (Unreadable, TooComplex):
        return text
    return value if is_same and all(isinstance(one, Quantity) for one in amounts) else text


_MULTIPLE = re.compile(r"multiplicit|重数|кратност|vielfachheit", re.IGNORECASE)
# A root with its multiplicity: `\\lambda=4 \\text{ (multiplicity 2)}`, `x_1=x_2=4`
_ROOT = re.compile(
    r"\s*(?P<names>(?:(?:\\lambda|[a-z])(?:_\{?\d\}?)?\s*=\s*)*)(?P<root>[^=,;()（）]+?)\s*"
    r"(?:[(（]?\s*(?:(?:with|of|algebraic|algebraische|алгебраическая|mit|der)\s+)*(?:multiplicity|mult\.|vielfachheit|кратности|кратность|重数)"
    r"\s*(?:of|=|为|是|:)?\s*(?P<times>[1-9])\s*[)）]?)?\s*",
    re.IGNORECASE,
)


def _roots_with_multiplicity(text: str) -> str:
    r"""A list of roots, each as often as its multiplicity says: `4,4,1` for `4 \text{ (multiplicity 2)}, 1`.

    Empty if the text has anything else.
    """
    said = unset(re.sub(r"\\(?:q?quad|[ ,;:!])", " ", text)).replace("$", "")
    found = [
        _ROOT.fullmatch(" ".join(one.split()))
        for one in re.split(r"[,;，；](?![^()]*\))|\band\b|\bund\b|\bи\b|和", said)
    ]
    roots = [one for one in found if one is not None]
    if len(roots) < len(found):
        return ""
    return ",".join(one["root"] for one in roots for _ in range(int(one["times"] or max(one["names"].count("="), 1))))


def in_notation(text: str, truth: str) -> tuple[str, str]:
    r"""The answer and the reference, rewritten so that both use the same notation: `2(0), 2(1)` for `2k, k=0,1`.

    Rewritten are weekdays, whole prices, unions of sets, cases, multiplicities of roots, lines by their points, maps
    and more. A text without such a notation is left as it is.

    Args:
        text: the answer.
        truth: the reference.
    """
    if len(text) > _LONGEST_NOTED:
        return text, truth
    text = _with_usual_names(text) if "\\" in text else text
    text, truth = (_in_one_spelling(side) for side in (text, truth))
    text = text if "=" in truth else _OF_UNKNOWNS.sub("", text)
    if "e" in text + truth and _EULER.search(_AS_TEN.sub("", f"{text} {truth}")) is not None:
        text, truth = (_AS_TEN.sub(r"\1e \2", one) for one in (text, truth))
    if not text.isascii():
        text, truth = (_WEEKDAY.sub(_weekday, one) for one in (text, truth))
    text, truth = _through_whole_numbers(text), _through_whole_numbers(truth)
    if "," in text:
        text = _values_listed(_NO_CENTS.sub("", text))
    if (mine := _cases(truth)) and (theirs := _cases(text)):
        return theirs, mine
    if (
        _MULTIPLE.search(truth) is not None
        and (roots := _roots_with_multiplicity(truth))
        and (theirs := _roots_with_multiplicity(text))
    ):
        return theirs, roots
    if "\\vee" in text or "∨" in text:
        text = _EITHER.sub(lambda one: "," if one["index"] else "\\text{ or }", text)
    if "\\mid" not in text and "|" not in text and ":" not in text:
        text = _JOINED_SETS.sub(", ", text)
    text, truth = _in_signs_beside(text, truth)
    if (theirs := _signed_change(text)) and (mine := _signed_change(truth)):
        text, truth = theirs, mine
    text = _in_form_of(truth, text)
    if "=" in text + truth and _POINT.match(text) is not None and _POINT.match(truth) is not None:
        points = [_point(side) for side in (text, truth)]
        # a text about whole numbers, with `\\in \\mathbb{Z}`, is not a line
        if all(point or "\\in" not in side for point, side in zip(points, (text, truth), strict=True)):
            return points[0] or text, points[1] or truth
    return text, truth


# `2e-5` beside an e that is Euler's number: then this e may be that number, too
_AS_TEN = re.compile(r"(?<![\d.a-zA-Z])(?!1e)(\d+)e([-+]\d+)(?![\d.a-zA-Z])")
_EULER = re.compile(r"(?<![a-zA-Z\\])e(?![a-zA-Z])")

_RISES = (
    "increased?|rise|rose|gain|growth|profit|zunahme|erhöhung|anstieg|gestiegen|erhöht|augmenté|aumentó|subió|aumentou"
    "|subiu|aumentat[oa]|вырос(?:л[аои])?|увеличил(?:ся|ась|ось|ись)|wzrosł[ao]|wzrósł|arttı|augmentation|hausse|aumento"
    "|incremento|увеличение|рост"
    "|збільшення|wzrost|artış|toename|ökning|tăng|naik|kenaikan|增加|上涨|上升|增长|増加"
)
_FALLS = (
    "decreased?|fall|fell|drop(?:ped)?|loss|reduction|abnahme|senkung|rückgang|gesunken|gefallen|verringert|gesenkt|diminué"
    "|baissé|disminuyó|bajó|diminuiu|caiu|diminuit[oa]|sces[oa]|снизил(?:ся|ась|ось|ись)|уменьшил(?:ся|ась|ось|ись)"
    "|упал[аои]?|spadł[ao]?|zmalał[ao]?|azaldı|düştü|diminution|baisse|disminución|descenso|diminuição|redução"
    "|diminuzione|calo|уменьшение|снижение|зменшення|spadek|azalış|afname|minskning|giảm|turun|penurunan|减少|下降|下跌|降低"
    "|減少"
)
_CHANGE = re.compile(
    rf"(?:(?:it |an? |eine[rn]? |une? |una |uma? )?(?:(?P<rises>{_RISES})|(?P<falls>{_FALLS}))了?)?"
    r"(?: ?(?:of|by|um|von|de|del|di|на|na|o|med))? ?(?:una? |an? )?(?P<sign>[-+−]?) ?(?P<amount>\d[\d.,]* ?\\?%?)"
    rf" ?(?:(?P<rose>{_RISES})|(?P<fell>{_FALLS}))?",
    re.IGNORECASE,
)


def _signed_change(text: str) -> str:
    """A change with a plus or minus sign in place of a word: `-2%` for `2% decrease`; empty for any other text."""
    if (found := _CHANGE.fullmatch(unset(text))) is None:
        return ""
    rises, falls = found["rises"] or found["rose"], found["falls"] or found["fell"]
    said = found["sign"].replace("−", "-") + "+" * bool(rises) + "-" * bool(falls)
    return f"{said}{found['amount']}" if said in ("+", "-") else ""


def _in_one_spelling(text: str) -> str:
    r"""The reference or the answer with one spelling for what has several: `\frac{1}{3}` for `3分の1`.

    Several functions of one name are sorted, because they have no order: `f(x)=2x, f(x)=x` for `f(x)=x, f(x)=2x`.
    """
    for needed, pattern, spelling in _ONE_SPELLING:
        text = pattern.sub(spelling, text) if needed in text else text
    if text.count("=") > 1 and ")" in text and (head := _FUNCTION_HEAD.match(text)) is not None:
        # several functions of one name have no order
        first, *values = [
            one.strip() for one in re.split(rf"{re.escape(head[1])}\s*=", _JOINS_FUNCTIONS.sub(",", text))
        ]
        if not first and all(one.endswith(",") for one in values[:-1]) and not any(map(_LISTS.search, values)):
            return ", ".join(f"{head[1]}={one}" for one in sorted(one.strip(" ,") for one in values))
    return text


_FUNCTION_HEAD = re.compile(r"\s*([a-zA-Z]\([a-z]\))\s*=")
_JOINS_FUNCTIONS = re.compile(
    r"(?:[\s,]|\\[ ,;:!]|\\q?quad(?![a-z]))*(?:\\text\s*\{\s*(?:and|or)\s*\}|(?<=\s)(?:and|or)(?=\s)|,)"
    r"(?:\s|\\[ ,;:!]|\\q?quad(?![a-z]))*(?=[a-zA-Z]\([a-z]\)\s*=)"
)
_LISTS = re.compile(r"[=<>;]|,(?!\Z)|\\(?:text|begin|[gl]eq?|neq?|in)(?![a-z])")


_ONE_SPELLING: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("mathbf", re.compile(r"(?<=\\in)\s*\\mathbf\s*\{?\s*([NZQRC])\s*\}?(?![a-zA-Z])"), r"\\mathbb{\1}"),
    ("分", re.compile(r"(?<!\d)(\d+)\s*(?:\\text\s*\{\s*)?分の\s*\}?\s*(\d+)"), r"\\frac{\2}{\1}"),
    ("분", re.compile(r"(?<!\d)(\d+)\s*(?:\\text\s*\{\s*)?분의\s*\}?\s*(\d+)"), r"\\frac{\2}{\1}"),
    ("t{-}", re.compile(r"(?<=\d)\\text\{-\}(?=\d)"), "-"),
    (
        "(equality",
        re.compile(r"\\text\s*\{\s*\(equality(?: holds)? (?:if and only if|iff|if|when|at|for)\s*\}\s*([^()]*)\)"),
        r"\\text{ when }\1",
    ),
    ("equality", re.compile(r"(?:with )?equality(?: holds)? (?:if and only if|iff|if|when|at|for)\b"), "when"),
    ("arbitrary", re.compile(r"(\\in\s*\\mathbb\s*\{?[RC]\}?)\s*,?\s*\\text\s*\{\s*(?:is )?arbitrary\s*\}"), r"\1"),
    # an equation that holds for every x, and the identity function: `f(x)=0 \\text{ for all } x`, `f=\\mathrm{id}`
    *(
        (
            needed,
            re.compile(
                r"(?<![a-zA-Z\\])([a-zA-Z]\(([a-z])\)\s*=[^=<>;]*?)(?:[\s,~]|\\[ ,;:!]|\\q?quad(?![a-z]))*"
                rf"{everywhere}\s*\2(?=\s*(?:\Z|[,;.]|\\text|\\q?quad|\\[ ,;:!]))"
            ),
            r"\1",
        )
        for needed, everywhere in (
            ("forall", r"\\forall(?![a-z])"),
            (
                "t{",
                r"\\text\s*\{\s*,?\s*(?:for (?:all|every|each|any)|für alle|für jedes|pour tout|para todo|per ogni"
                r"|для (?:всех|любого|каждого)|对(?:所有|任意)的?|dla każdego|voor alle|för alla)\s*\}",
            ),
        )
    ),
    (
        "id}",
        re.compile(
            r"(?<![a-zA-Z\\])(f)\s*=\s*\\(?:mathrm|text|operatorname)\s*\{\s*[iI]d\s*\}"
            r"(?:_\{?\\mathbb\s*\{?[RQZNC]\}?\}?)?(?!\s*[_^(+*/\d-])"
        ),
        r"\1(x)=x",
    ),
    ("angled", re.compile(r"\b([Rr]ight|[Aa]cute|[Oo]btuse)[- ]angled\b"), r"\1"),
    ("layer ", re.compile(r"\b(?:[Pp]layer (?:1|[Oo]ne)|[Ff]irst [Pp]layer)\b"), "first player"),
    ("layer ", re.compile(r"\b(?:[Pp]layer (?:2|[Tt]wo)|[Ss]econd [Pp]layer)\b"), "second player"),
)
# A word for the kind of curve before its equation: `the line x=1`
_KIND_OF_SET = re.compile(
    r"(?:the )?(?:equation of (?:the )?)?(?:(?:vertical|horizontal|straight) )?(?P<kind>line|circle|parabola|ellipse"
    r"|hyperbola|plane|sphere|curve)(?: with equation| given by)?:? \$?(?P<of>[^$]*=[^$]*)\$?",
    re.IGNORECASE,
)
_SOLVED = re.compile(r"(?P<name>[xyz])\s*=\s*(?P<value>[^=xyz]+)")
_CONSTANT = re.compile(r"(?:all |any |the )?constant (?:functions?|polynomials?|sequences?)", re.IGNORECASE)
_IS_CONSTANT = re.compile(
    r"[a-zA-Z](?:_\{?n\}?|\([a-z]\))?\s*(?:=|\\equiv)\s*(?P<letter>[cCkKa])(?:,| where| for| with|\s)*"
    r"(?:(?:any|some|an?|every|all|arbitrary|real)\s)*(?:(?P=letter)\s?(?:is (?:an? )?)?)?"
    r"(?:\\in\s?R|(?:(?:arbitrary|real) )*(?:constant|number)(?: (?P=letter))?)?"
)


def _in_signs_beside(text: str, truth: str) -> tuple[str, str]:
    """The answer and the reference, with formulas in place of words if only one side uses words.

    `(1,3)` for the answer `between 1 and 3` to `1<x<3`, and `AB=5` for `BA=5`, whose letters are exchanged.

    Args:
        text: the answer.
        truth: the reference.
    """
    if "'" in text + truth or "prime" in text + truth:
        text, truth = _angle_in_signs(text), _angle_in_signs(truth)
    kind = _KIND_OF_SET.fullmatch(unset(truth)) if "=" in truth else None
    if kind is not None:
        truth, own = kind["of"].strip(), _KIND_OF_SET.fullmatch(unset(text))
        text = own["of"].strip() if own is not None and own["kind"].lower() == kind["kind"].lower() else text
        if (solved := _SOLVED.fullmatch(truth)) is not None and _SOLVED.fullmatch(text) is None:
            # the equation of a line is written so that it is not read as the value of x: `x-1=0`
            truth = f"{solved['name']}-({solved['value']})=0"
    if _CONSTANT.fullmatch(truth) is not None and _IS_CONSTANT.fullmatch(unset(text)) is not None:
        return truth, truth
    if "\\equiv" in text and "mod" not in text and (called := _CALLED_OF.search(truth)) is not None:
        text = re.sub(rf"(?<![a-zA-Z\\]){called['name']}\s*\\equiv(?![a-z])", f"{called[0]}=", text)
    if "=" in truth and (names := _LENGTH_NAMED.findall(text)):
        for one, other in (name for name in names if name[0] != name[1]):
            # a segment's length has the name of its ends in either order
            if f"{one}{other}" not in truth and f"{other}{one}" in truth:
                text = re.sub(rf"(?<![A-Za-z]){one}{other}(?![A-Za-z])", f"{other}{one}", text)
    between = _BETWEEN.fullmatch(plain(text)) if _BOUNDED.search(truth) is not None else None
    if between is not None and (between["all"] or not _CLOSED_END.search(truth)):
        low, high = between["low"] or between["from"], between["high"] or between["to"]
        text = f"[{low},{high}]" if between["all"] else f"({low},{high})"
    return text, truth


_CALLED_OF = re.compile(r"(?P<name>[a-zA-Z])\([a-z]\)(?=\s*=)")
_LENGTH_NAMED = re.compile(r"(?<![A-Za-z\\{])([A-Z])([A-Z])(?=\s*=\s*(?:-?\d|\\sqrt|\\[dt]?frac))")
_END = r"-?(?:\d+(?:\.\d+)?(?:/\d+)?|\\[dt]?frac \d+ {1,2}\d+|\\sqrt \d+|\\pi)"
_BETWEEN = re.compile(
    rf"(?:strictly |exclusively )?(?:between|zwischen|entre|tra|fra|между|mellan|tussen|między)\s+(?P<low>{_END})"
    rf"\s+(?:and|und|et|y|e|и|og|och|en|i)\s+(?P<high>{_END}),?(?: exclusive)?(?P<all>,? ?\(?inclusive\)?)?"
    rf"|在?\s*(?P<from>{_END})\s*[和与到]\s*(?P<to>{_END})\s*之间"
)
_BOUNDED = re.compile(r"\A\[|\]\Z|[<≤]|\\l[et]")
_CLOSED_END = re.compile(r"\\[lg]eq?(?:slant)?(?![a-z])|[≤≥\[\]]")


def _angle_in_signs(text: str) -> str:
    r"""Degrees, minutes and seconds with their symbols in place of words: `69^\circ 25'` for `69 degrees 25 minutes`.

    The words may be of any language that `units.py` knows. Any other text as it is.
    """
    found = _ANGLE.fullmatch(unset(text)) if len(text) <= LONGEST_FORM else None
    if found is None or unit_named(found["minutes"]) not in _MINUTES:
        return text
    if found["degrees"][:1].isalpha() and not is_degree(found["degrees"]):
        return text
    if found["seconds"] and unit_named(found["seconds"]) not in _SECONDS:
        return text
    seconds = f" {found['s']}''" if found["seconds"] else ""
    return f"{found['d']}^\\circ {found['m']}'{seconds}"


_MINUTES, _SECONDS = ("minute", "minutes", "min"), ("second", "seconds", "sec", "s")
_AND = r"(?:,|\s(?:and|und|et|y|e|и|och|og|en|i|ve)(?=\s))?"
_ANGLE = re.compile(
    rf"(?P<d>\d{{1,4}})\s*(?P<degrees>°|\^?\s?\\circ|[^\W\d_]+){_AND}\s*(?P<m>\d{{1,2}})\s*(?P<minutes>[^\W\d_]+)"
    rf"(?:{_AND}\s*(?P<s>\d{{1,2}}(?:\.\d+)?)\s*(?P<seconds>[^\W\d_]+))?"
)


def residues_listed(text: str, truth: str, question: str) -> str:
    r"""The residues of a congruence as a list: `2, 7, 8, 13` for `x\equiv\pm2,\pm7\pmod{15}`.

    The text as it is if the question does not name this modulus, or if the reference names one.

    Args:
        text: the answer.
        truth: the reference.
        question: its text.
    """
    found = _CONGRUENCES.fullmatch(text) if "mod" in text and "mod" not in truth else None
    if found is None or re.search(rf"mod\w*[\s{{\\}}($]*{found['modulus']}(?!\d)", question) is None:
        return text
    rests = set[int]()
    for one in re.split(r"[,;]", re.sub(r"\\[{} ]|\s", "", found["rests"])):
        number = re.fullmatch(r"(\\pm|±|-)?(\d{1,6})", one)
        if number is None or not int(found["modulus"]):
            return text
        signs = (1, -1) if number[1] in ("\\pm", "±") else (-1 if number[1] else 1,)
        rests.update(sign * int(number[2]) % int(found["modulus"]) for sign in signs)
    return ", ".join(map(str, sorted(rests))) if len(rests) > 1 else text


_CONGRUENCES = re.compile(
    r"(?:[a-z]\s*)?(?:\\equiv|≡|=|\\in)(?![a-z])\s*(?P<rests>[^a-zA-Z()]*(?:\\pm[^a-zA-Z()]*)*)"
    r"\(?\\(?:[pb]?mod|operatorname\{mod\}|text\{\s*mod\s*\})\s*\{?\s*(?P<modulus>\d{1,4})\s*\}?\s*\)?"
)


def _in_form_of(truth: str, text: str) -> str:
    r"""The answer in the notation of its reference: `f(x)=x+1` for `x \mapsto x+1` if the reference is `f(x)=...`.

    Also products of cycles or groups, orders (`A \to B \to C`), quantifiers in words, and coordinates by number.

    Args:
        truth: the reference.
        text: the answer.
    """
    if "(" in truth and _CYCLES.fullmatch(truth) is not None:
        return re.sub(r"\s*\\circ(?![a-z])\s*", "", re.sub(r"\A\s*\\?[a-zA-Z]+\s*=", "", text))
    if "C" in text and "mathbb" in truth and _CYCLIC_GROUPS.fullmatch(truth) is not None:
        return re.sub(r"(?<![a-zA-Z\\])C_(\{?\d+\}?)", r"\\mathbb{Z}_\1", text)
    if "\\exists" in truth or "\\forall" in truth:
        for sign, said in _QUANTIFIERS.items():
            text = said.sub(sign.replace("\\", r"\\"), text)
        return text
    if _NOTHING.fullmatch(truth) is not None and _NO_CHANGE.fullmatch(text) is not None:
        return truth
    function = _FUNCTION_OF.match(truth) if "mapsto" in text else None
    maps = None if function is None else _MAPS.fullmatch(text)
    is_same = maps is not None and (maps["name"] or function["name"][:1]) == function["name"][:1] if function else False
    if function is not None and maps is not None and is_same and maps["letter"] == function["letter"]:
        return f"{function['name']}={maps['value']}"
    if "_" in text and text.count("=") == truth.count("=") == 1 and {"x", "y"} <= {*_AXIS.findall(truth)}:
        named = _BY_INDEX.sub(lambda one: "xyz"[int(one[1]) - 1], text)
        return text if "_" in named + truth or _AXIS.search(text) is not None else named
    if (names := _ORDERED.fullmatch(truth)) is not None and (steps := _STEPS.findall(text)):
        is_order = len({*steps}) == 1 and len(steps) == names[0].count(",")
        return _STEPS.sub(", ", text) if is_order else text
    return text


# Coordinates by their number, and by their letter: `4x_1-3x_2=14` for `4x-3y=14`
_BY_INDEX, _AXIS = re.compile(r"(?<![a-zA-Z\\])x_\{?([123])(?!\d)\}?"), re.compile(r"(?<![a-zA-Z\\])[xyz](?![a-zA-Z_])")
_NOTHING = re.compile(r"\s*0\s*\\?%\s*")
_NO_CHANGE = re.compile(
    r"\s*(?:\\text\s*\{)?\s*(?:no (?:net |overall )?change|unchanged|it (?:does not|did not) change"
    r"|keine (?:ver)?änderung|unverändert|aucun changement|sin cambios?|nessuna variazione|без изменений|不变|没有变化"
    r"|無變化|変化なし)\s*\}?\s*",
    re.IGNORECASE,
)
_ORDERED = re.compile(r"[^\W\d_]{2,20}(?:,\s*[^\W\d_]{2,20}){2,9}")
_STEPS = re.compile(r"\s*(?:\\(?:(?:long)?rightarrow|to)(?![a-z])|→)\s*")
# Words for a quantifier, which are replaced by its symbol if the reference has a quantifier
_QUANTIFIERS = {
    "\\exists ": re.compile(r"\\text\s*\{\s*(?:存在(?:一个|实数)?|there (?:exists|is) (?:an? |some )?(?:real )?)\s*\}"),
    "\\forall ": re.compile(r"\\text\s*\{\s*(?:对?(?:于)?任意的?|对所有的?|for (?:all|every|each|any) )\s*\}"),
    ", ": re.compile(r"[,，]?\\text\s*\{\s*+(?:[,，]\s*+)?(?:使得?|都有|均有|满足|有|such that|with|we have)\s*\}"),
}
_FUNCTION_OF = re.compile(r"\s*(?P<name>[a-zA-Z](?:\^\{?-1\}?)?\s*\((?P<letter>[a-z])\))\s*=")


_SPACE = r"(?:\s|\\[ ,;:!]|\\q?quad)*"
_BY_COORDINATES = re.compile(
    rf"{_SPACE}x{_SPACE}={_SPACE}(?P<x>[^=,;]+?){_SPACE}[,;]{_SPACE}y{_SPACE}={_SPACE}(?P<y>[^=,;]+?)"
    rf"(?:{_SPACE}[,;]{_SPACE}z{_SPACE}={_SPACE}(?P<z>[^=,;]+?))?"
    rf"(?:{_SPACE}[,;]{_SPACE}\(?{_SPACE}(?:[a-z]|\\[a-z]+){_SPACE}\\in{_SPACE}\\math[a-z]+{_SPACE}\{{?R\}}?\)?)?{_SPACE}"
)
_BY_NAMES = re.compile(
    rf"{_SPACE}\({_SPACE}x{_SPACE},{_SPACE}y(?:{_SPACE},{_SPACE}z)?{_SPACE}\){_SPACE}={_SPACE}(?=\()"
)
_PARAMETER = re.compile(r"(?<![a-zA-Z\\])[a-w](?![a-zA-Z])|\\(?:lambda|mu|alpha|beta|theta|tau)(?![a-z])")
# A point or a line by its points
_POINT = re.compile(rf"{_SPACE}(?:\(|\\langle|\\left|x{_SPACE}=|\\(?:vec|mathbf|boldsymbol)\s*\{{?\s*r)")


def _point(text: str) -> str:
    """The point `(1+t, 2-t)` of `x=1+t, y=2-t` or `(x,y)=(1+t, 2-t)`; empty for other texts, or without a parameter."""
    if len(text) > LONGEST_FORM or _PARAMETER.search(text) is None:
        return ""
    if (named := _BY_NAMES.match(text)) is not None:
        return text[named.end() :]
    found = _BY_COORDINATES.fullmatch(text)
    return "" if found is None else f"({', '.join(filter(None, found.group('x', 'y', 'z')))})"


_ASYMPTOTE = r"(?:as[iíy]m?ptot\w*|as{1,2}[ií]nt?ota\w*|асимптот\w*|[渐漸]近[线線]|점근선|tiệm cận|asimptot\w*)"
_OF_ASYMPTOTES = re.compile(_ASYMPTOTE, re.IGNORECASE)
# Words for each kind of asymptote, and the form of a line of that kind
_LINES_BY_KIND = {
    r"verti[ck]a\w*|senkrecht\w*|lotrecht\w*|вертикальн\w*|垂直|[铅鉛][直垂]|竖直|수직|pionow\w*|düşey|lodrät|đứng"
    r"|v\.?a\.?|a\.?v\.?": r"x\s*=[^,;，；x(（]*",
    r"hori[sz]ont\w*|orizzontal\w*|waage?recht\w*|горизонтальн\w*|水平|수평|poziom\w*|yatay|vågrät|ngang|h\.?a\.?"
    r"|a\.?h\.?": r"y\s*=[^,;，；x(（]*(?=[,;，；(（]|$)",
    r"obli[cq]u\w*|slant|schief\w*|schräg\w*|наклонн\w*|斜|사|ukośn\w*|eğik|sned|xiên"
    r"|o\.?a\.?|s\.?a\.?": r"y\s*=[^,;，；(（]*x[^,;，；(（]*",
}
_ARTICLE = r"(?<!\w)(?:(?:the|la|l['’]|une?|die|eine|der)\s*)?"
# The kind of each line before it, and behind it
_KINDS_OF_LINES = tuple(
    tuple(re.compile(one, re.IGNORECASE) for one in (rf"{kind}[:：]?\s*(?={line})", rf"({line})[(（]?\s*{kind}[)）]?"))
    for said, line in _LINES_BY_KIND.items()
    for kind in (rf"{_ARTICLE}(?:{_ASYMPTOTE}\s*)?(?:{said})\s*{_ASYMPTOTE}?\s*(?![a-wz])",)
)


def lines_of_kinds(text: str, asked: Question) -> str:
    """Asymptotes without the words for their kinds, if each word fits its line: `x=3` for `\\text{vertical: } x=3`.

    The text as it is if the question is not about asymptotes.
    """
    if "=" not in text or len(text) > LONGEST_FORM or _OF_ASYMPTOTES.search(asked.text) is None:
        return text
    said = whole = unset(text)
    for before, behind in _KINDS_OF_LINES:
        said = before.sub("", behind.sub(r"\1", said))
    return said if said != whole else text


def _weekday(found: re.Match[str]) -> str:
    """A Chinese weekday in one spelling: `星期一` for `周一`."""
    return f"星期{'日' if found[1] == '天' else found[1]}"


def _values_listed(text: str) -> str:
    """A formula with a few values for its letter as the list of its values: `2(0), 2(1)` for `2k, k=0,1`."""
    found = _FINITE.fullmatch(text) if len(text) < LONGEST_FORM and "\\mid" not in text else None
    if found is None:
        return text
    of = found["of"].rpartition("=")[2]
    letter = re.compile(rf"(?<![a-zA-Z\\]){found['letter']}(?![a-zA-Z])|(?<=i){found['letter']}(?![a-zA-Z])")
    values = re.findall(r"\d+", found["values"])
    return ", ".join(letter.sub(f"({value})", of) for value in values)


# Punctuation and commands at which words behind a value may begin, and a letter that they may be about
_BEGINS = re.compile(r"[,，;；(（]|\\text\s*\{|\\q?quad(?![a-z])|\\ |(?<=\$)\s")
_LETTER_BEHIND = re.compile(r"(?<![a-zA-Z\\])[jklmn](?![a-zA-Z])")
_RUNS = re.compile(
    rf"(?:(?:{WHERE}|f[oöü]r|pour|para|per|при|voor|dla|pro|untuk)\s*)?(?P<letter>[jklmn])\s*(?:(?:\\in(?![a-z])|∈)"
    rf"\s*(?:\\mathbb)?\s*\{{?[Zℤ]\}}?(?: olmak üzere)?"
    rf"|{IS_INTEGER.pattern})",
    re.IGNORECASE,
)


def _through_whole_numbers(text: str) -> str:
    r"""A formula with `k\in\mathbb{Z}` in place of words: `k\pi,\ k\in\mathbb{Z}` for `k\pi\ (k\text{ heltal})`."""
    begin = max(len(text) - LONGEST_OPTION, 1)
    if _LETTER_BEHIND.search(text, begin) is None:
        return text
    for at in (found.start() for found in _BEGINS.finditer(text, begin)):
        said = _RUNS.fullmatch(unset(text[at:]).strip(" ,，;；.()（）"))
        if said is not None and re.search(rf"(?<![a-zA-Z\\]){said['letter']}(?![a-zA-Z])", text[:at]) is not None:
            return rf"{text[:at].rstrip()},\ {said['letter']}\in\mathbb{{Z}}"
    return text


_WIND = r"(?:north|south|east|west|(?<![a-zA-Z])[NSEW](?![a-zA-Z]))"
_DIRECTED = re.compile(
    r"(?:[A-Za-z]\s*=\s*)?(?P<number>-?\d[\d.]*|\\[dt]?frac\s*(?:\{\d+\}|\d)\s*(?:\{\d+\}|\d))(?:\\?\s)*"
    r"(?P<unit>[a-zA-Z][a-zA-Z/^\d{}* -]{0,12}?)[\s,(]*"
    r"(?:\b(?:(?:acting|directed|pointing)(?: to)?|at(?: an angle of)?|in the direction(?: of)?"
    r"|to the|in the)\b[\s,]*)?"
    rf"(?:(?P<angle>\d[\d.]*)\s*(?:\^\s*\{{?\s*\\circ\s*\}}?|°|\\degree)\s*(?P<from>{_WIND})\s+of\s+(?P<to>{_WIND})"
    rf"|(?P<side>left|right|up|down|{_WIND}|(?:(?:counter|anti)-?)?clockwise|(?:into|out of)(?= the page)|in(?=ward)"
    r"|out(?=ward))(?:wards?)?(?: the page)?(?: direction)?)\s*\)?"
)


def directed(pair: Pair) -> Outcome:
    r"""Compare amounts that have a direction: `5\text{ N at }53.1^\circ\text{ N of E}`, `3 m/s west`."""
    mine, theirs = (_DIRECTED.fullmatch(unset(one)) for one in (pair.truth, pair.answer))
    if mine is None or theirs is None or (mine["angle"] is None) != (theirs["angle"] is None):
        return UNKNOWN
    if any(_side(mine[one]) != _side(theirs[one]) for one in ("from", "to", "side")):
        return DIFFERENT
    sides = [[f"{m['number']}\\text{{ {m['unit'].strip()}}}", m["angle"] or "0"] for m in (mine, theirs)]
    return alike(pair, *sides)


def _side(said: str | None) -> str:
    """A direction in one spelling: `N` for `north`, `counterclockwise` for `anti-clockwise`."""
    side = (said or "").lower().replace("anti", "counter").replace("-", "")
    return side[:1].upper() if re.fullmatch("north|south|east|west|[nsew]", side) else side


# Currencies whose thousands may be separated by points, `100.000`: each row has the spellings of one
_CURRENCIES = {
    written: row.split()[0]
    for row in (
        "rp rp. idr rupiah",
        "₫ đ đồng dong vnd vnđ",
        "€ euro euros eur",
        "r$ reais real brl",
        "₺ tl lira",
        "zł pln złotych złote złoty",
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


def money(pair: Pair) -> Outcome:
    """Compare amounts of money with points or spaces between thousands: `100.000 rupiah` and `Rp100.000,00`."""
    is_set_off = "." in pair.truth or _SPACED_THOUSANDS.search(pair.truth) is not None
    if not (is_set_off or pair.truth[-1:].isalpha()):
        return UNKNOWN
    mine, theirs = (_amount_of(one) for one in (pair.truth, pair.answer))
    if not (is_set_off or (mine and theirs and mine[1] == theirs[1])):
        return UNKNOWN
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
    """The digits of an amount of money, with its cents, and its currency: ("100000", "rp") for `Rp100.000,00`.

    The currency is empty if none is written. None if the text is not such an amount.
    """
    match = _AMOUNT.fullmatch(
        unset(text.replace("\\$", "＄")).replace("＄", "$").lower().replace("{.}", ".").replace("r\\$", "r$")
    )
    if match is None or (match["before"] and match["behind"]):
        return None
    cents = (match["cents"] or "").strip("-0")
    digits = re.sub(r"\D", "", match["amount"]) + (f".{match['cents']}" if cents else "")
    return digits, _CURRENCIES.get(match["before"] or match["behind"] or "", "")


_BEARING = re.compile(r"([NSEW])(\d+(?:\.\d+)?)([NSEW])")


def bearings(pair: Pair) -> Outcome:
    r"""Compare bearings, in which the order of the letters counts: `E30^\circ N` is not `N30^\circ E`."""
    mine, theirs = (
        _BEARING.fullmatch(re.sub(r"\^?\\circ|\\degree|[°^]", "", SET_TYPE.sub("", side)))
        for side in (pair.ref.text, pair.answer)
    )
    if mine is None or theirs is None:
        return UNKNOWN
    return EQUAL if mine.groups() == theirs.groups() else DIFFERENT


def times(pair: Pair) -> Outcome:
    """Compare times of day: `3:30 p.m.` and `15:30`.

    A reference without a.m. or p.m. may be answered with one of the two if it fits the question's times.
    """
    if not all(_CLOCK.search(SET_TYPE.sub("", side)) for side in (pair.ref.text, pair.answer)):
        return UNKNOWN
    truth, stated = time_of_day(pair.ref.text), time_of_day(pair.answer)
    if truth is not None and stated is None and (late := without_next_day(pair.answer)) != pair.answer:
        stated = time_of_day(late)
        starts = _times_of(pair.question) if pair.question is not None else []
        if pair.question is not None and not starts:
            written = (":".join(one) for one in _OF_CLOCK.findall(pair.question.text))
            starts = [one for one in map(time_of_day, written) if one is not None]
        if stated is None or not starts or any(start[0] <= stated[0] for start in starts):
            return UNKNOWN
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


# Words behind a time that is on the day after the question's times
_SAYS_NEXT_DAY = (
    r"[(（,，]?\s*(?:on )?(?:(?:the )?(?:next|following) (?:day|morning)|am nächsten (?:tag|morgen)"
    r"|le lendemain(?: matin)?|del día siguiente|del giorno (?:dopo|successivo)|do dia seguinte|次の日|翌日|第二天|次日"
    r"|следующего дня|на следующий день|ertesi gün|ngày hôm sau|nästa dag|następnego dnia|de volgende dag|다음 ?날)"
    r"\s*[)）]?"
)
_NEXT_DAY = re.compile(rf"\s*{_SAYS_NEXT_DAY}\s*\.?(?:\Z|(?=\s\d))", re.IGNORECASE)
# Behind the box of a time
NEXT_DAY_BEHIND = re.compile(rf"(?P<close>[\s$)\]\\*]*+){_SAYS_NEXT_DAY}(?=\s*[.。]?\s*\Z)", re.IGNORECASE)


def without_next_day(text: str) -> str:
    """A time without words for the next day: `7:00` for `7:00 the next day`; any other text as it is."""
    late = _NEXT_DAY.search(unset(text))
    return text if late is None else f"{late.string[: late.start()]}{late.string[late.end() :]}"


_OF_CLOCK = re.compile(r"(?<![\d.,])(\d{1,2})[.:h](\d{2})(?![\d.,]*\d)")


def _times_of(question: Question) -> list[tuple[int, bool]]:
    """The times in a question that have a half of the day, as seconds and True: 55800 for 3:30 p.m."""
    return [found for found in map(time_of_day, _TIME.findall(question.text)) if found is not None and found[1]]


def _fits(question: Question, stated: int) -> bool:
    """Whether an answer's half of the day fits the question's times.

    True if the answer is at most twelve hours after a time in the question, as 4 p.m. is after 3:30 p.m. A question for
    an earlier time needs an answer at most twelve hours before it. True also if the question has no times.

    Args:
        question: has the times.
        stated: the answer's time, in seconds.
    """
    times = _times_of(question)
    if not times:
        return True
    sign = -1 if _EARLIER.search(_asking(question)) else 1
    return any(sign * (stated - known) % (2 * _HALF_DAY) <= _HALF_DAY for known, _ in times)


def _asking(question: Question) -> str:
    """The clause of a question that asks, else its last sentence: `When does he arrive?`"""
    return asking_clause(question.text)[0] or re.split(r"[.!。！]\s*(?=\S)", question.text)[-1]


def _says_half(question: Question | None) -> bool:
    """Whether the question has a word for a half of the day: `3:30 p.m.`, `in the morning`."""
    return question is not None and _HALF.search(question.text) is not None


def weekdays(pair: Pair) -> Outcome:
    """Compare days of the week in any language and case: `am Donnerstag`, `в четверг`, `torstaina`."""
    if len(pair.ref.text) > LONGEST_OPTION or len(pair.answer) > LONGEST_OPTION:
        return UNKNOWN
    truth = _weekday_of(pair.ref.text)
    stated = set() if not truth else _weekday_of(pair.answer)
    return UNKNOWN if not (truth and stated) else EQUAL if truth == stated else DIFFERENT


def _weekday_of(text: str) -> set[int]:
    """The position in the week of the day that a text names, from 0 for Monday: 3 for `am Donnerstag`.

    Empty if the text says anything else.
    """
    words = unset(text).lower().replace("\u200c", "").removeprefix("วัน").rstrip(" .。").split()
    said = " ".join(word for word in words if word not in _BESIDE_WEEKDAY).removesuffix("입니다")
    return {at for at, names in enumerate(_WEEKDAYS) if names.fullmatch(said) is not None}


# Words before the day of a month: `on 5 May`
_ON_DATE = re.compile(
    r"\A(?:on|the|le|el|il|am|der|den|em|w|dnia|op|på|την|στις) (?=\d{1,2}\.? (?:de )?[^\W\d_]{3,}\Z)", re.IGNORECASE
)


def days(pair: Pair) -> Outcome:
    """Compare dates: `5 May 2020` and `May 5`. If only one side has a year, the question must have it, too."""
    if (said := unset(pair.answer)) != (dated := _ON_DATE.sub("", said)) and dated == unset(pair.ref.text):
        return EQUAL
    truth = day(pair.ref.text) if pair.ref.text.rstrip("}")[-1:].isalnum() else None
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


def digits(pair: Pair) -> Outcome:
    r"""Compare numbers that have letters as digits: `FF_{16}`, `\text{ff}`, `0xFF`."""
    truth = _BASED.fullmatch(pair.ref.text)
    if truth is None or truth["digits"].isdigit():
        return UNKNOWN
    said = "".join(WRITING.sub("", respelled(pair.answer)).split())
    stated = _BASED.fullmatch(re.sub(r"\A\(([0-9A-Fa-f]+)\)(?=_)", r"\1", said))
    if stated is None:
        return UNKNOWN
    base, own = "16" if stated["hex"] else stated["base"], "16" if truth["hex"] else truth["base"]
    asked = "" if pair.question is None else pair.question.text
    # capital letters alone may name a side of a figure, and its base may have a length
    letters = truth["digits"].isalpha() and set(truth["digits"]) <= set(_CAPITALS.findall(asked))
    if own is None:
        # a reference without a base is in the base that the question names
        named = {found["base"] or "16" for found in _IN_BASE.finditer(asked) if not (found["base"] and letters)}
        if not named and (base is None or base not in asked):
            return UNKNOWN
        own = base if base in named or not named else named.pop()
        if any(int(digit, 36) >= int(own or "16") for digit in truth["digits"]):
            # a word, not a number of that base
            return UNKNOWN
    # a name with an index, `x_{12}`, has a small letter
    digits = truth["digits"] if truth["base"] else truth["digits"].upper()
    same = stated["digits"].upper() == digits
    return EQUAL if same and base in (None, own) else DIFFERENT


# Numbers or letters between which `-` and `:` are not arithmetic: a score, a range, a date, a scale, a route
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


def remainders(pair: Pair) -> Outcome:
    """Compare quotients with a remainder, number by number: `17 R 3` and `17 remainder 3`, but not `3 R 17`."""
    mine, theirs = (
        _REMAINDER.fullmatch("".join(WRITING.sub("", side).split())) for side in (pair.ref.text, pair.answer)
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


_LISTED_FIGURES = re.compile(r"[-\d./, ]*|\\\{[-\d./, ]*\\\}")


def whole_numbers(pair: Pair) -> Outcome:
    r"""Compare sets of whole numbers, in words or formulas: `\text{all odd integers}` and `2k+1, k \in \mathbb{Z}`."""
    truth = None if _LISTED_FIGURES.fullmatch(pair.truth) else whole_numbers_of(pair.truth)
    stated = None if truth is None else whole_numbers_of(pair.answer)
    asked = pair.question.text if pair.question is not None else ""
    if truth is None or stated is None or truth.told == "values":
        return UNKNOWN
    if "bounds" in (truth.told, stated.told) and _OF_INTEGERS.search(asked) is None:
        return UNKNOWN
    if _COUNTS_ZERO.search(asked) is not None:
        truth, stated = (one._replace(doubtful=frozenset()) for one in (truth, stated))
    elif _OF_POSITIVE.search(asked) is not None:
        truth, stated = truth.positive(), stated.positive()
    if truth.letter and stated.letter and truth.letter != stated.letter:
        return DIFFERENT
    # equal if 0 is a natural number, or if it is not
    if truth.members == stated.members or truth.members - truth.doubtful == stated.members - stated.doubtful:
        return EQUAL
    return UNKNOWN if stated.told == "values" else DIFFERENT


_COUNTS_ZERO = re.compile(r"0\s*\\in\s*\\mathbb\s*\{?N|N\}?\s*_\{?0")
_OF_INTEGERS = re.compile(
    r"\bintegers?\b|\bnatural numbers?|\\mathbb\s*\{?[ZN]|ganze[nr]? Zahl|entiers?\b|enteros?\b"
    r"|inter[io]\b|inteiros?\b|цел\w+|整数|自然数|정수"
)


def records(pair: Pair) -> Outcome:
    """Compare scores, ranges and routes part by part: `4:2` is a score, `10-15` a range, `A-B-C` a route.

    Arithmetic in a reference is worked out and in lowest terms. So these are not arithmetic, and the order counts.
    """
    truth = "".join(WRITING.sub("", pair.ref.text).split())
    if _RECORD.fullmatch(truth) is None:
        return UNKNOWN
    mine = re.split("[-–:]", truth)
    if ":" in truth and (
        math.gcd(*map(int, mine)) == 1 or pair.question is None or _OF_RATIOS.search(pair.question.text) is not None
    ):
        return UNKNOWN
    said = "".join(WRITING.sub("", pair.answer).split())
    return EQUAL if _JOINED.sub("-", said).split("-") == mine else DIFFERENT


_CIRCLED = re.compile(r"[\u2460-\u2473](?:[,，、和\s]*[\u2460-\u2473])*")
SET_TYPE = re.compile(r"\\(?:text|mathrm|textrm|mbox|ce|operatorname)(?![a-zA-Z])|[{}$~\s]|\\[ ,;:!]")
_OF_CYCLES = re.compile("cycle|permutation|zykl|cicl|цикл|подстанов|перестанов|轮换|置换|循環|순환", re.IGNORECASE)


def permutations(pair: Pair) -> Outcome:
    """Compare permutations in cycle notation, `(3 1 2)` and `(1 2 3)`, and choices in circles, `③②` and `②③`."""
    speaks = pair.question is not None and pair.question.has(_OF_CYCLES)
    mine = cycles(pair.ref.text, in_short=speaks)
    theirs = None if mine is None else cycles(pair.answer, in_short=speaks)
    if mine is not None:
        return EQUAL if mine == theirs else DIFFERENT
    if _CIRCLED.fullmatch(pair.ref.text) and (said := "".join(WRITING.sub(" ", pair.answer).split())):
        numbers, found = (re.findall(r"[\u2460-\u2473]", side) for side in (pair.ref.text, said))
        said = re.sub(r"(?:<|\\lt|→|\\to|->)(?![a-z])", ",", said)
        # a choice of several is written from the first to the last
        in_order = numbers != sorted(numbers) or (pair.question is not None and pair.question.asks_order)
        same = found == numbers if in_order else set(found) == set(numbers)
        return EQUAL if same and _CIRCLED.fullmatch(said) else DIFFERENT
    return UNKNOWN
