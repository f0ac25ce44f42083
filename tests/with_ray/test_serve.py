"""`astuner serve --engine ray`: the same application in a replica of Ray Serve, asked over a socket, and drained."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.with_servers.serve.running_service import JUDGES, RunningService, config_file, row
from tests.with_servers.serve.test_limits import until


def test_a_replica_judges_and_drains(tmp_path: Path) -> None:
    told = tmp_path / "told"
    told.mkdir()
    waits = config_file(tmp_path, JUDGES + "Waits", judge_kwargs={"folder": str(told)})
    options = ["--engine", "ray", "--conf", f"math={config_file(tmp_path)}", "--conf", f"waits={waits}"]
    with RunningService(*options) as service, ThreadPoolExecutor(1) as pool:
        assert service.client.get("/readyz").json()["status"] == "ready"
        batch = {"rollouts": [row(r"\boxed{42}", id="a"), row(r"\boxed{41}"), 7]}
        judgements = service.post("/math/reward", batch).json()["judgements"]
        assert [item["reward"] for item in judgements] == [1.0, 0.0, None]
        assert service.post("/math/reward", {"task": 5}).status_code == 422
        under_way = pool.submit(service.post, "/waits/reward", row("x"))
        assert until(lambda: (told / "begun-t1").exists(), 30)
        service.process.send_signal(signal.SIGTERM)
        # its route goes first, and the request under way goes on
        assert until(lambda: service.client.get("/readyz").status_code == 404, 30)
        (told / "go").touch()
        assert under_way.result(30).json()["reward"] == 1.0
        assert service.process.wait(60) == 0
