"""Words of a story, reasons and names around honest answers, and what states another answer beside them."""

from __future__ import annotations

import time

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge

CLIPS = (
    "Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in May. "
    "How many clips did Natalia sell altogether in April and May?"
)
SPRING = (
    "A block of mass $m$ hangs at rest from a spring of stiffness $k$. By how much is the spring longer than before?"
)
# reference | question | outputs that are paid | outputs that are not; parted by two semicolons
ROWS = [
    (
        "72",
        CLIPS,
        [
            r"In the end, there are \boxed{72} clips.",
            r"In the end, Natalia sold \boxed{72} clips.",
            r"So the grand total comes to \boxed{72}.",
            r"This brings the total to \boxed{72}.",
            r"Hence, the combined sales were \boxed{72} clips.",
            "\\boxed{72}\n\nI hope this explanation clears everything up.",
            "\\boxed{72}\n\nThis result seems reasonable given the numbers.",
            "\\boxed{72}\n\nThis answer has been double-checked.",
            r"\boxed{72} clips, since 48 + 24 = 72.",
            r"\boxed{72} (48 in April and 24 in May)",
            r"Natalia collected \boxed{72} clips from her drawer.",
        ],
        [
            r"\boxed{72} (or 80)",
            "\\boxed{72}\n\n(Actually it is 80.)",
            "\\boxed{72}\n\n(The answer is 80.)",
            "\\boxed{72}\n\nThe answer is (80).",
            "\\boxed{72}\n\nSince I was wrong, the answer is 80",
            r"\boxed{72} because the answer is 80",
            r"\boxed{72}, namely 80",
            "\\boxed{72}\n\ni.e. 80",
            r"~~the answer is \boxed{72}~~",
            r"{\color{#fff}\boxed{72}}",
            r"\color{White}\boxed{72}",
            r"The answer exceeds \boxed{72}.",
        ],
    ),
    (
        r"\frac{mg}{k}",
        SPRING,
        [r"So the spring stretches by $\boxed{\dfrac{mg}{k}}$."],
        [r"It never reaches $\boxed{\frac{mg}{k}}$."],
    ),
    (
        "5",
        "Find $AC$.",
        [r"$\overline{AC}=\boxed{5}$", r"$|AC|=\boxed{5}$", r"$\text{AC}=\boxed{5}$"],
        [],
    ),
    ("3", r"Find $\frac{dy}{dx}$ at $x=1$.", [r"$\left.\frac{dy}{dx}\right|_{x=1}=\boxed{3}$"], []),
    (
        "0.7",
        r"Find $P(A\cup B)$.",
        [r"$P(B\cup A)=\boxed{0.7}$", r"$P(A \text{ or } B)=\boxed{0.7}$"],
        [r"$P(A\cap B)=\boxed{0.7}$"],
    ),
    ("0.7", "Find $P(A)$.", [r"$P(A)=\boxed{0.7}$"], [r"$P(\bar A)=\boxed{0.7}$", r"$P(A^c)=\boxed{0.7}$"]),
    ("X_{12}", "Which one?", [r"\boxed{X_{12}}"], [r"\boxed{X_{1_2}}"]),
    ("10", "Find the sum of all $n$ with $n^2<20$.", [r"$\sum n=\boxed{10}$"], []),
    (
        "48",
        "How many arrangements are there?",
        [r"We count $4!\cdot2!=\boxed{48}$ arrangements."],
        [r"$x != \boxed{48}$"],
    ),
    ("5", "Find $x$.", [r"$\Rightarrow {\boxed{5}}$", r"\normalsize{$\boxed{5}$}", r"$\approx {\boxed{5}}$"], []),
    (
        "yes",
        "Is 7 prime?",
        [r"\boxed{Yes, since it has no divisors}", r"\boxed{yes, because 7 is not divisible by 2}"],
        [r"\boxed{yes, because 7 is not prime}", r"\boxed{yes, as it is false}"],
    ),
]

WORLD = "Marta has 40 apples. She sells 12 of them and gives 4 to her uncle. How many apples does she keep?"
UNSPACED = "一本书有320页，小红已读四分之一，还剩多少页？"
# How honest sentences stand around a value, and beside each one that turns it: reference, question, right and wrong
CLAUSES = [
    (
        "24",
        WORLD,
        [
            r"Marta keeps $\boxed{24}$ apples in her kitchen.",
        ],
        [
            r"$\boxed{24}$ is too big for Marta.",
            r"$\boxed{24}$ minus one.",
        ],
    ),
    (
        "24",
        WORLD,
        [r"Since half of them rot, she keeps $\boxed{24}$."],
        [r"She keeps half of $\boxed{24}$.", r"She keeps twice $\boxed{24}$."],
    ),
    ("240", UNSPACED, [r"还剩 $\boxed{240}$ 页。"], [r"$\boxed{240}$ 不合题意，舍去。", r"还剩 $\boxed{240}$ 倍。"]),
    (
        r"\frac{mg}{k}",
        "",
        [r"At equilibrium $kx=mg$, so the spring stretches by $\boxed{\frac{mg}{k}}$."],
        [],
    ),
    (
        "2",
        "What is the remainder when $2^{100}$ is divided by 7?",
        [r"The remainder upon division by 7 is $\boxed{2}$."],
        [],
    ),
    (
        r"-\frac{7}{25}",
        "",
        [r"由二倍角公式，$\cos2\alpha=\boxed{-\frac{7}{25}}$。"],
        [r"结论不是 $\boxed{-\frac{7}{25}}$。"],
    ),
    (
        "(-2,3)",
        "不等式 $x^2-x-6<0$ 的解集是____。",
        [r"于是原不等式的解集为 $\boxed{(-2,3)}$。"],
        [r"不等于 $\boxed{(-2,3)}$。"],
    ),
    ("28", "", [r"答：李师傅每天加工 $\boxed{28}$ 个零件。"], [r"答：李师傅没有加工 $\boxed{28}$ 个零件。"]),
    ("35", "¿Cuál es el área?", [r"El área es $\boxed{35}$ cm²."], []),
    (
        "30",
        "Quel est le prix en euros ?",
        [r"Le prix est de $\boxed{30}$ €."],
        [r"Le prix est moins de $\boxed{30}$ €."],
    ),
    (
        "13",
        "남은 사탕은 몇 개입니까?",
        [r"남은 사탕은 $\boxed{13}$ 개입니다."],
        [r"남은 사탕은 $\boxed{13}$ 개가 아니다."],
    ),
]
ROWS += CLAUSES


def _paid(reference: str, question: str, output: str) -> bool:
    task = WorkflowTask(task=Task(main_query=question, metadata={"answer": reference}))
    return MathAnswerAsJudge({}).compute_reward(task, WorkflowOutput(metadata={"final_answer": output}))[1]


@pytest.mark.parametrize(
    ("reference", "question", "output"), [(one, asked, out) for one, asked, paid, _ in ROWS for out in paid]
)
def test_a_right_answer_in_honest_words_is_paid(reference: str, question: str, output: str) -> None:
    assert _paid(reference, question, output)


@pytest.mark.parametrize(
    ("reference", "question", "output"), [(one, asked, out) for one, asked, _, wrong in ROWS for out in wrong]
)
def test_an_answer_that_is_turned_or_joined_by_another_is_not(reference: str, question: str, output: str) -> None:
    assert not _paid(reference, question, output)


@pytest.mark.parametrize(
    "output",
    ["\\if " * 25_000 + "\\boxed{5}", "~~" * 50_000 + "\\boxed{5}", "\\notes{" + "x" * 6000 + "\n\\hidden{\\boxed{5}}"],
)
def test_a_text_whose_marks_are_all_hidden_does_not_grow(output: str) -> None:
    """It was written twice for each mark taken out: 4,000 characters took 10 s and 1.3 GB."""
    started = time.thread_time()
    assert not _paid("5", "q", output)
    assert time.thread_time() - started < 2
