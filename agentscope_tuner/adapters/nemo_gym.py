"""NeMo-Gym 0.7 or newer: reads requests and writes responses of `/verify`, for the reward service.

A failed verdict is the sample marked as NeMo-Gym's own `judge_failsafe` marks it: `mask_sample` at the top, where
NeMo-Gym reads it, and under `instance_config`, where NeMo RL does, with its kind and reason. NeMo-Gym keeps such
samples out of its scores. NeMo RL leaves them out of the loss, but their 0.0 still stands in their group's baseline.
The service stops a run without verdicts by an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentscope_tuner.adapters.rollout import components_of, named_metrics
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.records.formats.trainers import decode_nemo_gym_request as decode_request
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.contract.judgement import Judgement

__all__ = ["FAILURE_KIND", "decode_request", "encode_response"]

# A kind of nemo_gym.failure_kinds: the judge failed, not the environment or the policy
FAILURE_KIND = "judge_failed"


def encode_response(payload: Mapping[str, Any], judge: ConfiguredJudge, judgement: Judgement) -> dict[str, Any]:
    """The request's fields again, with `reward`, `mask_sample`, `failure_kind` and `failure_reason`.

    `is_success`, `filtered`, `judge_seconds` and the judge's own metrics are added: NeMo-Gym averages numbers that a
    verifier adds. A combined judge's parts are `reward_components`, as in its BaseMultiRewardVerifyResponse; where one
    of them has no verdict, the sample is masked.
    """
    parts, judgement = _components(judge, judgement)
    try:
        reward = judge.reward(judgement)
    # turns, which NeMo-Gym would drop
    except JudgeError as error:
        reward, judgement = None, Judgement.failed(error, seconds=judgement.seconds)
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
        **({"reward_components": parts} if parts else {}),
        **(_masked(payload, judgement) if reward is None else {}),
    }


def _components(judge: ConfiguredJudge, judgement: Judgement) -> tuple[dict[str, float], Judgement]:
    """The named rewards of the parts, and the verdict. If a part has no verdict, the verdict is a failed one."""
    without = dict.fromkeys(judge.component_names, 0.0)
    if judgement.reward is None:
        return without, judgement
    try:
        return components_of(judge, judgement), judgement
    except JudgeError as error:
        return without, Judgement.failed(error, seconds=judgement.seconds)


def _masked(payload: Mapping[str, Any], judgement: Judgement) -> dict[str, Any]:
    """The fields that mark a failed sample: NeMo RL reads `mask_sample` in `instance_config`, and NeMo-Gym writes a row
    with the other fields to its file of failures.
    """
    given = payload.get("instance_config")
    return {
        "instance_config": {**(given if isinstance(given, Mapping) else {}), "mask_sample": True},
        "_ng_failure_class": FAILURE_KIND,
        "_ng_failure_judge_error": judgement.error,
    }
