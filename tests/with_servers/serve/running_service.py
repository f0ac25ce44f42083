"""`astuner serve` as a user runs it: a process, its address read off its first line."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

_COMMAND = [sys.executable, "-c", "from agentscope_tuner.cli import main; main()", "serve"]

MATH = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
JUDGES = "tests.with_servers.serve.judges->"


def config_file(folder: Path, protocol: str = MATH, **section: Any) -> str:
    """A judge's configuration, written into `folder`."""
    path = folder / f"{protocol.partition('->')[2]}{len(list(folder.iterdir()))}.yaml"
    path.write_text(json.dumps({"astuner": {"task_judge": {"judge_protocol": protocol, **section}}}), encoding="utf-8")
    return str(path)


def row(answer: str, truth: str = "42", **more: Any) -> dict[str, Any]:
    """A rollout as the native wire takes it."""
    return {
        "task": {"task_id": "t1", "main_query": "6*7?", "metadata": {"answer": truth}},
        "output": {"metadata": {"final_answer": answer}},
        **more,
    }


class RunningService:
    """A service process and a client of it; `with` ends it as an administrator would, by SIGTERM.

    Args:
        options: of `astuner serve`, but the port.
        token: what the client sends.
    """

    def __init__(self, *options: str, token: str | None = None) -> None:
        self.process = subprocess.Popen(
            [*_COMMAND, "--port", "0", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://(127\.0\.0\.1|0\.0\.0\.0):(\d+)", line)
        if found is None:
            self.process.kill()
            raise RuntimeError(f"the service did not start: {line!r} {self.process.communicate()[1]}")
        self.port = int(found[2])
        self._log: list[str] = []
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=30)

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        self._log.extend(self.process.stderr)

    def post(self, path: str, payload: object, **headers: str) -> httpx.Response:
        """`payload` as JSON."""
        body = json.dumps(payload).encode()
        return self.client.post(path, content=body, headers={"Content-Type": "application/json", **headers})

    def metric(self, line: str) -> float:
        """The value of `name{labels}` in `/metrics`; 0 where it is not there yet."""
        text = self.client.get("/metrics").text
        return float(
            next((rest for name, _, rest in (r.rpartition(" ") for r in text.splitlines()) if name == line), 0)
        )

    def terminate(self) -> int:
        """SIGTERM; the exit code, which must come within 20 s."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)

    def lines(self) -> list[str]:
        """What it has logged so far."""
        return list(self._log)

    def log(self) -> str:
        """All that it logged; ends the service."""
        self.terminate()
        self._reader.join(10)
        return "".join(self._log)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.client.close()
        self.log()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
