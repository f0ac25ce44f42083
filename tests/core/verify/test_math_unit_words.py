r"""Words behind a number, each by its verdict: units and their sizes, counted things, words that change it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from agentscope_tuner.verify.math.verdict import compare

# a unit, and how many of it each of the others is
SIZES = {
    "meters": """m 1, meter 1, metre 1, 米 1, cm 1/100, centimeter 1/100, centimetre 1/100, 厘米 1/100, mm 1/1000,
        millimeter 1/1000, millimetre 1/1000, 毫米 1/1000, dm 1/10, decimeter 1/10, decimetre 1/10, 分米 1/10, km 1000,
        kilometer 1000, kilometre 1000, 千米 1000, 公里 1000, nm 1/1000000000, nanometer 1/1000000000,
        nanometre 1/1000000000, Mm 1000000, megameter 1000000, megametre 1000000, micrometer 1/1000000,
        micrometre 1/1000000, μm 1/1000000, inch 127/5000, in 127/5000, ft 381/1250, foot 381/1250, feet 381/1250,
        yd 1143/1250, yard 1143/1250, mi 201168/125, mile 201168/125""",
    "square meters": "hectare 10000, ha 10000, 公顷 10000, acre 316160658/78125, 平方米 1, 平方千米 1000000",
    "cubic meters": "立方米 1, 立方厘米 1/1000000, cu ft 55306341/1953125000, cubic ft 55306341/1953125000",
    "liters": """l 1, L 1, litre 1, 升 1, ml 1/1000, mL 1/1000, milliliter 1/1000, millilitre 1/1000,
        cc 1/1000, 毫升 1/1000, ML 1000000, megaliter 1000000, megalitre 1000000, cl 1/100, cL 1/100, centiliter 1/100,
        centilitre 1/100, dl 1/10, dL 1/10, deciliter 1/10, decilitre 1/10, cubic decimeter 1,
        gallon 473176473/125000000,
        gal 473176473/125000000, quart 473176473/500000000, qt 473176473/500000000, pint 473176473/1000000000,
        pt 473176473/1000000000""",
    "grams": """g 1, gram 1, gramme 1, 克 1, kg 1000, kilogram 1000, kilogramme 1000, 千克 1000, 公斤 1000, mg 1/1000,
        milligram 1/1000, 吨 1000000, tonne 1000000, Mg 1000000, lb 45359237/100000, pound 45359237/100000,
        oz 45359237/1600000, ounce 45359237/1600000, microgram 1/1000000, μg 1/1000000""",
    "seconds": """s 1, sec 1, second 1, 秒 1, min 60, minute 60, 分钟 60, h 3600, hr 3600, hour 3600, 小时 3600,
        时 3600, day 86400, 天 86400, week 604800, 周 604800, ms 1/1000, millisecond 1/1000, microsecond 1/1000000,
        μs 1/1000000""",
    "dollars": "dollar 1, usd 1, USD 1, 美元 1, cent 1/100, ¢ 1/100",
    "euros": "euro 1, eur 1, EUR 1, 欧元 1",
    "yen": "jpy 1, JPY 1, 円 1, 日元 1",
    "yuan": "rmb 1, RMB 1, cny 1, CNY 1, renminbi 1, 元 1, 人民币 1",
    "GBP": "gbp 1, sterling 1, 英镑 1, pence 1/100",
    "rupees": "rupee 1, inr 1, INR 1",
    "radians": "rad 1, radian 1",
    "joules": "J 1, kJ 1000, kilojoule 1000, MJ 1000000, megajoule 1000000, cal 523/125, calorie 523/125, kcal 4184",
    "watts": "W 1, kW 1000, kilowatt 1000, MW 1000000, megawatt 1000000, mW 1/1000, milliwatt 1/1000",
    "newtons": "N 1, newton 1, kN 1000, kilonewton 1000",
    "pascals": "Pa 1, pascal 1, kPa 1000, kilopascal 1000, MPa 1000000, megapascal 1000000",
    "hertz": "Hz 1, kHz 1000, kilohertz 1000, MHz 1000000, megahertz 1000000, GHz 1000000000, gigahertz 1000000000",
    "volts": "V 1, volt 1, mV 1/1000, millivolt 1/1000, kV 1000, kilovolt 1000",
    "amperes": "A 1, ampere 1, amp 1, mA 1/1000, milliampere 1/1000, milliamp 1/1000",
    "ohms": "ohm 1, Ω 1, kiloohm 1000",
    "moles": "mol 1, mole 1, mmol 1/1000, millimole 1/1000",
    "bits": "bit 1, byte 8",
    "kelvin": "K 1, kelvin 1",
    "months": "month 1, 月 1",
    "years": "year 1, yr 1, 年 1",
    "decades": "decade 1",
    "centuries": "century 1",
    "miles per hour": "mph 1, kph 15625/25146, kmh 15625/25146, kmph 15625/25146",
    "meters per second": "mps 1, fps 381/1250",
}  # fmt: skip


def is_equal(answer: str, reference: str, question: str | None = None) -> bool:
    return compare(answer, reference, question=question).outcome == "equal"


def written(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


@pytest.mark.parametrize("unit", SIZES)
def test_each_unit_has_its_size(unit: str) -> None:
    for entry in SIZES[unit].split(","):
        name, _, size = entry.strip().rpartition(" ")
        answer = rf"7\text{{ {name}}}"
        assert is_equal(answer, rf"{written(7 * Fraction(size))}\text{{ {unit}}}"), answer
        assert not is_equal(answer, rf"{written(8 * Fraction(size))}\text{{ {unit}}}"), answer


@pytest.mark.parametrize("unit", SIZES)
def test_a_unit_of_another_kind_is_another_answer(unit: str) -> None:
    for other in SIZES:
        assert (other == unit) == is_equal(rf"7\text{{ {other}}}", rf"7\text{{ {unit}}}"), other


@pytest.mark.parametrize(("unit", "reference"), [
    ("eV", "eV"), ("keV", "keV"), ("MeV", "MeV"), ("atm", "atm"), ("rpm", "rpm"),
])  # fmt: skip
def test_a_unit_without_a_size_is_only_itself(unit: str, reference: str) -> None:
    assert is_equal(rf"7\text{{ {unit}}}", rf"7\ \mathrm{{{reference}}}")
    assert not is_equal(rf"7\text{{ {unit}}}", r"7\text{ J}")
    assert not is_equal(rf"7\text{{ {unit}}}", r"7\text{ kPa}")


COUNTED = """adult animal answer ant apple arrangement article ball berry block board book box boy bracelet bus
button cake calf can candy car case cat cherry chicken child children chip chocolate choice circle city class
clock coin color colour combination computer cookie corner cube cup cupcake dice die digit dime divisor dog donut
door dot drop duck edge egg element event face factor farmer fish friend fruit function game girl glass goat
grade graph guest handshake hat head hexagon hole house integer item jar job key lap leaves leg lemon letter light
line list map marble mark match meal meeting men mice minor mistake muffin name note notebook number object
onion option orange outcome outfit page paper parent part path pear pen pencil pennies penny pentagon
people permutation person phone picture piece pig pizza plan plane plant plate player point pole polygon position
problem program pupil puzzle question rectangle rhombus ring room rope row seat sheep sheet shelf shell shirt shop
side slice solution stamp star state step sticker stone story student subset table tank team teeth term test
ticket tile train trapezoid tree triangle trip truck turn unit value vertex vertices visitor wagon way wheel
window women word"""
DESCRIBING = """each left remaining red blue green yellow white black brown pink purple gold silver big small whole
    full fresh different distinct real complex possible total"""
MEASURED = "tall long wide high deep away apart"


SUMMING = "each left remaining possible total"


def test_counted_things_never_change_the_number_before_them() -> None:
    lost = [word for word in COUNTED.split() if not is_equal(rf"12\text{{ {word}}}", "12")]
    assert lost == []
    assert not is_equal(r"12\text{ apples}", "13")


def test_words_that_describe_what_is_counted_or_measured_are_left_out() -> None:
    assert [w for w in DESCRIBING.split() if not is_equal(rf"12\text{{ {w} apples}}", "12")] == []
    assert [w for w in MEASURED.split() if not is_equal(rf"12\text{{ cm {w}}}", r"12\text{ cm}")] == []
    assert is_equal(r"12\text{ years old}", "12")
    assert is_equal(r"12\text{ apples altogether}", "12")
    # without a noun, and behind one that it does not measure, it may be said of the value
    assert [w for w in f"{DESCRIBING} {MEASURED} old".split() if is_equal(rf"12\text{{ {w}}}", "12")] == SUMMING.split()
    assert not is_equal(r"12\text{ cm old}", r"12\text{ cm}")
    assert not is_equal(r"12\text{ kg tall}", r"12\text{ kg}")
    assert not is_equal(r"12\text{ vague apples}", "12")


MEASURE_WORDS = """个 人 只 本 张 支 件 条 块 辆 棵 朵 颗 头 座 名 位 次 种 页 岁 间 份 套 双 盒 箱 袋 瓶 杯 回 羽 通り
    개 명 가지 마리"""


@pytest.mark.parametrize("word", MEASURE_WORDS.split())
def test_measure_words_are_counted(word: str) -> None:
    assert is_equal(f"12{word}", "12")
    assert not is_equal(f"12{word}", "21")


NEVER = """not no is isn't never wrong if when than then but maybe perhaps else otherwise plus minus more less
    fewer about approximately around roughly between with without where for the correct incorrect false true actually
    however and or to either neither both also likely unknown unless except all none any undefined mod modulo
    versus vs past until till after before over under below above negative repeating recurring
    choose base power inverse reciprocal even odd prime zero nor nope nay oops sorry instead rather was were be been
    are am will would should could can't cannot off short up down out minus-sign opposite complement basis bp bps oder
    und ou et o y e excluding including omitting ignoring discarding adding subtracting doubling halving tripling
    negating squaring missing lacking exceeding dividing multiplying increasing decreasing reversing inverting subtract
    add multiply divide negate halve triple"""
OTHER_NUMBERS = """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety half halves quarter quarters
    third thirds first second-half twice thrice double triple quadruple gross lakh lac crore percentile permille ppm
    ppb pair couple dozen hundred thousand million billion trillion score tens ones unity myriad octet trio duo fold
    twofold threefold grosses dozens hundreds thousands millions billions trillions tenth hundredth thousandth"""


@pytest.mark.parametrize("words", [NEVER, OTHER_NUMBERS], ids=["operating", "numbers"])
def test_words_that_change_a_number_are_no_unit_even_where_the_question_names_them(words: str) -> None:
    question = "Find their number, where each is one of the {}."
    assert is_equal(r"5\text{ widgets}", "5", question.format("widgets"))
    assert [w for w in words.split() if is_equal(rf"5\text{{ {w}}}", "5", question.format(w))] == []


NOUNS_IN_LY = "family jelly lily fly butterfly ally belly bully rally reply supply assembly anomaly monopoly"


@pytest.mark.parametrize("word", NOUNS_IN_LY.split())
def test_nouns_that_end_as_adverbs_do_are_counted_where_they_are_asked_for(word: str) -> None:
    assert is_equal(rf"5\text{{ {word}}}", "5", f"How many of one {word} are there?")
    assert not is_equal(rf"5\text{{ {word}}}", "6", f"How many of one {word} are there?")


@pytest.mark.parametrize(
    ("word", "times"),
    [
        ("dozen", 12), ("hundred", 100), ("thousand", 1_000), ("million", 10**6), ("billion", 10**9),
        ("trillion", 10**12), ("万", 10**4), ("亿", 10**8),
    ],
)  # fmt: skip
def test_words_for_powers_of_ten_multiply(word: str, times: int) -> None:
    assert is_equal(rf"5\text{{ {word}}}", str(5 * times))
    assert not is_equal(rf"5\text{{ {word}}}", "5")
    assert not is_equal(rf"5\text{{ {word}}}", str(5 * times + 1))


@pytest.mark.parametrize("word", ["percent", "pct", "percentage", "percents", "per cent"])
def test_words_for_percent(word: str) -> None:
    assert is_equal(rf"5\text{{ {word}}}", r"5\%")
    assert not is_equal(rf"5\text{{ {word}}}", r"6\%")


@pytest.mark.parametrize("word", ["degree", "degrees", "deg"])
def test_words_for_degrees(word: str) -> None:
    assert is_equal(rf"45\text{{ {word}}}", r"45^\circ")
    assert not is_equal(rf"45\text{{ {word}}}", r"54^\circ")
    assert not is_equal(rf"45\text{{ {word}}}", r"45\text{ radians}")


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        (r"5^\circ C", r"5\text{ degrees Celsius}"), (r"5^\circ F", r"5\text{ degrees Fahrenheit}"),
        (r"5\text{ sq cm}", r"5\text{ cm}^2"), (r"5\text{ square cm}", r"5\text{ cm}^2"),
        (r"5\text{ cm squared}", r"5\text{ cm}^2"), (r"5\text{ cubic cm}", r"5\text{ cm}^3"),
        (r"5\text{ cm cubed}", r"5\text{ cm}^3"), (r"5\text{ cu cm}", r"5\text{ cm}^3"),
    ],
)  # fmt: skip
def test_powers_and_scales_of_units(answer: str, reference: str) -> None:
    assert is_equal(answer, reference)
    other = reference.translate(str.maketrans("CF23", "FC32")).replace("Felsius", "Fahrenheit")
    assert not is_equal(answer, other.replace("Cahrenheit", "Celsius"))
