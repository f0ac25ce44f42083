"""Every regular expression that reads policies' texts and questions ends soon on any of them."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

import agentscope_tuner.graders
import agentscope_tuner.task_judge
import agentscope_tuner.verify
from agentscope_tuner import Task, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.verify import CompiledPattern

# What a text may repeat, and what may make a match fail behind it
PIECES = (
    "1", "1.", "1,", "12 ", "a", "ab ", "a, ", "A", "\\a", "\\,", " ", "\t", "\n", "$", "{", "}", "{a}",
    "\\text{a}", "(", "()", "[", "|", "=", "x=1,", "-", "+", "*", "_", "a_1", "中", "的 ", "the ", "answer: ", "and ",
    "or 1", "5 m ", "A. a\n", "1:2", "\\\\", "\\{", "\\frac12", "\\left(", "\\quad", "%", "~", "<a>", "#", "'",
    "1/2", "1{,}1", "é", "。",
)  # fmt: skip
ENDS = ("", "!", "\\text", "中", "1", "$", "}", "\n")
REPEATED = 20
# A pattern whose work doubles with each piece takes 2^20 steps. An honest one ends in microseconds
MOST_SECONDS = 0.02


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for package in (agentscope_tuner.verify, agentscope_tuner.graders, agentscope_tuner.task_judge):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".inside" in found.name or found.name.endswith("worker"):
                continue
            for name, value in vars(importlib.import_module(found.name)).items():
                yield from ((f"{found.name}.{name}", one) for one in _within(value))


def _within(value: Any) -> Iterator[re.Pattern[str]]:
    if isinstance(value, CompiledPattern):
        yield re.compile(value.pattern, value.flags)
    elif isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, tuple | list):
        for member in value:
            yield from _within(member)
    elif isinstance(value, dict):
        yield from _within(list(value.values()))


TEXTS = [piece * REPEATED + end for piece in PIECES for end in ENDS]


def _seconds(pattern: re.Pattern[str], texts: list[str]) -> float:
    started = time.thread_time()
    for text in texts:
        pattern.search(text)
    return time.thread_time() - started


def _slow(pattern: re.Pattern[str]) -> list[str]:
    """The texts that take too long; each is asked alone, and again, only where all of them together do."""
    if _seconds(pattern, TEXTS) <= MOST_SECONDS:
        return []
    return [text for text in TEXTS if all(_seconds(pattern, [text]) > MOST_SECONDS for _ in range(2))]


def test_no_pattern_takes_twice_the_time_for_each_piece_of_a_text() -> None:
    patterns = {(one.pattern, one.flags): (name, one) for name, one in _patterns()}
    assert len(patterns) > 200
    assert not {f"{name}: {text!r}" for name, pattern in patterns.values() for text in _slow(pattern)}


def _judged(question: str, answer: str, reference: str) -> float:
    judge = load_judge({"astuner": {"task_judge": {"judge": "math"}}})
    task = WorkflowTask(task=Task(main_query=question, metadata={"answer": reference}))
    started = time.thread_time()
    judge.judge(task, WorkflowOutput(metadata={"final_answer": answer}))
    return time.thread_time() - started


@pytest.mark.parametrize(
    ("question", "answer", "reference"),
    [
        (f"Find the mean of the data {'1.5,' * 40} 2.", r"\boxed{5\text{ m}}", "5"),
        (f"Find the mean of {'1,2,3,' * 15} 4.", r"\boxed{5\text{ apples each}}", "5"),
        ("Find $x$.", rf"So {'7' * 60}\text{{ cm }}\boxed{{7}}", "7"),
        ("Find (a) $x$ and (b) $y$.", rf"\boxed{{(a) 1{'~' * 60}! (b) 2}}", "(1,2)"),
        ("Find $x$.", rf"\boxed{{1}}{'и ' * 29}!!\boxed{{2}}", "1"),
        ("Find $x$.", rf"\boxed{{1}}{'x=  ' * 14}!!\boxed{{2}}", "1"),
        ("Find (a) $x$ and (b) $y$.", rf"\boxed{{(a) 1{chr(92)},{(chr(92) + ',') * 60}! (b) 2}}", "(1,2)"),
    ],
)
def test_texts_on_which_a_pattern_once_never_ended_are_judged_at_once(
    question: str, answer: str, reference: str
) -> None:
    assert _judged(question, answer, reference) < 1
