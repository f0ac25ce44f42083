"""What the judge must say of the rows beside it: `pytest test_judge.py` after every change of the configuration."""

import json
from pathlib import Path

import pytest

from agentscope_tuner import Rollout, WorkflowTask, load_judge

HERE = Path(__file__).parent
ROWS = [json.loads(line) for line in (HERE / "rows.jsonl").read_text(encoding="utf-8").split("\n") if line]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_judge_agrees_with_the_label(row, monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    judge = load_judge(HERE / "judge.yaml")
    rollout = Rollout.model_validate(row)
    judgement = judge.judge(WorkflowTask(task=rollout.task), rollout.output)
    assert judgement.status != "failed", judgement.error
    assert judgement.is_success == row["label"]["is_success"], judgement.reason
