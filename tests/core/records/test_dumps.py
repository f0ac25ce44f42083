"""Dumps of finished runs: found in their folder, known by their first row, and read with the reward they hold."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.files import dump_lines
from agentscope_tuner.records.formats import Conversion, format_of, references_of
from agentscope_tuner.records.reader import Line

VERL: dict[str, Any] = {"input": "6*7?", "output": "\\boxed{42}", "gts": "42", "score": 1.0, "step": 1}
TRL = {
    "step": 1,
    "prompt": "6*7?",
    "completion": "\\boxed{42}",
    "judge": 1.0,
    "judge/reason": "right",
    "advantage": 0.5,
}
GYM: dict[str, Any] = {"responses_create_params": {"input": "6*7?"}, "response": {"output": []}, "reward": 0.0}
SLIME = {"prompt": "6*7?", "response": "42", "label": "42", "group_index": 5, "metadata": {}, "reward": 0.5}
TRINITY = {"eid": {"task": 2}, "info": {"answer": "42"}, "prompt_text": "6*7?", "response_text": "42", "reward": 0.25}


def line(row: object) -> Line:
    return Line("1.jsonl:1", json.dumps(row).encode())


def judgement(row: dict[str, Any], name: str = "auto") -> Any:
    (made,) = Conversion(name).all([line(row)])
    assert made.problem is None
    return json.loads(made.raw).get("judgement")


@pytest.mark.parametrize(
    ("row", "name", "reward"),
    [
        (VERL, "verl", 1.0),
        ({**VERL, "score": "0.5"}, "verl", 0.5),
        (TRL, "trl", 1.0),
        ({**TRL, "format": 0.1}, "trl", 1.1),
        (GYM, "nemo-gym", 0.0),
        (SLIME, "slime", 0.5),
        (TRINITY, "trinity", 0.25),
        ({"prompt": "6*7?", "response": "42", "label": "42", "reward": 2}, "openrlhf", 2.0),
    ],
)
def test_a_dump_is_known_by_its_columns_and_its_reward_is_read(row: dict[str, Any], name: str, reward: float) -> None:
    assert format_of(line(row)) == name
    assert judgement(row)["reward"] == pytest.approx(reward)
    assert judgement(row)["status"] == "judged"


@pytest.mark.parametrize(
    "row",
    [
        {**VERL, "score": None},
        {**VERL, "score": float("inf")},
        {**TRL, "judge": float("nan")},
        {**GYM, "mask_sample": True, "failure_reason": "the judge was down"},
    ],
)
def test_no_reward_in_a_dump_is_a_failed_verdict_and_not_0(row: dict[str, Any]) -> None:
    assert judgement(row)["status"] == "failed"
    assert judgement(row)["reward"] is None


def test_success_is_read_where_the_trainer_says_it_and_else_unknown() -> None:
    assert judgement({**VERL, "acc": 0.0})["is_success"] is False
    assert judgement(VERL)["is_success"] is None


def test_a_row_of_a_data_set_has_no_verdict() -> None:
    assert judgement({"prompt": "6*7?", "completion": "42", "answer": "42"}) is None


def test_auto_leaves_rollouts_of_ours_alone_and_names_what_it_does_not_know() -> None:
    own = {"id": "1", "task": {"main_query": "q"}, "output": {"metadata": {"final_answer": "x"}}}
    assert list(Conversion("auto").all([line(own)])) == [line(own)]
    with pytest.raises(ConfigError, match=r"1.jsonl:1: no trainer's format has the columns \['a', 'b'\]"):
        list(Conversion("auto").all([line({"a": 1, "b": 2})]))


def test_a_folder_is_read_in_the_order_of_its_steps_and_every_row_has_a_name(tmp_path: Path) -> None:
    for step in (10, 9, 1):
        (tmp_path / f"{step}.jsonl").write_text(json.dumps({**VERL, "step": step}) + "\n")
    (tmp_path / "11.jsonl.gz").write_bytes(gzip.compress(json.dumps({**VERL, "step": 11}).encode()))
    # in two frames, as a file that was appended to
    parts = json.dumps({**VERL, "step": 12}).encode().partition(b",")
    frames = [pyarrow.compress(part, "zstd", asbytes=True) for part in parts]
    (tmp_path / "12.jsonl.zst").write_bytes(b"".join(frames))
    (tmp_path / "notes.txt").write_text("not a row")
    rows = [json.loads(made.raw) for made in Conversion("auto").all(dump_lines(str(tmp_path)))]
    assert [row["task"]["metadata"]["step"] for row in rows] == [1, 9, 10, 11, 12]
    assert [row["id"] for row in rows] == ["1.jsonl/1", "9.jsonl/1", "10.jsonl/1", "11.jsonl.gz/1", "12.jsonl.zst/1"]


def test_a_folder_without_rows_and_a_broken_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds no file that ends in .jsonl"):
        dump_lines(str(tmp_path))
    (tmp_path / "a.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(ConfigError, match=r"cannot read .*a.parquet"):
        list(dump_lines(str(tmp_path / "a.parquet")))


def test_a_trl_dump_is_judged_again_with_the_answers_of_the_data_set(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "6*7?"}]
    said = [{"role": "assistant", "content": "\\boxed{42}"}]
    wrong = [{"role": "assistant", "content": "\\boxed{41}"}]
    rows = [{**TRL, "prompt": chat, "completion": completion} for completion in (said, wrong)]
    folder = tmp_path / "completions"
    folder.mkdir()
    parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "completions_00001.parquet")
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text(json.dumps({"prompt": chat, "answer": "42"}) + "\n")
    scored = tmp_path / "scored.jsonl"
    command = ["judge", "--conf", "configs/math.yaml", "--input", str(folder), "--output", str(scored), "--jobs", "1"]
    result = CliRunner().invoke(app, [*command, "--format", "auto", "--tasks", str(tasks)])
    assert result.exit_code == 0, result.output
    verdicts = [json.loads(text)["judgement"]["reward"] for text in scored.read_text().splitlines()]
    assert verdicts == [1.0, 0.0]


def test_references_are_tasks_rollouts_or_rows_of_a_data_set() -> None:
    rows = [
        {"main_query": "a", "metadata": {"answer": "1"}},
        {"id": "x", "task": {"main_query": "b", "metadata": {"answer": "2"}}, "output": {}},
        {"prompt": "c", "answer": "3"},
    ]
    assert references_of(map(line, rows)) == {"a": {"answer": "1"}, "b": {"answer": "2"}, "c": {"answer": "3"}}
    with pytest.raises(ConfigError, match=r"1.jsonl:1: a task has main_query and metadata"):
        references_of([line({"question": "d"})])


def test_a_dumped_reward_of_nan_is_a_failed_verdict_and_the_step_is_the_rows_own() -> None:
    # json.dumps writes NaN; the row had no verdict at all, which ended `astuner watch`
    [made] = Conversion("auto").all([line({**VERL, "score": float("nan"), "step": 3})])
    row = json.loads(made.raw)
    assert (row["judgement"]["status"], row["judgement"]["reward"], row["step"]) == ("failed", None, 3)


def test_a_reward_beside_other_numbers_is_named() -> None:
    # without a name TRL's columns of numbers are summed: its rewards, and whatever a reward function logs
    trl = {"step": 1, "prompt": "q", "completion": "a", "acc": 1.0, "tokens": 512, "advantage": 0.0}
    [summed] = Conversion("auto").all([line(trl)])
    [named] = Conversion("trl", ["acc=judgement.reward"]).all([line(trl)])
    [wrong] = Conversion("trl", ["acc=judgement.reward"]).all([line({**trl, "acc": "high"})])
    verdicts = [json.loads(made.raw)["judgement"] for made in (summed, named, wrong)]
    assert [verdict["reward"] for verdict in verdicts] == [513.0, 1.0, None]
    assert [verdict["status"] for verdict in verdicts] == ["judged", "judged", "failed"]


def test_a_gzip_file_whose_first_block_is_damaged_is_named(tmp_path: Path) -> None:
    whole = gzip.compress(b'{"id": 1}\n' * 100)
    # behind the header: zlib's own error, which is no OSError
    (tmp_path / "r.jsonl.gz").write_bytes(whole[:10] + b"\x07" + whole[11:])
    with pytest.raises(ConfigError, match=r"cannot read .*r\.jsonl\.gz"):
        list(dump_lines(str(tmp_path / "r.jsonl.gz")))
