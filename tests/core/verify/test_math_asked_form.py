r"""The reference shows which form is asked for, in any language: half of the work, or the question's form, is none."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify.math.verdict import compare

# question | reference | the right value in another form than the one that is asked for
OTHER_FORMS = r"""
Factorisez $5y^3-20y$. | 5y(y-2)(y+2) | 5y(y^2-4)
Zerlege $t^2-9t+20$ in Faktoren. | (t-4)(t-5) | t(t-9)+20
Factoriza $a^2-16$. | (a-4)(a+4) | a^2-4^2
Fatore $2x^2+8x+8$. | 2(x+2)^2 | 2(x^2+4x+4)
Разложите на множители $x^3-x$. | x(x-1)(x+1) | x(x^2-1)
分解因式：$m^3-9m$ | m(m+3)(m-3) | m(m^2-9)
因数分解せよ。$x^2+7x+12$ | (x+3)(x+4) | x(x+7)+12
다음을 인수분해하시오. $x^2-4x-21$ | (x-7)(x+3) | (x-2)^2-25
حلل $x^2-25$ إلى عوامل | (x-5)(x+5) | x^2-25
Phân tích $x^2-10x+24$ thành nhân tử. | (x-4)(x-6) | (x-5)^2-1
Factorise completely $6a^2-24$. | 6(a-2)(a+2) | 6(a^2-4)
Développez $(x+3)(x-5)$. | x^2-2x-15 | x(x-2)-15
Multipliziere aus: $(2x-1)(x+4)$ | 2x^2+7x-4 | (2x-1)(x+4)
Desarrolla $(a-3)^2$. | a^2-6a+9 | (a-3)(a-3)
展开 $(x+1)(x+2)$ | x^2+3x+2 | x(x+3)+2
Раскройте скобки: $(y-2)(y+2)$ | y^2-4 | (y-2)(y+2)
Complétez le carré : $x^2+6x+1$ | (x+3)^2-8 | x^2+6x+1
配方：$x^2-4x+7$ | (x-2)^2+3 | x(x-4)+7
Zerlege 84 in Primfaktoren. | 2^2\cdot3\cdot7 | 4\cdot21
Décomposez 90 en produit de facteurs premiers. | 2\cdot3^2\cdot5 | 9\cdot10
把60分解质因数。 | 2^2\cdot3\cdot5 | 4\cdot15
Разложите 72 на простые множители. | 2^3\cdot3^2 | 8\cdot9
Zerlege in Partialbrüche: $\frac{1}{x^2-1}$ | \frac{1}{2(x-1)}-\frac{1}{2(x+1)} | \frac{1}{x^2-1}
"""

# question | reference | the right value, not in the form or not worked out
LEFT = r"""
Express $\cos 4x$ in terms of $\cos 2x$. | 2\cos^2 2x-1 | 1-2\sin^2 2x
Exprime $\tan^2 x$ en función de $\cos x$. | \frac{1-\cos^2 x}{\cos^2 x} | \frac{\sin^2 x}{\cos^2 x}
Drücke $\sin^2 t$ durch $\cos t$ aus. | 1-\cos^2 t | \sin t\cdot\sin t
Find the area of a circle with radius 6. | 36\pi | \pi\cdot 6^2
Find the volume of a ball with radius 3. | 36\pi | \frac43\pi\cdot 3^3
Wie lang ist die Diagonale eines Würfels mit Kante 5? | 5\sqrt{3} | \sqrt{3\cdot 5^2}
Simplify $\sqrt{72}$ fully. | 6\sqrt{2} | 12\sqrt{\frac12}
Simplify $\sqrt{12}$. | 2\sqrt{3} | \frac{6}{\sqrt{3}}
Add 4 ft 9 in and 3 ft 8 in. | 8\text{ ft }5\text{ in} | 7\text{ ft }17\text{ in}
Define $a\diamond b=ab+a$. Find $4\diamond 5$. | 24 | 4\diamond 5=20=24
Define $a\diamond b=ab+a$. Find $4\diamond 5$. | 24 | 5\diamond 4=24
Simplify $\frac{x^2-4}{x-2}$. | x+2 | x+2,\ x\neq 3
Compute $12\cdot 12$. | 144 | 12\cdot 12=12^2
"""

# question | reference | the same, worked out in another way
DONE = r"""
Express $\cos 4x$ in terms of $\cos 2x$. | 2\cos^2 2x-1 | -1+2\cos^2 2x
Find the area of a circle with radius 6. | 36\pi | 36\cdot\pi
Define $a\diamond b=ab+a$. Find $4\diamond 5$. | 24 | 4\diamond 5=24
Compute $i^7\cdot i$. | 1 | i^7\cdot i=i^8=1
If $\ln 2=p$ and $\ln 5=q$, express $\ln 20$ by them. | 2p+q | \ln 20=2p+q
Simplify $\frac{x^2-4}{x-2}$. | x+2 | x+2,\ x\neq 2
Find the inverse of $f(x)=\frac{x+1}{x-5}$. | f^{-1}(x)=\frac{5x+1}{x-1} | f^{-1}(x)=\frac{5x+1}{x-1},\quad x\ne 1
Find the slope in terms of $x$. | -\tan x | -\frac{\sin x}{\cos x}
Найдите скорость через $t$ секунд. | -\tan t | -\frac{\sin t}{\cos t}
Rationalize the denominator of $\frac{10}{\sqrt{5}}$. | 2\sqrt{5} | \sqrt{20}
Write $\frac{1}{n}+\frac{1}{n+2}$ as one fraction. | \frac{2n+2}{n(n+2)} | \frac{2n+2}{n^2+2n}
Add 4 ft 9 in and 3 ft 8 in. | 8\text{ ft }5\text{ in} | 101\text{ in}
"""

# question | reference | the question's own number
HANDED_ON = r"""
Schreibe $0{,}75$ als Bruch. | \frac34 | 0.75
Écrivez $\frac{7}{4}$ en nombre mixte. | 1\frac34 | \frac74
Escribe $\frac38$ como decimal. | 0.375 | \frac38
把 $0.6$ 化成分数。 | \frac35 | 0.6
$45\%$ を小数で表せ。 | 0.45 | 45\%
Convierte $45^\circ$ a radianes. | \frac{\pi}{4} | 45^\circ
Запишите $52000$ в стандартном виде. | 5.2\cdot10^4 | 52000
用科学记数法表示 $640000$。 | 6.4\times10^5 | 64\times10^4
Kürze $\frac{6}{8}$. | \frac34 | \frac68
把 8.6172 精确到 0.01。 | 8.62 | 8.6172
Gib $75\%$ als Bruch an. | \frac34 | 75\%
"""

# question | reference, which solves an equation of the question | the equation moved about
MOVED = r"""
Make $y$ the subject of $5x+2y=10$. | y=\frac{10-5x}{2} | 2y=10-5x
Löse $3x-4y=8$ nach $y$ auf. | y=\frac{3x-8}{4} | 4y=3x-8
Stelle $F=ma$ nach $a$ um. | a=\frac{F}{m} | am=F
Despeja $h$ en $V=\frac{Bh}{3}$. | h=\frac{3V}{B} | Bh=3V
Exprimer $y$ en fonction de $x$ : $x+5y=15$. | y=3-\frac{x}{5} | 5y=15-x
已知 $2x+y=5$，用 $x$ 表示 $y$。 | y=5-2x | y+2x=5
Выразите $x$: $2x-6y=4$. | x=3y+2 | x-3y=2
$P=2(a+b)$ を $b$ について解け。 | b=\frac{P}{2}-a | a+b=\frac{P}{2}
Racionaliza $\frac{4}{\sqrt2}$. | 2\sqrt2 | \frac{8}{2\sqrt2}
Сократите $\frac{x^2-9}{x-3}$. | x+3 | \frac{(x-3)(x+3)}{x-3}
Write the word $abc$ backwards. | cba | abc
Schreibe $mno$ rückwärts. | onm | mno
Compute the derivative. | -\sin x | -\mathrm{sin}_{2}\,x
"""

# question | reference | what is still to be done
OPEN = r"""
Find a closed form for the sum of the first n cubes. | \frac{n^2(n+1)^2}{4} | \sum_{k=1}^{n} k^3
Trouvez une formule pour $1+3+9+\dots+3^{n}$. | \frac{3^{n+1}-1}{2} | \sum_{k=0}^{n} 3^k
求前$n$个奇数之和 | n^2 | \sum_{k=1}^{n} (2k-1)
Find the exact value of the diagonal of a unit square. | \sqrt2 | 1.4142135623730951
Calcula el valor exacto de la altura. | 2\sqrt3 | 3.4641016151377544
求精确值。边长为1的正三角形的高 | \frac{\sqrt3}{2} | 0.8660254037844386
Найдите точное значение длины. | \sqrt5 | 2.23606797749979
"""

# question | reference | a right answer in the form that is asked for, or where none is
RIGHT = r"""
Factorisez $5y^3-20y$. | 5y(y-2)(y+2) | 5y(y+2)(y-2)
Zerlege $t^2-9t+20$ in Faktoren. | (t-4)(t-5) | (5-t)(4-t)
Fatore $2x^2+8x+8$. | 2(x+2)^2 | 2(x+2)(x+2)
分解因式：$m^3-9m$ | m(m+3)(m-3) | m(m-3)(m+3)
Développez $(x+3)(x-5)$. | x^2-2x-15 | -15-2x+x^2
Desarrolla $(a-3)^2$. | a^2-6a+9 | 9-6a+a^2
Complétez le carré : $x^2+6x+1$ | (x+3)^2-8 | -8+(3+x)^2
Zerlege 84 in Primfaktoren. | 2^2\cdot3\cdot7 | 7\cdot3\cdot2^2
把60分解质因数。 | 2^2\cdot3\cdot5 | 2\cdot2\cdot3\cdot5
Zerlege in Partialbrüche: $\frac{1}{x^2-1}$ | \frac{1}{2(x-1)}-\frac{1}{2(x+1)} | \frac{1/2}{x-1}-\frac{1/2}{x+1}
Schreibe $0{,}75$ als Bruch. | \frac34 | \frac{3}{4}
Escribe $\frac38$ como decimal. | 0.375 | 0.3750
$45\%$ を小数で表せ。 | 0.45 | .45
Convierte $45^\circ$ a radianes. | \frac{\pi}{4} | 0.25\pi
用科学记数法表示 $640000$。 | 6.4\times10^5 | 6.4\cdot 10^{5}
Find the derivative of $x(x-4)$. | 2x-4 | 2(x-2)
Find the area of a square with perimeter $4x+8$. | (x+2)^2 | x^2+4x+4
Solve $x^2-9=0$ for the positive root. | 3 | 3
What is half of a pizza with 0.5 left? | \frac14 | 0.25
Find a closed form for the sum of the first n cubes. | \frac{n^2(n+1)^2}{4} | \left(\frac{n(n+1)}{2}\right)^2
Calcula el valor exacto de la altura. | 2\sqrt3 | \sqrt{12}
Find the exact value of $\frac12+\frac14$. | \frac34 | 0.75
Make $y$ the subject of $5x+2y=10$. | y=\frac{10-5x}{2} | y=5-\frac52x
Stelle $F=ma$ nach $a$ um. | a=\frac{F}{m} | \frac{F}{m}=a
Stelle $F=ma$ nach $a$ um. | a=\frac{F}{m} | \frac{F}{m}
Find the equation of the line through $(0,1)$ with slope 2. | y=2x+1 | 2x-y+1=0
Racionaliza $\frac{3}{\sqrt{6}}$. | \frac{\sqrt6}{2} | \frac12\sqrt6
Find the volume. | abc | bca
Calculez la racine et arrondissez au centième. | 1,73 | \approx1{,}73
Berechne $\frac{13}{7}$ und runde auf zwei Nachkommastellen. | 1,86 | \approx 1{,}86
Расстояние 6,5 км; округлите ответ. | 6,5 | 6.5
求面积（保留一位小数）。 | 28.3 | 28.3\text{ cm}^2
$\frac{8}{3}$ を四捨五入せよ。 | 2.67 | 約2.67
Wie viel Prozent von 50 sind 10? | 20 | 20\%
15是60的百分之几？ | 25 | 25\%
Was ist das kgV von 4 und 10? | 20 | \operatorname{kgV}(4,10)=20
Найдите НОД чисел 18 и 30. | 6 | \text{НОД}(18,30)=6
Find the rank of $B$. | 3 | \operatorname{rank}B=3
Was für ein Viereck ist das? | \text{Raute} | \text{eine Raute}
Que tipo de triângulo é? | \text{equilátero} | \text{Triângulo equilátero}
函数 $y=x^5$ 的奇偶性是？ | 奇函数 | \text{该函数是奇函数}
三角形の種類を答えよ。 | 直角三角形 | \text{直角三角形である}
삼각형의 종류를 말하시오. | 정삼각형 | \text{정삼각형입니다}
Définir. | \begin{cases}2x & x\ge0\\1 & x<0\end{cases} | \begin{cases}2x & \text{si }x\ge0\\1 & \text{si }x<0\end{cases}
Resuelve $x+y=6$, $x-y=2$. | x=4,\ y=2 | \left\{\begin{array}{l}x=4\\y=2\end{array}\right.
Find the angle. | 30^\circ | \ang{30}
Find the probability. | \frac12 | \nicefrac{1}{2}
Find the radius of a sector with the angle $30^\circ$. | 2 | r=2
Solve $y'=2y$. | y=Ce^{2x} | y(x)=\lambda e^{2x}
Solve the system. | x=1, y=2 | \begin{aligned}x&=1\\y&=2\end{aligned}
Which are true? (A) 1 (B) 2 (C) 3 (D) 4 | ABD | A,B,D
正确的是（A）甲（B）乙（C）丙 | A,C | \text{AC}
Which group is it? | \mathbb{Z}_6 | \mathbb{Z}/6\mathbb{Z}
Wie groß ist die Arbeit? | 98,1 J | 98{,}1\text{ J}
What is the mean? Round to the nearest tenth. | 7.7 | \frac{23}{3}\approx 7.7
Quelle est la moyenne ? Arrondir au dixième. | 7,7 | \frac{23}{3}\approx 7{,}7\text{ cm}
Solve $2^x=32$. | 5 | 2^x=2^5\implies x=5
求 $y'=y$ 的通解。 | y=Ce^x | y=Ce^{x}\ (C\text{ 为任意常数})
Résoudre $y'=5y$. | y=Ce^{5x} | y=Ke^{5x}\text{ avec }K\in\mathbb{R}
Find the area to one decimal. | 28.3 | 28.3\text{ cm}^2
How much does it cost? Round to the nearest cent. | 3.50 | \$3.50
Find the cost to the nearest cent. | 3.50 | 3.50\text{ dollars}
Give it to three significant figures. | 0.0314 | 3.14\times10^{-2}
Find the mass in kg. | 1.2\times10^3 | \num{1.2e3}
Give the generating function. | \sum_{n=0}^{\infty} 2^n x^n | \sum_{n=0}^\infty 2^nx^n
A number has the probability $\frac{1}{4}$ of being drawn. What is the probability that it is not? | \frac34 | 0.75
"""


def rows(table: str) -> list[list[str]]:
    return [row.split(" | ") for row in table.strip().splitlines()]


@pytest.mark.parametrize(
    ("question", "reference", "answer"), rows(OTHER_FORMS + LEFT.lstrip() + HANDED_ON.strip() + MOVED + OPEN.strip())
)
def test_a_value_in_a_form_that_is_not_asked_for_is_no_answer(question: str, reference: str, answer: str) -> None:
    assert compare(answer, reference, question=question).outcome != "equal"
    assert compare(reference, reference, question=question).outcome == "equal"


@pytest.mark.parametrize(("question", "reference", "answer"), rows(RIGHT + DONE.strip()))
def test_the_form_that_is_asked_for_and_any_form_where_none_is(question: str, reference: str, answer: str) -> None:
    verdict = compare(answer, reference, question=question)
    assert verdict.outcome == "equal", verdict.reason


# question | reference | what is near a right answer, and is none
NEAR = r"""
Was ist das kgV von 4 und 10? | 20 | \operatorname{kgV}(8,20)=20
函数 $y=x^5$ 的奇偶性是？ | 奇函数 | \text{偶函数奇函数}
函数 $y=x^5$ 的奇偶性是？ | 奇函数 | \text{非奇函数}
Was für ein Viereck ist das? | \text{Raute} | \text{keine Raute}
Was für ein Viereck ist das? | \text{Raute} | \text{Raute oder Quadrat}
Wie viel Prozent von 50 sind 10? | 20 | 0.2\%
Find the roots. | 3,4 | 3.4
What is the mean? Round to the nearest tenth. | 7.7 | \frac{22}{3}\approx 7.7
Find the area of a circle of radius 3 to one decimal. | 28.3 | 28.31
Find the diagonal of a unit square to two decimals. | 1.41 | \frac{24}{17}
Simplify $\sqrt{98}$. | 7\sqrt2 | \frac{14\sqrt2}{2}
Write $\ln 6+\ln 4$ as a single logarithm. | \ln 24 | \ln 8+\ln 3
Solve $2^x=32$. | 5 | x=4\implies x=5
Which are true? (A) 1 (B) 2 (C) 3 (D) 4 | ABD | A,B
Which are true? (A) 1 (B) 2 (C) 3 (D) 4 | ABD | A,B,C,D
Which group is it? | \mathbb{Z}_6 | \mathbb{Z}/3\mathbb{Z}
Solve $y'=2y$. | y=Ce^{2x} | y(x)=\lambda e^{\lambda x}
Calculez $\sqrt{3}$ et arrondissez au centième. | 1,73 | \sqrt2\approx1{,}73
Find $x$. | 3 | \approx 3
"""


@pytest.mark.parametrize(("question", "reference", "answer"), rows(NEAR))
def test_what_is_only_near_is_not_paid(question: str, reference: str, answer: str) -> None:
    assert compare(answer, reference, question=question).outcome != "equal"
