"""Follows files that grow: reads whole lines as they arrive, and notices when a file has shrunk or was replaced."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from agentscope_tuner.records.files import is_beside
from agentscope_tuner.records.reader import BOM, MAX_LINE_BYTES

_MARK = 256


class TailLine(NamedTuple):
    """One line and its position.

    Attributes:
        file: the number of its file.
        number: its number in the file, from 1.
        offset: the offset of its first byte.
        length: its bytes, with the line break; 0 if it is too long to be read.
        raw: its content without the line break; empty if the line has more than `MAX_LINE_BYTES`.
        problem: why there is nothing to read, in words.
    """

    file: int
    number: int
    offset: int
    length: int
    raw: bytes
    problem: str | None = None


class FileReplaced(Exception):
    """A file has shrunk, is missing, or no longer holds the rows that were read from it."""


def chosen(path: Path) -> Path | None:
    """The file that holds a run's rows: the newest of `path` and the partial files of a run; None if none exists.

    While a run writes, its rows are in `path.partial` or in `path.partial.next`.
    """
    found: list[tuple[float, Path]] = []
    for candidate in (path, path.with_name(f"{path.name}.partial"), path.with_name(f"{path.name}.partial.next")):
        with suppress(OSError):
            found.append((candidate.stat().st_mtime, candidate))
    return max(found)[1] if found else None


def files_of(source: Path) -> list[Path]:
    """The files of `source`: the file itself, or the JSONL files of the folder, sorted by name."""
    if not source.is_dir():
        return [source]
    names = {
        path.with_name(path.name.partition(".jsonl")[0] + ".jsonl")
        for path in source.iterdir()
        if path.name.endswith((".jsonl", ".jsonl.partial", ".jsonl.partial.next")) and not path.name.startswith(".")
    }
    return sorted(name for name in names if not is_beside(name.name))


class TailedFile:
    """One growing file. A last line without a line break is read as soon as it is a whole JSON object.

    Args:
        path: the file, which need not exist yet.
        number: the number of the file in its lines.

    Attributes:
        offset: the number of bytes read.
    """

    def __init__(self, path: Path, number: int = 0) -> None:
        self.path = path
        self._file = number
        self._lines = 0
        self.offset = 0
        self._size = -1
        self._head = b""
        self._before = b""

    def batches(self, first: int, most: int) -> Iterator[list[TailLine]]:
        """The lines added since the last call, in batches: `first` lines, then up to `most` lines each.

        Raises:
            FileReplaced: the file no longer holds rows that were read.
        """
        path = chosen(self.path)
        try:
            stream = open(path, "rb") if path else None  # noqa: SIM115  # closed below
        except OSError:
            stream = None
        if stream is None:
            if self.offset:
                raise FileReplaced
            return
        with stream:
            size = stream.seek(0, 2)
            if size == self._size and self._is_unchanged(stream):
                return
            if size < self.offset or not self._is_unchanged(stream):
                raise FileReplaced
            self._size = size
            while lines := self._next_lines(stream, first):
                yield lines
                first = most

    def _is_unchanged(self, stream: BinaryIO) -> bool:
        stream.seek(0)
        if stream.read(len(self._head)) != self._head:
            return False
        stream.seek(self.offset - len(self._before))
        return stream.read(len(self._before)) == self._before

    def _next_lines(self, stream: BinaryIO, most: int) -> list[TailLine]:
        """The next `most` lines or fewer; an empty list at the end of the file."""
        found: list[TailLine] = []
        number, offset, line = self._lines, self.offset, b""
        # An earlier call may have read half a line behind `offset`
        stream.seek(offset)
        while len(found) < most and (read := stream.readline(MAX_LINE_BYTES + 1)):
            problem, end = None, offset + len(read)
            if not read.endswith(b"\n"):
                if len(read) > MAX_LINE_BYTES:
                    if not _rest_of_line(stream):
                        break
                    read, problem, end = b"", f"the line has more than {MAX_LINE_BYTES} bytes", stream.tell()
                elif not _is_object(read):
                    break
            line = read
            number += 1
            self._head = self._head if offset else line[:_MARK]
            if (raw := bare(line)) or problem:
                found.append(TailLine(self._file, number, offset, len(line), raw, problem))
            offset = end
        self._before = line[-_MARK:] if offset > self.offset else self._before
        self.offset, self._lines = offset, number
        return found

    def rest(self) -> TailLine | None:
        """What stands behind the lines that were read, of `MAX_LINE_BYTES` at most; None where nothing does.

        Raises:
            OSError: the file cannot be read.
        """
        raw = read_line(self.path, self.offset, MAX_LINE_BYTES)
        return TailLine(self._file, self._lines + 1, self.offset, len(raw), raw) if raw else None


def _rest_of_line(stream: BinaryIO) -> bool:
    """Skip the rest of the line, and return whether its line break was there."""
    while part := stream.readline(MAX_LINE_BYTES):
        if part.endswith(b"\n"):
            return True
    return False


def _is_object(line: bytes) -> bool:
    if not line.rstrip().endswith(b"}"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def bare(line: bytes) -> bytes:
    """The line without its line break, and without the byte order mark that may stand before the first line."""
    return line.strip().removeprefix(BOM)


def read_line(path: Path, offset: int, length: int) -> bytes:
    """The bytes of one indexed line, as in `TailLine.raw`.

    Raises:
        OSError: the file cannot be read.
    """
    with open(chosen(path) or path, "rb") as stream:
        stream.seek(offset)
        return bare(stream.read(length))
