"""The hostile set from every place a trainer judges from; a Ray actor is `make test-hostile`."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.verify.math import question
from agentscope_tuner.verify.math.verdict import compare
from benchmarks.math import hostile


def from_main_thread(_path: Path) -> hostile.Result:
    return hostile.judge_all("main thread")


def from_a_thread(_path: Path) -> hostile.Result:
    found: list[hostile.Result] = []
    thread = threading.Thread(target=lambda: found.append(hostile.judge_all("thread")))
    thread.start()
    thread.join()
    return found[0]


def from_a_running_loop(_path: Path) -> hostile.Result:
    async def judge() -> hostile.Result:
        return await asyncio.to_thread(hostile.judge_all, "asyncio.to_thread")

    return asyncio.run(judge())


def from_a_daemonic_process(path: Path) -> hostile.Result:
    process = multiprocessing.get_context("spawn").Process(
        target=hostile.report_to, args=(str(path), "daemonic process"), daemon=True
    )
    process.start()
    process.join(120)
    assert process.exitcode == 0
    return hostile.Result(**json.loads(path.read_text(encoding="utf-8")))


PLACES = [from_main_thread, from_a_thread, from_a_running_loop, from_a_daemonic_process]


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_nothing_hostile_is_paid_hangs_or_runs(place: Callable[[Path], hostile.Result], tmp_path: Path) -> None:
    result = place(tmp_path / "result.json")
    assert result.wrong == []
    assert result.judged >= 80


@pytest.mark.parametrize(
    "answer", ["Answer" + " " * 11_000 + "5", " " * 200_000, "A) " * 100_000, "5" + "\\text{ " * 1_500]
)
def test_what_stands_around_a_value_is_taken_off_in_linear_time(answer: str) -> None:
    started = time.process_time()
    assert compare(answer, "5", question="How many apples?").outcome != "equal"
    assert time.process_time() - started < 5


@pytest.mark.timeout(20)
@pytest.mark.parametrize("run", [" ", "\n", "~", "_", "$", "A ", "(A ", "\\quad ", "\\text{ "])
def test_a_long_run_in_a_question_is_read_in_one_pass(run: str) -> None:
    text = run * 200_000
    assert question._CHOICE_MARK.search(text) is None
    assert question._before_gap(f"x{text}") == ""
    assert question._choice_text(f"5{text}").startswith("5")


@pytest.mark.parametrize(
    "answer",
    [
        "+".join([r"3\text{ cm}"] * 200),
        r"\cdot ".join([r"3\text{ cm}"] * 200),
        "+".join([r"3^\circ"] * 200),
        "(" * 18 + r"3^\circ" + r"+3^\circ)" * 18,
        "f(2)=" + "9" * 300 + "=3",
    ],
)
def test_an_amount_of_many_amounts_is_read_in_linear_time_and_is_not_paid(answer: str) -> None:
    """Each sum of amounts within a sum was read twice: 22 terms took 26 s."""
    started = time.process_time()
    assert compare(answer, "3", question="Find $f(2)$.").outcome != "equal"
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("place", "run"),
    [
        ("before", "\\boxed"),
        ("before", "\\boxed 1, "),
        ("behind", "1 "),
        ("behind", "\n"),
        ("question", ","),
        ("question", "."),
        ("question", "1"),
        ("question", "\\("),
        ("question", "\\["),
    ],
)
def test_a_hundred_thousand_characters_around_an_answer_are_read_soon(place: str, run: str) -> None:
    """`\\boxed` again and again took 110 s and two gigabytes, a question of commas 54 s."""
    text = run * (100_000 // len(run))
    judge = load_judge({"astuner": {"task_judge": {"judge": "math"}}})
    task = Task(main_query=f"Solve. {text} What?" if place == "question" else "What?", metadata={"answer": "x+1"})
    answer = f"{text if place == 'before' else ''}\\boxed{{x+2}} {text if place == 'behind' else ''}"
    started = time.process_time()
    reward = judge.compute_reward(WorkflowTask(task=task), WorkflowOutput(metadata={"final_answer": answer}))
    assert reward == (0.0, False)
    assert time.process_time() - started < 3
