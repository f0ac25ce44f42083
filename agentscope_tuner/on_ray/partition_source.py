"""Cuts rollout files into partitions, and reads them: byte ranges of JSONL, row ranges of Parquet and Arrow."""

from __future__ import annotations

import glob
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.blocks import read_blocks
from agentscope_tuner.records.columnar import columnar_extent, columnar_lines
from agentscope_tuner.records.reader import Line
from agentscope_tuner.storage.columns import is_columnar
from agentscope_tuner.storage.stored_file import StoredFile, is_pattern, is_url, matching, plain

_LEAST_BYTES, _MOST_BYTES = 64 * 2**10, 8 * 2**20
# Partitions of a run: enough to share them evenly among workers, few enough for one directory
_AIMED_AT, _MOST_PARTITIONS = 64, 8192
_BUFFER_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Partition:
    """A stretch of one input file that is judged, written and repeated as a whole.

    Attributes:
        number: its place in the run; names its output file.
        source: the input file's absolute path or URL, the same on every node.
        start: where it begins: a byte of a JSONL file, a row of any other file. A line belongs to the partition of its
            first byte.
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


def input_files(patterns: str) -> list[Path | str]:
    """The files that a glob pattern (`data/*.jsonl`, `**` for folders), a path or a URL names, in order, absolute.

    Raises:
        ConfigError: there is no such file, one is no regular file, or the URL names this process's own memory.
    """
    patterns = plain(patterns)
    if patterns.startswith("memory://"):
        raise ConfigError(
            f"--input must be what every node sees, got {patterns!r}: each process has a memory of its own"
        )
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
    """How many bytes of input make a partition. It depends on the input alone, so all machines agree."""
    total = sum(StoredFile(str(path)).size() for path in files)
    wanted = min(max(total // _AIMED_AT, _LEAST_BYTES), _MOST_BYTES)
    return int(max(wanted, total // _MOST_PARTITIONS))


def plan(files: Sequence[Path | str], size: int | None) -> list[Partition]:
    """`files` cut into partitions of about `size` bytes, in order; None leaves files whole. They are never joined."""
    partitions: list[Partition] = []
    for path in files:
        file = StoredFile(str(path))
        length, step = _rows(file, size) if is_columnar(file.name) else _bytes(file, size)
        for start in range(0, length, step):
            partitions.append(Partition(len(partitions), file.source, start, min(start + step, length)))
    return partitions


def partition_lines(partition: Partition) -> Iterator[Line]:
    """The rows of one partition, in order, unparsed; `where` counts lines from the byte that it names."""
    file = StoredFile(partition.source)
    if is_columnar(file.name):
        yield from columnar_lines(file, file.name, partition.start, partition.end)
        return
    name = file.name if partition.start == 0 else f"{file.name}@{partition.start}"
    with file.raw() as raw, _Range(raw, partition.start, partition.end) as stream:
        for block in read_blocks(stream, name):
            yield from block.items()


class _Range(io.BufferedReader):
    """The lines that begin within a byte range of a file; the last one may end beyond it."""

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
    """The number of rows in a Parquet or Arrow file, and how many rows make about `size` bytes."""
    rows, weight = columnar_extent(file)
    return rows, max(rows if size is None else rows * size // max(weight, 1), 1)
