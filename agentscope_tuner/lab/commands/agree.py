"""`astuner agree`: compares a judge's verdicts with labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from agentscope_tuner.cli.console import cell, config_errors, number, out, span, table
from agentscope_tuner.cli.options import Format, Json, Map, rollout_lines, source_lines
from agentscope_tuner.lab.agree import agreement
from agentscope_tuner.lab.labels import read_labels
from agentscope_tuner.lab.statistics import LEAST_CLUSTERS
from agentscope_tuner.records.scored_rows import scored_rows

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
    map_: Map = None,
    show: Annotated[int, typer.Option("--show", min=0, help="How many disagreements to print.")] = 10,
    as_json: Json = False,
) -> None:
    """How well verdicts agree with labels, with 95 % intervals. Rows without a verdict are counted apart."""
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
    found = table(f"{name}: verdicts and labels", "measure", "value", "95 % interval")
    counts = report["confusion"]
    found.add_row("rows", f"{report['rows']:,}", f"{report['labelled']:,} with verdict and label")
    found.add_row("no verdict", f"{report['failed']['rows']:,}", cell(", ".join(report["failed"]["causes"])))
    for kind in ("unlabelled", "unsure", "missing"):
        if report[kind]:
            found.add_row(kind, f"{report[kind]:,}", "")
    for measure, value in report["measures"].items():
        found.add_row(measure.replace("_", " "), number(value["value"]), span(value["interval"]))
    for words, false, true, of in (
        ("false passes", "false_positive", "true_negative", "wrong"),
        ("false fails", "false_negative", "true_positive", "right"),
    ):
        found.add_row(words, f"{counts[false]:,}", f"of {counts[true] + counts[false]:,} {of}")
    if best := report["threshold"]:
        found.add_row("best threshold", number(best["reward"]), f"balanced accuracy {best['balanced_accuracy']:.3f}")
    if not any(value["interval"] for value in report["measures"].values()):
        found.add_row("intervals", "none", f"they take {LEAST_CLUSTERS} tasks or more")
    if report["calibration"]:
        found.add_row("calibration error", number(report["calibration"]["ece"]), "ECE, ten bins")
    return found


def _slices(slices: dict[str, Any], by: str) -> Table:
    names = ("accuracy", "precision", "recall", "kappa", "auc")
    found = table("by slice", cell(by), "rows", *names, "95 % of accuracy")
    for value, slice_ in slices.items():
        numbers = [number(slice_[name]) for name in names]
        found.add_row(cell(value or "(none)"), f"{slice_['rows']:,}", *numbers, span(slice_["accuracy_interval"]))
    return found


def _differences(report: dict[str, Any], show: int) -> Table:
    title = f"{report['different']:,} disagreements, the surest first"
    found = table(title, "row", "what", "reward", "label", "reason", "answer ends")
    for row in report["differences"][:show]:
        numbers = number(row["reward"]), number(row["label"])
        found.add_row(cell(row["id"]), row["kind"], *numbers, cell(row["reason"]), cell(row["answer"][-60:]))
    return found
