"""The built-in countdown environment and the worker that hosts any environment, without a server."""

from __future__ import annotations

import json
import os
import select
from typing import Any, cast

import pytest

from agentscope_tuner._run.child import ChildProcess, ChildProgram
from agentscope_tuner.env_service import episode_worker, episodes
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


class _Gives:
    """An environment that gives what it was made with, and raises it where it is an exception."""

    given: Any = None
    closed = False

    def __init__(self, *of: Any) -> None:
        self.of = of

    def _give(self, /, *asked: Any) -> Any:
        if isinstance(self.given, Exception):
            raise self.given
        return [self.of, asked] if self.given is None else self.given

    get_init_state = step = evaluate = get_info = _give
    get_query_list: Any = classmethod(cast("Any", _give))

    def close(self) -> None:
        type(self).closed = True


_STATE = {"state": [{"role": "user"}], "info": None}
_STEP = {**_STATE, "is_terminated": True, "reward": 0.5}


@pytest.mark.parametrize(
    ("method", "given", "error"),
    [
        ("create", _STATE, None),
        ("create", {"state": {}, "info": {}}, None),
        ("create", [], "get_init_state must give a dictionary, got []"),
        ("create", {"state": ["x"]}, "get_init_state must give a list of chat messages as 'state', got ['x']"),
        ("create", {"info": {}}, "get_init_state must give a list of chat messages as 'state', got None"),
        ("create", {**_STATE, "info": 3}, "get_init_state must give a dictionary as 'info', got 3"),
        *(("step", {**_STEP, "reward": one}, None) for one in (0.5, 1, None)),
        ("step", {"state": 1}, "step must give a list of chat messages as 'state', got 1"),
        ("step", _STATE, "step must give True or False as 'is_terminated', got None"),
        ("step", {**_STEP, "is_terminated": 1}, "step must give True or False as 'is_terminated', got 1"),
        ("step", {**_STEP, "reward": True}, "step must give a number or None as 'reward', got True"),
        ("step", {**_STEP, "reward": "1"}, "step must give a number or None as 'reward', got '1'"),
        ("evaluate", 0.5, None),
        ("evaluate", float("nan"), "nan"),
        ("get_info", {"any": ["thing"]}, None),
        ("get_info", {1j: 2}, "get_info gave what JSON cannot carry: "),
        ("get_info", float("inf"), "get_info gave what JSON cannot carry: "),
        ("get_env_profile", ["a", 3], None),
        ("get_env_profile", ["a", 3.5], "get_query_list must give a list of task ids, got ['a', 3.5]"),
        ("get_env_profile", "ab", "get_query_list must give a list of task ids, got 'ab'"),
        *((method, KeyError("x" * 20_000), f"KeyError: '{'x' * 9_989}") for method in ("step", "get_env_profile")),
    ],
)
def test_what_an_environment_gives_has_the_shape_of_its_method(
    method: str, given: Any, error: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Gives, "given", given if method in ("create", "get_env_profile") else _STATE)
    episode = episode_worker._Episode(cast("Any", _Gives))
    asked = {"create": ["task", "of", {}], "get_env_profile": ["train", {}]}

    def told(method: str) -> dict[str, Any]:
        request = {"id": 7, "method": method, "arguments": asked.get(method, [{}, {}])}
        found: dict[str, Any] = json.loads(episode_worker.answer(episode, request))
        return found

    if method in ("step", "evaluate", "get_info"):
        early = told(method)
        assert early == {"id": 7, "error": "RuntimeError: the environment was not created", "broken": False}
        told("create")
        monkeypatch.setattr(_Gives, "given", given)
    found = told(method)
    if error is None:
        assert found == {"id": 7, "data": given}
    else:
        assert (found["id"], found["broken"]) == (7, not isinstance(given, Exception))
        assert found["error"].startswith(error) or error in found["error"]
        assert len(found["error"]) <= 10_000


def test_an_environment_is_given_what_it_is_asked_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Gives, "closed", False)
    episode: Any = episode_worker._Episode(cast("Any", _Gives))
    episode.close()
    assert not _Gives.closed
    assert episode.create("task", "of", {"p": 1}) == [("task", "of", {"p": 1}), ({"p": 1},)]
    assert episode.step({"a": 1}, {"p": 2}) == [("task", "of", {"p": 1}), ({"a": 1}, {"p": 2})]
    assert episode.get_info({"m": 1}, {"p": 3}) == [("task", "of", {"p": 1}), ({"m": 1}, {"p": 3})]
    episode.close()
    assert _Gives.closed
