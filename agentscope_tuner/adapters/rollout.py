"""What adapters share: a trainer's sample as a task and an output, and a judge's metrics as trainers log them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentscope_tuner.records.formats.columns import truth_of
from agentscope_tuner.records.formats.sample import (
    Prompt,
    as_rollout,
    final_text,
    ground_truth_metadata,
    message_text,
    without_end_markers,
)
from agentscope_tuner.task_judge.batch import ConfiguredJudge, mean_metrics
from agentscope_tuner.task_judge.judgement import Judgement

__all__ = [
    "Prompt",
    "as_rollout",
    "batch_metrics",
    "constant_metrics",
    "current_step",
    "final_text",
    "ground_truth_metadata",
    "message_text",
    "named_metrics",
    "truth_of",
    "without_end_markers",
]


def current_step(trainer_state: object) -> int | None:
    """The training step that a trainer of transformers' kind is in; None where it does not say.

    It counts the steps that are over.
    """
    step = getattr(trainer_state, "global_step", None)
    return step + 1 if isinstance(step, int) else None


def batch_metrics(judgements: Sequence[Judgement]) -> dict[str, float]:
    """`success_rate` of those judged or filtered (absent when there are none), `filtered` and `failed` as shares of the
    batch, the mean `judge_seconds`, and the mean of each of the judge's own metrics over the verdicts that have it."""
    total = max(len(judgements), 1)
    failed = sum(judgement.status == "failed" for judgement in judgements)
    metrics = {
        **mean_metrics(judgements),
        "filtered": sum(judgement.status == "filtered" for judgement in judgements) / total,
        "failed": failed / total,
        "judge_seconds": sum(judgement.seconds for judgement in judgements) / total,
    }
    if len(judgements) > failed:
        metrics["success_rate"] = sum(bool(judgement.is_success) for judgement in judgements) / (
            len(judgements) - failed
        )
    return metrics


def named_metrics(judge: ConfiguredJudge, judgement: Judgement) -> dict[str, float]:
    """The judge's own metrics of a verdict, each under `<judge>/`: two judges of a run, or a trainer's own names, may
    have metrics of one name."""
    return {f"{judge.name}/{metric}": value for metric, value in judgement.metrics.items()}


def constant_metrics(judge: ConfiguredJudge, judgement: Judgement, unmeasured: float = math.nan) -> dict[str, float]:
    """`named_metrics` for trainers that want the same keys of every sample: the judge's `metric_names`, with
    `unmeasured` for a name that this verdict does not have.

    A part of a combined judge that was not asked adds nothing to the reward, and is 0.0 here: a mean over NaN would be
    no curve. `part/<name>/skipped` beside it tells how often that was so.
    """
    found = {f"{judge.name}/{metric}": judgement.metrics.get(metric, unmeasured) for metric in judge.metric_names}
    if judgement.reward is None:
        return found
    for metric in judge.metric_names:
        if metric.startswith("part/") and metric not in judgement.metrics:
            found[f"{judge.name}/{metric}"] = 0.0
    return found
