"""What the env service's guide shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner.env_service import EnvServiceClient, GymEnv
from tests.with_servers.env.running_server import RunningServer

ROOT = Path(__file__).parents[3]
GUIDES = [ROOT / "docs" / "env_service.md", ROOT / "docs" / "env_service.zh.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(guide: Path) -> list[str]:
    return BLOCK.findall(guide.read_text(encoding="utf-8"))


def test_both_languages_show_the_same_code() -> None:
    assert blocks(GUIDES[0]) == blocks(GUIDES[1])
    assert len(blocks(GUIDES[0])) == 2


def test_the_episode_runs_as_shown(server: RunningServer) -> None:
    episode = blocks(GUIDES[0])[0].replace("http://127.0.0.1:8000", server.url)
    done = subprocess.run(
        [sys.executable, "-c", episode], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    puzzle, reply, reward = done.stdout.splitlines()
    assert puzzle.startswith("Reach 128 with the numbers 5, 15, 8, 3")
    assert reply == "Right! True"
    assert reward == "(1.5, True)"


def test_an_environment_of_ones_own_is_served_as_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "guess.py").write_text(blocks(GUIDES[0])[1], encoding="utf-8")
    # workers find modules of the server's working directory
    monkeypatch.chdir(tmp_path)
    with RunningServer("--env", "guess=guess->GuessEnv") as server, EnvServiceClient(server.url) as client:
        assert client.get_env_profile("guess") == [str(number) for number in range(10)]
        with GymEnv(client, "guess", "7") as env:
            said: list[Any] = []
            for guess in ("3", "7"):
                played = env.step({"role": "assistant", "content": guess})
                said.append((played.state[0]["content"], played.is_terminated, env.evaluate()))
    assert said == [("no", False, 0.0), ("yes", True, 1.0)]
