"""Signs and numbers directly beside a box: a box that is a part of something larger, and twins that are whole."""

from __future__ import annotations

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.verify.math.around import _unit_beside
from tests.core.verify.placed import stated

PARTS = r"""
$1+\boxed{42}$
1+\boxed{42}
So the total is $1 + \boxed{42}$.
$x = 1+\boxed{42}$
$50-\boxed{42}$
$50 - \boxed{42}$
$2\cdot\boxed{42}$
$2\times \boxed{42}$
$\frac{1}{2}\cdot\boxed{42}$
$84/\boxed{42}$
$\boxed{42}+1$
$\boxed{42}-1$
$\boxed{42}\cdot 2$
$\boxed{42}/2$
The answer is $\boxed{42} \times 3$.
$\sqrt{\boxed{42}}$
$\frac{\boxed{42}}{2}$
$\frac{1}{\boxed{42}}$
$2^{\boxed{42}}$
$43=\boxed{42}$
The sum is $43 = \boxed{42}$.
$20+23=43=\boxed{42}$
So 43 = \boxed{42}.
\[43=\boxed{42}\]
$5-\boxed{7}$
The answer is not $-\boxed{7}$.
$-\boxed{7}+2$
$x=-\boxed{8}$ or $x=-\boxed{7}$
$-\boxed{7}$ is wrong.
""".strip().splitlines()

WHOLE = r"""
$21+21=\boxed{42}$
$x=\boxed{42}$
$2\cdot 21 = \boxed{42}$
$84/2=42=\boxed{42}$
$42=\boxed{42}$
$3+\boxed{4}=7$
$7=3+\boxed{4}$
$10 - \boxed{4} = 6$
$\boxed{4}+3=7$
$2\times\boxed{21}=42$
$x^2+6x+\boxed{9}$
$(x-2)^2+\boxed{3}$
$\log_2 8=\boxed{3}$
$f(2)=\boxed{3}$
$x_2 = \boxed{3}$
$2^5=\boxed{32}$
$17 \bmod 14=\boxed{3}$
$2^{\boxed{5}}=32$
$32=2^{\boxed{5}}$
\textbf{\boxed{5}}
Answer 3 - \boxed{5}
Problem 12 - $\boxed{5}$
Step 3: $\boxed{5}$
- \boxed{5}
The answer is - \boxed{5}
\boxed{5} km
$\boxed{5}x+3$
""".strip().splitlines()

SIGNED = (
    (r"$-\boxed{7}$", r"-7"),
    (r"$-\boxed{-7}$", r"-\left(-7\right)"),
    (r"$x=-\boxed{7}$", r"-7"),
    (r"The answer is $-\boxed{7}$.", r"-7"),
    (r"The answer is -\boxed{7}.", r"-7"),
    (r"$x=-\boxed{\frac12}$", r"-\left(\frac12\right)"),
    (r"答案是$-\boxed{7}$。", r"-7"),
    (r"$3-10=-\boxed{7}$", r"-7"),
    (r"$y=-\boxed{2\sqrt3}$", r"-\left(2\sqrt3\right)"),
    (r"$y=-\boxed{x+1}$", r"-\left(x+1\right)"),
    (r"$-\boxed{1,250}$", r"-1,250"),
)


@pytest.mark.parametrize("text", PARTS)
def test_a_box_that_is_a_part_of_a_formula_or_contradicts_it_is_no_answer(text: str) -> None:
    assert stated(text) is None


@pytest.mark.parametrize("text", WHOLE)
def test_what_stands_beside_a_whole_value_changes_nothing(text: str) -> None:
    assert stated(text) == text.split("\\boxed{")[1].split("}")[0]


@pytest.mark.parametrize(("text", "value"), SIGNED)
def test_a_minus_sign_before_a_box_belongs_to_its_value(text: str, value: str) -> None:
    assert stated(text) == value


@pytest.mark.parametrize(
    ("behind", "unit"),
    [
        ("m/s^2", "m per s squared"),
        (" m/s^{2}.", "m per s squared"),
        ("m/s³", "m per s cubed"),
        (r" \text{kg}/\text{m}^3", "kg per m cubed"),
        (" km/h", "km per h"),
        ("N·m", "N m"),
        ("N⋅m", "N m"),
        (r" \text{N}\cdot\text{m}", "N m"),
        (" mph", "mile per hour"),
        (" वर्ग मीटर", "square meter"),
        (" घन मीटर", "cubic meter"),
        # no unit, and a part of another
        ("foo/s", ""),
        ("m/foo", ""),
    ],
)
def test_a_unit_of_two_behind_a_number_is_read_as_words(behind: str, unit: str) -> None:
    assert _unit_beside("5", "", behind) == unit


@pytest.mark.parametrize(
    ("text", "reward"),
    [
        (r"It is \boxed{5} m/s^{2}.", 1.0),
        (r"It is \boxed{500} cm/s^{2}.", 1.0),
        (r"It is \boxed{500} cm/s^2.", 1.0),
        # was paid: a power in braces hid the unit
        (r"It is \boxed{5} cm/s^{2}.", 0.0),
        (r"It is \boxed{5} cm/s^2.", 0.0),
    ],
)
def test_a_power_in_braces_is_a_part_of_the_unit_behind_the_box(text: str, reward: float) -> None:
    judge = load_judge({"astuner": {"task_judge": {"judge": "math"}}})
    task = Task(task_id="t", main_query="What is the acceleration?", metadata={"answer": "5 m/s^2"})
    verdict = judge.judge(WorkflowTask(task=task), WorkflowOutput(metadata={"final_answer": text}))
    assert verdict.reward == reward
