"""Rows of a run as its files have them: several processes, half lines, lines that are none."""

from __future__ import annotations

import gzip
import io
import json
import logging
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.growing_files import NewLines, RunRows, by_step
from agentscope_tuner.lab.watch.command import page
from agentscope_tuner.lab.watch.live import RunWatch
from agentscope_tuner.records.files import dump_lines
from agentscope_tuner.records.reader import MAX_LINE_BYTES
from tests.core.lab.test_watch import step_of
from tests.scored_lines import rows, scored, written


def test_rows_are_parted_by_step_and_in_blocks_where_they_name_none() -> None:
    named = rows([*step_of(1, [1.0] * 4), *step_of(2, [0.0] * 2), *step_of(3, [1.0])])
    assert [(step, len(held)) for step, held in by_step(named)] == [(1.0, 4), (2.0, 2), (3.0, 1)]
    nameless = rows([scored(str(number), 1.0) for number in range(600)])
    assert [(step, len(held)) for step, held in by_step(nameless)] == [(1.0, 256), (2.0, 256), (3.0, 88)]


def test_a_run_is_followed_over_files_and_half_a_line_waits(tmp_path: Path) -> None:
    lines = NewLines(tmp_path)
    assert list(lines.read()) == []
    (tmp_path / "judged-1-1.jsonl").write_bytes(b'{"a": 1}\n{"a"')
    (tmp_path / "alarms.jsonl").write_bytes(b"{}\n")
    assert [line.raw for line in lines.read()] == [b'{"a": 1}']
    with open(tmp_path / "judged-1-1.jsonl", "ab") as stream:
        stream.write(b": 2}\n")
    (tmp_path / "judged-1-10.jsonl").write_bytes(b'{"a": 4}\n')
    (tmp_path / "judged-1-2.jsonl").write_bytes(b'{"a": 3}\n')
    assert [line.raw for line in lines.read()] == [b'{"a": 2}', b'{"a": 3}', b'{"a": 4}']


def test_a_line_over_the_bound_does_not_end_the_watch_of_its_file(tmp_path: Path) -> None:
    path, lines = tmp_path / "run.jsonl", NewLines(tmp_path)
    path.write_bytes(b'{"a": 1}\n{"a": "' + b"x" * (MAX_LINE_BYTES + 10))
    assert [line.raw for line in lines.read()] == [b'{"a": 1}']
    with open(path, "ab") as stream:
        stream.write(b'"}\n{"a": 2}\n')
    assert [(line.where, line.raw) for line in lines.read()] == [("run.jsonl:3", b'{"a": 2}')]


def test_following_ends_when_the_run_writes_no_more(tmp_path: Path) -> None:
    now = [0.0]

    def wait(seconds: float) -> None:
        now[0] += seconds
        if now[0] == 2.0:
            written(tmp_path / "late.jsonl", [scored("1", 1.0)])

    found = list(RunRows(tmp_path).followed(5.0, clock=lambda: now[0], wait=wait))
    assert [row.id for row in found if row is not None] == ["1"]
    assert now[0] == pytest.approx(7.0)


def test_groups_whose_rows_several_processes_judge_are_one_group_again(tmp_path: Path) -> None:
    # each rank wrote 3 steps: read one file after the other, the run had 6 steps, with half of every group in each
    for rank in range(2):
        lines = [{**scored(f"{rank}-{step}-{n}", 1.0), "step": step} for step in (1, 2, 3) for n in range(4)]
        written(tmp_path / f"judged-host-7-a{rank}-1.jsonl", lines[:6])
        written(tmp_path / f"judged-host-7-a{rank}-2.jsonl", lines[6:])
    assert [(step, len(held)) for step, held in by_step(RunRows(tmp_path).whole())] == [(1, 8), (2, 8), (3, 8)]


def test_rows_without_a_step_come_in_the_order_of_their_time(tmp_path: Path) -> None:
    for rank in range(2):
        lines = [{**scored(f"{n}", 1.0), "time": 100.5 + n} for n in range(rank, 6, 2)]
        written(tmp_path / f"judged-host-7-a{rank}-1.jsonl", lines)
    assert [row.id for row in RunRows(tmp_path).whole()] == ["0", "1", "2", "3", "4", "5"]


def test_rows_that_another_process_writes_a_moment_later_join_their_step(tmp_path: Path) -> None:
    now, looks = [0.0], [0]

    def wait(seconds: float) -> None:
        now[0] += seconds
        looks[0] += 1
        if looks[0] == 1:
            written(tmp_path / "judged-h-1-b-1.jsonl", [{**scored(f"b{n}", 1.0), "step": 1} for n in range(4)])

    first = [{**scored(f"a{step}{n}", 1.0), "step": step} for step in (1, 2) for n in range(4)]
    written(tmp_path / "judged-h-1-a-1.jsonl", first)
    found = by_step(RunRows(tmp_path).followed(5.0, clock=lambda: now[0], wait=wait))
    step, held = next(found)
    assert (step, len(held)) == (1, 8)
    assert looks[0] == 1, "a step is complete one look after a later one began, not when the run is over"
    assert [(step, len(held)) for step, held in found] == [(2, 4)]


def test_a_step_has_all_its_rows_when_it_is_looked_at(tmp_path: Path) -> None:
    late = rows([{**scored("b", 1.0), "step": 1}])
    early = rows([{**scored(f"a{step}", 1.0), "step": step} for step in (1, 2)])
    found = by_step([*early, None, *late, None, None])
    assert [(step, [row.id for row in held]) for step, held in found] == [(1, ["a1", "b"]), (2, ["a2"])]


def test_labels_and_alarms_beside_the_rows_are_no_rows(tmp_path: Path) -> None:
    written(tmp_path / "x.jsonl", [scored("1", 1.0)])
    for name in ("x.labels.jsonl", "labels.jsonl", "alarms.jsonl", "x.alarms.jsonl"):
        written(tmp_path / name, [{"id": "1", "label": "right"}])
    assert [row.id for row in RunRows(tmp_path).whole()] == ["1"]
    assert [line.where for line in dump_lines(str(tmp_path))] == ["x.jsonl/1"]
    result = CliRunner().invoke(app, ["watch", str(tmp_path)])
    assert result.exit_code == 0, result.output


def test_a_line_that_cannot_be_read_is_told_of_and_the_rows_behind_it_count(tmp_path: Path) -> None:
    # lines that did not end in } were left out without a word
    path = tmp_path / "run.jsonl"
    good = json.dumps(scored("1", 1.0)).encode()
    path.write_bytes(good + b"\n[1, 2]\nnot json\n" + good + b"\n")
    result = CliRunner().invoke(app, ["watch", str(path), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout.splitlines()[0])["rows"] == 2
    assert "lines that could not be read: 2" in result.stderr
    path.write_bytes(b"not json\nnor this\n")
    result = CliRunner().invoke(app, ["watch", str(path)])
    assert result.exit_code == 2
    assert "none of 2 lines can be read: run.jsonl:1" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("end", "ids"), [(b'{"id": "x", "task": {}}', ["1"]), (b'{"id": "x", "task"', ["1"]), (b"", ["1"])]
)
def test_a_last_line_that_a_crash_has_cut_short_is_told_of(
    end: bytes, ids: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "judged-h-1-a-1.jsonl"
    cut = json.dumps(scored("x", 1.0)).encode()[:-2] if end.endswith(b"}}") else end
    path.write_bytes(json.dumps(scored("1", 1.0)).encode() + b"\n" + cut)
    with caplog.at_level(logging.WARNING):
        assert [row.id for row in RunRows(path).whole()] == ids
        assert [line.where for line in dump_lines(str(tmp_path))] == ["judged-h-1-a-1.jsonl/1"]
    assert caplog.text.count("cut short") == (2 if cut else 0)


def test_a_last_line_without_its_end_counts_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps(scored("1", 1.0)) + "\n" + json.dumps(scored("2", 1.0)))
    assert [row.id for row in RunRows(path).whole()] == ["1", "2"]
    assert len(list(dump_lines(str(tmp_path)))) == 2


def test_rows_that_nobody_has_judged_are_another_file(tmp_path: Path) -> None:
    path = written(tmp_path / "run.jsonl", [{"id": "1", "task": {}, "output": {}}])
    with pytest.raises(ConfigError, match=r"run.jsonl:1: the row has no judgement: .* --format"):
        list(RunRows(Path(path)).whole())


def test_ids_are_counted_where_labels_ask_for_it_and_nowhere_else() -> None:
    # a count of every id grew with the run
    lines = [json.dumps(scored(name, 1.0)) for name in ("a", "a", "b", "b")]
    source = RunRows(Path("-"), counted={"b"})
    from agentscope_tuner.records.reader import Line

    found = list(source.scored(Line("rows:1", line.encode()) for line in lines))
    assert [(row.id, row.nth) for row in found] == [("a", 0), ("a", 0), ("b", 0), ("b", 1)]


def test_a_file_that_has_become_shorter_is_read_from_its_start(tmp_path: Path) -> None:
    path, lines = tmp_path / "run.jsonl", NewLines(tmp_path / "run.jsonl")
    path.write_bytes(b'{"a": 1}\n{"a": 2}\n')
    assert len(list(lines.read())) == 2
    path.write_bytes(b'{"a": 3}\n')
    assert [line.raw for line in lines.read()] == [b'{"a": 3}']


def test_what_an_earlier_watch_has_left_in_a_folder_hides_no_rows(tmp_path: Path) -> None:
    # with alarms.jsonl beside its packed files, the run had no rows
    lines = "".join(json.dumps({**scored(str(n), 1.0), "step": n}) + "\n" for n in range(3))
    (tmp_path / "scored.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "alarms.jsonl").write_text("{}\n")
    result = CliRunner().invoke(app, ["watch", str(tmp_path), "--json"])
    assert [json.loads(line)["step"] for line in result.stdout.splitlines()] == [0, 1, 2]


def test_following_refuses_files_that_are_no_lines(tmp_path: Path) -> None:
    (tmp_path / "completions_00001.parquet").write_bytes(b"PAR1")
    result = CliRunner().invoke(app, ["watch", str(tmp_path), "--follow"])
    assert result.exit_code == 2
    assert "--follow reads only JSON lines" in " ".join(result.output.split())


def test_a_narrow_terminal_shows_fewer_numbers_and_none_cut_off() -> None:
    watch, lines = RunWatch(), rows(scored(str(n), n % 2, task=f"t{n // 2}") for n in range(8))
    stats, alarms = watch.step(1.0, lines)
    assert stats is not None
    shown = [(stats, alarms)]
    for width, last in ((60, "failed"), (120, "repeated")):
        console = Console(width=width, record=True, file=io.StringIO())
        console.print(page(shown, watch, width))
        said = console.export_text()
        assert "…" not in said
        assert [name for name in ("step", "reward", "flat groups", "failed") if name not in said] == []
        assert said.splitlines()[1].split("┃")[-2].strip() == last


def test_the_page_says_of_a_step_how_many_rows_have_no_verdict_and_how_many_rules_took_out() -> None:
    watch = RunWatch()
    lines = [scored("a", 1.0), scored("b", None), *(scored(name, 0.0, status="filtered") for name in ("c", "d"))]
    stats, alarms = watch.step(1.0, rows(lines))
    assert stats is not None
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(page([(stats, alarms)], watch, 200))
    _, heads, _, cells, *_ = console.export_text().splitlines()
    of = dict(zip(heads.replace("┃", "│").split("│"), cells.split("│"), strict=True))
    said = {name.strip(): cell.strip() for name, cell in of.items()}
    assert (said["rows"], said["failed"], said["filtered"]) == ("4", "0.250", "0.500")


def test_numbers_of_a_judgement_that_are_none_end_no_watch(tmp_path: Path) -> None:
    # each of these once ended the command with a traceback
    odd = [
        {"reward": 1e308},
        {"reward": 1.0, "violations": 7},
        {"reward": 1.0, "seconds": "soon", "metrics": {"part/a": "x", "part/b": float("nan"), "judge_cost": None}},
    ]
    lines = [scored(str(n), 1.0, task="t") for n in range(3)]
    for line, judgement in zip(lines, odd, strict=True):
        line["judgement"] |= judgement
    path = written(tmp_path / "run.jsonl", lines)
    result = CliRunner().invoke(app, ["watch", path, "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout.splitlines()[0])
    assert (found["rows"], found["reward"], found["seconds"], found["parts"], found["cost"]) == (2, 1.0, 0.0, {}, 0.0)


def test_alarms_of_a_run_elsewhere_need_a_file_of_their_own() -> None:
    for run in ("-", "s3://bucket/run", "run/*.jsonl"):
        result = CliRunner().invoke(app, ["watch", run])
        assert result.exit_code == 2
        assert "--alarms names the one for alarms" in " ".join(result.output.split())
