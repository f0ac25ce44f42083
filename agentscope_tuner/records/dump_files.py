"""What trainers leave behind: one file or a folder of files, JSONL, Parquet, or torch's."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from agentscope_tuner.errors import ConfigError, install
from agentscope_tuner.records.reader import Line, read_lines

_SUFFIXES = (".jsonl", ".json", ".jsonl.gz", ".parquet", ".pt")
_BATCH_ROWS = 1024


def is_dump(source: str) -> bool:
    """Whether `source` is no plain file of lines: a folder, or a file that has to be unpacked."""
    return source != "-" and (Path(source).is_dir() or source.endswith(_SUFFIXES[2:]))


def dump_lines(source: str) -> Iterator[Line]:
    """The rows of a file, or of a folder's files in the order of the numbers in their names.

    TRL's `completions/completions_00001.parquet`, verl's `<rollout_data_dir>/1.jsonl`, slime's `<path>/0.pt`.

    Raises:
        ConfigError: there is no such file, the folder holds none of them, or a package to read them is missing; before
            the first row is read.
    """
    path = Path(source)
    if not path.is_dir():
        return _lines(path, path.name)
    files = [file for file in sorted(path.iterdir(), key=natural) if file.name.endswith(_SUFFIXES) and file.is_file()]
    if not files:
        raise ConfigError(f"{source!r} holds no file that ends in {', '.join(_SUFFIXES)}")
    # a place without a colon, whole, names a row: the same line number stands in every file
    return (line._replace(where=line.where.replace(":", "/")) for file in files for line in _lines(file, file.name))


def natural(path: Path) -> tuple[object, ...]:
    """A key to sort by: 10.jsonl comes after 9.jsonl."""
    parts = re.split(r"(\d+)", path.name)
    return tuple(int(part) if place % 2 else part for place, part in enumerate(parts))


def _lines(path: Path, name: str) -> Iterator[Line]:
    try:
        if path.suffix == ".parquet":
            rows = _parquet_rows(path)
        elif path.suffix == ".pt":
            rows = _torch_rows(path)
        else:
            return _text_lines(path, name)
        # the first row is read here: a file that cannot be read is an error of the command line
        first = list(islice(rows, 1))
    except (OSError, ValueError) as exc:
        raise ConfigError(f"cannot read {str(path)!r}: {exc}") from exc
    return _numbered(first, rows, name)


def _numbered(first: list[dict[str, Any]], rows: Iterator[dict[str, Any]], name: str) -> Iterator[Line]:
    number = 0
    for part in (first, rows):
        for row in part:
            number += 1
            yield Line(f"{name}:{number}", json.dumps(row, default=str).encode())


def _text_lines(path: Path, name: str) -> Iterator[Line]:
    with gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb") as stream:
        yield from read_lines(cast("BinaryIO", stream), name)


def _parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        from pyarrow import parquet
    except ImportError as exc:
        raise ConfigError(f"{path.name!r} is Parquet: {install('parquet')}") from exc
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_BATCH_ROWS):
            yield from batch.to_pylist()


def _torch_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The samples that slime and miles save by `--save-debug-rollout-data`."""
    try:
        import torch
    except ImportError as exc:
        raise ConfigError(f"{path.name!r} is written by torch.save: install torch to read it") from exc
    # weights_only: a pickle may run code
    data = torch.load(path, weights_only=True, map_location="cpu")
    samples = data.get("samples") if isinstance(data, dict) else None
    if not isinstance(samples, list):
        raise ValueError("it holds no list of samples")
    return ({"step": data.get("rollout_id"), **sample} for sample in samples)
