"""The deployment example beside a running service: its probe, and the metrics that its monitoring reads."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.with_servers.serve.running_service import RunningService, config_file, row

DEPLOY = Path(__file__).parents[3] / "deploy"
READERS = [DEPLOY / "kubernetes" / "hpa.yaml", *sorted((DEPLOY / "monitoring").iterdir())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("deploy")


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[RunningService]:
    token = folder / "token"
    token.write_text("s3cret\n", encoding="ascii")
    token.chmod(0o600)
    with RunningService("--conf", config_file(folder), "--token-file", str(token), token="s3cret") as running:
        yield running


def container() -> dict[str, Any]:
    deployment = yaml.safe_load((DEPLOY / "kubernetes" / "deployment.yaml").read_text(encoding="utf-8"))
    found: dict[str, Any] = deployment["spec"]["template"]["spec"]["containers"][0]
    return found


def probe(token: Path, port: int) -> int:
    """The readiness probe's exit code, for a token file and a port of this test's."""
    program, option, script = container()["readinessProbe"]["exec"]["command"]
    script = script.replace("/run/secrets/astuner/token", str(token)).replace("/8000", f"/{port}")
    return subprocess.run([program, option, script], capture_output=True, timeout=20, check=False).returncode


@pytest.mark.parametrize("end", ["\n", ""])
def test_the_readiness_probe_asks_with_the_token(service: RunningService, folder: Path, end: str) -> None:
    token = folder / "probes-token"
    token.write_text(f"s3cret{end}", encoding="ascii")
    assert probe(token, service.port) == 0


def test_the_readiness_probe_fails_when_it_is_refused_or_nobody_listens(service: RunningService, folder: Path) -> None:
    wrong = folder / "wrong"
    wrong.write_text("wrong\n", encoding="ascii")
    assert probe(wrong, service.port) != 0
    assert probe(folder / "token", 1) != 0


def test_the_probe_starts_no_python_on_the_pod() -> None:
    assert "python" not in str(container()["readinessProbe"])


@pytest.mark.parametrize("path", READERS, ids=[path.name for path in READERS])
def test_every_metric_that_is_read_is_one_that_is_shown(service: RunningService, path: Path) -> None:
    assert service.post("/reward", row(r"\boxed{42}")).json()["reward"] == 1.0
    text = service.client.get("/metrics").text
    shown = set(re.findall(r"^(?:# TYPE )?(\w+)(?=\{| )", text, re.MULTILINE))
    read = set(re.findall(r"\b(?:astuner|process)_[a-z_]+\b", path.read_text(encoding="utf-8")))
    named = read - {"astuner_serve"}
    # series that appear with the first failed row, refused request or judge model's call have their type from the start
    assert {name for name in named if name not in shown and name.removesuffix("_bucket") not in shown} == set()
    assert named or path.name == "podmonitor.yaml"
