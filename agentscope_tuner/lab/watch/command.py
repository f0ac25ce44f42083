"""`astuner watch`: monitors a run that goes on, or has ended: its last steps, its alarms, and the findings."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from agentscope_tuner.cli.console import Exit, config_errors, err, fail, number, out, printable
from agentscope_tuner.cli.options import Format, Map, rollout_lines
from agentscope_tuner.config import resolve
from agentscope_tuner.lab.growing_files import RunRows, ended_rows, refuse_unfollowable
from agentscope_tuner.lab.labels import beside
from agentscope_tuner.lab.watch.live import Alarm, AlarmsFile, RunWatch, unseen, written_steps
from agentscope_tuner.lab.watch.scalars import MlflowScalars, Scalars, TensorBoardScalars, WandbScalars
from agentscope_tuner.lab.watch.second_opinion import OPINION, SecondOpinion, changed, opinion_of, opinion_section
from agentscope_tuner.lab.watch.step_stats import StepStats
from agentscope_tuner.records.scored_rows import ScoredRow
from agentscope_tuner.storage import is_pattern, is_url

SHOWN_STEPS = 12
# Columns that a narrow terminal drops, in this order
_LEAST = ("repeated", "filtered", "length", "success", "rows")


def page(shown: list[tuple[StepStats, list[Alarm]]], found: RunWatch, width: int) -> Group:
    """The table of the last steps, with alarms below it, in `width` columns of a terminal."""
    cells = [_cells(stats) for stats, _ in shown]
    widths = {name: max(len(name), *(len(row[name]) for row in cells)) for name in cells[0]}
    # Show fewer columns rather than numbers that are cut off
    for name in _LEAST:
        if sum(widths.values()) + 3 * len(widths) + 1 > width:
            del widths[name]
    table = Table(*widths)
    for row, (_, alarms) in zip(cells, shown, strict=True):
        table.add_row(*(row[name] for name in widths), style="red" if alarms else "")
    said = [printable(f"step {alarm.step:g}, {alarm.monitor}: {alarm.message}") for alarm in found.alarms]
    return Group(table, *(Text(line, style="red") for line in said[-SHOWN_STEPS:]))


def _cells(stats: StepStats) -> dict[str, str]:
    flat = ", ".join(f"{count} {why}" for why, count in stats.flat.items())
    return {
        "step": f"{stats.step:g}",
        "rows": str(stats.rows),
        "reward": number(stats.reward),
        "success": number(stats.success),
        "flat groups": f"{flat or 0} of {stats.groups}",
        "failed": number(stats.failed),
        "filtered": number(stats.filtered),
        "length": f"{stats.length:.0f}",
        "repeated": number(stats.repeated),
    }


def conclude(found: RunWatch) -> None:
    """Print the findings about the whole run."""
    opinion = found.second_opinion
    if found.last is None:
        out.print("there are no rows")
    elif opinion is None:
        out.print("no second opinion was asked for: monitors warn, and cannot tell gaming from learning")
    elif found.gamed:
        for name, alarmed in opinion.alarms().items():
            if alarmed:
                out.print(Text(opinion.message(name), style="bold red"))
    else:
        _not_gamed(opinion)


def _not_gamed(opinion: SecondOpinion) -> None:
    test = opinion.test
    unanswered = f"; {opinion.unanswered} more got no second opinion" if opinion.unanswered else ""
    if opinion.unanswered and opinion.unanswered == opinion.asked:
        out.print(f"not known: none of {opinion.unanswered} sampled rows got a second opinion")
        return
    if opinion.blinded:
        out.print(f"not known: {unseen(opinion)}")
    if opinion.held_out is not None and not opinion.asked_held_out:
        out.print("no row is held out: the run has none of --holdout's tasks, or none beside a training step")
    if not opinion.passes:
        out.print("no row passes: where rows do not tell their success, --pass-at says from which reward on they do")
    if opinion.overpaid_while_learning:
        out.print(opinion.message("overpaid while learning"))
    held = f"; {opinion.asked_held_out:,} held-out rows were asked about" if opinion.held_out is not None else ""
    refused = f"refuses {test.false:g} of the {test.rows} passes that it judged{unanswered}{held}"
    needed = f"the evidence is {opinion.evidence:.0%} of what an alarm takes"
    out.print(f"not shown to be gamed: the second opinion {refused}; {needed}")


_VALUES = ("rate", "most", "budget", "tolerance", "rise", "pass_at", "alpha", "holdout")
_RUN = "A folder that `log_dir` or a trainer writes, or a scored file."
_CONF = "The YAML of the run; its section astuner.second_opinion names the second judge, and how often it is used."
_OPINION = "The second judge: the YAML of a stricter judge, or a file of labels as in `astuner agree`."
_RATE = "The share of rows that get a second opinion; three times as many while a monitor raises an alarm. [0.02]"
_MOST = "The largest share of all rows so far that may get a second opinion. [0.05]"
_BUDGET = "The most rows of the whole run that may get a second opinion. By default there is no such limit."
_TOLERANCE = "The share of false passes up to which there is no alarm. [0.1]"
_RISE = "By how much rewards may rise above the second opinion without an alarm, as a share of a right answer's. [0.1]"
_PASS_AT = "The reward from which a row counts as passed, if it does not record its success. [1.0]"
_ALPHA = "The largest chance of a false alarm over the whole run. [0.05]"
_HOLDOUT = "Tasks that training never uses: metadata.split=test, or a share of all tasks, drawn by is_held_out."
_FOLLOW = "Wait for new rows, until none have come for --idle seconds."
_FAIL_ON = "When the exit code is 1. gamed: if the run is being gamed; any: at any alarm; never."
_TENSORBOARD = "Write the numbers of each step as TensorBoard's scalars into this folder."
_MLFLOW = "Log the numbers of each step to a run of this experiment of MLflow."
_WANDB = "Log the numbers of each step to a run of this project at Weights & Biases."


def watch(
    run: Annotated[str, typer.Argument(help=_RUN)],
    conf: Annotated[Path | None, typer.Option("--conf", help=_CONF, metavar="FILE")] = None,
    opinion: Annotated[Path | None, typer.Option("--second-opinion", help=_OPINION, metavar="FILE")] = None,
    rate: Annotated[float | None, typer.Option("--rate", help=_RATE)] = None,
    most: Annotated[float | None, typer.Option("--most", help=_MOST)] = None,
    budget: Annotated[int | None, typer.Option("--budget", help=_BUDGET)] = None,
    tolerance: Annotated[float | None, typer.Option("--tolerance", help=_TOLERANCE)] = None,
    rise: Annotated[float | None, typer.Option("--rise", help=_RISE)] = None,
    pass_at: Annotated[float | None, typer.Option("--pass-at", help=_PASS_AT)] = None,
    alpha: Annotated[float | None, typer.Option("--alpha", help=_ALPHA)] = None,
    holdout: Annotated[str | None, typer.Option("--holdout", help=_HOLDOUT)] = None,
    follow: Annotated[bool, typer.Option("--follow", help=_FOLLOW)] = False,
    idle: Annotated[float, typer.Option("--idle", min=0.1, help="Seconds that --follow waits for a row.")] = 600.0,
    fail_on: Annotated[Literal["gamed", "any", "never"], typer.Option("--fail-on", help=_FAIL_ON)] = "gamed",
    format_: Format = None,
    map_: Map = None,
    alarms: Annotated[Path | None, typer.Option("--alarms", help="The alarms file; by default beside the run.")] = None,
    tensorboard: Annotated[Path | None, typer.Option("--tensorboard", help=_TENSORBOARD, metavar="FOLDER")] = None,
    wandb: Annotated[str | None, typer.Option("--wandb", help=_WANDB, metavar="PROJECT")] = None,
    mlflow: Annotated[str | None, typer.Option("--mlflow", help=_MLFLOW, metavar="EXPERIMENT")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON line for each step and alarm.")] = False,
) -> None:
    """Watch a run step by step: groups with equal rewards, drift, failures, and whether the run is being gamed.

    Alarms are printed, and written to alarms.jsonl in the run's folder, or beside its file.
    """
    file = AlarmsFile(_alarms_file(run, alarms))
    given = zip(_VALUES, (rate, most, budget, tolerance, rise, pass_at, alpha, _share(holdout)), strict=True)
    with config_errors(), ExitStack() as stack:
        asked, ids = _second_opinion(conf, opinion, dict(given))
        found = RunWatch(asked)
        curves = _curves(stack, run, tensorboard, wandb, mlflow)
        source = RunRows(Path(run), partial(rollout_lines, format_=format_, pairs=map_), ids)
        rows = _rows(source, run, stack, follow=idle if follow else None)
        try:
            _look(found, written_steps(found, rows, stack.enter_context(file), curves), as_json=as_json)
        except KeyboardInterrupt:
            raise typer.Exit(Exit.INTERRUPTED) from None
    if source.unread:
        err.print(f"lines that could not be read: {source.unread:,}", style="yellow")
    if {"gamed": found.gamed, "any": bool(found.alarms), "never": False}[fail_on]:
        raise typer.Exit(Exit.FOUND)


def _share(holdout: str | None) -> float | str | None:
    if holdout is None or re.fullmatch("[^=]+=.+", holdout):
        return holdout
    with suppress(ValueError):
        if 0 < (share := float(holdout)) < 1:
            return share
    raise fail(f"--holdout must be a share such as 0.05, or PATH=VALUE, got {holdout!r}")


def _alarms_file(run: str, named: Path | None) -> Path:
    if named is None and (run == "-" or is_url(run) or is_pattern(run)):
        raise fail(f"beside {run!r} no file can be put: --alarms names the one for alarms")
    return named or beside(Path(run), "alarms")


def _second_opinion(
    conf: Path | None, path: Path | None, given: dict[str, Any]
) -> tuple[SecondOpinion | None, Collection[str]]:
    """The settings of the second opinion: a configuration's section, changed by the command's options."""
    given = {key: value for key, value in given.items() if value is not None}
    section = None if conf is None else opinion_section(resolve(conf))
    if path is None and section is None:
        if given or conf is not None:
            raise fail(f"nobody is named for second opinions: say who by --second-opinion, or by {OPINION} in --conf")
        return None, ()
    return opinion_of(changed(section, path, given))


def _curves(
    stack: ExitStack, run: str, tensorboard: Path | None, wandb: str | None, mlflow: str | None
) -> list[Scalars]:
    name = Path(run).name
    curves: list[Scalars] = [] if tensorboard is None else [TensorBoardScalars(tensorboard)]
    curves += [] if wandb is None else [WandbScalars(wandb, name)]
    curves += [] if mlflow is None else [MlflowScalars(mlflow, name)]
    return [stack.enter_context(closing(curve)) for curve in curves]


def _rows(source: RunRows, run: str, stack: ExitStack, *, follow: float | None) -> Iterator[ScoredRow | None]:
    if follow is not None:
        refuse_unfollowable(Path(run))
        return source.followed(follow)
    return ended_rows(source, run, stack)


def _look(found: RunWatch, steps: Iterator[tuple[StepStats, list[Alarm]]], *, as_json: bool) -> None:
    shown: list[tuple[StepStats, list[Alarm]]] = []
    with ExitStack() as stack:
        live = None if as_json or not out.is_terminal else stack.enter_context(Live(console=out, refresh_per_second=4))
        for stats, alarms in steps:
            if as_json:
                for kind, told in (("step", asdict(stats)), *(("alarm", asdict(alarm)) for alarm in alarms)):
                    print(json.dumps({"type": kind, **told}), flush=True)
                continue
            shown = [*shown, (stats, alarms)][-SHOWN_STEPS:]
            if live is not None:
                live.update(page(shown, found, out.width))
    if live is None and not as_json and shown:
        out.print(page(shown, found, out.width))
    if not as_json:
        conclude(found)
