"""NeMo-Gym 0.7 or newer: the `/verify` wire, decoded and encoded; the reward service speaks it.

A failed verdict is the sample marked as NeMo-Gym's own `judge_failsafe` marks it: `mask_sample` at the top, where
NeMo-Gym reads it, and under `instance_config`, where NeMo RL does, with its kind and reason. NeMo-Gym keeps such
samples out of its scores. NeMo RL leaves them out of the loss, but their 0.0 still stands in their group's baseline.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentscope_tuner.adapters.rollout import as_rollout, ground_truth_metadata, message_text, named_metrics
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair
from agentscope_tuner.task_judge.judgement import Judgement

# of nemo_gym.failure_kinds: the judge, not the environment or the policy
FAILURE_KIND = "judge_failed"

_PROTOCOL_FIELDS = frozenset({"responses_create_params", "response", "verifier_metadata"})


def decode_request(payload: Mapping[str, Any]) -> Pair:
    """The rollout in a request: `{"responses_create_params": {"input": …}, "response": <OpenAI Response>, …}`.

    The dataset's own fields, beside those or under `verifier_metadata`, become `task.metadata`; where there is no
    `answer` among them, `expected_answer` or `ground_truth` is the ground truth.

    Raises:
        JudgeError: the request is not of that shape.
    """
    params, response = payload.get("responses_create_params"), payload.get("response")
    if not isinstance(params, Mapping) or not isinstance(response, Mapping):
        raise JudgeError(f"/verify takes responses_create_params and response, two objects, got {sorted(payload)!r}")
    output = response.get("output")
    if not isinstance(output, list) or not all(isinstance(item, Mapping) for item in output):
        raise JudgeError(f"response.output must be a list of objects, got {output!r:.200}")
    prompt = params.get("input")
    if isinstance(prompt, list):
        # the rest are calls and their outputs of earlier turns
        prompt = [item for item in prompt if isinstance(item, Mapping) and "role" in item]
    elif not isinstance(prompt, str):
        raise JudgeError(f"responses_create_params.input must be a str or a list, got {type(prompt).__name__}")
    return as_rollout(prompt, _last_message(output), _metadata(payload))


def encode_response(payload: Mapping[str, Any], judge: ConfiguredJudge, judgement: Judgement) -> dict[str, Any]:
    """The request's fields again, with `reward`, `mask_sample`, `failure_kind` and `failure_reason`.

    `is_success`, `filtered`, `judge_seconds` and the judge's own metrics come along: NeMo-Gym averages numbers that a
    verifier adds.
    """
    reward = judge.reward(judgement)
    failed = judgement.status == "failed"
    return {
        **payload,
        **named_metrics(judge, judgement),
        "reward": 0.0 if reward is None else reward,
        "mask_sample": reward is None,
        "failure_kind": FAILURE_KIND if failed else None,
        "failure_reason": judgement.error if failed else None,
        "is_success": float(bool(judgement.is_success)),
        "filtered": float(judgement.status == "filtered"),
        "judge_seconds": judgement.seconds,
        **(_masked(payload, judgement) if reward is None else {}),
    }


def _masked(payload: Mapping[str, Any], judgement: Judgement) -> dict[str, Any]:
    """Beside the top-level fields: where NeMo RL looks, and what sends the row to NeMo-Gym's file of failures."""
    given = payload.get("instance_config")
    return {
        "instance_config": {**(given if isinstance(given, Mapping) else {}), "mask_sample": True},
        "_ng_failure_class": FAILURE_KIND,
        "_ng_failure_judge_error": judgement.error,
    }


def _last_message(output: list[Mapping[str, Any]]) -> str:
    """The text of the last item, when it is the assistant's message: an episode that ends in a call has no answer."""
    if not output or output[-1].get("type", "message") != "message":
        return ""
    return message_text(output[-1].get("content"))


def _metadata(payload: Mapping[str, Any]) -> dict[str, Any]:
    nested = payload.get("verifier_metadata")
    fields = {
        **(dict(nested) if isinstance(nested, Mapping) else {}),
        **{key: value for key, value in payload.items() if key not in _PROTOCOL_FIELDS},
    }
    if "answer" not in fields:
        truth = fields.get("expected_answer", fields.get("ground_truth"))
        if truth is not None:
            return {**ground_truth_metadata(truth), **fields}
    return fields
