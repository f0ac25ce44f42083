"""agentscope 1.0.21's own tuner: its check accepts our judge function, and its types come back."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import runpy
from pathlib import Path
from typing import Any

import agentscope
import cloudpickle
import openai
import pytest
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.memory import InMemoryMemory
from agentscope.message import Msg, TextBlock, ThinkingBlock
from agentscope.model import OpenAIChatModel
from agentscope.tool import Toolkit, ToolResponse
from agentscope.tuner import JudgeOutput, check_judge_function, check_workflow_function
from omegaconf import OmegaConf
from pydantic import BaseModel

from agentscope_tuner import JudgeError
from agentscope_tuner.adapters.agentscope import judge_func
from agentscope_tuner.errors import DeadlineError
from tests.hanging_judges import release
from tests.judge_server import Canned, JudgeServer
from tests.with_agentscope.chat_replies import Say, in_turn
from tests.with_agentscope.guide_from_1x import ADDS, OLD, block, busy, difference, exists, names
from tests.with_trainers.judges import HANGING, HOSTILE, config, hanging


def build(tmp_path: Path, settings: dict[str, Any] | None = None) -> Any:
    path = tmp_path / "judge.yaml"
    protocol = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
    OmegaConf.save(OmegaConf.create(settings or {"astuner": {"task_judge": {"judge_protocol": protocol}}}), path)
    return judge_func(path)


def test_the_version_is_the_one_the_guide_names() -> None:
    assert agentscope.__version__ == "1.0.21"


def test_the_tuners_check_accepts_our_function(tmp_path: Path) -> None:
    check_judge_function(build(tmp_path))

    def wrong(task: dict[str, Any], output: str) -> None: ...

    with pytest.raises(ValueError, match="response"):
        check_judge_function(wrong)


@pytest.mark.parametrize(
    ("response", "reward"),
    [
        (Msg("agent", r"\boxed{42.0}", "assistant"), 1.0),
        (Msg("agent", [TextBlock(type="text", text=r"\boxed{42}")], "assistant"), 1.0),
        (
            Msg(
                "agent",
                [ThinkingBlock(type="thinking", thinking=r"\boxed{42}"), TextBlock(type="text", text="?")],
                "assistant",
            ),
            0.0,
        ),
        (r"\boxed{41}", 0.0),
        *((attack, 0.0) for attack in HOSTILE),
    ],
)
def test_responses_are_judged(response: Any, reward: float, tmp_path: Path) -> None:
    judge = build(tmp_path)
    task = {"question": "6*7?", "answer": "42"}
    output = asyncio.run(judge(task=task, response=response, auxiliary_models={}, logger=logging.getLogger("tuner")))
    assert isinstance(output, JudgeOutput)
    assert output.reward == reward
    # what the judge measured stands under its own name: an answer that it could not read is marked
    of_every_judge = {name for name in output.metrics or {} if "/" not in name}
    assert of_every_judge == {"success", "filtered", "failed", "judge_seconds"}


def test_the_function_reaches_a_rays_worker(tmp_path: Path) -> None:
    judge = cloudpickle.loads(cloudpickle.dumps(build(tmp_path)))
    check_judge_function(judge)
    assert asyncio.run(judge(task={"answer": "42"}, response=r"\boxed{42}")).reward == 1.0


def test_a_failed_verdict_raises(tmp_path: Path) -> None:
    judge = build(tmp_path, config("Fails"))
    with pytest.raises(JudgeError, match="the judge model did not answer"):
        asyncio.run(judge(task={"answer": "41"}, response=r"\boxed{41}"))


@pytest.mark.parametrize("name", HANGING)
def test_a_judge_that_hangs_raises_in_time(name: str, tmp_path: Path) -> None:
    judge = build(tmp_path, hanging(name))
    with release(), pytest.raises(DeadlineError, match=r"no verdict within 0\.3 s"):
        asyncio.run(judge(task={"answer": "41"}, response=r"\boxed{41}"))


# the 1.x half of docs/from_agentscope_1x.md; tests/with_agentscope/test_from_1x.py has the other
HELLO = Msg("user", "What is 2 + 2?", "user")


def add(a: float, b: float) -> ToolResponse:
    """Add two numbers."""
    return ToolResponse(content=[TextBlock(type="text", text=str(a + b))])


def old_model(url: str, *, stream: bool = False) -> OpenAIChatModel:
    return OpenAIChatModel("m", api_key="EMPTY", stream=stream, client_kwargs={"base_url": url})


def old_agent(url: str, tool: Any = add, **options: Any) -> ReActAgent:
    toolkit = Toolkit()
    toolkit.register_tool_function(tool, func_name="add")
    return ReActAgent("solver", "Answer.", old_model(url), OpenAIChatFormatter(), toolkit, InMemoryMemory(), **options)


def ask(
    says: tuple[Say, ...], seconds: float | None = None, tool: Any = add, **options: Any
) -> tuple[Any, JudgeServer]:
    async def run(url: str) -> Any:
        agent = old_agent(url, tool, **options)
        assert callable(agent)
        return await asyncio.wait_for(agent(HELLO), seconds)

    with JudgeServer(in_turn(*says)) as server:
        return asyncio.run(run(server.url)), server


def test_the_pages_old_workflow_runs_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "run_agent.py"
    path.write_text(block("python", f"# {OLD}"), encoding="utf-8")
    run_agent = runpy.run_path(str(path))["run_agent"]
    check_workflow_function(run_agent)
    with JudgeServer(in_turn(*ADDS)) as server:
        output = asyncio.run(run_agent(task={"question": "What is 2 + 2?"}, model=old_model(server.url)))
    judged = asyncio.run(build(tmp_path)(task={"answer": "4"}, response=output.response))
    assert judged.reward == 1.0


@pytest.mark.parametrize("name", names(0))
def test_the_pages_old_names_are_there(name: str) -> None:
    assert exists(name)


@pytest.mark.parametrize("name", [name for name in names(1) if name.startswith("agentscope.")])
def test_the_pages_new_names_are_not_there_yet(name: str) -> None:
    # an old agent observes too, under another class
    assert not exists(name)


def test_a_tool_is_run_unasked_and_must_not_return_text() -> None:
    reply, server = ask(ADDS)
    assert "4" in str(server.bodies[1]["messages"][-1]["content"])
    assert "time" not in json.dumps(server.bodies).lower(), "the time of day is not in the prompt"
    assert isinstance(reply.content, list)
    assert reply.content[0]["text"] == reply.get_text_content() == r"\boxed{4}"
    assert "TypeError" in difference("a tool that returns", 1)
    with pytest.raises(TypeError, match="must return a ToolResponse"):
        ask(ADDS, tool=lambda a, b: "4")


def test_too_many_rounds_are_summed_up_unmarked() -> None:
    reply, _ = ask((ADDS[0], Say("late")), max_iters=1)
    assert reply.get_text_content() == "late"
    assert not reply.metadata
    assert not hasattr(reply, "finished_reason")
    default = inspect.signature(ReActAgent).parameters["max_iters"].default
    assert str(default) == difference("rounds", 1)


def test_a_cancelled_reply_is_polite() -> None:
    reply, _ = ask((Say(how=Canned(hang=True)),), seconds=0.3)
    assert "interrupted" in str(reply.get_text_content())


def test_one_loop_retries() -> None:
    with JudgeServer(busy()) as server:
        with pytest.raises(openai.InternalServerError):
            asyncio.run(old_model(server.url)([{"role": "user", "content": "?"}]))
        assert f"asked {len(server.bodies)} times" in difference("an endpoint", 1)


def test_a_chunk_holds_all_that_was_said_so_far() -> None:
    async def texts(url: str) -> list[str]:
        return [
            chunk.content[0]["text"]
            async for chunk in await old_model(url, stream=True)([{"role": "user", "content": "?"}])
        ]

    with JudgeServer(in_turn(Say("one two"))) as server:
        found = asyncio.run(texts(server.url))
    assert found[:2] == ["one", "one two"]
    assert set(found) == {"one", "one two"}


class Sum(BaseModel):
    total: int


def test_structured_output_and_arguments_are_dicts_and_the_console_gets_it_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    says = in_turn(Say(tools=[("generate_response", '{"total": 4}')]), Say("four"))
    with JudgeServer(says) as server:
        agent = old_agent(server.url)
        reply = asyncio.run(agent(HELLO, structured_model=Sum))
        asked = asyncio.run(agent.memory.get_memory())
    assert reply.metadata == {"total": 4}
    assert [call["input"] for message in asked for call in message.get_content_blocks("tool_use")] == [{"total": 4}]
    assert "four" in capsys.readouterr().out
