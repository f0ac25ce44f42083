"""Result tables by file ending, a row at a time: CSV, TSV, JSONL and Parquet, read and written with columns added."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.rule_tables import parquet_table, text_tables
from agentscope_tuner.rule_tables.table_row import Table

_OPENERS = {
    ".csv": text_tables.open_csv,
    ".tsv": text_tables.open_tsv,
    ".jsonl": text_tables.open_jsonl,
    ".parquet": parquet_table.open_parquet_table,
}


@contextmanager
def open_table(path: Path, encoding: str = "utf-8") -> Iterator[Table]:
    """The table at `path`. `encoding` is for text; a byte order mark is seen and kept.

    Raises:
        ConfigError: an unknown ending, a file that cannot be read, or an encoding that is unknown or does not fit.
    """
    try:
        with _OPENERS[ending(path)](path, encoding) as table:
            yield table
    except UnicodeError as exc:
        raise ConfigError(f"{path} does not go with encoding {encoding!r}: {exc}; name another by --encoding") from exc


def ending(path: Path) -> str:
    """The file ending that says what kind of table `path` is.

    Raises:
        ConfigError: it is none of the four.
    """
    suffix = path.suffix.lower()
    if suffix not in _OPENERS:
        raise ConfigError(f"a table must end in one of {', '.join(_OPENERS)}, got {str(path)!r}")
    return suffix


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to: it becomes `path` when the block ends well, and is removed when it does not.

    Raises:
        ConfigError: the directory cannot be written to.
    """
    # through a link to the file it names: renaming would put a file in the link's place
    path = path.resolve() if path.is_symlink() else path
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        open(partial, "xb").close()
    except OSError as exc:
        raise ConfigError(f"cannot write {str(path)!r}: {exc}") from exc
    try:
        yield partial
        os.replace(partial, path)
    except OSError as exc:
        raise ConfigError(f"{str(path)!r} could not be written: {exc}") from exc
    finally:
        partial.unlink(missing_ok=True)
