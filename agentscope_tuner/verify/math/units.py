"""Units of measurement and counted nouns: what the words after a number mean, and which unit the question asks for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence, Set
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from agentscope_tuner.verify import re
from agentscope_tuner.verify.math.node import Degrees, Node, Percent, Power, Product, Quantity, Unit, number
from agentscope_tuner.verify.math.tokens import Unreadable
from agentscope_tuner.verify.words import abroad

# Each dimension, as powers of base dimensions, and its units: the names of a unit, then its size in base units. A unit
# without a size is a dimension of its own. The case of an abbreviation counts: `mg` and `Mg` are different masses
DIMENSIONS = {
    "length": """m meter metre 米 м 1|cm centimeter centimetre 厘米 см 1/100
        |mm millimeter millimetre 毫米 мм 1/1000
        |dm decimeter decimetre 分米 дм 1/10|km kilometer kilometre 千米 公里 км 1000
        |nm nanometer nanometre 1/1000000000|pm picometer picometre 1/1000000000000
        |Å angstrom ångström ångstrom 1/10000000000|ly lightyear 9460730472580800
        |AU 149597870700|Mm megameter megametre 1000000|μm micrometer micrometre 1/1000000
        |inch in 254/10000|ft foot feet 3048/10000|yd yard 9144/10000|mi mile 1609344/1000""",
    "length^2": "hectare ha 公顷 10000|acre 40468564224/10000000",
    "length^3": """l L liter litre 升 л 1/1000
        |ml mL milliliter millilitre cc 毫升 мл 1/1000000|ML megaliter megalitre 1000
        |cl cL centiliter centilitre 1/100000|dl dL deciliter decilitre 1/10000
        |gallon gal 3785411784/1000000000000|quart qt 946352946/1000000000000|pint pt 473176473/1000000000000""",
    "mass": """g gram gramme 克 г 1|kg kilogram kilogramme 千克 公斤 кг 1000|mg milligram 毫克 мг 1/1000
        |吨 tonne Mg 1000000
        |lb pound 45359237/100000|oz ounce 45359237/1600000|μg microgram 1/1000000""",
    "time": """s sec second 秒 сек с 1|min minute 分钟 мин 60
        |h hr hour 小时 时 ч godz std sa 3600|day 天 86400|week 周 604800
        |ms millisecond 1/1000|μs microsecond 1/1000000
        |month 月|year yr 年|decade|century""",
    "money_in_dollars": "$ dollar usd USD 美元 1|cent ¢ 1/100",
    "money_in_euros": "euro eur EUR 欧元 1|eurocent centime céntimo céntimos cêntimo cêntimos centesimi 1/100",
    "money_in_yen": "yen jpy JPY 円 日元 1",
    "money_in_yuan": "yuan rmb RMB cny CNY renminbi 元 人民币 1|角 1/10|万元 10000|亿元 100000000",
    "money_in_dollars_of_hong_kong": "港元 港币 hkd HKD 1",
    "money_in_pounds": "gbp GBP sterling 英镑 1|pence 1/100",
    "money_in_rupees": "rupee inr INR Rs rs रुपये रुपया रुपए टका 1",
    "money_in_roubles": "rouble ruble rub RUB руб рубль рубля рублей 1|копейка копейки копеек 1/100",
    "money_in_reais": "reais réis brl BRL 1|centavo centavos 1/100",
    "money_in_pesos": "peso mxn MXN ars ARS 1",
    "money_in_zlotys": "zł złoty złote złotych pln PLN zloty 1|grosz grosze groszy 1/100",
    "money_in_lira": "lira tl TL try TRY 1|kuruş 1/100",
    "money_in_won": "원 won krw KRW 1",
    "money_in_dong": "đồng vnd VND 1",
    "money_in_baht": "baht บาท thb THB 1",
    "money_in_rupiah": "rupiah idr IDR Rp rp 1",
    "money_in_shillings": "shilling shilingi Sh Shs Ksh KSh Tsh TSh kes KES tzs TZS 1",
    "money_in_forints": "forint huf HUF 1",
    "money_in_koruny": "Kč koruna koruny korun czk CZK 1",
    "money_in_hryvnias": "hryvnia грн гривня гривні гривень гривна гривен гривны uah UAH 1",
    "money_in_lei": "lei leu ron RON 1",
    "money_in_kronor": "krona kronor krone kroner kr sek SEK nok NOK dkk DKK 1",
    "money_in_francs": "franc franken chf CHF 1",
    "money_in_tenge": "tenge тенге 1",
    "money_in_leva": "lev лв лева лев leva bgn BGN 1",
    "money_in_shekels": "shekel שקל שקלים ils ILS nis NIS 1",
    "money_in_naira": "naira ngn NGN 1",
    "money_in_taka": "taka টাকা bdt BDT 1",
    "money_in_kip": "kip ກີບ lak LAK 1",
    "money_in_riyals": "riyal ريال sar SAR 1",
    "money_in_toman": "toman تومان 1",
    "money_in_ringgit": "ringgit RM myr MYR 1",
    "angle": "rad radian 1",
    "mass length^2 time^-2": "J joule Дж 焦耳 焦 1000|kJ kilojoule 1000000|MJ megajoule 1000000000"
    "|cal calorie 4184|kcal 4184000|kWh 千瓦时 3600000000|Wh 3600000"
    "|eV 1.602176634e-16|keV 1.602176634e-13|MeV 1.602176634e-10",
    "mass length^2 time^-3": "W watt Вт 瓦特 瓦 1000|kW kilowatt 1000000|MW megawatt 1000000000|mW milliwatt 1",
    "mass length time^-2": "N newton Н 牛顿 牛 1000|kN kilonewton 1000000",
    "mass length^-1 time^-2": "Pa pascal Па 帕斯卡 帕 1000|kPa kilopascal 1000000"
    "|MPa megapascal 1000000000|atm atmosphere 101325000|hPa hectopascal 100000|bar 100000000|mbar millibar 100000"
    "|torr Torr 101325000/760",
    "time^-1": "Hz hertz Гц 赫兹 赫 1|kHz kilohertz 1000|MHz megahertz 1000000|GHz gigahertz 1000000000|rpm",
    "mass length^2 time^-3 current^-1": "V В volt 伏特 伏 1000|mV millivolt 1|kV kilovolt 1000000",
    "current": "A А ampere amp 安培 安 1|mA milliampere milliamp 1/1000|μA microampere 1/1000000|kA kiloampere 1000",
    "mass length^2 time^-3 current^-2": "ohm \\Omega Ом 欧姆 欧 1000|kiloohm 1000000",
    "current time": "C coulomb Кл 库仑 1|mC millicoulomb 1/1000|μC microcoulomb 1/1000000|nC nanocoulomb 1/1000000000",
    "mass^-1 length^-2 time^4 current^2": "F farad 1/1000|mF millifarad 1/1000000|μF microfarad 1/1000000000"
    "|nF nanofarad 1/1000000000000|pF picofarad 1/1000000000000000",
    "mass length^2 time^-2 current^-2": "H henry 1000|mH millihenry 1",
    "mass time^-2 current^-1": "T tesla Тл 1000|mT millitesla 1|gauss 1/10",
    "length time^-1": "knot kn 1852/3600",
    "mass length^2 time^-2 current^-1": "Wb weber Вб 1000|mWb milliweber 1",
    "temperature": "K kelvin",
    "celsius": "celsius",
    "fahrenheit": "fahrenheit",
    "amount": "mol mole 摩尔 1|mmol millimole 1/1000",
    "amount length^-3": "M molar 1000|mM millimolar 1",
    "data": "bit 1|byte 8",
}
# one word for a quotient of two units: `mph` is miles per hour
COMPOUND = {
    "mph": (("mile", 1), ("hour", -1)),
    "mpg": (("mile", 1), ("gallon", -1)),
    "mps": (("m", 1), ("s", -1)),
    "fps": (("ft", 1), ("s", -1)),
}
COMPOUND |= dict.fromkeys(("kph", "kmh", "kmph"), (("km", 1), ("hour", -1)))
# nouns counted one by one: such a noun never changes the number before it
COUNTED = frozenset(
    """adult animal answer ant apple arrangement article ball berry block board book box boy bracelet bus button cake
    calf can candy car case cat cherry chicken child children chip chocolate choice circle city class clock coin
    color colour combination computer cookie corner cube cup cupcake dice die digit dime divisor dog dollar donut
    door dot drop duck edge egg element event face factor farmer fish floor friend fruit function game girl glass
    goat grade graph guest handshake hat head hexagon hole house integer item jar job key lap leaves leg lemon
    letter light line list log map marble mark match meal meeting men mice minor mistake muffin name note notebook
    number object onion option orange outcome outfit page paper parent part path pear pen pencil pennies penny
    pentagon people permutation person phone picture piece pig pizza plan plane plant plate player point pole
    polygon position problem program pupil puzzle quarterly question rectangle rhombus ring room root rope row seat
    sheep sheet shelf shell shirt shop side slice solution square stamp star state step sticker stone story student
    subset table tank team teeth term test ticket tile time train trapezoid tree triangle trip truck turn unit value
    vertex vertices visitor wagon way wheel window women word year""".split()  # noqa: SIM905
)
# Adjectives beside a counted or measured noun, which are dropped: `5 red marbles`, `5 metres tall`
DESCRIBING = frozenset(
    """old tall long wide high deep away apart total altogether each left remaining red blue green yellow white black
    brown pink purple gold silver big small whole full fresh different distinct real complex possible de""".split()  # noqa: SIM905
)
# Adjectives that may follow a number alone, `5 left`, and those that follow a unit of the given dimensions, `5 m tall`
_SUMMING = frozenset("total altogether each left remaining".split())  # noqa: SIM905
_MEASURING = dict.fromkeys("tall long wide high deep away apart".split(), ("length", "time", "")) | {"old": ("time",)}  # noqa: SIM905
# Words that change or deny the number before them. They are never units, even if the question has them
NEVER = frozenset(
    """not no is isn't never wrong if when than then but maybe perhaps else otherwise plus minus times more less fewer
    about approximately around roughly between with without where for the correct incorrect false true actually answer
    however and or to either neither both also likely unknown unless except all none any undefined mod modulo
    versus vs past until till after before over under below above negative squared cubed factorial
    doubled halved tripled negated reversed increased decreased reduced raised lowered
    multiplied divided added subtracted
    repeating recurring choose base power inverse reciprocal even odd prime zero hundred thousand million billion
    trillion nor nope nay oops sorry instead rather was were be been are am will would should could can't cannot off
    short up down out minus-sign opposite complement percent percentage basis bp bps oder und ou et o y e
    excluding including omitting ignoring discarding
    adding subtracting doubling halving tripling negating squaring missing lacking exceeding dividing multiplying
    increasing decreasing reversing inverting subtract add multiply divide negate halve triple""".split()  # noqa: SIM905
)
# Words that name a number: `2 dozen` is not 2
NUMBER_WORDS = frozenset(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety half halves quarter quarters third thirds
    first second-half twice thrice double triple quadruple gross lakh lac crore percentile permille ppm ppb pair couple
    dozen hundred thousand million billion trillion score tens ones unity myriad octet trio duo fold twofold threefold
    grosses dozens hundreds thousands millions billions trillions tenth hundredth thousandth""".split()  # noqa: SIM905
)
# Measure words of Chinese, Japanese, Korean, Bengali and Turkish
COUNTERS = frozenset(
    (
        *"个人只本张支件条块辆棵朵颗头座名位次种页岁间份套双盒箱袋瓶杯個枚匹冊台羽頭回개명권장번대",
        *["通り", "種類", "가지", "마리", "그루", "송이", "자루", "টি", "টা", "জন", "tane", "adet"],
    )
)


Dimension = dict[str, int]


class PhysicalUnit(NamedTuple):
    """The dimension of a unit, and its size in base units: a kilometre is `((("length", 1),), 1000)`."""

    dimension: tuple[tuple[str, int], ...]
    size: Fraction


def _table() -> Iterator[tuple[str, PhysicalUnit, str]]:
    """Each name of a unit in `DIMENSIONS`, such as `km`, with the unit and its dimension as written there, `length`."""
    for dimension, line in DIMENSIONS.items():
        powers = tuple((base.partition("^")[0], int(base.partition("^")[2] or 1)) for base in dimension.split())
        for entry in line.split("|"):
            names = entry.split()
            if names[-1][0].isdigit():
                unit = PhysicalUnit(powers, Fraction(names.pop()))
            else:
                # without a size the unit is a dimension of its own, by its first name
                unit = PhysicalUnit(((names[0], 1),), Fraction(1))
            yield from ((name, unit, dimension) for name in names)


# Unit symbols that may have a prefix, with the prefixes in the same script as powers of ten. The table above has other
# units with their prefixes, such as `Mg` and `mm`
_PREFIXES_OF_SI = (
    (
        ("J", "W", "N", "Pa", "Hz", "V", "A", "F", "C", "mol", "eV", "T", "\\Omega", "cal"),
        {"p": -12, "n": -9, "μ": -6, "m": -3, "h": 2, "k": 3, "M": 6, "G": 9, "T": 12},
    ),
    (("Дж", "Вт", "Н", "Па", "Гц", "Ом", "Кл", "Тл", "А", "В"), {"н": -9, "мк": -6, "м": -3, "к": 3, "М": 6, "Г": 9}),
    (("焦", "瓦", "牛", "帕", "赫", "伏", "安", "欧", "库"), {"纳": -9, "微": -6, "毫": -3, "千": 3, "兆": 6}),
)


def _prefixed(rows: Sequence[tuple[str, PhysicalUnit, str]]) -> Iterator[tuple[str, PhysicalUnit, str]]:
    """Units with a prefix, as in `_table`, if the table does not have them: `pN`, `nJ`."""
    named = {name for name, _, _ in rows}
    for (name, unit, dimension), (symbols, prefixes) in itertools.product(rows, _PREFIXES_OF_SI):
        for prefix, power in prefixes.items() if name in symbols else ():
            if prefix + name not in named:
                yield prefix + name, PhysicalUnit(unit.dimension, unit.size * Fraction(10) ** power), dimension


_ROWS = (*(_TABLE := tuple(_table())), *_prefixed(_TABLE))
_UNITS = {name: unit for name, unit, _ in _ROWS}
_LINES = {name: dimension for name, _, dimension in _ROWS}
#: Units whose symbol is a letter of the Latin alphabet.
SINGLE_LETTERS = frozenset(name for name in _UNITS if len(name) == 1 and name.isascii() and name.isalpha())
#: The names and the symbols of units in lower case, for comparing them with the words of a sentence.
#: Without the Russian ampere `а` and volt `в`, which are also the words `and` and `in`.
IN_LOWER_CASE = frozenset(map(str.lower, _UNITS)) - {"а", "в"}
SCALES = {"dozen": 12, "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
SCALES |= {"万": 10**4, "亿": 10**8}
PERCENT = frozenset({"percent", "pct", "percentage", "percents"})
DEGREES = frozenset({"degree", "degrees", "deg", "度", "도"})
TEMPERATURES = {"C": "celsius", "F": "fahrenheit"}
EXPONENTS = {"square": 2, "squared": 2, "sq": 2, "кв": 2, "cubic": 3, "cubed": 3, "cu": 3}
# English and Russian words of a power that always come before their unit: `square metres`
_IN_FRONT = frozenset({"square", "sq", "кв", "cubic", "cu"})
_CHINESE_POWERS = {"平方": 2, "立方": 3}
_MAX_WORDS = 6
_MAX_NOUNS = 3
_ABBREVIATION = 3
_ORDINAL = re.compile(
    r"(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|[a-z]*teen|[a-z]*tie|hundred|thousand|[a-z]*illion|n)ths?"
)
# Letters that are a unit if the other side has a unit of the same dimension: `5 m` for `500 \text{ cm}`
UNIT_LETTERS = frozenset("mgslLhNJWVA") | {"\\Omega"}


def _exact_name(word: str) -> str:
    """The word as the table of units spells it: `gallon` for `Gallons`, `Mg` for `Mg`.

    A word outside the table comes back singular and in lower case; a short one with a capital after its first letter,
    such as `MB`, as it is.
    """
    word = word.rstrip(".")
    if word in _UNITS or word in COMPOUND:
        return word
    lower = singular(word)
    if len(word) <= _ABBREVIATION and lower in _UNITS and (word[0] in "MN" or len(word) == 1):
        # Case matters here: `Mg` is not `mg`, and `G` is not a gram
        return word
    is_word = lower in _UNITS or lower in COMPOUND or lower in COUNTED or lower in DESCRIBING
    # In an unknown abbreviation case may matter, too: `Mb` is not `MB`
    return word if len(word) <= _ABBREVIATION and not is_word and word[1:] != word[1:].lower() else lower


# Words of other languages that the file behind `abroad` does not have: short ones, and words of two meanings
_MORE_ABROAD = {
    word: name
    for name, words in {
        "hour": "jam ora ore uur óra timmen година години годину saat",
        "minute": "분",
        "second": "초 ث",
        "meter": "م",
        "kilogram": "كغ كجم",
        "day": "dni",
        "month": "mese",
        "year": "год ano năm",
        # of a length in a drawing without a scale
        "unit": "unidad unidades unidade unité unités unità einheit einheiten längeneinheiten единица единицы единиц ед"
        " egység jednostka jednostki jednostek jednotka jednotky jednotek birim br eenheid eenheden enhet enheter"
        " yksikkö yksikköä одиниця одиниці одиниць од satuan وحدة وحدات इकाई একক 单位 單位 単位 단위 หน่วย"
        " unități unitate enheder μονάδες μονάδα",
        "square unit": "birimkare đvdt területegység négyzetegység flächeneinheiten 平方单位 平方單位 平方単位"
        " ตารางหน่วย",
        "cubic unit": "birimküp đvtt térfogategység köbegység volumeneinheiten raumeinheiten 立方单位 立方單位"
        " 立方単位 ลูกบาศก์หน่วย",
        "ohm": "om омов 옴",
        "volt": "вольтов",
        "watt": "ваттов",
        "joule": "줄",
        "coulomb": "кулонов 쿨롱",
        "mole": "몰",
        "centimeter": "सेमी سم xăng-ti-mét",
        "millimeter": "مم mi-li-mét",
        "decimeter": "đề-xi-mét",
        "kilometer": "किमी كم ki-lô-mét",
        "lira": "liradır liraya lirası",
    }.items()
    for word in words.split()
}
# `in 4 days` in Turkish, in one word
_LOCATIVE = re.compile("(?P<unit>gün|saat|dakika|saniye|hafta|yıl|(?:kilo|santi)?metre|litre|(?:kilo)?gram)[dt][ea]n?")
# What Korean puts behind a noun
_PARTICLES = "이을은의를가"


def _name_abroad(word: str) -> str:
    """The English name of a unit, a power or `per` in another language: `meter` for `metros`; empty for another word.

    The endings of the Arabic accusative, of Korean particles and of the Turkish locative (`günde`) are dropped first.
    """
    said = word = word.lower()
    if "\u064b" in word and word not in abroad():
        word = word.replace("\u064b", "").removesuffix("\u0627")
    elif word[-1:] in _PARTICLES and word[:-1]:
        word = word[:-1]
    elif (located := _LOCATIVE.fullmatch(word)) is not None:
        word = located["unit"]
    # a word without such an ending is compared elsewhere with its case, which matters: `MG` does not mean milligram
    return abroad().get(word) or _MORE_ABROAD.get(word) or (word if word != said and word in _UNITS else "")


def exponent_named(word: str) -> int:
    """The power that a word raises a unit to, in any language: 2 for `quadrados`; 0 for another word."""
    word = word.lower().rstrip(".")
    return EXPONENTS.get(word) or EXPONENTS.get(_name_abroad(word), 0)


def is_percent(word: str) -> bool:
    """Whether the word means `percent` in some language: `Prozent`."""
    return word.lower() in PERCENT or _name_abroad(word) == "percent"


def is_degree(word: str) -> bool:
    """Whether the word means `degree` in some language: `Grad`."""
    return word.lower() in DEGREES or _name_abroad(word) == "degree"


def canonical(parts: list[tuple[str, int]]) -> Unit:
    """One spelling for all spellings of a unit: `[("cubic", 1), ("centimeters", 1)]` is `(("centimeter", 3),)`.

    Args:
        parts: each word with its exponent, which is negative in a denominator.

    Raises:
        Unreadable: there are too many words, or too many words that are not units.
    """
    if len(parts) > _MAX_WORDS:
        raise Unreadable("a sentence after a number")
    if [word.lower() for word, _ in parts[-2:]] == ["in", "all"]:
        parts = parts[:-2]
    powers: dict[str, int] = {}
    times = 1
    above = True
    for at, (word, exponent) in enumerate(parts):
        raises = exponent_named(word)
        # a power comes behind its unit in `metros cuadrados`, and before it in `g ανά κυβικό εκατοστό`
        if raises and powers and word.lower().rstrip(".") not in _IN_FRONT and above == (exponent > 0):
            powers[next(reversed(powers))] *= raises
        elif raises and (word.lower() in EXPONENTS or not known(singular(word))):
            times = raises
        else:
            name = _exact_name(word)
            if (
                not known(name)
                and (len(word) > _ABBREVIATION or not word.isascii() or exponent < 0 or word.lower() in _MORE_ABROAD)
                and (named := unit_named(word) or _nameless(word)) is not None
            ):
                raising, _, name = named.rpartition(" ")
                times *= EXPONENTS.get(raising, 1)
            if name[:2] in _CHINESE_POWERS and name[2:] in _UNITS:
                times, name = _CHINESE_POWERS[name[:2]], name[2:]
            if name in DESCRIBING and (name in _SUMMING or at + 1 < len(parts) or _measures(name, powers)):
                continue
            for base, power in COMPOUND.get(name, ((name, 1),)):
                powers[base] = powers.get(base, 0) + exponent * times * power
            times, above = 1, exponent > 0
    if times != 1 or sum(not known(name) for name in powers) > _MAX_NOUNS:
        raise Unreadable("words after a number that are no unit")
    return tuple((name, power) for name, power in sorted(powers.items()) if power)


def _measures(adjective: str, powers: dict[str, int]) -> bool:
    """Whether an adjective fits the unit before it: `tall` fits metres, `old` fits years but not metres.

    Args:
        powers: the units so far with their powers; the last one counts.
    """
    noun = next(reversed(powers), "")
    return powers.get(noun, 0) > 0 and _LINES.get(noun, "") in _MEASURING.get(adjective, ())


def known(word: str) -> bool:
    """Whether the word is a unit of measurement (`cm`), a counted noun (`apple`) or a measure word (`个`)."""
    return word in _UNITS or word in COUNTERS or word in COUNTED or (word[:2] in _CHINESE_POWERS and word[2:] in _UNITS)


#: The words between the two units of a rate: `miles per gallon`, `dollars a week`.
RATES = frozenset({"per", "a", "an", "each", "every"})
#: Vowel signs of Arabic and of the scripts from India to Cambodia, most of which `re` does not count as letters.
#: Some it does, so an alternative of letters and these is to be atomic.
MARKED = r"[\u064b-\u0652\u0900-\u109f\u1780-\u17d3\u200c\u200d]"
# `per` in other languages, beside those of the file
_PER_ABROAD = frozenset({"al", "την", "w"})


def is_per(word: str) -> bool:
    """Whether a word before a unit may mean `per`, in any language: `per`, `a`, `por`, `/`."""
    return (
        word.lower() in RATES
        or word.lower() in _PER_ABROAD
        or _name_abroad(word) == "per"
        or word in _JOINING.split("|")
    )


# `per` that joins two words: in Thai, in Lao, and a slash
_JOINING = "ต่อ|ຕໍ່|/"
_ONE_WORD = re.compile(rf"\s?(?P<word>{_JOINING}|(?:(?!{_JOINING})(?>[^\W\d_²³]|{MARKED}|-(?=[^\W\d_])))+\.?)")
_LONGEST_PHRASE = 4
# A word between a number and its unit, in Romanian and in Filipino
_LINKS = ("de", "na")


# Units in symbols, `m/s²`, `km/h`, which are read elsewhere
_HAS_SIGNS = re.compile(r"[^\W\d_²³]+(?:\s?[/·⋅]\s?[^\W\d_²³]+)*\s?[²³^]|[a-z]{1,5}\s?/\s?[a-z]{1,5}(?![^\W\d_])")


def in_english(text: str) -> tuple[str, int]:
    """The unit at the beginning of a text, in English, and the position of its end.

    `metros por hora al sol` gives `("meter per hour", 15)`. `("", 0)` for a text that begins with no unit, and for a
    unit of a single word, which `unit_named` reads.
    """
    found: list[re.Match[str]] = []
    if _HAS_SIGNS.match(text) is not None:
        return "", 0
    while len(found) <= _MAX_WORDS and (one := _ONE_WORD.match(text, found[-1].end() if found else 0)) is not None:
        found.append(one)
    words = [one["word"].rstrip(".") for one in found]
    phrases = ((abroad().get("_".join(words[:size]).lower(), ""), size) for size in range(_LONGEST_PHRASE, 1, -1))
    said, at = next((phrase for phrase in phrases if phrase[0] and phrase[1] <= len(words)), ("", 0))
    if said:
        return said, found[at - 1].end()
    linked = len(words) > 1 and words[0] in _LINKS
    said, at = _one_side(words[linked:])
    at += linked
    if said and at + 1 < len(words) and is_per(words[at]):
        below, more = _one_side(words[at + 1 :])
        said, at = (f"{said} per {below}", at + 1 + more) if below else ("", 0)
    elif words and is_percent(words[0]):
        said, at = "percent", 1
    elif words and is_degree(words[0]):
        said, at = "degrees", 1
    is_plain = at == 1 and said not in ("percent", "degrees") and re.fullmatch(r"[^\W\d_]+", words[0]) is not None
    return ("", 0) if not said or is_plain else (said, found[at - 1].end())


def _one_side(words: list[str]) -> tuple[str, int]:
    """The unit at the beginning of `words`, in English and with its power, and the number of its words.

    `["metros", "cuadrados", "por", "hora"]` gives `("square meter", 2)`. `("", 0)` if no unit comes first.
    """
    front = exponent_named(words[0]) if words else 0
    at = 1 if front else 0
    unit = unit_named(words[at]) if at < len(words) else None
    if unit is None:
        return "", 0
    behind = exponent_named(words[at + 1]) if at + 1 < len(words) and not front else 0
    raised = {0: "", 2: "square ", 3: "cubic "}[front or behind]
    return f"{raised}{unit}", at + 1 + (behind > 0)


_WHOLE_WORDS = re.compile(rf"(?>[^\W\d_²³]|{MARKED})+")


def unit_named(word: str) -> str | None:
    """The English name of a unit of measurement in any language: `meter` for `metros`; None if the word is no unit."""
    # in a short word the case of its first letter matters: `MS` does not mean milliseconds
    is_exact = len(word) <= _ABBREVIATION and word[:1] in ("M", "N")
    for name in (word,) if is_exact else (word, singular(word)):
        if name in _UNITS or (name[:2] in _CHINESE_POWERS and name[2:] in _UNITS):
            return name
    named = _name_abroad(word)
    return named if named.rpartition(" ")[2] in _UNITS else None


def _nameless(word: str) -> str | None:
    """`unit`, `square unit` or `cubic unit` for a foreign word that means it, as `unidades`; None for other words."""
    name = _MORE_ABROAD.get(word.lower().rstrip("."), "")
    return name if name.endswith("unit") else None


def is_unit_word(word: str) -> bool:
    """Whether a word of any language may be a part of a unit: `metros`, a counted noun, a measure word or `squared`."""
    return known(singular(word)) or exponent_named(word) > 0 or (unit_named(word) or _nameless(word)) is not None


@lru_cache(maxsize=1_024)
def units_named_in(text: str) -> frozenset[str]:
    """The English names of the units in a text of any language: `meter` and `km` of `5 metros y 3 km`."""
    return frozenset(name for word in _WHOLE_WORDS.findall(text) if (name := unit_named(word)) is not None)


def is_physical(unit: Unit) -> bool:
    """Whether a unit consists of units of measurement only: `m/s`, but not `apples per hour`."""
    return all(name in _UNITS for name, _ in unit)


def dimension_named(text: str) -> Dimension:
    """The powers in a dimension: `{"length": 2, "time": -1}` for `length^2 time^-1`. Every currency is `money`."""
    found: Dimension = {}
    for base in text.split():
        name, _, power = base.partition("^")
        name = "money" if name.startswith("money") else name
        found[name] = found.get(name, 0) + int(power or 1)
    return found


def dimension_of(unit: Unit) -> Dimension:
    """The dimension of a canonical unit of measurement: `{"length": 1, "time": -1}` for kilometres per hour.

    Unlike `measure`, it also knows that a year, which has no size in the table, is a time.
    """
    found: Dimension = {}
    for name, power in unit:
        for base, times in dimension_named(_LINES[name]).items():
            found[base] = found.get(base, 0) + power * times
    return {base: power for base, power in found.items() if power}


def mentions(text: str, unit: Unit) -> bool:
    """Whether a text has units for all dimensions above the fraction bar of `unit`: any length, for m² or m/s."""
    bases = {base for name, power in unit if power > 0 for base in dimension_of(((name, power),))}
    words = {
        part
        for word in re.findall(r"[a-zA-Z]+|[^\W\d_]+", text) + re.findall(r"[^\W\d_]+", text)
        for part in (unit_named(word) or "").split()[-1:]
    }
    words |= {name for name in _LINES if not name.isascii() and name in text}
    return bases <= {base for word in words for base in dimension_named(_LINES[word])}


_GIVEN_IN = re.compile(
    r"\d\$?(?:\s|~|\\[ ,;:]|-|\\(?:text|mathrm)\{)*"
    rf"([a-zA-Zμ]+|(?>[^\W\d_\u4e00-\u9fff]|{MARKED})+|[^\W\d_]{{1,3}})"
)
# The `$` of `R$`, a real of Brazil, is no dollar
_NO_COUNTRY = r"(?<![A-Z])(?<![A-Z]\\)"
_WORDS_OF_SCRIPTS = re.compile(rf"[a-zA-Zμ]+|(?>[^\W\d_a-zA-Z]|{MARKED})+|[^\W\d_]+")
_SIGNS = {
    "$": "dollar",
    "€": "euro",
    "£": "gbp",
    "¥": "元",
    "￥": "元",
    "₹": "rupee",
    "₽": "rouble",
    "₺": "lira",
    "₴": "hryvnia",
}


def unlike_given(unit: Unit, question: str) -> str:
    """The part of an answer's unit that differs from the question's: `m`, if the question has `7 cm` and no metres.

    Empty if there is none. Larger units of time and money are no difference: an answer in hours, for `90 minutes`.
    """
    names = [name for word in _GIVEN_IN.findall(question) for name in (_leading_name(word),) if name]
    names += [name for sign, name in _SIGNS.items() if re.search(rf"{_NO_COUNTRY}{re.escape(sign)}\s?\d", question)]
    words = (*_WORDS_OF_SCRIPTS.findall(question), *_UNSPACED_UNITS.findall(question))
    whole = [unit_named(word) or "" for word in _WHOLE_WORDS.findall(question)]
    spoken = {_UNITS.get(name) for name in (*whole, *(unit_named(word) or "" for word in words))}
    spent = spoken | {_UNITS[one] for sign, one in _SIGNS.items() if sign in question}
    for name, _ in unit:
        if is_money(name) and any(map(_is_sure_money, whole)) and not _is_of(name, spent):
            return name
        kind = dimension_named(_LINES[name])
        alike = {_UNITS[one] for one in names if dimension_named(_LINES[one]) == kind}
        if not alike or _UNITS[name] in alike | spoken:
            continue
        grows = {"time", "money"} & kind.keys()
        same_scale = {one.dimension for one in alike} == {_UNITS[name].dimension}
        if not (grows and same_scale and _UNITS[name].size > min(one.size for one in alike)):
            return name
    return ""


def _is_sure_money(name: str) -> bool:
    """Whether a name means one currency only: `euro`, but not `won` (also a verb) or `cent` (of dollars or euros)."""
    return is_money(name) and name not in ("won", "lei", "kip", "lev", "cent", "rub")


def _is_of(name: str, units: Set[PhysicalUnit | None]) -> bool:
    """Whether one of the units has the dimension of the unit `name`: `cent` and a dollar."""
    return any(one is not None and one.dimension == _UNITS[name].dimension for one in units)


def is_given_in(unit: Unit, question: str) -> bool:
    """Whether the question has a quantity of this unit's dimension: metres, for a question with `7 cm`.

    True also for a unit of several parts, such as km/h, and for counted nouns.
    """
    if len(unit) != 1 or not is_physical(unit):
        return True
    names = filter(None, map(_leading_name, _GIVEN_IN.findall(question)))
    return dimension_of(unit) in (dimension_of(((name, 1),)) for name in names)


# The longest first, so that 厘米 is not read as 米
_UNSPACED_UNITS = re.compile(
    "|".join(sorted((re.escape(name) for name in _LINES if not name.isascii()), key=len, reverse=True))
)


def _leading_name(word: str) -> str:
    """The unit of a word behind a number: `cm`, or `米` for `米长`, which begins with it; empty if there is none."""
    named = unit_named(word)
    if named is not None:
        return named.split()[-1] if named.split()[-1] in _UNITS else ""
    return next((word[:size] for size in (2, 1) if not word.isascii() and word[:size] in _UNITS), "")


def is_money(name: str) -> bool:
    """Whether the canonical name is a currency."""
    return name in _UNITS and _UNITS[name].dimension[0][0].startswith("money")


def names_of(unit: str) -> frozenset[str]:
    """Every name of the unit: for `m` these are `meter`, `metre`, `m` and `米`."""
    one = _UNITS.get(unit)
    return frozenset(name for name, other in _UNITS.items() if other == one)


_MEASURED = re.compile(
    r"(?P<number>[-+]?\d[\d.,]*(?:[eE][-+]?\d+)?(?:\s*(?:\\times|×|\\cdot|\*|[xX])\s*10\s*\^\s*\{?-?\d+\}?)?|-?\d+/\d+|-?\\[dt]?frac\{\d+\}\{\d+\})"
    r"(?P<gap>(?:\s|~|\\[ ,;])*)(?P<unit>[a-zA-ZμµΩ](?:[a-zA-ZμµΩ²³/·*]|\^\{?-?\d\}?|\s(?=[a-zA-Z])"
    r"|/\s?\([a-zA-ZμµΩ²³·* ^\d-]+\))*)"
)
# The number alone as a formula: `$5$ J`
_IN_SIGNS = re.compile(r"\A\$([^$]*)\$(?=.)")
_NAME_IN_UNIT = re.compile("[a-zA-ZμµΩ]+")


def with_unit_set(text: str, question: str, letters: frozenset[str]) -> str:
    r"""A reference with its unit typeset upright: `35 m²` as `35\ \mathrm{m^2}`.

    A text whose letters may be a formula comes back as it is.

    Args:
        question: the task's text; without it a single letter may be a symbol.
        letters: the letters of the question's formulas.
    """
    is_short = len(text) <= _LONGEST and any(map(str.isalpha, text))
    found = _MEASURED.fullmatch(_IN_SIGNS.sub(r"\1", text)) if is_short else None
    names = [] if found is None else _NAME_IN_UNIT.findall(found["unit"])
    if found is None or not all(name in _UNITS for name in names):
        return text
    # the article `A` is no letter of a formula
    letters = letters - {"A"} if not re.search(r"(?<![a-zA-Z\\])A(?! [a-z0-9])", question) else letters
    for name in names:
        spoken = (
            len(names) > 1 and re.search(rf"(?<![a-zA-Z]){re.escape(found['unit'])}(?![a-zA-Z])", question) is not None
        )
        spoken = spoken or any(one in question for one in names_of(name) if not one.isascii())
        spoken = spoken or _is_used_as_unit(name, question)
        is_sure = spoken or (found["gap"] and (len(name) > 1 or (question and name not in letters)))
        if not is_sure and len(names) == 1:
            return text
        if not spoken and len(names) > 1 and len(name) == 1 and name in letters:
            return text
    unit = found["unit"].replace("²", "^2").replace("³", "^3")
    return f"{found['number']}\\ \\mathrm{{{unit}}}"


# A rate behind a number: `5 m/s`
_RATE_OF = re.compile(r"\d\}?\$?(?:\s|~|\\[ ,;])?([a-zA-Z]{1,3})\s?/\s?([a-zA-Z]{1,3})(?![a-zA-Z])")


def _is_used_as_unit(letter: str, question: str) -> bool:
    """Whether a question uses a letter as a unit: `10 m long`, but not `y = 10 m + 3`, where it may be a symbol."""
    if any(letter in rate and _UNITS.keys() >= set(rate) for rate in _RATE_OF.findall(question)):
        return True
    own = rf"{re.escape(letter)}(?![a-zA-Z])"
    if re.search(rf"[-+*/^=<>(]\s*\d*{own}|(?<![a-zA-Z\\]){own}\s*[-+*^=<>]", question) is not None:
        return False
    return re.search(rf"\d\}}?\$?(?:(?:\s|~|\\[ ,;]){own}|{own}(?=[\u3000-\u9fff\uff00-\uffef]))", question) is not None


def unknown_words(unit: Unit) -> list[str]:
    """The words of a canonical unit that are neither units nor counted nouns: `blah` of `cm blah`."""
    return [name for name, _ in unit if not known(name)]


# Thousands and more, in any language
_SCALE_ABROAD = re.compile(
    r"(?:tausend|millier|migliai|milhar|millar|tysi[ąę]c|duizend|тысяч|bilion|mil+iard|миллиард|mil+i[oó]n|миллион|milhões|milyon)\w{0,4}"
    "|mil|mila|mille|milhão|nghìn|triệu|tỷ|ribu|juta|[백천만억]+"
)


def operates(word: str) -> bool:
    """Whether a word changes or denies the number beside it: `doubled`, `thirds`, `not`, `million`."""
    word = word.lower()
    return word in _CHANGING or (_ORDINAL.fullmatch(word) or _SCALE_ABROAD.fullmatch(word)) is not None


def singular(word: str) -> str:
    """The word in lower case, without a plural ending: `apple` for `Apples`, `glass` for `glass`."""
    word = word.lower().rstrip(".")
    if word in _UNITS or word in COUNTED or word.endswith("ss"):
        return word
    for plural, ending in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(plural) and ((one := word.removesuffix(plural) + ending) in _UNITS or one in COUNTED):
            return one
    if len(word) < 4:
        return word
    if word.endswith("es") and word[-3] in "xhs":
        return word[:-2]
    return word.removesuffix("s")


# Also without a plural ending, because the words of a canonical unit have lost it: `minu` was `minus`
_CHANGING = NEVER | NUMBER_WORDS | {singular(word) for word in NEVER if len(word) > 3}


def measure(unit: Unit) -> PhysicalUnit:
    """The dimension and the size of a canonical unit; a word outside the table, `apple`, is a dimension of its own."""
    dimensions: Dimension = {}
    size = Fraction(1)
    for name, power in unit:
        one = _UNITS.get(name, PhysicalUnit(((name, 1),), Fraction(1)))
        for base, base_power in one.dimension:
            dimensions[base] = dimensions.get(base, 0) + power * base_power
        size *= one.size**power if abs(power) < 10 else 1
    return PhysicalUnit(tuple(sorted((d, p) for d, p in dimensions.items() if p)), size)


def measured(node: Node, parts: list[tuple[str, int]]) -> Node:
    """The number with the unit of the words behind it: `5` and `[("km", 1)]` are a `Quantity`.

    `million` multiplies it, `percent` makes a `Percent` of it, `degrees` a `Degrees`, and `squared` a `Power`.

    Args:
        parts: each word with its exponent, as in `canonical`; this list may be changed.

    Raises:
        Unreadable: the words are no unit.
    """
    if [word.lower() for word, _ in parts] in (["squared"], ["cubed"]):
        return Power(node, number(EXPONENTS[parts[0][0].lower()]))
    while parts and parts[0][0].lower() in SCALES:
        node = Product((node, number(SCALES[parts.pop(0)[0].lower()])))
    if not parts:
        return node
    if len(parts) == 1 and is_percent(parts[0][0]):
        return node if isinstance(node, Percent) else Percent(node)
    if len(parts) == 2 and is_degree(parts[0][0]) and parts[1][0].lower() in TEMPERATURES.values():
        del parts[0]
    if len(parts) == 1 and is_degree(parts[0][0]):
        return node if isinstance(node, Degrees) else Degrees(node)
    if isinstance(node, Quantity):
        # The number has a unit already, as in `\$5 per hour`
        parts, node = [*node.unit, *parts], node.inside
    unit = canonical(parts)
    # words such as `in all` leave no unit
    return Quantity(node, unit) if unit else node


_SPACE = r"(?:\\[ ,;:!]|~|\s)*+"
_GROUP = r"\{((?:[^{}]|\{[^{}]*\})*+)\}"
_ATOM = r"(?:\\(?:text|mathrm)\{\s*)?[a-zA-Zμ]{1,4}\}?(?:\^\{?-?\d\}?)?"
_ATOMS = rf"{_ATOM}(?:(?:\\cdot\s*|·|{_SPACE}){_ATOM}){{0,3}}"
# A fraction of units behind a number, with a fraction bar or a slash
_UNITS_BY_FRACTION = re.compile(
    rf"(?<=[\d}})]){_SPACE}(?:(?:\\mathrm\s*\{{\s*)?\\[dt]?frac\s*{_GROUP}\s*{_GROUP}(?:\s*\}})?"
    rf"|({_ATOMS})\s*/\s*\(?({_ATOMS})\)?)\s*(?=$|[=,;]|\\approx)"
)
_MARKUP = re.compile(r"\\(?:text|mathrm|textrm|mbox|rm)(?![a-zA-Z])|\\(?:cdot|times)(?![a-zA-Z])|\\[ ,;:!]|[~·*{}]")
_POWER_OF_UNIT = re.compile(r"([a-zA-Zμ]+)(?:\^(-?\d))?")
_LONGEST_WITH_UNITS = 500


def units_in_line(text: str) -> str:
    r"""The text with fractions of units in one line: `2.4\,\frac{\text{g}}{\text{cm}^3}` as `2.4\text{ g/cm^3}`.

    Italic letters may be variables, so `2\frac{m}{s}` becomes `2 m/s`, without `\text`. Units in other languages become
    English ones: `2\text{ metrů za sekundu}` as `2\text{ meter per second}`.
    """
    if len(text) > _LONGEST_WITH_UNITS:
        return text
    if "每" in text:
        text = _PER.sub(_per, text)
    if "\\text" in text:
        text = _TEXT_BEHIND.sub(_text_in_english, text)
    if "/" not in text and "frac" not in text:
        return text
    return _UNITS_BY_FRACTION.sub(_in_line, text)


# A unit in Chinese words: `米每二次方秒`, metres per second squared
_PER = re.compile(
    r"(?<=[\d}\s{~])([\u4e00-\u9fff]{1,4})每(?P<power>二次方|三次方|平方(?=秒))?([\u4e00-\u9fff]{1,5})(?=\s*\}?[。.]?$)"
)


def _per(found: re.Match[str]) -> str:
    """A unit in Chinese words with a slash: `米/秒²` for `米每二次方秒`."""
    return f"{found[1]}/{found[3]}{'' if found['power'] is None else '³' if found['power'][0] == '三' else '²'}"


_TEXT_BEHIND = re.compile(r"(?<=[\d}])(?P<gap>(?:\\[ ,;:!]|[~\s])*)\\text\s*\{\s*(?P<words>[^{}\\]{3,60}?)\s*\}")


def _text_in_english(match: re.Match[str]) -> str:
    r"""A foreign unit of several words in English: `\text{ meter per second}` for `\text{ metrů za sekundu}`.

    Any other matched text comes back as it is.
    """
    words = match["words"].split("-")
    if len(words) > 1 and all(unit_named(word) is not None and len(word) > _ABBREVIATION for word in words):
        # `newton-seconds`
        return f"{match['gap']}\\text{{ {' '.join(words)}}}"
    said, end = in_english(match["words"])
    if not said or end < len(match["words"].rstrip(".")):
        return match[0]
    return "\\%" if said == "percent" else f"{match['gap']}\\text{{ {said}}}"


def _in_line(match: re.Match[str]) -> str:
    r"""A fraction of units in one line: `\text{ g/cm^3}` for `\frac{\text{g}}{\text{cm}^3}`; others as they are."""
    above, below = map(_atoms, filter(None, match.groups()))
    if not above or not below or match[0].count("{") != match[0].count("}"):
        return match[0]
    said = f"{' '.join(above)}/({' '.join(below)})" if len(below) > 1 else f"{' '.join(above)}/{below[0]}"
    is_sure = re.search(r"\\(?:text|mathrm)|(?<![a-zA-Zμ\\])[a-zA-Zμ]{2}", match[0].replace("frac", "")) is not None
    return rf"\text{{ {said}}}" if is_sure else f" {said}"


def _atoms(part: str) -> list[str]:
    r"""The units of a product, each with its power: `["kg", "m^2"]` for `\text{kg}\cdot\text{m}^{2}`.

    Empty if a factor is no unit.
    """
    atoms = _MARKUP.sub(" ", part.replace("^{", "^").replace("}^", "^")).split()
    found = [_POWER_OF_UNIT.fullmatch(atom) for atom in atoms]
    return atoms if all(one is not None and unit_named(one[1]) is not None for one in found) else []


_POWER_WORDS = {"2": " squared", "3": " cubed"}


def unit_of_markup(behind: str) -> str:
    r"""A typeset unit behind a number in words: `m per s squared` for `\,\frac{\text{m}}{\text{s}^2}`.

    Empty if there is none, and for a single unit such as `\text{m}`.
    """
    behind = _NEXT_FORMULA.sub("", behind)
    end = _FORMULA_ENDS.search(behind)
    tail = re.sub(r"\s+per\s+", "/", behind[: end.start()] if end is not None else behind)
    if not tail.strip() or len(tail) > _LONGEST_WITH_UNITS:
        return ""
    if (fraction := _UNITS_BY_FRACTION.fullmatch(f"1{tail}", 1)) is not None:
        above, below = map(_atoms, filter(None, fraction.groups()))
    else:
        atoms = _atoms(tail)
        above = [atom for atom in atoms if "^-" not in atom]
        below = [atom.replace("^-1", "").replace("^-", "^") for atom in atoms if "^-" in atom]
        if len(atoms) < len("ab"):
            return ""
    return " per ".join([" ".join(map(_in_words, above)), *map(_in_words, below)]) if above else ""


def in_factors(unit: str) -> list[tuple[str, int]]:
    """The words of a unit, each with 1, or with -1 behind `per`: `m per s` gives `[("m", 1), ("s", -1)]`."""
    above, *below = unit.split(" per ")
    return [(word, sign) for sign, parts in ((1, [above]), (-1, below)) for part in parts for word in part.split()]


def is_one_unit(text: str) -> bool:
    r"""Whether a text is an upright product or fraction of units, without a number: `\mathrm{L\,mol^{-1}}`."""
    return ("\\mathrm" in text or "\\text" in text) and unit_of_markup(text) != ""


def _in_words(atom: str) -> str:
    """A unit with its power in words: `s squared` for `s^2`."""
    name, _, power = atom.partition("^")
    return f"{name}{_POWER_WORDS.get(power, '')}"


_NEXT_FORMULA = re.compile(r"\A\s*\$\s*\$")
_FORMULA_ENDS = re.compile(r"\$|\\[)\]]|(?<!\\)[.,;](?=\s|\Z)|\n")
_WRITING = re.compile(r"\\(?:text|mathrm|textrm|mbox|rm|operatorname)\b|\\[ ,;:!>]|\\q?quad\b|[{}~$]")
# Short words that mean the smaller coin of a currency only if the text has that currency: `2 euro 30 cent`
_PARTS_OF = {"cent": (("euro", "eurocent"),), "c": (("euro", "eurocent"), ("dollar", "cent")), "gr": (("zł", "grosz"),)}
# Hindi and Thai write vowels as marks, which `re` does not count as letters
_PART = r"(\d+(?:\.\d+)?)\s*((?:[^\W\d_][\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e4e]*)+\.?)"
_WHOLE = re.compile(
    rf"{_PART}(?:\s*(?:,|;|,?\s*\b(?:and|und|et|y|e|и|и|та|і|й|en|och|og|ja|és|și|oraz|dan|ve|và|και|a)\b|\s*(?:和|と))?\s*{_PART}){{1,3}}"
)
_PARTS = re.compile(_PART)
_HAS_TWO = re.compile(r"\d\D*[^\W\d_]\D*\d[\d.]*\D*[^\W\d_]")
_LONGEST = 120


def added_up(text: str) -> str | None:
    r"""A quantity in several units as one in the smallest: `5 ft 3 in` as `63\text{ in}`.

    None for any other text. The largest unit must come first, and each amount must be less than one of the unit before
    it, so `5 ft 17 in` is not read.
    """
    if len(text) > _LONGEST or not _HAS_TWO.search(text):
        return None
    plain = " ".join(_WRITING.sub(" ", text).split())
    if not _WHOLE.fullmatch(plain):
        return None
    parts = [(Fraction(amount), word.rstrip(".")) for amount, word in _PARTS.findall(plain)]
    parts = [(amount, "分钟" if word == "分" and at else word) for at, (amount, word) in enumerate(parts)]
    units = [word if len(word) <= 2 and word.isascii() else unit_named(word) or singular(word) for _, word in parts]
    units = [next((part for one, part in _PARTS_OF.get(word, ()) if one in units), word) for word in units]
    # the m of `2h 30m` is a minute: a metre cannot follow an hour
    times = any(measure(((name, 1),)).dimension == (("time", 1),) for name in units)
    found = [measure((("min" if times and name == "m" else name, 1),)) for name in units]
    sizes = [unit.size for unit in found]
    if len({unit.dimension for unit in found}) != 1 or sizes != sorted(set(sizes), reverse=True):
        return None
    if any(amount * size >= larger for (amount, _), size, larger in zip(parts[1:], sizes[1:], sizes, strict=False)):
        # `5 ft 17 in`: the inches are more than a foot
        return None
    total = Fraction(sum(amount * size for (amount, _), size in zip(parts, sizes, strict=True))) / sizes[-1]
    unit = "min" if times and units[-1] == "m" else units[-1]
    written = f"\\frac{{{total.numerator}}}{{{total.denominator}}}" if total.denominator > 1 else str(total)
    return f"{written}\\text{{ {unit}}}"


def in_asked_unit(text: str, asked: Set[PhysicalUnit], given: Set[Fraction]) -> str:
    """A quantity in several units as a number of the unit that is asked for: `2 h 30 min` as `150`.

    Any other text comes back as it is, and so does a quantity whose amounts the question gives.

    Args:
        asked: the units that the question asks for.
        given: the numbers of the question.
    """
    amount = _ADDED.fullmatch(added_up(text) or "") if asked else None
    if amount is None or {Fraction(one) for one, _ in _PARTS.findall(_WRITING.sub(" ", text))} <= given:
        return text
    unit = measure(((amount["unit"], 1),))
    total = Fraction(f"{amount['top'] or amount['whole']}/{amount['bottom'] or 1}") * unit.size
    found = {total / one.size for one in asked if one.dimension == unit.dimension}
    if len(found) != 1 or (number := found.pop()).denominator > _MOST_PARTS_OF_ONE:
        return text
    return str(number) if number.denominator == 1 else f"\\frac{{{number.numerator}}}{{{number.denominator}}}"


_ADDED = re.compile(r"(?:\\frac\{(?P<top>\d+)\}\{(?P<bottom>\d+)\}|(?P<whole>\d+))\\text\{ (?P<unit>.+)\}")
_MOST_PARTS_OF_ONE = 1_000_000
_ASKED = re.compile(
    r"\b(?:how many|in(?! how\b)|into|to|en|em|в|wie ?viele?|combien de|cuánt[oa]s|quant[oaie]s?|сколько|скільки"
    r"|kolik|hány|kuinka monta|câ[tț][ei]|πόσ(?:ες|α|ους|οι|η|ο)|כמה"
    r"|hoeveel|ile|bao nhiêu|berapa|kaç(?! \w+ kare)|कितन[ेीा]|몇|hur många|hvor mange|combien (?=d['’]))"
    r"(?:\s+|d['’])(?:units of\s+)?(?:the nearest\s+)?(?:°|\\circ|\^\\circ|degrees?\s+)?"
    r"(?P<words>(?:[^\W\d_]|°)+(?:\^?\{?[23]\b\}?|[²³])?(?:(?:\s*/\s*|\s+)[^\W\d_]+(?:\^?\{?[23]\b\}?|[²³])?){0,4})"
    r"|(?:多少|几|单位(?:是|为|[:：])?)\s*(?P<symbol>[千毫兆]?[焦牛帕瓦赫伏安欧](?:耳|顿|斯卡|特|兹|培|姆)?|[a-zA-Zμ]{1,4}(?=[？?。）)，,]))"
    r"|(?:每(?P<span>小时|分钟|秒|天)[^，。？每]{0,6})?(?:多少|几)(?:个)?(?P<chinese>[米克元角港升秒分天周年厘毫千公平方立斤里钟小时顷亩]{1,4}?)(?:[/每](?P<below>小时|时|分钟|分|秒|天)|(?![米克元角升秒分天周年厘毫千公平方立斤里钟小时顷亩]))",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"\bhow much (?:money |more |change |profit |in total )*(?:does|did|do|will|would|is|was|should|can|has|have)\b"
    r"[^.?]{0,80}\b(?:earn|cost|pay|spend|save|owe|charge|make|price|profit)\b",
    re.IGNORECASE,
)
_OTHER_MONEY = re.compile(r"€|£|¥|\b(?:euros?|pounds?|cents?|yen|yuan|rupees?)\b", re.IGNORECASE)
# A rate that the question gives and does not ask for: `$45 per hour`
_GIVEN_RATE = re.compile(
    r"(?:[$€£¥]|\\\$)?\s?\d[\d,.]*\$?\s*(?:[a-z]+\s+){0,2}?(?:(?:per|an?|each|every)\s+[a-z]+|/\s*[a-z]+)"
    r"|每[^，。？0-9]{0,8}\d[\d.]*[^，。？]{0,4}|\d[\d.]*[^，。？\d]{1,3}/[^，。？]{1,3}",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"\b(?:per|each|every|apiece|rates?|unit|speed|velocity|pace|fast(?:er)?|average|mean|density|slope|hourly|daily|weekly|monthly"
    r"|yearly|annual|annually|acceleration|gradient|efficiency|economy|mileage|flow|frequency|concentration|wage|salary|rent"
    r"|pressure|(?:what|which) price)\b|/|[每率]|速度|单价|平均",
    re.IGNORECASE,
)
# `a pencil`: the question may ask for its price
_ONE = re.compile(r"\b(?:an?|one|1|per|each|every)\s+((?:[a-z]+\s*){1,3})", re.IGNORECASE)
_AMOUNT = re.compile(
    r"\bhow (?:many|much|far|long|tall|high|deep|heavy)\b|\b(?:total|altogether|distance)\b|多少|一共|共", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?:[^.?!。？！\n]|\.(?=\d))*+[?？]")
_POWERS = frozenset({"square", "cubic", "sq", "cu"})
_MAX_CHARS = 5_000


def asked_units(text: str) -> frozenset[PhysicalUnit]:
    """The units that the question asks for by name: kilometres per hour for `How many km per hour does it drive?`

    Counted nouns, as in `How many apples?`, are no units here.
    """
    found: set[PhysicalUnit] = set()
    text = _POWERS_ALONE.sub(lambda one: f"$\\text{{{one[0].replace('$', '')}}}$", text)
    if (money := _MONEY.search(text[:_MAX_CHARS])) is not None and "$" in text:
        found |= _measured([("dollar", 1)]) if not _OTHER_MONEY.search(money.string) else set()
    for typeset in _ASKED_TYPESET.finditer(text[:_MAX_CHARS]):
        found |= _measured(in_factors(unit_of_markup(typeset[1])))
    for match in _ASKED_ABROAD.finditer(text[:_MAX_CHARS]):
        # with an ending, or with the words behind it
        word = match["word"]
        name = next(
            (one for size in range(min(len(word), _LONGEST_WORD), 1, -1) if (one := unit_named(word[:size]))), ""
        )
        found |= _measured(in_factors(in_english(text[match.start("word") :])[0] or name))
    for match in _ASKED.finditer(text[:_MAX_CHARS]):
        if match["chinese"]:
            found |= _measured(
                [(match["chinese"], 1), *((span, -1) for span in (match["span"], match["below"]) if span)]
            )
            continue
        if (symbol := match["symbol"]) is not None:
            found |= _measured([(symbol, 1)]) if unit_named(symbol) is not None else set()
            continue
        # Dollars are rounded to the nearest cent, and stay dollars
        if "nearest cent" not in match.group().lower():
            sign = -1 if _INVERSE.match(match.string, match.end()) else 1
            found |= _measured([(word, sign * power) for word, power in _leading_unit(match)])
    if not found and "/" in text:
        # in any language, a rate without a number before it is the unit that is asked for: `（单位：km/h）`
        said = text[-_MAX_CHARS:]
        named = {
            tuple(map(unit_named, match.groups()))
            for match in _SLASHED.finditer(said)
            if _OF_A_NUMBER.search(said[max(match.start() - _NEAR, 0) : match.start()]) is None
        }
        rates = [(above, below) for above, below in named if above is not None and below is not None]
        found |= _measured([(rates[0][0], 1), (rates[0][1], -1)]) if len(rates) == 1 else set()
    return frozenset(found)


_LONGEST_WORD = 24
_ASKED_ABROAD = re.compile(
    rf"(?:(?<![^\W\d_])(?:কত|कितने|कितनी|कितना|किती|كم|چند|کتنے|எத்தனை)\s+|กี่)(?P<word>(?>[^\W\d_]|{MARKED})+)"
)
# Units whose power alone is a formula: `in J K$^{-1}$`
_POWERS_ALONE = re.compile(
    r"(?<=\b[ie][nm] )(?:[a-zA-Zμ]{1,4}(?:\$\^\{?-?\d\}?\$)?[ ·])+"
    r"[a-zA-Zμ]{1,4}\$\^\{?-\d\}?\$(?:[ ·][a-zA-Zμ]{1,4}\$\^\{?-\d\}?\$)*"
)
_SLASHED = re.compile(r"(?<![\w/$}])(?<![\d})$]\s)([^\W\d_]{1,12})\s?/\s?([^\W\d_]{1,12})(?![\w/^²³])")

# The end of the text before the unit of a number: `20\\ \\mathrm{`
_OF_A_NUMBER = re.compile(r"[\d})](?:[\s~$]|\\[ ,;:!]){0,9}(?:\\(?:mathrm|text|textrm|rm)\s?\{?)?[\s~]{0,9}\Z")
_NEAR = 40


_ASKED_TYPESET = re.compile(
    r"\b(?:in|en|em|в|units? of)\s+(?:units? of\s+)?\$?(\\(?:mathrm|text|rm)\s*\{(?:[^{}$]|\{[^{}]*\}){1,40}\})\$?",
    re.IGNORECASE,
)
_INVERSE = re.compile(r"\s?\$?\s?(?:\^\s?\{?\s?-\s?1|⁻¹)")


class AskedAmount(NamedTuple):
    """The kind of amount that a question asks for.

    Attributes:
        rate: whether the question may ask for a rate, by a word like `per` outside a given rate (`$45 per hour`).
        amount: whether the question asks for an amount, as `how many` and `total` do.
        ones: the words after `a`, `one`, `per` and `each`, singular: a rate may be for one such thing.
    """

    rate: bool
    amount: bool
    ones: frozenset[str]


def asked_amount_of(text: str) -> AskedAmount:
    """The kind of amount that a question asks for: a rate for `What is the price per apple?`"""
    text = text[-_MAX_CHARS:]
    asked = " ".join(_SENTENCE.findall(text)) or text
    asked = _GIVEN_RATE.sub(" ", asked)
    ones = frozenset(singular(word) for words in _ONE.findall(asked) for word in words.split())
    return AskedAmount(_RATE.search(asked) is not None, _AMOUNT.search(asked) is not None, ones)


_RAISED = re.compile(r"(?:\^?\{?[23]\}?|[²³])\Z")


_BEFORE_UNITS = frozenset("full whole more additional extra complete entire".split())  # noqa: SIM905


def _leading_unit(match: re.Match[str]) -> list[tuple[str, int]]:
    """The unit at the beginning of the matched words: `[("mile", 1), ("hour", -1)]` of `miles per hour does he`.

    Empty if the words begin with no unit.
    """
    parts: list[tuple[str, int]] = []
    waiting: list[tuple[str, int]] = []
    sign = 1
    said = match["words"].replace("/", " per ").split()
    for word in said:
        raised = _RAISED.search(word)
        power = 1 if raised is None else 2 if raised[0].strip("^{}") in ("2", "²") else 3
        word = word if raised is None else word[: raised.start()]
        word = unit_named(word) or word
        if word == "in" and (said[-1] != word or match.string[match.end() :].lstrip()[:1].isalnum()):
            # a preposition: `grow to in 2 years`
            break
        if not (parts or waiting) and word.lower() in _BEFORE_UNITS:
            continue
        if word == "per" or (parts and word not in RATES and is_per(word)):
            sign = -1
        elif word in TEMPERATURES and not parts and match.group().rstrip().endswith(word):
            parts.append((TEMPERATURES[word], 1))
        elif word in SINGLE_LETTERS and said == [word] and match.string[match.end() : match.end() + 1] in ".,?)":
            # `in J?`; a letter in a formula would have a dollar sign behind it
            parts.append((word, 1))
        elif word.lower() in _POWERS:
            waiting.append((word, sign))
        elif parts and sign > 0 and len(word) <= 2:
            # a short word is a verb: `quanti euro ha speso`
            break
        elif _is_unit(word) or ((sign < 0 or "per" in said[1:2]) and known(word)):
            parts += [*waiting, (word, sign * power)]
            waiting = []
        else:
            # `km per blah` is no number of km
            return [] if sign < 0 and parts[-1][1] > 0 else parts
    return parts


def _is_unit(word: str) -> bool:
    """Whether a word behind `how many` is a unit: `years`, `dollar`, `mph`; no single letter and no counted noun."""
    one = singular(word)
    if one == "dollar":
        return True
    # A single letter may be a name: `in m`
    named = len(word) > 1 and (known(word) or known(one)) and (one == "year" or one not in COUNTED)
    return named or word.lower() in COMPOUND


def _measured(parts: list[tuple[str, int]]) -> set[PhysicalUnit]:
    """The unit that the words mean, as the only member of a set; empty if they mean none."""
    try:
        return {measure(canonical(parts))} if parts else set()
    except Unreadable:
        return set()
