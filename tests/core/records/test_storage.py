"""Files by path and by URL: the same questions have the same answers on this machine and on fsspec's memory://."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from agentscope_tuner import storage
from agentscope_tuner.errors import ConfigError, told
from agentscope_tuner.storage import StoredFile

NAMES = ["10.jsonl", "9.jsonl", "9.txt", "deep/1.jsonl", "deep/er/2.jsonl"]


@pytest.fixture(params=["path", "url"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A folder that holds NAMES, each with its own name as content."""
    memory = fsspec.filesystem("memory")
    root = "memory://storage-tests" if request.param == "url" else str(tmp_path)
    for name in NAMES:
        if request.param == "url":
            memory.pipe(f"{root}/{name}", name.encode())
        else:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(name)
    yield root
    if request.param == "url":
        memory.rm(root, recursive=True)


def names(files: list[StoredFile], folder: str) -> list[str]:
    return [file.source.rpartition(folder.rpartition("/")[2] + "/")[2] for file in files]


def test_a_file_is_read_measured_and_known(folder: str) -> None:
    file, lost = StoredFile(f"{folder}/10.jsonl"), StoredFile(f"{folder}/lost.jsonl")
    with file.open() as opened:
        assert opened.readline() == b"10.jsonl"
    assert (file.name, file.size(), file.exists()) == ("10.jsonl", 8, True)
    assert (lost.exists(), StoredFile(folder).exists()) == (False, False)
    assert (storage.is_folder(folder), storage.is_folder(file.source)) == (True, False)
    for ask in (lost.open, lost.size):
        with pytest.raises(ConfigError, match=f"cannot read '{lost.source}': "):
            ask()


def test_a_folders_files_come_in_the_order_of_their_numbers(folder: str) -> None:
    assert names(storage.inside(folder, [".jsonl"]), folder) == ["9.jsonl", "10.jsonl"]
    assert names(storage.inside(folder, [".txt", ".jsonl"]), folder) == ["9.jsonl", "9.txt", "10.jsonl"]
    deep = names(storage.inside(folder, [".jsonl"], deep=True), folder)
    assert deep == ["9.jsonl", "10.jsonl", "deep/1.jsonl", "deep/er/2.jsonl"]


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    for lost in (str(tmp_path / "lost"), "memory://lost-folder"):
        with pytest.raises(ConfigError, match=f"cannot read '{lost}': "):
            storage.inside(lost, [".jsonl"])


def test_a_pattern_names_files_and_no_folders(folder: str) -> None:
    assert names(storage.matching(f"{folder}/*"), folder) == ["9.jsonl", "9.txt", "10.jsonl"]
    every = names(storage.matching(f"{folder}/**/*.jsonl"), folder)
    assert sorted(every) == sorted(name for name in NAMES if name.endswith(".jsonl"))


def test_a_file_at_a_url_is_replaced_and_fetched(tmp_path: Path) -> None:
    local, remote = tmp_path / "local", StoredFile("memory://replaced/file.txt")
    for words in ("first", "second"):
        local.write_text(words)
        remote.put(local)
    remote.get(tmp_path / "back")
    assert (tmp_path / "back").read_text() == "second"
    with pytest.raises(ConfigError, match="cannot read 'memory://replaced/lost': there is no such file"):
        StoredFile("memory://replaced/lost").get(tmp_path / "back")
    with pytest.raises(ConfigError, match=r"cannot write 'memory://replaced/file\.txt': "):
        remote.put(tmp_path / "lost")


@pytest.mark.parametrize(
    ("source", "path", "url", "name"),
    [
        ("a/b.jsonl", "a/b.jsonl", False, "b.jsonl"),
        ("file:///a/b.jsonl", "/a/b.jsonl", False, "b.jsonl"),
        ("local:///a/b.jsonl", "/a/b.jsonl", False, "b.jsonl"),
        ("s3://a/b.jsonl", "s3://a/b.jsonl", True, "b.jsonl"),
        ("memory://a/b/", "memory://a/b/", True, "b"),
        ("/a/file://b", "/a/file://b", True, "b"),
    ],
)
def test_a_url_is_told_from_a_path(source: str, path: str, url: bool, name: str) -> None:
    assert (storage.plain(source), storage.is_url(source), StoredFile(source).name) == (path, url, name)


@pytest.mark.parametrize(
    ("source", "pattern"),
    [
        ("run/*.jsonl", True),
        ("run/?.jsonl", True),
        ("run/[ab].jsonl", True),
        ("run/a.jsonl", False),
        ("s3://a/*.jsonl", True),
        ("s3://a/[ab].jsonl", True),
        ("https://a/b.jsonl?version=1", False),
        ("file://run/*.jsonl", True),
    ],
)
def test_a_pattern_is_told_from_a_name(source: str, pattern: bool) -> None:
    assert storage.is_pattern(source) is pattern


def test_a_file_that_is_named_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "a[1].jsonl").write_text("")
    assert not storage.is_pattern(str(tmp_path / "a[1].jsonl"))
    assert not storage.is_pattern(f"file://{tmp_path}/a[1].jsonl")
    assert storage.is_pattern(str(tmp_path / "a[2].jsonl"))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError("a/b"), "it: there is no such file"),
        (FileNotFoundError(errno.ENOENT, "No such file", "a"), "it: [Errno 2] No such file: 'a'"),
        (ValueError("odd"), "it: odd"),
        (KeyError(), "it: KeyError"),
        (ConfigError("said already"), "said already"),
    ],
)
def test_every_error_of_a_file_system_is_told_in_words(error: Exception, words: str) -> None:
    with pytest.raises(ConfigError) as caught, told("it"):
        raise error
    assert str(caught.value) == words


def test_a_url_of_no_known_kind_names_the_kinds_that_are() -> None:
    with pytest.raises(
        ConfigError, match="Protocol not known: nowhere; a URL reads s3://…, gs://…, https://… or file://…"
    ):
        storage.file_system("nowhere://a")


@pytest.mark.parametrize(
    ("name", "columnar"),
    [("a.PARQUET", True), ("a.pq", True), ("a.arrow", True), ("a.feather", True), ("a.csv", False)],
)
def test_columns_are_known_by_the_suffix(name: str, columnar: bool) -> None:
    assert storage.is_columnar(name) is columnar


def test_numbers_in_names_are_sorted_as_numbers() -> None:
    assert sorted(["a10b2", "a9b10", "a9b9", "b1", "1"], key=storage.natural) == ["1", "a9b9", "a9b10", "a10b2", "b1"]


@pytest.mark.parametrize("before", [None, "old"])
def test_a_text_that_cannot_be_written_whole_leaves_the_file_as_it_was(before: str | None, tmp_path: Path) -> None:
    target = tmp_path / "judge.yaml"
    if before is not None:
        target.write_text(before)
    # a lone surrogate has no bytes: the write ends in its middle, as on a full disk
    with pytest.raises(UnicodeEncodeError):
        storage.write_whole(target, "new\n" * 5_000 + "\ud800")
    assert [file.read_text() for file in tmp_path.iterdir()] == ([] if before is None else [before])
    storage.write_whole(target, "new")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["new"]
