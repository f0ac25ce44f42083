"""The 2.0 half of docs/from_agentscope_1x.md; tests/with_trainers/test_agentscope1.py has the other."""

from __future__ import annotations

import asyncio
import json
import runpy
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import openai
import pytest
from agentscope.agent import Agent, InjectionConfig, ReActConfig
from agentscope.credential import OpenAICredential
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg, TextBlock, ToolCallBlock, UserMsg
from agentscope.model import ChatResponse, OpenAIChatModel
from agentscope.tool import FunctionTool, Toolkit
from pydantic import BaseModel, SecretStr

from agentscope_tuner import ModelTuner, Task, WorkflowTask, load_judge
from agentscope_tuner.model_tuner import endpoint_model
from tests.judge_server import Body, Canned, JudgeServer
from tests.with_agentscope.chat_replies import Say, in_turn
from tests.with_agentscope.guide_from_1x import ADDS, NEW, block, busy, difference, exists, names

T = TypeVar("T")
HELLO = UserMsg("user", "What is 2 + 2?")


def add(a: float, b: float) -> str:
    """Add two numbers."""
    return str(a + b)


def served(
    answer: Callable[[Body, int], Canned], work: Callable[[OpenAIChatModel], Coroutine[Any, Any, T]], **options: Any
) -> tuple[T, JudgeServer]:
    """Run `work` with agentscope's own model for a server that answers so."""

    async def run(url: str) -> T:
        credential = OpenAICredential(api_key=SecretStr("EMPTY"), base_url=url)
        model = OpenAIChatModel(credential, "m", **{"stream": False, "retry_delay": 0, **options})
        try:
            return await work(model)
        finally:
            await model.client.close()

    with JudgeServer(answer) as server:
        return asyncio.run(run(server.url)), server


def agent(model: OpenAIChatModel, *, allowed: bool = True, **config: Any) -> Agent:
    tool = FunctionTool(add, is_read_only=allowed)  # type: ignore[arg-type]
    return Agent("solver", "Answer.", model, toolkit=Toolkit(tools=[tool]), react_config=ReActConfig(**config))


def test_the_workflow_runs_as_it_stands_and_is_judged(tmp_path: Path) -> None:
    source = tmp_path / "my_workflow.py"
    source.write_text(block("python", f"# {NEW}"), encoding="utf-8")
    workflow = runpy.run_path(str(source))["MyWorkflow"]()
    task = WorkflowTask(task=Task(main_query="What is 2 + 2?", metadata={"answer": "4"}))

    async def run(url: str) -> Any:
        tuner = ModelTuner.for_endpoint(url, "m")
        try:
            return await workflow.execute(task, tuner)
        finally:
            await tuner.aclose()

    with JudgeServer(in_turn(*ADDS)) as server:
        output = asyncio.run(run(server.url))
    assert "4" in str(server.bodies[1]["messages"][-1]["content"])
    assert output.metadata == {"final_answer": r"\boxed{4}", "finished_reason": "completed"}
    path = tmp_path / "rollout.yaml"
    path.write_text(block("yaml", "astuner:"), encoding="utf-8")
    assert load_judge(path).judge(task, output).reward == 1.0


@pytest.mark.parametrize("name", names(1))
def test_the_new_names_are_there(name: str) -> None:
    assert exists(name)


@pytest.mark.parametrize("name", names(0))
def test_the_old_names_are_gone(name: str) -> None:
    assert not exists(name)


def test_a_tool_nobody_has_allowed_is_asked_about() -> None:
    assert "stops and asks" in difference("a tool nobody", 2)
    reply, server = served(in_turn(*ADDS), lambda model: agent(model, allowed=False).reply(HELLO))
    assert reply.finished_reason is None
    assert "permission" in str(reply.get_text_content())
    assert len(server.bodies) == 1


def test_too_many_rounds_are_marked() -> None:
    assert "exceed_max_iters" in difference("a reply after", 2)
    reply, _ = served(in_turn(ADDS[0], Say("late")), lambda model: agent(model, max_iters=1).reply(HELLO))
    assert (reply.finished_reason, reply.get_text_content()) == ("exceed_max_iters", "late")
    assert str(ReActConfig().max_iters) == difference("rounds", 2)


@pytest.mark.parametrize("raises", [False, True])
def test_a_cancelled_reply_is_polite_unless_told_otherwise(raises: bool) -> None:
    async def work(model: OpenAIChatModel) -> Msg:
        async with asyncio.timeout(0.3):
            return await agent(model, interruption_raise_cancelled_error=raises).reply(HELLO)

    hangs = in_turn(Say(how=Canned(hang=True)))
    if raises:
        with pytest.raises(TimeoutError):
            served(hangs, work)
    else:
        reply, _ = served(hangs, work)
        assert reply.finished_reason == "interrupted"
        assert reply.get_text_content()


@pytest.mark.parametrize("told", [False, True])
def test_the_time_of_day_is_in_the_prompt_unless_told_otherwise(told: bool) -> None:
    def work(model: OpenAIChatModel) -> Coroutine[Any, Any, Msg]:
        config = InjectionConfig(inject_runtime_state=False) if told else None
        return Agent("solver", "Answer.", model, injection_config=config).reply(HELLO)

    _, server = served(in_turn(Say("4")), work)
    assert ("time" in json.dumps(server.bodies[0]["messages"]).lower()) is not told


def test_two_loops_retry_one_in_the_other() -> None:
    async def refused(model: Callable[[list[Msg]], Coroutine[Any, Any, Any]]) -> None:
        with pytest.raises(openai.InternalServerError):
            await model([HELLO])

    _, server = served(busy(), refused)
    assert f"asked {len(server.bodies)} times" in difference("an endpoint", 2)

    async def ours(url: str) -> None:
        model = endpoint_model(url, "m")
        await refused(model)
        await model.aclose()

    with JudgeServer(busy()) as other:
        asyncio.run(ours(other.url))
    assert len(other.bodies) == 1 + 3


def test_a_chunk_holds_what_is_new_and_the_last_one_all() -> None:
    async def work(model: OpenAIChatModel) -> list[ChatResponse]:
        stream = await model([HELLO])
        assert not isinstance(stream, ChatResponse)
        return [chunk async for chunk in stream]

    chunks, _ = served(in_turn(Say("one two")), work, stream=True)
    texts = ["".join(block.text for block in chunk.content if isinstance(block, TextBlock)) for chunk in chunks]
    assert texts == ["one", " two", "one two"]
    assert [chunk.is_last for chunk in chunks] == [False, False, True]


class Sum(BaseModel):
    total: int


def test_structured_output_has_a_field_of_its_own() -> None:
    says = in_turn(Say(tools=[("GenerateStructuredOutput", '{"total": 4}')]))

    async def work(model: OpenAIChatModel) -> Msg:
        return await agent(model).reply(HELLO, structured_schema=Sum)

    reply, server = served(says, work)
    assert reply.structured_output == {"total": 4}, server.bodies[0]["tools"]


def test_content_is_a_list_of_objects_and_arguments_are_json(capsys: pytest.CaptureFixture[str]) -> None:
    reply, _ = served(in_turn(Say("4")), lambda model: agent(model).reply(HELLO))
    assert isinstance(reply.content, list)
    assert isinstance(reply.content[0], TextBlock)
    assert reply.content[0].text == reply.get_text_content() == "4"
    assert ToolCallBlock.model_fields["input"].annotation is str
    assert capsys.readouterr().out == ""


def test_the_formatter_is_the_models_and_an_agent_is_not_called() -> None:
    async def work(model: OpenAIChatModel) -> None:
        assert isinstance(model.formatter, OpenAIChatFormatter)
        assert not callable(agent(model))

    served(in_turn(Say("4")), work)
