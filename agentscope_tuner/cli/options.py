"""Shared by the commands: their options, `astuner config`, how they open rows, and the sockets that they listen on."""

from __future__ import annotations

import difflib
import errno
import io
import ipaddress
import json
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from omegaconf import OmegaConf

from agentscope_tuner.cli.console import config_errors, fail, printable
from agentscope_tuner.cli.rendering import judge_tree
from agentscope_tuner.config import SECTION, Settings, masked, resolve
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.blocks import Block, gathered, read_blocks
from agentscope_tuner.records.files import dump_lines, is_dump, is_row_file
from agentscope_tuner.records.formats import AUTO, FORMATS, Conversion, references_of
from agentscope_tuner.records.formats.sample import ColumnMap
from agentscope_tuner.records.reader import SIGNATURE_BYTES, Line, what_else
from agentscope_tuner.storage import is_pattern, is_url, plain
from agentscope_tuner.task_judge.contract.columns import Reads

_FORMAT = f"A trainer's data set or dump: {', '.join(FORMATS)}; plain: other rows; auto: find out."
_MAP = "What a column holds, instead of `reads`: gold=answer, or a path, level=task.metadata.level. Repeatable."

Conf = Annotated[str, typer.Option("--conf", help="The training YAML.", metavar="FILE")]
Overrides = Annotated[list[str] | None, typer.Argument(help="Keys of the YAML to override.", metavar="[KEY=VALUE]...")]
Format = Annotated[str | None, typer.Option("--format", help=_FORMAT)]
Map = Annotated[list[str] | None, typer.Option("--map", help=_MAP, metavar="COLUMN=PATH")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Resume = Annotated[bool, typer.Option("--resume", help="Keep what an earlier run finished; repeat what failed.")]
Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)]


def show(conf: Conf, overrides: Overrides = None, as_json: Json = False) -> None:
    """Print the resolved configuration with secrets masked; a combined judge is first shown as a tree."""
    with config_errors():
        settings = resolve(conf, overrides or ())
        plain = masked(settings.whole, settings.environment)
    if as_json:
        # YAML has bytes, dates and .nan, which JSON has not: they are shown as texts
        print(json.dumps(json.loads(json.dumps(plain, default=str), parse_constant=str)))
        return
    tree = judge_tree(settings.task_judge)
    if len(tree) > 1:
        print("".join(f"# {printable(line)}\n" for line in tree), end="")
    print(OmegaConf.to_yaml(OmegaConf.create(plain)), end="")


# What is not read, and what reads it
_OTHERS = {
    (".xlsx", ".xls"): "save the sheet as CSV",
    (".zip", ".bz2", ".xz"): "unpack it first, or pack it as .jsonl.gz",
    (".csv.zst", ".tsv.zst", ".json.zst"): "of these .jsonl.zst is: unpack it, or pack JSON lines",
}
# The name of a data set on the hub has an owner and no ending
_HUB_NAME = re.compile(r"[\w-]+/[\w-]+")
#: Draws a progress bar over a file's bytes while its blocks are read.
Watched = Callable[[Iterator[Block], BinaryIO], Iterator[Block]]


@dataclass(frozen=True, slots=True)
class Source:
    """Rows to be read once, by lines or by blocks.

    Attributes:
        name: their name in messages.
        blocks: the rows in unparsed blocks, as engines take them.
    """

    name: str
    blocks: Iterator[Block]

    def lines(self) -> Iterator[Line]:
        """The rows one by one."""
        return chain.from_iterable(block.items() for block in self.blocks)


@contextmanager
def opened_source(source: str, *, watched: Watched = lambda parts, _: parts) -> Iterator[Source]:
    """The rows of `source`; several files are read one after the other.

    Args:
        source: a file of lines, Parquet or Arrow, a folder or a pattern of them, by path or URL; `-`: standard input.
        watched: draws a progress bar over a file's bytes while it is read.

    Raises:
        ConfigError: it cannot be read.
    """
    path = plain(source)
    if is_dump(source) and (is_url(path) or is_pattern(path) or Path(path).exists()):
        yield Source(Path(source).name, gathered(dump_lines(source)))
        return
    for endings, way_out in _OTHERS.items():
        if source.lower().endswith(endings):
            raise ConfigError(f"{source!r} is not read, but JSON lines, CSV, Parquet and Arrow are: {way_out}")
    name = "<stdin>" if path == "-" else Path(path).name
    if path == "-" and sys.stdin is None:
        raise ConfigError("standard input is closed: redirect a file to it, or name one")
    try:
        opened = nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb")  # noqa: SIM115 - closed below
    except FileNotFoundError as exc:
        raise ConfigError(f"there is no file {path!r}{_nearest(path)}") from exc
    except OSError as exc:
        raise ConfigError(f"cannot read {path!r}: {exc}") from exc
    with opened as stream:
        # peeked at, because a pipe is read once
        start = stream.peek(SIGNATURE_BYTES) if isinstance(stream, io.BufferedReader) else b""
        if path != "-" and (told := what_else(start[:SIGNATURE_BYTES])) is not None:
            raise ConfigError(f"{path!r} {told}")
        yield Source(name, watched(read_blocks(stream, name), stream))


def _nearest(path: str) -> str:
    """The advice for a file name that does not exist: what could be meant."""
    if (url := re.match(r"(\w{2,}):/+", path)) is not None:
        return f": a URL reads {url[1]}://…"
    if Path(path).is_symlink():
        return f": it is a link to {os.readlink(path)!r}, which is not there"
    if path.startswith("~"):
        return f": the shell has not replaced the ~: write {str(Path(path).expanduser())!r}"
    folder = Path(path).parent
    there: list[str] = []
    with suppress(OSError):
        there = sorted(entry.name for entry in folder.iterdir() if is_row_file(entry.name))
    near = difflib.get_close_matches(Path(path).name, there, n=1, cutoff=0.7) or there[:3]
    if not near:
        if folder.is_dir():
            return f", and no file of rows in {str(folder)!r}"
        hub = f"; to read it from the Hugging Face hub, write 'hf://datasets/{path}/**/*.parquet'"
        hub = hub if _HUB_NAME.fullmatch(path) else ""
        return f", and no folder {str(folder)!r}{hub}"
    return f": did you mean {' or '.join(repr(str(folder / name)) for name in near)}?"


@contextmanager
def source_lines(source: str) -> Iterator[tuple[Iterator[Line], str]]:
    """The lines of `opened_source`, and its name in messages.

    Raises:
        ConfigError: it cannot be read.
    """
    with opened_source(source) as rows:
        yield rows.lines(), rows.name


def rollout_lines(lines: Iterator[Line], format_: str | None, pairs: Sequence[str] | None) -> Iterator[Line]:
    """`lines` with a rollout in each, by `--format` and `--map`, for commands without a configuration.

    Raises:
        ConfigError: as `Conversion`.
    """
    return Conversion(format_, pairs or ()).all(lines) if format_ or pairs else lines


def mapped(conf: str, overrides: Sequence[str] | None, pairs: Sequence[str] | None) -> Settings:
    """The configuration, in which `--map` takes the place of the columns that it names.

    Raises:
        ConfigError: the configuration, or a pair of `--map`, is wrong.
    """
    named = (f"{SECTION}.reads.{role}=null" for role in sorted(ColumnMap(pairs or ()).roles))
    return resolve(conf, [*(overrides or ()), *named])


def conversion(
    settings: Settings,
    format_: str | None,
    pairs: Sequence[str] | None,
    tasks: str | None = None,
    *,
    responses: bool = True,
) -> Conversion:
    """The object that turns rows into rollouts, for commands with a configuration: by its `reads`, `--format`, `--map`
    and `--tasks`.

    Raises:
        ConfigError: as `Conversion`.
    """
    references = None
    if tasks is not None:
        with source_lines(tasks) as (rows, _):
            references = references_of(rows)
    reads = Reads(settings.task_judge.reads)
    return Conversion(format_ or AUTO, pairs or (), references, reads=reads, responses=responses)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        # A name such as 127.evil.example begins like an address of this machine
        return host == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; if it cannot be opened, the command ends with exit code 2."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # the protocol by name: asyncio sends small packets at once (TCP_NODELAY) only on such sockets, and without that a
    # keep-alive connection waits 40 ms for an acknowledgement at every answer
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as exc:
        listener.close()
        taken = ": another program listens there; name another --port" if exc.errno == errno.EADDRINUSE else f": {exc}"
        raise fail(f"cannot listen on {host}:{port}{taken}") from exc
    return listener


def address(host: str, listener: socket.socket) -> str:
    """`http://host:port`, with the real port of a listener on port 0."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listener.getsockname()[1]}"
