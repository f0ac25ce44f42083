"""The terminal: where commands print, and how they end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agentscope_tuner.errors import ConfigError

EXIT_FOUND = 1
EXIT_BAD_USAGE = 2
EXIT_ROWS_FAILED = 3
EXIT_INTERRUPTED = 130

# no emoji codes: a quoted answer such as `:100:` is shown as it is
out = Console(emoji=False)
err = Console(stderr=True, emoji=False)


def printable(text: str) -> str:
    """`text` with control characters escaped: messages quote answers, and an answer is hostile text."""
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in text)


def fail(message: str) -> typer.Exit:
    """Print `message` as an error; returns an exit with code 2 for the caller to raise."""
    # Text: messages quote configurations and answers, whose brackets are not markup
    err.print(Text.assemble(("error: ", "bold red"), printable(message)), soft_wrap=True)
    return typer.Exit(EXIT_BAD_USAGE)


def folded(table: Table) -> Table:
    """`table`, set to break long words in a narrow window, where rich would cut them."""
    for column in table.columns:
        column.overflow = "fold"
    return table


@contextmanager
def config_errors() -> Iterator[None]:
    """A context in which a ConfigError ends the command, with its message and exit code 2."""
    try:
        yield
    except ConfigError as exc:
        raise fail(str(exc)) from exc


@contextmanager
def opened(source: str) -> Iterator[tuple[BinaryIO, str]]:
    """The file `source`, or standard input for `-`, and its name in messages.

    Raises:
        ConfigError: it cannot be read.
    """
    if source == "-":
        yield sys.stdin.buffer, "<stdin>"
        return
    try:
        stream = open(source, "rb")  # noqa: SIM115 - closed below; the with of an except would hide errors of its user
    except OSError as exc:
        raise ConfigError(f"cannot read {source!r}: {exc}") from exc
    with stream:
        yield stream, Path(source).name
