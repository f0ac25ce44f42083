"""The tutorial's workflows against a scripted model: the calculator is used, and the checker is not trained."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection
from pathlib import Path

import pytest

from agentscope_tuner import ModelTuner, Task, Workflow, WorkflowOutput, WorkflowTask, load_judge
from tests.judge_server import Body, JudgeServer
from tests_extra.agentscope.chat_replies import Say, each, in_turn, last_text
from tutorial.example_math_agent.workflow import SHOTS, CheckedMathWorkflow, MathAgentWorkflow

CONFIG = Path(__file__).parent.parent.parent / "tutorial/example_math_agent/math_agent.yaml"
TASK = WorkflowTask(task=Task(task_id="t", main_query="What is 17 * 24?", metadata={"answer": "408"}))
BOX = Say(r"17 * 24 = 408. \boxed{408}")
BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def rollout(
    workflow: Workflow, server: JudgeServer, stream: bool, targets: Collection[str] | None = None
) -> tuple[WorkflowOutput, ModelTuner]:
    async def run() -> tuple[WorkflowOutput, ModelTuner]:
        tuner = ModelTuner.for_endpoint(server.url, "policy", stream=stream, trainable_targets=targets)
        try:
            return await workflow.execute(TASK, tuner), tuner
        finally:
            await tuner.aclose()

    return asyncio.run(run())


@BOTH
@pytest.mark.parametrize(
    "call",
    [Say("<<17 * 24>>"), Say(tools=[("calculator", '{"expression": "17 * 24"}')])],
    ids=["a note in the text", "a call of the model's own"],
)
def test_the_agent_calculates_and_is_judged_right(call: Say, stream: bool) -> None:
    with JudgeServer(in_turn(call, BOX)) as server:
        output, tuner = rollout(MathAgentWorkflow(), server, stream)
    first, second = tuner.trajectory
    assert second.messages[-1]["role"] == "tool"
    assert second.messages[-1]["content"] == "408"
    assert first.response is not None
    assert ("tool_calls" in first.response) is bool(call.tools), "the model is recorded with what it wrote"
    questions = [message["content"][0]["text"] for message in first.messages if message["role"] == "user"]
    assert questions == [*(shot[0] for shot in SHOTS), "What is 17 * 24?"]
    verdict = load_judge(CONFIG).judge(TASK, output)
    assert (verdict.reward, output.metadata["finished_reason"]) == (1.0, "completed")


@BOTH
def test_a_policy_that_only_ever_calculates_is_stopped_and_said_to_be(stream: bool) -> None:
    with JudgeServer(in_turn(Say("<<95**36**32>>"))) as server:
        output, tuner = rollout(MathAgentWorkflow(), server, stream)
    # three rounds, and one in which the agent was to write a text; what it then wrote stands
    assert len(tuner.calls) == 4
    assert output.metadata == {"final_answer": "<<95**36**32>>", "finished_reason": "exceed_max_iters"}
    assert "error" in tuner.calls[1].messages[-1]["content"]
    assert load_judge(CONFIG).judge(TASK, output).reward == 0.0


@BOTH
def test_the_checker_is_asked_but_not_trained(stream: bool) -> None:
    def answer(body: Body) -> Say:
        if "check" in body["messages"][0]["content"][0]["text"]:
            return Say("wrong" if "407" in last_text(body) else "right")
        return BOX if last_text(body).startswith("That is wrong.") else Say(r"\boxed{407}")

    with JudgeServer(each(answer)) as server:
        output, tuner = rollout(CheckedMathWorkflow(), server, stream, ["solver"])
    assert [call.role for call in tuner.calls] == ["solver", "checker", "solver"]
    assert [call.role for call in tuner.trajectory] == ["solver", "solver"]
    assert output.metadata == {
        "final_answer": r"17 * 24 = 408. \boxed{408}",
        "finished_reason": "completed",
        "checker": "wrong",
    }
    assert json.dumps([call.to_dict() for call in tuner.calls])
