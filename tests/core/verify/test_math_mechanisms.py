r"""Answers by the mechanism that reads them, with honest twins: values beside a box, words, letters, order, grammar."""

from __future__ import annotations

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask, load_config, load_judge
from agentscope_tuner.task_judge.base_judge import Reward
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge
from agentscope_tuner.verify.math.tokens import Kept
from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.sandbox import shared
from tests.tables import first, together

# reference | outputs that are right | outputs that are wrong, parted by two semicolons
VALUES = r"""
1/2 | \boxed{\frac12}, or \boxed{0.5} ;; $\boxed{0.5}$ and $\boxed{\frac{2}{4}}$ ;; $x=\boxed{\frac12}$, i.e. 0.5 | \boxed{\frac12}, or \boxed{0.6} ;; \boxed{0.4}, or \boxed{\frac12}
2,5 | The solutions are $x=\boxed{2}$ and $x=\boxed{5}$. ;; $\boxed{2}$ and $\boxed{5}$ ;; $\boxed{5}$ or $\boxed{2}$ | $\boxed{2}$ and $\boxed{6}$ ;; $\boxed{5}$
42 | $\boxed{42}$, that is \boxed{42.0} ;; We get $\boxed{42}$. | \boxed{41},\boxed{42} ;; \boxed{42} or \boxed{43} ;; 41 or \boxed{42}
-7 | $x=-\boxed{7}$ ;; $-\boxed{7}$ ;; $-7=-\boxed{7}$ ;; $---\boxed{7}$ | $x=-\boxed{8}$ or $x=-\boxed{7}$ ;; $7=-\boxed{7}$
5 | $\boxed{5}$ ;; $x=\boxed{5}$ ;; $3+2=\boxed{5}$ ;; $1+\boxed{5}=6$ ;; \textbf{\boxed{5}} | $x>\boxed{5}$ ;; $x\in\left(0,\boxed{5}\right)$ ;; $1+\boxed{5}$ ;; $\boxed{5}!$ ;; $\left(\boxed{5}\right)^{-1}$
2 | $\log_2 4=\boxed{2}$ ;; $\ln e^2=\boxed{2}$ | $\ln\boxed{2}$ ;; $\sqrt{\boxed{2}}$ ;; $\frac{\boxed{2}}{3}$ ;; $2\cdot\boxed{2}$
3 | $\boxed{3}$. ;; \[\boxed{3}\] ;; so \(\boxed{3}\). | $\boxed{3}i$ ;; $4=\boxed{3}$ ;; $\boxed{3}=4$ ;; $\boxed{3}^2$
x>5 | $x>\boxed{5}$ ;; $\boxed{x>5}$ | $x<\boxed{5}$ ;; $x\ge\boxed{5}$
21 | So half of 42 is 21, \boxed{21}. ;; The answer is \boxed{21}. | half of it is \boxed{21} ;; Twice the answer is \boxed{21}. ;; The value is \boxed{21} million.
30 | $\boxed{30}$. The final answer is 30. ;; $\boxed{30}$ apples. ;; $\boxed{30}$, since $5\cdot 6=30$. | $\boxed{30}$. The final answer is 36. ;; $\boxed{30}$. **Correction.** The correct result is **31**. ;; Zuerst $\boxed{30}$. Endgültige Antwort: 31. ;; $\boxed{30}$ となるが、正しい答えは 31 である。
8 | The total is $\boxed{8}$. | <!-- \boxed{8} --> ;; \verb|\boxed{8}| ;; Write `\boxed{8}`. ;; \newcommand{\a}{\boxed{8}} ;; \begin{comment}\boxed{8}\end{comment} ;; ◁think▷\boxed{8}◁/think▷ ;; <scratchpad>\boxed{8}</scratchpad> ;; [THINK]\boxed{8}[/THINK]
"""  # noqa: E501
WORDS = r"""
42 | \text{Total: }42; 42\text{ (exact)}; \text{The answer is }42; 42\text{ apples} | 42=\text{wrong}; 42\text{ (because not 42 but 43)}; x_{\text{false}}=42; \text{The forbidden value is }42; \text{wrong}=42; 42\text{ (faux)}; 42\text{ (descartado)}; 42\text{ — неверно}; 42\text{ ではない}; \text{Distractor: }42; \text{Common mistake: }42; \text{Risposta sbagliata: }42; 42\text{ ist falsch}; \text{Bad guess: }42; 42\text{ (the answer of someone else)}; \text{Not }42; 42\text{ or so}; 42\text{ minus one}; 42_{\text{wrong}}; \text{before: }42 |
28 | 28\text{ Schüler}; 28 | 29\text{ Schüler}; 28\text{ Lehrer}; 28\text{ nicht} | Wie viele Schüler sind nicht in der Klasse?
17 | 17\text{ яблок} | 17\text{ груш}; 17\text{ не} | Сколько яблок осталось, не считая груши?
48 | 48\text{ ผล} | 48\text{ ไม่} | มีส้มทั้งหมดกี่ผล
45 | 45\text{명} | 45\text{ 아니다} | 학생은 모두 몇 명입니까?
\text{odd} | \text{odd function}; \text{The function is odd} | \text{odd even}; \text{even}; \text{not odd}; \text{odd or even} | Is the function odd or even?
\text{No} | \text{No, it does not exist.}; \text{No} | \text{Yes}; \text{No, yes}; \text{Yes, no} | Does such a number exist?
\text{the second player} | \text{The second player wins} | \text{The first player wins}; \text{not the second player}; \text{The first or the second player} | Which player wins, the first or the second?
\text{充分不必要} | \text{充分不必要条件} | \text{必要不充分条件}; \text{不充分不必要条件} | “$x>2$”是“$x>1$”的什么条件？
\text{CO} | \text{CO} | \text{Co} |
"""  # noqa: E501
LETTERS = r"""
4 | 4; t=4 | t=\log_3 81,\ t\in\mathbb{R}; \log_3 81\cdot 1^n; \binom nn\log_3 81; \log_3 81+n-n; \log_3 81 | Compute $\log_3 81$.
42 | 42 | \gcd(84,126)\cdot1^n; \gcd(84,126)+0n | Find $\gcd(84,126)$.
[a,a+1] | [a,a+1]; [a,1+a] | [0,1]; [a,a+2]; (a,a+1); [b,b+1] |
[k\pi-\frac{\pi}{3},k\pi],k\in\mathbb{Z} | [-\frac{\pi}{3}+k\pi,k\pi]\ (k\in\mathbb{Z}); [k\pi-\frac{\pi}{3},k\pi] | [2k\pi-\frac{\pi}{3},2k\pi],k\in\mathbb{Z}; [k\pi-\frac{\pi}{6},k\pi],k\in\mathbb{Z} |
(-\infty,m)\cup(m+1,\infty) | (m+1,\infty)\cup(-\infty,m) | (-\infty,0)\cup(1,\infty); (-\infty,m]\cup(m+1,\infty) |
2a | a+a; 2a | 2; 2b |
"""  # noqa: E501
ORDER = r"""
(n,k)=(5,2) | (5,2); n=5,k=2; k=2,n=5 | (2,5) |
1,2,3 | 1,2,3 | 3,1,2; 2,1,3 | Sort the numbers in increasing order.
1,2,3 | 1,2,3; 3,1,2 | 1,2 | Solve the equation.
2,4,8 | 2,4,8 | 8,4,2 | Give the first three terms of the sequence.
6,7 | 6,7; \text{Mean: }6,\ \text{Median: }7 | 7,6 | Find the mean and the median.
12,3 | 12,3 | 3,12 | Find the quotient and remainder.
3,-5 | 3,-5; -5,3 | 5,3 | Find the two roots.
ABCD | ABCD | BADC; ABDC |
\overrightarrow{AB} | \overrightarrow{AB} | \overrightarrow{BA} |
AB | BA; AB | AC |
"""
PRODUCTS = r"""
aba^{-1} | aba^{-1}; a b a^{-1}; ab a^{-2} a | a^{-1}ba; b; ba | In the free group, reduce the word.
AB | AB | BA | Let $A$ and $B$ be matrices. Simplify $A(B)$.
A^{-1}B | A^{-1}B; (B^{-1}A)^{-1} | BA^{-1} | Solve $AX=B$ for the matrix $X$.
AB-BA | AB-BA; -BA+AB | 0; BA-AB | Let $A$ and $B$ be matrices. What is their commutator?
xy | yx; xy | x+y | Simplify the product of $x$ and $y$.
(1\ 3\ 2) | (3\ 2\ 1); (2\,1\,3); (1\ 3\ 2) | (1\ 2\ 3); (1\ 3); (1,3,2) |
(1\ 2)(3\ 4) | (3\ 4)(1\ 2); (2\ 1)(4\ 3) | (1\ 3)(2\ 4); (1\ 2) |
(1\ 2)(2\ 3) | (1\ 2)(2\ 3) | (2\ 3)(1\ 2) |
"""
GRAMMAR = r"""
e^x\sin x | \sin x\,e^{x}; \sin x e^x | \sin(x e^x) |
x^{3/2} | x\sqrt x; x\sqrt{x} | x\sqrt[3]{x} | Simplify $\sqrt{x^3}$.
(x+1)\ln x | \ln x(x+1) | \ln(x(x+1)) |
5\text{ m/s}^2 | 5\,\mathrm{m\,s^{-2}}; 5\ \mathrm{m/s^2} | 5\,\mathrm{m\,s^{-1}}; 5\,\mathrm{m\,s^{2}} |
7.8\text{ g/cm}^3 | 7.8\,\mathrm{g\,cm^{-3}} | 7.8\,\mathrm{g\,cm^{-2}}; 7.8\,\mathrm{kg\,cm^{-3}} |
-286\text{ kJ/mol} | -286\ \mathrm{kJ\,mol^{-1}} | -286\ \mathrm{J\,mol^{-1}} |
12\ \mathrm{m/s} | 12\,\mathrm{m\cdot s^{-1}} | 12\,\mathrm{m\cdot s} |
\mathbb{R}^+ | (0,\infty); x>0 | [0,\infty); \mathbb{R} |
②③ | ②③; ③②; ②,③ | ②④; ②; ②③④ |
(2,3),(2,7) | (2,3)(2,7) | (2,3)(2,8); (2,3) |
3.5 | 3{,}5; x=3{,}5 | 3{,}6; 35 |
1000 | 1{,}000 | 1.0 |
[2;+\infty[ | [2,\infty); x\ge2; [2;+\infty[ | (2,\infty); ]2;+\infty[ |
]-\infty;1[\cup]3;+\infty[ | (-\infty,1)\cup(3,\infty) | (-\infty,1]\cup(3,\infty) |
\frac12 | e=\frac12 | e=\frac13; \pi=\frac12 | What is the eccentricity?
\mathrm{SO_4^{2-}} | \mathrm{SO}_4^{2-}; \text{SO}_4^{2-} | \mathrm{SO_3^{2-}}; \mathrm{SO_4^{-}} |
H_2SO_4 | \text{H}_{2}\text{SO}_{4} | \text{H}_{2}\text{SO}_{3} |
"""


def rows(table: str) -> list[tuple[str, str, bool, str]]:
    found = []
    for line in table.strip().splitlines():
        reference, right, wrong, question = (cell.strip() for cell in f"{line} ".split(" |"))
        found += [(reference, a.strip(), True, question) for a in right.split("; ") if a.strip()]
        found += [(reference, a.strip(), False, question) for a in wrong.split("; ") if a.strip()]
    return found


@pytest.mark.parametrize(
    "rows",
    together([*rows(WORDS), *rows(LETTERS), *rows(ORDER), *rows(PRODUCTS), *rows(GRAMMAR)]),
    ids=first,
)
def test_an_answer_is_understood_or_not_paid(rows: list[tuple[str, str, bool, str]]) -> None:
    wrong = []
    for reference, answer, equal, question in rows:
        verdict = compare(answer, reference, symbolic=shared().compare, question=question or None)
        if (verdict.outcome == "equal") is not equal:
            wrong.append((answer, reference, question, verdict.reason))
    assert not wrong


def outputs() -> list[tuple[str, str, bool]]:
    found = []
    for line in VALUES.strip().splitlines():
        reference, right, wrong = (cell.strip() for cell in line.split(" | "))
        found += [(reference, text.strip(), True) for text in right.split(" ;; ")]
        found += [(reference, text.strip(), False) for text in wrong.split(" ;; ")]
    return found


def judged(output: str, reference: str, **math: object) -> Reward:
    judge = MathAnswerAsJudge({"astuner": {"task_judge": {"math": math}}})
    task = WorkflowTask(task=Task(metadata={"answer": reference}))
    return judge.compute_reward(task, WorkflowOutput(metadata={"final_answer": output}))


@pytest.mark.parametrize(("reference", "output", "paid"), outputs())
def test_values_count_and_not_their_texts(reference: str, output: str, paid: bool) -> None:
    reward = judged(output, reference)
    assert reward[1] is paid, reward.reason


@pytest.mark.parametrize("answer", [r"42\text{ (faux)}", r"x_{\text{false}}=42", r"\text{The forbidden value is }42"])
def test_an_unread_answer_is_counted_as_unread(answer: str) -> None:
    reward = judged(rf"\boxed{{{answer}}}", "42")
    assert (tuple(reward), reward.reason.split(":")[0], dict(reward.metrics)) == (
        (0.0, False),
        "unread",
        {"unread": 1.0},
    )


@pytest.mark.parametrize("answer", ["41", r"\frac12", r"\{1,2\}", r"x^2"])
def test_another_value_is_not_unread(answer: str) -> None:
    reward = judged(rf"\boxed{{{answer}}}", "42")
    assert (tuple(reward), dict(reward.metrics)) == ((0.0, False), {})


def test_reasoning_between_configured_strings_holds_no_answer() -> None:
    text = r"<<\boxed{41}>> It is \boxed{42}. <<\boxed{41}>>"
    assert not judged(text, "42")[1]
    assert judged(text, "42", think=[["<<", ">>"]])[1]


def test_the_judge_says_that_an_answer_is_unread() -> None:
    judge = load_judge(load_config("configs/math.yaml"))
    task = WorkflowTask(task=Task(metadata={"answer": "42"}))
    verdict = judge.judge(task, WorkflowOutput(metadata={"final_answer": r"\boxed{42=\text{wrong}}"}))
    assert (verdict.reward, verdict.metrics["unread"]) == (0.0, 1.0)


def test_a_kept_property_is_computed_once_and_without_a_lock() -> None:
    calls: list[int] = []

    class Owner:
        @Kept
        def value(self) -> int:
            calls.append(1)
            return len(calls)

    owner = Owner()
    assert (owner.value, owner.value, Owner().value) == (1, 1, 2)
    assert not any(hasattr(part, "acquire") for part in vars(vars(Owner)["value"]).values())
