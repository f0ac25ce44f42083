"""The output file of one run: a partial file that is renamed when it is whole, and that a later run can continue."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import IO

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.earlier import EarlierRow, earlier_rows


class ScoredFile:
    """The output of one run, atomic: rows go to `<path>.partial`, which becomes `path` on a clean exit.

    After an interruption the partial file stays, with every row that was written, and `resume=True` takes over its rows
    (or the finished file's, to judge its failed rows again). Use as a context manager. One run at a time:
    `<path>.partial.lock` is locked during the run.

    Raises:
        ConfigError: `path` cannot be written, is not a regular file, an interrupted run's rows are in the way, or
            another run is writing it.
    """

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        # Follow a symbolic link: renaming onto it would replace the link by a file
        self.path = path.resolve() if path.is_symlink() else path
        self._resume = resume
        self._earlier: Path | None = None

    def __enter__(self) -> ScoredFile:
        if not self.path.name or (self.path.exists() and not self.path.is_file()):
            raise ConfigError(f"the output must be a regular file, got {str(self.path)!r}")
        self.partial = self.path.with_name(f"{self.path.name}.partial")
        self._next = self.path.with_name(f"{self.path.name}.partial.next")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = self._locked()
        except OSError as exc:
            raise ConfigError(f"cannot write {str(self.path)!r}: {exc}") from exc
        try:
            self._stream = self._opened()
        # Also on Ctrl-C: a lock file that stays would keep the next run out
        except BaseException:
            self._unlock()
            raise
        return self

    def _opened(self) -> FileIO:
        if self._resume:
            self._earlier = self._furthest()
        elif _size(self.partial):
            raise ConfigError(
                f"{str(self.partial)!r} holds rows that an interrupted run scored: add --resume to go on from them, "
                "or delete it"
            )
        try:
            # unbuffered: bytes that a full disk refuses must not be written again on closing
            return open(self._next if self._earlier else self.partial, "wb", buffering=0)
        except OSError as exc:
            raise ConfigError(f"cannot write {str(self.path)!r}: {exc}") from exc

    def _locked(self) -> IO[bytes]:
        """The lock file, locked until it is closed: two runs would overwrite each other's rows."""
        path = self.path.with_name(f"{self.path.name}.partial.lock")
        while True:
            stream = open(path, "ab")  # noqa: SIM115  # closing the file releases the lock
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as exc:
                stream.close()
                raise ConfigError(f"another run is writing {str(self.path)!r}: wait for it, or name another") from exc
            except OSError:
                # This file system has no locks: go on without one
                return stream
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(stream.fileno()), os.stat(path)):
                    return stream
            # The run that held the lock has just ended and removed its file: lock the new one
            stream.close()

    def _unlock(self) -> None:
        # Remove the file while it is locked: a waiting run then sees that the file is gone, and makes a new file
        Path(self._lock.name).unlink(missing_ok=True)
        self._lock.close()

    def _furthest(self) -> Path | None:
        """The file to take rows from: an interrupted resumed run may have come further than the first run."""
        found = furthest(self.path)
        if found == self._next:
            os.replace(self._next, self.partial)
            return self.partial
        return found

    def earlier(self) -> Iterator[EarlierRow]:
        """The rows that an earlier run wrote; none unless resuming."""
        return earlier_rows(self._earlier)

    def write(self, line: bytes) -> None:
        """Add one line or more, as `scored_line` makes them. A killed run keeps them: verdicts may have been paid for.

        Raises:
            ConfigError: the disk is full, or the file cannot be written for another reason.
        """
        left = memoryview(line)
        try:
            while left:
                left = left[self._stream.write(left) :]
        except OSError as exc:
            raise self._refused(exc) from exc

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._finish(whole=kind is None)
        except OSError as error:
            # The error that ended the run says more
            if kind is None:
                raise self._refused(error) from error
        finally:
            self._unlock()

    def _finish(self, *, whole: bool) -> None:
        self._stream.close()
        written = Path(self._stream.name)
        if whole:
            os.replace(written, self.path)
            self.partial.unlink(missing_ok=True)
        elif not _size(written):
            written.unlink()

    def _refused(self, exc: OSError) -> ConfigError:
        """Why the output cannot be written, and the way out."""
        return ConfigError(
            f"cannot write {self._stream.name!r}: {exc.strerror or exc}; the rows before it are kept: make room, or "
            "mend what refuses the file, then --resume goes on"
        )


def furthest(path: Path) -> Path | None:
    """The file with the most rows to take over, of those that runs with the output `path` wrote; None where there is
    none.
    """
    partial, further = (path.with_name(f"{path.name}.{end}") for end in ("partial", "partial.next"))
    start = partial if _size(partial) else path
    if _size(further) > _size(start):
        return further
    return start if _size(start) else None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
