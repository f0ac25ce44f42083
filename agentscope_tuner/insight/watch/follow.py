"""Rows of a run that is still being written: whole lines as they come, over all files of its folder."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from agentscope_tuner.records.reader import MAX_LINE_BYTES, Line
from agentscope_tuner.storage.stored_file import natural

_log = logging.getLogger(__name__)

#: What stands in a run's folder and is no row.
BESIDE = ("alarms.jsonl", "labels.jsonl")
_POLL_SECONDS = 0.5


class NewLines:
    """Whole lines that a run has written since the last look: of a file, or of a folder's `.jsonl` files in order.

    Half a line, as a crash leaves it, is held back until its end is written. A line of more than `MAX_LINE_BYTES` is
    passed over, with a warning: the rows behind it count.

    Args:
        run: need not exist yet.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._places: dict[Path, tuple[int, int]] = {}

    def read(self) -> Iterator[Line]:
        """The lines that are new."""
        for path in self._files():
            start, number = self._places.get(path, (0, 0))
            with open(path, "rb") as stream:
                stream.seek(start)
                while raw := stream.readline(MAX_LINE_BYTES):
                    whole = raw.endswith(b"\n")
                    if not whole and not _passed_over(stream):
                        break
                    number += 1
                    self._places[path] = stream.tell(), number
                    if not whole:
                        _log.warning("%s:%d is passed over: more than %d bytes", path, number, MAX_LINE_BYTES)
                    elif raw.strip():
                        yield Line(f"{path.name}:{number}", raw.strip())

    def _files(self) -> list[Path]:
        if self._run.is_dir():
            files = [path for path in self._run.iterdir() if path.suffix == ".jsonl" and path.name not in BESIDE]
            return sorted(files, key=lambda path: natural(path.name))
        return [self._run] if self._run.exists() else []


def _passed_over(stream: BinaryIO) -> bool:
    """Read to the end of the line; False where that is not written yet."""
    while rest := stream.readline(MAX_LINE_BYTES):
        if rest.endswith(b"\n"):
            return True
    return False


def followed(
    run: Path, idle: float, *, clock: Callable[[], float] = time.monotonic, wait: Callable[[float], None] = time.sleep
) -> Iterator[Line]:
    """The lines of a run as they are written.

    Args:
        run: a file or a folder, which need not exist yet.
        idle: seconds without a new line after which the run counts as over.
        clock, wait: for tests.
    """
    lines = NewLines(run)
    last = clock()
    while clock() - last < idle:
        before = last
        for line in lines.read():
            yield line
            last = clock()
        if last == before:
            wait(_POLL_SECONDS)
