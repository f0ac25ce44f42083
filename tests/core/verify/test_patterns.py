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


# A repeated group, within which another repetition may share what a text repeats
NESTED = re.compile(r"\)(?:[*+]|\{\d*,(?:\d{2,})?\})(?!\+)")
OWN_CHARACTERS, MOST_PIECES, MANY = (44, 80), 96, 8
OF_CATEGORY = {"SPACE": " ", "DIGIT": "1", "WORD": "a", "NOT_SPACE": "x", "NOT_DIGIT": "a", "NOT_WORD": " "}


def _own_texts(pattern: re.Pattern[str]) -> list[str]:
    """Texts made of what the pattern itself repeats, behind what stands before it there."""
    if NESTED.search(pattern.pattern) is None:
        return []
    found = list(_repeated(importlib.import_module("re._parser").parse(pattern.pattern, pattern.flags), ""))
    # the short ones first: they end where the long ones never do
    return [f"{before}{(piece * long)[:long]}\x00" for long in OWN_CHARACTERS for before, piece in found]


def _repeated(items: Any, before: str) -> Iterator[tuple[str, str]]:
    for op, args in items:
        if str(op) == "BRANCH":
            for branch in args[1]:
                yield from _repeated(branch, before)
        elif str(op) in ("SUBPATTERN", "ATOMIC_GROUP"):
            yield from _repeated(args[3] if str(op) == "SUBPATTERN" else args, before)
        elif str(op).endswith("_REPEAT"):
            if args[1] > MANY and str(args[2][0][0]) in ("SUBPATTERN", "BRANCH"):
                yield from ((before, piece) for piece in _matched(args[2], MOST_PIECES) if piece)
            yield from _repeated(args[2], before)
        before += _matched([(op, args)], 1)[0]


def _matched(items: Any, most: int) -> list[str]:
    """Some of the shortest texts that parsed pieces of a pattern match."""
    texts = [""]
    for op, args in items:
        texts = [text + more for text in texts for more in _matched_by(str(op), args, most)]
        texts = sorted(texts, key=len)[:most]
    return texts


def _matched_by(op: str, args: Any, most: int) -> list[str]:
    if op == "IN":
        named = [str(one).removeprefix("CATEGORY_") for kind, one in args if str(kind) == "CATEGORY"]
        plain = [
            chr(one if str(kind) == "LITERAL" else one[0]) for kind, one in args if str(kind) in ("LITERAL", "RANGE")
        ]
        return (["x", " "] if str(args[0][0]) == "NEGATE" else [*(OF_CATEGORY[one] for one in named), *plain])[:most]
    if op == "BRANCH":
        branches = args[1][:most]
        return [text for branch in branches for text in _matched(branch, -(-most // len(branches)))]
    if op.endswith("_REPEAT"):
        low, high, inner = args
        more = [text * count for text in _matched(inner, min(most, 2)) for count in (1, 2) if low <= count <= high]
        return ([""] if low == 0 else []) + more or [_matched(inner, 1)[0] * low]
    if op in ("SUBPATTERN", "ATOMIC_GROUP"):
        return _matched(args[3] if op == "SUBPATTERN" else args, most)
    return {"LITERAL": [chr(args)] if op == "LITERAL" else [], "ANY": ["x", " "], "NOT_LITERAL": ["x", " "]}.get(
        op, [""]
    )


def _seconds(pattern: re.Pattern[str], texts: list[str]) -> float:
    started = time.thread_time()
    for text in texts:
        pattern.search(text)
        pattern.fullmatch(text)
    return time.thread_time() - started


def _slow(pattern: re.Pattern[str], texts: list[str]) -> list[str]:
    """The texts that take too long; each is asked alone, and again, only where several together do."""
    slow = [texts[at : at + MANY] for at in range(0, len(texts), MANY)]
    for few in slow:
        if _seconds(pattern, few) > MOST_SECONDS:
            alone = [text for text in few if all(_seconds(pattern, [text]) > MOST_SECONDS for _ in range(2))]
            if alone:  # else the machine was slow for a moment: the others are still to be asked
                return alone
    return []


def test_no_pattern_takes_twice_the_time_for_each_piece_of_a_text() -> None:
    patterns = {(one.pattern, one.flags): (name, one) for name, one in _patterns()}
    assert len(patterns) > 200
    # one repetition alone tries no text in several ways
    several = [(name, one) for name, one in patterns.values() if sum(map(one.pattern.count, "*+{")) > 1]
    asked = ((name, one, TEXTS + _own_texts(one)) for name, one in several)
    assert not {f"{name}: {text!r}" for name, pattern, texts in asked for text in _slow(pattern, texts)}


BESIDE = re.compile(r"(?:[\s,]|[a-z]\s*=\s*[-−]?)*")


def test_texts_of_its_own_pieces_are_slow_for_a_pattern_that_reads_them_in_two_ways() -> None:
    assert _slow(BESIDE, _own_texts(BESIDE))
    assert not _slow(BESIDE, TEXTS)


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
        ("Find the product of the roots.", rf"\boxed{{{'x_1   ' * 12}y=7}}", "7"),
        ("What is the temperature?", rf"\boxed{{25}}°{' ' * 400}x", r"25^\circ\text{C}"),
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


# What a policy may repeat beside its answer and in it: each once took the square of its number
RUNS = (
    "\n",
    " ",
    ". ",
    "1 ",
    "1:2 ",
    "$1$ ",
    "1=",
    "1\\% ",
    "or 1 ",
    "a_",
    "中1",
    "(",
    "x=1, ",
    "the ",
    r"\frac12 ",
    "…",
)


@pytest.mark.parametrize("place", ["behind", "in"])
def test_long_runs_are_judged_in_a_time_that_their_length_hardly_changes(place: str) -> None:
    for run in RUNS:
        text = (run * 4_000)[:4_000] if run != "a_" else "a_" + " " * 4_000
        answer = rf"\boxed{{7}} {text} x" if place == "behind" else rf"\boxed{{{text} 7}}"
        # 0.01 to 0.06 s; the worst once took 0.4
        assert min(_judged("Find the mean of $x$ and $y$.", f"{answer}{' ' * more}", "7") for more in (1, 2)) < 0.18, (
            run
        )
