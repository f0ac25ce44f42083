"""`astuner watch`: the monitors over a run that goes on, or is over."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from agentscope_tuner.cli.agree import Format, number
from agentscope_tuner.cli.console import EXIT_FOUND, EXIT_INTERRUPTED, config_errors, fail, out, printable
from agentscope_tuner.cli.sources import rollout_lines, source_lines
from agentscope_tuner.insight.labels import read_labels
from agentscope_tuner.insight.watch.follow import BESIDE, followed
from agentscope_tuner.insight.watch.run_watch import Alarm, AlarmsFile, RunWatch, by_step
from agentscope_tuner.insight.watch.second_opinion import Ask, SecondOpinion, asks_judge, asks_labels
from agentscope_tuner.insight.watch.step_stats import StepStats
from agentscope_tuner.records.reader import Line
from agentscope_tuner.records.scored_rows import ScoredRow, scored_rows
from agentscope_tuner.task_judge.batch import ConfiguredJudge

_SHOWN_STEPS = 12


class AlarmKind(StrEnum):
    """What ends `astuner watch` with exit code 1."""

    GAMED = "gamed"
    ANY = "any"
    NEVER = "never"


_RUN = "A folder that `log_dir` or a trainer writes, or a scored file."
_OPINION = "Who gives second opinions: a stricter judge's YAML, or a file of labels as in `astuner agree`."
_RATE = "Rows that get a second opinion, as a share of all; three times as many while monitors are worried."
_MOST = "Never more than this share of all rows so far."
_FOLLOW = "Wait for rows that are still to be written, until the run writes none for --idle seconds."
_FAIL_ON = "Exit code 1. gamed: when the second opinion's test says so; any: on any alarm; never."


def watch(
    run: Annotated[str, typer.Argument(help=_RUN)],
    second_opinion: Annotated[Path | None, typer.Option("--second-opinion", help=_OPINION, metavar="FILE")] = None,
    rate: Annotated[float, typer.Option("--rate", min=0.0, max=1.0, help=_RATE)] = 0.02,
    most: Annotated[float, typer.Option("--most", min=0.0, max=1.0, help=_MOST)] = 0.05,
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0.001, max=0.99, help="Share of false passes that is no gaming.")
    ] = 0.1,
    alpha: Annotated[
        float, typer.Option("--alpha", min=1e-9, max=0.5, help="Chance of a false alarm over the whole run.")
    ] = 0.05,
    seed: Annotated[int, typer.Option("--seed", help="Of the drawing of rows.")] = 0,
    follow: Annotated[bool, typer.Option("--follow", help=_FOLLOW)] = False,
    idle: Annotated[float, typer.Option("--idle", min=0.1, help="Seconds.")] = 600.0,
    fail_on: Annotated[AlarmKind, typer.Option("--fail-on", help=_FAIL_ON)] = AlarmKind.GAMED,
    format_: Format = None,
    alarms: Annotated[Path | None, typer.Option("--alarms", help="The alarms file; by default beside the run.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines: one a step, one an alarm.")] = False,
) -> None:
    """Look at every step of a run: groups without a signal, drift, failures; and whether the run is being gamed.

    Alarms are printed, and written to alarms.jsonl in the run's folder, or beside its file.
    """
    with config_errors():
        ask = _ask(second_opinion) if second_opinion is not None else None
        opinion = None if ask is None else SecondOpinion(
            ask, rate=rate, most=most, tolerance=tolerance, alpha=alpha, seed=seed
        )  # fmt: skip
        found = RunWatch(opinion)
        if run == "-" and alarms is None:
            raise fail("where rows come from standard input, --alarms names the file for alarms")
        with AlarmsFile(alarms or AlarmsFile.beside(Path(run))) as file:
            try:
                _look(found, _rows(run, format_, follow=follow, idle=idle), file, as_json=as_json)
            except KeyboardInterrupt:
                raise typer.Exit(EXIT_INTERRUPTED) from None
    if not as_json:
        _conclude(found)
    if (fail_on is AlarmKind.GAMED and found.gamed) or (fail_on is AlarmKind.ANY and found.alarms):
        raise typer.Exit(EXIT_FOUND)


def _ask(path: Path) -> Ask:
    if path.suffix in (".yaml", ".yml"):
        return asks_judge(ConfiguredJudge(path))
    return asks_labels(read_labels(path))


def _rows(run: str, format_: str | None, *, follow: bool, idle: float) -> Iterator[ScoredRow]:
    if follow:
        yield from scored_rows(rollout_lines(followed(Path(run), idle), format_, None))
        return
    with source_lines(run) as (lines, _):
        yield from scored_rows(rollout_lines(_whole(lines), format_, None))


def _whole(lines: Iterator[Line]) -> Iterator[Line]:
    """Without the files beside the rows in a run's folder, and without a last line that a crash has cut short."""
    for line in lines:
        if not line.where.startswith(BESIDE) and line.raw.endswith(b"}"):
            yield line


def _look(found: RunWatch, rows: Iterator[ScoredRow], file: AlarmsFile, *, as_json: bool) -> None:
    shown: list[tuple[StepStats, list[Alarm]]] = []
    live = None if as_json or not out.is_terminal else Live(console=out, refresh_per_second=4)
    with live or nullcontext():
        for step, held in by_step(rows):
            stats, alarms = found.step(step, held)
            for alarm in alarms:
                file.write(alarm)
            if as_json:
                _print_json({"type": "step", **stats.to_dict()}, *({"type": "alarm", **a.to_dict()} for a in alarms))
                continue
            shown = [*shown, (stats, alarms)][-_SHOWN_STEPS:]
            if live is not None:
                live.update(_page(shown, found))
    if live is None and not as_json and shown:
        out.print(_page(shown, found))


def _print_json(*objects: dict[str, Any]) -> None:
    for found in objects:
        print(json.dumps(found))
    sys.stdout.flush()


def _page(shown: list[tuple[StepStats, list[Alarm]]], found: RunWatch) -> Group:
    names = ("step", "rows", "reward", "success", "flat groups", "failed", "filtered", "length", "repeated", "novelty")
    table = Table(*names)
    for stats, alarms in shown:
        flat = ", ".join(f"{count} {why}" for why, count in stats.flat.items())
        shares = number(stats.failed), number(stats.filtered), f"{stats.length:.0f}", number(stats.repeated)
        rewards = number(stats.reward), number(stats.success), f"{flat or 0} of {stats.groups}"
        style = "red" if alarms else ""
        table.add_row(f"{stats.step:g}", str(stats.rows), *rewards, *shares, number(stats.novelty), style=style)
    said = [printable(f"step {alarm.step:g}: {alarm.monitor}: {alarm.message}") for alarm in found.alarms]
    return Group(table, *(Text(line, style="red") for line in said[-_SHOWN_STEPS:]))


def _conclude(found: RunWatch) -> None:
    opinion = found.second_opinion
    if found.last is None:
        out.print("there are no rows")
    elif opinion is None:
        out.print("no --second-opinion was asked for: monitors warn, and cannot tell gaming from learning")
    elif found.gamed:
        out.print(Text(opinion.message(), style="bold red"))
    else:
        test = opinion.test
        unanswered = f"; {opinion.unanswered} more got no second opinion" if opinion.unanswered else ""
        if opinion.unanswered and not test.rows:
            out.print(f"not known: none of {opinion.unanswered} sampled passes got a second opinion")
            return
        out.print(
            f"not shown to be gamed: the second opinion refuses {test.false} of {test.rows} sampled passes"
            f"{unanswered}; the evidence is {test.evidence:.0%} of what an alarm takes"
        )
