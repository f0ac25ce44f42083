r"""Families in which wrong answers were paid, or right ones refused, each with honest twins beside its rows."""

from __future__ import annotations

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.task_judge.base_judge import Reward
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge
from tests.tables import first, together

# Around an answer of 42: what takes it back in no listed phrase, and what leaves it as it is. One text a line
TAKEN_BACK = r"""
<s>The answer is $\boxed{42}$.</s>
<del>$\boxed{42}$</del> The answer is 43.
<span style="display:none">$\boxed{42}$</span>
41<sup>$\boxed{42}$</sup>
<wrong>\boxed{42}</wrong>
<example>\boxed{42}</example>
<S CLASS="x">\boxed{42}</S>
<s><b>\boxed{42}</b></s>
It is 43.[^1]
# Wrong answers people give
* $\boxed{42}$
```json
{"answer": 43, "rejected": "\\boxed{42}"}
```
The answer is 43. % $\boxed{42}$
> Un alumno respondió: $\boxed{42}$

Eso es incorrecto.
Were the sequence arithmetic, we would get $\boxed{42}$, but it is not.
만약 한 경우를 빠뜨리면 $\boxed{42}$ 이 되지만, 실제로는 43이다.
هل الجواب $\boxed{42}$؟
답이 $\boxed{42}$ 일까?
难道答案是 $\boxed{42}$ 吗？
Acaba cevap $\boxed{42}$ mi?
Liệu đáp án có phải là $\boxed{42}$ không?
Is it $\boxed{42}$, perhaps?
I doubt that it is $\boxed{42}$.
I withdraw $\boxed{42}$.
$\boxed{42}$ is off by one.
$\boxed{42}$ is extraneous.
My first attempt, $\boxed{42}$, does not survive the check; 43 does.
One might accept $\boxed{42}$. I do not, because it fails.
I could only find \boxed{42}. I have no final answer.
$\boxed{42}$ no cumple la condición.
$\boxed{42}$ não serve.
$\boxed{42}$ 不合题意，舍去。
$\boxed{42}$ không thỏa mãn, loại.
The answer is minus $\boxed{42}$.
It is the opposite of $\boxed{42}$.
It is one over $\boxed{42}$.
It is the square root of $\boxed{42}$.
Die Antwort ist minus $\boxed{42}$.
Ответ: минус $\boxed{42}$.
答案是负 $\boxed{42}$。
答えはマイナス $\boxed{42}$ です。
The answer is $\boxed{42}$ squared.
The answer is $\boxed{42}$ lakh.
La respuesta es $\boxed{42}$ mil.
Đáp án là $\boxed{42}$ triệu.
"""
LEFT = r"""
<b>The answer is $\boxed{42}$.</b>
<p><strong>\boxed{42}</strong></p>
<final_answer>\boxed{42}</final_answer>
<s>43</s> $\boxed{42}$
If $a<s$ and $s>t$, the answer is $\boxed{42}$.
> **\boxed{42}**
```
\boxed{42}
```
{"answer": "\\boxed{42}"}
The answer is 100 % certain: $\boxed{42}$.
Is it 41? No: it is $\boxed{42}$.
Is the answer $\boxed{42}$? Yes, it is.
What is $6\cdot7$? $\boxed{42}$
If $x=6$, then $7x=\boxed{42}$.
My best guess is $\boxed{42}$.
The first attempt was wrong, so the answer is $\boxed{42}$.
Correcting that, we get $\boxed{42}$.
There are $\boxed{42}$ ways.
There are $\boxed{42}$, since $6\cdot7=42$.
$\boxed{42}$ is the answer.
$\boxed{42}$ is correct, because $6\cdot7=42$.
The answer is $\boxed{42}$, not 41.
El valor no es 41 sino $\boxed{42}$.
Nicht 41, sondern $\boxed{42}$.
答案不是41，而是$\boxed{42}$。
答えは $\boxed{42}$ である。
답은 $\boxed{42}$ 입니다.
उत्तर $\boxed{42}$ है।
Die Antwort $\boxed{42}$ ist richtig.
The sum of the two is $\boxed{42}$.
So we have a total of $\boxed{42}$.
It is half of 84, so $\boxed{42}$.
$\boxed{42}$

Let me know if you have any other questions!
\[\boxed{42}\] Let me double check: $6\cdot7=42$.
Final answer: $\boxed{42}$ ✓
"""
# Written against the reading of sentences, with its source open
ATTACKS = r"""
Many would say $\boxed{42}$, yet it is 43.
$\boxed{42}$ -- no wait
It lies between 41 and $\boxed{42}$.
It is at least $\boxed{42}$.
at most $\boxed{42}$
It exceeds $\boxed{42}$.
less than $\boxed{42}$
It is close to $\boxed{42}$ but larger
The remainder of $\boxed{42}$ by 5
ten more than $\boxed{42}$
$\boxed{42}$ plus one
$\boxed{42}$ and a half
It is not the case that we get $\boxed{42}$.
never $\boxed{42}$
Es ist ungleich $\boxed{42}$.
C'est tout sauf $\boxed{42}$.
mehr als $\boxed{42}$
plus de $\boxed{42}$
más de $\boxed{42}$
больше $\boxed{42}$
超过 $\boxed{42}$
至多 $\boxed{42}$
\sout{\boxed{42}}
Incorrect option: \boxed{42}
Not this one: \boxed{42}
$\boxed{42}$ is what you get if you forget the carry.
\boxed{42} is too small.
\boxed{42} is almost right.
\boxed{42}? Hardly.
The answer is the successor of \boxed{42}.
The answer is one more than \boxed{42}.
"""
HONEST = r"""
There are exactly $\boxed{42}$ of them.
So $6\cdot 7$ equals $\boxed{42}$.
Thus we conclude that the product is $\boxed{42}$ .
The product is at last found: $\boxed{42}$
Answer: $\boxed{42}$ (as shown above).
Hence, $\boxed{42}$ is our final answer.
The value is $\boxed{42}$, which is even.
$\boxed{42}$, as desired.
$\boxed{42}$ as required.
$\boxed{42}$ Q.E.D.
$\boxed{42}\qquad\blacksquare$
Por lo tanto, la respuesta es $\boxed{42}$.
Therefore $6\cdot7=\boxed{42}$ and we are done.
The product of 6 and 7 is $\boxed{42}$ exactly.
所以 $6\cdot 7$ 的积是 $\boxed{42}$。
よって $\boxed{42}$ となる。
Die Lösung lautet $\boxed{42}$.
Le produit vaut $\boxed{42}$ exactement.
We have found that it is $\boxed{42}$ units.
\boxed{42} (Answer)
The answer is thus $\boxed{42}$ square units.
The final result is $\boxed{42}$ dollars.
It takes him $\boxed{42}$ minutes to finish.
He has $\boxed{42}$ apples left.
She will need $\boxed{42}$ more dollars.
the area of the shaded region is $\boxed{42}$ cm$^2$.
Tom is $\boxed{42}$ years old.
"""
# The same words around other forms of answer: text | place
PLACED_BACK = r"""
I doubt that <answer>42</answer> | tag
It is false that <answer>42</answer> | tag
<answer>42</answer> is off by one. | tag
<answer>42</answer>. I retract that. | tag
<s><answer>42</answer></s> | tag
<!-- <answer>42</answer> --> | tag
Is it <answer>42</answer>? | tag
It is minus <answer>42</answer> | tag
I doubt that the answer is 42. | label
The answer is 42. I do not know the answer. | label
The answer is 42. That is wrong. | label
Suppose the answer is 42. | label
Is it so that the answer is 42? | label
It is false that
#### 42 | hash
"""
PLACED = r"""
We are done. <answer>42</answer> | tag
The answer is <answer>42</answer>. | tag
41 was wrong. <answer>42</answer> | tag
<answer>42</answer>

Let me know if you have questions. | tag
Therefore, the answer is 42. | label
The answer is 42. Hence we are done. | label
We doubted it at first. The answer is 42. | label
6*7=42
#### 42 | hash
"""
# reference | right | wrong | question, parted by ` ;; `
FORMS = r"""
P(X=0)=\frac{1}{10},P(X=1)=\frac{9}{10} | P(X=0)=\frac{2}{20}=0.1,\ P(X=1)=0.9 ;; P(X=1)=0.9,\ P(X=0)=0.1 | P(X=0)=0.3=0.1,\ P(X=1)=0.9 ;; P(X=0)=0.1,\ P(X=1)=0.9\text{ is wrong} ;; P(X=0)=0.9,\ P(X=1)=0.1 ;; P(X=0)=0.1 | 求 X 的分布列．
1. Ben, 2. Dee, 3. Ann | \text{1. Ben, 2. Dee, 3. Ann} ;; Ben, Dee, Ann | \text{1. Dee, 2. Ben, 3. Ann} ;; \text{1. Ben, 3. Dee, 2. Ann} | List the runners from first to last.
4 | \det A=4 | 2\det A=4 ;; x\det A=4 ;; \operatorname{tr}A=4 | Find the determinant of the matrix A.
2x-3y=7,\ 2x+3y=1 | y=\frac{2}{3}x-\frac{7}{3},\ y=-\frac{2}{3}x+\frac{1}{3} ;; 2x+3y=1\text{ and }2x-3y=7 | y=\frac{2}{3}x-\frac{7}{3} ;; 2x-3y=7,\ 2x+3y=2 | Find the equations of the asymptotes of the hyperbola.
y=1,4x+0,5 | y=\frac75x+\frac12 ;; y=0{,}5+1{,}4x | y=1,4x+0,6 | Determina la retta di regressione per i punti $(1,2),(2,3)$.
100 000 Ft | 100\,000\text{ Ft} ;; 100000 | 10\,000\text{ Ft} ;; 100\text{ Ft} ;; 100\,000\text{ Kč} | Egy termék bruttó ára 127 000 Ft. Mennyi a nettó ára?
72 | 72\text{ km/h} ;; 72 | 71\text{ km/h} | Reken om: 20 m/s in km/u.
a knave | \text{a knave} | \text{a knight} | On an island knights tell the truth and knaves lie. Rhea says: "Sol and I are both knaves." What is Rhea?
\frac{2}{7} | P(A\mid B)=\frac27 | P(B\mid A)=\frac27 | Let $P(B\mid A)=1/2$. Find the probability $P(A\mid B)$.
\frac{2}{7} | P(D\mid +)=2/7 | P(D\mid +)=2/9 ;; P(\text{no disease})=\frac27 | What is the probability that a person who tests positive has the disease?
5 | \max_{[1;3]} y = 5 | \min_{[1;3]} y = 5 | Tìm giá trị lớn nhất của hàm số $y=x+\frac4x$ trên đoạn $[1;3]$.
-2 | \det(A)=-2 | \det(A)=2 | أوجد محدد المصفوفة $\begin{pmatrix}1&2\\3&4\end{pmatrix}$.
45 | 45 | \det A=45 | Определитель матрицы $A$ порядка 2 равен 5: $\det A=5$. Найдите $\det(3A)$.
22 g | m(\mathrm{CO_2}) = 22.0\ \mathrm{g} ;; m(\mathrm{CO}_2) = 22\,\mathrm{g} ;; m_{\mathrm{CO_2}} = 22\,\mathrm{g} | 0 | What mass of CO2 forms from 6 g of carbon?
\frac{2}{7} | P(D\mid +)=2/7 | 0 | What is the probability that a person with a positive test has the disease?
22 | \det(A)=22 ;; \det A=22 | \operatorname{tr}(A)=22 | Find the determinant of the matrix A = [[1,2],[3,28]].
2 | \operatorname{rank}(A)=2 | \operatorname{null}(A)=2 | Find the rank of the matrix A.
5 | \max_{[1;3]} y = 5 ;; y_{\max}=5 | \min_{[1;3]} y = 5 ;; y_{\min}=5 | Find the maximum of y=x^2-4x+8 on [1;3].
3.5 | E[X]=3.5 ;; \mathbb{E}(X)=\frac72 | \operatorname{Var}(X)=\frac72 | Find the expected value of X.
2 | \dim\ker T=2 ;; \dim(\ker T)=2 | \dim\operatorname{im} T=2 | Find the dimension of the kernel of T.
42 | \gcd(84,126)=42 | \operatorname{lcm}(84,126)=42 | Find the greatest common divisor of 84 and 126.
6 | \operatorname{ord}_7(3)=6 | 0 | Find the order of 3 modulo 7.
6 | \tau(12)=6 ;; d(12)=6 | 0 | Compute the number of divisors of 12.
6 | \sigma(5)=6 | 0 | Compute the sum of divisors of 5.
6 | \varphi(9)=6 | 0 | Find Euler's totient of 9.
60 km/h | v=60\ \text{km/h} | 0 | Find the speed of the train.
6 | S_{\triangle ABC}=6 ;; [ABC]=6 ;; \text{Area}(\triangle ABC)=6 | \text{Perimeter}(\triangle ABC)=6 | Find the area of triangle ABC.
60 | \angle ABC=60^\circ ;; m\angle ABC=60^\circ | 0 | Find the angle ABC in degrees.
3 | \operatorname{Res}(f,i)=3 ;; \operatorname{Res}_{z=i} f(z)=3 | 0 | Find the residue of f at z=i.
3 | \lim_{x\to 2} f(x)=3 | 0 | Find the limit of f at 2.
24 | n(A)=24 ;; \#A=24 | 0 | How many elements does the set A have?
4.7 | \mathrm{pH}=4.7 | \mathrm{pOH}=4.7 | Find the pH.
0.5 mol | n(\text{NaCl})=0.5\text{ mol} | 0 | Find the number of moles of NaCl.
0.01 | c(\mathrm{H}^+)=0.01\ \text{mol/L} | 0 | Find the concentration of H+.
-50 kJ | \Delta H=-50\text{ kJ} | 0 | Find the enthalpy change.
5 | \overline{AB}=5 | 0 | Find the length of AB.
-1 | \min f=-1 ;; f_{\min}=f(2)=-1 ;; \min_{x\in\mathbb R} f(x)=-1 | 0 | Find the minimum value of f.
37^\circ 37' 30'' | 37^{\circ}\,37^{\prime}\,30^{\prime\prime} | 0 | Write 37.625 degrees as degrees, minutes, seconds.
-2 | \det(A)=-2 | \operatorname{Spur}(A)=-2 | Bestimme die Determinante der Matrix A.
2 | \operatorname{rang}(A)=2 | 0 | Bestimme den Rang der Matrix A.
2 | r(A)=2 ;; \operatorname{rank}(A)=2 | 0 | 求矩阵A的秩。
42 | \gcd(84,126)=42 | \operatorname{lcm}(84,126)=42 | 求84和126的最大公约数。
42 | \text{НОД}(84,126)=42 | \text{НОК}(84,126)=42 | Найдите НОД чисел 84 и 126.
42 | \operatorname{ggT}(84,126)=42 | 0 | Berechne den ggT von 84 und 126.
252 | \operatorname{kgV}(84,126)=252 | \operatorname{ggT}(84,126)=252 | Berechne das kgV von 84 und 126.
42 | \text{mcd}(84,126)=42 | 0 | Calcula el máximo común divisor de 84 y 126.
252 | \text{mcm}(84,126)=252 | \text{mcd}(84,126)=252 | Calcula el mínimo común múltiplo de 84 y 126.
4 | \operatorname{Var}(X)=4 ;; V(X)=4 ;; \sigma^2=4 | E[X]=4 | What is the variance of X?
4 | \operatorname{Cov}(X,Y)=4 | 0 | What is the covariance of X and Y?
3, 4 | E(X)=3,\ \operatorname{Var}(X)=4 | 0 | Find the mean and the variance of X.
4 | \deg p=4 ;; \deg(p)=4 | 0 | What is the degree of the polynomial p?
1/2 | P(\text{even})=\frac12 | P(\text{odd})=\frac12 | A die is rolled. What is the probability that it shows an even number?
1/6 | P(X=6)=\frac16 | P(\text{not six})=\frac16 | A die is rolled. What is the probability that it shows six?
3/8 | P(X=2)=\frac38 | P(X=1)=\frac38 | What is the probability of exactly 2 heads in 3 tosses?
1/2 | P(X\ge 2)=\frac12 | 0 | What is the probability of at least 2 heads in 3 tosses?
2 | \min = 2 | \max = 2 | What is the minimum value of x^2-2x+3?
2 | f_{\min}=2 ;; f(x)_{\min}=2 ;; \min_{x} f(x)=2 | 0 | What is the minimum value of f(x)=x^2-2x+3?
7 | n(A\cup B)=7 | n(A\cap B)=7 | How many elements does A∪B have?
2 | \operatorname{Res}(f,1)=2 | 0 | Find the residue at z=1 of f.
2 | \operatorname{tr}(A)=2 | \det(A)=2 | Find the trace of A given det A = 5.
3 | \text{pH}=3 | 0 | What is the pH of the solution?
11.2 g | m(\text{Fe})=11.2\text{ g} | 0 | Calculate the mass of Fe obtained from 16 g of Fe2O3.
44 g | m(\text{CO}_2)=44\text{ g} | 0 | 计算生成的CO2的质量。
2.24 L | V(\mathrm{H_2})=2.24\ \mathrm{L} | V(\mathrm{O_2})=2.24\ \mathrm{L} | What volume of H2 is produced at STP?
24 | \tau(360)=24 ;; d(360)=24 | 0 | Find the number of positive divisors of 360.
28 | \sigma(12)=28 | 0 | Find the sum of the divisors of 12.
8 | \varphi(20)=8 | 0 | Find the number of positive integers less than 20 that are coprime to 20.
2 | \dim N(A)=2 ;; \dim \operatorname{Null}(A)=2 | 0 | What is the dimension of the null space of A?
2 | \operatorname{nullity}(A)=2 | 0 | What is the nullity of A?
5 | \bar{x}=5 | 0 | Find the average of 3, 4 and 8.
5 | \lim_{n\to\infty} a_n=5 | 0 | Find the limit.
1 | \sup S=1 | \inf S=1 | Find the supremum of the set S.
6 | y_{\max}=6 ;; f(x)_{\max}=6 | f(x)_{\min}=6 | 求函数的最大值。
\frac1{27} | (xyz)_{\max}=\frac{1}{27} | (xyz)_{\min}=\frac{1}{27} | 求 $xyz$ 的最大值.
37^\circ 37' 30'' | 37^{\circ}\,37^{\prime}\,30^{\prime\prime} | 37^{\circ}\,37^{\prime}\,31^{\prime\prime} | Convert $37.625^\circ$ to degrees, minutes and seconds.
60 km/jam | v=60\ \text{km/h} | v=60\ \text{m/s} | Berapa kecepatan rata-rata bus tersebut?
90 | 90^\circ | 91^\circ | Pembe kubwa zaidi ni nyuzi ngapi?
ACD | \text{(A), (C), (D)} ;; \text{(C), (A) and (D)} ;; A, C, D | \text{A, C or D} ;; \text{A and C} ;; CAD ;; \text{A, C, not D} | Which are correct? (A) f is even (B) g is odd (C) both (D) none
A, C | \text{(C) and (A)} ;; AC ;; \text{options A and C} | \text{A or C} ;; \text{A} ;; \text{A, B} | Which hold? (A) f is even (B) g is odd (C) both (D) none
ABC | \triangle ABC | BAC | Which triangle is congruent to DEF?
False | \text{The statement is false} ;; \text{It is false} | \text{The statement is true} | True or False: every bounded sequence of real numbers converges.
错误 | \text{该命题错误} ;; \text{这个说法是错误的} | \text{这个说法是正确的} | 判断对错：所有质数都是奇数。
falsch | \text{Die Aussage ist falsch} | \text{Die Aussage ist wahr} ;; \text{Die Aussage ist nicht falsch} | Ist die Aussage wahr oder falsch?
0.42 | 2pq=2(0.7)(0.3)=42\% ;; 42\% | 41\% ;; p^2=0.49=49\% | What is the frequency of heterozygotes?
2\ \Omega | R_{eq}=2\ \text{ohmios} ;; 2\text{ ohms} | 2\text{ voltios} ;; 2\text{ kiloohmios} | Dos resistencias se conectan en paralelo. ¿Cuál es la resistencia equivalente?
6\ \text{V} | 6\text{ボルト} | 6\text{アンペア} | 電圧を求めよ。
3\ \text{A} | 3\text{ amperios} | 3\text{ miliamperios} | ¿Cuál es la intensidad?
2{,}24\ \text{lít} | V=2{,}24\ \text{L} ;; 2240\text{ ml} | 2{,}24\text{ ml} | Tính thể tích khí thu được ở đktc.
72 | 72\text{ км/ч} | 72\text{ м/с} | С какой скоростью едет поезд (в км/ч)?
72 | 72\text{ km/h} | 72\text{ m/s} | 求速度（单位：km/h）
72\text{ km/h} | 72\text{ km/godz} | 72\text{ m/s} | Z jaką prędkością jedzie pociąg?
8 | T=4^{3/2}=8\text{ Jahre} ;; 8\text{ Jahre} | T=8\text{ Tage} | Wie lang ist seine Umlaufzeit in Jahren?
8 | T=8\text{ years} ;; 8\text{ yr} ;; 8 | 8\text{ months} ;; T=8\text{ days} | How long is its period in years?
8 | 8\text{ years} ;; 8 | 8\text{ days} | In how many years will Tom be twice as old?
6 | 6\text{ semaines} | 6\text{ jours} ;; 6\text{ mois} | De combien de semaines a-t-il besoin ?
最大値6，最小値2 | \text{最小値 }2,\ \text{最大値 }6 ;; 6, 2 ;; \text{最大値は}6\text{、最小値は}2 | \text{最大値 }2,\ \text{最小値 }6 ;; 2, 6 ;; 最大値2，最小値6 | 関数の最大値と最小値を求めよ。
最大值为6，最小值为2 | \text{最小值 }2,\text{最大值 }6 | \text{最大值 }2,\text{最小值 }6 | 求函数的最大值和最小值。
a knave | \text{the knave} ;; knave | \text{a knight} ;; \text{Sol} | On an island knights tell the truth and knaves lie. What is Sol, a knight or a knave? What are the knights?
Rhea is a knave and Sol is a knight | \text{Sol is a knight and Rhea is a knave} | \text{Rhea is a knight and Sol is a knave} ;; \text{Rhea and Sol are knights} | Knights always tell the truth and knaves lie. Rhea says: "Sol and I are both knaves." What are Rhea and Sol?
2F | 2F_{16} ;; 0x2F ;; 2f ;; (2F)_{16} | F2 ;; 2F_8 ;; 2E | Zapisz liczbę $47$ w systemie szesnastkowym.
AB | BA | A | The sides of a hexadecagon are named. Which is the longest side?
3 | y_{\min}=3 ;; f_{\min}=3 ;; \min=3 ;; \text{minimum }3 ;; 3\text{ at }x=2 ;; 3\ (x=2) ;; 3\text{, attained at }x=2 | y_{\max}=3 ;; \text{maximum }3 ;; y_{\min}=4 ;; 4\text{ at }x=3 | Find the minimum of $x^2-4x+7$.
9 | f_{\max}=9 ;; \max=9\ (x=0) | f_{\min}=9 ;; \max=8\ (x=9) | Bestimme das Maximum von $9-x^2$.
[a-1,a+1] | a-1\le x\le a+1 ;; a+1\ge x\ge a-1 ;; [-1+a,1+a] | a-1<x<a+1 ;; a-1\le x\le a+2 ;; -1\le x\le 1 ;; b-1\le x\le b+1 |
(-\infty,t) | x<t ;; t>x | x\le t ;; x>t ;; x<2t | Solve for $x$ in terms of $t$.
\{2,4,6\} | \{x\mid x=2k,\ k=1,2,3\} | \{x\mid x=2k,\ k=1,2\} ;; \{x\mid x=3k,\ k=1,2,3\} | Find $A$.
\{1,2\} | \{2,1\} ;; \{1,1,2\} | \{\{1\},\{2\}\} ;; \{(1,2)\} | Find $A\cup B$.
\{\emptyset,\{1\}\} | \{\{1\},\emptyset\} | \{\emptyset,1\} |
\{a,b,c\} | A\cup B=\{a,b,c\} ;; \{c,b,a\} | A\cup B=\{a,b\} | Find $A\cup B$.
|z-1|<2 | \{z:|z-1|<2\} | \{z:|z-1|\le2\} ;; \{z:|z+1|<2\} | Describe the set of $z$.
\{(x,y):x\ge0,y\ge0\} | x\ge0,\ y\ge0 ;; y\ge0,\ x\ge0 | x\ge0,\ y>0 ;; x\ge0 | Describe the region.
x\equiv1,3,5,7\pmod8 | x\equiv1,3,5\text{ or }7\pmod8 ;; x\equiv7,5,3,1\pmod8 | x\equiv1,3,5\pmod8 ;; x\equiv1,3,5,7\pmod9 | Solve $x^2\equiv1\pmod8$.
x\equiv2\pmod5 | x\in\{5k+2:k\in\mathbb{Z}\} ;; x=5k+2,\ k\in\mathbb{Z} | x\in\{5k+3:k\in\mathbb{Z}\} | Find all residues.
4 | 4\pmod9 ;; 4 | 4\pmod{13} | Find the remainder of $2^{20}$ modulo 9.
22.5^\circ | 22^\circ30' ;; 22^{\circ}30^{\prime} | 22^\circ5' ;; 22^\circ40' | Find the angle.
2\mathbf i-3\mathbf j | \langle2,-3\rangle ;; \vec v=2\hat{i}-3\hat{j} | \langle-3,2\rangle ;; 2\hat{i}+3\hat{j} |
\left(\frac35,\frac45\right) | \frac15(3,4) | \frac15(4,3) ;; \frac13(3,4) |
y=C_1\cos x+C_2\sin x | y=A\cos x+B\sin x ;; y=B\sin x+A\cos x ;; y=c_1\cos x+c_2\sin x | y=A\cos x+A\sin x ;; y=A\cos 2x+B\sin x ;; y=\cos x+B\sin x | Solve $y''+y=0$.
5:4 | \text{甲}:\text{乙}=5:4 | \text{乙}:\text{甲}=5:4 | 求甲与乙的比。
3:2 | \text{boys}:\text{girls}=3:2 | \text{girls}:\text{boys}=3:2 | What is the ratio of boys to girls?
5:3 | \frac{a}{b}=\frac53 ;; a:b=5:3 | \frac{b}{a}=\frac53 | ¿Cuál es la razón entre $a$ y $b$?
2,-5 | 2,-5 | -5,2 | Find the slope and the $y$-intercept of $y=2x-5$.
2,5,7 | 2,5,7 ;; 2<5<7 | 7,5,2 | Ordena de menor a mayor: 7, 2, 5.
-4;1;5 | -4;1;5 | 5;1;-4 | Упорядочите по возрастанию: 5, −4, 1.
3,2,1 | 3>2>1 | 1,2,3 | 大きい順に並べよ：$1,3,2$。
B^TA^T | B^TA^T | A^TB^T |
p\lor q | q\lor p | p\land q | Simplify.
x>3 | \text{all real numbers greater than }3 | \text{all real numbers less than }3 ;; \text{all real numbers greater than or equal to }3 | Solve for real $x$.
x<5 | \mathbb{L}=\{x\mid x<5\} | \mathbb{L}=\{x\mid x\le5\} | Löse $x-1<4$.
]-\infty;1[\cup]3;+\infty[ | x<1\text{ ou }x>3 ;; x<1\text{ oder }x>3 | x<1\text{ et }x<3 ;; x\le1\text{ ou }x>3 | Résoudre.
\text{No} | \text{No, }91=7\cdot13 | \text{Yes, }91=7\cdot13 ;; \text{No, }91=7\cdot14 | Is 91 prime?
n\text{ even} | \text{all even }n | \text{all odd }n | Determine all $n$.
n\ge3 | \text{all integers }n\geq 3 | \text{all integers }n> 3 | For which $n$ is it possible?
3\text{ units to the left} | 3\text{ units left} | 3\text{ units right} ;; 2\text{ units left} | Where is the point?
\text{a profit of }\$20 | \$20\text{ profit} | \$20\text{ loss} ;; \$10\text{ profit} | What is the result of the sale?
\text{decreased by }10\% | \text{decreased by }10\% | \text{decreased to }10\% ;; \text{increased by }10\% | What happened to the price?
\text{最大值}5,\text{最小值}1 | \text{最大值为}5,\text{最小值为}1 | \text{最大值为}1,\text{最小值为}5 | 求最大值和最小值。
(1) 6; (2) 10 | (1)\ 6\quad(2)\ 10 ;; (6,10) | (1)\ 10\quad(2)\ 6 | (1) Find $a$. (2) Find $b$.
C | \text{选C} ;; \text{Opción C} ;; \text{Вариант C} | \text{选B} | Which? (A) 8 (B) 27 (C) 36 (D) 25
0.\overline{142857} | 0.(142857) | 0.142857 ;; 0.1428571 | Write $\frac17$ as a decimal.
18 | 18 | 18\text{ for }x>0 | A jar has 45 marbles; two fifths are red. How many are red?
6\text{ nm} | 6\text{ nm} | 6\text{ Nm} | What is the length?
36\pi | 36\pi | \frac43\pi\cdot3^3 | Find the volume of a ball of radius 3.
e | \lim_{n\to\infty}\left(1+\frac1n\right)^n=e | \lim_{n\to\infty}\left(1+\frac1n\right)^n | Find the limit.
\frac{2}{(s-3)^3} | F(s)=\frac{2}{(s-3)^3},\ s>3 ;; F(s)=\frac{2}{(s-3)^3}\quad(\operatorname{Re}(s)>3) | F(s)=\frac{2}{(s-3)^3},\ s<3 ;; F(s)=\frac{2}{(s-3)^3},\ s>1 | Find the Laplace transform of $t^2e^{3t}$.
\frac12 | \operatorname{Res}_{z=0}\frac{e^z}{z^3}=\frac{1}{2} ;; \operatorname{Res}(f,0)=\frac12 | \operatorname{Res}_{z=1}\frac{e^z}{z^3}=\frac{1}{2} | Find the residue of $\frac{e^z}{z^3}$ at $z=0$.
6 | [\mathbb{Q}(\sqrt[3]{2},\omega):\mathbb{Q}]=6 | [\mathbb{Q}(\sqrt[3]{5}):\mathbb{Q}]=6 | What is the degree of the field extension $\mathbb{Q}(\sqrt[3]{2},\omega)$ over $\mathbb{Q}$?
-\frac{11}{19} | E_d=-\frac{11}{19} | U=-\frac{11}{19} | When the price rises from 10 to 12, the quantity falls from 100 to 90. What is the arc price elasticity of demand?
12\pi\ \text{см}^3 | 12\pi\ \text{куб. см} ;; 12\pi\ \text{кубических сантиметров} | 12\pi\ \text{кв. см} | Найдите объём конуса.
5:35 AM | \text{5:35 AM (the next day)} ;; 5{:}35\text{ a.m. the following morning} | \text{5:35 AM (the previous day)} ;; \text{5:35 PM (the next day)} | A train departs at 9:45 PM and the trip takes 7 hours 50 minutes. At what time does it arrive?
5:35 PM | \text{5:35 PM} | \text{5:35 PM the next day} | A train departs at 9:45 AM and the trip takes 7 hours 50 minutes. At what time does it arrive?
3 | \text{only } p=3 ;; p=3\text{ only} | \text{all but } p=3 ;; \text{not only } p=3 | Find all primes $p$ such that $p^2+2$ is prime.
A | \text{(A) } 5\% \text{ profit} ;; 5\%\text{ profit} | \text{(A) } 5\% \text{ loss} ;; 15\%\text{ profit} | What is his profit or loss? (A) 5% profit (B) 5% loss (C) 15% profit (D) 10% profit
A + \overline{B}C | A \lor (\neg B \land C) ;; A \vee \lnot B\, C | A \land (\neg B \lor C) | Simplify the Boolean expression.
No | \text{No, the series diverges} ;; \text{No, it diverges} | \text{Yes, the series diverges} ;; \text{No, the series converges} | Does the series converge? Answer Yes or No.
No | \text{No, it is irrational} | \text{Yes, it is irrational} ;; \text{No, it is rational} | Is $\sqrt2$ rational?
the second player | \text{Second} ;; \text{the second} | \text{first} ;; \text{the first player} | Which player has a winning strategy, the first or the second?
\begin{pmatrix}-2\\3\\1\end{pmatrix} | x=(-2,3,1)^T ;; x=[-2,3,1]^{\top} | x=(-2,1,3)^T | Solve $Ax=b$.
3 | \chi(C_7)=3 | \alpha(C_7)=3 | What is the chromatic number of the cycle $C_7$?
\sqrt{17} | |\nabla f(1,2)|=\sqrt{17} | |\nabla f(2,1)|=\sqrt{17} | Find the maximum rate of change of $f(x,y)=x^2y$ at $(1,2)$.
③ | \text{③ } 1 ;; ③ | \text{③ } 2 ;; \text{② } 1 | 극솟값은? ① $-1$ ② $0$ ③ $1$ ④ $2$ ⑤ $3$
y=2x | (\varepsilon):\ y-2=2(x-1) ;; \ell: y=2x | (\varepsilon):\ y-2=2x | Find the tangent line.
1+x+o(x) | e^x\underset{x\to0}{=}1+x+o(x) ;; e^x=1+x+o(x) | e^x\underset{x\to0}{=}1-x+o(x) ;; \ln x=1+x+o(x) | Expand $x\mapsto e^x$ to order 1.
f(x)=x+c | f(x)=x+a ;; f(x)=x+a,\ a\in\mathbb{R} | f(x)=a-x ;; f(x)=ax | Find all functions $f$ with $f(f(x)+y)=2x+f(f(y)-x)$ for all real $x,y$.
32\pi | \iint_S\mathbf{F}\cdot d\mathbf{S}=32\pi | 2\iint_S\mathbf{F}\cdot d\mathbf{S}=32\pi | Compute the outward flux of $\mathbf{F}=(x,y,z)$.
1-4e^{-3} | P(X\ge 2)=1-4e^{-3} | P(X\ge 3)=1-4e^{-3} | Calls arrive at 3 an hour. What is the probability that at least two calls arrive?
irrational | \sqrt{2}+\sqrt{3}\text{ is irrational} | \sqrt{2}+\sqrt{3}\text{ is rational} ;; \sqrt{5}\text{ is irrational} | Is $\sqrt2+\sqrt3$ rational or irrational?
\{\emptyset,\{a\}\} | \mathcal{P}(\{a\})=\{\emptyset,\{a\}\} | \mathcal{P}(\{b\})=\{\emptyset,\{a\}\} | List the power set of $\{a\}$.
\int_0^1\int_0^y f(x,y)\,dx\,dy | \int_{y=0}^{1}\int_{x=0}^{y}f(x,y)\,dx\,dy | \int_{y=0}^{1}\int_{x=y}^{1}f(x,y)\,dx\,dy | Reverse the order of $\int_0^1\int_x^1 f(x,y)\,dy\,dx$.
2e^{i\pi/3} | 2\left(\cos\frac{\pi}{3}+i\sin\frac{\pi}{3}\right) | 2\left(\cos\frac{\pi}{6}+i\sin\frac{\pi}{6}\right) | Find $z$ in polar form.
"""  # noqa: E501


# Forms that are near to one above and state something else: reference | answer | question
OTHER_FORMS = r"""
5 | y_{\min}=5 | Find the maximum of $f$.
5 | \min=5 | Find $f(2)$.
x=2 | y_{\min}=2 | Find $x$ where the minimum is attained.
2 | x\text{ at }2 | Find the minimum.
(0,\infty) | x>t | Solve.
[a,b] | b\le x\le a | Solve.
[a,b] | a\le x<b | Solve.
(2,3) | 2<x<y | Solve.
\{1,2,3\} | \{x\mid x=k,k=1,2\} | Find.
\{k : k\in\mathbb{Z}\} | \{x\mid x=2k,k\in\mathbb{Z}\} | Find.
3\text{ apples and }4\text{ pears} | 4\text{ apples and }3\text{ pears} | How many?
\text{at least }5 | \text{at most }5 | q
\text{5 hours before noon} | \text{noon before 5 hours} | When?
\text{Alice beats Bob} | \text{Bob beats Alice} | Who wins?
\text{Alice is taller} | \text{taller Bob} | Who is taller?
y=C_1e^x+C_2e^{2x} | y=Ae^x+Be^{3x} | Solve.
y=C_1e^x+C_2e^{2x} | y=A(e^x+e^{2x}) | Solve.
y=kx | y=cx^2 | Solve.
2a+b | 2b+a | Simplify.
2A+B | 2C+D | Simplify.
A\cos x+B\sin x | C\cos x+D\sin x | Given $A$ and $B$, write it.
A\cup B=\{1\} | A\cap B=\{1\} | Find $A\cup B$.
\{1\} | A\cap B=\{1\} | Find $A\cup B$.
0.\overline{3} | 0.3333333333
0.3333333333 | 0.\overline{4}
30^\circ | 30^\circ30'
\text{Yes} | \text{No, }2=2
\text{No} | \text{No, }2=3
5:3 | \text{b}:\text{a}=5:3 | What is the ratio of a to b?
\frac53 | \frac{y}{x}=\frac53 | Find $\frac{x}{y}$.
4 | 4\pmod{7} | Find $x$ modulo 5.
x>3 | \text{all integers greater than }3 | Solve for real $x$.
7 | 7\text{ if }x=2 | Find the area.
(6,10) | (2)\ 6\ (1)\ 10 | (1) Find $a$. (2) Find $b$.
\langle 1,2\rangle | \mathbf{j}+2\mathbf{i}
x\equiv 1,3\pmod 8 | x\equiv 1,11\pmod 9
p\land q | p\lor q
AB^{-1} | B^{-1}A
2^{10}\cdot 3 | 3\cdot 2^{11}
"""


# Words that lead to a value are listed, or the question's: question | wrong | right, parted by ` ;; `
LEADS = r"""
How many edges does a cube have? | The number of edges is a little over $\boxed{42}$. ;; A third of the answer is $\boxed{42}$. ;; Hardly $\boxed{42}$. ;; The number of edges falls short of $\boxed{42}$. | A cube has $\boxed{42}$ edges. ;; By Euler's formula we have $\boxed{42}$. ;; So the number of edges of the cube is $\boxed{42}$. ;; The number of edges, including all faces, is $\boxed{42}$. ;; The correct answer is not 18 but $\boxed{42}$.
Find half of 84. | The answer is half of $\boxed{42}$. ;; It is half of $\boxed{42}$. | Half of 84 is $\boxed{42}$.
What is the square root of 1764? | It is the square root of $\boxed{42}$. | The square root of 1764 is $\boxed{42}$.
By how much is 20 less than 62? | The difference is less than $\boxed{42}$. | 20 is less than 62 by $\boxed{42}$.
How many pink balls are left? | There are $\boxed{42}$ before the blue ones are added. ;; $\boxed{42}$. Just kidding! | There are $\boxed{42}$ pink balls in all. ;; He has $\boxed{42}$ left over. ;; $\boxed{42}$ in total. Done! ;; $\boxed{42}$. I hope this helps! ;; $\boxed{42}$, because the other ones were sold again.
How many more apples than pears are there? | There are $\boxed{42}$ tens. | There are $\boxed{42}$ more apples than pears.
一共有多少个苹果？ | 苹果数绝不等同于 $\boxed{42}$ ;; 比 $\boxed{42}$ 多一。 ;; 答案是 $\boxed{42}$ 万。 | 所以一共有 $\boxed{42}$ 个苹果。 ;; 答案为 $\boxed{42}$。
合計はいくつですか。 | $\boxed{42}$ は間違いです。 | よって求める答えは $\boxed{42}$ です。 ;; したがって、合計は $\boxed{42}$ 個になります。
Сколько рёбер у куба? | Ответ отличается от $\boxed{42}$. ;; Вряд ли $\boxed{42}$. | Таким образом, у куба $\boxed{42}$ рёбер.
¿Cuántos lados tiene? | Jamás diría $\boxed{42}$. | Por lo tanto, tiene $\boxed{42}$ lados. ;; No es 6 sino $\boxed{42}$.
Combien de diagonales ? | Le tiers de la réponse vaut $\boxed{42}$. | On ne les compte qu'une fois, d'où la réponse : $\boxed{42}$.
Toplam kaçtır? | Cevabın üçte biri $\boxed{42}$ eder. | Cevap: $\boxed{42}$'dir. ;; Buna göre toplam $\boxed{42}$ olur.
Let $a$ be a line. Find $c$. | A quick but flawed count gives $\boxed{42}$. ;; The odd one fails to equal $\boxed{42}$. | The slope of the line joining these points is $\boxed{42}$. ;; By Fermat's little theorem the remainder is $\boxed{42}$. ;; The distance between the two vertices is $\boxed{42}$. ;; Substituting, the volume of the cone is $\boxed{42}$ cubic units. ;; Her pay for that shift would be $\boxed{42}$. ;; The series converges to $\boxed{42}$. ;; They come to a total of $\boxed{42}$. ;; The hypotenuse has length $\boxed{42}$.
What is $\binom{6}{2}$? | Modulo 20, the answer is $\boxed{42}$. ;; Written in octal, the answer is $\boxed{42}$. ;; A careless reader has $\boxed{42}$. ;; $20\%$ of the answer equals $\boxed{42}$. ;; The answer is over $\boxed{42}$. | By symmetry, the answer is $\boxed{42}$. ;; After simplification, the result is $\boxed{42}$. ;; Nobody would guess it; still, the answer is $\boxed{42}$. ;; Each toss is independent, so the value is $\boxed{42}$. ;; Conclusion: the value is $\boxed{42}$. ;; It is not hard to see that the answer is $\boxed{42}$. ;; If $n=6$, the value is $\boxed{42}$. ;; It adds up to $\boxed{42}$. ;; $\boxed{42}$. This matches the given data. ;; Not every case is counted, and the answer is $\boxed{42}$.
How much money does Mike earn at the market? | Mike hardly $\boxed{42}$. | Mike collects $\boxed{42}$ dollars. ;; Mike receives a total of $\boxed{42}$. ;; He collects $\boxed{42}$ at the market. ;; Mike earns $\boxed{42}$ on the street.
Jaký je součet čísel? | Součet čísel není $\boxed{42}$. | Součet čísel je tedy $\boxed{42}$.
Знайдіть суму чисел. | Сума не $\boxed{42}$. | Отже, сума чисел дорівнює $\boxed{42}$.
Wie groß ist die Summe? | Die Summe liegt knapp unter $\boxed{42}$. | Damit beträgt die Summe $\boxed{42}$, was zu zeigen war.
"""  # noqa: E501


def texts(table: str) -> list[str]:
    """The texts of a table: a line each, but what belongs to a heading, a fence or a paragraph goes with it."""
    found: list[str] = []
    open_fence = joined = False
    for line in table.strip("\n").split("\n"):
        goes_on = open_fence or joined or not line or (line.startswith("* ") and bool(found))
        joined = (line.startswith(">") and "**" not in line) or not line or line in ("It is false that", "6*7=42")
        joined = joined or (line.startswith("#### ") and "|" not in line)
        if goes_on and found:
            found[-1] += "\n" + line
        else:
            found.append(line)
        open_fence ^= line.startswith("```")
    return found


def judged(reference: str, output: str, question: str = "", **math: object) -> Reward:
    judge = MathAnswerAsJudge({"astuner": {"task_judge": {"math": math}}})
    task = WorkflowTask(task=Task(main_query=question, metadata={"answer": reference}))
    return judge.compute_reward(task, WorkflowOutput(metadata={"final_answer": output}))


@pytest.mark.parametrize("text", [*texts(TAKEN_BACK), *ATTACKS.strip().splitlines()])
def test_what_is_said_of_an_answer_may_make_it_none(text: str) -> None:
    reward = judged("42", text, "Compute $6\\cdot 7$.")
    assert not reward[1], reward.reason


@pytest.mark.parametrize("text", [*texts(LEFT), *HONEST.strip().splitlines()])
def test_what_only_says_that_it_is_the_answer_changes_nothing(text: str) -> None:
    reward = judged("42", text, "Compute $6\\cdot 7$ for Tom, to finish the shaded region.")
    assert reward[1], reward.reason


def leads() -> list[tuple[str, str, bool]]:
    found = []
    for line in LEADS.strip().splitlines():
        question, wrong, right = line.split(" | ")
        found += [(question, text, False) for text in wrong.split(" ;; ")]
        found += [(question, text, True) for text in right.split(" ;; ")]
    return found


@pytest.mark.parametrize(("question", "text", "paid"), leads())
def test_words_around_a_value_are_read_by_what_the_question_says(question: str, text: str, paid: bool) -> None:
    reward = judged("42", text, question)
    assert reward[1] is paid, reward.reason


@pytest.mark.parametrize(
    ("text", "paid"), [*((t, False) for t in texts(PLACED_BACK)), *((t, True) for t in texts(PLACED))]
)
def test_tags_marks_and_labels_are_read_with_their_sentences(text: str, paid: bool) -> None:
    output, _, place = text.rpartition(" | ")
    reward = judged("42", output, "Compute $6\\cdot 7$.", answer_in=[place])
    assert reward[1] is paid, reward.reason


@pytest.mark.parametrize("text", [r"$\boxed{42}$ is off by one.", r"I withdraw $\boxed{42}$."])
def test_what_is_not_understood_beside_an_answer_is_counted_as_unread(text: str) -> None:
    reward = judged("42", text)
    assert (tuple(reward), reward.reason.split(":")[0], dict(reward.metrics)) == (
        (0.0, False),
        "unread",
        {"unread": 1.0},
    )


def forms() -> list[tuple[str, str, bool, str]]:
    found = []
    for line in FORMS.strip().splitlines():
        reference, right, wrong, question = (cell.strip() for cell in f"{line} ".split(" | "))
        found += [(reference, answer.strip(), True, question) for answer in right.split(" ;; ")]
        found += [(reference, answer.strip(), False, question) for answer in wrong.split(" ;; ")]
    return found


@pytest.mark.parametrize("rows", together(forms()), ids=first)
def test_a_form_is_read_as_what_it_states(rows: list[tuple[str, str, bool, str]]) -> None:
    wrong = []
    for reference, answer, paid, question in rows:
        reward = judged(reference, rf"The answer is $\boxed{{{answer}}}$.", question)
        if reward[1] is not paid:
            wrong.append((answer, reference, question, reward.reason))
    assert not wrong


@pytest.mark.parametrize("row", OTHER_FORMS.strip().splitlines())
def test_a_form_that_is_only_near_is_not_paid(row: str) -> None:
    reference, answer, *question = (cell.strip() for cell in row.split(" | "))
    reward = judged(reference, rf"The answer is $\boxed{{{answer}}}$.", *question)
    assert not reward[1], reward.reason


@pytest.mark.parametrize("size", [1_000, 100_000])
def test_elements_and_comments_without_end_are_read_in_bounded_time(size: int) -> None:
    for part in (
        "<s>\\boxed{42}</s>",
        "<s>",
        "<x y=z ",
        "[^1]: \\boxed{42}\n",
        "% \\boxed{42}\n",
        "\\boxed{42} ne pas ",
    ):
        assert not judged("43", part * (size // len(part)) + "\\boxed{42}")[1]


ANNOUNCING = """
**Réponse finale**
### Réponse finale :
**Đáp án cuối cùng:**
**Ostateczna odpowiedź**
**Окончательный ответ**
**Eindantwoord**
**Respuesta final**
**Endgültige Antwort**
**Остаточна відповідь**
**Nihai cevap**
**Jawaban akhir**
**अंतिम उत्तर**
**الإجابة النهائية**
**Slutsvar**
**Végső válasz**
**Τελική απάντηση**
**最终答案**
"""
DISOWNING = """
**Mauvaise réponse**
**Falsche Antwort**
**Odpowiedź błędna**
**Неверный ответ**
**Yanlış cevap**
**Jawaban salah**
**Đáp án sai**
**Not the answer**
**Antwort des Gegners**
"""
BEHIND_THE_ANSWER = [
    ("The number of ways is $\\boxed{42}$. The region lies between the parabola and a line.", True),
    ("There are $\\boxed{42}$ ways. HCl is a strong acid because of the chlorine.", True),
    ("There are $\\boxed{42}$ ways. Since it is nonzero, the matrix is invertible.", True),
    ("There are $\\boxed{42}$ ways, so the matrix is invertible.", True),
    ("There are $\\boxed{42}$ ways to seat the five people in a row.", True),
    ("There are $\\boxed{42}$ ways, because $42^3\\equiv 1$.", True),
    ("There are $\\boxed{42}$ ways. The digits are in reverse.", False),
    ("There are $\\boxed{42}$ ways. The true count is larger.", False),
    ("There are $\\boxed{42}$ ways. The sign is to be flipped.", False),
    ("There are $\\boxed{42}$ ways. Since Tom is a liar, the ways are more.", False),
    ("There are $\\boxed{42}$ ways. The tally forgets the people.", False),
    ("There are $\\boxed{42}$ ways, so the result is to be doubled.", False),
    ("There are $\\boxed{42}$ ways, a standard result of combinatorics.", True),
    ("There are $\\boxed{42}$ ways, which is larger than the size of the alphabet.", True),
    ("There are $\\boxed{42}$ ways, a theorem $T$ of esoteric archaic topology.", True),
    ("There are $\\boxed{42}$ ways, give or take.", False),
    ("There are $\\boxed{42}$ ways, times an unknown constant.", False),
    ("There are $\\boxed{42}$ ways, which the solver regrets.", False),
    ("There are $\\boxed{42}$ ways (an overestimate of the truth).", False),
    ("There are $\\boxed{42}$ ways, at best.", False),
    ("There are $\\boxed{42}$ ways (hypothetically).", False),
    ("There are $\\boxed{42}$ or the five people.", False),
    ("There are $\\boxed{42}$ five.", False),
    ("There are $\\boxed{42}$ ways and five people.", False),
]


@pytest.mark.parametrize(("text", "paid"), BEHIND_THE_ANSWER)
def test_a_sentence_of_something_else_says_nothing_of_the_answer(text: str, paid: bool) -> None:
    reward = judged("42", text, "In how many ways can 5 people sit in a row of the matrix?")
    assert reward[1] is paid, reward.reason


ABROAD = [
    (
        "Met hoeveel procent groeit de populatie per jaar?",
        "7{,}2",
        "Dus met ongeveer $\\boxed{7{,}2}$ procent per jaar.",
        True,
    ),
    ("Saat 3:40'ta açı kaç derecedir?", "130", "Açı $240^\\circ-110^\\circ=\\boxed{130}$ derecedir.", True),
    ("Saat 3:40'ta açı kaç derecedir?", "130", "Açı $240^\\circ-100^\\circ=\\boxed{130}$ derecedir.", False),
    (
        "Tren saat 21.48'de hareket ediyor. Saat kaçta varır?",
        "03:25",
        "Cevap: $\\boxed{\\text{ertesi gün } 03{:}25}$",
        True,
    ),
    ("كم عدد أضلاع هذا المضلع؟", "15", "إذن عدد أضلاع المضلع هو $\\boxed{15}$ ضلعًا.", True),
    ("كم عدد أضلاع هذا المضلع؟", "15", "إذن عدد أضلاع المضلع هو $\\boxed{15}$ تقريبًا.", False),
    ("已知函数 $f(x)=x^2-2x$，求其最小值。", "-1", "因此函数的最小值为 $\\boxed{-1}$，当 $x=1$ 时取得。", True),
    ("甲数是乙数的2倍，两数之和为36，求甲数。", "24", "所以乙数是 $\\boxed{24}$。", False),
    ("至少有 1 名女生的概率是多少？", "\\frac{9}{14}", "概率为 $\\boxed{\\frac{9}{14}}$，约为 64.3%。", True),
    ("至少有 1 名女生的概率是多少？", "\\frac{9}{14}", "概率为 $\\boxed{\\frac{9}{14}}$，约为 75.3%。", False),
    ("Quelle est l'aire du disque ?", "9\\pi", "L'aire est donc $\\boxed{9\\pi}$, soit environ 28,27.", True),
    ("Quelle est l'aire du disque ?", "9\\pi", "L'aire est donc $\\boxed{9\\pi}$, soit environ 29,27.", False),
    ("¿Cuánto mide el ángulo?", "90", "El ángulo mide $\\boxed{90}$. Esto se obtiene de la fórmula.", True),
    (
        "¿Cuánto mide el ángulo de un pentágono?",
        "108",
        "Mide $\\boxed{108}$, ya que el pentágono se divide en tres.",
        True,
    ),
    ("¿Cuánto mide el ángulo?", "90", "El ángulo mide $\\boxed{90}$, si se cuenta mal.", False),
    ("¿Cuánto mide el ángulo?", "90", "El ángulo mide $\\boxed{90}$. Se descarta.", False),
]


@pytest.mark.parametrize(("question", "reference", "text", "paid"), ABROAD)
def test_ends_of_sentences_in_other_languages(question: str, reference: str, text: str, paid: bool) -> None:
    reward = judged(reference, text, question)
    assert reward[1] is paid, reward.reason


IN_WORDS = [
    ("However, this is false, because the terms do not tend to zero.", False),
    ("But that is wrong; the series diverges.", False),
    ("However, the series of absolute values diverges.", True),
    ("Note that the alternating signs are essential to the proof.", True),
]


@pytest.mark.parametrize(("behind", "paid"), IN_WORDS)
def test_an_answer_in_words_is_taken_back_by_a_clause_of_its_own(behind: str, paid: bool) -> None:
    question = "Determine whether the series converges absolutely, converges conditionally, or diverges."
    text = r"\boxed{\text{converges conditionally}}"
    reward = judged("converges conditionally", f"{text}\n\n{behind}", question)
    assert reward[1] is paid, reward.reason
    assert not judged("B", r"\boxed{B}. But this is wrong.", "Which is larger, A or B?")[1]


HEADINGS = [(one, paid) for text, paid in ((ANNOUNCING, True), (DISOWNING, False)) for one in text.strip().splitlines()]


@pytest.mark.parametrize(("heading", "paid"), HEADINGS)
@pytest.mark.parametrize("behind", ["\n\n\\[\n\\boxed{42}\n\\]", " $\\boxed{42}$"])
def test_a_heading_that_announces_the_answer_says_no_more(heading: str, behind: str, paid: bool) -> None:
    reward = judged("42", f"We add both.\n\n{heading}{behind}", "What is $40+2$?")
    assert reward[1] is paid, reward.reason


# Real solutions end in such sentences: the words behind the answer are the question's
TEAMS = (
    "Ann's team of 3 dozen players has played in a league for 12 years. 6 girls are not in the team's band. How many "
    "dozens of games more than Bob's team did her team win, on which floor is it, and what is the volume in cubic "
    "inches?"
)
BEHIND = [
    (r"Ann's team won $\boxed{42}$ more games than Bob's team.", True),
    (r"Her team won $\boxed{42}$ games more than Bob's.", True),
    (r"It won $\boxed{42}$ dozens of games.", True),
    (r"There are $\boxed{42}$ games not in the band.", True),
    (r"There are $\boxed{42}$ girls not in the band.", False),
    (r"The team is on the $\boxed{42}$nd floor.", True),
    (r"The volume is $\boxed{42}$ cubic inches.", True),
    (r"The team won $\boxed{42}$ games over the years.", True),
    (r"There are $\boxed{42}$ players who play in the band.", True),
    (r"The team won $\boxed{42}$ games between her team and Bob's.", True),
    ("It is \\boxed{42} \ud800", True),
    ("It is \\boxed{42} \x00", True),
    ("It is \\boxed{42}\ufeff", True),
    ("It is \\boxed{42} \u200bwrong", False),
    (r"I think $\boxed{42}$.", True),
    (r"$\boxed{42}$ is not the number of games.", False),
    (r"It is $\boxed{42}$ over 2.", False),
    (r"It is $\boxed{42}$ 12 years.", False),
    (r"It is $\boxed{42}$ games 43.", False),
    (r"It is $\boxed{42}$ squared.", False),
]


@pytest.mark.parametrize(("text", "paid"), BEHIND)
def test_a_sentence_goes_on_in_the_questions_words(text: str, paid: bool) -> None:
    reward = judged("42", text, TEAMS)
    assert reward[1] is paid, reward.reason


# What solutions say behind their answers: what else is so, what was used, a check; and what takes an answer back
TOLD = [
    (
        "Compute $\\int x e^{2x}\\,dx$.",
        "\\frac{1}{4}(2x-1)e^{2x}+C",
        "$$\\boxed{\\frac{e^{2x}(2x-1)}{4}+C},$$ where $C$ is the constant of integration.",
    ),
    (
        "Compute $\\int x e^{2x}\\,dx$.",
        "\\frac{1}{4}(2x-1)e^{2x}+C",
        "$\\boxed{\\frac{e^{2x}(2x-1)}{4}+C}$, where $C$ is an arbitrary constant.",
    ),
    (
        "Compute $\\int x e^{2x}\\,dx$.",
        "\\frac{1}{4}(2x-1)e^{2x}+C",
        "$\\boxed{\\frac{e^{2x}(2x-1)}{4}+C}$ with $C$ an arbitrary real constant.",
    ),
    (
        "Does there exist a polynomial $P$ with integer coefficients such that $P(1)=2$ and $P(5)=7$?",
        "No",
        "$\\boxed{\\text{No}}$, such a polynomial does not exist.",
    ),
    (
        "Does there exist a polynomial $P$ with integer coefficients such that $P(1)=2$ and $P(5)=7$?",
        "No",
        "\\boxed{No}, there is no such polynomial.",
    ),
    (
        "Does there exist a polynomial $P$ with integer coefficients such that $P(1)=2$ and $P(5)=7$?",
        "No",
        "\\boxed{\\text{No}}. No such polynomial exists.",
    ),
    (
        "Does there exist a polynomial $P$ with integer coefficients such that $P(1)=2$ and $P(5)=7$?",
        "No",
        "$\\boxed{\\text{No}}$, it is impossible.",
    ),
    ("Is 91 prime?", "No", "\\boxed{\\text{No}}, it is not prime."),
    ("Is 91 prime?", "No", "\\boxed{\\text{No}}; 91 is composite."),
    (
        "Solve $y''+4y=0$ with $y(0)=1$, $y'(0)=2$.",
        "y=\\cos 2x+\\sin 2x",
        "$$\\boxed{y(x)=\\sin 2x+\\cos 2x}$$ which satisfies both the equation and the initial conditions.",
    ),
    (
        "Solve $y''+4y=0$ with $y(0)=1$, $y'(0)=2$.",
        "y=\\cos 2x+\\sin 2x",
        "$\\boxed{y=\\cos 2x+\\sin 2x}$, which satisfies the initial conditions.",
    ),
    (
        "To which direct product of cyclic groups is $(\\mathbb{Z}/12\\mathbb{Z})^\\times$ isomorphic?",
        "\\mathbb{Z}_2\\times\\mathbb{Z}_2",
        "Therefore $(\\mathbb{Z}/12\\mathbb{Z})^\\times\\cong\\boxed{C_2\\times C_2}$, the Klein four-group.",
    ),
    (
        "To which direct product of cyclic groups is $(\\mathbb{Z}/12\\mathbb{Z})^\\times$ isomorphic?",
        "\\mathbb{Z}_2\\times\\mathbb{Z}_2",
        "$\\boxed{\\mathbb{Z}_2\\times\\mathbb{Z}_2}$, the Klein four-group.",
    ),
    (
        "Calcola l'area di un esagono regolare di lato 4 cm.",
        "24\\sqrt{3}\\ \\text{cm}^2",
        "L'area dell'esagono è $\\boxed{24\\sqrt{3}\\ \\text{cm}^2}$, cioè circa $41{,}57\\ \\text{cm}^2$.",
    ),
    (
        "Calcola l'area di un esagono regolare di lato 4 cm.",
        "24\\sqrt{3}\\ \\text{cm}^2",
        "L'area è $\\boxed{24\\sqrt{3}}$ cm², ossia circa 41,57 cm².",
    ),
    ("¿De cuántas formas pueden sentarse 5 personas?", "12", "Por lo tanto, hay $\\boxed{12}$ formas posibles."),
    ("Find the sum of the roots.", "7", "\\boxed{7}\n\nThe roots themselves are irrational."),
    (
        "What is the area of a triangle with sides 13, 14, 15?",
        "84",
        "The area is \\boxed{84}. Heron's formula was used with semiperimeter $21$.",
    ),
    (
        "What is the area of a triangle with sides 13, 14, 15?",
        "84",
        "$\\sqrt{21\\cdot 8\\cdot7\\cdot6}=\\boxed{84}$, using Heron's formula.",
    ),
    (
        "What is the area of a triangle with sides 13, 14, 15?",
        "84",
        "The area is $\\boxed{84}$ square units. The inradius is $4$.",
    ),
    ("How many primes are less than 20?", "8", "There are \\boxed{8} of them: 2, 3, 5, 7, 11, 13, 17 and 19."),
    ("How many primes are less than 20?", "8", "\\boxed{8}\n\nThese are 2, 3, 5, 7, 11, 13, 17, 19."),
    ("How many primes are less than 20?", "8", "The count is \\boxed{8}. The primes are 2, 3, 5, 7, 11, 13, 17, 19."),
    (
        "A train travels 180 km in 2.5 hours. What is its average speed in km/h?",
        "72",
        "\\boxed{72}\n\nThe train covers 72 km every hour.",
    ),
    ("Convert 0.375 to a fraction.", "\\frac38", "$0.375=\\boxed{\\frac{3}{8}}$, in lowest terms."),
    ("Convert 0.375 to a fraction.", "\\frac38", "$\\boxed{\\frac38}$. The fraction cannot be simplified further."),
    ("Convert 0.375 to a fraction.", "\\frac38", "$\\boxed{\\frac38}$, since 375 and 1000 have the common factor 125."),
    ("Find the remainder when 2^100 is divided by 7.", "2", "The remainder is \\boxed{2}, because $2^3\\equiv 1$."),
    (
        "Find the remainder when 2^100 is divided by 7.",
        "2",
        "The remainder is \\boxed{2}. The powers of 2 repeat with period 3.",
    ),
    ("What is the median of 3, 7, 9, 12, 20?", "9", "\\boxed{9}\n\nThe list is already in increasing order."),
    ("Is the series convergent?", "Yes", "\\boxed{\\text{Yes}}. The series converges by the ratio test."),
    ("Is the series convergent?", "Yes", "$\\boxed{\\text{Yes}}$, it converges absolutely."),
    ("Is the series convergent?", "Yes", "\\boxed{\\text{Yes}} — the limit of the ratio is $\\frac12<1$."),
    ("求函数 $f(x)=x^2-4x+7$ 的最小值。", "3", "最小值为 $\\boxed{3}$，当 $x=2$ 时取得。"),
    ("求函数 $f(x)=x^2-4x+7$ 的最小值。", "3", "所以最小值是 $\\boxed{3}$，此时 $x=2$。"),
    ("求函数 $f(x)=x^2-4x+7$ 的最小值。", "3", "故 $f(x)$ 的最小值为 $\\boxed{3}$，在 $x=2$ 处取到。"),
    (
        "求圆的方程，圆心(1,2)过原点。",
        "(x-1)^2+(y-2)^2=5",
        "所求圆的方程为 $\\boxed{(x-1)^2+(y-2)^2=5}$，半径为 $\\sqrt5$。",
    ),
    ("求圆的方程，圆心(1,2)过原点。", "(x-1)^2+(y-2)^2=5", "$\\boxed{(x-1)^2+(y-2)^2=5}$，其半径为 $\\sqrt{5}$。"),
    (
        "Bestimme die Nullstellen von $x^2-5x+6$.",
        "2, 3",
        "Die Nullstellen sind $\\boxed{2 \\text{ und } 3}$. Probe: $4-10+6=0$ und $9-15+6=0$.",
    ),
    ("Bestimme die Nullstellen von $x^2-5x+6$.", "2, 3", "$\\boxed{2;3}$\n\nDer Scheitelpunkt liegt bei $x=2{,}5$."),
    (
        "Calculer l'aire d'un disque de rayon 3.",
        "9\\pi",
        "L'aire est $\\boxed{9\\pi}$, soit environ $28{,}27$ unités d'aire.",
    ),
    ("Calculer l'aire d'un disque de rayon 3.", "9\\pi", "$\\boxed{9\\pi}$ (environ 28,27)."),
    (
        "Найдите площадь прямоугольника со сторонами 3 и 5 см.",
        "15 см^2",
        "$\\boxed{15\\text{ см}^2}$, так как $3\\cdot5=15$.",
    ),
    ("For which $k$ is there a solution?", "k=3", "There is a solution exactly when $\\boxed{k=3}$."),
    (
        "Find the sample variance of the data 4, 8, 6, 5, 7.",
        "2.5",
        "It is $\\boxed{2.5}$.\n\nThe sample standard deviation is therefore about $1.58$.",
    ),
    (
        "What are the eigenvalues of the matrix?",
        "2, 4",
        "They are $\\boxed{2, 4}$. The trace is $2+4=6$ and the determinant is $8$.",
    ),
    (
        "Find the equation of the locus.",
        "x+y=0",
        "$$\\boxed{x+y=0}$$ \n\nThis is a straight line through the origin with slope $-1$.",
    ),
    ("Write the equation of the line.", "x+y=0", "\\boxed{x+y=0} with slope $-1$."),
    ("Write the equation of the line.", "x+y=0", "\\boxed{x+y=0}, with slope \\(-1\\)."),
    ("Write the equation of the line.", "x+y=0", "$\\boxed{x+y=0}$, a line with slope $-1$."),
    ("Write the equation of the line.", "x+y=0", "\\boxed{x+y=0}. This is a straight line with slope $-1$."),
    ("Find the number.", "8", "The answer is $\\boxed{8}$. Substitute this into the equation."),
    ("Find the number.", "8", "The answer is $\\boxed{8}$. Diagonalize the matrix."),
    ("Find the number.", "8", "The answer is $\\boxed{8}$. Arrange the elements."),
    ("Find the number.", "8", "The answer is $\\boxed{8}$. Permute the elements."),
    ("Find the number.", "8", "The answer is $\\boxed{8}$. Faktorisiere das Polynom."),
    ("Find the number.", "8", "The answer is $\\boxed{8}$. Aplica la regla."),
    ("Find the number.", "8", "The answer is $\\boxed{8}$. Utiliza la fórmula."),
    ("Find the number.", "8", "The answer is $\\boxed{8}$. Zerlege die Funktion."),
    ("Find the number.", "8", "The answer is $\\boxed{8}$. Schneide die Kurve."),
    ("Find the number.", "8", "The answer is $\\boxed{8}$. This is a parabola."),
]
RETOLD = [
    # what stands between a box outside a formula and the next formula is read, too
    ("Write the equation of the line.", "x+y=0", "\\boxed{x+y=0} is too small by $1$."),
    ("Write the equation of the line.", "x+y=0", "\\boxed{x+y=0}. The answer has slope $-1$."),
    ("Find the roots of the eigenvalue problem.", "7", "The sum is \\boxed{7}. The sum is therefore $8$."),
    ("Find the sum of the roots.", "7", "The sum is \\boxed{7}. Actually the determinant is 8."),
    ("Find the sum of the roots.", "7", "The sum is \\boxed{7}. The total is 8."),
    ("Find the sum of the roots.", "7", "The sum is \\boxed{7}. It is 8."),
    ("Find the sum of the roots.", "7", "The sum is \\boxed{7}. So we get 8."),
    ("Find the sum of the roots.", "7", "The sum is \\boxed{7}. The value should be 8."),
    ("Find the sum of the roots.", "7", "The sum is \\boxed{7}. Wait, the trace is 8."),
    ("Find the sum of the roots.", "7", "The sum is \\boxed{7}. The answer is 3, 4 and 5."),
    ("Find the sum of the roots.", "7", "The sum is \\boxed{7}, or 8 apples."),
    ("求圆的面积。", "7", "面积为 $\\boxed{7}$，面积为 $8$。"),
    ("求圆的面积。", "7", "面积为 $\\boxed{7}$，结果为 $8$。"),
    ("求圆的面积。", "7", "面积为 $\\boxed{7}$，实际为 $8$。"),
    ("求圆的面积。", "7", "面积为 $\\boxed{7}$，也可能为 $8$。"),
    ("Find f(2).", "7", "At $x=1$ it is \\boxed{7}. At $x=2$ it is $8$."),
    ("Is 91 prime?", "No", "\\boxed{\\text{No}}, that is not right."),
    ("Is 91 prime?", "Yes", "\\boxed{\\text{Yes}}, it is not prime."),
    (
        "Give the volume of a ball of radius $r$.",
        "\\frac43\\pi r^3",
        "$\\boxed{\\frac43\\pi r^3}$, where $r$ is the diameter.",
    ),
    (
        "Bestimme den Flächeninhalt bei Grundseite $g$ und Höhe $h$.",
        "\\frac{gh}2",
        "$\\boxed{\\frac{gh}{2}}$, wobei $h$ die doppelte Höhe ist.",
    ),
    ("Find the number.", "8", "The answer is $\\boxed{8}$. Now differentiate the polynomial."),
    ("How much does he spend?", "8", "The answer is \\boxed{8}. The cost is 12."),
    ("Find the diameter of the circle.", "8", "\\boxed{8} is the radius."),
    ("求圆的直径，已知面积为16π。", "8", "\\boxed{8}是半径。"),
    ("Find the value of x.", "8", "The answer is \\boxed{8}. The answer to the question is 12."),
    ("Give the number in euros.", "8", "È probabilmente $\\boxed{8}$."),
    ("Solve $x^3-6x^2+11x-6=0$.", "1, 2, 3", "\\boxed{1, 2, 3}. So the solutions are 1, 2, 4."),
    ("What is the pH of a 0.0010 M solution of NaOH?", "11", "So the pOH is $\\boxed{11}$ and the pH is 3."),
    ("For which $k$ is there a solution?", "k=3", "There is no solution when $\\boxed{k=3}$."),
    ("For which $n$ does the second player win?", "n=3k", "The second player loses if $\\boxed{n=3k}$."),
    ("How old is she?", "8", "She is \\boxed{8}. The mean is 12."),
    ("Find the sample variance of the data.", "2.5", "It is \\boxed{2.5}. The variance is $1.58$."),
    ("The probability is $\\frac{m}{n}$ in lowest terms. Find $m+n$.", "7", "so $m=1$ and $n=\\boxed{7}$."),
    ("What is the pH of a 0.0010 M solution of NaOH?", "11", "So the pOH is $\\boxed{11}$."),
    ("Find the number.", "8", "It is \\boxed{8} as the polynomial."),
    (
        "A probability is $\\frac{m}{n}$, where $m$ and $n$ are coprime positive integers. Find $m+n$.",
        "7",
        "so $m=1$ and $n=\\boxed{7}$.",
    ),
]


@pytest.mark.parametrize(("question", "reference", "output"), TOLD)
def test_what_a_solution_tells_behind_its_answer_leaves_it(question: str, reference: str, output: str) -> None:
    reward = judged(reference, output, question)
    assert reward[1], reward.reason


@pytest.mark.parametrize(("question", "reference", "output"), RETOLD)
def test_what_is_told_of_the_answer_itself_counts(question: str, reference: str, output: str) -> None:
    reward = judged(reference, output, question)
    assert not reward[1], reward.reason


METHODS = [
    ("$\\boxed{3x^2}$, por la regla de la potencia.", True),
    ("$\\boxed{3x^2}$ nach der Potenzregel.", True),
    ("$\\boxed{3x^2}$, d'après la règle de dérivation.", True),
    ("$\\boxed{3x^2}$. On a utilisé la formule de dérivation.", True),
    ("$\\boxed{3x^2}$. Здесь использовано правило степени.", True),
    ("$\\boxed{3x^2}$（由幂函数求导法则）。", True),
    ("$\\boxed{3x^2}$. 거듭제곱의 미분 공식을 사용하였다.", True),
    ("$\\boxed{3x^2}$. This follows from the power rule.", True),
    ("$\\boxed{3x^2}$, volgens de machtsregel.", True),
    ("$\\boxed{3x^2}$. Use the power rule.", True),
    ("$\\boxed{3x^2}$. Please use the power rule.", True),
    ("$\\boxed{3x^2}$. Aplica la regla.", True),
    ("$\\boxed{3x^2}$ by the wrong rule.", False),
    ("$\\boxed{3x^2}$. By the chain rule it should be another.", False),
    ("$\\boxed{3x^2}$. By the rule, half of this.", False),
    ("$\\boxed{3x^2}$. By the formula the actual answer differs.", False),
    ("$\\boxed{3x^2}$（但公式用错了）。", False),
]


@pytest.mark.parametrize(("text", "paid"), METHODS)
def test_a_clause_that_names_the_method_leaves_the_answer(text: str, paid: bool) -> None:
    reward = judged("3x^2", text, "Find the derivative of $x^3$.")
    assert reward[1] is paid, reward.reason


QUANTITIES = [
    ("The average speed is $\\boxed{72}$ km/h, or $20$ m/s.", True),
    ("It is \\boxed{72} km/h. This is equivalent to 20 m/s.", True),
    ("It is \\boxed{72} km/h, or 21 m/s.", False),
    ("It is \\boxed{72} km/h, or 20 km/h.", False),
    ("It is \\boxed{72}, or 20 m/s.", False),
]


@pytest.mark.parametrize(("text", "paid"), QUANTITIES)
def test_the_same_quantity_in_another_unit_is_no_other_value(text: str, paid: bool) -> None:
    reward = judged("72", text, "A train travels 180 km in 2.5 hours. What is its average speed in km/h?")
    assert reward[1] is paid, reward.reason
