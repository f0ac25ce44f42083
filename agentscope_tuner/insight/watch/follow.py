"""Reads whole lines of a run while it is being written, from all files of its folder."""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.dump_files import is_beside, is_cut_short, is_row_file
from agentscope_tuner.records.reader import MAX_LINE_BYTES, Line
from agentscope_tuner.storage.stored_file import natural

_log = logging.getLogger(__name__)

_PROCESS = re.compile(r"(judged-.+)-\d+\.jsonl")


class NewLines:
    """The whole lines that a run has written since the last call, in a file or in a folder's `.jsonl` files.

    A line without its end is held back until its end is written. A line of more than `MAX_LINE_BYTES` is skipped with a
    warning, so that the rows behind it are still read. A file that has become shorter is read from its start.

    Args:
        run: the file or folder, which need not exist yet.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._places: dict[Path, tuple[int, int]] = {}

    def read(self) -> Iterator[Line]:
        """The new lines of all processes, one process after the other."""
        return chain.from_iterable(self.processes())

    def processes(self) -> list[Iterator[Line]]:
        """The new lines of each process, from its files in their order.

        `log_dir` names files after their process; all files with other names count as files of one process.
        """
        written = defaultdict(list)
        for path in self._files():
            found = _PROCESS.fullmatch(path.name)
            written[found[1] if found else ""].append(path)
        return [self._of_files(paths) for paths in written.values()]

    def rest(self) -> Iterator[Line]:
        """The last lines of a finished run that only lack their line break; call it after `read`.

        A last line that a crash has cut short is skipped with a warning.
        """
        for path in self._files():
            start, number = self._places.get(path, (0, 0))
            with open(path, "rb") as stream:
                stream.seek(start)
                raw = stream.read(MAX_LINE_BYTES).strip()
            where = f"{path.name}:{number + 1}"
            if raw and is_cut_short(raw):
                _log.warning("%s is passed over: it was cut short", where)
            elif raw:
                yield Line(where, raw)

    def _of_files(self, paths: Sequence[Path]) -> Iterator[Line]:
        for path in paths:
            start, number = self._places.get(path, (0, 0))
            size = path.stat().st_size
            if size == start:
                continue
            if size < start:
                start, number = 0, 0
            with open(path, "rb") as stream:
                stream.seek(start)
                yield from self._of_file(path, stream, number)

    def _of_file(self, path: Path, stream: BinaryIO, number: int) -> Iterator[Line]:
        while raw := stream.readline(MAX_LINE_BYTES):
            whole = raw.endswith(b"\n")
            if not whole and not _passed_over(stream):
                return
            number += 1
            self._places[path] = stream.tell(), number
            if not whole:
                _log.warning("%s:%d is passed over: more than %d bytes", path, number, MAX_LINE_BYTES)
            elif raw.strip():
                yield Line(f"{path.name}:{number}", raw.strip())

    def _files(self) -> list[Path]:
        if not self._run.is_dir():
            return [self._run] if self._run.exists() else []
        files = [path for path in self._run.iterdir() if path.suffix == ".jsonl" and not is_beside(path.name)]
        return sorted(files, key=lambda path: natural(path.name))


def _passed_over(stream: BinaryIO) -> bool:
    """Read to the end of the line; False when the end is not written yet."""
    while rest := stream.readline(MAX_LINE_BYTES):
        if rest.endswith(b"\n"):
            return True
    return False


def is_json_lines(run: Path) -> bool:
    """Whether a run has files with rows, and all of them are JSON lines."""
    if not run.is_dir():
        return run.suffix == ".jsonl" and run.exists()
    names = [path.name for path in run.iterdir() if is_row_file(path.name)]
    return bool(names) and all(name.endswith(".jsonl") for name in names)


def refuse_unfollowable(run: Path) -> None:
    """Refuse a run with files other than JSON lines.

    Raises:
        ConfigError: the run has Parquet files, torch's files or packed files, which can be read only when complete.
    """
    files = [path.name for path in run.iterdir()] if run.is_dir() else [run.name]
    other = next((name for name in files if is_row_file(name) and not name.endswith(".jsonl")), None)
    if other is not None:
        raise ConfigError(f"--follow reads only JSON lines, not {other!r}: omit --follow once the run has ended")
