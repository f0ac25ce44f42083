"""verl: rows of its data sets with a response, and rows of the files under `trainer.rollout_data_dir`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentscope_tuner.records.formats.columns import first, text_of, truth_of
from agentscope_tuner.records.formats.sample import Pair, as_rollout, without_end_markers

_RESPONSES = ("response", "solution_str", "output", "responses")


def read(row: Mapping[str, Any]) -> Pair:
    """`{"data_source", "prompt": [messages], "reward_model": {"ground_truth"}, "extra_info", "response"}`, or a dumped
    `{"input", "output", "gts", "score", "step"}`.

    Raises:
        JudgeError: it has no prompt or no response.
    """
    prompt_key, prompt = first(row, "prompt", "input")
    answer_key, answer = first(row, *_RESPONSES)
    answer = answer[0] if isinstance(answer, list) and len(answer) == 1 else answer
    model, info = row.get("reward_model"), row.get("extra_info")
    info = info if isinstance(info, Mapping) else {}
    rest = {
        key: value for key, value in row.items() if key not in (prompt_key, answer_key, "reward_model", "extra_info")
    }
    # As in the adapter: extra_info may have an `answer` of its own, but the ground truth wins
    truth = truth_of(model, "ground_truth") if isinstance(model, Mapping) else truth_of(row, "ground_truth", "gts")
    metadata = {**rest, **info, **truth}
    if "index" in info and "data_source" in row:
        metadata.setdefault("task_id", f"{row['data_source']}/{info['index']}")
    return as_rollout(prompt, without_end_markers(text_of(answer, answer_key)), metadata)
