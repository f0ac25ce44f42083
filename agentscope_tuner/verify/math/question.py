"""Facts about the task's question: its formulas, its words, the symbols and names that it uses.

These facts never make an answer right. They only narrow the meaning of a word or a symbol, and they show which formulas
cannot be answers because the question itself gives them.

Formulas that the question states in words count as its own: a policy that only writes them as formulas has done no
work.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import asking_clause, asks_at_once, asks_order, options_of, parts_of
from agentscope_tuner.verify.math.canonical import Key, key
from agentscope_tuner.verify.math.exact import value_at
from agentscope_tuner.verify.math.node import (
    CONSTANTS,
    MARKS,
    Array,
    Collection,
    Node,
    Relation,
    Sum,
    Symbol,
    UndefinedCall,
    is_joined,
    symbols,
    walk,
)
from agentscope_tuner.verify.math.parse import parse_tokens
from agentscope_tuner.verify.math.tokens import Kept, TooComplex, Unreadable, respelled, tokenize
from agentscope_tuner.verify.math.units import (
    AskedAmount,
    PhysicalUnit,
    asked_amount_of,
    asked_units,
    singular,
    unit_named,
)
from agentscope_tuner.verify.number_words import numbers_said as numbers_said

# The lookbehind lets a match begin at a number's first digit only: a match at each digit would take quadratic time
_N = r"(\$[^$]{1,40}\$|\\\([^()]{1,40}\\\)|(?<![\d.,])-?\d[\d,]*(?:\.\d+)?(?:/\d+)?)"
_OF = r"\s+of\s+(?:the\s+)?"
# Each phrase and the formula that it means
_SAID: tuple[tuple[str, str], ...] = (
    (rf"{_N}\s+squared", r"({0})^2"),
    (rf"{_N}\s+cubed", r"({0})^3"),
    (rf"square{_OF}{_N}", r"({0})^2"),
    (rf"cube{_OF}{_N}", r"({0})^3"),
    (rf"square root{_OF}{_N}", r"\sqrt{{{0}}}"),
    (rf"cube root{_OF}{_N}", r"\sqrt[3]{{{0}}}"),
    (rf"{_N}\s+factorial", r"({0})!"),
    (rf"{_N}\s+choose\s+{_N}", r"\binom{{{0}}}{{{1}}}"),
    (rf"{_N}\s+(?:raised\s+)?to the (?:power of )?{_N}", r"({0})^{{{1}}}"),
    (rf"{_N}\s*(?:\\?%|percent){_OF}{_N}", r"({0})\%\cdot ({1})"),
    (rf"(?:\$\s*)?(?<!\d)(?<!\d\.)(\d[\d.]*)\s*\\?%\s*\$?{_OF}{_N}", r"({0})\%\cdot ({1})"),
    (rf"{_N}{_OF}{_N}", r"({0})\cdot ({1})"),
    (rf"half{_OF}{_N}", r"\frac{{{0}}}{{2}}"),
    (rf"(?:twice|double)\s+(?:the\s+)?{_N}", r"2\cdot ({0})"),
    (rf"{_N}\s+plus\s+{_N}", r"({0})+({1})"),
    (rf"sum{_OF}{_N}\s+and\s+{_N}", r"({0})+({1})"),
    (rf"{_N}\s+minus\s+{_N}", r"({0})-({1})"),
    (rf"difference (?:of|between)\s+{_N}\s+and\s+{_N}", r"({0})-({1})"),
    (rf"{_N}\s+(?:times|multiplied by)\s+{_N}", r"({0})\cdot ({1})"),
    (rf"product{_OF}{_N}\s+and\s+{_N}", r"({0})\cdot ({1})"),
    (rf"{_N}\s+(?:divided by|over)\s+{_N}", r"\frac{{{0}}}{{{1}}}"),
    (rf"quotient{_OF}{_N}\s+and\s+{_N}", r"\frac{{{0}}}{{{1}}}"),
    (rf"(?:greatest common (?:divisor|factor)|gcd|hcf){_OF}{_N}\s+and\s+{_N}", r"\gcd({0}; {1})"),
    (rf"(?:least common multiple|lcm){_OF}{_N}\s+and\s+{_N}", r"\operatorname{{lcm}}({0}; {1})"),
    (rf"(?:absolute value|modulus|magnitude){_OF}{_N}", r"\left|{0}\right|"),
)
_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), formula) for pattern, formula in _SAID)
_DELIMITERS = re.compile(r"^(?:\$|\\\()|(?:\$|\\\))$")
_MAX_CHARS_SAID = 5_000


def said_in_words(text: str) -> Iterator[str]:
    """The formulas that the text states in words, as LaTeX: `(3)^2` for `3 squared`."""
    text = text[:_MAX_CHARS_SAID]
    for pattern, formula in _PATTERNS:
        for match in pattern.finditer(text):
            yield formula.format(*(_DELIMITERS.sub("", group).strip().rstrip(",") for group in match.groups()))


_MAX_CHARS = 20_000
_MAX_FORMULAS = 200
_MOST_OPEN = 64
_DELIMITED = re.compile(
    r"\$\$(.+?)\$\$|\$([^$]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]"
    r"|\\begin\{((?:align|equation|gather|cases|eqnarray|multline)\w*\*?)\}(.+?)\\end\{\5\}",
    re.DOTALL,
)
# No name: a set of numbers, or an index or exponent of the word before it, as in `CO$_2$`
_NAMELESS = re.compile(r"\s*(?:\\mathbb(?!\s*\{?[EPV]\}?\s*(?:\\left)?\s*[(\[])|(?:[_^](?:\{[^{}]*\}|[^{}]))+\s*\Z)")
# A name in a text that marks no formulas: a function's value, a name with an index, a letter that ends what is asked
_NAMED_PLAINLY = re.compile(
    r"(?<![a-zA-Z0-9_À-ɏ\\'’.°/(])(?:[a-zA-Z]\s?[(\[][^()\[\]=]{1,12}[)\]](?![=^(]| [=^])"
    r"|[a-zA-Z]_(?:\w|\{[^{}]{1,6}\})(?![\w=^]| [=^])"
    r"|(?<!\d )(?<!arg )[b-dj-np-tv-xzB-DJ-NP-TV-Z]"
    r"(?=[.?:;,]?\s*\Z|[.?:;]\s|,? (?:if|when|where|such|so|given)\b|的|を|の|[를을의]))"
)
# A formula in plain text: digits, single letters, names of functions, operators
_PLAIN = re.compile(
    r"(?:\\[a-zA-Z]+|\b(?:sin|cos|tan|cot|sec|csc|log|ln|sqrt|exp|gcd|lcm|mod|pi|abs|max|min)\b|(?<![a-zA-Z\d_'’])[a-zA-Z](?![a-zA-Z\d_'’])|(?<![a-zA-Z])[a-zA-Z](?=\^)"
    r"|\d[a-zA-Z](?![a-zA-Z])|(?<![.,])[.,]*\d|[-+*/^=<>()\[\]{}|!%_×÷·−≤≥≠√²³⁴π°∞∪∩±]|[ ])+"
)
# A formula with products of letters, each beside an operator: `ab + ac`
_PRODUCT = r"(?:[\d.]{0,9}[a-zA-Z]{1,3}(?:\^\d)?|[\d.]{1,9})(?!\w)"
_PLAIN_PRODUCTS = re.compile(rf"(?<![\w.]){_PRODUCT}(?:\s?[-+*/=−·()]{{1,2}}\s?{_PRODUCT})+")
_OPERATION = re.compile(r"[-+*/^=<>|!%×÷·−≤≥≠√²³⁴∪∩±(\\]|sin|cos|tan|log|ln|sqrt|gcd|lcm|mod")
# A decimal, percentage or number in another base (`1101_2`): a question may ask for its other form
_WRITTEN = re.compile(r"(?<![\w.])\d*\.\d+|(?<![\w.])\d+\s?\\?%|(?<![\w.])\d[\dA-F]*_(?:\d+|\{\d+\})")


def formulas_of(text: str) -> dict[Key, Node]:
    """The formulas of a text by their canonical keys, with the sides of its equations and the members of its lists.

    `Solve $x+1=3$.` has the equation, `x+1` and `3`.
    """
    found: dict[Key, Node] = {}
    for segment in _segments(text[:_MAX_CHARS]):
        for node in _read(segment):
            for part in _parts(node):
                found.setdefault(key(part), part)
        if len(found) > _MAX_FORMULAS:
            break
    return found


def _segments(text: str) -> Iterator[str]:
    """The formulas of a text as they are written: between dollar signs, in plain text, and in words."""
    for opens, shuts in (("\\(", "\\)"), ("\\[", "\\]")):
        # from each formula that is not closed the rest of the text would be read
        closed = text.rfind(shuts) + 1
        if text.count(opens, closed) > _MOST_OPEN:
            text = text[:closed] + text[closed:].replace(opens, f"\n{opens[1:]}")
    rest: list[str] = []
    at = 0
    for match in _DELIMITED.finditer(text):
        rest.append(text[at : match.start()])
        at = match.end()
        yield next(g for g in (*match.groups()[:4], match.group(6)) if g is not None)
    rest.append(text[at:])
    for part in rest:
        for run in (*_PLAIN.finditer(part), *_PLAIN_PRODUCTS.finditer(part)):
            if _OPERATION.search(run.group()):
                yield run.group()
        yield from (number.group() for number in _WRITTEN.finditer(part))
    yield from said_in_words(text)


def _read(text: str) -> Iterator[Node]:
    """The formula of one segment; nothing if it cannot be parsed."""
    try:
        yield parse_tokens(tokenize((_before_gap(text) or text).strip().rstrip(".?,:;")))
    except (Unreadable, TooComplex):
        return


def _parts(node: Node) -> Iterator[Node]:
    """A formula, then the sides of its relations, the members of its lists, the cases, and the values inside of
    marks.
    """
    yield node
    if isinstance(node, (Collection, Relation, *MARKS)) or is_joined(node, "and", "or") or _is_cases(node):
        for arg in node.args:
            yield from _parts(arg)


def _is_cases(node: Node) -> bool:
    """Whether a formula is a function by cases."""
    return isinstance(node, Array) and node.kind == "cases"


_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SOLVED_FOR = re.compile(
    r"\bsolve\b[^.?]{0,60}?\bfor \$?([a-zA-Z])\$?(?![a-zA-Z])"
    r"|\b(?:express|write|find) \$?([a-zA-Z])\$? (?:in terms|as a function) of|slope-intercept"
    r"|(?<![a-zA-Z])([a-z])\s*=\s*[a-z]\s?[a-z]\s*\+\s*[a-z](?![a-zA-Z(])",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"\bhow many((?:\s+[a-zA-Z-]+){1,4})", re.IGNORECASE)
_DECIMAL_LOG = re.compile(
    r"\\log_(?:\{10\}|10)|\\lg\b|\blog10\b|common log|base[- ]?(?:10|ten|dix|diez|dez|dieci)"
    r"|logar?i\w+ d[eé]cima|dekadisch|decibel|\bpH\b|richter",
    re.IGNORECASE,
)
_RATIO = re.compile(r"\b[a-zA-Z]{1,2}\s*:\s*[a-zA-Z]{1,2}\b|\b[a-z]+ (?:to|versus|vs\.?) [a-z]+\s*[?.]")
_CLOCK = re.compile(
    r"\d:\d\d|\btimes?\b|\bclock|\bhours?\b|\bminutes?\b|\b[ap]\.?m\b|\b(?:arriv|leav|depart|start|begin|end)\w*\b",
    re.IGNORECASE,
)
_NATURAL_LOG = re.compile(r"\\ln\b|\bln\b|natural log", re.IGNORECASE)
_BARE_LOG = re.compile(r"(?:\\|\b)log(?![a-zA-Z_0-9])(?!\s*_)")
EXTREMES = {
    "min": re.compile(
        r"\bmin|\b(?:smallest|least|lowest|shortest|kleinst|plus petit|menor|más pequeñ|mínim|наименьш|миним|en küçük"
        r"|nhỏ nhất|terkecil|najmniejsz|найменш|мінім|nejmenší|legkisebb|kleinste|minsta|cel mai mic|tiefpunkt|ελάχιστ"
        r"|הקטן ביותר|מינימ|সর্বনিম্ন)|最小|最少|최[소솟]|أصغر|न्यूनतम|ต่ำสุด|น้อยที่สุด",
        re.IGNORECASE,
    ),
    "max": re.compile(
        r"\bma(?:x|ks)|\bhow high\b[^.?]*\b(?:rise|go|fly|reach|climb)|\bwie hoch\b[^.?]*\b(?:steig|flieg|komm)"
        r"|最高|多高|\b(?:largest|greatest|highest|biggest|longest|größt|plus grand|mayor|maior|máxim|massim|maggior"
        r"|наибольш|максим"
        r"|en büyük|lớn nhất|terbesar|największ|найбільш|největší|legnagyobb|grootste|största|cel mai mare|hochpunkt"
        r"|μέγιστ|הגדול ביותר|מקסימ|সর্বোচ্চ)|最大|最多|최[대댓]|أكبر|अधिकतम|สูงสุด|มากที่สุด",
        re.IGNORECASE,
    ),
}
_LETTER = re.compile(r"(?<![a-zA-Z\\])[a-zA-Z](?![a-zA-Z])")
# Parts of a formula that are no letters, such as the upright N of `\\mathrm{Na}`
_NO_LETTERS = re.compile(r"\\(?:mathrm|text|ce)\s*\{[A-Z][a-z]\}|\\[a-zA-Z]+|[{}\s]")
_NAMES = re.compile(r"\(\s*([a-zA-Z](?:\s*,\s*[a-zA-Z])+)\s*\)")


# Tokens around a name that do not change it, and the symbols for `or` and `and` of events
_WRAPS = frozenset(("(", ")", "{", "}", "\\left", "\\right", "."))
_JOINED = {"or": "\\cup", "and": "\\cap"}
_ARROW = re.compile(r"\\(?:to|rightarrow)(?![a-z])|→")
_LIMIT = re.compile(r"\\lim(?:_(?P<place>[a-z]->[+-]?(?:\d+|\\infty|\\pi|[a-z])(?:\^?[+-])?))?(?P<of>.*)")
_SETS_FORMULA = re.compile(r"\\(?:left|right|limits|displaystyle)(?![a-z])|(?<=\\)[dt](?=frac)|[\s{}]")
_SUMS = frozenset(("\\sum", "\\int", "\\prod"))


_ROUNDS = (
    r"四捨五入|四舍五入|保留|精确到|\barrondi|\bgerundet|\brunde|\bnachkommastelle|\bredond|\barroton"
    r"|\barredond|округл|반올림|\byuvarla|làm tròn|\bbulatkan|zaokrągl|\bafgerond|\bavrund"
)


# How a question asks for values in rising and in falling order
ASCENDS = (
    r"\b(?:ascending|increasing) order|\b(?:least|smallest|lowest) to (?:the )?(?:greatest|largest|highest|biggest)"
    r"|\baufsteigend|kleinsten|\bordre croissant|\bmenor a mayor|\b(?:ordem|ordine) crescente|\bпорядке возраст"
    r"|\bпо возраст|\boplopend|\brosnąc|\bküçükten büyüğe|\bartan sıra|tăng dần|从小到大|由小到大|升序|昇順|小さい順"
    r"|오름차순|작은 (?:것|수)부터|\bterkecil|\bstigande"
)
DESCENDS = (
    r"\b(?:descending|decreasing) order|\b(?:greatest|largest|highest|biggest) to (?:the )?(?:least|smallest|lowest)"
    r"|\babsteigend|größten|\bordre décroissant|\bmayor a menor|\b(?:ordem|ordine) decrescente|\bпорядке убыв"
    r"|\bпо убыв|\baflopend|\bmalejąc|\bbüyükten küçüğe|\bazalan sıra|giảm dần|从大到小|由大到小|降序|降順|大きい順"
    r"|내림차순|큰 (?:것|수)부터|\bfallande"
)
# A gap of a question, and the text between gaps for equal things: `两根为____和____`, `$x_1=$____, $x_2=$____`
_BLANK = re.compile(r"(?:\\?_\s?){2,}|\\underline\s*\{(?:\s|~|\\[a-z]+|\\[,;:! ]|_)*\}|[.…]{4,}|…{2,}")
_NAME_OF_BLANK = re.compile(r"(?P<name>[a-z])(?:_\{?\d\}?)?\s*=[\s$]*\Z")
_BEFORE_BLANK = 20
_BETWEEN_BLANKS = re.compile(
    r"(?:[\s,;，、；$~]|\\[ ,;:!()]|\\q?quad|\b(?:and|or|und|et|y|e|и|oder|ou|o|или)\b|[和与或及とや])*"
)


_ALTERNATIVE_ENDS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|([(|)])")


def _by_words(pattern: str) -> str:
    r"""A pattern with the same alternatives, which is faster: `\b(?:min|max)|最小` for `\bmin|\bmax|最小`.

    The alternatives that begin at a word's edge come first, so that this is looked for only once.
    """
    depth, ends = 0, [-1]
    for sign in _ALTERNATIVE_ENDS.finditer(pattern):
        depth += (sign[1] == "(") - (sign[1] == ")")
        if sign[1] == "|" and depth == 0:
            ends.append(sign.start())
    parts = [pattern[start + 1 : end] for start, end in itertools.pairwise([*ends, len(pattern)])]
    words = [part[2:] for part in parts if part.startswith(r"\b")]
    others = [part for part in parts if not part.startswith(r"\b")]
    return "|".join([*([rf"\b(?:{'|'.join(words)})"] if words else []), *others])


class _Says(Kept["Question", bool]):
    """A fact about a question: true if it has a match of the pattern, in capitals or not."""

    def __init__(self, pattern: str) -> None:
        found = re.compile(_by_words(pattern), re.IGNORECASE)
        super().__init__(lambda question: found.search(question.text) is not None)

    def __set_name__(self, owner: type[Question], name: str) -> None:
        self._name = name


_ASKS_ANGLE = re.compile(
    r"(?<![^\W\d_])(?:angle|[^\W\d_]*winkel|ángulo|angolo|ângulo|угол|угл[аы]|góc|açı|kąt|hoek)|夹角|角度|なす角|倾斜角|사잇각"
    r"|角(?=的大小|\s*\$?\s*(?:[A-Z]|\\(?:alpha|beta|gamma|theta))\s*+\$?+\s*+(?!的(?!大小|度数)|所))|∠",
    re.IGNORECASE,
)
# Radians by name, or by a bound of an angle
_RADIANS = re.compile(
    r"radi[aá][nl]|bogenmaß|радиан|弧度|ラジアン|라디안|radyan|(?:<|\\leq?(?:slant)?|≤|,)\s*\d{0,3}(?:\\pi(?![a-z])|π)"
)


@dataclass(frozen=True)
class Question:
    """The text of a question. Facts about it are computed at their first use, and most are kept."""

    text: str
    #: whether the question asks for a percentage; `20 percent of 50` does not
    asks_percent = _Says(
        r"(?<!\d)(?<!\d )(?<!\d\$ )percent|percentage|\bwie ?viele? prozent|\bprozentsatz|\bporcentaje|\bporcentagem"
        r"|\bpercentuale|\bpourcentage|\bсколько процент|\bкакой процент|\byüzde kaç|bao nhiêu phần trăm"
        r"|百分之几|百分比|百分率|何パーセント|何%|몇 ?퍼센트|몇 ?%|백분율|\bberapa persen|\bhoeveel procent"
        r"|النسبة المئوية|(?:what|which|how many|by what|as an?|in) (?:a )?\$?\\?%"
    )
    #: whether the question asks for a fraction or a decimal, so that a percentage has the wrong form
    asks_fraction = _Says(
        r"\b(?:as|in|give|what|which|find the|write the)\s+(?:an?\s+)?(?:\w+\s+){0,2}"
        r"(?:fractions?|decimals?(?! places?\b))\b|\bals bruch\b"
        r"|\bforme de fraction|\b(?:como|forma de) fra[cç]|\bcome frazione|\bдроб|\bkesir|\bphân số"
        r"|\bpecahan|分数|분수"
    )
    #: whether the question restricts its numbers, as to positive ones: an answer may repeat the restriction
    bounds_arguments = _Says(
        r"\b(?:positive|non-?negative|negative|natural)\b|\\mathbb\s*\{?[RQZN]\}?\s*(?:\^|_)|\\mathbb\s*\{?N|[<>]|\\[gl](?:e|t|eq|eqslant)\b"
        r"|\(\s*0\s*,|\[\s*0\s*,"
    )
    #: whether it asks for functions or general solutions, whose letters an answer may choose
    has_free_letters = _Says(
        r"\b(?:all|every|general|alle|toutes|todas|tutte)\b.{0,60}"
        r"\b(?:functions?|solution|funktion|fonction|funci|funzion|funç)"
        r"|\bвсе\b.{0,40}функци|所有.{0,20}函数|通解|一般解|すべて.{0,20}関数|모든 .{0,20}함수"
    )
    # it asks for functions, or has derivatives
    _is_of_functions = _Says(
        r"\b(?:all|every|alle|toutes|todas|tutte)\b.{0,60}\b(?:functions?|funktion|fonction|funci|funzion|funç)"
        r"|\bвсе\b.{0,40}функци|所有.{0,20}函数|すべて.{0,20}関数|모든 .{0,20}함수"
        r"|\bdifferential\b|\bdifferen[zc]ialgl|[eé]qua\S+ diff|ecua\S+ dif|equa[zç]\S+ dif"
        r"|дифференц\S+ уравн|微分方程|미분방정식"
        r"|(?<![a-z]{3})[a-z](?:\([a-z]\))?\s*(?:'(?![a-z])|\^\{?\s*\\prime)|\\d?dot\b"
        r"|\\d?frac\s*\{?\s*d(?:\^\S+?)?\s*\{?[a-z]\}?.{0,9}?d\s*[a-z]"
    )
    _names_integers = _Says(
        r"\\math(?:bb|bf)\s*\{?\s*[ZNQ]|[ℤℕℚ]|\binteger|\bwhole\b|\bnatural\b|\brational|整数|自然数|有理数"
        r"|\bganz|\bnatürlich|\bentier|\benter[oa]s?\b|\bnatur[ae]l|\binteir|\binter[oi]\b"
        r"|\bцел|натурал|정수|자연수|số nguyên|tam sayı|całkowit"
        r"|\bgehel|\bheltal|\bbilangan bulat|पूर्णांक|จำนวนเต็ม|صحيح"
    )

    @property
    def has_constants(self) -> bool:
        """Whether the answers have constants that may be any real numbers, as the solutions of `y'=y` do."""
        return self._is_of_functions and not self._names_integers

    #: whether the question asks for another form of a value, so that a value copied from it is not an answer
    asks_to_rewrite = _Says(
        r"\b(?:convert|express|write|rewrite|simplify|reduce|change|round|expand|factor|factori[sz]e|rationali[sz]e|"
        r"estimate|approximate|turn|transform)\b|\bas an? (?:\w+ ){0,2}(?:fraction|decimal|percent|percentage|mixed "
        r"number|number|power|ratio)\b|\b(?:in|to) (?:the |its )?(?:scientific|lowest|simplest|standard|decimal|nearest"
        r"|radical|exponential)\b"
    )
    #: whether the question asks for a value in its simplest form
    asks_to_simplify = _Says(
        r"\bsimplify|\bsimplest\b|\bsimplified\b|\blowest terms\b|\bcommon fraction\b|\birreducible fraction\b"
        r"|\breduced? (?:the fraction|fraction|form|\$|\\|\d)"
    )
    #: whether the question asks to round a number that it gives
    asks_to_round = _Says(
        rf"\bround (?:\$|\\\(|-?\d)|\bto \w+ (?:decimals?|decimal places?|significant)\b"
        rf"|\A[^?!。]{{0,60}}(?:{_ROUNDS})[^?!。]{{0,60}}[?!。]?\Z"
    )
    #: whether the question mentions rounding, so that an answer may be marked as approximate
    speaks_of_rounding = _Says(rf"\bround|\bapprox|\bdecimals?\b|\bto the nearest\b|{_ROUNDS}")
    #: whether the question has words of order
    _says_order = _Says(
        r"\bsort(?:ed)?\b|\barrange\b|\brank\b|\brespectively\b|从[小大]到[大小]|依次|分别"
        rf"|{ASCENDS}|{DESCENDS}"
        r"|\border the\b|\bfive-number summary\b|\bmenor a mayor\b|\bmayor a menor\b|\bordena|\bordne|\bsortier"
        r"|\b(?:auf|ab)steigend"
        r"|\bordre (?:dé)?croissant|\brangez\b|\bordem (?:de)?crescente|\bordine (?:de)?crescente|\bпо (?:возраст"
        r"|убыв)ани|\bупорядоч"
        r"|\bsırala|\bthứ tự\b|\burutkan\b|順に|排列|순서|차례"
        r"|\bin (?:ascending|descending|increasing|decreasing|that|this|alphabetical|chronological|order)\b"
        r"|\b(?:from|least|smallest|largest|greatest) to (?:the )?(?:least|smallest|largest|greatest)\b"
        r"|\bfirst (?:\w+ )?(?:terms|members|digits)\b"
    )
    #: whether the question is about things whose products do not commute: matrices, words, permutations
    keeps_order = _Says(
        r"\bmatri(?:x|ces)\b|\bfree group\b|\bnon-?(?:abelian|commut)|\bpermutation|\bcycles?\b|\bquaternion"
        r"|\bcross product|\bcommutator|\\(?:vec|mathbf|overrightarrow)[^$]{1,16}\\times|\bcompos(?:e|ition|ite)\b"
        r"|\bconcat|\bstrings? (?:of|over)\b|\b(?:binary|bit)[- ]?strings?\b|\bgroup\b|\bmatri[cz]"
        r"|\b(?:gr[ou]u?pp?[oe]|групп)|\bматриц|مصفوف"
        r"|矩阵|行列|置换|행렬|ma trận"
    )

    #: whether the question is about order types, whose sums do not commute either
    is_of_ordinals = _Says(
        r"\bordinal(?!s? (?:scale|data))|\border[- ]types?\b|well-?order|\bOrdnungst|\bOrdinalz|Wohlordn|types? d.ordre"
        r"|\bordinau|bon ordre|bien ordonn|\btipos? de orden|bien ordenad|\btipo d.ordine|bene ordinat|boa ordem"
        r"|порядков\w+ (?:тип|числ)|ординал|вполне упоряд|序型|良序|序数|順序数|整列|서수|정렬 ?순서"
    )
    #: whether the question is about groups, whose free product has a symbol of its own
    is_of_groups = _Says(
        r"\bgr[ou]u?pp?[aioe]?s?\b|\\pi_1"
        r"|\bgruppen?|\bgrupy|\bgroups?\b|fundamentalgr|free product|nhóm|групп|群|군을|군은"
    )
    #: whether the question asks for a group in one of its forms
    asks_factors = _Says(
        r"invariant|elementary div|prime[- ]power|primary|\bcyclic group\b"
        r"|elementarteiler|facteurs? invariant|divis\w+ élém"
        r"|factores invariantes|инвариантн\w+ множ|элементарн\w+ дел|不变因子|初等因子|単因子"
    )
    #: whether the question describes numbers by their digits, as `\overline{ab}` does
    is_of_digits = _Says(
        r"\bdigits?\b|-digit|ziffer|\bstellig|\bchiffre|\bcifr[ae]|\bd[ií]gito|\balgarismo|цифр|значн\w+ числ"
        r"|chữ số|\brakam|\bbasamak|\bcyfr|\bcijfer|\bsiffr|位数|數字|数字|桁|자리|숫자|\bangka|ตัวเลข|หลัก|अंक"
    )
    #: whether the question mentions conjugates, adjoints or duals, so that `z^*` is not `z`
    _decorates = _Says(
        r"conjug|konjugiert|complex|komplex|adjoint|adjungiert|adjugate|\\mathbb\s*\{?C\b|\\(?:overline|bar)\b"
        r"|\^\s*\{?\s*(?:\*|\\(?:ast|star|dagger)\b)|共[轭軛役]|复数|複素|複数|伴随|伴隨|сопряж|комплекс|켤레|복소|eşlenik|karmaşık"
        r"|liên hợp|phức|sprzęż|zespolon|kompleks|geconjug|coniugat"
    )

    @Kept
    def _known(self) -> dict[re.Pattern[str], bool]:
        """For each pattern that was searched, whether the question has a match of it."""
        return {}

    def has(self, pattern: re.Pattern[str]) -> bool:
        """Whether the question has a match of this pattern. The result is kept, so the pattern has to be a constant of
        the code.
        """
        known = self._known.get(pattern)
        if known is None:
            known = self._known[pattern] = pattern.search(self.text) is not None
        return known

    @Kept
    def words(self) -> frozenset[str]:
        """The question's words in lower case, each also in the singular: `apples` and `apple`."""
        return frozenset(form for word in _WORD.findall(self.text) for form in (word.lower(), singular(word)))

    @Kept
    def formulas(self) -> dict[Key, Node]:
        """The question's formulas, the sides of its relations and the members of its lists, by canonical key."""
        return formulas_of(self.text)

    def leaves_open(self, node: Node) -> bool:
        """Whether the question has this formula with unknowns, and no equation that gives its value.

        `x^2-1` of `Factor $x^2-1$.` is open. An equation like `S = a+b` only names the formula.
        """
        own = key(node)
        unknown = symbols(node) - CONSTANTS or any(isinstance(n, UndefinedCall) for n in walk(node))
        return bool(unknown) and own in self.formulas and not any(_equates(f, own) for f in self.formulas.values())

    @Kept
    def _alone(self) -> tuple[tuple[tuple[str, ...], int, str], ...]:
        """The formulas without a relation sign: the tokens of each, its position, and the 24 characters before it.

        `Evaluate $f(2)$.` has the tokens of `f(2)` at 9, behind `Evaluate `.
        """
        found = []
        text = self.text[:_MAX_CHARS]
        marked = _DELIMITED.search(text) is not None
        for match in (_DELIMITED if marked else _NAMED_PLAINLY).finditer(text):
            said = next(g for g in (*match.groups()[:4], match.group(6)) if g is not None) if marked else match.group()
            # the name before a gap is asked for: `q=____`
            said = _before_gap(said) or said
            if not _RELATES.search(_CHANCE.sub("", said)) and not _NAMELESS.match(said):
                with suppress(Unreadable, TooComplex):
                    said_of = self.text[max(match.start() - 24, 0) : match.start()]
                    found.append((_undecorated([t.text for t in tokenize(said)]), match.start(), said_of))
        return tuple(found)

    def hands_formula(self, answer: str, reference: str) -> bool:
        """Whether the answer is the question's only formula, with the tokens in any order, and the reference is not.

        `2x+3-1` for `Simplify $2x+3-1$.`, with the reference `2x+2`.
        """
        if len(self._alone) != 1 or len(self.text) > _LONGEST_SENTENCE:
            return False
        given = sorted(self._alone[0][0])
        with suppress(Unreadable, TooComplex):
            mine, theirs = (sorted(_undecorated([t.text for t in tokenize(side)])) for side in (reference, answer))
            return len(given) > 1 and theirs == given != mine
        return False

    @Kept
    def _asked_alone(self) -> tuple[tuple[tuple[str, ...], str], ...]:
        """The formulas of `_alone` in the last sentence that has any, each with the characters before it."""
        return tuple((tokens, behind) for tokens, at, behind in self._alone if at >= self._asked_from)

    @Kept
    def _asked_from(self) -> int:
        """The position at which the last sentence with a formula of `_alone` begins."""
        last = max((at for _, at, _ in self._alone), default=0)
        return max((end.end() for end in _SENTENCES.finditer(self.text, 0, last)), default=0)

    @Kept
    def asked_for(self) -> frozenset[tuple[str, ...]]:
        """The names and formulas that the question asks for, by their tokens: those of `f(2)` for `Find $f(2)$.`

        They are in the last sentence with any. `The square of x` does not ask for `x`. If a further sentence defines
        letters, `Find $S=u_0+u_1$.`, these are asked for.
        """
        asked = {tokens for tokens, behind in self._asked_alone if not (_PART_OF.search(behind) or _is_amount(tokens))}
        behind = _SENTENCES.search(self.text, max((at for _, at, _ in self._alone), default=0)) if asked else None
        defined = [] if behind is None else list(_DEFINED.finditer(self.text, behind.end()))
        asks = asking_clause(self.text)[0] if defined else ""
        at_once = [one for one in defined if one[0] in asks]
        given = {one[1] for one in _DEFINED.finditer(self.text)}
        if not defined and len(asked) == len(given) == 1 and self._is_form(next(iter(asked))):
            return frozenset({(next(iter(given)),)})
        return frozenset({(one[1],) for one in at_once or defined} | (set() if at_once else asked))

    def _is_form(self, formula: Sequence[str]) -> bool:
        """Whether a sum is the form in which a value is asked for, `a+bi`: its letters are nowhere else in the
        question.
        """
        said = re.sub(r"\\[a-zA-Z]+", "", "".join(one[0] for one in _DELIMITED.finditer(self.text[:_MAX_CHARS])))
        letters = _letters(formula)
        return "+" in formula and bool(letters) and all(said.count(one) == list(formula).count(one) for one in letters)

    def asks_for(self, formula: str) -> bool:
        r"""Whether the question asks for the value of this formula: `3\star 2` for `Compute $3\star 2$.`; false for a
        mere letter.
        """
        with suppress(Unreadable, TooComplex):
            own = _undecorated([token.text for token in tokenize(formula)])
            # a function may be asked about as `x \\mapsto \\ln x`
            wanted = own in self.asked_for or self._is_asked_otherwise(formula, own)
            wanted = wanted or any(one[-len(own) - 1 :] == ("\\mapsto", *own) for one in self.asked_for)
            return len(own) > 1 and wanted and not self.tells_apart(own)
        return False

    @Kept
    def _asked_derivatives(self) -> tuple[_Derivative, ...]:
        """The derivatives among the names that the question asks for."""
        return tuple(one for tokens in self.asked_for if (one := _derivative(tokens)) is not None)

    def _asks_other_derivative(self, own: Sequence[str]) -> bool:
        """Whether a name is a derivative, and the question asks for different ones: `f'(3)` if it asks for `f'(2)`."""
        derivative = _derivative(own)
        asked = [one for one in self._asked_derivatives if one.is_quotient or one.place]
        return derivative is not None and bool(asked) and not any(map(derivative.is_one_with, asked))

    @Kept
    def _asked_nodes(self) -> tuple[Node, ...]:
        """The formulas of more than two tokens that the question asks for, parsed."""
        found = []
        for match in islice(_DELIMITED.finditer(self.text[:_MAX_CHARS], self._asked_from), _MAX_FORMULAS):
            said = next(g for g in (*match.groups()[:4], match.group(6)) if g is not None)
            with suppress(Unreadable, TooComplex):
                tokens = tokenize(_before_gap(said) or said)
                own = _undecorated([t.text for t in tokens])
                found += [parse_tokens(tokens)] if len(own) > _NEAR and own in self.asked_for else []
        return tuple(found)

    def _is_asked_otherwise(self, formula: str, own: Sequence[str]) -> bool:
        r"""Whether a formula is a different form of one that is asked for: `z^2+z^{-2}` for `z^2+\frac{1}{z^2}`.

        Args:
            formula: the formula as text.
            own: its tokens, as `_undecorated` gives them.
        """
        if (derivative := _derivative(own)) is not None:
            told = (one for one in self._asked_derivatives if derivative.is_quotient or one.is_quotient)
            return any(map(derivative.is_one_with, told))
        if len(own) <= _NEAR or not self._asked_nodes or "'" in own:
            return False
        with suppress(Unreadable, TooComplex):
            node = parse_tokens(tokenize(formula))
            same = [one for one in self._asked_nodes if symbols(one) == symbols(node) != frozenset()]
            if any(isinstance(part, UndefinedCall) for one in same for part in walk(one)):
                return False
            value = value_at("asked", node) if same else None
            return any(key(one) == key(node) or None is not value == value_at("asked", one) for one in same)
        return False

    @property
    def names_things(self) -> bool:
        """Whether the question names what it asks for, so that the name in an answer has to be compared."""
        return bool(self.asked_for or self._decorates or self._powers or self._unknown)

    def tells_apart(self, name: Sequence[str]) -> bool:
        """Whether a name has the letter that is asked for, but a mark makes it a different thing: `z^*` if `z` is asked
        for.

        That needs a question with conjugates, adjoints or the like. If a pH is asked for, `[H^+]` is a different thing,
        too.

        Args:
            name: the tokens of the name.
        """
        own = _undecorated(name)
        if self._powers and "\\log" not in own and "\\lg" not in own:
            said = re.sub("[^a-zA-Z]", "", "".join(own))
            return re.search("H|K", said) is not None and not any(power in said for power in self._powers)
        letter = _letter_with_mark(own)
        if not letter or letter not in self.letters or not self._decorates:
            return False
        if self._asks_conjugate:
            return False
        alone = (behind for tokens, behind in self._asked_alone if _letter_with_mark(tokens) == letter)
        return all(_DEFINES.search(behind) for behind in alone)

    @Kept
    def _asks_conjugate(self) -> bool:
        """Whether a conjugate is asked for in words, so that `\\bar z` names what is asked for."""
        asked = asking_clause(self.text)[0] or re.split("[,，。]", self.text.rstrip(" .。?？"))[-1]
        return _CONJUGATES.search(asked) is not None

    @Kept
    def _powers(self) -> frozenset[str]:
        """The `pH`, `pOH` or `pK` that the question asks for; empty if it is about concentrations, too."""
        clause = asking_clause(self.text)[0]
        return frozenset() if _CONCENTRATES.search(clause) else frozenset(_POWERS.findall(clause))

    def asks_power(self, name: str) -> bool:
        """Whether an answer's name is the `pH`, `pOH` or `pK` that the question asks for, with or without LaTeX
        commands.
        """
        return re.sub(r"\\(?:text|mathrm|ce|operatorname)(?![a-z])|[{}\s]", "", name) in self._powers

    def asks_another(self, name: Sequence[str]) -> bool:
        """Whether the question asks for a different name or formula than the one on the left side of an answer's
        equation.

        True for `y` if `x` is asked for, for `f(3)` if `f(2)` is, and for `2x` if `x` is.

        Args:
            name: the tokens of the left side.
        """
        own = _undecorated(name)
        if own and self.tells_apart(own):
            return True
        is_limit = self._is_asked_limit(own) if own[:1] == ("\\lim",) else None
        if not own or is_limit is not None or self._is_own_name(name, own):
            return is_limit is False
        if self._asks_other_derivative(own) or self._is_formula_of_unknown(own):
            return True
        if not self.asked_for or own[0] in _SUMS or _unwrapped(own) in map(_unwrapped, self.asked_for):
            return False
        if len(own) == 1 and own not in self.asked_for and any(own[0] in one and "+" in one for one in self.asked_for):
            # a term of the sum that is asked for
            return True
        if any(own == tokens for tokens, _, _ in self._alone) and not self._asks_other_letter(own):
            return False
        if self._asks_other_letter(own) and any(
            len(one) == 1 and asks_at_once(said) for one, said in self._asked_alone
        ):
            return True
        if name[0] == "\\angle" and len(own) == 1 and own[0].isupper():
            return any(len(one) == 1 and one[0].isupper() for one in self.asked_for - {own})
        if _is_other_call(own, self.asked_for) or _is_other_segment(own, self.asked_for):
            return True
        letters = _letters(own)
        joined = "\0".join(own)
        for one in self.asked_for if len(own) > 1 and letters else ():
            if letters <= _letters(one) and (len(one) == 1 or "\0".join(one) in joined):
                return True
        if own[0] not in _HEADS and any(
            1 < len(one) >= len(own) - _NEAR and (own[0] == one[0]) != (own[1:] == one[1:]) and letters
            for one in self.asked_for
        ):
            return own[0] in self.letters or own[0].startswith("\\") or own[0][0] in self.letters
        if self._is_other_formula(own):
            return True
        said = "".join(own)
        return said.isalpha() and any(said in "".join(_NO_LETTERS.split(f)) for f in _segments(self.text[:_MAX_CHARS]))

    def _is_own_name(self, name: Sequence[str], own: Sequence[str]) -> bool:
        """Whether an answer may use this name for what is asked for, though the question has a different name or none.

        Args:
            name: the tokens of the name.
            own: the same tokens, as `_undecorated` gives them.
        """
        match own:
            case [letter, "_", sign] | [sign, letter] if sign[-3:] in EXTREMES and (letter,) in self.asked_for:
                return self.asks_extreme(sign[-3:])
        if self._asks_conjugate and _letter_with_mark(own):
            return True
        if (element := _OXIDATION.search(self.text)) is not None and len(own) == 1:
            # of chromium, by its symbol
            return own[0][:1].lower() == element["of"][:1].lower() and own[0][-1:] in element["of"].lower()
        if own == ("P",) and len({one for one in self.asked_for if one[:2] == ("P", "(")}) == 1:
            return True
        if own[1:] == ("^", "*") and own[:1] in self.asked_for:
            # elsewhere a star marks the best value
            return True
        said = "\0".join(own)
        if any(one[0] == own[0] and one.count("(") > 1 and said not in "\0".join(one) for one in self.asked_for):
            # a function of a function's value: its last step is a value of the function
            return own[1:2] == ("(",)
        if self._is_asked_otherwise(" ".join(name), own):
            return True
        return self._is_new(own) or (name[0] == "\\angle" and self._asks_angle(own))

    def _is_asked_limit(self, own: Sequence[str]) -> bool | None:
        """Whether a name is the limit of the question, with its formula or a part of it; False if it is at a different
        point.

        None if that cannot be decided.
        """
        said = _ARROW.sub("->", _SETS_FORMULA.sub("", self.text))
        found = _LIMIT.fullmatch(_SETS_FORMULA.sub("", _ARROW.sub("->", "".join(own))))
        if found is None:
            return None
        of, place = found["of"], found["place"] or ""
        if place not in said:
            # the variable may have another letter
            return False if "->" in said and place and place[1:] not in said else None
        is_own = of in said or (len(of) == 1 and f"{of}(" in said) or of[1:] == "(x)"
        return True if is_own and (self._says_limit or "\\lim" in said) else None

    _says_limit = _Says(r"\blimit|grenzwert|l[íi]mite|предел|границ|极限|極限|극한|giới hạn|\bgranic|\bgräns|النهاية")

    def _is_formula_of_unknown(self, own: Sequence[str]) -> bool:
        """Whether a name has the unknown of the question's only equation, and more: `2x` for `Solve $2x=4$.`"""
        if not self._unknown or self._unknown not in own or len(own) == 1 or own[1] == "_":
            return False
        return not any(t == "\\text" or (len(t) > 1 and t[0] != "\\") for t in own)

    def _asks_angle(self, own: Sequence[str]) -> bool:
        """Whether a name is the angle that is asked for, by its vertex or with its arms exchanged: `B` or `CBA` for
        `ABC`.
        """
        plain, name = re.sub(r"[{}\s]", "", self.text), "".join(own)
        asked = ["".join(one) for one in self.asked_for]
        return _vertex(own) != "" and any(
            f"\\angle{one}" in plain
            and (one in (name, name[::-1]) if len(one) == len(name) else _vertex([one]) == _vertex(own))
            for one in asked
        )

    @Kept
    def _unknown(self) -> str:
        """The unknown of the only equation to be solved, `x` for `Solve $2x=4$.`; empty if there is none."""
        if self.asked_for or not _SOLVES.search(self.text):
            return ""
        equations = [f for f in self.formulas.values() if isinstance(f, Relation) and "=" in f.operators]
        letters = frozenset().union(*map(symbols, equations)) - CONSTANTS if equations else frozenset()
        return next(iter(letters)) if len(letters) == 1 else ""

    def _is_other_formula(self, own: Sequence[str]) -> bool:
        """Whether a name is a formula of the same letters as the one that is asked for, with a different value.

        `(a-b)^2` if `a^2+b^2` is asked for.
        """
        asked = [one for one in self.asked_for if len(one) > 1 and _letters(one)]
        if len(asked) != 1 or len(self.asked_for) > 1 or _letters(own) != _letters(asked[0]):
            return False
        pairs = [two for one in (own, *asked) for two in itertools.pairwise(one)]
        if any(
            (b == "(" and a.isalpha()) or a.startswith(("\\circ", "\\text")) or (len(a) > _NEAR and a.isalpha())
            for a, b in pairs
        ):
            # arguments of functions, or words
            return False
        with suppress(Unreadable, TooComplex):
            mine, theirs = (parse_tokens(tokenize(" ".join(one))) for one in (asked[0], own))
            # a number in a sum may stand for what is known of the letters
            parts = theirs.args if isinstance(theirs, Sum) else (theirs,)
            values = [value_at("asked", one) for one in (mine, theirs)]
            return all(map(symbols, parts)) and None not in values and values[0] != values[1]
        return False

    def _asks_other_letter(self, own: Sequence[str]) -> bool:
        """Whether a name is a single letter, and the question asks for different letters: `x` if `y` is asked for."""
        asked = [one[0] for one in self.asked_for if len(one) == 1 and one[0].islower()]
        return len(own) == 1 and own[0].islower() and bool(asked) and own[0] not in asked

    def _is_new(self, own: Sequence[str]) -> bool:
        """Whether a name is the answer's own: it has a prime, or a word of what is asked for as its index,
        `C_{total}`.
        """
        match own:
            case [letter, "'"]:
                # a question that has one letter only may mean its derivative
                return letter.isalpha() and len(self.asked_for) > 1 and re.search(r"['′’]|\\prime", self.text) is None
            case [letter, "_", index]:
                return letter.isalpha() and len(index) > _NEAR and index in asking_clause(self.text)[0].lower()
        return False

    @Kept
    def letters(self) -> frozenset[str]:
        """The single letters in the question: `x` for `Find $x$.` They include the words `a` and `I`."""
        return frozenset(_LETTER.findall(self.text))

    @Kept
    def slanted(self) -> frozenset[str]:
        r"""The letters that are not set upright. Upright ones, as in `\mathrm{m}`, may be units."""
        formulas = " ".join(_segments(self.text)) if "$" in self.text or "\\(" in self.text else self.text
        return frozenset(_LETTER.findall(_UPRIGHT.sub(" ", formulas)))

    def says_in_order(self, names: Sequence[str]) -> bool:
        """Whether the question has all these names, in this order: `the ratio of boys to girls` for boys, girls."""
        text, at = self.text.lower(), []
        for name in names:
            spelled = re.escape(name.lower().lstrip("\\"))
            found = re.search(rf"(?<![a-z]){spelled}(?![a-z])" if name.isascii() else spelled, text)
            at.append(found.start() if found is not None else -1)
        return -1 not in at and at == sorted(at)

    def asks_extreme(self, name: str) -> bool:
        """Whether the question asks for this extreme value, `min` or `max`."""
        return self.has(EXTREMES[name])

    @Kept
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The question's tuples of names, like `(x, y)`: they give the order of the values in an answer."""
        return tuple(tuple(n.strip() for n in names.split(",")) for names in _NAMES.findall(self.text))

    @Kept
    def is_foreign(self) -> bool:
        """Whether the question has text, but no word in Latin letters: `求最大值`."""
        return bool(self.text) and not _LATIN_WORDS.search(_FORMULAS.sub(" ", self.text))

    @property
    def speaks_of_radians(self) -> bool:
        """Whether the question mentions radians, or bounds an angle by multiples of pi, and mentions no degrees."""
        text = self.text.lower()
        return _RADIANS.search(text) is not None and "degree" not in text

    @Kept
    def asks_angle(self) -> bool:
        """Whether the question asks for an angle, whose value may be in degrees."""
        return _ASKS_ANGLE.search(asking_clause(self.text)[0] or self.text) is not None

    @property
    def speaks_of_degrees(self) -> bool:
        """Whether the question mentions degrees, and no radians."""
        text = self.text.lower()
        return any(sign in text for sign in ("degree", "°", "\\circ")) and "radian" not in text

    @Kept
    def speaks_of_ratios(self) -> bool:
        """Whether `4:15` is a ratio: the question mentions ratios, or it compares two things and mentions no time."""
        if {"ratio", "proportion", "odds", "scale"} & self.words:
            return True
        return _RATIO.search(self.text) is not None and _CLOCK.search(self.text) is None

    @Kept
    def has_inequality(self) -> bool:
        """Whether the question has an inequality: its answer has to be solved to the last step."""
        return any(isinstance(f, Relation) and f.operators[0][0] in "<>" for f in self.formulas.values())

    @Kept
    def solved_for(self) -> str:
        """The letter that the question asks to solve for, `y` for `Solve for $y$`; empty if it names none."""
        match = _SOLVED_FOR.search(self.text)
        return "" if match is None else next((g for g in match.groups() if g), "y")

    @Kept
    def counted(self) -> frozenset[str]:
        """The up to four words behind `how many`, which have the counted noun among them."""
        phrases = [words.split() for words in _HOW_MANY.findall(self.text)]
        return frozenset(form for words in phrases for word in words for form in (word.lower(), singular(word)))

    @Kept
    def options(self) -> frozenset[str]:
        """The words that the question offers as answers: `odd` and `even` for `Is it odd or even?`"""
        return options_of(self.text)

    @Kept
    def choices(self) -> dict[str, str]:
        """The text of each choice by its letter: `{"A": "51", "B": "57"}` for `(A) 51 (B) 57`; empty if there are no
        choices.
        """
        return dict(self._offer[1:])

    @property
    def has_small_choices(self) -> bool:
        """Whether the choices have small letters, `a)`, like the parts of a question."""
        return self._offer[0][0] == "a"

    @property
    def stem(self) -> str:
        """The question without the choices behind it: `Which?` for `Which? (A) 51 (B) 57`."""
        return self._offer[0][1]

    @Kept
    def _offer(self) -> tuple[tuple[str, str], ...]:
        """The text before the choices, under the first letter, then each choice under its Latin letter:
        `(A) 51 (B) 57`.
        """
        marks = self._marks(_CHOICE_MARK) or self._marks(_MARK_ABROAD)
        if not marks:
            return (("", self.text),)
        text = marks[0].string
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        said = (text[mark.end() : end] for mark, end in zip(marks, ends, strict=True))
        return (
            (marks[0]["letter"], text[: marks[0].start()]),
            *((_IN_LATIN[mark["letter"]], _choice_text(one)) for mark, one in zip(marks, said, strict=True)),
        )

    def _marks(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """The marks of the last series of choices, from the first letter of an alphabet on; empty if there are fewer
        than two.
        """
        marks: list[re.Match[str]] = []
        for mark in pattern.finditer(self.text[-_MAX_CHARS:]):
            letter = mark["letter"]
            if letter in _FIRST_LETTERS:
                marks = [mark]
            elif marks and letter == _NEXT_LETTER.get(marks[-1]["letter"]):
                marks.append(mark)
        return marks if len(marks) >= _FEWEST_CHOICES else []

    def in_latin(self, text: str) -> str:
        """A choice with the Latin letter of its rank: `B. 57` for `Б) 57`. Other texts are given back as they are.

        If the choices have Cyrillic letters, a Latin letter counts as the Cyrillic one that looks the same: `B` is the
        third. A Latin letter that looks like none of them becomes a text that names no choice.
        """
        first = self._offer[0][0]
        if first <= "\x7f":
            return text
        if first == "А" and (typed := _TYPED_IN_LATIN.fullmatch(text)) is not None:
            text = {"A": "А", "B": "В", "E": "Е"}.get(typed["letter"], f"\\text{{the Latin letter {typed['letter']}}}")
        if (found := _CHOSEN_ABROAD.match(text)) is None:
            return text
        said = closed(found["said"]).strip()
        return f"{_IN_LATIN[found['letter']]}{f'. {said}' if said else ''}"

    @Kept
    def asks_order(self) -> bool:
        """Whether the question says in which order its answers are given, so that a list without brackets is a
        tuple.
        """
        return self._says_order or asks_order(self.text)

    def orders(self, count: int) -> bool:
        """Whether that many answers have an order: one that the question states, or the order of its parts, gaps or
        names.
        """
        return self.asks_order or count in (self._numbered, self._called, self._gaps) or bool(self.parts(count))

    @property
    def rises(self) -> bool | None:
        """True if values are asked for in rising order, False if in falling order; None if neither or both are."""
        found = [re.search(order, self.text, re.IGNORECASE) is not None for order in (ASCENDS, DESCENDS)]
        return None if found[0] == found[1] else found[0]

    @Kept
    def _gaps(self) -> int:
        """How many gaps the question leaves for different things: 2 for `两边为____，面积为____`.

        It is 0 if the gaps are for equal things, such as the two roots of an equation.
        """
        found = list(_BLANK.finditer(self.text[:_MAX_CHARS]))
        before = [self.text[max(one.start() - _BEFORE_BLANK, 0) : one.start()] for one in found]
        names = {match and match["name"] for match in map(_NAME_OF_BLANK.search, before)}
        between = [self.text[one.end() : other.start()] for one, other in itertools.pairwise(found)]
        name = names.pop() if len(names) == 1 else None
        if name is not None and re.search(rf"(?<![a-zA-Z\\]){name}(?![a-zA-Z_])", self.text) is not None:
            # values of one unknown
            between = [_NAME_OF_BLANK.sub("", one) for one in between]
        return len(found) if any(_BETWEEN_BLANKS.fullmatch(one) is None for one in between) else 0

    @Kept
    def _numbered(self) -> int:
        """How many parts the question numbers: 3 for `(i) … (ii) … (iii) …`.

        It is 0 if the labels are in no order or name equations, or if a sentence follows the last part.
        """
        found = list(_PART_LABELS.finditer(self.text[:_MAX_CHARS]))
        said = [match[0].strip("()（） .").lower() for match in found]
        if len(said) < 2 or not any(said == row[: len(said)] for row in LABEL_ROWS):
            return 0
        ends = [*(match.start() for match in found[1:]), len(self.text)]
        parts = [self.text[match.end() : end] for match, end in zip(found, ends, strict=True)]
        follows = _SENTENCES.search(parts[-1].rstrip())
        is_more = follows is not None and parts[-1][follows.end() :].strip() != ""
        return 0 if is_more or all("=" in part for part in parts) else len(said)

    @Kept
    def _called(self) -> int:
        """How many values of one function the question lists at its end: 3 for `give $P(X=0),P(X=1),P(X=2)$`."""
        listed = [found[0] for found in _LISTED_CALLS.finditer(self.text[-_MAX_CHARS:])]
        calls = re.findall(_CALL, listed[-1]) if listed else []
        return len(calls) if len({call[0] for call in calls}) == 1 and len(set(calls)) == len(calls) else 0

    def parts(self, count: int) -> tuple[str, ...]:
        """The things that the question asks for one by one, in lower case, if there are `count` of them; else empty.

        `the area` and `the perimeter` for `Find the area and the perimeter.`
        """
        return parts_of(self.text, count)

    def says(self, phrase: str) -> bool:
        """Whether the question has this phrase, in capitals or not.

        Args:
            phrase: the phrase, in lower case.
        """
        return phrase in self.text.lower()

    @Kept
    def single_number(self) -> Node | None:
        """The only number of a question that is one short sentence: 0.75 for `Write 0.75 as a fraction.`; else None.

        Beside a repeating decimal, there may be a further sentence, because such a number is no measured quantity.
        """
        text = self.text.strip()
        found = list(islice(_GIVEN.finditer(text), 2)) if len(text) <= 2 * _LONGEST_SENTENCE else []
        if len(found) != 1 or found[0]["other"]:
            return None
        is_one = len(text) <= _LONGEST_SENTENCE and _SENTENCE.fullmatch(text) is not None
        return _given(found[0]) if is_one or _REPEATS.search(found[0]["number"]) is not None else None

    @Kept
    def asked_units(self) -> frozenset[PhysicalUnit]:
        """The units in which the question asks for its answer."""
        return asked_units(self.text)

    @Kept
    def asked_amount(self) -> AskedAmount:
        """Whether the question asks for an amount, and whether its answer may be a rate."""
        return asked_amount_of(self.text)

    @Kept
    def numbers(self) -> frozenset[Fraction]:
        """The numbers in the question, in digits or in words."""
        with_points = re.sub(r"(?<=\d)\{?,\}?(?=\d)", ".", self.text) if "," in self.text else ""
        return frozenset((*numbers_said(self.text), *numbers_said(with_points)))

    @Kept
    def log_base(self) -> int | None:
        """10 if the question means base 10 by a `log` without a base; None if that is open."""
        decimal = _DECIMAL_LOG.search(self.text) is not None
        both = _NATURAL_LOG.search(self.text) is not None and _BARE_LOG.search(self.text) is not None
        return 10 if decimal or both else None


_CALL = r"[A-Za-z]\([^()$]{1,20}\)"
_LISTED_CALLS = re.compile(
    rf"(?<![a-zA-Z\\]){_CALL}(?:[\s$]{{0,4}}(?:[,，、;]|\b(?:and|und|et|y|e|и)\b|和)[\s$]{{0,4}}(?:(?:and|und|et|y|e|и|和)[\s$]{{1,4}})?{_CALL})+"
)
#: the labels of parts, in their order
LABEL_ROWS = (list("12345678"), list("abcdefgh"), "i ii iii iv v vi vii viii".split(), list("①②③④⑤⑥⑦⑧"))  # noqa: SIM905
_PART_LABELS = re.compile(
    r"(?:(?<![\w$^({=+\-])[(（]?(?:\d|[a-h]|[ivx]{1,4})[)）]|(?:^|(?<=[\s:：]))\d\.)(?=\s|[^\x00-\x7f]|\$)|[\u2460-\u2467]"
)


_LONGEST_SENTENCE = 120
_SENTENCE = re.compile(r"(?:[^.?!。？！\n]|\.(?=[\d\\(.]))*[.?!。？！]?")
_REPEATS = re.compile(r"\(|\\[bo]|\\dot|…|dots|\.\.\.")
_GIVEN = re.compile(
    r"(?P<number>(?:\d{1,9}\s?)?\\[dt]?frac\s?(?:\{\d{1,20}\}\s?\{\d{1,20}\}|\d\d)|\d{1,20}/\d{1,20}"
    r"|\d{1,20}(?:(?:\{,\}|[.,])\d{0,20})?(?:\(\d{1,20}\)|\\(?:overline|bar)\s?\{?\d{1,20}\}?|\d{0,9}\\dot\s?\{?\d\}?)*"
    r"(?:…|\\[lc]?dots|\.\.\.)?)"
    r"(?:\s|~|\\[ ,;:!])?(?P<mark>\\?[%％]|\^\{?\\circ|\\degree|°)?"
    r"|(?P<other>[²³√^]|_(?=[\d{a-z]))"
)


def _given(found: re.Match[str]) -> Node | None:
    """The number of a question, parsed like an answer's; None if it cannot be read."""
    mark = "" if not found["mark"] else "\\%" if found["mark"][-1] in "%％" else "°"
    number = re.sub(r"\{,\}|,", ".", found["number"]).rstrip(".") + mark
    with suppress(Unreadable, TooComplex):
        return parse_tokens(tokenize(respelled(number)))
    return None


_FEWEST_CHOICES = 2
_CHOICE_MARK = re.compile(
    r"(?:\\(?:text|math)(?:bf|rm|it)?\s*+\{\s*+)?(?<![a-zA-Z∠△\\])(?:(?P<open>[(（])\s*+)?(?P<letter>[A-J]|[a-j](?=\)))"
    r"\s*+(?(open)[)）]|(?:[)）．：、]|[.:](?!\w*[.:])))\s*+\}?"
)
# Letters of choices in their order
_ALPHABETS = ("ABCDEFGHIJ", "abcdefghij", "АБВГДЕ", "أبجدهو", "ابجدهو", "ΑΒΓΔΕ", "אבגדה")
_NEXT_LETTER = {one: other for alphabet in _ALPHABETS for one, other in itertools.pairwise(alphabet)}
_IN_LATIN = {one: _ALPHABETS[0][at] for alphabet in _ALPHABETS for at, one in enumerate(alphabet)}
_FIRST_LETTERS = frozenset(alphabet[0] for alphabet in _ALPHABETS)
_ABROAD = "".join(_ALPHABETS[2:])
_MARK_ABROAD = re.compile(rf"(?<![\w.])[(（]?\s*+(?P<letter>[{_ABROAD}])\s*+[)）.．:：](?!\w*[.:])\s*")
_CHOSEN_ABROAD = re.compile(
    rf"\s*(?:\\text[a-z]*\s*\{{\s*)?[(（]?\s*(?P<letter>[{_ABROAD}])\s*(?:[)）.．:：]|(?=[}}\s]*\Z))(?P<said>.*)",
    re.DOTALL,
)
_TYPED_IN_LATIN = re.compile(r"\s*(?:\\text[a-z]*\s*\{\s*)?[(（]?\s*(?P<letter>[A-J])\s*[)）.]?[\s}]*")
_CHOICE_BEGINS = re.compile(r"(?:\s|~|\\[ ,;:!]|\\q?quad(?![a-z])|\})*+")
# The characters that may be behind the text of a choice, in reverse order
_CHOICE_ENDS = re.compile(r"(?:dauqq?\\|\\\\|[ ,;:!]\\|[ \t\r~;；,，。])*+")


def closed(text: str) -> str:
    """A text without the first closing brace, if it has more closing than opening ones: `3` for `3}`."""
    return text.replace("}", "", 1) if text.count("}") > text.count("{") else text


def _choice_text(text: str) -> str:
    """The text of a choice to the end of its line, without spaces and separators around it: `51`."""
    begins = _CHOICE_BEGINS.match(text)
    text = text[begins.end() :] if begins is not None else text
    text = text.partition("\n")[0]
    ends = _CHOICE_ENDS.match(text[::-1])
    return text[: len(text) - (0 if ends is None else ends.end())]


# Relation signs and separators
_RELATES = re.compile(
    r"[=<>,;]|\\(?:[lg]e(?:q|qq|qslant)?|neq?|[lg]t|(?:not)?in|equiv|approx|perp|parallel)(?![a-zA-Z])"
)
# The argument of a probability, which may be a relation: `P(X\\ge 1)`
_CHANCE = re.compile(r"(?<=P)\s*(?:\\left)?\([^()]*\)\s*\Z")
_UPRIGHT = re.compile(r"\\(?:mathrm|text|rm|unit|si)\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
_SOLVES = re.compile(
    r"\bsolve|löse|résou|resuelv|resolv|risolv|реши|解方程|解く|解け|풀|çöz|rozwiąż|giải|\blos de vergelijking",
    re.IGNORECASE,
)
_SENTENCES = re.compile(r"[.!?]\s|[。？！]")
# A letter that a formula defines
_DEFINED = re.compile(r"(?:\$|\\[(\[])\s*([a-zA-Z])\s*=")
# The gap that an answer fills
_GAP = re.compile(r"(?:\\?_|\\(?:underline|hspace|boxed|square|Box|qquad|quad)(?:\{[^{}]*\})?|[?？□\s（）()])*+")


def _before_gap(formula: str) -> str:
    """The formula before an equals sign and a gap: `x^3-4x` for `x^3-4x=____`; empty for any other formula."""
    head, _, gap = formula.rpartition("=")
    return head if head.strip() and "=" not in _CHANCE.sub("", head) and _GAP.fullmatch(gap) is not None else ""


_PART_OF = re.compile(
    r"(?<!value )(?<!values )(?<!valeur )(?<!valor )(?<!wert )(?<!valore )(?<!значение )"
    r"\b(?:of|de|du|von|del|di|do|by|than|to|from)\s*$|的$",
    re.IGNORECASE,
)


def _is_amount(tokens: Sequence[str]) -> bool:
    """Whether a formula is a number with its unit, `72 km/h`, and so no name."""
    amount, *unit = tokens
    named = [t for t in unit if any(map(str.isalpha, t))]
    return bool(named) and amount[0].isdigit() and all(map(unit_named, named))


_DECORATIONS = frozenset({"\\angle", "\\vec", "\\mathbf", "\\boldsymbol", "\\overrightarrow", "\\hat", "{", "}"})


def _undecorated(tokens: Sequence[str]) -> tuple[str, ...]:
    r"""The tokens of a name without typefaces and accents: `v` for `\vec v`.

    Probabilities, means and variances get one form: `P(A)` for `\Pr[A]`, `E(X)` for `\mathbb{E}[X]`.
    """
    plain = ["\\bar" if t == "\\overline" else t for t in tokens if t not in _DECORATIONS]
    if plain[1:2] in (["["], ["("]) and plain[0] in _OF_CHANCE and (plain[0] not in "VD" or plain[2:3] in _VARIABLES):
        plain = [_OF_CHANCE[plain[0]], *({"[": "(", "]": ")"}.get(t, t) for t in plain[1:])]
    # a quantity in its standard state
    is_standard = plain[-2:] == ["^", "\\circ"] and plain[0] in ("\\Delta", *"EGHS")
    return tuple(plain[:-2] if is_standard else plain)


# Arguments of which V and D are variances; with any other argument they are functions
_VARIABLES = (["X"], ["Y"], ["Z"], ["\\xi"], ["\\eta"])
_OF_CHANCE = {
    spelled: sign
    for sign, spellings in {
        "P": r"P \Pr Pr \mathbb{P}",
        "E": r"E \mathbb{E}",
        "Var": r"Var \Var V D \mathbb{V}",
    }.items()
    for spelled in spellings.split()
}


_MARKS = frozenset({"*", "\\dagger", "H"})
# The text before a name that is only explained
_DEFINES = re.compile(
    r"(?:^|[(（\[,，;；:：.。]|\b(?:where|here|with|let|and|où|avec|wobei|mit|hier|dabei|donde|con|dove|onde|где|и)|其中|这里|ただし|且)"
    r"[\s$]*$"
)
_OXIDATION = re.compile(
    r"(?:oxidation (?:number|state) of|oxidationszahl (?:von|des)|nombre d'oxydation d[eu]) (?:the )?\$?(?:\\[a-z]+\{)?"
    r"(?P<of>[a-zA-Z]+)",
    re.IGNORECASE,
)
_CONJUGATES = re.compile(
    "conjug|konjug|共[轭軛役]|сопряж|켤레|eşlenik|liên hợp|sprzęż|geconjug|coniugat", re.IGNORECASE
)
# A question that is about concentrations, too, and so asks for more than the power
_CONCENTRATES = re.compile(r"\[|concentr|konzentr|浓度|濃度|концентр|\bK_|농도", re.IGNORECASE)
_POWERS = re.compile(r"(?<![a-zA-Z])p(?:OH|H|K)(?![b-zB-Z])")


def _vertex(angle: Sequence[str]) -> str:
    r"""The letter in the middle of an angle's name: `B` for `\angle ABC` and `\angle B`; empty for other names."""
    letters = "".join(angle)
    return letters[len(letters) // 2] if letters.isalpha() and letters.isupper() and len(letters) in (1, 3) else ""


def _letter_with_mark(tokens: Sequence[str]) -> str:
    r"""The letter below a mark of conjugates: `z` for `z^*`, `\bar z` and `z^\dagger`; empty for other names."""
    match tokens:
        case [letter, "^", mark] if mark in _MARKS:
            return letter
        case ["\\bar", letter]:
            return letter
    return ""


def _unwrapped(tokens: Sequence[str]) -> tuple[str, ...]:
    """A name without the brackets around it and without the point of evaluation: `f` for `f|_{x=1}`.

    The tokens of a sum or union are sorted, because their order does not matter.
    """
    bare = list(itertools.chain(*(t if t.isupper() else [_JOINED.get(t, t)] for t in tokens if t not in _WRAPS)))
    for at in range(1, len(bare) - 1):
        if bare[at] == "|" and bare[at + 1] == "_":
            bare = bare[:at]
            break
    if bare[:1] == ["|"] == bare[-1:]:
        bare = bare[1:-1]
    if bare[:1] == ["\\bar"] and len(bare) == _SEGMENT and all(map(str.isupper, bare[1:])):
        bare = bare[1:]
    free = not {"\\cup", "\\cap", "+"}.isdisjoint(bare) and {"|", ",", "\\mid", "-", "^", "_"}.isdisjoint(bare)
    return tuple(sorted(bare) if free else bare)


def _letters(tokens: Sequence[str]) -> frozenset[str]:
    """The names of one or two letters among the tokens, without `i` and `e`, which may be numbers."""
    return frozenset(t for t in tokens if t[:1].isalpha() and len(t) <= _LONGEST_NAME and t not in ("i", "e"))


_LONGEST_NAME, _NEAR, _SEGMENT = 2, 2, 3


def _is_other_call(own: Sequence[str], asked_for: frozenset[tuple[str, ...]]) -> bool:
    """Whether a name is a function's value, and the question asks for different ones: `f^{-1}(4)` if it asks for
    `f(4)`.
    """

    def is_call(tokens: Sequence[str]) -> bool:
        return (
            len(tokens) > _SEGMENT
            and tokens[0].isalpha()
            and tokens[-1] == ")"
            and ("=" not in tokens or tokens[0] == "P")
        )

    calls = [one for one in asked_for if is_call(one)]
    if any("\\circ" in one for one in (own, *asked_for)):
        return False
    return is_call(own) and bool(calls) and all(one != tuple(own) for one in calls)


def _is_other_segment(own: Sequence[str], asked_for: frozenset[tuple[str, ...]]) -> bool:
    """Whether a name is a segment by its ends, and the question asks for a different one: `AB` if it asks for `AC`."""

    def ends(tokens: Sequence[str]) -> str:
        said = "".join(sorted("".join(tokens)))
        return said if len(said) == 2 and said.isupper() and said.isalpha() else ""

    asked = [ends(one) for one in asked_for]
    return ends(own) != "" and any(asked) and ends(own) not in asked


class _Derivative(NamedTuple):
    r"""A derivative, as a name writes it: `f_x`, `y'`, `\frac{\partial f}{\partial x}`.

    Attributes:
        of: the function.
        by: the letters by which it is derived, sorted; empty if the name has none, like `y'`.
        order: how often it is derived.
        place: the point with its brackets, `(2)`, if it has digits; else empty.
        is_quotient: whether it is written as a quotient.
    """

    of: str
    by: str
    order: int
    place: str
    is_quotient: bool

    def is_one_with(self, other: _Derivative) -> bool:
        """Whether two names may mean the same derivative. Letters or points that one of them leaves out are not
        compared.
        """
        same = self.by == other.by or not (self.by and other.by)
        is_there = self.place == other.place or "" in (self.place, other.place)
        return same and is_there and (self.of, self.order) == (other.of, other.order)


_AT = r"(?P<at>\([^()]*\))?"
_BY_QUOTIENT = re.compile(
    rf"\\frac(?:\\partial|d)(?:\^\d)?(?P<of>[a-zA-Z])(?P<by>(?:(?:\\partial|d)[a-z](?:\^\d)?)+){_AT}"
)
_BY_INDEX = re.compile(rf"(?P<of>[a-zA-Z])(?=['_])(?P<primes>'*)(?:_(?P<by>[a-z]{{1,3}}))?'*{_AT}")
_BY_OPERATOR = re.compile(rf"(?P<by>(?:(?:\\partial|D)_[a-z])+)(?P<of>[a-zA-Z]){_AT}")


def _derivative(tokens: Sequence[str]) -> _Derivative | None:
    r"""The derivative that a name is, such as `f_x`, `f'_x`, `\partial_x f` or `y'`; None for another name."""
    said = "".join(tokens)
    found = _BY_QUOTIENT.fullmatch(said) or _BY_OPERATOR.fullmatch(said) or _BY_INDEX.fullmatch(said)
    if found is None:
        return None
    letters = re.sub(r"\\partial|D_|_|d(?=[a-z])", "", found["by"] or "")
    by = "".join(letter * int(power or 1) for letter, power in re.findall(r"([a-z])(?:\^(\d))?", letters))
    place = found["at"] if re.search(r"\d", found["at"] or "") else ""
    order = len(by) or len(found.groupdict().get("primes") or "")
    return _Derivative(found["of"], "".join(sorted(by)), order, place or "", said.startswith("\\frac"))


# Commands that begin formulas of all kinds, so that they do not identify a name
_HEADS = frozenset({"\\frac", "\\sqrt", "\\lim", "\\int", "\\sum", "("})


_LATIN_WORDS = re.compile("[a-z]{3}", re.IGNORECASE)
_FORMULAS = re.compile(r"\$[^$]*\$|\\\(.*?\\\)|\\[a-zA-Z]+")


_ENGLISH = re.compile(r"\b(?:the|how|what|many|much|does|did|find|she|he|and|which|is)\b")


def is_english(text: str) -> bool:
    """Whether a text in lower case has two common English words."""
    return len(set(_ENGLISH.findall(text))) > 1


NO_QUESTION = Question("")


@lru_cache(maxsize=1_024)
def about(text: str | None) -> Question | None:
    """The facts about a question; None if there is no question.

    They are kept, because an advantage group shares its question, and a batch has hundreds of them.
    """
    return Question(text) if text and text.strip() else None


def _equates(node: Node, own: Key) -> bool:
    """Whether a formula is an equation that gives the formula with this key a value: `x^2-1=3` for `x^2-1`.

    False if one side is a single letter, which only names the formula.
    """
    if not isinstance(node, Relation) or "=" not in node.operators or own not in map(key, node.args):
        return False
    return not any(isinstance(side, Symbol) for side in node.args)
