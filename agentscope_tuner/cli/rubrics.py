"""`astuner rubrics`: learn a grader from labelled samples, look at it, measure it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from agentscope_tuner import _loop
from agentscope_tuner.cli.config import Conf, Overrides
from agentscope_tuner.cli.console import config_errors, err, fail, out
from agentscope_tuner.config import load_config
from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.rubrics.config import AutoGraderConfig, auto_grader_config
from agentscope_tuner.rubrics.evaluate import evaluate
from agentscope_tuner.rubrics.learn import journal_path, learn_and_save
from agentscope_tuner.rubrics.plan import Plan, plan
from agentscope_tuner.rubrics.proof import LEAST_HELD_OUT, Verdict
from agentscope_tuner.rubrics.samples import read_samples
from agentscope_tuner.rubrics.saved import SavedGrader, in_prompt, load

EXIT_LEARNING_FAILED = 3
EXIT_NOT_PROVEN = 4
_METRICS = ("agreement", "mae", "spearman", "kendall", "quadratic_kappa")

app = typer.Typer(help="Rubrics learned from labelled samples.", no_args_is_help=True)


@app.command()
def learn(
    conf: Conf,
    overrides: Overrides = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost, and ask no model.")] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Exit 0 even where the rubrics are not proven; judging by them needs accept_unproven: true."
        ),
    ] = False,
) -> None:
    """Learn rubrics and save them to auto_grader.json. Run again after a kill: what was answered is not asked again.

    Exit code 3 when learning failed, 4 when the rubrics are not proven on held-out samples.
    """
    config, path = _configured(conf, overrides)
    with config_errors():
        expected = plan(config)
    out.print(_plan_line(expected), soft_wrap=True)
    _warn_of_few(expected)
    if dry_run:
        return
    with _bar() as bar:
        tasks: dict[str, Any] = {}

        def progress(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done)

        try:
            with config_errors():
                saved = learn_and_save(config, path, progress)
        except GraderError as exc:
            err.print(Text.assemble(("learning failed: ", "bold red"), str(exc)), soft_wrap=True)
            err.print(f"what was answered is kept in {journal_path(path)}", markup=False, soft_wrap=True)
            raise typer.Exit(EXIT_LEARNING_FAILED) from exc
    _show(saved)
    out.print(f"saved to {path}", markup=False, soft_wrap=True)
    if (saved.verdict is None or not saved.verdict.accepted) and not force:
        raise typer.Exit(EXIT_NOT_PROVEN)


@app.command()
def show(conf: Conf, overrides: Overrides = None) -> None:
    """Print the learned rubrics and how they were measured."""
    config, path = _configured(conf, overrides)
    with config_errors():
        _show(load(path, config, str(conf)))


@app.command("eval")
def eval_(
    conf: Conf,
    input_: Annotated[Path, typer.Option("--input", help="Labelled samples, one JSON object a line.")],
    overrides: Overrides = None,
) -> None:
    """Measure the learned rubrics on other labelled samples. Exit code 3 when too many verdicts failed."""
    config, path = _configured(conf, overrides)
    with config_errors():
        saved = load(path, config, str(conf))
        samples = read_samples(input_, config)
    with _bar() as bar:
        task = bar.add_task("verdicts", total=2 * len(samples))
        model = ChatModel(config.settings())
        rubrics = in_prompt(saved.rubrics)
        mean = saved.evaluation.get("constant_mean", {}).get("value")
        try:
            report = _loop.run(evaluate(config, model, rubrics, samples, mean, lambda: bar.advance(task)))
        except GraderError as exc:
            raise typer.Exit(_failed(exc)) from exc
    out.print(_measures(report))


def _configured(conf: Any, overrides: list[str] | None) -> tuple[AutoGraderConfig, Path]:
    with config_errors():
        whole = load_config(conf, overrides or ())
        if whole.astuner.task_judge.judge_type != "rubrics_auto_grader":
            raise fail("astuner.task_judge.judge_type must be rubrics_auto_grader for rubrics to be learned or used")
        return auto_grader_config(whole)


def _failed(exc: GraderError) -> int:
    err.print(Text.assemble(("error: ", "bold red"), str(exc)), soft_wrap=True)
    return EXIT_LEARNING_FAILED


def _bar() -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=err, transient=True)


def _plan_line(expected: Plan) -> str:
    (fewest, most), (least, greatest) = expected.calls, expected.tokens
    line = f"{expected.learn_from} samples to learn from, {expected.held_out} held out; {fewest} to {most} calls, "
    line += f"about {least:,} to {greatest:,} tokens"
    if expected.cost is not None:
        line += f", {expected.cost[0]:.2f} to {expected.cost[1]:.2f} in the prices' currency"
    return line


def _warn_of_few(expected: Plan) -> None:
    if expected.held_out_queries < LEAST_HELD_OUT:
        err.print(
            f"{expected.held_out_queries} queries are held out, and a proof needs {LEAST_HELD_OUT}: the rubrics "
            f"cannot be "
            f"proven with so few. {2 * LEAST_HELD_OUT} different queries are enough.",
            style="bold red",
            soft_wrap=True,
        )


def _show(saved: SavedGrader) -> None:
    table = Table(title=f"{saved.grader_mode} rubrics by {saved.model_name}, {saved.created}", show_lines=True)
    for column in ("#", "rubric", "theme", "samples", "gain"):
        table.add_column(column)
    for number, rubric in enumerate(saved.rubrics, start=1):
        lines = ", ".join(map(str, rubric.samples))
        table.add_row(str(number), Text(rubric.text), Text(rubric.theme or ""), lines, f"{rubric.gain:.3f}")
    out.print(table)
    if saved.evaluation.get("mae_gain") is None:
        out.print("no measurement was kept with these rubrics")
    else:
        out.print(_measures(saved.evaluation))
    _show_verdict(saved.verdict)


def _show_verdict(verdict: Verdict | None) -> None:
    if verdict is not None and verdict.accepted:
        out.print("proven on the held-out samples", style="green")
        return
    reasons = ["the file keeps no verdict: an older version learned it"] if verdict is None else verdict.reasons
    err.print("not proven, and no judge will use them unless accept_unproven: true is set:", style="bold red")
    for reason in reasons:
        err.print(f"- {reason}", style="red", markup=False, soft_wrap=True)


def _measures(report: dict[str, Any]) -> Table:
    failed = report["failed"]
    title = f"agreement on {report['samples']} samples, within {report['tolerance']:g}; failed {sum(failed.values())}"
    table = Table(title=title)
    chance = report["learned"].get("order_by_chance")
    for column in ("measure", "learned", "no rubrics", "constant mean"):
        table.add_column(column)
    for name in _METRICS:
        table.add_row(name, *(_cell(report[which][name]) for which in ("learned", "no_rubrics", "constant_mean")))
    table.add_row("mae gained", _cell(report["mae_gain"]), "", "")
    table.add_row("order by chance", "undefined" if chance is None else f"p = {chance:.4g}", "", "")
    return table


def _cell(measure: dict[str, Any]) -> str:
    if measure["value"] is None:
        return "undefined"
    spread = measure["interval"]
    return f"{measure['value']:.3f}" + (f" ({spread[0]:.2f} to {spread[1]:.2f})" if spread else "")
