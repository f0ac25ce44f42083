"""What stands beside a scored file: people's verdicts on its rows, and the alarms of `astuner watch`."""

from __future__ import annotations

import fcntl
import json
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

MOST_ALARMS = 500
_MOST_CHARS = 500
_MOST_BYTES = 4 * 2**20


def read_alarms(path: Path) -> list[dict[str, Any]]:
    """The last `MOST_ALARMS` alarms, in their order; none if there is no file. Lines that hold no alarm are ignored."""
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, stream.seek(0, 2) - _MOST_BYTES))
            lines = stream.read().splitlines()
    except OSError:
        return []
    alarms = [alarm for line in lines if (alarm := _alarm(line)) is not None]
    return alarms[-MOST_ALARMS:]


def _alarm(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    step = row.get("step")
    known = isinstance(step, int | float) and not isinstance(step, bool) and abs(step) < 1e15
    message = row.get("message") or row.get("reason") or ""
    return {
        "step": step if known else None,
        "monitor": str(row.get("monitor") or row.get("name") or "alarm")[:_MOST_CHARS],
        "message": str(message)[:_MOST_CHARS],
    }


PersonsVerdict = Literal["right", "wrong", "unsure"]
MOST_REMARK_CHARS = 10_000


class PersonsLabel(NamedTuple):
    """One person's label of one row."""

    label: PersonsVerdict
    remark: str
    at: str


class LabelsFile:
    """The labels of one scored file. Each is appended as a line, so that earlier ones are kept; the last one counts.

    Args:
        path: the labels file. It need not exist: the first label creates it.

    Attributes:
        version: grows whenever the file is read again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.version = 0
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._labels: dict[tuple[str, int], PersonsLabel] = {}

    def read(self) -> Mapping[tuple[str, int], PersonsLabel]:
        """The labels by row, `(id, nth)`. A changed file is read again; lines that hold no label are ignored."""
        with self._lock:
            try:
                status = self.path.stat()
            except OSError:
                if self._stamp is not None:
                    self._labels, self._stamp = {}, None
                    self.version += 1
                return self._labels
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                labels: dict[tuple[str, int], PersonsLabel] = {}
                with open(self.path, "rb") as stream:
                    for line in stream:
                        _apply_line(labels, line)
                self._labels, self._stamp = labels, stamp
                self.version += 1
            return self._labels

    def add(self, id_: str, nth: int, label: PersonsVerdict | None, remark: str = "") -> None:
        """Append a label; None withdraws the earlier label.

        Raises:
            OSError: the file cannot be written.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row: dict[str, Any] = {"id": id_, "label": label, "remark": remark[:MOST_REMARK_CHARS], "at": now}
        if nth:
            row["nth"] = nth
        line = json.dumps(row).encode() + b"\n"
        with self._lock, open(self.path, "a+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            if stream.seek(0, 2):
                # An earlier writer may have left the last line without its line break
                stream.seek(-1, 2)
                line = line if stream.read(1) == b"\n" else b"\n" + line
            stream.write(line)


def _apply_line(labels: dict[tuple[str, int], PersonsLabel], line: bytes) -> None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return
    if not isinstance(row, dict) or "id" not in row:
        return
    nth = row.get("nth", 0)
    key = (str(row["id"]), nth if isinstance(nth, int) else 0)
    label = row.get("label")
    if label is None:
        labels.pop(key, None)
    elif label in get_args(PersonsVerdict):
        labels[key] = PersonsLabel(label, str(row.get("remark") or ""), str(row.get("at") or ""))
