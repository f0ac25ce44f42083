"""`astuner compare`: two judges on the same rows: which verdicts and which advantages of a trainer change."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal, NamedTuple

import typer
from rich.table import Table

from agentscope_tuner.cli.console import Exit, cell, config_errors, number, out, table
from agentscope_tuner.cli.options import Format, Json, Map, rollout_lines, source_lines
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.labels import Key, own_label, read_labels
from agentscope_tuner.lab.statistics import mcnemar, need_packages
from agentscope_tuner.records.scored_rows import ScoredRow, mapping_in, scored_rows

_MOST_EXAMPLES = 1_000
_SAME = 1e-9
_PASSED = 0.5
# A reason may start with the stage that decided: `exact: 25 = 25`
_STAGE = re.compile(r"([^\d:]{1,40}):")


class _RowVerdict(NamedTuple):
    status: str
    reward: float | None
    passed: bool | None
    stage: str
    reason: str
    violations: tuple[str, ...]
    parts: Mapping[str, float]
    asked: int
    told: bool


def _verdict(row: ScoredRow) -> _RowVerdict:
    passed = row.success if row.success is not None or row.reward is None else row.reward >= _PASSED
    found = _STAGE.match(row.reason)
    stage = row.status if row.status != "judged" or found is None else found[1].strip()
    told = row.success is not None or row.reward is None
    asked = hash(str(mapping_in(row.row.get("task")).get("main_query")))
    return _RowVerdict(row.status, row.reward, passed, stage, row.reason, row.violations, row.parts, asked, told)


@dataclass(slots=True)
class Comparison:
    """The changes from the first judge to the second, as counts, with the first thousand changed rows as examples.

    Attributes:
        rows: number of rows that both judges judged.
        only_first: number of rows in the first file only.
        only_second: number of rows in the second file only.
        asked_otherwise: number of rows whose question differs in the second file, although the id is the same.
        untold: number of rows without a success in A or B: a reward of 0.5 or more counts as success.
        changes: number of rows by kind of change: `right to wrong`, `no verdict to right`, `reward only`, `same` …
        lost: for each task the rows that only the first judge passes, less those that only the second one does.
        stages: changed verdicts by the stage under the first and the second judge.
        rules: changed verdicts by each rule that was broken under one judge only.
        tasks: changed verdicts by task.
        parts: for each part of a combined reward, the sum of its differences, and the number of rows that have it.
        rewards: the sum of the first judge's rewards, that of the second judge's, and the number of rows in both sums.
        labelled: number of rows with a label.
        regressions: number of rows on which the second judge is worse; see `astuner compare`.
        improvements: number of labelled rows on which only the second judge is right.
        examples: the first thousand rows whose verdict changed.
        advantages: the changes of advantages within groups; see `compare`.
    """

    rows: int = 0
    only_first: int = 0
    only_second: int = 0
    asked_otherwise: int = 0
    untold: int = 0
    changes: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    tasks: Counter[str] = field(default_factory=Counter)
    parts: dict[str, tuple[float, int]] = field(default_factory=dict)
    rewards: tuple[float, float, int] = (0.0, 0.0, 0)
    labelled: int = 0
    regressions: int = 0
    improvements: int = 0
    examples: list[dict[str, Any]] = field(default_factory=list)
    advantages: dict[str, Any] = field(default_factory=dict)

    @property
    def changed(self) -> int:
        """The number of rows with a changed verdict; a change of the reward alone does not count."""
        return self.rows - self.changes["same"] - self.changes["reward only"]

    def add(self, row: ScoredRow, first: _RowVerdict, second: _RowVerdict, label: bool | None) -> None:
        """Count one row that both judges judged."""
        self.rows += 1
        self.asked_otherwise += first.asked != second.asked
        self.untold += not (first.told and second.told)
        before, after = _name(first), _name(second)
        kind = f"{before} to {after}" if before != after else _same(first, second)
        self.changes[kind] += 1
        if first.reward is not None and second.reward is not None:
            one, other, count = self.rewards
            self.rewards = one + first.reward, other + second.reward, count + 1
            for part in first.parts.keys() & second.parts.keys():
                total, number = self.parts.get(part, (0.0, 0))
                self.parts[part] = total + second.parts[part] - first.parts[part], number + 1
        worse = (first.passed, second.passed) in ((True, False), (True, None), (False, None))
        if label is not None:
            self.labelled += 1
            worse = first.passed is label and second.passed is not label
            self.improvements += second.passed is label and first.passed is not label
        self.regressions += worse
        if before == after:
            return
        if first.passed is not None and second.passed is not None:
            self.lost[row.task or row.where] += 1 if first.passed else -1
        self.stages[f"{first.stage} to {second.stage}"] += 1
        self.rules.update(set(first.violations) ^ set(second.violations))
        self.tasks[row.task] += 1
        if len(self.examples) < _MOST_EXAMPLES:
            self.examples.append(_example(row, kind, first, second, label, worse=worse))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        first, second, count = self.rewards
        lost, gained = self.changes["right to wrong"], self.changes["wrong to right"]
        counts = ("rows", "only_first", "only_second", "asked_otherwise", "untold", "changed", "labelled")
        told = (*counts, "regressions", "improvements", "examples", "advantages")
        return {
            **{name: getattr(self, name) for name in told},
            "changes": dict(self.changes.most_common()),
            "mean_reward": {"first": first / count, "second": second / count} if count else None,
            "mcnemar": {"right_to_wrong": lost, "wrong_to_right": gained, "p_value": mcnemar(self.lost.values())},
            **{name: dict(getattr(self, name).most_common(50)) for name in ("stages", "rules", "tasks")},
            "parts": {name: {"mean_change": total / rows, "rows": rows} for name, (total, rows) in self.parts.items()},
        }


def compare(
    first: Iterable[ScoredRow], second: Iterable[ScoredRow], labels: Mapping[Key, float | None] | None = None
) -> Comparison:
    """Compare two scored files row by row; rows are matched by their id.

    An advantage is a reward minus the mean of its group. So the comparison also counts the groups and rows whose
    advantages turn from positive to negative or back, and the groups that lose or gain a signal.

    Args:
        first: the rows that the first judge scored.
        second: the rows that the second judge scored.
        labels: the labels by row; None takes the label that a row carries itself.

    Raises:
        ConfigError: the two files have no row in common, or the extra `insight` is not installed.
    """
    need_packages()
    kept = {(row.id, row.nth): _verdict(row) for row in first}
    found = Comparison()
    groups: dict[tuple[str, float | None], list[tuple[float, float]]] = defaultdict(list)
    for row in second:
        key = (row.id, row.nth)
        if (before := kept.pop(key, None)) is None:
            found.only_second += 1
            continue
        after = _verdict(row)
        given = own_label(row.row) if labels is None else labels.get(key)
        found.add(row, before, after, None if given is None else given >= _PASSED)
        if before.reward is not None and after.reward is not None and row.task:
            groups[row.group].append((before.reward, after.reward))
    found.only_first = len(kept)
    if not found.rows:
        raise ConfigError("the two files have no row in common: rows are matched by their id")
    found.advantages = _advantages(groups.values())
    return found


def _advantages(groups: Iterable[list[tuple[float, float]]]) -> dict[str, Any]:
    """Changes of the advantages in groups of two or more rows: an advantage is a reward minus its group's mean."""
    counted: Counter[str] = Counter()
    for group in groups:
        if len(group) < 2:
            continue
        counted["groups"] += 1
        first, second = ([pair[side] for pair in group] for side in (0, 1))
        flat = [max(rewards) - min(rewards) < _SAME for rewards in (first, second)]
        counted["lost_signal"] += flat == [False, True]
        counted["gained_signal"] += flat == [True, False]
        middle = fmean(first), fmean(second)
        pairs = zip(first, second, strict=True)
        turned = sum(_sign(one - middle[0]) * _sign(other - middle[1]) < 0 for one, other in pairs)
        counted["turned"] += turned > 0
        counted["rows_turned"] += turned
        counted["rows"] += len(group)
    names = ("groups", "rows", "turned", "rows_turned", "lost_signal", "gained_signal")
    return {name: counted[name] for name in names}


def _sign(value: float) -> int:
    return (value > _SAME) - (value < -_SAME)


def _name(verdict: _RowVerdict) -> str:
    return "no verdict" if verdict.passed is None else "right" if verdict.passed else "wrong"


def _same(first: _RowVerdict, second: _RowVerdict) -> str:
    if first.reward is None or second.reward is None:
        return "same"
    return "same" if abs(first.reward - second.reward) < _SAME else "reward only"


def _example(
    row: ScoredRow, kind: str, first: _RowVerdict, second: _RowVerdict, label: bool | None, *, worse: bool
) -> dict[str, Any]:
    return {
        "id": row.id,
        "task": row.task,
        "change": kind,
        "label": label,
        "regression": worse,
        "first": {"reward": first.reward, "reason": first.reason},
        "second": {"reward": second.reward, "reason": second.reason},
        "answer": row.answer[-200:],
    }


_FAIL_ON = "When the exit code is 1. regression: a row is right in A alone; change: any verdict differs."


def compare_files(
    first: Annotated[str, typer.Argument(metavar="A", help="Scored rows.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The same rows, judged by another judge.")],
    labels: Annotated[Path | None, typer.Option("--labels", help="Labels, as in `astuner agree`.")] = None,
    fail_on: Annotated[Literal["regression", "change"] | None, typer.Option("--fail-on", help=_FAIL_ON)] = None,
    format_: Format = None,
    map_: Map = None,
    show: Annotated[int, typer.Option("--show", min=0, help="How many changed rows to print.")] = 10,
    as_json: Json = False,
) -> None:
    """Show which verdicts differ between A and B, and which GRPO advantages change."""
    with config_errors():
        known = read_labels(labels) if labels is not None else None
        with source_lines(first) as (one, _), source_lines(second) as (other, _):
            rows, again = (scored_rows(rollout_lines(lines, format_, map_)) for lines in (one, other))
            found = compare(rows, again, known)
    report = found.to_dict()
    if as_json:
        print(json.dumps({"first": first, "second": second, **report}))
    else:
        out.print(_summary(report))
        if show and report["examples"]:
            out.print(_examples_table(found, show))
    if fail_on is not None and (found.regressions if fail_on == "regression" else found.changed):
        raise typer.Exit(Exit.FOUND)


def _summary(report: dict[str, Any]) -> Table:
    summary = table("from A to B")
    summary.add_row("rows in both", f"{report['rows']:,}")
    names = {"only_first": "only in A", "only_second": "only in B", "asked_otherwise": "same id, another question"}
    for name, words in names.items():
        if report[name]:
            summary.add_row(words, f"{report[name]:,}")
    if report["untold"]:
        summary.add_row("success not told", f"{report['untold']:,}: a reward of {_PASSED:g} or more counts as a pass")
    for change, count in report["changes"].items():
        summary.add_row(change, f"{count:,}")
    if report["mean_reward"]:
        mean = report["mean_reward"]
        summary.add_row("mean reward", f"{mean['first']:.4f} to {mean['second']:.4f}")
    summary.add_row("McNemar's test by task", f"p = {report['mcnemar']['p_value']:.3g}")
    if report["labelled"]:
        summary.add_row("labels", f"{report['labelled']:,}: B corrects {report['improvements']:,}")
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


def _examples_table(found: Comparison, show: int) -> Table:
    title = f"{found.changed:,} verdicts changed, regressions first"
    examples = table(title, "row", "change", "A", "B", "reason under A", "reason under B")
    for example in sorted(found.examples, key=lambda example: not example["regression"])[:show]:
        first, second = example["first"], example["second"]
        rewards, reasons = ([each[key] for each in (first, second)] for key in ("reward", "reason"))
        examples.add_row(cell(example["id"]), example["change"], *map(number, rewards), *map(cell, reasons))
    return examples
