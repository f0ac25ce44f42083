"""The log of a training, `astuner.task_judge.log_dir`: every verdict is written to disk, a row each.

Rows are encoded fast, because users would switch off a log that costs as much as the judge.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import socket
import threading
import time
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, count, islice
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import msgspec
import pydantic_core

from agentscope_tuner._run import forks
from agentscope_tuner.bounds import bounded
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.http_rows import of_numpy
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

Pair = tuple[WorkflowTask, WorkflowOutput]


class LoggedOutput(msgspec.Struct, gc=False):
    """The `output` of a row."""

    metadata: dict[str, Any]


class LoggedRow(msgspec.Struct, gc=False):
    """A scored row, as `astuner judge` writes it, with the `time` of its verdict and the `step` of its training."""

    id: str
    task: dict[str, Any]
    output: LoggedOutput
    judgement: Judgement
    # The time as text and, where there is a step, `,"step":` and the step, written once for a whole batch
    time: msgspec.Raw


# the last three digits of the ids of a thousand rows
_ENDS = [f"{number:03}" for number in range(1000)]


def ids(token: str) -> Iterator[str]:
    """Names of rows without end: `<token>-0000`, `<token>-0001` and so on."""
    # joined, which takes half of the time that writing a number for each row would
    thousands = (f"{token}-{number}" for number in count())
    return chain.from_iterable([begin + end for end in _ENDS] for begin in thousands)


def rows_of(
    pairs: Sequence[Pair], judgements: Sequence[Judgement], names: Iterator[str], step: int | None, time: float
) -> list[LoggedRow]:
    """A row for each verdict; the next of `names` is its id.

    Args:
        pairs: the tasks and outputs that were judged.
        judgements: their verdicts.
        names: ids, as `ids` makes them.
        step: the training step; None if it is not known.
        time: seconds since 1970.
    """
    # one comprehension and no call a row: this runs beside judges that make a verdict in 30 microseconds. `__dict__` is
    # what pydantic holds: a copy of the model would cost more than its encoding, and an attribute twice a key
    at = msgspec.Raw(b"%.3f" % time if step is None else b'%.3f,"step":%b' % (time, _ENCODER.encode(step)))
    return [
        LoggedRow(
            name,
            held
            if (held := (own := (given := task.__dict__)["task"]).__dict__)["task_id"] == given["task_id"]
            and not own.__pydantic_extra__
            else _with_extras(task),
            LoggedOutput(output.metadata),
            judgement,
            at,
        )
        for (task, output), judgement, name in zip(pairs, judgements, islice(names, len(pairs)), strict=True)
    ]


def _with_extras(task: WorkflowTask) -> dict[str, Any]:
    return {**task.task.__dict__, **(task.task.__pydantic_extra__ or {}), "task_id": task.task_id}


def encoded(rows: Sequence[LoggedRow]) -> bytes:
    """The rows as lines of JSON, whatever a workflow has left in its metadata."""
    try:
        return _ENCODER.encode_lines(rows)
    except Exception:  # noqa: BLE001 - metadata is anybody's: each row is written by itself, the odd one in a slower way
        return b"".join(_odd(row) for row in rows)


def _odd(row: LoggedRow) -> bytes:
    try:
        return _ENCODER.encode(row) + b"\n"
    except Exception:  # noqa: BLE001 - see above
        pass
    plain: dict[str, Any] = {
        "id": row.id,
        "task": bounded(row.task),
        # Bounded when the output was made; a workflow may have changed it since
        "output": {"metadata": bounded(row.output.metadata)},
        "judgement": row.judgement.to_dict(),
        **json.loads(b'{"time":%b}' % bytes(row.time)),
    }
    try:
        # half a surrogate pair: UTF-8 cannot encode it, a JSON escape can
        return json.dumps(plain, default=_plain).encode() + b"\n"
    except Exception:  # noqa: BLE001 - whatever else stands there, its verdict is a row all the same
        task = {key: row.task.get(key) for key in ("main_query", "task_id")}
        plain["task"] = {**task, "metadata": _flat(row.task.get("metadata"))}
        plain["output"] = {"metadata": _flat(row.output.metadata)}
        return json.dumps(plain).encode() + b"\n"


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if type(value).__module__ == "numpy":
        return of_numpy(value)
    return pydantic_core.to_jsonable_python(value, fallback=repr)


def _flat(metadata: object) -> dict[str, Any]:
    plain = (str, int, float, type(None))
    items = metadata.items() if isinstance(metadata, Mapping) else ()
    return {str(key): value if isinstance(value, plain) else "cannot be written" for key, value in items}


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)


_log = logging.getLogger(__name__)

_FILE_BYTES = 64 * 2**20
_BLOCK_BYTES = 64 * 2**10
_WAIT_SECONDS = 0.5

_open_logs: weakref.WeakSet[RunLog] = weakref.WeakSet()


class RunLog:
    """A folder of scored rows, which `astuner watch`, `view`, `agree` and `compare` read.

    Each process appends to files of its own, `judged-<host>-<pid>-<token>-<n>.jsonl`, and begins another after 64 MB:
    no restart, no other host and no second log of the process writes into them. A row waits for at most half a second
    until it is written, together with those after it, in one block of whole lines; rows that come after a pause of
    half a second are written at once. A process that is killed loses at most the waiting rows; the trainer already has
    their verdicts.

    Args:
        folder: the folder; it is made with the first row.
        share: the share of advantage groups that are logged, each whole or not at all; over 0, at most 1.
        file_bytes: the size at which another file begins.
    """

    def __init__(self, folder: Path, *, share: float = 1.0, file_bytes: int = _FILE_BYTES) -> None:
        self.folder = folder
        self._share, self._file_bytes = share, file_bytes
        self.forget()
        _open_logs.add(self)

    def forget(self) -> None:
        """Start anew, in a forked child as in the constructor: the parent writes what it has buffered."""
        self._lock = threading.Lock()
        self._token = secrets.token_hex(4)
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._descriptor: int | None = None
        self._timer: threading.Timer | None = None
        self._names = ids(self._token)
        self._files = self._written = 0
        self._last = -_WAIT_SECONDS

    def add(self, pairs: Sequence[Pair], judgements: Sequence[Judgement], step: int | None) -> None:
        """Append a row for each verdict.

        Raises:
            ConfigError: the folder cannot be written: rows that are silently missing would look like a shorter run.
                The rows are kept, and the next call tries again.
        """
        if self._share < 1:
            chosen = list(self._chosen(pairs, step))
            pairs, judgements = list(compress(pairs, chosen)), list(compress(judgements, chosen))
        with self._lock:
            if self._waiting_bytes > self._file_bytes:
                # the disk stays full: raise here, before the waiting rows fill the memory
                self._write()
            if not pairs:
                return
            lines = encoded(rows_of(pairs, judgements, self._names, step, time.time()))
            self._waiting.append(lines)
            self._waiting_bytes += len(lines)
            if self._waiting_bytes >= _BLOCK_BYTES or time.monotonic() - self._last >= _WAIT_SECONDS:
                self._write()
            elif self._timer is None:
                self._write_later()

    def _chosen(self, pairs: Iterable[Pair], step: int | None) -> Iterator[bool]:
        last, chosen = None, False
        for task, _ in pairs:
            group = task.task_id or task.task.main_query
            # A group's rows are usually neighbours
            if group != last:
                last = group
                # The same choice in every process: a group whose rows several processes judge is logged whole
                chosen = zlib.crc32(f"{group}\0{step}".encode("utf-8", "replace")) < self._share * 2**32
            yield chosen

    def _write_later(self) -> None:
        self._timer = threading.Timer(_WAIT_SECONDS, self._write_waiting)
        self._timer.daemon = True
        try:
            self._timer.start()
        except RuntimeError:
            # The interpreter shuts down and starts no more threads
            self._timer = None
            self._write()

    def _write_waiting(self) -> None:
        with self._lock:
            self._timer = None
            try:
                self._write()
            except ConfigError as exc:
                # A timer has no caller to raise to: log the error; the next row tries again, and raises
                _log.warning("%s", exc)

    def _write(self) -> None:
        block = self._waiting[0] if len(self._waiting) == 1 else b"".join(self._waiting)
        try:
            while block:
                if self._descriptor is None:
                    self._descriptor = self._opened()
                written = os.write(self._descriptor, block)
                self._written += written
                block = block[written:]
        except OSError as exc:
            raise ConfigError(f"cannot write log_dir {str(self.folder)!r}: {exc}") from exc
        finally:
            # A full disk may take half of a block: the next write goes on where this one ended
            self._waiting, self._waiting_bytes = [block] if block else [], len(block)
        self._last = time.monotonic()
        if self._written >= self._file_bytes:
            self._end_file()

    def _opened(self) -> int:
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._files:
            # Also in children of multiprocessing, which end without running atexit's functions
            Finalize(None, flush_logs, exitpriority=0)
        host = re.sub(r"[^0-9A-Za-z]+", "-", socket.gethostname())[:40]
        self._files, self._written = self._files + 1, 0
        path = self.folder / f"judged-{host}-{os.getpid()}-{self._token}-{self._files}.jsonl"
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)

    def _end_file(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def flush(self) -> None:
        """Write the rows that wait.

        Raises:
            ConfigError: as `add`.
        """
        with self._lock:
            self._write()

    def close(self) -> None:
        """Write the rows that wait and close the file; the next row opens another.

        Raises:
            ConfigError: as `add`.
        """
        with self._lock:
            self._write()
            self._end_file()


def flush_logs() -> None:
    """Write the rows that wait in this process's logs; a folder that cannot be written is logged."""
    for log in list(_open_logs):
        try:
            log.flush()
        except ConfigError as exc:
            _log.warning("%s", exc)


forks.forgets(_open_logs)
