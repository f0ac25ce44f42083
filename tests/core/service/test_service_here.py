"""The service's answers, from its application in this process: the tests over real sockets, without the sockets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

pytest.importorskip("prometheus_client")

from agentscope_tuner.service.admission import ServiceSettings
from agentscope_tuner.service.app import TokenFile, create_app
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from tests.with_servers.serve import test_auth as auth
from tests.with_servers.serve import test_limits as limits
from tests.with_servers.serve import test_wires as wires
from tests.with_servers.serve.running_service import JUDGES, MATH, RunningService, row

# what only sockets show, or what takes the math judge its whole time
_NOT_HERE = {
    *("test_hostile_answers_are_wrong_answers", "test_a_zero_for_an_answer_that_was_not_found_wrong_is_counted"),
    *("test_a_judge_can_neither_end_nor_hang_the_service", "test_a_body_without_end_is_not_read_for_ever"),
    *("test_without_the_token_nothing_answers", "test_what_cannot_be_read_is_refused_in_words"),
    "test_what_a_policy_may_write_is_judged",
}
globals().update(
    (name, test)
    for module, fixture in ((wires, "service"), (limits, "small"), (auth, "guarded"))
    for name, test in vars(module).items()
    if name.startswith("test_") and fixture in test.__annotations__ and name not in _NOT_HERE
)


class ServiceHere:
    """What the tests ask of a `RunningService`."""

    post, metric = RunningService.post, RunningService.metric

    def __init__(self, judges: dict[str, dict[str, Any]], *headers: tuple[str, str], **settings: Any) -> None:
        loaded = {name: ConfiguredJudge({"astuner": {"task_judge": section}}) for name, section in judges.items()}
        self.app = create_app(loaded, ServiceSettings(**settings))
        self.client: Any = TestClient(self.app, headers=dict(headers), raise_server_exceptions=False)


@pytest.fixture(scope="module")
def service() -> Iterator[ServiceHere]:
    named = (("breaks", "Breaks"), ("thread", "BreaksInAThread"), ("costs", "Costs"), ("shortest", "Shortest"))
    judges: dict[str, Any] = {name: {"judge_protocol": JUDGES + judge} for name, judge in named}
    judges[""] = {"judge_protocol": MATH, "rules": [{"id": "not_empty", "kind": "non_empty", "action": "mark_bad"}]}
    here = ServiceHere(judges, max_answer_chars=wires.LONG, max_rows=200)
    with here.client:
        yield here


@pytest.fixture(scope="module")
def small() -> Iterator[ServiceHere]:
    here = ServiceHere({"": {"judge_protocol": MATH}}, max_body_bytes=limits.MAX_BODY, max_rows=3)
    with here.client:
        yield here


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceHere]:
    token = tmp_path_factory.mktemp("guarded") / "token"
    token.write_text(auth.TOKEN + "\n", encoding="ascii")
    token.chmod(0o600)
    judges = {name: {"judge_protocol": MATH} for name in ("", "math")}
    here = ServiceHere(judges, ("Authorization", f"Bearer {auth.TOKEN}"), token_file=str(token))

    def stranger(service: ServiceHere, *headers: tuple[str, str]) -> TestClient:
        client = TestClient(service.app)
        client.headers = [(name.encode(), value.encode()) for name, value in headers]
        return client

    with pytest.MonkeyPatch.context() as patch, here.client:
        patch.setattr(auth, "stranger", stranger)
        yield here


@pytest.mark.parametrize("bearer", ["none", "another", "glued", "two", "not ASCII"])
def test_nothing_answers_without_the_token(guarded: Any, bearer: str) -> None:
    for method, path in auth.ASKED[:: 9 if bearer != "none" else 1]:
        auth.test_without_the_token_nothing_answers(guarded, method, path, bearer)


@pytest.mark.parametrize("body", wires.MALFORMED)
def test_nobody_reads(service: Any, body: str) -> None:
    for path in ("/reward", "/slime") if body == "no json" else ("/reward",):
        wires.test_what_cannot_be_read_is_refused_in_words(service, path, body)


def test_an_operator_sees_what_it_does_and_whether_it_takes_requests(small: Any) -> None:
    small.post("/reward", row("x"))
    asked = small.client.get("/metrics")
    assert asked.headers["content-type"].startswith("text/plain; version=")
    named = set(re.findall(r"^# TYPE (astuner_\S+?)(?:_total)? (\w+)$", asked.text, re.MULTILINE))
    assert {one for one in named if not one[0].endswith("_created")} == {
        *((f"astuner_{name}", "counter") for name in ("requests", "verdicts", "failures", "marked")),
        *((f"astuner_llm_{name}", "counter") for name in ("calls", "cache_hits", "tokens", "cost")),
        *((f"astuner_{name}_seconds", "histogram") for name in ("request", "verdict")),
        *((f"astuner_{name}", "gauge") for name in ("queue", "in_flight", "draining")),
    }
    for mark in ("unread", "undecided"):
        assert f'astuner_marked_total{{judge="default",mark="{mark}"}} 0.0' in asked.text
    gate = small.app.state.gate
    assert small.client.get("/readyz").json() == {"status": "ready", "judges": {"": None}}
    assert small.metric("astuner_draining") == 0
    gate.draining = True
    try:
        refused = small.post("/reward", row("x"))
        ready = small.client.get("/readyz")
        assert small.metric("astuner_draining") == 1
    finally:
        gate.draining = False
    assert (ready.status_code, ready.json()) == (503, {"status": "draining", "judges": {}})
    assert refused.status_code == 503
    assert small.client.get("/healthz").text == "OK"


def test_a_token_that_others_can_read_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    token = tmp_path / "token"
    token.write_text("abc")
    for mode, told in (
        (0o600, []),
        (0o644, [f"the token file {token} can be read or changed by others: chmod 600 it"]),
    ):
        token.chmod(mode)
        caplog.clear()
        TokenFile(token)
        assert [record.getMessage() for record in caplog.records if "token file" in record.msg] == told
