"""`astuner judge-eval`: measures an LLM judge against people, itself, length, position and attacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from agentscope_tuner import _loop
from agentscope_tuner.cli.config import Conf, Overrides
from agentscope_tuner.cli.console import EXIT_ROWS_FAILED, config_errors, err, out, printable
from agentscope_tuner.config import resolve
from agentscope_tuner.insight.judge_eval import AsksModels, JudgeEval, asked_anew
from agentscope_tuner.insight.labelled import read_labelled
from agentscope_tuner.task_judge.protocol import load_judge

_LABELS = (
    "Labelled answers, JSON lines: rollouts with label: {score} or {is_success}, or the samples that rubrics are "
    "learned from."
)
_ATTACKED = "Try the whole injection set on so many of the answers with the lowest labels."
_DRY_RUN = "Say how many verdicts it takes, and ask for none."
_TEXT_CHARS = 80


def judge_eval(
    conf: Conf,
    labels: Annotated[Path, typer.Option("--labels", help=_LABELS)],
    overrides: Overrides = None,
    attacked: Annotated[int, typer.Option("--attacked", min=0, help=_ATTACKED)] = 1,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Read only the first N lines.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=_DRY_RUN)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure an LLM judge on labelled answers, the verdict cache off. Exit code 3 when half of the verdicts failed."""
    with config_errors():
        settings = resolve(conf, overrides or ())
        judge = load_judge(settings)
        inner = asked_anew(judge)
        answers = read_labelled(labels, inner.response_path, limit)
        columns = TextColumn("verdicts"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
            bar = progress.add_task("verdicts")
            subject = JudgeEval(
                judge,
                answers,
                inner.response_path,
                top=inner.top_score,
                concurrency=settings.task_judge.concurrency,
                done=lambda: progress.advance(bar),
            )
            expected = subject.verdicts(attacked)
            progress.update(bar, total=expected)
            if dry_run:
                out.print(f"{len(answers)} labelled answers, about {expected:,} verdicts; nothing was sent")
                return
            report = _loop.run(subject.run(attacked))
        report |= _spent(inner)
    if as_json:
        print(json.dumps({"labels": str(labels), **report}))
    else:
        _show(report, labels.name)
    if 2 * report["failed"] >= report["answers"]:
        err.print("half of the verdicts failed: the figures mean nothing", style="bold red")
        raise typer.Exit(EXIT_ROWS_FAILED)


def _spent(judge: AsksModels) -> dict[str, float]:
    usage = [model.usage for model in judge.judge_models]
    return {"calls": sum(one.calls for one in usage), "cost": sum(one.cost for one in usage)}


def _show(report: dict[str, Any], name: str) -> None:
    title = f"{name}: {report['answers']} answers to {report['groups']} tasks, {report['failed']} without a verdict"
    table = Table("measure", "value", "95 % interval", title=escape(title), title_justify="left")
    for metric, measure in report["agreement"].items():
        _add(table, f"agrees with people: {metric.replace('_', ' ')}", measure)
    _add(table, "asked twice: the same reward", report["self_consistency"]["same"])
    _add(table, "asked twice: mean difference", report["self_consistency"]["difference"])
    _add(table, "length: rank correlation with the reward", report["length"]["reward_follows"])
    _add(table, "length: rank correlation with the label", report["length"]["label_follows"])
    _add(table, "length: the answer said twice moves the reward by", report["length"]["said_twice"])
    if report["position"] is None:
        table.add_row("position", "none", "one answer is shown at a time")
    else:
        _add(table, "position: pairs in another order when swapped", report["position"]["reordered"])
        _add(table, "position: standing first earns", report["position"]["first_place_earns"])
    out.print(table)
    found = report["attacks"]
    if found["on"]:
        attacks = Table("attack", "texts", "raised the reward", "moved it by", title_justify="left")
        attacks.title = f"the injection set on the {found['on']} worst answers; {found['failed']} without a verdict"
        for kind, moved in (*found["kinds"].items(), ("all", found["all"])):
            attacks.add_row(kind, str(moved["texts"]), *(_cell(moved[key]) for key in ("raised", "shift")))
        out.print(attacks)
        for one in found["worst"]:
            text = " ".join(printable(one["text"]).split())[-_TEXT_CHARS:]
            out.print(f"{one['shift']:+.3f} {one['kind']}: …{text}", markup=False, soft_wrap=True)
    cost = f", cost {report['cost']:.4g}" if report["cost"] else ""
    out.print(f"{report['calls']:,} calls{cost}")


def _add(table: Table, name: str, measure: dict[str, Any]) -> None:
    value, spread = measure["value"], measure["interval"]
    shown = "undefined" if value is None else f"{value:.3f}"
    table.add_row(name, shown, f"{spread[0]:.3f} to {spread[1]:.3f}" if spread else "")


def _cell(measure: dict[str, Any]) -> str:
    value, spread = measure["value"], measure["interval"]
    if value is None:
        return "undefined"
    return f"{value:.3f}" + (f" ({spread[0]:.3f} to {spread[1]:.3f})" if spread else "")
