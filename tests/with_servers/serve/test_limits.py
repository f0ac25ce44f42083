"""What is too much: refused with a status and words, while everything else goes on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from agentscope_tuner.service.admission import Refusal
from agentscope_tuner.service.app import read_body
from tests.with_servers.serve.running_service import JUDGES, RunningService, config_file, row

JSON = {"Content-Type": "application/json"}
GOOD = json.dumps(row(r"\boxed{42}")).encode()
MAX_BODY = 100_000


def until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether `condition` came true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("small")
    with RunningService("--conf", config_file(folder), "--max-body-bytes", str(MAX_BODY), "--max-rows", "3") as up:
        yield up


def padded(size: int) -> bytes:
    return GOOD[:-1] + b" " * (size - len(GOOD)) + b"}"


def chunks(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), 8192):
        yield body[start : start + 8192]


@pytest.mark.parametrize("size", [MAX_BODY + 1, 3_000_000])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_too_long_is_refused_and_the_client_reads_why(small: RunningService, size: int, chunked: bool) -> None:
    body = padded(size)
    got = small.client.post("/reward", content=chunks(body) if chunked else body, headers=JSON)
    assert got.status_code == 413
    assert str(MAX_BODY) in got.json()["detail"]
    assert small.post("/reward", row(r"\boxed{42}")).json()["reward"] == 1.0


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_of_just_the_limit_is_judged(small: RunningService, chunked: bool) -> None:
    body = padded(MAX_BODY)
    got = small.client.post("/reward", content=chunks(body) if chunked else body, headers=JSON)
    assert (got.status_code, got.json()["reward"]) == (200, 1.0)


def test_a_body_without_end_is_not_read_for_ever(small: RunningService) -> None:
    """A chunked body that goes on and on: the service answers, or hangs up, after a bounded part of it."""
    sent = 0
    with socket.create_connection(("127.0.0.1", small.port), timeout=20) as connection:
        connection.sendall(
            b"POST /reward HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
        try:
            while sent < 2**30:
                connection.sendall(piece)
                sent += 65536
        except OSError:
            pass
    assert 2**20 < sent < 2**28
    assert small.client.get("/healthz").status_code == 200


HALF_SENT = b"POST /reward HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"


def test_bodies_that_are_never_finished_lock_nobody_out(tmp_path: Path) -> None:
    """330 of them took all places for 30 s, while `/readyz` said 200."""
    with RunningService("--conf", config_file(tmp_path)) as service, contextlib.ExitStack() as stack:
        stalled, *dripping = (
            stack.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=20)) for _ in range(331)
        )
        for connection in (stalled, *dripping):
            connection.sendall(HALF_SENT)
        assert service.post("/reward", row(r"\boxed{42}")).json()["reward"] == 1.0
        assert service.client.get("/readyz").status_code == 200
        with contextlib.suppress(OSError):
            while not select.select([dripping[0]], [], [], 0.2)[0]:
                dripping[0].sendall(b" ")
        for connection in (stalled, dripping[0]):
            assert connection.recv(65536).startswith(b"HTTP/1.1 408")


def test_a_batch_of_too_many_rows_is_refused(small: RunningService) -> None:
    assert small.post("/reward", {"rollouts": [1, 2, 3]}).status_code == 200
    assert small.post("/reward", {"rollouts": [1, 2, 3, 4]}).status_code == 413


@pytest.mark.parametrize("priority", ["", "high", "1.0", "11", "-11", "nan"])
def test_a_priority_that_is_none_is_refused(small: RunningService, priority: str) -> None:
    got = small.post("/reward", row("x"), **{"X-Priority": priority})
    assert got.status_code == 422
    assert "X-Priority" in got.json()["detail"]
    assert small.post("/reward", row("x"), **{"X-Priority": "-10"}).status_code == 200


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "soon", ""])
def test_a_deadline_that_is_none_is_refused(small: RunningService, seconds: str) -> None:
    got = small.post("/reward", row("x"), **{"X-Deadline-Seconds": seconds})
    assert got.status_code == 422
    assert "X-Deadline-Seconds" in got.json()["detail"]


class Waiting:
    """A service whose judge waits until it may go on, and what its judge told."""

    def __init__(self, folder: Path, judge: str, *options: str) -> None:
        self.folder = folder / "told"
        self.folder.mkdir()
        self.service = RunningService(
            "--conf", config_file(folder, JUDGES + judge, judge_kwargs={"folder": str(self.folder)}), *options
        )

    def told(self, what: str) -> bool:
        return (self.folder / what).exists()

    def go_on(self) -> None:
        (self.folder / "go").touch()

    def row(self, name: str) -> dict[str, Any]:
        return {"task": {"task_id": name}, "output": {}}

    def ask(self, name: str, **headers: str) -> httpx.Response:
        return self.service.post("/reward", self.row(name), **headers)


@pytest.fixture
def waiting(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Waiting]:
    judge, *options = request.param
    waits = Waiting(tmp_path, judge, *options)
    with waits.service:
        yield waits
        waits.go_on()


@pytest.mark.parametrize("waiting", [("Waits", "--concurrency", "1", "--queue", "1")], indirect=True)
def test_beyond_the_queue_it_is_full_and_says_when_to_come_again(waiting: Waiting) -> None:
    service = waiting.service
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(waiting.ask, "first")
        assert until(lambda: waiting.told("begun-first"))
        second = pool.submit(waiting.ask, "second")
        assert until(lambda: service.metric("astuner_queue") == 1)
        assert service.metric("astuner_in_flight") == 1
        for _ in range(3):
            full = waiting.ask("third")
            assert full.status_code == 429
            assert full.headers["retry-after"] == "1"
        # so that a load balancer asks another replica
        assert service.client.get("/readyz").status_code == 503
        assert service.client.get("/readyz").json() == {"status": "full", "judges": {}}
        assert service.client.get("/healthz").status_code == 200
        waiting.go_on()
        assert first.result(10).json()["reward"] == second.result(10).json()["reward"] == 1.0
    assert service.client.get("/readyz").status_code == 200
    assert waiting.ask("fourth").status_code == 200
    assert not waiting.told("begun-third")
    assert service.metric('astuner_requests_total{code="429",judge="default",wire="native"}') == 3


def test_running_out_of_file_descriptors_is_logged(tmp_path: Path) -> None:
    """uvloop closed the connections that it could not take, and no line said so."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with RunningService("--conf", config_file(tmp_path)) as service, contextlib.ExitStack() as connections:
        resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (60, hard))
        for _ in range(100):
            connections.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=20))
        logged = until(lambda: any("file descriptors are in use" in line for line in service.lines()), 20)
    assert logged
    assert "60 of 60 file descriptors are in use: new connections are dropped" in service.log()


@pytest.mark.parametrize("waiting", [("Waits", "--deadline", "30")], indirect=True)
@pytest.mark.parametrize("batch", [False, True])
def test_a_deadline_cancels_the_judge(waiting: Waiting, batch: bool) -> None:
    rows = [waiting.row("a"), waiting.row("b")]
    payload = {"rollouts": rows} if batch else rows[0]
    late = waiting.service.post("/reward", payload, **{"X-Deadline-Seconds": "0.2"})
    assert late.status_code == 504
    assert late.headers["retry-after"] == "1"
    assert until(lambda: waiting.told("cancelled-a"))
    assert until(lambda: waiting.told("cancelled-b") is batch)
    assert until(lambda: waiting.service.metric("astuner_in_flight") == 0)


@pytest.mark.parametrize("judge", ["HangsOnOne", "RanksOrHangs"])
def test_a_row_that_hangs_costs_no_other_row_its_verdict(tmp_path: Path, judge: str) -> None:
    """It ended as a 504 for every row of its request."""
    # neighbours of one task are a group, and a judge that ranks is asked about whole groups
    answers = ["a", "a", "b", "b", "hang", "hang"] if judge == "RanksOrHangs" else ["a", "hang", "b"]
    rows = [{"task": {"task_id": answer}, "output": {"metadata": {"final_answer": answer}}} for answer in answers]
    with RunningService("--conf", config_file(tmp_path, JUDGES + judge), "--drain-seconds", "0.1") as service:
        got = service.post("/reward", {"rollouts": rows}, **{"X-Deadline-Seconds": "1"})
        assert got.status_code == 200
        verdicts = dict(zip(answers, got.json()["judgements"], strict=True))
        assert [verdicts[answer]["reward"] for answer in "ab"] == [1.0, 1.0]
        late = verdicts["hang"]
        assert (late["status"], late["reward"], late["cause"], late["late"]) == ("failed", None, "deadline", True)
        assert "late" not in verdicts["a"]


@pytest.mark.parametrize("waiting", [("Waits", "--deadline", "0.2")], indirect=True)
def test_the_service_has_a_deadline_of_its_own(waiting: Waiting) -> None:
    assert waiting.ask("a", **{"X-Deadline-Seconds": "3600"}).status_code == 504
    assert until(lambda: waiting.told("cancelled-a"))


def hang_up_after(service: RunningService, payload: object, ready: Callable[[], bool]) -> None:
    """Ask, and close the connection once `ready`."""
    body = json.dumps(payload).encode()
    head = f"POST /reward HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        connection.sendall(head.encode() + body)
        assert until(ready)


@pytest.mark.parametrize("waiting", [("Waits", "--concurrency", "1")], indirect=True)
def test_a_client_that_hangs_up_cancels_its_work(waiting: Waiting) -> None:
    service = waiting.service
    hang_up_after(service, waiting.row("gone"), lambda: waiting.told("begun-gone"))
    assert until(lambda: waiting.told("cancelled-gone"))
    batch = {"rollouts": [waiting.row("x"), waiting.row("y")]}
    hang_up_after(service, batch, lambda: waiting.told("begun-x") and waiting.told("begun-y"))
    assert until(lambda: waiting.told("cancelled-x") and waiting.told("cancelled-y"))
    assert until(lambda: service.metric("astuner_in_flight") == 0)
    assert not waiting.told("ended-gone")


@pytest.mark.parametrize("waiting", [("Waits", "--concurrency", "1")], indirect=True)
def test_a_client_that_hangs_up_in_the_queue_is_never_judged(waiting: Waiting) -> None:
    service = waiting.service
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(waiting.ask, "first")
        assert until(lambda: waiting.told("begun-first"))
        hang_up_after(service, waiting.row("gone"), lambda: service.metric("astuner_queue") == 1)
        assert until(lambda: service.metric("astuner_queue") == 0)
        waiting.go_on()
        assert first.result(10).status_code == 200
    assert not waiting.told("begun-gone")


@pytest.mark.parametrize("waiting", [("Blocks", "--concurrency", "2", "--deadline", "0.2")], indirect=True)
def test_judges_that_block_hold_a_bounded_number_of_threads(waiting: Waiting) -> None:
    service = waiting.service
    for number in range(8):
        assert waiting.ask(f"t{number}").status_code == 504
    threads = len(list(Path(f"/proc/{service.process.pid}/task").iterdir()))
    assert threads < 2 + 6
    # those that were given up before a thread was free for them are not judged afterwards
    begun = len(list(waiting.folder.glob("begun-*")))
    assert begun == 2
    assert service.client.get("/healthz").status_code == 200
    waiting.go_on()
    assert until(lambda: waiting.ask("after").status_code == 200)
    assert len(list(waiting.folder.glob("begun-t*"))) == 2


def test_cheap_rows_go_on_beside_a_flood_of_expensive_ones(tmp_path: Path) -> None:
    """A symbolic comparison that runs into its limit, 24 at once, and answers that need none of it in between."""
    hard = row(r"\boxed{\sin^{17}(x)\cos^{23}(x)+\sqrt{x^{19}+3}}", r"\cos^{23}(x)\sin^{17}(x)+\sqrt{x^{19}+2}")
    with RunningService("--conf", config_file(tmp_path)) as service:
        flood = [threading.Thread(target=service.post, args=("/reward", hard)) for _ in range(24)]
        for thread in flood:
            thread.start()
        try:
            for _ in range(20):
                assert service.post("/reward", row(r"\boxed{42}")).json()["reward"] == 1.0
        finally:
            for thread in flood:
                thread.join(60)


@pytest.mark.parametrize(("most", "status"), [(10, None), (9, 413)])
def test_a_body_of_no_announced_length_is_counted_over_its_parts(most: int, status: int | None) -> None:
    parts: list[dict[str, Any]] = [{"body": b"12345", "more_body": True}, {"more_body": True}, {"body": b"67890"}]
    waiting = [{"type": "http.request", **part} for part in parts]

    async def receive() -> dict[str, Any]:
        return waiting.pop(0)

    headers = [(b"content-type", b"application/json"), (b"transfer-encoding", b"chunked")]
    request = Request({"type": "http", "method": "POST", "path": "/reward", "headers": headers}, receive)
    held: list[int] = []
    if status is None:
        assert asyncio.run(read_body(request, most, held.append)) == b"1234567890"
        assert held == [5, 0, 5]
        return
    with pytest.raises(Refusal) as refused:
        asyncio.run(read_body(request, most, held.append))
    assert (refused.value.status, held) == (status, [5, 0])
