"""Scored rows as Parquet, as Arrow and at URLs: written whole at the end; `--resume` takes up the lines until then."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow
import pytest
from pyarrow import feather, parquet
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.errors import Cause, ConfigError
from agentscope_tuner.records.files import dump_lines
from agentscope_tuner.records.output import judged_end, scored_output, stage_of
from agentscope_tuner.records.reader import encoded
from agentscope_tuner.storage import file_system
from agentscope_tuner.task_judge.contract.judgement import Judgement
from tests.tables import each_row_unasked

NAN = float("nan")
URL = "memory://out/scored.jsonl"


@each_row_unasked
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder and a memory:// of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    system, _ = file_system(URL)
    system.store.clear()


def verdict(reward: float | None, **more: Any) -> dict[str, Any]:
    failed = reward is None
    return {
        "status": "failed" if failed else "judged",
        "reward": reward,
        "is_success": None if failed else reward == 1.0,
        "reason": "why",
        "violations": ["no_code"] if failed else [],
        "error": "no reference" if failed else None,
        "cause": "reference" if failed else None,
        "metrics": {"stage/exact": 1.0} if failed else {},
        "seconds": 0.25,
        **more,
    }


ROWS: list[dict[str, Any]] = [
    {"id": "a", "task": {"metadata": {"answer": 1}}, "output": {}, "step": 1, "score": 1, "judgement": verdict(1.0)},
    {"id": "b", "task": {"metadata": {"answer": "x"}}, "output": {"y": [1]}, "step": 2, "judgement": verdict(None)},
    {
        "id": "c",
        "task": {},
        "output": {},
        "score": 0.5,
        "seed": 2**60,
        "big": 2**70,
        "mixed": 1,
        "judgement": verdict(0.0, config="d"),
    },
    {"id": "d", "task": {}, "output": {}, "big": 1, "mixed": "\ud800", "extra": {"k": []}, "judgement": verdict(0.5)},
    {
        "id": "e",
        "seed": 1,
        "task": {},
        "output": {},
        "judgement": verdict(
            1.0, calls=[{"model": "m", "messages": [{"role": "user", "content": "\ud800"}], "reply": "1"}]
        ),
    },
    # what could not be read as a rollout has no keys of its own
    {"judgement": verdict(None)},
]


def lines_of(rows: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(row).encode() + b"\n" for row in rows]


def write(target: str, rows: list[dict[str, Any]], *, resume: bool = False) -> None:
    with scored_output(target, resume=resume) as scored:
        for line in lines_of(rows):
            scored.write(line)


def test_metrics_are_numbers_and_json_where_they_are_too_many_for_columns(tmp_path: Path) -> None:
    few = [{"judgement": {**verdict(1.0), "metrics": {f"part/{n}": n}}} for n in range(3)]
    many = [{"judgement": {**verdict(1.0), "metrics": {f"part/{n}": n}}} for n in range(300)]
    for rows, kind in ((few, "double"), (many, "string")):
        target = tmp_path / f"{kind}.parquet"
        write(str(target), rows)
        assert [json.loads(line.raw) for line in dump_lines(str(target))] == rows
        metrics = parquet.read_schema(target).field("judgement").type.field("metrics").type
        assert str(metrics.field(0).type if kind == "double" else metrics) == kind


@pytest.mark.parametrize("name", ["s.parquet", "s.arrow", "s.feather"])
def test_a_columnar_output_gives_its_rows_back(name: str, tmp_path: Path) -> None:
    target = str(tmp_path / name)
    write(target, ROWS)
    assert [json.loads(line.raw) for line in dump_lines(target)] == ROWS
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_data_frame_finds_verdicts_and_numbers_in_their_own_types(tmp_path: Path) -> None:
    write(str(tmp_path / "s.parquet"), ROWS)
    table = parquet.read_table(tmp_path / "s.parquet")
    assert table["judgement"].combine_chunks().field("reward").to_pylist() == [1.0, None, 0.0, 0.5, 1.0, None]
    kinds = {field.name: str(field.type) for field in table.schema}
    assert kinds.pop("judgement").startswith("struct<status: string, reward: double")
    assert kinds == {"id": "string", "task": "string", "output": "string", "step": "int64", "score": "double",
                     "seed": "int64", "big": "string", "mixed": "string", "extra": "string"}  # fmt: skip
    assert json.loads(table["task"][1].as_py()) == {"metadata": {"answer": "x"}}


def test_an_output_without_a_row_is_a_file_without_rows(tmp_path: Path) -> None:
    write(str(tmp_path / "s.arrow"), [])
    assert feather.read_table(tmp_path / "s.arrow").num_rows == 0
    assert list(dump_lines(str(tmp_path / "s.arrow"))) == []


def interrupted(target: str, rows: list[dict[str, Any]]) -> None:
    output = scored_output(target)
    scored = output.__enter__()
    for line in lines_of(rows):
        scored.write(line)
    assert not output.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)


def test_a_columnar_output_goes_where_its_link_points(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    link, real = tmp_path / "link.parquet", tmp_path / "deep" / "s.parquet"
    link.symlink_to(real)
    for _ in range(2):
        write(str(link), ROWS)
        assert link.is_symlink()
        assert parquet.read_table(real).num_rows == len(ROWS)
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["link.parquet", "s.parquet"]


@pytest.mark.parametrize("target", ["s.parquet", URL, "memory://out/s.parquet"])
def test_an_interrupted_run_leaves_its_rows_to_the_next_and_no_output(target: str, tmp_path: Path) -> None:
    target = target if "://" in target else str(tmp_path / target)
    interrupted(target, ROWS[:2])
    system, path = file_system(target if "://" in target else f"file://{target}")
    assert not system.exists(path)
    with pytest.raises(ConfigError, match="add --resume to go on from them"), scored_output(target):
        pass
    with scored_output(target, resume=True) as scored:
        assert [row.own["id"] for row in scored.earlier()] == ["a", "b"]
        for line in lines_of(ROWS):
            scored.write(line)
    assert [json.loads(line.raw) for line in dump_lines(target)] == ROWS
    assert not stage_of(target).exists()


def test_a_finished_file_of_lines_at_a_url_is_resumed_and_a_finished_table_is_not(tmp_path: Path) -> None:
    write(URL, ROWS)
    with scored_output(URL, resume=True) as scored:
        assert len(list(scored.earlier())) == len(ROWS)
        scored.write(lines_of(ROWS)[0])
    assert [json.loads(line.raw)["id"] for line in dump_lines(URL)] == ["a"]
    table = str(tmp_path / "s.parquet")
    write(table, ROWS)
    before = Path(table).read_bytes()
    with pytest.raises(ConfigError, match=r"s.parquet' is finished, and written as a whole: --resume goes on from an"):
        write(table, ROWS, resume=True)
    assert Path(table).read_bytes() == before


def test_rows_that_cannot_be_delivered_are_kept_and_delivered_by_the_next_run() -> None:
    target = "memory://out/folder"
    system, path = file_system(target)
    # a file stands where the URL's folder would be
    system.pipe_file(path, b"x")
    with pytest.raises(ConfigError, match=r"every row is scored and kept in '.*rows.jsonl': --resume writes it again"):
        write(f"{target}/scored.jsonl", ROWS)
    system.rm(path)
    with scored_output(f"{target}/scored.jsonl", resume=True) as scored:
        for row in scored.earlier():
            scored.write(row.line)
    assert len(list(dump_lines(f"{target}/scored.jsonl"))) == len(ROWS)


def test_an_output_that_nothing_can_write_is_refused_before_the_first_row(tmp_path: Path) -> None:
    (tmp_path / "folder.parquet").mkdir()
    for target, words in (
        (str(tmp_path / "folder.parquet"), "regular file"),
        ("nosuch://a/b.jsonl", "Protocol not known"),
    ):
        with pytest.raises(ConfigError, match=words), scored_output(target):
            pytest.fail("a row could be written")


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(words), env={"COLUMNS": "60"})
    return done.exit_code, done.output


@pytest.mark.slow
def test_the_commands_read_and_write_parquet_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conf = str(Path("configs/math.yaml").resolve())
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": number, "prompt": f"What is {number} + 1?", "completion": f"\\boxed{{{number + 1}}}", "answer": answer}
        for number, answer in enumerate([1.0, 2.0, NAN, 5.0])
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows), "rows.parquet", row_group_size=2)
    columns = ["--map", "prompt=task.main_query", "--map", "completion=output.metadata.final_answer"]
    columns += ["--map", "answer=task.metadata.answer"]
    code, said = run("check", "--conf", conf, "--input", "rows.parquet", *columns)
    assert code == 3, said
    assert "1 could not be judged" in said
    code, said = run(
        "judge", "--conf", conf, "--input", "rows.parquet", "--output", "scored.parquet", "--jobs", "1", *columns
    )
    assert code == 3, said
    scored = parquet.read_table("scored.parquet")
    assert scored["id"].to_pylist() == ["0", "1", "2", "3"]
    # a missing reference is a failed row: no 0, and no match of "nan"
    assert [cell["reward"] for cell in scored["judgement"].to_pylist()] == [1.0, 1.0, None, 0.0]
    Path("labels.jsonl").write_text("".join(json.dumps({"id": str(n), "label": n < 2}) + "\n" for n in range(4)))
    code, said = run("agree", "--input", "scored.parquet", "--labels", "labels.jsonl", "--json")
    assert code == 0, said
    report = json.loads(said)
    assert (report["rows"], report["failed"]["rows"], report["measures"]["accuracy"]["value"]) == (4, 1, 1.0)
    code, said = run("compare", "scored.parquet", "scored.parquet", "--fail-on", "change")
    assert code == 0, said
    code, said = run("explain", "--conf", conf, "--input", "rows.parquet", "--id", "3", *columns)
    assert code == 0, said
    code, said = run("judge", "--conf", conf, "--input", "scored.parquet", "--output", URL, "--jobs", "1")
    assert code == 3, said
    again = [json.loads(line.raw)["judgement"]["reward"] for line in dump_lines(URL)]
    assert again == [1.0, 1.0, None, 0.0]


def test_lines_are_packed_by_gzip_and_resumed(tmp_path: Path) -> None:
    """`--output x.jsonl.gz` wrote plain text under that name, which our own reader refused."""
    target = tmp_path / "scored.jsonl.gz"
    write(str(target), ROWS[:2])
    first = target.read_bytes()
    assert gzip.decompress(first) == b"".join(lines_of(ROWS[:2]))
    with scored_output(str(target), resume=True) as scored:
        for row in scored.earlier():
            scored.write(row.line)
        scored.write(lines_of(ROWS[2:3])[0])
    assert gzip.decompress(target.read_bytes()) == b"".join(lines_of(ROWS[:3]))
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    write(str(target), ROWS[:2])
    assert target.read_bytes() == first


@pytest.mark.parametrize("suffix", ["zst", "bz2", "xz", "lz4", "zip"])
def test_other_packings_are_refused_by_name_before_a_row_is_judged(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ConfigError, match=r"name it \.jsonl\.gz"), scored_output(str(tmp_path / f"x.jsonl.{suffix}")):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_or_foreign_gzip_is_not_resumed_and_stays(tmp_path: Path) -> None:
    target = tmp_path / "scored.jsonl.gz"
    for stored in (b"no gzip", gzip.compress(b'{"id": "a"}\n')[:-3], gzip.compress(b'{"id": "a"}\n')):
        target.write_bytes(stored)
        with pytest.raises(ConfigError), scored_output(str(target), resume=True):
            pass
        assert target.read_bytes() == stored
        assert [path.name for path in tmp_path.iterdir()] == [target.name]


HOSTILE = ["=1+1", "'quoted", "-3", "@x", "\ttab", "\r", 'a "b", c', "line\nbreak", "≠", "", "{not json", "1.0", "null"]


@pytest.mark.parametrize("name", ["scored.csv", "scored.tsv", "scored.csv.gz", "scored.TSV.gz"])
def test_a_table_of_scored_rows_reads_back_as_it_was_and_holds_no_formula(name: str, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": text or "none", "task": {"q": text}, "output": {"a": text}, "judgement": verdict(1.0, reason=text)}
        for text in HOSTILE
    ]
    rows += [{**row, "task": row["task"] | {"half": "\udc00"}} for row in (rows[0], ROWS[1])]
    with scored_output(str(tmp_path / name)) as scored:
        scored.write("".join(json.dumps(row) + "\n" for row in rows).encode())
    assert [json.loads(line.raw) for line in dump_lines(str(tmp_path / name))] == [
        {key: value if isinstance(value, dict) or key == "step" else str(value) for key, value in row.items()}
        for row in rows
    ]
    stored = (tmp_path / name).read_bytes()
    text = (gzip.decompress(stored) if name.endswith(".gz") else stored).decode()
    cells = text.replace('"', "").replace("\t", ",").split(",")
    assert not [cell for cell in cells if cell.startswith(("=", "@")) or cell == "-3"]
    assert not stage_of(str(tmp_path / name)).exists()


@pytest.mark.parametrize("key", ["step", "global_step", "training_step"])
def test_a_table_keeps_steps_and_the_users_own_columns(key: str, tmp_path: Path) -> None:
    # the steps were texts, so that `watch scored.csv` saw one step; human_judgement.reward took the verdict's place
    row = {**ROWS[0], key: 1, "human_judgement.reward": "0.5", "judgement": verdict(1.0, reason="")}
    rows = [row, {**row, key: 2}, {**row, key: -1}, {**row, key: "warm-up"}]
    with scored_output(str(tmp_path / "scored.csv")) as scored:
        scored.write("".join(json.dumps(row) + "\n" for row in rows).encode())
    found = [json.loads(line.raw) for line in dump_lines(str(tmp_path / "scored.csv"))]
    assert [row[key] for row in found] == [1, 2, -1, "warm-up"]
    assert {row["human_judgement.reward"] for row in found} == {"0.5"}
    assert [row["judgement"]["reward"] for row in found] == [1.0] * 4


@pytest.mark.parametrize("said", ["true", "TRUE", "True"])
def test_a_table_that_a_spreadsheet_saved_reads_back(said: str, tmp_path: Path) -> None:
    # LibreOffice saves TRUE, and a data frame True: the row was no JSON
    table = tmp_path / "scored.csv"
    table.write_text(
        f"judgement.status,judgement.reward,judgement.is_success,judgement.reason\njudged,1.0,{said},True\n"
    )
    (line,) = dump_lines(str(table))
    assert line.problem is None
    found = json.loads(line.raw)["judgement"]
    assert (found["reward"], found["is_success"], found["reason"]) == (1.0, True, "True")


def test_a_finished_table_is_not_resumed_and_an_interrupted_one_is(tmp_path: Path) -> None:
    target = str(tmp_path / "scored.csv")
    with suppress(KeyboardInterrupt), scored_output(target) as scored:
        scored.write(json.dumps(ROWS[0]).encode() + b"\n")
        raise KeyboardInterrupt
    with scored_output(target, resume=True) as scored:
        assert [row.own["id"] for row in scored.earlier()] == ["a"]
        scored.write(json.dumps(ROWS[0]).encode() + b"\n")
    with pytest.raises(ConfigError, match="is finished, and written as a whole"), scored_output(target, resume=True):
        pass


def test_a_resumed_run_that_was_killed_further_on_is_resumed_from_there(tmp_path: Path) -> None:
    for end, rows in (("partial", ROWS[:1]), ("partial.next", [ROWS[0], ROWS[2]])):
        (tmp_path / f"scored.jsonl.{end}").write_bytes(b"".join(lines_of(rows)))
    with scored_output(str(tmp_path / "scored.jsonl"), resume=True) as scored:
        assert [row.own["id"] for row in scored.earlier()] == ["a", "c"]


@pytest.mark.parametrize("digest", ["", "abc"])
@pytest.mark.parametrize(
    "judgement",
    [
        Judgement("judged", 1.0, True, "exact: 4 = 4"),
        Judgement("judged", 0.0, False, "½ ≠ \ud800", metrics={"unread": 1.0}),
        Judgement("filtered", -1.0, False, "rules: a", ("a", "b"), seconds=0.25),
        Judgement("judged", 1.0, True, "", turns=(0.5, None, 0.5)),
        Judgement("judged", 1.0, True, "", calls=({"reply": "\ud800"},)),
        Judgement.failed("no reference", cause=Cause.REFERENCE),
        Judgement("judged", 1.0, True, "", metrics=MappingProxyType({"judge_calls": 2.0})),
    ],
)
def test_the_end_of_a_row_says_what_its_judgement_says(judgement: Judgement, digest: str) -> None:
    end = judged_end(judgement, judgement.seconds, digest)
    said = json.loads(b'{"id": "a"' + end)["judgement"]
    config = {"config": digest} if digest else {}
    assert said == json.loads(encoded({**judgement.to_dict(), **config}))
    assert list(said) == [*judgement.to_dict(), *config]


@pytest.mark.parametrize("name", ["a" * 300 + ".jsonl", "a" * 250 + ".jsonl", "a" * 300 + ".parquet", "a\0.jsonl"])
def test_a_name_that_the_file_system_refuses_is_said(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot write"), scored_output(str(tmp_path / name)):
        pass
    assert not list(tmp_path.iterdir())
