"""Rows of Parquet and Arrow files and at URLs: as a JSONL file would hold them, and what is broken fails alone."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow
import pytest
from pyarrow import ipc, parquet

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.columnar import columnar_lines, write_columnar
from agentscope_tuner.records.files import dump_lines, is_dump
from agentscope_tuner.records.formats import Conversion
from agentscope_tuner.records.reader import Row, parse_line
from agentscope_tuner.storage import StoredFile, file_system

NAN = float("nan")


def rollout(number: int) -> dict[str, Any]:
    answer = {"final_answer": f"\\boxed{{{number}}}"}
    return {
        "id": number,
        "task": {"main_query": "?", "metadata": {"answer": str(number)}},
        "output": {"metadata": answer},
    }


def write(path: Path, rows: Sequence[dict[str, Any]] | pyarrow.Table, group: int | None = None) -> str:
    table = rows if isinstance(rows, pyarrow.Table) else pyarrow.Table.from_pylist(list(rows))
    if path.suffix in (".parquet", ".pq"):
        parquet.write_table(table, path, row_group_size=group)
    else:
        new = ipc.new_stream if path.suffix == ".arrow" else ipc.new_file
        with new(str(path), table.schema) as file:
            file.write_table(table, max_chunksize=group)
    return str(path)


def read(source: str) -> list[dict[str, Any]]:
    lines = list(dump_lines(source))
    assert [line.problem for line in lines] == [None] * len(lines)
    return [json.loads(line.raw) for line in lines]


@pytest.mark.parametrize("name", ["r.parquet", "r.pq", "r.arrow", "r.feather", "R.PARQUET"])
def test_rows_are_those_that_a_jsonl_file_would_hold(name: str, tmp_path: Path) -> None:
    rows = [rollout(number) for number in range(7)]
    path = tmp_path / name.lower()
    write(path, rows, group=3)
    assert read(str(path.rename(tmp_path / name))) == rows
    assert [line.where for line in dump_lines(str(tmp_path / name))][-1] == f"{name}:7"


CELLS = [
    (pyarrow.array([3], pyarrow.uint8()), 3),
    (pyarrow.array([2**63 + 1], pyarrow.uint64()), 2**63 + 1),
    (pyarrow.array([NAN], pyarrow.float32()), None),
    (pyarrow.array([[1.0, NAN]]), [1.0, None]),
    (pyarrow.array([{"answer": NAN, "source": "a"}]), {"source": "a"}),
    (pyarrow.array([{"tags": None, "n": 1}]), {"n": 1}),
    (pyarrow.array([[{"role": "user", "content": "x", "tool": None}]]), [{"role": "user", "content": "x"}]),
    (pyarrow.array([Decimal("12345678901234567890.5")]), "12345678901234567890.5"),
    (pyarrow.array([Decimal(12345678901234567890)]), 12345678901234567890),
    (pyarrow.array([b"text"], pyarrow.binary()), "text"),
    (pyarrow.array([b"\xff"], pyarrow.binary()), "/w=="),
    (pyarrow.array([1], pyarrow.timestamp("ns")), "1970-01-01 00:00:00.000000001"),
    (pyarrow.array([-(2**38)], pyarrow.timestamp("s")), "-6741-06-19 17:50:56"),
    (pyarrow.array([datetime(2026, 1, 2, tzinfo=UTC)], pyarrow.timestamp("s", "UTC")), "2026-01-02 00:00:00Z"),
    (pyarrow.array([{"at": datetime(2026, 1, 2)}]), {"at": "2026-01-02 00:00:00.000000"}),
    (pyarrow.array([date(2026, 1, 2)]), "2026-01-02"),
    (pyarrow.array([timedelta(seconds=1.5)]), 1.5),
    (pyarrow.array([[("k", 1)]], pyarrow.map_(pyarrow.string(), pyarrow.int64())), {"k": 1}),
    (pyarrow.array([[]], pyarrow.map_(pyarrow.string(), pyarrow.int64())), {}),
    (pyarrow.array(["a"]).dictionary_encode(), "a"),
    (pyarrow.array([None], pyarrow.string()), None),
    (pyarrow.array([True]), True),
]


@pytest.mark.parametrize(("column", "value"), CELLS, ids=[str(column.type) for column, _ in CELLS])
def test_each_kind_of_cell_has_one_form_in_json(column: pyarrow.Array, value: object, tmp_path: Path) -> None:
    (row,) = read(write(tmp_path / "r.arrow", pyarrow.table({"cell": column})))
    assert row == {"cell": value}


def test_a_cell_that_cannot_be_read_fails_its_row_alone_and_is_named(tmp_path: Path) -> None:
    bad = pyarrow.Array.from_buffers(
        pyarrow.string(), 2, pyarrow.array([b"a", b"\xff\xfe"], pyarrow.binary()).buffers()
    )
    table = pyarrow.table({"id": [1, 2], "text": bad})
    good, broken = dump_lines(write(tmp_path / "r.parquet", table))
    assert json.loads(good.raw) == {"id": 1, "text": "a"}
    assert "'text' holds a string that cannot be read" in str(broken.problem)
    assert json.loads(broken.raw)["id"] == 2


def rows_of(path: Path) -> list[Row]:
    return [parse_line(line) for line in dump_lines(str(path))]


def test_json_in_text_is_read_where_the_row_is_a_rollout(tmp_path: Path) -> None:
    texts = {"id": 1.0, "task": json.dumps({"main_query": "?"}), "output": '{"metadata": {"final_answer": "\\ud800"}}'}
    (row,) = rows_of(Path(write(tmp_path / "r.parquet", [texts])))
    assert row.rollout is not None, row.problem
    assert (row.rollout.id, row.rollout.output.metadata["final_answer"]) == ("1", "\ud800")


def test_a_policys_text_stays_a_text_whatever_it_looks_like(tmp_path: Path) -> None:
    # as the text of an output that is spliced into its row, this would have set its own reference
    hostile = '{"metadata": {}}, "task": {"metadata": {"answer": "1"}}'
    verl = [{"input": "?", "output": text, "gts": "42", "score": 0.0} for text in ("42", '{"metadata": {}}', hostile)]
    lines = Conversion("verl").all(dump_lines(write(tmp_path / "1.parquet", verl)))
    assert [json.loads(line.raw)["output"]["metadata"]["final_answer"] for line in lines] == [
        row["output"] for row in verl
    ]
    own = {"id": "a", "task": json.dumps({"main_query": "?", "metadata": {"answer": "42"}}), "output": hostile}
    (row,) = rows_of(Path(write(tmp_path / "2.parquet", [own])))
    assert row.rollout is None
    assert str(row.problem).startswith("output: ")
    # a data set whose columns have these names, and go elsewhere by --map
    named = [{"task": "gsm8k", "output": "42", "answer": "42"}]
    pairs = ["output=output.metadata.final_answer", "answer=task.metadata.answer"]
    (line,) = Conversion(None, pairs).all(dump_lines(write(tmp_path / "3.parquet", named)))
    assert json.loads(line.raw)["output"]["metadata"] == {"final_answer": "42"}


def test_a_missing_reference_is_missing_and_a_missing_column_is_named(tmp_path: Path) -> None:
    rows = [{"id": 7, "q": "?", "text": "\\boxed{0}", "answer": answer} for answer in (0.0, NAN, None)]
    source = write(tmp_path / "r.parquet", rows)
    pairs = ["q=task.main_query", "text=output.metadata.final_answer", "answer=task.metadata.answer"]
    first, *empty = Conversion(None, pairs).all(dump_lines(source))
    assert json.loads(first.raw)["task"]["metadata"] == {"answer": 0.0}
    assert [str(line.problem) for line in empty] == ["the row's 'answer' is null"] * 2
    (line, *_) = Conversion(None, [*pairs, "gold=task.metadata.gold"]).all(dump_lines(source))
    assert "the row has no 'gold', only ['answer', 'id', 'q', 'text']" in str(line.problem)


def test_a_file_that_is_cut_is_an_error_of_the_command_line(tmp_path: Path) -> None:
    path = Path(write(tmp_path / "r.parquet", [rollout(1)]))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ConfigError, match=r"cannot read '.*r.parquet': Parquet magic bytes not found"):
        dump_lines(str(path))


def test_a_damaged_row_group_fails_its_rows_and_no_others(tmp_path: Path) -> None:
    rows = [{"id": number, "text": f"text {number} " * 50} for number in range(30)]
    path = Path(write(tmp_path / "r.parquet", rows, group=10))
    chunk = parquet.ParquetFile(path).metadata.row_group(1).column(1)
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + chunk.total_compressed_size] = bytes(chunk.total_compressed_size)
    path.write_bytes(data)
    lines = list(dump_lines(str(path)))
    assert [line.where for line in lines] == [f"r.parquet:{number}" for number in range(1, 31)]
    bad = [line for line in lines if line.problem is not None]
    assert [line.where for line in bad] == [f"r.parquet:{number}" for number in range(11, 21)]
    assert "row group 1 of r.parquet cannot be read" in str(bad[0].problem)


@pytest.mark.parametrize("name", ["r.arrow", "r.jsonl.gz"])
def test_a_file_that_breaks_off_has_a_row_that_says_so(name: str, tmp_path: Path) -> None:
    rows = [{"id": number, "text": str(number * 7919) * 40} for number in range(5000)]
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in rows)))
    else:
        write(path, rows, group=1000)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * 0.7)])
    *whole, last = dump_lines(str(path))
    assert 0 < len(whole) < 5000
    assert "cannot be read from" in str(last.problem)
    assert last.where == f"{name}:{len(whole) + 1}"


def test_a_column_that_stands_twice_is_refused(tmp_path: Path) -> None:
    table = pyarrow.Table.from_arrays([pyarrow.array(["1"]), pyarrow.array(["2"])], names=["answer", "answer"])
    with pytest.raises(ConfigError, match="column 'answer' stands more than once"):
        dump_lines(write(tmp_path / "r.arrow", table))


def test_a_flipped_bit_is_seen_where_the_file_has_checksums(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    table = pyarrow.table({"answer": [f"{number * 7919:08d}" for number in range(1000)]})
    parquet.write_table(table, path, write_page_checksum=True, compression="none", use_dictionary=False)
    data = path.read_bytes()
    # one digit of one answer
    path.write_bytes(data.replace(b"00007919", b"00007918", 1))
    lines = list(dump_lines(str(path)))
    assert len(lines) == 1000
    assert "could not verify page integrity, CRC checksum verification failed" in str(lines[0].problem)


def test_rows_of_a_range_are_read_from_their_row_groups_alone(tmp_path: Path) -> None:
    path = Path(write(tmp_path / "r.parquet", [{"id": number} for number in range(25)], group=10))
    # the first group's data: a range behind it never looks there
    data = bytearray(path.read_bytes())
    second = parquet.ParquetFile(path).metadata.row_group(1).column(0)
    data[4 : second.dictionary_page_offset] = bytes(second.dictionary_page_offset - 4)
    path.write_bytes(data)
    for start in (12, 10):
        found = [json.loads(line.raw)["id"] for line in columnar_lines(StoredFile(str(path)), "r", start, 23)]
        assert found == list(range(start, 23))


# Hugging Face data sets


def saved(folder: Path, rows: Sequence[dict[str, Any]], files: int = 2) -> Path:
    """As `Dataset.save_to_disk` writes one."""
    folder.mkdir(parents=True)
    names = [f"data-{number:05d}-of-{files:05d}.arrow" for number in range(files)]
    step = -(-len(rows) // files)
    for number, name in enumerate(names):
        write(folder / name, rows[number * step : (number + 1) * step])
    (folder / "state.json").write_text(
        json.dumps({"_data_files": [{"filename": name} for name in names], "_split": None})
    )
    (folder / "dataset_info.json").write_text("{}")
    return folder


def test_a_saved_data_set_is_read_in_its_order_and_without_its_state(tmp_path: Path) -> None:
    rows = [rollout(number) for number in range(5)]
    assert read(str(saved(tmp_path / "set", rows))) == rows


def test_the_splits_of_a_saved_data_set_are_named(tmp_path: Path) -> None:
    saved(tmp_path / "set" / "train", [rollout(1)])
    (tmp_path / "set" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    with pytest.raises(ConfigError, match=r"holds the splits train, test: name one, such as '.*/set/train'"):
        dump_lines(str(tmp_path / "set"))
    assert read(str(tmp_path / "set" / "train")) == [rollout(1)]


def test_a_data_sets_folder_is_read_by_its_one_split(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "README.md").write_text("---\n---\n")
    for number in range(2):
        write(tmp_path / "data" / f"train-{number:05d}-of-00002.parquet", [rollout(number)])
    assert [row["id"] for row in read(str(tmp_path))] == [0, 1]
    write(tmp_path / "data" / "test-00000-of-00001.parquet", [rollout(9)])
    with pytest.raises(ConfigError, match=r"splits test, train: name those of one, such as '.*/data/test-\*.parquet'"):
        dump_lines(str(tmp_path))
    assert [row["id"] for row in read(str(tmp_path / "data" / "train-*.parquet"))] == [0, 1]


# URLs


@pytest.fixture
def bucket() -> str:
    system, _ = file_system("memory://run")
    system.store.clear()
    return "memory://run"


def put(url: str, data: bytes) -> None:
    system, path = file_system(url)
    system.pipe_file(path, data)


def test_files_folders_and_patterns_at_a_url_are_read(bucket: str, tmp_path: Path) -> None:
    for step in (10, 9):
        put(f"{bucket}/a/{step}.jsonl", json.dumps(rollout(step)).encode() + b"\n")
    put(f"{bucket}/a/11.jsonl.gz", gzip.compress(json.dumps(rollout(11)).encode()))
    put(f"{bucket}/b/9.parquet", Path(write(tmp_path / "r.parquet", [rollout(12)])).read_bytes())
    assert [row["id"] for row in read(f"{bucket}/a")] == [9, 10, 11]
    assert [row["id"] for row in read(f"{bucket}/a/*.jsonl")] == [9, 10]
    assert [row["id"] for row in read(f"{bucket}/b/9.parquet")] == [12]
    put(f"{bucket}/b/9.jsonl", b"{}\n")
    assert [line.where for line in dump_lines(f"{bucket}/**/9.jsonl")] == ["a/9.jsonl/1", "b/9.jsonl/1"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("memory://run/none.jsonl", "cannot read 'memory://run/none.jsonl': there is no such file"),
        ("memory://run/*.parquet", "no file matches 'memory://run/"),
        ("nosuch://run/a.jsonl", "Protocol not known: nosuch"),
    ],
)
def test_what_is_not_there_is_named(url: str, words: str, bucket: str) -> None:
    with pytest.raises(ConfigError, match=words.replace("*", r"\*")):
        dump_lines(url)


def test_a_local_url_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n")
    assert not is_dump(f"file://{path}")
    assert is_dump(f"file://{tmp_path}")
    assert is_dump("s3://bucket/a.jsonl")
    # a file of that very name is no pattern
    odd = tmp_path / "a[1].jsonl"
    odd.write_text("{}\n")
    assert not is_dump(str(odd))


@pytest.mark.parametrize(
    ("missing", "source", "words"),
    [
        ("pyarrow", "a.parquet", "'a.parquet' is Parquet, which needs pyarrow: pip install '.[parquet]'"),
        ("pyarrow", "a.arrow", "'a.arrow' is Arrow, which needs pyarrow: pip install '.[parquet]'"),
        (
            "fsspec.core",
            "https://host/a.jsonl",
            "'https://host/a.jsonl' needs the extra 'remote': pip install '.[remote]'",
        ),
        ("fsspec.core", "s3://bucket/a.jsonl", "'s3://bucket/a.jsonl' needs the extra 's3': pip install '.[s3]'"),
        ("s3fs", "s3://bucket/a.jsonl", "is of another file system: pip install '.[s3]'"),
        ("gcsfs", "gs://bucket/a.jsonl", "is of another file system: pip install '.[gs]'"),
    ],
)
def test_a_missing_package_is_named_by_its_extra(
    missing: str, source: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigError) as caught:
        dump_lines(source)
    assert words in str(caught.value)


def test_reading_lines_of_this_machine_imports_neither_pyarrow_nor_fsspec() -> None:
    script = (
        "import sys; from agentscope_tuner.records import files, output; "
        "print(files.is_dump('a.jsonl'), {'pyarrow', 'fsspec'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False set()\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "chosen", "pool"),
    [("", None, "system"), ("", "mimalloc", "mimalloc"), ("import pyarrow; ", None, "mimalloc")],
)
def test_pyarrows_memory_pool_is_set_where_nobody_else_uses_it(before: str, chosen: str | None, pool: str) -> None:
    script = (
        f"{before}from agentscope_tuner.storage import pyarrow_for; "
        "print(pyarrow_for('a.parquet').default_memory_pool().backend_name)"
    )
    unset = {name: value for name, value in os.environ.items() if name != "ARROW_DEFAULT_MEMORY_POOL"}
    environment = unset | ({"ARROW_DEFAULT_MEMORY_POOL": chosen} if chosen else {})
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{pool}\n"


def test_what_differs_from_row_to_row_is_json_in_text_even_where_all_rows_agree(tmp_path: Path) -> None:
    rows = [{"id": "a", "task": "words", "output": 1.5, "label": 3, "level": 2, "note": "words"}] * 2
    lines = tmp_path / "rows.jsonl"
    judgement = {"status": "judged", "reward": 1.0, "is_success": True}
    lines.write_text("".join(json.dumps({**row, "judgement": judgement}) + "\n" for row in rows))
    write_columnar(lines, tmp_path / "rows.parquet")
    table = parquet.read_table(tmp_path / "rows.parquet")
    shown = table.select(list(rows[0])).to_pylist()[0]
    assert shown == {**rows[0], "task": '"words"', "output": "1.5", "label": "3"}


@pytest.mark.parametrize(
    ("name", "values", "kind", "shown"),
    [
        # a name, whether it was written as a number or not
        ("id", [1, 2], "string", ["1", "2"]),
        ("id", [1, "a"], "string", ["1", "a"]),
        ("id", [None, None], "string", [None, None]),
        ("note", [True, None], "bool", [True, None]),
        ("note", [True, 1], "string", ["true", "1"]),
        ("note", [1, None], "int64", [1, None]),
        ("note", [1, 1.5], "double", [1.0, 1.5]),
        # the last whole number before which a float holds all
        ("note", [2**53, 1.5], "double", [2.0**53, 1.5]),
        ("note", [2**53 + 1, 1.5], "string", [str(2**53 + 1), "1.5"]),
        ("note", [-(2**53), 1.5], "double", [-(2.0**53), 1.5]),
        ("note", [2**53 + 1, 1], "int64", [2**53 + 1, 1]),
        ("note", [2**63 - 1, 1], "int64", [2**63 - 1, 1]),
        ("note", [2**63, 1], "string", [str(2**63), "1"]),
        ("note", ["a", None], "string", ["a", None]),
        ("note", ["a", 1], "string", ['"a"', "1"]),
        ("note", ["\ud800", "a"], "string", ['"\\ud800"', '"a"']),
        ("note", [["a"], None], "string", ['["a"]', None]),
        ("note", [None, {"a": 1}], "string", [None, '{"a": 1}']),
    ],
)
def test_a_column_has_the_type_that_holds_each_of_its_values(
    name: str, values: list[Any], kind: str, shown: list[Any], tmp_path: Path
) -> None:
    lines = tmp_path / "rows.jsonl"
    judgement = {"status": "judged", "reward": 1.0, "is_success": True}
    lines.write_text("".join(json.dumps({name: value, "judgement": judgement}) + "\n" for value in values))
    write_columnar(lines, tmp_path / "rows.parquet")
    column = parquet.read_table(tmp_path / "rows.parquet").column(name)
    assert (str(column.type), column.to_pylist()) == (kind, shown)


class Torch(ModuleType):
    """What is asked of torch, which the core's tests do without; with torch it is tested in tests/with_trainers."""

    def __init__(self, data: Any) -> None:
        super().__init__("torch")
        self.data = data
        self.asked: list[Any] = []
        self.serialization = SimpleNamespace(safe_globals=lambda allowed: nullcontext())

    def load(self, stream: Any, **options: Any) -> Any:
        self.asked.append((stream.read(), options))
        if isinstance(self.data, Exception):
            raise self.data
        return self.data


def torch_dump(data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Torch]:
    torch = Torch(data)
    monkeypatch.setitem(sys.modules, "torch", torch)
    path = tmp_path / "7.pt"
    path.write_bytes(b"saved")
    return str(path), torch


def test_samples_that_torch_saved_are_read_on_the_cpu_and_run_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = [{"prompt": "?", "when": date(2026, 1, 2)}, {"prompt": "!", "step": 8}]
    path, torch = torch_dump({"rollout_id": 7, "samples": samples}, tmp_path, monkeypatch)
    found = list(dump_lines(path))
    assert [json.loads(line.raw) for line in found] == [
        {"step": 7, "prompt": "?", "when": "2026-01-02"},
        {"step": 8, "prompt": "!"},
    ]
    assert [line.where for line in found] == ["7.pt:1", "7.pt:2"]
    assert torch.asked == [(b"saved", {"weights_only": True, "map_location": "cpu"})]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "it holds no list of samples"),
        ({"samples": None}, "it holds no list of samples"),
        (
            pickle.UnpicklingError("no:\nUnsupported global: GLOBAL os.system was not an allowed global\nread more"),
            "it holds objects that could run code as they are loaded: Unsupported global: GLOBAL os.system$",
        ),
        (pickle.UnpicklingError("no"), "could run code as they are loaded: torch refuses it$"),
    ],
)
def test_what_torch_saved_and_is_no_list_of_samples_is_refused(
    data: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = torch_dump(data, tmp_path, monkeypatch)
    with pytest.raises(ConfigError, match=message):
        dump_lines(path)
