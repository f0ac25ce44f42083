"""Rows at a real S3 server: every command reads them, `judge` writes them, and what goes wrong loses no verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fsspec
import pyarrow
import pytest
from pyarrow import parquet

from agentscope_tuner.engines.ray.partitions import input_files, partition_lines, plan
from agentscope_tuner.records.files import dump_lines
from tests.with_servers.data.conftest import ROOT, Command

CONF = str(ROOT / "configs" / "math.yaml")


def rollout(number: int, answer: Any) -> dict[str, Any]:
    task = {"main_query": "?", "task_id": f"t{number}", "metadata": {"answer": answer}}
    output = {"metadata": {"final_answer": f"\\boxed{{{number}}}"}}
    return {"id": number, "task": task, "output": output, "label": {"is_success": number < 2}}


ROWS = [rollout(0, "0"), rollout(1, "1"), rollout(2, None), rollout(3, "4")]
REWARDS = [1.0, 1.0, None, 0.0]


def put(url: str, rows: list[dict[str, Any]]) -> None:
    with fsspec.open(url, "wb") as stream:
        if url.endswith(".parquet"):
            parquet.write_table(pyarrow.Table.from_pylist(rows), stream, row_group_size=2)
        else:
            stream.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def rewards(url: str) -> list[float | None]:
    return [json.loads(line.raw)["judgement"]["reward"] for line in dump_lines(url)]


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet"])
@pytest.mark.parametrize("target", ["scored.jsonl", "scored.parquet"])
def test_rows_go_from_s3_to_s3(name: str, target: str, bucket: str, astuner: Command) -> None:
    put(f"{bucket}/{name}", ROWS)
    done = astuner("judge", "--conf", CONF, "--input", f"{bucket}/{name}", "--output", f"{bucket}/out/{target}")
    assert done.returncode == 3, done.stdout + done.stderr
    assert rewards(f"{bucket}/out/{target}") == REWARDS


def test_the_other_commands_read_what_lies_there(bucket: str, astuner: Command) -> None:
    for step in (1, 2):
        put(f"{bucket}/run/{step}.jsonl", ROWS)
    done = astuner("check", "--conf", CONF, "--input", f"{bucket}/run/*.jsonl", "--json")
    assert done.returncode == 3, done.stderr
    assert json.loads(done.stdout)["rows"] == 8
    done = astuner("judge", "--conf", CONF, "--input", f"{bucket}/run", "--output", f"{bucket}/scored.parquet")
    assert done.returncode == 3, done.stderr
    done = astuner("agree", "--input", f"{bucket}/scored.parquet", "--json")
    assert json.loads(done.stdout)["failed"]["rows"] == 2, done.stderr
    done = astuner("compare", f"{bucket}/scored.parquet", f"{bucket}/scored.parquet", "--json")
    assert json.loads(done.stdout)["rows"] == 8, done.stderr
    done = astuner("explain", "--conf", CONF, "--input", f"{bucket}/run/1.jsonl", "--id", "3")
    assert done.returncode == 0, done.stderr


def test_a_run_that_was_stopped_goes_on_and_leaves_nothing_behind(
    bucket: str, astuner: Command, tmp_path: Path
) -> None:
    put(f"{bucket}/rows.jsonl", ROWS)
    command = ["judge", "--conf", CONF, "--input", f"{bucket}/rows.jsonl", "--output", f"{bucket}/scored.jsonl"]
    stopped = astuner(*command, "--strict")
    assert stopped.returncode == 3
    assert "--resume goes on" in stopped.stderr
    assert not fsspec.filesystem("s3").exists(f"{bucket}/scored.jsonl")
    assert "add --resume to go on from them" in astuner(*command).stderr
    assert astuner(*command, "--resume").returncode == 3
    assert rewards(f"{bucket}/scored.jsonl") == REWARDS
    # the finished object, too, may be resumed: its failed row is judged again, the others are kept
    again = astuner(*command, "--resume")
    assert "3 kept" in " ".join(again.stdout.split()), again.stdout
    assert not list((tmp_path / "cache").rglob("*.jsonl*"))


def test_a_bucket_that_is_not_there_is_named_and_keeps_every_verdict(bucket: str, astuner: Command) -> None:
    put(f"{bucket}/rows.jsonl", ROWS[:2])
    done = astuner("check", "--conf", CONF, "--input", "s3://no-such-bucket-here/rows.jsonl")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "cannot read 's3://no-such-bucket-here/rows.jsonl'" in done.stderr
    command = ["judge", "--conf", CONF, "--input", f"{bucket}/rows.jsonl", "--output"]
    done = astuner(*command, "s3://no-such-bucket-here/scored.jsonl")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert "every row is scored and kept in" in " ".join(done.stderr.split())
    fsspec.filesystem("s3").mkdir("no-such-bucket-here")
    done = astuner(*command, "s3://no-such-bucket-here/scored.jsonl", "--resume")
    assert done.returncode == 0, done.stderr
    assert rewards("s3://no-such-bucket-here/scored.jsonl") == [1.0, 1.0]


@pytest.mark.parametrize("name", ["1.jsonl", "1.parquet"])
def test_rays_partitions_of_an_object_are_its_rows(name: str, bucket: str) -> None:
    put(f"{bucket}/run/{name}", [rollout(number, "0") for number in range(50)])
    files = input_files(f"{bucket}/run/*")
    assert files == [f"{bucket}/run/{name}"]
    partitions = plan(files, 1000)
    assert len(partitions) > 2
    found = [json.loads(line.raw)["id"] for partition in partitions for line in partition_lines(partition)]
    assert found == list(range(50))
