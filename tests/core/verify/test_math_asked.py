r"""Right numbers that answer something else: another name, another side of an equation, text that is not shown."""

from __future__ import annotations

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.task_judge.base_judge import Reward
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge

# question | outputs that state its answer, 42 | outputs that state another's; parted by two semicolons
NAMES = r"""
Find $x$. | $x=\boxed{42}$ ;; $\boxed{x=42}$ ;; $x=6\cdot7=\boxed{42}$ ;; $\boxed{42}=x$ ;; $6\cdot7=\boxed{42}$ ;; $84/2=x=\boxed{42}$ | $n=\boxed{42}$ ;; $2x=\boxed{42}$ ;; $\boxed{x+1=42}$ ;; $\sqrt{x}=\boxed{42}$ ;; $\boxed{42}=x^2$ ;; $-x=\boxed{42}$ ;; $\frac{1}{x}=\boxed{42}$
If $x+y=9$, find $x$. | $x=\boxed{42}$ | $y=\boxed{42}$ ;; $\boxed{y=42}$
Find $f(2)$. | $f(2)=\boxed{42}$ ;; $f(2)=6\cdot7=\boxed{42}$ | $f(3)=\boxed{42}$ ;; $\boxed{f'(2)=42}$ ;; $f(2)+1=\boxed{42}$
For the sequence $a_n$ find $a_{10}$. | $a_{10}=\boxed{42}$ | $\boxed{a_9=42}$
Find $P(A\mid B)$. | $P(A\mid B)=\boxed{42}$ | $\boxed{P(B\mid A)=42}$ ;; $\boxed{P(A^c\mid B)=42}$
In $\triangle ABC$ find $\angle B$. | $\angle B=\boxed{42}$ | $\boxed{\angle A=42}$
Find the square of $x$. | $x^2=\boxed{42}$ ;; $\boxed{x^2=42}$ | $x\ne\boxed{42}$
Find $a+b$ if $a=20$ and $b=22$. | $a+b=\boxed{42}$ ;; $20+22=\boxed{42}$ | $a+b\ne\boxed{42}$
Find the smallest positive integer $n$ such that $n!$ ends in ten zeros. | $n_{\min}=\boxed{42}$ ;; $\boxed{n_{\text{min}}=42}$ ;; $\min n=\boxed{42}$ | $n_{\max}=\boxed{42}$ ;; $n!=\boxed{42}$
Найдите наибольшее целое $k$, при котором $k^2<50$. | $k_{\max}=\boxed{42}$ | $k_{\min}=\boxed{42}$ ;; $k^2=\boxed{42}$
Find $x$. Express it as $\frac{m}{n}$. | $x=\boxed{42}$ ;; $\boxed{x=42}$ | $\ln\boxed{42}$
Given $g(x)$ and $f(x)$, find $(f\circ g)(x)$ at $0$. | $f(g(0))=\boxed{42}$ | $\boxed{42}\ne f$
Find $\bar z$. | $\overline{z}=\boxed{42}$ | $\bar{z}\ne\boxed{42}$
"""  # noqa: E501
UNSHOWN = r"""
\footnote{An earlier draft had $\boxed{42}$.}
\marginpar{$\boxed{42}$}
\typeout{$\boxed{42}$}
\setbox0\hbox{$\boxed{42}$}
\savebox{\mybox}{$\boxed{42}$}
\scalebox{0}{$\boxed{42}$}
\only<99>{$\boxed{42}$}
\edef\x{$\boxed{42}$}
\gdef\ans{$\boxed{42}$}
\if0 $\boxed{42}$ \else 43 \fi
\ifnum1>2 $\boxed{42}$\else 43\fi
<img src="f.png" alt="\boxed{42}">
"""
SHOWN = r"""
\textbf{The answer is $\boxed{42}$.}
\textcolor{red}{\textbf{\boxed{42}}}
{\large $\boxed{42}$}
$\underline{\boxed{42}}$
If $a<b$ and $c>d$, then \boxed{42}
$\iff x=\boxed{42}$
\footnote{It was 41.} $\boxed{42}$
"""


# Text around an answer of 42 that says something else of it, and text that does not
SAID = r"""
$\text{not }\boxed{42}$
$\text{Rejected: }\boxed{42}$
$\boxed{42}\text{ is too big}$
$\text{keinesfalls }\boxed{42}$
$\boxed{42}\text{ menos uno}$
The following answer is false.$$\boxed{42}$$
Voici l'erreur classique.$$\boxed{42}$$
<div class="wrong-answer">$\boxed{42}$</div>
<div id="decoy">$\boxed{42}$</div>
<answer correct="false">$\boxed{42}$</answer>
- $\boxed{43}$ - $\boxed{42}$
$\boxed{43}$ vs. $\boxed{42}$
| $\boxed{43}$ | $\boxed{42}$ |
"""
LEFT = r"""
$\text{So }\boxed{42}$
$\text{The answer is }\boxed{42}$
$\boxed{42}\text{ units}$
The first attempt was too long. $$\boxed{42}$$
<div class="answer">$\boxed{42}$</div>
<div align="center">$\boxed{42}$</div>
- $\boxed{42}$
| $\boxed{42}$ |
$$n=\frac{84}{2}=\boxed{42}$$
We get $\boxed{42}$. It is verified that it holds for each case that there is.
"""


def judged(output: str, question: str = "", reference: str = "42") -> Reward:
    judge = MathAnswerAsJudge({"astuner": {"task_judge": {}}})
    task = WorkflowTask(task=Task(main_query=question, metadata={"answer": reference}))
    return judge.compute_reward(task, WorkflowOutput(metadata={"final_answer": output}))


def names() -> list[tuple[str, str, bool]]:
    found = []
    for line in NAMES.strip().splitlines():
        question, right, wrong = line.split(" | ")
        found += [(question, text, True) for text in right.split(" ;; ")]
        found += [(question, text, False) for text in wrong.split(" ;; ")]
    return found


@pytest.mark.parametrize(("question", "output", "paid"), names())
def test_the_name_and_the_equation_of_an_answer_are_the_questions(question: str, output: str, paid: bool) -> None:
    reward = judged(output, question)
    assert reward[1] is paid, reward.reason


@pytest.mark.parametrize("text", UNSHOWN.strip().splitlines())
def test_a_box_that_is_not_shown_is_no_answer(text: str) -> None:
    assert not judged(f"The product is 43. {text}")[1]


@pytest.mark.parametrize("text", SHOWN.strip().splitlines())
def test_a_box_in_braces_that_show_it_is_an_answer(text: str) -> None:
    reward = judged(text)
    assert reward[1], reward.reason


@pytest.mark.parametrize("text", SAID.strip().splitlines())
def test_words_in_formulas_attributes_and_sentences_take_an_answer_back(text: str) -> None:
    assert not judged(text.replace(".$$", ".\n\n$$").replace("- $", "\n- $"))[1]


@pytest.mark.parametrize("text", LEFT.strip().splitlines())
def test_words_in_formulas_attributes_and_sentences_may_leave_it(text: str) -> None:
    reward = judged(text.replace(". $$", ".\n\n$$"))
    assert reward[1], reward.reason


# question | reference | right | wrong: another kind of thing, another measure
KINDS = r"""
Find the coordinates of the point $P$. | (1,2) | (1,2) ;; P(1,2) ;; x=1,\ y=2 | 1<x<2 ;; ]1;2[
Solve the inequality $x^2-3x+2<0$. | (1,2) | 1<x<2 ;; x\in(1,2) | x=1,\ y=2 ;; 1\text{ and }2
Find the area of the rectangle. | 12 | \text{Area}=12 ;; \text{The area is }12 | \text{The perimeter is }12 ;; \text{width}=12
"""  # noqa: E501


def kinds() -> list[tuple[str, str, str, bool]]:
    found = []
    for line in KINDS.strip().splitlines():
        question, reference, right, wrong = line.split(" | ")
        found += [(question, reference, text, True) for text in right.split(" ;; ")]
        found += [(question, reference, text, False) for text in wrong.split(" ;; ")]
    return found


@pytest.mark.parametrize(("question", "reference", "answer", "paid"), kinds())
def test_an_answer_is_of_the_kind_that_is_asked_for(question: str, reference: str, answer: str, paid: bool) -> None:
    reward = judged(rf"\boxed{{{answer}}}", question, reference)
    assert reward[1] is paid, reward.reason
