"""What judging would take, without asking any model: judges of one model, of several, of parts and of routes."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tuner.graders.cost import Estimate, Reckoner
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import estimate_of
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

LLM: dict[str, Any] = {"model_name": "m", "base_url": "http://127.0.0.1:9", "prompt": "Rate 1 to 5: {response}"}
ASKS = {"judge_type": "llm", "llm": LLM}
LENGTH = {
    "judge_protocol": "agentscope_tuner.task_judge.length_judge->LengthJudge",
    "judge_kwargs": {"soft": 5, "hard": 900},
}
PARTS_BY_CONDITION = {
    "judge_type": "combined",
    "parts": {"l": LENGTH, "a": {**ASKS, "when": "l.reward > 0"}},
    "success": "l",
}
NOT_EMPTY = {"id": "not_empty", "kind": "non_empty", "target": "output", "action": "mark_bad"}


def outputs(count: int) -> list[WorkflowOutput]:
    return [WorkflowOutput(metadata={"final_answer": f"the answer {number}"}) for number in range(count)]


def estimated(section: dict[str, Any], group: list[WorkflowOutput], **metadata: Any) -> Estimate:
    task = WorkflowTask(task=Task(main_query="q", metadata=metadata))
    return estimate_of(load_judge({"astuner": {"task_judge": section}}), task, group, Reckoner())[1]


@pytest.mark.parametrize(
    ("section", "least", "most"),
    [
        (ASKS, 3, 3),
        ({"judge_type": "llm", "llm": {**LLM, "votes": 2, "client": {"temperature": 1.0}}}, 6, 6),
        ({"judge_type": "llm", "llm": {**LLM, "escalate": {"when": "score < 0.5", "to": ["d", "e"]}}}, 3, 9),
        ({"judge_type": "combined", "parts": {"a": ASKS, "l": LENGTH}, "success": "l"}, 3, 3),
        (
            {"judge_type": "combined", "parts": {"l": LENGTH, "a": {**ASKS, "when": "l.reward > 0"}}, "success": "l"},
            0,
            3,
        ),
        ({"judge_type": "routed", "by": "task.metadata.kind", "routes": {"x": ASKS, "y": LENGTH}}, 3, 3),
    ],
    ids=["one model", "votes", "dearer models", "parts", "a part with a condition", "routes"],
)
def test_calls_are_counted_without_asking(section: dict[str, Any], least: int, most: int) -> None:
    found = estimated(section, outputs(3), kind="x")
    assert (found.least.calls, found.most.calls) == (least, most)


def test_what_the_rules_take_out_costs_nothing() -> None:
    group = [*outputs(1), WorkflowOutput(metadata={"final_answer": ""})]
    assert estimated({**ASKS, "rules": [NOT_EMPTY]}, group).most.calls == 1
    assert estimated({**ASKS, "rules": [NOT_EMPTY]}, group[1:]) == Estimate()


def test_a_ranked_group_is_one_question_and_takes_one_route() -> None:
    listwise: dict[str, Any] = {"judge_type": "llm", "llm": {**LLM, "mode": "listwise"}}
    assert estimated(listwise, outputs(3)).most.calls == 1
    assert estimated({**listwise, "llm": {**listwise["llm"], "swap": True}}, outputs(3)).most.calls == 2


def test_each_criterion_of_a_task_makes_the_reply_longer_by_as_much() -> None:
    model = {"model_name": "m", "base_url": "http://127.0.0.1:9"}
    section = {"judge_type": "task_rubrics", "task_rubrics": model}
    tokens = [
        estimated(section, outputs(1), rubrics=[f"It is kind {number}." for number in range(count)])
        for count in (1, 2, 12)
    ]
    replies = [each.most.completion_tokens for each in tokens]
    assert replies[0] > 0
    assert [reply / replies[0] for reply in replies] == [1, 2, 12]
