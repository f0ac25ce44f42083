"""The terminal: where commands print, how their tables, progress and errors look, and with which exit code they end.

A signal may tell a command to end: Ctrl-C, or that of a batch system, a pod or a lost terminal.
All signals of `interrupts.ENDING` are Ctrl-C to every command: what is paid for is finished, or given up when the grace
is over, and it is written. A second signal gives it up at once, a third one ends the process. The exit code is 128 and
the signal's number.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from agentscope_tuner._run import interrupts
from agentscope_tuner.errors import ConfigError

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

#: Seconds that a command may take to finish what is under way. Kubernetes kills after 30, Slurm by default after 30.
GRACE_SECONDS = 25.0
_UNCAUGHT = 1


class Exit(IntEnum):
    """The exit codes of every command; 0 is the end of a command that did its work and found nothing to report."""

    #: What `--fail-on` or `--fail-over` asked about was found; `watch`: the run is being gamed; `doctor`: a cause.
    FOUND = 1
    #: Wrong options, configuration or input: nothing was done. `audit`: no right answer passes.
    BAD_USAGE = 2
    #: Some rows have no reward, or could not be checked; they are kept. `rubrics`, `judge-eval`: too few verdicts.
    ROWS_FAILED = 3
    #: `rubrics learn`: the rubrics are not proven on held-out samples.
    NOT_PROVEN = 4
    #: Ctrl-C; what was done is kept. After another signal it is 128 and the signal's number: see `ToldToEnd`.
    INTERRUPTED = 130


class ToldToEnd:
    """The signals that have told this process to end.

    Attributes:
        grace: seconds from the first signal to the end of waiting.
        number: the first signal's number; None before it.
    """

    def __init__(self) -> None:
        self.grace = GRACE_SECONDS
        self.number: int | None = None
        self._times = 0

    def told(self, number: int) -> None:
        """Note a signal; the third one ends the process."""
        self._times += 1
        if self._times > 2:
            os._exit(128 + number)
        if self.number is None:
            self.number = number
            timer = threading.Timer(self.grace, self._give_up)
            timer.daemon = True
            timer.start()

    def _give_up(self) -> None:
        if self._times < 2:
            # As if it came again: a signal, unlike a flag, ends the main thread's wait for a lock
            signal.pthread_kill(threading.main_thread().ident or 0, self.number or signal.SIGINT)

    def code(self, code: object) -> object:
        """The exit code of a command that ended with `code`: 128 and the signal's number if a signal ended it, else
        `code`.
        """
        if self.number is not None and code in (Exit.INTERRUPTED, _UNCAUGHT):
            return 128 + self.number
        return code


ending = ToldToEnd()


def _interrupt(number: int, frame: FrameType | None) -> None:
    ending.told(number)
    interrupts.come()


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Have these signals raise KeyboardInterrupt in the block, which runs a command; its exit code is the signal's.

    Where interrupts are held, it is raised later.
    """
    with interrupts.handled(_interrupt):
        try:
            yield
        except SystemExit as exc:
            exc.code = ending.code(exc.code)  # type: ignore[assignment]
            raise
        except KeyboardInterrupt:
            # It came before the command began, or after it ended
            raise SystemExit(ending.code(Exit.INTERRUPTED)) from None


_CELL_CHARS = 300

# no emoji codes: a quoted answer such as `:100:` is shown as it is
out = Console(emoji=False)
err = Console(stderr=True, emoji=False)


class _Errors:
    """How errors are printed: as JSON for a command that was given --json."""

    as_json = False


def print_errors_as_json(asked: bool) -> None:
    """Say, before a command runs, whether it was given --json."""
    _Errors.as_json = asked


def printable(text: str) -> str:
    """`text` with control characters escaped: messages quote answers, and an answer is hostile text."""
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in text)


def say(text: str, *, to: Console = out) -> None:
    """Print `text` as it is: no markup, and no line breaks of rich's own."""
    to.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def fail(message: str, *, code: Exit = Exit.BAD_USAGE) -> typer.Exit:
    """Print `message` as an error, of a command with --json as JSON; returns the exit for the caller to raise."""
    if _Errors.as_json:
        print(json.dumps({"error": message, "exit_code": int(code)}))
        return typer.Exit(code)
    # Text: messages quote configurations and answers, whose brackets are not markup
    err.print(Text.assemble(("error: ", "bold red"), printable(message)), soft_wrap=True)
    return typer.Exit(code)


def table(title: str, *headings: str) -> Table:
    """A table under `title`, to be filled with `add_row`; without headings, of names and their values.

    In a narrow window its words are broken, where rich would cut them.
    """
    made = Table(title=escape(title) or None, title_justify="left", show_header=bool(headings))
    for heading in headings or ("name", "value"):
        bold = "bold" if not headings and heading == "name" else None
        made.add_column(heading, overflow="fold", style=bold)
    return made


def cell(text: str) -> str:
    """Foreign text for a table, of 300 characters at most."""
    # Escape twice: rich reads brackets as markup, and a terminal obeys control characters
    return escape(printable(text if len(text) <= _CELL_CHARS else f"{text[:_CELL_CHARS]}…"))


def counted(number: int, noun: str) -> str:
    """`1 rule`, `3 rules`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def number(value: float | None) -> str:
    """A number with three decimals; a dash where it is undefined."""
    return "–" if value is None else f"{value:.3f}"


def span(interval: Sequence[float] | None) -> str:
    """The two ends of an interval; a dash where it is undefined."""
    return "–" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"


def measure(found: Mapping[str, Any]) -> str:
    """A measure with its `value` and, where one is known, its `interval`."""
    return number(found["value"]) + (f" ({span(found['interval'])})" if found["interval"] else "")


def progress(*columns: ProgressColumn) -> Progress:
    """A progress bar on standard error, on a terminal only, which leaves nothing behind.

    Args:
        columns: further columns, between the bar and the time.
    """
    # Imported late: most commands end before they need one
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    shown = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), *columns, TimeElapsedColumn()
    return Progress(*shown, console=err, transient=True, disable=not err.is_terminal)


@contextmanager
def config_errors() -> Iterator[None]:
    """A context in which a ConfigError ends the command, with its message and exit code 2."""
    try:
        yield
    except ConfigError as exc:
        raise fail(str(exc)) from exc
