"""`astuner explain` and `compute_reward` reach the same verdict on every labelled case."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from agentscope_tuner import Task, TaskJudge, WorkflowOutput, WorkflowTask, load_config, load_judge
from agentscope_tuner.cli.rendering import verdict_on
from agentscope_tuner.verify.sandbox import DEADLINE, shared

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "tests" / "cases").glob("math_*.jsonl"))


@cache
def shipped() -> TaskJudge:
    return load_judge(load_config(ROOT / "configs" / "math.yaml"))


# two verdicts on each of thousands of cases: test_math_cases.py asks for all of them at the door inside
@pytest.mark.parametrize("every", [25, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_explain_says_what_the_reward_says(path: Path, every: int) -> None:
    judge, sandbox = shipped(), shared(1, DEADLINE)
    for line in path.read_text(encoding="utf-8").splitlines()[::every]:
        case = json.loads(line)
        question = case.get("question")
        output = case.get("output", f"\\boxed{{{case.get('answer')}}}")
        task = Task(main_query=question or "", metadata={"answer": case["reference"]})
        judged = judge.judge(WorkflowTask(task=task), WorkflowOutput(metadata={"final_answer": output}))
        explained, _ = verdict_on(output, case["reference"], question, sandbox)
        assert judged.is_success is (explained.outcome == "equal"), case
