"""Cutting rollout files into partitions, and reading one: byte ranges of JSONL, row ranges of Parquet."""

from __future__ import annotations

import glob
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tuner.errors import ConfigError, install
from agentscope_tuner.records.reader import Line, read_lines

_LEAST_BYTES, _MOST_BYTES = 64 * 2**10, 8 * 2**20
# Partitions of a run: enough to share them evenly among workers, few enough for one directory
_AIMED_AT, _MOST_PARTITIONS = 64, 8192
_PARQUET = (".parquet", ".pq")
_BUFFER_BYTES, _BATCH_ROWS = 2**20, 1024
_NESTED = ("task", "output", "label")


@dataclass(frozen=True, slots=True)
class Partition:
    """A stretch of one input file that is judged, written and repeated as a whole.

    Attributes:
        number: its place in the run; names its output file.
        source: the input file's absolute path, the same on every node.
        start: where it begins: a byte of a JSONL file, a row of a Parquet file. A line belongs where its first byte is.
        end: where the next one begins.
    """

    number: int
    source: str
    start: int
    end: int

    @property
    def name(self) -> str:
        """The output file's name."""
        return f"part-{self.number:05d}.jsonl"


def input_files(patterns: str) -> list[Path]:
    """The files that a glob pattern (`data/*.jsonl`, `**` for folders) or a plain path names, sorted, absolute.

    Raises:
        ConfigError: there is none, one is no regular file, or a URL was given.
    """
    if "://" in patterns:
        raise ConfigError(
            f"--input must be a path that every node sees, got {patterns!r}: mount the bucket, or copy the files"
        )
    found = [Path(name) for name in sorted(glob.glob(patterns, recursive=True))]
    if not found:
        raise ConfigError(f"no file matches --input {patterns!r}")
    for path in found:
        if not path.is_file():
            raise ConfigError(f"--input must name files, got {str(path)!r}: for a folder's write {str(path / '*')!r}")
    return [path.resolve() for path in found]


def partition_bytes(files: Sequence[Path]) -> int:
    """How many bytes of input make a partition: by the input alone, so that another machine cuts it the same way."""
    total = sum(path.stat().st_size for path in files)
    wanted = min(max(total // _AIMED_AT, _LEAST_BYTES), _MOST_BYTES)
    return int(max(wanted, total // _MOST_PARTITIONS))


def plan(files: Sequence[Path], size: int | None) -> list[Partition]:
    """`files` cut into partitions of about `size` bytes, in order; None leaves files whole. None is ever joined."""
    partitions: list[Partition] = []
    for path in files:
        length, step = _parquet_rows(path, size) if is_parquet(path) else _bytes(path, size)
        for start in range(0, length, step):
            partitions.append(Partition(len(partitions), str(path), start, min(start + step, length)))
    return partitions


def is_parquet(path: Path) -> bool:
    """By its suffix."""
    return path.suffix in _PARQUET


def partition_lines(partition: Partition) -> Iterator[Line]:
    """The rows of one partition, in order, unparsed; `where` counts lines from the byte that it names."""
    path = Path(partition.source)
    if is_parquet(path):
        yield from _parquet_lines(partition)
        return
    name = path.name if partition.start == 0 else f"{path.name}@{partition.start}"
    with open(path, "rb", buffering=0) as raw, _Range(raw, partition.start, partition.end) as stream:
        yield from read_lines(stream, name)


class _Range(io.BufferedReader):
    """The lines that begin within a byte range of a file; the last one may end beyond it."""

    def __init__(self, raw: io.FileIO, start: int, end: int) -> None:
        super().__init__(raw, _BUFFER_BYTES)
        self._end = end
        self._begins = True
        # Start one byte early: if a line ends at that byte, the next line begins exactly at `start`
        self._at = self.seek(max(start - 1, 0))
        while start and self._at <= end and (piece := super().readline(_BUFFER_BYTES)):
            self._at += len(piece)
            if piece.endswith(b"\n"):
                break

    def readline(self, size: int | None = -1, /) -> bytes:
        # `tell()` would cost a system call for each line: count the bytes instead
        if self._begins and self._at >= self._end:
            return b""
        line = super().readline(size)
        self._at += len(line)
        self._begins = line.endswith(b"\n")
        return line


def _bytes(path: Path, size: int | None) -> tuple[int, int]:
    length = path.stat().st_size
    return length, max(size or length, 1)


def _parquet_rows(path: Path, size: int | None) -> tuple[int, int]:
    """A Parquet file's rows, and how many of them make about `size` bytes."""
    with _parquet(path) as file:
        rows = int(file.metadata.num_rows)
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        weight = sum(group.total_byte_size for group in groups)
    return rows, max(rows if size is None else rows * size // max(weight, 1), 1)


def _parquet(path: Path) -> Any:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ConfigError(f"{path} needs pyarrow to be read: {install('parquet')}") from None
    try:
        return parquet.ParquetFile(path)
    except (OSError, pyarrow.ArrowException) as exc:
        raise ConfigError(f"cannot read {str(path)!r}: {exc}") from exc


def _parquet_lines(partition: Partition) -> Iterator[Line]:
    name, position = Path(partition.source).name, 0
    with _parquet(Path(partition.source)) as file:
        for group in range(file.metadata.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if position + rows <= partition.start or position >= partition.end:
                position += rows
                continue
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, row_groups=[group]):
                last = min(partition.end - position, batch.num_rows)
                for index in range(max(partition.start - position, 0), last):
                    yield _parquet_line(batch, index, f"{name}:{position + index + 1}")
                position += batch.num_rows


def _parquet_line(batch: Any, index: int, where: str) -> Line:
    """A row as the line of JSON that it would be in a JSONL file; nested columns may also be JSON in text."""
    try:
        columns = zip(batch.schema.names, batch.columns, strict=True)
        row = {name: _cell(column[index].as_py()) for name, column in columns}
        for name in _NESTED:
            if isinstance(row.get(name), str):
                row[name] = json.loads(row[name])
        return Line(where, json.dumps(row, ensure_ascii=False).encode(), None)
    except (TypeError, ValueError, OverflowError, RecursionError) as exc:
        return Line(where, b"", f"a cell has no form in JSON: {exc}")


def _cell(value: Any) -> Any:
    # A struct column lists the fields of all rows. A null stands for a field that this row lacks: leave it out
    if isinstance(value, dict):
        return {key: _cell(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_cell(inner) for inner in value]
    return value
