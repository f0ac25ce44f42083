"""NeMo-Gym's /verify wire: what was asked, what was said last, and a failure that is masked, not scored."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import JudgeError
from agentscope_tuner.adapters.nemo_gym import decode_request, encode_response
from agentscope_tuner.adapters.rollout import components_of, constant_metrics
from agentscope_tuner.task_judge.batch import judge_for
from agentscope_tuner.task_judge.contract.judgement import Judgement
from tests.core.adapters.test_adapters_verl import settings


def said(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "status": "completed", "id": "m1", "content": content}


CALL = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{}"}


def request(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    params = {"input": [{"role": "system", "content": "Box it."}, CALL, {"role": "user", "content": "6*7?"}]}
    return {"responses_create_params": params, "response": {"id": "r1", "output": list(output)}, **fields}


def test_the_query_and_the_last_message_are_found() -> None:
    task, output = decode_request(request(CALL, said("42"), expected_answer="42", level=3))
    assert task.task.main_query == "6*7?"
    assert task.task.metadata == {"answer": "42", "expected_answer": "42", "level": 3}
    assert output.metadata["final_answer"] == "42"
    task, _ = decode_request({**request(said("1")), "responses_create_params": {"input": "plain"}})
    assert task.task.main_query == "plain"


USER = {**said("42"), "role": "user"}


@pytest.mark.parametrize("output", [[], [CALL], [said("42"), CALL], [{"type": "reasoning", "summary": []}], [USER]])
def test_an_episode_without_a_last_message_has_no_answer(output: list[dict[str, Any]]) -> None:
    assert decode_request(request(*output, answer="42"))[1].metadata["final_answer"] == ""


@pytest.mark.parametrize("role", ["assistant", "model"])
def test_the_policys_role_has_the_names_that_chat_templates_give_it(role: str) -> None:
    assert decode_request(request({**said("42"), "role": role}))[1].metadata["final_answer"] == "42"


@pytest.mark.parametrize("field", ["type", "role"])
def test_a_field_that_is_sent_as_null_is_as_if_not_sent(field: str) -> None:
    message = {**said("42"), field: None}
    assert decode_request(request(message, answer="42"))[1].metadata["final_answer"] == "42"


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"answer": "1", "expected_answer": "2"}, "1"),
        ({"verifier_metadata": {"answer": "1"}}, "1"),
        ({"verifier_metadata": {"expected_answer": "1"}, "ground_truth": "2"}, "1"),
        ({"ground_truth": 3}, 3),
        # a request's class declares a field that the row has elsewhere
        ({"answer": None, "verifier_metadata": {"answer": "1"}}, "1"),
        ({"answer": None, "verifier_metadata": {"answer": None}}, None),
        ({}, None),
    ],
)
def test_the_ground_truth_is_found_where_data_sets_put_it(fields: dict[str, Any], answer: object) -> None:
    assert decode_request(request(said("x"), **fields))[0].task.metadata.get("answer") == answer


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"responses_create_params": {"input": "q"}, "response": {}},
        {"responses_create_params": {"input": "q"}, "response": {"output": ["42"]}},
        {"responses_create_params": {"input": 1}, "response": {"output": []}},
        # nobody knows who wrote it
        {"responses_create_params": {"input": "q"}, "response": {"output": [{**said("42"), "role": "Agent"}]}},
    ],
)
def test_another_shape_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(JudgeError, match=r"/verify takes|response\.output must be|input must be|policy's role"):
        decode_request(payload)


@pytest.mark.parametrize(
    ("answer", "reward", "masked", "kind"),
    [("42", 1.0, False, None), ("41", 0.0, False, None), ("", 0.0, False, None), ("boom", 0.0, True, "judge_failed")],
)
def test_a_failure_is_masked_and_named(
    answer: str, reward: float, masked: bool, kind: str | None, tmp_path: Path
) -> None:
    judge = judge_for(settings(tmp_path))
    payload = request(said(answer), expected_answer="42", level=3)
    verdict = encode_response(payload, judge, judge.judge(*decode_request(payload)))
    assert (verdict["reward"], verdict["mask_sample"], verdict["failure_kind"]) == (reward, masked, kind)
    assert verdict["level"] == 3
    assert ("the judge model did not answer" in (verdict["failure_reason"] or "")) == masked
    # what a chart of the run counts beside the reward
    assert (verdict["is_success"], verdict["filtered"]) == (float(answer == "42"), float(answer == ""))
    assert verdict["judge_seconds"] >= 0


def test_a_failure_is_marked_for_nemo_rl_too(tmp_path: Path) -> None:
    judge = judge_for(settings(tmp_path))

    def verdict(answer: str, **fields: Any) -> dict[str, Any]:
        payload = request(said(answer), expected_answer="42", **fields)
        return encode_response(payload, judge, judge.judge(*decode_request(payload)))

    failed = verdict("boom", instance_config={"level": 3, "mask_sample": False})
    assert failed["instance_config"] == {"level": 3, "mask_sample": True}
    assert failed["_ng_failure_class"] == "judge_failed"
    assert failed["_ng_failure_judge_error"] == failed["failure_reason"]
    assert verdict("boom")["instance_config"] == {"mask_sample": True}
    assert "_ng_failure_class" not in verdict("42")
    assert "instance_config" not in verdict("42")
    assert verdict("42", instance_config={"level": 3})["instance_config"] == {"level": 3}


def test_on_error_zero_counts_and_says_so(tmp_path: Path) -> None:
    judge = judge_for(settings(tmp_path, extra="    on_error: zero\n"))
    payload = request(said("boom"), expected_answer="42")
    verdict = encode_response(payload, judge, judge.judge(*decode_request(payload)))
    assert (verdict["reward"], verdict["mask_sample"], verdict["failure_kind"]) == (0.0, False, "judge_failed")


PARTS = """astuner:
  task_judge:
    judge_type: combined
    rules: [{id: not_empty, kind: non_empty, target: output, action: mark_bad}]
    parts:
      right: {judge_protocol: tests.core.adapters.test_adapters->Echo, weight: 1.0%s}
      brief: {judge_protocol: tests.core.adapters.test_adapters->Echo, weight: 0.5, when: right.is_success}
      seen: {judge_protocol: agentscope_tuner.task_judge.workflow_reward_as_judge->WorkflowRewardJudge, weight: 0,
             optional: true}
"""


def parts(tmp_path: Path, optional: bool = False) -> str:
    path = tmp_path / "parts.yaml"
    path.write_text(PARTS % (", optional: true" if optional else ""), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("answer", "components", "masked"),
    [
        ("42", {"right": 1.0, "brief": 1.0}, False),
        # what its condition left out adds nothing
        ("41", {"right": 0.0, "brief": 0.0}, False),
        # a rule's reward is that of each
        ("", {"right": 0.0, "brief": 0.0}, False),
        ("boom", {"right": 0.0, "brief": 0.0}, True),
    ],
)
def test_a_combined_judges_parts_are_reward_components(
    answer: str, components: dict[str, float], masked: bool, tmp_path: Path
) -> None:
    judge = judge_for(parts(tmp_path))
    payload = request(said(answer), expected_answer="42")
    verdict = encode_response(payload, judge, judge.judge(*decode_request(payload)))
    assert (verdict["reward_components"], verdict["mask_sample"]) == (components, masked)


def test_a_part_without_a_verdict_is_no_component_of_0(tmp_path: Path) -> None:
    judge = judge_for(parts(tmp_path, optional=True))
    # an optional part failed, and the whole has a verdict
    judgement = Judgement("judged", 0.5, False, metrics={"part/brief": 0.5, "part/right/failed": 1.0})
    with pytest.raises(JudgeError, match="part 'right' has no verdict"):
        components_of(judge, judgement)
    verdict = encode_response({}, judge, judgement)
    assert (verdict["mask_sample"], verdict["failure_kind"]) == (True, "judge_failed")
    # verl's GDPO takes such a metric as a reward: it was 0.0
    metrics = constant_metrics(judge, judgement)
    assert math.isnan(metrics["CombinedJudge/part/right"])
    assert metrics["CombinedJudge/part/brief"] == 0.5


def test_a_part_that_was_not_asked_or_was_filtered_has_a_constant_metric(tmp_path: Path) -> None:
    judge = judge_for(parts(tmp_path))
    skipped = Judgement("judged", 0.0, False, metrics={"part/right": 0.0, "part/brief/skipped": 1.0})
    assert constant_metrics(judge, skipped)["CombinedJudge/part/brief"] == 0.0
    filtered = constant_metrics(judge, Judgement("filtered", -1.0, False, violations=("not_empty",)))
    assert (filtered["CombinedJudge/part/right"], filtered["CombinedJudge/part/seen/failed"]) == (-1.0, 0.0)


def test_the_samples_of_a_prompt_are_one_task(tmp_path: Path) -> None:
    # NeMo-Gym numbers its rollouts in the row: each sample was a task of its own
    ids = {
        decode_request(request(said("x"), answer="1", _ng_task_index=3, _ng_rollout_index=place))[0].task_id
        for place in range(3)
    }
    assert len(ids) == 1
    assert decode_request(request(said("x"), answer="2", _ng_task_index=3))[0].task_id not in ids
