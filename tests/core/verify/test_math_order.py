r"""A bare list stands in the order in which the question asks for its parts, and is free where it asks for a set."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify.asked_clause import asked_parts
from agentscope_tuner.verify.math.verdict import compare
from tests.tables import first, together

# question | reference | a list in another order
ORDERED = r"""
Write the quotient and the remainder of $47\div 6$. | 7, 5 | 5, 7
Determine quotient and remainder for 47 divided by 6. | 7, 5 | 5, 7
A class has 30 children. How many boys and how many girls are there? | 13, 17 | 17, 13
Give the ages of Anna and Ben. | 9, 11 | 11, 9
If $x+y=10$ and $x-y=2$, find $x$ and $y$. | 6, 4 | 4, 6
Find x, y and z such that the system holds. | 1, 2, 3 | 3, 2, 1
Find the mean and the variance of the data 2, 4, 6. | 4, 8/3 | 8/3, 4
What are the real and imaginary parts of $z$? | 2, -3 | -3, 2
Find the $x$-coordinate and the $y$-coordinate of the vertex. | 2, -3 | -3, 2
Evaluate $f(1)$ and $f(2)$. | 5, 8 | 8, 5
Calculate the sum and the product of $x$ and $y$. | 7, 12 | 12, 7
What is the perimeter, the area and the diagonal of a 3 by 4 rectangle? | 14, 12, 5 | 12, 14, 5
Sort 2/3, 1/2, 3/4. | 1/2, 2/3, 3/4 | 2/3, 3/4, 1/2
求商和余数。 | 7, 5 | 5, 7
设甲、乙的年龄分别为多少？ | 12, 15 | 15, 12
求函数的最大值与最小值。 | 5, -1 | -1, 5
求$a$、$b$的值。 | 2, 3 | 3, 2
鸡和兔各有多少只？ | 23, 12 | 12, 23
两人各有多少元？ | 17, 13 | 13, 17
47を6で割った商と余りを求めよ。 | 7, 5 | 5, 7
47을 6으로 나눈 몫과 나머지를 구하시오. | 7, 5 | 5, 7
Найдите частное и остаток от деления 47 на 6. | 7, 5 | 5, 7
Bestimme Quotient und Rest von 47 durch 6. | 7, 5 | 5, 7
Wie alt sind Vater und Sohn in drei Jahren? | 43, 15 | 15, 43
Halla el cociente y el resto de 47 entre 6. | 7, 5 | 5, 7
Trouvez le quotient et le reste de 47 par 6. | 7, 5 | 5, 7
Combien y a-t-il de poules et de lapins ? | 6, 4 | 4, 6
Trova la media e la varianza. | 4, 2 | 2, 4
Encontre o quociente e o resto. | 7, 5 | 5, 7
47'nin 6'ya bölümünden bölümü ve kalanı bulunuz. | 7, 5 | 5, 7
Tìm thương và số dư khi chia 47 cho 6. | 7, 5 | 5, 7
Tentukan hasil bagi dan sisa dari 47 : 6. | 7, 5 | 5, 7
أوجد خارج القسمة والباقي | 7, 5 | 5, 7
भागफल और शेषफल ज्ञात कीजिए। | 7, 5 | 5, 7
Give the quotient and the remainder of 47 by 6. | 7, 5 | r=7,\ q=5
Find the mean and the mode. | 6, 4 | \text{mode}=6,\ \text{mean}=4
Find the ages of Ann and Bob. | 12, 15 | \text{Bob }12,\ \text{Ann }15
How many chickens and rabbits are there? | 23, 12 | 12\text{ chickens},\ 23\text{ rabbits}
"""

# question | reference | the same in another order, or by its names
FREE = r"""
Find the roots of $x^2-5x+6$. | 2, 3 | 3, 2
Solve $x^2=4$. | 2, -2 | -2, 2
Find all integers $n$ between 3 and 6. | 4, 5 | 5, 4
Find the integers between 3 and 6. | 4, 5 | 5, 4
Find the primes greater than 10 and less than 14. | 11, 13 | 13, 11
Find the common divisors of 5 and 10. | 1, 5 | 5, 1
At which $x$ do the curves $y=x$ and $y=x^2$ intersect? | 0, 1 | 1, 0
Find the two numbers whose sum is 10 and whose product is 21. | 3, 7 | 7, 3
Find two numbers x and y with sum 10 and product 21. | 3, 7 | 7, 3
Find the numbers whose sum is 10 and product is 21. | 3, 7 | 7, 3
Which of the numbers 2 and 3 and 4 are prime? | 2, 3 | 3, 2
Which numbers are prime and less than 4? | 2, 3 | 3, 2
List the factors of 7 and no others. | 1, 7 | 7, 1
Find the real solutions of $x^2-3x+2=0$ and check them. | 1, 2 | 2, 1
Find all values of $a$ and $b$ that $t$ can take. | 1, 2 | 2, 1
Find the zeros of $f$ and explain. | 1, 2 | 2, 1
求方程$x^2-5x+6=0$的根。 | 2, 3 | 3, 2
求5和10的公约数。 | 1, 5 | 5, 1
解方程$x^2=4$。 | 2, -2 | -2, 2
Bestimme die Nullstellen von f und skizziere den Graphen. | 2, 3 | 3, 2
Trouvez les racines de l'équation et vérifiez. | 2, 3 | 3, 2
Найдите корни уравнения и проверьте. | 2, 3 | 3, 2
Halla las raíces reales y compruébalas. | 2, 3 | 3, 2
Find the mean and the mode. | 6, 4 | \text{mode}=4,\ \text{mean}=6
Find the ages of Ann and Bob. | 12, 15 | \text{Bob }15,\ \text{Ann }12
Give the quotient and the remainder of 47 by 6. | 7, 5 | r=5,\ q=7
Find $x$ and $y$. | 3, 2 | y=2,\ x=3
Find the maximum and the minimum. | 5, 1 | \text{minimum }1,\ \text{maximum }5
How many chickens and rabbits are there? | 23, 12 | 23\text{ chickens and }12\text{ rabbits}
How many chickens and rabbits are there? | 23, 12 | 12\text{ rabbits and }23\text{ chickens}
Find the mean and the mode. | 6, 4 | 6\text{ and }4
How many chickens and rabbits are there? | 23, 12 | 12\text{ rabbits},\ 23\text{ chickens}
"""


def rows() -> list[tuple[str, str, str, str]]:
    """Question, reference, answer and outcome; each list of the first table is right in its own order."""
    found = []
    for table, outcome in ((ORDERED, "different"), (FREE, "equal")):
        for line in table.strip().splitlines():
            question, reference, answer = line.split(" | ")
            found += [(question, reference, answer, outcome), (question, reference, reference, "equal")]
    return found


@pytest.mark.parametrize("rows", together(rows()), ids=first)
def test_a_list_stands_in_the_order_of_what_is_asked(rows: list[tuple[str, str, str, str]]) -> None:
    wrong = []
    for question, reference, answer, outcome in rows:
        verdict = compare(answer, reference, question=question)
        if verdict.outcome != outcome:
            wrong.append((answer, reference, question, verdict.reason))
    assert not wrong


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Find the quotient and the remainder of 7 by 2.", ("the quotient", "the remainder of 7 by 2")),
        ("求$x$和$y$的值。", ("x", "y的值")),
        ("Halla x y y.", ("x", "y")),
        ("Find all pairs of x and y.", ()),
        ("Find the median of 3, 5 and 7.", ()),
        ("", ()),
        (",".join("x" * 5_000), ()),
    ],
)
def test_the_parts_of_a_question(question: str, parts: tuple[str, ...]) -> None:
    found = asked_parts(question)
    assert found == parts if parts or len(question) < 100 else len(found) < 1_500
