"""Follows files that grow, as a run writes them: whole lines as they arrive, and rows in the order of their steps."""

from __future__ import annotations

import heapq
import logging
import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.files import is_beside, is_cut_short, is_row_file
from agentscope_tuner.records.reader import BOM, MAX_LINE_BYTES, Line, object_in
from agentscope_tuner.records.scored_rows import ScoredRow, UnjudgedRow, scored_row
from agentscope_tuner.storage import natural

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
            if (size := stream.seek(0, 2)) == self._size and self._is_unchanged(stream):
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
                # The last line may be half written
                elif not read.rstrip().endswith(b"}") or object_in(read) is None:
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
        """The text after the lines that were read, at most `MAX_LINE_BYTES` of it; None at the end of the file.

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


_log = logging.getLogger(__name__)

_PROCESS = re.compile(r"(judged-.+)-\d+\.jsonl")
# Lines read at a time
_BATCH = 2000


class NewLines:
    """The whole lines that a run has written since the last call, in a file or in a folder's `.jsonl` files.

    A line without its end is held back until its end is written. A line of more than `MAX_LINE_BYTES` is skipped with a
    warning, so that the rows behind it are still read. A file that was replaced is read from its start.

    Args:
        run: the file or folder, which need not exist yet.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._tails: dict[Path, TailedFile] = {}

    def read(self) -> Iterator[Line]:
        """The new lines of all processes, one process after the other."""
        return chain.from_iterable(self.processes())

    def processes(self) -> list[Iterator[Line]]:
        """The new lines of each process, from its files in their order.

        `log_dir` names files after their process; all files with other names count as files of one process.
        """
        written = defaultdict(list)
        for path in sorted(files_of(self._run), key=lambda path: natural(path.name)):
            found = _PROCESS.fullmatch(path.name)
            written[found[1] if found else ""].append(path)
        return [chain.from_iterable(map(self._of_file, paths)) for paths in written.values()]

    def _of_file(self, path: Path) -> Iterator[Line]:
        tail = self._tails.setdefault(path, TailedFile(path))
        try:
            for line in chain.from_iterable(tail.batches(_BATCH, _BATCH)):
                if line.problem is None:
                    yield Line(f"{path.name}:{line.number}", line.raw)
                else:
                    _log.warning("%s:%d is passed over: %s", path, line.number, line.problem)
        except FileReplaced:
            del self._tails[path]
            yield from self._of_file(path)

    def rest(self) -> Iterator[Line]:
        """The last lines of a finished run that only lack their line break; call it after `read`.

        A last line that a crash has cut short is skipped with a warning.
        """
        for path, tail in self._tails.items():
            if (line := tail.rest()) is None:
                continue
            where = f"{path.name}:{line.number}"
            if is_cut_short(line.raw):
                _log.warning("%s is passed over: it was cut short", where)
            else:
                yield Line(where, line.raw)


def is_json_lines(run: Path) -> bool:
    """Whether a run has files with rows, and all of them are JSON lines."""
    if not run.is_dir():
        # a pipe of that name is read once, as any other input
        return run.suffix == ".jsonl" and run.is_file()
    names = [path.name for path in run.iterdir() if is_row_file(path.name)]
    return bool(names) and all(name.endswith(".jsonl") for name in names)


def refuse_unfollowable(run: Path) -> None:
    """Refuse a run with files other than JSON lines, and a pipe.

    Raises:
        ConfigError: the run has Parquet files, torch's files or packed files, which can be read only when complete; or
            it is a pipe, which is read once.
    """
    if run.is_fifo():
        raise ConfigError(f"--follow reads a file again and again, and {str(run)!r} is a pipe: omit --follow")
    files = [path.name for path in run.iterdir()] if run.is_dir() else [run.name]
    other = next((name for name in files if is_row_file(name) and not name.endswith(".jsonl")), None)
    if other is not None:
        raise ConfigError(f"--follow reads only JSON lines, not {other!r}: omit --follow once the run has ended")


#: The size of a step, in rows, in a run whose rows name no step.
ROWS_A_STEP = 256
# Longer than the time that a log holds rows back before it writes them
_POLL_SECONDS = 1.0
_MOST_WARNINGS = 3
Read = Callable[[Iterator[Line]], Iterator[Line]]


class RunRows:
    """The rows of a run. A line that cannot be read is counted and skipped, because the rows behind it may be good.

    Args:
        run: a file or a folder of JSON lines, which need not exist yet.
        read: turns a trainer's own lines into lines of scored rows.
        counted: the ids whose rows are numbered by `nth`; numbering all ids would need memory that grows with the run.

    Attributes:
        rows: number of lines that could be read.
        unread: number of lines that could not be read.
        first_unread: the place of the first of them, and why it could not be read.
    """

    def __init__(self, run: Path, read: Read = iter, counted: Container[str] = frozenset()) -> None:
        self._lines, self._read, self._counted = NewLines(run), read, counted
        self._seen: Counter[str] = Counter()
        self.rows = self.unread = 0
        self.first_unread = ""

    def new(self) -> Iterator[ScoredRow]:
        """The rows since the last call, sorted by step and time over all processes.

        Raises:
            ConfigError: a row has no verdict: the file is not scored, or its trainer's format was not named.
        """
        return heapq.merge(*map(self.scored, self._lines.processes()), key=_step_and_time)

    def whole(self) -> Iterator[ScoredRow]:
        """The rows of a finished run.

        Raises:
            ConfigError: as for `new` and `check`.
        """
        yield from self.new()
        yield from self.scored(self._lines.rest())
        self.check()

    def scored(self, lines: Iterator[Line]) -> Iterator[ScoredRow]:
        """The rows of the given lines; raises ConfigError as `new` does."""
        for line in self._read(lines):
            try:
                row = scored_row(line, self._seen, self._counted)
            except UnjudgedRow as exc:
                raise ConfigError(f"{line.where}: {exc}") from exc
            except ValueError as exc:
                self.unread += 1
                self.first_unread = self.first_unread or f"{line.where}: {exc}"
                if self.unread <= _MOST_WARNINGS:
                    _log.warning("%s is passed over: %s", line.where, exc)
                continue
            self.rows += 1
            yield row

    def check(self) -> None:
        """Refuse a run without a readable line.

        Raises:
            ConfigError: the run has lines, and none of them can be read.
        """
        if self.unread and not self.rows:
            raise ConfigError(f"none of {self.unread} lines can be read: {self.first_unread}")

    def followed(
        self,
        idle: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> Iterator[ScoredRow | None]:
        """The rows as they are written, and None after each look at the files.

        Args:
            idle: the run counts as finished after this many seconds without a new line.
            clock: the clock, which tests replace.
            wait: sleeps between two looks; tests replace it.

        Raises:
            ConfigError: as for `whole`.
        """
        last, before = clock(), 0
        while clock() - last < idle:
            yield from self.new()
            yield None
            if self.rows + self.unread > before:
                before, last = self.rows + self.unread, clock()
            # Wait even after new rows, so that other processes can write the rows that they hold back
            wait(_POLL_SECONDS)
        yield from self.scored(self._lines.rest())
        self.check()


def ended_rows(source: RunRows, run: str, stack: ExitStack) -> Iterator[ScoredRow]:
    """The rows of a run that has ended, in any form that commands read; what `stack` holds is open until they are read.

    Raises:
        ConfigError: as for `RunRows.whole`.
    """
    if is_json_lines(Path(run)):
        return source.whole()
    # Trainers import this module, and no command line
    from agentscope_tuner.cli.options import source_lines

    lines, _ = stack.enter_context(source_lines(run))
    return source.scored(lines)


def _step_and_time(row: ScoredRow) -> tuple[float, float]:
    at = row.row.get("time")
    return (-math.inf if row.step is None else row.step), (float(at) if isinstance(at, int | float) else 0.0)


def by_step(rows: Iterable[ScoredRow | None]) -> Iterator[tuple[float, list[ScoredRow]]]:
    """The rows of each step. Rows that name no step form steps of 256 rows, in the order of their arrival.

    Other processes may write their rows of a step a moment later. So a step is complete only when rows of two later
    steps have arrived, or one look after rows of one later step were there.

    Args:
        rows: the rows, with None at the end of each look at the run.
    """
    held: dict[float, list[ScoredRow]] = {}
    nameless: list[ScoredRow] = []
    older: set[float] = set()
    blocks = 0
    for row in rows:
        if row is None:
            for step in sorted(older & held.keys()):
                yield step, held.pop(step)
            older = set(sorted(held)[:-1])
        elif row.step is None:
            nameless.append(row)
            if len(nameless) == ROWS_A_STEP:
                blocks += 1
                yield float(blocks), nameless
                nameless = []
        else:
            held.setdefault(row.step, []).append(row)
            if len(held) > 2:
                step = min(held)
                yield step, held.pop(step)
    for step in sorted(held):
        yield step, held[step]
    if nameless:
        yield float(blocks + 1), nameless
