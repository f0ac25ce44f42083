"""ToolCallJudge: compares an agent's tool calls, with their arguments, with the expected calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.task_judge.base_judge import Reward, final_answer
from agentscope_tuner.task_judge.text_judge import TextJudge, as_list, read_kwargs
from agentscope_tuner.verify.places import after_thinking
from agentscope_tuner.verify.text.tool_calls import (
    MOST_CALLS,
    ToolCall,
    calls_in_messages,
    calls_in_text,
    compare_calls,
    read_call,
)
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask


class ToolCallConfig(StrictSection):
    """ToolCallJudge's `astuner.task_judge.judge_kwargs`."""

    #: whether the calls must come in the reference's order
    order: Literal["any", "strict"] = "any"
    #: whether calls beyond the expected ones are allowed, or punished
    allow_extra: bool = False
    #: whether an agent that made some of the calls gets a part of the reward
    partial: bool = True


class ToolCallJudge(TextJudge):
    """The share of the calls in `task.metadata["answer"]` that the agent made; success is these calls and no other.

    The reference is a list of calls, as OpenAI writes them or flat, or its JSON as text; an empty one expects no call.
    The agent's calls stand in the `tool_calls` of the assistant's messages in `output.metadata["messages"]`; where
    there are none, in `final_answer`, as JSON or in `<tool_call>` tags. Names and arguments must be equal, arguments as
    JSON: 1.0 is 1, and `true` is not; see `verify.text.tool_calls`.

    Raises:
        JudgeError: of a verdict: the reference cannot be read, or the messages are none.
    """

    metric_names = ("calls_right",)

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._settings = read_kwargs(ToolCallConfig, config)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        expected, settings = _expected(task.task), self._settings
        made = _made(output)
        share, equal, reason = compare_calls(
            made, expected, ordered=settings.order == "strict", extra=settings.allow_extra
        )
        paid = share if settings.partial else float(equal)
        return Reward(paid, equal, reason=reason, metrics={"calls_right": share})

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: `missing` or `unreadable`."""
        try:
            _expected(task)
        except JudgeError as error:
            return f"{'missing' if task.metadata.get('answer') is None else 'unreadable'}: {error.message}"
        return None


def _expected(task: Task) -> list[ToolCall]:
    value = task.metadata.get("answer")
    try:
        if isinstance(value, str):
            value = json.loads(value)
        calls = [value] if isinstance(value, Mapping) else as_list(value)
        if calls is None:
            raise ValueError("a list of calls is needed, [] where none is expected")
        if len(calls) > MOST_CALLS:
            raise ValueError(f"{len(calls)} calls, at most {MOST_CALLS} are compared")
        return [read_call(raw) for raw in calls]
    except (ValueError, RecursionError) as exc:
        raise JudgeError(f"the reference answer {value!r:.100}: {exc}", cause=Cause.REFERENCE) from exc


def _made(output: WorkflowOutput) -> list[object]:
    messages = output.metadata.get("messages")
    if messages is not None:
        if not isinstance(messages, list) or not all(isinstance(message, Mapping) for message in messages):
            raise JudgeError(
                f"output.metadata['messages'] must be chat messages, got {messages!r:.100}", cause=Cause.INPUT
            )
        if not all(isinstance(message.get("tool_calls") or [], list) for message in messages):
            raise JudgeError("a message's tool_calls must be a list", cause=Cause.INPUT)
        if calls := calls_in_messages(messages):
            return calls
        if "final_answer" not in output.metadata:
            return []
    return calls_in_text(after_thinking(final_answer(output)))
