"""Opens Parquet and Arrow files, by path or URL; needs the extra `parquet`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agentscope_tuner.errors import ConfigError, install
from agentscope_tuner.storage.stored_file import StoredFile, is_url, told

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
_BUFFER_BYTES = 2**20


def is_columnar(name: str) -> bool:
    """Whether a file is Parquet or Arrow, by its suffix."""
    return name.lower().endswith(PARQUET + ARROW)


def pyarrow_for(name: str) -> Any:
    """The module `pyarrow`.

    Raises:
        ConfigError: it is not installed; the message has the command that installs it.
    """
    nobody_used_it = "pyarrow" not in sys.modules
    try:
        import pyarrow
    except ImportError:
        kind = "Parquet" if name.lower().endswith(PARQUET) else "Arrow"
        raise ConfigError(f"{name!r} is {kind}, which needs pyarrow: {install('parquet')}") from None
    # pyarrow's own memory pool keeps what long files have used. Where another part of the program uses pyarrow, or the
    # user has chosen a pool, leave it
    if nobody_used_it and "ARROW_DEFAULT_MEMORY_POOL" not in os.environ:
        pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    return pyarrow


@contextmanager
def open_parquet(file: StoredFile) -> Iterator[Any]:
    """The `pyarrow.parquet.ParquetFile`, which reads a part of a row group at a time.

    Raises:
        ConfigError: there is no pyarrow, or the file cannot be read.
    """
    pyarrow_for(file.name)
    from pyarrow import parquet

    # Give pyarrow a local file's name: its reads then run without Python
    source: Any = file.open() if is_url(file.source) else file.source
    with told(f"cannot read {file.source!r}"):
        # Without a buffer size pyarrow would hold the columns of a whole row group, which may be the whole file
        opened = parquet.ParquetFile(
            source, buffer_size=_BUFFER_BYTES, pre_buffer=False, page_checksum_verification=True
        )
    with opened:
        yield opened


@contextmanager
def open_arrow(file: StoredFile) -> Iterator[Any]:
    """The file's `RecordBatchFileReader`, or its `RecordBatchStreamReader` where it was written as a stream.

    Raises:
        ConfigError: there is no pyarrow, or the file cannot be read.
    """
    pyarrow = pyarrow_for(file.name)
    from pyarrow import ipc

    with told(f"cannot read {file.source!r}"):
        source = pyarrow.PythonFile(file.open()) if is_url(file.source) else pyarrow.memory_map(file.source)
    with source:
        with told(f"cannot read {file.source!r}"):
            try:
                opened = ipc.open_file(source)
            except pyarrow.ArrowInvalid:
                source.seek(0)
                opened = ipc.open_stream(source)
        with opened:
            yield opened
