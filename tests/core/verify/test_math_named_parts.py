"""Several values with their names: each is compared with the one of its name, and what is more must be understood."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify.math.named_parts import _value_at
from agentscope_tuner.verify.math.verdict import compare

_MEDIAN = "Find the median and the range of 4, 9, 2, 15, 7, 11, 7."
_SPREAD = "Bestäm median och variationsbredd för talen 4, 9, 2, 15, 7, 11, 7."
_ARABIC = "أوجد خارج القسمة والباقي عند قسمة $x^3-2x+5$ على $x-1$."
_DIVISION = "Divide $x^3-2x+5$ by $x-2$. State the quotient and the remainder."
_DUTCH = "Gegeven zijn de getallen 3, 7, 8, 12, 13, 20. Bepaal de mediaan en het gemiddelde."
_EXTREMES = "関数 $y=x^2-4x+1\\ (0\\le x\\le 3)$ の最大値と最小値を求めよ。"
_KOREAN = "함수 $f(x)=x^3-6x^2+9x+2$의 극댓값과 극솟값을 구하시오."
_MONOTONE = "已知函数 $f(x)=\\ln x-ax\\ (a>0)$，求 $f(x)$ 的单调区间．"
_INCREASING = r"单调递增区间为 $(0,\frac{1}{a})$，单调递减区间为 $(\frac{1}{a},+\infty)$"
_SIDES = "Solve for the length and the width: the perimeter is 22 and the area is 28."
_LARGEST = "A rectangle has perimeter 40 cm. What dimensions give the largest area?"
_GERMAN = "Berechne Umfang und Flächeninhalt eines Rechtecks mit den Seiten 3 cm und 5 cm."
_FRENCH = "Trouve la moyenne et l'écart type."
_CANDLES = "Lena sold 48 candles, and Omar sold 41 candles in 4 boxes. Who sold more candles, and how many more?"

RIGHT = [
    (_MEDIAN, "7 and 13", r"\text{The median is } 7 \text{ and the range is } 13"),
    (_MEDIAN, "7 and 13", r"\text{range } 13,\ \text{median } 7"),
    (_MEDIAN, "7 and 13", r"7 \text{ (median)}, 13 \text{ (range)}"),
    (_SPREAD, "7 och 13", r"\text{Medianen är } 7 \text{ och variationsbredden är } 13"),
    (_ARABIC, "x^2+x-1, 4", r"\text{خارج القسمة } x^2+x-1 \text{ والباقي } 4"),
    (_DIVISION, r"\text{quotient }x^2+2x+2,\ \text{remainder }9", "q(x)=x^2+2x+2,\\ r=9"),
    (_DUTCH, "mediaan 10, gemiddelde 10,5", r"\text{gemiddelde }10{,}5\text{ en mediaan }10"),
    (_DUTCH, "mediaan 10, gemiddelde 10,5", "10; 10{,}5"),
    (_EXTREMES, "最大値 1，最小値 -3", r"x=0 \text{ で最大値 } 1,\quad x=2 \text{ で最小値 } -3"),
    (_EXTREMES, "最大値 1，最小値 -3", r"\text{最小値 }-3\ (x=2),\ \text{最大値 }1\ (x=0)"),
    (_KOREAN, "극댓값 6, 극솟값 2", r"\text{극댓값은 } f(1)=6,\ \text{극솟값은 } f(3)=2"),
    (_MONOTONE, _INCREASING, r"\text{增区间：}\left(0,\frac1a\right)\text{；减区间：}\left(\frac1a,+\infty\right)"),
    (_MONOTONE, _INCREASING, r"f(x)\text{ 在 }(0,\tfrac1a)\text{ 上单调递增，在 }(\tfrac1a,+\infty)\text{ 上单调递减}"),
    (_SIDES, "length 7, width 4", "w=4, l=7"),
    (_LARGEST, "10 cm by 10 cm", r"10\text{ cm} \times 10\text{ cm}"),
    (_LARGEST, "10 cm by 10 cm", r"\text{length } = 10\text{ cm},\ \text{width } = 10\text{ cm}"),
    (_GERMAN, "16 cm, 15 cm$^2$", r"\text{Flächeninhalt }15\text{ cm}^2,\ \text{Umfang }16\text{ cm}"),
    (_FRENCH, "moyenne 12, écart type 2", r"\text{la moyenne est } 12 \text{ et l'écart type est } 2"),
    (_FRENCH, "moyenne 12, écart type 2", r"\mu=12, \sigma=2"),
    (_CANDLES, "Lena, 7", r"\text{Lena sold } 7 \text{ more candles}"),
    (_CANDLES, "Lena, 7", r"\text{Lena sold 7 more candles than Omar}"),
    (_CANDLES, "Lena, 7", r"\text{Lena, by }7"),
]
WRONG = [
    (_MEDIAN, "7 and 13", r"\text{median } 13,\ \text{range } 7"),
    (_MEDIAN, "7 and 13", r"\text{range } 7,\ \text{median } 13"),
    (_MEDIAN, "7 and 13", r"\text{twice the median } 7, \text{range } 13"),
    (_MEDIAN, "7 and 13", r"\text{median } 7,\ \text{mean } 13"),
    (_MEDIAN, "7 and 13", r"\text{median } \frac{14}{2},\ \text{range } 15-2"),
    (_SPREAD, "7 och 13", r"\text{variationsbredd } 7, \text{median } 13"),
    (_ARABIC, "x^2+x-1, 4", r"\text{الباقي } x^2+x-1 \text{ خارج القسمة } 4"),
    (_DIVISION, r"\text{quotient }x^2+2x+2,\ \text{remainder }9", "r=x^2+2x+2, q=9"),
    (_DUTCH, "mediaan 10, gemiddelde 10,5", r"\text{gemiddelde }10\text{ en mediaan }10{,}5"),
    (_EXTREMES, "最大値 1，最小値 -3", r"x=3 \text{ で最大値 } 1,\quad x=2 \text{ で最小値 } -3"),
    (_EXTREMES, "最大値 1，最小値 -3", r"\text{最大値 }1\ (x=0),\ \text{最小値 }-3\ (x=0)"),
    (_MONOTONE, _INCREASING, r"\text{减区间：}\left(0,\frac1a\right)\text{；增区间：}\left(\frac1a,+\infty\right)"),
    (_MONOTONE, _INCREASING, r"\text{在}(0,\tfrac1a)\text{递减，在}(\tfrac1a,+\infty)\text{递增}"),
    (_SIDES, "length 7, width 4", "l=4, w=7"),
    (_LARGEST, "12 cm by 8 cm", r"12 \times 8 = 96"),
    (_FRENCH, "moyenne 12, écart type 2", r"\mu=2, \sigma=12"),
    (_FRENCH, "moyenne 12, écart type 2", r"\text{écart moyen } 12, \text{ écart type } 2"),
    (_CANDLES, "Lena, 7", r"\text{Lena sold } 7 \text{ fewer candles}"),
    (_CANDLES, "Lena, 7", r"\text{Omar sold } 7 \text{ more candles}"),
    (_CANDLES, "Lena, 7", r"\text{Lena sold } -7 \text{ more candles}"),
    (_CANDLES, "Lena, 7", r"\text{Lena sold } 7+1 \text{ more candles}"),
    (_CANDLES, "Lena, 7", r"\text{Lena sold 7 more boxes}"),
    (_CANDLES, "Lena, 7", r"\text{Lena sold 7 more candles than Lena}"),
]


@pytest.mark.parametrize(("question", "reference", "answer"), RIGHT)
def test_values_are_found_by_the_names_of_the_reference_or_the_question(
    question: str, reference: str, answer: str
) -> None:
    verdict = compare(answer, reference, question=question)
    assert verdict.outcome == "equal", verdict.reason


@pytest.mark.parametrize(("question", "reference", "answer"), WRONG)
def test_a_value_of_another_name_place_or_word_is_not_paid(question: str, reference: str, answer: str) -> None:
    verdict = compare(answer, reference, question=question)
    assert verdict.outcome != "equal", verdict.reason


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("12 at x=3", {"x": "3"}),
        ("12 attained at x = 3", {"x": "3"}),
        ("12 (x=3)", {"x": "3"}),
        ("at x=3, 12", {"x": "3"}),
        ("12 at x=3, y=4", {"x": "3", "y": "4"}),
        ("12 at x=3 and y=4", {"x": "3", "y": "4"}),
        ("12 at x=y=3", {"x": "3", "y": "3"}),
        ("12 at (3,4)", {"": "(3,4)"}),
        (r"12 at \left(3,4\right)", {"": "(3,4)"}),
        ("12 at (x, y)=(-1,2)", {"x": "-1", "y": "2"}),
        (r"12 at (x,y)=\left(3,4\right)", {"x": "3", "y": "4"}),
        ("12 at (x,y)=(3,4,5)", None),
        ("12 at (x,y,z)=(3,4)", None),
        ("12 at (x,x)=(3,4)", None),
        ("12 at x=3, x=4", None),
        ("12 at x=3, x=y=4", None),
        ("12 at x=3 and 4", None),
        ("12; 5 at x=3", None),
        ("12 at x=three", None),
        ("a at x=3", None),
        ("12", None),
    ],
)
def test_a_value_and_the_point_at_which_it_is_taken(text: str, place: dict[str, str] | None) -> None:
    assert _value_at(text) == (place and ("12", place))
