"""Trinity-RFT: the experiences that its file storage writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.records.formats.columns import truth_of
from agentscope_tuner.records.formats.sample import Pair, as_rollout, is_chat, without_end_markers


def read(row: Mapping[str, Any]) -> Pair:
    """`{"eid", "prompt_text", "response_text" or "messages", "info", "reward"}`; the truth is looked for in `info`.

    Raises:
        JudgeError: it has neither a prompt with a response nor messages.
    """
    eid = row.get("eid")
    names = eid if isinstance(eid, Mapping) else {}
    info = row.get("info")
    own = dict(info) if isinstance(info, Mapping) else {}
    if names.get("task") not in (None, ""):
        own.setdefault("task_id", f"{names.get('batch', '')}/{names['task']}".lstrip("/"))
    if names.get("batch") not in (None, ""):
        own.setdefault("step", names["batch"])
    metadata = {**own, **truth_of(own, "answer", "ground_truth", "truth")}
    prompt, response, messages = row.get("prompt_text"), row.get("response_text"), row.get("messages")
    if is_chat(messages) and isinstance(messages, list):
        asked = max((place for place, turn in enumerate(messages) if turn["role"] == "user"), default=-1) + 1
        return as_rollout(messages[:asked], messages[asked:], metadata)
    if not isinstance(prompt, str) or not isinstance(response, str):
        raise JudgeError(
            f"an experience needs prompt_text and response_text, or messages, got {sorted(row)!r}", cause=Cause.INPUT
        )
    return as_rollout(prompt, without_end_markers(response), metadata)
