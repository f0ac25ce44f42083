"""What a failing network or service becomes, over real sockets: which error, after how many requests, and never a 0."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentscope_tuner._run import loops
from agentscope_tuner.env_service import AsyncEnvServiceClient, ClientOptions, EnvServiceClient, GymEnv
from agentscope_tuner.errors import (
    BadScore,
    EnvServerError,
    EnvServiceError,
    EnvTimeout,
    EnvUnreachable,
    InstanceNotFound,
)
from agentscope_tuner.task_judge.env_service_as_judge import EnvServiceJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.faulty_env_server import (
    Behaviour,
    FaultyEnvServer,
    answer,
    close_after,
    data,
    drip,
    hang_after,
    reset_after,
)

INSTANCE = "episode-7"
ACTION = {"role": "assistant", "content": "left"}
TRIES = 3
LIMIT = 1_000_000
PATIENT = ClientOptions(tries=TRIES, backoff=0.001, max_response_bytes=LIMIT)
# for the rows in which only the clock ends the call
HASTY = ClientOptions(
    tries=2, backoff=0.001, timeouts={"evaluate": 0.1, "step": 0.1, "create": 0.1}, max_response_bytes=LIMIT
)

HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 60\r\n\r\n"
TRACEBACK = "Traceback (most recent call last):\\n" + '  File \\"game.py\\", line 1\\n' * 500 + "KeyError: 'apple'"


def ask_sync(url: str, options: ClientOptions, verb: str) -> Any:
    with EnvServiceClient(url, options) as client:
        return getattr(client, verb)(*ARGUMENTS[verb])


def ask_async(url: str, options: ClientOptions, verb: str) -> Any:
    async def ask() -> Any:
        async with AsyncEnvServiceClient(url, options) as client:
            return await getattr(client, verb)(*ARGUMENTS[verb])

    return asyncio.run(ask())


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "evaluate": (INSTANCE,),
    "step": (INSTANCE, ACTION),
    "create_instance": ("game", "task-1", INSTANCE),
    "get_info": (INSTANCE,),
    "get_env_profile": ("game",),
    "healthz": (),
    "release_instance": (INSTANCE,),
}

clients = pytest.mark.parametrize("ask", [ask_sync, ask_async], ids=["sync", "async"])
Ask = Callable[[str, ClientOptions, str], Any]


@dataclass(frozen=True)
class Fault:
    """One row of the matrix: what the server does, the error, how often it sees an evaluate, words in the message."""

    name: str
    behaviour: Behaviour
    error: type[EnvServiceError]
    evaluates: int
    message: str
    options: ClientOptions = PATIENT


FAULTS = [
    Fault("reset before any answer", reset_after(b""), EnvUnreachable, TRIES, "ReadError"),
    Fault("closed before any answer", close_after(b""), EnvUnreachable, TRIES, "RemoteProtocolError"),
    Fault("reset in the headers", reset_after(HEADERS[:40]), EnvUnreachable, TRIES, "Error"),
    Fault("closed in the headers", close_after(HEADERS[:40]), EnvUnreachable, TRIES, "RemoteProtocolError"),
    Fault("reset in the body", reset_after(HEADERS + b'{"success": true, "da'), EnvUnreachable, TRIES, "Error"),
    Fault(
        "closed in the body",
        close_after(HEADERS + b'{"success": true, "da'),
        EnvUnreachable,
        TRIES,
        "RemoteProtocolError",
    ),
    Fault("no HTTP at all", close_after(b"SSH-2.0-OpenSSH_9.6\r\n"), EnvUnreachable, TRIES, "RemoteProtocolError"),
    Fault("hang before the headers", hang_after(b""), EnvTimeout, 2, "0.1 s for a try", HASTY),
    Fault("hang after the headers", hang_after(HEADERS), EnvTimeout, 2, "0.1 s for a try", HASTY),
    Fault("drip of headers", drip(HEADERS * 9), EnvTimeout, 2, "0.1 s for a try", HASTY),
    Fault("drip of a body", drip(b"HTTP/1.1 200 OK\r\n\r\n" + b" " * 9_999), EnvTimeout, 2, "0.1 s for a try", HASTY),
    Fault(
        "429 with Retry-After",
        answer('{"detail": "slow down"}', "429 Too Many Requests", extra=["Retry-After: 0"]),
        EnvServerError,
        TRIES,
        "answered 429: slow down",
    ),
    Fault("502", answer("<h1>Bad Gateway</h1>", "502 Bad Gateway", "text/html"), EnvServerError, TRIES, "answered 502"),
    Fault("503", answer("", "503 Service Unavailable"), EnvServerError, TRIES, "answered 503: an empty body"),
    Fault("504", answer("", "504 Gateway Timeout"), EnvServerError, TRIES, "answered 504"),
    Fault(
        "500 with a traceback",
        answer(f'{{"detail": "{TRACEBACK}"}}', "500 Internal Server Error"),
        EnvServerError,
        1,
        "KeyError: 'apple'",
    ),
    Fault(
        "500 in plain text, as NaN is answered",
        answer("Internal Server Error", "500 Internal Server Error", "text/plain", ["Connection: close"]),
        EnvServerError,
        1,
        "answered 500: Internal Server Error",
    ),
    Fault(
        "400", answer('{"detail": "no such tool"}', "400 Bad Request"), EnvServerError, 1, "answered 400: no such tool"
    ),
    Fault(
        "400 that quotes the policy",
        answer('{"detail": "bad action: Instance episode-7 not found!"}', "400 Bad Request"),
        EnvServerError,
        1,
        "bad action",
    ),
    Fault("401", answer('{"detail": "no token"}', "401 Unauthorized"), EnvServerError, 1, "answered 401"),
    Fault("422", answer('{"detail": [{"loc": ["body"]}]}', "422 Unprocessable"), EnvServerError, 1, '"loc"'),
    Fault(
        "a redirect",
        answer("", "302 Found", extra=["Location: http://127.0.0.1:1/"]),
        EnvServerError,
        1,
        "answered 302",
    ),
    Fault(
        "an unknown instance",
        answer(f'{{"detail": "Instance {INSTANCE} not found!"}}', "400 Bad Request"),
        InstanceNotFound,
        1,
        "does not know the instance",
    ),
    Fault("success false", answer('{"success": false, "data": 0.0}'), EnvServerError, 1, "no success and data"),
    Fault("success that is not true", answer('{"success": 1, "data": 0.5}'), EnvServerError, 1, "no success and data"),
    Fault("success without data", answer('{"success": true}'), EnvServerError, 1, "no success and data"),
    Fault(
        "a body of 30 MB", answer(b'"' + b"a" * 30_000_000 + b'"'), EnvServerError, 1, "longer than max_response_bytes"
    ),
    Fault(
        "the wrong content type",
        answer('{"success": true, "data": 1}', content_type="text/html"),
        EnvServerError,
        1,
        "text/html",
    ),
    Fault(
        "a compressed body",
        answer("x", extra=["Content-Encoding: gzip"]),
        EnvServerError,
        1,
        "'gzip' was not asked for",
    ),
    Fault(
        "a detail that a terminal would obey",
        answer('{"detail": "\\u001b[2J \\ud800"}', "400 Bad Request"),
        EnvServerError,
        1,
        r"\x1b[2J \ud800",
    ),
    Fault("invalid UTF-8", answer(b'{"success": true, "data": "\xff"}'), EnvServerError, 1, "not JSON"),
    Fault("not JSON", answer("OK"), EnvServerError, 1, "not JSON"),
    Fault("an empty body", answer(""), EnvServerError, 1, "not JSON"),
    Fault("brackets without end", answer("[" * 200_000), EnvServerError, 1, "not JSON"),
    Fault("an integer without end", data("9" * 9_999), EnvServerError, 1, "not JSON"),
    Fault("a list around it all", answer("[1.0]"), EnvServerError, 1, "a JSON object is missing"),
]


@pytest.mark.waits
@clients
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_its_own_error_and_never_plays_twice(ask: Ask, fault: Fault) -> None:
    seen = {}
    for verb, path in [("evaluate", "/evaluate"), ("step", "/step"), ("create_instance", "/create")]:
        with FaultyEnvServer([fault.behaviour]) as server, pytest.raises(EnvServiceError) as caught:
            ask(server.url, fault.options, verb)
        # create knows no lost instance: there the sentence is the service's, whatever it means by it
        expected = EnvServerError if verb == "create_instance" and fault.error is InstanceNotFound else fault.error
        assert type(caught.value) is expected
        assert fault.message in str(caught.value) or expected is not fault.error
        assert INSTANCE in str(caught.value)
        seen[path] = server.paths.count(path)
        if fault.options is HASTY:
            assert f"try {fault.evaluates if verb == 'evaluate' else 1}: " in str(caught.value)
    expected_seen = {"/evaluate": fault.evaluates, "/step": 1, "/create": 1}
    # where only the clock ends a try, it may end before a busy server has read the request
    assert seen == expected_seen or (fault.options is HASTY and all(seen[p] <= n for p, n in expected_seen.items()))


@clients
@pytest.mark.parametrize(
    "score", ["NaN", "Infinity", "-Infinity", "1e400", "null", '"0.8"', "true", "false", "[]", "{}", "[0.8]", '"NaN"']
)
def test_what_is_no_finite_number_is_no_score(ask: Ask, score: str) -> None:
    with FaultyEnvServer([data(score)]) as server, pytest.raises(BadScore, match=INSTANCE):
        ask(server.url, PATIENT, "evaluate")
    assert server.paths == ["/evaluate"]


@clients
@pytest.mark.parametrize(("score", "reward"), [("-0.5", -0.25), ("1.7", 1.85), ("0", 0.0), ("1", 1.5), ("5e-1", 0.25)])
def test_any_finite_number_is_a_score(ask: Ask, score: str, reward: float) -> None:
    with FaultyEnvServer([data(score)]) as server:
        assert ask(server.url, PATIENT, "evaluate") == float(score)
        with EnvServiceClient(server.url, PATIENT) as client:
            task = WorkflowTask(
                task=Task(), task_env_uuid=INSTANCE, gym_env=GymEnv(client, "game", "t", instance_id=INSTANCE)
            )
            raw_reward, is_success = EnvServiceJudge(config=None).compute_reward(task, WorkflowOutput())
    assert raw_reward == pytest.approx(reward)
    assert is_success is (float(score) >= 1)


@clients
@pytest.mark.parametrize("verb", list(ARGUMENTS))
def test_nobody_listening_is_unreachable_and_tried_again(ask: Ask, verb: str, caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    if verb == "release_instance":
        assert ask(url, PATIENT, verb) is False
        assert "was not released" in caplog.text
        return
    with pytest.raises(EnvUnreachable, match=f"try {TRIES}: ConnectError"):
        ask(url, PATIENT, verb)


@pytest.mark.waits
@clients
@pytest.mark.parametrize(
    "fault",
    [
        reset_after(b""),
        close_after(HEADERS + b"{"),
        answer("", "503 Service Unavailable"),
        answer("", "429 Too Many Requests", extra=["Retry-After: 0"]),
        answer("", "429 Too Many Requests", extra=["Retry-After: Sat, 01 Jan 2000 00:00:00 GMT"]),
        answer("", "429 Too Many Requests", extra=["Retry-After: soon"]),
    ],
    ids=["reset", "cut short", "503", "429", "429 with a date", "429 with nonsense"],
)
def test_a_passing_fault_is_outlived(ask: Ask, fault: Behaviour) -> None:
    with FaultyEnvServer([fault, fault, data("0.5")]) as server:
        assert ask(server.url, PATIENT, "evaluate") == 0.5
    assert server.paths == ["/evaluate"] * 3


@clients
def test_a_wait_longer_than_the_deadline_is_not_begun(ask: Ask) -> None:
    busy = answer('{"detail": "full"}', "429 Too Many Requests", extra=["Retry-After: 3600"])
    with FaultyEnvServer([busy]) as server, pytest.raises(EnvServerError, match="answered 429: full"):
        ask(server.url, ClientOptions(deadline=5.0), "evaluate")
    assert server.paths == ["/evaluate"]


@clients
def test_the_deadline_ends_a_call_whose_tries_could_go_on(ask: Ask) -> None:
    options = ClientOptions(tries=1_000, backoff=0.0, timeouts={"evaluate": 0.05}, deadline=0.3)
    with FaultyEnvServer([hang_after(b"")]) as server, pytest.raises(EnvTimeout, match=r"0\.3 s in all"):
        ask(server.url, options, "evaluate")
    # none, if a busy machine sends the first one too late
    assert len(server.requests) <= 6


SHORT = ClientOptions(tries=9, backoff=0.0, deadline=0.1)
OWN_LIMIT = ClientOptions(tries=2, backoff=0.0, timeouts={"evaluate": 0.05}, deadline=9.0)


@pytest.mark.parametrize(
    ("first", "options", "told"),
    [
        (httpx.ConnectError("refused"), SHORT, r"ConnectError refused; the 0\.1 s in all ended try 2$"),
        # the words of an error do not tell its kind
        (httpx.ReadError("Gateway Timeout"), SHORT, r"ReadError Gateway Timeout; the 0\.1 s in all ended try 2$"),
        (httpx.ConnectTimeout("slow"), SHORT, r"try 2: TimeoutError .* before that .*try 1: ConnectTimeout slow"),
        # the second try ended by its own limit: the 9 s were not over
        (httpx.ConnectError("refused"), OWN_LIMIT, r"try 2: TimeoutError .* before that .*ConnectError refused$"),
    ],
)
def test_a_time_out_after_another_failure_says_which_limit_ended_it(
    first: Exception, options: ClientOptions, told: str
) -> None:
    failures = [first]

    async def fail_then_hang(request: httpx.Request) -> httpx.Response:
        if failures:
            raise failures.pop()
        await asyncio.Event().wait()
        raise AssertionError

    client = EnvServiceClient("http://env.test", options, transport=httpx.MockTransport(fail_then_hang))
    with pytest.raises(EnvTimeout, match=told):
        client.evaluate(INSTANCE)


@clients
def test_a_step_is_not_sent_again_while_the_server_restarts(ask: Ask) -> None:
    with FaultyEnvServer([reset_after(b"")]) as server, pytest.raises(EnvUnreachable):
        ask(server.url, PATIENT, "step")
    lost = answer(f'{{"detail": "Instance {INSTANCE} not found!"}}', "400 Bad Request")
    with FaultyEnvServer([lost], port=server.port) as restarted:
        for verb in ["step", "evaluate"]:
            with pytest.raises(InstanceNotFound, match="restarted"):
                ask(restarted.url, PATIENT, verb)
    assert server.paths == ["/step"]
    assert restarted.paths == ["/step", "/evaluate"]


def test_a_client_outlives_its_servers_restart() -> None:
    with FaultyEnvServer([data("0.25")]) as server, EnvServiceClient(server.url, PATIENT) as client:
        assert client.evaluate(INSTANCE) == 0.25
        server.__exit__(None, None, None)
        with FaultyEnvServer([data("0.75")], port=server.port):
            assert client.evaluate(INSTANCE) == 0.75


@clients
def test_releasing_twice_is_no_error(ask: Ask) -> None:
    with FaultyEnvServer([answer('{"success": true}'), answer('{"success": false}')]) as server:
        assert ask(server.url, PATIENT, "release_instance") is True
        assert ask(server.url, PATIENT, "release_instance") is False


@clients
def test_an_evaluate_after_the_release_finds_no_instance(ask: Ask) -> None:
    lost = answer(f'{{"detail": "Instance {INSTANCE} not found!"}}', "400 Bad Request")
    with FaultyEnvServer([answer('{"success": true}'), lost]) as server:
        assert ask(server.url, PATIENT, "release_instance") is True
        with pytest.raises(InstanceNotFound):
            ask(server.url, PATIENT, "evaluate")
    assert server.paths == ["/release", "/evaluate"]


def test_a_failed_release_does_not_hide_the_episodes_own_error(caplog: pytest.LogCaptureFixture) -> None:
    created = data(f'{{"state": [], "info": {{"instance_id": "{INSTANCE}", "task_id": "t"}}}}')
    with (
        FaultyEnvServer([created, reset_after(b"")]) as server,
        EnvServiceClient(server.url, PATIENT) as client,
        pytest.raises(ValueError, match="the policy's own trouble"),
        GymEnv(client, "game", "t"),
    ):
        raise ValueError("the policy's own trouble")
    assert server.paths == ["/create", "/release"]
    assert "was not released" in caplog.text


FAR_DATE = "Retry-After: Mon, 01 Jan 2020 00:00:00 +99999999999999"


@clients
@pytest.mark.parametrize("verb", ["evaluate", "step", "create_instance"])
def test_a_date_out_of_range_is_no_wait_and_no_error_of_its_own(ask: Ask, verb: str) -> None:
    with (
        FaultyEnvServer([answer("", "503 Service Unavailable", extra=[FAR_DATE])]) as server,
        pytest.raises(EnvServerError, match="answered 503"),
    ):
        ask(server.url, PATIENT, verb)


@pytest.mark.parametrize(
    "header", ["Retry-After: 1", FAR_DATE, "Retry-After: Mon, 01 Jan 0000 00:00:00 GMT", "Retry-After: " + "9" * 400]
)
def test_a_wait_is_not_read_from_an_answer_that_is_one(header: str) -> None:
    with FaultyEnvServer([answer('{"success": true, "data": 1}', extra=[header])]) as server:
        assert ask_sync(server.url, PATIENT, "evaluate") == 1.0
    assert server.paths == ["/evaluate"]


def test_whatever_a_release_meets_does_not_hide_the_episodes_own_error(caplog: pytest.LogCaptureFixture) -> None:
    def burst(request: httpx.Request) -> httpx.Response:
        raise OverflowError("timestamp out of range for platform time_t")

    client = EnvServiceClient("http://env.test", transport=httpx.MockTransport(burst))
    assert client.release_instance(INSTANCE) is False
    assert f"instance {INSTANCE!r} was not released" in caplog.text


@pytest.mark.parametrize("error", [OverflowError, KeyboardInterrupt, RuntimeError])
def test_whatever_cuts_a_step_short_breaks_the_episode(error: type[BaseException]) -> None:
    class Cut(EnvServiceClient):
        def step(self, *arguments: Any) -> Any:
            raise error

        def evaluate(self, *arguments: Any, **keywords: Any) -> float:
            return 1.0

    env = GymEnv(Cut("http://env.test"), "game", "t", instance_id=INSTANCE)
    assert env.evaluate() == 1.0
    with pytest.raises(error):
        env.step(ACTION)
    with pytest.raises(EnvServiceError, match=f"earlier step failed.*{error.__name__}"):
        env.evaluate()


def test_a_create_whose_answer_was_lost_is_released() -> None:
    with (
        FaultyEnvServer([reset_after(b""), answer('{"success": true}')]) as server,
        EnvServiceClient(server.url, PATIENT) as client,
        pytest.raises(EnvUnreachable),
    ):
        GymEnv(client, "game", "t", instance_id=INSTANCE).__enter__()
    assert [(path, body["instance_id"]) for path, body, _ in server.requests] == [
        ("/create", INSTANCE),
        ("/release", INSTANCE),
    ]


def test_evaluates_have_a_connection_of_their_own_and_keep_it() -> None:
    """A service may drop a connection after an evaluate; a step that inherited it could not be sent again."""
    with FaultyEnvServer([data("1")]) as server, EnvServiceClient(server.url, PATIENT) as client:
        client.get_info(INSTANCE)
        client.get_info(INSTANCE)
        assert server.connections == 1
        client.evaluate(INSTANCE)
        client.evaluate(INSTANCE)
        client.get_info(INSTANCE)
        assert server.connections == 2


def test_an_evaluate_over_a_kept_connection_that_the_service_drops_is_sent_again_at_once() -> None:
    with (
        FaultyEnvServer([data("1"), reset_after(b""), data("1")]) as server,
        EnvServiceClient(server.url, replace(PATIENT, tries=1)) as client,
    ):
        assert client.evaluate(INSTANCE) == 1.0
        # one try: a connection that was opened for it and breaks is a failure, a kept one is not
        assert client.evaluate(INSTANCE) == 1.0
        assert len(server.requests) == 3


@pytest.mark.parametrize("name", ["Identity", ""])
def test_an_identity_by_another_writing_is_no_compression(name: str) -> None:
    with FaultyEnvServer([answer('{"success": true, "data": 1}', extra=[f"Content-Encoding: {name}"])]) as server:
        assert ask_sync(server.url, PATIENT, "evaluate") == 1.0


@pytest.mark.parametrize(
    ("error", "sent"),
    [
        (httpx.ConnectError, TRIES),
        (httpx.ConnectTimeout, TRIES),
        (httpx.PoolTimeout, TRIES),
        # reset while a large step was on its way: part of it may have been enough
        (httpx.WriteError, 1),
        (httpx.WriteTimeout, 1),
        (httpx.ReadError, 1),
        (httpx.RemoteProtocolError, 1),
    ],
)
def test_a_step_is_sent_again_only_when_no_byte_of_it_was(error: type[httpx.TransportError], sent: int) -> None:
    seen = []

    def fail(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.path)
        raise error("gone")

    client = EnvServiceClient("http://env.test", PATIENT, transport=httpx.MockTransport(fail))
    with pytest.raises(EnvServiceError):
        client.step(INSTANCE, ACTION)
    assert seen == ["/step"] * sent


def test_more_tries_than_a_float_has_powers_of_two() -> None:
    options = ClientOptions(tries=1_100, backoff=0.0)
    seen = []

    def fail(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        raise httpx.ConnectError("refused")

    client = EnvServiceClient("http://env.test", options, transport=httpx.MockTransport(fail))
    with pytest.raises(EnvUnreachable, match="try 1100"):
        client.evaluate(INSTANCE)
    assert len(seen) == 1_100


def test_no_more_calls_than_max_connections_reach_the_transport() -> None:
    under_way, most = 0, 0

    async def reply(request: httpx.Request) -> httpx.Response:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(5):
            await asyncio.sleep(0)
        under_way -= 1
        return httpx.Response(200, json={"success": True, "data": 1})

    async def ask_together() -> None:
        options = ClientOptions(max_connections=2)
        async with AsyncEnvServiceClient("http://env.test", options, transport=httpx.MockTransport(reply)) as client:
            await asyncio.gather(*(client.get_info(INSTANCE) for _ in range(20)))

    asyncio.run(ask_together())
    assert most == 2


def test_calls_beyond_max_connections_wait_their_turn() -> None:
    async def ask_together(client: AsyncEnvServiceClient) -> list[Any]:
        async with client:
            return await asyncio.gather(*(client.get_info(INSTANCE) for _ in range(20)))

    with FaultyEnvServer([data("1")]) as server:
        client = AsyncEnvServiceClient(server.url, ClientOptions(max_connections=2))
        assert asyncio.run(ask_together(client)) == [1] * 20
    assert server.connections == 2


def test_one_client_serves_several_event_loops() -> None:
    with FaultyEnvServer([data("1")]) as server:
        client = AsyncEnvServiceClient(server.url, PATIENT)

        async def ask_and_close() -> float:
            async with client:
                return await client.evaluate(INSTANCE)

        assert [asyncio.run(ask_and_close()), loops.run(ask_and_close()), asyncio.run(ask_and_close())] == [1.0] * 3


CERTIFICATES = Path(__file__).parents[2] / "certificates"


def private() -> ssl.SSLContext:
    """What a server behind a private certificate authority uses; `ca.pem` is that authority's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "server-with-key.pem")
    return context


@clients
def test_a_private_authority_is_trusted_where_it_is_named(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = str(CERTIFICATES / "ca.pem")
    with FaultyEnvServer([data("0.5")], tls=private()) as server:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        with pytest.raises(EnvUnreachable, match="CERTIFICATE_VERIFY_FAILED"):
            ask(server.url, ClientOptions(tries=1), "evaluate")
        assert ask(server.url, ClientOptions(tries=1, ca_file=authority), "evaluate") == 0.5
        monkeypatch.setenv("SSL_CERT_FILE", authority)
        assert ask(server.url, ClientOptions(tries=1), "evaluate") == 0.5


def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with FaultyEnvServer([data("0.5")]) as server:
        assert ask_sync(server.url, ClientOptions(tries=1), "evaluate") == 0.5


def test_an_episode_is_played_where_it_was_created() -> None:
    asked: list[tuple[str, str]] = []

    def handle(request: httpx.Request) -> httpx.Response:
        host, path = request.url.host, request.url.path
        asked.append((host, path))
        if path == "/create" and host == "down.test":
            raise httpx.ConnectError("refused")
        if path == "/create":
            state = {"state": [], "info": {"instance_id": INSTANCE, "task_id": "t"}}
            return httpx.Response(200, json={"success": True, "data": state})
        if host != "up.test":
            return httpx.Response(400, json={"detail": f"Instance {INSTANCE} not found!"})
        return httpx.Response(200, json={"success": True, "data": 0.5})

    urls = ["http://down.test", "http://other.test", "http://up.test"]
    transport = httpx.MockTransport(handle)
    with EnvServiceClient(urls[::2], PATIENT, transport=transport) as client:
        client.create_instance("game", "t", INSTANCE)
        assert client.evaluate(INSTANCE) == 0.5
    assert asked == [("down.test", "/create"), ("up.test", "/create"), ("up.test", "/evaluate")]
    # another process does not know where it was created: each address is asked until one knows it
    with EnvServiceClient(urls, PATIENT, transport=transport) as client:
        assert client.evaluate(INSTANCE) == 0.5
    with (
        EnvServiceClient(urls[:2], PATIENT, transport=transport) as client,
        pytest.raises(InstanceNotFound, match="restarted"),
    ):
        client.evaluate(INSTANCE)
