"""A real S3 server on this machine, and the command line as a user starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """The address of moto's server."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@pytest.fixture
def bucket(s3_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty bucket's URL; this process and its children are told where it is as they would be told of any other."""
    import fsspec

    named = {
        "AWS_ENDPOINT_URL_S3": s3_server,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    system: Any = fsspec.filesystem("s3", skip_instance_cache=True)
    name = f"runs-{os.urandom(4).hex()}"
    system.mkdir(name)
    return f"s3://{name}"


@pytest.fixture
def astuner(tmp_path: Path) -> Command:
    """`astuner` in a process of its own, in a folder that is not the checkout."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "agentscope_tuner", *words]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "60"}
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)

    return run
