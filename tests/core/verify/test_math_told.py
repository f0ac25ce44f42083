"""A sentence in the box states its only value where each of its words is understood, in any language with spaces."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify.math.verdict import compare

RIGHT = [
    ("Wie viele Seiten hat das Heft?", "48", r"\text{Das Heft hat 48 Seiten.}"),
    ("Wie viele Schüler sind in der Klasse?", "27", r"\text{Es sind 27 Schüler in der Klasse.}"),
    ("Wie viele Primzahlen liegen zwischen 1 und 10?", "4", r"\text{Es gibt 4 Primzahlen.}"),
    ("Combien de billes reste-t-il à Paul ?", "9", r"\text{Il reste 9 billes à Paul.}"),
    ("Combien de pommes y a-t-il dans le panier ?", "14", r"\text{Il y a 14 pommes dans le panier.}"),
    ("Combien de places sont libres ?", "6", r"\text{6 places sont libres}"),
    ("¿Cuántos libros hay en la caja?", "30", r"\text{Hay 30 libros en la caja.}"),
    ("¿Cuántas monedas tiene Ana?", "11", r"\text{Ana tiene }11\text{ monedas}"),
    ("Quanti quaderni ha Luca?", "8", r"\text{Luca ha 8 quaderni}"),
    ("Quantas flores há no vaso?", "13", r"\text{Há 13 flores no vaso.}"),
    ("How many chairs are in the hall?", "96", r"\text{There are 96 chairs in the hall.}"),
    ("How many stickers does Mia have?", "21", r"\text{Mia has 21 stickers}"),
    ("How many eggs does the farmer need?", "60", "He needs 60 eggs"),
    ("How many integers below 12 are even?", "5", r"\text{There are 5 integers below 12}"),
    ("Tom eats 3 pears of 10. How many pears are left?", "7", r"\text{There are 7 pears left}"),
    ("How many coins does he save?", "7", r"\text{He saves }7"),
    ("How many days does the trip take?", "19", r"\text{It takes 19 days}"),
    ("What is the price of one muffin?", "2.5", r"\text{Each muffin costs \$2.50}"),
    ("How many ways are there?", "20", r"20\text{ ways are possible}"),
    ("りんごはいくつありますか。", "8", r"8\text{個}"),
    ("いくらですか。", "400", r"400\text{円です}"),
    ("Wie viele Teiler hat 12?", "6", r"\text{Die Zahl 12 besitzt genau 6 Teiler}"),
    ("How many primes are less than 20?", "8", r"\text{There are eight primes below 20}"),
    ("51は素数ですか。", r"\text{いいえ}", r"\text{いいえ、素数ではない}"),
    ("51은 소수입니까?", r"\text{아니오}", r"\text{아니오, 소수가 아닙니다}"),
    ("Risolvi $x^2-5x+4=0$.", "1, 4", r"x_{1}=1 \lor x_{2}=4"),
    ("5本书多少钱?", "60", r"60\text{元钱}"),
    (r"Solve $\sqrt{x+2}=x$.", "2", r"x=2\ (x=-1 \text{ is extraneous})"),
    (r"Löse $\sqrt{x}=x-2$.", "4", r"x=4 \text{ (die Lösung } x=1 \text{ entfällt)}"),
    (r"解方程 $\sqrt{x+6}=x$。", "3", r"x=3\text{（}x=-2\text{舍去）}"),
    ("Find the positive root of $x^2-x-6=0$.", "3", r"3 \text{ (since } x>0)"),
    (r"Find the maximum and the minimum of $\sin x$.", "1, -1", r"\max=1,\ \min=-1"),
    ("Find the gcd and the lcm of 6 and 8.", "2, 24", r"\gcd(6,8)=2,\ \operatorname{lcm}(6,8)=24"),
    ("Find the center and radius of the circle.", "(1,-2), 3", r"\text{center }(1,-2),\text{ radius }3"),
    ("鸡兔同笼,8个头22条腿,鸡兔各多少只?", "5, 3", r"\text{兔3只，鸡5只}"),
    ("Was kosten 3 Bücher zu 12 Euro?", "36", r"\text{Drei Bücher kosten }36\text{ Euro}"),
    ("Combien de côtés a un octogone ?", "8", r"\text{Un octogone a huit côtés}"),
    ("O número 8 é par ou ímpar?", r"\text{par}", r"\text{O número 8 é par}"),
    ("Is $x^3$ increasing or decreasing?", r"\text{increasing}", r"\text{strictly increasing}"),
    ("Ist 51 eine Primzahl?", r"\text{nein}", r"\text{Nein, denn } 51=3\cdot 17"),
    ("Combien de diviseurs possède 18 ?", "6", r"\text{Le nombre 18 admet 6 diviseurs}"),
    ("Quanti spigoli ha un cubo?", "12", r"\text{Un cubo possiede 12 spigoli}"),
]
WRONG = [
    ("Wie viele Seiten hat das Heft?", "48", r"\text{Das Heft hat mehr als 48 Seiten.}"),
    ("Wie viele Schüler sind in der Klasse?", "27", r"\text{Es sind nicht 27 Schüler.}"),
    ("Wie viele Primzahlen liegen zwischen 1 und 10?", "4", r"\text{Es gibt 4 oder 5 Primzahlen.}"),
    ("Combien de billes reste-t-il à Paul ?", "9", r"\text{Il reste moins de 9 billes.}"),
    ("Combien de pommes y a-t-il dans le panier ?", "14", r"\text{Il y a la moitié de 14 pommes.}"),
    ("¿Cuántos libros hay en la caja?", "30", r"\text{No hay 30 libros en la caja.}"),
    ("¿Cuántas monedas tiene Ana?", "11", r"\text{si Ana tiene 11 monedas}"),
    ("Quanti quaderni ha Luca?", "8", r"\text{Luca ha il doppio di 8 quaderni}"),
    ("Quantas flores há no vaso?", "13", r"\text{Há pelo menos 13 flores}"),
    ("How many chairs are in the hall?", "96", r"\text{There are at least 96 chairs}"),
    ("How many stickers does Mia have?", "21", r"\text{Mia has 21 dozen stickers}"),
    ("How many eggs does the farmer need?", "60", "He needs twice 60 eggs"),
    ("How many integers below 12 are even?", "5", r"\text{page }5"),
    ("Find the area of the rectangle.", "12", r"\text{The perimeter is }12"),
    ("Find the ratio of boys to girls.", "3:5", r"\text{girls : boys}=3:5"),
    ("How many solutions are there?", "3", r"\text{Case }3"),
    ("Сколько яблок осталось, если съели 5?", "8", r"\text{съели }8\text{ яблок}"),
    ("There are 18 girls and 12 boys. How many boys are there?", "12", r"12\text{ of the girls}"),
    ("How many days are there from March 3 to April 17?", "45", "March 45"),
    ("By what percentage did the price rise?", r"25\%", r"\text{to }25\%"),
    ("", "5", r"5\text{ as a guess}"),
    ("Wie viele Teiler hat 12?", "6", r"\text{Die Zahl 18 besitzt genau 6 Teiler}"),
    ("Wie viele Teiler hat 12?", "6", r"\text{Die Zahl 12 besitzt mehr als 6 Teiler}"),
    ("Quanti spigoli ha un cubo?", "12", r"\text{Un cubo possiede 12 facce}"),
    ("How many primes are less than 20?", "8", r"\text{There are eight primes below 30}"),
    ("51は素数ですか。", r"\text{いいえ}", r"\text{いいえ、素数です}"),
    ("51は素数ですか。", r"\text{いいえ}", r"\text{いいえ、合成数ではない}"),
    ("51은 소수입니까?", r"\text{아니오}", r"\text{아니오, 소수입니다}"),
    ("Find $x_1, x_2$ with $x_1+x_2=5$, $x_1<x_2$.", "1, 4", r"x_{1}=4 \lor x_{2}=1"),
    (r"Solve $\sqrt{x+2}=x$.", "2", r"x=2\ (x=\frac{4}{2} \text{ is extraneous})"),
    (r"Solve $\sqrt{x+2}=x$.", "2", r"x=2\ (x=-1 \text{ is not extraneous})"),
    ("Find the positive root of $x^2-x-6=0$.", "3", r"3 \text{ (since } x>5)"),
    (r"Find the maximum and the minimum of $\sin x$.", "1, -1", r"\max=-1,\ \min=1"),
    ("Find the gcd and the lcm of 6 and 8.", "2, 24", r"\gcd(6,10)=2,\ \operatorname{lcm}(6,8)=24"),
    ("Find the center and radius of the circle.", "(1,-2), 3", r"\text{radius }(1,-2),\text{ center }3"),
    ("鸡兔同笼,8个头22条腿,鸡兔各多少只?", "5, 3", r"\text{兔5只，鸡3只}"),
    ("鸡兔同笼,8个头22条腿,鸡兔各多少只?", "5, 3", r"\text{头5个，腿3条}"),
    ("How many primes are less than 20?", "8", r"\text{There are eight hundred primes below 20}"),
    ("How many primes are less than 20?", "8", r"\text{There are eight or nine primes below 20}"),
    ("Was kosten 3 Bücher zu 12 Euro?", "36", r"\text{Vier Bücher kosten }36\text{ Euro}"),
    ("Was kosten 3 Bücher zu 12 Euro?", "36", r"\text{Drei mal }36\text{ Euro}"),
    ("O número 8 é par ou ímpar?", r"\text{par}", r"\text{O número 9 é par}"),
    ("Is $x^3$ increasing or decreasing?", r"\text{increasing}", r"\text{not strictly increasing}"),
    ("Ist 51 eine Primzahl?", r"\text{nein}", r"\text{Nein, denn } 51=3\cdot 16"),
    ("", "5", r"5\text{ at least}"),
    ("", "5", r"\text{Maria wrote }5\text{ by chance}"),
]


@pytest.mark.parametrize(("question", "reference", "answer"), RIGHT)
def test_a_sentence_of_understood_words_states_its_value(question: str, reference: str, answer: str) -> None:
    assert compare(answer, reference, question=question).outcome == "equal"
    assert compare(answer, "1013", question=question).outcome != "equal"


@pytest.mark.parametrize(("question", "reference", "answer"), WRONG)
def test_a_sentence_with_another_word_is_not_paid(question: str, reference: str, answer: str) -> None:
    assert compare(answer, reference, question=question).outcome != "equal"
