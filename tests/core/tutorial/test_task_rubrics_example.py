"""The tutorial's tasks can be judged, and their good answers score above their bad ones by a person's verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentscope_tuner.graders.rubrics.criteria import aggregated, read_rubrics
from agentscope_tuner.task_judge.contract.loading import load_judge

FOLDER = Path("tutorial/example_task_rubrics")
ROWS = [json.loads(line) for line in (FOLDER / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_configuration_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASTUNER_BASE_URL", "http://127.0.0.1:9/v1")
    assert load_judge(FOLDER / "task_rubrics.yaml").traits.name == "TaskRubricsJudge"


def test_there_are_ten_tasks_with_rubrics_and_two_answers_each() -> None:
    assert len({row["task"]["task_id"] for row in ROWS}) == 10
    assert [row["label"]["is_success"] for row in ROWS] == [True, False] * 10


def test_an_answer_that_meets_all_that_is_good_scores_one_and_one_that_meets_all_that_is_bad_zero() -> None:
    for row in ROWS:
        rubrics = read_rubrics(row["task"]["metadata"]["rubrics"])
        good = row["label"]["is_success"]
        met = [float((criterion.weight > 0) is good) for criterion in rubrics.criteria]
        assert aggregated(rubrics, met, "auto") == float(good)
