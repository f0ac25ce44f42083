"""OpenRLHF 0.11 or newer, both ways in: a reward file (`--reward.remote_url my_reward.py`) and the HTTP wire.

A reward file is two lines:

    from agentscope_tuner.adapters.openrlhf import reward_file
    reward_func = reward_file("configs/math.yaml")

A failed verdict raises. OpenRLHF logs that and leaves the sample without a reward, which its trainer cannot batch: the
run ends. It never reads as 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentscope_tuner.adapters.rollout import (
    as_rollout,
    constant_metrics,
    ground_truth_metadata,
    without_end_markers,
)
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair, judge_for
from agentscope_tuner.task_judge.judgement import Judgement

# an overlap shorter than this may be chance, and then the prompt would be judged as the policy's answer
_SURE_CHARS = 32

Scored = dict[str, float | dict[str, float]]
RewardFile = Callable[[Sequence[str], Sequence[str], Sequence[Any]], Scored]


def reward_file(config: str | Path) -> RewardFile:
    """The `reward_func(queries, prompts, labels)` of a reward file; the judge is loaded now, once a process.

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


def decode_request(payload: Mapping[str, Any]) -> Pair:
    """The sample in OpenRLHF's `{"query": [prompt + response], "prompts": [...], "labels": [...]}`.

    The label is the ground truth: `task.metadata["answer"]`, and the fields of a record (a JSON object) beside it.

    Raises:
        JudgeError: the lists do not hold one sample, which is what OpenRLHF sends, or the query does not begin with its
            prompt, so that nobody can say which part the policy wrote.
    """
    columns = [payload.get(key) for key in ("query", "prompts", "labels")]
    if not all(isinstance(column, list | tuple) and len(column) == 1 for column in columns):
        shown = {key: _shape(payload.get(key)) for key in ("query", "prompts", "labels")}
        raise JudgeError(f"OpenRLHF sends lists of one query, one prompt and one label, got {shown!r}")
    (query,), (prompt,), (label,) = columns  # type: ignore[misc]
    if not isinstance(query, str) or not isinstance(prompt, str):
        raise JudgeError(f"query and prompt must be str, got {type(query).__name__} and {type(prompt).__name__}")
    return as_rollout(prompt, response_of(query, prompt), ground_truth_metadata(label))


def encode_response(judge: ConfiguredJudge, judgement: Judgement, *, unmeasured: float = math.nan) -> Scored:
    """Scalars, as OpenRLHF wants them of a single query; `unmeasured` stands for a metric that the verdict lacks.

    Raises:
        JudgeError: no verdict; over HTTP this must become an error status, which OpenRLHF's client retries.
    """
    reward = judge.reward_or_raise(judgement)
    return {
        "rewards": reward,
        "scores": reward,
        "extra_logs": {
            "acc": float(bool(judgement.is_success)),
            "filtered": float(judgement.status == "filtered"),
            "failed": float(judgement.status == "failed"),
            "judge_seconds": judgement.seconds,
            # ranks average them together: each must have the same
            **constant_metrics(judge, judgement, unmeasured),
        },
    }


def response_of(query: str, prompt: str) -> str:
    """What the policy wrote: `query` without `prompt` before it and without end-of-turn markers after it.

    OpenRLHF cuts long prompts from the left, so the query may begin anywhere within the prompt.

    Raises:
        JudgeError: no end of the prompt begins the query.
    """
    kept = len(prompt) if query.startswith(prompt) else _overlap(prompt, query)
    if kept < min(len(prompt), _SURE_CHARS):
        raise JudgeError(
            f"the query {query!r:.100} does not begin with its prompt {prompt!r:.100}: the tokenizer does not give "
            "back the text it was given, and where the response begins is unknown"
        )
    return without_end_markers(query[kept:])


def _overlap(prompt: str, query: str) -> int:
    """The length of the longest end of `prompt` that begins `query`, in linear time (Knuth, Morris and Pratt)."""
    pattern = query[: len(prompt)]
    fallback = [0] * len(pattern)
    matched = 0
    for index in range(1, len(pattern)):
        while matched and pattern[index] != pattern[matched]:
            matched = fallback[matched - 1]
        matched += pattern[index] == pattern[matched]
        fallback[index] = matched
    matched = 0
    for character in prompt:
        while matched and (matched == len(pattern) or character != pattern[matched]):
            matched = fallback[matched - 1]
        matched += bool(pattern) and character == pattern[matched]
    return matched


def _shape(column: object) -> str:
    return f"{len(column)} values" if isinstance(column, list | tuple) else type(column).__name__
