"""Rollout files cut into partitions: every row in exactly one of them, and a manifest that can be checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pyarrow
import pytest
from pyarrow import parquet

from agentscope_tuner import BaseJudge, ConfigError, JudgeError
from agentscope_tuner.engines.judging import LineJudge
from agentscope_tuner.engines.local import score
from agentscope_tuner.engines.ray.files import FileJob, PartitionWorker
from agentscope_tuner.engines.ray.partitions import (
    MANIFEST,
    Partition,
    PartitionedOutput,
    PartitionRecord,
    damage,
    input_files,
    partition_bytes,
    partition_lines,
    plan,
)
from agentscope_tuner.engines.ray.pool import _ActorHandle
from agentscope_tuner.records.blocks import read_blocks, read_lines
from agentscope_tuner.records.reader import parse_line
from agentscope_tuner.records.scored_rows import Summary
from agentscope_tuner.task_judge.contract.judgement import Judgement


def row(name: str, answer: str = "ok", **more: Any) -> str:
    return json.dumps({"id": name, "task": {"task_id": name}, "output": {"metadata": {"final_answer": answer}}, **more})


def raws(partitions: list[Partition]) -> list[bytes]:
    return [line.raw for partition in partitions for line in partition_lines(partition)]


FILES = {
    "plain": b"aa\nbbb\nc\n" * 5,
    "no end": b"aa\nbbb\nc",
    "blank lines": b"\n\naa\n   \n\nbbb\n\n",
    "windows": b"\xef\xbb\xbfaa\r\nbbb\r\nc\r\n",
    "one line longer than a partition": b"a" * 50 + b"\nb\n" + b"c" * 70 + b"\nd\n",
    "empty": b"",
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 1000])
def test_however_a_file_is_cut_each_of_its_lines_is_read_once_and_in_order(
    tmp_path: Path, content: bytes, size: int
) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_bytes(content)
    with open(path, "rb") as stream:
        whole = [line.raw for line in read_lines(stream, "whole")]
    assert raws(plan([path], size)) == whole


def test_a_line_is_named_from_where_its_partition_begins(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"aaaa\nbbbb\ncccc\ndddd\n")
    lines = [line for partition in plan([path], 10) for line in partition_lines(partition)]
    assert [line.where for line in lines] == ["r.jsonl:1", "r.jsonl:2", "r.jsonl@10:1", "r.jsonl@10:2"]


def test_the_input_alone_decides_how_it_is_cut(tmp_path: Path) -> None:
    small, large = tmp_path / "small.jsonl", tmp_path / "large.jsonl"
    small.write_bytes(b"x")
    with open(large, "wb") as stream:
        stream.truncate(200 * 2**30)  # a hole: it takes no room
    assert partition_bytes([small]) == 64 * 2**10
    assert partition_bytes([large]) == 25 * 2**20
    assert partition_bytes([small, large]) == pytest.approx(25 * 2**20, abs=1)


def test_listwise_judges_need_files_whole(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(b"x\n" * 100)
    partitions = plan(input_files(str(tmp_path / "*.jsonl")), None)
    assert [(Path(part.source).name, part.start, part.end) for part in partitions] == [
        ("a.jsonl", 0, 200),
        ("b.jsonl", 0, 200),
    ]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [("memory://bucket/*.jsonl", "every node"), ("none-*.jsonl", "no file matches"), (".", "must name files")],
)
def test_an_input_that_is_no_file_is_refused(pattern: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        input_files(pattern)


PARQUET_ROWS: list[dict[str, Any]] = [
    {"id": f"r{index}", "task": {"task_id": f"t{index}"}, "output": {"metadata": {"final_answer": "ok"}}, "seed": index}
    for index in range(10)
]
# columns of a struct hold the fields of every row
PARQUET_ROWS[3]["task"]["main_query"] = "why?"


@pytest.mark.parametrize("size", [1, 150, 10_000_000])
@pytest.mark.parametrize("group", [3, 10])
def test_parquet_rows_read_as_the_lines_they_would_be(tmp_path: Path, size: int, group: int) -> None:
    path = tmp_path / "r.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(PARQUET_ROWS), path, row_group_size=group)
    partitions = plan([path], size)
    assert [json.loads(raw) for raw in raws(partitions)] == PARQUET_ROWS
    lines = [line for partition in partitions for line in partition_lines(partition)]
    assert [line.where for line in lines] == [f"r.parquet:{number}" for number in range(1, 11)]


@pytest.mark.parametrize("size", [1, 150, 10_000_000])
def test_arrow_rows_are_cut_and_read_as_parquets_are(tmp_path: Path, size: int) -> None:
    path = tmp_path / "r.arrow"
    table = pyarrow.Table.from_pylist(PARQUET_ROWS)
    with pyarrow.ipc.new_stream(str(path), table.schema) as file:
        file.write_table(table, max_chunksize=4)
    partitions = plan([path], size)
    assert [json.loads(raw) for raw in raws(partitions)] == PARQUET_ROWS


def test_parquet_columns_may_hold_json_text_and_a_bad_one_fails_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    texts = {**PARQUET_ROWS[0], "task": json.dumps({"task_id": "t"}), "output": "{}", "blob": None}
    broken = {**texts, "output": "{no json"}
    # a column that no judge reads fails no row
    binary = {**texts, "blob": b"\xff"}
    parquet.write_table(pyarrow.Table.from_pylist([texts, broken, binary]), path)
    good, bad, with_bytes = map(parse_line, partition_lines(plan([path], None)[0]))
    assert json.loads(good.raw)["task"] == {"task_id": "t"}
    assert [row.problem is None for row in (good, bad, with_bytes)] == [True, False, True]
    assert str(bad.problem).startswith("output: ")
    assert json.loads(with_bytes.raw)["blob"] == "/w=="


def judge_config(judge: type[BaseJudge]) -> dict[str, Any]:
    return {"astuner": {"task_judge": {"judge_protocol": f"{__name__}->{judge.__name__}"}}}


class Judge(BaseJudge):
    """Right for "ok"; breaks on "broken"."""

    judged: ClassVar[list[str]] = []

    def compute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
        answer = workflow_output.metadata["final_answer"]
        self.judged.append(workflow_task.task_id)
        if answer == "broken":
            raise JudgeError("cannot say")
        return (1.0, True) if answer == "ok" else (0.0, False)


class ComputingJudge(Judge):
    """The same, whose rows are parsed, judged and written some at a time."""

    judge_kind = "cpu"
    # so it is asked in this process
    bounds_itself = True


CONFIGS: dict[str, dict[str, Any]] = {kind.judge_kind: judge_config(kind) for kind in (Judge, ComputingJudge)}


@pytest.fixture(params=CONFIGS)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Some rows, in a folder that is named for the kind of the judge that they get."""
    path = tmp_path / str(request.param) / "rollouts.jsonl"
    path.parent.mkdir()
    answers = ["ok", "wrong", "broken", "ok", "ok", "wrong"]
    path.write_text("".join(row(f"r{index}", answer) + "\n" for index, answer in enumerate(answers)))
    return path


def run(source: Path, *, resume: bool = False, digest: str = "d", size: int = 200, this: str = "run") -> list[str]:
    """A run without Ray; the task ids that were judged."""
    Judge.judged.clear()
    folder = source.parent / "out"
    output = PartitionedOutput(folder, digest)
    partitions = plan([source], output.begin(size, resume=resume))
    worker = PartitionWorker(FileJob(CONFIGS[source.parent.name], digest, str(folder), this, resume))
    output.complete([worker.judge(partition) for partition in partitions], judge="Judge")
    return list(Judge.judged)


def scored(source: Path) -> list[dict[str, Any]]:
    files = sorted((source.parent / "out").glob("part-*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def manifest(source: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((source.parent / "out" / MANIFEST).read_text())
    return found


def test_the_manifest_counts_and_can_be_checked(source: Path) -> None:
    assert run(source) == [f"r{index}" for index in range(6)]
    found = manifest(source)
    assert (found["rows"], found["statuses"], found["config"]) == (6, {"judged": 5, "failed": 1}, "d")
    assert len(found["partitions"]) > 1
    assert [line["id"] for line in scored(source)] == [f"r{index}" for index in range(6)]
    assert damage(source.parent / "out") == []


def test_resume_judges_failed_rows_again_and_nothing_else(source: Path) -> None:
    run(source)
    before = scored(source)
    assert run(source, resume=True, this="next") == ["r2"]
    after = scored(source)
    assert [line for line in after if line["id"] != "r2"] == [line for line in before if line["id"] != "r2"]


def test_a_resumed_run_tells_its_own_rows_from_those_it_took_over(source: Path) -> None:
    run(source)
    output = PartitionedOutput(source.parent / "out", "d")
    partitions = plan([source], output.begin(200, resume=True))
    worker = PartitionWorker(FileJob(CONFIGS[source.parent.name], "d", str(output.folder), "next", resume=True))
    records = [worker.judge(partition) for partition in partitions]
    assert (sum(record.rows for record in records), sum(record.kept for record in records)) == (6, 5)
    output.complete(records, judge="Judge")
    assert "kept" not in manifest(source)["partitions"][0]


@pytest.mark.parametrize(
    "harm", [lambda path: path.write_bytes(path.read_bytes().replace(b"1.0", b"0.0")), Path.unlink]
)
def test_a_damaged_partition_is_named_and_judged_again(source: Path, harm: Any) -> None:
    run(source)
    part = source.parent / "out" / "part-00000.jsonl"
    good = [line["judgement"]["reward"] for line in scored(source)]
    harm(part)
    (problem,) = damage(source.parent / "out")
    assert "part-00000.jsonl" in problem
    assert "r0" in run(source, resume=True, this="next")
    assert [line["judgement"]["reward"] for line in scored(source)] == good
    assert damage(source.parent / "out") == []


def test_a_changed_row_is_judged_again(source: Path) -> None:
    run(source)
    source.write_bytes(source.read_bytes().replace(b'"ok"', b'"ko"', 1))
    assert run(source, resume=True, this="next") == ["r0", "r2"]
    assert scored(source)[0]["judgement"]["reward"] == 0.0


def test_another_configuration_is_not_resumed_and_a_finished_run_is_replaced(source: Path) -> None:
    run(source)
    with pytest.raises(ConfigError, match="another configuration"):
        run(source, resume=True, digest="other")
    source.write_text(row("only") + "\n")
    assert run(source, digest="other") == ["only"]
    assert [line["id"] for line in scored(source)] == ["only"]


def test_an_interrupted_run_is_in_the_way_until_it_is_resumed(source: Path) -> None:
    run(source)
    (source.parent / "out" / MANIFEST).unlink()
    with pytest.raises(ConfigError, match="--resume"):
        run(source)
    with pytest.raises(ConfigError, match="not finished"):
        damage(source.parent / "out")
    assert run(source, resume=True, this="next") == ["r2"]
    assert manifest(source)["rows"] == 6


def test_a_resumed_run_keeps_the_cut_and_drops_what_the_input_lost(source: Path) -> None:
    run(source, size=200)
    source.write_text("".join(source.read_text().splitlines(keepends=True)[:2]))
    run(source, size=10_000, resume=True, this="next")
    assert [line["id"] for line in scored(source)] == ["r0", "r1"]
    assert damage(source.parent / "out") == []


def test_a_partitions_rows_are_those_that_the_local_engine_writes(source: Path) -> None:
    """Rows of every kind, in more of them than are parsed at a time."""
    odd = [
        "",
        "{",
        '{"id": 1}',
        row("half \\ud800"),
        row("again", judgement={"reward": 7}),
        row("broken", "break"),
        "  ",
    ]
    rows = "\n".join(line for n in range(12) for line in [*odd, row(f"r{n}"), row(f"wrong{n}", "no", mine=n)])
    source.write_text("\ufeff" + rows.replace("\\\\ud800", "\\ud800"))
    run(source, size=10_000_000)
    judge = LineJudge(CONFIGS[source.parent.name], "d")
    with source.open("rb") as stream:
        written = b"".join(block.data for block in score(judge, read_blocks(stream, source.name), jobs=1))
    local = [json.loads(line) for line in written.splitlines()]
    parted = scored(source)
    for line in (*local, *parted):
        del line["judgement"]["seconds"]
    assert parted == local
    assert (
        Summary.from_dict(json.loads((source.parent / "out/_partitions/part-00000.json").read_text())["summary"]).rows
        == 84
    )


def lose(source: Path, lines: int, run_id: str, attempt: int) -> PartitionedOutput:
    """What a worker leaves that was killed after so many rows of the first partition."""
    output = PartitionedOutput(source.parent / "out", "d")
    whole = (output.folder / "part-00000.jsonl").read_bytes().splitlines(keepends=True)
    partial = output.new_partial(plan([source], 10_000)[0], run_id, attempt)
    # the next line was being written
    partial.write_bytes(b"".join(whole[:lines]) + whole[lines][:20])
    return output


def repeat(source: Path, output: PartitionedOutput, run_id: str) -> PartitionRecord:
    Judge.judged.clear()
    worker = PartitionWorker(FileJob(CONFIGS[source.parent.name], "d", str(output.folder), run_id, resume=False))
    return worker.judge(plan([source], 10_000)[0])


def test_a_partition_that_lost_its_worker_goes_on_from_the_last_whole_row(source: Path) -> None:
    run(source, size=10_000)
    record = repeat(source, lose(source, 4, "next", 0), "next")
    # r2, which failed before the worker died, is done with: another try is for another run
    assert Judge.judged == ["r4", "r5"]
    # this run judged them, all of them
    assert record.kept == 0
    assert (record.rows, record.statuses) == (6, {"judged": 5, "failed": 1})


def test_a_row_that_killed_two_workers_fails_and_the_rest_goes_on(source: Path) -> None:
    run(source, size=10_000)
    lose(source, 3, "next", 0)
    record = repeat(source, lose(source, 3, "next", 1), "next")
    assert Judge.judged == ["r4", "r5"]
    assert record.statuses == {"judged": 4, "failed": 2}
    assert "died twice" in scored(source)[3]["judgement"]["error"]


def test_workers_that_die_of_no_row_end_the_run(source: Path) -> None:
    run(source, size=10_000)
    for attempt in range(5):
        output = lose(source, 3, "next", attempt)
    with pytest.raises(JudgeError, match="5 workers died"):
        repeat(source, output, "next")


def test_summaries_of_parts_add_up_to_the_summary_of_the_whole() -> None:
    verdicts = [
        Judgement("judged", 1.0, True, "exact: 1 = 1", metrics={"judge_calls": 2.0}),
        Judgement("filtered", -0.5, False, "short: x", ("short",)),
        Judgement("failed", None, None, "half a pair \ud800", error="e"),
    ]
    whole, merged = Summary(), Summary()
    for number, verdict in enumerate(verdicts * 3):
        part = Summary()
        for summary in (whole, part):
            summary.add(verdict, name=str(number), label=True)
        merged.merge(Summary.from_dict(json.loads(json.dumps(part.to_dict()))))
    assert merged == whole


def test_a_call_that_could_not_be_sent_is_not_under_way() -> None:
    """The end of a pool waited its whole time for it, and the actor's other calls went elsewhere."""
    handle = _ActorHandle(object())
    with pytest.raises(AttributeError):
        handle.call("judge")
    assert handle.under_way == 0
    assert handle.is_idle_by(0.0)
