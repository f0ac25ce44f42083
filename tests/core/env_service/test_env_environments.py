"""The built-in countdown environment and the worker that hosts any environment, without a server."""

from __future__ import annotations

import json
import os
import select
from typing import Any

import pytest

from agentscope_tuner._run.child import ChildProcess, ChildProgram
from agentscope_tuner.env_service import episodes
from agentscope_tuner.env_service.countdown import MAX_TURNS, CountdownEnv, make_puzzle
from agentscope_tuner.env_service.environment import GeneratedGame, check_task_id
from agentscope_tuner.env_service.episode_worker import load_environment
from agentscope_tuner.errors import ConfigError

COUNTDOWN = "agentscope_tuner.env_service.countdown->CountdownEnv"


def say(text: object) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def test_a_task_id_is_the_same_puzzle_in_every_process() -> None:
    assert make_puzzle("train-7") == ([22, 3, 16, 20], 98)
    puzzles = [make_puzzle(task_id) for task_id in GeneratedGame.get_query_list("test", {})]
    assert all(len(numbers) == 4 and 1 <= target <= 999 for numbers, target in puzzles)
    assert len({str(puzzle) for puzzle in puzzles}) > 190


def test_countdown_pays_the_best_equation_so_far() -> None:
    env = CountdownEnv("train-7", "x", {})
    assert "Reach 98 with the numbers 22, 3, 16, 20" in env.get_init_state({})["state"][0]["content"]
    assert env.evaluate({}, {}) == 0.0
    junk = env.step(say("is \\boxed{__import__('os')} right?"), {})
    assert (junk["reward"], junk["is_terminated"], env.evaluate({}, {})) == (0.0, False, 0.0)
    assert "not an equation" in junk["state"][0]["content"]
    wrong = env.step(say("\\boxed{22+3+16+20}"), {})
    assert (wrong["reward"], wrong["is_terminated"], env.evaluate({}, {})) == (0.1, False, 0.1)
    assert "= 61, not 98" in wrong["state"][0]["content"]
    assert env.step(say("no box at all"), {})["reward"] == 0.0
    assert env.evaluate({}, {}) == 0.1
    assert env.step(say("\\boxed{22+16}, no: \\boxed{(22+16)*(20-3)}"), {})["reward"] == 0.0
    last = env.step(say("\\boxed{98}, I mean \\boxed{22+16+3\\times20}"), {})
    assert last["reward"] == pytest.approx(0.9)
    assert (last["is_terminated"], last["info"]["turns"], env.evaluate({}, {})) == (True, MAX_TURNS, 1.0)


def test_a_solved_game_is_over_and_stays_solved() -> None:
    env = CountdownEnv("train-0", "x", {})
    numbers, target = env.numbers, env.target
    assert (numbers, target) == ([5, 15, 8, 3], 128)
    solved = env.step(say("\\boxed{15*8+5+3}"), {})
    assert solved["state"][0]["content"] == "Right!"
    assert (solved["reward"], solved["is_terminated"], env.evaluate({}, {})) == (1.0, True, 1.0)
    after = env.step(say("\\boxed{1}"), {})
    assert (after["state"][0]["content"], after["reward"], env.evaluate({}, {})) == ("The game is over.", 0.0, 1.0)
    assert after["info"]["turns"] == 1


@pytest.mark.parametrize("content", [None, 7, ["left"], {"text": "left"}])
def test_an_action_without_a_text_is_refused_and_costs_nothing(content: object) -> None:
    env = CountdownEnv("train-0", "x", {})
    with pytest.raises(ValueError, match="a text as its content"):
        env.step(say(content), {})
    assert env.get_info({}, {})["turns"] == 0


@pytest.mark.parametrize(
    "task_id", ["", "train", "train-", "train-01", "train-1000", "test-200", "dev-1", "train-1\n", "train-١"]
)
def test_a_task_that_does_not_exist_is_refused(task_id: str) -> None:
    with pytest.raises(ValueError, match="train-0 to train-999"):
        check_task_id(task_id)


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        ("no arrow", "must read 'module->Class', got 'no arrow'"),
        ("no.such.module->Env", "No module named 'no'"),
        ("json->NoSuchEnv", "no attribute 'NoSuchEnv'"),
    ],
)
def test_an_environment_that_cannot_be_loaded_is_named(protocol: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_environment(protocol)


@pytest.mark.parametrize(("broken", "status"), [(True, 500), (False, 400)])
def test_an_error_of_an_environment_says_whose_it_is(broken: bool, status: int) -> None:
    told = json.dumps({"id": 3, "error": "no such puzzle", "broken": broken}).encode()
    with pytest.raises(episodes.EpisodeRefusal) as refused:
        episodes._data(told, 3)
    assert (refused.value.status, refused.value.detail) == (status, "no such puzzle")
    assert episodes._data(b'{"id": 3, "data": [1]}', 3) == [1]
    with pytest.raises(ValueError, match="the answer to call 3 came to call 4"):
        episodes._data(told, 4)


def test_a_worker_answers_one_request_after_the_other_and_ends_with_its_channel() -> None:
    requests: list[dict[str, Any]] = [
        {"method": "step", "arguments": [say("too early"), {}]},
        {"method": "create", "arguments": ["train-0", "x", {}]},
        {"method": "step", "arguments": [say("\\boxed{15*8+5+3}"), {}]},
        {"method": "evaluate", "arguments": [{}, {}]},
        {"method": "get_env_profile", "arguments": ["nope", {}]},
        {"method": "close", "arguments": []},
    ]
    worker = ChildProcess(ChildProgram("agentscope_tuner.env_service.episode_worker", [COUNTDOWN]))

    def reply() -> Any:
        while not (found := worker.receive()[0]):
            select.select([worker.channel], [], [], 20)
        return json.loads(found[0])

    assert reply() == {"id": 0, "data": "loaded"}
    replies = []
    for number, request in enumerate(requests, 1):
        worker.send(json.dumps({"id": number, **request}).encode())
        worker.flush()
        replies.append(reply())
    worker.channel.close()
    assert os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT) is not None
    assert worker.end() == "ended with exit code 0"
    worker.close()
    assert replies[0] == {"id": 1, "error": "RuntimeError: the environment was not created", "broken": False}
    assert replies[1]["data"]["info"]["target"] == 128
    assert replies[3:] == [
        {"id": 4, "data": 1.0},
        {"id": 5, "error": "ValueError: split must be one of ['test', 'train'], got 'nope'", "broken": False},
        {"id": 6, "data": None},
    ]
