"""An output is the old one or the new one, whole, wherever a process is killed or a disk refuses."""

from __future__ import annotations

import ast
import gzip
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.output import scored_output
from agentscope_tuner.storage import put_in_place

ROOT = Path(__file__).parents[3]
OLD = b'{"id": "old", "judgement": {}}\n'
NEW = b'{"id": "new", "judgement": {}}\n' * 4000
WRITES = """
import sys
from agentscope_tuner.records.output import scored_output
target, line = sys.argv[1], b'{"id": "new", "judgement": {}}\\n'
print("begin", flush=True)
with scored_output(target) as scored:
    for _ in range(40):
        scored.write(line * 100)
"""


def content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def old_file(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(OLD) if path.suffix == ".gz" else OLD)
    return path


def write_lines(target: Path, count: int) -> None:
    with scored_output(str(target)) as scored:
        for _ in range(count):
            scored.write(NEW[:31])


def traced(target: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The writing of an output under strace, which shows its system calls, or lets them fail."""
    command = ["strace", "-f", *options, sys.executable, "-c", WRITES, str(target)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def can_trace() -> bool:
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True).returncode == 0


needs_strace = pytest.mark.skipif(not can_trace(), reason="there is no strace, or it may not trace")


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize("name", ["scored.jsonl", "scored.jsonl.gz"])
def test_the_contents_reach_the_disk_before_the_name_and_the_name_before_the_end(tmp_path: Path, name: str) -> None:
    """A power failure left an empty file with a finished file's name."""
    target = old_file(tmp_path, name)
    ran = traced(target, "-y", "-e", "trace=fsync,rename,renameat2")
    assert ran.returncode == 0, ran.stderr
    steps = [line for line in ran.stderr.splitlines() if str(tmp_path) in line]
    last = [re.sub(r"^\[pid +\d+\] ", "", line).partition("(")[0] for line in steps][-3:]
    assert last == ["fsync", "rename", "fsync"]
    assert ".partial" in steps[-3]
    assert f"{tmp_path}>" in steps[-1]
    assert content(target) == NEW


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize("name", ["scored.jsonl", "scored.jsonl.gz"])
@pytest.mark.parametrize("call", ["write", "fsync", "rename", "unlink"])
@pytest.mark.parametrize("fault", ["signal=KILL", "error=EIO", "error=ENOSPC"])
def test_a_crash_or_a_refusal_at_any_step_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, name: str, call: str, fault: str
) -> None:
    ends = ("", ".partial", ".rows.jsonl", ".rows.jsonl.partial", ".rows.jsonl.partial.gz")
    only = [word for end in ends for word in ("-P", str(tmp_path / f"{name}{end}"))]
    faulty = 0
    for number in range(1, 4):
        target = old_file(tmp_path, name)
        ran = traced(
            target, *only, "-P", str(tmp_path), "-e", f"trace={call}", "-e", f"inject={call}:{fault}:when={number}"
        )
        faulty += ran.returncode != 0
        assert content(target) in (OLD, NEW)
        if ran.returncode == 0:
            assert content(target) == NEW
        for left in {*tmp_path.glob("*partial*"), *tmp_path.glob("*.rows.jsonl*")}:
            left.unlink()
    assert faulty or call == "unlink"


_CALL = re.compile(r"(?:\[pid +\d+\] )?(\w+)\((.*)\) += (\d+)(?:<.*>)?$")
_PATH = re.compile(r'(?:<|")(/[^">]*)(?:>|")')
# a file's name, and the file that has it from then on; None where the name is removed
Named = tuple[str, int | None]


class Disk:
    """What a power failure may leave of a folder: of each file all that was written, or what was synced; of the names
    that were given since the folder was synced any of them.

    Args:
        old: the file that is there before; it has the number 0.
    """

    def __init__(self, old: str) -> None:
        self.names: dict[str, int] = {old: 0}
        self.written, self.synced = [0], [0]
        self._kept: dict[str, int] = {old: 0}
        self._named: list[Named] = []

    def do(self, call: str, told: str, result: int) -> None:
        """A system call, as strace shows it."""
        paths = _PATH.findall(told)
        if call == "openat" and "O_CREAT" in told and (paths[-1] not in self.names or "O_TRUNC" in told):
            self.written.append(0)
            self.synced.append(0)
            self._name(paths[-1], len(self.written) - 1)
        elif call == "write" and paths[0] in self.names:
            self.written[self.names[paths[0]]] += result
        elif call == "fsync" and paths[0] in self.names:
            self.synced[self.names[paths[0]]] = self.written[self.names[paths[0]]]
        elif call == "fsync":
            self._kept, self._named = dict(self.names), []
        elif call == "rename":
            self._name(paths[1], self.names[paths[0]])
            self._name(paths[0], None)
        elif call == "unlink":
            self._name(paths[0], None)

    def _name(self, path: str, number: int | None) -> None:
        self._named.append((path, number))
        _give(self.names, path, number)

    def after_a_failure(self, path: str) -> Iterator[tuple[int | None, int]]:
        """The file that may bear the name `path`, and its size, for each thing that may be lost."""
        for count in range(len(self._named) + 1):
            for kept in combinations(self._named, count):
                names = dict(self._kept)
                for name, number in kept:
                    _give(names, name, number)
                found = names.get(path)
                for sizes in (self.written, self.synced):
                    yield found, 0 if found is None else sizes[found]


def _give(names: dict[str, int], path: str, number: int | None) -> None:
    if number is None:
        names.pop(path, None)
    else:
        names[path] = number


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize("name", ["scored.jsonl", "scored.jsonl.gz", "scored.parquet", "scored.csv"])
def test_whatever_a_power_failure_loses_the_output_is_the_old_one_or_the_whole_new_one(
    tmp_path: Path, name: str
) -> None:
    target = old_file(tmp_path, name)
    ran = traced(target, "-y", "-e", "trace=openat,write,fsync,rename,unlink")
    assert ran.returncode == 0, ran.stderr
    calls = [found for line in ran.stderr.splitlines() if str(tmp_path) in line and (found := _CALL.match(line))]
    disk, points = Disk(str(target)), list[tuple[int | None, int]]()
    for call in calls:
        disk.do(call[1], call[2], int(call[3]))
        points += disk.after_a_failure(str(target))
    new, whole = disk.names[str(target)], target.stat().st_size
    assert new != 0
    assert set(points) == {(0, 0), (new, whole)}
    assert len(points) > 200


@pytest.mark.parametrize("name", ["scored.jsonl", "scored.jsonl.gz"])
def test_a_full_disk_keeps_the_rows_before_and_resume_goes_on(tmp_path: Path, name: str) -> None:
    target = old_file(tmp_path, name)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(ConfigError, match="--resume"):
            write_lines(target, 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert content(target) == OLD
    with scored_output(str(target), resume=True) as scored:
        kept = [row.line for row in scored.earlier()]
        assert len(kept) == 10_000 // 31
        scored.write(NEW[:31] * 2)
    assert content(target) == NEW[:62]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_one_function_renames_and_it_has_the_disk_confirm_first() -> None:
    """The report of `astuner view` was renamed to its name while the disk did not have it."""
    renames = []
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "agentscope_tuner").rglob("*.py")}
    # the syntax of a file that only replaces one text, or one name, by another need not be read
    second = r"""\(\s*(?:[rf]{0,2}(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|\w+)\s*,\s*[^\s)]"""
    perhaps = re.compile(rf"\bos\b.*\breplace\b|\.(?:renames?|move)\b|\.replace\b(?!{second})")
    for path in (path for path, text in texts.items() if perhaps.search(text)):
        for call in ast.walk(ast.parse(texts[path])):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            of_os = isinstance(call.func.value, ast.Name) and call.func.value.id == "os"
            # a text's `replace` takes two, and a date's takes names
            of_path = call.func.attr == "replace" and len(call.args) == 1 and not call.keywords
            if of_path or call.func.attr in ("rename", "renames", "move") or (of_os and call.func.attr == "replace"):
                renames.append(path.name)
    assert renames == ["storage.py"]


def test_a_file_is_replaced_whole_and_what_cannot_be_is_left(tmp_path: Path) -> None:
    path, whole = tmp_path / "out", tmp_path / "whole"
    path.write_bytes(OLD)
    with pytest.raises(FileNotFoundError):
        put_in_place(whole, path)
    assert path.read_bytes() == OLD
    whole.write_bytes(NEW)
    put_in_place(whole, path)
    assert (path.read_bytes(), whole.exists()) == (NEW, False)
