"""`astuner compare`: two judges on the same rows."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from agentscope_tuner.cli.agree import Format, Mapped, cell, number
from agentscope_tuner.cli.console import EXIT_FOUND, config_errors, out
from agentscope_tuner.cli.sources import rollout_lines, source_lines
from agentscope_tuner.insight.compare import Comparison
from agentscope_tuner.insight.compare import compare as compared
from agentscope_tuner.insight.labels import read_labels
from agentscope_tuner.records.scored_rows import scored_rows


class FailOn(StrEnum):
    """The findings that end `astuner compare` with exit code 1."""

    REGRESSION = "regression"
    CHANGE = "change"


_FAIL_ON = (
    "Exit code 1. regression: on any row with a label that only A judges as the label says; on a row without a label "
    "that passes under A and not under B, or that B has no verdict on. change: on any other verdict."
)


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="Scored rows.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The same rows, judged otherwise.")],
    labels: Annotated[Path | None, typer.Option("--labels", help="What is right, as in `astuner agree`.")] = None,
    fail_on: Annotated[FailOn | None, typer.Option("--fail-on", help=_FAIL_ON)] = None,
    format_: Format = None,
    map_: Mapped = None,
    show: Annotated[int, typer.Option("--show", min=0, help="How many changed rows to print.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
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
    bad = {FailOn.REGRESSION: found.regressions, FailOn.CHANGE: found.changed}
    if fail_on is not None and bad[fail_on]:
        raise typer.Exit(EXIT_FOUND)


def _summary(report: dict[str, Any]) -> Table:
    table = Table(show_header=False, title="from A to B", title_justify="left")
    table.add_row("rows in both", f"{report['rows']:,}")
    for name, words in (("only_first", "only in A"), ("only_second", "only in B")):
        if report[name]:
            table.add_row(words, f"{report[name]:,}")
    for change, count in report["changes"].items():
        table.add_row(change, f"{count:,}")
    if report["mean_reward"]:
        mean = report["mean_reward"]
        table.add_row("mean reward", f"{mean['first']:.4f} to {mean['second']:.4f}")
    table.add_row("McNemar's test", f"p = {report['mcnemar']['p_value']:.3g}")
    if report["labelled"]:
        table.add_row("labels", f"{report['labelled']:,}: B mends {report['improvements']:,}")
    table.add_row("regressions", f"{report['regressions']:,}")
    found = report["advantages"]
    table.add_row("advantage groups", f"{found['groups']:,}")
    table.add_row("  with a sign turned", f"{found['turned']:,}, {found['rows_turned']:,} of {found['rows']:,} rows")
    table.add_row("  signal lost, gained", f"{found['lost_signal']:,}, {found['gained_signal']:,}")
    for kind, words in (("stages", "stage"), ("rules", "rule"), ("tasks", "task")):
        for name, count in list(report[kind].items())[:5]:
            table.add_row(f"{words} {cell(name)}", f"{count:,}")
    for part, change in report["parts"].items():
        table.add_row(cell(part), f"{change['mean_change']:+.4f} over {change['rows']:,} rows")
    return table


def _examples(found: Comparison, show: int) -> Table:
    table = Table("row", "change", "A", "B", "reason under A", "reason under B", title_justify="left")
    table.title = f"{found.changed:,} verdicts changed, regressions first"
    for example in sorted(found.examples, key=lambda example: not example["regression"])[:show]:
        first, second = example["first"], example["second"]
        rewards = number(first["reward"]), number(second["reward"])
        table.add_row(cell(example["id"]), example["change"], *rewards, cell(first["reason"]), cell(second["reason"]))
    return table
