"""Whole outputs in many languages, right and wrong: units, scales, conditions, drafts and labels around an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentscope_tuner.verify.find import find_answer
from agentscope_tuner.verify.math.place import judge_place
from agentscope_tuner.verify.math.verdict import compare
from tests.tables import first, together

CASES = (Path(__file__).parents[2] / "cases" / "sentences.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("lines", together(CASES), ids=first)
def test_the_words_around_an_answer_are_read(lines: list[str]) -> None:
    wrong = []
    for line in lines:
        case = json.loads(line)
        found = find_answer(case["output"], [case.get("place", "boxed")], by_value=True)
        asked, wanted = case["question"], case["reference"]
        verdict = judge_place(
            found, wanted, asked, lambda text, wanted=wanted, asked=asked: compare(text, wanted, question=asked)
        )
        if (verdict.outcome == "equal") is not case["equal"]:
            wrong.append((line, verdict.reason))
    assert not wrong
