"""TRL: rows of its data sets with a completion, and rows of its completion logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.records.formats.columns import first, required, truth_of
from agentscope_tuner.records.formats.sample import Pair, as_rollout, is_chat


def read(row: Mapping[str, Any]) -> Pair:
    """`{"prompt": …, "completion": …, <columns>}`; both are texts or chat messages.

    Where there is no `completion`, `messages` may hold the whole conversation, whose last turns are the completion.

    Raises:
        JudgeError: it has no prompt or completion, or they are neither texts nor chat messages.
    """
    prompt: Any
    completion: Any
    if row.get("completion") is None and isinstance(row.get("messages"), list):
        prompt, completion = _split(row["messages"])
    else:
        prompt, completion = first(row, "prompt", "question")[1], required(row, "completion")
    for name, value in (("prompt", prompt), ("completion", completion)):
        if not isinstance(value, str) and not is_chat(value):
            raise JudgeError(f"{name} must be a text or chat messages, got {value!r:.100}", cause=Cause.INPUT)
    rest = {key: value for key, value in row.items() if key not in ("prompt", "completion", "messages")}
    truth = truth_of(row, "answer", "solution", "ground_truth")
    return as_rollout(prompt, completion, {**rest, **truth})


def _split(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    end = len(messages)
    while end and isinstance(messages[end - 1], Mapping) and messages[end - 1].get("role") in ("assistant", "tool"):
        end -= 1
    return messages[:end], messages[end:]
