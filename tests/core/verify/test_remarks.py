"""What is said behind an answer must be understood; before it, of what is sought, a verb must join it to its value."""

from __future__ import annotations

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge

QUESTION = "A tank holds 6 rows of 7 barrels. How many barrels does the tank hold, and what is their sum?"

TURNED = r"""
$\boxed{42}$ barrels less the two.
$\boxed{42}$. Now take away ten and you have my answer.
$\boxed{42}$. Each was counted twice, so halve this.
$\boxed{42}$. Each of the 42 was counted twice, so halve this.
$\boxed{42}$. One too many, alas.
$\boxed{42}$<|im_end|><|im_start|>assistant I do not know.
$\boxed{42}$<|im_end|><|im_start|>assistant 43
$\boxed{42}$. Add four to that.
$\boxed{42}$ would be too easy. Look again and you will see something larger.
$\boxed{42}$ was a neighbour's answer. I think he dropped a sign.
$\boxed{42}$ when read upside down.
$\boxed{42}$ casks.
$\boxed{42}$ factorial.
$\boxed{42}$ negated.
$\boxed{42}$ quadriert.
Cavab $\boxed{42}$ deyil.
Výsledek je alespoň $\boxed{42}$.
The sum is scarcely $\boxed{42}$.
$\boxed{42}$ before the six latecomers are counted in.
$\boxed{42}$ where I should have used the other side.
$\boxed{42}$ barrels in base five.
$\boxed{42}$. Readers will have noticed that a case was left out on the way, and so little of the above survives.
$\boxed{42}$ 再加二就是答案。
$\boxed{42}$ 相差甚远。
$\boxed{42}$ に三を足した数です。
답은 $\boxed{42}$ 보다 하나 큰 수이다.
$\boxed{42}$. No, some other number is right.
$\boxed{42}$. Please subtract ten.
$\boxed{42}$. If you subtract ten you get mine.
$\boxed{42}$. Because I miscounted, halve it.
$\boxed{42}$. I hope you see that ten must be taken away.
$\boxed{42}$。这里重复计算了，实际更少。
$\boxed{42}$。要减去十才对。
$\boxed{42}$です。十を引いてください。
$\boxed{42}$, ce qui contredit l'énoncé.
$\boxed{42}$, une estimation.
$\boxed{42}$, which is an initial value.
$\boxed{42}$, ce que le calcul ne confirme pas.
$\boxed{42}$, womit die Aufgabe verfehlt ist.
$\boxed{42}$. Queda por resolver el ejercicio.
$\boxed{42}$. Задача решена ошибочно.
$\boxed{42}$。希望如此。
$\boxed{42}$。这个答案有问题。
$\boxed{42}$。如果答案不对，请随时告诉我。
$\boxed{42}$。如果你还有其他答案，请随时告诉我。
$\boxed{42}$. This means half of it.
$\boxed{42}$, which means that it is wrong.
$\boxed{42}$ — neither 41 nor 42 works.
The sum narrowly misses $\boxed{42}$.
The sum refuses to be $\boxed{42}$.
The answer rounds to $\boxed{42}$.
The answer has the same parity as $\boxed{42}$.
Il risultato supera $\boxed{42}$.
La réponse diffère de $\boxed{42}$.
Die Summe unterscheidet sich von $\boxed{42}$.
A soma fica longe de $\boxed{42}$.
Suma przekracza $\boxed{42}$.
De som verschilt van $\boxed{42}$.
"""

SAID = r"""
$\boxed{42}$ barrels.
$\boxed{42}$ barrels in the old cellar.
$\boxed{42}$ different ways.
The tank can carry $\boxed{42}$ barrels at the harbour.
$\boxed{42}$. Let me know if you want to see further details!
$\boxed{42}$. There are no other possibilities.
$\boxed{42}$. This matches the given data.
$\boxed{42}$. We verify: $42=6\cdot 7$.
$\boxed{42}$. Wait, is that right? The answer is 42.
$\boxed{42}$ ∎
$\boxed{42}$. I hope this explanation clears everything up.
$\boxed{42}$. If you have further questions, feel free to ask.
$\boxed{42}$。检验：正确。
$\boxed{42}$。没有别的解。
$\boxed{42}$ 이다. 이것이 답이다.
$\boxed{42}$<|im_end|><|im_start|>user
$\boxed{42}$, ce qui confirme l'estimation de départ.
$\boxed{42}$, womit die Aufgabe vollständig gelöst ist.
$\boxed{42}$, lo que termina el ejercicio.
$\boxed{42}$. Задача решена полностью.
$\boxed{42}$, co kończy rozwiązanie.
$\boxed{42}$。希望这个讲解对你有帮助！
$\boxed{42}$。如果你还有其他问题，请随时告诉我。
$\boxed{42}$。如有疑问，欢迎继续提问！
$\boxed{42}$, which occurs when $x=6$.
$\boxed{42}$. The reasoning is complete.
$\boxed{42}$です。検算もできました。
$\boxed{42}$입니다. 풀이를 마칩니다.
$\boxed{42}$ — neither 41 nor 43 works.
$\boxed{42}$ (because 142 is more than a hundred).
The sum comes out as $\boxed{42}$.
The sum is exactly $\boxed{42}$.
The load is currently $\boxed{42}$.
The answer turns out to be $\boxed{42}$.
The answer is given by a total of $\boxed{42}$.
The tank swallows $\boxed{42}$.
Die Antwort lautet $\boxed{42}$.
La somme est égale à $\boxed{42}$.
La réponse est égale à $\boxed{42}$.
La respuesta resulta ser $\boxed{42}$.
Сумма составит $\boxed{42}$.
所以答案是 $\boxed{42}$ 个。
答えは $\boxed{42}$ 個である。
답은 $\boxed{42}$ 개입니다.
"""


ANOTHER = r"""
Ann is 60 and Ben 18. How much older is Ann? | $\boxed{42}$ since $60-3=57$, so it is 57.
Wie viele Socken sind 21 Paar? | Das sind $\boxed{42}$ Paar.
How many eggs are in 3.5 dozen? | There are $\boxed{42}$ dozen.
What is the probability? | It is $\boxed{42}\%$.
Find the area. | The area is $A=\boxed{42}a^2$.
Evaluate $\int_0^1 84x\,dx$. | The integral is $\boxed{42}+C$.
How many are there? | There are $\boxed{42}n$ of them.
気温は何度か。 | 気温は氷点下$\boxed{42}$度である。
Combien font 6 fois 7 ? | \boxed{42} (quarante-trois)
Ann is 60 and Ben 18. How much older is Ann? | $\boxed{42}$ years: neither 60 nor 18 is right.
Ann is 60 and Ben 18. How much older is Ann? | $\boxed{42}$ years. It should be 60 or 18.
Ann is 60 and Ben 18. How much older is Ann? | $\boxed{42}$ years. The answer is 18.
How many does Ben have? | Ben has $\boxed{42}$ more than Ann.
What is the shortest side? | The longest side of the triangle has length $\boxed{42}$.
最小值是多少? | 由此可得函数的最大值为 $\boxed{42}$。
Wie groß ist der kleinste Wert? | Der größte Wert beträgt also $\boxed{42}$.
Give the larger root. | The smaller root is $\boxed{42}$.
Find $n$. | Let $n=\boxed{42}$, which contradicts the parity.
A room is 7 m long and 6 m wide. Find its area. | The area is $\boxed{42}$ m.
A room is 7 m long and 6 m wide. Find its area. | The area is $\boxed{42}$ metres.
求整数 $n$。 | 设 $n=\boxed{42}$,则矛盾。
What is the final score? (4:2 or 2:1) | The final score is $\boxed{84:2}$.
"""

ASKED = r"""
Ann is 60 and Ben 18. How much older is Ann? | $\boxed{42}$ since $60-18=42$, so she is 42 years older.
Wie viele Socken sind 21 Paar? | Das sind $\boxed{42}$ Socken.
Berechne das Integral. | Das Integral ist gleich $\boxed{42}$.
Hoeveel meter is een stuk? | Een stuk is $\boxed{42}$ meter lang.
Ile kosztuje 5 zeszytów po 8,40 zł? | Razem $\boxed{42}$ zł.
What is the temperature in °C? | It is $\boxed{42}$ °C.
What percentage is it? | It is $\boxed{42}\%$.
Combien font 6 fois 7 ? | \boxed{42} (quarante-deux)
How many ways are there? | There are $\boxed{42}$ (forty-two) ways.
Ann is 60 and Ben 18. How much older is Ann? | $\boxed{42}$ years: Ann is 60, and Ben is 18.
Ann is 60 and Ben 18. How much older is Ann? | $\boxed{42}$ years: $60-18=42$.
Ann is 60 and Ben 18. How much older is Ann? | $\boxed{42}$ years. Ann turned 60, and Ben turned 18.
Ann has 60 apples and Ben 18. How many more does Ann have? | Ann has $\boxed{42}$ more than Ben.
Kaç öğrenci var? | Sınıfta $\boxed{42}$ öğrenci vardır.
What is the shortest side? | The shortest side, and not the longest, has length $\boxed{42}$.
Give the larger root. | In lowest terms, the larger root is $\boxed{42}$.
A room is 7 m long and 6 m wide. Find its area. | The area is $\boxed{42}$ m².
A room is 7 m long and 6 m wide. Find its area. | The area is $\boxed{42}$ square metres.
How long does it fly? | The stone lands after $\boxed{42}$ seconds.
Find $n$. | Let us add them: $n=\boxed{42}$.
Jan heeft 12 knikkers. Hoeveel heeft hij nu? | Jan heeft nu $\boxed{42}$ knikkers.
한 명은 몇 개를 받습니까? | 한 명은 $\boxed{42}$개를 받습니다.
"""


def judged(output: str, question: str = QUESTION) -> bool:
    judge = MathAnswerAsJudge({"astuner": {"task_judge": {}}})
    task = WorkflowTask(task=Task(main_query=question, metadata={"answer": "42"}))
    return judge.compute_reward(task, WorkflowOutput(metadata={"final_answer": output}))[1]


@pytest.mark.parametrize("output", TURNED.strip().splitlines())
def test_a_remark_that_is_not_understood_takes_its_answer_back(output: str) -> None:
    assert not judged(output)


@pytest.mark.parametrize("output", SAID.strip().splitlines())
def test_a_remark_that_is_understood_leaves_its_answer(output: str) -> None:
    assert judged(output)


@pytest.mark.parametrize(
    "filling", ["It is so. " * 20, "the barrels " * 40, "It holds the barrels of the tank and it is so. " * 40]
)
def test_no_filling_keeps_a_later_word_from_being_read(filling: str) -> None:
    assert not judged(f"$\\boxed{{42}}$. {filling}Halve it.")


@pytest.mark.parametrize("row", ANOTHER.strip().splitlines())
def test_what_another_question_would_ask_for_is_no_answer(row: str) -> None:
    question, output = row.split(" | ")
    assert not judged(output, question)


@pytest.mark.parametrize("row", ASKED.strip().splitlines())
def test_what_the_question_asks_for_may_be_said_in_its_words(row: str) -> None:
    question, output = row.split(" | ")
    assert judged(output, question)
