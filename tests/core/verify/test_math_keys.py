r"""The cheap stages part by part: exact values, keys of arrangements, written numbers, units."""

from __future__ import annotations

from fractions import Fraction

import pytest

from agentscope_tuner.verify.math.canonical import key
from agentscope_tuner.verify.math.exact import Exact, ExactBudget, Undefined, Unknown, exact_value
from agentscope_tuner.verify.math.node import literal, plain_key
from agentscope_tuner.verify.math.parse import parse
from agentscope_tuner.verify.math.tokens import Unreadable
from agentscope_tuner.verify.math.units import (
    canonical,
    is_money,
    is_physical,
    known,
    measure,
    names_of,
    operates,
    singular,
    unknown_words,
)

EXACT = [
    ("7", 7),
    ("0.25", Fraction(1, 4)),
    (r"\frac34", Fraction(3, 4)),
    ("1+2-5", -2),
    (r"2\cdot 3", 6),
    ("-7", -7),
    (r"\frac{1}{2}+\frac13", Fraction(5, 6)),
    ("2^{10}", 1024),
    ("2^{-2}", Fraction(1, 4)),
    (r"50\%", Fraction(1, 2)),
    ("|3-5|", 2),
    ("5!", 120),
    ("0!", 1),
    ("6!!", 48),
    ("5!!", 15),
    (r"\binom{5}{2}", 10),
    (r"\binom{5}{0}", 1),
    (r"\binom{5}{5}", 1),
    (r"17\bmod 5", 2),
    (r"34/2\bmod 5", 2),
    ("101_2", 5),
    (r"\ln 1", 0),
    (r"\log 1", 0),
    (r"\sqrt{49}", 7),
    (r"\sqrt{\frac{9}{4}}", Fraction(3, 2)),
    ("4^{1.5}", 8),
    ("0^{3}", 0),
    ("1^{99999}", 1),
    ("(-1)^{99999}", -1),
]
NOT_EXACT = [
    "x",
    r"\sqrt2",
    r"\pi",
    "2^{0.3}",
    r"\sin 1",
    r"\binom{2}{5}",
    r"\{1\}",
    "2^{30000}",
    r"\infty",
    "1001!",
    "(-2)!",
    "2.5!",
    "f(2)",
    r"\log_2 8",
    "12_2",
    r"\cot 0",
    r"\csc 0",
    "i",
    r"\ln 2",
    "0.5!!",
    r"\binom{-1}{2}",
    r"\max(1,x)",
]
UNDEFINED = [
    (r"\frac{1}{0}", "a division by zero"),
    (r"\frac{1}{2-2}", "a division by zero"),
    ("0^{0}", "a power of zero"),
    ("0^{-1}", "a power of zero"),
    (r"17\bmod 0", "a remainder of no whole numbers"),
    (r"17\bmod 0.5", "a remainder of no whole numbers"),
    (r"1.5\bmod 2", "a remainder of no whole numbers"),
    (r"17\bmod (-5)", "a remainder of no whole numbers"),
]
SAME_VALUE = [
    (r"\sqrt{12}", r"2\sqrt3"),
    (r"\sqrt{\frac12}", r"\frac{\sqrt2}{2}"),
    (r"\tan x", r"\frac{\sin x}{\cos x}"),
    (r"\cot x", r"\frac{1}{\tan x}"),
    (r"\sec x", r"\frac{1}{\cos x}"),
    (r"\csc x", r"\frac{1}{\sin x}"),
    (r"\tanh x", r"\frac{\sinh x}{\cosh x}"),
    (r"\coth x", r"\frac{\cosh x}{\sinh x}"),
    (r"\sqrt{-4}", "2i"),
    (r"\operatorname{sech} x", r"\frac{1}{\cosh x}"),
    (r"\operatorname{csch} x", r"\frac{1}{\sinh x}"),
    (r"\log_2 5", r"\frac{\ln 5}{\ln 2}"),
    ("90^\\circ", r"\frac{\pi}{2}"),
    ("|x|", "|-x|"),
    ("x^2-y^2", "(x-y)(x+y)"),
    (r"\cos 2x", r"2\cos^2 x-1"),
    (r"\sin 2x", r"2\sin x\cos x"),
    (r"\sqrt{x}\sqrt{x}", r"(\sqrt x)^2"),
]
OTHER_VALUE = [
    ("x", "y"),
    ("x^2", "x^3"),
    (r"\sin x", r"\cos x"),
    ("f(x)", "g(x)"),
    ("f(x)", "f(y)"),
    (r"\sqrt{x^2}", "x"),
    ("|x|", "x"),
    (r"\binom{n}{k}", r"\binom{k}{n}"),
    (r"\log_2 5", r"\log_5 2"),
    ("n!", "n!!"),
    ("i", "-i"),
]


@pytest.mark.parametrize(("text", "expected"), EXACT)
def test_a_constant_has_its_exact_value(text: str, expected: Fraction) -> None:
    found = Exact("seed")
    assert found.value(parse(text)) == expected
    assert not found.opaque


@pytest.mark.parametrize("text", NOT_EXACT)
def test_what_is_no_rational_constant_has_no_exact_value(text: str) -> None:
    assert exact_value(parse(text)) is None


@pytest.mark.parametrize(("text", "why"), UNDEFINED)
def test_what_is_undefined_says_why(text: str, why: str) -> None:
    with pytest.raises(Undefined) as refused:
        Exact("seed").value(parse(text))
    assert str(refused.value) == why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2^{30000}", "a power over the bound"),
        (r"2^{6000}\cdot 2^{6000}\cdot 2^{6000}\cdot 2^{6000}", "a number over the bound"),
        (r"\infty", r"\infty is no number"),
        (r"\mathbb{R}+1", "is no number"),
        (r"\{1\}", "a Collection has no exact"),
        ("12_2", "12 is no number in base 2"),
        ("10_{1}", "10 is no number in base 1"),
        ("10_{37}", "in base 37"),
    ],
)
def test_what_the_exact_stage_cannot_say_is_named(text: str, why: str) -> None:
    with pytest.raises(Unknown) as refused:
        Exact("seed").value(parse(text))
    assert why in str(refused.value)


@pytest.mark.parametrize(("left", "right"), SAME_VALUE)
def test_formulas_of_one_value_have_it_at_every_point(left: str, right: str) -> None:
    for seed in ("a", "b"):
        assert Exact(seed).value(parse(left)) == Exact(seed).value(parse(right))


@pytest.mark.parametrize(("left", "right"), OTHER_VALUE)
def test_formulas_of_other_values_have_others_at_a_point(left: str, right: str) -> None:
    assert Exact("a").value(parse(left)) != Exact("a").value(parse(right))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x+1", False), (r"\pi", False), ("|2|", False), ("|x|", True), (r"\sin 1", True), ("2^x", True), ("i", True)],
)
def test_a_point_says_whether_more_than_symbols_was_replaced(text: str, expected: bool) -> None:
    point = Exact("seed")
    point.value(parse(text))
    assert point.opaque is expected


def test_the_work_of_one_comparison_is_bounded() -> None:
    work = ExactBudget(9)
    Exact("seed", work).value(parse("3"))
    assert work.left == 5
    with pytest.raises(Unknown, match="too much work"):
        Exact("seed", work).value(parse("3+4"))


SAME_KEY = [
    ("a+b", "b+a"),
    ("a-b", "-b+a"),
    ("--a", "a"),
    ("a+0", "a"),
    ("1a", "a"),
    ("ab", "ba"),
    ("a(bc)", "(ab)c"),
    ("a+(b+c)", "(a+b)+c"),
    ("a-(b-c)", "a-b+c"),
    ("-(a-b)", "b-a"),
    (r"\frac{a}{b}c", r"\frac{ac}{b}"),
    (r"\frac{-a}{b}", r"-\frac{a}{b}"),
    (r"\frac{a}{-b}", r"-\frac{a}{b}"),
    (r"\frac{a-b}{c-d}", r"\frac{b-a}{d-c}"),
    ("a^2", "aa"),
    ("a^3b", "b a a a"),
    (r"\frac{1}{a^2}", "a^{-2}"),
    (r"\frac1a", "a^{-1}"),
    ("(-a)^2", "a^2"),
    ("(a-b)^2", "(b-a)^2"),
    (r"x^{0.5}", r"x^{\frac12}"),
    (r"\gcd(a,b)", r"\gcd(b,a)"),
    (r"\gcd(a,-b)", r"\gcd(b,a)"),
    (r"\gcd(a,0,b)", r"\gcd(b,a)"),
    (r"\max(a,b,a)", r"\max(b,a)"),
    ("|a-b|", "|b-a|"),
    (r"\operatorname{lcm}(a,-b)", r"\operatorname{lcm}(b,a)"),
    ("a=b", "b=a"),
    (r"a\ne b", r"b\ne a"),
    ("a<b", "b>a"),
    (r"a\le b", r"b\ge a"),
    (r"\{a,b\}", r"\{b,a\}"),
    (r"A\cup B", r"B\cup A"),
    (r"A\cap B", r"B\cap A"),
    ("x>1 or x<0", "x<0 or x>1"),
    ("x>1 and y<0", "y<0 and x>1"),
    (r"\sum_{k=1}^n k", r"\sum_{j=1}^n j"),
    (r"\int_0^1 x\,dx", r"\int_0^1 t\,dt"),
    (r"\int_0^1 \frac{dx}{x}", r"\int_0^1 \frac{dt}{t}"),
    (r"\int_0^1 -x\,dx", r"\int_0^1 -t\,dt"),
    (r"50\%a", r"\frac{50}{100}a"),
    ("a^{1}", "a"),
    ("a^{12}", "a^6a^6"),
    (r"\lim_{x\to 0}x", r"\lim_{t\to 0}t"),
    (r"\sum_{k=1}^n\sum_{j=1}^k j", r"\sum_{i=1}^n\sum_{k=1}^i k"),
]
OTHER_KEY = [
    ("a-b", "b-a"),
    (r"\frac ab", r"\frac ba"),
    ("a^2", "a^3"),
    ("(-a)^3", "a^3"),
    ("f(a)", "f(b)"),
    ("f(a)", "g(a)"),
    (r"\sin a", r"\cos a"),
    ("(a,b)", "(b,a)"),
    ("[1,2]", "[1,2)"),
    ("[1,2]", "(1,2]"),
    ("a<b", "b<a"),
    ("a<b", r"a\le b"),
    (r"A\setminus B", r"B\setminus A"),
    (r"\log_a b", r"\log_b a"),
    (r"\{a\}", "(a,)"),
    (r"a\pm b", r"a\mp b"),
    (r"A\cup B", r"A\cap B"),
    ("x>1 or y>1", "x>1 and y>1"),
    ("5 cm", "5 m"),
    (r"\max(a,b)", r"\min(a,b)"),
    ("a=b", "a<b"),
    (r"\max(a,-b)", r"\max(a,b)"),
    (r"\max(a,0)", r"\max(a,a)"),
    (r"\sum_{k=1}^n k", r"\prod_{k=1}^n k"),
    ("|a+b|", "|a-b|"),
    (r"\sum_{k=1}^n k", r"\sum_{k=1}^n n"),
    ("101_2", "101_3"),
    (r"\sin\pi^2", r"\sin\pi"),
    (r"\sin\frac{1}{\pi}", r"\sin\pi"),
    (r"\cos\frac{2}{\pi}", r"\cos 2\pi"),
    (r"\sin\frac{3}{2\pi}", r"\sin\frac{3\pi}{2}"),
    (r"\begin{pmatrix}1&2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}"),
    ("a^{13}", "a^{12}"),
    ("aab", "abb"),
    (r"\sin 2\pi", r"\sin\pi"),
    (r"50\%a", "50a"),
    ("0", "1"),
    (r"\text{red}", r"\text{blue}"),
    ("a", "b"),
    ("-a", "a"),
]


@pytest.mark.parametrize(("left", "right"), SAME_KEY)
def test_arrangements_share_a_key(left: str, right: str) -> None:
    assert key(parse(left)) == key(parse(right))


@pytest.mark.parametrize(("left", "right"), OTHER_KEY)
def test_other_formulas_have_other_keys(left: str, right: str) -> None:
    assert key(parse(left)) != key(parse(right))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", 7),
        ("-7", -7),
        (r"\frac34", Fraction(3, 4)),
        (r"-\frac34", Fraction(-3, 4)),
        (r"2\frac12", Fraction(5, 2)),
        (r"\frac{1}{0}", None),
        ("x", None),
        ("x+1", None),
        (r"\sqrt4", None),
        ("2^2", None),
        ("-x", None),
        (r"\frac x2", None),
    ],
)
def test_a_written_number_is_known_without_computing(text: str, expected: Fraction | None) -> None:
    assert literal(parse(text)) == expected


UNITS = [
    ("cubic centimeters", (("centimeter", 3),)),
    ("square meters", (("meter", 2),)),
    ("sq ft", (("ft", 2),)),
    ("meters squared", (("meter", 2),)),
    ("meters cubed", (("meter", 3),)),
    ("kg", (("kg", 1),)),
    ("Kg", (("kg", 1),)),
    ("apples in all", (("apple", 1),)),
    ("red apples", (("apple", 1),)),
    ("平方米", (("米", 2),)),
    ("立方厘米", (("厘米", 3),)),
    ("hours", (("hour", 1),)),
    ("Hours", (("hour", 1),)),
    ("hrs.", (("hr", 1),)),
    ("Mb", (("mb", 1),)),
    ("MB", (("MB", 1),)),
    ("mph", (("hour", -1), ("mile", 1))),
    ("m m", (("m", 2),)),
]


@pytest.mark.parametrize(("text", "expected"), UNITS)
def test_all_spellings_of_a_unit_have_one(text: str, expected: object) -> None:
    assert canonical([(word, 1) for word in text.split()]) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("one two three four five six seven", "a sentence after a number"),
        ("square", "words after a number that are no unit"),
        ("blorps florps glorps dorps", "words after a number that are no unit"),
    ],
)
def test_a_sentence_is_no_unit(text: str, why: str) -> None:
    with pytest.raises(Unreadable) as refused:
        canonical([(word, 1) for word in text.split()])
    assert str(refused.value) == why


def test_exponents_of_a_unit_add_up() -> None:
    assert canonical([("m", 1), ("s", -1), ("s", -1)]) == (("m", 1), ("s", -2))
    assert canonical([("m", 1), ("m", -1)]) == ()
    assert canonical([("square", -1), ("meter", -1)]) == (("meter", -2),)


def test_units_are_measured_in_base_units() -> None:
    kilometers, hours = (("km", 1),), (("h", -1),)
    assert measure((*hours, *kilometers)).size == Fraction(1000, 3600)
    assert measure((("m", 3),)).dimension == measure((("l", 1),)).dimension
    assert measure((("l", 1),)).size == Fraction(1, 1000)
    assert measure((("N", 1), ("m", 1))) == measure((("J", 1),))
    assert measure((("blorp", 2),)).dimension == (("blorp", 2),)
    assert measure((("m", 1), ("km", -1))).dimension == ()
    assert measure((("month", 1),)) == measure((("月", 1),)) != measure((("year", 1),))
    assert names_of("kg") == {"kg", "kilogram", "kilogramme", "千克", "公斤", "кг"}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("berries", "berry"),
        ("boxes", "box"),
        ("churches", "church"),
        ("cats", "cat"),
        ("glass", "glass"),
        ("bus", "bus"),
        ("Cats", "cat"),
        ("yds.", "yd"),
        ("meters", "meter"),
        ("inches", "inch"),
        ("feet", "feet"),
        ("is", "is"),
        ("centuries", "century"),
        ("dishes", "dish"),
    ],
)
def test_plural_endings_are_taken_off(word: str, expected: str) -> None:
    assert singular(word) == expected


@pytest.mark.parametrize(
    "word", ["halves", "tens", "doubled", "not", "fifths", "thirteenths", "minus", "Not", "hundredths"]
)
def test_words_that_change_a_number(word: str) -> None:
    assert operates(word)


@pytest.mark.parametrize("word", ["apples", "cm", "families", "jelly", "months", "cloths"])
def test_words_that_leave_a_number_alone(word: str) -> None:
    assert not operates(word)


def test_what_is_known_of_a_unit() -> None:
    assert known("kg")
    assert known("平方米")
    assert not known("blorp")
    assert unknown_words((("blorp", 1), ("kg", 1))) == ["blorp"]
    assert is_physical((("kg", 1), ("m", -1)))
    assert not is_physical((("kg", 1), ("blorp", 1)))
    assert is_money("$")
    assert is_money("euro")
    assert not is_money("kg")
    assert not is_money("blorp")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-1,000.50", ("-", "1000", "5")),
        ("1,000,000", ("", "1000000", "")),
        ("+5", ("", "5", "")),
        (" - 5 ", ("-", "5", "")),
        ("5.", ("", "5", "")),
        ("-.5", ("-", "", "5")),
        ("00.50", ("", "", "5")),
        *((zero, ("", "", "")) for zero in ("0", "-0", "-0.0")),
        *((other, None) for other in ("", "-", ".", "1,00", "1e5", "x")),
    ],
)
def test_plain_numbers_share_a_key_if_they_are_equal(text: str, expected: tuple[str, str, str] | None) -> None:
    assert plain_key(text) == expected
