"""What the client writes on the wire, what it reads there, and how GymEnv keeps an episode honest."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from agentscope_tuner.cli.options import is_loopback
from agentscope_tuner.env_service import (
    AsyncEnvServiceClient,
    ClientOptions,
    Created,
    EnvServiceClient,
    GymEnv,
    StepResult,
)
from agentscope_tuner.errors import BadScore, ConfigError, EnvServerError, EnvServiceError
from agentscope_tuner.task_judge.env_service_as_judge import EnvServiceJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.faulty_env_server import Behaviour, FaultyEnvServer, answer, data, hang_after, reset_after

INSTANCE = "episode-7"
ACTION = {"role": "assistant", "content": "left"}
STATE = {"state": [{"role": "user", "content": "S F G"}], "info": {"instance_id": INSTANCE, "task_id": "task-1"}}
STEP = {"state": [{"role": "user", "content": "F S G"}], "reward": 0.5, "is_terminated": False, "info": {}}


class Wire:
    """A client whose network is a function, and what was sent through it."""

    def __init__(self, reply: object, options: ClientOptions | None = None) -> None:
        self.reply = reply
        self.sent: list[httpx.Request] = []
        self.client = EnvServiceClient("http://env.test:8000/", options, transport=httpx.MockTransport(self.handle))

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        return httpx.Response(200, json={"success": True, "data": self.reply})

    @property
    def body(self) -> Any:
        return json.loads(self.sent[-1].content)


Ask = Callable[[EnvServiceClient], object]


@pytest.mark.parametrize(
    ("ask", "reply", "path", "written", "result"),
    [
        (
            lambda client: client.create_instance("game", "task-1", INSTANCE, {"seed": 3}),
            STATE,
            "/create",
            {"env_type": "game", "task_id": "task-1", "instance_id": INSTANCE, "params": {"seed": 3}},
            Created(STATE["state"], INSTANCE, "task-1", STATE["info"]),  # type: ignore[arg-type]
        ),
        (
            lambda client: client.step(INSTANCE, ACTION, {"fast": True}),
            STEP,
            "/step",
            {"instance_id": INSTANCE, "messages": ACTION, "params": {"fast": True}},
            StepResult(STEP["state"], 0.5, False, {}),  # type: ignore[arg-type]
        ),
        (
            lambda client: client.step(INSTANCE, ACTION),
            {"state": {"role": "user", "content": "won"}, "reward": None, "is_terminated": True},
            "/step",
            {"instance_id": INSTANCE, "messages": ACTION},
            StepResult([{"role": "user", "content": "won"}], None, True, {}),
        ),
        (
            lambda client: client.evaluate(INSTANCE, params={"sparse": True}),
            1,
            "/evaluate",
            {"instance_id": INSTANCE, "params": {"sparse": True}},
            1.0,
        ),
        (
            lambda client: client.get_info(INSTANCE, {"about": "tools"}),
            ["left", "right"],
            "/get_info",
            {"instance_id": INSTANCE, "messages": {"about": "tools"}},
            ["left", "right"],
        ),
        (
            lambda client: client.get_env_profile("game", "test", {"level": 2}),
            ["a", 7],
            "/get_env_profile",
            {"env_type": "game", "params": {"split": "test", "level": 2}},
            ["a", "7"],
        ),
        (lambda client: client.release_instance(INSTANCE), None, "/release", {"instance_id": INSTANCE}, True),
    ],
    ids=["create", "step", "step-one-message", "evaluate", "get_info", "profile", "release"],
)
def test_a_call_is_written_and_read_as_the_wire_says(
    ask: Ask, reply: object, path: str, written: dict[str, object], result: object
) -> None:
    wire = Wire(reply)
    assert ask(wire.client) == result
    assert wire.sent[-1].method == "POST"
    assert wire.sent[-1].url.path == path
    default: dict[str, object] = {
        "env_type": "default",
        "task_id": None,
        "instance_id": None,
        "messages": {},
        "params": {},
    }
    assert wire.body == default | written


@pytest.mark.parametrize(
    ("text", "healthy"), [("OK", True), ('"OK"', True), ("OK\n", True), ("", False), ("<html>OK</html>", False)]
)
def test_only_ok_is_healthy(text: str, healthy: bool) -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        assert (request.method, request.url.path) == ("GET", "/healthz")
        return httpx.Response(200, text=text)

    client = EnvServiceClient("http://env.test", transport=httpx.MockTransport(handle))
    if healthy:
        assert client.healthz() is True
    else:
        with pytest.raises(EnvServerError, match="healthz"):
            client.healthz()


@pytest.mark.parametrize(
    ("detail", "kept"),
    [
        ("b" * 1_000 + "e" * 1_000, "b" * 1_000 + "e" * 1_000),
        ("b" * 1_001 + "e" * 1_000, "b" * 1_000 + " … " + "e" * 1_000),
        ("b" * 9_000 + "e" * 9_000, "b" * 1_000 + " … " + "e" * 1_000),
    ],
)
def test_a_long_detail_keeps_both_its_ends(detail: str, kept: str) -> None:
    error = EnvServerError(500, detail, "POST /step")
    assert (error.detail, str(error)) == (kept, f"POST /step: answered 500: {kept}")
    again = pickle.loads(pickle.dumps(error))
    assert (again.status, again.detail, again.where, str(again)) == (500, kept, "POST /step", str(error))


@pytest.mark.parametrize(
    ("ask", "reply", "message"),
    [
        (lambda client: client.create_instance("game", "t"), None, "a JSON object is missing"),
        (lambda client: client.create_instance("game", "t"), {"info": {}}, "state must be a list of chat messages"),
        (lambda client: client.create_instance("game", "t"), {"state": ["hello"]}, "state must be a list"),
        (
            lambda client: client.step(INSTANCE, ACTION),
            {"state": [], "reward": 0},
            "is_terminated must be true or false",
        ),
        (lambda client: client.step(INSTANCE, ACTION), {"state": "won", "is_terminated": True}, "state must be"),
        (lambda client: client.get_env_profile("game"), {"train": []}, "data must be a list of task ids"),
        (lambda client: client.get_env_profile("game"), [None], "data must be a list of task ids"),
    ],
)
def test_data_of_another_shape_is_the_servers_error(ask: Ask, reply: object, message: str) -> None:
    with pytest.raises(EnvServerError, match=message):
        ask(Wire(reply).client)


def test_a_steps_own_reward_must_be_a_number_too() -> None:
    with pytest.raises(BadScore, match=INSTANCE):
        Wire(STEP | {"reward": "0.5"}).client.step(INSTANCE, ACTION)


def test_whatever_text_a_policy_writes_arrives() -> None:
    wire = Wire(STEP)
    hostile = {"role": "assistant", "content": "\ud800 \x00 \u2028 </script> 漢字 😀" + "x" * 100_000}
    wire.client.step(INSTANCE, hostile)
    assert wire.body["messages"] == hostile


def test_a_fresh_instance_gets_an_id_of_its_own() -> None:
    wire = Wire({"state": [], "info": {}})
    first, second = (wire.client.create_instance("game", "t").instance_id for _ in range(2))
    assert first
    assert first != second


def test_the_token_is_sent_and_not_shown() -> None:
    options = ClientOptions(token="s3cret")
    wire = Wire(1.0, options)
    wire.client.evaluate(INSTANCE)
    assert wire.sent[-1].headers["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in repr(options)


@pytest.mark.parametrize("token", ["s3cret\n", "s3cret\u00e9", "s3 cret", "", "s3cret\x7f"])
def test_a_token_that_no_header_can_carry_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(ConfigError, match="visible ASCII") as caught:
        ClientOptions(token=token)
    assert "s3" not in str(caught.value)


@pytest.mark.parametrize(
    "failure",
    [
        answer("KeyError in headers {'authorization': 'Bearer s3cret'}", "500 Internal Server Error", "text/plain"),
        answer('{"detail": "Bearer s3cret"}', "401 Unauthorized"),
        answer(b"x" * 995 + b"s3cret" + b"y" * 1500, "500 Internal Server Error", "text/plain"),
        answer("Bearer s3cret", content_type="text/html"),
    ],
    ids=["traceback", "detail", "cut in the middle", "another type"],
)
def test_a_token_that_a_failing_service_quotes_is_not_shown(failure: Behaviour) -> None:
    options = ClientOptions(token="s3cret", tries=1)
    with (
        FaultyEnvServer([failure]) as server,
        EnvServiceClient(server.url, options) as client,
        pytest.raises(EnvServerError, match=r"\*\*\*") as caught,
    ):
        client.evaluate(INSTANCE)
    assert "s3c" not in f"{caught.value} {caught.value.detail} {caught.value.args}"


@pytest.mark.parametrize("action", ["left", ["left"], {"x": float("nan")}, {"x": object()}, {"x": 10**5000}])
def test_an_action_that_is_no_json_object_is_never_sent(action: Any) -> None:
    wire = Wire(STEP)
    with pytest.raises(EnvServiceError, match=f"instance '{INSTANCE}'.*nothing was sent"):
        wire.client.step(INSTANCE, action)
    assert wire.sent == []


def test_a_password_in_the_url_is_refused_and_not_shown() -> None:
    with pytest.raises(ConfigError, match=r"set a token, for 'env\.test'") as caught:
        EnvServiceClient("http://user:s3cret@env.test")
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("127.evil.example", False),
        ("localhost.evil.example", False),
        ("::1234", False),
        ("0.0.0.0", False),
        ("::", False),
    ],
)
def test_only_this_machine_is_served_without_a_warning(host: str, own: bool) -> None:
    assert is_loopback(host) is own


def test_a_client_serves_many_threads_and_a_running_loop() -> None:
    async def inside(client: EnvServiceClient) -> float:
        return client.evaluate(INSTANCE)

    with FaultyEnvServer([data("0.5")]) as server, EnvServiceClient(server.url) as client:
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(lambda _: client.evaluate(INSTANCE), range(50))) == [0.5] * 50
        assert asyncio.run(inside(client)) == 0.5
        client.close()
        assert client.evaluate(INSTANCE) == 0.5


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_leaves_its_parents_connections_alone() -> None:
    with FaultyEnvServer([data("0.5")]) as server, EnvServiceClient(server.url) as client:
        assert client.get_info(INSTANCE) == 0.5
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(write, str([client.get_info(INSTANCE), client.evaluate(INSTANCE)]).encode())
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            assert pipe.read() == "[0.5, 0.5]"
        os.waitpid(child, 0)
        assert client.get_info(INSTANCE) == 0.5


def test_a_proxy_in_the_environment_is_not_used() -> None:
    code = f"""
import sys
from agentscope_tuner.env_service import EnvServiceClient
print(EnvServiceClient(sys.argv[1]).evaluate({INSTANCE!r}))
"""
    # nobody listens on port 1
    proxy = dict.fromkeys(["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"], "http://127.0.0.1:1")
    with FaultyEnvServer([data("0.5")]) as server:
        command = [sys.executable, "-c", code, server.url]
        done = subprocess.run(command, env=os.environ | proxy, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("0.5\n", "")


# asyncio's own word on sockets that a loop leaves behind, which Python shows nobody unless asked
@pytest.mark.filterwarnings("ignore:unclosed transport:ResourceWarning")
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_nothing_is_said_about_a_client_that_nobody_closes(caplog: pytest.LogCaptureFixture) -> None:
    with FaultyEnvServer([data("0.5")]) as server:
        assert asyncio.run(AsyncEnvServiceClient(server.url).evaluate(INSTANCE)) == 0.5
        assert EnvServiceClient(server.url).evaluate(INSTANCE) == 0.5
        gc.collect()
    assert caplog.records == []


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EnvServiceClient("env.test:8000"), "must read http://host:port"),
        (lambda: EnvServiceClient("ftp://env.test"), "'ftp://env.test'"),
        (lambda: EnvServiceClient("http://"), "must read http://host:port"),
        (lambda: EnvServiceClient("http://env.test:port"), "is not one"),
        (lambda: ClientOptions(timeouts={"evalute": 3.0}), r"\['evalute'\]; there are \['create', 'evaluate'"),
        (lambda: ClientOptions(timeouts={"evaluate": 0.0}), "timeouts\\['evaluate'\\] must be above 0"),
        (lambda: ClientOptions(deadline=-1.0), "deadline must be above 0, got -1.0"),
        (lambda: ClientOptions(tries=0), "tries must be above 0, got 0"),
        (lambda: ClientOptions(tries=1.5), "tries must be a whole number, got 1.5"),  # type: ignore[arg-type]
        (lambda: ClientOptions(max_connections=1.5), "must be a whole number, got 1.5"),  # type: ignore[arg-type]
        (lambda: ClientOptions(deadline="3"), "deadline must be a number, got '3'"),  # type: ignore[arg-type]
        (lambda: ClientOptions(backoff=-1), "backoff must be at least 0, got -1"),
        (lambda: ClientOptions(deadline=float("nan")), "deadline must be above 0, got nan"),
        (lambda: EnvServiceClient("http://env.test/?a=1"), r"no \?query and no #fragment, got 'http://env.test/\?a=1'"),
        (lambda: EnvServiceClient("http://env.test/#top"), "no #fragment"),
        (lambda: EnvServiceClient("http://env.test/?"), "no #fragment"),
    ],
)
def test_a_wrong_setting_is_refused_at_once(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


CREATED = data(json.dumps(STATE))
STEPPED = data(json.dumps(STEP))
RELEASED = answer('{"success": true}')


def played(behaviours: list[Behaviour], play: Callable[[GymEnv], object]) -> list[str]:
    """The paths that the service saw while `play` ran in an episode."""
    options = ClientOptions(backoff=0.001, tries=2, timeouts={"step": 0.2})
    with (
        FaultyEnvServer([CREATED, *behaviours]) as server,
        EnvServiceClient(server.url, options) as client,
        GymEnv(client, "game", "task-1", instance_id=INSTANCE) as env,
    ):
        assert env.state == STATE["state"]
        play(env)
    return server.paths


def test_the_score_is_asked_for_once_until_the_next_step() -> None:
    def play(env: GymEnv) -> None:
        assert [env.evaluate(), env.evaluate(INSTANCE), env.evaluate(INSTANCE, params={})] == [0.25] * 3
        env.step(ACTION)
        assert env.evaluate() == 0.75
        assert env.evaluate(params={"sparse": True}) == 1.0

    paths = played([data("0.25"), STEPPED, data("0.75"), data("1.0"), RELEASED], play)
    assert paths == ["/create", "/evaluate", "/step", "/evaluate", "/evaluate", "/release"]


def test_a_score_that_was_asked_for_outlives_the_release() -> None:
    def play(env: GymEnv) -> None:
        assert env.evaluate() == 0.25
        assert env.release() is True
        assert env.evaluate() == 0.25

    assert played([data("0.25"), RELEASED], play) == ["/create", "/evaluate", "/release", "/release"]


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        (reset_after(b""), "ReadError"),
        (hang_after(b""), "TimeoutError"),
        (answer("", "502 Bad Gateway"), "answered 502"),
        (answer("<html>", content_type="text/html"), "text/html"),
        (data(json.dumps(STEP | {"reward": float("nan")})), "finite number"),
    ],
    ids=["reset", "hang", "502", "html", "nan"],
)
def test_an_episode_cut_short_by_the_network_has_no_score(broken: Behaviour, error: str) -> None:
    def play(env: GymEnv) -> None:
        with pytest.raises(EnvServiceError, match=error):
            env.step(ACTION)
        task = WorkflowTask(task=Task(), task_env_uuid=INSTANCE, gym_env=env)
        with pytest.raises(EnvServiceError, match=f"earlier step failed.*{error}"):
            EnvServiceJudge(config=None).compute_reward(task, WorkflowOutput())
        with pytest.raises(EnvServiceError, match=f"earlier step failed.*{error}"):
            env.step(ACTION)

    assert played([broken, data("0.0")], play) == ["/create", "/step", "/release"]


def test_an_action_that_the_environment_refused_does_not_end_the_episode() -> None:
    def play(env: GymEnv) -> None:
        with pytest.raises(EnvServerError, match="no such tool"):
            env.step(ACTION)
        env.step(ACTION)
        assert env.evaluate() == 0.5

    refusal = answer('{"detail": "no such tool"}', "400 Bad Request")
    paths = played([refusal, STEPPED, data("0.5"), RELEASED], play)
    assert paths == ["/create", "/step", "/step", "/evaluate", "/release"]


def test_a_handle_does_not_answer_for_another_episode() -> None:
    def play(env: GymEnv) -> None:
        with pytest.raises(EnvServiceError, match="plays instance 'episode-7', asked to evaluate 'other'"):
            env.evaluate("other")

    assert played([RELEASED], play) == ["/create", "/release"]


def test_an_episode_is_asked_for_information_with_parameters() -> None:
    wire = Wire({"turns": 2})
    assert GymEnv(wire.client, "game", "t", instance_id=INSTANCE).get_info({"whole": True}) == {"turns": 2}
    assert (wire.body["instance_id"], wire.body["params"]) == (INSTANCE, {"whole": True})


def test_the_services_own_id_is_taken_over() -> None:
    wire = Wire({"state": [], "info": {"instance_id": "theirs"}})
    env = GymEnv(wire.client, "game", "t")
    env.create()
    assert env.instance_id == "theirs"
