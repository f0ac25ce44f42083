"""A reward that the workflow computed: passed on where that is configured, and else passed over aloud."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentscope_tuner import ConfigError, Task, TaskJudge, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.errors import Cause

OURS = "agentscope_tuner.task_judge.workflow_reward_as_judge->WorkflowRewardJudge"
TASK = WorkflowTask(task=Task(task_id="t1", metadata={"answer": "42"}))


def judge(**section: Any) -> TaskJudge:
    return load_judge({"astuner": {"task_judge": {"judge_protocol": OURS, **section}}})


def output(reward: float | None, is_success: bool | None = None, answer: str = "42") -> WorkflowOutput:
    return WorkflowOutput(reward=reward, is_success=is_success, metadata={"final_answer": answer})


@pytest.mark.parametrize(("reward", "is_success"), [(0.25, False), (1.0, True), (-3.0, False), (0.0, True), (7, True)])
def test_the_workflows_reward_is_passed_on(reward: float, is_success: bool) -> None:
    for verdict in (
        judge().compute_reward(TASK, output(reward, is_success)),
        asyncio.run(judge().acompute_reward(TASK, output(reward, is_success))),
    ):
        assert verdict == (reward, is_success)
        assert verdict.reason == "the workflow's own reward"


@pytest.mark.parametrize(
    ("reward", "is_success", "message"),
    [
        (None, None, "reward is None"),
        (None, True, "reward is None"),
        (float("nan"), True, "finite number, got nan"),
        (float("inf"), True, "finite number, got inf"),
        (1.0, None, "is_success must be True or False beside the reward 1.0, got None"),
    ],
)
def test_what_is_no_reward_is_no_verdict(reward: float | None, is_success: bool | None, message: str) -> None:
    judgement = judge().judge(TASK, output(reward, is_success))
    assert (judgement.status, judgement.reward, judgement.cause) == ("failed", None, Cause.INPUT)
    assert message in str(judgement.error)


def test_rules_come_first() -> None:
    rule = {"id": "not_empty", "kind": "non_empty", "action": "mark_bad"}
    judgement = judge(rules=[rule], rule_reward=-1.0).judge(TASK, output(1.0, True, answer=""))
    assert (judgement.status, judgement.reward, judgement.violations) == ("filtered", -1.0, ("not_empty",))


def test_a_reward_that_is_passed_over_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    math = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
    loaded = load_judge({"astuner": {"task_judge": {"judge_protocol": math}}})
    right = WorkflowOutput(reward=0.5, is_success=False, metadata={"final_answer": r"\boxed{42}"})
    assert [loaded.compute_reward(TASK, right)[0] for _ in range(3)] == [1.0] * 3
    assert loaded.judge_group(TASK, [right])[0].reward == 1.0
    assert caplog.text.count("the workflow set a reward of its own, 0.5, which is passed over: MathAnswerAsJudge") == 1
    assert OURS in caplog.text
    caplog.clear()
    judge().compute_reward(TASK, right)
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"astuner": {"task_judge": {"judge_protocol": None}}}, "sets the reward itself, it is workflow_reward"),
        ({"ajet": {"task_judge": {"judge_protocol": "a->B"}}}, "which astuner does not read: `astuner migrate FILE"),
        ({"astuner": {"task_judge": {"alien_llm_model": "qwen"}}}, "task_judge.alien_llm_model: unknown key; upstream"),
        ({"astuner": {"task_judge": {"alien_llm_response_length": 9}}}, "client.max_tokens"),
    ],
)
def test_an_upstream_configuration_is_told_the_way_out(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_judge(config)
    assert message in str(caught.value)


@pytest.mark.parametrize("key", ["sampling_mode", "generate_number", "max_retries", "aggregation_mode"])
def test_the_upstream_generators_keys_are_told_the_way_out(key: str) -> None:
    section = {"judge_type": "rubrics_auto_grader", "rubrics_auto_grader": {"model_name": "m", key: 1}}
    with pytest.raises(ConfigError, match=f"rubrics_auto_grader.{key}: unknown key; upstream"):
        load_judge({"astuner": {"task_judge": section}})
