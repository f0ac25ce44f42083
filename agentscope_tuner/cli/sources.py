"""Opens the rows for commands: a file, standard input, or a trainer's dump."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

from agentscope_tuner.cli.console import opened
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.blocks import Block, gathered, read_blocks
from agentscope_tuner.records.dump_files import dump_lines, is_dump
from agentscope_tuner.records.formats import as_rollouts, references_of
from agentscope_tuner.records.reader import Line, read_lines
from agentscope_tuner.storage.stored_file import plain

In = TypeVar("In")
_TABLES = (".csv", ".tsv", ".xlsx", ".xls")


class Watched(Protocol):
    """Draws a progress bar over a file's bytes while its parts, lines or blocks, are read."""

    def __call__(self, parts: Iterator[In], stream: BinaryIO) -> Iterator[In]: ...


class Source(Protocol):
    """Rows to be read once, by lines or by blocks.

    Attributes:
        name: its name in messages.
    """

    name: str

    def lines(self) -> Iterator[Line]:
        """The rows one by one."""

    def blocks(self) -> Iterator[Block]:
        """The rows in unparsed blocks, as engines take them."""


class _Dump:
    """A trainer's dump; a folder's files are read one after another."""

    def __init__(self, source: str) -> None:
        self.name = Path(source).name
        self._lines = dump_lines(source)

    def lines(self) -> Iterator[Line]:
        """See Source."""
        return self._lines

    def blocks(self) -> Iterator[Block]:
        """See Source."""
        return gathered(self._lines)


class _Stream:
    """A JSONL file, or standard input."""

    def __init__(self, stream: BinaryIO, name: str, watched: Watched | None) -> None:
        self.name = name
        self._stream = stream
        self._watched = watched

    def lines(self) -> Iterator[Line]:
        """See Source."""
        return self._shown(read_lines(self._stream, self.name))

    def blocks(self) -> Iterator[Block]:
        """See Source."""
        return self._shown(read_blocks(self._stream, self.name))

    def _shown(self, parts: Iterator[In]) -> Iterator[In]:
        return self._watched(parts, self._stream) if self._watched else parts


@contextmanager
def opened_source(source: str, *, watched: Watched | None = None) -> Iterator[Source]:
    """The rows of `source`; several files are read one after the other.

    Args:
        source: a file of lines, Parquet or Arrow, a folder or a pattern of them, by path or URL; `-`: standard input.
        watched: draws a progress bar over a file's bytes while it is read.

    Raises:
        ConfigError: it cannot be read.
    """
    if is_dump(source):
        yield _Dump(source)
        return
    if source.lower().endswith(_TABLES):
        raise ConfigError(
            f"{source!r} is a table, and rows are read from JSON lines, Parquet or Arrow: "
            "pandas.read_csv(…).to_json('rows.jsonl', orient='records', lines=True) makes them"
        )
    with opened(plain(source)) as (stream, name):
        yield _Stream(stream, name, watched)


@contextmanager
def source_lines(source: str) -> Iterator[tuple[Iterator[Line], str]]:
    """The lines of `opened_source`, and its name in messages.

    Raises:
        ConfigError: it cannot be read.
    """
    with opened_source(source) as rows:
        yield rows.lines(), rows.name


def rollout_lines(
    lines: Iterator[Line], format_: str | None, pairs: Sequence[str] | None, tasks: str | None = None
) -> Iterator[Line]:
    """`lines` with a rollout in each, by `--format`, `--map` and `--tasks`.

    Raises:
        ConfigError: as `as_rollouts`.
    """
    if not (format_ or pairs):
        return lines
    references = None
    if tasks is not None:
        with source_lines(tasks) as (rows, _):
            references = references_of(rows)
    return as_rollouts(lines, format_, pairs or (), references)
