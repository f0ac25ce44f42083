"""`astuner init`: what it writes loads, passes its own test, and never replaces a file."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentscope_tuner import load_judge
from agentscope_tuner.cli.app import app
from agentscope_tuner.cli.init import Starter, _sources

STARTERS = [kind for kind in Starter if _sources(kind)]


def written(kind: str, folder: Path) -> str:
    result = CliRunner().invoke(app, ["init", kind, str(folder)])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("kind", STARTERS)
def test_the_configuration_loads_and_the_next_commands_are_named(
    kind: Starter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.syspath_prepend(str(tmp_path / "new"))
    # another test may have loaded a module of that name
    monkeypatch.setitem(sys.modules, "my_judge", None)
    monkeypatch.delitem(sys.modules, "my_judge")
    printed = written(kind, tmp_path / "new")
    assert load_judge(tmp_path / "new" / "judge.yaml")
    assert f"cd {tmp_path / 'new'}" in printed
    assert "astuner check --conf judge.yaml" in printed


@pytest.mark.slow
@pytest.mark.parametrize("kind", STARTERS)
def test_what_it_writes_passes_its_own_test(kind: Starter, tmp_path: Path) -> None:
    written(kind, tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_judge.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


def test_a_starter_with_a_test_of_its_own_writes_that_one(tmp_path: Path) -> None:
    written("llm", tmp_path)
    own = files("agentscope_tuner") / "cli" / "starters" / "llm" / "test_judge.py"
    assert (tmp_path / "test_judge.py").read_bytes() == own.read_bytes()


def test_no_file_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "judge.yaml").write_text("mine: true\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["init", "math", str(tmp_path)])
    assert result.exit_code == 2
    assert "is there already" in result.output.replace("\n", " ")
    assert (tmp_path / "judge.yaml").read_text(encoding="utf-8") == "mine: true\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["judge.yaml"]


@pytest.mark.parametrize(("taken", "free"), [("kept", "kept-2"), ("kept kept-2", "kept-3"), ("a/b", "a/b-2")])
def test_a_free_folder_is_proposed_for_one_that_is_taken(
    taken: str, free: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in taken.split():
        assert CliRunner().invoke(app, ["init", "math", folder]).exit_code == 0
    again = CliRunner().invoke(app, ["init", "code", taken.split()[0]])
    assert f"as in `astuner init code {free}`" in " ".join(again.output.split())
    rows = ["--from", f"{taken.split()[0]}/rows.jsonl"]
    again = CliRunner().invoke(app, ["init", "math", taken.split()[0], *rows])
    assert f"as in `astuner init math {free} --from …`" in " ".join(again.output.split())


def test_the_judge_is_chosen_for_the_column_that_is_read(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        json.dumps({"question": "1+1?", "solution": r"so \boxed{3}", "ground_truth": "2"}), encoding="utf-8"
    )
    result = CliRunner().invoke(app, ["init", "auto", str(tmp_path / "mine"), "--from", str(rows)])
    text = " ".join(result.output.split())
    assert "judge: math, since ground_truth holds a number or a formula" in text
    assert "answer: it stands in ground_truth, not in solution" in text


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = CliRunner().invoke(app, ["init", "math", str(tmp_path / "file" / "new")])
    assert result.exit_code == 2
    assert "cannot write to" in result.output.replace("\n", " ")
