r"""The symbol or name that an answer gives its value: `V(X)` in `V(X)=3`, `\gcd(4,6)` in `\gcd(4,6)=2`.

It is dropped if the question asks for that thing. The answer is refused if the symbol means something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import accumulate, pairwise, takewhile
from math import comb, factorial
from typing import NamedTuple

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import asking_clause
from agentscope_tuner.verify.math.exact import value_at
from agentscope_tuner.verify.math.node import Collection, Connective
from agentscope_tuner.verify.math.parse import parse_tokens
from agentscope_tuner.verify.math.question import EXTREMES, Question
from agentscope_tuner.verify.math.readings import Side
from agentscope_tuner.verify.math.tokens import TooComplex, Unreadable, respelled, tokenize
from agentscope_tuner.verify.math.units import measure, unit_named
from agentscope_tuner.verify.number_words import in_chinese_figures, number_in_words, numbers_said
from agentscope_tuner.verify.words import denies

LISTS = re.compile("[=,;<>]")
LETTERS = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z](?![a-zA-Z])")


def _left_side(tokens: Sequence[str]) -> list[str]:
    """The tokens before the first equals sign outside of brackets: those of `f(x=1)` for `f(x=1)=3`."""
    depths = accumulate((t in ("(", "[")) - (t in (")", "]")) for t in tokens)
    return [t for t, _ in takewhile(lambda one: one != ("=", 0), zip(tokens, depths, strict=True))]


def _is_another_name(text: str, ref: Side, asked: Question) -> bool:
    """Whether an answer begins with a name that is not asked for: `y=3` if `x` is asked for.

    A formula with the same value, without letters on the right side, is no such name: `3!=6`.
    """
    with suppress(Unreadable):
        name = _left_side([t.text for t in tokenize(text)])
        # `x_1=2, x_2=1` for `1 and 2`
        is_list = LISTS.search(ref.text) is not None or isinstance(ref.node, (Collection, Connective))
        if is_list or not asked.asks_another(name):
            return asked.tells_apart(name) and not asked.tells_apart(_left_side(ref.tokens))
        said, _, value = respelled(text).partition("=")
        return not (LETTERS.search(value) and same_value(said, value))
    return False


def _is_given_another(name: str, value: str, asked: Question) -> bool:
    r"""Whether the question uses the answer's name for something with a different value.

    `A=\{1,2\}` is refused if the question has `A=\{1,3\}`. So are `AB` as the name of its midpoint, and `K_{n+1}` as
    the name of the amount after `n` years.

    Args:
        name: the text before the equals sign of the answer, without braces.
        value: the text behind it.
        asked: the question.
    """
    if (index := _OTHER_INDEX.fullmatch(name)) is not None:
        recurs = f"{name[0]}_" in value or asked.has(_OF_NEXT)
        is_new = index["index"] not in re.sub(r"[\s{}]", "", asked.text)
        return index["letter"] in asked.letters and is_new and not recurs
    if re.fullmatch("[A-Z]{2}", name) is not None and _POINT_VALUE.fullmatch(value) is not None:
        return all(f"{end}(" in asked.text for end in name) and asked.has(_OF_MIDPOINT)
    if "matrix" in value and not asked.has(_OF_INVERSE):
        return False
    if _GIVEN_NAME.fullmatch(name) is None or name not in asked.text:
        return False
    plain, own = (re.sub(r"\\left|\\right|\\[ ,;:!]|[$]", "", one).strip() for one in (asked.text, value))
    given = re.search(rf"(?<![a-zA-Z_\\|]){re.escape(name)}\s*=\s*({_FIGURES_OR_SET})(?!\s*[\d^+*/=(|\\-])", plain)
    if given is None or re.fullmatch(_FIGURES_OR_SET, own) is None:
        return False
    elements = ({*re.split(r"[,\\{}\s]+", one)} for one in (given[1], own))
    return next(elements) != next(elements)


_OTHER_INDEX = re.compile(r"[a-zA-Z]_\(?(?P<index>(?P<letter>[a-z])[+-]\d+)\)?")
_POINT_VALUE = re.compile(r"\s*(?:\\left)?\([^()]*,[^()]*\)\s*")
_OF_MIDPOINT = re.compile(
    r"midpoint|mid-point|mittelpunkt|milieu|punto medio|ponto médio|середин|中点|中點|중점|منتصف|trung điểm",
    re.IGNORECASE,
)
_OF_INVERSE = re.compile("invers|inverz|обратн|逆|역행렬|nghịch đảo|odwrotn|معكوس", re.IGNORECASE)
_OF_NEXT = re.compile(
    r"next|following|recur|iterat|nächst|suivant|siguiente|próxim|successiv|следующ|下一|递推|漸化|다음", re.IGNORECASE
)
_GIVEN_NAME = re.compile(r"[A-Z]|\|[A-Z]\||[a-z]\(-?\d+\)")
_ELEMENT = r"\s*(?:-?\d+|[a-z]|\\\{[^{}]*\\\}|\\(?:emptyset|varnothing))\s*"
_FIGURES_OR_SET = (
    rf"-?\d+|\\\{{(?:{_ELEMENT}(?:,{_ELEMENT})*)?\\\}}"
    r"|\\begin\{[a-zA-Z]*matrix\}[^a-zA-Z]*?\\end\{[a-zA-Z]*matrix\}"
)


def _is_asked_set(name: str, asked: Question) -> bool | None:
    r"""Whether a name means the set, vector or gradient that the question asks for in words; None for other names.

    True for `A\cup B` if the question asks for the union of A and B, and False for `A\cap B`.
    """
    plain = re.sub(r"\s", "", _SET_VECTOR.sub("", name))
    if (power := re.fullmatch(r"P\(([A-Z])\)", plain)) is not None and _POWER_SET.search(asked.text) is not None:
        return re.search(rf"(?<![a-zA-Z_\\]){power[1]}(?![a-zA-Z_])", asked.text) is not None
    if (steep := _GRADIENT.fullmatch(plain)) is not None and _OF_GRADIENTS.search(asked.text) is not None:
        given = re.sub(r"\\left|\\right|\\[ ,;:!]|\s", "", asked.text)
        points = [one for one in re.findall(r"\([^()]*,[^()]*\)", given) if any(map(str.isdigit, one))]
        is_there = not points or steep["at"] in points or re.search(r"\d", steep["at"] or "") is None
        return is_there and re.search(rf"(?<![a-zA-Z\\]){steep['of']}(?![a-zA-Z])", asked.text) is not None
    found = _OF_SETS.fullmatch(_COMPLEMENT.sub(r"\1\2∁\1\2", _PROJECTED.sub(r"\2→\1", plain)))
    if found is None or plain in re.sub(r"\s", "", asked.text):
        return None
    told = next((kind for kind, said in _SETS_IN_WORDS.items() if said.search(asked.text)), None)
    if told is None or (told not in _OF_VECTORS and found["one"].islower()):
        return None
    places = [re.search(rf"(?<![a-zA-Z_\\]){found[one]}(?![a-zA-Z_])", asked.text) for one in ("one", "other")]
    if told not in _OF_VECTORS or told == "dot":
        return None not in places and found[told] is not None
    # the order of the operands counts in a cross product and a projection
    first, second = (one.start() if one is not None else -1 for one in places)
    return found["product" if told == "cross" else "onto"] is not None and -1 < first < second


# `\\nabla f(1,2)`, the gradient
_GRADIENT = re.compile(r"\\?(?:nabla|grad)\(?(?P<of>[a-zA-Z])\)?(?P<at>\([^()]*\))?")
_OF_GRADIENTS = re.compile(r"\\nabla|gradi|\bgrad\b|град[иі]|梯度|勾配|기울기|κλίση|∇", re.IGNORECASE)
# `\\operatorname{pr}_b a`, and a complement: `A^c`, `\\complement_U A`
_PROJECTED = re.compile(r"^\\?(?:[Pp]r|[Pp]roj|пр)_([a-zA-Z])\(?([a-zA-Z])\)?$")
_COMPLEMENT = re.compile(
    r"^(?:([A-Z])(?:\^[cC]|\^\\complement|'|\^\\prime)|(?:\\complement|∁|C(?=_))(?:_?[A-Z](?=[A-Z]))?([A-Z]))$"
)
_OF_VECTORS = frozenset({"dot", "cross", "projection"})
_SET_VECTOR = re.compile(r"\\(?:vec|mathbf|boldsymbol|bm|overrightarrow)(?![a-z])")
_OF_SETS = re.compile(
    r"(?P<one>[a-zA-Z])(?:(?P<complement>∁)|(?P<onto>→)|(?P<dot>\\cdot|\\bullet|[·⋅])|(?P<union>\\cup|∪)|(?P<intersection>\\cap|∩)|(?P<symmetric>\\triangle|\\Delta|\\oplus|[△∆⊕])"
    r"|(?P<product>\\times|×)|(?P<difference>\\setminus|\\backslash|-))(?P<other>[a-zA-Z])"
)
_SETS_IN_WORDS = {
    kind: re.compile(said, re.IGNORECASE)
    for kind, said in (
        ("symmetric", r"symmetri\w+ diff|symétrique|simétrica|simmetrica|симметрич\w+ разност|对称差|対称差|대칭차"),
        ("union", r"\bunion|vereinigung|unión|unione|união|объединени|并集|和集合|합집합|birleşim|suma zbior"),
        ("intersection", r"intersection|schnittmenge|durchschnitt|intersección|intersezione|interseção|пересечени"
         "|交集|共通部分|積集合|교집합|kesişim|iloczyn zbior"),
        ("product", r"cartesian|kartesisch|cartésien|cartesian|декартов|笛卡尔|直积|直積|곱집합"),
        ("complement", "complement|komplement|complément|дополнени|доповненн|补集|補集|여집합|tümley|phần bù"),
        ("cross", r"cross|vector product|kreuzprodukt|vektorprodukt|vectoriel|vectorial|vettoriale|vetorial"
         r"|векторн\w+ (?:произ|добут)|外积|外積|叉[积乘]|向量积|외적|wektorow|vektörel|tích có hướng"),
        ("dot", r"\bdot|scalar|inner product|skalar|scalaire|escalar|скалярн|内积|內積|内積|点[积乘]|数量积|내적|skaler"
         "|tích vô hướng"),
        ("projection", "projection|projektion|proyecci|proiezion|projeç|проекц|投影|正射影|사영|rzut|izdüş|hình chiếu"),
        ("difference", r"set difference|\bdifference\b|differenzmenge|diferencia|differenza|разност|差集|차집합"),
    )
}  # fmt: skip


# The name of a property of an object of the question: `\\pi_1(S^1)\\cong`, `|\\mathbb{R}|=`, `\\operatorname{Var}(X)=`
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


_POWER_SET = re.compile(
    "power set|potenzmenge|ensemble des parties|conjunto (?:potencia|de (?:las )?partes)|insieme delle parti|幂集"
    "|冪集|べき集合|멱집합|булеан|множество всех подмножеств|zbiór potęgowy|kuvvet kümesi",
    re.IGNORECASE,
)
_SET_NAME = re.compile(r"\\(?:operatorname|mathrm|mathbb|mathbf|text|left|right)(?![a-z])\*?|[{}\s]")


class _Sign(NamedTuple):
    """One meaning of a symbol: of `V`, a variance, a volume and others.

    Attributes:
        of: a pattern of the text behind the symbol, if it has this meaning: `(X)`.
        asked: a pattern of the words by which a question asks for it.
    """

    of: re.Pattern[str]
    asked: re.Pattern[str]


_ANYTHING, _OF_SOME, _NUMBER, _EVENT, _OF_ONE = "", r"(?=[\s\S])", r"_?\d*\(\d+\)", r"[(\[]", r"[(\[]?[A-Z]"
_CALLED = r"\("
_SUBSTANCE = r"[(_][A-Z][A-Za-z0-9_^+-]*\)?"
_TABLE = (
    # symbols, the text behind them, words by which a question asks for them
    ("P Pr Prob", r"\((?!\d)", "probab|chance|likel|wahrscheinlich|概率|確率|확률|вероятн|ймовірн|olasılı"
     "|xác suất|peluang"
     "|prawdopodob|احتمال|प्रायिकता|ความน่าจะ|kans|sannolik|todennäk"),
    ("P pi chi", r"(?=[_(])",
     "chromatic polynom|chromatisch\\w* polynom|polynôme chromatique|polinomio cromático|色多项式"
     "|хроматическ\\w+ (?:многочлен|полином)"
     "|proper\\w* (?:\\w+-)?colou?r|zulässige\\w* färb|coloriages? propre|coloraci\\w+ propi|правильн\\w+ раскрас"
     "|着色|染色"),
    ("E", _EVENT, r"expect|\bmean\b|average|erwartung|espérance|esperanza|valor esperado"
     "|valore atteso|期望|均值|期待値"
     "|기댓값|ожидани|сподіван|beklenen|kỳ vọng|valoare medie"),
    ("V D Var", _EVENT, r"\bvarian|varianz|variância|方差|分散|дисперси|분산|phương sai|varyans"),
    ("SD", _EVENT, "standard deviation|标准差|標準偏差"),
    ("Cov", _EVENT, "covarian|kovarian|协方差|共分散|ковариац"),
    ("det", _ANYTHING, "d[eé]termin|行列式|행렬식|определител|визначник|wyznacznik|định thức|محدد|सारणिक"),
    ("tr Tr Spur Sp", _ANYTHING, r"\btra[cz]|\bspur\b|traço|迹|トレース|跡|след"),
    ("rank rk rang Rang rg r", r"(?:ank|)(?=[(A-Z])", r"\br[ac]ng?k?\b|rang|rank|posto|秩|階数|ранг|rząd|رتب|계수"),
    ("null nullity", _ANYTHING, r"\bnull"),
    ("dim", _ANYTHING, "dimens|维数|維數|次元|차원|размерност|wymiar|số chiều|boyut"),
    ("ker", _ANYTHING, r"\bkernel|\bkern\b|noyau|núcleo|nucleo|null ?space|核|ядр"),
    ("im range", r"(?=[\s(A-Z])", r"\bimage|\brange\b|\bbild|imagen|column space|像|образ"),
    ("gcd GCD ggT PGCD pgcd MCD mcd mdc ebob EBOB НОД NWD nwd HCF hcf UCLN ƯCLN FPB", _ANYTHING,
     r"\bgcd|\bhcf|greatest common|highest common|ggt|größte\w* gemeinsam|plus grand (?:commun )?diviseur|pgcd"
     r"|máximo com|massimo comun|\bm\.?c\.?d|\bmdc|最大公|최대공|наибольш\w* общ\w* делит|НОД|największ\w* wspóln"
     "|ortak bölen|ước chung"
     "|persekutuan terbesar"),
    ("lcm LCM kgV PPCM ppcm mcm MCM mmc ekok EKOK НОК NWW nww BCNN KPK", _ANYTHING,
     r"\blcm|least common|lowest common|smallest common|kgv|kleinste\w* gemeinsam"
     "|plus petit (?:commun )?multiple|ppcm"
     r"|mínimo (?:múltiplo )?com|minimo comun|\bm\.?c\.?m|\bmmc|最小公|최소공|наименьш\w* общ\w* крат|НОК"
     r"|najmniejsz\w* wspóln|ortak kat"
     "|bội chung|persekutuan terkecil"),
    ("ord", r"(?=[_(])", r"\border|ordnung|ordre|orden|ordem|ordine|阶|位数|порядок"),
    ("deg", r"(?=[\s(A-Z\[]|$)", "degree|grad|gradus|степен|次数"),
    ("chi", r"_?\(?(?=[A-Z])", r"chromat|colou?ring|färbung|色数|彩色|хромат|euler characteristic|欧拉示性"),
    ("alpha", r"\((?=[A-Z])", "independen|stable set|独立数|независим"),
    ("omega", r"\((?=[A-Z])", "clique|团数|клик"),
    ("Res", r"(?=[_(])", "residu|留数|留數|вычет|rezydu"),
    ("phi varphi", _NUMBER, r"totient|euler|coprime|relatively prime|teilerfremd|欧拉|互质|互素|Эйлер"
     "|взаимно прост"),
    ("tau d", _NUMBER, r"\bdivisor|\bfactors\b|teiler|diviseur|delit|dělitel|约数|因数|約数|делител|дільник|osztó"
     "|dzielnik|bölen|ước|약수|deler|delare|divizor|διαιρέτ|قاسم|قواسم|भाजक|ตัวหาร|מחלק"),
    ("sigma", _NUMBER, r"sum of (?:\w+ ){0,3}(?:divisor|factor)|teilersumme|somme des diviseurs|约数(?:之|的)?和"
     r"|сумм\w+ делител"),
    ("kappa", _CALLED, r"(?<!radius of )\bcurvature|krümmung(?!s)|(?<!rayon de )courbure"
     "|(?<!di[oi] de )(?<!di )curvatura|曲率(?!半)|(?<!радиус )кривизн|krzywizn|eğrilik|độ cong|곡률(?! ?반)"),
    ("rho", _CALLED, r"radius of curvature|krümmungsradius|rayon de courbure|ra[dg]i?[oi] d[ei] curvatura"
     "|曲率半|радиус кривизн|곡률 ?반"),
    ("Me Md Mdn", r"\s*\Z", r"m[eé]di[aá]n|медиан|中位数|中位數|中央値|중앙값|ortanca|trung vị|διάμεσο"),
    ("Mo", r"\s*\Z", r"\bmod(?:e|a|us|al|ern?a)\b|мод[ауы]\b|众数|眾數|最頻値|최빈값|tepe değer|\bmốt\b"),
    ("d dist", r"\((?=[A-Z\\])", r"distan|abstand|entfernung|расстоян|відстан|距离|距離|거리|odległoś"
     "|uzaklı|khoảng cách|avstånd"),
    ("div", _ANYTHING, "diverg|дивергенц|散度|発散|발산"),
    ("D", r"_(?:\\vec |\\hat )?[a-z]\s?[a-z](?:\([^()]*\))?\Z", "directional|方向导数|方向導數|方向微分|방향도함수"
     "|richtungsableitung|direction(?:al|nelle)|direccional|direcional|direzionale|по направлению|kierunkow"),
    ("max sup", _OF_SOME, EXTREMES["max"].pattern + "|larger|greater|higher|bigger|größere|plus grande|较大"
     "|больш|suprem|最值|极大|极值|extrem"),
    ("min inf", _OF_SOME, EXTREMES["min"].pattern + "|smaller|lower|lesser|kleinere|plus petite|较小|меньш"
     "|infim|最值|极小|极值|extrem"),
    ("m", _SUBSTANCE, r"(?<!molar )\bmass|\bweigh|\bgrams?\b|gram[mo]|masse|masa|massa|质量|質量|질량|масс|грам"
     "|克|khối lượng|kütle"),
    ("n", _SUBSTANCE, r"\bmol|amount of substance|stoffmenge|物质的量|物質量|몰|количеств|số mol|matière"),
    ("c C", _SUBSTANCE, "concentr|konzentr|molarit|浓度|濃度|농도|концентр|stężeni|nồng độ|derişim"),
    ("V", _SUBSTANCE, "volum|体积|體積|体積|부피|объ[её]м|objętoś|thể tích|hacim"),
    ("M", _SUBSTANCE, r"molar mass|molecular (?:mass|weight)|molmasse|masse molaire|masa molar"
     "|摩尔质量|分子量|モル質量"
     "|молярн"),
    ("w omega", _SUBSTANCE, "percent|mass fraction|massenanteil|fraction massique|质量分数|百分|массов"),
    ("card", r"\((?:\\(?:vec|mathbf|boldsymbol|overrightarrow) )?[a-z]\)", r"\blength|magnitude|betrag|länge"
     r"|\bnorm[ea]?\b|longitud|módulo|lunghezza|длин|модул|的模|长度|大きさ|長さ|크기|길이|độ dài|uzunlu"),
    ("n N card", _OF_ONE, r"how many|number of|cardinal|anzahl|combien|cuánt|quant|сколько|个数|個数|几个|多少"),
)  # fmt: skip


def _signs() -> Iterator[tuple[str, _Sign]]:
    """The symbols of the table, each with one of its meanings; a symbol of several meanings comes several times."""
    for signs, of, asked in _TABLE:
        for sign in signs.split():
            yield sign, _Sign(re.compile(of), re.compile(asked, re.IGNORECASE))


SIGNS: dict[str, list[_Sign]] = {}
for _name, _sign in _signs():
    SIGNS.setdefault(_name, []).append(_sign)
_SIGN = re.compile(r"(?<![A-Za-z_\u0400-\u04ff])(?:\\(?=[a-zA-Z]))?(?P<name>[A-Za-z\u0400-\u04ff]+)")
_LONGEST_NAME = 80
_TYPES = re.compile(r"\\(?:operatorname|mathrm|mathbb|mathbf|text|rm)(?![a-z])\*?|\\[ ,;:!]")
_BRACE_BETWEEN = re.compile(r"(?<=[a-zA-Z])(?:\{(?=[a-zA-Z])|\}(?=[a-zA-Z\\]))")
_NEAR_BRACKET = re.compile(r"(?<=[(\[|])\s+|\s+(?=[)\](\[_^|])|(?<=[_^])\s+")


def _named_value(text: str) -> tuple[str, str] | None:
    """The name before an answer's first equals sign, as plain text, and the value behind it: `("Var(X)", "3")`.

    None if the answer has no equals sign outside of brackets, or none near its beginning.
    """
    depth = 0
    for at, char in enumerate(text[:_LONGEST_NAME]):
        depth += (char in "([{") - (char in ")]}")
        if char == "=" and depth <= 0 < at:
            plain = re.sub(r"_\{([^{}]*=[^{}]*)\}", r"_(\1)", text[:at])
            plain = _BRACE_BETWEEN.sub(" ", _TYPES.sub(" ", plain))
            plain = re.sub(r"[{}]|\\(?:left|right)(?![a-z])", "", plain).strip()
            return _NEAR_BRACKET.sub("", plain), text[at + 1 :]
    return None


def asked_by_sign(name: str, asked: Question) -> bool | None:
    """Whether a name means by its symbol what the question asks for in words: `V(X)` for the variance.

    False if it means something else, as `E(X)` does. None if the name has no known symbol, or if that cannot be
    decided.
    """
    named = _named_value(f"{name}=") if name else None
    return None if named is None else _is_asked_by_sign(named[0], asked)


def _is_asked_by_sign(name: str, asked: Question) -> bool | None:
    """As `asked_by_sign`, for a name without spaces and braces.

    None also if the question itself has the symbol. If the question has two things with symbols, the clause that asks
    decides.
    """
    if (whole := _is_whole_asked(name, asked)) is not None:
        return whole
    name = _in_one_form(name, asked)
    own, rest = _signs_of(name)
    plain = re.sub(r"\\left|[\s{}]", "", asked.text).replace("[", "(")
    if not own or any(f"{sign}(" in plain for sign, _ in own if sign not in ("m", "n", "c", "V", "M")):
        return None
    name = _without_asked_formula(name, own[0][0], rest, asked) if len(own) == 1 else name
    event, is_bounded = _without_bound(name, asked)
    indexed = own[0][0] in _OF_FUNCTIONS
    if own[0][0] in _OF_FORMULAS and len(own) == 1 and _is_of_another_formula(rest, asked):
        return False
    works = _WORKS.search(_INDEXED.sub("", name) if indexed else _INSIDE.sub("", name))
    if works is not None or _OF_EVENTS.search(event) is not None:
        return None
    if not is_bounded or _is_taken_elsewhere(own[0][0], rest, asked) or _is_of_other_event(event, asked):
        return False
    if own[0][0] in _OF_SUBSTANCES and (thing := _CHEMICAL.search(re.sub("[_ ]", "", rest))) is not None:
        asked_for, own_sign = substances(asked.text), [one for one in own[0][1] if one.of.pattern == _SUBSTANCE]
        return (_is_asked(own_sign, asked.text) and thing[0] in asked_for) if asked_for else None
    if not _has_question_terms_only(event, own, asked):
        return None
    joined, asked_joined = _JOINS_SETS.search(name), _JOINS_SETS.search(asked.text)
    if joined is not None and asked_joined is None:
        return None
    if joined is not None and asked_joined is not None and joined.lastgroup != asked_joined.lastgroup:
        return False
    asks = asking_clause(asked.text)[0]
    if own[0][0] in ("d", "dist") and not _is_between(_NAMED.findall(name), things := _NAMED.findall(asks), asked):
        # of other points
        return False if things else None
    if all(_is_asked(meant, asks) for _, meant in own):
        return True
    if not _COMMON.issuperset(sign for sign, meant in own if not _is_asked(meant, asks)) and any(
        _is_asked(meant, asks) for sign, meant in SIGNS.items() if sign not in _COMMON
    ):
        return False
    return True if all(_is_asked(meant, asked.text) for _, meant in own) else None


def _is_between(points: Sequence[str], things: Sequence[str], asked: Question) -> bool:
    """Whether a distance is between the points that the question names, as they are in the clause that asks.

    One of two may have the answer's own name, `E` for a plane, if the question names only the other.

    Args:
        points: the capital letters of the answer's name: `A` and `B` in `d(A,B)`.
        things: the capital letters of the clause that asks.
        asked: the question.
    """
    known = {*points} & {"O", *asked.letters}
    return known == {*things[: len(known)]} and (known == {*points} or len(known) == len({*things}) == 1)


_OF_NUMBERS = re.compile(r"(?P<short>[^\W\d_]{3,6})\((?P<of>\d+(?:[,;]\d+)+)\)")


def _abbreviates(name: str, question: str) -> bool:
    """Whether a name is made of the first letters of words of the question, and its numbers are there: `НОК(84,90)`.

    Args:
        name: letters and numbers in brackets.
        question: for `НОК`, it has the words `наименьшее общее кратное`.
    """
    found = _OF_NUMBERS.fullmatch(name.replace(" ", ""))
    if found is None or not {*re.findall(r"\d+", found["of"])}.issubset(re.findall(r"\d+", question)):
        return False
    return found["short"].lower() in "".join(
        word[0] for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", question.lower())
    )


def _is_whole_asked(name: str, asked: Question) -> bool | None:
    r"""As `_is_asked_by_sign`, for names that do not begin with a symbol of the table: `[L:K]`, `|\nabla f(1,2)|`,
    `НОК(84,90)`.
    """
    if _abbreviates(name, asked.text):
        return True
    formulas = bare_formulas(asked.text)
    if (steepest := _STEEPEST.fullmatch(name)) is not None and _ASKS_STEEPEST.search(asked.text) is not None:
        at_point = steepest["at"] is None or bare_formula(steepest["at"]) in formulas
        return at_point and f"{steepest['name']}(" in asked.text and _ASKS_LEAST.search(asked.text) is None
    if (degree := _DEGREE.fullmatch(name)) is not None and (words := _OF_DEGREES.search(asked.text)) is not None:
        told = {bare_formula(one) for one in re.findall(r"\[[^\[\]:]+:[^\[\]:]+\]", asked.text)}
        if told:
            return bare_formula(name) in told
        # the degree of a field over another; the index of a subgroup in its group
        over, of = (bare_formula(degree[one]) for one in ("over", "of"))
        pair = (of, over) if words["degree"] else (over, of)
        *_, last = [asked.text, *(one for one in re.split(r"[.。]\s+", asked.text) if len(_FORMULA.findall(one)) > 1)]
        sides = [bare_formula(one or other).split("=") for one, other in _FORMULA.findall(last)]
        # a field that the question describes by a polynomial may have any name in the answer
        return any(
            pair[1] in second and (pair[0] in first or not any(map(str.isupper, "".join(first))))
            for first, second in pairwise(sides)
        )
    return None


def _in_one_form(name: str, asked: Question) -> str:
    r"""A size, order or extreme with its symbol first: `card(A)` for `|A|`, `\max f` for `f_\max`."""
    if name[:1] == "|" == name[-1:] and len(name) > _SHORTEST_SIZE:
        inside = name[1:-1]
        is_asked = _OF_ORDERS.search(asked.text) is not None and "|" not in asked.text
        of_element = is_asked and bare_formula(inside) in bare_formulas(asked.text)
        name = f"{'ord' if of_element and _NAMED.fullmatch(inside) is None else 'card'}({inside})"
    name = name.replace("\\sigma_0(", "\\tau(")
    extreme = _EXTREME_OF.fullmatch(name)
    return name if extreme is None or _is_variable(extreme["of"], asked) else f"{extreme['is']} {extreme['of']}"


def _without_asked_formula(name: str, sign: str, rest: str, asked: Question) -> str:
    r"""A name without the formula behind its symbol, if that is the question's: `Res_(z=0)` for `Res_(z=0)\frac1z`.

    Args:
        name: the whole name.
        sign: the symbol it begins with.
        rest: the text behind the symbol.
        asked: the question.
    """
    whole = _INDEXED.sub("", rest, count=1)
    is_asked = sign in (*_OF_FUNCTIONS, "Res") and len(whole) > 1 and bare_formula(whole) in bare_formulas(asked.text)
    return name.removesuffix(whole) if is_asked else name


def _is_taken_elsewhere(sign: str, rest: str, asked: Question) -> bool:
    """Whether a symbol is of a different point, graph or vector than the question's: `Res_(z=1)` if `z=0` is asked for.

    Args:
        sign: the symbol.
        rest: the text behind the symbol.
        asked: the question.
    """
    if sign == "card" and (letter := re.search(r"([a-z])\)$", rest)) is not None:
        # of the formulas alone: `30 m/s` names nothing
        letters = {*LETTERS.findall(" ".join(bare_formulas(asking_clause(asked.text)[0] or asked.text)))}
        return letter[1] not in (letters - {*"ijke"} or letter[1])
    if sign == "div" and (place := re.search(r"\([^()]*\)", rest)) is not None:
        return bare_formula(place[0]) not in bare_formula(asked.text)
    if sign not in ("Res", "chi", "alpha", "omega"):
        return False
    index = re.match(r"_\(([^()]*)\)|_(\w+)", rest)
    places = [index[1] or index[2]] if index is not None else re.findall(r"[^(),]+(?:\([^()]*\))?", rest[1:-1] or rest)
    called = re.search(r"(?<![a-z\\])([a-z])(?:\(|,)", rest)
    # `f` is any function
    is_own = called is None or called[1] == "f" or re.search(rf"(?<![a-z]){called[1]}\(", asked.text) is not None
    return not (is_own and all(_is_place(bare_formula(one), asked.text) for one in places))


def _is_place(place: str, question: str) -> bool:
    """Whether a question has this point or thing: the point `i` if it has `z=i`, or the graph `K_5`."""
    named = re.fullmatch(r"[CKPWQ]_(\d+)", place)
    if named is not None and re.search(r"[A-Z]_", question) is None:
        # a graph that the question describes in words
        return re.search(rf"(?<!\d){named[1]}(?!\d)", question) is not None
    if place in bare_formulas(question) or re.fullmatch(r"f|f\([a-z]\)|f[a-z]", place) is not None:
        return True
    said = re.escape(place.rpartition("=")[2])
    plain = re.sub("[${}]", "", question)
    return re.search(rf"(?<![a-zA-Z])[a-z]\s*=\s*{said}(?![\w^+\-])", plain) is not None


_OF_FORMULAS = frozenset({"max", "min", "sup", "inf", "deg", "Res", "det", "tr", "rank", "dim"})


_OF_ORDERS = re.compile(rf"(?<!in )(?<!what )(?<!which )(?:{SIGNS['ord'][0].asked.pattern})", re.IGNORECASE)
_LETTER_OR_CALL = re.compile(
    r"[a-zA-Z][xtnzs]?|f,.*|\\(?:var)?(?:alpha|beta|gamma|delta|epsilon|eta|theta|lambda|mu|nu|rho|sigma|tau|phi|psi|omega)"
)
_IS_OF_LETTERS = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]|\\[a-zA-Z]+\s*\(?[a-zA-Z]")
_NAMED = re.compile(r"(?<![\\a-zA-Z_])[A-Z](?![a-zA-Z_])")
_OVER_SET = re.compile(r"\s*+\w*+\s*+\\in(?![a-z])\s*\\?[A-Za-z]+\s*")


def _is_of_another_formula(rest: str, asked: Question) -> bool:
    r"""Whether the symbol's argument is neither a formula or function of the question, nor a letter that may mean it.

    `(x+1)`, as in `\deg(x+1)`, if the question asks for the degree of `x^2`.
    """
    formula = _OVER_SET.sub("", _INDEXED.sub("", rest, count=1))
    plain = bare_formula(formula)
    formulas = bare_formulas(asked.text)
    # an operation on the value is no part of the argument: `\\det(A)^2`
    is_whole = _INSIDE.sub("", formula) == "" or "(" not in formula
    if not is_whole or _IS_OF_LETTERS.search(formula) is None or plain in formulas:
        return False
    if _LETTER_OR_CALL.fullmatch(plain) is None:
        return True
    if len(plain) == 1 and plain.islower() and plain in LETTERS.findall(" ".join(formulas)):
        # a variable, unless the question has a function of that name
        return f"{plain}(" not in asked.text
    # one of several things that the question names is one that it may ask for
    named = {*_NAMED.findall("$".join(formulas))}
    return len(plain) == 1 and (plain not in named if named and plain.isupper() else f"({plain})" in asked.text)


def _bound_of(text: str, kinds: Mapping[str, re.Pattern[str]]) -> tuple[str, int | None] | None:
    """The kind of the first bound in a text, and its number: `(">=", 3)` for `at least three heads`.

    The number is None if it cannot be read. None if the text has no bound.

    Args:
        text: the words of a question.
        kinds: a pattern of words for each kind of bound.
    """
    for kind, said in kinds.items():
        if (found := said.search(text)) is None:
            continue
        near = text[found.end() : found.end() + _NEAR_BOUND] if found.lastindex is None else found[0]
        return kind, _first_number(re.findall(r"[^\W\d_]+|\d+", _TIMES.sub("", _HAN.sub(_in_figures, near))))
    return None


# `viermal`
_TIMES = re.compile(r"(?<=[^\W\d_]{3})ma+l\b")


def _in_figures(said: re.Match[str]) -> str:
    """A match of Chinese number signs in digits, between spaces."""
    return f" {in_chinese_figures(said[0]) or said[0]} "


def _first_number(words: Sequence[str]) -> int | None:
    """The first number among words, in digits or spelled out: 3 in `of three`; None if there is none."""
    for at, word in enumerate(words):
        value = next(numbers_said(word), None)
        spelled = number_in_words(words[at:]) if value is None else None
        if value is not None or spelled is not None:
            return int(value) if value is not None else spelled and spelled[0]
    return None


def _without_bound(name: str, asked: Question) -> tuple[str, bool]:
    r"""An event without its bound, `P(X)` for `P(X\ge 3)`, and whether the question has the same bound in words.

    `more than 2` and `at least 3` are the same. The name keeps its bound if the question has none with a number.
    """
    found = _EVENT_BOUND.search(name)
    told = None if found is None else _bound_of(asked.text, _BOUNDS_IN_WORDS)
    if found is None or told is None:
        return name, True
    kind = next(kind for kind, sign in _BOUND_SIGNS.items() if sign.fullmatch(found["sign"]))
    own, wanted = (kind, int(found["number"])), told
    is_same = own == wanted or (wanted[1] is None and own[0] == wanted[0])
    if not is_same and wanted[1] is not None:
        is_same = _of_counts(*own) == _of_counts(wanted[0], wanted[1])
    # the question has the bound, so the name need not have it
    return name if wanted[1] is None else name.replace(found[0], ""), is_same


def _of_counts(kind: str, number: int) -> tuple[str, int]:
    """The bound of whole numbers that includes its end: `(">=", 4)` for more than 3."""
    return {">": (">=", number + 1), "<": ("<=", number - 1)}.get(kind, (kind, number))


_NEAR_BOUND = 24


def _signs_of(name: str) -> tuple[list[tuple[str, list[_Sign]]], str]:
    r"""The symbols in a name that begins with one, each with its possible meanings, and the text behind the last
    symbol.

    Empty if the name begins otherwise: in `2\det A`, the factor changes the value.
    """
    own: list[tuple[str, list[_Sign]]] = []
    rest = ""
    for found in _SIGN.finditer(name):
        meant = [one for one in SIGNS.get(found["name"], ()) if one.of.match(name, found.end())]
        if not own and (not meant or found.start() > 0):
            return [], ""
        if meant:
            own.append((found["name"], meant))
            rest = name[found.end() :]
    return own, rest


def _is_asked(meant: Sequence[_Sign], asks: str) -> bool:
    """Whether the words ask for any of these meanings of a symbol."""
    return any(one.asked.search(asks) for one in meant)


def _is_of_other_event(name: str, asked: Question) -> bool:
    r"""Whether a name has one of the question's counted things, and the clause that asks has a different one.

    `P(\text{both blue})` if there are `4 red and 6 blue balls` and the probability of two red ones is asked for.
    """
    text, begins = asked.text.lower(), asking_clause(asked.text)[0].lower()
    # with its condition: `the probability that both are red`
    told, _, condition = text.partition(begins) if begins else (text, "", "")
    numbered = {word[:_STEM] for pair in _COUNTED_SO.findall(told) for word in filter(None, pair)}
    asks, said = (
        numbered & {word[:_STEM] for word in _TELLING.findall(one)}
        for one in (f"{begins}{condition}", name.partition("(")[2].lower())
    )
    return bool(said - asks) and bool(asks - said)


_TELLING = re.compile(r"(?<!\\)\b[^\W\d_]{3,}")
# `4 red`, `6 bolas azules`
_COUNTED_SO = re.compile(r"\d\$?\s([^\W\d_]{3,})(?:\s([^\W\d_]{3,}))?")


def _has_question_terms_only(name: str, own: Sequence[tuple[str, object]], asked: Question) -> bool:
    """Whether the numbers and words in a name, beside its symbols, are the question's: `P(X=3)` for `three heads`."""
    numbers = Counter(re.findall(r"\d+", _CHEMICAL.sub("", name)))
    said = {str(one) for one in numbers_said(asked.text)}
    given = Counter(re.findall(r"\d+", asked.text))
    if not all(times <= max(given[one], one in said) for one, times in numbers.items()):
        return False
    signs = {sign for sign, _ in own}
    words = (
        word.lower()
        for word in re.findall(r"(?<!\\)(?<!\\vec )(?<!\\hat )\b[^\W\d_]{2,}", name)
        if word not in signs and not word.isupper()
    )
    return all(not denies(word) and any(one.startswith(word[:_STEM]) for one in asked.words) for word in words)


_STEM = 4
# A formula of more than one element or atom: `CO2`
_CHEMICAL = re.compile(r"(?<![A-Za-z\d])(?:(?:[A-Z][a-z]?\d*){2,}|[A-Z][a-z]?\d+)(?![A-Za-z\d])")
_OF_SUBSTANCES = frozenset({"m", "n", "c", "C", "V", "M", "w"})
_JOINS_SETS = re.compile(r"(?P<all>\\cup(?![a-z])|∪)|(?P<both>\\cap(?![a-z])|∩)")
# `f_{\\min}`, `(xyz)_{\\max}`
_EXTREME_OF = re.compile(r"(?P<of>.+?)_(?P<is>\\?(?:max|min))(?:\([a-z]\))?")
_SHORTEST_SIZE = 2
_INSIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|_\w+|\|[^|]*\|")
_INDEXED = re.compile(r"_(?:\w+|\[[^\[\]]*\]|\([^()]*\))")
_OF_FUNCTIONS = frozenset({"max", "min", "sup", "inf", "deg", "dim", "rank", "det", "tr"})
# `|\\nabla f(1,2)|`, the greatest rate of change
_STEEPEST = re.compile(r"\|{1,2}\\nabla\s*(?P<name>[a-zA-Z])(?P<at>\([^()]*\))?\|{1,2}")
_ASKS_STEEPEST = re.compile(
    r"(?:max|great|larg|steep|fast)\w*\b.*\b(?:rate|directional)|rate.*\b(?:max|great|fast)|方向导数.*最大|最大.*方向导数"
    r"|magnitude of the gradient|norm of the gradient|梯度的模",
    re.IGNORECASE,
)
_ASKS_LEAST = re.compile(r"\bmin|least|smallest|slowest|descent|最小|наимень", re.IGNORECASE)
# `[L : K]`
_DEGREE = re.compile(r"\[(?P<of>[^:]+):(?P<over>[^:]+)\]")
_OF_DEGREES = re.compile(
    r"\b(?P<degree>degree|grad\b|степен|次数|degré|grado|grau|stopień)|\bindex|индекс|指数|indice", re.IGNORECASE
)


def bare_formula(text: str) -> str:
    r"""A formula without spaces, dollar signs, braces, round brackets and commands that only change how it looks.

    `x` for `\left( x \right)`, `Rx` for `\mathbb{R}\, x`.
    """
    return re.sub(
        r"\\(?:left|right|[dt](?=frac)|[ ,;:!])|[${}()\s]|\\(?:mathbb|mathrm|operatorname)(?![a-z])", "", text
    )


def bare_formulas(question: str) -> list[str]:
    """The formulas of a question and the sides of its equations, as `bare_formula` gives them, in their order.

    `x+1=3`, `x+1` and `3` for `Solve $x + 1 = 3$.`
    """
    found = [bare_formula(one or other) for one, other in _FORMULA.findall(question)]
    return [side for one in found for side in dict.fromkeys((one, *one.split("=")))]


# Operations on a value beside its symbol, and marks that make a different event: a complement, a bound, a condition
_WORKS = re.compile(r"\\(?:sqrt|frac|cdot|times|ln|log)(?![a-z])|[-+*/^'!]|\d")
_EVENT_BOUND = re.compile(
    r"(?<=[A-Za-z])\s*(?P<sign>\\[gl](?:eq?|t|eqslant)(?![a-z])|[<>=≥≤]=?)\s*(?P<number>\d{1,6})(?=\))"
)
_BOUND_SIGNS = {
    ">=": re.compile(r"\\geq?|\\geqslant|≥|>="),
    "<=": re.compile(r"\\leq?|\\leqslant|≤|<="),
    ">": re.compile(r">|\\gt"),
    "<": re.compile(r"<|\\lt"),
    "=": re.compile(r"="),
}
_COUNT = r"(?<![a-z\d零一二两三四五六七八九十百])(\d++|[零一二两三四五六七八九十百]++|[a-z]++)"
_BOUNDS_IN_WORDS = {
    kind: re.compile(rf"{behind.replace('{}', _COUNT)}|(?:{before})", re.IGNORECASE)
    for kind, behind, before in (
        (">=", r"\b{}(?: \w+)? or more\b|{}(?:个|次|個|回|枚|人)?(?:或|及)?以上",
         r"\bat least|\bno (?:less|fewer) than|\bmindestens|\bau moins|\bal menos|\bpor lo menos|\balmeno|\bpelo menos"
         "|не менее|не меньше|至少|不少于|少なくとも|적어도|en az|ít nhất|co najmniej|ten minste|minstens|minst"),
        ("<=", r"\b{}(?: \w+)? or (?:less|fewer)\b|{}(?:个|次|個|回|枚|人)?(?:或|及)?以下",
         r"\bat most|\bno more than|\bhöchstens|\bau plus|\bcomo máximo|\ba lo sumo|\bal massimo|\bal più|\bno máximo"
         "|не более|не больше|至多|最多|不超过|高々|많아야|en fazla|nhiều nhất|co najwyżej|hoogstens|högst"),
        (">", "{}を超える|{}より(?:大き|多)",
         r"\b(?:more|greater|larger|higher) than|\bexceed\w*|\bmehr als|\bgrößer als"
         r"|\bplus de|\bmás de|\bmayor (?:que|a)|\bpiù di|\bmaggiore di|\bmais (?:de|que)|более|больше|超过|多于|大于"),
        ("<", "{}未満|{}より(?:小さ|少な)",
         r"\b(?:less|fewer|smaller|lower) than|\bweniger als|\bkleiner als|\bmoins de"
         r"|\bmenos de|\bmenor (?:que|a)|\bmeno di|\bminore di|\bmenos (?:de|que)|менее|меньше|少于|小于|不到|不足"),
        ("=", "(?!){}",
         r"\bexactly|\bprecisely|\bgenau|\bexactement|\bexactamente|\besattamente|\bexatamente|ровно|恰好|恰有"
         "|正好|ちょうど|정확히|tam olarak|đúng|dokładnie|precies"),
    )
}  # fmt: skip
_HAN = re.compile("[零一二两三四五六七八九十百]+")
_OF_EVENTS = re.compile(
    r"\\(?:overline|bar|neg|lnot|[lg]eq?|[lg]t|neq?|setminus|triangle)(?![a-z])|[<>≤≥≠'¬]|\^c|[^\W\d_]{2,}\s*\\?mid"
)


def substances(question: str) -> set[str]:
    """The chemical formulas of the substances that a question asks for, also by name: `H2O` for `the mass of water`.

    If the clause that asks has none, and the question has only one, it is that.
    """
    plain = re.sub(r"[_{}$^]|\\\w+|\(\w*\)", "", question)
    asks = asking_clause(plain)[0] or plain
    found = {*_CHEMICAL.findall(asks), *(one for one, named in _SUBSTANCES.items() if named.search(asks))}
    # otherwise the only substance that the question has
    return found if found or len(only := {*_CHEMICAL.findall(plain)}) > 1 else only


_SUBSTANCES = {
    "H2O": re.compile(
        r"\bwater\b|wasser(?!stoff)|\beau\b|\b[aá]gua|\bacqua\b|\bвод[аыуе]\b|水(?!素)|(?<![가-힣])물", re.IGNORECASE
    ),
    "CO2": re.compile(
        r"carbon dioxide|kohlen(?:stoff)?dioxid|dioxyde de carbone|dióxido de carbon|anidride carbonica|углекисл"
        "|二氧化碳|二酸化炭素|이산화 ?탄소",
        re.IGNORECASE,
    ),
}


def _is_variable(name: str, asked: Question) -> bool:
    """Whether a name has other extremes than the question's function: a variable of it, `x`, or a different function,
    `g(x)`.
    """
    if _CALL.fullmatch(name) is not None:
        return _CALL.search(asked.text) is not None and name not in asked.text
    return len(name) == 1 and f"({name})" in asked.text


_CALL = re.compile(r"[a-zA-Z]\([a-z]\)")


# Symbols that often have other meanings
_COMMON = frozenset({"n", "N", "m", "c", "C", "V", "M", "w", "d", "max", "min", "sup", "inf", "deg", "ord", "card"})


# The value of a letter, and a sum
_UNKNOWN_GIVEN = re.compile(r"\$?\s*(?P<letter>[a-z])\s*=(?:[^=,a-zA-Z\\]|\\[a-zA-Z]+)+\Z")
_ADDED = re.compile(r"\w\s*[-+]\s*\w")


def _is_of_sum(text: str, letter: str, value: str) -> bool:
    """Whether a text gives a sum the value that belongs to its letter: `p+2=3` if `p=3` is right.

    Args:
        text: the answer.
        letter: the letter of the reference, `p`.
        value: its value, `3`.
    """
    name, said = _named_value(text) or ("", "")
    return said.strip() == value.strip(" $") and letter in LETTERS.findall(name) and _ADDED.search(name) is not None


_ISOMORPHIC = re.compile(
    r"(?P<what>[^=≅≃]{1,120}?)(?<!\\not)(?<!\\not )(?:\\(?:cong|simeq)(?![a-z])|[≅≃])(?P<value>[^=≅≃]+)", re.DOTALL
)
_FORMULA = re.compile(r"\$([^$]+)\$|\\\((.+?)\\\)", re.DOTALL)


def _is_asked_first(what: str, asked: Question) -> bool:
    r"""Whether a formula is the first one in the clause that asks, or that one without the ring behind a semicolon.

    `\pi_1(X)` in `\pi_1(X)\cong\mathbb{Z}` if the question says `Compute $\pi_1(X)$`.
    """
    # a punctuation mark in a formula may end the clause
    formula = _FORMULA.search(asked.text, max(asked.text.find(asking_clause(asked.text)[0]), 0))
    if formula is None:
        return False
    own, wanted = (_SET_NAME.sub("", one) for one in (what, formula[1] or formula[2]))
    return own == wanted or (own[-1:] == ")" and wanted.startswith(f"{own[:-1]};"))


def _without_name(text: str, asked: Question) -> tuple[str, bool]:
    r"""The value behind a name that the question asks for, else the whole text; and whether the name means something
    else.

    `("3", False)` for `\operatorname{Var}(X)=3` if a variance is asked for, and `("E(X)=3", True)` for `E(X)=3`.
    """
    if asked.text and (named := _named_value(text)) is not None:
        if _is_given_another(*named, asked):
            return text, True
        if asked.asks_power(named[0]):
            return named[1], False
        is_own = _is_asked_set(named[0], asked)
        is_own = _is_asked_by_sign(named[0], asked) if is_own is None else is_own
        is_own = is_own or (_is_true_of_numbers(*named, asked) or None if is_own is None else is_own)
        if is_own is not None:
            return (named[1], False) if is_own else (text, True)
        if (call := _OWN_CALL.fullmatch(named[0])) is not None and _is_called_there(call, asked):
            return named[1], False
    if (same := _ISOMORPHIC.fullmatch(text)) is not None and _is_asked_first(same["what"], asked):
        return same["value"], False
    found = _LABEL.fullmatch(text)
    if found is None:
        return text, False
    said, name, thing = ("".join(one.split()) for one in (asked.text, found["name"], found["thing"]))
    has_thing, group = thing in said, found["group"]
    if (name and name in said) or (group and f"{group}_" in said):
        # the question itself has the symbol, and says which object it asks about
        is_own = asked.asks_for(found["label"])
    elif group:
        is_own = _OF_GROUPS[group].search(asked.text) is not None
    elif (letter := found["of"]) == "P" and _POWER_SET.search(asked.text) is not None:
        is_own = has_thing
    elif letter:
        called = rf"(?<=[a-z] ){letter}[a-z]{{3}}|\b(?:{letter}[a-z]*|{letter.lower()})[- ]?transf"
        is_own = has_thing and (asked.is_foreign or re.search(called, asked.text) is not None)
    elif word := found["said"]:
        is_own = has_thing and any(one.startswith(word.lower()) for one in asked.words)
    else:
        is_own = has_thing and thing.startswith("\\math")
    is_other = group == "\\pi" or (found["of"] and "transf" in asked.text.lower())
    return (found["value"] if is_own else text), not is_own and bool(is_other)


# The answer's own function at an argument: `\\kappa(0)`, `v(3)`
_OWN_CALL = re.compile(
    r"(?P<name>[a-zA-Z]|\\(?:var)?(?:alpha|beta|gamma|kappa|lambda|mu|nu|omega|rho|tau|theta))\((?P<at>[\d.,;\s-]+)\)"
)
_ORIGIN = re.compile(
    "origin|ursprung|nullpunkt|origen|origem|原点|原點|начал|원점|gốc (?:tọa|toạ)|orijin|początk|počátk|origó",
    re.IGNORECASE,
)


# The points at which a question evaluates something: `t=2`, `(0|1)`; if it has none, the times
_PLACES = re.compile(
    r"(?<![a-zA-Z])[a-z]\s*=\s*(-?\d+(?:\.\d+)?)(?![\d^]*[a-z])|\(\s*(-?\d+(?:\.\d+)?)\s*[,;|]\s*-?\d+(?:\.\d+)?\s*\)"
)
_NUMBER_SAID = re.compile(r"-?\d+(?:\.\d+)?")


def _is_called_there(call: re.Match[str], asked: Question) -> bool:
    """Whether the answer's own function is taken at the argument that the question gives: `v(3)` for `after 3 seconds`.

    The question itself must not use the letter.
    """
    name = call["name"]
    signs = [one for one in SIGNS.get(name.lstrip("\\"), ()) if one.of.pattern == _CALLED]
    if name in asked.letters or (len(name) > 1 and name in asked.text) or (signs and not _is_asked(signs, asked.text)):
        return False
    told = ["".join(one) for one in _PLACES.findall(asked.text)] + ["0"] * asked.has(_ORIGIN)
    told += [] if told else [one[1] for one in _SPAN.finditer(asked.text) if _is_time(one[2])]
    return {*_NUMBER_SAID.findall(call["at"])} <= {*told}


def _is_time(word: str) -> bool:
    """Whether a word is a unit of time, or, in a language without spaces between words, begins with one: `seconds`,
    `小时后`.
    """
    units = [unit_named(one) for one in ((word,) if ord(word[0]) < _UNSPACED else (word[:1], word[:2]))]
    return any(dict(measure(((one, 1),)).dimension).keys() & {"time", "year"} for one in units if one is not None)


_SPAN = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)\$?\s*(?:个|個)?([^\W\d_]+)")
_UNSPACED = 0x3000


# Functions of numbers: in how many ways a set is divided, and sums of powers
_PARTED = re.compile(
    r"(?<![a-zA-Z\\])S\((?P<of>\d{1,2}),\s*(?P<into>\d{1,2})\)|\\?(?P<all>\d{1,2})\s*\\(?:brace|atop)\s*(?P<parts>\d{1,2})\\?"
)
_SUMS_OF_POWERS = {"\\zeta(2)": r"(\frac{\pi^2}{6})", "\\zeta(4)": r"(\frac{\pi^4}{90})"}


def _ways_to_part(found: re.Match[str]) -> str:
    """The Stirling number of the second kind in a match, in brackets: `(25)` for `S(5,3)`.

    It is the number of ways to divide a set of 5 into 3 parts.
    """
    n, k = int(found["of"] or found["all"]), int(found["into"] or found["parts"])
    return f"({sum((-1) ** j * comb(k, j) * (k - j) ** n for j in range(k + 1)) // factorial(k)})"


def _is_true_of_numbers(name: str, value: str, asked: Question) -> bool:
    r"""Whether an equation with a Stirling number or a zeta value is true: `3!\,S(5,3) = 150`.

    Its numbers have to be the question's, but no word is needed: a true equation does not name a different thing.

    Args:
        name: the left side.
        value: the right side.
        asked: the question.
    """
    if "S(" in asked.text or not {*map(Fraction, re.findall(r"\d+", name))} <= {*numbers_said(asked.text)}:
        return False
    own = _PARTED.sub(_ways_to_part, name)
    for sign, sums in _SUMS_OF_POWERS.items():
        own = own.replace(sign, sums)
    return own != name and same_value(own, value.rpartition("=")[2])


def same_value(text: str, other: str) -> bool:
    """Whether two formulas have the same exact value: `3+4` and `7`. False if one cannot be read."""
    with suppress(Unreadable, TooComplex):
        mine, theirs = (value_at(other, parse_tokens(tokenize(side))) for side in (text, other))
        return mine is not None and mine == theirs
    return False


# The domain or range of a function, and a part of a complex number
_PART_OF = re.compile(
    r"\s*\\(?:(?:mathrm|text|operatorname|mbox)\s*\{\s*)?"
    r"(?P<name>[Dd]om(?:[aä]in|inio|aine)?|[Rr]an(?:ge)?|[Ii]m(?:age)?|[Rr]e)(?![a-zA-Z])\s*+"
    r"(?:\}\s*+)?(?:\\left)?\(?\s*+(?:\{\s*+)?[a-zA-Z]\s*+(?:\}\s*+)?(?:\\right)?\)?\s*=\s*"
)
_PARTS_ASKED = {
    "do": re.compile(
        "domain|dominio|domaine|domínio|d[eé]finition|definición|определени|定义域|定義域|정의역", re.IGNORECASE
    ),
    "ra": re.compile(
        "range|image|imagen|recorrido|rango|werte(?:bereich|menge)|множество значений|值域|치역", re.IGNORECASE
    ),
    "re": re.compile("real part|realteil|partie réelle|parte reale?|действительн|实部|実部|실수부", re.IGNORECASE),
}
_PARTS_ASKED["im"] = re.compile(f"{_PARTS_ASKED['ra'].pattern}|imagin|虚部|허수부|мним", re.IGNORECASE)


def _without_place(text: str, ref: str, asked: Question) -> str:
    r"""The value without the point at which it is taken, or the formula of a sequence without its first index.

    `3` for `\left.\frac{dy}{dx}\right|_{x=1}=3` if that is asked for; `a_n = 2n-1` for `a_n = 2n-1, n \ge 1`.

    Args:
        text: the answer.
        ref: the reference, which must not have the same form.
        asked: the question.
    """
    at_point = _AT_POINT.fullmatch(text) if "|_" in text and "=" not in ref else None
    if at_point is not None and _is_asked_there(at_point["what"], at_point["at"], asked.text):
        return at_point["value"]
    whole = None if _ORDERS.search(ref) else _FROM_THE_FIRST.fullmatch(text)
    return text if whole is None else whole["said"]


def _is_asked_there(what: str, at: str, asked: str) -> bool:
    r"""Whether a question asks for a derivative of this order at this point.

    Args:
        what: the derivative, `\frac{dy}{dx}`.
        at: the point, `x=1`.
        asked: the text of the question.
    """
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
        # the first coordinate is enough if the question names a point
        (place in plain or f"({place.partition('=')[2]}," in plain)
        and (_DERIVES.search(what) is not None or any(map(str.isdigit, what)))
        and second == (_SECOND_ORDER.search(plain) is not None or _SAID_SECOND.search(asked) is not None)
    )


_DERIVES = re.compile(r"'|\\prime|\\frac\{?\s*d|\\[dt]frac\{?\s*d|\\partial|\\nabla|grad|\\dot")
_SECOND_ORDER = re.compile(r"''|\\prime\\prime|d\^\{?2|\\ddot|\\partial\^\{?2|\^\{?\(2\)")
_SAID_SECOND = re.compile("second derivative|zweite|seconde|segunda|seconda|втор|二阶|二階", re.IGNORECASE)
# `a_n = 2n-1, n \\ge 1`: the second part only says from which index on
_FROM_THE_FIRST = re.compile(
    r"(?P<said>\s*[a-zA-Z]_\{?(?P<index>[a-z])\}?\s*=[^=]+?)(?:[,，;；]|\\q?quad(?![a-z])|(?=[(（]))"
    r"(?:\s|\\[ ,;:!])*[(（]?\s*(?P=index)\s*(?:\\g[et]q?(?![a-z])|\\geqslant|>=|≥)\s*[01]\s*[)）]?"
)
_ORDERS = re.compile(r"[<>≤≥]|\\[lg][et]")
# The value of a derivative at a point: `\\left.\\frac{dy}{dx}\\right|_{x=1}=3`
_AT_POINT = re.compile(
    r"(?P<what>[^=|]{1,80}?)(?:\\right|\\[bB]igg?r?)?\s*\|_\{(?P<at>[^{}]{1,60})\}\s*=(?P<value>.+)", re.DOTALL
)


# `\\mathbb{E}[X] =`
_DOUBLE_STRUCK = re.compile(r"\A\s*\\(?:mathbb|mathbf|mathsf)\s*\{?([EPV])\}?(?=\s*(?:\\left\s*)?[(\[])")
# `100_{10} = 202_7`, and a star that marks the best value
_IN_TEN = re.compile(r"\s*(\d{1,18})_\{?10\}?\s*=\s*(?=\S+_)")
_STARRED = re.compile(
    r"(?<![a-zA-Z\\])([a-zA-Z](?:_\{?\w\}?)?)\s*\^\s*\{?\s*(?:\\(?:ast|star)(?![a-z])|\*)\s*\}?"
    r"(?=\s*(?:=|[,)][^=]{0,20}=))"
)
_OF_CONJUGATES = re.compile("conj|konjug|adj|共轭|сопряж", re.IGNORECASE)
_MODULUS = re.compile(r"\\[pb]?mod\s*+(?:\{\s*+)?(\d+)|\(\s*+\\?(?:mod|text\s*\{\s*mod\s*\})\s*(\d+)")


def _is_modulus_asked(text: str, asked: Question) -> bool:
    r"""Whether the question has the modulus of the answer: 7 for `3 \pmod{7}`. Powers of ten are not checked."""
    moduli = [one or other for one, other in _MODULUS.findall(text)]
    # the last two digits are the remainder by 100
    others = [one for one in moduli if one.strip("0") != "1"]
    return not asked.text or all(re.search(rf"(?<!\d){one}(?!\d)", asked.text) for one in others)


def _without_mark(text: str, asked: Question) -> str:
    """An answer without the same number in base ten before it, and without a star on its own letter.

    `202_7` for `100_{10} = 202_7`, and `x = 3` for `x^* = 3`.
    """
    text = _DOUBLE_STRUCK.sub(r"\1", text, count=1)
    if (ten := _IN_TEN.match(text)) is not None and re.search(rf"(?<!\d){ten[1]}(?!\d)", asked.text) is not None:
        return text[ten.end() :]
    star = _STARRED.search(text)
    if star is None or f"{star[1]}^" in asked.text or _OF_CONJUGATES.search(asked.text) is not None:
        return text
    return _STARRED.sub(r"\1", text)


# A diameter or an axis: `2r = 6`
_TWICE = re.compile(r"\s*2\s*(?P<letter>[abcrR])\s*=(?=[^=a-zA-Z<>\\]*(?:\\(?:[a-zA-Z]+|[ ,;:!])[^=a-zA-Z<>\\]*)*\Z)")


_OF_TWICE = re.compile(
    r"diamet|durchmesser|diámetro|diâmetro|диаметр|直径|直徑|지름|\baxis|\baxes|achse|\baxe|\beje|\basse|eixo|\bось|\bоси|长轴|短轴|实轴|虚轴"
    "|焦距|foci|brennpunkt|foyers|focos|fuochi|фокус|焦点",
    re.IGNORECASE,
)


def _is_own_letter(letter: str, asked: Question) -> bool:
    """Whether twice this letter may be a diameter or axis that is asked for: `r` in `2r = 6`.

    The letter has to be the answer's own, or the question has to give its value, so that the letter itself is not asked
    for.
    """
    if _OF_TWICE.search(asked.text) is None:
        return False
    return letter not in asked.letters or re.search(rf"(?<![a-zA-Z\\]){letter}\s*=\s*\d", asked.text) is not None


_BRACED = re.compile(r"\\\{.*\\\}", re.DOTALL)
# Words that exclude other values
_ONLY = re.compile(
    r"\s*\\text\s*\{\s*(?:only|exactly|just|nur|genau|seulement|sólo|solo|solamente|soltanto|apenas|somente|только|лише"
    r"|tylko|sadece|仅|只有|のみ|chỉ)\s*\}\s*(?=[a-zA-Z\\])"
)


def value_named(text: str, ref: Side, asked: Question) -> str | None:
    """The value without the name that the answer gives it: `3` for `V(X)=3` if the variance is asked for.

    None if the name means something else. A text without a name is given back as it is.

    Args:
        text: the answer.
        ref: the reference.
        asked: the question.
    """
    text = _without_mark(_ONLY.sub("", text, count=1) if _ONLY.match(text) else text, asked)
    if "mod" in text and "mod" not in ref.text and not _is_modulus_asked(text, asked):
        return None
    text, is_of_another = (text, False) if LISTS.search(_BRACED.sub("", ref.text)) else _without_name(text, asked)
    if ref.text[:1] in "(\\" and (named := _named_value(text)) is not None and "=" not in ref.text:
        # a vector, whose coordinates are no list
        is_own = False if _is_given_another(*named, asked) else _is_asked_set(named[0], asked)
        text, is_of_another = (named[1] if is_own else text), is_of_another or is_own is False
    if is_of_another or ("=" in text and _is_another_name(text, ref, asked)):
        return None
    own = _UNKNOWN_GIVEN.match(ref.text) if "=" in text else None
    if own is not None and _is_of_sum(text, own["letter"], ref.text.rpartition("=")[2]):
        return None
    if (
        (twice := _TWICE.match(text)) is not None
        and not LISTS.search(ref.text)
        and _is_own_letter(twice["letter"], asked)
    ):
        text = text[twice.end() :]
    text = _without_place(text, ref.text, asked) if "_" in text else text
    if "=" not in ref.text and (part := _PART_OF.match(text)) is not None:
        name = part["name"].lower()
        is_said = re.search(rf"(?<![a-z]){name}(?![a-z])", asked.text.lower()) is not None
        if asked.text and not is_said and _PARTS_ASKED[name[:2]].search(asked.text) is None:
            return None
        text = text[part.end() :]
    return text
