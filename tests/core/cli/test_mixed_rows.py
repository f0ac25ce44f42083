"""Mixed data by the command line; the service, Ray and TRL judge the same rows in their own environments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from tests.mixed_rows import CONFIG, COUNT, DIGEST, digest, write_rows


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_thousand_rows_of_five_kinds_are_paid_the_same_bits(tmp_path: Path, jobs: str) -> None:
    source, target = write_rows(tmp_path / "rows.jsonl"), tmp_path / "judged.jsonl"
    arguments = ["judge", "--conf", CONFIG, "--input", str(source), "--output", str(target), "--jobs", jobs]
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    judgements = [json.loads(line)["judgement"] for line in target.read_text(encoding="utf-8").splitlines()]
    assert len(judgements) == COUNT
    assert digest([judgement["reward"] for judgement in judgements]) == DIGEST
    # the table that ends the run has the rows and the mean of each route, and of each part
    for line in ("route choice │ 200 rows, mean 0.2000", "part correct │ 200 rows, mean 0.5"):
        assert line.replace(" ", "") in result.output.replace(" ", "")
