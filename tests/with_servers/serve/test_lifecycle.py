"""From the first line to exit code 0: readiness, draining, and an end that comes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from agentscope_tuner.env_service import EnvServiceClient
from agentscope_tuner.graders.rubrics.saved import Rubric, SavedGrader, save
from tests.rubric_world import configuration
from tests.with_servers.env.running_server import RunningServer, alive
from tests.with_servers.serve.running_service import JUDGES, RunningService, config_file, row
from tests.with_servers.serve.test_limits import Waiting, until


def test_it_drains(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path, "Waits")
    with waiting.service as service, ThreadPoolExecutor(1) as pool:
        assert service.client.get("/readyz").json() == {"status": "ready", "judges": {"": None}}
        under_way = pool.submit(waiting.ask, "under-way")
        assert until(lambda: waiting.told("begun-under-way"))
        service.process.send_signal(signal.SIGTERM)
        assert until(lambda: service.client.get("/readyz").status_code == 503)
        assert service.client.get("/readyz").json()["status"] == "draining"
        late = waiting.ask("late")
        assert late.status_code == 503
        assert late.headers["retry-after"] == "1"
        assert service.client.get("/healthz").status_code == 200
        assert service.metric("astuner_draining") == 1
        waiting.go_on()
        assert under_way.result(60).json()["reward"] == 1.0
        assert service.process.wait(60) == 0
    assert waiting.told("ended-under-way")
    assert not waiting.told("begun-late")


def test_an_idle_service_ends_at_once(tmp_path: Path) -> None:
    with RunningService("--conf", config_file(tmp_path)) as service:
        service.post("/reward", row(r"\boxed{42}"))
        begun = time.monotonic()
        assert service.terminate() == 0
        assert time.monotonic() - begun < 20


def test_a_hangup_drains_it_too(tmp_path: Path) -> None:
    """It ended the service at once, with exit code 129, and every request under way was lost."""
    waiting = Waiting(tmp_path, "Waits")
    with waiting.service as service, ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(waiting.ask, "a")
        assert until(lambda: waiting.told("begun-a"))
        service.process.send_signal(signal.SIGHUP)
        assert until(lambda: service.client.get("/readyz").status_code == 503)
        waiting.go_on()
        assert under_way.result(60).json()["reward"] == 1.0
        assert service.process.wait(60) == 0


@pytest.mark.parametrize("judge", ["Waits", "Blocks"])
def test_a_drain_has_an_end(tmp_path: Path, judge: str) -> None:
    """Work that never ends is cancelled, and answered 503: its client was hung up on, and the log had its traceback. A
    thread that cannot be cancelled is left behind. The exit code is still 0.
    """
    waiting = Waiting(tmp_path, judge, "--drain-seconds", "0.3")
    with waiting.service as service, ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(waiting.ask, "a")
        assert until(lambda: waiting.told("begun-a"))
        begun = time.monotonic()
        assert service.terminate() == 0
        assert time.monotonic() - begun < 30
        answer = under_way.result(60)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "Traceback" not in service.log()
    assert waiting.told("cancelled-a") is (judge == "Waits")


def test_a_second_signal_cuts_the_drain_short(tmp_path: Path) -> None:
    # not Ctrl-C, which a shell's background job ignores
    waiting = Waiting(tmp_path, "Waits")
    with waiting.service as service, ThreadPoolExecutor(1) as pool:
        pool.submit(waiting.ask, "a")
        assert until(lambda: waiting.told("begun-a"))
        service.process.send_signal(signal.SIGTERM)
        assert until(lambda: service.client.get("/readyz").status_code == 503)
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(60) == 0


def test_the_math_workers_end_with_it(tmp_path: Path) -> None:
    with RunningService("--conf", config_file(tmp_path)) as service:
        service.post("/reward", row(r"\boxed{\sqrt{x^4+2x^2+1}}", "x^2+1"))
        children = Path(f"/proc/{service.process.pid}/task/{service.process.pid}/children").read_text().split()
        threads = [path.name for path in Path(f"/proc/{service.process.pid}/task").iterdir()]
        for thread in threads:
            children += Path(f"/proc/{service.process.pid}/task/{thread}/children").read_text().split()
        assert children
        service.terminate()
        assert until(lambda: not any(alive(int(child)) for child in children))


def test_a_judge_that_is_not_ready_makes_the_service_so(tmp_path: Path) -> None:
    ready, not_ready = config_file(tmp_path), config_file(tmp_path, JUDGES + "NotReady")
    with RunningService("--conf", f"math={ready}", "--conf", f"other={not_ready}") as service:
        answer = service.client.get("/readyz")
        assert answer.status_code == 503
        assert answer.json()["judges"]["math"] is None
        assert "what it depends on is down" in answer.json()["judges"]["other"]
        assert service.client.get("/healthz").status_code == 200
        assert service.post("/math/reward", row(r"\boxed{42}")).json()["reward"] == 1.0


class _Models(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/v1/models" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


def test_it_is_ready_while_the_judge_models_endpoint_answers(tmp_path: Path) -> None:
    endpoint = ThreadingHTTPServer(("127.0.0.1", 0), _Models)
    Thread(target=endpoint.serve_forever, daemon=True).start()
    rubric = Rubric(text="Names the mechanism.", samples=[1], gain=0.5)
    saved = SavedGrader(
        model_name="m", grader_mode="pointwise", language="en", min_score=0.0, max_score=10.0, rubrics=[rubric]
    )
    save(saved, tmp_path / "out" / "auto_grader.json")
    conf = tmp_path / "grader.yaml"
    url = f"http://127.0.0.1:{endpoint.server_port}/v1"
    conf.write_text(json.dumps(configuration(url, tmp_path, accept_unproven=True)), "utf-8")
    with RunningService("--conf", str(conf)) as service:
        assert service.client.get("/readyz").json() == {"status": "ready", "judges": {"": None}}
        for status in (401, 500):
            _Models.status = status
            assert until(lambda: service.client.get("/readyz").status_code == 503)
            assert str(status) in service.client.get("/readyz").json()["judges"][""]
            _Models.status = 404
            assert until(lambda: service.client.get("/readyz").status_code == 200)
        endpoint.shutdown()
        endpoint.server_close()
        assert until(lambda: "does not answer" in service.client.get("/readyz").text)


def test_an_environments_judge_asks_the_configured_service(tmp_path: Path) -> None:
    with RunningServer() as environments:
        conf = config_file(tmp_path, "agentscope_tuner.task_judge.env_service_as_judge->EnvServiceJudge")
        url = f"astuner.task_reader.env_service.env_url={environments.url}"
        with RunningService("--conf", conf, url) as service:
            assert service.client.get("/readyz").status_code == 200
            with EnvServiceClient(environments.url) as client:
                task_id = client.get_env_profile("countdown")[0]
                created = client.create_instance("countdown", task_id)
            judged = service.post("/reward", {"task": {}, "output": {}, "task_env_uuid": created.instance_id}).json()
            assert (judged["status"], judged["reward"]) == ("judged", 0.0)
            lost = service.post("/reward", {"task": {}, "output": {}, "task_env_uuid": "nobody"}).json()
            assert (lost["status"], lost["reward"]) == ("failed", None)
            environments.terminate()
            assert until(lambda: service.client.get("/readyz").status_code == 503)


def test_it_says_what_is_missing_where_the_extra_is_not_installed(tmp_path: Path) -> None:
    blocker = "import sys; sys.modules['starlette'] = None; from agentscope_tuner.cli import main; main()"
    command = [sys.executable, "-c", blocker, "serve", "--conf", config_file(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "pip install '.[serve]'" in done.stderr
