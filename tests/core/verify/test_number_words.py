"""Numbers in words, against a plain speller of each language's grammar."""

from __future__ import annotations

from fractions import Fraction

import pytest

from agentscope_tuner.verify.number_words import (
    PARTS_ABROAD,
    in_chinese_figures,
    in_figures,
    is_number_word,
    number_in_words,
    numbers_said,
    spelled_number,
    with_figures,
)

_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen""".split()  # noqa: SIM905
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905


def _english(n: int) -> str:
    for scale, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if n >= scale:
            rest = f" {_english(n % scale)}" if n % scale else ""
            return f"{_english(n // scale)} {name}{rest}"
    if n < 20:
        return _SMALL[n]
    return _TENS[n // 10 - 2] + (f"-{_SMALL[n % 10]}" if n % 10 else "")


_LARGE = [1000, 1001, 1100, 12_345, 100_000, 999_999, 10**6, 2_000_003, 12_000_100, 987_654_321, 10**9, 45_000_000_017]


@pytest.mark.parametrize("numbers", [range(1000), _LARGE], ids=["small", "large"])
def test_english_numbers_are_read(numbers: list[int]) -> None:
    for n in numbers:
        words = _english(n)
        assert (in_figures(words), in_figures(f"minus {words}"), spelled_number(words.title())) == (
            *(str(n), f"-{n}", str(n)),
        )
        assert [*numbers_said(f"there are {words} of them")] == [n]
        assert in_figures(words.replace("hundred ", "hundred and ")) == str(n)
        figures = [str(n)] if n > 1 else [words]
        assert with_figures(["the", *words.split(), "cats"]) == ["the", *figures, "cats"]


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("negative three", "-3"),
        ("two thirds", r"\frac{2}{3}"),
        ("minus one half", r"-\frac{1}{2}"),
        ("half", r"\frac{1}{2}"),
        ("a third", r"\frac{1}{3}"),
        ("an eighth", r"\frac{1}{8}"),
        ("seven fifths", r"\frac{7}{5}"),
        ("three halves", r"\frac{3}{2}"),
        ("three quarters", r"\frac{3}{4}"),
        ("three hundredths", r"\frac{3}{100}"),
        ("five thousandths", r"\frac{5}{1000}"),
        ("one and a half", r"\frac{3}{2}"),
        ("two and three quarters", r"\frac{11}{4}"),
        ("negative two and one quarter", r"-\frac{9}{4}"),
        ("twenty-one and two sevenths", r"\frac{149}{7}"),
        ("dozen", "12"),
        ("a dozen", "12"),
        ("two dozen", "24"),
        ("minus three dozen", "-36"),
        ("a hundred", "100"),
        ("eleven hundred", "1100"),
        *(
            (text, None)
            for text in ("", "a", "an", "minus", "apples", "two three", "hundred", "thirds", "one and", "two and third")
        ),
        *((text, None) for text in ("two cats", "minus minus two", "dozen two", "three dozens")),
    ],
)
def test_english_parts_and_dozens(text: str, figures: str | None) -> None:
    assert in_figures(text) == figures
    assert spelled_number(text) == figures


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("twenty-three apples and 1,234.5 pears, twice", [23, Fraction("1234.5"), 2]),
        ("one two three", [1, 2, 3]),
        ("twenty twelve", [20, 12]),
        ("fifty zero", [50, 0]),
        ("two and three", [2, 3]),
        ("two hundred and three", [203]),
        ("two hundred thousand and six", [200_006]),
        ("and five hundred", [500]),
        ("hundred five", [5]),
        ("twenty hundred", [2000]),
        ("Two TIMES three", [2, 3]),
        # the two digits may be those of a fraction
        (r"\frac12", [12, 1, 2]),
        ("123 4", [123, 4]),
        ("3.14 .5 1.2.3", [Fraction("3.14"), Fraction("0.5"), Fraction("1.2")]),
        ("1,234,567 12,34", [1_234_567, 12, 1, 2, 34, 3, 4]),
        ("half a dozen, both thirds, percent", [2, 12, 2, 3, 100]),
        ("1" * 40, [int("1" * 40)]),
        ("1" * 41, []),
        ("x" * 4_999 + " 5", []),
        ("x" * 4_998 + " 5", [5]),
        ("", []),
    ],
    ids=lambda one: str(one)[:30],
)
def test_the_numbers_in_a_text(text: str, numbers: list[Fraction]) -> None:
    assert [*numbers_said(text)] == numbers


def test_number_words() -> None:
    assert all(map(is_number_word, [*_SMALL, *_TENS, "hundred", "thousand", "million", "billion", "Forty-Two"]))
    assert not any(map(is_number_word, ["", "x", "forty-", "forty two", "x-one", "dozen", "half", "third"]))


_HAN = "零一二三四五六七八九"


def _chinese(n: int) -> str:
    if n >= 10_000:
        rest = n % 10_000
        joint = "零" if 0 < rest < 1000 else ""
        return _chinese(n // 10_000) + "万" + joint + (_chinese(rest) if rest else "")
    said, skipped = "", False
    for place, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = n // place % 10
        if digit:
            said += ("零" if skipped and said else "") + _HAN[digit] + name
        skipped = not digit
    return said or "零"


@pytest.mark.parametrize(
    "numbers",
    [range(1200), [2000, 2020, 9999, 10_000, 10_001, 10_500, 12_345, 300_000, 1_000_000, 99_999_999]],
    ids=["small", "large"],
)
def test_chinese_numbers_are_read(numbers: list[int]) -> None:
    for n in numbers:
        said = _chinese(n)
        if len(said) <= 12:
            assert (in_chinese_figures(said), in_chinese_figures(f"负{said}人")) == (str(n), f"-{n}人")
            assert spelled_number(said) == str(n)
        if n % 10 == 0 and 10 <= n < 20:
            assert in_chinese_figures(said.removeprefix("一")) == str(n)


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("十", "10"),
        ("十五只羊", "15只羊"),
        ("两百", "200"),
        ("〇", "0"),
        ("百分之八十", r"80\%"),
        ("负百分之五十", r"-50\%"),
        ("三分之二", r"\frac{2}{3}"),
        ("负三分之二", r"-\frac{2}{3}"),
        ("一百分之三", r"\frac{3}{100}"),
        ("二百分之三", r"\frac{3}{200}"),
        ("二十分之十一", r"\frac{11}{20}"),
        *((text, None) for text in ("", "abc", "负", "万", "一一", "十百", "百千", "二分之三四", "三四分之二")),
        ("四十二人口数量", "42人口数量"),
        ("四十二人口数量多", None),
        ("一二三四五六七八九十一二三", None),
    ],
)
def test_chinese_parts_and_what_is_counted(text: str, figures: str | None) -> None:
    assert in_chinese_figures(text) == figures


ABROAD = """
1 eins; un; uno; uno; um; один; satu; bir; jeden; een; ett
16 sechzehn; seize; dieciséis; sedici; dezesseis; шестнадцать; enam belas; on altı; szesnaście; zestien; sexton
20 zwanzig; vingt; veinte; venti; vinte; двадцать; dua puluh; yirmi; dwadzieścia; twintig; tjugo
21 einundzwanzig; vingt et un; veintiuno; ventuno; vinte e um; двадцать один; dua puluh satu; yirmi bir; dwadzieścia jeden; eenentwintig; tjugoett
30 dreißig; trente; treinta; trenta; trinta; тридцать; tiga puluh; otuz; trzydzieści; dertig; trettio
48 achtundvierzig; quarante-huit; cuarenta y ocho; quarantotto; quarenta e oito; сорок восемь; empat puluh delapan; kırk sekiz; czterdzieści osiem; achtenveertig; fyrtioåtta
70 siebzig; soixante-dix; setenta; settanta; setenta; семьдесят; tujuh puluh; yetmiş; siedemdziesiąt; zeventig; sjuttio
71 einundsiebzig; soixante et onze; setenta y uno; settantuno; setenta e um; семьдесят один; tujuh puluh satu; yetmiş bir; siedemdziesiąt jeden; eenenzeventig; sjuttioett
80 achtzig; quatre-vingts; ochenta; ottanta; oitenta; восемьдесят; delapan puluh; seksen; osiemdziesiąt; tachtig; åttio
81 einundachtzig; quatre-vingt-un; ochenta y uno; ottantuno; oitenta e um; восемьдесят один; delapan puluh satu; seksen bir; osiemdziesiąt jeden; eenentachtig; åttioett
97 siebenundneunzig; quatre-vingt-dix-sept; noventa y siete; novantasette; noventa e sete; девяносто семь; sembilan puluh tujuh; doksan yedi; dziewięćdziesiąt siedem; zevenennegentig; nittiosju
100 hundert; cent; cien; cento; cem; сто; seratus; yüz; sto; honderd; hundra
101 einhunderteins; cent un; ciento uno; centouno; cento e um; сто один; seratus satu; yüz bir; sto jeden; honderdeen; etthundraett
200 zweihundert; deux cents; doscientos; duecento; duzentos; двести; dua ratus; iki yüz; dwieście; tweehonderd; tvåhundra
345 dreihundertfünfundvierzig; trois cent quarante-cinq; trescientos cuarenta y cinco; trecentoquarantacinque; trezentos e quarenta e cinco; триста сорок пять; tiga ratus empat puluh lima; üç yüz kırk beş; trzysta czterdzieści pięć; driehonderdvijfenveertig; trehundrafyrtiofem
999 neunhundertneunundneunzig; neuf cent quatre-vingt-dix-neuf; novecientos noventa y nueve; novecentonovantanove; novecentos e noventa e nove; девятьсот девяносто девять; sembilan ratus sembilan puluh sembilan; dokuz yüz doksan dokuz; dziewięćset dziewięćdziesiąt dziewięć; negenhonderdnegenennegentig; niohundranittionio
"""  # noqa: E501


@pytest.mark.parametrize("line", ABROAD.strip().splitlines(), ids=lambda line: line.partition(" ")[0])
def test_numbers_of_other_languages_are_read(line: str) -> None:
    n, _, spellings = line.partition(" ")
    for words in spellings.split("; "):
        # some are words of English, too
        if words != "cent":
            assert number_in_words(words.title().split()) == (int(n), len(words.split()))
            figures = [n] if n != "1" else words.split()
            assert with_figures([*words.split(), "Katzen"]) == [*figures, "Katzen"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("eine", (1, 1)),
        ("двух", (2, 1)),
        ("duas", (2, 1)),
        ("veintiún", (21, 1)),
        ("ثلاثة", (3, 1)),
        ("وثلاثون", (30, 1)),
        ("einhundert und", (100, 1)),
        ("zwei drei", (2, 1)),
        ("trois cent vingt-deux ans", (322, 3)),
        *(
            (word, None)
            for word in ("once", "elf", "cent", "due", "sei", "on", "sex", "lima", "", "x", "zwei2", "два2")
        ),
        ("twenty three", None),
    ],
)
def test_the_number_that_the_first_words_spell(words: str, found: tuple[int, int] | None) -> None:
    assert number_in_words(words.split()) == found


def test_several_numbers_in_words() -> None:
    words = ["one", "two", "three", "apples", "and", "twenty-one", "pears", "zwei", "a", "hundred"]
    assert with_figures(words) == ["one", "two", "three", "apples", "and", "21", "pears", "2", "a", "hundred"]
    assert with_figures(["fünf", "two", "three", "zehn"]) == ["5", "two", "three", "10"]
    assert with_figures([]) == []
    assert (PARTS_ABROAD["hälfte"], PARTS_ABROAD["tercio"], PARTS_ABROAD["четверть"]) == ("2", "3", "4")


@pytest.mark.parametrize("text", ["three-", "x = three", "3", "three!", "trzy 4", "", "-"])
def test_what_is_more_than_letters_spells_no_number(text: str) -> None:
    assert spelled_number(text) == ("3" if text == "three-" else None)


@pytest.mark.parametrize(
    ("text", "figures"),
    [("dreiundzwanzig", "23"), ("trois cents", "300"), ("zwei drei", None), ("二十人", "20人"), ("eins", None)],
)
def test_a_number_of_any_language(text: str, figures: str | None) -> None:
    assert spelled_number(text) == figures
