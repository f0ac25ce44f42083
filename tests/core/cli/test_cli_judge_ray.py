"""`astuner judge --engine ray` says what is wrong before it starts anything; what it judges is tested where Ray is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli import judge
from agentscope_tuner.cli.app import app
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.records.scored_rows import Summary
from agentscope_tuner.task_judge.contract.judgement import Judgement

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


def cluster(
    asked: list[Any], monkeypatch: pytest.MonkeyPatch, *counts: int, error: BaseException | None = None
) -> None:
    """A stand-in for the cluster: one partition of each number of rows, of which one is an earlier run's."""

    def score_files(settings: Any, files: Any, output: Path, **options: Any) -> Iterator[Any]:
        asked.append((settings.task_judge.judge, [Path(file).name for file in files], output, options))
        for count in counts:
            summary = Summary()
            summary.add(Judgement(status="judged", reward=1.0, is_success=True, reason="right"), count=count)
            yield SimpleNamespace(summary=summary.to_dict(), counts={"reads": [count, 1]}, kept=1)
        if error is not None:
            raise error

    monkeypatch.setattr(judge, "score_files", score_files)


def judge_on_ray(*options: str) -> Any:
    arguments = ["judge", "--engine", "ray", "--conf", str(ROOT / "configs/math.yaml"), "--input", "r*.jsonl"]
    return CliRunner().invoke(app, [*arguments, "--output", "out", *options])


@pytest.mark.parametrize(
    ("options", "jobs", "address", "resume"),
    [
        ([], None, None, False),
        (["--jobs", "3", "--address", "ray://head:10001", "--resume"], 3, "ray://head:10001", True),
    ],
)
def test_what_was_asked_for_reaches_the_cluster_and_its_partitions_are_added_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], jobs: int, address: str, resume: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("r1.jsonl", "r2.jsonl", "other.jsonl"):
        Path(name).touch()
    asked: list[Any] = []
    cluster(asked, monkeypatch, 2, 3)
    result = judge_on_ray("--json", *options)
    assert result.exit_code == 0, result.output
    ((name, files, output, given),) = asked
    assert (name, files, output) == ("math", ["r1.jsonl", "r2.jsonl"], Path("out"))
    assert given.pop("digest")
    assert given == {"jobs": jobs, "address": address, "resume": resume}
    told = json.loads(result.stdout)
    assert (told["rows"], told["kept"], told["mean_reward"]) == (5, 2, 1.0)
    assert told["run"] == "r*.jsonl ▸ out"


@pytest.mark.parametrize(
    ("counts", "error", "code", "words"),
    [
        ((), None, 2, "'r*.jsonl' holds no rows: nothing was judged"),
        ((2, 3), JudgeError("no node is left"), 3, "stopped: no node is left 5 rows in whole partitions are kept"),
        ((2,), KeyboardInterrupt(), 130, "stopped: interrupted 2 rows in whole partitions are kept"),
    ],
)
def test_a_run_on_the_cluster_that_has_no_verdicts_or_not_all_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counts: tuple[int, ...], error: Any, code: int, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r1.jsonl").touch()
    cluster([], monkeypatch, *counts, error=error)
    result = judge_on_ray()
    assert result.exit_code == code
    assert words in result.output.replace("\n", " ")
