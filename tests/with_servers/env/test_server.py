"""The reference server, over real sockets and with real worker processes: a bad environment hurts only itself."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
import uvicorn

from agentscope_tuner._http.transport import KEEPALIVE_SECONDS
from agentscope_tuner.env_service import ClientOptions, EnvServiceClient, GymEnv
from agentscope_tuner.errors import EnvServerError, EnvServiceError, EnvUnreachable, InstanceNotFound
from agentscope_tuner.task_judge.env_service_as_judge import EnvServiceJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.with_servers.env.running_server import RunningServer, alive


def say(content: str) -> dict[str, str]:
    return {"role": "assistant", "content": content}


def pid_of(env: GymEnv) -> int:
    pid: int = env.get_info()["pid"]
    return pid


def test_it_is_healthy_and_lists_tasks(client: EnvServiceClient) -> None:
    assert client.healthz() is True
    assert client.get_env_profile("countdown")[:2] == ["train-0", "train-1"]
    assert len(client.get_env_profile("frozenlake", "test")) == 200
    assert client.get_env_profile("hostile", "dev", {"level": 3}) == ["dev-3"]


def test_the_wire_is_the_one_that_servers_in_the_field_speak(server: RunningServer) -> None:
    def post(path: str, **body: Any) -> tuple[int, Any]:
        response = httpx.post(f"{server.url}{path}", json=body, trust_env=False, timeout=20)
        return response.status_code, response.json()

    status, made = post("/create", env_type="hostile", task_id="t", instance_id="wire", messages={}, params={})
    assert (status, made) == (
        200,
        {
            "success": True,
            "data": {
                "state": [{"role": "user", "content": "go"}],
                "info": {"instance_id": "wire", "task_id": "t"},
            },
        },
    )
    status, stepped = post("/step", instance_id="wire", messages=say("left"))
    assert (status, stepped["data"]["state"][0]["content"]) == (200, "left")
    assert set(stepped["data"]) == {"state", "reward", "is_terminated", "info"}
    assert post("/evaluate", instance_id="wire") == (200, {"success": True, "data": 0.5})
    assert post("/release", instance_id="wire") == (200, {"success": True, "data": None})
    assert post("/release", instance_id="wire") == (200, {"success": False, "data": None})
    assert post("/evaluate", instance_id="wire") == (400, {"detail": "Instance wire not found!"})
    assert post("/evaluate") == (400, {"detail": "instance_id is required"})
    assert post("/create", env_type="hostile") == (400, {"detail": "task_id is required"})
    assert post("/create", env_type="nope", task_id="t")[0] == 400
    status, listed = post("/get_env_profile", env_type="hostile", params={"split": "test"})
    assert (status, listed) == (200, {"success": True, "data": ["test-0"]})


def test_a_created_id_without_wish_is_fresh(server: RunningServer) -> None:
    body = {"env_type": "hostile", "task_id": "t"}
    made = httpx.post(f"{server.url}/create", json=body, trust_env=False, timeout=20).json()["data"]
    assert made["info"]["instance_id"]


def test_creating_a_known_id_resets_its_episode(client: EnvServiceClient) -> None:
    with GymEnv(client, "countdown", "train-3", instance_id="again") as env:
        env.step(say("\\boxed{1}"))
        client.create_instance("countdown", "train-3", "again")
        assert env.get_info()["turns"] == 0


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        ("hangs", "did not end within 5 s and the environment was killed"),
        ("spins", "did not end within 5 s and the environment was killed"),
        ("dies", "was killed by SIGSEGV"),
        ("exits", "ended with exit code 7"),
        ("writes too much", "answered what could not be read, and was killed"),
    ],
)
def test_an_environment_that_is_lost_takes_only_its_own_episode(
    client: EnvServiceClient, trouble: str, message: str
) -> None:
    with GymEnv(client, "hostile", "well") as healthy, GymEnv(client, "hostile", trouble) as env:
        pid = pid_of(env)
        with pytest.raises(EnvServerError, match=message) as caught:
            env.step(say("go"))
        assert caught.value.status == 500
        assert not alive(pid)
        with pytest.raises(InstanceNotFound):
            client.evaluate(env.instance_id)
        assert healthy.step(say("on")).state == [{"role": "user", "content": "on"}]
        assert healthy.evaluate() == 0.5


def test_a_hanging_environment_does_not_keep_others_waiting(client: EnvServiceClient) -> None:
    with (
        GymEnv(client, "hostile", "hangs") as hung,
        GymEnv(client, "hostile", "well") as healthy,
        ThreadPoolExecutor(1) as pool,
    ):
        pending = pool.submit(hung.step, say("go"))
        for turn in range(20):
            healthy.step(say(str(turn)))
        assert not pending.done()
        # a release in the middle of the call ends it
        assert hung.release() is True
        with pytest.raises(EnvServerError, match="step: the environment"):
            pending.result(10)


@pytest.mark.parametrize(
    ("trouble", "message"), [("raises at creation", "no such level"), ("dies at creation", "code 3")]
)
def test_a_failed_creation_leaves_nothing_behind(
    server: RunningServer, client: EnvServiceClient, trouble: str, message: str
) -> None:
    before = server.workers()
    with pytest.raises(EnvServerError, match=message):
        client.create_instance("hostile", trouble, "stillborn")
    assert server.workers() == before
    assert client.release_instance("stillborn") is False


@pytest.mark.parametrize("score", ["nan", "infinite", "none", "text", "bool"])
def test_what_is_no_finite_number_never_leaves_the_server(client: EnvServiceClient, score: str) -> None:
    with GymEnv(client, "hostile", score) as env:
        with pytest.raises(EnvServerError, match="evaluate must give a finite number") as caught:
            env.evaluate()
        assert caught.value.status == 500
        task = WorkflowTask(task=Task(), task_env_uuid=env.instance_id, gym_env=env)
        with pytest.raises(EnvServiceError, match=env.instance_id):
            EnvServiceJudge(config=None).compute_reward(task, WorkflowOutput())


@pytest.mark.parametrize(
    ("trouble", "status", "message"), [("nan reward", 500, "JSON cannot carry"), ("raises", 400, "KeyError: 'go'")]
)
def test_an_environments_own_error_is_told(client: EnvServiceClient, trouble: str, status: int, message: str) -> None:
    with GymEnv(client, "hostile", trouble) as env:
        with pytest.raises(EnvServerError, match=message) as caught:
            env.step(say("go"))
        assert caught.value.status == status
        assert client.evaluate(env.instance_id) == 0.5


def test_an_environment_may_print_and_read_without_harm(client: EnvServiceClient) -> None:
    with GymEnv(client, "hostile", "scribbles on the pipe") as env:
        assert env.step(say("go")).state[0]["content"] == "go"
    with GymEnv(client, "hostile", "reads input") as env:
        assert env.step(say("go")).state[0]["content"] == "''"
    with GymEnv(client, "hostile", "not json") as env, pytest.raises(EnvServerError, match="JSON cannot carry"):
        env.get_info()


def test_a_class_that_is_not_there_is_named(client: EnvServiceClient) -> None:
    with pytest.raises(EnvServerError, match="NoSuchEnv"):
        client.create_instance("missing", "t")


def test_whatever_text_a_policy_writes_comes_back(client: EnvServiceClient) -> None:
    hostile = 80_000 * "😀" + "\ud800 \x00 \u2028 </script> 漢字 😀 \r\n\r\nHTTP/1.1 200 OK"
    with GymEnv(client, "hostile", "well") as env:
        assert env.step(say(hostile)).state == [{"role": "user", "content": hostile}]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "cannot be read"),
        (b"\xff\xfe\xfa", 400, "cannot be read"),
        (b"[]", 400, "cannot be read"),
        (b'{"instance_id": 7}', 400, "instance_id"),
        (b'{"instance_id": "x", "messages": []}', 400, "messages"),
        (b"[" * 200_000, 400, "cannot be read"),
        (b'{"instance_id": ' + b"9" * 9_999 + b"}", 400, "cannot be read"),
        (b'{"instance_id": "' + b"x" * 2_000_000 + b'"}', 413, "longer than 1000000 bytes"),
    ],
    ids=["half", "utf-8", "list", "number", "messages", "brackets", "digits", "long"],
)
def test_a_hostile_request_is_refused_in_words(server: RunningServer, body: bytes, status: int, message: str) -> None:
    response = httpx.post(f"{server.url}/evaluate", content=body, trust_env=False, timeout=20)
    assert response.status_code == status
    assert message in response.json()["detail"]


def test_a_long_request_without_a_length_is_cut_off(server: RunningServer) -> None:
    def endless() -> Any:
        for _ in range(100):
            yield b" " * 100_000

    response = httpx.post(f"{server.url}/evaluate", content=endless(), trust_env=False, timeout=20)
    assert response.status_code == 413


def test_a_lost_worker_is_noticed_at_the_next_call(client: EnvServiceClient) -> None:
    with GymEnv(client, "hostile", "well") as env:
        subprocess.run(["kill", "-9", str(pid_of(env))], check=True)
        with pytest.raises(EnvServerError, match="was killed by SIGKILL"):
            client.evaluate(env.instance_id)


def test_calls_of_one_episode_are_played_one_after_the_other(client: EnvServiceClient) -> None:
    with GymEnv(client, "countdown", "train-1") as env, ThreadPoolExecutor(8) as pool:
        turns = list(pool.map(lambda _: env.step(say("\\boxed{1}")).info["turns"], range(5)))
        assert sorted(turns) == [1, 2, 3, 4, 5]


def test_two_creations_of_one_id_leave_one_episode(server: RunningServer, client: EnvServiceClient) -> None:
    before = len(server.workers())
    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(client.create_instance, "hostile", "t", "twin") for _ in range(2)]
        errors = [future.exception(20) for future in made]
    # the later one wins; the earlier may learn that its episode is gone
    assert errors.count(None) >= 1
    assert len(server.workers()) == before + 1
    assert client.evaluate("twin") == 0.5
    assert client.release_instance("twin") is True
    assert len(server.workers()) == before


def test_no_more_instances_than_allowed_and_idle_ones_expire() -> None:
    with (
        RunningServer("--max-instances", "2", "--idle-seconds", "3") as server,
        EnvServiceClient(server.url) as client,
    ):
        for name in ["one", "two"]:
            client.create_instance("countdown", "train-0", name)
        with pytest.raises(EnvServerError, match="no more are allowed") as caught:
            client.create_instance("countdown", "train-0", "three")
        assert caught.value.status == 429
        gone = threading.Event()
        # evaluating would keep it awake; a release tells without waking it
        for _ in range(100):
            if not server.workers():
                break
            gone.wait(0.1)
        assert server.workers() == []
        assert client.release_instance("one") is False
        client.create_instance("countdown", "train-0", "three")


def test_a_token_is_asked_for() -> None:
    with RunningServer(token="s3cret") as server:
        with EnvServiceClient(server.url, ClientOptions(token="wrong")) as stranger:
            assert stranger.healthz() is True
            with pytest.raises(EnvServerError, match="answered 401") as caught:
                stranger.create_instance("countdown", "train-0")
            assert "s3cret" not in str(caught.value)
        with EnvServiceClient(server.url, ClientOptions(token="s3cret")) as friend:
            assert friend.create_instance("countdown", "train-0").state


def test_the_token_is_not_the_environments_to_know() -> None:
    options = ["--env", "hostile=tests.with_servers.env.hostile_environment->HostileEnv"]
    with (
        RunningServer(*options, token="s3cret") as server,
        EnvServiceClient(server.url, ClientOptions(token="s3cret")) as client,
        GymEnv(client, "hostile", "shows its environment") as env,
    ):
        shown = env.step(say("go")).state[0]["content"]
    assert "PATH" in shown
    assert "s3cret" not in shown


def test_the_client_gives_an_idle_connection_up_before_the_server_does() -> None:
    assert uvicorn.Config("app").timeout_keep_alive >= 2 * KEEPALIVE_SECONDS


def test_a_call_under_way_is_not_idle() -> None:
    options = ["--env", "hostile=tests.with_servers.env.hostile_environment->HostileEnv", "--idle-seconds", "0.5"]
    with (
        RunningServer(*options) as server,
        EnvServiceClient(server.url) as client,
        GymEnv(client, "hostile", "is slow") as env,
    ):
        assert env.step(say("go")).state[0]["content"] == "go"


def test_a_child_that_holds_the_pipes_keeps_nobody_waiting() -> None:
    with RunningServer("--env", "hostile=tests.with_servers.env.hostile_environment->HostileEnv") as server:
        with EnvServiceClient(server.url, ClientOptions(tries=1, timeouts={"create": 12, "release": 8})) as client:
            for name in ["one", "two", "three"]:
                client.create_instance("hostile", "leaves a child behind", name, {"seconds": 30})
            with ThreadPoolExecutor(3) as pool:
                assert list(pool.map(client.release_instance, ["one", "two", "three"])) == [True] * 3
            client.create_instance("hostile", "well", "four")
            assert client.evaluate("four") == 0.5
        # `wait` allows 20 s
        server.terminate()


@pytest.mark.parametrize(
    ("task_id", "message"),
    [
        ("opens with None", "get_init_state must give a dictionary, got None"),
        ("opens with text", "get_init_state must give a dictionary, got 'go'"),
        ("opens without messages", "get_init_state must give a list of chat messages as 'state', got 'go'"),
        ("opens with a list as info", r"get_init_state must give a dictionary as 'info', got \['a'\]"),
    ],
)
def test_an_opening_of_another_shape_is_told_and_leaves_nothing_behind(
    server: RunningServer, client: EnvServiceClient, task_id: str, message: str
) -> None:
    before = server.workers()
    with pytest.raises(EnvServerError, match=message) as caught:
        client.create_instance("hostile", task_id, "misshapen")
    assert caught.value.status == 500
    assert server.workers() == before
    assert client.release_instance("misshapen") is False


@pytest.mark.parametrize(
    ("task_id", "message"),
    [
        ("steps to a list", "step must give a dictionary"),
        ("steps without messages", "step must give a list of chat messages as 'state', got None"),
        ("steps without an end", "step must give True or False as 'is_terminated', got None"),
        ("steps to True", "step must give a number or None as 'reward', got True"),
    ],
)
def test_a_step_of_another_shape_is_told(client: EnvServiceClient, task_id: str, message: str) -> None:
    with GymEnv(client, "hostile", task_id) as env, pytest.raises(EnvServerError, match=message) as caught:
        env.step(say("go"))
    assert caught.value.status == 500


def test_tasks_that_are_no_list_are_told(client: EnvServiceClient) -> None:
    with pytest.raises(EnvServerError, match="answered 500: get_query_list must give a list of task ids"):
        client.get_env_profile("hostile", "no list")


def test_an_environment_that_forks_and_returns_answers_once(client: EnvServiceClient) -> None:
    with GymEnv(client, "hostile", "forks") as env:
        for turn in ["one", "two", "three"]:
            assert env.step(say(turn)).state[0]["content"] == turn
        assert env.evaluate() == 0.5


def test_an_answer_to_an_earlier_call_is_no_answer(client: EnvServiceClient) -> None:
    with GymEnv(client, "hostile", "answers twice") as env:
        with pytest.raises(EnvServerError, match="answered what could not be read, and was killed"):
            env.step(say("go"))
        with pytest.raises(InstanceNotFound):
            client.evaluate(env.instance_id)


def test_what_an_environment_starts_ends_with_it(client: EnvServiceClient) -> None:
    with GymEnv(client, "hostile", "starts a child") as env:
        child = int(env.step(say("go")).state[0]["content"])
        assert alive(child)
    wait = threading.Event()
    for _ in range(100):
        if not alive(child):
            break
        wait.wait(0.05)
    assert not alive(child)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_server_and_its_episodes_without_a_traceback(
    number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    with RunningServer() as server:
        server.process.send_signal(number)
        server.wait()
    assert server.process.returncode == 128 + number
    assert capfd.readouterr().err == ""


TOLD_EARLY = """
import selectors, signal, socket
from agentscope_tuner.cli.console import signals_interrupt
from agentscope_tuner.env_service.episodes import ServerLimits
from agentscope_tuner.env_service.server import build_app, serve

class Tells(selectors.DefaultSelector):
    def __init__(self):
        super().__init__()
        signal.raise_signal(signal.SIGHUP)

for ending in signal.SIGTERM, signal.SIGHUP:
    signal.signal(ending, signal.SIG_DFL)
selectors.DefaultSelector = Tells
app = build_app({}, ServerLimits(), None)
with signals_interrupt():
    serve(app, socket.create_server(("127.0.0.1", 0)), announce=lambda: None)
"""


def test_a_signal_that_comes_while_its_event_loop_is_made_leaves_no_traceback() -> None:
    ended = subprocess.run([sys.executable, "-c", TOLD_EARLY], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (128 + signal.SIGHUP, "")


@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_no_worker_outlives_its_server(end: str) -> None:
    with RunningServer("--env", "hostile=tests.with_servers.env.hostile_environment->HostileEnv") as server:
        with EnvServiceClient(server.url, ClientOptions(tries=1)) as client, ThreadPoolExecutor(1) as pool:
            client.create_instance("hostile", "well", "idle")
            client.create_instance("hostile", "spins", "busy")
            client.create_instance("hostile", "hangs at the end", "stubborn")
            workers = server.workers()
            assert len(workers) == 3
            pending = pool.submit(client.step, "busy", say("go"))
            getattr(server, end)()
            assert isinstance(pending.exception(20), EnvServiceError)
        wait = threading.Event()
        for _ in range(100):
            if not any(map(alive, workers)):
                break
            wait.wait(0.05)
        assert [pid for pid in workers if alive(pid)] == []


def test_after_a_restart_the_episodes_are_unknown_and_not_zero() -> None:
    with RunningServer() as server, EnvServiceClient(server.url, ClientOptions(tries=3, backoff=0.01)) as client:
        env = GymEnv(client, "countdown", "train-0")
        env.create()
        assert client.evaluate(env.instance_id) == 0.0
        server.kill()
        with pytest.raises(EnvUnreachable):
            env.evaluate()
        with RunningServer(port=server.port):
            with pytest.raises(InstanceNotFound):
                env.evaluate()
            with pytest.raises(InstanceNotFound):
                env.step(say("\\boxed{1}"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--env", "mine"], "--env must read 'env_type=module->Class', got 'mine'"),
        (["--idle-seconds", "0"], "idle_seconds must be above 0, got 0.0"),
        (["--host", "203.0.113.1"], "cannot listen on 203.0.113.1"),
    ],
)
def test_a_wrong_option_ends_the_command_at_once(options: list[str], message: str) -> None:
    command = [
        sys.executable,
        "-c",
        "from agentscope_tuner.cli.serve import env_app; env_app()",
        "serve",
        "--port",
        "0",
        *options,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


def test_a_request_that_stops_half_way_hurts_nobody(server: RunningServer, client: EnvServiceClient) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as half:
        head = "POST /evaluate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        half.sendall(head.encode() + json.dumps({"instance_id": "x"}).encode())
        assert client.healthz() is True
    assert client.healthz() is True
