r"""Countdown: 0.0 for what is no equation, 0.1 for a well-formed one that is wrong, 1.0 for a right one."""

from __future__ import annotations

import asyncio
import logging
import operator
import random
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.task_judge.countdown_answer_as_judge import CountdownAnswerAsJudge
from agentscope_tuner.verify import countdown
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

RIGHT = [
    ("(25-1)*1", 24, [25, 1, 1]),
    ("4*6", 24, [4, 6]),
    ("4 * 6 = 24", 24, [6, 4]),
    (r"4 \times 6", 24, [4, 6]),
    (r"4 \cdot 6 = 24", 24, [4, 6]),
    (r"48 \div 2", 24, [48, 2]),
    ("4 × 6", 24, [4, 6]),
    ("48 ÷ 2", 24, [48, 2]),
    ("30 − 6", 24, [30, 6]),
    (r"\frac{48}{2}", 24, [48, 2]),
    (r"\dfrac{\frac{96}{2}}{2}", 24, [96, 2, 2]),
    (r"\left(25 - 1\right) \cdot 1", 24, [25, 1, 1]),
    (r"$4\,\times\,6$", 24, [4, 6]),
    ("{4} * {6}", 24, [4, 6]),
    ("-4 * -6", 24, [4, 6]),
    ("-(4 - 28)", 24, [4, 28]),
    ("8 / (3 - 8 / 3)", 24, [8, 3, 8, 3]),
    ("5 - 29", -24, [5, 29]),
    ("-5 + 29", 24, [-5, 29]),
    ("29 - -5", 34, [-5, 29]),
    ("0.5 * 48", 24, [Fraction(1, 2), 48]),
    (".5 * 48", 24, [Fraction(1, 2), 48]),
    ("4*6 = 24.0", 24, [4, 6]),
    ("7", 7, [7]),
    (r"\frac{48}2", 24, [48, 2]),
    (r"\frac82 * 6", 24, [8, 2, 6]),
    ("24 = 4*6", 24, [4, 6]),
    (r"4 \times{} 6", 24, [4, 6]),
    (r"\(4*6\)", 24, [4, 6]),
    # signs
    ("6x4x(3-2)", 24, [6, 4, 3, 2]),
    ("6 X 4", 24, [6, 4]),
    ("6 ✕ 4", 24, [6, 4]),
    ("6∗4", 24, [6, 4]),
    (r"6 \ast 4", 24, [6, 4]),
    (r"6 \mathbin{\times} 4", 24, [6, 4]),
    ("48 ∕ 2", 24, [48, 2]),
    ("48⁄2", 24, [48, 2]),
    ("30 – 6", 24, [30, 6]),
    ("30 — 6", 24, [30, 6]),
    ("30‑6", 24, [30, 6]),
    (r"30 \minus 6", 24, [30, 6]),
    ("６＊４－（３－２）", 23, [6, 4, 3, 2]),
    ("３０－６＝２４", 24, [30, 6]),
    ("６ｘ４", 24, [6, 4]),
    ("6\u00a0*\u20094\u3000", 24, [6, 4]),
    # products without a sign
    ("6(4)(3-2)", 24, [6, 4, 3, 2]),
    ("6*4(3-2)", 24, [6, 4, 3, 2]),
    ("(3-2)6*4", 24, [6, 4, 3, 2]),
    ("(6)(4)", 24, [6, 4]),
    ("-6(-4)", 24, [6, 4]),
    ("48/2(3-2)", 24, [48, 2, 3, 2]),
    (r"(4)\frac{12}{2}", 24, [4, 12, 2]),
    (r"\frac{12}{2}(4)", 24, [4, 12, 2]),
    (r"\frac{12}{2}\frac{8}{2}", 24, [12, 8, 2, 2]),
    # brackets
    ("[3+5]+[7+9]", 24, [3, 5, 7, 9]),
    (r"\{[(3+5)]+7\}+9", 24, [3, 5, 7, 9]),
    (r"\bigl(3+5\bigr)+\Bigl(7+9\Bigr)", 24, [3, 5, 7, 9]),
    (r"\big(3+5\big)+\Bigg[7+9\Bigg]", 24, [3, 5, 7, 9]),
    (r"\left\{3+5\right\}+\left[7+9\right]", 24, [3, 5, 7, 9]),
    (r"\lbrace 3+5\rbrace+\lbrack 7+9\rbrack", 24, [3, 5, 7, 9]),
    ("【3+5】+（7+9）", 24, [3, 5, 7, 9]),
    # LaTeX around it
    (r"\displaystyle 6*4", 24, [6, 4]),
    (r"\text{6 * 4}", 24, [6, 4]),
    (r"6 \text{ x } 4", 24, [6, 4]),
    (r"\mathbf{6 \times 4} = 24", 24, [6, 4]),
    (r"\boxed{6*4}", 24, [6, 4]),
    (r"6\quad*\;4", 24, [6, 4]),
    (r"\begin{aligned} 6 \times 4 &= 6 \cdot 4 \\ &= 24 \end{aligned}", 24, [6, 4]),
    (r"\tfrac{48}{2}", 24, [48, 2]),
    (r"\cfrac{40+8}{2}", 24, [40, 8, 2]),
    (r"\frac 8 2 * 6", 24, [8, 2, 6]),
    # a chain of equal steps, a final full stop
    ("4*6 = 24.", 24, [4, 6]),
    ("4*6.", 24, [4, 6]),
    ("4*6。", 24, [4, 6]),
    (r"6*4*(3-2) = 24 \checkmark", 24, [6, 4, 3, 2]),
    ("6*4 = 24 ✓", 24, [6, 4]),
    (r"6*4 = 24\text{.}", 24, [6, 4]),
    ("+6*4*(3-2)", 24, [6, 4, 3, 2]),
    (r"\(4*6 = 24.\)", 24, [4, 6]),
    (r"\text{4*6 = 24.}", 24, [4, 6]),
    ("6*4*(3-2) = 24*1 = 24", 24, [6, 4, 3, 2]),
    ("(3+5)*(7-4) = 8*(7-4) = 8*3 = 24", 24, [3, 5, 7, 4]),
    ("24 = 4*6 = 24", 24, [4, 6]),
    ("25*40 = 1,000", 1000, [25, 40]),
    (r"25*40 = 1{,}000", 1000, [25, 40]),
]
ATTEMPTS = [
    ("4 + 6", 24, [4, 6], "wrong value: 4 + 6 = 10, not 24"),
    ("4 * 6 = 25", 24, [4, 6], "it says = 25"),
    ("4 * 6", 24, [4, 6, 1], "wrong numbers: used [4, 6], given [1, 4, 6]"),
    ("4 * 6 + 1 - 1", 24, [4, 6, 1], "wrong numbers"),
    ("1.2 * 20", 24, [1, 2, 20], "wrong numbers: used [6/5, 20]"),
    ("12 + 12", 24, [1, 2, 12], "wrong numbers"),
    ("1 / 0", 1, [1, 0], "divides by zero"),
    ("1 / (4 - 4)", 1, [1, 4, 4], "divides by zero"),
    ("10 / 3 * 3", 11, [10, 3, 3], "wrong value: 10 / 3 * 3 = 10"),
    # a chain is right in each of its steps or not at all
    ("4 * 6 = 2 * 12", 24, [4, 6], "must end with the target, not with 2 * 12"),
    ("4 + 6 = 24", 24, [4, 6], "wrong value: 4 + 6 = 10"),
    ("4 + 6 = 4 * 6 = 24", 24, [4, 6], "wrong value: 4 + 6 = 10"),
    ("3 + 5 = 8 * 3 = 24", 24, [3, 5, 3], "wrong numbers"),
    ("(3 + 5) * 3 = 8 = 24", 24, [3, 5, 3], "it says = 8"),
    ("(3 + 5) * 3 = 8 + 3 = 24", 24, [3, 5, 3], "it says = 8 + 3"),
    ("25 = 4 * 6", 24, [4, 6], "it says = 25"),
    ("20 + 4 = 4 * 6 = 24", 24, [4, 6], "wrong numbers"),
    ("4 * 6 = 1 / 0 = 24", 24, [4, 6], "divides by zero"),
    # one reading for each text
    ("[4][0] * 6", 24, [4, 6], "wrong numbers: used [0, 4, 6]"),
    ("48/2(4)", 6, [48, 2, 4], "wrong value"),
    (r"\frac{4}{2}6", 24, [4, 2, 6], "wrong value"),
]
# no operator joins numbers of which one is given: nothing is paid for trying
NO_ATTEMPT = [
    ("24", 24, [4, 6]),
    ("24.", 24, [4, 6]),
    ("4", 24, [4, 6]),
    ("-24", 24, [4, 6]),
    ("+24", 24, [4, 6]),
    ("24 ✓", 24, [4, 6]),
    ("(24)", 24, [4, 6]),
    ("-(-(24))", 24, [4, 6]),
    ("24 = 24", 24, [4, 6]),
    ("24 = 24 = 24", 24, [4, 6]),
    ("46", 46, [4, 6]),
    ("12 * 2", 24, [4, 6]),
    ("24 + 0", 24, [4, 6]),
    ("24 / 1", 24, [4, 6]),
    ("0.1 + 0.2", Fraction(3, 10), [1, 2]),
    ("0x18", 24, [4, 6]),
    ("(" * 240 + "24" + ")" * 240, 24, [4, 6]),
    ("1" * 500, 24, [4, 6]),
]
UNREADABLE = [
    (None, "no \\boxed{}"),
    ("", "empty"),
    ("   ", "empty"),
    ("$$", "empty"),
    ("{}", "empty"),
    ("I could not find one", "unexpected 'I'"),
    ("95**36**32", "out of place"),
    ("9**9**9**9", "out of place"),
    ("4**6", "out of place"),
    ("4^6", "unexpected '^'"),
    ("4^{6}", "unexpected '^'"),
    ("4!", "unexpected '!'"),
    ("4!*1", "unexpected '!'"),
    (r"\sqrt{16}*6", "unexpected '\\\\sqrt'"),
    ("4%", "unexpected '%'"),
    ("48 // 2", "out of place"),
    ("9" * 1_000_000, "1000000 characters"),
    ("(" * 5_000 + "24" + ")" * 5_000, "characters"),
    ("-" * 300 + "4", "unexpected '--'"),
    ("- " * 201 + "4", "more than 200"),
    ("+".join("1" * 200), "more than 200"),
    ("__import__('os')", "unexpected '_'"),
    ("4_0 - 16", "unexpected '_'"),
    ("1e3", "unexpected 'e'"),
    ("24j", "unexpected 'j'"),
    # digits of other scripts and of other heights
    ("٤ * ٦", "unexpected"),
    ("४ * ६", "unexpected"),
    ("𝟒 * 𝟔", "unexpected"),
    ("²", "unexpected"),
    ("④*⑥", "unexpected"),
    ("四*六", "unexpected"),
    ("4\u200b*6", "unexpected"),
    # what is printed as one number is not two, and two are not one
    ("4 6", "no sign between"),
    (r"2\,4", "no sign between"),
    (r"2\!4", "no sign between"),
    (r"2\text{4}", "no sign between"),
    (r"\text{2}\text{4}", "no sign between"),
    ("2{4}", "no sign between"),
    ("{2}{4}", "no sign between"),
    ("2{}4", "no sign between"),
    (r"2\\4", "no sign between"),
    (r"2\frac{1}{2}", "no sign between"),
    ("1.2.3", "no sign between"),
    (r"4\phantom{6}", "unexpected '\\\\phantom'"),
    (r"4\kern1em*6", "unexpected '\\\\kern'"),
    ("4*6 % + 1", "unexpected '%'"),
    # signs
    ("30 -- 6", "unexpected '--'"),
    ("30 −− 6", "unexpected '--'"),
    ("4 * + 6", "out of place"),
    ("+-4", "out of place"),
    ("+", "out of place"),
    ("++4*6", "out of place"),
    ("4 x x 6", "out of place"),
    ("x = 4*6", "out of place"),
    ("6x", "not complete"),
    (r"4 \pm 6", "unexpected '\\\\pm'"),
    ("24: 4*6", "unexpected ':'"),
    ("4 *", "not complete"),
    ("04 * 6", "unexpected '0'"),
    ("00", "unexpected '0'"),
    # brackets
    ("(4, 6)", "unexpected ','"),
    ("()", "out of place"),
    ("4()", "out of place"),
    ("(4*6]", "out of place"),
    (r"(4*6\}", "out of place"),
    (r"\{4*6}", "unexpected '}'"),
    ("(4*6", "not complete"),
    ("4*6)", "out of place"),
    ("|4*6|", "unexpected '|'"),
    # statements
    ("4 * 6 = ", "beside '='"),
    ("= 24", "beside '='"),
    ("4 * 6 == 24", "beside '='"),
    ("(4 * 6 = 24)", "not complete"),
    ("4 * 6 = twenty-four", "unexpected 't'"),
    (r"4 * 6 \approx 24", "unexpected '\\\\approx'"),
    ("4*6 < 25", "unexpected '<'"),
    ("4 + 6, 4 * 6", "unexpected ','"),
    ("4 * 6 # 24", "unexpected '#'"),
    (r"4+6 \text{ or } 4*6", "unexpected 'o'"),
    # LaTeX cut off
    (r"\frac{48}", "inside a brace"),
    (r"\frac", "inside a brace"),
    (r"\frac{48}*2", "an argument in braces is missing"),
    (r"\frac{" * 40, "inside a brace"),
    (r"\text", "inside a brace"),
    (r"\text 4*6", "an argument in braces is missing"),
    (r"\text{4*6", "inside a brace"),
    (r"\timesx", "unexpected '\\\\timesx'"),
    ("\\", "unexpected"),
    ("...", "unexpected '.'"),
    ("4*6...", "unexpected '.'"),
    ("4*6 ✓✓", "unexpected '✓'"),
    ("✓", "unexpected '✓'"),
    (r"\checkmark", "unexpected"),
    (r"\dots", "unexpected '\\\\dots'"),
    (".", "unexpected '.'"),
    ("4..real", "unexpected '.'"),
    ("\x00", "unexpected"),
    ("\ud800", "unexpected"),
]


@pytest.mark.parametrize(("equation", "target", "numbers"), RIGHT)
def test_a_right_equation_scores_one(equation: str, target: int, numbers: list[Any]) -> None:
    assert countdown.score(equation, target, numbers).reward == 1.0


@pytest.mark.parametrize(("equation", "target", "numbers", "reason"), ATTEMPTS)
def test_an_attempt_that_is_wrong_scores_a_tenth(equation: str, target: int, numbers: list[Any], reason: str) -> None:
    verdict = countdown.score(equation, target, numbers)
    assert verdict.reward == 0.1
    assert reason in verdict.reason


@pytest.mark.parametrize(("count", "shown"), [(20, ", 20]"), (21, ", 20, …]")])
def test_a_reason_shows_twenty_numbers(count: int, shown: str) -> None:
    reason = countdown.score("1 + 2", 3, list(range(1, count + 1))).reason
    assert reason.startswith("wrong numbers: used [1, 2], given [1, 2, 3, ")
    assert reason.endswith(shown)


@pytest.mark.parametrize(("equation", "target", "numbers"), NO_ATTEMPT)
def test_what_calculates_nothing_with_the_given_numbers_scores_zero(
    equation: str, target: int, numbers: list[Any]
) -> None:
    verdict = countdown.score(equation, target, numbers)
    assert verdict.reward == 0.0
    assert "no attempt" in verdict.reason


@pytest.mark.parametrize(("equation", "reason"), UNREADABLE)
def test_what_is_no_equation_scores_zero(equation: str | None, reason: str) -> None:
    verdict = countdown.score(equation, 24, [4, 6])
    assert verdict.reward == 0.0
    assert reason in verdict.reason
    assert len(verdict.reason) < 700, "a hostile answer must not flood the logs"


_PIECES = [
    *"046.,+-*/x=^!()[]{}$&\\ ６٤。−÷\x00\ud800",
    *[
        "24",
        ".5",
        "1,000",
        "...",
        "6(",
        r"\{",
        r"\}",
        r"\\",
        r"\frac",
        r"\frac{4}{6}",
        r"\text{",
        r"\times",
        r"\boxed{",
    ],
    *[r"\left(", r"\right)", r"\begin{aligned}", r"\over"],
]


def test_no_text_raises_and_none_is_paid_for_a_value_it_does_not_have() -> None:
    chance = random.Random("countdown")
    for _ in range(3_000):
        text = "".join(chance.choices(_PIECES, k=chance.randint(1, 12)))
        verdict = countdown.score(text, 24, [4, 6])
        assert verdict.reward in (0.0, 0.1, 1.0)
        if verdict.reward == 1.0:
            # whatever else stands around it, only these are 24
            assert re.search(r"4|６", text)
            assert not set("^!") & set(text)


_OPERATIONS: dict[str, tuple[Callable[[Fraction, Fraction], Fraction], list[str]]] = {
    "+": (operator.add, ["+", "＋"]),
    "-": (operator.sub, ["-", "−", "–", "－"]),
    "*": (operator.mul, ["*", "×", "x", r"\times ", r"\cdot{}", "·"]),
    "/": (operator.truediv, ["/", "÷", "／"]),
}
_AROUND = [("(", ")"), ("[", "]"), (r"\left(", r"\right)"), (r"\bigl\{", r"\bigr\}"), ("（", "）")]


def _written(chance: random.Random, depth: int) -> tuple[Fraction, str, list[int]]:
    """The value of a random expression, one of its many spellings, and its numbers."""
    if depth == 0:
        number = chance.randint(1, 99)
        spelling = chance.choice(["{}", "({})", "[{}]", "{{{}}}", r"\text{{{}}}"])
        return Fraction(number), spelling.format(number), [number]
    left_value, left, of_left = _written(chance, chance.randint(0, depth - 1))
    right_value, right, of_right = _written(chance, chance.randint(0, depth - 1))
    sign = chance.choice(list(_OPERATIONS)) if right_value else "+"
    operation, spellings = _OPERATIONS[sign]
    before, after = chance.choice(_AROUND)
    text = f"{before}{left}{chance.choice(spellings)}{right}{after}"
    if sign == "/" and chance.random() < 0.5:
        text = rf"\frac{{{left}}}{{{right}}}"
    return operation(left_value, right_value), text, of_left + of_right


def test_every_spelling_has_the_value_of_its_expression() -> None:
    chance = random.Random("spellings")
    for _ in range(500):
        value, text, numbers = _written(chance, 3)
        if len(numbers) < 2:
            continue
        assert countdown.score(text, value, numbers).reward == 1.0, text
        assert countdown.score(text, value + 1, numbers).reward == 0.1, text
        assert countdown.score(text, value, [*numbers, 5]).reward == 0.1, text


def _judge(answer: Any, of_task: dict[str, Any], of_output: dict[str, Any] | None = None) -> tuple[float, bool]:
    task = WorkflowTask(task=Task(task_id="t1", metadata=of_task))
    output = WorkflowOutput(metadata={"final_answer": answer, **(of_output or {})})
    return CountdownAnswerAsJudge({}).compute_reward(task, output)


def test_the_last_box_counts() -> None:
    assert _judge(r"First \boxed{4+6}, no: \boxed{\frac{48}{2}}.", {"target": 24, "nums": [48, 2]}) == (1.0, True)


def test_reasoning_and_two_equations_side_by_side_are_no_answer() -> None:
    metadata = {"target": 24, "nums": [4, 6]}
    assert _judge(r"<think>\boxed{4+6}</think> \boxed{4*6}", metadata) == (1.0, True)
    assert _judge(r"<think>\boxed{4*6}", metadata) == (0.0, False)
    assert _judge(r"\boxed{4+6}, \boxed{4*6}", metadata) == (0.0, False)


def test_decimals_are_what_they_were_written_as() -> None:
    assert _judge(r"\boxed{0.1*3}", {"target": 0.3, "nums": [0.1, 3]}) == (1.0, True)
    assert _judge(r"\boxed{24/10}", {"target": 2.4, "nums": [24, 10]}) == (1.0, True)


@pytest.mark.parametrize("nums", [[1] * 300_000, [10**400, 6], ["4", 6], 7, None, [10**5000]])
def test_an_outputs_own_numbers_cannot_stall_or_break_the_verdict(nums: Any) -> None:
    of_output = {"target": 10**400, "nums": nums}
    assert _judge(r"\boxed{4*6}", {"target": 24, "nums": [4, 6]}, of_output) == (1.0, True)


def test_target_and_numbers_may_come_from_the_output() -> None:
    assert _judge(r"\boxed{4*6}", {}, {"target": 24, "nums": [4, 6]}) == (1.0, True)


def test_an_agent_cannot_choose_its_own_target(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        reward = _judge(r"\boxed{4+6}", {"target": 24, "nums": [4, 6]}, {"target": 10, "nums": "junk"})
    assert reward == (0.1, False)
    assert [record.getMessage() for record in caplog.records] == [
        "task 't1': the output's target 10 differs from the task's 24, which counts",
        "task 't1': the output's nums 'junk' differs from the task's [4, 6], which counts",
    ]


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"nums": [4, 6]}, "'target'"),
        ({"target": 24}, "'nums'"),
        ({"target": "two dozen", "nums": [4, 6]}, "target must be numeric, got 'two dozen'"),
        ({"target": True, "nums": [4, 6]}, "target must be numeric, got True"),
        ({"target": float("nan"), "nums": [4, 6]}, "nan"),
        ({"target": 24, "nums": "46"}, "nums must be a list"),
        ({"target": 24, "nums": []}, "nums must hold 1 to 100 numbers, got []"),
        ({"target": 24, "nums": [1] * 101}, "nums must hold 1 to 100 numbers, got [1, 1,"),
        ({"target": 24, "nums": [4, None]}, "nums must be numeric, got None"),
    ],
)
def test_a_broken_task_is_an_error_and_never_a_score(metadata: dict[str, Any], words: str) -> None:
    with pytest.raises(JudgeError) as caught:
        _judge(r"\boxed{4*6}", metadata)
    assert words in str(caught.value)


PROTOCOL = "agentscope_tuner.task_judge.countdown_answer_as_judge->CountdownAnswerAsJudge"
HOSTILE = {
    "95**36**32": 0.0,
    "9**9**9**9": 0.0,
    "9" * 1_000_000: 0.0,
    "(" * 5_000 + "1" + ")" * 5_000: 0.0,
    "__import__('os').system('true')": 0.0,
    "1/0": 0.1,
    "7//2": 0.0,
    "1.2": 0.0,
    "...": 0.0,
    "1+1+2": 0.1,
    "１+２": 1.0,
}


def _rewards() -> list[float]:
    return [_judge(f"\\boxed{{{answer}}}", {"target": 3, "nums": [1, 2]})[0] for answer in HOSTILE]


def test_hostile_answers_get_their_documented_score_from_anywhere() -> None:
    expected = list(HOSTILE.values())
    assert _rewards() == expected
    from_thread: list[list[float]] = []
    thread = threading.Thread(target=lambda: from_thread.append(_rewards()))
    thread.start()
    thread.join()

    async def inside_a_loop() -> list[float]:
        return _rewards()

    assert [*from_thread, asyncio.run(inside_a_loop())] == [expected, expected]


def test_hostile_answers_get_their_documented_score_in_a_spawned_process() -> None:
    script = (
        "import sys; from agentscope_tuner import *; "
        f"judge = load_judge({{'astuner': {{'task_judge': {{'judge_protocol': '{PROTOCOL}'}}}}}}); "
        "task = WorkflowTask(task=Task(metadata={'target': 3, 'nums': [1, 2]})); "
        "says = lambda text: WorkflowOutput(metadata={'final_answer': '\\\\boxed{' + text + '}'}); "
        "print([judge.compute_reward(task, says(text))[0] for text in sys.stdin.read().split('\\n')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input="\n".join(HOSTILE), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(list(HOSTILE.values()))


def _every_size(numbers: list[Fraction]) -> set[Fraction]:
    """The sizes of all values that equations with each of the numbers have, the slow and plain way."""
    if len(numbers) == 1:
        return {abs(numbers[0])}
    found: set[Fraction] = set()
    for i, a in enumerate(numbers):
        for j, b in enumerate(numbers):
            if i == j:
                continue
            others = [number for k, number in enumerate(numbers) if k not in (i, j)]
            for value in (a + b, a - b, a * b, *([a / b] if b else [])):
                found |= _every_size([*others, value])
    return found


def test_a_target_is_reachable_exactly_when_some_equation_is_worth_it() -> None:
    chance = random.Random("reachable")
    for count in (1, 2, 3, 3, 3, 4, 4):
        numbers = [Fraction(chance.choice(["0", "1", "2", "3", "5", "8", "9", "-4", "1/2"])) for _ in range(count)]
        sizes = _every_size(numbers)
        for target in (*range(-12, 40), Fraction(7, 3), Fraction(1, 2)):
            assert countdown.is_reachable(target, numbers) is (abs(target) in sizes), (numbers, target)
    assert countdown.is_reachable(24, [3, 3, 8, 8]) is True
    assert countdown.is_reachable(0, [6, 0]) is True
    assert countdown.is_reachable(1, [1, 2, 3, 4, 5]) is None


Formula = tuple[str, Fraction, list[int]]


def joined(drawn: tuple[Formula, str, Formula]) -> Formula:
    (left, a, some), sign, (right, b, others) = drawn
    values = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else Fraction(0)}
    return f"({left}) {sign} ({right})" if b or sign != "/" else "", values[sign], some + others


FORMULAS = st.recursive(
    st.integers(1, 99).map(lambda number: (str(number), Fraction(number), [number])),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(joined),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(FORMULAS, st.integers(1, 5))
def test_a_formula_is_paid_for_its_value_with_its_numbers_and_for_nothing_else(formula: Formula, other: int) -> None:
    text, value, numbers = formula
    assume(len(numbers) > 1 and text and "()" not in text)
    assert countdown.score(text, value, numbers).reward == 1.0
    if value.denominator == 1:
        assert countdown.score(f"{text} = {value}", value, numbers[::-1]).reward == 1.0
    assert countdown.score(text, value + other, numbers).reward == 0.1
    assert countdown.score(text, value, [*numbers, other]).reward == 0.1
    assert countdown.score(text, value, numbers[1:]).reward == 0.1
    assert countdown.score(f"({text}", value, numbers).reward == 0.0


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ({"target": 24, "nums": [4, 6]}, None),
        ({"target": 24.0, "nums": (4, 6.0)}, None),
        (
            {"nums": [4, 6]},
            "missing: the task's metadata has no 'target', only ['nums']; countdown reads the number `target` ",
        ),
        ({"target": 24, "nums": None}, "missing: the task's metadata has no 'nums', only ['nums', 'target']"),
        ({"target": "24/1", "nums": [4, 6]}, "wrong type: target must be numeric, got '24/1'"),
        ({"target": True, "nums": [4, 6]}, "wrong type: target must be numeric, got True"),
        ({"target": 24, "nums": "46"}, "wrong type: nums must be a list of numbers, got '46'"),
        ({"target": 24, "nums": {"4": 6}}, "wrong type: nums must be a list of numbers, got {'4': 6}"),
        ({"target": float("nan"), "nums": [4]}, "NaN or infinite: target must be numeric, got nan"),
        ({"target": 24, "nums": [4, float("inf")]}, "NaN or infinite: nums must be numeric, got inf"),
        ({"target": 24, "nums": []}, "wrong type: nums must hold 1 to "),
        ({"target": 24, "nums": [1] * 500}, "over the bounds: nums must hold 1 to "),
        ({"target": 25, "nums": [4, 6]}, "unreachable: no equation with [4, 6], each used once, is worth 25"),
    ],
)
def test_what_keeps_a_task_from_being_judged_is_told(metadata: dict[str, Any], problem: str | None) -> None:
    told = CountdownAnswerAsJudge({}).check_task(Task(metadata=metadata))
    assert told is None if problem is None else str(told).startswith(problem)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({"target": 24, "nums": [4, 6]}, {"target": 24.0, "nums": [6, 4]}, True),
        ({"target": 24, "nums": [4, 6]}, {"target": 24, "nums": [4, 6, 6]}, False),
        ({"target": 24, "nums": [4, 6]}, {"target": 10, "nums": [4, 6]}, False),
        ({"target": "x", "nums": [4]}, {"target": "x", "nums": [4]}, True),
        ({"target": "x", "nums": [4]}, {"target": "y", "nums": [4]}, False),
    ],
)
def test_puzzles_are_the_same_by_their_values(first: dict[str, Any], second: dict[str, Any], same: bool) -> None:
    assert CountdownAnswerAsJudge({}).same_reference(first, second) is same
