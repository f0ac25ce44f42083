"""What a workflow may hand over as its final answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest

from agentscope_tuner import WorkflowOutput


class Reason(StrEnum):
    COMPLETED = "completed"


@dataclass
class OldMsg:
    """As agentscope 1.x writes one, as far as it is asked."""

    text: str | None

    def get_text_content(self, separator: str = "\n") -> str | None:
        return self.text


@dataclass
class NewMsg(OldMsg):
    """As 2.0 does: it also knows how the reply ended."""

    finished_reason: Reason | None


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"final_answer": "x"}, {"final_answer": "x"}),
        ({"final_answer": OldMsg("x")}, {"final_answer": "x"}),
        ({"final_answer": OldMsg(None)}, {"final_answer": ""}),
        ({"final_answer": NewMsg("x", Reason.COMPLETED)}, {"final_answer": "x", "finished_reason": "completed"}),
        ({"final_answer": NewMsg("?", None)}, {"final_answer": "?", "finished_reason": "awaiting_tool_calls"}),
        (
            {"final_answer": NewMsg("x", None), "finished_reason": "mine"},
            {"final_answer": "x", "finished_reason": "mine"},
        ),
        ({"final_answer": 7}, {"final_answer": 7}),
        ({}, {}),
    ],
)
def test_a_reply_becomes_its_text_and_its_reason(metadata: dict[str, Any], expected: dict[str, Any]) -> None:
    given = dict(metadata)
    output = WorkflowOutput(metadata=metadata)
    assert output.metadata == expected
    assert type(output.metadata.get("finished_reason", "")) is str
    assert metadata == given
