"""The root of `astuner`: its global options, and the list of its commands, which are imported when they are run."""

from __future__ import annotations

import gc
import logging
import shutil
from importlib import import_module
from typing import Annotated, Any, Literal, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

from agentscope_tuner._version import __version__


class ListedCommand(NamedTuple):
    """One command, or a group of commands.

    Attributes:
        name: as it is typed.
        home: `package.module:attribute` below `agentscope_tuner`: a function, or a group's `typer.Typer`.
        summary: its line in the list of commands: the first paragraph of its own help.
    """

    name: str
    home: str
    summary: str

    def load(self) -> Any:
        """The function, or the group, from its module."""
        module, attribute = self.home.split(":")
        return getattr(import_module(f"agentscope_tuner.{module}"), attribute)


#: What each command does, in the order of the list: the first paragraph of its own help.
_SUMMARIES = {
    "demo": "Judge the rollouts that ship with the package: right, wrong, filtered and failed ones, each with "
    "its reason.",
    "init": "Write a commented configuration, rows to judge and a test, and say what to run next. No file is "
    "written over.",
    "judge": "Judge a file of rollouts. Exit code 3 when any row failed: it then has no reward, which is not a "
    "reward of 0.",
    "rollout": "Run the workflow on each task several times, and judge every rollout.",
    "migrate": "Write AgentJet's YAML with the judge under `astuner.task_judge`, and say what has no equivalent here.",
    "config": "Print the resolved configuration, secrets masked; of a judge that asks others, first the tree as a "
    "comment.",
    "check": "Load the judge and judge nothing: exit code 0 when a training run could use it, 2 with every "
    "problem when not.",
    "explain": "Judge the row --id of --input by --conf and show how: rules, stages, each part, what was skipped, "
    "what it cost.",
    "serve": "Serve judges over HTTP: POST /reward, OpenRLHF's and NeMo-Gym's wires, /metrics, /docs.",
    "audit": "Attack the judge on your own tasks: what wrong answers pass, what right ones fail, what a policy "
    "would learn.",
    "doctor": "Why is my reward 0, or without spread? The likeliest cause first, with rows and the line to write.",
    "agree": "How well verdicts agree with labels, with 95 % intervals. Rows without a verdict are counted "
    "apart, not as 0.",
    "compare": "Which verdicts changed from A to B, in which direction, and what it changes in a trainer's advantages.",
    "judge-eval": "Measure an LLM judge on labelled answers, the verdict cache off. Exit code 3 when half of the "
    "verdicts failed.",
    "view": "Look at rollouts and verdicts in the browser, live while a run writes them. Ends with Ctrl-C.",
    "report": "Write the page of `astuner view` as one file that opens from disk and can be mailed.",
    "watch": "Look at every step of a run: groups without a signal, drift, failures; and whether the run is "
    "being gamed.",
    "rules": "Filter a result table by rules, and see what fires.",
    "env": "Serve environments that judge themselves.",
    "rubrics": "Rubrics learned from labelled samples.",
    "llm": "A small model on this machine, for trying graders without a key.",
    "cache": "Replies of judge models, kept on disk and shared by processes.",
}
#: A call of each command, at the end of its help.
_EXAMPLES = {
    "demo": "demo",
    "init": "init math mine --from rows.jsonl",
    "judge": "judge --conf train.yaml --input rows.jsonl --output scored.jsonl",
    "rollout": "rollout --conf train.yaml --output rollouts.jsonl",
    "migrate": "migrate ajet.yaml --output migrated.yaml",
    "doctor": "doctor runs/1",
    "config": "config --conf train.yaml astuner.task_judge.on_error=zero",
    "check": "check --conf train.yaml --input rows.jsonl",
    "explain": "explain --reference 3/2 --answer 1.5",
    "serve": "serve --conf train.yaml --port 8000",
    "audit": "audit --conf train.yaml --input rows.jsonl",
    "agree": "agree --input scored.jsonl",
    "compare": "compare scored-a.jsonl scored-b.jsonl",
    "judge-eval": "judge-eval --conf train.yaml --labels labelled.jsonl",
    "view": "view scored.jsonl",
    "report": "report scored.jsonl --output report.html",
    "watch": "watch runs/1",
    "rules": "rules try --rule '{kind: max_chars, max_chars: 9}' --text 'a long text'",
    "env": "env serve --port 8000",
    "rubrics": "rubrics learn --conf train.yaml",
    "llm": "llm serve",
    "cache": "cache stats",
}
_LAB = {"demo", "rollout", "audit", "doctor", "agree", "compare", "watch", "view"}
_GROUPS = {"rules", "env", "rubrics", "llm", "cache"}
# Commands whose module has another name
_HOMES = {
    "config": "cli.options:show",
    "judge-eval": "lab.commands.judge_eval:judge_eval",
    "report": "lab.commands.view:report",
}


def _home(name: str) -> str:
    if name in _LAB:
        return f"lab.commands.{name}:{name}"
    return _HOMES.get(name) or f"cli.{name}:{'app' if name in _GROUPS else name}"


COMMANDS = tuple(ListedCommand(name, _home(name), summary) for name, summary in _SUMMARIES.items())


_LEAST_COLUMNS = 100
# rich's boxes cut words that are longer than their column, so a narrow window gets plain, wrapped text
_MARKUP: Literal["rich"] | None = "rich" if shutil.get_terminal_size().columns >= _LEAST_COLUMNS else None
_BY_NAME = {command.name: command for command in COMMANDS}


class _Root(TyperGroup):
    """Knows the commands by their names and summaries, and imports the one that is run."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list in a narrow window, where click would cut the summaries."""
        with formatter.section("Commands"):
            formatter.write_dl([(command.name, command.summary) for command in COMMANDS])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command to run, for the arguments."""
        from agentscope_tuner.cli.console import print_errors_as_json

        name, listed, rest = super().resolve_command(ctx, args)
        print_errors_as_json("--json" in rest)
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
    example = f"Example: astuner {_EXAMPLES[command.name]}"
    if isinstance(found, typer.Typer):
        found.rich_markup_mode = _MARKUP
        group.add_typer(found, name=command.name, epilog=example)
    else:
        group.command(command.name, epilog=example)(found)
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
