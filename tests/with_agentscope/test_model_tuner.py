"""ModelTuner over real sockets: what is recorded, of whom, and what of calls that fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import asdict
from typing import Any, TypeVar, cast

import openai
import pytest
from agentscope.agent import Agent, InjectionConfig, ReActConfig
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg, TextBlock, UserMsg
from agentscope.model import ChatModelBase, ChatResponse, ChatUsage
from agentscope.tool import FunctionTool, Toolkit
from pydantic import BaseModel

from agentscope_tuner import ConfigError, ModelTuner
from agentscope_tuner._http.transport import Client, Connections
from agentscope_tuner.lab.rollouts.runner import model_tuners
from agentscope_tuner.lab.rollouts.settings import load_settings
from agentscope_tuner.model_tuner import ModelCall
from tests.judge_server import Body, Canned, JudgeServer
from tests.with_agentscope.chat_replies import Say, each, in_turn, last_text

T = TypeVar("T")
BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
HELLO = [UserMsg("user", "Hello?")]


def with_tuner(
    answer: Callable[[Body, int], Canned],
    work: Callable[[ModelTuner, JudgeServer], Coroutine[Any, Any, T]],
    **options: Any,
) -> T:
    """Run `work` with a tuner for a server that answers so."""

    async def run(server: JudgeServer) -> T:
        tuner = ModelTuner.for_endpoint(server.url, "policy", **options)
        try:
            return await work(tuner, server)
        finally:
            await tuner.aclose()

    with JudgeServer(answer) as server:
        return asyncio.run(run(server))


async def ask(model: ChatModelBase, messages: list[Msg] = HELLO, **kwargs: Any) -> ChatResponse:
    """The whole response, of a stream too."""
    answer = await model(messages, **kwargs)
    if isinstance(answer, ChatResponse):
        return answer
    return [chunk async for chunk in answer][-1]


def add(a: int, b: int) -> str:
    """Add two numbers.

    Args:
        a (int): one
        b (int): the other
    """
    return str(a + b)


def agent(name: str, model: ChatModelBase, **config: Any) -> Agent:
    return Agent(
        name=name,
        system_prompt=f"You are {name}.",
        model=model,
        toolkit=Toolkit(tools=[FunctionTool(add, is_read_only=True)]),  # type: ignore[arg-type]
        react_config=ReActConfig(**{"max_iters": 4, "interruption_raise_cancelled_error": True, **config}),
        injection_config=InjectionConfig(inject_runtime_state=False),
    )


SAYS = [
    Say("The answer is 4."),
    Say(""),
    Say(tools=[("add", '{"a": 2, "b": 2}')]),
    Say("Let me see.", tools=[("add", '{"a": 2, "b": 2}'), ("add", '{"a": 1, "b": 3}')]),
    Say("4", thoughts="two and two"),
    Say("cut off in the mid", finish="length"),
    Say("The answer is 4.", logprobs=True),
    Say("多い \N{PILE OF POO} 4"),
]


@pytest.mark.parametrize("say", SAYS)
def test_a_model_that_streams_and_one_that_does_not_give_the_same_record(say: Say) -> None:
    async def record(tuner: ModelTuner, server: JudgeServer) -> tuple[dict[str, Any], ChatResponse]:
        response = await ask(tuner, tools=[{"type": "function", "function": {"name": "add", "parameters": {}}}])
        (call,) = tuner.calls
        assert server.bodies[0]["messages"] == call.messages
        assert call.seconds > 0
        return {**asdict(call), "seconds": None}, response

    whole, response = with_tuner(in_turn(say), record, logprobs=True)
    stream, last = with_tuner(in_turn(say), record, logprobs=True, stream=True)
    assert whole == stream
    assert [block.type for block in response.content] == [block.type for block in last.content]
    assert response.usage is not None
    assert last.usage is not None
    assert response.usage.output_tokens == last.usage.output_tokens
    assert json.loads(json.dumps(whole)) == whole
    assert whole["response"]["content"] == (say.text or ("" if not say.tools else None))
    assert whole["response"].get("reasoning_content", "") == say.thoughts
    functions = [call["function"] for call in whole["response"].get("tool_calls", [])]
    assert functions == [{"name": name, "arguments": arguments} for name, arguments in say.tools]
    assert (whole["prompt_tokens"], whole["completion_tokens"]) == (11, 7)
    assert whole["finish_reason"] == ("tool_calls" if say.tools else say.finish)
    assert whole["error"] is None
    assert ("".join(token["token"] for token in whole["logprobs"] or []) or None) == (
        say.text if say.logprobs else None
    )


@BOTH
def test_log_probabilities_are_recorded_only_when_asked_for(stream: bool) -> None:
    async def record(tuner: ModelTuner, server: JudgeServer) -> ModelCall:
        await ask(tuner)
        return tuner.calls[0]

    say = in_turn(Say("four it is", logprobs=True))
    assert with_tuner(say, record, stream=stream).logprobs is None
    asked = with_tuner(say, record, stream=stream, logprobs=True).logprobs
    assert asked is not None
    assert [(token["token"], token["logprob"]) for token in asked] == [("four", -0.5), (" it", -0.375), (" is", -0.375)]


@BOTH
def test_an_agent_with_a_tool_leaves_its_whole_conversation(stream: bool) -> None:
    async def solve(tuner: ModelTuner, server: JudgeServer) -> tuple[ModelCall, ...]:
        reply = await agent("solver", tuner).reply(UserMsg("user", "What is 2 + 2?"))
        assert reply.get_text_content() == r"\boxed{4}"
        return tuner.trajectory

    first, second = with_tuner(
        in_turn(Say(tools=[("add", '{"a": 2, "b": 2}')]), Say(r"\boxed{4}")), solve, stream=stream
    )
    assert [message["role"] for message in first.messages] == ["system", "user"]
    assert [message["role"] for message in second.messages] == ["system", "user", "assistant", "tool"]
    assert "4" in str(second.messages[-1]["content"])
    assert first.tools is not None
    assert [tool["function"]["name"] for tool in first.tools] == ["add"]
    assert (first.finish_reason, second.finish_reason) == ("tool_calls", "stop")
    assert (first.role, first.trainable, first.model) == ("default", True, "policy")


def echo(body: Body) -> Say:
    """Who was asked what: the system prompt and the last message."""
    return Say(f"{body['messages'][0]['content'][0]['text']} {last_text(body)}")


@BOTH
def test_a_rollouts_model_is_asked_as_its_section_says(stream: bool) -> None:
    async def run(server: JudgeServer) -> None:
        model = {"base_url": server.url, "name": "policy", "api_key": "sk-1", "stream": stream}
        settings = load_settings(
            {
                "astuner": {
                    "task_reader": {
                        "type": "jsonl_dataset_file",
                        "jsonl_dataset_file": {"training": {"file_path": "unread.jsonl"}},
                    },
                    "rollout": {
                        "agentscope_workflow": "tests.rollout_world->Act",
                        "model": {**model, "temperature": 0.25, "max_tokens": 77},
                        "trainable_targets": ["solver"],
                    },
                    "task_judge": {"judge_protocol": "tests.rollout_world->LengthJudge"},
                }
            }
        )
        lender = cast(ModelTuner, model_tuners(settings)())
        await ask(lender.register_model("solver"))
        await ask(lender.register_model("checker"))
        assert [call.trainable for call in lender.calls] == [True, False]
        await lender.aclose()
        body = server.bodies[0]
        assert server.headers[0]["authorization"] == "Bearer sk-1"
        assert (body["model"], bool(body.get("stream")), body["temperature"], body["max_tokens"]) == (
            *("policy", stream),
            *(0.25, 77),
        )

    with JudgeServer(each(lambda body: Say("Yes."))) as server:
        asyncio.run(run(server))


@BOTH
def test_of_two_agents_the_trajectory_holds_exactly_the_trainable_ones_calls(stream: bool) -> None:
    async def work(tuner: ModelTuner, server: JudgeServer) -> None:
        referee = ModelTuner.for_endpoint(server.url, "frozen", stream=stream)
        solver = agent("solver", tuner.register_model("solver", default_model=referee))
        checker = agent("checker", tuner.register_model("checker", default_model=referee))
        for turn in range(3):
            proposal = await solver.reply(UserMsg("user", f"turn {turn}"))
            await checker.reply(UserMsg("user", f"check {proposal.get_text_content()}"))
        await referee.aclose()
        assert [call.role for call in tuner.calls] == ["solver", "checker"] * 3
        assert [call.model for call in tuner.calls] == ["policy", "frozen"] * 3
        assert [call.trainable for call in tuner.calls] == [True, False] * 3
        assert tuner.trajectory == tuple(call for call in tuner.calls if call.role == "solver")
        says = [call.response["content"] for call in tuner.trajectory if call.response]
        assert says == [f"You are solver. turn {turn}" for turn in range(3)]

    with_tuner(each(echo), work, stream=stream, trainable_targets=["solver"])


@BOTH
def test_agents_that_run_in_parallel_are_kept_apart(stream: bool) -> None:
    async def work(tuner: ModelTuner, server: JudgeServer) -> None:
        names = [f"agent{at}" for at in range(8)]
        agents = [agent(name, tuner.register_model(name)) for name in names]
        await asyncio.gather(*(one.reply(UserMsg("user", f"{one.name} {turn}")) for turn in range(1) for one in agents))
        assert sorted(call.role for call in tuner.calls) == names
        for call in tuner.calls:
            assert call.response is not None
            assert call.response["content"] == f"You are {call.role}. {call.role} 0"
            assert call.messages[0]["content"][0]["text"] == f"You are {call.role}."

    with_tuner(each(echo), work, stream=stream)


def test_who_may_be_trained() -> None:
    async def work(tuner: ModelTuner, server: JudgeServer) -> None:
        # the tuner as its own default would be recorded twice
        for model in (tuner.register_model("a", default_model=tuner), tuner.register_model("b"), tuner):
            await ask(model)
        found = [(call.role, call.trainable) for call in tuner.calls]
        assert found == [("a", False), ("b", True), ("default", False)]

    with_tuner(in_turn(Say("x")), work, trainable_targets=["b"])
    with pytest.raises(ConfigError, match="must be a list of roles, got 'solver'"):
        ModelTuner(Silent(), trainable_targets="solver")


FAULTS: dict[str, tuple[Say, type[Exception] | tuple[type[Exception], ...], int]] = {
    "refused": (Say(how=Canned(status=400, text="too long")), openai.BadRequestError, 1),
    "overloaded": (Say(how=Canned(status=503, headers={"retry-after-ms": "1"})), openai.InternalServerError, 3),
    "limited": (Say(how=Canned(status=429, headers={"retry-after-ms": "1"})), openai.RateLimitError, 3),
    "dropped": (Say(how=Canned(drop=True)), openai.APIConnectionError, 3),
    "not JSON": (Say(how=Canned(raw="<html>")), (ConnectionError, ValueError), 1),
    "no choices": (Say(how=Canned(raw='{"id": "x", "choices": []}')), ConnectionError, 1),
}


@BOTH
@pytest.mark.parametrize("fault", FAULTS)
def test_a_call_that_fails_is_raised_and_recorded_once(fault: str, stream: bool) -> None:
    say, kind, requests = FAULTS[fault]

    async def work(tuner: ModelTuner, server: JudgeServer) -> None:
        with pytest.raises(kind) as caught:
            await ask(tuner)
        (call,) = tuner.calls
        assert call.error is not None
        assert call.error.startswith(type(caught.value).__name__)
        assert (call.response, call.prompt_tokens, call.finish_reason) == (None, None, None)
        assert call.messages == server.bodies[0]["messages"]
        assert len(server.bodies) == requests

    with_tuner(in_turn(say), work, stream=stream, max_retries=2)


@BOTH
@pytest.mark.parametrize(
    ("path", "say", "words"),
    [
        ("", Say(how=Canned(status=404)), ["/chat/completions", "without its /v1"]),
        ("/v1", Say(how=Canned(drop=True)), ["/v1/chat/completions: "]),
    ],
)
def test_an_error_names_the_address_that_was_asked(path: str, say: Say, words: list[str], stream: bool) -> None:
    async def run(address: str) -> None:
        tuner = ModelTuner.for_endpoint(address + path, "policy", stream=stream, max_retries=0)
        with pytest.raises(openai.APIError) as caught:
            await ask(tuner)
        await tuner.aclose()
        notes = " ".join(caught.value.__notes__)
        assert notes.startswith(f"asked {address}")
        for word in words:
            assert word in notes

    with JudgeServer(in_turn(say)) as server:
        asyncio.run(run(server.url.removesuffix("/v1")))


@pytest.mark.parametrize("status", [200, 400, 503])
@pytest.mark.parametrize("retries", [0, 2])
def test_an_endless_answer_is_read_no_further_and_is_a_failed_try(status: int, retries: int) -> None:
    endless = Say(how=Canned(status=status, raw=json.dumps({"error": "x" * 3_000_000})))

    async def run(url: str) -> None:
        http: Any = Client(Connections(most=0, most_bytes=2_000_000))
        async with openai.AsyncOpenAI(base_url=url, api_key="x", http_client=http, max_retries=retries) as client:
            with pytest.raises(openai.APIConnectionError) as caught:
                await client.chat.completions.create(model="policy", messages=[])
        assert "the answer is longer than 2000000 bytes" in str(caught.value.__cause__)

    with JudgeServer(in_turn(endless)) as server:
        asyncio.run(run(server.url))
        assert len(server.bodies) == 1 + retries


@BOTH
def test_the_endpoints_client_alone_retries_and_a_call_stays_one(stream: bool) -> None:
    busy = Say(how=Canned(status=503, headers={"retry-after-ms": "1"}))

    async def work(tuner: ModelTuner, server: JudgeServer) -> None:
        reply = await agent("solver", tuner).reply(HELLO)
        assert reply.get_text_content() == "here"
        assert len(server.bodies) == 3
        (call,) = tuner.calls
        assert call.error is None

    with_tuner(in_turn(busy, busy, Say("here")), work, stream=stream)


LONG = " ".join(map(str, range(3_000)))


@pytest.mark.parametrize(
    ("say", "kind"),
    [
        (Say(LONG, how=Canned(cut=True)), openai.APIConnectionError),
        (Say(LONG, finish=None), ConnectionError),
    ],
    ids=["cut", "no finish_reason"],
)
def test_a_stream_that_breaks_off_is_no_answer_and_is_recorded_as_far_as_it_came(
    say: Say, kind: type[Exception]
) -> None:
    async def work(tuner: ModelTuner, server: JudgeServer) -> None:
        with pytest.raises(kind) as caught:
            await ask(tuner)
        assert len(server.bodies) == 1, "the agent has seen a part of it"
        (call,) = tuner.calls
        assert call.error is not None
        assert call.error.startswith(type(caught.value).__name__)
        assert call.response is not None
        assert LONG.startswith(call.response["content"][:1000])
        assert call.finish_reason is None

    with_tuner(in_turn(say), work, stream=True)


def test_a_whole_response_without_a_finish_reason_is_no_answer_either() -> None:
    async def work(tuner: ModelTuner, server: JudgeServer) -> None:
        with pytest.raises(ConnectionError, match="no finish_reason"):
            await ask(tuner)
        assert tuner.calls[0].error is not None

    with_tuner(in_turn(Say("half an", finish=None)), work)


def test_an_endpoint_that_does_not_accept_is_given_up_within_seconds() -> None:
    async def work(tuner: ModelTuner, server: JudgeServer) -> None:
        inner: Any = tuner.inner
        assert (inner.client.timeout.connect, inner.client.timeout.read) == (5.0, 600)

    with_tuner(in_turn(Say("x")), work)


def test_a_record_stays_as_it_was_when_the_agent_changes_its_tools_and_the_reader_its_row() -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}

    async def work(tuner: ModelTuner, server: JudgeServer) -> None:
        await tuner(HELLO, tools=[tool])
        tool["function"]["name"] = "changed"  # type: ignore[index]
        (call,) = tuner.calls
        assert call.tools is not None
        assert call.tools[0]["function"]["name"] == "look"
        row = call.to_dict()
        row["tools"][0]["function"]["name"] = row["messages"][0]["role"] = "changed"
        assert call.tools[0]["function"]["name"] == "look"
        assert call.messages[0]["role"] == "user"

    with_tuner(in_turn(Say("x")), work)


def test_a_stream_that_nobody_reads_on_is_abandoned() -> None:
    async def work(tuner: ModelTuner, server: JudgeServer) -> None:
        stream = await tuner(HELLO)
        assert not isinstance(stream, ChatResponse)
        async for chunk in stream:
            assert not chunk.is_last
            break
        assert tuner.calls[0].error == "no response yet"
        await stream.aclose()
        (call,) = tuner.calls
        assert call.error is not None
        assert call.error.startswith("abandoned")
        assert call.response == {"role": "assistant", "content": "one"}

    with_tuner(in_turn(Say("one two three")), work, stream=True)


@BOTH
def test_a_cancelled_call_is_cancelled_and_recorded(stream: bool) -> None:
    async def work(tuner: ModelTuner, server: JudgeServer) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await ask(tuner)
        (call,) = tuner.calls
        assert call.error is not None
        assert "interrupted" in call.error or "CancelledError" in call.error
        assert call.response is None

    with_tuner(in_turn(Say(how=Canned(hang=True))), work, stream=stream)


@BOTH
def test_a_call_on_its_way_shows_what_it_waits_for(stream: bool) -> None:
    async def work(tuner: ModelTuner, server: JudgeServer) -> None:
        task = asyncio.create_task(ask(tuner))
        while not server.bodies:
            await asyncio.sleep(0.01)
        (call,) = tuner.calls
        assert (call.error, call.response) == ("no response yet", None)
        assert call.messages == server.bodies[0]["messages"]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    with_tuner(in_turn(Say(how=Canned(hang=True))), work, stream=stream)


class Sum(BaseModel):
    total: int


@BOTH
def test_structured_output_goes_through_the_tuner_too(stream: bool) -> None:
    say = Say(tools=[("generate_structured_output", '{"total": 4}')])

    async def work(tuner: ModelTuner, server: JudgeServer) -> None:
        found = await tuner.generate_structured_output(HELLO, Sum)
        assert found.content == {"total": 4}
        (call,) = tuner.calls
        assert call.error is None, "its reader stops at the last chunk, which is no abandoning"
        assert call.tool_choice == "generate_structured_output"

    with_tuner(in_turn(say), work, stream=stream)


class Silent(ChatModelBase):
    """A model of the user's own, without a network."""

    def __init__(self, *, streams: bool = False) -> None:
        super().__init__(credential=None, model="silent", parameters=self.Parameters(), stream=streams)  # type: ignore[arg-type]
        self.formatter = OpenAIChatFormatter()

    async def _call_api(
        self, model_name: str, messages: list[Msg], tools: Any = None, tool_choice: Any = None, **kwargs: Any
    ) -> ChatResponse | AsyncGenerator[ChatResponse, None]:
        usage = ChatUsage(input_tokens=1, output_tokens=2, time=0.0)
        if not self.stream:
            return ChatResponse(content=[TextBlock(text="ab")], is_last=True, usage=usage)

        async def parts() -> AsyncGenerator[ChatResponse, None]:
            for text in "ab":
                yield ChatResponse(content=[TextBlock(text=text, id="t")], is_last=False, usage=usage)

        return parts()


@BOTH
def test_any_agentscope_model_can_be_wrapped(stream: bool) -> None:
    tuner = ModelTuner(Silent(streams=stream))
    reply = asyncio.run(agent("solver", tuner).reply(HELLO))
    assert reply.get_text_content() == "ab"
    (call,) = tuner.calls
    assert call.response == {"role": "assistant", "content": "ab"}
    assert (call.prompt_tokens, call.completion_tokens, call.logprobs, call.finish_reason) == (1, 2, None, None)


def test_the_record_does_not_change_with_what_the_agent_goes_on_doing() -> None:
    tuner = ModelTuner(Silent())
    tools: list[dict[str, Any]] = [{"type": "function", "function": {"name": "add", "parameters": {}}}]
    response = asyncio.run(ask(tuner, tools=tools))
    before = tuner.calls[0].to_dict()
    tools[0]["function"]["name"] = "changed"
    response.append_text("changed")
    response.metadata["finish_reason"] = "changed"
    assert tuner.calls[0].to_dict() == before
