"""Partitions: the stretches into which rollout files are cut for a cluster, and the folder of their scored rows.

Input is cut by byte ranges of JSONL, and row ranges of Parquet and Arrow. The output has a file for each partition, its
record beside it, and one manifest when all of them are whole:

out/part-00000.jsonl …            scored rows, the lines of `astuner judge`, in the input's order
out/manifest.json                 written last: what judged, the counts, and each partition's checksum
out/_partitions/plan.json         written first: how the input was cut
out/_partitions/part-00000.json   a finished partition's record
out/_partitions/*.partial         rows of a partition that is being judged, or whose worker died
"""

from __future__ import annotations

import glob
import hashlib
import io
import json
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from agentscope_tuner._version import __version__
from agentscope_tuner.errors import ConfigError, told
from agentscope_tuner.records.blocks import read_blocks
from agentscope_tuner.records.columnar import columnar_extent, columnar_lines
from agentscope_tuner.records.reader import Line, object_in
from agentscope_tuner.storage import StoredFile, is_columnar, is_pattern, is_url, matching, plain, put_in_place

_LEAST_BYTES, _MOST_BYTES = 64 * 2**10, 8 * 2**20
# Partitions of a run: enough to share them evenly among workers, few enough for one directory
_AIMED_AT, _MOST_PARTITIONS = 64, 8192
_BUFFER_BYTES = 2**20
_HASHED_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Partition:
    """A stretch of one input file that one worker judges and writes, and that is repeated if the worker dies.

    Attributes:
        number: its position in the run, from 0; names its output file.
        source: the input file's absolute path or URL, the same on every node.
        start: the position at which it begins: a byte of a JSONL file, a row of any other file. A line belongs to the
            partition in which its first byte is.
        end: the position at which the next partition begins.
    """

    number: int
    source: str
    start: int
    end: int

    @property
    def name(self) -> str:
        """The name of its output file: `part-00003.jsonl` for number 3."""
        return f"part-{self.number:05d}.jsonl"


def input_files(patterns: str) -> list[Path | str]:
    """The input files that a glob pattern, a path or a URL names, sorted; paths are made absolute.

    Args:
        patterns: such as `data/*.jsonl`, `data/**/*.jsonl` for all folders below, or `s3://bucket/run/*.jsonl`.

    Raises:
        ConfigError: there is no such file, one is no regular file, or the URL is `memory://…`, which other nodes cannot
            read.
    """
    patterns = plain(patterns)
    if patterns.startswith("memory://"):
        raise ConfigError(f"--input must be what every node sees, got {patterns!r}, the memory of one process")
    if is_url(patterns):
        found: list[Path | str] = [file.source for file in matching(patterns)] if is_pattern(patterns) else [patterns]
    else:
        found = [Path(name) for name in sorted(glob.glob(patterns, recursive=True))]
    if not found:
        raise ConfigError(f"no file matches --input {patterns!r}")
    for path in found:
        if not StoredFile(str(path)).exists():
            raise ConfigError(f"--input must name files, got {str(path)!r}: for a folder's write {f'{path}/*'!r}")
    return [path if isinstance(path, str) else path.resolve() for path in found]


def partition_bytes(files: Sequence[Path | str]) -> int:
    """How many bytes of input to put into each partition, by the total size of `files`: 64 KiB to 8 MiB, or more for
    an input that would need too many partitions.
    """
    total = sum(StoredFile(str(path)).size() for path in files)
    wanted = min(max(total // _AIMED_AT, _LEAST_BYTES), _MOST_BYTES)
    return int(max(wanted, total // _MOST_PARTITIONS))


def plan(files: Sequence[Path | str], size: int | None) -> list[Partition]:
    """Cut `files` into partitions of about `size` bytes, in order; with None, each file is one partition.

    A partition never spans two files.
    """
    partitions: list[Partition] = []
    for path in files:
        file = StoredFile(str(path))
        length, step = _rows(file, size) if is_columnar(file.name) else _bytes(file, size)
        for start in range(0, length, step):
            partitions.append(Partition(len(partitions), file.source, start, min(start + step, length)))
    return partitions


def partition_lines(partition: Partition) -> Iterator[Line]:
    """The rows of one partition, in order, unparsed.

    The `where` of a row counts lines from the partition's first byte: `rollouts.jsonl@65536:2` is about the second line
    after byte 65536.
    """
    file = StoredFile(partition.source)
    if is_columnar(file.name):
        yield from columnar_lines(file, file.name, partition.start, partition.end)
        return
    name = file.name if partition.start == 0 else f"{file.name}@{partition.start}"
    with file.raw() as raw, _Range(raw, partition.start, partition.end) as stream:
        for block in read_blocks(stream, name):
            yield from block.items()


class _Range(io.BufferedReader):
    """A stream of the lines that begin in the bytes `start` to `end` of a file; the last line may end beyond them."""

    def __init__(self, raw: io.RawIOBase, start: int, end: int) -> None:
        super().__init__(raw, _BUFFER_BYTES)
        self._end = end
        self._begins = True
        # Start one byte early: if a line ends at that byte, the next line begins exactly at `start`
        self._at = self.seek(max(start - 1, 0))
        while start and self._at <= end and (piece := super().readline(_BUFFER_BYTES)):
            self._at += len(piece)
            if piece.endswith(b"\n"):
                break

    def read1(self, size: int = -1, /) -> bytes:
        # `tell()` would cost a system call for each piece: count the bytes instead
        left = self._end - self._at
        if self._begins and left <= 0:
            return b""
        # The part of the last line that lies beyond the range
        piece = super().read1(min(size, left)) if left > 0 else super().readline(size)
        self._at += len(piece)
        self._begins = piece.endswith(b"\n")
        return piece


def _bytes(file: StoredFile, size: int | None) -> tuple[int, int]:
    length = file.size()
    return length, max(size or length, 1)


def _rows(file: StoredFile, size: int | None) -> tuple[int, int]:
    """The number of rows in a Parquet or Arrow file, and how many rows make about `size` bytes (None: all rows)."""
    rows, weight = columnar_extent(file)
    return rows, max(rows if size is None else rows * size // max(weight, 1), 1)


MANIFEST = "manifest.json"
_ASIDE = "_partitions"
_PART = re.compile(r"part-\d{5,}\.jsonl")


@dataclass(frozen=True, slots=True)
class PartitionRecord:
    """The record of a finished partition: the stretch of input that was judged, and counts and checksums of the output.

    Attributes:
        name: the name of its output file.
        source: the input file, with `start` and `end` as in `Partition`.
        source_sha256: a checksum of its rows in the input, to notice later changes; see `source_checksum`.
        config: the fingerprint of the configuration and version that judged, as in each row's judgement.
        rows: the number of rows; `statuses` counts them by status.
        bytes: the output file's size; `sha256` is its checksum.
        summary: `Summary.to_dict()` of its verdicts.
        counts: the judge's counts for the notes at the end of a run; see `BaseJudge.take_counts`.
        kept: how many rows this run took over from an earlier run. It is not written to disk.
    """

    name: str
    source: str
    start: int
    end: int
    source_sha256: str
    config: str
    rows: int
    statuses: dict[str, int]
    bytes: int
    sha256: str
    summary: dict[str, Any]
    counts: dict[str, Sequence[int]] = field(default_factory=dict)
    kept: int = 0

    def written(self) -> dict[str, Any]:
        """The fields that are written to disk: all except `kept`, which depends on how many runs were needed."""
        plain = asdict(self)
        del plain["kept"]
        return plain


class PartitionedOutput:
    """The output folder of a run on a cluster; the module's docstring lists its files. Every node sees it.

    Args:
        folder: the folder's path.
        digest: the fingerprint of the configuration and version that judge.
    """

    def __init__(self, folder: Path, digest: str) -> None:
        self.folder = folder
        self.digest = digest
        self._aside = folder / _ASIDE

    def begin(self, size: int | None, *, resume: bool) -> int | None:
        """Prepare the folder for a run: write the plan, and remove an earlier manifest until all partitions are done.

        Args:
            size: how many bytes of input make a partition; None leaves files whole.
            resume: continue an earlier run. Without it a finished run is replaced.

        Returns:
            The size of the partitions in bytes (None for whole files); if a run is resumed, that run's size.

        Raises:
            ConfigError: the folder cannot be written, an interrupted run's rows are in the way, or the run to be
                resumed had another configuration.
        """
        plan = self._aside / "plan.json"
        with told(f"cannot write {str(self.folder)!r}"):
            self._aside.mkdir(parents=True, exist_ok=True)
            if (earlier := read_json(plan)) and resume:
                if earlier["config"] != self.digest:
                    raise ConfigError(f"{str(self.folder)!r} is of another configuration or version; omit --resume")
                size = earlier["partition_bytes"]
            elif earlier:
                self._clear()
            (self.folder / MANIFEST).unlink(missing_ok=True)
            write_json(plan, {"version": __version__, "config": self.digest, "partition_bytes": size})
        return size

    def _clear(self) -> None:
        if not (self.folder / MANIFEST).exists() and any(self._aside.glob("part-*")):
            said = "holds partitions that an interrupted run scored: add --resume to go on from them, or delete it"
            raise ConfigError(f"{str(self.folder)!r} {said}")
        for path in [*self.folder.glob("part-*.jsonl"), *self._aside.iterdir()]:
            if _PART.fullmatch(path.name) or path.parent == self._aside:
                path.unlink()

    def record(self, partition: Partition) -> PartitionRecord | None:
        """The record of `partition` if it was finished before under the same configuration; else None."""
        record = _record(self._aside / f"{Path(partition.name).stem}.json")
        if record is None or record.config != self.digest:
            return None
        same = (record.source, record.start, record.end) == (partition.source, partition.start, partition.end)
        return record if same else None

    def is_whole(self, record: PartitionRecord) -> bool:
        """Whether the partition's output file is there and unchanged since it was written."""
        return _checksum(self.folder / record.name) == (record.bytes, record.sha256)

    def partials(self, partition: Partition, run: str) -> list[Path]:
        """The unfinished files of `partition` that dead workers of the run named `run` wrote, the oldest first."""
        return sorted(self._aside.glob(f"{Path(partition.name).stem}.{run}.*.partial"))

    def new_partial(self, partition: Partition, run: str, attempt: int) -> Path:
        """A path for the rows of a new attempt at `partition`; no two attempts share one.

        A worker that seems dead may still write to its own file.

        Args:
            partition: the partition that is judged.
            run: the name of the run.
            attempt: how many workers of this run have died of the partition before.
        """
        return self._aside / f"{Path(partition.name).stem}.{run}.{attempt:04d}-{uuid.uuid4().hex[:8]}.partial"

    def leftovers(self, partition: Partition) -> list[Path]:
        """The files of `partition` to take earlier verdicts from, the best one last.

        They are the unfinished files of all runs, by size, then the finished file if it is whole.
        """
        stem = Path(partition.name).stem
        found = sorted(self._aside.glob(f"{stem}.*.partial"), key=lambda path: path.stat().st_size)
        record = self.record(partition)
        return [*found, self.folder / partition.name] if record and self.is_whole(record) else found

    def finish(self, partial: Path, record: PartitionRecord) -> None:
        """Publish a finished partition: `partial` becomes its output file, and `record` is written beside it."""
        put_in_place(partial, self.folder / record.name)
        stem = Path(record.name).stem
        write_json(self._aside / f"{stem}.json", record.written())
        for path in self._aside.glob(f"{stem}.*.partial"):
            path.unlink(missing_ok=True)

    def complete(self, records: Iterable[PartitionRecord], *, judge: str) -> dict[str, Any]:
        """Write and return the manifest of all partitions of the run; remove surplus partitions of an earlier run.

        Args:
            records: the records of all partitions.
            judge: the name of the judge, for the manifest.
        """
        rows = [record.written() for record in sorted(records, key=lambda record: record.name)]
        names = {row["name"] for row in rows}
        for path in self.folder.glob("part-*.jsonl"):
            if _PART.fullmatch(path.name) and path.name not in names:
                path.unlink()
                (self._aside / f"{path.stem}.json").unlink(missing_ok=True)
        statuses = Counter[str]()
        for row in rows:
            del row["summary"], row["config"]
            statuses.update(row["statuses"])
        manifest = {
            "version": __version__,
            "judge": judge,
            "config": self.digest,
            "rows": sum(row["rows"] for row in rows),
            "statuses": statuses,
            "partitions": rows,
        }
        write_json(self.folder / MANIFEST, manifest)
        return manifest


def source_checksum(lines: Iterable[Line]) -> str:
    """The SHA-256 of a partition's input lines, in hexadecimal, as in `PartitionRecord.source_sha256`."""
    checksum = hashlib.sha256()
    for _ in checksummed(lines, checksum):
        pass
    return checksum.hexdigest()


def checksummed(lines: Iterable[Line], checksum: hashlib._Hash) -> Iterator[Line]:
    """Hand `lines` on unchanged, and add each to `checksum` before. Some lines are read ahead."""
    lines = iter(lines)
    while some := list(islice(lines, _HASHED_AT_ONCE)):
        for line in some:
            checksum.update(line.raw + b"\n" if line.problem is None else f"{line.where} {line.problem}\n".encode())
        yield from some


def has_source(partition: Partition, record: PartitionRecord) -> bool:
    """Whether the input still holds the rows that were judged: their checksum is the recorded one."""
    return source_checksum(partition_lines(partition)) == record.source_sha256


def damage(folder: Path) -> list[str]:
    """The damage in a finished output folder, a line for each partition: `part-00003.jsonl is missing`.

    The list is empty if every file is as it was written.

    Raises:
        ConfigError: there is no manifest: the run is not finished.
    """
    if (manifest := read_json(folder / MANIFEST)) is None:
        raise ConfigError(f"{str(folder)!r} has no {MANIFEST}: its run is not finished; --resume goes on")
    found = []
    for row in manifest["partitions"]:
        size, checksum = _checksum(folder / row["name"])
        if checksum is None:
            found.append(f"{row['name']} is missing")
        elif (size, checksum) != (row["bytes"], row["sha256"]):
            said = f"{row['name']} has {size} bytes, sha256 {checksum}"
            found.append(f"{said}; written were {row['bytes']}, {row['sha256']}")
    return found


def _checksum(path: Path) -> tuple[int, str | None]:
    try:
        with open(path, "rb") as stream:
            return path.stat().st_size, hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        return 0, None


def _record(path: Path) -> PartitionRecord | None:
    try:
        return PartitionRecord(**read_json(path) or {})
    except TypeError:
        return None


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a JSON file of the output folder; None if the file is missing or is no whole JSON object."""
    try:
        return object_in(path.read_bytes())
    except FileNotFoundError:
        return None


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Write `data` to `path` as JSON, whole or not at all: readers never see half a file."""
    aside = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    with open(aside, "w", encoding="utf-8") as stream:
        json.dump(data, stream, indent=1)
    put_in_place(aside, path)
