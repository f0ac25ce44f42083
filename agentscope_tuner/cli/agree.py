"""`astuner agree`: compares a judge's verdicts with labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from agentscope_tuner.cli.console import config_errors, out, printable
from agentscope_tuner.cli.sources import rollout_lines, source_lines
from agentscope_tuner.insight.agree import agreement
from agentscope_tuner.insight.labels import read_labels
from agentscope_tuner.records.formats import FORMATS
from agentscope_tuner.records.scored_rows import scored_rows

Format = Annotated[
    str | None, typer.Option("--format", help=f"The rows are a trainer's dump: {', '.join(FORMATS)}, or auto.")
]
_MAPPED = "Where a column of the dump goes, such as accuracy=judgement.reward; with --format, may be repeated."
Mapped = Annotated[list[str] | None, typer.Option("--map", help=_MAPPED, metavar="COLUMN=PATH")]
_LABELS = (
    "Labels by row id: what `astuner view` writes, {id, label} lines, CSV, or rollouts that carry a label. Without it "
    "the scored rows' own labels."
)
_THRESHOLD = "A graded label from here on is right; 0.5 where all labels lie within 0 to 1."


def agree(
    input_: Annotated[str, typer.Option("--input", help="Scored rows, as `astuner judge` writes them.")],
    labels: Annotated[Path | None, typer.Option("--labels", help=_LABELS)] = None,
    by: Annotated[str | None, typer.Option("--by", help="Slices, such as metadata.source.")] = None,
    threshold: Annotated[float | None, typer.Option("--threshold", help=_THRESHOLD)] = None,
    format_: Format = None,
    map_: Mapped = None,
    show: Annotated[int, typer.Option("--show", min=0, help="How many disagreements to print.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """How well verdicts agree with labels, with 95 % intervals. Rows without a verdict are counted apart, not as 0."""
    with config_errors():
        known = read_labels(labels) if labels is not None else None
        with source_lines(input_) as (lines, name):
            rows = scored_rows(rollout_lines(lines, format_, map_))
            report = agreement(rows, known, by=by, threshold=threshold)
    if as_json:
        print(json.dumps({"input": input_, **report}))
        return
    out.print(_measures(report, name))
    if report["slices"]:
        out.print(_slices(report["slices"], by or ""))
    if show and report["differences"]:
        out.print(_differences(report, show))


def _measures(report: dict[str, Any], name: str) -> Table:
    table = Table(
        "measure", "value", "95 % interval", title=escape(f"{name}: verdicts and labels"), title_justify="left"
    )
    counts = report["confusion"]
    table.add_row("rows", f"{report['rows']:,}", f"{report['labelled']:,} with verdict and label")
    table.add_row("no verdict", f"{report['failed']['rows']:,}", ", ".join(report["failed"]["causes"]))
    for name_ in ("unsure", "missing"):
        if report[name_]:
            table.add_row(name_, f"{report[name_]:,}", "")
    for measure, found in report["measures"].items():
        table.add_row(measure.replace("_", " "), number(found["value"]), span(found["interval"]))
    table.add_row(
        "false passes",
        f"{counts['false_positive']:,}",
        f"of {counts['true_negative'] + counts['false_positive']:,} wrong",
    )
    table.add_row(
        "false fails",
        f"{counts['false_negative']:,}",
        f"of {counts['true_positive'] + counts['false_negative']:,} right",
    )
    if report["threshold"]:
        best = report["threshold"]
        table.add_row("best threshold", number(best["reward"]), f"balanced accuracy {best['balanced_accuracy']:.3f}")
    if report["calibration"]:
        table.add_row("calibration error", number(report["calibration"]["ece"]), "ECE, ten bins")
    return table


def _slices(slices: dict[str, Any], by: str) -> Table:
    names = ("accuracy", "precision", "recall", "kappa", "auc")
    table = Table(escape(by), "rows", *names, "95 % of accuracy", title="by slice", title_justify="left")
    for value, found in slices.items():
        numbers = [number(found[name]) for name in names]
        table.add_row(cell(value or "(none)"), f"{found['rows']:,}", *numbers, span(found["accuracy_interval"]))
    return table


def _differences(report: dict[str, Any], show: int) -> Table:
    table = Table("row", "what", "reward", "label", "reason", "answer ends", title_justify="left")
    table.title = f"{report['different']:,} disagreements, the surest first"
    for found in report["differences"][:show]:
        numbers = number(found["reward"]), number(found["label"])
        table.add_row(cell(found["id"]), found["kind"], *numbers, cell(found["reason"]), cell(found["answer"][-60:]))
    return table


def cell(text: str) -> str:
    """Foreign text for a table: its brackets are not read as markup, its control characters are escaped."""
    return escape(printable(text[:160]))


def number(value: float | None) -> str:
    """A number with three digits; a dash where it is undefined."""
    return "–" if value is None else f"{value:.3f}"


def span(interval: tuple[float, float] | list[float] | None) -> str:
    """An interval's two ends."""
    return "–" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"
