"""OpenRLHF 0.11 or newer, both ways in: a reward file (`--reward.remote_url my_reward.py`) and the HTTP wire.

A reward file is two lines:

    from agentscope_tuner.adapters.openrlhf import reward_file
    reward_func = reward_file("configs/math.yaml")

A failed verdict raises. OpenRLHF logs that and leaves the sample without a reward, which its trainer cannot batch: the
run ends. It never reads as 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agentscope_tuner.adapters.rollout import constant_metrics, verdict_flags
from agentscope_tuner.records.formats.trainers import decode_openrlhf_request as decode_request
from agentscope_tuner.records.formats.trainers import response_of
from agentscope_tuner.task_judge.batch import ConfiguredJudge, judge_for
from agentscope_tuner.task_judge.contract.judgement import Judgement

__all__ = ["decode_request", "encode_response", "response_of", "reward_file"]

Scored = dict[str, float | dict[str, float]]
RewardFile = Callable[[Sequence[str], Sequence[str], Sequence[Any]], Scored]


def reward_file(config: str | Path) -> RewardFile:
    """The `reward_func(queries, prompts, labels)` of a reward file; the judge is loaded now, once for each process.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    judge = judge_for(config)

    def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> Scored:
        """Score one query; OpenRLHF calls this on a thread for every sample.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
        """
        pair = decode_request({"query": queries, "prompts": prompts, "labels": labels})
        return encode_response(judge, judge.judge(*pair))

    return reward_func


def encode_response(judge: ConfiguredJudge, judgement: Judgement, *, unmeasured: float = math.nan) -> Scored:
    """The response to a single query, in scalars as OpenRLHF reads them; `unmeasured` replaces a metric that the
    verdict lacks.

    Raises:
        JudgeError: no verdict. The HTTP service must turn it into an error status, which OpenRLHF's client retries.
    """
    reward = judge.reward_or_raise(judgement)
    return {
        "rewards": reward,
        "scores": reward,
        "extra_logs": {
            "acc": float(bool(judgement.is_success)),
            **verdict_flags(judgement),
            # Ranks average the metrics together, so each rank must have the same names
            **constant_metrics(judge, judgement, unmeasured),
        },
    }
