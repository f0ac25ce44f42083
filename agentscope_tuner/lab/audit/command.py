"""`astuner audit`: a red team for the configured judge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from agentscope_tuner.cli.console import Exit, cell, config_errors, fail, number, out, progress, say, span, table
from agentscope_tuner.cli.options import Format, Json, Map, Overrides, conversion, mapped, source_lines
from agentscope_tuner.config import SECTION, Settings, resolve
from agentscope_tuner.errors import ConfigError, told
from agentscope_tuner.lab.audit.attacks import ATTACKS
from agentscope_tuner.lab.audit.environments import KINDS, environment_config, environment_rows
from agentscope_tuner.lab.audit.run import AttackResult, StrategyResult, audited, worst_rows
from agentscope_tuner.records.reader import Line
from agentscope_tuner.task_judge.batch import ConfiguredJudge

_INPUT = "Tasks or rollouts; the more they resemble the training data, the better."
_FAIL_OVER = "Exit code 1 if any attack passes at a higher rate than this; 0.0 allows none."
_ENV = f"A reward that is not a judge of astuner, in place of --conf: {KINDS}."
_FORM = "A file with an answer as the judge reads it, with %s for the value. By default several forms are tried."
_DEADLINE = "Seconds for one verdict; a judge that takes longer gives none."
_PASS_AT = "An answer counts as passed from this reward on, or if the judge calls it a success."


def audit(
    conf: Annotated[str | None, typer.Option("--conf", help="The training YAML.", metavar="FILE")] = None,
    input_: Annotated[str | None, typer.Option("--input", help=_INPUT)] = None,
    overrides: Overrides = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many tasks are attacked: the first ones.")] = 50,
    pass_at: Annotated[float, typer.Option("--pass-at", help=_PASS_AT)] = 0.5,
    fail_over: Annotated[float | None, typer.Option("--fail-over", min=0.0, max=1.0, help=_FAIL_OVER)] = None,
    env: Annotated[str | None, typer.Option("--env", help=_ENV)] = None,
    form: Annotated[Path | None, typer.Option("--form", help=_FORM, metavar="FILE")] = None,
    deadline: Annotated[float, typer.Option("--deadline", min=0.01, help=_DEADLINE)] = 10.0,
    format_: Format = None,
    map_: Map = None,
    as_json: Json = False,
) -> None:
    """Attack the judge with wrong and right answers to your tasks, and show what a policy would learn from it."""
    with config_errors():
        settings = _settings(conf, env, deadline, overrides or (), map_)
        judge = ConfiguredJudge(settings, logs=False)
        with ExitStack() as stack:
            lines, name = _lines(stack, input_, env, limit)
            rows = conversion(settings, format_, map_, responses=False).all(lines)
            bar = stack.enter_context(progress())
            task = bar.add_task("", total=len(ATTACKS) + 1)
            found = audited(
                judge, rows, limit=limit, pass_at=pass_at, form=None if form is None else _form_of(form),
                begun=lambda attack: bar.update(task, description=attack, advance=1),
            )  # fmt: skip
    results = found.results
    if as_json:
        print(json.dumps(found.to_dict()))
    else:
        say(found.verdict)
        _print_worst(results)
        out.print(f"{cell(judge.name)} on {found.tasks} tasks of {cell(name)}; answers are given as {found.form}")
        for must, title in (("fail", "answers that must fail"), ("pass", "right answers that must pass")):
            out.print(_attack_table([result for result in results if result.must == must], title, must))
        out.print(_board(found.strategies))
    if fail_over is not None and any(rate > fail_over for rate in found.holes.values()):
        raise typer.Exit(Exit.FOUND)
    if found.unknown is not None:
        raise fail(found.unknown)


def _settings(
    conf: str | None, env: str | None, deadline: float, overrides: Sequence[str], pairs: Sequence[str] | None
) -> Settings:
    """The configuration of the judge under audit."""
    if (conf is None) == (env is None):
        raise fail("name the judge by --conf FILE, or somebody else's reward by --env, and not both")
    if conf is not None:
        return mapped(conf, [f"{SECTION}.deadline={deadline}", *overrides], pairs)
    return resolve(environment_config(env or "", deadline), overrides)


def _lines(stack: ExitStack, input_: str | None, env: str | None, limit: int) -> tuple[Iterator[Line], str]:
    """The tasks' lines and where they come from."""
    if input_ is not None:
        return stack.enter_context(source_lines(input_))
    if env is None:
        raise fail("--input names the tasks to attack with")
    return environment_rows(env, limit), env


def _form_of(path: Path) -> str:
    with told(f"cannot read the form of {str(path)!r}", OSError, UnicodeDecodeError):
        form = path.read_text(encoding="utf-8").removesuffix("\n")
    if form.count("%s") != 1:
        raise ConfigError(f"{str(path)!r} must hold %s once, where the answer's value goes, got {form[:100]!r}")
    return form


def _attack_table(results: Sequence[AttackResult], title: str, must: str) -> Table:
    wrong = "passed" if must == "fail" else "refused"
    found = table(title, "attack", "answers", wrong, "rate", "95 %", "no verdict", "seconds")
    for result in results:
        style = "red" if result.false else ""
        counts = f"{result.answers:,}", f"{result.false:,}"
        rates = number(result.rate), span(result.interval)
        found.add_row(result.name, *counts, *rates, f"{result.no_verdict:,}", f"{result.seconds:.2f}", style=style)
    return found


def _print_worst(results: Sequence[AttackResult]) -> None:
    found = table("the worst rows", "attack", "row", "reference", "answer", "reward", "reason")
    for result, example in worst_rows(results):
        what = f"{result.name} {'passes' if result.must == 'fail' else 'is refused'}"
        texts = example["id"], example["reference"] or "", example["answer"]
        found.add_row(what, *map(cell, texts), number(example["reward"]), cell(example["reason"]))
    if found.rows:
        out.print(found)


def _board(played: Sequence[StrategyResult]) -> Table:
    board = table("what a policy would learn", "strategy", "mean reward", "success", "of honest", "")
    for result in played:
        style = "red" if result.alarming else "green" if result.honest else ""
        note = "pays nearly as well as honest work" if result.alarming else ""
        if result.length_pays is not None:
            style, note = "red", f"length pays: {result.length_pays:.2f} times a terse right answer"
        numbers = number(result.reward), number(result.success), number(result.of_honest)
        board.add_row(result.name, *numbers, note, style=style)
    return board
