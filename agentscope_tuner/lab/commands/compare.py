"""`astuner compare`: two judges on the same rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from agentscope_tuner.cli.console import Exit, cell, config_errors, number, out, table
from agentscope_tuner.cli.options import Format, Json, Map, rollout_lines, source_lines
from agentscope_tuner.lab.compare import Comparison
from agentscope_tuner.lab.compare import compare as compared
from agentscope_tuner.lab.labels import read_labels
from agentscope_tuner.records.scored_rows import scored_rows

_FAIL_ON = (
    "Exit code 1. regression: on any row with a label that only A judges as the label says; on a row without a label "
    "that passes under A and not under B, or that B has no verdict on. change: on any other verdict."
)


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="Scored rows.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The same rows, judged otherwise.")],
    labels: Annotated[Path | None, typer.Option("--labels", help="What is right, as in `astuner agree`.")] = None,
    fail_on: Annotated[Literal["regression", "change"] | None, typer.Option("--fail-on", help=_FAIL_ON)] = None,
    format_: Format = None,
    map_: Map = None,
    show: Annotated[int, typer.Option("--show", min=0, help="How many changed rows to print.")] = 10,
    as_json: Json = False,
) -> None:
    """Which verdicts changed from A to B, in which direction, and what it changes in a trainer's advantages."""
    with config_errors():
        known = read_labels(labels) if labels is not None else None
        with source_lines(first) as (one, _), source_lines(second) as (other, _):
            rows, again = (scored_rows(rollout_lines(lines, format_, map_)) for lines in (one, other))
            found = compared(rows, again, known)
    report = found.to_dict()
    if as_json:
        print(json.dumps({"first": first, "second": second, **report}))
    else:
        out.print(_summary(report))
        if show and report["examples"]:
            out.print(_examples(found, show))
    if fail_on is not None and (found.regressions if fail_on == "regression" else found.changed):
        raise typer.Exit(Exit.FOUND)


def _summary(report: dict[str, Any]) -> Table:
    summary = table("from A to B")
    summary.add_row("rows in both", f"{report['rows']:,}")
    for name, words in (("only_first", "only in A"), ("only_second", "only in B")):
        if report[name]:
            summary.add_row(words, f"{report[name]:,}")
    for change, count in report["changes"].items():
        summary.add_row(change, f"{count:,}")
    if report["mean_reward"]:
        mean = report["mean_reward"]
        summary.add_row("mean reward", f"{mean['first']:.4f} to {mean['second']:.4f}")
    summary.add_row("McNemar's test", f"p = {report['mcnemar']['p_value']:.3g}")
    if report["labelled"]:
        summary.add_row("labels", f"{report['labelled']:,}: B mends {report['improvements']:,}")
    summary.add_row("regressions", f"{report['regressions']:,}")
    found = report["advantages"]
    summary.add_row("advantage groups", f"{found['groups']:,}")
    summary.add_row("  with a sign turned", f"{found['turned']:,}, {found['rows_turned']:,} of {found['rows']:,} rows")
    summary.add_row("  signal lost, gained", f"{found['lost_signal']:,}, {found['gained_signal']:,}")
    for kind, words in (("stages", "stage"), ("rules", "rule"), ("tasks", "task")):
        for name, count in list(report[kind].items())[:5]:
            summary.add_row(f"{words} {cell(name)}", f"{count:,}")
    for part, change in report["parts"].items():
        summary.add_row(cell(part), f"{change['mean_change']:+.4f} over {change['rows']:,} rows")
    return summary


def _examples(found: Comparison, show: int) -> Table:
    title = f"{found.changed:,} verdicts changed, regressions first"
    examples = table(title, "row", "change", "A", "B", "reason under A", "reason under B")
    for example in sorted(found.examples, key=lambda example: not example["regression"])[:show]:
        first, second = example["first"], example["second"]
        rewards = number(first["reward"]), number(second["reward"])
        examples.add_row(
            cell(example["id"]), example["change"], *rewards, cell(first["reason"]), cell(second["reason"])
        )
    return examples
