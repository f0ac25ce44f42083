"""Files by path on this machine, or by URL through fsspec: opened, measured, listed, and replaced as a whole.

Parquet and Arrow files are opened here too, which needs the extra `parquet`.
"""

from __future__ import annotations

import errno
import glob
import io
import os
import posixpath
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from agentscope_tuner.errors import ConfigError, importing, install, told

_BUFFER_BYTES = 2**20
_SHOWN_BYTES = 48
_LOCAL = ("file://", "local://")
# The question mark is left out: in a URL it begins the query
_MAGIC, _URL_MAGIC = re.compile(r"[*?\[]"), re.compile(r"[*\[]")
# A data set's page, and not one of its files, which stand under resolve/
_HUB_PAGE = re.compile(r"https?://huggingface\.co/datasets/([^/]+/[^/?#]+)(?!/resolve/)(?:/(?:tree|viewer).*)?/?$")
_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs"}


def plain(source: str) -> str:
    """`source`; a `file://` URL becomes the path that it names."""
    prefix = next((prefix for prefix in _LOCAL if source.startswith(prefix)), "")
    return source.removeprefix(prefix)


def is_url(source: str) -> bool:
    """Whether `source` lies on another file system than this machine's: `s3://…`, `gs://…`, `memory://…`, `https://…`."""
    return "://" in plain(source)


def is_pattern(source: str) -> bool:
    """Whether `source` names files by a pattern such as `run/*.jsonl`, and no file has exactly this name."""
    if is_url(source):
        return _URL_MAGIC.search(source) is not None
    return _MAGIC.search(source) is not None and not os.path.exists(plain(source))


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file.

    Attributes:
        source: its path, or its URL.
    """

    source: str

    @property
    def name(self) -> str:
        """The last part of its path."""
        return posixpath.basename(self.source.rstrip("/")) if is_url(self.source) else Path(self.source).name

    def open(self) -> BinaryIO:
        """Open the file to read it, from any position.

        Raises:
            ConfigError: it cannot be read.
        """
        # fsspec's own readline is slow: it searches one block after another in Python
        return io.BufferedReader(self.raw(), _BUFFER_BYTES)

    def raw(self) -> io.RawIOBase:
        """Open the file to read it, without a buffer of this package.

        Raises:
            ConfigError: it cannot be read.
        """
        with _found(self.source) as (system, path):
            return cast("io.RawIOBase", system.open(path, "rb")) if system else open(path, "rb", buffering=0)

    def size(self) -> int:
        """The file's size in bytes.

        Raises:
            ConfigError: there is no such file, or its file system does not tell the size.
        """
        with _found(self.source) as (system, path):
            return int(system.size(path)) if system else Path(path).stat().st_size

    def exists(self) -> bool:
        """Whether the file exists.

        Raises:
            ConfigError: its file system cannot be asked.
        """
        with _found(self.source) as (system, path):
            return bool(system.isfile(path)) if system else Path(path).is_file()

    def put(self, path: Path) -> None:
        """Replace the file by the local file `path`: other readers see the whole file or nothing.

        Raises:
            ConfigError: it cannot be written.
        """
        with told(f"cannot write {self.source!r}"):
            system, target = file_system(self.source)
            system.put_file(str(path), target)

    def get(self, path: Path) -> None:
        """Copy the file to the local file `path`.

        Raises:
            ConfigError: it cannot be read.
        """
        with _found(self.source) as (system, target):
            system.get_file(target, str(path))


@contextmanager
def _found(source: str) -> Iterator[tuple[Any, str]]:
    """The file system of a URL and the path in it, for reading; a path on this machine with None."""
    with told(f"cannot read {source!r}"):
        yield file_system(source) if is_url(source) else (None, source)


def put_in_place(whole: Path, path: Path) -> None:
    """Replace the file `path` by `whole`, of the same folder: after a power failure, too, there is the old file or the
    new one, and the new one is whole.

    Raises:
        OSError: the disk refuses the file's contents, or the folder its name.
    """
    # A rename may reach the disk before what the file holds: without this an empty file could bear the name
    with open(whole, "rb+") as stream:
        os.fsync(stream.fileno())
    os.replace(whole, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    except OSError as exc:
        # some file systems know no such thing for folders, and keep names in order by themselves
        if exc.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):
            raise
    finally:
        os.close(folder)


def write_whole(path: Path, text: str) -> None:
    """Write `text` into the file `path`, or leave nothing new where the disk refuses it.

    Raises:
        OSError: the file cannot be written; a file that was there before is as it was.
    """
    aside = path.with_name(f"{path.name}.partial")
    try:
        aside.write_text(text, encoding="utf-8")
        put_in_place(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def file_system(url: str) -> tuple[Any, str]:
    """fsspec's file system for `url`, and the path in it.

    Raises:
        ConfigError: fsspec, or the package that it needs for this kind of URL, is not installed; or fsspec knows no
            such kind.
    """
    if (page := _HUB_PAGE.match(url)) is not None:
        raise ConfigError(f"{url!r} is a page: its rows are 'hf://datasets/{page[1]}/**/*.parquet'")
    scheme = url.partition("://")[0].rpartition("::")[2].lower()
    if scheme == "hf" and not url.partition("://")[2].startswith(("datasets/", "buckets/")):
        way_out = f"hf://datasets/{url.partition('://')[2]}"
        raise ConfigError(f"{url!r} names a model: write {way_out!r} for the rows of a data set")
    extra = _EXTRAS.get(scheme, "remote")
    with importing(f"{url!r} needs the extra {extra!r}", extra):
        from fsspec.core import url_to_fs
    try:
        system, path = url_to_fs(url)
    except ImportError as exc:
        way = install(_EXTRAS[scheme]) if scheme in _EXTRAS else f"install what fsspec asks for: {exc}"
        raise ConfigError(f"{url!r} is of another file system: {way}") from exc
    except ValueError as exc:
        raise ConfigError(f"{url!r}: {exc}; a URL reads s3://…, gs://…, https://… or file://…") from exc
    return system, str(path)


def is_folder(source: str) -> bool:
    """Whether `source` is a folder.

    Raises:
        ConfigError: its file system cannot be asked.
    """
    with _found(source) as (system, path):
        return bool(system.isdir(path)) if system else Path(path).is_dir()


def inside(folder: str, suffixes: Sequence[str], *, deep: bool = False) -> list[StoredFile]:
    """The files of a folder that end in one of `suffixes`, in the order of the numbers in their names.

    Args:
        deep: whether to include the files of its folders.

    Raises:
        ConfigError: the folder cannot be read.
    """
    with _found(folder) as (system, path):
        if system:
            listed = system.find(path, detail=True).values() if deep else system.ls(path, detail=True)
            entries = [row["name"] for row in listed if row["type"] == "file"]
            names = [system.unstrip_protocol(entry) for entry in entries]
        else:
            found = Path(folder).rglob("*") if deep else Path(folder).iterdir()
            # a link whose file is gone is a file that cannot be read: passed over, its rows would be missed by nobody
            names = [str(path) for path in found if path.is_file() or (path.is_symlink() and not path.exists())]
    return [StoredFile(name) for name in sorted(names, key=natural) if name.endswith(tuple(suffixes))]


def matching(pattern: str) -> list[StoredFile]:
    """The files that a glob pattern names, `**` for folders in folders, in the order of the numbers in their names.

    Raises:
        ConfigError: the file system cannot be asked.
    """
    with _found(pattern) as (system, path):
        if system:
            names = [system.unstrip_protocol(name) for name in system.glob(path) if system.isfile(name)]
        else:
            names = [name for name in glob.glob(pattern, recursive=True) if Path(name).is_file()]
    return [StoredFile(name) for name in sorted(names, key=natural)]


def natural(name: str) -> tuple[object, ...]:
    """A sort key by which 10.jsonl comes after 9.jsonl."""
    parts = re.split(r"(\d+)", name)
    return tuple(int(part) if place % 2 else part for place, part in enumerate(parts))


PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
GZIP = ".gz"
TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_OTHER_PACKINGS = (".zst", ".bz2", ".xz", ".lz4", ".zip", ".br")


def is_gzip(name: str) -> bool:
    """Whether a file is packed by gzip, by its suffix.

    Raises:
        ConfigError: its suffix is of another packing, which is neither read nor written.
    """
    if name.lower().endswith(_OTHER_PACKINGS):
        raise ConfigError(f"{name!r}: lines are packed by gzip or not at all: name it .jsonl.gz, or .jsonl")
    return name.lower().endswith(GZIP)


def is_table(name: str) -> bool:
    """Whether a file is a table of text cells, by its suffix."""
    return name.lower().endswith(TABLES)


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
        kind = "Parquet" if name.lower().endswith(PARQUET) else "Arrow" if is_columnar(name) else "packed by zstd"
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
        with file.open() as stream:
            start = stream.read(_SHOWN_BYTES)
        if not start.startswith(b"PAR1"):
            raise ConfigError(f"{file.source!r} is not a parquet file, it begins {start.decode(errors='replace')!r}")
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
