"""How an agent's reply ends reaches the workflow's output, as agentscope 2.0 lets it be known."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agentscope.agent import Agent, InjectionConfig, ReActConfig
from agentscope.message import UserMsg
from agentscope.tool import FunctionTool, Toolkit

from agentscope_tuner import ModelTuner, Task, Workflow, WorkflowOutput, WorkflowTask
from tests.judge_server import Canned, JudgeServer
from tests.with_agentscope.chat_replies import Say, in_turn

TASK = WorkflowTask(task=Task(main_query="What is 2 + 2?", metadata={"answer": "4"}))
CALL = Say(tools=[("add", '{"a": 2, "b": 2}')])


def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


class Guide(Workflow):
    """The guide's: the agent's reply itself is the final answer."""

    def __init__(self, *, read_only: bool = True, seconds: float | None = None, raises: bool = True) -> None:
        self.read_only, self.seconds, self.raises = read_only, seconds, raises

    async def execute(self, task: WorkflowTask, model_tuner: ModelTuner) -> WorkflowOutput:
        self.agent = Agent(
            name="solver",
            system_prompt="Answer in a box.",
            model=model_tuner,
            toolkit=Toolkit(tools=[FunctionTool(add, is_read_only=self.read_only)]),  # type: ignore[arg-type]
            react_config=ReActConfig(max_iters=2, interruption_raise_cancelled_error=self.raises),
            injection_config=InjectionConfig(inject_runtime_state=False),
        )
        async with asyncio.timeout(self.seconds):
            final_answer = await self.agent.reply(UserMsg("user", task.task.main_query))
        return WorkflowOutput(reward=None, metadata={"final_answer": final_answer})


def metadata(workflow: Workflow, *says: Say, stream: bool = False) -> dict[str, Any]:
    async def run(url: str) -> WorkflowOutput:
        tuner = ModelTuner.for_endpoint(url, "policy", stream=stream)
        try:
            return await workflow.execute(TASK, tuner)
        finally:
            await tuner.aclose()

    with JudgeServer(in_turn(*says)) as server:
        return asyncio.run(run(server.url)).metadata


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("workflow", "says", "expected"),
    [
        (Guide(), [CALL, Say(r"\boxed{4}")], {"final_answer": r"\boxed{4}", "finished_reason": "completed"}),
        (Guide(), [Say("")], {"final_answer": "", "finished_reason": "completed"}),
        # after two rounds agentscope asks once more, for a text
        (Guide(), [CALL, CALL, Say("4?")], {"final_answer": "4?", "finished_reason": "exceed_max_iters"}),
        (Guide(), [CALL], {"finished_reason": "exceed_max_iters"}),
        (Guide(read_only=False), [CALL], {"finished_reason": "awaiting_tool_calls"}),
        (
            Guide(seconds=0.3, raises=False),
            [Say(how=Canned(hang=True))],
            {"finished_reason": "interrupted"},
        ),
    ],
    ids=["completed", "empty", "late text", "too many rounds", "asks for permission", "interrupted"],
)
def test_the_end_of_a_reply_is_told(
    workflow: Workflow, says: list[Say], expected: dict[str, Any], stream: bool
) -> None:
    found = metadata(workflow, *says, stream=stream)
    assert found == {**found, **expected}
    assert type(found["final_answer"]) is str
    assert type(found["finished_reason"]) is str


def test_an_agent_told_to_raise_does_not_swallow_the_timeout() -> None:
    with pytest.raises(TimeoutError):
        metadata(Guide(seconds=0.3), Say(how=Canned(hang=True)))
