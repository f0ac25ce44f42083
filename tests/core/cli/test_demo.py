"""`astuner demo`: every kind of verdict is seen, and the README says what it prints."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("demo") / "out"
    result = CliRunner().invoke(app, ["demo", "--output", str(folder)])
    assert result.exit_code == 0, result.output
    return result.output, folder


def test_a_row_of_each_kind_is_shown_with_its_reason(run: tuple[str, Path]) -> None:
    printed, folder = run
    rows = [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]
    assert {(row["judgement"]["status"], row["judgement"]["is_success"]) for row in rows} == {
        ("judged", True),
        ("judged", False),
        ("filtered", False),
        ("failed", None),
    }
    for reason in ("exact: 25 = 25", "rules: not_empty", "the reference answer must be"):
        assert reason in printed


def test_it_ends_with_what_to_run_next_and_the_report_it_has_written(run: tuple[str, Path]) -> None:
    printed, folder = run
    assert printed.replace("\n", "").endswith(str(folder / "math.html"))
    assert (folder / "math.html").stat().st_size > 10_000
    assert re.findall(r"^  astuner (\w+)", printed, re.MULTILINE) == ["explain", "init", "judge"]


def test_the_readme_states_the_rates_that_it_prints(run: tuple[str, Path]) -> None:
    printed, _ = run
    rates = [f"{rate} %" for rate in re.findall(r"success rate\D+([0-9.]+)%", printed)[:2]]
    assert len(rates) == 2
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [rate for rate in rates if rate not in readme] == []


def test_it_says_what_it_writes_and_writes_over_its_own_files_alone(run: tuple[str, Path], tmp_path: Path) -> None:
    printed, folder = run
    assert "Writing math.jsonl, countdown.jsonl, made.jsonl and math.html to" in " ".join(printed.split())
    assert CliRunner().invoke(app, ["demo", "--output", str(folder)]).exit_code == 0, "a second demo"
    for name, text in (("math.jsonl", '{"id": "mine"}\n'), ("made.jsonl", "mine"), ("math.html", "<html>mine</html>")):
        theirs = tmp_path / name
        theirs.write_text(text, encoding="utf-8")
        result = CliRunner().invoke(app, ["demo", "--output", str(tmp_path)])
        assert result.exit_code == 2
        assert "not written by a demo" in result.output
        assert [path.name for path in tmp_path.iterdir()] == [name]
        assert theirs.read_text(encoding="utf-8") == text
        theirs.unlink()


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = CliRunner().invoke(app, ["demo", "--output", str(tmp_path / "file" / "out")])
    assert result.exit_code == 2
    assert "cannot write to" in result.output.replace("\n", " ")
