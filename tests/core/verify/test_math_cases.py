"""Labelled pairs of our own, by kind, both verdicts: tests/cases/math_*.jsonl.

A pair with `cheap` gets its verdict without a worker, so that a change which makes it dear is seen.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner.verify.math.unwrap import reference
from agentscope_tuner.verify.math.verdict import WORKER_STAGES, MathVerdict, compare
from agentscope_tuner.verify.sandbox import shared

FILES = sorted((Path(__file__).parents[2] / "cases").glob("math_*.jsonl"))
WRAPPED = ("$", "\\(", "\\[", "\\boxed", "####")


def cases(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def expected(case: dict[str, Any]) -> str:
    """A wrong answer that cannot be told from the right one at points is undecided, which is not paid either."""
    return "equal" if case["equal"] else "undecided" if case.get("undecided") else "different"


def judged(case: dict[str, Any], reference: str) -> MathVerdict:
    return compare(case["answer"], reference, symbolic=shared().compare, question=case.get("question"))


# jumps that vanish at most points cost seconds of the worker
SLOW = {"math_jumps"}


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in SLOW else []) for path in FILES],
)
def test_every_pair_gets_its_verdict(path: Path) -> None:
    wrong = []
    for case in cases(path):
        verdict = judged(case, case["reference"])
        if verdict.outcome != expected(case):
            wrong.append(verdict.reason)
        elif case.get("cheap") and verdict.stage in WORKER_STAGES:
            wrong.append(f"known without a worker before: {verdict.reason}")
    assert not wrong


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_wrapping_of_the_reference_changes_nothing(path: Path) -> None:
    plain = [case for case in cases(path) if not any(sign in case["reference"] for sign in WRAPPED)]
    for case in plain:
        bare = reference(case["reference"])
        for wrapped in ("${}$", "\\({}\\)", "\\boxed{{{}}}", "$\\boxed{{{}}}$"):
            assert reference(wrapped.format(case["reference"])) == bare


def test_there_are_enough_pairs_of_both_verdicts() -> None:
    found = [case for path in FILES for case in cases(path)]
    assert len(found) >= 300
    assert len({(case["reference"], case["answer"], case.get("question")) for case in found}) == len(found)
    assert sum(not case["equal"] for case in found) >= 150
