r"""Which quantity a question asks for, and whether an answer gives another one, by name, letter, unit or percent sign.

The noun in the question gives the dimension: `21\text{ cm}` is no area, `12^\circ` no count, `A=20` no perimeter. Of a
question whose noun is not in the table, as in a language that the table lacks, nothing is known.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import asking_clause
from agentscope_tuner.verify.math.node import Degrees, Node, Percent, Quantity, literal
from agentscope_tuner.verify.math.units import (
    COUNTERS,
    PhysicalUnit,
    dimension_named,
    dimension_of,
    is_physical,
    mentions,
    singular,
    unlike_given,
)
from agentscope_tuner.verify.number_words import is_number_word

# Each quantity: its dimensions, none if it is a number; the letters that name it; how words for it begin in several
# languages, or whole words, which end in `~`. If a question asks for two nouns, the first counts
_TABLE = r"""
count;; ; how many|(?:total )?number of|total number|wie ?viele~|anzahl|combien d|nombre d|cuánt[oa]s~
    |número de|quanti~|quante~|quant[oa]s~|numero di|сколько(?! (?:сто|врем|лет))|число~|количеств
    |hoeveel(?! kost)|aantal|ile~(?! kosz)|liczb|kaç~|bao nhiêu|berapa banyak|[几幾]|多少[个種种人只本张條条辆棵]|いくつ
    |何[個人本枚通a-z]|몇|[个個人]数|数量
amount; ?; ; how much~|amount|worth|population|size~
faces;; F f; faces?~|flächen~|caras~|facce~|гран[ией]
edges;; E e K k A a; edges?~|kanten|arêtes|aristas|spigoli|р[её]бер
vertices;; V v E S; vertex|vertices|ecken~|sommets|vértices|vertici|вершин
share; %; P p q f; probab|chance|likel|odds~|wahrscheinlich|вероятност|概率|機率|確率|확률|olasılık|xác suất
    |prawdopodob|kans~|peluang
part; %; P p r R k; percent|prozent|procent|persen|pourcent|porcent|porcien|процент|百分|パーセント|퍼센트|yüzde
    |phần trăm|\\?%|(?<![速频斜曲功心周])率|fraction|ratio~|proportion|bruchteil|anteil|(?<!fuel )efficiency|几分之
change; ?, %; ; rates?~|shares?~|parts?~|interest~|increase|decrease|discount|change|利率|增长
area; length^2; A S F K T s a; areas?~|\w{0,20}fläche(?:~|ninh)|aires?~|superfici|surface|área|площад|面积
    |面積
    |넓이|diện tích|alan[ıi]|oppervlak|luas
area; length^2; P S; pole \w{3,20}[auiy]~|površin
volume; length^3; V v; volumes?~|capacity|rauminhalt|volumen|volúm|об[ъь][её]м|体积|体積|體積|容积|容積|부피
    |thể tích|hacim|hacmi|objętość|inhoud
perimeter; length; P p U u L l C c; (?:semi-?)?p[eé]rim[eè]t|perím|circumf|umfang|circonf|circunf|периметр|周长|周長
    |周の長|円周|둘레|chu vi|çevre|obwód|omtrek|keliling
radius; length; r R; (?:in|circum)?radi(?:us|i~|o~|uszu)|rayon~|raio~|raggio~|радиус|半径|半徑|반지름|bán kính|yarıçap
    |promie[nń]|jari-jari
diameter; length; d D; diam[eè]t|durchmesser|diám|diâm|диаметр|直径|直徑|지름|đường kính|çap~|średnic
length; length; l L a b c d s w h H D r; (?<!of )lengths?~|distances?~|depths?~|sides?~|how (?:far|deep)~
    |how long (?:is|are|was|were|will [^?]{1,40} be)~|längen?~|(?:wie|hoe) lang~|tiefe~|abstand|entfernung
    |longueur|longitud|distanc|lunghezza|comprimento|длин|расстояни|边长|長さ|长度|距离|距離
    |길이|거리|chiều dài|uzunlu|długość|lengte|jarak
height; length; h H a b c d l s; heights?~|how (?:tall|high)~|höhe~|hauteur|altura|altezza|высот|高さ|高度|높이
    |yükseklik|wysokość|hoogte
width; length; w b l a d W; widths?~|how wide~|breite~|largeur|anchura|ancho~|larghezza|largura|ширин|寛
    |宽
speed; length time^-1; v V u s r c; speed~|velocit|how fast~|geschwindigkeit|wie schnell~|vitesse
    |velocidad|velocità|скорост|速度|速さ|속력|속도|vận tốc|hız|prędkość|snelheid
acceleration; length time^-2; a g; accelerat|beschleunig|accélér|aceler|ускорени|加速度|가속도
force; mass length time^-2; F f N R T; forces?~|tension~|\w{0,20}kraft~|fuerza|força|forza|сил[аыу]~
weight; mass length time^-2, mass; W w P p G F; weigh|gewicht|poids~|peso~|вес~|重量|무게
mass; mass; m M w; mass(?:es)?~|how heavy~|masse~|masa~|massa~|масс|质量|質量|重さ|질량|khối lượng|ağırlı
energy; mass length^2 time^-2; E W Q U K T; energ|énergie|work done|работ[аы]~|энерги|能量|エネルギー|에너지
power; mass length^2 time^-3; P p W N; power~(?! (?:of|to) (?:[\s$\\\d]|[b-z]~|two|ten))|leistung|puissance
    |potenc|potenza|мощност|功率|電力|전력
pressure; mass length^-1 time^-2; p P; pressure|druck~|pression|presión|pressão|давлени|压强|圧力|압력
frequency; time^-1, %; f F \nu \omega; pulsation~|kreisfrequenz|angular|角频率|角速度
    |frequenc|frequenz|fréquence|частот|频率|周波数|진동수
period; time; T t; period~|periodendauer|umlauf(?:zeit|dauer)|période~|per[íi]odo~|период|chu k[ỳì]|周期|주기
age; time; ; ages?~|how old~|wie alt~|edad~|idade~|âge~|età~|возраст|年龄|年齢|나이
time; time; t T; times?~|waktu|zeit~|(?<!of )lengths?~|how long~|duration|dauer|wie lange?~|hoe lang~
    |durée|combien de temps|temps~|tiempo|durac|durata|tempo~|врем|лет~|时间|時間|多久
    |시간|thời gian|süre
voltage; mass length^2 time^-3 current^-1; U V u v E; voltage|potential difference|spannung
    |tension élec|voltaje|напряжени|电压|電圧
    |전압
resistance; mass length^2 time^-3 current^-2; R r X; resistance|widerstand
    |résistance|resistencia|сопротивлени|电阻|抵抗|저항
current; current; I i; currents?~(?! (?:age|time|price|year|value))|stromstärke|intensité|corriente
    |corrente|сил[аыу] тока|电流|電流|전류
angle; angle;; angles?~|\w{0,20}winkel|ángulo|angolo|ângulo|угол|угл|角度|[夹圆]角|각도|góc~|açı|kąt
money; money; C c P p S s; costs?~|price|money|profit|kostet|preis|coûte|prix~|cuesta|precio|costa~
    |prezzo|preço|стоит|цен[аыу]~|多少元|多少钱|いくら|얼마
sum; ?; S s; sums?~|add~|plus~|total|altogether|together|summe|somme(?!t)|suma~|soma~|somma~|сумм|和|合計|합|tổng
    |toplam|[+]|\\sum
total; ?; S s T N n; total|altogether|how (?:many|much)~|wie ?viele?~|combien|cuánt|quant[oaie]~|сколько
    |几|幾|多少
mean; ?; \bar \overline \mu M m E A; means?~|average|expect|mittel|durchschnitt|erwart|moyenne|espérance
    |media~|média|средн|期望|平均|평균|friction|coefficient|\\mu|\\bar|\\overline
median; ?; ; median|range~|spannweite|中位数|中央値|медиан
deviation; ?; \sigma s S; deviation|\w{0,12}abweichung|écart|desvia|scarto|отклон
    |odchyleni|afwijking|avvikelse|标准差|標準偏差|표준편차|\\sigma
variance; ?; \sigma s S; varian[czt]|дисперси|方差|分散
difference; ?; d D r; difference|differenz|différence|diferen|differenza|разност|差
hypotenuse; length; c; hypot[eé]nus|ipotenusa|гипотенуз|斜边|斜辺|빗변
trace;;; traces?~|spur~|迹
rank;;; ranks?~|rang~|秩
determinant;;; d[eé]terminant|行列式
mode;;; modes?~|modus~|众数
intercept;;; intercepts?~|截距
ordinate;; ; ordinate|ordenada~|ординат|纵坐标|縦座標|y\$?[ -]?coord|y坐标|y座標
abscissa;; ; absciss|abscisa~|абсцисс|横坐标|x\$?[ -]?coord|x坐标|x座標
common difference;;; 公差
coefficient;;; leading coefficient
discriminant;;; dis[ck]riminant|判别式
markdown;;; discount|markdown|rabatt~|remise~
elasticity;; E e; elasti(?:cit|cid|zit|sit)|elastyczn|élasticit|эластичност|弹性|弾力性|탄력성|esnekli|độ co giãn
slope;; m k a; slope|gradient~|steigung|pente|pendiente|pendenza|declive|斜率|傾き|기울기|накл
compound; ?; ; molar|density|concentration|flow~|dichte|densit|плотност|密度|농도|밀도
first term;; a_1 a_0 a; first term
solutions;; n; number of (?:\w+ )?(?:solutions|roots)
quotient; ?; ; quotient|co[cz]iente|quoziente|частно|商(?![品店场人])|몫
remainder; ?; ; remainder|reste?~|resto~|остат|余数|余り|나머지|kalan~|số dư
gcd; ?; ; greatest common|highest common|gcd|hcf|ggt|größte[nr]? gemeinsame|pgcd|plus grand (?:commun )?diviseur
    |máximo (?:divisor )?com|m\.?c\.?d|mdc~|massimo comun|НОД|общ\w+ делит|спільн\w+ дільник|wspóln\w+ dzielnik
    |společn\w+ dělitel|ortak bölen|ước chung|最大公|최대공약
lcm; ?; ; least common|lowest common|lcm|kgv|kleinste[nsr]? gemeinsame|ppcm|plus petit (?:commun )?multiple
    |mínimo (?:múltiplo )?com|m\.?c\.?m|mmc~|minimo comun|НОК|общ\w+ кратн|спільн\w+ кратн|wspóln\w+ wielokrotn
    |společn\w+ násob|ortak kat|bội chung|最小公|최소공배
"""
_ANGLES = re.compile(
    r"angle|degree|°|\\circ|∠|winkel|\bgrad\b|ángulo|angol|ângulo|уг[ол]|градус|角|温度|각|góc|açı|derece|kąt|stopni|hoek|szög|\bfok|องศา|มุม|μοίρ|זווית|מעלות"
    r"|graden|nyuzi|زاوية|कोण|sudut|derajat|temperat|celsius|radian|rotat|\barcs?\b|polar|argument|phase|bearing|inclin|latitude"
    r"|\[asy\]|\b(?:figure|diagram|shown|parallel)\b|∥|\\parallel|[图圖]"
    r"|\b(?:a(?:rc)?)?(?:sin|cos|tan|cot)(?![a-z])|\\?(?:theta|alpha)\b|\\(?:var)?phi",
    re.IGNORECASE,
)
_IN_DEGREES = re.compile(
    r"degree|°|\\circ|\bgrad|\bgraus|градус|(?<![速长高宽深厚密])度|도\b|몇 도|derece|stopni|độ|derajat|\bfok"
    r"|องศา|μοίρ|מעלות",
    re.IGNORECASE,
)


_DEGREES = re.compile(
    "degrees?|grad|grados|graus|degrés|gradi|градус[аов]*|stopni|derece|graden|fok|độ|derajat|องศา|도|度"
)


def counts_degrees(word: str, question: str) -> bool:
    """Whether a word, `degrees`, is a unit of the angle that the question asks for; false if it asks for radians.

    Args:
        word: a word behind a number, in lower case, in one of several languages.
        question: the question.
    """
    if _DEGREES.fullmatch(word) is None or _RADIANS.search(question) is not None:
        return False
    return _OF_ANGLES.search(asking_clause(question)[0] or question) is not None


_RADIANS = re.compile("radian|bogenmaß|弧度|ラジアン|라디안|радиан|ακτίνι", re.IGNORECASE)
_OF_ANGLES = re.compile(
    "angle|∠|winkel|ángulo|angol|ângulo|уг[ол]|角|각|góc|açı|kąt|hoek|szög|มุม|γωνί|זווית|rotat|bearing", re.IGNORECASE
)


class _Quantity(NamedTuple):
    """One row of the table; the pattern `said` matches the nouns for the quantity in several languages."""

    name: str
    dimensions: tuple[str, ...]
    letters: frozenset[str]
    said: re.Pattern[str]


def _row(line: str) -> _Quantity:
    name, dimensions, letters, words = line.split(";", 3)
    said = words.strip().replace("~", r"(?!\w)")
    begins = re.compile(rf"(?<![a-zà-žа-яё])(?:{said})", re.IGNORECASE)
    kinds = tuple(one.strip() for one in dimensions.split(",") if one.strip())
    return _Quantity(name, kinds, frozenset(letters.split()), begins)


_QUANTITIES = tuple(map(_row, _TABLE.replace("\n    |", "|").strip().splitlines()))
_LETTERS = frozenset[str]().union(*(one.letters for one in _QUANTITIES))


@lru_cache(maxsize=1_024)
def _asked_quantities(question: str) -> tuple[_Quantity, ...]:
    """The quantities that a question may ask for: the area for `What is the area of the square?`.

    `What is the sum of the areas?` gives both sum and area, since a sum has the dimension of what is added. Empty if no
    noun of the table is asked for.
    """
    clause, is_last = asking_clause(question)
    clause = _FORMULA.sub(" ", clause)
    if _HOW_MANY_PERCENT.search(clause) is not None:
        return tuple(one for one in _QUANTITIES if one.name == "part")
    found = [
        (place.end() if is_last else -place.start(), one) for one in _QUANTITIES for place in one.said.finditer(clause)
    ]
    objects = [one for _, one in found if one.name in _OBJECTS]
    sums = [one for _, one in found if one.name in _SUMS]
    ranked = [(at, one) for at, one in found if one not in sums] or found
    first = max((at for at, _ in ranked), default=0)
    return tuple(dict.fromkeys((*sums, *objects, *(one for at, one in ranked if at == first))))


def speaks_of_another(clause: str, question: str) -> bool | None:
    """Whether a clause is about a different quantity than the question: `Its resistance is`, if a power is asked for.

    False if it names the quantity that is asked for. None if that is not known, as for a clause without a quantity.
    """
    own, said = (
        frozenset(one.name for one in _asked_quantities(question)),
        _quantities_named_in(_FORMULA.sub(" ", clause)),
    )
    own |= frozenset() if own.isdisjoint(_SHARES) else _SHARES
    if not own or not said or not said.isdisjoint(own):
        return False if said and own else None
    # a question for a radius may be answered by a `length`, and one for a weight by a `mass`
    kinds = frozenset(kind for one in _asked_quantities(question) for kind in one.dimensions)
    if said <= {"length", "mass", "weight"} and not kinds.isdisjoint(said):
        return None
    is_known = bool(own - _OF_ANYTHING) and said.isdisjoint(_SUMS | _quantities_named_in(asking_clause(question)[0]))
    return True if is_known else None


# Quantities that are never below zero, and constants of nature
_NEVER_NEGATIVE = frozenset(
    ("area", "volume", "perimeter", "radius", "diameter", "length", "height", "width", "hypotenuse", "mass")
)
_OF_NATURE = frozenset(("g", "G", "\\hbar", "k_B", "\\varepsilon_0", "\\epsilon_0", "\\mu_0", "N_A"))
_LETTER = r"(?:\\(?:alpha|beta|gamma|mu|rho|lambda|sigma)|[a-zA-Z])(?:_\{?\w{1,3}\}?)?(?![a-zA-Z(])"
_IN_A_FORMULA = r"[\s,]{1,8}+"
_IN_SEVERAL = rf"(?:{_IN_A_FORMULA}|\$(?:\s|[,，、]|and|und|et|y|e|и|和){{1,8}}+\$)"
_LETTERS_SAID = rf"{_LETTER}(?>{_IN_SEVERAL}{_LETTER}){{0,5}}+"
# `mass $m$`, `高度为$h$`
_LETTER_BEHIND = re.compile(rf"\w*\s?\$(?P<letter>{_LETTER})\$")
_NUMBERS_NAMED = r"(?:real |rational )?(?:numbers?|reals?|constants?|integers?|parameters?|[zZ]ahlen|[kK]onstanten)"
_POSITIVE = re.compile(
    # a formula of its own: `$a,b>0$`
    rf"\$\s*(?P<above>{_LETTER}(?>{_IN_A_FORMULA}{_LETTER}){{0,5}}+)\s*(?:>|\\g(?:e|eq|t)(?![a-z]))\s*0\s*\$(?!\s*(?:or|oder|ou|o)\b)"
    rf"|(?<![^\W_])(?<!non-)positive[nr]? {_NUMBERS_NAMED}\s\$(?P<called>{_LETTERS_SAID})\$"
    rf"|\$(?P<those>{_LETTERS_SAID})\$\s(?:are|be|is|sind|seien)\s(?:all\s)?positive[nr]? {_NUMBERS_NAMED}"
    rf"|正(?:の)?(?:实数|實數|実数|整数|常数|定数|数)\s?\$(?P<unspaced>{_LETTERS_SAID})\$"
)
_BELOW_ZERO = r"(?<![a-zA-Z\\]){}\s*(?:<|\\l(?:e|eq|t)(?![a-z])|=\s*-)|\({}\)|-\s*\d*\s*<\s*{}(?![a-zA-Z])|\|{}\|"
_SIGNED = re.compile(r"signed|(?:either|any) sign|negativ|nonzero|non-zero", re.IGNORECASE)
# Letters for arguments of functions: the question may say of some values that they are positive, and ask about all
_ARGUMENTS = frozenset("xyzt")


@lru_cache(maxsize=256)
def never_negative(question: str) -> frozenset[str]:
    r"""The letters that are never negative in a question: the m of `A block of mass $m$`, a and b for `$a,b>0$`.

    Constants of nature such as `\hbar` are among them, unless the question has that letter. Left out are x, y, z and t,
    and each letter that the question also has as negative, `$a < 0$`.
    """
    question = question[:_MAX_CHARS]
    if _SIGNED.search(question) is not None:
        return frozenset()
    found = {
        behind["letter"]
        for row in _QUANTITIES
        if row.name in _NEVER_NEGATIVE
        for noun in row.said.finditer(question)
        if (behind := _LETTER_BEHIND.match(question, noun.end())) is not None
    }
    for said in _POSITIVE.finditer(question):
        # without the words between two formulas, which have letters, too: `$a$ and $b$`
        letters = re.sub(r"\$[^$]*\$", ",", next(filter(None, said.groups())))
        found.update(re.findall(_LETTER, letters))
    found = (found - _ARGUMENTS) | {one for one in _OF_NATURE if not _has_letter(question, one)}
    own = (re.escape(one) for one in found)
    other = [re.search(_BELOW_ZERO.format(one, one, one, one), question) is not None for one in own]
    return frozenset(re.sub("[{}]", "", one) for one, is_any in zip(found, other, strict=True) if not is_any)


def power_asked(question: str) -> int:
    """The power of length that a question asks for: 2 for an area, 3 for a volume, 1 for a length, else 0."""
    kinds = {kind for one in _asked_quantities(question) for kind in one.dimensions}
    return next((power for power, kind in ((2, "length^2"), (3, "length^3"), (1, "length")) if kind in kinds), 0)


_HOW_MANY_PERCENT = re.compile(
    r"\b(?:hoeveel|wie ?viele?|how many|сколько|на сколько|combien de|cuántos?|quant[oi]|ile|kolik|hur många|hvor mange"
    r"|câte|kaç|berapa|bao nhiêu) (?:percent|prozent|procent|процент|pour ?cent|por ?ci?ento|per ?cento|proc|persen"
    "|phần trăm)",
    re.IGNORECASE,
)
_OBJECTS = frozenset({"faces", "edges", "vertices", "elasticity"})
_SUMS = frozenset({"sum", "total", "mean", "difference"})
_OF_ANYTHING = frozenset({"sum", "total", "count", "amount"})


@lru_cache(maxsize=1_024)
def names_quantity(noun: str) -> bool:
    """Whether a noun names a quantity, such as `area`, and not only a sum, total, mean or difference of anything."""
    return not _quantities_named_in(noun) <= _SUMS


def names_one_quantity(text: str) -> bool:
    """Whether a text names at most one quantity besides lengths, as `area` does, and no percentage or other share.

    A text with two quantities, such as an area and a mass, may combine them to a third one.
    """
    named = _quantities_named_in(text)
    return len(named - {"length"}) <= 1 and named.isdisjoint(_SHARES)


# Groups of quantities of one kind, of which no two are the same
_CONTRASTS = (
    frozenset(("gcd", "lcm", "quotient", "remainder")),
    frozenset(("perimeter", "radius", "diameter", "hypotenuse", "height", "width")),
    frozenset(("mean", "median", "mode", "deviation", "variance")),
    frozenset(("determinant", "trace", "rank", "discriminant")),
    frozenset(("slope", "intercept")),
    frozenset(("faces", "edges", "vertices")),
)


def is_other_kind(said: str, question: str) -> bool:
    """Whether a text names a quantity that cannot be the one that the question asks for.

    It has another dimension, as `the perimeter` for an area, or contrasts with it, as `the height` for a width.

    Args:
        said: the text.
        question: the question.
    """
    asked, told = _asked_quantities(question), _quantities_named_in(said)
    own = frozenset(one.name for one in asked)
    if any(not own.isdisjoint(kind) and not told.isdisjoint(kind - own) for kind in _CONTRASTS):
        return True
    mine = {kind for one in asked for kind in one.dimensions}
    theirs = {kind for one in _QUANTITIES if one.name in told for kind in one.dimensions}
    return bool(mine and theirs) and mine.isdisjoint(theirs) and "?" not in mine | theirs


@lru_cache(maxsize=256)
def _quantities_named_in(text: str) -> frozenset[str]:
    """The names of the quantities in the table whose nouns a text has: area and volume for `its area and volume`."""
    return frozenset(one.name for one in _QUANTITIES if one.said.search(text[-_MAX_CHARS:]))


# Some patterns look at the same characters twice, so long texts are cut
_MAX_CHARS, _MAX_ANSWER = 5_000, 300
_FORMULA = re.compile(r"\$[^$]*\$|\\\(.*?\\\)")
_HEAD = re.compile(r"\\(?:text[a-z]*|mathrm|mbox)\s*\{(?P<words>[^{}\d=:]*)\}?(?:\\[ ,;:!]|[=:~\s}])*(?=[-\\\d(])")
_NAME = re.compile(
    r"\s*\\?(?P<letter>[a-zA-Z]+)(?P<index>_\{?\w{1,3}\}?)?(?:\{\s*[a-zA-Z]\s*\}|\([a-z]\)|\s[a-zA-Z])?\s*="
)
_CLOCK = re.compile(r"\d:\d\d.*\b[ap]\.?\s?m\b", re.IGNORECASE)


def names_another(answer: str, question: str) -> str:
    r"""The name or letter by which an answer says that its value is a different quantity than the question asks for.

    `P` for the answer `P = 20` and `Perimeter` for `\text{Perimeter: } 20`, if an area is asked for. Empty if there is
    no such name.
    """
    asked = _asked_quantities(question)
    own = frozenset(one.name for one in asked)
    head = _HEAD.match(answer[:_MAX_ANSWER])
    if head is not None and (said := _quantities_named_in(head["words"])):
        near = own | _quantities_named_in(asking_clause(question)[0]) if own else _quantities_named_in(question)
        near |= _DIVISION if not near.isdisjoint(_DIVISION) else frozenset()
        if said.isdisjoint(near):
            return head["words"].strip()
    if own & {"time", "age", "length"} and _WHEN.search(question) is None and _CLOCK.search(answer[:_MAX_ANSWER]):
        return "a time of day"
    return axis_of_another(answer, question) or _letter_of_another(answer[:_MAX_ANSWER], asked, question)


_DIVISION = frozenset({"quotient", "remainder"})
_AXES = {"abscissa": "x", "ordinate": "y"}
_MAX_NAME = 80
_UNKNOWN = r"(?:[a-zA-Z]_\{?\d\}?|\\(?:alpha|beta|gamma))"
_COMBINED = re.compile(
    rf"\s*{_UNKNOWN}(?:\s*\+\s*{_UNKNOWN})+\s*|\s*{_UNKNOWN}(?:\s*+(?:(?:\\cdot|\\times|\*)\s*+)?{_UNKNOWN})+\s*"
)
_ASKS_PRODUCT = re.compile(
    r"\bproduct|\bprodukt|\bproduit|\bproduct|\bprodott|\bproizvod|произведени|(?<![面体容])积|(?<![面体容])積|곱|\btích\b|çarpım"
    r"|iloczyn",
    re.IGNORECASE,
)


def combines_unknowns(name: str, question: str) -> bool:
    """Whether the name before a value is the sum or product of unknowns that a question asks for in words.

    `x_1+x_2` is, if the question is `Find the sum of the roots.`
    """
    if (
        len(name) > _MAX_NAME
        or _COMBINED.fullmatch(name) is None
        or len(set(found := re.findall(_UNKNOWN, name))) < len(found)
    ):
        return False
    if "+" in name:
        return any(one.name == "sum" for one in _asked_quantities(question))
    return _ASKS_PRODUCT.search(asking_clause(question)[0]) is not None


def axis_of_another(answer: str, question: str) -> str:
    """The coordinate that an answer gives, if the question asks for the other one: `y` for `y = 3`, if x is asked for.

    Empty if the answer gives no coordinate, or the right one. Letters in the question itself make no difference.
    """
    axes, name = (
        [_AXES[one.name] for one in _asked_quantities(question) if one.name in _AXES],
        _NAME.match(answer[:_MAX_ANSWER]),
    )
    is_other = len(axes) == 1 and name is not None and name["letter"] in _AXES.values() and name["letter"] != axes[0]
    return name["letter"] if name is not None and is_other else ""


def _letter_of_another(answer: str, asked: tuple[_Quantity, ...], question: str) -> str:
    """The letter before the value, if it usually means a different quantity: the P of `P = 20` for an area.

    Empty if it may mean a quantity that is asked for, or if the question has the letter itself.
    """
    name = _NAME.match(answer)
    if name is None:
        return ""
    letter = name["letter"] if len(name["letter"]) == 1 else f"\\{name['letter']}"
    known = {letter, re.sub("[{}]", "", f"{letter}{name['index'] or ''}")}
    if len(letter) > 1:
        means = {one.name for one in _QUANTITIES if letter in one.letters}
        return letter if means and means.isdisjoint(_quantities_named_in(question)) else ""
    letters = frozenset[str]().union(*(one.letters for one in asked))
    others = _LETTERS
    if {one.name for one in asked} <= _OF_ANYTHING:
        # any letter may name a number of apples or an amount, unless it means another quantity in the question
        if re.search(rf"\b{re.escape(name['letter'])}", asking_clause(question)[0], re.IGNORECASE) is not None:
            return ""
        told = _quantities_named_in(question)
        others = frozenset[str]().union(*(one.letters for one in _QUANTITIES if one.name in told))
    is_other = letters and known & others and not known & letters
    return letter if is_other and not _has_letter(question, letter) else ""


_WHEN = re.compile(r"\bwhen\b|\bwhat time\b|\bwhich time\b|clock|time of day|\bwann\b|uhrzeit|几点|何時", re.IGNORECASE)


def _has_letter(question: str, letter: str) -> bool:
    """Whether a question has a letter by itself, `the point P`, or a name that begins with it, `Peter`.

    An article does not count: `A set is given` does not have the letter A.
    """
    behind = r"(?![a-zA-Z'’]| [a-z])" if letter in "AaI" else r"(?![a-zA-Z])"
    own = re.escape(letter)
    # within a sentence no article has a capital
    begins = rf"|(?<=[a-z,;:] ){own}(?![A-Z'’])" if letter.isupper() and letter != "I" else ""
    return re.search(rf"(?<![a-zA-Z\\]){own}{behind}{begins}", question) is not None


def measures_another(ref: Node, ans: Node, question: str, asked_units: frozenset[PhysicalUnit]) -> str:
    """The mark, unit or counted noun of an answer that does not fit the question: `cm` of `20 cm` for an area.

    Empty if the answer has none, or if it fits or may fit.

    Args:
        ref: the reference; the result is empty if it has a mark or unit itself.
        ans: the answer.
        question: the question.
        asked_units: the units in which the question asks for the value.
    """
    asked = _asked_quantities(question)
    # the dimension of a sum is that of what is added, if the table has the noun for that
    kinds = [kind for one in [one for one in asked if one.name not in _SUMS] or asked for kind in one.dimensions]
    clause = asking_clause(question)[0]
    if isinstance(ref, Degrees | Percent | Quantity):
        return ""
    match ans:
        case Degrees():
            is_other = asked and "?" not in kinds and "angle" not in kinds and _IN_DEGREES.search(clause) is None
            return "degrees" if is_other or _ANGLES.search(question) is None else ""
        case Percent():
            is_whole = (value := literal(ref)) is not None and value.denominator == 1
            asks_share = "%" in kinds or not _SHARES.isdisjoint(_quantities_named_in(clause if asked else question))
            is_measure = bool(asked) and "?" not in kinds
            return "a percentage" if not asks_share and (is_measure or is_whole) else ""
        case Quantity(_, unit) if is_physical(unit) and asked and not asked_units and "?" not in kinds:
            mine = dimension_of(unit)
            is_own = any(_without_signs(dimension_named(kind)) == _without_signs(mine) for kind in kinds if kind != "%")
            counts = any(one.name == "count" for one in asked)
            if not is_own and not (counts and mentions(question, unit)):
                return " ".join(name for name, _ in unit)
            return unlike_given(unit, question)
        case Quantity(_, unit) if is_physical(unit) and not asked_units:
            return unlike_given(unit, question)
        case Quantity(_, ((noun, 1),)) if asked_units and (counts_pieces(noun) or _is_unknown_symbol(noun)):
            return noun
        case Quantity(_, ((noun, 1),)) if not is_physical(((noun, 1),)) and noun not in _OF_MEASURES:
            # A question in a language that is not understood may count anything, and a measure word contradicts no
            # question whose quantity is not known
            counts = not clause or (not asked and noun in COUNTERS) or bool(_quantities_named_in(question) & _COUNTING)
            return "" if counts or _is_numbered(noun, question) else noun
    return ""


def _is_unknown_symbol(unit: str) -> bool:
    """Whether a unit is one or two ASCII letters that are no known unit of physics, such as `xy`."""
    return len(unit) <= 2 and unit.isascii() and not is_physical(((unit, 1),))


def counts_pieces(noun: str) -> bool:
    """Whether a Chinese measure word counts pieces, as in `14支`; not in `14块`, which means 14 yuan."""
    return noun in COUNTERS and noun != "块"


def _without_signs(dimension: dict[str, int]) -> dict[str, int]:
    """A dimension with positive powers only, so that `km/h` and a unit that was read as `km h` have the same.

    Args:
        dimension: the powers of the base dimensions.
    """
    return {base: abs(power) for base, power in dimension.items()}


_SHARES = frozenset({"share", "part", "change"})
_OF_MEASURES = frozenset({"unit", "square", "cube"})
_COUNTING = _SHARES | {"count", "amount", "mean", "total"}


def _is_numbered(noun: str, question: str) -> bool:
    """Whether a question has the noun behind a number, with at most two words between: apples in `3 red apples`."""
    words = re.findall(r"\d+|[^\W\d_]+", question.lower())
    counted = [at for at, word in enumerate(words) if word == noun or singular(word) == noun]
    return any(word.isdigit() or is_number_word(word) for at in counted for word in words[max(at - 3, 0) : at])
