"""The command's root: global options, and every command group mounted once."""

from __future__ import annotations

import gc
import logging
import shutil
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup
from typer.main import get_command

from agentscope_tuner._version import __version__
from agentscope_tuner.cli.commands import COMMANDS, ListedCommand

_LEAST_COLUMNS = 100
# rich's boxes cut words that are longer than their column, so a narrow window gets plain, wrapped text
_MARKUP: Literal["rich"] | None = "rich" if shutil.get_terminal_size().columns >= _LEAST_COLUMNS else None
_BY_NAME = {command.name: command for command in COMMANDS}


class _Root(TyperGroup):
    """Knows the commands by their names and summaries, and imports the one that is run."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command to run, for the arguments."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, _loaded(_BY_NAME[name]) if listed is not None and name in _BY_NAME else listed, rest


def _loaded(command: ListedCommand) -> Any:
    found = command.load()
    if not gc.isenabled():
        # Imported modules live until the exit: exempt them from garbage collection
        gc.freeze()
        gc.enable()
    # Put the command into a group: typer would give a single command the options of a root
    group = typer.Typer(add_completion=False, rich_markup_mode=_MARKUP)
    group.callback()(lambda: None)
    if isinstance(found, typer.Typer):
        found.rich_markup_mode = _MARKUP
        group.add_typer(found, name=command.name)
    else:
        group.command(command.name)(found)
    made: Any = get_command(group)
    return made.commands[command.name]


app = typer.Typer(
    name="astuner",
    cls=_Root,
    help="The reward layer for RL fine-tuning of LLM agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=_MARKUP,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what the judges log, at INFO.")] = False,
) -> None:
    # To import rich takes as long as typer: do not import it to print help
    from rich.logging import RichHandler

    from agentscope_tuner.cli.console import err

    level = logging.INFO if verbose else logging.WARNING
    if err.is_terminal:
        handler = RichHandler(console=err, show_path=False, markup=False)
        logging.basicConfig(level=level, format="%(message)s", handlers=[handler])
    else:
        # A log file has no width, so rich would break its lines at 80 characters
        logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(message)s")


def _listed() -> None:
    """Stands for a command in the list of them."""


for _command in COMMANDS:
    app.command(_command.name, help=_command.summary)(_listed)
