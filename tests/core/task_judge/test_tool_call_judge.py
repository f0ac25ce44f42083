"""ToolCallJudge: calls counted by hand, in messages and in text, and calls that are not the expected ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentscope_tuner import ConfigError, Task, WorkflowOutput, WorkflowTask
from tests.text_judges import MISSING, ask, ask_hostile, built

PARIS = {"name": "weather", "arguments": {"city": "Paris", "days": 2}}
ROME = {"name": "weather", "arguments": {"city": "Rome", "days": 2}}
MAIL = {"name": "mail", "arguments": {"to": "ada@example.com"}}


def messages(*calls: Any) -> dict[str, Any]:
    """An agent's trajectory with one message for each call."""
    turns: list[dict[str, Any]] = [{"role": "user", "content": "What is the weather?", "tool_calls": [MAIL]}]
    for number, call in enumerate(calls):
        turns.append({"role": "assistant", "content": None, "tool_calls": [call]})
        turns.append({"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(ROME)})
    return {"messages": [*turns, {"role": "assistant", "content": "It rains."}]}


def openai(call: dict[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
    return {"id": "c0", "type": "function", "function": function}


@pytest.mark.parametrize(
    ("kwargs", "expected", "made", "reward", "success"),
    [
        ({}, [PARIS], [PARIS], 1.0, True),
        ({}, [PARIS], [openai(PARIS)], 1.0, True),
        ({}, [openai(PARIS)], [PARIS], 1.0, True),
        ({}, PARIS, [PARIS], 1.0, True),
        ({}, json.dumps([PARIS]), [PARIS], 1.0, True),
        ({}, [PARIS], [], 0.0, False),
        ({}, [PARIS], [ROME], 0.0, False),
        # right / max(expected, made)
        ({}, [PARIS, MAIL], [PARIS], 0.5, False),
        ({}, [PARIS, MAIL], [PARIS, ROME], 0.5, False),
        ({}, [PARIS], [PARIS, ROME], 0.5, False),
        ({}, [PARIS], [PARIS, PARIS], 0.5, False),
        ({}, [PARIS, PARIS], [PARIS], 0.5, False),
        ({}, [PARIS, PARIS], [PARIS, PARIS], 1.0, True),
        ({}, [PARIS, MAIL, ROME], [MAIL, PARIS, ROME], 1.0, True),
        # in order: MAIL ROME, or PARIS ROME, is the longest common subsequence
        ({"order": "strict"}, [PARIS, MAIL, ROME], [MAIL, PARIS, ROME], 2 / 3, False),
        ({"order": "strict"}, [PARIS, MAIL, ROME], [PARIS, MAIL, ROME], 1.0, True),
        ({"order": "strict"}, [PARIS, MAIL], [MAIL, PARIS], 0.5, False),
        ({"allow_extra": True}, [PARIS], [ROME, PARIS, MAIL], 1.0, True),
        ({"allow_extra": True, "order": "strict"}, [PARIS, MAIL], [ROME, PARIS, ROME, MAIL], 1.0, True),
        ({"partial": False}, [PARIS, MAIL], [PARIS], 0.0, False),
        # no call is expected
        ({}, [], [], 1.0, True),
        ({}, [], [PARIS], 0.0, False),
    ],
)
def test_calls_by_hand(kwargs: dict[str, Any], expected: Any, made: list[Any], reward: float, success: bool) -> None:
    judge = built("tool_call", **kwargs)
    for judgement in (
        ask(judge, "It rains.", expected, output=messages(*made)),
        ask(judge, json.dumps(made), expected),
    ):
        assert judgement.reward == pytest.approx(reward)
        assert judgement.is_success is success


@pytest.mark.parametrize(
    ("call", "reward"),
    [
        ({"name": "weather", "arguments": '{"days": 2.0, "city": "Paris"}'}, 1.0),
        ({"name": "weather", "parameters": {"city": "Paris", "days": 2}}, 1.0),
        ({"name": "weather", "input": {"city": "Paris", "days": 2}}, 1.0),
        ({"name": "Weather", "arguments": {"city": "Paris", "days": 2}}, 0.0),
        ({"name": "weather", "arguments": {"city": "paris", "days": 2}}, 0.0),
        ({"name": "weather", "arguments": {"city": "Paris"}}, 0.0),
        ({"name": "weather", "arguments": {"city": "Paris", "days": 2, "unit": "C"}}, 0.0),
        ({"name": "weather", "arguments": {"city": "Paris", "days": "2"}}, 0.0),
        ({"name": "weather", "arguments": {"city": "Paris", "days": True}}, 0.0),
        ({"name": "weather", "arguments": '{"city": "Rome", "city": "Paris", "days": 2}'}, 0.0),
        ({"name": "weather", "arguments": '{"city": "Paris", "days": 2'}, 0.0),
        ({"name": "weather", "arguments": "Paris"}, 0.0),
        ({"name": "weather", "arguments": ["Paris", 2]}, 0.0),
        ({"name": "weather", "arguments": {"city": "Paris", "days": 2}, "parameters": {}}, 0.0),
        ({"arguments": {"city": "Paris", "days": 2}}, 0.0),
        ({"name": ["weather"], "arguments": {"city": "Paris", "days": 2}}, 0.0),
        ("weather(city='Paris', days=2)", 0.0),
        (None, 0.0),
    ],
)
def test_a_call_is_equal_by_name_and_arguments(call: Any, reward: float) -> None:
    assert ask(built("tool_call"), "", [PARIS], output=messages(call)).reward == reward


def test_arguments_may_be_missing_where_a_tool_has_none() -> None:
    for call in ({"name": "now"}, {"name": "now", "arguments": ""}, {"name": "now", "arguments": "{}"}):
        assert ask(built("tool_call"), "", [{"name": "now", "arguments": {}}], output=messages(call)).reward == 1.0


@pytest.mark.parametrize(
    ("text", "reward"),
    [
        (json.dumps(PARIS), 1.0),
        (json.dumps([PARIS]), 1.0),
        (json.dumps({"tool_calls": [openai(PARIS)]}), 1.0),
        (f"```json\n{json.dumps(PARIS)}\n```", 1.0),
        (f"I look it up.\n<tool_call>\n{json.dumps(PARIS)}\n</tool_call>", 1.0),
        (f"<think>{json.dumps(MAIL)}</think>{json.dumps(PARIS)}", 1.0),
        (f"<tool_call>{json.dumps(PARIS)}</tool_call><tool_call>{json.dumps(MAIL)}</tool_call>", 0.5),
        (f"<tool_call>{json.dumps(PARIS)}</tool_call><tool_call>", 0.5),
        (f"<tool_call>{json.dumps(PARIS)}", 0.0),
        (f"<think><tool_call>{json.dumps(PARIS)}</tool_call></think>", 0.0),
        (f"{json.dumps(PARIS)}{json.dumps(PARIS)}", 0.0),
        (f"```\n{json.dumps(PARIS)}\n```\n```\n{json.dumps(PARIS)}\n```", 0.0),
        ("weather(city='Paris', days=2)", 0.0),
        ("", 0.0),
    ],
)
def test_calls_that_are_written_out(text: str, reward: float) -> None:
    assert ask(built("tool_call"), text, [PARIS]).reward == reward


def test_only_the_assistants_own_calls_count_and_messages_come_first() -> None:
    judge = built("tool_call")
    # the user's message holds MAIL, and the tool's answer is the JSON of ROME
    assert ask(judge, "It rains.", [MAIL], output=messages()).reward == 0.0
    assert ask(judge, json.dumps(PARIS), [PARIS], output=messages(ROME)).reward == 0.0
    assert ask(judge, json.dumps(PARIS), [PARIS], output=messages()).reward == 1.0
    block = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", **PARIS}, {"type": "text", "text": "x"}]}
    assert ask(judge, "", [PARIS], output={"messages": [block]}).reward == 1.0
    # an agent that ends with a call has no final answer
    task = WorkflowTask(task=Task(metadata={"answer": [PARIS]}))
    turns = WorkflowOutput(metadata={"messages": messages(PARIS)["messages"]})
    assert judge.compute_reward(task, turns) == (1.0, True)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (MISSING, "missing"),
        (None, "missing"),
        ("", "unreadable"),
        ("weather", "unreadable"),
        (3, "unreadable"),
        (float("nan"), "unreadable"),
        ([None], "unreadable"),
        ([{"arguments": {}}], "unreadable"),
        ([{"name": "f", "arguments": "{"}], "unreadable"),
        ([{"name": "f", "arguments": {"x": float("nan")}}], "unreadable"),
        ([PARIS] * 200, "unreadable"),
        ("[" * 100_000, "unreadable"),
    ],
)
def test_a_reference_that_is_no_list_of_calls_is_no_verdict(answer: Any, kind: str) -> None:
    judge = built("tool_call")
    failed = ask(judge, "[]", answer)
    assert (failed.status, failed.reward, failed.cause) == ("failed", None, "reference")
    task = Task(metadata={} if answer is MISSING else {"answer": answer})
    assert str(judge.inner.check_task(task)).startswith(f"{kind}: ")
    assert (
        answer is MISSING or 'write JSON such as [{"name": "search", "arguments": {"city": "Rome"}}]' in failed.reason
    )


@pytest.mark.parametrize("broken", ["none", [1], [{"role": "assistant", "tool_calls": "none"}]])
def test_messages_that_are_none_are_no_verdict(broken: Any) -> None:
    failed = ask(built("tool_call"), "", [PARIS], output={"messages": broken})
    assert (failed.status, failed.cause) == ("failed", "input")


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>" * 90_000,
        "[" * 10**6,
        "[" + json.dumps(PARIS) + f", {json.dumps(PARIS)}" * 15_000 + "]",
        "<tool_call>" + '{"name": ' * 100_000 + "</tool_call>",
        '{"name": "weather", "arguments": "' + '{\\"a\\":' * 120_000 + '"}',
    ],
    ids=lambda text: f"{text[:10]}…",
)
@pytest.mark.slow
def test_a_hostile_megabyte_is_refused_in_time(text: str) -> None:
    assert ask_hostile(built("tool_call", order="strict"), text, [PARIS] * 100).reward == 0.0


@pytest.mark.parametrize("kwargs", [{"order": "sorted"}, {"allow_extra": 1}, {"extra": True}])
def test_impossible_settings_are_refused_at_load(kwargs: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="judge_kwargs"):
        built("tool_call", **kwargs)


@pytest.mark.parametrize("text", ["42", '"sunny"', "true", "[1, 2]", "[]", "It rains."])
def test_an_answer_that_is_json_calls_nothing(text: str) -> None:
    assert ask(built("tool_call"), text, []).reward == 1.0
    assert ask(built("tool_call"), text, [PARIS]).reward == 0.0
