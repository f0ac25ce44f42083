"""Reads rows from everything but a local file of JSON lines: Parquet, Arrow, CSV, gzip, torch files, JSON lists,
folders and URLs.
"""

from __future__ import annotations

import gzip
import io
import json
import logging
import os
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from agentscope_tuner.bounds import json_or
from agentscope_tuner.errors import ConfigError, told
from agentscope_tuner.records.blocks import read_lines
from agentscope_tuner.records.columnar import columnar_lines, table_row
from agentscope_tuner.records.reader import BOM, SIGNATURE_BYTES, Line, what_else
from agentscope_tuner.rules.tables import CsvTable, open_table
from agentscope_tuner.storage import (
    ARROW,
    GZIP,
    PARQUET,
    TABLES,
    StoredFile,
    inside,
    is_columnar,
    is_folder,
    is_pattern,
    is_table,
    is_url,
    matching,
    plain,
    pyarrow_for,
)

_log = logging.getLogger(__name__)

_TEXT = (".jsonl", ".json")
_PACKED = (".jsonl.gz", ".jsonl.zst", ".pt", *TABLES, *PARQUET, *ARROW)
_SUFFIXES = _TEXT + _PACKED
# The files that `datasets.save_to_disk` writes into a folder: for one split, and for several splits
_SAVED, _SAVED_SPLITS = "state.json", "dataset_dict.json"
_SPLIT = re.compile(r"(?<![a-z])(train|test|validation|valid|val|dev|eval)(?![a-z])", re.IGNORECASE)

# Files beside the rows: those that `watch` and `view` write, and those that describe a Hugging Face data set
_BESIDE = re.compile(r"(?:.+\.)?(?:alarms|labels)\.jsonl|dataset_infos?\.json|state\.json|dataset_dict\.json")
# The beginning of a file shows whether it is one list: the first line of a file of lines is hardly longer
_START_BYTES = 65_536
_LOGGED = re.compile(r"judged-.+\.jsonl")


def is_beside(name: str) -> bool:
    """Whether the file `name` holds no rows, but is written beside them, such as `alarms.jsonl` or `state.json`."""
    return _BESIDE.fullmatch(name) is not None


def is_row_file(name: str) -> bool:
    """Whether a file in a run's folder holds rows, by its name: `rollouts.jsonl` does, `alarms.jsonl` does not."""
    return name.endswith(_SUFFIXES) and not is_beside(name)


def is_cut_short(raw: bytes) -> bool:
    """Whether a file's last line is no whole JSON, so that a crash has cut it short: `{"id": 1, "ta`."""
    return json_or(raw, raw) is raw


def is_dump(source: str) -> bool:
    """Whether `source` has to be read by `dump_lines`: it is a URL, a folder, a pattern, packed, a table or one list.

    False for a plain file of JSON lines on this machine, and for `-`, the standard input.
    """
    if (source := plain(source)) == "-":
        return False
    packed = is_url(source) or source.lower().endswith(_PACKED) or Path(source).is_dir() or is_pattern(source)
    return packed or (source.endswith(".json") and _is_list(StoredFile(source)))


def _is_list(file: StoredFile) -> bool:
    """Whether the file is one JSON list of all rows, and not a line of JSON for each row."""
    try:
        with file.open() as stream:
            start = stream.read(_START_BYTES).removeprefix(BOM).lstrip()
    except ConfigError:
        return False  # whoever reads it says why it cannot be read
    # a list on each line, or one for all rows: then its first entry is on a line of its own, or the file has one line
    return start.startswith(b"[") and not _is_line(start)


def _is_line(start: bytes) -> bool:
    """Whether a file that begins with `[` is a file of lines, the first of which is a list: `[1]\\n[2]`."""
    first, ended, rest = start.partition(b"\n")
    return bool(ended and rest.strip()) and first.rstrip().endswith(b"]")


def dump_lines(source: str) -> Iterator[Line]:
    """The rows of a file of any known format, or of several files in the order of the numbers in their names.

    Args:
        source: a file, a folder, a pattern or a URL, such as `s3://bucket/run/*.jsonl`. Trainers write such as TRL's
            `completions/completions_00001.parquet`, verl's `<rollout_data_dir>/1.jsonl`, slime's `<path>/0.pt`. A
            folder may be a Hugging Face data set, as `save_to_disk` writes it, or hold the files of a single split.

    Yields:
        The rows, unparsed. At the point at which a file breaks off, there is a line with this problem; other files are
        still read.

    Raises:
        ConfigError: there is no such file, the folder holds no such file, or a package to read them is missing; raised
            before the first row is read.
    """
    source = plain(source)
    if is_pattern(source):
        if not (files := matching(source)):
            raise ConfigError(f"no file matches {source!r}")
    elif is_folder(source):
        files = _folder_files(source)
    else:
        file = StoredFile(source)
        return _lines(file, file.name)
    names = _names(files)
    # Line numbers repeat in every file, so the place of a row (without a colon) includes its file
    return (
        line._replace(where=line.where.replace(":", "/"))
        for file, name in zip(files, names, strict=True)
        for line in _lines(file, name)
    )


def _folder_files(folder: str) -> list[StoredFile]:
    """The files of rows in `folder`: those of a saved data set, else those directly in it, else those below it.

    Raises:
        ConfigError: there are no such files, or they belong to several splits.
    """
    folder = folder.rstrip("/")
    if (splits := StoredFile(f"{folder}/{_SAVED_SPLITS}")).exists():
        names = _json(splits).get("splits", [])
        if len(names) == 1:
            return _folder_files(f"{folder}/{names[0]}")
        one = f"{folder}/{names[0]}"
        raise ConfigError(f"{folder!r} holds the splits {', '.join(names)}: name one, such as {one!r}")
    if (saved := StoredFile(f"{folder}/{_SAVED}")).exists():
        return [StoredFile(f"{folder}/{row['filename']}") for row in _json(saved).get("_data_files", [])]
    if files := [file for file in inside(folder, _SUFFIXES) if not is_beside(file.name)]:
        return files
    files = [file for file in inside(folder, _SUFFIXES, deep=True) if not is_beside(file.name)]
    if not files:
        raise ConfigError(f"{folder!r} holds no file that ends in {', '.join(_SUFFIXES)}")
    found = {match[1].lower() for file in files if (match := _SPLIT.search(file.source.removeprefix(folder)))}
    if len(found) > 1:
        example = next(file.source for file in files if _SPLIT.search(file.source.removeprefix(folder)))
        pattern = re.sub(r"\d+(-of-\d+)?(?=[^/]*$)", "*", example)
        raise ConfigError(f"{folder!r} has splits {', '.join(sorted(found))}: name those of one, such as {pattern!r}")
    return files


def _json(file: StoredFile) -> dict[str, Any]:
    with told(f"cannot read {file.source!r}", ValueError), file.open() as stream:
        found = json.load(stream)
    return found if isinstance(found, dict) else {}


def _names(files: Sequence[StoredFile]) -> list[str]:
    """The name of each file for messages; with the folders in which they differ if several have the same name."""
    names = [file.name for file in files]
    if len(set(names)) == len(names):
        return names
    parts = [file.source.split("/") for file in files]
    shared = 0
    while len({tuple(part[: shared + 1]) for part in parts}) == 1:
        shared += 1
    return ["/".join(part[shared:]) for part in parts]


def _lines(file: StoredFile, name: str) -> Iterator[Line]:
    if is_columnar(file.name):
        lines = columnar_lines(file, name)
    elif file.name.endswith(".pt"):
        lines = _torch_lines(file, name)
    elif is_table(file.name):
        lines = _table_lines(file, name)
    elif file.name.endswith(".json") and _is_list(file):
        lines = _list_lines(file, name)
    else:
        lines = _text_lines(file, name)
    # Read the first row here, so that a file that cannot be read is an error of the command line
    unpacked = f"cannot read {file.source!r}: its name ends in .gz, but it is not packed: name it otherwise"
    with told(f"cannot read {file.source!r}"), told(unpacked, gzip.BadGzipFile):
        first = list(islice(lines, 1))
    return (line for part in (first, _to_the_break(lines, name)) for line in part)


def _to_the_break(lines: Iterator[Line], name: str) -> Iterator[Line]:
    """The lines; if reading raises an error, such as at the end of a truncated file, then a line with this problem."""
    number = 1
    try:
        for line in lines:
            number = int(line.where.rpartition(":")[2])
            yield line
    # A truncated gzip file or a lost connection: each file system has its own errors
    except Exception as exc:  # noqa: BLE001
        why = f"the file cannot be read from here on: {exc or type(exc).__name__}"
        yield Line(f"{name}:{number + 1}", b"", why)


def _text_lines(file: StoredFile, name: str) -> Iterator[Line]:
    with file.open() as stored, _unpacked(stored, file.name) as stream:
        lines = read_lines(cast("BinaryIO", stream), name)
        yield from lines if _LOGGED.fullmatch(file.name) is None else _whole(lines, stored)


def _unpacked(stored: BinaryIO, name: str) -> Any:
    if name.endswith(".zst"):
        return io.BufferedReader(pyarrow_for(name).CompressedInputStream(stored, "zstd"))
    return gzip.open(stored) if name.endswith(".gz") else stored


# Words in the message about a malformed row, and the advice to add to it
_TABLE_WAYS = (
    ("in this encoding", "save the table as UTF-8, which spreadsheets call CSV UTF-8"),
    ("cells where", "a cell with a comma in it stands in quotes"),
)


# In a table with semicolons a spreadsheet may have written 3.5 as `3,5`, which reads as two numbers elsewhere
_COMMA_IN_NUMBER = re.compile(r"-?\d+,\d+")


def _comma_in_number(cells: Mapping[str, str]) -> str | None:
    found = next(((name, cell) for name, cell in cells.items() if _COMMA_IN_NUMBER.fullmatch(cell.strip())), None)
    if found is None:
        return None
    name, cell = found
    two = f"write {cell.replace(',', '.')!r}; for two, save with tabs"
    return f"the row's {name} {cell!r} may be one number or two: {two}"


def _check_text(file: StoredFile) -> None:
    if file.name.lower().endswith(GZIP):
        return
    with file.open() as stream:
        if (why := what_else(stream.read(SIGNATURE_BYTES))) is not None:
            raise ConfigError(f"{file.source!r} {why}")


def _table_lines(file: StoredFile, name: str) -> Iterator[Line]:
    """The rows of a CSV or TSV file with a header, each as a line of JSON; a malformed row has a problem."""
    if is_url(file.source):
        raise ConfigError(f"a table is read on this machine, got {file.source!r}: copy it here, or write it as Parquet")
    _check_text(file)
    with open_table(Path(file.source)) as table:
        # a space behind each comma is no part of a name
        columns = [column.strip() for column in table.columns or ()]
        if columns and columns[0].lstrip().startswith("{"):
            raise ConfigError(f"{file.source!r} begins {columns[0]!r:.80}: it holds JSON lines, so name it .jsonl")
        if twice := sorted({column for column in columns if columns.count(column) > 1}):
            raise ConfigError(f"{file.source!r} has two columns {twice[0]!r}: rename one")
        for row in table.rows():
            problem = None if row.problem is None else f"the row {row.problem}"
            # a row with a problem has no values
            cells = dict(zip(columns, row.values.values(), strict=False))
            if isinstance(table, CsvTable) and table.delimiter == ";":
                problem = problem or _comma_in_number(cells)
            problem = next((f"{problem}: {way}" for words, way in _TABLE_WAYS if problem and words in problem), problem)
            try:
                cells = table_row(cells)
            except ValueError as exc:
                problem = f"the row has a cell that is no JSON: {exc}"
            yield Line(f"{name}:{row.line}", json.dumps(cells).encode(), problem)


def _list_lines(file: StoredFile, name: str) -> Iterator[Line]:
    """The entries of a file that is one JSON list, each as a line of JSON; the file is read as a whole."""
    with file.open() as stream:
        rows = json.load(stream)
    for number, row in enumerate(rows, 1):
        yield Line(f"{name}:{number}", json.dumps(row).encode())


def _numpy_globals() -> list[Any]:
    """The classes and functions that torch has to be allowed to load for pickles of numpy's numbers and arrays."""
    import numpy

    # numpy 1 has a `_core`, too, which holds nothing until its modules are imported
    core = getattr(numpy, "core" if numpy.__version__.startswith("1.") else "_core")
    kinds = {type(numpy.dtype(kind)) for kind in (*"?bBhHiIlLqQefd", "U1")}
    return [core.multiarray.scalar, core.multiarray._reconstruct, numpy.ndarray, numpy.dtype, *kinds]


def _whole(lines: Iterator[Line], stream: BinaryIO) -> Iterator[Line]:
    """The lines of a training's log `stream`, without a last line that a crash has cut short."""
    held: Line | None = None
    for line in lines:
        if held is not None:
            yield held
        held = line
    if held is None:
        return
    stream.seek(-1, os.SEEK_END)
    if stream.read() == b"\n" or held.problem is not None or not is_cut_short(held.raw):
        yield held
    else:
        _log.warning("%s is passed over: it was cut short", held.where)


def _torch_lines(file: StoredFile, name: str) -> Iterator[Line]:
    """The samples in a `.pt` file of slime or miles (`--save-debug-rollout-data`), each as a line of JSON."""
    try:
        import torch
    except ImportError as exc:
        raise ConfigError(f"{file.name!r} is written by torch.save: install torch to read it") from exc
    # weights_only, because a pickle may run code. Samples may hold numpy's numbers and arrays, which run none
    try:
        with file.open() as stream, torch.serialization.safe_globals(_numpy_globals()):
            data = torch.load(stream, weights_only=True, map_location="cpu")
    except pickle.UnpicklingError as exc:
        why = next((line.strip() for line in str(exc).splitlines() if "Unsupported" in line), "torch refuses it")
        kind = why.partition(" was not")[0]
        raise ValueError(f"it holds objects that could run code as they are loaded: {kind}") from exc
    samples = data.get("samples") if isinstance(data, dict) else None
    if not isinstance(samples, list):
        raise ValueError("it holds no list of samples")
    for number, sample in enumerate(samples, 1):
        row = {"step": data.get("rollout_id"), **sample}
        yield Line(f"{name}:{number}", json.dumps(row, default=str).encode())
