"""slime and miles: the samples of the remote wire, and rows of data sets and dumps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.records.formats.columns import first, required
from agentscope_tuner.records.formats.sample import Pair, as_rollout, ground_truth_metadata, without_end_markers


def read(row: Mapping[str, Any]) -> Pair:
    """A row of a data set or a dump: `prompt` (or `messages`), `response`, `label` and `metadata`.

    Raises:
        JudgeError: it has no prompt or response.
    """
    prompt = first(row, "prompt", "messages", "input")[1]
    metadata = row.get("metadata")
    own = metadata if isinstance(metadata, Mapping) else {}
    if row.get("group_index") is not None:
        own = {"task_id": f"group/{row['group_index']}", **own}
    return pair(prompt, required(row, "response"), row.get("label", row.get("answer")), own)


def as_pair(sample: Any) -> Pair:
    """A `Sample` as a task and its output: the label is the ground truth; the sample's metadata are added.

    Raises:
        JudgeError: the sample has no prompt or response of slime's type.
    """
    metadata = getattr(sample, "metadata", None)
    return pair(
        getattr(sample, "prompt", None),
        getattr(sample, "response", None),
        getattr(sample, "label", None),
        metadata if isinstance(metadata, Mapping) else {},
    )


def decode_request(payload: Mapping[str, Any]) -> Pair:
    """The sample in slime's `{"prompt": …, "response": …, "label": …}`.

    Raises:
        JudgeError: the request has another shape.
    """
    missing = [key for key in ("prompt", "response", "label") if key not in payload]
    if missing:
        raise JudgeError(f"slime sends prompt, response and label, got {sorted(payload)!r}", cause=Cause.INPUT)
    return pair(payload["prompt"], payload["response"], payload["label"], {})


def pair(prompt: object, response: object, label: object, metadata: Mapping[str, Any]) -> Pair:
    """A sample's parts as a task and its output; see `as_pair`."""
    messages = isinstance(prompt, list) and all(isinstance(message, Mapping) for message in prompt)
    if not isinstance(prompt, str) and not messages:
        raise JudgeError(f"a sample's prompt must be a str or chat messages, got {prompt!r:.100}", cause=Cause.INPUT)
    if not isinstance(response, str):
        raise JudgeError(f"a sample's response must be a str, got {response!r:.100}", cause=Cause.INPUT)
    own = {key: value for key, value in metadata.items() if key != "judgement"}
    truth = ground_truth_metadata(own.get("answer") if label is None else label)
    return as_rollout(prompt, without_end_markers(response), {**own, **truth})  # type: ignore[arg-type]
