"""The root of `astuner`: its global options, and the list of its commands, which are imported when they are run."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
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
        panel: the heading under which it is listed.
        example: a call of it, which ends its help.
        summary: its line in the list of commands: the first paragraph of its own help.
    """

    name: str
    home: str
    panel: str
    example: str
    summary: str


_BEGIN, _JUDGE, _LOOK, _BESIDE = "Begin", "Judge", "Look at rewards", "Beside the judges"
#: The commands in the order of their list. The lab's are named as text: no floor of the command line imports them.
_COMMANDS = (
    ("demo", "lab.view.command:demo", _BEGIN, "demo",
     "Judge the rollouts that ship with the package: right, wrong, filtered and failed ones, each with its reason."),
    ("init", "cli.init:init", _BEGIN, "init math mine --from rows.jsonl",
     "Write a configuration with example rows and a test; or, with --from, a configuration that reads your rows."),
    ("migrate", "cli.migrate:migrate", _BEGIN, "migrate ajet.yaml --output migrated.yaml",
     "Write a copy of an AgentJet YAML that uses astuner's judge, and list the settings that have no equivalent."),
    ("check", "cli.check:check", _JUDGE, "check --conf train.yaml --input rows.jsonl",
     "Load the judge and read the rows, without judging them. Exit code 0: training can use both."),
    ("judge", "cli.judge:judge", _JUDGE, "judge --conf train.yaml --input rows.jsonl --output scored.jsonl",
     "Judge a file of rollouts. A failed row has no reward, which is not a reward of 0; the exit code is then 3."),
    ("explain", "cli.explain:explain", _JUDGE, "explain --reference 3/2 --answer 1.5",
     "Explain one verdict: the rules, each stage, each part, skipped parts, and the cost."),
    ("config", "cli.options:show", _JUDGE, "config --conf train.yaml astuner.task_judge.on_error=zero",
     "Print the resolved configuration with secrets masked; a combined judge is first shown as a tree."),
    ("serve", "cli.serve:serve", _JUDGE, "serve --conf train.yaml --port 8000",
     "Serve judges over HTTP: /reward, the protocols of OpenRLHF, NeMo-Gym and slime, /metrics, /docs."),
    ("rollout", "lab.rollouts.command:rollout", _JUDGE, "rollout --conf train.yaml --output rollouts.jsonl",
     "Run your workflow several times on each task, and judge every rollout."),
    ("view", "lab.view.command:view", _LOOK, "view scored.jsonl",
     "Look at rollouts and verdicts in the browser, live while a run writes them. Ends with Ctrl-C."),
    ("report", "lab.view.command:report", _LOOK, "report scored.jsonl --output report.html",
     "Write the page of `astuner view` as one file, which opens from disk and can be mailed."),
    ("doctor", "lab.doctor:doctor", _LOOK, "doctor runs/1",
     "Why is my reward 0, or the same for all answers? The likeliest cause first, with rows and the fix."),
    ("audit", "lab.audit.command:audit", _LOOK, "audit --conf train.yaml --input rows.jsonl",
     "Attack the judge with wrong and right answers to your tasks, and show what a policy would learn from it."),
    ("agree", "lab.agree:agree", _LOOK, "agree --input scored.jsonl",
     "Measure how well verdicts agree with labels, with 95 % intervals. Rows without a verdict count separately."),
    ("compare", "lab.compare:compare_files", _LOOK, "compare scored-a.jsonl scored-b.jsonl",
     "Show which verdicts differ between A and B, and which GRPO advantages change."),
    ("judge-eval", "lab.judge_eval:judge_eval", _LOOK, "judge-eval --conf train.yaml --labels labelled.jsonl",
     "Measure an LLM judge on labelled answers, without the cache. Exit code 3: no verdict on half of the answers."),
    ("watch", "lab.watch.command:watch", _LOOK, "watch runs/1",
     "Watch a run step by step: groups with equal rewards, drift, failures, and whether the run is being gamed."),
    ("rules", "cli.rules:app", _BESIDE, "rules try --rule '{kind: max_chars, max_chars: 9}' --text 'a long text'",
     "Check a table of results by rules, and count what breaks them."),
    ("env", "cli.serve:env_app", _BESIDE, "env serve --port 8000",
     "Serve environments that score their own episodes."),
    ("rubrics", "cli.rubrics:app", _BESIDE, "rubrics learn --conf train.yaml",
     "Learn rubrics from labelled samples, show and measure them."),
    ("llm", "cli.serve:llm_app", _BESIDE, "llm serve",
     "Serve a small model on this machine, to try graders without an API key."),
    ("cache", "cli.cache:app", _BESIDE, "cache stats",
     "Show or delete the kept replies of judge models."),
)  # fmt: skip
COMMANDS = tuple(ListedCommand(*row) for row in _COMMANDS)
# Commands whose input is an argument. They also take it as `--input RUN`, as all other commands do
_TAKES_INPUT = ("view", "report", "doctor", "watch")
_TAKES_ARGUMENTS = (*_TAKES_INPUT, "compare", "migrate")
_EXIT_CODES = (
    "Exit codes: 0 done; 1 what --fail-on, --fail-over or doctor looks for was found; 2 wrong options, configuration "
    "or input; 3 some rows have no reward; 4 rubrics not proven; 130 interrupted."
)


_LEAST_COLUMNS = 100
# rich's boxes cut words that are longer than their column, so a narrow window gets plain, wrapped text
_MARKUP: Literal["rich"] | None = "rich" if shutil.get_terminal_size().columns >= _LEAST_COLUMNS else None
# what typer raises for a wrong option or command
_UsageError: type[Exception] = typer.BadParameter.__mro__[2]
_BY_NAME = {command.name: command for command in COMMANDS}


def _path(ctx: Any) -> list[str]:
    """The words that name the command of a context, without `astuner`: `["judge"]`, or `["rules",
    "run"]` in a group.
    """
    return [] if ctx is None or ctx.parent is None else [*_path(ctx.parent), str(ctx.info_name)]


# Arguments that take a scored file
_SCORED = ("run", "scored")


class _Root(TyperGroup):
    """Knows the commands by their names and summaries, and imports the one that is run."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list in a narrow window, where click would cut the summaries."""
        for panel in dict.fromkeys(command.panel for command in COMMANDS):
            with formatter.section(panel):
                formatter.write_dl([(command.name, command.summary) for command in COMMANDS if command.panel == panel])

    def main(self, args: Any = None, *more: Any, **options: Any) -> Any:
        """Run a command. A wrong option or argument is printed as any other error, for a command with
        --json as JSON.
        """
        given = sys.argv[1:] if args is None else list(args)
        try:
            code = super().main(given, *more, **{**options, "standalone_mode": False})
        except _UsageError as exc:
            if not given or type(exc).__name__ == "NoArgsIsHelpError":
                return super().main([*given, "--help"], *more, **options)
            code = self._fail(exc, given)
        except typer.Abort:
            code = 130
        sys.exit(code if isinstance(code, int) else 0)

    def _fail(self, exc: Any, given: Sequence[str]) -> int:
        from agentscope_tuner.cli.console import fail, print_errors_as_json

        print_errors_as_json("--json" in given)
        known = given[:1] if given and given[0] in _BY_NAME else []
        said = " ".join(exc.format_message().split()).replace(": Value error, ", ": ").rstrip(".")
        name = getattr(getattr(exc, "param", None), "opts", [""])[0]
        if name in given[:-1]:
            said += f", got {given[given.index(name) + 1]!r}"
        elif name in _SCORED and said.startswith("Missing argument"):
            said += f": the file that `astuner judge --output` wrote, as in `astuner {given[0]} scored.jsonl`"
        elif lone := _lone_file(given):
            option = "--conf" if lone.endswith((".yaml", ".yml")) else "--input"
            # of a command that takes files as arguments, something else is missing
            if option == "--conf" or given[0] not in _TAKES_ARGUMENTS:
                said += f"; {lone!r} stands alone: write {option} {lone}"
        elif not known and str(given[0]).startswith("-"):
            said += "; a command comes first, as in astuner check --conf FILE"
        elif not known:
            said += f": it has {', '.join(_BY_NAME)}"
        elif said.startswith("No such option") and not exc.possibilities:
            said += _options_hint(exc)
        command = " ".join(["astuner", *_path(exc.ctx)])
        return fail(f"{said}; `{command} --help` has the options").exit_code

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command to run, for the arguments."""
        from agentscope_tuner.cli.console import print_errors_as_json

        name, listed, rest = super().resolve_command(ctx, args)
        print_errors_as_json("--json" in rest)
        if name in _TAKES_INPUT:
            rest = [word.removeprefix("--input=") for word in rest if word != "--input"]
        command = _loaded(_BY_NAME[name]) if listed is not None and name in _BY_NAME else listed
        _check_repeated(command, rest)
        return name, command, rest


def _options_hint(exc: Any) -> str:
    """The end of the message on an unknown option: how to write it if it is the name of a setting, else the command's
    options.
    """
    from agentscope_tuner.config import SECTION, TaskJudgeConfig

    if (name := exc.option_name.lstrip("-").replace("-", "_")) in TaskJudgeConfig.model_fields:
        return f": a setting is written {SECTION}.{name}=VALUE"
    return f": it has {', '.join(each.opts[0] for each in exc.ctx.command.params if each.opts[0].startswith('-'))}"


def _check_repeated(command: Any, given: Sequence[str]) -> None:
    """Refuse an option that is given twice and keeps one value: the other would be passed over.

    Raises:
        typer.BadParameter: it is.
    """
    for option in getattr(command, "params", ()):
        if option.param_type_name == "argument" or option.multiple or option.is_flag:
            continue
        if (times := sum(word.partition("=")[0] in option.opts for word in given)) > 1:
            raise typer.BadParameter(f"{option.opts[0]} is given {times} times, and takes one value")


def _lone_file(given: Sequence[str]) -> str:
    """The first existing file among the arguments that no option takes; empty if there is none."""
    return next((word for before, word in pairwise(given) if not before.startswith("-") and os.path.isfile(word)), "")


@cache
def _loaded(command: ListedCommand) -> Any:
    module, attribute = command.home.split(":")
    found = getattr(import_module(f"agentscope_tuner.{module}"), attribute)
    if not gc.isenabled():
        # Imported modules live until the exit: exempt them from garbage collection
        gc.freeze()
        gc.enable()
    # Put the command into a group: typer would give a single command the options of a root
    group = typer.Typer(add_completion=False, rich_markup_mode=_MARKUP)
    group.callback()(lambda: None)
    example = f"Example: astuner {command.example}"
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
    help="Rewards for RL fine-tuning of LLM agents: `astuner COMMAND --help` has each command's options.",
    epilog=_EXIT_CODES,
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
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also print the log of the judges.")] = False,
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
    app.command(_command.name, help=_command.summary, rich_help_panel=_command.panel)(_listed)
