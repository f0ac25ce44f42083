"""Data sets as Hugging Face's own package writes them: the rows that it would read, without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, Sequence, Value, load_dataset

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.files import dump_lines
from tests.with_servers.data.conftest import ROOT, Command

COLUMNS = {
    "id": list(range(8)),
    "prompt": [[{"role": "user", "content": f"What is {number} + 1?"}] for number in range(8)],
    "completion": [f"\\boxed{{{number + 1}}}" for number in range(8)],
    "answer": ["1", "2", None, "5", "5", "6", "7", "8"],
    "subject": [number % 2 for number in range(8)],
    "tags": [["a"] * number for number in range(8)],
}
FEATURES = Features(
    id=Value("int64"),
    prompt=[{"role": Value("string"), "content": Value("string")}],
    completion=Value("string"),
    answer=Value("string"),
    subject=ClassLabel(names=["algebra", "number theory"]),
    tags=Sequence(Value("string")),
)


def made() -> Dataset:
    return Dataset.from_dict(COLUMNS, features=FEATURES)


def read(source: Path | str) -> list[dict[str, Any]]:
    lines = list(dump_lines(str(source)))
    assert [line.problem for line in lines] == [None] * len(lines)
    return [json.loads(line.raw) for line in lines]


def test_a_saved_data_set_gives_the_rows_that_datasets_gives(tmp_path: Path) -> None:
    made().save_to_disk(tmp_path / "set", num_shards=3)
    assert read(tmp_path / "set") == list(made())


def test_a_view_of_a_data_set_is_saved_in_the_order_of_the_view(tmp_path: Path) -> None:
    view = made().filter(lambda row: row["id"] % 3 == 0).shuffle(seed=1)
    view.save_to_disk(tmp_path / "set")
    assert read(tmp_path / "set") == list(view)


def test_splits_and_data_files_are_named(tmp_path: Path) -> None:
    DatasetDict(train=made(), test=made().select([0])).save_to_disk(tmp_path / "saved")
    with pytest.raises(ConfigError, match="holds the splits train, test"):
        read(tmp_path / "saved")
    assert len(read(tmp_path / "saved" / "train")) == 8
    (tmp_path / "repository" / "data").mkdir(parents=True)
    made().to_parquet(tmp_path / "repository" / "data" / "train-00000-of-00001.parquet")
    loaded = load_dataset(str(tmp_path / "repository"), split="train", cache_dir=str(tmp_path / "cache"))
    assert read(tmp_path / "repository") == list(loaded)


def test_a_data_set_is_judged_by_its_columns(tmp_path: Path, astuner: Command) -> None:
    made().save_to_disk(tmp_path / "set", num_shards=2)
    columns = ["--map", "prompt=task.main_query", "--map", "completion=output.metadata.final_answer"]
    columns += ["--map", "answer=task.metadata.answer"]
    conf, target = str(ROOT / "configs" / "math.yaml"), tmp_path / "scored.parquet"
    done = astuner("judge", "--conf", conf, "--input", str(tmp_path / "set"), "--output", str(target), *columns)
    assert done.returncode == 3, done.stdout + done.stderr
    # a data frame of it: the reward is a number, and null where there is no verdict
    scored = Dataset.from_parquet(str(target), cache_dir=str(tmp_path / "cache"))
    assert [verdict["reward"] for verdict in scored["judgement"]] == [1.0, 1.0, None, 0.0, 1.0, 1.0, 1.0, 1.0]
    assert scored["id"] == [str(number) for number in range(8)]
