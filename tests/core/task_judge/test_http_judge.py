"""HttpJudge: what it writes and reads on the reward service's wire, and that no failure becomes a number."""

from __future__ import annotations

import asyncio
import json
import math
import os
import pickle
import socket
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import numpy
import pytest
from msgspec.structs import replace

from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.rules import compile_rules
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.contract.deadline import Traits
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.task_judge.http_judge import HttpJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.faulty_env_server import (
    Behaviour,
    FaultyEnvServer,
    answer,
    close_after,
    drip,
    hang_after,
    reset_after,
)

URL = "http://reward.test:8000/math/reward"
TASK = WorkflowTask(task=Task(main_query="6 * 7?", task_id="t1", metadata={"answer": "42"}))
OUTPUT = WorkflowOutput(metadata={"final_answer": r"\boxed{42}"})
RIGHT: dict[str, Any] = {
    "status": "judged",
    "reward": 1.0,
    "is_success": True,
    "reason": "equal",
    "violations": ["long"],
    "error": None,
    "cause": None,
    "metrics": {"calls": 2.0},
    "seconds": 0.01,
}
FILTERED = RIGHT | {
    "status": "filtered",
    "reward": -0.5,
    "is_success": False,
    "reason": "rules: empty",
    "violations": ["long", "empty"],
}
FAILED = RIGHT | {
    "status": "failed",
    "reward": None,
    "is_success": None,
    "error": "task 't1': the model hung up",
    "cause": "reference",
}


def config(**settings: object) -> dict[str, Any]:
    protocol = "agentscope_tuner.task_judge.http_judge->HttpJudge"
    return {"astuner": {"task_judge": {"judge_protocol": protocol, "judge_kwargs": {"url": URL, **settings}}}}


class Wire:
    """A judge whose network is a function, and what was sent through it."""

    def __init__(self, reply: object, **settings: object) -> None:
        self.reply = reply
        self.sent: list[httpx.Request] = []
        inner = HttpJudge(config(**settings), transport=httpx.MockTransport(self.handle))
        self.judge = TaskJudge(inner, compile_rules([]))

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        return httpx.Response(200, json=self.reply)

    @property
    def body(self) -> Any:
        return json.loads(self.sent[-1].content)


def test_a_rollout_is_written_as_the_wire_says(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret\n", encoding="utf-8")
    wire = Wire(RIGHT, token_file=str(token), timeout=7.5)
    task = WorkflowTask(task=TASK.task, task_id="rollout-3", task_env_uuid="episode-7", gym_env=object())
    assert wire.judge.compute_reward(task, OUTPUT) == (1.0, True)
    (request,) = wire.sent
    assert (request.method, str(request.url)) == ("POST", URL)
    assert request.headers["Authorization"] == "Bearer s3cret"
    assert 7.0 < float(request.headers["X-Deadline-Seconds"]) <= 7.5
    assert wire.body["task"] == TASK.task.model_dump() | {"task_id": "rollout-3"}
    assert wire.body["output"] == OUTPUT.model_dump()
    assert wire.body["task_env_uuid"] == "episode-7"


def test_a_verdict_comes_back_with_its_account() -> None:
    judged = Wire(RIGHT).judge.judge(TASK, OUTPUT)
    assert judged.to_dict() | {"seconds": 0} == RIGHT | {"seconds": 0}
    filtered = Wire(FILTERED).judge.judge(TASK, OUTPUT)
    assert filtered.to_dict() | {"seconds": 0} == FILTERED | {"seconds": 0}


@pytest.mark.parametrize(
    ("reply", "reward", "account"),
    [
        (RIGHT | {"turns": [0.5, 1.0]}, (1.0, True), ("equal", {"calls": 2.0}, "", ("long",), (0.5, 1.0))),
        (FILTERED, (-0.5, False), ("rules: empty", {"calls": 2.0}, "empty", ("long", "empty"), ())),
    ],
)
def test_an_account_survives_a_pickle(reply: object, reward: tuple[float, bool], account: tuple[object, ...]) -> None:
    judge = HttpJudge(config(), transport=httpx.MockTransport(Wire(reply).handle))
    again = pickle.loads(pickle.dumps(asyncio.run(judge.acompute_reward(TASK, OUTPUT))))
    assert again == reward
    assert (again.reason, again.metrics, again.filtered_by, again.violations, again.turns) == account


def test_a_service_that_says_more_in_time_to_come_is_understood() -> None:
    assert Wire(RIGHT | {"confidence": 0.9}).judge.compute_reward(TASK, OUTPUT) == (1.0, True)


def test_the_verdict_on_another_row_is_refused() -> None:
    # a cache or a proxy that mixes answers up would pay one rollout for what another wrote
    with pytest.raises(JudgeError, match="the verdict is on row '7', asked was"):
        Wire(RIGHT | {"id": "7"}).judge.compute_reward(TASK, OUTPUT)

    def swapped(request: httpx.Request) -> httpx.Response:
        names = [row["id"] for row in json.loads(request.content)["rollouts"]]
        return httpx.Response(200, json=replies(*(RIGHT | {"id": name} for name in reversed(names))))

    judge = TaskJudge(HttpJudge(config(), transport=httpx.MockTransport(swapped)), compile_rules([]))
    assert [judgement.status for judgement in judge.judge_group(TASK, OUTPUTS[:2])] == ["failed"] * 2


def test_the_service_names_each_row_in_its_verdict() -> None:
    def named(request: httpx.Request) -> httpx.Response:
        rows = json.loads(request.content)["rollouts"]
        assert len({row["id"] for row in rows}) == len(OUTPUTS)
        return httpx.Response(200, json=replies(*(RIGHT | {"id": row["id"]} for row in rows)))

    judge = TaskJudge(HttpJudge(config(), transport=httpx.MockTransport(named)), compile_rules([]))
    assert [judgement.reward for judgement in judge.judge_group(TASK, OUTPUTS)] == [1.0] * 3


@pytest.mark.waits
@pytest.mark.parametrize(
    ("fault", "where"), [("hang", "kwargs"), ("hang", "section"), ("503", "kwargs"), ("nobody listens", "kwargs")]
)
def test_a_dead_service_is_a_deadline_error_in_time(fault: str, where: str) -> None:
    # A refusal comes at once, but on a busy machine not within a quarter of a second
    limit = {"deadline": 1.0 if fault == "nobody listens" else 0.25}
    kwargs, section = (limit, {}) if where == "kwargs" else ({}, limit)
    with FaultyEnvServer([FAULTS.get(fault, FAULTS["hang"])[0]]) as server:
        if fault == "nobody listens":
            server.__exit__(None, None, None)
        settings = config(url=f"{server.url}/reward", **kwargs)
        settings["astuner"]["task_judge"] |= section
        judge = load_judge(settings)
        assert isinstance(judge.inner, HttpJudge)
        started = time.monotonic()
        judgements = [judge.judge(TASK, OUTPUT), *judge.judge_group(TASK, OUTPUTS)]
        judge.inner.close()
    assert time.monotonic() - started < 2 * (limit["deadline"] + 30.0)
    for judgement in judgements:
        if fault == "nobody listens":
            assert judgement.cause == Cause.ENDPOINT
            assert "ConnectError" in str(judgement.error)
            assert "imeout" not in str(judgement.error)
        else:
            assert judgement.cause == Cause.DEADLINE
            assert str(judgement.error).startswith("task 't1': HttpJudge: no verdict within 0.25 s")


def test_a_refusal_is_told_also_where_the_deadline_ends_the_last_try() -> None:
    """On a busy machine it was a deadline that passed, which says nothing of a URL that is wrong."""
    tries = iter([httpx.ConnectError("refused")])

    async def handle(request: httpx.Request) -> httpx.Response:
        if (error := next(tries, None)) is not None:
            raise error from ConnectionRefusedError()
        await asyncio.Event().wait()
        raise AssertionError

    judge = TaskJudge(HttpJudge(config(deadline=0.5), transport=httpx.MockTransport(handle)), compile_rules([]))
    judgement = judge.judge(TASK, OUTPUT)
    assert judgement.cause == Cause.ENDPOINT
    assert "ConnectError refused; the 0.5 s in all ended try 2" in str(judgement.error)


def test_another_address_is_asked_when_one_does_not_answer() -> None:
    asked: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        if request.url.host == "down.test":
            raise httpx.ConnectError("refused")
        if request.url.host == "full.test":
            return httpx.Response(429, json={"detail": "full"}, headers={"Retry-After": "30"})
        return httpx.Response(200, json=RIGHT)

    urls = [f"http://{name}.test/reward" for name in ("down", "full", "up")]
    judge = HttpJudge(config(url=urls), transport=httpx.MockTransport(handle))
    for _ in range(3):
        assert asyncio.run(judge.acompute_reward(TASK, OUTPUT)) == (1.0, True)
    # the one that answered is asked first from then on
    assert asked == ["down.test", "full.test", "up.test", "up.test", "up.test"]


def test_headers_are_sent_and_never_shown() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        assert request.headers["X-Team"] == "s3cret-team"
        return httpx.Response(403, json={"detail": f"who is {request.headers['X-Team']}?"})

    inner = HttpJudge(config(headers={"X-Team": "s3cret-team"}), transport=httpx.MockTransport(refuse))
    with pytest.raises(JudgeError, match=r"who is \*\*\*\?"):
        TaskJudge(inner, compile_rules([])).compute_reward(TASK, OUTPUT)


def test_a_failed_judgement_is_no_zero() -> None:
    wire = Wire(FAILED)
    judgement = wire.judge.judge(TASK, OUTPUT)
    assert (judgement.status, judgement.reward) == ("failed", None)
    assert judgement.error is not None
    assert judgement.error == f"task 't1': HttpJudge: {judgement.reason}"
    assert judgement.reason == f"the reward service at {URL} reached no verdict: the model hung up"
    # what its judge models were paid is paid
    assert judgement.metrics == {"calls": 2.0}
    # the service asked its judge as often as it should: asking again is its business
    assert len(wire.sent) == 1


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ([RIGHT], "a JSON object is missing"),
        ({}, "status: Field required"),
        (RIGHT | {"status": "great"}, "status: "),
        (RIGHT | {"reward": None}, "'judged' without reward"),
        (RIGHT | {"is_success": None}, "'judged' without reward"),
        (RIGHT | {"reward": "1.0"}, "reward: "),
        (RIGHT | {"reward": True}, "reward: "),
        (RIGHT | {"reward": 10**400}, "reward: "),
        (RIGHT | {"is_success": 1}, "is_success: "),
        (RIGHT | {"reason": None}, "reason: "),
        (RIGHT | {"violations": "long"}, "violations: "),
        (RIGHT | {"metrics": {"calls": "2"}}, "metrics.calls: "),
        ({name: value for name, value in RIGHT.items() if name != "reward"}, "reward: Field required"),
        (FILTERED | {"violations": []}, "'filtered' without violations"),
    ],
)
def test_a_malformed_judgement_is_no_verdict(reply: object, message: str) -> None:
    with pytest.raises(JudgeError) as caught:
        Wire(reply).judge.compute_reward(TASK, OUTPUT)
    assert message in str(caught.value)
    assert URL in str(caught.value)
    assert "'t1'" in str(caught.value)


VERDICT = json.dumps(RIGHT)
HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n"
TRIES = 3
# each with how often the service is asked, and words of the error
FAULTS: dict[str, tuple[Behaviour, int, str]] = {
    "reset": (reset_after(b""), TRIES, "try 3: ReadError"),
    "closed in the body": (close_after(HEADERS + b'{"status": "judged", "reward": 0.0'), TRIES, "RemoteProtocolError"),
    "hang": (hang_after(b""), TRIES, "try 3: TimeoutError (0.1 s for a try"),
    "drip": (drip(HEADERS * 9), TRIES, "try 3: TimeoutError (0.1 s for a try"),
    "429": (answer('{"detail": "full"}', "429 Too Many Requests", extra=["Retry-After: 0"]), TRIES, "429: full"),
    "503": (answer('{"detail": "draining"}', "503 Service Unavailable"), TRIES, "answered 503: draining"),
    "504": (answer('{"detail": "out of time"}', "504 Gateway Timeout"), TRIES, "answered 504"),
    "500": (answer("Traceback", "500 Internal Server Error", "text/plain"), 1, "answered 500: Traceback"),
    "401": (answer('{"detail": "no token"}', "401 Unauthorized"), 1, "answered 401: no token"),
    "413": (answer('{"detail": "too large"}', "413 Content Too Large"), 1, "answered 413: too large"),
    "422": (answer('{"detail": [{"loc": ["task"]}]}', "422 Unprocessable Content"), 1, '"loc"'),
    "302": (answer("", "302 Found", extra=["Location: http://127.0.0.1:1/"]), 1, "answered 302"),
    "html": (answer("<html>", content_type="text/html"), 1, "text/html"),
    "not JSON": (answer("OK"), 1, "not JSON"),
    "NaN": (answer(VERDICT.replace("1.0", "NaN")), 1, "reward: Input should be a finite number"),
    "infinity": (answer(VERDICT.replace("1.0", "1e999")), 1, "reward: Input should be a finite number"),
    "brackets": (answer("[" * 200_000), 1, "not JSON"),
    "compressed": (answer("x", extra=["Content-Encoding: gzip"]), 1, "'gzip' was not asked for"),
    "endless": (answer(b'"' + b"a" * 9_000_000 + b'"'), 1, "longer than max_response_bytes"),
}


@contextmanager
def served(server: FaultyEnvServer, **settings: object) -> Iterator[TaskJudge]:
    hasty = {"timeout": 0.1} if server.behaviours[0] in (FAULTS["hang"][0], FAULTS["drip"][0]) else {}
    judge = load_judge(config(url=f"{server.url}/reward", tries=TRIES, **hasty, **settings))
    assert isinstance(judge.inner, HttpJudge)
    yield judge
    judge.inner.close()


@pytest.mark.waits
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_asked_again_only_where_that_may_help_and_is_never_a_number(fault: str) -> None:
    behaviour, asked, message = FAULTS[fault]
    with FaultyEnvServer([behaviour]) as server, served(server) as judge, pytest.raises(JudgeError) as caught:
        judge.compute_reward(TASK, OUTPUT)
    assert message in str(caught.value)
    assert f"{server.url}/reward" in str(caught.value)
    if "for a try" not in message:
        # where time runs out the error counts the tries: a busy server may not have read a request by then
        assert server.paths == ["/reward"] * asked


@pytest.mark.parametrize("fault", ["reset", "429", "503", "closed in the body"])
def test_a_fault_that_passes_leaves_no_trace(fault: str) -> None:
    with FaultyEnvServer([FAULTS[fault][0], answer(VERDICT)]) as server, served(server) as judge:
        assert judge.judge(TASK, OUTPUT).reward == 1.0
    assert len(server.requests) == 2


def test_a_retry_after_beyond_the_deadline_ends_the_waiting_at_once() -> None:
    full = answer("", "429 Too Many Requests", extra=["Retry-After: 3600"])
    with (
        FaultyEnvServer([full, answer(VERDICT)]) as server,
        served(server, deadline=30.0) as judge,
        pytest.raises(JudgeError, match="answered 429"),
    ):
        judge.compute_reward(TASK, OUTPUT)
    assert len(server.requests) == 1


@pytest.mark.slow
def test_a_service_with_a_short_queue_judges_every_row() -> None:
    """As `astuner serve --concurrency 2 --queue 2` does, with the times scaled down; five tries lost most of them."""
    inside = 0

    async def handle(request: httpx.Request) -> httpx.Response:
        nonlocal inside
        if inside == 4:
            return httpx.Response(429, json={"detail": "full"}, headers={"Retry-After": "0.2"})
        inside += 1
        await asyncio.sleep(0.04)
        inside -= 1
        return httpx.Response(200, json=RIGHT)

    async def judge_all() -> list[float]:
        judge = HttpJudge(config(max_batch=1, deadline=60.0), transport=httpx.MockTransport(handle))
        return [reward for reward, _ in await asyncio.gather(*(judge.acompute_reward(TASK, OUTPUT) for _ in range(64)))]

    assert asyncio.run(judge_all()) == [1.0] * 64


def test_what_is_told_of_the_deadline_shrinks_with_the_time_left() -> None:
    with FaultyEnvServer([FAULTS["503"][0], answer(VERDICT)]) as server, served(server, deadline=9.0) as judge:
        judge.compute_reward(TASK, OUTPUT)
    first, second = (float(headers["x-deadline-seconds"]) for _, _, headers in server.requests)
    assert second < first <= 9.0


def test_a_token_that_the_service_quotes_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret")
    quoting = answer('{"detail": "Bearer s3cret is wrong"}', "401 Unauthorized")
    with (
        FaultyEnvServer([quoting]) as server,
        served(server, token_file=str(tmp_path / "token")) as judge,
        pytest.raises(JudgeError, match=r"Bearer \*\*\* is wrong") as caught,
    ):
        judge.compute_reward(TASK, OUTPUT)
    assert "s3c" not in str(caught.value)


def test_a_token_that_was_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("old")

    def rotate(server: FaultyEnvServer, connection: socket.socket) -> bool:
        path.write_text("new\n")
        return refuse(server, connection)

    refuse = answer('{"detail": "no token"}', "401 Unauthorized")
    with (
        FaultyEnvServer([rotate, answer(VERDICT), refuse]) as server,
        served(server, token_file=str(path)) as judge,
    ):
        assert judge.compute_reward(TASK, OUTPUT)[0] == 1.0
        with pytest.raises(JudgeError, match="answered 401"):
            judge.compute_reward(TASK, OUTPUT)
    sent = [headers["authorization"] for _, _, headers in server.requests]
    assert sent == ["Bearer old", "Bearer new", "Bearer new"]


def test_a_hostile_answer_is_sent_as_it_is() -> None:
    wire = Wire(RIGHT)
    hostile = "\ud800 \x00 \u202e \U0001f600 " + "[" * 5000
    wire.judge.compute_reward(TASK, WorkflowOutput(metadata={"final_answer": hostile}))
    assert wire.body["output"]["metadata"]["final_answer"] == hostile


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (float("nan"), None),
        ([1, float("nan"), {"a": float("nan")}], [1, None, {"a": None}]),
        (numpy.array([3, 5]), [3, 5]),
        (numpy.array([0.5, math.nan]), [0.5, None]),
        (numpy.array(["a", None], dtype=object), ["a", None]),
        ({"nums": numpy.array([[1], [2]])}, {"nums": [[1], [2]]}),
        (numpy.int64(7), 7),
        (numpy.float32(0.5), 0.5),
        (numpy.float64("nan"), None),
        (numpy.float32("nan"), None),
        (numpy.bool_(True), True),
        ((1, 2), [1, 2]),
        # JSON's reader makes this of `1e999`, and YAML's the others: a policy may write them
        (math.inf, None),
        ([{"a": -math.inf}], [{"a": None}]),
        ({1}, [1]),
        (date(2026, 1, 2), "2026-01-02"),
        ({date(2026, 1, 2): b"x", math.nan: 1}, {"2026-01-02": "b'x'", "nan": 1}),
        (10**5000, "(a whole number of about 5,000 digits)"),
        ("\ud800" * 3, "\ud800" * 3),
        ({"k" * 10**6: 1}, {"k" * 10**6: 1}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_data_frames_and_policies_hold_is_sent_as_json_has_it(value: object, sent: object) -> None:
    wire = Wire(RIGHT)
    wire.judge.compute_reward(TASK, WorkflowOutput(metadata={"final_answer": "", "column": value}))
    assert wire.body["output"]["metadata"]["column"] == sent


@pytest.mark.parametrize("value", [object(), Path("x"), [lambda: 1]], ids=["object", "path", "function"])
def test_a_rollout_that_is_no_json_is_never_sent(value: object) -> None:
    wire = Wire(RIGHT)
    with pytest.raises(JudgeError, match="not JSON, nothing was sent"):
        wire.judge.compute_reward(TASK, WorkflowOutput(metadata={"final_answer": "", "logprobs": value}))
    assert wire.sent == []


def test_rules_of_this_side_spare_the_request() -> None:
    rules = [{"id": "empty", "kind": "non_empty", "action": "mark_bad"}]
    wire = Wire(RIGHT)
    judge = TaskJudge(wire.judge.inner, compile_rules(rules))
    assert judge.judge(TASK, WorkflowOutput(metadata={"final_answer": ""})).violations == ("empty",)
    assert wire.sent == []


def replies(*judgements: object) -> dict[str, Any]:
    return {"judgements": list(judgements)}


OUTPUTS = [WorkflowOutput(metadata={"final_answer": text}) for text in ("a", "b", "c")]


def test_a_listwise_group_is_one_request() -> None:
    wire = Wire(replies(RIGHT, FILTERED, RIGHT), listwise=True)
    judgements = wire.judge.judge_group(TASK, OUTPUTS)
    assert [judgement.status for judgement in judgements] == ["judged", "filtered", "judged"]
    (request,) = wire.sent
    rows = json.loads(request.content)["rollouts"]
    assert [row["output"]["metadata"]["final_answer"] for row in rows] == ["a", "b", "c"]
    assert {row["task"]["task_id"] for row in rows} == {"t1"}


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (replies(RIGHT, RIGHT), "judgements must be a list of 3"),
        (replies(RIGHT, FAILED, RIGHT), "the model hung up"),
        (replies(RIGHT, None, RIGHT), "the judgement: "),
        (RIGHT, "judgements must be a list of 3"),
    ],
)
def test_a_listwise_group_fails_as_a_whole(reply: object, message: str) -> None:
    judgements = Wire(reply, listwise=True).judge.judge_group(TASK, OUTPUTS)
    assert [judgement.reward for judgement in judgements] == [None] * 3
    assert all(message in str(judgement.error) for judgement in judgements)


def test_a_rollout_that_the_services_rules_left_alone_is_paid_what_those_rules_pay() -> None:
    # the whole group failed; a trainer that cannot mask would then have paid this side's rule_reward, 0.0, beside -0.5
    alone = FAILED | {"cause": "alone", "metrics": {"rules_reward": -0.5}}
    wire = Wire(replies(FILTERED, alone, FILTERED), listwise=True)
    found = wire.judge.judge_group(TASK, OUTPUTS)
    assert [judgement.reward for judgement in found] == [-0.5, None, -0.5]
    assert found[1].cause == "alone"
    trainer = ConfiguredJudge(config(listwise=True))
    assert [trainer.reward_or_raise(judgement) for judgement in found] == [-0.5, -0.5, -0.5]
    # a service of an earlier version does not say it
    assert trainer.settled(replace(found[1], metrics={})).reward == 0.0


ANSWERED = f"task 't1': HttpJudge: judging a rollout at {URL}: answered"
REACHED_NONE = f"task 't1': HttpJudge: the reward service at {URL} reached no verdict:"


@pytest.mark.parametrize(
    ("status", "reply", "told", "cause"),
    [
        (200, [3], f"{ANSWERED} 200: a JSON object is missing, got list: [3]", "endpoint"),
        (200, {}, f"{ANSWERED} 200: status: Field required: {{}}", "endpoint"),
        (200, FAILED, f"{REACHED_NONE} the model hung up", "reference"),
        (200, FAILED | {"error": None, "reason": "no key"}, f"{REACHED_NONE} no key", "reference"),
        (200, FAILED | {"error": "", "reason": ""}, f"{REACHED_NONE} the service does not say why", "reference"),
        (200, FAILED | {"cause": None}, f"{REACHED_NONE} the model hung up", "endpoint"),
        (200, FAILED | {"late": True}, f"{REACHED_NONE} the model hung up", "deadline"),
        (403, {"detail": "no such key"}, f"{ANSWERED} 403: no such key", "endpoint"),
        (500, {"detail": "x" * 1001}, f"{ANSWERED} 500: {'x' * 1000}", "endpoint"),
        (403, None, f"{ANSWERED} 403: an empty body", "endpoint"),
    ],
)
def test_what_a_service_answers_in_place_of_a_verdict_is_told(
    status: int, reply: object, told: str, cause: str
) -> None:
    answer = {"content": b""} if reply is None else {"json": reply}
    transport = httpx.MockTransport(lambda request: httpx.Response(status, **answer))
    judgement = TaskJudge(HttpJudge(config(tries=1), transport=transport), compile_rules([])).judge(TASK, OUTPUT)
    assert (judgement.error, judgement.cause) == (told, cause)


@pytest.mark.parametrize(
    ("deadline", "answers", "seconds"),
    [
        (60.0, "a", 7.5),
        (60.0, "abc", 22.5),
        (20.0, "abc", 10.0),
        (12.0, "abc", 7.5),
        (5.0, "abc", 5.0),
        (None, "a" * 25, 150.0),
    ],
)
def test_a_try_over_many_rows_has_more_time_but_half_of_the_deadline(
    deadline: float | None, answers: str, seconds: float
) -> None:
    told: list[float] = []

    def handle(request: httpx.Request) -> httpx.Response:
        told.append(float(request.headers["X-Deadline-Seconds"]))
        sent = json.loads(request.content)
        return httpx.Response(200, json=replies(*[RIGHT] * len(answers)) if "rollouts" in sent else RIGHT)

    inner = HttpJudge(config(timeout=7.5, deadline=deadline), transport=httpx.MockTransport(handle))
    outputs = [WorkflowOutput(metadata={"final_answer": answer}) for answer in answers]
    TaskJudge(inner, compile_rules([])).judge_group(TASK, outputs)
    assert told == [pytest.approx(seconds, abs=0.5)]


@pytest.mark.parametrize(("listwise", "requests"), [(False, 2), (True, 1)])
def test_a_group_that_is_asked_for_without_rules_has_a_verdict_for_each_output(listwise: bool, requests: int) -> None:
    sent: list[list[str]] = []

    def handle(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        rows = body.get("rollouts", [body])
        sent.append([row["output"]["metadata"]["final_answer"] for row in rows])
        verdicts = [RIGHT | {"reward": float(answer == "a"), "is_success": answer == "a"} for answer in sent[-1]]
        return httpx.Response(200, json=replies(*verdicts) if "rollouts" in body else verdicts[0])

    inner = HttpJudge(config(listwise=listwise), transport=httpx.MockTransport(handle))
    assert list(inner.compute_rewards(TASK, OUTPUTS[:2])) == [(1.0, True), (0.0, False)]
    assert (len(sent), [answer for answers in sent for answer in answers]) == (requests, ["a", "b"])


class Service:
    """A reward service in a function: `right` is right, `broken` breaks its judge."""

    def __init__(self, **settings: object) -> None:
        self.batches: list[list[str]] = []
        self.bodies: list[Any] = []
        self.freed: asyncio.Event | None = None
        inner = HttpJudge(config(**settings), transport=httpx.MockTransport(self.handle))
        self.judge = TaskJudge(inner, compile_rules([]))

    async def handle(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        self.bodies.append(body)
        answers = [row["output"]["metadata"]["final_answer"] for row in body.get("rollouts", [body])]
        self.batches.append(answers)
        if self.freed is not None and any("hangs" in each for each in answers):
            await self.freed.wait()
        # others get their turns, as while a network is waited for
        for _ in range(3):
            await asyncio.sleep(0)
        judgements = [self.judgement(answer) for answer in answers]
        if len(answers) > 1:
            late = FAILED | {"error": "not judged within the request's time", "cause": "deadline", "late": True}
            judgements = [late if "slow" in answer else told for answer, told in zip(answers, judgements, strict=True)]
        return httpx.Response(200, json=replies(*judgements) if "rollouts" in body else judgements[0])

    @property
    def seen(self) -> list[str]:
        return [answer for answers in self.batches for answer in answers]

    def judgement(self, answer: str) -> dict[str, Any]:
        if answer == "broken":
            return FAILED
        return RIGHT if answer.startswith("right") else RIGHT | {"reward": 0.0, "is_success": False}

    def ask(self, answers: Sequence[str]) -> list[float | None]:
        outputs = [WorkflowOutput(metadata={"final_answer": answer}) for answer in answers]
        return [judgement.reward for judgement in self.judge.judge_group(TASK, outputs)]


def test_what_is_asked_for_at_the_same_time_shares_requests() -> None:
    service = Service(max_batch=4, max_connections=2)
    answers = ["right", "wrong", "broken"] * 5
    assert service.ask(answers) == [1.0, 0.0, None] * 5
    assert sorted(map(len, service.batches)) == [3, 4, 4, 4]
    assert sorted(service.seen) == sorted(answers)
    # so that a judge which ranks over there does not take them for a group
    assert all(body["pointwise"] is True for body in service.bodies)


def test_what_comes_while_all_connections_are_busy_goes_together_next() -> None:
    service = Service(max_connections=1)

    async def one_after_another() -> list[float]:
        tasks = []
        for number in range(9):
            output = WorkflowOutput(metadata={"final_answer": f"right {number}"})
            tasks.append(asyncio.create_task(service.judge.acompute_reward(TASK, output)))
            # each in a turn of its own, also in those in which a request has just ended
            await asyncio.sleep(0)
        return [reward for reward, _ in await asyncio.wait_for(asyncio.gather(*tasks), 10)]

    assert asyncio.run(one_after_another()) == [1.0] * 9
    assert 1 < len(service.batches) < 9
    assert service.seen == [f"right {number}" for number in range(9)]


@pytest.mark.parametrize("hanging", [1, 2, 3])
def test_a_row_waits_for_no_request_that_hangs_while_a_connection_is_free(hanging: int) -> None:
    service = Service(max_connections=4)

    async def ask(answer: str) -> float:
        return (await service.judge.acompute_reward(TASK, WorkflowOutput(metadata={"final_answer": answer})))[0]

    async def behind_what_hangs() -> list[float]:
        service.freed = asyncio.Event()
        before = []
        for number in range(hanging):
            before.append(asyncio.create_task(ask(f"right {number}, hangs")))
            while len(service.batches) <= number:
                await asyncio.sleep(0)
        after = [await asyncio.wait_for(ask("right"), 5)]
        service.freed.set()
        return after + await asyncio.gather(*before)

    assert asyncio.run(behind_what_hangs()) == [1.0] * (hanging + 1)
    assert all(len(answers) == 1 for answers in service.batches)


@pytest.mark.parametrize(("rows", "cancelled"), [(1, 1), (3, 3), (3, 2)])
def test_a_request_that_nobody_waits_for_gives_its_connection_back(rows: int, cancelled: int) -> None:
    service = Service(max_connections=1)

    async def ask(answer: str) -> float:
        return (await service.judge.acompute_reward(TASK, WorkflowOutput(metadata={"final_answer": answer})))[0]

    async def behind_what_hangs() -> list[object]:
        service.freed = asyncio.Event()
        hanging = [asyncio.create_task(ask(f"right {number}, hangs")) for number in range(rows)]
        while not service.batches:
            await asyncio.sleep(0)
        for task in hanging[:cancelled]:
            task.cancel()
        after = asyncio.create_task(ask("right"))
        if cancelled < rows:
            # somebody waits for the request
            assert not (await asyncio.wait({after}, timeout=0.01))[0]
            service.freed.set()
        return await asyncio.wait_for(asyncio.gather(after, *hanging, return_exceptions=True), 5)

    told = asyncio.run(behind_what_hangs())
    kinds = [type(each) if isinstance(each, BaseException) else each for each in told]
    assert kinds == [1.0, *[asyncio.CancelledError] * cancelled, *[1.0] * (rows - cancelled)]
    assert len(service.batches) == 2


def test_a_row_that_the_service_did_not_reach_in_time_is_sent_again_by_itself() -> None:
    service = Service()
    assert service.ask(["right", "right but slow", "wrong", "slow"]) == [1.0, 1.0, 0.0, 0.0]
    assert service.batches[0] == ["right", "right but slow", "wrong", "slow"]
    assert sorted(service.batches[1:]) == [["right but slow"], ["slow"]]


def test_a_long_row_travels_alone() -> None:
    service = Service()
    answers = ["right", "right" + "." * 2_000_000, "right"]
    assert service.ask(answers) == [1.0] * 3
    assert sorted(map(len, service.batches)) == [1, 1, 1]


def test_a_lone_row_and_a_row_that_is_not_awaited_any_more() -> None:
    service = Service(max_connections=1)

    async def give_up() -> float:
        outputs = [WorkflowOutput(metadata={"final_answer": answer}) for answer in ("right 1", "right 2", "right 3")]
        first = asyncio.create_task(service.judge.acompute_reward(TASK, outputs[0]))
        await asyncio.sleep(0)
        second = asyncio.create_task(service.judge.acompute_reward(TASK, outputs[1]))
        await asyncio.sleep(0)
        second.cancel()
        return (await first)[0] + (await service.judge.acompute_reward(TASK, outputs[2]))[0]

    assert asyncio.run(give_up()) == 2.0
    assert "right 2" not in service.seen


def test_where_a_request_fails_so_do_its_rows_each_with_its_own_error() -> None:
    with FaultyEnvServer([answer("Traceback", "500 Internal Server Error", "text/plain")]) as server:
        with served(server) as judge:
            judgements = judge.judge_group(TASK, OUTPUTS)
        assert len(server.requests) == 1
    assert [judgement.reward for judgement in judgements] == [None] * 3
    assert all("judging 3 rollouts" in str(judgement.error) for judgement in judgements)


def test_a_row_that_waits_too_long_for_its_turn_is_not_sent() -> None:
    with FaultyEnvServer([hang_after(b"")]) as server:
        with served(server, timeout=0.6, deadline=0.6, max_connections=1, max_batch=1) as judge:
            judgements = judge.judge_group(TASK, OUTPUTS)
        # none where the machine is too busy to read it in time
        assert len(server.requests) <= 1
    # the first one, too, where the machine is that busy
    assert sum("within 0.6 s: the requests before it took too long" in str(each.error) for each in judgements) >= 2


@pytest.mark.parametrize("listwise", [False, True])
def test_adapters_see_whether_the_judge_over_there_ranks(listwise: bool) -> None:
    judge = ConfiguredJudge(config(listwise=listwise))
    assert judge.listwise is listwise
    assert judge.name == "HttpJudge"
    assert Traits.of(HttpJudge(config(listwise=listwise))).shares_loop is not listwise


def test_one_judge_serves_many_threads_and_a_running_loop() -> None:
    async def inside(judge: TaskJudge) -> Sequence[float]:
        rewards = await asyncio.gather(*(judge.acompute_reward(TASK, OUTPUT) for _ in range(9)))
        assert isinstance(judge.inner, HttpJudge)
        await judge.inner.aclose()
        return [*(reward for reward, _ in rewards), judge.compute_reward(TASK, OUTPUT)[0]]

    with FaultyEnvServer([answer(VERDICT)]) as server, served(server, max_connections=4, max_batch=1) as judge:
        with ThreadPoolExecutor(8) as pool:
            rewards = list(pool.map(lambda _: judge.compute_reward(TASK, OUTPUT)[0], range(40)))
        assert rewards == [1.0] * 40
        assert server.connections <= 4
        assert asyncio.run(inside(judge)) == [1.0] * 10


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_leaves_its_parents_connections_alone() -> None:
    with FaultyEnvServer([answer(VERDICT)]) as server, served(server) as judge:
        judge.compute_reward(TASK, OUTPUT)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(write, str([judge.compute_reward(TASK, OUTPUT)[0] for _ in range(2)]).encode())
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            assert pipe.read() == "[1.0, 1.0]"
        os.waitpid(child, 0)
        assert judge.compute_reward(TASK, OUTPUT)[0] == 1.0
        assert server.connections == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"url": "reward.test/reward"}, "must read http://host:port"),
        ({"url": "http://reward.test:8000"}, "native wire, such as http://reward.test:8000/reward"),
        ({"url": "http://user:s3cret@reward.test/reward"}, "set a token, for 'reward.test'"),
        ({"timeout": 0}, "judge_kwargs.timeout: input should be greater than 0"),
        ({"headers": {"Host": "x"}}, "'Host' is no header's name, or one that the client sets itself"),
        ({"headers": {"X": "a\nb"}}, "the value of 'X' must be visible ASCII"),
        ({"url": []}, "needs one URL or several"),
        ({"url": ["http://a/reward", "http://b"]}, "must be that of the service's native wire"),
        ({"url": "https://a/reward", "ca_file": "absent.pem"}, "ca_file: cannot read certificates from 'absent.pem'"),
        ({"tries": 0}, "judge_kwargs.tries"),
        ({"token": "s3"}, "token: unknown key; did you mean 'token_file'"),
        ({"token_file": "/no/such/file"}, "token_file: cannot read '/no/such/file'"),
        ({"token_file": os.devnull}, "token must be visible ASCII"),
    ],
)
def test_a_wrong_setting_is_found_when_the_judge_is_loaded(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_judge(config(**settings))
    assert message in str(caught.value)
    assert "s3cret" not in str(caught.value)
