"""What a training's judge said, row by row, on disk: `astuner.task_judge.log_dir`."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import pydantic_core

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

_FILE_BYTES = 64 * 2**20


class RunLog:
    """A folder of scored rows, which `astuner watch`, `view`, `agree` and `compare` read.

    Each process appends to files of its own, `judged-<pid>-<n>.jsonl`, and begins another after 64 MB. A batch is
    written whole before its rewards are handed on: what a crash cuts short is the last line at most.

    Args:
        folder: made with the first row.
        file_bytes: where another file begins.
    """

    def __init__(self, folder: Path, *, file_bytes: int = _FILE_BYTES) -> None:
        self.folder = folder
        self._file_bytes = file_bytes
        self._lock = threading.Lock()
        self._stream: IO[bytes] | None = None
        self._pid = self._files = self._rows = 0

    def add(
        self, pairs: Iterable[tuple[WorkflowTask, WorkflowOutput]], judgements: Iterable[Judgement], step: int | None
    ) -> None:
        """Append a row each.

        Raises:
            ConfigError: the folder cannot be written: rows that are silently missing would look like a shorter run.
        """
        with self._lock:
            lines = [
                self._line(task, output, judgement, step)
                for (task, output), judgement in zip(pairs, judgements, strict=True)
            ]
            try:
                self._open().write(b"".join(lines))
            except OSError as exc:
                raise ConfigError(f"cannot write log_dir {str(self.folder)!r}: {exc}") from exc

    def _open(self) -> IO[bytes]:
        # a forked process must not write into its parent's file
        if self._stream is not None and self._pid == os.getpid() and self._stream.tell() < self._file_bytes:
            return self._stream
        if self._pid != os.getpid():
            self._pid, self._files = os.getpid(), 0
        elif self._stream is not None:
            self._stream.close()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._files += 1
        # unbuffered: a batch is one write
        self._stream = open(self.folder / f"judged-{self._pid}-{self._files}.jsonl", "ab", buffering=0)  # noqa: SIM115
        return self._stream

    def close(self) -> None:
        """Close the file; the next row opens another."""
        with self._lock:
            if self._stream is not None:
                self._stream.close()
                self._stream = None

    def _line(self, task: WorkflowTask, output: WorkflowOutput, judgement: Judgement, step: int | None) -> bytes:
        self._rows += 1
        row: dict[str, Any] = {
            "id": f"{os.getpid()}-{self._rows}",
            "task": task.task,
            "output": {"metadata": output.metadata},
            "judgement": judgement.to_dict(),
        }
        if step is not None:
            row["step"] = step
        try:
            # a workflow may leave anything in its metadata
            return pydantic_core.to_json(row, fallback=repr) + b"\n"
        except ValueError:
            pass
        try:
            # half a surrogate pair: UTF-8 cannot encode it, a JSON escape can
            return json.dumps({**row, "task": task.task.model_dump()}, default=repr).encode() + b"\n"
        except (ValueError, RecursionError):
            # a policy's arguments may be nested a thousand deep: its verdict is a row all the same
            told = {"main_query": task.task.main_query, "task_id": task.task_id}
            row["task"] = {**told, "metadata": _flat(task.task.metadata)}
            row["output"] = {"metadata": _flat(output.metadata)}
            return json.dumps(row).encode() + b"\n"


def _flat(metadata: Mapping[str, Any]) -> dict[str, Any]:
    plain = (str, int, float, type(None))
    return {str(key): value if isinstance(value, plain) else "cannot be written" for key, value in metadata.items()}
