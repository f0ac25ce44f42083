"""ToolCallJudge: an agent's tool calls, compared with the expected ones by name and arguments."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import input_error, reference_error
from agentscope_tuner.task_judge.base_judge import Reward, TextJudge, as_list, final_answer
from agentscope_tuner.verify.find import after_thinking
from agentscope_tuner.verify.strict_json import NotStrictJsonError, comparable, read_json, stated_json
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

#: Comparing calls in order takes time for each pair of a made and an expected call, so more calls are refused.
MOST_CALLS = 128
_ARGUMENTS = ("arguments", "parameters", "input")
_BLOCKS = ("tool_use", "tool_call", "function_call")


class ToolCall(NamedTuple):
    """Attributes:
    name: the name of the tool.
    arguments: the arguments, in the form for comparisons that `strict_json.comparable` makes.
    """

    name: str
    arguments: object


class CallMatch(NamedTuple):
    """Attributes:
    share: the share of right calls, 0.0 to 1.0; see `compare_calls`.
    equal: whether all calls are right.
    reason: the number of right calls, in words.
    """

    share: float
    equal: bool
    reason: str


def read_call(raw: object) -> ToolCall:
    """Read one call, in OpenAI's form `{"function": {"name": ..., "arguments": ...}}` or as the inner object alone.

    The arguments may also be called `parameters` or `input`. They are an object, or an object as JSON text.

    Raises:
        ValueError: `raw` is not a call; the message names the reason.
    """
    if isinstance(raw, Mapping) and isinstance(raw.get("function"), Mapping):
        raw = raw["function"]
    if not isinstance(raw, Mapping) or not isinstance(raw.get("name"), str) or not raw["name"]:
        raise ValueError(f"a call needs a `name`, got {raw!r:.100}")
    given = [key for key in _ARGUMENTS if key in raw]
    if len(given) > 1:
        raise ValueError(f"a call with both {given[0]!r} and {given[1]!r}")
    arguments = raw[given[0]] if given else {}
    if isinstance(arguments, str):
        # A tool without parameters is often called with an empty text as arguments
        arguments = read_json(arguments.strip()) if arguments.strip() else {}
    if not isinstance(arguments, Mapping):
        raise ValueError(f"the arguments of {raw['name']!r:.40} must be an object, got {arguments!r:.100}")
    return ToolCall(raw["name"], comparable(dict(arguments)))


def calls_in_messages(messages: Sequence[Mapping[str, Any]]) -> list[object]:
    """The assistant's raw calls in chat messages, in order: from `tool_calls`, and from blocks of its content."""
    found: list[object] = []
    for message in messages:
        if message.get("role") != "assistant":
            continue
        content = message.get("content")
        if isinstance(content, list):
            found += [block for block in content if isinstance(block, Mapping) and block.get("type") in _BLOCKS]
        found += message.get("tool_calls") or []
    return found


def calls_in_text(text: str) -> list[object]:
    """The raw calls in a text: each in `<tool_call>` tags, or all of the text as one JSON object or list.

    Without tags, a text with one code block is read as the content of that block. A call in tags that is not valid
    JSON stays in the list as text, so that it counts as a wrong call.
    """
    head, *blocks = text.split("<tool_call>")
    if blocks:
        return [_loaded(*block.partition("</tool_call>")[:2]) for block in blocks]
    try:
        value = read_json(stated_json(head, fence=True))
    except NotStrictJsonError:
        # The text is prose, so it calls no tool
        return []
    if isinstance(value, Mapping) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    value = value if isinstance(value, list) else [value]
    # `42` and `[1, 2]` are JSON, too, but they are answers and no calls
    return value if any(isinstance(item, Mapping) for item in value) else []


def _loaded(block: str, closing: str) -> object:
    if not closing:
        return block
    try:
        return read_json(block.strip())
    except NotStrictJsonError:
        return block


def compare_calls(made: Sequence[object], expected: Sequence[ToolCall], *, ordered: bool, extra: bool) -> CallMatch:
    """The share of right calls: `right / max(expected, made)`, or `right / expected` where `extra` calls are allowed.

    So an extra call costs as much as a missing call. A call that is expected twice must be made twice. Where no call is
    expected, making no call is right.

    Args:
        made: the raw calls; a call that cannot be read is wrong.
        expected: the expected calls.
        ordered: whether the order counts; the longest common subsequence of calls is then right.
        extra: whether calls beyond the expected calls are allowed.
    """
    if len(made) > MOST_CALLS:
        return CallMatch(0.0, False, f"over the bounds: {len(made):,} calls, at most {MOST_CALLS} are compared")
    calls = [_or_none(raw) for raw in made]
    right = _in_order(calls, expected) if ordered else (Counter(calls) & Counter(expected)).total()
    of = len(expected) if extra else max(len(expected), len(made))
    reason = f"{right} of {len(expected)} expected calls, {len(made)} made"
    return CallMatch(right / of if of else 1.0, right == of, reason)


def _or_none(raw: object) -> ToolCall | None:
    try:
        return read_call(raw)
    except ValueError:
        return None


def _in_order(made: Sequence[ToolCall | None], expected: Sequence[ToolCall]) -> int:
    """The length of the longest common subsequence."""
    longest = [0] * (len(expected) + 1)
    for call in made:
        before = 0
        for place, wanted in enumerate(expected, 1):
            here = longest[place]
            longest[place] = before + 1 if call == wanted else max(here, longest[place - 1])
            before = here
    return longest[-1]


class ToolCallConfig(StrictSection):
    """ToolCallJudge's `astuner.task_judge.judge_kwargs`."""

    #: whether the calls must come in the reference's order
    order: Literal["any", "strict"] = "any"
    #: whether calls beyond the expected ones are allowed, or punished
    allow_extra: bool = False
    #: whether an agent that made some of the calls gets a part of the reward
    partial: bool = True


class ToolCallJudge(TextJudge[ToolCallConfig]):
    """The share of the calls in `task.metadata["answer"]` that the agent made; success is these calls and no other.

    The reference is a list of calls, as OpenAI writes them or flat, or its JSON as text; an empty one expects no call.
    The agent's calls stand in the `tool_calls` of the assistant's messages in `output.metadata["messages"]`; where
    there are none, in `final_answer`, as JSON or in `<tool_call>` tags. Names and arguments must be equal, arguments as
    JSON: 1.0 is 1, and `true` is not; see `compare_calls`.

    Raises:
        JudgeError: of a verdict: the reference cannot be read, or the messages are none.
    """

    settings_class = ToolCallConfig
    metric_names = ("calls_right",)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        expected, settings = self.reference(task.task), self.settings
        made = _made(output)
        share, equal, reason = compare_calls(
            made, expected, ordered=settings.order == "strict", extra=settings.allow_extra
        )
        paid = share if settings.partial else float(equal)
        return Reward(paid, equal, reason=reason, metrics={"calls_right": share})

    def reference(self, task: Task) -> list[ToolCall]:
        """See TextJudge: the expected calls."""
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
            form = '[{"name": "search", "arguments": {"city": "Rome"}}]'
            raise reference_error(f"the reference answer {value!r:.100}: {exc}; write JSON such as {form}") from exc


def _made(output: WorkflowOutput) -> list[object]:
    if (messages := output.metadata.get("messages")) is not None:
        if not isinstance(messages, list) or not all(isinstance(message, Mapping) for message in messages):
            raise input_error(f"output.metadata['messages'] must be chat messages, got {messages!r:.100}")
        if not all(isinstance(message.get("tool_calls") or [], list) for message in messages):
            raise input_error("a message's tool_calls must be a list")
        if calls := calls_in_messages(messages):
            return calls
        if "final_answer" not in output.metadata:
            return []
    return calls_in_text(after_thinking(final_answer(output)))
