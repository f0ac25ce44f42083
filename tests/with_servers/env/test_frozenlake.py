"""FrozenLake as text, with gymnasium's own rules underneath."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy
import pytest

from agentscope_tuner.env_service.frozenlake import FrozenLakeEnv
from agentscope_tuner.env_service.wire import finite_score
from agentscope_tuner.errors import BadScore
from tutorial.example_frozenlake.scripted_policy import shortest_way


def say(content: str) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


@pytest.mark.parametrize("number", range(10))
def test_the_shortest_way_reaches_the_goal(number: int) -> None:
    env = FrozenLakeEnv(f"train-{number}", "x", {})
    moves = deque(shortest_way(env.get_info({}, {})["map"]))
    last: dict[str, Any] = {}
    while moves:
        assert env.evaluate({}, {}) == 0.0
        last = env.step(say(f"I go {moves.popleft()}."), {})
    assert (last["reward"], last["is_terminated"], env.evaluate({}, {})) == (1.0, True, 1.0)
    assert env.step(say("left"), {})["state"][0]["content"] == "The game is over."
    assert env.evaluate({}, {}) == 1.0
    env.close()


def test_a_hole_ends_the_game_without_a_score() -> None:
    env = FrozenLakeEnv("train-0", "x", {})
    assert env.get_info({}, {})["map"].splitlines()[:2] == ["P F F F", "H H F F"]
    fallen = env.step(say("down"), {})
    assert (fallen["is_terminated"], env.evaluate({}, {})) == (True, 0.0)
    assert "You fell into a hole." in fallen["state"][0]["content"]


def test_the_last_direction_counts_and_none_costs_the_turn() -> None:
    env = FrozenLakeEnv("train-0", "x", {})
    assert env.step(say("Not down! I go RIGHT"), {})["state"][0]["content"].startswith("You went right.")
    reply = env.step(say("leftover upright downstairs"), {})
    assert reply["state"][0]["content"].startswith("Say left, down, right or up.")
    assert reply["info"]["turns"] == 2


def test_a_policy_that_stalls_runs_out_of_turns() -> None:
    env = FrozenLakeEnv("train-0", "x", {"size": 4})
    replies = [env.step(say("hm" if turn % 2 else "up"), {}) for turn in range(16)]
    assert [reply["is_terminated"] for reply in replies] == [False] * 15 + [True]
    assert env.evaluate({}, {}) == 0.0


@pytest.mark.parametrize("params", [{"size": 2}, {"size": 10**9}, {"size": "4"}, {"is_slippery": 1}, {"size": None}])
def test_a_wrong_parameter_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="size must be 3 to 12"):
        FrozenLakeEnv("train-0", "x", params)


def test_train_and_test_share_no_map() -> None:
    maps = [
        {FrozenLakeEnv(f"{split}-{number}", "x", {"size": 8}).get_info({}, {})["map"] for number in range(20)}
        for split in ("train", "test")
    ]
    assert [len(each) for each in maps] == [20, 20]
    assert not maps[0] & maps[1]


def test_numpys_numbers_are_scores_and_its_booleans_are_not() -> None:
    for value in (numpy.float32(0.5), numpy.float64(0.5), numpy.int64(1), numpy.uint8(1)):
        assert finite_score(value, "x") == float(value)
    for bad in (numpy.bool_(True), numpy.float64("nan"), numpy.array(1.0), numpy.array([1.0])):
        with pytest.raises(BadScore):
            finite_score(bad, "x")
