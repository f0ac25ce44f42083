"""`astuner rubrics`: learn a grader from labelled samples, look at it, measure it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import MofNCompleteColumn
from rich.table import Table
from rich.text import Text

from agentscope_tuner._run import loops
from agentscope_tuner.cli.console import Exit, config_errors, err, fail, measure, out, progress, say, table
from agentscope_tuner.cli.options import Conf, Json, Overrides
from agentscope_tuner.config import load_config
from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.rubrics.evaluate import evaluate
from agentscope_tuner.graders.rubrics.learn import Plan, journal_path, learn_and_save, plan
from agentscope_tuner.graders.rubrics.saved import SavedGrader, Verdict, in_prompt, load
from agentscope_tuner.graders.rubrics.settings import LEAST_HELD_OUT, AutoGraderConfig, auto_grader_config, read_samples

_METRICS = ("agreement", "mae", "spearman", "kendall", "quadratic_kappa")
_FORCE = "Exit 0 even if the rubrics are not proven; judging by them also needs accept_unproven: true."

app = typer.Typer(help="Learn rubrics from labelled samples, show and measure them.", no_args_is_help=True)


@app.command(epilog="Example: astuner rubrics learn --conf train.yaml --dry-run")
def learn(
    conf: Conf,
    overrides: Overrides = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what it would cost; no model is called.")] = False,
    force: Annotated[bool, typer.Option("--force", help=_FORCE)] = False,
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
    with progress(MofNCompleteColumn()) as bar:
        tasks: dict[str, Any] = {}

        def on_progress(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done)

        try:
            with config_errors():
                saved = learn_and_save(config, path, on_progress)
        except GraderError as exc:
            kept = f"what was answered is kept in {journal_path(path)}"
            raise fail(f"learning failed: {exc}\n{kept}", code=Exit.ROWS_FAILED) from exc
    _show(saved)
    say(f"saved to {path}")
    if (saved.verdict is None or not saved.verdict.accepted) and not force:
        raise typer.Exit(Exit.NOT_PROVEN)


@app.command(epilog="Example: astuner rubrics show --conf train.yaml")
def show(conf: Conf, overrides: Overrides = None, as_json: Json = False) -> None:
    """Print the learned rubrics and how they were measured."""
    config, path = _configured(conf, overrides)
    with config_errors():
        saved = load(path, config, str(conf))
    if as_json:
        print(saved.model_dump_json())
    else:
        _show(saved)


@app.command("eval", epilog="Example: astuner rubrics eval --conf train.yaml --input labelled.jsonl")
def eval_(
    conf: Conf,
    input_: Annotated[Path, typer.Option("--input", help="Labelled samples, one JSON object a line.")],
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Measure the learned rubrics on other labelled samples. Exit code 3 when too many verdicts failed."""
    config, path = _configured(conf, overrides)
    with config_errors():
        saved = load(path, config, str(conf))
        samples = read_samples(input_, config)
    with progress(MofNCompleteColumn()) as bar:
        task = bar.add_task("verdicts", total=2 * len(samples))
        model = ChatModel(config.settings())
        rubrics = in_prompt(saved.rubrics)
        mean = saved.evaluation.get("constant_mean", {}).get("value")
        try:
            report = loops.run(evaluate(config, model, rubrics, samples, mean, lambda: bar.advance(task)))
        except GraderError as exc:
            raise fail(str(exc), code=Exit.ROWS_FAILED) from exc
    if as_json:
        print(json.dumps({"input": str(input_), **report}))
    else:
        out.print(_measures(report))


def _configured(conf: Any, overrides: list[str] | None) -> tuple[AutoGraderConfig, Path]:
    with config_errors():
        whole = load_config(conf, overrides or ())
        if whole.astuner.task_judge.judge_type != "rubrics_auto_grader":
            raise fail("astuner.task_judge.judge_type must be rubrics_auto_grader for rubrics to be learned or used")
        return auto_grader_config(whole)


def _plan_line(expected: Plan) -> str:
    (fewest, most), (least, greatest) = expected.calls, expected.tokens
    line = f"{expected.learn_from} samples to learn from, {expected.held_out} held out; {fewest} to {most} calls, "
    line += f"about {least:,} to {greatest:,} tokens"
    if expected.cost is not None:
        line += f", {expected.cost[0]:.2f} to {expected.cost[1]:.2f} in the prices' currency"
    return line


def _warn_of_few(expected: Plan) -> None:
    if expected.held_out_queries < LEAST_HELD_OUT:
        few = f"{expected.held_out_queries} queries are held out, and a proof needs {LEAST_HELD_OUT}"
        told = f"{few}: the rubrics cannot be proven. {2 * LEAST_HELD_OUT} different queries are enough."
        err.print(told, style="bold red", soft_wrap=True)


def _show(saved: SavedGrader) -> None:
    title = f"{saved.grader_mode} rubrics by {saved.model_name}, {saved.created}"
    found = table(title, "#", "rubric", "theme", "samples", "gain")
    found.show_lines = True
    for number, rubric in enumerate(saved.rubrics, start=1):
        lines = ", ".join(map(str, rubric.samples))
        found.add_row(str(number), Text(rubric.text), Text(rubric.theme or ""), lines, f"{rubric.gain:.3f}")
    out.print(found)
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
        say(f"- {reason}", to=err)


def _measures(report: dict[str, Any]) -> Table:
    failed = report["failed"]
    title = f"agreement on {report['samples']} samples, within {report['tolerance']:g}; failed {sum(failed.values())}"
    found = table(title, "measure", "learned", "no rubrics", "constant mean")
    chance = report["learned"].get("order_by_chance")
    for name in _METRICS:
        found.add_row(name, *(measure(report[which][name]) for which in ("learned", "no_rubrics", "constant_mean")))
    found.add_row("mae gained", measure(report["mae_gain"]), "", "")
    found.add_row("order by chance", "undefined" if chance is None else f"p = {chance:.4g}", "", "")
    return found
