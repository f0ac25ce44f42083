"""The page "your Hugging Face rows to rewards in TRL": its steps run as they stand, one after the other."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app

PAGE = (Path(__file__).parents[3] / "docs" / "rows_to_trl.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_steps_run_in_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert [language for language, _ in BLOCKS] == ["python", "console", "console", "python", "python"]
    # the last trains, and TRL's own environment trains with the same call: tests/with_trainers/test_trl.py
    for language, body in BLOCKS[:-1]:
        if language == "python":
            exec(compile(body, "rows_to_trl.md", "exec"), {})  # noqa: S102  # the page's own code
            continue
        for line in body.splitlines():
            done = CliRunner().invoke(app, shlex.split(line.removeprefix("$ astuner ")))
            assert done.exit_code == 0, done.output
    compile(BLOCKS[-1][1], "rows_to_trl.md", "exec")
