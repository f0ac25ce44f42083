"""What commands share: their options, `astuner config`, and how they open rows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from omegaconf import OmegaConf

from agentscope_tuner.cli.console import config_errors, printable
from agentscope_tuner.cli.rendering import judge_tree
from agentscope_tuner.config import masked, resolve
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.blocks import Block, gathered, read_blocks, read_lines
from agentscope_tuner.records.files import dump_lines, is_dump
from agentscope_tuner.records.formats import FORMATS, as_rollouts, references_of
from agentscope_tuner.records.reader import Line
from agentscope_tuner.storage import plain

_FORMAT = f"Rows as a trainer has or dumps them: {', '.join(FORMATS)}; auto looks at the first row."
_MAP = (
    "Where a column of the rows goes, such as prompt=task.main_query, answer=task.metadata.answer or, of a dump, "
    "accuracy=judgement.reward. May be given several times, also with --format."
)

Conf = Annotated[str, typer.Option("--conf", help="The training YAML.", metavar="FILE")]
Overrides = Annotated[list[str] | None, typer.Argument(help="Overrides.", metavar="[KEY=VALUE]...")]
Format = Annotated[str | None, typer.Option("--format", help=_FORMAT)]
Map = Annotated[list[str] | None, typer.Option("--map", help=_MAP, metavar="COLUMN=PATH")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)]


def show(conf: Conf, overrides: Overrides = None) -> None:
    """Print the resolved configuration, secrets masked; of a judge that asks others, first the tree as a comment."""
    with config_errors():
        settings = resolve(conf, overrides or ())
        plain = masked(settings.whole, settings.environment)
    tree = judge_tree(settings.task_judge)
    if len(tree) > 1:
        print("".join(f"# {printable(line)}\n" for line in tree), end="")
    print(OmegaConf.to_yaml(OmegaConf.create(plain)), end="")


_TABLES = (".csv", ".tsv", ".xlsx", ".xls")
#: Draws a progress bar over a file's bytes while its parts, lines or blocks, are read.
Watched = Callable[[Iterator[Any], BinaryIO], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class Source:
    """Rows to be read once, by lines or by blocks.

    Attributes:
        name: their name in messages.
        lines: gives the rows one by one.
        blocks: gives the rows in unparsed blocks, as engines take them.
    """

    name: str
    lines: Callable[[], Iterator[Line]]
    blocks: Callable[[], Iterator[Block]]


@contextmanager
def opened_source(source: str, *, watched: Watched = lambda parts, _: parts) -> Iterator[Source]:
    """The rows of `source`; several files are read one after the other.

    Args:
        source: a file of lines, Parquet or Arrow, a folder or a pattern of them, by path or URL; `-`: standard input.
        watched: draws a progress bar over a file's bytes while it is read.

    Raises:
        ConfigError: it cannot be read.
    """
    if is_dump(source):
        dumped = dump_lines(source)
        yield Source(Path(source).name, lambda: dumped, lambda: gathered(dumped))
        return
    if source.lower().endswith(_TABLES):
        raise ConfigError(
            f"{source!r} is a table, and rows are read from JSON lines, Parquet or Arrow: "
            "pandas.read_csv(…).to_json('rows.jsonl', orient='records', lines=True) makes them"
        )
    path = plain(source)
    name = "<stdin>" if path == "-" else Path(path).name
    try:
        opened = nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb")  # noqa: SIM115 - closed below
    except OSError as exc:
        raise ConfigError(f"cannot read {path!r}: {exc}") from exc
    with opened as stream:
        yield Source(
            name,
            lambda: watched(read_lines(stream, name), stream),
            lambda: watched(read_blocks(stream, name), stream),
        )


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
