"""No text of an answer takes its own verdict away: texts of the cases, changed at random places, raise nothing."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask, load_judge

ROOT = Path(__file__).parents[3]
CASES = ROOT / "tests" / "cases"
# Digits that are none of Python's, lone signs of TeX, brackets that close nothing, half a character
PIECES = (
    *"²①٣½⁻Ⅻ০\x00}{\\$!≡0'_^|()[]；：和e=\n\ud800",
    *("\\pmod{0}", "\\equiv", "\\in", "\\overline{", "\\text{", "/0", "'t", "\\neq1"),
)


def rows() -> list[tuple[str, str, str]]:
    """Question, reference and output of the cases that have a whole text, and of those of two kinds that have a box."""
    found = []
    for name in ("sentences", "math_everyday", "math_told"):
        for line in (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            output = row.get("output") or f"The answer is \\boxed{{{row['answer']}}}."
            found.append((row.get("question", ""), row["reference"], output))
    return found


def mutated(text: str, rng: random.Random) -> str:
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(PIECES) + text[at + rng.choice((0, 0, 1, 2)) :]
    return text


@pytest.mark.parametrize(
    ("question", "reference", "output"),
    [
        ("Is the group cyclic?", "No", "\\boxed{\\text{No, i!t is not cyclic}}"),
        ("Find the pair $(A,B)$.", "(2,3)", "The answer is \\boxed{},!}."),
        ("Find $f^{-1}$.", "$\\frac{2x+1}{x-1}$", "\\boxed{\\⁻frac{1+2x}{x-1},\\ x\\neq1}"),
        (
            "$y=-x^2+4x+1$ $(0\\le x\\le3)$ の最大値と最小値を求めよ。",
            "最大値 $5$，最小値 $1$",
            "\\boxed{\\text{最大値 }5\\ (x=2),\\quad \\text{最小値 }2!(x=0\ud800)}",
        ),
        ("What is the remainder of $2^{100}$ when divided by 7?", "2", "$²\\equiv\\boxed{2}\\pmod 7$"),
        ("What is the remainder of 5 divided by 0?", "2", "$9\\equiv\\boxed{2}\\pmod 0$"),
        ("What is the remainder of $2^{100}$ when divided by 7?", "2", "$1\\equiv\\boxed{2}\\pmod 7$"),
    ],
)
def test_texts_that_raised_an_error_or_were_paid_are_judged_wrong(question: str, reference: str, output: str) -> None:
    judge = load_judge(ROOT / "configs" / "math.yaml")
    task = WorkflowTask(task=Task(main_query=question, metadata={"answer": reference}))
    verdict = judge.judge(task, WorkflowOutput(metadata={"final_answer": output}))
    assert (verdict.status, verdict.is_success) == ("judged", False)


@pytest.mark.parametrize(("seed", "mutants"), [(20261128, 1_000), pytest.param(5, 20_000, marks=pytest.mark.slow)])
def test_a_changed_text_is_judged_all_the_same(seed: int, mutants: int) -> None:
    rng, known = random.Random(seed), rows()
    judge = load_judge(ROOT / "configs" / "math.yaml")
    failed = []
    for _ in range(mutants):
        question, reference, output = rng.choice(known)
        output = mutated(output, rng)
        task = WorkflowTask(task=Task(main_query=question, metadata={"answer": reference}))
        verdict = judge.judge(task, WorkflowOutput(metadata={"final_answer": output}))
        if verdict.status == "failed" and "Error" in verdict.reason + str(verdict.error):
            failed.append((output.encode("utf-8", "replace"), verdict.error))
    assert not failed
