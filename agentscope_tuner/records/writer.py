"""Writing scored rollouts: into a temporary file that is renamed when it is whole, and that a later run can take up."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.reader import Row
from agentscope_tuner.task_judge.judgement import Judgement

_FLUSH_SECONDS = 1.0


def scored_line(row: Row, judgement: Judgement) -> bytes:
    """The row's own keys, as they stood, and `judgement`; one line of JSON, in UTF-8."""
    verdict = _encode(judgement.to_dict())
    if row.rollout is not None and b'"judgement"' not in row.raw:
        # spliced, not parsed and printed again: numbers and escapes of the row stay as they were written
        return row.raw[:-1] + b', "judgement": ' + verdict + b"}\n"
    return _encode({**_own_keys(row), "judgement": judgement.to_dict()}) + b"\n"


def _own_keys(row: Row) -> dict[str, Any]:
    try:
        parsed = json.loads(row.raw)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _encode(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # a model can write half a surrogate pair, which UTF-8 has no form for; JSON's escape does
        return json.dumps(value).encode()


class ScoredFile:
    """The output of one run, atomic: rows go to `<path>.partial`, which becomes `path` on a clean exit.

    After an interruption the partial file stays, and `resume=True` takes over its rows (or the finished file's, to
    judge its failed rows again). Use as a context manager.
    """

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        self.path = path
        self.partial = path.with_name(f"{path.name}.partial")
        self._next = path.with_name(f"{path.name}.partial.next")
        self._resume = resume
        self._earlier: Path | None = None
        self._flushed = time.monotonic()

    def __enter__(self) -> ScoredFile:
        if self._resume:
            # a resumed run that was itself interrupted may have come further than the one before
            if self._next.exists() and (not self.partial.exists() or _size(self._next) > _size(self.partial)):
                os.replace(self._next, self.partial)
            self._earlier = next((path for path in (self.partial, self.path) if path.exists()), None)
        target = self._next if self._earlier == self.partial else self.partial
        try:
            self._stream = open(target, "wb", buffering=2**20)
        except OSError as exc:
            raise ConfigError(f"cannot write {str(target)!r}: {exc}") from exc
        return self

    def earlier(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """Lines an earlier run wrote and what they hold, up to the first that is cut short; none unless resuming."""
        if self._earlier is None:
            return
        with open(self._earlier, "rb") as stream:
            for line in stream:
                try:
                    scored = json.loads(line)
                except ValueError:
                    return
                if not line.endswith(b"\n") or not isinstance(scored, dict):
                    return
                yield line, scored

    def write(self, line: bytes) -> None:
        """Add one line, as `scored_line` makes them; on disk within about a second, for what a killed run paid for."""
        self._stream.write(line)
        if time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self._stream.flush()
            self._flushed = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
        written = Path(self._stream.name)
        if kind is None:
            os.replace(written, self.path)
            self.partial.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size
