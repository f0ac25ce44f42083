"""Whole outputs in many languages, right and wrong: units, scales, conditions, drafts and labels around an answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner.verify.find import find_answer
from agentscope_tuner.verify.math.place import judge_place
from agentscope_tuner.verify.math.verdict import MathVerdict, compare
from tests.tables import first, together

CASES = (Path(__file__).parents[2] / "cases" / "sentences.jsonl").read_text(encoding="utf-8").splitlines()


def verdict_on(case: dict[str, Any]) -> MathVerdict:
    found = find_answer(case["output"], [case.get("place", "boxed")], by_value=True)
    asked, wanted = case["question"], case["reference"]
    return judge_place(found, wanted, asked, lambda text: compare(text, wanted, question=asked))


@pytest.mark.parametrize("lines", together(CASES), ids=first)
def test_the_words_around_an_answer_are_read(lines: list[str]) -> None:
    wrong = []
    for case in map(json.loads, lines):
        verdict = verdict_on(case)
        if (verdict.outcome == "equal") is not case["equal"]:
            wrong.append((case, verdict.reason))
    assert not wrong
