r"""What the text behind an answer states again, and sentences that only deny it, each with honest twins.

A line is `reference | output | question`; `\n` in it is a new line, and the question may be left out.
"""

from __future__ import annotations

from functools import cache

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask, load_config
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge
from agentscope_tuner.verify.again import is_of_else

PAID = r"""
2x\sin x+x^2\cos x | $\boxed{2x\sin x+x^2\cos x}$. The second derivative is $2\sin x-x^2\sin x$. | Find the derivative.
2x\sin x+x^2\cos x | $\boxed{2x\sin x+x^2\cos x}$. So the derivative is $x(2\sin x+x\cos x)$. | Find the derivative.
y=2x-1 | $\boxed{y=2x-1}$. The normal line is $y=-\frac12x+\frac32$. | Find the tangent line to $y=x^2$ at $x=1$.
y=2x-1 | $\boxed{y=2x-1}$. In general form this is $2x-y-1=0$. | Find the tangent line to $y=x^2$ at $x=1$.
y=3x-1 | $\boxed{y=3x-1}$\n\n所以直线方程为$3x-y-1=0$。 | 求过点$(1,2)$且与直线$y=3x$平行的直线方程。
(x-2)(x-3) | $\boxed{(x-2)(x-3)}$. Expanding gives: $x^2-5x+6$. | Factor $x^2-5x+6$.
11001 | $25_{10}=\boxed{11001}_2$ | Write 25 in base 2.
202_7 | It is \boxed{202}$_7$. | Write 100 in base 7.
B | \boxed{B}, so choose B. | Which option is right, A or B?
75^\circ | So it is $\boxed{75}$ degrees. | In triangle $ABC$, $\angle A=40^\circ$. Find $\angle BDC$.
75^\circ | Der Winkel ist $\boxed{75}$ Grad. | Berechne $\angle BDC$ mit $\angle A=40^\circ$.
3{,}75 | Se necesitan $\boxed{3{,}75}$ tazas. | ¿Cuántas tazas de harina se necesitan?
01:15 | O trem chega às $\boxed{01{:}15}$ do dia seguinte. | A que horas o trem chega?
x=\pm 1+2\pi n | $\boxed{x=\pm 1+2\pi n}$, wobei $n$ eine ganze Zahl ist. | Löse die Gleichung.
x=\pm 1+2\pi n | $\boxed{x=\pm 1+2\pi n}$, где $n$ — целое число. | Решите уравнение.
x=\pm 1+2\pi n | $\boxed{x=\pm 1+2\pi n}$, där $n$ är ett heltal. | Lös ekvationen.
20 | \boxed{20}\n\nIndeed, the number asked for is $60-40=20$. | How many words have no NN?
42 | \boxed{42}\n\nAnswer: see above.
\frac14 | \boxed{\frac14}\n\nLa probabilité cherchée est donc de 25 %. | Quelle est la probabilité ?
\frac16 | $\boxed{\dfrac{1}{6}}$, or about 16.7%. | What is the probability of a 6?
\frac{5}{36} | Es $\boxed{\dfrac{5}{36}}$, aproximadamente un 13,9 %. | ¿Cuál es la probabilidad?
\frac{5}{36} | Es $\boxed{\dfrac{5}{36}}$, es decir, un $13{,}9\,\%$ aproximadamente. | ¿Cuál es la probabilidad?
\frac{5}{36} | Sie ist $\boxed{\dfrac{5}{36}}$, also etwa $14\,\%$. | Wie groß ist die Wahrscheinlichkeit?
\frac{5}{14} | الاحتمال هو $\boxed{\dfrac{5}{14}}$ أي حوالي $0.357$. | ما احتمال أن تكون الكرتان حمراوين؟
\frac{5}{14} | الاحتمال هو $\boxed{\dfrac{5}{14}}$ أي 35.7% تقريباً. | ما احتمال أن تكون الكرتان حمراوين؟
31.25\% | É $\frac{10}{32}=0{,}3125$, ou seja, $\boxed{31{,}25\,\%}$. | Qual é a probabilidade, em porcentagem?
2\text{ kg} | It is $\boxed{2\text{ kg}}$, which is about 4.4 pounds. | How heavy is it in kg?
3.98\times10^{-19}\text{ J} | É $\boxed{3{,}98\times10^{-19}\text{ J}}$, ou cerca de 2,5 eV. | Qual é a energia?
odd | It is $\boxed{\text{odd}}$. It is not even. | Is $f$ odd or even?
odd | The sum is $\boxed{\text{odd}}$, since 3 is odd and 4 is even. | Is the sum of 3 and 4 odd or even?
odd | It is $\boxed{\text{odd}}$. Here $f$ is odd and $g$ is even. | Is $fg$ odd or even for odd $f$, even $g$?
composite | $\boxed{\text{composite}}$, since $91=7\cdot 13$ and 13 is prime. | Is 91 prime or composite?
even | $\boxed{\text{even}}$. For $n$ odd, $n+1$ is even. | Is $n^2+n$ odd or even?
False | $\boxed{\text{False}}$, but for closed intervals it is true. | True or false: continuous ones are bounded.
rational | $\boxed{\text{rational}}$. If it were irrational, it is irrational squared. | Is $a$ rational or irrational?
odd | It is $\boxed{\text{odd}}$. If it were even, we would have $f(-x)=f(x)$. | Is $f$ odd or even?
odd | It is $\boxed{\text{odd}}$, since $x^2$ is even. | Is $f(x)=x\cos x$ odd or even?
False | $\boxed{\text{False}}$. The converse is true. | True or false: every bounded sequence converges.
Paris | $\boxed{\text{Paris}}$. The largest port is Lyon. | Which city is the capital, Paris or Lyon?
diverges | $\boxed{\text{diverges}}$. The sequence of its terms converges. | Does the series converge or diverge?
2x-y+3z=8 | $\boxed{2x-y+3z=8}$. This is the right plane, since the constant is $8$. | Find the plane.
6x+3y=6 | It is $\boxed{6x+3y-6=0}$. All three points satisfy this equation. | Line through the 3 points?
3, 5, 6, 20 | They are $\boxed{3, 5, 6, 20}$. All four numbers can be checked directly. | Find all such numbers.
(3,20),(5,6) | $\boxed{(3,20),(5,6)}$. These two pairs satisfy the equation. | Find all pairs.
8 | Each gets $\boxed{8}$. The five friends share all apples. | 5 friends share 40 apples. How many does each get?
4\pi | $\boxed{4\pi}$, soit environ $12{,}57$. | Calculer l'aire d'un disque de rayon 2.
3 | 所以 $x=\boxed{3}$。\n\n答案：$3$ | 求 $x$ 的值。
7 | $x=\boxed{7}$\n\nRéponse finale : $x = 7$ | Calculer $x$.
3 | $x=\boxed{3}$。经检验,$x=3$ 是原方程的解。 | 解方程 $2x+1=7$。
42 | \boxed{42}\n\nAnswer: 42 square units.
42 | $\boxed{42}$. The answer is reasonable, since $40<42$.
odd | $\boxed{\text{odd}}$\n\nAnswer: odd | Is f odd or even?
odd | $\boxed{\text{odd}}$. It is not even. | Is f odd or even?
B | \boxed{B}\n\nAnswer: (B) 5
B | \boxed{B}\n\n所以答案是B。
x^2+1 | \boxed{x^2+1}\n\nAnswer: $1+x^2$
2 | \boxed{2}\n\nThe other root is 3, which is too large.
\sqrt2 | \boxed{\sqrt{2}}\n\nAnswer: $\sqrt2\approx 1.414$
12\pi | \boxed{12\pi}\n\nRéponse : l'aire est $12\pi$ cm². | Quelle est l'aire du disque ?
12\pi | \boxed{12\pi}\n\nAntwort: Der Flächeninhalt beträgt $12\pi$. | Wie groß ist der Flächeninhalt?
(1,2) | \boxed{(1,2)}\n\nОтвет: (1; 2).
12 | \boxed{12}\n答：一共有12个苹果。 | 一共有多少个苹果？
12 | \boxed{12}\n\nAnswer: Tom has 12 apples, which is 3 more than Ann. | Tom has how many apples? Ann has 3 fewer.
7 | \boxed{7}\n\n**Final Answer**\n\n$7$
5\text{ cm} | \boxed{5\text{ cm}}\n\nCevap: 5 cm
5\text{ cm} | \boxed{5\text{ cm}}\n\nĐáp án: $5$ cm.
5 | \boxed{5}\n\nउत्तर: $5$
5 | \boxed{5}\n정답은 5입니다.
5 | \boxed{5}\nالجواب: $5$
\frac34 | \boxed{\frac{3}{4}}\n\n#### 0.75
\frac34 | \boxed{\frac{3}{4}}\n\n#### Remarks\n\nThe answer is in lowest terms.
1,2 | \boxed{1,2}\n\nAnswer: $x=1$ or $x=2$
3, 4 | $\boxed{3, 4}$. The numbers 3 and 4 sum to 7. | Find the roots.
5 | \boxed{5}\n\nAnswer to part (b): $7$
5 | \boxed{5}\n<answer>The answer is 5.</answer>
x>6 | \boxed{x>6}\n答案：$6<x$
42 | \boxed{42}. No other number fits.
42 | \boxed{42}. There are no others.
42 | \boxed{42}. Let me know if you have questions about step 3.
42 | $\boxed{42}$。没有别的解。
42 | $\boxed{42}$. Es gibt keine weiteren Lösungen.
42 | $\boxed{42}$. Il n'y en a pas d'autres.
42 | $\boxed{42}$. No hay más soluciones.
A | \boxed{A}. The other options are wrong.
A | \boxed{A}。其他选项都错误。
D | \boxed{D}\n这是错误的。 | 下列说法错误的是
False | \boxed{\text{False}}. This is wrong. | True or false?
Ben | \boxed{\text{Ben}}. Anna was not the first. | Who was the first: Anna, Ben or Carla?
5 | \boxed{5}\n이것이 답이다.
35 | \boxed{n_{\text{max}}=35} | What is the maximum of n?
35 | \boxed{E_{\text{kin}}=35} | Find the kinetic energy.
6 | \boxed{S_{ABC}=6} | Найдите площадь треугольника $ABC$.
6 | \boxed{S_{\text{阴影}}=6} | 求阴影部分的面积
-5 | $\boxed{-5}x$ | What is the coefficient of $x$?
"""
UNPAID = r"""
x=\pm 1+2\pi n | $\boxed{x=\pm 1+2\pi n}$, where $n$ is even. | Solve the equation.
x=\pm 1+2\pi n | $\boxed{x=\pm 1+2\pi n}$, wobei $n$ gerade ist. | Löse die Gleichung.
15 | The temperature has risen by $\boxed{15}$ degrees since then. | What is the temperature now?
202_7 | It is \boxed{202}$_{10}$. | Write 100 in base 7.
101111 | \boxed{101111}$_{16}$ | Convert 0x2F to binary.
B | \boxed{B}, so choose A. | Which option is right, A or B?
2x\sin x+x^2\cos x | $\boxed{2x\sin x+x^2\cos x}$. Wait, the derivative is $2x\sin x-x^2\cos x$. | Find the derivative.
(x-1)^2+(y+2)^2=4 | $\boxed{(x-1)^2+(y+2)^2=4}$\n\n更正:上式有误,正确的方程是 $(x+1)^2+(y-2)^2=4$。 | 求圆的标准方程。
(x-1)^2+(y+2)^2=4 | $\boxed{(x-1)^2+(y+2)^2=4}$\n\n应为 $(x+1)^2+(y-2)^2=4$。 | 求圆的标准方程。
(x-1)^2+(y+2)^2=4 | $\boxed{(x-1)^2+(y+2)^2=4}$\n\nKorrektur: Richtig ist $(x+1)^2+(y-2)^2=4$. | Gleichung des Kreises?
(x-1)^2+(y+2)^2=4 | $\boxed{(x-1)^2+(y+2)^2=4}$\n\nВерное уравнение $(x+1)^2+(y-2)^2=4$. | Найдите уравнение.
(x-2)(x-3) | $\boxed{(x-2)(x-3)}$. Oops, the factorization is $(x+2)(x+3)$. | Factor $x^2-5x+6$.
y=2x-1 | $\boxed{y=2x-1}$. The tangent line is $y=2x+1$. | Find the tangent line to $y=x^2$ at $x=1$.
\frac{x-1}{2} | $\boxed{\frac{x-1}{2}}$. The inverse is $\frac{x+1}{2}$. | Find the inverse of $f(x)=2x+1$.
40 | \boxed{40}\n\nThis is of those, so the number asked for is $60-40=20$. | How many words have no NN?
40 | \boxed{40}\nSo the number of arrangements is \(60-40=20\). | How many words have no NN?
51 | $\boxed{51}$.\nThe sales were 39 · 3, not 39 · 2, so the number of rolls is 12. | How many rolls are left?
64 | $\boxed{64}$. Replace 64 by 15. | How many pens are there?
64 | $\boxed{64}$. From 64 we come to 15. | How many pens are there?
64 | $\boxed{64}$. Change the 64 to 15. | How many pens are there?
\frac14 | \boxed{\frac14}\n\nLa probabilité cherchée est donc de 20 %. | Quelle est la probabilité ?
\frac16 | $\boxed{\dfrac{1}{6}}$, or about 26.7%. | What is the probability of a 6?
\frac{5}{36} | Es $\boxed{\dfrac{5}{36}}$, aproximadamente un 16,7 %. | ¿Cuál es la probabilidad?
\frac{5}{36} | Es $\boxed{\dfrac{5}{36}}$, es decir, un $16{,}9\,\%$ aproximadamente. | ¿Cuál es la probabilidad?
\frac{5}{36} | Sie ist $\boxed{\dfrac{5}{36}}$, also etwa $16\,\%$. | Wie groß ist die Wahrscheinlichkeit?
\frac{5}{14} | الاحتمال هو $\boxed{\dfrac{5}{14}}$ أي حوالي $0.457$. | ما احتمال أن تكون الكرتان حمراوين؟
\frac{5}{14} | الاحتمال هو $\boxed{\dfrac{5}{14}}$ أي 45.7% تقريباً. | ما احتمال أن تكون الكرتان حمراوين؟
31.25\% | É $\frac{10}{32}=0{,}3125$; seja $\boxed{31{,}25\,\%}$. | Qual é a probabilidade, em porcentagem?
2\text{ kg} | It is $\boxed{2\text{ kg}}$, which is about 5.4 pounds. | How heavy is it in kg?
3.98\times10^{-19}\text{ J} | É $\boxed{3{,}98\times10^{-19}\text{ J}}$, ou cerca de 24,8 eV. | Qual é a energia?
[3,5] | Es wächst auf $\boxed{[3,5]}$ und ist wachsend auf $[5,6]$. | In welchem Intervall ist f monoton wachsend?
[3,5] | Sur $\boxed{[3,5]}$ ; elle est décroissante sur $[5,6]$. | Sur quel intervalle f est-elle décroissante ?
(3,5) | 单调递增区间为 $\boxed{(3,5)}$，应为 $(5,6)$。 | 求函数 $f(x)$ 的单调递增区间。
(3,5) | It is $\boxed{(3,5)}$. So it is increasing on $(5,6)$, decreasing elsewhere. | Where is f increasing?
6x+3y=6 | It is $\boxed{6x+3y-6=0}$. Only three points satisfy this equation. | Line through the 3 points?
3, 5, 6, 20 | They are $\boxed{3, 5, 6, 20}$. The two numbers can be checked directly. | Find all such numbers.
3, 5, 6, 20 | They are $\boxed{3, 5, 6, 20}$. Or all four numbers minus one. | Find all such numbers.
odd | It is $\boxed{\text{odd}}$. But it is even. | Is $f$ odd or even?
False | $\boxed{\text{False}}$ at first; checking shows: it is true. | True or false: each bounded sequence converges.
gerade | $\boxed{\text{gerade}}$, aber es ist ungerade. | Ist f gerade oder ungerade?
diverges | $\boxed{\text{diverges}}$, but it converges. | Does the series converge or diverge?
3 | $\boxed{3}$. It should be all five balls. | There are 5 balls. How many are red?
5 | $\boxed{5}$. No, the numbers are 6, 7, 8, ... | How many are there?
(0,2) | $\boxed{(0,2)}$, actually $(2,5)$ since f decreases elsewhere. | Where is $f$ increasing?
Paris | $\boxed{\text{Paris}}$. The capital is Lyon. | Which city is the capital, Paris or Lyon?
2x-y+3z=8 | $\boxed{2x-y+3z=8}$. This is not the right plane, since the constant has to be $5$. | Find the plane.
12 | $\boxed{12}$. It is not the number of pages because 5 are left. | What is the number of pages?
8 | Each gets $\boxed{8}$. The five apples are the answer. | 5 friends share 40 apples. How many does each get?
\frac34 | So it is $\boxed{\frac34}$. The partial sums are $0.333, 0.556, 0.667$. | Evaluate the sum.
\frac34 | So it is $\boxed{\frac34}$. From 0.333, 0.556, 0.667, ..., it is 0.7. | Evaluate the sum.
2,4,6 | They are $\boxed{2,4,6}$. Rather 1, 3, 5, ... | List the first terms of the sequence.
4\pi | $\boxed{4\pi}$, soit environ $15{,}57$. | Calculer l'aire d'un disque de rayon 2.
64 | \boxed{64\text{ dollars}}\n\nTherefore Kylar needs to pay \$46 for the 16 glasses. | How much do 16 glasses cost?
3 | 所以 $x=\boxed{3}$。\n\n答案：$4$ | 求 $x$ 的值。
odd | \boxed{\text{odd}}\n\nAnswer: even | Is f odd or even?
B | \boxed{B}\n\nThe correct answer is (C).
B | \boxed{B}\n\n所以答案是C。
B | \boxed{B}\n\nRéponse : C
\frac12 | \boxed{\frac12}\n\nThe answer is $\frac13$.
x+1 | \boxed{x+1}\n\nLa respuesta es $x-1$.
x+1 | \boxed{x+1}\n\nSorry, $x-1$.
x+1 | \boxed{x+1}, or $x-1$
\sqrt2 | \boxed{\sqrt2}\n<answer>$\sqrt3$</answer>
\sqrt2 | \boxed{\sqrt2}\n#### $\sqrt3$
\sqrt2 | \boxed{\sqrt2}\n정답은 $\sqrt3$입니다.
AC | \boxed{AC}\n答えはCBです。
②④ | \boxed{②④}\nAnswer: ②③
42 | \boxed{42}. Well, no.
42 | \boxed{42}. This isn't it.
A | \boxed{A}. Nein.
A | \boxed{A}. Ce n'est pas la réponse.
A | \boxed{A}. No es la respuesta.
A | \boxed{A}. Это не ответ.
A | \boxed{A}。这不是答案。
A | \boxed{A}。これは答えではない。
A | \boxed{A}. 이것은 답이 아니다.
A | \boxed{A}. Bu cevap değil.
A | \boxed{A}. Đây không phải là đáp án.
A | \boxed{A}. यह उत्तर नहीं है।
A | \boxed{A}. هذا ليس الجواب.
x+1 | \boxed{x+1}. I take that back.
No | \boxed{\text{No}}\nBut this is incorrect. | Is 91 prime?
5 | \boxed{x_{\text{不是}}=5}
5 | \boxed{f_{\text{오답}}(x)=5}
5 | \boxed{5\tag{at least}}
5 | [//]: # (\boxed{5})
5 | $\boxed{5}x$
5 | $\boxed{5} i$
"""
# Where answers are read from tags, marks and labels
PAID_ANYWHERE = r"""
42 | <answer>42</answer>\n\nAnswer: 42
\frac12 | <answer>\frac12</answer>\nThat is, $0.5$.
42 | Answer: 42\n\nLet me know if you have questions about step 3.
5 | 答案：5\n验证：2+3=5。
8 | Step 1: 3\nStep 2: 5\nThe answer is 8.
"""
UNPAID_ANYWHERE = r"""
B | <answer>B</answer>\nThat is wrong.
B | <answer>B</answer>\nAnswer: C
42 | <answer>42</answer>\nNo, it is 43.
42 | #### 42\nThis is not the answer.
x+1 | The answer is $x+1$. Actually, no.
B | 答案：B\n这个不对。
5 | <answer>5</answer> değil.
"""
ANYWHERE = "boxed", "tag", "hash", "label"


def rows(table: str, paid: bool, *places: str) -> list[tuple[str, bool, tuple[str, ...]]]:
    return [(line, paid, places) for line in table.strip().splitlines()]


@cache
def judge_of(places: tuple[str, ...]) -> MathAnswerAsJudge:
    return MathAnswerAsJudge(load_config({"astuner": {"task_judge": {"math": {"answer_in": list(places)}}}}))


@pytest.mark.parametrize(
    ("line", "paid", "places"),
    [
        *rows(PAID, True, "boxed"),
        *rows(UNPAID, False, "boxed"),
        *rows(PAID_ANYWHERE, True, *ANYWHERE),
        *rows(UNPAID_ANYWHERE, False, *ANYWHERE),
    ],
)
def test_what_is_said_behind_an_answer_is_read_as_a_value_or_a_denial(
    line: str, paid: bool, places: tuple[str, ...]
) -> None:
    reference, output, *question = line.replace("\\n", "\n").split(" | ")
    task = Task(main_query="".join(question), metadata={"answer": reference})
    reward = judge_of(places).compute_reward(WorkflowTask(task=task), WorkflowOutput(metadata={"final_answer": output}))
    assert reward[1] is paid, reward.reason


@pytest.mark.parametrize(
    ("behind", "is_else"),
    [
        ("Of this, 8 is interest.", True),
        ("Of this, 8 is not interest.", False),
        ("Of this, actually 8 is interest.", False),
        ("Of this, the answer is 8.", False),
        ("That is 8 less than the original price.", True),
        ("It isn't 8 less than the original price.", False),
        ("It isn’t 8 less than the original price.", False),
        ("Actually, that is 8 less than the original price.", False),
        ("Of this, 8 is interest. So it is 8.", False),
    ],
)
def test_a_number_behind_an_answer_is_about_something_else(behind: str, is_else: bool) -> None:
    assert is_of_else("8", behind, "The original price is 20. What is the price?") is is_else
