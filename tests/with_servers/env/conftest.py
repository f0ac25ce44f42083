"""A real server in a process of its own, on a free port of 127.0.0.1."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentscope_tuner.env_service import EnvServiceClient
from tests.with_servers.env.running_server import RunningServer


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    options = ["--env", "hostile=tests.with_servers.env.hostile_environment->HostileEnv"]
    options += ["--env", "missing=tests.with_servers.env.hostile_environment->NoSuchEnv"]
    options += ["--call-seconds", "5", "--max-body-bytes", "1000000"]
    with RunningServer(*options) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: RunningServer) -> Iterator[EnvServiceClient]:
    with EnvServiceClient(server.url) as connected:
        yield connected
