"""Turns a trainer's sample into a task and an output: texts, chat messages, data set columns, ground truths."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

Pair = tuple[WorkflowTask, WorkflowOutput]

# A ground truth is a number, an expression or a small record; a longer text is an answer, and not parsed as JSON
_JSON_CHARS = 10_000

# The types of text blocks: of chat completions, and two of OpenAI's Responses
_TEXT_BLOCKS = ("text", "output_text", "input_text")

# Some trainers keep special tokens when they decode; the answer must end the same under every trainer
_END_MARKERS = (
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<|end|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "<eos>",
    "</s>",
)

Prompt = str | Sequence[Mapping[str, Any]]


def as_rollout(
    prompt: Prompt, completion: Prompt, metadata: Mapping[str, Any], *, gym_env: object = None
) -> tuple[WorkflowTask, WorkflowOutput]:
    """One sample of a trainer's batch as a task and its output.

    Args:
        prompt: plain text, or chat messages; the last user message is then the query.
        completion: plain text, or the chat messages that the policy added; see `final_text`.
        metadata: the dataset's columns. The task gets them, and so does the output, because there is no workflow here
            that would pass `target` and `nums` to the judge. `task_id` names the task; without one it is a digest of
            prompt and metadata.
        gym_env: the environment the episode ran in, for judges that ask the environment.
    """
    messages = [] if isinstance(prompt, str) else [dict(message) for message in prompt]
    asked = [message_text(message.get("content")) for message in messages if message.get("role") == "user"]
    query = prompt if isinstance(prompt, str) else (asked[-1] if asked else "")
    task_id = _named(metadata.get("task_id")) or _digest(prompt, metadata)
    task = Task(main_query=query, init_messages=messages, task_id=task_id, metadata=dict(metadata))
    output = WorkflowOutput(metadata={**metadata, "final_answer": final_text(completion)})
    if not isinstance(completion, str):
        output.metadata["messages"] = [dict(message) for message in completion]
    return WorkflowTask(task=task, gym_env=gym_env), output


def is_chat(value: object) -> bool:
    """Whether `value` is a list of chat messages that is not empty."""
    turns = value if isinstance(value, list) else []
    return bool(turns) and all(isinstance(turn, Mapping) and "role" in turn for turn in turns)


def final_text(completion: Prompt) -> str:
    """The policy's final answer: the text itself, or the last message when the assistant wrote it, else `""`.

    An episode that was cut off after a tool's answer has no final answer: an earlier message must not stand for it.
    """
    if isinstance(completion, str):
        return completion
    if not completion or completion[-1].get("role") != "assistant":
        return ""
    return message_text(completion[-1].get("content"))


def message_text(content: object) -> str:
    """The text of a chat message's content: a str, a list of blocks whose texts are joined, or None.

    Only text blocks count: a model's thoughts, for example, do not.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    blocks = [block for block in content if isinstance(block, Mapping)]
    texts = [block.get("text") for block in blocks if block.get("type", "text") in _TEXT_BLOCKS]
    return "".join(text for text in texts if isinstance(text, str))


def without_end_markers(text: str) -> str:
    """`text` without the end-of-turn markers of the common chat templates after it."""
    while ending := next((marker for marker in _END_MARKERS if text.endswith(marker)), None):
        text = text[: -len(ending)]
    return text


def ground_truth_metadata(ground_truth: object) -> dict[str, Any]:
    """A trainer's ground truth as task metadata: under `answer`, and the fields of a record beside it.

    A record is a mapping or a JSON object in a str, as data sets carry `{"target": 24, "numbers": [1, 2, 3, 4]}` in a
    single column. A record's own `answer` is the answer; otherwise the ground truth stays there as it came.
    """
    plain = _plain(ground_truth)
    record = _json_object(plain) if isinstance(plain, str) else plain
    return {"answer": plain, **record} if isinstance(record, dict) else {"answer": plain}


def _json_object(text: str) -> object:
    if not text.lstrip().startswith("{") or len(text) > _JSON_CHARS:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _plain(value: object) -> Any:
    """`value` without numpy's arrays and scalars, as Parquet columns hold them: judges cannot compare them by `==`."""
    if type(value).__module__ == "numpy":
        return _plain(value.tolist())  # type: ignore[attr-defined]
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _named(task_id: object) -> str:
    """A column's value as the task's id; empty where there is no id. Where a cell is missing, a data frame turns
    integers into floats and the missing cell into NaN; NaN as an id would put unrelated rows into one group.
    """
    plain = _plain(task_id)
    if isinstance(plain, float):
        return str(int(plain)) if plain.is_integer() else "" if math.isnan(plain) else str(plain)
    return "" if plain is None else str(plain)


def _digest(prompt: Prompt, metadata: Mapping[str, Any]) -> str:
    """An id that is equal for the completions of one advantage group, which share a prompt and its columns."""
    return hashlib.blake2b(repr((prompt, dict(metadata))).encode("utf-8", "replace"), digest_size=6).hexdigest()
