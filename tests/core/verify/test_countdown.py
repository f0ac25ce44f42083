r"""Countdown: 0.0 for what is no equation, 0.1 for a well-formed one that is wrong, 1.0 for a right one."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from fractions import Fraction
from typing import Any

import pytest

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
    ("0.5 * 48", 24, [Fraction(1, 2), 48]),
    ("4*6 = 24.0", 24, [4, 6]),
    ("7", 7, [7]),
    (r"\frac{48}2", 24, [48, 2]),
    (r"\frac82 * 6", 24, [8, 2, 6]),
    ("4*6 = 24.", 24, [4, 6]),
    ("24 = 4*6", 24, [4, 6]),
    (r"4 \times{} 6", 24, [4, 6]),
    (r"\(4*6\)", 24, [4, 6]),
]
WELL_FORMED = [
    ("4 + 6", 24, [4, 6], "wrong value: 4 + 6 = 10"),
    ("4 * 6 = 25", 24, [4, 6], "it says = 25"),
    ("24", 24, [4, 6], "wrong numbers: used [24], given [4, 6]"),
    ("4 * 6", 24, [4, 6, 1], "wrong numbers"),
    ("4 * 6 + 1 - 1", 24, [4, 6, 1], "wrong numbers"),
    ("1.2 * 20", 24, [1, 2, 20], "wrong numbers: used [6/5, 20]"),
    ("12 + 12", 24, [1, 2, 12], "wrong numbers"),
    ("1 / 0", 1, [1, 0], "divides by zero"),
    ("1 / (4 - 4)", 1, [1, 4, 4], "divides by zero"),
    ("0.1 + 0.2", Fraction(3, 10), [1, 2], "wrong numbers"),
    ("10 / 3 * 3", 11, [10, 3, 3], "wrong value: 10 / 3 * 3 = 10"),
]
UNREADABLE = [
    (None, "no \\boxed{}"),
    ("", "empty"),
    ("   ", "empty"),
    ("I could not find one", "unexpected 'I'"),
    ("95**36**32", "Pow is not allowed"),
    ("9**9**9**9", "Pow is not allowed"),
    ("48 // 2", "FloorDiv is not allowed"),
    ("9" * 1_000_000, "1000000 characters"),
    ("(" * 5_000 + "24" + ")" * 5_000, "characters"),
    ("(" * 240 + "24" + ")" * 240, "cannot be parsed"),
    ("-" * 300 + "4", "not"),
    ("+".join("1" * 200), "more than 200"),
    ("__import__('os')", "unexpected '_'"),
    ("4_0 - 16", "unexpected '_'"),
    ("0x18", "unexpected 'x'"),
    ("1e3", "unexpected 'e'"),
    ("24j", "unexpected 'j'"),
    ("４ * ６", "unexpected"),
    ("٤ * ٦", "unexpected"),
    ("²", "unexpected"),
    ("4 6", "cannot be parsed"),
    ("4(6)", "Call is not allowed"),
    ("(4, 6)", "unexpected ','"),
    ("()", "Tuple is not allowed"),
    ("+4", "UAdd is not allowed"),
    ("4 *", "cannot be parsed"),
    ("04 * 6", "cannot be parsed"),
    ("4 * 6 = ", "beside '='"),
    ("4 * 6 = 2 * 12", "beside '='"),
    ("4 * 6 == 24", "beside '='"),
    ("4 * 6 # 24", "unexpected '#'"),
    (r"\frac{48}", "unexpected"),
    (r"\frac{" * 40, "unexpected"),
    (r"\timesx", "unexpected"),
    ("[4][0] * 6", "unexpected '['"),
    (".", "cannot be parsed"),
    ("4..real", "unexpected 'r'"),
]


@pytest.mark.parametrize(("equation", "target", "numbers"), RIGHT)
def test_a_right_equation_scores_one(equation: str, target: int, numbers: list[Any]) -> None:
    assert countdown.score(equation, target, numbers).reward == 1.0


@pytest.mark.parametrize(("equation", "target", "numbers", "reason"), WELL_FORMED)
def test_a_well_formed_equation_that_is_wrong_scores_a_tenth(
    equation: str, target: int, numbers: list[Any], reason: str
) -> None:
    verdict = countdown.score(equation, target, numbers)
    assert verdict.reward == 0.1
    assert reason in verdict.reason


@pytest.mark.parametrize(("equation", "reason"), UNREADABLE)
def test_what_is_no_equation_scores_zero(equation: str | None, reason: str) -> None:
    verdict = countdown.score(equation, 24, [4, 6])
    assert verdict.reward == 0.0
    assert reason in verdict.reason
    assert len(verdict.reason) < 700, "a hostile answer must not flood the logs"


def _judge(answer: Any, of_task: dict[str, Any], of_output: dict[str, Any] | None = None) -> tuple[float, bool]:
    task = WorkflowTask(task=Task(task_id="t1", metadata=of_task))
    output = WorkflowOutput(metadata={"final_answer": answer, **(of_output or {})})
    return CountdownAnswerAsJudge({}).compute_reward(task, output)


def test_the_last_box_counts() -> None:
    assert _judge(r"First \boxed{4+6}, no: \boxed{\frac{48}{2}}.", {"target": 24, "nums": [48, 2]}) == (1.0, True)


def test_decimals_are_what_they_were_written_as() -> None:
    assert _judge(r"\boxed{0.1*3}", {"target": 0.3, "nums": [0.1, 3]}) == (1.0, True)
    assert _judge(r"\boxed{24/10}", {"target": 2.4, "nums": [24, 10]}) == (1.0, True)


@pytest.mark.parametrize("nums", [[1] * 3_000_000, [10**400, 6], ["4", 6], 7, None, [10**5000]])
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
        ({"target": "24", "nums": [4, 6]}, "target must be numeric, got '24'"),
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
    "1.2": 0.1,
    "1+1+2": 0.1,
    "１+２": 0.0,
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
