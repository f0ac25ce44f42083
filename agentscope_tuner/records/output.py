"""Writes scored rows to a file of lines, or a Parquet or Arrow file, on this machine or at a URL."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.columnar_file import write_columnar
from agentscope_tuner.records.scored_file import ScoredFile, furthest
from agentscope_tuner.storage.columns import is_columnar, pyarrow_for
from agentscope_tuner.storage.stored_file import StoredFile, file_system, is_url, plain

# The first bytes to look at: a first line that does not end within them is not checked
_FIRST_LINE_BYTES = 2**20
_STAGE = ".rows.jsonl"


@contextmanager
def scored_output(target: str, *, resume: bool = False) -> Iterator[ScoredFile]:
    """A context with the file for the rows, which becomes `target` when the block ends without an error.

    A file of lines on this machine is a `ScoredFile`. Parquet, Arrow and URLs can only be written as a whole: rows go
    to a local file of lines first (`stage_of`), which at the end is converted, moved and removed. After an interruption
    it stays, and `resume` goes on from it; `resume` also goes on from a finished file of lines at a URL. A finished
    Parquet or Arrow file is no file of lines: it cannot be resumed.

    Raises:
        ConfigError: as `ScoredFile`; or a package to write `target` is not installed; or there is nothing to resume
            from.
    """
    target = plain(target)
    stage = stage_of(target)
    if target.endswith(("/", os.sep)):
        raise ConfigError(f"the output must be a regular file, got the folder {target!r}")
    if not (is_url(target) or is_columnar(target)):
        if resume:
            _check_scored(stage)
        with ScoredFile(stage, resume=resume) as scored:
            yield scored
        return
    file = StoredFile(target)
    _check(file)
    if resume and furthest(stage) is None:
        _fetch(file, stage)
    with ScoredFile(stage, resume=resume) as scored:
        yield scored
    try:
        _deliver(stage, file)
    except (ConfigError, OSError) as exc:
        raise ConfigError(
            f"{exc}; every row is scored and kept in {str(stage)!r}: --resume writes it again, nothing is judged"
        ) from exc
    stage.unlink()


def stage_of(target: str) -> Path:
    """The local file that gathers the rows of `target`; `target` itself where it is a local file of lines."""
    target = plain(target)
    if is_url(target):
        # The same place for the same URL, so that a later run finds an interrupted run's rows
        named = hashlib.blake2b(target.encode(), digest_size=6).hexdigest()
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "astuner" / "outputs"
        return root / f"{named}-{StoredFile(target).name}{_STAGE}"
    if not is_columnar(target):
        return Path(target)
    path = _followed(target)
    return path.with_name(path.name + _STAGE)


def _followed(source: str) -> Path:
    """A file's path behind its symbolic links: renaming onto a link would replace the link."""
    path = Path(source)
    return path.resolve() if path.is_symlink() else path


def _check_scored(path: Path) -> None:
    """Refuse to resume from a file that no run has scored: else all rows would be judged and written over it."""
    if furthest(path) != path or not path.is_file():
        return
    with open(path, "rb") as stream:
        first = stream.readline(_FIRST_LINE_BYTES)
    if first.endswith(b"\n") and b'"judgement"' not in first:
        raise ConfigError(
            f"{str(path)!r} holds no scored rows, so there is nothing to go on from: name another output, or run "
            "without --resume, which writes over it"
        )


def _check(file: StoredFile) -> None:
    """Check, before the first row is judged, that all packages to write the file are installed."""
    if is_columnar(file.name):
        pyarrow_for(file.name)
    if is_url(file.source):
        file_system(file.source)
    elif Path(file.source).exists() and not Path(file.source).is_file():
        raise ConfigError(f"the output must be a regular file, got {file.source!r}")


def _fetch(file: StoredFile, stage: Path) -> None:
    if not file.exists():
        return
    if is_columnar(file.name):
        raise ConfigError(
            f"{file.source!r} is finished, and written as a whole: --resume goes on from an interrupted run's rows "
            "only; run without it, or judge into a .jsonl file"
        )
    stage.parent.mkdir(parents=True, exist_ok=True)
    file.get(stage)


def _deliver(stage: Path, file: StoredFile) -> None:
    """Put the rows in their place, whole or not at all."""
    if not is_columnar(file.name):
        file.put(stage)
        return
    # the suffix names the format
    whole = stage.with_name(f"{stage.name}.partial{Path(file.name).suffix}")
    try:
        write_columnar(stage, whole)
        if is_url(file.source):
            file.put(whole)
        else:
            os.replace(whole, _followed(file.source))
    finally:
        whole.unlink(missing_ok=True)
