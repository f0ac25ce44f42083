"""`astuner judge --engine ray` says what is wrong before it starts anything; what it judges is tested where Ray is."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("input_", "output", "options", "words"),
    [
        ("rollouts.jsonl", "out", ["--limit", "1"], "--engine local"),
        ("rollouts.jsonl", "out", ["--strict"], "--engine local"),
        ("rollouts.jsonl", "rollouts.jsonl", [], "must be a folder"),
        ("none-*.jsonl", "out", [], "no file matches"),
        ("rollouts.jsonl", "s3://bucket/out", [], "mount the bucket"),
        ("memory://bucket/*.jsonl", "out", [], "every node sees"),
    ],
)
def test_what_it_cannot_do_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, input_: str, output: str, options: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rollouts.jsonl").touch()
    arguments = ["judge", "--engine", "ray", "--conf", str(ROOT / "configs/math.yaml")]
    result = CliRunner().invoke(app, [*arguments, "--input", input_, "--output", output, *options])
    assert result.exit_code == 2
    assert words in result.output.replace("\n", " ")
    assert not Path("out").exists()
