"""Opens result tables by file ending: CSV, TSV, JSONL and Parquet. Rows are read, and written with added columns."""

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
    """The open table at `path`.

    Args:
        path: the file.
        encoding: the encoding of a text file; a byte order mark is recognised and kept.

    Raises:
        ConfigError: the ending is unknown, the file cannot be read, or the encoding is unknown or wrong.
    """
    try:
        with _OPENERS[ending(path)](path, encoding) as table:
            yield table
    except UnicodeError as exc:
        raise ConfigError(f"{path} does not go with encoding {encoding!r}: {exc}; name another by --encoding") from exc


def ending(path: Path) -> str:
    """The file ending of `path` in lower case, which names the kind of table.

    Raises:
        ConfigError: the ending is none of the four.
    """
    suffix = path.suffix.lower()
    if suffix not in _OPENERS:
        raise ConfigError(f"a table must end in one of {', '.join(_OPENERS)}, got {str(path)!r}")
    return suffix


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to: it replaces `path` after the block, or is removed on an error.

    Raises:
        ConfigError: the directory cannot be written to.
    """
    # Renaming would replace a link by a file, so the file that the link names is replaced
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
