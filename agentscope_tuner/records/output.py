"""The output of a run: scored lines, the file that they are written to, and how a later run continues it.

A scored line is the row's own keys, unchanged, and its judgement. Until all rows are written, the file has the ending
`.partial`. It is a file of lines, plain or packed by gzip, or Parquet, Arrow or CSV, on this machine or at a URL.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from agentscope_tuner._run import interrupts
from agentscope_tuner.errors import ConfigError, told
from agentscope_tuner.records.columnar import write_columnar, write_table
from agentscope_tuner.records.reader import Row, encoded, object_in
from agentscope_tuner.storage import (
    StoredFile,
    file_system,
    is_columnar,
    is_gzip,
    is_table,
    is_url,
    plain,
    put_in_place,
    pyarrow_for,
)
from agentscope_tuner.task_judge.contract.judgement import Judgement

_ENCODER = msgspec.json.Encoder()


def scored_line(row: Row, judgement: Judgement, config_digest: str = "") -> bytes:
    """The line to write for a judged row: its own keys, unchanged, and `judgement` behind them, as JSON in UTF-8.

    `config_digest` is the fingerprint of the configuration that judged, so that a later run notices a different one.
    """
    unjudged = _without_judgement(row.raw) if row.rollout is not None else None
    if unjudged is not None:
        return unjudged[:-1] + judged_end(judgement, judgement.seconds, config_digest)
    return encoded({**own_keys(row.raw), "judgement": _verdict(judgement, judgement.seconds, config_digest)}) + b"\n"


def judged_end(judgement: Judgement, seconds: float, config_digest: str = "") -> bytes:
    """The end of a `scored_line`, to be written in place of the last brace of a row: `, "judgement": {…}}`.

    `seconds` is written as the time that judging took, in place of the judgement's own.
    """
    verdict = _verdict(judgement, seconds, config_digest)
    try:
        # takes a third of the standard encoder's time; `calls` may hold anything that an endpoint sent, even what this
        # encoder cannot write
        end = encoded(verdict) if judgement.calls else _ENCODER.encode(verdict)
    except (UnicodeEncodeError, OverflowError, TypeError):
        end = encoded(verdict)
    # Insert the judgement into the bytes: parsing and printing the row would change its numbers and escapes
    return b', "judgement": ' + end + b"}\n"


def _verdict(judgement: Judgement, seconds: float, config_digest: str) -> dict[str, Any]:
    verdict = judgement.to_dict()
    verdict["seconds"] = round(seconds, 6)
    if config_digest:
        verdict["config"] = config_digest
    return verdict


def _without_judgement(raw: bytes) -> bytes | None:
    """The row without the judgement at its end: `{"id": 1}` for `{"id": 1, "judgement": {}}`.

    None if a judgement is, or may be, in the middle of the row.
    """
    if b'"judgement"' not in raw:
        return raw
    before, separator, judgement = raw.rpartition(b', "judgement": ')
    if not separator or b'"judgement"' in before:
        return None
    try:
        json.loads(judgement[:-1])
    except ValueError:
        return None
    return before + b"}"


def own_keys(raw: bytes) -> dict[str, Any]:
    """The row in a line, parsed, without its judgement: `{"id": 1}` for `{"id": 1, "judgement": {}}`.

    Empty if the line is no JSON object.
    """
    parsed = object_in(raw) or {}
    parsed.pop("judgement", None)
    return parsed


class EarlierRow(NamedTuple):
    """A row that an earlier run wrote with its verdict, which a resumed run may take over.

    Attributes:
        line: the unchanged line, with its line break.
        own: the row without its judgement.
        judgement: the verdict; None if it cannot be read.
        config: the fingerprint of the configuration that judged, as given to `scored_line`.
    """

    line: bytes
    own: dict[str, Any]
    judgement: Judgement | None
    config: str | None

    @property
    def spent(self) -> dict[str, float]:
        """The cost of judge models for this row, as metrics such as `judge_calls`; empty if there was none.

        A run that judges the row again adds them to its own.
        """
        # Imported here, since a run that resumes nothing does not need it
        from agentscope_tuner.graders.client.usage import Usage

        metrics = self.judgement.metrics if self.judgement else {}
        return {name: metrics[name] for name in Usage.metric_names() if metrics.get(name)}

    def is_of(self, raw: bytes) -> bool:
        """Whether this is the row `raw` of the input with a verdict: the same keys with the same values."""
        # Nearly every row was written unchanged
        return self.line.startswith(raw[:-1] + b', "judgement": ') or self.own == own_keys(raw)


def earlier_row(line: bytes) -> EarlierRow | None:
    """Parse a line that `scored_line` made; None if it is cut short or no JSON object."""
    if (own := object_in(line)) is None or not line.endswith(b"\n"):
        return None
    verdict = own.pop("judgement", None)
    config = verdict.pop("config", None) if isinstance(verdict, dict) else None
    return EarlierRow(line, own, Judgement.from_dict(verdict), config)


def earlier_rows(path: Path | None) -> Iterator[EarlierRow]:
    """The rows of the scored file `path`, up to the first incomplete one: a killed run may have written half a line.

    Nothing if `path` is None.
    """
    if path is not None:
        with open(path, "rb") as stream:
            yield from iter(lambda: earlier_row(stream.readline()), None)


class ScoredFile:
    """The file of scored lines that a run writes: `<path>.partial`, which is renamed to `path` on a clean exit.

    Use it as a context manager. After an interruption the partial file stays, with every row that was written.
    `resume=True` takes over its rows, or those of the finished file, so that its failed rows are judged again. Only one
    run may write at a time: it locks `<path>.partial.lock`.

    Raises:
        ConfigError: `path` cannot be written, is not a regular file, an interrupted run's rows are in the way, or
            another run is writing it.
    """

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        # Follow a symbolic link: renaming onto it would replace the link by a file
        self.path = _followed(path)
        self._resume = resume
        self._earlier: Path | None = None
        self._lines = 0

    def __enter__(self) -> ScoredFile:
        if not self.path.name or (os.path.exists(self.path) and not self.path.is_file()):
            raise _irregular(self.path)
        self.partial = self.path.with_name(f"{self.path.name}.partial")
        self._next = self.path.with_name(f"{self.path.name}.partial.next")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = self._locked()
        except (FileExistsError, NotADirectoryError) as exc:
            file = next((str(parent) for parent in self.path.parents if parent.is_file()), "")
            raise ConfigError(f"cannot write {str(self.path)!r}: {file!r} is a file, and no folder") from exc
        # ValueError: a name with a NUL character
        except (OSError, ValueError) as exc:
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
            said = "holds rows that an interrupted run scored: add --resume to go on from them, or delete it"
            raise ConfigError(f"{str(self.partial)!r} {said}")
        with told(f"cannot write {str(self.path)!r}"):
            # unbuffered: bytes that a full disk refuses must not be written again on closing
            return open(self._next if self._earlier else self.partial, "wb", buffering=0)

    def _locked(self) -> IO[bytes]:
        """Lock the lock file until it is closed, and return it: two runs would overwrite each other's rows."""
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
        """The file of an earlier run to take rows from, by `furthest`; None if there is none.

        The file of an interrupted resumed run is renamed to the partial file if it has more rows than that.
        """
        if (found := furthest(self.path)) == self._next:
            put_in_place(self._next, self.partial)
            return self.partial
        return found

    def earlier(self) -> Iterator[EarlierRow]:
        """The rows that an earlier run wrote, in order; nothing without `resume`."""
        return earlier_rows(self._earlier)

    def write(self, line: bytes) -> None:
        """Write one line or more, as `scored_line` makes them, at once and unbuffered: they stay if the run is killed.

        Raises:
            ConfigError: the disk is full, or the file cannot be written for another reason.
        """
        left = memoryview(line)
        try:
            while left:
                left = left[self._stream.write(left) :]
        except OSError as exc:
            raise self._refused(exc) from exc
        self._lines += line.count(b"\n")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._finish(whole=kind is None)
        except OSError as error:
            # The error that ended the run says more
            if kind is None:
                raise self._refused(error) from error
        finally:
            self._unlock()

    def _finish(self, *, whole: bool) -> None:
        written = Path(self._stream.name)
        if not whole and self._lines and self._earlier:
            self._keep_the_rest(self._earlier)
        self._stream.close()
        if whole:
            # First replace the partial file that this run continued: beside a whole output, a later run would take it
            # for that of a newer run
            if written != self.partial:
                put_in_place(written, self.partial)
            put_in_place(self.partial, self.path)
        elif written.exists() and not _size(written):
            written.unlink()

    def _keep_the_rest(self, earlier: Path) -> None:
        """Add the earlier run's rows behind those that this interrupted run has written, so that no verdict is lost."""
        with open(earlier, "rb") as rows:
            for line in islice(rows, self._lines, None):
                self.write(line if line.endswith(b"\n") else b"")
        put_in_place(Path(self._stream.name), self.partial)

    def _refused(self, exc: OSError) -> ConfigError:
        """The error that says why the output cannot be written, and what to do."""
        way_out = "the rows before it are kept: make room, or fix what refuses the file, then --resume goes on"
        return ConfigError(f"cannot write {self._stream.name!r}: {exc.strerror or exc}; {way_out}")


def furthest(path: Path) -> Path | None:
    """The file from which a resumed run with the output `path` takes over rows; None if there are no rows.

    It is `<path>.partial`, else `path`, unless `<path>.partial.next` of an interrupted resumed run is longer.
    """
    partial, further = (path.with_name(f"{path.name}.{end}") for end in ("partial", "partial.next"))
    start = partial if _size(partial) else path
    if _size(further) > _size(start):
        return further
    return start if _size(start) else None


def _size(path: Path) -> int:
    return path.stat().st_size if os.path.exists(path) else 0


# The first bytes to look at: a first line that does not end within them is not checked
_FIRST_LINE_BYTES = 2**20
_STAGE = ".rows.jsonl"
_COPIED_BYTES = 2**20


@contextmanager
def scored_output(target: str, *, resume: bool = False) -> Iterator[ScoredFile]:
    """A context with the file to write a run's rows to, which becomes `target` when the block ends without an error.

    A file of lines on this machine is written row by row, as a `ScoredFile`. For Parquet, Arrow, CSV, gzip and URLs,
    rows go to a local file of lines first (`stage_of`), which at the end is converted, moved and removed. After an
    interruption it stays, and `resume` goes on from it, or from a finished file of lines, packed or at a URL. A
    finished Parquet, Arrow or CSV file cannot be resumed.

    Raises:
        ConfigError: as `ScoredFile`; or a package to write `target` is not installed; or there is nothing to resume
            from.
    """
    target = plain(target)
    stage = stage_of(target)
    if not is_url(target) and os.path.exists(target) and not os.path.isfile(target):
        raise _irregular(Path(target))
    if target.endswith(("/", os.sep)):
        raise ConfigError(f"the output must be a regular file, got the folder {target!r}")
    if not (is_url(target) or _is_made_at_the_end(target)):
        if resume:
            _check_scored(stage)
        with ScoredFile(stage, resume=resume) as scored:
            yield scored
        return
    file = StoredFile(target)
    _check(file)
    if resume and furthest(stage) is None:
        with interrupts.welcome:
            _fetch(file, stage)
    with ScoredFile(stage, resume=resume) as scored:
        yield scored
    try:
        with interrupts.welcome:
            _deliver(stage, file)
    except (ConfigError, OSError) as exc:
        said = f"every row is scored and kept in {str(stage)!r}: --resume writes it again, nothing is judged"
        raise ConfigError(f"{exc}; {said}") from exc
    stage.unlink()


def stage_of(target: str) -> Path:
    """The local file of lines that a run writes before it makes `target`: `x.parquet.rows.jsonl` for `x.parquet`.

    It is `target` itself if that is a local file of lines, and a file in the user's cache folder for a URL.
    """
    target = plain(target)
    if is_url(target):
        # The same path for the same URL, so that a later run finds an interrupted run's rows
        named = hashlib.blake2b(target.encode(), digest_size=6).hexdigest()
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "astuner" / "outputs"
        return root / f"{named}-{StoredFile(target).name}{_STAGE}"
    if not _is_made_at_the_end(target):
        return Path(target)
    path = _followed(target)
    return path.with_name(path.name + _STAGE)


def _is_made_at_the_end(name: str) -> bool:
    """Whether the file `name` can only be made when all rows are known: Parquet, Arrow, a table or gzip."""
    return is_gzip(name) or is_columnar(name) or is_table(name)


def _followed(source: str | Path) -> Path:
    """The path of the file that a symbolic link leads to; any other path as it is. A rename would replace the link."""
    # Path.is_symlink raises if the name is too long for the file system: opening the file gives a better message
    return Path(source).resolve() if os.path.islink(source) else Path(source)


def _check_scored(path: Path) -> None:
    """Refuse to resume from a file without verdicts: else all rows would be judged and written over it.

    Raises:
        ConfigError: the first line of the file to resume from has no judgement.
    """
    if furthest(path) != path or not path.is_file():
        return
    with open(path, "rb") as stream:
        first = stream.readline(_FIRST_LINE_BYTES)
    if first.endswith(b"\n") and b'"judgement"' not in first:
        said = "holds no scored rows to go on from: name another output, or write over it without --resume"
        raise ConfigError(f"{str(path)!r} {said}")


def _irregular(path: Path) -> ConfigError:
    named = f": name a file in it, such as {str(path / 'scored.jsonl')!r}" if path.is_dir() else ""
    return ConfigError(f"the output must be a regular file, got {str(path)!r}{named}")


def _check(file: StoredFile) -> None:
    """Check, before the first row is judged, that all packages to write the file are installed."""
    if is_columnar(file.name):
        pyarrow_for(file.name)
    if is_url(file.source):
        file_system(file.source)


def _fetch(file: StoredFile, stage: Path) -> None:
    if not file.exists():
        return
    if is_columnar(file.name) or is_table(file.name):
        said = "is finished, and written as a whole: --resume goes on from an interrupted run; omit it, or write .jsonl"
        raise ConfigError(f"{file.source!r} {said}")
    stage.parent.mkdir(parents=True, exist_ok=True)
    if not is_gzip(file.name):
        file.get(stage)
        return
    aside = stage.with_name(f"{stage.name}.fetched")
    try:
        with (
            told(f"cannot read {file.source!r}"),
            file.open() as stored,
            gzip.open(stored) as packed,
            open(aside, "wb") as lines,
        ):
            shutil.copyfileobj(packed, lines, _COPIED_BYTES)
        _check_scored(aside)
        put_in_place(aside, stage)
    finally:
        aside.unlink(missing_ok=True)


def _pack(stage: Path, whole: Path) -> None:
    # without the time, so that the same rows are the same file
    with (
        open(stage, "rb") as lines,
        open(whole, "wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, compresslevel=6, mtime=0) as packed,
    ):
        shutil.copyfileobj(lines, packed, _COPIED_BYTES)


def _deliver(stage: Path, file: StoredFile) -> None:
    """Make the output `file` of the rows in `stage`, by converting, packing or uploading; whole or not at all."""
    if not _is_made_at_the_end(file.name):
        file.put(stage)
        return
    # the suffix names the format
    whole = stage.with_name(f"{stage.name}.partial{''.join(Path(file.name).suffixes[-2:])}")
    try:
        write = write_table if is_table(file.name) else _pack if is_gzip(file.name) else write_columnar
        write(stage, whole)
        if is_url(file.source):
            file.put(whole)
        else:
            put_in_place(whole, _followed(file.source))
    finally:
        whole.unlink(missing_ok=True)
