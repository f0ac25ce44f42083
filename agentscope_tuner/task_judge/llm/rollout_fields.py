"""The fields of a rollout that judge models see: paths such as `output.metadata.final_answer`, checked at load."""

from __future__ import annotations

import difflib
import json
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
        JudgeError: there is no value at `path`.
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
    return _turns(value) if _is_messages(value) else value


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


def _turns(messages: list[Mapping[str, Any]]) -> Trajectory:
    return Trajectory(f"({message['role']})\n{_content(message)}" for message in messages)


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    parts = [part.get("text", part) if isinstance(part, Mapping) else part for part in parts]
    parts = [*parts, message.get("tool_calls")]
    texts = [part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=str) for part in parts]
    return "\n".join(text for part, text in zip(parts, texts, strict=True) if part)
