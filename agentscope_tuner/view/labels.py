"""People's verdicts on rows, in a file of JSON lines beside the scored file. The last line about a row counts."""

from __future__ import annotations

import fcntl
import json
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

PersonsVerdict = Literal["right", "wrong", "unsure"]
MOST_REMARK_CHARS = 10_000


class PersonsLabel(NamedTuple):
    """One person's label of one row."""

    label: PersonsVerdict
    remark: str
    at: str


def labels_path(source: Path) -> Path:
    """The default path of the labels of a scored file, or of a folder of scored files."""
    if source.is_dir():
        return source / "labels.jsonl"
    return source.with_name(source.name.removesuffix(".jsonl") + ".labels.jsonl")


class LabelsFile:
    """The labels of one scored file. Each label is appended as a line, so that earlier labels are kept.

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
