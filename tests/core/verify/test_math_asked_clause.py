r"""An answer's words are read by what the question asks for, with honest twins; numbers in words; parallel headings."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify.find import find_answer
from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.number_words import number_in_words
from agentscope_tuner.verify.sandbox import shared

# question | reference | right answers | wrong answers, parted by two semicolons
ASKED = r"""
Does the series $\sum 1/n$ converge or diverge? | \text{diverges} | \text{diverges} ;; \text{The series diverges} ;; \text{it diverges} ;; \text{The series }\text{diverges} | \text{diverges (converges)} ;; \text{diverges }(\text{converges}) ;; \text{converges diverges} ;; \text{diverges/converges} ;; \text{converges} (\text{diverges}) ;; \text{diverges, converges} ;; \text{diverge (converge)}
Is the function $x^3$ odd, even or neither? | \text{odd} | \textbf{odd function} ;; \text{odd function} ;; \text{an odd function} ;; \text{The function is odd} ;; \text{It is odd} ;; \textbf{odd} ;; \text{it is an odd function} | \text{odd (even)} ;; \text{odd (neither)} ;; \text{even function} ;; \textbf{even} ;; \text{odd even} ;; \text{not odd} ;; \text{neither odd}
Who is older, Ana or Ben? | \text{Ben} | \text{Ben is older} ;; \text{Ben} ;; \text{It is Ben} | \text{Ana is older} ;; \text{Ben (Ana)} ;; \text{Ben or Ana} ;; \text{Ana or Ben is older} ;; \text{Ben is older than Ana or Ana is older} ;; \text{Ben is not older} ;; \text{older than Ben} ;; \text{Ana is older than Ben} ;; \text{Ben/Ana}
Which is greater, $2^{30}$ or $3^{20}$? | 3^{20} | 3^{20}>2^{30} ;; 2^{30}<3^{20} ;; 3^{20} | 3^{20}<2^{30} ;; 2^{30}>3^{20} ;; 2^{30}\text{ or }3^{20} ;; \max(2^{30},3^{20}) ;; \max\{2^{30},3^{20}\} ;; 3^{20}, 2^{30} ;; 3^{20}=2^{30} ;; 2^{30}\ge 3^{20} ;; \text{the greater of }2^{30}\text{ and }3^{20}
Which is larger, $\sqrt{10}$ or $\pi$? | \sqrt{10} | \sqrt{10}>\pi ;; \pi<\sqrt{10} | \pi>\sqrt{10} ;; \sqrt{10}<\pi ;; \max(\sqrt{10},\pi) ;; \max\{\pi,\sqrt{10}\}
Which is smaller, 0.3 or 1/3? | 0.3 | 0.3<\frac13 ;; \frac13>0.3 | 0.3>\frac13 ;; \min(0.3,1/3) ;; \min\left(0.3,\frac13\right) ;; \min\{0.3,1/3\} ;; 1/3<0.3
What is the largest of 12, 15 and 21? | 21 |  | \max(12,15,21) ;; \max\{12,15,21\} ;; \max(12,\max(15,21)) ;; \sup\{12,15,21\}
Find $x$. | 17 |  | \max(16,17) ;; \min(17,18) ;; \max\{16,17\} ;; \operatorname{max}(16,17) ;; \min\{17,18\}
Ist 91 prim oder zusammengesetzt? | \text{zusammengesetzt} | \text{zusammengesetzt} | \text{zusammengesetzt (prim)} ;; \text{prim oder zusammengesetzt} ;; \text{prim (zusammengesetzt)} ;; \text{nicht zusammengesetzt}
¿La función es par o impar? | \text{impar} | \text{impar} ;; \text{La función es impar} ;; \text{es impar} | \text{impar (par)} ;; \text{par o impar} ;; \text{par (impar)} ;; \text{par}
La série converge ou diverge ? | \text{diverge} | \text{La série diverge} | \text{diverge (converge)} ;; \text{converge ou diverge}
该级数收敛还是发散？ | 发散 | \text{发散} ;; \text{该级数发散} ;; \text{级数发散} | \text{发散（收敛）} ;; \text{收敛或发散} ;; \text{收敛发散} ;; \text{收敛}
What is the square of 6? | 36 | \text{the square is }36 ;; \text{square}=36 | \text{the square of }36 ;; \text{square of }36 ;; \text{The square of } 36
Find the number of divisors of 60. | 12 | \text{the number of divisors is }12 ;; \text{number of divisors}=12 | \text{the number of divisors of }12 ;; \text{number of divisors of }12 ;; \text{The number of divisors of } 12
What is the cube of 3? | 27 | \text{the cube is }27 ;; \text{cube}=27 | \text{the cube of }27 ;; \text{cube of }27 ;; \text{The cube of } 27
What is the square root of 144? | 12 | \text{the square root is }12 ;; \text{square root}=12 | \text{the square root of }12 ;; \text{square root of }12 ;; \text{The square root of } 12
Find the reciprocal of $\frac14$. | 4 | \text{the reciprocal is }4 ;; \text{reciprocal}=4 | \text{the reciprocal of }4 ;; \text{reciprocal of }4 ;; \text{The reciprocal of } 4
What is the factorial of 5? | 120 | \text{the factorial is }120 ;; \text{factorial}=120 | \text{the factorial of }120 ;; \text{factorial of }120 ;; \text{The factorial of } 120
Find the sum of the digits of 345. | 12 | \text{the sum of the digits is }12 ;; \text{sum of the digits}=12 | \text{the sum of the digits of }12 ;; \text{sum of the digits of }12 ;; \text{The sum of the digits of } 12
Find the absolute value of -7. | 7 | \text{the absolute value is }7 ;; \text{absolute value}=7 | \text{the absolute value of }7 ;; \text{absolute value of }7 ;; \text{The absolute value of } 7
What is the opposite of -9? | 9 | \text{the opposite is }9 ;; \text{opposite}=9 | \text{the opposite of }9 ;; \text{opposite of }9 ;; \text{The opposite of } 9
Find the number of factors of 36. | 9 | \text{the number of factors is }9 ;; \text{number of factors}=9 | \text{the number of factors of }9 ;; \text{number of factors of }9 ;; \text{The number of factors of } 9
Find the product of the digits of 234. | 24 | \text{the product of the digits is }24 ;; \text{product of the digits}=24 | \text{the product of the digits of }24 ;; \text{product of the digits of }24 ;; \text{The product of the digits of } 24
What is the successor of 99? | 100 | \text{the successor is }100 ;; \text{successor}=100 | \text{the successor of }100 ;; \text{successor of }100 ;; \text{The successor of } 100
What is the double of 21? | 42 | \text{the double is }42 ;; \text{double}=42 | \text{the double of }42 ;; \text{double of }42 ;; \text{The double of } 42
Wie viele einzelne Socken sind 7 Paar Socken? | 14 | 14\text{ Socken} ;; 14\text{ einzelne Socken} | 14\text{ Paar} ;; 14\text{ Paare}
Combien d'œufs y a-t-il dans 5 boîtes ? | 30 | 30\text{ œufs} | 30\text{ boîtes}
Anna is 150 cm tall, Ben is 162 cm and Clara is 171 cm. Who is the tallest? | \text{Clara} | \text{Clara} ;; \text{Clara is the tallest} ;; \text{It is Clara} ;; \text{Clara, the tallest} | \text{Anna, Ben, Clara} ;; \text{Anna and Clara} ;; \text{Clara and Ben} ;; \text{Clara/Anna} ;; \text{Clara; Ben}
Ein Quadrat, ein Rechteck und ein Trapez sind gezeichnet. Welches Viereck hat vier Symmetrieachsen? | \text{Quadrat} | \text{Quadrat} ;; \text{das Quadrat} ;; \text{Das Quadrat ist es} | \text{Quadrat, Rechteck} ;; \text{Rechteck und Quadrat}
Sort the numbers 7, 5, 9 in descending order. | 9, 7, 5 | 9, 7, 5 ;; 9>7>5 | 5, 7, 9 ;; 5, 7, 9, 9 ;; 9, 7, 5, 5
Solve $x^2-3x+2=0$. | 1, 2 | 2, 1 ;; 1, 2, 2 ;; x=1, x=2 | 1, 1 ;; 1, 2, 3
List the prime factors of 12 with repetition. | 2, 2, 3 | 3, 2, 2 ;; 2, 3, 2 | 2, 3 ;; 2, 3, 3, 2 ;; 2, 2, 2, 3
Find the ordered pair $(x,y)$ with $x+y=3$ and $y-x=1$. | (1,2) | (1,2) ;; x=1, y=2 | 1<x<2 ;; ]1,2[ ;; \{x : 1<x<2\}
On which interval is $(x-1)(x-2)$ negative? | (1,2) | 1<x<2 ;; ]1,2[ ;; (1,2) | 1<x<3 ;; 1\le x\le 2
Tom has twice as many marbles as Anna, and together they have 12. How many marbles does Tom have? | 8 | \text{Tom has }8\text{ marbles} ;; 8\text{ marbles} ;; \text{He has }8\text{ marbles} | \text{Anna has }8\text{ marbles} ;; \text{Anna has }8
Erik har 3 hundar och fem fler katter än hundar. Hur många katter har han? | 8 | 8\text{ katter} ;; \text{Erik har }8\text{ katter} | 8\text{ hundar}
Bahçede elma ve armut ağaçları toplam 15, elma iki katı. Elma sayısı nedir? | 10 | 10\text{ elma} | 10\text{ armut}
A bat and a ball cost 110 cents; the bat costs 100 cents more than the ball. What does the bat cost? | 105 | \text{The bat costs }105 ;; 105\text{ cents} | \text{The ball costs }105
Maria bought 20 apples and ate 8. How many does she have left? | 12 | 12\text{ apples} ;; \text{Maria has }12\text{ apples} ;; \text{She has }12\text{ apples left} | 20\text{ apples}
Find all integer solutions of $x^2=2$. | \text{no solution} | \text{no solutions} ;; \text{no integer solutions} ;; \text{The equation has no solution} | \text{no real solutions}
Solve $x^2+1=0$. | \text{no solution} | \text{no real solutions} ;; \text{no solution} | \text{the series diverges}
Find $\lim_{x\to0}\sin\frac1x$. | \text{does not exist} | \text{the limit does not exist} ;; \text{DNE} | \text{the sequence does not exist} ;; \text{the inverse does not exist}
Is 9 a prime number? | \text{No} | \text{No} ;; \text{No, it is not prime} ;; \text{No, } 9=3\cdot 3 ;; \text{No, because it is divisible by 3} | \text{No, because 9 is prime} ;; \text{No, it is a prime} ;; \text{Yes}
Solve $y'=y$. | y=Ce^{x} | y=Ce^{x}, C\in\mathbb{R} ;; y=Ce^{x}\text{ where } C \text{ is a constant} ;; y=Ce^{x}\text{ for any real } C | y=Ce^{x} \text{ where } C>0 ;; y=Ce^{x} \text{ where } C \text{ is positive} ;; y=Ce^{x}\text{ for integer } C
Le logarithme décimal est noté log. Écrire $\log 2+\log 5$ comme un seul logarithme. | \log 10 | \log(10) | \ln 10
How many legs do 6 dogs have? | 24 | 24\text{ legs} | 24\text{ dogs}
How many of the 9 apples are left? | 4 | 4\text{ apples} ;; 4\text{ apples left} | 4\text{ of the 9 apples, or 5}
5双筷子一共有多少根筷子？ | 10 | 10\text{根} ;; 10根 ;; 10 | 10\text{双} ;; 10双
12根筷子是几双筷子？ | 6 | 6\text{双} ;; 6双 ;; 6 | 7\text{双}
How many more apples than pears does Mia have? | 7 | 7\text{ more apples} ;; 7\text{ more} ;; 7\text{ apples} ;; 7\text{ more apples than pears} | \text{more than }7 ;; \text{at least }7
Combien d'élèves ne mangent pas à la cantine ? | 9 | 9\text{ élèves} ;; 9\text{ élèves ne mangent pas à la cantine} | 9\text{ élèves mangent à la cantine} ;; 9\text{ mangent}
¿Cuántos alumnos suspendieron, si 18 aprobaron? | 6 | 6\text{ alumnos suspendieron} ;; 6\text{ alumnos} ;; 6\text{ suspendieron} | 6\text{ alumnos aprobaron} ;; 6\text{ aprobaron}
There are 30 students in a class. 18 are girls. How many boys are there? | 12 | 12\text{ boys} ;; \text{There are }12\text{ boys} ;; \text{There are }12\text{ boys in the class} ;; \text{boys}=12 ;; 12\text{ boys in the class} ;; \text{boys: }12 | 12\text{ girls} ;; 12\text{ elephants} ;; 12\text{ girls are there} ;; \text{There are }12\text{ girls} ;; 12\text{ teachers} ;; \text{girls}=12 ;; \text{girls: }12 ;; 12\text{ bananas}
How many students do not play chess, if 13 of 30 play it? | 17 | 17\text{ students} ;; 17\text{ do not play chess} ;; 17\text{ students do not play chess} ;; 17\text{ students don't play chess} | 17\text{ play chess} ;; 17\text{ students play chess} ;; 17\text{ students play it}
Of 40 apples, 9 are rotten. How many apples are not rotten? | 31 | 31\text{ apples} ;; 31\text{ apples are not rotten} | 31\text{ rotten apples} ;; 31\text{ are rotten} ;; 31\text{ rotten}
Wie viele Schüler spielen nicht Fußball, wenn 11 von 30 Fußball spielen? | 19 | 19\text{ Schüler} ;; 19\text{ spielen nicht Fußball} ;; 19\text{ Schüler spielen nicht Fußball} | 19\text{ spielen Fußball} ;; 19\text{ Schüler spielen Fußball}
Сколько учеников не пришли, если пришли 22? | 8 | 8\text{ учеников} ;; 8\text{ учеников не пришли} ;; 8\text{ не пришли} | 8\text{ учеников пришли} ;; 8\text{ пришли}
Tom has 5 red and some blue marbles, 12 in all. How many blue marbles does Tom have? | 7 | 7\text{ blue marbles} ;; 7\text{ marbles} ;; 7\text{ blue} ;; \text{Tom has }7\text{ blue marbles} | 7\text{ red marbles} ;; 7\text{ red} ;; 7\text{ giraffes}
Find the distance from $P$ to the line, given that the distance from $P$ to the plane is 4. | 6 | \text{distance from }P\text{ to the line}=6 | \text{distance from }P\text{ to the plane}=6
In triangle with $P=25$ as perimeter, find the area $A$. | 30 | A=30 ;; \text{area}=30 | P=30 ;; \text{perimeter}=30
The data are 3, 5, 10. Find the median. | 5 | \text{median}=5 ;; 5 | \bar x=5 ;; \text{mean}=5 ;; \bar{x}=5 ;; \sigma=5 ;; \overline{x}=5
Find the mean of 2, 4 and 9. | 5 | \bar x=5 ;; \bar{x}=5 ;; \text{mean}=5 ;; \mu=5 | \text{median}=5
Give the number of rows and the number of columns. | 3, 2 | 3, 2 ;; 3\text{ and }2 ;; (3,2) ;; 3\text{ rows and }2\text{ columns} | 2, 3 ;; 2\text{ and }3
State the number of edges and the number of faces of a cube. | 12, 6 | 12, 6 | 6, 12
Rank the fractions 1/2, 2/3, 3/5 from lightest to heaviest. | 1/2, 3/5, 2/3 |  | 2/3, 3/5, 1/2
List the runners' times 12, 9, 15 from fastest to slowest. | 9, 12, 15 | 9, 12, 15 ;; 9,12,15 | 15, 12, 9 ;; 12, 9, 15
First find $a$, then find $b$. | 4, 7 | 4, 7 ;; a=4, b=7 | 7, 4
Gib zuerst die Anzahl der Ecken, dann die Anzahl der Kanten an. | 8, 12 |  | 12, 8
Donnez le nombre de sommets et le nombre d'arêtes d'un cube. | 8, 12 |  | 12, 8
¿Cuántos años tienen Ana y Luis? | 12, 15 |  | 15, 12
How old are Mia and Noah? | 12, 15 | 12, 15 ;; 12\text{ and }15 ;; \text{Mia: }12, \text{Noah: }15 | 15, 12
Wie alt sind Anna und Ben? | 12, 15 |  | 15, 12
Укажите число вершин и число рёбер куба. | 8, 12 |  | 12, 8
Indica el número de caras y el número de aristas de un cubo. | 6, 12 |  | 12, 6
甲、乙两人各有多少元？ | 12, 8 |  | 8, 12
Find the roots of $x^2-5x+6$. | 2, 3 | 3, 2 ;; 2\text{ and }3 |
Find the two prime factors of 15. | 3, 5 | 5, 3 |
What is the average of 12, 15 and 21? | 16 |  | \frac{48}{3} ;; 48/3 ;; 48\div 3
A car goes 150 miles in 2.5 hours. Find its speed in mph. | 60 |  | \frac{300}{5} ;; \frac{1500}{25} ;; 600/10
Find the mean of 4, 8 and 9. | 7 |  | \frac{21}{3} ;; 21/3
A fair die is rolled. What is the probability of an even number? | \frac12 | \frac{3}{6} ;; 3/6 |
Find the slope. | \frac{3}{4} | \frac{6}{8} |
Round $\pi$ to two decimals. | 3.14 | \pi\approx3.14 ;; 3.14 | \pi\approx3.14159 ;; 3.14159 ;; \pi ;; 3.1416
Round $\sqrt2$ to the nearest tenth. | 1.4 | 1.4 | 1.41 ;; \sqrt2 ;; \sqrt2\approx 1.414
Write $1+i$ in polar form. | \sqrt2 e^{i\pi/4} | \sqrt2 e^{\frac{i\pi}{4}} ;; \sqrt2(\cos\frac\pi4+i\sin\frac\pi4) | 1+i
Convert the complex number to polar form: $2i$. | 2e^{i\pi/2} |  | 2i ;; 0+2i
Combien y en a-t-il ? | 80 | \text{quatre-vingts} | \text{quatre-vingts ou quatre-vingt-un}
Combien y en a-t-il ? | 97 | \text{quatre-vingt-dix-sept} |
Combien y en a-t-il ? | 71 | \text{soixante et onze} |
Quanti sono? | 7 | \text{sette} | \text{sei} ;; \text{sette o otto}
Quanti sono? | 28 | \text{ventotto} |
Wie viele sind es? | 42 | \text{zweiundvierzig} | \text{vierundzwanzig}
Wie viele sind es? | 7 | \text{sieben} | \text{sieben oder acht}
Wie viele sind es? | 121 | \text{einhunderteinundzwanzig} |
¿Cuántos hay? | 35 | \text{treinta y cinco} | \text{treinta y seis}
¿Cuántos hay? | 22 | \text{veintidós} |
¿Cuántos hay? | 120 | \text{ciento veinte} |
Сколько их? | 21 | \text{двадцать один} | \text{двадцать два}
Сколько их? | 5 | \text{пять} |
Сколько их? | 340 | \text{триста сорок} |
Quantos são? | 16 | \text{dezesseis} |
Quantos são? | 45 | \text{quarenta e cinco} |
Combien y en a-t-il ? | 7 |  | \text{huit}
Wie viele sind es? | 100 |  | \text{hundert eins}
Combien y en a-t-il ? | 24 |  | \text{quatre-vingts}
Combien d'élèves y a-t-il ? | 12 | \text{douze élèves} |
Wie viele Äpfel sind es? | 3 | \text{drei Äpfel} | \text{drei Birnen} ;; \text{drei Dutzend}
¿Cuántas manzanas hay? | 4 | \text{cuatro manzanas} |
What is $1-\frac12$? | \frac12 | \text{one half} |
What fraction is left? | \frac34 | \text{three quarters} ;; \text{three fourths} |
What fraction is left? | \frac23 | \text{two thirds} | \text{three halves} ;; \text{two} ;; \text{one third}
Верно ли утверждение? | \text{да} | \text{Да, верно} ;; \text{да} ;; \text{Да} ;; \text{Да, утверждение верно} | \text{Да, неверно} ;; \text{нет} ;; \text{Да, нет} ;; \text{неверно}
Is 7 prime? | \text{Yes} | \text{Yes, it is} ;; \text{Yes, 7 is prime} ;; \text{Yes, it is prime} ;; \text{Yes, that is true} | \text{Yes, it is not} ;; \text{Yes, no} ;; \text{Yes, 7 is not prime} ;; \text{Yes or no} ;; \text{Yes (no)} ;; \text{Yes, false}
¿Es primo 7? | \text{sí} | \text{Sí, es primo} ;; \text{Sí} | \text{Sí, no es primo} ;; \text{no}
Ist 7 prim? | \text{ja} | \text{Ja, 7 ist prim} ;; \text{Ja} | \text{Ja, 7 ist nicht prim} ;; \text{nein}
Solve $\sin x=0$. | x=n\pi, n\in\mathbb{Z} | x=n\pi\ (n\text{ is an integer}) | x = \pi n,\ n \text{ an even integer} ;; x=n\pi,\ n\text{ a prime} ;; x=n\pi,\ n\text{ odd}
What is the ratio of boys to girls? | 3:5 | \text{3 to 5} ;; 3\text{ to }5 | \text{5 to 3}
What is the pH of the solution? | 7 | \text{pH}=7 ;; \mathrm{pH}=7 | \text{pOH}=7
Solve the inequality $x^2<9$. | (-3,3) | -3<x<3 |
Write 6 in base 2. | 110 | 110_2 ;; 110_{2} ;; (110)_2 | 110_3 ;; 101_2 ;; 6_{10}
Find the domain of $x^3-x$. | \mathbb{R} | \text{all real numbers }x ;; \text{all real numbers} ;; \text{all real }x ;; x\in\mathbb{R} | \text{all real numbers }x>0 ;; \text{all positive real numbers }x ;; \text{all integers }x
Find $\mathbf{i}\times\mathbf{j}$. | (0,0,1) | \mathbf{k} ;; \hat{k} ;; (0,0,1) | \mathbf{j} ;; -\mathbf{k} ;; 2\mathbf{k} ;; \mathbf{i}\times\mathbf{j}
Find all primes $p$ with $p^2+1=0$. | \text{no solution} | \text{no such prime exists} ;; \text{There is no such prime} ;; \text{No such p exists} ;; \text{there are no such primes} | \text{such a prime exists} ;; \text{one such prime exists}
Which century? | 19 |  | \text{XVIII} ;; \text{XX} ;; \mathrm{XXI}
Which century? | \text{XIX} | \text{XIX} | \text{XX}
"""  # noqa: E501


def rows() -> list[tuple[str, str, str, bool]]:
    """Question, reference, answer, and whether it is right."""
    found = []
    for line in ASKED.strip().splitlines():
        question, reference, right, wrong = (part.strip() for part in line.split("|"))
        for answers, equal in ((right, True), (wrong, False)):
            found += [(question, reference, one.strip(), equal) for one in answers.split(";;") if one.strip()]
    return found


@pytest.mark.parametrize(("question", "reference", "answer", "equal"), rows())
def test_the_words_of_a_question_stand_for_what_it_asks(
    question: str, reference: str, answer: str, equal: bool
) -> None:
    verdict = compare(answer, reference, symbolic=shared().compare, question=question)
    assert (verdict.outcome == "equal") is equal, verdict.reason


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("zweiundvierzig", (42, 1)),
        ("einhunderteinundzwanzig Äpfel", (121, 1)),
        ("dreißig", (30, 1)),
        ("vierzig", (40, 1)),
        ("quatre-vingt-dix-sept", (97, 1)),
        ("soixante et onze", (71, 3)),
        ("deux cents", (200, 2)),
        ("veintidós", (22, 1)),
        ("ciento veinte", (120, 2)),
        ("ventotto", (28, 1)),
        ("duecentotré", (203, 1)),
        ("cento e vinte e um", (121, 5)),
        ("триста сорок", (340, 2)),
        ("две", (2, 1)),
        ("once", None),
        ("445 six", None),
        ("sette o otto", (7, 1)),
        ("rien", None),
    ],
)
def test_a_number_in_words_is_read_by_the_grammar_of_its_language(words: str, found: tuple[int, int] | None) -> None:
    assert number_in_words(words.split()) == found


@pytest.mark.parametrize(
    ("output", "others"),
    [
        ("Method 1:\n\n$\\boxed{16}$\n\nMethod 2:\n\n$\\boxed{17}$", ("16",)),
        ("**Option A**\n\n\\boxed{16}\n\n**Option B**\n\n\\boxed{17}", ("16",)),
        ("方法一：\n\n\\boxed{16}\n\n方法二：\n\n\\boxed{17}", ("16",)),
        ("Method 1:\n\n$\\boxed{17}$\n\nMethod 2:\n\n$\\boxed{17}$", ()),
        ("Method 1:\n\n$\\boxed{16}$\n\n## Conclusion\n\n\\boxed{17}", ()),
        ("Step 1:\n\nWe get \\boxed{16}.\n\nStep 2:\n\nWe get \\boxed{17}.", ()),
    ],
)
def test_values_under_parallel_headings_stand_side_by_side(output: str, others: tuple[str, ...]) -> None:
    assert find_answer(output, ("boxed",), by_value=True).others == others
