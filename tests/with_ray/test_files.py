"""Files judged on Ray: whole, in order, the same whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import ConfigError, load_judge
from agentscope_tuner.engines.ray.files import score_files
from agentscope_tuner.engines.ray.partitions import damage, input_files
from agentscope_tuner.records.scored_rows import Summary
from tests.with_ray.rollouts import config, rollouts, scored, write

ANSWERS = ["x" * (index % 11) for index in range(1200)]

pytestmark = pytest.mark.usefixtures("small_ray")


def run(conf: dict[str, Any], source: Path, folder: Path, **options: Any) -> Summary:
    summary = Summary()
    for record in score_files(conf, [source], folder, digest="d", **{"jobs": 2, "size": 8_000, **options}):
        summary.merge(Summary.from_dict(record.summary))
    return summary


@pytest.mark.parametrize("judge", ["Mortal", "AwaitingMortal"])
def test_rows_are_judged_in_order_and_the_manifest_holds(tmp_path: Path, judge: str) -> None:
    source = write(tmp_path / "r.jsonl", ANSWERS)
    summary = run(config(judge), source, tmp_path / "out")
    rows = scored(tmp_path / "out")
    assert [row["id"] for row in rows] == [f"r{index}" for index in range(len(ANSWERS))]
    assert [row["judgement"]["reward"] for row in rows] == [len(answer) / 10 for answer in ANSWERS]
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["statuses"] == {"judged": len(ANSWERS)} == summary.statuses
    assert len(manifest["partitions"]) > 10
    assert damage(tmp_path / "out") == []


@pytest.mark.parametrize("judge", ["Mortal", "AwaitingMortal"])
def test_a_killed_worker_changes_nothing(tmp_path: Path, judge: str) -> None:
    source, pids = write(tmp_path / "r.jsonl", ANSWERS), tmp_path / "pids"
    pids.mkdir()
    conf = config(judge, pids=str(pids), seconds=0.002)
    run(conf, source, tmp_path / "undisturbed")
    for left in pids.iterdir():
        left.unlink()
    killed: set[str] = set()
    for number, _ in enumerate(score_files(conf, [source], tmp_path / "out", digest="d", jobs=2, size=8_000)):
        # this process made a judge too, to see that it can be
        workers = sorted(int(pid.name) for pid in pids.iterdir() if int(pid.name) != os.getpid())
        if number in (1, 6):
            os.kill(workers[-1], signal.SIGKILL)
            (pids / str(workers[-1])).unlink()
            killed.add(str(workers[-1]))
    assert len(killed) == 2
    # others came in their place
    assert len({pid.name for pid in pids.iterdir()} - {str(os.getpid())} - killed) >= 2
    assert scored(tmp_path / "out") == scored(tmp_path / "undisturbed")
    assert len(scored(tmp_path / "out")) == len(ANSWERS)


@pytest.mark.parametrize("judge", ["Mortal", "AwaitingMortal"])
def test_a_row_that_kills_its_worker_fails_and_the_rest_goes_on(tmp_path: Path, judge: str) -> None:
    answers = ["fine" for _ in range(300)]
    answers[7] = answers[150] = "die"
    summary = run(config(judge), write(tmp_path / "r.jsonl", answers), tmp_path / "out")
    assert summary.statuses == {"judged": 298, "failed": 2}
    failed = [row for row in scored(tmp_path / "out") if row["judgement"]["status"] == "failed"]
    assert [row["id"] for row in failed] == ["r7", "r150"]
    assert all("died twice" in row["judgement"]["error"] for row in failed)


def test_bad_lines_fail_alone_and_rows_keep_their_own_keys(tmp_path: Path) -> None:
    source = write(tmp_path / "r.jsonl", ["fine", "break"])
    good, broken = source.read_text().splitlines()
    own = json.dumps({**json.loads(good), "seed": 7, "mixed": [1, "a", None, {"b": 0.1}]})
    source.write_text("\n".join([own, "{no json", '{"id": 5}', broken, good]) + "\n")
    summary = run(config(), source, tmp_path / "out", size=50)
    assert summary.statuses == {"judged": 2, "failed": 3}
    rows = scored(tmp_path / "out")
    assert [row["judgement"]["status"] for row in rows] == ["judged", "failed", "failed", "failed", "judged"]
    assert (rows[0]["seed"], rows[0]["mixed"]) == (7, [1, "a", None, {"b": 0.1}])


def test_parquet_gives_the_verdicts_of_the_same_rows_in_jsonl(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    rows = [row.model_dump(exclude_none=True) for row in rollouts(ANSWERS)]
    for row in rows:
        # Parquet has no form for a struct without fields
        del row["task"]["metadata"]
    source = tmp_path / "r.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), source, row_group_size=500)
    run(config(), source, tmp_path / "out")
    run(config(), write(tmp_path / "r.jsonl", ANSWERS), tmp_path / "lines")
    verdicts = [[row["judgement"] for row in scored(tmp_path / name)] for name in ("out", "lines")]
    assert verdicts[0] == verdicts[1]
    assert [row["id"] for row in scored(tmp_path / "out")] == [row["id"] for row in rows]


def test_resume_judges_only_what_is_missing_or_damaged(tmp_path: Path) -> None:
    source, pids = write(tmp_path / "r.jsonl", ANSWERS), tmp_path / "pids"
    pids.mkdir()
    conf = config(pids=str(pids))
    records = score_files(conf, [source], tmp_path / "out", digest="d", jobs=1, size=8_000)
    for _ in range(3):
        next(records)
    records.close()
    assert not (tmp_path / "out/manifest.json").exists()
    finished = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("part-*.jsonl")}
    with pytest.raises(ConfigError, match="--resume"):
        run(conf, source, tmp_path / "out")
    summary = run(conf, source, tmp_path / "out", resume=True)
    assert summary.rows == len(ANSWERS)
    harmed = tmp_path / "out/part-00001.jsonl"
    harmed.write_bytes(harmed.read_bytes()[:-10])
    kept = {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in finished if name != harmed.name}
    # a part under way when the run was closed may be written once more, by Ray's own second try; no other one
    assert len(kept) >= 2
    assert sum(time != finished[name] for name, time in kept.items()) <= 1
    assert len(damage(tmp_path / "out")) == 1
    assert run(conf, source, tmp_path / "out", resume=True).rows == len(ANSWERS)
    assert damage(tmp_path / "out") == []


def test_groups_are_ranked_whole(tmp_path: Path) -> None:
    answers = ["x" * (index % 4) for index in range(40)]
    summary = run(config("Ranks"), write(tmp_path / "r.jsonl", answers), tmp_path / "out", size=100)
    assert summary.statuses == {"judged": 40}
    assert [row["judgement"]["reward"] for row in scored(tmp_path / "out")] == [0.0, 1.0, 2.0, 3.0] * 10


def test_a_judge_that_cannot_be_loaded_ends_the_run_before_it_begins(tmp_path: Path) -> None:
    conf = config("Nobody")
    with pytest.raises(ConfigError):
        load_judge(conf)
    with pytest.raises(ConfigError, match="Nobody"):
        run(conf, write(tmp_path / "r.jsonl", ["a"]), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_no_rows_are_a_finished_run(tmp_path: Path) -> None:
    source = write(tmp_path / "r.jsonl", [])
    assert run(config(), source, tmp_path / "out").rows == 0
    assert damage(tmp_path / "out") == []
    assert input_files(str(source)) == [source]
