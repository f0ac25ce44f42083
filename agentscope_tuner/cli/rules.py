"""`astuner rules`: run rules over a table, count what fired, and look at rules before they run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from agentscope_tuner.cli.console import EXIT_BAD_USAGE, EXIT_ROWS_FAILED, config_errors, err, fail, out, printable
from agentscope_tuner.cli.rule_report import plot_tally, tally_report
from agentscope_tuner.cli.rule_sources import RuleSource, agent_rules, config_rules
from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.rule_tables.run import OnProblem, OnRow, check_table, count_table
from agentscope_tuner.rules import RULE_HANDLERS, compile_rules
from agentscope_tuner.rules.handlers import is_built_in
from agentscope_tuner.rules.kinds import KINDS
from agentscope_tuner.rules.problems import import_rule_modules

_MOST_PROBLEMS = 20
_REDRAW_SECONDS = 0.1
_DEFAULTS = {True: " (default true)", False: " (default false)", None: " (optional)"}

app = typer.Typer(
    name="rules",
    help="Filter a result table by rules, and see what fires.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Agent = Annotated[str | None, typer.Option("--agent", help="Rules of this agent: `evaluation.rules` of its YAML.")]
AgentsDir = Annotated[Path, typer.Option("--agents-dir", help="Where <agent>.yaml or <agent>/agent.yaml stands.")]
Conf = Annotated[Path | None, typer.Option("--conf", help="Rules of this training YAML: `astuner.task_judge.rules`.")]
InFile = Annotated[Path, typer.Option("--infile", help="A table: .csv, .tsv, .jsonl or .parquet.")]
Encoding = Annotated[str, typer.Option("--encoding", help="Of text tables, such as gb18030.")]
Modules = Annotated[list[str] | None, typer.Option("--module", help="A module that adds kinds to RULE_HANDLERS.")]


@app.command()
def run(
    infile: InFile,
    outfile: Annotated[Path, typer.Option("--outfile", help="The same table with verdict columns added.")],
    agent: Agent = None,
    agents_dir: AgentsDir = Path("configs/agents"),
    conf: Conf = None,
    output_column: Annotated[str, typer.Option("--output-column", help="The column that rules look at.")] = "output",
    encoding: Encoding = "utf-8",
) -> None:
    """Add rule_pass and rule_violations to every row. Exit code 3 when a row could not be checked; it is kept."""
    with config_errors():
        source = _source(agent, agents_dir, conf)
        rules = source.compile()
        if not rules:
            err.print(f"{source.where}: no rules: every row gets rule_pass 1", markup=False, soft_wrap=True)
        started = time.perf_counter()
        with _watched(infile) as (on_problem, on_row):
            tally = check_table(
                infile,
                outfile,
                rules,
                output_column=output_column,
                encoding=encoding,
                on_problem=on_problem,
                on_row=on_row,
            )
    out.print(tally_report(tally, f"{infile} ▸ {outfile}"))
    out.print(f"{tally.rows / (time.perf_counter() - started):,.0f} rows per second", highlight=False)
    if tally.overall.unchecked:
        raise typer.Exit(EXIT_ROWS_FAILED)


@app.command()
def stats(
    infile: InFile,
    as_json: Annotated[bool, typer.Option("--json", help="Counts as JSON.")] = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Write a bar chart to this .png or .svg.")] = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Count the verdicts of a table that `rules run` wrote."""
    with config_errors():
        with _watched(infile) as (on_problem, on_row):
            tally = count_table(infile, encoding=encoding, on_problem=on_problem, on_row=on_row)
        if plot is not None:
            plot_tally(tally, plot)
    if as_json:
        print(json.dumps(tally.to_dict(), ensure_ascii=False, indent=2))
    else:
        out.print(tally_report(tally, str(infile)))


@app.command("list")
def list_kinds(module: Modules = None) -> None:
    """The kinds of rule, their parameters, and an example of each."""
    with config_errors():
        _import(module)
    table = Table("kind", "holds when the text is", "parameters", "example", show_lines=True)
    for name, handler in RULE_HANDLERS.items():
        if not is_built_in(name):
            table.add_row(escape(name), escape((handler.__doc__ or "").strip().split("\n")[0]), "its own", "")
            continue
        kind = KINDS[name]
        parameters = (
            f"{parameter.name}: {parameter.shape}{_DEFAULTS.get(parameter.default, '')}"
            for parameter in kind.parameters
        )
        example = json.dumps(kind.example, ensure_ascii=False)
        table.add_row(name, kind.meaning, escape("\n".join(parameters) or "none"), escape(example))
    out.print(table)
    out.print(
        "Every rule also takes target (output, query or metadata.<key>; default output), action (mark_bad or record;\n"
        "default mark_bad) and not (true turns the rule round; default false).",
        markup=False,
        highlight=False,
    )


@app.command()
def validate(
    agent: Agent = None,
    agents_dir: AgentsDir = Path("configs/agents"),
    conf: Conf = None,
) -> None:
    """Report every problem of a rules section with its line. Exit code 2 when there is any."""
    with config_errors():
        source = _source(agent, agents_dir, conf)
    problems = source.problems()
    for line, problem in problems:
        err.print(f"{source.path}:{line}: {problem.describe('rules')}", markup=False, highlight=False, soft_wrap=True)
    if problems:
        raise typer.Exit(EXIT_BAD_USAGE)
    count = len(source.rules or ())
    out.print(
        f"{source.where}: {count} rules, no problems" if count else f"{source.where}: no rules",
        markup=False,
        soft_wrap=True,
    )


@app.command("try")
def try_rule(
    rule: Annotated[str, typer.Option("--rule", help="One rule, as JSON or YAML: '{kind: max_chars, max_chars: 9}'.")],
    text: Annotated[str, typer.Option("--text", help="The text it looks at, whatever its target.")],
    module: Modules = None,
) -> None:
    """Check one rule against one text."""
    with config_errors():
        try:
            parsed = yaml.safe_load(rule)
        except yaml.YAMLError as exc:
            raise ConfigError(f"--rule must be one rule as JSON or YAML, got {rule!r}: {exc}") from exc
        if not isinstance(parsed, dict):
            raise ConfigError(f"--rule must be a mapping such as {{kind: non_empty}}, got {parsed!r}")
        rules = compile_rules([{"id": "rule", **parsed}], rule_modules=module or (), where="--rule")
    metadata = {target.removeprefix("metadata."): text for target in rules.targets}
    try:
        violations = rules.check(text, query=text, metadata=metadata)
    except JudgeError as exc:
        err.print(printable(f"not decided: {exc}"), markup=False, soft_wrap=True)
        raise typer.Exit(EXIT_ROWS_FAILED) from exc
    out.print(f"violated: {violations[0].action}" if violations else "holds", markup=False, highlight=False)


def _source(agent: str | None, agents_dir: Path, conf: Path | None) -> RuleSource:
    if agent is not None and conf is None:
        return agent_rules(agents_dir, agent)
    if conf is not None and agent is None:
        return config_rules(conf)
    raise fail("name the rules by one of --agent and --conf")


def _import(modules: list[str] | None) -> None:
    problems = import_rule_modules(modules or [])
    if problems:
        raise ConfigError("\n".join(problem.message for problem in problems))


@contextmanager
def _watched(infile: Path) -> Iterator[tuple[OnProblem, OnRow]]:
    """Two functions to call: for problems (the first are printed), and for progress (shown on a terminal only)."""
    problems = 0

    def on_problem(line: int, reason: str) -> None:
        nonlocal problems
        problems += 1
        if problems <= _MOST_PROBLEMS:
            err.print(printable(f"{infile}:{line}: {reason}"), markup=False, highlight=False, soft_wrap=True)

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        bar = progress.add_task("0 rows", total=1.0)
        drawn = time.monotonic()

        def on_row(rows: int, share_read: Callable[[], float]) -> None:
            nonlocal drawn
            if rows % 256 == 0 and time.monotonic() - drawn > _REDRAW_SECONDS:
                drawn = time.monotonic()
                progress.update(bar, description=f"{rows:,} rows", completed=share_read())

        yield on_problem, on_row
    if problems > _MOST_PROBLEMS:
        err.print(f"{infile}: {problems - _MOST_PROBLEMS} more problems", markup=False, soft_wrap=True)
