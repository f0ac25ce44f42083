"""Whole outputs in many languages, right and wrong: units, scales, conditions, drafts and labels around an answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner.verify.find import find_answer
from agentscope_tuner.verify.math.place import judge_place
from agentscope_tuner.verify.math.verdict import compare

CASES = (Path(__file__).parents[2] / "cases" / "sentences.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("case", [json.loads(case) for case in CASES], ids=lambda case: case["output"][:60])
def test_the_words_around_an_answer_are_read(case: dict[str, Any]) -> None:
    found = find_answer(case["output"], [case.get("place", "boxed")], by_value=True)
    asked, wanted = case["question"], case["reference"]
    verdict = judge_place(found, wanted, asked, lambda text: compare(text, wanted, question=asked))
    assert (verdict.outcome == "equal") is case["equal"], verdict.reason
