"""The fields of a rollout that judge models see: paths such as `output.metadata.final_answer`, checked at load."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from typing import Any

from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.graders.prompt import Trajectory
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

#: The default paths of a grader's variables.
USUAL_PATHS = {
    "response": "output.metadata.final_answer",
    "query": "task.main_query",
    "ground_truth": "task.metadata.answer",
}
_ROOTS = {"task": tuple(Task.model_fields), "output": tuple(WorkflowOutput.model_fields)}


def check_path(path: str, where: str) -> None:
    """Refuse a path that cannot lead anywhere.

    Raises:
        ConfigError: names the key, the path and the nearest field.
    """
    root, *rest = path.split(".")
    if root not in _ROOTS or not rest or not all(rest):
        raise ConfigError(f"{where}: must begin with task. or output., such as {USUAL_PATHS['response']}, got {path!r}")
    if rest[0] not in _ROOTS[root]:
        nearest = difflib.get_close_matches(rest[0], _ROOTS[root], n=1)
        hint = f"did you mean {nearest[0]!r}? " if nearest else ""
        raise ConfigError(f"{where}: {path!r}: {root} has no {rest[0]!r}; {hint}it has {', '.join(_ROOTS[root])}")


def read_path(path: str, task: WorkflowTask, output: WorkflowOutput) -> Any:
    """The value at `path`; chat messages become a `Trajectory`.

    Raises:
        JudgeError: there is no value at `path`, or a message there holds an image for the policy.
    """
    root, *rest = path.split(".")
    value: Any = task.task if root == "task" else output
    for index, part in enumerate(rest):
        try:
            value = value[part] if isinstance(value, Mapping) else getattr(value, part)
        except (KeyError, AttributeError) as exc:
            so_far = ".".join([root, *rest[:index]])
            known = sorted(map(str, value)) if isinstance(value, Mapping) else []
            cause = Cause.REFERENCE if root == "task" else Cause.INPUT
            raise JudgeError(f"{path} is missing: {so_far} has no {part!r}, only {known!r:.300}", cause=cause) from exc
    return _turns(value, path) if _is_messages(value) else value


def read_response(path: str, task: WorkflowTask, output: WorkflowOutput) -> str | Trajectory:
    """The answer at `path`.

    Raises:
        JudgeError: there is none, or it is neither a text nor chat messages.
    """
    response = read_path(path, task, output)
    if not isinstance(response, str | Trajectory):
        raise JudgeError(f"{path} must be a text or chat messages, got {type(response).__name__}", cause=Cause.INPUT)
    return response


def as_shown(value: Any) -> Any:
    """A value as a judge model is shown it: a number as text, for references are often numbers; and NaN, which is how
    data frames write an empty cell, as None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return str(value) if value == value else None


def _is_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_message, value))


def _is_message(item: Any) -> bool:
    return isinstance(item, Mapping) and "role" in item and ("content" in item or "tool_calls" in item)


def _turns(messages: list[Mapping[str, Any]], path: str) -> Trajectory:
    roles = [str(message["role"]) for message in messages]
    texts = [_content(message, role, path) for message, role in zip(messages, roles, strict=True)]
    return Trajectory(texts, roles)


def _content(message: Mapping[str, Any], role: str, path: str) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = [_part(part, role, path) for part in parts]
    if calls := message.get("tool_calls"):
        texts.append(json.dumps(calls, ensure_ascii=False, default=str))
    return "\n".join(text for text in texts if text)


def _part(part: Any, role: str, path: str) -> str:
    """One part of a message as text.

    Raises:
        JudgeError: the part is an image or another file, in a message that the policy did not cause.
    """
    if part is None or isinstance(part, str):
        return part or ""
    kind = str(part.get("type", "")) if isinstance(part, Mapping) else ""
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    if kind and not _IS_FILE.search(kind):
        return json.dumps(part, ensure_ascii=False, default=str)
    if role in _NOT_THE_POLICY:
        raise JudgeError(
            f"{path} holds a part of type {kind!r} in a message of {role!r}, and judge models are shown texts alone: "
            "name a path of text under reads, or describe the file in a text part",
            cause=Cause.INPUT,
        )
    # A policy must not take away a verdict by a picture, so it is left out and said
    return f"(a part of type {kind or type(part).__name__!r}, not shown)"


_IS_FILE = re.compile(r"image|audio|video|file|document|media|data", re.IGNORECASE)
_NOT_THE_POLICY = frozenset({"system", "user", "developer"})
