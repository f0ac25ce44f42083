"""What an agentscope 1.x workflow may hand over as its response, without agentscope."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from agentscope_tuner import ConfigError, JudgeError
from agentscope_tuner.adapters.agentscope import as_pair, judge_func, response_text

BLOCKS = [{"type": "text", "text": "4"}, {"type": "tool_use", "name": "add"}, {"type": "text", "text": "2"}]


@pytest.mark.parametrize(
    "response",
    [
        "42",
        SimpleNamespace(content="42"),
        SimpleNamespace(content=BLOCKS),
        {"content": BLOCKS},
        [{"role": "assistant", "content": "42"}],
    ],
)
def test_a_response_is_read_as_text(response: object) -> None:
    assert response_text(response) == "42"


def test_a_rows_own_main_query_is_its_question() -> None:
    task, _ = as_pair({"question": "6*7?", "main_query": "Compute 6*7.", "answer": "42"}, "42")
    assert task.task.main_query == "Compute 6*7."


@pytest.mark.parametrize("column", ["prompt", "messages", "question"])
def test_chat_messages_ask_the_question(column: str) -> None:
    # a judge model was shown an empty question, and scored the answer all the same
    turns = [{"role": "user", "content": "6*7?"}]
    for asked in (turns, numpy.array(turns)):
        task, _ = as_pair({column: asked, "answer": "42"}, "42")
        assert task.task.main_query == "6*7?"


@pytest.mark.parametrize("response", [None, 42, {}, object()])
def test_no_text_is_no_verdict(response: object) -> None:
    with pytest.raises(JudgeError, match="must be a str or a Msg"):
        response_text(response)


@pytest.mark.parametrize(
    "response",
    [
        [{"role": "gpt", "content": "42"}],
        {"role": "assistant", "content": 42},
        SimpleNamespace(role="assistant", content=[SimpleNamespace(type="text", text="42")]),
    ],
)
def test_a_message_that_nobody_can_read_is_no_empty_answer(response: object) -> None:
    with pytest.raises(JudgeError, match=r"has the policy's role|is a text or a list of blocks"):
        response_text(response)


@pytest.mark.parametrize("role", ["user", "system", "tool"])
@pytest.mark.parametrize("kind", [dict, SimpleNamespace])
def test_what_another_says_is_not_the_policys_answer(kind: Any, role: str) -> None:
    # a workflow that ended with a tool's message was paid for it
    with pytest.raises(JudgeError, match=f"a message of the role '{role}'"):
        response_text(kind(role=role, content="42"))
    assert response_text(kind(role="assistant", content="42")) == "42"


def test_a_wrong_configuration_stops_before_training() -> None:
    with pytest.raises(ConfigError, match="no configuration file"):
        judge_func("absent.yaml")
