"""Where commands read rows: a file, standard input, or what a trainer dumped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from agentscope_tuner.cli.console import opened
from agentscope_tuner.records.dump_files import dump_lines, is_dump
from agentscope_tuner.records.formats import as_rollouts, references_of
from agentscope_tuner.records.reader import Line, read_lines
from agentscope_tuner.storage.stored_file import plain

Watched = Callable[[Iterator[Line], BinaryIO], Iterator[Line]]


@contextmanager
def source_lines(source: str, *, watched: Watched | None = None) -> Iterator[tuple[Iterator[Line], str]]:
    """The lines of `source` and its name in messages; several files are read one after the other.

    Args:
        source: a file of lines, Parquet or Arrow, a folder or a pattern of them, by path or URL; `-`: standard input.
        watched: draws a progress bar over a file's bytes while its lines are read.

    Raises:
        ConfigError: it cannot be read.
    """
    if is_dump(source):
        yield dump_lines(source), Path(source).name
        return
    with opened(plain(source)) as (stream, name):
        lines = read_lines(stream, name)
        yield (watched(lines, stream) if watched else lines), name


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
