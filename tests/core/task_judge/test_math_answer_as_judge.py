"""The judge on top of the verifier: where it finds the answer and the reference, and what it says."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import JudgeError, Task, WorkflowOutput, WorkflowTask, load_config
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge


def judge(output: object, answer: object, **math: object) -> Any:
    config = load_config({"astuner": {"task_judge": {"math": math}}})
    task = WorkflowTask(task=Task(metadata={"answer": answer}))
    return MathAnswerAsJudge(config).compute_reward(task, WorkflowOutput(metadata={"final_answer": output}))


@pytest.mark.parametrize(
    ("output", "answer", "reward", "reason"),
    [
        (r"so \boxed{42}", "42", (1.0, True), "exact: 42 = 42"),
        (r"so \boxed{42}", "She makes 6*7=42.\n#### 42", (1.0, True), "exact: 42 = 42"),
        (r"so \boxed{42}", r"\boxed{42}", (1.0, True), "exact: 42 = 42"),
        (r"so \boxed{1,234}", r"\(1234\)", (1.0, True), "normalised: 1,234 = 1234"),
        (r"so \boxed{0.5}", r"$\frac{1}{2}$", (1.0, True), r"numeric: 0.5 = \frac{1}{2}"),
        (r"so \boxed{43}", "42", (0.0, False), "numeric: 43 ≠ 42"),
        ("so 42", "42", (0.0, False), r"no \boxed{} in the answer"),
        (r"so \boxed{}", "42", (0.0, False), "normalised:  ≠ 42 (the box is empty)"),
        (r"so \boxed{42}", 42, (1.0, True), "exact: 42 = 42"),
    ],
)
def test_rewards_carry_their_reason(output: str, answer: object, reward: tuple[float, bool], reason: str) -> None:
    verdict = judge(output, answer)
    assert verdict == reward
    assert verdict.reason == reason


@pytest.mark.parametrize("answer", ["", "  ", "$$", "#### ", r"\frac{1}{", "3 +", None, True, ["4"]])
def test_an_unusable_reference_is_our_failure(answer: object) -> None:
    with pytest.raises(JudgeError):
        judge(r"\boxed{42}", answer)


@pytest.mark.parametrize("output", [None, 42, ["42"]])
def test_an_answer_that_is_no_text_is_a_broken_workflow(output: object) -> None:
    with pytest.raises(JudgeError, match="final_answer"):
        judge(output, "42")


def test_exact_equivalence_compares_characters() -> None:
    assert judge(r"\boxed{0.5}", "1/2", equivalence="exact") == (0.0, False)
    assert judge(r"\boxed{1/2}", "$1/2$", equivalence="exact") == (1.0, True)


def shared_rollouts(name: str) -> list[dict[str, Any]]:
    shared = Path(os.environ.get("ASTUNER_SHARED", Path(__file__).parents[4] / "shared"))
    path = shared / "rollouts" / name
    if not path.exists():
        pytest.skip(f"{path} is not on this machine")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_agrees_with_the_labels_of_real_gsm8k_outputs() -> None:
    rows = shared_rollouts("gsm8k_tora70b.jsonl")
    judge = MathAnswerAsJudge(load_config())
    wrong, boxless = [], 0
    for row in rows:
        task = WorkflowTask(task=Task.model_validate(row["task"]))
        reward = judge.compute_reward(task, WorkflowOutput.model_validate(row["output"]))
        if reward[1] != row["label"]["is_success"]:
            # the labels look at the value alone: a right value outside any box is 0.0 here
            boxless += "no \\boxed" in reward.reason
            wrong += [row["id"]] if "no \\boxed" not in reward.reason else []
    assert not wrong
    assert boxless == 5
