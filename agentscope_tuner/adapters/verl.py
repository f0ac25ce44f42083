"""verl 0.9 or newer: a custom reward function.

    reward:
      custom_reward_function:
        path: pkg://agentscope_tuner.adapters.verl
        name: compute_score
        reward_kwargs: {config: configs/math.yaml}

A failed verdict raises, and the `naive` and `dapo` reward managers let that end the run. Do not use `rate_limited`: it
turns exceptions and timeouts into a reward of 0.0, and this package cannot prevent that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from agentscope_tuner._run import loops
from agentscope_tuner.adapters.rollout import as_rollout, constant_metrics, ground_truth_metadata
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair, judge_for
from agentscope_tuner.task_judge.contract.judgement import Judgement

_ON_FAILED = ("raise", "mask")


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, Any] | None = None,
    *,
    config: str,
    on_failed: str = "raise",
    **verl_only: object,
) -> dict[str, float]:
    """Score one response. verl awaits it in its reward workers; each loads the judge once.

    Args:
        data_source: the data set's name; part of the task's id.
        solution_str: the response, decoded.
        ground_truth: a text or a number, which becomes `task.metadata["answer"]`; or a record, whose fields go into
            `task.metadata`.
        extra_info: becomes the rest of the metadata; its `question` is the query, its `index` the rest of the id.
        config: the judge's YAML, for `reward_kwargs`.
        on_failed: `raise`, or `mask` for a score of NaN where the installed verl leaves NaN out of its advantages.
        verl_only: arguments that verl adds (`reward_router_address` …); not used.

    Returns:
        `score`, `acc` (1.0 for a success), `filtered`, `failed`, `judge_seconds` and `<judge>/<metric>` for each of the
        judge's `metric_names`, always all of them, because verl takes the keys of a batch from its first sample.

    Raises:
        JudgeError: no verdict, unless masked or `on_error: zero` was configured.
        ConfigError: the judge cannot be loaded, or the installed verl does not mask; raised before any training step.
    """
    judge = _judge(config, on_failed)
    task, output = _pair(data_source, solution_str, ground_truth, extra_info)
    return _score(judge, await judge.ajudge(task, output), on_failed)


def compute_score_sync(*args: Any, **named: Any) -> dict[str, float]:
    """`compute_score` for the `remote` reward manager, which takes no async function."""
    return loops.run(compute_score(*args, **named))


def _judge(config: str, on_failed: str) -> ConfiguredJudge:
    if on_failed not in _ON_FAILED:
        raise ConfigError(f"reward_kwargs.on_failed must be one of {', '.join(_ON_FAILED)}, got {on_failed!r}")
    if on_failed == "mask" and not _verl_masks_nan():
        raise ConfigError(
            "reward_kwargs.on_failed: mask, but the installed verl takes a NaN score into its group's baseline, "
            "where it spoils every advantage: use on_failed: raise"
        )
    return judge_for(config)


def _pair(data_source: str, solution: str, ground_truth: object, extra_info: Mapping[str, Any] | None) -> Pair:
    info = dict(extra_info or {})
    # GSM8K's extra_info has an `answer` of its own, the worked solution: the ground truth goes last and wins
    metadata = {"data_source": data_source, **info, **ground_truth_metadata(ground_truth)}
    # the column's own name, for `reads`
    metadata.setdefault("reward_model", {"ground_truth": metadata["answer"]})
    # an empty cell names no row: None, or NaN
    if (index := info.get("index")) is not None and index == index:
        metadata.setdefault("task_id", f"{data_source}/{index}")
    question = info.get("question")
    return as_rollout(question if isinstance(question, str) else "", solution, metadata)


def _score(judge: ConfiguredJudge, judgement: Judgement, on_failed: str) -> dict[str, float]:
    reward = judge.reward(judgement) if on_failed == "mask" else judge.reward_or_raise(judgement)
    return {
        "score": math.nan if reward is None else reward,
        "acc": math.nan if reward is None else float(bool(judgement.is_success)),
        "filtered": float(judgement.status == "filtered"),
        "failed": float(judgement.status == "failed"),
        "judge_seconds": judgement.seconds,
        **constant_metrics(judge, judgement),
    }


@cache
def _verl_masks_nan() -> bool:
    """Whether the installed verl masks NaN: beside a NaN, its group must get finite, distinct advantages."""
    import numpy
    import torch
    from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage

    scores = torch.tensor([[math.nan], [0.0], [1.0]])
    advantages, _ = compute_grpo_outcome_advantage(scores, torch.ones(3, 1), numpy.array(["group"] * 3))
    return bool(torch.isfinite(advantages).all()) and bool(advantages[1] < advantages[2])
