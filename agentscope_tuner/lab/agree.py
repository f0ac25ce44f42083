"""`astuner agree`: how well a judge agrees with labels, with intervals, by slice, and with the rows that differ."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from agentscope_tuner.cli.console import cell, config_errors, number, out, span, table
from agentscope_tuner.cli.options import Format, Json, Map, rollout_lines, source_lines
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.graders.rubrics.evaluate import LEAST_CLUSTERS, LEAST_ROWS
from agentscope_tuner.lab.labels import Key, own_label, read_labels
from agentscope_tuner.lab.statistics import (
    Confusion,
    Interval,
    auc,
    best_threshold,
    calibration,
    clustered_share,
    jackknife,
    need_packages,
    plain,
    rank_measures,
)
from agentscope_tuner.records.scored_rows import ScoredRow, scored_rows, value_at

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_MOST_DIFFERENCES = 1_000
_MOST_CHARS = 200
_PASSED = 0.5


@dataclass(slots=True)
class _Columns:
    """The rows with a verdict and a label, as columns, and counts of the other rows."""

    labels: list[float] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    passed: list[bool] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    slices: list[str] = field(default_factory=list)
    texts: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    unsure: int = 0
    unlabelled: int = 0
    untold: int = 0
    found: int = 0

    def add(self, row: ScoredRow, labels: Mapping[Key, float | None] | None, slice_: str) -> None:
        """Add one row."""
        self.rows += 1
        key = (row.id, row.nth)
        if labels is not None and key not in labels:
            self.unlabelled += 1
            return
        self.found += 1
        label = labels[key] if labels is not None else own_label(row.row)
        if label is None:
            self.unsure += labels is not None
            self.unlabelled += labels is None
        elif row.reward is None:
            self.failed[row.cause or "unknown"] += 1
        else:
            self.labels.append(label)
            self.rewards.append(row.reward)
            self.untold += row.success is None
            self.passed.append(row.reward >= _PASSED if row.success is None else row.success)
            self.tasks.append(row.task or row.where)
            self.slices.append(slice_)
            self.texts.append((row.id, {"reason": row.reason[:_MOST_CHARS], "answer": row.answer[-_MOST_CHARS:]}))

    def differences(self, threshold: float) -> list[dict[str, Any]]:
        """The rows whose verdict differs from the label; the largest distance between reward and label comes first."""
        rows = zip(self.labels, self.rewards, self.passed, self.texts, strict=True)
        found = [
            {"id": name, "kind": "false pass" if passed else "false fail", "label": label, "reward": reward, **texts}
            for label, reward, passed, (name, texts) in rows
            if passed != (label >= threshold)
        ]
        return sorted(found, key=lambda difference: -abs(difference["reward"] - difference["label"]))


def agreement(
    rows: Iterable[ScoredRow],
    labels: Mapping[Key, float | None] | None,
    *,
    by: str | None = None,
    threshold: float | None = None,
) -> dict[str, Any]:
    """The report of `astuner agree`, plain data for JSON.

    Args:
        rows: the rows of the scored file.
        labels: the labels by row; None takes the label that a row carries itself.
        by: the path of the values that divide the rows into slices, such as `metadata.source`.
        threshold: the lowest label that counts as right; None means 0.5, for labels from 0 to 1 only.

    Returns:
        A dictionary with these keys:
        - `rows`, `labelled`, `unsure`: numbers of all rows, of measured rows, and of rows with an unsure labeller;
        - `failed`: the number of labelled rows without a verdict, which are in no measure, and their causes;
        - `untold`: the number of measured rows without a success: a reward of 0.5 or more counts as success;
        - `unlabelled`: the number of rows without a label, and `missing`, that of labels whose row is not in the file;
        - `measures`: each with its `value` and its 95 % `interval`, which is None under ten tasks;
        - `confusion`, `calibration`, and `threshold`, the reward that separates right from wrong labels best;
        - `slices`: the measures of each slice;
        - `different`: the number of rows whose verdict differs from the label, and `differences`, the first thousand
          of them with reasons.

    Raises:
        ConfigError: no row has a verdict and a label, the labels need a `threshold`, or the extra `insight` is missing.
    """
    need_packages()
    columns = _Columns()
    for row in rows:
        columns.add(row, labels, value_at(row.row, by) if by else "")
    if not columns.labels:
        lines = '--labels takes lines of {"id": …, "label": …}, with the ids of the rows'
        raise ConfigError(f"none of {columns.rows} rows has a verdict and a label: {lines}")
    threshold = _threshold(columns.labels) if threshold is None else threshold
    differences = columns.differences(threshold)
    return {
        "rows": columns.rows,
        "labelled": len(columns.labels),
        "failed": {"rows": columns.failed.total(), "causes": dict(columns.failed)},
        "unsure": columns.unsure,
        "unlabelled": columns.unlabelled,
        "untold": columns.untold,
        "missing": 0 if labels is None else len(labels) - columns.found,
        **_measured(columns, threshold),
        "slices": _slices(columns, threshold) if by else {},
        "differences": differences[:_MOST_DIFFERENCES],
        "different": len(differences),
    }


def _threshold(labels: Sequence[float]) -> float:
    if not 0 <= min(labels) <= max(labels) <= 1:
        scale = f"the labels reach from {min(labels):g} to {max(labels):g}"
        raise ConfigError(f"{scale}: say by --threshold from which label on an answer is right")
    return _PASSED


def _arrays(columns: _Columns) -> tuple[NDArray[numpy.float64], ...]:
    import numpy as np

    return np.asarray(columns.labels), np.asarray(columns.rewards), np.asarray(columns.passed, dtype=float)


def _measured(columns: _Columns, threshold: float) -> dict[str, Any]:
    labels, rewards, passed = _arrays(columns)
    right = labels >= threshold

    def measures(rows: NDArray[numpy.intp]) -> dict[str, float]:
        return {
            **Confusion.of(right[rows], passed[rows] > 0).measures(),
            "auc": auc(right[rows], rewards[rows]),
            **rank_measures(labels[rows], rewards[rows]),
        }

    import numpy as np

    values = plain(measures(np.arange(len(labels))))
    intervals = {**jackknife(measures, columns.tasks), **_shares(right, passed > 0, columns.tasks)}
    return {
        "measures": {
            name: {"value": value, "interval": None if value is None else intervals.get(name)}
            for name, value in values.items()
        },
        "confusion": Confusion.of(right, passed > 0)._asdict(),
        "threshold": best_threshold(right, rewards),
        "calibration": calibration(right, rewards),
    }


def _shares(right: NDArray[numpy.bool_], passed: NDArray[numpy.bool_], tasks: Sequence[str]) -> dict[str, Any]:
    """The 95 % intervals of accuracy, precision, recall and F1, in which the rows of a task count as alike."""
    import numpy as np

    member = np.unique(np.asarray(tasks), return_inverse=True)[1]

    def interval(hit: NDArray[numpy.bool_], among: NDArray[Any]) -> Interval | None:
        counts = (np.bincount(member, of).tolist() for of in (hit * among, among, among > 0))
        return clustered_share(*counts)

    same, every = right == passed, np.ones(len(right), dtype=bool)
    return {
        "accuracy": interval(same, every),
        "precision": interval(right, passed),
        "recall": interval(passed, right),
        "f1": interval(right & passed, right.astype(float) + passed),
    }


def _slices(columns: _Columns, threshold: float) -> dict[str, Any]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(columns.slices):
        places[name].append(place)
    found, arrays = {}, _arrays(columns)
    for name, chosen in sorted(places.items(), key=lambda item: -len(item[1])):
        labels, rewards, passed = (array[chosen] for array in arrays)
        right, passes = labels >= threshold, passed > 0
        shares = _shares(right, passes, [columns.tasks[row] for row in chosen])
        measures = {**Confusion.of(right, passes).measures(), "auc": auc(right, rewards)}
        found[name] = {"rows": len(chosen), **plain(measures), "accuracy_interval": shares["accuracy"]}
    return found


_LABELS = "What `astuner view` writes, {id, label} lines, CSV, or labelled rollouts; by default the rows' own labels."
_THRESHOLD = "The value from which a label on a scale counts as right; by default 0.5, if all labels are from 0 to 1."


def agree(
    input_: Annotated[str, typer.Option("--input", help="Scored rows, as `astuner judge` writes them.")],
    labels: Annotated[Path | None, typer.Option("--labels", help=_LABELS)] = None,
    by: Annotated[str | None, typer.Option(help="Also measure by this field, such as metadata.source.")] = None,
    threshold: Annotated[float | None, typer.Option("--threshold", help=_THRESHOLD)] = None,
    format_: Format = None,
    map_: Map = None,
    show: Annotated[int, typer.Option("--show", min=0, help="How many disagreements to print.")] = 10,
    as_json: Json = False,
) -> None:
    """Measure how well verdicts agree with labels, with 95 % intervals. Rows without a verdict count separately."""
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
        out.print(_slices_table(report["slices"], by or ""))
    if show and report["differences"]:
        out.print(_differences_table(report, show))


def _measures(report: dict[str, Any], name: str) -> Table:
    found = table(f"{name}: verdicts and labels", "measure", "value", "95 % interval")
    counts = report["confusion"]
    found.add_row("rows", f"{report['rows']:,}", f"{report['labelled']:,} with verdict and label")
    found.add_row("no verdict", f"{report['failed']['rows']:,}", cell(", ".join(report["failed"]["causes"])))
    for kind in ("unlabelled", "unsure", "missing"):
        if report[kind]:
            found.add_row(kind, f"{report[kind]:,}", "")
    if report["untold"]:
        found.add_row("success not told", f"{report['untold']:,}", f"a reward of {_PASSED:g} or more counts as a pass")
    for measure, value in report["measures"].items():
        found.add_row(measure.replace("_", " "), number(value["value"]), span(value["interval"]))
    passes, fails = counts["false_positive"], counts["false_negative"]
    found.add_row("false passes", f"{passes:,}", f"of {passes + counts['true_negative']:,} wrong")
    found.add_row("false fails", f"{fails:,}", f"of {fails + counts['true_positive']:,} right")
    if best := report["threshold"]:
        found.add_row("best threshold", number(best["reward"]), f"balanced accuracy {best['balanced_accuracy']:.3f}")
    if not any(value["interval"] for value in report["measures"].values()):
        found.add_row("intervals", "none", f"they take {LEAST_CLUSTERS} tasks or more, and {LEAST_ROWS} rows")
    if report["calibration"]:
        found.add_row("calibration error", number(report["calibration"]["ece"]), "ECE, ten bins")
    return found


def _slices_table(slices: dict[str, Any], by: str) -> Table:
    names = ("accuracy", "precision", "recall", "kappa", "auc")
    found = table("by slice", cell(by), "rows", *names, "95 % of accuracy")
    for value, slice_ in slices.items():
        numbers = [number(slice_[name]) for name in names]
        found.add_row(cell(value or "(none)"), f"{slice_['rows']:,}", *numbers, span(slice_["accuracy_interval"]))
    return found


def _differences_table(report: dict[str, Any], show: int) -> Table:
    title = f"{report['different']:,} disagreements, the surest first"
    found = table(title, "row", "what", "reward", "label", "reason", "answer ends")
    for row in report["differences"][:show]:
        numbers = number(row["reward"]), number(row["label"])
        found.add_row(cell(row["id"]), row["kind"], *numbers, cell(row["reason"]), cell(row["answer"][-60:]))
    return found
