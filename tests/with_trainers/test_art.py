"""ART's trajectories and its gathering of them; the matrix's rows show what a trajectory is paid."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from agentscope_tuner.adapters.art import judged_by
from tests.with_trainers.judges import config
from tests.with_trainers.runners import without_engines

trajectories: Any = without_engines("art.trajectories")
gather: Any = without_engines("art.gather")

ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "6*7?"}]
CALL = [{"id": "a", "type": "function", "function": {"name": "add", "arguments": "{}"}}]


@pytest.fixture
def judge(tmp_path: Path) -> Any:
    def made(name: str) -> Any:
        path = tmp_path / f"{name}.yaml"
        OmegaConf.save(OmegaConf.create(config(name)), path)
        return judged_by(path)

    return made


def test_a_failed_verdict_is_an_exception_of_its_group_and_no_reward(judge: Any) -> None:
    judged = judge("FailsSome")

    async def rollout(said: str) -> Any:
        history = [*ASKED, {"role": "assistant", "content": said}]
        return await judged(trajectories.Trajectory(messages_and_choices=history), {"answer": "42"})

    async def gathered() -> Any:
        group = trajectories.TrajectoryGroup(rollout(said) for said in (r"\boxed{42}", "no box", r"\boxed{41}"))
        return await gather.gather_trajectory_groups([group], pbar_desc=None, max_exceptions=1)

    (group,) = asyncio.run(gathered())
    assert [episode.reward for episode in group.trajectories] == [1.0, 1.0]
    assert ["did not answer" in error.message for error in group.exceptions] == [True]


def exchange(place: int, messages: list[dict[str, Any]], said: str, **more: Any) -> Any:
    """One call of the policy, as ART records it."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said, **more}}
    response = {"id": f"c{place}", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    times = {"start_time": f"2026-01-01T00:00:0{place}Z", "end_time": f"2026-01-01T00:00:0{place + 1}Z"}
    given = {"request": {"model": "m", "messages": messages}, "response": response, **times}
    return trajectories.ChatCompletionsExchange.model_validate(given)


def told(role: str, said: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": said, **more}


@pytest.mark.skipif(not hasattr(trajectories, "ChatCompletionsExchange"), reason="this ART records no exchanges")
@pytest.mark.parametrize(
    ("exchanges", "reward"),
    [
        ([(ASKED, "6*7?", {})], 1.0),
        ([(ASKED, "5*7?", {})], 0.0),
        # a user's words later in the episode are not the question, and no other's are the answer
        ([(ASKED, "41", {}), ([*ASKED, told("assistant", "41"), told("user", "No.")], "6*7?", {})], 1.0),
        ([(ASKED, "41", {}), ([*ASKED, told("assistant", "41"), told("user", "6*7?")], "Thanks.", {})], 0.0),
        (
            [
                (ASKED, "", {"tool_calls": CALL}),
                ([*ASKED, told("assistant", "", tool_calls=CALL), told("tool", "6*7?", tool_call_id="a")], "Well.", {}),
            ],
            0.0,
        ),
        # a prompt may hold turns of an assistant, too
        ([([told("user", "1+1?"), told("assistant", "2"), *ASKED], "6*7?", {})], 1.0),
    ],
)
def test_an_episode_that_was_recorded_is_read_as_one_that_was_kept(
    exchanges: list[Any], reward: float, judge: Any
) -> None:
    calls = [exchange(place, asked, said, **more) for place, (asked, said, more) in enumerate(exchanges)]
    episode = trajectories.Trajectory(exchanges=trajectories.TrajectoryExchanges(chat_completions=calls))
    assert asyncio.run(judge("RepeatsTheQuestion")(episode, {"answer": "42"})).reward == reward
