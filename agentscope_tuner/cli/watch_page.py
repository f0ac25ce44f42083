"""The output of `astuner watch`: the last steps, the alarms, and the findings at the end."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from agentscope_tuner.cli.agree import number
from agentscope_tuner.cli.console import out, printable
from agentscope_tuner.insight.watch.run_watch import Alarm, RunWatch
from agentscope_tuner.insight.watch.second_opinion import SecondOpinion
from agentscope_tuner.insight.watch.step_stats import StepStats

SHOWN_STEPS = 12
# Columns that a narrow terminal drops, in this order
_LEAST = ("novelty", "repeated", "filtered", "length", "success", "rows")


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
    said = [printable(f"step {alarm.step:g}: {alarm.monitor}: {alarm.message}") for alarm in found.alarms]
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
        "novelty": number(stats.novelty),
    }


def conclude(found: RunWatch) -> None:
    """Print the findings about the whole run."""
    opinion = found.second_opinion
    if found.last is None:
        out.print("there are no rows")
    elif opinion is None:
        out.print("no second opinion was asked for: monitors warn, and cannot tell gaming from learning")
    elif found.gamed:
        out.print(Text(opinion.message(), style="bold red"))
    else:
        _not_gamed(opinion)


def _not_gamed(opinion: SecondOpinion) -> None:
    test = opinion.test
    unanswered = f"; {opinion.unanswered} more got no second opinion" if opinion.unanswered else ""
    if opinion.unanswered and not test.rows:
        out.print(f"not known: none of {opinion.unanswered} sampled passes got a second opinion")
        return
    out.print(
        f"not shown to be gamed: the second opinion refuses {test.false} of {test.rows} sampled passes"
        f"{unanswered}; the evidence is {test.evidence:.0%} of what an alarm takes"
    )
